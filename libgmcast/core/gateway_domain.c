/* SPDX-License-Identifier: BSD-2-Clause */
/* What gateways tell each other of their domains before any transfer: how large datagrams to the
 * nodes may be. A source cuts its fragments once for all, and knows no path behind a gateway. */
#include "core/gateway_impl.h"

static void tell(struct gmc_gateway *gw, struct gwpeer *peer)
{
    struct gmc_msg msg = {.type = GMC_MSG_DOMAIN, .nodes_payload = gw->nodes_payload};
    gw_send(gw, peer, &msg);
}

void gw_domain_link_up(struct gmc_gateway *gw, struct gwpeer *peer)
{
    if (!peer->is_node && gw->config.node_of == NULL)
        tell(gw, peer);
}

static uint32_t payload_of_all(const struct gmc_gateway *gw)
{
    uint32_t least = gw->group_address_len > 0 ? gw->group_payload : UINT32_MAX;
    for (gmc_peer i = 0; i < gw->peer_count; i++) {
        const struct gwpeer *peer = gw->peers[i];
        if (peer->is_node && peer->up && peer->payload > 0 && peer->payload < least)
            least = peer->payload;
    }
    if (least == UINT32_MAX)
        return 0;
    return least > GMC_NODES_PAYLOAD_MIN ? least : GMC_NODES_PAYLOAD_MIN;
}

void gw_domain_review(struct gmc_gateway *gw)
{
    uint32_t payload = gw->config.node_of == NULL ? payload_of_all(gw) : 0;
    if (payload == gw->nodes_payload)
        return;
    gw->nodes_payload = payload;
    for (gmc_peer i = 0; i < gw->peer_count; i++)
        if (gw->peers[i]->up && !gw->peers[i]->is_node)
            tell(gw, gw->peers[i]);
}

void gw_domain_heard(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    if (peer->is_node || gw->config.node_of != NULL) {
        gw->counts.messages_refused++;
        return;
    }
    peer->nodes_payload = msg->nodes_payload;
    peer->domain_known = true;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->is_source && ch->src->gathering)
            gw_source_soon(gw, ch);
    }
}
