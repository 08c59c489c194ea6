/* SPDX-License-Identifier: BSD-2-Clause */
/* Control messages and the record: golden bytes, round trips, every bound on both sides, and what
 * hostile bytes may cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"
#include "tests/unit/control_samples.h"

static void encode(const struct gmc_msg *msg, uint8_t **out, size_t *len)
{
    assert_ok(gmc_msg_encode(msg, out, len));
}

/* ---- golden bytes ---- */

static FILE *open_vectors(void)
{
    const char *folder = getenv("GMC_SRCDIR");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/tests/vectors/control.txt", folder != NULL ? folder : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

/* The hex digits that stand behind "name " in the file. */
static void golden(const char *name, char *out, size_t size)
{
    FILE *file = open_vectors();
    size_t name_len = strlen(name);
    char line[4096];

    out[0] = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, name, name_len) == 0 && line[name_len] == ' ')
            snprintf(out, size, "%s", line + name_len + 1);
    }
    fclose(file);
}

static void check_golden(const char *name, const uint8_t *bytes, size_t len)
{
    char expected[4096], got[4096];

    assert_true(2 * len < sizeof(got));
    got[0] = 0;
    for (size_t i = 0; i < len; i++)
        snprintf(got + 2 * i, 3, "%02x", bytes[i]);
    golden(name, expected, sizeof(expected));
    if (strcmp(got, expected) != 0)
        print_message("%s %s\n", name, got);
    assert_string_equal(got, expected);
}

static void bytes_are_the_golden_ones(void **state)
{
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_int_equal(control_sample_count, GMC_MSG_DOMAIN + 7); /* seven come twice */
    for (size_t i = 0; i < control_sample_count; i++) {
        encode(&control_samples[i].msg, &bytes, &len);
        check_golden(control_samples[i].name, bytes, len);
        gmc_msg_bytes_free(bytes);
    }
    assert_ok(gmc_record_encode(&record_sample, &bytes, &len));
    check_golden("record", bytes, len);
    gmc_msg_bytes_free(bytes);
    assert_ok(gmc_member_encode(&member_sample, &bytes, &len));
    check_golden("member", bytes, len);
    gmc_msg_bytes_free(bytes);
}

/* ---- round trips ---- */

static void same_text(const char *a, const char *b)
{
    if (a != NULL)
        assert_string_equal(a, b);
}

static void same_bytes(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (a != NULL)
        assert_memory_equal(a, b, len);
    else
        assert_null(b);
}

static void same(const struct gmc_msg *a, const struct gmc_msg *b)
{
    assert_int_equal(a->type, b->type);
    same_text(a->source, b->source);
    assert_true(a->e == b->e && a->probe_id == b->probe_id);
    same_bytes(a->secret, b->secret, GMC_SECRET_BYTES);
    assert_int_equal(a->name_count, b->name_count);
    for (size_t i = 0; i < a->name_count; i++)
        assert_string_equal(a->names[i], b->names[i]);
    assert_true(gmc_bytes_equal(a->mask, b->mask));
    assert_int_equal(a->latency_count, b->latency_count);
    for (size_t i = 0; i < a->latency_count; i++) {
        assert_int_equal(a->latencies[i].participant, b->latencies[i].participant);
        assert_true(a->latencies[i].rtt_min_ns == b->latencies[i].rtt_min_ns);
        assert_true(a->latencies[i].spread_ns == b->latencies[i].spread_ns);
    }
    assert_true(a->uplink_bps == b->uplink_bps && a->downlink_bps == b->downlink_bps);
    assert_int_equal(a->rates, b->rates);
    assert_int_equal(a->nodes_payload, b->nodes_payload);
    assert_true(a->measured_bps == b->measured_bps &&
                a->measured_busy_bps == b->measured_busy_bps &&
                a->measured_limit_bps == b->measured_limit_bps);
    assert_true(gmc_bytes_equal(a->source_key, b->source_key));
    assert_true(gmc_bytes_equal(a->place.record, b->place.record));
    assert_true(gmc_bytes_equal(a->place.signature, b->place.signature));
    assert_true(gmc_bytes_equal(a->place.member, b->place.member));
    assert_int_equal(a->place.index, b->place.index);
    assert_true(gmc_bytes_equal(a->place.siblings, b->place.siblings));
    same_text(a->subnet, b->subnet);
    assert_true(a->can_relay == b->can_relay);
    assert_true(a->version == b->version && a->epoch == b->epoch);
    assert_true(a->handle == b->handle && a->window == b->window && a->more == b->more);
    assert_int_equal(a->stripe, b->stripe);
    assert_int_equal(a->range_count, b->range_count);
    for (size_t i = 0; i < a->range_count; i++) {
        assert_true(a->ranges[i].first == b->ranges[i].first);
        assert_true(a->ranges[i].last == b->ranges[i].last);
    }
    assert_int_equal(a->status, b->status);
    same_text(a->text, b->text);
    same_text(a->redirect, b->redirect);
    assert_true(a->discard == b->discard && a->bytes == b->bytes);
    same_text(a->parent, b->parent);
    assert_int_equal(a->child_count, b->child_count);
    for (size_t i = 0; i < a->child_count; i++) {
        assert_string_equal(a->children[i].domain, b->children[i].domain);
        assert_true(a->children[i].repairs == b->children[i].repairs);
        assert_int_equal(a->children[i].stripe, b->children[i].stripe);
        assert_int_equal(a->children[i].loss_ppm, b->children[i].loss_ppm);
        assert_true(a->children[i].path_bps == b->children[i].path_bps);
    }
    same_bytes(a->digest, b->digest, GMC_DIGEST_BYTES);
    assert_true(a->group == b->group && a->next == b->next);
    assert_true(a->received == b->received && a->next == b->next);
    assert_int_equal(a->need_count, b->need_count);
    for (size_t i = 0; i < a->need_count; i++) {
        assert_int_equal(a->needs[i].window, b->needs[i].window);
        assert_int_equal(a->needs[i].seen, b->needs[i].seen);
        assert_int_equal(a->needs[i].need, b->needs[i].need);
        assert_true(gmc_bytes_equal(a->needs[i].missing, b->needs[i].missing));
    }
    assert_int_equal(a->neighbour_count, b->neighbour_count);
    for (size_t i = 0; i < a->neighbour_count; i++) {
        const struct gmc_msg_neighbour *x = &a->neighbours[i], *y = &b->neighbours[i];
        assert_string_equal(x->name, y->name);
        assert_true(x->is_parent == y->is_parent && gmc_bytes_equal(x->address, y->address));
        assert_true(x->by_group == y->by_group);
        assert_true(x->send_id == y->send_id && x->receive_id == y->receive_id);
        assert_memory_equal(x->send_key, y->send_key, GMC_SECRET_BYTES);
        assert_memory_equal(x->receive_key, y->receive_key, GMC_SECRET_BYTES);
    }
    assert_true(a->request_id == b->request_id);
    assert_true(gmc_bytes_equal(a->payload, b->payload));
}

static void check_round_trip(const struct gmc_msg *msg)
{
    struct gmc_msg_holder *holder;
    struct gmc_msg decoded;
    uint8_t *bytes;
    size_t len;

    encode(msg, &bytes, &len);
    assert_ok(gmc_msg_decode(gmc_bytes(bytes, len), &decoded, &holder));
    gmc_msg_bytes_free(bytes);
    same(msg, &decoded);
    gmc_msg_release(holder);
}

static void each_message_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < control_sample_count; i++)
        check_round_trip(&control_samples[i].msg);
}

/* The least that each type needs: what is left out comes back empty, not NULL. */
static void empty_fields_come_back_empty(void **state)
{
    struct gmc_msg leave = {.type = GMC_MSG_LEAVE, .source = "s"};
    struct gmc_msg redirect = {.type = GMC_MSG_REDIRECT, .source = "s"};
    struct gmc_msg progress = {.type = GMC_MSG_STATUS, .source = "s"};
    struct gmc_msg join = {.type = GMC_MSG_JOIN};
    struct gmc_msg have = {.type = GMC_MSG_HAVE, .source = "s"};
    struct gmc_msg attached = {.type = GMC_MSG_ATTACHED, .source = "s"};
    struct gmc_msg request = {.type = GMC_MSG_REQUEST};
    struct gmc_msg_holder *holder;
    struct gmc_msg decoded;
    uint8_t *bytes;
    size_t len;

    (void)state;
    check_round_trip(&leave);
    check_round_trip(&progress);
    check_round_trip(&join);
    check_round_trip(&have);
    check_round_trip(&attached);
    check_round_trip(&request);
    encode(&redirect, &bytes, &len);
    assert_ok(gmc_msg_decode(gmc_bytes(bytes, len), &decoded, &holder));
    assert_string_equal(decoded.text, "");
    assert_string_equal(decoded.redirect, "");
    assert_int_equal(decoded.status, GMC_OK);
    gmc_msg_release(holder);
    gmc_msg_bytes_free(bytes);
}

static void many_ranges_take_little_room(void **state)
{
    static struct gmc_msg_range ranges[GMC_RANGES_MAX + 1];
    struct gmc_msg msg = {.type = GMC_MSG_HAVE, .source = "cern.example", .e = 1, .ranges = ranges};
    uint8_t *bytes;
    size_t len;

    (void)state;
    for (size_t i = 0; i <= GMC_RANGES_MAX; i++)
        ranges[i] = (struct gmc_msg_range){1000000 + 50 * i, 1000000 + 50 * i + 40};
    msg.range_count = GMC_RANGES_MAX;
    check_round_trip(&msg);
    encode(&msg, &bytes, &len);
    assert_true(len < 2 * GMC_RANGES_MAX + 40);
    gmc_msg_bytes_free(bytes);
    msg.range_count++;
    assert_int_equal(gmc_msg_encode(&msg, &bytes, &len), GMC_ERR_INVALID);
}

static void reasons_are_cut_and_cleaned(void **state)
{
    char text[GMC_TEXT_MAX + 100];
    struct gmc_msg msg = {.type = GMC_MSG_CLOSE, .source = "s", .text = text};
    struct gmc_msg_holder *holder;
    struct gmc_msg decoded;
    uint8_t *bytes;
    size_t len;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    memcpy(text, "a\nb\033[2J\177\xc3\xa9", 10);
    encode(&msg, &bytes, &len);
    assert_ok(gmc_msg_decode(gmc_bytes(bytes, len), &decoded, &holder));
    assert_int_equal(strlen(decoded.text), GMC_TEXT_MAX);
    assert_memory_equal(decoded.text, "a?b?[2J?\xc3\xa9x", 11);
    gmc_msg_release(holder);
    gmc_msg_bytes_free(bytes);
}

/* ---- refusals ---- */

static void refuse_to_encode(struct gmc_msg msg)
{
    uint8_t *bytes;
    size_t len;

    assert_int_equal(gmc_msg_encode(&msg, &bytes, &len), GMC_ERR_INVALID);
}

static void bounds_hold_when_sending(void **state)
{
    static const uint8_t secret[32];
    const char *names[] = {"a.example", ""};
    char long_name[GMC_NAME_MAX + 2];
    struct gmc_msg_range bad[][2] = {{{5, 4}, {6, 6}},
                                     {{5, 6}, {6, 7}},
                                     {{5, 6}, {1, 2}},
                                     {{5, 6}, {7, 1ull << 32}}};
    struct gmc_msg_latency row = {.participant = GMC_MEMBERS_MAX};
    struct gmc_msg_child child = {.domain = "two words"};
    const char *const parents[GMC_STRIPES_MAX] = {"", "", "", "", "", "", "", ""};

    (void)state;
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    refuse_to_encode((struct gmc_msg){.type = (enum gmc_msg_type)0, .source = "s"});
    refuse_to_encode(
        (struct gmc_msg){.type = (enum gmc_msg_type)(GMC_MSG_DOMAIN + 1), .source = "s"});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_DOMAIN, .nodes_payload = 1199});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_TREE_READY});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_TREE_READY, .source = ""});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_TREE_READY, .source = "a b"});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_TREE_READY, .source = "a\x80"});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_TREE_READY, .source = long_name});
    refuse_to_encode(
        (struct gmc_msg){.type = GMC_MSG_TREE_READY, .source = "s", .subnet = long_name});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_TREE_READY, .source = "s", .subnet = "a b"});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_LEAVE, .source = "s", .status = 1});
    refuse_to_encode(
        (struct gmc_msg){.type = GMC_MSG_PROBE, .names = names, .name_count = 1}); /* no key */
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_PROBE, .secret = secret});
    refuse_to_encode(
        (struct gmc_msg){.type = GMC_MSG_PROBE, .secret = secret, .names = names, .name_count = 2});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_PROBE,
                                      .secret = secret,
                                      .names = names,
                                      .name_count = 1,
                                      .mask = {secret, 2}});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_JOIN, .latencies = &row, .latency_count = 1});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_CHANNEL, .source = "s", .secret = secret});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_ATTACH, .source = "s", .handle = 0});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_ATTACH, .source = "s", .handle = 65536});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_COMPLETE, .source = "s"});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_STATUS, .source = "s", .parent = long_name});
    refuse_to_encode((struct gmc_msg){
        .type = GMC_MSG_STATUS, .source = "s", .children = &child, .child_count = 1});
    child = (struct gmc_msg_child){.domain = "b", .stripe = GMC_STRIPES_MAX};
    refuse_to_encode((struct gmc_msg){
        .type = GMC_MSG_STATUS, .source = "s", .children = &child, .child_count = 1});
    child = (struct gmc_msg_child){.domain = "b", .loss_ppm = 1000000};
    refuse_to_encode((struct gmc_msg){
        .type = GMC_MSG_STATUS, .source = "s", .children = &child, .child_count = 1});
    refuse_to_encode((struct gmc_msg){
        .type = GMC_MSG_STATUS, .source = "s", .names = parents, .name_count = GMC_STRIPES_MAX});
    refuse_to_encode((struct gmc_msg){
        .type = GMC_MSG_ATTACH, .source = "s", .handle = 1, .stripe = GMC_STRIPES_MAX});
    refuse_to_encode(
        (struct gmc_msg){.type = GMC_MSG_DETACH, .source = "s", .stripe = GMC_STRIPES_MAX});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_GROUP, .source = "s"}); /* no key */
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_GROUP,
                                      .source = "s",
                                      .secret = secret,
                                      .payload = {secret, GMC_GROUP_ADDRESS_MAX + 1}});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_GROUP_REPORT, .source = "s", .received = 1});
    struct gmc_msg_need bad_needs[] = {{1, 0, 0, {NULL, 0}},
                                       {1, 65536, 1, {NULL, 0}},
                                       {1, 0, GMC_GROUP_SOURCES_MAX + 1, {NULL, 0}},
                                       {1, 0, 1, {secret, 25}}};
    for (size_t i = 0; i < sizeof(bad_needs) / sizeof(bad_needs[0]); i++)
        refuse_to_encode((struct gmc_msg){
            .type = GMC_MSG_GROUP_REPORT, .source = "s", .needs = &bad_needs[i], .need_count = 1});
    const struct gmc_msg_neighbour good = {"n", true, {secret, 6}, 1, 2, secret, secret, false};
    struct gmc_msg_neighbour wrong[] = {good, good, good, good, good, good, good};
    wrong[0].name = "";
    wrong[1].address.len = 0;
    wrong[2].address.len = GMC_ADDRESS_MAX + 1;
    wrong[3].send_id = 0;
    wrong[4].receive_id = 0;
    wrong[5].send_key = NULL;
    wrong[6].receive_key = NULL;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refuse_to_encode((struct gmc_msg){
            .type = GMC_MSG_TREE, .source = "s", .neighbours = &wrong[i], .neighbour_count = 1});
    const struct gmc_msg_neighbour two_parents[] = {good, good};
    refuse_to_encode((struct gmc_msg){
        .type = GMC_MSG_TREE, .source = "s", .neighbours = two_parents, .neighbour_count = 2});
    refuse_to_encode((struct gmc_msg){.type = GMC_MSG_TREE,
                                      .source = "s",
                                      .neighbours = two_parents,
                                      .neighbour_count = GMC_NEIGHBOURS_MAX + 1});
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refuse_to_encode((struct gmc_msg){
            .type = GMC_MSG_WANT, .source = "s", .ranges = bad[i], .range_count = 2});
}

static void expect_decode(const char *bytes, size_t len, gmc_status expected)
{
    struct gmc_msg_holder *holder = NULL;
    struct gmc_msg msg;

    assert_int_equal(gmc_msg_decode(gmc_bytes(bytes, len), &msg, &holder), expected);
    assert_null(holder);
}

#define EXPECT(bytes, status) expect_decode(bytes, sizeof(bytes) - 1, status)

static void malformed_bytes_are_refused(void **state)
{
    (void)state;
    EXPECT("", GMC_ERR_INVALID);
    EXPECT("\x00", GMC_ERR_INVALID);
    EXPECT("\xff", GMC_ERR_INVALID);
    /* A body of number 22, and a varint field 99: newer peers. */
    EXPECT("\xb2\x01\x02\x08\x01", GMC_ERR_TYPE);
    EXPECT("\x98\x06\x05", GMC_ERR_TYPE);
    /* The probe's field with another wire type than a message's: protobuf-c takes it as unknown. */
    EXPECT("\x08\x01", GMC_ERR_INVALID);
    EXPECT("\x0a\x05", GMC_ERR_INVALID);                     /* ends too early */
    EXPECT("\x22\x00", GMC_ERR_INVALID);                     /* TREE_READY without a source */
    EXPECT("\x22\x05\x0a\x03\x61\x20\x62", GMC_ERR_INVALID); /* source "a b" */
    /* LEAVE of "s" with a status above 65535. */
    EXPECT("\x2a\x07\x0a\x01s\x18\x80\x80\x04", GMC_ERR_INVALID);
    EXPECT("\x2a\x09\x0a\x01s\x18\xff\xff\xff\xff\x0f", GMC_ERR_INVALID);
    /* WANT of "s": an odd number of gaps; a range that passes 2^32; two that do together. */
    EXPECT("\x5a\x06\x0a\x01s\x1a\x01\x05", GMC_ERR_INVALID);
    EXPECT("\x5a\x0b\x0a\x01s\x1a\x06\x80\x80\x80\x80\x10\x00", GMC_ERR_INVALID);
    EXPECT("\x5a\x0f\x0a\x01s\x1a\x0a\xff\xff\xff\xff\x0f\x00\x00\x00\x00\x00", GMC_ERR_INVALID);
    /* COMPLETE with a digest of 3 bytes. */
    EXPECT("\x6a\x08\x0a\x01s\x22\x03"
           "abc",
           GMC_ERR_INVALID);
    /* ATTACH without a handle. */
    EXPECT("\x32\x03\x0a\x01s", GMC_ERR_INVALID);
}

static void each_cut_message_is_refused_or_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < control_sample_count; i++) {
        uint8_t *bytes;
        size_t len;

        encode(&control_samples[i].msg, &bytes, &len);
        for (size_t cut = 0; cut < len; cut++) {
            struct gmc_msg_holder *holder;
            struct gmc_msg msg;
            uint8_t *copy = malloc(cut + 1); /* its end is guarded by the sanitizer */

            assert_non_null(copy);
            memcpy(copy, bytes, cut);
            assert_int_not_equal(gmc_msg_decode(gmc_bytes(copy, cut), &msg, &holder), GMC_OK);
            free(copy);
        }
        gmc_msg_bytes_free(bytes);
    }
}

/* Messages of two-byte fields, as many as fit: each would unpack to dozens of bytes. */
static void small_fields_cannot_take_much_memory(void **state)
{
    static const uint8_t heads[] = {0x1a /* PROBE participants */, 0x12 /* JOIN latencies */};
    size_t len = GMC_MSG_BYTES_MAX;
    uint8_t *bytes = calloc(1, len + 1);

    (void)state;
    assert_non_null(bytes);
    for (size_t kind = 0; kind < 2; kind++) {
        size_t body = len - 5;

        bytes[0] = kind == 0 ? 0x0a : 0x12;
        bytes[1] = (uint8_t)(body & 0x7f) | 0x80;
        bytes[2] = (uint8_t)(body >> 7 & 0x7f) | 0x80;
        bytes[3] = (uint8_t)(body >> 14 & 0x7f);
        for (size_t i = 4; i + 1 < len; i += 2) {
            bytes[i] = heads[kind];
            bytes[i + 1] = 0;
        }
        expect_decode((const char *)bytes, 4 + body, GMC_ERR_INVALID);
    }
    expect_decode((const char *)bytes, len + 1, GMC_ERR_INVALID);
    free(bytes);
}

static void a_participant_is_listed_once(void **state)
{
    static const uint8_t secret[32];
    const char *names[] = {"b.example", "a.example", "c.example", "a.example"};
    struct gmc_msg msg = {.type = GMC_MSG_PROBE, .secret = secret, .names = names, .name_count = 4};
    uint8_t *bytes;
    size_t len;

    (void)state;
    encode(&msg, &bytes, &len);
    expect_decode((const char *)bytes, len, GMC_ERR_INVALID);
    gmc_msg_bytes_free(bytes);
    msg.name_count = 3;
    check_round_trip(&msg);
}

static void participants_may_have_numbers(void **state)
{
    static const uint8_t secret[32];
    const char *names[] = {"s.example", "b.example", "c.example"};
    static const uint32_t good[] = {0, 7, 299};
    static const uint32_t bad[][3] = {{1, 7, 299}, {0, 7, 7}, {0, 9, 8}, {0, 7, 300}};
    struct gmc_msg msg = {.type = GMC_MSG_PROBE,
                          .secret = secret,
                          .names = names,
                          .name_count = 3,
                          .numbers = good,
                          .total = 300};
    struct gmc_msg_holder *holder = NULL;
    struct gmc_msg got;
    uint8_t *bytes;
    size_t len;

    (void)state;
    encode(&msg, &bytes, &len);
    assert_int_equal(gmc_msg_decode(gmc_bytes(bytes, len), &got, &holder), GMC_OK);
    assert_int_equal(got.total, 300);
    assert_non_null(got.numbers);
    assert_memory_equal(got.numbers, good, sizeof(good));
    gmc_msg_release(holder);
    gmc_msg_bytes_free(bytes);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        msg.numbers = bad[i];
        refuse_to_encode(msg);
    }
    msg.numbers = good;
    msg.total = 0;
    refuse_to_encode(msg);
    msg.total = GMC_MEMBERS_MAX + 1;
    refuse_to_encode(msg);
    msg.numbers = NULL;
    msg.total = 300;
    refuse_to_encode(msg);
}

/* ---- the record and its members ---- */

static void record_comes_back(void **state)
{
    struct gmc_record_holder *holder;
    struct gmc_record got;
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_ok(gmc_record_encode(&record_sample, &bytes, &len));
    assert_ok(gmc_record_decode(gmc_bytes(bytes, len), &got, &holder));
    gmc_msg_bytes_free(bytes);
    assert_string_equal(got.source, record_sample.source);
    assert_true(got.e == record_sample.e);
    assert_int_equal(got.version, 3);
    assert_int_equal(got.epoch, 2);
    assert_memory_equal(got.key_hash, record_sample.key_hash, 32);
    assert_true(got.listing_bytes == 4711 && got.total_bytes == 1u << 30);
    assert_true(got.block_bytes == 65536 && got.fragment_bytes == 1431);
    assert_true(got.rate_bps == 10000000000 && got.shape == 1);
    assert_true(got.planned_bps == 123456789);
    assert_int_equal(got.members, 1000);
    assert_memory_equal(got.root, record_sample.root, 32);
    assert_int_equal(got.stripes, 3);
    gmc_record_release(holder);
}

static void a_record_says_that_it_is_in_the_background(void **state)
{
    (void)state;
    struct gmc_record record = record_sample, got;
    struct gmc_record_holder *holder;
    uint8_t *bytes;
    size_t len;

    record.background = true;
    record.name = "news";
    record.order = 2;
    record.proof_key_len = GMC_PROOF_KEY_MAX;
    memset(record.proof_key, 0x5a, sizeof(record.proof_key));
    assert_ok(gmc_record_encode(&record, &bytes, &len));
    assert_ok(gmc_record_decode(gmc_bytes(bytes, len), &got, &holder));
    gmc_msg_bytes_free(bytes);
    assert_true(got.background && !record_sample.background);
    assert_string_equal(got.name, "news");
    assert_int_equal(got.order, 2);
    assert_int_equal(got.proof_key_len, GMC_PROOF_KEY_MAX);
    assert_memory_equal(got.proof_key, record.proof_key, GMC_PROOF_KEY_MAX);
    gmc_record_release(holder);
}

static void bad_records_are_refused(void **state)
{
    struct gmc_record record = record_sample;
    uint8_t *bytes;
    size_t len;

    (void)state;
    record.stripes = GMC_STRIPES_MAX + 1;
    assert_int_equal(gmc_record_encode(&record, &bytes, &len), GMC_ERR_INVALID);
    record.stripes = GMC_STRIPES_MAX;
    record.members = GMC_MEMBERS_MAX;
    assert_int_equal(gmc_record_encode(&record, &bytes, &len), GMC_ERR_INVALID);
    record.members = GMC_MEMBERS_MAX - 1;
    assert_ok(gmc_record_encode(&record, &bytes, &len));
    gmc_msg_bytes_free(bytes);
    record.name = "news/today";
    assert_int_equal(gmc_record_encode(&record, &bytes, &len), GMC_ERR_INVALID);
    record.name = NULL;
    record.source = "two words";
    assert_int_equal(gmc_record_encode(&record, &bytes, &len), GMC_ERR_INVALID);
    record.source = record_sample.source;
    record.proof_key_len = GMC_PROOF_KEY_MAX + 1;
    assert_int_equal(gmc_record_encode(&record, &bytes, &len), GMC_ERR_INVALID);
}

static void member_comes_back(void **state)
{
    struct gmc_record_holder *holder;
    struct gmc_member got;
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_ok(gmc_member_encode(&member_sample, &bytes, &len));
    assert_ok(gmc_member_decode(gmc_bytes(bytes, len), &got, &holder));
    gmc_msg_bytes_free(bytes);
    assert_string_equal(got.domain, member_sample.domain);
    assert_string_equal(got.path, member_sample.path);
    assert_true(got.is_relay);
    assert_int_equal(got.stripes, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(got.trees[k].count, member_sample.trees[k].count);
        for (size_t i = 0; i < got.trees[k].count; i++)
            assert_string_equal(got.trees[k].domains[i], member_sample.trees[k].domains[i]);
    }
    gmc_record_release(holder);
}

static void refuse_member(const struct gmc_member *member)
{
    uint8_t *bytes;
    size_t len;

    assert_int_equal(gmc_member_encode(member, &bytes, &len), GMC_ERR_INVALID);
}

static void bad_members_are_refused(void **state)
{
    static const char *const itself[] = {"ufl.example", "ornl.example"};
    static const char *const twice[] = {"a.example", "b.example", "a.example"};
    static const char *const nobody[] = {"a.example", ""};
    struct gmc_member member = member_sample;
    char path[GMC_RECORD_PATH_MAX + 2];

    (void)state;
    member.domain = "";
    refuse_member(&member);
    member = member_sample;
    member.stripes = 0;
    refuse_member(&member);
    member.stripes = GMC_STRIPES_MAX + 1;
    refuse_member(&member);
    member = member_sample;
    member.trees[1] = (struct gmc_ancestors){itself, 2};
    refuse_member(&member);
    member.trees[1] = (struct gmc_ancestors){twice, 3};
    refuse_member(&member);
    member.trees[1] = (struct gmc_ancestors){nobody, 2};
    refuse_member(&member);
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = 0;
    member = member_sample;
    member.path = path;
    refuse_member(&member);
}

/* As deep as a way up may be, and one more. */
static void ancestors_are_bounded(void **state)
{
    static char names[GMC_ANCESTORS_MAX + 1][32];
    const char *domains[GMC_ANCESTORS_MAX + 1];
    struct gmc_member member = {.domain = "m.example", .stripes = GMC_STRIPES_MAX}, got;
    struct gmc_record_holder *holder;
    uint8_t *bytes;
    size_t len;

    (void)state;
    for (size_t i = 0; i <= GMC_ANCESTORS_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "gateway-%zu.site.example", i);
        domains[i] = names[i];
    }
    for (size_t k = 0; k < GMC_STRIPES_MAX; k++)
        member.trees[k] = (struct gmc_ancestors){domains, GMC_ANCESTORS_MAX};
    assert_ok(gmc_member_encode(&member, &bytes, &len));
    assert_ok(gmc_member_decode(gmc_bytes(bytes, len), &got, &holder));
    assert_int_equal(got.trees[7].count, GMC_ANCESTORS_MAX);
    assert_string_equal(got.trees[7].domains[62], names[62]);
    assert_string_equal(got.path, "");
    gmc_record_release(holder);
    gmc_msg_bytes_free(bytes);
    member.trees[7].count++;
    refuse_member(&member);
}

static void malformed_records_are_refused(void **state)
{
    struct gmc_record_holder *holder = NULL;
    struct gmc_record record, unplanned = record_sample;
    struct gmc_member member;
    uint8_t *bytes, *nul;
    size_t len;

    (void)state;
    assert_int_equal(gmc_record_decode(gmc_bytes("", 0), &record, &holder), GMC_ERR_INVALID);
    unplanned.planned_bps = 0;
    assert_ok(gmc_record_encode(&unplanned, &bytes, &len));
    /* The root stands last. */
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(gmc_record_decode(gmc_bytes(bytes, cut), &record, &holder),
                         GMC_ERR_INVALID);
    gmc_msg_bytes_free(bytes);
    assert_int_equal(gmc_member_decode(gmc_bytes("", 0), &member, &holder), GMC_ERR_INVALID);
    assert_ok(gmc_member_encode(&member_sample, &bytes, &len));
    /* A NUL inside a path. */
    nul = memchr(bytes, 0xff, len);
    assert_non_null(nul);
    *nul = 0;
    assert_int_equal(gmc_member_decode(gmc_bytes(bytes, len), &member, &holder), GMC_ERR_INVALID);
    gmc_msg_bytes_free(bytes);
}

/* What proves a place has bounds of its own, and is all there or not at all. */
static void places_are_bounded(void **state)
{
    static const uint8_t hashes[(GMC_PROOF_HASHES_MAX + 1) * 32];
    struct gmc_msg msg = {.type = GMC_MSG_ATTACH, .source = "s.example", .handle = 1};
    uint8_t *bytes;
    size_t len;

    (void)state;
    assert_ok(gmc_msg_encode(&msg, &bytes, &len)); /* none: the source looks it up */
    gmc_msg_bytes_free(bytes);
    msg.place = (struct gmc_place){.record = gmc_bytes(hashes, 9),
                                   .signature = gmc_bytes(hashes, 9),
                                   .member = gmc_bytes(hashes, 9),
                                   .index = GMC_MEMBERS_MAX - 1,
                                   .siblings = gmc_bytes(hashes, GMC_PROOF_HASHES_MAX * 32)};
    assert_ok(gmc_msg_encode(&msg, &bytes, &len));
    gmc_msg_bytes_free(bytes);
    msg.place.siblings.len++;
    refuse_to_encode(msg);
    msg.place.siblings.len += 31;
    refuse_to_encode(msg);
    msg.place.siblings.len = 0;
    msg.place.index++;
    refuse_to_encode(msg);
    msg.place.index = 0;
    msg.place.signature.len = 0;
    refuse_to_encode(msg);
    msg.place.signature.len = 1;
    msg.place.member.len = 0;
    refuse_to_encode(msg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_says_that_it_is_in_the_background),
        cmocka_unit_test(bytes_are_the_golden_ones),
        cmocka_unit_test(each_message_comes_back),
        cmocka_unit_test(empty_fields_come_back_empty),
        cmocka_unit_test(many_ranges_take_little_room),
        cmocka_unit_test(reasons_are_cut_and_cleaned),
        cmocka_unit_test(bounds_hold_when_sending),
        cmocka_unit_test(malformed_bytes_are_refused),
        cmocka_unit_test(each_cut_message_is_refused_or_valid),
        cmocka_unit_test(small_fields_cannot_take_much_memory),
        cmocka_unit_test(a_participant_is_listed_once),
        cmocka_unit_test(participants_may_have_numbers),
        cmocka_unit_test(record_comes_back),
        cmocka_unit_test(bad_records_are_refused),
        cmocka_unit_test(malformed_records_are_refused),
        cmocka_unit_test(member_comes_back),
        cmocka_unit_test(bad_members_are_refused),
        cmocka_unit_test(ancestors_are_bounded),
        cmocka_unit_test(places_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
