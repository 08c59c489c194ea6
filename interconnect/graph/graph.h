/* SPDX-License-Identifier: BSD-2-Clause */
/* An undirected graph without loops and double links, and ways in it. */
#ifndef INTERCONNECT_GRAPH_GRAPH_H
#define INTERCONNECT_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interconnect/error.h"

#define IC_GRAPH_NODES_MAX 65536u
#define IC_GRAPH_LINKS_MAX 4194304u
#define IC_GRAPH_NONE UINT32_MAX

struct ic_graph_link {
    uint32_t a, b;
};

/* Neighbours of node i: neighbours[first[i]] to neighbours[first[i + 1]], in growing order. The
 * place of a neighbour among those of a node is the number of the port to it. */
struct ic_graph {
    uint32_t nodes;
    size_t links;
    uint32_t *first;      /* nodes + 1 */
    uint32_t *neighbours; /* 2 * links */
};

/* INVALID: a link to no node, to itself or twice, too many of anything; NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_graph_init(struct ic_graph *graph, uint64_t nodes,
                                       const struct ic_graph_link *links, size_t count,
                                       char *error);
void ic_graph_fini(struct ic_graph *graph);
/* NOMEM. The copy ends with fini. */
GMC_NODISCARD gmc_status ic_graph_copy(const struct ic_graph *graph, struct ic_graph *copy);

/* The hypercube of that many dimensions, 1 to 16; neighbours differ in one bit. */
GMC_NODISCARD gmc_status ic_graph_hypercube(struct ic_graph *graph, uint64_t dimensions,
                                            char *error);

static inline uint32_t ic_graph_degree(const struct ic_graph *graph, uint32_t node)
{
    return graph->first[node + 1] - graph->first[node];
}
/* Of all nodes; 0 for an empty graph. */
void ic_graph_degrees(const struct ic_graph *graph, uint32_t *least, uint32_t *most);
/* The port of `from` to `to`; IC_GRAPH_NONE when they are no neighbours. */
uint32_t ic_graph_port(const struct ic_graph *graph, uint32_t from, uint32_t to);

/* Breadth-first from a node, neighbours in growing order: hops to each node (IC_GRAPH_NONE where
 * there is no way), the node before it (its own number for the start) and the nodes in the order in
 * which they are found; parents may be NULL. Arrays of `nodes`. How many nodes are reached. */
uint32_t ic_graph_search(const struct ic_graph *graph, uint32_t from, uint32_t *hops,
                         uint32_t *parents, uint32_t *order);

#endif
