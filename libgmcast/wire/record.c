/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the channel record and its members: struct gmc_record and struct gmc_member <-> the bytes
 * that the source signs and hashes. */
#include <stdlib.h>
#include <string.h>

#include "proto/record.pb-c.h"
#include "wire/codec.h"
#include "wire/control.h"

struct gmc_record_holder {
    struct gmc_arena arena;
};

/* ---- the record ---- */
static bool has_name(const struct gmc_record *record)
{
    return record->name != NULL && record->name[0] != 0;
}

/* In commands a name may stand behind its source's and a slash. */
bool gmc_channel_name_ok(const char *name)
{
    return gmc_codec_name_ok(name) && strlen(name) <= GMC_CHANNEL_NAME_MAX &&
           strchr(name, '/') == NULL;
}

/* The numbers of the object are checked by gmc_object_check, which knows what they mean. */
static gmc_status check(const struct gmc_record *record)
{
    if (!gmc_codec_name_ok(record->source) || record->members >= GMC_MEMBERS_MAX ||
        record->stripes > GMC_STRIPES_MAX || record->proof_key_len > GMC_PROOF_KEY_MAX ||
        (has_name(record) && !gmc_channel_name_ok(record->name)))
        return GMC_ERR_INVALID;
    return GMC_OK;
}

gmc_status gmc_record_encode(const struct gmc_record *record, uint8_t **out, size_t *len)
{
    Gmcast__Wire__Record message = GMCAST__WIRE__RECORD__INIT;

    if (check(record) != GMC_OK)
        return GMC_ERR_INVALID;
    message.source = gmc_codec_text(record->source);
    message.e = record->e;
    message.version = record->version;
    message.epoch = record->epoch;
    message.key_hash = gmc_codec_data(record->key_hash, sizeof(record->key_hash));
    message.listing_bytes = record->listing_bytes;
    message.total_bytes = record->total_bytes;
    message.block_bytes = record->block_bytes;
    message.fragment_bytes = record->fragment_bytes;
    message.rate_bps = record->rate_bps;
    message.planned_bps = record->planned_bps;
    message.background = record->background;
    message.shape = record->shape;
    message.stripes = record->stripes > 1 ? record->stripes : 0;
    message.members = record->members;
    message.root = gmc_codec_data(record->root, sizeof(record->root));
    message.name = gmc_codec_text(record->name);
    message.order = record->order;
    message.proof_key = gmc_codec_data(record->proof_key, record->proof_key_len);
    return gmc_codec_pack(&message.base, out, len);
}

static gmc_status decode_record(struct gmc_bytes bytes, struct gmc_record *record,
                                struct gmc_arena *arena)
{
    const Gmcast__Wire__Record *message;
    ProtobufCMessage *unpacked;
    gmc_status status =
        gmc_codec_unpack(&gmcast__wire__record__descriptor, bytes, arena, &unpacked);

    if (status != GMC_OK)
        return status;
    message = (const Gmcast__Wire__Record *)unpacked;
    if (message->key_hash.len != sizeof(record->key_hash) ||
        message->root.len != sizeof(record->root) ||
        message->proof_key.len > sizeof(record->proof_key))
        return GMC_ERR_INVALID;
    *record = (struct gmc_record){
        .source = message->source,
        .e = message->e,
        .version = message->version,
        .epoch = message->epoch,
        .listing_bytes = message->listing_bytes,
        .total_bytes = message->total_bytes,
        .block_bytes = message->block_bytes,
        .fragment_bytes = message->fragment_bytes,
        .rate_bps = message->rate_bps,
        .planned_bps = message->planned_bps,
        .background = message->background,
        .shape = message->shape,
        .stripes = message->stripes > 0 ? message->stripes : 1,
        .members = message->members,
        .name = message->name,
        .order = message->order,
        .proof_key_len = message->proof_key.len,
    };
    memcpy(record->key_hash, message->key_hash.data, sizeof(record->key_hash));
    memcpy(record->root, message->root.data, sizeof(record->root));
    if (message->proof_key.len > 0)
        memcpy(record->proof_key, message->proof_key.data, message->proof_key.len);
    return check(record);
}

/* ---- a member ---- */
/* Nobody stands twice on a way up. The ways are short: one with one is fewer steps than sorting. */
static bool ancestors_ok(const char *domain, const struct gmc_ancestors *tree)
{
    if (tree->count > GMC_ANCESTORS_MAX)
        return false;
    for (size_t i = 0; i < tree->count; i++) {
        if (!gmc_codec_name_ok(tree->domains[i]) || strcmp(tree->domains[i], domain) == 0)
            return false;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(tree->domains[i], tree->domains[j]) == 0)
                return false;
        }
    }
    return true;
}

static gmc_status check_member(const struct gmc_member *member)
{
    if (!gmc_codec_name_ok(member->domain) || member->stripes < 1 ||
        member->stripes > GMC_STRIPES_MAX ||
        (member->path != NULL && strlen(member->path) > GMC_RECORD_PATH_MAX) ||
        (member->inside != NULL && strlen(member->inside) > GMC_INSIDE_BYTES_MAX))
        return GMC_ERR_INVALID;
    for (uint32_t k = 0; k < member->stripes; k++) {
        if (!ancestors_ok(member->domain, &member->trees[k]))
            return GMC_ERR_INVALID;
    }
    return GMC_OK;
}

gmc_status gmc_member_encode(const struct gmc_member *member, uint8_t **out, size_t *len)
{
    Gmcast__Wire__Member message = GMCAST__WIRE__MEMBER__INIT;
    Gmcast__Wire__Ancestors rows[GMC_STRIPES_MAX], *pointers[GMC_STRIPES_MAX];
    const char *path = member->path != NULL ? member->path : "";

    if (check_member(member) != GMC_OK)
        return GMC_ERR_INVALID;
    for (uint32_t k = 0; k < member->stripes; k++) {
        gmcast__wire__ancestors__init(&rows[k]);
        rows[k].domains = (char **)(uintptr_t)member->trees[k].domains; /* not written to */
        rows[k].n_domains = member->trees[k].count;
        pointers[k] = &rows[k];
    }
    message.domain = gmc_codec_text(member->domain);
    message.path = gmc_codec_data((const uint8_t *)path, strlen(path));
    message.trees = pointers;
    message.n_trees = member->stripes;
    message.relay = member->is_relay;
    message.inside = gmc_codec_text(member->inside);
    return gmc_codec_pack(&message.base, out, len);
}

static gmc_status get_path(struct gmc_arena *arena, const ProtobufCBinaryData *data,
                           const char **path)
{
    char *copy;

    if (data->len > GMC_RECORD_PATH_MAX ||
        (data->len > 0 && memchr(data->data, 0, data->len) != NULL))
        return GMC_ERR_INVALID;
    copy = gmc_arena_cut(arena, data->len + 1, 1);
    if (copy == NULL)
        return arena->status;
    if (data->len > 0)
        memcpy(copy, data->data, data->len);
    copy[data->len] = 0;
    *path = copy;
    return GMC_OK;
}

static gmc_status decode_member(struct gmc_bytes bytes, struct gmc_member *member,
                                struct gmc_arena *arena)
{
    const Gmcast__Wire__Member *message;
    ProtobufCMessage *unpacked;
    gmc_status status =
        gmc_codec_unpack(&gmcast__wire__member__descriptor, bytes, arena, &unpacked);

    if (status != GMC_OK)
        return status;
    message = (const Gmcast__Wire__Member *)unpacked;
    if (message->n_trees > GMC_STRIPES_MAX)
        return GMC_ERR_INVALID;
    *member = (struct gmc_member){.domain = message->domain,
                                  .stripes = (uint32_t)message->n_trees,
                                  .is_relay = message->relay,
                                  .inside = message->inside};
    for (size_t k = 0; k < message->n_trees; k++)
        member->trees[k] = (struct gmc_ancestors){(const char *const *)message->trees[k]->domains,
                                                  message->trees[k]->n_domains};
    status = get_path(arena, &message->path, &member->path);
    return status == GMC_OK ? check_member(member) : status;
}

/* ---- what both have in common ---- */
static struct gmc_record_holder *holder_new(size_t len)
{
    struct gmc_record_holder *holder = malloc(sizeof(*holder));

    if (holder != NULL)
        gmc_arena_init(&holder->arena, gmc_codec_limit(len));
    return holder;
}

/* Hands the holder over, or ends it. What wants too much memory is refused as malformed. */
static gmc_status hand_over(gmc_status status, struct gmc_record_holder *made,
                            struct gmc_record_holder **holder)
{
    if (status == GMC_OK)
        *holder = made;
    else
        gmc_record_release(made);
    return status == GMC_ERR_LIMIT ? GMC_ERR_INVALID : status;
}

gmc_status gmc_record_decode(struct gmc_bytes bytes, struct gmc_record *record,
                             struct gmc_record_holder **holder)
{
    struct gmc_record_holder *made = holder_new(bytes.len);
    struct gmc_record decoded;
    gmc_status status = made != NULL ? decode_record(bytes, &decoded, &made->arena) : GMC_ERR_NOMEM;

    if (status == GMC_OK)
        *record = decoded;
    return hand_over(status, made, holder);
}

gmc_status gmc_member_decode(struct gmc_bytes bytes, struct gmc_member *member,
                             struct gmc_record_holder **holder)
{
    struct gmc_record_holder *made = holder_new(bytes.len);
    struct gmc_member decoded;
    gmc_status status = made != NULL ? decode_member(bytes, &decoded, &made->arena) : GMC_ERR_NOMEM;

    if (status == GMC_OK)
        *member = decoded;
    return hand_over(status, made, holder);
}

void gmc_record_release(struct gmc_record_holder *holder)
{
    if (holder == NULL)
        return;
    gmc_arena_fini(&holder->arena);
    free(holder);
}
