/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams in messages: see fabric.h. */
#include "fabric/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/list.h"
#include "fabric/batch.h"

#define SENDS 256u        /* messages */
#define RECEIVES 128u     /* that may come before we look */
#define PEER_MESSAGES 64u /* of one peer, at most */
#define PEER_POSTED 16u   /* of these handed to the wire: those cannot be taken back */
#define BATCH_BYTES 16000u
#define BATCH_BYTES_LEAST 2000u
#define MESSAGE_BYTES (FAB_BATCH_HEAD_BYTES + FAB_BATCH_EACH_BYTES + FAB_DATAGRAM_MAX + 11u)
#define LOST_AFTER GMC_S(2)
#define HOLDS_MAX GMC_MS(50) /* for so long a peer may keep all others waiting, */
#define HOLDS_IN GMC_S(1)    /* in this time */
#define ROUND 64             /* messages */

struct message {
    struct fab_op op; /* first */
    struct gmc_list node;
    struct fab_peer *peer;
    uint8_t *data;
    size_t len;
    unsigned datagrams; /* in one to send */
};

struct fab_peer {
    struct gmc_list node; /* in fab->peers */
    struct fab *fab;
    void *owner;
    uint64_t to;
    struct message *open;    /* not full yet */
    struct gmc_list waiting; /* full, in order */
    unsigned posted, held;   /* messages: handed over; these, waiting and open */
    gmc_time moved;          /* when the wire last took or finished one, or nothing was there */
    bool is_reached;
    bool is_full; /* counted in fab->full: everybody waits for it */
    gmc_time full_since;
    gmc_time counted_since; /* what counted is of */
    gmc_duration counted;   /* that others waited for it, without the present time */
    bool lost, told;
    bool gone; /* its owner knows it no more: freed with its last message */
    char reason[128];
};

struct fab {
    struct fab_wire wire;
    struct fab_owner owner;
    uint64_t id;
    uint8_t *memory;
    struct message *messages;
    struct gmc_list idle;   /* messages to send that nobody has */
    struct gmc_list unread; /* messages to receive that the wire did not take yet */
    struct gmc_list peers;
    size_t message_bytes; /* longest */
    size_t batch_bytes;   /* of several datagrams */
    unsigned held;        /* messages of all peers */
    unsigned peer_count;
    unsigned peer_max; /* messages of one peer: all of them together leave some */
    unsigned full;     /* peers that take messages, and have to take some first */
    bool is_broken;
    char reason[256];
    struct fab_stats stats;
};

/* ---- messages ---- */
/* For how long others have waited for it of late. */
static gmc_duration others_waited(struct fab_peer *peer, gmc_time now)
{
    if (gmc_time_sub(now, peer->counted_since) >= HOLDS_IN) {
        peer->counted_since = now;
        peer->counted = 0;
    }
    gmc_time since =
        peer->full_since > peer->counted_since ? peer->full_since : peer->counted_since;
    return peer->counted + (peer->is_full ? gmc_time_sub(now, since) : 0);
}

/* Whether everybody waits for this peer: not for one that is slower than what comes for it. */
static void count_full(struct fab_peer *peer, gmc_time now)
{
    gmc_duration waited = others_waited(peer, now);
    bool is_full = peer->held >= peer->fab->peer_max && !peer->lost && waited < HOLDS_MAX;
    if (is_full && !peer->is_full) {
        peer->fab->full++;
        peer->full_since = now;
    } else if (!is_full && peer->is_full) {
        peer->fab->full--;
        peer->counted = waited;
    }
    peer->is_full = is_full;
}

static void moves(struct fab_peer *peer, gmc_time now)
{
    peer->moved = now;
    count_full(peer, now);
}

static void release(struct fab *fab, struct message *message, gmc_time now)
{
    struct fab_peer *peer = message->peer;
    gmc_list_remove(&message->node);
    gmc_list_push_back(&fab->idle, &message->node);
    peer->held--;
    fab->held--;
    count_full(peer, now);
}

static void drop(struct fab *fab, struct message *message, gmc_time now)
{
    fab->stats.dropped += message->datagrams;
    release(fab, message, now);
}

/* What waits for a peer, and not what the wire has. */
static void drop_waiting(struct fab_peer *peer, gmc_time now)
{
    struct fab *fab = peer->fab;
    struct gmc_list *node;
    if (peer->open != NULL)
        drop(fab, peer->open, now);
    peer->open = NULL;
    while ((node = gmc_list_first(&peer->waiting)) != NULL)
        drop(fab, GMC_CONTAINER_OF(node, struct message, node), now);
}

static void lose(struct fab_peer *peer, gmc_time now, const char *reason)
{
    if (peer->lost)
        return;
    peer->lost = true;
    (void)snprintf(peer->reason, sizeof peer->reason, "%s", reason);
    drop_waiting(peer, now);
    count_full(peer, now);
}

/* What one may have, with this many more peers or less. */
static void count_peers(struct fab *fab, int more)
{
    fab->peer_count += (unsigned)more;
    unsigned share = SENDS / (fab->peer_count + 1);
    fab->peer_max = share < PEER_MESSAGES ? share : PEER_MESSAGES;
}

static void end_peer(struct fab_peer *peer)
{
    count_peers(peer->fab, -1);
    peer->fab->wire.ops->forget(peer->fab->wire.ctx, peer->to);
    gmc_list_remove(&peer->node);
    free(peer);
}

static void post_receive(struct fab *fab, struct message *message)
{
    gmc_list_remove(&message->node);
    if (fab->wire.ops->receive(fab->wire.ctx, message->data, fab->message_bytes, &message->op) !=
        FAB_POSTED)
        gmc_list_push_back(&fab->unread, &message->node);
}

static void post_receives(struct fab *fab)
{
    struct gmc_list *node, *last = gmc_list_last(&fab->unread);
    while ((node = gmc_list_first(&fab->unread)) != NULL) {
        post_receive(fab, GMC_CONTAINER_OF(node, struct message, node));
        if (node == last)
            return;
    }
}

static void post(struct fab_peer *peer, gmc_time now)
{
    struct fab *fab = peer->fab;
    struct gmc_list *node;
    while (peer->posted < PEER_POSTED && (node = gmc_list_first(&peer->waiting)) != NULL) {
        struct message *message = GMC_CONTAINER_OF(node, struct message, node);
        enum fab_posted result =
            fab->wire.ops->send(fab->wire.ctx, peer->to, message->data, message->len, &message->op);
        if (result == FAB_BUSY) {
            fab->stats.busy++;
            return;
        }
        if (result == FAB_FAILED) {
            fab->stats.failed++;
            lose(peer, now, fab->wire.ops->error(fab->wire.ctx));
            return;
        }
        gmc_list_remove(node);
        peer->posted++;
        moves(peer, now);
        fab->stats.messages_sent++;
    }
}

static void close_open(struct fab_peer *peer)
{
    if (peer->open == NULL)
        return;
    gmc_list_push_back(&peer->waiting, &peer->open->node);
    peer->open = NULL;
}

/* ---- making ---- */
static bool make_messages(struct fab *fab)
{
    fab->message_bytes =
        fab->wire.message_max < MESSAGE_BYTES ? fab->wire.message_max : MESSAGE_BYTES;
    fab->batch_bytes = BATCH_BYTES;
    if (fab->wire.message_good >= BATCH_BYTES_LEAST && fab->wire.message_good < BATCH_BYTES)
        fab->batch_bytes = fab->wire.message_good;
    size_t bytes = (SENDS + RECEIVES) * (size_t)MESSAGE_BYTES;
    fab->memory = malloc(bytes);
    fab->messages = calloc(SENDS + RECEIVES, sizeof *fab->messages);
    if (fab->memory == NULL || fab->messages == NULL ||
        fab->message_bytes <= FAB_BATCH_HEAD_BYTES + FAB_BATCH_EACH_BYTES ||
        !fab->wire.ops->use_memory(fab->wire.ctx, fab->memory, bytes))
        return false;
    for (size_t i = 0; i < SENDS + RECEIVES; i++) {
        struct message *message = &fab->messages[i];
        message->data = fab->memory + i * MESSAGE_BYTES;
        message->op.is_send = i < SENDS;
        gmc_list_init(&message->node);
        gmc_list_push_back(i < SENDS ? &fab->idle : &fab->unread, &message->node);
    }
    return true;
}

struct fab *fab_new(const struct fab_wire *wire, uint64_t id, const struct fab_owner *owner)
{
    struct fab *fab = calloc(1, sizeof *fab);
    if (fab == NULL) {
        wire->ops->free(wire->ctx);
        return NULL;
    }
    fab->wire = *wire;
    fab->owner = *owner;
    fab->id = id;
    gmc_list_init(&fab->idle);
    gmc_list_init(&fab->unread);
    gmc_list_init(&fab->peers);
    if (!make_messages(fab)) {
        fab_free(fab);
        return NULL;
    }
    post_receives(fab);
    return fab;
}

void fab_free(struct fab *fab)
{
    struct gmc_list *node;
    if (fab == NULL)
        return;
    fab->wire.ops->free(fab->wire.ctx); /* nothing is under way behind it */
    while ((node = gmc_list_pop_front(&fab->peers)) != NULL)
        free(GMC_CONTAINER_OF(node, struct fab_peer, node));
    free(fab->messages);
    free(fab->memory);
    free(fab);
}

const struct fab_wire *fab_wire(const struct fab *fab)
{
    return &fab->wire;
}

const struct fab_stats *fab_stats(const struct fab *fab)
{
    return &fab->stats;
}

/* ---- sending ---- */
/* A message to write into; NULL when there is none for this peer. */
static struct message *opened(struct fab_peer *peer, size_t bytes, gmc_time now)
{
    struct fab *fab = peer->fab;
    if (peer->open != NULL && peer->open->len + bytes > fab->batch_bytes)
        close_open(peer);
    if (peer->open != NULL)
        return peer->open;
    struct gmc_list *node = peer->held < fab->peer_max ? gmc_list_pop_front(&fab->idle) : NULL;
    if (node == NULL)
        return NULL;
    if (peer->held == 0)
        moves(peer, now);
    peer->open = GMC_CONTAINER_OF(node, struct message, node);
    peer->open->peer = peer;
    peer->open->len = fab_batch_begin(peer->open->data, fab->id, now);
    peer->open->datagrams = 0;
    peer->held++;
    fab->held++;
    count_full(peer, now);
    return peer->open;
}

struct fab_peer *fab_peer_new(struct fab *fab, gmc_time now, struct gmc_bytes address, void *owner)
{
    struct fab_peer *peer = fab->peer_count + 1 < SENDS ? calloc(1, sizeof *peer) : NULL;
    if (peer == NULL)
        return NULL;
    peer->fab = fab;
    peer->owner = owner;
    gmc_list_init(&peer->waiting);
    gmc_list_init(&peer->node);
    if (!fab->wire.ops->find(fab->wire.ctx, address, &peer->to)) {
        free(peer);
        return NULL;
    }
    gmc_list_push_back(&fab->peers, &peer->node);
    count_peers(fab, 1);
    if (opened(peer, 0, now) == NULL)
        lose(peer, now, "too much waits for others");
    return peer;
}

void fab_peer_free(struct fab_peer *peer)
{
    const gmc_time now = 0; /* whether it was slow matters no more */
    drop_waiting(peer, now);
    peer->lost = peer->told = peer->gone = true;
    count_full(peer, now);
    if (peer->posted == 0)
        end_peer(peer);
}

void fab_peer_greet(struct fab_peer *peer, gmc_time now)
{
    if (peer->held == 0 && !peer->lost)
        (void)opened(peer, 0, now);
}

bool fab_peer_is_reached(const struct fab_peer *peer)
{
    return peer->is_reached && !peer->lost;
}

enum fab_put fab_put(struct fab_peer *peer, gmc_time now, const struct gmc_bytes *pieces,
                     size_t count)
{
    struct fab *fab = peer->fab;
    size_t len = FAB_BATCH_EACH_BYTES;
    for (size_t i = 0; i < count; i++)
        len += pieces[i].len;
    if (!peer->is_reached || peer->lost || fab->is_broken ||
        len + FAB_BATCH_HEAD_BYTES > fab->message_bytes)
        return FAB_ELSEWHERE;
    struct message *message = opened(peer, len, now);
    if (message == NULL) {
        fab->stats.dropped++;
        return FAB_DROPPED;
    }
    message->len = fab_batch_add(message->data, message->len, pieces, count);
    message->datagrams++;
    fab->stats.sent++;
    return FAB_TAKEN;
}

bool fab_has_room(const struct fab *fab)
{
    return fab->is_broken || fab->full == 0;
}

void fab_flush(struct fab *fab, gmc_time now)
{
    struct gmc_list *node;
    if (fab->held == 0 || fab->is_broken)
        return;
    GMC_LIST_FOREACH(node, &fab->peers)
    {
        struct fab_peer *peer = GMC_CONTAINER_OF(node, struct fab_peer, node);
        close_open(peer);
        post(peer, now);
    }
}

bool fab_is_waiting(const struct fab *fab)
{
    return fab->held > 0;
}

/* ---- what is over ---- */
static void read_message(struct fab *fab, struct gmc_bytes bytes)
{
    struct gmc_reader reader;
    struct gmc_bytes datagram;
    uint64_t id;
    gmc_time begun;
    if (fab_batch_open(bytes, &id, &begun, &reader) != GMC_OK) {
        fab->stats.malformed++;
        return;
    }
    fab->stats.messages_received++;
    fab->owner.heard(fab->owner.ctx, id, begun);
    while (fab_batch_next(&reader, &datagram)) {
        fab->stats.received++;
        fab->owner.take(fab->owner.ctx, id, datagram);
    }
    fab->stats.malformed += !fab_batch_is_whole(&reader);
}

static void on_received(struct fab *fab, struct message *message, const struct fab_done *done)
{
    if (done->error == NULL)
        read_message(fab, gmc_bytes(message->data, done->len));
    else
        fab->stats.failed++;
    post_receive(fab, message);
}

static void on_sent(struct fab *fab, struct message *message, const struct fab_done *done,
                    gmc_time now)
{
    struct fab_peer *peer = message->peer;
    peer->posted--;
    moves(peer, now);
    release(fab, message, now);
    if (done->error != NULL) {
        fab->stats.failed++;
        lose(peer, now, done->error);
    } else if (!peer->is_reached && !peer->lost) {
        peer->is_reached = true;
        fab->owner.reached(fab->owner.ctx, peer->owner);
    }
    if (peer->gone && peer->posted == 0)
        end_peer(peer);
}

/* Who takes nothing; who is lost, and whose owner was not told yet. */
static void look(struct fab *fab, gmc_time now)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &fab->peers)
    {
        struct fab_peer *peer = GMC_CONTAINER_OF(node, struct fab_peer, node);
        gmc_duration still = peer->held > 0 ? gmc_time_sub(now, peer->moved) : 0;
        if (still >= LOST_AFTER)
            lose(peer, now, "it has taken nothing for 2 s");
        count_full(peer, now);
        if (peer->lost && !peer->told) {
            peer->told = true;
            fab->owner.lost(fab->owner.ctx, peer->owner, peer->reason);
        }
    }
}

static void give_up(struct fab *fab, const char *reason)
{
    fab->is_broken = true;
    (void)snprintf(fab->reason, sizeof fab->reason, "%s", reason);
}

bool fab_progress(struct fab *fab, gmc_time now)
{
    struct fab_done done[ROUND];
    if (fab->is_broken)
        return false;
    int count = fab->wire.ops->poll(fab->wire.ctx, done, ROUND);
    for (int i = 0; i < count; i++) {
        struct message *message = GMC_CONTAINER_OF(done[i].op, struct message, op);
        if (done[i].op->is_send)
            on_sent(fab, message, &done[i], now);
        else
            on_received(fab, message, &done[i]);
    }
    post_receives(fab);
    fab_flush(fab, now);
    look(fab, now);
    if (count < 0)
        give_up(fab, fab->wire.ops->error(fab->wire.ctx));
    return count > 0;
}

const char *fab_broken(const struct fab *fab)
{
    struct gmc_list *node;
    unsigned stuck = 0;
    if (fab->is_broken)
        return fab->reason;
    GMC_LIST_FOREACH(node, &fab->peers)
    {
        const struct fab_peer *peer = GMC_CONTAINER_OF(node, struct fab_peer, node);
        stuck += peer->lost ? peer->posted : 0;
    }
    return stuck >= SENDS / 4 ? "too many messages to peers that are gone never end" : NULL;
}
