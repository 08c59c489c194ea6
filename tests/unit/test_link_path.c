/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of where a link finds its peer and how it gets there: addresses, MTU, UDP or the TLS
 * connection. */
#include "tests/unit/link_wire.h"

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

/* After a round trip and 40 ms, again and again. */
static void ask_as_a_child_does(struct linkpair *pair, size_t payload)
{
    for (int i = 0; i < 14; i++) {
        assert_true(gmc_link_want_payload(linkpair_link(pair, 0), linkpair_now(pair), payload));
        linkpair_run_until(pair, linkpair_now(pair) + GMC_MS(70));
    }
}

/* What was lost because others sent at the same time is looked for soon: who wants it waits. */
static void looks_for_what_is_wanted_at_once(void **state)
{
    (void)state;
    struct linkpair_config config = config_of(1000000000, GMC_MS(15), 0);
    config.wires[0].mtu = config.wires[1].mtu = 1460;
    config.transport = GMC_TRANSPORT_UDP;
    struct linkpair *pair = linkpair_new(&config);
    struct gmc_link *link = linkpair_link(pair, 0);
    struct gmc_link_info info;

    assert_true(linkpair_run_up(pair, 0, AT(1000)));
    linkpair_run_until(pair, AT(3000));
    assert_true(gmc_link_want_payload(link, AT(3000), 1466));
    linkpair_run_until(pair, AT(3100));
    gmc_link_info(link, &info);
    assert_true(info.mtu_settled);
    assert_false(gmc_link_want_payload(link, AT(3100), 1466)); /* it was just looked for */
    linkpair_wire(pair, 0)->mtu = linkpair_wire(pair, 1)->mtu = 1472;
    linkpair_run_until(pair, AT(3300));
    assert_true(gmc_link_want_payload(link, AT(3300), 1466));
    linkpair_run_until(pair, AT(3400));
    gmc_link_info(link, &info);
    assert_int_equal(info.udp_payload_max, 1472);
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
    ask_as_a_child_does(pair, 1452);
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
        cmocka_unit_test(looks_for_what_is_wanted_at_once),
        cmocka_unit_test(comes_back_to_udp_when_it_carries_the_size),
        cmocka_unit_test(goes_over_tls_with_what_udp_does_not_carry),
        cmocka_unit_test(goes_over_tls_where_udp_is_blocked),
        cmocka_unit_test(begins_with_the_round_trip_of_the_new_route),
        cmocka_unit_test(stays_on_tls_with_large_fragments),
        cmocka_unit_test(keeps_to_the_transport_that_it_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
