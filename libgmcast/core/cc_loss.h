/* SPDX-License-Identifier: BSD-2-Clause */
/* The base loss of a path: what it loses however slowly one sends, and the test whether a count
 * of losses is more than that and chance. Integers only: parts per million, thousandths. */
#ifndef GMC_CORE_CC_LOSS_H
#define GMC_CORE_CC_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct gmc_cc_loss {
    uint64_t decided; /* packets, with a memory of about GMC_CC_LOSS_MEMORY */
    uint64_t lost;
};

#define GMC_CC_LOSS_MEMORY 8192u

void gmc_cc_loss_init(struct gmc_cc_loss *base);
uint32_t gmc_cc_loss_ppm(const struct gmc_cc_loss *base);

/* How many of n packets, in thousandths of a packet, base loss and chance may take: the mean and
 * three standard deviations, and a tenth of them more while little is known. */
uint64_t gmc_cc_loss_allow_milli(const struct gmc_cc_loss *base, uint64_t n);
/* More than allowed, by a margin of 1 % and two packets. */
bool gmc_cc_loss_is_excess(const struct gmc_cc_loss *base, uint64_t n, uint64_t lost);
/* Fewer than the mean by so many standard deviations: base was learnt too high. */
bool gmc_cc_loss_is_below(const struct gmc_cc_loss *base, uint64_t n, uint64_t lost,
                          uint32_t sigmas);

void gmc_cc_loss_learn(struct gmc_cc_loss *base, uint64_t n, uint64_t lost);
/* Learns no more losses than is_excess would just let pass. */
void gmc_cc_loss_learn_clipped(struct gmc_cc_loss *base, uint64_t n, uint64_t lost);
/* The path has changed: these packets speak for it alone. */
void gmc_cc_loss_set(struct gmc_cc_loss *base, uint64_t n, uint64_t lost);
/* A packet counted as lost had come late. */
void gmc_cc_loss_undo(struct gmc_cc_loss *base);

/* floor(sqrt(x)) */
uint64_t gmc_cc_isqrt(uint64_t x);

#endif
