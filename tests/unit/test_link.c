/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the link: two of them over a small wire in virtual time. */
#include <string.h>

#include "core/ackrange.h"
#include "core/gate.h"
#include "tests/lib/linkpair.h"
#include "tests/lib/testcrypto.h"
#include "tests/lib/unit.h"

#define BODY 1431 /* fills a datagram of 1472 */
#define AT(ms) (LINKPAIR_START + GMC_MS(ms))

static struct linkpair_wire wire_of(uint64_t rate_bps, gmc_duration delay, uint32_t loss_ppm)
{
    return (struct linkpair_wire){.rate_bps = rate_bps,
                                  .delay = delay,
                                  .queue_bytes = rate_bps / 160, /* 50 ms */
                                  .loss_ppm = loss_ppm,
                                  .mtu = 1472};
}

static struct linkpair_config config_of(uint64_t rate_bps, gmc_duration delay, uint32_t loss_ppm)
{
    struct linkpair_wire wire = wire_of(rate_bps, delay, loss_ppm);
    return (struct linkpair_config){.wires = {wire, wire},
                                    .fixed_rate_bps = rate_bps / 100 * 97,
                                    .seed = 1};
}

/* ---- path validation ---- */

static void comes_up_after_one_round_trip(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    for (int i = 0; i < 2; i++) {
        const struct linkpair_stats *stats = linkpair_stats(pair, i);
        struct gmc_link_info info;
        assert_in_range(stats->up, AT(30), AT(31));
        assert_in_range(stats->settled, AT(60), AT(62));
        gmc_link_info(linkpair_link(pair, i), &info);
        assert_int_equal(info.path, GMC_PATH_UDP);
        assert_int_equal(info.udp_payload_max, 1472);
        assert_in_range(info.srtt, GMC_MS(30), GMC_MS(31));
    }
    linkpair_free(pair);
}

static void comes_up_through_loss(void **state)
{
    (void)state;
    unsigned late = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct linkpair_config config = config_of(100000000, GMC_MS(15), 200000);
        config.seed = seed;
        struct linkpair *pair = linkpair_new(&config);
        struct gmc_link_info info;
        linkpair_run_until(pair, AT(1000));
        const struct linkpair_stats *stats = linkpair_stats(pair, 0);
        assert_in_range(stats->up, AT(30), AT(500));
        late += stats->up > AT(90);
        assert_in_range(stats->settled, AT(60), AT(700));
        gmc_link_info(linkpair_link(pair, 0), &info);
        assert_int_equal(info.udp_payload_max, 1472);
        linkpair_free(pair);
    }
    assert_in_range(late, 0, 8); /* of 40: two challenges are on their way in the first 30 ms */
}

/* TLS answers first where its other end was late and each other packet is lost: but the peer's
 * datagrams come over UDP, and it is not left alone for ten seconds. */
static void is_soon_on_udp_when_the_peer_is_heard_there(void **state)
{
    (void)state;
    unsigned within_tls = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct linkpair_config config = config_of(100000000, GMC_MS(45), 490000);
        config.seed = seed;
        config.late = GMC_S(6);
        struct linkpair *pair = linkpair_new(&config);
        struct gmc_link_info info;
        gmc_link_set_watch(linkpair_link(pair, 0), true);
        for (int i = 0; i < 50; i++) {
            linkpair_run_until(pair, AT(6000 + 100 * i));
            linkpair_supply(pair, 1, 1, 100);
        }
        gmc_link_info(linkpair_link(pair, 0), &info);
        within_tls += info.path == GMC_PATH_STREAM;
        linkpair_free(pair);
    }
    assert_int_equal(within_tls, 0);
}

static void waits_for_a_peer_that_is_late(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.late = GMC_MS(18); /* the first challenge arrives before */
    struct linkpair *pair = linkpair_new(&config);

    assert_true(linkpair_run_up(pair, 0, AT(40)));
    linkpair_free(pair);
}

static void finds_an_address_that_it_was_not_told(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.unconfigured = true;
    struct linkpair *pair = linkpair_new(&config);

    assert_true(linkpair_run_up(pair, 0, AT(50)));
    assert_true(linkpair_run_up(pair, 1, AT(50)));
    linkpair_supply(pair, 1, 100, BODY);
    assert_true(linkpair_run_delivered(pair, 1, AT(300)));
    linkpair_free(pair);
}

static void follows_a_peer_that_moves(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link_info info;

    linkpair_run_until(pair, AT(200));
    linkpair_move(pair, 0); /* a NAT gave it another port */
    linkpair_supply(pair, 0, 1000, BODY);
    linkpair_supply(pair, 1, 1000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(700)));
    assert_true(linkpair_run_delivered(pair, 1, AT(1000)));
    gmc_link_info(linkpair_link(pair, 1), &info);
    assert_int_equal(info.udp_payload_max, 1472);
    linkpair_free(pair);
}

/* Datagrams that somebody on the path sends on from elsewhere do not move the link, and do not
 * make us challenge the world. */
static void does_not_follow_an_impostor(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);

    linkpair_run_until(pair, AT(200));
    uint64_t before = linkpair_stats(pair, 1)->kinds[GMC_KIND_CHALLENGE];
    linkpair_disguise(pair, 0, true); /* nobody answers at those addresses */
    linkpair_supply(pair, 0, 2000, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(1000)));
    linkpair_disguise(pair, 0, false);
    assert_in_range(linkpair_stats(pair, 1)->kinds[GMC_KIND_CHALLENGE] - before, 1, 12);
    linkpair_supply(pair, 1, 100, BODY);
    assert_true(linkpair_run_delivered(pair, 1, AT(1100)));
    linkpair_free(pair);
}

/* ---- MTU ---- */

static uint32_t mtu_found(uint32_t path, uint32_t local, uint32_t loss_ppm, uint64_t seed)
{
    struct linkpair_config config = config_of(1000000000, GMC_MS(15), loss_ppm);
    config.wires[0].mtu = config.wires[1].mtu = path;
    config.udp_payload_max = local;
    config.seed = seed;
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link_info info;

    linkpair_run_until(pair, AT(loss_ppm > 0 ? 700 : 150));
    gmc_link_info(linkpair_link(pair, 0), &info);
    assert_true(info.mtu_settled);
    linkpair_free(pair);
    return info.udp_payload_max;
}

static void finds_the_mtu(void **state)
{
    (void)state;
    static const struct {
        uint32_t path, local, found;
    } cases[] = {
        {1472, 0, 1472},     {1471, 0, 1452},       {1300, 0, 1200},
        {9000, 65507, 8952}, {65507, 65507, 33000}, {65507, 8972, 8972},
        {65507, 1432, 1432}, {1472, 65507, 1472},   {1472, 1200, 1200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(mtu_found(cases[i].path, cases[i].local, 0, 1), cases[i].found);
}

/* All probes of a size may be lost; who needs that size has them sent once more. */
static void looks_for_a_larger_mtu_again(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(1000000000, GMC_MS(15), 0);
    config.wires[0].mtu = config.wires[1].mtu = 1460;
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);
    struct gmc_link_info info;

    assert_true(linkpair_run_up(pair, 0, LINKPAIR_START + GMC_S(2)));
    linkpair_run_until(pair, linkpair_now(pair) + GMC_S(3));
    gmc_link_info(link, &info);
    assert_int_equal(info.udp_payload_max, 1452);
    linkpair_wire(pair, 0)->mtu = linkpair_wire(pair, 1)->mtu = 1472;
    assert_true(gmc_link_want_payload(link, linkpair_now(pair), 1452)); /* nothing is lacking */
    gmc_link_info(link, &info);
    assert_true(info.mtu_settled);
    assert_true(gmc_link_want_payload(link, linkpair_now(pair), 1466));
    gmc_link_info(link, &info);
    assert_false(info.mtu_settled);
    assert_int_equal(gmc_link_payload(link), 1452); /* what is known stays so */
    linkpair_run_until(pair, linkpair_now(pair) + GMC_S(3));
    gmc_link_info(link, &info);
    assert_true(info.mtu_settled);
    assert_int_equal(info.udp_payload_max, 1472);
    assert_int_equal(gmc_link_payload(link), 1472);
    /* More than TLS records hold is refused at once. */
    assert_false(gmc_link_want_payload(link, linkpair_now(pair), 20000));
    linkpair_free(pair);
}

/* What the interface does not take goes over the TLS connection, for as long as somebody cares. */
static void goes_over_tls_with_what_udp_does_not_carry(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);
    struct gmc_link_info info;

    assert_true(linkpair_run_up(pair, 0, AT(1000)));
    linkpair_run_until(pair, AT(3000));
    gmc_link_set_watch(link, true);
    assert_true(gmc_link_want_payload(link, AT(3000), 2000));
    linkpair_run_until(pair, AT(4000));
    gmc_link_info(link, &info);
    assert_int_equal(info.path, GMC_PATH_STREAM);
    assert_true(info.udp_payload_max >= 2000);
    linkpair_supply(pair, 0, 50, 2000);
    assert_true(linkpair_run_delivered(pair, 0, AT(5000)));
    gmc_link_set_watch(link, false);
    gmc_link_info(link, &info);
    assert_int_equal(info.path, GMC_PATH_UDP);
    linkpair_free(pair);
}

/* What went over the TLS connection because all probes of its size were lost comes back to UDP
 * while somebody cares. */
static void comes_back_to_udp_when_it_carries_the_size(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.wires[0].mtu = config.wires[1].mtu = 1300;
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);
    struct gmc_link_info info;

    assert_true(linkpair_run_up(pair, 0, AT(1000)));
    linkpair_run_until(pair, AT(3000));
    gmc_link_set_watch(link, true);
    assert_true(gmc_link_want_payload(link, AT(3000), 1452));
    linkpair_run_until(pair, AT(4000));
    assert_true(gmc_link_want_payload(link, AT(4000), 1452));
    linkpair_run_until(pair, AT(8000));
    gmc_link_info(link, &info);
    assert_int_equal(info.path, GMC_PATH_STREAM);
    linkpair_supply(pair, 0, 50, 1411);
    assert_true(linkpair_run_delivered(pair, 0, AT(9000)));
    uint64_t before = linkpair_stats(pair, 0)->kinds[GMC_KIND_CHALLENGE];
    linkpair_run_until(pair, AT(40000));
    uint64_t probes = linkpair_stats(pair, 0)->kinds[GMC_KIND_CHALLENGE] - before;
    assert_in_range(probes, 12, 60); /* less and less often */
    linkpair_wire(pair, 0)->mtu = linkpair_wire(pair, 1)->mtu = 1472;
    linkpair_run_until(pair, AT(52000));
    gmc_link_info(link, &info);
    assert_int_equal(info.path, GMC_PATH_UDP);
    assert_int_equal(info.udp_payload_max, 1472);
    linkpair_free(pair);
}

static void finds_the_mtu_through_loss(void **state)
{
    (void)state;
    unsigned wrong = 0;

    for (uint64_t seed = 1; seed <= 100; seed++)
        wrong += mtu_found(1472, 0, 200000, seed) != 1472;
    assert_in_range(wrong, 0, 2); /* expected: 0.36^6, which is 0.2 of 100 */
}

/* ---- UDP or the TLS connection ---- */

static void goes_over_tls_where_udp_is_blocked(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.wires[0].udp_blocked = true; /* one direction is enough */
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link_info info;

    linkpair_run_until(pair, AT(2000));
    for (int i = 0; i < 2; i++) {
        assert_in_range(linkpair_stats(pair, i)->up, AT(1500), AT(1560));
        gmc_link_info(linkpair_link(pair, i), &info);
        assert_int_equal(info.path, GMC_PATH_STREAM);
        assert_true(info.udp_payload_max >= 16000);
        gmc_link_set_watch(linkpair_link(pair, i), true);
    }
    linkpair_supply(pair, 0, 500, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(3000)));
    assert_int_equal(linkpair_stats(pair, 0)->lost, 0);
    /* UDP comes back and is found. */
    linkpair_wire(pair, 0)->udp_blocked = false;
    linkpair_run_until(pair, AT(15000));
    for (int i = 0; i < 2; i++) {
        gmc_link_info(linkpair_link(pair, i), &info);
        assert_int_equal(info.path, GMC_PATH_UDP);
        assert_int_equal(info.udp_payload_max, 1472);
    }
    linkpair_supply(pair, 0, 500, BODY);
    assert_true(linkpair_run_delivered(pair, 0, AT(16000)));
    linkpair_free(pair);
}

/* The TLS connection took half a second for what UDP brings in 30 ms: START begins with the packets
 * of UDP's round trip. */
static void begins_with_the_round_trip_of_the_new_route(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(250), 0);
    config.cc = &gmc_cc_model;
    config.wires[0].udp_blocked = config.wires[1].udp_blocked = true;
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);
    struct gmc_link_info info;

    linkpair_run_until(pair, AT(4000));
    gmc_link_set_watch(link, true);
    gmc_link_info(link, &info);
    assert_int_equal(info.path, GMC_PATH_STREAM);
    for (int i = 0; i < 2; i++) {
        linkpair_wire(pair, i)->udp_blocked = false;
        linkpair_wire(pair, i)->delay = GMC_MS(15);
    }
    for (int i = 0; i < 200 && info.path == GMC_PATH_STREAM; i++) {
        linkpair_run_until(pair, linkpair_now(pair) + GMC_MS(100));
        gmc_link_info(link, &info);
    }
    assert_int_equal(info.path, GMC_PATH_UDP);
    assert_in_range(info.rate_bps, 12000000, 13000000); /* 32 packets in 30 ms */
    assert_in_range(info.srtt, GMC_MS(30), GMC_MS(40)); /* by which probes wait */
    linkpair_free(pair);
}

/* Fragments that were cut for the TLS connection would not fit. */
static void stays_on_tls_with_large_fragments(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    config.wires[0].udp_blocked = true;
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link_info info;

    linkpair_run_until(pair, AT(2000));
    gmc_link_set_watch(linkpair_link(pair, 0), true);
    linkpair_supply(pair, 0, 50, 15000);
    assert_true(linkpair_run_delivered(pair, 0, AT(3000)));
    linkpair_wire(pair, 0)->udp_blocked = false;
    linkpair_run_until(pair, AT(15000));
    gmc_link_info(linkpair_link(pair, 0), &info);
    assert_int_equal(info.path, GMC_PATH_STREAM);
    linkpair_free(pair);
}

static void keeps_to_the_transport_that_it_is_given(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_MS(15), 0);
    struct linkpair *pair;

    config.transport = GMC_TRANSPORT_TCP;
    pair = linkpair_new(&config);
    assert_true(linkpair_run_up(pair, 0, AT(35)));
    linkpair_free(pair);
    config.transport = GMC_TRANSPORT_UDP;
    config.wires[0].udp_blocked = config.wires[1].udp_blocked = true;
    pair = linkpair_new(&config);
    linkpair_run_until(pair, AT(9900));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_VALIDATING);
    linkpair_run_until(pair, AT(10100));
    assert_int_equal(gmc_link_state(linkpair_link(pair, 0)), GMC_LINK_DEAD);
    linkpair_free(pair);
}

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

/* A near peer that is stopped is told long before its link is dead; the moment of its first word
 * is the end of it. */
static void tells_the_silence_of_a_near_peer(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(100000000, GMC_US(100), 0);
    config.silent_after = GMC_MS(250);
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);

    gmc_link_set_watch(link, true);
    linkpair_run_until(pair, AT(1000));
    linkpair_wire(pair, 1)->down = true;
    assert_ok(linkpair_message(pair, 0, 100));
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
    struct linkpair_config config = config_of(100000000, GMC_US(100), 0);
    config.silent_after = GMC_MS(250);
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);

    gmc_link_set_watch(link, true);
    linkpair_run_until(pair, AT(1000));
    linkpair_wire(pair, 1)->down = true;
    assert_ok(linkpair_message(pair, 0, 100));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_up_after_one_round_trip),
        cmocka_unit_test(comes_up_through_loss),
        cmocka_unit_test(waits_for_a_peer_that_is_late),
        cmocka_unit_test(is_soon_on_udp_when_the_peer_is_heard_there),
        cmocka_unit_test(finds_an_address_that_it_was_not_told),
        cmocka_unit_test(follows_a_peer_that_moves),
        cmocka_unit_test(does_not_follow_an_impostor),
        cmocka_unit_test(finds_the_mtu),
        cmocka_unit_test(finds_the_mtu_through_loss),
        cmocka_unit_test(looks_for_a_larger_mtu_again),
        cmocka_unit_test(comes_back_to_udp_when_it_carries_the_size),
        cmocka_unit_test(goes_over_tls_with_what_udp_does_not_carry),
        cmocka_unit_test(goes_over_tls_where_udp_is_blocked),
        cmocka_unit_test(begins_with_the_round_trip_of_the_new_route),
        cmocka_unit_test(stays_on_tls_with_large_fragments),
        cmocka_unit_test(keeps_to_the_transport_that_it_is_given),
        cmocka_unit_test(notices_silence_when_watched),
        cmocka_unit_test(tells_silence_within_tls_before_it_ends_the_link),
        cmocka_unit_test(tells_the_silence_of_a_near_peer),
        cmocka_unit_test(does_not_take_its_own_sleep_for_silence),
        cmocka_unit_test(costs_nothing_when_idle),
        cmocka_unit_test(loss_alone_does_not_kill),
        cmocka_unit_test(says_farewell),
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
        cmocka_unit_test(a_made_up_acknowledgement_ends_the_link),
        cmocka_unit_test(refuses_what_is_malformed),
        cmocka_unit_test(refuses_replayed_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
