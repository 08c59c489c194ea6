/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/place: schedules as trees over given members, and which is chosen. */
#include <string.h>

#include "interconnect/place.h"
#include "tests/lib/unit.h"

#define MEMBERS_MAX 64

static char error[IC_ERROR_MAX];

static struct ic_network network_of(const char *text)
{
    struct ic_network network;
    assert_ok(ic_network_parse(text, &network, error));
    return network;
}

/* Everybody's way leads to the root. */
static void expect_tree(const uint32_t *parent, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        size_t steps = 0;
        for (uint32_t at = (uint32_t)i; at != 0; at = parent[at])
            assert_true(parent[at] < count && ++steps < count);
    }
}

static void star_schedules_are_trees(void **state)
{
    static const struct {
        const char *algorithm;
        uint32_t parent[9];
    } cases[] = {
        {"separate", {0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {"serial", {0, 0, 1, 2, 3, 4, 5, 6, 7}},
        {"binary", {0, 0, 0, 1, 1, 2, 2, 3, 3}},
        {"binomial", {0, 0, 0, 1, 0, 1, 2, 3, 0}},
    };
    struct ic_network star = network_of("star:9");
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t parent[9] = {0};
        const char *chosen = NULL;
        assert_ok(ic_place(&star, cases[i].algorithm, NULL, 9, 1000, parent, &chosen, error));
        assert_memory_equal(parent, cases[i].parent, sizeof(parent));
        assert_string_equal(chosen, cases[i].algorithm);
    }
}

/* The worked example of the source: root (2,2) and nine others on 4x4, here in another order. */
static void torus_schedules_are_trees(void **state)
{
    static const char *const nodes[] = {"2,2", "4,4", "1,1", "2,4", "3,3",
                                        "4,1", "1,3", "3,1", "1,2", "4,2"};
    /* S-torus: 22>24>31>33>44>41>42>13>11>12 */
    static const uint32_t chain[] = {0, 4, 6, 0, 7, 1, 9, 3, 2, 5};
    struct ic_network torus = network_of("torus:4x4");
    uint32_t at[10], parent[10] = {0};
    const char *chosen = NULL;
    (void)state;
    for (size_t i = 0; i < 10; i++)
        assert_ok(ic_place_node(&torus, nodes[i], &at[i], error));
    assert_ok(ic_place(&torus, "S-torus", at, 10, 1000, parent, &chosen, error));
    assert_memory_equal(parent, chain, sizeof(parent));
    /* U-torus: the root sends to 42, 33, 31 and 24. */
    assert_ok(ic_place(&torus, "U-torus", at, 10, 1000, parent, &chosen, error));
    assert_true(parent[9] == 0 && parent[4] == 0 && parent[7] == 0 && parent[3] == 0);
    assert_int_equal(parent[8], 9); /* 42>12 */
    assert_int_equal(parent[5], 4); /* 33>41 */
    static const char *const all[] = {"separate", "U-torus", "S-torus", "Md-torus", "Mu-torus"};
    for (size_t i = 0; i < 5; i++) {
        assert_ok(ic_place(&torus, all[i], at, 10, 1000, parent, &chosen, error));
        expect_tree(parent, 10);
    }
}

/* Small messages pay for each step, large ones for each copy that a member sends. */
static void the_length_decides(void **state)
{
    uint32_t parent[MEMBERS_MAX], at[MEMBERS_MAX];
    const char *chosen = NULL;
    struct ic_network star = network_of("star:16"), torus = network_of("torus:4x4");
    (void)state;
    assert_ok(ic_place(&star, NULL, NULL, 16, 2, parent, &chosen, error));
    assert_string_equal(chosen, "binary");
    assert_ok(ic_place(&star, NULL, NULL, 16, 100000000, parent, &chosen, error));
    assert_string_equal(chosen, "serial");
    for (uint32_t i = 0; i < 16; i++)
        at[i] = i;
    assert_ok(ic_place(&torus, NULL, at, 16, 2, parent, &chosen, error));
    assert_string_equal(chosen, "separate");
    assert_ok(ic_place(&torus, NULL, at, 16, 100000000, parent, &chosen, error));
    assert_string_equal(chosen, "S-torus");
    expect_tree(parent, 16);
    assert_ok(ic_place(&torus, NULL, at, 16, UINT64_MAX, parent, &chosen, error));
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"2", "'2' is no node of this torus; it takes 2 numbers, such as 2,1"},
        {"2,", "'2,' is no node of this torus; it takes 2 numbers, such as 2,1"},
        {"1,2,3", "'1,2,3' is no node of this torus; it takes 2 numbers, such as 2,1"},
        {"1, 2", "'1, 2' is no node of this torus; it takes 2 numbers, such as 2,1"},
        {"", "'' is no node of this torus; it takes 2 numbers, such as 2,1"},
    };
    struct ic_network torus = network_of("torus:4x4"), star = network_of("star:4");
    uint32_t node, parent[5], at[] = {3, 7, 3};
    const char *chosen = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ic_place_node(&torus, cases[i].text, &node, error), GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
    assert_int_equal(ic_place_node(&torus, "5,1", &node, error), GMC_ERR_INVALID);
    assert_int_equal(ic_place_node(&torus, "99999999999999999999,1", &node, error),
                     GMC_ERR_INVALID);
    assert_int_equal(ic_place_node(&star, "1", &node, error), GMC_ERR_INVALID);
    assert_int_equal(ic_place(&torus, NULL, at, 3, 1, parent, &chosen, error), GMC_ERR_INVALID);
    assert_int_equal(ic_place(&star, "serial", NULL, 5, 1, parent, &chosen, error),
                     GMC_ERR_INVALID);
    assert_int_equal(ic_place(&star, "serial", NULL, 1, 1, parent, &chosen, error),
                     GMC_ERR_INVALID);
    assert_int_equal(ic_place(&star, "U-torus", NULL, 3, 1, parent, &chosen, error),
                     GMC_ERR_INVALID);
    assert_string_equal(error, "'U-torus' is no algorithm of this network");
    assert_true(ic_place_has(&torus, "U-torus") && !ic_place_has(&torus, "serial"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(star_schedules_are_trees),
        cmocka_unit_test(torus_schedules_are_trees),
        cmocka_unit_test(the_length_decides),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
