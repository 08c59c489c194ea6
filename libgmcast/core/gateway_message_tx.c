/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of message channels to children: each child has a set of those that are at hand here and
 * that it lacks, fresh ones and lost ones alike, and gets the lowest first. They go before all
 * blocks of objects. */
#include "core/gateway_impl.h"

#define UNBASED_PACKETS 32u /* what a link begins with */

static uint64_t first_of(const struct gmc_interval_set *numbers)
{
    return gmc_interval_ranges(numbers) > 0 ? gmc_interval_range_at(numbers, 0).lo : UINT64_MAX;
}

uint64_t gw_hearer_lacks(const struct gwchild *child, bool flying_too)
{
    uint64_t pending = first_of(&child->pending);
    uint64_t flying = flying_too ? first_of(&child->flying) : UINT64_MAX;
    return pending < flying ? pending : flying;
}

static void forget_below(struct gwchild *child, uint64_t number)
{
    gmc_status status = gmc_interval_remove(&child->pending, 0, number);
    (void)status; /* at the lower end nothing is split */
}

/* The child asks anew, and says what it lacks. */
static void detach(struct gmc_gateway *gw, struct gwchild *child, gmc_status status,
                   const char *text)
{
    struct gmc_msg msg = gw_about(child->channel, GMC_MSG_DETACH);
    msg.status = status;
    msg.text = text;
    gw_send(gw, child->peer, &msg);
    gw_child_free(gw, child);
}

static void lose_track(struct gmc_gateway *gw, struct gwchild *child)
{
    detach(gw, child, GMC_ERR_FULL, "more gaps than can be kept");
}

void gw_hearers_detach(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                       const char *text)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &ch->children)
    detach(gw, GMC_CONTAINER_OF(node, struct gwchild, in_channel), status, text);
}

/* What was passed over here does not come there either: where it goes on behind the first such hole
 * in what is kept, from there on; 0: there is none. A hole may be as long as numbers go. */
static uint64_t behind_hole(const struct gwchannel *ch, uint64_t from)
{
    const struct gmc_message_ring *ring = &ch->talk->ring;
    struct gmc_message_packet packet;
    uint64_t end = ch->dst != NULL ? ch->talk->rx.base : 0;
    while (from < end && gmc_message_ring_get(ring, from, &packet))
        from++;
    if (from >= end)
        return 0;
    for (uint32_t i = 0; i < ring->count; i++) {
        uint64_t number = gmc_message_ring_nth(ring, i);
        end = number > from && number < end ? number : end;
    }
    return end;
}

static void tell_skip(struct gmc_gateway *gw, struct gwchild *child, uint64_t floor)
{
    struct gmc_msg msg = gw_about(child->channel, GMC_MSG_SKIP);
    msg.floor = floor;
    gw_send(gw, child->peer, &msg);
    if (!child->is_based && child->based_at == 0 && child->peer->link != NULL)
        child->based_at = gmc_link_told(child->peer->link);
    child->floor = floor;
    if (child->skip_due <= floor)
        child->skip_due = behind_hole(child->channel, floor);
}

/* What it lacks of what is here. A child that comes for the first time gets all of that, or the
 * newest message where only that counts. */
void gw_hearer_attached(struct gmc_gateway *gw, struct gwchild *child, uint64_t next)
{
    struct gwchannel *ch = child->channel;
    struct gwtalk *talk = ch->talk;
    child->is_based = next > 0; /* elsewhere */
    if (ch->dst != NULL && !talk->rx.based)
        return; /* it is told when this gateway is */
    uint64_t from = ch->dst != NULL && talk->ring.count == 0 ? talk->rx.base : talk->ring.low;
    if (talk->order == GMC_MESSAGES_LATEST && talk->newest > from)
        from = talk->newest; /* which is known when its beginning has come */
    if (next > from)
        from = next;
    tell_skip(gw, child, from);
    for (uint32_t i = 0; i < talk->ring.count; i++) {
        uint64_t number = gmc_message_ring_nth(&talk->ring, i);
        if (number < from || number == UINT64_MAX)
            continue;
        if (gmc_interval_add(&child->pending, number, number + 1) != GMC_OK) {
            lose_track(gw, child);
            return;
        }
    }
    gw_touch(gw, child->peer);
    if (ch->is_source)
        gw_talk_look_for_room(gw, ch);
}

void gw_hearers_set_newest(struct gwchannel *ch, uint64_t number)
{
    struct gwtalk *talk = ch->talk;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->sent_end <= talk->newest)
            continue; /* what it has a part of is older */
        child->begun = talk->newest;
        child->finish = number;
    }
    talk->newest = number;
}

void gw_hearers_offer(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (gmc_interval_add(&child->pending, number, number + 1) == GMC_OK)
            gw_touch(gw, child->peer);
        else
            lose_track(gw, child);
    }
}

void gw_hearers_skip(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t floor)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (floor > child->skip_due)
            child->skip_due = floor;
        /* 0 is said at once: it is where the channel begins. */
        if (floor == 0)
            tell_skip(gw, child, 0);
        gw_touch(gw, child->peer);
    }
}

void gw_hearer_fate(struct gmc_gateway *gw, struct gwchild *child, uint64_t number, bool acked)
{
    gmc_status status = gmc_interval_remove(&child->flying, number, number + 1);
    if (acked && status == GMC_OK) {
        if (child->skip_due != 0) /* it may have waited for this one */
            gw_touch(gw, child->peer);
        if (child->channel->is_source)
            gw_talk_look_for_room(gw, child->channel);
        return;
    }
    child->tx.repairs_sent++;
    if (status != GMC_OK || gmc_interval_add(&child->pending, number, number + 1) != GMC_OK)
        lose_track(gw, child);
    else
        gw_touch(gw, child->peer);
}

/* A child that was not told where to begin refuses packets, and does not acknowledge them: that
 * would be taken for losses of the path. The word goes before the packets, but may be lost: until
 * it is acknowledged they are few. And of more gaps than can be kept some are to close. */
static bool takes_packets(const struct gwchild *child)
{
    bool is_told = child->based_at != 0;
    bool is_based =
        child->is_based || (is_told && gmc_link_told_acked(child->peer->link) >= child->based_at);
    return (is_based || (is_told && child->flying.members < UNBASED_PACKETS)) &&
           gmc_interval_ranges(&child->flying) < GW_MESSAGE_PACKETS_KEPT;
}

/* What it was sent may yet be lost, and has to be sent again before the child passes over it. */
static bool is_skip_ripe(const struct gwchild *child)
{
    return child->skip_due != 0 && first_of(&child->pending) >= child->skip_due &&
           first_of(&child->flying) >= child->skip_due;
}

/* Nothing below is to come: it was acknowledged, left out here, or passed over. */
static uint64_t reached_by(const struct gwchild *child)
{
    const struct gwchannel *ch = child->channel;
    uint64_t lacks = gw_hearer_lacks(child, true);
    uint64_t here = ch->dst != NULL ? ch->talk->rx.base : ch->talk->next;
    return lacks < here ? lacks : here;
}

/* What the child is not sent it waits for: it would refuse, for ever, what is beyond its window
 * from there on. It has to hear of it before it is sent such. */
static void tell_in_time(struct gmc_gateway *gw, struct gwchild *child)
{
    uint32_t window = gmc_message_window(child->channel->object.fragment_bytes);
    uint64_t reached = reached_by(child);
    if (child->left_out <= child->floor && child->skip_due == 0)
        child->floor = reached; /* it got all of that */
    else if (reached >= child->floor + window / 2)
        tell_skip(gw, child, reached);
}

/* What is older than the newest message, but for what the child lacks of the one that it has a part
 * of: on a slow path it would never get a whole one. */
static void leave_out_old(struct gwchild *child, uint64_t newest)
{
    uint64_t before = child->pending.members;
    forget_below(child, child->begun);
    gmc_status status = gmc_interval_remove(&child->pending, child->finish, newest);
    (void)status; /* if it has too many gaps, old ones stay */
    if (child->pending.members < before)
        child->left_out = newest;
}

/* The next packet that is still here. What has left the ring the child does not get; it then goes
 * on in the middle of the ring, since the oldest ones there are about to leave too. What was thrown
 * away without a proof is offered again when it comes again. */
static bool next_packet(struct gwchild *child, uint64_t *number, struct gmc_message_packet *packet)
{
    const struct gwtalk *talk = child->channel->talk;
    if (talk->order == GMC_MESSAGES_LATEST)
        leave_out_old(child, talk->newest);
    while ((*number = first_of(&child->pending)) != UINT64_MAX) {
        if (gmc_message_ring_get(&talk->ring, *number, packet))
            return true;
        if (*number >= talk->ring.low) {
            forget_below(child, *number + 1);
            continue;
        }
        uint64_t floor = talk->ring.low + (talk->next - talk->ring.low) / 2;
        forget_below(child, floor);
        if (floor > child->skip_due)
            child->skip_due = floor;
    }
    return false;
}

static bool send_one(struct gmc_gateway *gw, struct gwchild *child, struct gmc_dgram_out *out)
{
    struct gmc_message_packet packet;
    uint64_t number;
    struct gmc_link *link = child->peer->link;
    bool any = next_packet(child, &number, &packet);
    tell_in_time(gw, child);
    if (is_skip_ripe(child))
        tell_skip(gw, child, child->skip_due);
    if (!any || !takes_packets(child) || gmc_link_urgent_time(link) > gw->now)
        return false;
    gmc_status status = gmc_interval_add(&child->flying, number, number + 1);
    if (status != GMC_OK)
        return false;
    struct gmc_data_head head = {.handle = child->handle,
                                 .block = (uint32_t)(number >> 16),
                                 .fragment = (uint16_t)number};
    uint64_t cookie = (uint64_t)child->id << GMC_MESSAGE_NUMBER_BITS | number;
    if (gmc_link_send_data(link, gw->now, &head, gmc_bytes(packet.body, packet.len), packet.tag,
                           cookie, out) != GMC_OK) {
        status = gmc_interval_remove(&child->flying, number, number + 1);
        (void)status; /* it fitted in just now */
        return false;
    }
    gmc_link_note_urgent(link, gw->now);
    status = gmc_interval_remove(&child->pending, number, number + 1);
    (void)status; /* the lowest one: nothing is split */
    gw->counts.data_bytes_out += packet.len;
    if (number >= child->sent_end)
        child->sent_end = number + 1;
    if (child->channel->is_source)
        gw_talk_look_for_room(gw, child->channel);
    return true;
}

/* Channels take turns. */
bool gw_hearers_send(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_dgram_out *out)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peer->hearers)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        if (!send_one(gw, child, out))
            continue;
        gmc_list_remove(node);
        gmc_list_push_back(&peer->hearers, node);
        return true;
    }
    return false;
}

bool gw_hearers_waiting(const struct gwpeer *peer)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peer->hearers)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        if (gmc_interval_ranges(&child->pending) > 0 && takes_packets(child))
            return true;
    }
    return false;
}
