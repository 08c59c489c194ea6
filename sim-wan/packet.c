/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet pool; see packet.h. */
#include "sim-wan/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

#define SLAB_PACKETS 512u

/* Bytes of data: short ones, with their heads, are two lines and hold datagrams with virtual
 * bodies; then acknowledgements and other control; packets of an ordinary path. Larger ones (jumbo
 * frames) are rare and come from the heap. */
static const uint32_t capacities[SIM_PACKET_SIZES] = {SIM_PACKET_SHORT_BYTES, 192, 1500};

void sim_packet_pool_init(struct sim_packet_pool *pool)
{
    *pool = (struct sim_packet_pool){0};
}

void sim_packet_pool_fini(struct sim_packet_pool *pool)
{
    GMC_ASSERT(pool->live == 0);
    for (uint32_t size = SIM_PACKET_SHORT + 1; size < SIM_PACKET_SIZES; size++)
        while (pool->free[size] != NULL) {
            struct sim_packet *next = pool->free[size]->next;
            free(pool->free[size]);
            pool->free[size] = next;
        }
    while (pool->slabs != NULL) {
        void *before = *(void **)pool->slabs;
        free(pool->slabs);
        pool->slabs = before;
    }
    *pool = (struct sim_packet_pool){0};
}

/* Packets of whole lines; what each slab begins with takes the place of one. */
static void add_slab(struct sim_packet_pool *pool)
{
    size_t bytes = 2 * SIM_PACKET_LINE_BYTES;
    char *slab = sim_alloc_lines(SLAB_PACKETS * bytes);
    *(void **)(void *)slab = pool->slabs;
    pool->slabs = slab;
    for (size_t i = SLAB_PACKETS - 1; i > 0; i--) {
        struct sim_packet *packet = (struct sim_packet *)(void *)(slab + i * bytes);
        packet->next = pool->free[SIM_PACKET_SHORT];
        pool->free[SIM_PACKET_SHORT] = packet;
    }
}

static struct sim_packet *take(struct sim_packet_pool *pool, uint32_t size)
{
    if (size == SIM_PACKET_SHORT && pool->free[size] == NULL)
        add_slab(pool);
    struct sim_packet *packet = pool->free[size];
    if (packet == NULL)
        return sim_alloc(offsetof(struct sim_packet, data) + capacities[size]);
    pool->free[size] = packet->next;
    sim_packet_warm(packet->next); /* the one after this */
    return packet;
}

struct sim_packet *sim_packet_new(struct sim_packet_pool *pool, size_t len)
{
    uint32_t size = SIM_PACKET_SHORT;
    while (size < SIM_PACKET_SIZES && len > capacities[size])
        size++;
    struct sim_packet *packet = size < SIM_PACKET_SIZES
                                    ? take(pool, size)
                                    : sim_alloc(offsetof(struct sim_packet, data) + len);
    memset(packet, 0, offsetof(struct sim_packet, data) + sizeof(struct sim_segment));
    packet->len = (uint32_t)len;
    packet->size = (uint8_t)size;
    pool->live++;
    return packet;
}

struct sim_packet *sim_packet_copy(struct sim_packet_pool *pool, const struct sim_packet *packet)
{
    struct sim_packet *copy = sim_packet_new(pool, packet->len);
    size_t data =
        packet->len > sizeof(struct sim_segment) ? packet->len : sizeof(struct sim_segment);
    uint8_t size = copy->size;
    memcpy(copy, packet, offsetof(struct sim_packet, data) + data);
    copy->size = size;
    copy->next = NULL;
    return copy;
}

void sim_packet_free(struct sim_packet_pool *pool, struct sim_packet *packet)
{
    GMC_ASSERT(pool->live > 0);
    pool->live--;
    if (packet->size == SIM_PACKET_SIZES) {
        free(packet);
        return;
    }
    packet->next = pool->free[packet->size];
    pool->free[packet->size] = packet;
}
