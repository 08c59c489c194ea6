/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/message_ring: what is kept, what makes room, and that bytes stay what they are. */
#include "tests/lib/unit.h"

#include <string.h>

#include "base/prng.h"
#include "core/message_ring.h"

static void put(struct gmc_message_ring *ring, uint64_t number, uint32_t len)
{
    struct gmc_message_packet packet;
    assert_ok(gmc_message_ring_put(ring, number, len, &packet));
    assert_int_equal(packet.len, len);
    memset(packet.body, (int)(number & 0xff), len);
    memset(packet.tag, (int)(number >> 8 & 0xff), GMC_SEAL_TAG_BYTES);
}

static bool is_there(const struct gmc_message_ring *ring, uint64_t number)
{
    struct gmc_message_packet packet;
    if (!gmc_message_ring_get(ring, number, &packet))
        return false;
    for (uint32_t i = 0; i < packet.len; i++)
        assert_int_equal(packet.body[i], number & 0xff);
    for (size_t i = 0; i < GMC_SEAL_TAG_BYTES; i++)
        assert_int_equal(packet.tag[i], number >> 8 & 0xff);
    return true;
}

static void test_oldest_make_room(void **state)
{
    (void)state;
    struct gmc_message_ring ring;
    struct gmc_message_packet packet;
    gmc_message_ring_init(&ring, 1000);
    assert_false(is_there(&ring, 0));
    for (uint64_t n = 0; n < 5; n++)
        put(&ring, n, 184); /* 200 with the tag */
    assert_true(is_there(&ring, 0) && is_there(&ring, 4));
    put(&ring, 5, 184);
    assert_false(is_there(&ring, 0));
    assert_true(is_there(&ring, 1) && is_there(&ring, 5));
    assert_int_equal(ring.low, 1);
    assert_int_equal(gmc_message_ring_put(&ring, 0, 10, &packet), GMC_ERR_EXISTS);
    assert_int_equal(gmc_message_ring_put(&ring, 5, 10, &packet), GMC_ERR_EXISTS);
    assert_int_equal(gmc_message_ring_put(&ring, 6, 985, &packet), GMC_ERR_LIMIT);
    put(&ring, 6, 984); /* all of it */
    assert_false(is_there(&ring, 5));
    assert_true(is_there(&ring, 6));
    gmc_message_ring_take_back(&ring);
    assert_false(is_there(&ring, 6));
    put(&ring, 6, 10);
    gmc_message_ring_fini(&ring);
}

/* What was forgotten may come again, as another, and is then as new as that. */
static void test_forgotten(void **state)
{
    (void)state;
    struct gmc_message_ring ring;
    gmc_message_ring_init(&ring, 1000);
    for (uint64_t n = 0; n < 4; n++)
        put(&ring, n, 184);
    gmc_message_ring_forget(&ring, 1);
    gmc_message_ring_forget(&ring, 9); /* was never here */
    assert_false(is_there(&ring, 1));
    assert_true(is_there(&ring, 0) && is_there(&ring, 2));
    assert_int_equal(gmc_message_ring_nth(&ring, 0), 0);
    assert_int_equal(gmc_message_ring_nth(&ring, 1), UINT64_MAX);
    put(&ring, 1, 184);
    put(&ring, 5, 384); /* 0 goes, and where 1 was */
    assert_true(is_there(&ring, 1) && is_there(&ring, 2));
    assert_int_equal(ring.low, 1);
    put(&ring, 6, 384);
    assert_true(is_there(&ring, 1));
    assert_false(is_there(&ring, 2) || is_there(&ring, 3));
    assert_int_equal(ring.low, 4);
    gmc_message_ring_fini(&ring);
}

static void test_room_is_made_below_what_is_kept(void **state)
{
    (void)state;
    struct gmc_message_ring ring;
    gmc_message_ring_init(&ring, 1000);
    for (uint64_t n = 0; n < 5; n++)
        put(&ring, n, 184);
    assert_false(gmc_message_ring_make_room(&ring, 0, 1, 184));
    assert_false(gmc_message_ring_make_room(&ring, 1, 2, 368)); /* 0 goes, 1 does not */
    assert_false(is_there(&ring, 0));
    assert_true(gmc_message_ring_make_room(&ring, 1, 1, 184));
    assert_false(gmc_message_ring_make_room(&ring, 9, 1, 600)); /* more than half */
    gmc_message_ring_fini(&ring);
}

/* Whatever comes in any order: what is found is right, and memory is not passed. */
static void test_any_order(void **state)
{
    (void)state;
    struct gmc_prng prng;
    struct gmc_message_ring ring;
    gmc_prng_init(&prng, 7);
    gmc_message_ring_init(&ring, 20000);
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t number = i + gmc_prng_below(&prng, 40);
        uint32_t len = (uint32_t)gmc_prng_below(&prng, 1500);
        struct gmc_message_packet packet;
        if (gmc_message_ring_put(&ring, number, len, &packet) == GMC_OK) {
            memset(packet.body, (int)(number & 0xff), len);
            memset(packet.tag, (int)(number >> 8 & 0xff), GMC_SEAL_TAG_BYTES);
            assert_true(is_there(&ring, number));
        }
        (void)is_there(&ring, i + gmc_prng_below(&prng, 40));
    }
    gmc_message_ring_fini(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oldest_make_room),
        cmocka_unit_test(test_room_is_made_below_what_is_kept),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
