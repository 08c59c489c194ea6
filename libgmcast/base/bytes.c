/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the bounds checks of the byte cursors.
 */
#include "base/bytes.h"

#include <string.h>

struct gmc_bytes gmc_bytes_of_text(const char *text)
{
    return gmc_bytes(text, strlen(text));
}

bool gmc_bytes_equal(struct gmc_bytes a, struct gmc_bytes b)
{
    /* memcmp must not see the NULL of an empty range. */
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

int gmc_bytes_compare(struct gmc_bytes a, struct gmc_bytes b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    if (order != 0)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

void gmc_reader_init(struct gmc_reader *reader, struct gmc_bytes bytes)
{
    reader->pos = bytes.data;
    /* NULL + 0 is undefined in C. */
    reader->end = bytes.len > 0 ? bytes.data + bytes.len : bytes.data;
    reader->failed = false;
}

size_t gmc_reader_left(const struct gmc_reader *reader)
{
    return reader->pos == reader->end ? 0 : (size_t)(reader->end - reader->pos);
}

/* Step over len bytes and return where they start; NULL if there are fewer, or if len is 0 and
 * the range is the NULL one.
 */
static const uint8_t *reader_take(struct gmc_reader *reader, size_t len)
{
    const uint8_t *taken = reader->pos;

    if (reader->failed || gmc_reader_left(reader) < len) {
        reader->failed = true;
        reader->pos = reader->end;
        return NULL;
    }
    if (len > 0)
        reader->pos += len;
    return taken;
}

uint8_t gmc_reader_u8(struct gmc_reader *reader)
{
    const uint8_t *p = reader_take(reader, 1);
    return p != NULL ? *p : 0;
}

uint16_t gmc_reader_u16(struct gmc_reader *reader)
{
    const uint8_t *p = reader_take(reader, 2);
    return p != NULL ? gmc_get16(p) : 0;
}

uint32_t gmc_reader_u24(struct gmc_reader *reader)
{
    const uint8_t *p = reader_take(reader, 3);
    return p != NULL ? gmc_get24(p) : 0;
}

uint32_t gmc_reader_u32(struct gmc_reader *reader)
{
    const uint8_t *p = reader_take(reader, 4);
    return p != NULL ? gmc_get32(p) : 0;
}

uint64_t gmc_reader_u64(struct gmc_reader *reader)
{
    const uint8_t *p = reader_take(reader, 8);
    return p != NULL ? gmc_get64(p) : 0;
}

struct gmc_bytes gmc_reader_bytes(struct gmc_reader *reader, size_t len)
{
    const uint8_t *p = reader_take(reader, len);
    return gmc_bytes(p, p != NULL ? len : 0);
}

struct gmc_bytes gmc_reader_rest(struct gmc_reader *reader)
{
    return gmc_reader_bytes(reader, gmc_reader_left(reader));
}

void gmc_reader_copy(struct gmc_reader *reader, void *out, size_t len)
{
    const uint8_t *p = reader_take(reader, len);

    if (len == 0)
        return;
    if (p != NULL)
        memcpy(out, p, len);
    else
        memset(out, 0, len);
}

gmc_status gmc_reader_status(const struct gmc_reader *reader)
{
    return reader->failed ? GMC_ERR_TRUNCATED : GMC_OK;
}

void gmc_writer_init(struct gmc_writer *writer, void *memory, size_t capacity)
{
    writer->start = memory;
    writer->pos = memory;
    writer->end = capacity > 0 ? writer->start + capacity : writer->start;
    writer->failed = false;
}

size_t gmc_writer_left(const struct gmc_writer *writer)
{
    return writer->pos == writer->end ? 0 : (size_t)(writer->end - writer->pos);
}

uint8_t *gmc_writer_reserve(struct gmc_writer *writer, size_t len)
{
    uint8_t *reserved = writer->pos;

    if (writer->failed || gmc_writer_left(writer) < len) {
        writer->failed = true;
        return NULL;
    }
    if (len > 0)
        writer->pos += len;
    return reserved;
}

void gmc_writer_u8(struct gmc_writer *writer, uint8_t value)
{
    uint8_t *p = gmc_writer_reserve(writer, 1);
    if (p != NULL)
        *p = value;
}

void gmc_writer_u16(struct gmc_writer *writer, uint16_t value)
{
    uint8_t *p = gmc_writer_reserve(writer, 2);
    if (p != NULL)
        gmc_put16(p, value);
}

void gmc_writer_u24(struct gmc_writer *writer, uint32_t value)
{
    uint8_t *p = gmc_writer_reserve(writer, 3);
    if (p != NULL)
        gmc_put24(p, value);
}

void gmc_writer_u32(struct gmc_writer *writer, uint32_t value)
{
    uint8_t *p = gmc_writer_reserve(writer, 4);
    if (p != NULL)
        gmc_put32(p, value);
}

void gmc_writer_u64(struct gmc_writer *writer, uint64_t value)
{
    uint8_t *p = gmc_writer_reserve(writer, 8);
    if (p != NULL)
        gmc_put64(p, value);
}

void gmc_writer_bytes(struct gmc_writer *writer, struct gmc_bytes bytes)
{
    uint8_t *p = gmc_writer_reserve(writer, bytes.len);
    if (p != NULL && bytes.len > 0)
        memcpy(p, bytes.data, bytes.len);
}

struct gmc_bytes gmc_writer_written(const struct gmc_writer *writer)
{
    return gmc_bytes(writer->start,
                     writer->pos == writer->start ? 0 : (size_t)(writer->pos - writer->start));
}

gmc_status gmc_writer_status(const struct gmc_writer *writer)
{
    return writer->failed ? GMC_ERR_FULL : GMC_OK;
}
