/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels of the n-cube in the order that the engine asks for. */
#include "interconnect/hypercube/network.h"

#include <stdlib.h>

#include "interconnect/hypercube/pcube.h"

const char *const ic_hypercube_routing_names[IC_HYPERCUBE_ROUTINGS + 1] = {"pcube", "ecube", NULL};

/* Queues are 0..nodes-1, routers nodes..2 nodes-1. */
struct cube {
    uint32_t n, nodes;
    enum ic_hypercube_routing routing;
    bool has_ejection;
    uint32_t first_injection; /* ejection channels, if any, are from 0 on */
    uint32_t links[];         /* channel of node * n + dimension */
};

static uint32_t enter(const void *ctx, const struct ic_wh_flow *flow)
{
    (void)ctx;
    return flow->stage == 0 ? flow->from : IC_WH_NONE;
}

static uint32_t route(const void *ctx, uint32_t at, uint32_t came, const struct ic_wh_flow *flow,
                      uint32_t *candidates)
{
    (void)came;
    const struct cube *cube = ctx;
    bool is_queue = at < cube->nodes;
    uint32_t node = is_queue ? at : at - cube->nodes, count = 0;
    if (is_queue) {
        candidates[0] = cube->first_injection + node;
        if (!cube->has_ejection && node == flow->to)
            candidates[0] |= IC_WH_LAST;
        return 1;
    }
    if (node == flow->to) {
        candidates[0] = node | IC_WH_LAST;
        return 1;
    }
    uint32_t legal = cube->routing == IC_HYPERCUBE_PCUBE ? ic_pcube_dimensions(node, flow->to)
                                                         : (node ^ flow->to) & -(node ^ flow->to);
    for (; legal != 0; legal &= legal - 1) {
        uint32_t dimension = (uint32_t)__builtin_ctz(legal);
        bool is_last = !cube->has_ejection && (node ^ 1u << dimension) == flow->to;
        candidates[count++] = cube->links[node * cube->n + dimension] | (is_last ? IC_WH_LAST : 0);
    }
    return count;
}

static uint32_t label(const void *ctx, uint32_t point)
{
    const struct cube *cube = ctx;
    return point % cube->nodes;
}

static void add(struct ic_wh_network *network, uint32_t from, uint32_t to)
{
    network->from[network->channels] = from;
    network->to[network->channels++] = to;
}

static void add_link(struct ic_wh_network *network, struct cube *cube, uint32_t node,
                     uint32_t dimension)
{
    cube->links[node * cube->n + dimension] = network->channels;
    add(network, cube->nodes + node, cube->nodes + (node ^ 1u << dimension));
}

/* Ends of ways first. P-cube sets bits last, which leads to higher nodes, and clears them first,
 * which leads to lower ones. */
static void add_pcube_links(struct ic_wh_network *network, struct cube *cube)
{
    for (uint32_t node = cube->nodes; node-- > 0;)
        for (uint32_t dimension = 0; dimension < cube->n; dimension++)
            if ((node & 1u << dimension) == 0)
                add_link(network, cube, node, dimension);
    for (uint32_t node = 0; node < cube->nodes; node++)
        for (uint32_t dimension = 0; dimension < cube->n; dimension++)
            if ((node & 1u << dimension) != 0)
                add_link(network, cube, node, dimension);
}

static void add_ecube_links(struct ic_wh_network *network, struct cube *cube)
{
    for (uint32_t dimension = cube->n; dimension-- > 0;)
        for (uint32_t node = 0; node < cube->nodes; node++)
            add_link(network, cube, node, dimension);
}

static void build(struct ic_wh_network *network, struct cube *cube)
{
    for (uint32_t node = 0; node < cube->nodes && cube->has_ejection; node++)
        add(network, cube->nodes + node, IC_WH_NONE);
    if (cube->routing == IC_HYPERCUBE_PCUBE)
        add_pcube_links(network, cube);
    else
        add_ecube_links(network, cube);
    cube->first_injection = network->channels;
    for (uint32_t node = 0; node < cube->nodes; node++)
        add(network, node, cube->nodes + node);
}

gmc_status ic_hypercube_network(uint64_t n, enum ic_hypercube_routing routing, bool has_ejection,
                                struct ic_wh_network *network, char *error)
{
    gmc_status status = ic_check_range("n, dimensions,", n, 1, IC_HYPERCUBE_N_MAX, error);
    if (status != GMC_OK)
        return status;
    uint32_t nodes = 1u << n;
    size_t channels = nodes * (n + 2);
    struct cube *cube = malloc(sizeof(*cube) + nodes * n * sizeof(cube->links[0]));
    *network = (struct ic_wh_network){.nodes = nodes,
                                      .queues = nodes,
                                      .points = 2 * nodes,
                                      .from = malloc(channels * sizeof(uint32_t)),
                                      .to = malloc(channels * sizeof(uint32_t)),
                                      .ctx = cube,
                                      .enter = enter,
                                      .route = route,
                                      .label = label,
                                      .free = free};
    if (cube == NULL || network->from == NULL || network->to == NULL) {
        ic_wh_network_fini(network);
        return GMC_ERR_NOMEM;
    }
    *cube = (struct cube){.n = (uint32_t)n,
                          .nodes = nodes,
                          .routing = routing,
                          .has_ejection = has_ejection};
    build(network, cube);
    return GMC_OK;
}
