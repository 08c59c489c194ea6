/* SPDX-License-Identifier: BSD-2-Clause */
/* One fat tree, in cycles, and clusters of them, in the time units of the source, as families. */
#include <string.h>

#include "interconnect/families.h"
#include "interconnect/fattree/network.h"
#include "interconnect/wormhole/options.h"

static const char *const divisors[] = {"4", "2", NULL};
static const char *const queues[] = {
    [IC_JAVADI_QUEUE_NODE] = "node", [IC_JAVADI_QUEUE_NETWORK] = "network", NULL};

static uint32_t divisor_of(double choice)
{
    return choice == 0 ? 4 : 2;
}

/* A model without a solution says from which load on. Messages that take twice as long over each
 * channel, at half the rate, take twice as long everywhere: so the limit of the shortest is that of
 * all, and curves over lengths find it in the memo. `longer`: than with the values that are given.
 */
static gmc_status tell_limit(const struct ic_family *family, const double *shortest, double longer,
                             const struct ic_setting *setting, struct ic_result *result,
                             char *error)
{
    double load;
    gmc_status status = ic_limit_find(family, shortest, setting, &load, error);
    if (status == GMC_OK)
        ic_result_saturated(result, "a queue is full from load %.6g on", load / longer);
    return status;
}

/* ---- one tree ---- */
enum {
    TREE_LOAD,
    TREE_M,
    TREE_N,
    TREE_FLITS,
    TREE_DIVISOR,
    TREE_VCS,
    TREE_ROUTING,
    TREE_MORE,
    TREE_PARAMS = TREE_MORE + IC_WH_PARAMS
};
enum { TREE_LATENCY, TREE_NETWORK, TREE_WAIT, TREE_SEEN, TREE_OUTPUTS = TREE_SEEN + IC_WH_OUTPUTS };

static const struct ic_param tree_params[TREE_PARAMS] = {
    [TREE_LOAD] = {"load", "messages/node/cycle", "messages that a node generates", IC_NUMBER, 0, 1,
                   0.003, NULL, IC_BOTH},
    [TREE_M] = {"m", "ports", "ports of a switch", IC_COUNT, 4, IC_FAT_TREE_PORTS_MAX, 8, NULL,
                IC_BOTH},
    [TREE_N] = {"n", "levels", "levels of switches", IC_COUNT, 1, IC_FAT_TREE_LEVELS_MAX, 3, NULL,
                IC_BOTH},
    [TREE_FLITS] = {"M", "flits", "length of a message", IC_COUNT, 1, IC_WH_FLITS_MAX, 32, NULL,
                    IC_BOTH},
    [TREE_DIVISOR] = {"divisor", "", "of channel rates: 4 as printed, 2 exact", IC_CHOICE, 0, 0, 0,
                      divisors, IC_MODEL},
    [TREE_VCS] = {"V", "channels", "virtual channels of a channel", IC_COUNT, 1, IC_WH_VCS_MAX, 1,
                  NULL, IC_SIMULATOR},
    [TREE_ROUTING] = {"routing", "", "which ports lead up", IC_CHOICE, 0, 0,
                      IC_FAT_TREE_DESTINATION, ic_fat_tree_routing_names, IC_SIMULATOR},
    IC_WH_PARAM_ROWS(TREE_MORE, IC_SIMULATOR),
};

static const struct ic_output tree_outputs[TREE_OUTPUTS] = {
    [TREE_LATENCY] = {"latency", "cycles", "of a message, its wait at the source among it",
                      IC_BOTH},
    [TREE_NETWORK] = {"network_latency", "cycles", "the same without the wait", IC_SIMULATOR},
    [TREE_WAIT] = {"source_wait", "cycles", "before entering the network", IC_SIMULATOR},
    IC_WH_OUTPUT_ROWS(TREE_SEEN, "messages/node/cycle"),
};

static struct ic_javadi tree_of(const double *values)
{
    return (struct ic_javadi){.ports = (uint32_t)values[TREE_M],
                              .kinds = {{(uint32_t)values[TREE_N], 1}},
                              .kind_count = 1,
                              .flits = (uint32_t)values[TREE_FLITS],
                              .node_time = 1,
                              .switch_time = 1,
                              .divisor = divisor_of(values[TREE_DIVISOR])};
}

static gmc_status tree_limit(const double *values, const struct ic_setting *setting, double *load,
                             char *error)
{
    const struct ic_javadi system = tree_of(values);
    (void)setting;
    return ic_javadi_saturation(&system, load, error);
}

static gmc_status tell_tree_limit(const double *values, const struct ic_setting *setting,
                                  struct ic_result *result, char *error)
{
    double shortest[TREE_PARAMS];
    memcpy(shortest, values, sizeof(shortest));
    shortest[TREE_FLITS] = 1;
    return tell_limit(&ic_family_fattree, shortest, values[TREE_FLITS], setting, result, error);
}

static gmc_status tree_model(const double *values, const struct ic_setting *setting,
                             struct ic_result *result, char *error)
{
    const struct ic_javadi system = tree_of(values);
    struct ic_javadi_latency out;
    gmc_status status = ic_javadi_latency(&system, values[TREE_LOAD], &out, error);
    if (status == GMC_OK && out.saturated)
        return tell_tree_limit(values, setting, result, error);
    if (status == GMC_OK)
        ic_result_set(result, TREE_LATENCY, out.latency);
    return status;
}

static gmc_status tree_simulate(const double *values, const struct ic_setting *setting,
                                const struct ic_run *run, struct ic_result *result, char *error)
{
    (void)setting;
    static const struct ic_wh_layout layout = {.params = TREE_MORE,
                                               .latency = TREE_LATENCY,
                                               .network = TREE_NETWORK,
                                               .wait = TREE_WAIT,
                                               .outputs = TREE_SEEN,
                                               .cycle = 1};
    struct ic_wh_network network;
    gmc_status status =
        ic_fat_tree_network((uint64_t)values[TREE_M], (uint64_t)values[TREE_N],
                            (enum ic_fat_tree_routing)values[TREE_ROUTING], &network, error);
    if (status != GMC_OK)
        return status;
    status =
        ic_wh_simulate(&network, &layout, values, values[TREE_LOAD], (uint32_t)values[TREE_VCS],
                       (uint32_t)values[TREE_FLITS], run, result, error);
    ic_wh_network_fini(&network);
    return status;
}

const struct ic_family ic_family_fattree = {
    .name = "fattree",
    .title = "wormhole fat trees: m-port n-trees",
    .source = "Javadi, Abawajy, Akbari, Nahavandi 2006",
    .params = tree_params,
    .param_count = TREE_PARAMS,
    .outputs = tree_outputs,
    .output_count = TREE_OUTPUTS,
    .load = "load",
    .messages = IC_WH_MESSAGES,
    .model = tree_model,
    .simulate = tree_simulate,
    .limit = tree_limit,
};

/* ---- clusters of trees ---- */
enum {
    LOAD,
    SYSTEM,
    M,
    N1,
    COUNT1,
    N2,
    COUNT2,
    N3,
    COUNT3,
    FLITS,
    FLIT_BYTES,
    DIVISOR,
    QUEUE,
    VCS,
    ROUTING,
    MORE,
    PARAMS = MORE + IC_WH_PARAMS
};
enum {
    LATENCY,
    OUTGOING,
    INTRA,
    INTER,
    CONCENTRATOR,
    NETWORK,
    WAIT,
    SEEN,
    OUTPUTS = SEEN + IC_WH_OUTPUTS
};

#define OWN_SYSTEM 2

static const char *const systems[] = {"1120", "544", [OWN_SYSTEM] = "own", NULL};
static const uint64_t system_nodes[OWN_SYSTEM] = {1120, 544};

#define LEVELS_OF(name, usual)                                                                     \
    {                                                                                              \
        name, "levels", "levels of clusters of this kind, of --system own", IC_COUNT, 1,           \
            IC_FAT_TREE_LEVELS_MAX, usual, NULL, IC_BOTH                                           \
    }
#define CLUSTERS_OF(name, usual)                                                                   \
    {                                                                                              \
        name, "clusters", "clusters of this kind, of --system own", IC_COUNT, 0,                   \
            IC_JAVADI_CLUSTERS_MAX, usual, NULL, IC_BOTH                                           \
    }

static const struct ic_param params[PARAMS] = {
    [LOAD] = {"load", "messages/node/time", "messages that a node generates", IC_NUMBER, 0, 1e6,
              1e-4, NULL, IC_BOTH},
    [SYSTEM] = {"system", "", "clusters: those of print with so many nodes, or own", IC_CHOICE, 0,
                0, 0, systems, IC_BOTH},
    [M] = {"m", "ports", "ports of a switch, of --system own", IC_COUNT, 4, IC_FAT_TREE_PORTS_MAX,
           8, NULL, IC_BOTH},
    [N1] = LEVELS_OF("n1", 1),
    [COUNT1] = CLUSTERS_OF("clusters1", 12),
    [N2] = LEVELS_OF("n2", 2),
    [COUNT2] = CLUSTERS_OF("clusters2", 16),
    [N3] = LEVELS_OF("n3", 3),
    [COUNT3] = CLUSTERS_OF("clusters3", 4),
    [FLITS] = {"M", "flits", "length of a message", IC_COUNT, 1, IC_WH_FLITS_MAX, 32, NULL,
               IC_BOTH},
    [FLIT_BYTES] = {"flit", "bytes", "length of a flit", IC_COUNT, 1, 1048576, 256, NULL, IC_BOTH},
    [DIVISOR] = {"divisor", "", "of channel rates: 4 as printed, 2 exact", IC_CHOICE, 0, 0, 0,
                 divisors, IC_MODEL},
    [QUEUE] = {"queue", "", "rate of the source queue: of its node, or as printed", IC_CHOICE, 0, 0,
               IC_JAVADI_QUEUE_NODE, queues, IC_MODEL},
    [VCS] = {"V", "channels", "virtual channels of a channel", IC_COUNT, 1, IC_WH_VCS_MAX, 1, NULL,
             IC_SIMULATOR},
    [ROUTING] = {"routing", "", "which ports lead up", IC_CHOICE, 0, 0, IC_FAT_TREE_ADAPTIVE,
                 ic_fat_tree_routing_names, IC_SIMULATOR},
    IC_WH_PARAM_ROWS(MORE, IC_SIMULATOR),
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "time", "of a message, its wait at the source among it", IC_BOTH},
    [OUTGOING] = {"outgoing", "", "share of messages that leave a cluster of the last kind",
                  IC_MODEL},
    [INTRA] = {"intra", "time", "within a cluster of the last kind", IC_MODEL},
    [INTER] = {"inter", "time", "from there to others, without concentrators", IC_MODEL},
    [CONCENTRATOR] = {"concentrator_wait", "time", "in concentrator and dispatcher", IC_MODEL},
    [NETWORK] = {"network_latency", "time", "latency without the wait at the source", IC_SIMULATOR},
    [WAIT] = {"source_wait", "time", "before entering the network", IC_SIMULATOR},
    IC_WH_OUTPUT_ROWS(SEEN, "messages/node/time"),
};

static gmc_status read_system(const double *values, struct ic_javadi *system, char *error)
{
    *system = (struct ic_javadi){.flits = (uint32_t)values[FLITS],
                                 .divisor = divisor_of(values[DIVISOR]),
                                 .queue = (enum ic_javadi_queue)values[QUEUE]};
    ic_javadi_times(system, values[FLIT_BYTES]);
    if (values[SYSTEM] < OWN_SYSTEM)
        return ic_javadi_system(system, system_nodes[(size_t)values[SYSTEM]], error);
    system->ports = (uint32_t)values[M];
    for (size_t kind = 0; kind < 3; kind++)
        if (values[COUNT1 + 2 * kind] > 0)
            system->kinds[system->kind_count++] =
                (struct ic_javadi_kind){.levels = (uint32_t)values[N1 + 2 * kind],
                                        .clusters = (uint32_t)values[COUNT1 + 2 * kind]};
    return GMC_OK;
}

/* Tables show the clusters of print, whatever was given for own ones. */
static void settle(double *values, const struct ic_setting *setting)
{
    struct ic_javadi system;
    char error[IC_ERROR_MAX];
    (void)setting;
    if (values[SYSTEM] >= OWN_SYSTEM || read_system(values, &system, error) != GMC_OK)
        return;
    values[M] = system.ports;
    for (size_t kind = 0; kind < 3; kind++) {
        bool is_there = kind < system.kind_count;
        values[N1 + 2 * kind] = is_there ? system.kinds[kind].levels : 1;
        values[COUNT1 + 2 * kind] = is_there ? system.kinds[kind].clusters : 0;
    }
}

static gmc_status limit(const double *values, const struct ic_setting *setting, double *load,
                        char *error)
{
    struct ic_javadi system;
    gmc_status status = read_system(values, &system, error);
    (void)setting;
    if (status == GMC_OK)
        status = ic_javadi_saturation(&system, load, error);
    return status;
}

/* Flits take as long to a node as between switches, whatever their length. */
static gmc_status tell_clusters_limit(const double *values, const struct ic_javadi *system,
                                      const struct ic_setting *setting, struct ic_result *result,
                                      char *error)
{
    double shortest[PARAMS];
    struct ic_javadi least;
    memcpy(shortest, values, sizeof(shortest));
    shortest[FLITS] = 1;
    shortest[FLIT_BYTES] = 1;
    gmc_status status = read_system(shortest, &least, error);
    if (status != GMC_OK)
        return status;
    double longer = system->flits * system->switch_time / least.switch_time;
    return tell_limit(&ic_family_multicluster, shortest, longer, setting, result, error);
}

static gmc_status model(const double *values, const struct ic_setting *setting,
                        struct ic_result *result, char *error)
{
    struct ic_javadi system;
    struct ic_javadi_latency out;
    gmc_status status = read_system(values, &system, error);
    if (status == GMC_OK)
        status = ic_javadi_latency(&system, values[LOAD], &out, error);
    if (status != GMC_OK)
        return status;
    if (out.saturated)
        return tell_clusters_limit(values, &system, setting, result, error);
    const struct ic_javadi_part *part = &out.parts[system.kind_count - 1];
    ic_result_set(result, LATENCY, out.latency);
    ic_result_set(result, OUTGOING, part->outgoing);
    ic_result_set(result, INTRA, part->intra);
    ic_result_set(result, INTER, part->inter);
    ic_result_set(result, CONCENTRATOR, part->wait);
    return GMC_OK;
}

/* A cycle is the time of a flit between switches; links to nodes take the same with the constants
 * of the source. */
static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error)
{
    (void)setting;
    struct ic_wh_layout layout = {
        .params = MORE, .latency = LATENCY, .network = NETWORK, .wait = WAIT, .outputs = SEEN};
    struct ic_javadi system;
    struct ic_wh_network network;
    gmc_status status = read_system(values, &system, error);
    if (status == GMC_OK)
        status = ic_multicluster_network(&system, (enum ic_fat_tree_routing)values[ROUTING],
                                         &network, error);
    if (status != GMC_OK)
        return status;
    layout.cycle = system.switch_time;
    status = ic_wh_simulate(&network, &layout, values, values[LOAD] * layout.cycle,
                            (uint32_t)values[VCS], (uint32_t)values[FLITS], run, result, error);
    ic_wh_network_fini(&network);
    return status;
}

const struct ic_family ic_family_multicluster = {
    .name = "multicluster",
    .title = "clusters of fat trees: ICN1, ECN1, concentrators, ICN2",
    .source = "Javadi, Abawajy, Akbari, Nahavandi 2006",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .load = "load",
    .messages = IC_WH_MESSAGES,
    .model = model,
    .simulate = simulate,
    .limit = limit,
    .settle = settle,
};
