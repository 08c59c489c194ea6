/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of received packet numbers, and the encoding of acknowledgements. */
#include "core/ackrange.h"

#include <string.h>

#include "base/assert.h"

#define WORDS (GMC_ACK_WINDOW / 64)
#define NUMBER_MAX ((UINT64_C(1) << 62) - 1) /* of a variable-length number */

void gmc_ackrange_init(struct gmc_ackrange *set)
{
    memset(set, 0, sizeof *set);
}

bool gmc_ackrange_insert(struct gmc_ackrange *set, uint64_t number)
{
    if (number >= set->next) {
        if (number - set->next >= GMC_ACK_WINDOW) {
            memset(set->bits, 0, sizeof set->bits);
        } else {
            for (uint64_t n = set->next; n <= number; n++)
                set->bits[n / 64 % WORDS] &= ~(UINT64_C(1) << (n % 64));
        }
        set->next = number + 1;
    } else if (set->next - number > GMC_ACK_WINDOW) {
        return false;
    }
    set->bits[number / 64 % WORDS] |= UINT64_C(1) << (number % 64);
    return true;
}

/* One above the highest n in [floor, end) that is (present) or is not in the set; floor if there
 * is none. */
static uint64_t scan_down(const struct gmc_ackrange *set, uint64_t end, uint64_t floor,
                          bool present)
{
    while (end > floor) {
        uint64_t top = end - 1;
        uint64_t word = set->bits[top / 64 % WORDS];
        if (!present)
            word = ~word;
        word <<= 63 - top % 64;
        if (word != 0) {
            uint64_t found = top - (uint64_t)__builtin_clzll(word);
            return found >= floor && found <= top ? found + 1 : floor;
        }
        end = top - top % 64;
    }
    return floor;
}

void gmc_ackrange_collect(const struct gmc_ackrange *set, uint64_t end, struct gmc_ack *ack)
{
    uint64_t floor = set->next > GMC_ACK_WINDOW ? set->next - GMC_ACK_WINDOW : 0;
    uint64_t at = end < set->next ? end : set->next;

    ack->count = 0;
    ack->has_ecn = false;
    while (ack->count < GMC_ACK_RANGES_MAX) {
        uint64_t top = scan_down(set, at, floor, true);
        if (top == floor)
            break;
        at = scan_down(set, top, floor, false);
        ack->ranges[ack->count++] = (struct gmc_ack_range){at, top - 1};
    }
    ack->largest = ack->count > 0 ? ack->ranges[0].last : 0;
}

/* ---- variable-length numbers, RFC 9000, 16 ---- */

static size_t number_put(uint8_t *out, uint64_t value)
{
    if (value < 64) {
        out[0] = (uint8_t)value;
        return 1;
    }
    if (value < 16384) {
        gmc_put16(out, (uint16_t)(value | 0x4000));
        return 2;
    }
    if (value < (1u << 30)) {
        gmc_put32(out, (uint32_t)value | 0x80000000u);
        return 4;
    }
    if (value > NUMBER_MAX)
        value = NUMBER_MAX;
    gmc_put64(out, value | UINT64_C(3) << 62);
    return 8;
}

static uint64_t number_get(struct gmc_reader *reader)
{
    uint64_t value = gmc_reader_u8(reader);
    unsigned more = (1u << (value >> 6)) - 1;

    value &= 0x3f;
    for (; more > 0; more--)
        value = value << 8 | gmc_reader_u8(reader);
    return value;
}

size_t gmc_ack_put(const struct gmc_ack *ack, uint8_t *out, size_t capacity)
{
    uint8_t ranges[4 * GMC_ACK_RANGES_MAX + 16];
    size_t at = 0, fit = 0;
    /* What stands before the ranges takes 26 bytes at most, the counts behind them 24. */
    GMC_ASSERT(ack->count > 0 && ack->count <= GMC_ACK_RANGES_MAX && capacity >= 64);
    size_t room = capacity - 50 < sizeof ranges - 16 ? capacity - 50 : sizeof ranges - 16;

    for (size_t i = 0; i < ack->count; i++) {
        size_t end = at;
        if (i > 0)
            end += number_put(ranges + end, ack->ranges[i - 1].first - ack->ranges[i].last - 2);
        end += number_put(ranges + end, ack->ranges[i].last - ack->ranges[i].first);
        if (end > room)
            break;
        at = end;
        fit = i + 1;
    }

    size_t len = number_put(out, ack->largest);
    gmc_put64(out + len, ack->arrival_ns);
    len += 8;
    len += number_put(out + len, ack->delay_us);
    len += number_put(out + len, fit);
    memcpy(out + len, ranges, at);
    len += at;
    if (ack->has_ecn) {
        len += number_put(out + len, ack->ecn.ect0);
        len += number_put(out + len, ack->ecn.ect1);
        len += number_put(out + len, ack->ecn.ce);
    }
    return len;
}

/* Reads one range that ends at or below *top; false when it would cross zero. */
static bool range_get(struct gmc_reader *reader, bool first, uint64_t *top,
                      struct gmc_ack_range *range)
{
    if (!first) {
        uint64_t gap = number_get(reader);
        /* The range before began at *top; at least one number is missing between. */
        if (gap + 2 > *top)
            return false;
        *top -= gap + 2;
    }
    uint64_t length = number_get(reader);
    if (length > *top)
        return false;
    range->last = *top;
    range->first = *top - length;
    *top = range->first;
    return true;
}

gmc_status gmc_ack_get(struct gmc_bytes bytes, struct gmc_ack *ack)
{
    struct gmc_reader reader;
    struct gmc_ack got;

    gmc_reader_init(&reader, bytes);
    got.largest = number_get(&reader);
    got.arrival_ns = gmc_reader_u64(&reader);
    got.delay_us = number_get(&reader);
    uint64_t count = number_get(&reader);
    if (reader.failed)
        return GMC_ERR_TRUNCATED;
    if (count == 0 || count > GMC_ACK_RANGES_MAX)
        return GMC_ERR_INVALID;
    got.count = (size_t)count;
    uint64_t top = got.largest;
    for (size_t i = 0; i < got.count; i++) {
        bool fits = range_get(&reader, i == 0, &top, &got.ranges[i]);
        if (reader.failed)
            return GMC_ERR_TRUNCATED;
        if (!fits)
            return GMC_ERR_INVALID;
    }
    got.has_ecn = gmc_reader_left(&reader) > 0;
    got.ecn = (struct gmc_ecn_counts){0};
    if (got.has_ecn) {
        got.ecn.ect0 = number_get(&reader);
        got.ecn.ect1 = number_get(&reader);
        got.ecn.ce = number_get(&reader);
    }
    if (reader.failed)
        return GMC_ERR_TRUNCATED;
    if (gmc_reader_left(&reader) > 0)
        return GMC_ERR_INVALID;
    ack->has_ecn = got.has_ecn;
    ack->ecn = got.ecn;
    ack->largest = got.largest;
    ack->arrival_ns = got.arrival_ns;
    ack->delay_us = got.delay_us;
    ack->count = got.count;
    memcpy(ack->ranges, got.ranges, got.count * sizeof got.ranges[0]);
    return GMC_OK;
}
