/* SPDX-License-Identifier: BSD-2-Clause */
/* The two halves of a link's control stream. */
#include "core/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define LENGTH_BYTES 4
#define GAPS_MAX 1024 /* at 20 % loss a full window of 1400-byte pieces has 130 */
#define CAPACITY_MIN 512
#define CAPACITY_KEPT 4096 /* an empty buffer above this size is released */
#define RX_BYTES_MAX (GMC_STREAM_MESSAGE_MAX + LENGTH_BYTES + GMC_STREAM_WINDOW)

/* ---- the buffer ---- */

static uint8_t *buffer_at(const struct gmc_stream_buffer *buffer, uint64_t offset)
{
    return buffer->data + buffer->head + (size_t)(offset - buffer->base);
}

/* Makes memory for [base, end). */
static bool buffer_reserve(struct gmc_stream_buffer *buffer, uint64_t end)
{
    size_t need = (size_t)(end - buffer->base);
    size_t used = (size_t)(buffer->top - buffer->base);

    if (buffer->head + need <= buffer->capacity)
        return true;
    if (need <= buffer->capacity) {
        memmove(buffer->data, buffer->data + buffer->head, used);
        buffer->head = 0;
        return true;
    }
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : CAPACITY_MIN;
    while (capacity < need)
        capacity *= 2;
    uint8_t *data = malloc(capacity);
    if (data == NULL)
        return false;
    if (buffer->data != NULL)
        memcpy(data, buffer->data + buffer->head, used);
    free(buffer->data);
    buffer->data = data;
    buffer->capacity = capacity;
    buffer->head = 0;
    return true;
}

static void buffer_release(struct gmc_stream_buffer *buffer)
{
    free(buffer->data);
    buffer->data = NULL;
    buffer->capacity = 0;
    buffer->head = 0;
}

/* Forgets what lies below `to`. */
static void buffer_drop(struct gmc_stream_buffer *buffer, uint64_t to)
{
    buffer->head += (size_t)(to - buffer->base);
    buffer->base = to;
    if (buffer->base < buffer->top)
        return;
    buffer->head = 0;
    if (buffer->capacity > CAPACITY_KEPT)
        buffer_release(buffer);
}

/* ---- sending ---- */

void gmc_stream_tx_init(struct gmc_stream_tx *tx)
{
    memset(tx, 0, sizeof *tx);
    gmc_interval_init(&tx->acked, GAPS_MAX);
    gmc_interval_init(&tx->lost, GAPS_MAX);
}

void gmc_stream_tx_fini(struct gmc_stream_tx *tx)
{
    buffer_release(&tx->buffer);
    gmc_interval_fini(&tx->acked);
    gmc_interval_fini(&tx->lost);
}

gmc_status gmc_stream_tx_push(struct gmc_stream_tx *tx, struct gmc_bytes message)
{
    if (message.len > GMC_STREAM_MESSAGE_MAX)
        return GMC_ERR_LIMIT;
    uint64_t end = tx->buffer.top + LENGTH_BYTES + message.len;
    if (end - tx->buffer.base > GMC_STREAM_QUEUE_MAX)
        return GMC_ERR_FULL;
    if (!buffer_reserve(&tx->buffer, end))
        return GMC_ERR_NOMEM;
    gmc_put32(buffer_at(&tx->buffer, tx->buffer.top), (uint32_t)message.len);
    if (message.len > 0)
        memcpy(buffer_at(&tx->buffer, tx->buffer.top + LENGTH_BYTES), message.data, message.len);
    tx->buffer.top = end;
    return GMC_OK;
}

/* The end of what the window lets out. */
static uint64_t tx_limit(const struct gmc_stream_tx *tx)
{
    uint64_t limit = tx->buffer.base + GMC_STREAM_WINDOW;
    return limit < tx->buffer.top ? limit : tx->buffer.top;
}

bool gmc_stream_tx_is_ready(const struct gmc_stream_tx *tx)
{
    return gmc_interval_ranges(&tx->lost) > 0 || tx->fresh < tx_limit(tx);
}

/* Without memory for the bookkeeping, everything is sent again: that needs none. */
static void go_back(struct gmc_stream_tx *tx)
{
    gmc_interval_clear(&tx->acked);
    gmc_interval_clear(&tx->lost);
    tx->fresh = tx->buffer.base;
}

bool gmc_stream_tx_next(struct gmc_stream_tx *tx, size_t max, uint64_t *offset,
                        struct gmc_bytes *piece)
{
    uint64_t lo = tx->fresh, hi = tx_limit(tx);
    bool again = gmc_interval_ranges(&tx->lost) > 0;

    GMC_ASSERT(max > 0);
    if (again) {
        struct gmc_interval first = gmc_interval_range_at(&tx->lost, 0);
        lo = first.lo;
        hi = first.hi;
    }
    if (lo >= hi)
        return false;
    if (hi - lo > max)
        hi = lo + max;
    if (again) {
        /* Taken from the front of a range: it needs no memory. */
        if (gmc_interval_remove(&tx->lost, lo, hi) != GMC_OK)
            return false;
    } else {
        tx->fresh = hi;
    }
    *offset = lo;
    *piece = gmc_bytes(buffer_at(&tx->buffer, lo), (size_t)(hi - lo));
    return true;
}

void gmc_stream_tx_acked(struct gmc_stream_tx *tx, uint64_t offset, size_t len)
{
    uint64_t lo = offset > tx->buffer.base ? offset : tx->buffer.base;
    uint64_t hi = offset + len;

    if (lo >= hi)
        return;
    if (gmc_interval_add(&tx->acked, lo, hi) != GMC_OK ||
        gmc_interval_remove(&tx->lost, lo, hi) != GMC_OK) {
        go_back(tx);
        return;
    }
    struct gmc_interval first = gmc_interval_range_at(&tx->acked, 0);
    if (first.lo > tx->buffer.base)
        return;
    if (gmc_interval_remove(&tx->acked, first.lo, first.hi) != GMC_OK)
        return;
    buffer_drop(&tx->buffer, first.hi);
    if (tx->fresh < first.hi)
        tx->fresh = first.hi; /* after going back */
}

void gmc_stream_tx_lost(struct gmc_stream_tx *tx, uint64_t offset, size_t len)
{
    uint64_t lo = offset > tx->buffer.base ? offset : tx->buffer.base;
    uint64_t end = offset + len < tx->fresh ? offset + len : tx->fresh;

    while (lo < end && gmc_interval_first_missing(&tx->acked, lo, end, &lo)) {
        uint64_t hi;
        if (!gmc_interval_first_present(&tx->acked, lo, end, &hi))
            hi = end;
        if (gmc_interval_add(&tx->lost, lo, hi) != GMC_OK) {
            go_back(tx);
            return;
        }
        lo = hi;
    }
}

uint64_t gmc_stream_tx_repeat(struct gmc_stream_tx *tx, size_t max)
{
    uint64_t end = tx->buffer.base + max < tx->fresh ? tx->buffer.base + max : tx->fresh;

    if (end > tx->buffer.base)
        gmc_stream_tx_lost(tx, tx->buffer.base, (size_t)(end - tx->buffer.base));
    return end;
}

uint64_t gmc_stream_tx_bytes(const struct gmc_stream_tx *tx)
{
    return tx->buffer.top - tx->buffer.base;
}

/* ---- receiving ---- */

void gmc_stream_rx_init(struct gmc_stream_rx *rx)
{
    memset(rx, 0, sizeof *rx);
    gmc_interval_init(&rx->held, GAPS_MAX);
}

void gmc_stream_rx_fini(struct gmc_stream_rx *rx)
{
    buffer_release(&rx->buffer);
    gmc_interval_fini(&rx->held);
}

static void rx_drop_taken(struct gmc_stream_rx *rx)
{
    if (rx->taken > 0)
        buffer_drop(&rx->buffer, rx->buffer.base + rx->taken);
    rx->taken = 0;
}

/* Moves the first missing byte over what is held. */
static void rx_advance(struct gmc_stream_rx *rx, uint64_t to)
{
    if (to > rx->missing)
        rx->missing = to;
    while (gmc_interval_ranges(&rx->held) > 0) {
        struct gmc_interval first = gmc_interval_range_at(&rx->held, 0);
        if (first.lo > rx->missing)
            return;
        if (first.hi > rx->missing)
            rx->missing = first.hi;
        if (gmc_interval_remove(&rx->held, first.lo, first.hi) != GMC_OK)
            return; /* a whole range goes: cannot fail */
    }
}

gmc_status gmc_stream_rx_piece(struct gmc_stream_rx *rx, uint64_t offset, struct gmc_bytes piece,
                               bool *is_new)
{
    rx_drop_taken(rx);
    uint64_t limit = rx->buffer.base + RX_BYTES_MAX;
    uint64_t lo = offset > rx->missing ? offset : rx->missing;

    if (offset > limit || piece.len > limit - offset)
        return GMC_ERR_FULL;
    uint64_t hi = offset + piece.len;
    if (lo >= hi || gmc_interval_contains_range(&rx->held, lo, hi)) {
        *is_new = false;
        return GMC_OK;
    }
    if (!buffer_reserve(&rx->buffer, hi))
        return GMC_ERR_NOMEM;
    if (lo > rx->missing) {
        gmc_status status = gmc_interval_add(&rx->held, lo, hi);
        if (status != GMC_OK)
            return status;
    }
    memcpy(buffer_at(&rx->buffer, lo), piece.data + (size_t)(lo - offset), (size_t)(hi - lo));
    if (hi > rx->buffer.top)
        rx->buffer.top = hi;
    if (lo == rx->missing)
        rx_advance(rx, hi);
    *is_new = true;
    return GMC_OK;
}

bool gmc_stream_rx_next(struct gmc_stream_rx *rx, struct gmc_bytes *message)
{
    rx_drop_taken(rx);
    uint64_t ready = rx->missing - rx->buffer.base;

    if (rx->broken || ready < LENGTH_BYTES)
        return false;
    uint32_t len = gmc_get32(buffer_at(&rx->buffer, rx->buffer.base));
    if (len > GMC_STREAM_MESSAGE_MAX) {
        rx->broken = true;
        return false;
    }
    if (ready - LENGTH_BYTES < len)
        return false;
    *message = gmc_bytes(buffer_at(&rx->buffer, rx->buffer.base + LENGTH_BYTES), len);
    rx->taken = LENGTH_BYTES + len;
    return true;
}
