/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring of days. */
#include "interconnect/ldr/calendar.h"

#include <stdlib.h>

#define DAYS_MAX (1u << 20)

gmc_status ic_calendar_init(struct ic_calendar *calendar, uint32_t capacity, double between,
                            double ahead)
{
    *calendar = (struct ic_calendar){.day_count = 64};
    while (calendar->day_shift < 40 && (double)((uint64_t)1 << calendar->day_shift) < between)
        calendar->day_shift++;
    double day = (double)((uint64_t)1 << calendar->day_shift);
    while (calendar->day_count < DAYS_MAX && calendar->day_count * day < ahead)
        calendar->day_count *= 2;
    calendar->days = malloc(calendar->day_count * sizeof(*calendar->days));
    for (uint32_t i = 0; calendar->days != NULL && i < calendar->day_count; i++)
        calendar->days[i] = IC_CALENDAR_NONE;
    if (calendar->days != NULL && ic_calendar_grow(calendar, capacity) == GMC_OK)
        return GMC_OK;
    ic_calendar_fini(calendar);
    return GMC_ERR_NOMEM;
}

void ic_calendar_fini(struct ic_calendar *calendar)
{
    free(calendar->entries);
    free(calendar->days);
    *calendar = (struct ic_calendar){0};
}

gmc_status ic_calendar_grow(struct ic_calendar *calendar, uint32_t capacity)
{
    struct ic_calendar_entry *entries =
        realloc(calendar->entries, (size_t)capacity * sizeof(*entries));
    if (entries == NULL)
        return GMC_ERR_NOMEM;
    calendar->entries = entries;
    calendar->capacity = capacity;
    return GMC_OK;
}

/* Takes the first event of today out; NONE when there is none left of this lap. */
static uint32_t take_today(struct ic_calendar *calendar)
{
    struct ic_calendar_entry *entries = calendar->entries;
    uint32_t *best = NULL;
    uint32_t *link = &calendar->days[calendar->today & (calendar->day_count - 1)];
    for (; *link != IC_CALENDAR_NONE; link = &entries[*link].next) {
        const struct ic_calendar_entry *entry = &entries[*link];
        if (entry->time >> calendar->day_shift != calendar->today)
            continue;
        if (best == NULL || entry->time < entries[*best].time ||
            (entry->time == entries[*best].time && *link < *best))
            best = link;
    }
    if (best == NULL)
        return IC_CALENDAR_NONE;
    uint32_t event = *best;
    *best = entries[event].next;
    calendar->pending--;
    return event;
}

uint32_t ic_calendar_pop(struct ic_calendar *calendar)
{
    while (calendar->pending > 0) {
        uint32_t event = take_today(calendar);
        if (event != IC_CALENDAR_NONE)
            return event;
        calendar->today++;
    }
    return IC_CALENDAR_NONE;
}
