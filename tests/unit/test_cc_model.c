/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/cc_model: the law on a bottleneck in virtual time, judged by bounds over several
 * seeds. Its parts, by hand, are in test_cc_parts.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc_filter.h"
#include "core/cc_loss.h"
#include "core/cc_model.h"
#include "core/cc_round.h"
#include "sim-wan/traffic/law.h"
#include "tests/lib/ccwire.h"
#include "tests/lib/unit.h"

#define PACKETS_100MB UINT64_C(70200) /* 1500 bytes each, 46 for a block of 65536 */

static const struct ccwire_path path_100m = {.rate_bps = 100000000,
                                             .delay = GMC_MS(15),
                                             .queue_bytes = 625000};

/* ------------------------------------------------------------------ alone */

/* Mean over seeds of delivered / (rate (1-p)) / completion, in thousandths; *least if wanted. */
static unsigned use_permille(struct ccwire_path path, uint64_t packets, unsigned seeds,
                             unsigned *least)
{
    double ideal_ns =
        (double)packets * 12000 * 1e9 / ((double)path.rate_bps * (1 - path.loss_ppm / 1e6));
    double sum = 0;

    if (least != NULL)
        *least = 1000;
    for (unsigned seed = 1; seed <= seeds; seed++) {
        struct ccwire *wire = ccwire_new(&path, seed);
        gmc_time done;
        unsigned use;

        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .packets = packets});
        done = ccwire_run_flow(wire, 0, GMC_S(1000));
        use = (unsigned)(1000 * ideal_ns / (double)done);
        sum += use;
        if (least != NULL && use < *least)
            *least = use;
        ccwire_free(wire);
    }
    return (unsigned)(sum / seeds);
}

static const uint32_t losses[] = {0, 10000, 50000, 100000, 200000};

static void test_uses_the_path_at_any_loss(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct ccwire_path path = path_100m;
        unsigned least;

        path.loss_ppm = losses[i];
        assert_true(use_permille(path, PACKETS_100MB, 5, &least) >= 975); /* the start: 1.3 % */
        assert_true(least >= 955);
    }
}

static void test_uses_it_for_a_gigabyte(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i += 2) {
        struct ccwire_path path = path_100m;

        path.loss_ppm = losses[i];
        assert_true(use_permille(path, 10 * PACKETS_100MB, 1, NULL) >= (i == 0 ? 995 : 985));
    }
}

static void test_short_queue(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct ccwire_path path = path_100m;

        path.loss_ppm = losses[i];
        path.queue_bytes = 10 * 1500;
        assert_true(use_permille(path, PACKETS_100MB, 5, NULL) >= 860);
    }
}

/* Acknowledgements come no more often than each 4 ms, which is several round trips here: that of
 * what one sends far too fast all is lost has to be seen all the same, and the queue's losses are
 * not the path's. */
static void test_short_paths(void **state)
{
    static const struct {
        uint64_t rate_bps, queue_bytes;
        gmc_duration delay;
    } paths[] = {{50000000, 62500, GMC_US(500)},
                 {100000000, 62500, GMC_MS(1)},
                 {100000000, 30000, GMC_MS(1)},
                 {200000000, 30000, GMC_MS(1)},
                 {20000000, 50000, GMC_MS(1)}};

    (void)state;
    for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct ccwire_path path = {.rate_bps = paths[i].rate_bps,
                                   .delay = paths[i].delay,
                                   .queue_bytes = paths[i].queue_bytes};
        struct ccwire *wire = ccwire_new(&path, 1);
        struct ccwire_stats stats;
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
        ccwire_run_until(wire, GMC_S(10));
        ccwire_stats(wire, 0, &stats);
        double use = (double)stats.delivered * 12000 / 10 / (double)path.rate_bps;
        double dropped = (double)stats.dropped / (double)stats.sent;
        print_message("%.0f Mbit/s, %.2f ms: %.3f of it, %.4f dropped\n",
                      (double)path.rate_bps / 1e6, (double)path.delay / 1e6, use, dropped);
        assert_true(use > 0.88 && dropped < 0.03);
        ccwire_free(wire);
    }
}

/* What a late host may send at once fits into the queue. */
static void test_slack_is_of_the_queue(void **state)
{
    (void)state;
    for (int is_short = 0; is_short <= 1; is_short++) {
        struct ccwire_path path = path_100m;
        struct ccwire_flow flow = {.ops = &gmc_cc_model};
        struct ccwire_stats stats;

        if (is_short)
            path.queue_bytes = 10 * 1500;
        struct ccwire *wire = ccwire_new(&path, 1);
        int index = ccwire_add(wire, &flow);
        for (int s = 1; s <= 30; s++) {
            ccwire_run_until(wire, GMC_S(s));
            ccwire_stats(wire, index, &stats);
            assert_in_range(stats.slack, is_short ? 0 : GMC_MS(2),
                            is_short ? GMC_US(1300) : GMC_MS(10));
        }
        ccwire_free(wire);
    }
}

static void test_jitter_reordering_and_drift(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i += 2) {
        struct ccwire_path path = path_100m;

        path.loss_ppm = losses[i];
        path.jitter = GMC_MS(4);
        assert_true(use_permille(path, PACKETS_100MB, 2, NULL) >= 930);
        path.reorder = true;
        assert_true(use_permille(path, PACKETS_100MB, 2, NULL) >= 930);
        path.jitter = 0;
        path.drift_ppm = i == 0 ? 100 : -100;
        assert_true(use_permille(path, PACKETS_100MB, 2, NULL) >= 955);
    }
}

static void test_other_paths(void **state)
{
    struct ccwire_path slow = {.rate_bps = 1000000, .delay = GMC_MS(15), .queue_bytes = 6250};
    struct ccwire_path wide = {.rate_bps = 1000000000, .delay = GMC_MS(50), .queue_bytes = 6250000};
    struct ccwire_path loop = {.rate_bps = UINT64_C(10000000000),
                               .delay = GMC_US(25),
                               .queue_bytes = 2000000,
                               .jitter = GMC_US(200)};

    (void)state;
    assert_true(use_permille(slow, 3500, 3, NULL) >= 930);
    assert_true(use_permille(wide, 10 * PACKETS_100MB, 1, NULL) >= 880); /* the start: 10 RTT */
    assert_true(use_permille(loop, 10 * PACKETS_100MB, 3, NULL) >= 900);
    loop.loss_ppm = 10000;
    assert_true(use_permille(loop, 10 * PACKETS_100MB, 1, NULL) >= 900);
}

/* On a short path with large packets a round of 4 ms holds too few to be judged: it must last
 * longer, or a link that was slow once stays so. */
static void test_grows_on_a_short_path(void **state)
{
    struct ccwire_path path = {.rate_bps = 200000000, .delay = GMC_US(25), .queue_bytes = 2000000};
    struct ccwire *wire = ccwire_new(&path, 1);
    struct ccwire_stats before, after;

    (void)state;
    ccwire_add(wire,
               &(struct ccwire_flow){.ops = &gmc_cc_model, .packet_bytes = 33000, .ack_every = 8});
    ccwire_run_until(wire, GMC_S(3));
    ccwire_stats(wire, 0, &before);
    assert_in_range(before.rate_bps, 120000000, 300000000);
    path.rate_bps = UINT64_C(5000000000);
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, GMC_S(7));
    ccwire_stats(wire, 0, &after);
    assert_in_range(after.rate_bps, UINT64_C(3000000000), UINT64_C(7000000000));
    ccwire_free(wire);
}

/* ------------------------------------------------------------------ with others */

static double delivered(const struct ccwire *wire, int flow)
{
    struct ccwire_stats stats;

    ccwire_stats(wire, flow, &stats);
    return (double)stats.delivered;
}

/* Our part of the sum over a minute, in thousandths, mean of two seeds; our host is woken late by 2
 * ms once in late_every, if that is not 0. */
static unsigned share_permille(const struct gmc_cc_ops *rival, uint64_t queue_bytes,
                               gmc_duration late_every)
{
    struct ccwire_flow ours = {.ops = &gmc_cc_model,
                               .start = GMC_MS(500),
                               .late = late_every > 0 ? GMC_MS(2) : 0,
                               .late_every = late_every};
    double sum = 0;

    for (unsigned seed = 1; seed <= 2; seed++) {
        struct ccwire_path path = path_100m;
        struct ccwire *wire;

        path.queue_bytes = queue_bytes;
        wire = ccwire_new(&path, seed);
        ccwire_add(wire, &ours);
        ccwire_add_tcp(wire, rival, 0);
        ccwire_run_until(wire, GMC_S(60));
        sum += delivered(wire, 0) / (delivered(wire, 0) + delivered(wire, 1));
        ccwire_free(wire);
    }
    return (unsigned)(1000 * sum / 2);
}

static void test_shares_with_tcp(void **state)
{
    (void)state;
    assert_in_range(share_permille(&sim_law_cubic, 625000, 0), 300, 700);
    assert_in_range(share_permille(&sim_law_bbr, 625000, 0), 300, 700);
    /* The kernel's gets less of such a queue than this one: it is burstier. */
    assert_in_range(share_permille(&sim_law_cubic, 15000, 0), 300, 560);
    assert_in_range(share_permille(&sim_law_bbr, 15000, 0), 300, 700);
}

/* What a late host makes up for fills a short queue, and a window sender loses each time. */
static void test_shares_a_short_queue_though_late(void **state)
{
    (void)state;
    assert_in_range(share_permille(&sim_law_cubic, 15000, GMC_MS(20)), 300, 700);
    assert_in_range(share_permille(&sim_law_cubic, 15000, GMC_MS(100)), 300, 700);
    assert_in_range(share_permille(&sim_law_bbr, 15000, GMC_MS(20)), 300, 700);
}

/* A receiver whose host pauses finds what came meanwhile at once. That is no rate, though a queue
 * of ten packets never shows that the path is full: the first seconds would go out at a hundred
 * times of what it carries. */
static void test_believes_no_rate_that_was_not_sent(void **state)
{
    double most = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct ccwire_path path = {.rate_bps = 100000000,
                                   .delay = GMC_MS(15),
                                   .queue_bytes = 15000,
                                   .stall = GMC_MS(20),
                                   .stall_every = GMC_MS(20),
                                   .socket_bytes = 4000000};
        struct ccwire_flow flow = {.ops = &gmc_cc_model,
                                   .late = GMC_MS(1),
                                   .late_every = GMC_MS(20)};
        struct ccwire *wire = ccwire_new(&path, seed);
        double sent = 0;
        for (int i = 0; i < 2; i++, flow.start = GMC_MS(50))
            ccwire_add(wire, &flow);
        ccwire_run_until(wire, GMC_S(3));
        for (int i = 0; i < 2; i++) {
            struct ccwire_stats stats;
            ccwire_stats(wire, i, &stats);
            sent += (double)stats.sent * 12000 / 3e8;
        }
        most = sent > most ? sent : most;
        ccwire_free(wire);
    }
    print_message("sent up to %.2f times what the path carries\n", most);
    assert_true(most < 2);
}

/* Part of what both send in the six seconds behind the first half, the second begun so much later.
 */
static double lost_in_the_queue(gmc_duration later, uint64_t seed)
{
    struct ccwire_path path = {.rate_bps = 100000000, .delay = GMC_MS(15), .queue_bytes = 15000};
    struct ccwire *wire = ccwire_new(&path, seed);
    double dropped[2] = {0}, sent[2] = {0};
    for (int i = 0; i < 2; i++)
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model,
                                               .start = i == 0 ? 0 : later,
                                               .expect_bps = 1000000000});
    for (int k = 0; k < 2; k++) {
        ccwire_run_until(wire, k == 0 ? GMC_MS(500) : GMC_MS(6500));
        for (int i = 0; i < 2; i++) {
            struct ccwire_stats stats;
            ccwire_stats(wire, i, &stats);
            dropped[k] += (double)stats.dropped;
            sent[k] += (double)stats.sent;
        }
    }
    ccwire_free(wire);
    return (dropped[1] - dropped[0]) / (sent[1] - sent[0]);
}

/* In a short queue each finds the path's rate while the other is held back, or takes the losses of
 * the other's beginning for the path's: a fifth of all was lost for seconds, until small cuts had
 * brought both down. */
static void test_two_that_begin_together_come_down(void **state)
{
    double most = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        for (gmc_duration later = GMC_MS(10); later <= GMC_MS(40); later += GMC_MS(15)) {
            double lost = lost_in_the_queue(later, seed);
            most = lost > most ? lost : most;
        }
    }
    print_message("%.3f of all is lost\n", most);
    assert_true(most < 0.12);
}

/* Adds Jain's index over a minute, and the part of the path that all carried together. */
static void share_a_minute(const struct ccwire_path *path, int flows, uint64_t seed, double *jain,
                           double *used)
{
    struct ccwire *wire = ccwire_new(path, seed);
    double sum = 0, squares = 0;

    for (int i = 0; i < flows; i++)
        ccwire_add(wire,
                   &(struct ccwire_flow){.ops = &gmc_cc_model, .start = (gmc_time)i * GMC_MS(300)});
    ccwire_run_until(wire, GMC_S(60));
    for (int i = 0; i < flows; i++) {
        sum += delivered(wire, i);
        squares += delivered(wire, i) * delivered(wire, i);
    }
    ccwire_free(wire);
    *jain += sum * sum / (flows * squares);
    *used += sum * 12000 / 60 / ((double)path->rate_bps * (1 - path->loss_ppm / 1e6));
}

/* In thousandths, the mean of six seeds. What is left of a short queue is the price of leaving a
 * TCP its part. */
static unsigned jain_permille(struct ccwire_path path, int flows)
{
    double least = path.queue_bytes < 20000 ? 0.88 : 0.93, jain = 0, used = 0;

    for (uint64_t seed = 1; seed <= 6; seed++)
        share_a_minute(&path, flows, seed, &jain, &used);
    assert_true(used / 6 > least);
    return (unsigned)(1000 * jain / 6);
}

static void test_shares_with_siblings(void **state)
{
    struct ccwire_path path = path_100m;

    (void)state;
    assert_true(jain_permille(path, 2) >= 950);
    assert_true(jain_permille(path, 4) >= 950);
    path.loss_ppm = 50000;
    assert_true(jain_permille(path, 2) >= 950);
    path.loss_ppm = 0;
    path.queue_bytes = 15000;
    assert_true(jain_permille(path, 2) >= 950);
    assert_true(jain_permille(path, 4) >= 950);
}

/* ------------------------------------------------------------------ changes */

static double rate_over(struct ccwire *wire, gmc_duration span)
{
    double before = delivered(wire, 0);

    ccwire_run_until(wire, ccwire_now(wire) + span);
    return (delivered(wire, 0) - before) * 12000 / ((double)span / 1e9);
}

/* A path takes larger packets than was known when the law began. DOWN pays back the whole probe. */
static void test_packets_grow(void **state)
{
    struct ccwire *wire = ccwire_new(&path_100m, 3);

    (void)state;
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .told_bytes = 1228});
    ccwire_run_until(wire, GMC_S(1));
    assert_true(rate_over(wire, GMC_S(9)) > 0.995 * 100e6);
    ccwire_free(wire);
}

static void test_follows_the_path(void **state)
{
    struct ccwire_path path = path_100m;
    struct ccwire *wire = ccwire_new(&path, 3);
    struct ccwire_stats stats;

    (void)state;
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
    ccwire_run_until(wire, GMC_S(3));
    path.rate_bps = 50000000; /* halves */
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_S(1));
    assert_true(rate_over(wire, GMC_S(2)) > 0.97 * 50e6);
    ccwire_stats(wire, 0, &stats);
    assert_in_range(stats.rate_bps, 35000000, 63000000);
    path.rate_bps = 100000000; /* doubles */
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_S(2));
    assert_true(rate_over(wire, GMC_S(2)) > 0.97 * 100e6);
    path.delay = GMC_MS(40); /* a longer route */
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_S(8));
    assert_true(rate_over(wire, GMC_S(4)) > 0.97 * 100e6);
    path.delay = GMC_MS(15);
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_S(2));
    path.loss_ppm = 100000; /* begins to lose */
    ccwire_set_path(wire, &path);
    assert_true(rate_over(wire, GMC_S(4)) > 0.93 * 90e6);
    ccwire_stats(wire, 0, &stats);
    assert_in_range(stats.loss_ppm, 80000, 120000);
    path.loss_ppm = 0;
    ccwire_set_path(wire, &path);
    assert_true(rate_over(wire, GMC_S(4)) > 0.97 * 100e6);
    ccwire_free(wire);
}

/* Who has less to send than the path carries, as a relay, raises no delay by its probes. A route
 * that becomes longer must not look like a queue for that, by which the path's losses would be
 * doubted: the sender yields to nobody then, and goes on with a tenth. */
static void test_a_longer_route_of_a_relay(void **state)
{
    (void)state;
    for (uint64_t supply = 30; supply <= 90; supply += 20) {
        struct ccwire_path path = path_100m;
        path.loss_ppm = 200000;
        struct ccwire *wire = ccwire_new(&path, supply);
        ccwire_add(wire,
                   &(struct ccwire_flow){.ops = &gmc_cc_model, .supply_bps = supply * 1000000});
        ccwire_run_until(wire, GMC_S(4));
        path.delay += GMC_MS(6);
        ccwire_set_path(wire, &path);
        double least = (double)(supply * 1000000);
        for (int i = 0; i < 12; i++) {
            double rate = rate_over(wire, GMC_S(1)) / 0.8;
            least = rate < least ? rate : least;
        }
        assert_true(least > 0.95 * (double)(supply * 1000000));
        ccwire_free(wire);
    }
}

/* A path of few packets a round trip that begins to lose one in five: few enough are lost in a
 * round that chance alone makes the test of them look like others' doing. */
static void test_tells_new_losses_of_a_slow_path(void **state)
{
    double sum = 0, least = 1;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct ccwire_path path = path_100m;
        path.rate_bps = 8000000;
        path.queue_bytes = 50000;
        struct ccwire *wire = ccwire_new(&path, seed);
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
        ccwire_run_until(wire, GMC_S(4));
        path.loss_ppm = 200000;
        ccwire_set_path(wire, &path);
        double used = rate_over(wire, GMC_S(10)) / 6.4e6;
        sum += used;
        least = used < least ? used : least;
        ccwire_free(wire);
    }
    print_message("of a slow path that begins to lose: %.3f, least %.3f\n", sum / 40, least);
    assert_true(sum / 40 > 0.95 && least > 0.9);
}

/* Twenty times more than the estimate: found by START again, and not by probes of a quarter. */
static void test_finds_a_much_wider_path_soon(void **state)
{
    struct ccwire_path path = path_100m;
    struct ccwire *wire;

    (void)state;
    path.rate_bps = 5000000;
    path.queue_bytes = 62500;
    wire = ccwire_new(&path, 6);
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
    ccwire_run_until(wire, GMC_S(5));
    path.rate_bps = 100000000;
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_MS(1100));
    assert_true(rate_over(wire, GMC_MS(500)) > 0.9 * 100e6);
    ccwire_free(wire);
}

/* Data after seconds of a few messages: what 500 ms carry, a second later. */
static double rate_after_messages(uint32_t loss_ppm, bool beside_others)
{
    struct ccwire_path path = path_100m;
    struct ccwire *wire;
    double rate;

    path.delay = GMC_MS(30);
    path.loss_ppm = loss_ppm;
    wire = ccwire_new(&path, 6);
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model,
                                           .start = GMC_S(4),
                                           .supply_bps = 700000});
    if (beside_others) /* who fill the queue */
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_fixed});
    ccwire_run_until(wire, GMC_S(14));
    if (beside_others)
        ccwire_set_supply(wire, 1, 1000);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_S(3));
    ccwire_set_supply(wire, 0, 0);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_S(1));
    rate = rate_over(wire, GMC_MS(500));
    ccwire_free(wire);
    return rate;
}

/* They say nothing of what the path carries, whatever becomes of them. */
static void test_messages_are_no_estimate(void **state)
{
    (void)state;
    assert_true(rate_after_messages(0, false) > 0.9 * 100e6);
    assert_true(rate_after_messages(200000, false) > 0.9 * 80e6);
    assert_true(rate_after_messages(0, true) > 0.9 * 100e6);
}

/* Whoever began in the queue of others, and could not tell their losses from the path's, finds out
 * when they have gone; also with clocks that drift, as if a queue grew. */
static void test_learns_losses_when_others_go(void **state)
{
    struct ccwire_path path = path_100m;
    unsigned late = 0; /* of 15 */

    (void)state;
    path.delay = GMC_MS(30);
    path.loss_ppm = 360000;
    for (path.drift_ppm = 0; path.drift_ppm <= 100; path.drift_ppm += 50) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct ccwire *wire = ccwire_new(&path, seed);
            struct ccwire_stats stats;

            ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .start = GMC_S(4)});
            for (int i = 0; i < 2; i++)
                ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .packets = 15000});
            ccwire_run_until(wire, GMC_S(25));
            if (rate_over(wire, GMC_S(5)) < 0.95 * 64e6) {
                late++;
                assert_true(rate_over(wire, GMC_S(5)) > 0.95 * 64e6);
            }
            ccwire_stats(wire, 0, &stats);
            assert_in_range(stats.loss_ppm, 330000, 390000);
            ccwire_free(wire);
        }
    }
    assert_in_range(late, 0, 1);
}

/* Whoever came beside others and got little has all of the path soon after they have gone: of
 * twelve seeds, from 2 s after that on. */
static void test_takes_the_path_when_others_go(void **state)
{
    struct ccwire_path path = path_100m;
    double least = 1;

    (void)state;
    path.loss_ppm = 10000;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct ccwire *wire = ccwire_new(&path, seed);
        gmc_time gone = 0;

        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .start = GMC_S(4)});
        for (int i = 1; i <= 2; i++)
            ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .packets = 20000});
        for (int i = 1; i <= 2; i++)
            gone = gmc_time_max(gone, ccwire_run_flow(wire, i, GMC_S(60)));
        ccwire_run_until(wire, gone + GMC_S(2));
        double part = rate_over(wire, GMC_S(1)) / 99e6;
        least = part < least ? part : least;
        ccwire_free(wire);
    }
    print_message("2 s after others have gone: %.3f of the path at the least\n", least);
    assert_true(least > 0.9);
}

/* Whoever hardly used a path for long looks what it carries when there is more to send. */
static void test_looks_at_a_path_that_it_did_not_use(void **state)
{
    struct ccwire_path path = path_100m;
    path.rate_bps = 10000000;
    struct ccwire *wire = ccwire_new(&path, 1);

    (void)state;
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
    ccwire_run_until(wire, GMC_S(5));
    ccwire_set_supply(wire, 0, 100000);
    path = path_100m;
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, GMC_S(20));
    ccwire_set_supply(wire, 0, 0);
    ccwire_run_until(wire, GMC_S(20) + GMC_MS(500));
    double rate = rate_over(wire, GMC_MS(500));
    print_message("half a second after that: %.1f Mbit/s\n", rate / 1e6);
    assert_true(rate > 0.9 * 100e6);
    ccwire_free(wire);
}

static void test_little_to_send_lowers_nothing(void **state)
{
    struct ccwire *wire = ccwire_new(&path_100m, 4);

    (void)state;
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
    ccwire_run_until(wire, GMC_S(3));
    ccwire_set_supply(wire, 0, 5000000);
    ccwire_run_until(wire, GMC_S(33));
    ccwire_set_supply(wire, 0, 0);
    assert_true(rate_over(wire, GMC_MS(500)) > 0.85 * 100e6);
    ccwire_set_supply(wire, 0, 1); /* idle */
    ccwire_run_until(wire, GMC_S(45));
    ccwire_set_supply(wire, 0, 0);
    assert_true(rate_over(wire, GMC_MS(500)) > 0.75 * 100e6);
    assert_true(rate_over(wire, GMC_S(1)) > 0.95 * 100e6);
    ccwire_free(wire);
}

/* What comes at the path's own rate is handed on without falling behind: 6 ms in 8 s. */
static void test_relay_keeps_up(void **state)
{
    struct ccwire_path path = path_100m;
    struct ccwire_stats stats;

    (void)state;
    path.delay = GMC_MS(30);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct ccwire *wire = ccwire_new(&path, seed);

        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model,
                                               .supply_bps = path.rate_bps,
                                               .expect_bps = path.rate_bps});
        ccwire_run_until(wire, GMC_S(8) + path.delay);
        ccwire_stats(wire, 0, &stats);
        if (stats.delivered * 12000 < path.rate_bps / 1000 * 7994)
            fail_msg("seed %" PRIu64 ": %" PRIu64 " packets", seed, stats.delivered);
        ccwire_free(wire);
    }
}

static void test_slow_host_is_not_held_back(void **state)
{
    struct ccwire_path path = {.rate_bps = UINT64_C(40000000000),
                               .delay = GMC_US(25),
                               .queue_bytes = 4000000,
                               .jitter = GMC_US(100)};
    struct ccwire *wire = ccwire_new(&path, 5);

    (void)state;
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .sender_bps = 3000000000});
    ccwire_run_until(wire, GMC_MS(100));
    assert_true(rate_over(wire, GMC_MS(400)) > 0.95 * 3e9);
    ccwire_free(wire);
}

/* A late host that makes up for it has a queue which is its own: nothing yields to that. */
static void test_late_host_does_not_yield_to_itself(void **state)
{
    struct ccwire_path path = path_100m;

    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++) {
        struct ccwire *wire = ccwire_new(&path, seed);
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model,
                                               .late = GMC_MS(7),
                                               .late_every = GMC_MS(390)});
        ccwire_run_until(wire, GMC_S(2));
        assert_true(rate_over(wire, GMC_S(10)) > 0.98 * 100e6);
        ccwire_free(wire);
    }
}

static void test_comes_back_after_a_cut(void **state)
{
    struct ccwire_path path = path_100m;
    struct ccwire *wire = ccwire_new(&path, 6);

    (void)state;
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
    ccwire_run_until(wire, GMC_S(2));
    path.loss_ppm = 1000000;
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, GMC_S(4));
    path.loss_ppm = 0;
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, GMC_S(9));
    assert_true(rate_over(wire, GMC_S(1)) > 0.95 * 100e6);
    ccwire_free(wire);
}

/* ------------------------------------------------------------------ safety */

/* Whatever is reported, also what no link reports: rate and window stay sane, nothing traps. */
static void test_nonsense_does_no_harm(void **state)
{
    static const uint64_t extremes[] = {0, 1, 1000, UINT32_MAX, UINT64_MAX / 2, UINT64_MAX};
    const struct gmc_cc_ops *ops = &gmc_cc_model;
    void *model = calloc(1, ops->state_size);
    struct gmc_prng prng;

    (void)state;
    assert_non_null(model);
    gmc_prng_init(&prng, 7);
    for (int run = 0; run < 60; run++) {
        struct gmc_cc_params params = {.packet_bytes = run % 3 == 0 ? 0 : 1500,
                                       .initial_rtt = extremes[run % 4]};
        gmc_time now = 0;
        uint64_t packet = 0;

        ops->init(model, &params, &prng, now);
        for (int i = 0; i < 3000; i++) {
            struct gmc_cc_ack ack = {.now = now};

            now += gmc_prng_below(&prng, run % 2 == 0 ? GMC_MS(3) : GMC_S(3));
            ack.now = now;
            packet += 1 + gmc_prng_below(&prng, 3);
            ops->on_sent(model, now, packet, 1500, i % 7 == 0);
            if (gmc_prng_below(&prng, 4) == 0)
                ops->on_lost(model, now, packet - gmc_prng_below(&prng, 9), 1500, now);
            else
                ops->on_acked(model, now, packet, (uint32_t)gmc_prng_below(&prng, 9000), now);
            if (gmc_prng_below(&prng, 20) == 0)
                ops->on_spurious(model, now, packet, 1500);
            if (gmc_prng_below(&prng, 50) == 0)
                ops->on_timeout(model, now, (uint32_t)gmc_prng_below(&prng, 10));
            ack.largest = packet;
            ack.largest_sent = now - gmc_prng_below(&prng, now + 1);
            ack.largest_arrival_ns = i % 5 == 0 ? extremes[gmc_prng_below(&prng, 6)] : now;
            ack.rtt = gmc_prng_below(&prng, GMC_S(2));
            ack.inflight_bytes = extremes[gmc_prng_below(&prng, 6)];
            ops->on_ack(model, &ack);
            assert_in_range(ops->rate_bps(model), 64000, UINT64_C(2000000000000));
            assert_true(ops->window_bytes(model) > 0);
            assert_in_range(ops->loss_ppm(model), 0, 500000);
        }
    }
    free(model);
}

static void test_same_seed_same_story(void **state)
{
    struct ccwire_stats stats[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ccwire_path path = path_100m;
        struct ccwire *wire;

        path.loss_ppm = 50000;
        wire = ccwire_new(&path, 11);
        ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
        ccwire_run_until(wire, GMC_S(5));
        memset(&stats[i], 0, sizeof stats[i]);
        ccwire_stats(wire, 0, &stats[i]);
        ccwire_free(wire);
    }
    assert_int_equal(stats[0].sent, stats[1].sent);
    assert_int_equal(stats[0].delivered, stats[1].delivered);
    assert_int_equal(stats[0].rate_bps, stats[1].rate_bps);
}

/* Packets that the queue dropped, and what arrived in so long, in thousandths of the path. */
static unsigned begun_permille(uint64_t expect_bps, gmc_duration span, uint64_t *dropped)
{
    struct ccwire *wire = ccwire_new(&path_100m, 13);
    struct ccwire_stats stats;

    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model, .expect_bps = expect_bps});
    ccwire_run_until(wire, span);
    ccwire_stats(wire, 0, &stats);
    ccwire_free(wire);
    *dropped = stats.dropped;
    return (unsigned)(stats.delivered * 12000 * 1000 / (100000000 / 1000 * (span / 1000000)));
}

/* 15 ms of the first 100 are the way there. */
static void test_begins_at_what_is_expected(void **state)
{
    uint64_t dropped, usual;

    (void)state;
    assert_true(begun_permille(0, GMC_MS(100), &usual) < 200);
    assert_true(begun_permille(100000000, GMC_MS(100), &dropped) > 840);
    (void)begun_permille(0, GMC_S(1), &usual);
    assert_true(begun_permille(100000000, GMC_S(1), &dropped) > 970);
    assert_true(dropped < usual + 50);
}

/* The first round trip goes out too fast, and that is all. */
static void test_expects_ten_times_too_much(void **state)
{
    uint64_t dropped;

    (void)state;
    assert_true(begun_permille(1000000000, GMC_S(1), &dropped) > 900);
    assert_true(dropped < 100000000 / 12000 / 2); /* half a second of the path */
}

/* A link that carried data over a slow path, and messages since then: these are no reason to keep
 * to what it knew. */
static void test_messages_do_not_outweigh_what_is_expected(void **state)
{
    struct ccwire_path path = path_100m;

    (void)state;
    path.rate_bps = 5000000;
    struct ccwire *wire = ccwire_new(&path, 8);
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_model});
    ccwire_run_until(wire, GMC_S(4));
    ccwire_set_supply(wire, 0, 300000);
    path.rate_bps = 100000000;
    ccwire_set_path(wire, &path);
    ccwire_run_until(wire, GMC_S(8));
    ccwire_expect(wire, 0, 100000000);
    ccwire_set_supply(wire, 0, 0);
    ccwire_run_until(wire, ccwire_now(wire) + GMC_MS(50));
    assert_true(rate_over(wire, GMC_MS(200)) > 0.9 * 100e6);
    ccwire_free(wire);
}

static void test_expectations_lower_nothing(void **state)
{
    const struct gmc_cc_ops *ops = &gmc_cc_model;
    struct gmc_cc_params params = {.packet_bytes = 1500, .initial_rtt = GMC_MS(30)};
    struct gmc_prng prng;
    void *model = calloc(1, ops->state_size);
    uint64_t rate;

    (void)state;
    gmc_prng_init(&prng, 1);
    ops->init(model, &params, &prng, 0);
    ops->expect(model, 0, 100000000);
    assert_in_range(ops->rate_bps(model), 99000000, 101000000);
    rate = ops->rate_bps(model);
    ops->expect(model, 0, 10000000); /* less than it has */
    assert_true(ops->rate_bps(model) == rate);
    free(model);
}

static void test_fixed_is_fixed(void **state)
{
    struct ccwire_path path = path_100m;
    struct ccwire *wire;
    struct ccwire_stats stats;

    (void)state;
    path.loss_ppm = 100000;
    wire = ccwire_new(&path, 12);
    ccwire_add(wire, &(struct ccwire_flow){.ops = &gmc_cc_fixed});
    ccwire_run_until(wire, GMC_S(3));
    ccwire_stats(wire, 0, &stats);
    assert_int_equal(stats.rate_bps, 100000000);
    assert_true((double)stats.sent * 12000 > 0.98 * 3 * 100e6);
    assert_in_range(stats.loss_ppm, 80000, 120000);
    ccwire_free(wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uses_the_path_at_any_loss),
        cmocka_unit_test(test_uses_it_for_a_gigabyte),
        cmocka_unit_test(test_short_queue),
        cmocka_unit_test(test_short_paths),
        cmocka_unit_test(test_slack_is_of_the_queue),
        cmocka_unit_test(test_jitter_reordering_and_drift),
        cmocka_unit_test(test_other_paths),
        cmocka_unit_test(test_grows_on_a_short_path),
        cmocka_unit_test(test_shares_with_tcp),
        cmocka_unit_test(test_shares_a_short_queue_though_late),
        cmocka_unit_test(test_believes_no_rate_that_was_not_sent),
        cmocka_unit_test(test_two_that_begin_together_come_down),
        cmocka_unit_test(test_shares_with_siblings),
        cmocka_unit_test(test_packets_grow),
        cmocka_unit_test(test_follows_the_path),
        cmocka_unit_test(test_a_longer_route_of_a_relay),
        cmocka_unit_test(test_tells_new_losses_of_a_slow_path),
        cmocka_unit_test(test_finds_a_much_wider_path_soon),
        cmocka_unit_test(test_messages_are_no_estimate),
        cmocka_unit_test(test_learns_losses_when_others_go),
        cmocka_unit_test(test_takes_the_path_when_others_go),
        cmocka_unit_test(test_looks_at_a_path_that_it_did_not_use),
        cmocka_unit_test(test_little_to_send_lowers_nothing),
        cmocka_unit_test(test_relay_keeps_up),
        cmocka_unit_test(test_slow_host_is_not_held_back),
        cmocka_unit_test(test_late_host_does_not_yield_to_itself),
        cmocka_unit_test(test_comes_back_after_a_cut),
        cmocka_unit_test(test_nonsense_does_no_harm),
        cmocka_unit_test(test_same_seed_same_story),
        cmocka_unit_test(test_begins_at_what_is_expected),
        cmocka_unit_test(test_expects_ten_times_too_much),
        cmocka_unit_test(test_messages_do_not_outweigh_what_is_expected),
        cmocka_unit_test(test_expectations_lower_nothing),
        cmocka_unit_test(test_fixed_is_fixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
