/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of this domain: they are told of every channel that is received here, attach to this
 * gateway as its children, and report to it as members report to a source. What becomes of them is
 * part of what the domain says to the source; nobody outside learns of them otherwise. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

/* ---- who they are ---- */
static gmc_status add_node(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer)
{
    struct gwtarget *dst = ch->dst;
    struct gwnode *grown = realloc(dst->nodes, sizeof(*grown) * (dst->node_count + 1));
    if (grown == NULL)
        return GMC_ERR_NOMEM;
    dst->nodes = grown;
    dst->nodes[dst->node_count++] = (struct gwnode){.peer = peer, .since = gw->now};
    dst->is_relay = true;
    return GMC_OK;
}

gmc_status gw_nodes_init(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < gw->peer_count; i++)
        if (gw->peers[i]->is_node && add_node(gw, ch, gw->peers[i]) != GMC_OK)
            return GMC_ERR_NOMEM;
    return GMC_OK;
}

struct gwnode *gw_node_find(const struct gwchannel *ch, const struct gwpeer *peer)
{
    for (size_t i = 0; ch->dst != NULL && i < ch->dst->node_count; i++)
        if (ch->dst->nodes[i].peer == peer)
            return &ch->dst->nodes[i];
    return NULL;
}

static bool is_over(const struct gwnode *node)
{
    return node->state == GMC_MEMBER_VERIFIED || node->state == GMC_MEMBER_FAILED;
}

static void fail(struct gmc_gateway *gw, const struct gwchannel *ch, struct gwnode *node,
                 const char *reason)
{
    node->state = GMC_MEMBER_FAILED;
    gw_text(node->reason, sizeof(node->reason), "%s", reason);
    gw_event(gw, GMC_EVENT_MEMBER, ch, node->peer->number, GMC_ERR_PEER_DOWN,
             "node %s lacks it: %s", node->peer->name, node->reason);
}

void gmc_gateway_set_node(struct gmc_gateway *gw, gmc_time now, gmc_peer number, bool is_node)
{
    gw_begin_input(gw, now);
    struct gwpeer *peer = gw_peer(gw, number);
    if (peer == NULL || number == gw->self || peer->is_node == is_node)
        return;
    peer->is_node = is_node;
    struct gmc_list *item, *after;
    GMC_LIST_FOREACH_SAFE(item, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(item, struct gwchannel, node);
        if (ch->dst == NULL || ch->closing)
            continue;
        struct gwnode *node = gw_node_find(ch, peer);
        if (is_node && node == NULL)
            (void)add_node(gw, ch, peer); /* without memory it gets the next transfer */
        else if (!is_node)
            gw_group_left(gw, ch, peer, true);
        if (!is_node && node != NULL && !is_over(node))
            fail(gw, ch, node, "it is no longer a node of this domain");
        gw_target_step(gw, ch);
    }
}

/* ---- telling them ---- */
static void tell(struct gmc_gateway *gw, struct gwchannel *ch, struct gwnode *node)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_CHANNEL);
    msg.secret = ch->secret;
    msg.place = ch->place.view;
    msg.source_key = gmc_bytes(ch->source_spki, ch->source_spki_len);
    gw_send(gw, node->peer, &msg);
    node->told = true;
}

void gw_nodes_retell(struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->dst->node_count; i++)
        ch->dst->nodes[i].told = false;
}

void gw_nodes_link_changed(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer)
{
    struct gwnode *node = gw_node_find(ch, peer);
    if (node == NULL)
        return;
    node->told = false;
    if (!peer->up)
        gw_group_left(gw, ch, peer, false);
    if (!peer->up && !is_over(node))
        node->state = GMC_MEMBER_SILENT;
    else if (peer->up && node->state == GMC_MEMBER_SILENT)
        node->state = GMC_MEMBER_WAITING;
}

/* ---- patience ---- */
static gmc_time patience_ends(const struct gmc_gateway *gw, const struct gwnode *node)
{
    if (is_over(node) || node->peer->up)
        return GMC_TIME_NEVER;
    return gmc_time_add(gmc_time_max(node->since, node->peer->silent_since), gw->config.patience);
}

static void check_digest(struct gmc_gateway *gw, const struct gwchannel *ch, struct gwnode *node)
{
    if (!node->complete || !ch->digest_known || is_over(node))
        return;
    if (memcmp(node->digest, ch->digest, GMC_HASH_BYTES) != 0) {
        fail(gw, ch, node, "it proves another digest");
        return;
    }
    node->state = GMC_MEMBER_VERIFIED;
    gw_event(gw, GMC_EVENT_MEMBER, ch, node->peer->number, GMC_OK, "verified at node %s",
             node->peer->name);
}

void gw_nodes_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        struct gwnode *node = &ch->dst->nodes[i];
        check_digest(gw, ch, node);
        if (gw->now >= patience_ends(gw, node))
            fail(gw, ch, node, node->peer->reason);
        else if (!node->told && node->peer->up && ch->dst->phase >= GW_RECEIVING &&
                 node->state != GMC_MEMBER_FAILED)
            tell(gw, ch, node);
    }
}

gmc_time gw_nodes_deadline(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    gmc_time when = GMC_TIME_NEVER;
    for (size_t i = 0; i < ch->dst->node_count; i++)
        when = gmc_time_min(when, patience_ends(gw, &ch->dst->nodes[i]));
    return when;
}

/* ---- what they say ---- */
void gw_node_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg)
{
    struct gwnode *node = gw_node_find(ch, peer);
    if (node == NULL || node->state == GMC_MEMBER_FAILED) {
        gw->counts.messages_refused++;
        return;
    }
    switch (msg->type) {
    case GMC_MSG_LEAVE:
        fail(gw, ch, node, msg->text);
        break;
    case GMC_MSG_COMPLETE:
        node->bytes = msg->bytes;
        node->complete = true;
        memcpy(node->digest, msg->digest, GMC_HASH_BYTES);
        break;
    case GMC_MSG_STATUS:
        node->bytes = msg->bytes;
        /* fallthrough */
    default:
        if (!is_over(node))
            node->state = GMC_MEMBER_RECEIVING;
    }
    gw_target_step(gw, ch);
}

bool gw_nodes_are_settled(const struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->dst->node_count; i++)
        if (!is_over(&ch->dst->nodes[i]))
            return false;
    return true;
}

bool gw_nodes_failed(const struct gwchannel *ch, char *text, size_t size)
{
    size_t failed = 0;
    for (size_t i = 0; i < ch->dst->node_count; i++)
        failed += ch->dst->nodes[i].state == GMC_MEMBER_FAILED;
    if (failed == 0)
        return false;
    gw_text(text, size, "the gateway has it; %zu of %zu nodes lack it:", failed,
            ch->dst->node_count);
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        const struct gwnode *node = &ch->dst->nodes[i];
        size_t used = strlen(text);
        if (node->state == GMC_MEMBER_FAILED)
            gw_text(text + used, size - used, " %s (%s)", node->peer->name, node->reason);
    }
    return true;
}

/* ---- the end ---- */
static void close_node(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_msg *msg,
                       gmc_status status, const char *reason, bool discard)
{
    msg->type = GMC_MSG_CLOSE;
    msg->status = status;
    msg->text = reason;
    msg->discard = discard;
    gw_send(gw, peer, msg);
}

void gw_nodes_close(struct gmc_gateway *gw, const struct gwchannel *ch, bool discard)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_CLOSE);
    for (size_t i = 0; i < ch->dst->node_count; i++)
        if (ch->dst->nodes[i].peer->up)
            close_node(gw, ch->dst->nodes[i].peer, &msg, discard ? GMC_ERR_CANCELLED : GMC_OK,
                       "the transfer is over at the gateway", discard);
}

void gw_node_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                  const struct gmc_msg *about)
{
    struct gmc_msg msg = {.source = about->source, .e = about->e};
    bool kept = ch != NULL && ch->dst != NULL && ch->dst->phase == GW_DONE;
    close_node(gw, peer, &msg, kept ? GMC_OK : GMC_ERR_NOT_FOUND,
               "the transfer is over at the gateway", !kept);
}
