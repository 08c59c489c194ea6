/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions over simulated wires: how long a handshake takes, what loss does to it, two dials at
 * once, breaks, crashes, refusals, and datagrams within the connection. */
#include "tests/lib/unit.h"

#include <string.h>

#include "sim-wan/session.h"

#define HOSTS 2

struct side {
    bool powered, listening;
    const char *refusal;
    int ups, downs;
    gmc_time up_at, down_at;
    enum gmc_peer_event event;
    char reason[64];
    struct gmc_session session;
    size_t datagrams;
    uint32_t next; /* number expected in the next datagram */
};

struct bench {
    struct sim_engine engine;
    struct sim_net net;
    struct sim_sessions sessions;
    struct side sides[HOSTS];
    uint32_t wire;
};

static bool is_powered(void *ctx, uint32_t host)
{
    return ((struct bench *)ctx)->sides[host].powered;
}

static bool is_listening(void *ctx, uint32_t host)
{
    return ((struct bench *)ctx)->sides[host].listening;
}

static const char *refusal(void *ctx, uint32_t host, uint32_t peer)
{
    (void)peer;
    return ((struct bench *)ctx)->sides[host].refusal;
}

static struct gmc_bytes spki(void *ctx, uint32_t host)
{
    (void)ctx;
    return host == 0 ? gmc_bytes("zero", 4) : gmc_bytes("one", 3);
}

static void on_up(void *ctx, uint32_t host, uint32_t peer, const struct gmc_session *session)
{
    struct bench *bench = ctx;
    struct side *side = &bench->sides[host];
    assert_int_equal(peer, 1 - host);
    side->ups++;
    side->up_at = bench->engine.now;
    side->session = *session;
}

static void on_down(void *ctx, uint32_t host, uint32_t peer, enum gmc_peer_event event,
                    const char *reason)
{
    struct bench *bench = ctx;
    struct side *side = &bench->sides[host];
    (void)peer;
    side->downs++;
    side->down_at = bench->engine.now;
    side->event = event;
    strncpy(side->reason, reason, sizeof(side->reason) - 1);
}

static void on_datagram(void *ctx, uint32_t host, uint32_t peer, struct gmc_bytes bytes)
{
    struct side *side = &((struct bench *)ctx)->sides[host];
    (void)peer;
    assert_true(bytes.len >= 4);
    assert_int_equal(gmc_get32(bytes.data), side->next++);
    side->datagrams++;
}

static bool on_arrived(void *ctx, uint32_t host, struct sim_packet *packet)
{
    sim_tcp_arrived(&((struct bench *)ctx)->sessions.tcp, host, packet);
    return false;
}

static void bench_init(struct bench *bench, uint32_t loss_ppm)
{
    struct gmc_prng prng;
    struct sim_wire_config config = {.rate_bps = 100000000,
                                     .delay = GMC_MS(15),
                                     .loss_ppm = loss_ppm};
    gmc_prng_init(&prng, 3);
    memset(bench, 0, sizeof(*bench));
    sim_engine_init(&bench->engine);
    sim_net_init(&bench->net, &bench->engine, &(struct sim_net_sink){bench, on_arrived, NULL, NULL},
                 &prng);
    sim_net_add_host(&bench->net);
    sim_net_add_host(&bench->net);
    bench->wire = sim_net_add_wire(&bench->net, 0, 1, &config, &config);
    sim_sessions_init(&bench->sessions, &bench->engine, &bench->net,
                      &(struct sim_session_sink){bench, is_powered, is_listening, refusal, spki,
                                                 on_up, on_down, on_datagram},
                      &prng);
    for (int i = 0; i < HOSTS; i++)
        bench->sides[i].powered = bench->sides[i].listening = true;
}

static void bench_fini(struct bench *bench)
{
    sim_sessions_fini(&bench->sessions);
    sim_net_fini(&bench->net);
    sim_engine_fini(&bench->engine);
}

static void test_two_round_trips(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 0);
    sim_session_want(&bench.sessions, 0, 1);
    sim_engine_run(&bench.engine, GMC_S(1));
    struct side *s = bench.sides;
    assert_int_equal(s[0].ups, 1);
    assert_int_equal(s[1].ups, 1);
    /* Two round trips of 30 ms and the flights' transmission; the other side half a trip later. */
    assert_in_range(s[0].up_at, GMC_MS(60), GMC_MS(61));
    assert_in_range(s[1].up_at, GMC_MS(75), GMC_MS(76));
    assert_true(s[0].session.initiator);
    assert_false(s[1].session.initiator);
    assert_int_equal(s[0].session.local_id, s[1].session.remote_id);
    assert_int_equal(s[1].session.local_id, s[0].session.remote_id);
    assert_memory_equal(s[0].session.send_secret, s[1].session.recv_secret, GMC_KEY_BYTES);
    assert_memory_equal(s[1].session.send_secret, s[0].session.recv_secret, GMC_KEY_BYTES);
    assert_memory_not_equal(s[0].session.send_secret, s[0].session.recv_secret, GMC_KEY_BYTES);
    assert_int_equal(s[0].session.spki.len, 3);
    bench_fini(&bench);
}

static void test_handshake_survives_loss(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 200000);
    for (int round = 0; round < 50; round++) {
        sim_session_want(&bench.sessions, 0, 1);
        sim_engine_run(&bench.engine, bench.engine.now + GMC_S(60));
        assert_true(sim_session_is_up(&bench.sessions, 0, 1));
        assert_true(sim_session_is_up(&bench.sessions, 1, 0));
        sim_session_end(&bench.sessions, 0, 1);
        sim_engine_run(&bench.engine, bench.engine.now + GMC_S(60));
        assert_false(sim_session_is_up(&bench.sessions, 1, 0));
    }
    assert_true(bench.sessions.tcp.retransmissions > 10);
    bench_fini(&bench);
}

static void test_crossing_dials(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 0);
    sim_session_want(&bench.sessions, 0, 1);
    sim_session_want(&bench.sessions, 1, 0);
    sim_engine_run(&bench.engine, GMC_S(30));
    struct side *s = bench.sides;
    assert_int_equal(s[0].ups, 1);
    assert_int_equal(s[1].ups, 1);
    assert_true(s[0].session.initiator);
    assert_int_equal(s[0].session.local_id, s[1].session.remote_id);
    bench_fini(&bench);
}

static void test_break_and_again(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, 0);
    sim_session_want(&bench.sessions, 0, 1);
    sim_engine_run(&bench.engine, GMC_S(1));
    sim_session_break(&bench.sessions, 1, 0);
    struct side *s = bench.sides;
    assert_int_equal(s[1].downs, 1);
    sim_engine_run(&bench.engine, GMC_S(2));
    assert_int_equal(s[0].event, GMC_PEER_SESSION_DOWN);
    assert_in_range(s[0].down_at, GMC_MS(1015), GMC_MS(1016));
    sim_session_want(&bench.sessions, 1, 0);
    sim_engine_run(&bench.engine, GMC_S(3));
    assert_int_equal(s[0].ups, 2);
    assert_int_equal(s[1].ups, 2);
    bench_fini(&bench);
}

static void test_kill_is_told_and_power_loss_is_not(void **state)
{
    (void)state;
    struct bench bench;
    struct side *s = bench.sides;
    bench_init(&bench, 0);
    sim_session_want(&bench.sessions, 0, 1);
    sim_engine_run(&bench.engine, GMC_S(1));
    s[1].listening = false;
    sim_sessions_crash(&bench.sessions, 1, true);
    sim_engine_run(&bench.engine, GMC_S(2));
    assert_string_equal(s[0].reason, "connection reset by the peer");
    /* Nobody listens: refused, again and again, until somebody does. */
    sim_session_want(&bench.sessions, 0, 1);
    sim_engine_run(&bench.engine, GMC_S(20));
    assert_int_equal(s[0].event, GMC_PEER_UNREACHABLE);
    assert_string_equal(s[0].reason, "connection refused");
    assert_in_range(s[0].downs, 5, 15);
    s[1].listening = true;
    sim_engine_run(&bench.engine, GMC_S(30));
    assert_true(sim_session_is_up(&bench.sessions, 0, 1));
    /* Without power nothing is said: found out by keep-alive. */
    int downs = s[0].downs;
    s[1].powered = s[1].listening = false;
    sim_sessions_crash(&bench.sessions, 1, false);
    sim_engine_run(&bench.engine, GMC_S(290));
    assert_int_equal(s[0].downs, downs);
    sim_engine_run(&bench.engine, GMC_S(400));
    assert_int_equal(s[0].downs, downs + 1);
    assert_string_equal(s[0].reason, "connection timed out");
    /* To a host without power a dial times out. */
    sim_session_want(&bench.sessions, 0, 1);
    sim_engine_run(&bench.engine, GMC_S(411));
    assert_string_equal(s[0].reason, "connecting timed out");
    bench_fini(&bench);
}

static void test_refused_certificates(void **state)
{
    (void)state;
    struct bench bench;
    struct side *s = bench.sides;
    bench_init(&bench, 0);
    s[1].refusal = "revoked";
    sim_session_want(&bench.sessions, 0, 1);
    sim_engine_run(&bench.engine, GMC_S(30));
    assert_int_equal(s[0].event, GMC_PEER_REFUSED);
    assert_string_equal(s[0].reason, "revoked");
    assert_int_equal(s[1].ups, 0);
    assert_false(sim_session_is_up(&bench.sessions, 0, 1));
    s[1].refusal = NULL;
    s[0].refusal = "expired";
    sim_session_want(&bench.sessions, 0, 1);
    sim_engine_run(&bench.engine, GMC_S(60));
    assert_string_equal(s[0].reason, "expired");
    assert_int_equal(s[1].ups, 0);
    bench_fini(&bench);
}

static void send_number(struct bench *bench, uint32_t number, size_t len)
{
    uint8_t bytes[2000] = {0};
    gmc_put32(bytes, number);
    struct gmc_bytes pieces[] = {gmc_bytes(bytes, 4), gmc_bytes(bytes + 4, len - 4)};
    while (!sim_session_send(&bench->sessions, 0, 1, pieces, 2))
        sim_engine_run(&bench->engine, bench->engine.now + GMC_MS(10));
}

static void test_datagrams_within(void **state)
{
    (void)state;
    for (uint32_t loss = 0; loss <= 50000; loss += 50000) {
        struct bench bench;
        bench_init(&bench, loss);
        sim_session_want(&bench.sessions, 0, 1);
        sim_engine_run(&bench.engine, GMC_S(20));
        gmc_time begin = bench.engine.now;
        for (uint32_t i = 0; i < 5000; i++)
            send_number(&bench, i, 30 + i % 1440);
        sim_engine_run(&bench.engine, begin + GMC_S(400));
        assert_int_equal(bench.sides[1].datagrams, 5000);
        assert_true(sim_session_is_up(&bench.sessions, 1, 0));
        if (loss == 0)
            assert_int_equal(bench.sessions.tcp.retransmissions, 0);
        bench_fini(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_round_trips),
        cmocka_unit_test(test_handshake_survives_loss),
        cmocka_unit_test(test_crossing_dials),
        cmocka_unit_test(test_break_and_again),
        cmocka_unit_test(test_kill_is_told_and_power_loss_is_not),
        cmocka_unit_test(test_refused_certificates),
        cmocka_unit_test(test_datagrams_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
