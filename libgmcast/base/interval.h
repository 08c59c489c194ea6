/* SPDX-License-Identifier: BSD-2-Clause
 * Owns sets of numbers that are kept as ranges: received packets, missing blocks, stored bytes.
 *
 * A range [lo, hi) is half-open. The set holds disjoint ranges that do not touch, in growing order,
 * in one array that grows up to a bound given at the start; looking up takes O(log n), changing
 * O(n) in the worst case and O(log n) at the end of the array, where packets arrive. The largest
 * number that can be a member is UINT64_MAX - 1.
 *
 * An operation that fails leaves the set as it was.
 */
#ifndef GMC_BASE_INTERVAL_H
#define GMC_BASE_INTERVAL_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmc_interval {
    uint64_t lo; /* first member */
    uint64_t hi; /* first number behind the last member */
};

struct gmc_interval_set {
    struct gmc_interval *ranges;
    size_t count;     /* ranges in use */
    size_t capacity;  /* ranges allocated, at most count_max */
    size_t count_max; /* bound */
    uint64_t members; /* numbers in all ranges */
};

/* An empty set of at most max_ranges ranges (at least 1, asserted). Allocates nothing. */
void gmc_interval_init(struct gmc_interval_set *set, size_t max_ranges);

/* Release the array; the set is as after gmc_interval_init with the same bound. */
void gmc_interval_fini(struct gmc_interval_set *set);

/* Take all members out and keep the array. */
void gmc_interval_clear(struct gmc_interval_set *set);

/* Put all of [lo, hi) in; what is in already stays. An empty range is nothing to do.
 *
 * INVALID  lo > hi
 * FULL     a range more than the bound would be needed
 * NOMEM    the array could not grow
 */
GMC_NODISCARD gmc_status gmc_interval_add(struct gmc_interval_set *set, uint64_t lo, uint64_t hi);

/* Take all of [lo, hi) out; what is not in stays out. A range that is split needs one more, so the
 * errors are those of gmc_interval_add.
 */
GMC_NODISCARD gmc_status gmc_interval_remove(struct gmc_interval_set *set, uint64_t lo,
                                             uint64_t hi);

/* Put all members of other (which may be set itself) in. FULL and NOMEM as for gmc_interval_add. */
GMC_NODISCARD gmc_status gmc_interval_add_set(struct gmc_interval_set *set,
                                              const struct gmc_interval_set *other);

bool gmc_interval_contains(const struct gmc_interval_set *set, uint64_t number);

/* Whether each number of [lo, hi) is a member; true if the range is empty. */
bool gmc_interval_contains_range(const struct gmc_interval_set *set, uint64_t lo, uint64_t hi);

/* The smallest number in [from, limit) that is not a member; false if there is none. */
bool gmc_interval_first_missing(const struct gmc_interval_set *set, uint64_t from, uint64_t limit,
                                uint64_t *out);

/* The smallest member in [from, limit); false if there is none. */
bool gmc_interval_first_present(const struct gmc_interval_set *set, uint64_t from, uint64_t limit,
                                uint64_t *out);

/* How many members there are. */
static inline uint64_t gmc_interval_count(const struct gmc_interval_set *set)
{
    return set->members;
}

/* How many ranges there are, and the index-th of them, index below that (asserted). */
size_t gmc_interval_ranges(const struct gmc_interval_set *set);
struct gmc_interval gmc_interval_range_at(const struct gmc_interval_set *set, size_t index);

#endif
