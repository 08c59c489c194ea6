/* SPDX-License-Identifier: BSD-2-Clause */
/* A host's own clock: an offset and a drift against the virtual clock. Gateways see nothing else.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "base/time.h"

#define SIM_DRIFT_PPB_MAX 1000000 /* one in a thousand; real clocks stay below a tenth of it */

struct sim_clock {
    gmc_time offset;   /* what it shows at the beginning */
    int32_t drift_ppb; /* it gains so many ns per second */
};

/* What the clock shows at a virtual time; never goes backwards. */
gmc_time sim_clock_read(const struct sim_clock *clock, gmc_time now);
/* The first virtual time at which it shows `shown`. */
gmc_time sim_clock_when(const struct sim_clock *clock, gmc_time shown);

#endif
