/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens and enrolled nodes: who is admitted, what a file brings back, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "gatewayd/nodes.h"
#include "tests/lib/unit.h"
#include "tests/unit/gwd_certs.h"

#define HASH "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define NOW 1000

static char dir[64];
static char reason[512];
static const uint8_t key[GWD_KEY_HASH_BYTES] = {1}, other[GWD_KEY_HASH_BYTES] = {2};

static int setup(void **state)
{
    (void)state;
    test_dir_make(dir, sizeof dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_dir_remove(dir);
    return 0;
}

static struct gwd_nodes *open_nodes(void)
{
    struct gwd_nodes *nodes = gwd_nodes_new(dir, reason, sizeof reason);
    if (nodes == NULL)
        fail_msg("%s", reason);
    return nodes;
}

static gmc_status admit(struct gwd_nodes *nodes, const char *name, const uint8_t *whose,
                        const uint8_t *secret, int64_t now, bool *changed)
{
    reason[0] = '\0';
    return gwd_nodes_admit(nodes, name, whose, secret, now, changed, reason, sizeof reason);
}

static void expect_refused(struct gwd_nodes *nodes, const char *name, const uint8_t *whose,
                           const uint8_t *secret, int64_t now, const char *why)
{
    bool changed = true;
    assert_int_equal(admit(nodes, name, whose, secret, now, &changed), GMC_ERR_AUTH);
    assert_false(changed);
    if (strstr(reason, why) == NULL)
        fail_msg("expected \"%s\", got \"%s\"", why, reason);
}

static void test_tokens_as_text(void **state)
{
    static const char *const bad[] = {"",
                                      "gmn1-",
                                      "gmn2-" HASH "00112233445566778899aabbccddeeff",
                                      "gmn1-" HASH "00112233445566778899aabbccddeef",
                                      "gmn1-" HASH "00112233445566778899aabbccddeeff0",
                                      "gmn1-" HASH "00112233445566778899aabbccddeefF",
                                      "gmn1-" HASH "0011223344556677 8899aabbccddeeff"};
    struct gwd_token token = {.secret = {0xab}, .gateway = {[31] = 7}}, read;
    char text[GWD_TOKEN_TEXT_MAX], padded[GWD_TOKEN_TEXT_MAX + 8];
    (void)state;
    gwd_token_text(&token, text);
    assert_int_equal(strlen(text), GWD_TOKEN_TEXT_MAX - 1);
    snprintf(padded, sizeof padded, " \n%s\r\n", text);
    assert_true(gwd_token_parse(padded, &read));
    assert_memory_equal(&read, &token, sizeof token);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(gwd_token_parse(bad[i], &read));
}

static void test_a_token_admits_one_key(void **state)
{
    struct gwd_nodes *nodes = open_nodes();
    uint8_t secret[GWD_SECRET_BYTES], wrong[GWD_SECRET_BYTES], again[GWD_SECRET_BYTES];
    bool changed;
    (void)state;
    expect_refused(nodes, "n1.x", key, NULL, NOW, "it has not enrolled");
    assert_int_equal(gwd_nodes_add(nodes, "n1.x", NOW + 60, secret, reason, sizeof reason), GMC_OK);
    memcpy(wrong, secret, sizeof wrong);
    wrong[15] ^= 1;
    expect_refused(nodes, "n1.x", key, NULL, NOW, "it has not enrolled");
    expect_refused(nodes, "n1.x", key, wrong, NOW, "its token is wrong");
    expect_refused(nodes, "n2.x", key, secret, NOW, "there is no token for it");
    expect_refused(nodes, "n1.x", key, secret, NOW + 60, "its token has expired");
    assert_int_equal(admit(nodes, "n1.x", key, secret, NOW, &changed), GMC_OK);
    assert_true(changed);
    expect_refused(nodes, "n1.x", other, secret, NOW, "its token was used already");
    expect_refused(nodes, "n1.x", other, NULL, NOW, "it enrolled with another key");
    /* As often as it likes, with or without a token, also when that has expired. */
    assert_int_equal(admit(nodes, "n1.x", key, secret, NOW + 99, &changed), GMC_OK);
    assert_false(changed);
    assert_int_equal(admit(nodes, "n1.x", key, NULL, NOW + 99, &changed), GMC_OK);
    /* A new token: the old key counts until it is used. */
    assert_int_equal(gwd_nodes_add(nodes, "n1.x", NOW + 60, again, reason, sizeof reason), GMC_OK);
    assert_int_equal(admit(nodes, "n1.x", key, NULL, NOW, &changed), GMC_OK);
    assert_int_equal(admit(nodes, "n1.x", other, again, NOW, &changed), GMC_OK);
    assert_true(changed);
    expect_refused(nodes, "n1.x", key, NULL, NOW, "it enrolled with another key");
    gwd_nodes_free(nodes);
}

static void test_it_is_kept(void **state)
{
    struct gwd_nodes *nodes = open_nodes();
    uint8_t one[GWD_SECRET_BYTES], two[GWD_SECRET_BYTES];
    bool changed;
    (void)state;
    assert_int_equal(gwd_nodes_add(nodes, "n1.x", NOW + 60, one, reason, sizeof reason), GMC_OK);
    assert_int_equal(gwd_nodes_add(nodes, "n2.x", NOW + 60, two, reason, sizeof reason), GMC_OK);
    assert_int_equal(admit(nodes, "n1.x", key, one, NOW, &changed), GMC_OK);
    gwd_nodes_free(nodes);
    nodes = open_nodes();
    assert_int_equal(gwd_nodes_find(nodes, "n1.x")->since, NOW);
    assert_int_equal(gwd_nodes_find(nodes, "n2.x")->expires, NOW + 60);
    assert_int_equal(admit(nodes, "n1.x", key, NULL, NOW, &changed), GMC_OK);
    expect_refused(nodes, "n1.x", other, one, NOW, "its token was used already");
    assert_int_equal(admit(nodes, "n2.x", other, two, NOW, &changed), GMC_OK);
    /* Removed: nothing of it counts, here and after a restart; others do. */
    assert_int_equal(gwd_nodes_remove(nodes, "n1.x", reason, sizeof reason), GMC_OK);
    expect_refused(nodes, "n1.x", key, NULL, NOW, "it has not enrolled");
    gwd_nodes_sweep(nodes);
    assert_null(gwd_nodes_find(nodes, "n1.x"));
    assert_int_equal(gwd_nodes_remove(nodes, "n1.x", reason, sizeof reason), GMC_ERR_NOT_FOUND);
    gwd_nodes_free(nodes);
    nodes = open_nodes();
    expect_refused(nodes, "n1.x", key, one, NOW, "there is no token for it");
    assert_int_equal(admit(nodes, "n2.x", other, NULL, NOW, &changed), GMC_OK);
    gwd_nodes_free(nodes);
}

/* What cannot be written has not happened. */
static void test_a_full_disk_changes_nothing(void **state)
{
    struct gwd_nodes *nodes = open_nodes();
    uint8_t secret[GWD_SECRET_BYTES];
    bool changed = true;
    (void)state;
    assert_int_equal(gwd_nodes_add(nodes, "n1.x", NOW + 60, secret, reason, sizeof reason), GMC_OK);
    test_dir_remove(dir);
    assert_int_equal(admit(nodes, "n1.x", key, secret, NOW, &changed), GMC_ERR_IO);
    assert_false(changed);
    assert_non_null(strstr(reason, "cannot be written"));
    assert_int_equal(gwd_nodes_remove(nodes, "n1.x", reason, sizeof reason), GMC_ERR_IO);
    assert_true(gwd_nodes_find(nodes, "n1.x")->open);
    assert_false(gwd_nodes_find(nodes, "n1.x")->enrolled);
    gwd_nodes_free(nodes);
    test_dir_make(dir, sizeof dir);
}

static void test_files(void **state)
{
    static const struct {
        const char *text;
        unsigned line; /* 0 good */
        size_t count;
    } files[] = {
        {"gmcast-nodes 1\n", 0, 0},
        {"gmcast-nodes 1\nnode n1.x " HASH " 5\ntoken n2.x " HASH " 6\nused n1.x " HASH "\n", 0, 2},
        {"gmcast-nodes 1\nused n1.x " HASH "\n", 0, 0},
        {"", 1, 0},
        {"gmcast-nodes 2\n", 1, 0},
        {"gmcast-nodes 1", 1, 0},
        {"gmcast-nodes 1\n\n", 2, 0},
        {"gmcast-nodes 1\nnode n1.x " HASH "\n", 2, 0},
        {"gmcast-nodes 1\nnode n1.x " HASH " 5 6\n", 2, 0},
        {"gmcast-nodes 1\nnode n1.x " HASH "00 5\n", 2, 0},
        {"gmcast-nodes 1\nnode n1.x " HASH " -5\n", 2, 0},
        {"gmcast-nodes 1\nnode n1/x " HASH " 5\n", 2, 0},
        {"gmcast-nodes 1\npeer n1.x " HASH " 5\n", 2, 0},
        {"gmcast-nodes 1\nnode n1.x 0011 5\n", 2, 0},
        {"gmcast-nodes 1\nnode n1.x " HASH " 5\nused n1.x " HASH " 1\n", 3, 0},
        {"gmcast-nodes 1\nnode n1.x " HASH " 5", 2, 0},
    };
    struct gwd_nodes *nodes = open_nodes();
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unsigned line = gwd_nodes_parse(nodes, files[i].text, strlen(files[i].text));
        if (line != files[i].line)
            fail_msg("file %zu: line %u, expected %u", i, line, files[i].line);
        if (line == 0 && files[i].count > 0)
            assert_non_null(gwd_nodes_at(nodes, files[i].count - 1));
        if (line == 0)
            assert_null(gwd_nodes_at(nodes, files[i].count));
    }
    gwd_nodes_free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_as_text),
        cmocka_unit_test_setup_teardown(test_a_token_admits_one_key, setup, teardown),
        cmocka_unit_test_setup_teardown(test_it_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_disk_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
