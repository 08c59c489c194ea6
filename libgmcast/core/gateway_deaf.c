/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes that do not hear the group of their domain, while others do: a tree of their own, whose
 * first one gets all from a node that hears. So the gateway's port carries each byte once, for the
 * group, and the deaf do not wait until that is over. Who they are is kept for the next transfers,
 * which do not wait for a word of theirs; but they are asked to listen in each of them, and one
 * that hears again has only to say so. */
#include "core/gateway_group_impl.h"

void gw_deaf_set(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer, bool deaf)
{
    peer->is_deaf = deaf && !peer->out_of_reach; /* which is kept of its whole subnet */
    gw_deaf_count(gw, ch, peer, deaf);
}

void gw_deaf_count(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer,
                   bool deaf)
{
    struct gwnode *node = gw_node_find(ch, peer);
    if (node == NULL || node->deaf == deaf)
        return;
    node->deaf = deaf;
    gw_set_timer(gw, &ch->timer, gw->now); /* another one is to feed it */
}

void gw_deaf_forget(struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->dst->node_count; i++)
        ch->dst->nodes[i].deaf = false;
}

bool gw_deaf_any(const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->dst->node_count; i++)
        if (ch->dst->nodes[i].deaf)
            return true;
    return false;
}

/* One that loses so much that the group does not wait for it would hold the deaf up too. */
static bool can_help(const struct gmc_gateway *gw, const struct gwchannel *ch,
                     const struct gwnode *node)
{
    const struct gwlistener *listener = gw_listener_of(ch->group, node->peer);
    return listener != NULL && gw_listener_counts(listener) && node->told &&
           gw_node_is_relied_on(gw, node) && node->state != GMC_MEMBER_FAILED &&
           node->address.len > 0 && !node->is_direct;
}

uint32_t gw_deaf_helper(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwtarget *dst = ch->dst;
    if (dst->tree_root > 0 && can_help(gw, ch, &dst->nodes[dst->tree_root - 1]))
        return dst->tree_root;
    for (size_t i = 0; i < dst->node_count; i++)
        if (can_help(gw, ch, &dst->nodes[i]))
            return (uint32_t)i + 1;
    return 0;
}
