/* SPDX-License-Identifier: BSD-2-Clause */
/* A gateway's side of its domain's multicast group: whether its datagrams arrive at the nodes. Each
 * node is tested when its link comes up, and now and then again while it does not hear. The group
 * is used when a node hears it; the others get everything by unicast, and that is said. When none
 * does, nodes feed each other (gatewayd/tree.h). */
#ifndef GWD_GROUP_H
#define GWD_GROUP_H

#include <event2/event.h>

#include "core/gateway.h"
#include "gatewayd/group_test.h"
#include "gatewayd/log.h"

struct gwd_group;

/* Replies with this bit in their id are the group's; the control API counts from 1. */
#define GWD_GROUP_IDS (UINT64_C(1) << 63)

struct gwd_group_config {
    struct event_base *base;
    struct gwd_log *log;
    const struct gwd_conf *conf; /* borrowed for the call */
    const struct gwd_mcast_group *group;
    void *ctx;
    gmc_time (*now)(void);
    /* The numbers of peers count from 0; false when there are no more. */
    bool (*node)(void *ctx, gmc_peer peer, bool *is_node, struct gmc_peer_info *info);
    /* Sends a datagram to the group. */
    void (*send)(void *ctx, struct gmc_bytes datagram);
    /* Sends a request to a node; its answer comes to gwd_group_on_reply. */
    void (*ask)(void *ctx, gmc_peer peer, uint64_t id, struct gmc_bytes request);
    /* The group is used from now on, or no longer (an empty word). */
    void (*use)(void *ctx, struct gmc_bytes word, uint64_t rate_bps);
};

/* NULL when out of memory. */
struct gwd_group *gwd_group_new(const struct gwd_group_config *config);
void gwd_group_free(struct gwd_group *group);
void gwd_group_on_reply(struct gwd_group *group, uint64_t id, struct gmc_bytes reply);

struct gwd_group_stats {
    uint64_t hear; /* nodes that multicast came to when they were last tested */
    uint64_t deaf; /* nodes that it did not come to */
};
struct gwd_group_stats gwd_group_stats(const struct gwd_group *group);
/* How the last test of a peer ended. */
struct gwd_group_verdict {
    bool is_tested; /* else nothing is known: it is no node, or was not tested yet */
    bool hears;
    const char *reason; /* why it does not; borrowed until the next test */
};
struct gwd_group_verdict gwd_group_verdict(const struct gwd_group *group, gmc_peer peer);
/* A transfer found that the node does not hear: it is tested again soon. */
void gwd_group_doubt(struct gwd_group *group, gmc_peer peer);

#endif
