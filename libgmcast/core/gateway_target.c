/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as a receiver: its steps, from the channel's record to the end. */
#include <stdlib.h>

#include "core/gateway_target_impl.h"

/* How long a domain whose nodes lack a transfer waits for its source to resume that. */
#define PARTIAL_KEPT GMC_S(86400)
#define UNHEARD_AFTER GMC_S(1) /* sessions break and come back */

void gw_target_init(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (uint32_t k = 0; k < GMC_STRIPES_MAX; k++) {
        struct gmc_prng prng;
        gmc_prng_fork_nth(&gw->prng, "overlay", (uint64_t)ch->slot * GMC_STRIPES_MAX + k, &prng);
        gmc_overlay_init(&ch->stripes[k].overlay, &prng);
    }
    gmc_have_init(&ch->dst->have, 0, GW_HAVE_RANGES_MAX);
    gmc_interval_init(&ch->dst->stable, GW_HAVE_RANGES_MAX);
    gmc_interval_init(&ch->dst->doubtful, SIZE_MAX); /* at most two a file */
    ch->dst->phase = GW_OPENING;
    ch->dst->tree_parent = GMC_PEER_NONE;
    ch->state = GMC_CHANNEL_RUNNING;
}

void gw_target_free(struct gwtarget *dst)
{
    gmc_have_fini(&dst->have);
    gmc_interval_fini(&dst->stable);
    gmc_interval_fini(&dst->doubtful);
    free(dst->nodes);
    free(dst->neighbours);
    free(dst->saved_stopped);
    free(dst);
}

void gw_target_begin(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->dst->phase = GW_RECEIVING;
    ch->dst->next_checkpoint = gmc_time_add(gw->now, GW_CHECKPOINT_EVERY);
    gw_target_find_parents(gw, ch);
    gw_target_progress(gw, ch);
    gw_target_step(gw, ch);
}

static bool is_whole(const struct gwchannel *ch)
{
    return gmc_have_is_whole(&ch->dst->have);
}

/* Looks at what a newly stored block makes possible. */
void gw_target_progress(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    if (ch->closing || dst->phase != GW_RECEIVING || ch->talk != NULL)
        return;
    if (dst->listing_missing == 0 && !dst->laid_out && !dst->laying_out)
        gw_target_layout(gw, ch);
    if (is_whole(ch) && dst->laid_out && !dst->doubts) {
        /* The digest is in the last page, which may have left memory. */
        if (!ch->digest_known &&
            gw_page_or_load(gw, ch, (uint32_t)gmc_object_pages(&ch->object) - 1) == NULL) {
            gw_set_timer(gw, &ch->timer, gmc_time_add(gw->now, GMC_MS(1)));
            return;
        }
        gw_target_finish(gw, ch);
    }
    if (dst->phase == GW_DONE)
        return;
    /* The parent's window opens with every HAVE: it goes out early when much of it is used. */
    if (gmc_have_untold(&dst->have) >= gw_rx_window(gw) / 8 + 1)
        gw_target_step(gw, ch);
    else if (gmc_have_untold(&dst->have) == 1)
        gw_set_timer(gw, &ch->timer,
                     gmc_time_min(ch->timer.node.key,
                                  gmc_time_add(gw->now, gw_hearing_have_wait(ch))));
}

static void detach(struct gmc_gateway *gw, const struct gwchannel *ch, struct gwpeer *peer,
                   uint32_t stripe, gmc_status status)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_DETACH);
    msg.stripe = stripe;
    msg.status = status;
    msg.text = "this gateway left the transfer";
    gw_send(gw, peer, &msg);
}

/* Parents hear it as well: what is not acknowledged any more they would repair for ever. */
static void detach_all(struct gmc_gateway *gw, const struct gwchannel *ch, gmc_status status)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        const struct gmc_overlay *overlay = &ch->stripes[k].overlay;
        struct gwpeer *peer = gw_peer(gw, gmc_overlay_candidate(overlay));
        if (peer != NULL && overlay->state != GMC_OVERLAY_IDLE)
            detach(gw, ch, peer, k, status);
    }
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        detach(gw, ch, child->peer, child->stripe, status);
    }
}

void gw_target_fail(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason)
{
    if (ch->closing)
        return;
    gw->counts.transfers_left++;
    char text[GMC_TEXT_MAX + 1];
    gw_text(text, sizeof(text), "%s", reason);
    struct gmc_msg msg = gw_about(ch, GMC_MSG_LEAVE);
    msg.status = status;
    msg.text = text;
    gw_send(gw, ch->source_peer, &msg);
    ch->dst->leave_unsaid = !ch->source_peer->up;
    detach_all(gw, ch, status);
    gw_channel_end(gw, ch, GMC_CHANNEL_FAILED, true, text);
}

static gmc_time target_deadline(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwtarget *dst = ch->dst;
    gmc_time when = dst->next_status;
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        when = gmc_time_min(when, gmc_overlay_deadline(&ch->stripes[k].overlay));
    if (gmc_have_untold(&dst->have) > 0 && gw_is_attached(ch))
        when = gmc_time_min(when, gmc_time_add(dst->fresh_since, gw_hearing_have_wait(ch)));
    if (dst->phase == GW_RECEIVING)
        when = gmc_time_min(when, dst->next_checkpoint);
    when = gmc_time_min(when, gw_nodes_deadline(gw, ch));
    if (ch->state == GMC_CHANNEL_PARTIAL)
        when = gmc_time_min(when, dst->partial_until);
    return gmc_time_max(when, gmc_time_add(gw->now, GMC_US(100)));
}

/* The domain is complete when its nodes are. One that has it itself, and whose nodes have not, says
 * who lacks it. What is here stays here, open for a while, so that a resume finds it. True when
 * that while is over. */
static bool give_up_nodes(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    char text[GMC_TEXT_MAX + 1];
    if (ch->talk != NULL || dst->phase != GW_DONE || !gw_nodes_are_settled(ch) ||
        !gw_nodes_failed(ch, text, sizeof(text)))
        return false;
    if (ch->state == GMC_CHANNEL_PARTIAL && gw->now >= dst->partial_until) {
        gw_channel_end(gw, ch, GMC_CHANNEL_PARTIAL, false, text);
        return true;
    }
    if (ch->state != GMC_CHANNEL_PARTIAL) {
        ch->state = GMC_CHANNEL_PARTIAL;
        ch->ended_at = gw->now;
        dst->partial_until = gmc_time_add(gw->now, PARTIAL_KEPT);
        gw_text(ch->reason, sizeof(ch->reason), "%s", text);
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "partial: %s", text);
    }
    if (!dst->told_partial && ch->source_peer->up) {
        gw_target_say_status(gw, ch);
        gw_target_say_lacking(gw, ch, text);
        dst->told_partial = true;
    }
    return false;
}

/* What its publishers had to say died with it; a new one opens a new channel. One that comes back
 * asks before its link is up. */
static bool is_source_lost(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    gmc_time since = gmc_time_max(ch->source_peer->silent_since, ch->dst->asked_at);
    return !ch->source_peer->up && gw->now >= gw_patience_ends(gw, since);
}

/* Who has the end says so when the source asks again. Children, which may hear that for longer,
 * look for another parent. */
static void end_without_source(struct gmc_gateway *gw, struct gwchannel *ch)
{
    static const char text[] = "its source is not heard any more";
    bool done = ch->dst->phase == GW_DONE;
    gw_hearers_detach(gw, ch, GMC_ERR_TIMEOUT, text);
    gw_channel_end(gw, ch, done ? GMC_CHANNEL_COMPLETE : GMC_CHANNEL_FAILED, !done,
                   done ? NULL : text);
}

gmc_status gmc_gateway_leave(struct gmc_gateway *gw, gmc_time now,
                             const struct gmc_channel_key *key, const char **error)
{
    gw_begin_input(gw, now);
    struct gwchannel *ch = gw_channel_find(gw, key->source, key->e);
    if (ch == NULL || ch->is_source)
        return gw_say(gw, error, GMC_ERR_NOT_FOUND,
                      "no such transfer from another domain is received here%s", "");
    if (ch->closing)
        return gw_say(gw, error, GMC_ERR_STATE, "the transfer is over already%s", "");
    if (ch->talk != NULL)
        return gw_say(gw, error, GMC_ERR_STATE, "messages end with who publishes them%s", "");
    if (ch->dst->phase != GW_DONE)
        gw_target_fail(gw, ch, GMC_ERR_CANCELLED, "given up there by a user");
    else if (!ch->source_peer->up)
        end_without_source(gw, ch);
    else
        return gw_say(gw, error, GMC_ERR_STATE, "it is whole here, and ends when %s says so",
                      ch->key.source);
    return GMC_OK;
}

/* Nothing may come from it, while the channel waits for its patience: its user is told. */
static void note_source(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwpeer *source = ch->source_peer;
    if (source->up)
        ch->dst->unheard[0] = '\0';
    else if (gw->now >= gmc_time_add(source->silent_since, UNHEARD_AFTER))
        gw_text(ch->dst->unheard, sizeof(ch->dst->unheard), "%s is not heard: %s", source->name,
                source->reason);
}

/* Does everything that is due now, and sets the timer for what is due later. */
void gw_target_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    if (ch->closing || !ch->recorded || !gw->started)
        return;
    gw_want_session(gw, ch->source_peer);
    note_source(gw, ch);
    gw_nodes_step(gw, ch);
    if (give_up_nodes(gw, ch))
        return;
    gw_target_tell_source(gw, ch);
    if (dst->phase >= GW_RECEIVING)
        gw_target_step_parents(gw, ch);
    uint64_t fresh = gmc_have_untold(&dst->have);
    if (gw_is_attached(ch) && fresh > 0 &&
        (fresh >= gw_rx_window(gw) / 8 + 1 || dst->phase != GW_RECEIVING ||
         gw->now >= gmc_time_add(dst->fresh_since, gw_hearing_have_wait(ch))))
        gw_have_tell(gw, ch);
    if (gw->now >= dst->next_status) {
        if (ch->source_peer->up && ch->state != GMC_CHANNEL_PARTIAL)
            gw_target_say_status(gw, ch);
        if (dst->forgot && dst->phase == GW_RECEIVING && dst->receiving == 0)
            gw_target_attach_again(gw, ch);
        gmc_duration turn = GW_STATUS_HEARD_EVERY * ch->record.members;
        dst->next_status = gmc_time_add(gw->now, gmc_time_max(GW_STATUS_EVERY, turn));
    }
    if (ch->talk != NULL && is_source_lost(gw, ch)) {
        end_without_source(gw, ch);
        return;
    }
    if (dst->phase == GW_RECEIVING && ch->talk == NULL) {
        gw_target_checkpoint(gw, ch);
        gw_doubt_step(gw, ch);
        if (is_whole(ch) && dst->laid_out && !dst->doubts)
            gw_target_progress(gw, ch);
    }
    gw_set_timer(gw, &ch->timer, target_deadline(gw, ch));
}

static void on_close(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg)
{
    if (peer != ch->source_peer) {
        gw->counts.messages_refused++;
        return;
    }
    bool done = ch->dst->phase == GW_DONE;
    enum gmc_channel_state state = done && ch->state == GMC_CHANNEL_PARTIAL ? GMC_CHANNEL_PARTIAL
                                   : done                                   ? GMC_CHANNEL_COMPLETE
                                   : msg->status == GMC_ERR_CANCELLED       ? GMC_CHANNEL_CANCELLED
                                                                            : GMC_CHANNEL_FAILED;
    gw_channel_end(gw, ch, state, !done && msg->discard, done ? NULL : msg->text);
}

void gw_target_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                       const struct gmc_msg *msg)
{
    if (msg->stripe >= ch->stripe_count)
        gw->counts.messages_refused++;
    else if (msg->type == GMC_MSG_ATTACHED)
        gw_target_on_attached(gw, peer, ch, msg);
    else if (msg->type == GMC_MSG_REDIRECT)
        gw_target_on_redirect(gw, peer, ch, msg);
    else
        on_close(gw, peer, ch, msg);
}
