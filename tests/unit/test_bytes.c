/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of base/bytes: big-endian numbers and cursors at their ends.
 */
#include "base/bytes.h"

#include "tests/lib/unit.h"

#include <string.h>

static const uint8_t sample[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xf0};

static void numbers_are_big_endian(void **state)
{
    uint8_t out[8];

    (void)state;
    /* From an odd address: no alignment is needed. */
    assert_int_equal(gmc_get16(sample + 1), 0x2345);
    assert_int_equal(gmc_get24(sample + 1), 0x234567);
    assert_int_equal(gmc_get32(sample + 5), 0xabcdeff0);
    assert_int_equal(gmc_get64(sample + 1), 0x23456789abcdeff0);
    gmc_put16(out, 0xfedc);
    assert_memory_equal(out, "\xfe\xdc", 2);
    gmc_put24(out, 0xfffedcba);
    assert_memory_equal(out, "\xfe\xdc\xba", 3);
    gmc_put32(out, 0xfedcba98);
    assert_memory_equal(out, "\xfe\xdc\xba\x98", 4);
    gmc_put64(out, 0xfedcba9876543210);
    assert_memory_equal(out, "\xfe\xdc\xba\x98\x76\x54\x32\x10", 8);
}

static void ranges_compare_by_content(void **state)
{
    struct gmc_bytes none = {NULL, 0};
    struct gmc_bytes ab = gmc_bytes_of_text("ab");
    struct gmc_bytes abc = gmc_bytes_of_text("abc");
    struct gmc_bytes b = gmc_bytes_of_text("b");

    (void)state;
    assert_int_equal(abc.len, 3);
    assert_true(gmc_bytes_equal(none, gmc_bytes("x", 0)));
    assert_true(gmc_bytes_equal(ab, gmc_bytes("abx", 2)));
    assert_false(gmc_bytes_equal(ab, abc));
    assert_false(gmc_bytes_equal(none, b));
    assert_true(gmc_bytes_compare(ab, abc) < 0);
    assert_true(gmc_bytes_compare(b, abc) > 0);
    assert_true(gmc_bytes_compare(none, ab) < 0);
    assert_int_equal(gmc_bytes_compare(none, none), 0);
    assert_int_equal(gmc_bytes_compare(ab, gmc_bytes("ab", 2)), 0);
}

static void reader_reads_to_the_last_byte(void **state)
{
    struct gmc_reader reader;
    struct gmc_bytes rest;
    uint8_t copy[2];

    (void)state;
    gmc_reader_init(&reader, gmc_bytes(sample, sizeof sample));
    assert_int_equal(gmc_reader_u8(&reader), 0x01);
    assert_int_equal(gmc_reader_u16(&reader), 0x2345);
    assert_int_equal(gmc_reader_u24(&reader), 0x6789ab);
    gmc_reader_copy(&reader, copy, sizeof copy);
    assert_memory_equal(copy, "\xcd\xef", 2);
    assert_int_equal(gmc_reader_left(&reader), 1);
    rest = gmc_reader_rest(&reader);
    assert_ptr_equal(rest.data, sample + 8);
    assert_int_equal(rest.len, 1);
    assert_int_equal(gmc_reader_left(&reader), 0);
    assert_int_equal(gmc_reader_rest(&reader).len, 0);
    assert_ok(gmc_reader_status(&reader));

    gmc_reader_init(&reader, gmc_bytes(sample, 8));
    assert_int_equal(gmc_reader_u64(&reader), 0x0123456789abcdef);
    gmc_reader_init(&reader, gmc_bytes(sample, 4));
    assert_int_equal(gmc_reader_u32(&reader), 0x01234567);
    assert_ok(gmc_reader_status(&reader));
}

static void reader_fails_for_good(void **state)
{
    struct gmc_reader reader;
    uint8_t copy[2] = {7, 7};

    (void)state;
    gmc_reader_init(&reader, gmc_bytes(sample, 3));
    assert_int_equal(gmc_reader_u32(&reader), 0);
    assert_int_equal(gmc_reader_status(&reader), GMC_ERR_TRUNCATED);
    /* A shorter read that would have fitted fails too. */
    assert_int_equal(gmc_reader_u8(&reader), 0);
    assert_int_equal(gmc_reader_u16(&reader), 0);
    assert_int_equal(gmc_reader_u24(&reader), 0);
    assert_int_equal(gmc_reader_u64(&reader), 0);
    gmc_reader_copy(&reader, copy, sizeof copy);
    assert_memory_equal(copy, "\0\0", 2);
    assert_int_equal(gmc_reader_left(&reader), 0);
    assert_null(gmc_reader_rest(&reader).data);

    gmc_reader_init(&reader, gmc_bytes(sample, 3));
    assert_null(gmc_reader_bytes(&reader, SIZE_MAX).data);
    assert_int_equal(gmc_reader_status(&reader), GMC_ERR_TRUNCATED);
}

static void reader_takes_the_null_range(void **state)
{
    struct gmc_reader reader;

    (void)state;
    gmc_reader_init(&reader, gmc_bytes(NULL, 0));
    assert_int_equal(gmc_reader_left(&reader), 0);
    assert_int_equal(gmc_reader_bytes(&reader, 0).len, 0);
    gmc_reader_copy(&reader, NULL, 0);
    assert_ok(gmc_reader_status(&reader));
    gmc_reader_u8(&reader);
    assert_int_equal(gmc_reader_status(&reader), GMC_ERR_TRUNCATED);
}

static void writer_fills_its_memory(void **state)
{
    struct gmc_writer writer;
    uint8_t memory[18];
    struct gmc_bytes written;

    (void)state;
    gmc_writer_init(&writer, memory, sizeof memory);
    assert_int_equal(gmc_writer_written(&writer).len, 0);
    gmc_writer_u8(&writer, 0x01);
    gmc_writer_u16(&writer, 0x2345);
    gmc_writer_u24(&writer, 0x6789ab);
    gmc_writer_u32(&writer, 0xcdeff001);
    gmc_writer_u64(&writer, 0x1122334455667788);
    assert_int_equal(gmc_writer_left(&writer), 0);
    gmc_writer_bytes(&writer, gmc_bytes(NULL, 0));
    assert_ok(gmc_writer_status(&writer));
    written = gmc_writer_written(&writer);
    assert_ptr_equal(written.data, memory);
    assert_int_equal(written.len, 18);
    assert_memory_equal(memory,
                        "\x01\x23\x45\x67\x89\xab\xcd\xef\xf0\x01\x11\x22\x33\x44\x55\x66\x77\x88",
                        18);
}

static void writer_writes_nothing_that_does_not_fit(void **state)
{
    struct gmc_writer writer;
    uint8_t memory[4] = {9, 9, 9, 9};

    (void)state;
    gmc_writer_init(&writer, memory, 3);
    gmc_writer_u8(&writer, 1);
    gmc_writer_bytes(&writer, gmc_bytes("abc", 3));
    assert_int_equal(gmc_writer_status(&writer), GMC_ERR_FULL);
    /* A shorter write that would have fitted fails too. */
    gmc_writer_u8(&writer, 2);
    gmc_writer_u16(&writer, 2);
    gmc_writer_u24(&writer, 2);
    gmc_writer_u32(&writer, 2);
    gmc_writer_u64(&writer, 2);
    assert_null(gmc_writer_reserve(&writer, 1));
    assert_int_equal(gmc_writer_written(&writer).len, 1);
    assert_memory_equal(memory, "\x01\x09\x09\x09", 4);

    gmc_writer_init(&writer, NULL, 0);
    assert_int_equal(gmc_writer_written(&writer).len, 0);
    assert_null(gmc_writer_reserve(&writer, SIZE_MAX));
    assert_int_equal(gmc_writer_status(&writer), GMC_ERR_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_big_endian),
        cmocka_unit_test(ranges_compare_by_content),
        cmocka_unit_test(reader_reads_to_the_last_byte),
        cmocka_unit_test(reader_fails_for_good),
        cmocka_unit_test(reader_takes_the_null_range),
        cmocka_unit_test(writer_fills_its_memory),
        cmocka_unit_test(writer_writes_nothing_that_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
