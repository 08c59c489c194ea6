/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fluid prediction over trees; the rules are numbered in tree_predict.h. */
#include "core/tree_predict.h"

#include <stdlib.h>

#include "core/tree_order.h"
#include "core/tree_ways.h"

#define RATE_MAX (UINT64_C(1) << 48)
#define ONE UINT64_C(1024)
#define LOSS_MAX_PPM 900000u
#define SESSION_TRIPS 3u          /* TCP, TLS, and the path's challenge */
#define START_BYTES (32u * 1500u) /* of its first round trip (docs/CONGESTION.md) */

uint64_t gmc_tree_least_uplink(const struct gmc_tree_graph *graph)
{
    uint64_t least = 0;

    for (size_t i = 0; graph->uplink_bps != NULL && i < graph->n; i++)
        if (graph->uplink_bps[i] != 0 && (least == 0 || graph->uplink_bps[i] < least))
            least = graph->uplink_bps[i];
    return least != 0 ? least : GMC_TREE_ASSUMED_BPS;
}

uint64_t gmc_tree_uplink(const struct gmc_tree_graph *graph, size_t i, uint64_t least)
{
    bool known = graph->uplink_bps != NULL && graph->uplink_bps[i] != 0;
    uint64_t uplink = known ? graph->uplink_bps[i] : least;

    return uplink < RATE_MAX ? uplink : RATE_MAX;
}

uint64_t gmc_tree_downlink(const struct gmc_tree_graph *graph, size_t i)
{
    if (graph->downlink_bps == NULL || graph->downlink_bps[i] == 0)
        return UINT64_MAX;
    return graph->downlink_bps[i];
}

uint64_t gmc_tree_path(const struct gmc_tree_graph *graph, int32_t from, size_t to)
{
    size_t at = (size_t)from * graph->n + to;

    if (graph->path_bps == NULL || graph->path_bps[at] == 0)
        return UINT64_MAX;
    return graph->path_bps[at] < RATE_MAX ? graph->path_bps[at] : RATE_MAX;
}

/* ---- the rate (P1, P2) ---- */
/* Of the whole object, that the paths to a gateway let it have. */
static uint64_t paths_rate(const struct gmc_tree_graph *graph, const int32_t *parent,
                           uint32_t stripes, size_t to)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t k = 0; graph->path_bps != NULL && k < stripes; k++) {
        int32_t from = parent[k * graph->n + to];
        uint64_t path = from >= 0 ? gmc_tree_path(graph, from, to) : UINT64_MAX, rate;
        uint32_t carried = 0;

        if (path == UINT64_MAX)
            continue;
        for (uint32_t j = 0; j < stripes; j++)
            carried += parent[j * graph->n + to] == from;
        rate = stripes * path / carried;
        least = rate < least ? rate : least;
    }
    return least;
}

static void lower(struct gmc_tree_prediction *p, uint64_t rate, enum gmc_tree_limit limit,
                  size_t at)
{
    if (p->limit != GMC_TREE_LIMIT_NONE && rate >= p->rate_bps)
        return;
    p->rate_bps = rate;
    p->limit = limit;
    p->at = (int32_t)at;
}

/* What a path has to carry of each byte, over ONE. */
static uint64_t weight(const struct gmc_tree_graph *graph, int32_t parent, size_t child)
{
    uint32_t ppm = graph->loss_ppm != NULL ? graph->loss_ppm[(size_t)parent * graph->n + child] : 0;

    return ONE * 1000000 / (1000000 - (ppm < LOSS_MAX_PPM ? ppm : LOSS_MAX_PPM));
}

struct loads {
    uint32_t *children; /* over all stripes */
    uint64_t *out, *in; /* weights of all paths from and to a gateway */
    uint64_t most;      /* weight of one path */
};

static void count_loads(const struct gmc_tree_graph *graph, const int32_t *parent, uint32_t stripes,
                        struct loads *loads)
{
    loads->most = ONE;
    for (size_t i = 1; i < graph->n; i++) {
        for (uint32_t k = 0; k < stripes; k++) {
            int32_t from = parent[k * graph->n + i];
            uint64_t path = weight(graph, from, i);

            loads->children[from]++;
            loads->out[from] += path;
            loads->in[i] += path;
            loads->most = path > loads->most ? path : loads->most;
        }
    }
}

static void find_rate(const struct gmc_tree_graph *graph, const int32_t *parent,
                      const struct loads *loads, const struct gmc_tree_shared *shared,
                      uint32_t stripes, struct gmc_tree_prediction *p)
{
    uint64_t least = gmc_tree_least_uplink(graph);

    for (size_t i = 0; i < graph->n; i++) {
        uint64_t downlink = gmc_tree_downlink(graph, i);

        if (loads->children[i] > 0)
            lower(p, stripes * gmc_tree_uplink(graph, i, least) * ONE / loads->out[i],
                  GMC_TREE_LIMIT_UPLINK, i);
        if (i > 0 && downlink < RATE_MAX)
            lower(p, stripes * downlink * ONE / loads->in[i], GMC_TREE_LIMIT_DOWNLINK, i);
        uint64_t paths = i > 0 ? paths_rate(graph, parent, stripes, i) : UINT64_MAX;
        if (paths < RATE_MAX)
            lower(p, paths, GMC_TREE_LIMIT_DOWNLINK, i);
    }
    if (shared->rate_bps < RATE_MAX)
        lower(p, shared->rate_bps, GMC_TREE_LIMIT_DOWNLINK, (size_t)shared->to);
    if (graph->cap_bps != 0 && graph->cap_bps < RATE_MAX)
        lower(p, graph->cap_bps * ONE / loads->most, GMC_TREE_LIMIT_CAP, 0);
    p->sent_bps = (p->rate_bps < RATE_MAX ? p->rate_bps : RATE_MAX) * loads->most / ONE;
    if (p->limit != GMC_TREE_LIMIT_UPLINK)
        return;
    p->copies = loads->children[p->at];
    p->assumed = graph->uplink_bps == NULL || graph->uplink_bps[p->at] == 0;
}

/* ---- the paths (P3) ---- */
static uint64_t hop(const struct gmc_tree_graph *graph, int32_t child, int32_t parent)
{
    uint64_t latency = gmc_tree_latency(graph, child, parent);

    /* Other units than ns may be large: no sum of a path overflows. */
    return latency == GMC_LATENCY_UNKNOWN       ? 0
           : latency >> 1 < (UINT64_C(1) << 40) ? latency >> 1
                                                : UINT64_C(1) << 40;
}

/* From the first packets of a START, a round trip's worth, to the rate of a link. */
static uint32_t doublings(uint64_t round_trip, uint64_t rate_bps)
{
    gmc_duration first = gmc_duration_of_bytes(START_BYTES, rate_bps);
    uint32_t count = 0;

    for (; first < round_trip; first *= 2)
        count++;
    return count;
}

struct paths {
    const struct gmc_tree_graph *graph;
    const struct gmc_tree_prediction *prediction;
    uint32_t stripes;
    uint64_t *begin; /* one more than when a gateway's data begins; 0: not yet known */
    uint64_t *full;  /* when it would have begun if it had come at the full rate at once */
    int32_t *way;    /* up to one that is known */
};

static bool knows_uplink(const struct gmc_tree_graph *graph, int32_t i)
{
    return graph->uplink_bps != NULL && graph->uplink_bps[i] != 0;
}

/* Set-up of the link from its parent, and what START loses there: not what the parent's own data
 * came too late for anyway, for links that begin one after the other double side by side. */
static void begin_at(struct paths *p, int32_t child, int32_t parent)
{
    uint64_t half = hop(p->graph, child, parent);
    uint64_t asked = hop(p->graph, child, 0) + half + (parent != 0 ? 2 * SESSION_TRIPS * half : 0);
    uint64_t begin = p->begin[parent] - 1, full = p->full[parent] + half;

    begin = (asked > begin ? asked : begin) + half;
    p->begin[child] = begin + 1;
    if (p->prediction->assumed || !knows_uplink(p->graph, parent))
        begin += 2 * half * doublings(2 * half, p->prediction->rate_bps / p->stripes);
    p->full[child] = begin > full ? begin : full;
}

/* The last of a tree to be complete, as the source hears it. */
static uint64_t longest(struct paths *p, const int32_t *parent)
{
    uint64_t most = 0;

    for (size_t i = 0; i < p->graph->n; i++)
        p->begin[i] = i == 0 ? 1 : 0;
    p->full[0] = 0;
    for (size_t i = 1; i < p->graph->n; i++) {
        size_t count = 0;
        uint64_t end;

        for (int32_t at = (int32_t)i; p->begin[at] == 0; at = parent[at])
            p->way[count++] = at;
        for (; count > 0; count--)
            begin_at(p, p->way[count - 1], parent[p->way[count - 1]]);
        end = p->full[i] + hop(p->graph, (int32_t)i, 0);
        most = end > most ? end : most;
    }
    return most;
}

/* ---- the bound (P4) ---- */
static gmc_duration bound(const struct gmc_tree_graph *graph)
{
    uint64_t least = gmc_tree_least_uplink(graph), sum = 0;
    uint64_t slowest = gmc_tree_uplink(graph, 0, least);

    for (size_t i = 0; i < graph->n; i++) {
        uint64_t downlink = gmc_tree_downlink(graph, i);

        sum += gmc_tree_uplink(graph, i, least);
        slowest = i > 0 && downlink < slowest ? downlink : slowest;
    }
    if (graph->n < 2)
        return 0;
    sum /= graph->n - 1;
    return gmc_duration_of_bytes(graph->bytes, sum < slowest ? sum : slowest);
}

gmc_status gmc_tree_predict(const struct gmc_tree_graph *graph, const int32_t *parent,
                            uint32_t stripes, struct gmc_tree_prediction *prediction)
{
    struct loads loads;
    struct gmc_tree_shared shared = {UINT64_MAX, -1};
    struct paths paths = {.graph = graph, .prediction = prediction, .stripes = stripes};
    uint64_t most = 0;
    gmc_status status = GMC_OK;

    if (graph->n == 0 || graph->n > INT32_MAX || stripes == 0 || stripes > GMC_TREE_STRIPES_MAX)
        return GMC_ERR_INVALID;
    *prediction = (struct gmc_tree_prediction){.limit = GMC_TREE_LIMIT_NONE, .at = -1};
    if (graph->n == 1)
        return GMC_OK;
    loads.children = calloc(graph->n, sizeof(*loads.children));
    loads.out = calloc(graph->n, sizeof(*loads.out));
    loads.in = calloc(graph->n, sizeof(*loads.in));
    paths.begin = malloc(graph->n * sizeof(*paths.begin));
    paths.full = malloc(graph->n * sizeof(*paths.full));
    paths.way = malloc(graph->n * sizeof(*paths.way));
    if (loads.children == NULL || loads.out == NULL || loads.in == NULL || paths.begin == NULL ||
        paths.full == NULL || paths.way == NULL) {
        status = GMC_ERR_NOMEM;
        goto end;
    }
    if (graph->wire_bps != 0) {
        status = gmc_tree_ways(graph, parent, stripes, &shared);
        if (status != GMC_OK)
            goto end;
    }
    count_loads(graph, parent, stripes, &loads);
    find_rate(graph, parent, &loads, &shared, stripes, prediction);
    for (uint32_t k = 0; k < stripes; k++) {
        uint64_t way = longest(&paths, parent + k * graph->n);

        most = way > most ? way : most;
    }
    prediction->time =
        gmc_time_add(gmc_duration_of_bytes(graph->bytes, prediction->rate_bps), most);
    prediction->bound = bound(graph);
end:
    free(loads.children);
    free(loads.out);
    free(loads.in);
    free(paths.begin);
    free(paths.full);
    free(paths.way);
    return status;
}
