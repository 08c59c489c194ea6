/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of gateways that die, stop, lose power and come back. */
#include "tests/scenarios/story.h"

#define OBJECT (40 * MB)

static void begin(struct story *story, uint64_t seed)
{
    story_open(story, seed);
    sim_build_tree3(story->world, &story->wire);
    story_start(story);
    story_stage(story, OBJECT, GMC_TREE_ECO, NULL);
}

/* A relay's gateway is killed for good, in the middle; its children go to the grandparent within
 * 2 s plus six round trips and complete; the dead one is named. */
static void relay_ends(void (*end)(struct story *story))
{
    struct story story;
    begin(&story, 20);
    story_run_to_percent(&story, "d", 40, GMC_S(30));
    end(&story);
    story_run(&story, GMC_S(2) + 6 * GMC_MS(90));
    assert_string_equal(story_parent(&story, "d"), "a.example");
    assert_string_equal(story_parent(&story, "e"), "a.example");
    story_run_to_end(&story, GMC_S(120));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    story_expect_delivered(&story, "acdef");
    story_expect_not_delivered(&story, "b");
    assert_int_not_equal(story_member_state(&story, "b"), GMC_MEMBER_VERIFIED);
    assert_string_not_equal(story_member_reason(&story, "b"), "");
    /* The source's first wire hardly noticed. */
    assert_in_range(story_wire_bytes(&story, "s", "a"), OBJECT, OBJECT * 112 / 100);
    story_close(&story);
}

static void end_by_kill(struct story *story)
{
    sim_host_crash(story_host(story, "b"), SIM_CRASH_KILL);
}

static void end_by_power(struct story *story)
{
    sim_host_crash(story_host(story, "b"), SIM_CRASH_POWER);
}

static void end_by_stop(struct story *story)
{
    sim_host_freeze(story_host(story, "b"), true);
}

static void test_relay_killed(void **state)
{
    (void)state;
    relay_ends(end_by_kill);
}

static void test_relay_without_power(void **state)
{
    (void)state;
    relay_ends(end_by_power);
}

static void test_relay_stopped(void **state)
{
    (void)state;
    relay_ends(end_by_stop);
}

/* Bytes that all gateways sent: what is sent twice shows here, whoever sends it. */
static uint64_t all_sent(struct story *story)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < story->world->host_count; i++)
        bytes += story->world->hosts[i]->count.bytes_out;
    return bytes;
}

/* A crash and a restart after a second: all complete, at most 5 s later than without, and what was
 * sent twice is bounded. */
static void restart(const char *host, enum sim_crash crash, const char *watched)
{
    struct story story;
    begin(&story, 21);
    story_run_to_end(&story, GMC_S(60));
    uint64_t quiet = all_sent(&story);
    double seconds = story_seconds(&story);
    story_close(&story);

    begin(&story, 21);
    story_run_to_percent(&story, watched, 40, GMC_S(30));
    sim_host_crash(story_host(&story, host), crash);
    story_run(&story, GMC_S(1));
    sim_host_start(story_host(&story, host));
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    /* 1 % of the object, and what was in flight on each of the links that ended: up to the queue
     * of its wire and a round trip, and blocks not yet whole. */
    uint64_t allowed = quiet + OBJECT / 100 + 3 * 2 * MB;
    if (crash == SIM_CRASH_POWER)
        allowed += 15 * MB; /* what the second since the last checkpoint brought */
    assert_in_range(all_sent(&story), 0, allowed);
    assert_true(story_seconds(&story) < seconds + 1 + 5);
    story_close(&story);
}

/* While a relay is down, somebody overwrites blocks that its checkpoint names: its children get the
 * right ones, and so does it, though its slow disk has not yet read what was there when all the
 * rest has come. */
static void test_relay_is_overwritten(void **state)
{
    struct story story;
    (void)state;
    begin(&story, 22);
    story_run_to_percent(&story, "b", 97, GMC_S(30));
    struct sim_host *b = story_host(&story, "b");
    sim_host_crash(b, SIM_CRASH_KILL);
    struct sim_store *store = sim_disk_store(&b->disk, &story.key);
    static const uint8_t other[64] = "not what was sent";
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t block = sim_store_good_blocks(store) / 2 - i;
        sim_store_tear(store, block * store->object->block_bytes, other, sizeof(other),
                       sizeof(other));
        assert_int_equal(sim_store_block(store, (uint32_t)block), SIM_BLOCK_OTHER);
    }
    const struct sim_disk_config slow = {.rate_bps = 100000000};
    sim_disk_configure(&b->disk, &slow);
    story_run(&story, GMC_S(1));
    sim_host_start(b);
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    story_close(&story);
}

static void test_leaf_restarts(void **state)
{
    (void)state;
    restart("f", SIM_CRASH_KILL, "f");
}

static void test_leaf_loses_power(void **state)
{
    (void)state;
    restart("f", SIM_CRASH_POWER, "f");
}

static void test_relay_restarts(void **state)
{
    (void)state;
    restart("b", SIM_CRASH_KILL, "b");
}

static void test_source_restarts(void **state)
{
    (void)state;
    restart("s", SIM_CRASH_KILL, "a");
}

static void test_source_loses_power(void **state)
{
    (void)state;
    restart("s", SIM_CRASH_POWER, "a");
}

static bool is_saved(void *ctx)
{
    const struct story *story = ctx;
    struct gmc_channel_info info;
    assert_true(sim_channel(story->source, &story->key, &info));
    return !info.is_saving;
}

/* What was asked for last is not on the disk at once, and then it is. */
static void until_saved(struct story *story)
{
    assert_false(is_saved(story));
    assert_true(sim_world_run_until(story->world, GMC_US(10), GMC_S(1), is_saved, story));
}

/* A domain is added while it is down; before it comes the source dies, which has said "yes". */
static void test_source_dies_after_an_add(void **state)
{
    (void)state;
    struct story story;
    const char *error = NULL;
    story_open(&story, 23);
    sim_build_flat(story.world, 3, &story.wire);
    story_start(&story);
    sim_host_crash(story_host(&story, "c"), SIM_CRASH_KILL);
    story_stage(&story, OBJECT, GMC_TREE_ECO, "ab");
    story_run_to_percent(&story, "a", 40, GMC_S(30));
    assert_ok(sim_add(story.source, &story.key, story_host(&story, "c"), &error));
    until_saved(&story);
    sim_host_crash(story.source, SIM_CRASH_POWER);
    story_run(&story, GMC_S(1));
    sim_host_start(story.source);
    sim_host_start(story_host(&story, "c"));
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    story_expect_delivered(&story, "abc");
    story_close(&story);
}

/* The source dies at some moment between its "yes" and the first record, and again right after it
 * came back: with the SAVE on the disk it knows what was asked for. */
static void test_source_dies_before_it_sends(void **state)
{
    (void)state;
    static const unsigned after_ms[] = {10, 20, 40, 80, 160, 320};
    for (size_t i = 0; i < sizeof after_ms / sizeof after_ms[0]; i++) {
        struct story story;
        begin(&story, 24 + i);
        for (int times = 0; times < 2; times++) {
            story_run(&story, GMC_MS(after_ms[i]));
            sim_host_crash(story.source, times == 0 ? SIM_CRASH_POWER : SIM_CRASH_KILL);
            story_run(&story, GMC_MS(300));
            sim_host_start(story.source);
        }
        story_run_to_end(&story, GMC_S(60));
        story_expect_complete(&story);
        story_close(&story);
    }
}

/* Nobody can be reached, and the source restarts: it goes on waiting for them, and for one that was
 * added meanwhile. */
static void test_source_restarts_alone(void **state)
{
    (void)state;
    struct story story;
    const char *error = NULL;
    story_open(&story, 30);
    sim_build_flat(story.world, 2, &story.wire);
    story_start(&story);
    sim_host_crash(story_host(&story, "a"), SIM_CRASH_KILL);
    sim_host_crash(story_host(&story, "b"), SIM_CRASH_KILL);
    story_stage(&story, OBJECT, GMC_TREE_ECO, "a");
    story_run(&story, GMC_S(10));
    assert_ok(sim_add(story.source, &story.key, story_host(&story, "b"), &error));
    until_saved(&story);
    sim_host_crash(story.source, SIM_CRASH_POWER);
    sim_host_start(story.source);
    story_run(&story, GMC_S(1));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PROBING);
    sim_host_start(story_host(&story, "a"));
    sim_host_start(story_host(&story, "b"));
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_expect_delivered(&story, "ab");
    story_close(&story);
}

/* A state folder that refuses what is to be saved, for a while: that is said where the user looks,
 * and not that all is well. */
static void test_source_cannot_save(void **state)
{
    (void)state;
    struct story story;
    struct gmc_channel_info info;
    story_open(&story, 31);
    sim_build_flat(story.world, 1, &story.wire);
    story_start(&story);
    story.source->disk.fail_kind = GMC_STORE_SAVE;
    story.source->disk.fail_status = GMC_ERR_IO;
    story.source->disk.fail_times = 1000;
    story_stage(&story, 20 * OBJECT, GMC_TREE_ECO, "a");
    story_run(&story, GMC_S(3));
    assert_true(sim_channel(story.source, &story.key, &info));
    assert_true(info.is_saving);
    assert_non_null(strstr(info.reason, "cannot be saved: the simulated disk failed"));
    story.source->disk.fail_times = 0;
    story_run(&story, GMC_S(6));
    assert_true(sim_channel(story.source, &story.key, &info));
    assert_false(info.is_saving);
    assert_string_equal(info.reason, "");
    assert_int_equal(info.state, GMC_CHANNEL_RUNNING);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_close(&story);
}

/* What cannot be staged leaves nothing that a restart would take up, in whatever order a slow disk
 * does what it is asked for. */
static void refuse_stage(uint64_t seed)
{
    struct story story;
    story_open(&story, seed);
    sim_build_flat(story.world, 2, &story.wire);
    story_start(&story);
    const char *error = NULL, *sources[] = {"no such object"};
    struct gmc_stage_target target = {story_host(&story, "a")->name, "", NULL};
    struct gmc_stage_request request = {.sources = sources,
                                        .source_count = 1,
                                        .targets = &target,
                                        .target_count = 1};
    struct sim_host *source = story_host(&story, "s");
    source->disk.config.jitter = GMC_MS(20);
    assert_ok(
        gmc_gateway_stage(source->gateway, sim_host_now(source), &request, &story.key, &error));
    sim_host_drain(source);
    story.source = source;
    story_run(&story, GMC_S(1));
    assert_int_equal(story_state(&story), GMC_CHANNEL_FAILED);
    sim_host_crash(source, SIM_CRASH_POWER);
    sim_host_start(source);
    story_run(&story, GMC_S(1));
    struct gmc_channel_info info;
    assert_false(sim_channel(source, &story.key, &info));
    story_close(&story);
}

static void test_refused_stage_is_not_taken_up(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed <= 50; seed++)
        refuse_stage(seed);
}

/* A leaf stops and goes on, again and again; the others do not notice. */
static void test_slow_receiver(void **state)
{
    (void)state;
    struct story story;
    gmc_duration quiet = 0, beside = 0;
    for (int slow = 0; slow < 2; slow++) {
        struct gmc_member_info info;
        begin(&story, 22);
        struct sim_host *leaf = story_host(&story, "d");
        story_run_to_percent(&story, "d", 5, GMC_S(30));
        for (int i = 0; i < 80; i++) {
            sim_host_freeze(leaf, slow == 1);
            story_run(&story, GMC_MS(slow == 1 ? 90 : 100));
            sim_host_freeze(leaf, false);
            if (slow == 1)
                story_run(&story, GMC_MS(10));
        }
        story_run_to_end(&story, GMC_S(300));
        story_expect_complete(&story);
        assert_true(sim_member(story.source, &story.key, story_host(&story, "e"), &info));
        *(slow == 1 ? &beside : &quiet) = info.elapsed;
        story_close(&story);
    }
    assert_in_range(beside, quiet * 95 / 100, quiet * 105 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_relay_killed),
        story_test(test_relay_without_power),
        story_test(test_relay_stopped),
        story_test(test_relay_is_overwritten),
        story_test(test_leaf_restarts),
        story_test(test_leaf_loses_power),
        story_test(test_relay_restarts),
        story_test(test_source_restarts),
        story_test(test_source_loses_power),
        story_test(test_slow_receiver),
        story_test(test_source_dies_after_an_add),
        story_test(test_source_dies_before_it_sends),
        story_test(test_source_restarts_alone),
        story_test(test_source_cannot_save),
        story_test(test_refused_stage_is_not_taken_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
