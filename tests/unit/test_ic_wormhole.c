/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/wormhole with the networks of hypercube and fattree: times without load,
 * nothing lost and no deadlock under any option, sharing, measured rates, the reference simulations
 * (a part of them; all with GMC_IC_ALL set), refusals. */
#include <stdlib.h>
#include <string.h>

#include "interconnect/families.h"
#include "interconnect/fattree/network.h"
#include "interconnect/hypercube/network.h"
#include "interconnect/hypercube/pcube.h"
#include "interconnect/wormhole/run.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

static const struct ic_wh_options plain = {.vcs = 3, .flits = 5, .depth = 1};

static struct ic_wh_network cube(uint32_t n, enum ic_hypercube_routing routing)
{
    struct ic_wh_network network;
    assert_ok(ic_hypercube_network(n, routing, true, &network, error));
    return network;
}

static struct ic_wh_network tree(uint32_t m, uint32_t n, enum ic_fat_tree_routing routing)
{
    struct ic_wh_network network;
    assert_ok(ic_fat_tree_network(m, n, routing, &network, error));
    return network;
}

/* 4 clusters of 4, 8, 4 and 8 nodes. */
static struct ic_wh_network clusters(enum ic_fat_tree_routing routing)
{
    static const struct ic_javadi system = {.ports = 4, .kinds = {{1, 2}, {2, 2}}, .kind_count = 2};
    struct ic_wh_network network;
    assert_ok(ic_multicluster_network(&system, routing, &network, error));
    return network;
}

/* One message alone. */
static struct ic_wh_message send_one(const struct ic_wh_network *network,
                                     const struct ic_wh_options *options, uint32_t from,
                                     uint32_t to)
{
    struct ic_wh_engine *engine;
    struct ic_wh_message message;
    assert_ok(ic_wh_engine_new(network, options, 1, &engine));
    assert_ok(ic_wh_engine_send(engine, from, to));
    do
        assert_ok(ic_wh_engine_step(engine));
    while (!ic_wh_engine_next(engine, &message));
    assert_int_equal(ic_wh_engine_backlog(engine), 0);
    ic_wh_engine_free(engine);
    assert_true(message.flow.from == from && message.flow.to == to);
    return message;
}

static void a_cube_without_load_takes_hops_and_flits(void **state)
{
    (void)state;
    for (int routing = 0; routing < IC_HYPERCUBE_ROUTINGS; routing++) {
        struct ic_wh_network network = cube(4, (enum ic_hypercube_routing)routing);
        for (uint32_t from = 0; from < 16; from++)
            for (uint32_t to = 0; to < 16; to++) {
                struct ic_wh_message message = send_one(&network, &plain, from, to);
                uint32_t hops = (uint32_t)__builtin_popcount(from ^ to);
                assert_int_equal(message.hops, hops + 2);
                assert_int_equal(message.delivered - message.entered, hops + 1 + 5);
            }
        ic_wh_network_fini(&network);
    }
}

/* The number of levels below the lowest subtree that both are in. */
static uint32_t climb(uint32_t half, uint32_t levels, uint32_t a, uint32_t b)
{
    uint32_t j = 1;
    for (a /= half, b /= half; a != b && j < levels; a /= half, b /= half)
        j++;
    return j;
}

static void a_tree_without_load_takes_links_and_flits(void **state)
{
    (void)state;
    for (int routing = 0; routing < IC_FAT_TREE_ROUTINGS; routing++)
        for (uint32_t levels = 1; levels <= 3; levels++) {
            struct ic_wh_network network = tree(6, levels, (enum ic_fat_tree_routing)routing);
            for (uint32_t from = 0; from < network.nodes; from += levels)
                for (uint32_t to = 0; to < network.nodes; to++) {
                    struct ic_wh_message message = send_one(&network, &plain, from, to);
                    uint32_t links = from == to ? 2 : 2 * climb(3, levels, from, to);
                    assert_int_equal(message.hops, links);
                    assert_int_equal(message.delivered - message.created, links + 5 - 1);
                }
            ic_wh_network_fini(&network);
        }
}

/* j up, 2h across, l down, each with a flit per cycle from one into the next. */
static void clusters_without_load_cut_through(void **state)
{
    struct ic_wh_network network = clusters(IC_FAT_TREE_ADAPTIVE);
    (void)state;
    assert_int_equal(network.nodes, 24);
    for (uint32_t from = 0; from < 24; from++)
        for (uint32_t to = 0; to < 24; to++) {
            struct ic_wh_message message = send_one(&network, &plain, from, to);
            assert_in_range(message.hops, 2, 6);
            assert_int_equal(message.delivered - message.created, message.hops + 5 - 1);
        }
    ic_wh_network_fini(&network);
}

/* Heads wait in each router; deeper buffers change nothing without load. */
static void delays_add_up(void **state)
{
    struct ic_wh_options options = plain;
    struct ic_wh_network network = cube(4, IC_HYPERCUBE_ECUBE);
    (void)state;
    options.hop_delay = 3;
    options.depth = 4;
    options.release_delay = 7;
    struct ic_wh_message message = send_one(&network, &options, 0, 7);
    assert_int_equal(message.delivered - message.created, 3 + 1 + 5 + 4 * 3);
    ic_wh_network_fini(&network);
    assert_ok(ic_hypercube_network(4, IC_HYPERCUBE_ECUBE, false, &network, error));
    message = send_one(&network, &plain, 0, 7);
    assert_int_equal(message.delivered - message.created, 3 + 5);
    assert_int_equal(send_one(&network, &plain, 3, 3).hops, 1);
    ic_wh_network_fini(&network);
}

/* Two messages of one source to one node: 2 M flits over each channel, in turns or in order. */
static void worms_share_channels(void **state)
{
    struct ic_wh_network network = cube(1, IC_HYPERCUBE_ECUBE);
    (void)state;
    for (int in_order = 0; in_order < 2; in_order++)
        for (uint32_t vcs = 1; vcs <= 2; vcs++) {
            struct ic_wh_options options = plain;
            struct ic_wh_engine *engine;
            struct ic_wh_message message;
            uint64_t ends[2] = {0, 0};
            options.vcs = vcs;
            options.links_in_order = options.ends_in_order = in_order == 1;
            assert_ok(ic_wh_engine_new(&network, &options, 1, &engine));
            assert_ok(ic_wh_engine_send(engine, 0, 1));
            assert_ok(ic_wh_engine_send(engine, 0, 1));
            while (ic_wh_engine_backlog(engine) > 0) {
                assert_ok(ic_wh_engine_step(engine));
                while (ic_wh_engine_next(engine, &message))
                    ends[message.number] = message.delivered;
            }
            bool is_shared = vcs == 2 && in_order == 0;
            assert_int_equal(ends[0], is_shared ? 2 + 9 : 2 + 5);
            assert_in_range(ends[1], 2 + 10, vcs == 1 ? 2 + 10 + 3 : 2 + 10);
            ic_wh_engine_free(engine);
        }
    ic_wh_network_fini(&network);
}

/* Far too many messages, until all have come out: each once, every flit over every hop. */
static void flood(const struct ic_wh_network *network, const struct ic_wh_options *options)
{
    enum { MESSAGES = 2000 };
    static bool seen[MESSAGES];
    struct ic_wh_engine *engine;
    struct ic_wh_message message;
    struct gmc_prng prng;
    uint64_t delivered = 0, hops = 0, carried = 0;
    memset(seen, 0, sizeof(seen));
    gmc_prng_init(&prng, 7);
    assert_ok(ic_wh_engine_new(network, options, 3, &engine));
    for (int i = 0; i < MESSAGES; i++)
        assert_ok(ic_wh_engine_send(engine, (uint32_t)gmc_prng_below(&prng, network->nodes),
                                    (uint32_t)gmc_prng_below(&prng, network->nodes)));
    while (delivered < MESSAGES) {
        assert_false(ic_wh_engine_is_idle(engine)); /* a deadlock */
        assert_ok(ic_wh_engine_step(engine));
        while (ic_wh_engine_next(engine, &message)) {
            assert_false(seen[message.number]);
            seen[message.number] = true;
            assert_true(message.entered <= message.delivered - message.hops - options->flits + 1);
            delivered++;
            hops += message.hops;
        }
    }
    for (uint32_t c = 0; c < network->channels; c++)
        carried += ic_wh_engine_carried(engine, c);
    assert_int_equal(carried, hops * options->flits);
    for (uint32_t i = 0; i < 2 + options->release_delay; i++)
        assert_ok(ic_wh_engine_step(engine));
    assert_true(ic_wh_engine_is_idle(engine));
    ic_wh_engine_free(engine);
}

static void flood_all(const struct ic_wh_options *options)
{
    struct ic_wh_network networks[] = {
        cube(4, IC_HYPERCUBE_PCUBE),         cube(4, IC_HYPERCUBE_ECUBE),
        tree(4, 3, IC_FAT_TREE_ADAPTIVE),    tree(8, 2, IC_FAT_TREE_RANDOM),
        tree(6, 1, IC_FAT_TREE_DESTINATION), clusters(IC_FAT_TREE_ADAPTIVE),
        clusters(IC_FAT_TREE_DESTINATION),
    };
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        flood(&networks[i], options);
        ic_wh_network_fini(&networks[i]);
    }
}

static void nothing_is_lost_and_nothing_stands_still(void **state)
{
    static const struct ic_wh_options cases[] = {
        {.vcs = 1, .flits = 1, .depth = 1},
        {.vcs = 1, .flits = 20, .depth = 1},
        {.vcs = 3, .flits = 20, .depth = 1, .links_in_order = true},
        {.vcs = 4, .flits = 7, .depth = 3, .ends_in_order = true},
        {.vcs = 32, .flits = 3, .depth = 2, .hop_delay = 2},
        {.vcs = 2, .flits = 4, .depth = 9, .release_delay = 5, .hop_delay = 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        flood_all(&cases[i]);
}

/* Counts over 20,000 cycles of 8 nodes: their mean, and the variance of a Poisson process or of
 * Bernoulli trials over cycles. */
static void arrivals_have_their_rate(void **state)
{
    enum { CYCLES = 20000 };
    static int counts[CYCLES + 1];
    (void)state;
    for (int bernoulli = 0; bernoulli < 2; bernoulli++) {
        struct ic_wh_arrivals arrivals;
        struct gmc_prng root;
        double sum = 0, squares = 0, nodes[8] = {0};
        uint32_t node;
        memset(counts, 0, sizeof(counts));
        gmc_prng_init(&root, 4);
        ic_wh_arrivals_init(&arrivals, 8, 0.3, bernoulli == 1, &root);
        for (uint64_t at = ic_wh_arrivals_next(&arrivals, &node); at <= CYCLES;
             at = ic_wh_arrivals_next(&arrivals, &node)) {
            counts[at]++;
            nodes[node]++;
        }
        for (int i = 1; i <= CYCLES; i++) {
            sum += counts[i];
            squares += counts[i] * counts[i];
        }
        double mean = sum / CYCLES, variance = squares / CYCLES - mean * mean;
        assert_near(mean, 2.4, 0.05);
        assert_near(variance, bernoulli ? 2.4 * 0.7 : 2.4, 0.12);
        for (int i = 0; i < 8; i++)
            assert_near(nodes[i], 6000, 350);
    }
}

/* ---- runs ---- */
static struct ic_wh_figures run(const struct ic_wh_network *network,
                                const struct ic_wh_options *options, double rate,
                                const struct ic_run *control)
{
    struct ic_wh_figures figures;
    const struct ic_wh_load load = {.rate = rate, .traffic = {.hosts = network->nodes}};
    assert_ok(ic_wh_run(network, options, &load, control, &figures, error));
    return figures;
}

static void the_seed_decides_all(void **state)
{
    struct ic_wh_network network = cube(5, IC_HYPERCUBE_PCUBE);
    struct ic_run control = {.seed = 5, .messages = 3000};
    (void)state;
    struct ic_wh_figures first = run(&network, &plain, 0.05, &control);
    struct ic_wh_figures again = run(&network, &plain, 0.05, &control);
    assert_memory_equal(&first, &again, sizeof(first));
    control.seed = 6;
    assert_true(run(&network, &plain, 0.05, &control).latency != first.latency);
    ic_wh_network_fini(&network);
}

struct seen {
    uint64_t messages, channels;
    double loads, waits, sums[6];
    int counts[6];
};

static void on_message(void *ctx, const struct ic_message_record *message)
{
    struct seen *seen = ctx;
    seen->messages++;
    seen->waits += message->entered - message->created;
    assert_true(message->from != message->to && message->delivered > message->entered);
}

static void on_channel(void *ctx, const struct ic_channel_record *channel)
{
    struct seen *seen = ctx;
    seen->channels++;
    seen->loads += channel->load;
    if (strcmp(channel->what, "link") == 0) {
        uint32_t others = channel->from & channel->to;
        int z = 5 - __builtin_popcount(others);
        seen->sums[z] += channel->load;
        seen->counts[z]++;
    }
}

/* Rates by class as the model has them: 6.5 % at z = 0, 2.5 % beyond, and what the sample is off.
 */
static void links_carry_what_the_model_says(void **state)
{
    static const struct ic_wh_options options = {.vcs = 3, .flits = 32, .depth = 1};
    struct ic_wh_network network = cube(6, IC_HYPERCUBE_PCUBE);
    struct seen seen = {0};
    const struct ic_run control = {.messages = 40000,
                                   .on_message = on_message,
                                   .on_channel = on_channel,
                                   .ctx = &seen};
    (void)state;
    struct ic_wh_figures figures = run(&network, &options, 0.006, &control);
    assert_in_range(seen.messages, control.messages, control.messages + 64);
    assert_int_equal(seen.channels, 64 * 8);
    assert_near(seen.loads, 64 * figures.accepted * 32 * figures.hops,
                0.01 * 64 * figures.accepted * 32 * figures.hops);
    assert_near(seen.waits / (double)seen.messages, figures.latency - figures.network, 1e-6);
    for (uint32_t z = 0; z < 6; z++) {
        double rate, measured = seen.sums[z] / seen.counts[z] / 32 / figures.accepted;
        assert_ok(ic_pcube_rate(6, z, &rate, error));
        assert_near(measured, rate, (z == 0 ? 0.08 : 0.04) * rate);
    }
    ic_wh_network_fini(&network);
}

static bool stop(void *ctx, double share)
{
    (void)ctx;
    return share < 0.5;
}

static void a_run_can_be_ended(void **state)
{
    struct ic_wh_network network = cube(4, IC_HYPERCUBE_PCUBE);
    const struct ic_run control = {.messages = 2000, .on_progress = stop};
    const struct ic_wh_load load = {.rate = 0.01, .traffic = {.hosts = 16}};
    struct ic_wh_figures figures;
    (void)state;
    assert_int_equal(ic_wh_run(&network, &plain, &load, &control, &figures, error), GMC_ERR_STATE);
    ic_wh_network_fini(&network);
}

/* ---- reference simulations ---- */
static double real(const struct ic_table *table, const char *column)
{
    return strtod(ic_table_text(table, column), NULL);
}

static bool is_chosen(const struct ic_table *table, int one_of)
{
    return getenv("GMC_IC_ALL") != NULL || table->rows % one_of == 1;
}

/* Within 3 % and what both samples are off, which are as long, where they are below twice the
 * latency without load. */
static void expect(const struct ic_table *table, const struct ic_wh_network *network,
                   const struct ic_wh_options *options, double rate, double wanted, double zero,
                   double unit, double uncounted)
{
    const struct ic_run control = {.seed = 1};
    if (wanted > 2 * zero)
        return;
    struct ic_wh_figures figures = run(network, options, rate, &control);
    double latency = (figures.latency - uncounted) * unit;
    double allowed = 0.03 * wanted + 2 * real(table, "ci95");
    if (getenv("GMC_IC_ALL") != NULL)
        print_message("row %3d: %8.3f, should be %8.3f: %+.2f %%\n", table->rows, latency, wanted,
                      100 * (latency / wanted - 1));
    assert_false(figures.is_saturated);
    if (!(fabs(latency - wanted) <= allowed))
        fail_msg("row %d: %.3f, should be %.3f", table->rows, latency, wanted);
}

static struct ic_wh_options options_of(uint32_t vcs, uint32_t flits)
{
    return (struct ic_wh_options){.vcs = vcs, .flits = flits, .depth = 1, .links_in_order = true};
}

static void cubes_are_those_of_the_reference(void **state)
{
    struct ic_table table;
    (void)state;
    ic_table_open(&table, "sim_whcube");
    while (ic_table_next(&table)) {
        uint32_t n = (uint32_t)ic_table_number(&table, "n");
        uint32_t flits = (uint32_t)ic_table_number(&table, "M");
        bool is_ecube = strcmp(ic_table_text(&table, "routing"), "ecube") == 0;
        if (!is_chosen(&table, 7))
            continue;
        struct ic_wh_options options = options_of((uint32_t)ic_table_number(&table, "V"), flits);
        struct ic_wh_network network = cube(n, is_ecube ? IC_HYPERCUBE_ECUBE : IC_HYPERCUBE_PCUBE);
        double zero = flits + n * exp2(n - 1.0) / (exp2(n) - 1);
        expect(&table, &network, &options, real(&table, "lambda"),
               real(&table, "sim_latency_minus_1p5"), zero, 1, 1);
        ic_wh_network_fini(&network);
    }
}

static void trees_are_those_of_the_reference(void **state)
{
    struct ic_table table;
    (void)state;
    ic_table_open(&table, "sim_fattree");
    while (ic_table_next(&table)) {
        uint32_t flits = (uint32_t)ic_table_number(&table, "M");
        if (!is_chosen(&table, 4))
            continue;
        struct ic_wh_options options = options_of(1, flits);
        struct ic_wh_network network =
            tree((uint32_t)ic_table_number(&table, "m"), (uint32_t)ic_table_number(&table, "n"),
                 IC_FAT_TREE_DESTINATION);
        expect(&table, &network, &options, real(&table, "lambda"), real(&table, "sim_latency"),
               flits + 6, 1, 0);
        ic_wh_network_fini(&network);
    }
}

static void clusters_are_those_of_the_reference(void **state)
{
    struct ic_table table;
    (void)state;
    ic_table_open(&table, "sim_multicluster");
    while (ic_table_next(&table)) {
        uint32_t flits = (uint32_t)ic_table_number(&table, "M");
        struct ic_javadi system;
        struct ic_wh_network network;
        if (!is_chosen(&table, 8))
            continue;
        assert_ok(ic_javadi_system(&system, ic_table_number(&table, "N"), error));
        ic_javadi_times(&system, real(&table, "Lm_bytes"));
        assert_ok(ic_multicluster_network(&system, IC_FAT_TREE_ADAPTIVE, &network, error));
        struct ic_wh_options options = options_of(1, flits);
        double unit = system.switch_time;
        expect(&table, &network, &options, real(&table, "lambda_g") * unit,
               real(&table, "sim_latency"), (flits + 7) * unit, unit, 0);
        ic_wh_network_fini(&network);
    }
}

/* n = 6, V = 3, M = 32: stable at 0.44 flits per node and cycle, not at 0.6. P-cube above e-cube.
 */
static void cubes_saturate_where_they_should(void **state)
{
    struct ic_wh_options options = options_of(3, 32);
    struct ic_wh_network pcube = cube(6, IC_HYPERCUBE_PCUBE), ecube = cube(6, IC_HYPERCUBE_ECUBE);
    const struct ic_run control = {.seed = 1};
    (void)state;
    for (double rate = 0.44 / 32; rate > 0.002; rate /= 2) {
        struct ic_wh_figures p = run(&pcube, &options, rate, &control);
        struct ic_wh_figures e = run(&ecube, &options, rate, &control);
        assert_false(p.is_saturated || e.is_saturated);
        assert_true(p.latency > e.latency);
    }
    assert_true(run(&pcube, &options, 0.6 / 32, &control).is_saturated);
    ic_wh_network_fini(&pcube);
    ic_wh_network_fini(&ecube);
}

/* ---- as families ---- */
static void simulate(const struct ic_family *family, const char *load, const char *traffic,
                     struct ic_result *result)
{
    double values[64];
    const struct ic_run control = {.seed = 2, .messages = 4000};
    ic_family_defaults(family, values);
    size_t at = ic_family_param(family, "load"), how = ic_family_param(family, "traffic");
    assert_ok(ic_param_parse(&family->params[at], load, &values[at], error));
    assert_ok(ic_param_parse(&family->params[how], traffic, &values[how], error));
    assert_ok(ic_family_simulate(family, values, NULL, &control, result, error));
}

/* Otherwise a run would wait for its first message for ever. */
static void traffic_without_senders_is_refused(void **state)
{
    struct ic_wh_network network;
    struct ic_wh_figures figures;
    struct ic_wh_load load = {.rate = 0.01};
    const struct ic_wh_options options = {.vcs = 1, .flits = 8, .depth = 1};
    const struct ic_run control = {.seed = 1, .messages = 100};
    (void)state;
    assert_ok(ic_hypercube_network(1, IC_HYPERCUBE_ECUBE, true, &network, error));
    assert_ok(ic_traffic_init(&load.traffic, IC_TRAFFIC_TRANSPOSE, 2, 0, error));
    assert_int_equal(ic_wh_run(&network, &options, &load, &control, &figures, error),
                     GMC_ERR_INVALID);
    assert_non_null(strstr(error, "no host sends"));
    load.has_own = true;
    assert_ok(ic_wh_run(&network, &options, &load, &control, &figures, error));
    assert_true(figures.accepted > 0);
    ic_wh_network_fini(&network);
}

static void families_simulate(void **state)
{
    static const struct {
        const struct ic_family *family;
        const char *low, *high;
    } cases[] = {{&ic_family_hypercube, "0.003", "0.03"},
                 {&ic_family_fattree, "0.003", "0.03"},
                 {&ic_family_multicluster, "0.0001", "0.004"}};
    struct ic_figure figures[64];
    struct ic_result result = {.figures = figures};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ic_family *family = cases[i].family;
        simulate(family, cases[i].low, "uniform", &result);
        assert_false(result.is_saturated);
        assert_true(figures[0].state == IC_FIGURE_KNOWN && figures[0].half_width > 0);
        simulate(family, cases[i].high, "uniform", &result);
        assert_true(result.is_saturated);
        assert_non_null(strstr(result.where, "queues grow"));
        assert_int_equal(figures[0].state, IC_FIGURE_SATURATED);
        assert_true(figures[ic_family_output(family, "accepted")].value > 0);
    }
    simulate(&ic_family_hypercube, "0.003", "reversal", &result);
    assert_int_equal(figures[0].state, IC_FIGURE_KNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_without_load_takes_hops_and_flits),
        cmocka_unit_test(a_tree_without_load_takes_links_and_flits),
        cmocka_unit_test(clusters_without_load_cut_through),
        cmocka_unit_test(delays_add_up),
        cmocka_unit_test(worms_share_channels),
        cmocka_unit_test(nothing_is_lost_and_nothing_stands_still),
        cmocka_unit_test(arrivals_have_their_rate),
        cmocka_unit_test(the_seed_decides_all),
        cmocka_unit_test(links_carry_what_the_model_says),
        cmocka_unit_test(a_run_can_be_ended),
        cmocka_unit_test(cubes_are_those_of_the_reference),
        cmocka_unit_test(trees_are_those_of_the_reference),
        cmocka_unit_test(clusters_are_those_of_the_reference),
        cmocka_unit_test(cubes_saturate_where_they_should),
        cmocka_unit_test(traffic_without_senders_is_refused),
        cmocka_unit_test(families_simulate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
