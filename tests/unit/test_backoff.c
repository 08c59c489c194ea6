/* SPDX-License-Identifier: BSD-2-Clause */
/* The back-off of nodes: the law in integers beside the law in doubles, by quantiles. */
#include "core/backoff.h"

#include <math.h>
#include <stdlib.h>

#include "tests/lib/unit.h"

#define DRAWS 20000u

static int by_size(const void *a, const void *b)
{
    gmc_duration x = *(const gmc_duration *)a, y = *(const gmc_duration *)b;
    return x < y ? -1 : x > y;
}

/* The wait that a part u of all draws is below. */
static double law(double max, double group, double u)
{
    double l = log(group) + 1;
    return max / l * log(1 + u * (exp(l) - 1));
}

static void draws_follow_the_law(void **state)
{
    (void)state;
    static gmc_duration draws[DRAWS];
    static const uint32_t groups[] = {1, 2, 8, 100, 5000, GMC_BACKOFF_GROUP_MAX};
    static const gmc_duration longest[] = {GMC_MS(1), GMC_MS(100), GMC_S(1)};
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        for (size_t m = 0; m < sizeof(longest) / sizeof(longest[0]); m++) {
            struct gmc_prng prng;
            gmc_prng_init(&prng, g * 10 + m);
            for (size_t i = 0; i < DRAWS; i++) {
                draws[i] = gmc_backoff_draw(&prng, longest[m], groups[g]);
                assert_true(draws[i] <= longest[m]);
            }
            qsort(draws, DRAWS, sizeof(draws[0]), by_size);
            for (unsigned percent = 10; percent < 100; percent += 10) {
                double expected = law((double)longest[m], groups[g], percent / 100.0);
                double got = (double)draws[DRAWS * percent / 100];
                /* Of a quantile of so many draws the error is below 0.02 of the longest wait. */
                assert_true(fabs(got - expected) < 0.02 * (double)longest[m]);
            }
        }
    }
}

/* Each of two numbers of known logarithms: the ends of the range. */
static void one_alone_waits_as_others(void **state)
{
    (void)state;
    struct gmc_prng prng;
    gmc_duration least = GMC_S(1), most = 0;
    gmc_prng_init(&prng, 7);
    for (size_t i = 0; i < 100000; i++) {
        gmc_duration wait = gmc_backoff_draw(&prng, GMC_S(1), 1);
        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
    }
    assert_true(least < GMC_MS(1) && most > GMC_MS(999));
    assert_int_equal(gmc_backoff_draw(&prng, 0, 100), 0);
}

/* The first of many speaks long before the others: at 100 nodes that lack the same, few of the
 * draws fall into the first round trip, a quarter of the longest wait. */
static void few_are_early(void **state)
{
    (void)state;
    struct gmc_prng prng;
    size_t early = 0;
    gmc_prng_init(&prng, 8);
    for (size_t i = 0; i < 100000; i++)
        early += gmc_backoff_draw(&prng, GMC_MS(4), 100) < GMC_MS(1);
    assert_true(early < 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_the_law),
        cmocka_unit_test(one_alone_waits_as_others),
        cmocka_unit_test(few_are_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
