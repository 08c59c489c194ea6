/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests the flit simulator of interconnect/qos: what can be said exactly, what schedulers share,
 * the claims of the text, and the reference simulations. With GMC_IC_WHOLE=1 (make check-qos) the
 * whole table of these, and speed. */
#include <stdlib.h>
#include <time.h>

#include "interconnect/qos/simulate.h"
#include "interconnect/qos/traffic.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

#define R1 0
#define R2 1
#define BE 2

static char error[IC_ERROR_MAX];

static struct ic_qos usual(uint64_t dimension, double load, double be_load)
{
    return (struct ic_qos){
        .dimension = dimension,
        .classes = 3,
        .rate = {load, load / 2, be_load},
        .flits = {32, 32, 32},
        .stages = 5,
        .buffer_flits = 32,
    };
}

static bool is_whole(void)
{
    return getenv("GMC_IC_WHOLE") != NULL;
}

/* ---- the engine ---- */

static struct ic_qos_engine *engine_of(const struct ic_qos *qos, enum ic_qos_scheduler scheduler,
                                       enum ic_qos_ejection ejection)
{
    struct ic_qos_engine_options options = {qos, 16, scheduler, ejection};
    struct ic_qos_engine *engine;
    assert_ok(ic_qos_engine_new(&options, &engine));
    return engine;
}

static void step_until_delivered(struct ic_qos_engine *engine, struct ic_qos_message *message)
{
    while (!ic_qos_engine_next(engine, message)) {
        assert_false(ic_qos_engine_is_idle(engine));
        ic_qos_engine_step(engine);
    }
}

/* P - 1 + P h + M to every node, of any class, with buffers of any length. */
static void a_lone_message_is_exact(void **state)
{
    (void)state;
    for (uint64_t buffer = 1; buffer <= 64; buffer *= 4)
        for (uint64_t n = 0; n <= 5; n += 5) {
            struct ic_qos qos = usual(n, 0.001, 0.001);
            qos.buffer_flits = buffer;
            qos.flits[BE] = 7;
            struct ic_qos_engine *engine =
                engine_of(&qos, IC_QOS_VIRTUAL_CLOCK, IC_QOS_EJECTION_YIELD);
            for (uint32_t to = 0; to < ic_qos_engine_nodes(engine); to++)
                for (uint32_t c = 0; c < 3; c++) {
                    struct ic_qos_message m;
                    uint32_t from = (to + 5) % ic_qos_engine_nodes(engine);
                    assert_ok(
                        ic_qos_engine_send(engine, c, from, to, (double)ic_qos_engine_now(engine)));
                    step_until_delivered(engine, &m);
                    assert_int_equal(m.from, from);
                    assert_int_equal(m.to, to);
                    assert_int_equal(m.traffic_class, c);
                    assert_int_equal(m.delivered - m.entered, 4 + 5 * m.hops + qos.flits[c]);
                    assert_true(ic_qos_engine_is_idle(engine));
                }
            ic_qos_engine_free(engine);
        }
}

/* Two messages of a class to one port, one a cycle ahead: the other waits for its tail. */
static void a_class_carries_one_message_at_a_time(void **state)
{
    (void)state;
    struct ic_qos qos = usual(0, 0.001, 0.001);
    struct ic_qos_engine *engine = engine_of(&qos, IC_QOS_VIRTUAL_CLOCK, IC_QOS_EJECTION_YIELD);
    struct ic_qos_message m;
    assert_ok(ic_qos_engine_send(engine, R1, 1, 0, 0));
    ic_qos_engine_step(engine);
    assert_ok(ic_qos_engine_send(engine, R1, 2, 0, 1));
    step_until_delivered(engine, &m);
    assert_int_equal(m.from, 1);
    assert_int_equal(m.delivered, 36);
    step_until_delivered(engine, &m);
    assert_int_equal(m.from, 2);
    assert_int_equal(m.delivered, 36 + 32);
    ic_qos_engine_free(engine);
}

/* Best effort, begun first, waits while a real-time message passes. */
static void real_time_goes_first(void **state)
{
    (void)state;
    struct ic_qos qos = usual(0, 0.001, 0.001);
    struct ic_qos_engine *engine = engine_of(&qos, IC_QOS_VIRTUAL_CLOCK, IC_QOS_EJECTION_YIELD);
    struct ic_qos_message m;
    assert_ok(ic_qos_engine_send(engine, BE, 1, 0, 0));
    for (int i = 0; i < 10; i++)
        ic_qos_engine_step(engine);
    assert_ok(ic_qos_engine_send(engine, R2, 2, 0, 10));
    step_until_delivered(engine, &m);
    assert_int_equal(m.traffic_class, R2);
    assert_int_equal(m.delivered, 10 + 36);
    step_until_delivered(engine, &m);
    assert_int_equal(m.traffic_class, BE);
    assert_int_equal(m.delivered, 36 + 32);
    ic_qos_engine_free(engine);
}

/* Shares of a port that all three classes want all the time; rates are 4 to 2 to 1. */
static void schedulers_share_as_they_say(void **state)
{
    static const double shares[][3] = {
        [IC_QOS_VIRTUAL_CLOCK] = {2 / 3.0, 1 / 3.0, 0},
        [IC_QOS_FAIR_QUEUEING] = {4 / 7.0, 2 / 7.0, 1 / 7.0},
        [IC_QOS_WEIGHTED_ROUND_ROBIN] = {4 / 7.0, 2 / 7.0, 1 / 7.0},
        [IC_QOS_ROUND_ROBIN] = {1 / 3.0, 1 / 3.0, 1 / 3.0},
    };
    (void)state;
    for (int s = IC_QOS_VIRTUAL_CLOCK; s <= IC_QOS_ROUND_ROBIN; s++) {
        struct ic_qos qos = usual(0, 0.004, 0.001);
        struct ic_qos_engine *engine =
            engine_of(&qos, (enum ic_qos_scheduler)s, IC_QOS_EJECTION_YIELD);
        struct ic_qos_message m;
        double got[3] = {0};
        for (uint32_t c = 0; c < 3; c++)
            for (int i = 0; i < 400; i++)
                assert_ok(ic_qos_engine_send(engine, c, c + 1, 0, 0));
        for (int i = 0; i < 400 * 32; i++) {
            ic_qos_engine_step(engine);
            while (ic_qos_engine_next(engine, &m))
                got[m.traffic_class] += 1 / 400.0;
        }
        for (int c = 0; c < 3; c++)
            assert_near(got[c], shares[s][c], 0.02);
        ic_qos_engine_free(engine);
    }
}

/* Whatever the load, every message comes to where it was sent, and nothing stays. */
static void all_messages_arrive(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 7; n += n == 0 ? 2 : 5)
        for (int ejection = IC_QOS_EJECTION_YIELD; ejection <= IC_QOS_EJECTION_HOLD; ejection++) {
            struct ic_qos qos = usual(n, 0.01, 0.005);
            struct ic_qos_engine *engine =
                engine_of(&qos, IC_QOS_VIRTUAL_CLOCK, (enum ic_qos_ejection)ejection);
            uint32_t nodes = ic_qos_engine_nodes(engine), left = 3000;
            struct gmc_prng prng;
            struct ic_qos_message m;
            uint64_t hops = 0;
            gmc_prng_init(&prng, n);
            for (uint32_t i = 0; i < left; i++) {
                uint32_t from = (uint32_t)gmc_prng_below(&prng, nodes);
                uint32_t to = (from + 1 + (uint32_t)gmc_prng_below(&prng, nodes - 1)) % nodes;
                assert_ok(ic_qos_engine_send(engine, i % 3, from, to, 0));
            }
            for (; left > 0; left--) {
                step_until_delivered(engine, &m);
                hops += m.hops + 1;
            }
            assert_true(ic_qos_engine_is_idle(engine));
            assert_int_equal(ic_qos_engine_flit_hops(engine), hops * 32);
            ic_qos_engine_free(engine);
        }
}

/* ---- sources ---- */

/* Mean rates are those asked for; ON/OFF sources vary more than Poisson. */
static void sources_keep_their_rates(void **state)
{
    static const struct ic_qos_rate rates[2] = {{0.004, 0.004, 1}, {0.002, 0.02, 8}};
    struct ic_qos_traffic traffic;
    double counts[2] = {0}, squares[2] = {0}, within[2] = {0};
    double end = 4e6, window = 500;
    (void)state;
    assert_ok(ic_qos_traffic_init(&traffic, 4, 2, rates, 7));
    for (double next = window; next < end; next += window) {
        while (ic_qos_traffic_due(&traffic) < next) {
            uint32_t to;
            struct ic_qos_arrival a = ic_qos_traffic_next(&traffic, 4, &to);
            assert_true(to < 4 && to != a.source);
            within[a.traffic_class]++;
        }
        for (int c = 0; c < 2; c++) {
            counts[c] += within[c];
            squares[c] += within[c] * within[c];
            within[c] = 0;
        }
    }
    for (int c = 0; c < 2; c++) {
        double windows = end / window - 1, mean = counts[c] / windows;
        double variance = squares[c] / windows - mean * mean;
        assert_near(mean, 4 * rates[c].mean * window, 0.03 * mean);
        if (c == 0)
            assert_near(variance / mean, 1, 0.05); /* Poisson */
        else
            assert_true(variance / mean > 3);
    }
    ic_qos_traffic_fini(&traffic);
}

/* ---- simulations ---- */

static struct ic_qos_simulated run_of(const struct ic_qos_simulation *simulation, uint64_t messages,
                                      uint64_t seed)
{
    struct ic_run run = {.seed = seed, .messages = messages};
    struct ic_qos_simulated out;
    assert_ok(ic_qos_simulate(simulation, &run, &out, error));
    return out;
}

static struct ic_qos_simulation simulation_of(uint64_t n, double load, double be_load)
{
    return (struct ic_qos_simulation){
        .qos = usual(n, load, be_load),
        .ports = 16,
        .peak = 1,
        .burst = 1,
        .deadline = n == 0 ? 42 : 55,
        .hops = 2,
    };
}

static void the_same_seed_gives_the_same(void **state)
{
    struct ic_qos_simulation simulation = simulation_of(5, 0.006, 0.002);
    (void)state;
    struct ic_qos_simulated a = run_of(&simulation, 3000, 1), b = run_of(&simulation, 3000, 1);
    struct ic_qos_simulated c = run_of(&simulation, 3000, 2);
    for (int class = R1; class <= BE; class ++) {
        assert_true(a.classes[class].network == b.classes[class].network);
        assert_true(a.classes[class].wait == b.classes[class].wait);
        assert_true(a.classes[class].miss == b.classes[class].miss);
    }
    assert_int_equal(a.cycles, b.cycles);
    assert_int_equal(a.flit_hops, b.flit_hops);
    assert_true(a.classes[R1].network != c.classes[R1].network);
}

/* Claims: R1 before R2 before BE, later with more traffic; misses likewise. */
static void claims_hold(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 6; n += 6) {
        struct ic_qos_simulated before = {0};
        for (double load = 0.002; load < 0.0085; load += 0.003) {
            struct ic_qos_simulation simulation = simulation_of(n, load, n == 0 ? 0.01 : 0.002);
            struct ic_qos_simulated now = run_of(&simulation, 15000, 3);
            for (int c = R1; c <= BE; c++) {
                assert_true(now.classes[c].network > before.classes[c].network);
                if (c == BE)
                    continue;
                assert_true(now.classes[c].network < now.classes[c + 1].network);
                assert_true(now.classes[c].miss > before.classes[c].miss);
                assert_false(now.classes[c].is_saturated);
            }
            assert_true(now.classes[R1].miss < now.classes[R2].miss);
            before = now;
        }
    }
}

/* Best effort does not reach real-time traffic with virtual clock, with round robin it does. */
static void virtual_clock_protects(void **state)
{
    (void)state;
    struct ic_qos_simulation few = simulation_of(0, 0.003, 0.001);
    struct ic_qos_simulation many = simulation_of(0, 0.003, 0.015);
    double before = run_of(&few, 20000, 1).classes[R1].network;
    assert_near(run_of(&many, 20000, 1).classes[R1].network, before, 0.04 * before);
    few.scheduler = many.scheduler = IC_QOS_ROUND_ROBIN;
    before = run_of(&few, 20000, 1).classes[R1].network;
    assert_true(run_of(&many, 20000, 1).classes[R1].network > 1.2 * before);
}

static void bursts_wait_longer(void **state)
{
    struct ic_qos_simulation poisson = simulation_of(0, 0.005, 0.002), bursts = poisson;
    (void)state;
    bursts.peak = 6;
    bursts.burst = 4;
    struct ic_qos_simulated a = run_of(&poisson, 20000, 1), b = run_of(&bursts, 20000, 1);
    assert_true(b.classes[R1].wait > 2 * a.classes[R1].wait);
}

static void saturation_is_named(void **state)
{
    struct ic_qos_simulation simulation = simulation_of(0, 0.009, 0.02);
    (void)state;
    struct ic_qos_simulated out = run_of(&simulation, 20000, 1);
    assert_true(out.classes[BE].is_saturated);
    assert_false(out.classes[R1].is_saturated);
    assert_true(isfinite(out.classes[BE].network));
}

struct records {
    uint64_t messages, links;
    double load, ejected;
};

static void on_message(void *ctx, const struct ic_message_record *message)
{
    struct records *records = (struct records *)ctx;
    records->messages++;
    assert_true(message->created <= message->entered);
    assert_true(message->delivered - message->entered >= 4 + 5 * message->hops + 32);
}

static void on_channel(void *ctx, const struct ic_channel_record *channel)
{
    struct records *records = (struct records *)ctx;
    records->links++;
    assert_true(channel->load >= 0 && channel->load <= 1);
    if (channel->what[0] == 'e')
        records->ejected += channel->load;
    if (channel->what[0] == 'l')
        records->load += channel->load;
}

static bool end_at_half(void *ctx, double share)
{
    (void)ctx;
    return share < 0.5;
}

static void messages_and_channels_are_recorded(void **state)
{
    struct records records = {0};
    struct ic_run run = {.messages = 30000,
                         .on_message = on_message,
                         .on_channel = on_channel,
                         .ctx = &records};
    struct ic_qos_simulation simulation = simulation_of(5, 0.004, 0.002);
    struct ic_qos_simulated out;
    (void)state;
    assert_ok(ic_qos_simulate(&simulation, &run, &out, error));
    assert_in_range(records.messages, 30000, 30000 + 32);
    assert_int_equal(records.links, 32 * 6 + 32);
    /* 0.008 messages of 32 flits per node; over 80/31 links */
    assert_near(records.ejected / 32, 0.256, 0.01);
    assert_near(records.load / records.ejected, 80 / 31.0, 0.03);
    run.on_progress = end_at_half;
    assert_int_equal(ic_qos_simulate(&simulation, &run, &out, error), GMC_ERR_STATE);
    assert_string_equal(error, "ended after 15050 of 30000 messages");
}

static void bad_parameters_are_named(void **state)
{
    struct ic_qos_simulation simulation = simulation_of(0, 0.004, 0.002);
    struct ic_run run = {0};
    struct ic_qos_simulated out;
    (void)state;
    simulation.ports = 33;
    assert_int_equal(ic_qos_simulate(&simulation, &run, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the number of ports is 33; it must be 2 to 32");
    simulation.ports = 16;
    simulation.peak = 0.5;
    assert_int_equal(ic_qos_simulate(&simulation, &run, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the peak rate over the mean rate is 0.5; it must be 1 to 1000");
    simulation = simulation_of(6, 0.004, 0.002);
    simulation.hops = 7;
    assert_int_equal(ic_qos_simulate(&simulation, &run, &out, error), GMC_ERR_INVALID);
    assert_string_equal(error, "the number of hops is 7; it must be 1 to 6");
}

/* ---- the reference simulations ---- */

/* Within the share that is asked for and both intervals, ours being as wide: at high loads R1 and
 * R2 take from each other for long, as what virtual clock reserves is just what they send. */
static void expect(const struct ic_table *table, double got, const char *class, double share)
{
    char column[16];
    snprintf(column, sizeof(column), "simL_%s", class);
    double wanted = strtod(ic_table_text(table, column), NULL);
    snprintf(column, sizeof(column), "ci_%s", class);
    double interval = strtod(ic_table_text(table, column), NULL);
    if (is_whole())
        print_message("  %s %.2f (%.2f +- %.2f) %+.1f %%\n", class, got, wanted, interval,
                      100 * (got / wanted - 1));
    if (!(fabs(got - wanted) <= share * wanted + 2 * interval))
        fail_msg("row %d: %s is %.2f, should be %.2f +- %.2f", table->rows, class, got, wanted,
                 interval);
}

/* dmp_d1 is of the deadline that runs have here. The table gives no intervals of these: a tenth,
 * the distance that the text asks for, and what is as far apart by chance among some 1,000
 * messages. Cubes only: at one router, where all links carry just what is reserved on them, R1's
 * and R2's misses differ from run to run by more. */
static void expect_misses(const struct ic_table *table, const struct ic_qos_simulated *out)
{
    static const char *const columns[] = {"dmp_d1_R1", "dmp_d1_R2"};
    for (int c = R1; c <= R2; c++) {
        double got = out->classes[c].miss;
        double wanted = strtod(ic_table_text(table, columns[c]), NULL);
        double chance = 4 * sqrt(wanted * (1 - wanted) / 1000);
        if (is_whole())
            print_message("  %s %.4f (%.4f)\n", columns[c], got, wanted);
        if (!(fabs(got - wanted) <= 0.1 * wanted + chance))
            fail_msg("row %d: %s is %.4f, should be %.4f", table->rows, columns[c], got, wanted);
    }
}

static void expect_row(const struct ic_table *table)
{
    uint64_t n = ic_table_number(table, "n_0_is_single");
    double be_load = strtod(ic_table_text(table, "be_load"), NULL);
    double load = strtod(ic_table_text(table, "r1_load"), NULL);
    struct ic_qos_simulation simulation = simulation_of(n, load, be_load);
    clock_t from = clock();
    struct ic_qos_simulated out = run_of(&simulation, is_whole() ? 60000 : 30000, 1);
    double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    if (is_whole())
        print_message("n %d, load %g: %.1f M flit-hops per CPU second\n", (int)n, load,
                      (double)out.flit_hops / seconds / 1e6);
    expect(table, out.classes[R1].network, "R1", 0.05);
    expect(table, out.classes[R2].network, "R2", 0.05);
    if (strtod(ic_table_text(table, "simW_BE"), NULL) < 100)
        expect(table, out.classes[BE].network, "BE", 0.08);
    if (n != 0)
        expect_misses(table, &out);
}

static void reference_simulations_agree(void **state)
{
    struct ic_table table;
    (void)state;
    ic_table_open(&table, "sim_qos");
    while (ic_table_next(&table))
        if (is_whole() || table.rows % 4 == 3)
            expect_row(&table);
    assert_int_equal(table.rows, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_message_is_exact),
        cmocka_unit_test(a_class_carries_one_message_at_a_time),
        cmocka_unit_test(real_time_goes_first),
        cmocka_unit_test(schedulers_share_as_they_say),
        cmocka_unit_test(all_messages_arrive),
        cmocka_unit_test(sources_keep_their_rates),
        cmocka_unit_test(the_same_seed_gives_the_same),
        cmocka_unit_test(claims_hold),
        cmocka_unit_test(virtual_clock_protects),
        cmocka_unit_test(bursts_wait_longer),
        cmocka_unit_test(saturation_is_named),
        cmocka_unit_test(messages_and_channels_are_recorded),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(reference_simulations_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
