/* SPDX-License-Identifier: BSD-2-Clause */
/* The n-cube as a network of the flit engine. A message crosses the injection channel of its node,
 * one channel per dimension in which source and destination differ, and the ejection channel. */
#ifndef INTERCONNECT_HYPERCUBE_NETWORK_H
#define INTERCONNECT_HYPERCUBE_NETWORK_H

#include "interconnect/error.h"
#include "interconnect/wormhole/network.h"

#define IC_HYPERCUBE_N_MAX 16u

enum ic_hypercube_routing {
    IC_HYPERCUBE_PCUBE, /* any bit to clear, then any bit to set */
    IC_HYPERCUBE_ECUBE, /* lowest dimension first */
    IC_HYPERCUBE_ROUTINGS
};

extern const char *const ic_hypercube_routing_names[IC_HYPERCUBE_ROUTINGS + 1];

/* n 1..16. Without ejection channels any number of messages can arrive at a node at the same time;
 * the last channel is then the last link, and a message takes one cycle less. INVALID with words,
 * NOMEM. Ends with ic_wh_network_fini. */
GMC_NODISCARD gmc_status ic_hypercube_network(uint64_t n, enum ic_hypercube_routing routing,
                                              bool has_ejection, struct ic_wh_network *network,
                                              char *error);

#endif
