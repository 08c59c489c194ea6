/* SPDX-License-Identifier: BSD-2-Clause */
/* The gate of one session: its keys, the replay window, and the sealing and opening of link
 * datagrams. Behind it nothing is unauthenticated.
 *
 * Keys      derived from the session's secret of each direction: "gmcast seal" for everything but
 *           data, "gmcast tag" for the link tag of data
 * Nonces    4 zero bytes and the 64-bit packet number, big-endian; a number is used once in a
 *           session, and a session's secrets are never used again
 * Order     length, version, kind, session, replay window, tag: the cheap checks come first, and
 *           none changes anything unless all have passed
 */
#ifndef GMC_CORE_GATE_H
#define GMC_CORE_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/near.h"
#include "base/status.h"
#include "core/io.h"
#include "crypto/crypto.h"
#include "crypto/replay.h"
#include "wire/head.h"

/* What sealing adds to a plaintext. */
#define GMC_GATE_OVERHEAD (GMC_HEAD_BYTES + GMC_SEAL_TAG_BYTES)

struct gmc_gate {
    const struct gmc_crypto *crypto;
    struct gmc_aead *seal_send, *seal_recv, *tag_send, *tag_recv;
    uint32_t local_id, remote_id;
    struct gmc_replay replay;
    /* Of simulations with virtual bodies: of a CHALLENGE only the first bytes exist, what follows
     * up to the tag is padding that is not looked at. Both sides have it, or none. */
    bool virtual_padding;
};

struct gmc_gate_packet {
    uint8_t kind; /* enum gmc_kind, DATA to GROUP_STATE */
    uint64_t number;
    struct gmc_bytes content; /* DATA, GROUP_DATA, GROUP_REPAIR: the datagram behind its 25 bytes of
                                 head, up to the seal tag; otherwise the plaintext, in the memory
                                 given */
};

/* NOMEM, or what deriving the keys returned; nothing is left to release then. */
GMC_NODISCARD gmc_status gmc_gate_init(struct gmc_gate *gate, const struct gmc_crypto *crypto,
                                       const struct gmc_session *session);
void gmc_gate_fini(struct gmc_gate *gate);
/* What packets will look at, beside the gate itself. */
void gmc_gate_near(const struct gmc_gate *gate, struct gmc_near *near);

/* Opens a datagram. plain holds at least dgram.len bytes; it is not used for DATA. TRUNCATED,
 * VERSION, TYPE, UNKNOWN (session), REPLAY, AUTH. */
GMC_NODISCARD gmc_status gmc_gate_open(struct gmc_gate *gate, struct gmc_bytes dgram,
                                       uint8_t *plain, struct gmc_gate_packet *packet);

/* How many of len bytes of plaintext exist. */
size_t gmc_gate_kept(const struct gmc_gate *gate, uint8_t kind, size_t len);

/* Makes a sealed datagram of len bytes of plaintext, which stand at buffer + GMC_HEAD_BYTES; its
 * length is len + GMC_GATE_OVERHEAD. */
GMC_NODISCARD gmc_status gmc_gate_seal(struct gmc_gate *gate, enum gmc_kind kind, uint64_t number,
                                       uint8_t *buffer, size_t len);

/* Writes the whole head of a data datagram whose body has this seal tag. kind: DATA, GROUP_DATA. */
GMC_NODISCARD gmc_status gmc_gate_head(struct gmc_gate *gate, enum gmc_kind kind, uint64_t number,
                                       const struct gmc_data_head *head, const uint8_t *seal_tag,
                                       uint8_t out[GMC_DATA_HEAD_BYTES]);
/* The same of a datagram of repair, whose len bytes behind the head stand at buffer +
 * GMC_DATA_HEAD_BYTES and are covered by the tag. */
GMC_NODISCARD gmc_status gmc_gate_repair(struct gmc_gate *gate, uint64_t number,
                                         const struct gmc_data_head *head, uint8_t *buffer,
                                         size_t len);

#endif
