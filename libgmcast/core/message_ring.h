/* SPDX-License-Identifier: BSD-2-Clause */
/* The last packets of a message channel, sealed as they are sent: what children get, now or again.
 *
 * A ring of bytes; what came first makes room for what comes. A packet is found by its number,
 * which need not come in order. Bytes that the ring returns stay where they are until the next put.
 */
#ifndef GMC_CORE_MESSAGE_RING_H
#define GMC_CORE_MESSAGE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "crypto/crypto.h"

#define GMC_MESSAGE_RING_PACKETS 16384u /* at most, however small; a power of two */

struct gmc_message_entry;

struct gmc_message_ring {
    uint8_t *bytes; /* NULL before the first packet */
    size_t capacity, head;
    struct gmc_message_entry *entries; /* in the order of their coming, as a ring */
    uint32_t first, count;
    uint32_t *places; /* by number: index of the entry, plus 1 */
    uint64_t low;     /* no packet below is here, or will be kept */
};

struct gmc_message_packet {
    uint8_t *body; /* ciphertext */
    uint32_t len;
    uint8_t *tag; /* GMC_SEAL_TAG_BYTES */
};

/* Allocates nothing. Memory is used as packets fill it. */
void gmc_message_ring_init(struct gmc_message_ring *ring, size_t capacity);
void gmc_message_ring_fini(struct gmc_message_ring *ring);

/* Room for a packet of so many bytes, which the caller then writes into *packet. The oldest ones
 * go. EXISTS: it is here, or was. LIMIT: larger than the ring. NOMEM. */
GMC_NODISCARD gmc_status gmc_message_ring_put(struct gmc_message_ring *ring, uint64_t number,
                                              uint32_t len, struct gmc_message_packet *packet);
/* Takes the newest packet back, whose bytes could not be made. */
void gmc_message_ring_take_back(struct gmc_message_ring *ring);
/* The packet is not here any more, and may be put again. */
void gmc_message_ring_forget(struct gmc_message_ring *ring, uint64_t number);
bool gmc_message_ring_get(const struct gmc_message_ring *ring, uint64_t number,
                          struct gmc_message_packet *packet);
/* The number of the i-th of ring->count in the order of their coming; UINT64_MAX: of none that is
 * here any more. */
uint64_t gmc_message_ring_nth(const struct gmc_message_ring *ring, uint32_t i);
/* Where packets are put in order: can these, of so many bytes together, be put without driving out
 * any from `keep` on? What is below `keep` and in the way goes at once. False, whatever goes, of
 * more than half the ring. */
bool gmc_message_ring_make_room(struct gmc_message_ring *ring, uint64_t keep, size_t packets,
                                size_t bytes);

#endif
