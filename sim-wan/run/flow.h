/* SPDX-License-Identifier: BSD-2-Clause */
/* The greatest flow between two nodes of a network of capacities.
 *
 * Source  max-flow min-cut: Ford and Fulkerson, Canadian J. Math. 8 (1956); the search: Dinic,
 *         Soviet Math. Doklady 11 (1970). */
#ifndef SIM_RUN_FLOW_H
#define SIM_RUN_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_FLOW_UNBOUNDED (UINT64_MAX / 4) /* sums of a few still fit */

/* Arcs come in pairs, 2i and 2i + 1: each is the other's return. */
struct sim_flow {
    uint32_t node_count;
    size_t arc_count, arc_capacity;
    struct sim_flow_arc *arcs;
    uint32_t *first;   /* arcs of node i: by_tail[first[i]] .. by_tail[first[i + 1] - 1] */
    uint32_t *by_tail; /* NULL: not sorted yet */
    uint32_t *level;   /* of a search: arcs from the source; UINT32_MAX: not found */
    uint32_t *next;    /* of node i: the first of its arcs that has not proved to be of no use */
    uint32_t *came_by; /* the arc by which a path comes to a node */
    uint32_t *queue;
};

void sim_flow_init(struct sim_flow *flow, uint32_t nodes);
void sim_flow_fini(struct sim_flow *flow);

/* A pair of arcs, there and back; all of them before the first flow. Returns the first one. */
uint32_t sim_flow_add(struct sim_flow *flow, uint32_t from, uint32_t to, uint64_t there,
                      uint64_t back);
void sim_flow_set(struct sim_flow *flow, uint32_t arc, uint64_t capacity);

/* Not more than `enough` is looked for. */
uint64_t sim_flow_max(struct sim_flow *flow, uint32_t from, uint32_t to, uint64_t enough);
/* Of the last flow, if it was less than enough: whether the node is on the source's side of the
 * least cut. */
bool sim_flow_is_before_cut(const struct sim_flow *flow, uint32_t node);

#endif
