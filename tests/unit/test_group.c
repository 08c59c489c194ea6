/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups: the shape of windows, what is sent next, what is asked for and when, and what is said of
 * it on the wire. */
#include "core/group_rx.h"
#include "core/group_tx.h"

#include <string.h>

#include "tests/lib/unit.h"

/* ---- shapes ---- */
static void windows_cover_all_blocks_once(void **state)
{
    (void)state;
    static const uint32_t fragments[] = {1024, 1200, 1431, 1432, 4096, 8931, 65536};
    for (size_t i = 0; i < sizeof(fragments) / sizeof(fragments[0]); i++) {
        struct gmc_object object = {.listing_bytes = 300,
                                    .total_bytes = 30000001,
                                    .block_bytes = 65536,
                                    .fragment_bytes = fragments[i]};
        assert_ok(gmc_object_check(&object));
        uint32_t n = gmc_group_blocks(&object);
        assert_in_range(n, 3, GMC_GROUP_BLOCKS_MAX);
        uint32_t next = 0;
        for (uint32_t w = 0; (uint64_t)w * n < gmc_object_blocks(&object); w++) {
            struct gmc_group_shape shape;
            gmc_group_shape(&object, w, &shape);
            assert_int_equal(shape.first, next);
            assert_in_range(shape.sources, 1, GMC_GROUP_SOURCES_MAX);
            next += shape.blocks;
            uint32_t before = UINT32_MAX, last = 0;
            for (uint32_t s = 0; s < shape.sources; s++) {
                uint32_t block;
                uint16_t fragment;
                gmc_group_source(&shape, s, &block, &fragment);
                assert_int_equal(fragment, block == before ? last + 1 : 0);
                uint32_t len = gmc_block_len(&object, block);
                assert_true(gmc_fragment_len(&object, len, fragment) <= shape.shard_bytes);
                before = block;
                last = fragment;
            }
            assert_int_equal(before, next - 1);
        }
        assert_int_equal(next, gmc_object_blocks(&object));
    }
}

static void common_fragments_make_windows_of_four(void **state)
{
    (void)state;
    struct gmc_object object = {.listing_bytes = 300,
                                .total_bytes = 30000001,
                                .block_bytes = 65536,
                                .fragment_bytes = 1431};
    struct gmc_group_shape shape;
    gmc_group_shape(&object, 1, &shape);
    assert_int_equal(shape.blocks, 4);
    assert_int_equal(shape.sources, 4 * 46);
    assert_int_equal(shape.shard_bytes, 1431);
}

/* ---- what is sent ---- */
static const struct gmc_bytes nothing;

/* Sends what is next, and returns it as a letter and a number: s5, p0. */
static void expect_next(struct gmc_group_tx *tx, uint32_t window, char kind, uint32_t index)
{
    struct gmc_group_pick pick;
    assert_true(gmc_group_tx_next(tx, &pick));
    assert_int_equal(pick.out->window, window);
    assert_int_equal(pick.piece, kind == 's' ? GMC_GROUP_SOURCE : GMC_GROUP_PARITY);
    assert_int_equal(pick.index, index);
    gmc_group_tx_sent(tx, 0, &pick);
}

static void expect_nothing(const struct gmc_group_tx *tx)
{
    struct gmc_group_pick pick;
    assert_false(gmc_group_tx_next(tx, &pick));
}

static void sources_then_repairs(void **state)
{
    (void)state;
    struct gmc_group_tx tx;
    struct gmc_group_out a, b;
    gmc_group_tx_init(&tx);
    expect_nothing(&tx);
    gmc_group_tx_open(&tx, &a, 0, 7, 3);
    gmc_group_tx_open(&tx, &b, 0, 8, 2);
    for (uint32_t i = 0; i < 3; i++)
        expect_next(&tx, 7, 's', i);
    assert_true(gmc_group_tx_has_news(&tx));
    expect_next(&tx, 8, 's', 0);
    /* Needs of the same round are one: who lacks most decides. */
    assert_true(gmc_group_tx_need(&a, 0, 1, nothing));
    assert_true(gmc_group_tx_need(&a, 0, 2, nothing));
    assert_false(gmc_group_tx_need(&a, 0, 2, nothing));
    assert_false(gmc_group_tx_need(&a, 0, 1, nothing));
    expect_next(&tx, 7, 'p', 0); /* before what is fresh */
    expect_next(&tx, 7, 'p', 1);
    expect_next(&tx, 8, 's', 1);
    expect_nothing(&tx);
    /* The next round knows of two. */
    assert_false(gmc_group_tx_need(&a, 1, 1, nothing));
    assert_true(gmc_group_tx_need(&a, 2, 1, nothing));
    expect_next(&tx, 7, 'p', 2);
    assert_false(gmc_group_tx_need(&a, 4, 1, nothing)); /* of what was never sent */
    struct gmc_group_state told;
    gmc_group_tx_state(&tx, &told);
    assert_false(gmc_group_tx_has_news(&tx));
    assert_int_equal(told.count, 2);
    assert_int_equal(told.windows[0].promised, 3);
    assert_int_equal(told.windows[0].sent, 3);
    assert_int_equal(told.windows[1].promised, 0);
    gmc_group_tx_close(&tx, &a);
    assert_null(gmc_group_tx_find(&tx, 7));
    assert_ptr_equal(gmc_group_tx_find(&tx, 8), &b);
}

/* When all rows of parity were sent, the fragments that are missing somewhere go again. */
static void parity_ends(void **state)
{
    (void)state;
    static const uint8_t missing[] = {0x00, 0x82};
    struct gmc_group_tx tx;
    struct gmc_group_out out;
    gmc_group_tx_init(&tx);
    gmc_group_tx_open(&tx, &out, 0, 1, 100);
    for (uint32_t i = 0; i < 100; i++)
        expect_next(&tx, 1, 's', i);
    assert_true(gmc_group_tx_need(&out, 0, 62, nothing));
    for (uint32_t i = 0; i < 62; i++)
        expect_next(&tx, 1, 'p', i);
    assert_true(gmc_group_tx_need(&out, 62, 4, gmc_bytes(missing, 2)));
    expect_next(&tx, 1, 'p', 62);
    expect_next(&tx, 1, 'p', 63);
    expect_next(&tx, 1, 's', 9);
    expect_next(&tx, 1, 's', 15);
    expect_nothing(&tx);
    assert_false(gmc_group_tx_need(&out, 66, GMC_GROUP_REPAIRS_MAX, nothing));
    gmc_group_tx_close(&tx, &out);
}

/* What windows needed lately the next ones get at once, nearly; and it wears off. */
static void the_first_repairs_follow_the_loss(void **state)
{
    (void)state;
    struct gmc_group_tx tx;
    struct gmc_group_out out;
    gmc_group_tx_init(&tx);
    for (uint32_t w = 0; w < 60; w++) {
        gmc_group_tx_open(&tx, &out, 0, w, 184);
        for (uint32_t i = 0; i < 184; i++)
            expect_next(&tx, w, 's', i);
        if (w < 30 && out.promised < 20)
            gmc_group_tx_need(&out, 0, 20, nothing);
        if (w == 0)
            assert_int_equal(out.asked, 20);
        if (w == 29)
            assert_in_range(out.asked, 1, 5);
        gmc_group_tx_close(&tx, &out);
    }
    assert_true(out.promised <= 4);
}

/* ---- what is asked for ---- */
static const struct gmc_group_window *told(uint16_t promised, uint16_t sent)
{
    static struct gmc_group_window window;
    window = (struct gmc_group_window){.window = 3, .promised = promised, .sent = sent};
    return &window;
}

static void one_speaks_and_the_others_need_not(void **state)
{
    (void)state;
    struct gmc_prng prng;
    struct gmc_group_in in[8];
    gmc_prng_init(&prng, 1);
    for (uint32_t i = 0; i < 8; i++) {
        in[i] = (struct gmc_group_in){.missing = i + 1, .speak_at = GMC_TIME_NEVER};
        gmc_group_in_told(&in[i], 0, told(0, 0), GMC_MS(4), 8, &prng);
        assert_true(in[i].speak_at <= GMC_MS(4));
    }
    /* The one that lacks five speaks, and is promised these. */
    assert_true(gmc_group_in_speaks(&in[4], in[4].speak_at, GMC_MS(4)));
    assert_int_equal(in[4].spoken, 5);
    for (uint32_t i = 0; i < 8; i++) {
        gmc_group_in_told(&in[i], GMC_MS(5), told(5, 0), GMC_MS(4), 8, &prng);
        assert_true(in[i].speak_at == GMC_TIME_NEVER);
        /* Those arrive everywhere. */
        in[i].repairs = 5;
        gmc_group_in_told(&in[i], GMC_MS(9), told(5, 5), GMC_MS(4), 8, &prng);
        assert_int_equal(in[i].speak_at != GMC_TIME_NEVER, i >= 5);
    }
    assert_true(gmc_group_in_speaks(&in[7], GMC_MS(20), GMC_MS(4)));
    assert_int_equal(in[7].spoken, 5 + 3);
    /* No answer: once more, after a while. */
    assert_false(gmc_group_in_speaks(&in[7], GMC_MS(21), GMC_MS(4)));
    assert_true(gmc_group_in_speaks(&in[7], GMC_MS(40), GMC_MS(4)));
}

static void old_news_change_nothing(void **state)
{
    (void)state;
    struct gmc_prng prng;
    struct gmc_group_in in = {.missing = 2, .speak_at = GMC_TIME_NEVER};
    gmc_prng_init(&prng, 1);
    gmc_group_in_told(&in, 0, told(4, 4), GMC_MS(4), 8, &prng);
    gmc_group_in_told(&in, 0, told(4, 2), GMC_MS(4), 8, &prng);
    assert_int_equal(in.sent, 4);
    assert_true(in.speak_at != GMC_TIME_NEVER);
}

/* ---- on the wire ---- */
static void states_come_back(void **state)
{
    (void)state;
    static const uint8_t golden[] = {0, 9, 0, 0, 0x0f, 0xa0, 2, 0, 0, 1, 4, 0,
                                     5, 0, 3, 0, 0,    1,    5, 0, 0, 0, 0};
    uint8_t bytes[GMC_GROUP_STATE_BYTES_MAX];
    struct gmc_group_state got,
        is = {.members = 9,
              .backoff_us = 4000,
              .count = 2,
              .windows = {{.window = 260, .promised = 5, .sent = 3}, {.window = 261}}};
    size_t len = gmc_group_state_put(&is, bytes);
    assert_int_equal(len, sizeof(golden));
    assert_memory_equal(bytes, golden, len);
    assert_ok(gmc_group_state_get(gmc_bytes(bytes, len), &got));
    assert_int_equal(got.members, 9);
    assert_int_equal(got.windows[0].window, 260);
    assert_int_equal(got.windows[0].promised, 5);
    for (size_t cut = 0; cut < len; cut++)
        assert_int_not_equal(gmc_group_state_get(gmc_bytes(bytes, cut), &got), GMC_OK);
    bytes[12] = 2; /* fewer promised than sent */
    assert_int_equal(gmc_group_state_get(gmc_bytes(bytes, len), &got), GMC_ERR_INVALID);
    bytes[6] = GMC_GROUP_STATES_MAX + 1;
    assert_int_equal(gmc_group_state_get(gmc_bytes(bytes, len), &got), GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_cover_all_blocks_once),
        cmocka_unit_test(common_fragments_make_windows_of_four),
        cmocka_unit_test(sources_then_repairs),
        cmocka_unit_test(parity_ends),
        cmocka_unit_test(the_first_repairs_follow_the_loss),
        cmocka_unit_test(one_speaks_and_the_others_need_not),
        cmocka_unit_test(old_news_change_nothing),
        cmocka_unit_test(states_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
