/* SPDX-License-Identifier: BSD-2-Clause */
/* Other trees while a transfer runs, where they bring what is left sooner. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_graph_impl.h"
#include "core/probe_plan.h"

/* Blocks stay in their stripes: fewer trees are each taken by several. */
static bool spread(struct gwgraph *graph, uint32_t count, uint32_t stripes)
{
    size_t n = graph->view.n;
    if (count == 0 || stripes % count != 0)
        return false;
    for (uint32_t k = count; k < stripes; k++)
        memcpy(graph->parent + k * n, graph->parent + (k % count) * n, sizeof(*graph->parent) * n);
    return gw_graph_are_trees(graph, stripes);
}

static size_t children_of(const struct gwgraph *graph, size_t at, uint32_t stripes)
{
    size_t n = graph->view.n, count = 0;
    for (size_t i = 1; i < n; i++) {
        bool is_child = false;
        for (uint32_t k = 0; k < stripes; k++)
            is_child = is_child || graph->parent[k * n + i] == (int32_t)at;
        count += is_child;
    }
    return count;
}

/* To any of its children. */
static bool knows_path(const struct gwgraph *graph, size_t at, uint32_t stripes)
{
    size_t n = graph->view.n;
    bool any = false;
    for (size_t j = 1; j < n; j++)
        for (uint32_t k = 0; k < stripes; k++)
            any = any || (graph->parent[k * n + j] == (int32_t)at && graph->path[at * n + j] != 0);
    return any;
}

/* Who always has more to send is what holds its only child up now, be it by its uplink or not,
 * where the path is not known to do so. Of several the limit is seen. */
static void take_busy_for_limits(const struct gwgraph *graph, uint32_t stripes)
{
    for (size_t i = 0; i < graph->view.n; i++) {
        struct gwmeasured *one = &graph->measured[i];
        if (one->limit == 0 && gw_graph_shows_limit(one) && children_of(graph, i, stripes) < 2 &&
            !knows_path(graph, i, stripes))
            one->limit = one->busy;
    }
}

/* A relay of which much more was seen once, and whose only child lacks most of what it has: what
 * the child gets on with is what it carries now. Its own word, and its train among the data, may
 * come late. */
static void take_pace_for_limits(struct gwchannel *ch, const struct gwgraph *graph,
                                 uint32_t stripes)
{
    for (size_t i = 1; i < graph->view.n; i++) {
        int32_t above = graph->parent[i];
        uint64_t pace_bps = 8 * gw_trial_held_pace(ch, gw_source_member(ch, graph->list[i]));
        if (pace_bps == 0 || above <= 0 || children_of(graph, (size_t)above, stripes) > 1 ||
            knows_path(graph, (size_t)above, stripes))
            continue;
        struct gwmeasured *one = &graph->measured[above];
        if (one->most / 2 > pace_bps)
            *one = (struct gwmeasured){.most = pace_bps, .busy = pace_bps, .limit = pace_bps};
    }
}

/* By the rates that uplinks have shown. Without them the trees that a restarted source had, or that
 * were found in mid-transfer, would look no better than any others. */
static bool is_slower_as_shown(const struct gwgraph *graph, uint32_t present, const int32_t *parent,
                               uint32_t stripes)
{
    struct gmc_tree_prediction before, after;
    struct gmc_tree_graph view = graph->view;
    if (!graph->any_measured || gw_graph_least_limit(graph) == GW_NO_RELAY)
        return false;
    uint64_t *uplink = malloc(sizeof(*uplink) * view.n);
    if (uplink == NULL)
        return true;
    gw_graph_shown_uplinks(graph, uplink);
    view.uplink_bps = uplink;
    bool is_slower = gmc_tree_predict(&view, graph->parent, present, &before) != GMC_OK ||
                     gmc_tree_predict(&view, parent, stripes, &after) != GMC_OK ||
                     after.time > before.time;
    free(uplink);
    return is_slower;
}

/* The trees that would be made now, with members and latencies that were not known then, if they
 * bring what is left in so much of the time. */
static bool try_fresh(struct gwgraph *graph, uint32_t percent, uint32_t *stripes)
{
    struct gmc_tree_prediction present, fresh;
    size_t bytes = sizeof(*graph->parent) * graph->view.n * GMC_STRIPES_MAX;
    int32_t *parent = malloc(bytes);
    uint32_t count;
    bool taken = parent != NULL &&
                 gmc_tree_predict(&graph->view, graph->parent, *stripes, &present) == GMC_OK &&
                 gmc_tree_ops(GMC_TREE_BULK)->build(&graph->view, parent, &count) == GMC_OK &&
                 gmc_tree_predict(&graph->view, parent, count, &fresh) == GMC_OK &&
                 fresh.time / percent <= present.time / 100;
    taken = taken &&
            (count != *stripes ||
             memcmp(graph->parent, parent, sizeof(*parent) * graph->view.n * count) != 0) &&
            !is_slower_as_shown(graph, *stripes, parent, count);
    if (taken) {
        memcpy(graph->parent, parent, bytes);
        *stripes = count;
    }
    free(parent);
    return taken;
}

bool gw_source_place_again(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t fresh_percent,
                           bool measured, uint64_t bytes_left, gmc_duration seen)
{
    struct gwgraph graph = {0};
    uint32_t stripes = ch->stripe_count;
    bool better = false;
    graph.list = gw_source_participants(gw, ch, &graph.view.n);
    bool taken = graph.view.n > 2 && graph.view.n <= GMC_PROBE_ALL_MAX &&
                 gw_graph_make(gw, ch, &graph) && gw_graph_add_paths(gw, ch, &graph) &&
                 ((measured && graph.any_measured) || fresh_percent > 0);
    if (taken) {
        for (uint32_t k = 0; k < stripes; k++)
            (void)gw_graph_present(ch, &graph, k, NULL);
        take_busy_for_limits(&graph, stripes);
        if (seen > 0)
            take_pace_for_limits(ch, &graph, stripes);
        graph.view.bytes = bytes_left;
        graph.view.stripes_max = stripes;
        taken = gw_graph_are_trees(&graph, stripes);
    }
    if (taken && fresh_percent > 0)
        better = try_fresh(&graph, fresh_percent, &stripes);
    if (taken && measured && graph.any_measured)
        better = gw_graph_try_measured(&graph, gw_graph_least_limit(&graph), better ? 0 : seen,
                                       &stripes) ||
                 better;
    taken = better && spread(&graph, stripes, ch->stripe_count);
    if (taken)
        gw_graph_take(ch, &graph, ch->stripe_count);
    gw_graph_free(&graph);
    return taken;
}
