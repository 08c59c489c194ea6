/* SPDX-License-Identifier: BSD-2-Clause */
/* What trees are built from. Shared by gateway_graph.c (what is known of latencies and rates),
 * gateway_measured.c (trees by what uplinks have shown), gateway_place.c (the trees of a transfer)
 * and gateway_replace.c (others while it runs). */
#ifndef GMC_CORE_GATEWAY_GRAPH_IMPL_H
#define GMC_CORE_GATEWAY_GRAPH_IMPL_H

#include "core/gateway_impl.h"

#define GW_PACKET_HEAD_BYTES (28u + GMC_DATA_OVERHEAD_BYTES) /* IPv4, UDP, and ours */
#define GW_NO_RELAY 1u                                       /* bit/s */

/* What trees are built from: who takes part, and what is known of them. */
struct gwgraph {
    gmc_peer *list; /* the source first */
    uint64_t *latency, *uplink, *downlink;
    uint32_t *loss;
    uint64_t *path; /* NULL, or as view.path_bps has it */
    struct gwmeasured *measured;
    bool any_measured;
    const char **names;
    int32_t *parent; /* room for the trees of all stripes */
    struct gmc_tree_graph view;
};

/* gateway_graph.c */
/* Of the list and its length; false when there is no memory for it. */
bool gw_graph_make(const struct gmc_gateway *gw, const struct gwchannel *ch, struct gwgraph *graph);
/* And what was seen of paths, which counts while the transfer runs: it was seen while others of its
 * paths were used as well. False when there is no memory. */
bool gw_graph_add_paths(const struct gmc_gateway *gw, const struct gwchannel *ch,
                        struct gwgraph *graph);
void gw_graph_free(struct gwgraph *graph);
bool gw_graph_are_trees(const struct gwgraph *graph, uint32_t stripes);
/* Makes the graph's trees those of the members. */
void gw_graph_take(struct gwchannel *ch, const struct gwgraph *graph, uint32_t stripes);
/* The present tree of a stripe, and where the member stands in it; -1 nowhere. */
int32_t gw_graph_present(struct gwchannel *ch, const struct gwgraph *graph, uint32_t stripe,
                         const struct gwmember *which);

/* gateway_measured.c */
/* Who never had more to send than went out has shown what its uplink carries at least, and no
 * limit: a relay of something small, or below somebody slow. */
bool gw_graph_shows_limit(const struct gwmeasured *one);
/* The smallest uplink that is configured or whose limit was measured; GW_NO_RELAY where no limit
 * was. */
uint64_t gw_graph_least_limit(const struct gwgraph *graph);
/* What uplinks are thought to carry where a limit was measured: what is configured, what they have
 * shown, or about the least of those. As many as the graph has. */
void gw_graph_shown_uplinks(const struct gwgraph *graph, uint64_t *uplink);
/* Takes the trees that the measured rates give, if they are better than those without them even
 * where these come out at their best and the others at their worst. So a wrong figure makes nothing
 * worse than none. `unshown`, bit/s, is what is thought of uplinks that have shown less; with
 * GW_NO_RELAY these relay nothing, and there may be stripes. `seen`: the trees without them take at
 * least that long, whatever is predicted. */
bool gw_graph_try_measured(struct gwgraph *graph, uint64_t unshown, gmc_duration seen,
                           uint32_t *stripes);

#endif
