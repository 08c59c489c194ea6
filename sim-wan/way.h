/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets on their way over a wire, by arrival, equal times in order of insertion: a ring, so that
 * those that come next are known before any of them was looked at, and can be fetched meanwhile. */
#ifndef SIM_WAY_H
#define SIM_WAY_H

#include <stdint.h>

#include "base/near.h"
#include "sim-wan/packet.h"

struct sim_way {
    struct sim_packet **ring;
    uint32_t head, count;
    uint32_t capacity; /* a power of two, or 0 */
    gmc_time latest;   /* arrival of any that was put into it */
};

/* Frees the ring, which holds none. */
void sim_way_fini(struct sim_way *way);
/* Only packets that this one is ahead of move, one place each. */
void sim_way_insert(struct sim_way *way, struct sim_packet *packet);

static inline struct sim_packet **sim_way_place(const struct sim_way *way, uint32_t i)
{
    return &way->ring[(way->head + i) & (way->capacity - 1)];
}

/* The packet with so many before it; NULL: there is none. */
static inline struct sim_packet *sim_way_at(const struct sim_way *way, uint32_t i)
{
    return i < way->count ? *sim_way_place(way, i) : NULL;
}

/* There must be one. */
static inline struct sim_packet *sim_way_take(struct sim_way *way)
{
    struct sim_packet *packet = *sim_way_place(way, 0);
    way->head++;
    way->count--;
    return packet;
}

/* Fetches the packet with so many before it, if there is one, into the processor's cache. */
static inline void sim_way_warm(const struct sim_way *way, uint32_t i)
{
    if (i < way->count)
        sim_packet_warm(*sim_way_place(way, i));
}

/* Of a packet that goes further only the head is looked at. */
static inline void sim_way_warm_head(const struct sim_way *way, uint32_t i)
{
    if (i < way->count)
        gmc_near_fetch_line(*sim_way_place(way, i));
}

/* What taking the first packet and inserting one look at. */
static inline void sim_way_near(const struct sim_way *way, struct gmc_near *near)
{
    if (way->capacity == 0)
        return;
    gmc_near_add(near, sim_way_place(way, 0), sizeof(struct sim_packet *));
    gmc_near_add(near, sim_way_place(way, way->count), sizeof(struct sim_packet *));
}

#endif
