/* SPDX-License-Identifier: BSD-2-Clause */
/* Fat trees, and clusters of them, as networks of the flit engine.
 *
 * A message climbs j links, the one from its node to the first switch among them, and comes down j.
 * Coming down there is one way; going up any port leads there, and the routing says which is taken.
 *
 * In clusters of trees each node has a queue and a link into ICN1, and another pair into ECN1. A
 * message to another cluster climbs j links of the ECN1 of its cluster, crosses the concentrator,
 * whose buffer has no end, and ICN2 from cluster to cluster, is spread by a dispatcher without a
 * bound of its own, and descends l links of the other ECN1; it is passed on flit by flit. j and l
 * are drawn with the shares of route lengths, as the model has it.
 */
#ifndef INTERCONNECT_FATTREE_NETWORK_H
#define INTERCONNECT_FATTREE_NETWORK_H

#include "interconnect/fattree/javadi.h"
#include "interconnect/wormhole/network.h"

#define IC_FAT_TREE_SIM_NODES_MAX 65536u

enum ic_fat_tree_routing {
    IC_FAT_TREE_ADAPTIVE,    /* any port up that has a free virtual channel */
    IC_FAT_TREE_RANDOM,      /* drawn at the source */
    IC_FAT_TREE_DESTINATION, /* digits of the destination's number */
    IC_FAT_TREE_ROUTINGS
};

extern const char *const ic_fat_tree_routing_names[IC_FAT_TREE_ROUTINGS + 1];

/* Up to 65,536 nodes. INVALID with words, NOMEM. Ends with ic_wh_network_fini. */
GMC_NODISCARD gmc_status ic_fat_tree_network(uint64_t ports, uint64_t levels,
                                             enum ic_fat_tree_routing routing,
                                             struct ic_wh_network *network, char *error);

/* Of the system only ports and kinds are looked at; nodes are numbered cluster by cluster, in the
 * order of kinds. The same. */
GMC_NODISCARD gmc_status ic_multicluster_network(const struct ic_javadi *system,
                                                 enum ic_fat_tree_routing routing,
                                                 struct ic_wh_network *network, char *error);

#endif
