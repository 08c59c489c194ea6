/* SPDX-License-Identifier: BSD-2-Clause */
/* A domain with multicast; see lan.h. */
#include "tests/scenarios/lan.h"

#include <stdio.h>

static void node_name(char *out, size_t size, size_t i)
{
    snprintf(out, size, "n%zu.example", i);
}

struct sim_host *lan_node(struct lan *lan, size_t i)
{
    char name[32];
    node_name(name, sizeof(name), i);
    return sim_world_find(lan->story.world, name);
}

void lan_begin_with(struct lan *lan, uint64_t seed, size_t nodes, const struct lan_loss *loss,
                    const struct lan_unusual *unusual)
{
    struct sim_wire_config uplink = {.rate_bps = 1000000000,
                                     .delay = GMC_MS(1),
                                     .queue_bytes = 2000000,
                                     .mtu = unusual->mtu};
    struct sim_wire_config wire = {.rate_bps = LAN_RATE_BPS,
                                   .delay = GMC_US(50),
                                   .queue_bytes = 200000,
                                   .mtu = unusual->mtu};
    uint64_t multicast_bps = unusual->multicast_bps > 0 ? unusual->multicast_bps : LAN_RATE_BPS;
    struct story *story = &lan->story;
    *lan = (struct lan){.nodes = nodes};
    story_open_with(story, &(struct sim_world_config){.seed = seed,
                                                      .exact_clocks = true,
                                                      .cache_bytes = unusual->cache_bytes,
                                                      .multicast_bps = multicast_bps,
                                                      .inside_tree = unusual->tree});
    struct sim_host *source = sim_world_add(story->world, "s.example");
    struct sim_host *gateway = sim_world_add(story->world, "a.example");
    struct sim_host *exchange = sim_world_add_router(story->world, "switch.example");
    sim_world_join(story->world, source, gateway, &uplink);
    sim_world_join(story->world, gateway, exchange, &wire);
    if (unusual->beyond)
        sim_world_join(story->world, gateway, sim_world_add(story->world, "b.example"), &wire);
    for (size_t i = 1; i <= nodes; i++) {
        char name[32];
        node_name(name, sizeof(name), i);
        struct sim_host *node = sim_world_add_node(story->world, gateway, name);
        node->deaf = i <= unusual->deaf;
        uint32_t id = sim_world_join(story->world, exchange, node, &wire);
        struct sim_wire_config lossy = wire;
        if (unusual->port_bps > 0 && i > unusual->wide)
            lossy.rate_bps = unusual->port_bps;
        lossy.loss_ppm = i == nodes && loss->last_ppm > 0 ? loss->last_ppm : loss->all_ppm;
        sim_lane_configure(sim_net_lane(&story->world->net, id, 0), &lossy);
    }
    story_start(story);
}

void lan_begin(struct lan *lan, uint64_t seed, size_t nodes, const struct lan_loss *loss)
{
    lan_begin_with(lan, seed, nodes, loss, &(struct lan_unusual){0});
}

bool lan_has_it(struct lan *lan, size_t i)
{
    return sim_disk_has_delivered(&lan_node(lan, i)->disk, &lan->story.key);
}

struct waiting {
    struct lan *lan;
    size_t first, last;
};

static bool all_have_it(void *ctx)
{
    struct waiting *waiting = ctx;
    for (size_t i = waiting->first; i <= waiting->last; i++)
        if (!lan_has_it(waiting->lan, i))
            return false;
    return true;
}

double lan_run_to(struct lan *lan, size_t first, size_t last, gmc_duration limit)
{
    struct waiting waiting = {lan, first, last};
    assert_true(sim_world_run_until(lan->story.world, GMC_MS(1), limit, all_have_it, &waiting));
    return story_seconds(&lan->story);
}

double lan_at_rate(uint64_t bytes)
{
    return (double)bytes * 8 / (double)LAN_RATE_BPS;
}

void lan_end(struct lan *lan)
{
    story_run_to_end(&lan->story, GMC_S(120));
    story_expect_complete(&lan->story);
    for (size_t i = 1; i <= lan->nodes; i++)
        assert_true(lan_has_it(lan, i));
    story_close(&lan->story);
}
