/* SPDX-License-Identifier: BSD-2-Clause */
/* Hypercubes, whose dimensions are alike to up* / down* routing: from the root, node 0, a node's
 * neighbours are a link nearer or farther. Nodes of as many bits, and their ports of bits that they
 * have or have not, carry the same when traffic is uniform and all shortest ways are taken. */
#ifndef INTERCONNECT_UPDOWN_CUBE_H
#define INTERCONNECT_UPDOWN_CUBE_H

#include "interconnect/updown/pairs.h"

/* Its dimensions when nodes are numbered so that links flip one bit; 0: it is none. */
uint32_t ic_updown_cube_dimensions(const struct ic_updown *updown);
/* Nodes of so many bits. */
double ic_updown_cube_nodes(uint32_t dimensions, uint32_t bits);
/* Of a link: those with the same number are alike. Below 2 (dimensions + 1). */
uint32_t ic_updown_cube_kind(uint32_t from, uint32_t to);
/* What alike nodes have in flows and choices becomes their mean. */
GMC_NODISCARD gmc_status ic_updown_cube_even_out(struct ic_updown_pairs *pairs,
                                                 const struct ic_updown *updown,
                                                 uint32_t dimensions);

#endif
