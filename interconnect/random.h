/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws that simulators of arrivals need, from a stream of base/prng.h: the seed decides all. */
#ifndef INTERCONNECT_RANDOM_H
#define INTERCONNECT_RANDOM_H

#include <math.h>

#include "base/prng.h"

/* Uniform in (0, 1], of 53 bits; one draw. */
static inline double ic_random_unit(struct gmc_prng *prng)
{
    return (double)((gmc_prng_u64(prng) >> 11) + 1) * 0x1p-53;
}

/* Exponential with this mean: the time to the next event of a Poisson process; one draw. */
static inline double ic_random_exponential(struct gmc_prng *prng, double mean)
{
    return -mean * log(ic_random_unit(prng));
}

#endif
