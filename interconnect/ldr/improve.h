/* SPDX-License-Identifier: BSD-2-Clause */
/* Regular graphs of small mean distance: swaps of links, all copies under a rotation at once,
 * accepted as in simulated annealing.
 *
 * Source: Kirkpatrick, Gelatt, Vecchi: Optimization by Simulated Annealing, Science 220, 1983; that
 * a rotation divides the search and each of its steps by its order is known from the Graph Golf
 * competitions (from 2015 on). Temperatures and the choice of the order come from trials of ours.
 */
#ifndef INTERCONNECT_LDR_IMPROVE_H
#define INTERCONNECT_LDR_IMPROVE_H

#include "interconnect/graph/distances.h"

#define IC_IMPROVE_STEPS_MAX 1000000000u

struct ic_improve_config {
    /* Of the rotation, a divisor of the nodes up to 64; 0: the largest one up to twice the root of
     * the nodes. From a graph that is given: 0 or 1. */
    uint64_t order;
    uint64_t steps; /* swaps that are tried, up to IC_IMPROVE_STEPS_MAX; 0: ic_improve_steps */
    uint64_t seed;
    /* NULL, or told about 100 times how far it is, and the best mean distance so far over pairs of
     * different nodes; false ends the search with the best graph so far. */
    bool (*on_progress)(void *ctx, double share, double mean);
    void *ctx;
};

/* Order and steps that are used for 0: some 20 to 40 s of a core. */
uint64_t ic_improve_order(uint64_t nodes);
uint64_t ic_improve_steps(uint64_t nodes, uint64_t degree, uint64_t order);

/* From a random graph. Ends early at the lower bound. graph is made; INVALID names what is out of
 * range (ic_ldr_check, and the order). NOMEM. */
GMC_NODISCARD gmc_status ic_improve_random(uint64_t nodes, uint64_t degree,
                                           const struct ic_improve_config *config,
                                           struct ic_graph *graph, char *error);
/* From a regular, connected graph; what comes out is at least as good. */
GMC_NODISCARD gmc_status ic_improve_graph(const struct ic_graph *from,
                                          const struct ic_improve_config *config,
                                          struct ic_graph *graph, char *error);

#endif
