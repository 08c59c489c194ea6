/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/runs: how messages and seeds are divided, what several runs say together, and
 * that intervals hold what they say where one run sees its own past only. */
#include "interconnect/runs.h"

#include <math.h>

#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

enum { MEASURED, EXACT, RARE, OUTPUTS };

static char error[IC_ERROR_MAX];
static struct ic_figure figures[64];
static struct ic_result result = {.figures = figures};

static struct {
    uint64_t messages[2 * IC_RUNS], seeds[2 * IC_RUNS], watched[2 * IC_RUNS];
    uint32_t count;
    uint32_t saturated; /* the run that is; UINT32_MAX: none */
    uint64_t warmup;
} seen;

/* The n-th run measures n, and tells n messages and the same channels. */
static gmc_status simulate(const double *values, const struct ic_setting *setting,
                           const struct ic_run *run, struct ic_result *one, char *words)
{
    (void)values;
    (void)setting;
    (void)words;
    uint32_t n = seen.count++;
    seen.messages[n] = run->messages;
    seen.seeds[n] = run->seed;
    seen.watched[n] = run->only_measures ? 0 : run->watched;
    one->warmup = seen.warmup;
    ic_result_set(one, EXACT, 7);
    if (n == 2)
        ic_result_set_measured(one, RARE, 5);
    if (n == seen.saturated) {
        ic_result_saturated(one, "run %u", n);
        return GMC_OK;
    }
    ic_result_set_measured(one, MEASURED, n);
    for (uint32_t i = 0; run->on_message != NULL && i < n; i++) {
        const struct ic_message_record record = {.number = i};
        run->on_message(run->ctx, &record);
    }
    for (uint32_t i = 0; run->on_channel != NULL && i < 100; i++) {
        const struct ic_channel_record record = {.from = i, .load = i * n};
        run->on_channel(run->ctx, &record);
    }
    if (run->on_progress != NULL && !run->on_progress(run->ctx, 0.5))
        return GMC_ERR_STATE;
    return GMC_OK;
}

static const struct ic_param load = {"load", "", "-", IC_NUMBER, 0, 1, 0.5, NULL, IC_SIMULATOR};
static const struct ic_output outputs[OUTPUTS] = {{"measured", "", "-", IC_SIMULATOR},
                                                  {"exact", "", "-", IC_SIMULATOR},
                                                  {"rare", "", "-", IC_SIMULATOR}};
static const struct ic_family ours = {.name = "ours",
                                      .params = &load,
                                      .param_count = 1,
                                      .outputs = outputs,
                                      .output_count = OUTPUTS,
                                      .load = "load",
                                      .messages = 805,
                                      .simulate = simulate};

static void run_ours(const struct ic_run *run, uint32_t saturated)
{
    const double value = 0.5;
    seen.count = 0;
    seen.saturated = saturated;
    assert_ok(ic_family_simulate(&ours, &value, NULL, run, &result, error));
}

static void messages_and_seeds_are_divided(void **state)
{
    uint64_t sum = 0, first = 0;
    (void)state;
    run_ours(&(struct ic_run){.seed = 3}, UINT32_MAX);
    assert_int_equal(seen.count, IC_RUNS);
    for (uint32_t i = 0; i < IC_RUNS; i++) {
        sum += seen.messages[i];
        assert_in_range(seen.messages[i], 100, 101);
        assert_int_equal(seen.watched[i] > 0, i == 0);
        for (uint32_t j = 0; j < i; j++)
            assert_true(seen.seeds[i] != seen.seeds[j]);
    }
    assert_int_equal(sum, 805);
    first = seen.seeds[0];
    run_ours(&(struct ic_run){.seed = 3, .messages = 3}, UINT32_MAX);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.messages[2], 1);
    assert_int_equal(seen.seeds[0], first);
    run_ours(&(struct ic_run){.seed = 4, .runs = 1}, UINT32_MAX);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.messages[0], 805);
    assert_true(seen.seeds[0] != first);
}

/* A warm-up that takes most of the time is not repeated more often than it must be. */
static void long_warmups_are_few(void **state)
{
    (void)state;
    seen.warmup = 405;
    run_ours(&(struct ic_run){.seed = 3}, UINT32_MAX);
    assert_int_equal(seen.count, 4);
    assert_int_equal(seen.messages[0] + seen.messages[1] + seen.messages[2] + seen.messages[3],
                     805);
    seen.warmup = 0;
}

/* Of 0 to 7: mean 3.5, variance 6, quantile of 7 degrees 2.3646. */
static void intervals_are_those_of_independent_runs(void **state)
{
    (void)state;
    run_ours(&(struct ic_run){.messages = 800}, UINT32_MAX);
    assert_near(figures[MEASURED].value, 3.5, 1e-12);
    assert_near(figures[MEASURED].half_width, 2.3646 * sqrt(6.0 / 8), 1e-4);
    assert_true(figures[EXACT].value == 7 && figures[EXACT].half_width == 0);
    assert_true(figures[RARE].value == 5 && isinf(figures[RARE].half_width));
    run_ours(&(struct ic_run){.runs = 1}, UINT32_MAX);
    assert_true(isinf(figures[MEASURED].half_width));
    assert_int_equal(figures[RARE].state, IC_FIGURE_NONE);
}

static void saturation_ends_it(void **state)
{
    (void)state;
    for (uint32_t saturated = 0; saturated < 4; saturated += 3) {
        run_ours(&(struct ic_run){.seed = 1}, saturated);
        assert_int_equal(seen.count, saturated + 1);
        assert_true(result.is_saturated);
        assert_string_equal(result.where, saturated == 0 ? "run 0" : "run 3");
        assert_int_equal(figures[MEASURED].state, IC_FIGURE_SATURATED);
        assert_int_equal(figures[EXACT].state, IC_FIGURE_KNOWN);
    }
}

static struct {
    uint32_t messages, channels;
    double load, share;
} told;

static void on_message(void *ctx, const struct ic_message_record *message)
{
    (void)ctx;
    assert_true(message->number < message->run);
    told.messages++;
}

static void on_channel(void *ctx, const struct ic_channel_record *channel)
{
    (void)ctx;
    assert_int_equal(channel->from, told.channels);
    told.channels++;
    told.load += channel->load;
}

static bool on_progress(void *ctx, double share)
{
    (void)ctx;
    assert_true(share > told.share && share < 1);
    told.share = share;
    return true;
}

static bool stop(void *ctx, double share)
{
    (void)ctx;
    return share < 0.3;
}

static void records_are_of_all_runs(void **state)
{
    const double value = 0.5;
    struct ic_run run = {.on_message = on_message,
                         .on_channel = on_channel,
                         .on_progress = on_progress};
    (void)state;
    run_ours(&run, UINT32_MAX);
    assert_int_equal(told.messages, 28);
    assert_int_equal(told.channels, 100);
    assert_near(told.load, 3.5 * 4950, 1e-6);
    assert_near(told.share, 7.5 / 8, 1e-12);
    run.on_progress = stop;
    seen.count = 0;
    assert_int_equal(ic_family_simulate(&ours, &value, NULL, &run, &result, error), GMC_ERR_STATE);
    assert_int_equal(seen.count, 3);
}

/* Virtual clock that reserves just what is sent never forgets: batches of one run said 95 % where
 * 40 % were. */
static void intervals_hold_the_mean_of_many_seeds(void **state)
{
    enum { SEEDS = 60 };
    const struct ic_family *qos = ic_family_find("qos");
    static const char *const names[] = {"network_R1", "miss_R1"};
    double values[64], means[2][SEEDS], widths[2][SEEDS], mean[2] = {0};
    (void)state;
    ic_family_defaults(qos, values);
    values[ic_family_param(qos, "load")] = 0.004;
    values[ic_family_param(qos, "deadline")] = 42;
    for (int i = 0; i < SEEDS; i++) {
        const struct ic_run run = {.seed = (uint64_t)i, .messages = 24000};
        assert_ok(ic_family_simulate(qos, values, NULL, &run, &result, error));
        for (int j = 0; j < 2; j++) {
            const struct ic_figure *figure = &figures[ic_family_output(qos, names[j])];
            mean[j] += figure->value / SEEDS;
            means[j][i] = figure->value;
            widths[j][i] = figure->half_width;
        }
    }
    for (int j = 0; j < 2; j++) {
        int covered = 0;
        for (int i = 0; i < SEEDS; i++)
            covered += fabs(means[j][i] - mean[j]) <= widths[j][i];
        /* 57 expected; the binomial distribution leaves 50..60 but once in 1,000. */
        assert_in_range(covered, 50, SEEDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_and_seeds_are_divided),
        cmocka_unit_test(long_warmups_are_few),
        cmocka_unit_test(intervals_are_those_of_independent_runs),
        cmocka_unit_test(saturation_ends_it),
        cmocka_unit_test(records_are_of_all_runs),
        cmocka_unit_test(intervals_hold_the_mean_of_many_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
