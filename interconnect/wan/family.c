/* SPDX-License-Identifier: BSD-2-Clause */
/* The case studies of clusters across a wide area network as families: two clusters, and relays
 * with and without caches. */
#include "interconnect/families.h"
#include "interconnect/wan/cases.h"

#define TIME_US_MAX 1e9
#define TIME(name, about, usual)                                                                   \
    {                                                                                              \
        name, "us", about, IC_NUMBER, 0, TIME_US_MAX, usual, NULL, IC_MODEL                        \
    }

/* ---- two clusters ---- */
enum { GATEWAY, WAN, REMOTE, LOCAL, PAIR_PARAMS };
enum { ALL_REMOTE, MIXED, PAIR_OUTPUTS };

static const struct ic_param pair_params[PAIR_PARAMS] = {
    [GATEWAY] = TIME("gateway",
                     "of a gateway's link; 64 KB: Gigabit Ethernet 1200, Fast Ethernet 12000", 0),
    [WAN] = TIME("wan", "of the wide area network", 30000),
    [REMOTE] = TIME("remote", "of the multicast in the cluster behind it", 1000),
    [LOCAL] = TIME("local", "of the multicast in the source's own cluster", 1000),
};

static const struct ic_output pair_outputs[PAIR_OUTPUTS] = {
    [ALL_REMOTE] = {"all_remote", "us", "until the last member has it, all in the other cluster",
                    IC_MODEL},
    [MIXED] = {"mixed", "us", "the same with members in both clusters", IC_MODEL},
};

static gmc_status pair_model(const double *values, const struct ic_setting *setting,
                             struct ic_result *result, char *error)
{
    struct ic_wan_case1 out;
    (void)setting;
    gmc_status status =
        ic_wan_case1(values[GATEWAY], values[WAN], values[REMOTE], values[LOCAL], &out, error);
    if (status != GMC_OK)
        return status;
    ic_result_set(result, ALL_REMOTE, out.all_remote);
    ic_result_set(result, MIXED, out.mixed);
    return GMC_OK;
}

const struct ic_family ic_family_wan_pair = {
    .name = "wan-pair",
    .title = "multicast to two clusters across a wide area network",
    .source = "Oral 2003, chapter 5, case 1",
    .params = pair_params,
    .param_count = PAIR_PARAMS,
    .outputs = pair_outputs,
    .output_count = PAIR_OUTPUTS,
    .model = pair_model,
};

/* ---- relays ---- */
enum { TOPOLOGY, LINK, HOPS, RATE, BEYOND, RELAY_PARAMS };
enum { PER_MESSAGE, UTILISATION, FIRST_HOP, RELAY_OUTPUTS };

static const char *const topologies[] = {
    [IC_WAN_FLAT] = "flat", [IC_WAN_LC] = "LC", [IC_WAN_NC] = "NC", [IC_WAN_TOPOLOGIES] = NULL};
static const char *const links[] = {[IC_WAN_FE] = "FE",
                                    [IC_WAN_GIGE] = "GigE",
                                    [IC_WAN_MYRINET] = "Myrinet",
                                    [IC_WAN_SCI] = "SCI",
                                    [IC_WAN_LINKS] = NULL};

static const struct ic_param relay_params[RELAY_PARAMS] = {
    [TOPOLOGY] = {"relays", "", "none (flat), a tree with caches (LC), or without (NC)", IC_CHOICE,
                  0, 0, IC_WAN_LC, topologies, IC_MODEL},
    [LINK] = {"link", "", "between a gateway and its cluster", IC_CHOICE, 0, 0, IC_WAN_FE, links,
              IC_MODEL},
    [HOPS] = {"hops", "hops", "to the farthest domain", IC_COUNT, 0, 64, 3, NULL, IC_MODEL},
    [RATE] = {"rate", "", "share of messages that are sent again", IC_NUMBER, 0, 1, 0.05, NULL,
              IC_MODEL},
    [BEYOND] = {"beyond", "domains", "beyond the first hop of a branch", IC_COUNT, 0, 1048576, 5,
                NULL, IC_MODEL},
};

static const struct ic_output relay_outputs[RELAY_OUTPUTS] = {
    [PER_MESSAGE] = {"time", "services", "of a message, in those of the wide area network",
                     IC_MODEL},
    [UTILISATION] = {"utilisation", "", "share of the time in which the local link is busy",
                     IC_MODEL},
    [FIRST_HOP] = {"first_hop", "", "traffic of the first hop over that without losses", IC_MODEL},
};

static gmc_status relay_model(const double *values, const struct ic_setting *setting,
                              struct ic_result *result, char *error)
{
    enum ic_wan_topology topology = (enum ic_wan_topology)values[TOPOLOGY];
    struct ic_wan_case2 out;
    double impact;
    (void)setting;
    gmc_status status = ic_wan_case2(topology, (enum ic_wan_link)values[LINK], values[HOPS],
                                     values[RATE], &out, error);
    if (status == GMC_OK)
        status = ic_wan_case2_impact(topology, values[RATE], values[BEYOND], &impact, error);
    if (status != GMC_OK)
        return status;
    ic_result_set(result, PER_MESSAGE, out.time_per_message);
    ic_result_set(result, UTILISATION, out.utilisation);
    ic_result_set(result, FIRST_HOP, impact);
    return GMC_OK;
}

const struct ic_family ic_family_wan_relays = {
    .name = "wan-relays",
    .title = "a large object to domains, by relays with and without caches",
    .source = "Oral 2003, chapter 5, case 2; its text, no printed equations",
    .params = relay_params,
    .param_count = RELAY_PARAMS,
    .outputs = relay_outputs,
    .output_count = RELAY_OUTPUTS,
    .model = relay_model,
};
