/* SPDX-License-Identifier: BSD-2-Clause */
/* A Merkle tree over many entries: whoever knows its root and the number of entries can check one
 * entry with the hashes beside its way up, and needs none of the others.
 *
 * Law     RFC 9162, 2.1.1: leaf = SHA-256(0x00 | d), inner node = SHA-256(0x01 | left | right), the
 *         left part of n entries being the largest power of two below n. The input d of a leaf is
 *         SHA-256 of the entry, so that no entry has to be copied behind a prefix.
 * Proof   RFC 9162, 2.1.3: at most ceil(log2 n) hashes, from the leaf up
 */
#ifndef GMC_CORE_MERKLE_H
#define GMC_CORE_MERKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/crypto.h"

#define GMC_MERKLE_HEIGHT_MAX 32u

/* All nodes, the leaves first, then level by level: 2 n + 32 hashes at most. */
struct gmc_merkle {
    const struct gmc_crypto *crypto; /* borrowed */
    uint8_t (*nodes)[GMC_HASH_BYTES];
    size_t leaves;
};

/* NOMEM. Leaves are undefined until they are put. */
GMC_NODISCARD gmc_status gmc_merkle_init(struct gmc_merkle *tree, const struct gmc_crypto *crypto,
                                         size_t leaves);
void gmc_merkle_fini(struct gmc_merkle *tree);
void gmc_merkle_put(struct gmc_merkle *tree, size_t index, struct gmc_bytes entry);
/* When all are there. The root is zeros where there is none. */
void gmc_merkle_finish(struct gmc_merkle *tree, uint8_t root[GMC_HASH_BYTES]);
/* The hashes beside the way of a leaf up; returns how many. After gmc_merkle_finish. */
size_t gmc_merkle_proof(const struct gmc_merkle *tree, size_t index,
                        uint8_t out[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES]);

/* Is the entry the one at `index` of `leaves` under the root? Siblings are hashes, end to end. */
bool gmc_merkle_check(const struct gmc_crypto *crypto, const uint8_t root[GMC_HASH_BYTES],
                      size_t leaves, size_t index, struct gmc_bytes entry,
                      struct gmc_bytes siblings);

#endif
