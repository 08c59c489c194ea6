/* SPDX-License-Identifier: BSD-2-Clause */
/* What the next inputs of a gateway will look at; see near.h. */
#include "core/gateway_impl.h"

#define CHILDREN_MAX 4u /* those of a large fan-out would push each other out */
#define SLOTS_MAX 32u   /* of a map; in larger ones it is not known which are next */

static void add_map(struct gmc_near *near, const struct gmc_map *map)
{
    if (map->capacity > 0 && map->capacity <= SLOTS_MAX)
        gmc_near_add(near, map->slots, map->capacity * sizeof(*map->slots));
}

static void add_peer(struct gmc_near *near, const struct gmc_gateway *gw, gmc_peer number)
{
    const struct gwpeer *peer = gw_peer((struct gmc_gateway *)gw, number);
    if (peer == NULL || peer->link == NULL)
        return;
    gmc_near_add(near, &gw->peers[number], sizeof(struct gwpeer *));
    GMC_NEAR_ADD(near, peer, link, key);
    gmc_link_near(peer->link, near);
}

static void add_child(struct gmc_near *near, const struct gmc_gateway *gw,
                      const struct gwchild *child)
{
    GMC_NEAR_ADD(near, child, in_channel, place);
    GMC_NEAR_ADD(near, child, id, allowance_at);
    gmc_tx_near(&child->tx, near);
    add_peer(near, gw, child->peer->number);
}

static void add_channel(struct gmc_near *near, const struct gmc_gateway *gw,
                        const struct gwchannel *ch)
{
    const struct gwstripe *stripe = &ch->stripes[0];
    GMC_NEAR_ADD(near, ch, aead, object);
    GMC_NEAR_ADD(near, ch, object, stripes);
    GMC_NEAR_ADD(near, stripe, number, path);
    GMC_NEAR_ADD(near, ch, pages, saved_have);
    if (ch->aead != NULL)
        gmc_near_add(near, ch->aead, GMC_NEAR_LINE);
    gmc_near_add(near, stripe->seen.ranges, sizeof(struct gmc_interval));
    if (ch->dst == NULL)
        return;
    GMC_NEAR_ADD(near, ch->dst, is_relay, inside);
    add_peer(near, gw, gw_stripe_server(stripe));
    struct gmc_list *node;
    uint32_t count = 0;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        if (count++ == CHILDREN_MAX)
            break;
        add_child(near, gw, GMC_CONTAINER_OF(node, struct gwchild, in_channel));
    }
}

void gmc_gateway_near(const struct gmc_gateway *gw, struct gmc_near *near)
{
    GMC_NEAR_ADD(near, gw, now, names);
    GMC_NEAR_ADD(near, gw, sessions, sets);
    GMC_NEAR_ADD(near, gw, probes, group_address);
    GMC_NEAR_ADD(near, gw, ops, asked);
    GMC_NEAR_ADD(near, gw, outs, pins);
    GMC_NEAR_ADD(near, gw, pin_count, error);
    GMC_NEAR_ADD(near, gw, group_pace, subnet);
    gmc_near_add(near, gw->pins, (size_t)2 * GMC_NEAR_LINE);
    gmc_near_add(near, &gw->counts, sizeof(gw->counts));
    add_map(near, &gw->sessions);
    add_map(near, &gw->handles);
    gmc_near_add(near, gw->timers.nodes, GMC_NEAR_LINE);
    gmc_cache_near(gw->cache, near);
    if (!gmc_list_is_empty(&gw->probes))
        gmc_near_add(near, gmc_list_first(&gw->probes), sizeof(struct gwround));
    const struct gmc_list *node = gmc_list_first(&gw->channels);
    if (node != NULL)
        add_channel(near, gw, GMC_CONTAINER_OF(node, struct gwchannel, node));
}
