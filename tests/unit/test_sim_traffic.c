/* SPDX-License-Identifier: BSD-2-Clause */
/* Background traffic: random durations against their laws (99.9 % intervals, fixed seeds), times of
 * packets, rates of on/off sources, and what arrives. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "sim-wan/scenario.h"
#include "sim-wan/traffic/variate.h"

#define SIGMAS 3.2905 /* of the normal distribution, for 99.9 % */
#define DRAWS 100000

/* The part of draws that is above x, against the tail that theory gives. */
static void check_tail(gmc_duration (*draw)(struct gmc_prng *), double x, double tail)
{
    struct gmc_prng prng;
    size_t above = 0;
    gmc_prng_init(&prng, 11);
    for (int i = 0; i < DRAWS; i++)
        above += (double)draw(&prng) > x;
    double error = fabs((double)above - DRAWS * tail);
    if (error > SIGMAS * sqrt(DRAWS * tail * (1 - tail)) + 1)
        fail_msg("%zu of %d are above %f, %f were expected", above, DRAWS, x, DRAWS * tail);
}

static gmc_duration draw_exponential(struct gmc_prng *prng)
{
    return sim_draw_exponential(prng, GMC_MS(10));
}

static gmc_duration draw_pareto(struct gmc_prng *prng)
{
    return sim_draw_pareto(prng, GMC_MS(30), 1500); /* at least 10 ms */
}

static gmc_duration draw_steep_pareto(struct gmc_prng *prng)
{
    return sim_draw_pareto(prng, GMC_MS(20), 4000); /* at least 15 ms */
}

static void test_variates_have_their_tails(void **state)
{
    (void)state;
    for (double x = 0.01; x < 8; x *= 1.7) {
        check_tail(draw_exponential, x * 1e7, exp(-x));
        check_tail(draw_pareto, 1e7 * (1 + x), pow(1 + x, -1.5));
        check_tail(draw_steep_pareto, 1.5e7 * (1 + x), pow(1 + x, -4));
    }
    check_tail(draw_pareto, 0.9999e7, 1);
}

static void test_variates_have_their_means(void **state)
{
    (void)state;
    struct gmc_prng prng;
    double exponential = 0, pareto = 0;
    gmc_prng_init(&prng, 12);
    for (int i = 0; i < DRAWS; i++) {
        exponential += (double)draw_exponential(&prng);
        pareto += (double)draw_steep_pareto(&prng);
    }
    assert_true(fabs(exponential / DRAWS - 1e7) < SIGMAS * 1e7 / sqrt(DRAWS));
    /* Variance: least^2 a / ((a-1)^2 (a-2)). */
    double sigma = 1.5e7 * sqrt(4 / 18.0);
    assert_true(fabs(pareto / DRAWS - 2e7) < SIGMAS * sigma / sqrt(DRAWS));
}

/* ---- sources on a wire that hides nothing ---- */
struct bench {
    struct sim_engine engine;
    struct sim_net net;
    struct sim_traffic traffic;
    gmc_time arrivals[1000];
    size_t count;
};

static bool on_arrived(void *ctx, uint32_t host, struct sim_packet *packet)
{
    struct bench *bench = ctx;
    assert_int_equal(host, packet->to);
    sim_traffic_arrived(&bench->traffic, packet);
    if (sim_packet_segment(packet)->connection == 0 && bench->count < 1000)
        bench->arrivals[bench->count++] = bench->engine.now;
    return false;
}

static void bench_init(struct bench *bench, const struct sim_wire_config *wire, uint64_t seed)
{
    struct gmc_prng prng;
    *bench = (struct bench){0};
    gmc_prng_init(&prng, seed);
    sim_engine_init(&bench->engine);
    sim_net_init(&bench->net, &bench->engine, &(struct sim_net_sink){bench, on_arrived, NULL, NULL},
                 &prng);
    sim_net_add_host(&bench->net);
    sim_net_add_host(&bench->net);
    sim_net_add_wire(&bench->net, 0, 1, wire, wire);
    sim_traffic_init(&bench->traffic, &bench->engine, &bench->net, &prng);
}

static void bench_fini(struct bench *bench)
{
    sim_traffic_fini(&bench->traffic);
    sim_net_fini(&bench->net);
    sim_engine_fini(&bench->engine);
}

static struct sim_traffic_config source(enum sim_traffic_kind kind)
{
    return (struct sim_traffic_config){.to = 1,
                                       .kind = kind,
                                       .rate_bps = 8000000,
                                       .packet_bytes = 1000,
                                       .start = GMC_S(1),
                                       .stop = GMC_TIME_NEVER,
                                       .on = GMC_MS(50),
                                       .off = GMC_MS(150),
                                       .pareto_shape_milli = 3000};
}

static void test_cbr_keeps_time(void **state)
{
    (void)state;
    struct bench bench;
    struct sim_traffic_config config = source(SIM_TRAFFIC_CBR);
    config.rate_bps = 7000003; /* 1,142,856.65 ns each */
    config.stop = GMC_S(11);
    bench_init(&bench, &(struct sim_wire_config){.delay = GMC_MS(3)}, 1);
    assert_int_equal(sim_traffic_add(&bench.traffic, &config), 0);
    sim_engine_run(&bench.engine, GMC_S(100));
    for (uint64_t i = 0; i < bench.count; i++)
        assert_int_equal(bench.arrivals[i],
                         GMC_MS(1003) + gmc_duration_of_bytes((i + 1) * 1000, config.rate_bps));
    const struct sim_traffic_counters *count = sim_traffic_counters(&bench.traffic, 0);
    assert_int_equal(count->sent_packets, 8750); /* 10 s x rate / 8000 bits */
    assert_int_equal(count->received_packets, 8750);
    assert_int_equal(count->received_bytes, 8750000);
    bench_fini(&bench);
}

static void test_poisson_counts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct bench bench;
        struct sim_traffic_config config = source(SIM_TRAFFIC_POISSON);
        bench_init(&bench, &(struct sim_wire_config){.delay = 1}, seed);
        sim_traffic_add(&bench.traffic, &config);
        sim_engine_run(&bench.engine, GMC_S(101));
        double sent = (double)sim_traffic_counters(&bench.traffic, 0)->sent_packets;
        assert_true(fabs(sent - 100000) < SIGMAS * sqrt(100000));
        bench_fini(&bench);
    }
}

/* A renewal process: over a time t the time on has the mean t on/(on+off) and the variance
 * t (off^2 var(on) + on^2 var(off)) / (on+off)^3. */
static void check_on_off(enum sim_traffic_kind kind, double relative_variance)
{
    double on = 0.05, off = 0.15, t = 1000, cycle = on + off;
    double variance = t * 2 * on * on * off * off * relative_variance / (cycle * cycle * cycle);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct bench bench;
        struct sim_traffic_config config = source(kind);
        bench_init(&bench, &(struct sim_wire_config){.delay = 1}, seed);
        sim_traffic_add(&bench.traffic, &config);
        sim_engine_run(&bench.engine, GMC_S(1001));
        double sent = (double)sim_traffic_counters(&bench.traffic, 0)->sent_packets / 1000;
        assert_true(fabs(sent - t * on / cycle) < SIGMAS * sqrt(variance) + 0.1);
        /* One event per packet at the source and one on the wire. */
        assert_true((double)bench.engine.fired <= 2000 * sent + 2);
        bench_fini(&bench);
    }
}

static void test_on_off_sources_have_their_rate(void **state)
{
    (void)state;
    check_on_off(SIM_TRAFFIC_ONOFF, 1);
    check_on_off(SIM_TRAFFIC_PARETO, 1 / 3.0); /* shape 3: 1 / (a (a-2)) */
}

static void test_sources_do_not_move_each_other(void **state)
{
    (void)state;
    static gmc_time alone[1000];
    for (int others = 0; others < 2; others++) {
        struct bench bench;
        struct sim_traffic_config config = source(SIM_TRAFFIC_PARETO);
        bench_init(&bench, &(struct sim_wire_config){.delay = GMC_MS(1)}, 3);
        sim_traffic_add(&bench.traffic, &config);
        config.kind = SIM_TRAFFIC_POISSON;
        if (others == 1)
            sim_traffic_add(&bench.traffic, &config);
        sim_engine_run(&bench.engine, GMC_S(10));
        assert_int_equal(bench.count, 1000);
        if (others == 0)
            memcpy(alone, bench.arrivals, sizeof(alone));
        else
            assert_memory_equal(alone, bench.arrivals, sizeof(alone));
        bench_fini(&bench);
    }
}

static void test_what_is_lost_is_not_received(void **state)
{
    (void)state;
    struct bench bench;
    struct sim_traffic_config config = source(SIM_TRAFFIC_CBR);
    struct sim_wire_config wire = {.rate_bps = 6000000, .delay = 1, .queue_bytes = 10000};
    bench_init(&bench, &wire, 2);
    sim_traffic_add(&bench.traffic, &config);
    sim_engine_run(&bench.engine, GMC_S(11));
    const struct sim_traffic_counters *count = sim_traffic_counters(&bench.traffic, 0);
    uint64_t dropped = sim_net_lane(&bench.net, 0, 0)->count.dropped_packets[SIM_DROP_QUEUE];
    uint64_t held = sim_lane_held_bytes(sim_net_lane(&bench.net, 0, 0)) / 1000;
    assert_in_range(count->sent_packets, 9999, 10000);
    assert_int_equal(count->sent_packets, count->received_packets + dropped + held);
    assert_in_range(count->received_packets, 7495, 7505);
    bench_fini(&bench);
}

/* Beside gateways: no gateway hears of it. */
static void test_in_a_world(void **state)
{
    (void)state;
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = 1});
    struct sim_traffic_config config = source(SIM_TRAFFIC_POISSON);
    sim_build_flat(world, 1, &(struct sim_wire_config){.rate_bps = 100000000, .delay = GMC_MS(1)});
    sim_traffic_add(&world->traffic, &config);
    sim_world_start(world);
    sim_world_run(world, GMC_S(3));
    assert_in_range(sim_traffic_counters(&world->traffic, 0)->received_packets, 1850, 2150);
    assert_int_equal(world->hosts[1]->count.datagrams_refused, 0);
    sim_world_free(world);
}

/* Bits per second that arrive of TCP sources of these kinds from second 2 to 22. */
static void tcp_rates(const struct sim_wire_config *wire, const enum sim_traffic_kind *kinds,
                      size_t count, double *bps)
{
    struct bench bench;
    bench_init(&bench, wire, 3);
    for (size_t i = 0; i < count; i++) {
        struct sim_traffic_config config = {.to = 1,
                                            .kind = kinds[i],
                                            .packet_bytes = 1500,
                                            .stop = GMC_S(22)};
        sim_traffic_add(&bench.traffic, &config);
    }
    sim_engine_run(&bench.engine, GMC_S(2));
    for (size_t i = 0; i < count; i++)
        bps[i] = (double)sim_traffic_counters(&bench.traffic, i)->received_bytes;
    sim_engine_run(&bench.engine, GMC_S(22));
    for (size_t i = 0; i < count; i++)
        bps[i] =
            ((double)sim_traffic_counters(&bench.traffic, i)->received_bytes - bps[i]) * 8 / 20;
    uint64_t sent = sim_traffic_counters(&bench.traffic, 0)->sent_packets;
    sim_engine_run(&bench.engine, GMC_S(100));
    assert_int_equal(sim_traffic_counters(&bench.traffic, 0)->sent_packets, sent);
    assert_int_equal(bench.net.pool.live, 0);
    bench_fini(&bench);
}

/* In a queue of a bandwidth-delay product they fill a wire; in one of ten packets CUBIC cannot, and
 * BBR can. Kernels give 0.48 there (CUBIC, sim-wan emulate); a second one takes its part. */
static void test_tcp_fills_the_wire(void **state)
{
    static const enum sim_traffic_kind kinds[] = {SIM_TRAFFIC_CUBIC, SIM_TRAFFIC_BBR,
                                                  SIM_TRAFFIC_CUBIC};
    struct sim_wire_config wire = {.rate_bps = 100000000,
                                   .delay = GMC_MS(15),
                                   .queue_bytes = 625000};
    double bps[2];
    (void)state;
    tcp_rates(&wire, &kinds[0], 1, bps);
    assert_true(bps[0] > 0.97e8);
    tcp_rates(&wire, &kinds[1], 1, bps);
    assert_true(bps[0] > 0.93e8);
    tcp_rates(&wire, &kinds[0], 2, bps);
    assert_true(bps[0] + bps[1] > 0.95e8 && bps[0] > 0.15e8 && bps[1] > 0.15e8);
    wire.queue_bytes = 0;
    wire.queue_packets = 10;
    tcp_rates(&wire, &kinds[0], 1, bps);
    assert_true(bps[0] > 0.3e8 && bps[0] < 0.9e8);
    tcp_rates(&wire, &kinds[1], 1, bps);
    assert_true(bps[0] > 0.9e8);
    wire.loss_ppm = 10000; /* 1 %: sqrt(3/2p)/RTT of RFC 5681's kin is about 5 Mbit/s */
    tcp_rates(&wire, &kinds[0], 1, bps);
    assert_true(bps[0] > 0.02e8 && bps[0] < 0.15e8);
}

/* Everything that wires do to packets, and a wire that ends. */
static void test_tcp_survives(void **state)
{
    static const enum sim_traffic_kind kinds[] = {SIM_TRAFFIC_CUBIC, SIM_TRAFFIC_BBR};
    struct sim_wire_config wire = {.rate_bps = 20000000,
                                   .delay = GMC_MS(5),
                                   .jitter = GMC_MS(2),
                                   .loss_ppm = 30000,
                                   .duplicate_ppm = 20000,
                                   .reorder_ppm = 50000,
                                   .reorder_by = GMC_MS(10),
                                   .queue_bytes = 20000};
    double bps[2];
    (void)state;
    tcp_rates(&wire, kinds, 2, bps);
    assert_true(bps[0] > 1e5 && bps[1] > 1e6);
    wire.loss_ppm = 1000000;
    tcp_rates(&wire, kinds, 2, bps);
    assert_true(bps[0] + bps[1] == 0);
    wire = (struct sim_wire_config){.delay = GMC_MS(5)}; /* no limit: the window is one */
    tcp_rates(&wire, kinds, 2, bps);
    assert_true(bps[0] > 1e7 && bps[0] < 6.2e6 * 8 / 0.01);
}

static void test_bad_sources_are_refused(void **state)
{
    (void)state;
    struct sim_traffic_config cases[12];
    for (size_t i = 0; i < 12; i++)
        cases[i] = source(SIM_TRAFFIC_PARETO);
    cases[0].to = 0;
    cases[1].rate_bps = 0;
    cases[2].packet_bytes = 28;
    cases[3].packet_bytes = 65536;
    cases[4].stop = cases[4].start;
    cases[5].on = 999;
    cases[6].off = 0;
    cases[7].pareto_shape_milli = 1000;
    cases[8].off = GMC_S(1000001);
    cases[9].kind = SIM_TRAFFIC_BBR; /* with a rate */
    cases[10].kind = cases[11].kind = SIM_TRAFFIC_CUBIC;
    cases[10].rate_bps = cases[11].rate_bps = 0;
    cases[10].packet_bytes = 52;
    cases[11].ecn = SIM_ECN_ECT0;
    for (size_t i = 0; i < 12; i++) {
        char error[SIM_TRAFFIC_ERROR_MAX] = "";
        assert_int_equal(sim_traffic_check(&cases[i], error), GMC_ERR_LIMIT);
        assert_non_null(strchr(error, ';'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variates_have_their_tails),
        cmocka_unit_test(test_variates_have_their_means),
        cmocka_unit_test(test_cbr_keeps_time),
        cmocka_unit_test(test_poisson_counts),
        cmocka_unit_test(test_on_off_sources_have_their_rate),
        cmocka_unit_test(test_sources_do_not_move_each_other),
        cmocka_unit_test(test_what_is_lost_is_not_received),
        cmocka_unit_test(test_in_a_world),
        cmocka_unit_test(test_tcp_fills_the_wire),
        cmocka_unit_test(test_tcp_survives),
        cmocka_unit_test(test_bad_sources_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
