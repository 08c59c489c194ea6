/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel for any machine: see kernel.h. */
#include <string.h>

#include "fec/gf256.h"
#include "fec/kernel.h"

static void prepare(unsigned n, uint8_t *coefficients, uint8_t *cells)
{
    for (unsigned j = 0; j < n; j++)
        cells[j * GMC_FEC_CELL_BYTES] = coefficients[j];
}

/* products[x] = c * x: those of powers of two by doubling, all others are sums. */
static void fill_products(uint8_t c, uint8_t products[256])
{
    unsigned power = c;

    products[0] = 0;
    for (unsigned bit = 1; bit < 256; bit <<= 1) {
        for (unsigned rest = 0; rest < bit; rest++)
            products[bit + rest] = (uint8_t)(products[rest] ^ power);
        power <<= 1;
        if (power > 255)
            power ^= GMC_GF256_POLYNOMIAL;
    }
}

static void dot(size_t len, unsigned n, unsigned rows, const uint8_t *cells,
                const uint8_t *const *in, uint8_t *const *out)
{
    uint8_t products[256];

    for (unsigned i = 0; i < rows; i++) {
        memset(out[i], 0, len);
        for (unsigned j = 0; j < n; j++) {
            fill_products(cells[(i * n + j) * GMC_FEC_CELL_BYTES], products);
            for (size_t at = 0; at < len; at++)
                out[i][at] ^= products[in[j][at]];
        }
    }
}

const struct gmc_fec_kernel gmc_fec_kernel_plain = {"plain", prepare, dot};
