/* SPDX-License-Identifier: BSD-2-Clause */
/* What a simulator makes of its observations: when it has warmed up, means, and how far they can be
 * trusted.
 *
 * Where observations are next to independent, the interval comes from batch means: equal rows of
 * consecutive observations, 20 to 39 of them. Memory is constant: when 40 batches are full,
 * neighbours are merged. Where they are not, as in all that has queues, batches are runs of their
 * own (runs.h), each of which knows its mean.
 *
 * A simulator feeds its warm-up first, until it says done or failed, then clears its counters:
 *
 *   ic_warmup_init(&warmup, at_least, at_most);
 *   while (ic_warmup_state(&warmup) == IC_WARMUP_GOING)
 *       ic_warmup_add(&warmup, next());
 *   while (...)
 *       ic_mean_add(&latency, next());
 *
 * Source: Law, Simulation Modeling and Analysis, batch means; White 1997, An effective truncation
 * heuristic for bias reduction in simulation output (MSER).
 */
#ifndef INTERCONNECT_STATS_H
#define INTERCONNECT_STATS_H

#include <math.h>
#include <stdint.h>

/* Quantile 0.975 of Student's t: half of a two-sided 95 % interval in standard errors. Within
 * 1e-4; degrees of freedom from 1. */
double ic_student_975(uint64_t degrees);

/* A mean with its 95 % interval: mean - half_width to mean + half_width. */
struct ic_interval {
    double mean;       /* 0 without observations */
    double half_width; /* INFINITY with fewer observations than IC_BATCHES / 2 */
    uint64_t count;    /* observations */
};

/* A mean alone, of one run of several. */
struct ic_mean {
    double sum;
    uint64_t count;
};

static inline void ic_mean_add(struct ic_mean *mean, double value)
{
    mean->sum += value;
    mean->count++;
}

/* NAN without observations. */
static inline double ic_mean_value(const struct ic_mean *mean)
{
    return mean->count > 0 ? mean->sum / (double)mean->count : (double)NAN;
}

#define IC_BATCHES 40u

struct ic_batches {
    double sums[IC_BATCHES];
    uint32_t full; /* batches that have all their observations */
    uint64_t size; /* observations in each of them */
    double sum;    /* of the batch that is being filled */
    uint64_t filled;
};

void ic_batches_init(struct ic_batches *batches);
void ic_batches_add(struct ic_batches *batches, double value);
/* At any time. The mean is that of all observations, the half width that of the full batches. */
struct ic_interval ic_batches_interval(const struct ic_batches *batches);

/* Warm-up: over when nothing but the first quarter of what was seen is worth cutting off to make
 * the mean of the rest more certain (MSER over at most 128 means). It is looked at each time that
 * observations have doubled, from `at_least` on.
 */
enum ic_warmup_state {
    IC_WARMUP_GOING,
    IC_WARMUP_DONE,
    IC_WARMUP_FAILED /* no end after `at_most`: as a rule a load beyond saturation */
};

#define IC_WARMUP_MEANS 128u

struct ic_warmup {
    double sums[IC_WARMUP_MEANS];
    uint32_t full;
    uint64_t size, filled;
    double sum;
    uint64_t count;   /* observations so far */
    uint64_t look_at; /* count of the next look */
    uint64_t at_most;
    enum ic_warmup_state state;
};

/* Observations: at_least from 64 on (less counts as 64), several times what is in the system at a
 * time; at_most no less. */
void ic_warmup_init(struct ic_warmup *warmup, uint64_t at_least, uint64_t at_most);
/* Changes nothing once it is over. */
void ic_warmup_add(struct ic_warmup *warmup, double value);
enum ic_warmup_state ic_warmup_state(const struct ic_warmup *warmup);

/* Where MSER cuts a series of means: the first index to keep, 0..count-1. */
uint32_t ic_mser(const double *means, uint32_t count);

#endif
