/* SPDX-License-Identifier: BSD-2-Clause */
/* What one sender sends to one destination: over all vertices on shortest ways, which are few of
 * all. */
#ifndef INTERCONNECT_FLOWS_WALK_H
#define INTERCONNECT_FLOWS_WALK_H

#include "interconnect/flows/sums.h"

/* A vertex that something comes to; by which of its inputs, a bit for each. */
struct ic_flow_stop {
    uint32_t at;
    uint64_t inputs[IC_ARCS_IN_MAX / 64];
};

struct ic_flow_walk {
    struct ic_flow_sums *sums;
    double *leaving; /* by vertex: what each of its outputs that are taken takes */
    uint32_t *place; /* by vertex: where it is among the stops, if it is one of them */
    struct ic_flow_stop *stops, *next;
    uint32_t next_count;
};

/* Borrows the sums. NOMEM. Ends with fini, whatever it gave. */
GMC_NODISCARD gmc_status ic_flow_walk_init(struct ic_flow_walk *walk, struct ic_flow_sums *sums);
void ic_flow_walk_fini(struct ic_flow_walk *walk);
/* Adds a flow of 1. Layers are words by hops, then by vertex, of which bit `destination` says that
 * it is so far; the vertex has it in one of them. */
void ic_flow_walk_add(struct ic_flow_walk *walk, const uint64_t *layers, uint32_t from,
                      uint32_t destination);

#endif
