/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the tests of the block cache: pins, eviction, bodies, channels. */
#include "core/cache.h"
#include "core/manifest.h"

#include <string.h>

#include "tests/lib/unit.h"

#define BODIES 16 /* the smallest cache */

static struct gmc_block *add_plain(struct gmc_cache *cache, uint32_t channel, uint32_t number)
{
    struct gmc_block *block =
        gmc_cache_add(cache, channel, number, GMC_CACHE_BODY_BYTES, GMC_CACHE_BODY_BYTES, 64);
    assert_non_null(block);
    assert_int_equal(block->pins, 1);
    assert_ok(gmc_cache_give_plain(cache, block));
    memset(block->plain, (int)number, GMC_CACHE_BODY_BYTES);
    return block;
}

static void add_idle(struct gmc_cache *cache, uint32_t channel, uint32_t number)
{
    gmc_block_unpin(cache, add_plain(cache, channel, number));
}

static void test_found_by_channel_and_number(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    add_idle(cache, 1, 7);
    add_idle(cache, 2, 7);
    assert_int_equal(gmc_cache_bodies(cache), BODIES);
    assert_int_equal(gmc_cache_find(cache, 1, 7)->channel, 1);
    assert_int_equal(gmc_cache_find(cache, 2, 7)->channel, 2);
    assert_null(gmc_cache_find(cache, 7, 1));
    assert_null(gmc_cache_find(cache, 1, 8));
    gmc_cache_free(cache);
}

static void test_least_recently_used_goes(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    for (uint32_t i = 0; i < BODIES; i++)
        add_idle(cache, 1, i);
    assert_non_null(gmc_cache_find(cache, 1, 0)); /* used just now */
    add_idle(cache, 1, 100);
    assert_non_null(gmc_cache_find(cache, 1, 0));
    assert_null(gmc_cache_find(cache, 1, 1));
    assert_non_null(gmc_cache_find(cache, 1, 2));
    gmc_cache_free(cache);
}

static void test_pinned_stays(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    struct gmc_block *blocks[BODIES];
    for (uint32_t i = 0; i < BODIES; i++)
        blocks[i] = add_plain(cache, 1, i);
    struct gmc_block *more = gmc_cache_add(cache, 1, 100, 10, 10, 1);
    assert_int_equal(gmc_cache_give_plain(cache, more), GMC_ERR_FULL);
    assert_null(more->plain);
    /* Two pins want two unpins. */
    gmc_block_pin(cache, blocks[3]);
    gmc_block_unpin(cache, blocks[3]);
    assert_int_equal(gmc_cache_give_plain(cache, more), GMC_ERR_FULL);
    gmc_block_unpin(cache, blocks[3]);
    assert_ok(gmc_cache_give_plain(cache, more));
    assert_null(gmc_cache_find(cache, 1, 3));
    assert_int_equal(blocks[4]->plain[99], 4);
    gmc_cache_free(cache);
}

static void test_without_body_goes_at_once(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    gmc_block_unpin(cache, gmc_cache_add(cache, 1, 1, 10, 10, 1));
    assert_null(gmc_cache_find(cache, 1, 1));
    struct gmc_block *block = add_plain(cache, 1, 2);
    gmc_cache_drop_plain(cache, block);
    gmc_cache_drop_plain(cache, block);
    gmc_block_unpin(cache, block);
    assert_null(gmc_cache_find(cache, 1, 2));
    gmc_cache_remove(cache, add_plain(cache, 1, 3));
    assert_null(gmc_cache_find(cache, 1, 3));
    assert_int_equal(gmc_cache_bytes_used(cache), /* one body was used in turn */
                     GMC_CACHE_BODY_BYTES + GMC_FRAGMENTS_MAX * GMC_SEAL_TAG_BYTES);
    gmc_cache_trim(cache);
    assert_int_equal(gmc_cache_bytes_used(cache), 0);
    gmc_cache_free(cache);
}

static void test_two_bodies(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    struct gmc_block *block = add_plain(cache, 1, 5);
    assert_ok(gmc_cache_give_cipher(cache, block));
    assert_ptr_not_equal(block->plain, block->cipher);
    memset(block->tags, 0x55, GMC_FRAGMENTS_MAX * GMC_SEAL_TAG_BYTES); /* all of it is ours */
    assert_int_equal(gmc_cache_plain_to_cipher(cache, block), GMC_ERR_STATE);
    block->received = 3;
    gmc_cache_drop_plain(cache, block);
    assert_null(block->plain);
    assert_int_equal(block->received, 0);
    assert_non_null(block->cipher);
    gmc_block_unpin(cache, block);
    assert_ptr_equal(gmc_cache_find(cache, 1, 5), block);
    gmc_cache_free(cache);
}

static void test_sealed_in_place(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    struct gmc_block *block = add_plain(cache, 1, 5);
    const uint8_t *body = block->plain;
    assert_ok(gmc_cache_plain_to_cipher(cache, block));
    assert_null(block->plain);
    assert_ptr_equal(block->cipher, body);
    assert_ptr_equal(block->tags, body + GMC_CACHE_BODY_BYTES);
    assert_int_equal(gmc_cache_plain_to_cipher(cache, block), GMC_ERR_STATE);
    gmc_cache_free(cache);
}

/* Pages and blocks of small files take little memory, and no more of them fit than others. */
static void test_small_bodies(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    add_idle(cache, 1, 0);
    size_t whole = gmc_cache_bytes_used(cache), small = 0;
    for (uint32_t i = 1; i <= BODIES; i++) {
        struct gmc_block *block =
            gmc_cache_add(cache, 1, i, GMC_CACHE_SMALL_BYTES, GMC_CACHE_SMALL_BYTES, 9);
        assert_ok(gmc_cache_give_plain(cache, block));
        memset(block->plain, 1, GMC_CACHE_SMALL_BYTES);
        assert_ok(gmc_cache_plain_to_cipher(cache, block));
        memset(block->tags, 2, 9 * GMC_SEAL_TAG_BYTES);
        gmc_block_unpin(cache, block);
        if (i == 1)
            small = gmc_cache_bytes_used(cache) - whole;
        assert_int_equal(gmc_cache_find(cache, 1, 1)->cipher[GMC_CACHE_SMALL_BYTES - 1], 1);
    }
    assert_true(small < whole / 5);
    assert_null(gmc_cache_find(cache, 1, 0));
    assert_int_equal(gmc_cache_bytes_used(cache), BODIES * small);
    add_idle(cache, 2, 0); /* in the place of one of them */
    assert_null(gmc_cache_find(cache, 1, 2));
    assert_int_equal(gmc_cache_bytes_used(cache), (BODIES - 1) * small + whole);
    gmc_cache_free(cache);
}

/* What one cache gives back another one uses, whichever of them is freed first. */
static void test_shared_spares(void **state)
{
    (void)state;
    struct gmc_cache_spares spares;
    gmc_cache_spares_init(&spares, 8);
    struct gmc_cache *one = gmc_cache_new(0, 1, &spares), *other = gmc_cache_new(0, 2, &spares);
    struct gmc_block *block =
        gmc_cache_add(one, 1, 1, GMC_CACHE_BODY_BYTES, GMC_CACHE_VIRTUAL_BYTES, 1);
    assert_ok(gmc_cache_give_plain(one, block));
    const uint8_t *body = block->plain;
    gmc_cache_remove(one, block);
    assert_int_equal(gmc_cache_bytes_used(one), 0);
    gmc_cache_trim(one);
    gmc_cache_free(one);
    struct gmc_block *next =
        gmc_cache_add(other, 3, 3, GMC_CACHE_BODY_BYTES, GMC_CACHE_VIRTUAL_BYTES, 1);
    assert_ptr_equal(next, block);
    assert_ok(gmc_cache_give_plain(other, next));
    assert_ptr_equal(next->plain, body);
    assert_int_equal(gmc_cache_bytes_used(other), GMC_CACHE_VIRTUAL_BYTES + GMC_SEAL_TAG_BYTES);
    gmc_cache_free(other);
    gmc_cache_spares_trim(&spares);
}

/* Of virtual blocks each fragment keeps a few bytes, and has its tag; where the last one is short
 * it keeps all of them. */
static void test_virtual_fragments(void **state)
{
    (void)state;
    static const struct {
        uint32_t len, kept, fragments;
        size_t bytes;
    } rows[] = {
        {65536, 8, 1, 8 + 16},
        {2 * 65536, 2 * 8, 2, 16 * (8 + 16)},
        {1 << 20, 16 * 8, 16, 16 * (8 + 16)},
        {65536 + 4000, 8 + 4000, 2, 9216 + 64 * 16},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
        assert_int_equal(gmc_virtual_kept(rows[i].len), rows[i].kept);
        struct gmc_block *block =
            gmc_cache_add(cache, 1, 1, rows[i].len, rows[i].kept, rows[i].fragments);
        assert_ok(gmc_cache_give_cipher(cache, block));
        memset(block->cipher, 1, rows[i].kept);
        memset(block->tags, 2, rows[i].fragments * GMC_SEAL_TAG_BYTES);
        assert_int_equal(block->cipher[rows[i].kept - 1], 1);
        assert_int_equal(gmc_cache_bytes_used(cache), rows[i].bytes);
        gmc_cache_remove(cache, block);
        assert_int_equal(gmc_cache_bytes_used(cache), 0);
        gmc_cache_free(cache);
    }
}

static void test_channels(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    struct gmc_block *held = add_plain(cache, 1, 1);
    held->sealed = 7;
    add_idle(cache, 1, 2);
    add_idle(cache, 2, 2);
    gmc_cache_reset_channel(cache, 1);
    assert_null(gmc_cache_find(cache, 1, 2));
    assert_int_equal(gmc_cache_find(cache, 1, 1)->sealed, 0);
    assert_non_null(held->plain);
    assert_false(gmc_cache_drop_channel(cache, 1));
    gmc_block_unpin(cache, held);
    assert_true(gmc_cache_drop_channel(cache, 1));
    assert_null(gmc_cache_find(cache, 1, 1));
    assert_non_null(gmc_cache_find(cache, 2, 2));
    gmc_cache_free(cache);
}

static bool sum_up(void *ctx, uint32_t number)
{
    if (number == 16)
        return false;
    *(uint32_t *)ctx += number;
    return true;
}

static void test_give_up(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    uint32_t sum = 0;
    add_plain(cache, 1, 1); /* RECEIVING */
    struct gmc_block *whole = add_plain(cache, 1, 2);
    whole->state = GMC_BLOCK_UNCHECKED;
    add_plain(cache, 2, 4);
    add_plain(cache, 1, 16); /* to be kept */
    struct gmc_block *lent = add_plain(cache, 1, 8);
    gmc_block_pin(cache, lent);
    assert_int_equal(gmc_cache_give_up(cache, 1, sum_up, &sum), 2);
    assert_int_equal(sum, 9);
    assert_null(gmc_cache_find(cache, 1, 1));
    assert_ptr_equal(gmc_cache_find(cache, 1, 2), whole);
    assert_non_null(gmc_cache_find(cache, 2, 4));
    assert_non_null(gmc_cache_find(cache, 1, 16));
    assert_int_equal(gmc_cache_give_up(cache, 1, sum_up, &sum), 0);
    gmc_block_unpin(cache, lent);
    assert_int_equal(lent->pins, 0);
    gmc_cache_free(cache);
}

static void test_last_receiving(void **state)
{
    (void)state;
    struct gmc_cache *cache = gmc_cache_new(0, 1, NULL);
    struct gmc_block *first = add_plain(cache, 1, 3), *last = add_plain(cache, 1, 9);
    struct gmc_block *whole = add_plain(cache, 1, 12), *lent = add_plain(cache, 1, 11);
    add_plain(cache, 2, 10);
    whole->state = GMC_BLOCK_UNCHECKED;
    gmc_block_pin(cache, lent);
    assert_ptr_equal(gmc_cache_last_receiving(cache, 1, 2), last);
    assert_ptr_equal(gmc_cache_last_receiving(cache, 1, 8), last);
    assert_null(gmc_cache_last_receiving(cache, 1, 9));
    gmc_cache_remove(cache, last);
    assert_ptr_equal(gmc_cache_last_receiving(cache, 1, 2), first);
    gmc_block_unpin(cache, lent);
    assert_ptr_equal(gmc_cache_last_receiving(cache, 1, 2), lent);
    gmc_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_by_channel_and_number),
        cmocka_unit_test(test_least_recently_used_goes),
        cmocka_unit_test(test_pinned_stays),
        cmocka_unit_test(test_without_body_goes_at_once),
        cmocka_unit_test(test_two_bodies),
        cmocka_unit_test(test_sealed_in_place),
        cmocka_unit_test(test_small_bodies),
        cmocka_unit_test(test_shared_spares),
        cmocka_unit_test(test_virtual_fragments),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_give_up),
        cmocka_unit_test(test_last_receiving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
