/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of this domain all at once: each window of blocks that is here goes out once by
 * multicast, and again in parts, until every node that the group counts on has stored it. Nodes
 * stay children as they are; over its link a node gets what the group has behind it: windows from
 * before it listened, and those that were not waited for on its account. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_group_impl.h"

#define GATHER_WAIT GMC_MS(500)   /* for the nodes, before the first window */
#define PATIENCE_FULL GMC_MS(100) /* with a window that holds others up, at least */
#define PATIENCE GMC_MS(500)      /* with any, at least */
#define PATIENCE_MAX GMC_S(2)
#define PATIENCE_SETTLINGS 4u /* or so many times what windows take lately */
#define SETTLING_SHIFT 3      /* of the smoothing */
#define BACKOFF_RTTS 4u       /* RFC 5401, section 3.2.2: K */
#define BACKOFF_MIN GMC_MS(1)
#define BACKOFF_MAX GMC_MS(100)
/* What links carried while no group had anything to send is not made up for when one has. */
#define DEBT_MAX GMC_MS(20)
#define SHARE_PERCENT 3u /* of the rate, for all nodes that are behind together */

void gw_groups_init(struct gmc_gateway *gw)
{
    gmc_list_init(&gw->groups);
    gw->group_pace.held_since = GMC_TIME_NEVER;
}

/* The nodes that a relay was told to reach. */
static bool has_subnet(const struct gwtarget *dst)
{
    for (size_t i = 0; i < dst->neighbour_count; i++)
        if (dst->neighbours[i].by_group)
            return true;
    return false;
}

static bool fits(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    return !ch->object_known ||
           ch->object.fragment_bytes + GMC_DATA_OVERHEAD_BYTES <= gw->group_payload;
}

bool gw_group_is_meant(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    if (gw->group_address_len == 0 || gw->config.fec.ops == NULL || gw->config.virtual_bodies)
        return false;
    if (!fits(gw, ch))
        return false;
    if (gw->config.node_of != NULL)
        return has_subnet(ch->dst);
    return ch->dst->node_count > 1 &&
           ch->dst->inside_kind != GMC_INSIDE_SHARED; /* one node at a time gets it */
}

void gw_group_check_size(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (gw->group_address_len == 0 || ch->group_over || fits(gw, ch))
        return;
    ch->group_over = true;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_ERR_LIMIT,
             "datagrams of %u bytes are too large for multicast_interface, which takes %u: the "
             "nodes are served by unicast",
             (unsigned)(ch->object.fragment_bytes + GMC_DATA_OVERHEAD_BYTES), gw->group_payload);
}

bool gw_group_is_possible(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    return !ch->group_over && gw_group_is_meant(gw, ch);
}

void gmc_gateway_set_group(struct gmc_gateway *gw, gmc_time now, struct gmc_bytes address,
                           uint64_t rate_bps, uint32_t payload_max)
{
    gw_begin_input(gw, now);
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->groups)
    {
        gw_group_free(gw, GMC_CONTAINER_OF(node, struct gwgroup, node)->channel);
    }
    bool usable = address.len <= GMC_GROUP_ADDRESS_MAX && rate_bps > 0;
    gw->group_address_len = usable ? address.len : 0;
    gw->group_payload = payload_max;
    gw_domain_review(gw);
    if (gw->group_address_len == 0)
        return;
    memcpy(gw->group_address, address.data, address.len);
    gw_group_rate_reset(gw, rate_bps);
}

gmc_status gw_group_new_key(struct gmc_gateway *gw, struct gwgroup *group)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    struct gmc_session session = {.remote_id = (uint32_t)gw_random64(gw)};
    crypto->ops->random(crypto->ctx, session.send_secret, GMC_KEY_BYTES);
    /* Nobody sends to the gateway by multicast. */
    crypto->ops->random(crypto->ctx, session.recv_secret, GMC_KEY_BYTES);
    struct gmc_gate gate;
    gmc_status status = gmc_gate_init(&gate, crypto, &session);
    if (status != GMC_OK)
        return status;
    if (group->channel->group != NULL)
        gmc_gate_fini(&group->gate);
    memcpy(group->key, session.send_secret, GMC_KEY_BYTES);
    group->gate = gate;
    group->number = session.remote_id;
    group->next_packet = group->rate_from = 0;
    for (size_t i = 0; i < group->count; i++)
        group->listeners[i].has_key = false;
    return GMC_OK;
}

void gw_group_tell(struct gmc_gateway *gw, const struct gwgroup *group, struct gwlistener *listener,
                   bool is_over)
{
    struct gmc_msg msg = gw_about(group->channel, GMC_MSG_GROUP);
    msg.epoch = group->channel->epoch;
    msg.group = group->number;
    msg.secret = group->key;
    msg.next = group->next_packet;
    if (!is_over)
        msg.payload = gmc_bytes(gw->group_address, gw->group_address_len);
    gw_send(gw, listener->peer, &msg);
    listener->has_key = true;
}

struct gwgroup *gw_group_new(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwgroup *group = calloc(1, sizeof(*group));
    if (group == NULL)
        return NULL;
    group->channel = ch;
    if (gw_group_new_key(gw, group) != GMC_OK) {
        free(group);
        return NULL;
    }
    uint32_t blocks = gmc_group_blocks(&ch->object);
    gmc_group_tx_init(&group->tx);
    gmc_list_init(&group->node);
    gmc_list_init(&group->prepared);
    gmc_list_init(&group->spares);
    gmc_interval_init(&group->begun, GW_HAVE_RANGES_MAX);
    gmc_interval_init(&group->retired, GW_HAVE_RANGES_MAX);
    group->windows = (ch->blocks + blocks - 1) / blocks;
    group->gather_until = gmc_time_add(gw->now, GATHER_WAIT);
    group->backoff = BACKOFF_MIN;
    gmc_list_push_back(&gw->groups, &group->node);
    ch->group = group;
    return group;
}

static void unpin(struct gmc_gateway *gw, struct gwwindow *window)
{
    for (uint32_t i = 0; i < window->shape.blocks; i++)
        if (window->blocks[i] != NULL)
            gmc_block_unpin(gw->cache, window->blocks[i]);
}

static void windows_free(struct gmc_list *list)
{
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(list)) != NULL) {
        struct gwwindow *window = GMC_CONTAINER_OF(node, struct gwwindow, node);
        free(window->pads);
        free(window->parity);
        free(window);
    }
}

void gw_group_free(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwgroup *group = ch->group;
    if (group == NULL)
        return;
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(&group->tx.open)) != NULL) {
        struct gwwindow *window = gw_window_of(GMC_CONTAINER_OF(node, struct gmc_group_out, node));
        gmc_list_push_back(&group->prepared, &window->node);
    }
    GMC_LIST_FOREACH(node, &group->prepared)
    {
        unpin(gw, GMC_CONTAINER_OF(node, struct gwwindow, node));
    }
    windows_free(&group->prepared);
    windows_free(&group->spares);
    for (size_t i = 0; i < group->count; i++)
        if (group->listeners[i].peer->up && group->listeners[i].has_key)
            gw_group_tell(gw, group, &group->listeners[i], true);
    gmc_list_remove(&group->node);
    if (gmc_list_is_empty(&gw->groups))
        gw->group_round.is_open = false; /* the time until the next group is not part of it */
    gmc_gate_fini(&group->gate);
    gmc_interval_fini(&group->begun);
    gmc_interval_fini(&group->retired);
    free(group->listeners);
    free(group);
    ch->group = NULL;
    gw_deaf_forget(ch);
    gw_children_touch(gw, ch);
}

static bool is_busy(const struct gwgroup *group)
{
    return gw_group_hearing(group) > 0 &&
           !gmc_interval_contains_range(&group->retired, 0, group->windows);
}

bool gw_window_has(const struct gwwindow *window, size_t i)
{
    return (window->has[i / 64] >> i % 64 & 1) != 0;
}

/* Where all nodes are slow, none of them is behind. A window that was given up for a few says
 * nothing of the others: counted, it would have them wait longer and longer. */
static void note_settling(struct gwgroup *group, const struct gwwindow *window, gmc_duration took)
{
    size_t count = 0, lacking = 0;
    for (size_t i = 0; i < group->count; i++) {
        if (!gw_listener_counts(&group->listeners[i]))
            continue;
        count++;
        lacking += !gw_window_has(window, i);
    }
    if (lacking > 0 && 2 * lacking <= count)
        return;
    group->settling += (took >> SETTLING_SHIFT) - (group->settling >> SETTLING_SHIFT);
}

void gw_window_retire(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window)
{
    uint32_t number = window->out.window;
    note_settling(group, window, gmc_time_sub(gw->now, window->out.sent_at));
    gmc_group_tx_close(&group->tx, &window->out);
    unpin(gw, window);
    gmc_list_push_back(&group->spares, &window->node);
    if (gmc_interval_add(&group->retired, number, (uint64_t)number + 1) != GMC_OK)
        group->channel->group_over = true; /* with the next step */
    gw_children_touch(gw, group->channel);
}

void gw_group_end(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                  const char *reason)
{
    ch->group_over = true;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, status,
             "%s; the nodes are served by unicast from here on", reason);
    gw_group_free(gw, ch);
}

bool gw_group_leaves(const struct gmc_gateway *gw, const struct gwchild *child, uint64_t number,
                     uint64_t *free_number)
{
    const struct gwgroup *group = child->channel->group;
    *free_number = number;
    if (group == NULL)
        return true;
    const struct gwlistener *listener = gw_listener_of(group, child->peer);
    if (listener == NULL || listener->state == GW_DEAF)
        return true;
    if (listener->state == GW_ASKED)
        return gw->now >= gmc_time_add(listener->asked_at, GW_HEAR_WAIT);
    uint32_t blocks = gmc_group_blocks(&child->channel->object);
    uint64_t window = number / blocks, at;
    bool any = gmc_interval_first_present(&group->retired, window, group->windows, &at);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &group->tx.open)
    {
        const struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        if (out->turn >= listener->first_turn)
            break;
        if (out->window >= window && (!any || out->window < at)) {
            at = out->window;
            any = true;
        }
    }
    if (any && at > window)
        *free_number = at * blocks;
    return any;
}

/* Somebody was asked to listen, and may still say that he does. */
static bool is_expecting(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *each = &group->listeners[i];
        if (each->state == GW_ASKED && !each->relays && !each->relayed &&
            gw->now < gmc_time_add(each->asked_at, GW_HEAR_WAIT))
            return true;
    }
    return false;
}

/* What relays get is as much as what the group does: each has an equal part, as long as there is a
 * group that sends or is about to. */
static uint64_t share_of_relay(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    uint64_t parts = 1;
    bool any = false;
    for (size_t i = 0; i < group->count; i++)
        parts += group->listeners[i].relays;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->groups)
    {
        const struct gwgroup *each = GMC_CONTAINER_OF(node, struct gwgroup, node);
        any = any || is_busy(each) || is_expecting(gw, each);
    }
    return any ? gw->group_pace.rate_bps / parts : 0;
}

uint64_t gw_group_share(const struct gmc_gateway *gw, const struct gwchild *child)
{
    const struct gwgroup *group = child->channel->group;
    const struct gwlistener *own = gw_listener_of(group, child->peer);
    if (own == NULL)
        return 0;
    if (own->relays)
        return share_of_relay(gw, group);
    if (!is_busy(group))
        return 0;
    uint64_t behind = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *each = &group->listeners[i];
        behind += !gw_listener_counts(each) && !each->relays && !each->relayed;
    }
    uint64_t share = gw->group_pace.rate_bps * SHARE_PERCENT / 100;
    return behind > 1 ? share / behind : share;
}

void gw_group_pay(struct gmc_gateway *gw, size_t udp_payload)
{
    if (gmc_list_is_empty(&gw->groups))
        return;
    gmc_pace_pay(&gw->group_pace, gw->now, udp_payload + GMC_LINK_WIRE_BYTES);
    gmc_time latest = gmc_time_add(gw->now, DEBT_MAX);
    gw->group_pace.paid_until = gmc_time_min(gw->group_pace.paid_until, latest);
}

static void set_backoff(struct gwgroup *group)
{
    gmc_duration longest = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct gmc_link_info info;
        if (group->listeners[i].peer->link == NULL)
            continue;
        gmc_link_info(group->listeners[i].peer->link, &info);
        longest = info.min_rtt > longest ? info.min_rtt : longest;
    }
    group->backoff = BACKOFF_RTTS * longest;
    if (group->backoff < BACKOFF_MIN)
        group->backoff = BACKOFF_MIN;
    if (group->backoff > BACKOFF_MAX)
        group->backoff = BACKOFF_MAX;
}

static bool is_spent(const struct gmc_group_out *out)
{
    return out->promised + GMC_GROUP_SOURCES_MAX / 4 > GMC_GROUP_REPAIRS_MAX;
}

/* Windows that somebody does not complete although all was sent are left to his link. */
static gmc_time patience_ends(const struct gwgroup *group, const struct gmc_group_out *out,
                              bool full)
{
    if (out->sources_sent < out->sources || out->sent < out->promised)
        return GMC_TIME_NEVER;
    if (is_spent(out))
        return out->sent_at;
    gmc_duration least = full ? PATIENCE_FULL : PATIENCE;
    gmc_duration usual = PATIENCE_SETTLINGS * group->settling;
    if (usual > PATIENCE_MAX)
        usual = PATIENCE_MAX;
    return gmc_time_add(out->sent_at, usual > least ? usual : least);
}

static bool is_lacked_by(const struct gwgroup *group, const struct gwwindow *window, size_t i)
{
    return gw_listener_counts(&group->listeners[i]) && !gw_window_has(window, i) &&
           group->listeners[i].first_turn <= window->out.turn;
}

static bool is_lacked_by_all(const struct gwgroup *group, const struct gwwindow *window)
{
    size_t lack = 0, count = 0;
    for (size_t i = 0; i < group->count; i++) {
        lack += is_lacked_by(group, window, i);
        count += gw_listener_counts(&group->listeners[i]);
    }
    return count > 2 && lack == count;
}

/* What all of several lack the network has lost, in a cut perhaps: nobody is behind the others. If
 * it goes on when all that was on its way then is over, nobody follows. */
static void give_up(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window)
{
    uint32_t more = 1;
    if (is_lacked_by_all(group, window))
        more = ++group->lost > GW_GROUP_OPEN_MAX ? GW_LATE_MAX : 0;
    for (size_t i = 0; i < group->count; i++) {
        struct gwlistener *listener = &group->listeners[i];
        if (!is_lacked_by(group, window, i) || (listener->late += more) < GW_LATE_MAX)
            continue;
        listener->lags = true;
        gw_event(gw, GMC_EVENT_LINK, NULL, listener->peer->number, GMC_ERR_TIMEOUT,
                 "node %s does not follow the group: the others do not wait for it",
                 listener->peer->name);
    }
    gw_window_retire(gw, group, window);
}

/* What it sends then only takes from what the links of all have. */
static bool is_followed_by_none(const struct gwgroup *group)
{
    bool any_hears = false;
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *each = &group->listeners[i];
        if (gw_listener_counts(each) || each->quiet ||
            (each->state == GW_ASKED && !each->deaf_said))
            return false;
        any_hears = any_hears || each->state == GW_HEARS;
    }
    return any_hears;
}

static void step(struct gmc_gateway *gw, struct gwgroup *group)
{
    struct gmc_list *node, *after;
    set_backoff(group);
    for (size_t i = 0; i < group->count; i++)
        gw_listener_say_deaf(gw, group, &group->listeners[i]);
    gw_group_put_aside(gw, group);
    GMC_LIST_FOREACH_SAFE(node, after, &group->tx.open)
    {
        struct gmc_group_out *out = GMC_CONTAINER_OF(node, struct gmc_group_out, node);
        /* With each that is given up it may be full no more: the others can wait longer. */
        if (gw->now >= patience_ends(group, out, gw_group_is_full(gw, group)))
            give_up(gw, group, gw_window_of(out));
    }
    if (group->channel->group_over)
        gw_group_end(gw, group->channel, GMC_ERR_NOMEM, "the group cannot be kept");
    else if (gw->group_rate.is_useless)
        gw_group_end(gw, group->channel, GMC_ERR_TIMEOUT, "multicast loses most at any rate");
    else if (is_followed_by_none(group))
        gw_group_end(gw, group->channel, GMC_ERR_TIMEOUT, "no node follows the group");
}

void gw_groups_step(struct gmc_gateway *gw)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->groups)
    {
        step(gw, GMC_CONTAINER_OF(node, struct gwgroup, node));
    }
    if (gw->group_rate.is_useless) /* the next group tries again */
        gw_group_rate_reset(gw, gw->group_rate.most_bps);
}

static gmc_time deadline(const struct gmc_gateway *gw, const struct gwgroup *group)
{
    struct gmc_group_pick pick;
    uint64_t window;
    gmc_time when = gw_group_tell_time(group);
    bool gathered = gw_group_is_gathered(gw, group), full = gw_group_is_full(gw, group);
    if (gmc_group_tx_next(&group->tx, &pick))
        when = gw->now;
    else if (gathered && !full && group->prepared_count == 0 &&
             gw_group_next_window(group, &window))
        when = gw->now;
    else if (group->prepared_count > 0 && !gw_groups_may_send(gw))
        when = gw->now; /* what was read meanwhile is looked at when more may be sent */
    when = gmc_time_max(when, gmc_time_min(gmc_pace_batch_time(&gw->group_pace), gw->group_turn));
    for (size_t i = 0; i < group->count; i++) {
        const struct gwlistener *listener = &group->listeners[i];
        if (listener->state == GW_ASKED && !listener->deaf_said)
            when = gmc_time_min(when, gmc_time_max(gmc_time_add(listener->asked_at, GW_HEAR_WAIT),
                                                   gmc_time_add(gw->now, GW_TELL_AGAIN)));
    }
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &group->tx.open)
    {
        when = gmc_time_min(when,
                            patience_ends(group, GMC_CONTAINER_OF(node, struct gmc_group_out, node),
                                          full));
    }
    return !gathered && gw_group_hearing(group) > 0 ? gmc_time_min(when, group->gather_until)
                                                    : when;
}

gmc_time gw_groups_deadline(const struct gmc_gateway *gw)
{
    gmc_time when = GMC_TIME_NEVER;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->groups)
    {
        when = gmc_time_min(when, deadline(gw, GMC_CONTAINER_OF(node, struct gwgroup, node)));
    }
    return when;
}
