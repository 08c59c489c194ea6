/* SPDX-License-Identifier: BSD-2-Clause */
/* Choosing a top-level tree: pure functions from a latency graph to parents. Changing a tree
 * while it runs is core/overlay's business. */
#ifndef GMC_CORE_TREE_H
#define GMC_CORE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum gmc_tree_shape {
    GMC_TREE_ECO, /* the default of messages: probed latencies, 20 % cutoff */
    GMC_TREE_FLAT,
    GMC_TREE_BINOMIAL,
    GMC_TREE_BINARY,
    GMC_TREE_CHAIN,
    GMC_TREE_BULK, /* the default of objects: uplinks, several trees where they differ */
    GMC_TREE_SHAPES
};

#define GMC_LATENCY_UNKNOWN UINT64_MAX
#define GMC_TREE_STRIPES_MAX 8u

/* Latencies between n gateways, gateway 0 the source, row-major n*n, any unit, GMC_LATENCY_UNKNOWN
 * where two cannot hear each other. Where the two directions differ the smaller counts. names
 * breaks ties (domain name, byte order); NULL: lower index wins.
 *
 * `bulk` and predictions (core/tree_predict.h) use the rest too, and then latencies are round trips
 * in ns. Rates are in bits of the object per second: without heads, and what congestion control
 * leaves. */
struct gmc_tree_graph {
    size_t n;
    const uint64_t *latency;     /* NULL: only from_source is known, and all hear each other */
    const uint64_t *from_source; /* n, used when latency is NULL; `eco` and `bulk` need latency */
    const char *const *names;
    const uint64_t *uplink_bps;   /* per gateway, 0: not known; NULL: none is */
    const uint64_t *downlink_bps; /* the same */
    const uint32_t *loss_ppm;     /* n*n: of the path from a row's gateway to a column's, below a
                                     million; NULL: nothing is lost */
    const uint64_t *path_bps;     /* n*n: what such a path carries, where that is less than the
                                     uplink gives; 0: not known; NULL: none is */
    uint64_t wire_bps;            /* of wires on the way of several links (core/tree_ways.h); 0: not
                                     known, ways are not looked at */
    uint32_t doubt_percent;       /* by which the uplinks may be wrong by chance, each for itself */
    uint64_t bytes;               /* of the object */
    uint64_t cap_bps;             /* that no link exceeds with this object; 0: none */
    uint32_t stripes_max;         /* into so many it may be cut; 0: GMC_TREE_STRIPES_MAX */
};

struct gmc_tree_ops {
    const char *name;
    /* Writes how many stripes the object is cut into, of equal size, and a tree for each: the tree
     * of stripe k begins at parent[k * n], with -1 for the source and an index for every other
     * gateway. There is room for GMC_TREE_STRIPES_MAX trees. NOMEM, INVALID (n == 0). */
    gmc_status (*build)(const struct gmc_tree_graph *graph, int32_t *parent, uint32_t *stripes);
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

/* The same in running trees of shape bulk, one for each stripe, written as build does: chosen[k] in
 * that of stripe k, by the rules of tree_bulk_late.c. INVALID (u, stripes), NOMEM. */
GMC_NODISCARD gmc_status gmc_tree_bulk_attach(const struct gmc_tree_graph *graph,
                                              const int32_t *parent, uint32_t stripes, int32_t u,
                                              int32_t *chosen);

/* OK, INVALID (parent out of range, several roots), LOOP, NOMEM. Time and memory grow with n. */
GMC_NODISCARD gmc_status gmc_tree_check(const int32_t *parent, size_t n);

#endif
