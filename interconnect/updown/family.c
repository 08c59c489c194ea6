/* SPDX-License-Identifier: BSD-2-Clause */
/* Any graph as a family: wormhole switching, up* / down* routing. */
#include <stdlib.h>

#include "interconnect/families.h"
#include "interconnect/ldr/params.h"
#include "interconnect/updown/model.h"
#include "interconnect/wormhole/options.h"

enum {
    LOAD,
    GRAPH,
    ROUTING = GRAPH + IC_LDR_PARAMS,
    VCS,
    FLITS,
    MORE,
    PARAMS = MORE + IC_WH_PARAMS
};
enum { LATENCY, NETWORK, WAIT, DISTANCE, DIAMETER, SEEN, OUTPUTS = SEEN + IC_WH_OUTPUTS };

static const char *const topologies[] = {[IC_LDR_HYPERCUBE] = "hypercube",
                                         [IC_LDR_GENERATED] = "ldr",
                                         [IC_LDR_IMPROVED] = "improved",
                                         NULL};
#define WORDS (IC_LDR_IMPROVED + 1) /* topologies that are not files */

/* Traffic is the model's too. */
static const struct ic_param params[PARAMS] = {
    [LOAD] = {"load", "messages/node/cycle", "messages that a node generates", IC_NUMBER, 0, 1,
              0.003, NULL, IC_BOTH},
    IC_LDR_PARAM_ROWS(GRAPH, topologies, "nodes", IC_UPDOWN_NODES_MAX, IC_UPDOWN_PORTS_MAX),
    [ROUTING] = {"routing", "", "choice among the shortest legal ways", IC_CHOICE, 0, 0,
                 IC_UPDOWN_ADAPTIVE, ic_updown_routing_names, IC_BOTH},
    [VCS] = {"V", "channels", "virtual channels of a channel", IC_COUNT, 1, IC_WH_VCS_MAX, 3, NULL,
             IC_BOTH},
    [FLITS] = {"M", "flits", "length of a message", IC_COUNT, 1, IC_WH_FLITS_MAX, 32, NULL,
               IC_BOTH},
    IC_WH_PARAM_ROWS(MORE, IC_BOTH),
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "cycles", "of a message, its wait at the source among it", IC_BOTH},
    [NETWORK] = {"network_latency", "cycles", "the same without the wait", IC_BOTH},
    [WAIT] = {"source_wait", "cycles", "before entering the network", IC_BOTH | IC_SMALL},
    [DISTANCE] = {"distance", "links", "mean of legal ways between different nodes", IC_BOTH},
    [DIAMETER] = {"diameter", "links", "the longest of them", IC_BOTH},
    IC_WH_OUTPUT_ROWS(SEEN, "messages/node/cycle"),
};

/* ---- what the points of a curve have in common ---- */
struct common {
    struct ic_wh_network network;  /* ways are found when they are needed first */
    struct ic_updown_flows *flows; /* NULL: not needed so far */
};

static void release_common(void *what)
{
    struct common *common = what;
    ic_updown_flows_free(common->flows);
    ic_wh_network_fini(&common->network);
    free(common);
}

static gmc_status build(const double *values, const struct ic_setting *setting,
                        struct ic_wh_network *network, char *error)
{
    const struct ic_ldr_spec spec = ic_ldr_params_spec(values + GRAPH);
    enum ic_updown_routing routing = (enum ic_updown_routing)values[ROUTING];
    const struct ic_graph *given = ic_ldr_params_graph(values + GRAPH, WORDS, setting);
    struct ic_graph graph;
    if (given != NULL)
        return ic_updown_channels(given, routing, network, error);
    gmc_status status = ic_ldr_graph(&spec, &graph, error);
    if (status != GMC_OK)
        return status;
    status = ic_updown_channels(&graph, routing, network, error);
    ic_graph_fini(&graph);
    return status;
}

struct point {
    const double *values;
    const struct ic_setting *setting;
};

static gmc_status make_common(const void *ctx, void **what, size_t *bytes, char *error)
{
    const struct point *point = ctx;
    struct common *common = calloc(1, sizeof(*common));
    if (common == NULL)
        return GMC_ERR_NOMEM;
    gmc_status status = build(point->values, point->setting, &common->network, error);
    if (status != GMC_OK) {
        free(common);
        return status;
    }
    size_t nodes = common->network.nodes;
    *what = common;
    *bytes = 16 * nodes * nodes + 512 * (size_t)common->network.channels;
    return GMC_OK;
}

/* Stays with the memo. */
static gmc_status find_common(const double *values, const struct ic_setting *setting,
                              struct common **out, char *error)
{
    const struct point point = {values, setting};
    const struct ic_memo_maker maker = {make_common, release_common, &point};
    double key[IC_LDR_PARAMS + 3] = {values[ROUTING], values[MORE + IC_WH_PARAM_PATTERN],
                                     values[MORE + IC_WH_PARAM_SHIFT]};
    void *common;
    for (size_t i = 0; i < IC_LDR_PARAMS; i++)
        key[3 + i] = values[GRAPH + i];
    gmc_status status =
        ic_memo_get(setting->memo, key, sizeof(key) / sizeof(key[0]), &maker, &common, error);
    if (status == GMC_OK)
        *out = common;
    return status;
}

static gmc_status find_flows(const double *values, const struct ic_setting *setting,
                             struct common **common, char *error)
{
    struct ic_traffic traffic;
    gmc_status status = find_common(values, setting, common, error);
    if (status != GMC_OK || (*common)->flows != NULL)
        return status;
    status = ic_traffic_init(&traffic, (enum ic_traffic_pattern)values[MORE + IC_WH_PARAM_PATTERN],
                             (*common)->network.nodes, (uint64_t)values[MORE + IC_WH_PARAM_SHIFT],
                             error);
    if (status == GMC_OK)
        status = ic_updown_flows_new(&(*common)->network, &traffic, &(*common)->flows, error);
    return status;
}

static void set_graph(double distance, uint32_t longest, struct ic_result *result)
{
    ic_result_set(result, DISTANCE, distance);
    ic_result_set(result, DIAMETER, longest);
}

/* ---- the family ---- */
static void settle(double *values, const struct ic_setting *setting)
{
    ic_ldr_params_settle(values + GRAPH, WORDS, setting);
}

static struct ic_updown_config config_of(const double *values)
{
    return (struct ic_updown_config){.vcs = (uint32_t)values[VCS],
                                     .flits = (uint32_t)values[FLITS],
                                     .links_in_order = values[MORE + IC_WH_PARAM_LINKS] > 0,
                                     .ends_in_order = values[MORE + IC_WH_PARAM_ENDS] > 0};
}

static gmc_status limit(const double *values, const struct ic_setting *setting, double *load,
                        char *error)
{
    const struct ic_updown_config config = config_of(values);
    struct common *common;
    uint32_t channel;
    gmc_status status = find_flows(values, setting, &common, error);
    if (status == GMC_OK)
        *load = ic_updown_saturation(common->flows, &config, &channel);
    return status;
}

static gmc_status model(const double *values, const struct ic_setting *setting,
                        struct ic_result *result, char *error)
{
    const struct ic_updown_config config = config_of(values);
    struct common *common;
    double from;
    gmc_status status = ic_wh_check_load(values[LOAD], config.flits, 1, error);
    if (status == GMC_OK)
        status = find_flows(values, setting, &common, error);
    if (status != GMC_OK)
        return status;
    struct ic_updown_latency out = ic_updown_model(common->flows, &config, values[LOAD]);
    set_graph(out.distance, out.longest, result);
    if (out.is_saturated) {
        status = ic_limit_find(&ic_family_updown, values, setting, &from, error);
        if (status == GMC_OK)
            ic_result_saturated(result, "a channel is held all the time from load %.6g on", from);
        return status;
    }
    ic_result_set(result, LATENCY, out.latency);
    ic_result_set(result, NETWORK, out.network);
    ic_result_set(result, WAIT, out.wait);
    return GMC_OK;
}

static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error)
{
    static const struct ic_wh_layout layout = {.params = MORE,
                                               .latency = LATENCY,
                                               .network = NETWORK,
                                               .wait = WAIT,
                                               .outputs = SEEN,
                                               .cycle = 1};
    struct common *common;
    gmc_status status = find_common(values, setting, &common, error);
    if (status != GMC_OK)
        return status;
    const struct ic_updown *updown = common->network.ctx;
    if (updown->masks == NULL)
        status = ic_updown_find_ways(&common->network);
    if (status != GMC_OK)
        return status;
    set_graph(updown->mean_hops, updown->most_hops, result);
    return ic_wh_simulate(&common->network, &layout, values, values[LOAD], (uint32_t)values[VCS],
                          (uint32_t)values[FLITS], run, result, error);
}

const struct ic_family ic_family_updown = {
    .name = "updown",
    .title = "wormhole networks of any graph, up* / down* routing",
    .source = "Schroeder et al. 1991; Draper, Ghosh 1994",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .load = "load",
    .messages = IC_WH_MESSAGES,
    .model = model,
    .simulate = simulate,
    .limit = limit,
    .settle = settle,
};
