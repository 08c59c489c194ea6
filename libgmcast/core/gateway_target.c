/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as a receiver: taking part, attaching, telling the parent and the source what is
 * here, finishing, leaving. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

/* The path's MTU is searched again between these, so loss alone does not reach it. */
#define TOO_SMALL_MAX 8u
/* How long a domain whose nodes lack a transfer waits for its source to resume that. */
#define GW_PARTIAL_KEPT GMC_S(86400)

void gw_target_init(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (uint32_t k = 0; k < GMC_STRIPES_MAX; k++) {
        struct gmc_prng prng;
        gmc_prng_fork_nth(&gw->prng, "overlay", (uint64_t)ch->slot * GMC_STRIPES_MAX + k, &prng);
        gmc_overlay_init(&ch->stripes[k].overlay, &prng);
    }
    gmc_have_init(&ch->dst->have, 0, GW_HAVE_RANGES_MAX);
    gmc_interval_init(&ch->dst->stable, GW_HAVE_RANGES_MAX);
    ch->dst->phase = GW_OPENING;
    ch->dst->tree_parent = GMC_PEER_NONE;
    ch->state = GMC_CHANNEL_RUNNING;
}

void gw_target_free(struct gwtarget *dst)
{
    gmc_have_fini(&dst->have);
    gmc_interval_fini(&dst->stable);
    free(dst->nodes);
    free(dst->neighbours);
    free(dst);
}

/* ---- the record ---- */
void gw_target_let_go(struct gmc_gateway *gw, const struct gwchannel *ch,
                      const struct gwstripe *stripe, struct gwpeer *peer)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_DETACH);
    msg.stripe = stripe->number;
    msg.text = "it has another parent";
    gw_send(gw, peer, &msg);
}

static void set_ancestors(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
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
    gw_target_let_go(gw, ch, stripe, parent);
    if (ch->dst->phase == GW_RECEIVING)
        gmc_overlay_start(&stripe->overlay, gw->now);
}

void gw_target_fed_by_node(struct gmc_gateway *gw, struct gwchannel *ch, bool is_new)
{
    static const struct gmc_ancestors none = {0};
    ch->dst->is_relay = ch->dst->feeds;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        struct gwstripe *stripe = &ch->stripes[k];
        stripe->overlay.no_handshake = true;
        set_ancestors(gw, ch, stripe, &none);
        struct gwpeer *parent = gw_peer(gw, gmc_overlay_parent(&stripe->overlay));
        if (!is_new || parent == NULL || parent->number == stripe->overlay.ancestors[0])
            continue;
        gw_target_let_go(gw, ch, stripe, parent);
        gmc_overlay_start(&stripe->overlay, gw->now);
    }
    gw_target_step(gw, ch);
}

static void start_overlays(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        gmc_overlay_start(&ch->stripes[k].overlay, gw->now);
}

static bool is_here(const struct gmc_gateway *gw, const struct gmc_place *place,
                    const struct gmc_record *record)
{
    struct gmc_member member;
    struct gmc_record_holder *holder;
    if (gmc_member_decode(place->member, &member, &holder) != GMC_OK)
        return false;
    bool here = strcmp(member.domain, gw_home(gw)) == 0 && member.stripes == record->stripes;
    for (uint32_t k = 0; k < member.stripes; k++)
        for (size_t i = 0; i < member.trees[k].count; i++)
            here = here && strcmp(member.trees[k].domains[i], record->source) != 0;
    gmc_record_release(holder);
    return here;
}

bool gw_target_place_ok(const struct gmc_gateway *gw, const struct gmc_place *place,
                        const struct gmc_record *record)
{
    struct gmc_object object = {.listing_bytes = record->listing_bytes,
                                .total_bytes = record->total_bytes,
                                .block_bytes = record->block_bytes,
                                .fragment_bytes = record->fragment_bytes};
    bool fits = gmc_object_check(&object) == GMC_OK;
    if (record->name[0] != '\0') /* messages: packets alone have a size */
        fits = record->order <= GMC_MESSAGES_LATEST && record->stripes == 1 &&
               record->fragment_bytes >= GMC_MESSAGE_PACKET_MIN &&
               record->fragment_bytes <= GW_BLOCK_BYTES;
    return record->block_bytes == GW_BLOCK_BYTES && fits && gw_place_fits(gw, record, place) &&
           is_here(gw, place, record);
}

/* Who speaks for the channel: the source, or to a node its gateway. */
static bool is_from_voice(const struct gmc_gateway *gw, const struct gwpeer *peer,
                          const struct gmc_msg *msg)
{
    return strcmp(peer->name, gw->config.node_of != NULL ? gw->config.node_of : msg->source) == 0;
}

/* A node takes from its gateway who the source is. */
static struct gmc_bytes source_key(const struct gmc_gateway *gw, const struct gwpeer *peer,
                                   const struct gmc_msg *msg)
{
    return gw->config.node_of != NULL ? msg->source_key : gmc_bytes(peer->spki, peer->spki_len);
}

static bool is_signed(struct gmc_gateway *gw, const struct gwpeer *peer, const struct gmc_msg *msg)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    if (gw->config.node_of == NULL)
        return gw_record_verify(gw, peer->key, msg->place.record, msg->place.signature) == GMC_OK;
    struct gmc_pubkey *key = crypto->ops->pubkey_new(crypto->ctx, msg->source_key);
    if (key == NULL)
        return false;
    gmc_status status = gw_record_verify(gw, key, msg->place.record, msg->place.signature);
    crypto->ops->pubkey_free(key);
    return status == GMC_OK;
}

/* Signature first: nothing of a record is believed before it. */
static bool is_valid(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    struct gmc_record record;
    struct gmc_record_holder *holder;
    uint8_t key_hash[GMC_HASH_BYTES];
    if (!is_from_voice(gw, peer, msg) || !is_signed(gw, peer, msg) ||
        gmc_record_decode(msg->place.record, &record, &holder) != GMC_OK)
        return false;
    gw->config.crypto->ops->hash(msg->secret, GMC_KEY_BYTES, key_hash);
    bool valid = strcmp(record.source, msg->source) == 0 && record.e == msg->e &&
                 memcmp(key_hash, record.key_hash, GMC_HASH_BYTES) == 0 &&
                 gw_target_place_ok(gw, &msg->place, &record);
    gmc_record_release(holder);
    return valid;
}

/* Each epoch has a key of its own. The number alone does not tell: a source that crashed before it
 * had saved one uses it again. */
static bool is_rekeyed(const struct gwchannel *ch, const uint8_t *secret)
{
    return memcmp(ch->secret, secret, GMC_KEY_BYTES) != 0;
}

/* Where this gateway stands, as its place says. */
static gmc_status take_member(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_member member;
    struct gmc_record_holder *holder;
    gmc_status status = gmc_member_decode(ch->place.view.member, &member, &holder);
    if (status != GMC_OK)
        return status;
    ch->dst->is_relay =
        gw->config.node_of != NULL ? ch->dst->feeds : member.is_relay || ch->dst->node_count > 0;
    gw_text(ch->dst->dest, sizeof(ch->dst->dest), "%s", member.path);
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        set_ancestors(gw, ch, &ch->stripes[k], &member.trees[k]);
    gmc_record_release(holder);
    return GMC_OK;
}

static gmc_status take_record(struct gmc_gateway *gw, struct gwchannel *ch,
                              const struct gmc_place *place, const uint8_t *secret,
                              struct gmc_bytes spki)
{
    bool rekeyed = is_rekeyed(ch, secret);
    gmc_status status = gw_channel_set_record(gw, ch, place);
    if (status == GMC_OK)
        status = gw_channel_set_source_key(gw, ch, spki);
    if (status == GMC_OK)
        status = gw_channel_set_key(gw, ch, secret);
    if (status != GMC_OK)
        return status;
    struct gmc_object object = {.listing_bytes = ch->record.listing_bytes,
                                .total_bytes = ch->record.total_bytes,
                                .block_bytes = ch->record.block_bytes,
                                .fragment_bytes = ch->record.fragment_bytes};
    bool first = !ch->object_known;
    if (ch->talk != NULL) {
        ch->object = object;
        ch->object_known = true;
        gw_talk_set_record(ch, first);
    } else {
        gw_channel_set_object(ch, &object);
    }
    ch->stripe_count = ch->record.stripes;
    if (first && ch->talk == NULL) {
        gmc_have_init(&ch->dst->have, ch->blocks, GW_HAVE_RANGES_MAX);
        ch->dst->listing_missing = gmc_object_listing_blocks(&object);
    } else if (!first && rekeyed) {
        gw_channel_new_epoch(gw, ch);
    }
    return take_member(gw, ch);
}

static void begin_receiving(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->dst->phase = GW_RECEIVING;
    ch->dst->next_checkpoint = gmc_time_add(gw->now, GW_CHECKPOINT_EVERY);
    start_overlays(gw, ch);
    gw_target_progress(gw, ch);
    gw_target_step(gw, ch);
}

static void open_store(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_store_op *op;
    char text[GMC_TEXT_MAX + 1];
    gmc_status status = gw_nodes_choose(gw, ch, text, sizeof(text));
    if (status != GMC_OK) {
        gw_target_fail(gw, ch, status, text);
        return;
    }
    if (ch->talk != NULL) {
        begin_receiving(gw, ch);
        return;
    }
    ch->dst->phase = GW_OPENING;
    gw_store(gw, ch, GMC_STORE_OPEN, &op);
    op->dest = ch->dst->dest;
}

static bool same_object(const struct gwchannel *ch, struct gmc_bytes bytes)
{
    struct gmc_record record;
    struct gmc_record_holder *holder;
    if (gmc_record_decode(bytes, &record, &holder) != GMC_OK)
        return false;
    bool same = record.listing_bytes == ch->object.listing_bytes &&
                record.total_bytes == ch->object.total_bytes &&
                record.fragment_bytes == ch->object.fragment_bytes &&
                strcmp(record.name, ch->talk != NULL ? ch->talk->name : "") == 0 &&
                record.order == ch->record.order && record.stripes == ch->stripe_count &&
                record.version >= ch->record.version && record.epoch >= ch->epoch;
    gmc_record_release(holder);
    return same;
}

/* The source asks those again that were given up: so do we. */
static void resume_nodes(struct gmc_gateway *gw, struct gwchannel *ch, bool is_new)
{
    if (is_new && ch->dst->told_partial) {
        gw_nodes_resume(gw, ch);
        ch->state = GMC_CHANNEL_RUNNING;
        ch->reason[0] = '\0';
        ch->ended_at = 0;
    }
    ch->dst->told_partial = false;
}

static void report_again(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->dst->told_ready = false;
    ch->dst->told_complete = false;
    ch->dst->next_status = gw->now;
    gw_target_step(gw, ch);
}

static void update_record(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                          const struct gmc_msg *msg)
{
    if (!same_object(ch, msg->place.record)) {
        gw->counts.messages_refused++;
        return;
    }
    bool rekeyed = is_rekeyed(ch, msg->secret);
    uint32_t version = ch->record.version;
    if (take_record(gw, ch, &msg->place, msg->secret, source_key(gw, peer, msg)) != GMC_OK) {
        gw_target_fail(gw, ch, GMC_ERR_NOMEM, "no memory for the channel's record");
        return;
    }
    gw_target_save_record(gw, ch);
    gw_nodes_retell(ch);
    resume_nodes(gw, ch, ch->record.version > version);
    /* Under a new key the old attachment carries nothing any more. */
    if (rekeyed && ch->dst->phase == GW_RECEIVING)
        start_overlays(gw, ch);
    report_again(gw, ch);
}

static void answer_complete(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_COMPLETE);
    msg.bytes = ch->stored_bytes;
    msg.digest = ch->digest;
    gw_send(gw, peer, &msg);
}

static void say_nodes_lack_it(struct gmc_gateway *gw, const struct gwchannel *ch, const char *text)
{
    struct gmc_msg msg = gw_about(ch, GMC_MSG_LEAVE);
    msg.status = GMC_ERR_TIMEOUT;
    msg.text = text;
    gw_send(gw, ch->source_peer, &msg);
}

void gw_target_channel(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg)
{
    if (!is_valid(gw, peer, msg)) {
        gw->counts.messages_refused++;
        gw_event(gw, GMC_EVENT_LINK, NULL, peer->number, GMC_ERR_AUTH,
                 "refused a channel record from %s: not valid, or not signed by it", peer->name);
        return;
    }
    struct gwchannel *ch = gw_channel_find(gw, msg->source, msg->e);
    if (ch != NULL && ch->closing && ch->state == GMC_CHANNEL_COMPLETE) {
        answer_complete(gw, peer, ch);
        return;
    }
    if (ch != NULL && ch->closing && ch->state == GMC_CHANNEL_PARTIAL) {
        /* Too late to resume: here it stands under its final name, which another attempt would find
         * taken. */
        say_nodes_lack_it(gw, ch, ch->reason);
        return;
    }
    if (ch != NULL && ch->closing) {
        if (ch->ops > 0)
            return;              /* its store is still being closed; the source asks again */
        gw_channel_free(gw, ch); /* resumed: from the beginning of set-up */
        ch = NULL;
    }
    if (ch != NULL) {
        update_record(gw, peer, ch, msg);
        return;
    }
    ch = gw_channel_new(gw, msg->source, msg->e, false);
    if (ch == NULL ||
        take_record(gw, ch, &msg->place, msg->secret, source_key(gw, peer, msg)) != GMC_OK) {
        struct gmc_msg leave = {.type = GMC_MSG_LEAVE,
                                .source = msg->source,
                                .e = msg->e,
                                .status = GMC_ERR_LIMIT,
                                .text = "this gateway takes part in as many transfers as it may"};
        gw_send(gw, peer, &leave);
        if (ch != NULL)
            gw_channel_free(gw, ch);
        return;
    }
    open_store(gw, ch);
}

/* ---- what the store answered ---- */
void gw_target_layout(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_store_op *op;
    ch->dst->laying_out = true;
    gw_store(gw, ch, GMC_STORE_LAYOUT, &op);
    op->dest = ch->dst->dest;
}

static void opened(struct gmc_gateway *gw, struct gwchannel *ch)
{
    gw_target_save_record(gw, ch);
    if (!ch->restored) {
        begin_receiving(gw, ch);
    } else if (ch->dst->listing_missing == 0) {
        ch->dst->phase = GW_RECHECKING;
        gw_target_layout(gw, ch);
    } else {
        ch->dst->phase = GW_RECHECKING;
        gw_target_recheck(gw, ch);
    }
}

static void laid_out(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    dst->laying_out = false;
    dst->laid_out = true;
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(&ch->layout_wait)) != NULL)
        gw_block_whole(gw, ch, GMC_CONTAINER_OF(node, struct gmc_block, wait));
    if (dst->phase == GW_RECHECKING)
        gw_target_recheck(gw, ch);
    else
        gw_target_progress(gw, ch);
}

static void finished(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->dst->phase = GW_DONE;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "verified here");
    gw_target_step(gw, ch);
}

void gw_target_answered(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind,
                        const struct gmc_store_result *result)
{
    if (result->status != GMC_OK) {
        gw_target_fail(gw, ch, result->status,
                       result->reason != NULL ? result->reason : gmc_status_text(result->status));
        return;
    }
    switch (kind) {
    case GMC_STORE_OPEN:
        opened(gw, ch);
        break;
    case GMC_STORE_LAYOUT:
        laid_out(gw, ch);
        break;
    case GMC_STORE_SYNC:
        gw_target_save_have(gw, ch);
        break;
    case GMC_STORE_FINISH:
        finished(gw, ch);
        break;
    default:
        break;
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
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        struct gmc_msg detach = gw_about(ch, GMC_MSG_DETACH);
        detach.stripe = child->stripe;
        detach.status = status;
        detach.text = "this gateway left the transfer";
        gw_send(gw, child->peer, &detach);
    }
    gw_channel_end(gw, ch, GMC_CHANNEL_FAILED, true, text);
}

/* ---- progress ---- */
static void finish(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (gw->config.discard_data) {
        finished(gw, ch); /* there is nothing to give a name to */
        return;
    }
    struct gmc_store_op *op;
    ch->dst->phase = GW_FINISHING;
    gw_pass_forget(ch);
    gw_children_touch(gw, ch);
    gw_store(gw, ch, GMC_STORE_FINISH, &op);
    op->dest = ch->dst->dest;
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
    if (is_whole(ch) && dst->laid_out) {
        /* The digest is in the last page, which may have left memory. */
        if (!ch->digest_known &&
            gw_page_or_load(gw, ch, (uint32_t)gmc_object_pages(&ch->object) - 1) == NULL) {
            gw_set_timer(gw, &ch->timer, gmc_time_add(gw->now, GMC_MS(1)));
            return;
        }
        finish(gw, ch);
    }
    if (dst->phase == GW_DONE)
        return;
    /* The parent's window opens with every HAVE: it goes out early when much of it is used. */
    if (gmc_have_untold(&dst->have) >= gw_rx_window(gw) / 8 + 1)
        gw_target_step(gw, ch);
    else if (gmc_have_untold(&dst->have) == 1)
        gw_set_timer(gw, &ch->timer,
                     gmc_time_min(ch->timer.node.key, gmc_time_add(gw->now, GW_HAVE_WAIT)));
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

static void send_status(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_msg_child *children = calloc(ch->child_count + 1, sizeof(*children));
    if (children == NULL)
        return;
    size_t n = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->children)
    {
        const struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (child->peer->is_node)
            continue;
        children[n++] = (struct gmc_msg_child){.domain = child->peer->name,
                                               .repairs = child->tx.repairs_sent,
                                               .stripe = child->stripe};
    }
    const char *parents[GMC_STRIPES_MAX] = {0};
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        const struct gwpeer *parent = gw_peer(gw, gmc_overlay_parent(&ch->stripes[k].overlay));
        parents[k] = parent != NULL ? parent->name : "";
    }
    struct gmc_msg msg = gw_about(ch, GMC_MSG_STATUS);
    msg.bytes = ch->stored_bytes;
    msg.parent = parents[0];
    msg.names = parents + 1;
    msg.name_count = ch->stripe_count - 1;
    msg.children = children;
    msg.child_count = n;
    gw_nodes_count(ch, &msg.nodes, &msg.nodes_verified, &msg.nodes_failed);
    gw_uplink_say(gw, &msg);
    gw_send(gw, ch->source_peer, &msg);
    free(children);
}

/* ---- stepping ---- */
static void step_overlay(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe)
{
    struct gmc_overlay *overlay = &stripe->overlay;
    for (int i = 0; i < 8; i++) {
        struct gwpeer *candidate = gw_peer(gw, gmc_overlay_candidate(overlay));
        bool up = candidate != NULL && candidate->up;
        enum gmc_overlay_state before = overlay->state;
        size_t at = overlay->at;
        switch (gmc_overlay_step(overlay, gw->now, up)) {
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

static void step_overlays(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        const struct gmc_overlay *overlay = &ch->stripes[k].overlay;
        step_overlay(gw, ch, &ch->stripes[k]);
        struct gwpeer *standby = gw_peer(gw, gmc_overlay_standby(overlay));
        if (standby != NULL && gmc_overlay_parent(overlay) != GMC_PEER_NONE)
            gw_want_session(gw, standby);
    }
}

static gmc_time target_deadline(struct gmc_gateway *gw, const struct gwchannel *ch)
{
    const struct gwtarget *dst = ch->dst;
    gmc_time when = dst->next_status;
    for (uint32_t k = 0; k < ch->stripe_count; k++)
        when = gmc_time_min(when, gmc_overlay_deadline(&ch->stripes[k].overlay));
    if (gmc_have_untold(&dst->have) > 0 && gw_is_attached(ch))
        when = gmc_time_min(when, gmc_time_add(dst->fresh_since, GW_HAVE_WAIT));
    if (dst->phase == GW_RECEIVING)
        when = gmc_time_min(when, dst->next_checkpoint);
    when = gmc_time_min(when, gw_nodes_deadline(gw, ch));
    if (ch->state == GMC_CHANNEL_PARTIAL)
        when = gmc_time_min(when, dst->partial_until);
    return gmc_time_max(when, gmc_time_add(gw->now, GMC_US(100)));
}

static void tell_source(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    if (!ch->source_peer->up)
        return;
    if (!dst->told_ready && dst->phase >= GW_RECEIVING) {
        struct gmc_msg msg = gw_about(ch, GMC_MSG_TREE_READY);
        msg.version = ch->record.version;
        gw_send(gw, ch->source_peer, &msg);
        dst->told_ready = true;
    }
    if (!dst->told_complete && dst->phase == GW_DONE && gw_nodes_are_settled(ch) &&
        ch->state != GMC_CHANNEL_PARTIAL) {
        send_status(gw, ch);
        answer_complete(gw, ch->source_peer, ch);
        dst->told_complete = true;
    }
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
        dst->partial_until = gmc_time_add(gw->now, GW_PARTIAL_KEPT);
        gw_text(ch->reason, sizeof(ch->reason), "%s", text);
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "partial: %s", text);
    }
    if (!dst->told_partial && ch->source_peer->up) {
        send_status(gw, ch);
        say_nodes_lack_it(gw, ch, text);
        dst->told_partial = true;
    }
    return false;
}

/* Parents believe to be here what was forgotten: they learn anew what is missing. Those that are
 * being asked may have been told before: then all are told once more. */
static void attach_again(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->dst->forgot = false;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        struct gmc_overlay *overlay = &ch->stripes[k].overlay;
        ch->dst->forgot = ch->dst->forgot || overlay->state == GMC_OVERLAY_ASKING;
        gmc_overlay_again(overlay, gw->now);
    }
}

/* What its publishers had to say died with it; a new one opens a new channel. */
static bool is_source_lost(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    return !ch->source_peer->up &&
           gw->now >= gmc_time_add(ch->source_peer->silent_since, gw->config.patience);
}

/* Does everything that is due now, and sets the timer for what is due later. */
void gw_target_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    if (ch->closing || !ch->recorded || !gw->started)
        return;
    gw_want_session(gw, ch->source_peer);
    gw_nodes_step(gw, ch);
    if (give_up_nodes(gw, ch))
        return;
    tell_source(gw, ch);
    if (dst->phase >= GW_RECEIVING)
        step_overlays(gw, ch);
    uint64_t fresh = gmc_have_untold(&dst->have);
    if (gw_is_attached(ch) && fresh > 0 &&
        (fresh >= gw_rx_window(gw) / 8 + 1 || dst->phase != GW_RECEIVING ||
         gw->now >= gmc_time_add(dst->fresh_since, GW_HAVE_WAIT)))
        gw_have_tell(gw, ch);
    if (gw->now >= dst->next_status) {
        if (ch->source_peer->up && ch->state != GMC_CHANNEL_PARTIAL)
            send_status(gw, ch);
        if (dst->forgot && dst->phase == GW_RECEIVING && dst->receiving == 0)
            attach_again(gw, ch);
        dst->next_status = gmc_time_add(gw->now, GW_STATUS_EVERY);
    }
    if (ch->talk != NULL && is_source_lost(gw, ch)) {
        gw_channel_end(gw, ch, GMC_CHANNEL_FAILED, true, "its source is not heard any more");
        return;
    }
    if (dst->phase == GW_RECEIVING && ch->talk == NULL) {
        gw_target_checkpoint(gw, ch);
        if (is_whole(ch) && dst->laid_out)
            gw_target_progress(gw, ch);
    }
    gw_set_timer(gw, &ch->timer, target_deadline(gw, ch));
}

/* ---- messages ---- */
static void on_attached(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
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
    gmc_status status =
        gmc_overlay_on_attached(&stripe->overlay, gw->now, peer->number, path, path_len, gw->self);
    if (status == GMC_OK) {
        memcpy(stripe->path, path, sizeof(path[0]) * path_len);
        stripe->path_len = path_len;
        gw_event_parent(gw, ch, stripe, peer->number, GMC_OK, "attached to %s", peer->name);
    } else if (peer->number != gmc_overlay_parent(&stripe->overlay)) {
        gw_target_let_go(gw, ch, stripe, peer);
    }
    gw_target_step(gw, ch);
}

static void on_redirect(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                        const struct gmc_msg *msg)
{
    gmc_peer redirect = GMC_PEER_NONE;
    /* Only members may be named: a parent cannot send us to strangers. */
    if (msg->redirect != NULL && msg->redirect[0] != '\0' &&
        strcmp(msg->redirect, gw->domain) != 0 &&
        gw_place_is_of(gw, ch, &msg->place, msg->redirect))
        redirect = gmc_gateway_peer(gw, msg->redirect);
    if (peer == ch->source_peer)
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
        on_attached(gw, peer, ch, msg);
    else if (msg->type == GMC_MSG_REDIRECT)
        on_redirect(gw, peer, ch, msg);
    else
        on_close(gw, peer, ch, msg);
}

/* ---- for gateway_resume.c ---- */
void gw_target_rechecks_done(struct gmc_gateway *gw, struct gwchannel *ch)
{
    begin_receiving(gw, ch);
}

gmc_status gw_target_take_saved(struct gmc_gateway *gw, struct gwchannel *ch,
                                const struct gmc_place *place, const uint8_t *secret,
                                struct gmc_bytes spki)
{
    return take_record(gw, ch, place, secret, spki);
}

void gw_target_open(struct gmc_gateway *gw, struct gwchannel *ch)
{
    open_store(gw, ch);
}
