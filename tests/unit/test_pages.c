/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash pages in memory: equal ones are one, others are themselves, whatever their digests are. */
#include "core/pages.h"

#include <string.h>

#include "tests/lib/unit.h"

static struct gmc_page page_of(uint32_t index, uint8_t digest, uint8_t hash)
{
    struct gmc_page page = {.index = index, .first = index * GMC_PAGE_HASHES, .count = 2};
    memset(page.digest, digest, sizeof(page.digest));
    memset(page.hashes, hash, 2 * GMC_HASH_BYTES);
    return page;
}

static void test_equal_ones_are_one(void **state)
{
    (void)state;
    struct gmc_pages pages;
    gmc_pages_init(&pages);
    struct gmc_page page = page_of(3, 7, 1), same = page_of(3, 7, 1);
    const struct gmc_page *one = gmc_pages_keep(&pages, &page);
    assert_ptr_not_equal(one, &page);
    assert_ptr_equal(gmc_pages_keep(&pages, &same), one);
    gmc_pages_drop(&pages, one);
    assert_int_equal(one->index, 3);
    assert_int_equal(one->hashes[1][0], 1);
    gmc_pages_drop(&pages, one);
    gmc_pages_drop(&pages, NULL);
    gmc_pages_fini(&pages); /* asserts that none is left */
}

static void test_others_are_themselves(void **state)
{
    (void)state;
    struct gmc_pages pages;
    gmc_pages_init(&pages);
    struct gmc_page of_a = page_of(3, 7, 1), of_b = page_of(3, 7, 2), of_c = page_of(4, 7, 1);
    const struct gmc_page *a = gmc_pages_keep(&pages, &of_a), *b = gmc_pages_keep(&pages, &of_b),
                          *c = gmc_pages_keep(&pages, &of_c);
    assert_int_equal(a->hashes[0][0], 1);
    assert_int_equal(b->hashes[0][0], 2);
    assert_int_equal(c->index, 4);
    assert_ptr_equal(gmc_pages_keep(&pages, &of_b), b);
    gmc_pages_drop(&pages, a);
    gmc_pages_drop(&pages, b);
    assert_int_equal(b->hashes[0][0], 2);
    a = gmc_pages_keep(&pages, &of_a);
    assert_int_equal(a->hashes[0][0], 1);
    assert_ptr_equal(gmc_pages_keep(&pages, &of_c), c);
    gmc_pages_drop(&pages, c);
    gmc_pages_drop(&pages, c);
    gmc_pages_drop(&pages, b);
    gmc_pages_drop(&pages, a);
    gmc_pages_fini(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_ones_are_one),
        cmocka_unit_test(test_others_are_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
