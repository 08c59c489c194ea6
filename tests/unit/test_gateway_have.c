/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests gateway_have: what a receiver has, counted block by block, and its checkpoint; it looks
 * inside the composition, which has no other door to these numbers. */
#include <stdlib.h>

#include "core/gateway_impl.h"
#include "tests/lib/unit.h"
#include "tests/unit/toy_crypto.h"

static struct toy_ctx toy;
static const struct gmc_crypto crypto = {&toy_crypto_ops, &toy};

/* 3 blocks of listing, 300 of data, the last of 100 bytes: 303 data blocks, 3 pages. */
#define LISTING 3u
#define DATA 300u
#define LAST_BYTES 100u

struct world {
    struct gmc_gateway gw;
    struct gwchannel ch;
    struct gwtarget dst;
};

static void world_init(struct world *world, size_t ranges_max)
{
    const struct gmc_object object = {.listing_bytes = 2 * GW_BLOCK_BYTES + 1,
                                      .total_bytes =
                                          (DATA - 1) * (uint64_t)GW_BLOCK_BYTES + LAST_BYTES,
                                      .block_bytes = GW_BLOCK_BYTES,
                                      .fragment_bytes = 1425};
    *world = (struct world){.gw.config.crypto = &crypto};
    world->ch.dst = &world->dst;
    gw_channel_set_object(&world->ch, &object);
    gmc_have_init(&world->dst.have, world->ch.blocks, ranges_max);
    world->dst.listing_missing = LISTING;
}

static void world_fini(struct world *world)
{
    gmc_have_fini(&world->dst.have);
}

/* The numbers as they follow from the set, one block at a time. */
static void counts_fit(const struct world *world)
{
    const struct gwchannel *ch = &world->ch;
    uint64_t bytes = 0, listing = LISTING;
    for (uint32_t b = 0; b < ch->blocks; b++) {
        if (!gw_has(ch, b) || gmc_block_is_page(b))
            continue;
        if (gmc_block_data(b) < LISTING)
            listing--;
        else
            bytes += gmc_block_len(&ch->object, b);
    }
    assert_int_equal(ch->stored_bytes, bytes);
    assert_int_equal(world->dst.listing_missing, listing);
}

static void counts_each_block(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 1000);
    assert_int_equal(world.ch.blocks, LISTING + DATA + 3);
    /* 7 has no factor in common with the number of blocks, so each comes once. */
    for (uint32_t i = 0; i < world.ch.blocks; i++) {
        assert_false(gmc_have_is_whole(&world.dst.have));
        gw_have_put(&world.gw, &world.ch, (uint32_t)(i * 7ull % world.ch.blocks));
        counts_fit(&world);
    }
    assert_true(gmc_have_is_whole(&world.dst.have));
    assert_int_equal(world.ch.stored_bytes, world.ch.object.total_bytes);
    assert_int_equal(world.dst.listing_missing, 0);
    gw_have_put(&world.gw, &world.ch, 5); /* once more is nothing new */
    assert_int_equal(world.ch.stored_bytes, world.ch.object.total_bytes);
    assert_false(world.dst.forgot);
    world_fini(&world);
}

static void loses_what_it_counted(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 1000);
    for (uint32_t b = 0; b < world.ch.blocks; b++)
        gw_have_put(&world.gw, &world.ch, b);
    world.dst.unsaved = false;
    const uint32_t lost[] = {0, 1, 3, 4, 129, 130, 200, (uint32_t)world.ch.blocks - 1};
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        gw_have_lose(&world.gw, &world.ch, lost[i], (uint64_t)lost[i] + 1);
        gw_have_lose(&world.gw, &world.ch, lost[i], (uint64_t)lost[i] + 1);
        assert_false(gw_has(&world.ch, lost[i]));
        counts_fit(&world);
    }
    assert_true(world.dst.forgot);  /* the parent was told of them */
    assert_true(world.dst.unsaved); /* the checkpoint names them */
    assert_int_equal(world.gw.counts.blocks_forgotten, 8);
    gw_have_lose(&world.gw, &world.ch, 100, 129);
    counts_fit(&world);
    assert_int_equal(world.gw.counts.blocks_forgotten, 37);
    world_fini(&world);
}

static void forgets_within_its_bound(void **state)
{
    struct world world;
    (void)state;
    world_init(&world, 4);
    for (uint32_t b = 0; b < world.ch.blocks; b += 2) {
        gw_have_put(&world.gw, &world.ch, b);
        counts_fit(&world);
    }
    assert_true(world.dst.forgot);
    assert_true(world.gw.counts.blocks_forgotten > 100);
    /* In order they all fit. */
    for (uint32_t b = 0; b < world.ch.blocks; b++) {
        gw_have_put(&world.gw, &world.ch, b);
        counts_fit(&world);
    }
    assert_true(gmc_have_is_whole(&world.dst.have));
    world_fini(&world);
}

static void comes_back_from_a_checkpoint(void **state)
{
    struct world world, after;
    uint8_t *bytes;
    size_t len;
    uint64_t horizon = 0;
    (void)state;
    world_init(&world, 1000);
    world_init(&after, 1000);
    for (uint32_t b = 0; b < world.ch.blocks; b += b % 3 + 1)
        gw_have_put(&world.gw, &world.ch, b);
    assert_ok(gmc_have_save(&world.dst.have.stored, world.ch.blocks, 400, &crypto, &bytes, &len));
    assert_true(gw_have_load(&after.gw, &after.ch, gmc_bytes(bytes, len), &horizon));
    assert_int_equal(horizon, 400);
    assert_int_equal(after.ch.stored_bytes, world.ch.stored_bytes);
    counts_fit(&after);
    gmc_interval_clear(&after.dst.have.stored);
    after.ch.stored_bytes = 0;
    after.dst.listing_missing = LISTING;
    bytes[30] ^= 1;
    assert_false(gw_have_load(&after.gw, &after.ch, gmc_bytes(bytes, len), &horizon));
    assert_false(gw_have_load(&after.gw, &after.ch, gmc_bytes(NULL, 0), &horizon));
    counts_fit(&after);
    free(bytes);
    world_fini(&after);
    world_fini(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_each_block),
        cmocka_unit_test(loses_what_it_counted),
        cmocka_unit_test(forgets_within_its_bound),
        cmocka_unit_test(comes_back_from_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
