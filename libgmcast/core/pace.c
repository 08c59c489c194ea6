/* SPDX-License-Identifier: BSD-2-Clause */
/* Pacing: see pace.h. */
#include "core/pace.h"

#define SHIFT 20
#define BURST_TIME GMC_MS(1)
#define BURST_BYTES 65536 /* a batch of the kernel's segmentation offload */

static gmc_duration time_of(const struct gmc_pace *pace, uint64_t bytes)
{
    return bytes * pace->byte_time >> SHIFT;
}

static gmc_duration burst_time(const struct gmc_pace *pace)
{
    gmc_duration batch = time_of(pace, BURST_BYTES);
    gmc_duration two = 2 * pace->packet;

    if (batch < 2 * GMC_PACE_WAKE)
        batch = 2 * GMC_PACE_WAKE;
    if (batch > BURST_TIME)
        batch = BURST_TIME;
    return batch > two ? batch : two;
}

void gmc_pace_set(struct gmc_pace *pace, uint64_t rate_bps, uint32_t packet_bytes)
{
    if (rate_bps < GMC_PACE_RATE_MIN)
        rate_bps = GMC_PACE_RATE_MIN;
    if (rate_bps == pace->rate_bps && packet_bytes == pace->packet_bytes)
        return;
    pace->rate_bps = rate_bps;
    pace->packet_bytes = packet_bytes;
    pace->byte_time = (UINT64_C(8000000000) << SHIFT) / rate_bps;
    pace->packet = time_of(pace, packet_bytes);
    pace->burst = burst_time(pace);
}

gmc_duration gmc_pace_pay(struct gmc_pace *pace, gmc_time now, uint64_t bytes)
{
    gmc_duration saved = pace->slack > pace->burst ? pace->slack : pace->burst;
    gmc_time from = gmc_time_min(gmc_time_sub(now, saved), pace->held_since);
    gmc_time until = gmc_time_max(pace->paid_until, from);
    gmc_duration lost = until - pace->paid_until;

    pace->paid_until = gmc_time_add(until, time_of(pace, bytes));
    return lost;
}

gmc_time gmc_pace_batch_time(const struct gmc_pace *pace)
{
    return pace->packet < GMC_PACE_WAKE
               ? gmc_time_add(pace->paid_until, GMC_PACE_WAKE - pace->packet)
               : pace->paid_until;
}
