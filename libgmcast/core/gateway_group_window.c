/* SPDX-License-Identifier: BSD-2-Clause */
/* The windows of a group on their way to it: which are next, their blocks read, sealed and pinned
 * ahead of their turn, and their parity. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_group_impl.h"

#define PARITY_BATCH 6u /* shards that are computed together: as many as kernels take at once */

static uint64_t end_of(const struct gwchannel *ch, uint64_t window)
{
    uint64_t end = (window + 1) * gmc_group_blocks(&ch->object);
    return end < ch->blocks ? end : ch->blocks;
}

bool gw_group_next_window(const struct gwgroup *group, uint64_t *window)
{
    struct gwchannel *ch = group->channel;
    const struct gmc_interval_set *stored = &ch->dst->have.stored;
    uint32_t blocks = gmc_group_blocks(&ch->object);
    uint64_t from = 0, at;
    while (gmc_interval_first_missing(&group->begun, from, group->windows, window)) {
        uint64_t first = *window * blocks, end = end_of(ch, *window);
        if (!gmc_interval_first_missing(stored, first, end, &at))
            return true;
        if (!gmc_interval_first_present(stored, at, ch->blocks, &at))
            return false;
        from = at / blocks > *window ? at / blocks : *window + 1;
    }
    return false;
}

static uint32_t most_blocks(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    /* As many as each node has room for, and a quarter of the cache. */
    uint64_t most = gmc_cache_bodies(gw->cache) / 4;
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *listener = &group->listeners[i];
        if (gw_listener_counts(listener) && listener->room < most)
            most = listener->room;
    }
    return (uint32_t)most;
}

bool gw_group_is_full(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    uint32_t blocks = gmc_group_blocks(&group->channel->object);
    /* One window may always be sent: who has no room for it is given up in time, and whoever says
     * that he has none holds nobody up. */
    return group->tx.count >= GW_GROUP_OPEN_MAX ||
           (group->tx.count > 0 && (group->tx.count + 1) * blocks > most_blocks(gw, group));
}

/* Bytes of a parity shard and its tag, at most. */
static size_t parity_room(const struct gwgroup *group)
{
    return (size_t)group->channel->object.fragment_bytes + GMC_SEAL_TAG_BYTES;
}

static struct gwwindow *window_new(struct gwgroup *group)
{
    struct gmc_list *node = gmc_list_pop_front(&group->spares);
    if (node != NULL)
        return GMC_CONTAINER_OF(node, struct gwwindow, node);
    struct gwwindow *window = calloc(1, sizeof(*window));
    if (window == NULL)
        return NULL;
    window->pads = malloc((size_t)GMC_GROUP_BLOCKS_MAX * group->channel->object.fragment_bytes);
    window->parity = malloc(PARITY_BATCH * parity_room(group));
    if (window->pads == NULL || window->parity == NULL) {
        free(window->pads);
        free(window->parity);
        free(window);
        return NULL;
    }
    return window;
}

/* Windows that every node has already: from before the group, mostly. False: not this one. */
static bool skip_had(struct gmc_gateway *gw, struct gwgroup *group, uint64_t window)
{
    struct gwchannel *ch = group->channel;
    uint32_t blocks = gmc_group_blocks(&ch->object);
    uint64_t lacked = gw_group_lacked(group, window * blocks), at;
    uint64_t end = lacked < ch->blocks ? lacked / blocks : group->windows;
    if (end <= window)
        return false;
    if (gmc_interval_first_present(&group->begun, window, end, &at))
        end = at;
    if (gmc_interval_add(&group->begun, window, end) != GMC_OK ||
        gmc_interval_add(&group->retired, window, end) != GMC_OK)
        ch->group_over = true; /* with the next step */
    gw_children_touch(gw, ch);
    return true;
}

/* False: it cannot be kept. */
static bool begin_window(struct gwgroup *group, uint64_t number)
{
    struct gwwindow *window = window_new(group);
    if (window == NULL)
        return false;
    if (gmc_interval_add(&group->begun, number, number + 1) != GMC_OK) {
        gmc_list_push_back(&group->spares, &window->node);
        return false;
    }
    gmc_group_shape(&group->channel->object, (uint32_t)number, &window->shape);
    window->out.window = (uint32_t)number;
    window->parity_count = 0;
    memset(window->blocks, 0, sizeof(window->blocks));
    memset(window->has, 0, sizeof(window->has));
    gmc_list_push_back(&group->prepared, &window->node);
    group->prepared_count++;
    return true;
}

static void set_shards(const struct gwgroup *group, struct gwwindow *window, uint32_t i)
{
    const struct gmc_object *object = &group->channel->object;
    const struct gmc_block *block = window->blocks[i];
    for (uint32_t f = 0; f < block->fragments; f++) {
        uint32_t source = window->shape.source_of[i] + f;
        const uint8_t *bytes = block->cipher + (size_t)f * object->fragment_bytes;
        uint32_t len = gmc_fragment_len(object, block->len, f);
        if (len < window->shape.shard_bytes) {
            uint8_t *pad = window->pads + (size_t)i * object->fragment_bytes;
            memcpy(pad, bytes, len);
            memset(pad + len, 0, window->shape.shard_bytes - len);
            bytes = pad;
        }
        window->shards[source] = bytes;
        window->tags[source] = block->tags[f];
    }
}

/* Is a block here and sealed? Else it is read, if that has not begun. What the store has lost comes
 * from the parent again, for which its place has to be free. */
static bool prepare_block(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window,
                          uint32_t i)
{
    struct gwchannel *ch = group->channel;
    uint32_t number = window->shape.first + i;
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
    if (block == NULL) {
        if (gw_has(ch, number))
            gw_block_read(gw, ch, number, false);
        return false;
    }
    if (block->state != GMC_BLOCK_VERIFIED)
        return false;
    if (gw_block_seal(gw, ch, block) != GMC_OK) {
        /* Sealed in part, and the plain bytes gone: once more from the store. */
        if (block->pins == 0) {
            gmc_block_pin(gw->cache, block);
            gmc_cache_remove(gw->cache, block);
        }
        return false;
    }
    gmc_block_pin(gw->cache, block);
    window->blocks[i] = block;
    set_shards(group, window, i);
    return true;
}

static bool prepare(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window)
{
    bool ready = true;
    for (uint32_t i = 0; i < window->shape.blocks; i++)
        if (window->blocks[i] == NULL)
            ready = prepare_block(gw, group, window, i) && ready;
    return ready;
}

/* Read ahead for the group is at most a quarter of the cache: blocks of windows that are not whole
 * yet must not keep the rest of them out. */
static bool is_prepared_enough(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    size_t blocks = (group->prepared_count + 1) * gmc_group_blocks(&group->channel->object);
    return group->prepared_count >= GW_GROUP_PREPARED_MAX ||
           (group->prepared_count > 0 && blocks > gmc_cache_bodies(gw->cache) / 4);
}

void gw_group_open_ready(struct gmc_gateway *gw, struct gwgroup *group)
{
    bool *over = &group->channel->group_over;
    uint64_t number;
    while (!*over && !is_prepared_enough(gw, group) && gw_group_next_window(group, &number))
        if (!skip_had(gw, group, number))
            *over = !begin_window(group, number);
    /* One is opened, and those behind it are read meanwhile. */
    bool is_open = false;
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &group->prepared)
    {
        struct gwwindow *window = GMC_CONTAINER_OF(node, struct gwwindow, node);
        if (!prepare(gw, group, window) || is_open)
            continue;
        gmc_list_remove(node);
        group->prepared_count--;
        gmc_group_tx_open(&group->tx, &window->out, gw->now, window->out.window,
                          window->shape.sources);
        is_open = gw_window_is_lacked(group, window);
        if (!is_open)
            gw_window_retire(gw, group, window); /* its links brought it meanwhile */
    }
}

const uint8_t *gw_window_parity(const struct gmc_gateway *gw, const struct gwgroup *group,
                                struct gwwindow *window, uint32_t index)
{
    const struct gmc_fec *fec = &gw->config.fec;
    uint32_t first = window->parity_first, shard = window->shape.shard_bytes;
    size_t room = parity_room(group);
    uint8_t *rows[PARITY_BATCH], *tags[PARITY_BATCH];
    if (index >= first && index - first < window->parity_count)
        return window->parity + room * (index - first);
    uint32_t end =
        window->out.promised < GMC_FEC_PARITY_MAX ? window->out.promised : GMC_FEC_PARITY_MAX;
    uint32_t count = end - index < PARITY_BATCH ? end - index : PARITY_BATCH;
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = window->parity + room * i;
        tags[i] = rows[i] + shard;
    }
    window->parity_count = 0;
    if (fec->ops->encode(fec->ctx, window->shape.sources, index, count, window->shards, shard,
                         rows) != GMC_OK ||
        fec->ops->encode(fec->ctx, window->shape.sources, index, count, window->tags,
                         GMC_SEAL_TAG_BYTES, tags) != GMC_OK)
        return NULL;
    window->parity_first = index;
    window->parity_count = count;
    return window->parity;
}
