/* SPDX-License-Identifier: BSD-2-Clause */
/* How long flits of one class take while others share their channel: the part of deadlines
 * (deadline.h) that does not depend on loads, so that curves compute it once.
 *
 * What a load changes are probabilities: that a message is blocked, and of each state of sharing
 * that it takes flits at all. Given the set A of states that do, (18) and (19) leave sums over n0,
 * the flits that pass, of uniform numbers X_k, k in A, each with probability 1 / n0:
 *
 *   mass[A][t] = sum over n0 of the number of {X_k} that take t cycles / n0^|A|
 *
 * with n0 of one of the ranges below, so a channel's distribution is a sum of a few such tables.
 * Distributions of several channels are convolved; `waves` has each table's generating function on
 * N points of a circle, sum over t of mass[t] z^t, where that is a product.
 */
#ifndef INTERCONNECT_QOS_DELAYS_H
#define INTERCONNECT_QOS_DELAYS_H

#include <stddef.h>

#include "interconnect/qos/model.h"

#define IC_QOS_REAL_TIME_MAX 3u /* more would be sums over too many X_k */
#define IC_QOS_STATES (1u << (IC_QOS_REAL_TIME_MAX - 1u))
#define IC_QOS_SUBSETS (1u << IC_QOS_STATES)

#define IC_QOS_WAVE_BLOCK 8u /* points that are computed side by side */

enum ic_qos_miss {
    IC_QOS_MISS_LITERAL,     /* the X_k are independent, as printed in (17) */
    IC_QOS_MISS_CONSTRAINED, /* X_0 is what remains of n0 */
};

/* Ranges of n0, with M flits of a message and at most B of its class before it. */
enum ic_qos_passing {
    IC_QOS_PASS_BEFORE, /* 1..B: at a channel of the way, what is waited for */
    IC_QOS_PASS_OWN,    /* M: where messages leave, and nothing is waited for */
    IC_QOS_PASS_ALL,    /* M + 1..M + B */
    IC_QOS_PASSINGS
};

/* A channel's distribution: the weight of each table in it. */
struct ic_qos_mix {
    double at_once; /* probability of no delay at all */
    double part[IC_QOS_PASSINGS][IC_QOS_SUBSETS];
};

/* The generating function of ways, in blocks as below, and what it was made of. */
struct ic_qos_ways {
    double *values;
    uint64_t channels, hops; /* 0: nothing yet */
    struct ic_qos_mix mixes[IC_QOS_CHANNELS];
};

struct ic_qos_delays {
    uint64_t traffic_class;
    enum ic_qos_miss kind;
    unsigned states;             /* that its flits can meet; of state 0, alone, first */
    unsigned first_state;        /* of those that a set A is of: 1 when X_0 is what remains */
    unsigned subsets;            /* bit i of a set is state first_state + i */
    uint64_t width, most;        /* times 0..width - 1, a power of two; B */
    double *by[IC_QOS_PASSINGS]; /* [subset * width + t]: by the time t, sums of mass */
    uint64_t points;             /* N */
    double radius;               /* of the circle; 1: no time is N or more */
    double *turns;               /* cos, sin of 2 pi k / N */
    /* At the points k = 0..N / 2, in blocks: real parts, then imaginary ones. Zeros follow up to
     * whole blocks. */
    uint64_t blocks;
    double *series; /* 1 + 1 / z + 1 / z^2 + ..: with that of the conjugate; 0 where z = 1 */
    double *waves;  /* of a cube; each block has it of all tables, of one range after the other */
    struct ic_qos_ways ways; /* of a cube; see waves.h */
};

/* The width that times up to these cycles need. */
uint64_t ic_qos_delays_width(uint64_t cycles);
/* The longest that flits of a class can take over so many hops and where they leave. Of a qos as
 * below. */
uint64_t ic_qos_delays_reach(const struct ic_qos *qos, uint64_t traffic_class, uint64_t hops);

/* For ways of so many hops, in a cube. Of a qos that was checked, with up to REAL_TIME_MAX
 * real-time classes; its loads count as those of real-time classes relative to each other, its
 * dimension as 0 or not. NOMEM. Nothing is borrowed. Ends with free. */
GMC_NODISCARD gmc_status ic_qos_delays_new(const struct ic_qos *qos, uint64_t traffic_class,
                                           enum ic_qos_miss kind, uint64_t hops, uint64_t width,
                                           struct ic_qos_delays **delays);
void ic_qos_delays_free(struct ic_qos_delays *delays);
size_t ic_qos_delays_bytes(const struct ic_qos_delays *delays);

#endif
