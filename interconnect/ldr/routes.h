/* SPDX-License-Identifier: BSD-2-Clause */
/* Which ports of a switch are on shortest ways to a host's switch, for all switches, as bit masks;
 * and the choice among them.
 *
 *   fixed      the lowest port (on a hypercube the lowest bit that differs)
 *   oblivious  a random one
 *   adaptive   the one with the least backlog
 */
#ifndef INTERCONNECT_LDR_ROUTES_H
#define INTERCONNECT_LDR_ROUTES_H

#include "interconnect/ldr/network.h"

enum ic_packet_routing { IC_FIXED, IC_OBLIVIOUS, IC_ADAPTIVE, IC_PACKET_ROUTINGS };

struct ic_routes {
    const struct ic_network *network;
    uint32_t leaves;  /* switches with hosts */
    uint32_t *leaf;   /* of a switch: its number among those; IC_GRAPH_NONE */
    uint32_t width;   /* bytes of a mask: 1, 2, 4 or 8 */
    uint8_t *masks;   /* by leaf, then by switch */
    double mean_hops; /* between switches, over pairs of different hosts */
    uint32_t diameter;
};

#define IC_ROUTES_BYTES_MAX 2147483648u

/* What tables take of so many switches, switches with hosts among them, and at most so many ports
 * of a switch. */
uint64_t ic_routes_bytes(uint64_t switches, uint64_t leaves, uint64_t ports);
/* INVALID with words: more than BYTES_MAX. */
GMC_NODISCARD gmc_status ic_routes_check(uint64_t switches, uint64_t leaves, uint64_t ports,
                                         char *error);
/* Borrows the network. INVALID: the tables would take more than 2 GB. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_routes_init(struct ic_routes *routes, const struct ic_network *network,
                                        char *error);
void ic_routes_fini(struct ic_routes *routes);

/* What the table says of the switch `to`, which has hosts: the place of switch 0; others follow. */
static inline size_t ic_routes_row(const struct ic_routes *routes, uint32_t to)
{
    return (size_t)routes->leaf[to] * routes->network->switches;
}

/* Where it says which ports of `at` lead there. */
static inline const void *ic_routes_place(const struct ic_routes *routes, size_t row, uint32_t at)
{
    return routes->masks + (row + at) * routes->width;
}

/* The ports; none where it is there. */
static inline uint64_t ic_routes_at(const struct ic_routes *routes, const void *place)
{
    switch (routes->width) {
    case 1:
        return *(const uint8_t *)place;
    case 2:
        return *(const uint16_t *)place;
    case 4:
        return *(const uint32_t *)place;
    default:
        return *(const uint64_t *)place;
    }
}

static inline uint64_t ic_routes_ports(const struct ic_routes *routes, uint32_t at, uint32_t to)
{
    return ic_routes_at(routes, ic_routes_place(routes, ic_routes_row(routes, to), at));
}

#endif
