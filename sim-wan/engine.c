/* SPDX-License-Identifier: BSD-2-Clause */
/* The virtual clock: a heap of four children per entry. Keys stand in the heap itself, so sifting
 * touches one or two cache lines per level and never the events' owners. */
#include "sim-wan/engine.h"

#include <stdlib.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

#define FAN 4u

struct sim_engine_slot {
    gmc_time when;
    uint64_t order;
    struct sim_event *event;
};

void sim_engine_init(struct sim_engine *engine)
{
    *engine = (struct sim_engine){0};
}

void sim_engine_fini(struct sim_engine *engine)
{
    free(engine->heap);
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
    event->slot = 0;
}

static bool before(const struct sim_engine_slot *a, const struct sim_engine_slot *b)
{
    return a->when < b->when || (a->when == b->when && a->order < b->order);
}

static void put(struct sim_engine *engine, size_t i, struct sim_engine_slot slot)
{
    engine->heap[i] = slot;
    slot.event->slot = (uint32_t)i + 1;
}

static void sift_up(struct sim_engine *engine, size_t i, struct sim_engine_slot slot)
{
    while (i > 0) {
        size_t parent = (i - 1) / FAN;
        if (!before(&slot, &engine->heap[parent]))
            break;
        put(engine, i, engine->heap[parent]);
        i = parent;
    }
    put(engine, i, slot);
}

static size_t least_child(const struct sim_engine *engine, size_t i)
{
    size_t first = i * FAN + 1;
    size_t last = first + FAN < engine->count ? first + FAN : engine->count;
    size_t least = first;
    for (size_t child = first + 1; child < last; child++)
        if (before(&engine->heap[child], &engine->heap[least]))
            least = child;
    return least;
}

static void sift_down(struct sim_engine *engine, size_t i, struct sim_engine_slot slot)
{
    while (i * FAN + 1 < engine->count) {
        size_t child = least_child(engine, i);
        if (!before(&engine->heap[child], &slot))
            break;
        put(engine, i, engine->heap[child]);
        i = child;
    }
    put(engine, i, slot);
}

static void settle(struct sim_engine *engine, size_t i, struct sim_engine_slot slot)
{
    if (i > 0 && before(&slot, &engine->heap[(i - 1) / FAN]))
        sift_up(engine, i, slot);
    else
        sift_down(engine, i, slot);
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
    if (when == GMC_TIME_NEVER) {
        sim_engine_cancel(engine, event);
        return;
    }
    if (when < engine->now)
        when = engine->now;
    if (event->slot != 0) {
        size_t i = event->slot - 1;
        if (engine->heap[i].when == when)
            return; /* keeps its turn */
        settle(engine, i, (struct sim_engine_slot){when, next_order(engine), event});
        return;
    }
    GMC_ASSERT(engine->count < UINT32_MAX - 1);
    engine->heap =
        sim_reserve(engine->heap, engine->count, &engine->capacity, sizeof(*engine->heap));
    engine->count++;
    sift_up(engine, engine->count - 1, (struct sim_engine_slot){when, next_order(engine), event});
}

static void take_out(struct sim_engine *engine, size_t i)
{
    engine->heap[i].event->slot = 0;
    struct sim_engine_slot last = engine->heap[--engine->count];
    if (i < engine->count)
        settle(engine, i, last);
}

void sim_engine_cancel(struct sim_engine *engine, struct sim_event *event)
{
    if (event->slot != 0)
        take_out(engine, event->slot - 1);
}

gmc_time sim_engine_next(const struct sim_engine *engine)
{
    return engine->count > 0 ? engine->heap[0].when : GMC_TIME_NEVER;
}

bool sim_engine_step(struct sim_engine *engine, gmc_time until)
{
    if (engine->count == 0 || engine->heap[0].when > until)
        return false;
    struct sim_event *event = engine->heap[0].event;
    engine->now = engine->heap[0].when;
    take_out(engine, 0);
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
