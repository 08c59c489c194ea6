/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/multicast with torus and star: where nothing waits for anything, the
 * simulators take as long as the closed forms say; large messages come in the orders that were
 * measured; packets overlap; the records add up. */
#include <stdlib.h>

#include "interconnect/families.h"
#include "interconnect/star/simulate.h"
#include "interconnect/torus/latency.h"
#include "interconnect/torus/simulate.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

#define NODES_MAX 256

static char error[IC_ERROR_MAX];
static uint32_t nodes[NODES_MAX];

/* The mean over random groups of a k x k torus. */
static double torus_us(enum ic_torus_algorithm algorithm, uint32_t k, uint32_t group,
                       uint32_t bytes, uint32_t packet)
{
    double sum = 0;
    for (uint64_t draw = 0; draw < 40; draw++) {
        struct ic_torus torus;
        struct ic_torus_group members;
        struct ic_multicast_times times;
        struct gmc_prng prng;
        assert_ok(ic_torus_init(&torus, k, 2, error));
        gmc_prng_init(&prng, draw);
        ic_torus_draw_group(&torus, group, &prng, nodes, &members);
        const struct ic_torus_run run = {&torus, &members, algorithm, k,    true, 0,
                                         bytes,  packet,   false,     NULL, NULL};
        assert_ok(ic_torus_simulate(&run, &times, NULL, error));
        sum += times.latency_us;
    }
    return sum / 40;
}

static double star_run_us(const struct ic_star_run *run)
{
    struct ic_multicast_times times;
    assert_ok(ic_star_simulate(run, &times, NULL, error));
    assert_int_equal(times.visits, 2 * (run->members - 1));
    return times.latency_us;
}

static double star_us(enum ic_myrinet_scheme scheme, enum ic_star_algorithm algorithm,
                      uint32_t members, uint32_t bytes, uint32_t packet)
{
    const struct ic_star_run run = {.scheme = scheme,
                                    .algorithm = algorithm,
                                    .members = members,
                                    .bytes = bytes,
                                    .packet_bytes = packet,
                                    .is_at_wire_rate = bytes > 64};
    return star_run_us(&run);
}

/* Each packet to all before the next one: the busiest member decides, which takes it in once and
 * sends it on once in a chain, twice in a heap; three times, and the root four, in a binomial. */
static void packets_by_turns(void **state)
{
    struct ic_star_run run = {.scheme = IC_MYRINET_HB,
                              .members = 16,
                              .bytes = 4000000,
                              .packet_bytes = 4096,
                              .by_turns = true,
                              .is_at_wire_rate = true};
    (void)state;
    run.algorithm = IC_STAR_SERIAL;
    double serial = star_run_us(&run);
    run.algorithm = IC_STAR_BINARY;
    double binary = star_run_us(&run);
    run.algorithm = IC_STAR_BINOMIAL;
    double binomial = star_run_us(&run);
    assert_true(binary / serial > 1.45 && binary / serial < 1.8);
    assert_true(binomial / serial > 1.9 && binomial / serial < 2.1);
    run.by_turns = false;
    run.algorithm = IC_STAR_BINARY;
    assert_true(star_run_us(&run) > 1.6 * binary);
}

/* Longer by what the closed forms leave out only: wires and switches, for each message that has to
 * be waited for. */
static void small_messages_take_as_long_as_modelled(void **state)
{
    static const double way_us = 6 * 0.014 + 4 * 0.06 + 0.67; /* at most, in a 4 x 4 torus */
    (void)state;
    for (uint32_t group = 3; group <= 16; group++) {
        struct ic_sci_latency t;
        assert_ok(ic_sci_latency(4, 128, 4, group, &t, error));
        assert_in_range((uint64_t)(1e6 *
                                   (torus_us(IC_TORUS_SEPARATE, 4, group, 128, 0) - t.separate)),
                        0, (uint64_t)(1e6 * way_us));
        assert_in_range((uint64_t)(1e6 * (torus_us(IC_TORUS_S, 4, group, 128, 0) - t.s)), 0,
                        (uint64_t)(1e6 * way_us * group));
    }
    for (int scheme = 0; scheme < IC_MYRINET_SCHEMES; scheme++)
        for (uint32_t group = 3; group <= 64; group++) {
            struct ic_myrinet_latency t;
            enum ic_myrinet_scheme it = (enum ic_myrinet_scheme)scheme;
            assert_ok(ic_myrinet_latency(it, IC_STAR_SERIAL, 2, group, &t, error));
            assert_near(star_us(it, IC_STAR_SERIAL, group, 2, 0) - t.time, 0.271 * (group - 1),
                        0.28 * (group - 1));
            assert_ok(ic_myrinet_latency(it, IC_STAR_SEPARATE, 2, group, &t, error));
            assert_near(star_us(it, IC_STAR_SEPARATE, group, 2, 0), t.time, 0.6);
        }
}

/* What was measured with 64 KB: Md is best for large groups, separate addressing grows with the
 * group and S-torus is worst, Mu is worse than Md where the group is no multiple of r. */
static void large_messages_are_ordered_as_measured(void **state)
{
    static const uint32_t packets[] = {0, 4096};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double us[IC_TORUS_ALGORITHMS][17];
        for (int a = 0; a < IC_TORUS_ALGORITHMS; a++)
            for (uint32_t group = 4; group <= 16; group += 2)
                us[a][group] = torus_us((enum ic_torus_algorithm)a, 4, group, 65536, packets[i]);
        for (uint32_t group = 10; group <= 16; group += 2) {
            for (int a = 0; a < IC_TORUS_ALGORITHMS; a++) {
                assert_true(a == IC_TORUS_S || us[a][group] < us[IC_TORUS_S][group]);
                if (group >= 12 && a != IC_TORUS_MD && a != IC_TORUS_MU)
                    assert_true(us[IC_TORUS_MD][group] < us[a][group]);
            }
            double grows = us[IC_TORUS_SEPARATE][group] - us[IC_TORUS_SEPARATE][group - 2];
            assert_near(grows, 2 * (ic_sci_overhead_us(65536) + 7), 1);
        }
        assert_true(us[IC_TORUS_MD][10] < us[IC_TORUS_MU][10] * 0.9);
        assert_true(us[IC_TORUS_MD][14] < us[IC_TORUS_MU][14] * 0.9);
        assert_near(us[IC_TORUS_MD][16], us[IC_TORUS_MU][16], 0.011 * us[IC_TORUS_MD][16]);
    }
}

static void packets_overlap(void **state)
{
    (void)state;
    for (int a = 0; a < IC_TORUS_ALGORITHMS; a++) {
        enum ic_torus_algorithm it = (enum ic_torus_algorithm)a;
        double whole = torus_us(it, 8, 40, 65536, 0);
        assert_true(torus_us(it, 8, 40, 65536, 1000) < whole);
        assert_near(torus_us(it, 8, 40, 65536, 65536), whole, 1e-9);
        assert_near(torus_us(it, 8, 40, 65536, 1 << 20), whole, 1e-9);
    }
    for (int a = 0; a < IC_STAR_ALGORITHMS; a++)
        assert_true(star_us(IC_MYRINET_NB, (enum ic_star_algorithm)a, 16, 65536, 4096) <
                    star_us(IC_MYRINET_NB, (enum ic_star_algorithm)a, 16, 65536, 0));
}

/* ---- records of the family ---- */
struct seen {
    uint64_t messages, channels;
    double last, load;
};

static void on_message(void *ctx, const struct ic_message_record *record)
{
    struct seen *seen = ctx;
    assert_int_equal(record->number, seen->messages++);
    assert_true(record->created < record->entered && record->entered < record->delivered);
    assert_true(record->hops > 0 && record->from != record->to);
    seen->last = record->delivered > seen->last ? record->delivered : seen->last;
}

static void on_channel(void *ctx, const struct ic_channel_record *record)
{
    struct seen *seen = ctx;
    seen->channels++;
    assert_true(record->load >= 0 && record->load <= 1);
    seen->load = record->load > seen->load ? record->load : seen->load;
}

static void records_add_up(void **state)
{
    static const struct ic_family *const families[] = {&ic_family_torus, &ic_family_star};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ic_figure figures[16];
        struct ic_result result = {.figures = figures};
        double values[16];
        struct seen seen = {0};
        const struct ic_run run = {.seed = 3,
                                   .messages = 1,
                                   .on_message = on_message,
                                   .on_channel = on_channel,
                                   .ctx = &seen};
        ic_family_defaults(families[i], values);
        assert_ok(ic_family_simulate(families[i], values, NULL, &run, &result, error));
        assert_int_equal(seen.messages, 15); /* 16 members */
        assert_int_equal(seen.channels, 32);
        assert_near(figures[0].value, seen.last, 1e-6);
        size_t busiest = ic_family_output(families[i], "busiest_link");
        assert_near(figures[busiest].value, 100 * seen.load, 1e-6);
    }
}

static bool stop(void *ctx, double share)
{
    (void)share;
    return ++*(int *)ctx < 3;
}

static void what_cannot_be_is_refused(void **state)
{
    struct ic_figure figures[16];
    struct ic_result result = {.figures = figures};
    double values[16];
    int asked = 0;
    const struct ic_run run = {.on_progress = stop, .ctx = &asked};
    (void)state;
    ic_family_defaults(&ic_family_torus, values);
    assert_int_equal(ic_family_simulate(&ic_family_torus, values, NULL, &run, &result, error),
                     GMC_ERR_STATE);
    assert_int_equal(asked, 3);
    values[ic_family_param(&ic_family_torus, "group")] = 17;
    assert_int_equal(ic_family_simulate(&ic_family_torus, values, NULL, &run, &result, error),
                     GMC_ERR_INVALID);
    assert_string_equal(error, "G, the group's size, is 17; it must be 2 to 16");
    values[ic_family_param(&ic_family_torus, "group")] = 16;
    values[ic_family_param(&ic_family_torus, "bytes")] = 1048576;
    values[ic_family_param(&ic_family_torus, "packet")] = 1;
    const struct ic_run quiet = {0};
    assert_int_equal(ic_family_simulate(&ic_family_torus, values, NULL, &quiet, &result, error),
                     GMC_ERR_INVALID);
    assert_string_equal(error, "packets of 1 bytes make 1048576 of the message; at most 65536");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_by_turns),
        cmocka_unit_test(small_messages_take_as_long_as_modelled),
        cmocka_unit_test(large_messages_are_ordered_as_measured),
        cmocka_unit_test(packets_overlap),
        cmocka_unit_test(records_add_up),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
