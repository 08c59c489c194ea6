/* SPDX-License-Identifier: BSD-2-Clause */
/* What the store has to refuse: files and places that nobody may touch, names that are taken,
 * what changed or was not verified. And what a refused transfer leaves behind. */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gatewayd/text.h"
#include "tests/unit/gwd_certs.h"
#include "tests/unit/gwd_sites.h"

static void expect_refusal(struct site *site, gmc_status got, gmc_status want, const char *words)
{
    if (got != want || strstr(site->reason, words) == NULL)
        fail_msg("%s, '%s'; wanted %s with '%s'", gmc_status_name(got), site->reason,
                 gmc_status_name(want), words);
    assert_ok(site_do(site, GMC_STORE_CLOSE));
}

static void test_scan_refusals(void **state)
{
    char path[1024], outside[200];
    (void)state;
    gwd_text(outside, sizeof outside, "%s/secret", site_dir);
    test_file_write(outside, "s", 1);
    gwd_text(path, sizeof path, "%s/way", site_src.data);
    assert_ok(symlink(outside, path));
    expect_refusal(&site_src, site_scan(outside).status, GMC_ERR_ACCESS, "secret is not beneath");
    expect_refusal(&site_src, site_scan("way").status, GMC_ERR_ACCESS, "secret is not beneath");
    expect_refusal(&site_src, site_scan("../secret").status, GMC_ERR_ACCESS,
                   "secret is not beneath");
    expect_refusal(&site_src, site_scan("nothing").status, GMC_ERR_NOT_FOUND,
                   "nothing: No such file");
    gwd_text(path, sizeof path, "%s-data2", site_dir); /* a name that only begins alike */
    gwd_text(path, sizeof path, "%s/src-data2", site_dir);
    assert_ok(mkdir(path, 0755));
    expect_refusal(&site_src, site_scan(path).status, GMC_ERR_ACCESS, "not beneath");
    gwd_text(path, sizeof path, "%s/d", site_src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/d/pipe", site_src.data);
    assert_ok(mkfifo(path, 0600));
    expect_refusal(&site_src, site_scan("d").status, GMC_ERR_INVALID, "d/pipe is neither");
    assert_ok(unlink(path));
    gwd_text(path, sizeof path, "%s/d/out", site_src.data);
    assert_ok(symlink("../../secret", path));
    expect_refusal(&site_src, site_scan("d").status, GMC_ERR_INVALID, "d/out");

    char reason[256];
    assert_int_equal(gwd_store_may_read(site_src.store, NULL, site_src.data, reason, sizeof reason),
                     GMC_OK);
    assert_int_equal(gwd_store_may_read(site_src.store, "c.example", site_src.data, reason,
                                        sizeof reason),
                     GMC_OK);
    assert_int_equal(gwd_store_may_read(site_src.store, "d.example", site_src.data, reason,
                                        sizeof reason),
                     GMC_ERR_ACCESS);
    assert_int_equal(gwd_store_may_read(site_src.store, "c.example", site_dir, reason,
                                        sizeof reason),
                     GMC_ERR_ACCESS);
}

static void test_open_refusals(void **state)
{
    char path[1024];
    (void)state;
    expect_refusal(&site_dst, site_receive(&site_dst, "../x", 100, 1).status, GMC_ERR_ACCESS,
                   "'..'");
    expect_refusal(&site_dst, site_receive(&site_dst, "a/../../x", 100, 1).status, GMC_ERR_ACCESS,
                   "'..'");
    expect_refusal(&site_dst, site_receive(&site_dst, "/etc/x", 100, 1).status, GMC_ERR_ACCESS,
                   "outside");
    /* The tree of another transfer, which would then stand there with more than was verified. */
    expect_refusal(&site_dst, site_receive(&site_dst, "a/.gmcast-1.part/x", 100, 1).status,
                   GMC_ERR_ACCESS, "unfinished");
    expect_refusal(&site_dst, site_receive(&site_dst, ".gmcast-1.part/", 100, 1).status,
                   GMC_ERR_ACCESS, "unfinished");
    gwd_text(path, sizeof path, "%s2/x", site_dst.in);
    expect_refusal(&site_dst, site_receive(&site_dst, path, 100, 1).status, GMC_ERR_ACCESS,
                   "outside");
    expect_refusal(&site_dst, site_receive(&site_dst, "x", 100, UINT64_C(1) << 60).status,
                   GMC_ERR_NOSPACE, "do not fit");
    (void)strcpy(site_key.source, "b.example");
    expect_refusal(&site_dst, site_receive(&site_dst, "x", 100, 1).status, GMC_ERR_ACCESS,
                   "may not send here");
    (void)strcpy(site_key.source, "../a");
    assert_int_equal(site_receive(&site_dst, "x", 100, 1).status, GMC_ERR_INVALID);
    (void)strcpy(site_key.source, "a.example");

    /* A quota counts what lies there and what other transfers still need. */
    char block[10000] = {1};
    site_put(site_dst.in, "old", block, sizeof block);
    site_dst.receives[0].quota = 100000;
    assert_true(gwd_store_configure(site_dst.store, &site_dst.conf));
    expect_refusal(&site_dst, site_receive(&site_dst, "x", 100, 95000).status, GMC_ERR_QUOTA,
                   "quota");
    assert_ok(site_receive(&site_dst, "x", 100, 60000).status);
    site_key.e++;
    expect_refusal(&site_dst, site_receive(&site_dst, "y", 100, 60000).status, GMC_ERR_QUOTA,
                   "quota");
    site_key.e--;
    assert_ok(site_do(&site_dst, GMC_STORE_CLOSE));
    site_key.e++;
    assert_ok(site_receive(&site_dst, "y", 100, 60000).status);
    assert_ok(site_do(&site_dst, GMC_STORE_CLOSE));
}

static void test_destination_refusals(void **state)
{
    char path[1024], away[1024];
    (void)state;
    site_put(site_src.data, "x", "hello", 5);
    site_put(site_dst.in, "x", "mine", 4);
    site_lay_out("x", "");
    assert_int_equal(site_do(&site_dst, GMC_STORE_LAYOUT), GMC_ERR_EXISTS);
    assert_non_null(strstr(site_dst.reason, "dst-in/x exists already"));
    site_discard();
    gwd_text(path, sizeof path, "%s/folder", site_dst.in);
    assert_ok(mkdir(path, 0755));
    site_lay_out("x", "folder");
    assert_int_equal(site_do(&site_dst, GMC_STORE_LAYOUT), GMC_ERR_EXISTS);
    assert_non_null(strstr(site_dst.reason, "write 'folder/'"));
    site_discard();

    /* Quotas do not count such files. */
    site_put(site_src.data, ".gmcast-1.part", "hello", 5);
    site_lay_out(".gmcast-1.part", "");
    assert_int_equal(site_do(&site_dst, GMC_STORE_LAYOUT), GMC_ERR_ACCESS);
    assert_non_null(strstr(site_dst.reason, ".gmcast-1.part: names like"));
    site_discard();

    /* A symlink in the way leads nowhere. */
    gwd_text(path, sizeof path, "%s/way", site_dst.in);
    gwd_text(away, sizeof away, "%s/away", site_dir);
    assert_ok(mkdir(away, 0755));
    assert_ok(symlink(away, path));
    site_lay_out("x", "way/");
    assert_int_not_equal(site_do(&site_dst, GMC_STORE_LAYOUT), GMC_OK);
    site_discard();
    assert_false(site_has(away, "x"));
    assert_int_equal(site_look(away, ".").st_nlink, 2);

    /* It appears while the transfer runs: never replaced. */
    site_lay_out("x", "y");
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_copy_range(site_listing_end(1), site_listing_end(1) + 5);
    site_put(site_dst.in, "y", "mine", 4);
    assert_int_equal(site_do(&site_dst, GMC_STORE_FINISH), GMC_ERR_EXISTS);
    assert_int_equal(site_look(site_dst.in, "y").st_size, 4);
    assert_true(site_has(site_dst.in, ".gmcast-0000000000001234.part"));
    site_discard();
    assert_false(site_has(site_dst.in, ".gmcast-0000000000001234.part"));
}

/* One of several destinations is taken while the transfer runs: none of them stays, or it would be
 * in the way of the next attempt. */
static void test_destinations_together(void **state)
{
    char one[1024], two[1024];
    const char *paths[2] = {one, two};
    struct gmc_store_op op = {.kind = GMC_STORE_SCAN,
                              .paths = paths,
                              .path_count = 2,
                              .block_bytes = BLOCK};
    struct gmc_store_result scanned;
    (void)state;
    gwd_text(one, sizeof one, "%s/one", site_src.data);
    gwd_text(two, sizeof two, "%s/two", site_src.data);
    assert_ok(mkdir(one, 0755));
    site_put(site_src.data, "one/x", "hello", 5);
    assert_ok(chmod(one, 0555));
    site_put(site_src.data, "two", "world", 5);
    scanned = site_run(&site_src, &op);
    assert_ok(scanned.status);
    assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    site_copy_range(0, site_listing_end(scanned.listing_bytes));
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_copy_range(site_listing_end(scanned.listing_bytes),
                    site_listing_end(scanned.listing_bytes) + 10);
    site_put(site_dst.in, "two", "mine", 4);
    assert_int_equal(site_do(&site_dst, GMC_STORE_FINISH), GMC_ERR_EXISTS);
    assert_false(site_has(site_dst.in, "one"));
    assert_int_equal(site_look(site_dst.in, "two").st_size, 4);
    site_discard();
    assert_false(site_has(site_dst.in, ".gmcast-0000000000001234.part"));

    gwd_text(two, sizeof two, "%s/two", site_dst.in);
    assert_ok(unlink(two));
    gwd_text(two, sizeof two, "%s/two", site_src.data);
    scanned = site_run(&site_src, &op);
    assert_ok(scanned.status);
    site_transfer(&scanned, "");
    site_same_file("two", "two");
    assert_int_equal(site_look(site_dst.in, "one").st_mode & 0777, 0555);
    assert_ok(chmod(one, 0755)); /* so that all of it can be removed */
    gwd_text(one, sizeof one, "%s/one", site_dst.in);
    assert_ok(chmod(one, 0755));
}

/* What was made for a transfer that does not finish goes with it; nothing else does. */
static void test_destination_goes(void **state)
{
    char path[1024];
    (void)state;
    site_put(site_src.data, "x", "hello", 5);
    gwd_text(path, sizeof path, "%s/was", site_dst.in);
    assert_ok(mkdir(path, 0755));
    site_lay_out("x", "was/new/deep/");
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    assert_true(site_has(site_dst.in, "was/new/deep"));
    site_discard();
    assert_true(site_has(site_dst.in, "was"));
    assert_false(site_has(site_dst.in, "was/new"));

    /* A restart knows it still. */
    site_lay_out("x", "was/new/deep/");
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    gwd_store_free(site_dst.store);
    site_open(&site_dst);
    site_discard();
    assert_true(site_has(site_dst.in, "was"));
    assert_false(site_has(site_dst.in, "was/new"));

    /* Somebody uses it meanwhile. */
    site_lay_out("x", "was/new/deep/");
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_put(site_dst.in, "was/new/mine", "mine", 4);
    site_discard();
    assert_false(site_has(site_dst.in, "was/new/deep"));
    assert_true(site_has(site_dst.in, "was/new/mine"));

    /* What stands in the way is not at the beginning. */
    site_put(site_dst.in, "was/file", "mine", 4);
    site_lay_out("x", "was/file/new/");
    assert_int_not_equal(site_do(&site_dst, GMC_STORE_LAYOUT), GMC_OK);
    site_discard();
    assert_int_equal(site_look(site_dst.in, "was/file").st_size, 4);
}

static void test_mismatch(void **state)
{
    uint8_t block[100] = {7};
    struct gmc_store_op op = {.kind = GMC_STORE_WRITE, .data = block, .len = sizeof block};
    (void)state;
    assert_ok(site_receive(&site_dst, "", 100, 5).status);
    assert_int_equal(site_run(&site_dst, &op).status, GMC_ERR_MISMATCH);
    site_crypto.ops->hash(block, sizeof block, op.hash);
    assert_ok(site_run(&site_dst, &op).status);
    assert_int_equal(site_do(&site_dst, GMC_STORE_LAYOUT), GMC_ERR_INVALID); /* no listing at all */
    assert_non_null(strstr(site_dst.reason, "listing refused"));
    site_discard();
}

/* A directory that became a link after the scan is followed, and no file either. */
static void test_small_link(void **state)
{
    struct gmc_store_result scanned;
    static uint8_t block[BLOCK];
    char path[1024], moved[1024];
    (void)state;
    gwd_text(path, sizeof path, "%s/d", site_src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/d/e", site_src.data);
    assert_ok(mkdir(path, 0755));
    site_put(site_src.data, "d/e/1", "one", 3);
    site_put(site_src.data, "d/e/2", "two", 3);
    scanned = site_scan("d");
    assert_ok(scanned.status);
    gwd_text(moved, sizeof moved, "%s/d/moved", site_src.data);
    assert_ok(rename(path, moved));
    assert_ok(symlink("moved", path));
    struct gmc_store_op op = {.kind = GMC_STORE_READ,
                              .offset = site_listing_end(scanned.listing_bytes),
                              .data = block,
                              .len = 6};
    assert_int_equal(site_run(&site_src, &op).status, GMC_ERR_CHANGED);
    assert_ok(unlink(path));
    assert_ok(rename(moved, path));
    assert_ok(site_run(&site_src, &op).status);
    gwd_text(path, sizeof path, "%s/d/e/2", site_src.data);
    gwd_text(moved, sizeof moved, "%s/d/e/3", site_src.data);
    assert_ok(rename(path, moved));
    assert_ok(symlink("3", path));
    assert_int_equal(site_run(&site_src, &op).status, GMC_ERR_CHANGED);
}

static void test_changed(void **state)
{
    static uint8_t data[3 * BLOCK], block[BLOCK];
    struct gmc_store_result scanned;
    struct gmc_store_op op = {.kind = GMC_STORE_READ, .data = block, .len = BLOCK};
    char path[1024];
    (void)state;
    gwd_text(path, sizeof path, "%s/big", site_src.data);
    for (int how = 0; how < 4; how++) {
        (void)unlink(path);
        site_put(site_src.data, "big", data, sizeof data);
        scanned = site_scan("big");
        assert_ok(scanned.status);
        op.offset = site_listing_end(scanned.listing_bytes) + BLOCK;
        assert_ok(site_run(&site_src, &op).status);
        if (how == 0)
            assert_ok(truncate(path, BLOCK));
        else if (how == 1)
            site_put(site_src.data, "big", data, sizeof data); /* same size, other time */
        else if (how == 2)
            assert_ok(utimensat(AT_FDCWD, path, NULL, 0));
        if (how == 3) {
            assert_ok(unlink(path));
            gwd_store_free(site_src.store); /* its descriptor would go on reading */
            site_open(&site_src);
            struct gmc_store_op reopen = {.kind = GMC_STORE_REOPEN,
                                          .listing_bytes = scanned.listing_bytes,
                                          .total_bytes = scanned.total_bytes,
                                          .block_bytes = BLOCK};
            assert_int_equal(site_run(&site_src, &reopen).status, GMC_ERR_CHANGED);
        } else {
            assert_int_equal(site_run(&site_src, &op).status, GMC_ERR_CHANGED);
        }
        assert_non_null(strstr(site_src.reason, "big"));
        assert_ok(site_do(&site_src, GMC_STORE_CLOSE));
    }
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, site_set_up, site_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_small_link),           CASE(test_scan_refusals),
        CASE(test_open_refusals),        CASE(test_mismatch),
        CASE(test_destination_refusals), CASE(test_destinations_together),
        CASE(test_destination_goes),     CASE(test_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
