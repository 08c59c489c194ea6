/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of small objects and quiet networks: the walking skeleton, joins, the shapes of trees,
 * sizes at the edges, redirects, an added member, a cancel, two at once. */
#include "crypto/cheap.h"
#include "tests/scenarios/story.h"

/* One fragment from S through a relay to a leaf. */
static void test_skeleton(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 1);
    sim_build_chain(story.world, 3, &story.wire);
    story_start(&story);
    story_stage(&story, 100, GMC_TREE_CHAIN, NULL);
    story_run_to_end(&story, GMC_S(10));
    story_expect_complete(&story);
    assert_string_equal(story_parent(&story, "a"), "s.example");
    assert_string_equal(story_parent(&story, "b"), "a.example");
    story_run(&story, GMC_S(1));
    static const char *const source[] = {"starts",
                                         "scanning",
                                         "probing",
                                         "session with a.example up",
                                         "link to a.example is up (udp)",
                                         "session with b.example up",
                                         "link to b.example is up (udp)",
                                         "running",
                                         "verified at a.example",
                                         "verified at b.example",
                                         "complete",
                                         NULL};
    static const char *const leaf[] = {"starts",
                                       "session with s.example up",
                                       "link to s.example is up (udp)",
                                       "session with a.example up",
                                       "link to a.example is up (udp)",
                                       "attached to a.example",
                                       "verified here",
                                       "complete",
                                       NULL};
    story_expect_lines(&story, "s", source);
    story_expect_lines(&story, "b", leaf);
    story_close(&story);
}

static void test_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 1000, 65535, 65536, 65537, 3000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct story story;
        story_open(&story, 2 + i);
        sim_build_chain(story.world, 3, &story.wire);
        story_start(&story);
        story_stage(&story, sizes[i], GMC_TREE_CHAIN, NULL);
        story_run_to_end(&story, GMC_S(20));
        story_expect_complete(&story);
        story_close(&story);
    }
}

/* Seven gateways measure each other and find the tree that the wires are. */
static void test_eco_follows_the_wires(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 3);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    story_stage(&story, 1 * MB, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(20));
    story_expect_complete(&story);
    static const char *const parents[][2] = {{"a", "s.example"}, {"b", "a.example"},
                                             {"c", "a.example"}, {"d", "b.example"},
                                             {"e", "b.example"}, {"f", "c.example"}};
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(story_parent(&story, parents[i][0]), parents[i][1]);
    /* Every byte crosses each wire once: object, heads, listing and control within a tenth. */
    assert_in_range(story_wire_bytes(&story, "s", "a"), 1 * MB, 1300000);
    assert_in_range(story_wire_bytes(&story, "b", "d"), 1 * MB, 1300000);
    story_close(&story);
}

static void test_every_shape_delivers(void **state)
{
    (void)state;
    for (int shape = 0; shape < GMC_TREE_SHAPES; shape++) {
        struct story story;
        story_open(&story, 4);
        sim_build_flat(story.world, 7, &story.wire);
        story_start(&story);
        story_stage(&story, 300000, (enum gmc_tree_shape)shape, NULL);
        story_run_to_end(&story, GMC_S(20));
        story_expect_complete(&story);
        story_close(&story);
    }
}

/* A parent takes two children; the others are sent to those and come to rest there. */
static void test_redirect(void **state)
{
    (void)state;
    struct story story;
    story_open_with(&story,
                    &(struct sim_world_config){.seed = 5, .exact_clocks = true, .children_max = 2});
    sim_build_flat(story.world, 6, &story.wire);
    story_start(&story);
    story_stage(&story, 2 * MB, GMC_TREE_FLAT, NULL);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    unsigned at_source = 0;
    for (char c = 'a'; c <= 'f'; c++)
        at_source += strcmp(story_parent(&story, (char[2]){c, 0}), "s.example") == 0;
    assert_int_equal(at_source, 2);
    story_close(&story);
}

static void test_cancel(void **state)
{
    (void)state;
    struct story story;
    const char *error = NULL;
    story_open(&story, 6);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    story_stage(&story, 50 * MB, GMC_TREE_ECO, NULL);
    story_run_to_percent(&story, "f", 30, GMC_S(30));
    assert_ok(sim_cancel(story.source, &story.key, &error));
    story_run(&story, GMC_S(3));
    assert_int_equal(story_state(&story), GMC_CHANNEL_CANCELLED);
    story_expect_not_delivered(&story, "abcdef");
    for (size_t i = 1; i < story.world->host_count; i++) {
        const struct sim_store *store = sim_disk_store(&story.world->hosts[i]->disk, &story.key);
        assert_non_null(store);
        assert_true(store->discarded); /* nothing unfinished stays behind */
        assert_int_equal(sim_store_saved_count(store), 0);
    }
    story_close(&story);
}

/* A domain joins a running transfer and gets what was sent before, too. */
static void test_add_a_member(void **state)
{
    (void)state;
    struct story story;
    const char *error = NULL;
    story_open(&story, 7);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    story_stage(&story, 20 * MB, GMC_TREE_ECO, "abcde");
    story_run_to_percent(&story, "e", 50, GMC_S(30));
    assert_ok(sim_add(story.source, &story.key, story_host(&story, "f"), &error));
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_expect_delivered(&story, "abcdef");
    story_close(&story);
}

/* The source has another key in the middle: what runs goes on with the old one, also to who joins
 * after that and sees the new one; what begins then uses the new one, also to who has seen the old
 * one. */
static void test_another_key(void **state)
{
    (void)state;
    struct story story;
    const char *error = NULL;
    story_open_with(&story, &(struct sim_world_config){.seed = 13,
                                                       .exact_clocks = true,
                                                       .crypto = SIM_CRYPTO_CHEAP});
    sim_build_flat(story.world, 3, &story.wire);
    story_start(&story);
    story_stage(&story, 20 * MB, GMC_TREE_FLAT, "a");
    story_run_to_percent(&story, "a", 30, GMC_S(30));
    struct sim_host *s = story.source;
    s->spki_len = sizeof(s->spki);
    assert_ok(gmc_crypto_cheap_spki("s-again.example", s->spki, &s->spki_len));
    assert_ok(gmc_gateway_set_key(s->gateway, sim_host_now(s), gmc_bytes(s->spki, s->spki_len)));
    assert_ok(sim_add(s, &story.key, story_host(&story, "b"), &error));
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_expect_delivered(&story, "ab");
    story_stage(&story, 1 * MB, GMC_TREE_FLAT, "ab");
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_expect_delivered(&story, "ab");
    story_close(&story);
}

/* Two transfers in opposite directions at once. */
static void test_both_ways(void **state)
{
    (void)state;
    struct story story;
    struct gmc_channel_key there;
    const char *error = NULL;
    story_open(&story, 8);
    sim_build_chain(story.world, 3, &story.wire);
    story_start(&story);
    story_stage(&story, 5 * MB, GMC_TREE_CHAIN, NULL);
    struct sim_host *source = story_host(&story, "b");
    struct sim_host *targets[] = {story_host(&story, "a"), story_host(&story, "s")};
    struct sim_stage stage = {.object_seed = 12,
                              .bytes = 5 * MB,
                              .targets = targets,
                              .target_count = 2,
                              .shape = GMC_TREE_CHAIN};
    assert_ok(sim_stage(source, &stage, &there, &error));
    story_run_to_end(&story, GMC_S(30));
    story_run(&story, GMC_S(2));
    story_expect_complete(&story);
    struct gmc_channel_info info;
    assert_true(sim_channel(source, &there, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    assert_true(sim_disk_has_delivered(&targets[1]->disk, &there));
    /* Both directions of a wire carry one each: no slower than one alone. */
    assert_true(story_seconds(&story) < 4.0);
    story_close(&story);
}

/* A pair that could not hear each other during the first transfer is asked again for the second:
 * a's wire to b makes b a's child, and without it the source feeds b itself. */
static void test_a_missing_pair_is_measured_again(void **state)
{
    (void)state;
    struct story story;
    struct sim_wire_config longer;
    story_open(&story, 12);
    sim_build_chain(story.world, 3, &story.wire);
    longer = story.wire;
    longer.delay = GMC_MS(28); /* a's way takes 30 ms, less than 1.2 times this */
    sim_world_join(story.world, story_host(&story, "s"), story_host(&story, "b"), &longer);
    story_cut(&story, "a", "b", true);
    story_start(&story);
    story_stage(&story, 1 * MB, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(20));
    story_expect_complete(&story);
    assert_string_equal(story_parent(&story, "b"), "s.example");
    story_cut(&story, "a", "b", false);
    story_run(&story, GMC_S(30)); /* a dial that goes on has an answer by then */
    story_stage(&story, 1 * MB, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(20));
    story_expect_complete(&story);
    assert_string_equal(story_parent(&story, "b"), "a.example");
    story_close(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_skeleton),
        story_test(test_sizes),
        story_test(test_eco_follows_the_wires),
        story_test(test_a_missing_pair_is_measured_again),
        story_test(test_every_shape_delivers),
        story_test(test_redirect),
        story_test(test_cancel),
        story_test(test_add_a_member),
        story_test(test_another_key),
        story_test(test_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
