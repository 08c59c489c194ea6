/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees by what uplinks have shown that nobody configured. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_graph_impl.h"

#define CHANCE_PERCENT 12u /* by which trains over uplinks that are alike differ */

enum view { SHOWN, LEAST, MOST };

uint64_t gw_graph_least_limit(const struct gwgraph *graph)
{
    uint64_t least = UINT64_MAX;
    bool any = false;
    for (size_t i = 0; i < graph->view.n; i++) {
        uint64_t limit = graph->uplink[i] != 0 ? graph->uplink[i] : graph->measured[i].limit;
        any = any || graph->measured[i].limit != 0;
        if (limit != 0 && limit < least)
            least = limit;
    }
    return any ? least : GW_NO_RELAY;
}

bool gw_graph_shows_limit(const struct gwmeasured *one)
{
    return one->most != 0 && one->busy >= one->most / 8 * 7;
}

/* What is thought of an uplink that has shown less than `unshown`. */
static uint64_t thought(uint64_t unshown, uint64_t most, enum view view)
{
    if (view != SHOWN)
        return unshown;
    /* Of two alike, who has shown more relays first. */
    return unshown - (unshown - most) / 16;
}

static uint64_t known_of(const struct gwgraph *graph, size_t i)
{
    return graph->uplink[i] != 0 ? graph->uplink[i] : graph->measured[i].most;
}

/* Each receiver sends half as much again as comes to it from the source. Wires are mostly as wide
 * in both directions, so it is the source's side that is narrow, and not where the paths end. */
static bool source_is_narrow(const struct gwgraph *graph)
{
    uint64_t receivers = graph->view.n - 1; /* none: their sessions have just ended */
    bool is_narrow = known_of(graph, 0) > 0;
    for (size_t i = 1; i < graph->view.n; i++)
        is_narrow = is_narrow && known_of(graph, i) / 3 * 2 >= known_of(graph, 0) / receivers;
    return is_narrow;
}

/* Figures that were measured may be wrong, or of another time, by a half either way: one part of so
 * many is in doubt. With less doubt than that, together a factor of two, a source with a path of
 * its own to each would take relays that carry as much, and gain nothing: what it cannot see is
 * that the paths end at the receivers. Where they most likely do not, a third either way is enough:
 * two receivers behind one uplink have no more than that factor of two to gain. */
static uint64_t doubt_part(const struct gwgraph *graph)
{
    return source_is_narrow(graph) ? 3 : 2;
}

static uint64_t seen_as(uint64_t rate_bps, enum view view, uint64_t part)
{
    return view == MOST    ? rate_bps / part * (part + 1)
           : view == LEAST ? rate_bps / (part + 1) * part
                           : rate_bps;
}

/* In doubt is also what is thought of those that have not shown what they carry (`unshown`). At
 * most these are the best of all. */
static void look_at(const struct gwgraph *graph, enum view view, uint64_t unshown, uint64_t *uplink)
{
    uint64_t part = doubt_part(graph);
    for (size_t i = 0; i < graph->view.n; i++) {
        uint64_t most = graph->measured[i].most, limit = graph->measured[i].limit;
        bool is_shown = most > unshown || gw_graph_shows_limit(&graph->measured[i]);
        uint64_t shown = is_shown ? most : thought(unshown, most, view);
        if (graph->uplink[i] != 0)
            uplink[i] = graph->uplink[i];
        else if (view == MOST)
            uplink[i] = limit != 0 ? seen_as(most > limit ? most : limit, view, part) : UINT64_MAX;
        else
            uplink[i] = seen_as(shown, view, part) + 1;
    }
}

/* A wire on the way of several, where gateways stand at the routers of a network: as wide as what
 * the narrowest of them has, which may well have one only. */
static uint64_t wire_of(const struct gwgraph *graph, enum view view)
{
    uint64_t least = gw_graph_least_limit(graph);
    return least != GW_NO_RELAY ? seen_as(least, view, doubt_part(graph)) : 0;
}

void gw_graph_shown_uplinks(const struct gwgraph *graph, uint64_t *uplink)
{
    look_at(graph, SHOWN, gw_graph_least_limit(graph), uplink);
}

static bool uses_path(const int32_t *parent, uint32_t stripes, size_t n, size_t from, size_t to)
{
    bool any = false;
    for (uint32_t k = 0; k < stripes; k++)
        any = any || parent[k * n + to] == (int32_t)from;
    return any;
}

/* A path may have shown an eighth less than it carries: that varies by as much where a host or its
 * wire is a little late, and other trees are not worth their trial for it. */
static uint64_t *paths_at_best(const struct gwgraph *graph)
{
    size_t n = graph->view.n;
    uint64_t *path = malloc(sizeof(*path) * n * n);
    for (size_t at = 0; path != NULL && at < n * n; at++)
        path[at] = graph->path[at] / 7 * 8;
    return path;
}

/* Paths may be narrow because of others that share something with them. What those carry that the
 * new trees do not use goes over any of the rest then, at best. To be freed; NULL: no memory. */
static uint64_t *paths_without(const struct gwgraph *graph, uint32_t present, const int32_t *parent,
                               uint32_t stripes)
{
    size_t n = graph->view.n;
    uint64_t *path = malloc(sizeof(*path) * n * n), left = 0;
    if (path == NULL)
        return NULL;
    memcpy(path, graph->path, sizeof(*path) * n * n);
    for (size_t from = 0; from < n; from++)
        for (size_t to = 1; to < n; to++)
            if (uses_path(graph->parent, present, n, from, to) &&
                !uses_path(parent, stripes, n, from, to))
                left += path[from * n + to];
    for (size_t at = 0; at < n * n; at++)
        path[at] += path[at] != 0 ? left : 0;
    return path;
}

/* In mid-transfer other trees are on trial, for seconds, and where all uplinks are configured
 * nothing is in doubt but what paths lose: its estimates differ by chance, and so does which of a
 * tree's paths loses most. */
static gmc_duration least_gain(const struct gwgraph *graph, gmc_duration time)
{
    return graph->path != NULL ? time / 16 : 0;
}

bool gw_graph_try_measured(struct gwgraph *graph, uint64_t unshown, gmc_duration seen,
                           uint32_t *stripes)
{
    struct gmc_tree_graph view = graph->view;
    uint64_t *path = NULL;
    struct gmc_tree_prediction without, with;
    size_t bytes = sizeof(*graph->parent) * view.n * GMC_STRIPES_MAX;
    uint64_t *uplink = malloc(sizeof(*uplink) * view.n);
    int32_t *parent = malloc(bytes);
    uint32_t count;
    bool taken = false;
    if (uplink == NULL || parent == NULL)
        goto end;
    view.uplink_bps = uplink;
    /* Several trees are right where rates are known: they share what single paths carry. */
    if (unshown != GW_NO_RELAY)
        view.stripes_max = 1;
    look_at(graph, MOST, unshown, uplink);
    view.wire_bps = wire_of(graph, MOST);
    if (graph->path != NULL) {
        view.path_bps = path = paths_at_best(graph);
        if (path == NULL)
            goto end;
    }
    if (gmc_tree_predict(&view, graph->parent, *stripes, &without) != GMC_OK)
        goto end;
    if (without.time < seen)
        without.time = seen;
    view.path_bps = graph->path;
    look_at(graph, SHOWN, unshown, uplink);
    view.wire_bps = wire_of(graph, SHOWN);
    view.doubt_percent = view.wire_bps != 0 ? CHANCE_PERCENT : 0;
    if (gmc_tree_ops(GMC_TREE_BULK)->build(&view, parent, &count) != GMC_OK)
        goto end;
    look_at(graph, LEAST, unshown, uplink);
    view.wire_bps = wire_of(graph, LEAST);
    if (graph->path != NULL) {
        free(path);
        view.path_bps = path = paths_without(graph, *stripes, parent, count);
        if (path == NULL)
            goto end;
    }
    if (gmc_tree_predict(&view, parent, count, &with) != GMC_OK ||
        with.time >= without.time - least_gain(graph, without.time) ||
        (count == *stripes && memcmp(parent, graph->parent, sizeof(*parent) * view.n * count) == 0))
        goto end;
    memcpy(graph->parent, parent, bytes);
    *stripes = count;
    taken = true;
end:
    free(path);
    free(uplink);
    free(parent);
    return taken;
}
