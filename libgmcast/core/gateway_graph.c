/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of those who take part in a transfer: latencies, losses and rates; and their trees,
 * as the graph has them and as the members do. */
#include <stdlib.h>

#include "core/gateway_graph_impl.h"

#define CC_SHARE_PERCENT 98u /* of a wire, that congestion control reaches (docs/CONGESTION.md) */
#define PATH_UNUSED GMC_S(30)

static void fill_latencies(const struct gmc_gateway *gw, const struct gwgraph *graph)
{
    size_t n = graph->view.n;
    uint64_t *latency = graph->latency;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            struct gmc_latency known;
            bool found =
                i != j && gmc_latency_cache_get(gw->latencies, graph->list[i], graph->list[j],
                                                gw->now, gw->config.probe_age_max, &known);
            latency[i * n + j] = i == j  ? 0
                                 : found ? gw_path_rtt(known.rtt_min)
                                         : GMC_LATENCY_UNKNOWN;
        }
    }
    /* The source's own links measure too, without a probe. */
    for (size_t j = 1; j < n; j++) {
        const struct gwpeer *peer = gw->peers[graph->list[j]];
        if (latency[j] != GMC_LATENCY_UNKNOWN || peer->link == NULL)
            continue;
        struct gmc_link_info info;
        gmc_link_info(peer->link, &info);
        latency[j] = latency[j * n] = gw_path_rtt(info.min_rtt);
    }
}

/* What of a rate is left for the object: without heads, and without what congestion control keeps
 * free. */
static uint64_t payload_of(const struct gwchannel *ch, uint64_t rate_bps)
{
    uint32_t fragment = ch->object.fragment_bytes;
    return rate_bps / (fragment + GW_PACKET_HEAD_BYTES) * fragment / 100 * CC_SHARE_PERCENT;
}

/* As the senders of this and of earlier transfers saw it. */
static uint32_t loss_of(const struct gmc_gateway *gw, gmc_peer from, gmc_peer to)
{
    const struct gwpeer *peer = gw->peers[to];
    if (from != gw->self)
        return gmc_latency_cache_seen(gw->latencies, from, to, gw->now, gw->config.probe_age_max)
            .loss_ppm;
    return peer->link != NULL ? gmc_link_loss_ppm(peer->link) : 0;
}

/* What held a path back may have been somebody else, who has left. Trees that came to avoid it
 * would avoid it for good, and the source feed by two copies whom it need not: once nobody has used
 * it for a while it is as one that nobody has seen, and the trial of trees that use it tells. */
static uint64_t path_rate_of(const struct gmc_gateway *gw, gmc_peer from, gmc_peer to)
{
    const struct gwpeer *peer = gw->peers[to];
    if (from != gw->self)
        return gmc_latency_cache_seen(gw->latencies, from, to, gw->now, PATH_UNUSED).path_bps;
    return gmc_time_sub(gw->now, peer->path.since) <= PATH_UNUSED ? gw_uplink_path(gw, peer) : 0;
}

static void fill_losses(const struct gmc_gateway *gw, const struct gwgraph *graph)
{
    size_t n = graph->view.n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 1; j < n; j++)
            if (i != j)
                graph->loss[i * n + j] = loss_of(gw, graph->list[i], graph->list[j]);
}

/* Two paths to one gateway that hold data back are likely held by what they share, where they end:
 * no third one from as far is thought to be wider than both. */
static void bound_unseen_paths(const struct gwgraph *graph)
{
    size_t n = graph->view.n;
    for (size_t j = 1; j < n; j++) {
        uint64_t most = 0, nearest = GMC_LATENCY_UNKNOWN;
        size_t seen = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t path = graph->path[i * n + j], latency = graph->latency[i * n + j];
            most = path > most ? path : most;
            seen += path > 0;
            nearest = path > 0 && latency < nearest ? latency : nearest;
        }
        for (size_t i = 0; i < n && seen > 1; i++)
            if (i != j && graph->path[i * n + j] == 0 && graph->latency[i * n + j] >= nearest)
                graph->path[i * n + j] = most;
    }
}

bool gw_graph_add_paths(const struct gmc_gateway *gw, const struct gwchannel *ch,
                        struct gwgraph *graph)
{
    size_t n = graph->view.n;
    graph->view.path_bps = graph->path = calloc(n * n, sizeof(*graph->path));
    if (graph->path == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 1; j < n; j++) {
            if (i == j)
                continue;
            uint64_t path_bps = path_rate_of(gw, graph->list[i], graph->list[j]);
            graph->path[i * n + j] = payload_of(ch, path_bps);
            graph->any_measured = graph->any_measured || path_bps > 0;
        }
    }
    bound_unseen_paths(graph);
    return true;
}

static void fill_rates(const struct gmc_gateway *gw, const struct gwchannel *ch,
                       const struct gwgraph *graph)
{
    for (size_t i = 0; i < graph->view.n; i++) {
        const struct gwpeer *peer = gw->peers[graph->list[i]];
        bool young = gmc_time_sub(gw->now, peer->rates_at) <= gw->config.probe_age_max;
        graph->uplink[i] = young ? payload_of(ch, peer->uplink_bps) : 0;
        graph->downlink[i] = young ? payload_of(ch, peer->downlink_bps) : 0;
    }
    graph->uplink[0] = payload_of(ch, gw->config.uplink_bps);
}

static void fill_measured(const struct gmc_gateway *gw, const struct gwchannel *ch,
                          struct gwgraph *graph)
{
    gmc_duration age = gw->config.probe_age_max;
    graph->measured[0] = gw_uplink_measured(gw);
    for (size_t i = 0; i < graph->view.n; i++) {
        const struct gwpeer *peer = gw->peers[graph->list[i]];
        if (i > 0 && peer->measured_at != 0 && gmc_time_sub(gw->now, peer->measured_at) <= age)
            graph->measured[i] = (struct gwmeasured){peer->measured_bps, peer->measured_busy_bps,
                                                     peer->measured_limit_bps};
        struct gwmeasured *one = &graph->measured[i];
        if (graph->uplink[i] != 0)
            *one = (struct gwmeasured){0, 0, 0};
        *one = (struct gwmeasured){payload_of(ch, one->most), payload_of(ch, one->busy),
                                   payload_of(ch, one->limit)};
        graph->any_measured = graph->any_measured || one->most != 0;
    }
}

void gw_graph_free(struct gwgraph *graph)
{
    free(graph->list);
    free(graph->latency);
    free(graph->uplink);
    free(graph->downlink);
    free(graph->loss);
    free(graph->path);
    free(graph->measured);
    free(graph->names);
    free(graph->parent);
}

/* How many stripes are of equal size. */
static uint32_t stripes_max(const struct gwchannel *ch)
{
    uint32_t most = ch->talk != NULL ? 1 : GMC_STRIPES_MAX; /* messages keep their order */
    while (most > 1 && !gmc_stripes_are_even(most, ch->blocks))
        most /= 2;
    return most;
}

bool gw_graph_make(const struct gmc_gateway *gw, const struct gwchannel *ch, struct gwgraph *graph)
{
    size_t n = graph->view.n;
    graph->latency = malloc(sizeof(*graph->latency) * n * n);
    graph->uplink = malloc(sizeof(*graph->uplink) * n);
    graph->downlink = malloc(sizeof(*graph->downlink) * n);
    graph->loss = calloc(n * n, sizeof(*graph->loss));
    graph->measured = calloc(n, sizeof(*graph->measured));
    graph->names = malloc(sizeof(*graph->names) * n);
    graph->parent = calloc(n * GMC_STRIPES_MAX, sizeof(*graph->parent));
    if (graph->latency == NULL || graph->uplink == NULL || graph->downlink == NULL ||
        graph->loss == NULL || graph->measured == NULL || graph->names == NULL ||
        graph->parent == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        graph->names[i] = gmc_gateway_peer_name(gw, graph->list[i]);
    graph->view = (struct gmc_tree_graph){.n = n,
                                          .latency = graph->latency,
                                          .names = graph->names,
                                          .uplink_bps = graph->uplink,
                                          .downlink_bps = graph->downlink,
                                          .loss_ppm = graph->loss,
                                          .bytes = ch->object.total_bytes,
                                          .cap_bps = ch->src->rate_bps,
                                          .stripes_max = stripes_max(ch)};
    fill_latencies(gw, graph);
    fill_losses(gw, graph);
    fill_rates(gw, ch, graph);
    fill_measured(gw, ch, graph);
    return true;
}

void gw_graph_take(struct gwchannel *ch, const struct gwgraph *graph, uint32_t stripes)
{
    size_t n = graph->view.n;
    for (size_t i = 1; i < n; i++) {
        struct gwmember *member = gw_source_member(ch, graph->list[i]);
        member->placed = true;
        for (uint32_t k = 0; k < stripes; k++) {
            int32_t parent = graph->parent[k * n + i];
            member->parent[k] = 0;
            if (parent > 0)
                member->parent[k] =
                    (int32_t)(gw_source_member(ch, graph->list[parent]) - ch->src->members) + 1;
        }
    }
}

bool gw_graph_are_trees(const struct gwgraph *graph, uint32_t stripes)
{
    for (uint32_t k = 0; k < stripes; k++)
        if (gmc_tree_check(graph->parent + k * graph->view.n, graph->view.n) != GMC_OK)
            return false;
    return true;
}

int32_t gw_graph_present(struct gwchannel *ch, const struct gwgraph *graph, uint32_t stripe,
                         const struct gwmember *which)
{
    int32_t self = -1;
    int32_t *tree = graph->parent + stripe * graph->view.n;
    tree[0] = -1;
    for (size_t i = 1; i < graph->view.n; i++) {
        const struct gwmember *member = gw_source_member(ch, graph->list[i]);
        int32_t parent = member->parent[stripe];
        self = member == which ? (int32_t)i : self;
        tree[i] = 0;
        for (size_t j = 1; j < graph->view.n && parent > 0; j++)
            if (graph->list[j] == ch->src->members[parent - 1].peer)
                tree[i] = (int32_t)j;
    }
    return self;
}
