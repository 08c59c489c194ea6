/* SPDX-License-Identifier: BSD-2-Clause */
/* Which pairs of gateways are worth measuring, where there are too many to measure all.
 *
 * Up to GMC_PROBE_ALL_MAX gateways measure each other, and the tree's rules see every link. Beyond
 * that the echoes would grow with the square of their number, and there are two rounds instead, of
 * a fixed number of measurements per gateway: first everybody measures the source and a few
 * landmarks, drawn at random; then everybody measures those gateways nearer to the source (only
 * such can become its parent) that look nearest by their distances to the landmarks.
 *
 * The difference of two gateways' distances to a landmark is a lower bound of the distance between
 * them (triangle inequality), the largest over all landmarks the best of these bounds: Ng and
 * Zhang, Predicting Internet network distance with coordinates-based approaches (2002), section 3
 * on triangulated heuristics; Hotz (1994).
 */
#ifndef GMC_CORE_PROBE_PLAN_H
#define GMC_CORE_PROBE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GMC_PROBE_ALL_MAX 256u
#define GMC_PROBE_LANDMARKS 16u
#define GMC_PROBE_NEAR 16u

/* What the first round found: of each of n gateways the latency from the source (number 0) and from
 * the landmarks, row-major n * columns, the source first; GMC_LATENCY_UNKNOWN where there was no
 * answer. */
struct gmc_probe_marks {
    size_t n, columns;
    const uint64_t *latency;
};

/* Writes into near[u * count ...] the gateways that u should measure, the most promising first, -1
 * where there are no more. Ties go by number. NOMEM, INVALID (n == 0, columns == 0). Looks at
 * gateways in the order of their distance from the source and stops where no nearer one can come:
 * far fewer than n^2 steps unless all are equally far. */
GMC_NODISCARD gmc_status gmc_probe_plan(const struct gmc_probe_marks *marks, size_t count,
                                        int32_t *near);

#endif
