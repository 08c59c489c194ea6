/* SPDX-License-Identifier: BSD-2-Clause */
/* The physical bound of transfers: the shortest time in which these wires can bring objects from
 * their sources to all of their targets, whatever gateways do. What is taken for granted:
 *
 * - a wire carries rate * (1 - loss), the best that it has at any time where faults change it, and
 *   only what goes from one gateway to another takes it: wires on the route of no two gateways
 * carry nothing;
 * - gateways can send on what they have to many, routers cannot: they pass packets on. What
 *   arrives at a target has left the source, or a gateway, by a wire of its own;
 * - nothing else takes time: no propagation, heads, disks, or other traffic.
 *
 * Each bound is that of a cut, bits that have to cross it over what its wires carry: from the
 * source to each target (the object crosses once); from the source to all of its targets (each
 * object crosses once); and from all gateways to targets and routers (objects cross once for each
 * target).
 *
 * Source  the last is the fluid bound N * F / sum of uplinks of peer-to-peer distribution, for any
 *         network of routers: Kumar and Ross, Peer-assisted file distribution, IEEE HotWeb (2006).
 */
#ifndef SIM_RUN_LIMIT_H
#define SIM_RUN_LIMIT_H

#include "sim-wan/net.h"
#include "sim-wan/run/flow.h"
#include "sim-wan/run/plan.h"

struct sim_limits {
    const struct sim_plan *plan;
    struct sim_flow
        once; /* from a source: gateways and routers hand on; a node more, all targets */
    struct sim_flow copies; /* from gateways: two nodes more, all gateways and all targets */
    uint32_t *ends_once;    /* of each node: the arc to all targets */
    uint32_t *ends_copies;
};

/* net: of the plan's topology, host i is node i and wire i is link i; its routes count. Borrows the
 * plan. */
void sim_limits_init(struct sim_limits *limits, const struct sim_plan *plan, struct sim_net *net);
void sim_limits_fini(struct sim_limits *limits);

/* Seconds that a transfer takes at least, as if it were alone. Infinite rates give 0; a target that
 * nothing can reach gives infinity. */
double sim_limits_of(struct sim_limits *limits, const struct sim_plan_transfer *transfer);
/* The same of all transfers together, from the first start to the last end, whenever they start. */
double sim_limits_of_all(struct sim_limits *limits);

#endif
