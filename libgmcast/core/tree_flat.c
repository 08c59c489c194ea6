/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the shape `flat`: the source feeds everyone itself.
 *
 *   F1  Every gateway is a child of the source.
 *   F2  One that does not hear the source follows U1 and U2 of core/tree_order.h.
 */
#include "core/tree_shapes.h"

static gmc_status flat_up(int32_t *up_rank, size_t n)
{
    for (size_t rank = 1; rank < n; rank++)
        up_rank[rank] = 0; /* F1 */
    return GMC_OK;
}

static gmc_status flat_build(const struct gmc_tree_graph *graph, int32_t *parent, uint32_t *stripes)
{
    *stripes = 1;
    return gmc_tree_build_by_rank(graph, flat_up, parent);
}

const struct gmc_tree_ops gmc_tree_flat = {"flat", flat_build};
