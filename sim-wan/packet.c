/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet pool; see packet.h. */
#include "sim-wan/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

/* Acknowledgements and other short packets; packets of an ordinary path. Larger ones (jumbo
 * frames) are rare and come from the heap. */
#define SMALL_BYTES 192u
#define FULL_BYTES 1500u

void sim_packet_pool_init(struct sim_packet_pool *pool)
{
    *pool = (struct sim_packet_pool){0};
}

static void free_list(struct sim_packet *packet)
{
    while (packet != NULL) {
        struct sim_packet *next = packet->next;
        free(packet);
        packet = next;
    }
}

void sim_packet_pool_fini(struct sim_packet_pool *pool)
{
    GMC_ASSERT(pool->live == 0);
    free_list(pool->free_small);
    free_list(pool->free_full);
    *pool = (struct sim_packet_pool){0};
}

static struct sim_packet **list_of(struct sim_packet_pool *pool, size_t capacity)
{
    if (capacity == SMALL_BYTES)
        return &pool->free_small;
    return capacity == FULL_BYTES ? &pool->free_full : NULL;
}

struct sim_packet *sim_packet_new(struct sim_packet_pool *pool, size_t len)
{
    size_t capacity = len <= SMALL_BYTES ? SMALL_BYTES : len <= FULL_BYTES ? FULL_BYTES : len;
    struct sim_packet **list = list_of(pool, capacity);
    struct sim_packet *packet = list != NULL ? *list : NULL;
    if (packet != NULL)
        *list = packet->next;
    else
        packet = sim_alloc(sizeof(*packet) + capacity);
    *packet = (struct sim_packet){.len = (uint32_t)len, .capacity = (uint32_t)capacity};
    /* list_of gives NULL for a large one, not for no pool. NOLINTNEXTLINE(clang-analyzer-core.*) */
    pool->live++;
    return packet;
}

struct sim_packet *sim_packet_copy(struct sim_packet_pool *pool, const struct sim_packet *packet)
{
    struct sim_packet *copy = sim_packet_new(pool, packet->len);
    uint32_t capacity = copy->capacity;
    memcpy(copy, packet, sizeof(*copy) + packet->len);
    copy->capacity = capacity;
    copy->next = copy->prev = NULL;
    return copy;
}

void sim_packet_free(struct sim_packet_pool *pool, struct sim_packet *packet)
{
    struct sim_packet **list = list_of(pool, packet->capacity);
    GMC_ASSERT(pool->live > 0);
    pool->live--;
    if (list == NULL) {
        free(packet);
        return;
    }
    packet->next = *list;
    *list = packet;
}
