/* SPDX-License-Identifier: BSD-2-Clause */
/* Golden bytes of the link datagram's head and of the probe echo, and what is refused. */
#include <string.h>

#include "tests/lib/unit.h"
#include "wire/head.h"

static void head_has_these_bytes(void **state)
{
    (void)state;
    const struct gmc_head head = {GMC_KIND_STREAM, 0x01020304, 0xa0b0c0d0};
    const uint8_t golden[] = {0x03, 0x01, 0x02, 0x03, 0x04, 0xa0, 0xb0, 0xc0, 0xd0};
    uint8_t bytes[GMC_HEAD_BYTES];
    struct gmc_head back;

    gmc_head_put(bytes, &head);
    assert_memory_equal(bytes, golden, sizeof golden);
    assert_ok(gmc_head_get(gmc_bytes(golden, sizeof golden), &back));
    assert_int_equal(back.kind, GMC_KIND_STREAM);
    assert_int_equal(back.session, 0x01020304);
    assert_int_equal(back.packet, 0xa0b0c0d0);
}

static void data_head_has_these_bytes(void **state)
{
    (void)state;
    const struct gmc_data_head head = {0x1122, 0x33445566, 0x7788};
    const uint8_t golden[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
    uint8_t bytes[GMC_DATA_OVERHEAD_BYTES];
    struct gmc_data_head back;

    memset(bytes, 0xee, sizeof bytes);
    gmc_data_head_put(bytes, &head);
    assert_memory_equal(bytes + 9, golden, sizeof golden);
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i < 9 || i >= 17)
            assert_int_equal(bytes[i], 0xee); /* not its business */
    }
    assert_ok(gmc_data_head_get(gmc_bytes(bytes, sizeof bytes), &back));
    assert_int_equal(back.handle, 0x1122);
    assert_int_equal(back.block, 0x33445566);
    assert_int_equal(back.fragment, 0x7788);
    assert_int_equal(gmc_data_head_get(gmc_bytes(bytes, sizeof bytes - 1), &back),
                     GMC_ERR_TRUNCATED);
}

static void echo_has_these_bytes(void **state)
{
    (void)state;
    const struct gmc_echo echo = {
        .kind = GMC_KIND_ECHO_REPLY,
        .probe = UINT64_C(0x0102030405060708),
        .from = 0x1112,
        .to = 0x2122,
        .sample = 0x3132,
        .time = UINT64_C(0x4142434445464748),
    };
    const uint8_t golden[] = {0x11, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                              0x08, 0x11, 0x12, 0x21, 0x22, 0x31, 0x32, 0x41,
                              0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48};
    uint8_t bytes[GMC_ECHO_BYTES];
    struct gmc_echo back;

    memset(bytes, 0xee, sizeof bytes);
    gmc_echo_put(bytes, &echo);
    assert_memory_equal(bytes, golden, sizeof golden);
    for (size_t i = 23; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], i < 31 ? 0xee : 0); /* the tag is the caller's */
    assert_ok(gmc_echo_get(gmc_bytes(bytes, sizeof bytes), &back));
    assert_int_equal(back.kind, echo.kind);
    assert_int_equal(back.probe, echo.probe);
    assert_int_equal(back.from, echo.from);
    assert_int_equal(back.to, echo.to);
    assert_int_equal(back.sample, echo.sample);
    assert_int_equal(back.time, echo.time);
}

static void refuses_what_is_not_a_head(void **state)
{
    (void)state;
    uint8_t bytes[GMC_ECHO_BYTES] = {GMC_KIND_PING};
    struct gmc_head head;
    struct gmc_echo echo;
    uint8_t kind;

    assert_int_equal(gmc_head_kind(gmc_bytes(NULL, 0), &kind), GMC_ERR_TRUNCATED);
    assert_int_equal(gmc_head_get(gmc_bytes(bytes, 8), &head), GMC_ERR_TRUNCATED);
    assert_int_equal(gmc_echo_get(gmc_bytes(bytes, sizeof bytes), &echo), GMC_ERR_TYPE);
    assert_int_equal(gmc_echo_get(gmc_bytes(bytes, sizeof bytes - 1), &echo), GMC_ERR_TRUNCATED);
    for (unsigned version = 1; version < 4; version++) {
        bytes[0] = (uint8_t)(version << 6 | GMC_KIND_ECHO);
        assert_int_equal(gmc_head_kind(gmc_bytes(bytes, 1), &kind), GMC_ERR_VERSION);
        assert_int_equal(gmc_head_get(gmc_bytes(bytes, 9), &head), GMC_ERR_VERSION);
        assert_int_equal(gmc_echo_get(gmc_bytes(bytes, sizeof bytes), &echo), GMC_ERR_VERSION);
    }
}

static void expands_packet_numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t expected;
        uint32_t low;
        uint64_t number;
    } cases[] = {
        {0, 0, 0},
        {0, 5, 5},
        {0, 0xffffffff, 0xffffffff}, /* nothing below 0 */
        {1000, 990, 990},
        {1000, 1010, 1010},
        {UINT64_C(0xffffffff), 0, UINT64_C(0x100000000)},
        {UINT64_C(0x100000005), 0xfffffffa, UINT64_C(0xfffffffa)},
        {UINT64_C(0x100000005), 0x7, UINT64_C(0x100000007)},
        {UINT64_C(0x280000000), 0, UINT64_C(0x300000000)}, /* the middle: upwards */
        {UINT64_C(0x280000001), 1, UINT64_C(0x300000001)},
        {UINT64_C(0x27fffffff), 0, UINT64_C(0x200000000)},
        {UINT64_MAX, 0xfffffffe, UINT64_MAX - 1},
        {UINT64_MAX, 1, UINT64_C(0xffffffff00000001)}, /* nothing above the largest */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(gmc_packet_expand(cases[i].expected, cases[i].low), cases[i].number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_has_these_bytes),   cmocka_unit_test(data_head_has_these_bytes),
        cmocka_unit_test(echo_has_these_bytes),   cmocka_unit_test(refuses_what_is_not_a_head),
        cmocka_unit_test(expands_packet_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
