/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole gateways in virtual time: see toynet.h. Owns time, sessions and the stores. */
#include "tests/lib/toynet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/prng.h"
#include "core/manifest.h"
#include "crypto/cheap.h"
#include "wire/head.h"

#define BLOCK 65536u
#define SPIN_MAX 20000 /* turns of all gateways at one instant */

enum event_kind { EVENT_DATAGRAM, EVENT_STORED, EVENT_SESSION };

struct event {
    struct gmc_heap_node node;
    enum event_kind kind;
    size_t to, from; /* nodes */
    uint32_t life;   /* of `to`: what was under way when it was dropped is lost */
    enum gmc_path path;
    uint8_t *bytes;
    size_t len;
    struct gmc_store_op op;
};

struct saved {
    struct gmc_list node;
    struct gmc_channel_key key;
    char name[16];
    uint8_t *bytes;
    size_t len;
};

/* One channel in one store. */
struct object {
    struct gmc_list node;
    struct gmc_channel_key key;
    bool own; /* scanned here */
    uint64_t listing_bytes, total_bytes;
    uint8_t *written; /* by block of the byte space */
    uint8_t **pages;
    size_t blocks, page_count;
};

struct node {
    char name[32];
    struct gmc_gateway *gw;
    struct gmc_crypto_cheap *cheap;
    struct gmc_crypto crypto;
    struct toynet_node_config config;
    struct toynet_stats stats;
    struct gmc_list objects, saved;
    bool linked[TOYNET_NODES_MAX];  /* a session is there */
    bool pending[TOYNET_NODES_MAX]; /* or on its way */
    uint32_t life;
};

struct toynet {
    struct toynet_config config;
    struct node nodes[TOYNET_NODES_MAX];
    size_t count;
    gmc_time now;
    struct gmc_heap events;
    uint64_t seq;
    struct gmc_prng prng;
    uint32_t next_session;
};

/* ---- the object's bytes ---- */
static uint64_t word_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + index * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return z ^ z >> 27;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

static void object_bytes(const struct toynet *net, const struct object *object, uint64_t offset,
                         uint8_t *out, size_t len)
{
    uint64_t pad_end = padded(object->listing_bytes);
    for (size_t i = 0; i < len; i++) {
        uint64_t at = offset + i;
        out[i] = (uint8_t)(word_at(net->config.seed, at / 8) >> at % 8 * 8);
        if (at >= object->listing_bytes && at < pad_end)
            out[i] = 0;
    }
}

/* ---- the store ---- */
static bool same_key(const struct gmc_channel_key *a, const struct gmc_channel_key *b)
{
    return a->e == b->e && strcmp(a->source, b->source) == 0;
}

static struct object *object_find(struct node *node, const struct gmc_channel_key *key)
{
    struct gmc_list *at;
    GMC_LIST_FOREACH(at, &node->objects)
    {
        struct object *object = GMC_CONTAINER_OF(at, struct object, node);
        if (same_key(&object->key, key))
            return object;
    }
    return NULL;
}

static struct object *object_get(struct node *node, const struct gmc_channel_key *key,
                                 uint64_t listing_bytes, uint64_t total_bytes)
{
    struct object *object = object_find(node, key);
    if (object != NULL)
        return object;
    object = calloc(1, sizeof(*object));
    GMC_ASSERT(object != NULL);
    object->key = *key;
    object->listing_bytes = listing_bytes;
    object->total_bytes = total_bytes;
    object->blocks = (size_t)((padded(listing_bytes) + padded(total_bytes)) / BLOCK);
    object->page_count = object->blocks / GMC_PAGE_HASHES + 1;
    object->written = calloc(object->blocks, 1);
    object->pages = calloc(object->page_count, sizeof(*object->pages));
    GMC_ASSERT(object->written != NULL && object->pages != NULL);
    gmc_list_push_back(&node->objects, &object->node);
    return object;
}

static void object_free(struct object *object)
{
    gmc_list_remove(&object->node);
    for (size_t i = 0; i < object->page_count; i++)
        free(object->pages[i]);
    free(object->pages);
    free(object->written);
    free(object);
}

static gmc_status store_read(struct toynet *net, struct node *node, struct object *object,
                             const struct gmc_store_op *op, struct gmc_store_result *result)
{
    if (op->offset % BLOCK != 0 || op->offset / BLOCK >= object->blocks)
        return GMC_ERR_INVALID;
    if (!object->own && object->written[op->offset / BLOCK] == 0)
        return GMC_ERR_NOT_FOUND;
    object_bytes(net, object, op->offset, op->data, op->len);
    if (gmc_prng_chance_ppm(&net->prng, node->config.rot_ppm))
        op->data[0] ^= 1;
    node->crypto.ops->hash(op->data, op->len, result->hash);
    return GMC_OK;
}

static gmc_status store_write(struct toynet *net, struct node *node, struct object *object,
                              const struct gmc_store_op *op)
{
    uint8_t hash[GMC_HASH_BYTES];
    if (node->config.fail_writes != GMC_OK)
        return node->config.fail_writes;
    if (op->offset % BLOCK != 0 || op->offset / BLOCK >= object->blocks || op->len > BLOCK)
        return GMC_ERR_INVALID;
    node->crypto.ops->hash(op->data, op->len, hash);
    if (memcmp(hash, op->hash, sizeof(hash)) != 0)
        return GMC_ERR_MISMATCH;
    uint8_t *want = malloc(BLOCK);
    GMC_ASSERT(want != NULL);
    object_bytes(net, object, op->offset, want, op->len);
    if (memcmp(want, op->data, op->len) != 0)
        node->stats.wrong_bytes++;
    free(want);
    node->stats.blocks_written++;
    if (object->written[op->offset / BLOCK]++ != 0)
        node->stats.blocks_rewritten++;
    return GMC_OK;
}

static gmc_status store_page(struct object *object, const struct gmc_store_op *op, bool write)
{
    if (op->offset >= object->page_count || op->len != GMC_PAGE_WIRE_BYTES)
        return GMC_ERR_INVALID;
    uint8_t **slot = &object->pages[op->offset];
    if (!write && *slot == NULL)
        return GMC_ERR_NOT_FOUND;
    if (*slot == NULL)
        *slot = malloc(GMC_PAGE_WIRE_BYTES);
    GMC_ASSERT(*slot != NULL);
    if (write)
        memcpy(*slot, op->data, op->len);
    else
        memcpy(op->data, *slot, op->len);
    return GMC_OK;
}

static void forget_saved(struct node *node, const struct gmc_channel_key *key, const char *name)
{
    struct gmc_list *at, *after;
    GMC_LIST_FOREACH_SAFE(at, after, &node->saved)
    {
        struct saved *saved = GMC_CONTAINER_OF(at, struct saved, node);
        if (!same_key(&saved->key, key) || (name != NULL && strcmp(saved->name, name) != 0))
            continue;
        gmc_list_remove(at);
        free(saved->bytes);
        free(saved);
    }
}

static gmc_status store_save(struct node *node, const struct gmc_store_op *op)
{
    struct saved *saved = calloc(1, sizeof(*saved));
    GMC_ASSERT(saved != NULL && strlen(op->name) < sizeof(saved->name));
    forget_saved(node, op->key, op->name);
    saved->key = *op->key;
    memcpy(saved->name, op->name, strlen(op->name) + 1);
    saved->bytes = malloc(op->bytes.len + 1);
    GMC_ASSERT(saved->bytes != NULL);
    memcpy(saved->bytes, op->bytes.data, op->bytes.len);
    saved->len = op->bytes.len;
    gmc_list_push_back(&node->saved, &saved->node);
    node->stats.saves++;
    return GMC_OK;
}

static gmc_status store_finish(struct node *node, const struct object *object)
{
    for (size_t i = 0; i < object->blocks; i++)
        if (object->written[i] == 0)
            return GMC_ERR_STATE;
    node->stats.finished++;
    return GMC_OK;
}

static gmc_status store_open(struct toynet *net, struct node *node, const struct gmc_store_op *op,
                             struct gmc_store_result *result)
{
    if (op->kind == GMC_STORE_SCAN) {
        object_get(node, op->key, net->config.listing_bytes, net->config.total_bytes)->own = true;
        result->listing_bytes = net->config.listing_bytes;
        result->total_bytes = net->config.total_bytes;
        result->file_count = 1;
        return GMC_OK;
    }
    if (node->config.refuse_open != GMC_OK) {
        result->reason = "/nowhere: not granted";
        return node->config.refuse_open;
    }
    object_get(node, op->key, op->listing_bytes, op->total_bytes);
    return GMC_OK;
}

static gmc_status store_do(struct toynet *net, struct node *node, const struct gmc_store_op *op,
                           struct gmc_store_result *result)
{
    struct object *object = object_find(node, op->key);
    if (op->kind == GMC_STORE_SCAN || op->kind == GMC_STORE_OPEN)
        return store_open(net, node, op, result);
    if (op->kind == GMC_STORE_CLOSE) {
        node->stats.closed++;
        node->stats.discarded += op->discard;
        forget_saved(node, op->key, NULL);
        if (object != NULL)
            object_free(object);
        return GMC_OK;
    }
    if (object == NULL)
        return GMC_ERR_STATE;
    switch (op->kind) {
    case GMC_STORE_READ:
        return store_read(net, node, object, op, result);
    case GMC_STORE_WRITE:
        return store_write(net, node, object, op);
    case GMC_STORE_READ_PAGE:
    case GMC_STORE_WRITE_PAGE:
        return store_page(object, op, op->kind == GMC_STORE_WRITE_PAGE);
    case GMC_STORE_SAVE:
        return store_save(node, op);
    case GMC_STORE_FINISH:
        return store_finish(node, object);
    default:
        return GMC_OK;
    }
}

/* ---- events ---- */
static struct event *later(struct toynet *net, gmc_duration wait, enum event_kind kind, size_t to)
{
    struct event *event = calloc(1, sizeof(*event));
    GMC_ASSERT(event != NULL);
    event->kind = kind;
    event->to = to;
    event->life = net->nodes[to].life;
    gmc_status status =
        gmc_heap_push(&net->events, &event->node, gmc_time_add(net->now, wait), net->seq++);
    GMC_ASSERT(status == GMC_OK);
    return event;
}

static void send_datagram(struct toynet *net, size_t from, const struct gmc_dgram_out *dgram)
{
    struct node *node = &net->nodes[from];
    size_t len = gmc_dgram_out_len(dgram), to = net->count;
    const char *name = gmc_gateway_peer_name(node->gw, dgram->peer);
    for (size_t i = 0; i < net->count; i++)
        if (strcmp(net->nodes[i].name, name) == 0)
            to = i;
    node->stats.datagrams_sent++;
    node->stats.bytes_sent += len;
    if (to == net->count)
        return;
    struct node *peer = &net->nodes[to];
    bool is_data = dgram->head_len == GMC_DATA_HEAD_BYTES;
    if (is_data)
        node->stats.data_sent[to] += len;
    /* Every draw is made in any case, so that a setting does not move the others' chances. */
    bool lost = gmc_prng_chance_ppm(&net->prng, node->config.loss_ppm);
    lost |= gmc_prng_chance_ppm(&net->prng, peer->config.loss_ppm);
    bool spoiled = gmc_prng_chance_ppm(&net->prng, node->config.corrupt_ppm);
    if (lost || node->config.cut || peer->config.cut)
        return;
    struct event *event = later(net, net->config.delay, EVENT_DATAGRAM, to);
    event->from = from;
    event->path = dgram->path;
    event->len = len;
    event->bytes = malloc(len + 1);
    GMC_ASSERT(event->bytes != NULL);
    memcpy(event->bytes, dgram->head, dgram->head_len);
    if (dgram->body.len > 0)
        memcpy(event->bytes + dgram->head_len, dgram->body.data, dgram->body.len);
    if (dgram->tail.len > 0)
        memcpy(event->bytes + dgram->head_len + dgram->body.len, dgram->tail.data, dgram->tail.len);
    if (spoiled && is_data)
        event->bytes[dgram->head_len] ^= 1;
}

static void connect_to(struct toynet *net, size_t from, gmc_peer number)
{
    const char *name = gmc_gateway_peer_name(net->nodes[from].gw, number);
    for (size_t to = 0; to < net->count; to++) {
        if (strcmp(net->nodes[to].name, name) != 0)
            continue;
        if (net->nodes[from].linked[to] || net->nodes[from].pending[to])
            return;
        net->nodes[from].pending[to] = net->nodes[to].pending[from] = true;
        later(net, 2 * net->config.delay, EVENT_SESSION, to)->from = from;
    }
}

static void one_side_up(struct toynet *net, size_t at, size_t other, bool initiator,
                        const uint32_t *ids, uint8_t secrets[2][GMC_KEY_BYTES])
{
    struct node *node = &net->nodes[at];
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);
    gmc_status status = gmc_crypto_cheap_spki(net->nodes[other].name, spki, &len);
    GMC_ASSERT(status == GMC_OK);
    gmc_peer peer = gmc_gateway_peer(node->gw, net->nodes[other].name);
    struct gmc_peer_change change = {.peer = peer,
                                     .event = GMC_PEER_SESSION_UP,
                                     .session = {.peer = peer,
                                                 .initiator = initiator,
                                                 .local_id = ids[initiator],
                                                 .remote_id = ids[!initiator],
                                                 .spki = gmc_bytes(spki, len),
                                                 .transport = GMC_TRANSPORT_UDP}};
    memcpy(change.session.send_secret, secrets[initiator], GMC_KEY_BYTES);
    memcpy(change.session.recv_secret, secrets[!initiator], GMC_KEY_BYTES);
    node->linked[other] = true;
    node->pending[other] = false;
    gmc_gateway_on_peer(node->gw, net->now, &change);
    toynet_drain(net, at);
}

static void session_up(struct toynet *net, size_t a, size_t b)
{
    if (!net->nodes[a].pending[b])
        return;
    if (net->nodes[a].config.cut || net->nodes[b].config.cut) {
        later(net, GMC_MS(100), EVENT_SESSION, a)->from = b; /* the shell tries again */
        return;
    }
    uint32_t ids[2] = {net->next_session, net->next_session + 1};
    uint8_t secrets[2][GMC_KEY_BYTES];
    net->next_session += 2;
    for (size_t i = 0; i < sizeof(secrets); i++)
        secrets[i / GMC_KEY_BYTES][i % GMC_KEY_BYTES] = (uint8_t)gmc_prng_u64(&net->prng);
    one_side_up(net, a, b, false, ids, secrets);
    one_side_up(net, b, a, true, ids, secrets);
}

static void one_side_down(struct toynet *net, size_t at, size_t other)
{
    struct node *node = &net->nodes[at];
    if (!node->linked[other])
        return;
    node->linked[other] = false;
    struct gmc_peer_change change = {.peer = gmc_gateway_peer(node->gw, net->nodes[other].name),
                                     .event = GMC_PEER_SESSION_DOWN,
                                     .reason = "the connection was closed"};
    gmc_gateway_on_peer(node->gw, net->now, &change);
    toynet_drain(net, at);
}

void toynet_break(struct toynet *net, size_t a, size_t b)
{
    one_side_down(net, a, b);
    one_side_down(net, b, a);
}

static void reject(struct toynet *net, size_t at, gmc_peer number)
{
    const char *name = gmc_gateway_peer_name(net->nodes[at].gw, number);
    net->nodes[at].stats.rejects++;
    for (size_t i = 0; i < net->count; i++) {
        if (strcmp(net->nodes[i].name, name) != 0 || !net->nodes[at].linked[i])
            continue;
        net->nodes[at].linked[i] = false;
        one_side_down(net, i, at);
    }
}

static void take_output(struct toynet *net, size_t at, const struct gmc_output *out)
{
    switch (out->kind) {
    case GMC_OUT_DATAGRAM:
        send_datagram(net, at, &out->u.dgram);
        break;
    case GMC_OUT_STORE:
        later(net, net->nodes[at].config.store_delay, EVENT_STORED, at)->op = out->u.store;
        break;
    case GMC_OUT_CONNECT:
        connect_to(net, at, out->peer);
        break;
    case GMC_OUT_REJECT:
        reject(net, at, out->peer);
        break;
    case GMC_OUT_EVENT:
        if (getenv("TOYNET_EVENTS") != NULL)
            printf("%.6f %s: %s\n", (double)(net->now - TOYNET_START) / 1e9, net->nodes[at].name,
                   out->u.event.text);
        break;
    default:
        break;
    }
}

void toynet_drain(struct toynet *net, size_t at)
{
    struct gmc_output out;
    while (gmc_gateway_next_output(net->nodes[at].gw, &out))
        take_output(net, at, &out);
}

static void happen(struct toynet *net, struct event *event)
{
    struct node *node = &net->nodes[event->to];
    if (event->kind == EVENT_SESSION) {
        session_up(net, event->to, event->from);
    } else if (event->life != node->life) {
        ; /* it was for a gateway that is no more */
    } else if (event->kind == EVENT_DATAGRAM) {
        struct gmc_dgram_in in = {.path = event->path,
                                  .peer = GMC_PEER_NONE,
                                  .from = {.len = 1, .bytes = {(uint8_t)event->from}},
                                  .bytes = gmc_bytes(event->bytes, event->len)};
        gmc_gateway_on_datagram(node->gw, net->now, &in);
        toynet_drain(net, event->to);
    } else {
        struct gmc_store_result result = {.ticket = event->op.ticket};
        result.status = store_do(net, node, &event->op, &result);
        gmc_gateway_on_stored(node->gw, net->now, &result);
        toynet_drain(net, event->to);
    }
    free(event->bytes);
    free(event);
}

/* ---- life ---- */
static void start_gateway(struct toynet *net, struct node *node)
{
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);
    gmc_status status = gmc_crypto_cheap_spki(node->name, spki, &len);
    GMC_ASSERT(status == GMC_OK);
    struct gmc_gateway_config config = {
        .domain = node->name,
        .crypto = &node->crypto,
        .spki = gmc_bytes(spki, len),
        .seed = net->config.seed ^ (uint64_t)(node - net->nodes) << 32 ^ node->life,
        .incarnation = node->life,
        .cache_bytes = net->config.cache_bytes,
        .children_max = net->config.children_max,
        .patience = net->config.patience,
        .fixed_rate_bps = net->config.fixed_rate_bps,
        .pass_repairs = net->config.pass_repairs,
        .uplink_bps = net->config.uplink_bps[node - net->nodes],
    };
    node->gw = gmc_gateway_new(&config, net->now);
    GMC_ASSERT(node->gw != NULL);
    for (size_t i = 0; i < net->count; i++)
        gmc_gateway_peer(node->gw, net->nodes[i].name);
    struct gmc_list *at;
    GMC_LIST_FOREACH(at, &node->saved)
    {
        struct saved *saved = GMC_CONTAINER_OF(at, struct saved, node);
        struct gmc_saved state = {.key = saved->key,
                                  .name = saved->name,
                                  .bytes = gmc_bytes(saved->bytes, saved->len)};
        status = gmc_gateway_on_saved(node->gw, net->now, &state);
        GMC_ASSERT(status == GMC_OK);
    }
    gmc_gateway_start(node->gw, net->now);
    toynet_drain(net, (size_t)(node - net->nodes));
}

void toynet_restart(struct toynet *net, size_t at)
{
    struct node *node = &net->nodes[at];
    gmc_gateway_free(node->gw);
    node->life++;
    for (size_t i = 0; i < net->count; i++)
        node->linked[i] = node->pending[i] = net->nodes[i].pending[at] = false;
    start_gateway(net, node);
    for (size_t i = 0; i < net->count; i++)
        if (i != at)
            one_side_down(net, i, at);
}

struct toynet *toynet_new(const struct toynet_config *config, size_t nodes)
{
    struct toynet *net = calloc(1, sizeof(*net));
    GMC_ASSERT(net != NULL && nodes <= TOYNET_NODES_MAX);
    net->config = *config;
    net->now = TOYNET_START;
    net->count = nodes;
    net->next_session = 1;
    gmc_heap_init(&net->events);
    gmc_prng_init(&net->prng, config->seed);
    for (size_t i = 0; i < nodes; i++)
        snprintf(net->nodes[i].name, sizeof(net->nodes[i].name), "n%zu.example", i);
    for (size_t i = 0; i < nodes; i++) {
        struct node *node = &net->nodes[i];
        uint8_t seed[32] = {(uint8_t)config->seed, (uint8_t)i};
        node->config = config->node;
        node->life = 1;
        gmc_list_init(&node->objects);
        gmc_list_init(&node->saved);
        node->cheap = gmc_crypto_cheap_new(node->name, seed);
        GMC_ASSERT(node->cheap != NULL);
        gmc_crypto_cheap_table(node->cheap, &node->crypto);
        start_gateway(net, node);
    }
    return net;
}

static void node_free(struct node *node)
{
    gmc_gateway_free(node->gw);
    gmc_crypto_cheap_free(node->cheap);
    struct gmc_list *at;
    while ((at = gmc_list_first(&node->objects)) != NULL)
        object_free(GMC_CONTAINER_OF(at, struct object, node));
    while ((at = gmc_list_first(&node->saved)) != NULL) {
        struct gmc_channel_key key = GMC_CONTAINER_OF(at, struct saved, node)->key;
        forget_saved(node, &key, NULL);
    }
}

void toynet_free(struct toynet *net)
{
    struct gmc_heap_node *at;
    while ((at = gmc_heap_pop(&net->events)) != NULL) {
        struct event *event = GMC_CONTAINER_OF(at, struct event, node);
        free(event->bytes);
        free(event);
    }
    for (size_t i = 0; i < net->count; i++)
        node_free(&net->nodes[i]);
    gmc_heap_fini(&net->events);
    free(net);
}

/* ---- running ---- */
static gmc_time next_time(const struct toynet *net)
{
    const struct gmc_heap_node *at = gmc_heap_peek(&net->events);
    gmc_time when = at != NULL ? at->key : GMC_TIME_NEVER;
    for (size_t i = 0; i < net->count; i++)
        when = gmc_time_min(when, gmc_gateway_deadline(net->nodes[i].gw));
    return when;
}

/* Everything that is due at the next instant; false when there is none until then. */
static bool turn(struct toynet *net, gmc_time until)
{
    gmc_time when = next_time(net);
    if (when > until)
        return false;
    net->now = gmc_time_max(net->now, when);
    int spins = 0;
    do {
        struct gmc_heap_node *at;
        while ((at = gmc_heap_peek(&net->events)) != NULL && at->key <= net->now) {
            gmc_heap_pop(&net->events);
            happen(net, GMC_CONTAINER_OF(at, struct event, node));
        }
        for (size_t i = 0; i < net->count; i++) {
            if (gmc_gateway_deadline(net->nodes[i].gw) > net->now)
                continue;
            gmc_gateway_on_timer(net->nodes[i].gw, net->now);
            toynet_drain(net, i);
        }
        GMC_ASSERT(++spins < SPIN_MAX);
    } while (next_time(net) <= net->now);
    return true;
}

void toynet_run_until(struct toynet *net, gmc_time until)
{
    while (turn(net, until))
        ;
    net->now = gmc_time_max(net->now, until);
}

bool toynet_run_over(struct toynet *net, size_t node, const struct gmc_channel_key *key,
                     gmc_time limit)
{
    struct gmc_channel_info info;
    do {
        if (toynet_channel(net, node, key, &info) && info.state >= GMC_CHANNEL_COMPLETE)
            return true;
    } while (turn(net, limit));
    return false;
}

/* ---- looking ---- */
gmc_time toynet_now(const struct toynet *net)
{
    return net->now;
}

struct gmc_gateway *toynet_gateway(struct toynet *net, size_t node)
{
    return net->nodes[node].gw;
}

const char *toynet_name(const struct toynet *net, size_t node)
{
    return net->nodes[node].name;
}

struct toynet_node_config *toynet_node(struct toynet *net, size_t node)
{
    return &net->nodes[node].config;
}

const struct toynet_stats *toynet_stats(const struct toynet *net, size_t node)
{
    return &net->nodes[node].stats;
}

gmc_status toynet_stage(struct toynet *net, size_t source, uint32_t targets,
                        enum gmc_tree_shape shape, struct gmc_channel_key *key)
{
    static const char *const sources[] = {"/data/set"};
    struct gmc_stage_target list[TOYNET_NODES_MAX];
    size_t count = 0;
    const char *error;
    for (size_t i = 0; i < net->count; i++)
        if ((targets >> i & 1) != 0)
            list[count++] = (struct gmc_stage_target){.domain = net->nodes[i].name, .path = ""};
    struct gmc_stage_request request = {.sources = sources,
                                        .source_count = 1,
                                        .targets = list,
                                        .target_count = count,
                                        .shape = shape};
    gmc_status status = gmc_gateway_stage(net->nodes[source].gw, net->now, &request, key, &error);
    toynet_drain(net, source);
    return status;
}

static bool find_channel(struct toynet *net, size_t node, const struct gmc_channel_key *key,
                         struct gmc_channel_info *info, size_t *index)
{
    struct gmc_gateway *gw = net->nodes[node].gw;
    for (*index = 0; gmc_gateway_channel_info(gw, net->now, *index, info); ++*index)
        if (same_key(&info->key, key))
            return true;
    return false;
}

bool toynet_channel(struct toynet *net, size_t node, const struct gmc_channel_key *key,
                    struct gmc_channel_info *info)
{
    size_t index;
    return find_channel(net, node, key, info, &index);
}

bool toynet_member(struct toynet *net, size_t source, const struct gmc_channel_key *key,
                   size_t node, struct gmc_member_info *info)
{
    struct gmc_channel_info channel;
    size_t index;
    if (!find_channel(net, source, key, &channel, &index))
        return false;
    struct gmc_gateway *gw = net->nodes[source].gw;
    for (size_t i = 0; gmc_gateway_member_info(gw, net->now, index, i, info); i++)
        if (strcmp(info->domain, net->nodes[node].name) == 0)
            return true;
    return false;
}

uint64_t toynet_counter(struct toynet *net, size_t node, const char *name)
{
    struct gmc_counter counters[64];
    size_t count = gmc_gateway_counters(net->nodes[node].gw, counters, 64);
    for (size_t i = 0; i < count; i++)
        if (strcmp(counters[i].name, name) == 0)
            return counters[i].value;
    return 0;
}
