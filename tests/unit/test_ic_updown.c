/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests worms in any graph: that ways are legal and lead there, that channels depend on each other
 * without a cycle, latencies without load, the model beside the simulator, what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "interconnect/families.h"
#include "interconnect/graph/edges.h"
#include "interconnect/ldr/generate.h"
#include "interconnect/updown/model.h"
#include "interconnect/wormhole/run.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

/* A random tree and some more links, of any degrees up to the bound. */
static void draw_graph(struct ic_graph *graph, struct gmc_prng *prng)
{
    enum { MOST = 40 };
    bool is_joined[MOST][MOST] = {{false}};
    struct ic_graph_link links[3 * MOST];
    size_t count = 0;
    uint32_t nodes = 2 + (uint32_t)gmc_prng_below(prng, MOST - 1);
    uint32_t more = (uint32_t)gmc_prng_below(prng, 2 * MOST);
    for (uint32_t i = 1; i < nodes + more; i++) {
        uint32_t a = i < nodes ? i : (uint32_t)gmc_prng_below(prng, nodes);
        uint32_t b = (uint32_t)gmc_prng_below(prng, i < nodes ? i : nodes);
        if (a == b || is_joined[a][b])
            continue;
        is_joined[a][b] = is_joined[b][a] = true;
        links[count++] = (struct ic_graph_link){a, b};
    }
    assert_ok(ic_graph_init(graph, nodes, links, count, error));
}

/* ---- ways ---- */
struct walk {
    const struct ic_wh_network *network;
    bool *follows; /* channels^2: the second is taken after the first by somebody */
    bool *is_seen; /* by channel, for one flow */
    uint32_t longest;
};

/* All ways of a flow from a channel on: each ends at its destination. */
static void follow(struct walk *walk, const struct ic_wh_flow *flow, uint32_t came, uint32_t hops)
{
    const struct ic_wh_network *network = walk->network;
    uint32_t candidates[IC_WH_CANDIDATES_MAX];
    uint32_t at = came == IC_WH_NONE ? flow->from : network->to[came];
    uint32_t count = network->route(network->ctx, at, came, flow, candidates);
    assert_in_range(count, 1, IC_WH_CANDIDATES_MAX);
    assert_true(hops < network->channels);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = candidates[i] & ~IC_WH_LAST;
        assert_int_equal(network->from[next], at);
        if (came != IC_WH_NONE) {
            assert_true(next < came); /* what the engine asks for */
            walk->follows[(size_t)came * network->channels + next] = true;
        }
        if ((candidates[i] & IC_WH_LAST) != 0) {
            assert_int_equal(network->to[next], IC_WH_NONE);
            assert_int_equal(network->label(network->ctx, at), flow->to);
            if (hops > walk->longest)
                walk->longest = hops;
        } else if (!walk->is_seen[next]) {
            walk->is_seen[next] = true;
            follow(walk, flow, next, hops + 1);
        }
    }
}

/* Depth first, without looking at numbers. 0: not seen, 1: on the way here, 2: done. */
static bool has_cycle(const struct walk *walk, uint32_t channel, uint8_t *colours)
{
    colours[channel] = 1;
    for (uint32_t next = 0; next < walk->network->channels; next++) {
        if (!walk->follows[(size_t)channel * walk->network->channels + next])
            continue;
        if (colours[next] == 1 || (colours[next] == 0 && has_cycle(walk, next, colours)))
            return true;
    }
    colours[channel] = 2;
    return false;
}

static void check_network(const struct ic_wh_network *network)
{
    const struct ic_updown *updown = network->ctx;
    size_t channels = network->channels;
    struct walk walk = {.network = network,
                        .follows = calloc(channels * channels, 1),
                        .is_seen = calloc(channels, 1)};
    uint8_t *colours = calloc(channels, 1);
    assert_true(walk.follows != NULL && walk.is_seen != NULL && colours != NULL);
    for (uint32_t from = 0; from < network->nodes; from++)
        for (uint32_t to = 0; to < network->nodes; to++) {
            const struct ic_wh_flow flow = {.from = from, .to = to};
            memset(walk.is_seen, 0, channels);
            if (from != to)
                follow(&walk, &flow, IC_WH_NONE, 0);
        }
    assert_int_equal(walk.longest, updown->most_hops + 1); /* injection counts */
    for (uint32_t c = 0; c < network->channels; c++)
        assert_true(colours[c] != 0 || !has_cycle(&walk, c, colours));
    free(walk.follows);
    free(walk.is_seen);
    free(colours);
}

static void channels_wait_for_no_cycle(void **state)
{
    struct gmc_prng prng;
    (void)state;
    gmc_prng_init(&prng, 4);
    for (int i = 0; i < 60; i++) {
        struct ic_graph graph;
        struct ic_wh_network network;
        draw_graph(&graph, &prng);
        assert_ok(ic_updown_network(&graph, (enum ic_updown_routing)(i % 2), &network, error));
        check_network(&network);
        ic_wh_network_fini(&network);
        ic_graph_fini(&graph);
    }
}

/* Five on a path that hang on a hub too: up and down by the hub is shorter than down the path. */
static void ways_are_the_shortest_legal_ones(void **state)
{
    static const char text[] = "h a\nh b\nh c\nh x\nh y\na b\nb c\nc x\nx y\n",
                      ring[] = "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n";
    struct ic_edges edges;
    struct ic_wh_network network;
    (void)state;
    assert_ok(ic_edges_parse(&edges, text, strlen(text), error));
    assert_ok(ic_updown_network(&edges.graph, IC_UPDOWN_ADAPTIVE, &network, error));
    const struct ic_updown *wheel = network.ctx;
    assert_int_equal(wheel->most_hops, 2);
    assert_int_equal(wheel->rank[0], 0); /* the hub */
    ic_wh_network_fini(&network);
    ic_edges_fini(&edges);
    /* A ring has to be cut: 2 and 4, on both sides of the lowest, go over the top. */
    assert_ok(ic_edges_parse(&edges, ring, strlen(ring), error));
    assert_ok(ic_updown_network(&edges.graph, IC_UPDOWN_ADAPTIVE, &network, error));
    const struct ic_updown *cut = network.ctx;
    assert_int_equal(cut->most_hops, 4);
    ic_wh_network_fini(&network);
    ic_edges_fini(&edges);
}

/* ---- simulations ---- */
static struct ic_wh_figures run(const struct ic_wh_network *network, uint32_t vcs, double rate,
                                uint64_t messages)
{
    const struct ic_wh_options options = {.vcs = vcs,
                                          .flits = 32,
                                          .depth = 1,
                                          .links_in_order = true};
    struct ic_wh_load load = {.rate = rate};
    const struct ic_run control = {.seed = 1, .messages = messages};
    struct ic_wh_figures figures;
    assert_ok(ic_traffic_init(&load.traffic, IC_TRAFFIC_UNIFORM, network->nodes, 1, error));
    assert_ok(ic_wh_run(network, &options, &load, &control, &figures, error));
    return figures;
}

/* Beyond what they carry random networks still deliver: the engine asserts that nothing is stuck.
 */
static void full_networks_go_on(void **state)
{
    struct gmc_prng prng;
    (void)state;
    gmc_prng_init(&prng, 9);
    for (int i = 0; i < 12; i++) {
        struct ic_graph graph;
        struct ic_wh_network network;
        draw_graph(&graph, &prng);
        assert_ok(ic_updown_network(&graph, (enum ic_updown_routing)(i % 2), &network, error));
        struct ic_wh_figures figures = run(&network, 1 + (uint32_t)i % 3, 0.2, 2000);
        assert_true(figures.is_saturated && figures.accepted > 0);
        ic_wh_network_fini(&network);
        ic_graph_fini(&graph);
    }
}

static void the_model_is_beside_the_simulator(void **state)
{
    static const uint32_t vcs[] = {1, 2, 3, 6};
    struct ic_graph graph;
    struct ic_wh_network network;
    struct ic_updown_flows *flows;
    struct ic_traffic traffic;
    (void)state;
    assert_ok(ic_ldr_generate(64, 6, 1, &graph, error));
    assert_ok(ic_updown_network(&graph, IC_UPDOWN_ADAPTIVE, &network, error));
    assert_ok(ic_traffic_init(&traffic, IC_TRAFFIC_UNIFORM, 64, 1, error));
    assert_ok(ic_updown_flows_new(&network, &traffic, &flows, error));
    for (size_t i = 0; i < sizeof(vcs) / sizeof(vcs[0]); i++) {
        const struct ic_updown_config config = {.vcs = vcs[i], .flits = 32, .links_in_order = true};
        const struct ic_updown *updown = network.ctx;
        uint32_t channel;
        double limit = ic_updown_saturation(flows, &config, &channel);
        struct ic_updown_latency model = ic_updown_model(flows, &config, 0);
        assert_near(model.latency, updown->mean_hops + 32 + 1, 1e-9);
        assert_false(ic_updown_model(flows, &config, limit * 0.999).is_saturated);
        assert_true(ic_updown_model(flows, &config, limit * 1.001).is_saturated);
        for (double part = 0.2; part < 0.7; part += 0.2) {
            model = ic_updown_model(flows, &config, part * limit);
            struct ic_wh_figures seen = run(&network, vcs[i], part * limit, 15000);
            assert_false(seen.is_saturated);
            assert_near(model.hops, seen.hops, 0.02 * seen.hops);
            assert_near(model.latency, seen.latency, 0.04 * seen.latency);
        }
    }
    ic_updown_flows_free(flows);
    ic_wh_network_fini(&network);
    ic_graph_fini(&graph);
}

/* All waits are so many times a message's length, and so is what a channel carries. */
static void lengths_share_their_saturation(void **state)
{
    static const uint32_t lengths[] = {32, 1, 1000, 7, 32};
    struct ic_graph graph;
    struct ic_wh_network network;
    struct ic_updown_flows *flows;
    struct ic_traffic traffic;
    struct ic_updown_config config = {.vcs = 3};
    uint32_t channel, full;
    (void)state;
    assert_ok(ic_ldr_generate(64, 6, 1, &graph, error));
    assert_ok(ic_updown_channels(&graph, IC_UPDOWN_ADAPTIVE, &network, error));
    assert_ok(ic_traffic_init(&traffic, IC_TRAFFIC_UNIFORM, 64, 1, error));
    assert_ok(ic_updown_flows_new(&network, &traffic, &flows, error));
    for (config.vcs = 1; config.vcs <= 3; config.vcs += 2) {
        config.flits = 1;
        double one = ic_updown_saturation(flows, &config, &full);
        struct ic_updown_latency of_one = ic_updown_model(flows, &config, 0.9 * one);
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            config.flits = lengths[i];
            double limit = ic_updown_saturation(flows, &config, &channel);
            assert_near(limit * lengths[i], one, 1e-8 * one);
            assert_int_equal(channel, full);
            assert_true(ic_updown_model(flows, &config, 1.0001 * limit).is_saturated);
            assert_false(ic_updown_model(flows, &config, 0.9999 * limit).is_saturated);
            struct ic_updown_latency model = ic_updown_model(flows, &config, 0.9 * limit);
            assert_near(model.latency - model.hops + 1,
                        lengths[i] * (of_one.latency - of_one.hops + 1), 1e-6 * model.latency);
        }
    }
    ic_updown_flows_free(flows);
    ic_wh_network_fini(&network);
    ic_graph_fini(&graph);
}

/* Whose nodes have these numbers. */
static struct ic_updown_latency cube_latency(uint32_t dimensions, const uint32_t *numbers,
                                             double load)
{
    const struct ic_updown_config config = {.vcs = 3, .flits = 32, .links_in_order = true};
    struct ic_graph_link links[6 * 32];
    struct ic_graph graph;
    struct ic_wh_network network;
    struct ic_updown_flows *flows;
    struct ic_traffic traffic;
    uint32_t nodes = 1u << dimensions;
    size_t count = 0;
    for (uint32_t at = 0; at < nodes; at++)
        for (uint32_t bit = 1; bit < nodes; bit *= 2)
            if ((at & bit) == 0)
                links[count++] = (struct ic_graph_link){numbers[at], numbers[at | bit]};
    assert_ok(ic_graph_init(&graph, nodes, links, count, error));
    assert_ok(ic_updown_channels(&graph, IC_UPDOWN_ADAPTIVE, &network, error));
    assert_ok(ic_traffic_init(&traffic, IC_TRAFFIC_UNIFORM, nodes, 1, error));
    assert_ok(ic_updown_flows_new(&network, &traffic, &flows, error));
    struct ic_updown_latency out = ic_updown_model(flows, &config, load);
    ic_updown_flows_free(flows);
    ic_wh_network_fini(&network);
    ic_graph_fini(&graph);
    return out;
}

/* A hypercube is found out by its nodes' numbers, and what is alike in it is found once. */
static void alike_links_carry_the_same(void **state)
{
    uint32_t numbers[64], mixed[64];
    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = mixed[i] = i;
    for (uint32_t dimensions = 2; dimensions <= 6; dimensions++) {
        uint32_t last = (1u << dimensions) - 1;
        mixed[1] = last;
        mixed[last] = 1;
        for (double load = 0; load < 0.001; load += 0.0002) {
            struct ic_updown_latency alike = cube_latency(dimensions, numbers, load);
            struct ic_updown_latency other = cube_latency(dimensions, mixed, load);
            assert_true(alike.is_saturated == other.is_saturated && alike.longest == other.longest);
            assert_near(alike.latency, other.latency, 1e-9 * other.latency);
            assert_near(alike.wait, other.wait, 1e-9 * other.latency);
            assert_near(alike.hops, other.hops, 1e-9);
            assert_near(alike.distance, other.distance, 1e-9);
        }
        mixed[1] = 1;
        mixed[last] = last;
    }
}

/* ---- what is refused ---- */
static void bad_graphs_are_named(void **state)
{
    struct ic_graph graph;
    struct ic_wh_network network;
    struct ic_graph_link links[70];
    (void)state;
    links[0] = (struct ic_graph_link){0, 1};
    assert_ok(ic_graph_init(&graph, 3, links, 1, error));
    assert_int_equal(ic_updown_network(&graph, IC_UPDOWN_FIXED, &network, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the network is not connected: 2 of 3 nodes can be reached");
    ic_graph_fini(&graph);
    for (uint32_t i = 0; i < 70; i++)
        links[i] = (struct ic_graph_link){0, i + 1};
    assert_ok(ic_graph_init(&graph, 71, links, 70, error));
    assert_int_equal(ic_updown_network(&graph, IC_UPDOWN_FIXED, &network, error), GMC_ERR_INVALID);
    assert_string_equal(error, "node 0 has 70 links; up to 64 can be simulated");
    ic_graph_fini(&graph);
    assert_ok(ic_graph_init(&graph, 5000, links, 70, error));
    assert_int_equal(ic_updown_network(&graph, IC_UPDOWN_FIXED, &network, error), GMC_ERR_INVALID);
    ic_graph_fini(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_wait_for_no_cycle),
        cmocka_unit_test(ways_are_the_shortest_legal_ones),
        cmocka_unit_test(full_networks_go_on),
        cmocka_unit_test(the_model_is_beside_the_simulator),
        cmocka_unit_test(lengths_share_their_saturation),
        cmocka_unit_test(alike_links_carry_the_same),
        cmocka_unit_test(bad_graphs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
