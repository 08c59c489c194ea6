/* SPDX-License-Identifier: BSD-2-Clause */
/* What a multicast costs on Myrinet, and the way of a packet. */
#include "interconnect/star/simulate.h"

#define BUS_US_PER_BYTE 0.0076

static struct ic_cost host_cost(void)
{
    double fixed = ic_myrinet_host_us(0);
    return (struct ic_cost){fixed, ic_myrinet_host_us(1) - fixed};
}

static struct ic_cost nic_cost(const struct ic_star_run *run)
{
    double fixed = ic_myrinet_nic_us(0);
    double per_byte =
        run->is_at_wire_rate ? 8 / (IC_MYRINET_LINK_GBPS * 1000) : ic_myrinet_nic_us(1) - fixed;
    return (struct ic_cost){fixed, per_byte};
}

/* Between host and interface. As printed they do not depend on the length. */
static struct ic_cost copy_cost(const struct ic_star_run *run, double fixed)
{
    return (struct ic_cost){fixed, run->is_at_wire_rate ? BUS_US_PER_BYTE : 0};
}

static struct ic_cost both(struct ic_cost a, struct ic_cost b)
{
    return (struct ic_cost){a.us + b.us, a.us_per_byte + b.us_per_byte};
}

static struct ic_multicast_costs costs_of(const struct ic_star_run *run)
{
    double process = ic_myrinet_process_us(run->scheme, run->algorithm);
    bool separate = run->algorithm == IC_STAR_SEPARATE;
    struct ic_cost host = host_cost(), nic = nic_cost(run);
    struct ic_cost in = copy_cost(run, IC_MYRINET_SDMA_US);
    struct ic_cost out = copy_cost(run, IC_MYRINET_RDMA_US);
    struct ic_multicast_costs costs = {.link_us_per_byte = 8 / (IC_MYRINET_LINK_GBPS * 1000)};
    switch (run->scheme) {
    case IC_MYRINET_HB:
        costs.send = costs.receive = host;
        costs.forward_us = process;
        break;
    case IC_MYRINET_NB:
        costs.root = in;
        costs.send = costs.receive = nic;
        costs.forward_us = process;
        costs.deliver = out;
        if (!separate)
            costs.root.us += process;
        break;
    default: /* the host chooses, so what is sent on goes up to it and down again */
        costs.send = nic;
        costs.receive = both(nic, out);
        costs.forward_us = process + in.us + in.us_per_byte * run->bytes;
        if (separate)
            costs.send = both(costs.send, in);
        else
            costs.root = in;
        break;
    }
    if (separate)
        costs.send.us += process;
    return costs;
}

/* To the switch, and from it. */
static bool next_hop(const void *network, struct ic_hop *hop)
{
    (void)network;
    hop->link = hop->hops == 0 ? 2 * hop->from : 2 * hop->to + 1;
    hop->latency_us = hop->hops == 0 ? IC_MYRINET_PROPAGATION_US
                                     : IC_MYRINET_SWITCH_US + IC_MYRINET_PROPAGATION_US;
    return hop->hops < 2;
}

gmc_status ic_star_simulate(const struct ic_star_run *run, struct ic_multicast_times *times,
                            double *link_us, char *error)
{
    struct ic_schedule schedule;
    gmc_status status = ic_star_multicast(run->members, run->algorithm, &schedule, error);
    if (status != GMC_OK)
        return status;
    const struct ic_multicast multicast = {
        .schedule = &schedule,
        .costs = costs_of(run),
        .bytes = run->bytes,
        .packet_bytes = run->packet_bytes,
        .by_turns = run->by_turns,
        .links = 2 * run->members,
        .next_hop = next_hop,
        .on_message = run->on_message,
        .ctx = run->ctx,
    };
    status = ic_multicast_run(&multicast, times, link_us, error);
    ic_schedule_fini(&schedule);
    return status;
}
