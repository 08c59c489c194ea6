/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts with more work than cores: a gateway that does nothing for some milliseconds now and then
 * makes up for it afterwards, as far as the queues on its ways hold it. */
#include "tests/scenarios/story.h"

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

/* Relays have nothing to send but what comes, which waits at their hosts as long as they nap. */
static void relays(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 1);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    story_stage(&story, 40 * MB, GMC_TREE_ECO, NULL);
    assert_in_range(rate_with_naps(&story, "abc"), 880, 1000);
    story_close(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(source_of_six),
        story_test(relays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
