/* SPDX-License-Identifier: BSD-2-Clause
 * Owns monotonic time in nanoseconds and its saturating arithmetic.
 *
 * The core never reads a clock: now is passed in. Wall time is another thing and has no type here.
 */
#ifndef GMC_BASE_TIME_H
#define GMC_BASE_TIME_H

#include <stdint.h>

typedef uint64_t gmc_time;     /* monotonic, ns since an origin of the shell's choice */
typedef uint64_t gmc_duration; /* ns */

/* Later than every time that happens; also "no deadline". */
#define GMC_TIME_NEVER UINT64_MAX

/* Constants; the argument is not checked for overflow. */
#define GMC_US(x) ((gmc_duration)(x)*1000u)
#define GMC_MS(x) ((gmc_duration)(x)*1000000u)
#define GMC_S(x) ((gmc_duration)(x)*1000000000u)

/* time + wait, GMC_TIME_NEVER if that is not representable. NEVER plus anything stays NEVER. */
static inline gmc_time gmc_time_add(gmc_time time, gmc_duration wait)
{
    return time > GMC_TIME_NEVER - wait ? GMC_TIME_NEVER : time + wait;
}

/* later - earlier, 0 if earlier is not earlier. NEVER minus a real time stays NEVER. */
static inline gmc_duration gmc_time_sub(gmc_time later, gmc_time earlier)
{
    if (later == GMC_TIME_NEVER && earlier != GMC_TIME_NEVER)
        return GMC_TIME_NEVER;
    return later > earlier ? later - earlier : 0;
}

static inline gmc_time gmc_time_min(gmc_time a, gmc_time b)
{
    return a < b ? a : b;
}

static inline gmc_time gmc_time_max(gmc_time a, gmc_time b)
{
    return a > b ? a : b;
}

/* wait * num / den without overflow in between, saturating; den > 0. */
gmc_duration gmc_duration_scale(gmc_duration wait, uint32_t num, uint32_t den);

/* The time that bytes take at a rate in bits per second, rounded up; NEVER at rate 0. */
gmc_duration gmc_duration_of_bytes(uint64_t bytes, uint64_t rate_bps);

#endif
