/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns arithmetic in GF(256) by logarithms, for coefficients; shards are multiplied by kernels. */
#ifndef GMC_FEC_GF256_H
#define GMC_FEC_GF256_H

#include <stdint.h>

#define GMC_GF256_POLYNOMIAL 0x11du

struct gmc_gf256 {
    uint8_t log[256]; /* to the base 2; log[0] has no meaning */
    uint8_t exp[255];
};

void gmc_gf256_init(struct gmc_gf256 *gf);

/* Either may be 0. */
uint8_t gmc_gf256_mul(const struct gmc_gf256 *gf, uint8_t a, uint8_t b);

/* 1/a; a is not 0 (asserted). */
uint8_t gmc_gf256_inverse(const struct gmc_gf256 *gf, uint8_t a);

#endif
