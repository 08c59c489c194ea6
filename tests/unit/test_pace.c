/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/pace.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/pace.h"

#define START GMC_S(10)
#define MBIT UINT64_C(1000000)

static struct gmc_pace make(uint64_t rate_bps)
{
    struct gmc_pace pace = {.held_since = GMC_TIME_NEVER};

    gmc_pace_set(&pace, rate_bps, 1500);
    return pace;
}

/* Sends whenever it may from `from` to `until`, and says how many bytes. */
static uint64_t send_all(struct gmc_pace *pace, gmc_time from, gmc_time until)
{
    uint64_t bytes = 0;

    for (gmc_time now = from; now < until; now = gmc_time_add(now, GMC_US(10))) {
        for (; pace->paid_until <= now; bytes += 1500)
            gmc_pace_pay(pace, now, 1500);
    }
    return bytes;
}

static void a_second_carries_the_rate(void **state)
{
    const uint64_t rates[] = {10 * MBIT, 100 * MBIT, 1000 * MBIT};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct gmc_pace pace = make(rates[i]);
        uint64_t bytes = send_all(&pace, START, START + GMC_S(1));

        assert_in_range(bytes, rates[i] / 8, rates[i] / 8 + 70000);
    }
}

static void who_was_idle_has_saved_little(void **state)
{
    struct gmc_pace pace = make(100 * MBIT);

    (void)state;
    gmc_pace_pay(&pace, START, 1500);
    /* 1 ms of the rate, and the packet that goes over it. */
    assert_in_range(send_all(&pace, START + GMC_S(5), START + GMC_S(5) + 1), 12500, 15000);
}

static void at_low_rates_two_packets_are_saved(void **state)
{
    struct gmc_pace pace = make(MBIT);

    (void)state;
    gmc_pace_pay(&pace, START, 1500);
    assert_in_range(send_all(&pace, START + GMC_S(5), START + GMC_S(5) + 1), 3000, 4500);
}

static void who_was_held_loses_nothing(void **state)
{
    struct gmc_pace pace = make(100 * MBIT);

    (void)state;
    gmc_pace_pay(&pace, START, 1500);
    pace.held_since = START;
    assert_in_range(send_all(&pace, START + GMC_MS(20), START + GMC_MS(20) + 1), 250000, 253000);
}

/* Bytes always wait, but the host comes every 4 ms. */
static void who_wakes_late_makes_up_for_it(void **state)
{
    (void)state;
    for (int slack = 0; slack <= 1; slack++) {
        struct gmc_pace pace = make(100 * MBIT);
        uint64_t bytes = 0;

        pace.slack = slack ? GMC_MS(5) : 0;
        for (gmc_time now = START; now < START + GMC_S(1); now += GMC_MS(4))
            bytes += send_all(&pace, now, now + 1);
        assert_in_range(bytes, slack ? 12400000 : 3000000, slack ? 12600000 : 3800000);
    }
}

/* Who was away for 20 ms and may make up for 4 has lost 16, once. */
static void what_is_not_made_up_for_is_told(void **state)
{
    struct gmc_pace pace = make(100 * MBIT);
    gmc_time again = START + GMC_MS(20);

    (void)state;
    gmc_pace_pay(&pace, START, 1500);
    pace.slack = GMC_MS(4);
    assert_int_equal(gmc_pace_pay(&pace, again, 1500),
                     again - GMC_MS(4) - (START + GMC_US(120) - GMC_MS(1)));
    assert_int_equal(gmc_pace_pay(&pace, again, 1500), 0);
}

static void rates_of_nothing_and_beyond_end(void **state)
{
    struct gmc_pace slow = make(0), fast = make(UINT64_C(10000000000000));

    (void)state;
    assert_int_equal(slow.rate_bps, 1000);
    gmc_pace_pay(&slow, START, 1500);
    assert_true(slow.paid_until < GMC_TIME_NEVER);
    gmc_pace_pay(&fast, START, 65507);
    assert_true(fast.paid_until <= START + GMC_US(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_carries_the_rate),
        cmocka_unit_test(who_was_idle_has_saved_little),
        cmocka_unit_test(at_low_rates_two_packets_are_saved),
        cmocka_unit_test(who_was_held_loses_nothing),
        cmocka_unit_test(who_wakes_late_makes_up_for_it),
        cmocka_unit_test(what_is_not_made_up_for_is_told),
        cmocka_unit_test(rates_of_nothing_and_beyond_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
