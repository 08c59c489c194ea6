/* SPDX-License-Identifier: BSD-2-Clause */
/* The links of a map as those of a topology: one between two nodes, none from a node to itself. */
#include <stdlib.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/draft.h"
#include "sim-wan/topo/units.h"

struct direction {
    uint64_t rate_bps;  /* 0: nothing goes this way yet */
    gmc_duration delay; /* GMC_TIME_NEVER: from the places */
};

/* What the links of one pair of nodes make together, kept where the first of them is. */
struct merged {
    uint64_t pair;
    uint32_t index, line;
    struct direction ways[2]; /* a to b, b to a */
};

static int by_pair(const void *left, const void *right)
{
    const struct merged *a = left, *b = right;
    if (a->pair != b->pair)
        return a->pair < b->pair ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int by_index(const void *left, const void *right)
{
    const struct merged *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static void join_way(struct direction *way, const struct direction *more)
{
    way->rate_bps += more->rate_bps;
    if (way->rate_bps > SIM_RATE_MAX_BPS)
        way->rate_bps = SIM_RATE_MAX_BPS;
    way->delay = gmc_time_min(way->delay, more->delay);
}

/* Each link by itself; those from a node to itself are left out. */
static size_t list_links(const struct sim_draft *draft, const struct sim_topo_options *options,
                         struct merged *list, struct sim_topo_notes *notes)
{
    const struct direction nothing = {0, GMC_TIME_NEVER};
    size_t count = 0;
    for (size_t i = 0; i < draft->link_count; i++) {
        const struct sim_draft_link *link = &draft->links[i];
        uint32_t a = link->a, b = link->b;
        if (a == b) {
            notes->self_loops++;
            continue;
        }
        notes->default_rates += link->rate_bps == 0 && !link->speed_is_unread;
        notes->unread_rates += link->speed_is_unread;
        struct direction way = {link->rate_bps > 0 ? link->rate_bps : options->rate_bps,
                                link->has_delay ? link->delay : GMC_TIME_NEVER};
        struct merged *to = &list[count++];
        *to = (struct merged){.index = (uint32_t)i, .line = link->line, .ways = {way, way}};
        to->pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        /* The ways of a merged link are those of the pair: low to high, high to low. */
        if (draft->is_directed)
            to->ways[a < b ? 1 : 0] = nothing;
    }
    return count;
}

/* Puts the links of each pair together; how many are left, in the order of the first ones. */
static size_t merge_links(struct merged *list, size_t count, struct sim_topo_notes *notes)
{
    size_t left = 0;
    qsort(list, count, sizeof(*list), by_pair);
    for (size_t i = 0; i < count; i++) {
        if (left == 0 || list[left - 1].pair != list[i].pair) {
            list[left++] = list[i];
            continue;
        }
        struct merged *to = &list[left - 1];
        /* The other way of a one-way link is no second link. */
        notes->merged_links += (to->ways[0].rate_bps > 0 && list[i].ways[0].rate_bps > 0) ||
                               (to->ways[1].rate_bps > 0 && list[i].ways[1].rate_bps > 0);
        join_way(&to->ways[0], &list[i].ways[0]);
        join_way(&to->ways[1], &list[i].ways[1]);
    }
    qsort(list, left, sizeof(*list), by_index);
    return left;
}

void sim_draft_add_links(const struct sim_draft *draft, const struct sim_topo_options *options,
                         struct sim_topo *topo, struct sim_topo_notes *notes)
{
    struct merged *list = sim_alloc(draft->link_count * sizeof(*list));
    size_t count = merge_links(list, list_links(draft, options, list, notes), notes);
    for (size_t i = 0; i < count; i++) {
        struct merged *link = &list[i];
        const struct sim_draft_link *first = &draft->links[link->index];
        if (link->ways[0].rate_bps == 0 || link->ways[1].rate_bps == 0) {
            link->ways[link->ways[0].rate_bps == 0 ? 0 : 1] =
                link->ways[link->ways[0].rate_bps == 0 ? 1 : 0];
            notes->one_way_links++;
        }
        const struct direction *out = &link->ways[first->a < first->b ? 0 : 1];
        const struct direction *back = &link->ways[first->a < first->b ? 1 : 0];
        struct sim_wire_config a_to_b = {.rate_bps = out->rate_bps, .delay = out->delay};
        struct sim_wire_config b_to_a = {.rate_bps = back->rate_bps, .delay = back->delay};
        sim_topo_add_link(topo, first->a, first->b, &a_to_b, &b_to_a);
    }
    free(list);
}
