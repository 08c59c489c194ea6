/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the pool: records of one size that were given back, to be used again, all of it inline.
 *
 * The one that was given back last is taken first, since it is near. Several owners may share a
 * pool: what one gives back is then still near for the next one.
 */
#ifndef GMC_BASE_POOL_H
#define GMC_BASE_POOL_H

#include <stddef.h>
#include <stdlib.h>

#include "base/assert.h"

struct gmc_pool {
    void **first;       /* each points at the next one */
    size_t count, most; /* that are kept */
    size_t bytes;       /* of each record */
};

/* Keeps at most `most` records of so many bytes. Allocates nothing. */
static inline void gmc_pool_init(struct gmc_pool *pool, size_t bytes, size_t most)
{
    GMC_ASSERT(bytes >= sizeof(void *));
    *pool = (struct gmc_pool){.bytes = bytes, .most = most};
}

/* A record, whatever is in it; NULL when out of memory. */
static inline void *gmc_pool_get(struct gmc_pool *pool)
{
    void **record = pool->first;
    if (record == NULL)
        return malloc(pool->bytes);
    pool->first = *record;
    pool->count--;
    return record;
}

static inline void gmc_pool_put(struct gmc_pool *pool, void *record)
{
    if (pool->count >= pool->most) {
        free(record);
        return;
    }
    *(void **)record = pool->first;
    pool->first = record;
    pool->count++;
}

/* Gives back the memory of all records in it. */
static inline void gmc_pool_trim(struct gmc_pool *pool)
{
    while (pool->count > 0)
        free(gmc_pool_get(pool));
}

#endif
