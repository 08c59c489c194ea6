/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet on the wires: who to whom, how many bytes it takes on a wire, and what it carries.
 * Packets come from a pool with free lists for three sizes, so a transfer allocates nothing per
 * packet once it runs; short ones take two lines of the processor's cache, and wires look at the
 * first alone. */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/near.h"
#include "base/time.h"

#define SIM_UDP_OVERHEAD_BYTES 28u /* IPv4 and UDP heads */
#define SIM_TCP_OVERHEAD_BYTES 52u /* IPv4 and TCP heads with time stamps */

/* Datagrams of gateways, segments, background traffic: UDP of nobody that we know; and whole IP
 * packets of real hosts, heads and all. */
enum sim_proto { SIM_PROTO_UDP, SIM_PROTO_TCP, SIM_PROTO_PLAIN, SIM_PROTO_IP };

/* The ECN field of the IP head, as on the wire (RFC 3168, section 5). */
enum sim_ecn { SIM_ECN_NOT_ECT, SIM_ECN_ECT1, SIM_ECN_ECT0, SIM_ECN_CE };

/* What TCP needs to know of a segment, and traffic in the background of a packet: such packets have
 * no data, and this in its place. */
struct sim_segment {
    uint64_t connection; /* unique in the run; the flow of background traffic */
    uint32_t sequence;   /* number of the segment in its direction, from 0 */
    uint32_t ack;        /* every segment below has arrived */
    uint64_t sack;       /* bit i: segment ack + 1 + i has arrived */
    uint8_t flags;
};

/* Bit of a packet's `to`: the rest is the sender, whose group it goes to. */
#define SIM_TO_GROUP 0x80000000u

struct sim_packet {
    struct sim_packet *next; /* owned by whoever holds the packet */
    gmc_time arrival;        /* at the end of the wire; while it waits: in its queue */
    uint32_t from, to;       /* hosts */
    uint32_t wire_bytes;     /* payload and heads */
    uint32_t len;            /* of data */
    uint32_t gap;            /* so many more are left out: a virtual body's */
    uint16_t gap_at;         /* before this one of the data */
    uint8_t proto;
    uint8_t ecn;     /* enum sim_ecn */
    uint32_t digest; /* of a datagram's first bytes, for the trace: they are far at its arrival */
    uint8_t size;    /* the pool's */
    _Alignas(struct sim_segment) uint8_t data[];
};

/* Bytes of data in a short one, which is two lines of the processor's cache. */
#define SIM_PACKET_LINE_BYTES 64u
#define SIM_PACKET_SHORT_BYTES (2 * SIM_PACKET_LINE_BYTES - offsetof(struct sim_packet, data))

static inline struct sim_segment *sim_packet_segment(struct sim_packet *packet)
{
    return (struct sim_segment *)(void *)packet->data;
}
static inline const struct sim_segment *sim_packet_segment_of(const struct sim_packet *packet)
{
    return (const struct sim_segment *)(const void *)packet->data;
}

/* First in, first out. Zeros are an empty one. */
struct sim_packet_list {
    struct sim_packet *first, *last;
};

static inline void sim_packet_push(struct sim_packet_list *list, struct sim_packet *packet)
{
    packet->next = NULL;
    if (list->last != NULL)
        list->last->next = packet;
    else
        list->first = packet;
    list->last = packet;
}

/* NULL: it is empty. */
static inline struct sim_packet *sim_packet_shift(struct sim_packet_list *list)
{
    struct sim_packet *packet = list->first;
    if (packet == NULL)
        return NULL;
    list->first = packet->next;
    if (list->first == NULL)
        list->last = NULL;
    return packet;
}

/* Fetches a short packet into the processor's cache, without looking at it; NULL: there is none. */
static inline void sim_packet_warm(const struct sim_packet *packet)
{
    if (packet == NULL)
        return;
    gmc_near_fetch_line(packet);
    gmc_near_fetch_line((const char *)packet + SIM_PACKET_LINE_BYTES);
}

enum { SIM_PACKET_SHORT, SIM_PACKET_SMALL, SIM_PACKET_FULL, SIM_PACKET_SIZES };

#define SIM_PACKET_PAGE_BYTES ((size_t)4096)

struct sim_packet_page;

struct sim_packet_pool {
    struct sim_packet *free[SIM_PACKET_SIZES]; /* but short ones, which have pages: */
    struct sim_packet_page *page;              /* the one in use; NULL */
    struct sim_packet_page *pages;             /* free ones */
    struct sim_packet_page *slabs;             /* by their first pages */
    uint64_t live;                             /* packets given out */
};

void sim_packet_pool_init(struct sim_packet_pool *pool);
/* Every packet must be back. */
void sim_packet_pool_fini(struct sim_packet_pool *pool);
/* A packet for len bytes of data; all else zero. */
struct sim_packet *sim_packet_new(struct sim_packet_pool *pool, size_t len);
struct sim_packet *sim_packet_copy(struct sim_packet_pool *pool, const struct sim_packet *packet);
void sim_packet_free(struct sim_packet_pool *pool, struct sim_packet *packet);

#endif
