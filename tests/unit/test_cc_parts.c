/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests the parts of core/cc_model by hand: filter, base loss, rounds, and what single rounds and
 * acknowledgements make of the state. */
#include <stdlib.h>

#include "core/cc_filter.h"
#include "core/cc_loss.h"
#include "core/cc_model.h"
#include "core/cc_round.h"
#include "tests/lib/unit.h"

static void test_isqrt_is_exact(void **state)
{
    (void)state;
    for (uint64_t root = 0; root < 5000; root++) {
        assert_int_equal(gmc_cc_isqrt(root * root), root);
        if (root > 0)
            assert_int_equal(gmc_cc_isqrt(root * root - 1), root - 1);
    }
    assert_int_equal(gmc_cc_isqrt(UINT64_MAX), UINT32_MAX);
}

static void test_minimum_is_windowed(void **state)
{
    struct gmc_cc_min min;

    (void)state;
    gmc_cc_min_init(&min, GMC_S(10));
    assert_int_equal(gmc_cc_min_add(&min, 0, 50), 50);
    assert_int_equal(gmc_cc_min_add(&min, GMC_S(1), -7), -7);
    for (uint64_t s = 2; s <= 10; s++)
        assert_int_equal(gmc_cc_min_add(&min, GMC_S(s), 40), -7);
    assert_int_equal(gmc_cc_min_add(&min, GMC_S(12), 45), 40);
    assert_int_equal(gmc_cc_min_add(&min, GMC_S(13), 39), 39);
    gmc_cc_min_reset(&min);
    assert_int_equal(gmc_cc_min_add(&min, GMC_S(14), 99), 99);
}

static void test_minimum_against_brute_force(void **state)
{
    struct gmc_prng prng;
    struct gmc_cc_min min;
    int64_t values[4000];

    (void)state;
    gmc_prng_init(&prng, 5);
    gmc_cc_min_init(&min, GMC_MS(200));
    for (int i = 0; i < 4000; i++) {
        int64_t got, whole = INT64_MAX, last_quarter = INT64_MAX;

        values[i] = (int64_t)gmc_prng_below(&prng, 1000) + i;
        got = gmc_cc_min_add(&min, GMC_MS(i), values[i]);
        for (int k = i > 200 ? i - 200 : 0; k <= i; k++) {
            whole = values[k] < whole ? values[k] : whole;
            if (k >= i - 50)
                last_quarter = values[k] < last_quarter ? values[k] : last_quarter;
        }
        assert_true(got >= whole && got <= last_quarter);
    }
}

static void test_base_loss_is_told_from_more(void **state)
{
    struct gmc_cc_loss base;

    (void)state;
    gmc_cc_loss_init(&base);
    assert_int_equal(gmc_cc_loss_ppm(&base), 0);
    assert_false(gmc_cc_loss_is_excess(&base, 0, 0));
    gmc_cc_loss_learn(&base, 4000, 400);
    assert_int_equal(gmc_cc_loss_ppm(&base), 100000);
    /* 1000 packets: mean 100, sigma 9.49; allowed 100 + 28.5 + 10 + 2 */
    assert_int_equal(gmc_cc_loss_allow_milli(&base, 1000), 100000 + 3 * 9486);
    assert_false(gmc_cc_loss_is_excess(&base, 1000, 140));
    assert_true(gmc_cc_loss_is_excess(&base, 1000, 141));
    assert_false(gmc_cc_loss_is_below(&base, 1000, 72, 3));
    assert_true(gmc_cc_loss_is_below(&base, 1000, 71, 3));
    gmc_cc_loss_learn_clipped(&base, 1000, 1000);
    assert_in_range(gmc_cc_loss_ppm(&base), 100000, 110000);
    for (int i = 0; i < 100; i++)
        gmc_cc_loss_learn(&base, 1000, 10);
    assert_in_range(gmc_cc_loss_ppm(&base), 9700, 10200);
    gmc_cc_loss_set(&base, 100, 100);
    assert_in_range(gmc_cc_loss_ppm(&base), 0, 500000);
    gmc_cc_loss_learn(&base, UINT32_MAX, UINT32_MAX);
    assert_in_range(gmc_cc_loss_ppm(&base), 0, 500000);
    assert_true(gmc_cc_loss_allow_milli(&base, UINT64_MAX / 100000) > 0);
}

static void test_round_counts_by_number(void **state)
{
    struct gmc_cc_rounds rounds;
    struct gmc_cc_round round;

    (void)state;
    gmc_cc_rounds_init(&rounds);
    assert_null(gmc_cc_rounds_current(&rounds));
    gmc_cc_rounds_sent(&rounds, 1, 1500); /* before the first: nobody's */
    gmc_cc_rounds_open(&rounds, 1, 0, 1000);
    for (uint64_t i = 10; i < 20; i++)
        gmc_cc_rounds_sent(&rounds, i, 1500);
    gmc_cc_rounds_open(&rounds, 2, 0, 1000);
    gmc_cc_rounds_sent(&rounds, 20, 1500);
    for (uint64_t i = 10; i < 19; i++)
        gmc_cc_rounds_decided(&rounds, i, 1500, i % 3 == 0);
    struct gmc_cc_ack ack = {.largest = 14,
                             .largest_sent = GMC_MS(1),
                             .largest_arrival_ns = GMC_MS(100)};
    gmc_cc_rounds_ack(&rounds, &ack, GMC_US(300));
    ack = (struct gmc_cc_ack){.largest = 18,
                              .largest_sent = GMC_MS(2),
                              .largest_arrival_ns = GMC_MS(101),
                              .ce = 2};
    gmc_cc_rounds_ack(&rounds, &ack, GMC_US(100));
    assert_false(gmc_cc_rounds_next(&rounds, GMC_MS(5), 0, 20, &round));
    assert_true(gmc_cc_rounds_spurious(&rounds, 12));
    gmc_cc_rounds_decided(&rounds, 19, 1500, false);
    assert_false(gmc_cc_rounds_next(&rounds, GMC_MS(5), GMC_MS(2), 20, &round)); /* held */
    assert_true(gmc_cc_rounds_next(&rounds, GMC_MS(7), GMC_MS(2), 20, &round));
    assert_int_equal(round.phase, 1);
    assert_int_equal(round.sent, 10);
    assert_int_equal(round.sent_bytes, 15000);
    assert_int_equal(round.decided, 10);
    assert_int_equal(round.lost, 2);
    assert_int_equal(round.acks, 2);
    assert_int_equal(round.queue_min, GMC_US(100));
    assert_int_equal(round.queue_max, GMC_US(300));
    assert_false(gmc_cc_rounds_next(&rounds, GMC_MS(9), 0, 20, &round)); /* not closed */
    for (uint64_t i = 0; i < 100; i++) { /* never decided: the oldest make room */
        gmc_cc_rounds_open(&rounds, 3, 0, 1000);
        gmc_cc_rounds_sent(&rounds, 100 + i, 1500);
    }
    assert_int_equal(gmc_cc_rounds_current(&rounds)->first, 199);
    assert_false(gmc_cc_rounds_spurious(&rounds, 10));
    assert_int_equal(gmc_cc_rate_bps(1500, GMC_US(120)), 100000000);
    assert_int_equal(gmc_cc_rate_bps(1500, 0), 0);
    assert_in_range(gmc_cc_rate_bps(UINT64_C(1) << 40, GMC_S(1)), UINT64_C(1) << 42,
                    UINT64_C(1) << 44);
}

/* Each waits for late packets from when it is decided, and not from when the one before is out:
 * rounds may be shorter than that wait. */
static void test_rounds_wait_side_by_side(void **state)
{
    struct gmc_cc_rounds rounds;
    struct gmc_cc_round round;
    uint64_t packet = 0;
    unsigned out = 0;

    (void)state;
    gmc_cc_rounds_init(&rounds);
    for (gmc_time now = 0; now < GMC_MS(400); now += GMC_MS(4)) {
        gmc_cc_rounds_open(&rounds, 1, 0, 1000);
        gmc_cc_rounds_sent(&rounds, ++packet, 1500);
        gmc_cc_rounds_decided(&rounds, packet, 1500, false);
        while (gmc_cc_rounds_next(&rounds, now, GMC_MS(6), packet, &round))
            out++;
    }
    assert_in_range(out, 95, 100);
}

/* ------------------------------------------------------------------ the model, by hand */

/* Rounds of few packets: one of the first four is lost, so base loss is believed to be a quarter,
 * and then all arrive. What arrived over what is left of it would be more than was sent. */
static void test_few_packets_make_no_rate(void **state)
{
    struct gmc_cc_params params = {.packet_bytes = 1500, .initial_rtt = GMC_MS(30)};
    struct gmc_cc_round round = {.acks = 2, .decided = 2, .rate_bps = 100000000, .windowed = true};
    struct gmc_prng prng;
    struct gmc_ccm model;

    (void)state;
    gmc_prng_init(&prng, 1);
    gmc_cc_model.init(&model, &params, &prng, 0);
    gmc_cc_loss_set(&model.base, 4, 1);
    for (int i = 0; i < 40 && model.phase == START; i++) {
        model.rounds.total.packets += round.decided;
        round.to.packets = round.from.packets + round.decided;
        round.to.bytes = round.from.bytes + round.decided * UINT64_C(1500);
        round.to.arrival_ns = round.from.arrival_ns + round.decided * GMC_US(120);
        gmc_ccm_judge_start(&model, GMC_MS(15), &round);
        round.from = round.to;
    }
    assert_int_equal(model.phase, DRAIN);
    assert_in_range(model.bw_bps, 99000000, 100000000);
}

/* Silence lowered the rate to a packet in many milliseconds: rounds of so few show no growth, and
 * START goes on until enough of them have been seen. */
static void test_start_at_a_low_rate(void **state)
{
    struct gmc_cc_params params = {.packet_bytes = 1500, .initial_rtt = GMC_MS(80)};
    struct gmc_cc_round round = {.acks = 4, .decided = 4, .rate_bps = 1000000, .windowed = true};
    struct gmc_prng prng;
    struct gmc_ccm model;
    unsigned rounds = 0;

    (void)state;
    gmc_prng_init(&prng, 1);
    gmc_cc_model.init(&model, &params, &prng, 0);
    for (; rounds < 100 && model.phase == START; rounds++) {
        model.rounds.total.packets += round.decided;
        round.to.packets = round.from.packets + round.decided;
        round.to.bytes = round.from.bytes + round.decided * UINT64_C(1500);
        round.to.arrival_ns = round.from.arrival_ns + GMC_MS(40);
        gmc_ccm_judge_start(&model, GMC_MS(40), &round);
        round.from = round.to;
    }
    assert_in_range(rounds, 16, 20); /* 64 packets */
}

static struct gmc_ccm new_model(void)
{
    struct gmc_cc_params params = {.packet_bytes = 1500, .initial_rtt = GMC_MS(30)};
    struct gmc_prng prng;
    struct gmc_ccm model;

    gmc_prng_init(&prng, 1);
    gmc_cc_model.init(&model, &params, &prng, 0);
    return model;
}

/* Of a path that carries what is sent, in 30 ms. */
static struct gmc_cc_round full_round(const struct gmc_ccm *model, enum gmc_ccm_phase phase,
                                      uint32_t packets, uint64_t rate_bps)
{
    return (struct gmc_cc_round){.phase = phase,
                                 .epoch = model->epoch,
                                 .acks = 8,
                                 .decided = packets,
                                 .rate_bps = rate_bps,
                                 .to = {.packets = packets,
                                        .bytes = packets * UINT64_C(1500),
                                        .sent = GMC_MS(30),
                                        .arrival_ns = GMC_MS(30)}};
}

static struct gmc_ccm started_again(uint64_t cruise_lost)
{
    struct gmc_ccm model = new_model();

    model.start_again = true;
    model.cruise = (struct gmc_ccm_count){80, cruise_lost};
    gmc_ccm_cruise_for(&model, 0, 0);
    gmc_cc_model.on_sent(&model, GMC_MS(40), 0, 1500, false);
    assert_int_equal(model.phase, START);
    return model;
}

/* START ended at losses of the path, and its cruise lost a fifth as well. */
static void test_start_again_knows_what_cruises_lost(void **state)
{
    struct gmc_ccm model = started_again(16);

    (void)state;
    assert_int_equal(gmc_cc_loss_ppm(&model.base), 125000); /* clipped to what is no excess */
    assert_false(gmc_cc_loss_is_excess(&model.base, 20, 7));
}

/* It ended in the short queue of others, who make a cruise lose less. */
static void test_start_again_takes_no_rival_for_the_path(void **state)
{
    struct gmc_ccm model = started_again(4);

    (void)state;
    assert_int_equal(gmc_cc_loss_ppm(&model.base), 0);
}

/* A relay has too little to fill a probe, but the queue that it made lost nothing: half as long a
 * one is not full, and what is lost beside it is the path's. */
static void test_queue_of_a_relay_that_loses_nothing_is_not_full(void **state)
{
    struct gmc_ccm model = new_model();
    struct gmc_cc_round round = full_round(&model, UP, 250, 125000000);
    round.queue_min = GMC_US(500);
    round.queue_max = GMC_MS(4);

    (void)state;
    model.bw_bps = 100000000;
    gmc_ccm_judge(&model, GMC_MS(60), &round);
    round.phase = CRUISE;
    round.rate_bps = 100000000;
    round.lost = 50;
    round.queue_min = round.queue_max = GMC_MS(1);
    model.base = (struct gmc_cc_loss){.decided = 8000, .lost = 1200};
    for (int i = 0; i < 40; i++)
        gmc_ccm_judge(&model, GMC_MS(100 + 30 * i), &round);
    assert_true(gmc_cc_loss_ppm(&model.base) > 180000);
}

/* Full packets take longer on each of two wires than the small one of which the least delay is, and
 * probes that turns keep short make no queue to compare with. Whether that is nothing, the longest
 * queue of late tells. */
static void test_length_of_packets_is_no_queue(void **state)
{
    static const gmc_duration rooms[] = {GMC_MS(20), GMC_US(300)};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct gmc_ccm model = new_model();
        struct gmc_cc_round round = full_round(&model, CRUISE, 130, 52000000);
        round.lost = 26;
        round.queue_min = round.queue_max = GMC_US(240);
        model.bw_bps = 52000000;
        model.base = (struct gmc_cc_loss){.decided = 8000, .lost = 1600};
        (void)gmc_cc_min_add(&model.room, 0, -(int64_t)rooms[i]);
        for (int k = 1; k <= 140; k++)
            gmc_ccm_judge(&model, GMC_MS(30 * k), &round);
        assert_true((gmc_cc_loss_ppm(&model.base) > 190000) == (i == 0));
    }
}

/* A link that carried little yet, and has enough to send while others' queue stands: once that has
 * gone it looks for its rate, unless probes have found some of it meanwhile. */
static void test_unproven_waits_for_others_to_go(void **state)
{
    struct gmc_ccm model = new_model();
    struct gmc_cc_round round = full_round(&model, CRUISE, 40, 16000000);
    round.queue_min = GMC_MS(40);
    round.queue_max = GMC_MS(50);

    (void)state;
    model.unproven = true;
    model.bw_bps = 8000000;
    gmc_ccm_judge(&model, GMC_MS(60), &round);
    assert_true(model.unproven);
    assert_false(model.start_again);
    struct gmc_ccm later = model;
    round.queue_min = round.queue_max = 0;
    gmc_ccm_judge(&later, GMC_MS(120), &round);
    assert_true(later.start_again);
    assert_false(later.unproven);
    model.bw_bps = 80000000;
    round.queue_min = round.queue_max = GMC_MS(40);
    gmc_ccm_judge(&model, GMC_MS(120), &round);
    assert_false(model.unproven || model.start_again);
}

/* START met a queue that others made with what little it had to send, a packet each 20 ms: that is
 * not what the path carries, whether that is said to be so much or nothing is known of it. */
static void meet_others_queue(uint64_t expect_bps)
{
    struct gmc_ccm model = new_model();

    if (expect_bps > 0)
        gmc_cc_model.expect(&model, 0, expect_bps);
    uint64_t begun = model.bw_bps;
    assert_true(begun >= expect_bps / 2);
    for (uint64_t i = 1; i <= 60 && model.phase == START; i++) {
        gmc_time sent = GMC_MS(20) * i;
        gmc_duration queue = i < 30 ? 0 : GMC_MS(40);
        struct gmc_cc_ack ack = {.now = sent + GMC_MS(30) + queue,
                                 .largest = i,
                                 .largest_sent = sent,
                                 .largest_arrival_ns = sent + GMC_MS(15) + queue,
                                 .rtt = GMC_MS(30) + queue,
                                 .app_limited = true};

        gmc_cc_model.on_sent(&model, sent, i, 1500, true);
        gmc_cc_model.on_acked(&model, ack.now, i, 1500, sent);
        gmc_cc_model.on_ack(&model, &ack);
    }
    assert_int_equal(model.phase, DRAIN);
    assert_true(model.unproven);
    assert_int_equal(model.bw_bps, begun / 4);
}

static void test_others_queue_leaves_a_part_of_the_estimate(void **state)
{
    (void)state;
    meet_others_queue(0);
    meet_others_queue(100000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isqrt_is_exact),
        cmocka_unit_test(test_minimum_is_windowed),
        cmocka_unit_test(test_minimum_against_brute_force),
        cmocka_unit_test(test_base_loss_is_told_from_more),
        cmocka_unit_test(test_round_counts_by_number),
        cmocka_unit_test(test_rounds_wait_side_by_side),
        cmocka_unit_test(test_few_packets_make_no_rate),
        cmocka_unit_test(test_start_at_a_low_rate),
        cmocka_unit_test(test_start_again_knows_what_cruises_lost),
        cmocka_unit_test(test_start_again_takes_no_rival_for_the_path),
        cmocka_unit_test(test_queue_of_a_relay_that_loses_nothing_is_not_full),
        cmocka_unit_test(test_length_of_packets_is_no_queue),
        cmocka_unit_test(test_unproven_waits_for_others_to_go),
        cmocka_unit_test(test_others_queue_leaves_a_part_of_the_estimate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
