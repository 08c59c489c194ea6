/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what multiplies shards by coefficients: the part of the code that takes the time. */
#ifndef GMC_FEC_KERNEL_H
#define GMC_FEC_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* What one prepared coefficient takes, at most. */
#define GMC_FEC_CELL_BYTES 32u
/* Sums at once: ISA-L's widest loops read each shard once for so many. */
#define GMC_FEC_ROWS_MAX 6u

struct gmc_fec_kernel {
    const char *name;
    /* Prepares n coefficients, each as it would be alone, side by side. */
    void (*prepare)(unsigned n, uint8_t *coefficients, uint8_t *cells);
    /* out[i] = sum over j < n of cell (i * n + j) * in[j]; no out is one of in. n is up to
     * GMC_FEC_DATA_MAX, rows up to GMC_FEC_ROWS_MAX. */
    void (*dot)(size_t len, unsigned n, unsigned rows, const uint8_t *cells,
                const uint8_t *const *in, uint8_t *const *out);
};

/* Tables of 256, built for each coefficient: for any machine. */
extern const struct gmc_fec_kernel gmc_fec_kernel_plain;
/* By ISA-L; its dot is NULL where we were built without. */
extern const struct gmc_fec_kernel gmc_fec_kernel_isal;

#endif
