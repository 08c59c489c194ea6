/* SPDX-License-Identifier: BSD-2-Clause */
/* What each vertex sends to all of up to 64 destinations alike. */
#ifndef INTERCONNECT_FLOWS_SPREAD_H
#define INTERCONNECT_FLOWS_SPREAD_H

#include "interconnect/flows/sums.h"

#define IC_FLOW_ABREAST 64u

struct ic_flow_spread {
    struct ic_flow_sums *sums;
    double *flow;    /* by vertex and destination: what each output that is taken takes */
    uint64_t *going; /* by output: destinations to which something goes by it */
};

/* What vertices send. */
struct ic_flow_senders {
    const double *each;  /* by vertex: to each of the destinations that are elsewhere */
    const double *local; /* by vertex: to those that are there */
};

/* Borrows the sums. NOMEM. Ends with fini, whatever it gave. */
GMC_NODISCARD gmc_status ic_flow_spread_init(struct ic_flow_spread *spread,
                                             struct ic_flow_sums *sums);
void ic_flow_spread_fini(struct ic_flow_spread *spread);
/* To destinations that are bits of `all`. Layers are words by hops (0 to depth - 1), then by
 * vertex, of those that are so far. */
void ic_flow_spread_add(struct ic_flow_spread *spread, const uint64_t *layers, uint32_t depth,
                        uint64_t all, const struct ic_flow_senders *senders);

#endif
