/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gateway and the publishers and subscribers of its domain say to each other about message
 * channels: one ZeroMQ frame <-> fields. Numbers are big-endian; a text ends with a zero byte.
 *
 * - 1 OPEN: order u8, name text, then domains, text each, none: this domain alone
 * - 2 PUBLISH: the message
 * - 3 END: reason text
 * - 4 SUBSCRIBE: name text, source domain text ("": any)
 * - 5 TAKEN: bytes of MESSAGES that the subscriber has taken, u64, since it subscribed
 * - 6 PIECES of messages, from a node to its gateway: more u8 (1: the message goes on in the next
 *   piece, perhaps of another frame), length u32, bytes
 * - 64 OPENED: e u64, how many messages may be on their way u32, bytes of them u32
 * - 65 REFUSED: reason text; the sender of it forgets the client
 * - 66 ACCEPTED: messages taken since OPEN, u64
 * - 67 OVER: reason text; the publisher's channel has ended
 * - 68 SUBSCRIBED
 * - 69 MESSAGES, entries: e u64, sequence u64, end u8 (1: no more, the body says why), source text,
 *   name text, length u32, body
 * - 70 ALIVE
 * - 71 WARNING: text; somebody whom the publisher named is refused its messages, or not heard
 *
 * A client is a publisher (OPEN) or a subscriber (SUBSCRIBE), once. */
#ifndef GMC_WIRE_LOCAL_H
#define GMC_WIRE_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define GMC_LOCAL_FRAME_MAX ((1u << 20) + 4096u) /* that a gateway takes */

enum gmc_local_kind {
    GMC_LOCAL_OPEN = 1,
    GMC_LOCAL_PUBLISH,
    GMC_LOCAL_END,
    GMC_LOCAL_SUBSCRIBE,
    GMC_LOCAL_TAKEN,
    GMC_LOCAL_PIECES,
    GMC_LOCAL_OPENED = 64,
    GMC_LOCAL_REFUSED,
    GMC_LOCAL_ACCEPTED,
    GMC_LOCAL_OVER,
    GMC_LOCAL_SUBSCRIBED,
    GMC_LOCAL_MESSAGES,
    GMC_LOCAL_ALIVE,
    GMC_LOCAL_WARNING
};

/* Which fields count depends on the kind. Everything is borrowed from the frame. */
struct gmc_local {
    enum gmc_local_kind kind;
    uint8_t order;                    /* OPEN */
    const char *name;                 /* OPEN, SUBSCRIBE */
    const char *source;               /* SUBSCRIBE */
    const char *text;                 /* END, REFUSED, OVER, WARNING */
    uint64_t number;                  /* OPENED: e; ACCEPTED, TAKEN */
    uint32_t messages_max, bytes_max; /* OPENED */
    struct gmc_bytes rest; /* OPEN: domains; PUBLISH: the message; PIECES: they; MESSAGES:
                              entries */
};

struct gmc_local_entry {
    uint64_t e, sequence;
    bool end;
    const char *source, *name;
    struct gmc_bytes body;
};

struct gmc_local_piece {
    bool more;
    struct gmc_bytes bytes;
};

/* INVALID, TRUNCATED; TYPE for an unknown kind. */
GMC_NODISCARD gmc_status gmc_local_get(struct gmc_bytes frame, struct gmc_local *local);
/* Takes the next text of OPEN's domains, piece of PIECES or entry of MESSAGES off *rest. False at
 * the end, or where it is malformed: then *rest is not empty. */
bool gmc_local_next_text(struct gmc_bytes *rest, const char **text);
bool gmc_local_next_piece(struct gmc_bytes *rest, struct gmc_local_piece *piece);
bool gmc_local_next_entry(struct gmc_bytes *rest, struct gmc_local_entry *entry);

/* Bytes that the frame takes; writes it where capacity allows. PUBLISH, PIECES and MESSAGES
 * are written with their rest. */
size_t gmc_local_put(const struct gmc_local *local, uint8_t *out, size_t capacity);
/* Its head; the bytes stand behind it. */
#define GMC_LOCAL_PIECE_HEAD 5u
void gmc_local_put_piece(uint8_t out[GMC_LOCAL_PIECE_HEAD], bool more, size_t len);
size_t gmc_local_put_entry(const struct gmc_local_entry *entry, uint8_t *out, size_t capacity);

#endif
