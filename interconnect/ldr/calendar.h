/* SPDX-License-Identifier: BSD-2-Clause */
/* An event queue for simulators whose events are mostly near: a ring of days, each a list of the
 * events of that day in any lap. Events are numbers below a capacity that can grow; each is in the
 * queue at most once. They come out by time, those of one instant by number.
 *
 * Source: Brown, Calendar Queues, Communications of the ACM 31(10), 1988.
 */
#ifndef INTERCONNECT_LDR_CALENDAR_H
#define INTERCONNECT_LDR_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define IC_CALENDAR_NONE UINT32_MAX

struct ic_calendar_entry {
    uint64_t time;
    uint32_t next; /* of the day's list */
};

struct ic_calendar {
    struct ic_calendar_entry *entries; /* by event */
    uint32_t capacity;
    uint32_t *days;
    uint32_t day_count; /* a power of two */
    uint32_t day_shift; /* a day is 2^shift units of time */
    uint64_t today;     /* counted from 0, not by lap */
    uint64_t pending;
};

/* A day about as long as the mean time between events, and days for what most events lie ahead;
 * both are rounded up to powers of two. NOMEM. */
GMC_NODISCARD gmc_status ic_calendar_init(struct ic_calendar *calendar, uint32_t capacity,
                                          double between, double ahead);
void ic_calendar_fini(struct ic_calendar *calendar);
/* Room for more events. NOMEM: unchanged. */
GMC_NODISCARD gmc_status ic_calendar_grow(struct ic_calendar *calendar, uint32_t capacity);

/* Time is not before that of the last event that came out. */
static inline void ic_calendar_push(struct ic_calendar *calendar, uint32_t event, uint64_t time)
{
    uint32_t *day = &calendar->days[(time >> calendar->day_shift) & (calendar->day_count - 1)];
    calendar->entries[event] = (struct ic_calendar_entry){time, *day};
    *day = event;
    calendar->pending++;
}
/* NONE when there is none; its time is in entries. */
uint32_t ic_calendar_pop(struct ic_calendar *calendar);

#endif
