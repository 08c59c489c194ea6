/* SPDX-License-Identifier: BSD-2-Clause */
/* Two stores that tests of gatewayd move objects between; see gwd_sites.h. */
#include "tests/unit/gwd_sites.h"

#include "tests/lib/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/openssl.h"
#include "gatewayd/text.h"
#include "tests/unit/gwd_certs.h"

static struct gmc_crypto_openssl *openssl;
char site_dir[64];
struct gmc_crypto site_crypto;
struct site site_src, site_dst;
struct gmc_channel_key site_key;

struct gmc_store_result site_run(struct site *site, const struct gmc_store_op *op)
{
    struct gmc_store_op asked = *op;
    struct gmc_store_result result;
    asked.ticket = ++site->tickets;
    asked.key = &site_key;
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

gmc_status site_do(struct site *site, enum gmc_store_kind kind)
{
    struct gmc_store_op op = {.kind = kind};
    return site_run(site, &op).status;
}

void site_open(struct site *site)
{
    char reason[256] = "";
    site->store = gwd_store_new(&site->conf, &site_crypto, reason, sizeof reason);
    if (site->store == NULL)
        fail_msg("%s", reason);
}

static void make_site(struct site *site, const char *name)
{
    memset(site, 0, sizeof *site);
    gwd_text(site->state, sizeof site->state, "%s/%s-state", site_dir, name);
    gwd_text(site->data, sizeof site->data, "%s/%s-data", site_dir, name);
    gwd_text(site->in, sizeof site->in, "%s/%s-in", site_dir, name);
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
    site_open(site);
}

int site_set_up(void **state)
{
    static const uint8_t seed[32] = {1};
    (void)state;
    test_dir_make(site_dir, sizeof site_dir);
    openssl = gmc_crypto_openssl_new(NULL, seed);
    gmc_crypto_openssl_table(openssl, &site_crypto);
    memset(&site_key, 0, sizeof site_key);
    (void)strcpy(site_key.source, "a.example");
    site_key.e = 0x1234;
    (void)umask(022);
    make_site(&site_src, "src");
    make_site(&site_dst, "dst");
    return 0;
}

int site_tear_down(void **state)
{
    (void)state;
    gwd_store_free(site_src.store);
    gwd_store_free(site_dst.store);
    gmc_crypto_openssl_free(openssl);
    test_dir_remove(site_dir);
    return 0;
}

void site_put(const char *at, const char *name, const void *data, size_t len)
{
    char path[1024];
    gwd_text(path, sizeof path, "%s/%s", at, name);
    test_file_write(path, data, len);
}

struct stat site_look(const char *at, const char *name)
{
    char path[1024];
    struct stat st;
    gwd_text(path, sizeof path, "%s/%s", at, name);
    if (lstat(path, &st) != 0)
        fail_msg("%s: %s", path, strerror(errno));
    return st;
}

bool site_has(const char *at, const char *name)
{
    char path[1024];
    struct stat st;
    gwd_text(path, sizeof path, "%s/%s", at, name);
    return lstat(path, &st) == 0;
}

struct gmc_store_result site_scan(const char *name)
{
    char path[1024];
    const char *paths[1] = {path};
    struct gmc_store_op op = {.kind = GMC_STORE_SCAN, .paths = paths, .path_count = 1};
    op.block_bytes = BLOCK;
    gwd_text(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : site_src.data,
             name[0] == '/' ? "" : "/", name);
    return site_run(&site_src, &op);
}

struct gmc_store_result site_receive(struct site *site, const char *dest, uint64_t listing,
                                     uint64_t total)
{
    struct gmc_store_op op = {.kind = GMC_STORE_OPEN,
                              .dest = dest,
                              .listing_bytes = listing,
                              .total_bytes = total,
                              .block_bytes = BLOCK};
    return site_run(site, &op);
}

uint64_t site_listing_end(uint64_t listing)
{
    return (listing + BLOCK - 1) / BLOCK * BLOCK;
}

void site_copy_range(uint64_t from, uint64_t to)
{
    static uint8_t block[BLOCK];
    for (uint64_t at = from; at < to; at += BLOCK) {
        size_t len = to - at < BLOCK ? (size_t)(to - at) : BLOCK;
        struct gmc_store_op op = {.kind = GMC_STORE_READ, .offset = at, .data = block, .len = len};
        struct gmc_store_result read = site_run(&site_src, &op);
        if (read.status != GMC_OK)
            fail_msg("read: %s", site_src.reason);
        op.kind = GMC_STORE_WRITE;
        memcpy(op.hash, read.hash, sizeof op.hash);
        if (site_run(&site_dst, &op).status != GMC_OK)
            fail_msg("write: %s", site_dst.reason);
    }
}

void site_transfer(const struct gmc_store_result *scanned, const char *dest)
{
    uint64_t begin = site_listing_end(scanned->listing_bytes);
    if (site_receive(&site_dst, dest, scanned->listing_bytes, scanned->total_bytes).status !=
        GMC_OK)
        fail_msg("open: %s", site_dst.reason);
    site_copy_range(0, begin);
    if (site_do(&site_dst, GMC_STORE_LAYOUT) != GMC_OK)
        fail_msg("layout: %s", site_dst.reason);
    site_copy_range(begin, begin + scanned->total_bytes);
    assert_ok(site_do(&site_dst, GMC_STORE_SYNC));
    if (site_do(&site_dst, GMC_STORE_FINISH) != GMC_OK)
        fail_msg("finish: %s", site_dst.reason);
}

void site_same_file(const char *name, const char *at)
{
    char a[1024], b[1024], command[2200];
    struct stat x = site_look(site_src.data, name), y;
    gwd_text(a, sizeof a, "%s/%s", site_src.data, name);
    gwd_text(b, sizeof b, "%s/%s", site_dst.in, at);
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

void site_lay_out(const char *name, const char *dest)
{
    struct gmc_store_result scanned = site_scan(name);
    assert_ok(scanned.status);
    assert_ok(site_receive(&site_dst, dest, scanned.listing_bytes, scanned.total_bytes).status);
    site_copy_range(0, site_listing_end(scanned.listing_bytes));
}

void site_discard(void)
{
    struct gmc_store_op op = {.kind = GMC_STORE_CLOSE, .discard = true};
    assert_ok(site_run(&site_dst, &op).status);
    assert_ok(site_do(&site_src, GMC_STORE_CLOSE));
}
