/* SPDX-License-Identifier: BSD-2-Clause */
/* A bottleneck in virtual time for congestion controls alone: packets without bytes, any number
 * of flows, each under its own table of functions. No link code is in here. */
#ifndef GMC_TESTS_CCWIRE_H
#define GMC_TESTS_CCWIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cc.h"

struct ccwire;

struct ccwire_path {
    uint64_t rate_bps;
    gmc_duration delay;       /* one way */
    uint64_t queue_bytes;     /* drop-tail */
    uint64_t mark_bytes;      /* of a queue that marks instead, for flows that take it; 0: never */
    uint32_t loss_ppm;        /* random, behind the queue; of acknowledgements too */
    gmc_duration jitter;      /* added to each packet, uniform in [0, jitter] */
    bool reorder;             /* jitter may overtake */
    int32_t drift_ppm;        /* of the receivers' clocks */
    gmc_duration stall;       /* receivers are not scheduled for up to so long, */
    gmc_duration stall_every; /* about so often, */
    uint64_t socket_bytes;    /* and meanwhile this waits for them */
};

struct ccwire_flow {
    const struct gmc_cc_ops *ops;
    uint32_t packet_bytes; /* 0: 1500 */
    uint32_t told_bytes;   /* the law is told that they are of so many; 0: the truth */
    gmc_time start;
    uint64_t packets;         /* to deliver; 0: without end */
    uint64_t supply_bps;      /* what the application has to send; 0: always enough */
    uint64_t expect_bps;      /* that the path is said to carry; 0: nothing is said */
    uint64_t sender_bps;      /* the sending host can do no more; 0: any rate */
    gmc_duration late;        /* the sending host is woken late by so long, and makes up for it, */
    gmc_duration late_every;  /* once in so long */
    uint32_t ack_every;       /* packets; 0: 32 */
    gmc_duration ack_delay;   /* 0: 4 ms */
    gmc_duration extra_delay; /* beside the path's */
    gmc_duration tick;        /* pacing wake-ups; 0: 250 us */
    bool bursts;              /* as kernels do: what is for about 1 ms at once */
    bool unpaced;             /* the window's clock alone; the rate is for the size of bursts */
};

struct ccwire *ccwire_new(const struct ccwire_path *path, uint64_t seed);
void ccwire_free(struct ccwire *wire);
int ccwire_add(struct ccwire *wire, const struct ccwire_flow *flow);
/* A TCP without end under one of the simulator's laws, sent and acknowledged as kernels do. */
int ccwire_add_tcp(struct ccwire *wire, const struct gmc_cc_ops *ops, gmc_time start);

/* From now on: the path changes under way. */
void ccwire_set_path(struct ccwire *wire, const struct ccwire_path *path);
void ccwire_set_supply(struct ccwire *wire, int flow, uint64_t supply_bps);
/* The path is said to carry so much. */
void ccwire_expect(struct ccwire *wire, int flow, uint64_t rate_bps);
void ccwire_run_until(struct ccwire *wire, gmc_time until);
/* Runs until the flow has delivered its packets, at most until `until`. */
gmc_time ccwire_run_flow(struct ccwire *wire, int flow, gmc_time until);

struct ccwire_stats {
    uint64_t sent, delivered, dropped, spurious; /* packets; dropped: by the queue */
    uint64_t marked;
    uint64_t rate_bps; /* pacing, now */
    uint32_t loss_ppm; /* as the flow believes */
    gmc_duration slack;
    gmc_time done; /* GMC_TIME_NEVER: not yet */
};
void ccwire_stats(const struct ccwire *wire, int flow, struct ccwire_stats *stats);
gmc_time ccwire_now(const struct ccwire *wire);
/* Mean delay in the queue since the last call. */
gmc_duration ccwire_mean_queue(struct ccwire *wire);

#endif
