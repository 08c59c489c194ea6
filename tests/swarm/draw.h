/* SPDX-License-Identifier: BSD-2-Clause */
/* What worlds of the swarms are drawn by. One draw per statement: C leaves the order within a call
 * or an initialiser to the compiler. */
#ifndef TESTS_SWARM_DRAW_H
#define TESTS_SWARM_DRAW_H

#include <stdbool.h>

#include "base/prng.h"

static inline uint64_t draw(struct gmc_prng *prng, uint64_t from, uint64_t to)
{
    return from + gmc_prng_below(prng, to - from + 1);
}

static inline bool chance(struct gmc_prng *prng, uint32_t percent)
{
    return gmc_prng_chance_ppm(prng, percent * 10000);
}

#endif
