/* SPDX-License-Identifier: BSD-2-Clause */
/* Batch means and the end of a warm-up. */
#include "interconnect/stats.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

double ic_student_975(uint64_t degrees)
{
    static const double small[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646,
                                   2.3060,  2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448};
    GMC_ASSERT(degrees >= 1);
    if (degrees <= sizeof(small) / sizeof(small[0]))
        return small[degrees - 1];
    /* Cornish-Fisher: Abramowitz, Stegun 26.7.5 */
    double z = 1.959963985, v = (double)degrees;
    double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

/* Neighbours become one: half as many sums, each of twice the observations. */
static void merge(double *sums, uint32_t *full, uint64_t *size)
{
    *full /= 2;
    *size *= 2;
    for (uint32_t i = 0; i < *full; i++)
        sums[i] = sums[2 * i] + sums[2 * i + 1];
}

void ic_batches_init(struct ic_batches *batches)
{
    memset(batches, 0, sizeof(*batches));
    batches->size = 1;
}

void ic_batches_add(struct ic_batches *batches, double value)
{
    batches->sum += value;
    if (++batches->filled < batches->size)
        return;
    batches->sums[batches->full++] = batches->sum;
    batches->sum = 0;
    batches->filled = 0;
    if (batches->full == IC_BATCHES)
        merge(batches->sums, &batches->full, &batches->size);
}

struct ic_interval ic_batches_interval(const struct ic_batches *batches)
{
    struct ic_interval interval = {.half_width = INFINITY};
    uint32_t n = batches->full;
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += batches->sums[i];
    interval.count = n * batches->size + batches->filled;
    if (interval.count > 0)
        interval.mean = (sum + batches->sum) / (double)interval.count;
    if (n < IC_BATCHES / 2)
        return interval;
    for (uint32_t i = 0; i < n; i++) {
        double apart = (batches->sums[i] - sum / n) / (double)batches->size;
        squares += apart * apart;
    }
    interval.half_width = ic_student_975(n - 1) * sqrt(squares / (n - 1) / n);
    return interval;
}

/* From the end on: the variance of the kept means over their number is kept by adding one mean at
 * a time (Welford). A single mean has none, so at least five are kept. */
uint32_t ic_mser(const double *means, uint32_t count)
{
    double mean = 0, squares = 0, best = INFINITY;
    uint32_t cut = 0;
    for (uint32_t kept = 1; kept <= count; kept++) {
        double apart = means[count - kept] - mean;
        mean += apart / kept;
        squares += apart * (means[count - kept] - mean);
        double marginal = squares / ((double)kept * kept);
        if ((kept >= 5 || kept == count) && marginal <= best) {
            best = marginal;
            cut = count - kept;
        }
    }
    return cut;
}

void ic_warmup_init(struct ic_warmup *warmup, uint64_t at_least, uint64_t at_most)
{
    memset(warmup, 0, sizeof(*warmup));
    warmup->size = 1;
    warmup->look_at = at_least < 64 ? 64 : at_least;
    warmup->at_most = at_most;
}

static void look(struct ic_warmup *warmup)
{
    if (ic_mser(warmup->sums, warmup->full) <= warmup->full / 4)
        warmup->state = IC_WARMUP_DONE;
    else if (warmup->count >= warmup->at_most)
        warmup->state = IC_WARMUP_FAILED;
    else
        warmup->look_at *= 2;
    if (warmup->look_at > warmup->at_most)
        warmup->look_at = warmup->at_most;
}

void ic_warmup_add(struct ic_warmup *warmup, double value)
{
    if (warmup->state != IC_WARMUP_GOING)
        return;
    warmup->count++;
    warmup->sum += value;
    if (++warmup->filled == warmup->size) {
        warmup->sums[warmup->full++] = warmup->sum;
        warmup->sum = 0;
        warmup->filled = 0;
        if (warmup->full == IC_WARMUP_MEANS)
            merge(warmup->sums, &warmup->full, &warmup->size);
    }
    if (warmup->count >= warmup->look_at)
        look(warmup);
}

enum ic_warmup_state ic_warmup_state(const struct ic_warmup *warmup)
{
    return warmup->state;
}
