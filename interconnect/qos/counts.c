/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of one state, of two, of three. */
#include "interconnect/qos/counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t whole(double time)
{
    return (uint64_t)ceil(fmax(0, time - IC_QOS_ROUNDING));
}

/* What a sum or a largest of times below width cannot reach, with a place for the ends of lines. */
static uint64_t rows_of(const struct ic_qos_counts *counts, double stretch)
{
    double last = (double)(counts->width - 1) + IC_QOS_ROUNDING;
    return stretch > 0 ? (uint64_t)(last / stretch) + 1 : 1;
}

gmc_status ic_qos_counts_init(struct ic_qos_counts *counts, uint64_t width, uint64_t most,
                              bool has_sums, const double *stretch)
{
    *counts = (struct ic_qos_counts){.width = width, .most = most, .has_sums = has_sums};
    double least = INFINITY;
    for (unsigned i = 0; i < IC_QOS_STRETCHED; i++) {
        counts->stretch[i] = stretch[i];
        least = stretch[i] > 0 ? fmin(least, stretch[i]) : least;
    }
    uint64_t rows = smaller(rows_of(counts, isfinite(least) ? least : 0), most + 1) + 1;
    size_t places = rows * (width + 1) - rows * (rows - 1) / 2;
    counts->largest = malloc(places * sizeof(*counts->largest));
    counts->falling = malloc(places * sizeof(*counts->falling));
    counts->sum = has_sums ? malloc(places * sizeof(*counts->sum)) : NULL;
    if (counts->largest != NULL && counts->falling != NULL && (counts->sum != NULL || !has_sums))
        return GMC_OK;
    ic_qos_counts_fini(counts);
    return GMC_ERR_NOMEM;
}

void ic_qos_counts_fini(struct ic_qos_counts *counts)
{
    free(counts->largest);
    free(counts->sum);
    free(counts->falling);
    *counts = (struct ic_qos_counts){0};
}

/* The largest is one X at least, the sum is all of them at most. */
void ic_qos_counts_extent(const struct ic_qos_counts *counts, uint64_t i, uint64_t *first,
                          uint64_t *end)
{
    double least = counts->least_stretch, all = counts->all_stretches;
    *first = least > 1 ? whole((double)i * least) - i : 0;
    *end = smaller(all > 1 ? whole((double)i * all) - i + 1 : 1, counts->width - i);
    *first = smaller(*first, *end);
}

static void clear(const struct ic_qos_counts *counts, int32_t *table)
{
    for (uint64_t i = 0; i <= counts->rows; i++) {
        uint64_t length = counts->width + 1 - i;
        memset(ic_qos_counts_row(counts, table, i), 0, length * sizeof(*table));
    }
}

static void add(const struct ic_qos_counts *counts, int32_t *table, uint64_t i, uint64_t time)
{
    ic_qos_counts_row(counts, table, i)[time - i]++;
}

static void count_one(const struct ic_qos_counts *counts, double stretch)
{
    for (uint64_t x = 1; x < counts->rows; x++) {
        uint64_t time = whole((double)x * stretch);
        if (time >= counts->width)
            break;
        add(counts, counts->largest, x, time);
        if (counts->has_sums)
            add(counts, counts->sum, x, time);
    }
}

/* The larger of two is x; a is its stretch. */
static void count_larger(const struct ic_qos_counts *counts, uint64_t x, uint64_t others, double a,
                         double b)
{
    for (uint64_t y = 1; y <= others; y++) {
        uint64_t time = whole((double)x * a + (double)y * b);
        if (time >= counts->width)
            break;
        add(counts, counts->largest, x, time);
    }
}

/* Row after row: they are far from each other. */
static void count_two(const struct ic_qos_counts *counts, double a, double b)
{
    for (uint64_t x = 1; x < counts->rows; x++) {
        count_larger(counts, x, x, a, b);
        count_larger(counts, x, x - 1, b, a);
    }
    for (uint64_t sum = 2; sum < counts->rows && counts->has_sums; sum++)
        for (uint64_t x = 1; x < sum; x++) {
            uint64_t time = whole((double)x * a + (double)(sum - x) * b);
            if (time < counts->width)
                add(counts, counts->sum, sum, time);
        }
}

/* A line in a table: rows from..to, at the same place of each, or two places less each time. */
static void mark(const struct ic_qos_counts *counts, int32_t *table, uint64_t from, uint64_t to,
                 uint64_t place, uint64_t fall)
{
    ic_qos_counts_row(counts, table, from)[place]++;
    ic_qos_counts_row(counts, table, to + 1)[place - fall * (to + 1 - from)]--;
}

/* Of one pair U, V, the larger one first, the X_both that take `end` - X_both. The largest is
 * max(U, V) - X_both or X_both itself, the sum U + V - X_both. */
static void mark_lines(const struct ic_qos_counts *counts, uint64_t most, uint64_t least,
                       uint64_t end)
{
    uint64_t last = counts->rows - 1;
    uint64_t from = end >= counts->width ? end - counts->width + 1 : 1;
    uint64_t first = larger(from, most > last ? most - last : 1), to = smaller(least - 1, most / 2);
    if (first <= to)
        mark(counts, counts->largest, most - to, most - first, end - most, 0);
    first = larger(from, most / 2 + 1);
    to = smaller(least - 1, last);
    if (first <= to)
        mark(counts, counts->falling, first, to, end - 2 * first, 2);
    first = larger(from, most + least > last ? most + least - last : 1);
    if (counts->has_sums && first < least)
        mark(counts, counts->sum, most + 1, most + least - first, end - most - least, 0);
}

/* From the ends of lines to their places. */
static void draw_lines(const struct ic_qos_counts *counts, int32_t *table, uint64_t fall)
{
    for (uint64_t i = 1; i < counts->rows; i++) {
        const int32_t *before = ic_qos_counts_row(counts, table, i - 1);
        int32_t *row = ic_qos_counts_row(counts, table, i);
        for (uint64_t place = 0; place < counts->width - i; place++)
            row[place] += before[place + fall];
    }
}

/* The larger of U, V is X, whose part of a stretch is x; the other one up to a number. */
static void mark_larger(const struct ic_qos_counts *counts, uint64_t most, uint64_t others,
                        double x, double y)
{
    for (uint64_t least = 2; least <= others; least++) {
        uint64_t later = whole((double)most * x + (double)least * y);
        if (most + 1 + later >= counts->width)
            break;
        mark_lines(counts, most, least, most + least + later);
    }
}

static void count_three(const struct ic_qos_counts *counts, double a, double b)
{
    clear(counts, counts->falling);
    for (uint64_t most = 2; most <= 2 * counts->most && most < counts->width; most++) {
        mark_larger(counts, most, most, a - 1, b - 1);
        mark_larger(counts, most, most - 1, b - 1, a - 1);
    }
    draw_lines(counts, counts->largest, 0);
    draw_lines(counts, counts->falling, 2);
    if (counts->has_sums)
        draw_lines(counts, counts->sum, 0);
    for (uint64_t i = 1; i < counts->rows; i++) {
        const int32_t *falling = ic_qos_counts_row(counts, counts->falling, i);
        int32_t *row = ic_qos_counts_row(counts, counts->largest, i);
        for (uint64_t place = 0; place < counts->width - i; place++)
            row[place] += falling[place];
    }
}

void ic_qos_counts_make(struct ic_qos_counts *counts, unsigned set)
{
    double of[IC_QOS_STRETCHED] = {0};
    unsigned size = 0;
    counts->set = set;
    counts->all_stretches = 0;
    counts->least_stretch = INFINITY;
    for (unsigned i = 0; i < IC_QOS_STRETCHED; i++)
        if (set >> i & 1) {
            counts->all_stretches += counts->stretch[i];
            counts->least_stretch = fmin(counts->least_stretch, counts->stretch[i]);
            of[size++] = counts->stretch[i];
        }
    if (size == 0)
        counts->least_stretch = 0;
    counts->rows = smaller(rows_of(counts, counts->least_stretch), counts->most + 1);
    clear(counts, counts->largest);
    if (counts->has_sums)
        clear(counts, counts->sum);
    if (size == 0) {
        counts->largest[0] = 1;
        if (counts->has_sums)
            counts->sum[0] = 1;
    } else if (size == 1)
        count_one(counts, of[0]);
    else if (size == 2)
        count_two(counts, of[0], of[1]);
    else
        count_three(counts, of[0], of[1]);
}
