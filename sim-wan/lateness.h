/* SPDX-License-Identifier: BSD-2-Clause */
/* How late things are (packets that leave the emulator, messages at their subscribers): count,
 * mean, greatest, and shares by a histogram whose steps grow by less than a hundredth. */
#ifndef SIM_LATENESS_H
#define SIM_LATENESS_H

#include <stdint.h>

#include "base/time.h"

#define SIM_LATENESS_BITS 7u /* behind the leading one that count */
#define SIM_LATENESS_BUCKETS ((65u - SIM_LATENESS_BITS) << SIM_LATENESS_BITS)

struct sim_lateness {
    uint64_t count;
    uint64_t sum_ns; /* of delays of a run: 2^64 ns are 584 years */
    gmc_duration greatest;
    uint64_t buckets[SIM_LATENESS_BUCKETS];
};

void sim_lateness_add(struct sim_lateness *lateness, gmc_duration late);
/* 0 when there were none. */
gmc_duration sim_lateness_mean(const struct sim_lateness *lateness);
/* The least bound (within a part in 128) that at least share_ppm of a million keep. */
gmc_duration sim_lateness_quantile(const struct sim_lateness *lateness, uint32_t share_ppm);

#endif
