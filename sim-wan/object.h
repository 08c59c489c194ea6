/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulated objects: contents that follow from a seed, so that a gigabyte needs no memory and an
 * oracle needs no copy. All hosts of a run look objects up in one registry, by channel. */
#ifndef SIM_OBJECT_H
#define SIM_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/io.h"
#include "core/manifest.h"

#define SIM_HASHED_PAGES 16u

/* Hashes of an object's virtual bodies, of one page. */
struct sim_hashed {
    uint32_t first, count;
    uint8_t hashes[GMC_PAGE_HASHES][GMC_HASH_BYTES];
};

struct sim_object {
    struct gmc_channel_key key;
    uint64_t seed;
    uint64_t listing_bytes;
    uint64_t total_bytes;
    uint64_t file_count;
    uint32_t block_bytes; /* the listing is padded to a multiple of it */
    /* By page: all hosts ask for the same few at about the same time. */
    struct sim_hashed hashed[SIM_HASHED_PAGES];
};

struct sim_objects {
    struct sim_object **list;
    size_t count, capacity;
};

#define SIM_OBJECT_MAX (UINT64_MAX / 2) /* bytes, so that its space fits 64 bits */
#define SIM_OBJECT_PATH_MAX 48

/* A source path of a simulated object is "sim:SEED:BYTES". Writes at most size bytes. */
void sim_object_path(char *out, size_t size, uint64_t seed, uint64_t bytes);
/* False when the path is not of that form. Listing and file count follow from the size. */
bool sim_object_parse(const char *path, struct sim_object *object);

/* The object's byte space: listing, zeros up to a block border, data. */
uint64_t sim_object_space(const struct sim_object *object);
void sim_object_fill(const struct sim_object *object, uint64_t offset, uint8_t *out, size_t len);
bool sim_object_is(const struct sim_object *object, uint64_t offset, const uint8_t *data,
                   size_t len);

void sim_objects_fini(struct sim_objects *objects);
/* Registers a copy, or replaces the one of the same channel. */
struct sim_object *sim_objects_put(struct sim_objects *objects, const struct sim_object *object);
struct sim_object *sim_objects_get(const struct sim_objects *objects,
                                   const struct gmc_channel_key *key);
bool sim_key_equal(const struct gmc_channel_key *a, const struct gmc_channel_key *b);

#endif
