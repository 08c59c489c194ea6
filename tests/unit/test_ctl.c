/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of ctl: requests as bytes against a real gateway without a network.
 */
#include "ctl/ctl.h"

#include "crypto/cheap.h"
#include "tests/lib/unit.h"
#include "wire/ctl_codec.h"

#include <stdlib.h>
#include <string.h>

/* A gateway with its control API. */
struct side {
    const char *domain;
    struct gmc_crypto_cheap *cheap;
    struct gmc_crypto crypto;
    struct gmc_gateway *gateway;
    struct gmc_ctl *ctl;
};

/* a.example, which is asked, and b.example, to which connect_b makes a link. */
struct fixture {
    struct side a, b;
    gmc_time now;
    struct gmc_ctl_answer answer;
    struct gmc_ctl_reply reply; /* of the last request */
    struct gmc_ctl_holder *holder;
};

/* What both have configured; "bee" is an alias. */
static const char *resolve(void *ctx, const char *name)
{
    static const char *const known[] = {"a.example", "b.example", "c.example", "d.example"};

    (void)ctx;
    if (strcmp(name, "bee") == 0)
        return "b.example";
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(name, known[i]) == 0)
            return known[i];
    }
    return NULL;
}

/* b may ask for what is beneath /public. */
static gmc_status may_request(void *ctx, const char *origin, const char *const *paths, size_t count,
                              const char **reason)
{
    (void)ctx;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(origin, "b.example") != 0 || strncmp(paths[i], "/public/", 8) != 0) {
            *reason = "only /public is served, and to b.example";
            return GMC_ERR_ACCESS;
        }
    }
    return GMC_OK;
}

static size_t counters(void *ctx, struct gmc_counter *out, size_t max)
{
    (void)ctx;
    assert_true(max >= 1);
    out[0] = (struct gmc_counter){"counted_by_the_shell", 42};
    return 1;
}

static size_t findings(void *ctx, const struct gmc_ctl_finding **out)
{
    static const struct gmc_ctl_finding found = {.check = "clock", .subject = "here"};

    (void)ctx;
    *out = &found;
    return 1;
}

static void side_new(struct side *side, const char *domain, gmc_time now)
{
    static const uint8_t seed[32] = {1};
    const struct gmc_ctl_hooks hooks = {.may_request = may_request,
                                        .resolve = resolve,
                                        .counters = counters,
                                        .findings = findings};
    struct gmc_gateway_config config = {.domain = domain, .seed = 1, .incarnation = 1};
    uint8_t spki[512];
    size_t len = sizeof spki;

    side->domain = domain;
    side->cheap = gmc_crypto_cheap_new(domain, seed);
    gmc_crypto_cheap_table(side->cheap, &side->crypto);
    assert_ok(gmc_crypto_cheap_spki(domain, spki, &len));
    config.crypto = &side->crypto;
    config.spki = gmc_bytes(spki, len);
    side->gateway = gmc_gateway_new(&config, now);
    gmc_gateway_start(side->gateway, now);
    side->ctl = gmc_ctl_new(side->gateway, domain, &hooks);
    assert_non_null(side->ctl);
}

static void side_free(struct side *side)
{
    gmc_ctl_free(side->ctl);
    gmc_gateway_free(side->gateway);
    gmc_crypto_cheap_free(side->cheap);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->now = GMC_S(1);
    side_new(&f->a, "a.example", f->now);
    side_new(&f->b, "b.example", f->now);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    gmc_ctl_release(f->holder);
    side_free(&f->a);
    side_free(&f->b);
    free(f);
    return 0;
}

static void take_answer(struct fixture *f)
{
    gmc_ctl_release(f->holder);
    f->holder = NULL;
    if (!f->answer.later)
        assert_ok(gmc_ctl_decode_reply(f->answer.bytes, &f->reply, &f->holder));
}

/* Encodes, handles, decodes; returns the reply's status. */
static int ask_at(struct fixture *f, struct side *side, gmc_peer origin,
                  const struct gmc_ctl_request *request)
{
    uint8_t *bytes;
    size_t len;

    assert_ok(gmc_ctl_encode_request(request, &bytes, &len));
    gmc_ctl_handle(side->ctl, f->now, origin, gmc_bytes(bytes, len), &f->answer);
    gmc_ctl_bytes_free(bytes);
    take_answer(f);
    return f->answer.later ? 0 : f->reply.status;
}

static int ask_from(struct fixture *f, gmc_peer origin, const struct gmc_ctl_request *request)
{
    return ask_at(f, &f->a, origin, request);
}

static int ask(struct fixture *f, const struct gmc_ctl_request *request)
{
    return ask_from(f, GMC_PEER_NONE, request);
}

static int stage_from(struct fixture *f, gmc_peer origin, const char *from, const char *source,
                      const char *target)
{
    const struct gmc_ctl_target targets[] = {{target, "in/", NULL}};
    const struct gmc_ctl_request request = {.kind = GMC_CTL_STAGE,
                                            .from = from,
                                            .sources = &source,
                                            .source_count = 1,
                                            .targets = targets,
                                            .target_count = 1,
                                            .shape = "chain"};

    return ask_from(f, origin, &request);
}

static int stage(struct fixture *f, const char *source, const char *target)
{
    return stage_from(f, GMC_PEER_NONE, "", source, target);
}

static int stage_at(struct fixture *f, struct side *side, const char *source, const char *target)
{
    const struct gmc_ctl_target to = {target, "", NULL};
    const struct gmc_ctl_request request = {.kind = GMC_CTL_STAGE,
                                            .sources = &source,
                                            .source_count = 1,
                                            .targets = &to,
                                            .target_count = 1};

    return ask_at(f, side, GMC_PEER_NONE, &request);
}

static int about(struct fixture *f, enum gmc_ctl_kind kind, const char *channel)
{
    const struct gmc_ctl_request request = {.kind = kind, .channel = channel};

    return ask(f, &request);
}

static void assert_error_says(const struct fixture *f, const char *words)
{
    if (strstr(f->reply.error, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, f->reply.error);
}

/* A datagram in one piece, through the TLS connection. */
static void deliver(struct fixture *f, const struct gmc_dgram_out *out, const struct side *from,
                    struct side *to)
{
    uint8_t bytes[70000];
    struct gmc_dgram_in in = {.path = GMC_PATH_STREAM};
    size_t len = out->head_len;

    memcpy(bytes, out->head, len);
    if (out->body.len > 0)
        memcpy(bytes + len, out->body.data, out->body.len);
    len += out->body.len;
    if (out->tail.len > 0)
        memcpy(bytes + len, out->tail.data, out->tail.len);
    len += out->tail.len;
    in.peer = gmc_gateway_peer(to->gateway, from->domain);
    in.bytes = gmc_bytes(bytes, len);
    /* what is dropped is the link's business */
    (void)!gmc_gateway_on_datagram(to->gateway, f->now, &in);
}

/* What a shell does: carries datagrams, requests and replies. True when there was something. */
static bool crank(struct fixture *f, struct side *side, struct side *other)
{
    struct gmc_ctl_answer answer;
    struct gmc_output out;
    bool any = false;

    gmc_gateway_on_timer(side->gateway, f->now);
    while (gmc_gateway_next_output(side->gateway, &out)) {
        any = true;
        if (out.kind == GMC_OUT_DATAGRAM)
            deliver(f, &out.u.dgram, side, other);
        if (out.kind == GMC_OUT_REPLY &&
            gmc_ctl_on_reply(side->ctl, f->now, out.id, out.bytes, &f->answer))
            take_answer(f);
        if (out.kind == GMC_OUT_REQUEST) {
            gmc_ctl_handle(side->ctl, f->now, out.peer, out.bytes, &answer);
            assert_false(answer.later);
            gmc_gateway_answer(side->gateway, f->now, out.peer, out.id, answer.bytes);
        }
    }
    return any;
}

/* A second of both gateways' lives. */
static void run(struct fixture *f)
{
    for (gmc_time end = f->now + GMC_S(1); f->now < end; f->now += GMC_MS(1)) {
        while (crank(f, &f->a, &f->b) || crank(f, &f->b, &f->a))
            continue;
    }
}

static void session_up(struct fixture *f, struct side *side, const struct side *other, uint32_t id)
{
    struct gmc_peer_change change = {.peer = gmc_gateway_peer(side->gateway, other->domain),
                                     .event = GMC_PEER_SESSION_UP};
    uint8_t spki[512];
    size_t len = sizeof spki;

    assert_ok(gmc_crypto_cheap_spki(other->domain, spki, &len));
    change.session.peer = change.peer;
    change.session.initiator = id == 7;
    change.session.local_id = id;
    change.session.remote_id = 15 - id;
    change.session.spki = gmc_bytes(spki, len);
    change.session.transport = GMC_TRANSPORT_TCP;
    gmc_gateway_on_peer(side->gateway, f->now, &change);
}

static void connect_b(struct fixture *f)
{
    session_up(f, &f->a, &f->b, 7);
    session_up(f, &f->b, &f->a, 8);
    run(f);
}

/* a loses its session with b. */
static void disconnect_b(struct fixture *f)
{
    struct gmc_peer_change change = {.peer = gmc_gateway_peer(f->a.gateway, "b.example"),
                                     .event = GMC_PEER_SESSION_DOWN,
                                     .reason = "connection reset"};

    gmc_gateway_on_peer(f->a.gateway, f->now, &change);
    run(f);
}

static void test_stage_and_status(void **state)
{
    struct fixture *f = *state;
    char channel[GMC_CTL_CHANNEL_TEXT_MAX];

    assert_int_equal(stage(f, "/data/x", "bee"), GMC_OK);
    assert_string_equal(f->reply.domain, "a.example");
    assert_string_equal(f->reply.channel + 16, "@a.example");
    strcpy(channel, f->reply.channel);

    assert_int_equal(about(f, GMC_CTL_STATUS, channel), GMC_OK);
    assert_int_equal(f->reply.transfer_count, 1);
    assert_string_equal(f->reply.transfers[0].channel, channel);
    assert_int_equal(f->reply.transfers[0].state, GMC_CTL_TRANSFER_SCANNING);
    assert_string_equal(f->reply.transfers[0].shape, "chain");
    assert_true(f->reply.transfers[0].is_source);
    assert_int_equal(f->reply.transfers[0].member_count, 1);
    assert_string_equal(f->reply.transfers[0].members[0].domain, "b.example");
    assert_string_equal(f->reply.transfers[0].members[0].path, "in/");

    channel[4] = '\0'; /* four digits are enough */
    assert_int_equal(about(f, GMC_CTL_STATUS, channel), GMC_OK);
    assert_int_equal(about(f, GMC_CTL_STATUS, ""), GMC_OK);
    assert_int_equal(f->reply.transfer_count, 1);
    assert_int_equal(f->reply.transfers[0].total_members, 1);
    assert_int_equal(f->reply.transfers[0].member_count, 0);
}

static void test_cancel(void **state)
{
    struct fixture *f = *state;
    char channel[GMC_CTL_CHANNEL_TEXT_MAX];

    assert_int_equal(stage(f, "/data/x", "b.example"), GMC_OK);
    strcpy(channel, f->reply.channel);
    assert_int_equal(about(f, GMC_CTL_CANCEL, channel), GMC_OK);
    assert_string_equal(f->reply.channel, channel);
    assert_int_equal(about(f, GMC_CTL_STATUS, channel), GMC_OK);
    assert_int_equal(f->reply.transfers[0].state, GMC_CTL_TRANSFER_CANCELLED);
}

static void test_stage_is_refused_with_words(void **state)
{
    struct fixture *f = *state;
    const struct gmc_ctl_target twice[] = {{"b.example", "", NULL}, {"bee", "", NULL}};
    const char *source = "/data/x";
    struct gmc_ctl_request request = {.kind = GMC_CTL_STAGE,
                                      .sources = &source,
                                      .source_count = 1,
                                      .targets = twice,
                                      .target_count = 2};

    assert_int_equal(stage(f, "/data/x", "x.example"), GMC_ERR_NOT_FOUND);
    assert_error_says(f, "knows no domain \"x.example\": add a section peer \"x.example\"");
    assert_int_equal(stage(f, "/data/x", "a"), GMC_ERR_NOT_FOUND);
    assert_error_says(f, "if this one is meant, it is called a.example");
    assert_int_equal(stage(f, "data/x", "bee"), GMC_ERR_INVALID);
    assert_error_says(f, "\"data/x\" at a.example is not an absolute path");
    assert_int_equal(stage(f, "/data/x", "a.example"), GMC_ERR_INVALID);
    assert_error_says(f, "a target must be another domain");
    assert_int_equal(ask(f, &request), GMC_ERR_INVALID);
    assert_error_says(f, "named twice");
    request.target_count = 1;
    request.rate_bps = 999; /* which may be too little for a byte in a second */
    assert_int_equal(ask(f, &request), GMC_ERR_INVALID);
    assert_error_says(f, "1 kbit/s is the least");
    request.rate_bps = 1000;
    request.shape = "star";
    assert_int_equal(ask(f, &request), GMC_ERR_INVALID);
    assert_error_says(f, "use eco, flat, binomial, binary, chain or bulk");
    request.target_count = 0;
    assert_int_equal(ask(f, &request), GMC_ERR_INVALID);
    assert_error_says(f, "at least one");
}

static void test_channels_are_named_exactly(void **state)
{
    struct fixture *f = *state;
    char other[GMC_CTL_CHANNEL_TEXT_MAX];

    assert_int_equal(about(f, GMC_CTL_CANCEL, "12"), GMC_ERR_INVALID);
    assert_error_says(f, "at least 4");
    assert_int_equal(about(f, GMC_CTL_CANCEL, "x123"), GMC_ERR_INVALID);
    assert_int_equal(about(f, GMC_CTL_CANCEL, "0123456789abcdef0"), GMC_ERR_INVALID);
    assert_int_equal(about(f, GMC_CTL_CANCEL, "0123@x.example"), GMC_ERR_NOT_FOUND);
    assert_error_says(f, "\"x.example\"");
    assert_int_equal(about(f, GMC_CTL_CANCEL, "0123456789abcdef"), GMC_ERR_NOT_FOUND);
    assert_error_says(f, "DIGITS@DOMAIN");
    assert_int_equal(stage(f, "/data/x", "bee"), GMC_OK);
    strcpy(other, f->reply.channel);
    other[15] = other[15] == '0' ? '1' : '0';
    assert_int_equal(about(f, GMC_CTL_CANCEL, other), GMC_ERR_NOT_FOUND);
}

static void test_ambiguous_prefix(void **state)
{
    struct fixture *f = *state;
    char seen[16][5];
    int count = 0;

    /* Ids are random: with few of them no two share four digits, so look for none or a clash. */
    for (; count < 16; count++) {
        assert_int_equal(stage(f, "/data/x", "bee"), GMC_OK);
        memcpy(seen[count], f->reply.channel, 4);
        seen[count][4] = '\0';
    }
    for (int i = 0; i < count; i++) {
        int same = 0;

        for (int j = 0; j < count; j++)
            same += strcmp(seen[i], seen[j]) == 0;
        assert_int_equal(about(f, GMC_CTL_STATUS, seen[i]), same == 1 ? GMC_OK : GMC_ERR_INVALID);
    }
}

static void test_malformed_requests_get_a_reply(void **state)
{
    struct fixture *f = *state;

    gmc_ctl_handle(f->a.ctl, f->now, GMC_PEER_NONE, gmc_bytes("\xff\xff", 2), &f->answer);
    take_answer(f);
    assert_int_equal(f->reply.status, GMC_ERR_INVALID);
    assert_error_says(f, "cannot read the request");
    gmc_ctl_handle(f->a.ctl, f->now, GMC_PEER_NONE, gmc_bytes("\xfa\x01\x00", 3), &f->answer);
    take_answer(f);
    assert_int_equal(f->reply.status, GMC_ERR_TYPE);
    assert_error_says(f, "newer");
}

static void test_peers_and_counters(void **state)
{
    struct fixture *f = *state;
    bool counted = false;

    gmc_gateway_peer(f->a.gateway, "b.example");
    assert_int_equal(about(f, GMC_CTL_PEERS, ""), GMC_OK);
    assert_int_equal(f->reply.peer_count, 2);
    assert_string_equal(f->reply.peers[0].domain, "a.example");
    assert_string_equal(f->reply.peers[1].domain, "b.example");
    assert_false(f->reply.peers[1].up);
    assert_int_equal(about(f, GMC_CTL_COUNTERS, ""), GMC_OK);
    for (size_t i = 0; i < f->reply.counter_count; i++)
        counted |= strcmp(f->reply.counters[i].name, "dropped_auth") == 0;
    assert_true(counted);
    const struct gmc_ctl_counter *last = &f->reply.counters[f->reply.counter_count - 1];
    assert_string_equal(last->name, "counted_by_the_shell");
    assert_int_equal(last->value, 42);
}

static int doctor(struct fixture *f, gmc_peer origin, const char *domain)
{
    const struct gmc_ctl_target target = {domain, "", ""};
    struct gmc_ctl_request request = {.kind = GMC_CTL_DOCTOR,
                                      .targets = &target,
                                      .target_count = domain != NULL};

    return ask_from(f, origin, &request);
}

/* The shell is asked to connect to this domain. */
static bool connects(struct fixture *f, const char *domain)
{
    struct gmc_output out;
    bool found = false;

    while (gmc_gateway_next_output(f->a.gateway, &out))
        found |= out.kind == GMC_OUT_CONNECT &&
                 strcmp(gmc_gateway_peer_name(f->a.gateway, out.peer), domain) == 0;
    return found;
}

static void test_doctor(void **state)
{
    struct fixture *f = *state;
    gmc_peer b = gmc_gateway_peer(f->a.gateway, "b.example");

    assert_int_equal(doctor(f, GMC_PEER_NONE, NULL), GMC_OK);
    assert_int_equal(f->reply.finding_count, 1);
    assert_string_equal(f->reply.findings[0].subject, "here");
    assert_false(connects(f, "b.example"));
    assert_int_equal(doctor(f, GMC_PEER_NONE, "bee"), GMC_OK);
    assert_true(connects(f, "b.example"));
    /* Each time anew: an attempt may have been refused meanwhile. */
    assert_int_equal(doctor(f, GMC_PEER_NONE, "b.example"), GMC_OK);
    assert_true(connects(f, "b.example"));
    assert_int_equal(doctor(f, GMC_PEER_NONE, "nowhere"), GMC_ERR_NOT_FOUND);
    assert_error_says(f, "knows no domain \"nowhere\"");
    assert_int_equal(doctor(f, b, NULL), GMC_ERR_ACCESS);
}

static void test_what_another_domain_may_ask(void **state)
{
    struct fixture *f = *state;
    gmc_peer b = gmc_gateway_peer(f->a.gateway, "b.example");
    gmc_peer c = gmc_gateway_peer(f->a.gateway, "c.example");
    struct gmc_ctl_request request = {.kind = GMC_CTL_STATUS};
    char channel[GMC_CTL_CHANNEL_TEXT_MAX];

    assert_int_equal(stage_from(f, b, "", "/private/x", "c.example"), GMC_ERR_ACCESS);
    assert_error_says(f, "only /public is served");
    assert_int_equal(stage_from(f, c, "", "/public/x", "b.example"), GMC_ERR_ACCESS);
    assert_int_equal(stage_from(f, b, "", "/public/x", "c.example"), GMC_OK);
    strcpy(channel, f->reply.channel);
    request.channel = channel;

    /* its own: everything; a target: its status; others do not learn that it exists */
    assert_int_equal(ask_from(f, b, &request), GMC_OK);
    assert_int_equal(ask_from(f, c, &request), GMC_OK);
    assert_int_equal(ask_from(f, gmc_gateway_peer(f->a.gateway, "d.example"), &request),
                     GMC_ERR_NOT_FOUND);
    request.kind = GMC_CTL_CANCEL;
    assert_int_equal(ask_from(f, c, &request), GMC_ERR_ACCESS);
    assert_error_says(f, "is sent by a.example: it is changed there");
    assert_int_equal(ask_from(f, gmc_gateway_peer(f->a.gateway, "d.example"), &request),
                     GMC_ERR_NOT_FOUND);
    assert_int_equal(ask_from(f, b, &request), GMC_OK);

    request = (struct gmc_ctl_request){.kind = GMC_CTL_STATUS};
    assert_int_equal(ask_from(f, b, &request), GMC_ERR_ACCESS);
    request.kind = GMC_CTL_PEERS;
    assert_int_equal(ask_from(f, b, &request), GMC_ERR_ACCESS);
    /* and nobody is asked on its behalf */
    assert_int_equal(stage_from(f, b, "c.example", "/public/x", "d.example"), GMC_ERR_REFUSED);
    request = (struct gmc_ctl_request){.kind = GMC_CTL_STATUS, .channel = "0123@c.example"};
    assert_int_equal(ask_from(f, b, &request), GMC_ERR_NOT_FOUND);
}

static void test_forwarding(void **state)
{
    struct fixture *f = *state;
    char channel[GMC_CTL_CHANNEL_TEXT_MAX];
    uint64_t id;

    /* not connected: nothing was done, ask again */
    assert_int_equal(stage_from(f, GMC_PEER_NONE, "bee", "/private/x", "d.example"), GMC_ERR_AGAIN);
    assert_error_says(f, "b.example has to be asked");
    connect_b(f);

    /* b serves nothing to a: its words come back */
    stage_from(f, GMC_PEER_NONE, "bee", "/private/x", "d.example");
    assert_true(f->answer.later);
    id = f->answer.id;
    run(f);
    assert_int_equal(f->answer.id, id);
    assert_int_equal(f->reply.status, GMC_ERR_ACCESS);
    assert_string_equal(f->reply.domain, "b.example");

    /* b sends something to a by itself: a sees it, and cannot steer it */
    assert_int_equal(stage_at(f, &f->b, "/data/x", "a.example"), GMC_OK);
    strcpy(channel, f->reply.channel);
    about(f, GMC_CTL_STATUS, channel);
    assert_true(f->answer.later);
    run(f);
    assert_int_equal(f->reply.status, GMC_OK);
    assert_true(f->reply.transfers[0].is_source);
    assert_string_equal(f->reply.transfers[0].members[0].domain, "a.example");
    about(f, GMC_CTL_CANCEL, channel);
    run(f);
    assert_int_equal(f->reply.status, GMC_ERR_ACCESS);
}

static void test_requests_too_long_to_forward(void **state)
{
    static char paths[300][4001];
    const char *sources[300];
    const struct gmc_ctl_target target = {"d.example", "", NULL};
    struct gmc_ctl_request request = {.kind = GMC_CTL_STAGE,
                                      .from = "bee",
                                      .sources = sources,
                                      .source_count = 300,
                                      .targets = &target,
                                      .target_count = 1};
    struct fixture *f = *state;

    for (int i = 0; i < 300; i++) {
        memset(paths[i], 'p', 4000);
        paths[i][0] = '/';
        sources[i] = paths[i];
    }
    connect_b(f);
    assert_int_equal(ask(f, &request), GMC_ERR_LIMIT);
    assert_error_says(f, "too long to be sent to b.example");
    request.source_count = 200;
    ask(f, &request);
    assert_true(f->answer.later);
}

static void test_answers_that_are_none(void **state)
{
    struct fixture *f = *state;

    connect_b(f);
    assert_false(gmc_ctl_on_reply(f->a.ctl, f->now, 1, gmc_bytes("", 0), &f->answer));
    about(f, GMC_CTL_STATUS, "0123456789abcdef@bee");
    assert_true(f->answer.later);
    assert_true(gmc_ctl_on_reply(f->a.ctl, f->now, f->answer.id, gmc_bytes("\xff", 1), &f->answer));
    take_answer(f);
    assert_error_says(f, "b.example answered with something that is not a reply");
    /* once only */
    assert_false(gmc_ctl_on_reply(f->a.ctl, f->now, f->answer.id, gmc_bytes("", 0), &f->answer));
    /* gone before it answered */
    about(f, GMC_CTL_RESUME, "0123456789abcdef@bee");
    assert_true(f->answer.later);
    disconnect_b(f);
    assert_int_equal(f->reply.status, GMC_ERR_PEER_DOWN);
    assert_error_says(f, "was lost before it answered");
}

static void test_only_who_was_asked_answers(void **state)
{
    struct fixture *f = *state;
    struct gmc_ctl_reply forged = {.channel = "0123456789abcdef@b.example"};
    gmc_peer a = gmc_gateway_peer(f->b.gateway, "a.example");
    uint8_t *bytes;
    size_t len;

    connect_b(f);
    assert_ok(gmc_ctl_encode_reply(&forged, &bytes, &len));
    /* b answers what nobody asked, before and after a request of a's is answered */
    gmc_gateway_answer(f->b.gateway, f->now, a, 1, gmc_bytes(bytes, len));
    run(f);
    about(f, GMC_CTL_STATUS, "0123456789abcdef@bee");
    assert_int_equal(f->answer.id, 1);
    run(f);
    assert_int_equal(f->reply.status, GMC_ERR_NOT_FOUND);
    gmc_gateway_answer(f->b.gateway, f->now, a, 1, gmc_bytes(bytes, len));
    run(f);
    assert_int_equal(f->reply.status, GMC_ERR_NOT_FOUND);
    gmc_ctl_bytes_free(bytes);
}

static void test_forwarding_is_bounded(void **state)
{
    struct fixture *f = *state;
    int later = 0;

    connect_b(f);
    for (int i = 0; i < 300; i++) {
        about(f, GMC_CTL_STATUS, "0123456789abcdef@bee");
        later += f->answer.later;
    }
    assert_int_equal(later, 256);
    assert_int_equal(f->reply.status, GMC_ERR_AGAIN);
    /* who never gets an answer has gone away after two minutes */
    f->now += GMC_S(121);
    about(f, GMC_CTL_STATUS, "0123456789abcdef@bee");
    assert_true(f->answer.later);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_stage_and_status),
        TEST(test_cancel),
        TEST(test_stage_is_refused_with_words),
        TEST(test_channels_are_named_exactly),
        TEST(test_ambiguous_prefix),
        TEST(test_malformed_requests_get_a_reply),
        TEST(test_peers_and_counters),
        TEST(test_doctor),
        TEST(test_what_another_domain_may_ask),
        TEST(test_forwarding),
        TEST(test_requests_too_long_to_forward),
        TEST(test_answers_that_are_none),
        TEST(test_only_who_was_asked_answers),
        TEST(test_forwarding_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
