/* SPDX-License-Identifier: BSD-2-Clause */
/* Sparse products, rows. */
#include "interconnect/qos/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/qos/scaled.h"

#define PARTS_MAX 64u
/* Stretches are quotients of sums of a few rates. */
#define EXACT 1e-13

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t ic_qos_lattice_parts(const double *stretch, unsigned states)
{
    for (uint64_t parts = 1; parts <= PARTS_MAX; parts++) {
        unsigned whole = 0;
        for (unsigned i = 0; i < states; i++) {
            double stride = stretch[i] * (double)parts;
            whole += fabs(stride - round(stride)) <= EXACT * stride;
        }
        if (whole == states)
            return parts;
    }
    return 0;
}

/* Places 0..last of times that are asked for. */
static uint64_t last_place(const struct ic_qos_lattice *lattice)
{
    return (lattice->width - 1) * lattice->parts;
}

static uint64_t sum_of_strides(const struct ic_qos_lattice *lattice, unsigned subset)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < lattice->count; i++)
        sum += subset >> i & 1 ? lattice->strides[i] : 0;
    return sum;
}

static uint64_t slot_of(const struct ic_qos_lattice *lattice, uint64_t place)
{
    return (place + lattice->parts - 1) / lattice->parts;
}

/* n from..to - 1, whose terms end at to times all strides. Those of small n are large and end
 * early; with those of large n in one series their rounding would go on to its end. */
static void add_part(const struct ic_qos_lattice *lattice, const struct ic_qos_range *range,
                     uint64_t from, uint64_t to, double *series)
{
    unsigned all = (1u << lattice->count) - 1;
    uint64_t step = sum_of_strides(lattice, all);
    uint64_t length = smaller(to * step, last_place(lattice)) + 1;
    memset(series, 0, length * sizeof(*series));
    for (unsigned subset = 0; subset <= all; subset++) {
        double sign = (unsigned)__builtin_popcount(subset) % 2 == 0 ? 1 : -1;
        uint64_t each = sum_of_strides(lattice, subset);
        for (uint64_t n = from; n < to && step + n * each < length; n++)
            series[step + n * each] += sign * (range->weights[n] - range->weights[n + 1]);
    }
    for (unsigned i = 0; i < lattice->count; i++)
        for (uint64_t place = lattice->strides[i]; place < length; place++)
            series[place] += series[place - lattice->strides[i]];
    for (uint64_t place = 0, slot = 0; place < length; slot++)
        for (uint64_t end = smaller(slot * lattice->parts + 1, length); place < end; place++)
            range->mass[slot] += series[place] > 0 ? series[place] : 0;
}

gmc_status ic_qos_lattice_alone(const struct ic_qos_lattice *lattice)
{
    double *series = malloc((last_place(lattice) + 1) * sizeof(*series));
    if (series == NULL)
        return GMC_ERR_NOMEM;
    for (unsigned i = 0; i < IC_QOS_PASSINGS; i++) {
        const struct ic_qos_range *range = &lattice->ranges[i];
        for (uint64_t from = range->least; from <= range->most; from *= 2)
            add_part(lattice, range, from, smaller(2 * from, range->most + 1), series);
    }
    free(series);
    return GMC_OK;
}

/* ---- what is left ---- */
/* How many X of the first 1, 2, .. states have a sum, by the place of their time; of a sum and of
 * the one before. */
struct rows {
    double *of[IC_QOS_STATES][2];
    uint64_t first, end; /* places of the sum's last row that are not 0 are among first..end - 1 */
    double *slots;       /* that row by whole times */
    double *longer;      /* of all rows so far, by how much longer than n it takes */
};

static void rows_fini(struct rows *rows)
{
    for (unsigned i = 0; i < IC_QOS_STATES; i++) {
        free(rows->of[i][0]);
        free(rows->of[i][1]);
    }
    free(rows->slots);
    free(rows->longer);
}

static gmc_status rows_init(struct rows *rows, const struct ic_qos_lattice *lattice)
{
    bool is_there = true;
    *rows = (struct rows){.slots = calloc(lattice->width, sizeof(double)),
                          .longer = calloc(lattice->width, sizeof(double))};
    for (unsigned i = 0; i < lattice->count; i++)
        for (unsigned j = 0; j < 2; j++) {
            rows->of[i][j] = calloc(last_place(lattice) + 1, sizeof(double));
            is_there &= rows->of[i][j] != NULL;
        }
    if (is_there && rows->slots != NULL && rows->longer != NULL)
        return GMC_OK;
    rows_fini(rows);
    return GMC_ERR_NOMEM;
}

/* From the row of sum - 1: one more in the last state, which was in it already or was not. The row
 * has that of sum - 2 in it. */
static void next_rows(struct rows *rows, const struct ic_qos_lattice *lattice, uint64_t sum)
{
    uint64_t length = last_place(lattice) + 1, least = UINT64_MAX, most = 0;
    for (unsigned i = 0; i < lattice->count; i++) {
        const double *old = rows->of[i][(sum + 1) % 2];
        double *row = rows->of[i][sum % 2];
        uint64_t stride = lattice->strides[i];
        least = smaller(least, stride);
        most = larger(most, stride);
        rows->first = smaller(sum * least, length);
        rows->end = smaller(sum * most + 1, length);
        uint64_t stale = sum > 2 ? smaller((sum - 2) * least, length) : 0;
        memset(row + stale, 0, (rows->first - stale) * sizeof(*row));
        if (i == 0) {
            if (rows->first < length)
                row[rows->first] = 1;
            continue;
        }
        const double *fewer = rows->of[i - 1][(sum + 1) % 2];
        uint64_t place = rows->first;
        for (; place < stride && place < rows->end; place++)
            row[place] = 0;
        for (; place < rows->end; place++)
            row[place] = old[place - stride] + fewer[place - stride];
    }
}

/* The last row, whose sum is n - 1, by whole times. Where the X_k are not more than that X_0 is n
 * less their sum: it takes so much longer than n. The slots that it has: from *first on. */
static uint64_t fold(struct rows *rows, const struct ic_qos_lattice *lattice, uint64_t sum,
                     uint64_t *first)
{
    const double *row = rows->of[lattice->count - 1][sum % 2];
    uint64_t place = rows->first, slot = slot_of(lattice, place);
    *first = slot;
    for (; place < rows->end; slot++) {
        double all = 0;
        for (uint64_t to = smaller(slot * lattice->parts + 1, rows->end); place < to; place++)
            all += row[place];
        rows->slots[slot] = all;
        rows->longer[slot - sum] += all;
    }
    return slot;
}

/* Below n in sum: not as if they were alone, but with what is left. */
static void add_rows(struct rows *rows, const struct ic_qos_lattice *lattice)
{
    uint64_t n_most = 0, length = 0;
    for (unsigned i = 0; i < IC_QOS_PASSINGS; i++)
        n_most = larger(n_most, lattice->ranges[i].most);
    for (uint64_t n = 2; n <= n_most && n < lattice->width; n++) {
        uint64_t first, sum = n - 1;
        next_rows(rows, lattice, sum);
        uint64_t end = fold(rows, lattice, sum, &first);
        if (end > first)
            length = larger(length, end - sum);
        for (unsigned i = 0; i < IC_QOS_PASSINGS; i++) {
            const struct ic_qos_range *range = &lattice->ranges[i];
            if (n > range->most)
                continue;
            double from = range->weights[larger(n, range->least)];
            double weight = range->weights[n] - range->weights[n + 1];
            if (end > first)
                ic_qos_add_scaled(range->mass + first, -from, rows->slots + first, end - first);
            uint64_t most = n < range->least ? 0 : smaller(length, lattice->width - n);
            ic_qos_add_scaled(range->mass + n, weight, rows->longer, most);
        }
    }
}

gmc_status ic_qos_lattice_rest(const struct ic_qos_lattice *lattice)
{
    struct rows rows;
    for (unsigned i = 0; i < IC_QOS_PASSINGS && lattice->count == 0; i++) {
        const struct ic_qos_range *range = &lattice->ranges[i];
        for (uint64_t n = range->least; n <= range->most && n < lattice->width; n++)
            range->mass[n] += range->weights[n] - range->weights[n + 1];
    }
    if (lattice->count == 0)
        return GMC_OK;
    gmc_status status = ic_qos_lattice_alone(lattice);
    if (status == GMC_OK)
        status = rows_init(&rows, lattice);
    if (status != GMC_OK)
        return status;
    add_rows(&rows, lattice);
    rows_fini(&rows);
    return GMC_OK;
}
