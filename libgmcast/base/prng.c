/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the generator behind the seeded streams.
 */
#include "base/prng.h"

#include "base/assert.h"

#define PPM_ALL 1000000u

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014). */
static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

void gmc_prng_init(struct gmc_prng *prng, uint64_t seed)
{
    uint64_t mix = seed;

    prng->seed = seed;
    for (int i = 0; i < 4; i++)
        prng->state[i] = splitmix(&mix);
}

void gmc_prng_fork(const struct gmc_prng *parent, const char *label, struct gmc_prng *child)
{
    gmc_prng_fork_nth(parent, label, 0, child);
}

void gmc_prng_fork_nth(const struct gmc_prng *parent, const char *label, uint64_t index,
                       struct gmc_prng *child)
{
    /* FNV-1a over the label. Parent and index are mixed in on their own, else (seed + 1, label)
     * and (seed, label + 1) could meet.
     */
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint64_t mix = parent->seed;

    for (const char *p = label; *p != '\0'; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
    mix = splitmix(&mix) ^ hash;
    mix = splitmix(&mix) ^ index;
    gmc_prng_init(child, splitmix(&mix));
}

uint64_t gmc_prng_u64(struct gmc_prng *prng)
{
    uint64_t *s = prng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t gmc_prng_below(struct gmc_prng *prng, uint64_t bound)
{
    uint64_t skip, draw;

    GMC_ASSERT(bound > 0);
    /* 2^64 mod bound: that many of the smallest draws are refused, so that the rest divides
     * evenly.
     */
    skip = (UINT64_MAX - bound + 1) % bound;
    do {
        draw = gmc_prng_u64(prng);
    } while (draw < skip);
    return draw % bound;
}

bool gmc_prng_chance_ppm(struct gmc_prng *prng, uint32_t ppm)
{
    /* The upper 32 bits scaled to [0, 1e6): a bias below 1/4000 ppm, and always one draw. */
    uint64_t draw = gmc_prng_u64(prng) >> 32;

    return (draw * PPM_ALL) >> 32 < ppm;
}
