/* SPDX-License-Identifier: BSD-2-Clause */
/* The hypercube as a family: wormhole switching, P-cube or e-cube routing. */
#include "interconnect/families.h"
#include "interconnect/hypercube/network.h"
#include "interconnect/hypercube/pcube.h"
#include "interconnect/wormhole/options.h"

enum { LOAD, N, VCS, FLITS, ROUTING, EJECTION, MORE, PARAMS = MORE + IC_WH_PARAMS };
enum { LATENCY, NETWORK, WAIT, SHARING, EJECTION_WAIT, SEEN, OUTPUTS = SEEN + IC_WH_OUTPUTS };

static const struct ic_param params[PARAMS] = {
    [LOAD] = {"load", "messages/node/cycle", "messages that a node generates", IC_NUMBER, 0, 1,
              0.003, NULL, IC_BOTH},
    [N] = {"n", "dimensions", "dimensions of the cube", IC_COUNT, 1, IC_PCUBE_N_MAX, 6, NULL,
           IC_BOTH},
    [VCS] = {"V", "channels", "virtual channels of a channel", IC_COUNT, 1, IC_WH_VCS_MAX, 3, NULL,
             IC_BOTH},
    [FLITS] = {"M", "flits", "length of a message", IC_COUNT, 1, IC_WH_FLITS_MAX, 32, NULL,
               IC_BOTH},
    [ROUTING] = {"routing", "", "the model is of pcube only", IC_CHOICE, 0, 0, IC_HYPERCUBE_PCUBE,
                 ic_hypercube_routing_names, IC_BOTH},
    [EJECTION] = {"ejection", "", "messages contend for the channel out of the network", IC_CHOICE,
                  0, 0, 1, ic_wh_yes_names, IC_SIMULATOR},
    IC_WH_PARAM_ROWS(MORE, IC_SIMULATOR),
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] =
        {"latency", "cycles",
         "of a message, with its wait at the source, without the cycle into the first router",
         IC_BOTH},
    [NETWORK] = {"network_latency", "cycles", "the same without the wait", IC_BOTH},
    [WAIT] = {"source_wait", "cycles", "before entering the network", IC_BOTH | IC_SMALL},
    [SHARING] = {"sharing", "", "mean number of virtual channels that share a channel", IC_MODEL},
    [EJECTION_WAIT] = {"ejection_wait", "cycles", "for the channel into the destination", IC_MODEL},
    IC_WH_OUTPUT_ROWS(SEEN, "messages/node/cycle"),
};

static struct ic_pcube cube_of(const double *values)
{
    return (struct ic_pcube){.n = (uint32_t)values[N],
                             .channels = (uint32_t)values[VCS],
                             .flits = (uint32_t)values[FLITS]};
}

static gmc_status limit(const double *values, const struct ic_setting *setting, double *load,
                        char *error)
{
    const struct ic_pcube cube = cube_of(values);
    (void)setting;
    return ic_pcube_saturation(&cube, load, error);
}

static gmc_status model(const double *values, const struct ic_setting *setting,
                        struct ic_result *result, char *error)
{
    const struct ic_pcube cube = cube_of(values);
    struct ic_pcube_latency out;
    double limit;
    if (values[ROUTING] != IC_HYPERCUBE_PCUBE)
        return GMC_OK;
    gmc_status status = ic_pcube_latency(&cube, values[LOAD], &out, error);
    if (status == GMC_OK && out.saturated)
        status = ic_limit_find(&ic_family_hypercube, values, setting, &limit, error);
    if (status != GMC_OK)
        return status;
    if (out.saturated) {
        ic_result_saturated(result, "no fixed point from load %.6g on", limit);
        return GMC_OK;
    }
    ic_result_set(result, LATENCY, out.latency);
    ic_result_set(result, NETWORK, out.network * out.sharing);
    ic_result_set(result, WAIT, out.source_wait * out.sharing);
    ic_result_set(result, SHARING, out.sharing);
    ic_result_set(result, EJECTION_WAIT, out.ejection);
    return GMC_OK;
}

/* The model counts H + M cycles without load; a message needs one more for the injection channel,
 * and without ejection channels it needs one less again. */
static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error)
{
    (void)setting;
    const struct ic_wh_layout layout = {.params = MORE,
                                        .latency = LATENCY,
                                        .network = NETWORK,
                                        .wait = WAIT,
                                        .outputs = SEEN,
                                        .cycle = 1,
                                        .uncounted = values[EJECTION]};
    struct ic_wh_network network;
    gmc_status status =
        ic_hypercube_network((uint64_t)values[N], (enum ic_hypercube_routing)values[ROUTING],
                             values[EJECTION] > 0, &network, error);
    if (status != GMC_OK)
        return status;
    status = ic_wh_simulate(&network, &layout, values, values[LOAD], (uint32_t)values[VCS],
                            (uint32_t)values[FLITS], run, result, error);
    ic_wh_network_fini(&network);
    return status;
}

const struct ic_family ic_family_hypercube = {
    .name = "hypercube",
    .title = "wormhole hypercubes with P-cube or e-cube routing",
    .source = "Patooghy, Sarbazi-Azad",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .load = "load",
    .messages = IC_WH_MESSAGES,
    .model = model,
    .simulate = simulate,
    .limit = limit,
};
