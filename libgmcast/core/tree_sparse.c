/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns `eco` over a list of links; see tree_sparse.h. */
#include "core/tree_sparse.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree_eco.h"
#include "core/tree_order.h"

struct near {
    uint64_t latency;
    int32_t v;
};

static bool joins_before(const struct gmc_tree_sparse *graph, int32_t a, int32_t b)
{
    struct gmc_tree_graph names = {.n = graph->n, .names = graph->names};

    if (graph->from_source[a] != graph->from_source[b])
        return graph->from_source[a] < graph->from_source[b];
    return gmc_tree_wins_tie(&names, a, b);
}

/* What u may hang from: the cheapest link to one that joined before it (E2, E6). */
static void look_at(const struct gmc_tree_sparse *graph, struct near *near, int32_t u, int32_t v,
                    uint64_t latency)
{
    struct gmc_tree_graph names = {.n = graph->n, .names = graph->names};
    struct near *mine = &near[u];

    if (latency == GMC_LATENCY_UNKNOWN || !joins_before(graph, v, u))
        return;
    if (mine->v < 0 || latency < mine->latency ||
        (latency == mine->latency && gmc_tree_wins_tie(&names, v, mine->v)))
        *mine = (struct near){latency, v};
}

static bool is_sound(const struct gmc_tree_sparse *graph)
{
    if (graph->n == 0 || graph->n > INT32_MAX)
        return false;
    for (size_t i = 0; i < graph->link_count; i++) {
        const struct gmc_tree_link *link = &graph->links[i];

        if (link->a <= 0 || (size_t)link->a >= graph->n || link->b <= 0 ||
            (size_t)link->b >= graph->n || link->a == link->b)
            return false;
    }
    return true;
}

gmc_status gmc_tree_eco_sparse(const struct gmc_tree_sparse *graph, int32_t *parent)
{
    struct near *near;

    if (!is_sound(graph))
        return GMC_ERR_INVALID;
    near = calloc(graph->n, sizeof(*near));
    if (near == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < graph->n; i++)
        near[i] = (struct near){GMC_LATENCY_UNKNOWN, -1};
    for (size_t i = 0; i < graph->link_count; i++) {
        const struct gmc_tree_link *link = &graph->links[i];

        look_at(graph, near, link->a, link->b, link->latency);
        look_at(graph, near, link->b, link->a, link->latency);
    }
    parent[0] = -1;
    for (size_t u = 1; u < graph->n; u++)
        parent[u] = gmc_tree_eco_parent(graph->from_source[u], near[u].v, near[u].latency);
    free(near);
    return GMC_OK;
}
