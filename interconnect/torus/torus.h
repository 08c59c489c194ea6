/* SPDX-License-Identifier: BSD-2-Clause */
/* The k-ary N-dimensional torus of unidirectional rings (SCI): coordinates, rings, ranks and
 * groups.
 *
 * A node is its coordinates x_1 (the column), x_2 (the row), ... x_N, each 1..k as in print. Its
 * number 0..k^N-1 has x_1 - 1 as its highest digit, so numbers in growing order are the dimension
 * order. Rings run in growing direction and wrap from k to 1.
 *
 * Source: Oral 2003, chapters 2 and 4; N dimensions are an extension of ours.
 */
#ifndef INTERCONNECT_TORUS_TORUS_H
#define INTERCONNECT_TORUS_TORUS_H

#include <stdint.h>

#include "base/prng.h"
#include "interconnect/error.h"

#define IC_TORUS_K_MAX 1024u
#define IC_TORUS_DIMENSIONS_MAX 8u
#define IC_TORUS_NODES_MAX 1048576u /* k^N */

struct ic_torus {
    uint32_t k;          /* nodes per ring, at least 2 */
    uint32_t dimensions; /* N */
    uint32_t nodes;      /* k^N */
};

GMC_NODISCARD gmc_status ic_torus_init(struct ic_torus *torus, uint64_t k, uint64_t dimensions,
                                       char *error);

/* x_(dimension + 1) - 1, for dimension 0..N-1. */
uint32_t ic_torus_digit(const struct ic_torus *torus, uint32_t node, uint32_t dimension);
/* The node of N coordinates, each 1..k; INVALID names the one that is not. */
GMC_NODISCARD gmc_status ic_torus_node(const struct ic_torus *torus, const uint32_t *coordinates,
                                       uint32_t *node, char *error);
/* Hops from a to b along the ring of one dimension, 0..k-1. */
uint32_t ic_torus_offset(const struct ic_torus *torus, uint32_t a, uint32_t b, uint32_t dimension);
/* The next node on the ring of one dimension. */
uint32_t ic_torus_next(const struct ic_torus *torus, uint32_t node, uint32_t dimension);
/* Hops of the minimal route. */
uint32_t ic_torus_hops(const struct ic_torus *torus, uint32_t a, uint32_t b);

/* Place on the Hamiltonian cycle of the torus that the ranks of (2-2) number: nodes of consecutive
 * ranks are neighbours. In two dimensions l(u) = [(row + column) mod k] + k*column. In N: digit i
 * is (sum of coordinates j >= i) mod k, the column counting as the highest, and the top digit is
 * the column itself. */
uint32_t ic_torus_rank(const struct ic_torus *torus, uint32_t node);
/* The node after this one on that cycle. */
uint32_t ic_torus_rank_next(const struct ic_torus *torus, uint32_t node);

/* A multicast group: nodes in growing order, the root's position among them. */
struct ic_torus_group {
    const uint32_t *nodes; /* borrowed */
    uint32_t count;        /* G, at least 2 */
    uint32_t root;         /* position */
};

/* INVALID names what is wrong: too few or too many members, one that is no node, twice or out of
 * order, a root that is no position. */
GMC_NODISCARD gmc_status ic_torus_check_group(const struct ic_torus *torus,
                                              const struct ic_torus_group *group, char *error);

/* Draws so many nodes and the root among them, every choice as likely as any other. nodes has room
 * for `size`, 2 to torus->nodes, and stays the caller's. */
void ic_torus_draw_group(const struct ic_torus *torus, uint32_t size, struct gmc_prng *prng,
                         uint32_t *nodes, struct ic_torus_group *group);

#endif
