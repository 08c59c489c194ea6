/* SPDX-License-Identifier: BSD-2-Clause */
/* A regular graph that a rotation maps onto itself, as orbits of links.
 *
 * Node (row, position) has the number row * order + position; positions count modulo order, which
 * is the rotation. An orbit of links joins (a, i) with (b, i + shift) for every i. Of an orbit
 * within one row, shift = order / 2 gives each node one link, every other shift two. Order 1 is any
 * regular graph.
 *
 * Two orbits are swapped as two links are: (a, i)-(b, i + s) and (c, i + t)-(e, i + t + u) become
 * (a, i)-(e, i + t + u) and (c, i + t)-(b, i + s), for all i at once. Degrees stay what they are.
 */
#ifndef INTERCONNECT_LDR_LIFT_H
#define INTERCONNECT_LDR_LIFT_H

#include "base/prng.h"
#include "interconnect/graph/graph.h"
#include "interconnect/graph/reach.h"

struct ic_lift_orbit {
    uint32_t a, b;
    uint32_t shift;
};

struct ic_lift {
    uint32_t rows, order, degree;
    struct ic_lift_orbit *orbits;
    uint32_t count;
    /* The same as arcs; `degree` into each row. */
    uint32_t *first, *from;
    uint8_t *shift;
};

/* Random, simple, not always connected. Nodes and degree as ic_ldr_check wants them, order 1 to 64
 * and a divisor of nodes; INVALID names what is not so, or says that nothing was found. NOMEM. Ends
 * with fini. */
GMC_NODISCARD gmc_status ic_lift_random(struct ic_lift *lift, uint64_t nodes, uint64_t degree,
                                        uint64_t order, struct gmc_prng *prng, char *error);
/* A regular graph as it is, of order 1. INVALID, NOMEM. */
GMC_NODISCARD gmc_status ic_lift_of_graph(struct ic_lift *lift, const struct ic_graph *graph,
                                          char *error);
void ic_lift_fini(struct ic_lift *lift);

/* The graph with all its nodes. NOMEM. */
GMC_NODISCARD gmc_status ic_lift_graph(const struct ic_lift *lift, struct ic_graph *graph,
                                       char *error);
static inline struct ic_reach_arcs ic_lift_arcs(const struct ic_lift *lift)
{
    return (struct ic_reach_arcs){lift->first, lift->from, lift->shift};
}

/* What a swap replaced: to undo it. */
struct ic_lift_swap {
    uint32_t at[2];
    uint32_t count; /* orbits, 1 or 2 */
    struct ic_lift_orbit old[2];
};

/* Swaps two random orbits, or shifts one anew. False when what came out would not be simple: then
 * nothing has changed. */
bool ic_lift_swap(struct ic_lift *lift, struct gmc_prng *prng, struct ic_lift_swap *swap);
void ic_lift_undo(struct ic_lift *lift, const struct ic_lift_swap *swap);

#endif
