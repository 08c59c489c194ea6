/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/message_rx and wire/message: packets in some order, and the messages that come out. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "core/message_rx.h"

/* Packet numbers are letters: what a packet is stands in `plan`, "ab" a message of two packets, the
 * next one begins behind a space; "." at the end is the channel's end. "#" and "$" are proofs, of
 * all packets since the one before. */
static struct gmc_message_rx rx;
static char came[256];
static bool is_own; /* what is given is the source's own word */

/* Tells letters apart. */
static void hash(const uint8_t *data, size_t len, uint8_t out[32])
{
    memset(out, 0, 32);
    out[0] = (uint8_t)len;
    out[15] = data[len - 1];
    out[16] = 0xff; /* behind what proofs have */
}

static void take(void)
{
    struct gmc_message message;
    while (gmc_message_rx_next(&rx, &message)) {
        size_t used = strlen(came);
        snprintf(came + used, sizeof(came) - used, "%s%d:%.*s%s", used > 0 ? " " : "",
                 (int)message.sequence, (int)message.body.len, (const char *)message.body.data,
                 message.end ? "." : "");
    }
}

static bool is_packet(char letter)
{
    return letter >= 'a' || letter == '#' || letter == '$';
}

static uint64_t number_of(const char *plan, const char *at)
{
    uint64_t number = 0;
    for (const char *p = plan; p < at; p++)
        number += is_packet(*p);
    return number;
}

static gmc_status give_proof(const char *plan, const char *at, uint8_t *room)
{
    uint8_t hashes[16 * GMC_PROOF_HASH_BYTES] = {0};
    struct gmc_proof proof = {.signature = gmc_bytes((const uint8_t *)"signed", 6)}, got;
    const char *from = at;
    while (from > plan && from[-1] != '#' && from[-1] != '$')
        from--;
    for (const char *p = from; p < at; p++)
        if (is_packet(*p)) {
            uint8_t packet[GMC_MESSAGE_HEAD_BYTES + 1] = {0}, whole[32];
            packet[GMC_MESSAGE_HEAD_BYTES] = (uint8_t)*p;
            hash(packet, sizeof(packet), whole);
            memcpy(hashes + proof.count++ * GMC_PROOF_HASH_BYTES, whole, GMC_PROOF_HASH_BYTES);
        }
    proof.first = number_of(plan, from);
    proof.hashes = gmc_bytes(hashes, proof.count * GMC_PROOF_HASH_BYTES);
    uint64_t number = number_of(plan, at);
    size_t len = gmc_proof_put(room, &proof);
    assert_ok(gmc_proof_get(gmc_bytes(room, len), number, &got));
    assert_true(got.first == proof.first && got.count == proof.count);
    gmc_message_rx_pass(&rx, number);
    gmc_status status = gmc_message_rx_prove(&rx, &got);
    if (status == GMC_ERR_AUTH)
        gmc_message_rx_drop_unproven(&rx);
    take();
    return status;
}

/* The packet of this letter in the plan; of a capital letter, another one in its place. */
static gmc_status give(const char *plan, char letter)
{
    struct gmc_message_head head = {0};
    uint8_t *room;
    const char *at = strchr(plan, letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
    uint64_t number = number_of(plan, at);
    for (const char *p = plan; p < at; p++)
        head.sequence += *p == ' ';
    head.first = at == plan || at[-1] == ' ';
    head.last = at[1] < 'a';
    head.end = at[1] == '.';
    gmc_status status = gmc_message_rx_room(&rx, number, &room);
    if (status != GMC_OK)
        return status;
    if (*at < 'a')
        return give_proof(plan, at, room);
    gmc_message_head_put(room, &head);
    room[GMC_MESSAGE_HEAD_BYTES] = (uint8_t)letter;
    status = gmc_message_rx_put(&rx, number, GMC_MESSAGE_HEAD_BYTES + 1, is_own);
    take();
    return status;
}

struct row {
    enum gmc_message_order order;
    const char *plan;
    const char *packets; /* in the order of their coming; a digit: skip to that number; '!': rest */
    const char *expected;
};

static const struct row rows[] = {
    {GMC_MESSAGES_ORDERED, "a b c", "abc", "0:a 1:b 2:c"},
    {GMC_MESSAGES_ORDERED, "a b c", "cab", "0:a 1:b 2:c"},
    {GMC_MESSAGES_ORDERED, "abc de f", "fedcba", "0:abc 1:de 2:f"},
    {GMC_MESSAGES_ORDERED, "abc de f.", "abcdef", "0:abc 1:de 2:f."},
    {GMC_MESSAGES_ORDERED, "abc de f", "ac3def", "1:de 2:f"}, /* b is lost */
    {GMC_MESSAGES_ORDERED, "a b c", "ac2", "0:a 2:c"},
    {GMC_MESSAGES_ORDERED, "ab cd ef", "bcdf4e", "1:cd 2:ef"}, /* without its beginning */
    {GMC_MESSAGES_ORDERED, "ab cd ef", "a6", ""},
    {GMC_MESSAGES_ORDERED, "ab cd ef", "abab", "0:ab"}, /* twice */
    {GMC_MESSAGES_UNORDERED, "a b c", "cab", "2:c 0:a 1:b"},
    {GMC_MESSAGES_UNORDERED, "abc de f", "fedcba", "2:f 1:de 0:abc"},
    {GMC_MESSAGES_UNORDERED, "a b c.", "cab", "0:a 1:b 2:c."}, /* the end is last */
    {GMC_MESSAGES_UNORDERED, "a b c.", "ca2", "0:a 2:c."},
    {GMC_MESSAGES_UNORDERED, "abc d.", "2cd", "1:d."}, /* c's message began below */
    {GMC_MESSAGES_UNORDERED, "abc d.", "cd2", "1:d."},
    {GMC_MESSAGES_UNORDERED, "abc d.", "d1bc", "1:d."},
    {GMC_MESSAGES_UNORDERED, "a b c", "aabb", "0:a 1:b"},
    {GMC_MESSAGES_LATEST, "a b c", "bac", "1:b 2:c"},
    {GMC_MESSAGES_LATEST, "ab cd e", "acebd", "2:e"},
    {GMC_MESSAGES_LATEST, "ab cd e.", "dceab", "1:cd 2:e."},
    {GMC_MESSAGES_LATEST, "abc d.", "2cd", "1:d."},
    {GMC_MESSAGES_ORDERED, "a b c d", "acd!abcd", "0:a 1:b 2:c 3:d"},
    {GMC_MESSAGES_UNORDERED, "a b c d", "ac!abcd", "0:a 2:c 1:b 3:d"},
    {GMC_MESSAGES_UNORDERED, "abc d e", "acd!eabcd", "1:d 2:e 0:abc"},
    {GMC_MESSAGES_LATEST, "a b c", "b!abc", "1:b 2:c"},
};

/* From somebody else than the source. */
static const struct row relayed[] = {
    {GMC_MESSAGES_ORDERED, "a b# c d$", "ab", ""},
    {GMC_MESSAGES_ORDERED, "a b# c d$", "ab#cd$", "0:a 1:b 2:c 3:d"},
    {GMC_MESSAGES_ORDERED, "a b# c d$", "ac$d#b", "0:a 1:b 2:c 3:d"},
    {GMC_MESSAGES_ORDERED, "abc# d$", "cb#a$d", "0:abc 1:d"},
    {GMC_MESSAGES_ORDERED, "a b# c d$", "Ab#", ""},
    {GMC_MESSAGES_ORDERED, "a b# c d$", "Ab#a", "0:a 1:b"}, /* wanted again */
    {GMC_MESSAGES_ORDERED, "a b# c d$", "#Aab", "0:a 1:b"},
    {GMC_MESSAGES_ORDERED, "a b# c d.$", "abcd3$", "2:c 3:d."}, /* the first proof is lost */
    {GMC_MESSAGES_ORDERED, "a b# c d$", "a1b#", "0:a 1:b"},     /* the proof comes from above */
    {GMC_MESSAGES_ORDERED, "abc# d$", "ab2c#", "0:abc"},
    {GMC_MESSAGES_ORDERED, "a b# c d$", "a2#cd$", "2:c 3:d"}, /* might have been in the gap */
    {GMC_MESSAGES_UNORDERED, "a b# c d$", "ba#", "0:a 1:b"},
    {GMC_MESSAGES_UNORDERED, "a b# c d$", "a1b#", "0:a 1:b"},
    {GMC_MESSAGES_UNORDERED, "abc# d$", "ab2c#", "0:abc"},
    {GMC_MESSAGES_UNORDERED, "ab c# d$", "bc3#d$", "1:c 2:d"}, /* the rest of b's message is lost */
    {GMC_MESSAGES_UNORDERED, "a b# c. d$", "a1bc#$", "0:a 1:b 2:c."},
    {GMC_MESSAGES_UNORDERED, "abc d.#", "2cd#", "1:d."},
    {GMC_MESSAGES_LATEST, "a# b$", "a1#b$", "0:a 1:b"},
    {GMC_MESSAGES_UNORDERED, "a b# c d$", "dc$Ba#b", "2:c 3:d 0:a 1:b"},
    {GMC_MESSAGES_UNORDERED, "ab# c d.$", "dba$#c", "0:ab 1:c 2:d."},
    {GMC_MESSAGES_LATEST, "a# b$", "b$a#", "1:b"},
    {GMC_MESSAGES_LATEST, "ab# c.$", "ab#c$", "0:ab 1:c."},
    {GMC_MESSAGES_ORDERED, "ab# c$", "b#!ab#c$", "0:ab 1:c"},
    {GMC_MESSAGES_UNORDERED, "ab# c$", "b#!abc$", "0:ab 1:c"}, /* the proof is not wanted again */
};

static void test_rows(const struct row *row, size_t count)
{
    for (size_t i = 0; i < count; i++, row++) {
        gmc_message_rx_init(&rx, row->order, GMC_MESSAGE_PACKET_MIN, hash);
        came[0] = '\0';
        assert_int_equal(give(row->plan, row->plan[0]), GMC_ERR_FULL); /* not begun */
        gmc_message_rx_skip(&rx, 0);
        for (const char *p = row->packets; *p != '\0'; p++) {
            if (*p == '!') {
                gmc_message_rx_rest(&rx);
                continue;
            }
            if (*p < '0' || *p > '9') {
                gmc_status status = give(row->plan, *p);
                assert_true(status == GMC_OK || status == GMC_ERR_EXISTS ||
                            (status == GMC_ERR_AUTH && !is_own));
                continue;
            }
            gmc_message_rx_skip(&rx, (uint64_t)(*p - '0'));
            take();
        }
        assert_string_equal(came, row->expected);
        gmc_message_rx_fini(&rx);
    }
}

static void test_table(void **state)
{
    (void)state;
    is_own = true;
    test_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void test_relayed(void **state)
{
    (void)state;
    is_own = false;
    test_rows(relayed, sizeof(relayed) / sizeof(relayed[0]));
}

/* What waits is thrown away, as it is when the parent changes, and is wanted again. */
static void test_dropped(void **state)
{
    (void)state;
    is_own = false;
    gmc_message_rx_init(&rx, GMC_MESSAGES_ORDERED, GMC_MESSAGE_PACKET_MIN, hash);
    came[0] = '\0';
    gmc_message_rx_skip(&rx, 0);
    assert_ok(give("a b#", 'A'));
    assert_ok(give("a b#", 'b'));
    assert_int_equal(rx.unproven, 2);
    gmc_message_rx_skip(&rx, 2);
    take();
    gmc_message_rx_drop_unproven(&rx);
    assert_int_equal(rx.unproven, 0);
    take(); /* what the last parent would not send, the next one may */
    is_own = true;
    assert_ok(give("a b#", 'a'));
    assert_ok(give("a b#", 'b'));
    assert_string_equal(came, "0:a 1:b");
    gmc_message_rx_fini(&rx);
}

/* Of a message that is still coming no proof can be here. */
static void test_overdue(void **state)
{
    (void)state;
    is_own = false;
    gmc_message_rx_init(&rx, GMC_MESSAGES_ORDERED, GMC_MESSAGE_PACKET_MIN, hash);
    came[0] = '\0';
    gmc_message_rx_skip(&rx, 0);
    assert_int_equal(gmc_message_rx_overdue(&rx), UINT64_MAX);
    assert_ok(give("abc d#", 'b'));
    assert_ok(give("abc d#", 'd'));
    assert_int_equal(gmc_message_rx_overdue(&rx), UINT64_MAX);
    assert_int_equal(gmc_message_rx_next_unproven(&rx, 0), 1);
    assert_int_equal(gmc_message_rx_next_unproven(&rx, 2), 3);
    assert_int_equal(gmc_message_rx_next_unproven(&rx, 4), UINT64_MAX);
    gmc_message_rx_drop_unproven(&rx);
    assert_ok(give("ab c#", 'a')); /* never ends, */
    assert_int_equal(gmc_message_rx_overdue(&rx), UINT64_MAX);
    assert_ok(give("a b c#", 'b')); /* as the next one shows */
    assert_int_equal(gmc_message_rx_overdue(&rx), 0);
    gmc_message_rx_drop_unproven(&rx);
    assert_ok(give("abc d#", 'b'));
    assert_ok(give("abc d#", 'd'));
    assert_ok(give("abc d#", 'c'));
    assert_int_equal(gmc_message_rx_overdue(&rx), 1);
    assert_ok(give("abc d#", '#'));
    assert_int_equal(gmc_message_rx_overdue(&rx), UINT64_MAX);
    gmc_message_rx_fini(&rx);
}

static void test_window(void **state)
{
    (void)state;
    uint8_t *room;
    gmc_message_rx_init(&rx, GMC_MESSAGES_ORDERED, 65536, hash);
    assert_int_equal(rx.window, 128);
    gmc_message_rx_skip(&rx, 1000);
    assert_int_equal(gmc_message_rx_room(&rx, 999, &room), GMC_ERR_EXISTS);
    assert_ok(gmc_message_rx_room(&rx, 1127, &room));
    assert_int_equal(gmc_message_rx_room(&rx, 1128, &room), GMC_ERR_FULL);
    gmc_message_rx_fini(&rx);
}

static void test_head(void **state)
{
    (void)state;
    static const uint8_t golden[] = {3, 0, 0, 1, 2, 3, 4, 5, 6};
    uint8_t bytes[GMC_MESSAGE_HEAD_BYTES];
    struct gmc_message_head head = {.first = true, .last = true, .sequence = 0x010203040506};
    struct gmc_message_head got;
    gmc_message_head_put(bytes, &head);
    assert_memory_equal(bytes, golden, sizeof(golden));
    assert_ok(gmc_message_head_get(gmc_bytes(bytes, sizeof(bytes)), &got));
    assert_true(got.first && got.last && !got.end && got.sequence == head.sequence);
    assert_int_equal(gmc_message_head_get(gmc_bytes(bytes, 8), &got), GMC_ERR_TRUNCATED);
    bytes[0] = 8;
    assert_int_equal(gmc_message_head_get(gmc_bytes(bytes, 9), &got), GMC_ERR_INVALID);
    bytes[0] = 5; /* an end of several packets */
    assert_int_equal(gmc_message_head_get(gmc_bytes(bytes, 9), &got), GMC_ERR_INVALID);
}

static void test_proof(void **state)
{
    (void)state;
    static const uint8_t golden[] = {8, 0, 0, 0, 0, 1, 2, 3, 4, 0, 2, 0xaa, 0xbb};
    uint8_t bytes[sizeof(golden) + GMC_PROOF_HASH_BYTES], hashes[GMC_PROOF_HASH_BYTES] = {7};
    struct gmc_proof proof = {.first = 0x01020304,
                              .count = 1,
                              .signature = gmc_bytes(golden + 11, 2),
                              .hashes = gmc_bytes(hashes, sizeof(hashes))};
    struct gmc_proof got;
    assert_int_equal(gmc_proof_put(bytes, &proof), sizeof(bytes));
    assert_memory_equal(bytes, golden, sizeof(golden));
    struct gmc_bytes packet = gmc_bytes(bytes, sizeof(bytes));
    assert_ok(gmc_proof_get(packet, 0x01020305, &got));
    assert_true(got.count == 1 && gmc_bytes_equal(got.signature, proof.signature) &&
                gmc_bytes_equal(got.hashes, proof.hashes));
    assert_int_equal(gmc_proof_get(packet, 0x01020304, &got), GMC_ERR_INVALID); /* itself */
    for (size_t len = 0; len < sizeof(bytes); len++) {
        packet.len = len;
        assert_true(gmc_proof_get(packet, 0x01020305, &got) != GMC_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_relayed),
        cmocka_unit_test(test_dropped), cmocka_unit_test(test_proof),
        cmocka_unit_test(test_window),  cmocka_unit_test(test_head),
        cmocka_unit_test(test_overdue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
