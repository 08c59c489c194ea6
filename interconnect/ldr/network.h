/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks of switches to which hosts are attached: direct networks (each switch has one host), fat
 * trees, and hybrids of both.
 *
 *   hybrid   T hosts in T/D components of D, each component a direct network; D fat trees join the
 *            switches of equal position in all components
 *
 * Source: Mehta 2005, chapter 5; the fat tree is the m-port n-tree (Lin, Chung, Huang 2004).
 */
#ifndef INTERCONNECT_LDR_NETWORK_H
#define INTERCONNECT_LDR_NETWORK_H

#include "interconnect/graph/graph.h"

#define IC_NETWORK_PORTS_MAX 64u /* from one switch to others */

/* Channel c = first[s] + p leads from port p of switch s to switch to[c]. */
struct ic_network {
    uint32_t switches, hosts;
    bool is_hypercube;  /* port p flips bit p, and each switch has a host */
    uint32_t *attached; /* the switch of each host */
    uint32_t *first;    /* switches + 1 */
    uint32_t *to;
    uint32_t *from; /* switch of each channel */
};

static inline uint32_t ic_network_channels(const struct ic_network *network)
{
    return network->first[network->switches];
}

/* A host at every node of a connected graph; ports in the order of neighbours. INVALID: more than
 * PORTS_MAX ports, not connected. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_network_direct(struct ic_network *network, const struct ic_graph *graph,
                                           char *error);
/* Port p of a hypercube flips bit p. */
GMC_NODISCARD gmc_status ic_network_hypercube(struct ic_network *network, uint64_t dimensions,
                                              char *error);
/* The m-port n-tree with 2 (m/2)^n hosts, of which the first `hosts` are there. */
GMC_NODISCARD gmc_status ic_network_fat_tree(struct ic_network *network, uint64_t ports,
                                             uint64_t levels, uint64_t hosts, char *error);
/* `parts` copies of a component, joined by fat trees of switches of `ports` ports, of as few levels
 * as will do. */
GMC_NODISCARD gmc_status ic_network_hybrid(struct ic_network *network,
                                           const struct ic_graph *component, uint64_t parts,
                                           uint64_t ports, char *error);
void ic_network_fini(struct ic_network *network);

/* Hops from one switch to all (and back: links have two directions), and the switches in the order
 * of their hops. Arrays of `switches`. How many are reached. */
uint32_t ic_network_search(const struct ic_network *network, uint32_t from, uint32_t *hops,
                           uint32_t *order);

#endif
