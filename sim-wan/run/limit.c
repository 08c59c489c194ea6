/* SPDX-License-Identifier: BSD-2-Clause */
/* The physical bound of transfers; see limit.h. */
#include "sim-wan/run/limit.h"

#include <math.h>
#include <stdlib.h>

#include "sim-wan/mem.h"

#define ALL_PPM 1000000u

/* ---- wires ---- */
static uint64_t wire_capacity(const struct sim_wire_config *wire)
{
    uint64_t passes = ALL_PPM - sim_wire_loss_ppm(wire);
    if (wire->rate_bps == 0)
        return passes > 0 ? SIM_FLOW_UNBOUNDED : 0;
    return wire->rate_bps / ALL_PPM * passes + wire->rate_bps % ALL_PPM * passes / ALL_PPM;
}

/* Of wire * 2 + direction. */
static uint64_t *find_capacities(const struct sim_plan *plan)
{
    uint64_t *capacity = sim_calloc(2 * plan->topo.link_count, sizeof(*capacity));
    for (size_t i = 0; i < plan->topo.link_count; i++) {
        capacity[2 * i] = wire_capacity(&plan->topo.links[i].a_to_b);
        capacity[2 * i + 1] = wire_capacity(&plan->topo.links[i].b_to_a);
    }
    for (size_t i = 0; i < plan->fault_count; i++) {
        const struct sim_fault *fault = &plan->faults[i];
        for (int way = 0; fault->kind == SIM_FAULT_WIRE && way < 2; way++) {
            if (!sim_fault_is_on_way(fault, way))
                continue;
            uint64_t changed = wire_capacity(&fault->lanes[way]);
            uint64_t *best = &capacity[2 * fault->wire + (uint32_t)way];
            *best = changed > *best ? changed : *best;
        }
    }
    return capacity;
}

/* In a tree there is one way between two nodes, and routes need not be found. */
static void drop_unused(const struct sim_topo *topo, struct sim_net *net, uint64_t *capacity)
{
    if (topo->link_count < topo->node_count)
        return;
    bool *talks = sim_calloc(topo->node_count, sizeof(*talks));
    bool *used = sim_calloc(2 * topo->link_count, sizeof(*used));
    for (size_t i = 0; i < topo->node_count; i++)
        talks[i] = topo->nodes[i].has_gateway;
    for (uint32_t i = 0; i < topo->node_count; i++)
        if (talks[i])
            sim_net_lanes_to(net, i, talks, used);
    for (size_t lane = 0; lane < 2 * topo->link_count; lane++)
        capacity[lane] = used[lane] ? capacity[lane] : 0;
    free(talks);
    free(used);
}

/* ---- networks of capacities ---- */
static void put_once(struct sim_limits *limits, const uint64_t *capacity)
{
    const struct sim_topo *topo = &limits->plan->topo;
    uint32_t nodes = (uint32_t)topo->node_count, targets = nodes;
    sim_flow_init(&limits->once, nodes + 1);
    for (size_t i = 0; i < topo->link_count; i++)
        sim_flow_add(&limits->once, topo->links[i].a, topo->links[i].b, capacity[2 * i],
                     capacity[2 * i + 1]);
    for (uint32_t i = 0; i < nodes; i++)
        limits->ends_once[i] = sim_flow_add(&limits->once, i, targets, 0, 0);
}

/* What leaves a gateway comes from all of them; what arrives there ends there. */
static void put_copies(struct sim_limits *limits, const uint64_t *capacity)
{
    const struct sim_topo *topo = &limits->plan->topo;
    uint32_t nodes = (uint32_t)topo->node_count, gateways = nodes, targets = nodes + 1;
    sim_flow_init(&limits->copies, nodes + 2);
    for (size_t i = 0; i < topo->link_count; i++) {
        uint32_t a = topo->links[i].a, b = topo->links[i].b;
        sim_flow_add(&limits->copies, topo->nodes[a].has_gateway ? gateways : a, b, capacity[2 * i],
                     0);
        sim_flow_add(&limits->copies, topo->nodes[b].has_gateway ? gateways : b, a,
                     capacity[2 * i + 1], 0);
    }
    for (uint32_t i = 0; i < nodes; i++)
        limits->ends_copies[i] = sim_flow_add(&limits->copies, i, targets, 0, 0);
}

void sim_limits_init(struct sim_limits *limits, const struct sim_plan *plan, struct sim_net *net)
{
    uint64_t *capacity = find_capacities(plan);
    *limits = (struct sim_limits){.plan = plan};
    limits->ends_once = sim_calloc(plan->topo.node_count, sizeof(*limits->ends_once));
    limits->ends_copies = sim_calloc(plan->topo.node_count, sizeof(*limits->ends_copies));
    drop_unused(&plan->topo, net, capacity);
    put_once(limits, capacity);
    put_copies(limits, capacity);
    free(capacity);
}

void sim_limits_fini(struct sim_limits *limits)
{
    sim_flow_fini(&limits->once);
    sim_flow_fini(&limits->copies);
    free(limits->ends_once);
    free(limits->ends_copies);
}

/* ---- bounds ---- */
static double seconds_of(double bytes, uint64_t bps)
{
    if (bytes <= 0 || bps >= SIM_FLOW_UNBOUNDED)
        return 0;
    return bps > 0 ? bytes * 8 / (double)bps : INFINITY;
}

static double to_each(struct sim_limits *limits, const struct sim_plan_transfer *transfer)
{
    uint64_t least = SIM_FLOW_UNBOUNDED;
    for (size_t i = 0; i < transfer->target_count; i++)
        least = sim_flow_max(&limits->once, transfer->source, transfer->targets[i], least);
    return seconds_of((double)transfer->bytes, least);
}

/* All that a node sends as a source, to wherever it has to go. */
static double from_source(struct sim_limits *limits, uint32_t source)
{
    const struct sim_plan *plan = limits->plan;
    double bytes = 0;
    for (size_t i = 0; i < plan->transfer_count; i++)
        if (plan->transfers[i].source == source)
            bytes += (double)plan->transfers[i].bytes;
    if (bytes <= 0)
        return 0;
    for (uint32_t i = 0; i < plan->topo.node_count; i++)
        sim_flow_set(&limits->once, limits->ends_once[i], 0);
    for (size_t i = 0; i < plan->transfer_count; i++)
        if (plan->transfers[i].source == source)
            for (size_t k = 0; k < plan->transfers[i].target_count; k++)
                sim_flow_set(&limits->once, limits->ends_once[plan->transfers[i].targets[k]],
                             SIM_FLOW_UNBOUNDED);
    double seconds =
        seconds_of(bytes, sim_flow_max(&limits->once, source, (uint32_t)plan->topo.node_count,
                                       SIM_FLOW_UNBOUNDED));
    for (uint32_t i = 0; i < plan->topo.node_count; i++)
        sim_flow_set(&limits->once, limits->ends_once[i], 0);
    return seconds;
}

/* The time that the cut of the last flow takes, `sent` of it through ends that are cut too. */
static double time_of_cut(const struct sim_limits *limits, const double *bytes,
                          const uint64_t *rates, uint64_t sent)
{
    double behind = 0;
    for (uint32_t i = 0; i < limits->plan->topo.node_count; i++) {
        if (sim_flow_is_before_cut(&limits->copies, i))
            sent -= rates[i];
        else
            behind += bytes[i];
    }
    return seconds_of(behind, sent);
}

/* The time in which each node can get that many bytes from gateways, if it takes more than
 * `seconds`. Rates that are too great find a cut, the cut says how long it takes, and that gives
 * the next rates: each time is longer than that before, and there are only so many cuts. Whatever
 * is rounded, the time is that of a cut. */
static double with_copies(struct sim_limits *limits, const double *bytes, double seconds)
{
    uint32_t nodes = (uint32_t)limits->plan->topo.node_count;
    uint64_t *rates = sim_calloc(nodes, sizeof(*rates));
    while (seconds > 0 && isfinite(seconds)) {
        uint64_t wanted = 0;
        for (uint32_t i = 0; i < nodes; i++) {
            rates[i] = (uint64_t)fmin(bytes[i] * 8 / seconds, (double)SIM_FLOW_UNBOUNDED / nodes);
            wanted += rates[i];
            sim_flow_set(&limits->copies, limits->ends_copies[i], rates[i]);
        }
        uint64_t sent = sim_flow_max(&limits->copies, nodes, nodes + 1, wanted);
        double longer = sent < wanted ? time_of_cut(limits, bytes, rates, sent) : 0;
        if (longer <= seconds)
            break;
        seconds = longer;
    }
    free(rates);
    return seconds;
}

static void add_bytes(const struct sim_plan_transfer *transfer, double *bytes)
{
    for (size_t i = 0; i < transfer->target_count; i++)
        bytes[transfer->targets[i]] += (double)transfer->bytes;
}

double sim_limits_of(struct sim_limits *limits, const struct sim_plan_transfer *transfer)
{
    double *bytes = sim_calloc(limits->plan->topo.node_count, sizeof(*bytes));
    add_bytes(transfer, bytes);
    double seconds = with_copies(limits, bytes, to_each(limits, transfer));
    free(bytes);
    return seconds;
}

double sim_limits_of_all(struct sim_limits *limits)
{
    const struct sim_plan *plan = limits->plan;
    double *bytes = sim_calloc(plan->topo.node_count, sizeof(*bytes));
    bool *is_done = sim_calloc(plan->topo.node_count, sizeof(*is_done));
    double seconds = 0;
    for (size_t i = 0; i < plan->transfer_count; i++) {
        const struct sim_plan_transfer *transfer = &plan->transfers[i];
        add_bytes(transfer, bytes);
        seconds = fmax(seconds, to_each(limits, transfer));
        if (!is_done[transfer->source])
            seconds = fmax(seconds, from_source(limits, transfer->source));
        is_done[transfer->source] = true;
    }
    seconds = with_copies(limits, bytes, seconds);
    free(bytes);
    free(is_done);
    return seconds;
}
