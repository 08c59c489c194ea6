/* SPDX-License-Identifier: BSD-2-Clause */
/* Base loss of a path: see the header. */
#include "core/cc_loss.h"

#define PPM UINT64_C(1000000)
#define LITTLE_KNOWN 128u        /* packets */
#define SAMPLE_MAX (1u << 22)    /* of n, so that products fit 64 bits */
#define PPM_MAX UINT32_C(500000) /* a path that loses more is not told from congestion */

uint64_t gmc_cc_isqrt(uint64_t x)
{
    uint64_t root = 0;

    for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2) {
        if (x >= root + bit) {
            x -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

void gmc_cc_loss_init(struct gmc_cc_loss *base)
{
    *base = (struct gmc_cc_loss){0};
}

uint32_t gmc_cc_loss_ppm(const struct gmc_cc_loss *base)
{
    uint64_t ppm = base->decided == 0 ? 0 : base->lost * PPM / base->decided;

    return ppm > PPM_MAX ? PPM_MAX : (uint32_t)ppm;
}

/* The standard deviation of the number lost among n, in thousandths. */
static uint64_t sigma_milli(uint64_t ppm, uint64_t n)
{
    return gmc_cc_isqrt(n * ppm / 1000 * (PPM - ppm) / 1000);
}

uint64_t gmc_cc_loss_allow_milli(const struct gmc_cc_loss *base, uint64_t n)
{
    uint64_t ppm = gmc_cc_loss_ppm(base);
    uint64_t m = n > SAMPLE_MAX ? SAMPLE_MAX : n;
    uint64_t allow = m * ppm / 1000 + 3 * sigma_milli(ppm, m);

    if (base->decided < LITTLE_KNOWN)
        allow += m * 100;
    return allow;
}

bool gmc_cc_loss_is_excess(const struct gmc_cc_loss *base, uint64_t n, uint64_t lost)
{
    return lost * 1000 > gmc_cc_loss_allow_milli(base, n) + n * 10 + 2000;
}

bool gmc_cc_loss_is_below(const struct gmc_cc_loss *base, uint64_t n, uint64_t lost,
                          uint32_t sigmas)
{
    uint64_t ppm = gmc_cc_loss_ppm(base);
    uint64_t m = n > SAMPLE_MAX ? SAMPLE_MAX : n;

    return lost * 1000 + sigmas * sigma_milli(ppm, m) < m * ppm / 1000;
}

void gmc_cc_loss_learn(struct gmc_cc_loss *base, uint64_t n, uint64_t lost)
{
    base->decided += n;
    base->lost += lost > n ? n : lost;
    while (base->decided > GMC_CC_LOSS_MEMORY) {
        base->decided /= 2;
        base->lost /= 2;
    }
}

void gmc_cc_loss_learn_clipped(struct gmc_cc_loss *base, uint64_t n, uint64_t lost)
{
    uint64_t most = (gmc_cc_loss_allow_milli(base, n) + n * 10 + 2000) / 1000;

    gmc_cc_loss_learn(base, n, lost > most ? most : lost);
}

void gmc_cc_loss_set(struct gmc_cc_loss *base, uint64_t n, uint64_t lost)
{
    gmc_cc_loss_init(base);
    gmc_cc_loss_learn(base, n, lost);
}

void gmc_cc_loss_undo(struct gmc_cc_loss *base)
{
    if (base->lost > 0)
        base->lost--;
}
