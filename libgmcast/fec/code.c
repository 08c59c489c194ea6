/* SPDX-License-Identifier: BSD-2-Clause */
/* The erasure code over a kernel: see code.h. */
#include "fec/code.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fec/cauchy.h"

struct gmc_fec_code {
    const struct gmc_fec_kernel *kernel;
    struct gmc_gf256 gf;
    size_t cell;                            /* bytes from one prepared coefficient to the next */
    uint8_t cells[256][GMC_FEC_CELL_BYTES]; /* all of them */
    uint8_t matrix[GMC_FEC_PARITY_MAX][GMC_FEC_DATA_MAX];
};

/* How far apart a kernel prepares coefficients: newer ISA-L takes 8 bytes for processors that know
 * GF(256), else 32. 0: something else. */
static size_t cell_of(const struct gmc_fec_kernel *kernel)
{
    uint8_t both[2 * GMC_FEC_CELL_BYTES] = {0}, one[GMC_FEC_CELL_BYTES] = {0};

    kernel->prepare(2, (uint8_t[]){2, 3}, both);
    kernel->prepare(1, (uint8_t[]){3}, one);
    for (size_t cell = GMC_FEC_CELL_BYTES; cell >= 8; cell /= 4)
        if (memcmp(both + cell, one, cell) == 0)
            return cell;
    return 0;
}

struct gmc_fec_code *gmc_fec_code_new_over(const struct gmc_fec_kernel *kernel)
{
    size_t cell = kernel->dot != NULL ? cell_of(kernel) : 0;
    struct gmc_fec_code *code = cell > 0 ? calloc(1, sizeof(*code)) : NULL;

    if (code == NULL)
        return NULL;
    code->kernel = kernel;
    code->cell = cell;
    gmc_gf256_init(&code->gf);
    for (unsigned c = 0; c < 256; c++)
        kernel->prepare(1, (uint8_t[]){(uint8_t)c}, code->cells[c]);
    for (unsigned i = 0; i < GMC_FEC_PARITY_MAX; i++)
        for (unsigned j = 0; j < GMC_FEC_DATA_MAX; j++)
            code->matrix[i][j] = gmc_cauchy_at(&code->gf, (uint8_t)i, (uint8_t)j);
    return code;
}

struct gmc_fec_code *gmc_fec_code_new(void)
{
    struct gmc_fec_code *code = gmc_fec_code_new_over(&gmc_fec_kernel_isal);

    return code != NULL ? code : gmc_fec_code_new_over(&gmc_fec_kernel_plain);
}

void gmc_fec_code_free(struct gmc_fec_code *code)
{
    free(code);
}

static bool fits(unsigned k, size_t len)
{
    return k >= 1 && k <= GMC_FEC_DATA_MAX && len >= 1 && len <= GMC_FEC_SHARD_BYTES_MAX;
}

/* out[i] = sum over j < n of coefficients[i * n + j] * in[j], for each of the rows. */
static void multiply(const struct gmc_fec_code *code, size_t len, unsigned n, unsigned rows,
                     const uint8_t *coefficients, const uint8_t *const *in, uint8_t *const *out)
{
    uint8_t cells[GMC_FEC_ROWS_MAX * GMC_FEC_DATA_MAX * GMC_FEC_CELL_BYTES];

    for (unsigned first = 0; first < rows; first += GMC_FEC_ROWS_MAX) {
        unsigned count = rows - first < GMC_FEC_ROWS_MAX ? rows - first : GMC_FEC_ROWS_MAX;

        /* Where cells are shorter, the next one goes over the rest. */
        for (unsigned i = 0; i < count * n; i++)
            memcpy(cells + i * code->cell, code->cells[coefficients[first * n + i]],
                   GMC_FEC_CELL_BYTES);
        code->kernel->dot(len, n, count, cells, in, out + first);
    }
}

static gmc_status encode(const void *ctx, unsigned k, unsigned index, unsigned n,
                         const uint8_t *const *data, size_t len, uint8_t *const *parity)
{
    const struct gmc_fec_code *code = ctx;
    uint8_t coefficients[GMC_FEC_PARITY_MAX * GMC_FEC_DATA_MAX];

    if (!fits(k, len) || index >= GMC_FEC_PARITY_MAX || n > GMC_FEC_PARITY_MAX - index)
        return GMC_ERR_INVALID;
    for (unsigned i = 0; i < n; i++)
        memcpy(coefficients + i * k, code->matrix[index + i], k);
    multiply(code, len, k, n, coefficients, data, parity);
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

/* In two steps, which take n * (k - n) and n * n products of shards: from each parity shard what is
 * here is taken away, which leaves sums of the missing ones alone; their matrix is a part of
 * Cauchy's. Between the steps the missing shards' room is where the first step works. */
static gmc_status decode(const void *ctx, unsigned k, uint8_t *const *data, size_t len, unsigned n,
                         const uint8_t *missing, const uint8_t *index, uint8_t *const *parity)
{
    const struct gmc_fec_code *code = ctx;
    const uint8_t *here[GMC_FEC_DATA_MAX];
    uint8_t *out[GMC_FEC_PARITY_MAX];
    uint8_t coefficients[GMC_FEC_PARITY_MAX * GMC_FEC_DATA_MAX];
    bool is_missing[GMC_FEC_DATA_MAX] = {false};
    unsigned count = 0;

    if (!fits(k, len) || n > GMC_FEC_PARITY_MAX || !is_set(missing, n, k) ||
        !is_set(index, n, GMC_FEC_PARITY_MAX))
        return GMC_ERR_INVALID;
    for (unsigned i = 0; i < n; i++) {
        is_missing[missing[i]] = true;
        out[i] = data[missing[i]];
    }
    for (unsigned j = 0; j < k; j++) {
        if (is_missing[j])
            continue;
        for (unsigned i = 0; i < n; i++)
            coefficients[i * (k - n) + count] = code->matrix[index[i]][j];
        here[count++] = data[j];
    }
    if (count > 0) {
        multiply(code, len, count, n, coefficients, here, out);
        for (unsigned i = 0; i < n; i++)
            add(parity[i], out[i], len);
    }
    gmc_cauchy_inverse(&code->gf, n, index, missing, coefficients);
    multiply(code, len, n, n, coefficients, (const uint8_t *const *)parity, out);
    return GMC_OK;
}

static const struct gmc_fec_ops plain_ops = {"plain", encode, decode};
static const struct gmc_fec_ops isal_ops = {"isa-l", encode, decode};

struct gmc_fec gmc_fec_code_table(const struct gmc_fec_code *code)
{
    return (struct gmc_fec){code->kernel == &gmc_fec_kernel_isal ? &isal_ops : &plain_ops, code};
}
