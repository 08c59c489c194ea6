/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the finding of shared wires; the rules are numbered in tree_ways.h. */
#include "core/tree_ways.h"

#include <stdlib.h>

#include "core/tree_order.h"
#include "core/tree_predict.h"

#define EXACT 256u /* of a latency; more than its samples differ where nothing is queued */

struct stretch {
    uint16_t links;
    bool begun_before, ends_behind; /* by any of them */
};

struct ways {
    const struct gmc_tree_graph *graph;
    struct stretch *stretches; /* n*n */
    int32_t *on;               /* those that stand on a way, the nearest first */
    size_t count;
};

static uint64_t between(const struct ways *ways, int32_t a, int32_t b)
{
    return gmc_tree_latency(ways->graph, a, b);
}

/* W1, but for where another one stands. */
static void find(struct ways *ways, int32_t from, int32_t to)
{
    uint64_t length = between(ways, from, to), slack = length / EXACT;

    ways->count = 0;
    for (size_t i = 0; i < ways->graph->n; i++) {
        int32_t v = (int32_t)i;
        uint64_t before = between(ways, from, v), behind = between(ways, v, to);

        if (v == from || v == to || before <= slack || behind <= slack || before > length + slack ||
            behind > length + slack - before)
            continue;
        size_t at = ways->count++;
        for (; at > 0 && between(ways, from, ways->on[at - 1]) > before; at--)
            ways->on[at] = ways->on[at - 1];
        ways->on[at] = v;
    }
}

static void add(struct ways *ways, int32_t from, int32_t to, bool begun_before, bool ends_behind)
{
    struct stretch *stretch = &ways->stretches[(size_t)from * ways->graph->n + (size_t)to];

    stretch->links = (uint16_t)(stretch->links + (stretch->links < UINT16_MAX));
    stretch->begun_before = stretch->begun_before || begun_before;
    stretch->ends_behind = stretch->ends_behind || ends_behind;
}

/* Of two equal ways one is taken: who does not follow the one before it stands on another. */
static void walk(struct ways *ways, int32_t from, int32_t to)
{
    uint64_t length = between(ways, from, to), slack = length / EXACT;
    int32_t at = from;

    if (length == GMC_LATENCY_UNKNOWN)
        return;
    find(ways, from, to);
    for (size_t i = 0; i < ways->count; i++) {
        int32_t v = ways->on[i];
        uint64_t step = between(ways, from, v) - (at != from ? between(ways, from, at) : 0);

        if (step <= slack || between(ways, at, v) > step + slack)
            continue;
        add(ways, at, v, at != from, true);
        at = v;
    }
    add(ways, at, to, at != from, false);
}

static uint32_t ways_out(struct ways *ways, int32_t from)
{
    uint32_t count = 0;

    for (size_t i = 0; i < ways->graph->n; i++) {
        if ((int32_t)i == from || between(ways, from, (int32_t)i) == GMC_LATENCY_UNKNOWN)
            continue;
        find(ways, from, (int32_t)i);
        count += ways->count == 0;
    }
    return count;
}

/* The first stretches of a gateway's ways (W4). */
static void share_uplink(struct ways *ways, size_t from, uint32_t stripes,
                         struct gmc_tree_shared *shared)
{
    const struct stretch *row = &ways->stretches[from * ways->graph->n];
    size_t most = from;

    for (size_t to = 0; to < ways->graph->n; to++)
        if (row[to].ends_behind && !row[to].begun_before && row[to].links > row[most].links)
            most = to;
    if (row[most].links < 2)
        return;
    uint64_t uplink = gmc_tree_uplink(ways->graph, from, gmc_tree_least_uplink(ways->graph));
    uint64_t rate = stripes * (uplink / ways_out(ways, (int32_t)from)) / row[most].links;
    if (rate < shared->rate_bps)
        *shared = (struct gmc_tree_shared){rate, (int32_t)most};
}

/* Those that are on the way of others (W3). */
static void share_wires(const struct ways *ways, uint32_t stripes, struct gmc_tree_shared *shared)
{
    size_t n = ways->graph->n;

    for (size_t at = 0; at < n * n; at++) {
        const struct stretch *stretch = &ways->stretches[at];
        if (!stretch->begun_before || !stretch->ends_behind || stretch->links < 2)
            continue;
        uint64_t rate = stripes * ways->graph->wire_bps / stretch->links;
        if (rate < shared->rate_bps)
            *shared = (struct gmc_tree_shared){rate, (int32_t)(at % n)};
    }
}

gmc_status gmc_tree_ways(const struct gmc_tree_graph *graph, const int32_t *parent,
                         uint32_t stripes, struct gmc_tree_shared *shared)
{
    size_t n = graph->n;
    struct ways ways = {.graph = graph};

    *shared = (struct gmc_tree_shared){UINT64_MAX, -1};
    ways.stretches = calloc(n * n, sizeof(*ways.stretches));
    ways.on = malloc(n * sizeof(*ways.on));
    if (ways.stretches == NULL || ways.on == NULL) {
        free(ways.stretches);
        free(ways.on);
        return GMC_ERR_NOMEM;
    }
    for (uint32_t k = 0; k < stripes; k++)
        for (size_t i = 1; i < n; i++)
            walk(&ways, parent[k * n + i], (int32_t)i);
    for (size_t i = 0; i < n; i++)
        share_uplink(&ways, i, stripes, shared);
    share_wires(&ways, stripes, shared);
    free(ways.stretches);
    free(ways.on);
    return GMC_OK;
}
