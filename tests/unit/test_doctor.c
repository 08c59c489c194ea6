/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of what gmcast doctor says of links and limits. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"
#include "tools/doctor_limits.h"
#include "tools/doctor_links.h"
#include "tools/doctor_offline.h"
#include "tools/draw.h"
#include "tools/report.h"

/* A neighbour to which all is well. */
static struct gmc_ctl_peer peer_of(void)
{
    return (struct gmc_ctl_peer){.domain = "b.test",
                                 .up = true,
                                 .rtt_ns = 30000000,
                                 .payload_max = 1472,
                                 .packets_sent = 5000,
                                 .reason = "",
                                 .fabric = {.name = ""},
                                 .multicast = {.reason = ""},
                                 .session = {.configured = true,
                                             .up = true,
                                             .dialled = true,
                                             .alias = "b",
                                             .address = "192.0.2.2:7411"},
                                 .udp_out = GMC_CTL_REACH_ARRIVES,
                                 .udp_in = GMC_CTL_REACH_ARRIVES};
}

static const struct gmc_ctl_finding *find(const struct gmc_findings *findings, const char *check)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (strcmp(findings->list[i].check, check) == 0)
            return &findings->list[i];
    }
    return NULL;
}

/* The level of one check of this neighbour; words: in its text or advice. */
static void expect(const struct gmc_ctl_peer *peer, const char *check, enum gmc_ctl_level level,
                   const char *words)
{
    struct gmc_findings findings = {0};
    const struct gmc_ctl_finding *found;

    doctor_link(&findings, peer);
    found = find(&findings, check);
    assert_non_null(found);
    assert_int_equal(found->level, level);
    assert_string_equal(found->subject, peer->domain);
    assert_int_equal(found->advice[0] != '\0', level != GMC_CTL_LEVEL_OK);
    assert_true(strstr(found->text, words) != NULL || strstr(found->advice, words) != NULL);
    gmc_findings_clear(&findings);
}

static void all_is_well(void **state)
{
    struct gmc_ctl_peer peer = peer_of();
    struct gmc_findings findings = {0};

    (void)state;
    doctor_link(&findings, &peer);
    assert_int_equal(gmc_findings_worst(&findings), GMC_CTL_LEVEL_OK);
    assert_null(find(&findings, "multicast"));
    gmc_findings_clear(&findings);
    expect(&peer, "session", GMC_CTL_LEVEL_OK, "dialled from here");
    expect(&peer, "path", GMC_CTL_LEVEL_OK, "over UDP");
    expect(&peer, "udp-out", GMC_CTL_LEVEL_OK, "from here arrives there");
    expect(&peer, "udp-in", GMC_CTL_LEVEL_OK, "from there arrives here");
    assert_true(doctor_link_is_known(&peer, 0));
}

static void names_the_direction_that_is_blocked(void **state)
{
    struct gmc_ctl_peer peer = peer_of();

    (void)state;
    peer.stream = true;
    peer.udp_out = GMC_CTL_REACH_LOST;
    expect(&peer, "udp-out", GMC_CTL_LEVEL_WARN, "BLOCKED: UDP from here does not arrive there");
    expect(&peer, "udp-out", GMC_CTL_LEVEL_WARN, "port 7411 out here and in there");
    expect(&peer, "udp-in", GMC_CTL_LEVEL_OK, "arrives");
    expect(&peer, "path", GMC_CTL_LEVEL_WARN, "open UDP");
    peer.udp_out = GMC_CTL_REACH_ARRIVES;
    peer.udp_in = GMC_CTL_REACH_LOST;
    expect(&peer, "udp-in", GMC_CTL_LEVEL_WARN, "BLOCKED: UDP from there does not arrive here");
    peer.udp_in = GMC_CTL_REACH_UNKNOWN;
    expect(&peer, "udp-in", GMC_CTL_LEVEL_WARN, "not known");
    assert_false(doctor_link_is_known(&peer, 60));
    peer.udp_in = GMC_CTL_REACH_ARRIVES;
    expect(&peer, "path", GMC_CTL_LEVEL_WARN, "MTU");
    assert_false(doctor_link_is_known(&peer, 0)); /* it is about to go over UDP, or not */
    assert_true(doctor_link_is_known(&peer, 1));
    /* Nothing else carries it. */
    peer.up = peer.stream = false;
    peer.udp_out = GMC_CTL_REACH_LOST;
    expect(&peer, "udp-out", GMC_CTL_LEVEL_FAIL, "BLOCKED");
    expect(&peer, "path", GMC_CTL_LEVEL_FAIL, "transport = auto");
}

static void says_why_there_is_no_session(void **state)
{
    struct gmc_ctl_peer peer = peer_of();

    (void)state;
    peer.up = peer.session.up = peer.session.dialled = false;
    assert_false(doctor_link_is_known(&peer, 5)); /* nothing was heard of an attempt */
    expect(&peer, "session", GMC_CTL_LEVEL_FAIL, "not tried");
    peer.reason = "cannot connect to 192.0.2.2:7411: Connection refused";
    assert_false(doctor_link_is_known(&peer, 1)); /* it may be an old reason */
    assert_true(doctor_link_is_known(&peer, 3));
    expect(&peer, "session", GMC_CTL_LEVEL_FAIL, "start gatewayd there");
    peer.reason = "the certificate of b.test is refused: certificate has expired";
    expect(&peer, "session", GMC_CTL_LEVEL_FAIL, "authorities");
    peer.session.dial = GMC_CTL_DIAL_TCP;
    assert_false(doctor_link_is_known(&peer, 3));
    expect(&peer, "session", GMC_CTL_LEVEL_FAIL, "let TCP port 7411 out here and in there");
    peer.session.dial = GMC_CTL_DIAL_TLS;
    expect(&peer, "session", GMC_CTL_LEVEL_FAIL, "does not answer TLS");
    peer.session.connect = GMC_CTL_CONNECT_IN;
    expect(&peer, "session", GMC_CTL_LEVEL_FAIL, "connect = in");
    peer.session.is_node = true;
    expect(&peer, "session", GMC_CTL_LEVEL_WARN, "gmcast-noded");
    assert_true(doctor_link_is_known(&peer, 0));
}

static void looks_at_size_loss_and_multicast(void **state)
{
    struct gmc_ctl_peer peer = peer_of();

    (void)state;
    peer.payload_max = 1200;
    expect(&peer, "mtu", GMC_CTL_LEVEL_WARN, "tunnels");
    peer.loss_ppm = 12345;
    expect(&peer, "loss", GMC_CTL_LEVEL_WARN, "1.23 %");
    peer.session.is_node = true;
    peer.multicast.state = GMC_CTL_MULTICAST_ARRIVES;
    expect(&peer, "multicast", GMC_CTL_LEVEL_OK, "arrives");
    peer.multicast.state = GMC_CTL_MULTICAST_LOST;
    peer.multicast.reason = "its test was not answered";
    expect(&peer, "multicast", GMC_CTL_LEVEL_WARN, "its test was not answered");
    peer.session.transport = GMC_CTL_TRANSPORT_TCP;
    peer.stream = true;
    expect(&peer, "path", GMC_CTL_LEVEL_OK, "as configured");
    assert_true(doctor_link_is_known(&peer, 0));
}

static void limit_is(const struct doctor_limits *limits, const struct gmc_ctl_peer *peer,
                     enum gmc_ctl_level level, const char *words)
{
    struct gmc_findings findings = {0};

    doctor_limits_say(limits, peer, &findings);
    assert_int_equal(findings.count, 1);
    assert_string_equal(findings.list[0].check, "limit");
    assert_int_equal(findings.list[0].level, level);
    assert_non_null(strstr(findings.list[0].text, words));
    gmc_findings_clear(&findings);
}

/* What was seen most often, nothing to wait for aside. */
static void names_what_limits(void **state)
{
    static const struct {
        enum gmc_ctl_wait wait;
        enum gmc_ctl_level level;
        const char *words;
    } cases[] = {{GMC_CTL_WAIT_PATH, GMC_CTL_LEVEL_OK, "rate of the path limits (in 3 of 9 looks"},
                 {GMC_CTL_WAIT_UPLINK, GMC_CTL_LEVEL_OK, "uplink"},
                 {GMC_CTL_WAIT_CAP, GMC_CTL_LEVEL_OK, "--rate"},
                 {GMC_CTL_WAIT_RECEIVER, GMC_CTL_LEVEL_WARN, "receiver"},
                 {GMC_CTL_WAIT_STORE, GMC_CTL_LEVEL_WARN, "disk here"},
                 {GMC_CTL_WAIT_PARENT, GMC_CTL_LEVEL_OK, "not come here"}};
    struct gmc_ctl_peer peer = peer_of(), other = peer_of();

    (void)state;
    other.domain = "c.test";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doctor_limits *limits = doctor_limits_new();
        struct gmc_findings findings = {0};
        for (int look = 0; look < 9; look++) {
            peer.wait = look < 3             ? cases[i].wait
                        : look == 3 && i > 0 ? GMC_CTL_WAIT_PATH
                                             : GMC_CTL_WAIT_NOTHING;
            other.wait = GMC_CTL_WAIT_NOTHING;
            doctor_limits_look(limits, &other);
            assert_int_equal(doctor_limits_any(limits), look > 0);
            doctor_limits_look(limits, &peer);
        }
        limit_is(limits, &peer, cases[i].level, cases[i].words);
        doctor_limits_say(limits, &other, &findings);
        assert_int_equal(findings.count, 0);
        if (i == 0) {
            peer.loss_ppm = 50000;
            limit_is(limits, &peer, GMC_CTL_LEVEL_WARN, "loses 5.00 %");
            peer.stream = true;
            limit_is(limits, &peer, GMC_CTL_LEVEL_WARN, "TCP connection");
            peer = peer_of();
        }
        doctor_limits_free(limits);
    }
}

/* A line each, whatever is in a name. */
static void writes_lines_and_json(void **state)
{
    struct gmc_findings findings = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    json_t *list;
    const char *level, *check, *subject, *unit, *words, *advice;
    json_int_t value;

    (void)state;
    gmc_findings_add(&findings, GMC_CTL_LEVEL_OK, "clock", "here", "is right");
    gmc_findings_add(&findings, GMC_CTL_LEVEL_FAIL, "storage", "/a\nb", "%d bytes are free", 7);
    gmc_findings_value(&findings, 7, "bytes");
    gmc_findings_advise(&findings, "make %s", "room");
    draw_findings(&findings, out);
    fclose(out);
    assert_string_equal(text, "ok    clock             here   is right\n"
                              "FAIL  storage           /a\\nb  7 bytes are free -> make room\n");
    free(text);
    list = report_findings(&findings);
    assert_int_equal(json_unpack(list,
                                 "[{s:s, s:n, s:n, s:n}, {s:s, s:s, s:s, s:I, s:s, s:s, s:s}]",
                                 "level", &level, "value", "unit", "advice", "level", &level,
                                 "check", &check, "subject", &subject, "value", &value, "unit",
                                 &unit, "text", &words, "advice", &advice),
                     0);
    assert_string_equal(level, "fail");
    assert_string_equal(check, "storage");
    assert_string_equal(subject, "/a\nb");
    assert_int_equal(value, 7);
    assert_string_equal(unit, "bytes");
    assert_string_equal(words, "7 bytes are free");
    assert_string_equal(advice, "make room");
    json_decref(list);
    gmc_findings_clear(&findings);
}

static void reads_what_gatewayd_says(void **state)
{
    struct gmc_findings findings = {0};

    (void)state;
    assert_true(doctor_offline_line(
        &findings, "{\"level\":\"warn\",\"check\":\"certificate\",\"subject\":\"/x\",\"value\":6,"
                   "\"unit\":\"days\",\"text\":\"soon\",\"advice\":\"act\"}"));
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.list[0].level, GMC_CTL_LEVEL_WARN);
    assert_string_equal(findings.list[0].check, "certificate");
    assert_int_equal(findings.list[0].value, 6);
    assert_false(doctor_offline_line(&findings, "gatewayd: no"));
    assert_false(doctor_offline_line(&findings, "{\"level\":\"ok\"}"));
    assert_int_equal(findings.count, 1);
    gmc_findings_clear(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_well),
        cmocka_unit_test(names_the_direction_that_is_blocked),
        cmocka_unit_test(says_why_there_is_no_session),
        cmocka_unit_test(looks_at_size_loss_and_multicast),
        cmocka_unit_test(names_what_limits),
        cmocka_unit_test(reads_what_gatewayd_says),
        cmocka_unit_test(writes_lines_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
