/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/gateway_uplink.c: what all links of a gateway carry together, and who gets how much of
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/gateway_impl.h"
#include "tests/lib/toynet.h"

#define assert_ok(call) assert_int_equal(call, GMC_OK)
#define MBIT UINT64_C(1000000)
#define TARGETS 3u
#define OBJECT (UINT64_C(48) << 20)

/* Links alone would carry four times what the source's uplink does. */
static struct toynet *make(struct toynet_config *config)
{
    *config = (struct toynet_config){.seed = 3,
                                     .delay = GMC_MS(5),
                                     .listing_bytes = 300,
                                     .total_bytes = OBJECT,
                                     .fixed_rate_bps = 400 * MBIT,
                                     .node = {.store_delay = GMC_US(200)},
                                     .uplink_bps = {100 * MBIT}};
    return toynet_new(config, TARGETS + 1);
}

static void links_share_the_uplink(void **state)
{
    struct toynet_config config;
    struct toynet *net = make(&config);
    struct gmc_channel_key key;

    (void)state;
    assert_ok(toynet_stage(net, 0, 0xe, GMC_TREE_FLAT, &key));
    toynet_run_until(net, TOYNET_START + GMC_S(2));
    uint64_t sent = toynet_stats(net, 0)->bytes_sent;
    /* Two seconds less the set-up; heads of IP and UDP are paid for too. */
    assert_in_range(sent, 100 * MBIT / 8 * 2 * 90 / 100, 100 * MBIT / 8 * 2);
    for (size_t i = 1; i <= TARGETS; i++) {
        uint64_t part = toynet_stats(net, 0)->data_sent[i] * TARGETS;

        assert_in_range(part, sent / 100 * 97, sent / 100 * 103);
    }
    assert_true(toynet_run_over(net, 0, &key, toynet_now(net) + GMC_S(20)));
    toynet_free(net);
}

/* What two transfers bring to one link is as much as what one brings to two. */
static void shares_go_by_children_and_not_by_links(void **state)
{
    struct toynet_config config;
    struct toynet *net = make(&config);
    struct gmc_channel_key both, first;

    (void)state;
    assert_ok(toynet_stage(net, 0, 0x6, GMC_TREE_FLAT, &both));
    assert_ok(toynet_stage(net, 0, 0x2, GMC_TREE_FLAT, &first));
    toynet_run_until(net, TOYNET_START + GMC_S(1));
    struct toynet_stats before = *toynet_stats(net, 0);
    toynet_run_until(net, TOYNET_START + GMC_S(2));
    uint64_t twice = toynet_stats(net, 0)->data_sent[1] - before.data_sent[1];
    uint64_t once = toynet_stats(net, 0)->data_sent[2] - before.data_sent[2];
    assert_in_range(twice, once / 100 * 195, once / 100 * 205);
    toynet_free(net);
}

/* A child that is gone leaves its part to the others. */
static void what_one_does_not_use_others_get(void **state)
{
    struct toynet_config config;
    struct toynet *net = make(&config);
    struct gmc_channel_key key;

    (void)state;
    assert_ok(toynet_stage(net, 0, 0xe, GMC_TREE_FLAT, &key));
    toynet_run_until(net, TOYNET_START + GMC_MS(500));
    toynet_node(net, 3)->cut = true;
    toynet_run_until(net, TOYNET_START + GMC_S(4));
    uint64_t before = toynet_stats(net, 0)->data_sent[1];
    toynet_run_until(net, TOYNET_START + GMC_MS(4500));
    uint64_t half = 100 * MBIT / 8 / 2 / 2; /* of half a second */
    assert_in_range(toynet_stats(net, 0)->data_sent[1] - before, half / 100 * 90, half);
    toynet_free(net);
}

/* What nobody waited for is not lost, nor what a burst makes up for; a pause counts 10 ms. */
static void time_lost_while_data_waits_is_counted(void **state)
{
    static struct gmc_gateway gw;
    static struct gwpeer peer;

    (void)state;
    gw.config.uplink_bps = 100 * MBIT;
    gw.now = GMC_S(1);
    gw_uplink_init(&gw);
    gw_uplink_pay(&gw, 100000);
    assert_int_equal(gw.uplink_late, 0);
    gmc_list_push_back(&gw.turns, &peer.turn_node);
    for (int i = 0; i < 2; i++) {
        assert_null(gw_uplink_next(&gw)); /* it is not paid for yet */
        gw.now = gw.uplink.paid_until + gw.uplink.burst + GMC_MS(3) * (gmc_duration)i;
        gw_uplink_pay(&gw, 100000);
        assert_int_equal(gw.uplink_late, GMC_MS(3) * (gmc_duration)i);
    }
    assert_null(gw_uplink_next(&gw));
    gw.now = gw.uplink.paid_until + GMC_S(1);
    gw_uplink_pay(&gw, 100000);
    assert_int_equal(gw.uplink_late, GMC_MS(3) + GMC_MS(10));
    gmc_list_remove(&peer.turn_node);
    assert_null(gw_uplink_next(&gw));
    gw.now = gw.uplink.paid_until + GMC_S(1);
    gw_uplink_pay(&gw, 100000);
    assert_int_equal(gw.uplink_late, GMC_MS(3) + GMC_MS(10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_share_the_uplink),
        cmocka_unit_test(shares_go_by_children_and_not_by_links),
        cmocka_unit_test(what_one_does_not_use_others_get),
        cmocka_unit_test(time_lost_while_data_waits_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
