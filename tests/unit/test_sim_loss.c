/* SPDX-License-Identifier: BSD-2-Clause */
/* Loss models: long-run loss and lengths of bursts inside the 99.9 % interval of theory, traces
 * packet by packet and in time, and what a trace may not be. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "sim-wan/loss_model.h"
#include "sim-wan/loss_trace.h"
#include "tests/fuzz/memfile.h"

#define SIGMAS 3.2905 /* of the normal distribution, for 99.9 % */

/* ---- Gilbert-Elliott ---- */
struct counted {
    double lost, bursts, n;
};

static struct counted count_losses(const struct sim_gilbert *gilbert, uint64_t seed, size_t n)
{
    struct sim_gilbert_state state = {0};
    struct counted counted = {.n = (double)n};
    struct gmc_prng prng;
    bool before = false;
    gmc_prng_init(&prng, seed);
    for (size_t i = 0; i < n; i++) {
        bool lost = sim_gilbert_takes(gilbert, &state, &prng);
        counted.lost += lost;
        counted.bursts += lost && !before;
        before = lost;
    }
    return counted;
}

/* Losses of a chain are correlated by (1-p-r)^k over k packets, which widens the interval. */
static double sigma_of_losses(const struct sim_gilbert *gilbert, double n)
{
    double p = gilbert->to_bad_ppm / 1e6, r = gilbert->to_good_ppm / 1e6;
    double good = gilbert->good_loss_ppm / 1e6, bad = gilbert->bad_loss_ppm / 1e6;
    double in_bad = p / (p + r), mean = in_bad * bad + (1 - in_bad) * good;
    double memory = 1 - p - r;
    double covariances = (bad - good) * (bad - good) * in_bad * (1 - in_bad) * memory / (p + r);
    return sqrt(n * (mean * (1 - mean) + 2 * covariances));
}

static void test_gilbert_loses_what_theory_says(void **state)
{
    (void)state;
    static const struct {
        struct sim_gilbert gilbert;
        uint32_t loss_ppm;
    } cases[] = {
        {{10000, 300000, 0, 1000000}, 32258},      /* Gilbert's simple chain: bursts of 3.3 */
        {{1000, 50000, 0, 500000}, 9803},          /* Gilbert's: half of a bad spell passes */
        {{5000, 100000, 1000, 800000}, 39047},     /* Elliott's: good spells lose too */
        {{500000, 500000, 100000, 100000}, 100000} /* no memory: Bernoulli */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct sim_gilbert *gilbert = &cases[i].gilbert;
        assert_int_equal(sim_gilbert_loss_ppm(gilbert), cases[i].loss_ppm);
        for (uint64_t seed = 1; seed <= 3; seed++) {
            struct counted counted = count_losses(gilbert, seed, 1000000);
            double mean = counted.n * cases[i].loss_ppm / 1e6;
            assert_true(fabs(counted.lost - mean) <
                        SIGMAS * sigma_of_losses(gilbert, counted.n) + 1);
        }
    }
}

static void test_gilbert_bursts_are_geometric(void **state)
{
    (void)state;
    /* All of a bad spell is lost, so a burst is a spell: mean 1/r, variance (1-r)/r^2. */
    struct sim_gilbert gilbert = {10000, 250000, 0, 1000000};
    struct counted counted = count_losses(&gilbert, 4, 1000000);
    double mean = counted.lost / counted.bursts;
    assert_true(fabs(mean - 4) < SIGMAS * sqrt(12 / counted.bursts));
}

static void test_gilbert_corners(void **state)
{
    (void)state;
    struct sim_gilbert none = {0}, stays = {.good_loss_ppm = 1000000},
                       falls = {1000000, 0, 0, 1000000};
    assert_false(sim_gilbert_is_set(&none));
    assert_true(sim_gilbert_is_set(&stays));
    assert_int_equal(sim_gilbert_loss_ppm(&none), 0);
    assert_int_equal(sim_gilbert_loss_ppm(&stays), 1000000);
    assert_int_equal(sim_gilbert_loss_ppm(&falls), 1000000);
    assert_int_equal(count_losses(&stays, 1, 100).lost, 100);
    assert_int_equal(count_losses(&falls, 1, 100).lost, 100);
}

/* ---- traces ---- */
static gmc_status read_text(const char *text, struct sim_loss_trace **trace, char *error)
{
    char name[MEMFILE_NAME_MAX];
    int fd = memfile_make(text, strlen(text), name);
    gmc_status status = sim_loss_trace_read(name, trace, error);
    close(fd);
    return status;
}

static void test_trace_of_packets(void **state)
{
    (void)state;
    static const char want[] = "0010100000101000001010000";
    struct sim_loss_trace *trace = NULL;
    char error[SIM_LOSS_TRACE_ERROR_MAX];
    uint64_t at = 0;
    assert_int_equal(read_text("# two of eight\n0 0 1\n01000 # not 1\n", &trace, error), GMC_OK);
    assert_int_equal(sim_loss_trace_count(trace), 8);
    assert_int_equal(sim_loss_trace_ppm(trace), 250000);
    for (size_t i = 0; want[i] != '\0'; i++)
        assert_int_equal(sim_loss_trace_takes(trace, &at, i), want[i] == '1');
    sim_loss_trace_free(trace);
}

static void test_trace_of_times(void **state)
{
    (void)state;
    static const struct {
        gmc_time departure;
        bool lost;
    } steps[] = {{GMC_MS(100), false}, {GMC_MS(249), false},  {GMC_MS(250), true},
                 {GMC_MS(251), false}, {GMC_MS(700), true}, /* two times passed, one packet came */
                 {GMC_MS(700), false}, {GMC_MS(1999), false}, {GMC_MS(2249), false},
                 {GMC_MS(2251), true}, {GMC_MS(4100), true}, /* of the second period */
                 {GMC_MS(4101), false}};
    struct sim_loss_trace *trace = NULL;
    char error[SIM_LOSS_TRACE_ERROR_MAX];
    uint64_t at = 0;
    assert_int_equal(read_text("times 2\n0.25 0.5\n0.600000001", &trace, error), GMC_OK);
    assert_int_equal(sim_loss_trace_count(trace), 3);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        assert_int_equal(sim_loss_trace_takes(trace, &at, steps[i].departure), steps[i].lost);
    sim_loss_trace_free(trace);
}

static void test_bad_traces_are_refused_with_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", ":1: the trace is empty"},
        {"# nothing\n\n", ":3: the trace is empty"},
        {"01\n012\n", ":2: unexpected '2'"},
        {"0 1 times 5", ":1: unexpected 't'"},
        {"0.5 0.7", ":1: unexpected '.'"},
        {"time 5\n1", ":1: unexpected 'time'"},
        {"times", ":1: bad period"},
        {"times 0 0", ":1: bad period '0'"},
        {"times -4 0", ":1: bad period '-4'"},
        {"times 1e3\n1", ":1: bad period '1e3'"},
        {"times 1000001\n1", ":1: bad period '1000001'"},
        {"times 5\n", ":2: the trace is empty"},
        {"times 5\n1\n5\n", ":3: bad time '5'"},
        {"times 5\n1.0000000001\n", ":2: bad time '1.0000000001'"},
        {"times 5\n1.\n", ":2: bad time '1.'"},
        {"times 5\n2 2\n", ":2: time '2'; each is later"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_loss_trace *trace = NULL;
        char error[SIM_LOSS_TRACE_ERROR_MAX] = "";
        assert_int_equal(read_text(cases[i].text, &trace, error), GMC_ERR_INVALID);
        if (strstr(error, cases[i].part) == NULL)
            fail_msg("'%s' gave '%s'", cases[i].text, error);
        assert_null(trace);
    }
    struct sim_loss_trace *trace = NULL;
    char error[SIM_LOSS_TRACE_ERROR_MAX] = "";
    assert_int_equal(sim_loss_trace_read("/nonexistent/trace", &trace, error), GMC_ERR_IO);
    assert_non_null(strstr(error, "/nonexistent/trace: No such file"));
    assert_int_equal(sim_loss_trace_read("/", &trace, error), GMC_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gilbert_loses_what_theory_says),
        cmocka_unit_test(test_gilbert_bursts_are_geometric),
        cmocka_unit_test(test_gilbert_corners),
        cmocka_unit_test(test_trace_of_packets),
        cmocka_unit_test(test_trace_of_times),
        cmocka_unit_test(test_bad_traces_are_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
