/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes to the group: windows of blocks that are here, their repairs, and words of how far it
 * is. */
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
    struct gwwindow *window = gw_window_of(pick->out);
    size_t len = GMC_DATA_OVERHEAD_BYTES + window->shape.shard_bytes;
    size_t covered = len - GMC_DATA_HEAD_BYTES;
    struct gmc_data_head head = {.block = window->out.window, .fragment = (uint16_t)pick->index};
    if (!gw_has_room(gw, len > GMC_LINK_PACKET_MAX ? len : GMC_LINK_PACKET_MAX))
        return false;
    const uint8_t *parity = gw_window_parity(gw, group, window, pick->index);
    if (parity == NULL)
        return false;
    uint8_t *buffer = gw->arena + gw->arena_used;
    memcpy(buffer + GMC_DATA_HEAD_BYTES, parity, covered);
    if (gmc_gate_repair(&group->gate, group->next_packet, &head, buffer, covered) != GMC_OK)
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
        gw_group_open_ready(gw, group);
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
