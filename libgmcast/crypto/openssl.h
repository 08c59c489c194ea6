/* SPDX-License-Identifier: BSD-2-Clause */
/* The cryptography for real use, by OpenSSL 3: AES-256-GCM, GMAC, SHA-256, HKDF, and signatures
 * with the key of the domain's certificate.
 *
 * Prepared keys (gmc_aead) hold cipher contexts that are set up once; sealing, opening and tagging
 * set the nonce only and do not allocate. A gmc_aead is for one thread at a time; hash, derive and
 * verify may be called from any.
 *
 * Which signature a key makes: Ed25519 (RFC 8032) as it is; ECDSA on P-256 and P-384 with SHA-256;
 * RSA of 2048 to 8192 bits as PSS with SHA-256 and a salt of 32 bytes (RFC 8017), also where the
 * certificate says plain rsaEncryption. Other keys are refused.
 */
#ifndef GMC_CRYPTO_OPENSSL_H
#define GMC_CRYPTO_OPENSSL_H

#include "crypto/crypto.h"

struct evp_pkey_st; /* EVP_PKEY */
struct gmc_crypto_openssl;

/* Signs with key, of which it takes a reference of its own; NULL: sign gives STATE. The seed, 32
 * secret random bytes, decides everything that `random` gives. NULL when out of memory or when
 * the key is refused (see gmc_crypto_openssl_refusal). */
struct gmc_crypto_openssl *gmc_crypto_openssl_new(struct evp_pkey_st *key, const uint8_t seed[32]);

#define GMC_OPENSSL_KEYS_MAX 8

/* From now on this key is the newest, and x takes a reference of its own. Earlier ones stay, for
 * what was begun with them, GMC_OPENSSL_KEYS_MAX in all. EXISTS: it is the newest already. INVALID:
 * it is refused. */
GMC_NODISCARD gmc_status gmc_crypto_openssl_add_key(struct gmc_crypto_openssl *x,
                                                    struct evp_pkey_st *key);

/* gmc_crypto_openssl_new with an Ed25519 key made of the 32 bytes of its private half. */
struct gmc_crypto_openssl *gmc_crypto_openssl_new_ed25519(const uint8_t private_key[32],
                                                          const uint8_t seed[32]);

/* All prepared keys must have been freed before. NULL is ignored. */
void gmc_crypto_openssl_free(struct gmc_crypto_openssl *x);

/* The table for the core; valid until x is freed. */
void gmc_crypto_openssl_table(struct gmc_crypto_openssl *x, struct gmc_crypto *out);

/* Why a key cannot be used for signatures, in words; NULL when it can. */
const char *gmc_crypto_openssl_refusal(const struct evp_pkey_st *key);

/* The DER SubjectPublicKeyInfo of x's newest key. *len: in capacity, out length. STATE without a
 * key, FULL when it does not fit. */
GMC_NODISCARD gmc_status gmc_crypto_openssl_spki(const struct gmc_crypto_openssl *x, uint8_t *out,
                                                 size_t *len);

/* HKDF-Expand of RFC 5869 with the info as given; the table's derive calls it with
 * info = label | 0x00 | context. */
GMC_NODISCARD gmc_status gmc_crypto_openssl_expand(const uint8_t secret[GMC_KEY_BYTES],
                                                   struct gmc_bytes info, uint8_t *out,
                                                   size_t out_len);

#endif
