/* SPDX-License-Identifier: BSD-2-Clause */
/* The stripes of a channel: which blocks are here of each, and whose parent somebody is. */
#include "core/gateway_impl.h"

_Static_assert(GMC_STRIPES_MAX == GMC_TREE_STRIPES_MAX,
               "a record has the trees that a shape makes");

struct gwstripe *gw_stripe_of(struct gwchannel *ch, uint64_t block)
{
    return &ch->stripes[gmc_stripe_of(ch->stripe_count, block)];
}

void gw_stripes_init(struct gwchannel *ch)
{
    ch->stripe_count = 1;
    for (uint32_t k = 0; k < GMC_STRIPES_MAX; k++) {
        ch->stripes[k].number = k;
        gmc_interval_init(&ch->stripes[k].seen, GW_HAVE_RANGES_MAX);
    }
}

void gw_stripes_fini(struct gwchannel *ch)
{
    for (uint32_t k = 0; k < GMC_STRIPES_MAX; k++)
        gmc_interval_fini(&ch->stripes[k].seen);
}

/* ---- what is here ---- */
void gw_child_search(struct gwchild *child, uint64_t index)
{
    if (index < child->searched)
        child->searched = index;
}

static void search(struct gwchannel *ch, uint32_t stripe, uint64_t index)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->stripe == stripe)
            gw_child_search(child, index);
    }
}

gmc_status gw_seen_add(struct gwchannel *ch, uint64_t first, uint64_t end)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        uint64_t lo = gmc_stripe_below(ch->stripe_count, k, first);
        uint64_t hi = gmc_stripe_below(ch->stripe_count, k, end);
        gmc_status status = lo < hi ? gmc_interval_add(&ch->stripes[k].seen, lo, hi) : GMC_OK;
        if (status != GMC_OK)
            return status;
        if (lo < hi)
            search(ch, k, lo);
    }
    return GMC_OK;
}

/* Without memory for it the block is looked for in vain, no more. */
void gw_seen_remove(struct gwchannel *ch, uint32_t number)
{
    struct gwstripe *stripe = gw_stripe_of(ch, number);
    uint64_t index = gmc_stripe_below(ch->stripe_count, stripe->number, number);
    gmc_status status = gmc_interval_remove(&stripe->seen, index, index + 1);
    (void)status;
}

void gw_seen_clear(struct gwchannel *ch)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        gmc_interval_clear(&ch->stripes[k].seen);
}

bool gw_seen(struct gwchannel *ch, uint32_t number)
{
    const struct gwstripe *stripe = gw_stripe_of(ch, number);
    return gmc_interval_contains(&stripe->seen,
                                 gmc_stripe_below(ch->stripe_count, stripe->number, number));
}

uint64_t gw_seen_end(const struct gwchannel *ch)
{
    uint64_t end = 0;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        const struct gmc_interval_set *seen = &ch->stripes[k].seen;
        size_t ranges = gmc_interval_ranges(seen);
        if (ranges == 0)
            continue;
        uint64_t last = gmc_interval_range_at(seen, ranges - 1).hi - 1;
        uint64_t block = gmc_stripe_block(ch->stripe_count, k, last);
        end = block >= end ? block + 1 : end;
    }
    return end;
}

/* A source reads its first blocks before it knows the trees: what is here is counted anew. */
gmc_status gw_stripes_set(struct gwchannel *ch, uint32_t count)
{
    struct gmc_interval_set before = ch->stripes[0].seen;
    gmc_status status = GMC_OK;
    if (count == ch->stripe_count)
        return GMC_OK;
    if (ch->stripe_count != 1 || count == 0 || count > GMC_STRIPES_MAX)
        return GMC_ERR_INVALID;
    gmc_interval_init(&ch->stripes[0].seen, GW_HAVE_RANGES_MAX);
    ch->stripe_count = count;
    for (size_t i = 0; i < gmc_interval_ranges(&before) && status == GMC_OK; i++) {
        struct gmc_interval range = gmc_interval_range_at(&before, i);
        status = gw_seen_add(ch, range.lo, range.hi);
    }
    gmc_interval_fini(&before);
    return status;
}

/* ---- parents ---- */
/* Whoever serves us, or may do so already: the first data and the last reports cross the message
 * that grants the attachment. */
gmc_peer gw_stripe_server(const struct gwstripe *stripe)
{
    enum gmc_overlay_state state = stripe->overlay.state;
    bool serves = state == GMC_OVERLAY_ASKING || state == GMC_OVERLAY_ATTACHED;
    return serves ? gmc_overlay_candidate(&stripe->overlay) : GMC_PEER_NONE;
}

bool gw_is_attached(const struct gwchannel *ch)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        if (gmc_overlay_parent(&ch->stripes[k].overlay) != GMC_PEER_NONE)
            return true;
    return false;
}

/* Is this the first stripe that this peer serves? Reports go to each parent once. */
bool gw_stripe_is_first_of(const struct gwchannel *ch, uint32_t stripe, gmc_peer peer)
{
    for (uint32_t k = 0; k < stripe; k++)
        if (gw_stripe_server(&ch->stripes[k]) == peer)
            return false;
    return true;
}
