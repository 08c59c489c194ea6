/* SPDX-License-Identifier: BSD-2-Clause */
/* What the data for a peer waits for at this moment: who looks often enough learns what limits. */
#include "core/gateway_impl.h"

/* Nothing of it is at hand: the child has to store first, or it is not here (yet). */
static enum gmc_wait wait_for_data(const struct gwchild *child)
{
    const struct gwchannel *ch = child->channel;
    uint32_t missing;

    if (!gmc_tx_may_open(&child->tx))
        return GMC_WAIT_RECEIVER;
    if (ch->is_source)
        return GMC_WAIT_STORE;
    /* Everything that it lacks is opened already, and here it is whole or about to be. */
    if (!gmc_tx_next_missing(&child->tx, 0, &missing))
        return GMC_WAIT_NOTHING;
    return gmc_interval_contains(&ch->stripes[child->stripe].seen, missing) ? GMC_WAIT_STORE
                                                                            : GMC_WAIT_PARENT;
}

static enum gmc_wait wait_of(const struct gmc_gateway *gw, gmc_time now,
                             const struct gwchild *child)
{
    bool at_hand = !gmc_list_is_empty(&child->tx.repairs) || !gmc_list_is_empty(&child->tx.fresh);

    if (at_hand && child->cap_bps > 0 && child->allowance <= 0)
        return GMC_WAIT_CAP;
    if (at_hand)
        return gw_uplink_is_held(child->peer) && gw->uplink.paid_until > now ? GMC_WAIT_UPLINK
                                                                             : GMC_WAIT_PATH;
    return gmc_tx_is_all_taken(&child->tx) ? GMC_WAIT_NOTHING : wait_for_data(child);
}

/* Of several objects on one link the one that is nearest to leaving counts: what the link itself
 * waits for holds up the others too. */
enum gmc_wait gw_peer_wait(const struct gmc_gateway *gw, gmc_time now, const struct gwpeer *peer)
{
    enum gmc_wait most = GMC_WAIT_NOTHING;
    struct gmc_list *node;

    GMC_LIST_FOREACH(node, &peer->children)
    {
        enum gmc_wait wait = wait_of(gw, now, GMC_CONTAINER_OF(node, struct gwchild, in_peer));
        most = wait > most ? wait : most;
    }
    return most;
}
