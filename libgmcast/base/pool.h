/* SPDX-License-Identifier: BSD-2-Clause
 * Owns pools of equal objects: a free list over chunks, with a bound.
 *
 * A pool grows by whole chunks when it is reserved (e.g. when a channel opens) or when it runs out,
 * never beyond its bound, and gives memory back only when asked.
 */
#ifndef GMC_BASE_POOL_H
#define GMC_BASE_POOL_H

#include "base/status.h"

#include <stddef.h>

struct gmc_pool_chunk;
struct gmc_pool_free;

struct gmc_pool {
    struct gmc_pool_chunk *chunks;
    struct gmc_pool_free *free; /* objects not in use */
    size_t object_size;         /* rounded up to the strictest alignment */
    size_t chunk_objects;
    size_t count;     /* objects in use */
    size_t allocated; /* objects in all chunks */
    size_t count_max; /* bound on allocated */
};

/* Objects of object_size bytes, chunk_objects at a time, at most count_max (each > 0, asserted).
 * Allocates nothing.
 */
void gmc_pool_init(struct gmc_pool *pool, size_t object_size, size_t chunk_objects,
                   size_t count_max);

/* Release all chunks; no object may be in use (asserted). */
void gmc_pool_fini(struct gmc_pool *pool);

/* Have memory for count objects in all, those in use included. FULL beyond the bound; NOMEM. */
GMC_NODISCARD gmc_status gmc_pool_reserve(struct gmc_pool *pool, size_t count);

/* An object with undefined content, aligned for any type; NULL if the bound is reached or memory
 * is out. Allocates only if nothing reserved is left.
 */
GMC_NODISCARD void *gmc_pool_get(struct gmc_pool *pool);

/* Give back an object of this pool; NULL is ignored. */
void gmc_pool_put(struct gmc_pool *pool, void *object);

/* Release all chunks if no object is in use. */
void gmc_pool_shrink(struct gmc_pool *pool);

#endif
