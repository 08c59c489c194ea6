/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the shape `chain`: every uplink carries the object once.
 *
 *   C1  In the order of core/tree_order.h, every gateway is the child of the one before it.
 *   C2  One that does not hear the one before it follows U1 and U2 there.
 */
#include "core/tree_shapes.h"

static gmc_status chain_up(int32_t *up_rank, size_t n)
{
    for (size_t rank = 1; rank < n; rank++)
        up_rank[rank] = (int32_t)rank - 1; /* C1 */
    return GMC_OK;
}

static gmc_status chain_build(const struct gmc_tree_graph *graph, int32_t *parent,
                              uint32_t *stripes)
{
    *stripes = 1;
    return gmc_tree_build_by_rank(graph, chain_up, parent);
}

const struct gmc_tree_ops gmc_tree_chain = {"chain", chain_build};
