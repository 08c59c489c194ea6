/* SPDX-License-Identifier: BSD-2-Clause */
/* What one core makes of parity and repairs of losses, with each kernel: bytes of data per second,
 * beside which the figures of groups are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fec/code.h"

#define SECONDS_EACH 0.5
#define SHARDS GMC_FEC_DATA_MAX
#define LEN 1400u

static uint8_t shards[SHARDS][LEN], parity[GMC_FEC_PARITY_MAX][LEN];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(gmc_status status)
{
    if (status != GMC_OK) {
        fprintf(stderr, "bench_fec: %s\n", gmc_status_text(status));
        exit(1);
    }
}

/* n parity shards, others in each turn. */
static void encode(const struct gmc_fec *fec, unsigned n, unsigned turn)
{
    const uint8_t *in[SHARDS];
    uint8_t *out[GMC_FEC_PARITY_MAX];

    for (unsigned j = 0; j < SHARDS; j++)
        in[j] = shards[j];
    for (unsigned i = 0; i < n; i++)
        out[i] = parity[i];
    must(fec->ops->encode(fec->ctx, SHARDS, turn * n % (GMC_FEC_PARITY_MAX - n), n, in, LEN, out));
}

/* n lost shards, spread over the window, in one turn. */
static void decode(const struct gmc_fec *fec, unsigned n)
{
    uint8_t *out[SHARDS], *repairs[GMC_FEC_PARITY_MAX];
    uint8_t missing[GMC_FEC_PARITY_MAX], index[GMC_FEC_PARITY_MAX];

    for (unsigned j = 0; j < SHARDS; j++)
        out[j] = shards[j];
    for (unsigned i = 0; i < n; i++) {
        missing[i] = (uint8_t)(i * SHARDS / n);
        index[i] = (uint8_t)i;
        repairs[i] = parity[i];
    }
    must(fec->ops->decode(fec->ctx, SHARDS, out, LEN, n, missing, index, repairs));
}

static void measure(const struct gmc_fec *fec, const char *what, unsigned made, unsigned lost)
{
    double start = now(), spent;
    unsigned turns = 0;

    do {
        for (unsigned i = 0; i < 10; i++, turns++) {
            if (made > 0)
                encode(fec, made, turns);
            else
                decode(fec, lost);
        }
        spent = now() - start;
    } while (spent < SECONDS_EACH);
    printf("  %-34s %8.1f us %8.2f GB/s of data\n", what, spent / turns * 1e6,
           (double)SHARDS * LEN * turns / spent / 1e9);
}

static void measure_all(const struct gmc_fec_kernel *kernel)
{
    struct gmc_fec_code *code = gmc_fec_code_new_over(kernel);
    struct gmc_fec fec;

    if (code == NULL) {
        printf("%s: not in this build\n", kernel->name);
        return;
    }
    fec = gmc_fec_code_table(code);
    printf("%s, windows of %u shards of %u bytes, one core\n", kernel->name, SHARDS, LEN);
    measure(&fec, "one parity shard", 1, 0);
    measure(&fec, "6 parity shards", 6, 0);
    measure(&fec, "2 lost (1 %)", 0, 2);
    measure(&fec, "10 lost (5 %)", 0, 10);
    measure(&fec, "38 lost (20 %)", 0, 38);
    gmc_fec_code_free(code);
}

int main(void)
{
    memset(shards, 7, sizeof(shards));
    measure_all(&gmc_fec_kernel_isal);
    measure_all(&gmc_fec_kernel_plain);
    return 0;
}
