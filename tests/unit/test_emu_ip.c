/* SPDX-License-Identifier: BSD-2-Clause */
/* The ECN field of real packets, and the checksum that covers it. */
#include "tests/lib/unit.h"

#include <string.h>

#include "base/bytes.h"
#include "sim-wan/emulate/ip.h"

/* RFC 1071: the ones' complement sum over a good head is all ones. */
static uint32_t sum_of(const uint8_t *head, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < len; i += 2)
        sum += gmc_get16(head + i);
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

static void test_every_change_keeps_the_checksum(void **state)
{
    (void)state;
    uint8_t head[20] = {0x45, 0xb8, 0x05, 0xdc, 0x12, 0x34, 0x40, 0,   64, 17,
                        0,    0,    10,   213,  0,    1,    10,   213, 0,  2};
    for (unsigned before = 0; before < 4; before++) {
        for (unsigned after = 0; after < 4; after++) {
            head[1] = (uint8_t)(0xb8 | before);
            gmc_put16(head + 10, 0);
            gmc_put16(head + 10, (uint16_t)~sum_of(head, sizeof(head)));
            assert_int_equal(emu_ip_ecn(head, sizeof(head)), before);
            emu_ip_set_ecn(head, sizeof(head), (uint8_t)after);
            assert_int_equal(head[1], 0xb8 | after);
            assert_int_equal(sum_of(head, sizeof(head)), 0xffff);
        }
    }
}

static void test_ipv6_keeps_the_rest_of_its_class(void **state)
{
    (void)state;
    uint8_t head[40] = {0x6a, 0x9f, 0xff, 0xff};
    assert_int_equal(emu_ip_ecn(head, sizeof(head)), 1);
    emu_ip_set_ecn(head, sizeof(head), 2);
    assert_int_equal(head[0], 0x6a);
    assert_int_equal(head[1], 0xaf);
    assert_int_equal(emu_ip_ecn(head, sizeof(head)), 2);
}

static void test_what_is_no_packet_is_left_alone(void **state)
{
    (void)state;
    uint8_t bytes[40] = {0x45, 3};
    assert_int_equal(emu_ip_ecn(bytes, 19), 0);
    emu_ip_set_ecn(bytes, 19, 2);
    assert_int_equal(bytes[1], 3);
    bytes[0] = 0x65;
    assert_int_equal(emu_ip_ecn(bytes, 39), 0);
    emu_ip_set_ecn(bytes, 39, 2);
    assert_int_equal(bytes[1], 3);
    bytes[0] = 0x15;
    emu_ip_set_ecn(bytes, 40, 2);
    assert_int_equal(bytes[1], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_change_keeps_the_checksum),
        cmocka_unit_test(test_ipv6_keeps_the_rest_of_its_class),
        cmocka_unit_test(test_what_is_no_packet_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
