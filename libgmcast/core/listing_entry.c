/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the bytes of one entry of a listing: numbers, and reading with every check that needs no
 * other entry. */
#include <string.h>

#include "core/listing_impl.h"

static const char ends_early[] = "the listing ends in the middle of it";
static const char bad_number[] = "it has a number that is too large or written too long";

uint8_t *gmc_varint_put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)value | 0x80;
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

static const char *varint_get(struct gmc_reader *reader, uint64_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = gmc_reader_u8(reader);

        if (reader->failed)
            return ends_early;
        if (shift == 63 && byte > 1)
            return bad_number;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            /* A last byte of 0 could have been left out. */
            return byte == 0 && shift > 0 ? bad_number : NULL;
        }
    }
    return bad_number;
}

static const char *bytes_get(struct gmc_reader *reader, struct gmc_bytes *bytes)
{
    uint64_t len;
    const char *why = varint_get(reader, &len);

    if (why != NULL)
        return why;
    if (len > gmc_reader_left(reader))
        return ends_early;
    *bytes = gmc_reader_bytes(reader, (size_t)len);
    return NULL;
}

static const char *size_get(struct gmc_reader *reader, struct gmc_listing_raw *raw)
{
    const char *why = varint_get(reader, &raw->size);

    if (why == NULL && raw->size > INT64_MAX)
        why = "its size is beyond what a file can have";
    return why;
}

static const char *whole_get(struct gmc_reader *reader, struct gmc_listing_raw *raw)
{
    const char *why = size_get(reader, raw);

    raw->extent_count = raw->size > 0;
    raw->data_bytes = raw->size;
    return why;
}

static const char *sparse_get(struct gmc_reader *reader, struct gmc_listing_raw *raw)
{
    const char *why = size_get(reader, raw);
    uint64_t end = 0, skipped, len;
    const uint8_t *start;

    if (why == NULL)
        why = varint_get(reader, &raw->extent_count);
    if (why != NULL)
        return why;
    /* An extent takes two bytes at least: a count beyond that is refused before it is used. */
    if (raw->extent_count > gmc_reader_left(reader) / 2)
        return ends_early;
    start = reader->pos;
    raw->data_bytes = 0;
    for (uint64_t i = 0; i < raw->extent_count; i++) {
        why = varint_get(reader, &skipped);
        if (why == NULL)
            why = varint_get(reader, &len);
        if (why == NULL)
            why = gmc_listing_check_extent(raw->size, i == 0, end, skipped, len);
        if (why != NULL)
            return why;
        end += skipped + len;
        raw->data_bytes += len; /* at most size */
    }
    if (raw->data_bytes == raw->size)
        return "it is written as a file with holes and has none";
    raw->extents = gmc_bytes(start, (size_t)(reader->pos - start));
    return NULL;
}

static const char *content_get(struct gmc_reader *reader, struct gmc_listing_raw *raw)
{
    switch (raw->type) {
    case GMC_ENTRY_FILE:
        return raw->sparse ? sparse_get(reader, raw) : whole_get(reader, raw);
    case GMC_ENTRY_SYMLINK:
        return bytes_get(reader, &raw->target);
    case GMC_ENTRY_DIRECTORY:
        return NULL;
    }
    return "it is of an unknown kind";
}

const char *gmc_listing_next(struct gmc_reader *reader, struct gmc_listing_raw *raw)
{
    uint8_t kind = gmc_reader_u8(reader);
    const char *why;

    *raw = (struct gmc_listing_raw){0};
    raw->sparse = kind == GMC_LISTING_SPARSE;
    if (kind < GMC_ENTRY_FILE || kind > GMC_LISTING_SPARSE)
        return "it is of an unknown kind";
    raw->type = raw->sparse ? GMC_ENTRY_FILE : (enum gmc_entry_type)kind;
    why = varint_get(reader, &raw->back);
    if (why == NULL)
        why = bytes_get(reader, &raw->name);
    if (why == NULL)
        why = gmc_listing_check_name(raw->name);
    if (why == NULL)
        why = varint_get(reader, &raw->mode);
    if (why == NULL)
        why = gmc_listing_check_mode(raw->mode);
    if (why != NULL)
        return why;
    raw->mtime_ns = (int64_t)gmc_reader_u64(reader);
    if (reader->failed)
        return ends_early;
    return content_get(reader, raw);
}

struct gmc_extent gmc_listing_next_extent(struct gmc_reader *reader, uint64_t *end)
{
    struct gmc_extent extent = {0, 0};
    uint64_t skipped = 0;

    (void)varint_get(reader, &skipped);
    (void)varint_get(reader, &extent.len);
    extent.offset = *end + skipped;
    *end = extent.offset + extent.len;
    return extent;
}
