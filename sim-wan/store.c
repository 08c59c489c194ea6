/* SPDX-License-Identifier: BSD-2-Clause */
/* One channel's data on one simulated disk; see store.h. */
#include "sim-wan/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

struct sim_file {
    char *name;
    uint8_t *bytes;
    size_t len;
};

void sim_store_init(struct sim_store *store, const struct gmc_channel_key *key)
{
    *store = (struct sim_store){.key = *key};
    gmc_map_init(&store->others, key->e);
}

static void free_others(struct sim_store *store)
{
    size_t cursor = 0;
    uint64_t block;
    void *bytes;
    while (gmc_map_next(&store->others, &cursor, &block, &bytes))
        free(bytes);
    gmc_map_fini(&store->others);
    gmc_map_init(&store->others, store->key.e);
}

static void free_files(struct sim_store *store)
{
    for (size_t i = 0; i < store->file_count; i++) {
        free(store->files[i].name);
        free(store->files[i].bytes);
    }
    free(store->files);
    store->files = NULL;
    store->file_count = store->file_capacity = 0;
}

static void free_blocks(struct sim_store *store)
{
    free_others(store);
    free(store->blocks);
    free(store->dirty);
    store->blocks = NULL;
    store->dirty = NULL;
    store->block_count = 0;
    store->dirty_count = store->dirty_capacity = 0;
    store->used_bytes = 0;
}

void sim_store_fini(struct sim_store *store)
{
    free_blocks(store);
    gmc_map_fini(&store->others);
    sim_store_free_pages(store);
    free_files(store);
}

void sim_store_set_object(struct sim_store *store, struct sim_object *object)
{
    store->object = object;
    if (store->blocks != NULL || store->is_source)
        return;
    uint64_t block = object->block_bytes;
    store->block_count = (uint32_t)((sim_object_space(object) + block - 1) / block);
    store->blocks = sim_calloc(store->block_count, 1);
}

/* ---- blocks ---- */
static uint32_t block_of(const struct sim_store *store, uint64_t offset)
{
    uint64_t block = offset / store->object->block_bytes;
    GMC_ASSERT(block < store->block_count);
    return (uint32_t)block;
}

enum sim_block_content sim_store_block(const struct sim_store *store, uint32_t block)
{
    return (enum sim_block_content)(store->blocks[block] & 3);
}

static enum sim_block_content durable_content(const struct sim_store *store, uint32_t block)
{
    return (enum sim_block_content)(store->blocks[block] >> 2);
}

static void set_content(struct sim_store *store, uint32_t block, enum sim_block_content content)
{
    uint64_t bytes = store->object->block_bytes;
    if (content != SIM_BLOCK_OTHER)
        free(gmc_map_remove(&store->others, block));
    if (sim_store_block(store, block) == SIM_BLOCK_NONE && content != SIM_BLOCK_NONE)
        store->used_bytes += bytes;
    if (sim_store_block(store, block) != SIM_BLOCK_NONE && content == SIM_BLOCK_NONE)
        store->used_bytes -= bytes;
    store->blocks[block] = (uint8_t)((store->blocks[block] & ~3u) | content);
}

static void mark_dirty(struct sim_store *store, uint32_t block)
{
    store->dirty = sim_reserve(store->dirty, store->dirty_count, &store->dirty_capacity,
                               sizeof(*store->dirty));
    store->dirty[store->dirty_count++] = block;
}

/* Bytes of a block as they are now, in full length. */
static void read_block(const struct sim_store *store, uint32_t block, uint8_t *out)
{
    uint32_t bytes = store->object->block_bytes;
    const uint8_t *other = gmc_map_get(&store->others, block);
    if (sim_store_block(store, block) == SIM_BLOCK_GOOD)
        sim_object_fill(store->object, (uint64_t)block * bytes, out, bytes);
    else if (other != NULL)
        memcpy(out, other, bytes);
    else
        memset(out, 0, bytes);
}

/* Takes the bytes. Half a block may happen to be all of it: the rest was zeros. */
static void put_other(struct sim_store *store, uint32_t block, uint8_t *bytes)
{
    uint64_t offset = (uint64_t)block * store->object->block_bytes;
    uint64_t left = sim_object_space(store->object) - offset;
    size_t len = left < store->object->block_bytes ? (size_t)left : store->object->block_bytes;
    if (sim_object_is(store->object, offset, bytes, len)) {
        set_content(store, block, SIM_BLOCK_GOOD);
        free(bytes);
        return;
    }
    free(gmc_map_remove(&store->others, block));
    set_content(store, block, SIM_BLOCK_OTHER);
    gmc_status status = gmc_map_put(&store->others, block, bytes);
    GMC_ASSERT(status == GMC_OK);
}

bool sim_store_write(struct sim_store *store, uint64_t offset, const uint8_t *data, size_t len)
{
    uint32_t block = block_of(store, offset);
    bool good = sim_object_is(store->object, offset, data, len);
    if (good)
        set_content(store, block, SIM_BLOCK_GOOD);
    else
        sim_store_tear(store, offset, data, len, len);
    mark_dirty(store, block);
    return good;
}

void sim_store_tear(struct sim_store *store, uint64_t offset, const uint8_t *data, size_t len,
                    size_t part)
{
    uint32_t block = block_of(store, offset);
    GMC_ASSERT(len <= store->object->block_bytes);
    uint8_t *bytes = sim_alloc(store->object->block_bytes);
    read_block(store, block, bytes);
    memcpy(bytes, data, part < len ? part : len);
    put_other(store, block, bytes);
    mark_dirty(store, block);
}

void sim_store_read(const struct sim_store *store, uint64_t offset, uint8_t *out, size_t len)
{
    if (store->is_source) {
        sim_object_fill(store->object, offset, out, len);
        return;
    }
    uint32_t bytes = store->object->block_bytes;
    while (len > 0) {
        uint32_t block = block_of(store, offset);
        size_t skip = (size_t)(offset % bytes);
        size_t part = bytes - skip < len ? bytes - skip : len;
        const uint8_t *other = gmc_map_get(&store->others, block);
        if (sim_store_block(store, block) == SIM_BLOCK_GOOD)
            sim_object_fill(store->object, offset, out, part);
        else if (other != NULL)
            memcpy(out, other + skip, part);
        else
            memset(out, 0, part);
        offset += part;
        out += part;
        len -= part;
    }
}

/* ---- files ---- */
static struct sim_file *find_file(struct sim_store *store, const char *name)
{
    for (size_t i = 0; i < store->file_count; i++)
        if (strcmp(store->files[i].name, name) == 0)
            return &store->files[i];
    return NULL;
}

void sim_store_save(struct sim_store *store, const char *name, struct gmc_bytes bytes)
{
    struct sim_file *file = find_file(store, name);
    if (file == NULL) {
        store->files = sim_reserve(store->files, store->file_count, &store->file_capacity,
                                   sizeof(*store->files));
        file = &store->files[store->file_count++];
        *file = (struct sim_file){.name = sim_strdup(name)};
    }
    file->bytes = sim_grow(file->bytes, bytes.len, 1);
    if (bytes.len > 0)
        memcpy(file->bytes, bytes.data, bytes.len);
    file->len = bytes.len;
}

size_t sim_store_saved_count(const struct sim_store *store)
{
    return store->file_count;
}

void sim_store_saved(const struct sim_store *store, size_t i, struct gmc_saved *saved)
{
    const struct sim_file *file = &store->files[i];
    *saved = (struct gmc_saved){store->key, file->name, gmc_bytes(file->bytes, file->len)};
}

/* ---- durability ---- */
void sim_store_sync(struct sim_store *store)
{
    for (size_t i = 0; i < store->dirty_count; i++) {
        uint32_t block = store->dirty[i];
        unsigned content = sim_store_block(store, block);
        store->blocks[block] = (uint8_t)(content | content << 2);
    }
    store->dirty_count = 0;
    sim_store_sync_pages(store);
}

void sim_store_close(struct sim_store *store, bool discard)
{
    store->open = false;
    store->closed = true;
    free_files(store);
    sim_store_free_pages(store);
    if (discard && !store->finished) {
        store->discarded = true;
        free_blocks(store);
    }
}

/* One of: the write had reached the medium; it had not; half of it had. */
static void lose_block(struct sim_store *store, uint32_t block, struct gmc_prng *prng)
{
    uint64_t fate = gmc_prng_below(prng, 3);
    if (fate == 0)
        return;
    if (fate == 1 && durable_content(store, block) != SIM_BLOCK_OTHER) {
        set_content(store, block, durable_content(store, block));
        return;
    }
    uint32_t bytes = store->object->block_bytes;
    uint8_t *torn = sim_alloc(bytes);
    read_block(store, block, torn);
    memset(torn + bytes / 2, 0, bytes - bytes / 2);
    put_other(store, block, torn);
}

void sim_store_power_loss(struct sim_store *store, struct gmc_prng *prng)
{
    for (size_t i = 0; i < store->dirty_count; i++)
        lose_block(store, store->dirty[i], prng);
    sim_store_lose_pages(store, prng);
    sim_store_sync(store); /* what is there now is on the medium */
}

/* ---- questions ---- */
uint32_t sim_store_good_blocks(const struct sim_store *store)
{
    uint32_t good = 0;
    for (uint32_t i = 0; i < store->block_count; i++)
        good += sim_store_block(store, i) == SIM_BLOCK_GOOD;
    return good;
}

bool sim_store_is_whole(const struct sim_store *store, uint32_t first)
{
    for (uint32_t i = first; i < store->block_count; i++)
        if (sim_store_block(store, i) != SIM_BLOCK_GOOD)
            return false;
    return store->blocks != NULL || store->is_source;
}

uint32_t sim_store_listing_blocks(const struct sim_store *store)
{
    const struct sim_object *object = store->object;
    return (uint32_t)((object->listing_bytes + object->block_bytes - 1) / object->block_bytes);
}
