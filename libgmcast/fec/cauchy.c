/* SPDX-License-Identifier: BSD-2-Clause */
/* The Cauchy matrix: see cauchy.h. */
#include "fec/cauchy.h"

#include "fec/fec.h"

/* x_i, which is the y of no data shard. */
static uint8_t point(uint8_t i)
{
    return (uint8_t)(GMC_FEC_DATA_MAX + i);
}

uint8_t gmc_cauchy_at(const struct gmc_gf256 *gf, uint8_t i, uint8_t j)
{
    return gmc_gf256_inverse(gf, point(i) ^ j);
}

/* The logarithm of prod_k (x + points[k] + offset) over those that are not 0. */
static unsigned log_product(const struct gmc_gf256 *gf, uint8_t x, unsigned n,
                            const uint8_t *points, uint8_t offset)
{
    unsigned sum = 0;

    for (unsigned k = 0; k < n; k++) {
        uint8_t difference = (uint8_t)(x ^ (uint8_t)(points[k] + offset));

        if (difference != 0)
            sum += gf->log[difference];
    }
    return sum % 255;
}

void gmc_cauchy_inverse(const struct gmc_gf256 *gf, unsigned n, const uint8_t *rows,
                        const uint8_t *columns, uint8_t *inverse)
{
    unsigned of_row[GMC_FEC_PARITY_MAX];

    for (unsigned r = 0; r < n; r++) {
        uint8_t a = point(rows[r]);

        of_row[r] = log_product(gf, a, n, columns, 0) + 255 -
                    log_product(gf, a, n, rows, (uint8_t)GMC_FEC_DATA_MAX);
    }
    for (unsigned c = 0; c < n; c++) {
        uint8_t b = columns[c];
        unsigned of_column = log_product(gf, b, n, rows, (uint8_t)GMC_FEC_DATA_MAX) + 255 -
                             log_product(gf, b, n, columns, 0);

        for (unsigned r = 0; r < n; r++) {
            unsigned log = of_row[r] + of_column + 255 - gf->log[point(rows[r]) ^ b];

            inverse[c * n + r] = gf->exp[log % 255];
        }
    }
}
