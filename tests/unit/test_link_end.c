/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what ends a link and what does not: silence, farewells, what no honest peer sends. */
#include <string.h>

#include "core/ackrange.h"
#include "core/gate.h"
#include "tests/lib/testcrypto.h"
#include "tests/unit/link_wire.h"

/* ---- silence ---- */

static void notices_silence_when_watched(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    gmc_link_set_watch(linkpair_link(pair, 0), true);
    linkpair_run_until(pair, AT(10000));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_UP);
    /* A ping in 400 ms, answered. */
    assert_in_range(linkpair_stats(pair, 0)->kinds[GMC_KIND_PING], 20, 26);
    linkpair_wire(pair, 1)->down = true;
    linkpair_run_until(pair, AT(11500));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_UP);
    linkpair_run_until(pair, AT(12300));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_DEAD);
    linkpair_free(pair);
}

/* A TCP connection that stalls is not dead, but whoever can do without it should know. */
static void tells_silence_within_tls_before_it_ends_the_link(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.transport = GMC_TRANSPORT_TCP;
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);

    gmc_link_set_watch(link, true);
    for (int second = 1; second <= 10; second++) {
        linkpair_run_until(pair, AT(1000 * second));
        assert_false(gmc_link_is_silent(link));
    }
    linkpair_wire(pair, 1)->down = true;
    linkpair_run_until(pair, AT(11500));
    assert_false(gmc_link_is_silent(link));
    linkpair_run_until(pair, AT(12100)); /* 1.9 s and 3 probe timeouts of 60 ms at most */
    assert_true(gmc_link_is_silent(link));
    /* It goes on. */
    linkpair_wire(pair, 1)->down = false;
    linkpair_run_until(pair, AT(12600));
    assert_false(gmc_link_is_silent(link));
    assert_int_equal(gmc_link_state(link), GMC_LINK_UP);
    linkpair_wire(pair, 1)->down = true;
    linkpair_run_until(pair, AT(22000));
    assert_true(gmc_link_is_silent(link));
    assert_int_equal(gmc_link_state(link), GMC_LINK_UP);
    linkpair_run_until(pair, AT(23200));
    assert_int_equal(gmc_link_state(link), GMC_LINK_DEAD);
    linkpair_free(pair);
}

/* At AT(1000), when it has just been sent a message. */
static struct linkpair *stop_a_near_peer(void)
{
    struct linkpair_config config = config_of(100000000, GMC_US(100), 0);
    config.silent_after = GMC_MS(250);
    struct linkpair *pair = linkpair_new(&config);

    gmc_link_set_watch(linkpair_link(pair, 0), true);
    linkpair_run_until(pair, AT(1000));
    linkpair_wire(pair, 1)->down = true;
    assert_ok(linkpair_message(pair, 0, 100));
    return pair;
}

/* A near peer that is stopped is told long before its link is dead; the moment of its first word
 * is the end of it. */
static void tells_the_silence_of_a_near_peer(void **state)
{
    (void)state;
    struct linkpair *pair = stop_a_near_peer();
    struct gmc_link *link = linkpair_link(pair, 0);

    linkpair_run_until(pair, AT(1290));
    assert_false(gmc_link_is_silent(link));
    linkpair_run_until(pair, AT(1350)); /* 250 ms, 3 probe timeouts of 7 ms, and 50 ms */
    assert_true(gmc_link_is_silent(link));
    assert_int_equal(gmc_link_state(link), GMC_LINK_UP);
    linkpair_wire(pair, 1)->down = false;
    linkpair_run_until(pair, AT(1500));
    assert_false(gmc_link_is_silent(link));
    linkpair_free(pair);
}

/* What the peer said while this process did not run is not read yet when its timers end. */
static void does_not_take_its_own_sleep_for_silence(void **state)
{
    (void)state;
    struct linkpair *pair = stop_a_near_peer();
    struct gmc_link *link = linkpair_link(pair, 0);

    linkpair_run_until(pair, AT(1280));
    gmc_link_on_timer(link, AT(1600)); /* the first look, and the second: both late */
    assert_false(gmc_link_is_silent(link));
    gmc_link_on_timer(link, AT(1900));
    assert_false(gmc_link_is_silent(link));
    assert_true(gmc_link_deadline(link, false) <= AT(1950));
    gmc_link_on_timer(link, AT(1951));
    assert_true(gmc_link_is_silent(link));
    linkpair_free(pair);
}

static void costs_nothing_when_idle(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_supply(pair, 0, 2000, BODY);
    linkpair_run_until(pair, AT(2000));
    uint64_t before = linkpair_stats(pair, 0)->datagrams + linkpair_stats(pair, 1)->datagrams;
    uint64_t turns = linkpair_stats(pair, 0)->turns;
    linkpair_run_until(pair, AT(122000));
    uint64_t after = linkpair_stats(pair, 0)->datagrams + linkpair_stats(pair, 1)->datagrams;
    assert_in_range(after - before, 8, 40); /* of two minutes, both directions */
    assert_in_range(linkpair_stats(pair, 0)->turns - turns, 0, 20);
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_UP);
    linkpair_free(pair);
}

static void loss_alone_does_not_kill(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct linkpair_config config = config_of(100000000, GMC_MS(50), 200000);
        config.seed = seed;
        struct linkpair *pair = linkpair_new(&config);
        gmc_link_set_watch(linkpair_link(pair, 0), true);
        gmc_link_set_watch(linkpair_link(pair, 1), true);
        linkpair_run_until(pair, AT(120000));
        assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_UP);
        assert_int_equal(gmc_link_state(linkpair_link(pair, 1)), GMC_LINK_UP);
        linkpair_free(pair);
    }
}

static void says_farewell(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(100));
    gmc_link_bye(linkpair_link(pair, 0), linkpair_now(pair), GMC_ERR_CANCELLED);
    linkpair_run_until(pair, AT(120));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_DEAD);
    assert_int_equal(gmc_link_state(linkpair_link(pair, 1)), GMC_LINK_DEAD);
    linkpair_free(pair);
}

/* ---- hostile and broken peers ---- */

/* A gate with the keys of `side`'s peer, to forge what an honest peer would not send. */
static void make_forger(struct gmc_gate *gate, struct testcrypto *tc, int side)
{
    struct gmc_session session = {.local_id = (uint32_t)(11 - side),
                                  .remote_id = (uint32_t)(10 + side)};

    testcrypto_init(tc, 1);
    memset(session.send_secret, 8 - side, GMC_KEY_BYTES);
    memset(session.recv_secret, 7 + side, GMC_KEY_BYTES);
    assert_ok(gmc_gate_init(gate, &tc->crypto, &session));
}

static gmc_status forge(struct linkpair *pair, enum gmc_kind kind, uint64_t number,
                        struct gmc_bytes plain)
{
    struct testcrypto tc;
    struct gmc_gate gate;
    uint8_t buffer[2000];

    make_forger(&gate, &tc, 0);
    if (plain.len > 0)
        memcpy(buffer + GMC_HEAD_BYTES, plain.data, plain.len);
    assert_ok(gmc_gate_seal(&gate, kind, number, buffer, plain.len));
    gmc_gate_fini(&gate);
    return linkpair_inject(pair, 0, gmc_bytes(buffer, plain.len + GMC_GATE_OVERHEAD));
}

static gmc_status forge_ack(struct linkpair *pair, uint64_t number, uint64_t largest)
{
    struct gmc_ack ack = {.largest = largest, .count = 1, .ranges = {{0, largest}}};
    uint8_t plain[GMC_ACK_BYTES_MAX];

    size_t len = gmc_ack_put(&ack, plain, sizeof plain);
    return forge(pair, GMC_KIND_ACK, number, gmc_bytes(plain, len));
}

static void a_made_up_acknowledgement_ends_the_link(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    assert_int_equal(forge_ack(pair, 1000, 100000), GMC_ERR_INVALID);
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_DEAD);
    linkpair_free(pair);
    /* All that was sent, without looking: sooner or later a skipped number is among it. */
    pair = linkpair_new(&config);
    linkpair_supply(pair, 0, UINT64_MAX, BODY);
    linkpair_run_until(pair, AT(200));
    for (uint64_t n = 0; n < 50 && gmc_link_state(linkpair_link(pair, 0)) == GMC_LINK_UP; n++) {
        linkpair_run_until(pair, linkpair_now(pair) + GMC_MS(5));
        struct gmc_link_info info;
        gmc_link_info(linkpair_link(pair, 0), &info);
        (void)!forge_ack(pair, 100000 + n, info.packets_sent - 1);
    }
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_DEAD);
    linkpair_free(pair);
}

static void refuses_what_is_malformed(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    const struct gmc_bytes none = {NULL, 0};
    assert_int_equal(forge(pair, GMC_KIND_ACK, 1000, none), GMC_ERR_TRUNCATED);
    assert_int_equal(forge(pair, GMC_KIND_STREAM, 1001, none), GMC_ERR_TRUNCATED);
    assert_int_equal(forge(pair, GMC_KIND_CHALLENGE, 1002, none), GMC_ERR_TRUNCATED);
    assert_int_equal(forge(pair, GMC_KIND_RESPONSE, 1003, none), GMC_ERR_TRUNCATED);
    assert_ok(forge(pair, GMC_KIND_RESPONSE, 1004, gmc_bytes("nothing!", 8)));
    assert_ok(forge(pair, GMC_KIND_PING, 1005, none));
    assert_int_equal(forge(pair, GMC_KIND_PING, 1005, none), GMC_ERR_REPLAY);
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_UP);
    /* A length that no message has. */
    assert_ok(forge(pair, GMC_KIND_STREAM, 1006, gmc_bytes("\0\0\0\0\0\0\0\0\xff\0\0\0", 12)));
    struct gmc_bytes message;
    assert_false(gmc_link_next_message(linkpair_link(pair, 0), &message));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_DEAD);
    linkpair_free(pair);
}

static void refuses_replayed_data(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    linkpair_supply(pair, 0, 1, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(300)));
    assert_int_equal(linkpair_inject(pair, 1, linkpair_last(pair, 1)), GMC_ERR_REPLAY);
    assert_int_equal(linkpair_stats(pair, 1)->duplicates, 0);
    linkpair_free(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notices_silence_when_watched),
        cmocka_unit_test(tells_silence_within_tls_before_it_ends_the_link),
        cmocka_unit_test(tells_the_silence_of_a_near_peer),
        cmocka_unit_test(does_not_take_its_own_sleep_for_silence),
        cmocka_unit_test(costs_nothing_when_idle),
        cmocka_unit_test(loss_alone_does_not_kill),
        cmocka_unit_test(says_farewell),
        cmocka_unit_test(a_made_up_acknowledgement_ends_the_link),
        cmocka_unit_test(refuses_what_is_malformed),
        cmocka_unit_test(refuses_replayed_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
