/* SPDX-License-Identifier: BSD-2-Clause */
/* What came out of a run, as JSON and as a table for people. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/drive.h"
#include "sim-wan/scenario.h"

static double seconds(gmc_duration time)
{
    return (double)time / 1e9;
}

/* JSON has no infinity: null. */
static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* JSON is UTF-8; names from files may not be. */
static json_t *text(const char *name)
{
    json_t *value = json_string(name);
    if (value != NULL)
        return value;
    char *copy = sim_strdup(name);
    for (char *at = copy; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static void put(json_t *object, const char *name, json_t *value)
{
    int status = json_object_set_new(object, name, value);
    GMC_ASSERT(status == 0);
}

static void append(json_t *list, json_t *value)
{
    int status = json_array_append_new(list, value);
    GMC_ASSERT(status == 0);
}

/* ---- wires ---- */
static double utilisation(const struct sim_run *run, const struct sim_wire_config *wire,
                          uint64_t bytes)
{
    double time = seconds(run->end - run->zero);
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
    put(object, "from", text(nodes[way == 0 ? link->a : link->b].name));
    put(object, "to", text(nodes[way == 0 ? link->b : link->a].name));
    put(object, "bytes", integer(bytes));
    put(object, "packets", integer(count.offered_packets));
    put(object, "dropped_loss", integer(count.dropped_packets[SIM_DROP_LOSS]));
    put(object, "dropped_queue", integer(sim_lane_queue_drops(&count)));
    put(object, "dropped_codel", integer(count.dropped_packets[SIM_DROP_CODEL]));
    put(object, "dropped_down", integer(count.dropped_packets[SIM_DROP_DOWN]));
    put(object, "dropped_mtu", integer(count.dropped_packets[SIM_DROP_MTU]));
    put(object, "marked", integer(count.marked_packets));
    put(object, "utilisation",
        real(utilisation(run, way == 0 ? &link->a_to_b : &link->b_to_a, bytes)));
    return object;
}

static json_t *wire_list(const struct sim_run *run)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < run->plan->topo.link_count; i++)
        for (int way = 0; way < 2; way++)
            append(list, wire_summary(run, i, way));
    return list;
}

/* ---- transfers ---- */
static const char *member_state(enum gmc_member_state state)
{
    static const char *const names[] = {[GMC_MEMBER_WAITING] = "waiting",
                                        [GMC_MEMBER_RECEIVING] = "receiving",
                                        [GMC_MEMBER_VERIFIED] = "verified",
                                        [GMC_MEMBER_FAILED] = "failed",
                                        [GMC_MEMBER_SILENT] = "silent"};
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

static void put_members(const struct sim_run_transfer *transfer, json_t *domains, json_t *links)
{
    struct sim_host *source = transfer->run->world->hosts[transfer->plan->source];
    struct gmc_member_info info;
    size_t index;
    if (transfer->key.e == 0 || !sim_channel_index(source, &transfer->key, &index))
        return;
    for (size_t i = 0;
         gmc_gateway_member_info(source->gateway, sim_host_now(source), index, i, &info); i++) {
        json_t *domain = json_object(), *link = json_object();
        put(domain, "transfer", text(transfer->plan->name));
        put(domain, "domain", text(info.domain));
        put(domain, "state", text(member_state(info.state)));
        put(domain, "seconds", real(seconds(info.elapsed)));
        put(domain, "bytes", integer(info.bytes));
        if (info.reason != NULL && info.reason[0] != '\0')
            put(domain, "reason", text(info.reason));
        append(domains, domain);
        put(link, "transfer", text(transfer->plan->name));
        put(link, "parent", info.parent != NULL ? text(info.parent) : json_null());
        put(link, "child", text(info.domain));
        put(link, "repairs", integer(info.repairs));
        append(links, link);
    }
}

static json_t *transfer_summary(const struct sim_run_transfer *transfer, double limit)
{
    const struct sim_run *run = transfer->run;
    struct gmc_channel_info info = {0};
    json_t *object = json_object();
    double spent = seconds((transfer->end > 0 ? transfer->end : run->end) - transfer->begin);
    bool known = transfer->key.e != 0 &&
                 sim_channel(run->world->hosts[transfer->plan->source], &transfer->key, &info);
    const char *reason = known ? info.reason : transfer->error;
    bool complete = known && info.state == GMC_CHANNEL_COMPLETE;
    put(object, "name", text(transfer->plan->name));
    put(object, "source", text(run->plan->topo.nodes[transfer->plan->source].name));
    put(object, "bytes", integer(transfer->plan->bytes));
    put(object, "state",
        text(known                     ? channel_state(info.state)
             : transfer->error[0] != 0 ? "failed"
             : transfer->begin == 0    ? "waiting"
                                       : "unknown"));
    put(object, "start_seconds",
        transfer->begin > 0 ? real(seconds(transfer->begin - run->zero)) : json_null());
    put(object, "completion_seconds", complete ? real(spent) : json_null());
    put(object, "setup_seconds", known ? real(seconds(info.setup)) : json_null());
    put(object, "limit_seconds", real(limit));
    put(object, "ratio", complete && spent > 0 ? real(limit / spent) : json_null());
    put(object, "first_wire", real(first_wire(run, transfer->plan)));
    if (reason != NULL && reason[0] != '\0')
        put(object, "reason", text(reason));
    return object;
}

/* ---- the whole ---- */
/* When a transfer can have ended at the earliest, on the scenario's clock. */
static double earliest_end(const struct sim_plan *plan, const double *limits, uint32_t i)
{
    double end = 0;
    for (; i != UINT32_MAX; i = plan->transfers[i].after)
        end += seconds(plan->transfers[i].at) + limits[i];
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

/* From the first start to the last end: how long it took, how long it had to. */
static void put_times(const struct sim_run *run, const double *limits, json_t *summary)
{
    const struct sim_plan *plan = run->plan;
    gmc_time first = first_begin(plan);
    double limit = 0, spent = seconds(run->end - run->zero);
    bool complete = sim_run_is_complete(run);
    for (uint32_t i = 0; i < plan->transfer_count; i++)
        limit = fmax(limit, earliest_end(plan, limits, i));
    if (first != GMC_TIME_NEVER) {
        limit -= seconds(first);
        spent -= seconds(first);
    }
    put(summary, "complete", json_boolean(complete));
    put(summary, "completion_seconds", complete ? real(spent) : json_null());
    put(summary, "limit_seconds", real(limit));
    put(summary, "ratio", complete && spent > 0 ? real(limit / spent) : json_null());
}

static json_t *violations(const struct sim_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT && run->world->oracle.texts[i] != NULL; i++)
        append(list, text(run->world->oracle.texts[i]));
    return list;
}

static json_t *traffic_list(const struct sim_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->plan->traffic_count; i++) {
        const struct sim_traffic_counters *count = sim_traffic_counters(&run->world->traffic, i);
        const struct sim_traffic_config *config = &run->plan->traffic[i];
        json_t *object = json_object();
        put(object, "from", text(run->plan->topo.nodes[config->from].name));
        put(object, "to", text(run->plan->topo.nodes[config->to].name));
        put(object, "sent_packets", integer(count->sent_packets));
        put(object, "sent_bytes", integer(count->sent_bytes));
        put(object, "received_packets", integer(count->received_packets));
        put(object, "received_bytes", integer(count->received_bytes));
        append(list, object);
    }
    return list;
}

json_t *sim_run_summary(const struct sim_run *run)
{
    const struct sim_plan *plan = run->plan;
    json_t *summary = json_object(), *transfers = json_array();
    json_t *domains = json_array(), *links = json_array();
    double *limits = sim_calloc(plan->transfer_count, sizeof(*limits));
    char hash[24];
    for (size_t i = 0; i < plan->transfer_count; i++) {
        limits[i] = sim_run_limit(plan, &plan->transfers[i]);
        append(transfers, transfer_summary(&run->transfers[i], limits[i]));
        put_members(&run->transfers[i], domains, links);
    }
    snprintf(hash, sizeof(hash), "%016" PRIx64, run->world->trace.hash);
    put(summary, "scenario", text(plan->file));
    put(summary, "title", text(plan->title));
    put(summary, "seed", integer(run->seed));
    put_times(run, limits, summary);
    put(summary, "simulated_seconds", real(seconds(run->end - run->zero)));
    put(summary, "events", integer(run->world->engine.fired - run->events_before));
    put(summary, "trace_hash", text(hash));
    put(summary, "violations", integer(run->world->oracle.violations));
    put(summary, "violation_texts", violations(run));
    put(summary, "transfers", transfers);
    put(summary, "domains", domains);
    put(summary, "tree_links", links);
    put(summary, "wires", wire_list(run));
    put(summary, "traffic", traffic_list(run));
    free(limits);
    return summary;
}
