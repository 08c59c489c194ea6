/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of functions of the test cryptography. */
#include "tests/lib/testcrypto.h"

#include <stdlib.h>
#include <string.h>

struct gmc_aead {
    const struct testcrypto *tc;
    uint64_t key;
};

static uint64_t mix(uint64_t h, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        h = (h ^ data[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (h ^ len) * 0xbf58476d1ce4e5b9u;
}

static void spread(uint64_t h, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        out[i] = (uint8_t)(h >> 56);
    }
}

static struct gmc_aead *test_aead_new(void *ctx, const uint8_t key[GMC_KEY_BYTES])
{
    struct gmc_aead *aead = malloc(sizeof *aead);
    if (aead != NULL)
        *aead = (struct gmc_aead){ctx, mix(2, key, GMC_KEY_BYTES)};
    return aead;
}

static void test_aead_free(struct gmc_aead *aead)
{
    free(aead);
}

static void crypt(uint64_t h, const uint8_t *in, size_t len, uint8_t *out)
{
    for (size_t i = 0; i < len; i++) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        out[i] = (uint8_t)(in[i] ^ (h >> 56));
    }
}

static gmc_status test_seal(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                            struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                            uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    uint64_t h = mix(aead->key, nonce, GMC_NONCE_BYTES);

    if (aead->tc->fail)
        return GMC_ERR_NOMEM;
    crypt(h, in, len, out);
    spread(mix(mix(h, aad.data, aad.len), out, len), tag, GMC_SEAL_TAG_BYTES);
    return GMC_OK;
}

static gmc_status test_open(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                            struct gmc_bytes aad, const uint8_t *in, size_t len, uint8_t *out,
                            const uint8_t tag[GMC_SEAL_TAG_BYTES])
{
    uint64_t h = mix(aead->key, nonce, GMC_NONCE_BYTES);
    uint8_t want[GMC_SEAL_TAG_BYTES];

    spread(mix(mix(h, aad.data, aad.len), in, len), want, sizeof want);
    if (memcmp(want, tag, sizeof want) != 0)
        return GMC_ERR_AUTH;
    crypt(h, in, len, out);
    return GMC_OK;
}

static gmc_status test_tag(struct gmc_aead *aead, const uint8_t nonce[GMC_NONCE_BYTES],
                           struct gmc_bytes first, struct gmc_bytes second,
                           uint8_t tag[GMC_LINK_TAG_BYTES])
{
    uint64_t h = mix(aead->key, nonce, GMC_NONCE_BYTES);

    if (aead->tc->fail)
        return GMC_ERR_NOMEM;
    h = mix(mix(h, first.data, first.len), second.data, second.len);
    spread(h, tag, GMC_LINK_TAG_BYTES);
    return GMC_OK;
}

static gmc_status test_derive(const uint8_t secret[GMC_KEY_BYTES], const char *label,
                              struct gmc_bytes context, uint8_t *out, size_t out_len)
{
    uint64_t h = mix(3, secret, GMC_KEY_BYTES);

    h = mix(h, (const uint8_t *)label, strlen(label));
    spread(mix(h, context.data, context.len), out, out_len);
    return GMC_OK;
}

static void test_random(void *ctx, uint8_t *out, size_t len)
{
    struct testcrypto *tc = ctx;

    tc->seed = tc->seed * 6364136223846793005u + 1442695040888963407u;
    spread(tc->seed, out, len);
}

static const struct gmc_crypto_ops ops = {
    .name = "test",
    .aead_new = test_aead_new,
    .aead_free = test_aead_free,
    .seal = test_seal,
    .open = test_open,
    .tag = test_tag,
    .derive = test_derive,
    .random = test_random,
};

void testcrypto_init(struct testcrypto *tc, uint64_t seed)
{
    *tc = (struct testcrypto){.crypto = {&ops, tc}, .seed = seed};
}
