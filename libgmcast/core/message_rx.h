/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of a message channel, opened, in any order, to whole messages.
 *
 * Ordered: messages come out in the order of their sequence; one that lacks packets holds those
 * behind it until the packets come, or it is known that they will not (gmc_message_rx_skip).
 * Unordered: each comes out when it is whole. Latest: so too, but none that is older than one
 * that came out; what is older is not waited for, but the end waits for the newest.
 *
 * What the source did not send itself waits for its proof (gmc_message_rx_prove), or comes behind
 * it; what does not fit it is thrown away, and is missing as before.
 *
 * Packets are held in a window of at most GMC_MESSAGE_WINDOW_BYTES from the first one on that is
 * not done with; a window holds a message of GMC_MESSAGE_BYTES_MAX with a margin. */
#ifndef GMC_CORE_MESSAGE_RX_H
#define GMC_CORE_MESSAGE_RX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "wire/message.h"

#define GMC_MESSAGE_WINDOW_BYTES (8u << 20)
#define GMC_MESSAGE_WINDOW_PACKETS 4096u
/* Packets have at least so many bytes, so that the longest message fits in the window. */
#define GMC_MESSAGE_PACKET_MIN 1024u

enum gmc_message_order { GMC_MESSAGES_ORDERED, GMC_MESSAGES_UNORDERED, GMC_MESSAGES_LATEST };

struct gmc_message_held;

struct gmc_message_rx {
    enum gmc_message_order order;
    uint32_t packet_bytes; /* of one packet, with its head */
    uint32_t window;       /* packets */
    bool based;            /* where to begin is known */
    uint64_t base;         /* no packet below is wanted any more */
    uint64_t top;          /* one above the highest that was put */
    uint64_t newest;       /* where the newest message begins, which is not the end */
    uint64_t floor;        /* what is missing below will not come */
    uint64_t whole;        /* ordered: all from base to here are held */
    uint64_t ready;        /* else: first packet of a message that is whole */
    bool is_ready;
    uint64_t look, look_end;       /* not ordered: packets around which messages may be whole */
    uint32_t unproven;             /* packets that wait for their proof */
    struct gmc_message_held *held; /* by number */
    void (*hash)(const uint8_t *, size_t, uint8_t out[32]); /* of crypto/crypto.h */
    uint8_t *bytes;
    uint8_t *joined; /* a message of several packets */
    size_t joined_capacity;
    uint64_t next_sequence; /* above the highest that came out */
    uint64_t delivered;
};

struct gmc_message {
    uint64_t sequence;
    bool end; /* the channel's last one */
    struct gmc_bytes body;
};

/* How many packets the window has; a power of two. */
uint32_t gmc_message_window(uint32_t packet_bytes);
/* Allocates nothing. packet_bytes: GMC_MESSAGE_PACKET_MIN to 65536 (asserted). hash: the function
 * of crypto/crypto.h; proofs have the first bytes of what it gives. */
void gmc_message_rx_init(struct gmc_message_rx *rx, enum gmc_message_order order,
                         uint32_t packet_bytes,
                         void (*hash)(const uint8_t *data, size_t len, uint8_t out[32]));
void gmc_message_rx_fini(struct gmc_message_rx *rx);
/* Frees what it holds, but knows what came out: if packets are put again, that goes on where it
 * stood, and what was held and had not come out is wanted again. To be ended by fini. */
void gmc_message_rx_rest(struct gmc_message_rx *rx);

/* No packet below `floor` will come. The first call says where the channel begins for us; before it
 * nothing is taken. */
void gmc_message_rx_skip(struct gmc_message_rx *rx, uint64_t floor);

/* Where to write the packet, packet_bytes of room, valid until the next call of another function.
 * EXISTS: it is here, or not wanted any more. FULL: beyond the window, or not begun. NOMEM. */
GMC_NODISCARD gmc_status gmc_message_rx_room(struct gmc_message_rx *rx, uint64_t number,
                                             uint8_t **room);
/* The packet has been written, len bytes of it. is_proven: it is the source's own word; else it
 * waits for its proof. INVALID, TRUNCATED: it cannot be one; it is then not wanted again, and the
 * message that it would be part of is lost. AUTH: it is not what a proof says, and still wanted. */
GMC_NODISCARD gmc_status gmc_message_rx_put(struct gmc_message_rx *rx, uint64_t number, size_t len,
                                            bool is_proven);
/* The packet of this number, which room was given for, is part of no message. */
void gmc_message_rx_pass(struct gmc_message_rx *rx, uint64_t number);
/* The source says what packets hash to; those behind the window are not looked at. AUTH: one that
 * waits is another, and waits on, to be dropped. */
GMC_NODISCARD gmc_status gmc_message_rx_prove(struct gmc_message_rx *rx,
                                              const struct gmc_proof *proof);
/* The lowest packet from this one on that waits for its proof; UINT64_MAX: none does. */
uint64_t gmc_message_rx_next_unproven(const struct gmc_message_rx *rx, uint64_t from);
/* The lowest packet that waits for its proof, if all of its message that follows is here: proofs
 * come behind messages. UINT64_MAX: there is none such. */
uint64_t gmc_message_rx_overdue(const struct gmc_message_rx *rx);
/* Throws away what waits for its proof: it is wanted again. */
void gmc_message_rx_drop_unproven(struct gmc_message_rx *rx);

/* The next message; to be called until false after each put and skip. Borrowed until the next call
 * of any function. */
bool gmc_message_rx_next(struct gmc_message_rx *rx, struct gmc_message *message);

#endif
