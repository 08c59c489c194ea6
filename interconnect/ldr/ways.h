/* SPDX-License-Identifier: BSD-2-Clause */
/* Distances of all switches to those with hosts, 64 of these at once: breadth-first search with a
 * bit for each. Tables of all pairs, as of routes.h, are not needed, so networks may be larger. */
#ifndef INTERCONNECT_LDR_WAYS_H
#define INTERCONNECT_LDR_WAYS_H

#include "interconnect/ldr/network.h"

#define IC_WAYS_ABREAST 64u

/* Of the destinations of a block, which have as many hosts each. */
struct ic_ways_layers {
    uint32_t hosts;
    uint32_t depth;
    uint32_t farthest; /* hops between hosts */
    double distances;  /* sum of them over pairs of hosts */
    uint64_t all;      /* bits of destinations */
    uint64_t *words;   /* by hops 0..depth - 1, then by switch: destinations that are so far */
};

struct ic_ways {
    const struct ic_network *network;
    uint32_t *destinations; /* switches with hosts, by number of these */
    uint32_t *numbers;      /* by switch, its place among those; IC_GRAPH_NONE */
    uint32_t *first;        /* by block: its first destination; blocks + 1 */
    uint32_t count, blocks;
    uint32_t *hosts_at;          /* by switch */
    uint32_t *back;              /* of a channel: the one in the other direction */
    uint64_t *reached;           /* by switch, while it is searched */
    struct ic_ways_layers *kept; /* by block; the first stands for all where they are too large */
    uint32_t room;               /* layers that there is memory for, where one stands for all */
    bool is_kept;
};

/* Borrows the network. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_ways_init(struct ic_ways *ways, const struct ic_network *network);
void ic_ways_fini(struct ic_ways *ways);
/* Stays until the next call where not all are kept. INVALID with words: not connected. NOMEM. */
GMC_NODISCARD gmc_status ic_ways_find(struct ic_ways *ways, uint32_t block,
                                      const struct ic_ways_layers **layers, char *error);
/* About, once all are kept. */
size_t ic_ways_bytes(const struct ic_ways *ways);

#endif
