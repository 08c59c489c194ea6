/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel by ISA-L (BSD-3-Clause), which takes the widest instructions of the processor that it
 * runs on: see kernel.h. */
#include "fec/kernel.h"

#ifdef GMC_WITH_ISAL
#include <isa-l/erasure_code.h>

static void prepare(unsigned n, uint8_t *coefficients, uint8_t *cells)
{
    ec_init_tables((int)n, 1, coefficients, cells);
}

/* ISA-L's arguments are not const; it writes to out only. */
static void dot(size_t len, unsigned n, const uint8_t *cells, const uint8_t *const *in,
                uint8_t *out)
{
    ec_encode_data((int)len, (int)n, 1, (uint8_t *)(uintptr_t)cells, (uint8_t **)(uintptr_t)in,
                   &out);
}

const struct gmc_fec_kernel gmc_fec_kernel_isal = {"isa-l", prepare, dot};

#else
const struct gmc_fec_kernel gmc_fec_kernel_isal = {"isa-l", NULL, NULL};
#endif
