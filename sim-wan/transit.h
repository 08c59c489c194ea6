/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets in transit: what a host passes on from wire to wire.
 *
 * Where packets are many, an event for each at each host on its way is most of all events (88 of
 * 100 million in tests/bench/bench_wide.c, with those at the end of the way). A host that collects
 * its datagrams (net.h) therefore passes others on in batches, late, but as of when they came.
 * Nobody sees that: lanes take time, and before the first of a batch is as old as the shortest lane
 * away from the host, it is sent on, so at every neighbour it is on its way before it arrives. What
 * the host sends itself goes behind all that came before. This is the lookahead of conservative
 * parallel simulation (Chandy and Misra, Distributed Simulation, 1979).
 *
 * Only reports of drops are late by as much. Where all that happens is watched, or a lane away from
 * the host cannot look ahead, packets are passed on when they come, in the same order.
 */
#ifndef SIM_TRANSIT_H
#define SIM_TRANSIT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim-wan/engine.h"

struct sim_net;
struct sim_packet;

/* A host's. */
struct sim_transit {
    struct sim_event event; /* not later than what came at passes_at has to be passed on */
    gmc_time passes_at;     /* when the first one came, or will; NEVER: there is none */
    gmc_duration lookahead;
    bool is_known; /* the lookahead */
};

void sim_transit_init(struct sim_transit *transit);
/* One arrives at the host then. */
void sim_transit_expect(struct sim_net *net, uint32_t host, gmc_time when);
/* All that came up to now is passed on. */
void sim_transit_settle(struct sim_net *net, uint32_t host);
/* And from now on they are passed on in time, until that was done once: something changes that the
 * lookahead depends on. */
void sim_transit_review(struct sim_net *net, uint32_t host);
/* They come by themselves from now on. */
void sim_transit_end(struct sim_net *net, uint32_t host);

#endif
