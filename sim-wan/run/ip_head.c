/* SPDX-License-Identifier: BSD-2-Clause */
/* Heads of simulated packets; see ip_head.h. */
#include "sim-wan/run/ip_head.h"

#include <string.h>

#include "sim-wan/tcp_internal.h"

#define IP_BYTES 20u
#define UDP_BYTES 8u
#define TCP_BYTES 32u
#define PROTO_TCP 6u
#define PROTO_UDP 17u
#define TTL 64u
#define DONT_FRAGMENT 0x4000u
#define GATEWAY_PORT 7411u
#define DISCARD_PORT 9u
#define FIRST_PORT 32768u
#define PORTS 28232u /* Linux's range for clients */
#define WINDOW 65535u

enum { TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };

static void put16(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
}

static void put32(uint8_t *out, uint32_t value)
{
    put16(out, value >> 16);
    put16(out + 2, value);
}

/* ---- checksums (RFC 1071) ---- */
static uint64_t sum_bytes(uint64_t sum, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
    return sum;
}

static uint32_t fold(uint64_t sum)
{
    while (sum > 0xffff)
        sum = (sum >> 16) + (sum & 0xffff);
    return (uint32_t)~sum & 0xffff;
}

/* Of the pseudo head, the head behind IP's and the data; zeros behind the data add nothing. */
static uint32_t transport_checksum(const struct sim_packet *packet, const uint8_t *ip,
                                   uint32_t proto, size_t head_bytes)
{
    uint64_t sum = sum_bytes(0, ip + 12, 8);
    sum += proto + (packet->wire_bytes - IP_BYTES);
    sum = sum_bytes(sum, ip + IP_BYTES, head_bytes);
    return fold(sum_bytes(sum, packet->data, packet->len));
}

/* ---- heads ---- */
static void put_ip(const struct sim_packet *packet, uint32_t proto, uint8_t *out)
{
    memset(out, 0, IP_BYTES);
    out[0] = 0x45;
    out[1] = packet->ecn;
    put16(out + 2, packet->wire_bytes <= 0xffff ? packet->wire_bytes : 0);
    put16(out + 6, DONT_FRAGMENT);
    out[8] = TTL;
    out[9] = (uint8_t)proto;
    put32(out + 12, 0x0a000001u + packet->from);
    put32(out + 16, 0x0a000001u + packet->to);
    put16(out + 10, fold(sum_bytes(0, out, IP_BYTES)));
}

static size_t put_udp(const struct sim_packet *packet, uint8_t *ip)
{
    uint8_t *out = ip + IP_BYTES;
    uint32_t port = packet->proto == SIM_PROTO_PLAIN ? DISCARD_PORT : GATEWAY_PORT;
    uint32_t bytes = packet->wire_bytes - IP_BYTES;
    put16(out, port);
    put16(out + 2, port);
    put16(out + 4, bytes <= 0xffff ? bytes : 0);
    put16(out + 6, 0);
    uint32_t sum = transport_checksum(packet, ip, PROTO_UDP, UDP_BYTES);
    put16(out + 6, sum != 0 ? sum : 0xffff);
    return IP_BYTES + UDP_BYTES;
}

/* The first segment of each side is its SYN, which counts as a byte. */
static uint32_t byte_number(uint32_t segment)
{
    return segment == 0 ? 0 : 1 + (segment - 1) * SIM_TCP_SEGMENT_BYTES;
}

static uint8_t tcp_flags(const struct sim_packet *packet)
{
    const struct sim_segment *segment = sim_packet_segment_of(packet);
    uint32_t flags = 0;
    if ((segment->flags & SIM_TCP_RESET) != 0)
        return TCP_RST;
    if ((segment->flags & SIM_TCP_DATA) != 0 && segment->sequence == 0)
        flags |= TCP_SYN;
    else if (packet->wire_bytes > SIM_TCP_OVERHEAD_BYTES)
        flags |= TCP_PSH;
    if (segment->ack > 0)
        flags |= TCP_ACK;
    return (uint8_t)flags;
}

/* The lower host calls from its port; which side dialled is not on the packet. */
static size_t put_tcp(const struct sim_packet *packet, gmc_time now, uint8_t *ip)
{
    uint8_t *out = ip + IP_BYTES;
    uint32_t port = FIRST_PORT + (uint32_t)(sim_packet_segment_of(packet)->connection % PORTS);
    memset(out, 0, TCP_BYTES);
    put16(out, packet->from < packet->to ? port : GATEWAY_PORT);
    put16(out + 2, packet->from < packet->to ? GATEWAY_PORT : port);
    put32(out + 4, byte_number(sim_packet_segment_of(packet)->sequence));
    put32(out + 8, byte_number(sim_packet_segment_of(packet)->ack));
    out[12] = (TCP_BYTES / 4) << 4;
    out[13] = tcp_flags(packet);
    put16(out + 14, WINDOW);
    put32(out + 20, 0x0101080au); /* two no-operations, then time stamps of 10 bytes */
    put32(out + 24, (uint32_t)(now / GMC_MS(1)));
    put16(out + 16, transport_checksum(packet, ip, PROTO_TCP, TCP_BYTES));
    return IP_BYTES + TCP_BYTES;
}

size_t sim_ip_head(const struct sim_packet *packet, gmc_time now, uint8_t out[SIM_IP_HEAD_MAX])
{
    put_ip(packet, packet->proto == SIM_PROTO_TCP ? PROTO_TCP : PROTO_UDP, out);
    return packet->proto == SIM_PROTO_TCP ? put_tcp(packet, now, out) : put_udp(packet, out);
}
