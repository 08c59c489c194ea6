/* SPDX-License-Identifier: BSD-2-Clause */
/* Random durations by inversion, in integers, so that every machine draws the same.
 *
 * Law     exponential: -mean ln u; Pareto: least u^(-1/a) with least = mean (a - 1) / a; u uniform
 *         in (0, 1]
 * Exact   logarithms to 2^-24, powers of two to 2^-28
 */
#ifndef SIM_TRAFFIC_VARIATE_H
#define SIM_TRAFFIC_VARIATE_H

#include "base/prng.h"
#include "base/time.h"

#define SIM_PARETO_SHAPE_MIN 1001u /* thousandths: the mean is finite above 1 */
#define SIM_PARETO_SHAPE_MAX 100000u
#define SIM_VARIATE_MEAN_MAX GMC_S(1000000)

/* One draw each. */
gmc_duration sim_draw_exponential(struct gmc_prng *prng, gmc_duration mean);
/* Saturates. */
gmc_duration sim_draw_pareto(struct gmc_prng *prng, gmc_duration mean, uint32_t shape_milli);

#endif
