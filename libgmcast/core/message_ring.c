/* SPDX-License-Identifier: BSD-2-Clause */
/* The last packets of a message channel: a ring of bytes, and a table of what stands where. */
#include "core/message_ring.h"

#include <stdlib.h>

#define MASK (GMC_MESSAGE_RING_PACKETS - 1)

struct gmc_message_entry {
    uint64_t number;
    size_t at; /* of the seal tag; the body stands behind it */
    uint32_t len;
};

void gmc_message_ring_init(struct gmc_message_ring *ring, size_t capacity)
{
    *ring = (struct gmc_message_ring){.capacity = capacity};
}

void gmc_message_ring_fini(struct gmc_message_ring *ring)
{
    free(ring->bytes);
    free(ring->entries);
    free(ring->places);
    gmc_message_ring_init(ring, ring->capacity);
}

static gmc_status allocate(struct gmc_message_ring *ring)
{
    if (ring->bytes == NULL)
        ring->bytes = malloc(ring->capacity);
    if (ring->entries == NULL)
        ring->entries = calloc(GMC_MESSAGE_RING_PACKETS, sizeof(*ring->entries));
    if (ring->places == NULL)
        ring->places = calloc(GMC_MESSAGE_RING_PACKETS, sizeof(*ring->places));
    return ring->bytes != NULL && ring->entries != NULL && ring->places != NULL ? GMC_OK
                                                                                : GMC_ERR_NOMEM;
}

static const struct gmc_message_entry *find(const struct gmc_message_ring *ring, uint64_t number)
{
    uint32_t place = ring->places != NULL ? ring->places[number & MASK] : 0;
    if (place == 0 || ring->entries[place - 1].number != number)
        return NULL;
    return &ring->entries[place - 1];
}

static void drop_oldest(struct gmc_message_ring *ring)
{
    const struct gmc_message_entry *entry = &ring->entries[ring->first];
    if (find(ring, entry->number) == entry) {
        ring->places[entry->number & MASK] = 0;
        if (ring->low <= entry->number)
            ring->low = entry->number + 1;
    }
    ring->first = (ring->first + 1) & MASK;
    ring->count--;
}

/* Where so many bytes stand in one piece, without driving anything out. */
static bool find_space(const struct gmc_message_ring *ring, size_t space, size_t *at)
{
    size_t tail = ring->count > 0 ? ring->entries[ring->first].at : 0;
    if (ring->count == 0 || (ring->head > tail && ring->capacity - ring->head < space)) {
        *at = 0;
        return space <= (ring->count == 0 ? ring->capacity : tail);
    }
    *at = ring->head;
    return ring->head > tail || tail - ring->head >= space;
}

gmc_status gmc_message_ring_put(struct gmc_message_ring *ring, uint64_t number, uint32_t len,
                                struct gmc_message_packet *packet)
{
    size_t space = (size_t)len + GMC_SEAL_TAG_BYTES, at = 0;
    if (space > ring->capacity)
        return GMC_ERR_LIMIT;
    gmc_status status = allocate(ring);
    if (status != GMC_OK)
        return status;
    if (number < ring->low || find(ring, number) != NULL)
        return GMC_ERR_EXISTS;
    while (ring->count == GMC_MESSAGE_RING_PACKETS || !find_space(ring, space, &at))
        drop_oldest(ring);
    if (number < ring->low)
        return GMC_ERR_EXISTS; /* those that made room were newer */
    uint32_t index = (ring->first + ring->count) & MASK;
    ring->entries[index] = (struct gmc_message_entry){number, at, len};
    ring->places[number & MASK] = index + 1;
    ring->count++;
    ring->head = at + space;
    *packet =
        (struct gmc_message_packet){ring->bytes + at + GMC_SEAL_TAG_BYTES, len, ring->bytes + at};
    return GMC_OK;
}

void gmc_message_ring_take_back(struct gmc_message_ring *ring)
{
    const struct gmc_message_entry *entry = &ring->entries[(ring->first + --ring->count) & MASK];
    ring->places[entry->number & MASK] = 0;
    ring->head = entry->at;
}

/* Its bytes stay until they are the oldest. */
void gmc_message_ring_forget(struct gmc_message_ring *ring, uint64_t number)
{
    if (find(ring, number) != NULL)
        ring->places[number & MASK] = 0;
}

bool gmc_message_ring_get(const struct gmc_message_ring *ring, uint64_t number,
                          struct gmc_message_packet *packet)
{
    const struct gmc_message_entry *entry = find(ring, number);
    if (entry == NULL)
        return false;
    uint8_t *tag = ring->bytes + entry->at;
    *packet = (struct gmc_message_packet){tag + GMC_SEAL_TAG_BYTES, entry->len, tag};
    return true;
}

uint64_t gmc_message_ring_nth(const struct gmc_message_ring *ring, uint32_t i)
{
    const struct gmc_message_entry *entry = &ring->entries[(ring->first + i) & MASK];
    return find(ring, entry->number) == entry ? entry->number : UINT64_MAX;
}

/* In one piece: the packets then stand behind each other in it. */
bool gmc_message_ring_make_room(struct gmc_message_ring *ring, uint64_t keep, size_t packets,
                                size_t bytes)
{
    size_t space = bytes + packets * GMC_SEAL_TAG_BYTES, at;
    if (space > ring->capacity / 2 || packets > GMC_MESSAGE_RING_PACKETS / 2)
        return false;
    while (ring->count + packets > GMC_MESSAGE_RING_PACKETS || !find_space(ring, space, &at)) {
        if (ring->count == 0 || ring->entries[ring->first].number >= keep)
            return false;
        drop_oldest(ring);
    }
    return true;
}
