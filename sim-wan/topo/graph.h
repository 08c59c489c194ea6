/* SPDX-License-Identifier: BSD-2-Clause */
/* A topology's links by node, and ways from one node to all. */
#ifndef SIM_TOPO_GRAPH_H
#define SIM_TOPO_GRAPH_H

#include "sim-wan/topo/topo.h"

struct sim_graph_arc {
    uint32_t to;
    gmc_duration delay;
};

/* Arcs of node i: arcs[first[i]] to arcs[first[i + 1]], in the order of the links. */
struct sim_graph {
    uint32_t node_count;
    uint32_t *first;
    struct sim_graph_arc *arcs;
};

void sim_graph_init(struct sim_graph *graph, const struct sim_topo *topo);
void sim_graph_fini(struct sim_graph *graph);
static inline uint32_t sim_graph_degree(const struct sim_graph *graph, uint32_t node)
{
    return graph->first[node + 1] - graph->first[node];
}

/* Hops from a node to all; order is the nodes as they were reached, parents the node before each
 * (its own for the start). Arrays of node_count. The graph is connected. */
void sim_graph_hops(const struct sim_graph *graph, uint32_t from, uint32_t *hops, uint32_t *order,
                    uint32_t *parents);
/* Delays of the fastest ways from a node to all (Dijkstra, Numerische Mathematik 1, 1959). */
void sim_graph_delays(const struct sim_graph *graph, uint32_t from, gmc_duration *delays);

#endif
