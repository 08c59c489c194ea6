/* SPDX-License-Identifier: BSD-2-Clause */
/* Choosing a top-level tree: pure functions from a latency graph to parents. Changing a tree
 * while it runs is core/overlay's business. */
#ifndef GMC_CORE_TREE_H
#define GMC_CORE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum gmc_tree_shape {
    GMC_TREE_ECO, /* the default: probed latencies, 20 % cutoff */
    GMC_TREE_FLAT,
    GMC_TREE_BINOMIAL,
    GMC_TREE_BINARY,
    GMC_TREE_CHAIN,
    GMC_TREE_SHAPES
};

#define GMC_LATENCY_UNKNOWN UINT64_MAX

/* Latencies between n gateways, gateway 0 the source, row-major n*n, any unit, GMC_LATENCY_UNKNOWN
 * where two cannot hear each other. Where the two directions differ the smaller counts. names
 * breaks ties (domain name, byte order); NULL: lower index wins. */
struct gmc_tree_graph {
    size_t n;
    const uint64_t *latency;
    const char *const *names;
};

struct gmc_tree_ops {
    const char *name;
    /* Writes parent[0] = -1 and an index for every other gateway. NOMEM, INVALID (n == 0). */
    gmc_status (*build)(const struct gmc_tree_graph *graph, int32_t *parent);
};

/* The table of a shape; never NULL for a valid shape. */
const struct gmc_tree_ops *gmc_tree_ops(enum gmc_tree_shape shape);
/* By name ("eco", "flat", ...); NOT_FOUND. */
GMC_NODISCARD gmc_status gmc_tree_shape_from_name(const char *name, enum gmc_tree_shape *shape);

/* Where a gateway that joins a running tree goes: the eco rules with all others fixed.
 * parent[] holds the others' parents (parent[u] ignored); -1 for those that are not in the tree
 * now. They are not chosen, nor is anyone below them or below u. INVALID (u), NOMEM. */
GMC_NODISCARD gmc_status gmc_tree_attach(const struct gmc_tree_graph *graph, const int32_t *parent,
                                         int32_t u, int32_t *chosen);

/* OK, INVALID (parent out of range, several roots), LOOP, NOMEM. Time and memory grow with n. */
GMC_NODISCARD gmc_status gmc_tree_check(const int32_t *parent, size_t n);

#endif
