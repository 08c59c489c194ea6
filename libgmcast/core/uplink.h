/* SPDX-License-Identifier: BSD-2-Clause */
/* The rate at which a gateway sends over its uplink, so that its links share it by turns
 * (gateway_uplink.c) instead of each fighting for itself, which favours short round trips. It is
 * what the links carried together; a look upwards heals one that is too low, a queue that stands in
 * all of them one that is too high. Congestion control of each link remains in force below it, so a
 * rate that is too high does no harm but that the links fight again.
 *
 *   FREE   Nothing is held back. Where several links were heard of, and each had more to get, for
 *          two periods, and both carried the same, that is the rate, and PACED begins.
 *   PACED  A period that used the rate raises it by a 64th, the next ones by twice as much each, up
 *          to a quarter, but with half of a queue that stands always by a 64th. Time that the host
 *          was late for counts as used: at a rate that is too low it could never show that, since
 *          what goes at once is a part of the rate. One whose queue
 *          stands sets it to what was carried: DRAIN. What would fall an eighth so is learnt anew:
 *          FREE, or a queue that is none would bring it down step by step.
 *   DRAIN  Three quarters of the rate, until the queue is gone: it was ours, and PACED goes on at
 *          49/50 of the rate. If it does not go, others feed it, and they are best met link by
 *          link: FREE, for 2 s, twice as long each time, up to 80 s.
 *
 * That several links carry no more may be for want of an uplink, or because each has a path of its
 * own that is full: at the rate they cannot be told apart. So it is seen by the queue: only one
 * that all wait in goes away when all slow down together (is_shared). Ten periods of PACED that the
 * links do not use up, without a queue, say that their paths are what limits them.
 *
 * A configured rate (limit_bps) is not learnt: FREE is at that rate, PACED begins at it and never
 * goes above, and goes on at what was carried after DRAIN. Sent at the very rate of the wire a
 * queue would stand for ever, whoever made it, and no link could tell it from a rival's.
 *
 * Where it was found out before what the uplink most likely carries (hint_bps, core/train.h), and
 * nothing is known of the last minute, PACED begins there: looks upwards, or a queue, correct it.
 *
 * A period is the longer of 200 ms and two of the longest round trip. The queue is the least that
 * any link saw in the second half of it; it stands above 2 ms, four packets at the rate and, where
 * the rate is learnt, an eighth of the least round trip.
 *
 * Bytes in, bit/s out, times in ns. The structure holds no memory; zeros are a fresh one. */
#ifndef GMC_CORE_UPLINK_H
#define GMC_CORE_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum gmc_uplink_phase { GMC_UPLINK_FREE, GMC_UPLINK_PACED, GMC_UPLINK_DRAIN };

struct gmc_uplink {
    uint64_t limit_bps; /* configured: never above it; 0: not known */
    uint64_t hint_bps;  /* what it most likely carries; 0: not known */
    uint64_t rate_bps;  /* 0: not paced */
    enum gmc_uplink_phase phase;
    uint64_t known_bps;  /* what it carries, but for FREE */
    uint64_t learnt_bps; /* the most that it was since FREE */
    uint64_t before_bps; /* FREE: of the period before; 0: one alone, or could not get more */
    uint32_t raised;     /* periods in a row that raised it */
    uint32_t unused;     /* periods since then that several links did not fill, without a queue */
    bool is_shared;      /* a queue stood in all links, and went when they slowed down together */
    gmc_time until;      /* FREE: not before; DRAIN: no longer than */
    gmc_duration free_for;
    /* the present period */
    gmc_time since, last; /* 0: none */
    uint64_t bytes;
    gmc_duration late;
    uint32_t link; /* that was heard of first */
    bool several;  /* and others too */
    bool held;
    gmc_duration queue;       /* the least of its second half */
    gmc_duration least, most; /* round trips */
};

/* Bytes of a link were acknowledged. */
struct gmc_uplink_ack {
    gmc_time now;
    uint32_t link;           /* a number that tells it from others */
    uint64_t bytes;          /* that the uplink carried for it: what is lost behind it too */
    bool held;               /* that link could get more */
    gmc_duration late;       /* in which nothing was sent though there was more, since the last */
    gmc_duration queue, rtt; /* that it sees; its least */
};

/* True when rate_bps is another one now. */
bool gmc_uplink_on_ack(struct gmc_uplink *uplink, const struct gmc_uplink_ack *ack);

#endif
