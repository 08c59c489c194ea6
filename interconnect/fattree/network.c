/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees put together to one network, and routes in them.
 *
 * A tree of n levels has a link for each node and level: link x of level 0 joins node x and its
 * first switch; link x of level h joins switch x/q of level h and its x mod q-th switch above.
 * Switch i of subtree s at level h, which is number s q^(h-1) + i of its level, reaches by port u
 * switch i + u q^(h-1) of the subtree above. Each link is two channels, up and down.
 *
 * Channels are numbered down before up, ECN1 and ICN1 outside of ICN2: as the engine asks, from the
 * ends of ways to their beginnings.
 */
#include "interconnect/fattree/network.h"

#include <stdlib.h>

#include "base/assert.h"

const char *const ic_fat_tree_routing_names[IC_FAT_TREE_ROUTINGS + 1] = {"adaptive", "random",
                                                                         "destination", NULL};

/* One tree in the network. */
struct part {
    struct ic_fat_tree tree;
    uint32_t queues;   /* first of its nodes' queues */
    uint32_t switches; /* first of its switches, leaves first */
    uint32_t down, up; /* first of its channels: level 0 first, and level n-1 first */
};

struct cluster {
    struct part intra, outer; /* ICN1, ECN1 */
    uint32_t first;           /* node */
};

struct forest {
    enum ic_fat_tree_routing routing;
    uint32_t nodes, clusters, switches; /* switches: first point that is one */
    struct part top;                    /* ICN2; with one cluster not there */
    struct cluster *all;
    uint32_t *cluster_of; /* by node */
};

static uint32_t power(uint32_t base, uint32_t exponent)
{
    uint32_t result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

/* ---- one tree ---- */
static uint32_t width(const struct part *part)
{
    return 2 * power(part->tree.half, part->tree.levels - 1);
}

static uint32_t switch_at(const struct part *part, uint32_t level, uint32_t index)
{
    return part->switches + (level - 1) * width(part) + index;
}

static uint32_t down_channel(const struct part *part, uint32_t level, uint32_t link)
{
    return part->down + level * part->tree.nodes + link;
}

static uint32_t up_channel(const struct part *part, uint32_t level, uint32_t link)
{
    return part->up + (part->tree.levels - 1 - level) * part->tree.nodes + link;
}

/* Subtree of a level that a node is in. */
static uint32_t subtree(const struct part *part, uint32_t level, uint32_t node)
{
    return level == part->tree.levels ? 0 : node / power(part->tree.half, level);
}

/* Down towards a node, from a switch that is above it. */
static uint32_t go_down(const struct part *part, uint32_t level, uint32_t index, uint32_t node,
                        uint32_t *candidates)
{
    uint32_t below = level - 1, link = node;
    if (below > 0) {
        uint32_t size = power(part->tree.half, below - 1); /* switches of a subtree below */
        uint32_t at = index % (size * part->tree.half);
        link = (subtree(part, below, node) * size + at % size) * part->tree.half + at / size;
    }
    candidates[0] = down_channel(part, below, link) | (below == 0 ? IC_WH_LAST : 0);
    return 1;
}

/* Up from a switch by the ports that the routing allows. */
static uint32_t go_up(const struct part *part, enum ic_fat_tree_routing routing, uint32_t level,
                      uint32_t index, uint32_t draw, uint32_t node, uint32_t *candidates)
{
    uint32_t half = part->tree.half, first = up_channel(part, level, index * half);
    if (routing == IC_FAT_TREE_ADAPTIVE) {
        for (uint32_t port = 0; port < half; port++)
            candidates[port] = first + port;
        return half;
    }
    uint32_t digits = routing == IC_FAT_TREE_RANDOM ? draw : node;
    candidates[0] = first + digits / power(half, level - 1) % half;
    return 1;
}

/* Level of a switch, and its place there. */
static uint32_t level_of(const struct part *part, uint32_t point, uint32_t *index)
{
    uint32_t at = point - part->switches;
    *index = at % width(part);
    return at / width(part) + 1;
}

/* From node to node of one tree. */
static uint32_t route_part(const struct part *part, enum ic_fat_tree_routing routing, uint32_t at,
                           uint32_t draw, uint32_t node, uint32_t *candidates)
{
    uint32_t index;
    if (at < part->switches) {
        candidates[0] = up_channel(part, 0, at - part->queues);
        return 1;
    }
    uint32_t level = level_of(part, at, &index);
    bool is_above = level == part->tree.levels ||
                    index / power(part->tree.half, level - 1) == subtree(part, level, node);
    if (is_above)
        return go_down(part, level, index, node, candidates);
    return go_up(part, routing, level, index, draw, node, candidates);
}

/* ---- parts that are climbed or descended only ---- */
/* A number that depends on a draw and a purpose. */
static uint32_t mix(uint32_t draw, uint32_t purpose)
{
    uint32_t x = draw + purpose * 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

/* j with the shares of route lengths. */
static uint32_t climb_of(const struct part *part, uint32_t draw)
{
    double unit = (double)draw * 0x1p-32;
    uint32_t j = 1;
    for (double sum = ic_fat_tree_share(&part->tree, 1); j < part->tree.levels && unit >= sum;)
        sum += ic_fat_tree_share(&part->tree, ++j);
    return j;
}

static uint32_t climb(const struct part *part, enum ic_fat_tree_routing routing, uint32_t at,
                      const struct ic_wh_flow *flow, uint32_t *candidates)
{
    uint32_t index, level = 0, count = 1, goal = climb_of(part, mix(flow->draw, 1));
    if (at < part->switches) {
        candidates[0] = up_channel(part, 0, at - part->queues);
    } else {
        level = level_of(part, at, &index);
        count = go_up(part, routing, level, index, mix(flow->draw, 3), flow->to, candidates);
    }
    for (uint32_t i = 0; i < count && level + 1 == goal; i++)
        candidates[i] |= IC_WH_LAST;
    return count;
}

/* A switch from which the node is reached by so many links as are drawn. */
static uint32_t descent(const struct part *part, uint32_t draw, uint32_t node)
{
    uint32_t level = climb_of(part, mix(draw, 2)), size = power(part->tree.half, level - 1);
    return switch_at(part, level, subtree(part, level, node) * size + mix(draw, 4) % size);
}

/* ---- the whole ---- */
static const struct cluster *cluster_of(const struct forest *forest, uint32_t node)
{
    return &forest->all[forest->cluster_of[node]];
}

static uint32_t enter(const void *ctx, const struct ic_wh_flow *flow)
{
    const struct forest *forest = ctx;
    const struct cluster *from = cluster_of(forest, flow->from), *to = cluster_of(forest, flow->to);
    if (from == to)
        return flow->stage == 0 ? from->intra.queues + flow->from - from->first : IC_WH_NONE;
    switch (flow->stage) {
    case 0:
        return from->outer.queues + flow->from - from->first;
    case 1:
        return forest->top.queues + forest->cluster_of[flow->from];
    case 2:
        return descent(&to->outer, flow->draw, flow->to - to->first);
    default:
        return IC_WH_NONE;
    }
}

static uint32_t route(const void *ctx, uint32_t at, uint32_t came, const struct ic_wh_flow *flow,
                      uint32_t *candidates)
{
    (void)came;
    const struct forest *forest = ctx;
    const struct cluster *from = cluster_of(forest, flow->from), *to = cluster_of(forest, flow->to);
    uint32_t index;
    if (from == to)
        return route_part(&from->intra, forest->routing, at, flow->draw, flow->to - to->first,
                          candidates);
    if (flow->stage == 0)
        return climb(&from->outer, forest->routing, at, flow, candidates);
    if (flow->stage == 1)
        return route_part(&forest->top, forest->routing, at, mix(flow->draw, 5),
                          forest->cluster_of[flow->to], candidates);
    uint32_t level = level_of(&to->outer, at, &index);
    return go_down(&to->outer, level, index, flow->to - to->first, candidates);
}

/* Nodes by their numbers, concentrators and switches after them. */
static uint32_t label(const void *ctx, uint32_t point)
{
    const struct forest *forest = ctx;
    return point < 2 * forest->nodes && forest->clusters > 1 ? point % forest->nodes : point;
}

static void forest_free(void *ctx)
{
    struct forest *forest = ctx;
    if (forest == NULL)
        return;
    free(forest->all);
    free(forest->cluster_of);
    free(forest);
}

/* ---- building ---- */
static void link_part(struct ic_wh_network *network, const struct part *part)
{
    const struct ic_fat_tree *tree = &part->tree;
    for (uint32_t node = 0; node < tree->nodes; node++) {
        uint32_t leaf = switch_at(part, 1, tree->levels == 1 ? 0 : node / tree->half);
        uint32_t up = up_channel(part, 0, node), down = down_channel(part, 0, node);
        network->from[up] = part->queues + node;
        network->to[up] = network->from[down] = leaf;
        network->to[down] = IC_WH_NONE;
    }
    for (uint32_t level = 1; level < tree->levels; level++)
        for (uint32_t link = 0; link < tree->nodes; link++) {
            uint32_t size = power(tree->half, level - 1), index = link / tree->half;
            uint32_t above = index % size + link % tree->half * size;
            if (level + 1 < tree->levels)
                above += index / size / tree->half * size * tree->half;
            uint32_t lower = switch_at(part, level, index),
                     upper = switch_at(part, level + 1, above);
            uint32_t up = up_channel(part, level, link), down = down_channel(part, level, link);
            network->from[up] = network->to[down] = lower;
            network->to[up] = network->from[down] = upper;
        }
}

/* Places of a tree's switches and channels, after those that are placed. */
struct places {
    uint32_t switches, down, up;
};

static void place(struct part *part, struct places *places)
{
    uint32_t channels = part->tree.levels * part->tree.nodes;
    part->switches = places->switches;
    part->down = places->down;
    part->up = places->up;
    places->switches += (uint32_t)part->tree.switches;
    places->down += channels;
    places->up += channels;
}

static uint32_t channels_of(const struct part *part)
{
    return part->tree.levels * part->tree.nodes;
}

/* Numbers for everything; from and to by them. Outside ICN2 the channels up come last. */
static void place_all(struct forest *forest, struct ic_wh_network *network)
{
    bool is_one = forest->clusters == 1;
    uint32_t outside = 0;
    for (uint32_t i = 0; i < forest->clusters; i++)
        outside += channels_of(&forest->all[i].intra) * (is_one ? 1 : 2);
    uint32_t top = is_one ? 0 : channels_of(&forest->top);
    struct places places = {network->queues, 0, outside + 2 * top};
    struct places middle = {0, outside, outside + top};
    for (uint32_t i = 0; i < forest->clusters; i++) {
        struct cluster *cluster = &forest->all[i];
        cluster->intra.queues = cluster->first;
        place(&cluster->intra, &places);
        if (!is_one) {
            cluster->outer.queues = forest->nodes + cluster->first;
            place(&cluster->outer, &places);
        }
    }
    middle.switches = places.switches;
    if (!is_one) {
        forest->top.queues = 2 * forest->nodes;
        place(&forest->top, &middle);
    }
    network->points = middle.switches;
    network->channels = 2 * (outside + top);
}

static gmc_status build(struct forest *forest, struct ic_wh_network *network)
{
    bool is_one = forest->clusters == 1;
    network->nodes = forest->nodes;
    network->queues = is_one ? forest->nodes : 2 * forest->nodes + forest->clusters;
    place_all(forest, network);
    network->from = malloc(network->channels * sizeof(uint32_t));
    network->to = malloc(network->channels * sizeof(uint32_t));
    if (network->from == NULL || network->to == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < forest->clusters; i++) {
        link_part(network, &forest->all[i].intra);
        if (!is_one)
            link_part(network, &forest->all[i].outer);
    }
    if (!is_one)
        link_part(network, &forest->top);
    return GMC_OK;
}

static gmc_status forest_new(enum ic_fat_tree_routing routing, uint32_t clusters, uint32_t nodes,
                             struct forest **out)
{
    struct forest *forest = calloc(1, sizeof(*forest));
    if (forest == NULL)
        return GMC_ERR_NOMEM;
    *out = forest;
    forest->routing = routing;
    forest->clusters = clusters;
    forest->nodes = nodes;
    forest->all = calloc(clusters, sizeof(*forest->all));
    forest->cluster_of = calloc(nodes, sizeof(*forest->cluster_of));
    return forest->all != NULL && forest->cluster_of != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

static void add_clusters(struct forest *forest, const struct ic_javadi *system,
                         const struct ic_fat_tree *trees)
{
    uint32_t index = 0, first = 0;
    for (uint32_t kind = 0; kind < system->kind_count; kind++)
        for (uint32_t i = 0; i < system->kinds[kind].clusters; i++, index++) {
            struct cluster *cluster = &forest->all[index];
            cluster->first = first;
            cluster->intra.tree = cluster->outer.tree = trees[kind];
            for (uint32_t node = 0; node < trees[kind].nodes; node++)
                forest->cluster_of[first++] = index;
        }
}

gmc_status ic_multicluster_network(const struct ic_javadi *system, enum ic_fat_tree_routing routing,
                                   struct ic_wh_network *network, char *error)
{
    struct ic_fat_tree trees[IC_JAVADI_KINDS_MAX], top = {0};
    uint64_t nodes;
    uint32_t clusters;
    gmc_status status = ic_javadi_trees(system, trees, &top, &clusters, &nodes, error);
    if (status == GMC_OK)
        status = ic_check_range("nodes of a simulated system", nodes, 2, IC_FAT_TREE_SIM_NODES_MAX,
                                error);
    if (status != GMC_OK)
        return status;
    struct forest *forest = NULL;
    status = forest_new(routing, clusters, (uint32_t)nodes, &forest);
    *network = (struct ic_wh_network){
        .ctx = forest, .enter = enter, .route = route, .label = label, .free = forest_free};
    if (status == GMC_OK) {
        forest->top.tree = top;
        add_clusters(forest, system, trees);
        status = build(forest, network);
    }
    if (status != GMC_OK)
        ic_wh_network_fini(network);
    return status;
}

gmc_status ic_fat_tree_network(uint64_t ports, uint64_t levels, enum ic_fat_tree_routing routing,
                               struct ic_wh_network *network, char *error)
{
    struct ic_fat_tree tree;
    gmc_status status = ic_fat_tree_init(&tree, ports, levels, error);
    if (status != GMC_OK)
        return status;
    struct ic_javadi system = {.ports = tree.ports, .kinds = {{tree.levels, 1}}, .kind_count = 1};
    return ic_multicluster_network(&system, routing, network, error);
}
