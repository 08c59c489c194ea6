/* SPDX-License-Identifier: BSD-2-Clause */
/* Distances and bounds. */
#include "interconnect/graph/distances.h"

#include <math.h>
#include <stdlib.h>

#include "interconnect/graph/reach.h"

/* Beyond that searching bit by bit costs more than node by node. */
#define LEVELS_MAX 64u
#define NODES_MAX ((uint64_t)1 << 63)
#define RING_MAX ((uint64_t)1 << 32)

static gmc_status sum_by_bits(const struct ic_graph *graph, struct ic_reach_sum *sum)
{
    const struct ic_reach_arcs arcs = {graph->first, graph->neighbours, NULL};
    struct ic_reach reach;
    gmc_status status = ic_reach_init(&reach, graph->nodes, 1);
    if (status != GMC_OK)
        return status;
    *sum = ic_reach_run(&reach, &arcs, UINT64_MAX, LEVELS_MAX);
    ic_reach_fini(&reach);
    return GMC_OK;
}

static gmc_status sum_by_nodes(const struct ic_graph *graph, struct ic_reach_sum *sum)
{
    uint32_t *hops = calloc(graph->nodes, sizeof(*hops));
    uint32_t *order = calloc(graph->nodes, sizeof(*order));
    *sum = (struct ic_reach_sum){.is_complete = true};
    for (uint32_t i = 0; hops != NULL && order != NULL && i < graph->nodes; i++) {
        uint32_t found = ic_graph_search(graph, i, hops, NULL, order);
        uint32_t last = hops[order[found - 1]];
        sum->is_complete = sum->is_complete && found == graph->nodes;
        sum->diameter = last > sum->diameter ? last : sum->diameter;
        for (uint32_t j = 0; j < found; j++)
            sum->distances += hops[order[j]];
    }
    gmc_status status = hops != NULL && order != NULL ? GMC_OK : GMC_ERR_NOMEM;
    free(hops);
    free(order);
    return status;
}

gmc_status ic_graph_distances(const struct ic_graph *graph, struct ic_distances *distances)
{
    struct ic_reach_sum sum;
    gmc_status status = sum_by_bits(graph, &sum);
    if (status == GMC_OK && !sum.is_complete)
        status = sum_by_nodes(graph, &sum);
    if (status != GMC_OK)
        return status;
    *distances = (struct ic_distances){.is_connected = sum.is_complete};
    if (!sum.is_complete)
        return GMC_OK;
    distances->diameter = sum.diameter;
    distances->sum = sum.distances;
    distances->mean_self = (double)sum.distances / graph->nodes / graph->nodes;
    distances->mean = (double)sum.distances / graph->nodes / (graph->nodes - 1);
    return GMC_OK;
}

gmc_status ic_moore_bound(uint64_t degree, uint64_t diameter, uint64_t *nodes, char *error)
{
    gmc_status status = ic_check_range("d, the degree,", degree, 1, IC_GRAPH_NODES_MAX - 1, error);
    if (status == GMC_OK)
        status = ic_check_range("k, the diameter,", diameter, 1, 64, error);
    if (status != GMC_OK)
        return status;
    uint64_t sum = 1, layer = degree;
    for (uint64_t i = 0; i < diameter; i++) {
        if (sum > UINT64_MAX - layer || (layer > 0 && degree - 1 > UINT64_MAX / layer))
            return ic_refuse(error, "the bound of d = %u and k = %u has more than 64 bits",
                             (uint32_t)degree, (uint32_t)diameter);
        sum += layer;
        layer *= degree - 1;
    }
    *nodes = sum;
    return GMC_OK;
}

gmc_status ic_distance_bounds(uint64_t nodes, uint64_t degree, struct ic_distance_bounds *bounds,
                              char *error)
{
    gmc_status status = ic_check_range("the number of nodes", nodes, 2, NODES_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("the degree", degree, nodes > 2 ? 2 : 1, nodes - 1, error);
    if (status == GMC_OK && degree == 2) /* they are of a ring's length then, and so are sums */
        status = ic_check_range("the number of nodes of a ring", nodes, 2, RING_MAX, error);
    if (status != GMC_OK)
        return status;
    uint64_t left = nodes - 1, layer = degree;
    *bounds = (struct ic_distance_bounds){0};
    while (left > 0) {
        uint64_t filled = layer < left ? layer : left;
        bounds->diameter++;
        if (filled > (UINT64_MAX - bounds->sum) / bounds->diameter)
            return ic_refuse(error, "the sum of distances of 2^%.1f nodes has more than 64 bits",
                             log2((double)nodes));
        bounds->sum += filled * bounds->diameter;
        left -= filled;
        layer = layer <= left / (degree > 1 ? degree - 1 : 1) ? layer * (degree - 1) : left;
    }
    bounds->mean = (double)bounds->sum / (double)(nodes - 1);
    bounds->mean_self = (double)bounds->sum / (double)nodes;
    return GMC_OK;
}
