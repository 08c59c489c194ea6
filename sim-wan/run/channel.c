/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishers and subscribers of a run; see channel.h. */
#include "sim-wan/run/channel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/drive.h"
#include "sim-wan/scenario.h"

/* ---- publishing ---- */
static gmc_time due(const struct sim_run_channel *channel, uint64_t number)
{
    return gmc_time_add(channel->first, number * channel->plan->every);
}

/* What a message holds follows from channel and number, so that others can be told from it. */
static uint8_t content(const struct sim_run_channel *channel, uint64_t number, size_t i)
{
    uint64_t mixed = (number + channel->key.e) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint8_t)(mixed >> (i % 8 * 8)) ^ (uint8_t)(i / 8);
}

static struct sim_host *source_of(const struct sim_run_channel *channel)
{
    return channel->run->world->hosts[channel->plan->source];
}

static void be_over(struct sim_run_channel *channel)
{
    struct sim_run *run = channel->run;
    channel->is_closing = true;
    channel->end = run->world->engine.now;
    if (channel->plan->count > 0)
        run->channels_left--;
    else
        run->endless_left--;
}

static void fail(struct sim_run_channel *channel, const char *words)
{
    snprintf(channel->error, sizeof(channel->error), "%s", words);
    be_over(channel);
}

static bool is_all_published(const struct sim_run_channel *channel)
{
    return channel->is_told ||
           (channel->plan->count > 0 && channel->published == channel->plan->count);
}

/* What the schedule asks for by now; false when the channel is full, or failed. */
static bool publish_due(struct sim_run_channel *channel, gmc_time now)
{
    const struct sim_plan_channel *plan = channel->plan;
    while (!is_all_published(channel) && due(channel, channel->published) <= now) {
        for (size_t i = 0; i < plan->bytes; i++)
            channel->body[i] = content(channel, channel->published, i);
        channel->has_room = true;
        gmc_status status =
            sim_publish(source_of(channel), &channel->key, gmc_bytes(channel->body, plan->bytes));
        if (status == GMC_ERR_AGAIN) {
            channel->has_room = false;
            channel->held++;
            return false;
        }
        if (status != GMC_OK) {
            fail(channel, gmc_status_text(status));
            return false;
        }
        channel->published++;
    }
    return true;
}

static void end_publishing(struct sim_run_channel *channel)
{
    gmc_status status = sim_end(source_of(channel), &channel->key, "the scenario says so");
    if (status == GMC_ERR_AGAIN)
        channel->has_room = false;
    else if (status != GMC_OK)
        fail(channel, gmc_status_text(status));
    else
        channel->is_closing = true;
}

static void open_channel(struct sim_run_channel *channel, gmc_time now)
{
    const struct sim_plan_channel *plan = channel->plan;
    struct sim_host **targets = sim_calloc(plan->target_count, sizeof(struct sim_host *));
    const char *error = NULL;
    channel->open = now;
    for (size_t i = 0; i < plan->target_count; i++)
        targets[i] = channel->run->world->hosts[plan->targets[i]];
    gmc_status status = sim_open(source_of(channel), plan->name, targets, plan->target_count,
                                 plan->order, &channel->key, &error);
    free(targets);
    if (status != GMC_OK)
        fail(channel, error != NULL ? error : gmc_status_text(status));
}

/* Whatever is to be done next: called when it is time for it, and when there is room. */
static void on_step(struct sim_event *event, gmc_time now)
{
    struct sim_run_channel *channel = SIM_OWNER(event, struct sim_run_channel, step);
    struct sim_engine *engine = &channel->run->world->engine;
    if (channel->is_closing)
        return;
    if (source_of(channel)->gateway == NULL) {
        fail(channel, "the gateway of its source is down");
        return;
    }
    if (source_of(channel)->frozen) { /* a publisher that calls it waits for its answer */
        sim_engine_at(engine, event, gmc_time_add(now, GMC_MS(1)));
        return;
    }
    if (channel->key.e == 0)
        open_channel(channel, now);
    if (channel->is_closing || !channel->has_room)
        return; /* GMC_OUT_ROOM comes */
    gmc_time at = gmc_time_add(channel->run->zero, channel->plan->at);
    if (channel->first == 0 && now < at) {
        sim_engine_at(engine, event, at);
        return;
    }
    if (channel->first == 0)
        channel->first = now;
    if (!publish_due(channel, now))
        return;
    if (is_all_published(channel))
        end_publishing(channel);
    else
        sim_engine_at(engine, event, due(channel, channel->published));
}

/* ---- hearing ---- */
/* The channel that a gateway speaks of; NULL: none of the scenario's. */
static struct sim_run_channel *find(struct sim_run *run, uint32_t source, uint64_t e)
{
    for (size_t i = 0; i < run->plan->channel_count; i++)
        if (run->channels[i].key.e == e && run->channels[i].plan->source == source)
            return &run->channels[i];
    return NULL;
}

static bool is_as_published(const struct sim_run_channel *channel, uint64_t number,
                            struct gmc_bytes message)
{
    if (number >= channel->published || message.len != channel->plan->bytes)
        return false;
    for (size_t i = 0; i < message.len; i++)
        if (message.data[i] != content(channel, number, i))
            return false;
    return true;
}

/* A gateway that was started anew remembers nothing: it is given what is kept, as to a newcomer. */
static void note_start(struct sim_run_subscriber *subscriber, const struct sim_host *host)
{
    if (host->count.starts == subscriber->starts)
        return;
    subscriber->starts = host->count.starts;
    subscriber->next = 0;
    gmc_interval_clear(&subscriber->lately);
}

/* False: it is in already. */
static bool put_in(struct gmc_interval_set *set, uint64_t sequence)
{
    if (gmc_interval_contains(set, sequence))
        return false;
    gmc_status status = gmc_interval_add(set, sequence, sequence + 1);
    GMC_ASSERT(status == GMC_OK);
    return true;
}

static void hear(struct sim_run_channel *channel, size_t target, const struct sim_host *at,
                 const struct gmc_output *out)
{
    struct sim_run *run = channel->run;
    struct sim_run_subscriber *subscriber = &channel->subscribers[target];
    const struct gmc_arrived *arrived = &out->u.arrived;
    const char *host = run->plan->topo.nodes[channel->plan->targets[target]].name;
    note_start(subscriber, at);
    bool is_late = arrived->sequence < subscriber->next;
    if (arrived->end) {
        subscriber->ended = true;
        return;
    }
    if (!is_as_published(channel, arrived->sequence, out->bytes) ||
        (is_late && channel->plan->order != GMC_MESSAGES_UNORDERED))
        sim_oracle_violated(&run->world->oracle,
                            "%s: message %" PRIu64 " of channel %s is not what was published, or "
                            "out of order",
                            host, arrived->sequence, channel->plan->name);
    if (!is_late) {
        subscriber->gaps += arrived->sequence > subscriber->next;
        subscriber->next = arrived->sequence + 1;
    }
    if (!put_in(&subscriber->lately, arrived->sequence))
        sim_oracle_violated(&run->world->oracle, "%s: message %" PRIu64 " of channel %s came twice",
                            host, arrived->sequence, channel->plan->name);
    if (!put_in(&subscriber->heard, arrived->sequence)) {
        subscriber->repeated++;
        return;
    }
    gmc_duration latency = gmc_time_sub(run->world->engine.now, due(channel, arrived->sequence));
    sim_lateness_add(&subscriber->latencies, latency);
    for (size_t i = 0; i < SIM_RECORDERS_MAX; i++)
        if (run->recorders[i] != NULL && sim_recorders[i]->message != NULL)
            sim_recorders[i]->message(run->recorders[i], channel, target, latency);
}

void sim_run_channels_on_message(void *ctx, struct sim_host *host, const struct gmc_output *out)
{
    struct sim_run *run = ctx;
    if (out->kind == GMC_OUT_ROOM) {
        struct sim_run_channel *channel = find(run, host->id, out->id);
        if (channel == NULL)
            return;
        channel->has_room = true;
        if (run->is_begun)
            sim_engine_at(&run->world->engine, &channel->step, run->world->engine.now);
        return;
    }
    const struct sim_host *source = sim_world_find(run->world, out->u.arrived.source);
    struct sim_run_channel *channel =
        source != NULL ? find(run, source->id, out->u.arrived.e) : NULL;
    if (channel != NULL && channel->targets[host->id] > 0)
        hear(channel, channel->targets[host->id] - 1, host, out);
}

void sim_run_channels_on_event(struct sim_run *run, struct sim_host *host,
                               const struct gmc_event *event)
{
    struct sim_run_channel *channel = find(run, host->id, event->key.e);
    if (channel != NULL && channel->end == 0 && sim_has_ended(host, &channel->key))
        be_over(channel);
}

/* ---- life ---- */
void sim_run_channels_init(struct sim_run *run)
{
    run->channels = sim_calloc(run->plan->channel_count, sizeof(*run->channels));
    for (size_t i = 0; i < run->plan->channel_count; i++) {
        struct sim_run_channel *channel = &run->channels[i];
        const struct sim_plan_channel *plan = &run->plan->channels[i];
        channel->run = run;
        channel->plan = plan;
        if (plan->count > 0)
            run->channels_left++;
        else
            run->endless_left++;
        channel->body = sim_calloc(plan->bytes, 1);
        channel->subscribers = sim_calloc(plan->target_count, sizeof(*channel->subscribers));
        for (size_t j = 0; j < plan->target_count; j++) {
            gmc_interval_init(&channel->subscribers[j].heard, SIZE_MAX);
            gmc_interval_init(&channel->subscribers[j].lately, SIZE_MAX);
        }
        channel->targets = sim_calloc(run->plan->topo.node_count, sizeof(*channel->targets));
        for (uint32_t j = 0; j < plan->target_count; j++)
            channel->targets[plan->targets[j]] = j + 1;
        sim_event_init(&channel->step, on_step);
    }
}

void sim_run_channels_fini(struct sim_run *run)
{
    for (size_t i = 0; i < run->plan->channel_count; i++) {
        if (run->world != NULL)
            sim_engine_cancel(&run->world->engine, &run->channels[i].step);
        struct sim_run_subscriber *subscribers = run->channels[i].subscribers;
        for (size_t j = 0; subscribers != NULL && j < run->plan->channels[i].target_count; j++) {
            gmc_interval_fini(&subscribers[j].heard);
            gmc_interval_fini(&subscribers[j].lately);
        }
        free(run->channels[i].subscribers);
        free(run->channels[i].targets);
        free(run->channels[i].body);
    }
    free(run->channels);
}

/* Every member has answered. */
static bool is_warm(void *ctx)
{
    struct sim_run_channel *channel = ctx;
    struct gmc_member_info info;
    size_t index;
    if (!channel->has_room || !sim_channel_index(source_of(channel), &channel->key, &index))
        return channel->is_closing;
    const struct gmc_gateway *gw = source_of(channel)->gateway;
    for (size_t i = 0;
         gmc_gateway_member_info(gw, sim_host_now(source_of(channel)), index, i, &info); i++)
        if (info.state == GMC_MEMBER_WAITING)
            return false;
    return true;
}

void sim_run_channels_warm_up(struct sim_run *run, gmc_duration limit)
{
    for (size_t i = 0; i < run->plan->channel_count; i++) {
        struct sim_run_channel *channel = &run->channels[i];
        open_channel(channel, run->world->engine.now);
        sim_world_run_until(run->world, GMC_MS(1), limit, is_warm, channel);
    }
}

void sim_run_channels_begin(struct sim_run *run)
{
    run->is_begun = true;
    for (size_t i = 0; i < run->plan->channel_count; i++)
        sim_engine_at(&run->world->engine, &run->channels[i].step,
                      gmc_time_add(run->zero, run->plan->channels[i].at));
}

void sim_run_channels_end(struct sim_run *run)
{
    for (size_t i = 0; i < run->plan->channel_count; i++) {
        struct sim_run_channel *channel = &run->channels[i];
        if (run->plan->channels[i].count > 0 || channel->is_told)
            continue;
        channel->is_told = true;
        sim_engine_at(&run->world->engine, &channel->step, run->world->engine.now);
    }
}

/* ---- questions ---- */
uint64_t sim_run_channel_delivered(const struct sim_run_channel *channel, size_t subscriber)
{
    return channel->subscribers[subscriber].heard.members;
}

uint64_t sim_run_channel_lost(const struct sim_run_channel *channel, size_t subscriber)
{
    return channel->published - sim_run_channel_delivered(channel, subscriber);
}

bool sim_run_channel_is_complete(const struct sim_run_channel *channel)
{
    if (channel->end == 0 || channel->error[0] != '\0' || !is_all_published(channel))
        return false;
    for (size_t i = 0; i < channel->plan->target_count; i++)
        if (!channel->subscribers[i].ended ||
            (channel->plan->order != GMC_MESSAGES_LATEST && sim_run_channel_lost(channel, i) > 0))
            return false;
    return true;
}
