/* SPDX-License-Identifier: BSD-2-Clause */
/* Message channels: what is published here is cut, sealed and kept; what comes is opened, put
 * together and handed to the shell. Members, record and tree are those of any channel. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

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
    gmc_message_rx_init(&talk->rx, order, GMC_MESSAGE_PACKET_MIN);
    ch->talk = talk;
    ch->digest_known = true; /* all zeros: of messages there is none */
    return true;
}

/* What it holds of messages; what status shows stays. */
void gw_talk_reap(struct gwchannel *ch)
{
    if (ch->talk == NULL)
        return;
    gmc_message_ring_fini(&ch->talk->ring);
    gmc_message_rx_fini(&ch->talk->rx);
}

void gw_talk_free(struct gwchannel *ch)
{
    gw_talk_reap(ch);
    free(ch->talk);
    ch->talk = NULL;
}

void gw_talk_set_record(struct gwchannel *ch, bool is_new)
{
    struct gwtalk *talk = ch->talk;
    if (!is_new)
        return;
    size_t capacity = talk->ring.capacity;
    gw_talk_reap(ch);
    gmc_message_ring_init(&talk->ring, capacity);
    gmc_message_rx_init(&talk->rx, talk->order, ch->record.fragment_bytes);
    talk->next = talk->newest = 0;
}

/* ---- the inbox ---- */
void gw_inbox_begin_input(struct gmc_gateway *gw)
{
    struct gwinbox *inbox = &gw->inbox;
    if (inbox->taken < inbox->count)
        return; /* the shell gives several inputs before it takes outputs */
    inbox->count = inbox->taken = 0;
    inbox->used = 0;
}

static void *grown(void *memory, size_t *room, size_t wanted, size_t size)
{
    size_t more = *room == 0 ? 64 : *room;
    while (more < wanted)
        more *= 2;
    void *bigger = realloc(memory, more * size);
    /* As with any output: the shell and the core must not have different ideas of the world. */
    GMC_ASSERT(bigger != NULL);
    *room = more;
    return bigger;
}

static void deliver(struct gmc_gateway *gw, const struct gwchannel *ch,
                    const struct gmc_message *message)
{
    struct gwinbox *inbox = &gw->inbox;
    size_t name_len = strlen(ch->talk->name) + 1, source_len = strlen(ch->key.source) + 1;
    size_t len = name_len + source_len + message->body.len;
    if (inbox->room - inbox->used < len)
        inbox->bytes = grown(inbox->bytes, &inbox->room, inbox->used + len, 1);
    if (inbox->count == inbox->capacity)
        inbox->arrived =
            grown(inbox->arrived, &inbox->capacity, inbox->count + 1, sizeof(*inbox->arrived));
    uint8_t *to = inbox->bytes + inbox->used;
    memcpy(to, ch->talk->name, name_len);
    memcpy(to + name_len, ch->key.source, source_len);
    if (message->body.len > 0)
        memcpy(to + name_len + source_len, message->body.data, message->body.len);
    inbox->arrived[inbox->count++] =
        (struct gwarrived){.from = ch->is_source ? gw->self : ch->source_peer->number,
                           .e = ch->key.e,
                           .sequence = message->sequence,
                           .at = inbox->used,
                           .len = len,
                           .end = message->end};
    inbox->used += len;
}

bool gw_inbox_next(struct gmc_gateway *gw, struct gmc_output *out)
{
    struct gwinbox *inbox = &gw->inbox;
    if (inbox->taken == inbox->count)
        return false;
    const struct gwarrived *arrived = &inbox->arrived[inbox->taken++];
    const char *name = (const char *)inbox->bytes + arrived->at;
    const char *source = name + strlen(name) + 1;
    const char *body = source + strlen(source) + 1;
    out->kind = GMC_OUT_MESSAGE;
    out->peer = arrived->from;
    out->id = 0;
    out->bytes = gmc_bytes(body, arrived->len - (size_t)(body - name));
    out->u.arrived = (struct gmc_arrived){.source = source,
                                          .name = name,
                                          .e = arrived->e,
                                          .sequence = arrived->sequence,
                                          .end = arrived->end};
    return true;
}

/* ---- this gateway as the source ---- */
static struct gwchannel *find_by_name(const struct gmc_gateway *gw, const char *name)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->is_source && !ch->closing && ch->talk != NULL && !ch->talk->ended &&
            strcmp(ch->talk->name, name) == 0)
            return ch;
    }
    return NULL;
}

/* DOMAIN or DOMAIN/INSIDE of a request, taken apart. */
struct listeners {
    struct gmc_stage_target *list; /* other domains */
    size_t count;
    const char *home; /* nodes of this domain, "" as it is configured; NULL: none were asked for */
    char *texts;      /* what list and home point into */
};

static void listeners_free(struct listeners *to)
{
    free(to->list);
    free(to->texts);
}

static gmc_status listeners_of(struct gmc_gateway *gw, const struct gmc_open_request *request,
                               struct listeners *to, const char **error)
{
    size_t size = 1;
    for (size_t i = 0; i < request->target_count; i++)
        size += strlen(request->targets[i]) + 2;
    *to = (struct listeners){.list = calloc(request->target_count + 1, sizeof(*to->list)),
                             .texts = malloc(size)};
    if (to->list == NULL || to->texts == NULL)
        return gw_say(gw, error, GMC_ERR_NOMEM, "no memory for the targets%s", "");
    char *at = to->texts;
    for (size_t i = 0; i < request->target_count; i++) {
        size_t len = strlen(request->targets[i]), domain = strcspn(request->targets[i], "/");
        memcpy(at, request->targets[i], len);
        at[domain] = at[len] = at[len + 1] = '\0';
        const char *inside = domain < len ? at + domain + 1 : "";
        if (gmc_inside_kind(inside) == GMC_INSIDE_SHARED || (domain < len && *inside == '\0'))
            return gw_say(gw, error, GMC_ERR_INVALID,
                          "messages do not go to \"%s\": write DOMAIN, DOMAIN/gateway, "
                          "DOMAIN/nodes, or DOMAIN/NODE+NODE",
                          request->targets[i]);
        if (strcmp(at, gw->domain) != 0)
            to->list[to->count++] =
                (struct gmc_stage_target){.domain = at, .path = "", .inside = inside};
        else if (to->home != NULL)
            return gw_say(gw, error, GMC_ERR_INVALID, "%s is named twice", gw->domain);
        else
            to->home = inside;
        at += len + 2;
    }
    return GMC_OK;
}

gmc_status gmc_gateway_open(struct gmc_gateway *gw, gmc_time now,
                            const struct gmc_open_request *request, struct gmc_channel_key *key,
                            const char **error)
{
    gw_begin_input(gw, now);
    if (!gmc_channel_name_ok(request->name))
        return gw_say(gw, error, GMC_ERR_INVALID,
                      "a channel's name is 1 to 128 printable characters, no space, no slash%s",
                      "");
    if (gw->config.node_of != NULL)
        return gw_say(gw, error, GMC_ERR_ACCESS, "publish through %s, the gateway of this domain",
                      gw->config.node_of);
    if (request->order > GMC_MESSAGES_LATEST || (unsigned)request->shape >= GMC_TREE_SHAPES)
        return gw_say(gw, error, GMC_ERR_INVALID, "unknown order or tree shape%s", "");
    if (find_by_name(gw, request->name) != NULL)
        return gw_say(gw, error, GMC_ERR_EXISTS, "channel %s is open already", request->name);
    struct listeners to;
    gmc_status status = listeners_of(gw, request, &to, error);
    struct gwchannel *ch =
        status == GMC_OK ? gw_source_new(gw, to.list, to.count, &status, error) : NULL;
    if (ch != NULL && !gw_talk_init(gw, ch, request->name, request->order))
        status = gw_say(gw, error, GMC_ERR_NOMEM, "no memory for another channel%s", "");
    else if (ch != NULL && to.home != NULL)
        status = gw_source_add_nodes(gw, ch, to.home, error);
    listeners_free(&to);
    if (ch == NULL)
        return status;
    if (status != GMC_OK) {
        gw_channel_free(gw, ch);
        return status;
    }
    ch->talk->held = true;
    ch->src->shape = request->shape;
    ch->src->scanned = true;
    ch->object = (struct gmc_object){.block_bytes = GW_BLOCK_BYTES,
                                     .fragment_bytes = GW_BLOCK_BYTES / GMC_FRAGMENTS_MAX};
    ch->object_known = true;
    *key = ch->key;
    gw_source_probe(gw, ch);
    return GMC_OK;
}

/* Other domains set the pace: they are farther than this domain's nodes, which would do so only
 * where they are alone. */
static bool sets_pace(const struct gwchannel *ch, const struct gwpeer *peer)
{
    return !peer->is_node || ch->src->member_count == ch->src->node_count;
}

static const struct gwchild *pacemaker(const struct gwchannel *ch, const struct gmc_list *node)
{
    const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
    return sets_pace(ch, child->peer) ? child : NULL;
}

/* The first packet that the child is not known to have got. Of the latest only, what was sent once
 * is enough. */
static uint64_t position_of(const struct gwtalk *talk, const struct gwchild *child)
{
    uint64_t first = gw_hearer_lacks(child, talk->order != GMC_MESSAGES_LATEST);
    return first < talk->next ? first : talk->next;
}

/* Of those that set the pace and do not lag; false: there are none. */
static bool find_farthest(const struct gwchannel *ch, uint64_t *farthest)
{
    struct gmc_list *node;
    bool any = false;
    *farthest = 0;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = pacemaker(ch, node);
        if (child == NULL || child->lags)
            continue;
        uint64_t position = position_of(ch->talk, child);
        *farthest = position > *farthest ? position : *farthest;
        any = true;
    }
    return any;
}

/* There is no room: whoever is half of what is kept behind the fastest is not waited for any more,
 * until he is nearly through again. One that lags goes on in the middle of what is kept
 * (gateway_message_tx.c), perhaps before those that are faster, so his place says nothing. True:
 * somebody fell behind. */
static bool leave_behind(struct gwchannel *ch)
{
    const struct gwtalk *talk = ch->talk;
    uint64_t kept = talk->next - talk->ring.low, farthest;
    struct gmc_list *node;
    bool any = false;
    if (!find_farthest(ch, &farthest))
        return false;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->lags || !sets_pace(ch, child->peer) ||
            farthest - position_of(talk, child) <= kept / 2)
            continue;
        child->lags = any = true;
    }
    return any;
}

/* They have nearly all, or nobody else is left. */
static void wait_again(struct gwchannel *ch)
{
    const struct gwtalk *talk = ch->talk;
    uint64_t kept = talk->next - talk->ring.low, farthest;
    bool none = !find_farthest(ch, &farthest);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (none || talk->next - position_of(talk, child) <= kept / 8)
            child->lags = false;
    }
}

/* The lowest packet that has to be kept. The publisher goes at the pace of the fastest: who is
 * about as fast is waited for, who lags is not. Of the latest only, one who has it is enough. */
static uint64_t lowest_wanted(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwtalk *talk = ch->talk;
    uint64_t farthest, lowest = talk->next;
    if (!find_farthest(ch, &farthest)) {
        bool waits = !talk->was_heard && gw_source_is_awaited(gw, ch) &&
                     gw->now < gmc_time_add(ch->opened_at, gw->config.patience);
        return waits ? 0 : talk->next;
    }
    if (talk->order == GMC_MESSAGES_LATEST)
        return farthest;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = pacemaker(ch, node);
        uint64_t position = child != NULL && !child->lags ? position_of(talk, child) : talk->next;
        lowest = position < lowest ? position : lowest;
    }
    return lowest;
}

void gw_talk_heard(struct gwchannel *ch, const struct gwpeer *peer)
{
    if (!ch->is_source || sets_pace(ch, peer))
        ch->talk->was_heard = true;
}

static size_t packets_of(const struct gwchannel *ch, size_t bytes)
{
    size_t room = ch->object.fragment_bytes - GMC_MESSAGE_HEAD_BYTES;
    return bytes == 0 ? 1 : (bytes + room - 1) / room;
}

static bool has_room(struct gmc_gateway *gw, struct gwchannel *ch, size_t bytes)
{
    struct gmc_message_ring *ring = &ch->talk->ring;
    size_t packets = packets_of(ch, bytes);
    size_t all = bytes + packets * GMC_MESSAGE_HEAD_BYTES;
    wait_again(ch);
    return gmc_message_ring_make_room(ring, lowest_wanted(gw, ch), packets, all) ||
           (leave_behind(ch) &&
            gmc_message_ring_make_room(ring, lowest_wanted(gw, ch), packets, all));
}

/* A member that may not even know the domain's node it was asked for has not said so yet. */
static bool is_unanswered(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    bool any = false;
    for (size_t i = 0; i < ch->src->member_count; i++)
        any = any || ch->src->members[i].state == GMC_MEMBER_WAITING;
    return any && gw->now < gmc_time_add(ch->opened_at, gw->config.patience);
}

void gw_talk_look_for_room(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtalk *talk = ch->talk;
    if (!talk->held || ch->closing || ch->state != GMC_CHANNEL_RUNNING || ch->aead == NULL ||
        (talk->ending && is_unanswered(gw, ch)) || !has_room(gw, ch, talk->wanted))
        return;
    talk->held = false;
    gw_out(gw, GMC_OUT_ROOM, gw->self)->output.id = ch->key.e;
}

static gmc_status seal_packet(struct gmc_gateway *gw, struct gwchannel *ch,
                              const struct gmc_message_head *head, struct gmc_bytes piece)
{
    struct gwtalk *talk = ch->talk;
    uint64_t number = talk->next;
    uint32_t len = (uint32_t)(GMC_MESSAGE_HEAD_BYTES + piece.len);
    struct gmc_message_packet packet;
    gmc_status status = gmc_message_ring_put(&talk->ring, number, len, &packet);
    if (status != GMC_OK)
        return status;
    gmc_message_head_put(packet.body, head);
    if (piece.len > 0)
        memcpy(packet.body + GMC_MESSAGE_HEAD_BYTES, piece.data, piece.len);
    uint8_t nonce[GMC_NONCE_BYTES], aad[18];
    uint32_t block = (uint32_t)(number >> 16);
    gw_seal_nonce(block, (uint16_t)number, nonce);
    status =
        gw->config.crypto->ops->seal(ch->aead, nonce, gw_seal_aad(ch, block, (uint16_t)number, aad),
                                     packet.body, len, packet.body, packet.tag);
    if (status != GMC_OK) {
        gmc_message_ring_take_back(&talk->ring);
        return status;
    }
    if (head->first && !head->end)
        talk->newest = number;
    talk->next++;
    gw_hearers_offer(gw, ch, number);
    return GMC_OK;
}

static gmc_status publish(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes message,
                          bool end)
{
    struct gwtalk *talk = ch->talk;
    if (ch->state != GMC_CHANNEL_RUNNING || ch->aead == NULL || !has_room(gw, ch, message.len)) {
        talk->held = true;
        talk->wanted = message.len;
        return GMC_ERR_AGAIN;
    }
    size_t room = ch->object.fragment_bytes - GMC_MESSAGE_HEAD_BYTES, at = 0;
    struct gmc_message_head head = {.first = true, .end = end, .sequence = talk->sequence};
    do {
        size_t len = message.len - at < room ? message.len - at : room;
        head.last = at + len == message.len;
        /* There is room, and the number is fresh: what is left is memory, before the first. */
        gmc_status status = seal_packet(gw, ch, &head, gmc_bytes(message.data + at, len));
        if (status != GMC_OK)
            return status;
        head.first = false;
        at += len;
    } while (at < message.len);
    deliver(gw, ch, &(struct gmc_message){.sequence = talk->sequence, .end = end, .body = message});
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
        deliver(gw, ch, &message);
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

gmc_status gw_talk_data(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                        const struct gmc_link_data *data)
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
    if (number >= talk->next) {
        struct gmc_message_head head;
        talk->next = number + 1;
        if (gmc_message_head_get(gmc_bytes(room, data->body.len), &head) == GMC_OK && head.first &&
            !head.end)
            talk->newest = number;
    }
    keep(gw, ch, number, data);
    if (gmc_message_rx_put(&talk->rx, number, data->body.len) != GMC_OK)
        gw->counts.dropped_malformed++;
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
    deliver(gw, ch,
            &(struct gmc_message){.sequence = talk->sequence,
                                  .end = true,
                                  .body = gmc_bytes(ch->reason, strlen(ch->reason))});
}
