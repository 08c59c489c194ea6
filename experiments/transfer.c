/* SPDX-License-Identifier: BSD-2-Clause */
/* Staging in a world, and what its wires carried. */
#include "experiments/transfer.h"

#include <string.h>

#include "base/assert.h"

#define RATES_BYTES (UINT64_C(4) << 20) /* from which on they are measured */

struct sim_wire_config ex_wire(double mbps, double delay_ms, double loss_percent)
{
    return (struct sim_wire_config){
        .rate_bps = (uint64_t)(mbps * 1e6),
        .delay = (gmc_duration)(delay_ms * 1e6),
        .loss_ppm = (uint32_t)(loss_percent * 1e4 + 0.5),
        .queue_bytes = (uint64_t)(mbps * 1e6 / 8 * 0.05),
    };
}

struct progress {
    const struct ex_transfer *transfer;
    struct sim_world *world;
    struct gmc_channel_key key;
    gmc_time begin, end;
    bool ended;
};

static void on_event(void *ctx, struct sim_host *host, const struct gmc_event *event)
{
    struct progress *progress = ctx;
    (void)event;
    if (host->id == 0 && !progress->ended && progress->key.e != 0 &&
        sim_has_ended(host, &progress->key)) {
        progress->ended = true;
        progress->end = sim_world_now(progress->world);
    }
}

static bool has_ended(void *ctx)
{
    struct progress *progress = ctx;
    if (progress->transfer->meanwhile != NULL && !progress->ended)
        progress->transfer->meanwhile(progress->transfer->ctx, progress->world, &progress->key);
    return progress->ended;
}

static size_t targets_of(const struct ex_transfer *transfer, const struct sim_world *world)
{
    return transfer->targets > 0 ? transfer->targets : world->host_count - 1;
}

static void stage(struct progress *progress, uint64_t bytes, uint64_t object_seed)
{
    struct sim_world *world = progress->world;
    const char *error = NULL;
    struct sim_stage stage = {.object_seed = object_seed,
                              .bytes = bytes,
                              .targets = world->hosts + 1,
                              .target_count = targets_of(progress->transfer, world),
                              .shape = progress->transfer->shape};
    world->on_event = on_event;
    world->event_ctx = progress;
    progress->begin = sim_world_now(world);
    gmc_status status = sim_stage(world->hosts[0], &stage, &progress->key, &error);
    GMC_ASSERT(status == GMC_OK);
    sim_world_run_until(world, GMC_MS(100), progress->transfer->limit, has_ended, progress);
    if (!progress->ended)
        progress->end = sim_world_now(world);
    world->on_event = NULL;
}

/* What every wire took so far, in both directions. */
static uint64_t wires_total(struct sim_world *world, uint64_t *source, uint64_t *first)
{
    uint64_t total = 0;
    *source = *first = 0;
    for (uint32_t i = 0; i < world->net.wire_count; i++) {
        uint32_t ends[2];
        sim_net_wire_ends(&world->net, i, &ends[0], &ends[1]);
        for (int way = 0; way < 2; way++) {
            uint64_t bytes = sim_net_lane(&world->net, i, way)->count.offered_bytes;
            total += bytes;
            if (ends[way] == 0) {
                *source += bytes;
                *first = bytes > *first ? bytes : *first;
            }
        }
    }
    return total;
}

static uint32_t depth_of(const struct ex_result *result, uint32_t host)
{
    uint32_t depth = 0;
    while (host != 0 && host <= result->members && depth <= result->members) {
        host = result->member[host - 1].parent;
        depth++;
    }
    return depth;
}

static void read_members(struct sim_world *world, const struct progress *progress,
                         struct ex_result *result)
{
    size_t targets = targets_of(progress->transfer, world);
    for (size_t i = 1; i <= targets && i <= EX_MEMBERS_MAX; i++) {
        struct gmc_member_info info;
        struct ex_member *member = &result->member[result->members++];
        if (!sim_member(world->hosts[0], &progress->key, world->hosts[i], &info))
            continue;
        const struct sim_host *parent =
            info.parent != NULL ? sim_world_find(world, info.parent) : NULL;
        *member = (struct ex_member){
            .verified = info.state == GMC_MEMBER_VERIFIED,
            .seconds = (double)info.elapsed / 1e9,
            .repairs = info.repairs,
            .parent = parent != NULL ? parent->id : 0,
        };
        result->repairs += info.repairs;
    }
    for (uint32_t i = 1; i <= result->members; i++)
        if (depth_of(result, i) > result->depth)
            result->depth = depth_of(result, i);
}

/* As on a site that stages more than once, all know each other, how far they are, and, for the
 * trees that depend on it, what they carry. */
static uint64_t warm_bytes(enum gmc_tree_shape shape)
{
    return shape == GMC_TREE_BULK ? RATES_BYTES : 1;
}

void ex_transfer_run(struct sim_world *world, const struct ex_transfer *transfer,
                     struct ex_result *result)
{
    struct ex_transfer first = {.shape = transfer->shape,
                                .limit = GMC_S(120),
                                .targets = transfer->targets};
    struct progress warm = {.transfer = &first, .world = world};
    struct progress progress = {.transfer = transfer, .world = world};
    struct gmc_channel_info info = {0};
    uint64_t source, busiest;
    *result = (struct ex_result){0};
    sim_world_start(world);
    sim_world_run(world, GMC_S(1));
    stage(&warm, warm_bytes(transfer->shape), 1);
    uint64_t before = wires_total(world, &source, &busiest);
    uint64_t source_before = source, busiest_before = busiest;
    stage(&progress, transfer->bytes, 2);
    sim_channel(world->hosts[0], &progress.key, &info);
    result->complete = info.state == GMC_CHANNEL_COMPLETE;
    result->seconds = (double)(progress.end - progress.begin) / 1e9;
    result->setup_seconds = (double)info.setup / 1e9;
    result->wire_bytes = wires_total(world, &source, &busiest) - before;
    result->source_bytes = source - source_before;
    result->first_bytes = busiest - busiest_before;
    result->events = world->engine.fired;
    result->violations = (uint32_t)world->oracle.violations;
    read_members(world, &progress, result);
}
