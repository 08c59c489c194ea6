/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the open-addressed table behind the map: linear probing, at most half full, and a removal
 * that moves later members up instead of leaving tombstones.
 */
#include "base/map.h"

#include "base/assert.h"

#include <stdlib.h>

#define FIRST_CAPACITY 16
#define RUN 4u

void gmc_map_init(struct gmc_map *map, uint64_t seed)
{
    *map = (struct gmc_map){.seed = seed};
}

void gmc_map_fini(struct gmc_map *map)
{
    free(map->slots);
    gmc_map_init(map, map->seed);
}

/* The slot where the search for key starts. The seed goes in before a multiplication and again
 * behind it, so that keys which collide under one seed do not under another. Keys are often counted
 * up: runs of them are neighbours, in one line or two of the processor's cache.
 */
static size_t home_of(const struct gmc_map *map, uint64_t key)
{
    uint64_t h = (key / RUN ^ map->seed) * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ (h >> 32) ^ map->seed) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)((h ^ (h >> 32)) + key % RUN) & (map->capacity - 1);
}

/* The slot that holds key, or the free one where it would go. capacity > 0. */
static size_t find(const struct gmc_map *map, uint64_t key)
{
    size_t index = home_of(map, key);

    while (map->slots[index].value != NULL && map->slots[index].key != key)
        index = (index + 1) & (map->capacity - 1);
    return index;
}

static bool fits(size_t count, size_t capacity)
{
    return count <= capacity / 2;
}

static gmc_status rehash(struct gmc_map *map, size_t capacity)
{
    struct gmc_map old = *map;
    struct gmc_map_slot *slots = calloc(capacity, sizeof *slots);

    if (slots == NULL)
        return GMC_ERR_NOMEM;
    map->slots = slots;
    map->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].value != NULL)
            map->slots[find(map, old.slots[i].key)] = old.slots[i];
    }
    free(old.slots);
    return GMC_OK;
}

gmc_status gmc_map_reserve(struct gmc_map *map, size_t count)
{
    size_t capacity = map->capacity > 0 ? map->capacity : FIRST_CAPACITY;

    while (!fits(count, capacity)) {
        if (capacity > SIZE_MAX / 2)
            return GMC_ERR_NOMEM;
        capacity *= 2;
    }
    return capacity == map->capacity ? GMC_OK : rehash(map, capacity);
}

void gmc_map_near(const struct gmc_map *map, uint64_t key, struct gmc_near *near)
{
    if (map->capacity > 0)
        gmc_near_add(near, &map->slots[home_of(map, key)], sizeof(*map->slots));
}

void *gmc_map_get(const struct gmc_map *map, uint64_t key)
{
    return map->count > 0 ? map->slots[find(map, key)].value : NULL;
}

gmc_status gmc_map_put(struct gmc_map *map, uint64_t key, void *value)
{
    size_t capacity = map->capacity;
    size_t index = capacity > 0 ? find(map, key) : 0;

    GMC_ASSERT(value != NULL);
    if (capacity == 0 || map->slots[index].value == NULL) {
        gmc_status status = gmc_map_reserve(map, map->count + 1);

        if (status != GMC_OK)
            return status;
        if (map->capacity != capacity)
            index = find(map, key);
        map->count++;
    }
    map->slots[index] = (struct gmc_map_slot){key, value};
    return GMC_OK;
}

void *gmc_map_remove(struct gmc_map *map, uint64_t key)
{
    size_t mask = map->capacity - 1;
    size_t hole, index;
    void *value;

    if (map->count == 0)
        return NULL;
    hole = find(map, key);
    value = map->slots[hole].value;
    if (value == NULL)
        return NULL;
    /* A member behind the hole moves into it unless its home lies behind the hole, cyclically. */
    for (index = (hole + 1) & mask; map->slots[index].value != NULL; index = (index + 1) & mask) {
        size_t home = home_of(map, map->slots[index].key);

        if (((index - home) & mask) >= ((index - hole) & mask)) {
            map->slots[hole] = map->slots[index];
            hole = index;
        }
    }
    map->slots[hole].value = NULL;
    map->count--;
    return value;
}

bool gmc_map_next(const struct gmc_map *map, size_t *cursor, uint64_t *key, void **value)
{
    for (size_t i = *cursor; i < map->capacity; i++) {
        if (map->slots[i].value == NULL)
            continue;
        *cursor = i + 1;
        *key = map->slots[i].key;
        *value = map->slots[i].value;
        return true;
    }
    return false;
}
