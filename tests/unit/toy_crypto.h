/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns a cryptography for unit tests of single machines: it protects nothing, every bit of input
 * changes its output, and signing can be made to fail. Only what those machines call is there. */
#ifndef GMC_TESTS_TOY_CRYPTO_H
#define GMC_TESTS_TOY_CRYPTO_H

#include <stdlib.h>
#include <string.h>

#include "crypto/crypto.h"

struct toy_ctx {
    uint64_t secret;  /* the signing key; the same number is the public key */
    size_t sig_bytes; /* length of signatures; 0: signing fails */
};

struct gmc_aead {
    uint64_t key;
};

struct gmc_pubkey {
    uint64_t secret;
    bool lenient; /* accepts everything: for fuzzing what stands behind the signature */
};

static inline uint64_t toy_mix(uint64_t h, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        h = (h ^ data[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h * 0xbf58476d1ce4e5b9u ^ len;
}

static inline void toy_spread(uint64_t h, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        out[i] = (uint8_t)(h >> 56);
    }
}

static inline void toy_hash(const uint8_t *data, size_t len, uint8_t out[GMC_HASH_BYTES])
{
    toy_spread(toy_mix(1, data, len), out, GMC_HASH_BYTES);
}

static inline struct gmc_aead *toy_aead_new(void *ctx, const uint8_t key[GMC_KEY_BYTES])
{
    struct gmc_aead *aead = malloc(sizeof(*aead));

    (void)ctx;
    if (aead != NULL)
        aead->key = toy_mix(2, key, GMC_KEY_BYTES);
    return aead;
}

static inline void toy_aead_free(struct gmc_aead *aead)
{
    free(aead);
}

static inline gmc_status toy_tag(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                                 struct gmc_bytes first, struct gmc_bytes second,
                                 uint8_t tag[GMC_LINK_TAG_BYTES])
{
    uint64_t h = toy_mix(aead->key, nonce, GMC_NONCE_BYTES);

    h = toy_mix(h, first.data, first.len);
    toy_spread(toy_mix(h, second.data, second.len), tag, GMC_LINK_TAG_BYTES);
    return GMC_OK;
}

static inline gmc_status toy_sign(void *ctx, const struct gmc_pubkey *signer, struct gmc_bytes data,
                                  uint8_t *sig, size_t *sig_len)
{
    const struct toy_ctx *toy = ctx;

    (void)signer;
    if (toy->sig_bytes == 0 || toy->sig_bytes > *sig_len)
        return GMC_ERR_STATE;
    *sig_len = toy->sig_bytes;
    toy_spread(toy_mix(toy->secret, data.data, data.len), sig, *sig_len);
    return GMC_OK;
}

static inline gmc_status toy_verify(struct gmc_pubkey *key, struct gmc_bytes data,
                                    struct gmc_bytes sig)
{
    uint8_t want[GMC_SIGNATURE_BYTES_MAX];

    if (key->lenient)
        return GMC_OK;
    toy_spread(toy_mix(key->secret, data.data, data.len), want, sig.len);
    return sig.len > 0 && memcmp(want, sig.data, sig.len) == 0 ? GMC_OK : GMC_ERR_AUTH;
}

static inline void toy_random(void *ctx, uint8_t *out, size_t len)
{
    struct toy_ctx *toy = ctx;

    toy->secret = toy->secret * 6364136223846793005u + 1442695040888963407u;
    toy_spread(toy->secret, out, len);
}

static const struct gmc_crypto_ops toy_crypto_ops = {.name = "toy",
                                                     .aead_new = toy_aead_new,
                                                     .aead_free = toy_aead_free,
                                                     .tag = toy_tag,
                                                     .hash = toy_hash,
                                                     .sign = toy_sign,
                                                     .verify = toy_verify,
                                                     .random = toy_random};

#endif
