/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting by kinds of pairs: n^3/6 of them. */
#include "interconnect/hypercube/pcube_ways.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

#define BITS (IC_PCUBE_N_MAX + 1)

struct counts {
    double binomial[BITS][BITS], factorial[BITS];
};

/* Bits to clear, to set, and ones that stay. */
struct kind {
    uint32_t clear, set, ones;
};

static void fill_counts(struct counts *counts)
{
    memset(counts, 0, sizeof(*counts));
    for (uint32_t a = 0; a < BITS; a++) {
        counts->factorial[a] = a > 0 ? counts->factorial[a - 1] * a : 1;
        counts->binomial[a][0] = 1;
        for (uint32_t b = 1; b <= a; b++)
            counts->binomial[a][b] =
                counts->binomial[a - 1][b - 1] + (b < a ? counts->binomial[a - 1][b] : 0);
    }
}

static double rate_of(const struct counts *counts, uint32_t n, uint32_t z)
{
    double sum = 0;
    for (uint32_t i = 0; i <= n - 1 - z; i++)
        for (uint32_t j = 0; j <= z; j++)
            sum += counts->binomial[n - 1 - z][i] * counts->binomial[z][j] *
                   ldexp(1, (int)(z - j)) / ((i + j + 1) * counts->binomial[i + j][i]);
    return sum / (ldexp(1, (int)n) - 1);
}

gmc_status ic_pcube_rate(uint64_t n, uint64_t z, double *rate, char *error)
{
    struct counts counts;
    gmc_status status = ic_check_range("n, dimensions,", n, 1, IC_PCUBE_N_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("z, zeros among the other bits,", z, 0, n - 1, error);
    if (status != GMC_OK)
        return status;
    fill_counts(&counts);
    *rate = rate_of(&counts, (uint32_t)n, (uint32_t)z);
    return GMC_OK;
}

/* The class of the i-th hop of a phase, from 0. */
static uint32_t negative_hop(const struct ic_pcube_ways *ways, const struct kind *kind, uint32_t i)
{
    return ways->n - (kind->ones + kind->clear - i);
}

static uint32_t positive_hop(const struct ic_pcube_ways *ways, const struct kind *kind, uint32_t i)
{
    return ways->n + ways->n - (kind->ones + i) - 1;
}

static void add_kind(struct ic_pcube_ways *ways, uint32_t row, const struct kind *kind,
                     double weight)
{
    ways->hops[row] += weight * (kind->clear + kind->set);
    for (uint32_t i = 0; i < kind->clear; i++)
        ways->uses[negative_hop(ways, kind, i)][kind->clear - i - 1][row] += weight;
    for (uint32_t i = 0; i < kind->set; i++)
        ways->uses[positive_hop(ways, kind, i)][kind->set - i - 1][row] += weight;
}

static void divide_row(struct ic_pcube_ways *ways, uint32_t row, double sum)
{
    ways->hops[row] /= sum;
    for (uint32_t c = 0; c < ways->classes; c++)
        for (uint32_t i = 0; i < ways->alternatives[c]; i++)
            ways->uses[c][i][row] /= sum;
}

/* A pair's hop through a channel comes after `before` hops of its phase and before `after` others;
 * `other` hops are of the other phase. Of the n - 1 bits that the channel does not change, `made`
 * have the value that the phase makes, and `left` the one that it changes. */
static void add_class(struct ic_pcube_ways *ways, const struct counts *counts, uint32_t c)
{
    bool is_negative = c < ways->n;
    uint32_t z = c % ways->n, made = is_negative ? z : ways->n - 1 - z;
    uint32_t left = ways->n - 1 - made;
    double sum = 0;
    for (uint32_t before = 0; before <= made; before++)
        for (uint32_t after = 0; after <= left; after++) {
            /* What the positive phase sets was zero before, and is none of what was cleared. */
            uint32_t free = is_negative ? made - before : left - after;
            for (uint32_t other = 0; other <= free; other++) {
                uint32_t phase = before + after + 1;
                struct kind kind = {is_negative ? phase : other, is_negative ? other : phase,
                                    is_negative ? left - after : made - before};
                double weight = counts->binomial[made][before] * counts->binomial[left][after] *
                                counts->binomial[free][other] * counts->factorial[before] *
                                counts->factorial[after] * counts->factorial[other];
                sum += weight;
                add_kind(ways, c, &kind, weight);
            }
        }
    divide_row(ways, c, sum);
}

static void add_part(struct ic_pcube_ways *ways, uint32_t weight, const struct kind *kind,
                     double share)
{
    for (uint32_t i = 0; i < kind->clear; i++)
        ways->part[negative_hop(ways, kind, i)][weight] += share;
    for (uint32_t i = 0; i < kind->set; i++)
        ways->part[positive_hop(ways, kind, i)][weight] += share;
}

static void add_sources(struct ic_pcube_ways *ways, const struct counts *counts, uint32_t weight)
{
    double others = ldexp(1, (int)ways->n) - 1;
    for (uint32_t clear = 0; clear <= weight; clear++)
        for (uint32_t set = clear == 0 ? 1 : 0; set <= ways->n - weight; set++) {
            const struct kind kind = {clear, set, weight - clear};
            double pairs =
                counts->binomial[weight][clear] * counts->binomial[ways->n - weight][set];
            add_kind(ways, ways->classes + weight, &kind, pairs);
            add_part(ways, weight, &kind, pairs / others / (clear + set));
        }
    divide_row(ways, ways->classes + weight, others);
    ways->sources[weight] = counts->binomial[ways->n][weight] / (others + 1);
}

void ic_pcube_ways_init(struct ic_pcube_ways *ways, uint32_t n)
{
    struct counts counts;
    GMC_ASSERT(n > 0);
    fill_counts(&counts);
    memset(ways, 0, sizeof(*ways));
    ways->n = n;
    ways->classes = 2 * n;
    for (uint32_t c = 0; c < ways->classes; c++) {
        ways->rate[c] = rate_of(&counts, n, c % n);
        ways->alternatives[c] = c < n ? n - c : c - n + 1;
    }
    for (uint32_t c = 0; c < ways->classes; c++)
        add_class(ways, &counts, c);
    for (uint32_t weight = 0; weight <= n; weight++)
        add_sources(ways, &counts, weight);
}
