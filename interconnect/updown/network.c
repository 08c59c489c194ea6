/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks, legal ways, and channels in the order that the engine asks for. */
#include "interconnect/updown/network.h"

#include <stdlib.h>

const char *const ic_updown_routing_names[IC_UPDOWN_ROUTINGS + 1] = {"adaptive", "fixed", NULL};

/* ---- functions of the network ---- */
static uint32_t enter(const void *ctx, const struct ic_wh_flow *flow)
{
    (void)ctx;
    return flow->stage == 0 ? flow->from : IC_WH_NONE;
}

/* Points are queues, then routers. */
static uint32_t route(const void *ctx, uint32_t at, uint32_t came, const struct ic_wh_flow *flow,
                      uint32_t *candidates)
{
    const struct ic_updown *updown = ctx;
    uint32_t nodes = updown->nodes, links = updown->first[nodes], count = 0;
    if (at < nodes) {
        candidates[0] = nodes + links + at;
        return 1;
    }
    uint32_t node = at - nodes;
    if (node == flow->to) {
        candidates[0] = node | IC_WH_LAST;
        return 1;
    }
    uint64_t ports = ic_updown_ports(updown, node, flow->to, came < nodes + links / 2);
    if (updown->routing == IC_UPDOWN_FIXED)
        ports &= ~ports + 1;
    for (; ports != 0; ports &= ports - 1)
        candidates[count++] = updown->links[updown->first[node] + (uint32_t)__builtin_ctzll(ports)];
    return count;
}

static uint32_t label(const void *ctx, uint32_t point)
{
    const struct ic_updown *updown = ctx;
    return point % updown->nodes;
}

static void free_updown(void *ctx)
{
    struct ic_updown *updown = ctx;
    if (updown == NULL)
        return;
    free(updown->first);
    free(updown->ends);
    free(updown->links);
    free(updown->rank);
    free(updown->ranked);
    free(updown->masks);
    free(updown);
}

/* ---- ranks ---- */
static uint32_t find_root(const struct ic_graph *graph)
{
    uint32_t root = 0;
    for (uint32_t i = 1; i < graph->nodes; i++)
        if (ic_graph_degree(graph, i) > ic_graph_degree(graph, root))
            root = i;
    return root;
}

static gmc_status rank_nodes(struct ic_updown *updown, const struct ic_graph *graph, uint32_t *hops,
                             char *error)
{
    uint32_t found = ic_graph_search(graph, find_root(graph), hops, NULL, updown->ranked);
    if (found < graph->nodes)
        return ic_refuse(error, "the network is not connected: %u of %u nodes can be reached",
                         found, graph->nodes);
    for (uint32_t i = 0; i < graph->nodes; i++)
        updown->rank[updown->ranked[i]] = i;
    return GMC_OK;
}

/* ---- legal ways ---- */
static void note_port(struct ic_updown *updown, uint32_t at, uint32_t to, bool came_down,
                      uint32_t port)
{
    updown->masks[((size_t)to * updown->nodes + at) * 2 + came_down] |=
        UINT64_C(1) << (port - updown->first[at]);
}

/* Hops to a node down all the way, NONE where there is no such way: from high ranks, where ways
 * down end, to low ones. */
static void find_down(const struct ic_updown *updown, uint32_t to, uint32_t *down)
{
    for (uint32_t i = updown->nodes; i-- > 0;) {
        uint32_t at = updown->ranked[i];
        down[at] = at == to ? 0 : IC_GRAPH_NONE;
        for (uint32_t p = updown->first[at]; p < updown->first[at + 1] && at != to; p++) {
            uint32_t next = updown->ends[p];
            if (!ic_updown_is_up(updown, at, next) && down[next] != IC_GRAPH_NONE &&
                down[next] + 1 < down[at])
                down[at] = down[next] + 1;
        }
    }
}

/* Hops by any legal way: down at once, or up first; ranks fall on the way up. */
static void find_any(const struct ic_updown *updown, const uint32_t *down, uint32_t *any)
{
    for (uint32_t i = 0; i < updown->nodes; i++) {
        uint32_t at = updown->ranked[i];
        any[at] = down[at];
        for (uint32_t p = updown->first[at]; p < updown->first[at + 1]; p++) {
            uint32_t next = updown->ends[p];
            if (ic_updown_is_up(updown, at, next) && any[next] + 1 < any[at])
                any[at] = any[next] + 1;
        }
    }
}

static void note_ways(struct ic_updown *updown, uint32_t to, const uint32_t *down,
                      const uint32_t *any)
{
    for (uint32_t at = 0; at < updown->nodes; at++) {
        if (at == to)
            continue;
        for (uint32_t p = updown->first[at]; p < updown->first[at + 1]; p++) {
            uint32_t next = updown->ends[p];
            bool is_up = ic_updown_is_up(updown, at, next);
            uint32_t rest = is_up ? any[next] : down[next];
            if (rest == IC_GRAPH_NONE)
                continue;
            if (rest + 1 == any[at])
                note_port(updown, at, to, false, p);
            if (!is_up && rest + 1 == down[at])
                note_port(updown, at, to, true, p);
        }
    }
}

static void find_ways(struct ic_updown *updown, uint32_t *down, uint32_t *any)
{
    double pairs = (double)updown->nodes * (updown->nodes - 1), sum = 0;
    for (uint32_t to = 0; to < updown->nodes; to++) {
        find_down(updown, to, down);
        find_any(updown, down, any);
        note_ways(updown, to, down, any);
        for (uint32_t at = 0; at < updown->nodes; at++) {
            sum += any[at];
            if (any[at] > updown->most_hops)
                updown->most_hops = any[at];
        }
    }
    updown->mean_hops = sum / pairs;
}

/* ---- channels ---- */
static void add(struct ic_wh_network *network, uint32_t from, uint32_t to)
{
    network->from[network->channels] = from;
    network->to[network->channels++] = to;
}

static void add_links(struct ic_wh_network *network, struct ic_updown *updown, uint32_t rank,
                      bool up)
{
    uint32_t nodes = updown->nodes, at = updown->ranked[rank];
    for (uint32_t p = updown->first[at]; p < updown->first[at + 1]; p++)
        if (ic_updown_is_up(updown, at, updown->ends[p]) == up) {
            updown->links[p] = network->channels;
            add(network, nodes + at, nodes + updown->ends[p]);
        }
}

/* Ends of ways first: down to high ranks, then up to low ones. */
static void add_channels(struct ic_wh_network *network, struct ic_updown *updown)
{
    uint32_t nodes = updown->nodes;
    for (uint32_t i = 0; i < nodes; i++)
        add(network, nodes + i, IC_WH_NONE);
    for (uint32_t i = nodes; i-- > 0;)
        add_links(network, updown, i, false);
    for (uint32_t i = 0; i < nodes; i++)
        add_links(network, updown, i, true);
    for (uint32_t i = 0; i < nodes; i++)
        add(network, i, nodes + i);
}

static gmc_status check(const struct ic_graph *graph, char *error)
{
    gmc_status status = ic_check_range("the number of nodes, for up* / down* routing,",
                                       graph->nodes, 2, IC_UPDOWN_NODES_MAX, error);
    for (uint32_t i = 0; i < graph->nodes && status == GMC_OK; i++)
        if (ic_graph_degree(graph, i) > IC_UPDOWN_PORTS_MAX)
            status = ic_refuse(error, "node %u has %u links; up to %u can be simulated", i,
                               ic_graph_degree(graph, i), IC_UPDOWN_PORTS_MAX);
    return status;
}

static struct ic_updown *new_updown(const struct ic_graph *graph, enum ic_updown_routing routing)
{
    size_t nodes = graph->nodes, ports = 2 * graph->links;
    struct ic_updown *updown = calloc(1, sizeof(*updown));
    if (updown == NULL)
        return NULL;
    *updown = (struct ic_updown){
        .nodes = graph->nodes,
        .routing = routing,
        .first = malloc((nodes + 1) * sizeof(uint32_t)),
        .ends = malloc((ports + 1) * sizeof(uint32_t)),
        .links = malloc((ports + 1) * sizeof(uint32_t)),
        .rank = malloc(nodes * sizeof(uint32_t)),
        .ranked = malloc(nodes * sizeof(uint32_t)),
        .masks = calloc(nodes * nodes, 2 * sizeof(uint64_t)),
    };
    if (updown->first == NULL || updown->ends == NULL || updown->links == NULL ||
        updown->rank == NULL || updown->ranked == NULL || updown->masks == NULL) {
        free_updown(updown);
        return NULL;
    }
    for (size_t i = 0; i <= nodes; i++)
        updown->first[i] = graph->first[i];
    for (size_t i = 0; i < ports; i++)
        updown->ends[i] = graph->neighbours[i];
    return updown;
}

/* ranks, then ways, which need room for hops twice. */
static gmc_status fill(struct ic_wh_network *network, struct ic_updown *updown,
                       const struct ic_graph *graph, char *error)
{
    uint32_t *hops = malloc(2 * graph->nodes * sizeof(*hops));
    if (hops == NULL || network->from == NULL || network->to == NULL) {
        free(hops);
        return GMC_ERR_NOMEM;
    }
    gmc_status status = rank_nodes(updown, graph, hops, error);
    if (status == GMC_OK) {
        find_ways(updown, hops, hops + graph->nodes);
        add_channels(network, updown);
    }
    free(hops);
    return status;
}

gmc_status ic_updown_network(const struct ic_graph *graph, enum ic_updown_routing routing,
                             struct ic_wh_network *network, char *error)
{
    gmc_status status = check(graph, error);
    if (status != GMC_OK)
        return status;
    struct ic_updown *updown = new_updown(graph, routing);
    if (updown == NULL)
        return GMC_ERR_NOMEM;
    size_t channels = 2 * (size_t)graph->nodes + 2 * graph->links;
    *network = (struct ic_wh_network){.nodes = graph->nodes,
                                      .queues = graph->nodes,
                                      .points = 2 * graph->nodes,
                                      .from = malloc(channels * sizeof(uint32_t)),
                                      .to = malloc(channels * sizeof(uint32_t)),
                                      .ctx = updown,
                                      .enter = enter,
                                      .route = route,
                                      .label = label,
                                      .free = free_updown};
    status = fill(network, updown, graph, error);
    if (status != GMC_OK)
        ic_wh_network_fini(network);
    return status;
}
