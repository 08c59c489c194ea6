/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the shape `binomial`: who has the object keeps handing it on, so that the number of holders
 * doubles with every step.
 *
 *   B1  Places 0..n-1: in step t = 1, 2, ... place x < 2^(t-1) feeds place x + 2^(t-1). So the
 *       parent of a place is its number without the highest bit, its depth is the number of bits
 *       that are set, and the source has place 0.
 *   B2  Gateways take the places in the order of core/tree_order.h, the nearest the highest: by
 *       growing depth, at equal depth by growing number (the lower number feeds more others).
 *   B3  One that does not hear its parent follows U1 and U2 there.
 *
 * Source: the binomial schedule of Oral 2003, chapter 3.
 */
#include <stdlib.h>

#include "core/tree_shapes.h"

static uint32_t bits_set(uint32_t x)
{
    uint32_t count = 0;

    for (; x != 0; x &= x - 1)
        count++;
    return count;
}

static uint32_t without_highest_bit(uint32_t x)
{
    uint32_t bit = 1;

    while (bit <= x / 2)
        bit *= 2;
    return x - bit;
}

static gmc_status binomial_up(int32_t *up_rank, size_t n)
{
    int32_t *rank_of_place = malloc(n * sizeof(*rank_of_place));
    int32_t rank = 0;

    if (rank_of_place == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t depth = 0; (size_t)rank < n; depth++) {
        for (uint32_t place = 0; place < n; place++) {
            if (bits_set(place) != depth)
                continue;
            rank_of_place[place] = rank; /* B2 */
            if (place > 0)
                up_rank[rank] = rank_of_place[without_highest_bit(place)]; /* B1 */
            rank++;
        }
    }
    free(rank_of_place);
    return GMC_OK;
}

static gmc_status binomial_build(const struct gmc_tree_graph *graph, int32_t *parent,
                                 uint32_t *stripes)
{
    *stripes = 1;
    return gmc_tree_build_by_rank(graph, binomial_up, parent);
}

const struct gmc_tree_ops gmc_tree_binomial = {"binomial", binomial_build};
