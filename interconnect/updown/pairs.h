/* SPDX-License-Identifier: BSD-2-Clause */
/* What one message per node and cycle puts between the inputs and outputs of every node, by legal
 * ways: split evenly over the ports that may be taken (adaptive), or by the lowest. */
#ifndef INTERCONNECT_UPDOWN_PAIRS_H
#define INTERCONNECT_UPDOWN_PAIRS_H

#include "interconnect/traffic.h"
#include "interconnect/updown/network.h"

/* Inputs and outputs are the ports of a node, then the node itself. */
struct ic_updown_pairs {
    uint32_t *reverse; /* by port: that of the other end */
    size_t *square;    /* by node: where its flows from inputs to outputs begin */
    size_t squares;    /* all of them */
    double *flows;     /* (ports + 1)^2 for each node */
    double *choices; /* the same flows, by how many ports could be taken, less one, and by output */
    double distance; /* mean of links, over pairs of different nodes */
    uint32_t longest; /* links */
    uint32_t cube;    /* dimensions of a hypercube in which links are alike (cube.h); 0: none */
};

/* The traffic's hosts are the nodes. Masks of ports are not looked at. NOMEM. Ends with fini,
 * whatever it gave. */
GMC_NODISCARD gmc_status ic_updown_pairs_init(struct ic_updown_pairs *pairs,
                                              const struct ic_updown *updown,
                                              const struct ic_traffic *traffic);
void ic_updown_pairs_fini(struct ic_updown_pairs *pairs);

#endif
