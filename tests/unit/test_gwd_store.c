/* SPDX-License-Identifier: BSD-2-Clause */
/* The store on real directories: whole objects from a source to a target, and restarts between. */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gatewayd/text.h"
#include "tests/unit/gwd_certs.h"
#include "tests/unit/gwd_sites.h"

static void make_tree(void)
{
    char path[1024], longest[256];
    static uint8_t data[200000];
    struct timespec times[2] = {{.tv_sec = 1000000000, .tv_nsec = 1}, {.tv_sec = -5, .tv_nsec = 7}};
    int fd;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 31 + i / 256);
    memset(longest, 'n', 255);
    longest[255] = '\0';
    gwd_text(path, sizeof path, "%s/tree", site_src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/tree/empty", site_src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/tree/sub", site_src.data);
    assert_ok(mkdir(path, 0755));
    site_put(site_src.data, "tree/zero", data, 0);
    site_put(site_src.data, "tree/one", data, 1);
    site_put(site_src.data, "tree/65535", data, 65535);
    site_put(site_src.data, "tree/65536", data, 65536);
    site_put(site_src.data, "tree/65537", data, 65537);
    site_put(site_src.data, "tree/sub/.hidden", data, 100);
    site_put(site_src.data, "tree/sub/a b\nc \303\274", data, 200000);
    gwd_text(path, sizeof path, "tree/sub/%s", longest);
    site_put(site_src.data, path, data, 70);
    gwd_text(path, sizeof path, "%s/tree/sub/link", site_src.data);
    assert_ok(symlink("../one", path));
    gwd_text(path, sizeof path, "%s/tree/sparse", site_src.data);
    fd = open(path, O_RDWR | O_CREAT, 0640);
    assert_int_equal(pwrite(fd, data, 5000, 3 << 20), 5000);
    assert_ok(ftruncate(fd, 64 << 20));
    assert_ok(close(fd));
    gwd_text(path, sizeof path, "%s/tree/one", site_src.data);
    assert_ok(chmod(path, 0444));
    gwd_text(path, sizeof path, "%s/tree/sub", site_src.data);
    assert_ok(utimensat(AT_FDCWD, path, times, 0));
    assert_ok(chmod(path, 0555));
}

static const char *const tree_names[] = {
    "tree",       "tree/empty", "tree/sub",   "tree/zero",        "tree/one",
    "tree/65535", "tree/65536", "tree/65537", "tree/sub/.hidden", "tree/sub/a b\nc \303\274",
    "tree/sparse"};

static void test_tree(void **state)
{
    struct gmc_store_result scanned;
    char path[1024], target[64];
    (void)state;
    make_tree();
    scanned = site_scan("tree/"); /* with a slash at the end: the same */
    if (scanned.status != GMC_OK)
        fail_msg("scan: %s", site_src.reason);
    assert_int_equal(scanned.file_count, 9);
    assert_true(scanned.total_bytes < 500000); /* holes are not sent */
    site_transfer(&scanned, "");
    for (size_t i = 0; i < sizeof tree_names / sizeof *tree_names; i++)
        site_same_file(tree_names[i], tree_names[i]);
    assert_true(site_look(site_dst.in, "tree/sparse").st_blocks < 1000);
    gwd_text(path, sizeof path, "%s/tree/sub/link", site_dst.in);
    assert_int_equal(readlink(path, target, sizeof target), 6);
    assert_memory_equal(target, "../one", 6);
    assert_false(site_has(site_dst.in, ".gmcast-0000000000001234.part"));

    /* Reading goes on from the final names, also after a restart. */
    static uint8_t one[BLOCK], two[BLOCK];
    uint64_t begin = site_listing_end(scanned.listing_bytes);
    struct gmc_store_op op = {.kind = GMC_STORE_READ, .offset = begin, .data = one, .len = BLOCK};
    assert_ok(site_run(&site_src, &op).status);
    op.data = two;
    assert_ok(site_run(&site_dst, &op).status);
    assert_memory_equal(one, two, BLOCK);
    gwd_store_free(site_dst.store);
    site_open(&site_dst);
    assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    memset(two, 0, sizeof two);
    assert_ok(site_run(&site_dst, &op).status);
    assert_memory_equal(one, two, BLOCK);
    assert_ok(site_do(&site_dst, GMC_STORE_CLOSE));
    assert_false(site_has(site_dst.state, "channels/0000000000001234@a.example"));
    assert_true(site_has(site_dst.in, "tree/one"));

    /* The source after a restart. */
    gwd_store_free(site_src.store);
    site_open(&site_src);
    struct gmc_store_op reopen = {.kind = GMC_STORE_REOPEN,
                                  .listing_bytes = scanned.listing_bytes,
                                  .total_bytes = scanned.total_bytes,
                                  .block_bytes = BLOCK};
    assert_ok(site_run(&site_src, &reopen).status);
    op.data = two;
    memset(two, 0, sizeof two);
    assert_ok(site_run(&site_src, &op).status);
    assert_memory_equal(one, two, BLOCK);
    assert_ok(site_do(&site_src, GMC_STORE_CLOSE));
    assert_ok(site_do(&site_src, GMC_STORE_CLOSE)); /* nothing to close is well closed */
}

static void test_names(void **state)
{
    struct gmc_store_result scanned;
    char path[1024];
    (void)state;
    site_put(site_src.data, "x", "hello", 5);
    scanned = site_scan("x");
    assert_ok(scanned.status);
    site_transfer(&scanned, "sub/dir/renamed");
    site_same_file("x", "sub/dir/renamed");
    assert_ok(site_do(&site_dst, GMC_STORE_CLOSE));
    site_transfer(&scanned, "sub/dir/");
    site_same_file("x", "sub/dir/x");
    assert_ok(site_do(&site_dst, GMC_STORE_CLOSE));
    gwd_text(path, sizeof path, "%s/absolute", site_dst.in);
    site_transfer(&scanned, path);
    site_same_file("x", "absolute");
    assert_ok(site_do(&site_dst, GMC_STORE_CLOSE));
}

/* Small files, many in a block, of two directories: times set as they are
 * written, or at the end when a restart came between. */
static void small_files(bool restart)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000000}};
    struct gmc_store_result scanned;
    char path[1024];
    gwd_text(path, sizeof path, "%s/small", site_src.data);
    assert_ok(mkdir(path, 0755));
    for (unsigned i = 0; i < 60; i++) {
        gwd_text(path, sizeof path, "%s/small/%u", site_src.data, i / 30);
        if (i % 30 == 0)
            assert_ok(mkdir(path, 0755));
        gwd_text(path, sizeof path, "small/%u/%u", i / 30, i);
        site_put(site_src.data, path, path, strlen(path));
        gwd_text(path, sizeof path, "%s/small/%u/%u", site_src.data, i / 30, i);
        times[1].tv_nsec = i;
        assert_ok(utimensat(AT_FDCWD, path, times, 0));
    }
    scanned = site_scan("small");
    assert_ok(scanned.status);
    uint64_t begin = site_listing_end(scanned.listing_bytes);
    assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    site_copy_range(0, begin);
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_copy_range(begin, begin + scanned.total_bytes);
    assert_ok(site_do(&site_dst, GMC_STORE_SYNC));
    if (restart) {
        gwd_store_free(site_dst.store);
        site_open(&site_dst);
        assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    }
    assert_ok(site_do(&site_dst, GMC_STORE_FINISH));
    for (unsigned i = 0; i < 60; i++) {
        gwd_text(path, sizeof path, "small/%u/%u", i / 30, i);
        site_same_file(path, path);
    }
}

static void test_small(void **state)
{
    (void)state;
    small_files(false);
}

static void test_small_restart(void **state)
{
    (void)state;
    small_files(true);
}

static void touch(const char *path, struct timespec then)
{
    const struct timespec times[2] = {then, then};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Clocks of file systems tick every few milliseconds. */
static void tick(void)
{
    (void)usleep(20000);
}

/* As a restart does, after an end in order; so many blocks are doubtful. */
static struct gmc_interval reopen(const struct gmc_store_op *op, uint64_t doubtful)
{
    struct gmc_store_result result;
    tick();
    gwd_store_free(site_dst.store);
    tick();
    site_open(&site_dst);
    result = site_run(&site_dst, op);
    assert_ok(result.status);
    assert_int_equal(result.doubtful != NULL ? gmc_interval_count(result.doubtful) : 0, doubtful);
    return doubtful > 0 ? gmc_interval_range_at(result.doubtful, 0) : (struct gmc_interval){0, 0};
}

/* What was stored before a restart is not read again, unless somebody had his hands in it. */
static void test_stored_is_doubtful(void **state)
{
    static uint8_t content[3 * BLOCK];
    char path[1024], saved[1024];
    struct gmc_interval_set stored;
    struct gmc_store_op op = {.kind = GMC_STORE_OPEN,
                              .dest = "",
                              .block_bytes = BLOCK,
                              .stored = &stored};
    struct gmc_store_result scanned;
    struct gmc_store_op save = {.kind = GMC_STORE_SAVE, .name = GMC_SAVED_HAVE};
    struct stat dated;
    uint32_t first;
    uint64_t begin;
    (void)state;
    memset(content, 7, sizeof content);
    site_put(site_src.data, "x", content, sizeof content);
    scanned = site_scan("x");
    assert_ok(scanned.status);
    begin = site_listing_end(scanned.listing_bytes);
    op.listing_bytes = scanned.listing_bytes;
    op.total_bytes = scanned.total_bytes;
    assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    site_copy_range(0, begin);
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_copy_range(begin, begin + 2 * BLOCK);
    assert_ok(site_do(&site_dst, GMC_STORE_SYNC));
    tick();
    assert_ok(site_run(&site_dst, &save).status);
    gmc_interval_init(&stored, 4);
    first = 1 + (uint32_t)(begin / BLOCK); /* a page before it */
    assert_ok(gmc_interval_add(&stored, 0, first + 2));

    gwd_text(path, sizeof path, "%s/.gmcast-0000000000001234.part/x", site_dst.in);
    /* What this store wrote after its last checkpoint is its own. */
    tick();
    site_copy_range(begin + BLOCK, begin + 2 * BLOCK);
    reopen(&op, 0);
    /* Killed before an end in order, it cannot know. */
    gwd_text(saved, sizeof saved, "%s/channels/0000000000001234@a.example/s.have", site_dst.state);
    assert_int_equal(stat(saved, &dated), 0);
    tick();
    site_copy_range(begin + BLOCK, begin + 2 * BLOCK);
    tick();
    gwd_store_free(site_dst.store);
    touch(saved, dated.st_mtim);
    site_open(&site_dst);
    assert_int_equal(reopen(&op, 2).lo, first);
    assert_non_null(strstr(site_dst.reason, "x: changed in the unfinished tree"));
    /* As long as that may not be compared, so it stays. */
    assert_ok(site_run(&site_dst, &save).status);
    reopen(&op, 2);
    assert_ok(truncate(path, 2 * BLOCK - 1));
    touch(saved, (struct timespec){time(NULL) + 60, 0});
    reopen(&op, 2);
    assert_ok(unlink(path));
    touch(saved, (struct timespec){time(NULL) + 60, 0});
    reopen(&op, 2);
    /* Whole, and with a time of its own from before. */
    site_put(site_dst.in, ".gmcast-0000000000001234.part/x", content, 2 * BLOCK);
    touch(path, dated.st_mtim);
    touch(saved, dated.st_mtim);
    assert_int_equal(reopen(&op, 2).lo, first);
    gmc_interval_fini(&stored);

    /* Cut while it runs: it would end with a hole. */
    site_copy_range(begin + 2 * BLOCK, begin + 3 * BLOCK);
    assert_ok(truncate(path, BLOCK));
    assert_int_equal(site_do(&site_dst, GMC_STORE_FINISH), GMC_ERR_IO);
    assert_false(site_has(site_dst.in, "x"));
    site_discard();
}

/* A restart in the middle: what was written is there, the rest is written, then it ends well. */
static void test_resume(void **state)
{
    static uint8_t data[5 * BLOCK];
    struct gmc_store_result scanned;
    uint64_t begin;
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i / 100);
    site_put(site_src.data, "big", data, sizeof data);
    scanned = site_scan("big");
    begin = site_listing_end(scanned.listing_bytes);
    assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    site_copy_range(0, begin);
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_copy_range(begin, begin + 2 * BLOCK);
    assert_ok(site_do(&site_dst, GMC_STORE_SYNC));
    struct gmc_store_op save = {.kind = GMC_STORE_SAVE, .name = "have"};
    save.bytes = gmc_bytes("abc", 3);
    assert_ok(site_run(&site_dst, &save).status);
    gwd_store_free(site_dst.store);
    site_open(&site_dst);
    assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_copy_range(begin + 2 * BLOCK, begin + 5 * BLOCK);
    assert_ok(site_do(&site_dst, GMC_STORE_FINISH));
    assert_ok(site_do(&site_dst, GMC_STORE_FINISH)); /* again: done already */
    site_same_file("big", "big");
}

struct seen {
    unsigned count;
    char name[32];
    uint8_t bytes[8];
    size_t len;
};

static void on_saved(void *ctx, const struct gmc_saved *saved)
{
    struct seen *seen = ctx;
    seen->count++;
    assert_int_equal(saved->key.e, 0x1234);
    assert_string_equal(saved->key.source, "a.example");
    gwd_text(seen->name, sizeof seen->name, "%s", saved->name);
    assert_true(saved->bytes.len <= sizeof seen->bytes);
    memcpy(seen->bytes, saved->bytes.data, saved->bytes.len);
    seen->len = saved->bytes.len;
}

static void test_state(void **state)
{
    uint8_t page[GMC_PAGE_WIRE_BYTES], back[GMC_PAGE_WIRE_BYTES];
    struct gmc_store_op op = {.kind = GMC_STORE_WRITE_PAGE, .offset = 7, .data = page};
    struct seen seen = {0};
    (void)state;
    memset(page, 5, sizeof page);
    op.len = sizeof page;
    assert_int_equal(site_run(&site_dst, &op).status, GMC_ERR_STATE);
    assert_ok(site_receive(&site_dst, "", 100, 5).status);
    assert_ok(site_run(&site_dst, &op).status);
    op.kind = GMC_STORE_READ_PAGE;
    op.data = back;
    assert_ok(site_run(&site_dst, &op).status);
    assert_memory_equal(page, back, sizeof page);
    op.offset = 6;
    assert_int_equal(site_run(&site_dst, &op).status, GMC_ERR_NOT_FOUND);
    op.offset = 8;
    assert_int_equal(site_run(&site_dst, &op).status, GMC_ERR_NOT_FOUND);

    struct gmc_store_op save = {.kind = GMC_STORE_SAVE, .name = "have"};
    save.bytes = gmc_bytes("first", 5);
    assert_ok(site_run(&site_dst, &save).status);
    save.bytes = gmc_bytes("second", 6);
    assert_ok(site_run(&site_dst, &save).status);
    save.name = "../have";
    assert_int_equal(site_run(&site_dst, &save).status, GMC_ERR_INVALID);
    /* Another channel that saved nothing is swept away at the next start. */
    site_key.e = 0x99;
    assert_ok(site_receive(&site_dst, "", 100, 5).status);
    site_key.e = 0x1234;
    gwd_store_free(site_dst.store);
    site_open(&site_dst);
    gwd_store_saved(site_dst.store, on_saved, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.name, "have");
    assert_int_equal(seen.len, 6);
    assert_memory_equal(seen.bytes, "second", 6);
    assert_false(site_has(site_dst.state, "channels/0000000000000099@a.example"));
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, site_set_up, site_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_tree),
        CASE(test_names),
        CASE(test_small),
        CASE(test_small_restart),
        CASE(test_stored_is_doubtful),
        CASE(test_resume),
        CASE(test_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
