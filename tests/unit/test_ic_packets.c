/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests the packets of interconnect/ldr: networks, traffic, the event queue, the simulator beside
 * the reference's figures (section 7 of what it is built from: 3 % up to load 0.7) and beside the
 * model; the claims of the source; what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/families.h"
#include "interconnect/fattree/tree.h"
#include "interconnect/graph/edges.h"
#include "interconnect/ldr/build.h"
#include "interconnect/ldr/calendar.h"
#include "interconnect/ldr/model.h"
#include "interconnect/ldr/packets.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

static void build(struct ic_ldr_built *built, enum ic_ldr_topology topology, uint64_t nodes)
{
    const struct ic_ldr_spec spec = {.topology = topology,
                                     .nodes = nodes,
                                     .component = nodes / 4,
                                     .ports = 8,
                                     .samples = nodes > 500 ? 1 : 10,
                                     .steps = 20000,
                                     .seed = 1};
    assert_ok(ic_ldr_build(built, &spec, error));
}

static struct ic_packets_config usual(const struct ic_ldr_built *built, double load)
{
    struct ic_packets_config config = {.routes = &built->routes,
                                       .graph = built->is_direct ? &built->graph : NULL,
                                       .timing = IC_PACKET_TIMING_USUAL,
                                       .load = load};
    assert_ok(ic_traffic_init(&config.traffic, IC_TRAFFIC_UNIFORM, built->network.hosts, 1, error));
    return config;
}

static struct ic_packets_result simulate(const struct ic_packets_config *config, uint64_t messages)
{
    const struct ic_run run = {.seed = 1, .messages = messages};
    struct ic_packets_result result;
    assert_ok(ic_packets_simulate(config, &run, &result, error));
    return result;
}

/* ---- the event queue ---- */
static void events_come_in_their_order(void **state)
{
    enum { EVENTS = 500 };
    struct gmc_prng prng;
    struct ic_calendar calendar;
    uint64_t now = 0, popped = 0;
    uint32_t last = 0;
    (void)state;
    gmc_prng_init(&prng, 1);
    assert_ok(ic_calendar_init(&calendar, EVENTS / 2, 3, 100));
    assert_ok(ic_calendar_grow(&calendar, EVENTS));
    for (uint32_t i = 0; i < EVENTS; i++)
        ic_calendar_push(&calendar, i, gmc_prng_below(&prng, 5000));
    for (uint32_t event; (event = ic_calendar_pop(&calendar)) != IC_CALENDAR_NONE; popped++) {
        uint64_t time = calendar.now;
        assert_true(time > now || (time == now && (event > last || popped == 0)));
        now = time;
        last = event;
        /* Later on some are at the same time, and some many laps ahead; a third is in order, and
         * mostly so is another. */
        if (popped >= 5000)
            continue;
        if (event % 3 == 0)
            ic_calendar_push(&calendar, event, now + 1 + gmc_prng_below(&prng, 9) * 200);
        else
            ic_calendar_push_in_order(&calendar, event % 3 - 1, event,
                                      now + 300 + event % 3 / 2 * gmc_prng_below(&prng, 2));
    }
    assert_int_equal(popped, 5000 + EVENTS);
    ic_calendar_fini(&calendar);
}

/* ---- networks ---- */
static void fat_trees_have_their_distances(void **state)
{
    static const uint32_t sizes[][2] = {{4, 1}, {4, 2}, {4, 3}, {4, 4}, {6, 3}, {8, 2}, {8, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct ic_fat_tree tree;
        struct ic_network network;
        struct ic_routes routes;
        assert_ok(ic_fat_tree_init(&tree, sizes[i][0], sizes[i][1], error));
        assert_ok(ic_network_fat_tree(&network, sizes[i][0], sizes[i][1], tree.nodes, error));
        assert_int_equal(network.switches, tree.switches);
        /* n N cables in all, N of them to hosts. */
        assert_int_equal(ic_network_channels(&network), 2 * (tree.levels - 1) * tree.nodes);
        assert_ok(ic_routes_init(&routes, &network, error));
        assert_near(routes.mean_hops + 2, ic_fat_tree_distance(&tree), 1e-9);
        assert_int_equal(routes.diameter, 2 * (tree.levels - 1));
        ic_routes_fini(&routes);
        ic_network_fini(&network);
    }
}

static void hybrids_join_equal_positions(void **state)
{
    struct ic_graph cube;
    struct ic_network network;
    struct ic_routes routes;
    (void)state;
    assert_ok(ic_graph_hypercube(&cube, 3, error));
    assert_ok(ic_network_hybrid(&network, &cube, 4, 4, error));
    assert_int_equal(network.hosts, 32);
    assert_int_equal(network.switches, 32 + 8); /* four leaves are one switch */
    assert_int_equal(ic_network_channels(&network), 2 * (4 * 12 + 32));
    assert_ok(ic_routes_init(&routes, &network, error));
    assert_int_equal(routes.diameter, 3 + 2);
    /* 7 others in the part at 1.5 * 8/7 hops, 24 outside at 2 more than the cube's own. */
    assert_near(routes.mean_hops, (12 + 3 * (12 + 2 * 8)) / 31.0, 1e-9);
    ic_routes_fini(&routes);
    ic_network_fini(&network);
    /* More parts than a switch has ports: trees of two levels. */
    assert_ok(ic_network_hybrid(&network, &cube, 6, 4, error));
    assert_int_equal(network.switches, 48 + 8 * 6);
    ic_network_fini(&network);
    assert_ok(ic_network_hybrid(&network, &cube, 1, 4, error));
    assert_int_equal(network.switches, 8);
    ic_network_fini(&network);
    ic_graph_fini(&cube);
}

static void ports_of_a_hypercube_are_its_bits(void **state)
{
    struct ic_ldr_built built;
    (void)state;
    build(&built, IC_LDR_HYPERCUBE, 64);
    for (uint32_t at = 0; at < 64; at++)
        for (uint32_t to = 0; to < 64; to++)
            assert_int_equal(ic_routes_ports(&built.routes, at, to), at ^ to);
    ic_ldr_built_fini(&built);
}

static void any_graph_can_be_built(void **state)
{
    static const char ring[] = "a b\nb c\nc x\nx y\ny a\n", parts[] = "a b\nc d\n";
    struct ic_edges edges;
    struct ic_ldr_built built;
    (void)state;
    assert_ok(ic_edges_parse(&edges, ring, strlen(ring), error));
    assert_ok(ic_ldr_build_graph(&built, &edges.graph, error));
    struct ic_packets_config config = usual(&built, 0.3);
    struct ic_packets_result result = simulate(&config, 5000);
    assert_near(built.routes.mean_hops, 1.5, 1e-12);
    assert_near(result.mean_hops, 1.5, 0.05);
    ic_ldr_built_fini(&built);
    ic_edges_fini(&edges);
    assert_ok(ic_edges_parse(&edges, parts, strlen(parts), error));
    assert_int_equal(ic_ldr_build_graph(&built, &edges.graph, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the graph is not connected");
    ic_edges_fini(&edges);
}

/* ---- traffic ---- */
static void patterns_are_permutations(void **state)
{
    struct ic_traffic traffic;
    (void)state;
    for (int pattern = IC_TRAFFIC_SHIFT; pattern < IC_TRAFFIC_PATTERNS; pattern++) {
        bool is_met[32] = {false};
        assert_ok(ic_traffic_init(&traffic, (enum ic_traffic_pattern)pattern, 32, 5, error));
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t to = ic_traffic_partner(&traffic, i);
            assert_in_range(to, 0, 31);
            assert_false(is_met[to]);
            is_met[to] = true;
        }
    }
    assert_ok(ic_traffic_init(&traffic, IC_TRAFFIC_TRANSPOSE, 16, 1, error));
    assert_int_equal(ic_traffic_partner(&traffic, 0x6), 0x9);
    assert_ok(ic_traffic_init(&traffic, IC_TRAFFIC_REVERSAL, 16, 1, error));
    assert_int_equal(ic_traffic_partner(&traffic, 0x3), 0xc);
    assert_ok(ic_traffic_init(&traffic, IC_TRAFFIC_COMPLEMENT, 16, 1, error));
    assert_int_equal(ic_traffic_partner(&traffic, 0x1), 0xe);
    assert_ok(ic_traffic_init(&traffic, IC_TRAFFIC_RING, 16, 1, error));
    assert_int_equal(ic_traffic_partner(&traffic, 15), 0);
}

/* ---- the simulator beside what is known ---- */
/* Nobody meets anybody: every latency is that of the formula. */
static void zero_load_is_exact(void **state)
{
    struct ic_ldr_built built;
    (void)state;
    build(&built, IC_LDR_HYPERCUBE, 64);
    for (int switching = 0; switching < IC_SWITCHINGS; switching++)
        for (int buffering = 0; buffering < IC_BUFFERINGS; buffering++) {
            struct ic_packets_config config = usual(&built, 1e-6);
            struct ic_packets_model model;
            config.arrivals = IC_DETERMINISTIC;
            config.switching = (enum ic_switching)switching;
            config.buffering = (enum ic_buffering)buffering;
            assert_ok(ic_traffic_init(&config.traffic, IC_TRAFFIC_COMPLEMENT, 64, 1, error));
            struct ic_packets_result result = simulate(&config, 2000);
            double wanted = ic_packet_zero_load(&config.timing, config.switching, 6);
            assert_near(result.latency, wanted, 0.01);
            assert_near(result.network, wanted, 0.01);
            assert_near(result.mean_hops, 6, 1e-12);
            assert_near(result.throughput, 1e-6, 5e-8);
            config.buffering = IC_OUTPUT_BUFFERED;
            assert_ok(ic_packets_model(&config, &model, error));
            assert_near(model.zero_load, wanted, 1e-6);
        }
    ic_ldr_built_fini(&built);
}

static void figures_are_those_of_the_reference(void **state)
{
    struct ic_table table;
    struct ic_ldr_built cubes[2], graphs[2];
    int compared = 0;
    (void)state;
    build(&cubes[0], IC_LDR_HYPERCUBE, 64);
    build(&cubes[1], IC_LDR_HYPERCUBE, 2048);
    build(&graphs[0], IC_LDR_GENERATED, 64);
    build(&graphs[1], IC_LDR_GENERATED, 2048);
    ic_table_open(&table, "sim_ldr");
    while (ic_table_next(&table)) {
        const char *routing = ic_table_text(&table, "routing");
        bool is_cube = strcmp(ic_table_text(&table, "topology"), "hypercube") == 0;
        bool is_large = ic_table_number(&table, "nodes") == 2048;
        double load = strtod(ic_table_text(&table, "load_factor"), NULL);
        struct ic_packets_config config =
            usual(is_cube ? &cubes[is_large] : &graphs[is_large], load);
        config.routing = strcmp(routing, "fixed") == 0       ? IC_FIXED
                         : strcmp(routing, "oblivious") == 0 ? IC_OBLIVIOUS
                                                             : IC_ADAPTIVE;
        config.switching = strcmp(ic_table_text(&table, "switching"), "saf") == 0
                               ? IC_STORE_AND_FORWARD
                               : IC_CUT_THROUGH;
        if (load > 0.7)
            continue;
        struct ic_packets_result result = simulate(&config, 100000);
        double wanted = strtod(ic_table_text(&table, "latency_ns"), NULL);
        if (result.is_saturated || fabs(result.latency / wanted - 1) > 0.03)
            fail_msg("row %d: %.1f ns, should be %.1f", table.rows, result.latency, wanted);
        compared++;
    }
    assert_true(compared > 40);
    for (int i = 0; i < 2; i++) {
        ic_ldr_built_fini(&cubes[i]);
        ic_ldr_built_fini(&graphs[i]);
    }
}

static void the_model_is_near(void **state)
{
    static const enum ic_ldr_topology topologies[] = {IC_LDR_HYPERCUBE, IC_LDR_GENERATED,
                                                      IC_LDR_IMPROVED};
    (void)state;
    for (size_t i = 0; i < sizeof(topologies) / sizeof(topologies[0]); i++) {
        struct ic_ldr_built built;
        build(&built, topologies[i], 256);
        for (int routing = IC_FIXED; routing < IC_PACKET_ROUTINGS; routing++)
            for (double load = 0.1; load < 0.65; load += 0.25) {
                struct ic_packets_config config = usual(&built, load);
                struct ic_packets_model model;
                config.routing = (enum ic_packet_routing)routing;
                assert_ok(ic_packets_model(&config, &model, error));
                struct ic_packets_result result = simulate(&config, 60000);
                assert_false(model.is_saturated);
                assert_near(model.mean_hops, result.mean_hops, 0.03);
                if (fabs(model.latency / result.latency - 1) > 0.06)
                    fail_msg("topology %d, routing %d, load %g: model %.1f, simulator %.1f",
                             (int)topologies[i], routing, load, model.latency, result.latency);
            }
        ic_ldr_built_fini(&built);
    }
}

/* ---- claims of the source ---- */
/* One destination stands for all. */
static void hypercubes_are_known_to_be_alike(void **state)
{
    static const enum ic_packet_routing routings[] = {IC_FIXED, IC_OBLIVIOUS, IC_ADAPTIVE};
    struct ic_ldr_built built;
    (void)state;
    build(&built, IC_LDR_HYPERCUBE, 256);
    struct ic_packets_config config = usual(&built, 0.7);
    for (size_t i = 0; i < sizeof(routings) / sizeof(routings[0]); i++) {
        struct ic_packets_model quick, slow;
        config.routing = routings[i];
        built.network.is_hypercube = true;
        assert_ok(ic_packets_model(&config, &quick, error));
        built.network.is_hypercube = false;
        assert_ok(ic_packets_model(&config, &slow, error));
        assert_near(quick.latency, slow.latency, 1e-8);
        assert_near(quick.mean_hops, slow.mean_hops, 1e-12);
        assert_near(quick.saturation, slow.saturation, 1e-12);
    }
    ic_ldr_built_fini(&built);
}

/* What flows say of a network is what its routes say; more hosts than ports at a switch. */
static void flows_know_distances(void **state)
{
    static const uint64_t hosts[] = {100, 128};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct ic_ldr_built built;
        struct ic_ways ways;
        struct ic_packet_flows *flows;
        const struct ic_ldr_spec spec = {.topology = IC_LDR_FAT_TREE,
                                         .nodes = hosts[i],
                                         .ports = i == 0 ? 8 : 128};
        assert_ok(ic_ldr_build(&built, &spec, error));
        const struct ic_packets_config config = usual(&built, 0.1);
        assert_ok(ic_ways_init(&ways, &built.network));
        assert_ok(ic_packet_flows_new(&ways, true, &config.traffic, &flows, error));
        assert_near(flows->distance, built.routes.mean_hops, 1e-12);
        assert_near(flows->mean_hops, built.routes.mean_hops, 1e-12);
        assert_int_equal(flows->diameter, built.routes.diameter);
        assert_near(flows->total, (double)hosts[i], 1e-9);
        ic_packet_flows_free(flows);
        ic_ways_fini(&ways);
        ic_ldr_built_fini(&built);
    }
}

static void low_diameter_graphs_are_faster(void **state)
{
    struct ic_ldr_built cube, graph;
    (void)state;
    build(&cube, IC_LDR_HYPERCUBE, 64);
    build(&graph, IC_LDR_GENERATED, 64);
    /* Oblivious: at all loads. */
    for (double load = 0.1; load < 0.85; load += 0.35)
        for (int switching = 0; switching < IC_SWITCHINGS; switching++) {
            struct ic_packets_config config = usual(&cube, load);
            config.routing = IC_OBLIVIOUS;
            config.switching = (enum ic_switching)switching;
            double of_cube = simulate(&config, 60000).latency;
            config.routes = &graph.routes;
            assert_true(simulate(&config, 60000).latency < of_cube);
        }
    /* Broadcasts of ten packets: at all loads. */
    for (double load = 0.1; load < 0.55; load += 0.2) {
        struct ic_packets_config config = usual(&cube, load);
        config.routing = IC_ADAPTIVE;
        config.broadcast_packets = 10;
        double of_cube = simulate(&config, 200000).broadcast;
        config.routes = &graph.routes;
        config.graph = &graph.graph;
        assert_true(simulate(&config, 200000).broadcast < of_cube);
    }
    ic_ldr_built_fini(&cube);
    ic_ldr_built_fini(&graph);
}

/* One packet to all, hardly anybody else: as long as to the farthest, or a few packets more where
 * switches send one copy after the other. */
static void broadcasts_reach_all(void **state)
{
    struct ic_ldr_built built;
    (void)state;
    build(&built, IC_LDR_HYPERCUBE, 64);
    struct ic_packets_config config = usual(&built, 0.001);
    config.broadcast_packets = 1;
    struct ic_packets_result result = simulate(&config, 3000);
    double farthest = ic_packet_zero_load(&config.timing, IC_CUT_THROUGH, 6);
    assert_true(result.broadcast >= farthest - 0.01);
    assert_true(result.broadcast < farthest + 100);
    config.buffering = IC_INPUT_BUFFERED;
    const struct ic_run run = {.seed = 1};
    assert_int_equal(ic_packets_simulate(&config, &run, &result, error), GMC_ERR_INVALID);
    assert_string_equal(error, "broadcasts need a direct network of switches with output buffers "
                               "without bounds");
    ic_ldr_built_fini(&built);
}

/* The first packet of an input holds up those behind it. */
static void input_buffers_are_slower(void **state)
{
    struct ic_ldr_built built;
    (void)state;
    build(&built, IC_LDR_GENERATED, 64);
    for (double load = 0.2; load < 0.75; load += 0.25) {
        struct ic_packets_config config = usual(&built, load);
        config.routing = IC_ADAPTIVE;
        double output = simulate(&config, 60000).latency;
        config.buffering = IC_INPUT_BUFFERED;
        struct ic_packets_result input = simulate(&config, 60000);
        assert_true(!input.is_saturated && input.latency > output);
        assert_near(input.throughput, load, 0.02 * load);
    }
    ic_ldr_built_fini(&built);
}

/* ---- runs ---- */
static void saturation_is_named(void **state)
{
    struct ic_ldr_built built;
    struct ic_packets_model model;
    (void)state;
    build(&built, IC_LDR_HYPERCUBE, 64);
    struct ic_packets_config config = usual(&built, 0.6);
    assert_ok(ic_traffic_init(&config.traffic, IC_TRAFFIC_TRANSPOSE, 64, 1, error));
    assert_true(simulate(&config, 60000).is_saturated);
    assert_ok(ic_packets_model(&config, &model, error));
    assert_true(model.is_saturated);
    assert_near(model.saturation, 0.25, 1e-9);
    assert_string_equal(model.fullest.what, "link");
    config.load = 0.2;
    assert_false(simulate(&config, 60000).is_saturated);
    ic_ldr_built_fini(&built);
}

struct log {
    uint64_t messages, channels;
    double hops, most;
    int calls;
};

static void on_message(void *ctx, const struct ic_message_record *record)
{
    struct log *log = ctx;
    assert_int_equal(record->number, log->messages);
    assert_true(record->created <= record->entered && record->entered < record->delivered);
    assert_true(record->from != record->to);
    log->messages++;
    log->hops += record->hops;
}

static void on_channel(void *ctx, const struct ic_channel_record *record)
{
    struct log *log = ctx;
    log->channels++;
    log->most = fmax(log->most, record->load);
}

static bool stop_at_once(void *ctx, double share)
{
    struct log *log = ctx;
    assert_true(share >= 0 && share <= 1);
    log->calls++;
    return false;
}

static void runs_are_recorded_and_repeated(void **state)
{
    struct ic_ldr_built built;
    struct log log = {0};
    struct ic_run run = {.seed = 5,
                         .messages = 10000,
                         .on_message = on_message,
                         .on_channel = on_channel,
                         .ctx = &log};
    struct ic_packets_result first, again;
    (void)state;
    build(&built, IC_LDR_GENERATED, 64);
    struct ic_packets_config config = usual(&built, 0.4);
    config.routing = IC_ADAPTIVE;
    assert_ok(ic_packets_simulate(&config, &run, &first, error));
    assert_int_equal(log.messages, 10000);
    assert_int_equal(log.channels, 64 * 6 + 2 * 64);
    assert_near(log.hops / 10000, first.mean_hops, 1e-9);
    assert_true(log.most > 0.35 && log.most < 0.6);
    run.on_message = NULL;
    run.on_channel = NULL;
    assert_ok(ic_packets_simulate(&config, &run, &again, error));
    assert_memory_equal(&first.latency, &again.latency, sizeof(first.latency));
    run.seed = 6;
    assert_ok(ic_packets_simulate(&config, &run, &again, error));
    assert_true(first.latency != again.latency);
    assert_near(first.latency, again.latency, 0.05 * first.latency);
    run.on_progress = stop_at_once;
    assert_int_equal(ic_packets_simulate(&config, &run, &again, error), GMC_ERR_STATE);
    assert_int_equal(log.calls, 1);
    ic_ldr_built_fini(&built);
}

static void bad_parameters_are_named(void **state)
{
    struct ic_ldr_built built;
    struct ic_packets_result result;
    struct ic_traffic traffic;
    struct ic_ldr_spec spec = {.topology = IC_LDR_HYPERCUBE, .nodes = 48};
    const struct ic_run run = {0};
    (void)state;
    assert_int_equal(ic_ldr_build(&built, &spec, error), GMC_ERR_INVALID);
    assert_string_equal(error, "a hypercube has a power of two of nodes; 48 is none");
    spec = (struct ic_ldr_spec){.topology = IC_LDR_HYBRID_HYPERCUBE,
                                .nodes = 48,
                                .component = 32,
                                .ports = 8};
    assert_int_equal(ic_ldr_build(&built, &spec, error), GMC_ERR_INVALID);
    assert_string_equal(error, "48 nodes are not made of components of 32");
    spec = (struct ic_ldr_spec){.topology = IC_LDR_GENERATED, .nodes = 65536, .samples = 1};
    assert_int_equal(ic_ldr_build(&built, &spec, error), GMC_ERR_INVALID);
    assert_string_equal(
        error, "the routes of 65536 switches to 65536 would take 8192 MB; up to 2048 can be");
    assert_int_equal(ic_traffic_init(&traffic, IC_TRAFFIC_REVERSAL, 48, 1, error), GMC_ERR_INVALID);
    assert_string_equal(error, "patterns of bits need a power of two of hosts; there are 48");
    assert_int_equal(ic_traffic_init(&traffic, IC_TRAFFIC_SHIFT, 48, 48, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the shift is 48; it must be 1 to 47");
    build(&built, IC_LDR_HYPERCUBE, 64);
    struct ic_packets_config config = usual(&built, 1.0);
    assert_int_equal(ic_packets_simulate(&config, &run, &result, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the load of a host's link is 1; it must be 1e-06 to 0.999");
    ic_ldr_built_fini(&built);
}

/* ---- buffers with a bound ---- */
static void large_bounds_are_none(void **state)
{
    struct ic_ldr_built built;
    (void)state;
    build(&built, IC_LDR_GENERATED, 64);
    for (int i = 0; i < IC_BUFFERINGS; i++) {
        struct ic_packets_config config = usual(&built, 0.5);
        config.buffering = (enum ic_buffering)i;
        config.buffer_packets = 1000;
        struct ic_packets_result bounded = simulate(&config, 30000);
        config.buffer_packets = 1;
        struct ic_packets_result tight = simulate(&config, 30000);
        config.buffer_packets = 0;
        struct ic_packets_result free = simulate(&config, 30000);
        /* Lanes let packets of an input pass each other. */
        assert_near(bounded.latency, free.latency,
                    (i == IC_OUTPUT_BUFFERED ? 0.01 : 0.06) * free.latency);
        assert_near(bounded.throughput, free.throughput, 0.01);
        assert_true(tight.latency > bounded.latency * 1.05);
    }
    ic_ldr_built_fini(&built);
}

static bool count_deliveries(void *ctx, double share)
{
    (void)share;
    (*(uint64_t *)ctx)++;
    return true;
}

/* A ring with a place for one packet is what stops when buffers are not divided by hops. */
static void tight_rings_go_on(void **state)
{
    static const char text[] = "0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 0\n";
    struct ic_edges edges;
    struct ic_ldr_built built;
    (void)state;
    assert_ok(ic_edges_parse(&edges, text, strlen(text), error));
    assert_ok(ic_ldr_build_graph(&built, &edges.graph, error));
    for (int i = 0; i < IC_BUFFERINGS; i++) {
        uint64_t delivered = 0;
        const struct ic_run run = {.seed = 1,
                                   .messages = 100,
                                   .on_progress = count_deliveries,
                                   .ctx = &delivered};
        struct ic_packets_config config = usual(&built, 0.99);
        struct ic_packets_result result;
        config.buffering = (enum ic_buffering)i;
        config.buffer_packets = 1;
        assert_ok(ic_packets_simulate(&config, &run, &result, error));
        assert_true(delivered > 2000); /* until queues of hosts are too long */
        config.load = 0.4;
        result = simulate(&config, 10000);
        assert_false(result.is_saturated);
        assert_near(result.throughput, 0.4, 0.02);
    }
    struct ic_packets_config config = usual(&built, 0.5);
    const struct ic_run run = {.seed = 1};
    struct ic_packets_result result;
    config.buffer_packets = 1;
    config.broadcast_packets = 1;
    assert_int_equal(ic_packets_simulate(&config, &run, &result, error), GMC_ERR_INVALID);
    ic_ldr_built_fini(&built);
    ic_edges_fini(&edges);
}

/* One packet to a random group, hardly anybody else: with fewer hosts it is over sooner; a group
 * of all is a broadcast. In a hypercube subcubes are about as deep, and get more copies. */
static void multicasts_reach_groups(void **state)
{
    static const enum ic_ldr_topology topologies[] = {IC_LDR_GENERATED, IC_LDR_HYPERCUBE};
    (void)state;
    for (size_t i = 0; i < sizeof(topologies) / sizeof(topologies[0]); i++) {
        struct ic_ldr_built built;
        build(&built, topologies[i], 64);
        struct ic_packets_config config = usual(&built, 0.001);
        config.broadcast_packets = 4;
        double to_all = simulate(&config, 20000).broadcast, last = 1.02 * to_all;
        config.cube_dimensions = topologies[i] == IC_LDR_HYPERCUBE ? 6 : 0;
        for (uint32_t hosts = 64; hosts >= 2; hosts /= 4) {
            config.broadcast_hosts = hosts;
            double to_some = simulate(&config, 20000).broadcast;
            assert_true(to_some < last);
            last = to_some;
        }
        assert_true(last < 0.97 * to_all);
        config.broadcast_packets = 0;
        const struct ic_run run = {.seed = 1};
        struct ic_packets_result result;
        assert_int_equal(ic_packets_simulate(&config, &run, &result, error), GMC_ERR_INVALID);
        ic_ldr_built_fini(&built);
    }
}

/* Fixed routes fill one link: no kind of buffers carries more than that, and a load near it is not
 * taken for one beyond it. Bounds and inputs carry less. */
static void a_full_link_is_saturation(void **state)
{
    static const struct {
        const char *buffers;
        double places, carried, beyond; /* times the model's limit */
    } rows[] = {{"output", 0, 0.96, 1.05}, {"output", 4, 0.9, 1.1}, {"input", 0, 0.7, 0.9}};
    const struct ic_family *ldr = &ic_family_ldr;
    struct ic_figure figures[32];
    struct ic_result result = {.figures = figures};
    size_t load = ic_family_param(ldr, "load"), buffers = ic_family_param(ldr, "buffers");
    double values[64], limit;
    (void)state;
    ic_family_defaults(ldr, values);
    assert_ok(ic_family_limit(ldr, values, NULL, &limit, error));
    assert_true(limit > 0.7 && limit < 0.8);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_ok(ic_param_parse(&ldr->params[buffers], rows[i].buffers, &values[buffers], error));
        values[ic_family_param(ldr, "buffer-packets")] = rows[i].places;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            const struct ic_run run = {.seed = seed};
            values[load] = rows[i].carried * limit;
            assert_ok(ic_family_simulate(ldr, values, NULL, &run, &result, error));
            assert_false(result.is_saturated);
            values[load] = rows[i].beyond * limit;
            assert_ok(ic_family_simulate(ldr, values, NULL, &run, &result, error));
            assert_true(result.is_saturated);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_their_order),
        cmocka_unit_test(fat_trees_have_their_distances),
        cmocka_unit_test(hybrids_join_equal_positions),
        cmocka_unit_test(ports_of_a_hypercube_are_its_bits),
        cmocka_unit_test(any_graph_can_be_built),
        cmocka_unit_test(patterns_are_permutations),
        cmocka_unit_test(zero_load_is_exact),
        cmocka_unit_test(figures_are_those_of_the_reference),
        cmocka_unit_test(the_model_is_near),
        cmocka_unit_test(hypercubes_are_known_to_be_alike),
        cmocka_unit_test(flows_know_distances),
        cmocka_unit_test(low_diameter_graphs_are_faster),
        cmocka_unit_test(broadcasts_reach_all),
        cmocka_unit_test(multicasts_reach_groups),
        cmocka_unit_test(input_buffers_are_slower),
        cmocka_unit_test(saturation_is_named),
        cmocka_unit_test(runs_are_recorded_and_repeated),
        cmocka_unit_test(large_bounds_are_none),
        cmocka_unit_test(tight_rings_go_on),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(a_full_link_is_saturation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
