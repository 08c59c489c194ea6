/* SPDX-License-Identifier: BSD-2-Clause */
/* What a schedule makes of the torus's links.
 *
 * Source: Oral 2003, chapter 2 (link visits, used links, link concentration). The constant 1 that
 * is reported for S-torus needs messages that follow the ranks; routed by dimensions a link can be
 * used again, so both are offered.
 */
#ifndef INTERCONNECT_TORUS_LINKS_H
#define INTERCONNECT_TORUS_LINKS_H

#include "interconnect/schedule.h"
#include "interconnect/torus/torus.h"

enum ic_torus_routing {
    IC_TORUS_BY_DIMENSION, /* x_1, then x_2, ...: minimal */
    IC_TORUS_BY_RANK       /* along the Hamiltonian cycle */
};

struct ic_torus_links {
    uint64_t visits;      /* hops of all messages */
    uint64_t used;        /* directed links among them */
    double concentration; /* visits / used */
};

/* The next node on the route to another one, and the dimension of the link there. */
uint32_t ic_torus_step(const struct ic_torus *torus, enum ic_torus_routing routing, uint32_t from,
                       uint32_t to, uint32_t *dimension);
/* Calls on_hop for each link of the route: the node that it leaves, and its dimension 0..N-1. */
void ic_torus_route(const struct ic_torus *torus, enum ic_torus_routing routing, uint32_t from,
                    uint32_t to, void (*on_hop)(void *ctx, uint32_t node, uint32_t dimension),
                    void *ctx);

/* Of a schedule over the group. NOMEM. */
GMC_NODISCARD gmc_status ic_torus_measure_links(const struct ic_torus *torus,
                                                const struct ic_torus_group *group,
                                                const struct ic_schedule *schedule,
                                                enum ic_torus_routing routing,
                                                struct ic_torus_links *links);

#endif
