/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns writing a listing: entries of a scan, checked as their reader will check them, to bytes. */
#include <stdlib.h>
#include <string.h>

#include "core/listing_impl.h"

struct gmc_listing_writer {
    uint8_t *bytes;
    size_t len, capacity;
    uint64_t data_bytes;
    struct gmc_listing_names names;
    uint32_t *ordinals; /* of each entry: the how manieth directory it is, from 1; 0 it is none */
    size_t ordinal_capacity;
    uint32_t directory_count;
};

/* Where a path leads: its directory and its last component. */
struct place {
    uint32_t parent; /* entry, or TOP */
    uint64_t back;   /* as it is written */
    uint32_t depth;  /* components before the name */
    struct gmc_bytes name;
};

struct gmc_listing_writer *gmc_listing_writer_new(void)
{
    struct gmc_listing_writer *writer = calloc(1, sizeof(*writer));

    if (writer == NULL)
        return NULL;
    writer->capacity = 4096;
    writer->bytes = malloc(writer->capacity);
    if (writer->bytes == NULL) {
        free(writer);
        return NULL;
    }
    memcpy(writer->bytes, gmc_listing_head, GMC_LISTING_HEAD_BYTES);
    writer->len = GMC_LISTING_HEAD_BYTES;
    gmc_listing_names_init(&writer->names);
    return writer;
}

void gmc_listing_writer_free(struct gmc_listing_writer *writer)
{
    if (writer == NULL)
        return;
    gmc_listing_names_fini(&writer->names);
    free(writer->ordinals);
    free(writer->bytes);
    free(writer);
}

/* One array that doubles. */
static void *grown(void *array, size_t *capacity, size_t need, size_t size)
{
    size_t room = *capacity > 0 ? *capacity : 64;

    if (need <= *capacity)
        return array;
    while (room < need)
        room *= 2;
    array = realloc(array, room * size);
    if (array != NULL)
        *capacity = room;
    return array;
}

static gmc_status make_room(struct gmc_listing_writer *writer, size_t bytes)
{
    void *array;

    array = grown(writer->bytes, &writer->capacity, writer->len + bytes, 1);
    if (array == NULL)
        return GMC_ERR_NOMEM;
    writer->bytes = array;
    array = grown(writer->ordinals, &writer->ordinal_capacity, writer->names.count + 1,
                  sizeof(*writer->ordinals));
    if (array == NULL)
        return GMC_ERR_NOMEM;
    writer->ordinals = array;
    return GMC_OK;
}

/* Follows the path through the directories listed so far. */
static const char *find_place(const struct gmc_listing_writer *writer, const char *path,
                              struct place *place)
{
    const char *part = path;

    *place = (struct place){.parent = GMC_LISTING_TOP};
    if (path[0] == '/')
        return "its path is absolute";
    if (strlen(path) >= GMC_PATH_BYTES_MAX)
        return "its path is too long";
    for (;;) {
        const char *slash = strchr(part, '/');
        size_t len = slash != NULL ? (size_t)(slash - part) : strlen(part);
        const char *why;

        place->name = gmc_bytes(part, len);
        why = gmc_listing_check_name(place->name);
        if (why != NULL || slash == NULL)
            return why;
        place->parent =
            gmc_listing_names_find(&writer->names, writer->bytes, place->parent, place->name);
        if (place->parent == UINT32_MAX)
            return "its directory is not listed before it";
        if (writer->ordinals[place->parent] == 0)
            return "what its path goes through is not a directory";
        place->back = 1 + writer->directory_count - writer->ordinals[place->parent];
        place->depth++;
        part = slash + 1;
    }
}

static bool is_whole(const struct gmc_entry *entry)
{
    if (entry->size == 0)
        return entry->extent_count == 0;
    return entry->extent_count == 1 && entry->extents[0].offset == 0 &&
           entry->extents[0].len == entry->size;
}

static const char *check_file(const struct gmc_entry *entry)
{
    uint64_t end = 0;

    if (entry->size > INT64_MAX)
        return "its size is beyond what a file can have";
    for (size_t i = 0; i < entry->extent_count; i++) {
        const struct gmc_extent *extent = &entry->extents[i];
        const char *why;

        if (extent->offset < end)
            return "its extents touch or overlap";
        why = gmc_listing_check_extent(entry->size, i == 0, end, extent->offset - end, extent->len);
        if (why != NULL)
            return why;
        end = extent->offset + extent->len;
    }
    return NULL;
}

static const char *check_content(const struct gmc_entry *entry, uint32_t depth)
{
    const char *why = gmc_listing_check_mode(entry->mode);

    if (why != NULL)
        return why;
    switch (entry->type) {
    case GMC_ENTRY_FILE:
        return check_file(entry);
    case GMC_ENTRY_DIRECTORY:
        return NULL;
    case GMC_ENTRY_SYMLINK:
        return gmc_listing_check_target(gmc_bytes_of_text(entry->target), depth);
    }
    return "it is of an unknown kind";
}

/* More than the entry can take. */
static size_t room_for(const struct gmc_entry *entry, size_t name_len)
{
    size_t room = 1 + 8 + 6 * GMC_VARINT_MAX + name_len;

    if (entry->type == GMC_ENTRY_SYMLINK)
        room += strlen(entry->target);
    else if (entry->type == GMC_ENTRY_FILE)
        room += entry->extent_count * 2 * GMC_VARINT_MAX;
    return room;
}

static uint8_t *put_bytes(uint8_t *out, struct gmc_bytes bytes)
{
    out = gmc_varint_put(out, bytes.len);
    memcpy(out, bytes.data, bytes.len);
    return out + bytes.len;
}

static uint8_t *put_file(uint8_t *out, const struct gmc_entry *entry, bool whole)
{
    uint64_t end = 0;

    out = gmc_varint_put(out, entry->size);
    if (whole)
        return out;
    out = gmc_varint_put(out, entry->extent_count);
    for (size_t i = 0; i < entry->extent_count; i++) {
        out = gmc_varint_put(out, entry->extents[i].offset - end);
        out = gmc_varint_put(out, entry->extents[i].len);
        end = entry->extents[i].offset + entry->extents[i].len;
    }
    return out;
}

/* Returns the place of the name in the bytes, which the table of names keeps. */
static const uint8_t *put_entry(struct gmc_listing_writer *writer, const struct gmc_entry *entry,
                                const struct place *place)
{
    bool whole = entry->type == GMC_ENTRY_FILE && is_whole(entry);
    bool sparse = entry->type == GMC_ENTRY_FILE && !whole;
    uint8_t *out = writer->bytes + writer->len;
    const uint8_t *name;

    *out++ = sparse ? (uint8_t)GMC_LISTING_SPARSE : (uint8_t)entry->type;
    out = gmc_varint_put(out, place->back);
    out = put_bytes(out, place->name);
    name = out - place->name.len;
    out = gmc_varint_put(out, entry->mode);
    gmc_put64(out, (uint64_t)entry->mtime_ns);
    out += 8;
    if (entry->type == GMC_ENTRY_FILE)
        out = put_file(out, entry, whole);
    else if (entry->type == GMC_ENTRY_SYMLINK)
        out = put_bytes(out, gmc_bytes_of_text(entry->target));
    writer->len = (size_t)(out - writer->bytes);
    return name;
}

static uint64_t data_of(const struct gmc_entry *entry)
{
    uint64_t sum = 0;

    for (size_t i = 0; entry->type == GMC_ENTRY_FILE && i < entry->extent_count; i++)
        sum += entry->extents[i].len;
    return sum;
}

static gmc_status refuse(const char **reason, gmc_status status, const char *why)
{
    *reason = why;
    return status;
}

gmc_status gmc_listing_add(struct gmc_listing_writer *writer, const struct gmc_entry *entry,
                           const char **reason)
{
    struct place place;
    const char *why = find_place(writer, entry->path, &place);
    size_t before = writer->len, room;
    const uint8_t *name;
    gmc_status status;

    if (why == NULL)
        why = check_content(entry, place.depth);
    if (why != NULL)
        return refuse(reason, GMC_ERR_INVALID, why);
    room = room_for(entry, place.name.len);
    if (room > GMC_LISTING_BYTES_MAX - writer->len)
        return refuse(reason, GMC_ERR_LIMIT, "there are too many entries for one object");
    if (data_of(entry) > UINT64_MAX - writer->data_bytes)
        return refuse(reason, GMC_ERR_LIMIT, "there is too much data for one object");
    status = make_room(writer, room);
    if (status != GMC_OK)
        return refuse(reason, status, gmc_status_text(status));
    name = put_entry(writer, entry, &place);
    status = gmc_listing_names_add(&writer->names, writer->bytes, place.parent,
                                   gmc_bytes(name, place.name.len));
    if (status != GMC_OK) {
        writer->len = before;
        if (status == GMC_ERR_EXISTS)
            return refuse(reason, GMC_ERR_INVALID, "its path is listed twice");
        return refuse(reason, status, gmc_status_text(status));
    }
    writer->ordinals[writer->names.count - 1] =
        entry->type == GMC_ENTRY_DIRECTORY ? ++writer->directory_count : 0;
    writer->data_bytes += data_of(entry);
    return GMC_OK;
}

struct gmc_bytes gmc_listing_bytes(const struct gmc_listing_writer *writer)
{
    return gmc_bytes(writer->bytes, writer->len);
}

uint64_t gmc_listing_data_bytes(const struct gmc_listing_writer *writer)
{
    return writer->data_bytes;
}
