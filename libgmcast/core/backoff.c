/* SPDX-License-Identifier: BSD-2-Clause */
/* Random back-off; see backoff.h. */
#include "core/backoff.h"

#include "base/assert.h"

#define POINT 16                 /* bits behind it */
#define E_FIXED UINT64_C(178145) /* e */

/* log2 of a number with POINT bits behind the point, at least 1; the result has as many. One bit of
 * the fraction at a time: squaring the mantissa doubles the logarithm of what is left. */
static uint64_t log2_fixed(uint64_t x)
{
    uint32_t top = 63 - (uint32_t)__builtin_clzll(x);
    uint64_t result = (uint64_t)(top - POINT) << POINT;
    uint64_t mantissa = x << (63 - top) >> 32; /* in [2^31, 2^32) */
    for (uint64_t bit = UINT64_C(1) << (POINT - 1); bit != 0; bit >>= 1) {
        mantissa = mantissa * mantissa >> 31;
        if (mantissa >> 32 == 0)
            continue;
        mantissa >>= 1;
        result |= bit;
    }
    return result;
}

gmc_duration gmc_backoff_draw(struct gmc_prng *prng, gmc_duration max, uint32_t group_size)
{
    GMC_ASSERT(max <= GMC_S(1) && group_size >= 1 && group_size <= GMC_BACKOFF_GROUP_MAX);
    uint64_t one = UINT64_C(1) << POINT;
    uint64_t e_to_l = E_FIXED * group_size;
    uint64_t x = one + gmc_prng_below(prng, e_to_l - one);
    return max * log2_fixed(x) / log2_fixed(e_to_l);
}
