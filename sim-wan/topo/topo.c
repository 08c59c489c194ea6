/* SPDX-License-Identifier: BSD-2-Clause */
/* Topologies as data, and what all of them have to keep. */
#include "sim-wan/topo/topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "sim-wan/topo/index.h"
#include "sim-wan/topo/label.h"

void sim_topo_init(struct sim_topo *topo)
{
    *topo = (struct sim_topo){0};
}

void sim_topo_fini(struct sim_topo *topo)
{
    for (size_t i = 0; i < topo->node_count; i++)
        free(topo->nodes[i].name);
    free(topo->nodes);
    free(topo->links);
    for (size_t i = 0; i < topo->trace_count; i++) {
        free(topo->traces[i].path);
        sim_loss_trace_free(topo->traces[i].trace);
    }
    free(topo->traces);
    *topo = (struct sim_topo){0};
}

uint32_t sim_topo_add_node(struct sim_topo *topo, const char *name)
{
    topo->nodes =
        sim_reserve(topo->nodes, topo->node_count, &topo->node_capacity, sizeof(*topo->nodes));
    topo->nodes[topo->node_count] =
        (struct sim_topo_node){.name = sim_strdup(name), .has_gateway = true};
    return (uint32_t)topo->node_count++;
}

uint32_t sim_topo_add_link(struct sim_topo *topo, uint32_t a, uint32_t b,
                           const struct sim_wire_config *a_to_b,
                           const struct sim_wire_config *b_to_a)
{
    GMC_ASSERT(a < topo->node_count && b < topo->node_count);
    topo->links =
        sim_reserve(topo->links, topo->link_count, &topo->link_capacity, sizeof(*topo->links));
    topo->links[topo->link_count] =
        (struct sim_topo_link){.a = a, .b = b, .a_to_b = *a_to_b, .b_to_a = *b_to_a};
    return (uint32_t)topo->link_count++;
}

uint32_t sim_topo_find(const struct sim_topo *topo, const char *name)
{
    for (size_t i = 0; i < topo->node_count; i++)
        if (strcmp(topo->nodes[i].name, name) == 0)
            return (uint32_t)i;
    return UINT32_MAX;
}

/* The rate of a further wire, where all so far have a limit. */
static void add_rate(uint64_t *sum, bool *unlimited, uint64_t rate_bps)
{
    *unlimited = *unlimited || rate_bps == 0;
    *sum = *unlimited ? 0 : *sum + rate_bps;
}

void sim_topo_rates(const struct sim_topo *topo, uint32_t node, uint64_t *out_bps, uint64_t *in_bps)
{
    bool unlimited_out = false, unlimited_in = false;
    *out_bps = *in_bps = 0;
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        if (link->a != node && link->b != node)
            continue;
        bool is_a = link->a == node;
        add_rate(out_bps, &unlimited_out, (is_a ? &link->a_to_b : &link->b_to_a)->rate_bps);
        add_rate(in_bps, &unlimited_in, (is_a ? &link->b_to_a : &link->a_to_b)->rate_bps);
    }
}

gmc_status sim_topo_trace(struct sim_topo *topo, const char *path,
                          const struct sim_loss_trace **trace, char *error)
{
    struct sim_loss_trace *read = NULL;
    for (size_t i = 0; i < topo->trace_count; i++)
        if (strcmp(topo->traces[i].path, path) == 0) {
            *trace = topo->traces[i].trace;
            return GMC_OK;
        }
    gmc_status status = sim_loss_trace_read(path, &read, error);
    if (status != GMC_OK)
        return status;
    topo->traces =
        sim_reserve(topo->traces, topo->trace_count, &topo->trace_capacity, sizeof(*topo->traces));
    topo->traces[topo->trace_count++] = (struct sim_topo_trace){sim_strdup(path), read};
    *trace = read;
    return GMC_OK;
}

/* ---- the check ---- */
static int by_name(const void *left, const void *right)
{
    const struct sim_topo_entry *a = left, *b = right;
    int order = strcasecmp(a->name, b->name);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

/* A node with the name of one before it, which goes to *first; UINT32_MAX. Large letters make no
 * difference, as in DNS. */
static uint32_t repeated_node(const struct sim_topo *topo, uint32_t *first)
{
    struct sim_topo_index index;
    uint32_t found = UINT32_MAX;
    sim_topo_index_init(&index, topo);
    qsort(index.entries, index.count, sizeof(*index.entries), by_name);
    for (size_t i = 1; i < index.count && found == UINT32_MAX; i++)
        if (strcasecmp(index.entries[i - 1].name, index.entries[i].name) == 0) {
            *first = index.entries[i - 1].node;
            found = index.entries[i].node;
        }
    sim_topo_index_fini(&index);
    return found;
}

struct pair {
    uint32_t low, high; /* nodes */
    uint32_t link;
};

static int by_nodes(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->high > b->high) - (a->high < b->high);
}

/* A link between the nodes of one before it; UINT32_MAX. */
static uint32_t repeated_link(const struct sim_topo *topo)
{
    struct pair *pairs = sim_alloc((topo->link_count + 1) * sizeof(*pairs));
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < topo->link_count; i++) {
        uint32_t a = topo->links[i].a, b = topo->links[i].b;
        pairs[i] = (struct pair){a < b ? a : b, a < b ? b : a, i};
    }
    qsort(pairs, topo->link_count, sizeof(*pairs), by_nodes);
    for (size_t i = 1; i < topo->link_count && found == UINT32_MAX; i++)
        if (by_nodes(&pairs[i - 1], &pairs[i]) == 0)
            found = pairs[i - 1].link > pairs[i].link ? pairs[i - 1].link : pairs[i].link;
    free(pairs);
    return found;
}

static uint32_t root_of(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

uint32_t sim_topo_parts(const struct sim_topo *topo, uint32_t *part_of)
{
    uint32_t *parents = sim_alloc(topo->node_count * sizeof(*parents));
    uint32_t count = 0;
    for (uint32_t i = 0; i < topo->node_count; i++)
        parents[i] = i;
    /* The lower root stays: a part's root is its lowest node. */
    for (size_t i = 0; i < topo->link_count; i++) {
        uint32_t a = root_of(parents, topo->links[i].a), b = root_of(parents, topo->links[i].b);
        parents[a > b ? a : b] = a < b ? a : b;
    }
    for (uint32_t i = 0; i < topo->node_count; i++) {
        uint32_t root = root_of(parents, i);
        part_of[i] = root == i ? count++ : part_of[root];
    }
    free(parents);
    return count;
}

/* A node that no path joins to the first; UINT32_MAX. */
static uint32_t unreachable_node(const struct sim_topo *topo)
{
    uint32_t *part_of = sim_alloc(topo->node_count * sizeof(*part_of));
    uint32_t found = 0;
    sim_topo_parts(topo, part_of);
    while (found < topo->node_count && part_of[found] == 0)
        found++;
    free(part_of);
    return found < topo->node_count ? found : UINT32_MAX;
}

/* The sum, which no node or link has to answer for. */
static gmc_status check_size(const struct sim_topo *topo, char *error)
{
    if (topo->node_count > 0 && topo->node_count <= SIM_TOPO_NODES_MAX &&
        topo->link_count <= SIM_TOPO_LINKS_MAX)
        return GMC_OK;
    snprintf(error, SIM_TOPO_ERROR_MAX,
             "%zu nodes and %zu links; there must be 1 to %u nodes and at most %u links",
             topo->node_count, topo->link_count, SIM_TOPO_NODES_MAX, SIM_TOPO_LINKS_MAX);
    return GMC_ERR_INVALID;
}

static gmc_status check_names(const struct sim_topo *topo, int *line, char *error)
{
    uint32_t node = 0, first = 0;
    while (node < topo->node_count && sim_is_host_name(topo->nodes[node].name))
        node++;
    if (node < topo->node_count)
        snprintf(error, SIM_TOPO_ERROR_MAX,
                 "'%.80s' is no host's name: letters, digits, and '-', '.', '_' inside, 255 at "
                 "most",
                 topo->nodes[node].name);
    else if ((node = repeated_node(topo, &first)) == UINT32_MAX)
        return GMC_OK;
    else if (strcmp(topo->nodes[first].name, topo->nodes[node].name) == 0)
        snprintf(error, SIM_TOPO_ERROR_MAX, "two nodes are called '%.80s'", topo->nodes[node].name);
    else
        snprintf(error, SIM_TOPO_ERROR_MAX,
                 "'%.80s' and '%.80s' are one name: letters may be large or small",
                 topo->nodes[first].name, topo->nodes[node].name);
    *line = topo->nodes[node].line;
    return GMC_ERR_INVALID;
}

static gmc_status check_links(const struct sim_topo *topo, int *line, char *error)
{
    uint32_t link = 0;
    while (link < topo->link_count && topo->links[link].a != topo->links[link].b)
        link++;
    bool is_loop = link < topo->link_count;
    if (!is_loop)
        link = repeated_link(topo);
    if (link == UINT32_MAX)
        return GMC_OK;
    *line = topo->links[link].line;
    const char *a = topo->nodes[topo->links[link].a].name;
    const char *b = topo->nodes[topo->links[link].b].name;
    if (is_loop)
        snprintf(error, SIM_TOPO_ERROR_MAX, "a link joins '%.80s' to itself", a);
    else
        snprintf(error, SIM_TOPO_ERROR_MAX,
                 "two links join '%.80s' and '%.80s'; put their rates together into one", a, b);
    return GMC_ERR_INVALID;
}

static gmc_status check_paths(const struct sim_topo *topo, int *line, char *error)
{
    uint32_t node = unreachable_node(topo);
    if (node == UINT32_MAX)
        return GMC_OK;
    *line = topo->nodes[node].line;
    snprintf(error, SIM_TOPO_ERROR_MAX,
             "no path joins '%.80s' to '%.80s'; every two nodes need one", topo->nodes[node].name,
             topo->nodes[0].name);
    return GMC_ERR_INVALID;
}

gmc_status sim_topo_check(const struct sim_topo *topo, int *line, char *error)
{
    int unread = 0;
    line = line != NULL ? line : &unread;
    *line = 0;
    gmc_status status = check_size(topo, error);
    if (status == GMC_OK)
        status = check_names(topo, line, error);
    if (status == GMC_OK)
        status = check_links(topo, line, error);
    return status == GMC_OK ? check_paths(topo, line, error) : status;
}
