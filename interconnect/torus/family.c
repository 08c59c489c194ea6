/* SPDX-License-Identifier: BSD-2-Clause */
/* The torus as a family: multicast on SCI rings. */
#include "interconnect/families.h"
#include "interconnect/torus/latency.h"

enum { ALGORITHM, K, R, GROUP, BYTES, PARAMS };
enum { LATENCY, LATENCY_PRINTED, OVERHEAD, OUTPUTS };

static const char *const algorithms[] = {
    [IC_TORUS_SEPARATE] = "separate", [IC_TORUS_U] = "U-torus",   [IC_TORUS_S] = "S-torus",
    [IC_TORUS_MD] = "Md-torus",       [IC_TORUS_MU] = "Mu-torus", [IC_TORUS_ALGORITHMS] = NULL,
};

static const struct ic_param params[PARAMS] = {
    [ALGORITHM] = {"algorithm", "", "multicast algorithm", IC_CHOICE, 0, 0, IC_TORUS_MD, algorithms,
                   IC_BOTH},
    [K] = {"k", "nodes", "nodes per ring", IC_COUNT, 2, IC_TORUS_K_MAX, 4, NULL, IC_BOTH},
    [R] = {"r", "nodes", "partition length of Mu-torus; 0: k", IC_COUNT, 0, IC_GROUP_MAX, 0, NULL,
           IC_BOTH},
    [GROUP] = {"group", "nodes", "members, the root among them", IC_COUNT, 2, IC_GROUP_MAX, 16,
               NULL, IC_BOTH},
    [BYTES] = {"bytes", "bytes", "length of the message", IC_COUNT, 1, IC_SCI_BYTES_MAX, 128, NULL,
               IC_BOTH},
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "us", "until the last member has the message", IC_BOTH},
    [LATENCY_PRINTED] = {"latency_other_form", "us",
                         "Mu-torus as printed, U-torus with integer division", IC_MODEL},
    [OVERHEAD] = {"overhead", "us", "o of the sender, and of the receiver", IC_MODEL},
};

static gmc_status model(const double *values, struct ic_result *result, char *error)
{
    struct ic_sci_latency t;
    uint64_t k = (uint64_t)values[K], r = (uint64_t)values[R];
    gmc_status status = ic_sci_latency(k, (uint64_t)values[BYTES], r > 0 ? r : k,
                                       (uint64_t)values[GROUP], &t, error);
    if (status != GMC_OK)
        return status;
    const double latency[IC_TORUS_ALGORITHMS] = {
        [IC_TORUS_SEPARATE] = t.separate,
        [IC_TORUS_U] = t.u,
        [IC_TORUS_S] = t.s,
        [IC_TORUS_MD] = t.md,
        [IC_TORUS_MU] = t.mu,
    };
    enum ic_torus_algorithm algorithm = (enum ic_torus_algorithm)values[ALGORITHM];
    ic_result_set(result, LATENCY, latency[algorithm]);
    if (algorithm == IC_TORUS_MU)
        ic_result_set(result, LATENCY_PRINTED, t.mu_printed);
    if (algorithm == IC_TORUS_U)
        ic_result_set(result, LATENCY_PRINTED, t.u_floor);
    ic_result_set(result, OVERHEAD, t.overhead);
    return GMC_OK;
}

const struct ic_family ic_family_torus = {
    .name = "torus",
    .title = "multicast on tori of unidirectional rings (SCI)",
    .source = "Oral 2003, chapter 2",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .model = model,
};
