/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording played to a fresh core, its outputs held against the recorded hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/openssl.h"
#include "fec/code.h"
#include "gatewayd/drive_int.h"
#include "gatewayd/text.h"
#include "wire/control.h"

#define CALLS_MAX 100000 /* for outputs that find none, or until the core draws again */

struct gwd_replay_state {
    struct gwd_recording *recording;
    struct gwd_replay_result *result;
    struct gwd_drive *drive;
    struct gmc_crypto_openssl *openssl;
    struct gmc_crypto crypto;
    struct gmc_fec_code *fec;
    char domain[GMC_DOMAIN_NAME_MAX + 1];
    char text[GMC_REASON_BYTES_MAX]; /* what a hook gave back */
    bool over;
    uint64_t strayed; /* draws that the recording does not have */
};

static void differ(struct gwd_replay_state *state, const char *what)
{
    if (state->result->differs_at != 0)
        return;
    state->result->differs_at = gwd_recording_index(state->recording);
    gwd_text(state->result->reason, sizeof state->result->reason, "%s", what);
    state->over = true;
}

/* ---- what the core asks for ---- */
static bool next_is(struct gwd_replay_state *state, enum gwd_record_kind kind, const char *what)
{
    enum gwd_record_kind found = gwd_recording_peek(state->recording);
    if (!state->over && (found == kind || found == 0) && gwd_recording_next_inner(state->recording))
        return true;
    if (gwd_recording_ended(state->recording))
        state->over = true; /* the recorder was killed while it worked on this */
    else
        differ(state, what);
    return false;
}

gmc_status gwd_replay_sign(struct gwd_drive *drive, uint8_t *sig, size_t *sig_len)
{
    struct gwd_replay_state *state = drive->replaying;
    struct gmc_bytes bytes;
    gmc_status status;
    if (!next_is(state, GWD_RECORD_SIGN, "the core signs where it did not sign before"))
        return GMC_ERR_STATE;
    status = -(gmc_status)gwd_recording_number(state->recording);
    bytes = gwd_recording_bytes(state->recording);
    if (status != GMC_OK || bytes.len > *sig_len)
        return status != GMC_OK ? status : GMC_ERR_FULL;
    memcpy(sig, bytes.data, bytes.len);
    *sig_len = bytes.len;
    return GMC_OK;
}

void gwd_replay_random(struct gwd_drive *drive, uint8_t *out, size_t len)
{
    struct gwd_replay_state *state = drive->replaying;
    struct gmc_bytes bytes;
    memset(out, 0, len);
    if (!next_is(state, GWD_RECORD_RANDOM, "the core draws where it did not draw before")) {
        /* The input still has to end: the core draws again while what it got is taken already. */
        state->strayed++;
        memcpy(out, &state->strayed, len < sizeof state->strayed ? len : sizeof state->strayed);
        return;
    }
    bytes = gwd_recording_bytes(state->recording);
    if (bytes.len == len)
        memcpy(out, bytes.data, len);
    else
        differ(state, "the core draws another number of random bytes");
}

const char *gwd_replay_resolve(struct gwd_drive *drive)
{
    struct gwd_replay_state *state = drive->replaying;
    const char *domain;
    if (!next_is(state, GWD_RECORD_RESOLVE, "another name is looked up"))
        return NULL;
    domain = gwd_recording_text(state->recording);
    if (domain == NULL)
        return NULL;
    gwd_text(state->text, sizeof state->text, "%s", domain);
    return state->text;
}

gmc_status gwd_replay_may(struct gwd_drive *drive, const char **reason)
{
    struct gwd_replay_state *state = drive->replaying;
    const char *text;
    gmc_status status;
    *reason = NULL;
    if (!next_is(state, GWD_RECORD_MAY, "another permission is asked for"))
        return GMC_ERR_ACCESS;
    status = -(gmc_status)gwd_recording_number(state->recording);
    text = gwd_recording_text(state->recording);
    if (text != NULL) {
        gwd_text(state->text, sizeof state->text, "%s", text);
        *reason = state->text;
    }
    return status;
}

gmc_status gwd_replay_shape(struct gwd_drive *drive, size_t count, uint32_t *parent,
                            const char **name)
{
    struct gwd_replay_state *state = drive->replaying;
    gmc_status status;
    *name = "";
    if (!next_is(state, GWD_RECORD_SHAPE, "the core asks for a tree where it did not before"))
        return GMC_ERR_STATE;
    status = -(gmc_status)gwd_recording_number(state->recording);
    const char *text = gwd_recording_text(state->recording);
    gwd_text(state->text, sizeof state->text, "%s", text != NULL ? text : "");
    *name = state->text;
    for (size_t i = 1; i < count && status == GMC_OK; i++)
        parent[i] = (uint32_t)gwd_recording_number(state->recording);
    return status;
}

/* ---- reads: the recording has what the disk gave ---- */
void gwd_replay_note_read(struct gwd_drive *drive, const struct gmc_store_op *op)
{
    if (op->kind != GMC_STORE_READ && op->kind != GMC_STORE_READ_PAGE)
        return;
    if (drive->read_count == drive->read_room) {
        size_t room = drive->read_room == 0 ? 64 : drive->read_room * 2;
        struct gwd_pending_read *grown = realloc(drive->reads, room * sizeof *grown);
        if (grown == NULL)
            return;
        drive->reads = grown;
        drive->read_room = room;
    }
    drive->reads[drive->read_count++] = (struct gwd_pending_read){op->ticket, op->data, op->len};
}

static void fill_read(struct gwd_drive *drive, uint64_t ticket, struct gmc_bytes bytes)
{
    for (size_t i = 0; i < drive->read_count; i++) {
        struct gwd_pending_read *read = &drive->reads[i];
        if (read->ticket != ticket)
            continue;
        if (bytes.len == read->len)
            memcpy(read->data, bytes.data, bytes.len);
        *read = drive->reads[--drive->read_count];
        return;
    }
}

/* ---- inputs ---- */
static void begin(struct gwd_replay_state *state, gmc_time now)
{
    struct gwd_recording *r = state->recording;
    struct gwd_drive_config config = {
        .gateway = {.crypto = &state->crypto, .fec = gmc_fec_code_table(state->fec)}};
    const char *domain = gwd_recording_text(r);
    gwd_text(state->domain, sizeof state->domain, "%s", domain != NULL ? domain : "");
    config.gateway.domain = state->domain;
    config.gateway.node_of = gwd_recording_text(r);
    config.gateway.seed = gwd_recording_number(r);
    config.gateway.incarnation = gwd_recording_number(r);
    config.gateway.cache_bytes = (size_t)gwd_recording_number(r);
    config.gateway.children_max = (uint32_t)gwd_recording_number(r);
    config.gateway.channels_max = (uint32_t)gwd_recording_number(r);
    config.gateway.patience = gwd_recording_number(r);
    config.gateway.probe_age_max = gwd_recording_number(r);
    config.gateway.fixed_rate_bps = gwd_recording_number(r);
    config.gateway.uplink_bps = gwd_recording_number(r);
    config.gateway.downlink_bps = gwd_recording_number(r);
    config.gateway.discard_data = gwd_recording_number(r) != 0;
    config.gateway.spki = gwd_recording_bytes(r);
    config.gateway.deliver = gwd_recording_text(r);
    if (state->domain[0] == '\0' || config.gateway.spki.len == 0) {
        differ(state, "the recording does not say whose it is");
        return;
    }
    config.replay = state;
    state->drive = gwd_drive_new(&config, now);
    if (state->drive == NULL)
        differ(state, "out of memory");
}

static void saved(struct gwd_replay_state *state, gmc_time now)
{
    struct gmc_saved saved = {0};
    const char *source = gwd_recording_text(state->recording);
    gwd_text(saved.key.source, sizeof saved.key.source, "%s", source != NULL ? source : "");
    saved.key.e = gwd_recording_number(state->recording);
    saved.name = gwd_recording_text(state->recording);
    saved.bytes = gwd_recording_bytes(state->recording);
    if (saved.name == NULL) {
        differ(state, "a saved state has no name");
        return;
    }
    (void)gwd_drive_saved(state->drive, now, &saved);
}

static void datagram(struct gwd_replay_state *state, gmc_time now)
{
    struct gmc_dgram_in in = {0};
    struct gmc_bytes from;
    in.path = (enum gmc_path)gwd_recording_number(state->recording);
    in.peer = (gmc_peer)gwd_recording_number(state->recording);
    in.waited = gwd_recording_number(state->recording);
    in.ecn = (enum gmc_ecn_mark)(gwd_recording_number(state->recording) & 3);
    from = gwd_recording_bytes(state->recording);
    in.bytes = gwd_recording_bytes(state->recording);
    if (from.len > sizeof in.from.bytes)
        return;
    in.from.len = (uint8_t)from.len;
    if (from.len > 0)
        memcpy(in.from.bytes, from.data, from.len);
    (void)gwd_drive_datagram(state->drive, now, &in);
}

static void take_key(struct gwd_recording *recording, uint8_t key[GMC_KEY_BYTES])
{
    struct gmc_bytes bytes = gwd_recording_bytes(recording);
    if (bytes.len == GMC_KEY_BYTES)
        memcpy(key, bytes.data, GMC_KEY_BYTES);
}

static void change(struct gwd_replay_state *state, gmc_time now)
{
    struct gwd_recording *r = state->recording;
    struct gmc_peer_change change = {0};
    struct gmc_session *session = &change.session;
    change.peer = session->peer = (gmc_peer)gwd_recording_number(r);
    change.event = (enum gmc_peer_event)gwd_recording_number(r);
    change.reason = gwd_recording_text(r);
    session->initiator = gwd_recording_number(r) != 0;
    session->local_id = (uint32_t)gwd_recording_number(r);
    session->remote_id = (uint32_t)gwd_recording_number(r);
    take_key(r, session->send_secret);
    take_key(r, session->recv_secret);
    session->spki = gwd_recording_bytes(r);
    session->transport = (enum gmc_transport)gwd_recording_number(r);
    session->udp_payload_max = (uint32_t)gwd_recording_number(r);
    gwd_drive_change(state->drive, now, &change);
}

static gmc_status take_set(struct gwd_recording *r, struct gmc_interval_set *set)
{
    gmc_status status = GMC_OK;
    gmc_interval_init(set, SIZE_MAX);
    for (uint64_t left = gwd_recording_number(r); left > 0 && status == GMC_OK; left--) {
        uint64_t lo = gwd_recording_number(r), hi = gwd_recording_number(r);
        status = lo < hi ? gmc_interval_add(set, lo, hi) : GMC_ERR_INVALID;
    }
    return status;
}

static void stored(struct gwd_replay_state *state, gmc_time now)
{
    struct gwd_recording *r = state->recording;
    struct gmc_store_result result = {0};
    struct gmc_store_op op = {0};
    struct gmc_interval_set doubtful;
    struct gmc_bytes hash;
    result.ticket = gwd_recording_number(r);
    result.status = -(gmc_status)gwd_recording_number(r);
    result.reason = gwd_recording_text(r);
    hash = gwd_recording_bytes(r);
    if (hash.len == GMC_HASH_BYTES)
        memcpy(result.hash, hash.data, GMC_HASH_BYTES);
    result.listing_bytes = gwd_recording_number(r);
    result.total_bytes = gwd_recording_number(r);
    result.file_count = gwd_recording_number(r);
    if (take_set(r, &doubtful) != GMC_OK)
        differ(state, "a list of blocks is damaged");
    else if (gmc_interval_ranges(&doubtful) > 0)
        result.doubtful = &doubtful;
    fill_read(state->drive, result.ticket, gwd_recording_bytes(r));
    gwd_drive_stored(state->drive, now, &result, &op);
    gmc_interval_fini(&doubtful);
}

static bool take_output(struct gwd_replay_state *state)
{
    struct gmc_output out;
    bool any = gwd_drive_next_output(state->drive, &out);
    state->result->outputs += any;
    return any;
}

/* The recorder's shell called for outputs so often; call as often, and compare. */
static void drain(struct gwd_replay_state *state)
{
    uint64_t count = gwd_recording_number(state->recording);
    uint64_t hash = gwd_recording_number(state->recording);
    for (uint64_t idle = 0; state->drive->taken < count && idle < CALLS_MAX;)
        idle += !take_output(state);
    if (state->drive->taken != count || state->drive->hash != hash)
        differ(state, "the outputs are not those of the recording");
    state->drive->taken = 0;
}

static bool is_asked(enum gwd_record_kind kind)
{
    return kind == GWD_RECORD_RANDOM || kind == GWD_RECORD_SIGN || kind == GWD_RECORD_RESOLVE ||
           kind == GWD_RECORD_MAY || kind == GWD_RECORD_SHAPE;
}

/* What the core drew while its outputs were taken stands before the record of the drain: take
 * outputs until it has drawn that. */
static void take_while_asked(struct gwd_replay_state *state)
{
    while (!state->over && is_asked(gwd_recording_peek(state->recording))) {
        uint64_t before = gwd_recording_index(state->recording), calls = 0;
        while (!state->over && gwd_recording_index(state->recording) == before) {
            if (++calls > CALLS_MAX) {
                differ(state, "the core asks for less than before");
                return;
            }
            (void)take_output(state);
        }
    }
}

static void set_group(struct gwd_replay_state *state, gmc_time now)
{
    struct gmc_bytes word = gwd_recording_bytes(state->recording);
    uint64_t rate_bps = gwd_recording_number(state->recording);
    gwd_drive_group(state->drive, now, word, rate_bps,
                    (uint32_t)gwd_recording_number(state->recording));
}

/* Records come from files: more domains than there are texts are refused by the core. */
static void open_channel(struct gwd_replay_state *state, gmc_time now)
{
    struct gwd_recording *r = state->recording;
    const char *name = gwd_recording_text(r), *error;
    struct gmc_open_request request = {.name = name != NULL ? name : ""};
    struct gmc_channel_key key;
    request.order = (enum gmc_message_order)gwd_recording_number(r);
    request.shape = (enum gmc_tree_shape)gwd_recording_number(r);
    uint64_t count = gwd_recording_number(r);
    if (count > GMC_MEMBERS_MAX)
        count = GMC_MEMBERS_MAX;
    const char **targets = calloc(count + 1, sizeof *targets);
    for (uint64_t i = 0; targets != NULL && i < count; i++) {
        const char *target = gwd_recording_text(r);
        targets[i] = target != NULL ? target : "";
    }
    request.targets = targets;
    request.target_count = targets != NULL ? (size_t)count : 0;
    (void)!gwd_drive_open(state->drive, now, &request, &key, &error);
    free(targets);
}

static void input(struct gwd_replay_state *state, enum gwd_record_kind kind, gmc_time now)
{
    static const struct gmc_inside_tree none = {0}; /* what it said is recorded */
    struct gwd_recording *r = state->recording;
    struct gmc_ctl_answer answer = {0};
    gmc_peer peer;
    uint64_t id;
    const char *name;
    state->result->inputs += kind < GWD_RECORD_RANDOM;
    switch (kind) {
    case GWD_RECORD_PEER:
        name = gwd_recording_text(r);
        (void)gwd_drive_peer(state->drive, now, name != NULL ? name : "");
        break;
    case GWD_RECORD_SAVED:
        saved(state, now);
        break;
    case GWD_RECORD_START:
        gwd_drive_start(state->drive, now);
        break;
    case GWD_RECORD_DATAGRAM:
        datagram(state, now);
        break;
    case GWD_RECORD_CHANGE:
        change(state, now);
        break;
    case GWD_RECORD_STORED:
        stored(state, now);
        break;
    case GWD_RECORD_TIMER:
        gwd_drive_timer(state->drive, now);
        break;
    case GWD_RECORD_REQUEST:
        peer = (gmc_peer)gwd_recording_number(r);
        gwd_drive_request(state->drive, now, peer, gwd_recording_bytes(r), &answer);
        break;
    case GWD_RECORD_REPLY:
        id = gwd_recording_number(r);
        (void)gwd_drive_reply(state->drive, now, id, gwd_recording_bytes(r), &answer);
        break;
    case GWD_RECORD_ANSWER:
        peer = (gmc_peer)gwd_recording_number(r);
        id = gwd_recording_number(r);
        gwd_drive_answer(state->drive, now, peer, id, gwd_recording_bytes(r));
        break;
    case GWD_RECORD_FORWARD:
        peer = (gmc_peer)gwd_recording_number(r);
        id = gwd_recording_number(r);
        (void)gwd_drive_forward(state->drive, now, peer, id, gwd_recording_bytes(r));
        break;
    case GWD_RECORD_NODE:
        peer = (gmc_peer)gwd_recording_number(r);
        gwd_drive_node(state->drive, now, peer, gwd_recording_number(r) != 0);
        break;
    case GWD_RECORD_GROUP:
        set_group(state, now);
        break;
    case GWD_RECORD_KEY:
        (void)gwd_drive_key(state->drive, now, gwd_recording_bytes(r));
        break;
    case GWD_RECORD_SUBNET:
        name = gwd_recording_text(r);
        gwd_drive_subnet(state->drive, now, name != NULL ? name : "");
        break;
    case GWD_RECORD_DELIVER:
        name = gwd_recording_text(r);
        gwd_drive_deliver(state->drive, now, name != NULL ? name : "nodes");
        break;
    case GWD_RECORD_TREE:
        id = gwd_recording_number(r);
        gwd_drive_tree(state->drive, now, id != 0 ? &none : NULL);
        break;
    case GWD_RECORD_OPEN:
        open_channel(state, now);
        break;
    case GWD_RECORD_PUBLISH:
        id = gwd_recording_number(r);
        (void)gwd_drive_publish(state->drive, now, id, gwd_recording_bytes(r));
        break;
    case GWD_RECORD_END:
        id = gwd_recording_number(r);
        name = gwd_recording_text(r);
        (void)gwd_drive_end(state->drive, now, id, name != NULL ? name : "");
        break;
    case GWD_RECORD_DRAIN:
        drain(state);
        break;
    default:
        differ(state, "the core asks for less than before");
    }
}

/* What is wrong with the file is said in place of what the core lacked on its account. */
static void look_at_end(struct gwd_replay_state *state)
{
    const char *damage = gwd_recording_damage(state->recording);
    state->result->is_cut = gwd_recording_is_cut(state->recording);
    if (damage == NULL)
        return;
    state->result->differs_at = gwd_recording_index(state->recording) + 1;
    gwd_text(state->result->reason, sizeof state->result->reason, "%s", damage);
}

bool gwd_replay(const char *path, struct gwd_replay_result *result)
{
    static const uint8_t seed[32];
    struct gwd_replay_state state = {.result = result};
    enum gwd_record_kind kind;
    gmc_time now, last = 0;
    memset(result, 0, sizeof *result);
    state.recording = gwd_recording_open(path, result->reason, sizeof result->reason);
    if (state.recording == NULL)
        return false;
    state.openssl = gmc_crypto_openssl_new(NULL, seed);
    if (state.openssl != NULL)
        gmc_crypto_openssl_table(state.openssl, &state.crypto);
    state.fec = gmc_fec_code_new();
    while (state.openssl != NULL && state.fec != NULL && !state.over &&
           gwd_recording_next(state.recording, &kind, &now)) {
        result->records++;
        if (now < last && !is_asked(kind))
            differ(&state, "the time goes back");
        else if (kind == GWD_RECORD_BEGIN && state.drive == NULL)
            begin(&state, now);
        else if (state.drive == NULL)
            differ(&state, "the recording has no beginning");
        else
            input(&state, kind, now);
        last = now;
        if (state.drive != NULL)
            take_while_asked(&state);
    }
    look_at_end(&state);
    if (state.drive == NULL && result->reason[0] == '\0')
        gwd_text(result->reason, sizeof result->reason, "%s is empty", path);
    result->hash = state.drive != NULL ? state.drive->hash : 0;
    gwd_drive_free(state.drive);
    gmc_crypto_openssl_free(state.openssl);
    gmc_fec_code_free(state.fec);
    gwd_recording_free(state.recording);
    return result->reason[0] == '\0';
}
