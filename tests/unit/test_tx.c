/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the tests of serving a child: what is sent next, repairs, windows, late children. */
#include "core/tx.h"

#include "tests/lib/unit.h"

#define ALL UINT64_MAX

static void expect(struct gmc_tx *tx, uint32_t want_block, uint16_t want_fragment)
{
    uint32_t block;
    uint16_t fragment;
    assert_true(gmc_tx_next(tx, &block, &fragment));
    assert_int_equal(block, want_block);
    assert_int_equal(fragment, want_fragment);
    gmc_tx_sent(tx, block, fragment);
}

static void expect_nothing(struct gmc_tx *tx)
{
    uint32_t block;
    uint16_t fragment;
    assert_false(gmc_tx_next(tx, &block, &fragment));
}

static uint32_t missing_from(const struct gmc_tx *tx, uint64_t from)
{
    uint32_t block;
    return gmc_tx_next_missing(tx, from, &block) ? block : UINT32_MAX;
}

static void open_whole(struct gmc_tx *tx, uint32_t block, uint32_t fragments)
{
    assert_ok(gmc_tx_open(tx, block, fragments));
    gmc_tx_at_hand(tx, block, ALL);
}

static void test_a_block(void **state)
{
    (void)state;
    struct gmc_tx tx;
    uint32_t block;
    gmc_tx_init(&tx, 10, 4, 1);
    assert_int_equal(missing_from(&tx, 0), 0);
    assert_ok(gmc_tx_open(&tx, 0, 3));
    assert_int_equal(missing_from(&tx, 0), 1);
    expect_nothing(&tx);
    assert_true(gmc_tx_next_waiting(&tx, &block));
    gmc_tx_at_hand(&tx, 0, 2 | 4 | 8); /* bit 3 is no fragment of it */
    assert_false(gmc_tx_next_waiting(&tx, &block));
    expect(&tx, 0, 1);
    expect(&tx, 0, 2);
    expect_nothing(&tx);
    assert_true(gmc_tx_next_waiting(&tx, &block));
    assert_int_equal(block, 0);
    gmc_tx_at_hand(&tx, 0, 1);
    expect(&tx, 0, 0);
    assert_int_equal(tx.fragments_sent, 3);
    assert_int_equal(tx.repairs_sent, 0);
    assert_int_equal(tx.open_count, 1);
    gmc_tx_have(&tx, 0, 0);
    assert_int_equal(tx.open_count, 0);
    assert_false(gmc_tx_is_open(&tx, 0));
    assert_false(gmc_tx_is_complete(&tx));
    gmc_tx_have(&tx, 1, 9);
    assert_true(gmc_tx_is_complete(&tx));
    gmc_tx_fini(&tx);
}

static void test_64_fragments(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 1, 1, 1);
    open_whole(&tx, 0, 64);
    for (uint16_t f = 0; f < 64; f++)
        expect(&tx, 0, f);
    expect_nothing(&tx);
    gmc_tx_fini(&tx);
}

static void test_repairs_go_first(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 10, 4, 1);
    open_whole(&tx, 0, 2);
    open_whole(&tx, 1, 2);
    expect(&tx, 0, 0);
    expect(&tx, 0, 1);
    expect(&tx, 1, 0);
    gmc_tx_fate(&tx, 0, 1, false);
    gmc_tx_fate(&tx, 0, 0, true);
    expect(&tx, 0, 1);
    expect(&tx, 1, 1);
    assert_int_equal(tx.repairs_sent, 1);
    /* What was acknowledged is not sent again, whatever is said later. */
    gmc_tx_fate(&tx, 0, 0, false);
    expect_nothing(&tx);
    /* Lost again, and the acknowledgement of the first copy comes before it is repaired. */
    gmc_tx_fate(&tx, 0, 1, false);
    gmc_tx_fate(&tx, 0, 1, true);
    expect_nothing(&tx);
    /* Nonsense costs nothing. */
    gmc_tx_fate(&tx, 0, 2, false);
    gmc_tx_fate(&tx, 0, 64, false);
    gmc_tx_fate(&tx, 5, 0, false);
    expect_nothing(&tx);
    gmc_tx_fini(&tx);
}

/* A page that comes to hand late goes before the blocks that need it. */
static void test_order_of_numbers(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 10, 8, 1);
    assert_ok(gmc_tx_open(&tx, 0, 1));
    for (uint32_t i = 1; i < 5; i++)
        open_whole(&tx, i, 2);
    expect(&tx, 1, 0);
    gmc_tx_at_hand(&tx, 0, ALL);
    expect(&tx, 0, 0);
    expect(&tx, 1, 1);
    expect(&tx, 2, 0);
    gmc_tx_fate(&tx, 2, 0, false);
    gmc_tx_fate(&tx, 1, 0, false);
    gmc_tx_fate(&tx, 0, 0, false);
    expect(&tx, 0, 0);
    expect(&tx, 1, 0);
    expect(&tx, 2, 0);
    expect(&tx, 2, 1);
    gmc_tx_fini(&tx);
}

static void test_out_of_hand(void **state)
{
    (void)state;
    struct gmc_tx tx;
    uint32_t block;
    gmc_tx_init(&tx, 10, 4, 1);
    open_whole(&tx, 0, 2);
    open_whole(&tx, 1, 2);
    assert_int_equal(tx.fresh_count, 2);
    gmc_tx_out_of_hand(&tx, 0);
    gmc_tx_out_of_hand(&tx, 1);
    gmc_tx_out_of_hand(&tx, 7);
    assert_int_equal(tx.fresh_count, 0);
    expect_nothing(&tx);
    assert_true(gmc_tx_next_waiting(&tx, &block));
    assert_int_equal(block, 0);
    assert_true(gmc_tx_next_waiting(&tx, &block));
    assert_int_equal(block, 1);
    assert_true(gmc_tx_next_waiting(&tx, &block));
    assert_int_equal(block, 0);
    gmc_tx_at_hand(&tx, 1, ALL);
    expect(&tx, 1, 0);
    gmc_tx_fini(&tx);
}

static void test_window(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 10, 2, 1);
    assert_true(gmc_tx_may_open(&tx));
    open_whole(&tx, 0, 1);
    open_whole(&tx, 1, 1);
    assert_false(gmc_tx_may_open(&tx));
    expect(&tx, 0, 0);
    gmc_tx_fate(&tx, 0, 0, true);
    assert_false(gmc_tx_may_open(&tx)); /* received is not stored */
    gmc_tx_have(&tx, 0, 0);
    assert_true(gmc_tx_may_open(&tx));
    gmc_tx_fini(&tx);
}

static void test_late_child(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 100, 4, 1);
    gmc_tx_have(&tx, 0, 9);
    gmc_tx_have(&tx, 20, UINT64_MAX); /* cut at the end */
    gmc_tx_have(&tx, 200, 300);
    gmc_tx_have(&tx, 15, 12);
    assert_int_equal(missing_from(&tx, 0), 10);
    assert_int_equal(missing_from(&tx, 19), 19);
    assert_int_equal(missing_from(&tx, 20), UINT32_MAX);
    assert_int_equal(missing_from(&tx, 1000), UINT32_MAX);
    gmc_tx_have(&tx, 10, 19);
    assert_true(gmc_tx_is_complete(&tx));
    gmc_tx_fini(&tx);
}

static void test_long_ranges_close_blocks(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 1000, 8, 1);
    open_whole(&tx, 1, 2);
    open_whole(&tx, 500, 2);
    assert_ok(gmc_tx_open(&tx, 600, 2));
    expect(&tx, 1, 0);
    gmc_tx_fate(&tx, 1, 0, false);
    open_whole(&tx, 700, 1);
    gmc_tx_have(&tx, 0, 650);
    assert_int_equal(tx.open_count, 1);
    assert_int_equal(tx.fresh_count, 1);
    expect(&tx, 700, 0);
    gmc_tx_fini(&tx);
}

static void test_want(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 10, 4, 1);
    gmc_tx_have(&tx, 0, 9);
    gmc_tx_want(&tx, 4);
    assert_int_equal(missing_from(&tx, 0), 4);
    open_whole(&tx, 4, 2);
    expect(&tx, 4, 0);
    uint16_t before = gmc_tx_mark(&tx, 4, 0);
    gmc_tx_want(&tx, 4); /* from the beginning */
    assert_false(gmc_tx_is_open(&tx, 4));
    open_whole(&tx, 4, 2);
    gmc_tx_fate(&tx, 4, before, true); /* of what was thrown away */
    expect(&tx, 4, 0);
    gmc_tx_fate(&tx, 4, before, false);
    expect(&tx, 4, 1);
    gmc_tx_fate(&tx, 4, gmc_tx_mark(&tx, 4, 0), false);
    expect(&tx, 4, 0);
    gmc_tx_want(&tx, 4000);
    gmc_tx_fini(&tx);
}

/* A child that claims every second block is sent blocks that it has, and nothing grows. */
static void expect_copy(struct gmc_tx *tx, unsigned copies, uint32_t want_block,
                        uint16_t want_fragment)
{
    uint32_t block;
    uint16_t fragment;
    assert_true(gmc_tx_next_copy(tx, copies, &block, &fragment));
    assert_int_equal(block, want_block);
    assert_int_equal(fragment, want_fragment);
    gmc_tx_sent(tx, block, fragment);
}

static void expect_no_copy(struct gmc_tx *tx, unsigned copies)
{
    uint32_t block;
    uint16_t fragment;
    assert_false(gmc_tx_next_copy(tx, copies, &block, &fragment));
}

static void test_copies_of_the_tail(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 3, 4, 1);
    open_whole(&tx, 0, 2);
    open_whole(&tx, 1, 2);
    for (uint16_t i = 0; i < 4; i++)
        expect(&tx, i / 2, i % 2);
    expect_no_copy(&tx, 4); /* a block is missing: this is no tail */
    assert_ok(gmc_tx_open(&tx, 2, 1));
    expect_no_copy(&tx, 4); /* its fragment is awaited */
    gmc_tx_at_hand(&tx, 2, 1);
    expect(&tx, 2, 0);
    expect_no_copy(&tx, 1);

    /* The newest first, and none that has arrived. */
    gmc_tx_fate(&tx, 0, gmc_tx_mark(&tx, 0, 1), true);
    expect_copy(&tx, 2, 2, 0);
    expect_copy(&tx, 2, 1, 1);
    expect_copy(&tx, 2, 1, 0);
    expect_copy(&tx, 2, 0, 0);
    expect_no_copy(&tx, 2);
    assert_int_equal(tx.repairs_sent, 4);

    /* What was found lost is repaired, and the repair has copies of its own. */
    gmc_tx_fate(&tx, 1, gmc_tx_mark(&tx, 1, 0), false);
    expect(&tx, 1, 0);
    expect_copy(&tx, 2, 1, 0);
    expect_no_copy(&tx, 2);

    /* More of them, evenly; what the child has needs none. */
    gmc_tx_have(&tx, 0, 0);
    gmc_tx_have(&tx, 2, 2);
    for (int i = 0; i < 2; i++) {
        expect_copy(&tx, 4, 1, 1);
        expect_copy(&tx, 4, 1, 0);
    }
    expect_no_copy(&tx, 4);

    /* Bytes that are not here are not fetched for it. */
    gmc_tx_fate(&tx, 1, gmc_tx_mark(&tx, 1, 0), false);
    expect(&tx, 1, 0);
    gmc_tx_out_of_hand(&tx, 1);
    expect_no_copy(&tx, 4);
    gmc_tx_have(&tx, 0, 2);
    expect_no_copy(&tx, 4);
    gmc_tx_fini(&tx);
}

static void test_hostile_ranges(void **state)
{
    (void)state;
    struct gmc_tx tx;
    gmc_tx_init(&tx, 1000000, 4, 1);
    for (uint64_t i = 1; i < 100000; i += 2)
        gmc_tx_have(&tx, i, i);
    assert_int_equal(missing_from(&tx, 0), 0);
    assert_int_equal(missing_from(&tx, 99999), 99999); /* the bound was reached before */
    assert_true(gmc_interval_ranges(&tx.taken) <= 16384);
    gmc_tx_fini(&tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block),
        cmocka_unit_test(test_64_fragments),
        cmocka_unit_test(test_repairs_go_first),
        cmocka_unit_test(test_order_of_numbers),
        cmocka_unit_test(test_out_of_hand),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_late_child),
        cmocka_unit_test(test_long_ranges_close_blocks),
        cmocka_unit_test(test_want),
        cmocka_unit_test(test_copies_of_the_tail),
        cmocka_unit_test(test_hostile_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
