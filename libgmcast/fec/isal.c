/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel by ISA-L (BSD-3-Clause), which takes the widest instructions of the processor that it
 * runs on: see kernel.h. */
#include "fec/kernel.h"

#ifdef GMC_WITH_ISAL
#include <isa-l/erasure_code.h>
#include <string.h>

#include "fec/fec.h"

#define WIDE_BYTES 64u

static void prepare(unsigned n, uint8_t *coefficients, uint8_t *cells)
{
    ec_init_tables((int)n, 1, coefficients, cells);
}

/* ISA-L's arguments are not const; it writes to out only. */
static void encode(size_t len, unsigned n, unsigned rows, const uint8_t *cells,
                   const uint8_t *const *in, uint8_t *const *out)
{
    ec_encode_data((int)len, (int)n, (int)rows, (uint8_t *)(uintptr_t)cells,
                   (uint8_t **)(uintptr_t)in, (uint8_t **)(uintptr_t)out);
}

/* What is shorter than the widest registers it takes byte by byte, so that the tags of a window
 * would cost more than the rest: they are filled up. */
static void encode_short(size_t len, unsigned n, unsigned rows, const uint8_t *cells,
                         const uint8_t *const *in, uint8_t *const *out)
{
    uint8_t wide_in[GMC_FEC_DATA_MAX][WIDE_BYTES] = {0}, wide_out[GMC_FEC_ROWS_MAX][WIDE_BYTES];
    const uint8_t *from[GMC_FEC_DATA_MAX];
    uint8_t *to[GMC_FEC_ROWS_MAX];

    for (unsigned j = 0; j < n; j++) {
        memcpy(wide_in[j], in[j], len);
        from[j] = wide_in[j];
    }
    for (unsigned i = 0; i < rows; i++)
        to[i] = wide_out[i];
    encode(WIDE_BYTES, n, rows, cells, from, to);
    for (unsigned i = 0; i < rows; i++)
        memcpy(out[i], wide_out[i], len);
}

static void dot(size_t len, unsigned n, unsigned rows, const uint8_t *cells,
                const uint8_t *const *in, uint8_t *const *out)
{
    if (len < WIDE_BYTES)
        encode_short(len, n, rows, cells, in, out);
    else
        encode(len, n, rows, cells, in, out);
}

const struct gmc_fec_kernel gmc_fec_kernel_isal = {"isa-l", prepare, dot};

#else
const struct gmc_fec_kernel gmc_fec_kernel_isal = {"isa-l", NULL, NULL};
#endif
