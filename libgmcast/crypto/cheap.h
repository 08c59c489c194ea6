/* SPDX-License-Identifier: BSD-2-Clause */
/* A stand-in for cryptography in large simulations. It protects nothing: sealed bytes are the
 * plaintext, and whoever knows a domain's name can sign for it. What it keeps is what the protocol
 * looks at: a flipped byte, a wrong key, nonce, length or signer is found, by 64-bit mixing at
 * about the speed of memory. Never linked to a socket: gatewayd offers no way to choose it.
 *
 * The same input gives the same output on each machine, whatever its byte order.
 */
#ifndef GMC_CRYPTO_CHEAP_H
#define GMC_CRYPTO_CHEAP_H

#include "crypto/crypto.h"

struct gmc_crypto_cheap;

/* Signs as the domain `name`; the seed decides what `random` gives. NULL when out of memory or
 * when the name is longer than 255 bytes. */
struct gmc_crypto_cheap *gmc_crypto_cheap_new(const char *name, const uint8_t seed[32]);
void gmc_crypto_cheap_free(struct gmc_crypto_cheap *x);

/* The table for the core; valid until x is freed. */
void gmc_crypto_cheap_table(struct gmc_crypto_cheap *x, struct gmc_crypto *out);

/* The "public key" of a domain, as pubkey_new takes it. *len: in capacity, out length; FULL. */
GMC_NODISCARD gmc_status gmc_crypto_cheap_spki(const char *name, uint8_t *out, size_t *len);

#endif
