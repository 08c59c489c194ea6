/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts' clocks: exact, never backwards, and their inverse; the run's hash. */
#include "tests/lib/unit.h"

#include <string.h>

#include "base/prng.h"
#include "sim-wan/clock.h"
#include "sim-wan/trace.h"

static void test_exact(void **state)
{
    (void)state;
    struct sim_clock true_clock = {0};
    struct sim_clock fast = {.offset = 500, .drift_ppb = 50000};
    assert_int_equal(sim_clock_read(&true_clock, 123456789012345), 123456789012345);
    assert_int_equal(sim_clock_read(&fast, 0), 500);
    assert_int_equal(sim_clock_read(&fast, GMC_S(1)), 500 + GMC_S(1) + 50000);
    assert_int_equal(sim_clock_read(&fast, GMC_S(1000000)), 500 + GMC_S(1000000) + GMC_S(50));
    assert_int_equal(sim_clock_when(&fast, 499), 0);
    assert_int_equal(sim_clock_when(&fast, GMC_TIME_NEVER), GMC_TIME_NEVER);
}

/* `when` is the first instant at which the clock shows the time; it never runs backwards. */
static void test_inverse(void **state)
{
    (void)state;
    struct gmc_prng prng;
    gmc_prng_init(&prng, 5);
    for (int i = 0; i < 100000; i++) {
        struct sim_clock clock = {.offset = gmc_prng_below(&prng, GMC_S(3600))};
        clock.drift_ppb = (int32_t)gmc_prng_below(&prng, 2 * SIM_DRIFT_PPB_MAX + 1);
        clock.drift_ppb -= SIM_DRIFT_PPB_MAX;
        gmc_time shown = clock.offset + 1 + gmc_prng_below(&prng, GMC_S(100000));
        gmc_time when = sim_clock_when(&clock, shown);
        assert_true(sim_clock_read(&clock, when) >= shown);
        assert_true(sim_clock_read(&clock, when - 1) < shown);
        assert_true(sim_clock_read(&clock, when + 1) >= sim_clock_read(&clock, when));
    }
}

static void count_line(void *ctx, const char *text)
{
    assert_string_equal(text, "1.000002 a.example says 7");
    ++*(int *)ctx;
}

static void test_trace(void **state)
{
    (void)state;
    struct sim_trace a, b;
    int lines = 0;
    sim_trace_init(&a);
    sim_trace_init(&b);
    a.line = count_line;
    a.ctx = &lines;
    sim_trace_text(&a, 1000002000, SIM_TRACE_EVENT, 1, "a.example", "says %d", 7);
    sim_trace_text(&b, 1000002000, SIM_TRACE_EVENT, 1, "a.example", "says %d", 7);
    assert_int_equal(lines, 1);
    assert_int_equal(a.hash, b.hash); /* who listens changes nothing */
    sim_trace_record(&a, 1, SIM_TRACE_DROP, 2, 3, 4);
    sim_trace_record(&b, 1, SIM_TRACE_DROP, 2, 4, 3);
    assert_int_not_equal(a.hash, b.hash);
    assert_int_equal(a.records, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
