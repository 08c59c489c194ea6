/* SPDX-License-Identifier: BSD-2-Clause */
/* One multicast on the torus, event by event.
 *
 * Costs, of the source's testbed: the processor takes o(M) = 1.5908 us + 3.15 ns M to send and to
 * receive, and once at a node that forwards Md 206, Mu 201, U 629, S 265 us; separate: 7 us with
 * each message. Links 5.3 Gbit/s, 14 ns per hop, 60 ns per node passed, 670 ns where the ring
 * changes.
 *
 * Source: Oral 2003, chapter 2.
 */
#ifndef INTERCONNECT_TORUS_SIMULATE_H
#define INTERCONNECT_TORUS_SIMULATE_H

#include "interconnect/multicast.h"
#include "interconnect/torus/links.h"
#include "interconnect/torus/multicast.h"

#define IC_SCI_LINK_GBPS 5.3

struct ic_torus_run {
    const struct ic_torus *torus;
    const struct ic_torus_group *group;
    enum ic_torus_algorithm algorithm;
    uint32_t r;      /* of Mu-torus */
    bool joins_rest; /* ic_torus_multicast_joined makes the schedule */
    enum ic_torus_routing routing;
    uint32_t bytes;
    uint32_t packet_bytes; /* 0: store and forward */
    bool by_turns;         /* see struct ic_multicast */
    void (*on_message)(void *ctx, const struct ic_send *send, uint32_t hops, double created,
                       double entered, double delivered);
    void *ctx;
};

/* link_us is NULL or has room for nodes * dimensions: link node * N + dimension leaves that node.
 * INVALID with words, NOMEM. */
GMC_NODISCARD gmc_status ic_torus_simulate(const struct ic_torus_run *run,
                                           struct ic_multicast_times *times, double *link_us,
                                           char *error);

#endif
