/* SPDX-License-Identifier: BSD-2-Clause */
/* Measuring and placing large groups at their source: two rounds over the pairs that
 * core/probe_plan.h chooses, instead of one over all of them. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"
#include "core/probe_plan.h"
#include "core/tree_eco.h"
#include "core/tree_sparse.h"

#define ASKED_MAX (GMC_PROBE_LANDMARKS + GMC_PROBE_NEAR)

/* Participants are known by their numbers here: places in the list, the source is 0. */
struct gwsparse {
    gmc_peer *list;
    size_t count;
    uint32_t landmarks[GMC_PROBE_LANDMARKS]; /* ascending */
    size_t landmark_count;
    int32_t *near; /* per participant GMC_PROBE_NEAR; NULL: the first round is not over */
};

void gw_sparse_free(struct gwsparse *sparse)
{
    if (sparse == NULL)
        return;
    free(sparse->list);
    free(sparse->near);
    free(sparse);
}

static bool known_rtt(const struct gmc_gateway *gw, gmc_peer a, gmc_peer b, uint64_t *rtt)
{
    struct gmc_latency latency;
    bool known =
        gmc_latency_cache_get(gw->latencies, a, b, gw->now, gw->config.probe_age_max, &latency);
    *rtt = known ? gw_path_rtt(latency.rtt_min) : GMC_LATENCY_UNKNOWN;
    return known;
}

/* ---- landmarks ---- */
/* Drawn from the set itself: the next transfer to the same gateways measures nothing anew. */
static void draw_landmarks(struct gwsparse *sparse)
{
    struct gmc_prng prng;
    uint64_t seed = sparse->count;
    for (size_t i = 0; i < sparse->count; i++)
        seed += ((uint64_t)sparse->list[i] + 1) * UINT64_C(0x9e3779b97f4a7c15);
    gmc_prng_init(&prng, seed);
    while (sparse->landmark_count < GMC_PROBE_LANDMARKS &&
           sparse->landmark_count + 1 < sparse->count) {
        uint32_t drawn = 1 + (uint32_t)gmc_prng_below(&prng, sparse->count - 1);
        size_t at = sparse->landmark_count;
        while (at > 0 && sparse->landmarks[at - 1] > drawn)
            at--;
        if (at > 0 && sparse->landmarks[at - 1] == drawn)
            continue;
        memmove(&sparse->landmarks[at + 1], &sparse->landmarks[at],
                (sparse->landmark_count - at) * sizeof(sparse->landmarks[0]));
        sparse->landmarks[at] = drawn;
        sparse->landmark_count++;
    }
}

/* ---- who measures whom ---- */
static size_t insert_number(uint32_t *numbers, size_t count, uint32_t number)
{
    size_t at = count;
    while (at > 0 && numbers[at - 1] > number)
        at--;
    if (at > 0 && numbers[at - 1] == number)
        return count;
    memmove(&numbers[at + 1], &numbers[at], (count - at) * sizeof(*numbers));
    numbers[at] = number;
    return count + 1;
}

/* The numbers that participant i is told of, ascending: the source, whom it measures, itself. */
static size_t numbers_for(const struct gwsparse *sparse, size_t i, uint32_t *numbers)
{
    size_t count = 1;
    numbers[0] = 0;
    if (sparse->near == NULL) {
        for (size_t k = 0; k < sparse->landmark_count; k++)
            numbers[count++] = sparse->landmarks[k];
    } else {
        for (size_t k = 0; k < GMC_PROBE_NEAR; k++)
            if (sparse->near[i * GMC_PROBE_NEAR + k] > 0)
                count =
                    insert_number(numbers, count, (uint32_t)sparse->near[i * GMC_PROBE_NEAR + k]);
    }
    return insert_number(numbers, count, (uint32_t)i);
}

/* Bits of those that need not be measured; returns how many have to be. */
static size_t mask_for(const struct gmc_gateway *gw, const struct gwsparse *sparse, size_t i,
                       const uint32_t *numbers, size_t count, uint8_t *mask)
{
    size_t unknown = 0;
    memset(mask, 0, (count + 7) / 8);
    for (size_t k = 0; k < count; k++) {
        uint64_t rtt;
        if (numbers[k] == i)
            continue;
        if (known_rtt(gw, sparse->list[i], sparse->list[numbers[k]], &rtt))
            mask[k / 8] |= (uint8_t)(1u << (k % 8));
        else
            unknown++;
    }
    return unknown;
}

static bool anything_unknown(const struct gmc_gateway *gw, const struct gwsparse *sparse)
{
    uint32_t numbers[ASKED_MAX + 2];
    uint8_t mask[(ASKED_MAX + 2 + 7) / 8];
    for (size_t i = 1; i < sparse->count; i++) {
        size_t count = numbers_for(sparse, i, numbers);
        if (mask_for(gw, sparse, i, numbers, count, mask) > 0)
            return true;
    }
    return false;
}

static void ask_all(struct gmc_gateway *gw, const struct gwsparse *sparse, uint64_t id,
                    const uint8_t key[GMC_KEY_BYTES])
{
    uint32_t numbers[ASKED_MAX + 2];
    const char *names[ASKED_MAX + 2];
    uint8_t mask[(ASKED_MAX + 2 + 7) / 8];
    for (size_t i = 1; i < sparse->count; i++) {
        size_t count = numbers_for(sparse, i, numbers);
        mask_for(gw, sparse, i, numbers, count, mask);
        for (size_t k = 0; k < count; k++)
            names[k] = gmc_gateway_peer_name(gw, sparse->list[numbers[k]]);
        struct gmc_msg msg = {.type = GMC_MSG_PROBE,
                              .probe_id = id,
                              .secret = key,
                              .names = names,
                              .name_count = count,
                              .numbers = numbers,
                              .total = (uint32_t)sparse->count,
                              .mask = gmc_bytes(mask, (count + 7) / 8)};
        gw_send(gw, gw_peer(gw, sparse->list[i]), &msg);
    }
}

/* ---- rounds ---- */
/* The source measures nobody itself: all measure it. */
static bool begin_round(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    const struct gwsparse *sparse = src->sparse;
    uint8_t key[GMC_KEY_BYTES];
    size_t mask_len = (sparse->count + 7) / 8;
    uint8_t *mask = malloc(mask_len);
    if (mask == NULL)
        return false;
    memset(mask, 0xff, mask_len);
    gw->config.crypto->ops->random(gw->config.crypto->ctx, key, sizeof(key));
    struct gwround_config config = {.id = gw_random64(gw),
                                    .key = key,
                                    .participants = sparse->list,
                                    .count = sparse->count,
                                    .mask = gmc_bytes(mask, mask_len)};
    src->round = gw_round_new(gw, NULL, &config);
    free(mask);
    if (src->round == NULL)
        return false;
    for (size_t i = 0; i < src->member_count; i++)
        src->members[i].joined = true;
    for (size_t i = 1; i < sparse->count; i++)
        gw_source_member(ch, sparse->list[i])->joined = false;
    src->probe_until = gmc_time_add(gw->now, GW_PROBE_WAIT + gmc_probe_spread(sparse->count));
    gw_set_timer(gw, &ch->timer, src->probe_until);
    ask_all(gw, sparse, config.id, key);
    gw_probe_step(gw);
    return true;
}

/* The first round is over: what it found says what the second measures. */
static bool plan(const struct gmc_gateway *gw, struct gwsparse *sparse)
{
    size_t columns = sparse->landmark_count + 1;
    uint64_t *latency = malloc(sparse->count * columns * sizeof(*latency));
    int32_t *near = malloc(sparse->count * GMC_PROBE_NEAR * sizeof(*near));
    gmc_status status = latency != NULL && near != NULL ? GMC_OK : GMC_ERR_NOMEM;
    for (size_t i = 0; i < sparse->count && status == GMC_OK; i++) {
        for (size_t k = 0; k < columns; k++) {
            uint32_t mark = k == 0 ? 0 : sparse->landmarks[k - 1];
            uint64_t *place = &latency[i * columns + k];
            *place = 0;
            if (mark != i)
                known_rtt(gw, sparse->list[i], sparse->list[mark], place);
        }
    }
    struct gmc_probe_marks marks = {.n = sparse->count, .columns = columns, .latency = latency};
    if (status == GMC_OK)
        status = gmc_probe_plan(&marks, GMC_PROBE_NEAR, near);
    free(latency);
    if (status != GMC_OK) {
        free(near);
        return false;
    }
    sparse->near = near;
    return true;
}

bool gw_sparse_next(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    if (src->sparse == NULL || src->sparse->near != NULL || !plan(gw, src->sparse) ||
        !anything_unknown(gw, src->sparse))
        return false;
    if (src->round != NULL)
        gw_round_free(src->round);
    src->round = NULL;
    return begin_round(gw, ch);
}

bool gw_sparse_begin(struct gmc_gateway *gw, struct gwchannel *ch, const gmc_peer *list,
                     size_t count)
{
    struct gwsparse *sparse = calloc(1, sizeof(*sparse));
    if (sparse == NULL)
        return false;
    sparse->list = malloc(count * sizeof(*list));
    if (sparse->list == NULL) {
        gw_sparse_free(sparse);
        return false;
    }
    memcpy(sparse->list, list, count * sizeof(*list));
    sparse->count = count;
    draw_landmarks(sparse);
    gw_sparse_free(ch->src->sparse);
    ch->src->sparse = sparse;
    return anything_unknown(gw, sparse) ? begin_round(gw, ch) : gw_sparse_next(gw, ch);
}

/* ---- placing ---- */
static void add_link(const struct gmc_gateway *gw, const struct gwsparse *sparse,
                     const int32_t *place_of, size_t a, size_t b, struct gmc_tree_link *links,
                     size_t *count)
{
    int32_t place_a = place_of[sparse->list[a]], place_b = place_of[sparse->list[b]];
    uint64_t rtt;
    if (a != b && place_a > 0 && place_b > 0 &&
        known_rtt(gw, sparse->list[a], sparse->list[b], &rtt))
        links[(*count)++] = (struct gmc_tree_link){place_a, place_b, rtt};
}

/* All links that were measured between those that have a place. */
static size_t collect_links(const struct gmc_gateway *gw, const struct gwsparse *sparse,
                            const int32_t *place_of, struct gmc_tree_link *links)
{
    size_t count = 0;
    for (size_t i = 1; i < sparse->count; i++) {
        for (size_t k = 0; k < sparse->landmark_count; k++)
            add_link(gw, sparse, place_of, i, sparse->landmarks[k], links, &count);
        for (size_t k = 0; sparse->near != NULL && k < GMC_PROBE_NEAR; k++)
            if (sparse->near[i * GMC_PROBE_NEAR + k] > 0)
                add_link(gw, sparse, place_of, i, (size_t)sparse->near[i * GMC_PROBE_NEAR + k],
                         links, &count);
    }
    return count;
}

static void distances_from_source(const struct gmc_gateway *gw, const gmc_peer *list, size_t n,
                                  uint64_t *far, const char **names)
{
    for (size_t i = 0; i < n; i++) {
        const struct gwpeer *peer = gw->peers[list[i]];
        names[i] = peer->name;
        far[i] = 0;
        if (i == 0 || known_rtt(gw, gw->self, list[i], &far[i]) || peer->link == NULL)
            continue;
        struct gmc_link_info info; /* the source's own links measure too */
        gmc_link_info(peer->link, &info);
        far[i] = gw_path_rtt(info.min_rtt);
    }
}

static gmc_status place_by_links(const struct gmc_gateway *gw, const struct gwsparse *sparse,
                                 const gmc_peer *list, size_t n, const uint64_t *far,
                                 const char **names, int32_t *parent)
{
    int32_t *place_of = calloc(gw->peer_count, sizeof(*place_of));
    struct gmc_tree_link *links = malloc(sparse->count * ASKED_MAX * sizeof(*links));
    gmc_status status = GMC_ERR_NOMEM;
    if (place_of != NULL && links != NULL) {
        for (size_t i = 1; i < n; i++)
            place_of[list[i]] = (int32_t)i;
        struct gmc_tree_sparse graph = {.n = n, .from_source = far, .names = names};
        graph.links = links;
        graph.link_count = collect_links(gw, sparse, place_of, links);
        status = gmc_tree_eco_sparse(&graph, parent);
    }
    free(place_of);
    free(links);
    return status;
}

gmc_status gw_sparse_place(struct gmc_gateway *gw, struct gwchannel *ch, const gmc_peer *list,
                           size_t n, int32_t *parent)
{
    uint64_t *far = malloc(n * sizeof(*far));
    const char **names = malloc(n * sizeof(*names));
    enum gmc_tree_shape shape = ch->src->shape;
    bool by_links = shape == GMC_TREE_ECO || shape == GMC_TREE_BULK;
    gmc_status status = GMC_ERR_NOMEM;
    uint32_t stripes;
    if (far != NULL && names != NULL) {
        distances_from_source(gw, list, n, far, names);
        struct gmc_tree_graph graph = {.n = n, .from_source = far, .names = names};
        if (by_links && ch->src->sparse != NULL)
            status = place_by_links(gw, ch->src->sparse, list, n, far, names, parent);
        else if (!by_links)
            status = gmc_tree_ops(shape)->build(&graph, parent, &stripes);
    }
    free(far);
    free(names);
    return status;
}

/* Whether the way from member `at` (its place plus 1) to the source passes `late`. */
static bool is_below(const struct gwchannel *ch, int32_t at, gmc_peer late)
{
    for (size_t steps = 0; at > 0 && steps <= ch->src->member_count; steps++) {
        const struct gwmember *member = &ch->src->members[at - 1];
        if (member->peer == late)
            return true;
        at = member->parent[0];
    }
    return at > 0;
}

int32_t gw_sparse_place_late(struct gmc_gateway *gw, struct gwchannel *ch, gmc_peer late)
{
    const struct gwsparse *sparse = ch->src->sparse;
    uint64_t from_source, least = GMC_LATENCY_UNKNOWN;
    uint32_t numbers[ASKED_MAX + 2];
    int32_t best = -1;
    size_t self = 1;
    while (sparse != NULL && self < sparse->count && sparse->list[self] != late)
        self++;
    if (sparse == NULL || self == sparse->count || ch->src->shape == GMC_TREE_FLAT)
        return 0;
    size_t count = numbers_for(sparse, self, numbers);
    for (size_t k = 1; k < count; k++) {
        const struct gwmember *member = gw_source_member(ch, sparse->list[numbers[k]]);
        uint64_t rtt;
        if (numbers[k] == self || member == NULL || !member->placed ||
            !known_rtt(gw, late, member->peer, &rtt) || rtt >= least)
            continue;
        int32_t place = (int32_t)(member - ch->src->members) + 1;
        if (is_below(ch, place, late))
            continue;
        least = rtt;
        best = place;
    }
    known_rtt(gw, gw->self, late, &from_source);
    return gmc_tree_eco_parent(from_source, best, least);
}
