/* SPDX-License-Identifier: BSD-2-Clause */
/* The driver of one run; see drive.h. */
#include "sim-wan/run/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/warm_up.h"
#include "sim-wan/scenario.h"

#define PROGRESS_EVENTS 50000 /* between two looks at the wall clock */
#define HOSTS_MANY 1000u      /* of which a processor's caches hold little */

/* ---- transfers ---- */
static void end_transfer(struct sim_run *run, struct sim_run_transfer *transfer)
{
    transfer->end = run->world->engine.now;
    run->ended++;
    for (size_t i = 0; i < run->plan->transfer_count; i++) {
        struct sim_run_transfer *next = &run->transfers[i];
        if (next->plan->after != UINT32_MAX && &run->transfers[next->plan->after] == transfer)
            sim_engine_at(&run->world->engine, &next->start,
                          gmc_time_add(transfer->end, next->plan->at));
    }
}

static void on_start(struct sim_event *event, gmc_time now)
{
    struct sim_run_transfer *transfer = SIM_OWNER(event, struct sim_run_transfer, start);
    struct sim_run *run = transfer->run;
    const char *error = NULL;
    struct gmc_channel_key key;
    transfer->begin = now;
    struct sim_stage what = {.object_seed = run->seed + (uint64_t)(transfer - run->transfers),
                             .bytes = transfer->plan->bytes};
    gmc_status status = sim_run_stage(run, transfer->plan, &what, &key, &error);
    if (status == GMC_OK) {
        transfer->key = key;
        return;
    }
    snprintf(transfer->error, sizeof(transfer->error), "%s",
             error != NULL ? error : gmc_status_text(status));
    end_transfer(run, transfer);
}

/* By the scenario's clock, which knows nothing of the source's drift and restarts. */
static void note_verified(struct sim_run_transfer *transfer, struct sim_host *source,
                          const struct gmc_event *event)
{
    uint32_t target = sim_host_of_peer(source, event->peer);
    for (size_t i = 0; i < transfer->plan->target_count; i++)
        if (transfer->plan->targets[i] == target && transfer->verified[i] == 0)
            transfer->verified[i] = transfer->run->world->engine.now;
}

static void on_event(void *ctx, struct sim_host *host, const struct gmc_event *event)
{
    struct sim_run *run = ctx;
    for (size_t i = 0; i < run->plan->transfer_count; i++) {
        struct sim_run_transfer *transfer = &run->transfers[i];
        if (transfer->end > 0 || transfer->key.e == 0 || transfer->plan->source != host->id ||
            !sim_key_equal(&transfer->key, &event->key))
            continue;
        if (event->kind == GMC_EVENT_MEMBER && event->status == GMC_OK)
            note_verified(transfer, host, event);
        if (sim_has_ended(host, &transfer->key))
            end_transfer(run, transfer);
    }
    sim_run_channels_on_event(run, host, event);
    for (size_t i = 0; i < SIM_RECORDERS_MAX; i++)
        if (run->recorders[i] != NULL && sim_recorders[i]->event != NULL)
            sim_recorders[i]->event(run->recorders[i], host, event);
}

/* ---- recorders ---- */
static void on_packet(void *ctx, uint32_t wire, int direction, enum sim_wire_news news,
                      enum sim_drop drop, const struct sim_packet *packet)
{
    struct sim_run *run = ctx;
    for (size_t i = 0; i < SIM_RECORDERS_MAX; i++)
        if (run->recorders[i] != NULL && sim_recorders[i]->packet != NULL)
            sim_recorders[i]->packet(run->recorders[i], wire, direction, news, drop, packet);
}

static void on_sample(struct sim_event *event, gmc_time now)
{
    struct sim_run *run = SIM_OWNER(event, struct sim_run, sampling);
    run->samples++;
    for (size_t i = 0; i < SIM_RECORDERS_MAX; i++)
        if (run->recorders[i] != NULL && sim_recorders[i]->sample != NULL)
            sim_recorders[i]->sample(run->recorders[i]);
    sim_engine_at(&run->world->engine, event, gmc_time_add(now, run->plan->record_every));
}

static gmc_status open_recorders(struct sim_run *run)
{
    bool samples = false;
    for (size_t i = 0; run->records && sim_recorders[i] != NULL; i++) {
        const char *target = run->plan->records[i];
        if (target == NULL)
            continue;
        run->recorders[i] = sim_recorders[i]->open(run, target, run->error);
        if (run->recorders[i] == NULL)
            return GMC_ERR_IO;
        samples = samples || sim_recorders[i]->sample != NULL;
        if (sim_recorders[i]->packet != NULL)
            sim_world_watch(run->world, on_packet, run);
    }
    if (samples)
        sim_engine_at(&run->world->engine, &run->sampling, run->zero);
    return GMC_OK;
}

static gmc_status close_recorders(struct sim_run *run, bool keep)
{
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < SIM_RECORDERS_MAX; i++) {
        if (run->recorders[i] != NULL &&
            !sim_recorders[i]->close(run->recorders[i], keep, run->error))
            status = GMC_ERR_IO;
        run->recorders[i] = NULL;
    }
    return status;
}

/* ---- the world ---- */
static void set_host(struct sim_host *host, const struct sim_plan_host *plan)
{
    struct sim_clock clock = host->clock;
    if (plan->has_offset)
        clock.offset = plan->clock_offset;
    if (plan->has_drift)
        clock.drift_ppb = plan->clock_drift_ppb;
    sim_host_set_clock(host, &clock);
    sim_host_set_disk(host, &plan->disk);
    sim_host_set_cpu(host, &plan->cpu);
    host->uplink_bps = plan->uplink_bps;
    host->downlink_bps = plan->downlink_bps;
}

static void build(struct sim_run *run)
{
    const struct sim_topo *topo = &run->plan->topo;
    struct sim_world_config config = run->plan->world;
    config.seed = run->seed;
    if (topo->node_count >= HOSTS_MANY)
        (void)sim_large_pages();
    run->world = sim_world_new(&config);
    for (size_t i = 0; i < topo->node_count; i++) {
        const struct sim_topo_node *node = &topo->nodes[i];
        if (node->has_gateway)
            set_host(sim_world_add(run->world, node->name), &run->plan->hosts[i]);
        else
            sim_world_add_router(run->world, node->name);
    }
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        sim_net_add_wire(&run->world->net, link->a, link->b, &link->a_to_b, &link->b_to_a);
    }
}

/* The scenario's clock begins. */
static void begin(struct sim_run *run)
{
    struct sim_net *net = &run->world->net;
    run->zero = run->world->engine.now;
    run->events_before = run->world->engine.fired;
    run->before = sim_calloc(net->wire_count * 2, sizeof(*run->before));
    for (uint32_t i = 0; i < net->wire_count * 2; i++) {
        struct sim_lane *lane = sim_net_lane(net, i / 2, (int)(i % 2));
        run->before[i] = lane->count;
        sim_lane_restart_trace(lane);
    }
    for (size_t i = 0; i < run->plan->fault_count; i++) {
        struct sim_fault fault = run->plan->faults[i];
        fault.at = gmc_time_add(run->zero, fault.at);
        sim_faults_add(&run->faults, &fault);
    }
    for (size_t i = 0; i < run->plan->traffic_count; i++) {
        struct sim_traffic_config traffic = run->plan->traffic[i].config;
        traffic.start = gmc_time_add(run->zero, traffic.start);
        traffic.stop = gmc_time_add(run->zero, traffic.stop);
        sim_traffic_add(&run->world->traffic, &traffic);
    }
    for (size_t i = 0; i < run->plan->transfer_count; i++)
        if (run->transfers[i].plan->after == UINT32_MAX)
            sim_engine_at(&run->world->engine, &run->transfers[i].start,
                          gmc_time_add(run->zero, run->transfers[i].plan->at));
    sim_run_channels_begin(run);
}

/* With nothing but traffic it never is. Channels of no length end behind everything else. */
static bool is_over(struct sim_run *run)
{
    const struct sim_plan *plan = run->plan;
    if (plan->transfer_count + plan->channel_count == 0 || run->ended < plan->transfer_count ||
        run->channels_left > 0)
        return false;
    if (run->endless_left > 0)
        sim_run_channels_end(run);
    return run->endless_left == 0;
}

/* Event by event, so that the run stops at the last end and not a little later. */
static void run_events(struct sim_run *run)
{
    gmc_time limit = gmc_time_add(run->zero, run->plan->limit);
    uint64_t count = 0;
    while (!is_over(run) && sim_engine_step(&run->world->engine, limit))
        if (++count % PROGRESS_EVENTS == 0 && run->progress != NULL)
            run->progress(run->progress_ctx, run);
    run->end = is_over(run) ? run->world->engine.now : limit;
}

void sim_run_init(struct sim_run *run, const struct sim_plan *plan, uint64_t seed)
{
    *run = (struct sim_run){.plan = plan, .seed = seed};
    run->transfers = sim_calloc(plan->transfer_count, sizeof(*run->transfers));
    for (size_t i = 0; i < plan->transfer_count; i++) {
        run->transfers[i].run = run;
        run->transfers[i].plan = &plan->transfers[i];
        run->transfers[i].verified = sim_calloc(plan->transfers[i].target_count, sizeof(gmc_time));
        sim_event_init(&run->transfers[i].start, on_start);
    }
    sim_run_channels_init(run);
    sim_event_init(&run->sampling, on_sample);
}

gmc_status sim_run_go(struct sim_run *run)
{
    build(run);
    run->world->trace.line = run->line;
    run->world->trace.ctx = run->line_ctx;
    sim_faults_init(&run->faults, run->world);
    run->world->on_message = sim_run_channels_on_message;
    run->world->message_ctx = run;
    sim_world_start(run->world);
    sim_world_run(run->world, run->plan->settle);
    if (run->plan->warm_up)
        sim_run_warm_up(run);
    begin(run);
    gmc_status status = open_recorders(run);
    run->world->on_event = on_event;
    run->world->event_ctx = run;
    if (status == GMC_OK)
        run_events(run);
    gmc_status closed = close_recorders(run, status == GMC_OK);
    sim_oracle_check_wires(&run->world->oracle);
    return status == GMC_OK ? closed : status;
}

void sim_run_fini(struct sim_run *run)
{
    sim_run_channels_fini(run);
    if (run->world != NULL) {
        sim_faults_fini(&run->faults);
        for (size_t i = 0; i < run->plan->transfer_count; i++)
            sim_engine_cancel(&run->world->engine, &run->transfers[i].start);
        sim_engine_cancel(&run->world->engine, &run->sampling);
        sim_world_free(run->world);
    }
    for (size_t i = 0; i < run->plan->transfer_count; i++)
        free(run->transfers[i].verified);
    free(run->transfers);
    free(run->before);
    *run = (struct sim_run){0};
}

/* ---- questions ---- */
bool sim_run_is_complete(const struct sim_run *run)
{
    for (size_t i = 0; i < run->plan->transfer_count; i++) {
        const struct sim_run_transfer *transfer = &run->transfers[i];
        struct gmc_channel_info info;
        if (transfer->key.e == 0 ||
            !sim_channel(run->world->hosts[transfer->plan->source], &transfer->key, &info) ||
            info.state != GMC_CHANNEL_COMPLETE)
            return false;
    }
    for (size_t i = 0; i < run->plan->channel_count; i++)
        if (!sim_run_channel_is_complete(&run->channels[i]))
            return false;
    return true;
}

static double share_of_channels(const struct sim_run *run)
{
    gmc_time last = 0;
    for (size_t i = 0; i < run->plan->channel_count; i++) {
        const struct sim_plan_channel *plan = &run->plan->channels[i];
        gmc_time end = gmc_time_add(plan->at, plan->count * plan->every);
        last = end > last ? end : last;
    }
    double gone = (double)(run->world->engine.now - run->zero);
    return last > 0 && gone < (double)last ? gone / (double)last : 0;
}

double sim_run_share(const struct sim_run *run)
{
    double have = 0, all = 0;
    if (run->plan->transfer_count == 0)
        return share_of_channels(run);
    for (size_t i = 0; i < run->plan->transfer_count; i++) {
        const struct sim_run_transfer *transfer = &run->transfers[i];
        struct sim_host *source = run->world->hosts[transfer->plan->source];
        double bytes = (double)transfer->plan->bytes * (double)transfer->plan->target_count;
        struct gmc_member_info info;
        size_t index;
        all += bytes;
        if (transfer->end > 0)
            have += bytes;
        else if (transfer->key.e != 0 && sim_channel_index(source, &transfer->key, &index))
            for (size_t j = 0;
                 gmc_gateway_member_info(source->gateway, sim_host_now(source), index, j, &info);
                 j++)
                have += (double)info.bytes;
    }
    return all > 0 ? have / all : 0;
}

struct sim_lane_counters sim_run_lane(const struct sim_run *run, uint32_t wire, int direction)
{
    return sim_lane_since(&sim_net_lane(&run->world->net, wire, direction)->count,
                          &run->before[wire * 2 + (uint32_t)direction]);
}
