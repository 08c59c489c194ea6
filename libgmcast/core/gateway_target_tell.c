/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as a receiver: what it tells the source. */
#include <stdlib.h>

#include "core/gateway_target_impl.h"

void gw_target_say_status(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_msg_child *children = calloc(ch->child_count + 1, sizeof(*children));
    if (children == NULL)
        return;
    size_t n = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->peer->is_node)
            continue;
        children[n++] =
            (struct gmc_msg_child){.domain = child->peer->name,
                                   .repairs = child->tx.repairs_sent,
                                   .stripe = child->stripe,
                                   .loss_ppm = child->peer->link != NULL
                                                   ? gmc_link_loss_ppm(child->peer->link)
                                                   : 0,
                                   .path_bps = gw_uplink_path(gw, child->peer)};
    }
    const char *parents[GMC_STRIPES_MAX] = {0};
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        const struct gwpeer *parent = gw_peer(gw, gmc_overlay_parent(&ch->stripes[k].overlay));
        parents[k] = parent != NULL ? parent->name : "";
    }
    struct gmc_msg msg = gw_about(ch, GMC_MSG_STATUS);
    msg.bytes = ch->stored_bytes;
    msg.parent = parents[0];
    msg.names = parents + 1;
    msg.name_count = ch->stripe_count - 1;
    msg.children = children;
    msg.child_count = n;
    struct gwnode_counts nodes = gw_nodes_count(ch);
    msg.nodes = nodes.all;
    msg.nodes_verified = nodes.verified;
    msg.nodes_failed = nodes.failed;
    msg.nodes_left = nodes.left;
    gw_uplink_say(gw, &msg);
    gw_send(gw, ch->source_peer, &msg);
    free(children);
}

void gw_target_say_complete(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_COMPLETE);
    msg.bytes = ch->stored_bytes;
    msg.digest = ch->digest;
    msg.text = ch->reason;
    gw_send(gw, peer, &msg);
}

void gw_target_say_lacking(struct gmc_gateway *gw, const struct gwchannel *ch, const char *text)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_LEAVE);
    msg.status = GMC_ERR_TIMEOUT;
    msg.text = text;
    gw_send(gw, ch->source_peer, &msg);
}

void gw_target_tell_source(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    if (!ch->source_peer->up)
        return;
    if (!dst->told_ready && dst->phase >= GW_RECEIVING) {
        struct gmc_msg msg = gw_about(ch, GMC_MSG_TREE_READY);
        msg.version = ch->record.version;
        msg.subnet = gw->subnet;
        msg.can_relay = gw->config.node_of != NULL && gw->group_address_len > 0;
        gw_send(gw, ch->source_peer, &msg);
        dst->told_ready = true;
    }
    if (!dst->told_complete && dst->phase == GW_DONE && gw_nodes_are_settled(ch) &&
        ch->state != GMC_CHANNEL_PARTIAL) {
        if (ch->talk == NULL)
            gw_nodes_left(ch, ch->reason, sizeof(ch->reason));
        gw_target_say_status(gw, ch);
        gw_target_say_complete(gw, ch->source_peer, ch);
        dst->told_complete = true;
    }
}
