/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of memory to be fetched: which lines they have, and that nothing else comes of them. */
#include "tests/lib/unit.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/near.h"

static uintptr_t lines(const struct gmc_near *near, size_t i)
{
    return near->pieces[i] % GMC_NEAR_LINE;
}

static const char *begin(const struct gmc_near *near, size_t i)
{
    return (const char *)(near->pieces[i] - lines(near, i));
}

struct members {
    char head[128];
    char from[64];
    char to;
};

static void test_pieces_are_whole_lines(void **state)
{
    (void)state;
    _Alignas(GMC_NEAR_LINE) static char memory[8 * GMC_NEAR_LINE];
    _Alignas(GMC_NEAR_LINE) static struct members object;
    struct gmc_near near = {0};
    gmc_near_add(&near, memory, 1);
    gmc_near_add(&near, memory + 63, 2);
    gmc_near_add(&near, memory + 64, 128);
    GMC_NEAR_ADD(&near, &object, from, to);
    assert_int_equal(near.count, 4);
    const uintptr_t counts[] = {1, 2, 2, 1};
    const char *const begins[] = {memory, memory, memory + 64, object.from};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(lines(&near, i), counts[i]);
        assert_ptr_equal(begin(&near, i), begins[i]);
    }
    gmc_near_fetch(&near);
}

static void test_what_does_not_fit_is_left_out(void **state)
{
    (void)state;
    static char memory[64 * GMC_NEAR_LINE];
    struct gmc_near near = {0};
    gmc_near_add(&near, memory, sizeof(memory)); /* more than a piece can have */
    assert_int_equal(near.count, 0);
    for (size_t i = 0; i < 2 * GMC_NEAR_MAX; i++)
        gmc_near_add(&near, memory, 1);
    assert_int_equal(near.count, GMC_NEAR_MAX);
}

/* Memory that is gone may be fetched. */
static void test_what_is_gone_does_no_harm(void **state)
{
    (void)state;
    struct gmc_near near = {0};
    char *memory = malloc(1 << 20);
    assert_non_null(memory);
    gmc_near_add(&near, memory, 1024);
    gmc_near_add(&near, NULL, 64);
    gmc_near_add(&near, NULL, 0);
    assert_int_equal(near.count, 1);
    free(memory);
    gmc_near_fetch(&near);
}

static void test_a_map_tells_where_it_looks(void **state)
{
    (void)state;
    struct gmc_near near = {0};
    struct gmc_map map;
    int value;
    gmc_map_init(&map, 7);
    gmc_map_near(&map, 5, &near);
    assert_int_equal(near.count, 0);
    assert_int_equal(gmc_map_put(&map, 5, &value), GMC_OK);
    gmc_map_near(&map, 5, &near);
    assert_int_equal(near.count, 1);
    const char *slots = (const char *)map.slots;
    assert_true(begin(&near, 0) + lines(&near, 0) * GMC_NEAR_LINE > slots);
    assert_true(begin(&near, 0) < slots + map.capacity * sizeof(*map.slots));
    gmc_map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_whole_lines),
        cmocka_unit_test(test_what_does_not_fit_is_left_out),
        cmocka_unit_test(test_what_is_gone_does_no_harm),
        cmocka_unit_test(test_a_map_tells_where_it_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
