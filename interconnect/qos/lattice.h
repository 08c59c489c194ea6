/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of delays.h where all stretches are whole numbers of the same part of a cycle, as those
 * of plain ratios of loads are: then times are whole numbers too, and generating functions count
 * all {X_k} of a set of states at once. Of others see counts.h.
 *
 *   independent  of X_k in 1..n each, sum over n of w(n) product over k of
 *                z^a (1 - z^(n a)) / (1 - z^a), a being k's stretch in parts: few terms for each n
 *                above, and sums at a distance below
 *   what is left for X_0: rows of the X_k whose sum is s, each from the row before
 */
#ifndef INTERCONNECT_QOS_LATTICE_H
#define INTERCONNECT_QOS_LATTICE_H

#include "interconnect/qos/delays.h"

/* Of n, and where its sums go. */
struct ic_qos_range {
    uint64_t least, most;
    double *weights; /* sum of w from n on, 0..most + 1 */
    double *mass;    /* by time, rounded up to cycles */
};

struct ic_qos_lattice {
    uint64_t parts;                    /* of a cycle */
    unsigned count;                    /* states of the set: what is left is none */
    uint64_t strides[IC_QOS_STATES];   /* their stretches, in parts */
    uint64_t width;                    /* times 0..width - 1 are asked for */
    const struct ic_qos_range *ranges; /* one of each passing */
};

/* The parts in which all stretches are whole numbers; 0: there are none, or too many. */
uint64_t ic_qos_lattice_parts(const double *stretch, unsigned states);
/* Add to the masses of all ranges. NOMEM. */
GMC_NODISCARD gmc_status ic_qos_lattice_alone(const struct ic_qos_lattice *lattice);
GMC_NODISCARD gmc_status ic_qos_lattice_rest(const struct ic_qos_lattice *lattice);

#endif
