/* SPDX-License-Identifier: BSD-2-Clause */
/* Rounds: stretches of packets sent under one gain, about a round trip each, and what became of
 * them. Packets are counted by number, so that lost and late acknowledgements move nothing from
 * one round to another. */
#ifndef GMC_CORE_CC_ROUND_H
#define GMC_CORE_CC_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "core/cc.h"

#define GMC_CC_ROUNDS 16u

/* The moment at which some packet was the largest that had arrived. */
struct gmc_cc_mark {
    uint64_t arrival_ns; /* the receiver's clock */
    gmc_time sent;
    gmc_duration queue;
    uint64_t bytes, packets, lost; /* decided by then, on the whole link */
};

struct gmc_cc_round {
    uint64_t first, last;         /* packet numbers */
    uint32_t sent, decided, lost; /* packets */
    uint64_t sent_bytes;
    uint32_t ce;           /* marked by congestion, as told while its packets were acknowledged */
    uint32_t phase, epoch; /* the law's own */
    uint64_t rate_bps;     /* pacing when it began */
    bool any;              /* a packet has been sent in it */
    bool closed;           /* no more will be */
    bool windowed;         /* the window held packets back, or nearly */
    gmc_time decided_at;   /* all of it; valid if is_decided */
    bool is_decided;
    uint32_t acks; /* with their largest packet in here */
    struct gmc_cc_mark from, to;
    gmc_duration queue_min, queue_max;
};

struct gmc_cc_rounds {
    struct gmc_cc_round ring[GMC_CC_ROUNDS];
    uint32_t oldest, count;
    struct gmc_cc_mark total; /* of everything decided */
};

void gmc_cc_rounds_init(struct gmc_cc_rounds *rounds);
/* What packets and acknowledgements look at. */
void gmc_cc_rounds_near(const struct gmc_cc_rounds *rounds, struct gmc_near *near);
/* The packets to come belong together; the ones before do not get more. */
void gmc_cc_rounds_open(struct gmc_cc_rounds *rounds, uint32_t phase, uint32_t epoch,
                        uint64_t rate_bps);
/* The round being sent; NULL before the first. */
struct gmc_cc_round *gmc_cc_rounds_current(struct gmc_cc_rounds *rounds);

void gmc_cc_rounds_sent(struct gmc_cc_rounds *rounds, uint64_t packet, uint32_t bytes);
void gmc_cc_rounds_decided(struct gmc_cc_rounds *rounds, uint64_t packet, uint32_t bytes,
                           bool lost);
/* False: its round has been taken out. */
bool gmc_cc_rounds_spurious(struct gmc_cc_rounds *rounds, uint64_t packet);
void gmc_cc_rounds_ack(struct gmc_cc_rounds *rounds, const struct gmc_cc_ack *ack,
                       gmc_duration queue);
/* Takes out the oldest round if it is closed and all of it was decided by now less `hold` (for
 * packets that were called lost and come late). */
bool gmc_cc_rounds_next(struct gmc_cc_rounds *rounds, gmc_time now, gmc_duration hold,
                        uint64_t largest, struct gmc_cc_round *out);

/* bytes in a time, as bits per second, saturating; 0 for no time. */
uint64_t gmc_cc_rate_bps(uint64_t bytes, gmc_duration span);

#endif
