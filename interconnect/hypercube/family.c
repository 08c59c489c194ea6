/* SPDX-License-Identifier: BSD-2-Clause */
/* The hypercube as a family: wormhole switching, P-cube or e-cube routing. */
#include "interconnect/families.h"
#include "interconnect/hypercube/pcube.h"

enum { LOAD, N, VCS, FLITS, PARAMS };
enum { LATENCY, NETWORK, SOURCE_WAIT, SHARING, EJECTION, OUTPUTS };

static const struct ic_param params[PARAMS] = {
    [LOAD] = {"load", "messages/node/cycle", "messages that a node generates", IC_NUMBER, 0, 1,
              0.003, NULL, IC_BOTH},
    [N] = {"n", "dimensions", "dimensions of the cube", IC_COUNT, 1, IC_PCUBE_N_MAX, 6, NULL,
           IC_BOTH},
    [VCS] = {"V", "channels", "virtual channels of a channel", IC_COUNT, 1, IC_PCUBE_VC_MAX, 3,
             NULL, IC_BOTH},
    [FLITS] = {"M", "flits", "length of a message", IC_COUNT, 1, IC_PCUBE_FLITS_MAX, 32, NULL,
               IC_BOTH},
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "cycles", "of a message, its wait at the source among it", IC_BOTH},
    [NETWORK] = {"network_latency", "cycles", "from entering the network to the last flit",
                 IC_BOTH},
    [SOURCE_WAIT] = {"source_wait", "cycles", "before entering the network", IC_BOTH},
    [SHARING] = {"sharing", "", "mean number of virtual channels that share a channel", IC_MODEL},
    [EJECTION] = {"ejection_wait", "cycles", "for the channel into the destination", IC_MODEL},
};

static gmc_status model(const double *values, struct ic_result *result, char *error)
{
    struct ic_pcube cube = {.n = (uint32_t)values[N],
                            .channels = (uint32_t)values[VCS],
                            .flits = (uint32_t)values[FLITS]};
    struct ic_pcube_latency out;
    double limit;
    gmc_status status = ic_pcube_latency(&cube, values[LOAD], &out, error);
    if (status == GMC_OK && out.saturated)
        status = ic_pcube_saturation(&cube, &limit, error);
    if (status != GMC_OK)
        return status;
    if (out.saturated) {
        ic_result_saturated(result, "no fixed point from load %.6g on", limit);
        return GMC_OK;
    }
    ic_result_set(result, LATENCY, out.latency);
    ic_result_set(result, NETWORK, out.network * out.sharing);
    ic_result_set(result, SOURCE_WAIT, out.source_wait * out.sharing);
    ic_result_set(result, SHARING, out.sharing);
    ic_result_set(result, EJECTION, out.ejection);
    return GMC_OK;
}

const struct ic_family ic_family_hypercube = {
    .name = "hypercube",
    .title = "wormhole hypercubes with P-cube routing",
    .source = "Patooghy, Sarbazi-Azad",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .load = "load",
    .model = model,
};
