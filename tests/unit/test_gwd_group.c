/* SPDX-License-Identifier: BSD-2-Clause */
/* The self-test of a domain's group, between a gateway (group.h) and nodes that are played here, or
 * one that is real (hearing.h); what is cut off in its middle above all. */
#include <string.h>

#include "gatewayd/conf.h"
#include "gatewayd/group.h"
#include "gatewayd/hearing.h"
#include "tests/lib/unit.h"

#define NODES 2
#define TICK GMC_MS(50)

/* What becomes of a test at the second node, once. */
enum trouble { NONE, LOST_WHEN_ASKED, LOST_WHEN_TESTED, STARTED_ANEW };

static struct bench {
    gmc_time now;
    struct event_base *base;
    struct gwd_log *log;
    struct gwd_group *group;
    enum trouble trouble;
    unsigned datagrams;         /* of the present test */
    unsigned heard_from[NODES]; /* as many as were sent before it listened */
    unsigned tests[NODES];      /* times that it was asked to listen */
    uint64_t waits[NODES];      /* id of the request, 0: none */
    struct gwd_group_test answers[NODES];
    bool lost[NODES]; /* its link, before it answers */
} bench;

static gmc_time now(void)
{
    return bench.now;
}

static bool node(void *ctx, gmc_peer peer, bool *is_node, struct gmc_peer_info *info)
{
    static const char *const names[] = {"n1.test", "n2.test"};
    (void)ctx;
    if (peer >= NODES)
        return false;
    *is_node = true;
    *info = (struct gmc_peer_info){.domain = names[peer], .up = true};
    return true;
}

static void send_datagram(void *ctx, struct gmc_bytes datagram)
{
    (void)ctx, (void)datagram;
    bench.datagrams++;
}

static void ask(void *ctx, gmc_peer peer, uint64_t id, struct gmc_bytes request)
{
    struct gwd_group_test test;
    (void)ctx;
    assert_true(gwd_group_test_get(request, &test));
    struct gwd_group_test *answer = &bench.answers[peer];
    bool listen = test.step == GWD_GROUP_LISTEN;
    enum trouble trouble = peer == 1 ? bench.trouble : NONE;
    *answer = (struct gwd_group_test){.step = listen ? GWD_GROUP_LISTENS : GWD_GROUP_REPORT_IS,
                                      .token = test.token,
                                      .text = "eth0"};
    if (listen) {
        bench.tests[peer]++;
        bench.heard_from[peer] = bench.datagrams;
    } else if (trouble == STARTED_ANEW) {
        strcpy(answer->text, "!it did not listen when the test began");
    } else {
        answer->received = (uint16_t)(bench.datagrams - bench.heard_from[peer]);
    }
    bench.waits[peer] = id;
    bench.lost[peer] = trouble == (listen ? LOST_WHEN_ASKED : LOST_WHEN_TESTED);
    if (bench.lost[peer] || (!listen && trouble == STARTED_ANEW))
        bench.trouble = NONE;
}

static void use(void *ctx, struct gmc_bytes word, uint64_t rate_bps)
{
    (void)ctx, (void)word, (void)rate_bps;
}

static void answer(gmc_peer peer)
{
    uint8_t bytes[GWD_GROUP_TEST_MAX];
    uint64_t id = bench.waits[peer];
    if (id == 0)
        return;
    bench.waits[peer] = 0;
    size_t len = bench.lost[peer] ? 0 : gwd_group_test_put(&bench.answers[peer], bytes);
    gwd_group_on_reply(bench.group, id, gmc_bytes(bytes, len));
}

/* Until both nodes have a verdict; the time that it took. */
static gmc_duration run(enum trouble trouble)
{
    struct gwd_conf conf = {.multicast_rate = 1000000,
                            .multicast_interface = (char *)(uintptr_t) "eth0",
                            .delivery_tree = (char *)(uintptr_t) "separate"};
    struct gwd_mcast_group group = {.group = {.len = 6, .bytes = {239, 255, 1, 2, 0x1c, 0xf4}}};
    bench = (struct bench){.now = GMC_S(1), .trouble = trouble};
    bench.base = event_base_new();
    bench.log = gwd_log_new("/dev/null", GMC_LEVEL_INFO);
    struct gwd_group_config config = {.base = bench.base,
                                      .log = bench.log,
                                      .conf = &conf,
                                      .group = &group,
                                      .now = now,
                                      .node = node,
                                      .send = send_datagram,
                                      .ask = ask,
                                      .use = use};
    bench.group = gwd_group_new(&config);
    assert_non_null(bench.group);
    for (int ticks = 0; ticks < 100 && gwd_group_stats(bench.group).hear < NODES; ticks++) {
        bench.now = gmc_time_add(bench.now, TICK);
        (void)event_base_loop(bench.base, EVLOOP_ONCE);
        for (gmc_peer peer = 0; peer < NODES; peer++)
            answer(peer);
    }
    assert_int_equal(gwd_group_stats(bench.group).hear, NODES);
    assert_int_equal(gwd_group_stats(bench.group).deaf, 0);
    gwd_group_free(bench.group);
    gwd_log_free(bench.log);
    event_base_free(bench.base);
    return gmc_time_sub(bench.now, GMC_S(1));
}

static void nodes_are_tested_at_once(void **state)
{
    (void)state;
    assert_true(run(NONE) < GMC_S(1));
    assert_int_equal(bench.tests[0], 1);
    assert_int_equal(bench.tests[1], 1);
}

/* It would be kept for a minute that the node does not hear. */
static void a_test_that_is_cut_off_is_repeated(void **state)
{
    (void)state;
    for (enum trouble trouble = LOST_WHEN_ASKED; trouble <= STARTED_ANEW; trouble++) {
        assert_true(run(trouble) < GMC_S(3));
        assert_int_equal(bench.tests[0], 1);
        assert_int_equal(bench.tests[1], 2);
    }
}

/* ---- the real one ---- */
static struct gwd_group_test say(struct gwd_hearing *hearing, enum gwd_group_step step,
                                 uint64_t token)
{
    uint8_t request[GWD_GROUP_TEST_MAX], reply[GWD_GROUP_TEST_MAX];
    struct gwd_group_test test = {.step = step,
                                  .token = token,
                                  .group = {
                                      .group = {.len = 6, .bytes = {239, 255, 1, 2, 0x1c, 0xf4}}}};
    size_t len = gwd_group_test_put(&test, request);
    len = gwd_hearing_on_request(hearing, gmc_bytes(request, len), reply);
    assert_true(gwd_group_test_get(gmc_bytes(reply, len), &test));
    assert_int_equal(test.token, token);
    return test;
}

/* One that was started when the test ran already says so, and not that nothing came. */
static void a_node_knows_of_which_test_it_is_asked(void **state)
{
    (void)state;
    struct event_base *base = event_base_new();
    struct gwd_hearing_config config = {.base = base, .interface = "lo"};
    struct gwd_hearing *hearing = gwd_hearing_new(&config);
    assert_non_null(hearing);
    struct gwd_group_test answer = say(hearing, GWD_GROUP_REPORT, 7);
    assert_string_equal(answer.text, "!it did not listen when the test began");
    assert_string_equal(say(hearing, GWD_GROUP_LISTEN, 8).text, "lo");
    assert_string_equal(say(hearing, GWD_GROUP_LISTEN, 9).text, "lo");
    answer = say(hearing, GWD_GROUP_REPORT, 8);
    assert_string_equal(answer.text, "!it did not listen when the test began");
    answer = say(hearing, GWD_GROUP_REPORT, 9);
    assert_string_equal(answer.text, "lo");
    assert_int_equal(answer.received, 0);
    gwd_hearing_free(hearing);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_tested_at_once),
        cmocka_unit_test(a_test_that_is_cut_off_is_repeated),
        cmocka_unit_test(a_node_knows_of_which_test_it_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
