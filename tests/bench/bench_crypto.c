/* SPDX-License-Identifier: BSD-2-Clause */
/* What one core seals, opens, tags and hashes with each implementation: the limits beside which
 * the figures of whole transfers are read. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "crypto/cheap.h"
#include "crypto/openssl.h"

#define SECONDS_EACH 0.5

static uint8_t buffer[131072];
static volatile uint8_t sink;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(gmc_status status)
{
    if (status != GMC_OK) {
        fprintf(stderr, "bench_crypto: %s\n", gmc_status_text(status));
        exit(1);
    }
}

enum work { SEAL, OPEN, TAG, HASH, HASH_PAIR };

/* One call; the nonce counts up as a link's does. */
static void once(const struct gmc_crypto *crypto, struct gmc_aead *aead, enum work work, size_t len,
                 uint64_t count)
{
    static uint8_t nonce[GMC_NONCE_BYTES], out[GMC_HASH_BYTES], tag[GMC_SEAL_TAG_BYTES];
    static uint8_t second[GMC_HASH_BYTES];
    struct gmc_bytes head = gmc_bytes(buffer, 17);

    gmc_put64(nonce + 4, count);
    switch (work) {
    case SEAL:
        must(crypto->ops->seal(aead, nonce, head, buffer, len, buffer, tag));
        break;
    case OPEN: /* a wrong tag costs what a right one does */
        if (crypto->ops->open(aead, nonce, head, buffer, len, buffer, out) == GMC_OK)
            exit(1);
        break;
    case TAG:
        must(crypto->ops->tag(aead, nonce, head, gmc_bytes(buffer, 16), out));
        break;
    case HASH:
        crypto->ops->hash(buffer, len, out);
        break;
    case HASH_PAIR: /* halves of the buffer */
        crypto->ops->hash_pair((const uint8_t *const[2]){buffer, buffer + len / 2}, len / 2,
                               (uint8_t *const[2]){out, second});
        break;
    }
    sink = (uint8_t)(out[0] ^ tag[0]);
}

static void measure(const struct gmc_crypto *crypto, const char *what, enum work work, size_t len)
{
    static const uint8_t key[GMC_KEY_BYTES] = {1};
    struct gmc_aead *aead = crypto->ops->aead_new(crypto->ctx, key);
    double start, spent;
    uint64_t count = 0;

    if (aead == NULL)
        exit(1);
    start = now();
    do {
        for (int i = 0; i < 100; i++)
            once(crypto, aead, work, len, count++);
        spent = now() - start;
    } while (spent < SECONDS_EACH);
    printf("  %-16s %8.0f ns", what, spent / (double)count * 1e9);
    if (len > 0)
        printf(" %8.1f Gbit/s", (double)len * 8 * (double)count / spent / 1e9);
    printf("\n");
    crypto->ops->aead_free(aead);
}

static void measure_all(const struct gmc_crypto *crypto)
{
    printf("%s\n", crypto->ops->name);
    measure(crypto, "seal 1350 B", SEAL, 1350);
    measure(crypto, "open 1350 B", OPEN, 1350);
    measure(crypto, "seal 32 KiB", SEAL, 32768);
    measure(crypto, "tag 17 + 16 B", TAG, 0);
    measure(crypto, "hash 64 KiB", HASH, 65536);
    measure(crypto, "hash 2 x 64 KiB", HASH_PAIR, 131072);
}

int main(void)
{
    static const uint8_t seed[32];
    struct gmc_crypto_openssl *real = gmc_crypto_openssl_new(NULL, seed);
    struct gmc_crypto_cheap *cheap = gmc_crypto_cheap_new("bench.example", seed);
    struct gmc_crypto crypto;

    if (real == NULL || cheap == NULL)
        return 1;
    gmc_crypto_openssl_table(real, &crypto);
    measure_all(&crypto);
    gmc_crypto_cheap_table(cheap, &crypto);
    measure_all(&crypto);
    gmc_crypto_openssl_free(real);
    gmc_crypto_cheap_free(cheap);
    return 0;
}
