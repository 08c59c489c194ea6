/* SPDX-License-Identifier: BSD-2-Clause */
/* A receive folder on a file server whose clock is not that of the host: a checkpoint and the files
 * that it names are compared by one clock. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gatewayd/text.h"
#include "tests/unit/gwd_sites.h"

#define HOUR 3600

static int64_t ahead; /* of the host, in seconds: the file server's clock */

int __real_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *st);
int __wrap_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *st);

/* The store asks so for times of change, and for nothing else. */
int __wrap_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *st)
{
    int result = __real_statx(dirfd, path, flags, mask, st);
    st->stx_ctime.tv_sec += ahead;
    return result;
}

/* One block of two is stored, and a checkpoint names it. */
static struct gmc_store_op receive_half(struct gmc_interval_set *stored)
{
    static uint8_t content[2 * BLOCK];
    struct gmc_store_op save = {.kind = GMC_STORE_SAVE, .name = GMC_SAVED_HAVE};
    struct gmc_store_op open = {.kind = GMC_STORE_OPEN,
                                .dest = "",
                                .block_bytes = BLOCK,
                                .stored = stored};
    site_put(site_src.data, "x", content, sizeof content);
    struct gmc_store_result scanned = site_scan("x");
    uint64_t begin = site_listing_end(scanned.listing_bytes);
    open.listing_bytes = scanned.listing_bytes;
    open.total_bytes = scanned.total_bytes;
    assert_ok(site_receive(&site_dst, "", scanned.listing_bytes, scanned.total_bytes).status);
    site_copy_range(0, begin);
    assert_ok(site_do(&site_dst, GMC_STORE_LAYOUT));
    site_copy_range(begin, begin + BLOCK);
    assert_ok(site_do(&site_dst, GMC_STORE_SYNC));
    (void)usleep(20000); /* those clocks tick every few milliseconds */
    assert_ok(site_run(&site_dst, &save).status);
    gmc_interval_init(stored, 4);
    assert_ok(gmc_interval_add(stored, 0, 2 + begin / BLOCK)); /* a page before it */
    return open;
}

/* How many blocks are doubtful after a restart. */
static uint64_t reopen(const struct gmc_store_op *open)
{
    gwd_store_free(site_dst.store);
    site_open(&site_dst);
    struct gmc_store_result result = site_run(&site_dst, open);
    assert_ok(result.status);
    return result.doubtful != NULL ? gmc_interval_count(result.doubtful) : 0;
}

static void by_a_clock(int64_t seconds)
{
    struct gmc_interval_set stored;
    ahead = seconds;
    struct gmc_store_op open = receive_half(&stored);
    assert_int_equal(reopen(&open), 0);
    /* Ten seconds later, in place. */
    ahead += 10;
    site_put(site_dst.in, ".gmcast-0000000000001234.part/x", "other", 5);
    char path[1024];
    gwd_text(path, sizeof path, "%s/.gmcast-0000000000001234.part/x", site_dst.in);
    assert_ok(truncate(path, BLOCK));
    assert_int_equal(reopen(&open), 1);
    gmc_interval_fini(&stored);
    site_discard();
}

static void test_ahead(void **state)
{
    (void)state;
    by_a_clock(HOUR);
}

static void test_behind(void **state)
{
    (void)state;
    by_a_clock(-HOUR);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, site_set_up, site_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_ahead), CASE(test_behind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
