/* SPDX-License-Identifier: BSD-2-Clause */
/* Distances in a graph, and the bounds that its degree sets to them.
 *
 * Source: Mehta 2005, chapter 4. His average counts every node's distance 0 to itself (that alone
 * gives log2(N)/2 for a hypercube); elsewhere pairs of different nodes are usual. Both are here.
 */
#ifndef INTERCONNECT_GRAPH_DISTANCES_H
#define INTERCONNECT_GRAPH_DISTANCES_H

#include "interconnect/graph/graph.h"

struct ic_distances {
    bool is_connected; /* if not, what follows is 0 */
    uint32_t diameter; /* hops */
    uint64_t sum;      /* over all ordered pairs */
    double mean;       /* hops, over pairs of different nodes */
    double mean_self;  /* hops, over all nodes^2 pairs */
};

/* NOMEM. */
GMC_NODISCARD gmc_status ic_graph_distances(const struct ic_graph *graph,
                                            struct ic_distances *distances);

/* (4.1) The most nodes that a graph of that degree and diameter can have:
 * 1 + d + d(d-1) + ... + d(d-1)^(k-1). INVALID names what is out of range: degree 1 to 65535,
 * diameter 1 to 64, and a bound that 64 bits cannot hold. */
GMC_NODISCARD gmc_status ic_moore_bound(uint64_t degree, uint64_t diameter, uint64_t *nodes,
                                        char *error);

struct ic_distance_bounds {
    uint32_t diameter; /* no graph of that size and degree has less */
    uint64_t sum;      /* from one node to all */
    double mean;       /* sum / (nodes - 1) */
    double mean_self;  /* sum / nodes */
};

/* Layers of d, d(d-1), d(d-1)^2, ... nodes are filled until there are enough. INVALID names what is
 * out of range: nodes 2 to 2^63 (degree 2: 2^32), degree 1 to nodes - 1, degree 1 with more than 2
 * nodes, a sum of more than 64 bits. */
GMC_NODISCARD gmc_status ic_distance_bounds(uint64_t nodes, uint64_t degree,
                                            struct ic_distance_bounds *bounds, char *error);

#endif
