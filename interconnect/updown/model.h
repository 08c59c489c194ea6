/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean latency of worms with up* / down* routing, in one pass over the channels from the ends
 * of ways to their beginnings.
 *
 *   flows    every node's messages follow the legal ways of updown/network.h, split evenly over
 *            the ports that may be taken (adaptive), or by the lowest
 *   B_c      sum over next channels j of p_cj [(1 - share of c in j) a_j w_j + B_j], 0 at ejection:
 *            what a worm that holds c waits further on
 *   f_j      rho_j^(V-1): a worm that waits in j keeps others out only when all of V are taken
 *   T_j      M + f_j B_j; rho_j = rate_j T_j
 *   w_j      rate_j [T_j^2 + (T_j - M)^2] / 2 (1 - rho_j): M/G/1, the spread of T being T - M;
 *            and (1 - f_j) rate_j T_j^2 / 2 (1 - rho_j) more where worms share the channel in
 *            turns: processor sharing
 *   a_j      1 - f_j (1 - rho_j^(V (k-1))), mean over messages that choose among k channels: one
 *            is avoided only when all of its virtual channels are taken
 *   source   f w of the injection channel is waited before it, the rest in it
 *   latency  links + M + 1 + B and w of the injection channel
 *
 * Means over sources by what they send. It saturates with the first channel that is held all the
 * time, which with several virtual channels is early: networks go on for up to a third more.
 *
 * Source: Draper, Ghosh, A Comprehensive Analytical Model for Wormhole Routing in Multicomputer
 * Systems, J. Parallel and Distributed Computing 23(2), 1994. The composition is ours;
 * tests/unit/test_ic_updown.c holds it to the simulator.
 */
#ifndef INTERCONNECT_UPDOWN_MODEL_H
#define INTERCONNECT_UPDOWN_MODEL_H

#include "interconnect/traffic.h"
#include "interconnect/updown/network.h"

/* What one message per node and cycle puts on every channel, and where it goes on. */
struct ic_updown_flows;

/* The traffic's hosts are the nodes; the network needs no masks. INVALID: nobody sends; NOMEM.
 * Nothing is borrowed. Ends with free. */
GMC_NODISCARD gmc_status ic_updown_flows_new(const struct ic_wh_network *network,
                                             const struct ic_traffic *traffic,
                                             struct ic_updown_flows **flows, char *error);
void ic_updown_flows_free(struct ic_updown_flows *flows);
size_t ic_updown_flows_bytes(const struct ic_updown_flows *flows);

struct ic_updown_config {
    uint32_t vcs, flits;                /* 1 or more */
    bool links_in_order, ends_in_order; /* as in wormhole/engine.h */
};

struct ic_updown_latency {
    bool is_saturated;             /* latencies are 0 */
    double latency, network, wait; /* cycles */
    double hops;                   /* mean of this traffic, all channels counted */
    double distance;               /* mean over pairs of different nodes, in links */
    uint32_t longest;              /* of those */
};

/* load: messages per node and cycle, not negative. Works in the flows' memory. */
struct ic_updown_latency ic_updown_model(struct ic_updown_flows *flows,
                                         const struct ic_updown_config *config, double load);
/* The load at which it saturates, to 1e-9 of itself, and the channel that is full then. */
double ic_updown_saturation(struct ic_updown_flows *flows, const struct ic_updown_config *config,
                            uint32_t *channel);

#endif
