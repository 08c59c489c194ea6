/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/pool: the last one first, and no more kept than allowed.
 */
#include "base/pool.h"

#include "tests/lib/unit.h"

static void test_last_first(void **state)
{
    struct gmc_pool pool;
    (void)state;
    gmc_pool_init(&pool, 24, 2);
    void *a = gmc_pool_get(&pool), *b = gmc_pool_get(&pool), *c = gmc_pool_get(&pool);
    assert_true(a != NULL && b != NULL && c != NULL);
    gmc_pool_put(&pool, a);
    gmc_pool_put(&pool, b);
    assert_int_equal(pool.count, 2);
    gmc_pool_put(&pool, c); /* there is no room for it */
    assert_int_equal(pool.count, 2);
    assert_ptr_equal(gmc_pool_get(&pool), b);
    assert_ptr_equal(gmc_pool_get(&pool), a);
    assert_int_equal(pool.count, 0);
    gmc_pool_put(&pool, a);
    gmc_pool_put(&pool, b);
    gmc_pool_trim(&pool);
    assert_int_equal(pool.count, 0);
    assert_null(pool.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
