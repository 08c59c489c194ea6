/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of message channels: what is published at S arrives at all, whole, in order, on time; and
 * what does not is seen in the sequence numbers. */
#include "tests/scenarios/talk.h"

#include <stdio.h>

#include "core/gateway_impl.h"
#include "wire/head.h"

/* S, and B behind A: one message crosses two hops in hardly more than their delay. */
static void test_skeleton(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 1, 0);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    story_run(&talk.story, GMC_S(1)); /* all have attached */
    assert_ok(talk_publish(&talk, 1024));
    story_run(&talk.story, GMC_S(1));
    assert_int_equal(talk_heard(&talk, "a")->count, 1);
    assert_int_equal(talk_heard(&talk, "b")->count, 1);
    assert_in_range(talk_heard(&talk, "a")->delay_max, GMC_MS(15), GMC_MS(16));
    assert_in_range(talk_heard(&talk, "b")->delay_max, GMC_MS(30), GMC_MS(31));
    talk_end(&talk);
    talk_expect_all(&talk, "sab");
    story_close(&talk.story);
}

/* Sizes from nothing but the stamp to the longest, over wires that lose one packet in twenty. */
static void test_loss(void **state)
{
    (void)state;
    static const size_t sizes[] = {16, 17, 1000, 1416, 1417, 70000, GMC_MESSAGE_BYTES_MAX, 20};
    static struct talk talk;
    talk_open(&talk, 2, 50000);
    sim_build_tree3(talk.story.world, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        talk_publish_many(&talk, 1, GMC_MS(200), sizes[i]);
    talk_publish_many(&talk, 500, GMC_MS(1), 256);
    talk_end(&talk);
    talk_expect_all(&talk, "sabcdef");
    story_close(&talk.story);
}

/* Without order nothing is lost either, and nobody waits for what another message lacks. */
static void test_unordered(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 3, 50000);
    sim_build_flat(talk.story.world, 2, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_UNORDERED);
    talk_publish_many(&talk, 1000, GMC_MS(1), 256);
    talk_end(&talk);
    const struct heard *heard = talk_heard(&talk, "a");
    assert_int_equal(heard->count, 1000);
    assert_int_equal(heard->spoiled, 0);
    assert_true(heard->backward > 0);
    story_close(&talk.story);
}

/* The latest only: over a wire that carries a tenth of what is said the newest is never old. */
static void test_latest(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 4, 0);
    talk.story.wire.rate_bps = 1000000;
    talk.story.wire.queue_bytes = 20000;
    sim_build_flat(talk.story.world, 1, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_LATEST);
    talk_publish_many(&talk, 2000, GMC_MS(1), 1024);
    talk_end(&talk);
    const struct heard *heard = talk_heard(&talk, "a");
    assert_true(heard->ended && heard->count > 50 && heard->count < 400);
    assert_int_equal(heard->backward + heard->spoiled, 0);
    assert_int_equal(heard->count + heard->missed, heard->next);
    assert_true(heard->delay_max < GMC_MS(600));
    story_close(&talk.story);
}

/* So it is where a message takes as long on the wire as twenty are apart: what was begun is sent to
 * its end. */
static void test_latest_of_many_packets(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 22, 0);
    talk.story.wire.rate_bps = 10000000;
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_LATEST);
    talk_publish_many(&talk, 3000, GMC_MS(1), 20000);
    talk_end(&talk);
    for (const char *host = "ab"; *host != '\0'; host++) {
        const struct heard *heard = talk_heard(&talk, (char[2]){*host, '\0'});
        assert_true(heard->ended && heard->count > 20 && heard->count < 250);
        assert_int_equal(heard->backward + heard->spoiled, 0);
    }
    story_close(&talk.story);
}

/* Messages of one packet or a few, in windows of few packets, at hosts that stand still now and
 * then: what is left out is passed over in time, and nobody waits for it for ever. */
static void latest_in_small_windows(uint64_t seed)
{
    static struct talk talk;
    struct gmc_prng prng;
    gmc_prng_init(&prng, seed);
    talk_open(&talk, seed, (uint32_t)(gmc_prng_u64(&prng) % 4) * 40000);
    talk.story.wire.rate_bps = UINT64_C(1000000) << gmc_prng_u64(&prng) % 6;
    talk.story.wire.queue_bytes = (UINT64_C(20000) << gmc_prng_u64(&prng) % 4) + 400000;
    talk.story.wire.mtu = 65000;
    talk.story.wire.jitter = GMC_MS(gmc_prng_u64(&prng) % 20);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_LATEST);
    for (int i = 0; i < 20; i++) {
        size_t len = gmc_prng_u64(&prng) % 3 != 0 ? 100 : 4000;
        struct sim_host *host = story_host(&talk.story, gmc_prng_u64(&prng) % 2 != 0 ? "a" : "b");
        sim_host_freeze(host, gmc_prng_u64(&prng) % 3 == 0);
        uint64_t count = 100 + gmc_prng_u64(&prng) % 800;
        gmc_duration every = GMC_US(200 + gmc_prng_u64(&prng) % 1500);
        for (uint64_t k = 0; k < count; k++) {
            gmc_status status = talk_publish(&talk, len);
            assert_true(status == GMC_OK || status == GMC_ERR_AGAIN);
            story_run(&talk.story, every);
        }
        sim_host_freeze(host, false);
    }
    story_run(&talk.story, GMC_S(5));
    talk_end(&talk);
    assert_true(talk_heard(&talk, "a")->ended && talk_heard(&talk, "b")->ended);
    story_close(&talk.story);
}

static void test_latest_in_small_windows(void **state)
{
    (void)state;
    latest_in_small_windows(4);
    latest_in_small_windows(12);
    latest_in_small_windows(34);
}

/* The last value is heard, though the channel ends right behind it; also where the path loses it,
 * or brings the end first. */
static void test_latest_at_the_end(void **state)
{
    (void)state;
    static struct talk talk;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        talk_open(&talk, seed, 300000);
        sim_build_chain(talk.story.world, 3, &talk.story.wire);
        story_start(&talk.story);
        talk_begin(&talk, GMC_MESSAGES_LATEST);
        /* All have attached, which takes a connection some tries. */
        story_run(&talk.story, GMC_S(30));
        for (uint64_t i = 0; i < seed; i++)
            assert_ok(talk_publish(&talk, seed % 2 == 0 ? 16 : 20000));
        talk_end(&talk);
        for (const char *host = "ab"; *host != '\0'; host++) {
            const struct heard *heard = talk_heard(&talk, (char[2]){*host, '\0'});
            assert_true(heard->ended);
            assert_int_equal(heard->next, seed);
            assert_int_equal(heard->count + heard->missed, seed);
            assert_int_equal(heard->backward + heard->spoiled, 0);
        }
        story_close(&talk.story);
    }
}

/* A wire is cut for so long that more packets are left out than a window has: the newest is heard
 * all the same, and the end. */
static void test_latest_beyond_the_window(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 24, 0);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_LATEST);
    talk_publish_many(&talk, 1000, GMC_MS(1), 16);
    story_cut(&talk.story, "a", "b", true);
    talk_publish_many(&talk, 3000, GMC_US(100), 16); /* each with its proof */
    story_cut(&talk.story, "a", "b", false);
    talk_end(&talk);
    for (const char *host = "ab"; *host != '\0'; host++) {
        const struct heard *heard = talk_heard(&talk, (char[2]){*host, '\0'});
        assert_true(heard->ended);
        assert_int_equal(heard->next, talk.published);
    }
    story_close(&talk.story);
}

static bool drop_data(void *ctx, struct sim_host *host, struct gmc_dgram_out *out)
{
    (void)ctx;
    (void)host;
    return out->head_len != GMC_DATA_HEAD_BYTES;
}

/* A relay starts anew, and before it hears the newest message B behind it does: it is told where
 * the relay began, and not where the channel did. */
static void test_latest_behind_a_new_relay(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 25, 0);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_LATEST);
    talk_publish_many(&talk, 3000, GMC_US(200), 16);
    talk.story.source->tamper = drop_data;
    for (const char *host = "ab"; *host != '\0'; host++)
        sim_host_crash(story_host(&talk.story, (char[2]){*host, '\0'}), SIM_CRASH_KILL);
    for (const char *host = "ab"; *host != '\0'; host++) {
        sim_host_start(story_host(&talk.story, (char[2]){*host, '\0'}));
        story_run(&talk.story, GMC_S(2));
    }
    assert_string_equal(story_parent(&talk.story, "b"), "a.example");
    memset(talk.heard, 0, sizeof(talk.heard));
    talk.story.source->tamper = NULL;
    story_run(&talk.story, GMC_S(2));
    assert_int_equal(talk_heard(&talk, "a")->next, 3000);
    assert_int_equal(talk_heard(&talk, "b")->next, 3000);
    talk_end(&talk);
    story_close(&talk.story);
}

/* As fast as the source takes them; how often it was held. */
static uint64_t publish_at_once(struct talk *talk, uint64_t count, size_t len)
{
    uint64_t held = 0;
    while (talk->published < count) {
        gmc_status status = talk_publish(talk, len);
        if (status == GMC_OK)
            continue;
        assert_int_equal(status, GMC_ERR_AGAIN);
        held++;
        talk->rooms = 0;
        assert_true(
            sim_world_run_until(talk->story.world, GMC_MS(1), GMC_S(10), talk_has_room, talk));
    }
    return held;
}

/* A publisher that is faster than the wire is held, and nothing is lost. */
static void test_back_pressure(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 5, 0);
    talk.story.wire.rate_bps = 10000000;
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    assert_true(publish_at_once(&talk, 400, 60000) > 10);
    assert_int_equal(talk_publish(&talk, GMC_MESSAGE_BYTES_MAX + 1), GMC_ERR_LIMIT);
    story_run(&talk.story, GMC_S(25));
    talk_end(&talk);
    talk_expect_all(&talk, "sab");
    story_close(&talk.story);
}

/* So it is while the only session is broken, over which they all go. */
static void test_back_pressure_without_anybody(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 26, 0);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    for (uint64_t count = 200; count <= 600; count += 200) {
        publish_at_once(&talk, count, 60000);
        sim_session_break(&talk.story.world->sessions, talk.story.source->id,
                          story_host(&talk.story, "a")->id);
    }
    talk_end(&talk);
    talk_expect_all(&talk, "ab");
    story_close(&talk.story);
}

/* So it is with several that are about as fast: nobody is ahead so far that others lose for it. */
static void test_back_pressure_of_several(void **state)
{
    (void)state;
    static struct talk talk;
    for (uint32_t loss_ppm = 0; loss_ppm <= 50000; loss_ppm += 50000) {
        talk_open(&talk, 5, loss_ppm);
        talk.story.wire.rate_bps = 20000000;
        sim_build_flat(talk.story.world, 3, &talk.story.wire);
        story_start(&talk.story);
        talk_begin(&talk, GMC_MESSAGES_ORDERED);
        assert_true(publish_at_once(&talk, 1500, 20000) > 10);
        /* 30 MB take 12 s on each wire; 8 MiB of them are still under way. */
        assert_true(sim_world_now(talk.story.world) > GMC_S(8));
        story_run(&talk.story, GMC_S(10));
        talk_end(&talk);
        talk_expect_all(&talk, "sabc");
        story_close(&talk.story);
    }
}

/* One of them has a third of the others' rate: they get all at their own, it gets what it can. */
static void test_back_pressure_beside_a_slow_one(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 6, 0);
    struct sim_world *world = talk.story.world;
    struct sim_host *s = sim_world_add(world, "s.example");
    for (const char *name = "abc"; *name != '\0'; name++) {
        struct sim_host *host =
            sim_world_add(world, (char[10]){*name, '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'});
        talk.story.wire.rate_bps = *name == 'b' ? 7000000 : 20000000;
        sim_world_join(world, s, host, &talk.story.wire);
    }
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    gmc_time began = sim_world_now(world);
    publish_at_once(&talk, 2500, 20000);
    /* 50 MB less what is kept, at 20 Mbit/s and the heads. */
    assert_in_range(gmc_time_sub(sim_world_now(world), began), GMC_S(15), GMC_S(20));
    story_run(&talk.story, GMC_S(30));
    talk_end(&talk);
    talk_expect_all(&talk, "sac");
    const struct heard *slow = talk_heard(&talk, "b");
    assert_true(slow->count > 700 && slow->missed > 500);
    assert_int_equal(slow->count + slow->missed, slow->next);
    story_close(&talk.story);
}

/* One receiver behind a slow wire: the other gets all, on time; the slow one what it can, and its
 * sequence numbers say what it did not get. */
static void test_slow_receiver(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 6, 0);
    struct sim_world *world = talk.story.world;
    struct sim_host *s = sim_world_add(world, "s.example");
    struct sim_host *a = sim_world_add(world, "a.example");
    struct sim_host *b = sim_world_add(world, "b.example");
    sim_world_join(world, s, a, &talk.story.wire);
    talk.story.wire.rate_bps = 1000000;
    talk.story.wire.queue_bytes = 20000;
    sim_world_join(world, s, b, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 500, GMC_MS(1), 2000);
    talk.heard[1].delay_max = 0; /* the link knows its rate by now */
    talk_publish_many(&talk, 9500, GMC_MS(1), 2000);
    assert_int_equal(talk_heard(&talk, "a")->missed, 0);
    assert_true(talk_heard(&talk, "a")->count > 9900);
    assert_in_range(talk_heard(&talk, "a")->delay_max, GMC_MS(15), GMC_MS(25));
    const struct heard *slow = talk_heard(&talk, "b");
    assert_true(slow->count > 200 && slow->missed > 1000);
    assert_int_equal(slow->backward + slow->spoiled, 0);
    assert_int_equal(slow->count + slow->missed, slow->next);
    story_close(&talk.story);
}

/* Beside an object that fills the same wires a message is hardly later. */
static void test_beside_bulk(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 7, 0);
    sim_build_flat(talk.story.world, 1, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 1000, GMC_MS(1), 1024);
    struct heard *heard = &talk.heard[1];
    gmc_duration alone = talk_median(heard);
    assert_true(alone < GMC_MS(16));
    struct gmc_channel_key key = talk.key;
    story_stage(&talk.story, 100 * MB, GMC_TREE_ECO, NULL);
    talk.story.key = key;
    story_run(&talk.story, GMC_S(3)); /* the wire is full by now */
    heard->delay_count = 0;
    talk_publish_many(&talk, 2000, GMC_MS(1), 1024);
    gmc_duration beside = talk_median(heard);
    if (getenv("GMC_STORY_TRACE") != NULL)
        fprintf(stderr, "1 KiB over 15 ms, median: alone %.3f ms, beside bulk %.3f ms\n",
                (double)alone / 1e6, (double)beside / 1e6);
    /* The queue that bulk makes is kept short for them: 16.8 ms without that. */
    assert_true(beside < GMC_MS(16));
    talk_end(&talk);
    talk_expect_all(&talk, "a");
    story_close(&talk.story);
}

/* Inside a domain, where a group is sent objects as fast as the gateway's port takes them: messages
 * go to each node over its own link, before the group's data. */
static void test_beside_a_group(void **state)
{
    (void)state;
    static struct talk talk;
    struct lan lan;
    lan_begin(&lan, 11, 4, &(struct lan_loss){0});
    talk_listen(&talk, &lan.story);
    talk_begin_to(&talk, GMC_MESSAGES_ORDERED, "a");
    story_run(&talk.story, GMC_S(1)); /* all have attached */
    talk_publish_many(&talk, 1000, GMC_MS(1), 1024);
    struct heard *heard = &talk.heard[lan_node(&lan, 1)->id];
    gmc_duration alone = talk_median(heard);
    struct gmc_channel_key key = talk.key;
    story_stage(&talk.story, 100 * MB, GMC_TREE_CHAIN, "a");
    talk.story.key = key;
    story_run(&talk.story, GMC_S(1)); /* the group is at its rate by now */
    uint64_t carried = story_wire_bytes(&talk.story, "a", "switch");
    heard->delay_count = 0;
    talk_publish_many(&talk, 2000, GMC_MS(1), 1024);
    carried = story_wire_bytes(&talk.story, "a", "switch") - carried;
    gmc_duration most = talk_percentile(heard, 99), beside = talk_median(heard);
    print_message(
        "1 KiB to a node over 1.05 ms, median: alone %.3f ms, beside a group %.3f ms (p99 "
        "%.3f ms), its port at %.0f Mbit/s\n",
        (double)alone / 1e6, (double)beside / 1e6, (double)most / 1e6, (double)carried * 8 / 2e6);
    /* Groups leave its queue empty for them: up to 170 ms without that, by losses in it. */
    assert_true(beside < alone + GMC_MS(1) && most < alone + GMC_MS(2));
    assert_true(carried * 8 / 2 > LAN_RATE_BPS / 100 * 95);
    talk_end(&talk);
    talk_expect_all(&talk, "a");
    for (size_t n = 1; n <= 4; n++)
        assert_int_equal(talk.heard[lan_node(&lan, n)->id].count, talk.published);
    story_close(&talk.story);
}

/* Where UDP is blocked both go within one TLS connection. */
static void test_beside_bulk_within_tls(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 12, 0);
    sim_build_flat(talk.story.world, 1, &talk.story.wire);
    sim_net_block_udp(&talk.story.world->net, story_host(&talk.story, "s")->id,
                      story_host(&talk.story, "a")->id, true);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    story_run(&talk.story, GMC_S(5));
    assert_true(story_has_line("link to s.example is up (within TLS)"));
    talk_publish_many(&talk, 1000, GMC_MS(1), 1024);
    struct heard *heard = &talk.heard[1];
    gmc_duration alone = talk_median(heard);
    struct gmc_channel_key key = talk.key;
    story_stage(&talk.story, 100 * MB, GMC_TREE_ECO, NULL);
    talk.story.key = key;
    story_run(&talk.story, GMC_S(3)); /* the wire is full by now */
    uint64_t carried = story_wire_bytes(&talk.story, "s", "a");
    heard->delay_count = 0;
    talk_publish_many(&talk, 2000, GMC_MS(1), 1024);
    carried = story_wire_bytes(&talk.story, "s", "a") - carried;
    gmc_duration most = talk_percentile(heard, 99), beside = talk_median(heard);
    print_message(
        "1 KiB over 15 ms within TLS, median: alone %.3f ms, beside bulk %.3f ms (p99 %.3f "
        "ms), the wire at %.0f Mbit/s\n",
        (double)alone / 1e6, (double)beside / 1e6, (double)most / 1e6, (double)carried * 8 / 2e6);
    assert_true(alone < GMC_MS(16) && beside < GMC_MS(17));
    assert_true(carried * 8 / 2 > talk.story.wire.rate_bps / 100 * 90);
    talk_end(&talk);
    talk_expect_all(&talk, "a");
    story_close(&talk.story);
}

/* The parent of B dies: B attaches to S and gets what it lacks from there. */
static void test_relay_dies(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 8, 10000);
    struct sim_world *world = talk.story.world;
    sim_build_chain(world, 3, &talk.story.wire);
    /* A way around A. */
    struct sim_wire_config around = talk.story.wire;
    around.delay = GMC_MS(60);
    sim_world_join(world, story_host(&talk.story, "s"), story_host(&talk.story, "b"), &around);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 500, GMC_MS(1), 256);
    assert_string_equal(story_parent(&talk.story, "b"), "a.example");
    sim_host_crash(story_host(&talk.story, "a"), SIM_CRASH_KILL);
    talk_publish_many(&talk, 8000, GMC_MS(1), 256);
    story_run(&talk.story, GMC_S(2));
    const struct heard *heard = talk_heard(&talk, "b");
    assert_int_equal(heard->count, talk.published);
    assert_int_equal(heard->missed + heard->backward + heard->spoiled, 0);
    story_close(&talk.story);
}

/* A relay starts anew when the source has forgotten the first messages, and then B behind it does:
 * the relay was never told of those, and says so to B, who waits for none of them. */
static void test_begins_in_the_middle(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 23, 0);
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 18000, GMC_US(250), 16); /* more than are kept */
    for (const char *host = "ab"; *host != '\0'; host++) {
        struct sim_host *anew = story_host(&talk.story, (char[2]){*host, '\0'});
        sim_host_crash(anew, SIM_CRASH_KILL);
        story_run(&talk.story, GMC_MS(200));
        sim_host_start(anew);
        talk.heard[anew->id] = (struct heard){0};
        story_run(&talk.story, GMC_S(5));
        assert_true(talk.heard[anew->id].count > 1000);
    }
    talk_end(&talk);
    assert_true(talk_heard(&talk, "a")->ended && talk_heard(&talk, "b")->ended);
    story_close(&talk.story);
}

/* A relay lacks what left the source's ring while it could not be reached. Whoever begins behind it
 * gets what it has from before and from after that. */
static void test_hole_at_a_relay(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 27, 0);
    struct sim_world *world = talk.story.world;
    sim_build_chain(world, 3, &talk.story.wire);
    /* It is not waited for while another one is there. */
    sim_world_join(world, story_host(&talk.story, "s"), sim_world_add(world, "c.example"),
                   &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 1000, GMC_MS(1), 16);
    story_cut(&talk.story, "s", "a", true);
    talk_publish_many(&talk, 17000, GMC_US(100), 16); /* more than are kept */
    story_cut(&talk.story, "s", "a", false);
    story_run(&talk.story, GMC_S(5));
    assert_true(talk_heard(&talk, "a")->missed > 0);
    struct sim_host *b = story_host(&talk.story, "b");
    sim_host_crash(b, SIM_CRASH_KILL);
    story_run(&talk.story, GMC_MS(200));
    sim_host_start(b);
    talk.heard[b->id] = (struct heard){0};
    story_run(&talk.story, GMC_S(5));
    assert_string_equal(story_parent(&talk.story, "b"), "a.example");
    assert_int_equal(talk_heard(&talk, "b")->next, talk.published);
    assert_true(talk_heard(&talk, "b")->count > 1000);
    talk_end(&talk);
    talk_expect_all(&talk, "c");
    story_close(&talk.story);
}

/* A large message takes its time on slow wires, and its proofs come behind it: nobody is blamed for
 * that. */
static void test_large_over_slow_wires(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 28, 10000);
    talk.story.wire.rate_bps = 1000000;
    talk.story.wire.queue_bytes = 20000;
    sim_build_chain(talk.story.world, 3, &talk.story.wire);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    story_run(&talk.story, GMC_S(2));
    assert_ok(talk_publish(&talk, 1000000));
    talk_end(&talk);
    talk_expect_all(&talk, "ab");
    assert_false(story_has_line("without the source's proof"));
    story_close(&talk.story);
}

/* ---- a relay that lies ---- */
enum lie { HONEST, ALTERS, SIGNS, REPEATS, GARBLES, WITHHOLDS, WITHHOLDS_ONE };

/* What this gateway does to what it passes on; it has the content key, as every member does. */
static struct gmc_gateway *liar;
static enum lie lie;
static uint8_t proof_seen[256]; /* one that the source signed */
static size_t proof_seen_len;

void __real_gw_hearers_offer(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number);
void __wrap_gw_hearers_offer(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number);

/* This in its place, sealed as the source would. */
static void put_in(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number,
                   const struct gmc_message_packet *packet, const uint8_t *plain)
{
    const struct gmc_crypto_ops *ops = gw->config.crypto->ops;
    uint8_t nonce[GMC_NONCE_BYTES], aad[18];
    uint32_t block = (uint32_t)(number >> 16);
    struct gmc_bytes about = gw_seal_aad(ch, block, (uint16_t)number, aad);
    gw_seal_nonce(block, (uint16_t)number, nonce);
    assert_ok(ops->seal(ch->aead, nonce, about, plain, packet->len, packet->body, packet->tag));
}

void __wrap_gw_hearers_offer(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number)
{
    struct gmc_message_packet packet;
    uint8_t nonce[GMC_NONCE_BYTES], aad[18], plain[65536];
    uint32_t block = (uint32_t)(number >> 16);
    if (gw != liar || lie == HONEST || !gmc_message_ring_get(&ch->talk->ring, number, &packet)) {
        __real_gw_hearers_offer(gw, ch, number);
        return;
    }
    gw_seal_nonce(block, (uint16_t)number, nonce);
    assert_ok(gw->config.crypto->ops->open(ch->aead, nonce,
                                           gw_seal_aad(ch, block, (uint16_t)number, aad),
                                           packet.body, packet.len, plain, packet.tag));
    bool is_proof = gmc_proof_is(gmc_bytes(plain, packet.len));
    bool is_tenth = !is_proof && number % 10 == 0;
    if (is_proof && (lie == WITHHOLDS || lie == WITHHOLDS_ONE)) {
        if (lie == WITHHOLDS_ONE)
            lie = HONEST;
        return;
    }
    if (is_proof && packet.len <= sizeof(proof_seen)) {
        memcpy(proof_seen, plain, packet.len);
        proof_seen_len = packet.len;
    }
    if ((is_proof && lie == SIGNS) || (is_tenth && lie == ALTERS))
        plain[packet.len - 1] ^= 1;
    else if (is_tenth && lie == GARBLES)
        plain[0] = 8; /* a proof, it says */
    else if (is_tenth && lie == REPEATS && packet.len == proof_seen_len)
        memcpy(plain, proof_seen, packet.len);
    put_in(gw, ch, number, &packet, plain);
    __real_gw_hearers_offer(gw, ch, number);
}

/* B is behind A, which lies, and C behind B, which does not know, and so is B's node N: they hear
 * what S said, all of it, and nothing else, from somebody else. */
static void test_lies(enum gmc_message_order order, enum lie what)
{
    /* A packet of so many bytes is as long as the proof of one. */
    size_t len = what == REPEATS ? 50 : 256;
    static struct talk talk;
    talk_open(&talk, 21, 10000);
    struct sim_world *world = talk.story.world;
    sim_build_chain(world, 4, &talk.story.wire);
    struct sim_wire_config around = talk.story.wire;
    around.delay = GMC_MS(60);
    sim_world_join(world, story_host(&talk.story, "s"), story_host(&talk.story, "b"), &around);
    struct sim_wire_config lan = {.rate_bps = 1000000000,
                                  .delay = GMC_US(50),
                                  .queue_bytes = 200000};
    struct sim_host *gateway = story_host(&talk.story, "b");
    sim_world_join(world, gateway, sim_world_add_node(world, gateway, "n.example"), &lan);
    story_start(&talk.story);
    talk_begin_to(&talk, order, "abc");
    talk_publish_many(&talk, 500, GMC_MS(1), 256);
    assert_string_equal(story_parent(&talk.story, "b"), "a.example");
    liar = story_host(&talk.story, "a")->gateway;
    lie = what;
    talk_publish_many(&talk, what == WITHHOLDS_ONE ? 80 : 8000,
                      what == WITHHOLDS_ONE ? GMC_MS(100) : GMC_MS(1), len);
    assert_string_not_equal(story_parent(&talk.story, "b"), "a.example");
    lie = HONEST; /* it is given another chance some seconds later */
    story_run(&talk.story, GMC_S(12));
    talk_end(&talk);
    for (const char *host = "abcn"; *host != '\0'; host++) {
        const struct heard *heard = talk_heard(&talk, (char[2]){*host, '\0'});
        assert_int_equal(heard->spoiled, 0);
        assert_true(heard->ended);
        if (order == GMC_MESSAGES_LATEST)
            continue;
        assert_int_equal(heard->count, talk.published);
        if (order == GMC_MESSAGES_ORDERED)
            assert_int_equal(heard->missed + heard->backward, 0);
    }
    story_close(&talk.story);
}

static void test_altered(void **state)
{
    (void)state;
    test_lies(GMC_MESSAGES_ORDERED, ALTERS);
    test_lies(GMC_MESSAGES_UNORDERED, ALTERS);
    test_lies(GMC_MESSAGES_LATEST, ALTERS);
}

static void test_signed_by_a_relay(void **state)
{
    (void)state;
    test_lies(GMC_MESSAGES_ORDERED, SIGNS);
}

/* A proof is one in its own place only: in that of a message it would make it vanish. */
static void test_proofs_in_place_of_messages(void **state)
{
    (void)state;
    test_lies(GMC_MESSAGES_ORDERED, REPEATS);
    test_lies(GMC_MESSAGES_UNORDERED, GARBLES);
}

static void test_proofs_withheld(void **state)
{
    (void)state;
    test_lies(GMC_MESSAGES_ORDERED, WITHHOLDS);
    test_lies(GMC_MESSAGES_ORDERED, WITHHOLDS_ONE);
    test_lies(GMC_MESSAGES_UNORDERED, WITHHOLDS_ONE);
}

/* B finds A out, and hears from S what A had not proven. Of what was proven it forgets nothing:
 * whoever begins behind B gets all. */
static void test_kept_when_a_relay_is_left(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 29, 0);
    struct sim_world *world = talk.story.world;
    sim_build_chain(world, 4, &talk.story.wire);
    struct sim_wire_config around = talk.story.wire;
    around.delay = GMC_MS(60);
    sim_world_join(world, story_host(&talk.story, "s"), story_host(&talk.story, "b"), &around);
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    story_run(&talk.story, GMC_S(2));
    assert_string_equal(story_parent(&talk.story, "b"), "a.example");
    liar = story_host(&talk.story, "a")->gateway;
    lie = WITHHOLDS_ONE;
    talk_publish_many(&talk, 10, GMC_MS(1),
                      200000); /* two proofs each, of which the first is lost */
    story_run(&talk.story, GMC_S(12));
    assert_true(story_has_line("b.example a.example sent packets without the source's proof"));
    struct sim_host *c = story_host(&talk.story, "c");
    sim_host_crash(c, SIM_CRASH_KILL);
    story_run(&talk.story, GMC_MS(200));
    sim_host_start(c);
    talk.heard[c->id] = (struct heard){0};
    story_run(&talk.story, GMC_S(5));
    assert_string_equal(story_parent(&talk.story, "c"), "b.example");
    talk_end(&talk);
    talk_expect_all(&talk, "abc");
    story_close(&talk.story);
}

/* No other domain: the channel stays inside. */
static void test_alone(void **state)
{
    (void)state;
    static struct talk talk;
    talk_open(&talk, 10, 0);
    sim_world_add(talk.story.world, "s.example");
    story_start(&talk.story);
    talk_begin(&talk, GMC_MESSAGES_ORDERED);
    talk_publish_many(&talk, 20000, GMC_US(10), 256);
    talk_end(&talk);
    talk_expect_all(&talk, "s");
    story_close(&talk.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_skeleton),
        story_test(test_loss),
        story_test(test_unordered),
        story_test(test_latest),
        story_test(test_latest_of_many_packets),
        story_test(test_latest_in_small_windows),
        story_test(test_latest_at_the_end),
        story_test(test_latest_beyond_the_window),
        story_test(test_latest_behind_a_new_relay),
        story_test(test_back_pressure),
        story_test(test_back_pressure_without_anybody),
        story_test(test_back_pressure_of_several),
        story_test(test_back_pressure_beside_a_slow_one),
        story_test(test_slow_receiver),
        story_test(test_beside_bulk),
        story_test(test_relay_dies),
        story_test(test_begins_in_the_middle),
        story_test(test_hole_at_a_relay),
        story_test(test_large_over_slow_wires),
        story_test(test_altered),
        story_test(test_signed_by_a_relay),
        story_test(test_proofs_in_place_of_messages),
        story_test(test_proofs_withheld),
        story_test(test_kept_when_a_relay_is_left),
        story_test(test_alone),
        story_test(test_beside_a_group),
        story_test(test_beside_bulk_within_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
