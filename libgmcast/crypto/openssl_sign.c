/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns signatures by OpenSSL: which keys are taken, what each of them signs with, and the bytes
 * of public keys. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "crypto/openssl.h"
#include "crypto/openssl_impl.h"

#define RSA_BITS_MIN 2048
#define RSA_BITS_MAX (GMC_SIGNATURE_BYTES_MAX * 8)

struct gmc_pubkey {
    EVP_PKEY *key;
};

struct gmc_signer {
    EVP_PKEY *key;
};

static const char *refuse_curve(const EVP_PKEY *key)
{
    char group[32] = "";

    if (EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) != 1)
        return "its elliptic curve has no name";
    if (strcmp(group, "prime256v1") != 0 && strcmp(group, "P-256") != 0 &&
        strcmp(group, "secp384r1") != 0 && strcmp(group, "P-384") != 0)
        return "its elliptic curve is neither P-256 nor P-384";
    return NULL;
}

const char *gmc_crypto_openssl_refusal(const EVP_PKEY *key)
{
    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_ED25519:
        return NULL;
    case EVP_PKEY_EC:
        return refuse_curve(key);
    case EVP_PKEY_RSA:
    case EVP_PKEY_RSA_PSS:
        if (EVP_PKEY_get_bits(key) < RSA_BITS_MIN || EVP_PKEY_get_bits(key) > RSA_BITS_MAX)
            return "an RSA key must have 2048 to 8192 bits";
        return NULL;
    default:
        return "its type is not Ed25519, ECDSA (P-256, P-384) or RSA";
    }
}

/* Ed25519 hashes by itself; everything else signs a SHA-256. */
static const EVP_MD *digest_of(const EVP_PKEY *key)
{
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? NULL : EVP_sha256();
}

static bool set_padding(const EVP_PKEY *key, EVP_PKEY_CTX *context)
{
    int type = EVP_PKEY_get_base_id(key);

    if (type != EVP_PKEY_RSA && type != EVP_PKEY_RSA_PSS)
        return true;
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

/* NULL: none of those that it holds. */
static EVP_PKEY *key_of(const struct gmc_crypto_openssl *x, const struct gmc_pubkey *signer)
{
    for (size_t i = 0; i < GMC_OPENSSL_KEYS_MAX && x->keys[i] != NULL; i++)
        if (signer == NULL || EVP_PKEY_eq(x->keys[i], signer->key) == 1)
            return x->keys[i];
    return NULL;
}

static gmc_status sign_with(EVP_PKEY *key, struct gmc_bytes data, uint8_t *sig, size_t *sig_len)
{
    EVP_MD_CTX *context;
    EVP_PKEY_CTX *settings;
    size_t need = (size_t)EVP_PKEY_get_size(key);
    gmc_status status = GMC_ERR_INVALID;

    if (*sig_len < need)
        return GMC_ERR_FULL;
    context = EVP_MD_CTX_new();
    if (context == NULL)
        return GMC_ERR_NOMEM;
    if (EVP_DigestSignInit(context, &settings, digest_of(key), NULL, key) == 1 &&
        set_padding(key, settings) &&
        EVP_DigestSign(context, sig, &need, data.data, data.len) == 1) {
        *sig_len = need;
        status = GMC_OK;
    }
    EVP_MD_CTX_free(context);
    if (status != GMC_OK)
        ERR_clear_error();
    return status;
}

gmc_status gmc_crypto_openssl_sign(void *ctx, const struct gmc_pubkey *signer,
                                   struct gmc_bytes data, uint8_t *sig, size_t *sig_len)
{
    EVP_PKEY *key = key_of(ctx, signer);

    return key != NULL ? sign_with(key, data, sig, sig_len) : GMC_ERR_STATE;
}

static gmc_status put_spki(const EVP_PKEY *key, uint8_t *out, size_t *len)
{
    int need = i2d_PUBKEY(key, NULL);

    if (need <= 0) {
        ERR_clear_error();
        return GMC_ERR_INVALID;
    }
    if ((size_t)need > *len)
        return GMC_ERR_FULL;
    *len = (size_t)i2d_PUBKEY(key, &out);
    return GMC_OK;
}

/* ---- a channel's own pair ---- */
struct gmc_signer *gmc_crypto_openssl_signer_new(void *ctx, const uint8_t secret[GMC_KEY_BYTES],
                                                 uint8_t *spki, size_t *spki_len)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, GMC_KEY_BYTES);
    struct gmc_signer *signer = malloc(sizeof(*signer));

    (void)ctx;
    if (key == NULL || signer == NULL || put_spki(key, spki, spki_len) != GMC_OK) {
        EVP_PKEY_free(key);
        free(signer);
        ERR_clear_error();
        return NULL;
    }
    signer->key = key;
    return signer;
}

void gmc_crypto_openssl_signer_free(struct gmc_signer *signer)
{
    if (signer == NULL)
        return;
    EVP_PKEY_free(signer->key);
    free(signer);
}

gmc_status gmc_crypto_openssl_signer_sign(struct gmc_signer *signer, struct gmc_bytes data,
                                          uint8_t *sig, size_t *sig_len)
{
    return sign_with(signer->key, data, sig, sig_len);
}

/* ---- public keys ---- */
struct gmc_pubkey *gmc_crypto_openssl_pubkey_new(void *ctx, struct gmc_bytes spki)
{
    struct gmc_pubkey *pubkey;
    const uint8_t *end = spki.data;
    EVP_PKEY *key;

    (void)ctx;
    if (spki.len == 0 || spki.len > GMC_PUBKEY_BYTES_MAX)
        return NULL;
    key = d2i_PUBKEY(NULL, &end, (long)spki.len);
    if (key == NULL || end != spki.data + spki.len || gmc_crypto_openssl_refusal(key) != NULL)
        goto drop_key;
    pubkey = malloc(sizeof(*pubkey));
    if (pubkey == NULL)
        goto drop_key;
    pubkey->key = key;
    return pubkey;

drop_key:
    EVP_PKEY_free(key);
    ERR_clear_error();
    return NULL;
}

void gmc_crypto_openssl_pubkey_free(struct gmc_pubkey *pubkey)
{
    if (pubkey == NULL)
        return;
    EVP_PKEY_free(pubkey->key);
    free(pubkey);
}

gmc_status gmc_crypto_openssl_verify(struct gmc_pubkey *pubkey, struct gmc_bytes data,
                                     struct gmc_bytes sig)
{
    EVP_MD_CTX *context;
    EVP_PKEY_CTX *settings;
    gmc_status status = GMC_ERR_AUTH;

    if (sig.len == 0 || sig.len > GMC_SIGNATURE_BYTES_MAX)
        return GMC_ERR_AUTH;
    context = EVP_MD_CTX_new();
    if (context == NULL)
        return GMC_ERR_NOMEM;
    if (EVP_DigestVerifyInit(context, &settings, digest_of(pubkey->key), NULL, pubkey->key) == 1 &&
        set_padding(pubkey->key, settings) &&
        EVP_DigestVerify(context, sig.data, sig.len, data.data, data.len) == 1)
        status = GMC_OK;
    EVP_MD_CTX_free(context);
    if (status != GMC_OK)
        ERR_clear_error();
    return status;
}

gmc_status gmc_crypto_openssl_add_key(struct gmc_crypto_openssl *x, EVP_PKEY *key)
{
    if (x->keys[0] != NULL && EVP_PKEY_eq(x->keys[0], key) == 1)
        return GMC_ERR_EXISTS;
    if (gmc_crypto_openssl_refusal(key) != NULL || EVP_PKEY_up_ref(key) != 1)
        return GMC_ERR_INVALID;
    EVP_PKEY_free(x->keys[GMC_OPENSSL_KEYS_MAX - 1]);
    memmove(x->keys + 1, x->keys, sizeof(x->keys[0]) * (GMC_OPENSSL_KEYS_MAX - 1));
    x->keys[0] = key;
    return GMC_OK;
}

struct gmc_crypto_openssl *gmc_crypto_openssl_new_ed25519(const uint8_t private_key[32],
                                                          const uint8_t seed[32])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, private_key, 32);
    struct gmc_crypto_openssl *x;

    if (key == NULL)
        return NULL;
    x = gmc_crypto_openssl_new(key, seed);
    EVP_PKEY_free(key); /* x has a reference of its own */
    return x;
}

gmc_status gmc_crypto_openssl_spki(const struct gmc_crypto_openssl *x, uint8_t *out, size_t *len)
{
    return x->keys[0] != NULL ? put_spki(x->keys[0], out, len) : GMC_ERR_STATE;
}
