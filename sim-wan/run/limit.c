/* SPDX-License-Identifier: BSD-2-Clause */
/* The physical bound of a transfer; see drive.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/drive.h"

#define UNBOUNDED (UINT64_MAX / 4) /* bits per second; sums of a few still fit */
#define ALL_PPM 1000000u
#define NO_ARC UINT32_MAX

/* Arc 2i is link i from a to b, arc 2i + 1 from b to a: each is the other's return. */
struct flow_net {
    const struct sim_topo *topo;
    uint64_t *capacity; /* of the wire */
    uint64_t *left;     /* that a flow has not used */
    uint32_t *first;    /* arcs of node i: arcs[first[i]] .. arcs[first[i + 1] - 1] */
    uint32_t *arcs;
    uint32_t *level;   /* of a search: arcs from the source; NO_ARC: not found */
    uint32_t *next;    /* of node i: the first of its arcs that has not proved to be of no use */
    uint32_t *came_by; /* the arc by which a path comes to a node */
    uint32_t *queue;
};

static uint64_t wire_capacity(const struct sim_wire_config *wire)
{
    uint64_t passes = ALL_PPM - sim_wire_loss_ppm(wire);
    if (wire->rate_bps == 0)
        return UNBOUNDED;
    return wire->rate_bps / ALL_PPM * passes + wire->rate_bps % ALL_PPM * passes / ALL_PPM;
}

static uint32_t tail_of(const struct flow_net *net, uint32_t arc)
{
    const struct sim_topo_link *link = &net->topo->links[arc / 2];
    return arc % 2 == 0 ? link->a : link->b;
}

static void put_capacities(struct flow_net *net, const struct sim_plan *plan)
{
    for (size_t i = 0; i < plan->topo.link_count; i++) {
        net->capacity[2 * i] = wire_capacity(&plan->topo.links[i].a_to_b);
        net->capacity[2 * i + 1] = wire_capacity(&plan->topo.links[i].b_to_a);
    }
    for (size_t i = 0; i < plan->fault_count; i++) {
        const struct sim_fault *fault = &plan->faults[i];
        for (int way = 0; fault->kind == SIM_FAULT_WIRE && way < 2; way++) {
            if (!sim_fault_is_on_way(fault, way))
                continue;
            uint64_t changed = wire_capacity(&fault->lanes[way]);
            uint64_t *best = &net->capacity[2 * fault->wire + (uint32_t)way];
            *best = changed > *best ? changed : *best;
        }
    }
}

static void put_arcs(struct flow_net *net)
{
    size_t nodes = net->topo->node_count, arcs = 2 * net->topo->link_count;
    for (uint32_t arc = 0; arc < arcs; arc++)
        net->first[tail_of(net, arc) + 1]++;
    for (size_t i = 0; i < nodes; i++)
        net->first[i + 1] += net->first[i];
    uint32_t *next = sim_alloc((nodes + 1) * sizeof(*next));
    memcpy(next, net->first, nodes * sizeof(*next));
    for (uint32_t arc = 0; arc < arcs; arc++)
        net->arcs[next[tail_of(net, arc)]++] = arc;
    free(next);
}

static void flow_init(struct flow_net *net, const struct sim_plan *plan)
{
    size_t nodes = plan->topo.node_count, arcs = 2 * plan->topo.link_count;
    *net = (struct flow_net){.topo = &plan->topo};
    net->capacity = sim_calloc(arcs, sizeof(*net->capacity));
    net->left = sim_calloc(arcs, sizeof(*net->left));
    net->first = sim_calloc(nodes + 1, sizeof(*net->first));
    net->arcs = sim_calloc(arcs, sizeof(*net->arcs));
    net->level = sim_calloc(nodes, sizeof(*net->level));
    net->next = sim_calloc(nodes, sizeof(*net->next));
    net->came_by = sim_calloc(nodes, sizeof(*net->came_by));
    net->queue = sim_calloc(nodes, sizeof(*net->queue));
    put_capacities(net, plan);
    put_arcs(net);
}

static void flow_fini(struct flow_net *net)
{
    free(net->capacity);
    free(net->left);
    free(net->first);
    free(net->arcs);
    free(net->level);
    free(net->next);
    free(net->came_by);
    free(net->queue);
}

/* How many arcs on which something is left it takes to each node; whether one way leads to `to`. */
static bool search(struct flow_net *net, uint32_t from, uint32_t to)
{
    size_t head = 0, tail = 0;
    memset(net->level, 0xff, net->topo->node_count * sizeof(*net->level));
    net->level[from] = 0;
    net->queue[tail++] = from;
    while (head < tail && net->level[to] == NO_ARC) {
        uint32_t node = net->queue[head++];
        for (uint32_t i = net->first[node]; i < net->first[node + 1]; i++) {
            uint32_t arc = net->arcs[i], next = tail_of(net, arc ^ 1);
            if (net->left[arc] == 0 || net->level[next] != NO_ARC)
                continue;
            net->level[next] = net->level[node] + 1;
            net->queue[tail++] = next;
        }
    }
    return net->level[to] != NO_ARC;
}

/* Sends what the path that was found can take. */
static uint64_t push(struct flow_net *net, uint32_t from, uint32_t to)
{
    uint64_t amount = UNBOUNDED;
    for (uint32_t node = to; node != from; node = tail_of(net, net->came_by[node]))
        amount = net->left[net->came_by[node]] < amount ? net->left[net->came_by[node]] : amount;
    for (uint32_t node = to; node != from; node = tail_of(net, net->came_by[node])) {
        uint32_t arc = net->came_by[node];
        net->left[arc] -= amount;
        net->left[arc ^ 1] += amount;
    }
    return amount;
}

/* An arc by which a shortest path may go on; NO_ARC: none. */
static uint32_t step(struct flow_net *net, uint32_t node)
{
    for (uint32_t *i = &net->next[node]; *i < net->first[node + 1]; ++*i) {
        uint32_t arc = net->arcs[*i];
        if (net->left[arc] > 0 && net->level[tail_of(net, arc ^ 1)] == net->level[node] + 1)
            return arc;
    }
    return NO_ARC;
}

/* Fills the shortest paths, until each of them is full or `enough` has gone. */
static uint64_t fill(struct flow_net *net, uint32_t from, uint32_t to, uint64_t enough)
{
    uint64_t flow = 0;
    uint32_t node = from;
    memcpy(net->next, net->first, net->topo->node_count * sizeof(*net->next));
    while (flow < enough) {
        uint32_t arc = step(net, node);
        if (arc != NO_ARC) {
            node = tail_of(net, arc ^ 1);
            net->came_by[node] = arc;
        } else if (node == from) {
            break;
        } else { /* nothing gets on from here */
            node = tail_of(net, net->came_by[node]);
            net->next[node]++;
        }
        if (node == to) {
            flow += push(net, from, to);
            node = from;
        }
    }
    return flow;
}

/* The greatest flow; not more than `enough` is looked for. Dense networks of hundreds of nodes have
 * as many paths between two of them: those of one length are filled in one go.
 *
 * Source  Dinic, Soviet Math. Doklady 11 (1970) */
static uint64_t max_flow(struct flow_net *net, uint32_t from, uint32_t to, uint64_t enough)
{
    uint64_t flow = 0;
    memcpy(net->left, net->capacity, 2 * net->topo->link_count * sizeof(*net->left));
    while (flow < enough && search(net, from, to))
        flow += fill(net, from, to, enough - flow);
    return flow < enough ? flow : enough;
}

double sim_run_limit(const struct sim_plan *plan, const struct sim_plan_transfer *transfer)
{
    struct flow_net net;
    uint64_t least = UNBOUNDED;
    flow_init(&net, plan);
    for (size_t i = 0; i < transfer->target_count; i++)
        least = max_flow(&net, transfer->source, transfer->targets[i], least);
    flow_fini(&net);
    if (least == UNBOUNDED || transfer->bytes == 0)
        return 0;
    return least > 0 ? (double)transfer->bytes * 8 / (double)least : INFINITY;
}
