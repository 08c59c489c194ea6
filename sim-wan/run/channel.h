/* SPDX-License-Identifier: BSD-2-Clause */
/* The message channels of a run: their publishers, and what subscribers hear, with its latency.
 *
 * A publisher keeps to its schedule: message k is due at the start of publishing + k * every. When
 * the channel has no room it is published late, and its latency counts from when it was due, so
 * that a publisher that is held back does not make the channel look quick. */
#ifndef SIM_RUN_CHANNEL_H
#define SIM_RUN_CHANNEL_H

#include <jansson.h>

#include "base/interval.h"
#include "sim-wan/host.h"
#include "sim-wan/lateness.h"
#include "sim-wan/run/plan.h"

struct sim_run;

struct sim_run_subscriber {
    struct gmc_interval_set heard;  /* sequence numbers, over all lives of its gateway */
    struct gmc_interval_set lately; /* the same, of its present life */
    uint64_t repeated;             /* heard before, by a gateway that has been started anew since */
    uint64_t starts;               /* of that gateway, when it was last heard of */
    uint64_t next;                 /* number behind the highest that was heard, since the start */
    uint64_t gaps;                 /* places where numbers were passed over */
    bool ended;                    /* it heard of the end, and nothing is to come */
    struct sim_lateness latencies; /* from when a message was due */
};

struct sim_run_channel {
    struct sim_run *run;
    const struct sim_plan_channel *plan;
    struct sim_event step;
    struct gmc_channel_key key; /* e 0: not opened */
    gmc_time open;              /* of the engine, as all times here */
    gmc_time first;             /* when message 0 was due; 0: it takes none yet */
    gmc_time end;               /* over at its source; 0: not yet */
    bool has_room;              /* as the gateway says */
    bool is_told;               /* that nothing more is to be published */
    bool is_closing;            /* the end is published, or it failed */
    uint64_t published;
    uint64_t held;                          /* messages that were due and found no room */
    uint8_t *body;                          /* room for one message */
    char error[128];                        /* why it failed */
    struct sim_run_subscriber *subscribers; /* by target */
    uint32_t *targets;                      /* by node: its number as a target + 1; 0: it is none */
};

/* Before the first event; for the whole life of the run. */
void sim_run_channels_init(struct sim_run *run);
void sim_run_channels_fini(struct sim_run *run);
/* Opens all channels and waits until their subscribers are there, for at most `limit`. */
void sim_run_channels_warm_up(struct sim_run *run, gmc_duration limit);
/* The scenario's clock begins; run->zero is now. */
void sim_run_channels_begin(struct sim_run *run);
/* Those of no length end. */
void sim_run_channels_end(struct sim_run *run);
/* News of a gateway (world->on_message, world->on_event). */
void sim_run_channels_on_message(void *run, struct sim_host *host, const struct gmc_output *out);
void sim_run_channels_on_event(struct sim_run *run, struct sim_host *host,
                               const struct gmc_event *event);

/* Everything due was published, and heard at every subscriber, of `latest` the end. */
bool sim_run_channel_is_complete(const struct sim_run_channel *channel);
/* Published messages that a subscriber has heard, and that it has not. */
uint64_t sim_run_channel_delivered(const struct sim_run_channel *channel, size_t subscriber);
uint64_t sim_run_channel_lost(const struct sim_run_channel *channel, size_t subscriber);

/* ---- channel_summary.c ---- */
json_t *sim_run_channel_summary(const struct sim_run_channel *channel);
/* Adds a row for each subscriber. */
void sim_run_channel_put_subscribers(const struct sim_run_channel *channel, json_t *list);

#endif
