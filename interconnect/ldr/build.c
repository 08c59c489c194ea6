/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks by name. */
#include "interconnect/ldr/build.h"

#include "base/assert.h"
#include "interconnect/fattree/tree.h"
#include "interconnect/ldr/generate.h"
#include "interconnect/ldr/improve.h"

/* The dimensions of the smallest hypercube of so many nodes. */
static uint64_t dimensions_of(uint64_t nodes)
{
    uint64_t dimensions = 1;
    while (dimensions < 63 && ((uint64_t)1 << dimensions) < nodes)
        dimensions++;
    return dimensions;
}

static gmc_status make_hypercube(struct ic_graph *graph, uint64_t nodes, char *error)
{
    uint64_t dimensions = dimensions_of(nodes);
    if (((uint64_t)1 << dimensions) != nodes)
        return ic_refuse(error, "a hypercube has a power of two of nodes; %.0f is none",
                         (double)nodes);
    return ic_graph_hypercube(graph, dimensions, error);
}

static gmc_status make_graph(struct ic_graph *graph, const struct ic_ldr_spec *spec, uint64_t nodes,
                             char *error)
{
    uint64_t degree = spec->degree > 0 ? spec->degree : dimensions_of(nodes);
    const struct ic_improve_config config = {.steps = spec->steps, .seed = spec->seed};
    switch (spec->topology) {
    case IC_LDR_GENERATED:
    case IC_LDR_HYBRID_GENERATED:
        return ic_ldr_select(nodes, degree, spec->seed, spec->samples, NULL, graph, error);
    case IC_LDR_IMPROVED:
    case IC_LDR_HYBRID_IMPROVED:
        return ic_improve_random(nodes, degree, &config, graph, error);
    default:
        return make_hypercube(graph, nodes, error);
    }
}

static gmc_status build_fat_tree(struct ic_ldr_built *built, const struct ic_ldr_spec *spec,
                                 char *error)
{
    struct ic_fat_tree tree;
    for (uint64_t levels = 1;; levels++) {
        gmc_status status = ic_fat_tree_init(&tree, spec->ports, levels, error);
        if (status != GMC_OK)
            return status;
        if (tree.nodes >= spec->nodes)
            return ic_network_fat_tree(&built->network, spec->ports, levels, spec->nodes, error);
    }
}

static gmc_status build_direct(struct ic_ldr_built *built, const struct ic_ldr_spec *spec,
                               char *error)
{
    gmc_status status = make_graph(&built->graph, spec, spec->nodes, error);
    if (status != GMC_OK)
        return status;
    built->is_direct = true;
    if (spec->topology == IC_LDR_HYPERCUBE)
        return ic_network_hypercube(&built->network, dimensions_of(spec->nodes), error);
    return ic_network_direct(&built->network, &built->graph, error);
}

static gmc_status build_hybrid(struct ic_ldr_built *built, const struct ic_ldr_spec *spec,
                               char *error)
{
    gmc_status status =
        ic_check_range("the nodes of a component", spec->component, 2, spec->nodes, error);
    if (status == GMC_OK && spec->nodes % spec->component != 0)
        return ic_refuse(error, "%.0f nodes are not made of components of %.0f",
                         (double)spec->nodes, (double)spec->component);
    if (status == GMC_OK)
        status = make_graph(&built->graph, spec, spec->component, error);
    if (status == GMC_OK)
        status = ic_network_hybrid(&built->network, &built->graph, spec->nodes / spec->component,
                                   spec->ports, error);
    return status;
}

/* The least that routes of a direct network take is known before it is made. */
gmc_status ic_ldr_check_routes(const struct ic_ldr_spec *spec, char *error)
{
    uint64_t degree = spec->degree > 0 ? spec->degree : dimensions_of(spec->nodes);
    if (spec->topology >= IC_LDR_FAT_TREE)
        return GMC_OK;
    return ic_routes_check(spec->nodes, spec->nodes, degree, error);
}

gmc_status ic_ldr_build_network(struct ic_ldr_built *built, const struct ic_ldr_spec *spec,
                                char *error)
{
    *built = (struct ic_ldr_built){0};
    gmc_status status =
        ic_check_range("the number of nodes", spec->nodes, 2, IC_GRAPH_NODES_MAX, error);
    if (status != GMC_OK)
        return status;
    if (spec->topology == IC_LDR_FAT_TREE)
        status = build_fat_tree(built, spec, error);
    else if (spec->topology < IC_LDR_FAT_TREE)
        status = build_direct(built, spec, error);
    else
        status = build_hybrid(built, spec, error);
    if (status != GMC_OK)
        ic_ldr_built_fini(built);
    return status;
}

gmc_status ic_ldr_build(struct ic_ldr_built *built, const struct ic_ldr_spec *spec, char *error)
{
    *built = (struct ic_ldr_built){0};
    gmc_status status =
        ic_check_range("the number of nodes", spec->nodes, 2, IC_GRAPH_NODES_MAX, error);
    if (status == GMC_OK)
        status = ic_ldr_check_routes(spec, error);
    if (status == GMC_OK)
        status = ic_ldr_build_network(built, spec, error);
    if (status == GMC_OK)
        status = ic_routes_init(&built->routes, &built->network, error);
    if (status != GMC_OK)
        ic_ldr_built_fini(built);
    return status;
}

gmc_status ic_ldr_graph(const struct ic_ldr_spec *spec, struct ic_graph *graph, char *error)
{
    gmc_status status =
        ic_check_range("the number of nodes", spec->nodes, 2, IC_GRAPH_NODES_MAX, error);
    GMC_ASSERT(spec->topology < IC_LDR_FAT_TREE);
    return status == GMC_OK ? make_graph(graph, spec, spec->nodes, error) : status;
}

gmc_status ic_ldr_take_graph(struct ic_ldr_built *built, struct ic_graph *graph, char *error)
{
    *built = (struct ic_ldr_built){.graph = *graph, .is_direct = true};
    *graph = (struct ic_graph){0};
    gmc_status status = ic_network_direct(&built->network, &built->graph, error);
    if (status != GMC_OK)
        ic_ldr_built_fini(built);
    return status;
}

gmc_status ic_ldr_build_graph(struct ic_ldr_built *built, struct ic_graph *graph, char *error)
{
    gmc_status status = ic_ldr_take_graph(built, graph, error);
    if (status == GMC_OK)
        status = ic_routes_init(&built->routes, &built->network, error);
    if (status != GMC_OK)
        ic_ldr_built_fini(built);
    return status;
}

void ic_ldr_built_fini(struct ic_ldr_built *built)
{
    ic_routes_fini(&built->routes);
    ic_network_fini(&built->network);
    ic_graph_fini(&built->graph);
}
