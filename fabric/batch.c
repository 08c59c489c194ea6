/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of a fabric: see batch.h. */
#include "fabric/batch.h"

#include <string.h>

#define MAGIC 0x676d4631u /* "gmF1" */

size_t fab_batch_begin(uint8_t *out, uint64_t id, gmc_time now)
{
    gmc_put32(out, MAGIC);
    gmc_put64(out + 4, id);
    gmc_put64(out + 12, now);
    return FAB_BATCH_HEAD_BYTES;
}

size_t fab_batch_add(uint8_t *out, size_t len, const struct gmc_bytes *pieces, size_t count)
{
    uint8_t *length = out + len;
    size_t at = len + FAB_BATCH_EACH_BYTES;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > 0)
            memcpy(out + at, pieces[i].data, pieces[i].len);
        at += pieces[i].len;
    }
    gmc_put16(length, (uint16_t)(at - len - FAB_BATCH_EACH_BYTES));
    return at;
}

gmc_status fab_batch_open(struct gmc_bytes message, uint64_t *id, gmc_time *begun,
                          struct gmc_reader *reader)
{
    gmc_reader_init(reader, message);
    uint32_t magic = gmc_reader_u32(reader);
    uint64_t sender = gmc_reader_u64(reader), time = gmc_reader_u64(reader);
    if (gmc_reader_status(reader) != GMC_OK)
        return GMC_ERR_TRUNCATED;
    if (magic != MAGIC)
        return GMC_ERR_INVALID;
    *id = sender;
    *begun = time;
    return GMC_OK;
}

bool fab_batch_next(struct gmc_reader *reader, struct gmc_bytes *datagram)
{
    if (gmc_reader_left(reader) == 0 || gmc_reader_status(reader) != GMC_OK)
        return false;
    struct gmc_bytes next = gmc_reader_bytes(reader, gmc_reader_u16(reader));
    if (gmc_reader_status(reader) != GMC_OK || next.len == 0) {
        reader->failed = true;
        return false;
    }
    *datagram = next;
    return true;
}

bool fab_batch_is_whole(const struct gmc_reader *reader)
{
    return gmc_reader_left(reader) == 0 && gmc_reader_status(reader) == GMC_OK;
}
