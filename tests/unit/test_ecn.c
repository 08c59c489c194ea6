/* SPDX-License-Identifier: BSD-2-Clause */
/* ECN: what is believed and what is not, links over paths that keep, clear, force or drop marks,
 * and what the marks of a queue do to a sender. */
#include "tests/lib/unit.h"

#include "core/ecn.h"
#include "tests/lib/ccwire.h"
#include "tests/lib/linkpair.h"

#define AT(ms) (LINKPAIR_START + GMC_MS(ms))

/* ---- the machine ---- */

static uint32_t report(struct gmc_ecn *ecn, uint64_t newly, uint64_t ect0, uint64_t ect1,
                       uint64_t ce)
{
    struct gmc_ack ack = {.has_ecn = true, .ecn = {ect0, ect1, ce}};

    for (uint64_t i = 0; i < newly; i++)
        gmc_ecn_on_acked(ecn);
    return gmc_ecn_on_ack(ecn, &ack, newly);
}

static void send(struct gmc_ecn *ecn, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_true(gmc_ecn_mark(ecn, 0));
}

static void passes_the_test(void **state)
{
    (void)state;
    struct gmc_ecn ecn = {0};

    send(&ecn, GMC_ECN_TEST_PACKETS);
    assert_false(gmc_ecn_mark(&ecn, 0)); /* waits for the outcome */
    assert_int_equal(report(&ecn, 6, 4, 0, 2), 0);
    assert_int_equal(ecn.state, GMC_ECN_TESTING);
    gmc_ecn_on_lost(&ecn);
    assert_int_equal(report(&ecn, 3, 7, 0, 2), 2); /* the two of before */
    assert_int_equal(ecn.state, GMC_ECN_CAPABLE);
    send(&ecn, 100);
    assert_int_equal(report(&ecn, 50, 40, 0, 19), 17);
    /* Acknowledgements were lost: more is counted than is newly told. */
    assert_int_equal(report(&ecn, 10, 80, 0, 20), 1);
    assert_int_equal(ecn.state, GMC_ECN_CAPABLE);
    assert_true(gmc_ecn_mark(&ecn, 1));
    assert_false(gmc_ecn_mark(&ecn, 3)); /* nothing comes back any more */
    assert_int_equal(ecn.state, GMC_ECN_FAILED);
    gmc_ecn_reset(&ecn);
    assert_true(gmc_ecn_mark(&ecn, 0));
}

static void believes_no_nonsense(void **state)
{
    (void)state;
    static const struct {
        uint64_t newly, ect0, ect1, ce;
        bool absent;
    } cases[] = {
        {5, 0, 0, 0, true},  /* bleached, or a receiver that cannot tell */
        {5, 7, 0, 7, false}, /* one was bleached */
        {5, 6, 2, 7, false}, /* two were remarked */
        {5, 5, 0, 300, false}, {5, 300, 0, 7, false}, {5, 90, 0, 90, false}, /* more than sent */
        {5, 2, 0, 20, false},  {5, 20, 0, 6, false},                         /* fewer than before */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gmc_ecn ecn = {0};
        struct gmc_ack ack = {.has_ecn = !cases[i].absent,
                              .ecn = {cases[i].ect0, cases[i].ect1, cases[i].ce}};
        send(&ecn, GMC_ECN_TEST_PACKETS);
        assert_int_equal(report(&ecn, 10, 3, 0, 7), 7);
        send(&ecn, 90);
        assert_int_equal(gmc_ecn_on_ack(&ecn, &ack, cases[i].newly), 0);
        assert_int_equal(ecn.state, GMC_ECN_FAILED);
        assert_false(gmc_ecn_mark(&ecn, 0));
    }
}

static void does_not_need_what_forces_or_drops(void **state)
{
    (void)state;
    struct gmc_ecn forced = {0}, dropped = {0};

    send(&forced, GMC_ECN_TEST_PACKETS);
    assert_int_equal(report(&forced, 10, 0, 0, 10), 0);
    assert_int_equal(forced.state, GMC_ECN_FAILED);

    send(&dropped, 4);
    assert_false(gmc_ecn_mark(&dropped, 1)); /* what a timeout repeats gets through */
    send(&dropped, 6);
    for (unsigned i = 0; i < GMC_ECN_TEST_PACKETS; i++)
        gmc_ecn_on_lost(&dropped);
    assert_int_equal(dropped.state, GMC_ECN_FAILED);
}

/* ---- links ---- */

static struct linkpair_config config_of(enum linkpair_ecn ecn)
{
    struct linkpair_wire wire = {.rate_bps = 100000000,
                                 .delay = GMC_MS(15),
                                 .queue_bytes = 625000,
                                 .ecn = ecn};
    return (struct linkpair_config){.wires = {wire, wire}, .cc = &gmc_cc_model, .seed = 5};
}

/* How long 20 MB take. */
static gmc_duration time_over(enum linkpair_ecn ecn, struct gmc_link_info *info)
{
    struct linkpair_config config = config_of(ecn);
    struct linkpair *pair = linkpair_new(&config);

    assert_true(linkpair_run_up(pair, 0, AT(1000)));
    linkpair_supply(pair, 0, 15000, 1400);
    assert_true(linkpair_run_delivered(pair, 0, AT(20000)));
    gmc_duration took = linkpair_now(pair) - LINKPAIR_START;
    gmc_link_info(linkpair_link(pair, 0), info);
    linkpair_free(pair);
    return took;
}

static void paths_that_spoil_marks_do_not_hurt(void **state)
{
    (void)state;
    struct gmc_link_info info;
    gmc_duration kept = time_over(LINKPAIR_KEEPS, &info);

    assert_true(info.ecn);
    assert_int_equal(info.packets_marked, 0);
    for (int ecn = LINKPAIR_BLEACHES; ecn <= LINKPAIR_DROPS; ecn++) {
        gmc_duration took = time_over((enum linkpair_ecn)ecn, &info);
        assert_false(info.ecn);
        assert_int_equal(info.packets_marked, 0);
        assert_true(took < kept + kept / 20 + GMC_MS(100));
    }
}

/* A short conversation over a path that drops what is capable: slower, and it gets there. */
static void messages_pass_where_marks_are_dropped(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(LINKPAIR_DROPS);
    struct linkpair *pair = linkpair_new(&config);

    assert_true(linkpair_run_up(pair, 0, AT(1000)));
    for (uint64_t i = 1; i <= 20; i++) {
        assert_int_equal(linkpair_message(pair, 0, 100), GMC_OK);
        assert_true(linkpair_run_messages(pair, 1, i, linkpair_now(pair) + GMC_MS(400)));
    }
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_UP);
    linkpair_free(pair);
}

static void marks_replace_losses(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(LINKPAIR_KEEPS);
    struct linkpair *pair;
    struct gmc_link_info info;

    config.wires[0].mark_bytes = 60000; /* 4.8 ms */
    pair = linkpair_new(&config);
    linkpair_supply(pair, 0, UINT64_MAX, 1400);
    linkpair_run_until(pair, AT(20000));
    gmc_link_info(linkpair_link(pair, 0), &info);
    assert_true(info.ecn);
    assert_in_range(info.packets_marked, 10, linkpair_stats(pair, 0)->marked);
    assert_in_range(info.packets_lost, 0, 10); /* before START hears of its first marks */
    assert_true(linkpair_stats(pair, 1)->delivered * 11500 / 20 > 90000000);
    linkpair_free(pair);
}

/* Who cannot react does not claim that it can. */
static void fixed_rates_are_not_capable(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(LINKPAIR_KEEPS);
    struct linkpair *pair;

    config.cc = &gmc_cc_fixed;
    config.fixed_rate_bps = 50000000;
    pair = linkpair_new(&config);
    linkpair_supply(pair, 0, 1000, 1400);
    assert_true(linkpair_run_delivered(pair, 0, AT(5000)));
    assert_int_equal(linkpair_stats(pair, 0)->capable, 0);
    linkpair_free(pair);
}

/* ---- the law ---- */

/* Two senders over a queue that marks at 5 ms and could hold 50: they keep it short, lose
 * hardly anything, and share. */
static void marks_keep_a_shared_queue_short(void **state)
{
    (void)state;
    struct ccwire_path path = {.rate_bps = 100000000,
                               .delay = GMC_MS(15),
                               .queue_bytes = 625000,
                               .mark_bytes = 62500};
    struct ccwire *wire = ccwire_new(&path, 3);
    struct ccwire_flow flow = {.ops = &gmc_cc_model};
    struct ccwire_stats before[2], after[2];
    uint64_t got[2];

    for (int i = 0; i < 2; i++) {
        flow.start = (gmc_time)i * GMC_S(1);
        ccwire_add(wire, &flow);
    }
    ccwire_run_until(wire, GMC_S(10));
    (void)ccwire_mean_queue(wire);
    for (int i = 0; i < 2; i++)
        ccwire_stats(wire, i, &before[i]);
    ccwire_run_until(wire, GMC_S(70));
    for (int i = 0; i < 2; i++) {
        ccwire_stats(wire, i, &after[i]);
        got[i] = after[i].delivered - before[i].delivered;
        assert_true(after[i].marked > 100);
        assert_true(after[i].dropped - before[i].dropped < 1000); /* where START looked again */
    }
    assert_true(ccwire_mean_queue(wire) < GMC_MS(8));
    /* 500,000 packets fit into a minute. */
    assert_true(got[0] + got[1] > 450000);
    assert_in_range(got[0] * 1000 / (got[0] + got[1]), 350, 650);
    ccwire_free(wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_the_test),
        cmocka_unit_test(believes_no_nonsense),
        cmocka_unit_test(does_not_need_what_forces_or_drops),
        cmocka_unit_test(paths_that_spoil_marks_do_not_hurt),
        cmocka_unit_test(messages_pass_where_marks_are_dropped),
        cmocka_unit_test(marks_replace_losses),
        cmocka_unit_test(fixed_rates_are_not_capable),
        cmocka_unit_test(marks_keep_a_shared_queue_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
