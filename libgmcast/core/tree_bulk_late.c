/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a gateway that joins running trees of shape bulk goes: the rules of tree_bulk.c with all
 * others fixed.
 *
 *   L0  Where no uplink is known: the eco rules, in the tree of each stripe.
 *   L1  R is the rate that is predicted for the present trees without the newcomer (P2 of
 *       tree_predict.h); slots are counted at R as in K2, less the children that there are.
 *   L2  The stripes one after the other: the parent is chosen by E3 to E6 of tree_eco.c among those
 *       in the stripe's tree that have slots left.
 *   L3  Where nobody has, it is whoever would still feed its children at the highest rate with one
 *       more; ties: the cheapest link, then O4 of tree_order.h. A source that hears the newcomer
 *       counts like anyone else here.
 *   L4  Nobody is chosen that is not heard, or that is below the newcomer. Who hears nobody goes to
 *       the source.
 */
#include <stdlib.h>

#include "core/tree_bulk.h"
#include "core/tree_eco.h"
#include "core/tree_predict.h"

struct late {
    const struct gmc_tree_graph *graph;
    uint32_t stripes;
    int32_t self;
    uint64_t rate, least;
    uint32_t *children; /* over all stripes */
};

/* Does v's way to the source exist, and not pass the newcomer? */
static bool is_in_tree(const struct late *late, const int32_t *parent, int32_t v)
{
    size_t steps = 0;

    while (v > 0 && (size_t)v < late->graph->n && v != late->self && steps++ < late->graph->n)
        v = parent[v];
    return v == 0;
}

static uint64_t uplink_of(const struct late *late, int32_t v)
{
    return gmc_tree_uplink(late->graph, (size_t)v, late->least);
}

static bool has_slot(const struct late *late, int32_t v)
{
    return late->stripes * uplink_of(late, v) / late->rate > late->children[v];
}

/* L2; -1 when nobody has a slot left. */
static int32_t with_slot(const struct late *late, const int32_t *parent)
{
    uint64_t from_source =
        has_slot(late, 0) ? gmc_tree_latency(late->graph, 0, late->self) : GMC_LATENCY_UNKNOWN;
    uint64_t least = GMC_LATENCY_UNKNOWN;
    int32_t best = -1;

    for (int32_t v = 1; (size_t)v < late->graph->n; v++) {
        uint64_t latency = gmc_tree_latency(late->graph, late->self, v);

        if (v == late->self || latency == GMC_LATENCY_UNKNOWN || latency > least ||
            (latency == least && !gmc_tree_wins_tie(late->graph, v, best)) || !has_slot(late, v) ||
            !is_in_tree(late, parent, v))
            continue;
        least = latency;
        best = v;
    }
    if (best < 0 && from_source == GMC_LATENCY_UNKNOWN)
        return -1;
    return gmc_tree_eco_parent(from_source, best, least);
}

/* L3 */
static int32_t least_harmed(const struct late *late, const int32_t *parent)
{
    uint64_t highest = 0, least = GMC_LATENCY_UNKNOWN;
    int32_t best = -1;

    for (int32_t v = 0; (size_t)v < late->graph->n; v++) {
        uint64_t latency = gmc_tree_latency(late->graph, late->self, v);
        uint64_t rate = uplink_of(late, v) / (late->children[v] + 1);

        if (v == late->self || latency == GMC_LATENCY_UNKNOWN || rate < highest ||
            !is_in_tree(late, parent, v))
            continue;
        if (rate == highest && best >= 0 &&
            (latency > least || (latency == least && !gmc_tree_wins_tie(late->graph, v, best))))
            continue;
        highest = rate;
        least = latency;
        best = v;
    }
    return best >= 0 ? best : 0;
}

static void count_children(struct late *late, const int32_t *parent)
{
    size_t n = late->graph->n;

    for (uint32_t k = 0; k < late->stripes; k++)
        for (size_t i = 1; i < n; i++)
            if ((int32_t)i != late->self && parent[k * n + i] >= 0)
                late->children[parent[k * n + i]]++;
}

/* L1: the prediction's rate is the least of k * u / c; the newcomer itself is not among them. */
static void find_rate(struct late *late)
{
    late->rate = UINT64_MAX;
    for (size_t i = 0; i < late->graph->n; i++) {
        uint64_t downlink = i > 0 ? gmc_tree_downlink(late->graph, i) : UINT64_MAX, rate;

        late->rate = downlink < late->rate ? downlink : late->rate;
        if (late->children[i] == 0)
            continue;
        rate = late->stripes * uplink_of(late, (int32_t)i) / late->children[i];
        late->rate = rate < late->rate ? rate : late->rate;
    }
    if (late->rate == 0)
        late->rate = 1;
}

gmc_status gmc_tree_bulk_attach(const struct gmc_tree_graph *graph, const int32_t *parent,
                                uint32_t stripes, int32_t u, int32_t *chosen)
{
    struct late late = {graph, stripes, u, 0, gmc_tree_least_uplink(graph), NULL};
    gmc_status status = GMC_OK;

    if (graph->n > INT32_MAX || u <= 0 || (size_t)u >= graph->n || stripes == 0 ||
        stripes > GMC_TREE_STRIPES_MAX)
        return GMC_ERR_INVALID;
    if (!gmc_tree_bulk_knows(graph)) {
        for (uint32_t k = 0; k < stripes && status == GMC_OK; k++)
            status = gmc_tree_attach(graph, parent + k * graph->n, u, &chosen[k]);
        return status;
    }
    late.children = calloc(graph->n, sizeof(*late.children));
    if (late.children == NULL)
        return GMC_ERR_NOMEM;
    count_children(&late, parent);
    find_rate(&late);
    for (uint32_t k = 0; k < stripes; k++) {
        chosen[k] = with_slot(&late, parent + k * graph->n);
        if (chosen[k] < 0)
            chosen[k] = least_harmed(&late, parent + k * graph->n);
        late.children[chosen[k]]++;
    }
    free(late.children);
    return GMC_OK;
}
