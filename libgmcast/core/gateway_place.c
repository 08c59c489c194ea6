/* SPDX-License-Identifier: BSD-2-Clause */
/* The source's trees: the places of members in them, and what they are predicted to take. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_graph_impl.h"
#include "core/probe_plan.h"

static gmc_status build(const struct gwchannel *ch, struct gwgraph *graph, uint32_t *stripes)
{
    gmc_status status = gmc_tree_ops(ch->src->shape)->build(&graph->view, graph->parent, stripes);
    if (status != GMC_OK || ch->src->shape != GMC_TREE_BULK || !graph->any_measured)
        return status;
    (void)gw_graph_try_measured(graph, GW_NO_RELAY, 0, stripes);
    /* Whoever was never a relay shows nothing, and a source whose uplink is full would send a copy
     * to each for ever. */
    (void)gw_graph_try_measured(graph, gw_graph_least_limit(graph), 0, stripes);
    return GMC_OK;
}

static enum gmc_rate_origin origin_of(const struct gwgraph *graph, size_t i)
{
    return graph->uplink[i] == 0          ? GMC_RATE_ASSUMED
           : graph->measured[i].most != 0 ? GMC_RATE_MEASURED
                                          : GMC_RATE_CONFIGURED;
}

/* Predictions count with what was measured, whatever the trees were built from. */
static void use_measured(struct gwgraph *graph)
{
    for (size_t i = 0; i < graph->view.n; i++)
        if (graph->uplink[i] == 0 && gw_graph_shows_limit(&graph->measured[i]))
            graph->uplink[i] = graph->measured[i].most;
    uint64_t least = gmc_tree_least_uplink(&graph->view);
    for (size_t i = 0; i < graph->view.n; i++)
        if (graph->uplink[i] == 0 && graph->measured[i].most > least)
            graph->uplink[i] = graph->measured[i].most;
    /* What was measured is what arrived: losses have gone from it. */
    for (size_t i = 0; i < graph->view.n; i++)
        if (origin_of(graph, i) == GMC_RATE_MEASURED)
            memset(&graph->loss[i * graph->view.n], 0, graph->view.n * sizeof(*graph->loss));
}

/* For who reads a plan: each rate, and where it comes from. Without memory there is no list. */
static void tell_rates(struct gwsource *src, const struct gwgraph *graph, uint32_t stripes)
{
    size_t n = graph->view.n;
    uint64_t least = gmc_tree_least_uplink(&graph->view);
    free(src->rates);
    src->rates = calloc(n, sizeof(*src->rates));
    src->rate_count = src->rates != NULL ? n : 0;
    for (size_t i = 0; i < src->rate_count; i++) {
        uint64_t downlink = gmc_tree_downlink(&graph->view, i);
        src->rates[i] =
            (struct gmc_plan_rate){.domain = graph->names[i],
                                   .uplink_bps = gmc_tree_uplink(&graph->view, i, least),
                                   .uplink_origin = origin_of(graph, i),
                                   .downlink_bps = downlink != UINT64_MAX ? downlink : 0};
    }
    for (size_t i = 1; i < src->rate_count; i++)
        for (uint32_t k = 0; k < stripes; k++)
            src->rates[graph->parent[k * n + i]].copies++;
}

/* What the trees would take, and the rate at which they are to: with heads, as links count it.
 * Without memory there is no prediction. */
static void predict(struct gwchannel *ch, struct gwgraph *graph, uint32_t stripes)
{
    struct gwsource *src = ch->src;
    struct gmc_tree_prediction *p = &src->prediction;
    uint32_t fragment = ch->object.fragment_bytes;
    use_measured(graph);
    if (src->plan)
        tell_rates(src, graph, stripes);
    if (gmc_tree_predict(&graph->view, graph->parent, stripes, p) != GMC_OK || p->at < 0)
        return;
    size_t at = (size_t)p->at;
    uint64_t least = gmc_tree_least_uplink(&graph->view);
    src->limit_measured =
        p->limit == GMC_TREE_LIMIT_UPLINK && origin_of(graph, at) == GMC_RATE_MEASURED;
    if (!p->assumed && !src->limit_measured)
        src->planned_bps = p->sent_bps / fragment * (fragment + GW_PACKET_HEAD_BYTES);
    src->limit_at = graph->list[at];
    src->limit_bps = p->limit == GMC_TREE_LIMIT_UPLINK ? gmc_tree_uplink(&graph->view, at, least)
                                                       : gmc_tree_downlink(&graph->view, at);
}

/* A large group, of which not every pair was measured: one tree. */
static void place_large(struct gmc_gateway *gw, struct gwchannel *ch, struct gwgraph *graph)
{
    size_t n = graph->view.n;
    graph->parent = malloc(sizeof(*graph->parent) * n * GMC_STRIPES_MAX);
    if (graph->parent != NULL && gw_sparse_place(gw, ch, graph->list, n, graph->parent) == GMC_OK &&
        gw_graph_are_trees(graph, 1))
        gw_graph_take(ch, graph, 1);
}

/* Runs the chosen shape over the members that are there; the others become the source's children
 * when they come. */
void gw_source_place(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwgraph graph = {0};
    uint32_t stripes;
    graph.list = gw_source_participants(gw, ch, &graph.view.n);
    if (graph.view.n > GMC_PROBE_ALL_MAX)
        place_large(gw, ch, &graph);
    else if (gw_graph_make(gw, ch, &graph) && build(ch, &graph, &stripes) == GMC_OK &&
             gw_graph_are_trees(&graph, stripes) && gw_stripes_set(ch, stripes) == GMC_OK) {
        gw_graph_take(ch, &graph, stripes);
        predict(ch, &graph, stripes);
    }
    gw_graph_free(&graph);
}

/* By the rules of bulk, or else those of eco, all others as they are. */
static gmc_status attach_late(struct gwchannel *ch, const struct gwgraph *graph,
                              const struct gwmember *late, int32_t *chosen)
{
    int32_t self = -1;
    gmc_status status = GMC_OK;
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        self = gw_graph_present(ch, graph, k, late);
    if (ch->src->shape == GMC_TREE_BULK)
        return gmc_tree_bulk_attach(&graph->view, graph->parent, ch->stripe_count, self, chosen);
    for (uint32_t k = 0; k < ch->stripe_count && status == GMC_OK; k++)
        status = gmc_tree_attach(&graph->view, graph->parent + k * graph->view.n, self, &chosen[k]);
    return status;
}

/* A member that came after the trees were made. */
void gw_source_place_late(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *late)
{
    struct gwgraph graph = {0};
    int32_t chosen[GMC_STRIPES_MAX];
    graph.list = gw_source_participants(gw, ch, &graph.view.n);
    bool large = graph.view.n > GMC_PROBE_ALL_MAX;
    /* Nobody is below it yet, so that one place will do for all trees. */
    int32_t place = large ? gw_sparse_place_late(gw, ch, late->peer) : 0;
    bool placed = !large && ch->src->shape != GMC_TREE_FLAT && gw_graph_make(gw, ch, &graph) &&
                  attach_late(ch, &graph, late, chosen) == GMC_OK;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        late->parent[k] = place;
        if (placed && chosen[k] > 0)
            late->parent[k] =
                (int32_t)(gw_source_member(ch, graph.list[chosen[k]]) - ch->src->members) + 1;
    }
    late->placed = true;
    gw_graph_free(&graph);
}
