/* SPDX-License-Identifier: BSD-2-Clause
 * Owns reproducible random numbers: seeded streams, one per machine. Not for keys or nonces.
 *
 * Law     xoshiro256**, its state filled by splitmix64 from the seed
 * Source  Blackman, Vigna: Scrambled Linear Pseudorandom Number Generators, ACM TOMS 47(4), 2021
 */
#ifndef GMC_BASE_PRNG_H
#define GMC_BASE_PRNG_H

#include <stdbool.h>
#include <stdint.h>

struct gmc_prng {
    uint64_t seed; /* what forks are made from; draws do not change it */
    uint64_t state[4];
};

/* Any seed is good, 0 too. */
void gmc_prng_init(struct gmc_prng *prng, uint64_t seed);

/* Make child a stream of its own, a function of parent's seed and label only: neither draws nor
 * other forks move it. parent is not changed.
 */
void gmc_prng_fork(const struct gmc_prng *parent, const char *label, struct gmc_prng *child);

/* The same for the index-th of many, e.g. one stream per peer. */
void gmc_prng_fork_nth(const struct gmc_prng *parent, const char *label, uint64_t index,
                       struct gmc_prng *child);

/* Uniform over all 64-bit values. */
uint64_t gmc_prng_u64(struct gmc_prng *prng);

/* Uniform in [0, bound), without bias; bound > 0. Mostly one draw. */
uint64_t gmc_prng_below(struct gmc_prng *prng, uint64_t bound);

/* True with a probability of ppm / 1,000,000; one draw in any case, so that changing ppm does not
 * move the stream.
 */
bool gmc_prng_chance_ppm(struct gmc_prng *prng, uint32_t ppm);

#endif
