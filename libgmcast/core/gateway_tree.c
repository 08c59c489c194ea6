/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of this domain as a tree: who of them feeds whom, by the shape that the shell gave. The
 * gateway makes the sessions between neighbours, of which each is told its own alone. A node that
 * is lost is stepped over, one that comes is placed; nobody outside the domain notices. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_group_impl.h"
#include "core/gateway_impl.h"

#define REACH_WAIT GMC_MS(1500) /* for a node to find the parent that it was told */
/* A node that was silent and is heard again feeds others after so long, so much longer each time:
 * to lose one's parent costs a third of a second. */
#define FEED_AGAIN GMC_S(1)
#define FEED_AGAIN_DOUBLINGS 6u

_Static_assert(sizeof(((struct gmc_addr *)NULL)->bytes) == GMC_ADDRESS_MAX, "any address fits");

/* A session between two nodes: of datagrams to each of them, its number and its key. */
struct gwpair {
    struct gmc_list node;
    struct gwpeer *ends[2];
    uint32_t ids[2];
    uint8_t keys[2][GMC_KEY_BYTES];
};

/* ---- sessions between nodes ---- */
static bool joins(const struct gwpair *pair, const struct gwpeer *a, const struct gwpeer *b)
{
    return (pair->ends[0] == a && pair->ends[1] == b) || (pair->ends[0] == b && pair->ends[1] == a);
}

static uint32_t new_id(struct gmc_gateway *gw)
{
    uint32_t id;
    do {
        id = (uint32_t)gw_random64(gw);
    } while (id == 0);
    return id;
}

/* Two that are neighbours in several channels have one session. NULL: no memory. */
static const struct gwpair *pair_of(struct gmc_gateway *gw, struct gwpeer *a, struct gwpeer *b)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->pairs)
    {
        const struct gwpair *pair = GMC_CONTAINER_OF(node, struct gwpair, node);
        if (joins(pair, a, b))
            return pair;
    }
    struct gwpair *pair = calloc(1, sizeof(*pair));
    if (pair == NULL)
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        pair->ends[i] = i == 0 ? a : b;
        pair->ids[i] = new_id(gw);
        crypto->ops->random(crypto->ctx, pair->keys[i], GMC_KEY_BYTES);
    }
    gmc_list_init(&pair->node);
    gmc_list_push_back(&gw->pairs, &pair->node);
    return pair;
}

static void pair_free(struct gwpair *pair)
{
    gmc_list_remove(&pair->node);
    memset(pair->keys, 0, sizeof(pair->keys));
    free(pair);
}

/* No session between the two, or of the one with anybody (other NULL), is used again. */
static void pairs_end(struct gmc_gateway *gw, const struct gwpeer *one, const struct gwpeer *other)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->pairs)
    {
        struct gwpair *pair = GMC_CONTAINER_OF(node, struct gwpair, node);
        bool is_of_one = pair->ends[0] == one || pair->ends[1] == one;
        if (other != NULL ? joins(pair, one, other) : is_of_one)
            pair_free(pair);
    }
}

/* As far as the two were told: a node that has failed is nobody's neighbour any more, though the
 * channel waits for it to come back. */
static bool is_used(const struct gmc_gateway *gw, const struct gwpair *pair)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        const struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        for (size_t i = 0; ch->dst != NULL && !ch->closing && i < ch->dst->node_count; i++) {
            const struct gwnode *at = &ch->dst->nodes[i];
            if (at->parent > 0 && at->state != GMC_MEMBER_FAILED &&
                joins(pair, at->peer, ch->dst->nodes[at->parent - 1].peer))
                return true;
        }
    }
    return false;
}

void gw_tree_over(struct gmc_gateway *gw)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->pairs)
    {
        struct gwpair *pair = GMC_CONTAINER_OF(node, struct gwpair, node);
        if (!is_used(gw, pair))
            pair_free(pair);
    }
}

void gw_tree_free(struct gmc_gateway *gw)
{
    struct gmc_list *node;
    while ((node = gmc_list_first(&gw->pairs)) != NULL)
        pair_free(GMC_CONTAINER_OF(node, struct gwpair, node));
}

/* ---- places ---- */
static bool is_placed_now(const struct gwnode *node)
{
    return node->told && node->peer->up && !node->is_spare && node->state != GMC_MEMBER_FAILED;
}

/* Over TCP alone a node can neither feed others nor be fed by them. */
static bool has_address(const struct gwnode *node)
{
    return node->address.len > 0;
}

static bool may_feed(const struct gmc_gateway *gw, const struct gwnode *node)
{
    return gw_node_is_relied_on(gw, node) && node->state != GMC_MEMBER_FAILED && has_address(node);
}

static bool feeds_any(const struct gwtarget *dst, const struct gwnode *node)
{
    for (size_t k = 0; k < dst->node_count; k++)
        if (dst->nodes[k].parent == (size_t)(node - dst->nodes) + 1)
            return true;
    return false;
}

/* Its neighbours' sessions with it are to be told anew, or who its neighbours are. */
static void touch_around(struct gwtarget *dst, size_t i)
{
    dst->nodes[i].tree_due = true;
    if (dst->nodes[i].parent > 0)
        dst->nodes[dst->nodes[i].parent - 1].tree_due = true;
    for (size_t k = 0; k < dst->node_count; k++)
        if (dst->nodes[k].parent == i + 1)
            dst->nodes[k].tree_due = true;
}

/* False: it is that already. */
static bool set_parent(struct gmc_gateway *gw, struct gwtarget *dst, size_t i, uint32_t parent)
{
    struct gwnode *node = &dst->nodes[i];
    if (node->parent == parent)
        return false;
    if (node->parent > 0)
        dst->nodes[node->parent - 1].tree_due = true;
    node->parent = parent;
    node->parent_since = gw->now;
    node->tree_due = true;
    if (parent > 0)
        dst->nodes[parent - 1].tree_due = true;
    return true;
}

/* Whoever cannot feed is stepped over. */
static uint32_t living_parent(const struct gmc_gateway *gw, const struct gwtarget *dst, size_t i)
{
    const struct gwnode *node = &dst->nodes[i];
    uint32_t at = has_address(node) && !node->is_direct ? node->planned : 0;
    while (at > 0 && !may_feed(gw, &dst->nodes[at - 1]))
        at = dst->nodes[at - 1].planned;
    return at;
}

/* Everybody's way leads to the first one, and no node feeds more than it can be told of. */
static bool is_tree(const uint32_t *parent, size_t count, bool first_is_node)
{
    for (size_t i = first_is_node ? 0 : 1; i < count; i++) {
        size_t steps = 0, fed = 0;
        for (uint32_t at = (uint32_t)i; at != 0; at = parent[at])
            if (parent[at] >= count || ++steps >= count)
                return false;
        for (size_t k = 1; k < count; k++)
            fed += parent[k] == i;
        if (fed >= GMC_NEIGHBOURS_MAX)
            return false;
    }
    return true;
}

struct plan {
    const char **names;
    uint32_t *parent; /* by place; 0 is this gateway, or the node that feeds the deaf */
    size_t *index;    /* of the node at a place */
    size_t count;
};

static void plan_free(struct plan *plan)
{
    free(plan->names);
    free(plan->parent);
    free(plan->index);
}

static bool plan_new(const struct gmc_gateway *gw, const struct gwtarget *dst, struct plan *plan)
{
    *plan = (struct plan){.names = calloc(dst->node_count + 1, sizeof(*plan->names)),
                          .parent = calloc(dst->node_count + 1, sizeof(*plan->parent)),
                          .index = calloc(dst->node_count + 1, sizeof(*plan->index)),
                          .count = 1};
    if (plan->names == NULL || plan->parent == NULL || plan->index == NULL)
        return false;
    plan->names[0] = dst->tree_root > 0 ? dst->nodes[dst->tree_root - 1].peer->name : gw->domain;
    for (size_t i = 0; i < dst->node_count; i++) {
        if (!dst->nodes[i].shaped)
            continue;
        plan->index[plan->count] = i;
        plan->names[plan->count++] = dst->nodes[i].peer->name;
    }
    return true;
}

static void say_plan(struct gmc_gateway *gw, const struct gwchannel *ch, const struct plan *plan,
                     const char *name)
{
    size_t here = 0;
    for (size_t i = 1; i < plan->count; i++)
        here += plan->parent[i] == 0;
    if (ch->dst->tree_root > 0)
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK,
                 "%zu nodes that get nothing by multicast are a tree (%s), in which node %s feeds "
                 "%zu",
                 plan->count - 1, name, plan->names[0], here);
    else
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK,
                 "its %zu nodes are a tree (%s), in which this gateway feeds %zu", plan->count - 1,
                 name, here);
}

/* Where all that the shape is for stand. Without one that fits everybody is fed from here. */
static void make_plan(struct gmc_gateway *gw, struct gwchannel *ch, bool wanted)
{
    struct gwtarget *dst = ch->dst;
    struct plan plan;
    const char *name = "";
    bool by_node = dst->tree_root > 0;
    for (size_t i = 0; i < dst->node_count; i++)
        dst->nodes[i].planned = 0;
    bool shaped = wanted && plan_new(gw, dst, &plan);
    if (shaped && plan.count > (by_node ? 1 : 2) &&
        gw->inside_tree.shape(gw->inside_tree.ctx, plan.names, plan.count,
                              ch->object.total_bytes + ch->object.listing_bytes, plan.parent,
                              &name) == GMC_OK &&
        is_tree(plan.parent, plan.count, by_node)) {
        for (size_t i = 1; i < plan.count; i++)
            dst->nodes[plan.index[i]].planned =
                plan.parent[i] > 0 ? (uint32_t)plan.index[plan.parent[i]] + 1 : dst->tree_root;
        say_plan(gw, ch, &plan, name);
    }
    if (wanted)
        plan_free(&plan);
}

/* Who came has a place from then on. */
static void take_places(struct gwtarget *dst)
{
    for (size_t i = 0; i < dst->node_count; i++) {
        struct gwnode *node = &dst->nodes[i];
        node->in_tree = node->in_tree || is_placed_now(node);
        if (node->peer->up)
            node->address = gmc_link_from(node->peer->link);
    }
}

/* For whom the shape is, and from whom. True: for others than before, or it is to be asked for
 * anew. */
static bool choose_shaped(const struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    bool by_group = gw_group_is_possible(gw, ch);
    uint32_t root = by_group ? gw_deaf_helper(gw, ch) : 0;
    bool changed = dst->tree_again || root != dst->tree_root;
    dst->tree_again = false;
    dst->tree_root = root;
    for (size_t i = 0; i < dst->node_count; i++) {
        struct gwnode *node = &dst->nodes[i];
        bool shaped = node->in_tree && (!by_group || node->deaf);
        changed = changed || shaped != node->shaped;
        node->shaped = shaped;
    }
    return changed;
}

/* ---- telling ---- */
static bool put_neighbour(struct gmc_gateway *gw, const struct gwchannel *ch,
                          const struct gwnode *who, const struct gwnode *of, bool is_parent,
                          struct gmc_msg_neighbour *out)
{
    const struct gwpair *pair = pair_of(gw, of->peer, who->peer);
    if (pair == NULL)
        return false;
    int to = pair->ends[1] == of->peer;
    *out =
        (struct gmc_msg_neighbour){.name = of->peer->name,
                                   .is_parent = is_parent,
                                   .by_group = !is_parent && gw_subnet_is_by_group(gw, ch, who, of),
                                   .address = gmc_bytes(of->address.bytes, of->address.len),
                                   .send_id = pair->ids[to],
                                   .receive_id = pair->ids[!to],
                                   .send_key = pair->keys[to],
                                   .receive_key = pair->keys[!to]};
    return true;
}

static void tell(struct gmc_gateway *gw, struct gwchannel *ch, size_t i)
{
    struct gwtarget *dst = ch->dst;
    struct gwnode *node = &dst->nodes[i];
    struct gmc_msg_neighbour neighbours[GMC_NEIGHBOURS_MAX];
    struct gmc_msg msg = gw_about(ch, GMC_MSG_TREE);
    size_t count = 0;
    if (node->parent > 0)
        count += put_neighbour(gw, ch, node, &dst->nodes[node->parent - 1], true, &neighbours[0]);
    for (size_t k = 0; k < dst->node_count && count < GMC_NEIGHBOURS_MAX; k++)
        if (dst->nodes[k].parent == i + 1 && dst->nodes[k].state != GMC_MEMBER_FAILED)
            count += put_neighbour(gw, ch, node, &dst->nodes[k], false, &neighbours[count]);
    msg.neighbours = neighbours;
    msg.neighbour_count = count;
    gw_send(gw, node->peer, &msg);
    node->tree_due = false;
}

void gw_tree_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    bool relayed = gw_subnets_are_possible(gw, ch);
    bool wanted =
        gw->inside_tree.shape != NULL && dst->inside_kind != GMC_INSIDE_SHARED && !relayed &&
        (!gw_group_is_possible(gw, ch) || (gw_deaf_any(ch) && !gw_group_may_be_heard(gw, ch)));
    if (!wanted && !relayed && !dst->tree_used && !dst->relayed)
        return;
    take_places(dst);
    bool changed = wanted && choose_shaped(gw, ch);
    if (changed || wanted != dst->tree_used)
        make_plan(gw, ch, wanted);
    dst->tree_used = wanted;
    gw_subnets_plan(gw, ch, relayed);
    bool moved = false;
    for (size_t i = 0; i < dst->node_count; i++)
        moved = set_parent(gw, dst, i, living_parent(gw, dst, i)) || moved;
    for (size_t i = 0; i < dst->node_count; i++)
        gw_group_relayed(ch, &dst->nodes[i]);
    /* Who were neighbours, and are so again later, get another session: they ended that one. */
    if (moved)
        gw_tree_over(gw);
    for (size_t i = 0; i < dst->node_count; i++)
        if (dst->nodes[i].tree_due && is_placed_now(&dst->nodes[i]))
            tell(gw, ch, i);
}

/* ---- what happens to them ---- */
void gw_tree_link_up(struct gmc_gateway *gw, const struct gwpeer *peer)
{
    struct gmc_list *node;
    pairs_end(gw, peer, NULL); /* it may have been started anew */
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        const struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        for (size_t i = 0; ch->dst != NULL && i < ch->dst->node_count; i++)
            if (ch->dst->nodes[i].peer == peer)
                touch_around(ch->dst, i);
    }
}

bool gw_node_is_relied_on(const struct gmc_gateway *gw, const struct gwnode *node)
{
    return node->peer->up && !node->peer->is_silent && gw->now >= node->feeds_from;
}

void gw_tree_silence(struct gmc_gateway *gw, const struct gwpeer *peer)
{
    struct gmc_list *item;
    GMC_LIST_FOREACH(item, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(item, struct gwchannel, node);
        struct gwnode *node = gw_node_find(ch, peer);
        if (node == NULL || ch->closing)
            continue;
        if (!peer->is_silent) {
            node->feeds_from = gmc_time_add(gw->now, FEED_AGAIN << node->silences);
            if (node->silences < FEED_AGAIN_DOUBLINGS)
                node->silences++;
        } else if (node->told && feeds_any(ch->dst, node)) {
            gw_event(gw, GMC_EVENT_MEMBER, ch, peer->number, GMC_ERR_TIMEOUT,
                     "node %s says nothing: others feed whom it fed", peer->name);
        }
        gw_set_timer(gw, &ch->timer, gw->now);
    }
}

void gw_tree_report(struct gmc_gateway *gw, struct gwchannel *ch, struct gwnode *node,
                    const char *parent)
{
    const struct gwpeer *known = gw_peer_known(gw, parent);
    node->fed_by = known != NULL ? known->number : GMC_PEER_NONE;
    /* One that has lost its parent, perhaps before the gateway knows of that, did reach it. */
    if (node->parent > 0 && node->fed_by == ch->dst->nodes[node->parent - 1].peer->number)
        node->parent_since = gw->now;
    if (node->parent == 0 || node->is_direct || node->fed_by != gw->self ||
        gw->now < gmc_time_add(node->parent_since, REACH_WAIT))
        return;
    node->is_direct = true;
    /* Perhaps one of them ended the session that the other still has. */
    pairs_end(gw, node->peer, ch->dst->nodes[node->parent - 1].peer);
    gw_event(gw, GMC_EVENT_MEMBER, ch, node->peer->number, GMC_ERR_PEER_DOWN,
             "node %s does not reach node %s: it is fed from here", node->peer->name,
             ch->dst->nodes[node->parent - 1].peer->name);
}

void gmc_gateway_set_inside_tree(struct gmc_gateway *gw, gmc_time now,
                                 const struct gmc_inside_tree *tree)
{
    gw_begin_input(gw, now);
    gw->inside_tree = tree != NULL ? *tree : (struct gmc_inside_tree){0};
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->dst == NULL || ch->closing)
            continue;
        ch->dst->tree_again = true;
        gw_target_step(gw, ch);
    }
}
