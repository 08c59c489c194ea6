/* SPDX-License-Identifier: BSD-2-Clause */
/* The source's record: measuring before it, signing it, and what of a transfer is saved so that it
 * survives a restart of its source. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"
#include "core/probe_plan.h"

#define SAVE_MAGIC 0x676d7332u          /* "gms2" */
#define RATES_LEAST (UINT64_C(4) << 20) /* bytes: smaller objects are there before a train is */

/* ---- measuring ---- */
static bool takes_part(struct gmc_gateway *gw, const struct gwmember *member)
{
    const struct gwpeer *peer = gw_peer(gw, member->peer);
    return member->state != GMC_MEMBER_FAILED && !member->closed && peer->up && !peer->is_node;
}

/* All members that can be measured, the source first. *count is at least 1. */
gmc_peer *gw_source_participants(struct gmc_gateway *gw, const struct gwchannel *ch, size_t *count)
{
    gmc_peer *list = malloc(sizeof(*list) * (ch->src->member_count + 1));
    GMC_ASSERT(list != NULL);
    *count = 0;
    list[(*count)++] = gw->self;
    for (size_t i = 0; i < ch->src->member_count; i++)
        if (takes_part(gw, &ch->src->members[i]))
            list[(*count)++] = ch->src->members[i].peer;
    return list;
}

static bool all_known(const struct gmc_gateway *gw, const gmc_peer *list, size_t count)
{
    struct gmc_latency latency;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (!gmc_latency_cache_get(gw->latencies, list[i], list[j], gw->now,
                                       gw->config.probe_age_max, &latency))
                return false;
    return true;
}

/* A set of participants, whatever their order. */
static uint64_t set_hash(const gmc_peer *list, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t mixed = ((uint64_t)list[i] + 1) * 0x9e3779b97f4a7c15u;
        hash += mixed ^ mixed >> 29;
    }
    return hash;
}

static struct gwset *find_set(struct gmc_gateway *gw, uint64_t hash)
{
    for (size_t i = 0; i < GW_SETS_KEPT; i++)
        if (gw->sets[i].hash == hash)
            return &gw->sets[i];
    return NULL;
}

/* Was this very set measured lately? Pairs that could not hear each other then are not asked
 * again for every transfer. */
static bool measured_lately(struct gmc_gateway *gw, const gmc_peer *list, size_t count)
{
    const struct gwset *set = find_set(gw, set_hash(list, count));
    return set != NULL && set->until > gw->now;
}

/* Trees of this shape, and what they are predicted to take, follow from what uplinks carry. */
static enum gmc_rates rates_wanted(const struct gwchannel *ch)
{
    const struct gwsource *src = ch->src;
    if (src->doubts_rates)
        return GMC_RATES_ANEW;
    return ch->talk == NULL && src->shape == GMC_TREE_BULK &&
                   (src->plan || ch->object.total_bytes >= RATES_LEAST)
               ? GMC_RATES_WANTED
               : GMC_RATES_NONE;
}

static bool is_young(const struct gmc_gateway *gw, gmc_time at)
{
    return at != 0 && gmc_time_sub(gw->now, at) <= gw->config.probe_age_max;
}

/* Of one of them, and they were not asked lately. */
static bool lacks_rates(struct gmc_gateway *gw, const gmc_peer *list, size_t count)
{
    const struct gwset *set = find_set(gw, set_hash(list, count));
    bool lacks = gw->config.uplink_bps == 0 && gw_uplink_measured(gw).most == 0;
    if (set != NULL && set->rates_until > gw->now)
        return false;
    for (size_t i = 1; i < count && !lacks; i++) {
        const struct gwpeer *peer = gw->peers[list[i]];
        lacks = !(peer->uplink_bps > 0 && is_young(gw, peer->rates_at)) &&
                !(peer->measured_bps > 0 && is_young(gw, peer->measured_at));
    }
    return lacks;
}

/* A transfer that is about to begin, to two or more. It waits for the round: to begin by latencies
 * and go over to other trees costs sessions in the queues that the first ones fill. */
static bool is_begun_with_rates(const struct gwchannel *ch, size_t count)
{
    return ch->src->gathering && !ch->src->background && count > 2;
}

/* Is a round to be made for the rates, whatever is known of latencies? */
static bool wants_round(struct gmc_gateway *gw, const struct gwchannel *ch, const gmc_peer *list,
                        size_t count)
{
    enum gmc_rates rates = rates_wanted(ch);
    return rates == GMC_RATES_ANEW ||
           (rates == GMC_RATES_WANTED && (ch->src->plan || is_begun_with_rates(ch, count)) &&
            lacks_rates(gw, list, count));
}

/* A pair that is missing may have been slow to connect, and a tree around it is a poor one: the
 * next transfer asks again, later ones when twice as long has passed each time. */
static void remember_set(struct gmc_gateway *gw, const struct gwround *round)
{
    const gmc_peer *list = round->participants;
    size_t count = round->count;
    uint64_t hash = set_hash(list, count);
    struct gwset *set = find_set(gw, hash);
    bool known = set != NULL;
    gmc_duration wait = 0;
    if (!known)
        set = &gw->sets[gw->next_set++ % GW_SETS_KEPT];
    if (count <= GMC_PROBE_ALL_MAX && all_known(gw, list, count))
        wait = gw->config.probe_age_max;
    else if (known)
        wait = set->wait > 0 ? 2 * set->wait : GW_SET_AGAIN;
    if (wait > gw->config.probe_age_max)
        wait = gw->config.probe_age_max;
    gmc_time rates_until = known ? set->rates_until : 0;
    if (round->rates != GMC_RATES_NONE)
        rates_until = gmc_time_add(gw->now, gw->config.probe_age_max);
    *set = (struct gwset){hash, gmc_time_add(gw->now, wait), rates_until, wait};
}

/* Pairs whose latency is known are not measured again: bit j of the mask says so for list[i]. */
static void known_mask(const struct gmc_gateway *gw, const gmc_peer *list, size_t count, size_t i,
                       uint8_t *mask)
{
    memset(mask, 0, (count + 7) / 8);
    for (size_t j = 0; j < count; j++) {
        struct gmc_latency latency;
        if (j != i && gmc_latency_cache_get(gw->latencies, list[i], list[j], gw->now,
                                            gw->config.probe_age_max, &latency))
            mask[j / 8] |= (uint8_t)(1u << (j % 8));
    }
}

static void ask_participants(struct gmc_gateway *gw, const struct gwround *round,
                             const uint8_t key[GMC_KEY_BYTES])
{
    size_t count = round->count;
    const char **names = malloc(sizeof(*names) * count);
    uint8_t *mask = malloc(count / 8 + 1);
    if (names != NULL && mask != NULL) {
        for (size_t i = 0; i < count; i++)
            names[i] = gmc_gateway_peer_name(gw, round->participants[i]);
        for (size_t i = 1; i < count; i++) {
            known_mask(gw, round->participants, count, i, mask);
            struct gmc_msg msg = {.type = GMC_MSG_PROBE,
                                  .probe_id = gmc_probe_id(round->probe),
                                  .secret = key,
                                  .names = names,
                                  .name_count = count,
                                  .mask = gmc_bytes(mask, (count + 7) / 8),
                                  .rates = round->rates};
            gw_send(gw, gw_peer(gw, round->participants[i]), &msg);
        }
    }
    free(mask);
    free(names);
}

/* For the rows: to ask the farthest, its echoes and its answer are two round trips, of which one
 * may be lost. But nobody waits for it to begin an object: the bulk trees are looked at again soon.
 * Even less where only rates lack, of which a STATUS tells too. */
static gmc_duration round_wait(struct gmc_gateway *gw, const struct gwchannel *ch,
                               const gmc_peer *list, size_t count)
{
    const struct gwsource *src = ch->src;
    gmc_duration far = 3 * gw_farthest(gw, list, count);
    gmc_duration trains = rates_wanted(ch) != GMC_RATES_NONE ? GW_TRAIN_WAIT : 0;
    bool comes_again = ch->state == GMC_CHANNEL_PROBING && ch->talk == NULL &&
                       src->shape == GMC_TREE_BULK && !src->plan;
    if (comes_again && all_known(gw, list, count))
        return gmc_time_min(far + GW_RATES_WAIT, GW_PROBE_WAIT + trains);
    return (comes_again ? GW_PROBE_WAIT : gmc_time_max(GW_PROBE_WAIT, far)) + trains;
}

static void begin_round(struct gmc_gateway *gw, struct gwchannel *ch, const gmc_peer *list,
                        size_t count)
{
    uint8_t key[GMC_KEY_BYTES];
    gw->config.crypto->ops->random(gw->config.crypto->ctx, key, sizeof(key));
    uint8_t *mask = malloc(count / 8 + 1);
    if (mask != NULL) {
        known_mask(gw, list, count, 0, mask);
        struct gwround_config config = {.id = gw_random64(gw),
                                        .key = key,
                                        .participants = list,
                                        .count = count,
                                        .mask = gmc_bytes(mask, (count + 7) / 8),
                                        .rates = rates_wanted(ch)};
        ch->src->round = gw_round_new(gw, NULL, &config);
    }
    free(mask);
    ch->src->probe_until = gmc_time_add(gw->now, round_wait(gw, ch, list, count));
    if (ch->src->round == NULL) {
        ch->src->probe_until = gw->now; /* the tree is built from what is known */
        return;
    }
    for (size_t i = 0; i < ch->src->member_count; i++)
        ch->src->members[i].joined = !takes_part(gw, &ch->src->members[i]);
    ask_participants(gw, ch->src->round, key);
    gw_probe_step(gw);
}

static bool all_joined(const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->src->member_count; i++)
        if (!ch->src->members[i].joined)
            return false;
    return ch->src->round == NULL || ch->src->round->answered;
}

bool gw_source_knows_latencies(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    size_t count;
    gmc_peer *list = gw_source_participants(gw, ch, &count);
    bool known = count > GMC_PROBE_ALL_MAX || all_known(gw, list, count);
    free(list);
    return known;
}

/* True when the latencies that the tree needs are there, or will not come. A list of members that
 * was measured lately costs nothing. */
bool gw_source_measured(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    if (src->probe_until == 0) {
        size_t count;
        gmc_peer *list = gw_source_participants(gw, ch, &count);
        bool large = count > GMC_PROBE_ALL_MAX;
        bool enough = src->shape == GMC_TREE_FLAT || count < 2 ||
                      count > GMC_PROBE_PARTICIPANTS_MAX || (count == 2 && !src->plan) ||
                      (!large && (all_known(gw, list, count) || measured_lately(gw, list, count)) &&
                       !wants_round(gw, ch, list, count));
        if (!enough && large)
            enough = !gw_sparse_begin(gw, ch, list, count);
        else if (!enough)
            begin_round(gw, ch, list, count);
        free(list);
        if (enough)
            return true;
    }
    if (!all_joined(ch) && gw->now < src->probe_until) {
        gw_set_timer(gw, &ch->timer, src->probe_until);
        return false;
    }
    if (src->sparse != NULL && gw_sparse_next(gw, ch))
        return false;
    if (src->round != NULL) {
        remember_set(gw, src->round);
        gw_round_free(src->round);
    }
    src->round = NULL;
    src->probe_until = 0;
    return true;
}

void gw_source_join(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (!ch->is_source || ch->src->round == NULL ||
            gmc_probe_id(ch->src->round->probe) != msg->probe_id)
            continue;
        struct gwround *round = ch->src->round;
        struct gwmember *member = gw_source_member(ch, peer->number);
        if (member == NULL)
            break;
        for (size_t i = 0; i < msg->latency_count; i++) {
            const struct gmc_msg_latency *row = &msg->latencies[i];
            if (row->participant >= round->count ||
                round->participants[row->participant] == peer->number)
                continue;
            struct gmc_latency latency = {.rtt_min = row->rtt_min_ns,
                                          .spread = row->spread_ns,
                                          .measured = gw->now};
            gmc_latency_cache_put(gw->latencies, peer->number,
                                  round->participants[row->participant], &latency);
        }
        member->joined = true;
        peer->uplink_bps = msg->uplink_bps;
        peer->downlink_bps = msg->downlink_bps;
        peer->rates_at = gw->now;
        gw_uplink_heard(gw, peer, msg);
        gw_source_soon(gw, ch);
        return;
    }
    gw->counts.messages_refused++;
}

/* ---- the record ---- */
static gmc_status encode_record(struct gmc_gateway *gw, const struct gwchannel *ch,
                                const struct gwroll *roll, const uint8_t root[GMC_HASH_BYTES],
                                const uint8_t *secret, uint8_t **bytes, size_t *len)
{
    struct gmc_record record = {.source = gw->domain,
                                .e = ch->key.e,
                                .version = ch->saved_version,
                                .epoch = ch->saved_epoch,
                                .listing_bytes = ch->object.listing_bytes,
                                .total_bytes = ch->object.total_bytes,
                                .block_bytes = ch->object.block_bytes,
                                .fragment_bytes = ch->object.fragment_bytes,
                                .rate_bps = ch->src->rate_bps,
                                .planned_bps = ch->src->planned_bps,
                                .background = ch->src->background,
                                .shape = (uint32_t)ch->src->shape,
                                .stripes = ch->stripe_count,
                                .members = (uint32_t)roll->count,
                                .name = ch->talk != NULL ? ch->talk->name : NULL,
                                .order = ch->talk != NULL ? (uint32_t)ch->talk->order : 0};
    gw->config.crypto->ops->hash(secret, GMC_KEY_BYTES, record.key_hash);
    memcpy(record.root, root, GMC_HASH_BYTES);
    if (ch->talk != NULL) {
        memcpy(record.proof_key, ch->talk->proofs.key, sizeof(record.proof_key));
        record.proof_key_len = ch->talk->proofs.key_len;
    }
    return gmc_record_encode(&record, bytes, len);
}

/* Of the present members; what was there before stays when it fails. */
static gmc_status renew_record(struct gmc_gateway *gw, struct gwchannel *ch, const uint8_t *secret)
{
    struct gwroll roll;
    uint8_t root[GMC_HASH_BYTES];
    uint8_t *bytes = NULL;
    size_t len;
    uint8_t signature[GMC_SIGNATURE_BYTES_MAX];
    size_t signature_len = sizeof(signature);
    gmc_status status = gw_roll_make(gw, ch, &roll, root);
    if (status != GMC_OK)
        return status;
    status = encode_record(gw, ch, &roll, root, secret, &bytes, &len);
    if (status == GMC_OK)
        status =
            gw_record_sign(gw, ch->source_key, gmc_bytes(bytes, len), signature, &signature_len);
    if (status == GMC_OK)
        status = gw_channel_set_record(gw, ch,
                                       &(struct gmc_place){.record = gmc_bytes(bytes, len),
                                                           .signature = gmc_bytes(signature,
                                                                                  signature_len)});
    gmc_msg_bytes_free(bytes);
    if (status != GMC_OK) {
        gw_roll_free(&roll);
        return status;
    }
    gw_roll_free(&ch->src->roll);
    ch->src->roll = roll;
    uint32_t entry = 0;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        member->recorded = gw_source_is_in_record(member);
        member->entry = member->recorded ? entry++ : 0;
    }
    return GMC_OK;
}

/* Makes, signs and saves a record of the present members. The first one of this start of the
 * gateway opens a new key epoch; false when the transfer failed over it. */
bool gw_source_make_record(struct gmc_gateway *gw, struct gwchannel *ch)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    bool first = ch->aead == NULL;
    uint8_t secret[GMC_KEY_BYTES];
    memcpy(secret, ch->secret, sizeof(secret));
    if (first) {
        crypto->ops->random(crypto->ctx, secret, sizeof(secret));
        ch->saved_epoch++;
    }
    ch->saved_version++;
    for (size_t i = 0; i < ch->src->member_count; i++) {
        struct gwmember *member = &ch->src->members[i];
        if (!member->placed && takes_part(gw, member) && ch->src->scanned)
            gw_source_place_late(gw, ch, member);
        member->told = false;
    }
    gmc_status status = renew_record(gw, ch, secret);
    if (status == GMC_OK && first)
        status = gw_channel_set_key(gw, ch, secret);
    if (status != GMC_OK) {
        gw_source_fail(gw, ch, status, "cannot make or sign the channel record");
        return false;
    }
    if (ch->talk == NULL) { /* messages do not survive the source, and neither does their channel */
        ch->src->unsaved = true;
        gw_source_save(gw, ch);
    }
    return true;
}

/* ---- saved state ----
 * From the first moment on. Before the first record (version 0) no member knows of it: what is
 * saved then is what the user asked for, and a restart scans the sources anew. */
#define NOT_PLACED UINT32_MAX /* for a parent */

static void put_text(struct gmc_writer *w, const char *text)
{
    size_t len = strlen(text);
    gmc_writer_u16(w, (uint16_t)len);
    gmc_writer_bytes(w, gmc_bytes(text, len));
}

static char *get_text(struct gmc_reader *r)
{
    uint16_t len = gmc_reader_u16(r);
    struct gmc_bytes bytes = gmc_reader_bytes(r, len);
    char *text = (char *)gw_copy(bytes);
    text[bytes.len] = '\0';
    return text;
}

static size_t saved_size(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    size_t size = 128;
    for (size_t i = 0; i < ch->src->path_count; i++)
        size += 2 + strlen(ch->src->paths[i]);
    for (size_t i = 0; i < ch->src->member_count; i++) {
        const struct gwmember *member = &ch->src->members[i];
        size += 66 + strlen(member->inside) + 4 * (size_t)GMC_STRIPES_MAX +
                strlen(gmc_gateway_peer_name(gw, member->peer)) + strlen(member->path) +
                strlen(member->reason);
    }
    return size;
}

void gw_source_save(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwsource *src = ch->src;
    src->save_due = false;
    src->save_again = 0;
    if (ch->talk != NULL || src->plan)
        return;
    size_t size = saved_size(gw, ch);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        return;
    struct gmc_writer w;
    gmc_writer_init(&w, bytes, size);
    gmc_writer_u32(&w, SAVE_MAGIC);
    gmc_writer_u32(&w, ch->saved_version);
    gmc_writer_u32(&w, ch->saved_epoch);
    gmc_writer_u8(&w, (uint8_t)ch->state);
    gmc_writer_u8(&w, (uint8_t)src->shape);
    gmc_writer_u8(&w, (uint8_t)ch->stripe_count);
    gmc_writer_u64(&w, src->rate_bps);
    gmc_writer_u64(&w, ch->file_count);
    gmc_writer_u64(&w, ch->object.listing_bytes);
    gmc_writer_u64(&w, ch->object.total_bytes);
    gmc_writer_u32(&w, ch->object.fragment_bytes);
    gmc_writer_u32(&w, (uint32_t)src->path_count);
    for (size_t i = 0; i < src->path_count; i++)
        put_text(&w, src->paths[i]);
    gmc_writer_u32(&w, (uint32_t)src->member_count);
    for (size_t i = 0; i < src->member_count; i++) {
        const struct gwmember *member = &src->members[i];
        put_text(&w, gmc_gateway_peer_name(gw, member->peer));
        put_text(&w, member->path);
        put_text(&w, member->reason);
        gmc_writer_u8(&w, (uint8_t)member->state);
        gmc_writer_u8(&w, (uint8_t)(member->closed | (member->grown > 0) << 1));
        for (uint32_t k = 0; k < ch->stripe_count; k++)
            gmc_writer_u32(&w, member->placed ? (uint32_t)member->parent[k] : NOT_PLACED);
        gmc_writer_bytes(&w, gmc_bytes(member->digest, GMC_HASH_BYTES));
    }
    gmc_writer_u8(&w, src->background);
    for (size_t i = 0; i < src->member_count; i++)
        put_text(&w, src->members[i].inside);
    gmc_writer_u64(&w, src->prediction.time);
    GMC_ASSERT(gmc_writer_status(&w) == GMC_OK);
    struct gmc_bytes written = gmc_writer_written(&w);
    gw_save(gw, ch, "source", written.data, written.len);
    free(bytes);
}

static gmc_status restore_member(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_reader *r)
{
    char *domain = get_text(r);
    char *path = get_text(r);
    char *reason = get_text(r);
    gmc_status status = domain[0] != '\0' && strlen(domain) <= GMC_DOMAIN_NAME_MAX
                            ? gw_source_add_member(gw, ch, domain, path, "")
                            : GMC_ERR_INVALID;
    if (status == GMC_OK) {
        struct gwmember *member = &ch->src->members[ch->src->member_count - 1];
        uint8_t state = gmc_reader_u8(r);
        uint8_t flags = gmc_reader_u8(r);
        member->closed = (flags & 1) != 0;
        member->grown = (flags & 2) != 0 ? ch->saved_version : 0;
        member->placed = true;
        for (uint32_t k = 0; k < ch->stripe_count; k++) {
            uint32_t parent = gmc_reader_u32(r);
            member->placed = member->placed && parent != NOT_PLACED;
            member->parent[k] = parent != NOT_PLACED ? (int32_t)parent : 0;
        }
        gmc_reader_copy(r, member->digest, GMC_HASH_BYTES);
        member->state = state == GMC_MEMBER_VERIFIED || state == GMC_MEMBER_FAILED
                            ? (enum gmc_member_state)state
                            : GMC_MEMBER_WAITING;
        gw_text(member->reason, sizeof(member->reason), "%s", reason);
        if (member->state == GMC_MEMBER_VERIFIED) { /* it proved what was the object's digest */
            memcpy(ch->digest, member->digest, GMC_HASH_BYTES);
            ch->digest_known = true;
        }
    }
    free(domain);
    free(path);
    free(reason);
    return status;
}

static bool parents_in_range(const struct gwsource *src)
{
    for (size_t i = 0; i < src->member_count; i++)
        for (uint32_t k = 0; k < GMC_STRIPES_MAX; k++)
            if (src->members[i].parent[k] < 0 ||
                (size_t)src->members[i].parent[k] > src->member_count)
                return false;
    return true;
}

gmc_status gw_source_restore(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved)
{
    struct gwsource *src = ch->src;
    struct gmc_reader r;
    gmc_reader_init(&r, saved);
    if (gmc_reader_u32(&r) != SAVE_MAGIC)
        return GMC_ERR_INVALID;
    src->is_on_disk = true;
    ch->saved_version = gmc_reader_u32(&r);
    ch->saved_epoch = gmc_reader_u32(&r);
    ch->state =
        gmc_reader_u8(&r) == GMC_CHANNEL_PARTIAL ? GMC_CHANNEL_PARTIAL : GMC_CHANNEL_RUNNING;
    uint8_t shape = gmc_reader_u8(&r);
    uint8_t stripes = gmc_reader_u8(&r);
    src->rate_bps = gmc_reader_u64(&r);
    ch->file_count = gmc_reader_u64(&r);
    struct gmc_object object = {.block_bytes = gw->config.block_bytes};
    object.listing_bytes = gmc_reader_u64(&r);
    object.total_bytes = gmc_reader_u64(&r);
    object.fragment_bytes = gmc_reader_u32(&r);
    bool has_object = ch->saved_version > 0;
    if ((has_object && gmc_object_check(&object) != GMC_OK) || shape >= GMC_TREE_SHAPES ||
        stripes == 0 || gw_stripes_set(ch, stripes) != GMC_OK)
        return GMC_ERR_INVALID;
    src->shape = (enum gmc_tree_shape)shape;
    uint32_t paths = gmc_reader_u32(&r);
    if (paths == 0 || paths > gmc_reader_left(&r) / 2)
        return GMC_ERR_INVALID;
    src->paths = calloc(paths, sizeof(*src->paths));
    if (src->paths == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < paths; i++)
        src->paths[src->path_count++] = get_text(&r);
    uint32_t members = gmc_reader_u32(&r);
    if (members == 0 || members > gmc_reader_left(&r) / 32)
        return GMC_ERR_INVALID;
    for (uint32_t i = 0; i < members; i++)
        if (restore_member(gw, ch, &r) != GMC_OK)
            return GMC_ERR_INVALID;
    src->background = gmc_reader_left(&r) > 0 && gmc_reader_u8(&r) != 0; /* not saved before */
    for (uint32_t i = 0; i < members && gmc_reader_left(&r) > 0; i++) {
        free(src->members[i].inside);
        src->members[i].inside = get_text(&r); /* nor these */
    }
    if (gmc_reader_left(&r) > 0) /* nor this */
        src->prediction.time = gmc_reader_u64(&r);
    if (gmc_reader_status(&r) != GMC_OK || !parents_in_range(src))
        return GMC_ERR_INVALID;
    ch->restored = true;
    if (!has_object)
        return GMC_OK;
    gw_channel_set_object(ch, &object);
    for (size_t i = 0; i < src->member_count; i++)
        if (src->members[i].state == GMC_MEMBER_VERIFIED)
            src->members[i].bytes = object.total_bytes;
    return GMC_OK;
}
