/* SPDX-License-Identifier: BSD-2-Clause */
/* Uplinks that nobody configured are measured, by trains of packets before an object and while it
 * goes over them, and used: a site of five whose nearest gateway, through which eco feeds the
 * others, has a slow uplink. What was measured and has become wrong by a factor of two makes
 * nothing worse than to know nothing. Where trains show nothing transfers alone do. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim-wan/scenario.h"
#include "tests/lib/unit.h"
#include "wire/head.h"

#define MBIT UINT64_C(1000000)
#define TARGETS 5u
#define BYTES UINT64_C(20000000)

struct site {
    struct sim_world *world;
    uint64_t cap_bps;            /* of the next transfers */
    uint32_t first;              /* host that is a gateway: the source; behind the routers */
    uint32_t wires[1 + TARGETS]; /* of the source, and of each target; out of it first */
    uint64_t seed;
    uint32_t few; /* 0: all targets are sent to, else so many */
};

static uint32_t join(struct site *site, uint32_t host, uint32_t to, uint64_t out_mbit,
                     gmc_duration delay)
{
    struct sim_wire_config out = {.rate_bps = out_mbit * MBIT, .delay = delay};
    struct sim_wire_config in = {.rate_bps = 100 * MBIT, .delay = delay};
    out.queue_bytes = out.rate_bps / 8 / 20; /* 50 ms */
    in.queue_bytes = in.rate_bps / 8 / 20;
    return sim_net_add_wire(&site->world->net, host, to, &out, &in);
}

static struct site make(void)
{
    struct sim_world_config config = {.seed = 7};
    struct site site = {.world = sim_world_new(&config), .first = 2, .seed = 1};
    struct sim_wire_config wide = {.rate_bps = 10000 * MBIT, .delay = GMC_MS(5)};
    struct sim_host *core = sim_world_add_router(site.world, "core");
    struct sim_host *edge = sim_world_add_router(site.world, "edge");
    sim_net_add_wire(&site.world->net, core->id, edge->id, &wide, &wide);
    for (uint32_t i = 0; i <= TARGETS; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), i);
        struct sim_host *host = sim_world_add(site.world, name);
        site.wires[i] = join(&site, host->id, i == 0 ? core->id : edge->id, i == 0 ? 100 : 10,
                             i == 1 ? GMC_MS(1) : GMC_MS(2));
    }
    sim_world_start(site.world);
    return site;
}

/* All behind one router, with 100 Mbit/s of downlink and these uplinks. The source is the first. */
static struct site make_around(uint64_t seed, const uint64_t *mbit)
{
    struct sim_world_config config = {.seed = seed};
    struct site site = {.world = sim_world_new(&config), .first = 1, .seed = 1};
    struct sim_host *router = sim_world_add_router(site.world, "router");
    for (uint32_t i = 0; i <= TARGETS; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), i);
        struct sim_host *host = sim_world_add(site.world, name);
        site.wires[i] = join(&site, host->id, router->id, mbit[i], GMC_MS(15));
    }
    sim_world_start(site.world);
    return site;
}

static struct site make_star(void)
{
    static const uint64_t mbit[1 + TARGETS] = {100, 100, 100, 100, 100, 100};
    return make_around(8, mbit);
}

static struct site make_unequal(uint64_t seed)
{
    static const uint64_t mbit[1 + TARGETS] = {40, 80, 20, 60, 30, 10};
    return make_around(seed, mbit);
}

/* The source has a wire of its own to each, which loses so much. */
static struct site make_own(uint32_t loss_ppm)
{
    struct sim_world_config config = {.seed = 9};
    struct site site = {.world = sim_world_new(&config), .first = 0, .seed = 1};
    struct sim_wire_config wire = {.rate_bps = 100 * MBIT,
                                   .delay = GMC_MS(15),
                                   .queue_bytes = 100 * MBIT / 8 / 20,
                                   .loss_ppm = loss_ppm};
    for (uint32_t i = 0; i <= TARGETS; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), i);
        struct sim_host *host = sim_world_add(site.world, name);
        if (i > 0)
            sim_net_add_wire(&site.world->net, site.world->hosts[0]->id, host->id, &wire, &wire);
    }
    sim_world_start(site.world);
    return site;
}

static bool is_no_train(void *ctx, struct sim_host *host, struct gmc_dgram_out *out)
{
    (void)ctx;
    (void)host;
    return out->head_len > 0 || out->body.len == 0 || out->body.data[0] != GMC_KIND_TRAIN;
}

/* As from gateways that send none, or where queues are too short for them. */
static void without_trains(struct site *site)
{
    for (size_t i = 0; i < site->world->host_count; i++)
        site->world->hosts[i]->tamper = is_no_train;
}

static void set_rate(struct site *site, uint32_t gateway, uint64_t mbit)
{
    struct sim_lane *lane = sim_net_lane(&site->world->net, site->wires[gateway], 0);
    struct sim_wire_config config = lane->config;
    config.rate_bps = mbit * MBIT;
    config.queue_bytes = config.rate_bps / 8 / 20;
    sim_lane_configure(lane, &config);
}

/* Seconds of a transfer, or of a plan. */
static double stage(struct site *site, uint64_t bytes, enum gmc_tree_shape shape, bool plan,
                    struct gmc_channel_info *info)
{
    struct sim_host *source = site->world->hosts[site->first];
    struct sim_stage stage = {.object_seed = site->seed++,
                              .bytes = bytes,
                              .targets = site->world->hosts + site->first + 1,
                              .target_count = site->few > 0 ? site->few : TARGETS,
                              .shape = shape,
                              .rate_bps = site->cap_bps,
                              .plan = plan};
    struct gmc_channel_key key;
    const char *error = NULL;
    gmc_time begin = sim_world_now(site->world);
    if (sim_stage(source, &stage, &key, &error) != GMC_OK)
        fail_msg("%s", error);
    for (int i = 0; i < 300000 && !sim_has_ended(source, &key); i++)
        sim_world_run(site->world, GMC_MS(1));
    assert_true(sim_channel(source, &key, info));
    assert_int_equal(info->state, plan ? GMC_CHANNEL_PLANNED : GMC_CHANNEL_COMPLETE);
    return (double)(sim_world_now(site->world) - begin) / 1e9;
}

static double transfer(struct site *site, enum gmc_tree_shape shape)
{
    struct gmc_channel_info info;
    return stage(site, BYTES, shape, false, &info);
}

static struct gmc_plan_info plan(struct site *site)
{
    struct gmc_channel_info info;
    (void)stage(site, BYTES, GMC_TREE_BULK, true, &info);
    return info.plan;
}

/* The plan of what was never sent says what it will take. */
static void test_slow_relay_is_none(void **state)
{
    struct site site = make();
    double copies = TARGETS * (double)BYTES * 8 / (100 * MBIT);
    (void)state;
    struct gmc_plan_info before = plan(&site);
    assert_true(before.measured && !before.assumed);
    assert_string_equal(before.limit_domain, "s.example");
    for (size_t i = 0; i < before.rate_count; i++)
        assert_in_range(before.rates[i].uplink_bps, (i == 0 ? 90 : 9) * MBIT,
                        (i == 0 ? 100 : 10) * MBIT);
    double predicted = (double)before.time / 1e9, first = transfer(&site, GMC_TREE_BULK);
    print_message("a first transfer: predicted %.2f s, %.2f s, copies %.2f s\n", predicted, first,
                  copies);
    assert_true(first < copies * 1.1);
    assert_true(first > predicted * 0.85 && first < predicted * 1.15);
    sim_world_free(site.world);
}

static void test_slow_relay_is_seen_once(void **state)
{
    struct site site = make();
    (void)state;
    without_trains(&site);
    struct gmc_plan_info before = plan(&site);
    double first = transfer(&site, GMC_TREE_BULK);
    struct gmc_plan_info after = plan(&site);
    assert_int_equal(after.rate_count, TARGETS + 1);
    assert_string_equal(after.rates[0].domain, "s.example");
    assert_int_equal(after.rates[0].uplink_origin, GMC_RATE_MEASURED);
    assert_int_equal(after.rates[0].uplink_bps, after.limit_bps);
    assert_int_equal(after.rates[0].copies, after.copies);
    double second = transfer(&site, GMC_TREE_BULK);
    assert_true(before.assumed && !before.measured);
    assert_true(after.measured && !after.assumed);
    assert_string_equal(after.limit_domain, "s.example");
    assert_in_range(after.limit_bps, 70 * MBIT, 110 * MBIT);
    /* By the relay alone it takes eight times as long; the first one leaves it in its course. */
    double copies = TARGETS * (double)BYTES * 8 / (100 * MBIT);
    if (first > 1.25 * copies || second > 1.1 * copies)
        fail_msg("%.2f s, then %.2f s, copies %.2f s", first, second, copies);
    if (second > (double)after.time / 1e9 * 1.15 + 0.3)
        fail_msg("planned %.2f s, %.2f s", (double)after.time / 1e9, second);
    sim_world_free(site.world);
}

/* The wires of a gateway change after they were measured. */
static void compare_wrong(uint32_t gateway, uint64_t mbit)
{
    struct site site = make();
    (void)transfer(&site, GMC_TREE_BULK);
    set_rate(&site, gateway, mbit);
    double with = transfer(&site, GMC_TREE_BULK);
    double without = transfer(&site, GMC_TREE_ECO);
    if (with > without * 1.05)
        fail_msg("%" PRIu64 " Mbit/s at %" PRIu32 ": %.2f s, without figures %.2f s", mbit, gateway,
                 with, without);
    sim_world_free(site.world);
}

static void test_wrong_figures_make_nothing_worse(void **state)
{
    (void)state;
    compare_wrong(0, 50);
    compare_wrong(0, 200);
    compare_wrong(1, 5);
    compare_wrong(1, 20);
    compare_wrong(2, 1);
    compare_wrong(2, 100);
}

/* All are alike, and a chain is the best of trees. */
static void test_relays_are_known(void **state)
{
    (void)state;
    struct site site = make_star();
    double first = transfer(&site, GMC_TREE_BULK);
    double second = transfer(&site, GMC_TREE_BULK);
    print_message("all alike: %.2f s, then %.2f s\n", first, second);
    assert_true(first < 2 * (double)BYTES * 8 / (100 * MBIT));
    assert_true(second < 1.3 * (double)BYTES * 8 / (100 * MBIT));
    sim_world_free(site.world);
}

/* Who was sent a byte before has measured latencies, and nobody a rate: the train of the source is
 * not there before the word that there is a round, and the transfer waits for it. */
static void test_relays_are_known_behind_a_byte(void **state)
{
    (void)state;
    struct site site = make_star();
    struct gmc_channel_info info;
    (void)stage(&site, 1, GMC_TREE_BULK, false, &info);
    double seconds = transfer(&site, GMC_TREE_BULK);
    print_message("all alike, behind a byte: %.2f s\n", seconds);
    assert_true(seconds < 1.8 * (double)BYTES * 8 / (100 * MBIT));
    sim_world_free(site.world);
}

/* Where each third packet is lost the answers come late, and a transfer does not wait for them: 30
 * ms are a round trip. */
static void test_lost_answers_hold_nothing_up(void **state)
{
    gmc_duration most = 0;
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct site site = make_own(300000);
        struct gmc_channel_info info;
        site.seed += (uint64_t)i;
        (void)stage(&site, 1, GMC_TREE_BULK, false, &info);
        (void)stage(&site, UINT64_C(4) << 20, GMC_TREE_BULK, false, &info);
        most = info.setup > most ? info.setup : most;
        sim_world_free(site.world);
    }
    print_message("lossy: data went after %.3f s at most\n", (double)most / 1e9);
    assert_in_range(most, GMC_MS(60), GMC_MS(3 * 30 + 250 + 60));
}

/* The source's uplink is full of copies, and nobody else has relayed yet: they are tried. */
static void test_relays_are_tried(void **state)
{
    (void)state;
    struct site site = make_star();
    without_trains(&site);
    double first = transfer(&site, GMC_TREE_BULK);
    double second = transfer(&site, GMC_TREE_BULK);
    double third = transfer(&site, GMC_TREE_BULK);
    print_message("all alike: %.2f s, then %.2f s, %.2f s\n", first, second, third);
    assert_true(first > TARGETS * (double)BYTES * 8 / (100 * MBIT));
    assert_true(second < first / 2.5);
    assert_true(third < first / 2.5);
    sim_world_free(site.world);
}

/* No copy holds up another: that each gets no more is its own wire's doing, and no chain is tried
 * for it, neither in mid-transfer nor the next time. */
static void test_who_has_a_wire_to_each_sends_to_each(void **state)
{
    (void)state;
    for (uint32_t percent = 0; percent <= 20; percent += 10) {
        struct site site = make_own(percent * 10000);
        struct gmc_channel_info info;
        double limit = 100e6 * 8 / (100e6 * (100 - percent) / 100);
        for (int i = 0; i < 3; i++) {
            double seconds = stage(&site, 100000000, GMC_TREE_BULK, false, &info);
            print_message("loss of %" PRIu32 " %%: %.2f s, limit %.2f s\n", percent, seconds,
                          limit);
            assert_true(i == 0 || seconds < limit * 1.15); /* the first makes the sessions */
            assert_int_equal(plan(&site).rates[0].copies, TARGETS);
        }
        sim_world_free(site.world);
    }
}

/* Two copies take twice as long as one, and no more than that can be gained: it is, where each
 * receiver could send as much as the source, from the first transfer on. */
static void test_two_behind_one_uplink_get_one_copy(void **state)
{
    double limit = 100e6 * 8 / (100 * MBIT);
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct site site = make_star();
        struct gmc_channel_info info;
        site.few = 2;
        if (i == 1)
            (void)stage(&site, 10000000, GMC_TREE_BULK, false, &info);
        double seconds = stage(&site, 100000000, GMC_TREE_BULK, false, &info);
        print_message("two, %s: %.2f s, limit %.2f s\n", i == 0 ? "cold" : "warm", seconds, limit);
        assert_true(seconds < 1.25 * limit); /* heads and the cold start included */
        assert_int_equal(plan(&site).rates[0].copies, 1);
        sim_world_free(site.world);
    }
}

/* Half a second of a relay whose parent gave it no more is no limit: a large object after small
 * ones goes from one to the next, and not as one copy for each. */
static void test_small_objects_show_no_limit(void **state)
{
    static const uint64_t mbit[1 + TARGETS] = {100, 100, 100, 100, 100, 100};
    double most = 0, one = 100e6 * 8 / (100 * MBIT);
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct site site = make_around(seed, mbit);
        struct gmc_channel_info info;
        (void)stage(&site, 10000000, GMC_TREE_BULK, false, &info);
        (void)stage(&site, 10000000 - 1000000 * seed, GMC_TREE_BULK, false, &info);
        double seconds = stage(&site, 100000000, GMC_TREE_BULK, false, &info);
        print_message("alike, after %" PRIu64 " MB: %.1f s\n", 10 - seed, seconds);
        most = seconds > most ? seconds : most;
        sim_world_free(site.world);
    }
    assert_true(most < 1.2 * one);
}

/* Nor is the way up to its rate of a link that begins: who came to half of it in ten megabytes
 * could send twice as much, and the plan knows. */
static void test_a_start_shows_no_limit(void **state)
{
    static const uint64_t mbit[1 + TARGETS] = {100, 100, 100, 100, 100, 100};
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct site site = make_around(seed, mbit);
        struct gmc_channel_info planned, done;
        (void)stage(&site, 10000000, GMC_TREE_BULK, false, &done);
        (void)stage(&site, 10000000, GMC_TREE_BULK, false, &done);
        (void)stage(&site, 100000000, GMC_TREE_BULK, true, &planned);
        double predicted = (double)planned.plan.time / 1e9;
        double seconds = stage(&site, 100000000, GMC_TREE_BULK, false, &done);
        print_message("alike: planned %.2f s, %.2f s\n", predicted, seconds);
        assert_int_equal(planned.plan.rates[0].copies, 1);
        assert_true(predicted > seconds * 0.9 && predicted < seconds * 1.1);
        sim_world_free(site.world);
    }
}

/* What relays showed is too little to be taken for better than copies, if all of it were wrong by a
 * factor of two: but what the copies take is seen while they go out. */
static void test_copies_are_left_when_they_are_seen_to_be_slow(void **state)
{
    double most = 0, copies = TARGETS * 100e6 * 8 / (40 * MBIT);
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct site site = make_unequal(seed);
        struct gmc_channel_info info;
        (void)stage(&site, 10000000, GMC_TREE_BULK, false, &info);
        (void)stage(&site, 10000000, GMC_TREE_BULK, false, &info);
        double seconds = stage(&site, 100000000, GMC_TREE_BULK, false, &info);
        print_message("unequal, seed %" PRIu64 ": %.1f s\n", seed, seconds);
        most = seconds > most ? seconds : most;
        sim_world_free(site.world);
    }
    assert_true(most < copies / 2);
}

/* One of them has become slow since: that is seen while it holds the transfer up, and known then.
 */
static void test_a_slow_one_is_doubted(void **state)
{
    double copies = TARGETS * (double)BYTES * 8 / (100 * MBIT);
    (void)state;
    for (uint32_t slow = 1; slow <= TARGETS; slow++) {
        struct site site = make_star();
        (void)transfer(&site, GMC_TREE_BULK);
        set_rate(&site, slow, 5);
        double second = transfer(&site, GMC_TREE_BULK);
        double third = transfer(&site, GMC_TREE_BULK);
        print_message("%" PRIu32 " is slow now: %.2f s, then %.2f s\n", slow, second, third);
        assert_true(second < copies);
        assert_true(third < copies * 0.6);
        sim_world_free(site.world);
    }
}

/* One of them turns out to be slow: it is known then. */
static void test_a_slow_one_is_tried_once(void **state)
{
    (void)state;
    for (uint32_t slow = 1; slow <= TARGETS; slow++) {
        struct site site = make_star();
        without_trains(&site);
        double first = transfer(&site, GMC_TREE_BULK);
        set_rate(&site, slow, 5); /* unseen: latencies are known */
        double second = transfer(&site, GMC_TREE_BULK);
        double third = transfer(&site, GMC_TREE_BULK);
        print_message("%" PRIu32 " is slow: %.2f s, then %.2f s, %.2f s\n", slow, first, second,
                      third);
        assert_true(third < first * 1.05);
        sim_world_free(site.world);
    }
}

/* Who was not to send more has shown no limit, and takes nothing back of what was seen before. */
static void test_a_cap_is_no_measure(void **state)
{
    struct site site = make();
    (void)state;
    without_trains(&site);
    site.cap_bps = 4 * MBIT;
    (void)transfer(&site, GMC_TREE_FLAT);
    site.cap_bps = 0;
    struct gmc_plan_info capped = plan(&site);
    assert_int_equal(capped.rates[0].uplink_origin, GMC_RATE_ASSUMED);
    (void)transfer(&site, GMC_TREE_FLAT);
    struct gmc_plan_info free = plan(&site);
    assert_int_equal(free.rates[0].uplink_origin, GMC_RATE_MEASURED);
    uint64_t measured = free.rates[0].uplink_bps;
    assert_in_range(measured, 80 * MBIT, 100 * MBIT);
    site.cap_bps = 4 * MBIT;
    (void)transfer(&site, GMC_TREE_FLAT);
    site.cap_bps = 0;
    assert_int_equal(plan(&site).rates[0].uplink_bps, measured);
    sim_world_free(site.world);
}

static void test_is_forgotten(void **state)
{
    struct site site = make();
    (void)state;
    without_trains(&site);
    (void)transfer(&site, GMC_TREE_BULK);
    assert_true(plan(&site).measured);
    sim_world_run(site.world, GMC_S(1300)); /* twice the age: at a target, then at the source */
    struct gmc_plan_info later = plan(&site);
    assert_true(!later.measured && later.assumed);
    sim_world_free(site.world);
}

/* How many times as much as the far one the near one of two children got, whom one uplink serves
 * that nobody configured. */
static double near_to_far(uint64_t seed)
{
    struct sim_world_config config = {.seed = seed};
    struct site site = {.world = sim_world_new(&config)};
    struct sim_host *router = sim_world_add_router(site.world, "router");
    struct gmc_channel_key key;
    struct gmc_member_info near, far, near_before, far_before;
    const char *error = NULL;
    for (uint32_t i = 0; i < 3; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), i);
        struct sim_host *host = sim_world_add(site.world, name);
        join(&site, host->id, router->id, i == 0 ? 50 : 100, i == 2 ? GMC_MS(50) : GMC_MS(4));
    }
    sim_world_start(site.world);
    struct sim_host **hosts = site.world->hosts + 1; /* behind the router */
    struct sim_stage stage = {.object_seed = 1,
                              .bytes = 60000000,
                              .targets = hosts + 1,
                              .target_count = 2,
                              .shape = GMC_TREE_FLAT};
    assert_ok(sim_stage(hosts[0], &stage, &key, &error));
    sim_world_run(site.world, GMC_S(5));
    assert_true(sim_member(hosts[0], &key, hosts[1], &near_before) &&
                sim_member(hosts[0], &key, hosts[2], &far_before));
    sim_world_run(site.world, GMC_S(8));
    assert_true(sim_member(hosts[0], &key, hosts[1], &near) &&
                sim_member(hosts[0], &key, hosts[2], &far));
    uint64_t to_near = near.bytes - near_before.bytes, to_far = far.bytes - far_before.bytes;
    print_message("%" PRIu64 " and %" PRIu64 " bytes in 8 s\n", to_near, to_far);
    assert_true(to_near + to_far > 50 * MBIT / 8 * 8 * 92 / 100);
    sim_world_free(site.world);
    return (double)to_near / (double)to_far;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* One of the children is ten times as far: each gets half, where congestion control alone gives
 * the near one most of it. In one run of three or four it takes longer than these eight seconds to
 * get there. */
static void test_near_and_far_get_the_same(void **state)
{
    double ratios[9];
    const size_t count = sizeof(ratios) / sizeof(ratios[0]);
    (void)state;
    for (size_t i = 0; i < count; i++)
        ratios[i] = near_to_far(11 + i);
    qsort(ratios, count, sizeof(ratios[0]), by_value);
    print_message("the near one got %.2f times as much in the median, %.2f at most\n",
                  ratios[count / 2], ratios[count - 1]);
    assert_true(ratios[count / 2] > 0.9 && ratios[count / 2] < 1.15);
    assert_true(ratios[count - 1] < 2.2);
}

/* Bytes that both targets have. */
static uint64_t arrived(struct sim_host *const *hosts, const struct gmc_channel_key *key)
{
    uint64_t bytes = 0;
    for (int i = 1; i <= 2; i++) {
        struct gmc_member_info member;
        assert_true(sim_member(hosts[0], key, hosts[i], &member));
        bytes += member.bytes;
    }
    return bytes;
}

/* A minute of TCP on the same uplink, after it was learnt: neither gives way to the other, and what
 * TCP leaves is used at once. */
static uint64_t share_with_tcp(uint64_t seed)
{
    struct sim_world_config config = {.seed = seed};
    struct site site = {.world = sim_world_new(&config)};
    struct sim_host *near = sim_world_add_router(site.world, "near");
    struct sim_host *far = sim_world_add_router(site.world, "far");
    struct sim_wire_config uplink = {.rate_bps = 50 * MBIT,
                                     .delay = GMC_MS(10),
                                     .queue_bytes = 50 * MBIT / 8 / 20};
    struct gmc_channel_key key;
    const char *error = NULL;
    sim_net_add_wire(&site.world->net, near->id, far->id, &uplink, &uplink);
    for (uint32_t i = 0; i < 3; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), i);
        struct sim_host *host = sim_world_add(site.world, name);
        join(&site, host->id, i == 0 ? near->id : far->id, 100, i == 2 ? GMC_MS(20) : GMC_MS(2));
    }
    sim_world_start(site.world);
    struct sim_host **hosts = site.world->hosts + 2; /* behind the routers */
    struct sim_stage stage = {.object_seed = 1,
                              .bytes = 400000000,
                              .targets = hosts + 1,
                              .target_count = 2,
                              .shape = GMC_TREE_FLAT};
    assert_ok(sim_stage(hosts[0], &stage, &key, &error));
    size_t flow = sim_traffic_add(&site.world->traffic,
                                  &(struct sim_traffic_config){.from = near->id,
                                                               .to = far->id,
                                                               .kind = SIM_TRAFFIC_CUBIC,
                                                               .packet_bytes = 1500,
                                                               .start = GMC_S(10),
                                                               .stop = GMC_S(80)});
    sim_world_run(site.world, GMC_S(20));
    uint64_t ours = arrived(hosts, &key);
    uint64_t theirs = sim_traffic_counters(&site.world->traffic, flow)->received_bytes;
    sim_world_run(site.world, GMC_S(60));
    ours = arrived(hosts, &key) - ours;
    theirs = sim_traffic_counters(&site.world->traffic, flow)->received_bytes - theirs;
    uint64_t after = arrived(hosts, &key);
    sim_world_run(site.world, GMC_S(10));
    after = arrived(hosts, &key) - after;
    print_message("%" PRIu64 " bytes, TCP %" PRIu64 "; then %" PRIu64 "\n", ours, theirs, after);
    assert_in_range(ours * 100 / (ours + theirs), 30, 80); /* two links, one connection */
    assert_true(ours + theirs > 50 * MBIT / 8 * 60 * 85 / 100);
    assert_true(after > 50 * MBIT / 8 * 10 * 75 / 100);
    sim_world_free(site.world);
    return after;
}

static void test_tcp_on_the_uplink(void **state)
{
    uint64_t after = 0;
    (void)state;
    for (uint64_t seed = 12; seed < 16; seed++)
        after += share_with_tcp(seed) / 4;
    assert_true(after > 50 * MBIT / 8 * 10 * 85 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_relay_is_none),
        cmocka_unit_test(test_slow_relay_is_seen_once),
        cmocka_unit_test(test_wrong_figures_make_nothing_worse),
        cmocka_unit_test(test_relays_are_known),
        cmocka_unit_test(test_relays_are_known_behind_a_byte),
        cmocka_unit_test(test_lost_answers_hold_nothing_up),
        cmocka_unit_test(test_relays_are_tried),
        cmocka_unit_test(test_who_has_a_wire_to_each_sends_to_each),
        cmocka_unit_test(test_two_behind_one_uplink_get_one_copy),
        cmocka_unit_test(test_small_objects_show_no_limit),
        cmocka_unit_test(test_a_start_shows_no_limit),
        cmocka_unit_test(test_copies_are_left_when_they_are_seen_to_be_slow),
        cmocka_unit_test(test_a_slow_one_is_doubted),
        cmocka_unit_test(test_a_slow_one_is_tried_once),
        cmocka_unit_test(test_a_cap_is_no_measure),
        cmocka_unit_test(test_near_and_far_get_the_same),
        cmocka_unit_test(test_tcp_on_the_uplink),
        cmocka_unit_test(test_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
