/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and replies of the control API survive the way to bytes and back; what is malformed or
 * out of bounds is refused. */
#include "wire/ctl_codec.h"

#include "base/status.h"
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

static struct gmc_ctl_holder *recode_request(const struct gmc_ctl_request *in,
                                             struct gmc_ctl_request *out)
{
    struct gmc_ctl_holder *holder;
    uint8_t *bytes;
    size_t len;

    assert_int_equal(gmc_ctl_encode_request(in, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_request(gmc_bytes(bytes, len), out, &holder), GMC_OK);
    gmc_ctl_bytes_free(bytes);
    return holder;
}

static void stage_round_trip(void **state)
{
    const char *sources[] = {"/data/a", "/data/\xff\xfe name\n"};
    const struct gmc_ctl_target targets[] = {{"cern", "", NULL},
                                             {"ornl.example", "in/\x80", "n1+n2"}};
    struct gmc_ctl_request in = {.kind = GMC_CTL_STAGE,
                                 .from = "s.example",
                                 .sources = sources,
                                 .source_count = 2,
                                 .targets = targets,
                                 .target_count = 2,
                                 .shape = "chain",
                                 .rate_bps = UINT64_MAX,
                                 .background = true};
    struct gmc_ctl_request out;
    struct gmc_ctl_holder *holder = recode_request(&in, &out);

    (void)state;
    assert_int_equal(out.kind, GMC_CTL_STAGE);
    assert_string_equal(out.from, "s.example");
    assert_int_equal(out.source_count, 2);
    assert_string_equal(out.sources[1], sources[1]);
    assert_int_equal(out.target_count, 2);
    assert_string_equal(out.targets[0].path, "");
    assert_string_equal(out.targets[1].domain, "ornl.example");
    assert_string_equal(out.targets[1].path, "in/\x80");
    assert_string_equal(out.targets[0].inside, "");
    assert_string_equal(out.targets[1].inside, "n1+n2");
    assert_string_equal(out.shape, "chain");
    assert_int_equal(out.rate_bps, UINT64_MAX);
    assert_true(out.background);
    gmc_ctl_release(holder);
}

static void every_kind_round_trip(void **state)
{
    const struct gmc_ctl_target target = {"d", "p", NULL};

    (void)state;
    for (int kind = GMC_CTL_ADD; kind <= GMC_CTL_COUNTERS; kind++) {
        struct gmc_ctl_request in = {.kind = (enum gmc_ctl_kind)kind,
                                     .channel = "00f3@x",
                                     .targets = &target,
                                     .target_count = 1};
        struct gmc_ctl_request out;
        struct gmc_ctl_holder *holder = recode_request(&in, &out);

        assert_int_equal(out.kind, kind);
        if (kind != GMC_CTL_PEERS && kind != GMC_CTL_COUNTERS)
            assert_string_equal(out.channel, "00f3@x");
        if (kind == GMC_CTL_ADD)
            assert_string_equal(out.targets[0].path, "p");
        gmc_ctl_release(holder);
    }
}

static void doctor_round_trips(void **state)
{
    const struct gmc_ctl_target domains[] = {{"b", "", NULL}, {"c.example", "", NULL}};
    const struct gmc_ctl_request in = {.kind = GMC_CTL_DOCTOR,
                                       .targets = domains,
                                       .target_count = 2};
    const struct gmc_ctl_finding findings[] = {{GMC_CTL_LEVEL_FAIL, "storage", "/data x", -3,
                                                "days", "no room", "make some"},
                                               {.check = "clock"}};
    const struct gmc_ctl_peer peer = {.domain = "b.example",
                                      .session = {true, true, true, true, "b", "10.0.0.1:7411",
                                                  GMC_CTL_TRANSPORT_TCP, GMC_CTL_CONNECT_IN,
                                                  GMC_CTL_DIAL_TLS},
                                      .udp_out = GMC_CTL_REACH_LOST,
                                      .udp_in = GMC_CTL_REACH_ARRIVES,
                                      .wait = GMC_CTL_WAIT_PATH,
                                      .loss_ppm = 20000};
    const struct gmc_ctl_reply reply = {.findings = findings,
                                        .finding_count = 2,
                                        .peers = &peer,
                                        .peer_count = 1};
    struct gmc_ctl_request out;
    struct gmc_ctl_reply told;
    struct gmc_ctl_holder *holder = recode_request(&in, &out);
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_int_equal(out.kind, GMC_CTL_DOCTOR);
    assert_int_equal(out.target_count, 2);
    assert_string_equal(out.targets[1].domain, "c.example");
    gmc_ctl_release(holder);
    assert_int_equal(gmc_ctl_encode_reply(&reply, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_reply(gmc_bytes(bytes, len), &told, &holder), GMC_OK);
    gmc_ctl_bytes_free(bytes);
    assert_int_equal(told.finding_count, 2);
    assert_int_equal(told.findings[0].level, GMC_CTL_LEVEL_FAIL);
    assert_string_equal(told.findings[0].check, "storage");
    assert_string_equal(told.findings[0].subject, "/data x");
    assert_int_equal(told.findings[0].value, -3);
    assert_string_equal(told.findings[0].unit, "days");
    assert_string_equal(told.findings[0].text, "no room");
    assert_string_equal(told.findings[0].advice, "make some");
    assert_string_equal(told.findings[1].advice, "");
    assert_string_equal(told.peers[0].session.address, "10.0.0.1:7411");
    assert_string_equal(told.peers[0].session.alias, "b");
    assert_true(told.peers[0].session.configured && told.peers[0].session.is_node);
    assert_true(told.peers[0].session.up && told.peers[0].session.dialled);
    assert_int_equal(told.peers[0].session.transport, GMC_CTL_TRANSPORT_TCP);
    assert_int_equal(told.peers[0].session.connect, GMC_CTL_CONNECT_IN);
    assert_int_equal(told.peers[0].session.dial, GMC_CTL_DIAL_TLS);
    assert_int_equal(told.peers[0].udp_out, GMC_CTL_REACH_LOST);
    assert_int_equal(told.peers[0].udp_in, GMC_CTL_REACH_ARRIVES);
    assert_int_equal(told.peers[0].wait, GMC_CTL_WAIT_PATH);
    assert_int_equal(told.peers[0].loss_ppm, 20000);
    gmc_ctl_release(holder);
}

static void nodes_round_trip(void **state)
{
    const struct gmc_ctl_request in = {.kind = GMC_CTL_NODE_ADD,
                                       .node = "n1.example",
                                       .lifetime_s = 60};
    const struct gmc_ctl_node nodes[] = {{"n1.example", GMC_CTL_NODE_EXPIRED, true, 1, INT64_MAX},
                                         {.name = "n2.example"}};
    const struct gmc_ctl_reply reply = {.token = "gmn1-00", .nodes = nodes, .node_count = 2};
    struct gmc_ctl_request out;
    struct gmc_ctl_reply told;
    struct gmc_ctl_holder *holder = recode_request(&in, &out);
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_int_equal(out.kind, GMC_CTL_NODE_ADD);
    assert_string_equal(out.node, "n1.example");
    assert_int_equal(out.lifetime_s, 60);
    gmc_ctl_release(holder);
    assert_int_equal(gmc_ctl_encode_reply(&reply, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_reply(gmc_bytes(bytes, len), &told, &holder), GMC_OK);
    gmc_ctl_bytes_free(bytes);
    assert_string_equal(told.token, "gmn1-00");
    assert_int_equal(told.node_count, 2);
    assert_string_equal(told.nodes[0].name, "n1.example");
    assert_int_equal(told.nodes[0].state, GMC_CTL_NODE_EXPIRED);
    assert_true(told.nodes[0].up);
    assert_int_equal(told.nodes[0].since, 1);
    assert_int_equal(told.nodes[0].expires, INT64_MAX);
    gmc_ctl_release(holder);
}

static void reply_round_trip(void **state)
{
    static const char *const more[] = {"c", ""};
    const struct gmc_ctl_member member = {.domain = "a",
                                          .parent = "b",
                                          .more_parents = more,
                                          .more_parent_count = 2,
                                          .path = "x\ny",
                                          .state = GMC_CTL_MEMBER_VERIFIED,
                                          .bytes = 1,
                                          .repairs = 2,
                                          .elapsed_ns = 3,
                                          .has_digest = true,
                                          .digest = {9, 8, 7},
                                          .reason = "r",
                                          .latency_ns = 4,
                                          .nodes = 5,
                                          .nodes_verified = 3,
                                          .nodes_failed = 1,
                                          .nodes_left = 1};
    const struct gmc_ctl_transfer transfer = {.channel = "0123456789abcdef@s",
                                              .is_source = true,
                                              .state = GMC_CTL_TRANSFER_PARTIAL,
                                              .shape = "eco",
                                              .total_bytes = 5,
                                              .is_saving = true,
                                              .name = "news",
                                              .message_count = 12,
                                              .traffic = {1, 2, 3, 4, 5},
                                              .members = &member,
                                              .member_count = 1,
                                              .total_members = 3,
                                              .failed_members = 2};
    const struct gmc_ctl_peer peers[] = {{.domain = "s", .up = true},
                                         {.domain = "a",
                                          .stream = true,
                                          .rtt_ns = 6,
                                          .multicast = {GMC_CTL_MULTICAST_LOST, "no route"}}};
    const struct gmc_ctl_latency latency = {1, 0, 7};
    const struct gmc_ctl_counter counter = {"dropped_auth", 8};
    const struct gmc_ctl_reply in = {.status = GMC_ERR_ACCESS,
                                     .error = "no",
                                     .domain = "s",
                                     .transfers = &transfer,
                                     .transfer_count = 1,
                                     .peers = peers,
                                     .peer_count = 2,
                                     .latencies = &latency,
                                     .latency_count = 1,
                                     .counters = &counter,
                                     .counter_count = 1};
    struct gmc_ctl_reply out;
    struct gmc_ctl_holder *holder;
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_int_equal(gmc_ctl_encode_reply(&in, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_reply(gmc_bytes(bytes, len), &out, &holder), GMC_OK);
    gmc_ctl_bytes_free(bytes);
    assert_int_equal(out.status, GMC_ERR_ACCESS);
    assert_string_equal(out.error, "no");
    assert_string_equal(out.channel, "");
    assert_int_equal(out.transfer_count, 1);
    assert_int_equal(out.transfers[0].state, GMC_CTL_TRANSFER_PARTIAL);
    assert_int_equal(out.transfers[0].failed_members, 2);
    assert_false(out.transfers[0].has_digest);
    assert_true(out.transfers[0].is_saving);
    assert_string_equal(out.transfers[0].name, "news");
    assert_int_equal(out.transfers[0].message_count, 12);
    assert_memory_equal(&out.transfers[0].traffic, &transfer.traffic, sizeof transfer.traffic);
    assert_string_equal(out.transfers[0].members[0].path, "x\ny");
    assert_true(out.transfers[0].members[0].has_digest);
    assert_memory_equal(out.transfers[0].members[0].digest, member.digest, GMC_CTL_DIGEST_BYTES);
    assert_int_equal(out.transfers[0].members[0].latency_ns, 4);
    assert_int_equal(out.transfers[0].members[0].more_parent_count, 2);
    assert_string_equal(out.transfers[0].members[0].more_parents[0], "c");
    assert_string_equal(out.transfers[0].members[0].more_parents[1], "");
    assert_true(out.peers[1].stream);
    assert_int_equal(out.peers[1].multicast.state, GMC_CTL_MULTICAST_LOST);
    assert_string_equal(out.peers[1].multicast.reason, "no route");
    assert_int_equal(out.latencies[0].rtt_ns, 7);
    assert_string_equal(out.counters[0].name, "dropped_auth");
    gmc_ctl_release(holder);
}

static void a_plan_round_trip(void **state)
{
    const struct gmc_ctl_target target = {"d", "p", NULL};
    const struct gmc_ctl_request in = {.kind = GMC_CTL_PLAN, .targets = &target, .target_count = 1};
    const struct gmc_ctl_rate rates[] = {{"a", 4, GMC_CTL_ORIGIN_MEASURED, 3, 0},
                                         {"b", 2, GMC_CTL_ORIGIN_CONFIGURED, 0, 1},
                                         {"c", 2, (enum gmc_ctl_origin)99, 0, 0}};
    const struct gmc_ctl_transfer transfer = {.state = GMC_CTL_TRANSFER_PLANNED,
                                              .plan = {.time_ns = 9,
                                                       .bound_ns = 8,
                                                       .rate_bps = 7,
                                                       .limit = GMC_CTL_LIMIT_CAP,
                                                       .limit_domain = "a",
                                                       .limit_bps = 6,
                                                       .copies = 5,
                                                       .assumed = true,
                                                       .measured = true,
                                                       .rates = rates,
                                                       .rate_count = 3}};
    const struct gmc_ctl_reply reply = {.transfers = &transfer, .transfer_count = 1};
    struct gmc_ctl_request request;
    struct gmc_ctl_reply out;
    struct gmc_ctl_holder *holder = recode_request(&in, &request);
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_int_equal(request.kind, GMC_CTL_PLAN);
    assert_string_equal(request.targets[0].path, "p");
    gmc_ctl_release(holder);
    assert_int_equal(gmc_ctl_encode_reply(&reply, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_reply(gmc_bytes(bytes, len), &out, &holder), GMC_OK);
    gmc_ctl_bytes_free(bytes);
    assert_int_equal(out.transfers[0].state, GMC_CTL_TRANSFER_PLANNED);
    assert_int_equal(out.transfers[0].plan.time_ns, 9);
    assert_int_equal(out.transfers[0].plan.bound_ns, 8);
    assert_int_equal(out.transfers[0].plan.rate_bps, 7);
    assert_int_equal(out.transfers[0].plan.limit, GMC_CTL_LIMIT_CAP);
    assert_string_equal(out.transfers[0].plan.limit_domain, "a");
    assert_int_equal(out.transfers[0].plan.limit_bps, 6);
    assert_int_equal(out.transfers[0].plan.copies, 5);
    assert_true(out.transfers[0].plan.assumed && out.transfers[0].plan.measured);
    assert_int_equal(out.transfers[0].plan.rate_count, 3);
    const struct gmc_ctl_rate *rate = out.transfers[0].plan.rates;
    assert_string_equal(rate[0].domain, "a");
    assert_true(rate[0].uplink_bps == 4 && rate[0].copies == 3 && rate[0].downlink_bps == 0);
    assert_int_equal(rate[0].uplink_origin, GMC_CTL_ORIGIN_MEASURED);
    assert_int_equal(rate[1].uplink_origin, GMC_CTL_ORIGIN_CONFIGURED);
    assert_int_equal(rate[1].downlink_bps, 1);
    assert_int_equal(rate[2].uplink_origin, GMC_CTL_ORIGIN_UNKNOWN); /* of a newer gateway */
    gmc_ctl_release(holder);
}

static void too_many_stripes_are_refused(void **state)
{
    static const char *const more[GMC_CTL_STRIPES_MAX] = {"c", "c", "c", "c", "c", "c", "c", "c"};
    const struct gmc_ctl_member member = {.domain = "a",
                                          .more_parents = more,
                                          .more_parent_count = GMC_CTL_STRIPES_MAX};
    const struct gmc_ctl_transfer transfer = {.members = &member, .member_count = 1};
    const struct gmc_ctl_reply in = {.transfers = &transfer, .transfer_count = 1};
    struct gmc_ctl_reply out;
    struct gmc_ctl_holder *holder;
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_int_equal(gmc_ctl_encode_reply(&in, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_reply(gmc_bytes(bytes, len), &out, &holder), GMC_ERR_INVALID);
    gmc_ctl_bytes_free(bytes);
}

/* Bytes by hand: tag = field << 3 | 2, length, content. */
static void malformed_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        gmc_status status;
    } cases[] = {
        {"", 0, GMC_ERR_TYPE},             /* no kind at all */
        {"\xfa\x01\x00", 3, GMC_ERR_TYPE}, /* field 31: a newer kind */
        {"\x0a\x7f", 2, GMC_ERR_INVALID},  /* longer than the message */
        {"\x0a\x05\x12\x03"
         "a\0b",
         7, GMC_ERR_INVALID},                     /* a source with a NUL */
        {"\x0a\x02\x1a\x00", 4, GMC_ERR_INVALID}, /* a target without a domain */
        {"\x12\x00", 2, GMC_ERR_INVALID},         /* add without a target */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gmc_ctl_holder *holder = NULL;
        struct gmc_ctl_request request;

        assert_int_equal(gmc_ctl_decode_request(gmc_bytes(cases[i].bytes, cases[i].len), &request,
                                                &holder),
                         cases[i].status);
        assert_null(holder);
    }
}

static void bounds_are_kept(void **state)
{
    char path[GMC_CTL_PATH_MAX + 2];
    const char *sources[] = {path};
    struct gmc_ctl_request in = {.kind = GMC_CTL_STAGE, .sources = sources, .source_count = 1};
    struct gmc_ctl_holder *holder = NULL;
    struct gmc_ctl_request out;
    uint8_t *bytes;
    size_t len;

    (void)state;
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(gmc_ctl_encode_request(&in, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_request(gmc_bytes(bytes, len), &out, &holder), GMC_ERR_INVALID);
    gmc_ctl_bytes_free(bytes);
    path[sizeof path - 2] = '\0';
    holder = recode_request(&in, &out);
    assert_int_equal(strlen(out.sources[0]), GMC_CTL_PATH_MAX);
    gmc_ctl_release(holder);
}

static void names_are_printable(void **state)
{
    static const char *const bad[] = {"a\033[2Jb", "a b", "\xc3\xa4", "a\n"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct gmc_ctl_peer peer = {.domain = bad[i]};
        const struct gmc_ctl_reply in = {.peers = &peer, .peer_count = 1};
        struct gmc_ctl_holder *holder = NULL;
        struct gmc_ctl_reply out;
        uint8_t *bytes;
        size_t len;

        assert_int_equal(gmc_ctl_encode_reply(&in, &bytes, &len), GMC_OK);
        assert_int_equal(gmc_ctl_decode_reply(gmc_bytes(bytes, len), &out, &holder),
                         GMC_ERR_INVALID);
        gmc_ctl_bytes_free(bytes);
    }
}

static void unknown_states_are_kept_apart(void **state)
{
    const struct gmc_ctl_transfer transfer = {.state = (enum gmc_ctl_transfer_state)77};
    const struct gmc_ctl_reply in = {.transfers = &transfer, .transfer_count = 1};
    struct gmc_ctl_holder *holder;
    struct gmc_ctl_reply out;
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_int_equal(gmc_ctl_encode_reply(&in, &bytes, &len), GMC_OK);
    assert_int_equal(gmc_ctl_decode_reply(gmc_bytes(bytes, len), &out, &holder), GMC_OK);
    gmc_ctl_bytes_free(bytes);
    assert_int_equal(out.transfers[0].state, GMC_CTL_TRANSFER_UNKNOWN);
    gmc_ctl_release(holder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stage_round_trip),
        cmocka_unit_test(every_kind_round_trip),
        cmocka_unit_test(reply_round_trip),
        cmocka_unit_test(nodes_round_trip),
        cmocka_unit_test(doctor_round_trips),
        cmocka_unit_test(a_plan_round_trip),
        cmocka_unit_test(too_many_stripes_are_refused),
        cmocka_unit_test(malformed_is_refused),
        cmocka_unit_test(bounds_are_kept),
        cmocka_unit_test(unknown_states_are_kept_apart),
        cmocka_unit_test(names_are_printable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
