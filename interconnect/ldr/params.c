/* SPDX-License-Identifier: BSD-2-Clause */
/* From parameters to graphs. */
#include "interconnect/ldr/params.h"

#include "base/assert.h"

struct ic_ldr_spec ic_ldr_params_spec(const double *params)
{
    return (struct ic_ldr_spec){.topology = (enum ic_ldr_topology)params[IC_LDR_PARAM_TOPOLOGY],
                                .nodes = (uint64_t)params[IC_LDR_PARAM_NODES],
                                .degree = (uint64_t)params[IC_LDR_PARAM_DEGREE],
                                .samples = (uint64_t)params[IC_LDR_PARAM_SAMPLES],
                                .steps = (uint64_t)params[IC_LDR_PARAM_STEPS],
                                .seed = (uint64_t)params[IC_LDR_PARAM_SEED]};
}

const struct ic_graph *ic_ldr_params_graph(const double *params, size_t words,
                                           const struct ic_setting *setting)
{
    size_t topology = (size_t)params[IC_LDR_PARAM_TOPOLOGY];
    if (topology < words)
        return NULL;
    GMC_ASSERT(topology - words < setting->graph_count);
    return &setting->graphs[topology - words].graph;
}

void ic_ldr_params_settle(double *params, size_t words, const struct ic_setting *setting)
{
    const struct ic_graph *graph = ic_ldr_params_graph(params, words, setting);
    uint32_t least, most;
    if (graph == NULL)
        return;
    ic_graph_degrees(graph, &least, &most);
    params[IC_LDR_PARAM_NODES] = graph->nodes;
    params[IC_LDR_PARAM_DEGREE] = most;
}
