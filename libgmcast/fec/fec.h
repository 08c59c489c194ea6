/* SPDX-License-Identifier: BSD-2-Clause */
/* The erasure code that the core uses, as a table of functions: shards of equal length, up to 192
 * of data and 64 of parity; from any k of them the k data shards can be computed.
 *
 * Law     parity[i] = sum over j < k of data[j] / (x_i + y_j), x_i = 192 + i, y_j = j, byte by byte
 *         in GF(256) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d)
 * Source  Bloemer et al.: An XOR-Based Erasure-Resilient Coding Scheme, ICSI TR-95-048: each square
 *         part of a Cauchy matrix has an inverse, so any k shards do
 * Wire    coefficients do not depend on k: a window's parity is that of 192 shards whose last ones
 *         are zero, and equal in all implementations. */
#ifndef GMC_FEC_FEC_H
#define GMC_FEC_FEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GMC_FEC_DATA_MAX 192u
#define GMC_FEC_PARITY_MAX 64u
#define GMC_FEC_SHARD_BYTES_MAX 65535u

struct gmc_fec_ops {
    const char *name;

    /* Writes n parity shards, from the one with this index on (all of 0..63), of data[0..k) (k is
     * 1..192) to parity[0..n), which are none of them; each shard has len bytes,
     * 1..GMC_FEC_SHARD_BYTES_MAX. Shorter ones are to be filled up with zeros. Several at once take
     * a fraction of the time of as many one by one. GMC_ERR_INVALID when a bound is not kept. */
    gmc_status (*encode)(const void *ctx, unsigned k, unsigned index, unsigned n,
                         const uint8_t *const *data, size_t len, uint8_t *const *parity);

    /* Computes the n data shards missing[0..n) (indices below k, each once) into data[missing[i]],
     * where the others stand and are not changed, from parity[0..n) with the indices index[0..n)
     * (each once). The parity shards are used up: their bytes are undefined afterwards.
     * GMC_ERR_INVALID when a bound is not kept or an index is there twice, nothing is then
     * written. What it computes from forged shards is wrong and not noticed here. */
    gmc_status (*decode)(const void *ctx, unsigned k, uint8_t *const *data, size_t len, unsigned n,
                         const uint8_t *missing, const uint8_t *index, uint8_t *const *parity);
};

/* May be used by several threads at once. */
struct gmc_fec {
    const struct gmc_fec_ops *ops;
    const void *ctx;
};

#endif
