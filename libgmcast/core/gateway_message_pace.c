/* SPDX-License-Identifier: BSD-2-Clause */
/* The pace of publishers: that of the fastest child. Who is about as fast is waited for, who lags
 * is not. */
#include "core/gateway_impl.h"

/* Other domains set the pace: they are farther than this domain's nodes, which would do so only
 * where they are alone. */
static bool sets_pace(const struct gwchannel *ch, const struct gwpeer *peer)
{
    return !peer->is_node || ch->src->member_count == ch->src->node_count;
}

static const struct gwchild *pacemaker(const struct gwchannel *ch, const struct gmc_list *node)
{
    const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
    return sets_pace(ch, child->peer) ? child : NULL;
}

/* The first packet that the child is not known to have got. Of the latest only, what was sent once
 * is enough, and nobody waits for the rest of an older message. */
static uint64_t position_of(const struct gwtalk *talk, const struct gwchild *child)
{
    bool latest = talk->order == GMC_MESSAGES_LATEST;
    uint64_t first = gw_hearer_lacks(child, !latest);
    if (latest && first < talk->newest)
        first = talk->newest;
    return first < talk->next ? first : talk->next;
}

/* Of those that set the pace and do not lag; false: there are none. */
static bool find_farthest(const struct gwchannel *ch, uint64_t *farthest)
{
    struct gmc_list *node;
    bool any = false;
    *farthest = 0;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = pacemaker(ch, node);
        if (child == NULL || child->lags)
            continue;
        uint64_t position = position_of(ch->talk, child);
        *farthest = position > *farthest ? position : *farthest;
        any = true;
    }
    return any;
}

/* There is no room: whoever is half of what is kept behind the fastest is not waited for any more,
 * until he is nearly through again. One that lags goes on in the middle of what is kept
 * (gateway_message_tx.c), perhaps before those that are faster, so his place says nothing. True:
 * somebody fell behind. */
static bool leave_behind(struct gwchannel *ch)
{
    const struct gwtalk *talk = ch->talk;
    uint64_t kept = talk->next - talk->ring.low, farthest;
    struct gmc_list *node;
    bool any = false;
    if (!find_farthest(ch, &farthest))
        return false;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->lags || !sets_pace(ch, child->peer) ||
            farthest - position_of(talk, child) <= kept / 2)
            continue;
        child->lags = any = true;
    }
    return any;
}

/* They have nearly all, or nobody else is left. */
static void wait_again(struct gwchannel *ch)
{
    const struct gwtalk *talk = ch->talk;
    uint64_t kept = talk->next - talk->ring.low, farthest;
    bool none = !find_farthest(ch, &farthest);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (none || talk->next - position_of(talk, child) <= kept / 8)
            child->lags = false;
    }
}

/* Nobody is here who sets the pace: one may come, for the first time or again, as after a broken
 * session. Of the latest only, those who come again get what is the newest then. */
static bool is_anybody_waited_for(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwtalk *talk = ch->talk;
    if (talk->order == GMC_MESSAGES_LATEST && talk->heard_at != 0)
        return false;
    return gw_source_is_awaited(gw, ch) &&
           gw->now < gw_patience_ends(gw, gmc_time_max(ch->opened_at, talk->heard_at));
}

/* The lowest packet that has to be kept. The publisher goes at the pace of the fastest: who is
 * about as fast is waited for, who lags is not. Of the latest only, one who has it is enough. */
static uint64_t lowest_wanted(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    struct gwtalk *talk = ch->talk;
    uint64_t farthest, lowest = talk->next;
    if (!find_farthest(ch, &farthest))
        return is_anybody_waited_for(gw, ch) ? 0 : talk->next;
    talk->heard_at = gw->now;
    if (talk->order == GMC_MESSAGES_LATEST)
        return farthest;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = pacemaker(ch, node);
        uint64_t position = child != NULL && !child->lags ? position_of(talk, child) : talk->next;
        lowest = position < lowest ? position : lowest;
    }
    return lowest;
}

static size_t packets_of(const struct gwchannel *ch, size_t bytes)
{
    size_t room = ch->object.fragment_bytes - GMC_MESSAGE_HEAD_BYTES;
    return bytes == 0 ? 1 : (bytes + room - 1) / room;
}

bool gw_talk_has_room(struct gmc_gateway *gw, struct gwchannel *ch, size_t bytes)
{
    struct gmc_message_ring *ring = &ch->talk->ring;
    size_t packets = packets_of(ch, bytes);
    size_t more, all = bytes + packets * GMC_MESSAGE_HEAD_BYTES;
    packets += gw_proof_room(ch, packets, &more);
    all += more;
    wait_again(ch);
    return gmc_message_ring_make_room(ring, lowest_wanted(gw, ch), packets, all) ||
           (leave_behind(ch) &&
            gmc_message_ring_make_room(ring, lowest_wanted(gw, ch), packets, all));
}
