/* SPDX-License-Identifier: BSD-2-Clause */
/* Who of the nodes listens to the group, what each of them has and loses, and whom the group waits
 * for. */
#include <stdlib.h>

#include "core/gateway_group_impl.h"

#define HEARD_LATE GMC_S(2) /* then it is said that it does not hear */
#define LOSS_SHIFT 3        /* of the smoothing: an eighth of each report */
#define LOSS_SAMPLE 500u    /* datagrams that a report of loss has at least */
/* For a word from a node for which others wait. A healthy one says every 20 to 60 ms what it has.
 */
#define QUIET_WAIT GMC_MS(100)
#define ASLEEP GMC_MS(50) /* between two looks, of which the group has one each 20 ms */
#define APART_PPM 40000u  /* of the rate, that the others may lose by the worst one */
#define PPM 1000000u

struct gwlistener *gw_listener_of(const struct gwgroup *group, const struct gwpeer *peer)
{
    for (size_t i = 0; group != NULL && i < group->count; i++)
        if (group->listeners[i].peer == peer)
            return &group->listeners[i];
    return NULL;
}

bool gw_listener_counts(const struct gwlistener *listener)
{
    return listener->state == GW_HEARS && !listener->lags && !listener->quiet;
}

size_t gw_group_hearing(const struct gwgroup *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += group->listeners[i].state == GW_HEARS;
    return count;
}

/* Has everybody whom the group counts on all of it? */
static bool is_settled(const struct gwgroup *group, const struct gwwindow *window)
{
    for (size_t i = 0; i < group->count; i++)
        if (gw_listener_counts(&group->listeners[i]) &&
            group->listeners[i].first_turn <= window->out.turn && !gw_window_has(window, i))
            return false;
    return true;
}

/* Whom the group counts on has changed. */
static void look_again(struct gmc_gateway *gw, struct gwgroup *group)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &group->tx.open)
    {
        struct gwwindow *window = gw_window_of(GMC_CONTAINER_OF(node, struct gmc_group_out, node));
        if (is_settled(group, window))
            gw_window_retire(gw, group, window);
    }
}

/* Since when it owes a word on some window; NEVER. */
static gmc_time owes_since(const struct gwgroup *group, const struct gwlistener *listener)
{
    size_t i = (size_t)(listener - group->listeners);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &group->tx.open)
    {
        struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        if (out->turn < listener->first_turn || out->sources_sent < out->sources ||
            gw_window_has(gw_window_of(out), i))
            continue;
        return gmc_time_max(gmc_time_max(out->sent_at, listener->heard_at), group->awake_from);
    }
    return GMC_TIME_NEVER;
}

/* If nobody says anything it is not a node that is stopped. */
static bool is_anybody_heard(const struct gwgroup *group, gmc_time since)
{
    for (size_t i = 0; i < group->count; i++)
        if (gw_listener_counts(&group->listeners[i]) && group->listeners[i].heard_at > since)
            return true;
    return false;
}

void gw_group_put_aside(struct gmc_gateway *gw, struct gwgroup *group)
{
    bool any = false;
    if (gmc_time_sub(gw->now, group->looked_at) > ASLEEP)
        group->awake_from = gw->now; /* what they said meanwhile is not read yet */
    group->looked_at = gw->now;
    if (!gw_group_is_full(gw, group))
        return;
    for (size_t i = 0; i < group->count; i++) {
        struct gwlistener *listener = &group->listeners[i];
        if (!gw_listener_counts(listener))
            continue;
        gmc_time since = owes_since(group, listener);
        if (gw->now < gmc_time_add(since, QUIET_WAIT) || !is_anybody_heard(group, since))
            continue;
        listener->quiet = any = true;
        if (!listener->quiet_said)
            gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, GMC_ERR_TIMEOUT,
                     "node %s says nothing: the others do not wait for it until it does",
                     listener->peer->name);
        listener->quiet_said = true;
        gw_set_timer(gw, &group->channel->timer, gw->now); /* it may feed others */
    }
    if (any)
        look_again(gw, group);
}

/* It counts again, with what is begun from now on; what it lacks its link brings. */
static void speaks(struct gmc_gateway *gw, struct gwgroup *group, struct gwlistener *listener)
{
    listener->heard_at = gw->now;
    if (!listener->quiet)
        return;
    listener->quiet = false;
    listener->first_turn = group->tx.turns;
    gw_children_touch(gw, group->channel);
}

static struct gwlistener *listener_add(struct gwgroup *group, struct gwpeer *peer)
{
    if (group->count == GW_LISTENERS_MAX)
        return NULL;
    struct gwlistener *grown = realloc(group->listeners, sizeof(*grown) * (group->count + 1));
    if (grown == NULL)
        return NULL;
    group->listeners = grown;
    grown[group->count] = (struct gwlistener){.peer = peer};
    return &grown[group->count++];
}

static void take_room(struct gwchannel *ch, struct gwlistener *listener)
{
    const struct gwchild *child = gw_child_find(ch, listener->peer, 0);
    if (child != NULL)
        listener->room = (uint64_t)child->tx.window * ch->stripe_count;
}

/* A gateway reaches its nodes, a relay those that it was told to. */
static bool is_meant(const struct gmc_gateway *gw, const struct gwchannel *ch,
                     const struct gwpeer *peer)
{
    if (gw->config.node_of == NULL)
        return peer->is_node;
    for (size_t i = 0; i < ch->dst->neighbour_count; i++)
        if (ch->dst->neighbours[i].peer == peer)
            return ch->dst->neighbours[i].by_group;
    return false;
}

void gw_group_relayed(struct gwchannel *ch, const struct gwnode *node)
{
    struct gwlistener *listener = gw_listener_of(ch->group, node->peer);
    if (listener == NULL)
        return;
    listener->relays = node->is_relay;
    listener->relayed = node->by_relay || (node->deaf && node->parent > 0);
    listener->deaf_said = listener->deaf_said || node->is_relay || node->by_relay;
}

static bool did_not_hear(const struct gwpeer *peer)
{
    return peer->out_of_reach || peer->is_deaf;
}

/* It may be who forges: it gets no key. */
static void hold(struct gmc_gateway *gw, struct gwchannel *ch, struct gwlistener *listener)
{
    listener->state = GW_DEAF;
    listener->deaf_said = true;
    gw_deaf_count(gw, ch, listener->peer, true);
}

void gw_group_attached(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer)
{
    if (!is_meant(gw, ch, peer))
        return;
    gw_group_check_size(gw, ch);
    if (!gw_group_is_possible(gw, ch))
        return;
    struct gwgroup *group = ch->group != NULL ? ch->group : gw_group_new(gw, ch);
    struct gwlistener *listener = gw_listener_of(group, peer);
    if (listener == NULL && group != NULL)
        listener = listener_add(group, peer);
    if (listener == NULL)
        return; /* without memory: by unicast */
    take_room(ch, listener);
    if (listener->state == GW_HEARS)
        return;
    if (gw->config.node_of == NULL && gw_suspect_is_held(gw, ch, peer)) {
        hold(gw, ch, listener);
        return;
    }
    listener->state = GW_ASKED;
    listener->deaf_said = false;
    /* What did not hear lately is not waited for. */
    listener->asked_at = did_not_hear(peer) ? gmc_time_sub(gw->now, GW_HEAR_WAIT) : gw->now;
    gw_group_tell(gw, group, listener, false);
    const struct gwnode *node = gw_node_find(ch, peer);
    if (node != NULL)
        gw_group_relayed(ch, node);
}

void gw_group_review(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; ch->group != NULL && i < ch->group->count; i++) {
        const struct gwpeer *peer = ch->group->listeners[i].peer;
        if (ch->group->listeners[i].state != GW_DEAF && !is_meant(gw, ch, peer))
            gw_group_left(gw, ch, peer, true);
    }
    for (size_t i = 0; i < ch->dst->neighbour_count; i++) {
        struct gwpeer *peer = ch->dst->neighbours[i].peer;
        if (gw_listener_of(ch->group, peer) == NULL && gw_child_find(ch, peer, 0) != NULL)
            gw_group_attached(gw, ch, peer);
    }
}

void gw_group_left(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer,
                   bool is_no_node)
{
    struct gwgroup *group = ch->group;
    struct gwlistener *listener = gw_listener_of(group, peer);
    if (listener == NULL)
        return;
    listener->state = GW_DEAF;
    listener->deaf_said = true;
    look_again(gw, group);
    if (!is_no_node)
        return;
    /* It knows the key: the others go on with another. */
    if (gw_group_new_key(gw, group) != GMC_OK) {
        ch->group_over = true;
        return;
    }
    for (size_t i = 0; i < group->count; i++)
        if (group->listeners[i].state != GW_DEAF)
            gw_group_tell(gw, group, &group->listeners[i], false);
}

static bool has_blocks(struct gwchannel *ch, const struct gwpeer *peer,
                       const struct gmc_group_shape *shape)
{
    for (uint32_t i = 0; i < shape->blocks; i++) {
        uint32_t number = shape->first + i;
        const struct gwchild *child =
            gw_child_find(ch, peer, gmc_stripe_of(ch->stripe_count, number));
        uint32_t index = child != NULL ? gw_child_index(child, number) : 0;
        if (child == NULL || gmc_tx_is_open(&child->tx, index) ||
            !gmc_interval_contains(&child->tx.taken, index))
            return false;
    }
    return true;
}

bool gw_window_is_lacked(const struct gwgroup *group, struct gwwindow *window)
{
    bool lacked = false;
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *listener = &group->listeners[i];
        if (listener->state != GW_HEARS)
            continue;
        if (has_blocks(group->channel, listener->peer, &window->shape))
            window->has[i / 64] |= UINT64_C(1) << i % 64;
        else
            lacked = true;
    }
    return lacked;
}

/* The same of one node. */
static uint64_t lacked_by(const struct gwgroup *group, const struct gwlistener *listener,
                          uint64_t first)
{
    struct gwchannel *ch = group->channel;
    uint32_t stripes = ch->stripe_count;
    uint64_t least = ch->blocks;
    for (uint32_t k = 0; k < stripes; k++) {
        const struct gwchild *child = gw_child_find(ch, listener->peer, k);
        uint64_t from = gmc_stripe_below(stripes, k, first), index;
        if (child == NULL)
            return first;
        if (!gmc_interval_first_missing(&child->tx.taken, from, child->tx.blocks, &index))
            continue;
        index = gmc_stripe_block(stripes, k, index);
        least = index < least ? index : least;
    }
    return least;
}

uint64_t gw_group_lacked(const struct gwgroup *group, uint64_t first)
{
    uint64_t least = group->channel->blocks;
    for (size_t i = 0; i < group->count && least > first; i++) {
        if (group->listeners[i].state != GW_HEARS)
            continue;
        uint64_t lacked = lacked_by(group, &group->listeners[i], first);
        least = lacked < least ? lacked : least;
    }
    return least;
}

void gw_group_had(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer)
{
    struct gwgroup *group = ch->group;
    struct gwlistener *listener = gw_listener_of(group, peer);
    if (listener == NULL)
        return;
    speaks(gw, group, listener);
    take_room(ch, listener);
    size_t i = (size_t)(listener - group->listeners);
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &group->tx.open)
    {
        struct gwwindow *window = gw_window_of(GMC_CONTAINER_OF(node, struct gmc_group_out, node));
        if (gw_window_has(window, i) || !has_blocks(ch, peer, &window->shape))
            continue;
        window->has[i / 64] |= UINT64_C(1) << i % 64;
        listener->late = 0;
        group->lost = 0;
        if (is_settled(group, window))
            gw_window_retire(gw, group, window);
    }
}

/* The rate that whoever loses so much leaves to all. */
static uint32_t kept_ppm(uint32_t loss_ppm)
{
    return PPM - loss_ppm;
}

/* One that loses far more than those behind it is not waited for. Each of the worst ones in turn,
 * as long as most remain. */
static void judge(struct gmc_gateway *gw, struct gwgroup *group)
{
    size_t known = 0, left = 0;
    for (size_t i = 0; i < group->count; i++)
        known += group->listeners[i].state == GW_HEARS && group->listeners[i].loss_known;
    bool changed = false;
    uint32_t above = PPM + 1;
    for (size_t place = 0; place < known / 4 + (known > 1 && known < 4); place++) {
        uint32_t worst = 0, next = 0;
        struct gwlistener *at = NULL;
        for (size_t i = 0; i < group->count; i++) {
            struct gwlistener *listener = &group->listeners[i];
            if (listener->state != GW_HEARS || !listener->loss_known || listener->loss_ppm >= above)
                continue;
            if (at == NULL || listener->loss_ppm > worst) {
                next = worst;
                worst = listener->loss_ppm;
                at = listener;
            } else if (listener->loss_ppm > next) {
                next = listener->loss_ppm;
            }
        }
        if (at == NULL || kept_ppm(next) - kept_ppm(worst) < APART_PPM)
            break;
        left = place + 1;
        above = worst;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct gwlistener *listener = &group->listeners[i];
        bool lags = left > 0 && listener->loss_known && listener->loss_ppm >= above;
        if (listener->state != GW_HEARS || listener->late >= GW_LATE_MAX || listener->lags == lags)
            continue;
        listener->lags = lags;
        changed = true;
        gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, GMC_OK,
                 lags ? "node %s loses %u %% of the group: the others do not wait for it"
                      : "node %s is waited for again, it loses %u %%",
                 listener->peer->name, listener->loss_ppm / 10000);
    }
    if (!changed)
        return;
    group->tx.expected_q4 = 0; /* it was the worst one's */
    look_again(gw, group);
}

static void take_loss(struct gmc_gateway *gw, struct gwgroup *group, struct gwlistener *listener,
                      const struct gmc_msg *msg)
{
    if (msg->next < listener->next || msg->received < listener->received) {
        listener->next = msg->next; /* it began anew */
        listener->received = msg->received;
        return;
    }
    uint64_t expected = msg->next - listener->next;
    uint64_t received = msg->received - listener->received;
    if (expected < LOSS_SAMPLE)
        return;
    uint64_t lost = received < expected ? expected - received : 0;
    uint32_t loss = (uint32_t)(lost <= UINT64_MAX / PPM ? lost * PPM / expected : PPM);
    if (!listener->loss_known)
        listener->loss_ppm = loss;
    else
        listener->loss_ppm =
            (uint32_t)((int64_t)listener->loss_ppm +
                       ((int64_t)loss - (int64_t)listener->loss_ppm) / (1 << LOSS_SHIFT));
    listener->loss_known = true;
    listener->next = msg->next;
    listener->received = msg->received;
    judge(gw, group);
}

/* Any of them may have forged, and whoever found it may be the one. */
static size_t mark_key_holders(const struct gwgroup *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        group->listeners[i].peer->had_key = group->listeners[i].has_key;
        count += group->listeners[i].has_key;
    }
    return count;
}

static void leaves(struct gmc_gateway *gw, struct gwchannel *ch, struct gwlistener *listener,
                   const struct gmc_msg *msg)
{
    if (msg->status == GMC_ERR_MISMATCH) {
        char text[GMC_REASON_BYTES_MAX];
        gw->counts.group_forged++;
        gw_text(text, sizeof(text),
                "somebody forges in the group of this domain, whose key %zu nodes have: node %s "
                "found %s",
                mark_key_holders(ch->group), listener->peer->name, msg->text);
        if (gw->config.node_of != NULL) {
            struct gmc_msg report = gw_about(ch, GMC_MSG_GROUP_REPORT);
            report.group = ch->group->number;
            report.status = GMC_ERR_MISMATCH;
            report.text = text;
            gw_send(gw, ch->source_peer, &report);
        }
        gw_group_end(gw, ch, GMC_ERR_MISMATCH, text);
        if (gw->config.node_of == NULL)
            gw_suspects_narrow(gw, ch);
        return;
    }
    if (listener->state == GW_DEAF)
        return; /* that was said */
    listener->state = GW_DEAF;
    listener->deaf_said = true;
    gw_deaf_set(gw, ch, listener->peer, true);
    gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, msg->status,
             "node %s left the group: %s; it is served by unicast", listener->peer->name,
             msg->text);
    look_again(gw, ch->group);
    gw_children_touch(gw, ch);
}

/* Who listens from the middle on can store nothing without the page that came before. */
static void give_page(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer)
{
    uint64_t window;
    if (!gw_group_next_window(ch->group, &window))
        return;
    uint64_t first = window * gmc_group_blocks(&ch->object);
    uint32_t page = gmc_block_of_page(gmc_block_page((uint32_t)first));
    struct gwchild *child = gw_child_find(ch, peer, gmc_stripe_of(ch->stripe_count, page));
    if (child != NULL && page < first)
        gw_child_hurry(gw, child, page);
}

void gw_group_report(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg)
{
    struct gwgroup *group = ch->group;
    struct gwlistener *listener = gw_listener_of(group, peer);
    if (listener == NULL || !listener->has_key || msg->group != group->number) {
        /* of a group that is over, or under the key before; or of a relay's; or it reads the
         * number on its wire */
        if (msg->status == GMC_ERR_MISMATCH)
            gw_subnet_forged(gw, ch, peer, msg);
        return;
    }
    if (msg->status != GMC_OK) {
        leaves(gw, ch, listener, msg);
        return;
    }
    speaks(gw, group, listener);
    if (listener->state != GW_HEARS) {
        listener->state = GW_HEARS;
        listener->first_turn = group->tx.turns;
        listener->late = 0;
        listener->received = msg->received;
        listener->next = msg->next;
        gw_subnet_reached(gw, ch, peer, true);
        gw_deaf_set(gw, ch, peer, false);
        if (gw_deaf_any(ch))
            gw_set_timer(gw, &ch->timer, gw->now); /* it may feed them */
        give_page(gw, ch, peer);
        gw_children_touch(gw, ch);
    }
    take_loss(gw, group, listener, msg);
    gw_group_rate_heard(gw, group, listener, msg);
    for (size_t i = 0; i < msg->need_count && gw_listener_counts(listener); i++) {
        const struct gmc_msg_need *need = &msg->needs[i];
        struct gmc_group_out *out = gmc_group_tx_find(&group->tx, need->window);
        if (out != NULL && out->turn >= listener->first_turn)
            gmc_group_tx_need(out, need->seen, need->need, need->missing);
    }
}

static bool is_awaited(const struct gwgroup *group, const struct gwpeer *peer)
{
    const struct gwlistener *listener = gw_listener_of(group, peer);
    if (!peer->up || did_not_hear(peer))
        return false;
    return listener == NULL ||
           (listener->state == GW_ASKED && !listener->relays && !listener->relayed);
}

bool gw_group_may_be_heard(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwgroup *group = ch->group;
    if (group == NULL || gw_group_hearing(group) > 0 || gw->now >= group->gather_until)
        return false;
    for (size_t i = 0; i < ch->dst->node_count; i++)
        if (is_awaited(group, ch->dst->nodes[i].peer))
            return true;
    return false;
}

/* Has everybody answered who is expected to? */
bool gw_group_is_gathered(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    const struct gwtarget *dst = group->channel->dst;
    if (gw_group_hearing(group) == 0)
        return false;
    if (gw->now >= group->gather_until || group->tx.turns > 0)
        return true;
    for (size_t i = 0; i < dst->node_count; i++)
        if (is_awaited(group, dst->nodes[i].peer))
            return false;
    for (size_t i = 0; i < dst->neighbour_count; i++)
        if (dst->neighbours[i].by_group && is_awaited(group, dst->neighbours[i].peer))
            return false;
    return true;
}

void gw_listener_say_deaf(struct gmc_gateway *gw, const struct gwgroup *group,
                          struct gwlistener *listener)
{
    if (listener->state != GW_ASKED || listener->deaf_said)
        return;
    if (gw->now < gmc_time_add(listener->asked_at, GW_HEAR_WAIT))
        return;
    gw_touch(gw, listener->peer); /* its link carries all, meanwhile */
    gw_subnet_reached(gw, group->channel, listener->peer, false);
    gw_deaf_set(gw, group->channel, listener->peer, true);
    if (gw->now < gmc_time_add(listener->asked_at, HEARD_LATE))
        return;
    listener->deaf_said = true;
    gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, GMC_ERR_TIMEOUT,
             "multicast does not arrive at node %s: it is served by unicast; see that switches and "
             "firewalls pass it",
             listener->peer->name);
}
