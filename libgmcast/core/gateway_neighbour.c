/* SPDX-License-Identifier: BSD-2-Clause */
/* A node in its domain's tree: the sessions with its neighbours, which its gateway made, and who of
 * them is its parent. It knows them only as long as a channel needs that. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

bool gw_is_neighbour(const struct gwchannel *ch, const struct gwpeer *peer)
{
    for (size_t i = 0; ch->dst != NULL && i < ch->dst->neighbour_count; i++)
        if (ch->dst->neighbours[i].peer == peer)
            return true;
    return false;
}

static bool is_needed(const struct gmc_gateway *gw, const struct gwpeer *peer)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        const struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (!ch->closing && gw_is_neighbour(ch, peer))
            return true;
    }
    return false;
}

void gw_neighbours_sweep(struct gmc_gateway *gw)
{
    for (size_t i = 0; i < gw->peer_count; i++) {
        struct gwpeer *peer = gw->peers[i];
        if (!peer->is_neighbour || is_needed(gw, peer))
            continue;
        peer->is_neighbour = false;
        gw_link_close(gw, peer, "no transfer needs it any more");
    }
}

/* Takes the session that the gateway made for the two of us. One that was used already is not used
 * again: its numbers would begin anew under the same keys. True: it is new. */
static bool take_session(struct gmc_gateway *gw, struct gwpeer *peer,
                         const struct gmc_msg_neighbour *from)
{
    const struct gwpeer *other = gmc_map_get(&gw->sessions, from->receive_id);
    if (peer->offered_id == from->receive_id || (other != NULL && other != peer))
        return false;
    struct gmc_session session = {.peer = peer->number,
                                  .initiator = from->is_parent,
                                  .local_id = from->receive_id,
                                  .remote_id = from->send_id,
                                  .transport = GMC_TRANSPORT_UDP,
                                  .udp_payload_max = gw->neighbour_payload};
    struct gmc_addr to = {.len = (uint8_t)from->address.len};
    memcpy(session.send_secret, from->send_key, GMC_KEY_BYTES);
    memcpy(session.recv_secret, from->receive_key, GMC_KEY_BYTES);
    memcpy(to.bytes, from->address.data, from->address.len);
    peer->offered_id = from->receive_id;
    gw_link_make(gw, peer, &session, &to);
    memset(&session, 0, sizeof(session));
    return true;
}

/* Who the gateway says that stands beside us; NULL: that cannot be. */
static struct gwpeer *named(struct gmc_gateway *gw, const struct gwchannel *ch, const char *name)
{
    struct gwpeer *peer = gw_peer_by_name(gw, name);
    return peer == ch->source_peer || (peer != NULL && peer->number == gw->self) ? NULL : peer;
}

void gw_on_tree(struct gmc_gateway *gw, const struct gwpeer *peer, struct gwchannel *ch,
                const struct gmc_msg *msg)
{
    struct gwtarget *dst = ch->dst;
    struct gwbeside *list = calloc(msg->neighbour_count + 1, sizeof(*list));
    if (gw->config.node_of == NULL || peer != ch->source_peer || ch->talk != NULL || list == NULL) {
        gw->counts.messages_refused++;
        free(list);
        return;
    }
    gmc_peer parent = GMC_PEER_NONE;
    bool is_new = false;
    free(dst->neighbours);
    dst->neighbours = list;
    dst->neighbour_count = 0;
    dst->feeds = false;
    for (size_t i = 0; i < msg->neighbour_count; i++) {
        struct gwpeer *other = named(gw, ch, msg->neighbours[i].name);
        if (other == NULL)
            continue;
        list[dst->neighbour_count++] =
            (struct gwbeside){.peer = other, .by_group = msg->neighbours[i].by_group};
        other->is_neighbour = true;
        bool fresh = take_session(gw, other, &msg->neighbours[i]);
        dst->feeds = dst->feeds || !msg->neighbours[i].is_parent;
        if (msg->neighbours[i].is_parent) {
            parent = other->number;
            is_new = fresh;
        }
    }
    is_new = is_new || parent != dst->tree_parent;
    dst->tree_parent = parent;
    gw_hearing_parent_changed(gw, ch);
    gw_group_review(gw, ch);
    gw_neighbours_sweep(gw);
    gw_target_fed_by_node(gw, ch, is_new);
}
