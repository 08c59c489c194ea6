/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/interval: ranges that overlap, touch, split, and the bound.
 */
#include "base/interval.h"

#include "base/prng.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The ranges as text, e.g. "1-3 5-9", each with its first number and the one behind its last. */
static const char *text_of(const struct gmc_interval_set *set)
{
    static char text[256];
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < gmc_interval_ranges(set); i++) {
        struct gmc_interval range = gmc_interval_range_at(set, i);

        len += (size_t)snprintf(text + len, sizeof text - len, "%s%llu-%llu", i > 0 ? " " : "",
                                (unsigned long long)range.lo, (unsigned long long)range.hi);
        assert_true(len < sizeof text);
    }
    return text;
}

/* Fill set, which is initialised, from such a text. */
static void fill(struct gmc_interval_set *set, const char *text)
{
    while (*text != '\0') {
        char *end;
        uint64_t lo = strtoull(text, &end, 10);
        uint64_t hi = strtoull(end + 1, &end, 10);

        assert_ok(gmc_interval_add(set, lo, hi));
        text = *end == ' ' ? end + 1 : end;
    }
}

struct change {
    const char *before;
    uint64_t lo, hi;
    const char *after;
};

static void check_changes(const struct change *cases, size_t count,
                          gmc_status (*change)(struct gmc_interval_set *, uint64_t, uint64_t))
{
    for (size_t i = 0; i < count; i++) {
        struct gmc_interval_set set;
        uint64_t members = 0;

        gmc_interval_init(&set, 8);
        fill(&set, cases[i].before);
        assert_string_equal(text_of(&set), cases[i].before);
        assert_ok(change(&set, cases[i].lo, cases[i].hi));
        assert_string_equal(text_of(&set), cases[i].after);
        for (size_t r = 0; r < gmc_interval_ranges(&set); r++)
            members += gmc_interval_range_at(&set, r).hi - gmc_interval_range_at(&set, r).lo;
        assert_int_equal(gmc_interval_count(&set), members);
        gmc_interval_fini(&set);
    }
}

static void added_ranges_merge(void **state)
{
    static const struct change cases[] = {
        {"", 3, 5, "3-5"},
        {"", 3, 3, ""},
        {"3-5", 4, 4, "3-5"},
        {"3-5", 0, 2, "0-2 3-5"},         /* in front */
        {"3-5", 0, 3, "0-5"},             /* touches from below */
        {"3-5", 0, 4, "0-5"},             /* overlaps from below */
        {"3-5", 3, 5, "3-5"},             /* the same */
        {"3-5", 2, 6, "2-6"},             /* covers */
        {"2-6", 3, 5, "2-6"},             /* is covered */
        {"3-5", 4, 7, "3-7"},             /* overlaps from above */
        {"3-5", 5, 7, "3-7"},             /* touches from above */
        {"3-5", 6, 7, "3-5 6-7"},         /* behind */
        {"1-2 5-6", 3, 4, "1-2 3-4 5-6"}, /* between */
        {"1-2 5-6", 2, 5, "1-6"},         /* closes a gap */
        {"1-2 5-6 8-9", 2, 8, "1-9"},     /* closes all gaps */
        {"1-2 5-6 8-9", 0, 20, "0-20"},   /* covers all */
        {"1-2 5-6 8-9", 3, 7, "1-2 3-7 8-9"},
        {"1-2 5-6 8-9", 4, 8, "1-2 4-9"},
        {"0-1", 18446744073709551614u, UINT64_MAX, "0-1 18446744073709551614-18446744073709551615"},
        {"0-1", 1, UINT64_MAX, "0-18446744073709551615"},
    };

    (void)state;
    check_changes(cases, sizeof cases / sizeof *cases, gmc_interval_add);
}

static void removed_ranges_split(void **state)
{
    static const struct change cases[] = {
        {"", 3, 5, ""},
        {"3-6", 4, 4, "3-6"},
        {"3-6", 0, 3, "3-6"}, /* in front */
        {"3-6", 6, 9, "3-6"}, /* behind */
        {"3-6", 0, 4, "4-6"}, /* the lower end */
        {"3-6", 3, 4, "4-6"},
        {"3-6", 5, 6, "3-5"}, /* the upper end */
        {"3-6", 5, 9, "3-5"},
        {"3-6", 4, 5, "3-4 5-6"}, /* the middle */
        {"3-6", 3, 6, ""},        /* the whole */
        {"3-6", 0, 9, ""},
        {"1-3 5-6 8-9", 2, 8, "1-2 8-9"}, /* across ranges */
        {"1-3 5-6 8-9", 3, 8, "1-3 8-9"},
        {"1-3 5-7 8-9", 0, 6, "6-7 8-9"},
        {"1-3 5-7 8-9", 6, 20, "1-3 5-6"},
        {"1-3 5-7 8-9", 0, UINT64_MAX, ""},
    };

    (void)state;
    check_changes(cases, sizeof cases / sizeof *cases, gmc_interval_remove);
}

static void reversed_ranges_are_invalid(void **state)
{
    struct gmc_interval_set set;

    (void)state;
    gmc_interval_init(&set, 2);
    fill(&set, "3-5");
    assert_int_equal(gmc_interval_add(&set, 2, 1), GMC_ERR_INVALID);
    assert_int_equal(gmc_interval_remove(&set, 5, 3), GMC_ERR_INVALID);
    assert_string_equal(text_of(&set), "3-5");
    gmc_interval_fini(&set);
}

static void the_bound_leaves_the_set_as_it_was(void **state)
{
    struct gmc_interval_set set;

    (void)state;
    gmc_interval_init(&set, 3);
    fill(&set, "0-10 20-30 40-50");
    assert_int_equal(gmc_interval_add(&set, 60, 70), GMC_ERR_FULL);
    assert_int_equal(gmc_interval_add(&set, 11, 12), GMC_ERR_FULL);
    assert_int_equal(gmc_interval_remove(&set, 4, 5), GMC_ERR_FULL);
    assert_string_equal(text_of(&set), "0-10 20-30 40-50");
    assert_int_equal(gmc_interval_count(&set), 30);
    /* What merges or shortens still works. */
    assert_ok(gmc_interval_add(&set, 10, 12));
    assert_ok(gmc_interval_remove(&set, 45, 60));
    assert_ok(gmc_interval_add(&set, 12, 20));
    assert_string_equal(text_of(&set), "0-30 40-45");
    assert_ok(gmc_interval_remove(&set, 4, 5));
    assert_string_equal(text_of(&set), "0-4 5-30 40-45");
    gmc_interval_fini(&set);

    gmc_interval_init(&set, 1);
    assert_ok(gmc_interval_add(&set, 5, 6));
    assert_int_equal(gmc_interval_add(&set, 7, 8), GMC_ERR_FULL);
    assert_ok(gmc_interval_add(&set, 6, 8));
    assert_string_equal(text_of(&set), "5-8");
    gmc_interval_fini(&set);
}

static void the_array_grows_to_an_odd_bound(void **state)
{
    struct gmc_interval_set set;

    (void)state;
    gmc_interval_init(&set, 13);
    for (uint64_t i = 0; i < 13; i++)
        assert_ok(gmc_interval_add(&set, 2 * i, 2 * i + 1));
    assert_int_equal(gmc_interval_ranges(&set), 13);
    assert_true(set.capacity <= 13);
    assert_int_equal(gmc_interval_add(&set, 26, 27), GMC_ERR_FULL);
    gmc_interval_clear(&set);
    assert_int_equal(gmc_interval_count(&set), 0);
    assert_int_equal(gmc_interval_ranges(&set), 0);
    assert_int_equal(set.capacity, 13);
    gmc_interval_fini(&set);
    assert_int_equal(set.capacity, 0);
}

static void members_are_found(void **state)
{
    struct gmc_interval_set set;

    (void)state;
    gmc_interval_init(&set, 4);
    assert_false(gmc_interval_contains(&set, 0));
    assert_true(gmc_interval_contains_range(&set, 4, 4));
    fill(&set, "2-4 6-9");
    assert_false(gmc_interval_contains(&set, 1));
    assert_true(gmc_interval_contains(&set, 2));
    assert_true(gmc_interval_contains(&set, 3));
    assert_false(gmc_interval_contains(&set, 4));
    assert_true(gmc_interval_contains(&set, 8));
    assert_false(gmc_interval_contains(&set, 9));
    assert_false(gmc_interval_contains(&set, UINT64_MAX));
    assert_true(gmc_interval_contains_range(&set, 2, 4));
    assert_true(gmc_interval_contains_range(&set, 7, 8));
    assert_false(gmc_interval_contains_range(&set, 2, 5));
    assert_false(gmc_interval_contains_range(&set, 1, 3));
    assert_false(gmc_interval_contains_range(&set, 3, 7));
    assert_false(gmc_interval_contains_range(&set, 10, 11));
    assert_true(gmc_interval_contains_range(&set, 5, 5));
    gmc_interval_fini(&set);
}

static void first_missing_and_present(void **state)
{
    static const struct {
        uint64_t from, limit;
        int missing, present; /* -1 if none */
    } cases[] = {
        {0, 100, 0, 2},  {1, 2, 1, -1},  {2, 100, 4, 2}, {2, 4, -1, 2}, {2, 5, 4, 2},
        {3, 100, 4, 3},  {4, 6, 4, -1},  {4, 7, 4, 6},   {6, 9, -1, 6}, {8, 100, 9, 8},
        {9, 100, 9, -1}, {5, 5, -1, -1}, {7, 3, -1, -1},
    };
    struct gmc_interval_set set;
    uint64_t out = 77;

    (void)state;
    gmc_interval_init(&set, 4);
    assert_false(gmc_interval_first_present(&set, 0, 100, &out));
    assert_false(gmc_interval_first_missing(&set, 0, 0, &out));
    assert_int_equal(out, 77);
    fill(&set, "2-4 6-9");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool found = gmc_interval_first_missing(&set, cases[i].from, cases[i].limit, &out);

        assert_int_equal(found ? (int)out : -1, cases[i].missing);
        found = gmc_interval_first_present(&set, cases[i].from, cases[i].limit, &out);
        assert_int_equal(found ? (int)out : -1, cases[i].present);
    }
    gmc_interval_fini(&set);
}

static void sets_unite_or_stay(void **state)
{
    static const char *const cases[][3] = {
        {"", "", ""},
        {"", "1-2", "1-2"},
        {"1-2", "", "1-2"},
        {"1-2 5-6", "2-5", "1-6"},
        {"1-2 5-6", "3-4 7-8", "1-2 3-4 5-6 7-8"},
        {"1-9", "2-3 4-5", "1-9"},
        {"2-3 4-5", "1-9", "1-9"},
        {"1-3 10-13", "1-5 9-10 12-20", "1-5 9-20"},
    };
    struct gmc_interval_set a, b;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gmc_interval_init(&a, 4);
        gmc_interval_init(&b, 4);
        fill(&a, cases[i][0]);
        fill(&b, cases[i][1]);
        assert_ok(gmc_interval_add_set(&a, &b));
        assert_string_equal(text_of(&a), cases[i][2]);
        assert_ok(gmc_interval_add_set(&a, &a));
        assert_string_equal(text_of(&a), cases[i][2]);
        assert_string_equal(text_of(&b), cases[i][1]);
        gmc_interval_fini(&a);
        gmc_interval_fini(&b);
    }
    gmc_interval_init(&a, 3);
    gmc_interval_init(&b, 4);
    fill(&a, "1-2 5-6");
    fill(&b, "3-4 7-8");
    assert_int_equal(gmc_interval_add_set(&a, &b), GMC_ERR_FULL);
    assert_string_equal(text_of(&a), "1-2 5-6");
    assert_int_equal(gmc_interval_count(&a), 2);
    gmc_interval_fini(&a);
    gmc_interval_fini(&b);
}

/* 20,000 packets with losses and repairs, as a receiver sees them. */
static void a_lossy_stream_fills_up(void **state)
{
    enum { PACKETS = 20000 };
    struct gmc_interval_set set;
    struct gmc_prng prng;
    uint64_t next;

    (void)state;
    gmc_prng_init(&prng, 5);
    gmc_interval_init(&set, PACKETS);
    for (uint64_t i = 0; i < PACKETS; i++) {
        if (!gmc_prng_chance_ppm(&prng, 200000))
            assert_ok(gmc_interval_add(&set, i, i + 1));
    }
    assert_in_range(gmc_interval_count(&set), PACKETS * 78 / 100, PACKETS * 82 / 100);
    while (gmc_interval_first_missing(&set, 0, PACKETS, &next))
        assert_ok(gmc_interval_add(&set, next, next + 1));
    assert_string_equal(text_of(&set), "0-20000");
    gmc_interval_fini(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_ranges_merge),
        cmocka_unit_test(removed_ranges_split),
        cmocka_unit_test(reversed_ranges_are_invalid),
        cmocka_unit_test(the_bound_leaves_the_set_as_it_was),
        cmocka_unit_test(the_array_grows_to_an_odd_bound),
        cmocka_unit_test(members_are_found),
        cmocka_unit_test(first_missing_and_present),
        cmocka_unit_test(sets_unite_or_stay),
        cmocka_unit_test(a_lossy_stream_fills_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
