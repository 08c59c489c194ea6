/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gateway has of an object: the blocks that are verified and stored, what of these its
 * parent was not told yet, both as messages want them, and as a checkpoint that survives a crash.
 *
 * Everything here errs on one side: a block may be missing that is there (it is received again),
 * but none is ever claimed that is not.
 *
 * A checkpoint, all numbers big-endian:
 *
 *    0..3   magic "gmch"
 *    4..5   version, 1
 *    6..7   reserved, 0
 *    8..15  blocks     size of the block space
 *   16..23  horizon    what is not named here is missing at or above it, and may be stored below
 *   24..27  count      of ranges
 *   28..    ranges, ascending and not touching: for each the distance from the end of the range
 *           before (from 0 for the first, then at least 1) and the length (at least 1), as LEB128
 *           in the shortest form
 *   last 32 checksum   hash of all bytes before
 */
#ifndef GMC_CORE_HAVE_H
#define GMC_CORE_HAVE_H

#include "base/interval.h"
#include "core/io.h"
#include "wire/control.h"

struct gmc_have {
    struct gmc_interval_set stored;
    struct gmc_interval_set fresh; /* stored, and not told yet */
    bool all_fresh;                /* nothing was told; fresh is not filled yet */
    uint64_t blocks;               /* size of the block space */
    uint64_t forgotten;            /* blocks that were put in and had no room, for the counters */
};

/* An empty set over `blocks` blocks in at most ranges_max ranges (at least 1, asserted). */
void gmc_have_init(struct gmc_have *have, uint64_t blocks, size_t ranges_max);
void gmc_have_fini(struct gmc_have *have);

/* Puts [first, last] in. Where that takes a range more than the bound, the smallest range (of equal
 * ones the highest; perhaps the new one) is forgotten and returned in *forgotten, which is empty
 * otherwise (lo == hi): the caller wants those blocks again. INVALID when reversed or out of the
 * block space, NOMEM; then nothing has changed. */
GMC_NODISCARD gmc_status gmc_have_add(struct gmc_have *have, uint64_t first, uint64_t last,
                                      struct gmc_interval *forgotten);
/* Takes [lo, hi) out, which turned out to be lost or damaged, and returns what went: that alone,
 * all the range around it where there is no room for the two parts, nothing if not all of it was
 * in. */
struct gmc_interval gmc_have_lose(struct gmc_have *have, uint64_t lo, uint64_t hi);
bool gmc_have_is_whole(const struct gmc_have *have);

/* ---- messages ---- */
/* Up to max ranges of a set, from range *at on, which moves; returns how many. For ATTACH, whose
 * continuation are HAVE messages. */
size_t gmc_have_ranges(const struct gmc_interval_set *set, size_t *at, struct gmc_msg_range *out,
                       size_t max);
/* Up to max ranges of what was added since the last report, the lowest first: they count as told
 * now. Returns how many; 0 when all is told (or memory is short: then nothing counts as told). */
size_t gmc_have_delta(struct gmc_have *have, struct gmc_msg_range *out, size_t max);
/* How many blocks were not told yet. */
uint64_t gmc_have_untold(const struct gmc_have *have);
/* Everything is to be told again (a new parent knows nothing), or counts as told. */
void gmc_have_tell_all(struct gmc_have *have);
void gmc_have_told_all(struct gmc_have *have);
/* Puts a peer's ranges into a set. INVALID when one is empty, reversed or ends beyond the block
 * space: those before it are in. A range for which there is no room is left out: the peer is sent
 * what it has. */
GMC_NODISCARD gmc_status gmc_have_take(struct gmc_interval_set *set, uint64_t blocks,
                                       const struct gmc_msg_range *ranges, size_t count);

/* ---- checkpoints ---- */
/* Writes a set as new bytes, to be released with free(). NOMEM. */
GMC_NODISCARD gmc_status gmc_have_save(const struct gmc_interval_set *set, uint64_t blocks,
                                       uint64_t horizon, const struct gmc_crypto *crypto,
                                       uint8_t **out, size_t *len);
/* Reads a checkpoint of the same block space; the set keeps its bound and loses what it had.
 * TRUNCATED, VERSION, MISMATCH (checksum), INVALID (another block space, or malformed), FULL (more
 * ranges than the bound), NOMEM; then nothing has changed. */
GMC_NODISCARD gmc_status gmc_have_load(struct gmc_bytes bytes, uint64_t blocks,
                                       const struct gmc_crypto *crypto,
                                       struct gmc_interval_set *set, uint64_t *horizon);

#endif
