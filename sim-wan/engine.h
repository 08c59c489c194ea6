/* SPDX-License-Identifier: BSD-2-Clause */
/* The virtual clock and the events on it.
 *
 * Events are ordered by (time, order of scheduling), so a run is a total order and the same seed
 * repeats it. An event is a small struct inside its owner: it is pending at most once, and
 * scheduling it again moves it. Owners with many things to come (a wire with a thousand packets in
 * flight) keep their own list and schedule only its head, so the queue's size is that of the
 * topology, not that of the traffic.
 *
 * With `shuffle`, events of one instant come in a random order drawn from a seed: what a run
 * shows must not hang on the order in which simultaneous things happen to be scheduled.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prng.h"
#include "base/time.h"

/* How soon an event fires that memory is fetched for; each stage follows pointers that the one
 * before has fetched. */
enum sim_ahead { SIM_AHEAD_FIRST, SIM_AHEAD_SECOND, SIM_AHEAD_THIRD, SIM_AHEAD_LAST };

struct sim_event {
    void (*fire)(struct sim_event *event, gmc_time now);
    /* Fetches what it will look at into the processor's cache, and changes nothing; NULL. Called
     * some events ahead, mostly once in each stage; the event may move or be cancelled after. */
    void (*ahead)(const struct sim_event *event, enum sim_ahead stage);
    uint32_t place; /* in the queue; 0: not pending */
    uint32_t index; /* there */
};

struct sim_engine_queue;

struct sim_engine {
    gmc_time now;
    uint64_t fired; /* events so far */
    uint64_t scheduled;
    struct sim_engine_queue *queue;
    bool shuffle;
    struct gmc_prng prng; /* of shuffle */
};

void sim_engine_init(struct sim_engine *engine);
void sim_engine_fini(struct sim_engine *engine);
/* Before the first event. */
void sim_engine_shuffle(struct sim_engine *engine, const struct gmc_prng *prng);

void sim_event_init(struct sim_event *event, void (*fire)(struct sim_event *event, gmc_time now));
static inline bool sim_event_is_pending(const struct sim_event *event)
{
    return event->place != 0;
}

/* Schedules or moves; a time in the past means now, GMC_TIME_NEVER means cancel. */
void sim_engine_at(struct sim_engine *engine, struct sim_event *event, gmc_time when);
void sim_engine_cancel(struct sim_engine *engine, struct sim_event *event);

/* Time of the next event; GMC_TIME_NEVER. */
gmc_time sim_engine_next(const struct sim_engine *engine);
/* Fires the next event, if its time is not later than `until`. */
bool sim_engine_step(struct sim_engine *engine, gmc_time until);
/* Fires all events up to and at `until`; the clock then shows `until`. */
void sim_engine_run(struct sim_engine *engine, gmc_time until);

#endif
