/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/have: the bound and what it forgets, reports, checkpoints and their damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/prng.h"
#include "core/have.h"
#include "tests/unit/toy_crypto.h"

static struct toy_ctx toy;
static const struct gmc_crypto crypto = {&toy_crypto_ops, &toy};

/* A set as text: "0-3 7-7". */
static const char *text_of(const struct gmc_interval_set *set)
{
    static char text[1024];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < gmc_interval_ranges(set); i++) {
        struct gmc_interval range = gmc_interval_range_at(set, i);

        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu-%llu", i > 0 ? " " : "",
                                 (unsigned long long)range.lo, (unsigned long long)range.hi - 1);
    }
    return text;
}

static const char *text_of_ranges(const struct gmc_msg_range *ranges, size_t count)
{
    static char text[1024];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu-%llu", i > 0 ? " " : "",
                                 (unsigned long long)ranges[i].first,
                                 (unsigned long long)ranges[i].last);
    return text;
}

/* Adds and tells what was forgotten: "" or "5-6". */
static const char *add(struct gmc_have *have, uint64_t first, uint64_t last)
{
    static char text[64];
    struct gmc_interval forgotten;

    assert_int_equal(gmc_have_add(have, first, last, &forgotten), GMC_OK);
    text[0] = '\0';
    if (forgotten.lo != forgotten.hi)
        snprintf(text, sizeof(text), "%llu-%llu", (unsigned long long)forgotten.lo,
                 (unsigned long long)forgotten.hi - 1);
    return text;
}

static const char *delta(struct gmc_have *have, size_t max)
{
    struct gmc_msg_range out[16];

    return text_of_ranges(out, gmc_have_delta(have, out, max));
}

/* ---- adding ---- */

static void adding(void **state)
{
    struct gmc_interval forgotten = {7, 7};
    struct gmc_have have;

    (void)state;
    gmc_have_init(&have, 100, 8);
    assert_int_equal(gmc_have_untold(&have), 0);
    assert_string_equal(add(&have, 5, 5), "");
    assert_string_equal(add(&have, 0, 3), "");
    assert_int_equal(gmc_have_untold(&have), 5);
    assert_string_equal(add(&have, 4, 4), "");
    assert_string_equal(text_of(&have.stored), "0-5");
    assert_int_equal(gmc_have_add(&have, 6, 5, &forgotten), GMC_ERR_INVALID);
    assert_int_equal(gmc_have_add(&have, 6, 100, &forgotten), GMC_ERR_INVALID);
    assert_int_equal(gmc_have_add(&have, UINT64_MAX, UINT64_MAX, &forgotten), GMC_ERR_INVALID);
    assert_int_equal(gmc_have_add(&have, 0, UINT64_MAX, &forgotten), GMC_ERR_INVALID);
    assert_int_equal(forgotten.lo, 7);
    assert_string_equal(text_of(&have.stored), "0-5");
    assert_false(gmc_have_is_whole(&have));
    assert_string_equal(add(&have, 6, 99), "");
    assert_true(gmc_have_is_whole(&have));
    assert_int_equal(have.forgotten, 0);
    gmc_have_fini(&have);
}

static void forgetting(void **state)
{
    struct gmc_have have;

    (void)state;
    gmc_have_init(&have, 1000, 3);
    add(&have, 0, 9);
    add(&have, 20, 21);
    add(&have, 30, 34);
    assert_string_equal(add(&have, 40, 40), "40-40"); /* the new one is the smallest */
    assert_string_equal(add(&have, 40, 41), "40-41"); /* so also when it is no larger */
    assert_string_equal(add(&have, 40, 42), "20-21");
    assert_string_equal(text_of(&have.stored), "0-9 30-34 40-42");
    assert_string_equal(add(&have, 35, 39), ""); /* what closes a gap needs no room */
    assert_string_equal(text_of(&have.stored), "0-9 30-42");
    add(&have, 50, 50);
    assert_string_equal(add(&have, 60, 61), "50-50");
    assert_string_equal(add(&have, 70, 79), "60-61");
    assert_string_equal(add(&have, 90, 100), "70-79"); /* of 0-9 and 70-79 the higher */
    assert_int_equal(have.forgotten, 1 + 2 + 2 + 1 + 2 + 10);
    /* What is forgotten is not told. */
    assert_string_equal(delta(&have, 16), "0-9 30-42 90-100");
    gmc_have_fini(&have);
}

static void losing(void **state)
{
    struct gmc_have have;
    struct gmc_interval lost;

    (void)state;
    gmc_have_init(&have, 100, 2);
    add(&have, 0, 9);
    lost = gmc_have_lose(&have, 20, 21);
    assert_int_equal(lost.lo, lost.hi);
    lost = gmc_have_lose(&have, 8, 11); /* not all of it is there */
    assert_int_equal(lost.lo, lost.hi);
    lost = gmc_have_lose(&have, 5, 6);
    assert_true(lost.lo == 5 && lost.hi == 6);
    assert_string_equal(text_of(&have.stored), "0-4 6-9");
    lost = gmc_have_lose(&have, 0, 1); /* an end needs no room */
    assert_true(lost.lo == 0 && lost.hi == 1);
    lost = gmc_have_lose(&have, 8, 9); /* no room for two parts */
    assert_true(lost.lo == 6 && lost.hi == 10);
    assert_string_equal(text_of(&have.stored), "1-4");
    assert_string_equal(delta(&have, 16), "1-4");
    assert_int_equal(have.forgotten, 3);
    gmc_have_fini(&have);
}

/* ---- reports ---- */

static void reports(void **state)
{
    struct gmc_have have;

    (void)state;
    gmc_have_init(&have, 1000, 16);
    assert_string_equal(delta(&have, 16), "");
    add(&have, 10, 19);
    add(&have, 30, 30);
    assert_string_equal(delta(&have, 16), "10-19 30-30");
    assert_string_equal(delta(&have, 16), "");
    add(&have, 20, 20); /* only what is new, not the range that it made larger */
    add(&have, 0, 0);
    add(&have, 50, 50);
    assert_string_equal(delta(&have, 2), "0-0 20-20");
    assert_string_equal(delta(&have, 2), "50-50");
    assert_string_equal(delta(&have, 2), "");
    gmc_have_lose(&have, 15, 16);
    add(&have, 15, 15); /* stored again: to be told again */
    assert_string_equal(delta(&have, 2), "15-15");
    gmc_have_tell_all(&have);
    add(&have, 60, 60);
    assert_int_equal(gmc_have_untold(&have), 15);
    assert_string_equal(delta(&have, 16), "0-0 10-20 30-30 50-50 60-60");
    add(&have, 70, 70);
    gmc_have_told_all(&have);
    assert_string_equal(delta(&have, 16), "");
    gmc_have_fini(&have);
}

/* Fresh blocks can lie in more ranges than all together: then all is told again. */
static void fresh_without_room(void **state)
{
    struct gmc_have have;

    (void)state;
    gmc_have_init(&have, 1000, 4);
    add(&have, 0, 0);
    add(&have, 2, 2);
    add(&have, 4, 4);
    add(&have, 6, 6);
    gmc_have_told_all(&have);
    add(&have, 1, 1);
    add(&have, 3, 3);
    add(&have, 5, 5);
    add(&have, 10, 10);
    add(&have, 20, 20);
    assert_string_equal(text_of(&have.stored), "0-6 10-10 20-20");
    assert_string_equal(delta(&have, 16), "0-6 10-10 20-20");
    assert_string_equal(delta(&have, 16), "");
    gmc_have_fini(&have);
}

static void ranges_in_parts(void **state)
{
    struct gmc_msg_range out[2];
    struct gmc_have have;
    size_t at = 0;

    (void)state;
    gmc_have_init(&have, 1000, 16);
    for (uint64_t i = 0; i < 5; i++)
        add(&have, 10 * i, 10 * i + 1);
    assert_int_equal(gmc_have_ranges(&have.stored, &at, out, 2), 2);
    assert_string_equal(text_of_ranges(out, 2), "0-1 10-11");
    assert_int_equal(gmc_have_ranges(&have.stored, &at, out, 2), 2);
    assert_string_equal(text_of_ranges(out, 2), "20-21 30-31");
    assert_int_equal(gmc_have_ranges(&have.stored, &at, out, 2), 1);
    assert_string_equal(text_of_ranges(out, 1), "40-41");
    assert_int_equal(gmc_have_ranges(&have.stored, &at, out, 2), 0);
    gmc_have_fini(&have);
}

static void taking(void **state)
{
    static const struct gmc_msg_range good[] = {{40, 49}, {0, 0}, {50, 99}, {1, 1}, {60, 70}};
    static const struct gmc_msg_range bad[] = {
        {5, 4}, {0, 100}, {100, 100}, {0, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    static const struct gmc_msg_range many[] = {{5, 5}, {10, 10}, {15, 15}, {20, 29}, {6, 9}};
    struct gmc_interval_set set;

    (void)state;
    gmc_interval_init(&set, 3);
    assert_int_equal(gmc_have_take(&set, 100, good, 5), GMC_OK);
    assert_string_equal(text_of(&set), "0-1 40-99");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(gmc_have_take(&set, 100, &bad[i], 1), GMC_ERR_INVALID);
    assert_string_equal(text_of(&set), "0-1 40-99");
    gmc_interval_clear(&set);
    assert_int_equal(gmc_have_take(&set, 100, many, 5), GMC_OK);
    assert_string_equal(text_of(&set), "5-10 15-15"); /* 20-29 found no room */
    gmc_interval_fini(&set);
}

/* ---- checkpoints ---- */

static void checkpoint_layout(void **state)
{
    static const uint8_t want[] = {'g', 'm', 'c',  'h', 0,    1, 0,    0, /* version */
                                   0,   0,   0,    0,   0,    1, 0,    0, /* 65536 blocks */
                                   0,   0,   0,    0,   0,    0, 0x20, 0, /* horizon 8192 */
                                   0,   0,   0,    2,                     /* ranges */
                                   0,   5,   0x80, 2,   0x81, 1};         /* 0-4, 261-389 */
    uint8_t sum[GMC_HASH_BYTES];
    struct gmc_have have;
    uint8_t *bytes;
    size_t len;

    (void)state;
    gmc_have_init(&have, 65536, 16);
    add(&have, 0, 4);
    add(&have, 261, 389);
    assert_int_equal(gmc_have_save(&have.stored, 65536, 8192, &crypto, &bytes, &len), GMC_OK);
    assert_int_equal(len, sizeof(want) + GMC_HASH_BYTES);
    assert_memory_equal(bytes, want, sizeof(want));
    toy_hash(bytes, sizeof(want), sum);
    assert_memory_equal(bytes + sizeof(want), sum, sizeof(sum));
    free(bytes);
    gmc_have_fini(&have);
}

static void checkpoint_comes_back(void **state)
{
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 9);
    for (unsigned round = 0; round < 200; round++) {
        uint64_t blocks = 1 + gmc_prng_below(&prng, UINT64_C(1) << (1 + round % 50));
        struct gmc_interval_set set;
        struct gmc_have have;
        uint64_t horizon = 0;
        uint8_t *bytes;
        size_t len;

        gmc_have_init(&have, blocks, 64);
        for (uint64_t n = gmc_prng_below(&prng, 100); n > 0; n--) {
            uint64_t first = gmc_prng_below(&prng, blocks);

            add(&have, first, first + gmc_prng_below(&prng, blocks - first) / (round + 1));
        }
        assert_int_equal(gmc_have_save(&have.stored, blocks, round, &crypto, &bytes, &len), GMC_OK);
        gmc_interval_init(&set, 64);
        assert_int_equal(gmc_interval_add(&set, 3, 5), GMC_OK); /* what it had is gone */
        assert_int_equal(gmc_have_load(gmc_bytes(bytes, len), blocks, &crypto, &set, &horizon),
                         GMC_OK);
        assert_int_equal(horizon, round);
        assert_int_equal(gmc_interval_ranges(&set), gmc_interval_ranges(&have.stored));
        for (size_t i = 0; i < gmc_interval_ranges(&set); i++) {
            assert_int_equal(gmc_interval_range_at(&set, i).lo,
                             gmc_interval_range_at(&have.stored, i).lo);
            assert_int_equal(gmc_interval_range_at(&set, i).hi,
                             gmc_interval_range_at(&have.stored, i).hi);
        }
        free(bytes);
        gmc_interval_fini(&set);
        gmc_have_fini(&have);
    }
}

static gmc_status load(const uint8_t *bytes, size_t len, uint64_t blocks, size_t ranges_max)
{
    struct gmc_interval_set set;
    uint64_t horizon = 77;
    gmc_status status;

    gmc_interval_init(&set, ranges_max);
    assert_int_equal(gmc_interval_add(&set, 3, 5), GMC_OK);
    status = gmc_have_load(gmc_bytes(bytes, len), blocks, &crypto, &set, &horizon);
    if (status != GMC_OK) { /* nothing has changed */
        assert_string_equal(text_of(&set), "3-4");
        assert_int_equal(horizon, 77);
    }
    gmc_interval_fini(&set);
    return status;
}

static void checkpoint_damage(void **state)
{
    struct gmc_have have;
    uint8_t *bytes;
    size_t len;

    (void)state;
    gmc_have_init(&have, 1000, 16);
    add(&have, 0, 4);
    add(&have, 261, 389);
    assert_int_equal(gmc_have_save(&have.stored, 1000, 500, &crypto, &bytes, &len), GMC_OK);
    for (size_t i = 0; i < len; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            gmc_status want = i < 4 ? GMC_ERR_INVALID : i < 6 ? GMC_ERR_VERSION : GMC_ERR_MISMATCH;

            bytes[i] ^= (uint8_t)(1u << bit);
            assert_int_equal(load(bytes, len, 1000, 16), want);
            bytes[i] ^= (uint8_t)(1u << bit);
        }
        assert_int_not_equal(load(bytes, i, 1000, 16), GMC_OK); /* torn */
    }
    assert_int_equal(load(bytes, len, 1000, 16), GMC_OK);
    assert_int_equal(load(bytes, len, 1001, 16), GMC_ERR_INVALID); /* of another object */
    assert_int_equal(load(bytes, len, 1000, 1), GMC_ERR_FULL);
    free(bytes);
    gmc_have_fini(&have);
}

/* Right checksums on wrong content. */
static const struct {
    const char *what;
    uint8_t ranges[24];
    size_t len;
    uint8_t count;
    gmc_status status;
} contents[] = {
    {"none", {0}, 0, 0, GMC_OK},
    {"all", {0, 100}, 2, 1, GMC_OK},
    {"the last block", {99, 1}, 2, 1, GMC_OK},
    {"beyond the end", {99, 2}, 2, 1, GMC_ERR_INVALID},
    {"begins at the end", {100, 1}, 2, 1, GMC_ERR_INVALID},
    {"empty range", {5, 0}, 2, 1, GMC_ERR_INVALID},
    {"touching ranges", {0, 5, 0, 5}, 4, 2, GMC_ERR_INVALID},
    {"second beyond the end", {0, 50, 1, 50}, 4, 2, GMC_ERR_INVALID},
    {"fewer than said", {0, 5}, 2, 2, GMC_ERR_TRUNCATED},
    {"more than said", {0, 5, 1, 5}, 4, 1, GMC_ERR_INVALID},
    {"a longer form", {0x80, 0, 5}, 3, 1, GMC_ERR_INVALID},
    {"2^64 - 1", {255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1}, 11, 1, GMC_ERR_INVALID},
    {"more than 64 bits",
     {255, 255, 255, 255, 255, 255, 255, 255, 255, 2, 1},
     11,
     1,
     GMC_ERR_INVALID},
    {"length 2^64 - 1",
     {1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1},
     11,
     1,
     GMC_ERR_INVALID},
    {"number without an end", {0, 128}, 2, 1, GMC_ERR_TRUNCATED},
};

static void checkpoint_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        uint8_t bytes[28 + 24 + GMC_HASH_BYTES] = {'g', 'm', 'c', 'h', 0, 1, [15] = 100};
        size_t len = 28 + contents[i].len;

        print_message("%s\n", contents[i].what);
        bytes[27] = contents[i].count;
        memcpy(bytes + 28, contents[i].ranges, contents[i].len);
        toy_hash(bytes, len, bytes + len);
        assert_int_equal(load(bytes, len + GMC_HASH_BYTES, 100, 16), contents[i].status);
    }
}

/* ---- against a plain array ---- */

/* Whatever happens: nothing is claimed that was not put in, all that was forgotten was named, and
 * whoever heard all reports knows exactly what is stored, except what was lost after it was told.
 */
static void never_too_much(void **state)
{
    enum { BLOCKS = 200 };
    struct gmc_prng prng;

    (void)state;
    gmc_prng_init(&prng, 10);
    for (unsigned round = 0; round < 60; round++) {
        bool stored[BLOCKS] = {false}, known[BLOCKS] = {false};
        struct gmc_have have;

        gmc_have_init(&have, BLOCKS, 1 + gmc_prng_below(&prng, 12));
        for (unsigned step = 0; step < 300; step++) {
            uint64_t first = gmc_prng_below(&prng, BLOCKS);
            uint64_t last = first + gmc_prng_below(&prng, 4);
            struct gmc_interval gone;
            struct gmc_msg_range told[3];

            last = last < BLOCKS ? last : BLOCKS - 1;
            if (gmc_prng_chance_ppm(&prng, 100000)) {
                bool was_in = gmc_interval_contains_range(&have.stored, first, last + 1);
                gone = gmc_have_lose(&have, first, last + 1);
                assert_true(was_in ? gone.lo <= first && gone.hi > last : gone.lo == gone.hi);
            } else {
                assert_int_equal(gmc_have_add(&have, first, last, &gone), GMC_OK);
                memset(stored + first, 1, last - first + 1);
            }
            for (uint64_t b = gone.lo; b < gone.hi; b++)
                stored[b] = known[b] = false;
            if (gmc_prng_chance_ppm(&prng, 20000)) {
                gmc_have_tell_all(&have);
                memset(known, 0, sizeof(known));
            }
            for (size_t n = gmc_have_delta(&have, told, gmc_prng_below(&prng, 4)); n > 0; n--)
                for (uint64_t b = told[n - 1].first; b <= told[n - 1].last; b++)
                    known[b] = true;
            for (uint64_t b = 0; b < BLOCKS; b++) {
                assert_int_equal(gmc_interval_contains(&have.stored, b), stored[b]);
                assert_true(stored[b] || !known[b]);
                if (!have.all_fresh)
                    assert_true(known[b] || gmc_interval_contains(&have.fresh, b) == stored[b]);
            }
        }
        gmc_have_fini(&have);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding),
        cmocka_unit_test(forgetting),
        cmocka_unit_test(losing),
        cmocka_unit_test(reports),
        cmocka_unit_test(fresh_without_room),
        cmocka_unit_test(ranges_in_parts),
        cmocka_unit_test(taking),
        cmocka_unit_test(checkpoint_layout),
        cmocka_unit_test(checkpoint_comes_back),
        cmocka_unit_test(checkpoint_damage),
        cmocka_unit_test(checkpoint_content),
        cmocka_unit_test(never_too_much),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
