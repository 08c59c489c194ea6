/* SPDX-License-Identifier: BSD-2-Clause */
/* The erasure code over a kernel: see code.h. */
#include "fec/code.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fec/cauchy.h"

#define ROW_BYTES (GMC_FEC_DATA_MAX * GMC_FEC_CELL_BYTES)

struct gmc_fec_code {
    const struct gmc_fec_kernel *kernel;
    struct gmc_gf256 gf;
    uint8_t zeros[GMC_FEC_SHARD_BYTES_MAX]; /* in the place of what is missing */
    uint8_t rows[GMC_FEC_PARITY_MAX][ROW_BYTES];
};

struct gmc_fec_code *gmc_fec_code_new_over(const struct gmc_fec_kernel *kernel)
{
    struct gmc_fec_code *code = kernel->dot != NULL ? calloc(1, sizeof(*code)) : NULL;
    uint8_t row[GMC_FEC_DATA_MAX];

    if (code == NULL)
        return NULL;
    code->kernel = kernel;
    gmc_gf256_init(&code->gf);
    for (unsigned i = 0; i < GMC_FEC_PARITY_MAX; i++) {
        for (unsigned j = 0; j < GMC_FEC_DATA_MAX; j++)
            row[j] = gmc_cauchy_at(&code->gf, (uint8_t)i, (uint8_t)j);
        kernel->prepare(GMC_FEC_DATA_MAX, row, code->rows[i]);
    }
    return code;
}

struct gmc_fec_code *gmc_fec_code_new(void)
{
    return gmc_fec_code_new_over(gmc_fec_kernel_isal.dot != NULL ? &gmc_fec_kernel_isal
                                                                 : &gmc_fec_kernel_plain);
}

void gmc_fec_code_free(struct gmc_fec_code *code)
{
    free(code);
}

static bool fits(unsigned k, size_t len)
{
    return k >= 1 && k <= GMC_FEC_DATA_MAX && len >= 1 && len <= GMC_FEC_SHARD_BYTES_MAX;
}

static gmc_status encode(const void *ctx, unsigned k, unsigned index, const uint8_t *const *data,
                         size_t len, uint8_t *parity)
{
    const struct gmc_fec_code *code = ctx;

    if (!fits(k, len) || index >= GMC_FEC_PARITY_MAX)
        return GMC_ERR_INVALID;
    code->kernel->dot(len, k, code->rows[index], data, parity);
    return GMC_OK;
}

/* Whether all are below the limit (up to 256), and none is there twice. */
static bool is_set(const uint8_t *indices, unsigned n, unsigned limit)
{
    uint64_t seen[4] = {0};

    for (unsigned i = 0; i < n; i++) {
        uint64_t bit = UINT64_C(1) << (indices[i] % 64);
        uint64_t *word = &seen[indices[i] / 64];

        if (indices[i] >= limit || (*word & bit) != 0)
            return false;
        *word |= bit;
    }
    return true;
}

static void add(uint8_t *sum, const uint8_t *other, size_t len)
{
    for (size_t at = 0; at < len; at++)
        sum[at] ^= other[at];
}

/* In two steps, which take n * k and n * n products of shards: from each parity shard what is here
 * is taken away, which leaves sums of the missing ones alone; their matrix is a part of Cauchy's.
 * Between the steps the missing shards' room is where the first step works. */
static gmc_status decode(const void *ctx, unsigned k, uint8_t *const *data, size_t len, unsigned n,
                         const uint8_t *missing, const uint8_t *index, uint8_t *const *parity)
{
    const struct gmc_fec_code *code = ctx;
    const uint8_t *here[GMC_FEC_DATA_MAX];
    uint8_t inverse[GMC_FEC_PARITY_MAX * GMC_FEC_PARITY_MAX];
    uint8_t cells[GMC_FEC_PARITY_MAX * GMC_FEC_CELL_BYTES];

    if (!fits(k, len) || n > GMC_FEC_PARITY_MAX || !is_set(missing, n, k) ||
        !is_set(index, n, GMC_FEC_PARITY_MAX))
        return GMC_ERR_INVALID;
    for (unsigned j = 0; j < k; j++)
        here[j] = data[j];
    for (unsigned i = 0; i < n; i++)
        here[missing[i]] = code->zeros;
    for (unsigned i = 0; i < n; i++) {
        code->kernel->dot(len, k, code->rows[index[i]], here, data[missing[i]]);
        add(parity[i], data[missing[i]], len);
    }
    gmc_cauchy_inverse(&code->gf, n, index, missing, inverse);
    for (unsigned i = 0; i < n; i++) {
        code->kernel->prepare(n, inverse + i * n, cells);
        code->kernel->dot(len, n, cells, (const uint8_t *const *)parity, data[missing[i]]);
    }
    return GMC_OK;
}

static const struct gmc_fec_ops plain_ops = {"plain", encode, decode};
static const struct gmc_fec_ops isal_ops = {"isa-l", encode, decode};

struct gmc_fec gmc_fec_code_table(const struct gmc_fec_code *code)
{
    return (struct gmc_fec){code->kernel == &gmc_fec_kernel_isal ? &isal_ops : &plain_ops, code};
}
