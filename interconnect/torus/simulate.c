/* SPDX-License-Identifier: BSD-2-Clause */
/* What a multicast costs on SCI, and the way of a packet. */
#include "interconnect/torus/simulate.h"

#include "interconnect/torus/latency.h"

static struct ic_multicast_costs costs_of(enum ic_torus_algorithm algorithm)
{
    double per_byte = ic_sci_overhead_us(1) - ic_sci_overhead_us(0);
    double process = ic_sci_process_us(algorithm);
    struct ic_multicast_costs costs = {
        .send = {ic_sci_overhead_us(0), per_byte},
        .receive = {ic_sci_overhead_us(0), per_byte},
        .link_us_per_byte = 8 / (IC_SCI_LINK_GBPS * 1000),
    };
    if (algorithm == IC_TORUS_SEPARATE)
        costs.send.us += process;
    else
        costs.forward_us = process;
    return costs;
}

/* `at` is the node that it has reached, `last` the dimension by which it came. */
static bool next_hop(const void *network, struct ic_hop *hop)
{
    const struct ic_torus_run *run = network;
    const struct ic_torus *torus = run->torus;
    uint32_t node = hop->hops == 0 ? run->group->nodes[hop->from] : hop->at;
    uint32_t dimension;
    if (node == run->group->nodes[hop->to])
        return false;
    hop->at = ic_torus_step(torus, run->routing, node, run->group->nodes[hop->to], &dimension);
    hop->link = node * torus->dimensions + dimension;
    hop->latency_us = IC_SCI_PROPAGATION_US;
    if (hop->hops > 0)
        hop->latency_us += dimension == hop->last ? IC_SCI_FORWARD_US : IC_SCI_SWITCH_US;
    hop->last = dimension;
    return true;
}

gmc_status ic_torus_simulate(const struct ic_torus_run *run, struct ic_multicast_times *times,
                             double *link_us, char *error)
{
    struct ic_schedule schedule = {0};
    gmc_status status =
        (run->joins_rest ? ic_torus_multicast_joined : ic_torus_multicast)(run->torus, run->group,
                                                                           run->algorithm, run->r,
                                                                           &schedule, error);
    if (status != GMC_OK)
        return status;
    const struct ic_multicast multicast = {
        .schedule = &schedule,
        .costs = costs_of(run->algorithm),
        .bytes = run->bytes,
        .packet_bytes = run->packet_bytes,
        .by_turns = run->by_turns,
        .links = run->torus->nodes * run->torus->dimensions,
        .next_hop = next_hop,
        .network = run,
        .on_message = run->on_message,
        .ctx = run->ctx,
    };
    status = ic_multicast_run(&multicast, times, link_us, error);
    ic_schedule_fini(&schedule);
    return status;
}
