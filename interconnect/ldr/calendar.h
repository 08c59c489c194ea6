/* SPDX-License-Identifier: BSD-2-Clause */
/* An event queue for simulators whose events are mostly near. Events are numbers below a capacity
 * that can grow; each is in the queue at most once. They come out by time, those of one instant by
 * number.
 *
 * What happens always the same time after its cause is pushed in the order in which it comes out:
 * such events are in rings. All others are in a ring of days, each a list of the events of that day
 * in any lap, with bits for those that are not empty; the first of them is kept beside it.
 *
 * Source: Brown, Calendar Queues, Communications of the ACM 31(10), 1988.
 */
#ifndef INTERCONNECT_LDR_CALENDAR_H
#define INTERCONNECT_LDR_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IC_CALENDAR_NONE UINT32_MAX
#define IC_CALENDAR_RINGS 2u

struct ic_calendar_entry {
    uint64_t time;
    uint32_t event;
    uint32_t next; /* of the day's list; the next free one */
};

struct ic_calendar_event {
    uint64_t time; /* UINT64_MAX: there is none */
    uint32_t event;
};

struct ic_calendar_ring {
    struct ic_calendar_event *events; /* numbers go on, and around; behind the last is none */
    uint32_t mask, first, end;
    uint64_t last; /* time of the last one */
};

struct ic_calendar {
    uint64_t now; /* time of the event that came out last */
    struct ic_calendar_event head;
    struct ic_calendar_ring rings[IC_CALENDAR_RINGS];
    /* Of those in days, which are few: places are taken again at once, and stay in the cache. */
    struct ic_calendar_entry *entries;
    uint32_t capacity, used, free_entry; /* used: those from there on never were */
    uint32_t *days;
    uint64_t *bits;     /* by 64 days: those that are not empty */
    uint32_t day_count; /* a power of two, 64 or more */
    uint32_t day_shift; /* a day is 2^shift units of time */
    uint64_t today;     /* counted from 0, not by lap: nothing in days is before it */
    uint64_t pending;   /* in days */
};

/* A day about as long as the mean time between events, and days for what most events lie ahead.
 * NOMEM. */
GMC_NODISCARD gmc_status ic_calendar_init(struct ic_calendar *calendar, uint32_t capacity,
                                          double between, double ahead);
void ic_calendar_fini(struct ic_calendar *calendar);
/* Room for more events. NOMEM: unchanged. */
GMC_NODISCARD gmc_status ic_calendar_grow(struct ic_calendar *calendar, uint32_t capacity);

/* Time is not before that of the last event that came out. */
void ic_calendar_push(struct ic_calendar *calendar, uint32_t event, uint64_t time);
/* Into a ring, where it is not the last or the ring is full, or with all others. */
void ic_calendar_push_otherwise(struct ic_calendar *calendar, uint32_t which, uint32_t event,
                                uint64_t time);
/* The same, of events of one kind whose times mostly go on. */
static inline void ic_calendar_push_in_order(struct ic_calendar *calendar, uint32_t which,
                                             uint32_t event, uint64_t time)
{
    struct ic_calendar_ring *ring = &calendar->rings[which];
    if (time <= ring->last || ring->end - ring->first == ring->mask) {
        ic_calendar_push_otherwise(calendar, which, event, time);
        return;
    }
    ring->last = time;
    ring->events[ring->end++ & ring->mask] = (struct ic_calendar_event){time, event};
    ring->events[ring->end & ring->mask] = (struct ic_calendar_event){UINT64_MAX, IC_CALENDAR_NONE};
}
/* NONE when there is none. */
uint32_t ic_calendar_pop(struct ic_calendar *calendar);
/* Of a ring, the one that so many others come before; NULL. Stays until the next push. */
static inline const struct ic_calendar_event *ic_calendar_ahead(const struct ic_calendar *calendar,
                                                                uint32_t which, uint32_t ahead)
{
    const struct ic_calendar_ring *ring = &calendar->rings[which];
    if (ring->end - ring->first <= ahead)
        return NULL;
    return &ring->events[(ring->first + ahead) & ring->mask];
}

#endif
