/* SPDX-License-Identifier: BSD-2-Clause */
/* Random durations; see variate.h. */
#include "sim-wan/traffic/variate.h"

#include "core/cc_loss.h"

#define FRACTION_BITS 24
#define ONE_OVER_LN2 24204406u /* 2^24 / ln 2 */

/* log2 x in units of 2^-24, x >= 1: the fraction comes bit by bit from squaring. */
static uint64_t log2_of(uint64_t x)
{
    int whole = 63 - __builtin_clzll(x);
    uint64_t mantissa = whole >= 31 ? x >> (whole - 31) : x << (31 - whole);
    uint64_t fraction = 0;
    for (int i = 0; i < FRACTION_BITS; i++) {
        mantissa = mantissa * mantissa >> 31;
        fraction = fraction << 1 | mantissa >> 32;
        mantissa >>= mantissa >> 32;
    }
    return (uint64_t)whole << FRACTION_BITS | fraction;
}

/* -log2 u in units of 2^-24. */
static uint64_t draw_minus_log2(struct gmc_prng *prng)
{
    uint64_t draw = gmc_prng_u64(prng);
    return (UINT64_C(64) << FRACTION_BITS) - log2_of(draw > 0 ? draw : 1);
}

/* 2 to a fraction in units of 2^-24, in units of 2^-30: a product of roots of two. */
static uint64_t exp2_of(uint64_t fraction)
{
    uint64_t root = UINT64_C(2) << 30, product = UINT64_C(1) << 30;
    for (int i = FRACTION_BITS - 1; i >= 0; i--) {
        root = gmc_cc_isqrt(root << 30);
        if (fraction >> i & 1)
            product = product * root >> 30;
    }
    return product;
}

gmc_duration sim_draw_exponential(struct gmc_prng *prng, gmc_duration mean)
{
    return gmc_duration_scale(mean, (uint32_t)draw_minus_log2(prng), ONE_OVER_LN2);
}

gmc_duration sim_draw_pareto(struct gmc_prng *prng, gmc_duration mean, uint32_t shape_milli)
{
    uint64_t exponent = draw_minus_log2(prng) * 1000 / shape_milli;
    uint64_t fraction = exponent & ((UINT64_C(1) << FRACTION_BITS) - 1);
    gmc_duration least = gmc_duration_scale(mean, shape_milli - 1000, shape_milli);
    gmc_duration part = gmc_duration_scale(least, (uint32_t)exp2_of(fraction), UINT32_C(1) << 30);
    uint64_t doublings = exponent >> FRACTION_BITS;
    return doublings > 62 || part > GMC_TIME_NEVER >> doublings ? GMC_TIME_NEVER
                                                                : part << doublings;
}
