/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the implementation of fec.h, over either kernel. */
#ifndef GMC_FEC_CODE_H
#define GMC_FEC_CODE_H

#include "fec/fec.h"
#include "fec/kernel.h"

struct gmc_fec_code; /* the matrix, and all coefficients prepared: 21 kB */

/* Over the fastest kernel that is here; NULL when out of memory. */
struct gmc_fec_code *gmc_fec_code_new(void);
/* Over this one; NULL also when it is not here. */
struct gmc_fec_code *gmc_fec_code_new_over(const struct gmc_fec_kernel *kernel);
/* NULL is ignored. */
void gmc_fec_code_free(struct gmc_fec_code *code);

/* The table for the core; it is valid as long as code. */
struct gmc_fec gmc_fec_code_table(const struct gmc_fec_code *code);

#endif
