/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes to the group: windows of blocks that are here, their repairs, and words of how far it
 * is. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_group_impl.h"

#define LATE_TIME GMC_MS(8) /* that a late host makes up for, but no more than so many bytes */
#define LATE_BYTES 262144u
#define YIELD_MEMORY GMC_S(2) /* as links have it: more messages are likely to come */
#define YIELD_PART 32u        /* of the rate, that is left free then */
/* Links pay for what they carry to nodes, acknowledgements alone perhaps. Where the rate has become
 * low that would leave nothing of it: one part of so many is always the group's. */
#define TURN_PARTS 4u
#define TELL_WAIT GMC_MS(2) /* between two words to the group, unless nothing else is sent */

static uint64_t end_of(const struct gwchannel *ch, uint64_t window)
{
    uint64_t end = (window + 1) * gmc_group_blocks(&ch->object);
    return end < ch->blocks ? end : ch->blocks;
}

/* The next window that nobody was sent and all of which is here. */
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

static struct gwwindow *window_new(struct gwgroup *group)
{
    struct gmc_list *node = gmc_list_pop_front(&group->spares);
    if (node != NULL)
        return GMC_CONTAINER_OF(node, struct gwwindow, node);
    struct gwwindow *window = calloc(1, sizeof(*window));
    if (window == NULL)
        return NULL;
    window->pads = malloc((size_t)GMC_GROUP_BLOCKS_MAX * group->channel->object.fragment_bytes);
    if (window->pads == NULL) {
        free(window);
        return NULL;
    }
    gmc_list_init(&window->node);
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

static void open_ready(struct gmc_gateway *gw, struct gwgroup *group)
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

static struct gmc_dgram_out *begin_dgram(struct gmc_output *out)
{
    memset(&out->u.dgram, 0, sizeof(out->u.dgram));
    out->kind = GMC_OUT_DATAGRAM;
    out->peer = GMC_PEER_NONE;
    out->u.dgram.path = GMC_PATH_GROUP;
    out->u.dgram.peer = GMC_PEER_NONE;
    return &out->u.dgram;
}

static bool send_source(struct gmc_gateway *gw, struct gwgroup *group,
                        const struct gmc_group_pick *pick, struct gmc_dgram_out *out)
{
    struct gwchannel *ch = group->channel;
    struct gwwindow *window = gw_window_of(pick->out);
    struct gmc_data_head head = {0};
    if (!gw_has_room(gw, GMC_LINK_PACKET_MAX))
        return false;
    gmc_group_source(&window->shape, pick->index, &head.block, &head.fragment);
    struct gmc_block *block = window->blocks[head.block - window->shape.first];
    uint32_t len = gmc_fragment_len(&ch->object, block->len, head.fragment);
    if (gmc_gate_head(&group->gate, GMC_KIND_GROUP_DATA, group->next_packet, &head,
                      block->tags[head.fragment], out->head) != GMC_OK)
        return false;
    out->head_len = GMC_DATA_HEAD_BYTES;
    out->body = gmc_bytes(block->cipher + (size_t)head.fragment * ch->object.fragment_bytes, len);
    out->tail = gmc_bytes(block->tags[head.fragment], GMC_SEAL_TAG_BYTES);
    gw_lend(gw, block);
    gw->counts.data_bytes_out += len;
    return true;
}

static bool send_parity(struct gmc_gateway *gw, struct gwgroup *group,
                        const struct gmc_group_pick *pick, struct gmc_dgram_out *out)
{
    const struct gmc_fec *fec = &gw->config.fec;
    struct gwwindow *window = gw_window_of(pick->out);
    uint32_t shard = window->shape.shard_bytes;
    size_t len = GMC_DATA_OVERHEAD_BYTES + shard;
    struct gmc_data_head head = {.block = window->out.window, .fragment = (uint16_t)pick->index};
    if (!gw_has_room(gw, len > GMC_LINK_PACKET_MAX ? len : GMC_LINK_PACKET_MAX))
        return false;
    uint8_t *buffer = gw->arena + gw->arena_used;
    uint8_t *parity = buffer + GMC_DATA_HEAD_BYTES;
    if (fec->ops->encode(fec->ctx, window->shape.sources, pick->index, window->shards, shard,
                         parity) != GMC_OK ||
        fec->ops->encode(fec->ctx, window->shape.sources, pick->index, window->tags,
                         GMC_SEAL_TAG_BYTES, parity + shard) != GMC_OK ||
        gmc_gate_repair(&group->gate, group->next_packet, &head, buffer,
                        shard + GMC_SEAL_TAG_BYTES) != GMC_OK)
        return false;
    gw->arena_used += len;
    out->body = gmc_bytes(buffer, len);
    return true;
}

static bool send_state(struct gmc_gateway *gw, struct gwgroup *group, struct gmc_dgram_out *out)
{
    struct gmc_group_state state = {.members = (uint16_t)gw_group_hearing(group),
                                    .backoff_us = (uint32_t)(group->backoff / GMC_US(1))};
    if (!gw_has_room(gw, GMC_LINK_PACKET_MAX))
        return false;
    gmc_group_tx_state(&group->tx, &state);
    uint8_t *buffer = gw->arena + gw->arena_used;
    size_t len = gmc_group_state_put(&state, buffer + GMC_HEAD_BYTES);
    if (gmc_gate_seal(&group->gate, GMC_KIND_GROUP_STATE, group->next_packet, buffer, len) !=
        GMC_OK)
        return false;
    out->body = gmc_bytes(buffer, len + GMC_GATE_OVERHEAD);
    gw->arena_used += out->body.len;
    group->told_at = gw->now;
    group->told_packet = group->next_packet;
    return true;
}

/* When the group is to hear how far it is; NEVER. */
gmc_time gw_group_tell_time(const struct gwgroup *group)
{
    bool asked = false;
    for (size_t i = 0; i < group->count; i++)
        asked = asked || (group->listeners[i].state == GW_ASKED && !group->listeners[i].deaf_said);
    /* The first window waits for whoever has not heard the group yet. */
    if (gmc_group_tx_has_news(&group->tx) || (asked && group->tx.turns == 0))
        return gmc_time_add(group->told_at, TELL_WAIT);
    if (asked || group->tx.count > 0)
        return gmc_time_add(group->told_at, GW_TELL_AGAIN);
    return GMC_TIME_NEVER;
}

static bool send_one(struct gmc_gateway *gw, struct gwgroup *group, struct gmc_dgram_out *out)
{
    struct gmc_group_pick pick;
    /* At a low rate a word is always due: every other datagram is data nevertheless. */
    bool spoke = group->told_packet + 1 == group->next_packet && group->next_packet > 0;
    if (gw->now >= gw_group_tell_time(group) && !(spoke && gmc_group_tx_next(&group->tx, &pick)))
        return send_state(gw, group, out);
    if (!gmc_group_tx_next(&group->tx, &pick)) {
        if (!gw_group_is_gathered(gw, group) || gw_group_is_full(gw, group))
            return false;
        open_ready(gw, group);
        if (!gmc_group_tx_next(&group->tx, &pick))
            return false;
    }
    bool is_repair = pick.out->sources_sent == pick.out->sources;
    bool sent = pick.piece == GMC_GROUP_SOURCE ? send_source(gw, group, &pick, out)
                                               : send_parity(gw, group, &pick, out);
    if (!sent)
        return false;
    gmc_group_tx_sent(&group->tx, gw->now, &pick);
    gw->counts.group_repairs += is_repair;
    return true;
}

/* Messages pass: they go first, but behind what is in the port's queue already. So nothing is to
 * stand there: no batch to make up for lateness, and a little less than the port carries, which
 * lets a queue go. */
static bool yields(const struct gmc_gateway *gw)
{
    return gw->now < gw->group_yields_until;
}

/* A busy host wakes us late, or its nodes let us wait. What then goes at once has to fit into the
 * queue of a port, which was empty meanwhile. */
static void set_slack(struct gmc_gateway *gw)
{
    gw->group_pace.slack = 0;
    if (yields(gw))
        return;
    gmc_duration room = gmc_duration_of_bytes(LATE_BYTES, gw->group_pace.rate_bps);
    if (room > LATE_TIME)
        room = LATE_TIME;
    gw->group_pace.slack = room;
}

void gw_groups_yield(struct gmc_gateway *gw, const struct gwpeer *peer)
{
    if (peer->is_node)
        gw->group_yields_until = gmc_time_add(gw->now, YIELD_MEMORY);
}

/* No sooner than a batch would be due without links: one datagram at a time would wake the host too
 * often. */
static gmc_time turn_after(const struct gmc_gateway *gw, size_t bytes)
{
    gmc_duration own = TURN_PARTS * gmc_duration_of_bytes(bytes, gw->group_pace.rate_bps);
    return gmc_time_add(gw->now, GMC_PACE_WAKE + own);
}

bool gw_groups_may_send(const struct gmc_gateway *gw)
{
    return gw->group_pace.paid_until <= gw->now || gw->group_turn <= gw->now;
}

bool gw_groups_send(struct gmc_gateway *gw, struct gmc_output *out)
{
    struct gmc_list *node, *after;
    if (gw->arena_full || !gw_groups_may_send(gw))
        return false;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->groups)
    {
        struct gwgroup *group = GMC_CONTAINER_OF(node, struct gwgroup, node);
        struct gmc_dgram_out *dgram = begin_dgram(out);
        if (!send_one(gw, group, dgram))
            continue;
        group->next_packet++;
        gw->counts.group_sent++;
        set_slack(gw);
        size_t bytes = gmc_dgram_out_len(dgram) + GMC_LINK_WIRE_BYTES;
        gw->group_round.sent += bytes;
        if (yields(gw))
            bytes += bytes / YIELD_PART;
        gmc_pace_pay(&gw->group_pace, gw->now, bytes);
        gw->group_turn = turn_after(gw, bytes);
        gmc_list_remove(node);
        gmc_list_push_back(&gw->groups, node);
        return true;
    }
    return false;
}
