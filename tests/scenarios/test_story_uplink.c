/* SPDX-License-Identifier: BSD-2-Clause */
/* Links of one gateway that share an uplink whose rate is known, a wire that loses packets or none:
 * no queue of their own making stands before it. They would take one, which none of them can drain
 * alone, for somebody else's, and what the wire loses for congestion. */
#include "tests/scenarios/story.h"

#include <inttypes.h>

#define LOOK GMC_US(100)

/* The shortest that the queue before the first wire is within a second. */
static gmc_duration shortest_queue(struct story *story)
{
    gmc_duration least = GMC_TIME_NEVER;
    for (gmc_duration at = 0; at < GMC_S(1); at += LOOK) {
        story_run(story, LOOK);
        gmc_duration queue = sim_lane_backlog(sim_net_lane(&story->world->net, 0, 0));
        least = queue < least ? queue : least;
    }
    return least;
}

/* Two transfers from one source, to a receiver each, behind one router. */
static void begin_two_transfers(struct story *story, uint32_t loss_ppm)
{
    story_open(story, 1);
    struct sim_world *world = story->world;
    struct sim_host *source = sim_world_add(world, "s.example");
    struct sim_host *router = sim_world_add_router(world, "r.example");
    struct sim_wire_config lossy = story->wire;
    lossy.loss_ppm = loss_ppm;
    sim_net_add_wire(&world->net, source->id, router->id, &lossy, &lossy);
    for (int i = 0; i < 2; i++) {
        struct sim_host *host = sim_world_add(world, i == 0 ? "a.example" : "b.example");
        sim_net_add_wire(&world->net, router->id, host->id, &story->wire, &story->wire);
    }
    source->uplink_bps = story->wire.rate_bps;
    story_start(story);
    story_stage(story, 200 * MB, GMC_TREE_BULK, "a");
    story_run(story, GMC_MS(100));
    story_stage(story, 200 * MB, GMC_TREE_BULK, "b");
}

static void no_queue_stands(void **state)
{
    static const uint32_t losses[] = {0, 10000, 50000, 200000};
    (void)state;
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        struct story story;
        begin_two_transfers(&story, losses[i]);
        story_run(&story, GMC_S(2));
        gmc_duration queue = shortest_queue(&story);
        print_message("%" PRIu32 " ppm lost: %" PRIu64 " us of queue\n", losses[i],
                      queue / GMC_US(1));
        assert_in_range(queue, 0, GMC_US(240)); /* two packets */
        story_close(&story);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(no_queue_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
