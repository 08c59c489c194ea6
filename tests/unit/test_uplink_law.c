/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/uplink.h beside a fluid model of an uplink: a rate, and a queue that others may feed.
 */
#include "core/uplink.h"

#include "tests/lib/unit.h"

#define MBIT UINT64_C(1000000)
#define STEP GMC_MS(1)

struct model {
    struct gmc_uplink law;
    gmc_time now;
    uint64_t bps;     /* of the uplink */
    uint64_t others;  /* that rivals send, whatever happens */
    uint64_t wanted;  /* by our links, if they are not paced */
    uint64_t queue;   /* bytes */
    uint64_t carried; /* of ours, all together */
    uint32_t links;   /* acknowledgements come from them in turn */
    uint32_t turn;
    uint32_t late;     /* percent of the time, of what is paced: the host does not come to it */
    gmc_duration most; /* the longest queue since it was set to 0 */
};

static struct model make(uint64_t bps)
{
    return (struct model){.now = GMC_S(100), .bps = bps, .wanted = bps, .links = 2};
}

static void step(struct model *m, bool held)
{
    uint64_t ours = m->wanted;

    uint64_t paced = m->law.rate_bps / 100 * (100 - m->late);
    bool is_paced = m->law.rate_bps > 0 && paced < ours;

    if (is_paced)
        ours = paced;
    uint64_t comes = (ours + m->others) / 8 * STEP / GMC_S(1) + m->queue;
    uint64_t goes = m->bps / 8 * STEP / GMC_S(1);
    goes = goes < comes ? goes : comes;
    uint64_t bytes = goes * ours / (ours + m->others);

    m->queue = comes - goes;
    if (m->queue > m->bps / 8 / 10) /* 100 ms */
        m->queue = m->bps / 8 / 10;
    gmc_duration queue = gmc_duration_of_bytes(m->queue, m->bps);
    m->most = queue > m->most ? queue : m->most;
    m->carried += bytes;
    m->now += STEP;
    gmc_uplink_on_ack(&m->law, &(struct gmc_uplink_ack){.now = m->now,
                                                        .link = m->turn++ % m->links,
                                                        .bytes = bytes,
                                                        .held = held,
                                                        .late = is_paced ? STEP / 100 * m->late : 0,
                                                        .queue = queue,
                                                        .rtt = GMC_MS(20)});
}

/* The part of the uplink that was ours. */
static double run(struct model *m, unsigned ms)
{
    m->carried = 0;
    m->most = 0;
    for (unsigned i = 0; i < ms; i++)
        step(m, true);
    return (double)m->carried * 8 / ((double)m->bps * ms / 1000);
}

static void test_learns_and_leaves_nothing(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.wanted = 120 * MBIT;
    run(&m, 2000);
    assert_int_not_equal(m.law.phase, GMC_UPLINK_FREE);
    assert_true(run(&m, 20000) > 0.985);
    assert_in_range(m.most, 0, GMC_MS(15));
    assert_true(m.law.is_shared);
}

static void test_while_it_grows_nothing_is_known(void **state)
{
    struct model m = make(1000 * MBIT);

    (void)state;
    for (m.wanted = 10 * MBIT; m.wanted < 600 * MBIT; m.wanted += m.wanted / 4) {
        run(&m, 200);
        assert_int_equal(m.law.rate_bps, 0);
    }
}

/* The others have all they wanted, and are not heard of. */
static void test_one_alone_shows_nothing(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.links = 1;
    run(&m, 5000);
    assert_int_equal(m.law.rate_bps, 0);
}

/* Somebody had all there was. */
static void test_who_gets_all_shows_nothing(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.wanted = 40 * MBIT;
    for (unsigned i = 0; i < 5000; i++)
        step(&m, i % 150 != 0);
    assert_int_equal(m.law.rate_bps, 0);
}

/* A configured rate is kept to, but for a queue: sent at the rate of the wire it would stand. */
static void test_a_limit_is_kept_and_no_queue_stands(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.law.limit_bps = 100 * MBIT;
    m.wanted = 200 * MBIT;
    m.queue = 100 * MBIT / 8 / 1000 * 8;
    run(&m, 1000);
    assert_in_range(m.queue, 0, 100 * MBIT / 8 / 1000 * 3);
    assert_true(run(&m, 20000) > 0.99);
    assert_in_range(m.most, 0, GMC_MS(4));
    assert_in_range(m.law.rate_bps, 90 * MBIT, 100 * MBIT);
}

/* A queue that does not go is others': they are met at the rate that is configured. */
static void test_others_do_not_push_below_a_limit(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.law.limit_bps = 100 * MBIT;
    m.wanted = 200 * MBIT;
    m.others = 60 * MBIT;
    run(&m, 2000);
    assert_true(run(&m, 60000) > 0.55);
    assert_int_equal(m.law.rate_bps, 100 * MBIT);
}

static void test_a_low_rate_heals(void **state)
{
    struct model m = make(50 * MBIT);

    (void)state;
    m.wanted = 200 * MBIT;
    run(&m, 2000);
    m.bps = 200 * MBIT;
    run(&m, 3000);
    assert_true(run(&m, 5000) > 0.98);
}

static void test_a_high_rate_heals(void **state)
{
    struct model m = make(200 * MBIT);

    (void)state;
    m.wanted = 200 * MBIT;
    run(&m, 2000);
    m.bps = 100 * MBIT;
    run(&m, 6000);
    assert_true(run(&m, 5000) > 0.98);
    assert_in_range(m.most, 0, GMC_MS(15));
}

/* A host that comes to it for a quarter of the time never uses a low rate, and yet it is raised.
 * When the host has time again, what was learnt for want of it costs a queue, and no more. */
static void test_a_late_host_shows_a_low_rate_too(void **state)
{
    struct model m = make(200 * MBIT);

    (void)state;
    m.law.hint_bps = 50 * MBIT;
    m.wanted = 200 * MBIT;
    m.late = 75;
    run(&m, 4000);
    assert_true(run(&m, 1000) > 0.98);
    m.wanted = 400 * MBIT;
    m.late = 0;
    run(&m, 3000);
    assert_true(run(&m, 5000) > 0.98);
    assert_in_range(m.most, 0, GMC_MS(15));
    assert_in_range(m.law.rate_bps, 190 * MBIT, 210 * MBIT);
}

/* Where links get no more than what lies behind the uplink carries, it does not matter. */
static void test_paths_that_carry_less_are_left_alone(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.wanted = 60 * MBIT;
    run(&m, 3000);
    assert_true(m.law.rate_bps > 62 * MBIT && m.law.phase == GMC_UPLINK_PACED);
    assert_true(run(&m, 3000) > 0.599);
    assert_false(m.law.is_shared); /* each may have a path of its own */
}

/* It was the uplink that held them up, and now it is what lies behind. */
static void test_paths_that_become_slower_are_seen(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.wanted = 120 * MBIT;
    run(&m, 5000);
    assert_true(m.law.is_shared);
    m.wanted = 60 * MBIT;
    run(&m, 1500);
    assert_true(m.law.is_shared);
    run(&m, 3000);
    assert_false(m.law.is_shared);
}

/* The queue of others does not go when we send less: they are met link by link. */
static void test_others_end_it(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.wanted = 60 * MBIT;
    m.others = 60 * MBIT;
    run(&m, 2500);
    assert_int_equal(m.law.phase, GMC_UPLINK_FREE);
    assert_true(run(&m, 40000) > 0.48); /* half is ours */
    assert_false(m.law.is_shared);
    m.others = 0;
    run(&m, 90000);
    assert_int_not_equal(m.law.phase, GMC_UPLINK_FREE);
}

static void test_is_forgotten(void **state)
{
    struct model m = make(100 * MBIT);

    (void)state;
    m.wanted = 120 * MBIT;
    run(&m, 2000);
    m.now += GMC_S(61);
    step(&m, true);
    assert_int_equal(m.law.rate_bps, 0);
    assert_false(m.law.is_shared);
}

/* What a train showed is paced from the first packet on, and mended where it was wrong. */
static void test_a_hint_is_where_it_begins(void **state)
{
    static const uint64_t hints[] = {70 * MBIT, 98 * MBIT, 140 * MBIT};

    (void)state;
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        struct model m = make(100 * MBIT);
        m.law.hint_bps = hints[i];
        m.wanted = 110 * MBIT;
        step(&m, true);
        assert_true(m.law.rate_bps == hints[i]);
        (void)run(&m, 10000);
        assert_true(run(&m, 5000) > 0.9);
        assert_true(m.law.rate_bps == 0 || m.law.rate_bps < 125 * MBIT);
    }
    struct model told = make(100 * MBIT);
    told.law.limit_bps = 90 * MBIT;
    told.law.hint_bps = 140 * MBIT;
    step(&told, true);
    assert_true(told.law.rate_bps <= 90 * MBIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_and_leaves_nothing),
        cmocka_unit_test(test_while_it_grows_nothing_is_known),
        cmocka_unit_test(test_one_alone_shows_nothing),
        cmocka_unit_test(test_who_gets_all_shows_nothing),
        cmocka_unit_test(test_a_limit_is_kept_and_no_queue_stands),
        cmocka_unit_test(test_others_do_not_push_below_a_limit),
        cmocka_unit_test(test_a_low_rate_heals),
        cmocka_unit_test(test_a_high_rate_heals),
        cmocka_unit_test(test_a_late_host_shows_a_low_rate_too),
        cmocka_unit_test(test_paths_that_carry_less_are_left_alone),
        cmocka_unit_test(test_paths_that_become_slower_are_seen),
        cmocka_unit_test(test_others_end_it),
        cmocka_unit_test(test_is_forgotten),
        cmocka_unit_test(test_a_hint_is_where_it_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
