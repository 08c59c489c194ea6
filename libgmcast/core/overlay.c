/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaching to a parent: see overlay.h, whose rule numbers stand here. */
#include "core/overlay.h"

#include <string.h>

#include "base/assert.h"

#define REST_MIN GMC_MS(100)
#define REST_DOUBLINGS 5 /* up to 3.2 s, cut to REST_MAX */
#define REST_MAX GMC_S(2)
#define REDIRECTS_MAX 4
#define RETURN_DOUBLINGS 6

void gmc_overlay_init(struct gmc_overlay *overlay, const struct gmc_prng *prng)
{
    *overlay = (struct gmc_overlay){.redirect = GMC_PEER_NONE, .until = GMC_TIME_NEVER};
    overlay->prng = *prng;
}

static void enter(struct gmc_overlay *overlay, enum gmc_overlay_state state, gmc_time until)
{
    overlay->state = state;
    overlay->until = until;
}

bool gmc_overlay_set_ancestors(struct gmc_overlay *overlay, const gmc_peer *ancestors, size_t depth)
{
    GMC_ASSERT(depth >= 1);
    gmc_peer parent = gmc_overlay_parent(overlay);
    gmc_peer before = gmc_overlay_candidate(overlay);
    size_t kept = depth < GMC_OVERLAY_DEPTH_MAX ? depth : GMC_OVERLAY_DEPTH_MAX;
    bool is_other = overlay->depth == 0 || overlay->ancestors[0] != ancestors[0];
    if (is_other) {
        overlay->left_first = false;
        overlay->returns = 0;
    }
    memcpy(overlay->ancestors, ancestors, sizeof(gmc_peer) * kept);
    /* Deeper trees keep the nearest ancestors and the source. */
    overlay->ancestors[kept - 1] = ancestors[depth - 1];
    depth = kept;
    overlay->depth = depth;
    overlay->redirects = 0;
    if (parent == GMC_PEER_NONE) {
        overlay->at = 0;
        overlay->redirect = GMC_PEER_NONE;
        if (before != overlay->ancestors[0] && overlay->state != GMC_OVERLAY_IDLE) {
            overlay->busy = 0;
            enter(overlay, GMC_OVERLAY_RESTING, 0); /* rule 6 */
        }
        return true;
    }
    for (size_t i = 0; i < depth; i++) {
        if (overlay->ancestors[i] == parent) {
            overlay->at = i;
            overlay->redirect = GMC_PEER_NONE;
            if (i == 0)
                overlay->until = GMC_TIME_NEVER;
            else if (is_other)
                overlay->until = 0; /* rule 7, at once */
            return true;
        }
    }
    overlay->at = 0;
    overlay->redirect = GMC_PEER_NONE;
    enter(overlay, GMC_OVERLAY_IDLE, GMC_TIME_NEVER);
    return false;
}

void gmc_overlay_start(struct gmc_overlay *overlay, gmc_time now)
{
    overlay->at = 0;
    overlay->rounds = 0;
    overlay->busy = 0;
    overlay->returns = 0;
    overlay->left_first = false;
    overlay->redirects = 0;
    overlay->redirect = GMC_PEER_NONE;
    enter(overlay, GMC_OVERLAY_RESTING, now);
}

void gmc_overlay_stop(struct gmc_overlay *overlay)
{
    enter(overlay, GMC_OVERLAY_IDLE, GMC_TIME_NEVER);
}

void gmc_overlay_again(struct gmc_overlay *overlay, gmc_time now)
{
    if (overlay->state == GMC_OVERLAY_ATTACHED)
        enter(overlay, GMC_OVERLAY_RESTING, now);
}

gmc_peer gmc_overlay_candidate(const struct gmc_overlay *overlay)
{
    if (overlay->redirect != GMC_PEER_NONE)
        return overlay->redirect;
    return overlay->depth > 0 ? overlay->ancestors[overlay->at] : GMC_PEER_NONE;
}

gmc_peer gmc_overlay_parent(const struct gmc_overlay *overlay)
{
    return overlay->state == GMC_OVERLAY_ATTACHED ? gmc_overlay_candidate(overlay) : GMC_PEER_NONE;
}

gmc_peer gmc_overlay_standby(const struct gmc_overlay *overlay)
{
    if (overlay->redirect != GMC_PEER_NONE)
        return overlay->ancestors[overlay->at];
    return overlay->at + 1 < overlay->depth ? overlay->ancestors[overlay->at + 1] : GMC_PEER_NONE;
}

/* Rule 4: the wait doubles with every round without success. */
static gmc_duration rest(struct gmc_overlay *overlay)
{
    uint32_t doublings = overlay->rounds < REST_DOUBLINGS ? overlay->rounds : REST_DOUBLINGS;
    gmc_duration wait = REST_MIN << doublings;
    if (wait > REST_MAX)
        wait = REST_MAX;
    return wait / 2 + gmc_prng_below(&overlay->prng, wait / 2 + 1);
}

/* ---- rule 7 ---- */
static gmc_time next_return(const struct gmc_overlay *overlay, gmc_time now)
{
    uint32_t doublings = overlay->returns < RETURN_DOUBLINGS ? overlay->returns : RETURN_DOUBLINGS;
    bool is_node = overlay->no_handshake;
    if (overlay->at == 0 || overlay->redirect != GMC_PEER_NONE || (is_node && !overlay->left_first))
        return GMC_TIME_NEVER;
    gmc_duration wait = is_node               ? GMC_OVERLAY_RETURN_NODE
                        : overlay->left_first ? GMC_OVERLAY_RETURN_LEFT
                                              : GMC_OVERLAY_RETURN;
    return gmc_time_add(now, wait << doublings);
}

bool gmc_overlay_return_is_due(const struct gmc_overlay *overlay, gmc_time now)
{
    return overlay->state == GMC_OVERLAY_ATTACHED && now >= overlay->until;
}

gmc_peer gmc_overlay_first(const struct gmc_overlay *overlay)
{
    return overlay->depth > 0 ? overlay->ancestors[0] : GMC_PEER_NONE;
}

void gmc_overlay_return(struct gmc_overlay *overlay, gmc_time now, bool link_up)
{
    if (!link_up) {
        overlay->until = gmc_time_add(now, GMC_OVERLAY_RETURN);
        return;
    }
    overlay->at = 0;
    overlay->returns++;
    overlay->busy = GMC_OVERLAY_BUSY_MAX; /* others serve us: "not yet" is a refusal */
    enter(overlay, GMC_OVERLAY_RESTING, now);
}

/* Rules 3 and 4: the next candidate at once, or a rest after the last one. */
static void pass_over(struct gmc_overlay *overlay, gmc_time now)
{
    overlay->busy = 0;
    if (overlay->redirect != GMC_PEER_NONE) {
        overlay->redirect = GMC_PEER_NONE; /* back to the one that redirected */
    } else if (overlay->at + 1 < overlay->depth) {
        overlay->at++;
    } else {
        overlay->at = 0;
        overlay->redirects = 0;
        enter(overlay, GMC_OVERLAY_RESTING, gmc_time_add(now, rest(overlay)));
        overlay->rounds++;
        return;
    }
    enter(overlay, GMC_OVERLAY_RESTING, now);
}

/* Rule 3. */
static void ask(struct gmc_overlay *overlay, gmc_time now, gmc_duration rtt)
{
    gmc_duration wait = gmc_time_max(GMC_OVERLAY_ANSWER, GMC_OVERLAY_ANSWER_TRIPS * rtt);
    enter(overlay, GMC_OVERLAY_ASKING, gmc_time_add(now, wait));
}

enum gmc_overlay_action gmc_overlay_step(struct gmc_overlay *overlay, gmc_time now, bool link_up,
                                         gmc_duration rtt)
{
    switch (overlay->state) {
    case GMC_OVERLAY_RESTING: {
        bool briefly = overlay->was_attached || overlay->no_handshake;
        if (now < overlay->until)
            return GMC_OVERLAY_NOTHING;
        if (link_up) {
            ask(overlay, now, rtt);
            return GMC_OVERLAY_ASK;
        }
        enter(overlay, GMC_OVERLAY_CONNECTING,
              gmc_time_add(now, briefly ? GMC_OVERLAY_CONNECT : GMC_OVERLAY_CONNECT_FIRST));
        return GMC_OVERLAY_WANT_LINK;
    }
    case GMC_OVERLAY_CONNECTING:
        if (link_up) {
            ask(overlay, now, rtt);
            return GMC_OVERLAY_ASK;
        }
        if (now >= overlay->until)
            pass_over(overlay, now);
        return GMC_OVERLAY_NOTHING;
    case GMC_OVERLAY_ASKING:
        if (now >= overlay->until)
            pass_over(overlay, now);
        return GMC_OVERLAY_NOTHING;
    case GMC_OVERLAY_IDLE:
    case GMC_OVERLAY_ATTACHED:
        break;
    }
    return GMC_OVERLAY_NOTHING;
}

gmc_time gmc_overlay_deadline(const struct gmc_overlay *overlay)
{
    return overlay->until;
}

gmc_status gmc_overlay_on_attached(struct gmc_overlay *overlay, gmc_time now, gmc_peer from,
                                   const gmc_peer *path, size_t path_len, gmc_peer self)
{
    bool is_parent = from == gmc_overlay_parent(overlay);
    if (!is_parent &&
        (overlay->state != GMC_OVERLAY_ASKING || from != gmc_overlay_candidate(overlay)))
        return GMC_ERR_STATE;
    for (size_t i = 0; i < path_len; i++) {
        if (path[i] == self) {
            if (is_parent)
                (void)gmc_overlay_on_let_go(overlay, now, from);
            else
                pass_over(overlay, now);
            return GMC_ERR_LOOP;
        }
    }
    if (is_parent)
        return GMC_OK;
    overlay->rounds = 0;
    overlay->busy = 0;
    overlay->was_attached = true;
    enter(overlay, GMC_OVERLAY_ATTACHED, next_return(overlay, now));
    return GMC_OK;
}

void gmc_overlay_on_refused(struct gmc_overlay *overlay, gmc_time now, gmc_peer from,
                            gmc_peer redirect, bool not_yet)
{
    if (overlay->state != GMC_OVERLAY_ASKING || from != gmc_overlay_candidate(overlay))
        return;
    if (not_yet && overlay->busy < GMC_OVERLAY_BUSY_MAX) {
        overlay->busy++;
        enter(overlay, GMC_OVERLAY_RESTING, gmc_time_add(now, GMC_OVERLAY_BUSY_WAIT));
        return;
    }
    if (redirect != GMC_PEER_NONE && overlay->redirects < REDIRECTS_MAX) {
        overlay->redirects++;
        overlay->busy = 0;
        overlay->redirect = redirect;
        enter(overlay, GMC_OVERLAY_RESTING, now);
        return;
    }
    pass_over(overlay, now);
}

bool gmc_overlay_on_lost(struct gmc_overlay *overlay, gmc_time now, gmc_peer who)
{
    if (overlay->state == GMC_OVERLAY_IDLE || overlay->state == GMC_OVERLAY_RESTING ||
        who != gmc_overlay_candidate(overlay))
        return false;
    bool was_parent = overlay->state == GMC_OVERLAY_ATTACHED;
    if (overlay->state == GMC_OVERLAY_CONNECTING)
        return false; /* it may still come up: rule 2 bounds the wait */
    if (was_parent && overlay->redirect == GMC_PEER_NONE && overlay->depth == 1)
        enter(overlay, GMC_OVERLAY_RESTING, now); /* only the source is above: wait for it */
    else
        pass_over(overlay, now); /* rule 5: those behind the parent first */
    return was_parent;
}

static void leave(struct gmc_overlay *overlay, gmc_peer who)
{
    if (overlay->depth > 0 && who == overlay->ancestors[0] && who == gmc_overlay_parent(overlay))
        overlay->left_first = true;
}

bool gmc_overlay_on_let_go(struct gmc_overlay *overlay, gmc_time now, gmc_peer who)
{
    leave(overlay, who);
    return gmc_overlay_on_lost(overlay, now, who);
}

bool gmc_overlay_on_silent(struct gmc_overlay *overlay, gmc_time now, gmc_peer who)
{
    if (who != gmc_overlay_parent(overlay) || gmc_overlay_standby(overlay) == GMC_PEER_NONE)
        return false;
    leave(overlay, who);
    pass_over(overlay, now); /* rule 5 */
    return true;
}
