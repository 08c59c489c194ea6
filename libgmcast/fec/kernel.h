/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns what multiplies shards by coefficients: the part of the code that takes the time. */
#ifndef GMC_FEC_KERNEL_H
#define GMC_FEC_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Room for one prepared coefficient. */
#define GMC_FEC_CELL_BYTES 32u

struct gmc_fec_kernel {
    const char *name;
    /* Prepares n coefficients; the first m of them are prepared as they would be alone. */
    void (*prepare)(unsigned n, uint8_t *coefficients, uint8_t *cells);
    /* out = sum over j < n of coefficient j * in[j]; out is none of in. */
    void (*dot)(size_t len, unsigned n, const uint8_t *cells, const uint8_t *const *in,
                uint8_t *out);
};

/* Tables of 256, built for each coefficient: for any machine. */
extern const struct gmc_fec_kernel gmc_fec_kernel_plain;
/* By ISA-L; its dot is NULL where we were built without. */
extern const struct gmc_fec_kernel gmc_fec_kernel_isal;

#endif
