/* SPDX-License-Identifier: BSD-2-Clause */
/* Stories of disks that fail, networks that part, firewalls, strangers and tampering. */
#include "tests/scenarios/story.h"

#include "wire/head.h"

#define OBJECT (10 * MB)

static void begin(struct story *story, uint64_t seed)
{
    story_open(story, seed);
    sim_build_tree3(story->world, &story->wire);
    story_start(story);
    story_stage(story, OBJECT, GMC_TREE_ECO, NULL);
}

/* ---- disks ---- */
/* A relay's disk is full from the beginning: it is named, its children go elsewhere. */
static void test_full_at_the_start(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 40);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    sim_disk_configure(&story_host(&story, "b")->disk,
                       &(struct sim_disk_config){.capacity_bytes = MB});
    story_stage(&story, OBJECT, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(120));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    story_expect_delivered(&story, "acdef");
    story_expect_not_delivered(&story, "b");
    assert_int_equal(story_member_state(&story, "b"), GMC_MEMBER_FAILED);
    assert_non_null(strstr(story_member_reason(&story, "b"), "full"));
    story_close(&story);
}

/* It fills up in the middle. */
static void test_full_in_the_middle(void **state)
{
    (void)state;
    struct story story;
    begin(&story, 41);
    story_run_to_percent(&story, "b", 40, GMC_S(30));
    sim_disk_configure(&story_host(&story, "b")->disk,
                       &(struct sim_disk_config){.capacity_bytes = OBJECT / 2});
    story_run_to_end(&story, GMC_S(120));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    story_expect_delivered(&story, "acdef");
    assert_int_equal(story_member_state(&story, "b"), GMC_MEMBER_FAILED);
    assert_non_null(strstr(story_member_reason(&story, "b"), "full"));
    story_close(&story);
}

/* Who has given up is sent nothing any more, neither while the others go on nor while the transfer
 * is kept for a resume. */
static void test_who_gave_up_is_sent_nothing(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 54);
    sim_build_flat(story.world, 3, &story.wire);
    story_start(&story);
    story_stage(&story, OBJECT, GMC_TREE_FLAT, NULL);
    story_run_to_percent(&story, "b", 40, GMC_S(30));
    sim_disk_configure(&story_host(&story, "b")->disk,
                       &(struct sim_disk_config){.capacity_bytes = OBJECT / 2});
    story_run_to_end(&story, GMC_S(120));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    story_expect_delivered(&story, "ac");
    assert_in_range(story_wire_bytes(&story, "s", "b"), OBJECT / 3, OBJECT);
    uint64_t before = story_wire_bytes(&story, "s", "b");
    story_run(&story, GMC_S(5));
    assert_in_range(story_wire_bytes(&story, "s", "b") - before, 0, 50000);
    story_close(&story);
}

/* A leaf with a disk ten times slower than its wire: itself late, nobody else. */
static void test_slow_disk(void **state)
{
    (void)state;
    struct story story;
    struct gmc_member_info info;
    story_open(&story, 42);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    sim_disk_configure(&story_host(&story, "d")->disk,
                       &(struct sim_disk_config){.rate_bps = 10000000});
    story_stage(&story, OBJECT, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    assert_true(sim_member(story.source, &story.key, story_host(&story, "e"), &info));
    assert_in_range(info.elapsed, GMC_MS(800), GMC_S(3));
    assert_true(sim_member(story.source, &story.key, story_host(&story, "d"), &info));
    assert_true(info.elapsed > GMC_S(8));
    story_close(&story);
}

/* Some reads of a relay with a small cache fail: its children are served all the same. */
static void test_read_errors_at_a_relay(void **state)
{
    (void)state;
    struct story story;
    story_open_with(&story, &(struct sim_world_config){.seed = 43,
                                                       .exact_clocks = true,
                                                       .cache_bytes = 2 << 20});
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    sim_disk_configure(&story_host(&story, "b")->disk,
                       &(struct sim_disk_config){.read_error_ppm = 100000});
    /* d is slow, so b has to read back what its cache let go. */
    sim_disk_configure(&story_host(&story, "d")->disk,
                       &(struct sim_disk_config){.rate_bps = 20000000});
    story_stage(&story, OBJECT, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    story_close(&story);
}

/* A relay that has all of it cannot read some for one child: the other one, which is not there yet,
 * does not wait for that, and nobody comes to wait for it. */
static void test_read_errors_behind_a_whole_relay(void **state)
{
    (void)state;
    struct story story;
    story_open_with(&story, &(struct sim_world_config){.seed = 46,
                                                       .exact_clocks = true,
                                                       .cache_bytes = 2 << 20});
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    struct sim_disk *disk = &story_host(&story, "b")->disk;
    sim_disk_configure(&story_host(&story, "d")->disk,
                       &(struct sim_disk_config){.rate_bps = 20000000});
    sim_disk_configure(&story_host(&story, "e")->disk,
                       &(struct sim_disk_config){.rate_bps = 5000000});
    story_stage(&story, OBJECT, GMC_TREE_ECO, NULL);
    story_run_to_percent(&story, "b", 100, GMC_S(10));
    story_run(&story, GMC_MS(100));
    assert_string_equal(story_parent(&story, "e"), "b.example");
    sim_disk_configure(disk, &(struct sim_disk_config){.read_error_ppm = 1000000});
    for (int i = 0; i < 1000 && !story_has_line("b.example let go"); i++)
        story_run(&story, GMC_MS(1));
    sim_disk_configure(disk, &(struct sim_disk_config){0});
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    assert_string_not_equal(story_parent(&story, "d"), "b.example");
    assert_string_not_equal(story_parent(&story, "e"), "b.example");
    story_close(&story);
}

/* A relay's disk returns other bytes than were written: nobody takes them. */
static void test_bit_rot_at_a_relay(void **state)
{
    (void)state;
    struct story story;
    story_open_with(&story, &(struct sim_world_config){.seed = 44,
                                                       .exact_clocks = true,
                                                       .cache_bytes = 2 << 20});
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    sim_disk_configure(&story_host(&story, "b")->disk,
                       &(struct sim_disk_config){.read_flip_ppm = 200000});
    sim_disk_configure(&story_host(&story, "d")->disk,
                       &(struct sim_disk_config){.rate_bps = 20000000});
    story_stage(&story, OBJECT, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    story_close(&story);
}

static uint64_t counter(const struct sim_host *host, const char *name)
{
    struct gmc_counter list[64];
    size_t count = gmc_gateway_counters(host->gateway, list, 64);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].value;
    fail_msg("there is no counter %s", name);
    return 0;
}

/* A slow child falls out of what the cache holds: it goes on where its siblings are, so that the
 * gap alone is read again for it, and not all that is left (which would be 1.55 in all). */
static void test_left_behind(void **state)
{
    (void)state;
    struct story story;
    uint64_t blocks = 100 * MB / 65536;
    story_open_with(&story, &(struct sim_world_config){.seed = 58,
                                                       .exact_clocks = true,
                                                       .cache_bytes = 40 << 20});
    sim_build_flat(story.world, 4, &story.wire);
    story_start(&story);
    sim_disk_configure(&story_host(&story, "d")->disk,
                       &(struct sim_disk_config){.rate_bps = 50000000});
    story_stage(&story, 100 * MB, GMC_TREE_FLAT, NULL);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    assert_in_range(counter(story.source, "blocks_read"), blocks, blocks * 135 / 100);
    story_close(&story);
}

/* Who joins when the source's cache has left the first page behind gets the listing before all
 * else: blocks of the middle cannot be stored without it, and would fill its window for ever. */
static void test_late_beyond_cache(void **state)
{
    (void)state;
    struct story story;
    const char *error;
    story_open_with(&story, &(struct sim_world_config){.seed = 63,
                                                       .exact_clocks = true,
                                                       .virtual_bodies = true,
                                                       .cache_bytes = 16 << 20});
    story.wire.mtu = 66000;
    sim_build_flat(story.world, 2, &story.wire);
    story_start(&story);
    story_stage(&story, 100 * MB, GMC_TREE_FLAT, "a");
    story_run_to_percent(&story, "a", 50, GMC_S(60));
    assert_ok(sim_add(story.source, &story.key, story_host(&story, "b"), &error));
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_expect_delivered(&story, "ab");
    story_close(&story);
}

/* Within a site, latencies are noise: the tree does not follow them. */
static void test_one_site(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 59);
    story.wire.delay = GMC_US(20);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    story_stage(&story, MB, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    for (const char *host = "abcdef"; *host != '\0'; host++)
        assert_string_equal(story_parent(&story, (char[2]){*host}), "s.example");
    story_close(&story);
}

/* The source's file changes under the transfer: it ends, and says so. */
static void test_source_changes(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 45);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    story_stage(&story, 40 * MB, GMC_TREE_ECO, NULL);
    story_run_to_percent(&story, "f", 20, GMC_S(30));
    story.source->disk.source_changed = true;
    story_run_to_end(&story, GMC_S(60));
    assert_int_equal(story_state(&story), GMC_CHANNEL_FAILED);
    story_run(&story, GMC_S(3));
    story_expect_not_delivered(&story, "abcdef");
    story_close(&story);
}

static void source_reads(struct story *story, bool fail)
{
    sim_disk_configure(&story->source->disk,
                       &(struct sim_disk_config){.read_error_ppm = fail ? 1000000 : 0});
}

/* The source's disk is away for three seconds: nobody notices but the clock. */
static void test_source_disk_comes_back(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 61);
    sim_build_tree3(story.world, &story.wire);
    story_start(&story);
    story_stage(&story, 40 * MB, GMC_TREE_ECO, NULL);
    story_run_to_percent(&story, "f", 20, GMC_S(30));
    source_reads(&story, true);
    story_run(&story, GMC_S(3));
    source_reads(&story, false);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_close(&story);
}

/* It stays away: the transfer stops with its words and goes on when its user says so; what
 * receivers had is not sent again. */
static void test_source_disk_stays_away(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 62);
    sim_build_flat(story.world, 6, &story.wire);
    story_start(&story);
    story_stage(&story, 40 * MB, GMC_TREE_FLAT, NULL);
    story_run_to_percent(&story, "f", 50, GMC_S(30));
    source_reads(&story, true);
    story_run_to_end(&story, GMC_S(60));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    assert_non_null(strstr(story_member_reason(&story, "f"), "the simulated disk failed"));
    story_expect_not_delivered(&story, "abcdef");
    source_reads(&story, false);
    const char *error = NULL;
    assert_int_equal(sim_resume(story.source, &story.key, &error), GMC_OK);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    for (const char *host = "abcdef"; *host != '\0'; host++)
        assert_true(story_wire_bytes(&story, "s", (char[2]){*host}) < 43 * MB);
    story_close(&story);
}

/* ---- networks ---- */
static void test_partition_heals(void **state)
{
    (void)state;
    struct story story;
    begin(&story, 46);
    story_run_to_percent(&story, "d", 30, GMC_S(30));
    story_cut(&story, "a", "b", true);
    story_run(&story, GMC_S(6));
    story_expect_delivered(&story, "acf"); /* the other side went on */
    story_expect_not_delivered(&story, "bde");
    story_cut(&story, "a", "b", false);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_close(&story);
}

/* A host that answers nothing when a transfer begins, not even that it cannot be connected to,
 * holds the others up for a moment only; and has what they have when it comes. */
static void test_away_at_the_start(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 65);
    sim_build_flat(story.world, 3, &story.wire);
    story_start(&story);
    story_cut(&story, "s", "c", true);
    story_stage(&story, 10 * MB, GMC_TREE_BULK, NULL);
    story_run(&story, GMC_S(2));
    assert_int_equal(story_state(&story), GMC_CHANNEL_RUNNING);
    story_run(&story, GMC_S(6));
    story_expect_delivered(&story, "ab");
    story_cut(&story, "s", "c", false);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_expect_delivered(&story, "abc");
    story_close(&story);
}

/* The path to a domain that comes late carries less than the transfer was cut for, and TLS records
 * hold less too: it is told so, and does not ask for ever. */
static void test_the_path_is_too_small(void **state)
{
    (void)state;
    struct story story;
    struct sim_wire_config wide = {.rate_bps = 1000000000,
                                   .delay = GMC_MS(2),
                                   .queue_bytes = 2000000,
                                   .mtu = 40000};
    struct sim_wire_config narrow = wide;
    story_open(&story, 18);
    struct sim_host *source = sim_world_add(story.world, "s.example");
    struct sim_host *router = sim_world_add_router(story.world, "r.example");
    struct sim_host *late = sim_world_add(story.world, "b.example");
    sim_world_join(story.world, source, sim_world_add(story.world, "a.example"), &wide);
    sim_world_join(story.world, source, router, &wide);
    uint32_t wire = sim_world_join(story.world, router, late, &wide);
    narrow.mtu = 1500;
    sim_lane_configure(sim_net_lane(&story.world->net, wire, 0), &narrow);
    story_start(&story);
    sim_host_crash(late, SIM_CRASH_KILL);
    story_stage(&story, 2 * MB, GMC_TREE_FLAT, "ab");
    story_run(&story, GMC_S(8));
    sim_host_start(late);
    story_run_to_end(&story, GMC_S(60));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    assert_non_null(strstr(story_member_reason(&story, "b"), "takes smaller datagrams"));
    story_close(&story);
}

/* The link to the planned parent is there later than its child could wait: the child goes there
 * then, and the source's wire to it carries no more. */
static void test_the_parent_is_heard_late(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 64);
    struct sim_host *source = sim_world_add(story.world, "s.example");
    struct sim_host *a = sim_world_add(story.world, "a.example");
    struct sim_host *b = sim_world_add(story.world, "b.example");
    sim_world_join(story.world, source, a, &story.wire);
    sim_world_join(story.world, source, b, &story.wire);
    sim_world_join(story.world, a, b, &story.wire);
    story_start(&story);
    story_stage(&story, MB, GMC_TREE_CHAIN, "ab"); /* measures a-b, which counts for a while */
    story_run_to_end(&story, GMC_S(60));
    story_cut(&story, "a", "b", true);
    sim_session_break(&story.world->sessions, a->id, b->id);
    story_stage(&story, 200 * MB, GMC_TREE_CHAIN, "ab");
    story_run(&story, GMC_S(8));
    assert_string_equal(story_parent(&story, "b"), "s.example");
    story_cut(&story, "a", "b", false);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    assert_true(story_has_line("leaves s.example for its parent a.example"));
    assert_string_equal(story_parent(&story, "b"), "a.example");
    assert_true(story_wire_bytes(&story, "s", "b") < 150 * MB);
    assert_true(story_wire_bytes(&story, "s", "b") + story_wire_bytes(&story, "a", "b") < 220 * MB);
    story_close(&story);
}

static void test_session_breaks(void **state)
{
    (void)state;
    struct story story;
    begin(&story, 47);
    story_run_to_percent(&story, "d", 30, GMC_S(30));
    sim_session_break(&story.world->sessions, story_host(&story, "a")->id,
                      story_host(&story, "b")->id);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    story_close(&story);
}

/* Between S and A only TCP passes: the datagrams go within the TLS connection. */
static void test_udp_blocked(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 48);
    sim_build_chain(story.world, 3, &story.wire);
    story_start(&story);
    sim_net_block_udp(&story.world->net, story_host(&story, "s")->id, story_host(&story, "a")->id,
                      true);
    story_stage(&story, 3 * MB, GMC_TREE_CHAIN, NULL);
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    assert_true(story_has_line("a.example link to s.example is up (within TLS)"));
    assert_true(story_has_line("b.example link to a.example is up (udp)"));
    story_close(&story);
}

/* A gateway that can only dial out waits for nobody: it dials its neighbours. */
static void test_dial_only(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 49);
    sim_build_chain(story.world, 3, &story.wire);
    story_host(&story, "s")->dial_only = true;
    story_start(&story);
    story_stage(&story, 1 * MB, GMC_TREE_CHAIN, NULL);
    story_run_to_end(&story, GMC_S(30));
    story_expect_complete(&story);
    story_close(&story);
}

/* ---- strangers ---- */
/* A domain whose certificate the others refuse: named with the reason, the rest unharmed. */
static void test_refused_certificate(void **state)
{
    (void)state;
    struct story story;
    story_open(&story, 50);
    sim_build_tree3(story.world, &story.wire);
    story_host(&story, "c")->refused = "certificate of c.example is revoked";
    story_start(&story);
    story_stage(&story, 1 * MB, GMC_TREE_ECO, NULL);
    story_run_to_end(&story, GMC_S(60));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    story_expect_delivered(&story, "abdef");
    story_expect_not_delivered(&story, "c");
    assert_non_null(strstr(story_member_reason(&story, "c"), "revoked"));
    story_close(&story);
}

/* A target that nobody configured. */
static void test_unknown_domain(void **state)
{
    (void)state;
    struct story story;
    const char *error = NULL;
    story_open(&story, 51);
    sim_build_chain(story.world, 2, &story.wire);
    story_start(&story);
    const char *sources[] = {"sim:5:1000"};
    struct gmc_stage_target targets[] = {{"a.example", "", NULL}, {"nowhere.example", "", NULL}};
    struct gmc_stage_request request = {.sources = sources,
                                        .source_count = 1,
                                        .targets = targets,
                                        .target_count = 2,
                                        .shape = GMC_TREE_ECO};
    assert_ok(gmc_gateway_stage(story.source->gateway, sim_host_now(story.source), &request,
                                &story.key, &error));
    sim_host_drain(story.source);
    story_run_to_end(&story, GMC_S(60));
    assert_int_equal(story_state(&story), GMC_CHANNEL_PARTIAL);
    story_expect_delivered(&story, "a");
    story_close(&story);
}

static void inject(struct story *story, const char *from, const char *to, const uint8_t *bytes,
                   size_t len)
{
    struct gmc_bytes piece = gmc_bytes(bytes, len);
    sim_net_send_udp(&story->world->net, story_host(story, from)->id, story_host(story, to)->id,
                     SIM_ECN_NOT_ECT, &piece, 1);
}

/* Garbage of every length and kind is refused and counted beside a transfer that does not care. */
static void test_garbage(void **state)
{
    (void)state;
    struct story story;
    struct gmc_prng prng;
    uint8_t bytes[1472];
    gmc_prng_init(&prng, 52);
    begin(&story, 52);
    uint64_t before = story_host(&story, "a")->count.datagrams_refused;
    for (size_t i = 0; i < 3000; i++) {
        size_t len = gmc_prng_below(&prng, i % 2 == 0 ? 60 : sizeof(bytes));
        for (size_t j = 0; j < len; j++)
            bytes[j] = (uint8_t)gmc_prng_u64(&prng);
        if (len > 0 && i % 3 != 0)
            bytes[0] = (uint8_t)(i % 20); /* a known version and kind */
        inject(&story, "f", "a", bytes, len);
        if (i % 10 == 0)
            story_run(&story, GMC_MS(1));
    }
    story_run_to_end(&story, GMC_S(60));
    story_expect_complete(&story);
    assert_in_range(story_host(&story, "a")->count.datagrams_refused - before, 3000, 3600);
    story_close(&story);
}

/* ---- tampering ---- */
struct tamper {
    uint64_t seen;
    uint64_t every;
    bool flip; /* a byte of the body; otherwise the datagram is sent twice */
    uint8_t body[2048];
};

static bool tamper(void *ctx, struct sim_host *host, struct gmc_dgram_out *out)
{
    struct tamper *plan = ctx;
    bool is_data = out->head_len == GMC_DATA_HEAD_BYTES;
    if (!is_data || plan->seen++ % plan->every != 0 || out->body.len > sizeof(plan->body))
        return true;
    if (plan->flip) {
        memcpy(plan->body, out->body.data, out->body.len);
        plan->body[out->body.len / 2] ^= 1;
        out->body.data = plan->body;
        return true;
    }
    struct gmc_bytes pieces[] = {gmc_bytes(out->head, out->head_len), out->body, out->tail};
    sim_net_send_udp(&host->world->net, host->id, sim_host_of_peer(host, out->peer),
                     SIM_ECN_NOT_ECT, pieces, 3);
    return true;
}

/* A relay changes a byte in every tenth fragment that it passes on. Nobody accepts one, its
 * children leave it, and all complete. */
static void test_hostile_relay(void **state)
{
    (void)state;
    struct story story;
    struct tamper plan = {.every = 10, .flip = true};
    begin(&story, 53);
    story_host(&story, "b")->tamper = tamper;
    story_host(&story, "b")->tamper_ctx = &plan;
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    assert_string_equal(story_parent(&story, "d"), "a.example");
    story_close(&story);
}

/* Replayed datagrams are refused, one by one. */
static void test_replay(void **state)
{
    (void)state;
    struct story story;
    struct tamper plan = {.every = 1};
    begin(&story, 54);
    story.source->tamper = tamper;
    story.source->tamper_ctx = &plan;
    story_run_to_end(&story, GMC_S(120));
    story_expect_complete(&story);
    assert_true(story_host(&story, "a")->count.datagrams_refused > 1000);
    story_close(&story);
}

/* The listing's first copies are lost: data waits for it, nothing is stored out of place. */
static bool lose_listing(void *ctx, struct sim_host *host, struct gmc_dgram_out *out)
{
    uint64_t *left = ctx;
    (void)host;
    if (out->head_len == GMC_DATA_HEAD_BYTES && gmc_get32(out->head + 11) <= 1 && *left > 0) {
        (*left)--;
        return false;
    }
    return true;
}

static void test_late_page_and_listing(void **state)
{
    (void)state;
    struct story story;
    uint64_t losses = 300;
    begin(&story, 55);
    story.source->tamper = lose_listing;
    story.source->tamper_ctx = &losses;
    story_run_to_end(&story, GMC_S(120));
    assert_int_equal(losses, 0);
    story_expect_complete(&story);
    story_close(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        story_test(test_full_at_the_start),
        story_test(test_full_in_the_middle),
        story_test(test_who_gave_up_is_sent_nothing),
        story_test(test_slow_disk),
        story_test(test_read_errors_at_a_relay),
        story_test(test_read_errors_behind_a_whole_relay),
        story_test(test_bit_rot_at_a_relay),
        story_test(test_left_behind),
        story_test(test_late_beyond_cache),
        story_test(test_one_site),
        story_test(test_source_changes),
        story_test(test_source_disk_comes_back),
        story_test(test_source_disk_stays_away),
        story_test(test_partition_heals),
        story_test(test_away_at_the_start),
        story_test(test_the_parent_is_heard_late),
        story_test(test_the_path_is_too_small),
        story_test(test_session_breaks),
        story_test(test_udp_blocked),
        story_test(test_dial_only),
        story_test(test_refused_certificate),
        story_test(test_unknown_domain),
        story_test(test_garbage),
        story_test(test_hostile_relay),
        story_test(test_replay),
        story_test(test_late_page_and_listing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
