/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the hash map from 64-bit keys to pointers.
 *
 * It is for looking up. Its order depends on the seed: what decides something iterates over a list
 * or a sorted array instead.
 */
#ifndef GMC_BASE_MAP_H
#define GMC_BASE_MAP_H

#include "base/near.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmc_map_slot {
    uint64_t key;
    void *value; /* NULL if the slot is free */
};

struct gmc_map {
    struct gmc_map_slot *slots;
    size_t count;
    size_t capacity; /* 0 or a power of two */
    uint64_t seed;
};

/* An empty map. A seed that outsiders cannot guess keeps them from choosing keys that collide.
 * Allocates nothing.
 */
void gmc_map_init(struct gmc_map *map, uint64_t seed);

/* Release the table; the values are the caller's. */
void gmc_map_fini(struct gmc_map *map);

/* Make room for count keys in all, so that no put up to there allocates or fails. */
GMC_NODISCARD gmc_status gmc_map_reserve(struct gmc_map *map, size_t count);

/* The value of key, NULL if it has none. */
void *gmc_map_get(const struct gmc_map *map, uint64_t key);

/* What looking for key begins with. */
void gmc_map_near(const struct gmc_map *map, uint64_t key, struct gmc_near *near);

/* Set the value (not NULL, asserted) of key, in the place of an older one. NOMEM: unchanged. */
GMC_NODISCARD gmc_status gmc_map_put(struct gmc_map *map, uint64_t key, void *value);

/* Take key out and return the value it had, NULL if none. Never allocates. */
void *gmc_map_remove(struct gmc_map *map, uint64_t key);

static inline size_t gmc_map_count(const struct gmc_map *map)
{
    return map->count;
}

/* Visit all: start with *cursor = 0 and call until it returns false. In between the map must not
 * change.
 */
bool gmc_map_next(const struct gmc_map *map, size_t *cursor, uint64_t *key, void **value);

#endif
