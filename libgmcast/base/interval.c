/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the sorted array of ranges behind an interval set.
 *
 * Invariant between calls: ranges[i].lo < ranges[i].hi < ranges[i + 1].lo. Ranges that touch are
 * one range, so there is one array for one set, and equal sets have equal arrays.
 */
#include "base/interval.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* Most sets stay at a few ranges; loss makes them grow. */
#define FIRST_CAPACITY 4

void gmc_interval_init(struct gmc_interval_set *set, size_t max_ranges)
{
    GMC_ASSERT(max_ranges > 0);
    *set = (struct gmc_interval_set){.count_max = max_ranges};
}

void gmc_interval_fini(struct gmc_interval_set *set)
{
    free(set->ranges);
    *set = (struct gmc_interval_set){.count_max = set->count_max};
}

void gmc_interval_clear(struct gmc_interval_set *set)
{
    set->count = 0;
    set->members = 0;
}

/* The index of the first range whose hi is not below number (it contains number, touches it or
 * lies behind it), count if there is none.
 */
static size_t find_touching(const struct gmc_interval_set *set, uint64_t number)
{
    size_t low = 0, high = set->count;

    /* In-order arrival is the common case: try the last range before searching. */
    if (high > 0 && set->ranges[high - 1].lo <= number)
        low = set->ranges[high - 1].hi < number ? high : high - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->ranges[middle].hi < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The index of the first range that ends behind number (it contains number or lies behind it). */
static size_t find_behind(const struct gmc_interval_set *set, uint64_t number)
{
    size_t index = find_touching(set, number);

    if (index < set->count && set->ranges[index].hi == number)
        index++;
    return index;
}

static gmc_status ensure_capacity(struct gmc_interval_set *set, size_t needed)
{
    size_t capacity = set->capacity > 0 ? set->capacity : FIRST_CAPACITY;
    struct gmc_interval *ranges;

    if (needed <= set->capacity)
        return GMC_OK;
    if (needed > set->count_max)
        return GMC_ERR_FULL;
    while (capacity < needed && capacity <= set->count_max / 2)
        capacity *= 2;
    /* Behind the last doubling below the bound comes the bound itself. */
    if (capacity < needed || capacity > set->count_max)
        capacity = set->count_max;
    if (capacity > SIZE_MAX / sizeof *ranges)
        return GMC_ERR_NOMEM;
    ranges = realloc(set->ranges, capacity * sizeof *ranges);
    if (ranges == NULL)
        return GMC_ERR_NOMEM;
    set->ranges = ranges;
    set->capacity = capacity;
    return GMC_OK;
}

/* Put count new ranges (0 to 2) in the place of ranges[first] to ranges[last - 1] and keep the sum
 * of members. The caller has made sure that the order stays right.
 */
static gmc_status replace(struct gmc_interval_set *set, size_t first, size_t last,
                          const struct gmc_interval *with, size_t count)
{
    size_t after = set->count - last;
    gmc_status status = ensure_capacity(set, set->count - (last - first) + count);

    if (status != GMC_OK)
        return status;
    for (size_t i = first; i < last; i++)
        set->members -= set->ranges[i].hi - set->ranges[i].lo;
    if (after > 0)
        memmove(&set->ranges[first + count], &set->ranges[last], after * sizeof *set->ranges);
    for (size_t i = 0; i < count; i++) {
        set->members += with[i].hi - with[i].lo;
        set->ranges[first + i] = with[i];
    }
    set->count = first + count + after;
    return GMC_OK;
}

gmc_status gmc_interval_add(struct gmc_interval_set *set, uint64_t lo, uint64_t hi)
{
    struct gmc_interval merged = {lo, hi};
    size_t first, last;

    if (lo > hi)
        return GMC_ERR_INVALID;
    if (lo == hi)
        return GMC_OK;
    /* Numbers come in order most of the time: the last range grows. */
    if (set->count > 0 && lo >= set->ranges[set->count - 1].lo &&
        lo <= set->ranges[set->count - 1].hi) {
        struct gmc_interval *end = &set->ranges[set->count - 1];

        if (hi > end->hi) {
            set->members += hi - end->hi;
            end->hi = hi;
        }
        return GMC_OK;
    }
    /* All ranges that overlap or touch [lo, hi) become one with it. */
    first = find_touching(set, lo);
    for (last = first; last < set->count && set->ranges[last].lo <= hi; last++) {
        if (set->ranges[last].lo < merged.lo)
            merged.lo = set->ranges[last].lo;
        if (set->ranges[last].hi > merged.hi)
            merged.hi = set->ranges[last].hi;
    }
    return replace(set, first, last, &merged, 1);
}

gmc_status gmc_interval_remove(struct gmc_interval_set *set, uint64_t lo, uint64_t hi)
{
    struct gmc_interval left[2];
    size_t first, last, count = 0;

    if (lo > hi)
        return GMC_ERR_INVALID;
    if (lo == hi)
        return GMC_OK;
    first = find_behind(set, lo);
    for (last = first; last < set->count && set->ranges[last].lo < hi; last++)
        ;
    if (first == last)
        return GMC_OK;
    /* Of the first and the last range that are hit, what sticks out stays. */
    if (set->ranges[first].lo < lo)
        left[count++] = (struct gmc_interval){set->ranges[first].lo, lo};
    if (set->ranges[last - 1].hi > hi)
        left[count++] = (struct gmc_interval){hi, set->ranges[last - 1].hi};
    return replace(set, first, last, left, count);
}

/* Merge the sorted ranges of a and b into out, which may be NULL to count only. Returns how many
 * ranges the union has; *members is their sum.
 */
static size_t merge(const struct gmc_interval_set *a, const struct gmc_interval_set *b,
                    struct gmc_interval *out, uint64_t *members)
{
    struct gmc_interval open = {0, 0};
    size_t ia = 0, ib = 0, count = 0;

    *members = 0;
    while (ia < a->count || ib < b->count) {
        bool from_a = ib == b->count || (ia < a->count && a->ranges[ia].lo <= b->ranges[ib].lo);
        struct gmc_interval next = from_a ? a->ranges[ia++] : b->ranges[ib++];

        if (count > 0 && next.lo <= open.hi) {
            if (next.hi <= open.hi)
                continue;
            *members += next.hi - open.hi;
            open.hi = next.hi;
        } else {
            *members += next.hi - next.lo;
            open = next;
            count++;
        }
        if (out != NULL)
            out[count - 1] = open;
    }
    return count;
}

gmc_status gmc_interval_add_set(struct gmc_interval_set *set, const struct gmc_interval_set *other)
{
    struct gmc_interval *ranges;
    uint64_t members;
    size_t count;

    if (set == other || other->count == 0)
        return GMC_OK;
    /* One pass to learn the size: a bound that is passed must leave the set as it was, and adding
     * range by range could pass it in between though the union is small.
     */
    count = merge(set, other, NULL, &members);
    if (count > set->count_max)
        return GMC_ERR_FULL;
    ranges = malloc(count * sizeof *ranges);
    if (ranges == NULL)
        return GMC_ERR_NOMEM;
    merge(set, other, ranges, &members);
    free(set->ranges);
    set->ranges = ranges;
    set->count = count;
    set->capacity = count;
    set->members = members;
    return GMC_OK;
}

bool gmc_interval_contains(const struct gmc_interval_set *set, uint64_t number)
{
    size_t index = find_behind(set, number);

    return index < set->count && set->ranges[index].lo <= number;
}

bool gmc_interval_contains_range(const struct gmc_interval_set *set, uint64_t lo, uint64_t hi)
{
    size_t index;

    if (lo >= hi)
        return true;
    index = find_behind(set, lo);
    return index < set->count && set->ranges[index].lo <= lo && set->ranges[index].hi >= hi;
}

bool gmc_interval_first_missing(const struct gmc_interval_set *set, uint64_t from, uint64_t limit,
                                uint64_t *out)
{
    size_t index = find_behind(set, from);

    /* Ranges do not touch: behind the one that contains from there is a gap. */
    if (index < set->count && set->ranges[index].lo <= from)
        from = set->ranges[index].hi;
    if (from >= limit)
        return false;
    *out = from;
    return true;
}

bool gmc_interval_first_present(const struct gmc_interval_set *set, uint64_t from, uint64_t limit,
                                uint64_t *out)
{
    size_t index = find_behind(set, from);

    if (index == set->count)
        return false;
    if (from < set->ranges[index].lo)
        from = set->ranges[index].lo;
    if (from >= limit)
        return false;
    *out = from;
    return true;
}

size_t gmc_interval_ranges(const struct gmc_interval_set *set)
{
    return set->count;
}

struct gmc_interval gmc_interval_range_at(const struct gmc_interval_set *set, size_t index)
{
    GMC_ASSERT(index < set->count);
    return set->ranges[index];
}
