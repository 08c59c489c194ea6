/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/map: growth, replacement, and removals inside probe chains.
 */
#include "base/map.h"

#include "base/prng.h"
#include "tests/lib/unit.h"

enum { KEYS = 512 };

static void keys_find_their_values(void **state)
{
    struct gmc_map map;
    int a, b;

    (void)state;
    gmc_map_init(&map, 1);
    assert_null(gmc_map_get(&map, 0));
    assert_null(gmc_map_remove(&map, 0));
    assert_ok(gmc_map_put(&map, 0, &a));
    assert_ok(gmc_map_put(&map, UINT64_MAX, &b));
    assert_ptr_equal(gmc_map_get(&map, 0), &a);
    assert_ptr_equal(gmc_map_get(&map, UINT64_MAX), &b);
    assert_null(gmc_map_get(&map, 1));
    assert_ok(gmc_map_put(&map, 0, &b));
    assert_ptr_equal(gmc_map_get(&map, 0), &b);
    assert_int_equal(gmc_map_count(&map), 2);
    assert_ptr_equal(gmc_map_remove(&map, 0), &b);
    assert_null(gmc_map_remove(&map, 0));
    assert_int_equal(gmc_map_count(&map), 1);
    gmc_map_fini(&map);
    assert_null(gmc_map_get(&map, UINT64_MAX));
}

static void reserved_room_does_not_move(void **state)
{
    struct gmc_map map;
    struct gmc_map_slot *slots;
    int value;

    (void)state;
    gmc_map_init(&map, 1);
    assert_ok(gmc_map_reserve(&map, KEYS));
    slots = map.slots;
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ok(gmc_map_put(&map, key, &value));
    assert_ptr_equal(map.slots, slots);
    assert_int_equal(gmc_map_reserve(&map, SIZE_MAX), GMC_ERR_NOMEM);
    assert_int_equal(gmc_map_count(&map), KEYS);
    gmc_map_fini(&map);
}

static void a_walk_meets_each_key_once(void **state)
{
    bool seen[KEYS] = {false};
    size_t cursor = 0, count = 0;
    struct gmc_map map;
    uint64_t key;
    void *value;
    int values[KEYS];

    (void)state;
    gmc_map_init(&map, 99);
    assert_false(gmc_map_next(&map, &cursor, &key, &value));
    for (uint64_t i = 0; i < KEYS; i++)
        assert_ok(gmc_map_put(&map, i, &values[i]));
    while (gmc_map_next(&map, &cursor, &key, &value)) {
        assert_true(key < KEYS && !seen[key]);
        assert_ptr_equal(value, &values[key]);
        seen[key] = true;
        count++;
    }
    assert_int_equal(count, KEYS);
    gmc_map_fini(&map);
}

/* Few keys in a table that is kept nearly full: chains are long and wrap around its end. */
static void random_operations_agree_with_an_array(void **state)
{
    bool present[KEYS] = {false};
    int values[KEYS];

    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct gmc_prng prng;
        struct gmc_map map;
        size_t count = 0;

        gmc_prng_init(&prng, seed);
        gmc_map_init(&map, gmc_prng_u64(&prng));
        for (int i = 0; i < KEYS; i++)
            present[i] = false;
        for (int step = 0; step < 20000; step++) {
            uint64_t key = gmc_prng_below(&prng, KEYS);

            assert_ptr_equal(gmc_map_get(&map, key), present[key] ? &values[key] : NULL);
            if (gmc_prng_below(&prng, 4) != 0) {
                assert_ok(gmc_map_put(&map, key, &values[key]));
                count += !present[key];
                present[key] = true;
            } else {
                assert_ptr_equal(gmc_map_remove(&map, key), present[key] ? &values[key] : NULL);
                count -= present[key];
                present[key] = false;
            }
            assert_int_equal(gmc_map_count(&map), count);
        }
        for (uint64_t key = 0; key < KEYS; key++)
            assert_ptr_equal(gmc_map_get(&map, key), present[key] ? &values[key] : NULL);
        gmc_map_fini(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_find_their_values),
        cmocka_unit_test(reserved_room_does_not_move),
        cmocka_unit_test(a_walk_meets_each_key_once),
        cmocka_unit_test(random_operations_agree_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
