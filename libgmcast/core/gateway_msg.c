/* SPDX-License-Identifier: BSD-2-Clause */
/* Control messages of the composition: each goes to the one that may act on it, and attaching
 * children are let in or sent on. */
#include <string.h>

#include "core/gateway_impl.h"

/* A message about a channel; the caller fills in what its type says. */
struct gmc_msg gw_about(const struct gwchannel *ch, enum gmc_msg_type type)
{
    return (struct gmc_msg){.type = type, .source = ch->key.source, .e = ch->key.e};
}

/* ---- parents and children ---- */
static void refuse(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *attach,
                   gmc_status status)
{
    struct gmc_msg msg = {.type = GMC_MSG_REDIRECT,
                          .source = attach->source,
                          .e = attach->e,
                          .stripe = attach->stripe,
                          .status = status,
                          .text = gmc_status_text(status)};
    gw_send(gw, peer, &msg);
}

/* Full: one of the children may have room. It is shown to be a member, as it was here. */
static void send_on(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                    const struct gmc_msg *attach, const struct gwchild *child)
{
    uint8_t siblings[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES];
    struct gmc_msg msg = gw_about(ch, GMC_MSG_REDIRECT);
    msg.stripe = attach->stripe;
    msg.status = GMC_ERR_FULL;
    msg.text = gmc_status_text(GMC_ERR_FULL);
    msg.redirect = child->peer->name;
    msg.place = child->place.view;
    if (ch->is_source) {
        const struct gwmember *member = gw_source_member(ch, child->peer->number);
        if (member != NULL && member->recorded)
            msg.place = gw_roll_place(ch, member, siblings);
    }
    gw_send(gw, peer, &msg);
}

/* Is the asker above us in the tree of the stripe? Then serving it would close a loop. */
static bool is_above(const struct gwchannel *ch, const struct gwpeer *peer, uint32_t number)
{
    const struct gwstripe *stripe = &ch->stripes[number];
    if (ch->dst == NULL)
        return false;
    if (gmc_overlay_candidate(&stripe->overlay) == peer->number &&
        stripe->overlay.state != GMC_OVERLAY_IDLE)
        return true;
    for (size_t i = 0; i < stripe->path_len; i++)
        if (stripe->path[i] == peer->number)
            return gmc_overlay_parent(&stripe->overlay) != GMC_PEER_NONE;
    return false;
}

/* The source knows its members; the others are shown. */
static bool is_member(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer,
                      const struct gmc_place *place)
{
    if (ch->is_source) {
        const struct gwmember *member = gw_source_member(ch, peer->number);
        return member != NULL && member->recorded && member->state != GMC_MEMBER_FAILED;
    }
    return peer->is_node ? gw_node_is_served(ch, peer) : gw_place_is_of(gw, ch, place, peer->name);
}

static gmc_status may_attach(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer,
                             const struct gmc_msg *msg)
{
    if (ch == NULL || !ch->recorded)
        return GMC_ERR_AGAIN; /* the record is on its way here too */
    if (ch->closing)
        return GMC_ERR_NOT_FOUND;
    if (msg->epoch != ch->epoch || (ch->dst != NULL && ch->dst->phase < GW_RECEIVING))
        return GMC_ERR_AGAIN;
    if (gw->config.node_of != NULL && !gw_is_neighbour(ch, peer))
        return GMC_ERR_AGAIN; /* the gateway's word of it is on its way, or was taken back */
    if (gw->config.node_of == NULL && !is_member(gw, ch, peer, &msg->place))
        return GMC_ERR_NOT_MEMBER;
    if (msg->stripe >= ch->stripe_count)
        return GMC_ERR_INVALID;
    if (gw_have_is_spoilt(ch))
        return GMC_ERR_MISMATCH;
    if (is_above(ch, peer, msg->stripe))
        return GMC_ERR_LOOP;
    struct gmc_link_info info;
    gmc_link_info(peer->link, &info);
    size_t wanted = GMC_DATA_OVERHEAD_BYTES + ch->object.fragment_bytes;
    if (info.udp_payload_max >= wanted)
        return GMC_OK;
    bool will = gmc_link_want_payload(peer->link, gw->now, wanted);
    gw_touch(gw, peer);
    return will ? GMC_ERR_AGAIN : GMC_ERR_LIMIT;
}

static void grant(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwstripe *stripe,
                  struct gwpeer *peer)
{
    const char *path[GMC_OVERLAY_DEPTH_MAX + 1];
    size_t path_len = 0;
    path[path_len++] = gw->domain;
    /* What stands above its gateway is not a node's business. */
    if (!peer->is_node && ch->dst != NULL && gmc_overlay_parent(&stripe->overlay) != GMC_PEER_NONE)
        for (size_t i = 0; i < stripe->path_len && path_len < GMC_OVERLAY_DEPTH_MAX; i++)
            path[path_len++] = gmc_gateway_peer_name(gw, stripe->path[i]);
    struct gmc_msg msg = gw_about(ch, GMC_MSG_ATTACHED);
    msg.stripe = stripe->number;
    msg.version = ch->record.version;
    msg.epoch = ch->epoch;
    msg.names = path;
    msg.name_count = path_len;
    gw_send(gw, peer, &msg);
}

void gw_tell_path(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwstripe *stripe)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->stripe == stripe->number && !child->peer->is_node)
            grant(gw, ch, stripe, child->peer);
    }
}

/* A tree of one stripe: how many children it has here, and the nth of them. Nodes are in no tree.
 */
static size_t children_of(const struct gwchannel *ch, uint32_t stripe)
{
    size_t count = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        count += child->stripe == stripe && !child->peer->is_node;
    }
    return count;
}

static const struct gwchild *nth_child(const struct gwchannel *ch, uint32_t stripe, size_t nth)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->stripe == stripe && !child->peer->is_node && nth-- == 0)
            return child;
    }
    return NULL;
}

static void on_attach(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                      const struct gmc_msg *msg)
{
    gmc_status status = may_attach(gw, ch, peer, msg);
    if (status != GMC_OK) {
        if (status == GMC_ERR_NOT_MEMBER)
            gw->counts.messages_refused++;
        refuse(gw, peer, msg, status);
        return;
    }
    struct gwchild *child = gw_child_find(ch, peer, msg->stripe);
    if (child != NULL)
        gw_child_free(gw, child);
    size_t count = children_of(ch, msg->stripe);
    if (!peer->is_node && !peer->is_neighbour && count >= gw->config.children_max) {
        size_t nth = (size_t)gmc_prng_below(&gw->prng, count);
        send_on(gw, peer, ch, msg, nth_child(ch, msg->stripe, nth));
        return;
    }
    uint32_t window = msg->window < 1 ? 1 : msg->window > 65536 ? 65536 : msg->window;
    child = gw_child_new(gw, peer, ch, msg->stripe, window, (uint16_t)msg->handle);
    if (child != NULL && !ch->is_source && gw_place_copy(&child->place, &msg->place) != GMC_OK) {
        gw_child_free(gw, child);
        child = NULL;
    }
    if (child == NULL) {
        refuse(gw, peer, msg, GMC_ERR_NOMEM);
        return;
    }
    gw_child_have(child, msg->ranges, msg->range_count);
    grant(gw, ch, &ch->stripes[msg->stripe], peer);
    if (ch->talk != NULL)
        gw_hearer_attached(gw, child, msg->next);
    else if (ch->dst != NULL)
        gw_group_attached(gw, ch, peer);
}

static void on_have(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                    const struct gmc_msg *msg)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        struct gwchild *child = gw_child_find(ch, peer, k);
        if (child == NULL)
            continue; /* never here, or attached elsewhere, or a new epoch began */
        if (msg->window > 0 && msg->window <= 65536)
            child->tx.window = msg->window;
        gw_child_have(child, msg->ranges, msg->range_count);
    }
    gw_group_had(gw, ch, peer);
    gw_touch(gw, peer);
}

/* Repairs that a child asks for are bounded, by the object and in one message. */
static void on_want(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                    const struct gmc_msg *msg)
{
    uint32_t now = 0;
    for (size_t i = 0; i < msg->range_count; i++) {
        uint64_t last = msg->ranges[i].last < ch->blocks ? msg->ranges[i].last : ch->blocks;
        for (uint64_t b = msg->ranges[i].first; b <= last && b < ch->blocks; b++) {
            struct gwchild *child = gw_child_find(ch, peer, gmc_stripe_of(ch->stripe_count, b));
            bool spent = child != NULL && ++child->wants > ch->blocks && !gw->config.pass_repairs;
            if (spent || ++now > GMC_RANGES_MAX) {
                gw->counts.messages_refused++;
                return;
            }
            if (child == NULL)
                continue;
            gmc_tx_want(&child->tx, gw_child_index(child, (uint32_t)b));
            gw_child_search(child, gw_child_index(child, (uint32_t)b));
            gw_pass_repair(gw, ch, (uint32_t)b);
        }
    }
    gw_touch(gw, peer);
}

static void on_detach(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                      const struct gmc_msg *msg)
{
    struct gwchild *child = gw_child_find(ch, peer, msg->stripe);
    if (child != NULL) {
        gw_child_free(gw, child);
        return;
    }
    if (ch->dst == NULL || ch->closing || msg->stripe >= ch->stripe_count)
        return;
    struct gwstripe *stripe = &ch->stripes[msg->stripe];
    if (gmc_overlay_on_let_go(&stripe->overlay, gw->now, peer->number))
        gw_event_parent(gw, ch, stripe, peer->number, msg->status, "%s let go: %s", peer->name,
                        msg->text);
    gw_target_step(gw, ch);
}

/* ---- dispatch ---- */
static void about_channel(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    struct gwchannel *ch = gw_channel_find(gw, msg->source, msg->e);
    if (msg->type == GMC_MSG_ATTACH) {
        on_attach(gw, peer, ch, msg);
        return;
    }
    if (ch == NULL || ch->closing) {
        /* A member of a transfer that is over (or lost) here, its source: it is told so. */
        if (msg->type == GMC_MSG_STATUS || msg->type == GMC_MSG_COMPLETE ||
            msg->type == GMC_MSG_TREE_READY) {
            if (peer->is_node)
                gw_node_over(gw, peer, ch, msg);
            else
                gw_source_over(gw, peer, ch, msg);
        }
        return;
    }
    switch (msg->type) {
    case GMC_MSG_TREE_READY:
    case GMC_MSG_LEAVE:
    case GMC_MSG_STATUS:
    case GMC_MSG_COMPLETE:
        if (ch->is_source)
            gw_source_message(gw, peer, ch, msg);
        else if (peer->is_node)
            gw_node_message(gw, peer, ch, msg);
        else
            gw->counts.messages_refused++;
        break;
    case GMC_MSG_ATTACHED:
    case GMC_MSG_REDIRECT:
    case GMC_MSG_CLOSE:
        if (!ch->is_source)
            gw_target_message(gw, peer, ch, msg);
        else
            gw->counts.messages_refused++;
        break;
    case GMC_MSG_SKIP:
        gw_talk_on_skip(gw, peer, ch, msg->floor);
        break;
    case GMC_MSG_GROUP:
        gw_hear_group(gw, peer, ch, msg);
        break;
    case GMC_MSG_GROUP_REPORT:
        gw_group_report(gw, peer, ch, msg);
        break;
    case GMC_MSG_TREE:
        gw_on_tree(gw, peer, ch, msg);
        break;
    case GMC_MSG_HAVE:
        on_have(gw, peer, ch, msg);
        break;
    case GMC_MSG_WANT:
        on_want(gw, peer, ch, msg);
        break;
    case GMC_MSG_DETACH:
        on_detach(gw, peer, ch, msg);
        break;
    default:
        break;
    }
}

static void pass_on(struct gmc_gateway *gw, struct gwpeer *peer, enum gmc_output_kind kind,
                    const struct gmc_msg *msg)
{
    struct gwout *out = gw_out(gw, kind, peer->number);
    out->output.id = msg->request_id;
    out->owned = gw_copy(msg->payload);
    out->output.bytes = gmc_bytes(out->owned, msg->payload.len);
}

/* ---- requests that were forwarded ---- */
static void asked_remove(struct gmc_gateway *gw, size_t at)
{
    gw->asked_count--;
    memmove(&gw->asked[at], &gw->asked[at + 1], (gw->asked_count - at) * sizeof(gw->asked[0]));
}

static void asked_add(struct gmc_gateway *gw, gmc_peer peer, uint64_t id)
{
    if (gw->asked_count == GW_ASKED_MAX)
        asked_remove(gw, 0);
    gw->asked[gw->asked_count++] = (struct gwasked){peer, id};
}

/* Only who was asked may answer, and once. */
static void on_reply(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    for (size_t i = 0; i < gw->asked_count; i++) {
        if (gw->asked[i].peer != peer->number || gw->asked[i].id != msg->request_id)
            continue;
        asked_remove(gw, i);
        pass_on(gw, peer, GMC_OUT_REPLY, msg);
        return;
    }
    gw->counts.messages_refused++;
}

void gw_asked_lost(struct gmc_gateway *gw, const struct gwpeer *peer)
{
    for (size_t i = 0; i < gw->asked_count;) {
        if (gw->asked[i].peer != peer->number) {
            i++;
            continue;
        }
        gw_out(gw, GMC_OUT_REPLY, peer->number)->output.id = gw->asked[i].id;
        asked_remove(gw, i);
    }
}

/* What only a domain says: a node is no source. */
static bool is_of_domains(enum gmc_msg_type type)
{
    return type == GMC_MSG_PROBE || type == GMC_MSG_JOIN || type == GMC_MSG_CHANNEL;
}

void gw_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_bytes bytes)
{
    struct gmc_msg msg;
    struct gmc_msg_holder *holder;
    gw->counts.messages_in++;
    gmc_status status = gmc_msg_decode(bytes, &msg, &holder);
    if (status == GMC_ERR_TYPE) {
        gw->counts.messages_unknown++;
        return;
    }
    if (status != GMC_OK) {
        gw->counts.messages_bad++;
        return;
    }
    if ((peer->is_node || peer->is_neighbour) && is_of_domains(msg.type)) {
        gw->counts.messages_refused++;
        gmc_msg_release(holder);
        return;
    }
    switch (msg.type) {
    case GMC_MSG_PROBE:
        gw_on_probe(gw, peer, &msg);
        break;
    case GMC_MSG_JOIN:
        gw_source_join(gw, peer, &msg);
        break;
    case GMC_MSG_CHANNEL:
        gw_target_channel(gw, peer, &msg);
        break;
    case GMC_MSG_REQUEST:
        pass_on(gw, peer, peer->is_node ? GMC_OUT_NODE_REQUEST : GMC_OUT_REQUEST, &msg);
        break;
    case GMC_MSG_REPLY:
        on_reply(gw, peer, &msg);
        break;
    case GMC_MSG_DOMAIN:
        gw_domain_heard(gw, peer, &msg);
        break;
    default:
        about_channel(gw, peer, &msg);
        break;
    }
    gmc_msg_release(holder);
}

gmc_status gmc_gateway_forward(struct gmc_gateway *gw, gmc_time now, gmc_peer number, uint64_t id,
                               struct gmc_bytes request)
{
    gw_begin_input(gw, now);
    struct gwpeer *peer = gw_peer(gw, number);
    if (peer == NULL || number == gw->self)
        return GMC_ERR_NOT_FOUND;
    if (!peer->up) {
        gw_want_session(gw, peer);
        return GMC_ERR_PEER_DOWN;
    }
    struct gmc_msg msg = {.type = GMC_MSG_REQUEST, .request_id = id, .payload = request};
    asked_add(gw, number, id);
    gw_send(gw, peer, &msg);
    return GMC_OK;
}

void gmc_gateway_answer(struct gmc_gateway *gw, gmc_time now, gmc_peer number, uint64_t id,
                        struct gmc_bytes reply)
{
    gw_begin_input(gw, now);
    struct gwpeer *peer = gw_peer(gw, number);
    struct gmc_msg msg = {.type = GMC_MSG_REPLY, .request_id = id, .payload = reply};
    if (peer != NULL)
        gw_send(gw, peer, &msg);
}
