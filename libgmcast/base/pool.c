/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the chunks and the free list of an object pool.
 */
#include "base/pool.h"

#include "base/assert.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

struct gmc_pool_chunk {
    struct gmc_pool_chunk *next;
    alignas(max_align_t) unsigned char objects[];
};

/* Lives in an object while that is free. */
struct gmc_pool_free {
    struct gmc_pool_free *next;
};

void gmc_pool_init(struct gmc_pool *pool, size_t object_size, size_t chunk_objects,
                   size_t count_max)
{
    const size_t align = alignof(max_align_t);

    GMC_ASSERT(object_size > 0 && chunk_objects > 0 && count_max > 0);
    GMC_ASSERT(object_size <= SIZE_MAX / 2);
    *pool = (struct gmc_pool){
        .object_size = (object_size + align - 1) / align * align,
        .chunk_objects = chunk_objects,
        .count_max = count_max,
    };
}

void gmc_pool_fini(struct gmc_pool *pool)
{
    GMC_ASSERT(pool->count == 0);
    gmc_pool_shrink(pool);
}

static void push_free(struct gmc_pool *pool, void *object)
{
    struct gmc_pool_free *entry = object;

    entry->next = pool->free;
    pool->free = entry;
}

static gmc_status grow(struct gmc_pool *pool)
{
    size_t room = pool->count_max - pool->allocated;
    size_t objects = pool->chunk_objects < room ? pool->chunk_objects : room;
    struct gmc_pool_chunk *chunk;

    if (objects == 0)
        return GMC_ERR_FULL;
    if (objects > (SIZE_MAX - sizeof *chunk) / pool->object_size)
        return GMC_ERR_NOMEM;
    chunk = malloc(sizeof *chunk + objects * pool->object_size);
    if (chunk == NULL)
        return GMC_ERR_NOMEM;
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    pool->allocated += objects;
    /* Backwards, so that objects are handed out in the order of their addresses. */
    for (size_t i = objects; i > 0; i--)
        push_free(pool, chunk->objects + (i - 1) * pool->object_size);
    return GMC_OK;
}

gmc_status gmc_pool_reserve(struct gmc_pool *pool, size_t count)
{
    if (count > pool->count_max)
        return GMC_ERR_FULL;
    while (pool->allocated < count) {
        gmc_status status = grow(pool);

        if (status != GMC_OK)
            return status;
    }
    return GMC_OK;
}

void *gmc_pool_get(struct gmc_pool *pool)
{
    struct gmc_pool_free *entry;

    if (pool->free == NULL && grow(pool) != GMC_OK)
        return NULL;
    entry = pool->free;
    pool->free = entry->next;
    pool->count++;
    return entry;
}

void gmc_pool_put(struct gmc_pool *pool, void *object)
{
    if (object == NULL)
        return;
    GMC_ASSERT(pool->count > 0);
    push_free(pool, object);
    pool->count--;
}

void gmc_pool_shrink(struct gmc_pool *pool)
{
    struct gmc_pool_chunk *chunk = pool->chunks;

    if (pool->count > 0)
        return;
    while (chunk != NULL) {
        struct gmc_pool_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
    pool->chunks = NULL;
    pool->free = NULL;
    pool->allocated = 0;
}
