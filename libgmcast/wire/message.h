/* SPDX-License-Identifier: BSD-2-Clause */
/* The head of a packet of a message channel, inside the content seal: bytes <-> fields.
 *
 *   0      flags     1: the message begins here; 2: it ends here; 4: it is the channel's last one,
 *                    whose body says in words why there are no more; 8 alone: a proof, see below
 *   1..8   sequence  number of the message in the channel's epoch, from 0
 *   9..    a piece of the message
 *
 * A proof is a packet of no message. It has the hashes of packets before it, cut to 16 bytes, and
 * the source's signature over them, so that who relays packets cannot make any:
 *
 *   1..8   number of the first packet that it proves
 *   9..10  length of the signature, then the signature, then the hashes
 *
 * Packets of a channel are numbered from 0, and those of a message follow each other. The number
 * has 48 bits; on the wire it stands in the place of block (its upper 32 bits) and fragment.
 */
#ifndef GMC_WIRE_MESSAGE_H
#define GMC_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define GMC_MESSAGE_HEAD_BYTES 9u
#define GMC_MESSAGE_BYTES_MAX (1u << 20) /* of one message */
#define GMC_MESSAGE_NUMBER_BITS 48
#define GMC_PROOF_HASH_BYTES 16u
#define GMC_PROOF_SIGNATURE_MAX 64u /* Ed25519 */
#define GMC_PROOF_ROOM (GMC_MESSAGE_HEAD_BYTES + 2 + GMC_PROOF_SIGNATURE_MAX)

struct gmc_message_head {
    bool first, last, end;
    uint64_t sequence;
};

/* TRUNCATED; INVALID: flags that this version does not know, or an end of more than one packet. */
GMC_NODISCARD gmc_status gmc_message_head_get(struct gmc_bytes packet,
                                              struct gmc_message_head *head);
void gmc_message_head_put(uint8_t out[GMC_MESSAGE_HEAD_BYTES], const struct gmc_message_head *head);

struct gmc_proof {
    uint64_t first;             /* packet that it proves */
    uint32_t count;             /* 1 and more, of consecutive ones */
    struct gmc_bytes signature; /* over gmc_proof_signed; 1 to SIGNATURE_MAX bytes */
    struct gmc_bytes hashes;    /* count times PROOF_HASH_BYTES */
};

bool gmc_proof_is(struct gmc_bytes packet);
/* Borrows. INVALID, TRUNCATED: no proof, or none that a packet of this number may be. */
GMC_NODISCARD gmc_status gmc_proof_get(struct gmc_bytes packet, uint64_t number,
                                       struct gmc_proof *proof);
/* Writes it; the bytes that it takes, at most ROOM and the hashes. */
size_t gmc_proof_put(uint8_t *out, const struct gmc_proof *proof);

/* What the source signs: that the packet of this number of this channel proves these. Without the
 * number it would be a proof in the place of any other packet too.
 * out: SIGNED_HEAD bytes and those of the hashes; how many were written. */
#define GMC_PROOF_SIGNED_HEAD 52u
size_t gmc_proof_signed(uint8_t *out, uint64_t e, uint32_t epoch, uint64_t number,
                        const struct gmc_proof *proof);

static inline uint64_t gmc_message_number(uint32_t block, uint16_t fragment)
{
    return (uint64_t)block << 16 | fragment;
}

#endif
