/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts with more work than cores: a gateway that does nothing for some milliseconds now and then
 * makes up for it afterwards, as far as the queues on its ways hold it. */
#include "tests/scenarios/story.h"

#include <inttypes.h>

#define NAP GMC_MS(5)
#define NAP_EVERY GMC_MS(40)
#define MBIT UINT64_C(1000000)

/* Runs the transfer to its end while these hosts nap in turn, all of them in NAP_EVERY, from when
 * it is in full swing; what part of 100 Mbit/s the rest of the object took, in permille. */
static unsigned rate_with_naps(struct story *story, const char *nappers)
{
    size_t count = strlen(nappers);
    story_run_to_percent(story, "f", 20, GMC_S(20));
    double began = story_seconds(story);
    while (story_state(story) != GMC_CHANNEL_COMPLETE && story_seconds(story) < 20)
        for (size_t i = 0; i < count; i++) {
            struct sim_host *host = story_host(story, (char[]){nappers[i], 0});
            sim_host_freeze(host, true);
            story_run(story, NAP);
            sim_host_freeze(host, false);
            story_run(story, NAP_EVERY / count - NAP);
        }
    story_expect_complete(story);
    return (unsigned)((double)story->bytes * 8 * 80 / 100 / 100e6 / (story_seconds(story) - began) *
                      1000);
}

/* Its uplink is known, and shared by turns: what it did not carry meanwhile is not lost either. */
static void source_of_six(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 1);
    sim_build_flat(story.world, 6, &story.wire);
    story_host(&story, "s")->uplink_bps = 600 * MBIT;
    story_start(&story);
    story_stage(&story, 40 * MB, GMC_TREE_FLAT, NULL);
    assert_in_range(rate_with_naps(&story, "s"), 900, 1000);
    story_close(&story);
}

static int by_size(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

/* Relays have nothing to send but what comes, which waits at their hosts as long as they nap. The
 * median of seven seeds. */
static void relays(void **state)
{
    (void)state;
    unsigned permille[7];
    for (uint64_t seed = 1; seed <= 7; seed++) {
        struct story story;
        story_open(&story, seed);
        sim_build_tree3(story.world, &story.wire);
        story_start(&story);
        story_stage(&story, 40 * MB, GMC_TREE_ECO, NULL);
        permille[seed - 1] = rate_with_naps(&story, "abc");
        story_close(&story);
    }
    qsort(permille, 7, sizeof(permille[0]), by_size);
    print_message("relays that nap: %u to %u permille, median %u\n", permille[0], permille[6],
                  permille[3]);
    assert_in_range(permille[3], 880, 1000);
}

/* Hosts that never wake more often than every 5 ms, from the first packet on: a timer may be that
 * coarse, or all cores busy. */
static void always_late(void **state)
{
    static const struct {
        uint64_t mbit, queue_bytes;
        unsigned least; /* permille of the wire */
    } paths[] = {
        {100, 625000, 850},
        {1000, 6250000, 850},
        {100, 60000, 600},
        {100, 15000, 160}, /* ten packets in 5 ms are 24 Mbit/s */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct story story;
        uint64_t bytes = paths[i].mbit * 300000; /* 2.4 s */
        story_open_with(&story, &(struct sim_world_config){.seed = 1, .cpu.wake = GMC_MS(5)});
        story.wire.rate_bps = paths[i].mbit * MBIT;
        story.wire.queue_bytes = paths[i].queue_bytes;
        sim_build_chain(story.world, 3, &story.wire);
        story_start(&story);
        story_stage(&story, bytes, GMC_TREE_BULK, NULL);
        story_run_to_percent(&story, "b", 20, GMC_S(100));
        double began = story_seconds(&story);
        story_run_to_end(&story, GMC_S(200));
        story_expect_complete(&story);
        double permille = (double)bytes * 0.8 * 8 / (double)story.wire.rate_bps /
                          (story_seconds(&story) - began) * 1000;
        print_message("%" PRIu64 " Mbit/s, queue of %" PRIu64 " bytes: %.0f permille\n",
                      paths[i].mbit, paths[i].queue_bytes, permille);
        assert_true(permille >= paths[i].least);
        story_close(&story);
    }
}

/* Others leave little of three wires for 3 s. What was found to be the rate of each link then, and
 * of the uplink that they seem to share, is too low afterwards; a host that always comes late must
 * find that out too, though it never uses all of it. */
static void late_when_others_have_left(void **state)
{
    static const struct {
        unsigned wake_ms;
        uint64_t queue_bytes;
        double most; /* seconds for 300 MB, 2.4 at the rate of the wires */
    } cases[] = {{2, 6250000, 8}, {4, 1250000, 10}, {4, 300000, 20}, {10, 6250000, 12}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct story story;
        struct sim_world_config config = {.seed = 1, .cpu.wake = GMC_MS(cases[i].wake_ms)};
        story_open_with(&story, &config);
        story.wire.rate_bps = 1000 * MBIT;
        story.wire.queue_bytes = cases[i].queue_bytes;
        sim_build_flat(story.world, 3, &story.wire);
        story_start(&story);
        gmc_time begin = sim_world_now(story.world);
        for (size_t k = 1; k < story.world->host_count; k++) {
            const struct sim_traffic_config others = {.from = story.world->hosts[0]->id,
                                                      .to = story.world->hosts[k]->id,
                                                      .rate_bps = 900 * MBIT,
                                                      .packet_bytes = 1500,
                                                      .start = begin,
                                                      .stop = gmc_time_add(begin, GMC_S(3))};
            (void)sim_traffic_add(&story.world->traffic, &others);
        }
        story_stage(&story, 300 * MB, GMC_TREE_FLAT, NULL);
        story_run_to_end(&story, GMC_S(200));
        story_expect_complete(&story);
        print_message("a host that wakes each %u ms, queue of %" PRIu64 " bytes: %.1f s\n",
                      cases[i].wake_ms, cases[i].queue_bytes, story_seconds(&story));
        assert_true(story_seconds(&story) <= cases[i].most);
        story_close(&story);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(source_of_six),
        story_test(relays),
        story_test(always_late),
        story_test(late_when_others_have_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
