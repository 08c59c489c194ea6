/* SPDX-License-Identifier: BSD-2-Clause */
/* The shape `eco` where not every pair was measured (core/probe_plan.h): the same rules, over the
 * links that are known. */
#ifndef GMC_CORE_TREE_SPARSE_H
#define GMC_CORE_TREE_SPARSE_H

#include "core/tree.h"

struct gmc_tree_link {
    int32_t a, b; /* neither is the source */
    uint64_t latency;
};

struct gmc_tree_sparse {
    size_t n;
    const uint64_t *from_source; /* of each gateway, [0] is not looked at; GMC_LATENCY_UNKNOWN */
    const struct gmc_tree_link *links; /* each pair once or more; the smallest counts */
    size_t link_count;
    const char *const *names; /* breaks ties; NULL: lower index wins */
};

/* Rules E1 to E6 of core/tree_eco.c, where "the cheapest link" is that of those known; who does not
 * hear the source comes last, by name. Writes parent[0] = -1 and an index for every other gateway.
 * NOMEM, INVALID (n == 0, an index out of range). Time n + links. */
GMC_NODISCARD gmc_status gmc_tree_eco_sparse(const struct gmc_tree_sparse *graph, int32_t *parent);

#endif
