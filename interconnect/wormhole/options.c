/* SPDX-License-Identifier: BSD-2-Clause */
/* From a family's values to a simulation, and back. */
#include "interconnect/wormhole/options.h"

#include <stddef.h>

#include "interconnect/error.h"

const char *const ic_wh_yes_names[] = {"no", "yes", NULL};
const char *const ic_wh_arrival_names[] = {"poisson", "bernoulli", NULL};
const char *const ic_wh_order_names[] = {"turns", "order", NULL};

static struct ic_wh_options options_of(const double *values, uint32_t vcs, uint32_t flits)
{
    return (struct ic_wh_options){
        .vcs = vcs,
        .flits = flits,
        .depth = (uint32_t)values[IC_WH_PARAM_DEPTH],
        .hop_delay = (uint32_t)values[IC_WH_PARAM_HOP_DELAY],
        .release_delay = (uint32_t)values[IC_WH_PARAM_RELEASE_DELAY],
        .links_in_order = values[IC_WH_PARAM_LINKS] > 0,
        .ends_in_order = values[IC_WH_PARAM_ENDS] > 0,
    };
}

static gmc_status read_load(const double *values, double rate, double cycle, uint32_t nodes,
                            struct ic_wh_load *load, char *error)
{
    *load = (struct ic_wh_load){.rate = rate,
                                .cycle = cycle,
                                .is_bernoulli = values[IC_WH_PARAM_ARRIVALS] > 0,
                                .has_own = values[IC_WH_PARAM_OWN] > 0};
    return ic_traffic_init(&load->traffic, (enum ic_traffic_pattern)values[IC_WH_PARAM_PATTERN],
                           nodes, (uint64_t)values[IC_WH_PARAM_SHIFT], error);
}

static void fill(const struct ic_wh_layout *layout, const struct ic_wh_figures *figures,
                 struct ic_result *result)
{
    double cycle = layout->cycle;
    size_t more = layout->outputs;
    ic_result_set_measured(result, more + IC_WH_OUTPUT_OFFERED, figures->offered / cycle);
    ic_result_set_measured(result, more + IC_WH_OUTPUT_ACCEPTED, figures->accepted / cycle);
    ic_result_set_measured(result, more + IC_WH_OUTPUT_WARMUP, (double)figures->warmup);
    result->warmup = figures->warmup;
    if (figures->is_saturated) {
        ic_result_saturated(result,
                            "queues grow: no more than about %.4g is delivered of a load of %.4g",
                            figures->accepted / cycle, figures->offered / cycle);
        return;
    }
    double latency = figures->latency - layout->uncounted;
    double network = figures->network - layout->uncounted;
    ic_result_set_measured(result, layout->latency, latency * cycle);
    ic_result_set_measured(result, layout->network, network * cycle);
    ic_result_set_measured(result, layout->wait, (latency - network) * cycle);
    ic_result_set_measured(result, more + IC_WH_OUTPUT_HOPS, figures->hops);
}

gmc_status ic_wh_check_load(double load, uint32_t flits, double cycle, char *error)
{
    return ic_check_number("the load of a node, whose own channel takes a flit per cycle,",
                           load / cycle, 0, 1 / (flits * cycle), error);
}

gmc_status ic_wh_simulate(const struct ic_wh_network *network, const struct ic_wh_layout *layout,
                          const double *values, double load, uint32_t vcs, uint32_t flits,
                          const struct ic_run *run, struct ic_result *result, char *error)
{
    const double *own = values + layout->params;
    struct ic_wh_options options = options_of(own, vcs, flits);
    struct ic_wh_load arrivals;
    struct ic_wh_figures figures;
    gmc_status status = ic_wh_check_load(load, flits, layout->cycle, error);
    if (status == GMC_OK)
        status = read_load(own, load, layout->cycle, network->nodes, &arrivals, error);
    if (status == GMC_OK)
        status = ic_wh_run(network, &options, &arrivals, run, &figures, error);
    if (status == GMC_OK)
        fill(layout, &figures, result);
    return status;
}
