/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the table of tree shapes, joining a running tree, and the check that parents form a tree. */
#include "core/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "core/tree_bulk.h"
#include "core/tree_eco.h"
#include "core/tree_shapes.h"

static const struct gmc_tree_ops *const shapes[GMC_TREE_SHAPES] = {
    [GMC_TREE_ECO] = &gmc_tree_eco,           [GMC_TREE_FLAT] = &gmc_tree_flat,
    [GMC_TREE_BINOMIAL] = &gmc_tree_binomial, [GMC_TREE_BINARY] = &gmc_tree_binary,
    [GMC_TREE_CHAIN] = &gmc_tree_chain,       [GMC_TREE_BULK] = &gmc_tree_bulk,
};

const struct gmc_tree_ops *gmc_tree_ops(enum gmc_tree_shape shape)
{
    GMC_ASSERT((unsigned)shape < GMC_TREE_SHAPES);
    return shapes[shape];
}

gmc_status gmc_tree_shape_from_name(const char *name, enum gmc_tree_shape *shape)
{
    for (unsigned i = 0; i < GMC_TREE_SHAPES; i++) {
        if (strcmp(shapes[i]->name, name) == 0) {
            *shape = (enum gmc_tree_shape)i;
            return GMC_OK;
        }
    }
    return GMC_ERR_NOT_FOUND;
}

/* ---- paths to the root ---- */

enum reach { REACH_OPEN = 0, REACH_ROOT, REACH_NOT, REACH_WALKING };

/* Whether v's parents lead to gateway 0 without passing `barred` (-1: none). Every answer is
 * written down for all gateways on the way, so that asking for all of them takes n steps. A loop
 * or an index out of range leads nowhere. */
static enum reach walk(const int32_t *parent, size_t n, int32_t barred, int32_t v, uint8_t *reach)
{
    enum reach answer;
    int32_t at = v;

    while (at >= 0 && (size_t)at < n && at != barred && reach[at] == REACH_OPEN) {
        reach[at] = REACH_WALKING;
        at = parent[at];
    }
    answer = at >= 0 && (size_t)at < n && at != barred && reach[at] == REACH_ROOT ? REACH_ROOT
                                                                                  : REACH_NOT;
    for (at = v; at >= 0 && (size_t)at < n && reach[at] == REACH_WALKING; at = parent[at])
        reach[at] = (uint8_t)answer;
    return answer;
}

gmc_status gmc_tree_attach(const struct gmc_tree_graph *graph, const int32_t *parent, int32_t u,
                           int32_t *chosen)
{
    uint64_t least = GMC_LATENCY_UNKNOWN;
    int32_t best = -1;
    uint8_t *reach;

    if (graph->n > INT32_MAX || u <= 0 || (size_t)u >= graph->n)
        return GMC_ERR_INVALID;
    reach = calloc(graph->n, 1);
    if (reach == NULL)
        return GMC_ERR_NOMEM;
    reach[0] = REACH_ROOT;
    for (int32_t v = 1; (size_t)v < graph->n; v++) {
        uint64_t latency = gmc_tree_latency(graph, u, v);

        if (v == u || latency > least ||
            (latency == least && best >= 0 && !gmc_tree_wins_tie(graph, v, best)))
            continue;
        if (walk(parent, graph->n, u, v, reach) != REACH_ROOT)
            continue;
        least = latency;
        best = v;
    }
    free(reach);
    *chosen = gmc_tree_eco_parent(gmc_tree_latency(graph, 0, u), best, least);
    return GMC_OK;
}

gmc_status gmc_tree_check(const int32_t *parent, size_t n)
{
    gmc_status status = GMC_OK;
    uint8_t *reach;

    if (n == 0 || n > INT32_MAX || parent[0] != -1)
        return GMC_ERR_INVALID;
    for (size_t i = 1; i < n; i++)
        if (parent[i] < 0 || (size_t)parent[i] >= n)
            return GMC_ERR_INVALID;
    reach = calloc(n, 1);
    if (reach == NULL)
        return GMC_ERR_NOMEM;
    reach[0] = REACH_ROOT;
    for (size_t i = 1; i < n && status == GMC_OK; i++)
        if (walk(parent, n, -1, (int32_t)i, reach) != REACH_ROOT)
            status = GMC_ERR_LOOP;
    free(reach);
    return status;
}
