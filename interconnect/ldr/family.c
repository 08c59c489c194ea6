/* SPDX-License-Identifier: BSD-2-Clause */
/* Low-diameter graphs, hypercubes, fat trees and hybrids as a family: packets through them. */
#include <stdlib.h>

#include "interconnect/families.h"
#include "interconnect/ldr/model.h"
#include "interconnect/ldr/packets.h"
#include "interconnect/ldr/params.h"

enum {
    LOAD,
    GRAPH,
    COMPONENT = GRAPH + IC_LDR_PARAMS,
    PORTS,
    ROUTING,
    SWITCHING,
    BUFFERS,
    BUFFER,
    ARRIVALS,
    PATTERN,
    SHIFT,
    BROADCAST,
    GROUP,
    BYTES,
    RATE,
    CHANNEL,
    SWITCH,
    SEND,
    RECEIVE,
    PARAMS
};
enum {
    LATENCY,
    NETWORK,
    ZERO_LOAD,
    HOPS,
    DIAMETER,
    MEAN_HOPS,
    SATURATION,
    THROUGHPUT,
    ALL,
    OUTPUTS
};

static const char *const topologies[] = {[IC_LDR_HYPERCUBE] = "hypercube",
                                         [IC_LDR_GENERATED] = "ldr",
                                         [IC_LDR_IMPROVED] = "improved",
                                         [IC_LDR_FAT_TREE] = "fat-tree",
                                         [IC_LDR_HYBRID_HYPERCUBE] = "hybrid-hypercube",
                                         [IC_LDR_HYBRID_GENERATED] = "hybrid-ldr",
                                         [IC_LDR_HYBRID_IMPROVED] = "hybrid-improved",
                                         [IC_LDR_TOPOLOGIES] = NULL};
static const char *const routings[] = {[IC_FIXED] = "fixed",
                                       [IC_OBLIVIOUS] = "oblivious",
                                       [IC_ADAPTIVE] = "adaptive",
                                       [IC_PACKET_ROUTINGS] = NULL};
static const char *const switchings[] = {[IC_CUT_THROUGH] = "cut-through",
                                         [IC_STORE_AND_FORWARD] = "store-and-forward",
                                         [IC_SWITCHINGS] = NULL};
static const char *const bufferings[] = {
    [IC_OUTPUT_BUFFERED] = "output", [IC_INPUT_BUFFERED] = "input", [IC_BUFFERINGS] = NULL};
static const char *const arrivals[] = {
    [IC_POISSON] = "poisson", [IC_DETERMINISTIC] = "deterministic", [IC_ARRIVALS] = NULL};

#define COUNT(name, unit, about, least, most, usual)                                               \
    {                                                                                              \
        name, unit, about, IC_COUNT, least, most, usual, NULL, IC_BOTH                             \
    }
#define NUMBER(name, unit, about, least, most, usual)                                              \
    {                                                                                              \
        name, unit, about, IC_NUMBER, least, most, usual, NULL, IC_BOTH                            \
    }
#define CHOICE(name, about, list, whose)                                                           \
    {                                                                                              \
        name, "", about, IC_CHOICE, 0, 0, 0, list, whose                                           \
    }

static const struct ic_param params[PARAMS] = {
    [LOAD] = NUMBER("load", "", "of a host's link", 1e-6, IC_PACKETS_LOAD_MAX, 0.5),
    IC_LDR_PARAM_ROWS(GRAPH, topologies, "hosts", IC_GRAPH_NODES_MAX, IC_NETWORK_PORTS_MAX),
    [COMPONENT] = COUNT("component", "hosts", "in a part of a hybrid", 2, IC_GRAPH_NODES_MAX, 16),
    [PORTS] = COUNT("ports", "ports", "of a fat tree's switch", 4, 128, 8),
    [ROUTING] = CHOICE("routing", "choice among shortest ways", routings, IC_BOTH),
    [SWITCHING] = CHOICE("switching", "when a switch passes a packet on", switchings, IC_BOTH),
    [BUFFERS] = CHOICE("buffers", "where packets wait in switches", bufferings, IC_SIMULATOR),
    [BUFFER] = {"buffer-packets", "packets",
                "in a switch, of each link and number of hops; 0: no bound", IC_COUNT, 0,
                IC_BUFFER_PACKETS_MAX, 0, NULL, IC_SIMULATOR},
    [ARRIVALS] = CHOICE("arrivals", "of packets at a host", arrivals, IC_BOTH),
    [PATTERN] = CHOICE("traffic", "who sends to whom", ic_traffic_names, IC_BOTH),
    [SHIFT] = COUNT("shift", "hosts", "from source to destination, of shift traffic", 1,
                    IC_GRAPH_NODES_MAX - 1, 1),
    [BROADCAST] = {"broadcast", "packets", "of one broadcast at a time beside the traffic; 0: none",
                   IC_COUNT, 0, IC_BROADCAST_PACKETS_MAX, 0, NULL, IC_SIMULATOR},
    [GROUP] = {"group", "hosts",
               "that a broadcast goes to, its root among them, drawn for each; 0: all", IC_COUNT, 0,
               IC_GRAPH_NODES_MAX, 0, NULL, IC_SIMULATOR},
    [BYTES] = COUNT("bytes", "bytes", "of a packet", 1, 1048576, 256),
    [RATE] = NUMBER("rate", "Gb/s", "of a link", 0.001, 1e4, 1.4),
    [CHANNEL] = NUMBER("channel", "ns", "delay of a link", 0, 1e6, 100),
    [SWITCH] = NUMBER("switch", "ns", "delay of a switch", 0, 1e6, 90),
    [SEND] = NUMBER("send", "ns", "of a NIC, to send", 0, 1e6, 500),
    [RECEIVE] = NUMBER("receive", "ns", "of a NIC, to receive", 0, 1e6, 500),
};

static const struct ic_output outputs[OUTPUTS] = {
    [LATENCY] = {"latency", "ns", "of a packet, its wait at the source among it", IC_BOTH},
    [NETWORK] = {"network_latency", "ns", "without the wait at the source", IC_BOTH},
    [ZERO_LOAD] = {"zero_load", "ns", "latency without other packets", IC_MODEL},
    [HOPS] = {"hops", "links", "mean of packets, between switches", IC_BOTH},
    [DIAMETER] = {"diameter", "links", "between switches with hosts", IC_BOTH},
    [MEAN_HOPS] = {"distance", "links", "mean over pairs of different hosts", IC_BOTH},
    [SATURATION] = {"saturation", "", "load at which the first link is full", IC_MODEL},
    [THROUGHPUT] = {"throughput", "", "load of hosts' links that is delivered", IC_SIMULATOR},
    [ALL] = {"broadcast_latency", "ns", "until all its hosts have all packets", IC_SIMULATOR},
};

/* ---- what the points of a curve have in common ---- */
struct point {
    const double *values;
    const struct ic_setting *setting;
};

enum { NETWORK_KEY = IC_LDR_PARAMS + 2, FLOWS_KEY = NETWORK_KEY + 3 };

/* What a network depends on. */
static void put_network(const double *values, double *key)
{
    for (size_t i = 0; i < IC_LDR_PARAMS; i++)
        key[i] = values[GRAPH + i];
    key[IC_LDR_PARAMS] = values[COMPONENT];
    key[IC_LDR_PARAMS + 1] = values[PORTS];
}

struct common {
    struct ic_ldr_built built; /* routes are made when they are needed first */
    struct ic_ways ways;
};

static void release_common(void *what)
{
    struct common *common = what;
    ic_ways_fini(&common->ways);
    ic_ldr_built_fini(&common->built);
    free(common);
}

static struct ic_ldr_spec spec_of(const double *values)
{
    struct ic_ldr_spec spec = ic_ldr_params_spec(values + GRAPH);
    spec.component = (uint64_t)values[COMPONENT];
    spec.ports = (uint64_t)values[PORTS];
    return spec;
}

static gmc_status build(const struct point *point, struct ic_ldr_built *built, char *error)
{
    const struct ic_graph *given =
        ic_ldr_params_graph(point->values + GRAPH, IC_LDR_TOPOLOGIES, point->setting);
    const struct ic_ldr_spec spec = spec_of(point->values);
    struct ic_graph copy;
    if (given == NULL)
        return ic_ldr_build_network(built, &spec, error);
    gmc_status status = ic_graph_copy(given, &copy);
    return status == GMC_OK ? ic_ldr_take_graph(built, &copy, error) : status;
}

/* About; with routes, where there can be. */
static size_t bytes_of(const struct common *common)
{
    const struct ic_network *network = &common->built.network;
    uint64_t routes = ic_routes_bytes(network->switches, common->ways.count, IC_NETWORK_PORTS_MAX);
    return (routes <= IC_ROUTES_BYTES_MAX ? (size_t)routes : 0) +
           (size_t)ic_network_channels(network) * 32 + ic_ways_bytes(&common->ways);
}

static gmc_status make_common(const void *ctx, void **what, size_t *bytes, char *error)
{
    struct common *common = calloc(1, sizeof(*common));
    if (common == NULL)
        return GMC_ERR_NOMEM;
    gmc_status status = build(ctx, &common->built, error);
    if (status == GMC_OK)
        status = ic_ways_init(&common->ways, &common->built.network);
    if (status != GMC_OK) {
        release_common(common);
        return status;
    }
    *what = common;
    *bytes = bytes_of(common);
    return GMC_OK;
}

/* Stays with the memo. */
static gmc_status find_common(const struct point *point, struct common **out, char *error)
{
    const struct ic_memo_maker maker = {make_common, release_common, point};
    double key[NETWORK_KEY];
    void *common;
    put_network(point->values, key);
    gmc_status status = ic_memo_get(point->setting->memo, key, NETWORK_KEY, &maker, &common, error);
    if (status == GMC_OK)
        *out = common;
    return status;
}

static gmc_status find_traffic(const double *values, const struct ic_network *network,
                               struct ic_traffic *traffic, char *error)
{
    return ic_traffic_init(traffic, (enum ic_traffic_pattern)values[PATTERN], network->hosts,
                           (uint64_t)values[SHIFT], error);
}

static void release_flows(void *what)
{
    ic_packet_flows_free(what);
}

static gmc_status make_flows(const void *ctx, void **what, size_t *bytes, char *error)
{
    const struct point *point = ctx;
    struct common *common;
    struct ic_packet_flows *flows;
    struct ic_traffic traffic;
    gmc_status status = find_common(point, &common, error);
    if (status == GMC_OK)
        status = find_traffic(point->values, &common->built.network, &traffic, error);
    if (status == GMC_OK)
        status = ic_packet_flows_new(&common->ways, point->values[ROUTING] == IC_FIXED, &traffic,
                                     &flows, error);
    if (status != GMC_OK)
        return status;
    *what = flows;
    *bytes = ic_packet_flows_bytes(flows);
    return GMC_OK;
}

/* Those of adaptive routing are those of oblivious one. Stays with the memo. */
static gmc_status find_flows(const struct point *point, const struct ic_packet_flows **out,
                             char *error)
{
    const struct ic_memo_maker maker = {make_flows, release_flows, point};
    double key[FLOWS_KEY];
    void *flows;
    put_network(point->values, key);
    key[NETWORK_KEY] = point->values[ROUTING] == IC_FIXED;
    key[NETWORK_KEY + 1] = point->values[PATTERN];
    key[NETWORK_KEY + 2] = point->values[SHIFT];
    gmc_status status = ic_memo_get(point->setting->memo, key, FLOWS_KEY, &maker, &flows, error);
    if (status == GMC_OK)
        *out = flows;
    return status;
}

/* A network whose routes would be too large is not made. */
static gmc_status find_routed(const struct point *point, struct common **common, char *error)
{
    const struct ic_ldr_spec spec = spec_of(point->values);
    gmc_status status = GMC_OK;
    if (ic_ldr_params_graph(point->values + GRAPH, IC_LDR_TOPOLOGIES, point->setting) == NULL)
        status = ic_ldr_check_routes(&spec, error);
    if (status == GMC_OK)
        status = find_common(point, common, error);
    if (status != GMC_OK || (*common)->built.routes.masks != NULL)
        return status;
    return ic_routes_init(&(*common)->built.routes, &(*common)->built.network, error);
}

static struct ic_packets_config config_of(const double *values)
{
    return (struct ic_packets_config){
        .timing = {.packet_bytes = values[BYTES],
                   .link_gbps = values[RATE],
                   .channel_ns = values[CHANNEL],
                   .switch_ns = values[SWITCH],
                   .send_ns = values[SEND],
                   .receive_ns = values[RECEIVE]},
        .switching = (enum ic_switching)values[SWITCHING],
        .routing = (enum ic_packet_routing)values[ROUTING],
        .buffering = (enum ic_buffering)values[BUFFERS],
        .buffer_packets = (uint32_t)values[BUFFER],
        .arrivals = (enum ic_arrivals)values[ARRIVALS],
        .load = values[LOAD],
        .broadcast_packets = (uint32_t)values[BROADCAST],
        .broadcast_hosts = (uint32_t)values[GROUP],
    };
}

/* Broadcasts and buffers are not the model's. */
static gmc_status solve(const struct point *point, const struct ic_packet_flows **flows,
                        struct ic_packets_model *model, char *error)
{
    struct ic_packets_config config = config_of(point->values);
    config.broadcast_packets = 0;
    config.broadcast_hosts = 0;
    config.buffer_packets = 0;
    config.buffering = IC_OUTPUT_BUFFERED;
    gmc_status status = find_flows(point, flows, error);
    return status == GMC_OK ? ic_packet_flows_model(*flows, &config, model, error) : status;
}

static void set_graph(uint32_t diameter, double distance, struct ic_result *result)
{
    ic_result_set(result, DIAMETER, diameter);
    ic_result_set(result, MEAN_HOPS, distance);
}

static void set_model(const struct ic_packets_model *model, struct ic_result *result)
{
    ic_result_set(result, ZERO_LOAD, model->zero_load);
    ic_result_set(result, HOPS, model->mean_hops);
    ic_result_set(result, SATURATION, model->saturation);
    if (model->is_saturated) {
        ic_result_saturated(result, "the %s from %u to %u is full from load %.6g on",
                            model->fullest.what, model->fullest.from, model->fullest.to,
                            model->saturation);
        return;
    }
    ic_result_set(result, LATENCY, model->latency);
    ic_result_set(result, NETWORK, model->network);
}

static void settle(double *values, const struct ic_setting *setting)
{
    ic_ldr_params_settle(values + GRAPH, IC_LDR_TOPOLOGIES, setting);
}

static gmc_status run_model(const double *values, const struct ic_setting *setting,
                            struct ic_result *result, char *error)
{
    const struct point point = {values, setting};
    const struct ic_packet_flows *flows;
    struct ic_packets_model model;
    gmc_status status = solve(&point, &flows, &model, error);
    if (status == GMC_OK) {
        set_graph(flows->diameter, flows->distance, result);
        set_model(&model, result);
    }
    return status;
}

/* Does not depend on the load; it may be beyond what hosts can send, and is then of their links. */
static gmc_status limit(const double *values, const struct ic_setting *setting, double *load,
                        char *error)
{
    const struct point point = {values, setting};
    const struct ic_packet_flows *flows;
    struct ic_packets_model model;
    gmc_status status = solve(&point, &flows, &model, error);
    if (status == GMC_OK)
        *load = model.saturation;
    return status;
}

static void set_packets(const struct ic_packets_result *packets, bool has_broadcasts,
                        struct ic_result *result)
{
    result->warmup = packets->warmup;
    if (packets->is_saturated) {
        ic_result_saturated(result, "queues grow without end");
        return;
    }
    ic_result_set_measured(result, LATENCY, packets->latency);
    ic_result_set_measured(result, NETWORK, packets->network);
    ic_result_set_measured(result, HOPS, packets->mean_hops);
    ic_result_set_measured(result, THROUGHPUT, packets->throughput);
    if (has_broadcasts)
        ic_result_set_measured(result, ALL, packets->broadcast);
}

/* Where it began is what the model says. */
static gmc_status tell_saturation(const struct point *point, struct ic_result *result, char *error)
{
    const struct ic_packet_flows *flows;
    struct ic_packets_model model;
    gmc_status status = solve(point, &flows, &model, error);
    if (status == GMC_OK && model.is_saturated)
        ic_result_saturated(result, "the %s from %u to %u is full from load %.6g on",
                            model.fullest.what, model.fullest.from, model.fullest.to,
                            model.saturation);
    return status;
}

static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *result, char *error)
{
    const struct point point = {values, setting};
    struct common *common;
    struct ic_packets_config config = config_of(values);
    struct ic_packets_result packets;
    gmc_status status = find_routed(&point, &common, error);
    if (status == GMC_OK)
        status = find_traffic(values, &common->built.network, &config.traffic, error);
    if (status != GMC_OK)
        return status;
    config.routes = &common->built.routes;
    config.graph = common->built.is_direct ? &common->built.graph : NULL;
    if ((enum ic_ldr_topology)values[GRAPH + IC_LDR_PARAM_TOPOLOGY] == IC_LDR_HYPERCUBE)
        config.cube_dimensions = ic_graph_degree(&common->built.graph, 0);
    status = ic_packets_simulate(&config, run, &packets, error);
    if (status == GMC_OK) {
        set_graph(common->built.routes.diameter, common->built.routes.mean_hops, result);
        set_packets(&packets, config.broadcast_packets > 0, result);
        if (packets.is_saturated)
            status = tell_saturation(&point, result, error);
    }
    return status;
}

const struct ic_family ic_family_ldr = {
    .name = "ldr",
    .title = "packets through low-diameter regular graphs, hypercubes and hybrids",
    .source = "Mehta 2005",
    .params = params,
    .param_count = PARAMS,
    .outputs = outputs,
    .output_count = OUTPUTS,
    .load = "load",
    .messages = IC_PACKETS_MESSAGES,
    .model = run_model,
    .simulate = simulate,
    .limit = limit,
    .settle = settle,
};
