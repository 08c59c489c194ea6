/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the set of stored blocks: its bound, its reports, its checkpoints. */
#include "core/have.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static const struct gmc_interval nothing = {0, 0};

void gmc_have_init(struct gmc_have *have, uint64_t blocks, size_t ranges_max)
{
    gmc_interval_init(&have->stored, ranges_max);
    gmc_interval_init(&have->fresh, ranges_max);
    have->all_fresh = false;
    have->blocks = blocks;
    have->forgotten = 0;
}

void gmc_have_fini(struct gmc_have *have)
{
    gmc_interval_fini(&have->stored);
    gmc_interval_fini(&have->fresh);
}

bool gmc_have_is_whole(const struct gmc_have *have)
{
    return gmc_interval_count(&have->stored) == have->blocks;
}

/* ---- adding and forgetting ---- */

/* The smallest range; of equal ones the highest, because what comes next comes there. */
static struct gmc_interval smallest(const struct gmc_interval_set *set)
{
    struct gmc_interval least = gmc_interval_range_at(set, 0);

    for (size_t i = 1; i < gmc_interval_ranges(set); i++) {
        struct gmc_interval range = gmc_interval_range_at(set, i);

        if (range.hi - range.lo <= least.hi - least.lo)
            least = range;
    }
    return least;
}

/* Taking out a whole range, or an end of one, needs no further range and so no memory. */
static void drop(struct gmc_interval_set *set, struct gmc_interval range)
{
    gmc_status status = gmc_interval_remove(set, range.lo, range.hi);

    GMC_ASSERT(status == GMC_OK);
}

/* Where fresh has no room, everything is told again: that is no more ranges than stored has, and
 * harmless. */
static void freshen(struct gmc_have *have, struct gmc_interval range)
{
    if (!have->all_fresh && gmc_interval_add(&have->fresh, range.lo, range.hi) != GMC_OK)
        gmc_have_tell_all(have);
}

/* Takes out a whole range of stored. Members of fresh are members of stored, so what of them goes
 * are whole ranges too. */
static void forget(struct gmc_have *have, struct gmc_interval range)
{
    drop(&have->stored, range);
    drop(&have->fresh, range);
}

gmc_status gmc_have_add(struct gmc_have *have, uint64_t first, uint64_t last,
                        struct gmc_interval *forgotten)
{
    struct gmc_interval added, out = nothing;
    gmc_status status;

    if (first > last || last >= have->blocks)
        return GMC_ERR_INVALID;
    added = (struct gmc_interval){first, last + 1};
    status = gmc_interval_add(&have->stored, added.lo, added.hi);
    if (status == GMC_ERR_FULL) {
        out = smallest(&have->stored);
        if (added.hi - added.lo <= out.hi - out.lo) {
            out = added;
        } else {
            forget(have, out);
            status = gmc_interval_add(&have->stored, added.lo, added.hi);
            GMC_ASSERT(status == GMC_OK); /* there is the place of the other */
            freshen(have, added);
        }
        have->forgotten += out.hi - out.lo;
    } else if (status == GMC_OK) {
        freshen(have, added);
    } else {
        return status;
    }
    *forgotten = out;
    return GMC_OK;
}

/* The range that a member is in. */
static struct gmc_interval range_of(const struct gmc_interval_set *set, uint64_t member)
{
    size_t low = 0, high = gmc_interval_ranges(set);

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (gmc_interval_range_at(set, middle).lo <= member)
            low = middle;
        else
            high = middle;
    }
    return gmc_interval_range_at(set, low);
}

struct gmc_interval gmc_have_lose(struct gmc_have *have, uint64_t lo, uint64_t hi)
{
    struct gmc_interval lost = {lo, hi};

    if (lo >= hi || !gmc_interval_contains_range(&have->stored, lo, hi))
        return nothing;
    if (gmc_interval_remove(&have->stored, lost.lo, lost.hi) != GMC_OK) {
        lost = range_of(&have->stored, lo);
        forget(have, lost);
        have->forgotten += lost.hi - lost.lo - (hi - lo);
    } else if (gmc_interval_remove(&have->fresh, lost.lo, lost.hi) != GMC_OK) {
        gmc_have_tell_all(have);
    }
    return lost;
}

/* ---- messages ---- */

size_t gmc_have_ranges(const struct gmc_interval_set *set, size_t *at, struct gmc_msg_range *out,
                       size_t max)
{
    size_t count = 0;

    for (; count < max && *at < gmc_interval_ranges(set); count++, ++*at) {
        struct gmc_interval range = gmc_interval_range_at(set, *at);

        out[count] = (struct gmc_msg_range){.first = range.lo, .last = range.hi - 1};
    }
    return count;
}

uint64_t gmc_have_untold(const struct gmc_have *have)
{
    return gmc_interval_count(have->all_fresh ? &have->stored : &have->fresh);
}

void gmc_have_tell_all(struct gmc_have *have)
{
    gmc_interval_clear(&have->fresh);
    have->all_fresh = true;
}

void gmc_have_told_all(struct gmc_have *have)
{
    gmc_interval_clear(&have->fresh);
    have->all_fresh = false;
}

size_t gmc_have_delta(struct gmc_have *have, struct gmc_msg_range *out, size_t max)
{
    size_t at = 0, count;

    if (have->all_fresh) {
        if (gmc_interval_add_set(&have->fresh, &have->stored) != GMC_OK) {
            gmc_have_tell_all(have);
            return 0;
        }
        have->all_fresh = false;
    }
    count = gmc_have_ranges(&have->fresh, &at, out, max);
    if (count > 0)
        drop(&have->fresh, (struct gmc_interval){out[0].first, out[count - 1].last + 1});
    return count;
}

gmc_status gmc_have_take(struct gmc_interval_set *set, uint64_t blocks,
                         const struct gmc_msg_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gmc_status status;

        if (ranges[i].first > ranges[i].last || ranges[i].last >= blocks)
            return GMC_ERR_INVALID;
        status = gmc_interval_add(set, ranges[i].first, ranges[i].last + 1);
        if (status != GMC_OK && status != GMC_ERR_FULL && status != GMC_ERR_NOMEM)
            return status;
    }
    return GMC_OK;
}

/* ---- checkpoints ---- */

#define MAGIC 0x676d6368u /* "gmch" */
#define VERSION 1u
#define HEAD_BYTES 28u
#define NUMBER_BYTES_MAX 10u

static void number_put(struct gmc_writer *writer, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        gmc_writer_u8(writer, (uint8_t)(value | 0x80));
    gmc_writer_u8(writer, (uint8_t)value);
}

/* TRUNCATED; INVALID when it does not fit or has a shorter form. */
static gmc_status number_get(struct gmc_reader *reader, uint64_t *value)
{
    uint64_t sum = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = gmc_reader_u8(reader);

        if (reader->failed)
            return GMC_ERR_TRUNCATED;
        if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
            return GMC_ERR_INVALID;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            return GMC_OK;
        }
    }
    return GMC_ERR_INVALID;
}

gmc_status gmc_have_save(const struct gmc_interval_set *set, uint64_t blocks, uint64_t horizon,
                         const struct gmc_crypto *crypto, uint8_t **out, size_t *len)
{
    size_t count = gmc_interval_ranges(set);
    size_t capacity = HEAD_BYTES + count * 2 * NUMBER_BYTES_MAX + GMC_HASH_BYTES;
    uint8_t *bytes = malloc(capacity);
    uint8_t *sum;
    struct gmc_writer writer;
    uint64_t end = 0;

    if (bytes == NULL)
        return GMC_ERR_NOMEM;
    GMC_ASSERT(count <= UINT32_MAX);
    gmc_writer_init(&writer, bytes, capacity);
    gmc_writer_u32(&writer, MAGIC);
    gmc_writer_u16(&writer, VERSION);
    gmc_writer_u16(&writer, 0);
    gmc_writer_u64(&writer, blocks);
    gmc_writer_u64(&writer, horizon);
    gmc_writer_u32(&writer, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        struct gmc_interval range = gmc_interval_range_at(set, i);

        number_put(&writer, range.lo - end);
        number_put(&writer, range.hi - range.lo);
        end = range.hi;
    }
    *len = gmc_writer_written(&writer).len;
    sum = gmc_writer_reserve(&writer, GMC_HASH_BYTES);
    GMC_ASSERT(sum != NULL);
    crypto->ops->hash(bytes, *len, sum);
    *len += GMC_HASH_BYTES;
    *out = bytes;
    return GMC_OK;
}

/* Reads count ranges, which have to be all that is left. */
static gmc_status ranges_get(struct gmc_reader *reader, uint64_t blocks, uint32_t count,
                             struct gmc_interval_set *set)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t skip, length;
        gmc_status status = number_get(reader, &skip);

        if (status == GMC_OK)
            status = number_get(reader, &length);
        if (status != GMC_OK)
            return status;
        if ((i > 0 && skip == 0) || skip > blocks - end || length == 0 ||
            length > blocks - end - skip)
            return GMC_ERR_INVALID;
        status = gmc_interval_add(set, end + skip, end + skip + length);
        if (status != GMC_OK)
            return status;
        end += skip + length;
    }
    return gmc_reader_left(reader) == 0 ? GMC_OK : GMC_ERR_INVALID;
}

gmc_status gmc_have_load(struct gmc_bytes bytes, uint64_t blocks, const struct gmc_crypto *crypto,
                         struct gmc_interval_set *set, uint64_t *horizon)
{
    uint8_t sum[GMC_HASH_BYTES];
    struct gmc_interval_set found;
    struct gmc_reader reader;
    uint64_t limit;
    uint32_t count;
    gmc_status status;

    if (bytes.len < HEAD_BYTES + GMC_HASH_BYTES)
        return GMC_ERR_TRUNCATED;
    gmc_reader_init(&reader, gmc_bytes(bytes.data, bytes.len - GMC_HASH_BYTES));
    if (gmc_reader_u32(&reader) != MAGIC)
        return GMC_ERR_INVALID;
    if (gmc_reader_u16(&reader) != VERSION)
        return GMC_ERR_VERSION;
    crypto->ops->hash(bytes.data, bytes.len - GMC_HASH_BYTES, sum);
    if (memcmp(sum, bytes.data + bytes.len - GMC_HASH_BYTES, GMC_HASH_BYTES) != 0)
        return GMC_ERR_MISMATCH;
    if (gmc_reader_u16(&reader) != 0 || gmc_reader_u64(&reader) != blocks)
        return GMC_ERR_INVALID;
    limit = gmc_reader_u64(&reader);
    count = gmc_reader_u32(&reader);
    gmc_interval_init(&found, set->count_max);
    status = ranges_get(&reader, blocks, count, &found);
    if (status != GMC_OK) {
        gmc_interval_fini(&found);
        return status;
    }
    gmc_interval_fini(set);
    *set = found;
    *horizon = limit;
    return GMC_OK;
}
