/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures; see measure.h. */
#include "sim-wan/topo/measure.h"

#include <stdlib.h>

#include "sim-wan/mem.h"
#include "sim-wan/topo/graph.h"

/* Nodes times links up to which every node is a starting point: a second or two. */
#define EXACT_WORK_MAX UINT64_C(30000000)
/* Starting points otherwise, each the farthest from the one before. */
#define SWEEPS 6

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static struct sim_topo_range range_of(uint64_t *values, size_t count)
{
    if (count == 0)
        return (struct sim_topo_range){0};
    qsort(values, count, sizeof(*values), by_number);
    return (struct sim_topo_range){values[0], values[count / 2], values[count - 1]};
}

static void measure_links(const struct sim_topo *topo, struct sim_topo_measures *measures)
{
    uint64_t *rates = sim_alloc(2 * topo->link_count * sizeof(*rates));
    uint64_t *delays = sim_alloc(2 * topo->link_count * sizeof(*delays));
    for (size_t i = 0; i < topo->link_count; i++) {
        rates[2 * i] = topo->links[i].a_to_b.rate_bps;
        rates[2 * i + 1] = topo->links[i].b_to_a.rate_bps;
        delays[2 * i] = topo->links[i].a_to_b.delay;
        delays[2 * i + 1] = topo->links[i].b_to_a.delay;
    }
    measures->rate_bps = range_of(rates, 2 * topo->link_count);
    measures->delay = range_of(delays, 2 * topo->link_count);
    free(rates);
    free(delays);
}

static void measure_nodes(const struct sim_topo *topo, const struct sim_graph *graph,
                          struct sim_topo_measures *measures)
{
    uint64_t *degrees = sim_alloc(topo->node_count * sizeof(*degrees));
    for (uint32_t i = 0; i < topo->node_count; i++) {
        degrees[i] = sim_graph_degree(graph, i);
        measures->gateways += topo->nodes[i].has_gateway;
    }
    measures->degree = range_of(degrees, topo->node_count);
    free(degrees);
}

/* Takes one starting point into account; the farthest nodes from it, by hops and by delay. */
struct sweep {
    const struct sim_graph *graph;
    uint32_t *hops, *order, *parents;
    gmc_duration *delays;
    uint32_t far_hops, far_delay;
};

static void sweep_hops(struct sweep *sweep, uint32_t from, struct sim_topo_measures *measures)
{
    sim_graph_hops(sweep->graph, from, sweep->hops, sweep->order, sweep->parents);
    sweep->far_hops = sweep->order[sweep->graph->node_count - 1];
    if (sweep->hops[sweep->far_hops] > measures->diameter_hops)
        measures->diameter_hops = sweep->hops[sweep->far_hops];
}

static void sweep_delays(struct sweep *sweep, uint32_t from, struct sim_topo_measures *measures)
{
    sim_graph_delays(sweep->graph, from, sweep->delays);
    sweep->far_delay = from;
    for (uint32_t i = 0; i < sweep->graph->node_count; i++)
        if (sweep->delays[i] > sweep->delays[sweep->far_delay])
            sweep->far_delay = i;
    if (sweep->delays[sweep->far_delay] > measures->diameter_delay)
        measures->diameter_delay = sweep->delays[sweep->far_delay];
}

static void measure_ways(const struct sim_topo *topo, const struct sim_graph *graph,
                         struct sim_topo_measures *measures)
{
    uint32_t n = graph->node_count;
    struct sweep sweep = {.graph = graph};
    sweep.hops = sim_alloc(n * sizeof(*sweep.hops));
    sweep.order = sim_alloc(n * sizeof(*sweep.order));
    sweep.parents = sim_alloc(n * sizeof(*sweep.parents));
    sweep.delays = sim_alloc(n * sizeof(*sweep.delays));
    measures->is_exact = (uint64_t)n * (topo->link_count + n) <= EXACT_WORK_MAX;
    for (uint32_t i = 0; i < (measures->is_exact ? n : SWEEPS); i++) {
        sweep_hops(&sweep, measures->is_exact ? i : sweep.far_hops, measures);
        sweep_delays(&sweep, measures->is_exact ? i : sweep.far_delay, measures);
    }
    free(sweep.hops);
    free(sweep.order);
    free(sweep.parents);
    free(sweep.delays);
}

void sim_topo_measure(const struct sim_topo *topo, struct sim_topo_measures *measures)
{
    struct sim_graph graph;
    *measures = (struct sim_topo_measures){0};
    sim_graph_init(&graph, topo);
    measure_links(topo, measures);
    measure_nodes(topo, &graph, measures);
    measure_ways(topo, &graph, measures);
    sim_graph_fini(&graph);
}
