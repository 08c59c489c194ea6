/* SPDX-License-Identifier: BSD-2-Clause */
/* schedule ldr: multicast and broadcast trees of low-diameter graphs, hypercubes and graphs from
 * files, beside a packet of its own to each member. Switches copy packets, so a step of a tree is a
 * hop from the root; a root that sends one by one needs a step for each. */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "interconnect/command/command.h"
#include "interconnect/command/schedule.h"
#include "interconnect/command/topology.h"
#include "interconnect/family.h"
#include "interconnect/ldr/multicast.h"
#include "interconnect/schedule.h"
#include "sim-wan/mem.h"

#define NAME "schedule"

enum { TREE, SUBCUBE, SEPARATE, ALGORITHMS };

static const char *const algorithms[ALGORITHMS] = {"tree", "subcube", "separate"};

_Static_assert(ALGORITHMS <= IC_OUTCOMES_MAX, "there is room for all");

/* ---- the graph ---- */
struct name {
    const char *text;
    uint32_t node;
};

struct network {
    struct ic_topologies topologies;
    struct ic_graph made;         /* unless it is a file's */
    const struct ic_graph *graph; /* which of them */
    const struct ic_edges *edges; /* of a file; NULL */
    struct name *names;           /* of a file, sorted; NULL */
    uint64_t dimensions;          /* of a hypercube; 0: it is none */
};

static int by_text(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    return strcmp(a->text, b->text);
}

static void take_file(struct network *network)
{
    network->edges = &network->topologies.edges[0];
    network->graph = &network->edges->graph;
    network->names = sim_calloc(network->graph->nodes, sizeof(*network->names));
    for (uint32_t i = 0; i < network->graph->nodes; i++)
        network->names[i] = (struct name){network->edges->names[i], i};
    qsort(network->names, network->graph->nodes, sizeof(*network->names), by_text);
}

/* The parameters have names, ranges and usual values of the family. */
static gmc_status read_params(const struct ic_schedule_options *options,
                              const struct ic_family *family, double *values, char *error)
{
    size_t first = ic_family_param(family, IC_FAMILY_GRAPHS);
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < IC_LDR_PARAMS && status == GMC_OK; i++) {
        values[i] = family->params[first + i].usual;
        if (options->graph[i] != NULL)
            status =
                ic_param_parse(&family->params[first + i], options->graph[i], &values[i], error);
    }
    return status;
}

static gmc_status make(const double *values, struct network *network, char *error)
{
    const struct ic_ldr_spec spec = ic_ldr_params_spec(values);
    if (spec.topology >= IC_LDR_FAT_TREE)
        return ic_refuse(error, "trees are of direct networks: topology must be hypercube, ldr, "
                                "improved, or the file of a list of edges");
    gmc_status status = ic_ldr_graph(&spec, &network->made, error);
    if (status == GMC_OK && spec.topology == IC_LDR_HYPERCUBE)
        while (((uint64_t)1 << network->dimensions) < spec.nodes)
            network->dimensions++;
    return status;
}

static gmc_status begin(const struct ic_schedule_options *options, struct network *network,
                        char *error)
{
    const struct ic_family *family = ic_family_find("ldr");
    double values[IC_LDR_PARAMS];
    if (options->graph[IC_LDR_PARAM_TOPOLOGY] != NULL)
        family = &network->topologies.family;
    gmc_status status = read_params(options, family, values, error);
    if (status != GMC_OK)
        return status;
    if (values[IC_LDR_PARAM_TOPOLOGY] < IC_LDR_TOPOLOGIES)
        return make(values, network, error);
    for (size_t i = IC_LDR_PARAM_TOPOLOGY + 1; i < IC_LDR_PARAMS; i++)
        if (options->graph[i] != NULL)
            return ic_refuse(error, "%s is of graphs that are made; %.100s has a graph",
                             family->params[ic_family_param(family, IC_FAMILY_GRAPHS) + i].name,
                             options->graph[IC_LDR_PARAM_TOPOLOGY]);
    take_file(network);
    return GMC_OK;
}

static void end(struct network *network)
{
    free(network->names);
    ic_graph_fini(&network->made);
    ic_topologies_fini(&network->topologies);
}

/* ---- members ---- */
struct group {
    uint32_t root;
    uint32_t *nodes; /* that receive: not the root */
    size_t count;
    bool *is_member; /* by node */
};

static gmc_status find_node(const struct network *network, const char *text, uint32_t *node,
                            char *error)
{
    char *end;
    if (network->names != NULL) {
        const struct name key = {text, 0};
        const struct name *name =
            bsearch(&key, network->names, network->graph->nodes, sizeof(key), by_text);
        if (name == NULL)
            return ic_refuse(error, "no node of the file is called '%.60s'", text);
        *node = name->node;
        return GMC_OK;
    }
    unsigned long number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || number >= network->graph->nodes)
        return ic_refuse(error, "'%.60s' is no node; nodes are 0 to %u", text,
                         network->graph->nodes - 1);
    *node = (uint32_t)number;
    return GMC_OK;
}

/* The first one is the root unless another was named, which need not be a member. */
static gmc_status read_members(const struct network *network, const char *text, bool has_root,
                               struct group *group, char *error)
{
    char *copy = sim_strdup(text), *rest = NULL;
    gmc_status status = GMC_OK;
    size_t named = 0;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && status == GMC_OK;
         word = strtok_r(NULL, " ", &rest), named++) {
        uint32_t node = 0;
        status = find_node(network, word, &node, error);
        if (status == GMC_OK && group->is_member[node])
            status = ic_refuse(error, "member %.60s is named twice", word);
        if (status != GMC_OK)
            break;
        group->is_member[node] = true;
        if (named == 0 && !has_root)
            group->root = node;
        if (node != group->root)
            group->nodes[group->count++] = node;
    }
    free(copy);
    if (status == GMC_OK && group->count == 0)
        return ic_refuse(error, "no member is named beside the root");
    return status;
}

static void draw(const struct network *network, uint32_t size, bool has_root, struct gmc_prng *prng,
                 struct group *group)
{
    uint32_t nodes = network->graph->nodes, wanted = size - 1, left = nodes - 1;
    if (!has_root)
        group->root = (uint32_t)gmc_prng_below(prng, nodes);
    group->is_member[group->root] = true;
    for (uint32_t node = 0; node < nodes; node++) {
        if (node == group->root)
            continue;
        if (gmc_prng_below(prng, left--) >= wanted - group->count)
            continue;
        group->is_member[node] = true;
        group->nodes[group->count++] = node;
    }
}

static gmc_status choose_group(const struct ic_schedule_options *options,
                               const struct network *network, struct group *group, char *error)
{
    struct gmc_prng prng;
    uint32_t nodes = network->graph->nodes;
    bool has_root = options->root != NULL;
    group->nodes = sim_calloc(nodes, sizeof(*group->nodes));
    group->is_member = sim_calloc(nodes, sizeof(*group->is_member));
    if (has_root) {
        gmc_status status = find_node(network, options->root, &group->root, error);
        if (status != GMC_OK)
            return status;
    }
    if (options->members != NULL)
        return read_members(network, options->members, has_root, group, error);
    uint64_t size = options->group > 0 ? options->group : nodes;
    gmc_status status = ic_check_range("G, the group's size,", size, 2, nodes, error);
    gmc_prng_init(&prng, options->seed);
    if (status == GMC_OK)
        draw(network, (uint32_t)size, has_root, &prng, group);
    return status;
}

/* ---- what is said of them ---- */
static void add_node(struct ic_text *out, const struct network *network, uint32_t node)
{
    if (network->edges != NULL)
        ic_text_add(out, "%s", network->edges->names[node]);
    else
        ic_text_add(out, "%u", node);
}

static void add_sends(struct ic_text *out, const struct network *network,
                      const struct ic_schedule *schedule)
{
    for (size_t i = 0; i < schedule->count; i++) {
        const struct ic_send *send = &schedule->sends[i];
        ic_text_add(out, "%s%u:", i > 0 ? " " : "", send->step);
        add_node(out, network, send->from);
        ic_text_add(out, ">");
        add_node(out, network, send->to);
    }
}

static uint32_t relays_of(const struct ic_tree *tree, const struct group *group)
{
    uint32_t relays = 0;
    for (uint32_t i = 1; i < tree->count; i++)
        relays += !group->is_member[tree->members[i]];
    return relays;
}

/* A copy on each link of the tree; a link leads one hop away from the root. */
static gmc_status tell_tree(const struct network *network, const struct group *group,
                            const struct ic_tree *tree, struct ic_outcome *outcome)
{
    struct ic_schedule schedule;
    uint32_t *depths = sim_calloc(tree->nodes, sizeof(*depths)), root_sends = 0;
    gmc_status status = ic_schedule_init(&schedule, tree->nodes, group->root);
    for (uint32_t i = 1; i < tree->count && status == GMC_OK; i++) {
        uint32_t node = tree->members[i], parent = tree->parents[node];
        depths[node] = depths[parent] + 1;
        root_sends += parent == group->root;
        ic_schedule_add(&schedule, depths[node], parent, node);
    }
    free(depths);
    if (status != GMC_OK)
        return status;
    ic_schedule_sort(&schedule);
    add_sends(&outcome->sends, network, &schedule);
    ic_outcome_add(outcome, "link_visits", tree->count - 1);
    ic_outcome_add(outcome, "used_links", tree->count - 1);
    ic_outcome_add(outcome, "link_concentration", 1);
    ic_outcome_add(outcome, "steps", tree->depth);
    ic_outcome_add(outcome, "step_concurrency", ic_schedule_concurrency(&schedule));
    ic_outcome_add(outcome, "max_intermediate", tree->depth - 1);
    ic_outcome_add(outcome, "root_sends", root_sends);
    ic_outcome_add(outcome, "fanout", tree->fanout);
    ic_outcome_add(outcome, "relays", relays_of(tree, group));
    ic_schedule_fini(&schedule);
    return GMC_OK;
}

static gmc_status graph_tree(const struct network *network, const struct group *group,
                             struct ic_outcome *outcome, char *error)
{
    struct ic_tree tree;
    gmc_status status =
        ic_graph_tree(network->graph, group->root, group->nodes, group->count, &tree, error);
    if (status != GMC_OK)
        return status;
    status = tell_tree(network, group, &tree, outcome);
    ic_tree_fini(&tree);
    return status;
}

static gmc_status subcube_tree(const struct network *network, const struct group *group,
                               struct ic_outcome *outcome, char *error)
{
    struct ic_subcube subcube;
    struct ic_tree tree;
    uint32_t *all = sim_calloc(group->count + 1, sizeof(*all));
    memcpy(all, group->nodes, group->count * sizeof(*all));
    all[group->count] = group->root;
    gmc_status status =
        ic_subcube_enclose(network->dimensions, all, group->count + 1, &subcube, error);
    free(all);
    if (status == GMC_OK)
        status = ic_subcube_tree(network->dimensions, &subcube, group->root, &tree, error);
    if (status != GMC_OK)
        return status;
    status = tell_tree(network, group, &tree, outcome);
    ic_tree_fini(&tree);
    return status;
}

/* Along the ways of the tree, one packet after the other. */
static gmc_status separate(const struct network *network, const struct group *group,
                           struct ic_outcome *outcome, char *error)
{
    struct ic_tree tree;
    uint64_t visits = 0;
    gmc_status status =
        ic_graph_tree(network->graph, group->root, group->nodes, group->count, &tree, error);
    if (status != GMC_OK)
        return status;
    for (size_t i = 0; i < group->count; i++) {
        for (uint32_t node = group->nodes[i]; node != group->root; node = tree.parents[node])
            visits++;
        ic_text_add(&outcome->sends, "%s%zu:", i > 0 ? " " : "", i + 1);
        add_node(&outcome->sends, network, group->root);
        ic_text_add(&outcome->sends, ">");
        add_node(&outcome->sends, network, group->nodes[i]);
    }
    ic_outcome_add(outcome, "link_visits", (double)visits);
    ic_outcome_add(outcome, "used_links", tree.count - 1);
    ic_outcome_add(outcome, "link_concentration", (double)visits / (tree.count - 1));
    ic_outcome_add(outcome, "steps", (double)group->count);
    ic_outcome_add(outcome, "step_concurrency", 1);
    ic_outcome_add(outcome, "max_intermediate", 0);
    ic_outcome_add(outcome, "root_sends", (double)group->count);
    ic_tree_fini(&tree);
    return GMC_OK;
}

/* ---- the command ---- */
static gmc_status find_algorithm(const struct ic_schedule_options *options,
                                 const struct network *network, int *only, char *error)
{
    for (*only = 0; *only < ALGORITHMS; ++*only)
        if (options->is_all || strcmp(options->algorithm, algorithms[*only]) == 0)
            break;
    if (*only == ALGORITHMS) {
        ic_schedule_refuse(options->algorithm, "graph", algorithms, ALGORITHMS, error);
        return GMC_ERR_INVALID;
    }
    if (!options->is_all && *only == SUBCUBE && network->dimensions == 0)
        return ic_refuse(error, "subcubes are of hypercubes: --topology hypercube");
    return GMC_OK;
}

static gmc_status tell_all(const struct ic_schedule_options *options, const struct network *network,
                           const struct group *group, struct ic_outcome *outcomes, size_t *count,
                           char *error)
{
    int only;
    gmc_status status = find_algorithm(options, network, &only, error);
    for (int a = 0; a < ALGORITHMS && status == GMC_OK; a++) {
        struct ic_outcome *outcome = &outcomes[*count];
        if ((!options->is_all && a != only) || (a == SUBCUBE && network->dimensions == 0))
            continue;
        outcome->algorithm = algorithms[a];
        ++*count;
        if (a == TREE)
            status = graph_tree(network, group, outcome, error);
        else if (a == SUBCUBE)
            status = subcube_tree(network, group, outcome, error);
        else
            status = separate(network, group, outcome, error);
        if (status == GMC_OK && outcome->sends.is_short)
            status = GMC_ERR_NOMEM;
    }
    return status;
}

int ic_ldr_outcomes(const struct ic_schedule_options *options, struct ic_outcome *outcomes,
                    size_t *count)
{
    struct network network = {.graph = &network.made};
    struct group group = {.count = 0};
    const char *topology = options->graph[IC_LDR_PARAM_TOPOLOGY];
    char error[IC_ERROR_MAX] = "";
    *count = 0;
    if (topology != NULL &&
        ic_topologies_read(&network.topologies, NAME, ic_family_find("ldr"), topology) != IC_DONE) {
        end(&network);
        return IC_BAD;
    }
    gmc_status status = begin(options, &network, error);
    if (status == GMC_OK)
        status = choose_group(options, &network, &group, error);
    if (status == GMC_OK)
        status = tell_all(options, &network, &group, outcomes, count, error);
    free(group.nodes);
    free(group.is_member);
    end(&network);
    if (status == GMC_OK)
        return IC_DONE;
    return ic_bad(NAME, "%s", error[0] != '\0' ? error : gmc_status_text(status));
}
