/* SPDX-License-Identifier: BSD-2-Clause */
/* The policy `pass_repairs`: a gateway that answers no request for a repair from what it has. A
 * block that a child lost is asked of the parent, and goes to the child when it came from there
 * once more. It is how a tree without caches behaves, and there to measure what caches are worth.
 *
 * A block is asked for when it is stored here and the parent knows so: what is told of it then
 * comes after the request, and cannot take it back. When this gateway has the whole object, or has
 * lost its parent, nobody above serves it any more, and repairs come from here as without the
 * policy. */
#include <stdlib.h>

#include "core/gateway_impl.h"

struct gwpassed {
    struct gmc_list node; /* in gwchannel.passed */
    uint32_t block;
    gmc_peer parent;
    bool asked;
    uint64_t received; /* fragments that came since */
};

static struct gwpassed *find(const struct gwchannel *ch, uint32_t number)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->passed)
    {
        struct gwpassed *passed = GMC_CONTAINER_OF(node, struct gwpassed, node);
        if (passed->block == number)
            return passed;
    }
    return NULL;
}

static void drop(struct gwpassed *passed)
{
    gmc_list_remove(&passed->node);
    free(passed);
}

/* Who repairs instead of this gateway; GMC_PEER_NONE. */
static gmc_peer asked_parent(const struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    if (!gw->config.pass_repairs || ch->dst == NULL || ch->dst->phase != GW_RECEIVING)
        return GMC_PEER_NONE;
    return gmc_overlay_parent(&gw_stripe_of(ch, number)->overlay);
}

static void tell(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *parent,
                 enum gmc_msg_type type, uint32_t number)
{
    struct gmc_msg_range range = {.first = number, .last = number};
    struct gmc_msg msg = gw_about(ch, type);
    msg.ranges = &range;
    msg.range_count = 1;
    gw_send(gw, parent, &msg);
}

static void ask(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpassed *passed)
{
    struct gwpeer *parent = gw_peer(gw, passed->parent);
    if (gmc_have_untold(&ch->dst->have) > 0)
        gw_have_tell(gw, ch);
    tell(gw, ch, parent, GMC_MSG_WANT, passed->block);
    passed->asked = true;
    gw->counts.repairs_passed++;
}

bool gw_pass_repair(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    gmc_peer parent = asked_parent(gw, ch, number);
    if (parent == GMC_PEER_NONE)
        return false;
    if (gw_pass_waits(gw, ch, number))
        return true;
    struct gwpassed *passed = calloc(1, sizeof(*passed));
    if (passed == NULL)
        return false;
    passed->block = number;
    passed->parent = parent;
    gmc_list_init(&passed->node);
    gmc_list_push_back(&ch->passed, &passed->node);
    if (gw_has(ch, number))
        ask(gw, ch, passed);
    return true;
}

bool gw_pass_waits(const struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    struct gwpassed *passed = find(ch, number);
    if (passed == NULL)
        return false;
    if (passed->parent == asked_parent(gw, ch, number))
        return true;
    drop(passed);
    return false;
}

void gw_pass_stored(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    struct gwpassed *passed = find(ch, number);
    if (passed != NULL && !passed->asked && gw_pass_waits(gw, ch, number))
        ask(gw, ch, passed);
}

void gw_pass_arrived(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_link_data *data)
{
    struct gwpassed *passed = find(ch, data->block);
    uint32_t fragments = gmc_fragment_count(&ch->object, gmc_block_len(&ch->object, data->block));
    if (passed == NULL || !passed->asked || data->fragment >= fragments)
        return;
    passed->received |= (uint64_t)1 << data->fragment;
    if (passed->received != gmc_fragments_all(fragments))
        return;
    /* The parent keeps the block open until it hears that it is here. */
    tell(gw, ch, gw_peer(gw, passed->parent), GMC_MSG_HAVE, data->block);
    drop(passed);
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, data->block);
    if (block != NULL)
        gw_children_offer(gw, ch, block, UINT64_MAX);
    gw_children_touch(gw, ch);
}

void gw_pass_forget(struct gwchannel *ch)
{
    while (!gmc_list_is_empty(&ch->passed))
        drop(GMC_CONTAINER_OF(gmc_list_first(&ch->passed), struct gwpassed, node));
}
