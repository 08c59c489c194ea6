/* SPDX-License-Identifier: BSD-2-Clause */
/* The rate of a group over a path of which it is known what it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/group_rate.h"

#define MBIT UINT64_C(1000000)
#define ROUND GMC_MS(100)

/* A port that lets so much through, and a cable that loses so much of that. */
struct path {
    uint64_t port_bps, source_bps;
    uint32_t loss_ppm;
};

static struct gmc_group_rate rate;
static gmc_time now;
static uint64_t sent, arrived; /* bits of the last rounds, in units of a round */

static void go(const struct path *path, int rounds)
{
    sent = arrived = 0;
    for (int i = 0; i < rounds; i++) {
        uint64_t bps = rate.bps < path->source_bps ? rate.bps : path->source_bps;
        uint64_t through = bps < path->port_bps ? bps : path->port_bps;
        uint64_t left = through * (1000000 - path->loss_ppm) / 1000000;
        sent += bps;
        arrived += left;
        now = gmc_time_add(now, ROUND);
        gmc_group_rate_round(&rate, now, bps, (uint32_t)((bps - left) * 1000000 / bps));
    }
}

static void begin(void)
{
    now = GMC_S(1);
    gmc_group_rate_init(&rate, 1000 * MBIT);
}

/* Nothing is tried where there is nothing to gain. */
static void test_wide_ports(void **state)
{
    (void)state;
    begin();
    go(&(struct path){2000 * MBIT, 1000 * MBIT, 10000}, 100);
    assert_int_equal(sent, 100 * 1000 * MBIT);
}

/* A bad cable: one trial, and the rate is what it was. */
static void test_bad_cable(void **state)
{
    static const uint32_t losses[] = {50000, 200000, 500000, 900000};
    (void)state;
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        begin();
        go(&(struct path){2000 * MBIT, 1000 * MBIT, losses[i]}, 100);
        assert_int_equal(rate.bps, 1000 * MBIT);
        assert_int_equal(rate.usual_loss, losses[i]);
        assert_true(sent >= 99 * 1000 * MBIT);
        assert_false(rate.is_useless);
    }
}

/* Narrow ports, some with a bad cable: what arrives is nearly all that can, and little more is
 * sent. */
static void test_narrow_ports(void **state)
{
    static const struct path paths[] = {
        {900 * MBIT, 1000 * MBIT, 0},     {500 * MBIT, 1000 * MBIT, 0},
        {100 * MBIT, 1000 * MBIT, 0},     {10 * MBIT, 1000 * MBIT, 0},
        {500 * MBIT, 1000 * MBIT, 20000}, {500 * MBIT, 1000 * MBIT, 100000},
        {200 * MBIT, 400 * MBIT, 0}, /* the source cannot send as fast as it may */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        uint64_t most = 200 * (paths[i].port_bps / MBIT) * (1000000 - paths[i].loss_ppm);
        begin();
        go(&paths[i], 30);
        go(&paths[i], 200);
        print_message("port %llu Mbit/s, loss %u ppm: %.3f of what can arrive, %.3f sent for it\n",
                      (unsigned long long)(paths[i].port_bps / MBIT), paths[i].loss_ppm,
                      (double)arrived / (double)most, (double)sent / (double)arrived);
        assert_true((double)arrived > 0.9 * (double)most);
        assert_true((double)sent * (1 - paths[i].loss_ppm / 1e6) < 1.1 * (double)arrived);
    }
}

/* Radio links: rates below a million are counted as exactly as others. */
static void test_slow_network(void **state)
{
    const struct path path = {600000, MBIT, 0};
    (void)state;
    begin();
    gmc_group_rate_init(&rate, 900000);
    go(&path, 30);
    print_message("%.3f of what can arrive\n", (double)arrived / (30.0 * (double)path.port_bps));
    assert_true(arrived > 30 * path.port_bps / 10 * 9);
}

/* A port that was narrow for a while: the rate comes back within seconds. */
static void test_comes_back(void **state)
{
    (void)state;
    begin();
    go(&(struct path){50 * MBIT, 1000 * MBIT, 0}, 10);
    assert_true(rate.bps < 60 * MBIT);
    go(&(struct path){2000 * MBIT, 1000 * MBIT, 0}, 40);
    assert_int_equal(rate.bps, 1000 * MBIT);
}

/* A wire that is down for a moment loses all, and the cable some: back within two seconds. */
static void test_down_for_a_moment(void **state)
{
    (void)state;
    for (uint32_t loss_ppm = 0; loss_ppm <= 100000; loss_ppm += 50000) {
        begin();
        go(&(struct path){2000 * MBIT, 1000 * MBIT, loss_ppm}, 10);
        go(&(struct path){2000 * MBIT, 1000 * MBIT, 1000000}, 1);
        go(&(struct path){2000 * MBIT, 1000 * MBIT, loss_ppm}, 20);
        assert_int_equal(rate.bps, 1000 * MBIT);
    }
}

/* However often the network turned out to be full, more is tried every 10 s. */
static void test_looks_for_more(void **state)
{
    const struct path path = {500 * MBIT, 1000 * MBIT, 0};
    gmc_duration longest = 0;
    gmc_time last;
    (void)state;
    begin();
    go(&path, 30);
    last = now;
    for (int i = 0; i < 3000; i++) {
        go(&path, 1);
        if (rate.trial != GMC_GROUP_RAISED)
            continue;
        if (gmc_time_sub(now, last) > longest)
            longest = gmc_time_sub(now, last);
        last = now;
    }
    assert_in_range(longest / GMC_MS(1), 10000, 10500);
}

/* All is lost: no rate is too low to end, and none too high to come back from. */
static void test_all_is_lost(void **state)
{
    (void)state;
    begin();
    go(&(struct path){2000 * MBIT, 1000 * MBIT, 1000000}, 100);
    assert_true(rate.bps > 0 && rate.is_useless);
    go(&(struct path){2000 * MBIT, 1000 * MBIT, 0}, 200);
    assert_int_equal(rate.bps, 1000 * MBIT);
}

static void test_samples(void **state)
{
    (void)state;
    begin();
    assert_int_equal(gmc_group_rate_sample(&rate, 1500), 1000);
    gmc_group_rate_init(&rate, 60 * MBIT);
    assert_int_equal(gmc_group_rate_sample(&rate, 1500), 500);
    gmc_group_rate_init(&rate, 1000);
    assert_int_equal(gmc_group_rate_sample(&rate, 1500), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_ports),     cmocka_unit_test(test_bad_cable),
        cmocka_unit_test(test_narrow_ports),   cmocka_unit_test(test_slow_network),
        cmocka_unit_test(test_comes_back),     cmocka_unit_test(test_down_for_a_moment),
        cmocka_unit_test(test_looks_for_more), cmocka_unit_test(test_all_is_lost),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
