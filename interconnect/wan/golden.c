/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference tables of the case studies. */
#include "interconnect/golden.h"

#include "interconnect/families.h"
#include "interconnect/wan/cases.h"

static gmc_status case1_row(struct ic_row *row)
{
    struct ic_wan_case1 t;
    double gateway = ic_row_number(row, "t_link_us"), wan = ic_row_number(row, "t_wan_us");
    double remote = ic_row_number(row, "t_remote_us"), local = ic_row_number(row, "t_local_us");
    gmc_status status = row->status;
    if (status == GMC_OK)
        status = ic_wan_case1(gateway, wan, remote, local, &t, row->error);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "t_all_remote_us", t.all_remote);
    ic_row_put(row, "t_mixed_us", t.mixed);
    return GMC_OK;
}

static gmc_status case2_row(struct ic_row *row)
{
    struct ic_wan_case2 t;
    enum ic_wan_topology topology;
    enum ic_wan_link link;
    double hops = ic_row_number(row, "hops"), rate = ic_row_number(row, "retrans_rate");
    gmc_status status = row->status;
    if (ic_wan_topology_from_name(ic_row_text(row, "topology"), &topology) != GMC_OK)
        return ic_row_unknown(row, "topology");
    if (ic_wan_link_from_name(ic_row_text(row, "link"), &link) != GMC_OK)
        return ic_row_unknown(row, "link");
    if (status == GMC_OK)
        status = ic_wan_case2(topology, link, hops, rate, &t, row->error);
    if (status != GMC_OK)
        return status;
    ic_row_put(row, "time_per_message_in_WAN_units", t.time_per_message);
    ic_row_put(row, "local_link_utilisation", t.utilisation);
    return GMC_OK;
}

static gmc_status impact_row(struct ic_row *row)
{
    double impact;
    enum ic_wan_topology topology;
    double rate = ic_row_number(row, "retrans_rate");
    double beyond = ic_row_number(row, "descendants_beyond_first_hop");
    gmc_status status = row->status;
    if (ic_wan_topology_from_name(ic_row_text(row, "topology"), &topology) != GMC_OK)
        return ic_row_unknown(row, "topology");
    if (status == GMC_OK)
        status = ic_wan_case2_impact(topology, rate, beyond, &impact, row->error);
    if (status == GMC_OK)
        ic_row_put(row, "first_hop_traffic_over_baseline", impact);
    return status;
}

static const char *const case1_inputs[] = {"gateway_link", "t_link_us",  "t_wan_us",
                                           "t_remote_us",  "t_local_us", NULL};
static const char *const case1_outputs[] = {"t_all_remote_us", "t_mixed_us", NULL};
const struct ic_golden ic_golden_wan_case1 = {"wan_case1", case1_inputs, case1_outputs, case1_row,
                                              0,           false};

static const char *const case2_inputs[] = {"topology", "link", "hops", "retrans_rate", NULL};
static const char *const case2_outputs[] = {"time_per_message_in_WAN_units",
                                            "local_link_utilisation", NULL};
const struct ic_golden ic_golden_wan_case2 = {"wan_case2", case2_inputs, case2_outputs, case2_row,
                                              0,           false};

static const char *const impact_inputs[] = {"topology", "retrans_rate",
                                            "descendants_beyond_first_hop", NULL};
static const char *const impact_outputs[] = {"first_hop_traffic_over_baseline", NULL};
const struct ic_golden ic_golden_wan_case2_impact = {
    "wan_case2_impact", impact_inputs, impact_outputs, impact_row, 0, false};
