/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an object takes over given trees, in the fluid model: gateways forward while they
 * receive, an uplink is shared by all children of all stripes, and the slowest decides.
 *
 *   P1  A gateway with uplink u that has c children over all of k stripes feeds them at k*u/c, in
 *       bits of the whole object per second. What a path loses is sent again: a child behind a path
 *       that loses p counts as 1/(1-p) children.
 *   P2  The rate is the smallest of these, and of the downlinks and the cap, of which what is lost
 *       uses its part too. A path that is known to carry p, and has s of the k stripes, lets the
 *       object have k*p/s. Where the width of wires is known those that links share count too, as
 *       far as latencies tell them (core/tree_ways.h).
 *   P3  The time is bytes over rate and, for the last of all, its way: it is told of the transfer,
 *       makes a session with its parent (three round trips; with the source there is one), and asks
 *       it; data comes when the parent has some, and the source hears of its end. Where the rate
 *       is not planned, a link needs a round trip more for each doubling from 32 packets in
 *       one, but links on one way double side by side: it is that of one of them that counts.
 *       Links that are not heard count nothing.
 *   P4  The bound is what no trees can beat: max(F/u_s, F/d_min, (n-1)F / sum of all u) (Kumar and
 *       Ross 2006).
 */
#ifndef GMC_CORE_TREE_PREDICT_H
#define GMC_CORE_TREE_PREDICT_H

#include <stdbool.h>

#include "base/time.h"
#include "core/tree.h"

/* An uplink that nobody knows, where none is known. */
#define GMC_TREE_ASSUMED_BPS UINT64_C(100000000)

enum gmc_tree_limit {
    GMC_TREE_LIMIT_NONE,     /* nobody but the source */
    GMC_TREE_LIMIT_UPLINK,   /* of the gateway `at` */
    GMC_TREE_LIMIT_DOWNLINK, /* of the gateway `at`, or a path to it */
    GMC_TREE_LIMIT_CAP
};

struct gmc_tree_prediction {
    uint64_t rate_bps; /* of the whole object, at every receiver */
    gmc_duration time;
    gmc_duration bound; /* P4; without the paths' latency */
    enum gmc_tree_limit limit;
    int32_t at;
    uint32_t copies;   /* UPLINK: k * `at`'s load, its children over all stripes */
    uint64_t sent_bps; /* rate_bps and, over the worst path, what is sent again for it */
    bool assumed;      /* `at`'s uplink is not known */
};

/* What counts for those whose uplink is not known: the smallest that is known, or
 * GMC_TREE_ASSUMED_BPS. Time n. */
uint64_t gmc_tree_least_uplink(const struct gmc_tree_graph *graph);
/* The uplink that counts: its own or the least; at most 2^48, so that products with counts fit. */
uint64_t gmc_tree_uplink(const struct gmc_tree_graph *graph, size_t i, uint64_t least);
/* UINT64_MAX where it is not known. */
uint64_t gmc_tree_downlink(const struct gmc_tree_graph *graph, size_t i);

/* What a path carries; UINT64_MAX where it is not known. */
uint64_t gmc_tree_path(const struct gmc_tree_graph *graph, int32_t from, size_t to);

/* parent: as gmc_tree_ops.build writes it, without loops. NOMEM, INVALID (no gateways, or too many
 * stripes). Time and memory grow with n. */
GMC_NODISCARD gmc_status gmc_tree_predict(const struct gmc_tree_graph *graph, const int32_t *parent,
                                          uint32_t stripes, struct gmc_tree_prediction *prediction);

#endif
