/* SPDX-License-Identifier: BSD-2-Clause */
/* Subcubes and trees. */
#include "interconnect/ldr/multicast.h"

#include <stdlib.h>

gmc_status ic_subcube_enclose(uint64_t dimensions, const uint32_t *group, size_t count,
                              struct ic_subcube *subcube, char *error)
{
    gmc_status status = ic_check_range("n, dimensions of the hypercube,", dimensions, 1,
                                       IC_SUBCUBE_DIMENSIONS_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("the group's size", count, 1, IC_GRAPH_NODES_MAX, error);
    uint32_t free_bits = 0;
    for (size_t i = 0; i < count && status == GMC_OK; i++) {
        status = ic_check_range("a member's number", group[i], 0, ((uint64_t)1 << dimensions) - 1,
                                error);
        free_bits |= group[i] ^ group[0];
    }
    if (status != GMC_OK)
        return status;
    *subcube = (struct ic_subcube){group[0] & ~free_bits, free_bits, 1};
    for (uint32_t bits = free_bits; bits != 0; bits &= bits - 1)
        subcube->members *= 2;
    return GMC_OK;
}

/* ---- trees ---- */
static gmc_status make(struct ic_tree *tree, uint32_t nodes)
{
    *tree = (struct ic_tree){
        .nodes = nodes,
        .parents = calloc(nodes, sizeof(*tree->parents)),
        .members = calloc(nodes, sizeof(*tree->members)),
    };
    if (tree->parents != NULL && tree->members != NULL)
        return GMC_OK;
    ic_tree_fini(tree);
    return GMC_ERR_NOMEM;
}

void ic_tree_fini(struct ic_tree *tree)
{
    free(tree->parents);
    free(tree->members);
    *tree = (struct ic_tree){0};
}

/* Depth and fan-out of a tree whose members are in the order of their depths. */
static gmc_status measure(struct ic_tree *tree)
{
    uint32_t *children = calloc(tree->nodes, sizeof(*children));
    uint32_t *depths = calloc(tree->nodes, sizeof(*depths));
    gmc_status status = children != NULL && depths != NULL ? GMC_OK : GMC_ERR_NOMEM;
    for (uint32_t i = 1; i < tree->count && status == GMC_OK; i++) {
        uint32_t node = tree->members[i], parent = tree->parents[node];
        depths[node] = depths[parent] + 1;
        tree->depth = depths[node];
        children[parent]++;
        tree->fanout = children[parent] > tree->fanout ? children[parent] : tree->fanout;
    }
    free(children);
    free(depths);
    return status;
}

/* Nodes of `graph` outside the group's paths leave the tree. */
static void prune(struct ic_tree *tree, uint32_t root, const uint32_t *group, size_t count,
                  uint32_t *hops)
{
    enum { OUTSIDE, INSIDE };
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tree->nodes; i++)
        hops[i] = OUTSIDE;
    hops[root] = INSIDE;
    for (size_t i = 0; i < count; i++)
        for (uint32_t node = group[i]; hops[node] == OUTSIDE; node = tree->parents[node])
            hops[node] = INSIDE;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t node = tree->members[i];
        if (hops[node] == INSIDE)
            tree->members[kept++] = node;
        else
            tree->parents[node] = IC_GRAPH_NONE;
    }
    tree->count = kept;
}

static gmc_status check_reached(const uint32_t *hops, uint32_t nodes, const uint32_t *group,
                                size_t count, char *error)
{
    for (size_t i = 0; i < (group != NULL ? count : nodes); i++) {
        uint64_t node = group != NULL ? group[i] : i;
        gmc_status status = ic_check_range("a member's number", node, 0, nodes - 1, error);
        if (status != GMC_OK)
            return status;
        if (hops[node] == IC_GRAPH_NONE)
            return ic_refuse(error, "there is no way from the root to node %u", (uint32_t)node);
    }
    return GMC_OK;
}

gmc_status ic_graph_tree(const struct ic_graph *graph, uint32_t root, const uint32_t *group,
                         size_t count, struct ic_tree *tree, char *error)
{
    gmc_status status = ic_check_range("the root's number", root, 0, graph->nodes - 1, error);
    if (status == GMC_OK)
        status = make(tree, graph->nodes);
    if (status != GMC_OK)
        return status;
    uint32_t *hops = calloc(graph->nodes, sizeof(*hops));
    if (hops == NULL) {
        ic_tree_fini(tree);
        return GMC_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < graph->nodes; i++)
        tree->parents[i] = IC_GRAPH_NONE;
    tree->count = ic_graph_search(graph, root, hops, tree->parents, tree->members);
    status = check_reached(hops, graph->nodes, group, count, error);
    if (status == GMC_OK && group != NULL)
        prune(tree, root, group, count, hops);
    if (status == GMC_OK)
        status = measure(tree);
    free(hops);
    if (status != GMC_OK)
        ic_tree_fini(tree);
    return status;
}

gmc_status ic_subcube_tree(uint64_t dimensions, const struct ic_subcube *subcube, uint32_t root,
                           struct ic_tree *tree, char *error)
{
    gmc_status status = ic_check_range("n, dimensions of the hypercube,", dimensions, 1,
                                       IC_SUBCUBE_DIMENSIONS_MAX, error);
    if (status != GMC_OK)
        return status;
    uint32_t nodes = 1u << dimensions;
    if ((root & ~subcube->free) != subcube->fixed || root >= nodes)
        return ic_refuse(error, "the root, %u, is not in the subcube", root);
    status = make(tree, nodes);
    if (status != GMC_OK)
        return status;
    for (uint32_t i = 0; i < nodes; i++)
        tree->parents[i] = IC_GRAPH_NONE;
    tree->parents[root] = root;
    tree->members[tree->count++] = root;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t node = tree->members[i];
        /* Growing order: clearing a high bit gives the lowest neighbour, setting it the highest. */
        for (uint32_t bit = nodes >> 1; bit != 0; bit >>= 1)
            if ((subcube->free & node & bit) != 0 && tree->parents[node ^ bit] == IC_GRAPH_NONE) {
                tree->parents[node ^ bit] = node;
                tree->members[tree->count++] = node ^ bit;
            }
        for (uint32_t bit = 1; bit < nodes; bit <<= 1)
            if ((subcube->free & ~node & bit) != 0 && tree->parents[node | bit] == IC_GRAPH_NONE) {
                tree->parents[node | bit] = node;
                tree->members[tree->count++] = node | bit;
            }
    }
    status = measure(tree);
    if (status != GMC_OK)
        ic_tree_fini(tree);
    return status;
}
