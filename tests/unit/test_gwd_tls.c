/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions over TLS between gateways in one process, on loopback: identity, keys, refusals with
 * their reasons, simultaneous dials, reload. */
#include "tests/lib/unit.h"

#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gatewayd/frame.h"
#include "gatewayd/peer.h"
#include "gatewayd/resolve.h"
#include "gatewayd/text.h"
#include "tests/unit/gwd_certs.h"

static char dir[64];
static struct test_ca ca, other_ca;
static struct event_base *base;
static struct gwd_log *nolog;

/* ---- a gateway that only keeps sessions ---- */
struct side {
    struct gwd_conf conf;
    struct gwd_conf_peer peers[4];
    char domain[64], cert[128], key[128], ca[128], crl[128], addresses[4][64];
    struct gwd_peers *sessions;
    unsigned ups, stops, downs, refusals, unreachable;
    struct gmc_session session;
    char reason[GMC_REASON_BYTES_MAX];
    size_t datagrams;
    uint8_t last[70000];
    size_t last_len;
};

static gmc_peer number(void *ctx, const char *domain)
{
    struct side *side = ctx;
    for (gmc_peer i = 0; i < 4; i++) {
        if (side->peers[i].name != NULL && strcmp(side->peers[i].name, domain) == 0)
            return i;
    }
    return 99;
}

static void change(void *ctx, const struct gmc_peer_change *what)
{
    struct side *side = ctx;
    if (what->event == GMC_PEER_SESSION_UP) {
        assert_true(what->session.spki.len > 50);
        side->session = what->session;
        side->ups++;
        return;
    }
    side->stops += what->event == GMC_PEER_SESSION_STOPPED;
    side->downs += what->event == GMC_PEER_SESSION_DOWN || what->event == GMC_PEER_SESSION_STOPPED;
    side->refusals += what->event == GMC_PEER_REFUSED;
    side->unreachable += what->event == GMC_PEER_UNREACHABLE;
    gwd_text(side->reason, sizeof side->reason, "%s", what->reason);
}

static void datagram(void *ctx, const struct gmc_dgram_in *in)
{
    struct side *side = ctx;
    assert_int_equal(in->path, GMC_PATH_STREAM);
    side->datagrams++;
    memcpy(side->last, in->bytes.data, in->bytes.len);
    side->last_len = in->bytes.len;
}

/* cert: file name of certificate and key; NULL: the domain. */
static void make(struct side *side, const char *domain, const char *cert)
{
    memset(side, 0, sizeof *side);
    gwd_text(side->domain, sizeof side->domain, "%s", domain);
    gwd_text(side->cert, sizeof side->cert, "%s/%s.crt", dir, cert ? cert : domain);
    gwd_text(side->key, sizeof side->key, "%s/%s.key", dir, cert ? cert : domain);
    gwd_text(side->ca, sizeof side->ca, "%s/ca.pem", dir);
    side->conf.domain = side->domain;
    side->conf.node_of = (char *)(uintptr_t) "";
    side->conf.tls.certificate = side->cert;
    side->conf.tls.key = side->key;
    side->conf.tls.ca = side->ca;
    side->conf.tls.crl = side->crl;
    side->conf.peers = side->peers;
}

static void open_side(struct side *side)
{
    struct gwd_peers_config config = {.base = base,
                                      .log = nolog,
                                      .conf = &side->conf,
                                      .owner = {side, number, change, datagram, NULL, NULL}};
    char reason[256] = "";
    assert_true(gwd_addr_numeric("127.0.0.1", 1, &config.listen));
    ((struct sockaddr_in *)&config.listen.storage)->sin_port = 0;
    side->sessions = gwd_peers_new(&config, reason, sizeof reason);
    assert_string_equal(reason[0] == '\0' || side->sessions ? "" : reason, "");
    assert_non_null(side->sessions);
    assert_true(gwd_peers_start(side->sessions));
}

static void add_peer(struct side *side, const char *name, uint16_t port, uint64_t connect)
{
    size_t i = side->conf.peer_count++;
    gwd_text(side->addresses[i], sizeof side->addresses[i], "127.0.0.1:%u", port);
    side->peers[i] = (struct gwd_conf_peer){.name = (char *)(uintptr_t)name,
                                            .alias = (char *)(uintptr_t) "",
                                            .address = side->addresses[i],
                                            .connect = connect};
}

static void reload(struct side *side)
{
    char reason[256] = "";
    if (!gwd_peers_configure(side->sessions, &side->conf, reason, sizeof reason))
        fail_msg("%s", reason);
}

/* Two sides that know each other. */
static void pair(struct side *a, struct side *b)
{
    open_side(a);
    open_side(b);
    add_peer(a, b->domain, gwd_peers_port(b->sessions), GWD_CONNECT_BOTH);
    add_peer(b, a->domain, gwd_peers_port(a->sessions), GWD_CONNECT_BOTH);
    reload(a);
    reload(b);
}

static void close_side(struct side *side)
{
    gwd_peers_free(side->sessions);
    side->sessions = NULL;
}

static void on_limit(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    *(bool *)ctx = true;
}

/* Runs the loop until condition holds; fails after 5 s. */
#define RUN_UNTIL(condition)                                                                       \
    do {                                                                                           \
        bool late = false;                                                                         \
        struct event *limit = evtimer_new(base, on_limit, &late);                                  \
        struct timeval wait = {.tv_sec = 5};                                                       \
        (void)evtimer_add(limit, &wait);                                                           \
        while (!(condition) && !late)                                                              \
            (void)event_base_loop(base, EVLOOP_ONCE);                                              \
        event_free(limit);                                                                         \
        if (late)                                                                                  \
            fail_msg("waited in vain for: %s", #condition);                                        \
    } while (0)

static void run_ms(int ms)
{
    bool late = false;
    struct event *limit = evtimer_new(base, on_limit, &late);
    struct timeval wait = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    (void)evtimer_add(limit, &wait);
    while (!late)
        (void)event_base_loop(base, EVLOOP_ONCE);
    event_free(limit);
}

static void check_match(const struct side *a, const struct side *b)
{
    assert_int_equal(a->session.local_id, b->session.remote_id);
    assert_int_equal(a->session.remote_id, b->session.local_id);
    assert_int_not_equal(a->session.local_id, 0);
    assert_memory_equal(a->session.send_secret, b->session.recv_secret, GMC_KEY_BYTES);
    assert_memory_equal(a->session.recv_secret, b->session.send_secret, GMC_KEY_BYTES);
    assert_memory_not_equal(a->session.recv_secret, a->session.send_secret, GMC_KEY_BYTES);
    assert_int_equal(a->session.initiator, !b->session.initiator);
}

static struct side a, b;

static void test_session(void **state)
{
    struct gmc_addr address;
    (void)state;
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    pair(&a, &b);
    gwd_peers_connect(a.sessions, 0);
    RUN_UNTIL(a.ups == 1 && b.ups == 1);
    check_match(&a, &b);
    assert_true(a.session.initiator);
    assert_true(gwd_peers_address(b.sessions, 0, &address));
    assert_int_equal(gmc_get16(address.bytes + 4), gwd_peers_port(a.sessions));

    /* Datagrams in the stream, of three pieces. */
    static uint8_t body[60000];
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(i * 7);
    struct gmc_dgram_out out = {.path = GMC_PATH_STREAM, .peer = 0, .head_len = 25};
    out.body = gmc_bytes(body, sizeof body);
    out.tail = gmc_bytes(body, 16);
    for (int i = 0; i < 5; i++)
        assert_true(gwd_peers_send(a.sessions, &out));
    while (gwd_peers_send(a.sessions, &out))
        continue; /* bounded */
    assert_int_equal(gwd_peers_stats(a.sessions)->stream_dropped, 1);
    RUN_UNTIL(b.datagrams >= 5);
    assert_int_equal(b.last_len, 25 + 60000 + 16);
    assert_memory_equal(b.last + 25, body, sizeof body);

    /* The composition ends it; wanted again, it comes back with other keys. */
    struct gmc_session before = a.session;
    gwd_peers_reject(a.sessions, 0);
    gwd_peers_connect(a.sessions, 0);
    RUN_UNTIL(a.ups == 2 && b.ups == 2);
    check_match(&a, &b);
    assert_memory_not_equal(before.send_secret, a.session.send_secret, GMC_KEY_BYTES);

    /* A stop is told. */
    gwd_peers_stop(a.sessions);
    b.downs = 0;
    RUN_UNTIL(b.downs == 1);
    assert_int_equal(b.stops, 1);
    assert_non_null(strstr(b.reason, "being stopped"));
    close_side(&a);
    close_side(&b);
}

static void test_simultaneous(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        make(&a, "a.example", NULL);
        make(&b, "b.example", NULL);
        pair(&a, &b);
        if (round % 2 == 0)
            gwd_peers_connect(a.sessions, 0);
        gwd_peers_connect(b.sessions, 0);
        if (round % 3 == 0)
            (void)event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
        gwd_peers_connect(a.sessions, 0);
        RUN_UNTIL(a.ups > 0 && b.ups > 0);
        run_ms(30);
        assert_int_equal(a.ups, 1);
        assert_int_equal(b.ups, 1);
        assert_int_equal(a.downs + b.downs + a.refusals + b.refusals, 0);
        check_match(&a, &b);
        close_side(&a);
        close_side(&b);
    }
}

/* b shows a bad certificate; a dials. Both sides say why. */
static void refused_case(const char *cert, const char *words)
{
    make(&a, "a.example", NULL);
    make(&b, "b.example", cert);
    pair(&a, &b);
    gwd_peers_connect(a.sessions, 0);
    RUN_UNTIL(a.refusals > 0);
    if (strstr(a.reason, words) == NULL)
        fail_msg("'%s' does not say '%s'", a.reason, words);
    RUN_UNTIL(gwd_peers_stats(b.sessions)->refused > 0);
    assert_int_equal(a.ups + b.ups, 0);
    /* The other way round: a's neighbour dials and is refused by a. */
    a.refusals = b.refusals = 0;
    gwd_peers_connect(b.sessions, 0);
    RUN_UNTIL(b.refusals > 0);
    if (strstr(b.reason, "refuses") == NULL)
        fail_msg("'%s' does not say who refuses", b.reason);
    assert_int_equal(a.ups + b.ups, 0);
    close_side(&a);
    close_side(&b);
}

static void test_other_authority(void **state)
{
    (void)state;
    refused_case("foreign", "unable to get local issuer certificate");
}

static void test_expired(void **state)
{
    (void)state;
    refused_case("expired", "expired");
}

static void test_wrong_name(void **state)
{
    (void)state;
    refused_case("c.example", "is for c.example, not for b.example");
}

static void test_revoked(void **state)
{
    long serial;
    (void)state;
    serial = test_ca_issue(&ca, "b.example", "b.example", 0, 30);
    test_ca_revoke(&ca, "none.crl", NULL, 0);
    test_ca_revoke(&ca, "b.crl", &serial, 1);
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    gwd_text(a.crl, sizeof a.crl, "%s/none.crl", dir);
    pair(&a, &b);
    gwd_peers_connect(b.sessions, 0);
    RUN_UNTIL(a.ups == 1 && b.ups == 1);
    /* A reload with a new list ends the running session, and says so on both sides. */
    gwd_text(a.crl, sizeof a.crl, "%s/b.crl", dir);
    reload(&a);
    assert_int_equal(a.refusals, 1);
    assert_non_null(strstr(a.reason, "certificate revoked"));
    RUN_UNTIL(b.refusals == 1);
    assert_non_null(strstr(b.reason, "certificate revoked"));
    /* And it does not come back, dialled from either side. */
    gwd_peers_connect(b.sessions, 0);
    RUN_UNTIL(b.refusals == 2);
    assert_non_null(strstr(b.reason, "revoked"));
    gwd_peers_connect(a.sessions, 0);
    RUN_UNTIL(a.refusals == 2);
    assert_non_null(strstr(a.reason, "revoked"));
    assert_int_equal(a.ups + b.ups, 2);
    close_side(&a);
    close_side(&b);
}

static void test_not_configured(void **state)
{
    (void)state;
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    open_side(&a);
    open_side(&b);
    add_peer(&b, "a.example", gwd_peers_port(a.sessions), GWD_CONNECT_BOTH);
    reload(&b);
    gwd_peers_connect(b.sessions, 0);
    RUN_UNTIL(b.refusals == 1);
    assert_non_null(strstr(b.reason, "b.example is not a configured peer of a.example"));
    /* Once it is, a reload lets it in; when it is taken out again, its session ends. */
    add_peer(&a, "b.example", gwd_peers_port(b.sessions), GWD_CONNECT_BOTH);
    reload(&a);
    reload(&b);
    gwd_peers_connect(b.sessions, 0);
    RUN_UNTIL(a.ups == 1 && b.ups == 1);
    a.conf.peer_count = 0;
    reload(&a);
    assert_int_equal(a.refusals, 1);
    RUN_UNTIL(b.refusals >= 2);
    close_side(&a);
    close_side(&b);
}

static void test_connect_modes(void **state)
{
    (void)state;
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    open_side(&a);
    open_side(&b);
    add_peer(&a, "b.example", gwd_peers_port(b.sessions), GWD_CONNECT_IN);
    add_peer(&b, "a.example", gwd_peers_port(a.sessions), GWD_CONNECT_OUT);
    reload(&a);
    gwd_peers_connect(a.sessions, 0); /* waits for b, which dials by itself */
    reload(&b);
    RUN_UNTIL(a.ups == 1 && b.ups == 1);
    assert_true(b.session.initiator);
    assert_int_equal(gwd_peers_stats(a.sessions)->dialled, 0);
    /* It comes back by itself after the other side lost it. */
    gwd_peers_reject(a.sessions, 0);
    RUN_UNTIL(a.ups == 2 && b.ups == 2);
    close_side(&a);
    close_side(&b);

    /* out does not take connections. */
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    open_side(&a);
    open_side(&b);
    add_peer(&a, "b.example", 9, GWD_CONNECT_OUT);
    add_peer(&b, "a.example", gwd_peers_port(a.sessions), GWD_CONNECT_BOTH);
    reload(&a);
    reload(&b);
    gwd_peers_connect(b.sessions, 0);
    RUN_UNTIL(b.refusals == 1);
    assert_non_null(strstr(b.reason, "connect = out"));
    close_side(&a);
    close_side(&b);
}

static void test_late_neighbour(void **state)
{
    uint16_t port;
    (void)state;
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    open_side(&b);
    port = gwd_peers_port(b.sessions);
    close_side(&b);
    open_side(&a);
    add_peer(&a, "b.example", port, GWD_CONNECT_BOTH);
    reload(&a);
    gwd_peers_connect(a.sessions, 0);
    RUN_UNTIL(a.unreachable >= 2);
    assert_non_null(strstr(a.reason, "Connection refused"));
    add_peer(&b, "a.example", gwd_peers_port(a.sessions), GWD_CONNECT_BOTH);
    struct gwd_peers_config config = {.base = base,
                                      .log = nolog,
                                      .conf = &b.conf,
                                      .owner = {&b, number, change, datagram, NULL, NULL}};
    char reason[256];
    assert_true(gwd_addr_numeric("127.0.0.1", port, &config.listen));
    b.sessions = gwd_peers_new(&config, reason, sizeof reason);
    assert_non_null(b.sessions);
    assert_true(gwd_peers_start(b.sessions));
    RUN_UNTIL(a.ups == 1 && b.ups == 1);
    close_side(&a);
    close_side(&b);
}

static int connect_raw(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Strangers that say nothing, or nonsense, take no place from a neighbour. */
static void test_strangers(void **state)
{
    int fds[100];
    (void)state;
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    pair(&a, &b);
    for (size_t i = 0; i < 100; i++) {
        fds[i] = connect_raw(gwd_peers_port(a.sessions));
        if (i % 2 == 0)
            assert_int_equal(write(fds[i], "GET / HTTP/1.0\r\n\r\n", 18), 18);
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
    }
    RUN_UNTIL(gwd_peers_stats(a.sessions)->accepted == 100);
    gwd_peers_connect(b.sessions, 0);
    RUN_UNTIL(a.ups == 1 && b.ups == 1);
    assert_true(gwd_peers_stats(a.sessions)->refused >= 36);
    for (size_t i = 0; i < 100; i++)
        (void)close(fds[i]);
    close_side(&a);
    close_side(&b);
}

static void test_frames(void **state)
{
    struct gwd_hello hello = {1, 7411, 0x12345678, 5, "cern.example"}, read;
    struct gwd_bye bye = {GMC_ERR_ACCESS, "no\nway"}, farewell;
    uint8_t frame[300];
    size_t len = gwd_hello_put(&hello, frame, sizeof frame);
    static const uint8_t golden[] = {1, 0,    0,    33,   'g',  'm',  'c',  'H', 0,
                                     1, 0x1c, 0xf3, 0x12, 0x34, 0x56, 0x78, 0,   0,
                                     0, 0,    0,    0,    0,    5,    12,   'c'};
    (void)state;
    assert_int_equal(len, 4 + 21 + 12);
    assert_memory_equal(frame, golden, sizeof golden);
    for (size_t cut = 0; cut < len - 4; cut++)
        assert_int_not_equal(gwd_hello_get(gmc_bytes(frame + 4, cut), &read), GMC_OK);
    assert_ok(gwd_hello_get(gmc_bytes(frame + 4, len - 4), &read));
    assert_string_equal(read.domain, hello.domain);
    assert_int_equal(read.session, hello.session);
    frame[9] = 2;
    assert_int_equal(gwd_hello_get(gmc_bytes(frame + 4, len - 4), &read), GMC_ERR_VERSION);
    len = gwd_bye_put(&bye, frame, sizeof frame);
    assert_ok(gwd_bye_get(gmc_bytes(frame + 4, len - 4), &farewell));
    assert_int_equal(farewell.status, GMC_ERR_ACCESS);
    assert_string_equal(farewell.text, "no?way");
    assert_int_equal(gwd_bye_get(gmc_bytes(frame, 1), &farewell), GMC_ERR_TRUNCATED);
}

/* SRV answers in order of priority, then weight. */
static void test_srv(void **state)
{
    static const uint8_t answer[] =
        "\0\1\201\200\0\1\0\3\0\0\0\0" /* head: one question, three answers */
        "\1x\0\0\41\0\1"               /* x SRV IN */
        "\300\14\0\41\0\1\0\0\1\54\0\11\0\24\0\0\34\363\1b\0"
        "\300\14\0\41\0\1\0\0\1\54\0\11\0\12\0\1\34\363\1c\0"
        "\300\14\0\41\0\1\0\0\1\54\0\11\0\12\0\5\34\364\1d\0";
    struct gwd_srv targets[4];
    (void)state;
    assert_int_equal(gwd_srv_parse(answer, sizeof answer - 1, targets, 4), 3);
    assert_string_equal(targets[0].target, "d");
    assert_int_equal(targets[0].port, 7412);
    assert_string_equal(targets[1].target, "c");
    assert_string_equal(targets[2].target, "b");
    assert_int_equal(gwd_srv_parse(answer, sizeof answer - 2, targets, 4), 0);
    assert_int_equal(gwd_srv_parse(answer, 5, targets, 4), 0);
}

static int set_up(void **state)
{
    (void)state;
    test_dir_make(dir, sizeof dir);
    test_ca_make(&ca, dir, "ca");
    test_ca_make(&other_ca, dir, "other");
    (void)test_ca_issue(&ca, "a.example", "a.example", 0, 30);
    (void)test_ca_issue(&ca, "b.example", "x.example,b.example", 0, 30);
    (void)test_ca_issue(&ca, "c.example", "c.example", 0, 30);
    (void)test_ca_issue(&ca, "expired", "b.example", -30, -10);
    (void)test_ca_issue(&other_ca, "foreign", "b.example", 0, 30);
    base = event_base_new();
    nolog = gwd_log_new(getenv("GMC_TEST_LOG") != NULL ? "" : "/dev/null", GMC_LEVEL_DEBUG);
    return base == NULL || nolog == NULL;
}

/* A reload takes another key and its certificate. */
static void test_new_key(void **state)
{
    uint8_t before[GWD_KEY_HASH_BYTES], after[GWD_KEY_HASH_BYTES];
    (void)state;
    make(&a, "a.example", NULL);
    make(&b, "b.example", NULL);
    pair(&a, &b);
    gwd_peers_key_hash(a.sessions, before);
    (void)test_ca_issue(&ca, "renewed", "a.example", 0, 60);
    gwd_text(a.cert, sizeof a.cert, "%s/renewed.crt", dir);
    gwd_text(a.key, sizeof a.key, "%s/renewed.key", dir);
    reload(&a);
    gwd_peers_key_hash(a.sessions, after);
    assert_memory_not_equal(before, after, sizeof before);
    assert_true(gwd_peers_certificate_seconds_left(a.sessions) > 50 * 86400);
    close_side(&a);
    close_side(&b);
}

static int tear_down(void **state)
{
    (void)state;
    event_base_free(base);
    gwd_log_free(nolog);
    test_ca_free(&ca);
    test_ca_free(&other_ca);
    test_dir_remove(dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),          cmocka_unit_test(test_srv),
        cmocka_unit_test(test_session),         cmocka_unit_test(test_simultaneous),
        cmocka_unit_test(test_other_authority), cmocka_unit_test(test_expired),
        cmocka_unit_test(test_wrong_name),      cmocka_unit_test(test_not_configured),
        cmocka_unit_test(test_connect_modes),   cmocka_unit_test(test_late_neighbour),
        cmocka_unit_test(test_strangers),       cmocka_unit_test(test_new_key),
        cmocka_unit_test(test_revoked),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
