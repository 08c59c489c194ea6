/* SPDX-License-Identifier: BSD-2-Clause */
/* How late packets leave the emulator: count, mean, greatest, and shares by a histogram whose steps
 * grow by an eighth. */
#ifndef SIM_EMULATE_LATENESS_H
#define SIM_EMULATE_LATENESS_H

#include <stdint.h>

#include "base/time.h"

#define EMU_LATENESS_BUCKETS 512u

struct emu_lateness {
    uint64_t count;
    uint64_t sum_ns; /* of delays of a run: 2^64 ns are 584 years */
    gmc_duration greatest;
    uint64_t buckets[EMU_LATENESS_BUCKETS];
};

void emu_lateness_add(struct emu_lateness *lateness, gmc_duration late);
/* 0 when there were none. */
gmc_duration emu_lateness_mean(const struct emu_lateness *lateness);
/* The least bound (within an eighth) that at least share_ppm of a million keep. */
gmc_duration emu_lateness_quantile(const struct emu_lateness *lateness, uint32_t share_ppm);

#endif
