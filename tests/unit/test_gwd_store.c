/* SPDX-License-Identifier: BSD-2-Clause */
/* The store on real directories: a source and a target, whole objects through them, and all that
 * has to be refused. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/manifest.h"
#include "crypto/openssl.h"
#include "gatewayd/store.h"
#include "gatewayd/text.h"
#include "tests/unit/gwd_certs.h"

#define BLOCK 65536u

static char dir[64];
static struct gmc_crypto_openssl *openssl;
static struct gmc_crypto crypto;

struct site {
    struct gwd_conf conf;
    struct gwd_conf_grant receives[2], serves[2];
    char state[200], data[200], in[200], *exports[2];
    struct gwd_store *store;
    uint64_t tickets;
    char reason[GMC_REASON_BYTES_MAX];
};

static struct site src, dst;
static struct gmc_channel_key key;

/* ---- one operation at a time ---- */
static struct gmc_store_result run(struct site *site, const struct gmc_store_op *op)
{
    struct gmc_store_op asked = *op;
    struct gmc_store_result result;
    asked.ticket = ++site->tickets;
    asked.key = &key;
    gwd_store_submit(site->store, &asked);
    gwd_store_flush(site->store);
    while (!gwd_store_next(site->store, &result, NULL)) {
        struct pollfd p = {.fd = gwd_store_fd(site->store), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 10000), 1);
    }
    assert_int_equal(result.ticket, asked.ticket);
    gwd_text(site->reason, sizeof site->reason, "%s", result.reason != NULL ? result.reason : "");
    if (result.status != GMC_OK)
        assert_true(strlen(site->reason) > 3);
    return result;
}

static gmc_status simple(struct site *site, enum gmc_store_kind kind)
{
    struct gmc_store_op op = {.kind = kind};
    return run(site, &op).status;
}

static void open_site(struct site *site)
{
    char reason[256] = "";
    site->store = gwd_store_new(&site->conf, &crypto, reason, sizeof reason);
    if (site->store == NULL)
        fail_msg("%s", reason);
}

static void make_site(struct site *site, const char *name)
{
    memset(site, 0, sizeof *site);
    gwd_text(site->state, sizeof site->state, "%s/%s-state", dir, name);
    gwd_text(site->data, sizeof site->data, "%s/%s-data", dir, name);
    gwd_text(site->in, sizeof site->in, "%s/%s-in", dir, name);
    assert_ok(mkdir(site->state, 0700));
    assert_ok(mkdir(site->data, 0755));
    assert_ok(mkdir(site->in, 0755));
    site->exports[0] = site->data;
    site->conf.node_of = (char *)(uintptr_t) "";
    site->conf.state = site->state;
    site->conf.workers = 2;
    site->conf.exports.items = site->exports;
    site->conf.exports.count = 1;
    site->receives[0] = (struct gwd_conf_grant){(char *)(uintptr_t) "a.example", 0, site->in, 0};
    site->conf.receives = site->receives;
    site->conf.receive_count = 1;
    site->serves[0] = (struct gwd_conf_grant){(char *)(uintptr_t) "c.example", 0, site->data, 0};
    site->conf.serves = site->serves;
    site->conf.serve_count = 1;
    open_site(site);
}

static int set_up(void **state)
{
    static const uint8_t seed[32] = {1};
    (void)state;
    test_dir_make(dir, sizeof dir);
    openssl = gmc_crypto_openssl_new(NULL, seed);
    gmc_crypto_openssl_table(openssl, &crypto);
    memset(&key, 0, sizeof key);
    (void)strcpy(key.source, "a.example");
    key.e = 0x1234;
    (void)umask(022);
    make_site(&src, "src");
    make_site(&dst, "dst");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gwd_store_free(src.store);
    gwd_store_free(dst.store);
    gmc_crypto_openssl_free(openssl);
    test_dir_remove(dir);
    return 0;
}

static void put(const char *at, const char *name, const void *data, size_t len)
{
    char path[1024];
    gwd_text(path, sizeof path, "%s/%s", at, name);
    test_file_write(path, data, len);
}

static struct stat look(const char *at, const char *name)
{
    char path[1024];
    struct stat st;
    gwd_text(path, sizeof path, "%s/%s", at, name);
    if (lstat(path, &st) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    return st;
}

static bool there(const char *at, const char *name)
{
    char path[1024];
    struct stat st;
    gwd_text(path, sizeof path, "%s/%s", at, name);
    return lstat(path, &st) == 0;
}

/* ---- whole objects ---- */
static struct gmc_store_result scan(const char *name)
{
    char path[1024];
    const char *paths[1] = {path};
    struct gmc_store_op op = {.kind = GMC_STORE_SCAN, .paths = paths, .path_count = 1};
    op.block_bytes = BLOCK;
    gwd_text(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : src.data, name[0] == '/' ? "" : "/",
             name);
    return run(&src, &op);
}

static struct gmc_store_result open_at(struct site *site, const char *dest, uint64_t listing,
                                       uint64_t total)
{
    struct gmc_store_op op = {.kind = GMC_STORE_OPEN,
                              .dest = dest,
                              .listing_bytes = listing,
                              .total_bytes = total,
                              .block_bytes = BLOCK};
    return run(site, &op);
}

static uint64_t listing_end(uint64_t listing)
{
    return (listing + BLOCK - 1) / BLOCK * BLOCK;
}

/* Copies [from, to) of the byte space, block by block, checked by hash. */
static void copy_range(uint64_t from, uint64_t to)
{
    static uint8_t block[BLOCK];
    for (uint64_t at = from; at < to; at += BLOCK) {
        size_t len = to - at < BLOCK ? (size_t)(to - at) : BLOCK;
        struct gmc_store_op op = {.kind = GMC_STORE_READ, .offset = at, .data = block, .len = len};
        struct gmc_store_result read = run(&src, &op);
        if (read.status != GMC_OK)
            fail_msg("read: %s", src.reason);
        op.kind = GMC_STORE_WRITE;
        memcpy(op.hash, read.hash, sizeof op.hash);
        if (run(&dst, &op).status != GMC_OK)
            fail_msg("write: %s", dst.reason);
    }
}

static void transfer(const struct gmc_store_result *scanned, const char *dest)
{
    uint64_t begin = listing_end(scanned->listing_bytes);
    if (open_at(&dst, dest, scanned->listing_bytes, scanned->total_bytes).status != GMC_OK)
        fail_msg("open: %s", dst.reason);
    copy_range(0, begin);
    if (simple(&dst, GMC_STORE_LAYOUT) != GMC_OK)
        fail_msg("layout: %s", dst.reason);
    copy_range(begin, begin + scanned->total_bytes);
    assert_ok(simple(&dst, GMC_STORE_SYNC));
    if (simple(&dst, GMC_STORE_FINISH) != GMC_OK)
        fail_msg("finish: %s", dst.reason);
}

static void same_file(const char *name, const char *at)
{
    char a[1024], b[1024], command[2200];
    struct stat x = look(src.data, name), y;
    gwd_text(a, sizeof a, "%s/%s", src.data, name);
    gwd_text(b, sizeof b, "%s/%s", dst.in, at);
    if (lstat(b, &y) != 0)
        fail_msg("%s: %s", b, strerror(errno));
    assert_int_equal(x.st_mode, y.st_mode);
    assert_int_equal(x.st_size, y.st_size);
    assert_int_equal(x.st_mtim.tv_sec, y.st_mtim.tv_sec);
    assert_int_equal(x.st_mtim.tv_nsec, y.st_mtim.tv_nsec);
    gwd_text(command, sizeof command, "cmp -s '%s' '%s'", a, b);
    if (S_ISREG(x.st_mode))
        assert_int_equal(system(command), 0);
}

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
    gwd_text(path, sizeof path, "%s/tree", src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/tree/empty", src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/tree/sub", src.data);
    assert_ok(mkdir(path, 0755));
    put(src.data, "tree/zero", data, 0);
    put(src.data, "tree/one", data, 1);
    put(src.data, "tree/65535", data, 65535);
    put(src.data, "tree/65536", data, 65536);
    put(src.data, "tree/65537", data, 65537);
    put(src.data, "tree/sub/.hidden", data, 100);
    put(src.data, "tree/sub/a b\nc \303\274", data, 200000);
    gwd_text(path, sizeof path, "tree/sub/%s", longest);
    put(src.data, path, data, 70);
    gwd_text(path, sizeof path, "%s/tree/sub/link", src.data);
    assert_ok(symlink("../one", path));
    gwd_text(path, sizeof path, "%s/tree/sparse", src.data);
    fd = open(path, O_RDWR | O_CREAT, 0640);
    assert_int_equal(pwrite(fd, data, 5000, 3 << 20), 5000);
    assert_ok(ftruncate(fd, 64 << 20));
    assert_ok(close(fd));
    gwd_text(path, sizeof path, "%s/tree/one", src.data);
    assert_ok(chmod(path, 0444));
    gwd_text(path, sizeof path, "%s/tree/sub", src.data);
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
    scanned = scan("tree/"); /* with a slash at the end: the same */
    if (scanned.status != GMC_OK)
        fail_msg("scan: %s", src.reason);
    assert_int_equal(scanned.file_count, 9);
    assert_true(scanned.total_bytes < 500000); /* holes are not sent */
    transfer(&scanned, "");
    for (size_t i = 0; i < sizeof tree_names / sizeof *tree_names; i++)
        same_file(tree_names[i], tree_names[i]);
    assert_true(look(dst.in, "tree/sparse").st_blocks < 1000);
    gwd_text(path, sizeof path, "%s/tree/sub/link", dst.in);
    assert_int_equal(readlink(path, target, sizeof target), 6);
    assert_memory_equal(target, "../one", 6);
    assert_false(there(dst.in, ".gmcast-0000000000001234.part"));

    /* Reading goes on from the final names, also after a restart. */
    static uint8_t one[BLOCK], two[BLOCK];
    uint64_t begin = listing_end(scanned.listing_bytes);
    struct gmc_store_op op = {.kind = GMC_STORE_READ, .offset = begin, .data = one, .len = BLOCK};
    assert_ok(run(&src, &op).status);
    op.data = two;
    assert_ok(run(&dst, &op).status);
    assert_memory_equal(one, two, BLOCK);
    gwd_store_free(dst.store);
    open_site(&dst);
    assert_ok(open_at(&dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    memset(two, 0, sizeof two);
    assert_ok(run(&dst, &op).status);
    assert_memory_equal(one, two, BLOCK);
    assert_ok(simple(&dst, GMC_STORE_CLOSE));
    assert_false(there(dst.state, "channels/0000000000001234@a.example"));
    assert_true(there(dst.in, "tree/one"));

    /* The source after a restart. */
    gwd_store_free(src.store);
    open_site(&src);
    struct gmc_store_op reopen = {.kind = GMC_STORE_REOPEN,
                                  .listing_bytes = scanned.listing_bytes,
                                  .total_bytes = scanned.total_bytes,
                                  .block_bytes = BLOCK};
    assert_ok(run(&src, &reopen).status);
    op.data = two;
    memset(two, 0, sizeof two);
    assert_ok(run(&src, &op).status);
    assert_memory_equal(one, two, BLOCK);
    assert_ok(simple(&src, GMC_STORE_CLOSE));
    assert_ok(simple(&src, GMC_STORE_CLOSE)); /* nothing to close is well closed */
}

/* Small files, many in a block, of two directories: times set as they are
 * written, or at the end when a restart came between. */
static void small_files(bool restart)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000000}};
    struct gmc_store_result scanned;
    char path[1024];
    gwd_text(path, sizeof path, "%s/small", src.data);
    assert_ok(mkdir(path, 0755));
    for (unsigned i = 0; i < 60; i++) {
        gwd_text(path, sizeof path, "%s/small/%u", src.data, i / 30);
        if (i % 30 == 0)
            assert_ok(mkdir(path, 0755));
        gwd_text(path, sizeof path, "small/%u/%u", i / 30, i);
        put(src.data, path, path, strlen(path));
        gwd_text(path, sizeof path, "%s/small/%u/%u", src.data, i / 30, i);
        times[1].tv_nsec = i;
        assert_ok(utimensat(AT_FDCWD, path, times, 0));
    }
    scanned = scan("small");
    assert_ok(scanned.status);
    uint64_t begin = listing_end(scanned.listing_bytes);
    assert_ok(open_at(&dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    copy_range(0, begin);
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    copy_range(begin, begin + scanned.total_bytes);
    assert_ok(simple(&dst, GMC_STORE_SYNC));
    if (restart) {
        gwd_store_free(dst.store);
        open_site(&dst);
        assert_ok(open_at(&dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    }
    assert_ok(simple(&dst, GMC_STORE_FINISH));
    for (unsigned i = 0; i < 60; i++) {
        gwd_text(path, sizeof path, "small/%u/%u", i / 30, i);
        same_file(path, path);
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

/* A directory that became a link after the scan is followed, and no file either. */
static void test_small_link(void **state)
{
    struct gmc_store_result scanned;
    static uint8_t block[BLOCK];
    char path[1024], moved[1024];
    (void)state;
    gwd_text(path, sizeof path, "%s/d", src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/d/e", src.data);
    assert_ok(mkdir(path, 0755));
    put(src.data, "d/e/1", "one", 3);
    put(src.data, "d/e/2", "two", 3);
    scanned = scan("d");
    assert_ok(scanned.status);
    gwd_text(moved, sizeof moved, "%s/d/moved", src.data);
    assert_ok(rename(path, moved));
    assert_ok(symlink("moved", path));
    struct gmc_store_op op = {.kind = GMC_STORE_READ,
                              .offset = listing_end(scanned.listing_bytes),
                              .data = block,
                              .len = 6};
    assert_int_equal(run(&src, &op).status, GMC_ERR_CHANGED);
    assert_ok(unlink(path));
    assert_ok(rename(moved, path));
    assert_ok(run(&src, &op).status);
    gwd_text(path, sizeof path, "%s/d/e/2", src.data);
    gwd_text(moved, sizeof moved, "%s/d/e/3", src.data);
    assert_ok(rename(path, moved));
    assert_ok(symlink("3", path));
    assert_int_equal(run(&src, &op).status, GMC_ERR_CHANGED);
}

static void test_names(void **state)
{
    struct gmc_store_result scanned;
    char path[1024];
    (void)state;
    put(src.data, "x", "hello", 5);
    scanned = scan("x");
    assert_ok(scanned.status);
    transfer(&scanned, "sub/dir/renamed");
    same_file("x", "sub/dir/renamed");
    assert_ok(simple(&dst, GMC_STORE_CLOSE));
    transfer(&scanned, "sub/dir/");
    same_file("x", "sub/dir/x");
    assert_ok(simple(&dst, GMC_STORE_CLOSE));
    gwd_text(path, sizeof path, "%s/absolute", dst.in);
    transfer(&scanned, path);
    same_file("x", "absolute");
    assert_ok(simple(&dst, GMC_STORE_CLOSE));
}

static void expect_refusal(struct site *site, gmc_status got, gmc_status want, const char *words)
{
    if (got != want || strstr(site->reason, words) == NULL)
        fail_msg("%s, '%s'; wanted %s with '%s'", gmc_status_name(got), site->reason,
                 gmc_status_name(want), words);
    assert_ok(simple(site, GMC_STORE_CLOSE));
}

static void test_scan_refusals(void **state)
{
    char path[1024], outside[200];
    (void)state;
    gwd_text(outside, sizeof outside, "%s/secret", dir);
    test_file_write(outside, "s", 1);
    gwd_text(path, sizeof path, "%s/way", src.data);
    assert_ok(symlink(outside, path));
    expect_refusal(&src, scan(outside).status, GMC_ERR_ACCESS, "secret is not beneath");
    expect_refusal(&src, scan("way").status, GMC_ERR_ACCESS, "secret is not beneath");
    expect_refusal(&src, scan("../secret").status, GMC_ERR_ACCESS, "secret is not beneath");
    expect_refusal(&src, scan("nothing").status, GMC_ERR_NOT_FOUND, "nothing: No such file");
    gwd_text(path, sizeof path, "%s-data2", dir); /* a name that only begins alike */
    gwd_text(path, sizeof path, "%s/src-data2", dir);
    assert_ok(mkdir(path, 0755));
    expect_refusal(&src, scan(path).status, GMC_ERR_ACCESS, "not beneath");
    gwd_text(path, sizeof path, "%s/d", src.data);
    assert_ok(mkdir(path, 0755));
    gwd_text(path, sizeof path, "%s/d/pipe", src.data);
    assert_ok(mkfifo(path, 0600));
    expect_refusal(&src, scan("d").status, GMC_ERR_INVALID, "d/pipe is neither");
    assert_ok(unlink(path));
    gwd_text(path, sizeof path, "%s/d/out", src.data);
    assert_ok(symlink("../../secret", path));
    expect_refusal(&src, scan("d").status, GMC_ERR_INVALID, "d/out");

    char reason[256];
    assert_int_equal(gwd_store_may_read(src.store, NULL, src.data, reason, sizeof reason), GMC_OK);
    assert_int_equal(gwd_store_may_read(src.store, "c.example", src.data, reason, sizeof reason),
                     GMC_OK);
    assert_int_equal(gwd_store_may_read(src.store, "d.example", src.data, reason, sizeof reason),
                     GMC_ERR_ACCESS);
    assert_int_equal(gwd_store_may_read(src.store, "c.example", dir, reason, sizeof reason),
                     GMC_ERR_ACCESS);
}

static void test_open_refusals(void **state)
{
    char path[1024];
    (void)state;
    expect_refusal(&dst, open_at(&dst, "../x", 100, 1).status, GMC_ERR_ACCESS, "'..'");
    expect_refusal(&dst, open_at(&dst, "a/../../x", 100, 1).status, GMC_ERR_ACCESS, "'..'");
    expect_refusal(&dst, open_at(&dst, "/etc/x", 100, 1).status, GMC_ERR_ACCESS, "outside");
    /* The tree of another transfer, which would then stand there with more than was verified. */
    expect_refusal(&dst, open_at(&dst, "a/.gmcast-1.part/x", 100, 1).status, GMC_ERR_ACCESS,
                   "unfinished");
    expect_refusal(&dst, open_at(&dst, ".gmcast-1.part/", 100, 1).status, GMC_ERR_ACCESS,
                   "unfinished");
    gwd_text(path, sizeof path, "%s2/x", dst.in);
    expect_refusal(&dst, open_at(&dst, path, 100, 1).status, GMC_ERR_ACCESS, "outside");
    expect_refusal(&dst, open_at(&dst, "x", 100, UINT64_C(1) << 60).status, GMC_ERR_NOSPACE,
                   "do not fit");
    (void)strcpy(key.source, "b.example");
    expect_refusal(&dst, open_at(&dst, "x", 100, 1).status, GMC_ERR_ACCESS, "may not send here");
    (void)strcpy(key.source, "../a");
    assert_int_equal(open_at(&dst, "x", 100, 1).status, GMC_ERR_INVALID);
    (void)strcpy(key.source, "a.example");

    /* A quota counts what lies there and what other transfers still need. */
    char block[10000] = {1};
    put(dst.in, "old", block, sizeof block);
    dst.receives[0].quota = 100000;
    assert_true(gwd_store_configure(dst.store, &dst.conf));
    expect_refusal(&dst, open_at(&dst, "x", 100, 95000).status, GMC_ERR_QUOTA, "quota");
    assert_ok(open_at(&dst, "x", 100, 60000).status);
    key.e++;
    expect_refusal(&dst, open_at(&dst, "y", 100, 60000).status, GMC_ERR_QUOTA, "quota");
    key.e--;
    assert_ok(simple(&dst, GMC_STORE_CLOSE));
    key.e++;
    assert_ok(open_at(&dst, "y", 100, 60000).status);
    assert_ok(simple(&dst, GMC_STORE_CLOSE));
}

static void layout_only(const char *name, const char *dest)
{
    struct gmc_store_result scanned = scan(name);
    assert_ok(scanned.status);
    assert_ok(open_at(&dst, dest, scanned.listing_bytes, scanned.total_bytes).status);
    copy_range(0, listing_end(scanned.listing_bytes));
}

static void discard(void)
{
    struct gmc_store_op op = {.kind = GMC_STORE_CLOSE, .discard = true};
    assert_ok(run(&dst, &op).status);
    assert_ok(simple(&src, GMC_STORE_CLOSE));
}

static void test_destination_refusals(void **state)
{
    char path[1024], away[1024];
    (void)state;
    put(src.data, "x", "hello", 5);
    put(dst.in, "x", "mine", 4);
    layout_only("x", "");
    assert_int_equal(simple(&dst, GMC_STORE_LAYOUT), GMC_ERR_EXISTS);
    assert_non_null(strstr(dst.reason, "dst-in/x exists already"));
    discard();
    gwd_text(path, sizeof path, "%s/folder", dst.in);
    assert_ok(mkdir(path, 0755));
    layout_only("x", "folder");
    assert_int_equal(simple(&dst, GMC_STORE_LAYOUT), GMC_ERR_EXISTS);
    assert_non_null(strstr(dst.reason, "write 'folder/'"));
    discard();

    /* Quotas do not count such files. */
    put(src.data, ".gmcast-1.part", "hello", 5);
    layout_only(".gmcast-1.part", "");
    assert_int_equal(simple(&dst, GMC_STORE_LAYOUT), GMC_ERR_ACCESS);
    assert_non_null(strstr(dst.reason, ".gmcast-1.part: names like"));
    discard();

    /* A symlink in the way leads nowhere. */
    gwd_text(path, sizeof path, "%s/way", dst.in);
    gwd_text(away, sizeof away, "%s/away", dir);
    assert_ok(mkdir(away, 0755));
    assert_ok(symlink(away, path));
    layout_only("x", "way/");
    assert_int_not_equal(simple(&dst, GMC_STORE_LAYOUT), GMC_OK);
    discard();
    assert_false(there(away, "x"));
    assert_int_equal(look(away, ".").st_nlink, 2);

    /* It appears while the transfer runs: never replaced. */
    layout_only("x", "y");
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    copy_range(listing_end(1), listing_end(1) + 5);
    put(dst.in, "y", "mine", 4);
    assert_int_equal(simple(&dst, GMC_STORE_FINISH), GMC_ERR_EXISTS);
    assert_int_equal(look(dst.in, "y").st_size, 4);
    assert_true(there(dst.in, ".gmcast-0000000000001234.part"));
    discard();
    assert_false(there(dst.in, ".gmcast-0000000000001234.part"));
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
    gwd_text(one, sizeof one, "%s/one", src.data);
    gwd_text(two, sizeof two, "%s/two", src.data);
    assert_ok(mkdir(one, 0755));
    put(src.data, "one/x", "hello", 5);
    assert_ok(chmod(one, 0555));
    put(src.data, "two", "world", 5);
    scanned = run(&src, &op);
    assert_ok(scanned.status);
    assert_ok(open_at(&dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    copy_range(0, listing_end(scanned.listing_bytes));
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    copy_range(listing_end(scanned.listing_bytes), listing_end(scanned.listing_bytes) + 10);
    put(dst.in, "two", "mine", 4);
    assert_int_equal(simple(&dst, GMC_STORE_FINISH), GMC_ERR_EXISTS);
    assert_false(there(dst.in, "one"));
    assert_int_equal(look(dst.in, "two").st_size, 4);
    discard();
    assert_false(there(dst.in, ".gmcast-0000000000001234.part"));

    gwd_text(two, sizeof two, "%s/two", dst.in);
    assert_ok(unlink(two));
    gwd_text(two, sizeof two, "%s/two", src.data);
    scanned = run(&src, &op);
    assert_ok(scanned.status);
    transfer(&scanned, "");
    same_file("two", "two");
    assert_int_equal(look(dst.in, "one").st_mode & 0777, 0555);
    assert_ok(chmod(one, 0755)); /* so that all of it can be removed */
    gwd_text(one, sizeof one, "%s/one", dst.in);
    assert_ok(chmod(one, 0755));
}

/* What was made for a transfer that does not finish goes with it; nothing else does. */
static void test_destination_goes(void **state)
{
    char path[1024];
    (void)state;
    put(src.data, "x", "hello", 5);
    gwd_text(path, sizeof path, "%s/was", dst.in);
    assert_ok(mkdir(path, 0755));
    layout_only("x", "was/new/deep/");
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    assert_true(there(dst.in, "was/new/deep"));
    discard();
    assert_true(there(dst.in, "was"));
    assert_false(there(dst.in, "was/new"));

    /* A restart knows it still. */
    layout_only("x", "was/new/deep/");
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    gwd_store_free(dst.store);
    open_site(&dst);
    discard();
    assert_true(there(dst.in, "was"));
    assert_false(there(dst.in, "was/new"));

    /* Somebody uses it meanwhile. */
    layout_only("x", "was/new/deep/");
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    put(dst.in, "was/new/mine", "mine", 4);
    discard();
    assert_false(there(dst.in, "was/new/deep"));
    assert_true(there(dst.in, "was/new/mine"));

    /* What stands in the way is not at the beginning. */
    put(dst.in, "was/file", "mine", 4);
    layout_only("x", "was/file/new/");
    assert_int_not_equal(simple(&dst, GMC_STORE_LAYOUT), GMC_OK);
    discard();
    assert_int_equal(look(dst.in, "was/file").st_size, 4);
}

static void touch_a_minute_ago(const char *path)
{
    struct timespec then = {time(NULL) - 60, 0};
    const struct timespec times[2] = {then, then};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* As a restart does; so many blocks are doubtful. */
static struct gmc_interval reopen(const struct gmc_store_op *op, uint64_t doubtful)
{
    struct gmc_store_result result;
    gwd_store_free(dst.store);
    open_site(&dst);
    result = run(&dst, op);
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
    uint32_t first;
    uint64_t begin;
    (void)state;
    memset(content, 7, sizeof content);
    put(src.data, "x", content, sizeof content);
    scanned = scan("x");
    assert_ok(scanned.status);
    begin = listing_end(scanned.listing_bytes);
    op.listing_bytes = scanned.listing_bytes;
    op.total_bytes = scanned.total_bytes;
    assert_ok(open_at(&dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    copy_range(0, begin);
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    copy_range(begin, begin + 2 * BLOCK);
    assert_ok(simple(&dst, GMC_STORE_SYNC));
    assert_ok(run(&dst, &save).status);
    gmc_interval_init(&stored, 4);
    first = 1 + (uint32_t)(begin / BLOCK); /* a page before it */
    assert_ok(gmc_interval_add(&stored, 0, first + 2));

    gwd_text(path, sizeof path, "%s/.gmcast-0000000000001234.part/x", dst.in);
    reopen(&op, 0);
    assert_ok(truncate(path, 2 * BLOCK - 1));
    reopen(&op, 2);
    assert_non_null(strstr(dst.reason, "x: changed, removed or cut"));
    assert_ok(unlink(path));
    reopen(&op, 2);
    /* Whole, and at once: as this store may have left it. */
    put(dst.in, ".gmcast-0000000000001234.part/x", content, 2 * BLOCK);
    reopen(&op, 0);
    /* Long after the checkpoint, whatever its own time says. */
    gwd_text(saved, sizeof saved, "%s/channels/0000000000001234@a.example/s.have", dst.state);
    touch_a_minute_ago(saved);
    touch_a_minute_ago(path);
    assert_int_equal(reopen(&op, 2).lo, first);
    gmc_interval_fini(&stored);

    /* Cut while it runs: it would end with a hole. */
    copy_range(begin + 2 * BLOCK, begin + 3 * BLOCK);
    assert_ok(truncate(path, BLOCK));
    assert_int_equal(simple(&dst, GMC_STORE_FINISH), GMC_ERR_IO);
    assert_false(there(dst.in, "x"));
    discard();
}

static void test_mismatch(void **state)
{
    uint8_t block[100] = {7};
    struct gmc_store_op op = {.kind = GMC_STORE_WRITE, .data = block, .len = sizeof block};
    (void)state;
    assert_ok(open_at(&dst, "", 100, 5).status);
    assert_int_equal(run(&dst, &op).status, GMC_ERR_MISMATCH);
    crypto.ops->hash(block, sizeof block, op.hash);
    assert_ok(run(&dst, &op).status);
    assert_int_equal(simple(&dst, GMC_STORE_LAYOUT), GMC_ERR_INVALID); /* no listing at all */
    assert_non_null(strstr(dst.reason, "listing refused"));
    discard();
}

static void test_changed(void **state)
{
    static uint8_t data[3 * BLOCK], block[BLOCK];
    struct gmc_store_result scanned;
    struct gmc_store_op op = {.kind = GMC_STORE_READ, .data = block, .len = BLOCK};
    char path[1024];
    (void)state;
    gwd_text(path, sizeof path, "%s/big", src.data);
    for (int how = 0; how < 4; how++) {
        (void)unlink(path);
        put(src.data, "big", data, sizeof data);
        scanned = scan("big");
        assert_ok(scanned.status);
        op.offset = listing_end(scanned.listing_bytes) + BLOCK;
        assert_ok(run(&src, &op).status);
        if (how == 0)
            assert_ok(truncate(path, BLOCK));
        else if (how == 1)
            put(src.data, "big", data, sizeof data); /* same size, other time */
        else if (how == 2)
            assert_ok(utimensat(AT_FDCWD, path, NULL, 0));
        if (how == 3) {
            assert_ok(unlink(path));
            gwd_store_free(src.store); /* its descriptor would go on reading */
            open_site(&src);
            struct gmc_store_op reopen = {.kind = GMC_STORE_REOPEN,
                                          .listing_bytes = scanned.listing_bytes,
                                          .total_bytes = scanned.total_bytes,
                                          .block_bytes = BLOCK};
            assert_int_equal(run(&src, &reopen).status, GMC_ERR_CHANGED);
        } else {
            assert_int_equal(run(&src, &op).status, GMC_ERR_CHANGED);
        }
        assert_non_null(strstr(src.reason, "big"));
        assert_ok(simple(&src, GMC_STORE_CLOSE));
    }
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
    put(src.data, "big", data, sizeof data);
    scanned = scan("big");
    begin = listing_end(scanned.listing_bytes);
    assert_ok(open_at(&dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    copy_range(0, begin);
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    copy_range(begin, begin + 2 * BLOCK);
    assert_ok(simple(&dst, GMC_STORE_SYNC));
    struct gmc_store_op save = {.kind = GMC_STORE_SAVE, .name = "have"};
    save.bytes = gmc_bytes("abc", 3);
    assert_ok(run(&dst, &save).status);
    gwd_store_free(dst.store);
    open_site(&dst);
    assert_ok(open_at(&dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    assert_ok(simple(&dst, GMC_STORE_LAYOUT));
    copy_range(begin + 2 * BLOCK, begin + 5 * BLOCK);
    assert_ok(simple(&dst, GMC_STORE_FINISH));
    assert_ok(simple(&dst, GMC_STORE_FINISH)); /* again: done already */
    same_file("big", "big");
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
    assert_int_equal(run(&dst, &op).status, GMC_ERR_STATE);
    assert_ok(open_at(&dst, "", 100, 5).status);
    assert_ok(run(&dst, &op).status);
    op.kind = GMC_STORE_READ_PAGE;
    op.data = back;
    assert_ok(run(&dst, &op).status);
    assert_memory_equal(page, back, sizeof page);
    op.offset = 6;
    assert_int_equal(run(&dst, &op).status, GMC_ERR_NOT_FOUND);
    op.offset = 8;
    assert_int_equal(run(&dst, &op).status, GMC_ERR_NOT_FOUND);

    struct gmc_store_op save = {.kind = GMC_STORE_SAVE, .name = "have"};
    save.bytes = gmc_bytes("first", 5);
    assert_ok(run(&dst, &save).status);
    save.bytes = gmc_bytes("second", 6);
    assert_ok(run(&dst, &save).status);
    save.name = "../have";
    assert_int_equal(run(&dst, &save).status, GMC_ERR_INVALID);
    /* Another channel that saved nothing is swept away at the next start. */
    key.e = 0x99;
    assert_ok(open_at(&dst, "", 100, 5).status);
    key.e = 0x1234;
    gwd_store_free(dst.store);
    open_site(&dst);
    gwd_store_saved(dst.store, on_saved, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.name, "have");
    assert_int_equal(seen.len, 6);
    assert_memory_equal(seen.bytes, "second", 6);
    assert_false(there(dst.state, "channels/0000000000000099@a.example"));
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_tree),
        CASE(test_names),
        CASE(test_small),
        CASE(test_small_restart),
        CASE(test_small_link),
        CASE(test_scan_refusals),
        CASE(test_open_refusals),
        CASE(test_stored_is_doubtful),
        CASE(test_mismatch),
        CASE(test_destination_refusals),
        CASE(test_destinations_together),
        CASE(test_destination_goes),
        CASE(test_changed),
        CASE(test_resume),
        CASE(test_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
