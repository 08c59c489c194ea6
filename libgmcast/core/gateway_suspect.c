/* SPDX-License-Identifier: BSD-2-Clause */
/* Which node forges in the groups of this domain. One forgery names nobody: each node that was told
 * the group's key can send in the gateway's name, and whoever says that it found a forgery may have
 * made it up. So all of them are suspects, and half of these, or one of a few, in turn have no part
 * in the next groups; they get the same over links. Whoever goes on forging does so under a key
 * that the others had, until one is left. Of two nodes that are a whole domain neither can be told
 * from the other, and two that forge in turn may put it on a third. */
#include <string.h>

#include "core/gateway_impl.h"

/* Of so many one at a time: a node that is alone with the sender in a group is not seen to forge.
 */
#define FEW 4
/* Nothing was forged for so long: all are trusted with all keys again. */
#define SUSPECTED_FOR GMC_S(24 * 3600)

bool gw_is_suspect(const struct gmc_gateway *gw, gmc_time now, const struct gwpeer *peer)
{
    return peer->is_node && peer->is_suspect && now < gw->suspected_until;
}

/* The suspects that come before the peer, and all of them but it. */
static size_t count_others(const struct gmc_gateway *gw, const struct gwpeer *peer, size_t *before)
{
    size_t count = 0;
    for (size_t i = 0; i < gw->peer_count; i++) {
        if (gw->peers[i] == peer)
            *before = count;
        else
            count += gw_is_suspect(gw, gw->now, gw->peers[i]);
    }
    return count;
}

bool gw_suspect_is_held(struct gmc_gateway *gw, const struct gwchannel *ch,
                        const struct gwpeer *peer)
{
    if (peer->forges)
        return true;
    if (!gw_is_suspect(gw, gw->now, peer))
        return false;
    if (ch->dst->suspects_turn == 0)
        ch->dst->suspects_turn = ++gw->suspects_turns;
    size_t before = 0;
    size_t count = 1 + count_others(gw, peer, &before);
    size_t held = count > FEW ? count / 2 : 1;
    return (before + ch->dst->suspects_turn * held) % count < held;
}

static void say_suspects(struct gmc_gateway *gw, const struct gwchannel *ch, size_t count)
{
    char names[256];
    names[0] = '\0';
    for (size_t i = 0; i < gw->peer_count; i++) {
        size_t used = strlen(names);
        if (gw_is_suspect(gw, gw->now, gw->peers[i]))
            gw_text(names + used, sizeof(names) - used, " %s", gw->peers[i]->name);
    }
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_ERR_MISMATCH,
             "whoever forges is one of %zu nodes, and each next group does without some of them:%s",
             count, names);
}

static void name_it(struct gmc_gateway *gw, const struct gwchannel *ch, struct gwpeer *peer)
{
    peer->is_suspect = false;
    peer->forges = true;
    gw_event(gw, GMC_EVENT_MEMBER, ch, peer->number, GMC_ERR_MISMATCH,
             "node %s forges: it alone had the key of each group in which somebody did; it gets "
             "all over links from now on",
             peer->name);
}

void gw_suspects_narrow(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    bool any = false; /* Else it is somebody else than before. */
    for (size_t i = 0; i < gw->peer_count; i++)
        any = any || (gw->peers[i]->had_key && gw_is_suspect(gw, gw->now, gw->peers[i]));
    struct gwpeer *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < gw->peer_count; i++) {
        struct gwpeer *peer = gw->peers[i];
        peer->is_suspect =
            peer->had_key && !peer->forges && (gw_is_suspect(gw, gw->now, peer) || !any);
        peer->had_key = false;
        last = peer->is_suspect ? peer : last;
        count += peer->is_suspect;
    }
    gw->suspected_until = gmc_time_add(gw->now, SUSPECTED_FOR);
    if (count == 1)
        name_it(gw, ch, last);
    else if (count > 1)
        say_suspects(gw, ch, count);
}
