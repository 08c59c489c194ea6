/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the shape `bulk`, for large objects: there the uplinks decide, not the latencies.
 *
 *   K0  Where no uplink is known the tree is that of eco: what latencies say is better than what
 *       nobody does.
 *   K1  The object is cut into k stripes of equal size, k one of 1, 2, 4, 8; each has a tree of its
 *       own.
 *   K2  At rate R the uplink u of a gateway feeds floor(k * u / R) children, counted over all
 *       stripes: these are its slots. An uplink that is not known counts as the smallest one that
 *       is.
 *   K3  R is the largest rate at which the source has a slot for each stripe, all slots together
 *       are enough for n - 1 gateways in k trees, and no downlink that is known is slower.
 *   K4  The trees are built one after the other. The source gives each the same part of its slots.
 *       The relays of a tree are those with k slots or more left, then those with any, until they
 *       have this tree's part of all slots that are left.
 *   K5  Relays join before the others, each group in the order of core/tree_order.h; last those
 *       that do not hear the source.
 *   K6  The parent is chosen by E3 to E6 of tree_eco.c among those in the tree that have slots
 *       left. Who hears none of them takes the cheapest link to anyone in the tree (ties O4), who
 *       hears nobody at all the source. A path that is known to carry less than R/k for each of the
 *       stripes that it would have is taken when there is no other, and then the widest.
 *   K7  Compared are k = 1, 2, 4, 8, then k = 1 at 3/4, 1/2, 1/4, 1/8 and 1/16 of R (more slots, so
 *       less depth: right for small objects). The one that is predicted to be complete first wins
 *       (core/tree_predict.h), but more stripes have to win by a fiftieth, and by half of what the
 *       source's paths lose: losses are measured and differ by chance, and several links over one
 *       wire that loses much get less from it than one does (docs/FIGURES.md). Of a rate that is
 *       higher than that of one tree only as much counts as is not in doubt (doubt_percent): what
 *       several trees gain by taking differences for real that are chance, they lose where their
 *       ways cross. The comparison ends early when the group is so large that it would take long.
 *
 * Why at most 8 stripes: slots are whole numbers, and what rounding loses of R is about 1/(2k). The
 * known construction without that loss has n trees of depth 2 in which every gateway feeds all
 * others (Kumar and Ross 2006, "Peer-assisted file distribution: the minimum distribution time");
 * it needs n^2 links. With 8 stripes 0.93 of their bound was the least over random sets of uplinks,
 * and a gateway has at most 8 parents. Relays differ from tree to tree as in SplitStream (Castro et
 * al. 2003), which keeps the trees shallow.
 */
#include "core/tree_bulk.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree_eco.h"
#include "core/tree_predict.h"

/* Comparisons of gateways that one call may take: below a second. */
#define STEPS_MAX UINT64_C(400000000)

struct bulk {
    const struct gmc_tree_graph *graph;
    int32_t *order;
    size_t hearing; /* order[0..hearing): the source, and who hears it */
    uint64_t *uplink;
    uint64_t *slots; /* left, over all stripes */
    int32_t *open;   /* of the tree that is being built: who may get another child */
    size_t open_count;
    int32_t *joined;
    size_t joined_count;
    uint8_t *relay;
    uint64_t source_slots; /* of this tree */
    uint64_t part_bps;     /* R/k */
    uint8_t *carried;      /* n*n: stripes of a path; NULL where no path is known */
};

static void bulk_free(struct bulk *b)
{
    free(b->order);
    free(b->uplink);
    free(b->slots);
    free(b->open);
    free(b->joined);
    free(b->relay);
    free(b->carried);
}

static gmc_status bulk_init(struct bulk *b, const struct gmc_tree_graph *graph)
{
    uint64_t least = gmc_tree_least_uplink(graph);
    size_t n = graph->n;

    *b = (struct bulk){.graph = graph};
    b->order = malloc(n * sizeof(*b->order));
    b->uplink = malloc(n * sizeof(*b->uplink));
    b->slots = malloc(n * sizeof(*b->slots));
    b->open = malloc(n * sizeof(*b->open));
    b->joined = malloc(n * sizeof(*b->joined));
    b->relay = malloc(n * sizeof(*b->relay));
    if (b->order == NULL || b->uplink == NULL || b->slots == NULL || b->open == NULL ||
        b->joined == NULL || b->relay == NULL)
        return GMC_ERR_NOMEM;
    if (graph->path_bps != NULL) {
        b->carried = malloc(n * n);
        if (b->carried == NULL)
            return GMC_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        b->uplink[i] = gmc_tree_uplink(graph, i, least);
    b->hearing = 1;
    return gmc_tree_order(graph, b->order);
}

/* ---- the rate (K2, K3) ---- */
static uint64_t slots_at(const struct bulk *b, uint64_t rate, uint32_t k, size_t i)
{
    uint64_t slots = k * b->uplink[i] / rate;
    uint64_t most = k * (uint64_t)(b->graph->n - (i == 0 ? 1 : 2));

    return slots < most ? slots : most;
}

static bool is_enough(const struct bulk *b, uint64_t rate, uint32_t k)
{
    uint64_t needed = k * (uint64_t)(b->graph->n - 1);

    for (size_t i = 0; i < b->graph->n; i++) {
        uint64_t slots = slots_at(b, rate, k, i);

        if (slots >= needed)
            return true;
        needed -= slots;
    }
    return false;
}

static uint64_t best_rate(const struct bulk *b, uint32_t k)
{
    uint64_t enough = 1, above = b->uplink[0];

    for (size_t i = 1; i < b->graph->n; i++) {
        uint64_t downlink = gmc_tree_downlink(b->graph, i);

        above = downlink < above ? downlink : above;
    }
    if (is_enough(b, above, k))
        return above;
    while (above - enough > 1) {
        uint64_t middle = enough + (above - enough) / 2;

        if (is_enough(b, middle, k))
            enough = middle;
        else
            above = middle;
    }
    return enough;
}

/* ---- one tree (K4 to K6) ---- */
static uint64_t slots_left(const struct bulk *b, int32_t v)
{
    if (v == 0)
        return b->source_slots;
    return b->relay[v] != 0 ? b->slots[v] : 0;
}

static void choose_relays(struct bulk *b, uint32_t k, uint32_t trees_left)
{
    uint64_t part = 0, have;

    for (size_t i = 0; i < b->graph->n; i++)
        part += b->slots[i];
    part = part / trees_left + 1;
    memset(b->relay, 0, b->graph->n);
    b->source_slots = b->slots[0] / trees_left;
    have = b->source_slots;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t rank = 1; rank < b->graph->n && have < part; rank++) {
            int32_t v = b->order[rank];

            if (b->relay[v] != 0 || b->slots[v] < (pass == 0 ? k : 1))
                continue;
            b->relay[v] = 1;
            have += b->slots[v];
        }
    }
}

/* What a path would have left for each of its stripes if it had one more. */
static uint64_t path_left(const struct bulk *b, int32_t v, int32_t u)
{
    uint64_t path = gmc_tree_path(b->graph, v, (size_t)u);

    if (path == UINT64_MAX)
        return path;
    return path / (b->carried[(size_t)v * b->graph->n + (size_t)u] + 1u);
}

/* The cheapest link from u to one of the list (ties O4) whose path is not too slow; -1 when it
 * hears none. */
static int32_t nearest(const struct bulk *b, int32_t u, const int32_t *list, size_t count,
                       uint64_t *least)
{
    int32_t best = -1;

    *least = GMC_LATENCY_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        uint64_t latency = gmc_tree_latency(b->graph, u, list[i]);

        if (latency == GMC_LATENCY_UNKNOWN || latency > *least ||
            (latency == *least && !gmc_tree_wins_tie(b->graph, list[i], best)) ||
            path_left(b, list[i], u) < b->part_bps)
            continue;
        *least = latency;
        best = list[i];
    }
    return best;
}

/* The widest of the paths that are all too slow, first the source's; ties: the cheaper. */
static int32_t widest(const struct bulk *b, int32_t u, bool from_source, const int32_t *list,
                      size_t count)
{
    uint64_t least = from_source ? gmc_tree_latency(b->graph, 0, u) : GMC_LATENCY_UNKNOWN;
    uint64_t most = least != GMC_LATENCY_UNKNOWN ? path_left(b, 0, u) : 0;
    int32_t best = most > 0 ? 0 : -1;

    for (size_t i = 0; b->carried != NULL && i < count; i++) {
        uint64_t latency = gmc_tree_latency(b->graph, u, list[i]), left = path_left(b, list[i], u);

        if (latency == GMC_LATENCY_UNKNOWN || left < most || (left == most && latency >= least))
            continue;
        most = left;
        least = latency;
        best = list[i];
    }
    return best;
}

/* K6. The source does not stand in `open`, as it is not v of the rules of eco. */
static int32_t parent_of(const struct bulk *b, int32_t u)
{
    uint64_t from_source = gmc_tree_latency(b->graph, 0, u), least;
    int32_t v = nearest(b, u, b->open, b->open_count, &least);

    if (b->source_slots == 0 || path_left(b, 0, u) < b->part_bps)
        from_source = GMC_LATENCY_UNKNOWN;
    if (v >= 0 || from_source != GMC_LATENCY_UNKNOWN)
        return gmc_tree_eco_parent(from_source, v, least);
    v = widest(b, u, b->source_slots > 0, b->open, b->open_count);
    if (v < 0)
        v = nearest(b, u, b->joined, b->joined_count, &least);
    if (v < 0)
        v = widest(b, u, true, b->joined, b->joined_count);
    return v >= 0 ? v : 0;
}

static void take_slot(struct bulk *b, int32_t v)
{
    if (b->slots[v] > 0)
        b->slots[v]--;
    if (v == 0) {
        b->source_slots -= b->source_slots > 0 ? 1 : 0;
        return;
    }
    for (size_t i = 0; slots_left(b, v) == 0 && i < b->open_count; i++)
        if (b->open[i] == v)
            b->open[i] = b->open[--b->open_count];
}

static void join(struct bulk *b, int32_t u, int32_t *parent)
{
    parent[u] = parent_of(b, u);
    if (b->carried != NULL)
        b->carried[(size_t)parent[u] * b->graph->n + (size_t)u]++;
    take_slot(b, parent[u]);
    b->joined[b->joined_count++] = u;
    if (slots_left(b, u) > 0)
        b->open[b->open_count++] = u;
}

static void build_tree(struct bulk *b, uint32_t k, uint32_t trees_left, int32_t *parent)
{
    choose_relays(b, k, trees_left);
    b->open_count = 0;
    b->joined_count = 0;
    b->joined[b->joined_count++] = 0;
    parent[0] = -1;
    for (int relays = 1; relays >= 0; relays--)
        for (size_t rank = 1; rank < b->hearing; rank++)
            if (b->relay[b->order[rank]] == relays)
                join(b, b->order[rank], parent);
    for (size_t rank = b->hearing; rank < b->graph->n; rank++)
        join(b, b->order[rank], parent);
}

static void build_trees(struct bulk *b, uint64_t rate, uint32_t k, int32_t *parent)
{
    for (size_t i = 0; i < b->graph->n; i++)
        b->slots[i] = slots_at(b, rate, k, i);
    b->part_bps = rate / k;
    if (b->carried != NULL)
        memset(b->carried, 0, b->graph->n * b->graph->n);
    for (uint32_t tree = 0; tree < k; tree++)
        build_tree(b, k, k - tree, parent + tree * b->graph->n);
}

/* ---- choosing (K7) ---- */
static const struct {
    uint32_t stripes, part; /* of the best rate, in sixteenths */
} candidates[] = {{1, 16}, {2, 16}, {4, 16}, {8, 16}, {1, 12}, {1, 8}, {1, 4}, {1, 2}, {1, 1}};

/* By how much more stripes have to win, in millionths. */
static uint32_t margin_ppm(const struct gmc_tree_graph *graph)
{
    uint32_t most = 0;

    for (size_t i = 1; graph->loss_ppm != NULL && i < graph->n; i++)
        if (graph->loss_ppm[i] > most)
            most = graph->loss_ppm[i];
    return 1000000 / 50 + most / 2;
}

/* What of the time that a higher rate saves is in doubt. */
static gmc_duration by_chance(const struct gmc_tree_graph *graph,
                              const struct gmc_tree_prediction *a,
                              const struct gmc_tree_prediction *b)
{
    uint64_t sure = a->rate_bps - a->rate_bps / 100 * graph->doubt_percent;

    if (a->rate_bps <= b->rate_bps)
        return 0;
    sure = sure > b->rate_bps ? sure : b->rate_bps;
    return gmc_duration_of_bytes(graph->bytes, sure) -
           gmc_duration_of_bytes(graph->bytes, a->rate_bps);
}

static bool is_better(const struct gmc_tree_graph *graph, const struct gmc_tree_prediction *a,
                      uint32_t stripes_a, const struct gmc_tree_prediction *b, uint32_t stripes_b)
{
    gmc_duration margin = 0;

    if (stripes_a > stripes_b)
        margin = gmc_duration_scale(b->time, margin_ppm(graph), 1000000);
    if (stripes_a > 1 && stripes_b == 1)
        margin += by_chance(graph, a, b);
    return a->time + margin < b->time;
}

static gmc_status choose(struct bulk *b, int32_t *parent, uint32_t *stripes, int32_t *tried)
{
    uint64_t square = (uint64_t)b->graph->n * b->graph->n, steps = 0;
    uint32_t most = b->graph->stripes_max != 0 ? b->graph->stripes_max : GMC_TREE_STRIPES_MAX;
    struct gmc_tree_prediction best = {0}, next;

    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
        uint32_t k = candidates[i].stripes;
        uint64_t rate = best_rate(b, k) * candidates[i].part / 16;
        gmc_status status;

        if (k > most)
            continue;
        steps += square * k;
        if (i > 0 && steps > STEPS_MAX)
            break;
        build_trees(b, rate > 0 ? rate : 1, k, tried);
        status = gmc_tree_predict(b->graph, tried, k, &next);
        if (status != GMC_OK)
            return status;
        if (i > 0 && !is_better(b->graph, &next, k, &best, *stripes))
            continue;
        best = next;
        *stripes = k;
        memcpy(parent, tried, b->graph->n * k * sizeof(*parent));
    }
    return GMC_OK;
}

bool gmc_tree_bulk_knows(const struct gmc_tree_graph *graph)
{
    for (size_t i = 0; graph->uplink_bps != NULL && i < graph->n; i++)
        if (graph->uplink_bps[i] != 0)
            return true;
    return false;
}

static gmc_status bulk_build(const struct gmc_tree_graph *graph, int32_t *parent, uint32_t *stripes)
{
    struct bulk b;
    gmc_status status;
    int32_t *tried;

    if (graph->n == 0 || graph->n > INT32_MAX / GMC_TREE_STRIPES_MAX)
        return GMC_ERR_INVALID;
    if (graph->n == 1 || !gmc_tree_bulk_knows(graph))
        return gmc_tree_eco.build(graph, parent, stripes);
    *stripes = 1;
    parent[0] = -1;
    tried = malloc(graph->n * GMC_TREE_STRIPES_MAX * sizeof(*tried));
    status = bulk_init(&b, graph);
    if (tried == NULL)
        status = GMC_ERR_NOMEM;
    if (status == GMC_OK) {
        while (b.hearing < graph->n &&
               gmc_tree_latency(graph, 0, b.order[b.hearing]) != GMC_LATENCY_UNKNOWN)
            b.hearing++;
        status = choose(&b, parent, stripes, tried);
    }
    free(tried);
    bulk_free(&b);
    return status;
}

const struct gmc_tree_ops gmc_tree_bulk = {"bulk", bulk_build};
