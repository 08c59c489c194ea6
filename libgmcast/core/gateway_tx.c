/* SPDX-License-Identifier: BSD-2-Clause */
/* Children of the composition: who they are, which of their blocks are opened, and which
 * fragment goes out next on a link. */
#include <stdlib.h>

#include "core/gateway_impl.h"

#define QUANTUM_BYTES 4096 /* deficit round robin among the channels of a link */

/* What a fate brings back: which child, which block, and tx's mark of the fragment. */
static uint64_t cookie_of(const struct gwchild *child, uint32_t index, uint16_t fragment)
{
    return (uint64_t)child->id << 48 | (uint64_t)index << 16 |
           gmc_tx_mark(&child->tx, index, fragment);
}

uint32_t gw_child_index(const struct gwchild *child, uint32_t number)
{
    return (uint32_t)gmc_stripe_below(child->channel->stripe_count, child->stripe, number);
}

static uint32_t number_of(const struct gwchild *child, uint32_t index)
{
    return (uint32_t)gmc_stripe_block(child->channel->stripe_count, child->stripe, index);
}

/* Ranges of blocks of all stripes: what of them belongs to the child's is had. */
void gw_child_have(struct gwchild *child, const struct gmc_msg_range *ranges, size_t count)
{
    uint32_t stripes = child->channel->stripe_count;
    for (size_t i = 0; i < count; i++) {
        uint64_t first = gmc_stripe_below(stripes, child->stripe, ranges[i].first);
        uint64_t end = gmc_stripe_below(stripes, child->stripe, ranges[i].last + 1);
        if (first < end)
            gmc_tx_have(&child->tx, first, end - 1);
    }
}

struct gwchild *gw_child_find(struct gwchannel *ch, const struct gwpeer *peer, uint32_t stripe)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->peer == peer && child->stripe == stripe)
            return child;
    }
    return NULL;
}

/* A link yields to everyone else while all that it serves does. */
static void choose_cc(struct gmc_gateway *gw, struct gwpeer *peer)
{
    bool background = !gmc_list_is_empty(&peer->children) && gmc_list_is_empty(&peer->hearers);
    struct gmc_list *node;
    if (peer->link == NULL || gw->config.fixed_rate_bps > 0)
        return;
    GMC_LIST_FOREACH(node, &peer->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        background = background && child->channel->record.background;
    }
    gmc_link_set_cc(peer->link, gw->now, background ? &gmc_cc_background : &gmc_cc_model);
}

/* Where the source has planned the rates of its trees, the link begins at what its children are
 * planned. Whoever does not know its own uplink was planned by a guess, and begins at the bottom.
 */
static void expect_plan(struct gmc_gateway *gw, struct gwpeer *peer)
{
    uint64_t planned = 0, most = gw->config.uplink_bps;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peer->children)
    {
        const struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchild, in_peer)->channel;
        uint64_t part = ch->record.planned_bps / ch->stripe_count;
        planned = part < most - planned ? planned + part : most;
    }
    if (peer->link != NULL && planned > 0)
        gmc_link_expect(peer->link, gw->now, planned);
}

struct gwchild *gw_child_new(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                             uint32_t stripe, uint32_t window, uint16_t handle)
{
    struct gwchild *child = calloc(1, sizeof(*child));
    if (child == NULL)
        return NULL;
    child->channel = ch;
    child->peer = peer;
    child->stripe = stripe;
    child->handle = handle;
    child->id = peer->next_child_id++;
    child->allowance_at = gw->now;
    gmc_interval_init(&child->pending, GW_MESSAGE_PACKETS_KEPT);
    gmc_interval_init(&child->flying, GW_MESSAGE_PACKETS_KEPT);
    gmc_tx_init(&child->tx, gmc_stripe_below(ch->stripe_count, stripe, ch->blocks), window,
                gmc_prng_u64(&gw->prng));
    gmc_list_init(&child->in_channel);
    gmc_list_init(&child->in_peer);
    gmc_list_push_back(&ch->children, &child->in_channel);
    if (ch->talk != NULL) {
        gmc_list_push_back(&peer->hearers, &child->in_peer);
    } else {
        gw->feeding += !peer->is_node && gmc_list_is_empty(&peer->children);
        gmc_list_push_back(&peer->children, &child->in_peer);
    }
    ch->child_count++;
    choose_cc(gw, peer);
    expect_plan(gw, peer);
    gw_touch(gw, peer);
    return child;
}

void gw_child_free(struct gmc_gateway *gw, struct gwchild *child)
{
    struct gwchannel *ch = child->channel;
    struct gwmember *member = ch->src != NULL ? gw_source_member(ch, child->peer->number) : NULL;
    ch->child_count--;
    if (member != NULL)
        member->repairs_before += child->tx.repairs_sent;
    gmc_list_remove(&child->in_channel);
    gmc_list_remove(&child->in_peer);
    if (ch->talk == NULL && !child->peer->is_node)
        gw->feeding -= gmc_list_is_empty(&child->peer->children);
    gmc_tx_fini(&child->tx);
    gmc_interval_fini(&child->pending);
    gmc_interval_fini(&child->flying);
    gw_place_free(&child->place);
    choose_cc(gw, child->peer);
    gw_touch(gw, child->peer);
    free(child);
}

void gw_child_fate(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_link_fate *fate,
                   struct gwdelivered *got)
{
    uint16_t id = (uint16_t)(fate->cookie >> 48);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peer->hearers)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        if (child->id != id)
            continue;
        gw_hearer_fate(gw, child, fate->cookie & ((UINT64_C(1) << GMC_MESSAGE_NUMBER_BITS) - 1),
                       fate->acked);
        return;
    }
    GMC_LIST_FOREACH(node, &peer->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        if (child->id != id)
            continue;
        uint32_t index = (uint32_t)(fate->cookie >> 16);
        if (fate->acked) {
            uint64_t bytes = child->channel->object.fragment_bytes + GMC_LINK_WIRE_BYTES +
                             GMC_DATA_OVERHEAD_BYTES;
            if (got->bytes == 0) {
                got->was_waiting = gw_children_waiting(peer);
                got->first = bytes;
            }
            got->bytes += bytes;
            got->newest = gmc_time_max(got->newest, fate->sent);
        }
        gmc_tx_fate(&child->tx, index, (uint16_t)fate->cookie, fate->acked);
        if (!fate->acked && gmc_tx_is_open(&child->tx, index) &&
            gw_pass_repair(gw, child->channel, number_of(child, index)))
            gmc_tx_out_of_hand(&child->tx, index);
        return;
    }
}

/* These fragments of a block are here now: for the children that have it open. A verified block
 * is sealed for the first one that wants it. */
void gw_children_offer(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                       uint64_t mask)
{
    uint32_t stripe = gmc_stripe_of(ch->stripe_count, block->number);
    uint32_t index = (uint32_t)gmc_stripe_below(ch->stripe_count, stripe, block->number);
    struct gmc_list *node;
    if (gw_pass_waits(gw, ch, block->number))
        return;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->stripe != stripe)
            continue;
        if (gmc_tx_is_open(&child->tx, index)) {
            if (block->state == GMC_BLOCK_VERIFIED && gw_block_seal(gw, ch, block) != GMC_OK)
                return;
            gmc_tx_at_hand(&child->tx, index, mask & block->sealed);
        }
        gw_touch(gw, child->peer);
    }
}

void gw_children_out_of_hand(struct gwchannel *ch, uint32_t number)
{
    uint32_t stripe = gmc_stripe_of(ch->stripe_count, number);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->stripe == stripe)
            gmc_tx_out_of_hand(&child->tx, gw_child_index(child, number));
    }
}

void gw_children_touch(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        gw_touch(gw, GMC_CONTAINER_OF(node, struct gwchild, in_channel)->peer);
    }
}

/* ---- opening blocks ---- */
/* Gives an open block's fragments into the child's hand, or has the block read. */
static bool fetch(struct gmc_gateway *gw, struct gwchild *child, uint32_t index)
{
    struct gwchannel *ch = child->channel;
    uint32_t number = number_of(child, index);
    if (gw_pass_waits(gw, ch, number))
        return false;
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
    if (block == NULL)
        return gw_block_read(gw, ch, number, false) != NULL;
    if (block->state == GMC_BLOCK_VERIFIED && gw_block_seal(gw, ch, block) != GMC_OK) {
        /* Sealed bytes that are not complete and no plain ones: read it once more. */
        if (block->pins > 0)
            return false;
        gmc_block_pin(gw->cache, block);
        gmc_cache_remove(gw->cache, block);
        return gw_block_read(gw, ch, number, false) != NULL;
    }
    gmc_tx_at_hand(&child->tx, index, block->sealed);
    return true;
}

static bool is_listing(const struct gwchannel *ch, uint32_t number)
{
    return !gmc_block_is_page(number) &&
           gmc_block_data(number) < gmc_object_listing_blocks(&ch->object);
}

bool gw_is_prerequisite(const struct gwchannel *ch, uint32_t number)
{
    return gmc_block_is_page(number) || is_listing(ch, number);
}

/* Where the child goes on behind blocks that its group may bring yet, from `number` up to `end`.
 * False: it waits for them, because without one of them it could not store what follows, and its
 * window would be full when the group leaves that to the link after all. */
static bool skip_group(const struct gwchild *child, uint32_t number, uint64_t end, uint64_t *from)
{
    const struct gwchannel *ch = child->channel;
    *from = gmc_stripe_below(ch->stripe_count, child->stripe, end);
    if (gw_is_prerequisite(ch, number))
        return false;
    if (*from >= child->tx.blocks)
        return true;
    uint32_t page = gmc_block_of_page(gmc_block_page(number_of(child, (uint32_t)*from)));
    return page < number || page >= end ||
           gmc_interval_contains(&child->tx.taken, gw_child_index(child, page));
}

/* The next block at or after the index `from` that the child lacks and this gateway has, or is
 * receiving. Nothing overtakes a prerequisite that is still on its way here: a child's window full
 * of blocks that wait for it would keep it out. */
static bool next_from(struct gmc_gateway *gw, struct gwchild *child, uint64_t from, uint32_t *index)
{
    struct gwchannel *ch = child->channel;
    const struct gmc_interval_set *seen = &ch->stripes[child->stripe].seen;
    /* What both lack, in many holes perhaps where this gateway fell behind too, is passed once. */
    bool is_known = !ch->is_source && ch->group == NULL && from <= child->searched;
    if (is_known)
        from = child->searched;
    for (;;) {
        if (!gmc_tx_next_missing(&child->tx, from, index))
            return false;
        uint32_t number = number_of(child, *index);
        if (ch->is_source && gmc_block_page(number) + 2u > ch->src->build.target) {
            ch->src->build.target = gmc_block_page(number) + 2u; /* hashes run ahead of blocks */
            gw_build_pages(gw, ch);
        }
        uint64_t at;
        if (!gw_group_leaves(gw, child, number, &at))
            return false;
        if (at > number) {
            if (!skip_group(child, number, at, &from))
                return false;
            continue;
        }
        if (!gmc_interval_first_present(seen, *index, child->tx.blocks, &at))
            return false;
        if (at == *index)
            return true;
        if (gw_is_prerequisite(ch, number))
            return false;
        from = at;
        if (is_known)
            child->searched = at;
    }
}

/* Behind the listing and its pages, without which nothing can be stored. */
static bool is_file_data(const struct gwchannel *ch, uint32_t number)
{
    return number >= gmc_block_of_data(gmc_object_listing_blocks(&ch->object));
}

/* Has the child fallen so far behind its siblings that the block which it lacks next would have to
 * be read and sealed once more, while what they get now is in memory? */
static bool is_left_behind(struct gmc_gateway *gw, const struct gwchild *child, uint32_t index)
{
    struct gwchannel *ch = child->channel;
    uint32_t number = number_of(child, index), front = ch->stripes[child->stripe].front;
    return gmc_block_page(number) + 1u < gmc_block_page(front) && is_file_data(ch, number) &&
           gmc_interval_ranges(&child->tx.taken) < GW_GAPS_MAX &&
           gmc_cache_find(gw->cache, ch->slot, number) == NULL &&
           gmc_cache_find(gw->cache, ch->slot, front) != NULL;
}

/* The block to open next. A child that was left behind goes on where its siblings are, from that
 * page on; the gap is filled when it lacks nothing there, from the store. So children of different
 * speed share what is read and sealed once, and only the difference is read again. */
static bool next_block(struct gmc_gateway *gw, struct gwchild *child, uint32_t *index)
{
    if (next_from(gw, child, child->from, index)) {
        if (!is_left_behind(gw, child, *index))
            return true;
        uint32_t front = child->channel->stripes[child->stripe].front;
        child->from = gw_child_index(child, gmc_block_of_page(gmc_block_page(front)));
        if (next_from(gw, child, child->from, index))
            return true;
    }
    return child->from > 0 && next_from(gw, child, 0, index) && *index < child->from;
}

/* Opens a block that the child lacks. */
static bool open_block(struct gmc_gateway *gw, struct gwchild *child, uint32_t index)
{
    struct gwchannel *ch = child->channel;
    uint32_t number = number_of(child, index);
    uint32_t len = gmc_block_len(&ch->object, number);
    if (gmc_cache_find(gw->cache, ch->slot, number) == NULL &&
        gw_block_read(gw, ch, number, false) == NULL)
        return false;
    return gmc_tx_open(&child->tx, index, gmc_fragment_count(&ch->object, len)) == GMC_OK;
}

void gw_child_hurry(struct gmc_gateway *gw, struct gwchild *child, uint32_t number)
{
    uint32_t index = gw_child_index(child, number);
    if (gmc_interval_contains(&child->tx.taken, index) || !gw_seen(child->channel, number) ||
        !open_block(gw, child, index))
        return;
    fetch(gw, child, index);
    gw_touch(gw, child->peer);
}

static bool open_next(struct gmc_gateway *gw, struct gwchild *child)
{
    struct gwchannel *ch = child->channel;
    struct gwstripe *stripe = &ch->stripes[child->stripe];
    uint32_t index;
    if (!gmc_tx_may_open(&child->tx) || child->tx.fresh_count >= GW_BACKLOG_BLOCKS ||
        gmc_tx_is_all_taken(&child->tx))
        return false;
    if (!next_block(gw, child, &index))
        return false;
    uint32_t number = number_of(child, index);
    if (!open_block(gw, child, index))
        return false;
    if (number > stripe->front)
        stripe->front = number;
    fetch(gw, child, index);
    return true;
}

/* Blocks that were opened and have left the cache since: fetched again, a few at a time. */
static void fetch_waiting(struct gmc_gateway *gw, struct gwchild *child)
{
    uint32_t index;
    for (int i = 0; i < 4 && gmc_tx_next_waiting(&child->tx, &index); i++)
        fetch(gw, child, index);
}

static void serve(struct gmc_gateway *gw, struct gwchild *child)
{
    fetch_waiting(gw, child);
    while (open_next(gw, child))
        ;
}

/* ---- sending ---- */
/* The cap on a link is one on the whole object: a stripe has its part of it. Nor may a node that is
 * behind hold the others up. */
static uint64_t rate_cap(const struct gmc_gateway *gw, const struct gwchild *child)
{
    uint64_t cap = child->channel->record.rate_bps, stripes = child->channel->stripe_count;
    uint64_t share = gw_group_share(gw, child);
    if (share > 0 && (cap == 0 || share < cap))
        cap = share;
    return cap > 0 && cap < stripes ? 1 : cap / stripes;
}

/* The cap's token bucket: 2 ms of the rate, at least 64 KiB of credit. */
static void refill(const struct gmc_gateway *gw, struct gwchild *child)
{
    uint64_t rate = child->cap_bps = rate_cap(gw, child);
    if (rate == 0)
        return;
    gmc_duration passed = gmc_time_sub(gw->now, child->allowance_at);
    if (passed > GMC_S(1))
        passed = GMC_S(1);
    child->allowance_at = gw->now;
    int64_t burst = (int64_t)(rate / 8 / 500);
    if (burst < 65536)
        burst = 65536;
    /* Fractions of a byte are kept by not moving the clock for less than one. */
    uint64_t bytes = rate / 8 * passed / GMC_S(1);
    if (rate / 8 > UINT64_MAX / GMC_S(1))
        bytes = (uint64_t)burst;
    if (bytes == 0 && passed > 0)
        child->allowance_at -= passed;
    child->allowance += (int64_t)bytes;
    if (child->allowance > burst)
        child->allowance = burst;
}

static bool may_send(const struct gwchild *child)
{
    return child->cap_bps == 0 || child->allowance > 0;
}

static bool has_data(const struct gwchild *child)
{
    return !gmc_list_is_empty(&child->tx.repairs) || !gmc_list_is_empty(&child->tx.fresh);
}

/* The last fragments of an object, which nothing follows that could show them lost. */
static bool next_copy(struct gwchild *child, uint32_t *index, uint16_t *fragment)
{
    return gmc_tx_is_all_taken(&child->tx) &&
           gmc_tx_next_copy(&child->tx, gmc_link_copies(child->peer->link), index, fragment);
}

static bool has_copy(struct gwchild *child)
{
    uint32_t index;
    uint16_t fragment;
    return next_copy(child, &index, &fragment);
}

bool gw_children_waiting(const struct gwpeer *peer)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peer->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        if ((has_data(child) || has_copy(child)) && may_send(child))
            return true;
    }
    return false;
}

size_t gw_children_sending(const struct gwpeer *peer)
{
    size_t count = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peer->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        count += has_data(child) && may_send(child);
    }
    return count > 0 ? count : 1;
}

gmc_time gw_children_allowed_at(const struct gmc_gateway *gw, const struct gwpeer *peer)
{
    gmc_time when = GMC_TIME_NEVER;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peer->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        if (!has_data(child) || may_send(child))
            continue;
        gmc_duration wait = gmc_duration_of_bytes((uint64_t)(1 - child->allowance), child->cap_bps);
        when = gmc_time_min(when, gmc_time_add(gw->now, wait + GMC_US(1)));
    }
    return when;
}

enum sent { SENT, NOT_NOW, NOTHING };

static enum sent send_one(struct gmc_gateway *gw, struct gwchild *child, struct gmc_dgram_out *out)
{
    struct gwchannel *ch = child->channel;
    uint32_t index, number;
    uint16_t fragment;
    struct gmc_block *block;
    for (;;) {
        bool again = !gmc_tx_next(&child->tx, &index, &fragment);
        if (again && !next_copy(child, &index, &fragment))
            return NOTHING;
        number = number_of(child, index);
        block = gmc_cache_find(gw->cache, ch->slot, number);
        if (block != NULL && (block->sealed >> fragment & 1) != 0)
            break;
        gmc_tx_out_of_hand(&child->tx, index);
        if (!again)
            fetch(gw, child, index);
    }
    uint32_t len = gmc_fragment_len(&ch->object, block->len, fragment);
    if (!gmc_link_ready(child->peer->link, gw->now, GMC_DATA_OVERHEAD_BYTES + len))
        return NOT_NOW;
    struct gmc_data_head head = {.handle = child->handle, .block = number, .fragment = fragment};
    struct gmc_bytes body = gmc_bytes(block->cipher + gw_fragment_at(gw, ch, fragment), len);
    if (gmc_link_send_data(child->peer->link, gw->now, &head, body, block->tags[fragment],
                           cookie_of(child, index, fragment), out) != GMC_OK)
        return NOT_NOW;
    gmc_tx_sent(&child->tx, index, fragment);
    gw_lend(gw, block);
    gw->counts.data_bytes_out += len;
    if (child->cap_bps > 0)
        child->allowance -= (int64_t)len;
    child->deficit -= (int64_t)len;
    if (ch->src != NULL && ch->src->setup_end == 0)
        ch->src->setup_end = gw->now;
    return SENT;
}

/* Deficit round robin: the first child of the list sends until its deficit is used up. */
bool gw_children_send(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_dgram_out *out)
{
    size_t passed = 0;
    bool any = false;
    struct gmc_list *node;
    size_t count = 0;
    GMC_LIST_FOREACH(node, &peer->children)
    {
        count++;
    }
    while (passed < count && (node = gmc_list_first(&peer->children)) != NULL) {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_peer);
        refill(gw, child);
        serve(gw, child);
        enum sent sent = NOTHING;
        if (may_send(child))
            sent = send_one(gw, child, out);
        any = any || sent != NOTHING;
        if (sent == SENT && child->deficit > 0)
            return true;
        if (sent == NOT_NOW)
            return false;
        child->deficit = QUANTUM_BYTES;
        gmc_list_remove(node);
        gmc_list_push_back(&peer->children, node);
        if (sent == SENT)
            return true;
        passed++;
    }
    if (!any && (count > 0 || !gmc_list_is_empty(&peer->hearers)))
        gmc_link_set_idle(peer->link, gw->now);
    return false;
}
