/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the table that finds an entry of a listing by its directory and name, and by it names that
 * are there twice. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "core/listing_impl.h"

/* At most half of the slots are taken. Among a million honest names the longest run of taken slots
 * is then about 70 (5.2 ln n for linear probing); one above 256 is no accident. */
#define RUN_MAX 256

struct gmc_listing_name {
    uint32_t parent;
    uint32_t offset; /* of the name, in the caller's bytes */
    uint32_t hash;
    uint8_t len;
};

void gmc_listing_names_init(struct gmc_listing_names *names)
{
    *names = (struct gmc_listing_names){0};
}

void gmc_listing_names_fini(struct gmc_listing_names *names)
{
    free(names->entries);
    free(names->slots);
    gmc_listing_names_init(names);
}

/* Eight bytes a step, then the finaliser of splitmix64. Not for a hostile caller to be kept from
 * collisions, which RUN_MAX is for. */
static uint32_t hash_of(uint32_t parent, struct gmc_bytes name)
{
    uint64_t h = (uint64_t)parent << 8 | (uint8_t)name.len;

    for (size_t i = 0; i < name.len; i += 8) {
        size_t part = name.len - i < 8 ? name.len - i : 8;
        uint64_t word = 0;

        for (size_t j = 0; j < part; j++)
            word |= (uint64_t)name.data[i + j] << 8 * j;
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(h >> 32);
}

/* The slot of the name, or the free one where it belongs; SIZE_MAX behind too long a run. */
static size_t slot_of(const struct gmc_listing_names *names, const uint8_t *base, uint32_t parent,
                      struct gmc_bytes name, uint32_t hash)
{
    size_t at = hash & (names->slot_count - 1);

    for (size_t run = 0; run < RUN_MAX; run++) {
        uint32_t slot = names->slots[at];
        const struct gmc_listing_name *entry;

        if (slot == 0)
            return at;
        entry = &names->entries[slot - 1];
        if (entry->hash == hash && entry->parent == parent && entry->len == name.len &&
            memcmp(base + entry->offset, name.data, name.len) == 0)
            return at;
        at = (at + 1) & (names->slot_count - 1);
    }
    return SIZE_MAX;
}

/* Entries are apart, so they go to the new slots by hash alone. */
static gmc_status grow_slots(struct gmc_listing_names *names, size_t slot_count)
{
    uint32_t *slots = calloc(slot_count, sizeof(*slots));

    if (slots == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < names->count; i++) {
        size_t at = names->entries[i].hash & (slot_count - 1);

        while (slots[at] != 0)
            at = (at + 1) & (slot_count - 1);
        slots[at] = (uint32_t)(i + 1);
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = slot_count;
    return GMC_OK;
}

gmc_status gmc_listing_names_reserve(struct gmc_listing_names *names, size_t count)
{
    size_t slot_count = names->slot_count > 0 ? names->slot_count : 64;
    struct gmc_listing_name *entries;

    if (count > names->capacity) {
        entries = realloc(names->entries, count * sizeof(*entries));
        if (entries == NULL)
            return GMC_ERR_NOMEM;
        names->entries = entries;
        names->capacity = count;
    }
    while (slot_count / 2 < count)
        slot_count *= 2;
    return slot_count == names->slot_count ? GMC_OK : grow_slots(names, slot_count);
}

uint32_t gmc_listing_names_find(const struct gmc_listing_names *names, const uint8_t *base,
                                uint32_t parent, struct gmc_bytes name)
{
    size_t at;

    if (names->slot_count == 0)
        return UINT32_MAX;
    at = slot_of(names, base, parent, name, hash_of(parent, name));
    return at == SIZE_MAX || names->slots[at] == 0 ? UINT32_MAX : names->slots[at] - 1;
}

gmc_status gmc_listing_names_add(struct gmc_listing_names *names, const uint8_t *base,
                                 uint32_t parent, struct gmc_bytes name)
{
    uint32_t hash = hash_of(parent, name);
    size_t at;

    GMC_ASSERT(name.len <= GMC_LISTING_NAME_MAX);
    if (names->count == names->capacity || names->slot_count / 2 <= names->count) {
        size_t room = names->capacity > 0 ? names->capacity * 2 : 32;
        gmc_status status = gmc_listing_names_reserve(names, room);

        if (status != GMC_OK)
            return status;
    }
    at = slot_of(names, base, parent, name, hash);
    if (at == SIZE_MAX)
        return GMC_ERR_LIMIT;
    if (names->slots[at] != 0)
        return GMC_ERR_EXISTS;
    names->entries[names->count] = (struct gmc_listing_name){
        .parent = parent,
        .offset = (uint32_t)(name.data - base),
        .hash = hash,
        .len = (uint8_t)name.len,
    };
    names->slots[at] = (uint32_t)++names->count;
    return GMC_OK;
}
