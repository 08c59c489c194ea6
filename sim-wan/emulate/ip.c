/* SPDX-License-Identifier: BSD-2-Clause */
/* IP heads; see ip.h. */
#include "sim-wan/emulate/ip.h"

#include "base/bytes.h"

#define ECN_MASK 3u
#define HEAD4 20u
#define HEAD6 40u

static unsigned version_of(const uint8_t *packet, size_t len)
{
    if (len >= HEAD4 && packet[0] >> 4 == 4)
        return 4;
    return len >= HEAD6 && packet[0] >> 4 == 6 ? 6 : 0;
}

uint8_t emu_ip_ecn(const uint8_t *packet, size_t len)
{
    switch (version_of(packet, len)) {
    case 4:
        return packet[1] & ECN_MASK;
    case 6: /* version 4 bits, traffic class 8, flow label 20 */
        return packet[1] >> 4 & ECN_MASK;
    default:
        return 0;
    }
}

/* RFC 1624, equation 3: HC' = ~(~HC + ~m + m'). */
static void adjust_checksum(uint8_t *head, uint16_t before, uint16_t after)
{
    uint32_t sum = (uint32_t)(uint16_t)~gmc_get16(head + 10) + (uint16_t)~before + after;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    gmc_put16(head + 10, (uint16_t)~sum);
}

void emu_ip_set_ecn(uint8_t *packet, size_t len, uint8_t ecn)
{
    unsigned version = version_of(packet, len);
    uint16_t before = version != 0 ? gmc_get16(packet) : 0;
    if (version == 4) {
        packet[1] = (uint8_t)((packet[1] & ~ECN_MASK) | (ecn & ECN_MASK));
        adjust_checksum(packet, before, gmc_get16(packet));
    } else if (version == 6) {
        packet[1] = (uint8_t)((packet[1] & ~(ECN_MASK << 4)) | (ecn & ECN_MASK) << 4);
    }
}
