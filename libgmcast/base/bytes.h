/* SPDX-License-Identifier: BSD-2-Clause
 * Owns borrowed byte ranges, big-endian numbers, and cursors that never pass their end.
 */
#ifndef GMC_BASE_BYTES_H
#define GMC_BASE_BYTES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed range; data may be NULL if len is 0. */
struct gmc_bytes {
    const uint8_t *data;
    size_t len;
};

static inline struct gmc_bytes gmc_bytes(const void *data, size_t len)
{
    return (struct gmc_bytes){(const uint8_t *)data, len};
}

/* The bytes of a C string without its NUL. */
struct gmc_bytes gmc_bytes_of_text(const char *text);

/* Same length and content. Not for secrets: the time depends on the content. */
bool gmc_bytes_equal(struct gmc_bytes a, struct gmc_bytes b);

/* Order by content, a shorter prefix first: < 0, 0, > 0. */
int gmc_bytes_compare(struct gmc_bytes a, struct gmc_bytes b);

/* Big-endian numbers at p, which needs no alignment. */
static inline uint16_t gmc_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t gmc_get24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t gmc_get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t gmc_get64(const uint8_t *p)
{
    return (uint64_t)gmc_get32(p) << 32 | gmc_get32(p + 4);
}

static inline void gmc_put16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

/* The upper 8 bits of value are dropped. */
static inline void gmc_put24(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 16);
    p[1] = (uint8_t)(value >> 8);
    p[2] = (uint8_t)value;
}

static inline void gmc_put32(uint8_t *p, uint32_t value)
{
    gmc_put16(p, (uint16_t)(value >> 16));
    gmc_put16(p + 2, (uint16_t)value);
}

static inline void gmc_put64(uint8_t *p, uint64_t value)
{
    gmc_put32(p, (uint32_t)(value >> 32));
    gmc_put32(p + 4, (uint32_t)value);
}

/* Reads forward through borrowed bytes. A read past the end gives 0, moves to the end and makes
 * every later read fail too, so that a decoder reads all fields and looks at the status once.
 */
struct gmc_reader {
    const uint8_t *pos;
    const uint8_t *end;
    bool failed;
};

void gmc_reader_init(struct gmc_reader *reader, struct gmc_bytes bytes);

uint8_t gmc_reader_u8(struct gmc_reader *reader);
uint16_t gmc_reader_u16(struct gmc_reader *reader);
uint32_t gmc_reader_u24(struct gmc_reader *reader);
uint32_t gmc_reader_u32(struct gmc_reader *reader);
uint64_t gmc_reader_u64(struct gmc_reader *reader);

/* The next len bytes, borrowed; an empty range with data NULL if there are fewer. */
struct gmc_bytes gmc_reader_bytes(struct gmc_reader *reader, size_t len);

/* All that is left, borrowed; moves to the end. */
struct gmc_bytes gmc_reader_rest(struct gmc_reader *reader);

/* Copy the next len bytes to out; zeros if there are fewer. */
void gmc_reader_copy(struct gmc_reader *reader, void *out, size_t len);

/* Bytes not read yet. */
size_t gmc_reader_left(const struct gmc_reader *reader);

/* GMC_OK, or GMC_ERR_TRUNCATED if a read went past the end. */
GMC_NODISCARD gmc_status gmc_reader_status(const struct gmc_reader *reader);

/* Writes forward into memory of the caller. A write that does not fit writes nothing and makes
 * every later write fail too.
 */
struct gmc_writer {
    uint8_t *start;
    uint8_t *pos;
    uint8_t *end;
    bool failed;
};

void gmc_writer_init(struct gmc_writer *writer, void *memory, size_t capacity);

void gmc_writer_u8(struct gmc_writer *writer, uint8_t value);
void gmc_writer_u16(struct gmc_writer *writer, uint16_t value);
void gmc_writer_u24(struct gmc_writer *writer, uint32_t value);
void gmc_writer_u32(struct gmc_writer *writer, uint32_t value);
void gmc_writer_u64(struct gmc_writer *writer, uint64_t value);
void gmc_writer_bytes(struct gmc_writer *writer, struct gmc_bytes bytes);

/* The next len bytes for the caller to fill; NULL if they do not fit. */
uint8_t *gmc_writer_reserve(struct gmc_writer *writer, size_t len);

/* Bytes that still fit. */
size_t gmc_writer_left(const struct gmc_writer *writer);

/* What was written, borrowed from the caller's memory. */
struct gmc_bytes gmc_writer_written(const struct gmc_writer *writer);

/* GMC_OK, or GMC_ERR_FULL if a write did not fit. */
GMC_NODISCARD gmc_status gmc_writer_status(const struct gmc_writer *writer);

#endif
