/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of all nodes together, in the order of time. A Poisson process of each node is one of
 * all with a node drawn for each message; Bernoulli trials of each node and cycle are jumps over
 * those that fail. So no node needs a clock of its own. */
#ifndef INTERCONNECT_WORMHOLE_ARRIVALS_H
#define INTERCONNECT_WORMHOLE_ARRIVALS_H

#include <stdbool.h>

#include "base/prng.h"

struct ic_wh_arrivals {
    struct gmc_prng prng;
    uint32_t nodes;
    double rate;       /* of a node, per cycle */
    bool is_bernoulli; /* otherwise Poisson */
    double time;       /* of the last one; Bernoulli: trials so far */
};

/* rate above 0; of Bernoulli at most 1 (asserted). */
void ic_wh_arrivals_init(struct ic_wh_arrivals *arrivals, uint32_t nodes, double rate,
                         bool is_bernoulli, const struct gmc_prng *parent);
/* The next message: its node, and the cycle that begins with or after it. */
uint64_t ic_wh_arrivals_next(struct ic_wh_arrivals *arrivals, uint32_t *node);

#endif
