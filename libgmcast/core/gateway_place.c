/* SPDX-License-Identifier: BSD-2-Clause */
/* The source's trees: what is known of latencies and rates, and the places of members in them. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"
#include "core/probe_plan.h"

#define PACKET_HEAD_BYTES (28u + GMC_DATA_OVERHEAD_BYTES) /* IPv4, UDP, and ours */
#define CC_SHARE_PERCENT 98u /* of a wire, that congestion control reaches (docs/CONGESTION.md) */

/* Of the uplink of who has none configured, see core/peak.h; 0 not known. */
struct gw_measured {
    uint64_t most, busy, limit;
};

/* What trees are built from: who takes part, and what is known of them. */
struct graph {
    gmc_peer *list; /* the source first */
    uint64_t *latency, *uplink, *downlink;
    uint32_t *loss;
    struct gw_measured *measured;
    bool any_measured;
    const char **names;
    int32_t *parent; /* room for the trees of all stripes */
    struct gmc_tree_graph view;
};

static void fill_latencies(const struct gmc_gateway *gw, const struct graph *graph)
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
    return rate_bps / (fragment + PACKET_HEAD_BYTES) * fragment / 100 * CC_SHARE_PERCENT;
}

/* As the senders of earlier transfers saw it. */
static void fill_losses(const struct gmc_gateway *gw, const struct graph *graph)
{
    size_t n = graph->view.n;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 1; j < n; j++) {
            const struct gmc_link *own = gw->peers[graph->list[j]]->link;
            uint32_t *loss = &graph->loss[i * n + j];
            if (i > 0 && i != j)
                *loss = gmc_latency_cache_loss(gw->latencies, graph->list[i], graph->list[j],
                                               gw->now, gw->config.probe_age_max);
            else if (i == 0 && own != NULL)
                *loss = gmc_link_loss_ppm(own);
        }
    }
}

static void fill_rates(const struct gmc_gateway *gw, const struct gwchannel *ch,
                       const struct graph *graph)
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
                          struct graph *graph)
{
    gmc_duration age = gw->config.probe_age_max;
    graph->measured[0] = (struct gw_measured){gmc_peak_most(&gw->peak, gw->now, age),
                                              gmc_peak_busy(&gw->peak, gw->now, age),
                                              gmc_peak_limit(&gw->peak, gw->now, age)};
    for (size_t i = 0; i < graph->view.n; i++) {
        const struct gwpeer *peer = gw->peers[graph->list[i]];
        if (i > 0 && peer->measured_at != 0 && gmc_time_sub(gw->now, peer->measured_at) <= age)
            graph->measured[i] = (struct gw_measured){peer->measured_bps, peer->measured_busy_bps,
                                                      peer->measured_limit_bps};
        struct gw_measured *one = &graph->measured[i];
        if (graph->uplink[i] != 0)
            *one = (struct gw_measured){0, 0, 0};
        *one = (struct gw_measured){payload_of(ch, one->most), payload_of(ch, one->busy),
                                    payload_of(ch, one->limit)};
        graph->any_measured = graph->any_measured || one->most != 0;
    }
}

static void graph_free(struct graph *graph)
{
    free(graph->list);
    free(graph->latency);
    free(graph->uplink);
    free(graph->downlink);
    free(graph->loss);
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

/* Of the list and its length; false when there is no memory for it. */
static bool graph_make(const struct gmc_gateway *gw, const struct gwchannel *ch,
                       struct graph *graph)
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

static void take_parents(struct gwchannel *ch, const struct graph *graph, uint32_t stripes)
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

static bool are_trees(const struct graph *graph, uint32_t stripes)
{
    for (uint32_t k = 0; k < stripes; k++)
        if (gmc_tree_check(graph->parent + k * graph->view.n, graph->view.n) != GMC_OK)
            return false;
    return true;
}

/* ---- by what was measured ---- */
enum view { SHOWN, LEAST, MOST };

#define NO_RELAY 1u /* bit/s */

/* The smallest uplink that is configured or whose limit was measured; NO_RELAY where no limit was.
 */
static uint64_t least_limit(const struct graph *graph)
{
    uint64_t least = UINT64_MAX;
    bool any = false;
    for (size_t i = 0; i < graph->view.n; i++) {
        uint64_t limit = graph->uplink[i] != 0 ? graph->uplink[i] : graph->measured[i].limit;
        any = any || graph->measured[i].limit != 0;
        if (limit != 0 && limit < least)
            least = limit;
    }
    return any ? least : NO_RELAY;
}

/* Who never had more to send than went out has shown what its uplink carries at least, and no
 * limit: a relay of something small, or below somebody slow. */
static bool shows_limit(const struct gw_measured *one)
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

/* Figures that were measured may be wrong, or of another time, by a factor of two either way, and
 * so may be what is thought of those that have not shown what they carry (`unshown`). At most these
 * are the best of all. */
static void look_at(const struct graph *graph, enum view view, uint64_t unshown, uint64_t *uplink)
{
    for (size_t i = 0; i < graph->view.n; i++) {
        uint64_t most = graph->measured[i].most, limit = graph->measured[i].limit;
        bool is_shown = most > unshown || shows_limit(&graph->measured[i]);
        if (graph->uplink[i] != 0)
            uplink[i] = graph->uplink[i];
        else if (view == MOST)
            uplink[i] = limit != 0 ? 2 * (most > limit ? most : limit) : UINT64_MAX;
        else
            uplink[i] =
                (is_shown ? most : thought(unshown, most, view)) / (view == LEAST ? 2 : 1) + 1;
    }
}

/* Takes the trees that the measured rates give, if they are better than those without them even
 * where these come out at their best and the others at their worst. So a wrong figure makes nothing
 * worse than none. `seen`: the trees without them take at least that long, whatever is predicted.
 */
static bool try_measured(struct graph *graph, uint64_t unshown, gmc_duration seen,
                         uint32_t *stripes)
{
    struct gmc_tree_graph view = graph->view;
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
    if (unshown != NO_RELAY)
        view.stripes_max = 1;
    look_at(graph, MOST, unshown, uplink);
    if (gmc_tree_predict(&view, graph->parent, *stripes, &without) != GMC_OK)
        goto end;
    if (without.time < seen)
        without.time = seen;
    look_at(graph, SHOWN, unshown, uplink);
    if (gmc_tree_ops(GMC_TREE_BULK)->build(&view, parent, &count) != GMC_OK)
        goto end;
    look_at(graph, LEAST, unshown, uplink);
    if (gmc_tree_predict(&view, parent, count, &with) != GMC_OK || with.time >= without.time)
        goto end;
    memcpy(graph->parent, parent, bytes);
    *stripes = count;
    taken = true;
end:
    free(uplink);
    free(parent);
    return taken;
}

static gmc_status build(const struct gwchannel *ch, struct graph *graph, uint32_t *stripes)
{
    gmc_status status = gmc_tree_ops(ch->src->shape)->build(&graph->view, graph->parent, stripes);
    if (status != GMC_OK || ch->src->shape != GMC_TREE_BULK || !graph->any_measured)
        return status;
    (void)try_measured(graph, NO_RELAY, 0, stripes);
    /* Whoever was never a relay shows nothing, and a source whose uplink is full would send a copy
     * to each for ever. */
    (void)try_measured(graph, least_limit(graph), 0, stripes);
    return GMC_OK;
}

static enum gmc_rate_origin origin_of(const struct graph *graph, size_t i)
{
    return graph->uplink[i] == 0          ? GMC_RATE_ASSUMED
           : graph->measured[i].most != 0 ? GMC_RATE_MEASURED
                                          : GMC_RATE_CONFIGURED;
}

/* Predictions count with what was measured, whatever the trees were built from. */
static void use_measured(struct graph *graph)
{
    for (size_t i = 0; i < graph->view.n; i++)
        if (graph->uplink[i] == 0 && shows_limit(&graph->measured[i]))
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
static void tell_rates(struct gwsource *src, const struct graph *graph, uint32_t stripes)
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
static void predict(struct gwchannel *ch, struct graph *graph, uint32_t stripes)
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
        src->planned_bps = p->sent_bps / fragment * (fragment + PACKET_HEAD_BYTES);
    src->limit_at = graph->list[at];
    src->limit_bps = p->limit == GMC_TREE_LIMIT_UPLINK ? gmc_tree_uplink(&graph->view, at, least)
                                                       : gmc_tree_downlink(&graph->view, at);
}

/* A large group, of which not every pair was measured: one tree. */
static void place_large(struct gmc_gateway *gw, struct gwchannel *ch, struct graph *graph)
{
    size_t n = graph->view.n;
    graph->parent = malloc(sizeof(*graph->parent) * n * GMC_STRIPES_MAX);
    if (graph->parent != NULL && gw_sparse_place(gw, ch, graph->list, n, graph->parent) == GMC_OK &&
        are_trees(graph, 1))
        take_parents(ch, graph, 1);
}

/* Runs the chosen shape over the members that are there; the others become the source's children
 * when they come. */
void gw_source_place(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct graph graph = {0};
    uint32_t stripes;
    graph.list = gw_source_participants(gw, ch, &graph.view.n);
    if (graph.view.n > GMC_PROBE_ALL_MAX)
        place_large(gw, ch, &graph);
    else if (graph_make(gw, ch, &graph) && build(ch, &graph, &stripes) == GMC_OK &&
             are_trees(&graph, stripes) && gw_stripes_set(ch, stripes) == GMC_OK) {
        take_parents(ch, &graph, stripes);
        predict(ch, &graph, stripes);
    }
    graph_free(&graph);
}

/* The present tree of a stripe, and where the member stands in it; -1 nowhere. */
static int32_t present_tree(struct gwchannel *ch, const struct graph *graph, uint32_t stripe,
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

/* By the rules of bulk, or else those of eco, all others as they are. */
static gmc_status attach_late(struct gwchannel *ch, const struct graph *graph,
                              const struct gwmember *late, int32_t *chosen)
{
    int32_t self = -1;
    gmc_status status = GMC_OK;
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        self = present_tree(ch, graph, k, late);
    if (ch->src->shape == GMC_TREE_BULK)
        return gmc_tree_bulk_attach(&graph->view, graph->parent, ch->stripe_count, self, chosen);
    for (uint32_t k = 0; k < ch->stripe_count && status == GMC_OK; k++)
        status = gmc_tree_attach(&graph->view, graph->parent + k * graph->view.n, self, &chosen[k]);
    return status;
}

/* A member that came after the trees were made. */
void gw_source_place_late(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *late)
{
    struct graph graph = {0};
    int32_t chosen[GMC_STRIPES_MAX];
    graph.list = gw_source_participants(gw, ch, &graph.view.n);
    bool large = graph.view.n > GMC_PROBE_ALL_MAX;
    /* Nobody is below it yet, so that one place will do for all trees. */
    int32_t place = large ? gw_sparse_place_late(gw, ch, late->peer) : 0;
    bool placed = !large && ch->src->shape != GMC_TREE_FLAT && graph_make(gw, ch, &graph) &&
                  attach_late(ch, &graph, late, chosen) == GMC_OK;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        late->parent[k] = place;
        if (placed && chosen[k] > 0)
            late->parent[k] =
                (int32_t)(gw_source_member(ch, graph.list[chosen[k]]) - ch->src->members) + 1;
    }
    late->placed = true;
    graph_free(&graph);
}

/* ---- while the transfer runs ---- */
/* Blocks stay in their stripes: fewer trees are each taken by several. */
static bool spread(struct graph *graph, uint32_t count, uint32_t stripes)
{
    size_t n = graph->view.n;
    if (count == 0 || stripes % count != 0)
        return false;
    for (uint32_t k = count; k < stripes; k++)
        memcpy(graph->parent + k * n, graph->parent + (k % count) * n, sizeof(*graph->parent) * n);
    return are_trees(graph, stripes);
}

static size_t children_of(const struct graph *graph, size_t at, uint32_t stripes)
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

/* Who always has more to send is what holds its only child up now, be it by its uplink or not. Of
 * several the limit is seen. */
static void take_busy_for_limits(const struct graph *graph, uint32_t stripes)
{
    for (size_t i = 0; i < graph->view.n; i++) {
        struct gw_measured *one = &graph->measured[i];
        if (one->limit == 0 && one->busy >= one->most / 8 * 7 && children_of(graph, i, stripes) < 2)
            one->limit = one->busy;
    }
}

/* The trees that would be made now, with members and latencies that were not known then, if they
 * bring what is left in so much of the time. */
static bool try_fresh(struct graph *graph, uint32_t percent, uint32_t *stripes)
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
    taken = taken && (count != *stripes ||
                      memcmp(graph->parent, parent, sizeof(*parent) * graph->view.n * count) != 0);
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
    struct graph graph = {0};
    uint32_t stripes = ch->stripe_count;
    bool better = false;
    graph.list = gw_source_participants(gw, ch, &graph.view.n);
    bool taken = graph.view.n > 2 && graph.view.n <= GMC_PROBE_ALL_MAX &&
                 graph_make(gw, ch, &graph) &&
                 ((measured && graph.any_measured) || fresh_percent > 0);
    if (taken) {
        for (uint32_t k = 0; k < stripes; k++)
            (void)present_tree(ch, &graph, k, NULL);
        take_busy_for_limits(&graph, stripes);
        graph.view.bytes = bytes_left;
        graph.view.stripes_max = stripes;
        taken = are_trees(&graph, stripes);
    }
    if (taken && fresh_percent > 0)
        better = try_fresh(&graph, fresh_percent, &stripes);
    if (taken && measured && graph.any_measured)
        better = try_measured(&graph, least_limit(&graph), better ? 0 : seen, &stripes) || better;
    taken = better && spread(&graph, stripes, ch->stripe_count);
    if (taken)
        take_parents(ch, &graph, ch->stripe_count);
    graph_free(&graph);
    return taken;
}
