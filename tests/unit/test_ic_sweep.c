/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/sweep: lists, ranges, their combinations and their order, refusals. */
#include "interconnect/sweep.h"
#include "tests/lib/unit.h"

static const char *const ways[] = {"up", "down", NULL};
static const struct ic_param params[] = {
    {"k", "", "ring", IC_COUNT, 1, 1048576, 4, NULL, IC_BOTH},
    {"load", "", "share", IC_NUMBER, 0, 1, 0.5, NULL, IC_BOTH},
    {"way", "", "to go", IC_CHOICE, 0, 0, 1, ways, IC_BOTH},
};
static const struct ic_family family = {.name = "ours", .params = params, .param_count = 3};

static char error[IC_ERROR_MAX];
static struct ic_sweep sweep;

static void expect_axis(size_t axis, size_t count, const double *values)
{
    assert_int_equal(sweep.axes[axis].count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(sweep.axes[axis].values[i] == values[i]);
}

static void values_are_listed(void **state)
{
    static const double k[] = {2, 4, 6, 8, 1024, 3, 4, 5}, load[] = {0, 0.1, 0.2, 0.3, 0.9},
                        down_both[] = {1, 0, 1};
    (void)state;
    ic_sweep_init(&sweep, &family);
    assert_int_equal(sweep.points, 1);
    assert_ok(ic_sweep_add(&sweep, "k", "2..9/2,1K,3..5", error));
    expect_axis(0, 8, k);
    assert_ok(ic_sweep_add(&sweep, "load", "0..0.3/0.1,0.9", error));
    assert_int_equal(sweep.axes[1].count, 5);
    for (size_t i = 0; i < 5; i++) /* the end of a range is not missed by rounding */
        assert_true(sweep.axes[1].values[i] - load[i] < 1e-12 &&
                    load[i] - sweep.axes[1].values[i] < 1e-12);
    assert_ok(ic_sweep_add(&sweep, "way", "down,all", error));
    expect_axis(2, 3, down_both);
    assert_int_equal(sweep.points, 8 * 5 * 3);
    ic_sweep_fini(&sweep);
}

/* What was given last changes fastest; what was not given is as usual. */
static void points_are_combinations(void **state)
{
    double values[3];
    (void)state;
    ic_sweep_init(&sweep, &family);
    assert_ok(ic_sweep_add(&sweep, "way", "all", error));
    assert_ok(ic_sweep_add(&sweep, "k", "7..9", error));
    for (size_t i = 0; i < 6; i++) {
        ic_sweep_point(&sweep, i, values);
        assert_true(values[0] == 7 + (double)(i % 3) && values[1] == 0.5 &&
                    values[2] == (double)(i / 3));
        assert_int_equal(ic_sweep_place(&sweep, i, 1), i % 3);
        assert_int_equal(ic_sweep_move(&sweep, i, 0, 1), 3 + i % 3);
    }
    ic_sweep_fini(&sweep);
}

static void wrong_values_are_named(void **state)
{
    static const struct {
        const char *name, *text, *words;
    } cases[] = {
        {"r", "1", "ours has no parameter r"},
        {"k", "", "k is \"\"; it must be a number from 1 to 1048576"},
        {"k", "1,,2", "k is \"\"; it must be a number from 1 to 1048576"},
        {"k", "0..4", "k (ring) is 0; it must be 1 to 1048576"},
        {"k", "1..4/0.5", "k (ring) is 1.5; it must be a whole number"},
        {"k", "1..4/0", "k: the step is \"0\"; it must be a number above 0"},
        {"k", "4..1", "k: the range 4..1 is empty"},
        {"k", "1..1M", "k: the range has more than 100000 values"},
        {"load", "0..1", "load: a range needs its step: 0..1/STEP"},
        {"load", "0..1/1e-300", "load: the range has more than 100000 values"},
        {"load", "0..1/nan", "load: the step is \"nan\"; it must be a number above 0"},
        {"way", "up..down", "way is \"up..down\"; it must be one of up, down"},
    };
    (void)state;
    ic_sweep_init(&sweep, &family);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ic_sweep_add(&sweep, cases[i].name, cases[i].text, error),
                         GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
    assert_int_equal(sweep.axis_count, 0);
    assert_ok(ic_sweep_add(&sweep, "k", "1..1000", error));
    assert_int_equal(ic_sweep_add(&sweep, "k", "1", error), GMC_ERR_INVALID);
    assert_string_equal(error, "k is given twice; a list has commas");
    assert_int_equal(ic_sweep_add(&sweep, "load", "0..1/0.001", error), GMC_ERR_INVALID);
    assert_string_equal(error, "these are more than 100000 points");
    assert_int_equal(sweep.points, 1000);
    ic_sweep_fini(&sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_listed),
        cmocka_unit_test(points_are_combinations),
        cmocka_unit_test(wrong_values_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
