/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring of packets on their way; see way.h. */
#include "sim-wan/way.h"

#include <stdlib.h>

#include "sim-wan/mem.h"

void sim_way_fini(struct sim_way *way)
{
    free(way->ring);
    *way = (struct sim_way){0};
}

static void grow(struct sim_way *way)
{
    struct sim_way larger = {.count = way->count,
                             .capacity = way->capacity > 0 ? 2 * way->capacity : 4,
                             .latest = way->latest};
    larger.ring = sim_alloc(larger.capacity * sizeof(struct sim_packet *));
    for (uint32_t i = 0; i < way->count; i++)
        larger.ring[i] = *sim_way_place(way, i);
    free(way->ring);
    *way = larger;
}

void sim_way_insert(struct sim_way *way, struct sim_packet *packet)
{
    if (way->count == way->capacity)
        grow(way);
    uint32_t i = way->count++;
    if (packet->arrival < way->latest)
        for (; i > 0 && (*sim_way_place(way, i - 1))->arrival > packet->arrival; i--)
            *sim_way_place(way, i) = *sim_way_place(way, i - 1);
    *sim_way_place(way, i) = packet;
    way->latest = gmc_time_max(way->latest, packet->arrival);
}
