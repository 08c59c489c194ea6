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
    dst->nodes[dst->node_count++] =
        (struct gwnode){.peer = peer,
                        .since = gw->now,
                        .stopped = !peer->up && gw_stopped_has(ch, peer->name),
                        .fed_by = GMC_PEER_NONE,
                        .is_spare = dst->inside_kind == GMC_INSIDE_SHARED};
    dst->is_relay = true;
    return GMC_OK;
}

/* A name that no node has; false: each name has one. */
static bool find_unknown(const struct gmc_gateway *gw, const char *text, const char **name,
                         size_t *len)
{
    while (gmc_inside_next(&text, name, len)) {
        bool known = false;
        for (size_t i = 0; i < gw->peer_count && !known; i++)
            known = gw->peers[i]->is_node && gmc_inside_means(*name, *len, gw->peers[i]->name);
        if (!known)
            return true;
    }
    return false;
}

/* Who the other nodes are is not the source's business. */
gmc_status gw_nodes_check(const struct gmc_gateway *gw, const char *inside, size_t count,
                          bool is_asked, char *text, size_t size)
{
    enum gmc_inside kind = gmc_inside_kind(inside);
    const char *name;
    size_t len;
    if (kind == GMC_INSIDE_NONE) {
        gw_text(text, size,
                "%s cannot deliver to \"%.64s\": write gateway, nodes, shared, or names "
                "of nodes with + between",
                gw->domain, inside);
        return GMC_ERR_INVALID;
    }
    if (kind == GMC_INSIDE_NAMED && find_unknown(gw, inside, &name, &len)) {
        gw_text(text, size, "%s has no node %.*s%s", gw->domain, (int)len, name,
                is_asked ? "" : ", which its option deliver names");
        return GMC_ERR_NOT_FOUND;
    }
    /* Without nodes "nodes" is the gateway alone, unless somebody says so. */
    if (count == 0 && kind != GMC_INSIDE_GATEWAY && (is_asked || kind == GMC_INSIDE_SHARED)) {
        gw_text(text, size, "%s has no nodes to deliver to", gw->domain);
        return GMC_ERR_NOT_FOUND;
    }
    return GMC_OK;
}

/* What the record asks for; "" nothing. */
static gmc_status asked_for(const struct gwchannel *ch, char out[GMC_INSIDE_BYTES_MAX + 1])
{
    struct gmc_member member;
    struct gmc_record_holder *holder;
    gmc_status status = gmc_member_decode(ch->place.view.member, &member, &holder);
    if (status != GMC_OK)
        return status;
    gw_text(out, GMC_INSIDE_BYTES_MAX + 1, "%s", member.inside);
    gmc_record_release(holder);
    return GMC_OK;
}

gmc_status gw_nodes_choose(struct gmc_gateway *gw, struct gwchannel *ch, char *text, size_t size)
{
    struct gwtarget *dst = ch->dst;
    if (gw->config.node_of != NULL)
        return GMC_OK;
    gw_text(text, size, "out of memory");
    gmc_status status = asked_for(ch, dst->inside);
    bool is_asked = dst->inside[0] != '\0';
    if (!is_asked)
        gw_text(dst->inside, sizeof(dst->inside), "%s", gw->config.deliver);
    /* Whoever writes files for all does not read messages for all. */
    if (ch->talk != NULL && gmc_inside_kind(dst->inside) == GMC_INSIDE_SHARED)
        gw_text(dst->inside, sizeof(dst->inside), "nodes");
    dst->inside_kind = gmc_inside_kind(dst->inside);
    for (size_t i = 0; i < gw->peer_count && status == GMC_OK; i++)
        if (gw->peers[i]->is_node && gmc_inside_has(dst->inside, gw->peers[i]->name))
            status = add_node(gw, ch, gw->peers[i]);
    if (status != GMC_OK)
        return status;
    return gw_nodes_check(gw, dst->inside, dst->node_count, is_asked, text, size);
}

void gw_nodes_grow(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    char asked[GMC_INSIDE_BYTES_MAX + 1];
    /* Before they were chosen the record alone counts. */
    if (gw->config.node_of != NULL || dst->inside_kind == GMC_INSIDE_NONE ||
        asked_for(ch, asked) != GMC_OK || asked[0] == '\0' || strcmp(asked, dst->inside) == 0)
        return;
    gw_text(dst->inside, sizeof(dst->inside), "%s", asked);
    dst->inside_kind = gmc_inside_kind(asked);
    /* Whoever finds no place is missing, as one that this domain does not have. */
    for (size_t i = 0; i < gw->peer_count; i++)
        if (gw->peers[i]->is_node && gmc_inside_has(asked, gw->peers[i]->name) &&
            gw_node_find(ch, gw->peers[i]) == NULL)
            (void)add_node(gw, ch, gw->peers[i]);
}

/* One that was named, when the transfer ran already, and is not there. The others go on: that it
 * was named in vain is said at the end. */
static bool find_missing(const struct gwtarget *dst, const char **name, size_t *len)
{
    const char *at = dst->inside;
    while (dst->inside_kind == GMC_INSIDE_NAMED && gmc_inside_next(&at, name, len)) {
        bool there = false;
        for (size_t i = 0; i < dst->node_count && !there; i++)
            there = gmc_inside_means(*name, *len, dst->nodes[i].peer->name);
        if (!there)
            return true;
    }
    return false;
}

struct gwnode *gw_node_find(const struct gwchannel *ch, const struct gwpeer *peer)
{
    for (size_t i = 0; ch->dst != NULL && i < ch->dst->node_count; i++)
        if (ch->dst->nodes[i].peer == peer)
            return &ch->dst->nodes[i];
    return NULL;
}

bool gw_node_is_served(const struct gwchannel *ch, const struct gwpeer *peer)
{
    const struct gwnode *node = gw_node_find(ch, peer);
    return node != NULL && !node->is_spare && node->state != GMC_MEMBER_FAILED;
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
    if (node->parent > 0)
        ch->dst->nodes[node->parent - 1].tree_due = true; /* which feeds it no more */
    gw_event(gw, GMC_EVENT_MEMBER, ch, node->peer->number, GMC_ERR_PEER_DOWN, "node %s %s: %s",
             node->peer->name, node->left ? "left" : "lacks it", node->reason);
}

/* Who was meant only as one of the domain's nodes is none of those any more. Whoever was named has
 * to get it, or it is said that he did not. */
static void leave(struct gmc_gateway *gw, const struct gwchannel *ch, struct gwnode *node,
                  const char *reason)
{
    node->left = ch->dst->inside_kind == GMC_INSIDE_NODES;
    fail(gw, ch, node, reason);
}

/* Its part begins anew; its place in the tree it keeps. */
static void revive(struct gmc_gateway *gw, const struct gwchannel *ch, struct gwnode *node)
{
    *node = (struct gwnode){.peer = node->peer,
                            .since = gw->now,
                            .in_tree = node->in_tree,
                            .planned = node->planned,
                            .parent = node->parent,
                            .by_relay = node->by_relay,
                            .tree_due = true,
                            .fed_by = GMC_PEER_NONE,
                            .is_spare = ch->dst->inside_kind == GMC_INSIDE_SHARED};
}

/* One that left comes back while the domain has not said yet that it is complete. */
static bool may_return(const struct gwchannel *ch, const struct gwnode *node)
{
    return node->left && node->peer->is_node && !ch->dst->told_complete;
}

void gw_nodes_give_up(struct gmc_gateway *gw, struct gwchannel *ch, const char *reason)
{
    for (size_t i = 0; i < ch->dst->node_count; i++)
        if (!is_over(&ch->dst->nodes[i]))
            fail(gw, ch, &ch->dst->nodes[i], reason);
    ch->group_over = true;
    gw_group_free(gw, ch);
    gw_target_step(gw, ch);
}

void gmc_gateway_set_node(struct gmc_gateway *gw, gmc_time now, gmc_peer number, bool is_node)
{
    gw_begin_input(gw, now);
    struct gwpeer *peer = gw_peer(gw, number);
    if (peer == NULL || number == gw->self || peer->is_node == is_node)
        return;
    peer->is_node = is_node;
    peer->forges = peer->is_suspect = false; /* or whoever comes by that name has another key */
    if (!gmc_list_is_empty(&peer->children) && is_node)
        gw->feeding--;
    else if (!gmc_list_is_empty(&peer->children))
        gw->feeding++;
    struct gmc_list *item, *after;
    GMC_LIST_FOREACH_SAFE(item, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(item, struct gwchannel, node);
        if (ch->closing)
            continue;
        if (ch->is_source) {
            gw_source_node_changed(gw, ch, peer);
            continue;
        }
        struct gwnode *node = gw_node_find(ch, peer);
        if (is_node && node == NULL && gmc_inside_has(ch->dst->inside, peer->name))
            (void)add_node(gw, ch, peer); /* without memory it gets the next transfer */
        else if (is_node && node != NULL && may_return(ch, node))
            revive(gw, ch, node);
        else if (!is_node)
            gw_group_left(gw, ch, peer, true);
        /* One that had failed, and was removed for that, the domain does without. */
        if (!is_node && node != NULL && node->state != GMC_MEMBER_VERIFIED &&
            !ch->dst->told_partial)
            leave(gw, ch, node, "it is no longer a node of this domain");
        gw_target_step(gw, ch);
    }
}

void gmc_gateway_set_deliver(struct gmc_gateway *gw, gmc_time now, const char *inside)
{
    gw_begin_input(gw, now);
    char *copy = malloc(strlen(inside) + 1);
    if (copy == NULL)
        return;
    strcpy(copy, inside);
    free(gw->deliver);
    gw->config.deliver = gw->deliver = copy;
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
    if (!peer->up)
        gw_group_left(gw, ch, peer, false);
    if (node == NULL)
        return;
    bool stopped = !peer->up && (node->stopped || (peer->stopped && node->told));
    if (stopped != node->stopped) {
        node->stopped = stopped;
        gw_stopped_save(gw, ch);
    }
    node->told = false;
    if (peer->up && may_return(ch, node))
        revive(gw, ch, node);
    if (!peer->up && !is_over(node))
        node->state = GMC_MEMBER_SILENT;
    else if (peer->up && node->state == GMC_MEMBER_SILENT)
        node->state = GMC_MEMBER_WAITING;
}

/* ---- patience ---- */
/* A message channel stays open for those that come back, until it has ended. */
static gmc_time patience_ends(const struct gmc_gateway *gw, const struct gwchannel *ch,
                              const struct gwnode *node)
{
    if (is_over(node) || node->peer->up || (ch->talk != NULL && ch->dst->phase != GW_DONE))
        return GMC_TIME_NEVER;
    return gw_patience_ends(gw, gmc_time_max(node->since, node->peer->silent_since));
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
    gw_event(gw, GMC_EVENT_MEMBER, ch, node->peer->number, GMC_OK,
             ch->talk != NULL ? "ended at node %s" : "verified at node %s", node->peer->name);
}

/* One file system, one writer: the first that is there; another one only when that was given up. */
static void choose_writer(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwnode *next = NULL;
    for (size_t i = 0; ch->dst->inside_kind == GMC_INSIDE_SHARED && i < ch->dst->node_count; i++) {
        struct gwnode *node = &ch->dst->nodes[i];
        if (!node->is_spare && node->state != GMC_MEMBER_FAILED)
            return;
        if (next == NULL && node->is_spare && node->state != GMC_MEMBER_FAILED && node->peer->up)
            next = node;
    }
    if (next == NULL)
        return;
    next->is_spare = false;
    next->since = gw->now;
    gw_event(gw, GMC_EVENT_MEMBER, ch, next->peer->number, GMC_OK, "node %s writes for all",
             next->peer->name);
}

void gw_nodes_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    choose_writer(gw, ch);
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        struct gwnode *node = &ch->dst->nodes[i];
        check_digest(gw, ch, node);
        /* Whoever was stopped is waited for as well: mostly it is started again. */
        if (gw->now >= patience_ends(gw, ch, node) && node->stopped)
            leave(gw, ch, node, node->peer->stopped ? node->peer->reason : "it was stopped");
        else if (gw->now >= patience_ends(gw, ch, node))
            fail(gw, ch, node, node->peer->reason);
        else if (!node->told && !node->is_spare && node->peer->up &&
                 ch->dst->phase >= GW_RECEIVING && node->state != GMC_MEMBER_FAILED)
            tell(gw, ch, node);
    }
    gw_tree_step(gw, ch);
}

gmc_time gw_nodes_deadline(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    gmc_time when = GMC_TIME_NEVER;
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        const struct gwnode *node = &ch->dst->nodes[i];
        when = gmc_time_min(when, patience_ends(gw, ch, node));
        if (node->feeds_from > gw->now)
            when = gmc_time_min(when, node->feeds_from);
    }
    return when;
}

/* ---- what they say ---- */
void gw_node_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg)
{
    struct gwnode *node = gw_node_find(ch, peer);
    if (node == NULL || node->is_spare || node->state == GMC_MEMBER_FAILED) {
        gw->counts.messages_refused++;
        return;
    }
    if (msg->type == GMC_MSG_TREE_READY)
        gw_subnet_heard(peer, msg);
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
        gw_tree_report(gw, ch, node, msg->parent);
        /* fallthrough */
    default:
        if (!is_over(node))
            node->state = GMC_MEMBER_RECEIVING;
    }
    gw_target_step(gw, ch);
}

struct gwnode_counts gw_nodes_count(const struct gwchannel *ch)
{
    struct gwnode_counts counts = {0};
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        const struct gwnode *node = &ch->dst->nodes[i];
        counts.all++;
        counts.verified += node->state == GMC_MEMBER_VERIFIED;
        counts.failed += node->state == GMC_MEMBER_FAILED && !node->left;
        counts.left += node->left;
    }
    if (counts.left == counts.all) {
        counts.failed = counts.all;
        counts.left = 0;
    }
    if (ch->dst->inside_kind == GMC_INSIDE_SHARED && counts.all > 0) {
        counts.failed = counts.failed == counts.all;
        counts.all = 1;
    }
    return counts;
}

bool gw_nodes_are_settled(const struct gwchannel *ch)
{
    struct gwnode_counts counts = gw_nodes_count(ch);
    return counts.verified + counts.failed + counts.left == counts.all;
}

/* Behind what stands in text: those that have left, or those that have failed and stayed. */
static void put_names(const struct gwchannel *ch, bool left, char *text, size_t size)
{
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        const struct gwnode *node = &ch->dst->nodes[i];
        size_t used = strlen(text);
        if (node->state == GMC_MEMBER_FAILED && node->left == left)
            gw_text(text + used, size - used, " %s (%s)", node->peer->name, node->reason);
    }
}

bool gw_nodes_failed(const struct gwchannel *ch, char *text, size_t size)
{
    struct gwnode_counts counts = gw_nodes_count(ch);
    const char *name;
    size_t len;
    if (find_missing(ch->dst, &name, &len)) {
        gw_text(text, size, "the gateway has it; there is no node %.*s%s", (int)len, name,
                counts.failed > 0 ? ", and others lack it:" : "");
        put_names(ch, false, text, size);
        return true;
    }
    if (counts.failed == 0)
        return false;
    if (ch->dst->inside_kind == GMC_INSIDE_SHARED)
        gw_text(text, size, "the gateway has it; no node could write it for all:");
    else
        gw_text(text, size,
                "the gateway has it; %u of %u nodes lack it:", counts.failed + counts.left,
                counts.all);
    put_names(ch, false, text, size);
    put_names(ch, true, text, size);
    return true;
}

void gw_nodes_left(const struct gwchannel *ch, char *text, size_t size)
{
    struct gwnode_counts counts = gw_nodes_count(ch);
    text[0] = '\0';
    if (counts.left == 0)
        return;
    gw_text(text, size, "%u of %u nodes left before they had it:", counts.left, counts.all);
    put_names(ch, true, text, size);
}

void gw_nodes_resume(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        struct gwnode *node = &ch->dst->nodes[i];
        if (node->state == GMC_MEMBER_FAILED && node->peer->is_node)
            revive(gw, ch, node);
    }
}

/* ---- the end ---- */
/* Whatever a node has not finished by now it gets from nobody any more. */
static void close_node(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_msg *msg,
                       gmc_status status)
{
    msg->type = GMC_MSG_CLOSE;
    msg->status = status;
    msg->text = "the transfer is over at the gateway";
    msg->discard = true;
    gw_send(gw, peer, msg);
}

void gw_nodes_close(struct gmc_gateway *gw, const struct gwchannel *ch, bool cancelled)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_CLOSE);
    for (size_t i = 0; i < ch->dst->node_count; i++)
        if (ch->dst->nodes[i].peer->up)
            close_node(gw, ch->dst->nodes[i].peer, &msg, cancelled ? GMC_ERR_CANCELLED : GMC_OK);
}

void gw_node_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                  const struct gmc_msg *about)
{
    struct gmc_msg msg = {.source = about->source, .e = about->e};
    bool kept = ch != NULL &&
                (ch->is_source ? ch->state == GMC_CHANNEL_COMPLETE : ch->dst->phase == GW_DONE);
    close_node(gw, peer, &msg, kept ? GMC_OK : GMC_ERR_NOT_FOUND);
}
