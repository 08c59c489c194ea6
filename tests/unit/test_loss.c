/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of loss detection: RFC 9002's rules, reordering, skipped numbers, the ring. */
#include <string.h>

#include "core/loss.h"
#include "tests/lib/unit.h"

#define T0 GMC_S(10)

static void open_loss(struct gmc_loss *loss)
{
    assert_ok(gmc_loss_init(loss));
    gmc_loss_rtt_sample(loss, GMC_MS(100));
}

/* Sends count packets of 1000 bytes, 1 ms apart; cookie = number. */
static void send_many(struct gmc_loss *loss, gmc_time start, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        assert_ok(gmc_loss_reserve(loss, 1));
        gmc_loss_on_sent(loss, &(struct gmc_sent){.sent = start + i * GMC_MS(1),
                                                  .cookie = loss->next,
                                                  .bytes = 1000,
                                                  .state = GMC_SENT_PENDING});
    }
}

static gmc_status acknowledge(struct gmc_loss *loss, gmc_time now, struct gmc_ack *ack,
                              uint64_t first, uint64_t last, gmc_duration *rtt)
{
    *ack = (struct gmc_ack){.largest = last, .count = 1, .ranges = {{first, last}}};
    return gmc_loss_on_ack(loss, now, ack, rtt);
}

/* The open pass decides exactly the numbers [first, last] with this fate, and then goes on. */
static void expect(struct gmc_loss *loss, enum gmc_loss_fate fate, uint64_t first, uint64_t last)
{
    struct gmc_loss_decision decision;

    for (uint64_t n = first; n <= last; n++) {
        assert_true(gmc_loss_next(loss, &decision));
        assert_int_equal(decision.number, n);
        assert_int_equal(decision.packet.cookie, n);
        assert_int_equal(decision.fate, fate);
    }
}

static void expect_end(struct gmc_loss *loss)
{
    struct gmc_loss_decision decision;
    assert_false(gmc_loss_next(loss, &decision));
}

static void three_packets_later_is_lost(void **state)
{
    (void)state;
    struct gmc_loss loss;
    struct gmc_ack ack;
    gmc_duration rtt;

    open_loss(&loss);
    send_many(&loss, T0, 10);
    assert_int_equal(loss.inflight_bytes, 10000);
    assert_ok(acknowledge(&loss, T0 + GMC_MS(105), &ack, 5, 5, &rtt));
    assert_int_equal(rtt, GMC_MS(100));
    expect(&loss, GMC_FATE_LOST, 0, 2);
    expect(&loss, GMC_FATE_ACKED, 5, 5);
    expect_end(&loss);
    assert_int_equal(loss.inflight_bytes, 6000);
    assert_int_equal(loss.pending, 6);
    /* The younger ones wait for 9/8 of the round trip. */
    assert_int_equal(loss.loss_time, T0 + GMC_MS(3) + GMC_US(112500));
    gmc_loss_on_timer(&loss, loss.loss_time - 1);
    expect_end(&loss);
    gmc_loss_on_timer(&loss, T0 + GMC_MS(4) + GMC_US(112500));
    expect(&loss, GMC_FATE_LOST, 3, 4);
    expect_end(&loss);
    assert_int_equal(loss.loss_time, GMC_TIME_NEVER);
    gmc_loss_fini(&loss);
}

static void a_repeated_ack_decides_nothing_twice(void **state)
{
    (void)state;
    struct gmc_loss loss;
    struct gmc_ack ack;
    gmc_duration rtt;

    open_loss(&loss);
    send_many(&loss, T0, 10);
    for (int i = 0; i < 2; i++) {
        assert_ok(acknowledge(&loss, T0 + GMC_MS(110), &ack, 0, 9, &rtt));
        assert_int_equal(rtt, i == 0 ? GMC_MS(101) : 0);
        if (i == 0)
            expect(&loss, GMC_FATE_ACKED, 0, 9);
        expect_end(&loss);
    }
    assert_int_equal(loss.inflight_bytes, 0);
    assert_int_equal(gmc_loss_pto_time(&loss, false), GMC_TIME_NEVER);
    gmc_loss_fini(&loss);
}

static void late_packets_raise_the_thresholds(void **state)
{
    (void)state;
    struct gmc_loss loss;
    struct gmc_ack ack;
    gmc_duration rtt;

    open_loss(&loss);
    send_many(&loss, T0, 40);
    assert_ok(acknowledge(&loss, T0 + GMC_MS(110), &ack, 1, 10, &rtt));
    expect(&loss, GMC_FATE_LOST, 0, 0);
    expect(&loss, GMC_FATE_ACKED, 1, 10);
    expect_end(&loss);
    /* It was not lost, only overtaken. */
    assert_ok(acknowledge(&loss, T0 + GMC_MS(111), &ack, 0, 10, &rtt));
    expect(&loss, GMC_FATE_SPURIOUS, 0, 0);
    expect_end(&loss);
    assert_int_equal(loss.reorder_packets, 11);
    assert_ok(acknowledge(&loss, T0 + GMC_MS(112), &ack, 15, 20, &rtt));
    expect(&loss, GMC_FATE_ACKED, 15, 20);
    expect_end(&loss);
    assert_ok(acknowledge(&loss, T0 + GMC_MS(113), &ack, 23, 23, &rtt));
    expect(&loss, GMC_FATE_LOST, 11, 12);
    expect(&loss, GMC_FATE_ACKED, 23, 23);
    expect_end(&loss);
    /* Long ago: the path may have changed. */
    send_many(&loss, T0 + GMC_S(20), 10);
    assert_ok(acknowledge(&loss, T0 + GMC_S(20) + GMC_MS(100), &ack, 44, 44, &rtt));
    assert_int_equal(loss.reorder_packets, GMC_LOSS_PACKETS);
    gmc_loss_fini(&loss);
}

static void made_up_acknowledgements_are_found(void **state)
{
    (void)state;
    struct gmc_loss loss;
    struct gmc_ack ack;
    gmc_duration rtt;

    open_loss(&loss);
    send_many(&loss, T0, 5);
    assert_ok(gmc_loss_reserve(&loss, 1));
    gmc_loss_on_skipped(&loss); /* 5 */
    send_many(&loss, T0, 5);
    assert_int_equal(acknowledge(&loss, T0 + GMC_MS(100), &ack, 0, 10, &rtt), GMC_ERR_INVALID);
    assert_int_equal(acknowledge(&loss, T0 + GMC_MS(100), &ack, 11, 11, &rtt), GMC_ERR_INVALID);
    assert_int_equal(loss.pending, 10);
    ack = (struct gmc_ack){.largest = 10, .count = 2, .ranges = {{6, 10}, {0, 4}}};
    assert_ok(gmc_loss_on_ack(&loss, T0 + GMC_MS(100), &ack, &rtt));
    expect(&loss, GMC_FATE_ACKED, 0, 4);
    expect(&loss, GMC_FATE_ACKED, 6, 10);
    expect_end(&loss);
    gmc_loss_fini(&loss);
}

static void probe_timeout_backs_off(void **state)
{
    (void)state;
    struct gmc_loss loss;
    struct gmc_ack ack;
    gmc_duration rtt;

    open_loss(&loss);
    send_many(&loss, T0, 1);
    /* smoothed 100, variance 25 after one sample */
    const gmc_duration pto = GMC_MS(200) + GMC_LOSS_ACK_DELAY;
    const gmc_duration early = GMC_MS(125) + GMC_LOSS_ACK_DELAY;
    assert_int_equal(gmc_loss_pto(&loss), pto);
    /* Doubled, but a quarter of a second is enough. */
    for (uint32_t count = 0; count < 4; count++) {
        gmc_duration wait = count < 2 ? pto : GMC_MS(250);
        loss.pto_count = count;
        assert_int_equal(gmc_loss_pto_time(&loss, false), T0 + wait);
        assert_int_equal(gmc_loss_pto_time(&loss, true), T0 + (count < 2 ? early : wait));
    }
    loss.pto_count = 30;
    assert_int_equal(gmc_loss_pto_time(&loss, true), T0 + GMC_MS(250));
    assert_ok(acknowledge(&loss, T0 + GMC_MS(900), &ack, 0, 0, &rtt));
    expect(&loss, GMC_FATE_ACKED, 0, 0);
    expect_end(&loss);
    assert_int_equal(loss.pto_count, 0);
    gmc_loss_fini(&loss);
}

static void ack_delay_is_taken_off(void **state)
{
    (void)state;
    struct gmc_loss loss;
    struct gmc_ack ack = {.largest = 0, .delay_us = 4000, .count = 1, .ranges = {{0, 0}}};
    gmc_duration rtt;

    open_loss(&loss);
    send_many(&loss, T0, 3);
    assert_ok(gmc_loss_on_ack(&loss, T0 + GMC_MS(110), &ack, &rtt));
    assert_int_equal(rtt, GMC_MS(106));
    expect(&loss, GMC_FATE_ACKED, 0, 0);
    expect_end(&loss);
    /* Not below the minimum, and no more than is allowed. */
    ack = (struct gmc_ack){.largest = 1, .delay_us = 4000, .count = 1, .ranges = {{1, 1}}};
    assert_ok(gmc_loss_on_ack(&loss, T0 + GMC_MS(1 + 102), &ack, &rtt));
    assert_int_equal(rtt, GMC_MS(100));
    expect(&loss, GMC_FATE_ACKED, 1, 1);
    expect_end(&loss);
    ack = (struct gmc_ack){.largest = 2, .delay_us = 500000, .count = 1, .ranges = {{2, 2}}};
    assert_ok(gmc_loss_on_ack(&loss, T0 + GMC_MS(2 + 700), &ack, &rtt));
    assert_int_equal(rtt, GMC_MS(700) - GMC_LOSS_ACK_DELAY);
    gmc_loss_fini(&loss);
}

static void the_ring_grows_and_shrinks(void **state)
{
    (void)state;
    struct gmc_loss loss;
    struct gmc_ack ack;
    gmc_duration rtt;
    size_t small;

    open_loss(&loss);
    small = loss.capacity;
    send_many(&loss, T0, 5000);
    assert_int_equal(loss.capacity, 16384);
    assert_ok(acknowledge(&loss, T0 + GMC_MS(5000), &ack, 0, 4999, &rtt));
    expect(&loss, GMC_FATE_ACKED, 0, 4999);
    expect_end(&loss);
    /* A steady flow allocates nothing. */
    for (uint64_t n = 5000; n < 60000; n += 100) {
        const struct gmc_sent *ring = loss.ring;
        send_many(&loss, T0 + GMC_MS(n), 100);
        assert_ptr_equal(ring, loss.ring);
        assert_ok(acknowledge(&loss, T0 + GMC_MS(n + 200), &ack, n, n + 99, &rtt));
        expect(&loss, GMC_FATE_ACKED, n, n + 99);
        expect_end(&loss);
    }
    assert_non_null(gmc_loss_find(&loss, 59999));
    assert_null(gmc_loss_find(&loss, 60000));
    assert_null(gmc_loss_find(&loss, 1));
    gmc_loss_trim(&loss);
    assert_int_equal(loss.capacity, small);
    send_many(&loss, T0 + GMC_S(100), 10);
    assert_ok(acknowledge(&loss, T0 + GMC_S(101), &ack, 60000, 60009, &rtt));
    expect(&loss, GMC_FATE_ACKED, 60000, 60009);
    expect_end(&loss);
    gmc_loss_fini(&loss);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_packets_later_is_lost),
        cmocka_unit_test(a_repeated_ack_decides_nothing_twice),
        cmocka_unit_test(late_packets_raise_the_thresholds),
        cmocka_unit_test(made_up_acknowledgements_are_found),
        cmocka_unit_test(probe_timeout_backs_off),
        cmocka_unit_test(ack_delay_is_taken_off),
        cmocka_unit_test(the_ring_grows_and_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
