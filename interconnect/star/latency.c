/* SPDX-License-Identifier: BSD-2-Clause */
/* The closed forms for Myrinet. */
#include "interconnect/star/latency.h"

#include <string.h>

#include "base/assert.h"

static const char *const names[IC_MYRINET_SCHEMES] = {"HB", "NB", "NA"};

const char *ic_myrinet_scheme_name(enum ic_myrinet_scheme scheme)
{
    GMC_ASSERT(scheme < IC_MYRINET_SCHEMES);
    return names[scheme];
}

gmc_status ic_myrinet_scheme_from_name(const char *name, enum ic_myrinet_scheme *scheme)
{
    for (int i = 0; i < IC_MYRINET_SCHEMES; i++)
        if (strcmp(names[i], name) == 0) {
            *scheme = (enum ic_myrinet_scheme)i;
            return GMC_OK;
        }
    return GMC_ERR_NOT_FOUND;
}

double ic_myrinet_host_us(double message_bytes)
{
    return 9.864 + 0.0315 * message_bytes;
}

double ic_myrinet_nic_us(double message_bytes)
{
    return 0.697 + 8.3325 * message_bytes;
}

double ic_myrinet_process_us(enum ic_myrinet_scheme scheme, enum ic_star_algorithm algorithm)
{
    static const double host_us[IC_STAR_ALGORITHMS] = {
        [IC_STAR_BINOMIAL] = 19.2,
        [IC_STAR_BINARY] = 12.2,
        [IC_STAR_SERIAL] = 7.2,
        [IC_STAR_SEPARATE] = 22.2,
    };
    static const double nic_us[IC_STAR_ALGORITHMS] = {
        [IC_STAR_BINOMIAL] = 145.2,
        [IC_STAR_BINARY] = 92.2,
        [IC_STAR_SERIAL] = 79.2,
        [IC_STAR_SEPARATE] = 233.1,
    };
    GMC_ASSERT(algorithm < IC_STAR_ALGORITHMS);
    return scheme == IC_MYRINET_NB ? nic_us[algorithm] : host_us[algorithm];
}

/* L_i as tabulated for m = 2. */
static double tabulated(enum ic_myrinet_scheme scheme, enum ic_star_algorithm algorithm)
{
    static const double per_node_us[IC_MYRINET_SCHEMES][IC_STAR_SEPARATE] = {
        [IC_MYRINET_HB] = {39.05, 32.05, 27.05},
        [IC_MYRINET_NB] = {250.25, 178.25, 121.08},
        [IC_MYRINET_NA] = {113.9, 107.9, 101.7},
    };
    return per_node_us[scheme][algorithm];
}

static double per_node(enum ic_myrinet_scheme scheme, double process, double host, double nic)
{
    switch (scheme) {
    case IC_MYRINET_HB:
        return host + process + host;
    case IC_MYRINET_NB:
        return nic + process + nic;
    default:
        return nic + IC_MYRINET_RDMA_US + process + IC_MYRINET_SDMA_US + nic;
    }
}

/* What comes before and after the nodes that forward. */
static double ends(enum ic_myrinet_scheme scheme, double process, double host, double nic)
{
    switch (scheme) {
    case IC_MYRINET_HB:
        return host + host;
    case IC_MYRINET_NB:
        return IC_MYRINET_SDMA_US + process + nic + nic + IC_MYRINET_RDMA_US;
    default:
        return IC_MYRINET_SDMA_US + nic + nic + IC_MYRINET_RDMA_US;
    }
}

static double separate(enum ic_myrinet_scheme scheme, double messages, double process, double host,
                       double nic)
{
    switch (scheme) {
    case IC_MYRINET_HB:
        return messages * (process + host) + host;
    case IC_MYRINET_NB:
        return IC_MYRINET_SDMA_US + messages * (process + nic) + nic + IC_MYRINET_RDMA_US;
    default:
        return messages * (process + IC_MYRINET_SDMA_US + nic) + nic + IC_MYRINET_RDMA_US;
    }
}

/* Nodes that forward on the deepest path. */
static double forwarders(enum ic_star_algorithm algorithm, uint64_t group)
{
    double floor_log2 = 0;
    if (algorithm == IC_STAR_SERIAL)
        return (double)group - 2;
    for (uint64_t reach = 2; reach <= group; reach *= 2)
        floor_log2++;
    return floor_log2 - 1;
}

gmc_status ic_myrinet_latency(enum ic_myrinet_scheme scheme, enum ic_star_algorithm algorithm,
                              uint64_t message_bytes, uint64_t group,
                              struct ic_myrinet_latency *out, char *error)
{
    gmc_status status =
        ic_check_range("m, the message's bytes,", message_bytes, 0, (uint64_t)1 << 20, error);
    if (status == GMC_OK)
        status = ic_check_range("G, the group's size,", group, 2, IC_GROUP_MAX, error);
    if (status != GMC_OK)
        return status;
    double process = ic_myrinet_process_us(scheme, algorithm);
    double host = ic_myrinet_host_us((double)message_bytes);
    double nic = ic_myrinet_nic_us((double)message_bytes);
    *out = (struct ic_myrinet_latency){0};
    if (algorithm == IC_STAR_SEPARATE) {
        out->time = separate(scheme, (double)group - 1, process, host, nic);
        return GMC_OK;
    }
    double edges = ends(scheme, process, host, nic), nodes = forwarders(algorithm, group);
    out->per_node = per_node(scheme, process, host, nic);
    out->time = edges + nodes * out->per_node;
    out->has_table = message_bytes == IC_MYRINET_TABLE_BYTES;
    if (out->has_table) {
        out->per_node_by_table = tabulated(scheme, algorithm);
        out->time_by_table = edges + nodes * out->per_node_by_table;
    }
    return GMC_OK;
}
