/* SPDX-License-Identifier: BSD-2-Clause */
/* The packet pool; see packet.h. */
#include "sim-wan/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

#define SLAB_PAGES 16u

/* Bytes of data: short ones, with their heads, are two lines and hold datagrams with virtual
 * bodies; then acknowledgements and other control; packets of an ordinary path. Larger ones (jumbo
 * frames) are rare and come from the heap. */
static const uint32_t capacities[SIM_PACKET_SIZES] = {SIM_PACKET_SHORT_BYTES, 192, 1500};

/* Short ones stand in pages, in the order in which they were made, and a page is used again when
 * all of its packets are back. A host sends and takes many in a row: so they are in a few pages of
 * memory, and not in as many as there are packets, each of which the processor has to look up. */
struct sim_packet_page {
    struct sim_packet_page *next; /* of those that are free */
    struct sim_packet_page *slab; /* of a slab's first page: that of the slab before */
    uint32_t used;                /* places given out since it was taken, in order */
    uint32_t live;                /* packets in it */
};

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
        struct sim_packet_page *before = pool->slabs->slab;
        free(pool->slabs);
        pool->slabs = before;
    }
    *pool = (struct sim_packet_pool){0};
}

/* ---- short ones ---- */
#define PLACE_BYTES (2 * SIM_PACKET_LINE_BYTES)
#define PLACES (SIM_PACKET_PAGE_BYTES / PLACE_BYTES - 1) /* one is the page's own */
_Static_assert(sizeof(struct sim_packet_page) <= PLACE_BYTES, "a page's head takes one place");

static struct sim_packet *place(struct sim_packet_page *page, uint32_t i)
{
    return (struct sim_packet *)(void *)((char *)page + (size_t)(i + 1) * PLACE_BYTES);
}

static struct sim_packet_page *page_of(struct sim_packet *packet)
{
    uintptr_t offset = (uintptr_t)packet % SIM_PACKET_PAGE_BYTES;
    return (struct sim_packet_page *)(void *)((char *)packet - offset);
}

static void add_slab(struct sim_packet_pool *pool)
{
    char *slab = sim_alloc_aligned(SIM_PACKET_PAGE_BYTES, SLAB_PAGES * SIM_PACKET_PAGE_BYTES);
    for (size_t i = SLAB_PAGES; i-- > 0;) {
        struct sim_packet_page *page = (void *)(slab + i * SIM_PACKET_PAGE_BYTES);
        *page = (struct sim_packet_page){.next = pool->pages, .slab = i == 0 ? pool->slabs : NULL};
        pool->pages = page;
    }
    pool->slabs = pool->pages;
}

/* All packets of the one in use may be back by now: then it begins anew. */
static void next_page(struct sim_packet_pool *pool)
{
    if (pool->page == NULL || pool->page->live > 0) {
        if (pool->pages == NULL)
            add_slab(pool);
        pool->page = pool->pages;
        pool->pages = pool->page->next;
    }
    pool->page->used = 0;
}

static struct sim_packet *take_short(struct sim_packet_pool *pool)
{
    if (pool->page == NULL || pool->page->used == PLACES)
        next_page(pool);
    struct sim_packet_page *page = pool->page;
    struct sim_packet *packet = place(page, page->used++);
    page->live++;
    if (page->used < PLACES)
        sim_packet_warm(place(page, page->used));
    return packet;
}

static void free_short(struct sim_packet_pool *pool, struct sim_packet *packet)
{
    struct sim_packet_page *page = page_of(packet);
    if (--page->live > 0 || page == pool->page)
        return;
    page->next = pool->pages;
    pool->pages = page;
}

/* ---- all ---- */
static struct sim_packet *take(struct sim_packet_pool *pool, uint32_t size)
{
    if (size == SIM_PACKET_SHORT)
        return take_short(pool);
    struct sim_packet *packet = pool->free[size];
    if (packet == NULL)
        return sim_alloc(offsetof(struct sim_packet, data) + capacities[size]);
    pool->free[size] = packet->next;
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
    } else if (packet->size == SIM_PACKET_SHORT) {
        free_short(pool, packet);
    } else {
        packet->next = pool->free[packet->size];
        pool->free[packet->size] = packet;
    }
}
