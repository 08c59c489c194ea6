/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the operation fuzzer of base/interval: the input is a list of operations, the oracle is a
 * bitmap of 256 numbers.
 *
 * Input   byte 0: bound on ranges - 1; then triples (operation, lo, hi)
 */
#include "base/assert.h"
#include "base/interval.h"

#include <stdint.h>
#include <string.h>

enum { NUMBERS = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How many ranges the bitmap needs. */
static size_t bitmap_ranges(const bool *bits)
{
    size_t count = 0;

    for (int i = 0; i < NUMBERS; i++)
        count += bits[i] && (i == 0 || !bits[i - 1]);
    return count;
}

static uint64_t bitmap_members(const bool *bits)
{
    uint64_t count = 0;

    for (int i = 0; i < NUMBERS; i++)
        count += bits[i];
    return count;
}

/* Each number is in where it should be, and the array keeps its invariant. */
static void check_equal(const struct gmc_interval_set *set, const bool *bits)
{
    uint64_t floor = 0;

    GMC_ASSERT(gmc_interval_ranges(set) == bitmap_ranges(bits));
    GMC_ASSERT(gmc_interval_count(set) == bitmap_members(bits));
    GMC_ASSERT(set->count <= set->capacity && set->capacity <= set->count_max);
    for (size_t i = 0; i < gmc_interval_ranges(set); i++) {
        struct gmc_interval range = gmc_interval_range_at(set, i);

        GMC_ASSERT(range.lo < range.hi && (i == 0 || range.lo > floor));
        floor = range.hi;
    }
    for (unsigned i = 0; i < NUMBERS; i++)
        GMC_ASSERT(gmc_interval_contains(set, i) == bits[i]);
}

static void check_queries(const struct gmc_interval_set *set, const bool *bits, unsigned lo,
                          unsigned hi)
{
    unsigned missing = lo, present = lo;
    uint64_t out = 0;
    bool found;

    while (missing < hi && bits[missing])
        missing++;
    while (present < hi && !bits[present])
        present++;
    GMC_ASSERT(gmc_interval_contains_range(set, lo, hi) == (missing >= hi));
    found = gmc_interval_first_missing(set, lo, hi, &out);
    GMC_ASSERT(found == (missing < hi) && (!found || out == missing));
    found = gmc_interval_first_present(set, lo, hi, &out);
    GMC_ASSERT(found == (present < hi) && (!found || out == present));
}

/* Put the change on both sides. The set has to refuse it exactly if the bitmap would need more
 * ranges than the bound.
 */
static void change(struct gmc_interval_set *set, bool *bits, bool value, unsigned lo, unsigned hi)
{
    bool wanted[NUMBERS];
    gmc_status status;

    memcpy(wanted, bits, sizeof wanted);
    for (unsigned i = lo; i < hi; i++)
        wanted[i] = value;
    status = value ? gmc_interval_add(set, lo, hi) : gmc_interval_remove(set, lo, hi);
    if (lo > hi)
        GMC_ASSERT(status == GMC_ERR_INVALID);
    else if (bitmap_ranges(wanted) > set->count_max)
        GMC_ASSERT(status == GMC_ERR_FULL);
    else
        GMC_ASSERT(status == GMC_OK);
    if (status == GMC_OK)
        memcpy(bits, wanted, sizeof wanted);
}

/* Unite with a second set of two ranges. */
static void unite(struct gmc_interval_set *set, bool *bits, unsigned lo, unsigned hi)
{
    struct gmc_interval_set other;
    bool wanted[NUMBERS];
    gmc_status status;

    memcpy(wanted, bits, sizeof wanted);
    for (unsigned i = 0; i < NUMBERS; i++)
        wanted[i] = wanted[i] || i < lo || i >= hi;
    gmc_interval_init(&other, 2);
    GMC_ASSERT(gmc_interval_add(&other, 0, lo) == GMC_OK);
    GMC_ASSERT(gmc_interval_add(&other, hi > lo ? hi : lo, NUMBERS) == GMC_OK);
    if (lo > hi)
        memset(wanted, true, sizeof wanted);
    status = gmc_interval_add_set(set, &other);
    GMC_ASSERT(status == (bitmap_ranges(wanted) > set->count_max ? GMC_ERR_FULL : GMC_OK));
    if (status == GMC_OK)
        memcpy(bits, wanted, sizeof wanted);
    gmc_interval_fini(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_interval_set set;
    bool bits[NUMBERS] = {false};

    if (size == 0)
        return 0;
    gmc_interval_init(&set, (size_t)data[0] + 1);
    for (size_t i = 1; i + 3 <= size; i += 3) {
        unsigned lo = data[i + 1], hi = data[i + 2];

        switch (data[i] % 8) {
        case 0:
        case 1:
        case 2:
            change(&set, bits, true, lo, hi);
            break;
        case 3:
        case 4:
            change(&set, bits, false, lo, hi);
            break;
        case 5:
            unite(&set, bits, lo, hi);
            break;
        case 6:
            check_queries(&set, bits, lo, hi);
            break;
        default:
            gmc_interval_clear(&set);
            memset(bits, 0, sizeof bits);
            break;
        }
        check_equal(&set, bits);
    }
    gmc_interval_fini(&set);
    return 0;
}
