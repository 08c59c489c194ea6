/* SPDX-License-Identifier: BSD-2-Clause */
/* The star as a family: multicast through one Myrinet switch. */
#include "interconnect/families.h"
#include "interconnect/star/latency.h"

enum { SCHEME, ALGORITHM, GROUP, BYTES, PARAMS };
enum { LATENCY, LATENCY_TABULATED, PER_NODE, OUTPUTS };

static const char *const schemes[] = {[IC_MYRINET_HB] = "HB",
                                      [IC_MYRINET_NB] = "NB",
                                      [IC_MYRINET_NA] = "NA",
                                      [IC_MYRINET_SCHEMES] = NULL};
static const char *const algorithms[] = {[IC_STAR_BINOMIAL] = "binomial",
                                         [IC_STAR_BINARY] = "binary",
                                         [IC_STAR_SERIAL] = "serial",
                                         [IC_STAR_SEPARATE] = "separate",
                                         [IC_STAR_ALGORITHMS] = NULL};

static const struct ic_param params[PARAMS] = {
    [SCHEME] = {"scheme", "", "who does the work: host, NIC, or NIC assisted by the host",
                IC_CHOICE, 0, 0, IC_MYRINET_HB, schemes, IC_BOTH},
    [ALGORITHM] = {"algorithm", "", "multicast algorithm", IC_CHOICE, 0, 0, IC_STAR_BINOMIAL,
                   algorithms, IC_BOTH},
    [GROUP] = {"group", "nodes", "members, the root among them", IC_COUNT, 2, IC_GROUP_MAX, 16,
               NULL, IC_BOTH},
    [BYTES] = {"bytes", "bytes", "length of the message", IC_COUNT, 1, IC_MYRINET_BYTES_MAX, 2,
               NULL, IC_BOTH},
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "us", "until the last member has the message", IC_BOTH},
    [LATENCY_TABULATED] = {"latency_tabulated", "us", "with the tabulated time per node", IC_MODEL},
    [PER_NODE] = {"per_node", "us", "time at a node that forwards", IC_MODEL},
};

static gmc_status model(const double *values, struct ic_result *result, char *error)
{
    struct ic_myrinet_latency t;
    enum ic_star_algorithm algorithm = (enum ic_star_algorithm)values[ALGORITHM];
    gmc_status status =
        ic_myrinet_latency((enum ic_myrinet_scheme)values[SCHEME], algorithm,
                           (uint64_t)values[BYTES], (uint64_t)values[GROUP], &t, error);
    if (status != GMC_OK)
        return status;
    ic_result_set(result, LATENCY, t.time);
    if (t.has_table)
        ic_result_set(result, LATENCY_TABULATED, t.time_by_table);
    if (algorithm != IC_STAR_SEPARATE)
        ic_result_set(result, PER_NODE, t.per_node);
    return GMC_OK;
}

const struct ic_family ic_family_star = {
    .name = "star",
    .title = "multicast through one switch, by host or network interface (Myrinet)",
    .source = "Oral 2003, chapters 3 and 4",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .model = model,
};
