/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/heap: total order, removal and update anywhere, held to a plain search.
 */
#include "base/heap.h"

#include "base/prng.h"
#include "tests/lib/unit.h"

enum { NODES = 64 };

static void smallest_comes_first(void **state)
{
    struct gmc_heap_node nodes[3] = {{0}};
    struct gmc_heap heap;

    (void)state;
    gmc_heap_init(&heap);
    assert_null(gmc_heap_peek(&heap));
    assert_null(gmc_heap_pop(&heap));
    assert_ok(gmc_heap_push(&heap, &nodes[0], 30, 0));
    assert_ok(gmc_heap_push(&heap, &nodes[1], 10, 1));
    assert_ok(gmc_heap_push(&heap, &nodes[2], 20, 2));
    assert_ptr_equal(gmc_heap_peek(&heap), &nodes[1]);
    assert_ptr_equal(gmc_heap_pop(&heap), &nodes[1]);
    assert_ptr_equal(gmc_heap_pop(&heap), &nodes[2]);
    assert_ptr_equal(gmc_heap_pop(&heap), &nodes[0]);
    assert_null(gmc_heap_pop(&heap));
    gmc_heap_fini(&heap);
}

static void seq_breaks_ties(void **state)
{
    struct gmc_heap_node nodes[10] = {{0}};
    struct gmc_heap heap;

    (void)state;
    gmc_heap_init(&heap);
    for (uint64_t i = 0; i < 10; i++)
        assert_ok(gmc_heap_push(&heap, &nodes[i], UINT64_MAX, (i * 7 + 3) % 10));
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(gmc_heap_pop(&heap)->seq, i);
    gmc_heap_fini(&heap);
}

static void members_leave_and_move(void **state)
{
    struct gmc_heap_node nodes[3] = {{0}};
    struct gmc_heap heap;

    (void)state;
    gmc_heap_init(&heap);
    for (uint64_t i = 0; i < 3; i++)
        assert_ok(gmc_heap_push(&heap, &nodes[i], i, 0));
    gmc_heap_update(&heap, &nodes[0], 5, 0);
    assert_ptr_equal(gmc_heap_peek(&heap), &nodes[1]);
    gmc_heap_update(&heap, &nodes[2], 0, 0);
    assert_ptr_equal(gmc_heap_peek(&heap), &nodes[2]);
    assert_true(gmc_heap_node_is_queued(&nodes[2]));
    gmc_heap_remove(&heap, &nodes[2]);
    assert_false(gmc_heap_node_is_queued(&nodes[2]));
    gmc_heap_remove(&heap, &nodes[2]);
    assert_int_equal(heap.count, 2);
    assert_ptr_equal(gmc_heap_pop(&heap), &nodes[1]);
    /* Who left can come back. */
    assert_ok(gmc_heap_push(&heap, &nodes[2], 4, 0));
    assert_ptr_equal(gmc_heap_peek(&heap), &nodes[2]);
    gmc_heap_fini(&heap);
}

static void reserved_room_does_not_move(void **state)
{
    struct gmc_heap_node nodes[NODES] = {{0}};
    struct gmc_heap_node **array;
    struct gmc_heap heap;

    (void)state;
    gmc_heap_init(&heap);
    assert_ok(gmc_heap_reserve(&heap, NODES));
    array = heap.nodes;
    for (uint64_t i = 0; i < NODES; i++)
        assert_ok(gmc_heap_push(&heap, &nodes[i], NODES - i, 0));
    assert_ptr_equal(heap.nodes, array);
    assert_int_equal(gmc_heap_reserve(&heap, SIZE_MAX), GMC_ERR_NOMEM);
    assert_int_equal(heap.count, NODES);
    gmc_heap_fini(&heap);
}

/* The smallest queued node by looking at all of them. */
static struct gmc_heap_node *search_smallest(struct gmc_heap_node *nodes)
{
    struct gmc_heap_node *best = NULL;

    for (int i = 0; i < NODES; i++) {
        struct gmc_heap_node *n = &nodes[i];

        if (!gmc_heap_node_is_queued(n))
            continue;
        if (best == NULL || n->key < best->key || (n->key == best->key && n->seq < best->seq))
            best = n;
    }
    return best;
}

static void random_operations_agree_with_a_search(void **state)
{
    struct gmc_heap_node nodes[NODES] = {{0}};
    struct gmc_prng prng;
    struct gmc_heap heap;

    (void)state;
    gmc_prng_init(&prng, 4);
    gmc_heap_init(&heap);
    for (uint64_t step = 0; step < 20000; step++) {
        struct gmc_heap_node *node = &nodes[gmc_prng_below(&prng, NODES)];
        uint64_t key = gmc_prng_below(&prng, 32);

        if (!gmc_heap_node_is_queued(node))
            assert_ok(gmc_heap_push(&heap, node, key, step));
        else if (gmc_prng_below(&prng, 3) == 0)
            gmc_heap_remove(&heap, node);
        else
            gmc_heap_update(&heap, node, key, step);
        assert_ptr_equal(gmc_heap_peek(&heap), search_smallest(nodes));
    }
    while (heap.count > 0) {
        struct gmc_heap_node *expected = search_smallest(nodes);

        assert_ptr_equal(gmc_heap_pop(&heap), expected);
    }
    gmc_heap_fini(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_comes_first),
        cmocka_unit_test(seq_breaks_ties),
        cmocka_unit_test(members_leave_and_move),
        cmocka_unit_test(reserved_room_does_not_move),
        cmocka_unit_test(random_operations_agree_with_a_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
