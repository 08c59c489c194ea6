/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the matrix of fec.h and the inverses of its square parts. */
#ifndef GMC_FEC_CAUCHY_H
#define GMC_FEC_CAUCHY_H

#include <stdint.h>

#include "fec/gf256.h"

/* The coefficient of data shard j (0..191) in parity shard i (0..63). */
uint8_t gmc_cauchy_at(const struct gmc_gf256 *gf, uint8_t i, uint8_t j);

/* The inverse of the part with the n rows (parity) and n columns (data) of those indices, each
 * once, n up to 64; inverse[c * n + r] is what column c takes of row r.
 *
 * Law     1/(a_r + b_c) * prod_k (a_k + b_c)(a_r + b_k) / (prod_{k != r} (a_r + a_k)
 *         prod_{k != c} (b_c + b_k)), with a = x of the rows and b = y of the columns
 * Source  Knuth, The Art of Computer Programming 1, 1.2.3, exercise 41; n^2 steps, not n^3. */
void gmc_cauchy_inverse(const struct gmc_gf256 *gf, unsigned n, const uint8_t *rows,
                        const uint8_t *columns, uint8_t *inverse);

#endif
