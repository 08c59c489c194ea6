/* SPDX-License-Identifier: BSD-2-Clause */
/* Message channels: what is published here is cut, sealed and kept; what comes is opened, put
 * together and handed to the shell. Members, record and tree are those of any channel. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define RESTING_MAX 4u /* rings of 8 MiB each */

/* ---- life ---- */
bool gw_talk_init(struct gmc_gateway *gw, struct gwchannel *ch, const char *name,
                  enum gmc_message_order order)
{
    struct gwtalk *talk = calloc(1, sizeof(*talk));
    if (talk == NULL)
        return false;
    gw_text(talk->name, sizeof(talk->name), "%s", name);
    talk->order = order;
    gmc_message_ring_init(&talk->ring, gw->config.message_bytes);
    gmc_message_rx_init(&talk->rx, order, GMC_MESSAGE_PACKET_MIN, gw->config.crypto->ops->hash);
    talk->proofs.timer.channel = ch;
    ch->talk = talk;
    ch->digest_known = true; /* all zeros: of messages there is none */
    return true;
}

static void fini(struct gwtalk *talk)
{
    gmc_message_ring_fini(&talk->ring);
    gmc_message_rx_fini(&talk->rx);
}

/* Receivers that may go on keep what they have for children; the oldest of too many does not. */
static void limit_resting(struct gmc_gateway *gw)
{
    uint32_t count = 0;
    struct gwchannel *oldest = NULL;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (!ch->closing || ch->talk == NULL || ch->talk->ring.bytes == NULL)
            continue;
        count++;
        oldest = oldest == NULL ? ch : oldest;
    }
    if (count > RESTING_MAX)
        gmc_message_ring_fini(&oldest->talk->ring);
}

void gw_talk_reap(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtalk *talk = ch->talk;
    if (talk == NULL)
        return;
    if (ch->dst != NULL && ch->dst->phase != GW_DONE) {
        gw_proof_drop_unproven(gw, ch);
        gmc_message_rx_rest(&talk->rx);
        limit_resting(gw);
    } else {
        fini(talk);
    }
}

void gw_talk_free(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->talk == NULL)
        return;
    gw_proof_fini(gw, ch->talk);
    fini(ch->talk);
    free(ch->talk);
    ch->talk = NULL;
}

void gw_talk_go_on(struct gwchannel *ch, struct gwchannel *before)
{
    struct gwtalk *talk = ch->talk, *old = before->talk;
    if (talk == NULL || old == NULL || !old->rx.based || strcmp(old->name, talk->name) != 0 ||
        old->order != talk->order || old->rx.packet_bytes != talk->rx.packet_bytes)
        return;
    gmc_message_rx_fini(&talk->rx);
    talk->rx = old->rx;
    gmc_message_rx_init(&old->rx, old->order, talk->rx.packet_bytes, talk->rx.hash);
    if (old->ring.bytes != NULL && memcmp(ch->secret, before->secret, GMC_KEY_BYTES) == 0) {
        gmc_message_ring_fini(&talk->ring);
        talk->ring = old->ring;
        gmc_message_ring_init(&old->ring, talk->ring.capacity);
        talk->next = old->next;
    } else {
        talk->ring.low = talk->next = talk->rx.base;
    }
    talk->newest = old->newest;
    talk->sequence = old->sequence;
    ch->stored_bytes = before->stored_bytes;
}

void gw_talk_set_record(struct gmc_gateway *gw, struct gwchannel *ch, bool is_new)
{
    struct gwtalk *talk = ch->talk;
    if (!is_new)
        return;
    gw_set_timer(gw, &talk->proofs.timer, GMC_TIME_NEVER);
    talk->proofs.count = 0;
    size_t capacity = talk->ring.capacity;
    fini(talk);
    gmc_message_ring_init(&talk->ring, capacity);
    gmc_message_rx_init(&talk->rx, talk->order, ch->record.fragment_bytes,
                        gw->config.crypto->ops->hash);
    talk->next = talk->newest = 0;
}

/* ---- this gateway as the source ---- */
/* A member that may not even know the domain's node it was asked for has not said so yet. */
static bool is_unanswered(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    bool any = false;
    for (size_t i = 0; i < ch->src->member_count; i++)
        any = any || ch->src->members[i].state == GMC_MEMBER_WAITING;
    return any && gw->now < gw_patience_ends(gw, ch->opened_at);
}

void gw_talk_look_for_room(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtalk *talk = ch->talk;
    if (!talk->held || ch->closing || ch->state != GMC_CHANNEL_RUNNING || ch->aead == NULL ||
        (talk->ending && is_unanswered(gw, ch)) || !gw_talk_has_room(gw, ch, talk->wanted))
        return;
    talk->held = false;
    gw_out(gw, GMC_OUT_ROOM, gw->self)->output.id = ch->key.e;
}

gmc_status gw_talk_seal(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes head,
                        struct gmc_bytes piece, bool is_newest)
{
    struct gwtalk *talk = ch->talk;
    uint64_t number = talk->next;
    uint32_t len = (uint32_t)(head.len + piece.len);
    struct gmc_message_packet packet;
    gmc_status status = gmc_message_ring_put(&talk->ring, number, len, &packet);
    if (status != GMC_OK)
        return status;
    memcpy(packet.body, head.data, head.len);
    if (piece.len > 0)
        memcpy(packet.body + head.len, piece.data, piece.len);
    if (!gmc_proof_is(head))
        status = gw_proof_note(gw, ch, number, gmc_bytes(packet.body, len));
    uint8_t nonce[GMC_NONCE_BYTES], aad[18];
    uint32_t block = (uint32_t)(number >> 16);
    gw_seal_nonce(block, (uint16_t)number, nonce);
    if (status == GMC_OK)
        status = gw->config.crypto->ops->seal(ch->aead, nonce,
                                              gw_seal_aad(ch, block, (uint16_t)number, aad),
                                              packet.body, len, packet.body, packet.tag);
    if (status != GMC_OK) {
        gmc_message_ring_take_back(&talk->ring);
        return status;
    }
    if (is_newest)
        gw_hearers_set_newest(ch, number);
    talk->next++;
    gw_hearers_offer(gw, ch, number);
    return GMC_OK;
}

static gmc_status publish(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes message,
                          bool end)
{
    struct gwtalk *talk = ch->talk;
    if (ch->state != GMC_CHANNEL_RUNNING || ch->aead == NULL ||
        !gw_talk_has_room(gw, ch, message.len)) {
        talk->held = true;
        talk->wanted = message.len;
        return GMC_ERR_AGAIN;
    }
    size_t room = ch->object.fragment_bytes - GMC_MESSAGE_HEAD_BYTES, at = 0;
    struct gmc_message_head head = {.first = true, .end = end, .sequence = talk->sequence};
    uint8_t bytes[GMC_MESSAGE_HEAD_BYTES];
    do {
        size_t len = message.len - at < room ? message.len - at : room;
        head.last = at + len == message.len;
        gmc_message_head_put(bytes, &head);
        /* There is room, and the number is fresh: what is left is memory, before the first. */
        gmc_status status =
            gw_talk_seal(gw, ch, gmc_bytes(bytes, sizeof(bytes)), gmc_bytes(message.data + at, len),
                         head.first && !head.end);
        if (status != GMC_OK)
            return status;
        head.first = false;
        at += len;
    } while (at < message.len);
    gw_proof_message(gw, ch);
    gw_inbox_put(gw, ch,
                 &(struct gmc_message){.sequence = talk->sequence, .end = end, .body = message});
    talk->sequence += !end; /* which is behind the last one, and counts as none */
    return GMC_OK;
}

static gmc_status find_open(struct gmc_gateway *gw, uint64_t e, struct gwchannel **ch)
{
    *ch = gw_channel_find(gw, gw->domain, e);
    if (*ch == NULL || !(*ch)->is_source || (*ch)->talk == NULL)
        return GMC_ERR_NOT_FOUND;
    return (*ch)->closing || (*ch)->talk->ended ? GMC_ERR_STATE : GMC_OK;
}

gmc_status gmc_gateway_publish(struct gmc_gateway *gw, gmc_time now, uint64_t e,
                               struct gmc_bytes message)
{
    struct gwchannel *ch;
    gw_begin_input(gw, now);
    gmc_status status = find_open(gw, e, &ch);
    if (status != GMC_OK)
        return status;
    if (message.len > GMC_MESSAGE_BYTES_MAX)
        return GMC_ERR_LIMIT;
    return publish(gw, ch, message, false);
}

gmc_status gmc_gateway_end(struct gmc_gateway *gw, gmc_time now, uint64_t e, const char *reason)
{
    struct gwchannel *ch;
    gw_begin_input(gw, now);
    gmc_status status = find_open(gw, e, &ch);
    if (status != GMC_OK)
        return status;
    struct gmc_bytes text = gmc_bytes(reason, strlen(reason));
    if (text.len > GMC_TEXT_MAX)
        text.len = GMC_TEXT_MAX;
    /* Publishers leave with the end, and want to know before who gets nothing. */
    ch->talk->ending = true;
    if (is_unanswered(gw, ch)) {
        ch->talk->held = true;
        ch->talk->wanted = text.len;
        return GMC_ERR_AGAIN;
    }
    status = publish(gw, ch, text, true);
    if (status != GMC_OK)
        return status;
    ch->talk->ended = true;
    gw_source_step(gw, ch);
    return GMC_OK;
}

/* ---- this gateway as a receiver ---- */
/* The sealed bytes as they came: what children get. */
static void keep(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number,
                 const struct gmc_link_data *data)
{
    struct gmc_message_packet packet;
    if (gmc_message_ring_put(&ch->talk->ring, number, (uint32_t)data->body.len, &packet) != GMC_OK)
        return; /* older than what is kept */
    memcpy(packet.body, data->body.data, data->body.len);
    memcpy(packet.tag, data->seal_tag, GMC_SEAL_TAG_BYTES);
    gw_hearers_offer(gw, ch, number);
}

static void take_messages(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_message message;
    while (gmc_message_rx_next(&ch->talk->rx, &message)) {
        ch->talk->sequence = message.sequence + !message.end;
        if (message.end)
            ch->talk->ended = true;
        else
            ch->stored_bytes += message.body.len;
        gw_inbox_put(gw, ch, &message);
    }
    if (ch->talk->ended && ch->dst->phase == GW_RECEIVING) {
        ch->dst->phase = GW_DONE;
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "ended");
        gw_target_step(gw, ch);
    }
}

static gmc_status open_packet(struct gmc_gateway *gw, const struct gwchannel *ch,
                              const struct gmc_link_data *data, uint8_t *room)
{
    uint8_t nonce[GMC_NONCE_BYTES], aad[18];
    gw_seal_nonce(data->block, data->fragment, nonce);
    return gw->config.crypto->ops->open(ch->aead, nonce,
                                        gw_seal_aad(ch, data->block, data->fragment, aad),
                                        data->body.data, data->body.len, room, data->seal_tag);
}

/* What is forged is not kept for others. */
static gmc_status take_packet(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number,
                              struct gmc_bytes packet, bool needs_proof)
{
    struct gmc_message_rx *rx = &ch->talk->rx;
    if (gmc_proof_is(packet))
        return gw_proof_take(gw, ch, number, packet, needs_proof);
    gmc_status status = gmc_message_rx_put(rx, number, packet.len, !needs_proof);
    if (status == GMC_ERR_AUTH)
        return status;
    if (status != GMC_OK)
        gw->counts.dropped_malformed++;
    if (rx->unproven > 0)
        gw_proof_wait(gw, ch);
    return GMC_OK;
}

gmc_status gw_talk_data(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                        struct gwstripe *stripe, const struct gmc_link_data *data)
{
    struct gwtalk *talk = ch->talk;
    uint64_t number = gmc_message_number(data->block, data->fragment);
    uint8_t *room;
    if (ch->dst->phase < GW_RECEIVING || data->body.len < GMC_MESSAGE_HEAD_BYTES ||
        data->body.len > ch->object.fragment_bytes) {
        gw->counts.dropped_malformed++;
        return GMC_ERR_INVALID;
    }
    gmc_status status = gmc_message_rx_room(&talk->rx, number, &room);
    if (status == GMC_ERR_EXISTS) {
        gw->counts.dropped_duplicate++;
        return GMC_OK;
    }
    if (status != GMC_OK) {
        gw->counts.dropped_full++;
        return status;
    }
    if (open_packet(gw, ch, data, room) != GMC_OK) {
        gw->counts.dropped_seal++;
        gw_blame(gw, ch, stripe, "a packet that the source did not seal");
        return GMC_ERR_AUTH;
    }
    if (take_packet(gw, ch, number, gmc_bytes(room, data->body.len),
                    gw_proof_is_needed(gw, ch, peer)) != GMC_OK) {
        gw_proof_forged(gw, ch, stripe, "a packet that the source did not send");
        return GMC_ERR_AUTH;
    }
    talk->next = number < talk->next ? talk->next : number + 1;
    if (talk->newest != talk->rx.newest)
        gw_hearers_set_newest(ch, talk->rx.newest);
    keep(gw, ch, number, data);
    take_messages(gw, ch);
    return GMC_OK;
}

void gw_talk_on_skip(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     uint64_t floor)
{
    if (ch->talk == NULL || ch->dst == NULL || gw_stripe_server(&ch->stripes[0]) != peer->number ||
        floor >> GMC_MESSAGE_NUMBER_BITS != 0) {
        gw->counts.messages_refused++;
        return;
    }
    if (!ch->talk->rx.based)
        ch->talk->ring.low = floor;
    gmc_message_rx_skip(&ch->talk->rx, floor);
    gw_hearers_skip(gw, ch, floor);
    take_messages(gw, ch);
}

/* Subscribers of a receiver are told of the end that did not come; those of the source know it. */
void gw_talk_over(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtalk *talk = ch->talk;
    if (talk->ended)
        return;
    talk->ended = true;
    gw_inbox_put(gw, ch,
                 &(struct gmc_message){.sequence = talk->sequence,
                                       .end = true,
                                       .body = gmc_bytes(ch->reason, strlen(ch->reason))});
}
