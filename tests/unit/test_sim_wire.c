/* SPDX-License-Identifier: BSD-2-Clause */
/* One lane: times of arrival to the nanosecond, queue bound, loss, reordering, duplication, going
 * down, and that no byte goes uncounted. */
#include "tests/lib/unit.h"

#include "sim-wan/wire.h"

struct bench {
    struct sim_engine engine;
    struct sim_packet_pool pool;
    struct sim_wire_sink sink;
    struct sim_lane lane;
    gmc_time arrivals[4096];
    uint32_t names[4096];
    size_t count;
    gmc_time expected; /* as whoever collects was told; 0: it was not */
};

static void on_deliver(void *ctx, struct sim_lane *lane, struct sim_packet *packet)
{
    struct bench *bench = ctx;
    if (bench->count < 4096) {
        bench->arrivals[bench->count] = bench->engine.now;
        bench->names[bench->count] = packet->from;
    }
    bench->count++;
    sim_packet_free(lane->pool, packet);
}

static void on_expect(void *ctx, const struct sim_lane *lane, gmc_time when)
{
    struct bench *bench = ctx;
    assert_ptr_equal(lane, &bench->lane);
    bench->expected = when;
}

static void bench_init(struct bench *bench, const struct sim_wire_config *config)
{
    struct gmc_prng prng;
    gmc_prng_init(&prng, 7);
    bench->count = 0;
    bench->expected = 0;
    sim_engine_init(&bench->engine);
    sim_packet_pool_init(&bench->pool);
    bench->sink = (struct sim_wire_sink){.ctx = bench, .deliver = on_deliver, .expect = on_expect};
    sim_lane_init(&bench->lane, &bench->engine, &bench->pool, &bench->sink, 0, 1, config, &prng);
}

static void bench_fini(struct bench *bench)
{
    assert_true(sim_lane_is_balanced(&bench->lane));
    sim_lane_fini(&bench->lane);
    sim_packet_pool_fini(&bench->pool);
    sim_engine_fini(&bench->engine);
}

static void send_to(struct bench *bench, uint32_t to, uint32_t name, uint32_t wire_bytes)
{
    struct sim_packet *packet = sim_packet_new(&bench->pool, 0);
    packet->from = name;
    packet->to = to;
    packet->wire_bytes = wire_bytes;
    sim_lane_send(&bench->lane, packet);
}

static void send_named(struct bench *bench, uint32_t name, uint32_t wire_bytes)
{
    send_to(bench, 2, name, wire_bytes);
}

static void test_rate_and_delay(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){.rate_bps = 100000000, .delay = GMC_MS(15)});
    send_named(&bench, 1, 1500);
    send_named(&bench, 2, 1500);
    assert_int_equal(sim_lane_held_bytes(&bench.lane), 3000);
    assert_int_equal(sim_lane_backlog(&bench.lane), 240000);
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.count, 2);
    assert_int_equal(bench.arrivals[0], 15120000); /* 12,000 bits at 100 Mbit/s, then 15 ms */
    assert_int_equal(bench.arrivals[1], 15240000);
    bench_fini(&bench);
}

static void test_queue_drops_the_tail(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){.rate_bps = 100000000,
                                                 .delay = GMC_MS(1),
                                                 .queue_bytes = 4500});
    for (uint32_t i = 0; i < 10; i++)
        send_named(&bench, i, 1500);
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.count, 3);
    assert_int_equal(bench.names[2], 2);
    assert_int_equal(bench.lane.count.dropped_packets[SIM_DROP_QUEUE], 7);
    /* A packet larger than the queue passes when the transmitter is idle. */
    struct sim_wire_config tiny = {.rate_bps = 100000000, .queue_bytes = 100};
    sim_lane_configure(&bench.lane, &tiny);
    send_named(&bench, 20, 1500);
    send_named(&bench, 21, 40);
    sim_engine_run(&bench.engine, GMC_S(2));
    assert_int_equal(bench.count, 4);
    bench_fini(&bench);
}

static void test_mtu(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){0});
    send_named(&bench, 0, 1500);
    send_named(&bench, 1, 1501);
    sim_engine_run(&bench.engine, 1);
    assert_int_equal(bench.count, 1);
    assert_int_equal(bench.lane.count.dropped_bytes[SIM_DROP_MTU], 1501);
    bench_fini(&bench);
}

static void test_loss_rate(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){.loss_ppm = 200000, .delay = 1});
    for (uint32_t i = 0; i < 100000; i++)
        send_named(&bench, i, 100);
    sim_engine_run(&bench.engine, GMC_S(1));
    /* Binomial: mean 80,000, standard deviation 126; five of them. */
    assert_in_range(bench.count, 79370, 80630);
    bench_fini(&bench);
}

static void test_jitter_keeps_order_reordering_does_not(void **state)
{
    (void)state;
    struct bench bench;
    struct sim_wire_config config = {.rate_bps = 1000000000,
                                     .delay = GMC_MS(1),
                                     .jitter = GMC_MS(2)};
    bench_init(&bench, &config);
    for (uint32_t i = 0; i < 1000; i++)
        send_named(&bench, i, 1250);
    sim_engine_run(&bench.engine, GMC_S(1));
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(bench.names[i], i);
        assert_in_range(bench.arrivals[i], GMC_MS(1) + (i + 1) * 10000, GMC_MS(13) + 1);
    }
    config = (struct sim_wire_config){.rate_bps = 1000000000,
                                      .delay = GMC_MS(1),
                                      .reorder_ppm = 100000,
                                      .reorder_by = GMC_MS(1)};
    sim_lane_configure(&bench.lane, &config);
    bench.count = 0;
    for (uint32_t i = 0; i < 1000; i++)
        send_named(&bench, i, 1250);
    sim_engine_run(&bench.engine, GMC_S(2));
    assert_int_equal(bench.count, 1000);
    size_t late = 0;
    for (uint32_t i = 1; i < 1000; i++) {
        assert_true(bench.arrivals[i] >= bench.arrivals[i - 1]);
        late += bench.names[i] < bench.names[i - 1];
    }
    assert_in_range(late, 50, 150);
    bench_fini(&bench);
}

static void test_duplication(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){.duplicate_ppm = 500000, .delay = 5});
    for (uint32_t i = 0; i < 1000; i++)
        send_named(&bench, i, 100);
    assert_true(sim_lane_is_balanced(&bench.lane));
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.count, 1000 + bench.lane.count.duplicated_packets);
    assert_in_range(bench.lane.count.duplicated_packets, 400, 600);
    bench_fini(&bench);
}

static void test_down_loses_what_it_holds(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, &(struct sim_wire_config){.rate_bps = 1000000, .delay = GMC_MS(10)});
    for (uint32_t i = 0; i < 3; i++)
        send_named(&bench, i, 1250); /* 10 ms each */
    sim_engine_run(&bench.engine, GMC_MS(20));
    assert_int_equal(bench.count, 1);
    sim_lane_set_up(&bench.lane, false);
    send_named(&bench, 3, 1250);
    assert_int_equal(bench.lane.count.dropped_packets[SIM_DROP_DOWN], 3);
    sim_lane_set_up(&bench.lane, true);
    send_named(&bench, 4, 1250);
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.count, 2);
    assert_int_equal(bench.arrivals[1], GMC_MS(40));
    bench_fini(&bench);
}

/* ---- what is collected ---- */
static void assert_taken(struct bench *bench, uint32_t name)
{
    struct sim_packet *packet = sim_lane_take(&bench->lane);
    assert_non_null(packet);
    assert_int_equal(packet->from, name);
    assert_true(packet->arrival <= bench->engine.now);
    sim_packet_free(&bench->pool, packet);
}

/* 1,250 bytes take 1 ms. */
static void collecting(struct bench *bench)
{
    bench_init(bench, &(struct sim_wire_config){.rate_bps = 10000000, .delay = GMC_MS(10)});
    sim_lane_collect(&bench->lane, true);
}

static void test_collected_packets_wait(void **state)
{
    (void)state;
    struct bench bench;
    collecting(&bench);
    for (uint32_t name = 1; name <= 20; name++)
        send_to(&bench, 1, name, 1250);
    assert_int_equal(bench.expected, GMC_MS(11));
    assert_int_equal(sim_lane_expected(&bench.lane), GMC_MS(11));
    assert_null(sim_lane_take(&bench.lane));
    sim_engine_run(&bench.engine, GMC_MS(13));
    assert_int_equal(bench.engine.fired, 0);
    assert_int_equal(bench.count, 0);
    for (uint32_t name = 1; name <= 3; name++)
        assert_taken(&bench, name);
    assert_null(sim_lane_take(&bench.lane));
    assert_int_equal(sim_lane_expected(&bench.lane), GMC_MS(14));
    /* Who stops to collect gets what is there at once, and the others at their time. */
    sim_engine_run(&bench.engine, GMC_US(15500));
    sim_lane_collect(&bench.lane, false);
    assert_int_equal(bench.count, 2);
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.count, 17);
    assert_int_equal(bench.names[16], 20);
    assert_int_equal(bench.arrivals[16], GMC_MS(30));
    bench_fini(&bench);
}

/* A packet that goes further comes at its time, and so does all that is on the way with it. */
static void test_others_do_not_wait_for_collection(void **state)
{
    (void)state;
    struct bench bench;
    collecting(&bench);
    send_to(&bench, 1, 1, 1250);
    send_to(&bench, 2, 2, 1250);
    send_to(&bench, 1, 3, 1250);
    assert_int_equal(sim_lane_expected(&bench.lane), GMC_TIME_NEVER);
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.count, 2);
    assert_int_equal(bench.arrivals[1], GMC_MS(12));
    assert_int_equal(bench.expected, GMC_MS(13));
    assert_taken(&bench, 3);
    bench_fini(&bench);
}

/* What had arrived when the wire went down is there. */
static void test_collected_packets_and_a_wire_that_goes_down(void **state)
{
    (void)state;
    struct bench bench;
    collecting(&bench);
    for (uint32_t name = 1; name <= 3; name++)
        send_to(&bench, 1, name, 1250);
    sim_engine_run(&bench.engine, GMC_MS(12));
    sim_lane_set_up(&bench.lane, false);
    assert_int_equal(bench.count, 2);
    assert_int_equal(bench.lane.count.dropped_packets[SIM_DROP_DOWN], 1);
    assert_int_equal(sim_lane_expected(&bench.lane), GMC_TIME_NEVER);
    bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_and_delay),
        cmocka_unit_test(test_queue_drops_the_tail),
        cmocka_unit_test(test_mtu),
        cmocka_unit_test(test_loss_rate),
        cmocka_unit_test(test_jitter_keeps_order_reordering_does_not),
        cmocka_unit_test(test_duplication),
        cmocka_unit_test(test_down_loses_what_it_holds),
        cmocka_unit_test(test_collected_packets_wait),
        cmocka_unit_test(test_others_do_not_wait_for_collection),
        cmocka_unit_test(test_collected_packets_and_a_wire_that_goes_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
