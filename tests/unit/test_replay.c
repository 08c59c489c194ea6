/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay window as a table of cases: packets in order of arrival, and whether each is taken. */
#include <stdbool.h>

#include "crypto/replay.h"
#include "tests/lib/unit.h"

#define W ((uint64_t)GMC_REPLAY_WINDOW)
#define BIG (UINT64_C(1) << 62)

/* clang-format off */
static const struct {
    uint64_t number;
    bool taken;
} cases[] = {
    {0, true}, /* the first number is as good as any */
    {0, false},
    {1, true},
    {1, false},
    {9, true}, /* a gap */
    {8, true},
    {7, true},
    {7, false},
    {63, true}, /* word borders */
    {64, true},
    {65, true},
    {64, false},
    {10, true},
    {W - 1, true}, /* the window still reaches down to 0 */
    {2, true},
    {2, false},
    {W, true}, /* now down to 1 */
    {0, false},
    {1, false},
    {3, true},
    {W * 2 + 5, true}, /* a jump over the whole window */
    {W, false},
    {W + 5, false},
    {W + 6, true}, /* its lowest number; bits of the turn before are gone */
    {W + 6, false},
    {W + 7, true},
    {W * 2 + 4, true},
    {W * 2 + 5, false},
    {W * 3 + 4, true}, /* a jump by the window less one */
    {W * 2 + 5, false},
    {W * 2 + 6, true},
    {BIG, true},
    {BIG - W, false},
    {BIG - W + 1, true},
    {BIG - 1, true},
    {BIG - 1, false},
    {BIG + 1, true},
    {BIG, false},
    {UINT64_MAX, false}, /* not a packet number */
};
/* clang-format on */

static void follows_the_table(void **state)
{
    (void)state;
    struct gmc_replay replay;

    gmc_replay_init(&replay);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gmc_status want = cases[i].taken ? GMC_OK : GMC_ERR_REPLAY;
        if (gmc_replay_check(&replay, cases[i].number) != want)
            fail_msg("case %zu", i);
        gmc_replay_mark(&replay, cases[i].number);
    }
}

static void checking_changes_nothing(void **state)
{
    (void)state;
    struct gmc_replay replay;

    gmc_replay_init(&replay);
    gmc_replay_mark(&replay, 100);
    assert_ok(gmc_replay_check(&replay, W * 10));
    assert_ok(gmc_replay_check(&replay, 99));
    assert_int_equal(replay.next, 101);
    gmc_replay_mark(&replay, 100); /* a second time is nothing */
    assert_int_equal(replay.next, 101);
}

static void backwards_takes_each_once(void **state)
{
    (void)state;
    struct gmc_replay replay;

    gmc_replay_init(&replay);
    for (uint64_t n = W * 2; n > W; n--) {
        assert_ok(gmc_replay_check(&replay, n));
        gmc_replay_mark(&replay, n);
    }
    for (uint64_t n = 0; n <= W * 2; n++)
        assert_int_equal(gmc_replay_check(&replay, n), GMC_ERR_REPLAY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_table),
        cmocka_unit_test(checking_changes_nothing),
        cmocka_unit_test(backwards_takes_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
