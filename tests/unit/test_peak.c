/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/peak.h. */
#include "core/peak.h"

#include "tests/lib/unit.h"

#define AGE GMC_S(600)
#define BYTES 1250u /* each ms: 10 Mbit/s */

/* So many seconds, a thousand steps each. */
static gmc_time carry(struct gmc_peak *peak, gmc_time now, unsigned seconds, uint64_t bytes,
                      bool held_back)
{
    for (unsigned i = 0; i < seconds * 1000; i++, now += GMC_MS(1))
        gmc_peak_add(peak, now, bytes, held_back, AGE);
    return now;
}

static void test_best_second_counts(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 3, BYTES, true);

    (void)state;
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
    now = carry(&peak, now, 3, 5 * BYTES, false);
    now = carry(&peak, now, 3, BYTES / 2, true);
    assert_in_range(gmc_peak_most(&peak, now, AGE), 49000000, 51000000);
    assert_in_range(gmc_peak_limit(&peak, now, AGE), 9900000, 10100000);
}

/* One moment without anything to send, and the second shows no limit. */
static void test_limit_needs_the_whole_second(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = GMC_S(100);

    (void)state;
    for (unsigned i = 0; i < 5000; i++, now += GMC_MS(1))
        gmc_peak_add(&peak, now, BYTES, i % 900 != 0, AGE);
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
    assert_int_equal(gmc_peak_limit(&peak, now, AGE), 0);
}

static void test_less_than_a_second_says_nothing(void **state)
{
    struct gmc_peak peak = {0};

    (void)state;
    for (unsigned i = 0; i < 900; i++)
        gmc_peak_add(&peak, GMC_S(5) + i * GMC_MS(1), BYTES, true, AGE);
    assert_int_equal(gmc_peak_most(&peak, GMC_S(6), AGE), 0);
}

/* What came within a moment after a pause does not count as a second's rate. */
static void test_pauses_raise_nothing(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = GMC_S(1);

    (void)state;
    for (unsigned i = 0; i < 20; i++, now += GMC_S(10))
        gmc_peak_add(&peak, now, 1250000, false, AGE);
    assert_true(gmc_peak_most(&peak, now, AGE) <= 1000000);
}

static void test_is_forgotten(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 3, 5 * BYTES, true);

    (void)state;
    assert_true(gmc_peak_most(&peak, now + AGE / 2, AGE) > 0);
    assert_int_equal(gmc_peak_most(&peak, now + AGE, AGE), 0);
    assert_int_equal(gmc_peak_limit(&peak, now + AGE, AGE), 0);
    for (unsigned i = 0; i < 8; i++)
        now = carry(&peak, now + AGE / 6, 2, BYTES, true); /* what is slow now replaces it */
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_second_counts),
        cmocka_unit_test(test_limit_needs_the_whole_second),
        cmocka_unit_test(test_less_than_a_second_says_nothing),
        cmocka_unit_test(test_pauses_raise_nothing),
        cmocka_unit_test(test_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
