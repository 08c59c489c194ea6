/* SPDX-License-Identifier: BSD-2-Clause */
/* The store operations of core/io.h, as a disk with simulated objects does them. What the contract
 * forbids the core to do is reported as a violation. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim-wan/disk_internal.h"

static void violated(struct sim_disk *disk, const struct gmc_store_op *op, const char *what)
{
    char text[GMC_DOMAIN_NAME_MAX + 256];
    snprintf(text, sizeof(text), "store %s of %016" PRIx64 "@%s at %" PRIu64 ": %s",
             sim_store_kind_name(op->kind), op->key->e, op->key->source, op->offset, what);
    disk->sink.violated(disk->sink.ctx, text);
}

static uint64_t used_bytes(const struct sim_disk *disk)
{
    uint64_t used = 0;
    for (size_t i = 0; i < disk->store_count; i++)
        used += disk->stores[i]->used_bytes;
    return used;
}

static void fail(struct gmc_store_result *result, gmc_status status, const char *reason)
{
    result->status = status;
    result->reason = reason;
}

static void scan(struct sim_disk *disk, const struct sim_disk_op *op,
                 struct gmc_store_result *result)
{
    struct sim_object object;
    if (op->op.path_count != 1 || !sim_object_parse(op->paths[0], &object)) {
        fail(result, GMC_ERR_NOT_FOUND, "no such file in the simulation");
        return;
    }
    object.key = *op->op.key;
    if (op->op.block_bytes != 0)
        object.block_bytes = op->op.block_bytes;
    struct sim_store *store = sim_disk_add_store(disk, op->op.key);
    store->is_source = store->open = true;
    sim_store_set_object(store, sim_objects_put(disk->objects, &object));
    result->listing_bytes = object.listing_bytes;
    result->total_bytes = object.total_bytes;
    result->file_count = object.file_count;
}

static void reopen(struct sim_disk *disk, const struct sim_disk_op *op,
                   struct gmc_store_result *result)
{
    struct sim_store *store = sim_disk_store(disk, op->op.key);
    if (store == NULL || !store->is_source) {
        fail(result, GMC_ERR_NOT_FOUND, "nothing was scanned");
        return;
    }
    if (disk->source_changed) {
        fail(result, GMC_ERR_CHANGED, "the file changed");
        return;
    }
    store->open = true;
    result->file_count = store->object->file_count;
}

static void open_target(struct sim_disk *disk, const struct sim_disk_op *op,
                        struct gmc_store_result *result)
{
    struct sim_object *object = sim_objects_get(disk->objects, op->op.key);
    if (object == NULL || object->listing_bytes != op->op.listing_bytes ||
        object->total_bytes != op->op.total_bytes) {
        violated(disk, &op->op, "the object is not one that its source scanned");
        fail(result, GMC_ERR_INVALID, "unknown object");
        return;
    }
    if (op->op.block_bytes != 0)
        object->block_bytes = op->op.block_bytes;
    struct sim_store *store = sim_disk_add_store(disk, op->op.key);
    uint64_t capacity = disk->config.capacity_bytes;
    uint64_t others = used_bytes(disk) - store->used_bytes;
    if (capacity > 0 && others + object->total_bytes > capacity) {
        fail(result, GMC_ERR_NOSPACE, "the simulated disk is full");
        return;
    }
    sim_store_set_object(store, object);
    store->open = true;
    store->discarded = false;
}

static void layout(struct sim_disk *disk, struct sim_store *store, const struct gmc_store_op *op,
                   struct gmc_store_result *result)
{
    for (uint32_t i = 0; i < sim_store_listing_blocks(store); i++) {
        if (sim_store_block(store, i) != SIM_BLOCK_GOOD) {
            violated(disk, op, "the listing is not whole");
            fail(result, GMC_ERR_INVALID, "the listing is not whole");
            return;
        }
    }
    if (disk->dest_exists && !store->finished) {
        fail(result, GMC_ERR_EXISTS, "the destination exists");
        return;
    }
    store->laid_out = true;
    result->file_count = store->object->file_count;
    /* Whoever starts again was killed, and was writing there: files are not told apart here. */
    if (op->stored != NULL && gmc_interval_ranges(op->stored) > 0) {
        result->doubtful = op->stored;
        result->reason = "written to after the last checkpoint";
    }
}

static void read_data(struct sim_disk *disk, struct sim_store *store, const struct gmc_store_op *op,
                      struct gmc_store_result *result)
{
    if (op->offset + op->len > sim_object_space(store->object)) {
        violated(disk, op, "read past the end");
        fail(result, GMC_ERR_IO, "read past the end");
        return;
    }
    if (store->is_source && disk->source_changed) {
        fail(result, GMC_ERR_CHANGED, "the file changed");
        return;
    }
    size_t len = sim_disk_kept(disk, op);
    sim_store_read(store, op->offset, op->data, len);
    if (disk->config.read_flip_ppm > 0 && len > 0 &&
        gmc_prng_chance_ppm(&disk->prng, disk->config.read_flip_ppm))
        op->data[gmc_prng_below(&disk->prng, len)] ^= 0x40;
    disk->crypto->ops->hash(op->data, len, result->hash);
    disk->count.reads++;
    disk->count.read_bytes += op->len;
}

/* Why the write is not to be done; NULL if it is. */
static const char *write_refusal(const struct sim_store *store, const struct gmc_store_op *op)
{
    if (store->is_source)
        return "the source writes its own data";
    if (op->offset % store->object->block_bytes != 0 || op->len > store->object->block_bytes)
        return "not a block";
    if (op->offset + op->len > sim_object_space(store->object))
        return "write past the end";
    if (!store->laid_out &&
        op->offset >= (uint64_t)sim_store_listing_blocks(store) * store->object->block_bytes)
        return "data before the layout";
    return NULL;
}

static void write_data(struct sim_disk *disk, struct sim_store *store,
                       const struct gmc_store_op *op, struct gmc_store_result *result)
{
    uint8_t hash[GMC_HASH_BYTES];
    const char *refusal = write_refusal(store, op);
    if (refusal != NULL) {
        violated(disk, op, refusal);
        fail(result, GMC_ERR_INVALID, refusal);
        return;
    }
    size_t len = sim_disk_kept(disk, op);
    disk->crypto->ops->hash(op->data, len, hash);
    if (memcmp(hash, op->hash, sizeof(hash)) != 0) {
        disk->count.mismatches++;
        fail(result, GMC_ERR_MISMATCH, "the block does not match its hash");
        return;
    }
    if (disk->config.capacity_bytes > 0 &&
        used_bytes(disk) + op->len > disk->config.capacity_bytes) {
        fail(result, GMC_ERR_NOSPACE, "the simulated disk is full");
        return;
    }
    if (disk->canary == SIM_CANARY_FLIP)
        op->data[len / 2] ^= 1;
    if (disk->canary == SIM_CANARY_LOSE && op->offset == 0)
        return;
    if (!sim_store_write(store, op->offset, op->data, len))
        violated(disk, op, "accepted what the source did not send");
    disk->count.writes++;
    disk->count.written_bytes += op->len;
}

static void finish(struct sim_disk *disk, struct sim_store *store, const struct gmc_store_op *op,
                   struct gmc_store_result *result)
{
    if (store->is_source || !store->laid_out || !sim_store_is_whole(store, 0)) {
        violated(disk, op, "finished an object that is not whole");
        fail(result, GMC_ERR_INVALID, "the object is not whole");
        return;
    }
    (void)result;
    sim_store_sync(store);
    store->finished = true;
}

static sim_store_hash page_hash(const struct sim_disk *disk)
{
    return disk->virtual_bodies ? disk->crypto->ops->hash : NULL;
}

static void read_page(const struct sim_disk *disk, struct sim_store *store,
                      const struct gmc_store_op *op, struct gmc_store_result *result)
{
    if (!sim_store_read_page(store, op->offset, op->data, op->len, page_hash(disk)))
        fail(result, GMC_ERR_NOT_FOUND, "the page was never written");
}

/* Operations on a channel that is open. */
static void perform_open(struct sim_disk *disk, struct sim_store *store,
                         const struct gmc_store_op *op, struct gmc_store_result *result)
{
    switch (op->kind) {
    case GMC_STORE_LAYOUT:
        layout(disk, store, op, result);
        break;
    case GMC_STORE_READ:
        read_data(disk, store, op, result);
        break;
    case GMC_STORE_WRITE:
        write_data(disk, store, op, result);
        break;
    case GMC_STORE_READ_PAGE:
        read_page(disk, store, op, result);
        break;
    case GMC_STORE_WRITE_PAGE:
        sim_store_write_page(store, op->offset, op->data, op->len, page_hash(disk));
        break;
    case GMC_STORE_SYNC:
        sim_store_sync(store);
        disk->count.syncs++;
        break;
    case GMC_STORE_FINISH:
        finish(disk, store, op, result);
        break;
    default:
        violated(disk, op, "unknown operation");
        fail(result, GMC_ERR_INVALID, "unknown operation");
    }
}

void sim_disk_perform(struct sim_disk *disk, const struct sim_disk_op *op,
                      struct gmc_store_result *result)
{
    struct sim_store *store = sim_disk_store(disk, op->op.key);
    switch (op->op.kind) {
    case GMC_STORE_SCAN:
        scan(disk, op, result);
        return;
    case GMC_STORE_REOPEN:
        reopen(disk, op, result);
        return;
    case GMC_STORE_OPEN:
        open_target(disk, op, result);
        return;
    case GMC_STORE_SAVE:
        sim_store_save(sim_disk_add_store(disk, op->op.key), op->op.name, op->op.bytes);
        disk->count.saves++;
        return;
    case GMC_STORE_CLOSE:
        if (store != NULL)
            sim_store_close(store, op->op.discard);
        return;
    default:
        break;
    }
    if (store == NULL || !store->open || store->object == NULL) {
        /* Workers may take a close before an operation that was asked for earlier. */
        if (store == NULL || !store->closed)
            violated(disk, &op->op, "the channel is not open");
        fail(result, GMC_ERR_STATE, "the channel is not open");
        return;
    }
    perform_open(disk, store, &op->op, result);
}
