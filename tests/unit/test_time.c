/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/time: arithmetic at both ends of the range.
 */
#include "base/time.h"

#include "tests/lib/unit.h"

static void constants_are_nanoseconds(void **state)
{
    (void)state;
    assert_int_equal(GMC_US(3), 3000);
    assert_int_equal(GMC_MS(3), 3000000);
    assert_int_equal(GMC_S(3), 3000000000);
    /* 32-bit arguments do not overflow on the way. */
    assert_int_equal(GMC_S(86400), 86400000000000);
}

static void add_saturates(void **state)
{
    (void)state;
    assert_int_equal(gmc_time_add(0, 0), 0);
    assert_int_equal(gmc_time_add(5, 7), 12);
    assert_int_equal(gmc_time_add(GMC_TIME_NEVER - 1, 1), GMC_TIME_NEVER);
    assert_int_equal(gmc_time_add(GMC_TIME_NEVER - 1, 2), GMC_TIME_NEVER);
    assert_int_equal(gmc_time_add(GMC_TIME_NEVER, 0), GMC_TIME_NEVER);
    assert_int_equal(gmc_time_add(GMC_TIME_NEVER, 1), GMC_TIME_NEVER);
    assert_int_equal(gmc_time_add(1, GMC_TIME_NEVER), GMC_TIME_NEVER);
    assert_int_equal(gmc_time_add(0, GMC_TIME_NEVER), GMC_TIME_NEVER);
}

static void sub_is_never_negative(void **state)
{
    (void)state;
    assert_int_equal(gmc_time_sub(12, 5), 7);
    assert_int_equal(gmc_time_sub(5, 5), 0);
    assert_int_equal(gmc_time_sub(5, 12), 0);
    assert_int_equal(gmc_time_sub(GMC_TIME_NEVER, 12), GMC_TIME_NEVER);
    assert_int_equal(gmc_time_sub(12, GMC_TIME_NEVER), 0);
    assert_int_equal(gmc_time_sub(GMC_TIME_NEVER, GMC_TIME_NEVER), 0);
}

static void min_and_max_know_never(void **state)
{
    (void)state;
    assert_int_equal(gmc_time_min(3, GMC_TIME_NEVER), 3);
    assert_int_equal(gmc_time_min(4, 3), 3);
    assert_int_equal(gmc_time_max(3, GMC_TIME_NEVER), GMC_TIME_NEVER);
    assert_int_equal(gmc_time_max(4, 3), 4);
}

static void scale_does_not_overflow_in_between(void **state)
{
    (void)state;
    assert_int_equal(gmc_duration_scale(GMC_MS(10), 5, 4), 12500000);
    assert_int_equal(gmc_duration_scale(10, 1, 3), 3);
    assert_int_equal(gmc_duration_scale(7, 0, 3), 0);
    assert_int_equal(gmc_duration_scale(GMC_TIME_NEVER, 1, 1), GMC_TIME_NEVER);
    assert_int_equal(gmc_duration_scale(GMC_TIME_NEVER - 5, 3, 3), GMC_TIME_NEVER - 5);
    assert_int_equal(gmc_duration_scale(GMC_TIME_NEVER / 2, 2, 1), GMC_TIME_NEVER - 1);
    assert_int_equal(gmc_duration_scale(GMC_TIME_NEVER / 2 + 1, 2, 1), GMC_TIME_NEVER);
    assert_int_equal(gmc_duration_scale(GMC_TIME_NEVER, 0, UINT32_MAX), 0);
    assert_int_equal(gmc_duration_scale(UINT64_C(1) << 40, UINT32_MAX, UINT32_MAX), UINT64_C(1)
                                                                                        << 40);
}

static void bytes_take_time_rounded_up(void **state)
{
    (void)state;
    /* 1250 bytes at 10 Mbit/s take 1 ms. */
    assert_int_equal(gmc_duration_of_bytes(1250, 10000000), GMC_MS(1));
    assert_int_equal(gmc_duration_of_bytes(0, 10000000), 0);
    assert_int_equal(gmc_duration_of_bytes(1, UINT64_C(8000000001)), 1);
    assert_int_equal(gmc_duration_of_bytes(1, 3), 2666666667);
    assert_int_equal(gmc_duration_of_bytes(1, 0), GMC_TIME_NEVER);
    /* Exact behind the point where bytes * 8e9 leaves 64 bits: 4 TB at 8 Gbit/s. */
    assert_int_equal(gmc_duration_of_bytes(UINT64_C(4000000000000), UINT64_C(8000000000)),
                     GMC_S(4000));
    assert_int_equal(gmc_duration_of_bytes(UINT64_MAX, 1), GMC_TIME_NEVER);
    assert_true(gmc_duration_of_bytes(UINT64_MAX, UINT64_MAX) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_nanoseconds),
        cmocka_unit_test(add_saturates),
        cmocka_unit_test(sub_is_never_negative),
        cmocka_unit_test(min_and_max_know_never),
        cmocka_unit_test(scale_does_not_overflow_in_between),
        cmocka_unit_test(bytes_take_time_rounded_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
