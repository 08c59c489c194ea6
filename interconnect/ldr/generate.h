/* SPDX-License-Identifier: BSD-2-Clause */
/* Low-diameter regular graphs as they were first made: a spanning tree, filled up at random.
 *
 * 1. A tree in breadth-first order from node 0, every node that is expanded getting degree - 1
 *    children, until there are enough nodes.
 * 2. While nodes lack links: the one that lacks most (of several the lowest) is joined to a random
 *    one of those that lack some and are not its neighbours. If there is none, a random link is
 *    opened and its ends are joined to two nodes that lack links (or one that lacks two).
 * 3. Of several such graphs the one of least mean distance is taken.
 *
 * Source: Mehta 2005, chapter 3.
 */
#ifndef INTERCONNECT_LDR_GENERATE_H
#define INTERCONNECT_LDR_GENERATE_H

#include "interconnect/graph/distances.h"

#define IC_LDR_DEGREE_MAX 255u
#define IC_LDR_SAMPLES_MAX 100000u

/* nodes 4 to IC_GRAPH_NODES_MAX, degree 2 to IC_LDR_DEGREE_MAX and below nodes, their product even.
 * INVALID names what is not so. */
GMC_NODISCARD gmc_status ic_ldr_check(uint64_t nodes, uint64_t degree, char *error);

/* Steps 1 and 2: simple, regular and connected. INVALID also says that none was found, NOMEM. */
GMC_NODISCARD gmc_status ic_ldr_generate(uint64_t nodes, uint64_t degree, uint64_t seed,
                                         struct ic_graph *graph, char *error);

/* Over several graphs; means include the distance 0 of each node to itself, as in print. */
struct ic_ldr_spread {
    double least, mean, most;
    uint32_t diameter_least, diameter_most;
};

/* How many have 20,480 nodes in all, and at least 100: the fewer the nodes, the more graphs differ
 * (of 32 nodes one in twenty has the printed diameter). */
uint64_t ic_ldr_usual_samples(uint64_t nodes);

/* Steps 1 to 3 with `samples` graphs, 1 to IC_LDR_SAMPLES_MAX, each with a stream of its own.
 * Either of spread and graph may be NULL. */
GMC_NODISCARD gmc_status ic_ldr_select(uint64_t nodes, uint64_t degree, uint64_t seed,
                                       uint64_t samples, struct ic_ldr_spread *spread,
                                       struct ic_graph *graph, char *error);

#endif
