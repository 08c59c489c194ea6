/* SPDX-License-Identifier: BSD-2-Clause */
/* The networks that low-diameter graphs are compared with, and they themselves, by name and size.
 */
#ifndef INTERCONNECT_LDR_BUILD_H
#define INTERCONNECT_LDR_BUILD_H

#include "interconnect/ldr/routes.h"

enum ic_ldr_topology {
    IC_LDR_HYPERCUBE,
    IC_LDR_GENERATED, /* ldr/generate.h, the best of some samples */
    IC_LDR_IMPROVED,  /* ldr/improve.h */
    IC_LDR_FAT_TREE,  /* as few levels as will do */
    IC_LDR_HYBRID_HYPERCUBE,
    IC_LDR_HYBRID_GENERATED,
    IC_LDR_HYBRID_IMPROVED,
    IC_LDR_TOPOLOGIES
};

struct ic_ldr_spec {
    enum ic_ldr_topology topology;
    uint64_t nodes;     /* hosts, all together */
    uint64_t degree;    /* of graphs; 0: what the hypercube of as many nodes has */
    uint64_t component; /* nodes of a part of a hybrid, a divisor of nodes */
    uint64_t ports;     /* of a fat tree's switches */
    uint64_t samples;   /* generated graphs of which the best is taken */
    uint64_t steps;     /* of improvement; 0: as many as are good */
    uint64_t seed;      /* of graphs */
};

struct ic_ldr_built {
    struct ic_network network;
    struct ic_routes routes;
    struct ic_graph graph; /* the whole of a direct network, the component of a hybrid; empty: a
                              fat tree */
    bool is_direct;
};

/* INVALID names what does not go, routes that would take too much memory before anything is made;
 * NOMEM. Ends with fini; must not be moved, routes point into it. */
GMC_NODISCARD gmc_status ic_ldr_build(struct ic_ldr_built *built, const struct ic_ldr_spec *spec,
                                      char *error);
/* A direct network of any connected graph, as one that was read from a file; takes the graph, which
 * is released when it fails, too. */
GMC_NODISCARD gmc_status ic_ldr_build_graph(struct ic_ldr_built *built, struct ic_graph *graph,
                                            char *error);
/* Whether routes of what is asked for would take too much memory, before it is made. INVALID. */
GMC_NODISCARD gmc_status ic_ldr_check_routes(const struct ic_ldr_spec *spec, char *error);
/* The same without routes, which models do not need. */
GMC_NODISCARD gmc_status ic_ldr_build_network(struct ic_ldr_built *built,
                                              const struct ic_ldr_spec *spec, char *error);
GMC_NODISCARD gmc_status ic_ldr_take_graph(struct ic_ldr_built *built, struct ic_graph *graph,
                                           char *error);
/* The graph alone, of a direct network. INVALID, NOMEM. Ends with ic_graph_fini. */
GMC_NODISCARD gmc_status ic_ldr_graph(const struct ic_ldr_spec *spec, struct ic_graph *graph,
                                      char *error);
void ic_ldr_built_fini(struct ic_ldr_built *built);

#endif
