/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests wire/local: golden bytes of each frame, there and back, and what is refused. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "wire/local.h"

static void expect(const struct gmc_local *local, const char *hex)
{
    uint8_t bytes[256];
    char got[513] = "";
    struct gmc_local back;
    size_t len = gmc_local_put(local, bytes, sizeof(bytes));
    assert_true(len <= sizeof(bytes));
    for (size_t i = 0; i < len; i++)
        snprintf(got + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(got, hex);
    assert_ok(gmc_local_get(gmc_bytes(bytes, len), &back));
    assert_int_equal(back.kind, local->kind);
    assert_int_equal(back.number, local->number);
    assert_true(gmc_bytes_equal(back.rest, local->rest));
    /* Cut short, or with a byte too many, it is not one, but where bytes of any number end it. */
    bool open_end = local->kind == GMC_LOCAL_PUBLISH || local->kind == GMC_LOCAL_MESSAGES;
    if (!open_end && len > 1 && local->kind != GMC_LOCAL_OPEN)
        assert_int_not_equal(gmc_local_get(gmc_bytes(bytes, len - 1), &back), GMC_OK);
    bytes[len] = 'x';
    if (!open_end)
        assert_int_not_equal(gmc_local_get(gmc_bytes(bytes, len + 1), &back), GMC_OK);
}

static void test_golden(void **state)
{
    (void)state;
    expect(&(struct gmc_local){.kind = GMC_LOCAL_OPEN,
                               .order = 2,
                               .name = "news",
                               .rest = gmc_bytes("a.b\0c.d", 8)},
           "01026e65777300612e6200632e6400");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_PUBLISH, .rest = gmc_bytes("hi", 2)}, "026869");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_END, .text = "done"}, "03646f6e6500");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_SUBSCRIBE, .name = "news", .source = ""},
           "046e6577730000");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_TAKEN, .number = 258}, "050000000000000102");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_OPENED,
                               .number = 1,
                               .messages_max = 1024,
                               .bytes_max = 65536},
           "4000000000000000010000040000010000");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_REFUSED, .text = "no"}, "416e6f00");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_ACCEPTED, .number = 7}, "420000000000000007");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_OVER, .text = ""}, "4300");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_SUBSCRIBED}, "44");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_ALIVE}, "46");
    expect(&(struct gmc_local){.kind = GMC_LOCAL_WARNING, .text = "no"}, "476e6f00");
}

static void test_entries(void **state)
{
    (void)state;
    uint8_t bytes[256];
    struct gmc_local_entry entry = {
        .e = 1, .sequence = 2, .source = "s.example", .name = "news", .body = gmc_bytes("body", 4)};
    struct gmc_local_entry back;
    size_t len = gmc_local_put_entry(&entry, bytes, sizeof(bytes));
    entry.end = true;
    entry.body.len = 0;
    len += gmc_local_put_entry(&entry, bytes + len, sizeof(bytes) - len);
    struct gmc_bytes rest = gmc_bytes(bytes, len);
    assert_true(gmc_local_next_entry(&rest, &back));
    assert_true(back.e == 1 && back.sequence == 2 && !back.end);
    assert_string_equal(back.source, "s.example");
    assert_string_equal(back.name, "news");
    assert_true(gmc_bytes_equal(back.body, gmc_bytes("body", 4)));
    assert_true(gmc_local_next_entry(&rest, &back));
    assert_true(back.end && back.body.len == 0);
    assert_false(gmc_local_next_entry(&rest, &back));
    assert_int_equal(rest.len, 0);
    for (size_t cut = 1; cut < len; cut++) {
        rest = gmc_bytes(bytes, len - cut);
        while (gmc_local_next_entry(&rest, &back))
            ;
        assert_true(rest.len > 0 || len - cut == 17 + 10 + 5 + 4 + 4);
    }
}

static void test_pieces(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 0, 0, 0, 3, 'o', 'n', 'e', 0, 0, 0, 0, 0};
    uint8_t head[GMC_LOCAL_PIECE_HEAD];
    struct gmc_bytes rest = gmc_bytes(bytes, sizeof(bytes));
    struct gmc_local_piece piece;
    gmc_local_put_piece(head, true, 3);
    assert_memory_equal(head, bytes, sizeof(head));
    assert_true(gmc_local_next_piece(&rest, &piece));
    assert_true(piece.more && gmc_bytes_equal(piece.bytes, gmc_bytes("one", 3)));
    assert_true(gmc_local_next_piece(&rest, &piece));
    assert_true(!piece.more && piece.bytes.len == 0 && rest.len == 0);
    assert_false(gmc_local_next_piece(&rest, &piece));
    for (size_t len = 1; len < 8; len++) { /* cut off */
        rest = gmc_bytes(bytes, len);
        assert_false(gmc_local_next_piece(&rest, &piece));
        assert_int_equal(rest.len, len);
    }
    rest = gmc_bytes("\x02\0\0\0\0", 5);
    assert_false(gmc_local_next_piece(&rest, &piece));
}

static void test_refused(void **state)
{
    (void)state;
    struct gmc_local local;
    assert_int_equal(gmc_local_get(gmc_bytes("", 0), &local), GMC_ERR_TRUNCATED);
    assert_int_equal(gmc_local_get(gmc_bytes("\x00", 1), &local), GMC_ERR_TYPE);
    assert_int_equal(gmc_local_get(gmc_bytes("\x07", 1), &local), GMC_ERR_TYPE);
    assert_int_equal(gmc_local_get(gmc_bytes("\x48", 1), &local), GMC_ERR_TYPE);
    assert_int_equal(gmc_local_get(gmc_bytes("\x01\x00news", 6), &local), GMC_ERR_INVALID);
    assert_int_equal(gmc_local_get(gmc_bytes("\x01\x00news\0a", 8), &local), GMC_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
