/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults; see faults.h. */
#include "sim-wan/faults.h"

#include <stdlib.h>

#include "sim-wan/mem.h"

#define BURST_LOSS_PPM 333333u
#define READ_ERROR_PPM 100000u

struct sim_fault_entry {
    struct sim_faults *faults;
    struct sim_fault fault;
    struct sim_event event;
    bool active;
    gmc_time end;                       /* while it is active */
    struct sim_wire_config before[2];   /* LOSS, WIRE */
    struct sim_disk_config disk_before; /* DISK */
};

const char *sim_fault_name(enum sim_fault_kind kind)
{
    static const char *const names[SIM_FAULT_KINDS] = {"kill",  "power", "freeze", "cut",
                                                       "loss",  "break", "block",  "stall",
                                                       "reads", "wire",  "disk"};
    return names[kind];
}

void sim_faults_init(struct sim_faults *faults, struct sim_world *world)
{
    *faults = (struct sim_faults){.world = world};
}

void sim_faults_fini(struct sim_faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        sim_engine_cancel(&faults->world->engine, &faults->entries[i]->event);
        free(faults->entries[i]);
    }
    free(faults->entries);
}

bool sim_fault_is_on_way(const struct sim_fault *fault, int way)
{
    return fault->ways == SIM_FAULT_BOTH_WAYS || (fault->ways == SIM_FAULT_BACK) == (way == 1);
}

static void cut(const struct sim_fault_entry *entry, bool begin)
{
    for (int way = 0; way < 2; way++)
        if (sim_fault_is_on_way(&entry->fault, way))
            sim_lane_set_up(sim_net_lane(&entry->faults->world->net, entry->fault.wire, way),
                            !begin);
}

static void change_wire(struct sim_fault_entry *entry, bool begin)
{
    const struct sim_fault *fault = &entry->fault;
    for (int way = 0; way < 2; way++) {
        struct sim_lane *lane = sim_net_lane(&entry->faults->world->net, fault->wire, way);
        if (!sim_fault_is_on_way(fault, way))
            continue;
        if (begin)
            entry->before[way] = lane->config;
        struct sim_wire_config config = entry->before[way];
        if (begin && fault->kind == SIM_FAULT_LOSS)
            config.loss_ppm = BURST_LOSS_PPM;
        else if (begin)
            config = fault->lanes[way];
        sim_lane_configure(lane, &config);
    }
}

static void change_disk(struct sim_fault_entry *entry, struct sim_host *host, bool begin)
{
    if (begin)
        entry->disk_before = host->disk.config;
    sim_disk_configure(&host->disk, begin ? &entry->fault.disk : &entry->disk_before);
}

static void failing_reads(struct sim_host *host, bool begin)
{
    struct sim_disk_config config = host->disk.config;
    config.read_error_ppm = begin ? READ_ERROR_PPM : host->disk_config.read_error_ppm;
    sim_disk_configure(&host->disk, &config);
}

static void begin_fault(struct sim_fault_entry *entry)
{
    struct sim_world *world = entry->faults->world;
    const struct sim_fault *fault = &entry->fault;
    struct sim_host *host = world->hosts[fault->host];
    sim_world_note(world, "%s: host %s, other %u, wire %u", sim_fault_name(fault->kind), host->name,
                   fault->other, fault->wire);
    switch (fault->kind) {
    case SIM_FAULT_KILL:
        sim_host_crash(host, SIM_CRASH_KILL);
        break;
    case SIM_FAULT_POWER:
        sim_host_crash(host, SIM_CRASH_POWER);
        break;
    case SIM_FAULT_FREEZE:
        sim_host_freeze(host, true);
        break;
    case SIM_FAULT_CUT:
        cut(entry, true);
        break;
    case SIM_FAULT_LOSS:
    case SIM_FAULT_WIRE:
        change_wire(entry, true);
        break;
    case SIM_FAULT_BREAK:
        sim_session_break(&world->sessions, fault->host, fault->other);
        break;
    case SIM_FAULT_BLOCK:
        sim_net_block_udp(&world->net, fault->host, fault->other, true);
        break;
    case SIM_FAULT_STALL:
        sim_host_stall_disk(host, true);
        break;
    case SIM_FAULT_READS:
        failing_reads(host, true);
        break;
    case SIM_FAULT_DISK:
        change_disk(entry, host, true);
        break;
    case SIM_FAULT_KINDS:
        break;
    }
}

static void end_fault(struct sim_fault_entry *entry)
{
    struct sim_world *world = entry->faults->world;
    const struct sim_fault *fault = &entry->fault;
    struct sim_host *host = world->hosts[fault->host];
    switch (fault->kind) {
    case SIM_FAULT_KILL:
    case SIM_FAULT_POWER:
        sim_host_start(host);
        break;
    case SIM_FAULT_FREEZE:
        sim_host_freeze(host, false);
        break;
    case SIM_FAULT_CUT:
        cut(entry, false);
        break;
    case SIM_FAULT_LOSS:
    case SIM_FAULT_WIRE:
        change_wire(entry, false);
        break;
    case SIM_FAULT_BLOCK:
        sim_net_block_udp(&world->net, fault->host, fault->other, false);
        break;
    case SIM_FAULT_STALL:
        sim_host_stall_disk(host, false);
        break;
    case SIM_FAULT_READS:
        failing_reads(host, false);
        break;
    case SIM_FAULT_DISK:
        change_disk(entry, host, false);
        break;
    case SIM_FAULT_BREAK:
    case SIM_FAULT_KINDS:
        break;
    }
}

/* What ends at this time does so before another fault begins, which may change the same. */
static void end_due(struct sim_faults *faults, gmc_time now)
{
    for (size_t i = 0; i < faults->count; i++) {
        struct sim_fault_entry *entry = faults->entries[i];
        if (!entry->active || entry->end > now)
            continue;
        sim_engine_cancel(&faults->world->engine, &entry->event);
        entry->active = false;
        end_fault(entry);
    }
}

static void on_event(struct sim_event *event, gmc_time now)
{
    struct sim_fault_entry *entry = SIM_OWNER(event, struct sim_fault_entry, event);
    bool begins = !entry->active;
    end_due(entry->faults, now);
    if (!begins)
        return;
    entry->active = true;
    entry->end = gmc_time_add(now, entry->fault.duration);
    begin_fault(entry);
    sim_engine_at(&entry->faults->world->engine, event, entry->end);
}

void sim_faults_add(struct sim_faults *faults, const struct sim_fault *fault)
{
    struct sim_fault_entry *entry = sim_calloc(1, sizeof(*entry));
    entry->faults = faults;
    entry->fault = *fault;
    sim_event_init(&entry->event, on_event);
    faults->entries = sim_reserve(faults->entries, faults->count, &faults->capacity,
                                  sizeof(struct sim_fault_entry *));
    faults->entries[faults->count++] = entry;
    sim_engine_at(&faults->world->engine, &entry->event, fault->at);
}

/* One that takes no time is there at its instant nevertheless. */
static gmc_time end_of(const struct sim_fault *fault)
{
    return gmc_time_add(fault->at, fault->duration > 0 ? fault->duration : 1);
}

static bool is_same_pair(const struct sim_fault *a, const struct sim_fault *b)
{
    return (a->host == b->host && a->other == b->other) ||
           (a->host == b->other && a->other == b->host);
}

static bool is_same_way(const struct sim_fault *a, const struct sim_fault *b)
{
    return a->wire == b->wire &&
           (a->ways == b->ways || a->ways == SIM_FAULT_BOTH_WAYS || b->ways == SIM_FAULT_BOTH_WAYS);
}

bool sim_faults_collide(const struct sim_fault *a, const struct sim_fault *b)
{
    if (a->at >= end_of(b) || b->at >= end_of(a))
        return false;
    if (a->kind <= SIM_FAULT_FREEZE)
        return b->kind <= SIM_FAULT_FREEZE && b->host == a->host;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case SIM_FAULT_CUT:
    case SIM_FAULT_LOSS:
    case SIM_FAULT_WIRE:
        return is_same_way(a, b);
    case SIM_FAULT_BREAK:
    case SIM_FAULT_BLOCK:
        return is_same_pair(a, b);
    default:
        return b->host == a->host;
    }
}

/* The second of two that collide is left out. */
static bool is_taken(const struct sim_faults *faults, const struct sim_fault *fault)
{
    for (size_t i = 0; i < faults->count; i++)
        if (sim_faults_collide(fault, &faults->entries[i]->fault))
            return true;
    return false;
}

void sim_faults_draw(struct sim_faults *faults, struct gmc_prng *prng, size_t count, gmc_time from,
                     gmc_time until)
{
    struct sim_world *world = faults->world;
    for (size_t i = 0; i < count; i++) {
        struct sim_fault fault = {0};
        fault.kind = (enum sim_fault_kind)gmc_prng_below(prng, SIM_FAULT_DRAWN);
        fault.at = from + gmc_prng_below(prng, until - from);
        fault.host = (uint32_t)gmc_prng_below(prng, world->host_count);
        fault.other = (uint32_t)gmc_prng_below(prng, world->host_count);
        fault.wire = (uint32_t)gmc_prng_below(prng, world->net.wire_count);
        gmc_duration longest = gmc_time_min(until - fault.at, GMC_S(8));
        /* Short ones are as frequent as long ones: a uniform draw of a uniform bound. */
        fault.duration = gmc_prng_below(prng, 1 + gmc_prng_below(prng, longest + 1));
        if (fault.other != fault.host && !is_taken(faults, &fault))
            sim_faults_add(faults, &fault);
    }
}

void sim_faults_heal(struct sim_faults *faults)
{
    sim_world_note(faults->world, "all faults end");
    for (size_t i = 0; i < faults->count; i++) {
        struct sim_fault_entry *entry = faults->entries[i];
        sim_engine_cancel(&faults->world->engine, &entry->event);
        if (entry->active)
            end_fault(entry);
        entry->active = false;
    }
    for (size_t i = 0; i < faults->world->host_count; i++)
        sim_host_start(faults->world->hosts[i]);
}
