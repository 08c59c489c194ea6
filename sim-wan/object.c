/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulated objects; see object.h. */
#include "sim-wan/object.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"

#define CHUNK 4096u

void sim_object_path(char *out, size_t size, uint64_t seed, uint64_t bytes)
{
    snprintf(out, size, "sim:%" PRIu64 ":%" PRIu64, seed, bytes);
}

bool sim_object_parse(const char *path, struct sim_object *object)
{
    uint64_t seed, bytes;
    char again[SIM_OBJECT_PATH_MAX];
    if (sscanf(path, "sim:%" SCNu64 ":%" SCNu64, &seed, &bytes) != 2 || bytes > SIM_OBJECT_MAX)
        return false;
    /* sscanf also takes signs, blanks and what follows: an object has one path only. */
    sim_object_path(again, sizeof(again), seed, bytes);
    if (strcmp(path, again) != 0)
        return false;
    /* As of files of 64 MiB with a path, a mode and times each. */
    uint64_t files = 1 + bytes / (UINT64_C(64) << 20);
    *object = (struct sim_object){.seed = seed,
                                  .total_bytes = bytes,
                                  .file_count = files,
                                  .listing_bytes = 40 + files * 60,
                                  .block_bytes = 65536};
    return true;
}

static uint64_t padded_listing(const struct sim_object *object)
{
    uint64_t block = object->block_bytes;
    return (object->listing_bytes + block - 1) / block * block;
}

uint64_t sim_object_space(const struct sim_object *object)
{
    return padded_listing(object) + object->total_bytes;
}

/* One step of a multiplicative mix per word: cheap, without periods that blocks could share. */
static uint64_t word_at(uint64_t base, uint64_t index)
{
    uint64_t x = base + index * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
}

static uint64_t base_of(const struct sim_object *object)
{
    return word_at(object->seed ^ UINT64_C(0x67636d6361737421), 1);
}

/* Content at any offset and length, with the same bytes on every machine. Whole words are the hot
 * path. */
static void generate(uint64_t base, uint64_t offset, uint8_t *out, size_t len)
{
    uint64_t index = offset / 8;
    size_t skip = offset % 8;
    while (len > 0) {
        uint64_t word = htole64(word_at(base, index++));
        size_t part = 8 - skip < len ? 8 - skip : len;
        memcpy(out, (uint8_t *)&word + skip, part);
        out += part;
        len -= part;
        skip = 0;
        for (; len >= 8; len -= 8, out += 8) {
            word = htole64(word_at(base, index++));
            memcpy(out, &word, 8);
        }
    }
}

void sim_object_fill(const struct sim_object *object, uint64_t offset, uint8_t *out, size_t len)
{
    uint64_t base = base_of(object);
    uint64_t padding_end = padded_listing(object);
    generate(base, offset, out, len);
    if (offset < padding_end && offset + len > object->listing_bytes) {
        uint64_t from = offset > object->listing_bytes ? offset : object->listing_bytes;
        uint64_t to = offset + len < padding_end ? offset + len : padding_end;
        memset(out + (from - offset), 0, (size_t)(to - from));
    }
}

bool sim_object_is(const struct sim_object *object, uint64_t offset, const uint8_t *data,
                   size_t len)
{
    uint8_t expected[CHUNK];
    while (len > 0) {
        size_t part = len < CHUNK ? len : CHUNK;
        sim_object_fill(object, offset, expected, part);
        if (memcmp(expected, data, part) != 0)
            return false;
        offset += part;
        data += part;
        len -= part;
    }
    return true;
}

bool sim_key_equal(const struct gmc_channel_key *a, const struct gmc_channel_key *b)
{
    return a->e == b->e && strcmp(a->source, b->source) == 0;
}

struct sim_object *sim_objects_get(const struct sim_objects *objects,
                                   const struct gmc_channel_key *key)
{
    for (size_t i = 0; i < objects->count; i++)
        if (sim_key_equal(&objects->list[i]->key, key))
            return objects->list[i];
    return NULL;
}

struct sim_object *sim_objects_put(struct sim_objects *objects, const struct sim_object *object)
{
    struct sim_object *entry = sim_objects_get(objects, &object->key);
    if (entry == NULL) {
        objects->list = sim_reserve(objects->list, objects->count, &objects->capacity,
                                    sizeof(struct sim_object *));
        entry = objects->list[objects->count++] = sim_alloc(sizeof(*entry));
    }
    *entry = *object;
    return entry;
}

void sim_objects_fini(struct sim_objects *objects)
{
    for (size_t i = 0; i < objects->count; i++)
        free(objects->list[i]);
    free(objects->list);
    *objects = (struct sim_objects){0};
}
