/* SPDX-License-Identifier: BSD-2-Clause */
/* The patterns. */
#include "interconnect/traffic.h"

#include <stddef.h>

const char *const ic_traffic_names[IC_TRAFFIC_PATTERNS + 1] = {
    [IC_TRAFFIC_UNIFORM] = "uniform",   [IC_TRAFFIC_SHIFT] = "shift",
    [IC_TRAFFIC_RING] = "ring",         [IC_TRAFFIC_TRANSPOSE] = "transpose",
    [IC_TRAFFIC_REVERSAL] = "reversal", [IC_TRAFFIC_COMPLEMENT] = "complement",
    [IC_TRAFFIC_PATTERNS] = NULL,
};

gmc_status ic_traffic_init(struct ic_traffic *traffic, enum ic_traffic_pattern pattern,
                           uint32_t hosts, uint64_t shift, char *error)
{
    uint32_t bits = 0;
    gmc_status status = ic_check_range("the number of hosts", hosts, 2, UINT32_MAX, error);
    if (status == GMC_OK && pattern == IC_TRAFFIC_SHIFT)
        status = ic_check_range("the shift", shift, 1, hosts - 1, error);
    if (status != GMC_OK)
        return status;
    while (((uint64_t)1 << bits) < hosts)
        bits++;
    if (pattern >= IC_TRAFFIC_TRANSPOSE && ((uint64_t)1 << bits) != hosts)
        return ic_refuse(error, "patterns of bits need a power of two of hosts; there are %u",
                         hosts);
    *traffic = (struct ic_traffic){pattern, hosts, (uint32_t)shift, bits};
    return GMC_OK;
}

static uint32_t permute(const struct ic_traffic *traffic, uint32_t from)
{
    uint32_t bits = traffic->bits, to = 0;
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t source =
            traffic->pattern == IC_TRAFFIC_TRANSPOSE ? (i + bits / 2) % bits : bits - 1 - i;
        to |= (from >> source & 1) << i;
    }
    return to;
}

uint32_t ic_traffic_partner(const struct ic_traffic *traffic, uint32_t from)
{
    uint64_t hosts = traffic->hosts;
    switch (traffic->pattern) {
    case IC_TRAFFIC_SHIFT:
        return (uint32_t)((from + (uint64_t)traffic->shift) % hosts);
    case IC_TRAFFIC_RING:
        return (uint32_t)((from + (uint64_t)1) % hosts);
    case IC_TRAFFIC_COMPLEMENT:
        return traffic->hosts - 1 - from;
    default:
        return permute(traffic, from);
    }
}

gmc_status ic_traffic_check_senders(const struct ic_traffic *traffic, char *error)
{
    if (traffic->pattern == IC_TRAFFIC_UNIFORM)
        return GMC_OK;
    for (uint32_t i = 0; i < traffic->hosts; i++)
        if (ic_traffic_partner(traffic, i) != i)
            return GMC_OK;
    return ic_refuse(error, "no host sends: with this pattern each would send to itself");
}
