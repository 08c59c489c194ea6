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
#define FAR (UINT32_MAX / 2) /* hops where there is no way */

/* Nodes by rank, and their ends by rank too: what is lower is up. */
struct ways {
    uint32_t *first, *ends;
    uint32_t *down, *any; /* hops to one node: down all the way; by any legal way */
};

static void order_ends(const struct ic_updown *updown, struct ways *ways)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < updown->nodes; i++) {
        uint32_t at = updown->ranked[i];
        ways->first[i] = count;
        for (uint32_t p = updown->first[at]; p < updown->first[at + 1]; p++)
            ways->ends[count++] = updown->rank[updown->ends[p]];
    }
    ways->first[updown->nodes] = count;
}

/* From high ranks, where ways down end, to low ones. */
static void find_down(struct ways *ways, uint32_t nodes, uint32_t to)
{
    for (uint32_t i = nodes; i-- > 0;) {
        uint32_t least = i == to ? 0 : FAR;
        for (uint32_t p = ways->first[i]; p < ways->first[i + 1]; p++) {
            uint32_t next = ways->ends[p], hops = next > i ? ways->down[next] + 1 : FAR;
            least = hops < least ? hops : least;
        }
        ways->down[i] = least;
    }
}

/* Down at once, or up first; ranks fall on the way up. */
static void find_any(struct ways *ways, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t least = ways->down[i];
        for (uint32_t p = ways->first[i]; p < ways->first[i + 1]; p++) {
            uint32_t next = ways->ends[p], hops = next < i ? ways->any[next] + 1 : FAR;
            least = hops < least ? hops : least;
        }
        ways->any[i] = least;
    }
}

static void note_ways(struct ic_updown *updown, const struct ways *ways, uint32_t to)
{
    uint64_t *masks = updown->masks + (size_t)updown->ranked[to] * updown->nodes * 2;
    for (uint32_t i = 0; i < updown->nodes; i++) {
        uint64_t ports = 0, ports_down = 0, bit = 1;
        if (i == to)
            continue;
        for (uint32_t p = ways->first[i]; p < ways->first[i + 1]; p++, bit <<= 1) {
            uint32_t next = ways->ends[p];
            uint32_t hops = (next < i ? ways->any : ways->down)[next] + 1;
            ports |= hops == ways->any[i] ? bit : 0;
            ports_down |= next > i && hops == ways->down[i] ? bit : 0;
        }
        masks[2 * (size_t)updown->ranked[i]] = ports;
        masks[2 * (size_t)updown->ranked[i] + 1] = ports_down;
    }
}

static void find_all_ways(struct ic_updown *updown, struct ways *ways)
{
    double pairs = (double)updown->nodes * (updown->nodes - 1), sum = 0;
    order_ends(updown, ways);
    for (uint32_t to = 0; to < updown->nodes; to++) {
        find_down(ways, updown->nodes, to);
        find_any(ways, updown->nodes);
        note_ways(updown, ways, to);
        for (uint32_t i = 0; i < updown->nodes; i++) {
            sum += ways->any[i];
            if (ways->any[i] > updown->most_hops)
                updown->most_hops = ways->any[i];
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
    };
    if (updown->first == NULL || updown->ends == NULL || updown->links == NULL ||
        updown->rank == NULL || updown->ranked == NULL) {
        free_updown(updown);
        return NULL;
    }
    for (size_t i = 0; i <= nodes; i++)
        updown->first[i] = graph->first[i];
    for (size_t i = 0; i < ports; i++)
        updown->ends[i] = graph->neighbours[i];
    return updown;
}

static gmc_status fill(struct ic_wh_network *network, struct ic_updown *updown,
                       const struct ic_graph *graph, char *error)
{
    uint32_t *hops = malloc(graph->nodes * sizeof(*hops));
    if (hops == NULL || network->from == NULL || network->to == NULL) {
        free(hops);
        return GMC_ERR_NOMEM;
    }
    gmc_status status = rank_nodes(updown, graph, hops, error);
    if (status == GMC_OK)
        add_channels(network, updown);
    free(hops);
    return status;
}

gmc_status ic_updown_find_ways(struct ic_wh_network *network)
{
    struct ic_updown *updown = network->ctx;
    size_t nodes = updown->nodes, ports = updown->first[nodes];
    uint32_t *room = malloc((3 * nodes + 1 + ports) * sizeof(*room));
    updown->masks = calloc(nodes * nodes, 2 * sizeof(uint64_t));
    if (room == NULL || updown->masks == NULL) {
        free(room);
        return GMC_ERR_NOMEM;
    }
    struct ways ways = {.down = room,
                        .any = room + nodes,
                        .first = room + 2 * nodes,
                        .ends = room + 3 * nodes + 1};
    find_all_ways(updown, &ways);
    free(room);
    return GMC_OK;
}

gmc_status ic_updown_channels(const struct ic_graph *graph, enum ic_updown_routing routing,
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

gmc_status ic_updown_network(const struct ic_graph *graph, enum ic_updown_routing routing,
                             struct ic_wh_network *network, char *error)
{
    gmc_status status = ic_updown_channels(graph, routing, network, error);
    if (status != GMC_OK)
        return status;
    status = ic_updown_find_ways(network);
    if (status != GMC_OK)
        ic_wh_network_fini(network);
    return status;
}
