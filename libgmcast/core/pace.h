/* SPDX-License-Identifier: BSD-2-Clause */
/* Pacing: bytes that were sent are paid for at a rate, and nothing is sent before all that went
 * before is paid for. Who was idle may have saved up a little, so that packets can leave in
 * batches: 1 ms of the rate, but no more than 64 KiB or twice the wake-up time, whichever is
 * longer, and at least two packets. Who had bytes but was woken late may make up for more
 * (`slack`).
 *
 * Rates are bit/s, from 1 kbit/s; times are ns. The structure holds no memory. */
#ifndef GMC_CORE_PACE_H
#define GMC_CORE_PACE_H

#include <stdbool.h>

#include "base/time.h"

/* bit/s: keeps the products of times and bytes small. */
#define GMC_PACE_RATE_MIN 1000u
#define GMC_PACE_WAKE GMC_US(250) /* who waits, waits for a batch of this time */

struct gmc_pace {
    uint64_t rate_bps;
    uint32_t packet_bytes; /* of a full packet, as it is paid for */
    uint64_t byte_time;    /* ns << 20; divisions are slow, so it is kept */
    gmc_duration packet;   /* of a full packet */
    gmc_duration burst;    /* what may be saved up */
    gmc_duration slack;    /* the same where bytes waited, and the host was late; 0: no more */
    gmc_time paid_until;   /* when all that was sent is paid for */
    gmc_time held_since;   /* what was not sent since then was not for want of bytes; NEVER */
};

/* Another rate, or another size of packets, from now on; what was sent stays paid for as it is. */
void gmc_pace_set(struct gmc_pace *pace, uint64_t rate_bps, uint32_t packet_bytes);
/* More was saved up by now than bursts may: the slack counts. */
static inline bool gmc_pace_is_late(const struct gmc_pace *pace, gmc_time now)
{
    return gmc_time_sub(now, pace->burst) > pace->paid_until;
}
/* The time before it that nothing was sent in, and that is not made up for either. */
gmc_duration gmc_pace_pay(struct gmc_pace *pace, gmc_time now, uint64_t bytes);
/* When the next batch may go: waiting for one packet at a time would wake the host too often. */
gmc_time gmc_pace_batch_time(const struct gmc_pace *pace);

#endif
