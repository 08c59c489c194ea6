/* SPDX-License-Identifier: BSD-2-Clause */
/* The core and the control API behind one set of calls, recorded on request. */
#include "gatewayd/drive.h"
#include "gatewayd/addr.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "gatewayd/drive_int.h"

/* ---- taps: what the core draws from keys and entropy, and asks the configuration ---- */
static struct gwd_drive *drive_of(void *ctx)
{
    return ctx;
}

static struct gmc_aead *tap_aead_new(void *ctx, const uint8_t key[GMC_KEY_BYTES])
{
    const struct gmc_crypto *inner = drive_of(ctx)->inner;
    return inner->ops->aead_new(inner->ctx, key);
}

static struct gmc_pubkey *tap_pubkey_new(void *ctx, struct gmc_bytes spki)
{
    const struct gmc_crypto *inner = drive_of(ctx)->inner;
    return inner->ops->pubkey_new(inner->ctx, spki);
}

static gmc_status tap_sign(void *ctx, const struct gmc_pubkey *signer, struct gmc_bytes data,
                           uint8_t *sig, size_t *sig_len)
{
    struct gwd_drive *drive = ctx;
    gmc_status status;
    if (drive->replaying != NULL)
        return gwd_replay_sign(drive, sig, sig_len);
    status = drive->inner->ops->sign(drive->inner->ctx, signer, data, sig, sig_len);
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_SIGN, 0);
        gwd_record_number(drive->recorder, (uint64_t)-status);
        gwd_record_bytes(drive->recorder, gmc_bytes(sig, status == GMC_OK ? *sig_len : 0));
        gwd_record_end(drive->recorder);
    }
    return status;
}

static void tap_random(void *ctx, uint8_t *out, size_t len)
{
    struct gwd_drive *drive = ctx;
    if (drive->replaying != NULL) {
        gwd_replay_random(drive, out, len);
        return;
    }
    drive->inner->ops->random(drive->inner->ctx, out, len);
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_RANDOM, 0);
        gwd_record_bytes(drive->recorder, gmc_bytes(out, len));
        gwd_record_end(drive->recorder);
    }
}

static const char *tap_resolve(void *ctx, const char *name)
{
    struct gwd_drive *drive = ctx;
    const char *domain;
    if (drive->replaying != NULL)
        return gwd_replay_resolve(drive);
    domain = drive->hooks.resolve(drive->hooks.ctx, name);
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_RESOLVE, 0);
        gwd_record_text(drive->recorder, domain);
        gwd_record_end(drive->recorder);
    }
    return domain;
}

static gmc_status tap_may(void *ctx, const char *origin, const char *const *paths, size_t count,
                          const char **reason)
{
    struct gwd_drive *drive = ctx;
    gmc_status status;
    if (drive->replaying != NULL)
        return gwd_replay_may(drive, reason);
    *reason = NULL;
    status = drive->hooks.may_request(drive->hooks.ctx, origin, paths, count, reason);
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_MAY, 0);
        gwd_record_number(drive->recorder, (uint64_t)-status);
        gwd_record_text(drive->recorder, *reason);
        gwd_record_end(drive->recorder);
    }
    return status;
}

static gmc_status tap_shape(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                            uint32_t *parent, const char **name)
{
    struct gwd_drive *drive = ctx;
    if (drive->replaying != NULL)
        return gwd_replay_shape(drive, count, parent, name);
    gmc_status status = drive->tree.shape(drive->tree.ctx, names, count, bytes, parent, name);
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_SHAPE, 0);
        gwd_record_number(drive->recorder, (uint64_t)-status);
        gwd_record_text(drive->recorder, *name);
        for (size_t i = 1; i < count && status == GMC_OK; i++)
            gwd_record_number(drive->recorder, parent[i]);
        gwd_record_end(drive->recorder);
    }
    return status;
}

/* Told to local programs only, so nothing of it is in what a replay compares. */
static size_t tap_counters(void *ctx, struct gmc_counter *out, size_t max)
{
    struct gwd_drive *drive = ctx;
    drive->foreign_answer = true;
    return drive->replaying != NULL ? 0 : drive->hooks.counters(drive->hooks.ctx, out, max);
}

/* What it changes comes as inputs of their own, and the answer is not the core's. */
static gmc_status tap_nodes(void *ctx, const struct gmc_ctl_request *request,
                            struct gmc_ctl_reply *reply, const char **reason)
{
    struct gwd_drive *drive = ctx;
    drive->foreign_answer = true;
    if (drive->replaying != NULL)
        return GMC_OK;
    return drive->hooks.nodes(drive->hooks.ctx, request, reply, reason);
}

static void tap_traffic(void *ctx, const struct gmc_channel_key *key, struct gmc_ctl_traffic *out)
{
    struct gwd_drive *drive = ctx;
    drive->foreign_answer = true;
    if (drive->replaying == NULL && drive->hooks.traffic != NULL)
        drive->hooks.traffic(drive->hooks.ctx, key, out);
}

static void tap_fabric(void *ctx, const char *domain, struct gmc_ctl_fabric *out)
{
    struct gwd_drive *drive = ctx;
    drive->foreign_answer = true;
    if (drive->replaying == NULL && drive->hooks.fabric != NULL)
        drive->hooks.fabric(drive->hooks.ctx, domain, out);
}

static void tap_multicast(void *ctx, const char *domain, struct gmc_ctl_multicast *out)
{
    struct gwd_drive *drive = ctx;
    drive->foreign_answer = true;
    if (drive->replaying == NULL && drive->hooks.multicast != NULL)
        drive->hooks.multicast(drive->hooks.ctx, domain, out);
}

static void tap_session(void *ctx, const char *domain, struct gmc_ctl_session *out)
{
    struct gwd_drive *drive = ctx;
    drive->foreign_answer = true;
    if (drive->replaying == NULL && drive->hooks.session != NULL)
        drive->hooks.session(drive->hooks.ctx, domain, out);
}

static size_t tap_findings(void *ctx, const struct gmc_ctl_finding **out)
{
    struct gwd_drive *drive = ctx;
    drive->foreign_answer = true;
    if (drive->replaying != NULL || drive->hooks.findings == NULL)
        return 0;
    return drive->hooks.findings(drive->hooks.ctx, out);
}

/* ---- making ---- */
static void record_begin(struct gwd_drive *drive, const struct gmc_gateway_config *config,
                         gmc_time now)
{
    struct gwd_recorder *r = drive->recorder;
    gwd_record_begin(r, GWD_RECORD_BEGIN, now);
    gwd_record_text(r, config->domain);
    gwd_record_text(r, config->node_of);
    gwd_record_number(r, config->seed);
    gwd_record_number(r, config->incarnation);
    gwd_record_number(r, config->cache_bytes);
    gwd_record_number(r, config->children_max);
    gwd_record_number(r, config->channels_max);
    gwd_record_number(r, config->patience);
    gwd_record_number(r, config->probe_age_max);
    gwd_record_number(r, config->fixed_rate_bps);
    gwd_record_number(r, config->uplink_bps);
    gwd_record_number(r, config->downlink_bps);
    gwd_record_number(r, config->discard_data);
    gwd_record_bytes(r, config->spki);
    gwd_record_text(r, config->deliver);
    gwd_record_end(r);
}

struct gwd_drive *gwd_drive_new(const struct gwd_drive_config *config, gmc_time now)
{
    struct gwd_drive *drive = calloc(1, sizeof *drive);
    struct gmc_gateway_config gateway = config->gateway;
    struct gmc_ctl_hooks hooks = {drive,       tap_resolve, tap_may,    tap_counters,
                                  tap_nodes,   tap_traffic, tap_fabric, tap_multicast,
                                  tap_session, tap_findings};
    if (drive == NULL)
        return NULL;
    drive->inner = gateway.crypto;
    drive->hooks = config->hooks;
    drive->recorder = config->recorder;
    drive->hash = GWD_HASH_START;
    drive->ops = *gateway.crypto->ops;
    drive->ops.aead_new = tap_aead_new;
    drive->ops.pubkey_new = tap_pubkey_new;
    drive->ops.sign = tap_sign;
    drive->ops.random = tap_random;
    drive->tapped = (struct gmc_crypto){&drive->ops, drive};
    gateway.crypto = &drive->tapped;
    gateway.addr_text = gwd_addr_core_text;
    if (drive->recorder != NULL)
        record_begin(drive, &config->gateway, now);
    drive->replaying = config->replay;
    drive->gateway = gmc_gateway_new(&gateway, now);
    if (drive->gateway != NULL)
        drive->ctl = gmc_ctl_new(drive->gateway, gateway.domain, &hooks);
    if (drive->ctl == NULL) {
        gwd_drive_free(drive);
        return NULL;
    }
    return drive;
}

void gwd_drive_free(struct gwd_drive *drive)
{
    if (drive == NULL)
        return;
    gmc_ctl_free(drive->ctl);
    if (drive->gateway != NULL)
        gmc_gateway_free(drive->gateway);
    free(drive->reads);
    free(drive);
}

struct gmc_gateway *gwd_drive_gateway(struct gwd_drive *drive)
{
    return drive->gateway;
}

gmc_time gwd_drive_deadline(const struct gwd_drive *drive)
{
    return gmc_gateway_deadline(drive->gateway);
}

/* ---- inputs ---- */
gmc_peer gwd_drive_peer(struct gwd_drive *drive, gmc_time now, const char *domain)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_PEER, now);
        gwd_record_text(drive->recorder, domain);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_peer(drive->gateway, domain);
}

void gwd_drive_node(struct gwd_drive *drive, gmc_time now, gmc_peer peer, bool is_node)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_NODE, now);
        gwd_record_number(drive->recorder, peer);
        gwd_record_number(drive->recorder, is_node);
        gwd_record_end(drive->recorder);
    }
    gmc_gateway_set_node(drive->gateway, now, peer, is_node);
}

void gwd_drive_group(struct gwd_drive *drive, gmc_time now, struct gmc_bytes word,
                     uint64_t rate_bps, uint32_t payload_max)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_GROUP, now);
        gwd_record_bytes(drive->recorder, word);
        gwd_record_number(drive->recorder, rate_bps);
        gwd_record_number(drive->recorder, payload_max);
        gwd_record_end(drive->recorder);
    }
    gmc_gateway_set_group(drive->gateway, now, word, rate_bps, payload_max);
}

gmc_status gwd_drive_key(struct gwd_drive *drive, gmc_time now, struct gmc_bytes spki)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_KEY, now);
        gwd_record_bytes(drive->recorder, spki);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_set_key(drive->gateway, now, spki);
}

void gwd_drive_subnet(struct gwd_drive *drive, gmc_time now, const char *subnet)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_SUBNET, now);
        gwd_record_text(drive->recorder, subnet);
        gwd_record_end(drive->recorder);
    }
    gmc_gateway_set_subnet(drive->gateway, now, subnet);
}

void gwd_drive_deliver(struct gwd_drive *drive, gmc_time now, const char *inside)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_DELIVER, now);
        gwd_record_text(drive->recorder, inside);
        gwd_record_end(drive->recorder);
    }
    gmc_gateway_set_deliver(drive->gateway, now, inside);
}

void gwd_drive_tree(struct gwd_drive *drive, gmc_time now, const struct gmc_inside_tree *tree)
{
    const struct gmc_inside_tree tapped = {tap_shape, drive};
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_TREE, now);
        gwd_record_number(drive->recorder, tree != NULL);
        gwd_record_end(drive->recorder);
    }
    drive->tree = tree != NULL ? *tree : (struct gmc_inside_tree){0};
    gmc_gateway_set_inside_tree(drive->gateway, now, tree != NULL ? &tapped : NULL);
}

gmc_status gwd_drive_saved(struct gwd_drive *drive, gmc_time now, const struct gmc_saved *saved)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_SAVED, now);
        gwd_record_text(drive->recorder, saved->key.source);
        gwd_record_number(drive->recorder, saved->key.e);
        gwd_record_text(drive->recorder, saved->name);
        gwd_record_bytes(drive->recorder, saved->bytes);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_on_saved(drive->gateway, now, saved);
}

void gwd_drive_start(struct gwd_drive *drive, gmc_time now)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_START, now);
        gwd_record_end(drive->recorder);
    }
    gmc_gateway_start(drive->gateway, now);
}

gmc_status gwd_drive_datagram(struct gwd_drive *drive, gmc_time now, const struct gmc_dgram_in *in)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_DATAGRAM, now);
        gwd_record_number(drive->recorder, in->path);
        gwd_record_number(drive->recorder, in->peer);
        gwd_record_number(drive->recorder, in->waited);
        gwd_record_number(drive->recorder, in->ecn);
        gwd_record_bytes(drive->recorder, gmc_bytes(in->from.bytes, in->from.len));
        gwd_record_bytes(drive->recorder, in->bytes);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_on_datagram(drive->gateway, now, in);
}

static void record_change(struct gwd_recorder *r, gmc_time now,
                          const struct gmc_peer_change *change)
{
    const struct gmc_session *session = &change->session;
    gwd_record_begin(r, GWD_RECORD_CHANGE, now);
    gwd_record_number(r, change->peer);
    gwd_record_number(r, change->event);
    gwd_record_text(r, change->reason);
    gwd_record_number(r, session->initiator);
    gwd_record_number(r, session->local_id);
    gwd_record_number(r, session->remote_id);
    gwd_record_bytes(r, gmc_bytes(session->send_secret, GMC_KEY_BYTES));
    gwd_record_bytes(r, gmc_bytes(session->recv_secret, GMC_KEY_BYTES));
    gwd_record_bytes(r, session->spki);
    gwd_record_number(r, session->transport);
    gwd_record_number(r, session->udp_payload_max);
    gwd_record_end(r);
}

void gwd_drive_change(struct gwd_drive *drive, gmc_time now, const struct gmc_peer_change *change)
{
    if (drive->recorder != NULL)
        record_change(drive->recorder, now, change);
    gmc_gateway_on_peer(drive->gateway, now, change);
}

static void record_set(struct gwd_recorder *r, const struct gmc_interval_set *set)
{
    size_t count = set != NULL ? gmc_interval_ranges(set) : 0;
    gwd_record_number(r, count);
    for (size_t i = 0; i < count; i++) {
        struct gmc_interval range = gmc_interval_range_at(set, i);
        gwd_record_number(r, range.lo);
        gwd_record_number(r, range.hi);
    }
}

void gwd_drive_stored(struct gwd_drive *drive, gmc_time now, const struct gmc_store_result *result,
                      const struct gmc_store_op *op)
{
    struct gwd_recorder *r = drive->recorder;
    if (r != NULL) {
        bool read = result->status == GMC_OK &&
                    (op->kind == GMC_STORE_READ || op->kind == GMC_STORE_READ_PAGE);
        gwd_record_begin(r, GWD_RECORD_STORED, now);
        gwd_record_number(r, result->ticket);
        gwd_record_number(r, (uint64_t)-result->status);
        gwd_record_text(r, result->reason);
        gwd_record_bytes(r, gmc_bytes(result->hash, GMC_HASH_BYTES));
        gwd_record_number(r, result->listing_bytes);
        gwd_record_number(r, result->total_bytes);
        gwd_record_number(r, result->file_count);
        record_set(r, result->doubtful);
        gwd_record_bytes(r, gmc_bytes(op->data, read ? op->len : 0));
        gwd_record_end(r);
    }
    gmc_gateway_on_stored(drive->gateway, now, result);
}

void gwd_drive_timer(struct gwd_drive *drive, gmc_time now)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_TIMER, now);
        gwd_record_end(drive->recorder);
    }
    gmc_gateway_on_timer(drive->gateway, now);
}

static void hash_answer(struct gwd_drive *drive, const struct gmc_ctl_answer *answer)
{
    bool foreign = drive->foreign_answer;
    drive->foreign_answer = false;
    if (foreign || (drive->recorder == NULL && drive->replaying == NULL))
        return;
    gwd_hash_number(drive, answer->later);
    gwd_hash_number(drive, answer->later ? answer->id : 0);
    if (!answer->later)
        gwd_hash_bytes(drive, answer->bytes);
}

void gwd_drive_request(struct gwd_drive *drive, gmc_time now, gmc_peer origin,
                       struct gmc_bytes request, struct gmc_ctl_answer *answer)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_REQUEST, now);
        gwd_record_number(drive->recorder, origin);
        gwd_record_bytes(drive->recorder, request);
        gwd_record_end(drive->recorder);
    }
    gmc_ctl_handle(drive->ctl, now, origin, request, answer);
    hash_answer(drive, answer);
}

bool gwd_drive_reply(struct gwd_drive *drive, gmc_time now, uint64_t id, struct gmc_bytes reply,
                     struct gmc_ctl_answer *answer)
{
    bool known;
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_REPLY, now);
        gwd_record_number(drive->recorder, id);
        gwd_record_bytes(drive->recorder, reply);
        gwd_record_end(drive->recorder);
    }
    known = gmc_ctl_on_reply(drive->ctl, now, id, reply, answer);
    if (known)
        hash_answer(drive, answer);
    return known;
}

gmc_status gwd_drive_forward(struct gwd_drive *drive, gmc_time now, gmc_peer peer, uint64_t id,
                             struct gmc_bytes request)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_FORWARD, now);
        gwd_record_number(drive->recorder, peer);
        gwd_record_number(drive->recorder, id);
        gwd_record_bytes(drive->recorder, request);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_forward(drive->gateway, now, peer, id, request);
}

void gwd_drive_answer(struct gwd_drive *drive, gmc_time now, gmc_peer peer, uint64_t id,
                      struct gmc_bytes reply)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_ANSWER, now);
        gwd_record_number(drive->recorder, peer);
        gwd_record_number(drive->recorder, id);
        gwd_record_bytes(drive->recorder, reply);
        gwd_record_end(drive->recorder);
    }
    gmc_gateway_answer(drive->gateway, now, peer, id, reply);
}

/* ---- outputs ---- */
void gwd_hash_bytes(struct gwd_drive *drive, struct gmc_bytes bytes)
{
    uint64_t hash = drive->hash ^ bytes.len;
    size_t i = 0;
    /* FNV-1a by words of 8 bytes: it has to keep up with the data path. */
    for (; i + 8 <= bytes.len; i += 8) {
        hash = (hash ^ gmc_get64(bytes.data + i)) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    for (; i < bytes.len; i++)
        hash = (hash ^ bytes.data[i]) * UINT64_C(1099511628211);
    drive->hash = hash;
}

void gwd_hash_number(struct gwd_drive *drive, uint64_t number)
{
    uint8_t bytes[8];
    gmc_put64(bytes, number);
    gwd_hash_bytes(drive, gmc_bytes(bytes, sizeof bytes));
}

static void hash_text(struct gwd_drive *drive, const char *text)
{
    gwd_hash_bytes(drive, gmc_bytes(text, text != NULL ? strlen(text) : 0));
}

static void hash_dgram(struct gwd_drive *drive, const struct gmc_dgram_out *dgram)
{
    gwd_hash_number(drive, dgram->path);
    gwd_hash_number(drive, dgram->ecn);
    gwd_hash_bytes(drive, gmc_bytes(dgram->to.bytes, dgram->to.len));
    gwd_hash_bytes(drive, gmc_bytes(dgram->head, dgram->head_len));
    gwd_hash_bytes(drive, dgram->body);
    gwd_hash_bytes(drive, dgram->tail);
}

static void hash_store(struct gwd_drive *drive, const struct gmc_store_op *op)
{
    bool writes = op->kind == GMC_STORE_WRITE || op->kind == GMC_STORE_WRITE_PAGE;
    gwd_hash_number(drive, op->ticket);
    gwd_hash_number(drive, op->kind);
    hash_text(drive, op->key->source);
    gwd_hash_number(drive, op->key->e);
    gwd_hash_number(drive, op->offset);
    gwd_hash_number(drive, op->len);
    gwd_hash_bytes(drive, gmc_bytes(op->hash, writes ? GMC_HASH_BYTES : 0));
    gwd_hash_bytes(drive, gmc_bytes(op->data, writes ? op->len : 0));
    gwd_hash_number(drive, op->listing_bytes);
    gwd_hash_number(drive, op->total_bytes);
    for (size_t i = 0; i < op->path_count; i++)
        hash_text(drive, op->paths[i]);
    hash_text(drive, op->dest);
    hash_text(drive, op->name);
    gwd_hash_bytes(drive, op->bytes);
    gwd_hash_number(drive, op->discard);
}

static void hash_output(struct gwd_drive *drive, const struct gmc_output *out)
{
    gwd_hash_number(drive, out->kind);
    switch (out->kind) {
    case GMC_OUT_DATAGRAM:
        gwd_hash_number(drive, out->u.dgram.peer);
        hash_dgram(drive, &out->u.dgram);
        break;
    case GMC_OUT_STORE:
        hash_store(drive, &out->u.store);
        break;
    case GMC_OUT_EVENT:
        gwd_hash_number(drive, out->u.event.kind);
        gwd_hash_number(drive, out->u.event.key.e);
        gwd_hash_number(drive, out->u.event.peer);
        hash_text(drive, out->u.event.text);
        break;
    case GMC_OUT_REQUEST:
    case GMC_OUT_NODE_REQUEST:
    case GMC_OUT_REPLY:
        gwd_hash_number(drive, out->id);
        gwd_hash_bytes(drive, out->bytes);
        break;
    case GMC_OUT_GROUP:
        gwd_hash_bytes(drive, out->bytes);
        break;
    case GMC_OUT_MESSAGE:
        gwd_hash_number(drive, out->u.arrived.e);
        gwd_hash_number(drive, out->u.arrived.sequence);
        gwd_hash_bytes(drive, out->bytes);
        break;
    case GMC_OUT_ROOM:
        gwd_hash_number(drive, out->id);
        break;
    case GMC_OUT_CONNECT:
    case GMC_OUT_REJECT:
        gwd_hash_number(drive, out->peer);
        break;
    }
}

gmc_status gwd_drive_open(struct gwd_drive *drive, gmc_time now,
                          const struct gmc_open_request *request, struct gmc_channel_key *key,
                          const char **error)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_OPEN, now);
        gwd_record_text(drive->recorder, request->name);
        gwd_record_number(drive->recorder, request->order);
        gwd_record_number(drive->recorder, request->shape);
        gwd_record_number(drive->recorder, request->target_count);
        for (size_t i = 0; i < request->target_count; i++)
            gwd_record_text(drive->recorder, request->targets[i]);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_open(drive->gateway, now, request, key, error);
}

gmc_status gwd_drive_publish(struct gwd_drive *drive, gmc_time now, uint64_t e,
                             struct gmc_bytes message)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_PUBLISH, now);
        gwd_record_number(drive->recorder, e);
        gwd_record_bytes(drive->recorder, message);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_publish(drive->gateway, now, e, message);
}

gmc_status gwd_drive_end(struct gwd_drive *drive, gmc_time now, uint64_t e, const char *reason)
{
    if (drive->recorder != NULL) {
        gwd_record_begin(drive->recorder, GWD_RECORD_END, now);
        gwd_record_number(drive->recorder, e);
        gwd_record_text(drive->recorder, reason);
        gwd_record_end(drive->recorder);
    }
    return gmc_gateway_end(drive->gateway, now, e, reason);
}

bool gwd_drive_next_output(struct gwd_drive *drive, struct gmc_output *out)
{
    /* Calls are counted, not outputs: also the last one, which finds none, moves the core. */
    drive->taken++;
    if (!gmc_gateway_next_output(drive->gateway, out))
        return false;
    if (drive->recorder == NULL && drive->replaying == NULL)
        return true;
    hash_output(drive, out);
    if (drive->replaying != NULL && out->kind == GMC_OUT_STORE)
        gwd_replay_note_read(drive, &out->u.store);
    return true;
}

void gwd_drive_drained(struct gwd_drive *drive, gmc_time now)
{
    if (drive->recorder == NULL || drive->taken == 0)
        return;
    gwd_record_begin(drive->recorder, GWD_RECORD_DRAIN, now);
    gwd_record_number(drive->recorder, drive->taken);
    gwd_record_number(drive->recorder, drive->hash);
    gwd_record_end(drive->recorder);
    drive->taken = 0;
}
