/* SPDX-License-Identifier: BSD-2-Clause */
/* A receive directory that is away for a while, as a file system that is not mounted: what lies in
 * it is neither forgotten nor given up. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gatewayd/text.h"
#include "tests/unit/gwd_sites.h"

#define PART ".gmcast-0000000000001234.part"
#define FOLDER "channels/0000000000001234@a.example"

static struct gmc_store_result scanned;

static void move(const char *from, const char *to)
{
    char a[1024], b[1024];
    gwd_text(a, sizeof a, "%s/%s", site_dir, from);
    gwd_text(b, sizeof b, "%s/%s", site_dir, to);
    assert_ok(rename(a, b));
}

static void restart(void)
{
    gwd_store_free(site_dst.store);
    site_open(&site_dst);
}

static gmc_status open_again(const char *dest)
{
    return site_receive(&site_dst, dest, scanned.listing_bytes, scanned.total_bytes).status;
}

/* A transfer that has a tree, and a state that the core saved. */
static void begin(void)
{
    static uint8_t content[BLOCK];
    struct gmc_store_op save = {.kind = GMC_STORE_SAVE, .name = GMC_SAVED_HAVE};
    site_put(site_src.data, "x", content, sizeof content);
    scanned = site_scan("x");
    assert_ok(open_again("made/"));
    site_copy_range(0, site_listing_end(scanned.listing_bytes));
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    assert_ok(site_run(&site_dst, &save).status);
}

static void count(void *ctx, const struct gmc_saved *saved)
{
    int *visits = ctx;
    assert_string_equal(saved->name, GMC_SAVED_HAVE);
    (*visits)++;
}

static int restored(void)
{
    int visits = 0;
    gwd_store_saved(site_dst.store, count, &visits);
    return visits;
}

static void give_up_while_away(void)
{
    struct gmc_store_op close = {.kind = GMC_STORE_CLOSE, .discard = true};
    restart();
    move("dst-in", "away");
    assert_int_equal(site_run(&site_dst, &close).status, GMC_ERR_IO);
    assert_non_null(strstr(site_dst.reason, "cannot be removed whole: No such file"));
    assert_true(site_has(site_dst.state, FOLDER));
    restart();
    assert_int_equal(restored(), 0);
    assert_true(site_has(site_dst.state, FOLDER)); /* the only note of that tree */
    move("away", "dst-in");
}

static void test_given_up(void **state)
{
    (void)state;
    begin();
    give_up_while_away();
    assert_true(site_has(site_dst.in, "made/" PART));
    restart();
    assert_int_equal(restored(), 0);
    assert_false(site_has(site_dst.in, "made"));
    assert_false(site_has(site_dst.state, FOLDER));
}

static void test_given_up_and_wanted_again(void **state)
{
    (void)state;
    begin();
    give_up_while_away();
    assert_ok(open_again("made/"));
    restart();
    assert_int_equal(restored(), 1);
    assert_true(site_has(site_dst.in, "made/" PART));
}

static void test_goes_on(void **state)
{
    char reason[1024] = "";
    (void)state;
    begin();
    restart();
    assert_true(gwd_store_can_go_on(site_dst.store, reason, sizeof reason));
    move("dst-in", "away");
    assert_false(gwd_store_can_go_on(site_dst.store, reason, sizeof reason));
    assert_non_null(strstr(reason, "dst-in, where a transfer of a.example is to go on: No such"));
    assert_non_null(strstr(reason, "remove " FOLDER));
    move("away", "dst-in");
    assert_true(gwd_store_can_go_on(site_dst.store, reason, sizeof reason));
    assert_int_equal(restored(), 1);
}

/* It is known by its real name only when it is there. */
static void test_comes_late(void **state)
{
    char link[1024];
    (void)state;
    move("dst-in", "away");
    assert_ok(symlink("real", site_dst.in));
    restart();
    scanned.listing_bytes = 100;
    assert_int_equal(open_again(""), GMC_ERR_NOT_FOUND);
    assert_non_null(strstr(site_dst.reason, "dst-in: No such file"));
    move("away", "real");
    begin();
    gwd_text(link, sizeof link, "%s/real", site_dir);
    assert_true(site_has(link, "made/" PART));
    restart();
    assert_ok(open_again("made/"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, site_set_up, site_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_given_up), CASE(test_given_up_and_wanted_again),
                                       CASE(test_goes_on), CASE(test_comes_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
