/* SPDX-License-Identifier: BSD-2-Clause */
/* What the next inputs of a gateway will touch is fetched into the processor's cache, all at once
 * and not one after the other. */
#include "core/gateway_impl.h"

#define LINE_BYTES 64u
#define CHILDREN_MAX 4u /* those of a large fan-out would push each other out */

static void fetch(const void *from, size_t bytes)
{
    const char *at = from;
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        __builtin_prefetch(at + i, 1);
}

/* From the one member up to the other, which stands behind it. */
#define FETCH(object, from, to)                                                                    \
    _Static_assert(offsetof(__typeof__(*(object)), from) < offsetof(__typeof__(*(object)), to),    \
                   #to " stands before " #from);                                                   \
    fetch((const char *)(object) + offsetof(__typeof__(*(object)), from),                          \
          offsetof(__typeof__(*(object)), to) - offsetof(__typeof__(*(object)), from))

static void warm_peer(const struct gwpeer *peer)
{
    if (peer == NULL || peer->link == NULL)
        return;
    gmc_link_warm(peer->link);
    FETCH(peer, link, key);
}

static void warm_channel(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwstripe *stripe = &ch->stripes[0];
    FETCH(ch, object, stripes);
    FETCH(stripe, number, path);
    FETCH(ch, pages, saved_have);
    if (ch->dst == NULL)
        return;
    FETCH(ch->dst, is_relay, inside);
    warm_peer(gw_peer((struct gmc_gateway *)gw, gw_stripe_server(stripe)));
    struct gmc_list *node;
    uint32_t count = 0;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (count++ == CHILDREN_MAX)
            break;
        FETCH(child, in_channel, place);
        FETCH(child, id, allowance_at);
        warm_peer(child->peer);
    }
}

void gmc_gateway_warm(const struct gmc_gateway *gw)
{
    FETCH(gw, channels, sets);
    FETCH(gw, probes, group_address);
    FETCH(gw, sessions, channels);
    FETCH(gw, ops, asked);
    FETCH(gw, outs, pins);
    FETCH(gw, pin_count, error);
    FETCH(gw, group_pace, subnet);
    fetch(gw->pins, 2 * LINE_BYTES);
    fetch(&gw->counts, sizeof(gw->counts));
    fetch(gw->cache, 4 * LINE_BYTES);
    const struct gmc_list *node = gmc_list_first(&gw->channels);
    if (node != NULL)
        warm_channel(gw, GMC_CONTAINER_OF(node, struct gwchannel, node));
}
