/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/star: the anchors and claims of the source, refusals. Its reference tables are
 * in test_ic_golden. */
#include "interconnect/star/latency.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

/* The anchors in the text: m = 2, G = 16; algorithms as they are numbered. */
static void latencies_are_those_of_the_text(void **state)
{
    static const double anchors[IC_MYRINET_SCHEMES][IC_STAR_ALGORITHMS] = {
        [IC_MYRINET_HB] = {137.02, 116.02, 398.61, 491.83},
        [IC_MYRINET_NB] = {773.70, 561.70, 1762.86, 3828.29},
        [IC_MYRINET_NA] = {412.50, 391.50, 1431.66, 1028.79},
    };
    (void)state;
    for (int s = 0; s < IC_MYRINET_SCHEMES; s++)
        for (int a = 0; a < IC_STAR_ALGORITHMS; a++) {
            struct ic_myrinet_latency t;
            assert_ok(ic_myrinet_latency((enum ic_myrinet_scheme)s, (enum ic_star_algorithm)a, 2,
                                         16, &t, error));
            assert_near(t.time, anchors[s][a], 0.0051);
        }
}

static void get(struct ic_myrinet_latency t[IC_MYRINET_SCHEMES][IC_STAR_ALGORITHMS], uint64_t group)
{
    for (int s = 0; s < IC_MYRINET_SCHEMES; s++)
        for (int a = 0; a < IC_STAR_ALGORITHMS; a++)
            assert_ok(ic_myrinet_latency((enum ic_myrinet_scheme)s, (enum ic_star_algorithm)a, 2,
                                         group, &t[s][a], error));
}

/* Claims of the text, to 256 nodes. */
static void orderings_hold(void **state)
{
    (void)state;
    for (uint64_t group = 4; group <= 256; group++) {
        struct ic_myrinet_latency t[IC_MYRINET_SCHEMES][IC_STAR_ALGORITHMS];
        get(t, group);
        const struct ic_myrinet_latency *host = t[IC_MYRINET_HB];
        assert_true(host[IC_STAR_BINARY].time < host[IC_STAR_BINOMIAL].time);
        assert_true(host[IC_STAR_BINOMIAL].time < host[IC_STAR_SERIAL].time);
        assert_true(host[IC_STAR_SERIAL].time < host[IC_STAR_SEPARATE].time);
        for (int a = 0; a < IC_STAR_ALGORITHMS; a++) {
            assert_true(t[IC_MYRINET_HB][a].time < t[IC_MYRINET_NA][a].time);
            assert_true(t[IC_MYRINET_NA][a].time < t[IC_MYRINET_NB][a].time);
        }
    }
}

/* Intermediate nodes of the formulas are those of the schedules. */
static void formulas_count_as_schedules_do(void **state)
{
    (void)state;
    for (uint64_t group = 2; group <= 300; group++)
        for (int a = 0; a < IC_STAR_SEPARATE; a++) {
            struct ic_schedule schedule;
            struct ic_schedule_metrics metrics;
            struct ic_myrinet_latency t;
            assert_ok(ic_star_multicast(group, (enum ic_star_algorithm)a, &schedule, error));
            assert_ok(ic_schedule_measure(&schedule, &metrics));
            assert_ok(
                ic_myrinet_latency(IC_MYRINET_HB, (enum ic_star_algorithm)a, 2, group, &t, error));
            assert_near((t.time - 2 * ic_myrinet_host_us(2)) / t.per_node, metrics.max_intermediate,
                        1e-6);
            ic_schedule_fini(&schedule);
        }
}

static void bad_parameters_are_named(void **state)
{
    struct ic_schedule schedule;
    struct ic_myrinet_latency t;
    enum ic_star_algorithm algorithm;
    (void)state;
    assert_int_equal(ic_star_multicast(1, IC_STAR_SERIAL, &schedule, error), GMC_ERR_INVALID);
    assert_string_equal(error, "G, the group's size, is 1; it must be 2 to 1048576");
    assert_int_equal(ic_myrinet_latency(IC_MYRINET_HB, IC_STAR_SERIAL, 2097152, 4, &t, error),
                     GMC_ERR_INVALID);
    assert_string_equal(error, "m, the message's bytes, is 2097152; it must be 0 to 1048576");
    assert_int_equal(ic_star_algorithm_from_name("tree", &algorithm), GMC_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_are_those_of_the_text),
        cmocka_unit_test(orderings_hold),
        cmocka_unit_test(formulas_count_as_schedules_do),
        cmocka_unit_test(bad_parameters_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
