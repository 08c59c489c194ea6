/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of domains that are seconds away, as over two satellites: they are measured, and find
 * their parents, and near ones do not wait for them. */
#include "tests/scenarios/story.h"

/* s and a here; b and c there, with one way of `away` between. */
static void begin(struct story *story, uint64_t seed, gmc_duration away)
{
    story_open(story, seed);
    struct sim_wire_config near = {.rate_bps = 100000000,
                                   .delay = GMC_MS(2),
                                   .queue_bytes = 1000000};
    struct sim_wire_config far = {.rate_bps = 20000000, .delay = away, .queue_bytes = 10000000};
    struct sim_host *here = sim_world_add_router(story->world, "here.example");
    struct sim_host *there = sim_world_add_router(story->world, "there.example");
    sim_world_join(story->world, here, there, &far);
    sim_world_join(story->world, sim_world_add(story->world, "s.example"), here, &near);
    sim_world_join(story->world, sim_world_add(story->world, "a.example"), here, &near);
    sim_world_join(story->world, sim_world_add(story->world, "b.example"), there, &near);
    sim_world_join(story->world, sim_world_add(story->world, "c.example"), there, &near);
    story_start(story);
}

static void stage(struct story *story, enum gmc_tree_shape shape)
{
    story_stage(story, MB, shape, "abc");
    story_run_to_percent(story, "a", 100, GMC_S(15));
    story_run_to_end(story, GMC_S(240));
    story_expect_complete(story);
}

/* After some objects, with which sessions and latencies are there, each byte goes the long way
 * once. */
static void stage_after(unsigned objects, gmc_duration away, enum gmc_tree_shape shape)
{
    struct story story;
    begin(&story, 7, away);
    for (unsigned i = 0; i < objects; i++) {
        stage(&story, shape);
        story_run(&story, GMC_S(20));
    }
    uint64_t before = story_wire_bytes(&story, "here", "there");
    stage(&story, shape);
    uint64_t bytes = story_wire_bytes(&story, "here", "there") - before;
    print_message("%.1f s, %.2f MB over the far wire, b from %s, c from %s\n",
                  story_seconds(&story), (double)bytes / 1e6, story_parent(&story, "b"),
                  story_parent(&story, "c"));
    assert_true(bytes < MB * 3 / 2);
    story_close(&story);
}

static void two_satellites(void **state)
{
    (void)state;
    stage_after(1, GMC_MS(600), GMC_TREE_ECO);
}

static void three_seconds(void **state)
{
    (void)state;
    stage_after(1, GMC_MS(1500), GMC_TREE_ECO);
}

/* Who is asked to be a parent has the time to answer, before the next one is: b behind a. */
static void a_chain(void **state)
{
    (void)state;
    stage_after(2, GMC_MS(1500), GMC_TREE_CHAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(two_satellites),
        story_test(three_seconds),
        story_test(a_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
