/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of a domain whose nodes feed each other as a tree: the gateway sends no more copies than
 * it has children there, whatever becomes of the nodes that relay. */
#include "tests/scenarios/story.h"

#include <stdio.h>

#include "core/gateway_impl.h"

#define OBJECT (10 * MB)
#define NODES 6

/* Each below the one before. */
static gmc_status chain(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                        uint32_t *parent, const char **name)
{
    (void)ctx, (void)names, (void)bytes;
    for (uint32_t i = 1; i < count; i++)
        parent[i] = i - 1;
    *name = "chain";
    return GMC_OK;
}

/* A heap: 0 feeds 1 and 2, 1 feeds 3 and 4, 2 feeds 5 and 6. */
static gmc_status heap(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                       uint32_t *parent, const char **name)
{
    (void)ctx, (void)names, (void)bytes;
    for (uint32_t i = 1; i < count; i++)
        parent[i] = (i - 1) / 2;
    *name = "binary";
    return GMC_OK;
}

/* No tree: two that feed each other. */
static gmc_status knot(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                       uint32_t *parent, const char **name)
{
    (void)ctx, (void)names, (void)bytes, (void)count;
    for (uint32_t i = 1; i < count; i++)
        parent[i] = i % 2 == 1 ? i + 1 : i - 1;
    *name = "knot";
    return GMC_OK;
}

typedef gmc_status shape_function(void *, const char *const *, size_t, uint64_t, uint32_t *,
                                  const char **);

struct domain {
    struct story story;
    struct sim_host *nodes[NODES + 1]; /* from 1 */
    uint32_t wires[NODES + 1];
};

static const struct sim_wire_config lan = {.rate_bps = 200000000,
                                           .delay = GMC_US(50),
                                           .queue_bytes = 500000};

/* S - B - A, and behind A a switch with n1 to n6; what A and B relay, they relay in a chain. */
static void begin(struct domain *domain, uint64_t seed, shape_function *shape)
{
    struct story *story = &domain->story;
    story_open_with(story, &(struct sim_world_config){.seed = seed,
                                                      .exact_clocks = true,
                                                      .patience = GMC_S(3),
                                                      .inside_tree = {.shape = shape}});
    struct sim_host *source = sim_world_add(story->world, "s.example");
    struct sim_host *gateway = sim_world_add(story->world, "a.example");
    struct sim_host *other = sim_world_add(story->world, "b.example");
    struct sim_host *exchange = sim_world_add_router(story->world, "switch.example");
    sim_world_join(story->world, source, other, &story->wire);
    sim_world_join(story->world, other, gateway, &story->wire);
    sim_world_join(story->world, gateway, exchange, &lan);
    for (int i = 1; i <= NODES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%d.example", i);
        domain->nodes[i] = sim_world_add_node(story->world, gateway, name);
        domain->wires[i] = sim_world_join(story->world, exchange, domain->nodes[i], &lan);
    }
    story_start(story);
}

static void stage(struct domain *domain)
{
    story_stage(&domain->story, OBJECT, GMC_TREE_CHAIN, "ba");
}

static bool has_it(const struct domain *domain, int i)
{
    return sim_disk_has_delivered(&domain->nodes[i]->disk, &domain->story.key);
}

static void expect_all_but(struct domain *domain, int lost)
{
    for (int i = 1; i <= NODES; i++)
        assert_int_equal(has_it(domain, i), i != lost);
}

static void ends_complete(struct domain *domain)
{
    story_run_to_end(&domain->story, GMC_S(60));
    story_expect_complete(&domain->story);
    expect_all_but(domain, 0);
}

/* Copies of the object that a host sent onto the LAN, in tenths. */
static uint64_t tenths_sent(struct domain *domain, const char *name)
{
    return story_wire_bytes(&domain->story, name, "switch") * 10 / OBJECT;
}

static const char *parent_of(struct domain *domain, const char *node)
{
    return story_parent(&domain->story, node);
}

static void test_a_chain_costs_the_gateway_one_copy(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 1, chain);
    stage(&domain);
    ends_complete(&domain);
    assert_true(story_has_line("its 6 nodes are a tree (chain), in which this gateway feeds 1"));
    assert_string_equal(parent_of(&domain, "n1"), "a.example");
    assert_string_equal(parent_of(&domain, "n2"), "n1.example");
    assert_string_equal(parent_of(&domain, "n6"), "n5.example");
    assert_in_range(tenths_sent(&domain, "a"), 10, 12);
    story_run(&domain.story, GMC_S(2));
    sim_oracle_check_idle(&domain.story.world->oracle);
    story_close(&domain.story);
}

static void test_a_heap_costs_the_gateway_two(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 2, heap);
    stage(&domain);
    ends_complete(&domain);
    assert_string_equal(parent_of(&domain, "n2"), "a.example");
    assert_string_equal(parent_of(&domain, "n5"), "n2.example");
    assert_in_range(tenths_sent(&domain, "a"), 20, 24);
    story_close(&domain.story);
}

static void test_what_is_no_tree_is_not_used(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 3, knot);
    stage(&domain);
    ends_complete(&domain);
    assert_false(story_has_line("nodes are a tree"));
    assert_in_range(tenths_sent(&domain, "a"), 60, 72);
    story_close(&domain.story);
}

/* Nobody has to be sent twice by the gateway for what a node lost: its parent has it. */
static void test_losses_are_repaired_by_the_parent(void **state)
{
    (void)state;
    struct domain domain;
    struct sim_wire_config lossy = lan;
    lossy.loss_ppm = 30000;
    begin(&domain, 4, heap);
    for (int i = 3; i <= NODES; i++)
        sim_lane_configure(sim_net_lane(&domain.story.world->net, domain.wires[i], 0), &lossy);
    stage(&domain);
    ends_complete(&domain);
    assert_in_range(tenths_sent(&domain, "a"), 20, 24);
    story_close(&domain.story);
}

/* The relay in the middle dies for good: who stands below goes on, one step up. */
static void a_relay_dies(enum sim_crash crash)
{
    struct domain domain;
    begin(&domain, 5, chain);
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    sim_host_crash(domain.nodes[3], crash);
    story_run_to_end(&domain.story, GMC_S(60));
    assert_int_equal(story_member_state(&domain.story, "a"), GMC_MEMBER_FAILED);
    assert_non_null(strstr(story_member_reason(&domain.story, "a"), "1 of 6 nodes lack it: n3"));
    expect_all_but(&domain, 3);
    story_close(&domain.story);
}

static void test_a_relay_is_killed(void **state)
{
    (void)state;
    a_relay_dies(SIM_CRASH_KILL);
}

static void test_a_relay_loses_power(void **state)
{
    (void)state;
    a_relay_dies(SIM_CRASH_POWER);
}

static void test_a_relay_comes_back(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 6, chain);
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    sim_host_crash(domain.nodes[3], SIM_CRASH_KILL);
    story_run(&domain.story, GMC_MS(200));
    assert_string_equal(parent_of(&domain, "n4"), "n2.example");
    sim_host_start(domain.nodes[3]);
    story_run(&domain.story, GMC_MS(300));
    assert_string_equal(parent_of(&domain, "n3"), "n2.example");
    assert_string_equal(parent_of(&domain, "n4"), "n3.example");
    ends_complete(&domain);
    assert_in_range(tenths_sent(&domain, "a"), 10, 12);
    story_close(&domain.story);
}

static bool others_have_it(void *ctx)
{
    const struct domain *domain = ctx;
    for (int i = 1; i <= NODES; i++)
        if (i != 3 && !has_it(domain, i))
            return false;
    return true;
}

/* Seconds until all others have it when n3, which feeds n4, is stopped in the middle and goes on
 * after a while; 0: it is not stopped. */
static double beside_a_stopped_relay(uint64_t seed, uint32_t loss_ppm, gmc_duration stopped)
{
    struct domain domain;
    struct sim_wire_config lossy = lan;
    lossy.loss_ppm = loss_ppm;
    begin(&domain, seed, chain);
    struct sim_world *world = domain.story.world;
    for (int i = 1; i <= NODES; i++)
        sim_lane_configure(sim_net_lane(&world->net, domain.wires[i], 0), &lossy);
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    gmc_time end = gmc_time_add(sim_world_now(world), stopped);
    sim_host_freeze(domain.nodes[3], stopped > 0);
    (void)sim_world_run_until(world, GMC_MS(1), stopped, others_have_it, &domain);
    double seconds = story_seconds(&domain.story);
    story_run(&domain.story, gmc_time_sub(end, sim_world_now(world)));
    sim_host_freeze(domain.nodes[3], false);
    if (!others_have_it(&domain)) {
        assert_true(sim_world_run_until(world, GMC_MS(1), GMC_S(60), others_have_it, &domain));
        seconds = story_seconds(&domain.story);
    }
    ends_complete(&domain);
    story_close(&domain.story);
    return seconds;
}

/* It does not take the death of its link for those below to be fed by others. */
static void test_a_relay_is_stopped(void **state)
{
    (void)state;
    double alone = beside_a_stopped_relay(12, 0, 0);
    assert_true(beside_a_stopped_relay(12, 0, GMC_S(2)) < alone + 0.4);
}

/* It goes on while its link still lives, and feeds again when it has been heard for a second. */
static void test_a_relay_stumbles(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 13, chain);
    story_stage(&domain.story, 4 * OBJECT, GMC_TREE_CHAIN, "ba");
    story_run_to_percent(&domain.story, "n6", 20, GMC_S(10));
    sim_host_freeze(domain.nodes[3], true);
    story_run(&domain.story, GMC_MS(900));
    assert_string_equal(parent_of(&domain, "n4"), "n2.example");
    sim_host_freeze(domain.nodes[3], false);
    story_run(&domain.story, GMC_MS(900));
    assert_string_equal(parent_of(&domain, "n4"), "n2.example");
    story_run(&domain.story, GMC_MS(300));
    assert_string_equal(parent_of(&domain, "n4"), "n3.example");
    ends_complete(&domain);
    story_close(&domain.story);
}

/* A path that loses much is no silence. */
static void test_a_relay_behind_losses_is_not_silent(void **state)
{
    (void)state;
    for (uint32_t loss_ppm = 50000; loss_ppm <= 200000; loss_ppm *= 4) {
        (void)beside_a_stopped_relay(14, loss_ppm, 0);
        assert_false(story_has_line("nothing heard"));
        assert_false(story_has_line("says nothing"));
    }
}

static void test_the_gateway_comes_back(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 7, heap);
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    sim_host_crash(story_host(&domain.story, "a"), SIM_CRASH_KILL);
    story_run(&domain.story, GMC_MS(500));
    sim_host_start(story_host(&domain.story, "a"));
    ends_complete(&domain);
    assert_string_equal(parent_of(&domain, "n6"), "n2.example");
    story_close(&domain.story);
}

/* It comes in the middle: it is placed at the end, and nobody else is moved. */
static void test_a_node_comes_late(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 8, heap);
    sim_host_crash(domain.nodes[6], SIM_CRASH_KILL);
    stage(&domain);
    story_run_to_percent(&domain.story, "n5", 40, GMC_S(10));
    sim_host_start(domain.nodes[6]);
    ends_complete(&domain);
    assert_string_equal(parent_of(&domain, "n6"), "n2.example");
    assert_in_range(tenths_sent(&domain, "a"), 20, 24);
    story_close(&domain.story);
}

/* Nodes that cannot reach each other are fed by the gateway, each of them. */
static void test_nodes_that_do_not_reach_each_other(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 9, chain);
    for (int i = 1; i <= NODES; i++)
        for (int k = 1; k <= NODES; k++)
            if (i != k)
                sim_net_block_udp(&domain.story.world->net, domain.nodes[i]->id,
                                  domain.nodes[k]->id, true);
    stage(&domain);
    ends_complete(&domain);
    assert_true(story_has_line("node n2.example does not reach node n1.example: it is fed from"));
    assert_true(story_seconds(&domain.story) < 7);
    /* Six links that begin at once on one port lose much of what they send. */
    assert_in_range(tenths_sent(&domain, "a"), 60, 110);
    story_close(&domain.story);
}

/* Two transfers at once share the sessions, and the end of one is not that of the other. */
static void test_two_transfers_share_sessions(void **state)
{
    (void)state;
    struct domain domain;
    struct gmc_channel_key second;
    const char *error = NULL;
    begin(&domain, 10, chain);
    struct sim_host *targets[] = {story_host(&domain.story, "a")};
    stage(&domain);
    struct sim_stage more = {.object_seed = 99,
                             .bytes = 2 * OBJECT,
                             .targets = targets,
                             .target_count = 1,
                             .shape = GMC_TREE_CHAIN};
    assert_ok(sim_stage(domain.story.source, &more, &second, &error));
    ends_complete(&domain);
    assert_true(sim_run_to_end(domain.story.source, &second, GMC_MS(10), GMC_S(60)));
    for (int i = 1; i <= NODES; i++)
        assert_true(sim_disk_has_delivered(&domain.nodes[i]->disk, &second));
    assert_in_range(tenths_sent(&domain, "a"), 30, 36);
    /* When the last one is over nodes forget each other. */
    story_run(&domain.story, GMC_S(2));
    for (int i = 1; i <= NODES; i++)
        for (size_t k = 0; k < domain.nodes[i]->gateway->peer_count; k++) {
            const struct gwpeer *peer = domain.nodes[i]->gateway->peers[k];
            assert_true(peer->link == NULL || strcmp(peer->name, "a.example") == 0);
        }
    assert_true(gmc_list_is_empty(&story_host(&domain.story, "a")->gateway->pairs));
    story_close(&domain.story);
}

/* A node knows its gateway, its neighbours in the tree, and the source's name; of the gateways on
 * the way nothing. */
static void test_nodes_do_not_learn_the_way(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 11, chain);
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    assert_string_equal(parent_of(&domain, "a"), "b.example");
    for (int i = 1; i <= NODES; i++) {
        const struct gmc_gateway *gw = domain.nodes[i]->gateway;
        assert_null(gw_peer_known(gw, "b.example"));
        for (int k = 1; k <= NODES; k++)
            assert_int_equal(gw_peer_known(gw, domain.nodes[k]->name) != NULL,
                             k >= i - 1 && k <= i + 1);
    }
    ends_complete(&domain);
    story_close(&domain.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_a_chain_costs_the_gateway_one_copy),
        story_test(test_a_heap_costs_the_gateway_two),
        story_test(test_what_is_no_tree_is_not_used),
        story_test(test_losses_are_repaired_by_the_parent),
        story_test(test_a_relay_is_killed),
        story_test(test_a_relay_loses_power),
        story_test(test_a_relay_comes_back),
        story_test(test_a_relay_is_stopped),
        story_test(test_a_relay_stumbles),
        story_test(test_a_relay_behind_losses_is_not_silent),
        story_test(test_the_gateway_comes_back),
        story_test(test_a_node_comes_late),
        story_test(test_nodes_that_do_not_reach_each_other),
        story_test(test_two_transfers_share_sessions),
        story_test(test_nodes_do_not_learn_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
