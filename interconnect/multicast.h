/* SPDX-License-Identifier: BSD-2-Clause */
/* A multicast inside a cluster, event by event: processors and links are busy for a time with each
 * packet, a packet waits for what is busy, and who has received sends on as the schedule says.
 * Nothing is known here of closed forms.
 *
 * A message is one packet (store and forward: it is sent on when it was received as a whole) or
 * several (pipelined: a packet is sent on when it was received, the first message before the
 * second, or each packet to all that it is for before the next one). A packet leaves while the
 * processor copies it, so its end is on the wire when the copy ends; at each link it waits for
 * those before it. A member's processor does one thing at a time; while it has both to do it takes
 * in and sends on by turns.
 *
 * Times are microseconds outside, whole picoseconds inside, so that the order of events never
 * depends on rounding.
 */
#ifndef INTERCONNECT_MULTICAST_H
#define INTERCONNECT_MULTICAST_H

#include <stdbool.h>

#include "interconnect/error.h"
#include "interconnect/schedule.h"

#define IC_PACKETS_MAX 65536u /* of a message */

struct ic_cost {
    double us; /* of a message, with its first packet */
    double us_per_byte;
};

struct ic_multicast_costs {
    struct ic_cost root; /* once, before the root's first message */
    struct ic_cost send, receive;
    double forward_us;       /* once, at a member that sends on, before its first message */
    struct ic_cost deliver;  /* from having received to the member's host; delays nothing else */
    double link_us_per_byte; /* no more than send and receive have */
};

/* A packet on its way. The network fills link and latency of the next hop; `at` and `last` are its
 * own, 0 before the first. */
struct ic_hop {
    uint32_t from, to; /* members */
    uint32_t hops;     /* taken so far */
    uint32_t at, last;
    uint32_t link;     /* 0..links-1 */
    double latency_us; /* to the link's end */
};

struct ic_multicast {
    const struct ic_schedule *schedule;
    struct ic_multicast_costs costs;
    uint32_t bytes;
    uint32_t packet_bytes; /* 0: the whole message */
    bool by_turns;         /* a packet goes to all that it is for before the next one */
    uint32_t links;
    bool (*next_hop)(const void *network, struct ic_hop *hop); /* false: it is there */
    const void *network;
    /* Each message when its receiver has it: when its first packet began to be sent, was on the
     * wire, and its last was received. May be NULL. */
    void (*on_message)(void *ctx, const struct ic_send *send, uint32_t hops, double created,
                       double entered, double delivered);
    void *ctx;
};

struct ic_multicast_times {
    double latency_us;   /* until the last member has it */
    double root_busy_us; /* of the root's processor */
    double busiest_link_us;
    uint32_t concurrency;      /* the most messages that were on their way at once */
    uint32_t step_concurrency; /* that share a step of the schedule */
    uint64_t visits;           /* links that messages took, each counted once per message */
    uint32_t used_links;
};

/* link_us is NULL or has room for `links`: how long each was busy. INVALID with words: a packet
 * that is too small for the message. NOMEM. */
GMC_NODISCARD gmc_status ic_multicast_run(const struct ic_multicast *multicast,
                                          struct ic_multicast_times *times, double *link_us,
                                          char *error);

#endif
