/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool of packets: short ones stand in pages, which are used again. */
#include "tests/lib/unit.h"

#include <string.h>

#include "sim-wan/packet.h"

#define PACKETS 1000u

static struct sim_packet *packets[PACKETS];

static void take(struct sim_packet_pool *pool, size_t from, size_t step, size_t len)
{
    for (size_t i = from; i < PACKETS; i += step) {
        packets[i] = sim_packet_new(pool, len);
        assert_int_equal(packets[i]->len, len);
        memset(packets[i]->data, (int)i, len);
    }
}

static void give_back(struct sim_packet_pool *pool, size_t from, size_t step)
{
    for (size_t i = from; i < PACKETS; i += step)
        sim_packet_free(pool, packets[i]);
}

static uintptr_t page_of(const struct sim_packet *packet)
{
    return (uintptr_t)packet / SIM_PACKET_PAGE_BYTES;
}

/* Pages of packets, each counted when it differs from the one before. */
static size_t pages(uintptr_t *highest)
{
    size_t count = 1;
    for (size_t i = 0; i < PACKETS; i++) {
        count += i > 0 && page_of(packets[i]) != page_of(packets[i - 1]);
        *highest = page_of(packets[i]) > *highest ? page_of(packets[i]) : *highest;
    }
    return count;
}

static void test_what_follows_each_other_stands_together(void **state)
{
    (void)state;
    struct sim_packet_pool pool;
    uintptr_t highest = 0, later = 0;
    sim_packet_pool_init(&pool);
    take(&pool, 0, 1, SIM_PACKET_SHORT_BYTES);
    size_t count = pages(&highest);
    assert_int_equal(count, (PACKETS + 30) / 31);
    for (size_t i = 0; i < PACKETS; i++) {
        assert_int_equal((uintptr_t)packets[i] % SIM_PACKET_LINE_BYTES, 0);
        assert_int_equal(packets[i]->data[0], (uint8_t)i);
        assert_int_equal(packets[i]->data[SIM_PACKET_SHORT_BYTES - 1], (uint8_t)i);
    }
    /* In whatever order they come back, the next ones stand together again, and take no more. */
    give_back(&pool, 1, 2);
    give_back(&pool, 0, 2);
    assert_int_equal(pool.live, 0);
    take(&pool, 0, 1, 1);
    assert_true(pages(&later) <= count + 1);
    assert_true(later <= highest);
    give_back(&pool, 0, 1);
    sim_packet_pool_fini(&pool);
}

/* A page of which one packet is still away is not given out again. */
static void test_who_stays_keeps_its_bytes(void **state)
{
    (void)state;
    struct sim_packet_pool pool;
    sim_packet_pool_init(&pool);
    take(&pool, 0, 1, SIM_PACKET_SHORT_BYTES);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < PACKETS; i++)
            if (i % 10 != 0)
                sim_packet_free(&pool, packets[i]);
        for (size_t i = 0; i < PACKETS; i++)
            if (i % 10 != 0) {
                packets[i] = sim_packet_new(&pool, SIM_PACKET_SHORT_BYTES);
                memset(packets[i]->data, 0xee, SIM_PACKET_SHORT_BYTES);
            }
        for (size_t i = 0; i < PACKETS; i += 10)
            for (size_t k = 0; k < SIM_PACKET_SHORT_BYTES; k++)
                assert_int_equal(packets[i]->data[k], (uint8_t)i);
    }
    give_back(&pool, 0, 1);
    sim_packet_pool_fini(&pool);
}

/* Few at a time, as in a small network, take one page. */
static void test_few_take_one_page(void **state)
{
    (void)state;
    struct sim_packet_pool pool;
    sim_packet_pool_init(&pool);
    uintptr_t first = 0;
    for (size_t i = 0; i < 10 * PACKETS; i++) {
        struct sim_packet *packet = sim_packet_new(&pool, 10);
        if (i == 0)
            first = page_of(packet);
        assert_int_equal(page_of(packet), first);
        sim_packet_free(&pool, packet);
    }
    sim_packet_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_follows_each_other_stands_together),
        cmocka_unit_test(test_who_stays_keeps_its_bytes),
        cmocka_unit_test(test_few_take_one_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
