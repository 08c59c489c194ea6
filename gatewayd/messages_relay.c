/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishers at a node. Their frames go to the gateway in requests over the link, one of a
 * publisher at a time, and the gateway answers when it has taken what is in it: so the publisher
 * goes at the pace of the channel, as it would at the gateway. There it is one publisher like
 * others.
 *
 * A request: ff 'g' 'm' 'p', the publisher's number u64, then OPEN, PIECES or END (wire/local.h);
 * its answer is one of OPENED, ACCEPTED, OVER, REFUSED. A channel that ends by itself is told the
 * node in a request of the gateway, with OVER in it, and so are WARNINGs. */
#include <stdlib.h>
#include <string.h>

#include "gatewayd/messages_int.h"
#include "gatewayd/text.h"

#define HEAD_BYTES 12u
#define PIECES_BYTES (256u << 10) /* in a request */
#define ASKED_BYTES (2u << 20)    /* of a node, not answered; the link's stream holds twice that */
#define PUBLISHERS_MAX 128        /* of a node: half the requests that the core keeps open */

static const uint8_t magic[4] = {0xff, 'g', 'm', 'p'};

static void put_head(uint8_t out[HEAD_BYTES], uint64_t number)
{
    memcpy(out, magic, sizeof magic);
    gmc_put64(out + sizeof magic, number);
}

static bool get_head(struct gmc_bytes bytes, uint64_t *number, struct gmc_bytes *frame)
{
    if (bytes.len < HEAD_BYTES || memcmp(bytes.data, magic, sizeof magic) != 0)
        return false;
    *number = gmc_get64(bytes.data + sizeof magic);
    *frame = gmc_bytes(bytes.data + HEAD_BYTES, bytes.len - HEAD_BYTES);
    return true;
}

/* ---- at the gateway ---- */
static struct gwd_caller caller_of(gmc_peer peer, uint64_t number, uint64_t request)
{
    struct gwd_caller who = {.peer = peer, .request = request};
    who.id.len = sizeof number;
    gmc_put64(who.id.id, number);
    return who;
}

void gwd_relay_answer(struct gwd_messages *m, struct gwd_message_client *client,
                      const struct gmc_local *local)
{
    uint8_t head[HEAD_BYTES];
    size_t len = gmc_local_put(local, NULL, 0);
    uint8_t *bytes = malloc(HEAD_BYTES + len);
    if (bytes == NULL)
        return; /* the node gives the publisher up with the link */
    (void)gmc_local_put(local, bytes + HEAD_BYTES, len);
    if (client->who.request != 0 && local->kind != GMC_LOCAL_WARNING) {
        gwd_drive_answer(m->config.drive, m->config.now(), client->who.peer, client->who.request,
                         gmc_bytes(bytes + HEAD_BYTES, len));
        client->who.request = 0;
    } else if (local->kind == GMC_LOCAL_OVER || local->kind == GMC_LOCAL_WARNING) {
        put_head(head, gmc_get64(client->who.id.id));
        memcpy(bytes, head, HEAD_BYTES);
        (void)gwd_drive_forward(m->config.drive, m->config.now(), client->who.peer, GWD_RELAY_IDS,
                                gmc_bytes(bytes, HEAD_BYTES + len));
    }
    free(bytes);
}

/* False when memory or a limit ends the publisher. */
static bool take_piece(struct gwd_messages *m, struct gwd_message_client *client,
                       const struct gmc_local_piece *piece)
{
    zmq_msg_t frame;
    size_t len = client->part_len + piece->bytes.len;
    if (piece->more || client->part_len > 0) {
        uint8_t *grown = len <= GMC_MESSAGE_BYTES_MAX + 1 ? realloc(client->part, len + 1) : NULL;
        if (grown == NULL)
            return false;
        client->part = grown;
        if (piece->bytes.len > 0)
            memcpy(grown + client->part_len, piece->bytes.data, piece->bytes.len);
        client->part_len = len;
        if (piece->more)
            return true;
    }
    if (zmq_msg_init_size(&frame, len + 1) != 0)
        return false;
    uint8_t *to = zmq_msg_data(&frame);
    to[0] = GMC_LOCAL_PUBLISH;
    if (len > 0)
        memcpy(to + 1, client->part_len > 0 ? client->part : piece->bytes.data, len);
    client->part_len = 0;
    gwd_messages_publish(m, client, &frame);
    (void)zmq_msg_close(&frame);
    return true;
}

static void take_pieces(struct gwd_messages *m, const struct gwd_caller *who,
                        struct gwd_message_client *client, struct gmc_bytes rest)
{
    struct gmc_local_piece piece;
    client->who.request = who->request;
    while (client != NULL && gmc_local_next_piece(&rest, &piece)) {
        if (!take_piece(m, client, &piece))
            break;
        client = gwd_messages_find(m, who); /* a channel that is over has freed it */
    }
    if (client == NULL || rest.len == 0)
        return;
    gwd_messages_refuse(m, &client->who, "a message of a node is malformed or too long");
    client->who.request = 0;
    gwd_messages_leave(m, client, "its publisher broke a limit", true);
}

static void from_node(struct gwd_messages *m, const struct gwd_caller *who, struct gmc_bytes frame)
{
    struct gwd_message_client *client = gwd_messages_find(m, who);
    struct gmc_local local;
    if (gmc_local_get(frame, &local) != GMC_OK || (client != NULL && client->who.request != 0)) {
        gwd_messages_refuse(m, who, "this gateway does not understand what it was asked");
        return;
    }
    bool publishes = client != NULL && !client->ending;
    if (local.kind == GMC_LOCAL_OPEN && client == NULL) {
        gwd_messages_open(m, who, &local);
    } else if (local.kind == GMC_LOCAL_PIECES && publishes) {
        take_pieces(m, who, client, local.rest);
    } else if (local.kind == GMC_LOCAL_END && publishes) {
        client->who.request = who->request;
        gwd_messages_leave(m, client, local.text, false);
    } else {
        gwd_messages_refuse(m, who,
                            "this gateway does not know the channel (any more): open it anew");
    }
}

/* ---- at a node ---- */
static gmc_peer gateway_of(const struct gwd_messages *m)
{
    return gwd_drive_peer(m->config.drive, m->config.now(), m->config.gateway);
}

static bool ask(struct gwd_messages *m, struct gwd_message_client *client, uint8_t *bytes,
                size_t len)
{
    put_head(bytes, client->number);
    client->asked = GWD_RELAY_IDS | ++m->asked;
    if (gwd_drive_forward(m->config.drive, m->config.now(), gateway_of(m), client->asked,
                          gmc_bytes(bytes, len)) != GMC_OK) {
        client->asked = 0;
        return false;
    }
    client->asked_bytes = len;
    m->asked_bytes += len;
    return true;
}

static void answered(struct gwd_messages *m, struct gwd_message_client *client)
{
    m->asked_bytes -= client->asked_bytes;
    client->asked = client->asked_bytes = 0;
}

static void give_up(struct gwd_messages *m, struct gwd_message_client *client, const char *text)
{
    answered(m, client);
    if (!client->gone)
        (void)gwd_messages_say(m, client,
                               &(struct gmc_local){.kind = GMC_LOCAL_OVER, .text = text});
    gwd_messages_client_free(m, client);
}

static bool ask_frame(struct gwd_messages *m, struct gwd_message_client *client,
                      struct gmc_bytes frame)
{
    uint8_t *bytes = malloc(HEAD_BYTES + frame.len);
    if (bytes == NULL)
        return false;
    memcpy(bytes + HEAD_BYTES, frame.data, frame.len);
    bool asked = ask(m, client, bytes, HEAD_BYTES + frame.len);
    free(bytes);
    return asked;
}

void gwd_relay_open(struct gwd_messages *m, const struct gwd_caller *who, struct gmc_bytes frame)
{
    char text[GMC_DOMAIN_NAME_MAX + 64];
    size_t publishers = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        publishers += GMC_CONTAINER_OF(node, struct gwd_message_client, node)->is_publisher;
    }
    struct gwd_message_client *client =
        publishers < PUBLISHERS_MAX ? gwd_messages_client_new(m, who) : NULL;
    if (client == NULL) {
        gwd_messages_refuse(m, who, "this node has as many publishers as it takes");
        return;
    }
    client->is_publisher = true;
    client->number = ++m->asked;
    if (ask_frame(m, client, frame))
        return;
    gwd_text(text, sizeof text, "%s, the gateway of this node, is not connected; try again",
             m->config.gateway);
    gwd_messages_refuse(m, who, text);
    gwd_messages_client_free(m, client);
}

/* The first of those that wait goes, when all of it is on its way. Returns the bytes of its piece.
 */
static size_t put_piece(struct gwd_message_client *client, uint8_t *out, size_t room)
{
    struct gwd_waiting *first =
        GMC_CONTAINER_OF(gmc_list_first(&client->waiting), struct gwd_waiting, node);
    size_t whole = zmq_msg_size(&first->frame) - 1, left = whole - client->piece_at;
    size_t len = left < room - GMC_LOCAL_PIECE_HEAD ? left : room - GMC_LOCAL_PIECE_HEAD;
    const uint8_t *from = (const uint8_t *)zmq_msg_data(&first->frame) + 1 + client->piece_at;
    gmc_local_put_piece(out, len < left, len);
    if (len > 0)
        memcpy(out + GMC_LOCAL_PIECE_HEAD, from, len);
    client->piece_at += len;
    if (len < left)
        return GMC_LOCAL_PIECE_HEAD + len;
    client->piece_at = 0;
    client->waiting_count--;
    client->waiting_bytes -= whole + 1;
    gmc_list_remove(&first->node);
    (void)zmq_msg_close(&first->frame);
    free(first);
    return GMC_LOCAL_PIECE_HEAD + len;
}

static bool ask_pieces(struct gwd_messages *m, struct gwd_message_client *client)
{
    size_t room = client->waiting_bytes + client->waiting_count * GMC_LOCAL_PIECE_HEAD;
    size_t len = HEAD_BYTES + 1, size = len + (room < PIECES_BYTES ? room : PIECES_BYTES);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        return false;
    bytes[HEAD_BYTES] = GMC_LOCAL_PIECES;
    while (gmc_list_first(&client->waiting) != NULL && size - len > GMC_LOCAL_PIECE_HEAD)
        len += put_piece(client, bytes + len, size - len);
    bool asked = ask(m, client, bytes, len);
    free(bytes);
    return asked;
}

static bool ask_end(struct gwd_messages *m, struct gwd_message_client *client)
{
    uint8_t frame[GMC_TEXT_MAX + 2];
    char text[GMC_TEXT_MAX + 1];
    gwd_text(text, sizeof text, "%s", client->reason);
    size_t len = gmc_local_put(&(struct gmc_local){.kind = GMC_LOCAL_END, .text = text}, frame,
                               sizeof frame);
    return ask_frame(m, client, gmc_bytes(frame, len));
}

void gwd_relay_pump(struct gwd_messages *m, struct gwd_message_client *client)
{
    bool ok = true;
    if (client->asked != 0 || m->asked_bytes > ASKED_BYTES)
        return;
    if (client->waiting_count > 0)
        ok = ask_pieces(m, client);
    else if (client->ending)
        ok = ask_end(m, client);
    if (!ok)
        give_up(m, client, "the link to this node's gateway was lost: open the channel anew");
}

static struct gwd_message_client *find_asked(const struct gwd_messages *m, uint64_t id)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (client->asked == id)
            return client;
    }
    return NULL;
}

static void pump_all(struct gwd_messages *m)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (client->is_publisher)
            gwd_relay_pump(m, client);
    }
}

static void take_answer(struct gwd_messages *m, struct gwd_message_client *client,
                        struct gmc_bytes frame)
{
    struct gmc_local local;
    if (gmc_local_get(frame, &local) != GMC_OK) {
        give_up(m, client, "the link to this node's gateway was lost: open the channel anew");
        return;
    }
    answered(m, client);
    if (local.kind == GMC_LOCAL_ACCEPTED)
        client->accepted = local.number;
    else if (!client->gone)
        (void)gwd_messages_say(m, client, &local);
    if (local.kind == GMC_LOCAL_OVER || local.kind == GMC_LOCAL_REFUSED)
        gwd_messages_client_free(m, client);
}

void gwd_messages_reply(struct gwd_messages *m, uint64_t id, struct gmc_bytes reply)
{
    struct gwd_message_client *client = m->config.gateway != NULL ? find_asked(m, id) : NULL;
    if (client == NULL)
        return;
    take_answer(m, client, reply);
    gwd_messages_tell_accepted(m);
    pump_all(m);
}

static void from_gateway(struct gwd_messages *m, uint64_t number, struct gmc_bytes frame)
{
    struct gmc_list *node, *after;
    struct gmc_local local;
    bool is_warning = gmc_local_get(frame, &local) == GMC_OK && local.kind == GMC_LOCAL_WARNING;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (!client->is_publisher || client->number != number)
            continue;
        if (is_warning && !client->gone)
            (void)gwd_messages_say(m, client, &local);
        else if (!is_warning)
            take_answer(m, client, frame);
    }
}

/* ---- either ---- */
bool gwd_messages_request(struct gwd_messages *m, gmc_peer peer, uint64_t id,
                          struct gmc_bytes request)
{
    uint64_t number;
    struct gmc_bytes frame;
    if (!get_head(request, &number, &frame))
        return false;
    if (m->config.gateway != NULL) {
        from_gateway(m, number, frame);
        gwd_drive_answer(m->config.drive, m->config.now(), peer, id, gmc_bytes(NULL, 0));
        return true;
    }
    struct gwd_caller who = caller_of(peer, number, id);
    from_node(m, &who, frame);
    gwd_messages_tell_accepted(m);
    return true;
}

void gwd_messages_lost(struct gwd_messages *m, gmc_peer peer)
{
    struct gmc_list *node, *after;
    bool is_node = m->config.gateway != NULL;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (is_node && client->is_publisher && peer == gateway_of(m)) {
            give_up(m, client, "the link to this node's gateway was lost: open the channel anew");
        } else if (!is_node && client->who.peer == peer) {
            client->who.request = 0;
            gwd_messages_leave(m, client, "its publisher is gone", true);
        }
    }
}
