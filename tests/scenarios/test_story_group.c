/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of a domain whose gateway reaches its nodes by multicast: each byte crosses the gateway's
 * wire once, however many nodes there are and whatever each of them loses. */
#include "tests/scenarios/lan.h"

#include <stdio.h>

#include "core/gateway_impl.h"

/* Whatever each node loses for itself, all have it in little more than the time that the one that
 * loses most needs. Of a small object the beginning and the end are a larger part. */
static void each_loses(size_t nodes, uint32_t all_ppm, double least)
{
    struct lan lan;
    const uint64_t bytes = 20 * MB;
    lan_begin(&lan, 1 + nodes + all_ppm, nodes, &(struct lan_loss){all_ppm, 0});
    story_stage(&lan.story, bytes, GMC_TREE_CHAIN, "a");
    double seconds = lan_run_to(&lan, 1, nodes, GMC_S(20));
    double of_limit = lan_at_rate(bytes) / (1 - all_ppm / 1e6) / seconds;
    print_message("%zu nodes that lose %.0f %%: %.3f of rate*(1-p), %.3f bytes sent per byte\n",
                  nodes, all_ppm / 1e4, of_limit,
                  (double)story_wire_bytes(&lan.story, "a", "switch") / (double)bytes);
    assert_true(of_limit >= least);
    lan_end(&lan);
}

static void test_each_byte_once(void **state)
{
    (void)state;
    each_loses(4, 0, 0.91);
}

static void test_losses(void **state)
{
    (void)state;
    each_loses(4, 10000, 0.90);
    each_loses(8, 50000, 0.88);
    each_loses(4, 200000, 0.85);
}

/* Where caches hold little, a window of blocks is more than a quarter of one. */
static void small_caches(uint32_t mtu, uint32_t loss_ppm, uint32_t last_ppm)
{
    struct lan lan;
    lan_begin_with(&lan, 9, 3, &(struct lan_loss){loss_ppm, last_ppm},
                   &(struct lan_unusual){.cache_bytes = 1, .mtu = mtu});
    story_stage(&lan.story, 6 * MB, GMC_TREE_CHAIN, "a");
    double seconds = lan_run_to(&lan, 1, 3, GMC_S(60));
    print_message("caches of 16 blocks, packets of %u: %.2f of the limit, %.3f bytes per byte\n",
                  mtu, seconds / lan_at_rate(6 * MB),
                  (double)story_wire_bytes(&lan.story, "a", "switch") / (double)(6 * MB));
    lan_end(&lan);
}

static void test_small_caches(void **state)
{
    (void)state;
    small_caches(1500, 0, 0);
    small_caches(1500, 10000, 0);
    small_caches(1500, 0, 300000);
    small_caches(9000, 0, 0);
    small_caches(9000, 10000, 0);
    small_caches(9000, 0, 300000);
}

/* The gateway's disk returns other bytes than were written, or none: it gets them again, and the
 * group waits for them. */
static void bad_reads(const struct sim_disk_config *disk)
{
    struct lan lan;
    lan_begin_with(&lan, 10, 3, &(struct lan_loss){0, 0},
                   &(struct lan_unusual){.cache_bytes = 2 << 20});
    sim_disk_configure(&story_host(&lan.story, "a")->disk, disk);
    story_stage(&lan.story, 12 * MB, GMC_TREE_CHAIN, "a");
    double seconds = lan_run_to(&lan, 1, 3, GMC_S(60));
    print_message("bad reads at the gateway: %.2f of the limit, %.3f bytes per byte\n",
                  seconds / lan_at_rate(12 * MB),
                  (double)story_wire_bytes(&lan.story, "a", "switch") / (double)(12 * MB));
    lan_end(&lan);
}

static void test_bad_reads(void **state)
{
    (void)state;
    bad_reads(&(struct sim_disk_config){.read_flip_ppm = 200000});
    bad_reads(&(struct sim_disk_config){.read_error_ppm = 100000});
    bad_reads(&(struct sim_disk_config){.read_flip_ppm = 200000, .rate_bps = 400000000});
}

/* What comes over the uplink is out of the cache when the group's turn comes. A disk that takes its
 * time has it again before: it is asked ahead of the group, not when that has nothing to send. */
static void test_disk_takes_its_time(void **state)
{
    (void)state;
    struct lan lan;
    const uint64_t bytes = 80 * MB;
    lan_begin_with(&lan, 12, 3, &(struct lan_loss){0, 0},
                   &(struct lan_unusual){.cache_bytes = 16 << 20});
    sim_disk_configure(&story_host(&lan.story, "a")->disk,
                       &(struct sim_disk_config){.latency = GMC_MS(20), .jitter = GMC_MS(10)});
    story_stage(&lan.story, bytes, GMC_TREE_CHAIN, "a");
    double of_limit = lan_at_rate(bytes) / lan_run_to(&lan, 1, 3, GMC_S(60));
    print_message("a disk with 20 to 30 ms at the gateway: %.3f of the limit\n", of_limit);
    assert_true(of_limit > 0.90);
    lan_end(&lan);
}

/* It stays so, when nobody else has it any more: the nodes are given up, and that is said. */
static void test_nothing_can_be_read(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin_with(&lan, 11, 3, &(struct lan_loss){0, 0},
                   &(struct lan_unusual){.cache_bytes = 2 << 20});
    sim_disk_configure(&story_host(&lan.story, "a")->disk,
                       &(struct sim_disk_config){.read_flip_ppm = 1000000});
    story_stage(&lan.story, 12 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_end(&lan.story, GMC_S(120));
    assert_int_equal(story_state(&lan.story), GMC_CHANNEL_PARTIAL);
    assert_non_null(strstr(story_member_reason(&lan.story, "a"),
                           "3 of 3 nodes lack it: n1.example (its data is not what was announced"));
    story_close(&lan.story);
}

/* One that loses far more is served at its own pace. */
static void test_one_loses_much(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 3, 8, &(struct lan_loss){0, 200000});
    story_stage(&lan.story, 80 * MB, GMC_TREE_CHAIN, "a");
    double seconds = lan_run_to(&lan, 1, 7, GMC_S(20));
    print_message("one of eight loses 20 %%: the others have it in %.3f of the limit\n",
                  seconds / lan_at_rate(80 * MB));
    assert_true(seconds < 1.05 * 1.066 * lan_at_rate(80 * MB));
    assert_true(story_has_line("a.example node n8.example loses"));
    lan_end(&lan);
}

/* The network carries less than was configured, whatever it loses beside: the group goes at what
 * it carries. */
static void narrow_ports(uint64_t port_bps, uint32_t loss_ppm, uint32_t mtu, double least)
{
    struct lan lan;
    const uint64_t bytes = port_bps / 8 * 6; /* six seconds */
    lan_begin_with(&lan, 13, 4, &(struct lan_loss){loss_ppm, 0},
                   &(struct lan_unusual){.port_bps = port_bps, .mtu = mtu});
    story_stage(&lan.story, bytes, GMC_TREE_CHAIN, "a");
    double seconds = lan_run_to(&lan, 1, 4, GMC_S(60));
    double of_limit = (double)bytes * 8 / (double)port_bps / (1 - loss_ppm / 1e6) / seconds;
    print_message("ports of %.0f Mbit/s that lose %.0f %%: %.3f of rate*(1-p), %.3f bytes sent per "
                  "byte\n",
                  (double)port_bps / 1e6, loss_ppm / 1e4, of_limit,
                  (double)story_wire_bytes(&lan.story, "a", "switch") / (double)bytes);
    assert_true(of_limit >= least);
    assert_true(story_has_line("a.example multicast to the nodes goes at "));
    assert_true(story_has_line(" kbit/s of 200 Mbit/s: ") == (port_bps < 10000000));
    lan_end(&lan);
}

/* One of them is no reason to hold the others up. */
static void test_one_port_is_narrow(void **state)
{
    (void)state;
    struct lan lan;
    const uint64_t bytes = 80 * MB;
    lan_begin_with(&lan, 14, 4, &(struct lan_loss){0, 0},
                   &(struct lan_unusual){.port_bps = 50000000, .wide = 3});
    story_stage(&lan.story, bytes, GMC_TREE_CHAIN, "a");
    double seconds = lan_run_to(&lan, 1, 3, GMC_S(60));
    print_message("one of four ports is four times narrower: the others have it in %.3f of the "
                  "limit\n",
                  seconds / lan_at_rate(bytes));
    assert_true(seconds < 1.2 * lan_at_rate(bytes));
    lan_end(&lan);
}

static void test_ports_are_narrow(void **state)
{
    (void)state;
    narrow_ports(5000000, 0, 1500, 0.6);
    narrow_ports(100000000, 0, 1500, 0.8);
    narrow_ports(20000000, 0, 1500, 0.65);
    narrow_ports(100000000, 50000, 1500, 0.75);
    narrow_ports(100000000, 0, 9000, 0.9);
    narrow_ports(20000000, 0, 9000, 0.8);
    narrow_ports(100000000, 50000, 9000, 0.85);
}

/* What a group was sent at the end of a transfer says nothing of the next one's rate. */
static void test_ports_are_narrow_the_next_time(void **state)
{
    (void)state;
    struct lan lan;
    struct sim_net *net;
    lan_begin(&lan, 15, 4, &(struct lan_loss){0, 0});
    net = &lan.story.world->net;
    story_stage(&lan.story, 22 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_end(&lan.story, GMC_S(20));
    story_run(&lan.story, GMC_S(60));
    for (size_t i = 1; i <= 4; i++) {
        uint32_t wire =
            sim_net_wire_between(net, story_host(&lan.story, "switch")->id, lan_node(&lan, i)->id);
        sim_lane_configure(sim_net_lane(net, wire, 0),
                           &(struct sim_wire_config){.rate_bps = 20000000,
                                                     .delay = GMC_US(50),
                                                     .queue_bytes = 20000});
    }
    story_stage(&lan.story, 10 * MB, GMC_TREE_CHAIN, "a");
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        story_run(&lan.story, GMC_MS(10));
        const struct gmc_gateway *gw = story_host(&lan.story, "a")->gateway;
        if (gw->group_rate.bps < least)
            least = gw->group_rate.bps;
    }
    print_message("ports became ten times narrower: the least rate was %.1f Mbit/s\n",
                  (double)least / 1e6);
    assert_true(least < LAN_RATE_BPS && least > 10000000);
    lan_end(&lan);
}

/* The network does not pass multicast: by unicast, and it is said. */
static void test_multicast_does_not_arrive(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 4, 3, &(struct lan_loss){0, 0});
    lan.story.world->net.groups.blocked = true;
    story_stage(&lan.story, 24 * MB, GMC_TREE_CHAIN, "a");
    lan_run_to(&lan, 1, 3, GMC_S(20));
    assert_true(story_has_line("multicast does not arrive at node n2.example"));
    lan_end(&lan);
}

/* A switch forgets the group in the middle: nobody follows it any more, nor does one that comes
 * afterwards. */
static void nobody_follows(bool one_comes_late)
{
    struct lan lan;
    lan_begin(&lan, 16, 4, &(struct lan_loss){0, 0});
    if (one_comes_late)
        sim_host_crash(lan_node(&lan, 4), SIM_CRASH_KILL);
    story_stage(&lan.story, 80 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan.story, "n1", 20, GMC_S(10));
    lan.story.world->net.groups.blocked = true;
    if (one_comes_late)
        sim_host_start(lan_node(&lan, 4));
    double seconds = lan_run_to(&lan, 1, 4, GMC_S(60));
    print_message("multicast ends in the middle: %.2f of the time of four copies\n",
                  seconds / (4 * lan_at_rate(80 * MB)));
    assert_true(story_has_line("no node follows the group"));
    lan_end(&lan);
}

static void test_nobody_follows(void **state)
{
    (void)state;
    nobody_follows(false);
    nobody_follows(true);
}

/* It starts in the middle: the past comes over its link, the rest with the others'. */
static void test_node_comes_late(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 5, 4, &(struct lan_loss){0, 0});
    sim_host_crash(lan_node(&lan, 4), SIM_CRASH_KILL);
    story_stage(&lan.story, 20 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan.story, "n1", 50, GMC_S(10));
    sim_host_start(lan_node(&lan, 4));
    double seconds = lan_run_to(&lan, 1, 3, GMC_S(20));
    double sent = (double)story_wire_bytes(&lan.story, "a", "switch") / (double)(20 * MB);
    print_message("one comes late: %.3f s, %.3f bytes sent per byte\n", seconds, sent);
    assert_true(sent < 1.2);
    lan_end(&lan);
}

/* Nodes are not behind the uplink: what one child gets shows no limit of it. */
static void test_nodes_show_no_uplink(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin_with(&lan, 12, 3, &(struct lan_loss){0, 0}, &(struct lan_unusual){.beyond = true});
    lan.story.world->net.groups.blocked = true;
    story_stage(&lan.story, 40 * MB, GMC_TREE_CHAIN, "ab");
    story_run_to_end(&lan.story, GMC_S(60));
    story_expect_complete(&lan.story);
    story_run(&lan.story, GMC_S(1));
    const struct gmc_gateway *gw = story_host(&lan.story, "a")->gateway;
    assert_string_equal(story_parent(&lan.story, "b"), "a.example");
    assert_true(gmc_peak_most(&gw->peak, gw->now, GMC_S(600)) > LAN_RATE_BPS / 2);
    assert_int_equal(gmc_peak_limit(&gw->peak, gw->now, GMC_S(600)), 0);
    assert_int_equal(gw->feeding, 0);
    story_close(&lan.story);
}

static void test_node_is_killed(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 6, 4, &(struct lan_loss){10000, 0});
    story_stage(&lan.story, 10 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan.story, "n2", 40, GMC_S(10));
    sim_host_crash(lan_node(&lan, 2), SIM_CRASH_POWER);
    story_run(&lan.story, GMC_MS(300));
    sim_host_start(lan_node(&lan, 2));
    lan_end(&lan);
}

/* A process that is stopped (SIGSTOP, a host that swaps) costs the others little; when it goes on
 * it gets what it lacks. */
static void frozen_for(uint64_t seed, uint32_t all_ppm, gmc_duration time)
{
    struct lan lan;
    const uint64_t bytes = 100 * MB;
    double seconds[2];
    for (int k = 0; k < 2; k++) {
        lan_begin(&lan, seed, 4, &(struct lan_loss){all_ppm, 0});
        story_stage(&lan.story, bytes, GMC_TREE_CHAIN, "a");
        story_run_to_percent(&lan.story, "n4", 40, GMC_S(10));
        if (k > 0)
            sim_host_freeze(lan_node(&lan, 4), true);
        if (k > 0 && time < GMC_S(1)) {
            story_run(&lan.story, time);
            sim_host_freeze(lan_node(&lan, 4), false);
        }
        seconds[k] = lan_run_to(&lan, 1, 3, GMC_S(20));
        sim_host_freeze(lan_node(&lan, 4), false);
        lan_end(&lan);
    }
    print_message("a node stops for %.1f s: the others have it after %.3f s, not %.3f s\n",
                  (double)time / 1e9, seconds[1], seconds[0]);
    assert_true(seconds[1] < 1.05 * seconds[0]);
}

static void test_a_node_is_stopped(void **state)
{
    (void)state;
    frozen_for(14, 0, GMC_S(3));
    frozen_for(14, 10000, GMC_S(3));
    frozen_for(14, 0, GMC_MS(200));
}

/* The one that starts does not send again what all nodes have, nor wait for word of it. */
static void test_gateway_is_killed(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 7, 4, &(struct lan_loss){50000, 0});
    story_stage(&lan.story, 20 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan.story, "n2", 40, GMC_S(10));
    sim_host_crash(story_host(&lan.story, "a"), SIM_CRASH_KILL);
    story_run(&lan.story, GMC_MS(300));
    sim_host_start(story_host(&lan.story, "a"));
    lan_run_to(&lan, 1, 4, GMC_S(20));
    const struct gwcounts *counts = &story_host(&lan.story, "a")->gateway->counts;
    double sent = (double)(counts->group_sent - counts->group_repairs) * 1425 / (double)(20 * MB);
    print_message("the gateway is killed: %.3f s, %.3f of all sent again\n",
                  story_seconds(&lan.story), sent);
    assert_false(story_has_line("does not follow the group"));
    assert_true(sent < 0.8);
    lan_end(&lan);
}

/* It is found by the block's hash, and said; the rest comes over links. */
static void test_somebody_forges(void **state)
{
    (void)state;
    struct lan lan;
    lan_begin(&lan, 8, 3, &(struct lan_loss){0, 0});
    story_stage(&lan.story, 20 * MB, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan.story, "n1", 50, GMC_S(10));
    story_spoil(&lan.story, lan_node(&lan, 2));
    lan_run_to(&lan, 1, 3, GMC_S(20));
    assert_true(story_has_line("a.example somebody forges in the group of this domain, whose key 3 "
                               "nodes have: node n2.example found block "));
    assert_true(story_has_line("which is not the source's; all datagrams came from host "));
    assert_int_equal(story_host(&lan.story, "a")->gateway->counts.group_forged, 1);
    lan_end(&lan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_each_byte_once),
        story_test(test_losses),
        story_test(test_small_caches),
        story_test(test_bad_reads),
        story_test(test_disk_takes_its_time),
        story_test(test_nothing_can_be_read),
        story_test(test_one_loses_much),
        story_test(test_ports_are_narrow),
        story_test(test_ports_are_narrow_the_next_time),
        story_test(test_one_port_is_narrow),
        story_test(test_multicast_does_not_arrive),
        story_test(test_nobody_follows),
        story_test(test_node_comes_late),
        story_test(test_somebody_forges),
        story_test(test_node_is_killed),
        story_test(test_a_node_is_stopped),
        story_test(test_nodes_show_no_uplink),
        story_test(test_gateway_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
