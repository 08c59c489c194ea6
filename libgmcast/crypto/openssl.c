/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the symmetric half of the OpenSSL implementation: sealing, tags, hashes, derived keys and
 * the random generator. Signatures are in openssl_sign.c. */
#include "crypto/openssl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "base/assert.h"
#include "crypto/gcm_mb.h"
#include "crypto/openssl_impl.h"
#include "crypto/sha256_pair.h"

/* What HKDF gives at most, RFC 5869, 2.3. */
#define EXPAND_BYTES_MAX (255 * 32)

struct gmc_aead {
    EVP_CIPHER_CTX *seal;
    EVP_CIPHER_CTX *open;
    EVP_CIPHER_CTX *tag;
};

static EVP_CIPHER_CTX *context_new(const EVP_CIPHER *cipher, const uint8_t *key, int encrypt)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

    if (context == NULL)
        return NULL;
    if (EVP_CipherInit_ex2(context, cipher, key, NULL, encrypt, NULL) != 1) {
        EVP_CIPHER_CTX_free(context);
        return NULL;
    }
    return context;
}

static void aead_free(struct gmc_aead *aead)
{
    if (aead == NULL)
        return;
    EVP_CIPHER_CTX_free(aead->seal);
    EVP_CIPHER_CTX_free(aead->open);
    EVP_CIPHER_CTX_free(aead->tag);
    free(aead);
}

static struct gmc_aead *aead_new(void *ctx, const uint8_t key[GMC_KEY_BYTES])
{
    const struct gmc_crypto_openssl *x = ctx;
    struct gmc_aead *aead;

    if (x->mb != NULL)
        return gmc_gcm_mb_aead_new(x->mb, key);
    aead = calloc(1, sizeof(*aead));
    if (aead == NULL)
        return NULL;
    aead->seal = context_new(x->gcm, key, 1);
    aead->open = context_new(x->gcm, key, 0);
    aead->tag = context_new(x->gcm, key, 1);
    if (aead->seal == NULL || aead->open == NULL || aead->tag == NULL) {
        aead_free(aead);
        ERR_clear_error();
        return NULL;
    }
    return aead;
}

/* Feeds one piece; out NULL for associated data. An empty piece must not reach OpenSSL, which
 * takes a NULL input for the end of the message. */
static bool feed(EVP_CIPHER_CTX *context, const uint8_t *in, size_t len, uint8_t *out)
{
    int written = 0;

    return len == 0 || EVP_CipherUpdate(context, out, &written, in, (int)len) == 1;
}

static bool begin(EVP_CIPHER_CTX *context, const uint8_t *nonce)
{
    /* -1 keeps the direction, and NULL the key: only the nonce is new. */
    return EVP_CipherInit_ex2(context, NULL, NULL, nonce, -1, NULL) == 1;
}

static bool finish(EVP_CIPHER_CTX *context)
{
    uint8_t rest[16];
    int written = 0;

    return EVP_CipherFinal_ex(context, rest, &written) == 1;
}

/* The tag by parameters: the control calls of OpenSSL 1 build the same list behind the scenes,
 * for 30 ns more (OpenSSL 3.0.22, of 285 ns for a link tag). */
static bool get_tag(EVP_CIPHER_CTX *context, uint8_t *tag, size_t len)
{
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, len),
                            OSSL_PARAM_construct_end()};

    return EVP_CIPHER_CTX_get_params(context, params) == 1;
}

static bool set_tag(EVP_CIPHER_CTX *context, const uint8_t *tag, size_t len)
{
    const OSSL_PARAM params[2] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG,
                                                                    (void *)(uintptr_t)tag, len),
                                  OSSL_PARAM_construct_end()};

    return EVP_CIPHER_CTX_set_params(context, params) == 1;
}

/* Errors must not stay in the thread's queue, where the shell's TLS would find them. */
static gmc_status failed(gmc_status status)
{
    ERR_clear_error();
    return status;
}

static gmc_status seal(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                       struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                       uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    if (len > INT_MAX || aad.len > INT_MAX)
        return GMC_ERR_INVALID;
    if (!begin(aead->seal, nonce) || !feed(aead->seal, aad.data, aad.len, NULL) ||
        !feed(aead->seal, in, len, out) || !finish(aead->seal) ||
        !get_tag(aead->seal, tag, GMC_SEAL_TAG_BYTES))
        return failed(GMC_ERR_NOMEM);
    return GMC_OK;
}

static gmc_status open_sealed(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                              struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                              const uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    if (len > INT_MAX || aad.len > INT_MAX)
        return GMC_ERR_INVALID;
    if (!begin(aead->open, nonce) || !feed(aead->open, aad.data, aad.len, NULL) ||
        !feed(aead->open, in, len, out) || !set_tag(aead->open, tag, GMC_SEAL_TAG_BYTES))
        return failed(GMC_ERR_NOMEM);
    if (!finish(aead->open))
        return failed(GMC_ERR_AUTH);
    return GMC_OK;
}

static gmc_status link_tag(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                           struct gmc_bytes first, struct gmc_bytes second,
                           uint8_t tag[GMC_LINK_TAG_BYTES])
{
    uint8_t joined[64];

    if (first.len > INT_MAX || second.len > INT_MAX)
        return GMC_ERR_INVALID;
    /* What is short goes in as one piece: a call costs more than the copy. */
    if (first.len > 0 && second.len > 0 && first.len + second.len <= sizeof(joined)) {
        memcpy(joined, first.data, first.len);
        memcpy(joined + first.len, second.data, second.len);
        first = gmc_bytes(joined, first.len + second.len);
        second.len = 0;
    }
    /* GCM hands out the first bytes of its tag when asked for fewer. */
    if (!begin(aead->tag, nonce) || !feed(aead->tag, first.data, first.len, NULL) ||
        !feed(aead->tag, second.data, second.len, NULL) || !finish(aead->tag) ||
        !get_tag(aead->tag, tag, GMC_LINK_TAG_BYTES))
        return failed(GMC_ERR_NOMEM);
    return GMC_OK;
}

static void hash(const uint8_t *data, size_t len, uint8_t out[GMC_HASH_BYTES])
{
    GMC_ASSERT(EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL) == 1);
}

static void hash_both(const uint8_t *const data[2], size_t len, uint8_t *const out[2])
{
    hash(data[0], len, out[0]);
    hash(data[1], len, out[1]);
}

gmc_status gmc_crypto_openssl_expand(const uint8_t secret[GMC_KEY_BYTES], struct gmc_bytes info,
                                     uint8_t *out, size_t out_len)
{
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    char digest[] = "SHA256";
    OSSL_PARAM params[5], *end = params;
    EVP_KDF *kdf;
    EVP_KDF_CTX *context;
    int done;

    if (out_len == 0 || out_len > EXPAND_BYTES_MAX)
        return GMC_ERR_INVALID;
    kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    context = kdf != NULL ? EVP_KDF_CTX_new(kdf) : NULL;
    EVP_KDF_free(kdf);
    if (context == NULL)
        return failed(GMC_ERR_NOMEM);
    *end++ = OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode);
    *end++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0);
    *end++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)(uintptr_t)secret,
                                               GMC_KEY_BYTES);
    if (info.len > 0)
        *end++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO,
                                                   (void *)(uintptr_t)info.data, info.len);
    *end = OSSL_PARAM_construct_end();
    done = EVP_KDF_derive(context, out, out_len, params);
    EVP_KDF_CTX_free(context);
    return done == 1 ? GMC_OK : failed(GMC_ERR_NOMEM);
}

static gmc_status derive(const uint8_t secret[GMC_KEY_BYTES], const char *label,
                         struct gmc_bytes context, uint8_t *out, size_t out_len)
{
    uint8_t info[1024];                   /* OpenSSL 3.0 takes no longer one */
    size_t label_len = strlen(label) + 1; /* with its NUL, which ends the label */

    if (label_len > sizeof(info) || context.len > sizeof(info) - label_len)
        return GMC_ERR_INVALID;
    memcpy(info, label, label_len);
    if (context.len > 0)
        memcpy(info + label_len, context.data, context.len);
    return gmc_crypto_openssl_expand(secret, gmc_bytes(info, label_len + context.len), out,
                                     out_len);
}

/* Fast key erasure (D. J. Bernstein, 2017): each refill encrypts zeros with AES-256-CTR; the
 * first 32 bytes become the next key, so that what was given cannot be computed again from what
 * is in memory later. */
static void refill(struct gmc_crypto_openssl *x)
{
    static const uint8_t zero_iv[16];
    int written = 0;

    memset(x->pool, 0, sizeof(x->pool));
    GMC_ASSERT(EVP_EncryptInit_ex2(x->generator, x->ctr, x->next_key, zero_iv, NULL) == 1);
    GMC_ASSERT(EVP_EncryptUpdate(x->generator, x->pool, &written, x->pool, (int)sizeof(x->pool)) ==
               1);
    memcpy(x->next_key, x->pool, sizeof(x->next_key));
    OPENSSL_cleanse(x->pool, sizeof(x->next_key));
    x->pool_used = sizeof(x->next_key);
}

static void random_bytes(void *ctx, uint8_t *out, size_t len)
{
    struct gmc_crypto_openssl *x = ctx;

    while (len > 0) {
        size_t part;

        if (x->pool_used == sizeof(x->pool))
            refill(x);
        part = sizeof(x->pool) - x->pool_used;
        part = part < len ? part : len;
        memcpy(out, x->pool + x->pool_used, part);
        OPENSSL_cleanse(x->pool + x->pool_used, part);
        x->pool_used += part;
        out += part;
        len -= part;
    }
}

static const struct gmc_crypto_ops openssl_ops = {
    .name = "openssl",
    .aead_new = aead_new,
    .aead_free = aead_free,
    .seal = seal,
    .open = open_sealed,
    .tag = link_tag,
    .hash = hash,
    .hash_pair = hash_both,
    .derive = derive,
    .sign = gmc_crypto_openssl_sign,
    .pubkey_new = gmc_crypto_openssl_pubkey_new,
    .pubkey_free = gmc_crypto_openssl_pubkey_free,
    .signer_new = gmc_crypto_openssl_signer_new,
    .signer_free = gmc_crypto_openssl_signer_free,
    .signer_sign = gmc_crypto_openssl_signer_sign,
    .verify = gmc_crypto_openssl_verify,
    .random = random_bytes,
};

struct gmc_crypto_openssl *gmc_crypto_openssl_new(EVP_PKEY *key, const uint8_t seed[32])
{
    struct gmc_crypto_openssl *x;

    if (key != NULL && gmc_crypto_openssl_refusal(key) != NULL)
        return NULL;
    x = calloc(1, sizeof(*x));
    if (x == NULL)
        return NULL;
    x->gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    x->ctr = EVP_CIPHER_fetch(NULL, "AES-256-CTR", NULL);
    x->generator = EVP_CIPHER_CTX_new();
    if (x->gcm == NULL || x->ctr == NULL || x->generator == NULL ||
        (key != NULL && EVP_PKEY_up_ref(key) != 1)) {
        gmc_crypto_openssl_free(x);
        ERR_clear_error();
        return NULL;
    }
    x->keys[0] = key;
    memcpy(x->next_key, seed, sizeof(x->next_key));
    x->pool_used = sizeof(x->pool);
    x->ops = openssl_ops;
    if (gmc_sha256_pair_usable())
        x->ops.hash_pair = gmc_sha256_pair;
    x->mb = gmc_gcm_mb_new();
    if (x->mb != NULL)
        gmc_gcm_mb_fill(&x->ops);
    return x;
}

void gmc_crypto_openssl_free(struct gmc_crypto_openssl *x)
{
    if (x == NULL)
        return;
    gmc_gcm_mb_free(x->mb);
    for (size_t i = 0; i < GMC_OPENSSL_KEYS_MAX; i++)
        EVP_PKEY_free(x->keys[i]);
    EVP_CIPHER_CTX_free(x->generator);
    EVP_CIPHER_free(x->ctr);
    EVP_CIPHER_free(x->gcm);
    OPENSSL_cleanse(x, sizeof(*x));
    free(x);
}

void gmc_crypto_openssl_table(struct gmc_crypto_openssl *x, struct gmc_crypto *out)
{
    out->ops = &x->ops;
    out->ctx = x;
}
