/* SPDX-License-Identifier: BSD-2-Clause */
/* The most that was carried in any second lately: a rate that something is known to carry, and
 * perhaps carries more. Seconds in which the sender was always held back are told from others: what
 * they show is a limit. What is older than an age is forgotten, within half of that.
 *
 * Bytes in, bit/s out, times in ns. The structure holds no memory; zeros are a fresh one. */
#ifndef GMC_CORE_PEAK_H
#define GMC_CORE_PEAK_H

#include <stdbool.h>

#include "base/time.h"

struct gmc_peak_kept {
    uint64_t most_bps;  /* of all seconds */
    uint64_t limit_bps; /* of those in which the sender was held back */
    gmc_time since;     /* 0: nothing is kept */
};

struct gmc_peak {
    uint64_t bytes; /* of the present second */
    gmc_time since;
    bool is_open, held_back;
    struct gmc_peak_kept now, before;
};

/* held_back: more would have been sent if it could. */
void gmc_peak_add(struct gmc_peak *peak, gmc_time now, uint64_t bytes, bool held_back,
                  gmc_duration age);
/* 0: nothing is known, or it is too old. */
uint64_t gmc_peak_most(const struct gmc_peak *peak, gmc_time now, gmc_duration age);
uint64_t gmc_peak_limit(const struct gmc_peak *peak, gmc_time now, gmc_duration age);

#endif
