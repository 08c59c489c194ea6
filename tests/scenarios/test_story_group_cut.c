/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of a group that something happened to for a moment: what it costs is that moment, and a
 * little to come back. */
#include "tests/scenarios/lan.h"

#include <stdio.h>

#define OBJECT (40 * MB)
#define NODES 6
#define LITTLE_CACHE ((size_t)3 << 20)

/* A node that was stopped comes back behind the others, with a cache that what the group sends now
 * would fill: its link brings what it lacks nevertheless. */
static void stopped(uint64_t seed, gmc_duration pause)
{
    struct lan lan;
    lan_begin_with(&lan, seed, NODES, &(struct lan_loss){20000, 0},
                   &(struct lan_unusual){.cache_bytes = LITTLE_CACHE});
    story_stage(&lan.story, OBJECT, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan.story, "n6", 15, GMC_S(10));
    sim_host_freeze(lan_node(&lan, NODES), true);
    story_run(&lan.story, pause);
    sim_host_freeze(lan_node(&lan, NODES), false);
    double others = lan_run_to(&lan, 1, NODES - 1, GMC_S(30));
    double last = lan_run_to(&lan, NODES, NODES, GMC_S(30));
    print_message(
        "stopped for %.1f s with little cache: the others have it after %.2f s, it %.2f\n",
        (double)pause / 1e9, others, last);
    assert_true(last < 8 * lan_at_rate(OBJECT));
    lan_end(&lan);
}

static void test_behind_with_little_cache(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 8; i++)
        stopped(1 + i, GMC_MS(300) * (i + 1));
}

/* The cluster's network is down for a moment: all that was sent is lost, which says nothing of what
 * it carries. */
static void cut(uint64_t seed, uint32_t loss_ppm, gmc_duration pause, double most)
{
    struct lan lan;
    lan_begin(&lan, seed, NODES, &(struct lan_loss){loss_ppm, 0});
    story_stage(&lan.story, 4 * OBJECT, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&lan.story, "n1", 20, GMC_S(10));
    story_cut(&lan.story, "a", "switch", true);
    story_run(&lan.story, pause);
    story_cut(&lan.story, "a", "switch", false);
    double seconds = lan_run_to(&lan, 1, NODES, GMC_S(60));
    double usual = 1.066 / 0.95 / (1 - loss_ppm / 1e6) * lan_at_rate(4 * OBJECT);
    print_message("the network is down for %.1f s, %.0f %% loss: %.2f s beside that\n",
                  (double)pause / 1e9, loss_ppm / 1e4, seconds - (double)pause / 1e9 - usual);
    assert_true(seconds < usual + (double)pause / 1e9 + most);
    lan_end(&lan);
}

static void test_network_is_down(void **state)
{
    (void)state;
    cut(20, 0, GMC_MS(200), 4);
    cut(21, 0, GMC_MS(500), 4);
    /* What was given up comes by six links that begin at once, of which one is slow for seconds. */
    cut(22, 0, GMC_MS(1200), 8);
    /* Half a minute, if the group were over. */
    cut(30, 50000, GMC_MS(200), 4);
    cut(34, 50000, GMC_MS(200), 4);
    cut(36, 200000, GMC_MS(200), 4);
}

/* So slow that what links to nodes carry, acknowledgements mostly, would take all of it. */
static void test_slow_group(void **state)
{
    (void)state;
    const uint64_t bps = 600000, bytes = 1 * MB;
    struct lan lan;
    lan_begin_with(&lan, 40, 12, &(struct lan_loss){20000, 0},
                   &(struct lan_unusual){.multicast_bps = bps});
    story_stage(&lan.story, bytes, GMC_TREE_CHAIN, "a");
    double seconds = lan_run_to(&lan, 1, 12, GMC_S(120));
    print_message("multicast at %.1f Mbit/s: %.1f times what it takes\n", (double)bps / 1e6,
                  seconds * (double)bps / 8 / (double)bytes);
    assert_true(story_wire_bytes(&lan.story, "a", "switch") < 6 * bytes); /* by the group */
    lan_end(&lan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_behind_with_little_cache),
        story_test(test_network_is_down),
        story_test(test_slow_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
