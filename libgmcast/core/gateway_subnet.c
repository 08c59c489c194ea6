/* SPDX-License-Identifier: BSD-2-Clause */
/* The subnets of this domain that multicast from its gateway does not reach. In each of them one
 * node, a relay, gets the data from the gateway once and sends it to the others all at once, as the
 * gateway does to its own. The relay is their parent in the domain's tree; when it is lost another
 * one takes its place. A gateway that stands outside of its nodes' network has one such subnet. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_group_impl.h"
#include "core/gateway_impl.h"

/* By one node: a larger subnet has several relays. */
#define RELAYED_MAX (GMC_NEIGHBOURS_MAX - 1u)

bool gw_subnets_are_possible(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwtarget *dst = ch->dst;
    if (gw->config.node_of != NULL || ch->talk != NULL || dst->inside_kind == GMC_INSIDE_SHARED)
        return false;
    for (size_t i = 0; i < dst->node_count; i++)
        if (dst->nodes[i].peer->can_relay)
            return true;
    return false;
}

/* Do they stand in one subnet, which is known? */
static bool is_beside(const struct gwpeer *a, const struct gwpeer *b)
{
    return a->subnet != NULL && b->subnet != NULL && strcmp(a->subnet, b->subnet) == 0;
}

/* Does the gateway send to its subnet itself, or may it do so? */
static bool is_reached(const struct gmc_gateway *gw, const struct gwchannel *ch,
                       const struct gwpeer *peer)
{
    return gw_group_is_meant(gw, ch) &&
           (!peer->out_of_reach || strcmp(gw->subnet, peer->subnet) == 0);
}

static bool is_apart(const struct gmc_gateway *gw, const struct gwchannel *ch,
                     const struct gwnode *node)
{
    return node->in_tree && node->address.len > 0 && !node->is_direct &&
           node->peer->subnet != NULL && !is_reached(gw, ch, node->peer);
}

static bool may_relay(struct gmc_gateway *gw, const struct gwchannel *ch, const struct gwnode *node)
{
    return node->peer->can_relay && node->told && gw_node_is_relied_on(gw, node) &&
           node->state != GMC_MEMBER_FAILED && is_apart(gw, ch, node) &&
           !gw_suspect_is_held(gw, ch, node->peer);
}

static size_t count_fed(const struct gwtarget *dst, size_t relay)
{
    size_t count = 0;
    for (size_t i = 0; i < dst->node_count; i++)
        count += dst->nodes[i].by_relay && dst->nodes[i].planned == relay + 1;
    return count;
}

/* Who relays already goes on; else who does so in other channels, so that a node hears one relay
 * alone; else who has most. */
static bool is_better(const struct gwnode *a, const struct gwnode *b)
{
    if (a->is_relay != b->is_relay)
        return a->is_relay;
    if (a->peer->is_relay != b->peer->is_relay)
        return a->peer->is_relay;
    return a->bytes > b->bytes;
}

/* The relay for a node, perhaps itself; dst->node_count: there is none. */
static size_t choose(struct gmc_gateway *gw, const struct gwchannel *ch, size_t i)
{
    const struct gwtarget *dst = ch->dst;
    size_t best = dst->node_count;
    for (size_t k = 0; k < dst->node_count; k++) {
        const struct gwnode *node = &dst->nodes[k];
        if (!is_beside(node->peer, dst->nodes[i].peer) || !may_relay(gw, ch, node) ||
            count_fed(dst, k) >= RELAYED_MAX)
            continue;
        if (best == dst->node_count || is_better(node, &dst->nodes[best]))
            best = k;
    }
    return best;
}

static void set_relay(struct gwnode *node, bool is_relay)
{
    node->is_relay = is_relay;
    node->peer->is_relay = is_relay;
    if (!is_relay)
        return;
    node->planned = 0;
    node->by_relay = false;
}

static void place(struct gmc_gateway *gw, struct gwchannel *ch, size_t i)
{
    struct gwtarget *dst = ch->dst;
    struct gwnode *node = &dst->nodes[i];
    size_t k = choose(gw, ch, i);
    node->by_relay = false;
    node->planned = 0;
    if (k == dst->node_count)
        return; /* from here, over its link */
    set_relay(&dst->nodes[k], true);
    if (k == i)
        return;
    if (count_fed(dst, k) == 0)
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "node %s relays to its subnet %s",
                 dst->nodes[k].peer->name, node->peer->subnet);
    node->planned = (uint32_t)k + 1;
    node->by_relay = true;
}

static bool has_relay(const struct gwtarget *dst, const struct gwnode *node)
{
    return node->is_relay ||
           (node->by_relay && node->planned > 0 && dst->nodes[node->planned - 1].is_relay);
}

void gw_subnets_plan(struct gmc_gateway *gw, struct gwchannel *ch, bool wanted)
{
    struct gwtarget *dst = ch->dst;
    if (!wanted && !dst->relayed)
        return;
    dst->relayed = wanted;
    for (size_t i = 0; i < dst->node_count; i++)
        if (dst->nodes[i].is_relay && (!wanted || !may_relay(gw, ch, &dst->nodes[i])))
            set_relay(&dst->nodes[i], false);
    for (size_t i = 0; i < dst->node_count; i++) {
        struct gwnode *node = &dst->nodes[i];
        if (wanted && is_apart(gw, ch, node)) {
            if (!has_relay(dst, node))
                place(gw, ch, i);
        } else if (node->by_relay) {
            node->by_relay = false;
            node->planned = 0;
        }
    }
}

void gw_subnet_heard(struct gwpeer *peer, const struct gmc_msg *msg)
{
    free(peer->subnet);
    peer->subnet = NULL;
    if (msg->subnet[0] != '\0')
        peer->subnet = (char *)gw_copy(gmc_bytes(msg->subnet, strlen(msg->subnet) + 1));
    peer->can_relay = msg->can_relay && peer->subnet != NULL;
}

/* One that is only slow to answer is not out of reach of what its neighbours hear. */
static bool hears_beside(const struct gwgroup *group, const struct gwpeer *peer)
{
    for (size_t i = 0; group != NULL && i < group->count; i++)
        if (group->listeners[i].state == GW_HEARS && is_beside(group->listeners[i].peer, peer))
            return true;
    return false;
}

void gw_subnet_reached(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer,
                       bool reached)
{
    bool changed = false;
    if (!reached && (peer->out_of_reach || hears_beside(ch->group, peer)))
        return;
    for (size_t i = 0; i < gw->peer_count; i++) {
        struct gwpeer *each = gw->peers[i];
        if (each != peer && (!reached || !is_beside(peer, each)))
            continue;
        changed = changed || each->out_of_reach == reached;
        each->out_of_reach = !reached;
    }
    if (changed)
        gw_set_timer(gw, &ch->timer, gw->now); /* others may feed it from now on */
}

bool gw_subnet_is_by_group(struct gmc_gateway *gw, const struct gwchannel *ch,
                           const struct gwnode *relay, const struct gwnode *node)
{
    return relay->is_relay && node->by_relay && node->planned > 0 &&
           &ch->dst->nodes[node->planned - 1] == relay && !gw_suspect_is_held(gw, ch, node->peer);
}

void gw_subnet_forged(struct gmc_gateway *gw, const struct gwchannel *ch, const struct gwpeer *peer,
                      const struct gmc_msg *msg)
{
    struct gwnode *node = gw_node_find(ch, peer);
    if (node == NULL || !node->is_relay || node->forged)
        return;
    node->forged = true;
    gw->counts.group_forged++;
    gw_event(gw, GMC_EVENT_MEMBER, ch, peer->number, msg->status, "node %s, which relays: %s",
             peer->name, msg->text);
    for (size_t i = 0; i < ch->dst->node_count; i++) {
        const struct gwnode *each = &ch->dst->nodes[i];
        if (each == node || gw_subnet_is_by_group(gw, ch, node, each))
            each->peer->had_key = true;
    }
    gw_suspects_narrow(gw, ch);
}

void gmc_gateway_set_subnet(struct gmc_gateway *gw, gmc_time now, const char *subnet)
{
    gw_begin_input(gw, now);
    gw_text(gw->subnet, sizeof(gw->subnet), "%s", subnet);
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->closing || ch->dst == NULL)
            continue;
        ch->dst->told_ready = false;
        gw_target_step(gw, ch);
    }
}
