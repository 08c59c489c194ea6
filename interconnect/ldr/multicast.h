/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast and broadcast trees of direct networks.
 *
 *   hypercube  the smallest subcube that holds the group; breadth-first from the root, each node
 *              taking its neighbours without a parent as children, in growing order
 *   any graph  the union of the shortest paths from the root that are stored (breadth-first,
 *              neighbours in growing order); nodes on the paths join the tree. A broadcast is a
 *              multicast to all
 *
 * Source: Mehta 2005, chapter 5.
 */
#ifndef INTERCONNECT_LDR_MULTICAST_H
#define INTERCONNECT_LDR_MULTICAST_H

#include "interconnect/graph/graph.h"

#define IC_SUBCUBE_DIMENSIONS_MAX 16u

struct ic_subcube {
    uint32_t fixed;   /* bits that all members share; 0 where they are free */
    uint32_t free;    /* mask of the other bits */
    uint32_t members; /* 2^(free bits) */
};

/* Of a group of 1 or more nodes of the hypercube; INVALID names one that is none. */
GMC_NODISCARD gmc_status ic_subcube_enclose(uint64_t dimensions, const uint32_t *group,
                                            size_t count, struct ic_subcube *subcube, char *error);

struct ic_tree {
    uint32_t nodes;    /* of the graph */
    uint32_t *parents; /* by node; of the root itself; IC_GRAPH_NONE: not in the tree */
    uint32_t *members; /* from the root on, parents before children */
    uint32_t count;    /* of members, the root among them */
    uint32_t depth;    /* hops to the last one */
    uint32_t fanout;   /* the most children that a node has */
};

/* Of the whole subcube, from a root in it. INVALID: the root is not. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_subcube_tree(uint64_t dimensions, const struct ic_subcube *subcube,
                                         uint32_t root, struct ic_tree *tree, char *error);
/* To a group, which may hold the root or not; NULL: to all nodes. INVALID names a node that there
 * is not, or that cannot be reached. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_graph_tree(const struct ic_graph *graph, uint32_t root,
                                       const uint32_t *group, size_t count, struct ic_tree *tree,
                                       char *error);
void ic_tree_fini(struct ic_tree *tree);

#endif
