/* SPDX-License-Identifier: BSD-2-Clause */
/* The disk's queue: when each operation ends, which fail, what a crash does to those under way. The
 * operations themselves are in disk_ops.c. */
#include "sim-wan/disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/disk_internal.h"
#include "sim-wan/mem.h"

#define LATENCY_DEFAULT GMC_US(100)

const char *sim_store_kind_name(enum gmc_store_kind kind)
{
    static const char *const names[] = {"scan", "reopen", "open",      "layout",
                                        "read", "write",  "read_page", "write_page",
                                        "sync", "save",   "finish",    "close"};
    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

static void on_due(struct sim_event *event, gmc_time now);

/* ---- the queue ---- */
static void free_op(struct sim_disk *disk, struct sim_disk_op *op)
{
    for (size_t i = 0; i < op->op.path_count; i++)
        free(op->paths[i]);
    free(op->paths);
    free(op->name);
    free(op->dest);
    free(op->bytes);
    gmc_pool_put(disk->ops, op);
}

void sim_disk_ops_init(struct gmc_pool *ops, size_t most)
{
    gmc_pool_init(ops, sizeof(struct sim_disk_op), most);
}

static struct sim_disk_op *new_op(struct sim_disk *disk)
{
    struct sim_disk_op *op = gmc_pool_get(disk->ops);
    GMC_ASSERT(op != NULL);
    *op = (struct sim_disk_op){0};
    return op;
}

/* What is small is copied; data buffers stay the core's. */
static struct sim_disk_op *copy_op(struct sim_disk *disk, const struct gmc_store_op *op)
{
    struct sim_disk_op *copy = new_op(disk);
    copy->op = *op;
    if (op->path_count > 0)
        copy->paths = sim_calloc(op->path_count, sizeof(*copy->paths));
    for (size_t i = 0; i < op->path_count; i++)
        copy->paths[i] = sim_strdup(op->paths[i]);
    copy->name = op->name != NULL ? sim_strdup(op->name) : NULL;
    copy->dest = op->dest != NULL ? sim_strdup(op->dest) : NULL;
    if (op->bytes.len > 0) {
        copy->bytes = sim_alloc(op->bytes.len);
        memcpy(copy->bytes, op->bytes.data, op->bytes.len);
    }
    copy->op.paths = NULL;
    copy->op.name = copy->name;
    copy->op.dest = copy->dest;
    copy->op.bytes = gmc_bytes(copy->bytes, op->bytes.len);
    return copy;
}

static struct sim_disk_op *take_first(struct sim_disk *disk)
{
    struct sim_disk_op *op = disk->first;
    disk->first = op->next;
    if (disk->first != NULL)
        disk->first->prev = NULL;
    else
        disk->last = NULL;
    disk->pending--;
    return op;
}

static void insert(struct sim_disk *disk, struct sim_disk_op *op)
{
    struct sim_disk_op *after = disk->last;
    while (after != NULL && after->due > op->due)
        after = after->prev;
    op->prev = after;
    op->next = after != NULL ? after->next : disk->first;
    if (op->next != NULL)
        op->next->prev = op;
    else
        disk->last = op;
    if (after != NULL)
        after->next = op;
    else
        disk->first = op;
    disk->pending++;
}

static void arm(struct sim_disk *disk)
{
    bool waits = disk->first != NULL && !disk->stalled && !disk->is_due;
    sim_engine_at(disk->engine, &disk->event, waits ? disk->first->due : GMC_TIME_NEVER);
}

static void set_times(struct sim_disk *disk, struct sim_disk_op *copy)
{
    const struct gmc_store_op *op = &copy->op;
    const struct sim_disk_config *config = &disk->config;
    disk->busy_until = gmc_time_max(disk->busy_until, disk->engine->now);
    if (config->rate_bps > 0)
        disk->busy_until =
            gmc_time_add(disk->busy_until,
                         gmc_duration_of_bytes(op->len + op->bytes.len, config->rate_bps));
    copy->transferred = disk->busy_until;
    copy->due = gmc_time_add(disk->busy_until,
                             config->latency + gmc_prng_below(&disk->prng, config->jitter + 1));
}

void sim_disk_submit(struct sim_disk *disk, const struct gmc_store_op *op)
{
    struct sim_disk_op *copy = copy_op(disk, op);
    set_times(disk, copy);
    disk->count.ops++;
    insert(disk, copy);
    arm(disk);
}

/* ---- settings ---- */
/* When what would be transferred at `then` is, if the rate changes now. */
static gmc_time at_new_rate(gmc_time then, gmc_time now, uint64_t old_bps, uint64_t new_bps)
{
    if (then <= now)
        return then;
    if (new_bps == 0)
        return now;
    while ((old_bps | new_bps) > UINT32_MAX) {
        old_bps >>= 1;
        new_bps >>= 1;
    }
    return gmc_time_add(now, gmc_duration_scale(then - now, (uint32_t)old_bps,
                                                new_bps > 0 ? (uint32_t)new_bps : 1));
}

/* Without a rate before nothing waits. */
static void change_rate(struct sim_disk *disk, uint64_t rate_bps)
{
    gmc_time now = disk->engine->now;
    uint64_t old_bps = disk->config.rate_bps;
    struct sim_disk_op *op = disk->first, *next;
    if (old_bps == 0 || old_bps == rate_bps)
        return;
    disk->first = disk->last = NULL;
    disk->pending = 0;
    for (; op != NULL; op = next) {
        gmc_duration latency = op->due - op->transferred;
        next = op->next;
        op->transferred = at_new_rate(op->transferred, now, old_bps, rate_bps);
        op->due = gmc_time_add(op->transferred, latency);
        insert(disk, op);
    }
    disk->busy_until = at_new_rate(disk->busy_until, now, old_bps, rate_bps);
    arm(disk);
}

void sim_disk_configure(struct sim_disk *disk, const struct sim_disk_config *config)
{
    change_rate(disk, config->rate_bps);
    disk->config = *config;
    if (disk->config.latency == 0)
        disk->config.latency = LATENCY_DEFAULT;
    if (disk->config.jitter == 0)
        disk->config.jitter = disk->config.latency;
}

void sim_disk_init(struct sim_disk *disk, struct sim_engine *engine, struct sim_objects *objects,
                   struct gmc_pool *ops, const struct gmc_crypto *crypto,
                   const struct sim_disk_sink *sink, const struct sim_disk_config *config,
                   const struct gmc_prng *prng)
{
    *disk = (struct sim_disk){.engine = engine,
                              .objects = objects,
                              .ops = ops,
                              .crypto = crypto,
                              .sink = *sink,
                              .prng = *prng};
    sim_event_init(&disk->event, on_due);
    sim_disk_configure(disk, config);
}

static gmc_status planted_failure(struct sim_disk *disk, enum gmc_store_kind kind)
{
    if (disk->fail_times > 0 && disk->fail_kind == kind) {
        disk->fail_times--;
        return disk->fail_status;
    }
    uint32_t ppm = kind == GMC_STORE_READ    ? disk->config.read_error_ppm
                   : kind == GMC_STORE_WRITE ? disk->config.write_error_ppm
                                             : 0;
    return ppm > 0 && gmc_prng_chance_ppm(&disk->prng, ppm) ? GMC_ERR_IO : GMC_OK;
}

static void answer(struct sim_disk *disk, struct sim_disk_op *op)
{
    struct gmc_store_result result = {.ticket = op->op.ticket};
    result.status = planted_failure(disk, op->op.kind);
    if (result.status == GMC_OK)
        sim_disk_perform(disk, op, &result);
    else
        result.reason = "the simulated disk failed";
    if (result.status != GMC_OK)
        disk->count.errors++;
    if (result.status != GMC_OK && result.reason == NULL)
        result.reason = gmc_status_text(result.status);
    disk->sink.answered(disk->sink.ctx, &result);
    free_op(disk, op);
}

void sim_disk_answer(struct sim_disk *disk, size_t count_max)
{
    gmc_time now = disk->engine->now;
    disk->is_due = false;
    for (; count_max > 0 && disk->first != NULL && disk->first->due <= now && !disk->stalled;
         count_max--)
        answer(disk, take_first(disk));
    arm(disk);
}

static void on_due(struct sim_event *event, gmc_time now)
{
    struct sim_disk *disk = SIM_OWNER(event, struct sim_disk, event);
    (void)now;
    if (disk->sink.due == NULL) {
        sim_disk_answer(disk, 1);
        return;
    }
    disk->is_due = true;
    disk->sink.due(disk->sink.ctx);
}

void sim_disk_stall(struct sim_disk *disk, bool stalled)
{
    disk->stalled = stalled;
    arm(disk);
}

/* ---- crashes ---- */
/* An operation under way when its process ends: done, torn, or not begun. */
static void end_op(struct sim_disk *disk, const struct sim_disk_op *op)
{
    struct gmc_store_result unheard = {0};
    uint64_t fate = gmc_prng_below(&disk->prng, 3);
    struct sim_store *store = sim_disk_store(disk, op->op.key);
    bool reads = op->op.kind == GMC_STORE_READ || op->op.kind == GMC_STORE_READ_PAGE;
    if (fate == 0 || reads)
        return;
    if (fate == 1 && op->op.kind == GMC_STORE_WRITE) {
        if (store != NULL && store->blocks != NULL)
            sim_store_tear(store, op->op.offset, op->op.data, sim_disk_kept(disk, &op->op),
                           sim_disk_kept(disk, &op->op) / 2);
        return;
    }
    sim_disk_perform(disk, op, &unheard);
}

void sim_disk_crash(struct sim_disk *disk, enum sim_crash crash)
{
    while (disk->first != NULL) {
        struct sim_disk_op *op = take_first(disk);
        end_op(disk, op);
        free_op(disk, op);
    }
    if (crash == SIM_CRASH_POWER)
        for (size_t i = 0; i < disk->store_count; i++)
            sim_store_power_loss(disk->stores[i], &disk->prng);
    for (size_t i = 0; i < disk->store_count; i++)
        disk->stores[i]->open = disk->stores[i]->closed = false;
    disk->busy_until = 0;
    disk->is_due = false;
    arm(disk);
}

void sim_disk_fini(struct sim_disk *disk)
{
    sim_engine_cancel(disk->engine, &disk->event);
    while (disk->first != NULL)
        free_op(disk, take_first(disk));
    for (size_t i = 0; i < disk->store_count; i++) {
        sim_store_fini(disk->stores[i]);
        free(disk->stores[i]);
    }
    free(disk->stores);
}

void sim_disk_near(const struct sim_disk *disk, struct gmc_near *near)
{
    if (disk->first != NULL)
        gmc_near_add(near, disk->first, sizeof(*disk->first));
    if (disk->last != disk->first)
        gmc_near_add(near, disk->last, sizeof(*disk->last));
    if (disk->store_count > 0)
        gmc_near_add(near, disk->stores[0], sizeof(*disk->stores[0]));
}

/* ---- stores ---- */
struct sim_store *sim_disk_store(const struct sim_disk *disk, const struct gmc_channel_key *key)
{
    for (size_t i = 0; i < disk->store_count; i++)
        if (sim_key_equal(&disk->stores[i]->key, key))
            return disk->stores[i];
    return NULL;
}

struct sim_store *sim_disk_add_store(struct sim_disk *disk, const struct gmc_channel_key *key)
{
    struct sim_store *store = sim_disk_store(disk, key);
    if (store != NULL)
        return store;
    disk->stores = sim_reserve(disk->stores, disk->store_count, &disk->store_capacity,
                               sizeof(struct sim_store *));
    store = disk->stores[disk->store_count++] = sim_alloc(sizeof(*store));
    sim_store_init(store, key);
    return store;
}

size_t sim_disk_saved_count(const struct sim_disk *disk)
{
    size_t count = 0;
    for (size_t i = 0; i < disk->store_count; i++)
        count += sim_store_saved_count(disk->stores[i]);
    return count;
}

void sim_disk_saved(const struct sim_disk *disk, size_t i, struct gmc_saved *saved)
{
    GMC_ASSERT(i < sim_disk_saved_count(disk));
    for (size_t s = 0; s < disk->store_count; s++) {
        size_t count = sim_store_saved_count(disk->stores[s]);
        if (i < count) {
            sim_store_saved(disk->stores[s], i, saved);
            return;
        }
        i -= count;
    }
}

bool sim_disk_has_delivered(const struct sim_disk *disk, const struct gmc_channel_key *key)
{
    const struct sim_store *store = sim_disk_store(disk, key);
    return store != NULL && store->finished;
}
