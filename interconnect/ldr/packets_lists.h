/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of packets that wait at one place, by number of hops: the first of each number leads to the
 * first of the next. They are in the packets themselves: a table of all places and numbers would be
 * large, and mostly of empty lists.
 */
#ifndef INTERCONNECT_LDR_PACKETS_LISTS_H
#define INTERCONNECT_LDR_PACKETS_LISTS_H

#include "interconnect/ldr/packets_internal.h"

/* The link to the first packet of so many hops or more. */
static inline uint32_t *ic_packets_list(struct packets *sim, uint32_t *first, int which,
                                        uint32_t hops)
{
    while (*first != NONE && sim->packets[*first].hops < hops)
        first = &sim->packets[*first].lists[which].other;
    return first;
}

/* True: there was no other of its hops. */
static inline bool ic_packets_append(struct packets *sim, uint32_t *first, int which,
                                     uint32_t packet)
{
    struct packet *p = &sim->packets[packet];
    uint32_t *link = ic_packets_list(sim, first, which, p->hops);
    struct listed *own = &p->lists[which];
    if (*link == NONE || sim->packets[*link].hops != p->hops) {
        *own = (struct listed){.behind = NONE, .last = packet, .other = *link};
        *link = packet;
        return true;
    }
    struct listed *list = &sim->packets[*link].lists[which];
    own->behind = NONE;
    sim->packets[list->last].lists[which].behind = packet;
    list->last = packet;
    return false;
}

/* The one that a link leads to. */
static inline void ic_packets_unlink(struct packets *sim, uint32_t *link, int which)
{
    const struct listed *list = &sim->packets[*link].lists[which];
    if (list->behind == NONE) {
        *link = list->other;
        return;
    }
    struct listed *next = &sim->packets[list->behind].lists[which];
    next->last = list->last;
    next->other = list->other;
    *link = list->behind;
}

#endif
