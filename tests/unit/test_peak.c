/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/peak.h. */
#include "core/peak.h"

#include "tests/lib/unit.h"

#define AGE GMC_S(600)
#define BYTES 1250u /* each ms: 10 Mbit/s */

static void add(struct gmc_peak *peak, gmc_time now, uint64_t bytes, enum gmc_peak_held held)
{
    struct gmc_peak_ack ack = {.now = now, .sent = now - GMC_MS(20), .bytes = bytes, .held = held};
    gmc_peak_add(peak, &ack, AGE);
}

/* So many seconds, a thousand steps each. */
static gmc_time carry(struct gmc_peak *peak, gmc_time now, unsigned seconds, uint64_t bytes,
                      enum gmc_peak_held held)
{
    for (unsigned i = 0; i < seconds * 1000; i++, now += GMC_MS(1))
        add(peak, now, bytes, held);
    return now;
}

static void test_best_span_counts(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 3, BYTES, GMC_PEAK_ALL);

    (void)state;
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
    now = carry(&peak, now, 3, 5 * BYTES, GMC_PEAK_SHORT);
    now = carry(&peak, now, 3, BYTES / 2, GMC_PEAK_ALL);
    assert_in_range(gmc_peak_most(&peak, now, AGE), 49000000, 51000000);
    assert_in_range(gmc_peak_limit(&peak, now, AGE), 9900000, 10100000);
}

/* Each kind counts for those that ask less. */
static void test_kinds_are_told_apart(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 3, 3 * BYTES, GMC_PEAK_SHORT);

    (void)state;
    now = carry(&peak, now, 3, 2 * BYTES, GMC_PEAK_ONE);
    now = carry(&peak, now, 3, BYTES, GMC_PEAK_ALL);
    assert_in_range(gmc_peak_most(&peak, now, AGE), 29700000, 30300000);
    assert_in_range(gmc_peak_busy(&peak, now, AGE), 19800000, 20200000);
    assert_in_range(gmc_peak_limit(&peak, now, AGE), 9900000, 10100000);
}

/* One moment without anything to send, and the span shows no limit. */
static void test_limit_needs_the_whole_span(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = GMC_S(100);

    (void)state;
    for (unsigned i = 0; i < 5000; i++, now += GMC_MS(1))
        add(&peak, now, BYTES, i % 450 != 0 ? GMC_PEAK_ALL : GMC_PEAK_SHORT);
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
    assert_int_equal(gmc_peak_limit(&peak, now, AGE), 0);
}

/* On its way up, even for a moment, and the span shows what is carried at least. */
static void test_a_start_is_not_busy(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = GMC_S(100);

    (void)state;
    for (unsigned i = 0; i < 5000; i++, now += GMC_MS(1))
        add(&peak, now, BYTES, i % 450 != 0 ? GMC_PEAK_ONE : GMC_PEAK_START);
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
    assert_int_equal(gmc_peak_busy(&peak, now, AGE), 0);
    now = carry(&peak, now, 1, BYTES / 2, GMC_PEAK_ONE);
    assert_in_range(gmc_peak_busy(&peak, now, AGE), 4900000, 5100000);
}

static void test_less_than_a_span_says_nothing(void **state)
{
    struct gmc_peak peak = {0};

    (void)state;
    for (unsigned i = 0; i < 450; i++)
        add(&peak, GMC_S(5) + i * GMC_MS(1), BYTES, GMC_PEAK_ALL);
    assert_int_equal(gmc_peak_most(&peak, GMC_S(6), AGE), 0);
}

/* What came within a moment after a pause does not count as a span's rate. */
static void test_pauses_raise_nothing(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = GMC_S(1);

    (void)state;
    for (unsigned i = 0; i < 20; i++, now += GMC_S(10))
        add(&peak, now, 1250000, GMC_PEAK_SHORT);
    assert_true(gmc_peak_most(&peak, now, AGE) <= 1000000);
}

/* For 60 ms of each second acknowledgements stand in a queue. */
static void test_what_comes_together_was_not_carried_so(void **state)
{
    struct gmc_peak peak = {0};

    (void)state;
    for (gmc_time sent = GMC_S(5); sent < GMC_S(15); sent += GMC_MS(1)) {
        gmc_duration in = sent % GMC_S(1), late = in < GMC_MS(60) ? GMC_MS(60) - in : 0;
        struct gmc_peak_ack ack = {.now = sent + late,
                                   .sent = sent,
                                   .bytes = BYTES,
                                   .held = GMC_PEAK_ALL};
        gmc_peak_add(&peak, &ack, AGE);
    }
    assert_in_range(gmc_peak_limit(&peak, GMC_S(15), AGE), 9900000, 10100000);
}

static void test_is_forgotten(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 3, 5 * BYTES, GMC_PEAK_ALL);

    (void)state;
    assert_true(gmc_peak_most(&peak, now + AGE / 2, AGE) > 0);
    assert_int_equal(gmc_peak_most(&peak, now + AGE, AGE), 0);
    assert_int_equal(gmc_peak_limit(&peak, now + AGE, AGE), 0);
    for (unsigned i = 0; i < 8; i++)
        now =
            carry(&peak, now + AGE / 6, 2, BYTES, GMC_PEAK_ALL); /* what is slow now replaces it */
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
}

/* A wire that became slower shows that in three seconds, if there was always more to send: the new
 * rate is a limit then, if it held several up. */
static void test_what_no_longer_holds_is_forgotten(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 3, 5 * BYTES, GMC_PEAK_ALL);

    (void)state;
    now = carry(&peak, now, 2, BYTES, GMC_PEAK_ALL);
    assert_in_range(gmc_peak_limit(&peak, now, AGE), 49500000, 50500000);
    now = carry(&peak, now, 3, BYTES, GMC_PEAK_ALL);
    assert_in_range(gmc_peak_most(&peak, now, AGE), 9900000, 10100000);
    assert_in_range(gmc_peak_busy(&peak, now, AGE), 9900000, 10100000);
    assert_in_range(gmc_peak_limit(&peak, now, AGE), 9900000, 10100000);
    /* A single receiver may be slow itself. */
    now = carry(&peak, now, 8, BYTES / 4, GMC_PEAK_ONE);
    assert_in_range(gmc_peak_limit(&peak, now, AGE), 9900000, 10100000);
}

/* Neither a little less, nor what was slow for lack of anything to send, changes anything. */
static void test_what_may_hold_is_kept(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 3, 5 * BYTES, GMC_PEAK_ALL);

    (void)state;
    now = carry(&peak, now, 10, 3 * BYTES, GMC_PEAK_ALL);
    now = carry(&peak, now, 10, BYTES, GMC_PEAK_SHORT);
    for (unsigned i = 0; i < 5; i++) {
        now = carry(&peak, now, 2, BYTES, GMC_PEAK_ALL);
        now = carry(&peak, now, 1, BYTES, GMC_PEAK_SHORT);
    }
    assert_in_range(gmc_peak_most(&peak, now, AGE), 49500000, 50500000);
    assert_in_range(gmc_peak_limit(&peak, now, AGE), 49500000, 50500000);
}

/* Links on their way up show no limit that is to be believed. */
static void test_three_seconds_are_sure(void **state)
{
    struct gmc_peak peak = {0};
    gmc_time now = carry(&peak, GMC_S(100), 2, BYTES, GMC_PEAK_ALL);

    (void)state;
    assert_true(gmc_peak_limit(&peak, now, AGE) > 0);
    assert_false(gmc_peak_is_sure(&peak, now, AGE));
    now = carry(&peak, now, 5, BYTES, GMC_PEAK_ONE);
    assert_false(gmc_peak_is_sure(&peak, now, AGE));
    now = carry(&peak, now, 2, BYTES, GMC_PEAK_ALL);
    assert_true(gmc_peak_is_sure(&peak, now, AGE));
    assert_false(gmc_peak_is_sure(&peak, now + 2 * AGE, AGE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_span_counts),
        cmocka_unit_test(test_kinds_are_told_apart),
        cmocka_unit_test(test_limit_needs_the_whole_span),
        cmocka_unit_test(test_a_start_is_not_busy),
        cmocka_unit_test(test_less_than_a_span_says_nothing),
        cmocka_unit_test(test_pauses_raise_nothing),
        cmocka_unit_test(test_what_comes_together_was_not_carried_so),
        cmocka_unit_test(test_is_forgotten),
        cmocka_unit_test(test_what_no_longer_holds_is_forgotten),
        cmocka_unit_test(test_what_may_hold_is_kept),
        cmocka_unit_test(test_three_seconds_are_sure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
