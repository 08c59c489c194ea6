/* SPDX-License-Identifier: BSD-2-Clause */
/* What came out of a run, as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/drive.h"
#include "sim-wan/run/json.h"
#include "sim-wan/run/limit.h"
#include "sim-wan/run/sample.h"
#include "sim-wan/scenario.h"

/* ---- wires ---- */
static double utilisation(const struct sim_run *run, const struct sim_wire_config *wire,
                          uint64_t bytes)
{
    double time = sim_seconds(run->end - run->zero);
    if (wire->rate_bps == 0 || time <= 0)
        return 0;
    return (double)bytes * 8 / (double)wire->rate_bps / time;
}

static json_t *wire_summary(const struct sim_run *run, uint32_t wire, int way)
{
    const struct sim_topo_link *link = &run->plan->topo.links[wire];
    const struct sim_topo_node *nodes = run->plan->topo.nodes;
    struct sim_lane_counters count = sim_run_lane(run, wire, way);
    uint64_t bytes = sim_lane_carried_bytes(&count);
    json_t *object = json_object();
    sim_json_put(object, "from", sim_json_text(nodes[way == 0 ? link->a : link->b].name));
    sim_json_put(object, "to", sim_json_text(nodes[way == 0 ? link->b : link->a].name));
    sim_json_put(object, "bytes", sim_json_integer(bytes));
    sim_json_put(object, "packets", sim_json_integer(count.offered_packets));
    sim_json_put(object, "dropped_loss", sim_json_integer(count.dropped_packets[SIM_DROP_LOSS]));
    sim_json_put(object, "dropped_queue", sim_json_integer(sim_lane_queue_drops(&count)));
    sim_json_put(object, "dropped_codel", sim_json_integer(count.dropped_packets[SIM_DROP_CODEL]));
    sim_json_put(object, "dropped_down", sim_json_integer(count.dropped_packets[SIM_DROP_DOWN]));
    sim_json_put(object, "dropped_mtu", sim_json_integer(count.dropped_packets[SIM_DROP_MTU]));
    sim_json_put(object, "marked", sim_json_integer(count.marked_packets));
    sim_json_put(object, "utilisation",
                 sim_json_real(utilisation(run, way == 0 ? &link->a_to_b : &link->b_to_a, bytes)));
    return object;
}

static json_t *wire_list(const struct sim_run *run)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < run->plan->topo.link_count; i++)
        for (int way = 0; way < 2; way++)
            sim_json_append(list, wire_summary(run, i, way));
    return list;
}

/* ---- transfers ---- */
static const char *member_state(enum gmc_member_state state)
{
    static const char *const names[] = {
        [GMC_MEMBER_WAITING] = "waiting",   [GMC_MEMBER_RECEIVING] = "receiving",
        [GMC_MEMBER_VERIFIED] = "verified", [GMC_MEMBER_FAILED] = "failed",
        [GMC_MEMBER_SILENT] = "silent",     [GMC_MEMBER_LEFT] = "left"};
    return names[state];
}

static const char *channel_state(enum gmc_channel_state state)
{
    static const char *const names[] = {
        [GMC_CHANNEL_SCANNING] = "scanning", [GMC_CHANNEL_PROBING] = "probing",
        [GMC_CHANNEL_RUNNING] = "running",   [GMC_CHANNEL_COMPLETE] = "complete",
        [GMC_CHANNEL_PARTIAL] = "partial",   [GMC_CHANNEL_CANCELLED] = "cancelled",
        [GMC_CHANNEL_FAILED] = "failed",     [GMC_CHANNEL_PLANNED] = "planned"};
    return names[state];
}

/* What the source's most loaded wire carried, in object sizes. */
static double first_wire(const struct sim_run *run, const struct sim_plan_transfer *plan)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < run->plan->topo.link_count; i++) {
        const struct sim_topo_link *link = &run->plan->topo.links[i];
        if (link->a != plan->source && link->b != plan->source)
            continue;
        struct sim_lane_counters count = sim_run_lane(run, i, link->a == plan->source ? 0 : 1);
        uint64_t bytes = sim_lane_carried_bytes(&count);
        most = bytes > most ? bytes : most;
    }
    return plan->bytes > 0 ? (double)most / (double)plan->bytes : 0;
}

/* From the beginning of the transfer until the target was verified, or the transfer or the run
 * ended without; 0: not known. */
static gmc_duration time_of_member(const struct sim_run_transfer *transfer,
                                   const struct gmc_member_info *info)
{
    const struct sim_run *run = transfer->run;
    for (size_t i = 0; i < transfer->plan->target_count; i++)
        if (info->state == GMC_MEMBER_VERIFIED &&
            strcmp(run->plan->topo.nodes[transfer->plan->targets[i]].name, info->domain) == 0)
            return gmc_time_sub(transfer->verified[i], transfer->begin);
    return (transfer->end > 0 ? transfer->end : run->end) - transfer->begin;
}

static void put_member(const struct sim_run_transfer *transfer, const char *state,
                       gmc_duration time, const struct gmc_member_info *info, json_t *domains,
                       json_t *links)
{
    json_t *domain = json_object(), *link = json_object();
    sim_json_put(domain, "transfer", sim_json_text(transfer->plan->name));
    sim_json_put(domain, "domain", sim_json_text(info->domain));
    sim_json_put(domain, "state", sim_json_text(state));
    sim_json_put(domain, "seconds", time > 0 ? sim_json_real(sim_seconds(time)) : json_null());
    sim_json_put(domain, "bytes", sim_json_integer(info->bytes));
    if (info->reason != NULL && info->reason[0] != '\0')
        sim_json_put(domain, "reason", sim_json_text(info->reason));
    sim_json_append(domains, domain);
    sim_json_put(link, "transfer", sim_json_text(transfer->plan->name));
    sim_json_put(link, "parent", info->parent != NULL ? sim_json_text(info->parent) : json_null());
    sim_json_put(link, "child", sim_json_text(info->domain));
    sim_json_put(link, "repairs", sim_json_integer(info->repairs));
    sim_json_append(links, link);
}

/* As the source says; where its gateway is gone, what targets have. */
static void put_members(const struct sim_run_transfer *transfer, json_t *domains, json_t *links)
{
    const struct sim_run *run = transfer->run;
    struct sim_host *const *hosts = run->world->hosts, *source = hosts[transfer->plan->source];
    struct gmc_member_info info;
    size_t index;
    if (transfer->key.e == 0)
        return;
    if (sim_channel_index(source, &transfer->key, &index)) {
        for (size_t i = 0;
             gmc_gateway_member_info(source->gateway, sim_host_now(source), index, i, &info); i++)
            put_member(transfer, member_state(info.state), time_of_member(transfer, &info), &info,
                       domains, links);
        return;
    }
    for (size_t i = 0; i < transfer->plan->target_count; i++) {
        const char *name = hosts[transfer->plan->targets[i]]->name;
        uint64_t bytes = sim_sample_bytes(run, (size_t)(transfer - run->transfers), name, 0);
        info = (struct gmc_member_info){.domain = name,
                                        .bytes = bytes,
                                        .reason = "the source's gateway is down"};
        put_member(transfer, "unknown", 0, &info, domains, links);
    }
}

/* Why a transfer has not ended, where nobody else says it. */
static const char *unfinished(const struct sim_run_transfer *transfer, char *text, size_t size)
{
    const struct sim_run *run = transfer->run;
    snprintf(text, size, "not %s when the limit of %.10g s was reached",
             transfer->begin > 0 ? "done" : "begun", sim_seconds(run->plan->limit));
    return transfer->end == 0 ? text : "";
}

static json_t *transfer_summary(const struct sim_run_transfer *transfer, double limit)
{
    char text[100];
    const struct sim_run *run = transfer->run;
    struct gmc_channel_info info = {0};
    json_t *object = json_object();
    double spent = sim_seconds((transfer->end > 0 ? transfer->end : run->end) - transfer->begin);
    bool known = transfer->key.e != 0 &&
                 sim_channel(run->world->hosts[transfer->plan->source], &transfer->key, &info);
    const char *reason = known ? info.reason : transfer->error;
    if (reason == NULL || reason[0] == '\0')
        reason = unfinished(transfer, text, sizeof(text));
    bool complete = known && info.state == GMC_CHANNEL_COMPLETE;
    sim_json_put(object, "name", sim_json_text(transfer->plan->name));
    sim_json_put(object, "source",
                 sim_json_text(run->plan->topo.nodes[transfer->plan->source].name));
    sim_json_put(object, "bytes", sim_json_integer(transfer->plan->bytes));
    sim_json_put(object, "state",
                 sim_json_text(known                     ? channel_state(info.state)
                               : transfer->error[0] != 0 ? "failed"
                               : transfer->begin == 0    ? "waiting"
                                                         : "unknown"));
    sim_json_put(object, "start_seconds",
                 transfer->begin > 0 ? sim_json_real(sim_seconds(transfer->begin - run->zero))
                                     : json_null());
    sim_json_put(object, "completion_seconds", complete ? sim_json_real(spent) : json_null());
    sim_json_put(object, "setup_seconds",
                 known ? sim_json_real(sim_seconds(info.setup)) : json_null());
    sim_json_put(object, "limit_seconds", sim_json_real(limit));
    sim_json_put(object, "ratio",
                 complete && spent > 0 ? sim_json_real(limit / spent) : json_null());
    sim_json_put(object, "first_wire", sim_json_real(first_wire(run, transfer->plan)));
    if (reason[0] != '\0')
        sim_json_put(object, "reason", sim_json_text(reason));
    return object;
}

/* ---- the whole ---- */
/* When a transfer can have ended at the earliest, on the scenario's clock. */
static double earliest_end(const struct sim_plan *plan, const double *limits, uint32_t i)
{
    double end = 0;
    for (; i != UINT32_MAX; i = plan->transfers[i].after)
        end += sim_seconds(plan->transfers[i].at) + limits[i];
    return end;
}

static gmc_time first_begin(const struct sim_plan *plan)
{
    gmc_time first = GMC_TIME_NEVER;
    for (size_t i = 0; i < plan->transfer_count; i++)
        if (plan->transfers[i].after == UINT32_MAX)
            first = gmc_time_min(first, plan->transfers[i].at);
    return first;
}

/* Of the transfers, if there are any. */
static gmc_time last_end(const struct sim_run *run)
{
    gmc_time last = run->plan->transfer_count > 0 ? 0 : run->end;
    for (size_t i = 0; i < run->plan->transfer_count; i++)
        if (run->transfers[i].end > last)
            last = run->transfers[i].end;
    return last;
}

/* From the first start to the last end: how long it took, how long it had to. limit: that the
 * transfers take together, were there no times at which they start. */
static void put_times(const struct sim_run *run, const double *limits, double limit,
                      json_t *summary)
{
    const struct sim_plan *plan = run->plan;
    gmc_time first = first_begin(plan);
    double zero = first != GMC_TIME_NEVER ? sim_seconds(first) : 0;
    double spent = sim_seconds(gmc_time_sub(last_end(run), run->zero)) - zero;
    bool complete = sim_run_is_complete(run);
    for (uint32_t i = 0; i < plan->transfer_count; i++)
        limit = fmax(limit, earliest_end(plan, limits, i) - zero);
    sim_json_put(summary, "complete", json_boolean(complete));
    sim_json_put(summary, "completion_seconds", complete ? sim_json_real(spent) : json_null());
    sim_json_put(summary, "limit_seconds", sim_json_real(limit));
    sim_json_put(summary, "ratio",
                 complete && spent > 0 ? sim_json_real(limit / spent) : json_null());
}

static json_t *violations(const struct sim_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT && run->world->oracle.texts[i] != NULL; i++)
        sim_json_append(list, sim_json_text(run->world->oracle.texts[i]));
    return list;
}

/* What arrived in the mean, from the first packet's time to the end of the traffic or the run. */
static double received_bps(const struct sim_run *run, const struct sim_traffic_config *config,
                           uint64_t bytes)
{
    gmc_time end = gmc_time_min(gmc_time_add(run->zero, config->stop), run->end);
    double time = sim_seconds(gmc_time_sub(end, gmc_time_add(run->zero, config->start)));
    return time > 0 ? (double)bytes * 8 / time : 0;
}

static json_t *traffic_list(const struct sim_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->plan->traffic_count; i++) {
        const struct sim_traffic_counters *count = sim_traffic_counters(&run->world->traffic, i);
        const struct sim_traffic_config *config = &run->plan->traffic[i].config;
        json_t *object = json_object();
        sim_json_put(object, "name", sim_json_text(run->plan->traffic[i].name));
        sim_json_put(object, "kind", json_string(sim_plan_traffic_names[config->kind]));
        sim_json_put(object, "from", sim_json_text(run->plan->topo.nodes[config->from].name));
        sim_json_put(object, "to", sim_json_text(run->plan->topo.nodes[config->to].name));
        sim_json_put(object, "sent_packets", sim_json_integer(count->sent_packets));
        sim_json_put(object, "sent_bytes", sim_json_integer(count->sent_bytes));
        sim_json_put(object, "received_packets", sim_json_integer(count->received_packets));
        sim_json_put(object, "received_bytes", sim_json_integer(count->received_bytes));
        sim_json_put(object, "received_bps",
                     sim_json_real(received_bps(run, config, count->received_bytes)));
        sim_json_append(list, object);
    }
    return list;
}

json_t *sim_run_summary(const struct sim_run *run)
{
    const struct sim_plan *plan = run->plan;
    json_t *summary = json_object(), *transfers = json_array();
    json_t *domains = json_array(), *links = json_array();
    json_t *channels = json_array(), *subscribers = json_array();
    double *limits = sim_calloc(plan->transfer_count, sizeof(*limits));
    struct sim_limits bound;
    char hash[24];
    sim_limits_init(&bound, plan, &run->world->net);
    for (size_t i = 0; i < plan->transfer_count; i++) {
        limits[i] = sim_limits_of(&bound, &plan->transfers[i]);
        sim_json_append(transfers, transfer_summary(&run->transfers[i], limits[i]));
        put_members(&run->transfers[i], domains, links);
    }
    for (size_t i = 0; i < plan->channel_count; i++) {
        sim_json_append(channels, sim_run_channel_summary(&run->channels[i]));
        sim_run_channel_put_subscribers(&run->channels[i], subscribers);
    }
    snprintf(hash, sizeof(hash), "%016" PRIx64, run->world->trace.hash);
    sim_json_put(summary, "scenario", sim_json_text(plan->file));
    sim_json_put(summary, "title", sim_json_text(plan->title));
    sim_json_put(summary, "seed", sim_json_integer(run->seed));
    put_times(run, limits, sim_limits_of_all(&bound), summary);
    sim_limits_fini(&bound);
    sim_json_put(summary, "simulated_seconds", sim_json_real(sim_seconds(run->end - run->zero)));
    sim_json_put(summary, "events",
                 sim_json_integer(run->world->engine.fired - run->events_before - run->samples));
    sim_json_put(summary, "trace_hash", sim_json_text(hash));
    sim_json_put(summary, "violations", sim_json_integer(run->world->oracle.violations));
    sim_json_put(summary, "violation_texts", violations(run));
    sim_json_put(summary, "transfers", transfers);
    sim_json_put(summary, "domains", domains);
    sim_json_put(summary, "tree_links", links);
    sim_json_put(summary, "channels", channels);
    sim_json_put(summary, "subscribers", subscribers);
    sim_json_put(summary, "wires", wire_list(run));
    sim_json_put(summary, "traffic", traffic_list(run));
    free(limits);
    return summary;
}
