/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the order in which gateways join a tree, and trees that are a rule on this order. */
#include "core/tree_order.h"

#include <stdlib.h>
#include <string.h>

bool gmc_tree_wins_tie(const struct gmc_tree_graph *graph, int32_t a, int32_t b)
{
    int order = graph->names != NULL ? strcmp(graph->names[a], graph->names[b]) : 0;

    return order != 0 ? order < 0 : a < b;
}

/* O2 and O4. Those who do not hear the source are all equally far and so end up last. */
static bool joins_before(const struct gmc_tree_graph *graph, int32_t a, int32_t b)
{
    uint64_t far_a = gmc_tree_latency(graph, 0, a);
    uint64_t far_b = gmc_tree_latency(graph, 0, b);

    return far_a != far_b ? far_a < far_b : gmc_tree_wins_tie(graph, a, b);
}

/* Heap sort: no memory, no bad case, and no libc sort whose order of calls may differ. */
static void sift_down(const struct gmc_tree_graph *graph, int32_t *heap, size_t at, size_t count)
{
    int32_t moving = heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= count)
            break;
        if (child + 1 < count && joins_before(graph, heap[child], heap[child + 1]))
            child++;
        if (!joins_before(graph, moving, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static void sort_by_distance(const struct gmc_tree_graph *graph, int32_t *items, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(graph, items, i, count);
    for (size_t last = count; last-- > 1;) {
        int32_t farthest = items[0];

        items[0] = items[last];
        items[last] = farthest;
        sift_down(graph, items, 0, last);
    }
}

/* O3 for order[done..n): near[u] is the cheapest link from u to what is in the order. */
static void order_the_deaf(const struct gmc_tree_graph *graph, int32_t *order, size_t done,
                           uint64_t *near)
{
    for (size_t i = done; i < graph->n; i++) {
        near[order[i]] = GMC_LATENCY_UNKNOWN;
        for (size_t j = 1; j < done; j++) {
            uint64_t latency = gmc_tree_latency(graph, order[i], order[j]);

            if (latency < near[order[i]])
                near[order[i]] = latency;
        }
    }
    for (size_t next = done; next < graph->n; next++) {
        size_t best = next;
        int32_t chosen;

        for (size_t i = next + 1; i < graph->n; i++) {
            uint64_t mine = near[order[i]], least = near[order[best]];

            if (mine < least || (mine == least && gmc_tree_wins_tie(graph, order[i], order[best])))
                best = i;
        }
        chosen = order[best];
        order[best] = order[next];
        order[next] = chosen;
        for (size_t i = next + 1; i < graph->n; i++) {
            uint64_t latency = gmc_tree_latency(graph, order[i], chosen);

            if (latency < near[order[i]])
                near[order[i]] = latency;
        }
    }
}

gmc_status gmc_tree_order(const struct gmc_tree_graph *graph, int32_t *order)
{
    size_t hearing = 1;
    uint64_t *near;

    if (graph->n == 0 || graph->n > INT32_MAX)
        return GMC_ERR_INVALID;
    for (size_t i = 0; i < graph->n; i++)
        order[i] = (int32_t)i;
    sort_by_distance(graph, order + 1, graph->n - 1);
    while (hearing < graph->n && gmc_tree_latency(graph, 0, order[hearing]) != GMC_LATENCY_UNKNOWN)
        hearing++;
    if (hearing == graph->n)
        return GMC_OK;
    near = malloc(graph->n * sizeof(*near));
    if (near == NULL)
        return GMC_ERR_NOMEM;
    order_the_deaf(graph, order, hearing, near);
    free(near);
    return GMC_OK;
}

/* U1 and U2 for the gateway of the given rank. */
static int32_t cheapest_before(const struct gmc_tree_graph *graph, const int32_t *order,
                               size_t rank)
{
    uint64_t least = GMC_LATENCY_UNKNOWN;
    int32_t best = 0;

    for (size_t i = 0; i < rank; i++) {
        uint64_t latency = gmc_tree_latency(graph, order[rank], order[i]);

        if (latency < least || (latency == least && latency != GMC_LATENCY_UNKNOWN &&
                                gmc_tree_wins_tie(graph, order[i], best))) {
            least = latency;
            best = order[i];
        }
    }
    return best;
}

gmc_status gmc_tree_build_by_rank(const struct gmc_tree_graph *graph, gmc_tree_up up,
                                  int32_t *parent)
{
    gmc_status status = GMC_ERR_NOMEM;
    int32_t *order, *up_rank;

    if (graph->n == 0 || graph->n > INT32_MAX)
        return GMC_ERR_INVALID;
    order = malloc(graph->n * sizeof(*order));
    up_rank = malloc(graph->n * sizeof(*up_rank));
    if (order == NULL || up_rank == NULL)
        goto free_ranks;
    status = gmc_tree_order(graph, order);
    if (status == GMC_OK)
        status = up(up_rank, graph->n);
    if (status != GMC_OK)
        goto free_ranks;
    parent[0] = -1;
    for (size_t rank = 1; rank < graph->n; rank++) {
        int32_t above = order[up_rank[rank]];

        if (gmc_tree_latency(graph, order[rank], above) == GMC_LATENCY_UNKNOWN)
            above = cheapest_before(graph, order, rank);
        parent[order[rank]] = above;
    }
free_ranks:
    free(order);
    free(up_rank);
    return status;
}
