/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/list: order, removal while visiting, splicing.
 */
#include "base/list.h"

#include "tests/lib/unit.h"

struct item {
    int number;
    struct gmc_list link;
};

struct fixture {
    struct gmc_list head;
    struct item items[4]; /* numbered from 0, in no list */
};

static int setup(void **state)
{
    static struct fixture fixture;

    gmc_list_init(&fixture.head);
    for (int i = 0; i < 4; i++) {
        fixture.items[i].number = i;
        gmc_list_init(&fixture.items[i].link);
    }
    *state = &fixture;
    return 0;
}

/* The numbers in the list as decimal digits, e.g. 123; checks the backward links too. */
static int digits(struct gmc_list *head)
{
    struct gmc_list *node, *previous = head;
    int result = 0;

    GMC_LIST_FOREACH(node, head)
    {
        assert_ptr_equal(node->prev, previous);
        result = result * 10 + GMC_CONTAINER_OF(node, struct item, link)->number;
        previous = node;
    }
    assert_ptr_equal(head->prev, previous);
    return result;
}

static void members_keep_their_order(void **state)
{
    struct fixture *f = *state;

    assert_true(gmc_list_is_empty(&f->head));
    assert_null(gmc_list_first(&f->head));
    assert_null(gmc_list_last(&f->head));
    gmc_list_push_back(&f->head, &f->items[2].link);
    gmc_list_push_back(&f->head, &f->items[3].link);
    gmc_list_push_front(&f->head, &f->items[1].link);
    assert_int_equal(digits(&f->head), 123);
    assert_ptr_equal(gmc_list_first(&f->head), &f->items[1].link);
    assert_ptr_equal(gmc_list_last(&f->head), &f->items[3].link);
    assert_false(gmc_list_is_empty(&f->head));
    gmc_list_remove(&f->items[2].link);
    gmc_list_insert_before(&f->items[1].link, &f->items[2].link);
    assert_int_equal(digits(&f->head), 213);
}

static void removing_twice_is_harmless(void **state)
{
    struct fixture *f = *state;

    gmc_list_push_back(&f->head, &f->items[1].link);
    gmc_list_push_back(&f->head, &f->items[2].link);
    assert_true(gmc_list_is_linked(&f->items[1].link));
    gmc_list_remove(&f->items[1].link);
    gmc_list_remove(&f->items[1].link);
    assert_false(gmc_list_is_linked(&f->items[1].link));
    assert_int_equal(digits(&f->head), 2);
}

static void visited_members_may_go(void **state)
{
    struct fixture *f = *state;
    struct gmc_list *node, *after;

    for (int i = 0; i < 4; i++)
        gmc_list_push_back(&f->head, &f->items[i].link);
    GMC_LIST_FOREACH_SAFE(node, after, &f->head)
    {
        if (GMC_CONTAINER_OF(node, struct item, link)->number % 2 == 0)
            gmc_list_remove(node);
    }
    assert_int_equal(digits(&f->head), 13);
}

static void pop_takes_the_first(void **state)
{
    struct fixture *f = *state;

    gmc_list_push_back(&f->head, &f->items[1].link);
    gmc_list_push_back(&f->head, &f->items[2].link);
    assert_ptr_equal(gmc_list_pop_front(&f->head), &f->items[1].link);
    assert_false(gmc_list_is_linked(&f->items[1].link));
    assert_ptr_equal(gmc_list_pop_front(&f->head), &f->items[2].link);
    assert_null(gmc_list_pop_front(&f->head));
}

static void append_moves_all(void **state)
{
    struct fixture *f = *state;
    struct gmc_list other;

    gmc_list_init(&other);
    gmc_list_append(&f->head, &other);
    assert_true(gmc_list_is_empty(&f->head));
    gmc_list_push_back(&other, &f->items[1].link);
    gmc_list_push_back(&other, &f->items[2].link);
    gmc_list_append(&f->head, &other);
    assert_int_equal(digits(&f->head), 12);
    assert_true(gmc_list_is_empty(&other));
    gmc_list_push_back(&other, &f->items[3].link);
    gmc_list_append(&f->head, &other);
    assert_int_equal(digits(&f->head), 123);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(members_keep_their_order, setup),
        cmocka_unit_test_setup(removing_twice_is_harmless, setup),
        cmocka_unit_test_setup(visited_members_may_go, setup),
        cmocka_unit_test_setup(pop_takes_the_first, setup),
        cmocka_unit_test_setup(append_moves_all, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
