/* SPDX-License-Identifier: BSD-2-Clause */
/* Which links of trees share a wire, as far as latencies tell: where gateways stand at the routers
 * of a network, a way whose latency is the sum of those from one gateway to the next leads past
 * them, and over the same wires as theirs.
 *
 *   W1  A gateway stands on the way of a link when the latencies over it sum up to the link's own,
 *       within a 256th. One at an end of the way, or where another one stands, is not counted.
 *   W2  A stretch of a way is what lies between two gateways on it that follow one another, its
 *       ends included. Links that share a stretch share a wire.
 *   W3  Where they neither all begin nor all end with it, this is as wide as the graph says
 *       (wire_bps).
 *   W4  Where all begin with it and some go on, it is one of the wires of that gateway, of which
 *       each has the same part of the uplink: there are as many as there are gateways to which
 *       nobody stands on the way.
 *   W5  Where all end with it nothing follows: each tree brings one. So an exchange with a gateway
 *       of its own is not taken for the wires of all who meet there.
 */
#ifndef GMC_CORE_TREE_WAYS_H
#define GMC_CORE_TREE_WAYS_H

#include "core/tree.h"

struct gmc_tree_shared {
    uint64_t rate_bps; /* of the whole object, that the narrowest lets through; UINT64_MAX: none */
    int32_t to;        /* where that ends */
};

/* parent: as gmc_tree_ops.build writes it, without loops. NOMEM. Time and memory n^2,
 * for each tree and each gateway of W4. */
GMC_NODISCARD gmc_status gmc_tree_ways(const struct gmc_tree_graph *graph, const int32_t *parent,
                                       uint32_t stripes, struct gmc_tree_shared *shared);

#endif
