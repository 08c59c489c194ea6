/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that a host passes on in batches: nobody beyond sees a difference. */
#include "tests/lib/unit.h"

#include <string.h>

#include "sim-wan/net.h"

#define SOURCES 3u
#define MIDDLE SOURCES
#define ENDS 2u
#define FIRST_END (MIDDLE + 1)
#define HOSTS (FIRST_END + ENDS)
#define STEPS 6000u
#define ARRIVALS_MAX (2 * STEPS)

struct arrival {
    uint32_t host, from, number;
    gmc_time at;
};

struct bench {
    struct sim_engine engine;
    struct sim_net net;
    uint32_t wires[HOSTS]; /* to the middle */
    size_t watched;        /* news of what leaves the middle */
    uint64_t watched_hash; /* of all of it, with its times */
    struct arrival arrivals[ARRIVALS_MAX];
    size_t count, at_middle;
    uint64_t dropped, duplicated, fired;
};

static bool on_arrived(void *ctx, uint32_t host, struct sim_packet *packet)
{
    struct bench *bench = ctx;
    if (host == MIDDLE) {
        bench->at_middle++;
        return false;
    }
    assert_true(bench->count < ARRIVALS_MAX);
    struct arrival *arrival = &bench->arrivals[bench->count++];
    *arrival = (struct arrival){.host = host, .from = packet->from, .at = bench->engine.now};
    memcpy(&arrival->number, packet->data, sizeof(arrival->number));
    return false;
}

static void on_wire(void *ctx, uint32_t wire, int direction, enum sim_wire_news news,
                    enum sim_drop drop, const struct sim_packet *packet)
{
    struct bench *bench = ctx;
    if (wire < SOURCES || direction != 1 || news == SIM_WIRE_DELIVERED)
        return;
    bench->watched++;
    bench->watched_hash = bench->watched_hash * 31 + bench->engine.now;
    bench->watched_hash = bench->watched_hash * 31 + packet->wire_bytes + 10 * news + drop;
}

static void on_expect(void *ctx, uint32_t host, gmc_time when)
{
    (void)ctx;
    (void)when;
    assert_int_equal(host, MIDDLE);
}

/* Into the middle there is room; away from it wires are slow and short of it, lose packets, and
 * deliver some twice. */
static void build(struct bench *bench, bool drops_only)
{
    struct gmc_prng prng;
    gmc_prng_init(&prng, 3);
    memset(bench, 0, sizeof(*bench));
    sim_engine_init(&bench->engine);
    sim_net_init(&bench->net, &bench->engine,
                 &(struct sim_net_sink){bench, on_arrived, on_wire, on_expect}, &prng);
    for (uint32_t i = 0; i < HOSTS; i++)
        assert_int_equal(sim_net_add_host(&bench->net), i);
    struct sim_wire_config in = {.rate_bps = 100000000, .delay = GMC_US(3100)};
    struct sim_wire_config out = {.rate_bps = 20000000,
                                  .queue_bytes = 8000,
                                  .loss_ppm = 20000,
                                  .duplicate_ppm = 10000};
    for (uint32_t i = 0; i < HOSTS; i++) {
        if (i == MIDDLE)
            continue;
        in.delay += GMC_US(731);
        out.delay = i == FIRST_END ? GMC_US(2300) : GMC_US(1700);
        bench->wires[i] = sim_net_add_wire(&bench->net, i, MIDDLE, &in, i < MIDDLE ? &in : &out);
    }
    sim_net_watch_drops_only(&bench->net, drops_only);
}

static void send_one(struct bench *bench, uint32_t from, uint32_t to, uint32_t number, size_t len)
{
    uint8_t body[1400] = {0};
    memcpy(body, &number, sizeof(number));
    struct gmc_bytes piece = gmc_bytes(body, len);
    sim_net_send_udp(&bench->net, from, to, SIM_ECN_NOT_ECT, &piece, 1);
}

/* The wires away from the middle change while packets are on their way. */
static void change(struct bench *bench, uint32_t step)
{
    uint32_t wire = bench->wires[FIRST_END + 1];
    struct sim_lane *lane = sim_net_lane(&bench->net, wire, 1);
    struct sim_wire_config config = lane->config;
    if (step == STEPS / 6)
        sim_net_set_wire_up(&bench->net, wire, false);
    if (step == STEPS / 5)
        sim_net_set_wire_up(&bench->net, wire, true);
    if (step == STEPS / 3) {
        config.delay = GMC_US(90);
        sim_lane_configure(lane, &config);
    }
    if (step == STEPS / 2) { /* packets wait in a list: nothing can be sent late any more */
        config.queue_packets = 5;
        sim_lane_configure(lane, &config);
    }
    if (step == STEPS / 3 * 2) {
        config.queue_packets = 0;
        sim_lane_configure(lane, &config);
    }
}

enum mode { EACH, COLLECTS, COLLECTS_AND_IS_WATCHED, COLLECTS_AT_TIMES };

static void run(struct bench *bench, enum mode mode)
{
    struct gmc_prng prng;
    gmc_time now = 0;
    build(bench, mode != EACH && mode != COLLECTS_AND_IS_WATCHED);
    gmc_prng_init(&prng, 5);
    sim_net_collect(&bench->net, MIDDLE, mode != EACH);
    for (uint32_t step = 0; step < STEPS; step++) {
        now += gmc_prng_below(&prng, GMC_US(400));
        sim_engine_run(&bench->engine, now);
        change(bench, step);
        if (mode == COLLECTS_AT_TIMES && step % 100 == 0)
            sim_net_collect(&bench->net, MIDDLE, step % 200 == 0);
        uint32_t from = (uint32_t)gmc_prng_below(&prng, SOURCES + 1);
        uint32_t to = FIRST_END + (uint32_t)gmc_prng_below(&prng, ENDS);
        if (from < MIDDLE && gmc_prng_below(&prng, 8) == 0)
            to = MIDDLE;
        send_one(bench, from, to, step, 100 + (size_t)gmc_prng_below(&prng, 1300));
        if (mode != EACH && step % 10 == 0)
            (void)sim_net_take(&bench->net, MIDDLE);
    }
    sim_engine_run(&bench->engine, now + GMC_S(1));
    sim_net_collect(&bench->net, MIDDLE, false);
    bench->fired = bench->engine.fired;
    for (uint32_t end = FIRST_END; end < HOSTS; end++) {
        const struct sim_lane_counters *count =
            &sim_net_lane(&bench->net, bench->wires[end], 1)->count;
        for (int drop = 0; drop < SIM_DROPS; drop++)
            bench->dropped += count->dropped_packets[drop];
        bench->duplicated += count->duplicated_packets;
    }
    uint32_t wire;
    assert_true(sim_net_is_balanced(&bench->net, &wire));
    sim_net_fini(&bench->net);
    sim_engine_fini(&bench->engine);
}

static struct bench each, other;

static void assert_same(void)
{
    assert_true(each.dropped > 100 && each.duplicated > 10 && each.at_middle > 100);
    assert_int_equal(other.count, each.count);
    for (size_t i = 0; i < each.count; i++) {
        assert_int_equal(other.arrivals[i].host, each.arrivals[i].host);
        assert_int_equal(other.arrivals[i].from, each.arrivals[i].from);
        assert_int_equal(other.arrivals[i].number, each.arrivals[i].number);
        assert_int_equal(other.arrivals[i].at, each.arrivals[i].at);
    }
    assert_int_equal(other.dropped, each.dropped);
    assert_int_equal(other.duplicated, each.duplicated);
    assert_int_equal(other.at_middle, each.at_middle);
}

static void test_batches_arrive_as_one_by_one(void **state)
{
    (void)state;
    run(&each, EACH);
    run(&other, COLLECTS);
    assert_same();
    assert_true(other.fired < each.fired / 10 * 8);
}

static void test_who_watches_sees_each_in_time(void **state)
{
    (void)state;
    run(&other, COLLECTS_AND_IS_WATCHED);
    assert_same();
    assert_true(each.watched > each.count);
    assert_int_equal(other.watched, each.watched);
    assert_int_equal(other.watched_hash, each.watched_hash);
}

static void test_to_begin_and_to_end(void **state)
{
    (void)state;
    run(&other, COLLECTS_AT_TIMES);
    assert_same();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_arrive_as_one_by_one),
        cmocka_unit_test(test_who_watches_sees_each_in_time),
        cmocka_unit_test(test_to_begin_and_to_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
