/* SPDX-License-Identifier: BSD-2-Clause */
/* Two stores on directories of their own that tests of gatewayd move objects between: what the
 * source scans, the target writes. All of them fail the test where an operation does not do what
 * it should. */
#ifndef TESTS_UNIT_GWD_SITES_H
#define TESTS_UNIT_GWD_SITES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "core/manifest.h"
#include "gatewayd/store.h"

#define BLOCK 65536u

struct site {
    struct gwd_conf conf;
    struct gwd_conf_grant receives[2], serves[2];
    char state[200], data[200], in[200], *exports[2];
    struct gwd_store *store;
    uint64_t tickets;
    char reason[GMC_REASON_BYTES_MAX]; /* of the last operation */
};

extern char site_dir[64]; /* in which both are */
extern struct gmc_crypto site_crypto;
extern struct site site_src, site_dst;
extern struct gmc_channel_key site_key; /* of the channel that is worked on: 0x1234 of a.example */

/* For each test, as cmocka wants them. */
int site_set_up(void **state);
int site_tear_down(void **state);
/* The store of a site, after it was freed: as a restart does. */
void site_open(struct site *site);

/* One operation, which is waited for. */
struct gmc_store_result site_run(struct site *site, const struct gmc_store_op *op);
gmc_status site_do(struct site *site, enum gmc_store_kind kind);
/* A name in the data of the source, or an absolute path. */
struct gmc_store_result site_scan(const char *name);
struct gmc_store_result site_receive(struct site *site, const char *dest, uint64_t listing,
                                     uint64_t total);
/* Where the files begin in the byte space. */
uint64_t site_listing_end(uint64_t listing);
/* Copies [from, to) of the byte space, block by block, checked by hash. */
void site_copy_range(uint64_t from, uint64_t to);
/* All of what was scanned, to its end. */
void site_transfer(const struct gmc_store_result *scanned, const char *dest);
/* Scans, and copies the listing alone. */
void site_lay_out(const char *name, const char *dest);
/* Gives up what was begun, at both. */
void site_discard(void);

/* Files, by the directory they are in. */
void site_put(const char *at, const char *name, const void *data, size_t len);
struct stat site_look(const char *at, const char *name);
bool site_has(const char *at, const char *name);
/* Whether the target's file is that of the source, with all that is kept of it. */
void site_same_file(const char *name, const char *at);

#endif
