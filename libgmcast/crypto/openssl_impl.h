/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two files of the OpenSSL implementation share; nobody else includes it. */
#ifndef GMC_CRYPTO_OPENSSL_IMPL_H
#define GMC_CRYPTO_OPENSSL_IMPL_H

#include <openssl/evp.h>

#include "crypto/crypto.h"
#include "crypto/openssl.h"

struct gmc_gcm_mb;

struct gmc_crypto_openssl {
    struct gmc_crypto_ops ops;            /* with what this processor does best */
    struct gmc_gcm_mb *mb;                /* seals and tags in libcrypto's place; NULL none */
    EVP_PKEY *keys[GMC_OPENSSL_KEYS_MAX]; /* sign, the newest first; NULL behind the last */
    EVP_CIPHER *gcm; /* fetched once: a fetch takes locks and a look-up by name */
    EVP_CIPHER *ctr;
    EVP_CIPHER_CTX *generator;
    uint8_t next_key[32]; /* of the generator's next refill */
    uint8_t pool[1024];   /* generated; zero up to pool_used */
    size_t pool_used;
};

gmc_status gmc_crypto_openssl_sign(void *ctx, const struct gmc_pubkey *signer,
                                   struct gmc_bytes data, uint8_t *sig, size_t *sig_len);
struct gmc_pubkey *gmc_crypto_openssl_pubkey_new(void *ctx, struct gmc_bytes spki);
void gmc_crypto_openssl_pubkey_free(struct gmc_pubkey *pubkey);
struct gmc_signer *gmc_crypto_openssl_signer_new(void *ctx, const uint8_t secret[GMC_KEY_BYTES],
                                                 uint8_t *spki, size_t *spki_len);
void gmc_crypto_openssl_signer_free(struct gmc_signer *signer);
gmc_status gmc_crypto_openssl_signer_sign(struct gmc_signer *signer, struct gmc_bytes data,
                                          uint8_t *sig, size_t *sig_len);
gmc_status gmc_crypto_openssl_verify(struct gmc_pubkey *pubkey, struct gmc_bytes data,
                                     struct gmc_bytes sig);

#endif
