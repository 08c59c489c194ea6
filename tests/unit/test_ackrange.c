/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the set of received numbers and of the encoding of acknowledgements. */
#include <string.h>

#include "base/prng.h"
#include "core/ackrange.h"
#include "tests/lib/unit.h"

static void check_range(const struct gmc_ack *ack, size_t i, uint64_t first, uint64_t last)
{
    assert_true(i < ack->count);
    assert_int_equal(ack->ranges[i].first, first);
    assert_int_equal(ack->ranges[i].last, last);
}

static void collects_newest_first(void **state)
{
    (void)state;
    struct gmc_ackrange set;
    struct gmc_ack ack;

    gmc_ackrange_init(&set);
    gmc_ackrange_collect(&set, set.next, &ack);
    assert_int_equal(ack.count, 0);
    const uint64_t numbers[] = {0, 1, 2, 5, 9, 8, 63, 64, 65};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_true(gmc_ackrange_insert(&set, numbers[i]));
    gmc_ackrange_collect(&set, set.next, &ack);
    assert_int_equal(ack.largest, 65);
    assert_int_equal(ack.count, 4);
    check_range(&ack, 0, 63, 65);
    check_range(&ack, 1, 8, 9);
    check_range(&ack, 2, 5, 5);
    check_range(&ack, 3, 0, 2);
    gmc_ackrange_collect(&set, 9, &ack);
    assert_int_equal(ack.largest, 8);
    assert_int_equal(ack.count, 3);
    check_range(&ack, 0, 8, 8);
    check_range(&ack, 2, 0, 2);
    gmc_ackrange_collect(&set, 0, &ack);
    assert_int_equal(ack.count, 0);
}

static void forgets_what_is_old(void **state)
{
    (void)state;
    struct gmc_ackrange set;
    struct gmc_ack ack;
    const uint64_t w = GMC_ACK_WINDOW;

    gmc_ackrange_init(&set);
    for (uint64_t n = 0; n < w + 37; n++)
        assert_true(gmc_ackrange_insert(&set, n));
    gmc_ackrange_collect(&set, set.next, &ack);
    assert_int_equal(ack.count, 1);
    check_range(&ack, 0, 37, w + 36);
    assert_false(gmc_ackrange_insert(&set, 36));
    /* The border lies within a word of bits; a hole there must not be filled by old ones. */
    assert_true(gmc_ackrange_insert(&set, w + 40));
    gmc_ackrange_collect(&set, set.next, &ack);
    assert_int_equal(ack.count, 2);
    check_range(&ack, 0, w + 40, w + 40);
    check_range(&ack, 1, 41, w + 36);
    assert_true(gmc_ackrange_insert(&set, 10 * w));
    gmc_ackrange_collect(&set, set.next, &ack);
    assert_int_equal(ack.count, 1);
    check_range(&ack, 0, 10 * w, 10 * w);
}

/* Against a plain array, over random arrivals. */
static void agrees_with_an_array(void **state)
{
    (void)state;
    static bool got[20000];
    struct gmc_ackrange set;
    struct gmc_prng prng;
    struct gmc_ack ack;
    uint64_t top = 0;

    memset(got, 0, sizeof got);
    gmc_ackrange_init(&set);
    gmc_prng_init(&prng, 3);
    for (int step = 0; step < 15000; step++) {
        uint64_t n = top + gmc_prng_below(&prng, 4);
        if (gmc_prng_chance_ppm(&prng, 300000))
            n = top > 40 ? top - gmc_prng_below(&prng, 40) : 0;
        if (n >= sizeof got)
            break;
        got[n] |= gmc_ackrange_insert(&set, n);
        top = n > top ? n : top;
        gmc_ackrange_collect(&set, set.next, &ack);
        assert_int_equal(ack.largest, top);
        uint64_t at = top;
        for (size_t i = 0; i < ack.count; i++) {
            for (; at > ack.ranges[i].last; at--)
                assert_false(got[at]);
            for (; at >= ack.ranges[i].first; at--) {
                assert_true(got[at]);
                if (at == 0)
                    return;
            }
        }
    }
}

static void has_these_bytes(void **state)
{
    (void)state;
    struct gmc_ack ack = {.largest = 1000,
                          .arrival_ns = 0x0102030405060708,
                          .delay_us = 4000,
                          .count = 3,
                          .ranges = {{990, 1000}, {980, 985}, {100, 100}}};
    const uint8_t golden[] = {
        0x43, 0xe8, 1, 2, 3, 4, 5, 6, 7, 8, 0x4f, 0xa0, 3, 10, 3, 5, /* gap 986..989 */ 0x43,
        0x6e, 0};
    uint8_t bytes[GMC_ACK_BYTES_MAX];
    struct gmc_ack back;

    assert_int_equal(gmc_ack_put(&ack, bytes, sizeof bytes), sizeof golden);
    assert_memory_equal(bytes, golden, sizeof golden);
    assert_ok(gmc_ack_get(gmc_bytes(golden, sizeof golden), &back));
    assert_int_equal(back.largest, ack.largest);
    assert_int_equal(back.arrival_ns, ack.arrival_ns);
    assert_int_equal(back.delay_us, ack.delay_us);
    assert_int_equal(back.count, 3);
    assert_memory_equal(back.ranges, ack.ranges, 3 * sizeof ack.ranges[0]);
    assert_false(back.has_ecn);
    for (size_t len = 0; len < sizeof golden; len++)
        assert_int_equal(gmc_ack_get(gmc_bytes(golden, len), &back), GMC_ERR_TRUNCATED);
}

static void tells_marks_behind_the_ranges(void **state)
{
    (void)state;
    struct gmc_ack ack = {.largest = 5,
                          .count = 1,
                          .ranges = {{0, 5}},
                          .has_ecn = true,
                          .ecn = {.ect0 = 70, .ect1 = 0, .ce = 3}};
    const uint8_t golden[] = {5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0x40, 70, 0, 3};
    uint8_t bytes[GMC_ACK_BYTES_MAX];
    struct gmc_ack back;

    assert_int_equal(gmc_ack_put(&ack, bytes, sizeof bytes), sizeof golden);
    assert_memory_equal(bytes, golden, sizeof golden);
    assert_ok(gmc_ack_get(gmc_bytes(golden, sizeof golden), &back));
    assert_true(back.has_ecn);
    assert_int_equal(back.ecn.ect0, 70);
    assert_int_equal(back.ecn.ect1, 0);
    assert_int_equal(back.ecn.ce, 3);
    for (size_t len = 13; len < sizeof golden; len++)
        assert_int_equal(gmc_ack_get(gmc_bytes(golden, len), &back), GMC_ERR_TRUNCATED);
}

static void every_other_number_fits(void **state)
{
    (void)state;
    struct gmc_ackrange set;
    struct gmc_ack ack, back;
    uint8_t bytes[GMC_ACK_BYTES_MAX];

    gmc_ackrange_init(&set);
    for (uint64_t n = UINT64_C(1) << 40; n < (UINT64_C(1) << 40) + 2000; n += 2)
        gmc_ackrange_insert(&set, n);
    gmc_ackrange_collect(&set, set.next, &ack);
    assert_int_equal(ack.count, GMC_ACK_RANGES_MAX);
    ack.arrival_ns = UINT64_MAX;
    ack.delay_us = UINT64_MAX; /* cut, not refused */
    size_t len = gmc_ack_put(&ack, bytes, sizeof bytes);
    assert_ok(gmc_ack_get(gmc_bytes(bytes, len), &back));
    assert_int_equal(back.count, GMC_ACK_RANGES_MAX);
    /* With less room the oldest are left out. */
    ack.has_ecn = true;
    ack.ecn = (struct gmc_ecn_counts){UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 40};
    len = gmc_ack_put(&ack, bytes, 64);
    assert_in_range(len, 54, 64);
    assert_ok(gmc_ack_get(gmc_bytes(bytes, len), &back));
    assert_in_range(back.count, 5, 8);
    assert_int_equal(back.ecn.ce, UINT64_C(1) << 40);
    assert_memory_equal(back.ranges, ack.ranges, back.count * sizeof ack.ranges[0]);
}

static void refuses_what_makes_no_sense(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[16];
        size_t len;
        gmc_status status;
    } cases[] = {
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5}, 12, GMC_OK},                      /* 0..5 */
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6}, 12, GMC_ERR_INVALID},             /* below 0 */
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 11, GMC_ERR_INVALID},                /* no range */
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0}, 13, GMC_ERR_TRUNCATED},        /* counts? */
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0, 0}, 16, GMC_ERR_INVALID}, /* too many */
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 0}, 14, GMC_OK},                /* 4..5 and 0 */
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 3, 0}, 14, GMC_ERR_INVALID},
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1}, 14, GMC_ERR_INVALID},
        {{5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 65, 0}, 13, GMC_ERR_INVALID}, /* 65 ranges */
    };
    struct gmc_ack ack;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (gmc_ack_get(gmc_bytes(cases[i].bytes, cases[i].len), &ack) != cases[i].status)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collects_newest_first),         cmocka_unit_test(forgets_what_is_old),
        cmocka_unit_test(agrees_with_an_array),          cmocka_unit_test(has_these_bytes),
        cmocka_unit_test(tells_marks_behind_the_ranges), cmocka_unit_test(every_other_number_fits),
        cmocka_unit_test(refuses_what_makes_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
