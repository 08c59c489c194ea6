/* SPDX-License-Identifier: BSD-2-Clause */
/* The composition's frame: peers, outputs, timers, creation and release. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define LATENCY_PAIRS_MAX 1048576u
#define DEFAULT_CACHE_BYTES (64u << 20)
#define DEFAULT_MESSAGE_BYTES (8u << 20)
#define DEFAULT_CHILDREN 64u
#define DEFAULT_CHANNELS 256u
#define STOP_SEEN GMC_S(5) /* machines that are busy are late by less */

void gw_text(char *out, size_t len, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, len, format, args);
    va_end(args);
}

static char *copy_text(const char *text)
{
    size_t len = strlen(text) + 1;
    char *copy = malloc(len);
    if (copy != NULL)
        memcpy(copy, text, len);
    return copy;
}

uint8_t *gw_copy(struct gmc_bytes bytes)
{
    uint8_t *copy = malloc(bytes.len + 1);
    GMC_ASSERT(copy != NULL);
    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return copy;
}

uint64_t gw_random64(struct gmc_gateway *gw)
{
    uint8_t bytes[8];
    gw->config.crypto->ops->random(gw->config.crypto->ctx, bytes, sizeof(bytes));
    return gmc_get64(bytes);
}

/* ---- creation ---- */
static void apply_defaults(struct gmc_gateway_config *config)
{
    if (config->cache_bytes == 0)
        config->cache_bytes = DEFAULT_CACHE_BYTES;
    if (config->children_max == 0)
        config->children_max = DEFAULT_CHILDREN;
    if (config->channels_max == 0)
        config->channels_max = DEFAULT_CHANNELS;
    if (config->patience == 0)
        config->patience = GMC_S(30);
    if (config->message_bytes == 0)
        config->message_bytes = DEFAULT_MESSAGE_BYTES;
    if (config->probe_age_max == 0)
        config->probe_age_max = GMC_S(600);
    if (config->block_bytes == 0 || !config->virtual_bodies)
        config->block_bytes = GW_BLOCK_BYTES;
    GMC_ASSERT(config->block_bytes >= GW_BLOCK_BYTES &&
               config->block_bytes <= GMC_CACHE_VIRTUAL_FRAGMENTS * GMC_VIRTUAL_DATAGRAM_BYTES &&
               (config->block_bytes & (config->block_bytes - 1)) == 0);
}

struct gmc_gateway *gmc_gateway_new(const struct gmc_gateway_config *config, gmc_time now)
{
    struct gmc_gateway *gw = calloc(1, sizeof(*gw));
    if (gw == NULL)
        return NULL;
    gw->config = *config;
    apply_defaults(&gw->config);
    gw->now = now;
    gw->arena = config->arena;
    gmc_prng_init(&gw->prng, config->seed);
    uint64_t hash_seed = gmc_prng_u64(&gw->prng);
    gmc_map_init(&gw->names, hash_seed);
    gmc_map_init(&gw->sessions, hash_seed);
    gmc_map_init(&gw->handles, hash_seed);
    gmc_map_init(&gw->hearings, hash_seed);
    gmc_map_init(&gw->ops, hash_seed);
    gmc_list_init(&gw->channels);
    gmc_list_init(&gw->probes);
    gmc_list_init(&gw->dirty);
    gw_uplink_init(gw);
    gw_groups_init(gw);
    gmc_list_init(&gw->pairs);
    gmc_list_init(&gw->outs);
    gmc_list_init(&gw->drained);
    gmc_gateway_shared_init(&gw->own_shared, GW_SPARES);
    gw->shared = config->shared != NULL ? config->shared : &gw->own_shared;
    gmc_heap_init(&gw->timers);
    gw->next_ticket = 1;
    gw->next_request = 1;
    gw->next_handle = 1;
    gw->next_slot = 1;
    /* The cache counts bodies, as if all were of 64 KiB. */
    gw->cache = gmc_cache_new(gw->config.cache_bytes / (gw->config.block_bytes / GW_BLOCK_BYTES),
                              hash_seed, config->shared != NULL ? &config->shared->cache : NULL);
    gw->latencies = gmc_latency_cache_new(LATENCY_PAIRS_MAX);
    gw->domain = copy_text(config->domain);
    if (config->node_of != NULL)
        gw->node_of = copy_text(config->node_of);
    gw->deliver = copy_text(config->deliver != NULL ? config->deliver : "nodes");
    gw->spki = malloc(config->spki.len + 1);
    if (gw->cache == NULL || gw->latencies == NULL || gw->domain == NULL || gw->spki == NULL ||
        (config->node_of != NULL && gw->node_of == NULL) || gw->deliver == NULL)
        goto fail;
    memcpy(gw->spki, config->spki.data, config->spki.len);
    gw->config.domain = gw->domain;
    gw->config.node_of = gw->node_of;
    gw->config.deliver = gw->deliver;
    gw->config.spki.data = gw->spki;
    struct gwpeer *self = gw_peer_by_name(gw, gw->domain);
    if (self == NULL)
        goto fail;
    gw->self = self->number;
    return gw;

fail:
    gmc_gateway_free(gw);
    return NULL;
}

gmc_status gmc_gateway_set_key(struct gmc_gateway *gw, gmc_time now, struct gmc_bytes spki)
{
    gw_begin_input(gw, now);
    uint8_t *copy = malloc(spki.len + 1);
    if (copy == NULL)
        return GMC_ERR_NOMEM;
    memcpy(copy, spki.data, spki.len);
    free(gw->spki);
    gw->spki = copy;
    gw->config.spki = gmc_bytes(copy, spki.len);
    gw->rekeyed = true;
    return GMC_OK;
}

static void outs_free(struct gmc_gateway *gw, struct gmc_list *list)
{
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(list)) != NULL) {
        struct gwout *out = GMC_CONTAINER_OF(node, struct gwout, node);
        free(out->owned);
        out->owned = NULL;
        if (out->output.kind == GMC_OUT_EVENT)
            free(out);
        else
            gmc_pool_put(&gw->shared->outs, out);
    }
}

static void peer_free(struct gmc_gateway *gw, struct gwpeer *peer)
{
    if (peer->link != NULL)
        gmc_link_free(peer->link);
    if (peer->key != NULL)
        gw->config.crypto->ops->pubkey_free(peer->key);
    free(peer->spki);
    free(peer->subnet);
    free(peer->name);
    free(peer);
}

void gmc_gateway_free(struct gmc_gateway *gw)
{
    if (gw == NULL)
        return;
    size_t cursor = 0;
    uint64_t ticket;
    void *value;
    while (gmc_map_next(&gw->ops, &cursor, &ticket, &value)) {
        struct gwop *op = value;
        free(op->waiting);
        free(op->owned);
        free(op);
    }
    gmc_map_fini(&gw->ops);
    struct gmc_list *node;
    while ((node = gmc_list_first(&gw->channels)) != NULL)
        gw_channel_free(gw, GMC_CONTAINER_OF(node, struct gwchannel, node));
    while ((node = gmc_list_pop_front(&gw->probes)) != NULL)
        gw_round_free(GMC_CONTAINER_OF(node, struct gwround, node));
    gw_tree_free(gw);
    for (size_t i = 0; i < gw->peer_count; i++)
        peer_free(gw, gw->peers[i]);
    free(gw->peers);
    outs_free(gw, &gw->outs);
    outs_free(gw, &gw->drained);
    free(gw->inbox.arrived);
    free(gw->inbox.bytes);
    gmc_cache_free(gw->cache);
    gmc_gateway_shared_fini(&gw->own_shared);
    gmc_latency_cache_free(gw->latencies);
    gmc_map_fini(&gw->names);
    gmc_map_fini(&gw->sessions);
    gmc_map_fini(&gw->handles);
    gmc_map_fini(&gw->hearings);
    gmc_heap_fini(&gw->timers);
    if (gw->config.arena == NULL)
        free(gw->arena);
    free(gw->spki);
    free(gw->node_of);
    free(gw->deliver);
    free(gw->domain);
    free(gw);
}

/* ---- peers ---- */
struct gwpeer *gw_peer(struct gmc_gateway *gw, gmc_peer number)
{
    return number < gw->peer_count ? gw->peers[number] : NULL;
}

/* FNV-1a from a start that outsiders do not know. Names that collide take the next keys. */
uint64_t gw_name_key(const struct gmc_gateway *gw, const char *name)
{
    uint64_t hash = gw->names.seed ^ UINT64_C(14695981039346656037);
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
    return hash;
}

struct gwpeer *gw_peer_known(const struct gmc_gateway *gw, const char *name)
{
    uint64_t key = gw_name_key(gw, name);
    struct gwpeer *peer;
    while ((peer = gmc_map_get(&gw->names, key)) != NULL && strcmp(peer->name, name) != 0)
        key++;
    return peer;
}

/* Room for one more. */
static bool peers_reserve(struct gmc_gateway *gw)
{
    if (gmc_map_reserve(&gw->names, gw->peer_count + 1) != GMC_OK)
        return false;
    if (gw->peer_count < gw->peer_capacity)
        return true;
    size_t capacity = gw->peer_capacity == 0 ? 4 : 2 * gw->peer_capacity;
    struct gwpeer **grown = realloc(gw->peers, sizeof(struct gwpeer *) * capacity);
    if (grown == NULL)
        return false;
    gw->peers = grown;
    gw->peer_capacity = capacity;
    return true;
}

static void names_add(struct gmc_gateway *gw, struct gwpeer *peer)
{
    uint64_t key = gw_name_key(gw, peer->name);
    while (gmc_map_get(&gw->names, key) != NULL)
        key++;
    gmc_status status = gmc_map_put(&gw->names, key, peer);
    GMC_ASSERT(status == GMC_OK); /* room was reserved */
}

struct gwpeer *gw_peer_by_name(struct gmc_gateway *gw, const char *name)
{
    struct gwpeer *known = gw_peer_known(gw, name);
    if (known != NULL || gw->peer_count >= GW_PEERS_MAX)
        return known;
    if (!peers_reserve(gw))
        return NULL;
    struct gwpeer *peer = calloc(1, sizeof(*peer));
    if (peer == NULL)
        return NULL;
    peer->name = copy_text(name);
    if (peer->name == NULL) {
        free(peer);
        return NULL;
    }
    peer->number = (gmc_peer)gw->peer_count;
    peer->timer.peer = peer;
    peer->silent_since = gw->now;
    gmc_list_init(&peer->dirty_node);
    gmc_list_init(&peer->turn_node);
    gmc_list_init(&peer->children);
    gmc_list_init(&peer->hearers);
    gw_text(peer->reason, sizeof(peer->reason), "no session yet");
    gw->peers[gw->peer_count++] = peer;
    names_add(gw, peer);
    return peer;
}

gmc_peer gmc_gateway_peer(struct gmc_gateway *gw, const char *domain)
{
    struct gwpeer *peer = gw_peer_by_name(gw, domain);
    return peer != NULL ? peer->number : GMC_PEER_NONE;
}

const char *gmc_gateway_node_of(const struct gmc_gateway *gw)
{
    return gw->config.node_of;
}

const char *gmc_gateway_peer_name(const struct gmc_gateway *gw, gmc_peer peer)
{
    return peer < gw->peer_count ? gw->peers[peer]->name : "?";
}

/* ---- outputs ---- */
/* Most of an output is the text of an event, and most outputs are none. */
#define PLAIN_OUTPUT_BYTES (offsetof(struct gmc_output, u) + sizeof(struct gmc_store_op))
_Static_assert(sizeof(struct gmc_store_op) >= sizeof(struct gmc_arrived) &&
                   sizeof(struct gmc_store_op) >= sizeof(struct gmc_dgram_out),
               "what is no event fits the bytes of a plain output");

static size_t output_bytes(enum gmc_output_kind kind)
{
    return kind == GMC_OUT_EVENT ? sizeof(struct gmc_output) : PLAIN_OUTPUT_BYTES;
}

void gmc_gateway_shared_init(struct gmc_gateway_shared *shared, size_t most)
{
    gmc_pool_init(&shared->outs, offsetof(struct gwout, output) + PLAIN_OUTPUT_BYTES, most);
    gmc_pool_init(&shared->ops, sizeof(struct gwop), most);
    gmc_cache_spares_init(&shared->cache, most);
    gmc_pages_init(&shared->pages);
}

void gmc_gateway_shared_fini(struct gmc_gateway_shared *shared)
{
    gmc_pool_trim(&shared->outs);
    gmc_pool_trim(&shared->ops);
    gmc_cache_spares_trim(&shared->cache);
    gmc_pages_fini(&shared->pages);
}

static struct gwout *out_get(struct gmc_gateway *gw, enum gmc_output_kind kind)
{
    if (kind == GMC_OUT_EVENT)
        return malloc(offsetof(struct gwout, output) + output_bytes(kind));
    return gmc_pool_get(&gw->shared->outs);
}

struct gwout *gw_out(struct gmc_gateway *gw, enum gmc_output_kind kind, gmc_peer peer)
{
    struct gwout *out = out_get(gw, kind);
    /* An output that is lost would leave the shell and the core with different ideas of the
     * world; small allocations that fail end the process, as they would anywhere else. */
    GMC_ASSERT(out != NULL);
    out->owned = NULL;
    memset(&out->output, 0, output_bytes(kind));
    out->output.kind = kind;
    out->output.peer = peer;
    gmc_list_push_back(&gw->outs, &out->node);
    return out;
}

static struct gmc_event *new_event(struct gmc_gateway *gw, enum gmc_event_kind kind,
                                   const struct gwchannel *ch, gmc_peer peer, gmc_status status)
{
    struct gmc_event *event = &gw_out(gw, GMC_OUT_EVENT, peer)->output.u.event;
    event->kind = kind;
    event->peer = peer;
    event->status = status;
    if (ch != NULL)
        event->key = ch->key;
    return event;
}

void gw_event(struct gmc_gateway *gw, enum gmc_event_kind kind, const struct gwchannel *ch,
              gmc_peer peer, gmc_status status, const char *format, ...)
{
    struct gmc_event *event = new_event(gw, kind, ch, peer, status);
    va_list args;
    va_start(args, format);
    vsnprintf(event->text, sizeof(event->text), format, args);
    va_end(args);
}

void gw_event_parent(struct gmc_gateway *gw, const struct gwchannel *ch,
                     const struct gwstripe *stripe, gmc_peer parent, gmc_status status,
                     const char *format, ...)
{
    struct gmc_event *event = new_event(gw, GMC_EVENT_PARENT, ch, parent, status);
    event->stripe = stripe->number;
    size_t used = 0;
    if (ch->stripe_count > 1)
        used = (size_t)snprintf(event->text, sizeof(event->text),
                                "stripe %u of %u: ", stripe->number + 1, ch->stripe_count);
    va_list args;
    va_start(args, format);
    vsnprintf(event->text + used, sizeof(event->text) - used, format, args);
    va_end(args);
}

/* A node dials its gateway alone, which makes its sessions with other nodes. */
void gw_want_session(struct gmc_gateway *gw, struct gwpeer *peer)
{
    if (gw->config.node_of != NULL && strcmp(peer->name, gw->config.node_of) != 0)
        return;
    if (peer->number == gw->self || peer->link != NULL || peer->wanted || peer->replaced)
        return;
    peer->wanted = true;
    gw_out(gw, GMC_OUT_CONNECT, peer->number);
}

void gw_send(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    if (peer->link == NULL)
        return;
    uint8_t *bytes;
    size_t len;
    gmc_status status = gmc_msg_encode(msg, &bytes, &len);
    GMC_ASSERT(status != GMC_ERR_INVALID);
    if (status != GMC_OK)
        return;
    status = gmc_link_send_message(peer->link, gw->now, gmc_bytes(bytes, len));
    gmc_msg_bytes_free(bytes);
    if (status != GMC_OK)
        gw_event(gw, GMC_EVENT_LINK, NULL, peer->number, status,
                 "%s: control messages pile up; one was dropped", peer->name);
    gw_touch(gw, peer);
}

void gw_touch(struct gmc_gateway *gw, struct gwpeer *peer)
{
    if (peer->link == NULL || peer->dirty)
        return;
    peer->dirty = true;
    gmc_list_push_back(&gw->dirty, &peer->dirty_node);
}

/* Something was due long ago, and nobody called. */
static void note_stop(struct gmc_gateway *gw, gmc_time now)
{
    if (gmc_time_sub(now, gw->now) >= STOP_SEEN &&
        now >= gmc_time_add(gmc_gateway_deadline(gw), STOP_SEEN))
        gw->awake_since = now;
}

gmc_time gw_patience_ends(const struct gmc_gateway *gw, gmc_time since)
{
    return gmc_time_add(gmc_time_max(since, gw->awake_since), gw->config.patience);
}

static void release(struct gmc_gateway *gw)
{
    gw_inbox_begin_input(gw);
    if (gmc_list_is_empty(&gw->drained) && gw->pin_count == 0 && gw->arena_used == 0)
        return;
    outs_free(gw, &gw->drained);
    for (size_t i = 0; i < gw->pin_count; i++)
        gmc_block_unpin(gw->cache, gw->pins[i]);
    gw->pin_count = 0;
    gw->arena_used = 0;
    gw->arena_full = false;
}

/* Outputs that found no room wait for the next input, which the deadline asks for. */
void gmc_gateway_done_with_outputs(struct gmc_gateway *gw)
{
    if (!gw->arena_full)
        release(gw);
}

/* What was lent to the shell comes back with the next input, or before. */
void gw_begin_input(struct gmc_gateway *gw, gmc_time now)
{
    GMC_ASSERT(now >= gw->now);
    note_stop(gw, now);
    gw->now = now;
    release(gw);
}

static void set_peer_timer(struct gmc_gateway *gw, struct gwpeer *peer)
{
    gmc_time when = GMC_TIME_NEVER;
    if (peer->link != NULL) {
        bool waiting = !gw_uplink_is_held(peer) && gw_children_waiting(peer);
        when = gmc_link_deadline(peer->link, waiting);
        if (gw_hearers_waiting(peer))
            when = gmc_time_min(when, gmc_link_urgent_time(peer->link));
        if (!waiting)
            when = gmc_time_min(when, gw_children_allowed_at(gw, peer));
    }
    gw_set_timer(gw, &peer->timer, when);
}

/* Peers that all have much to send go on in turn, so that children of one channel stay close to
 * each other, and what is in memory for one is so for all. */
static void take_turns(struct gmc_gateway *gw, struct gwpeer *peer, size_t bytes)
{
    peer->turn_bytes += bytes;
    if (peer->turn_bytes < GW_TURN_BYTES)
        return;
    peer->turn_bytes = 0;
    gmc_list_remove(&peer->dirty_node);
    gmc_list_push_back(&gw->dirty, &peer->dirty_node);
}

/* Data over an uplink that is known. */
static bool next_in_turn(struct gmc_gateway *gw, struct gmc_output *out)
{
    struct gwpeer *peer;
    while (!gw->arena_full && (peer = gw_uplink_next(gw)) != NULL) {
        if (gw_pump_data(gw, peer, out)) {
            size_t len = gmc_dgram_out_len(&out->u.dgram);
            gw->counts.datagrams_out++;
            gw_uplink_pay(gw, len);
            gw_uplink_sent(gw, peer, len);
            return true;
        }
        if (gw->arena_full)
            return false;
        gw_uplink_release(gw, peer);
        set_peer_timer(gw, peer);
        if (!gmc_list_is_empty(&gw->outs))
            return gmc_gateway_next_output(gw, out);
    }
    return false;
}

bool gmc_gateway_next_output(struct gmc_gateway *gw, struct gmc_output *out)
{
    struct gmc_list *node = gmc_list_pop_front(&gw->outs);
    if (node != NULL) {
        struct gwout *queued = GMC_CONTAINER_OF(node, struct gwout, node);
        memcpy(out, &queued->output, output_bytes(queued->output.kind));
        gmc_list_push_back(&gw->drained, node);
        return true;
    }
    if (gw_inbox_next(gw, out))
        return true;
    while (!gw->arena_full && (node = gmc_list_first(&gw->dirty)) != NULL) {
        struct gwpeer *peer = GMC_CONTAINER_OF(node, struct gwpeer, dirty_node);
        if (gw_pump(gw, peer, out)) {
            size_t len = gmc_dgram_out_len(&out->u.dgram);
            gw->counts.datagrams_out++;
            if (!peer->is_node && !peer->is_neighbour)
                gw_uplink_pay(gw, len);
            else
                gw_group_pay(gw, len);
            take_turns(gw, peer, len);
            return true;
        }
        if (gw->arena_full)
            break;
        gmc_list_remove(node);
        peer->dirty = false;
        set_peer_timer(gw, peer);
        /* Pumping may have asked the store for blocks. */
        if (!gmc_list_is_empty(&gw->outs))
            return gmc_gateway_next_output(gw, out);
    }
    if (gw_groups_send(gw, out)) {
        gw->counts.datagrams_out++;
        return true;
    }
    if (!gmc_list_is_empty(&gw->outs))
        return gmc_gateway_next_output(gw, out);
    return next_in_turn(gw, out);
}

/* ---- timers ---- */
void gw_set_timer(struct gmc_gateway *gw, struct gwtimer *timer, gmc_time when)
{
    if (gmc_heap_node_is_queued(&timer->node)) {
        gmc_heap_update(&gw->timers, &timer->node, when, timer->node.seq);
        return;
    }
    gmc_status status = gmc_heap_push(&gw->timers, &timer->node, when, gw->timer_seq++);
    GMC_ASSERT(status == GMC_OK);
}

gmc_time gmc_gateway_deadline(const struct gmc_gateway *gw)
{
    if (gw->arena_full || !gmc_list_is_empty(&gw->dirty) || !gmc_list_is_empty(&gw->outs) ||
        gw->inbox.taken < gw->inbox.count)
        return gw->now;
    const struct gmc_heap_node *node = gmc_heap_peek(&gw->timers);
    gmc_time when = node != NULL ? node->key : GMC_TIME_NEVER;
    when = gmc_time_min(when, gw_uplink_deadline(gw));
    when = gmc_time_min(when, gw_groups_deadline(gw));
    when = gmc_time_min(when, gw_hearing_deadline(gw));
    return gmc_time_min(when, gw_probe_deadline(gw));
}

void gmc_gateway_on_timer(struct gmc_gateway *gw, gmc_time now)
{
    gw_begin_input(gw, now);
    gw_probe_step(gw);
    gw_groups_step(gw);
    gw_hearing_step(gw);
    struct gmc_heap_node *node;
    while ((node = gmc_heap_peek(&gw->timers)) != NULL && node->key <= now) {
        gmc_heap_remove(&gw->timers, node);
        struct gwtimer *timer = GMC_CONTAINER_OF(node, struct gwtimer, node);
        if (timer->channel != NULL && timer == &timer->channel->timer) {
            gw_channel_timer(gw, timer->channel);
        } else if (timer->channel != NULL) {
            gw_proof_timer(gw, timer->channel);
        } else if (timer->peer->link != NULL) {
            gmc_link_on_timer(timer->peer->link, now);
            gw_touch(gw, timer->peer);
            gw_link_drain(gw, timer->peer);
        }
    }
}

/* ---- inputs whose work is elsewhere ---- */
gmc_status gmc_gateway_on_datagram(struct gmc_gateway *gw, gmc_time now,
                                   const struct gmc_dgram_in *in)
{
    gw_begin_input(gw, now);
    gw->counts.datagrams_in++;
    return gw_on_datagram(gw, in);
}

void gmc_gateway_on_peer(struct gmc_gateway *gw, gmc_time now, const struct gmc_peer_change *change)
{
    gw_begin_input(gw, now);
    gw_on_peer(gw, change);
}

void gmc_gateway_on_stored(struct gmc_gateway *gw, gmc_time now,
                           const struct gmc_store_result *result)
{
    gw_begin_input(gw, now);
    gw_on_stored(gw, result);
}

gmc_status gmc_gateway_on_saved(struct gmc_gateway *gw, gmc_time now, const struct gmc_saved *saved)
{
    gw_begin_input(gw, now);
    return gw_on_saved(gw, saved);
}

void gmc_gateway_start(struct gmc_gateway *gw, gmc_time now)
{
    gw_begin_input(gw, now);
    gw->started = true;
    gw_restart_channels(gw);
    if (gw->config.node_of != NULL)
        gw_want_session(gw, gw_peer_by_name(gw, gw->config.node_of));
}
