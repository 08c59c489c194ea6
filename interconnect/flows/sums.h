/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows over shortest ways, added up by vertex: from each input to each output. What begins at a
 * vertex has an input of its own behind all others, what ends there an output. */
#ifndef INTERCONNECT_FLOWS_SUMS_H
#define INTERCONNECT_FLOWS_SUMS_H

#include <stdbool.h>

#include "base/status.h"
#include "interconnect/flows/arcs.h"

struct ic_flow_sums {
    const struct ic_arcs *arcs;
    bool is_shared;   /* one vertex's part stands for all */
    bool is_fixed;    /* all goes on by the lowest output; otherwise by all alike */
    size_t *at_pairs; /* by vertex: where its part of pairs begins */
    double *pairs;    /* (inputs + 1) (outputs + 1) of each vertex */
    bool *used;       /* by vertex and input: rows of pairs that are not all 0 */
    size_t *at_choices;
    double *choices;       /* the same flows, by outputs to choose from, less one, and by output */
    double total, hop_sum; /* of all flows; of flow times hops */
    uint32_t most;         /* outputs to choose from */
    double inverse[IC_ARCS_OUT_MAX + 1];
};

/* With a shared part vertices have as many inputs and outputs. Borrows the arcs. NOMEM. Ends with
 * fini, whatever it gave. */
GMC_NODISCARD gmc_status ic_flow_sums_init(struct ic_flow_sums *sums, const struct ic_arcs *arcs,
                                           bool is_fixed, bool is_shared);
void ic_flow_sums_fini(struct ic_flow_sums *sums);

/* Of an input: by output. */
static inline double *ic_flow_sums_pairs(const struct ic_flow_sums *sums, uint32_t vertex,
                                         uint32_t input)
{
    return &sums->pairs[sums->at_pairs[vertex] +
                        (size_t)input * (ic_arcs_out(sums->arcs, vertex) + 1)];
}

static inline bool *ic_flow_sums_used(const struct ic_flow_sums *sums, uint32_t vertex,
                                      uint32_t input)
{
    size_t first = sums->is_shared ? 0 : (size_t)sums->arcs->first_input[vertex] + vertex;
    return &sums->used[first + input];
}

/* Of flows that could take so many outputs: by output. Where all is fixed they can take one. */
static inline double *ic_flow_sums_choices(const struct ic_flow_sums *sums, uint32_t vertex,
                                           uint32_t count)
{
    return &sums->choices[sums->at_choices[vertex] +
                          (size_t)(count - 1) * ic_arcs_out(sums->arcs, vertex)];
}

#endif
