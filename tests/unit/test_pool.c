/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/pool: the bound, growth by chunks, giving memory back.
 */
#include "base/pool.h"

#include "tests/lib/unit.h"

#include <stdalign.h>
#include <string.h>

static void the_bound_holds(void **state)
{
    void *objects[10];
    struct gmc_pool pool;

    (void)state;
    gmc_pool_init(&pool, 24, 4, 10);
    for (int i = 0; i < 10; i++) {
        objects[i] = gmc_pool_get(&pool);
        assert_non_null(objects[i]);
        assert_int_equal((uintptr_t)objects[i] % alignof(max_align_t), 0);
        memset(objects[i], i, 24);
        /* Whole chunks, the last one cut to the bound. */
        assert_int_equal(pool.allocated, i < 4 ? 4 : i < 8 ? 8 : 10);
    }
    assert_null(gmc_pool_get(&pool));
    assert_int_equal(pool.count, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(((uint8_t *)objects[i])[23], i);
    gmc_pool_put(&pool, objects[3]);
    assert_ptr_equal(gmc_pool_get(&pool), objects[3]);
    for (int i = 0; i < 10; i++)
        gmc_pool_put(&pool, objects[i]);
    gmc_pool_put(&pool, NULL);
    gmc_pool_fini(&pool);
}

static void reserved_objects_need_no_memory(void **state)
{
    struct gmc_pool pool;
    void *object;

    (void)state;
    gmc_pool_init(&pool, 1, 4, 10);
    assert_ok(gmc_pool_reserve(&pool, 0));
    assert_int_equal(pool.allocated, 0);
    assert_ok(gmc_pool_reserve(&pool, 5));
    assert_int_equal(pool.allocated, 8);
    assert_ok(gmc_pool_reserve(&pool, 3));
    assert_int_equal(pool.allocated, 8);
    assert_int_equal(gmc_pool_reserve(&pool, 11), GMC_ERR_FULL);
    assert_int_equal(pool.allocated, 8);
    object = gmc_pool_get(&pool);
    assert_int_equal(pool.allocated, 8);
    gmc_pool_put(&pool, object);
    gmc_pool_fini(&pool);
}

static void memory_goes_back_when_nothing_is_used(void **state)
{
    struct gmc_pool pool;
    void *object;

    (void)state;
    gmc_pool_init(&pool, 100, 8, 64);
    object = gmc_pool_get(&pool);
    gmc_pool_shrink(&pool);
    assert_int_equal(pool.allocated, 8);
    gmc_pool_put(&pool, object);
    assert_int_equal(pool.allocated, 8);
    gmc_pool_shrink(&pool);
    assert_int_equal(pool.allocated, 0);
    /* And it comes back. */
    object = gmc_pool_get(&pool);
    assert_non_null(object);
    gmc_pool_put(&pool, object);
    gmc_pool_fini(&pool);
}

static void what_cannot_be_had_is_said(void **state)
{
    struct gmc_pool pool;

    (void)state;
    gmc_pool_init(&pool, SIZE_MAX / 4, 64, 64);
    assert_null(gmc_pool_get(&pool));
    assert_int_equal(gmc_pool_reserve(&pool, 1), GMC_ERR_NOMEM);
    assert_int_equal(pool.allocated, 0);
    gmc_pool_fini(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_holds),
        cmocka_unit_test(reserved_objects_need_no_memory),
        cmocka_unit_test(memory_goes_back_when_nothing_is_used),
        cmocka_unit_test(what_cannot_be_had_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
