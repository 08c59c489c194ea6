/* SPDX-License-Identifier: BSD-2-Clause */
/* Room for them. */
#include "interconnect/flows/sums.h"

#include <stdlib.h>

gmc_status ic_flow_sums_init(struct ic_flow_sums *sums, const struct ic_arcs *arcs, bool is_fixed,
                             bool is_shared)
{
    size_t pairs = 0, choices = 0;
    *sums = (struct ic_flow_sums){
        .arcs = arcs,
        .is_shared = is_shared,
        .is_fixed = is_fixed,
        .at_pairs = calloc(arcs->vertices, sizeof(*sums->at_pairs)),
        .at_choices = calloc(arcs->vertices, sizeof(*sums->at_choices)),
    };
    if (sums->at_pairs == NULL || sums->at_choices == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t v = 0; v < arcs->vertices; v++) {
        size_t in = ic_arcs_in(arcs, v), out = ic_arcs_out(arcs, v);
        sums->at_pairs[v] = is_shared ? 0 : pairs;
        sums->at_choices[v] = is_shared ? 0 : choices;
        pairs += (in + 1) * (out + 1);
        choices += (is_fixed ? 1 : out) * out;
    }
    sums->pairs = calloc(pairs, sizeof(*sums->pairs));
    sums->used =
        calloc((size_t)arcs->first_input[arcs->vertices] + arcs->vertices, sizeof(*sums->used));
    sums->choices = calloc(choices + 1, sizeof(*sums->choices));
    for (uint32_t count = 1; count <= IC_ARCS_OUT_MAX; count++)
        sums->inverse[count] = 1.0 / count;
    return sums->pairs != NULL && sums->used != NULL && sums->choices != NULL ? GMC_OK
                                                                              : GMC_ERR_NOMEM;
}

void ic_flow_sums_fini(struct ic_flow_sums *sums)
{
    free(sums->at_pairs);
    free(sums->pairs);
    free(sums->used);
    free(sums->at_choices);
    free(sums->choices);
    *sums = (struct ic_flow_sums){0};
}
