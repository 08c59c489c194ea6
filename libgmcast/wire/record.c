/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the channel record: struct gmc_record <-> the bytes that the source signs. */
#include <stdlib.h>
#include <string.h>

#include "proto/record.pb-c.h"
#include "wire/codec.h"
#include "wire/control.h"

struct gmc_record_holder {
    struct gmc_arena arena;
};

/* Where a member stands in the list; the source alone has no parent, and none is its own. */
static bool parent_ok(const struct gmc_record *record, size_t i, int32_t parent)
{
    if (i == 0)
        return parent == -1;
    return parent >= 0 && (size_t)parent < record->member_count && (size_t)parent != i;
}

static bool parents_ok(const struct gmc_record *record, size_t i)
{
    if (record->stripes > 1 && record->members[i].more_parents == NULL)
        return false;
    if (!parent_ok(record, i, record->members[i].parent))
        return false;
    for (uint32_t k = 1; k < record->stripes; k++) {
        if (!parent_ok(record, i, gmc_record_parent(record, i, k)))
            return false;
    }
    return true;
}

static gmc_status check_members(const struct gmc_record *record, struct gmc_arena *arena)
{
    const char **sorted = gmc_arena_cut(arena, record->member_count, sizeof(*sorted));

    if (sorted == NULL)
        return arena->status;
    for (size_t i = 0; i < record->member_count; i++) {
        const struct gmc_record_member *member = &record->members[i];

        if (!gmc_codec_name_ok(member->domain) || !parents_ok(record, i) ||
            (member->path != NULL && strlen(member->path) > GMC_RECORD_PATH_MAX))
            return GMC_ERR_INVALID;
        sorted[i] = member->domain;
    }
    return gmc_codec_names_unique(sorted, record->member_count) ? GMC_OK : GMC_ERR_INVALID;
}

/* The numbers of the object are checked by gmc_object_check, which knows what they mean. */
static gmc_status check(const struct gmc_record *record, struct gmc_arena *arena)
{
    if (!gmc_codec_name_ok(record->source) || record->member_count == 0 ||
        record->member_count > GMC_MEMBERS_MAX || record->stripes > GMC_STRIPES_MAX)
        return GMC_ERR_INVALID;
    if (record->members[0].domain == NULL || strcmp(record->members[0].domain, record->source) != 0)
        return GMC_ERR_INVALID;
    return check_members(record, arena);
}

static gmc_status put_more_parents(const struct gmc_record *record, struct gmc_arena *arena,
                                   size_t i, Gmcast__Wire__Member *row)
{
    uint32_t others = record->stripes > 1 ? record->stripes - 1 : 0;
    uint32_t *more = gmc_arena_cut(arena, others, sizeof(*more));

    if (more == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t k = 0; k < others; k++)
        more[k] = (uint32_t)(record->members[i].more_parents[k] + 1);
    row->more_parents = more;
    row->n_more_parents = others;
    return GMC_OK;
}

static gmc_status pack(const struct gmc_record *record, struct gmc_arena *arena, uint8_t **out,
                       size_t *len)
{
    Gmcast__Wire__Record message = GMCAST__WIRE__RECORD__INIT;
    Gmcast__Wire__Member *rows = gmc_arena_cut(arena, record->member_count, sizeof(*rows));
    Gmcast__Wire__Member **pointers = gmc_arena_cut(arena, record->member_count, sizeof(*pointers));

    if (rows == NULL || pointers == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < record->member_count; i++) {
        const struct gmc_record_member *member = &record->members[i];
        const char *path = member->path != NULL ? member->path : "";

        gmcast__wire__member__init(&rows[i]);
        rows[i].domain = gmc_codec_text(member->domain);
        rows[i].parent = (uint32_t)(member->parent + 1);
        rows[i].path = gmc_codec_data((const uint8_t *)path, strlen(path));
        pointers[i] = &rows[i];
        if (put_more_parents(record, arena, i, &rows[i]) != GMC_OK)
            return GMC_ERR_NOMEM;
    }
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
    message.background = record->background;
    message.shape = record->shape;
    message.members = pointers;
    message.n_members = record->member_count;
    message.stripes = record->stripes > 1 ? record->stripes : 0;
    return gmc_codec_pack(&message.base, out, len);
}

gmc_status gmc_record_encode(const struct gmc_record *record, uint8_t **out, size_t *len)
{
    struct gmc_arena arena;
    gmc_status status;

    gmc_arena_init(&arena, SIZE_MAX);
    status = check(record, &arena);
    if (status == GMC_OK)
        status = pack(record, &arena, out, len);
    gmc_arena_fini(&arena);
    return status;
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

static gmc_status get_more_parents(struct gmc_arena *arena, const Gmcast__Wire__Member *row,
                                   uint32_t stripes, struct gmc_record_member *member)
{
    int32_t *more;

    if (row->n_more_parents != stripes - 1)
        return GMC_ERR_INVALID;
    more = gmc_arena_cut(arena, row->n_more_parents, sizeof(*more));
    if (more == NULL)
        return arena->status;
    for (size_t k = 0; k < row->n_more_parents; k++) {
        if (row->more_parents[k] > GMC_MEMBERS_MAX)
            return GMC_ERR_INVALID;
        more[k] = (int32_t)row->more_parents[k] - 1;
    }
    member->more_parents = more;
    return GMC_OK;
}

static gmc_status get_members(struct gmc_arena *arena, const Gmcast__Wire__Record *message,
                              struct gmc_record *record)
{
    struct gmc_record_member *members;

    if (message->n_members > GMC_MEMBERS_MAX)
        return GMC_ERR_INVALID;
    members = gmc_arena_cut(arena, message->n_members, sizeof(*members));
    if (members == NULL)
        return arena->status;
    for (size_t i = 0; i < message->n_members; i++) {
        const Gmcast__Wire__Member *row = message->members[i];
        gmc_status status;

        if (row->parent > GMC_MEMBERS_MAX)
            return GMC_ERR_INVALID;
        members[i] = (struct gmc_record_member){.domain = row->domain,
                                                .parent = (int32_t)row->parent - 1,
                                                .path = ""};
        status = row->path.len > 0 ? get_path(arena, &row->path, &members[i].path) : GMC_OK;
        if (status == GMC_OK)
            status = get_more_parents(arena, row, record->stripes, &members[i]);
        if (status != GMC_OK)
            return status;
    }
    record->members = members;
    record->member_count = message->n_members;
    return GMC_OK;
}

static gmc_status decode(struct gmc_bytes bytes, struct gmc_record *record, struct gmc_arena *arena)
{
    const Gmcast__Wire__Record *message;
    ProtobufCMessage *unpacked;
    gmc_status status =
        gmc_codec_unpack(&gmcast__wire__record__descriptor, bytes, arena, &unpacked);

    if (status != GMC_OK)
        return status;
    message = (const Gmcast__Wire__Record *)unpacked;
    if (message->key_hash.len != sizeof(record->key_hash))
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
        .background = message->background,
        .shape = message->shape,
        .stripes = message->stripes > 0 ? message->stripes : 1,
    };
    if (record->stripes > GMC_STRIPES_MAX)
        return GMC_ERR_INVALID;
    memcpy(record->key_hash, message->key_hash.data, sizeof(record->key_hash));
    status = get_members(arena, message, record);
    return status == GMC_OK ? check(record, arena) : status;
}

gmc_status gmc_record_decode(struct gmc_bytes bytes, struct gmc_record *record,
                             struct gmc_record_holder **holder)
{
    struct gmc_record_holder *made = malloc(sizeof(*made));
    struct gmc_record decoded;
    gmc_status status;

    if (made == NULL)
        return GMC_ERR_NOMEM;
    gmc_arena_init(&made->arena, gmc_codec_limit(bytes.len));
    status = decode(bytes, &decoded, &made->arena);
    if (status != GMC_OK) {
        gmc_record_release(made);
        return status == GMC_ERR_LIMIT ? GMC_ERR_INVALID : status;
    }
    *record = decoded;
    *holder = made;
    return GMC_OK;
}

void gmc_record_release(struct gmc_record_holder *holder)
{
    if (holder == NULL)
        return;
    gmc_arena_fini(&holder->arena);
    free(holder);
}
