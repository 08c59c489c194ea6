/* SPDX-License-Identifier: BSD-2-Clause */
/* Mean, greatest and quantiles of lateness. */
#include "tests/lib/unit.h"

#include "sim-wan/lateness.h"

static void test_nothing(void **state)
{
    (void)state;
    struct sim_lateness late = {0};
    assert_int_equal(sim_lateness_mean(&late), 0);
    assert_int_equal(sim_lateness_quantile(&late, 990000), 0);
}

static void test_quantiles_are_near(void **state)
{
    (void)state;
    struct sim_lateness late = {0};
    for (gmc_duration i = 1; i <= 100000; i++)
        sim_lateness_add(&late, i * 10);
    assert_int_equal(sim_lateness_mean(&late), 500005);
    assert_int_equal(late.greatest, 1000000);
    static const uint32_t shares[] = {1, 10000, 500000, 990000, 1000000};
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        gmc_duration bound = sim_lateness_quantile(&late, shares[i]);
        gmc_duration exact = shares[i];
        exact = exact < 10 ? 10 : exact;
        assert_in_range(bound, exact, exact + exact / 128 + 1);
    }
}

static void test_extremes_have_a_bucket(void **state)
{
    (void)state;
    struct sim_lateness late = {0};
    sim_lateness_add(&late, 0);
    sim_lateness_add(&late, UINT64_MAX);
    assert_int_equal(sim_lateness_quantile(&late, 500000), 0);
    assert_int_equal(sim_lateness_quantile(&late, 1000000), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_quantiles_are_near),
        cmocka_unit_test(test_extremes_have_a_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
