/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/message_rx and wire/message: packets in some order, and the messages that come out. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "core/message_rx.h"

/* Packet numbers are letters: what a packet is stands in `plan`, "ab" a message of two packets, the
 * next one begins behind a space; "." at the end is the channel's end. */
static struct gmc_message_rx rx;
static char came[256];

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

/* The packet of this letter in the plan. */
static gmc_status give(const char *plan, char letter)
{
    struct gmc_message_head head = {.first = true};
    uint8_t *room;
    uint64_t number = 0;
    for (const char *p = plan; *p != letter; p++) {
        head.first = *p == ' ';
        head.sequence += head.first;
        number += *p >= 'a';
    }
    const char *at = strchr(plan, letter);
    head.first = at == plan || at[-1] == ' ';
    head.last = at[1] < 'a';
    head.end = at[1] == '.';
    gmc_status status = gmc_message_rx_room(&rx, number, &room);
    if (status != GMC_OK)
        return status;
    gmc_message_head_put(room, &head);
    room[GMC_MESSAGE_HEAD_BYTES] = (uint8_t)letter;
    assert_ok(gmc_message_rx_put(&rx, number, GMC_MESSAGE_HEAD_BYTES + 1));
    take();
    return GMC_OK;
}

struct row {
    enum gmc_message_order order;
    const char *plan;
    const char *packets; /* in the order of their coming; a digit: skip to that number */
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
    {GMC_MESSAGES_UNORDERED, "a b c", "aabb", "0:a 1:b"},
    {GMC_MESSAGES_LATEST, "a b c", "bac", "1:b 2:c"},
    {GMC_MESSAGES_LATEST, "ab cd e", "acebd", "2:e"},
    {GMC_MESSAGES_LATEST, "ab cd e.", "dceab", "1:cd 2:e."},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        gmc_message_rx_init(&rx, rows[i].order, GMC_MESSAGE_PACKET_MIN);
        came[0] = '\0';
        assert_int_equal(give(rows[i].plan, rows[i].plan[0]), GMC_ERR_FULL); /* not begun */
        gmc_message_rx_skip(&rx, 0);
        for (const char *p = rows[i].packets; *p != '\0'; p++) {
            if (*p >= 'a') {
                gmc_status status = give(rows[i].plan, *p);
                assert_true(status == GMC_OK || status == GMC_ERR_EXISTS);
                continue;
            }
            gmc_message_rx_skip(&rx, (uint64_t)(*p - '0'));
            take();
        }
        assert_string_equal(came, rows[i].expected);
        gmc_message_rx_fini(&rx);
    }
}

static void test_window(void **state)
{
    (void)state;
    uint8_t *room;
    gmc_message_rx_init(&rx, GMC_MESSAGES_ORDERED, 65536);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
