/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories inside a domain: a gateway hands on what it receives to its nodes, over its own network;
 * nodes die, come back, or never come, and the source hears of it in its domain's verdict. */
#include "tests/scenarios/story.h"

#include <stdio.h>

#define OBJECT (10 * MB)
#define NODES 4

static const struct sim_wire_config lan = {.rate_bps = 1000000000,
                                           .delay = GMC_US(50),
                                           .queue_bytes = 1000000};

/* S - A, and behind A a switch with n1 to n4, the last of them on a wire of its own kind. */
static void begin_with(struct story *story, uint64_t seed, gmc_duration patience,
                       const struct sim_wire_config *last)
{
    story_open_with(story, &(struct sim_world_config){.seed = seed,
                                                      .exact_clocks = true,
                                                      .patience = patience});
    struct sim_host *source = sim_world_add(story->world, "s.example");
    struct sim_host *gateway = sim_world_add(story->world, "a.example");
    struct sim_host *exchange = sim_world_add_router(story->world, "switch.example");
    sim_world_join(story->world, source, gateway, &story->wire);
    sim_world_join(story->world, gateway, exchange, &lan);
    for (int i = 1; i <= NODES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%d.example", i);
        sim_world_join(story->world, exchange, sim_world_add_node(story->world, gateway, name),
                       i < NODES ? &lan : last);
    }
    story_start(story);
}

static void begin(struct story *story, uint64_t seed, gmc_duration patience)
{
    begin_with(story, seed, patience, &lan);
}

static bool node_has_it(struct story *story, int i)
{
    char name[16];
    snprintf(name, sizeof(name), "n%d", i);
    return sim_disk_has_delivered(&story_host(story, name)->disk, &story->key);
}

static void test_all_nodes_get_it(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 100000, OBJECT};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct story story;
        begin(&story, 1 + i, 0);
        story_stage(&story, sizes[i], GMC_TREE_CHAIN, "a");
        story_run_to_end(&story, GMC_S(20));
        story_expect_complete(&story);
        for (int n = 1; n <= NODES; n++)
            assert_true(node_has_it(&story, n));
        assert_true(story_has_line("n1.example attached to a.example"));
        /* Nodes cost the wide area nothing. */
        assert_in_range(story_wire_bytes(&story, "s", "a"), sizes[i],
                        sizes[i] * 112 / 100 + 100000);
        story_run(&story, GMC_S(2));
        sim_oracle_check_idle(&story.world->oracle);
        story_close(&story);
    }
}

/* Killed in the middle and started again: it goes on, and the domain is complete. */
static void restarted(const char *host)
{
    struct story story;
    begin(&story, 10, 0);
    story_stage(&story, OBJECT, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&story, "n2", 50, GMC_S(10));
    sim_host_crash(story_host(&story, host), SIM_CRASH_KILL);
    story_run(&story, GMC_S(1));
    sim_host_start(story_host(&story, host));
    story_run_to_end(&story, GMC_S(30));
    story_expect_complete(&story);
    for (int n = 1; n <= NODES; n++)
        assert_true(node_has_it(&story, n));
    story_close(&story);
}

static void test_node_restarts(void **state)
{
    (void)state;
    restarted("n2");
}

static void test_gateway_restarts(void **state)
{
    (void)state;
    restarted("a");
}

/* One that never comes back: the others have it, and the source is told who has not. */
static void test_node_dies(void **state)
{
    (void)state;
    struct story story;
    begin(&story, 11, GMC_S(3));
    story_stage(&story, OBJECT, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&story, "n2", 50, GMC_S(10));
    sim_host_crash(story_host(&story, "n3"), SIM_CRASH_POWER);
    story_run_to_end(&story, GMC_S(30));
    assert_int_equal(story_member_state(&story, "a"), GMC_MEMBER_FAILED);
    assert_non_null(strstr(story_member_reason(&story, "a"),
                           "the gateway has it; 1 of 4 nodes lack it: n3.example ("));
    story_expect_delivered(&story, "a");
    for (int n = 1; n <= NODES; n++)
        assert_int_equal(node_has_it(&story, n), n != 3);
    story_close(&story);
}

static void stop_node(struct story *story, const char *name)
{
    struct sim_host *node = story_host(story, name);
    sim_host_on_session_end(story_host(story, "a"), node->id, GMC_PEER_SESSION_STOPPED,
                            "the node is being stopped");
    sim_host_crash(node, SIM_CRASH_KILL);
}

/* One that said that it is being stopped has left, and not failed; also where its gateway was
 * killed before it let it go, or after. One that comes back meanwhile is one of them again. */
static void test_node_is_stopped(void **state)
{
    (void)state;
    static const gmc_duration killed_after[] = {0, GMC_MS(500), GMC_S(4)};
    for (size_t i = 0; i < sizeof(killed_after) / sizeof(killed_after[0]); i++) {
        struct story story;
        begin(&story, 12 + i, GMC_S(3));
        story_stage(&story, 10 * OBJECT, GMC_TREE_CHAIN, "a");
        story_run_to_percent(&story, "n2", 20, GMC_S(10));
        stop_node(&story, "n3");
        stop_node(&story, "n4");
        story_run(&story, GMC_MS(300));
        sim_host_start(story_host(&story, "n4"));
        if (killed_after[i] > 0) {
            story_run(&story, killed_after[i]);
            sim_host_crash(story_host(&story, "a"), SIM_CRASH_KILL);
            story_run(&story, GMC_MS(200));
            sim_host_start(story_host(&story, "a"));
        }
        story_run_to_end(&story, GMC_S(60));
        story_expect_complete(&story);
        assert_non_null(strstr(story_member_reason(&story, "a"),
                               "1 of 4 nodes left before they had it: n3.example ("));
        for (int n = 1; n <= NODES; n++)
            assert_int_equal(node_has_it(&story, n), n != 3);
        story_close(&story);
    }
}

/* One that was given up, and is asked again, also by a gateway that was killed meanwhile. */
static void test_resume_reaches_it(void **state)
{
    (void)state;
    for (uint64_t killed = 0; killed < 2; killed++) {
        struct story story;
        const char *error = NULL;
        begin(&story, 20 + killed, GMC_S(2));
        story_stage(&story, OBJECT, GMC_TREE_CHAIN, "a");
        story_run_to_percent(&story, "n3", 50, GMC_S(10));
        sim_host_crash(story_host(&story, "n3"), SIM_CRASH_KILL);
        story_run_to_end(&story, GMC_S(30));
        assert_int_equal(story_member_state(&story, "a"), GMC_MEMBER_FAILED);
        assert_false(node_has_it(&story, 3));
        if (killed > 0) {
            sim_host_crash(story_host(&story, "a"), SIM_CRASH_KILL);
            story_run(&story, GMC_MS(100));
            sim_host_start(story_host(&story, "a"));
        }
        sim_host_start(story_host(&story, "n3"));
        story_run(&story, GMC_S(1));
        assert_ok(sim_resume(story.source, &story.key, &error));
        story_run_to_end(&story, GMC_S(30));
        story_expect_complete(&story);
        for (int n = 1; n <= NODES; n++)
            assert_true(node_has_it(&story, n));
        story_close(&story);
    }
}

/* One that is slow, or loses much, does not hold the others. */
static void test_lossy_node(void **state)
{
    (void)state;
    struct story story;
    struct sim_wire_config lossy = {.rate_bps = 20000000,
                                    .delay = GMC_US(50),
                                    .queue_bytes = 100000,
                                    .loss_ppm = 50000};
    begin_with(&story, 12, 0, &lossy);
    story_stage(&story, OBJECT, GMC_TREE_CHAIN, "a");
    story_run_to_percent(&story, "n1", 100, GMC_S(3));
    assert_true(story_seconds(&story) < 1.6);
    assert_false(node_has_it(&story, 4));
    story_run_to_end(&story, GMC_S(30));
    story_expect_complete(&story);
    assert_true(node_has_it(&story, 4));
    story_close(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_all_nodes_get_it),  story_test(test_node_restarts),
        story_test(test_gateway_restarts),  story_test(test_node_dies),
        story_test(test_node_is_stopped),   story_test(test_lossy_node),
        story_test(test_resume_reaches_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
