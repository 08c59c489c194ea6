/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the shape `eco`, for messages and small objects: near gateways feed each other, unless the
 * detour costs more than it saves.
 *
 *   E1  Gateways join in the order of core/tree_order.h: growing latency from the source.
 *   E2  v is the gateway in the tree, the source excluded, with the cheapest link to u.
 *   E3  Without such a v (none yet, or u hears none), u becomes a child of the source.
 *   E4  If latency(source,u) < 1.2 * latency(v,u), u becomes a child of the source.
 *   E5  Otherwise u becomes a child of v; so also when u does not hear the source.
 *   E6  Ties for v go by name, without names by index.
 *
 * Source: Lowekamp and Beguelin, ECO; Oral 2003, chapter 5, the 20 % cut-off. What is printed
 * there leaves open whether the link or the path to v counts; the link does here.
 */
#include "core/tree_eco.h"

#include <stdlib.h>

/* 5a < 6b without overflow, so that any unit will do. */
static bool within_cutoff(uint64_t a, uint64_t b)
{
    if (a < b)
        return true;
    return b > 0 && a - b <= (b - 1) / 5;
}

int32_t gmc_tree_eco_parent(uint64_t from_source, int32_t v, uint64_t from_v)
{
    if (v < 0 || from_v == GMC_LATENCY_UNKNOWN)
        return 0; /* E3 */
    if (from_source == GMC_LATENCY_UNKNOWN)
        return v;                                      /* E5 */
    return within_cutoff(from_source, from_v) ? 0 : v; /* E4, E5 */
}

/* Keeps for every gateway the cheapest link to what is in the tree (E2, E6): n steps for each that
 * joins, and no more memory than this. */
struct eco_near {
    uint64_t latency;
    int32_t v;
};

static void eco_join(const struct gmc_tree_graph *graph, const int32_t *order, size_t rank,
                     struct eco_near *near)
{
    int32_t joined = order[rank];

    for (size_t i = rank + 1; i < graph->n; i++) {
        struct eco_near *mine = &near[order[i]];
        uint64_t latency = gmc_tree_latency(graph, order[i], joined);

        if (mine->v < 0 || latency < mine->latency ||
            (latency == mine->latency && gmc_tree_wins_tie(graph, joined, mine->v)))
            *mine = (struct eco_near){latency, joined};
    }
}

static gmc_status eco_build(const struct gmc_tree_graph *graph, int32_t *parent, uint32_t *stripes)
{
    gmc_status status = GMC_ERR_NOMEM;
    struct eco_near *near;
    int32_t *order;

    if (graph->n == 0 || graph->n > INT32_MAX)
        return GMC_ERR_INVALID;
    order = malloc(graph->n * sizeof(*order));
    near = calloc(graph->n, sizeof(*near));
    if (order == NULL || near == NULL)
        goto free_order;
    status = gmc_tree_order(graph, order);
    if (status != GMC_OK)
        goto free_order;
    *stripes = 1;
    parent[0] = -1;
    for (size_t i = 0; i < graph->n; i++)
        near[i] = (struct eco_near){GMC_LATENCY_UNKNOWN, -1};
    for (size_t rank = 1; rank < graph->n; rank++) {
        int32_t u = order[rank];

        parent[u] = gmc_tree_eco_parent(gmc_tree_latency(graph, 0, u), near[u].v, near[u].latency);
        eco_join(graph, order, rank, near);
    }
free_order:
    free(order);
    free(near);
    return status;
}

const struct gmc_tree_ops gmc_tree_eco = {"eco", eco_build};
