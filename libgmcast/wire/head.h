/* SPDX-License-Identifier: BSD-2-Clause */
/* The fixed head of every link datagram, and the probe echo: bytes <-> fields, nothing else.
 *
 * All numbers big-endian. A link datagram begins with 9 bytes:
 *
 *   0      kind      high 2 bits: wire version (0); low 6 bits: enum gmc_kind
 *   1..4   session   the receiver's session id (it chose it, so it finds its keys by it)
 *   5..8   packet    low 32 bits of the link packet number; never re-used within a session
 *
 * GMC_KIND_DATA goes on (17 + 8 bytes of head, then body, then the body's seal tag):
 *
 *   9..10  handle    the receiver's link-local name of (channel, key epoch)
 *  11..14  block     index in the channel's block space (core/manifest.h)
 *  15..16  fragment  index within the block
 *  17..24  link tag  GMAC under the link's tag key over bytes 0..16 and the body's seal tag
 *  25..    body      ciphertext under the content key, then 16 bytes of seal tag
 *
 * 25 + 16 = 41 bytes of header and tags in a data datagram. Every other kind is sealed under the
 * link's seal key: bytes 0..8 are associated data, then ciphertext, then a 16-byte tag.
 *
 * A probe echo has no session; see the probe section below.
 */
#ifndef GMC_WIRE_HEAD_H
#define GMC_WIRE_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define GMC_WIRE_VERSION 0

enum gmc_kind {
    GMC_KIND_DATA = 1,      /* a fragment of a block */
    GMC_KIND_ACK = 2,       /* feedback; not acknowledged itself */
    GMC_KIND_STREAM = 3,    /* a piece of the reliable control stream */
    GMC_KIND_PING = 4,      /* asks for an acknowledgement (keep-alive, probe timeout) */
    GMC_KIND_CHALLENGE = 5, /* path validation and MTU: 8 random bytes, then padding */
    GMC_KIND_RESPONSE = 6,  /* the 8 bytes back */
    GMC_KIND_BYE = 7,       /* the session ends: a status code */
    /* Of a group, not of a link: the session is the group's number, the keys are the group's. */
    GMC_KIND_GROUP_DATA = 8,   /* as DATA; the handle is 0 */
    GMC_KIND_GROUP_REPAIR = 9, /* as DATA, but block is a window and fragment a row of parity, and
                                  the link tag covers the whole datagram */
    GMC_KIND_GROUP_STATE = 10, /* what was sent of which window (wire/group.h); sealed */
    GMC_KIND_ECHO = 16,        /* latency probe, no session */
    GMC_KIND_ECHO_REPLY = 17,
    GMC_KIND_TRAIN = 18, /* a packet of a train: an echo's bytes, padded */
    GMC_KIND_TRAIN_SEEN = 19
};

#define GMC_HEAD_BYTES 9
#define GMC_DATA_HEAD_BYTES 25
#define GMC_DATA_OVERHEAD_BYTES (GMC_DATA_HEAD_BYTES + 16)

struct gmc_head {
    uint8_t kind;
    uint32_t session;
    uint32_t packet; /* truncated packet number */
};

struct gmc_data_head {
    uint16_t handle;
    uint32_t block;
    uint16_t fragment;
};

/* An echo and its reply have equal size, so they amplify nothing:
 *
 *   0      kind
 *   1..8   probe     the probe's id
 *   9..10  from      index of the asker in the probe's participant list
 *  11..12  to        index of the answerer
 *  13..14  sample    number of the sample
 *  15..22  time      the asker's clock, ns; comes back as it was. TRAIN: 0. TRAIN_SEEN: bytes
 *                    (4), span (4)
 *  23..30  tag       first 8 bytes of GMAC under the probe key over bytes 0..22
 *  31..    padding   zeros up to GMC_ECHO_BYTES
 */
#define GMC_ECHO_BYTES 64
/* A packet of a train (core/train.h) has the same fields and more padding; what is said about it is
 * as long as an echo. In both, sample is the number of the packet in the train of that pair. */
#define GMC_TRAIN_BYTES 1200

struct gmc_echo {
    uint8_t kind;
    uint64_t probe;
    uint16_t from;
    uint16_t to;
    uint16_t sample;
    uint64_t time;
};

/* Reads the version and kind of any datagram. VERSION for another version, TRUNCATED when empty. */
GMC_NODISCARD gmc_status gmc_head_kind(struct gmc_bytes dgram, uint8_t *kind);
/* Reads the 9 bytes; TRUNCATED, VERSION. */
GMC_NODISCARD gmc_status gmc_head_get(struct gmc_bytes dgram, struct gmc_head *head);
void gmc_head_put(uint8_t out[GMC_HEAD_BYTES], const struct gmc_head *head);
/* Reads bytes 9..16 of a DATA datagram; TRUNCATED when there is no room for body tag and link
 * tag. */
GMC_NODISCARD gmc_status gmc_data_head_get(struct gmc_bytes dgram, struct gmc_data_head *head);
/* Writes bytes 9..16; the caller fills 17..24 with the link tag. */
void gmc_data_head_put(uint8_t out[GMC_DATA_HEAD_BYTES], const struct gmc_data_head *head);
GMC_NODISCARD gmc_status gmc_echo_get(struct gmc_bytes dgram, struct gmc_echo *echo);
/* Writes GMC_ECHO_BYTES, all but the tag at 23..30. */
void gmc_echo_put(uint8_t out[GMC_ECHO_BYTES], const struct gmc_echo *echo);

/* The full packet number nearest to expected whose low 32 bits are low (RFC 9000, A.3). */
uint64_t gmc_packet_expand(uint64_t expected, uint32_t low);

#endif
