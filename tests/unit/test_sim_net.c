/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes over several wires, firewalls, and where bytes are counted. */
#include "tests/lib/unit.h"

#include <string.h>

#include "sim-wan/net.h"

struct bench {
    struct sim_engine engine;
    struct sim_net net;
    uint32_t host;
    uint32_t from;
    uint32_t len;
    uint8_t first;
    gmc_time at;
    size_t count;
};

static bool on_arrived(void *ctx, uint32_t host, struct sim_packet *packet)
{
    struct bench *bench = ctx;
    bench->host = host;
    bench->from = packet->from;
    bench->len = packet->len;
    bench->first = packet->data[0];
    bench->at = bench->engine.now;
    bench->count++;
    return false;
}

static void bench_init(struct bench *bench, uint32_t hosts)
{
    struct gmc_prng prng;
    gmc_prng_init(&prng, 1);
    *bench = (struct bench){0};
    sim_engine_init(&bench->engine);
    sim_net_init(&bench->net, &bench->engine, &(struct sim_net_sink){bench, on_arrived, NULL, NULL},
                 &prng);
    for (uint32_t i = 0; i < hosts; i++)
        assert_int_equal(sim_net_add_host(&bench->net), i);
}

static uint32_t join(struct bench *bench, uint32_t a, uint32_t b, gmc_duration delay)
{
    struct sim_wire_config config = {.rate_bps = 100000000, .delay = delay};
    return sim_net_add_wire(&bench->net, a, b, &config, &config);
}

static void bench_fini(struct bench *bench)
{
    uint32_t wire;
    assert_true(sim_net_is_balanced(&bench->net, &wire));
    sim_net_fini(&bench->net);
    sim_engine_fini(&bench->engine);
}

static void send_bytes(struct bench *bench, uint32_t from, uint32_t to, uint8_t fill, size_t len)
{
    uint8_t body[9000];
    memset(body, fill, sizeof(body));
    struct gmc_bytes pieces[] = {gmc_bytes(body, 1), gmc_bytes(body, len - 1), gmc_bytes(NULL, 0)};
    sim_net_send_udp(&bench->net, from, to, SIM_ECN_NOT_ECT, pieces, 3);
}

static void test_multi_hop(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 4);
    uint32_t near = join(&bench, 0, 1, GMC_MS(15));
    uint32_t far = join(&bench, 1, 2, GMC_MS(15));
    send_bytes(&bench, 0, 2, 9, 1472);
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.host, 2);
    assert_int_equal(bench.from, 0);
    assert_int_equal(bench.len, 1472);
    assert_int_equal(bench.first, 9);
    assert_int_equal(bench.at, 2 * (GMC_MS(15) + 120000)); /* stored and forwarded */
    assert_int_equal(sim_net_lane(&bench.net, near, 0)->count.delivered_bytes, 1500);
    assert_int_equal(sim_net_lane(&bench.net, far, 0)->count.delivered_bytes, 1500);
    assert_int_equal(sim_net_lane(&bench.net, far, 1)->count.offered_bytes, 0);
    /* Host 3 has no wire; a datagram of 1473 bytes is too large for the path. */
    send_bytes(&bench, 0, 3, 1, 10);
    send_bytes(&bench, 0, 2, 1, 1473);
    sim_engine_run(&bench.engine, GMC_S(2));
    assert_int_equal(bench.count, 1);
    assert_int_equal(bench.net.count.unroutable_packets, 1);
    assert_int_equal(sim_net_lane(&bench.net, near, 0)->count.dropped_packets[SIM_DROP_MTU], 1);
    bench_fini(&bench);
}

static void test_shortest_path(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 5);
    /* 0-4 directly takes 50 ms, over 1 and 2 30 ms, over 3 30 ms too but with fewer hops. */
    join(&bench, 0, 4, GMC_MS(50));
    join(&bench, 0, 1, GMC_MS(10));
    join(&bench, 1, 2, GMC_MS(10));
    join(&bench, 2, 4, GMC_MS(10));
    join(&bench, 0, 3, GMC_MS(15));
    join(&bench, 3, 4, GMC_MS(15));
    assert_int_equal(sim_net_next_hop(&bench.net, 0, 4), 3);
    assert_int_equal(sim_net_next_hop(&bench.net, 3, 4), 4);
    assert_int_equal(sim_net_next_hop(&bench.net, 1, 4), 2);
    assert_int_equal(sim_net_path_delay(&bench.net, 0, 4), GMC_MS(30));
    assert_int_equal(sim_net_path_delay(&bench.net, 4, 1), GMC_MS(20));
    assert_int_equal(sim_net_wire_between(&bench.net, 2, 3), UINT32_MAX);
    bench_fini(&bench);
}

#define SITES 24u

/* Sites behind routers, some with a wire to another site too: who has one wire is reached as its
 * neighbour is, and from everywhere by the shortest way. */
static void test_sites(void **state)
{
    (void)state;
    struct bench bench;
    gmc_duration least[SITES][SITES];
    struct gmc_prng prng;
    gmc_prng_init(&prng, 5);
    bench_init(&bench, SITES);
    for (uint32_t i = 0; i < SITES; i++)
        for (uint32_t j = 0; j < SITES; j++)
            least[i][j] = i == j ? 0 : GMC_S(1000);
    for (uint32_t i = 1; i < SITES + 6; i++) {
        uint32_t a = i < SITES ? i : (uint32_t)gmc_prng_below(&prng, 12);
        uint32_t b = (uint32_t)gmc_prng_below(&prng, i < 6 ? i : 6);
        gmc_duration delay = GMC_MS(1) + gmc_prng_below(&prng, GMC_MS(9));
        if (a == b || sim_net_wire_between(&bench.net, a, b) != UINT32_MAX)
            continue;
        join(&bench, a, b, delay);
        least[a][b] = least[b][a] = delay;
    }
    for (uint32_t k = 0; k < SITES; k++)
        for (uint32_t i = 0; i < SITES; i++)
            for (uint32_t j = 0; j < SITES; j++)
                if (least[i][k] + least[k][j] < least[i][j])
                    least[i][j] = least[i][k] + least[k][j];
    for (uint32_t i = 0; i < SITES; i++)
        for (uint32_t j = 0; j < SITES; j++)
            assert_int_equal(sim_net_path_delay(&bench.net, i, j), least[i][j]);
    bench_fini(&bench);
}

/* Each direction is routed by its own delays. */
static void test_asymmetric(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 3);
    struct sim_wire_config fast = {.delay = GMC_MS(1)}, slow = {.delay = GMC_MS(100)};
    sim_net_add_wire(&bench.net, 0, 1, &fast, &slow);
    join(&bench, 0, 2, GMC_MS(20));
    join(&bench, 2, 1, GMC_MS(20));
    assert_int_equal(sim_net_next_hop(&bench.net, 0, 1), 1);
    assert_int_equal(sim_net_next_hop(&bench.net, 1, 0), 2);
    assert_int_equal(sim_net_path_delay(&bench.net, 1, 0), GMC_MS(40));
    bench_fini(&bench);
}

static void test_blocked_udp(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 3);
    join(&bench, 0, 1, GMC_MS(1));
    join(&bench, 1, 2, GMC_MS(1));
    sim_net_block_udp(&bench.net, 2, 0, true);
    sim_net_block_udp(&bench.net, 0, 2, true);
    assert_true(sim_net_is_udp_blocked(&bench.net, 0, 2));
    send_bytes(&bench, 0, 2, 1, 10);
    send_bytes(&bench, 0, 1, 1, 10);
    struct sim_packet *segment = sim_net_new_segment(&bench.net, 0, 2);
    segment->wire_bytes += 100;
    assert_int_equal(segment->wire_bytes, 152);
    sim_net_send(&bench.net, segment);
    sim_engine_run(&bench.engine, GMC_S(1));
    assert_int_equal(bench.count, 2);
    assert_int_equal(bench.net.count.blocked_packets, 1);
    sim_net_block_udp(&bench.net, 0, 2, false);
    send_bytes(&bench, 0, 2, 1, 10);
    sim_engine_run(&bench.engine, GMC_S(2));
    assert_int_equal(bench.count, 3);
    bench_fini(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multi_hop),   cmocka_unit_test(test_shortest_path),
        cmocka_unit_test(test_sites),       cmocka_unit_test(test_asymmetric),
        cmocka_unit_test(test_blocked_udp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
