/* SPDX-License-Identifier: BSD-2-Clause */
/* Breadth-first search from many nodes at once, one bit per pair, in a graph that a rotation maps
 * onto itself.
 *
 * Nodes are (row, position): `rows` orbits of `order` positions that the rotation counts up. An
 * arc (from, shift) into a row joins (from, i) with (row, i + shift mod order) for every i. So one
 * search per row says everything, and order 1 is any graph. The bits of a row are fields of `order`
 * bits, one per source row: bit i of field j of row v says that (v, i) is reached from (j, 0). One
 * more hop is, for each arc, a rotation of all fields and an "or".
 */
#ifndef INTERCONNECT_GRAPH_REACH_H
#define INTERCONNECT_GRAPH_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define IC_REACH_ORDER_MAX 64u
#define IC_REACH_WORDS_MAX 8u

/* Arcs into row v are first[v] to first[v + 1]; shifts may be NULL where the order is 1. Every arc
 * has its reverse. Borrowed. */
struct ic_reach_arcs {
    const uint32_t *first;
    const uint32_t *from;
    const uint8_t *shift;
};

struct ic_reach {
    uint32_t rows, order;
    uint32_t fields; /* sources per word */
    uint32_t words;  /* of a row: 1, 2, 4 or 8; fields * words sources are searched from at once */
    uint64_t *now, *next;
    uint64_t above[IC_REACH_ORDER_MAX], below[IC_REACH_ORDER_MAX]; /* by shift: bits of a field */
};

/* rows, order >= 1, order <= ORDER_MAX. NOMEM. */
GMC_NODISCARD gmc_status ic_reach_init(struct ic_reach *reach, uint32_t rows, uint32_t order);
void ic_reach_fini(struct ic_reach *reach);

struct ic_reach_sum {
    uint64_t distances; /* over all ordered pairs whose source is (row, 0) */
    uint32_t diameter;
    bool is_complete; /* false: not connected, or given up */
};

/* From all rows. Gives up once it is certain that distances > limit, or when not all is reached
 * within levels_max hops. */
struct ic_reach_sum ic_reach_run(struct ic_reach *reach, const struct ic_reach_arcs *arcs,
                                 uint64_t limit, uint32_t levels_max);

#endif
