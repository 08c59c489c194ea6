/* SPDX-License-Identifier: BSD-2-Clause */
/* How many {X_k} of the states that stretch flits (delays.h) have a time, whatever the stretches:
 * by their largest, and by their sum. Times are rounded up to cycles.
 *
 * States are a stretched by 1 + a, b by 1 + b, and both by 1 + a + b. With U = X_a + X_both and
 * V = X_b + X_both a time is U + V - X_both + (a U + b V): of one pair U, V all X_both make times a
 * whole cycle apart, a straight line in either table, and the ends of lines are enough to count
 * them. So three states cost as much as two.
 */
#ifndef INTERCONNECT_QOS_COUNTS_H
#define INTERCONNECT_QOS_COUNTS_H

#include <stdbool.h>

#include "interconnect/qos/delays.h"

/* Stretches are ratios of rates: 2.9999999 is a 3. */
#define IC_QOS_ROUNDING 1e-9

#define IC_QOS_STRETCHED (IC_QOS_STATES - 1u)

struct ic_qos_counts {
    uint64_t width, most; /* times are below width, X_k 1..most */
    double stretch[IC_QOS_STRETCHED];
    bool has_sums; /* the second table is wanted */
    /* Of the set of states that was made last: */
    unsigned set;
    double least_stretch, all_stretches; /* 0 of none */
    uint64_t rows;                       /* below it are those that have any */
    int32_t *largest, *sum;              /* row i: place t - i is that of time t */
    int32_t *falling;                    /* while they are made */
};

/* Stretches of the states, the third that of both others; 0: there is no such state. NOMEM. */
GMC_NODISCARD gmc_status ic_qos_counts_init(struct ic_qos_counts *counts, uint64_t width,
                                            uint64_t most, bool has_sums, const double *stretch);
void ic_qos_counts_fini(struct ic_qos_counts *counts);
/* Bit i of a set is the state of stretch[i]. */
void ic_qos_counts_make(struct ic_qos_counts *counts, unsigned set);

/* Places first..end - 1 of row i may have some, of either table. */
void ic_qos_counts_extent(const struct ic_qos_counts *counts, uint64_t i, uint64_t *first,
                          uint64_t *end);
static inline int32_t *ic_qos_counts_row(const struct ic_qos_counts *counts, int32_t *table,
                                         uint64_t i)
{
    /* A place more than there are times: lines end behind them. */
    return table + i * (counts->width + 1) - i * (i - 1) / 2;
}

#endif
