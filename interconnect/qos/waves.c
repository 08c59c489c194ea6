/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums stay in registers. */
#include "interconnect/qos/waves.h"

#include <math.h>
#include <string.h>

#include "interconnect/qos/quad.h"

_Static_assert(IC_QOS_WAVE_BLOCK == 2 * sizeof(ic_quad) / sizeof(double), "two quads are a block");

/* Complex numbers at the points of a block. */
struct numbers {
    ic_quad re[2], im[2];
};

IC_QUAD_INLINE struct numbers load_block(const double *from)
{
    const ic_quad_at *quads = (const ic_quad_at *)from;
    return (struct numbers){{quads[0], quads[1]}, {quads[2], quads[3]}};
}

IC_QUAD_INLINE void store_block(double *to, const struct numbers *numbers)
{
    ic_quad_at *quads = (ic_quad_at *)to;
    for (unsigned i = 0; i < 2; i++) {
        quads[i] = numbers->re[i];
        quads[2 + i] = numbers->im[i];
    }
}

IC_QUAD_INLINE struct numbers repeat(double re, double im)
{
    ic_quad zero = {0};
    return (struct numbers){{zero + re, zero + re}, {zero + im, zero + im}};
}

IC_QUAD_INLINE void multiply_add(struct numbers *sum, const struct numbers *a,
                                 const struct numbers *b)
{
    for (unsigned i = 0; i < 2; i++) {
        sum->re[i] += a->re[i] * b->re[i];
        sum->re[i] -= a->im[i] * b->im[i];
        sum->im[i] += a->re[i] * b->im[i];
        sum->im[i] += a->im[i] * b->re[i];
    }
}

IC_QUAD_INLINE void add_tables(const struct ic_qos_delays *delays, const double *tables,
                               const struct ic_qos_mix *mix, enum ic_qos_passing passing,
                               struct numbers *sum)
{
    const double *parts = mix->part[passing];
    const ic_quad_at *wave =
        (const ic_quad_at *)(tables + 2 * IC_QOS_WAVE_BLOCK * passing * delays->subsets);
    ic_quad a = sum->re[0], b = sum->re[1], c = sum->im[0], d = sum->im[1];
    for (unsigned set = 0; set < delays->subsets; set++, wave += 4) {
        a += parts[set] * wave[0];
        b += parts[set] * wave[1];
        c += parts[set] * wave[2];
        d += parts[set] * wave[3];
    }
    *sum = (struct numbers){{a, b}, {c, d}};
}

/* The generating function of ways, at one block. sums[h] is that of h among the channels seen so
 * far. */
IC_QUAD_INLINE struct numbers of_ways(const struct ic_qos_delays *delays, const double *tables,
                                      const struct ic_qos_mix *mixes, uint64_t n, uint64_t hops)
{
    struct numbers sums[IC_QOS_CHANNELS], last = repeat(0, 0), value = repeat(0, 0);
    for (uint64_t h = 0; h <= hops; h++)
        sums[h] = repeat(h == 0, 0);
    for (uint64_t s = 0; s < n; s++) {
        struct numbers channel = repeat(mixes[s].at_once, 0);
        add_tables(delays, tables, &mixes[s], IC_QOS_PASS_BEFORE, &channel);
        for (uint64_t h = hops < s + 1 ? hops : s + 1; h > 0 && h + n > hops + s; h--)
            multiply_add(&sums[h], &sums[h - 1], &channel);
    }
    add_tables(delays, tables, &mixes[n], IC_QOS_PASS_OWN, &last);
    add_tables(delays, tables, &mixes[n], IC_QOS_PASS_ALL, &last);
    multiply_add(&value, &sums[hops], &last);
    return value;
}

/* 1 / z^(last + 1) at point k. */
static void power_at(const struct ic_qos_delays *delays, uint64_t k, uint64_t last, double *re,
                     double *im)
{
    const double *turn = &delays->turns[2 * (k * (last + 1) & (delays->points - 1))];
    double far = pow(delays->radius, -(double)(last + 1));
    *re = far * turn[0];
    *im = -far * turn[1];
}

IC_QUAD_INLINE void all_ways(struct ic_qos_delays *delays, const struct ic_qos_mix *mixes,
                             uint64_t n, uint64_t hops)
{
    const double *tables = delays->waves;
    for (uint64_t block = 0; block < delays->blocks; block++) {
        struct numbers ways = of_ways(delays, tables, mixes, n, hops);
        store_block(delays->ways.values + 2 * IC_QOS_WAVE_BLOCK * block, &ways);
        tables += 2 * IC_QOS_WAVE_BLOCK * IC_QOS_PASSINGS * delays->subsets;
    }
}

IC_QUAD_WIDE static void ways_wide(struct ic_qos_delays *delays, const struct ic_qos_mix *mixes,
                                   uint64_t n, uint64_t hops)
{
    all_ways(delays, mixes, n, hops);
}

/* The points of a curve over deadlines have the same ways. */
static void find_ways(struct ic_qos_delays *delays, const struct ic_qos_mix *mixes, uint64_t n,
                      uint64_t hops)
{
    struct ic_qos_ways *ways = &delays->ways;
    size_t bytes = (n + 1) * sizeof(*mixes);
    if (ways->channels == n && ways->hops == hops && memcmp(ways->mixes, mixes, bytes) == 0)
        return;
    if (ic_quad_is_wide())
        ways_wide(delays, mixes, n, hops);
    else
        all_ways(delays, mixes, n, hops);
    ways->channels = n;
    ways->hops = hops;
    memcpy(ways->mixes, mixes, bytes);
}

/* The sum of coefficients 0..last is that of ways (1 + 1 / z + ... + 1 / z^last) over all points,
 * where the second is (1 - 1 / z^(last + 1)) times `series`; at z = 1 it is last + 1. */
IC_QUAD_INLINE double sum_of_points(const struct ic_qos_delays *delays, uint64_t last)
{
    const double *values = delays->ways.values, *series = delays->series;
    double powers[2 * IC_QOS_WAVE_BLOCK], sum = 0;
    ic_quad sums = {0};
    for (unsigned i = 0; i < IC_QOS_WAVE_BLOCK; i++)
        power_at(delays, i, last, &powers[i], &powers[IC_QOS_WAVE_BLOCK + i]);
    struct numbers first = load_block(powers);
    for (uint64_t block = 0; block < delays->blocks; block++) {
        const double *turn =
            &delays->turns[2 * (block * IC_QOS_WAVE_BLOCK * (last + 1) & (delays->points - 1))];
        struct numbers turned = repeat(-turn[0], turn[1]), above = repeat(1, 0);
        multiply_add(&above, &first, &turned);
        struct numbers all = repeat(0, 0), ways = load_block(values), factor = load_block(series);
        multiply_add(&all, &above, &factor);
        for (unsigned i = 0; i < 2; i++)
            sums += ways.re[i] * all.re[i] - ways.im[i] * all.im[i];
        if (block == 0 && delays->radius == 1)
            sum = ways.re[0][0] * ((double)last + 1);
        values += 2 * IC_QOS_WAVE_BLOCK;
        series += 2 * IC_QOS_WAVE_BLOCK;
    }
    return (sum + sums[0] + sums[1] + sums[2] + sums[3]) / (double)delays->points;
}

IC_QUAD_WIDE static double sum_wide(const struct ic_qos_delays *delays, uint64_t last)
{
    return sum_of_points(delays, last);
}

double ic_qos_waves_in_time(struct ic_qos_delays *delays, const struct ic_qos_mix *mixes,
                            uint64_t n, uint64_t hops, uint64_t last)
{
    find_ways(delays, mixes, n, hops);
    return ic_quad_is_wide() ? sum_wide(delays, last) : sum_of_points(delays, last);
}
