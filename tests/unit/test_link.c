/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what a link carries: data and its acknowledgements, messages. */
#include "tests/unit/link_wire.h"

/* ---- data ---- */

static void carries_data_without_loss(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 10000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(3000)));
    linkpair_run_until(pair, linkpair_now(pair) + GMC_S(1));
    const struct linkpair_stats *from = linkpair_stats(pair, 0), *to = linkpair_stats(pair, 1);
    assert_int_equal(to->delivered, 10000);
    assert_int_equal(to->duplicates, 0);
    assert_int_equal(from->acked, 10000);
    assert_int_equal(from->lost, 0);
    /* One ACK for 32 packets, not more. */
    assert_in_range(to->kinds[GMC_KIND_ACK], 10000 / 33, 10000 / 32 + 20);
    /* When the first of them begins the wait, and when the last ends it. */
    assert_in_range(to->wakes, 2 * (10000 / 33), 2 * (10000 / 32 + 20));
    linkpair_free(pair);
}

static void repairs_what_was_lost(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 200000);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 10000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(4000)));
    linkpair_run_until(pair, linkpair_now(pair) + GMC_S(2));
    const struct linkpair_stats *from = linkpair_stats(pair, 0), *to = linkpair_stats(pair, 1);
    assert_int_equal(to->delivered, 10000);
    assert_int_equal(from->acked, 10000);
    /* Nothing is sent again that had arrived, although ACKs get lost too. */
    assert_in_range(to->duplicates, 0, 10);
    linkpair_free(pair);
}

static void carries_data_both_ways(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 10000);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 5000, BODY);
    linkpair_supply(pair, 1, 5000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(1500)));
    assert_true(linkpair_run_delivered(pair, 1, AT(1500)));
    linkpair_free(pair);
}

/* The acknowledgements of a fast stream are as many as a slow one that goes against it may send at
 * all: of its rate they take half. */
static void acknowledgements_do_not_starve_data(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 100000);
    config.fixed_back_bps = 200000;
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, UINT64_MAX, BODY);
    linkpair_supply(pair, 1, UINT64_MAX, BODY);
    linkpair_run_until(pair, AT(10000));
    uint64_t packets = 200000 * 10 / 8 / 1500;
    assert_in_range(linkpair_stats(pair, 0)->delivered, packets * 40 / 100, packets);
    linkpair_free(pair);
}

/* 8 ms of jitter at one packet in 120 us: packets overtake each other by dozens. */
static void learns_that_packets_overtake(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.wires[0].jitter = GMC_MS(8);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 20000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(4000)));
    /* Some in the beginning, and no more once it is known. */
    assert_in_range(linkpair_stats(pair, 1)->duplicates, 0, 600);
    linkpair_free(pair);
}

/* The last packets are lost, the feedback of the others has come: the end is probed. */
static void probes_the_tail(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    linkpair_supply(pair, 0, 1, BODY);
    linkpair_wire(pair, 0)->down = true;
    linkpair_run_until(pair, AT(201));
    linkpair_wire(pair, 0)->down = false;
    /* 5/4 of 30 ms and 6 ms until the probe, a round trip until its answer, half until the copy. */
    assert_true(linkpair_run_delivered(pair, 0, AT(200 + 44 + 30 + 15 + 6)));
    linkpair_free(pair);
}

static void what_is_not_accepted_counts_as_lost(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    linkpair_refuse(pair, 1, true);
    linkpair_supply(pair, 0, 50, BODY);
    linkpair_run_until(pair, AT(260));
    linkpair_refuse(pair, 1, false);
    assert_true(linkpair_run_delivered(pair, 0, AT(1000)));
    assert_true(linkpair_stats(pair, 0)->lost >= 50);
    linkpair_run_until(pair, AT(2000));
    assert_int_equal(linkpair_stats(pair, 0)->acked, 50);
    linkpair_free(pair);
}

/* Each packet puts off the probe timeout, and none is acknowledged: the peer is asked, and is
 * there. */
static void does_not_take_refusal_for_silence(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    linkpair_refuse(pair, 1, true);
    for (uint64_t ms = 200; ms < 5200; ms += 5) {
        linkpair_supply(pair, 0, 1, 100);
        linkpair_run_until(pair, AT(ms));
    }
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_UP);
    linkpair_free(pair);
}

/* A fast link does not ask for more wake-ups than a timer of 250 us gives. */
static void paces_in_batches(void **state)
{
    (void)state;
    static const uint64_t rates[] = {10000000, 100000000, 1000000000};

    for (size_t i = 0; i < 3; i++) {
        struct linkpair_config config = config_of(rates[i], GMC_MS(5), 0);
        struct linkpair *pair = linkpair_new(&config);
        linkpair_run_until(pair, AT(500));
        uint64_t turns = linkpair_stats(pair, 0)->turns;
        uint64_t bytes = linkpair_stats(pair, 0)->bytes;
        linkpair_supply(pair, 0, UINT64_MAX, BODY);
        linkpair_run_until(pair, AT(1500));
        turns = linkpair_stats(pair, 0)->turns - turns;
        bytes = linkpair_stats(pair, 0)->bytes - bytes;
        assert_in_range(turns, 500, 5000);
        /* 97 %, and the credit of the beginning */
        assert_in_range(bytes, rates[i] / 800 * 96, rates[i] / 800 * 98 + 3000);
        assert_int_equal(linkpair_stats(pair, 0)->dropped, 0);
        linkpair_free(pair);
    }
}

/* ---- hosts that are busy ---- */

/* A congestion control that only notes what it is told. */
static struct {
    gmc_duration rtt, one_way;
} told;

static void note_ack(void *state, const struct gmc_cc_ack *ack)
{
    told.rtt = ack->rtt;
    told.one_way = ack->largest_arrival_ns - ack->largest_sent; /* both sides have one clock here */
    gmc_cc_fixed.on_ack(state, ack);
}

static void does_not_charge_the_path_with_a_busy_host(void **state)
{
    (void)state;
    struct gmc_cc_ops noting = gmc_cc_fixed;
    noting.on_ack = note_ack;
    /* 15 ms on the way, of which the datagram lay 5 ms at the host where it had come. */
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.cc = &noting;
    for (unsigned waited = 0; waited <= 5; waited += 5) {
        config.waited = GMC_MS(waited);
        struct linkpair *pair = linkpair_new(&config);
        assert_true(linkpair_run_up(pair, 0, AT(1000)));
        linkpair_supply(pair, 0, 200, BODY);
        assert_true(linkpair_run_delivered(pair, 1, AT(5000)));
        linkpair_run_until(pair, linkpair_now(pair) + GMC_MS(100));
        assert_in_range(told.one_way, GMC_MS(15 - waited), GMC_MS(16 - waited));
        assert_in_range(told.rtt, GMC_MS(30 - waited), GMC_MS(31 - waited));
        linkpair_free(pair);
    }
}

static void acknowledges_large_datagrams_more_often(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(UINT64_C(10000000000), GMC_MS(5), 0);
    config.wires[0].mtu = config.wires[1].mtu = 0;
    config.wires[0].queue_bytes = 0;
    config.udp_payload_max = 33000;
    struct linkpair *pair = linkpair_new(&config);
    assert_true(linkpair_run_up(pair, 0, AT(1000)));
    linkpair_run_until(pair, AT(2000));
    uint64_t before = linkpair_stats(pair, 1)->kinds[GMC_KIND_ACK];
    linkpair_supply(pair, 0, 256, 32000);
    assert_true(linkpair_run_delivered(pair, 1, AT(5000)));
    linkpair_run_until(pair, linkpair_now(pair) + GMC_MS(100));
    /* One for each 256 KiB, that is 8 datagrams or 9; not for each 32. */
    assert_in_range(linkpair_stats(pair, 1)->kinds[GMC_KIND_ACK] - before, 28, 36);
    linkpair_free(pair);
}

/* ---- messages ---- */

static void carries_messages_through_loss(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 200000);
    struct linkpair *pair = linkpair_new(&config);

    for (size_t i = 0; i < 50; i++)
        assert_ok(linkpair_message(pair, 0, i * 997));
    assert_true(linkpair_run_messages(pair, 1, 50, AT(5000)));
    linkpair_free(pair);
}

/* A request and its answer while nothing else moves, at 20 % loss in each direction. */
static void messages_take_few_round_trips(void **state)
{
    (void)state;
    gmc_duration total = 0, longest = 0;
    const unsigned runs = 100;

    for (uint64_t seed = 1; seed <= runs; seed++) {
        struct linkpair_config config = config_of(100000000, GMC_MS(15), 200000);
        config.seed = seed;
        struct linkpair *pair = linkpair_new(&config);
        linkpair_run_until(pair, AT(2000));
        assert_ok(linkpair_message(pair, 0, 300));
        assert_true(linkpair_run_messages(pair, 1, 1, AT(4000)));
        gmc_duration took = linkpair_now(pair) - AT(2000);
        total += took;
        longest = took > longest ? took : longest;
        linkpair_free(pair);
    }
    /* Half a round trip is 15 ms. */
    assert_in_range(total / runs, GMC_MS(15), GMC_MS(25));
    assert_in_range(longest, GMC_MS(15), GMC_MS(150));
}

/* The same in one direction over three such wires, which lose half: one that is lost is not waited
 * for until its probe, and the next, are lost too. */
static void messages_get_through_where_half_is_lost(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(45), 488000);
    config.cc = &gmc_cc_model;
    struct linkpair *pair = linkpair_new(&config);
    gmc_duration total = 0;
    const unsigned count = 300;

    linkpair_supply(pair, 0, 300, BODY);
    linkpair_run_until(pair, AT(10000));
    for (unsigned i = 1; i <= count; i++) {
        gmc_time begin = linkpair_now(pair);
        assert_ok(linkpair_message(pair, 0, 300));
        assert_true(linkpair_run_messages(pair, 1, i, begin + GMC_S(4)));
        total += linkpair_now(pair) - begin;
        linkpair_run_until(pair, linkpair_now(pair) + GMC_S(1));
    }
    print_message("a message took %.1f ms on average\n", (double)(total / count) / 1e6);
    assert_in_range(total / count, GMC_MS(45), GMC_MS(75));
    linkpair_free(pair);
}

/* Where nothing is lost, and that is known, messages are sent once. */
static void says_nothing_twice_on_a_clean_path(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 100, BODY);
    linkpair_run_until(pair, AT(1000));
    for (unsigned i = 1; i <= 50; i++) {
        assert_ok(linkpair_message(pair, 0, 300));
        linkpair_run_until(pair, AT(1000 + 10 * i));
    }
    linkpair_run_until(pair, AT(3000));
    assert_int_equal(linkpair_stats(pair, 1)->messages, 50);
    assert_int_equal(linkpair_stats(pair, 0)->kinds[GMC_KIND_STREAM], 50);
    assert_int_equal(linkpair_stats(pair, 0)->kinds[GMC_KIND_PING], 0);
    linkpair_free(pair);
}

static void carries_the_largest_message(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 200000);
    struct linkpair *pair = linkpair_new(&config);

    assert_int_equal(linkpair_message(pair, 0, GMC_LINK_MESSAGE_MAX + 1), GMC_ERR_LIMIT);
    for (int i = 0; i < 3; i++)
        assert_ok(linkpair_message(pair, 0, GMC_LINK_MESSAGE_MAX));
    assert_int_equal(linkpair_message(pair, 0, GMC_LINK_MESSAGE_MAX), GMC_ERR_FULL);
    assert_true(linkpair_run_messages(pair, 1, 3, AT(4000)));
    linkpair_run_until(pair, linkpair_now(pair) + GMC_S(2));
    struct gmc_link_info info;
    gmc_link_info(linkpair_link(pair, 0), &info);
    assert_int_equal(info.streamed_bytes_queued, 0);
    assert_int_equal(info.inflight_bytes, 0);
    linkpair_free(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_data_without_loss),
        cmocka_unit_test(repairs_what_was_lost),
        cmocka_unit_test(carries_data_both_ways),
        cmocka_unit_test(acknowledgements_do_not_starve_data),
        cmocka_unit_test(learns_that_packets_overtake),
        cmocka_unit_test(probes_the_tail),
        cmocka_unit_test(what_is_not_accepted_counts_as_lost),
        cmocka_unit_test(does_not_take_refusal_for_silence),
        cmocka_unit_test(paces_in_batches),
        cmocka_unit_test(does_not_charge_the_path_with_a_busy_host),
        cmocka_unit_test(acknowledges_large_datagrams_more_often),
        cmocka_unit_test(carries_messages_through_loss),
        cmocka_unit_test(messages_take_few_round_trips),
        cmocka_unit_test(messages_get_through_where_half_is_lost),
        cmocka_unit_test(says_nothing_twice_on_a_clean_path),
        cmocka_unit_test(carries_the_largest_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
