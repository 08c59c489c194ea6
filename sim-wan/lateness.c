/* SPDX-License-Identifier: BSD-2-Clause */
/* A histogram with buckets of equal relative width. */
#include "sim-wan/lateness.h"

#define STEPS (1u << SIM_LATENESS_BITS) /* per doubling */

/* Values below STEPS have their own bucket; above, the bits behind the leading one count. */
static uint32_t bucket_of(gmc_duration late)
{
    if (late < STEPS)
        return (uint32_t)late;
    uint32_t doublings = 63 - (uint32_t)__builtin_clzll(late) - SIM_LATENESS_BITS;
    return doublings * STEPS + (uint32_t)(late >> doublings);
}

/* The greatest value of a bucket. */
static gmc_duration bound_of(uint32_t bucket)
{
    if (bucket < STEPS)
        return bucket;
    uint32_t doublings = bucket / STEPS - 1;
    gmc_duration first = (gmc_duration)(bucket % STEPS + STEPS) << doublings;
    return first + (((gmc_duration)1 << doublings) - 1);
}

void sim_lateness_add(struct sim_lateness *lateness, gmc_duration late)
{
    lateness->count++;
    lateness->sum_ns += late;
    if (late > lateness->greatest)
        lateness->greatest = late;
    lateness->buckets[bucket_of(late)]++;
}

gmc_duration sim_lateness_mean(const struct sim_lateness *lateness)
{
    return lateness->count > 0 ? lateness->sum_ns / lateness->count : 0;
}

gmc_duration sim_lateness_quantile(const struct sim_lateness *lateness, uint32_t share_ppm)
{
    /* Rounded up, in two parts so that nothing overflows. */
    uint64_t millions = lateness->count / 1000000, rest = lateness->count % 1000000;
    uint64_t wanted = millions * share_ppm + (rest * share_ppm + 999999) / 1000000;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < SIM_LATENESS_BUCKETS; i++) {
        seen += lateness->buckets[i];
        if (seen >= wanted && seen > 0) {
            gmc_duration bound = bound_of(i);
            return bound < lateness->greatest ? bound : lateness->greatest;
        }
    }
    return lateness->greatest;
}
