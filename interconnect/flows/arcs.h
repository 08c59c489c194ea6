/* SPDX-License-Identifier: BSD-2-Clause */
/* What messages can be at, one after the other: a graph with a direction to each arc. */
#ifndef INTERCONNECT_FLOWS_ARCS_H
#define INTERCONNECT_FLOWS_ARCS_H

#include <stddef.h>
#include <stdint.h>

#define IC_ARCS_OUT_MAX 64u
#define IC_ARCS_IN_MAX 128u

/* Somebody else's. Outputs of vertex v are first[v] to first[v + 1] - 1, inputs as well. */
struct ic_arcs {
    uint32_t vertices;
    const uint32_t *first, *to;         /* of outputs; by output, the vertex where it ends */
    const uint32_t *input;              /* by output: the same arc as input there */
    const uint32_t *first_input, *from; /* of inputs; by input, the vertex where it begins */
    const uint32_t *output;             /* by input: the same arc as output there */
};

static inline uint32_t ic_arcs_out(const struct ic_arcs *arcs, uint32_t vertex)
{
    return arcs->first[vertex + 1] - arcs->first[vertex];
}

static inline uint32_t ic_arcs_in(const struct ic_arcs *arcs, uint32_t vertex)
{
    return arcs->first_input[vertex + 1] - arcs->first_input[vertex];
}

#endif
