/* SPDX-License-Identifier: BSD-2-Clause */
/* Windowed minimum over time in constant space (the three-sample filter of Kathleen Nichols):
 * the least value of about the last window, at worst of its last quarter. */
#ifndef GMC_CORE_CC_FILTER_H
#define GMC_CORE_CC_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct gmc_cc_min {
    struct {
        gmc_time at;
        int64_t value;
    } best[3]; /* growing in time and in value */
    gmc_duration window;
    bool any;
};

void gmc_cc_min_init(struct gmc_cc_min *filter, gmc_duration window);
/* Takes a sample and returns the minimum with it. */
int64_t gmc_cc_min_add(struct gmc_cc_min *filter, gmc_time now, int64_t value);
/* Forgets what went before: the next sample is the minimum. */
void gmc_cc_min_reset(struct gmc_cc_min *filter);
/* 0 before the first sample. */
int64_t gmc_cc_min_get(const struct gmc_cc_min *filter);

#endif
