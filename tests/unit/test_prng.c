/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/prng: the published sequence, forks that do not disturb each other, no
 * bias.
 */
#include "base/prng.h"

#include "tests/lib/unit.h"

/* Draws of the reference implementations (splitmix64.c, xoshiro256starstar.c at prng.di.unimi.it)
 * put together by hand, seed 0.
 */
static void the_stream_is_the_published_one(void **state)
{
    static const uint64_t expected[] = {
        UINT64_C(0x99ec5f36cb75f2b4),
        UINT64_C(0xbf6e1f784956452a),
        UINT64_C(0x1a5f849d4933e6e0),
        UINT64_C(0x6aa594f1262d2d2c),
    };
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 0);
    /* The first outputs of splitmix64 for seed 0. */
    assert_int_equal(prng.state[0], UINT64_C(0xe220a8397b1dcdaf));
    assert_int_equal(prng.state[1], UINT64_C(0x6e789e6aa1b965f4));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(gmc_prng_u64(&prng), expected[i]);
}

static void draws_do_not_move_forks(void **state)
{
    struct gmc_prng parent, early, late;

    (void)state;
    gmc_prng_init(&parent, 42);
    gmc_prng_fork(&parent, "probe", &early);
    for (int i = 0; i < 100; i++)
        gmc_prng_u64(&parent);
    gmc_prng_fork(&parent, "probe", &late);
    for (int i = 0; i < 100; i++)
        assert_int_equal(gmc_prng_u64(&early), gmc_prng_u64(&late));
}

static void forks_do_not_move_the_parent(void **state)
{
    struct gmc_prng a, b, child;

    (void)state;
    gmc_prng_init(&a, 42);
    gmc_prng_init(&b, 42);
    gmc_prng_fork(&a, "probe", &child);
    gmc_prng_fork_nth(&a, "probe", 7, &child);
    assert_int_equal(gmc_prng_u64(&a), gmc_prng_u64(&b));
}

static void forks_differ_by_seed_label_and_index(void **state)
{
    struct gmc_prng parents[2], children[7];

    (void)state;
    gmc_prng_init(&parents[0], 42);
    gmc_prng_init(&parents[1], 43);
    gmc_prng_fork(&parents[0], "probe", &children[0]);
    gmc_prng_fork(&parents[0], "repair", &children[1]);
    gmc_prng_fork(&parents[0], "", &children[2]);
    gmc_prng_fork(&parents[1], "probe", &children[3]);
    gmc_prng_fork_nth(&parents[0], "probe", 1, &children[4]);
    gmc_prng_fork_nth(&parents[0], "probe", 2, &children[5]);
    gmc_prng_fork(&children[0], "probe", &children[6]);
    for (int i = 0; i < 7; i++) {
        assert_int_not_equal(children[i].seed, parents[0].seed);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(children[i].seed, children[j].seed);
    }
}

static void below_stays_below_and_is_even(void **state)
{
    enum { BOUND = 7, DRAWS = 70000 };
    unsigned counts[BOUND] = {0};
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t draw = gmc_prng_below(&prng, BOUND);

        assert_true(draw < BOUND);
        counts[draw]++;
    }
    /* Standard deviation is 93; five of them are a chance of one in a million. */
    for (int i = 0; i < BOUND; i++)
        assert_in_range(counts[i], 10000 - 465, 10000 + 465);
    for (int i = 0; i < 100; i++)
        assert_int_equal(gmc_prng_below(&prng, 1), 0);
}

/* With a bound just above 2^63, a plain remainder would double the chance of small numbers. */
static void below_has_no_bias_at_large_bounds(void **state)
{
    const uint64_t bound = (UINT64_C(1) << 63) + (UINT64_C(1) << 62);
    unsigned low = 0;
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 2);
    for (int i = 0; i < 30000; i++)
        low += gmc_prng_below(&prng, bound) < bound / 3;
    assert_in_range(low, 10000 - 410, 10000 + 410);
    assert_true(gmc_prng_below(&prng, UINT64_MAX) < UINT64_MAX);
}

static void chance_is_in_parts_per_million(void **state)
{
    unsigned hits = 0;
    struct gmc_prng prng, same;

    (void)state;
    gmc_prng_init(&prng, 3);
    for (int i = 0; i < 100000; i++)
        hits += gmc_prng_chance_ppm(&prng, 200000);
    assert_in_range(hits, 20000 - 633, 20000 + 633);
    for (int i = 0; i < 1000; i++) {
        assert_false(gmc_prng_chance_ppm(&prng, 0));
        assert_true(gmc_prng_chance_ppm(&prng, 1000000));
        assert_true(gmc_prng_chance_ppm(&prng, UINT32_MAX));
    }
    /* One draw each, whatever the chance. */
    same = prng;
    gmc_prng_chance_ppm(&prng, 0);
    gmc_prng_chance_ppm(&same, 1000000);
    assert_int_equal(gmc_prng_u64(&prng), gmc_prng_u64(&same));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stream_is_the_published_one),
        cmocka_unit_test(draws_do_not_move_forks),
        cmocka_unit_test(forks_do_not_move_the_parent),
        cmocka_unit_test(forks_differ_by_seed_label_and_index),
        cmocka_unit_test(below_stays_below_and_is_even),
        cmocka_unit_test(below_has_no_bias_at_large_bounds),
        cmocka_unit_test(chance_is_in_parts_per_million),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
