/* SPDX-License-Identifier: BSD-2-Clause */
/* The listing: what an object consists of (directories, files with their holes, symlinks), as
 * bytes, and where each byte of the object's data goes. Pure: shells walk and write the files.
 *
 * Every entry is checked when read: relative path without empty, "." or ".." components, no NUL,
 * component at most 255 bytes, path below GMC_PATH_BYTES_MAX; parents come before children and are
 * directories of this listing (so nothing is ever written through a symlink); no name twice; a
 * symlink's target stays inside the tree that it stands in (relative; ".." only at its beginning,
 * and never above the top-level entry, so that no chain of links leads out either); sizes
 * and extents in order, inside the file, summing up to the object's data bytes; modes have no
 * set-uid, set-gid or sticky bits. Refusals say which entry and why, in words.
 */
#ifndef GMC_CORE_LISTING_H
#define GMC_CORE_LISTING_H

#include "core/io.h"

enum gmc_entry_type { GMC_ENTRY_FILE = 1, GMC_ENTRY_DIRECTORY = 2, GMC_ENTRY_SYMLINK = 3 };

struct gmc_extent {
    uint64_t offset; /* in the file */
    uint64_t len;    /* > 0 */
};

struct gmc_entry {
    enum gmc_entry_type type;
    const char *path; /* relative to the destination directory, '/' separated, any bytes but NUL */
    uint32_t mode;    /* permission bits, 0777 at most */
    int64_t mtime_ns; /* since 1970 */
    uint64_t size;    /* FILE; trailing and inner holes are not in extents */
    size_t extent_count;
    const struct gmc_extent *extents; /* FILE: data parts, ascending, not touching */
    const char *target;               /* SYMLINK */
};

/* ---- writing (the source's scan) ---- */
struct gmc_listing_writer;
struct gmc_listing_writer *gmc_listing_writer_new(void);
void gmc_listing_writer_free(struct gmc_listing_writer *writer);
/* Entries in an order where parents precede children. INVALID, LIMIT, NOMEM, with a reason; the
 * writer is then as before. */
GMC_NODISCARD gmc_status gmc_listing_add(struct gmc_listing_writer *writer,
                                         const struct gmc_entry *entry, const char **reason);
/* The bytes so far; borrowed until the next add. */
struct gmc_bytes gmc_listing_bytes(const struct gmc_listing_writer *writer);
uint64_t gmc_listing_data_bytes(const struct gmc_listing_writer *writer);

/* ---- reading ---- */
struct gmc_listing;
/* Parses and checks all; data_bytes is what the signed record says. Borrows nothing of bytes
 * afterwards. INVALID, LIMIT, NOMEM; reason (at most reason_len bytes, always ended by a NUL) says
 * which entry and why. */
GMC_NODISCARD gmc_status gmc_listing_parse(struct gmc_bytes bytes, uint64_t data_bytes,
                                           struct gmc_listing **out, char *reason,
                                           size_t reason_len);
void gmc_listing_free(struct gmc_listing *listing);
size_t gmc_listing_count(const struct gmc_listing *listing);
const struct gmc_entry *gmc_listing_entry(const struct gmc_listing *listing, size_t i);

/* The pieces of the data byte space [offset, offset+len) (offset 0 = first data byte, after the
 * listing): calls visit(ctx, entry index, offset in the file, offset in the buffer, length) in
 * order; stops at the first error. INVALID when the range passes the end of the data. Logarithmic
 * in the number of extents. Thread-safe. */
typedef gmc_status (*gmc_listing_visit)(void *ctx, size_t entry, uint64_t file_offset,
                                        size_t buffer_offset, size_t len);
GMC_NODISCARD gmc_status gmc_listing_map(const struct gmc_listing *listing, uint64_t offset,
                                         size_t len, gmc_listing_visit visit, void *ctx);

#endif
