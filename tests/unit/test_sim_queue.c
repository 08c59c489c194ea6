/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue disciplines of a lane: bounds in packets, CoDel against the pseudo code of RFC 8289, ECN
 * marks, and that all of it is counted and costs one event per packet. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "sim-wan/wire.h"

#define PACKETS_MAX 20000u

enum fate { FATE_NONE, FATE_DELIVERED, FATE_MARKED, FATE_DROPPED };

struct bench {
    struct sim_engine engine;
    struct sim_packet_pool pool;
    struct sim_wire_sink sink;
    struct sim_lane lane;
    uint8_t fates[PACKETS_MAX];
    gmc_time arrivals[PACKETS_MAX];
    size_t delivered;
};

static void on_deliver(void *ctx, struct sim_lane *lane, struct sim_packet *packet)
{
    struct bench *bench = ctx;
    bench->fates[packet->from] = packet->ecn == SIM_ECN_CE ? FATE_MARKED : FATE_DELIVERED;
    bench->arrivals[packet->from] = bench->engine.now;
    bench->delivered++;
    sim_packet_free(lane->pool, packet);
}

static void on_watch(void *ctx, const struct sim_lane *lane, enum sim_wire_news news,
                     enum sim_drop drop, const struct sim_packet *packet)
{
    struct bench *bench = ctx;
    (void)lane;
    (void)drop;
    if (news == SIM_WIRE_DROPPED)
        bench->fates[packet->from] = FATE_DROPPED;
}

static struct bench *bench_new(const struct sim_wire_config *config)
{
    static struct bench bench;
    struct gmc_prng prng;
    memset(&bench, 0, sizeof(bench));
    gmc_prng_init(&prng, 7);
    sim_engine_init(&bench.engine);
    sim_packet_pool_init(&bench.pool);
    bench.sink = (struct sim_wire_sink){.ctx = &bench, .deliver = on_deliver, .watch = on_watch};
    sim_lane_init(&bench.lane, &bench.engine, &bench.pool, &bench.sink, 0, 1, config, &prng);
    return &bench;
}

static void bench_free(struct bench *bench)
{
    assert_true(sim_lane_is_balanced(&bench->lane));
    sim_lane_fini(&bench->lane);
    sim_packet_pool_fini(&bench->pool);
    sim_engine_fini(&bench->engine);
}

static void send_named(struct bench *bench, uint32_t name, uint32_t wire_bytes, enum sim_ecn ecn)
{
    struct sim_packet *packet = sim_packet_new(&bench->pool, 0);
    packet->from = name;
    packet->wire_bytes = wire_bytes;
    packet->ecn = (uint8_t)ecn;
    sim_lane_send(&bench->lane, packet);
    assert_true(sim_lane_is_balanced(&bench->lane));
}

/* ---- bounds ---- */
static void test_bound_in_packets(void **state)
{
    (void)state;
    struct sim_wire_config config = {.rate_bps = 100000000, .delay = GMC_MS(1), .queue_packets = 3};
    struct bench *bench = bench_new(&config);
    for (uint32_t i = 0; i < 10; i++)
        send_named(bench, i, i % 2 == 0 ? 1500 : 40, SIM_ECN_NOT_ECT);
    assert_int_equal(bench->lane.count.dropped_packets[SIM_DROP_QUEUE], 7);
    sim_engine_run(&bench->engine, GMC_US(121)); /* the first has left, the second is sent */
    send_named(bench, 10, 1500, SIM_ECN_NOT_ECT);
    send_named(bench, 11, 1500, SIM_ECN_NOT_ECT);
    assert_int_equal(bench->fates[11], FATE_DROPPED);
    assert_int_equal(sim_lane_backlog(&bench->lane), 120000 + 3200 + 120000 + 120000 - 121000);
    sim_engine_run(&bench->engine, GMC_S(1));
    assert_int_equal(bench->delivered, 4);
    assert_int_equal(bench->arrivals[0], 1120000);
    assert_int_equal(bench->arrivals[1], 1123200);
    assert_int_equal(bench->arrivals[2], 1243200);
    assert_int_equal(bench->arrivals[10], 1363200);
    bench_free(bench);
}

static void test_both_bounds_bind(void **state)
{
    (void)state;
    struct sim_wire_config config = {.rate_bps = 100000000,
                                     .queue_packets = 5,
                                     .queue_bytes = 3000};
    struct bench *bench = bench_new(&config);
    for (uint32_t i = 0; i < 4; i++)
        send_named(bench, i, 1500, SIM_ECN_NOT_ECT);
    assert_int_equal(bench->lane.count.dropped_packets[SIM_DROP_QUEUE], 2);
    sim_engine_run(&bench->engine, GMC_S(1));
    for (uint32_t i = 4; i < 14; i++)
        send_named(bench, i, 100, SIM_ECN_NOT_ECT);
    assert_int_equal(bench->lane.count.dropped_packets[SIM_DROP_QUEUE], 7);
    sim_engine_run(&bench->engine, GMC_S(2));
    bench_free(bench);
}

/* A queue that is never full makes no difference: the same arrivals to the nanosecond. */
static void test_lazy_and_eager_agree(void **state)
{
    (void)state;
    static gmc_time eager[2000];
    struct sim_wire_config config = {.rate_bps = 100000000,
                                     .delay = GMC_MS(5),
                                     .queue_bytes = 1000000};
    for (int lazy = 0; lazy < 2; lazy++) {
        struct gmc_prng prng;
        gmc_prng_init(&prng, 3);
        config.queue_packets = lazy == 1 ? 100000 : 0;
        struct bench *bench = bench_new(&config);
        for (uint32_t i = 0; i < 2000; i++) {
            gmc_time pause = gmc_prng_below(&prng, GMC_US(200));
            uint32_t bytes = 40 + (uint32_t)gmc_prng_below(&prng, 1461);
            sim_engine_run(&bench->engine, bench->engine.now + pause);
            send_named(bench, i, bytes, SIM_ECN_NOT_ECT);
        }
        sim_engine_run(&bench->engine, GMC_S(10));
        assert_int_equal(bench->delivered, 2000);
        assert_true(bench->engine.fired <= 2000);
        if (lazy == 0)
            memcpy(eager, bench->arrivals, sizeof(eager));
        else
            assert_memory_equal(eager, bench->arrivals, sizeof(eager));
        bench_free(bench);
    }
}

/* ---- CoDel ---- */
struct offer {
    gmc_time at;
    uint32_t bytes;
    enum sim_ecn ecn;
};

/* The pseudo code of RFC 8289, section 5, around an event-driven queue; names are its own. */
struct reference {
    const struct offer *offers;
    uint32_t head, tail; /* the queue: offers head..tail-1 */
    double target, interval;
    bool ecn;
    uint8_t *fates;
    gmc_time first_above_time, drop_next;
    uint32_t count, lastcount;
    bool dropping;
    uint64_t bytes;
};

struct dodequeue_result {
    uint32_t p;
    bool any, ok_to_drop;
};

static gmc_time control_law(const struct reference *ref, gmc_time t, uint32_t count)
{
    return t + (gmc_time)floor(ref->interval / sqrt(count));
}

static struct dodequeue_result dodequeue(struct reference *ref, gmc_time now)
{
    struct dodequeue_result r = {0};
    if (ref->head == ref->tail) {
        ref->first_above_time = 0;
        return r;
    }
    r.any = true;
    r.p = ref->head++;
    ref->bytes -= ref->offers[r.p].bytes;
    double sojourn_time = (double)(now - ref->offers[r.p].at);
    if (sojourn_time < ref->target || ref->bytes <= 1500)
        ref->first_above_time = 0;
    else if (ref->first_above_time == 0)
        ref->first_above_time = now + (gmc_time)ref->interval;
    else
        r.ok_to_drop = now >= ref->first_above_time;
    return r;
}

/* Marks instead of dropping, where that is possible; whether it did. */
static bool mark_or_drop(struct reference *ref, uint32_t p)
{
    bool marks = ref->ecn && ref->offers[p].ecn != SIM_ECN_NOT_ECT;
    ref->fates[p] = marks ? FATE_MARKED : FATE_DROPPED;
    return marks;
}

static struct dodequeue_result deque(struct reference *ref, gmc_time now)
{
    struct dodequeue_result r = dodequeue(ref, now);
    if (ref->dropping) {
        if (!r.ok_to_drop)
            ref->dropping = false;
        while (now >= ref->drop_next && ref->dropping) {
            ++ref->count;
            if (mark_or_drop(ref, r.p)) {
                ref->drop_next = control_law(ref, ref->drop_next, ref->count);
                return r;
            }
            r = dodequeue(ref, now);
            if (!r.ok_to_drop)
                ref->dropping = false;
            else
                ref->drop_next = control_law(ref, ref->drop_next, ref->count);
        }
    } else if (r.ok_to_drop) {
        if (!mark_or_drop(ref, r.p))
            r = dodequeue(ref, now);
        ref->dropping = true;
        uint32_t delta = ref->count - ref->lastcount;
        ref->count = 1;
        if (delta > 1 && now - ref->drop_next < 16 * (gmc_time)ref->interval)
            ref->count = delta;
        ref->drop_next = control_law(ref, now, ref->count);
        ref->lastcount = ref->count;
    }
    return r;
}

/* The transmitter asks for a packet whenever it is free; packets that come at that very moment come
 * after it asked. */
static void run_reference(struct reference *ref, uint32_t n, uint64_t rate_bps)
{
    gmc_time free_at = 0;
    while (ref->tail < n || ref->head < ref->tail) {
        bool idle = ref->head == ref->tail;
        if (idle || (ref->tail < n && ref->offers[ref->tail].at < free_at)) {
            gmc_time now = ref->offers[ref->tail].at;
            if (idle && free_at <= now)
                deque(ref, now); /* found it empty */
            ref->bytes += ref->offers[ref->tail++].bytes;
            free_at = idle && free_at <= now ? now : free_at;
            if (!idle || free_at > now)
                continue;
        }
        struct dodequeue_result r = deque(ref, free_at);
        if (r.any) {
            if (ref->fates[r.p] == FATE_NONE)
                ref->fates[r.p] = FATE_DELIVERED;
            free_at += gmc_duration_of_bytes(ref->offers[r.p].bytes, rate_bps);
        }
    }
}

/* Load that swells and falls: up to 1.6 times the rate. */
static void draw_offers(struct offer *offers, uint32_t n, uint64_t seed)
{
    struct gmc_prng prng;
    gmc_time at = GMC_MS(1);
    gmc_prng_init(&prng, seed);
    for (uint32_t i = 0; i < n; i++) {
        bool swells = i / 1500 % 3 != 2;
        bool is_small = gmc_prng_chance_ppm(&prng, 100000);
        bool is_capable = gmc_prng_chance_ppm(&prng, 500000);
        at += gmc_prng_below(&prng, GMC_US(swells ? 1500 : 6000));
        offers[i] =
            (struct offer){at, is_small ? 100 : 1500, is_capable ? SIM_ECN_ECT0 : SIM_ECN_NOT_ECT};
    }
}

static void compare_with_rfc(uint64_t seed, bool ecn)
{
    static struct offer offers[PACKETS_MAX];
    static uint8_t fates[PACKETS_MAX];
    struct sim_wire_config config = {
        .rate_bps = 10000000,
        .delay = GMC_MS(20),
        .codel = {SIM_CODEL_TARGET, SIM_CODEL_INTERVAL, ecn},
    };
    struct reference ref = {
        .offers = offers, .target = 5e6, .interval = 1e8, .ecn = ecn, .fates = fates};
    uint32_t n = PACKETS_MAX;
    memset(fates, 0, sizeof(fates));
    draw_offers(offers, n, seed);
    run_reference(&ref, n, config.rate_bps);

    struct bench *bench = bench_new(&config);
    for (uint32_t i = 0; i < n; i++) {
        sim_engine_run(&bench->engine, offers[i].at);
        send_named(bench, i, offers[i].bytes, offers[i].ecn);
    }
    sim_engine_run(&bench->engine, GMC_S(100));
    uint64_t dropped = bench->lane.count.dropped_packets[SIM_DROP_CODEL];
    assert_true(dropped + bench->lane.count.marked_packets > 150);
    assert_true(dropped > 50 && (ecn ? bench->lane.count.marked_packets > 50 : true));
    for (uint32_t i = 0; i < n; i++)
        if (bench->fates[i] != fates[i])
            fail_msg("seed %u, packet %u: %u, the RFC says %u", (unsigned)seed, i, bench->fates[i],
                     fates[i]);
    /* What was dropped was expected to arrive: it may cost an event too. */
    assert_true(bench->engine.fired <= bench->delivered + dropped);
    bench_free(bench);
}

static void test_codel_does_as_the_rfc(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        compare_with_rfc(seed, false);
}

static void test_codel_marks(void **state)
{
    (void)state;
    for (uint64_t seed = 11; seed <= 15; seed++)
        compare_with_rfc(seed, true);
}

/* The first drop comes when the target was exceeded for an interval, the next ones at the times of
 * the control law; a steady overload of 2. */
static void test_codel_follows_its_law(void **state)
{
    (void)state;
    struct sim_wire_config config = {.rate_bps = 12000000,
                                     .codel = {SIM_CODEL_TARGET, SIM_CODEL_INTERVAL, false}};
    struct bench *bench = bench_new(&config);
    gmc_time turns[5] = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; found < 5; i++) {
        sim_engine_run(&bench->engine, GMC_US(500) * i);
        send_named(bench, i, 1500, SIM_ECN_NOT_ECT);
        if (bench->lane.count.dropped_packets[SIM_DROP_CODEL] > found)
            turns[found++] = bench->lane.busy_until - GMC_MS(1);
    }
    /* Packet k comes at k/2 ms and has its turn at k ms: 5 ms are reached at 10 ms. */
    assert_int_equal(turns[0], GMC_MS(110));
    assert_int_equal(turns[1], GMC_MS(210)); /* 110 + 100 */
    assert_int_equal(turns[2], GMC_MS(281)); /* 210 + 70.7, at the next turn */
    assert_int_equal(turns[3], GMC_MS(339)); /* 280.7 + 57.7 */
    assert_int_equal(turns[4], GMC_MS(389)); /* 338.4 + 50 */
    sim_lane_set_up(&bench->lane, false);
    bench_free(bench);
}

/* ---- ECN ---- */
static void test_marks_at_the_threshold(void **state)
{
    (void)state;
    struct sim_wire_config config = {.rate_bps = 100000000, .mark_bytes = 3000};
    struct bench *bench = bench_new(&config);
    for (uint32_t i = 0; i < 4; i++)
        send_named(bench, i, 1500, SIM_ECN_ECT0);
    send_named(bench, 4, 1500, SIM_ECN_NOT_ECT);
    send_named(bench, 5, 1500, SIM_ECN_ECT1);
    send_named(bench, 6, 1500, SIM_ECN_CE);
    sim_engine_run(&bench->engine, GMC_S(1));
    static const uint8_t want[] = {FATE_DELIVERED, FATE_DELIVERED, FATE_DELIVERED, FATE_MARKED,
                                   FATE_DELIVERED, FATE_MARKED,    FATE_MARKED};
    assert_memory_equal(bench->fates, want, sizeof(want));
    assert_int_equal(bench->lane.count.marked_packets, 2);
    bench_free(bench);
}

static void test_middleboxes(void **state)
{
    (void)state;
    struct sim_wire_config config = {.ecn_path = SIM_ECN_FORCED};
    struct bench *bench = bench_new(&config);
    send_named(bench, 0, 1500, SIM_ECN_ECT0);
    send_named(bench, 1, 1500, SIM_ECN_NOT_ECT);
    sim_engine_run(&bench->engine, 1);
    config.ecn_path = SIM_ECN_BLEACHED;
    sim_lane_configure(&bench->lane, &config);
    send_named(bench, 2, 1500, SIM_ECN_CE);
    sim_engine_run(&bench->engine, 2);
    static const uint8_t want[] = {FATE_MARKED, FATE_DELIVERED, FATE_DELIVERED};
    assert_memory_equal(bench->fates, want, sizeof(want));
    bench_free(bench);
}

/* ---- everything at once ---- */
static struct sim_wire_config draw_config(struct gmc_prng *prng)
{
    static const uint64_t rates[] = {0, 1000000, 10000000, 100000000};
    struct sim_wire_config config = {0};
    uint64_t bits = gmc_prng_u64(prng);
    config.rate_bps = rates[bits % 4];
    config.delay = bits & 4 ? gmc_prng_below(prng, GMC_MS(20)) : 0;
    config.jitter = bits & 8 ? GMC_MS(3) : 0;
    config.loss_ppm = bits & 16 ? 50000 : 0;
    config.gilbert =
        bits & 32 ? (struct sim_gilbert){20000, 200000, 0, 900000} : (struct sim_gilbert){0};
    config.duplicate_ppm = bits & 64 ? 50000 : 0;
    config.reorder_ppm = bits & 128 ? 50000 : 0;
    config.reorder_by = GMC_MS(2);
    config.queue_bytes = bits & 256 ? 20000 : 0;
    config.queue_packets = bits & 512 ? 20 : 0;
    if (bits & 1024)
        config.codel = (struct sim_codel_config){GMC_MS(2), GMC_MS(20), (bits & 2048) != 0};
    config.mark_bytes = bits & 4096 ? 6000 : 0;
    return config;
}

/* Wires change while packets wait and fly, and go down and up. */
static void test_no_byte_is_lost_track_of(void **state)
{
    (void)state;
    struct gmc_prng prng;
    gmc_prng_init(&prng, 5);
    struct sim_wire_config config = draw_config(&prng);
    struct bench *bench = bench_new(&config);
    for (uint32_t i = 0; i < PACKETS_MAX; i++) {
        uint64_t what = gmc_prng_below(&prng, 200);
        gmc_time pause = gmc_prng_below(&prng, GMC_US(900));
        uint32_t bytes = 40 + (uint32_t)gmc_prng_below(&prng, 1461);
        config = what == 0 ? draw_config(&prng) : config;
        if (what == 0)
            sim_lane_configure(&bench->lane, &config);
        if (what == 1)
            sim_lane_set_up(&bench->lane, !bench->lane.up);
        sim_engine_run(&bench->engine, bench->engine.now + pause);
        send_named(bench, i, bytes, SIM_ECN_ECT0);
    }
    sim_engine_run(&bench->engine, bench->engine.now + GMC_S(60));
    assert_int_equal(sim_lane_held_bytes(&bench->lane), 0);
    assert_int_equal(sim_engine_next(&bench->engine), GMC_TIME_NEVER);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_in_packets),
        cmocka_unit_test(test_both_bounds_bind),
        cmocka_unit_test(test_lazy_and_eager_agree),
        cmocka_unit_test(test_codel_does_as_the_rfc),
        cmocka_unit_test(test_codel_marks),
        cmocka_unit_test(test_codel_follows_its_law),
        cmocka_unit_test(test_marks_at_the_threshold),
        cmocka_unit_test(test_middleboxes),
        cmocka_unit_test(test_no_byte_is_lost_track_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
