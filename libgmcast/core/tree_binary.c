/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the shape `binary`: two children each, so that every uplink carries the object twice and
 * the depth is log2 of the number of gateways.
 *
 *   D1  Places are numbered like a heap: place x has the children 2x+1 and 2x+2, the source has
 *       place 0.
 *   D2  Gateways take the places in the order of core/tree_order.h, the nearest the highest.
 *   D3  One that does not hear its parent follows U1 and U2 there.
 */
#include "core/tree_shapes.h"

static gmc_status binary_up(int32_t *up_rank, size_t n)
{
    for (size_t rank = 1; rank < n; rank++)
        up_rank[rank] = (int32_t)((rank - 1) / 2); /* D1, D2 */
    return GMC_OK;
}

static gmc_status binary_build(const struct gmc_tree_graph *graph, int32_t *parent,
                               uint32_t *stripes)
{
    *stripes = 1;
    return gmc_tree_build_by_rank(graph, binary_up, parent);
}

const struct gmc_tree_ops gmc_tree_binary = {"binary", binary_build};
