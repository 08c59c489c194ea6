/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of a domain of several subnets, between which multicast does not pass: the gateway sends
 * each byte once to its own, and once to one node of each other one, which sends it on. */
#include "tests/scenarios/story.h"

#include <stdio.h>

#include "core/gateway_group_impl.h"

#define RATE UINT64_C(200000000)
#define OBJECT (20 * MB)
#define NODES 8 /* four in each subnet */

struct domain {
    struct story story;
    struct sim_host *nodes[NODES + 1]; /* from 1 */
    uint32_t wires[NODES + 1];
};

/* What differs between stories; zeros: nothing. */
struct setting {
    bool outside;    /* the gateway stands in none of the subnets */
    bool no_group;   /* and has no multicast at all */
    bool no_relays;  /* nobody can relay */
    bool one_subnet; /* of all nodes */
    uint32_t loss_ppm;
};

static const struct sim_wire_config lan = {.rate_bps = RATE,
                                           .delay = GMC_US(50),
                                           .queue_bytes = 200000};

static void add_node(struct domain *domain, const struct setting *setting, struct sim_host *gateway,
                     struct sim_host *exchange, int i)
{
    struct sim_world *world = domain->story.world;
    char name[32];
    struct sim_wire_config lossy = lan;
    lossy.loss_ppm = setting->loss_ppm;
    snprintf(name, sizeof(name), "n%d.example", i);
    struct sim_host *node = sim_world_add_node(world, gateway, name);
    node->subnet = i <= 4 || setting->one_subnet ? "10.1.0.0/16" : "10.2.0.0/16";
    node->multicast_bps = setting->no_relays ? 0 : RATE;
    domain->nodes[i] = node;
    domain->wires[i] = sim_world_join(world, exchange, node, &lan);
    sim_lane_configure(sim_net_lane(&world->net, domain->wires[i], 0), &lossy);
}

/* S far away - A - switch, with n1 to n4 - router - branch, with n5 to n8. A gateway outside is
 * behind a router of its own. */
static void begin(struct domain *domain, uint64_t seed, const struct setting *setting)
{
    struct sim_wire_config far = {.rate_bps = 1000000000,
                                  .delay = GMC_MS(1),
                                  .queue_bytes = 2000000};
    struct story *story = &domain->story;
    story_open_with(story, &(struct sim_world_config){.seed = seed,
                                                      .exact_clocks = true,
                                                      .patience = GMC_S(3),
                                                      .multicast_bps = RATE});
    struct sim_world *world = story->world;
    struct sim_host *source = sim_world_add(world, "s.example");
    struct sim_host *gateway = sim_world_add(world, "a.example");
    struct sim_host *entry = sim_world_add_router(world, "entry.example");
    struct sim_host *exchange = sim_world_add_router(world, "switch.example");
    struct sim_host *router = sim_world_add_router(world, "router.example");
    struct sim_host *branch = sim_world_add_router(world, "branch.example");
    sim_world_join(world, source, gateway, &far);
    sim_world_join(world, gateway, entry, &lan);
    sim_world_join(world, entry, exchange, &lan);
    sim_world_join(world, exchange, router, &lan);
    sim_world_join(world, router, branch, &lan);
    for (int i = 1; i <= NODES; i++)
        add_node(domain, setting, gateway, i <= 4 || setting->one_subnet ? exchange : branch, i);
    sim_group_block(&world->net, router->id);
    if (setting->outside)
        sim_group_block(&world->net, entry->id);
    story_start(story);
    if (setting->no_group)
        gmc_gateway_set_group(gateway->gateway, sim_host_now(gateway), gmc_bytes(NULL, 0), 0, 0);
}

static void stage(struct domain *domain)
{
    story_stage(&domain->story, OBJECT, GMC_TREE_CHAIN, "a");
}

static void expect_all_but(struct domain *domain, int lost)
{
    for (int i = 1; i <= NODES; i++)
        assert_int_equal(sim_disk_has_delivered(&domain->nodes[i]->disk, &domain->story.key),
                         i != lost);
}

static void ends_complete(struct domain *domain)
{
    story_run_to_end(&domain->story, GMC_S(60));
    story_expect_complete(&domain->story);
    expect_all_but(domain, 0);
}

/* Copies of the object that a wire carried, in tenths. */
static uint64_t tenths(struct domain *domain, const char *from, const char *to)
{
    uint64_t copies = story_wire_bytes(&domain->story, from, to) * 100 / OBJECT;
    print_message("%s to %s: %.2f copies\n", from, to, (double)copies / 100);
    return copies / 10;
}

static const char *parent_of(struct domain *domain, const char *node)
{
    return story_parent(&domain->story, node);
}

static bool is_relay(const struct sim_host *node)
{
    return node->gateway->counts.group_sent > 0;
}

/* One of these relays, and feeds the others. */
static void expect_one_relay(struct domain *domain, int first, int last)
{
    int relay = 0;
    for (int i = first; i <= last; i++) {
        if (!is_relay(domain->nodes[i]))
            continue;
        assert_int_equal(relay, 0);
        relay = i;
    }
    assert_int_not_equal(relay, 0);
    for (int i = first; i <= last; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        assert_string_equal(parent_of(domain, name),
                            i == relay ? "a.example" : domain->nodes[relay]->name);
    }
}

/* The gateway stands in the first subnet. */
static void test_each_subnet_gets_a_copy(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 1, &(struct setting){0});
    stage(&domain);
    ends_complete(&domain);
    print_message("%.3f s, %.2f of the limit for two copies\n", story_seconds(&domain.story),
                  story_seconds(&domain.story) * (double)RATE / 8 / 2 / (double)OBJECT);
    assert_true(story_has_line("node n5.example relays to its subnet 10.2.0.0/16"));
    assert_string_equal(parent_of(&domain, "n4"), "a.example");
    assert_string_equal(parent_of(&domain, "n5"), "a.example");
    assert_string_equal(parent_of(&domain, "n6"), "n5.example");
    assert_string_equal(parent_of(&domain, "n8"), "n5.example");
    assert_in_range(tenths(&domain, "s", "a"), 10, 11);
    assert_in_range(tenths(&domain, "a", "entry"), 20, 22);
    assert_in_range(tenths(&domain, "router", "branch"), 10, 13);
    assert_in_range(tenths(&domain, "n5", "branch"), 10, 12);
    story_run(&domain.story, GMC_S(2));
    sim_oracle_check_idle(&domain.story.world->oracle);
    story_close(&domain.story);
}

/* What was found out is known when the next transfer begins. */
static void test_the_next_one_begins_at_once(void **state)
{
    (void)state;
    struct domain domain;
    struct gmc_channel_key second;
    const char *error = NULL;
    begin(&domain, 2, &(struct setting){0});
    stage(&domain);
    ends_complete(&domain);
    uint64_t before = story_wire_bytes(&domain.story, "a", "entry");
    struct sim_host *targets[] = {story_host(&domain.story, "a")};
    struct sim_stage more = {.object_seed = 99,
                             .bytes = OBJECT,
                             .targets = targets,
                             .target_count = 1,
                             .shape = GMC_TREE_CHAIN};
    assert_ok(sim_stage(domain.story.source, &more, &second, &error));
    assert_true(sim_run_to_end(domain.story.source, &second, GMC_MS(10), GMC_S(60)));
    for (int i = 1; i <= NODES; i++)
        assert_true(sim_disk_has_delivered(&domain.nodes[i]->disk, &second));
    uint64_t sent = story_wire_bytes(&domain.story, "a", "entry") - before;
    print_message("the second one: %.2f copies\n", (double)sent / (double)OBJECT);
    assert_in_range(sent * 10 / OBJECT, 20, 22);
    story_close(&domain.story);
}

/* Whatever nodes lose behind the relay is not the gateway's business. */
static void test_losses_are_repaired_by_the_relay(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 3, &(struct setting){.loss_ppm = 20000});
    stage(&domain);
    ends_complete(&domain);
    assert_in_range(tenths(&domain, "router", "branch"), 10, 13);
    assert_in_range(tenths(&domain, "n5", "branch"), 10, 13);
    story_close(&domain.story);
}

/* It dies for good in the middle: another node of the subnet takes its place. */
static void the_relay_dies(enum sim_crash crash)
{
    struct domain domain;
    begin(&domain, 4, &(struct setting){0});
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    assert_true(is_relay(domain.nodes[5]));
    sim_host_crash(domain.nodes[5], crash);
    story_run_to_end(&domain.story, GMC_S(60));
    assert_int_equal(story_member_state(&domain.story, "a"), GMC_MEMBER_FAILED);
    assert_non_null(strstr(story_member_reason(&domain.story, "a"), "1 of 8 nodes lack it: n5"));
    expect_all_but(&domain, 5);
    assert_int_equal(is_relay(domain.nodes[6]) + is_relay(domain.nodes[7]) +
                         is_relay(domain.nodes[8]),
                     1);
    assert_in_range(tenths(&domain, "s", "a"), 10, 11);
    assert_in_range(tenths(&domain, "router", "branch"), 10, 15);
    /* What was missing still, once for all. */
    static const char *const left[] = {"n6", "n7", "n8"};
    for (size_t i = 0; i < 3; i++)
        assert_in_range(tenths(&domain, left[i], "branch"), 0, 8);
    story_close(&domain.story);
}

static void test_the_relay_is_killed(void **state)
{
    (void)state;
    the_relay_dies(SIM_CRASH_KILL);
}

static void test_the_relay_loses_power(void **state)
{
    (void)state;
    the_relay_dies(SIM_CRASH_POWER);
}

/* One that lost its relay and asked both the next one and the gateway hears from the gateway last:
 * that is a group which does not reach it. */
static void test_the_gateway_answers_late(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 13, &(struct setting){0});
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 30, GMC_S(10));
    struct gmc_gateway *gw = story_host(&domain.story, "a")->gateway;
    const struct gwchannel *ch =
        GMC_CONTAINER_OF(gmc_list_first(&gw->channels), struct gwchannel, node);
    for (int i = 6; i <= NODES; i++) {
        struct gwlistener late = {.peer = gw_peer_by_name(gw, domain.nodes[i]->name)};
        gw_group_tell(gw, ch->group, &late, false);
    }
    ends_complete(&domain);
    assert_in_range(tenths(&domain, "n5", "branch"), 10, 12);
    story_close(&domain.story);
}

/* It comes back: as one of those that are relayed to. */
static void test_the_relay_comes_back(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 5, &(struct setting){0});
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    sim_host_crash(domain.nodes[5], SIM_CRASH_KILL);
    story_run(&domain.story, GMC_MS(300));
    sim_host_start(domain.nodes[5]);
    ends_complete(&domain);
    assert_string_not_equal(parent_of(&domain, "n5"), "a.example");
    assert_in_range(tenths(&domain, "a", "entry"), 20, 25);
    story_close(&domain.story);
}

static void test_a_node_comes_late(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 6, &(struct setting){0});
    sim_host_crash(domain.nodes[8], SIM_CRASH_KILL);
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    sim_host_start(domain.nodes[8]);
    ends_complete(&domain);
    assert_string_equal(parent_of(&domain, "n8"), "n5.example");
    assert_in_range(tenths(&domain, "router", "branch"), 10, 14);
    story_close(&domain.story);
}

/* The gateway stands outside: the head node gets it once, and delivers. */
static void head_node(const struct setting *setting)
{
    struct domain domain;
    begin(&domain, 7, setting);
    stage(&domain);
    ends_complete(&domain);
    print_message("%.3f s, %.2f of the limit\n", story_seconds(&domain.story),
                  story_seconds(&domain.story) * (double)RATE / 8 / (double)OBJECT);
    expect_one_relay(&domain, 1, NODES);
    assert_in_range(tenths(&domain, "a", "entry"), 10, 14);
    story_close(&domain.story);
}

static void test_a_head_node_delivers(void **state)
{
    (void)state;
    head_node(&(struct setting){.outside = true, .no_group = true, .one_subnet = true});
    head_node(&(struct setting){.outside = true, .one_subnet = true});
}

/* Two subnets, neither of which is the gateway's. */
static void test_a_gateway_outside_of_two(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 8, &(struct setting){.outside = true, .no_group = true});
    stage(&domain);
    ends_complete(&domain);
    expect_one_relay(&domain, 1, 4);
    expect_one_relay(&domain, 5, NODES);
    assert_in_range(tenths(&domain, "a", "entry"), 20, 24);
    story_close(&domain.story);
}

/* Nobody can relay: whom multicast does not reach is served over his link. */
static void test_nobody_can_relay(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 9, &(struct setting){.no_relays = true});
    stage(&domain);
    ends_complete(&domain);
    assert_false(story_has_line("relays to its subnet"));
    assert_string_equal(parent_of(&domain, "n6"), "a.example");
    story_close(&domain.story);
}

/* Within its subnet multicast does not pass either: the relay serves each over its link. */
static void test_the_relay_is_not_heard(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 10, &(struct setting){0});
    sim_group_block(&domain.story.world->net,
                    sim_world_find(domain.story.world, "branch.example")->id);
    stage(&domain);
    ends_complete(&domain);
    assert_string_equal(parent_of(&domain, "n6"), "n5.example");
    assert_in_range(tenths(&domain, "router", "branch"), 10, 13);
    story_close(&domain.story);
}

/* It is found by the block's hash, and the gateway is told; the relay goes on over links. */
static void test_somebody_forges(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 11, &(struct setting){0});
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 50, GMC_S(10));
    story_spoil(&domain.story, domain.nodes[7]);
    ends_complete(&domain);
    assert_true(story_has_line("a.example node n5.example, which relays: somebody forges in the "
                               "group of this domain, whose key "));
    assert_true(story_has_line("nodes have: node n7.example found block "));
    story_close(&domain.story);
}

static bool has_key_of(struct domain *domain, int relay, int i)
{
    const struct story *story = &domain->story;
    struct gmc_gateway *gw = domain->nodes[relay]->gateway;
    struct gwchannel *ch = gw_channel_find(gw, story->key.source, story->key.e);
    const struct gwlistener *listener =
        ch != NULL ? gw_listener_of(ch->group, gw_peer_known(gw, domain->nodes[i]->name)) : NULL;
    return listener != NULL && listener->has_key;
}

/* Has the key from a relay, or is the relay. */
static bool knows(struct domain *domain, int i)
{
    for (int relay = 5; relay <= NODES; relay++)
        if (has_key_of(domain, relay, i) || has_key_of(domain, i, relay))
            return true;
    return false;
}

static int found_by(struct domain *domain, int forger)
{
    for (int i = 5; i <= NODES; i++)
        for (int relay = 5; i != forger && relay <= NODES; relay++)
            if (has_key_of(domain, relay, i))
                return i;
    return 0;
}

/* It does so whenever it can, and it is named. */
static void test_who_forges_is_named(void **state)
{
    (void)state;
    for (int forger = 5; forger <= NODES; forger++) {
        struct domain domain;
        char line[64];
        int transfers = 0;
        begin(&domain, 20 + (uint64_t)forger, &(struct setting){0});
        snprintf(line, sizeof(line), "node n%d.example forges: it alone", forger);
        while (!story_has_line(line)) {
            assert_true(transfers++ < 8);
            stage(&domain);
            story_run_to_percent(&domain.story, "a", 40, GMC_S(10));
            int by = knows(&domain, forger) ? found_by(&domain, forger) : 0;
            char name[16];
            snprintf(name, sizeof(name), "n%d", by);
            if (by > 0) {
                story_run_to_percent(&domain.story, name, 50, GMC_S(10));
                story_spoil(&domain.story, domain.nodes[by]);
            }
            ends_complete(&domain);
        }
        print_message("node %d named after %d transfers\n", forger, transfers);
        stage(&domain);
        story_run_to_percent(&domain.story, "a", 60, GMC_S(10));
        assert_false(knows(&domain, forger));
        assert_int_not_equal(found_by(&domain, forger), 0); /* the others go on */
        ends_complete(&domain);
        story_close(&domain.story);
    }
}

/* A node knows its relay, and of the others nothing. */
static void test_nodes_know_their_relay_alone(void **state)
{
    (void)state;
    struct domain domain;
    begin(&domain, 12, &(struct setting){0});
    stage(&domain);
    story_run_to_percent(&domain.story, "n6", 40, GMC_S(10));
    const struct gmc_gateway *gw = domain.nodes[6]->gateway;
    assert_non_null(gw_peer_known(gw, "n5.example"));
    assert_null(gw_peer_known(gw, "n7.example"));
    assert_null(gw_peer_known(gw, "n1.example"));
    ends_complete(&domain);
    story_close(&domain.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_each_subnet_gets_a_copy),
        story_test(test_the_next_one_begins_at_once),
        story_test(test_losses_are_repaired_by_the_relay),
        story_test(test_the_relay_is_killed),
        story_test(test_the_relay_loses_power),
        story_test(test_the_gateway_answers_late),
        story_test(test_the_relay_comes_back),
        story_test(test_a_node_comes_late),
        story_test(test_a_head_node_delivers),
        story_test(test_a_gateway_outside_of_two),
        story_test(test_nobody_can_relay),
        story_test(test_the_relay_is_not_heard),
        story_test(test_somebody_forges),
        story_test(test_who_forges_is_named),
        story_test(test_nodes_know_their_relay_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
