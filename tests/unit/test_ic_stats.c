/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/stats and random.h: quantiles, the cover of intervals, what warm-up finds. */
#include "interconnect/random.h"
#include "interconnect/stats.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static void quantiles_are_those_of_tables(void **state)
{
    static const struct {
        uint64_t degrees;
        double t;
    } table[] = {{1, 12.7062},  {2, 4.3027},    {14, 2.1448},         {15, 2.1314},
                 {19, 2.0930},  {30, 2.0423},   {38, 2.0244},         {60, 2.0003},
                 {120, 1.9799}, {1000, 1.9623}, {1000000000, 1.95996}};
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_near(ic_student_975(table[i].degrees), table[i].t, 1e-4);
}

static void batches_keep_every_observation(void **state)
{
    struct ic_batches batches;
    (void)state;
    ic_batches_init(&batches);
    assert_near(ic_batches_interval(&batches).mean, 0, 0);
    for (uint64_t i = 1; i <= 1000; i++) {
        ic_batches_add(&batches, (double)i);
        struct ic_interval interval = ic_batches_interval(&batches);
        assert_int_equal(interval.count, i);
        assert_near(interval.mean, (double)(i + 1) / 2, 1e-9);
        assert_int_equal(isinf(interval.half_width), i < IC_BATCHES / 2);
        assert_true(i < IC_BATCHES / 2 || batches.full >= IC_BATCHES / 2);
    }
}

/* 20 values known beforehand: mean 10.5, standard deviation sqrt(35), t(19) = 2.0930. */
static void the_half_width_is_students(void **state)
{
    struct ic_batches batches;
    (void)state;
    ic_batches_init(&batches);
    for (int i = 1; i <= 20; i++)
        ic_batches_add(&batches, i);
    assert_near(ic_batches_interval(&batches).half_width, 2.0930 * sqrt(35.0 / 20), 1e-3);
}

/* A first-order autoregressive process of mean 10: correlated, as latencies are. */
struct process {
    struct gmc_prng prng;
    double last;
};

static double next(struct process *process)
{
    double noise = ic_random_exponential(&process->prng, 1) - 1;
    process->last = 0.9 * process->last + noise;
    return 10 + process->last;
}

static void intervals_cover_the_mean(void **state)
{
    int covered = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct process process = {.last = 0};
        struct ic_batches batches;
        gmc_prng_init(&process.prng, seed);
        ic_batches_init(&batches);
        for (int i = 0; i < 20000; i++)
            ic_batches_add(&batches, next(&process));
        struct ic_interval interval = ic_batches_interval(&batches);
        covered += fabs(interval.mean - 10) <= interval.half_width;
    }
    /* 380 expected; the binomial distribution leaves 360..396 once in 10,000. */
    assert_in_range(covered, 360, 396);
}

static enum ic_warmup_state run(struct ic_warmup *warmup, uint64_t seed, double slope,
                                double transient, double decay)
{
    struct process process = {.last = 0};
    gmc_prng_init(&process.prng, seed);
    ic_warmup_init(warmup, 500, 64000);
    while (ic_warmup_state(warmup) == IC_WARMUP_GOING) {
        double i = (double)warmup->count;
        ic_warmup_add(warmup, next(&process) + slope * i - transient * exp(-i / decay));
    }
    return ic_warmup_state(warmup);
}

static void warmup_waits_for_the_transient(void **state)
{
    struct ic_warmup warmup;
    int late = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        assert_int_equal(run(&warmup, seed, 0, 0, 1), IC_WARMUP_DONE);
        late += warmup.count > 4000;
        assert_int_equal(run(&warmup, seed, 0, 50, 1000), IC_WARMUP_DONE);
        assert_in_range(warmup.count, 4000, 64000);
    }
    assert_in_range(late, 0, 10);
}

static void warmup_fails_where_latency_grows(void **state)
{
    struct ic_warmup warmup;
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        assert_int_equal(run(&warmup, seed, 0.05, 0, 1), IC_WARMUP_FAILED);
        assert_int_equal(warmup.count, 64000);
    }
}

static void mser_cuts_where_the_series_settles(void **state)
{
    double means[40];
    (void)state;
    for (int i = 0; i < 40; i++)
        means[i] = (i < 12 ? i : 12) + (i % 2) * 0.25;
    assert_in_range(ic_mser(means, 40), 11, 12);
    for (int i = 0; i < 40; i++)
        means[i] = 3;
    assert_int_equal(ic_mser(means, 40), 0);
    assert_int_equal(ic_mser(means, 1), 0);
}

static void draws_are_uniform_and_exponential(void **state)
{
    struct gmc_prng prng;
    double sum = 0, least = 1, most = 0, waits = 0;
    (void)state;
    gmc_prng_init(&prng, 1);
    for (int i = 0; i < 100000; i++) {
        double unit = ic_random_unit(&prng);
        sum += unit;
        least = unit < least ? unit : least;
        most = unit > most ? unit : most;
        waits += ic_random_exponential(&prng, 7);
    }
    assert_near(sum / 100000, 0.5, 0.004);
    assert_near(waits / 100000, 7, 0.1);
    assert_true(least > 0 && least < 1e-3 && most <= 1 && most > 0.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_tables),
        cmocka_unit_test(batches_keep_every_observation),
        cmocka_unit_test(the_half_width_is_students),
        cmocka_unit_test(intervals_cover_the_mean),
        cmocka_unit_test(warmup_waits_for_the_transient),
        cmocka_unit_test(warmup_fails_where_latency_grows),
        cmocka_unit_test(mser_cuts_where_the_series_settles),
        cmocka_unit_test(draws_are_uniform_and_exponential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
