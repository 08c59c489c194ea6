/* SPDX-License-Identifier: BSD-2-Clause */
/* A reliable, ordered byte stream that carries messages, each behind its length in 4 bytes: the
 * control stream of a link, one sending and one receiving half.
 *
 * The sending half hands out pieces; the link sends them in packets and says what became of them.
 * It keeps the bytes until they are acknowledged. The receiving half takes pieces in any order.
 * Both hold at most GMC_STREAM_WINDOW bytes beyond the first missing one, and an empty half holds
 * no memory worth speaking of. */
#ifndef GMC_CORE_STREAM_H
#define GMC_CORE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/interval.h"
#include "base/status.h"

#define GMC_STREAM_MESSAGE_MAX (1u << 20)
#define GMC_STREAM_QUEUE_MAX (4u << 20)
/* How far the sender goes beyond the first unacknowledged byte; part of the protocol, because the
 * receiver keeps room for no more. */
#define GMC_STREAM_WINDOW (1u << 20)

/* Bytes [base, top) of a stream in one piece of memory. */
struct gmc_stream_buffer {
    uint8_t *data;
    size_t head; /* where base stands in data */
    size_t capacity;
    uint64_t base, top;
};

struct gmc_stream_tx {
    struct gmc_stream_buffer buffer; /* base: first unacknowledged byte */
    uint64_t fresh;                  /* first byte that was never sent */
    struct gmc_interval_set acked;   /* beyond base */
    struct gmc_interval_set lost;    /* to be sent again */
};

struct gmc_stream_rx {
    struct gmc_stream_buffer buffer; /* base: first byte not taken by the reader */
    struct gmc_interval_set held;    /* what has arrived beyond the first missing byte */
    uint64_t missing;                /* first missing byte */
    size_t taken;                    /* bytes of the message that the reader holds */
    bool broken;                     /* the peer sent what cannot be a message */
};

void gmc_stream_tx_init(struct gmc_stream_tx *tx);
void gmc_stream_tx_fini(struct gmc_stream_tx *tx);
/* Copies the message. LIMIT when it is too long, FULL, NOMEM. */
GMC_NODISCARD gmc_status gmc_stream_tx_push(struct gmc_stream_tx *tx, struct gmc_bytes message);
/* Whether there is a piece to send now. */
bool gmc_stream_tx_is_ready(const struct gmc_stream_tx *tx);
/* Takes the next piece of at most max bytes (> 0); lost ones first. Borrowed until the next call.
 */
bool gmc_stream_tx_next(struct gmc_stream_tx *tx, size_t max, uint64_t *offset,
                        struct gmc_bytes *piece);
void gmc_stream_tx_acked(struct gmc_stream_tx *tx, uint64_t offset, size_t len);
void gmc_stream_tx_lost(struct gmc_stream_tx *tx, uint64_t offset, size_t len);
/* The first unacknowledged bytes, at most max of them, are to be sent again. Returns their end:
 * what was sent below it before now need not be reported lost. */
uint64_t gmc_stream_tx_repeat(struct gmc_stream_tx *tx, size_t max);
/* Bytes not acknowledged, sent or not. */
uint64_t gmc_stream_tx_bytes(const struct gmc_stream_tx *tx);

void gmc_stream_rx_init(struct gmc_stream_rx *rx);
void gmc_stream_rx_fini(struct gmc_stream_rx *rx);
/* Takes a piece in. *is_new: it brought a byte. FULL when it is beyond the window or would make
 * too many gaps, NOMEM: nothing was taken, the sender may repeat it. */
GMC_NODISCARD gmc_status gmc_stream_rx_piece(struct gmc_stream_rx *rx, uint64_t offset,
                                             struct gmc_bytes piece, bool *is_new);
/* The next whole message, borrowed until the next call of next or piece. */
bool gmc_stream_rx_next(struct gmc_stream_rx *rx, struct gmc_bytes *message);

#endif
