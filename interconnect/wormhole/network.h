/* SPDX-License-Identifier: BSD-2-Clause */
/* A wormhole-switched network as the flit engine sees it: points joined by channels, and a rule
 * that says which channels a message may take next.
 *
 * Points are queues first, then routers. At a queue messages wait before they enter the network (or
 * a part of it), in order; a queue's flits are all there, or arrive from the part before. In a
 * router only worms wait, each in the buffer of the channel that it came by.
 *
 * Channels are numbered so that no message ever takes a channel of a higher number after one of a
 * lower. Such a numbering exists where routing is free of deadlock without help of virtual channels
 * (Dally, Seitz 1987), as with e-cube, P-cube, up and down a tree and up-star/down-star; it lets
 * the engine move all flits of a cycle in one pass, from the ends of the worms' ways to their
 * beginnings.
 */
#ifndef INTERCONNECT_WORMHOLE_NETWORK_H
#define INTERCONNECT_WORMHOLE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#define IC_WH_NONE UINT32_MAX
/* With a candidate: the message leaves the network (or this part of it) at that channel's end. */
#define IC_WH_LAST 0x80000000u
#define IC_WH_CANDIDATES_MAX 128u

/* What routing knows of a message. */
struct ic_wh_flow {
    uint32_t from, to; /* nodes */
    uint32_t draw;     /* random, the same all the way: for routes that are chosen at the source */
    uint32_t stage;    /* parts of the network that it has left, 0 at first */
};

struct ic_wh_network {
    uint32_t nodes;      /* sources and destinations of messages; not points */
    uint32_t queues;     /* points 0..queues-1 */
    uint32_t points;     /* queues and routers */
    uint32_t channels;   /* below 2^24 */
    uint32_t *from, *to; /* points, by channel; `to` is NONE for a channel out of the network */
    void *ctx;           /* of the functions */
    /* The point where the flow's stage begins; NONE: there is no such stage, it is delivered. */
    uint32_t (*enter)(const void *ctx, const struct ic_wh_flow *flow);
    /* Channels that the flow may take from a point, at least one, at most CANDIDATES_MAX. `came` is
     * the channel by which its head came there; NONE at a queue. */
    uint32_t (*route)(const void *ctx, uint32_t at, uint32_t came, const struct ic_wh_flow *flow,
                      uint32_t *candidates);
    /* What a point is called in records. */
    uint32_t (*label)(const void *ctx, uint32_t point);
    void (*free)(void *ctx);
};

/* Frees what the builder allocated. */
void ic_wh_network_fini(struct ic_wh_network *network);

#endif
