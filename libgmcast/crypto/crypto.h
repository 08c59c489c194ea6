/* SPDX-License-Identifier: BSD-2-Clause */
/* The cryptography that the core uses, as a table of functions: one implementation calls OpenSSL,
 * one is cheap and for large simulations only. TLS is not here: it reads clock and entropy by
 * itself and therefore lives in shells. */
#ifndef GMC_CRYPTO_CRYPTO_H
#define GMC_CRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define GMC_KEY_BYTES 32
#define GMC_NONCE_BYTES 12
#define GMC_SEAL_TAG_BYTES 16
#define GMC_LINK_TAG_BYTES 8
#define GMC_HASH_BYTES 32
#define GMC_SIGNATURE_BYTES_MAX 1024
#define GMC_PUBKEY_BYTES_MAX 2048
#define GMC_SIGNER_SPKI_MAX 64
#define GMC_SIGNER_SIGNATURE_MAX 64

struct gmc_aead;   /* a key prepared for sealing, opening and tagging */
struct gmc_pubkey; /* a peer's public key, prepared for verifying */
struct gmc_signer; /* a key pair that was made for one channel */

struct gmc_crypto_ops {
    const char *name;

    /* AES-256-GCM (OpenSSL). Returns NULL when out of memory. */
    struct gmc_aead *(*aead_new)(void *ctx, const uint8_t key[GMC_KEY_BYTES]);
    void (*aead_free)(struct gmc_aead *aead);

    /* Seals len bytes of in to out (out == in is allowed) and writes the tag. A nonce must never
     * meet two plaintexts under one key; the callers' headers say how they keep that. */
    gmc_status (*seal)(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                       struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                       uint8_t tag[GMC_SEAL_TAG_BYTES]);
    /* Opens; GMC_ERR_AUTH when the tag does not fit (out is then undefined, not to be used). */
    gmc_status (*open)(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                       struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                       const uint8_t tag[GMC_SEAL_TAG_BYTES]);
    /* Authenticates two pieces without encrypting: GMAC, cut to 8 bytes (NIST SP 800-38D). */
    gmc_status (*tag)(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                      struct gmc_bytes first, struct gmc_bytes second,
                      uint8_t tag[GMC_LINK_TAG_BYTES]);

    /* SHA-256 (OpenSSL). Thread-safe: disk workers call it too. */
    void (*hash)(const uint8_t *data, size_t len, uint8_t out[GMC_HASH_BYTES]);
    /* out[i] = the hash of the len bytes at data[i]: two pieces of one length in little more than
     * the time of one, where the processor can. Thread-safe. */
    void (*hash_pair)(const uint8_t *const data[2], size_t len, uint8_t *const out[2]);

    /* HKDF-Expand-SHA256 (RFC 5869) of a 32-byte secret with a label and a context. */
    gmc_status (*derive)(const uint8_t secret[GMC_KEY_BYTES], const char *label,
                         struct gmc_bytes context, uint8_t *out, size_t out_len);

    /* Signs with the private half of signer, which is one of this domain's keys that ctx holds;
     * NULL: the newest of them. STATE: it holds no such key. *sig_len: in capacity, out length. */
    gmc_status (*sign)(void *ctx, const struct gmc_pubkey *signer, struct gmc_bytes data,
                       uint8_t *sig, size_t *sig_len);
    /* Prepares a DER SubjectPublicKeyInfo; NULL when it is not a usable key. */
    struct gmc_pubkey *(*pubkey_new)(void *ctx, struct gmc_bytes spki);
    void (*pubkey_free)(struct gmc_pubkey *key);
    /* GMC_OK or GMC_ERR_AUTH. */
    gmc_status (*verify)(struct gmc_pubkey *key, struct gmc_bytes data, struct gmc_bytes sig);

    /* A key pair from 32 secret bytes, and its public half as DER SubjectPublicKeyInfo (*spki_len:
     * in capacity, out length; SIGNER_SPKI_MAX is enough): Ed25519 (RFC 8032), which takes the same
     * time whatever the domain's key is. NULL: no memory, no room. */
    struct gmc_signer *(*signer_new)(void *ctx, const uint8_t secret[GMC_KEY_BYTES], uint8_t *spki,
                                     size_t *spki_len);
    void (*signer_free)(struct gmc_signer *signer);
    /* As sign; SIGNER_SIGNATURE_MAX bytes are enough. */
    gmc_status (*signer_sign)(struct gmc_signer *signer, struct gmc_bytes data, uint8_t *sig,
                              size_t *sig_len);

    /* Secret random bytes, from a generator that the shell seeded (so that a recorded run
     * repeats). */
    void (*random)(void *ctx, uint8_t *out, size_t len);
};

struct gmc_crypto {
    const struct gmc_crypto_ops *ops;
    void *ctx;
};

#endif
