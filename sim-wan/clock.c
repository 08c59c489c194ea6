/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks of hosts; see clock.h. */
#include "sim-wan/clock.h"

/* Whole seconds and the rest apart: exact, continuous, and nothing overflows. */
gmc_time sim_clock_read(const struct sim_clock *clock, gmc_time now)
{
    uint64_t speed = (uint64_t)(INT64_C(1000000000) + clock->drift_ppb);
    uint64_t seconds = now / GMC_S(1), rest = now % GMC_S(1);
    return clock->offset + seconds * speed + rest * speed / GMC_S(1);
}

gmc_time sim_clock_when(const struct sim_clock *clock, gmc_time shown)
{
    uint64_t speed = (uint64_t)(INT64_C(1000000000) + clock->drift_ppb);
    if (shown == GMC_TIME_NEVER)
        return GMC_TIME_NEVER;
    if (shown <= clock->offset)
        return 0;
    uint64_t passed = shown - clock->offset;
    uint64_t seconds = passed / speed, rest = passed % speed;
    return seconds * GMC_S(1) + (rest * GMC_S(1) + speed - 1) / speed;
}
