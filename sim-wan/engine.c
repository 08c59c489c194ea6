/* SPDX-License-Identifier: BSD-2-Clause */
/* The virtual clock: a heap for what comes next, a wheel for what comes later.
 *
 * The wheel is a radix heap's: an event stands at the level of the highest digit in which its time
 * differs from that of the wheel, in the slot of its own digit there, so the first slot in use of
 * the lowest level in use comes first. That slot goes to the heap when it holds few events;
 * otherwise the wheel's time becomes that of the slot's first event, which is about to fire, and
 * the slot's events go to lower levels. A heap that grows, because much is scheduled before the
 * events that it was filled with, goes back to the wheel. So the heap stays small and sits in the
 * first cache, and an event moves a few times at most, however many are pending.
 *
 * The next few events stand in a row in front of the heap. In large networks most of what an event
 * looks at is in memory and not in the processor's caches, and to wait for each piece of it would
 * take longer than all the work: so events in the row have theirs fetched, in stages. Small
 * networks are in the caches anyway, and have no row.
 *
 * Keys stand in row, heap and slots themselves: moving them does not touch the events' owners,
 * except to note the new place.
 *
 * Ahuja, Mehlhorn, Orlin and Tarjan, Faster algorithms for the shortest path problem (radix heap);
 * Tang, Goh and Thng, Ladder queue (few events are sorted, many are spread).
 */
#include "sim-wan/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/near.h"
#include "sim-wan/mem.h"

#define FAN 4u
#define DIGIT_BITS 6u
#define DIGITS (1u << DIGIT_BITS)
#define LEVELS ((64u + DIGIT_BITS - 1) / DIGIT_BITS)
#define FEW 32u        /* a slot with no more goes to the heap */
#define HEAP_MAX 96u   /* a heap with more goes back to the wheel */
#define ROOM_KEPT 1024 /* an emptied slot with more gives its room back */
#define SOON 8u        /* keys ahead: their events, which note each move, are fetched */

#define ROW 32u /* events in it */
#define ROW_ROOM (2 * ROW)
#define MANY 3000u /* events pending, from which on it is worth while */
/* Places in it at which the stages come; the first at its end. */
#define SECOND 20u
#define THIRD 12u
#define LAST 5u

/* sim_event.place: 0 not pending, 1 in the heap, 2 in the row, else a slot of the wheel, plus 3. */
#define IN_HEAP 1u
#define IN_ROW 2u
#define IN_WHEEL 3u

struct key {
    gmc_time when;
    uint64_t order;
    struct sim_event *event;
};

struct sim_engine_keys {
    struct key *list;
    size_t count, capacity;
};

/* Sorted, and not later than all others. */
struct sim_engine_row {
    struct key keys[ROW_ROOM];
    size_t first, count;
};

struct sim_engine_queue {
    size_t pending; /* in all places */
    struct sim_engine_row row;
    struct sim_engine_keys heap;
    gmc_time heap_end; /* what is earlier belongs into the heap */
    gmc_time base;     /* the wheel's time: not later than what it holds */
    uint64_t levels;   /* bit: a slot of the level is in use */
    uint64_t slots[LEVELS];
    struct sim_engine_keys wheel[LEVELS * DIGITS];
};

void sim_engine_init(struct sim_engine *engine)
{
    *engine = (struct sim_engine){.queue = sim_calloc(1, sizeof(struct sim_engine_queue))};
}

void sim_engine_fini(struct sim_engine *engine)
{
    for (size_t i = 0; i < LEVELS * DIGITS; i++)
        free(engine->queue->wheel[i].list);
    free(engine->queue->heap.list);
    free(engine->queue);
    *engine = (struct sim_engine){0};
}

void sim_engine_shuffle(struct sim_engine *engine, const struct gmc_prng *prng)
{
    GMC_ASSERT(engine->scheduled == 0);
    engine->shuffle = true;
    engine->prng = *prng;
}

void sim_event_init(struct sim_event *event, void (*fire)(struct sim_event *event, gmc_time now))
{
    event->fire = fire;
    event->ahead = NULL;
    event->place = 0;
    event->index = 0;
}

static bool before(const struct key *a, const struct key *b)
{
    return a->when < b->when || (a->when == b->when && a->order < b->order);
}

static void put(struct sim_engine_keys *keys, uint32_t place, size_t i, struct key key)
{
    keys->list[i] = key;
    key.event->place = place;
    key.event->index = (uint32_t)i;
}

/* Makes room for one more; returns its index. */
static size_t add_one(struct sim_engine_keys *keys)
{
    if (keys->count == keys->capacity) {
        GMC_ASSERT(keys->count < UINT32_MAX / 2);
        keys->list = sim_reserve(keys->list, keys->count, &keys->capacity, sizeof(*keys->list));
    }
    return keys->count++;
}

/* ---- the heap: four children per entry ---- */
static void sift_up(struct sim_engine_keys *heap, size_t i, struct key key)
{
    while (i > 0) {
        size_t parent = (i - 1) / FAN;
        if (!before(&key, &heap->list[parent]))
            break;
        put(heap, IN_HEAP, i, heap->list[parent]);
        i = parent;
    }
    put(heap, IN_HEAP, i, key);
}

static size_t least_child(const struct sim_engine_keys *heap, size_t i)
{
    size_t first = i * FAN + 1;
    size_t last = first + FAN < heap->count ? first + FAN : heap->count;
    size_t least = first;
    for (size_t child = first + 1; child < last; child++)
        if (before(&heap->list[child], &heap->list[least]))
            least = child;
    return least;
}

static void sift_down(struct sim_engine_keys *heap, size_t i, struct key key)
{
    while (i * FAN + 1 < heap->count) {
        size_t child = least_child(heap, i);
        if (!before(&heap->list[child], &key))
            break;
        put(heap, IN_HEAP, i, heap->list[child]);
        i = child;
    }
    put(heap, IN_HEAP, i, key);
}

static void heap_push(struct sim_engine_keys *heap, struct key key)
{
    size_t i = add_one(heap);
    sift_up(heap, i, key);
}

static void heap_take(struct sim_engine_keys *heap, size_t i)
{
    struct key last = heap->list[--heap->count];
    if (i == heap->count)
        return;
    if (i > 0 && before(&last, &heap->list[(i - 1) / FAN]))
        sift_up(heap, i, last);
    else
        sift_down(heap, i, last);
}

/* ---- the wheel ---- */
static void wheel_put(struct sim_engine_queue *queue, struct key key)
{
    uint64_t differs = key.when ^ queue->base;
    uint32_t level = differs == 0 ? 0 : (63u - (uint32_t)__builtin_clzll(differs)) / DIGIT_BITS;
    uint32_t digit = (uint32_t)(key.when >> (level * DIGIT_BITS)) % DIGITS;
    uint32_t slot = level * DIGITS + digit;
    queue->levels |= UINT64_C(1) << level;
    queue->slots[level] |= UINT64_C(1) << digit;
    struct sim_engine_keys *keys = &queue->wheel[slot];
    size_t i = add_one(keys);
    put(keys, IN_WHEEL + slot, i, key);
    /* Where the slot goes on: only an address, there may be no room yet. */
    gmc_near_fetch_line((const void *)((uintptr_t)&keys->list[i] + 2 * GMC_NEAR_LINE));
}

static void mark_empty(struct sim_engine_queue *queue, uint32_t slot)
{
    struct sim_engine_keys *keys = &queue->wheel[slot];
    uint32_t level = slot / DIGITS;
    queue->slots[level] &= ~(UINT64_C(1) << (slot % DIGITS));
    if (queue->slots[level] == 0)
        queue->levels &= ~(UINT64_C(1) << level);
    if (keys->capacity > ROOM_KEPT) {
        free(keys->list);
        *keys = (struct sim_engine_keys){0};
    }
}

static void wheel_take(struct sim_engine_queue *queue, uint32_t slot, size_t i)
{
    struct sim_engine_keys *keys = &queue->wheel[slot];
    struct key last = keys->list[--keys->count];
    if (i < keys->count)
        put(keys, IN_WHEEL + slot, i, last);
    if (keys->count == 0)
        mark_empty(queue, slot);
}

/* The slot that comes first; some slot must be in use. */
static uint32_t first_slot(const struct sim_engine_queue *queue)
{
    uint32_t level = (uint32_t)__builtin_ctzll(queue->levels);
    return level * DIGITS + (uint32_t)__builtin_ctzll(queue->slots[level]);
}

static gmc_time first_time(const struct sim_engine_keys *keys)
{
    gmc_time first = keys->list[0].when;
    for (size_t i = 1; i < keys->count; i++)
        first = gmc_time_min(first, keys->list[i].when);
    return first;
}

/* What the slot takes is earlier than this, and what later slots take is not. */
static gmc_time end_of_slot(gmc_time in_slot, uint32_t slot)
{
    uint32_t bits = slot / DIGITS * DIGIT_BITS;
    gmc_time last = in_slot | ((UINT64_C(1) << bits) - 1);
    return last < GMC_TIME_NEVER ? last + 1 : last;
}

/* ---- both together ---- */
static void insert(struct sim_engine_queue *queue, struct key key)
{
    if (key.when < queue->heap_end)
        heap_push(&queue->heap, key);
    else
        wheel_put(queue, key);
}

static void spread(struct sim_engine_queue *queue, struct sim_engine_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (i + SOON < keys->count)
            gmc_near_fetch_line(&keys->list[i + SOON].event->place);
        wheel_put(queue, keys->list[i]);
    }
    keys->count = 0;
}

/* The heap is worth keeping when it is small, or all of one instant. The wheel takes nothing that
 * is earlier than its time. */
static void bound_heap(struct sim_engine_queue *queue)
{
    if (queue->heap.count <= HEAP_MAX || queue->heap_end - queue->heap.list[0].when <= 1 ||
        queue->heap.list[0].when < queue->base)
        return;
    queue->heap_end = queue->base;
    spread(queue, &queue->heap);
}

/* Fills the empty heap from the first slot. Its first event comes before all others, so that the
 * wheel's time may be brought to it: what is scheduled for before then goes to row or heap. */
static bool fill_heap(struct sim_engine_queue *queue)
{
    while (queue->levels != 0) {
        uint32_t slot = first_slot(queue);
        struct sim_engine_keys *keys = &queue->wheel[slot];
        gmc_time first = first_time(keys);
        if (slot < DIGITS || keys->count <= FEW) {
            queue->heap_end = end_of_slot(first, slot);
            for (size_t i = 0; i < keys->count; i++)
                heap_push(&queue->heap, keys->list[i]);
            keys->count = 0;
            mark_empty(queue, slot);
            return true;
        }
        queue->base = first; /* so that all of them go to lower levels */
        spread(queue, keys);
        mark_empty(queue, slot);
    }
    return false;
}

/* ---- the row ---- */
static void look_ahead(const struct sim_engine_row *row, size_t i, enum sim_ahead stage)
{
    if (i >= row->count)
        return;
    const struct sim_event *event = row->keys[row->first + i].event;
    if (event->ahead != NULL)
        event->ahead(event, stage);
}

static void row_move_to_front(struct sim_engine_row *row)
{
    memmove(row->keys, row->keys + row->first, row->count * sizeof(row->keys[0]));
    row->first = 0;
}

static void row_append(struct sim_engine_row *row, struct key key)
{
    if (row->first + row->count == ROW_ROOM)
        row_move_to_front(row);
    row->keys[row->first + row->count++] = key;
    key.event->place = IN_ROW;
}

static void fill_row(struct sim_engine_queue *queue)
{
    while (queue->row.count < ROW && (queue->heap.count > 0 || fill_heap(queue))) {
        struct key first = queue->heap.list[0];
        heap_take(&queue->heap, 0);
        row_append(&queue->row, first);
        look_ahead(&queue->row, queue->row.count - 1, SIM_AHEAD_FIRST);
    }
}

static void row_take(struct sim_engine_row *row, size_t i)
{
    struct key *keys = row->keys + row->first;
    row->count--;
    if (i == 0)
        row->first++;
    else
        memmove(keys + i, keys + i + 1, (row->count - i) * sizeof(keys[0]));
}

/* False: it comes after all of the row. */
static bool row_put(struct sim_engine_queue *queue, struct key key)
{
    struct sim_engine_row *row = &queue->row;
    if (row->count == 0 || !before(&key, &row->keys[row->first + row->count - 1]))
        return false;
    if (row->count == ROW)
        insert(queue, row->keys[row->first + --row->count]);
    row_append(row, key);
    struct key *keys = row->keys + row->first;
    size_t i = row->count - 1;
    for (; i > 0 && before(&key, &keys[i - 1]); i--)
        keys[i] = keys[i - 1];
    keys[i] = key;
    return true;
}

static size_t row_find(const struct sim_engine_queue *queue, const struct sim_event *event)
{
    size_t i = 0;
    while (queue->row.keys[queue->row.first + i].event != event)
        i++;
    return i;
}

static void take_out(struct sim_engine_queue *queue, struct sim_event *event)
{
    if (event->place == IN_ROW)
        row_take(&queue->row, row_find(queue, event));
    else if (event->place == IN_HEAP)
        heap_take(&queue->heap, event->index);
    else
        wheel_take(queue, event->place - IN_WHEEL, event->index);
    event->place = 0;
    queue->pending--;
}

static gmc_time time_of(const struct sim_engine_queue *queue, const struct sim_event *event)
{
    if (event->place == IN_ROW)
        return queue->row.keys[queue->row.first + row_find(queue, event)].when;
    const struct sim_engine_keys *keys =
        event->place == IN_HEAP ? &queue->heap : &queue->wheel[event->place - IN_WHEEL];
    return keys->list[event->index].when;
}

/* The order among events of one instant: that of scheduling, or drawn. The low bits keep drawn
 * orders distinct. */
static uint64_t next_order(struct sim_engine *engine)
{
    uint64_t order = ++engine->scheduled;
    if (engine->shuffle)
        order = (gmc_prng_u64(&engine->prng) << 40) | (order & ((UINT64_C(1) << 40) - 1));
    return order;
}

void sim_engine_at(struct sim_engine *engine, struct sim_event *event, gmc_time when)
{
    struct sim_engine_queue *queue = engine->queue;
    if (when == GMC_TIME_NEVER) {
        sim_engine_cancel(engine, event);
        return;
    }
    if (when < engine->now)
        when = engine->now;
    if (event->place != 0) {
        if (time_of(queue, event) == when)
            return; /* keeps its turn */
        take_out(queue, event);
    }
    struct key key = {when, next_order(engine), event};
    queue->pending++;
    if (!row_put(queue, key))
        insert(queue, key);
    bound_heap(queue);
}

void sim_engine_cancel(struct sim_engine *engine, struct sim_event *event)
{
    if (event->place != 0)
        take_out(engine->queue, event);
}

gmc_time sim_engine_next(const struct sim_engine *engine)
{
    const struct sim_engine_queue *queue = engine->queue;
    if (queue->row.count > 0)
        return queue->row.keys[queue->row.first].when;
    if (queue->heap.count > 0)
        return queue->heap.list[0].when;
    return queue->levels != 0 ? first_time(&queue->wheel[first_slot(queue)]) : GMC_TIME_NEVER;
}

/* The first of all, if it is due; it is pending no more. */
static struct sim_event *take_due(struct sim_engine_queue *queue, gmc_time until, gmc_time *when)
{
    struct sim_engine_row *row = &queue->row;
    if (queue->pending >= MANY)
        fill_row(queue);
    if (row->count == 0 && queue->heap.count == 0 && !fill_heap(queue))
        return NULL;
    struct key first = row->count > 0 ? row->keys[row->first] : queue->heap.list[0];
    if (first.when > until)
        return NULL;
    if (row->count > 0)
        row_take(row, 0);
    else
        heap_take(&queue->heap, 0);
    first.event->place = 0;
    queue->pending--;
    *when = first.when;
    return first.event;
}

bool sim_engine_step(struct sim_engine *engine, gmc_time until)
{
    struct sim_engine_queue *queue = engine->queue;
    struct sim_event *event = take_due(queue, until, &engine->now);
    if (event == NULL)
        return false;
    if (queue->row.count > 0) {
        look_ahead(&queue->row, SECOND, SIM_AHEAD_SECOND);
        look_ahead(&queue->row, THIRD, SIM_AHEAD_THIRD);
        look_ahead(&queue->row, LAST, SIM_AHEAD_LAST);
    }
    engine->fired++;
    event->fire(event, engine->now);
    return true;
}

void sim_engine_run(struct sim_engine *engine, gmc_time until)
{
    while (sim_engine_step(engine, until))
        ;
    if (engine->now < until)
        engine->now = until;
}
