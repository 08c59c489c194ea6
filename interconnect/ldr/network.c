/* SPDX-License-Identifier: BSD-2-Clause */
/* Making networks. */
#include "interconnect/ldr/network.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/fattree/tree.h"

#define SWITCHES_MAX 262144u

/* Links between switches; both directions become channels, ports in the order of the links. */
struct draft {
    struct ic_graph_link *links;
    size_t count, capacity;
};

static gmc_status add(struct draft *draft, uint32_t a, uint32_t b)
{
    if (draft->count == draft->capacity) {
        size_t more = draft->capacity > 0 ? 2 * draft->capacity : 1024;
        struct ic_graph_link *links = realloc(draft->links, more * sizeof(*links));
        if (links == NULL)
            return GMC_ERR_NOMEM;
        draft->links = links;
        draft->capacity = more;
    }
    draft->links[draft->count++] = (struct ic_graph_link){a, b};
    return GMC_OK;
}

static void place_channels(struct ic_network *network, const struct draft *draft)
{
    uint32_t *first = network->first;
    for (size_t i = 0; i < draft->count; i++) {
        first[draft->links[i].a + 1]++;
        first[draft->links[i].b + 1]++;
    }
    for (uint32_t i = 0; i < network->switches; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < draft->count; i++) {
        network->to[first[draft->links[i].a]++] = draft->links[i].b;
        network->to[first[draft->links[i].b]++] = draft->links[i].a;
    }
    memmove(first + 1, first, network->switches * sizeof(*first));
    first[0] = 0;
    for (uint32_t i = 0; i < network->switches; i++)
        for (uint32_t j = first[i]; j < first[i + 1]; j++)
            network->from[j] = i;
}

static gmc_status check_ports(const struct ic_network *network, char *error)
{
    for (uint32_t i = 0; i < network->switches; i++) {
        uint32_t ports = network->first[i + 1] - network->first[i];
        if (ports > IC_NETWORK_PORTS_MAX)
            return ic_refuse(error, "switch %u has %u links to others; up to %u can be simulated",
                             i, ports, IC_NETWORK_PORTS_MAX);
    }
    return GMC_OK;
}

/* Takes the draft; attached is filled by the caller. */
static gmc_status make(struct ic_network *network, struct draft *draft, uint32_t switches,
                       uint32_t hosts, gmc_status status, char *error)
{
    *network = (struct ic_network){.switches = switches, .hosts = hosts};
    if (status == GMC_OK) {
        network->attached = calloc(hosts, sizeof(*network->attached));
        network->first = calloc((size_t)switches + 2, sizeof(*network->first));
        network->to = calloc(2 * draft->count + 1, sizeof(*network->to));
        network->from = calloc(2 * draft->count + 1, sizeof(*network->from));
        if (network->attached == NULL || network->first == NULL || network->to == NULL ||
            network->from == NULL)
            status = GMC_ERR_NOMEM;
    }
    if (status == GMC_OK) {
        place_channels(network, draft);
        status = check_ports(network, error);
    }
    free(draft->links);
    if (status != GMC_OK)
        ic_network_fini(network);
    return status;
}

void ic_network_fini(struct ic_network *network)
{
    free(network->attached);
    free(network->first);
    free(network->to);
    free(network->from);
    *network = (struct ic_network){0};
}

uint32_t ic_network_search(const struct ic_network *network, uint32_t from, uint32_t *hops,
                           uint32_t *order)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < network->switches; i++)
        hops[i] = IC_GRAPH_NONE;
    hops[from] = 0;
    order[found++] = from;
    /* Without a branch for what is new, which nobody can predict; when all are found, most links
     * have not been looked at yet. */
    for (uint32_t i = 0; i < found; i++)
        for (uint32_t c = network->first[order[i]]; c < network->first[order[i] + 1]; c++) {
            uint32_t next = network->to[c], far = hops[order[i]] + 1;
            if (found == network->switches)
                return found;
            order[found] = next;
            found += hops[next] == IC_GRAPH_NONE;
            hops[next] = hops[next] < far ? hops[next] : far;
        }
    return found;
}

static gmc_status check_connected(const struct ic_graph *graph, char *error)
{
    uint32_t *hops = calloc(graph->nodes, sizeof(*hops));
    uint32_t *order = calloc(graph->nodes, sizeof(*order));
    gmc_status status = hops != NULL && order != NULL ? GMC_OK : GMC_ERR_NOMEM;
    if (status == GMC_OK && ic_graph_search(graph, 0, hops, NULL, order) < graph->nodes)
        status = ic_refuse(error, "the graph is not connected");
    free(hops);
    free(order);
    return status;
}

static gmc_status add_graph(struct draft *draft, const struct ic_graph *graph, uint32_t offset)
{
    gmc_status status = GMC_OK;
    for (uint32_t i = 0; i < graph->nodes; i++)
        for (uint32_t j = graph->first[i]; j < graph->first[i + 1] && status == GMC_OK; j++)
            if (graph->neighbours[j] > i)
                status = add(draft, offset + i, offset + graph->neighbours[j]);
    return status;
}

static void attach_one_each(struct ic_network *network)
{
    for (uint32_t i = 0; i < network->hosts; i++)
        network->attached[i] = i;
}

gmc_status ic_network_direct(struct ic_network *network, const struct ic_graph *graph, char *error)
{
    struct draft draft = {0};
    gmc_status status = check_connected(graph, error);
    if (status == GMC_OK)
        status = add_graph(&draft, graph, 0);
    status = make(network, &draft, graph->nodes, graph->nodes, status, error);
    if (status == GMC_OK)
        attach_one_each(network);
    return status;
}

gmc_status ic_network_hypercube(struct ic_network *network, uint64_t dimensions, char *error)
{
    struct draft draft = {0};
    gmc_status status = ic_check_range("n, dimensions of the hypercube,", dimensions, 1, 16, error);
    uint32_t nodes = status == GMC_OK ? 1u << dimensions : 0;
    for (uint32_t bit = 1; bit < nodes; bit <<= 1)
        for (uint32_t i = 0; i < nodes && status == GMC_OK; i++)
            if ((i & bit) == 0)
                status = add(&draft, i, i | bit);
    status = make(network, &draft, nodes, nodes, status, error);
    if (status != GMC_OK)
        return status;
    attach_one_each(network);
    network->is_hypercube = true;
    return GMC_OK;
}

/* ---- fat trees ----
 *
 * Switches are words w_0 .. w_(n-2) of a level 0 (the roots) to n-1: digits are 0..q-1, but w_0
 * is 0..m-1 below the roots. Switches of levels l and l+1 are joined when their words agree in
 * all digits but w_l. A host p_0 .. p_(n-1) is at the switch p_0 .. p_(n-2) of level n-1. */
static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

/* Switches of a level. A word's number has w_0 as its highest digit. */
static uint64_t level_size(const struct ic_fat_tree *tree, uint32_t level)
{
    return power(tree->half, tree->levels - 1) * (level > 0 ? 2 : 1);
}

static uint64_t level_first(const struct ic_fat_tree *tree, uint32_t level)
{
    return level > 0 ? power(tree->half, tree->levels - 1) * (2 * (uint64_t)level - 1) : 0;
}

/* Adds the links of levels l and l+1: for each lower switch, all values of w_l above it. For l > 0
 * w_l is among the lower digits; w_0 is alone at the top. */
static gmc_status add_level(struct draft *draft, const struct ic_fat_tree *tree, uint32_t level,
                            uint32_t offset)
{
    gmc_status status = GMC_OK;
    uint64_t weight = power(tree->half, tree->levels - 2 - level); /* of w_l */
    uint64_t above = level_first(tree, level), below = level_first(tree, level + 1);
    for (uint64_t i = 0; i < level_size(tree, level + 1); i++) {
        uint64_t digit = i / weight % (level > 0 ? tree->half : tree->ports);
        for (uint64_t w = 0; w < tree->half && status == GMC_OK; w++)
            status = add(draft, offset + (uint32_t)(below + i),
                         offset + (uint32_t)(above + i - digit * weight + w * weight));
    }
    return status;
}

static gmc_status add_tree(struct draft *draft, const struct ic_fat_tree *tree, uint32_t offset)
{
    gmc_status status = GMC_OK;
    for (uint32_t level = 0; level + 1 < tree->levels && status == GMC_OK; level++)
        status = add_level(draft, tree, level, offset);
    return status;
}

/* The lowest switch over a leaf. A tree of one level is one switch. */
static uint32_t switch_of_leaf(const struct ic_fat_tree *tree, uint32_t leaf)
{
    if (tree->levels == 1)
        return 0;
    GMC_ASSERT(tree->half > 0);
    return (uint32_t)level_first(tree, tree->levels - 1) + leaf / tree->half;
}

gmc_status ic_network_fat_tree(struct ic_network *network, uint64_t ports, uint64_t levels,
                               uint64_t hosts, char *error)
{
    struct ic_fat_tree tree;
    struct draft draft = {0};
    gmc_status status = ic_fat_tree_init(&tree, ports, levels, error);
    if (status == GMC_OK)
        status = ic_check_range("the tree's switches", tree.switches, 1, SWITCHES_MAX, error);
    if (status == GMC_OK)
        status = ic_check_range("the number of hosts", hosts, 2, tree.nodes, error);
    if (status == GMC_OK)
        status = ic_check_range("the number of hosts", hosts, 2, IC_GRAPH_NODES_MAX, error);
    if (status == GMC_OK)
        status = add_tree(&draft, &tree, 0);
    status = make(network, &draft, status == GMC_OK ? (uint32_t)tree.switches : 0, (uint32_t)hosts,
                  status, error);
    for (uint32_t i = 0; status == GMC_OK && i < network->hosts; i++)
        network->attached[i] = switch_of_leaf(&tree, i);
    return status;
}

/* ---- hybrids ---- */
static gmc_status find_tree(struct ic_fat_tree *tree, uint64_t ports, uint64_t parts, char *error)
{
    for (uint64_t levels = 1;; levels++) {
        gmc_status status = ic_fat_tree_init(tree, ports, levels, error);
        if (status != GMC_OK || tree->nodes >= parts)
            return status;
    }
}

gmc_status ic_network_hybrid(struct ic_network *network, const struct ic_graph *component,
                             uint64_t parts, uint64_t ports, char *error)
{
    struct ic_fat_tree tree = {0};
    struct draft draft = {0};
    uint32_t size = component->nodes;
    gmc_status status = check_connected(component, error);
    if (status == GMC_OK)
        status =
            ic_check_range("the number of components", parts, 1, IC_GRAPH_NODES_MAX / size, error);
    if (status == GMC_OK)
        status = find_tree(&tree, ports, parts, error);
    if (status == GMC_OK && parts > 1)
        status = ic_check_range("the switches of the fat trees", tree.switches * size, 1,
                                SWITCHES_MAX - IC_GRAPH_NODES_MAX, error);
    uint32_t hosts = status == GMC_OK ? (uint32_t)parts * size : 0;
    for (uint32_t part = 0; part < parts && status == GMC_OK; part++)
        status = add_graph(&draft, component, part * size);
    uint32_t trees = parts > 1 ? size : 0, each = (uint32_t)tree.switches;
    for (uint32_t i = 0; i < trees && status == GMC_OK; i++) {
        status = add_tree(&draft, &tree, hosts + i * each);
        for (uint32_t part = 0; part < parts && status == GMC_OK; part++)
            status = add(&draft, part * size + i, hosts + i * each + switch_of_leaf(&tree, part));
    }
    status = make(network, &draft, hosts + trees * each, hosts, status, error);
    if (status == GMC_OK)
        attach_one_each(network);
    return status;
}
