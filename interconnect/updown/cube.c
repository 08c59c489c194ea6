/* SPDX-License-Identifier: BSD-2-Clause */
/* Means over what is alike. */
#include "interconnect/updown/cube.h"

#include <stdlib.h>

/* What a port is to its node: a bit that it has not, or has; or the node itself. */
enum { CLEAR, SET, OWN, SIDES };

uint32_t ic_updown_cube_dimensions(const struct ic_updown *updown)
{
    uint32_t dimensions = (uint32_t)__builtin_ctz(updown->nodes);
    if (updown->nodes != 1u << dimensions || updown->rank[0] != 0)
        return 0;
    for (uint32_t at = 0; at < updown->nodes; at++) {
        uint32_t flipped = 0;
        for (uint32_t p = updown->first[at]; p < updown->first[at + 1]; p++) {
            uint32_t bit = at ^ updown->ends[p];
            if ((bit & (bit - 1)) != 0)
                return 0;
            flipped |= bit;
        }
        if (flipped != updown->nodes - 1)
            return 0;
    }
    return dimensions;
}

double ic_updown_cube_nodes(uint32_t dimensions, uint32_t bits)
{
    double nodes = 1;
    for (uint32_t i = 0; i < bits; i++)
        nodes = nodes * (dimensions - i) / (i + 1);
    return nodes;
}

static uint32_t bits_of(uint32_t node)
{
    return (uint32_t)__builtin_popcount(node);
}

uint32_t ic_updown_cube_kind(uint32_t from, uint32_t to)
{
    return 2 * bits_of(from) + (to > from);
}

/* The last port is the node itself. */
static uint32_t side_of(const struct ic_updown *updown, uint32_t at, uint32_t port)
{
    uint32_t p = updown->first[at] + port;
    if (p == updown->first[at + 1])
        return OWN;
    return updown->ends[p] < at ? SET : CLEAR;
}

/* Of two ports, which are the same one or not. */
static uint32_t flow_kind(const struct ic_updown *updown, uint32_t at, uint32_t in, uint32_t out)
{
    uint32_t sides = side_of(updown, at, in) * SIDES + side_of(updown, at, out);
    return (bits_of(at) * SIDES * SIDES + sides) * 2 + (in == out);
}

/* Of a number of ports to choose from, less one, and one of these. */
static uint32_t choice_kind(const struct ic_updown *updown, uint32_t at, uint32_t count,
                            uint32_t out)
{
    uint32_t width = updown->first[at + 1] - updown->first[at] + 1;
    return (bits_of(at) * width + count) * SIDES + side_of(updown, at, out);
}

struct mean {
    double sum, count;
};

typedef uint32_t kind_fn(const struct ic_updown *updown, uint32_t at, uint32_t row,
                         uint32_t column);

static void even_out(const struct ic_updown *updown, uint32_t width, kind_fn *kind,
                     struct mean *means, double *squares)
{
    size_t place = 0;
    for (uint32_t at = 0; at < updown->nodes; at++)
        for (uint32_t row = 0; row < width; row++)
            for (uint32_t column = 0; column < width; column++) {
                struct mean *mean = &means[kind(updown, at, row, column)];
                mean->sum += squares[place++];
                mean->count++;
            }
    place = 0;
    for (uint32_t at = 0; at < updown->nodes; at++)
        for (uint32_t row = 0; row < width; row++)
            for (uint32_t column = 0; column < width; column++) {
                const struct mean *mean = &means[kind(updown, at, row, column)];
                squares[place++] = mean->sum / mean->count;
            }
}

gmc_status ic_updown_cube_even_out(struct ic_updown_pairs *pairs, const struct ic_updown *updown,
                                   uint32_t dimensions)
{
    uint32_t width = dimensions + 1;
    struct mean *flows = calloc((size_t)width * SIDES * SIDES * 2, sizeof(*flows));
    struct mean *choices = calloc((size_t)width * width * SIDES, sizeof(*choices));
    bool is_there = flows != NULL && choices != NULL;
    if (is_there) {
        even_out(updown, width, flow_kind, flows, pairs->flows);
        even_out(updown, width, choice_kind, choices, pairs->choices);
    }
    free(flows);
    free(choices);
    return is_there ? GMC_OK : GMC_ERR_NOMEM;
}
