/* SPDX-License-Identifier: BSD-2-Clause */
/* Rings of events in order, and the ring of days. */
#include "interconnect/ldr/calendar.h"

#include <stdlib.h>

#define DAYS_MAX (1u << 20)
#define RING_LEAST 64u

static const struct ic_calendar_event no_event = {UINT64_MAX, IC_CALENDAR_NONE};

static struct ic_calendar_event *ring_at(const struct ic_calendar_ring *ring, uint32_t number)
{
    return &ring->events[number & ring->mask];
}

/* As small as will do: all of it is gone through, around and around. */
static bool grow_ring(struct ic_calendar_ring *ring, uint32_t capacity)
{
    struct ic_calendar_event *events = malloc((size_t)capacity * sizeof(*events));
    if (events == NULL)
        return false;
    for (uint32_t i = ring->first; i != ring->end; i++)
        events[i & (capacity - 1)] = *ring_at(ring, i);
    events[ring->end & (capacity - 1)] = no_event;
    free(ring->events);
    ring->events = events;
    ring->mask = capacity - 1;
    return true;
}

gmc_status ic_calendar_init(struct ic_calendar *calendar, uint32_t capacity, double between,
                            double ahead)
{
    *calendar =
        (struct ic_calendar){.day_count = 64, .head = no_event, .free_entry = IC_CALENDAR_NONE};
    while (calendar->day_shift < 40 && (double)((uint64_t)2 << calendar->day_shift) <= between)
        calendar->day_shift++;
    double day = (double)((uint64_t)1 << calendar->day_shift);
    while (calendar->day_count < DAYS_MAX && calendar->day_count * day < ahead)
        calendar->day_count *= 2;
    calendar->days = malloc(calendar->day_count * sizeof(*calendar->days));
    calendar->bits = calloc(calendar->day_count / 64, sizeof(*calendar->bits));
    for (uint32_t i = 0; calendar->days != NULL && i < calendar->day_count; i++)
        calendar->days[i] = IC_CALENDAR_NONE;
    bool has_rings = true;
    for (uint32_t i = 0; i < IC_CALENDAR_RINGS; i++)
        has_rings &= grow_ring(&calendar->rings[i], RING_LEAST);
    if (calendar->days != NULL && calendar->bits != NULL && has_rings &&
        ic_calendar_grow(calendar, capacity) == GMC_OK)
        return GMC_OK;
    ic_calendar_fini(calendar);
    return GMC_ERR_NOMEM;
}

void ic_calendar_fini(struct ic_calendar *calendar)
{
    for (uint32_t i = 0; i < IC_CALENDAR_RINGS; i++)
        free(calendar->rings[i].events);
    free(calendar->entries);
    free(calendar->days);
    free(calendar->bits);
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

static bool is_before(uint64_t time, uint32_t event, const struct ic_calendar_event *other)
{
    return (time < other->time) | ((time == other->time) & (event < other->event));
}

/* ---- days ---- */
static void put(struct ic_calendar *calendar, uint32_t event, uint64_t time)
{
    uint64_t day = time >> calendar->day_shift;
    uint64_t number = day & (calendar->day_count - 1);
    if (day < calendar->today)
        calendar->today = day;
    uint32_t place = calendar->free_entry;
    if (place != IC_CALENDAR_NONE)
        calendar->free_entry = calendar->entries[place].next;
    else
        place = calendar->used++;
    calendar->entries[place] = (struct ic_calendar_entry){time, event, calendar->days[number]};
    calendar->days[number] = place;
    calendar->bits[number / 64] |= (uint64_t)1 << (number % 64);
    calendar->pending++;
}

/* Takes the first event of today out; none when there is none left of this lap. */
static struct ic_calendar_event take_today(struct ic_calendar *calendar)
{
    struct ic_calendar_entry *entries = calendar->entries;
    uint64_t number = calendar->today & (calendar->day_count - 1);
    struct ic_calendar_event first = no_event;
    uint32_t *best = NULL;
    for (uint32_t *link = &calendar->days[number]; *link != IC_CALENDAR_NONE;
         link = &entries[*link].next) {
        const struct ic_calendar_entry *entry = &entries[*link];
        if (entry->time >> calendar->day_shift != calendar->today ||
            !is_before(entry->time, entry->event, &first))
            continue;
        best = link;
        first = (struct ic_calendar_event){entry->time, entry->event};
    }
    if (best == NULL)
        return first;
    uint32_t place = *best;
    *best = entries[place].next;
    entries[place].next = calendar->free_entry;
    calendar->free_entry = place;
    if (calendar->days[number] == IC_CALENDAR_NONE)
        calendar->bits[number / 64] &= ~((uint64_t)1 << (number % 64));
    calendar->pending--;
    return first;
}

/* From today on, to the next day that is not empty. */
static void skip_empty(struct ic_calendar *calendar)
{
    for (;;) {
        uint64_t number = calendar->today & (calendar->day_count - 1);
        uint64_t bits = calendar->bits[number / 64] >> (number % 64);
        if (bits != 0) {
            calendar->today += (uint32_t)__builtin_ctzll(bits);
            return;
        }
        calendar->today += 64 - number % 64;
    }
}

static void find_head(struct ic_calendar *calendar)
{
    calendar->head = no_event;
    while (calendar->pending > 0 && calendar->head.event == IC_CALENDAR_NONE) {
        skip_empty(calendar);
        calendar->head = take_today(calendar);
        if (calendar->head.event == IC_CALENDAR_NONE)
            calendar->today++;
    }
}

void ic_calendar_push(struct ic_calendar *calendar, uint32_t event, uint64_t time)
{
    struct ic_calendar_event *head = &calendar->head;
    if (!is_before(time, event, head)) {
        put(calendar, event, time);
        return;
    }
    if (head->event != IC_CALENDAR_NONE)
        put(calendar, head->event, head->time);
    *head = (struct ic_calendar_event){time, event};
}

/* ---- rings ---- */
void ic_calendar_push_otherwise(struct ic_calendar *calendar, uint32_t which, uint32_t event,
                                uint64_t time)
{
    struct ic_calendar_ring *ring = &calendar->rings[which];
    bool is_full = ring->end - ring->first == ring->mask;
    if (time < ring->last || (is_full && !grow_ring(ring, 2 * (ring->mask + 1)))) {
        ic_calendar_push(calendar, event, time);
        return;
    }
    uint32_t place = ring->end++;
    for (; place != ring->first && is_before(time, event, ring_at(ring, place - 1)); place--)
        *ring_at(ring, place) = *ring_at(ring, place - 1);
    *ring_at(ring, place) = (struct ic_calendar_event){time, event};
    *ring_at(ring, ring->end) = no_event;
    ring->last = time;
}

/* Which is the first nobody can predict. */
uint32_t ic_calendar_pop(struct ic_calendar *calendar)
{
    const struct ic_calendar_event *first = &calendar->head;
    uint32_t from = IC_CALENDAR_RINGS;
    for (uint32_t i = 0; i < IC_CALENDAR_RINGS; i++) {
        const struct ic_calendar_event *event =
            ring_at(&calendar->rings[i], calendar->rings[i].first);
        bool is_first = is_before(event->time, event->event, first);
        first = is_first ? event : first;
        from = is_first ? i : from;
    }
    uint32_t event = first->event;
    if (event == IC_CALENDAR_NONE)
        return event;
    calendar->now = first->time;
    if (from < IC_CALENDAR_RINGS)
        calendar->rings[from].first++;
    else
        find_head(calendar);
    return event;
}
