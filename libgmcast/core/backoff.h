/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a node of a group waits before it says what it lacks, so that of many that lack much the
 * same one speaks first and the others need not. */
#ifndef GMC_CORE_BACKOFF_H
#define GMC_CORE_BACKOFF_H

#include "base/prng.h"
#include "base/time.h"

#define GMC_BACKOFF_GROUP_MAX 65535u

/* Draws the wait.
 *
 * Law     t = max/L * ln(1 + u*(e^L - 1)),  L = ln(group_size) + 1,  u uniform in [0, 1)
 * Source  RFC 5401, section 3.2.2, NACK Suppression (truncated exponential distribution)
 * Units   max and result in ns, max at most 1 s; group_size in nodes, 1..GMC_BACKOFF_GROUP_MAX;
 *         both asserted
 * Random  one draw from prng
 * Exact   in integers: ln(x)/L is log2(x)/log2(e*n), each log2 to 16 bits behind the point;
 *         tests/unit/test_backoff.c bounds its error against doubles
 */
gmc_duration gmc_backoff_draw(struct gmc_prng *prng, gmc_duration max, uint32_t group_size);

#endif
