/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the listing share: the bytes of one entry, the checks, the table of names.
 * Nobody else includes it.
 *
 * The bytes. "gmcl", one byte of version (1), then the entries to the end. Numbers are varints:
 * 7 bits a byte, the lowest first, the high bit set in all but the last byte, and no longer than
 * needed. An entry is:
 *
 *   kind     1 byte: 1 file, 2 directory, 3 symlink, 4 file with holes
 *   back     its directory: 0 the destination; n the n-th of the directories listed so far,
 *            counted from the latest (1)
 *   name     length, bytes: the last component of its path
 *   mode     permission bits
 *   mtime    8 bytes, big-endian, two's complement: ns since 1970
 *   file     size
 *   sparse   size, count of extents, for each: bytes skipped since the last one, bytes of data
 *   symlink  length and bytes of the target
 *
 * So a path, a parent that comes later and a parent that is no directory cannot be written down.
 * A file without holes has kind 1 (an empty one too): there is one way to write an entry. */
#ifndef GMC_CORE_LISTING_IMPL_H
#define GMC_CORE_LISTING_IMPL_H

#include "core/listing.h"

#define GMC_LISTING_HEAD_BYTES 5
#define GMC_LISTING_BYTES_MAX ((size_t)1 << 30) /* so that 32-bit indexes do */
#define GMC_LISTING_NAME_MAX 255
#define GMC_LISTING_TOP UINT32_MAX /* the parent of entries in the destination itself */

extern const uint8_t gmc_listing_head[GMC_LISTING_HEAD_BYTES];

enum gmc_listing_kind { GMC_LISTING_SPARSE = 4 }; /* the others: enum gmc_entry_type */

/* One entry as it stands in the bytes; all borrowed from them. */
struct gmc_listing_raw {
    enum gmc_entry_type type;
    bool sparse;
    uint64_t back;
    struct gmc_bytes name;
    uint64_t mode;
    int64_t mtime_ns;
    uint64_t size;
    uint64_t extent_count;    /* of data: 1 for a whole file, 0 for an empty one */
    struct gmc_bytes extents; /* sparse: their bytes */
    uint64_t data_bytes;      /* of all extents */
    struct gmc_bytes target;
};

/* Reads and checks all of an entry that needs no other entry. NULL, or why it is refused. */
const char *gmc_listing_next(struct gmc_reader *reader, struct gmc_listing_raw *raw);
/* The next extent of raw->extents, which gmc_listing_next has checked; *end begins as 0. */
struct gmc_extent gmc_listing_next_extent(struct gmc_reader *reader, uint64_t *end);

/* Bytes that a varint may take. */
#define GMC_VARINT_MAX 10
uint8_t *gmc_varint_put(uint8_t *out, uint64_t value);

/* ---- checks: NULL, or why it is refused ---- */
const char *gmc_listing_check_name(struct gmc_bytes name);
const char *gmc_listing_check_mode(uint64_t mode);
/* An extent that begins `skipped` bytes behind the last one, which ended at `end` (0: none). */
const char *gmc_listing_check_extent(uint64_t size, bool first, uint64_t end, uint64_t skipped,
                                     uint64_t len);
/* A target of a symlink whose directory has `depth` components. Only a leading ".." counts up:
 * behind another component it would go up from wherever a link at that component leads. The tree is
 * that of the top-level entry; a top-level symlink may lead to its neighbours. */
const char *gmc_listing_check_target(struct gmc_bytes target, uint32_t depth);

/* ---- names: (directory, name) -> entry ---- */
struct gmc_listing_names {
    struct gmc_listing_name *entries;
    size_t count, capacity;
    uint32_t *slots; /* open addressing: entry index + 1; 0 free */
    size_t slot_count;
};

/* Names are borrowed until the table is released, from `base` on, which is given with each call
 * because it may move. */
void gmc_listing_names_init(struct gmc_listing_names *names);
void gmc_listing_names_fini(struct gmc_listing_names *names);
/* Makes room for count entries in all. */
GMC_NODISCARD gmc_status gmc_listing_names_reserve(struct gmc_listing_names *names, size_t count);
/* The entry of that name in directory parent (an entry index, or TOP); UINT32_MAX none. */
uint32_t gmc_listing_names_find(const struct gmc_listing_names *names, const uint8_t *base,
                                uint32_t parent, struct gmc_bytes name);
/* Adds the next entry. EXISTS; NOMEM; LIMIT when too many names fall together, which good names do
 * not do, but chosen ones could to make the search long. */
GMC_NODISCARD gmc_status gmc_listing_names_add(struct gmc_listing_names *names, const uint8_t *base,
                                               uint32_t parent, struct gmc_bytes name);

#endif
