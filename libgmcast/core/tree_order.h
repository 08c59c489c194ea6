/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tree shapes share: distances, ties, the order in which gateways join, and building a
 * tree whose shape is a rule on that order alone. Private to tree*.c.
 *
 * The order:
 *   O1  The source comes first.
 *   O2  Then every gateway that hears the source, by growing latency from it.
 *   O3  Then the others, next the one with the cheapest link to a gateway that is in the order
 *       already; when none of them hears any such gateway, the first by O4.
 *   O4  Ties go by name (byte order), without names by index.
 */
#ifndef GMC_CORE_TREE_ORDER_H
#define GMC_CORE_TREE_ORDER_H

#include <stdbool.h>

#include "core/tree.h"

/* The smaller of the two directions; GMC_LATENCY_UNKNOWN is larger than all. */
static inline uint64_t gmc_tree_latency(const struct gmc_tree_graph *graph, int32_t a, int32_t b)
{
    if (graph->latency == NULL)
        return a == 0 || b == 0 ? graph->from_source[a + b] : 0;
    uint64_t forth = graph->latency[(size_t)a * graph->n + (size_t)b];
    uint64_t back = graph->latency[(size_t)b * graph->n + (size_t)a];

    return forth < back ? forth : back;
}

/* Whether a wins over b where both stand equal (O4). A strict order. */
bool gmc_tree_wins_tie(const struct gmc_tree_graph *graph, int32_t a, int32_t b);

/* Fills order[n] with indexes. NOMEM, INVALID (n == 0 or too many). Time n log n, and n^2 when some
 * do not hear the source; memory n. */
GMC_NODISCARD gmc_status gmc_tree_order(const struct gmc_tree_graph *graph, int32_t *order);

/* Builds a tree from a rule on ranks: up(up_rank, n) writes for every rank r >= 1 in the order the
 * rank of its parent, which is smaller than r.
 *
 *   U1  Where child and parent cannot hear each other, the child goes to the gateway before it in
 *       the order, the source included, with the cheapest link to it (ties O4).
 *   U2  Where it hears none of them, it goes to the source. */
typedef gmc_status (*gmc_tree_up)(int32_t *up_rank, size_t n);
GMC_NODISCARD gmc_status gmc_tree_build_by_rank(const struct gmc_tree_graph *graph, gmc_tree_up up,
                                                int32_t *parent);

#endif
