/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of what data waits for: whoever looks every few milliseconds finds what limits. */
#include "tests/scenarios/story.h"

#define LOOKS 200
#define SLOW_DISK_BPS 20000000 /* a fifth of a wire */

/* What the data from one host to another waited for most, nothing aside. */
static enum gmc_wait most(struct story *story, const char *from, const char *to)
{
    unsigned seen[GMC_WAIT_PATH + 1] = {0};
    enum gmc_wait most = GMC_WAIT_NOTHING;

    for (int look = 0; look < LOOKS; look++) {
        struct sim_host *host = story_host(story, from);
        struct gmc_peer_info info;
        gmc_peer peer = gmc_gateway_peer(host->gateway, story_host(story, to)->name);
        story_run(story, GMC_MS(10));
        assert_true(gmc_gateway_peer_info(host->gateway, sim_host_now(host), peer, &info));
        seen[info.wait]++;
    }
    for (int wait = GMC_WAIT_PARENT; wait <= GMC_WAIT_PATH; wait++) {
        if (seen[wait] > seen[most] || most == GMC_WAIT_NOTHING)
            most = (enum gmc_wait)wait;
    }
    assert_in_range(seen[most], LOOKS / 2, LOOKS);
    return most;
}

/* A chain s, a, b of which one host may have a slow disk, in the middle of a transfer. */
static void begin(struct story *story, uint64_t seed, const char *slow)
{
    const struct sim_disk_config disk = {.rate_bps = SLOW_DISK_BPS};

    story_open(story, seed);
    sim_build_chain(story->world, 3, &story->wire);
    if (slow != NULL)
        sim_host_set_disk(story_host(story, slow), &disk);
    story_start(story);
    story_stage(story, 60 * MB, GMC_TREE_CHAIN, NULL);
    story_run_to_percent(story, "b", slow != NULL ? 15 : 5, GMC_S(60));
}

static void the_path_limits(void **state)
{
    struct story story;

    (void)state;
    begin(&story, 71, NULL);
    assert_int_equal(most(&story, "s", "a"), GMC_WAIT_PATH);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    /* Then there is nothing to wait for. */
    struct sim_host *source = story_host(&story, "s");
    struct gmc_peer_info info;
    gmc_peer peer = gmc_gateway_peer(source->gateway, "a.example");
    assert_true(gmc_gateway_peer_info(source->gateway, sim_host_now(source), peer, &info));
    assert_int_equal(info.wait, GMC_WAIT_NOTHING);
    story_close(&story);
}

static void the_disk_of_the_source_limits(void **state)
{
    struct story story;

    (void)state;
    begin(&story, 72, "s");
    assert_int_equal(most(&story, "s", "a"), GMC_WAIT_STORE);
    /* The relay has nothing else to do than to wait for the source. */
    assert_int_equal(most(&story, "a", "b"), GMC_WAIT_PARENT);
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    story_close(&story);
}

static void the_disk_of_the_receiver_limits(void **state)
{
    struct story story;

    (void)state;
    begin(&story, 73, "b");
    assert_int_equal(most(&story, "a", "b"), GMC_WAIT_RECEIVER);
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    story_close(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(the_path_limits),
        story_test(the_disk_of_the_source_limits),
        story_test(the_disk_of_the_receiver_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
