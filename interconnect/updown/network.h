/* SPDX-License-Identifier: BSD-2-Clause */
/* Any connected graph as a network of the flit engine, with up* / down* routing: nodes are ranked
 * as a breadth-first search finds them, a link leads up to the end of lower rank, and no message
 * goes up after it went down. Ranks fall on the way up and grow on the way down, so channels can be
 * numbered as the engine asks for, and no cycle of channels can wait for itself.
 *
 * The search begins at a node of most links. Ways are the shortest legal ones, which may be longer
 * than the shortest. Channels are ejection by node, then down, then up, then injection.
 *
 * Source: Schroeder et al., Autonet: a High-speed, Self-configuring Local Area Network Using
 * Point-to-point Links, IEEE JSAC 9(8), 1991.
 */
#ifndef INTERCONNECT_UPDOWN_NETWORK_H
#define INTERCONNECT_UPDOWN_NETWORK_H

#include "interconnect/graph/graph.h"
#include "interconnect/wormhole/network.h"

#define IC_UPDOWN_NODES_MAX 4096u /* their masks take 256 MB */
#define IC_UPDOWN_PORTS_MAX 64u   /* links of a node */

enum ic_updown_routing {
    IC_UPDOWN_ADAPTIVE, /* any of the shortest legal ways */
    IC_UPDOWN_FIXED,    /* the one by the lowest ports */
    IC_UPDOWN_ROUTINGS
};

extern const char *const ic_updown_routing_names[IC_UPDOWN_ROUTINGS + 1];

struct ic_updown {
    uint32_t nodes;
    enum ic_updown_routing routing;
    uint32_t *first;  /* of a node's ports; nodes + 1 */
    uint32_t *ends;   /* by port: the neighbour */
    uint32_t *links;  /* by port: the channel */
    uint32_t *rank;   /* by node */
    uint32_t *ranked; /* nodes by rank */
    uint64_t
        *masks; /* ports that are on legal ways: by destination, node, and whether it came down */
    double mean_hops; /* links, over pairs of different nodes */
    uint32_t most_hops;
};

static inline bool ic_updown_is_up(const struct ic_updown *updown, uint32_t from, uint32_t to)
{
    return updown->rank[to] < updown->rank[from];
}
/* Ports of `at` that a message to `to` may take; not 0 where it can be. */
static inline uint64_t ic_updown_ports(const struct ic_updown *updown, uint32_t at, uint32_t to,
                                       bool came_down)
{
    size_t place = ((size_t)to * updown->nodes + at) * 2 + came_down;
    return updown->masks[place];
}

/* The graph is not kept. The network's ctx is the struct above. INVALID: not connected, a node of
 * more than PORTS_MAX links, more nodes than there is room for; NOMEM. Ends with
 * ic_wh_network_fini. */
GMC_NODISCARD gmc_status ic_updown_network(const struct ic_graph *graph,
                                           enum ic_updown_routing routing,
                                           struct ic_wh_network *network, char *error);

/* The same in two parts: ranks and channels, all that the model needs, for which there are no
 * masks, means nor longest ways yet; and these, once. NOMEM. */
GMC_NODISCARD gmc_status ic_updown_channels(const struct ic_graph *graph,
                                            enum ic_updown_routing routing,
                                            struct ic_wh_network *network, char *error);
GMC_NODISCARD gmc_status ic_updown_find_ways(struct ic_wh_network *network);

#endif
