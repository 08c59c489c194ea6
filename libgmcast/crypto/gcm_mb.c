/* SPDX-License-Identifier: BSD-2-Clause */
/* AES-256-GCM by libipsec-mb: see gcm_mb.h. */
#include "crypto/gcm_mb.h"

#ifdef GMC_WITH_IPSEC_MB
#include <stdlib.h>
#include <string.h>

#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#define KEY_ALIGN 64 /* what gcm_key_data wants */

struct gmc_gcm_mb {
    IMB_MGR *manager; /* the functions that are best here; nothing in it changes */
};

struct gmc_aead {
    IMB_MGR *manager;
    struct gcm_key_data *key; /* in memory */
    struct gcm_context_data work;
    uint8_t memory[sizeof(struct gcm_key_data) + KEY_ALIGN];
};

struct gmc_gcm_mb *gmc_gcm_mb_new(void)
{
    struct gmc_gcm_mb *mb = malloc(sizeof(*mb));
    IMB_ARCH arch = IMB_ARCH_NONE;

    if (mb == NULL)
        return NULL;
    mb->manager = alloc_mb_mgr(0);
    if (mb->manager != NULL)
        init_mb_mgr_auto(mb->manager, &arch);
    /* Below SSE with AES it computes with tables, whose use a neighbour could time. */
    if (arch >= IMB_ARCH_SSE && (mb->manager->features & IMB_FEATURE_AESNI) != 0)
        return mb;
    gmc_gcm_mb_free(mb);
    return NULL;
}

void gmc_gcm_mb_free(struct gmc_gcm_mb *mb)
{
    if (mb == NULL)
        return;
    if (mb->manager != NULL)
        free_mb_mgr(mb->manager);
    free(mb);
}

struct gmc_aead *gmc_gcm_mb_aead_new(const struct gmc_gcm_mb *mb, const uint8_t key[GMC_KEY_BYTES])
{
    struct gmc_aead *aead = calloc(1, sizeof(*aead));
    size_t past;

    if (aead == NULL)
        return NULL;
    past = (uintptr_t)aead->memory % KEY_ALIGN;
    aead->manager = mb->manager;
    aead->key = (struct gcm_key_data *)(void *)(aead->memory + (KEY_ALIGN - past));
    IMB_AES256_GCM_PRE(aead->manager, key, aead->key);
    return aead;
}

static void aead_free(struct gmc_aead *aead)
{
    if (aead == NULL)
        return;
    OPENSSL_cleanse(aead, sizeof(*aead));
    free(aead);
}

static gmc_status seal(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                       struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                       uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    IMB_AES256_GCM_ENC(aead->manager, aead->key, &aead->work, out, in, len, nonce, aad.data,
                       aad.len, tag, GMC_SEAL_TAG_BYTES);
    return GMC_OK;
}

static gmc_status open_sealed(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                              struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                              const uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    uint8_t computed[GMC_SEAL_TAG_BYTES];

    IMB_AES256_GCM_DEC(aead->manager, aead->key, &aead->work, out, in, len, nonce, aad.data,
                       aad.len, computed, GMC_SEAL_TAG_BYTES);
    return CRYPTO_memcmp(computed, tag, GMC_SEAL_TAG_BYTES) == 0 ? GMC_OK : GMC_ERR_AUTH;
}

static gmc_status link_tag(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                           struct gmc_bytes first, struct gmc_bytes second,
                           uint8_t tag[GMC_LINK_TAG_BYTES])
{
    IMB_AES256_GMAC_INIT(aead->manager, aead->key, &aead->work, nonce, GMC_NONCE_BYTES);
    if (first.len > 0)
        IMB_AES256_GMAC_UPDATE(aead->manager, aead->key, &aead->work, first.data, first.len);
    if (second.len > 0)
        IMB_AES256_GMAC_UPDATE(aead->manager, aead->key, &aead->work, second.data, second.len);
    IMB_AES256_GMAC_FINALIZE(aead->manager, aead->key, &aead->work, tag, GMC_LINK_TAG_BYTES);
    return GMC_OK;
}

void gmc_gcm_mb_fill(struct gmc_crypto_ops *ops)
{
    ops->aead_free = aead_free;
    ops->seal = seal;
    ops->open = open_sealed;
    ops->tag = link_tag;
}

#else

struct gmc_gcm_mb *gmc_gcm_mb_new(void)
{
    return NULL;
}

void gmc_gcm_mb_free(struct gmc_gcm_mb *mb)
{
    (void)mb;
}

struct gmc_aead *gmc_gcm_mb_aead_new(const struct gmc_gcm_mb *mb, const uint8_t key[GMC_KEY_BYTES])
{
    (void)mb, (void)key;
    return NULL;
}

void gmc_gcm_mb_fill(struct gmc_crypto_ops *ops)
{
    (void)ops;
}
#endif
