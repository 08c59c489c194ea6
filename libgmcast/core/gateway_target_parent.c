/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as a receiver: its parents, one for each stripe. */
#include <string.h>

#include "core/gateway_target_impl.h"

/* The path's MTU is searched again between these, so loss alone does not reach it. */
#define TOO_SMALL_MAX 8u

void gw_target_let_go(struct gmc_gateway *gw, const struct gwchannel *ch,
                      const struct gwstripe *stripe, struct gwpeer *peer)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_DETACH);
    msg.stripe = stripe->number;
    msg.text = "it has another parent";
    gw_send(gw, peer, &msg);
}

void gw_target_set_ancestors(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                             const struct gmc_ancestors *tree)
{
    gmc_peer ancestors[GMC_OVERLAY_DEPTH_MAX];
    size_t depth = 0;
    /* A node knows its gateway alone, which stands there as its source, and whom that puts before
     * it. */
    if (ch->dst->tree_parent != GMC_PEER_NONE)
        ancestors[depth++] = ch->dst->tree_parent;
    for (size_t i = 0; gw->config.node_of == NULL && i < tree->count; i++) {
        gmc_peer above = gmc_gateway_peer(gw, tree->domains[i]);
        if (above != GMC_PEER_NONE)
            ancestors[depth++] = above;
    }
    ancestors[depth++] = ch->source_peer->number;
    struct gwpeer *parent = gw_peer(gw, gmc_overlay_parent(&stripe->overlay));
    if (gmc_overlay_set_ancestors(&stripe->overlay, ancestors, depth))
        return;
    gw_event_parent(gw, ch, stripe, GMC_PEER_NONE, GMC_OK, "leaves %s, which is not above any more",
                    parent->name);
    gw_target_let_go(gw, ch, stripe, parent);
    if (ch->dst->phase == GW_RECEIVING)
        gmc_overlay_start(&stripe->overlay, gw->now);
}

void gw_target_find_parents(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        gmc_overlay_start(&ch->stripes[k].overlay, gw->now);
}

void gw_target_fed_by_node(struct gmc_gateway *gw, struct gwchannel *ch, bool is_new)
{
    static const struct gmc_ancestors none = {0};
    ch->dst->is_relay = ch->dst->feeds;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        struct gwstripe *stripe = &ch->stripes[k];
        stripe->overlay.no_handshake = true;
        gw_target_set_ancestors(gw, ch, stripe, &none);
        struct gwpeer *parent = gw_peer(gw, gmc_overlay_parent(&stripe->overlay));
        if (!is_new || parent == NULL || parent->number == stripe->overlay.ancestors[0])
            continue;
        gw_target_let_go(gw, ch, stripe, parent);
        gmc_overlay_start(&stripe->overlay, gw->now);
    }
    gw_target_step(gw, ch);
}

static void send_attach(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe)
{
    struct gwtarget *dst = ch->dst;
    struct gwpeer *peer = gw_peer(gw, gmc_overlay_candidate(&stripe->overlay));
    /* A handle of its own for every attachment: data of an earlier parent finds none. */
    if (stripe->handle != 0)
        gmc_map_remove(&gw->handles, stripe->handle);
    do {
        stripe->handle = gw->next_handle++;
    } while (stripe->handle == 0 || gmc_map_get(&gw->handles, stripe->handle) != NULL);
    if (gmc_map_put(&gw->handles, stripe->handle, ch) != GMC_OK) {
        stripe->handle = 0;
        return;
    }
    struct gmc_msg msg = gw_about(ch, GMC_MSG_ATTACH);
    msg.version = ch->record.version;
    msg.epoch = ch->epoch;
    msg.handle = stripe->handle;
    msg.stripe = stripe->number;
    msg.place = ch->place.view;
    if (ch->talk != NULL) {
        /* Another one may have sent what it should not. */
        gw_proof_drop_unproven(gw, ch);
        msg.next = ch->talk->rx.base;
        gw_send(gw, peer, &msg);
        return;
    }
    /* More was begun than honest parents may open: it would keep this one's blocks out. Not later:
     * its first data may overtake its answer. */
    if (dst->receiving > gw_rx_window(gw))
        gw_channel_give_up(gw, ch, stripe);
    gw_have_tell_all(gw, ch, peer, &msg);
    if (!gw_is_attached(ch))
        gmc_have_told_all(&dst->have); /* there is nobody else to be told */
}

/* The tree is as it was planned again once the link to the parent is there. Asked before the
 * present one is left, the parent would have to be told all anew: it costs a round trip to leave
 * first. */
static void step_return(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe)
{
    struct gmc_overlay *overlay = &stripe->overlay;
    if (!gmc_overlay_return_is_due(overlay, gw->now))
        return;
    struct gwpeer *first = gw_peer(gw, gmc_overlay_first(overlay));
    struct gwpeer *parent = gw_peer(gw, gmc_overlay_parent(overlay));
    bool receives = ch->talk != NULL || ch->dst->phase == GW_RECEIVING;
    bool up = receives && first->up && !gmc_link_is_silent(first->link);
    if (up) {
        gw_event_parent(gw, ch, stripe, GMC_PEER_NONE, GMC_OK, "leaves %s for its parent %s",
                        parent->name, first->name);
        gw_target_let_go(gw, ch, stripe, parent);
    } else if (receives) {
        gw_want_session(gw, first);
    }
    gmc_overlay_return(overlay, gw->now, up);
}

static void step_overlay(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe)
{
    struct gmc_overlay *overlay = &stripe->overlay;
    step_return(gw, ch, stripe);
    for (int i = 0; i < 8; i++) {
        struct gwpeer *candidate = gw_peer(gw, gmc_overlay_candidate(overlay));
        bool up = candidate != NULL && candidate->up;
        enum gmc_overlay_state before = overlay->state;
        size_t at = overlay->at;
        gmc_duration rtt = up ? gmc_link_least_rtt(candidate->link) : 0;
        switch (gmc_overlay_step(overlay, gw->now, up, rtt)) {
        case GMC_OVERLAY_ASK:
            send_attach(gw, ch, stripe);
            break;
        case GMC_OVERLAY_WANT_LINK:
            if (candidate != NULL)
                gw_want_session(gw, candidate);
            break;
        case GMC_OVERLAY_NOTHING:
            if (overlay->state == before && overlay->at == at)
                return;
            break;
        }
    }
}

void gw_target_step_parents(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        const struct gmc_overlay *overlay = &ch->stripes[k].overlay;
        step_overlay(gw, ch, &ch->stripes[k]);
        struct gwpeer *standby = gw_peer(gw, gmc_overlay_standby(overlay));
        if (standby != NULL && gmc_overlay_parent(overlay) != GMC_PEER_NONE)
            gw_want_session(gw, standby);
    }
}

/* Parents believe to be here what was forgotten: they learn anew what is missing. Those that are
 * being asked may have been told before: then all are told once more. */
void gw_target_attach_again(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->dst->forgot = false;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        struct gmc_overlay *overlay = &ch->stripes[k].overlay;
        ch->dst->forgot = ch->dst->forgot || overlay->state == GMC_OVERLAY_ASKING;
        gmc_overlay_again(overlay, gw->now);
    }
}

/* What is above. Those below learn what changed: of several that take parents at once none may know
 * that they are in a circle, and who then hears its own name leaves. */
static void take_path(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                      const gmc_peer *path, size_t len)
{
    memcpy(stripe->path, path, sizeof(path[0]) * len);
    stripe->path_len = len;
    gw_tell_path(gw, ch, stripe);
}

void gw_target_on_attached(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                           const struct gmc_msg *msg)
{
    struct gwstripe *stripe = &ch->stripes[msg->stripe];
    gmc_peer path[GMC_OVERLAY_DEPTH_MAX];
    size_t path_len = 0;
    for (size_t i = 0; i < msg->name_count && path_len < GMC_OVERLAY_DEPTH_MAX; i++) {
        /* A domain that was never named here is not us, and not below us. */
        const struct gwpeer *known = gw_peer_known(gw, msg->names[i]);
        if (known != NULL)
            path[path_len++] = known->number;
    }
    if (msg->epoch != ch->epoch)
        return;
    bool was_parent = peer->number == gmc_overlay_parent(&stripe->overlay);
    bool is_new =
        path_len != stripe->path_len || memcmp(path, stripe->path, sizeof(path[0]) * path_len) != 0;
    gmc_status status =
        gmc_overlay_on_attached(&stripe->overlay, gw->now, peer->number, path, path_len, gw->self);
    if (status == GMC_OK && !was_parent) {
        ch->dst->too_small = 0;
        gw_event_parent(gw, ch, stripe, peer->number, GMC_OK, "attached to %s", peer->name);
    } else if (was_parent && status == GMC_ERR_LOOP) {
        gw_event_parent(gw, ch, stripe, GMC_PEER_NONE, GMC_OK, "leaves %s, which is below",
                        peer->name);
    }
    if (status != GMC_OK)
        gw_target_let_go(gw, ch, stripe, peer);
    else if (!was_parent || is_new)
        take_path(gw, ch, stripe, path, path_len);
    gw_target_step(gw, ch);
}

void gw_target_on_redirect(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                           const struct gmc_msg *msg)
{
    gmc_peer redirect = GMC_PEER_NONE;
    /* Only members may be named: a parent cannot send us to strangers. */
    if (msg->redirect != NULL && msg->redirect[0] != '\0' &&
        strcmp(msg->redirect, gw->domain) != 0 &&
        gw_place_is_of(gw, ch, &msg->place, msg->redirect))
        redirect = gmc_gateway_peer(gw, msg->redirect);
    /* AGAIN: it searches, for one. */
    if (peer == ch->source_peer && msg->status != GMC_ERR_AGAIN)
        ch->dst->too_small = msg->status == GMC_ERR_LIMIT ? ch->dst->too_small + 1 : 0;
    if (ch->dst->too_small >= TOO_SMALL_MAX) {
        gw_target_fail(
            gw, ch, GMC_ERR_LIMIT,
            "the path to the source takes smaller datagrams than this transfer uses; stage "
            "it anew");
        return;
    }
    gmc_overlay_on_refused(&ch->stripes[msg->stripe].overlay, gw->now, peer->number, redirect,
                           msg->status == GMC_ERR_AGAIN);
    gw_target_step(gw, ch);
}
