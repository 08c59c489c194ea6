/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic in GF(256): see gf256.h. */
#include "fec/gf256.h"

#include "base/assert.h"

void gmc_gf256_init(struct gmc_gf256 *gf)
{
    unsigned power = 1;

    gf->log[0] = 0;
    for (unsigned i = 0; i < 255; i++) {
        gf->exp[i] = (uint8_t)power;
        gf->log[power] = (uint8_t)i;
        power <<= 1;
        if (power > 255)
            power ^= GMC_GF256_POLYNOMIAL;
    }
}

uint8_t gmc_gf256_mul(const struct gmc_gf256 *gf, uint8_t a, uint8_t b)
{
    if (a == 0 || b == 0)
        return 0;
    return gf->exp[(gf->log[a] + gf->log[b]) % 255];
}

uint8_t gmc_gf256_inverse(const struct gmc_gf256 *gf, uint8_t a)
{
    GMC_ASSERT(a != 0);
    return gf->exp[(255 - gf->log[a]) % 255];
}
