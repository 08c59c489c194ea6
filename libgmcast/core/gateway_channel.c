/* SPDX-License-Identifier: BSD-2-Clause */
/* What source and target have in common: a channel's life, its record and key, and which links
 * and saved states concern it. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

struct gwchannel *gw_channel_find(struct gmc_gateway *gw, const char *source, uint64_t e)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->key.e == e && strcmp(ch->key.source, source) == 0)
            return ch;
    }
    return NULL;
}

static bool is_over(const struct gwchannel *ch)
{
    return ch->closing && ch->ops == 0;
}

/* Makes room by forgetting the transfer that ended first; false when all are under way. */
static bool make_room(struct gmc_gateway *gw)
{
    size_t kept = 0;
    struct gwchannel *oldest = NULL;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        kept++;
        if (oldest == NULL && is_over(ch))
            oldest = ch;
    }
    if (kept < gw->config.channels_max)
        return true;
    if (oldest == NULL)
        return false;
    gw_channel_free(gw, oldest);
    return true;
}

struct gwchannel *gw_channel_new(struct gmc_gateway *gw, const char *source, uint64_t e,
                                 bool is_source)
{
    if (strlen(source) > GMC_DOMAIN_NAME_MAX || !make_room(gw))
        return NULL;
    /* A node's gateway speaks to it for the source. */
    const char *voice = gw->config.node_of != NULL ? gw->config.node_of : source;
    struct gwpeer *source_peer = is_source ? NULL : gw_peer_by_name(gw, voice);
    struct gwchannel *ch = calloc(1, sizeof(*ch));
    if (ch == NULL || (!is_source && source_peer == NULL))
        goto fail;
    if (is_source)
        ch->src = calloc(1, sizeof(*ch->src));
    else
        ch->dst = calloc(1, sizeof(*ch->dst));
    if (ch->src == NULL && ch->dst == NULL)
        goto fail;
    memcpy(ch->key.source, source, strlen(source) + 1);
    ch->key.e = e;
    ch->slot = gw->next_slot++;
    ch->is_source = is_source;
    ch->source_peer = source_peer;
    ch->opened_at = gw->now;
    ch->timer.channel = ch;
    gw_stripes_init(ch);
    gmc_list_init(&ch->page_wait);
    gmc_list_init(&ch->layout_wait);
    gmc_list_init(&ch->children);
    gmc_list_init(&ch->saves);
    gmc_list_init(&ch->passed);
    gmc_list_init(&ch->node);
    if (is_source)
        gmc_list_init(&ch->src->unread);
    else
        gw_target_init(gw, ch);
    gmc_list_push_back(&gw->channels, &ch->node);
    gw->channel_count++;
    gw_watch_links(gw);
    return ch;

fail:
    if (ch != NULL) {
        free(ch->src);
        free(ch->dst);
    }
    free(ch);
    return NULL;
}

static void release_children(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_list *node;
    while ((node = gmc_list_first(&ch->children)) != NULL)
        gw_child_free(gw, GMC_CONTAINER_OF(node, struct gwchild, in_channel));
}

static void unpin_all(struct gmc_gateway *gw, struct gmc_list *waiting)
{
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(waiting)) != NULL)
        gmc_block_unpin(gw->cache, GMC_CONTAINER_OF(node, struct gmc_block, wait));
}

struct giving_up {
    struct gwchannel *channel;
    const struct gwstripe *stripe; /* NULL: all */
};

static bool give_up(void *ctx, uint32_t number)
{
    const struct giving_up *what = ctx;
    if (what->stripe != NULL && gw_stripe_of(what->channel, number) != what->stripe)
        return false;
    gw_seen_remove(what->channel, number);
    return true;
}

/* What has only begun to arrive is forgotten. */
void gw_channel_give_up(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwstripe *stripe)
{
    struct giving_up what = {ch, stripe};
    gw_hearing_forget(gw, ch);
    size_t count = gmc_cache_give_up(gw->cache, ch->slot, give_up, &what);
    if (ch->dst != NULL)
        ch->dst->receiving -= count < ch->dst->receiving ? (uint32_t)count : ch->dst->receiving;
}

/* Blocks that no store operation holds: nobody else would unpin them. */
static void release_blocks(struct gmc_gateway *gw, struct gwchannel *ch)
{
    unpin_all(gw, &ch->page_wait);
    if (ch->src != NULL)
        unpin_all(gw, &ch->src->unread);
    unpin_all(gw, &ch->layout_wait);
    gw_channel_give_up(gw, ch, NULL);
}

static void release_handles(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        if (ch->stripes[k].handle != 0)
            gmc_map_remove(&gw->handles, ch->stripes[k].handle);
        ch->stripes[k].handle = 0;
    }
}

static void release_groups(struct gmc_gateway *gw, struct gwchannel *ch)
{
    gw_group_free(gw, ch);
    gw_hearing_free(gw, ch);
}

void gw_channel_free(struct gmc_gateway *gw, struct gwchannel *ch)
{
    release_groups(gw, ch);
    release_children(gw, ch);
    release_blocks(gw, ch);
    if (!ch->closing && gw->channel_count > 0)
        gw->channel_count--;
    gmc_list_remove(&ch->node);
    gmc_heap_remove(&gw->timers, &ch->timer.node);
    gmc_cache_drop_channel(gw->cache, ch->slot);
    release_handles(gw, ch);
    gw_page_forget(gw, ch);
    gw_pass_forget(ch);
    gw_talk_free(gw, ch);
    if (ch->src != NULL)
        gw_source_free(gw, ch->src);
    if (ch->dst != NULL)
        gw_target_free(ch->dst);
    if (ch->aead != NULL)
        gw->config.crypto->ops->aead_free(ch->aead);
    if (ch->source_key != NULL)
        gw->config.crypto->ops->pubkey_free(ch->source_key);
    gw_place_free(&ch->place);
    free(ch->source_spki);
    free(ch->saved_have);
    gw_stripes_fini(ch);
    free(ch);
}

/* The shell may take operations in any order: a SAVE that it takes behind the CLOSE would leave
 * behind the state of a transfer that is over. */
static void close_store(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_store_op *op;
    if (!ch->close_due || !gmc_list_is_empty(&ch->saves))
        return;
    ch->close_due = false;
    gw_store(gw, ch, GMC_STORE_CLOSE, &op);
    op->discard = ch->discards;
}

/* All that a channel held in memory for its data goes, once the store has answered everything, and
 * CLOSE last. */
void gw_channel_reap(struct gmc_gateway *gw, struct gwchannel *ch)
{
    close_store(gw, ch);
    if (!is_over(ch))
        return;
    gmc_cache_drop_channel(gw->cache, ch->slot);
    gw_page_forget(gw, ch);
    gw_stripes_fini(ch);
    if (ch->dst != NULL) {
        gmc_have_fini(&ch->dst->have);
        gmc_interval_fini(&ch->dst->stable);
    }
    gw_talk_reap(gw, ch);
    if (gw->channel_count == 0)
        gmc_cache_trim(gw->cache);
}

/* The transfer is over here: what remains is what status shows. */
void gw_channel_end(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_channel_state state,
                    bool discard, const char *reason)
{
    if (ch->closing)
        return;
    if (ch->dst != NULL)
        gw_nodes_close(gw, ch, discard);
    ch->state = state;
    ch->ended_at = gw->now;
    if (reason != NULL)
        gw_text(ch->reason, sizeof(ch->reason), "%s", reason);
    release_groups(gw, ch);
    release_children(gw, ch);
    release_blocks(gw, ch);
    for (uint32_t k = 0; ch->dst != NULL && k < ch->stripe_count; k++)
        gmc_overlay_stop(&ch->stripes[k].overlay);
    release_handles(gw, ch);
    gw_set_timer(gw, &ch->timer, GMC_TIME_NEVER);
    if (ch->talk == NULL) {
        ch->close_due = true;
        ch->discards = discard;
        close_store(gw, ch);
    } else {
        gw_talk_over(gw, ch);
    }
    ch->closing = true;
    gw->channel_count--;
    gw_watch_links(gw);
    static const char *const names[] = {"scanning", "probing",   "running", "complete",
                                        "partial",  "cancelled", "failed",  "planned"};
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "%s%s%s", names[state],
             ch->reason[0] != '\0' ? ": " : "", ch->reason);
    if (ch->dst != NULL) {
        gw_neighbours_sweep(gw);
        gw_tree_over(gw);
    }
    if (ch->talk != NULL)
        gw_channel_reap(gw, ch);
}

void gw_channel_set_object(struct gwchannel *ch, const struct gmc_object *object)
{
    ch->object = *object;
    ch->object_known = true;
    ch->blocks = gmc_object_blocks(object);
}

gmc_status gw_channel_set_key(struct gmc_gateway *gw, struct gwchannel *ch,
                              const uint8_t secret[GMC_KEY_BYTES])
{
    const struct gmc_crypto_ops *ops = gw->config.crypto->ops;
    struct gmc_aead *aead = ops->aead_new(gw->config.crypto->ctx, secret);
    if (aead == NULL)
        return GMC_ERR_NOMEM;
    if (ch->aead != NULL)
        ops->aead_free(ch->aead);
    ch->aead = aead;
    memcpy(ch->secret, secret, GMC_KEY_BYTES);
    return GMC_OK;
}

gmc_status gw_channel_set_source_key(struct gmc_gateway *gw, struct gwchannel *ch,
                                     struct gmc_bytes spki)
{
    const struct gmc_crypto_ops *ops = gw->config.crypto->ops;
    struct gmc_pubkey *key = ops->pubkey_new(gw->config.crypto->ctx, spki);
    uint8_t *copy = malloc(spki.len + 1);
    if (key == NULL || copy == NULL) {
        if (key != NULL)
            ops->pubkey_free(key);
        free(copy);
        return GMC_ERR_INVALID;
    }
    memcpy(copy, spki.data, spki.len);
    if (ch->source_key != NULL)
        ops->pubkey_free(ch->source_key);
    free(ch->source_spki);
    ch->source_key = key;
    ch->source_spki = copy;
    ch->source_spki_len = spki.len;
    return GMC_OK;
}

/* Takes over a record that was verified (or made) already. The bytes are copied. */
gmc_status gw_channel_set_record(struct gmc_gateway *gw, struct gwchannel *ch,
                                 const struct gmc_place *place)
{
    struct gmc_record record;
    struct gmc_record_holder *holder;
    gmc_status status = gmc_record_decode(place->record, &record, &holder);
    if (status != GMC_OK)
        return status;
    bool talks = record.name[0] != '\0';
    if (talks && ch->talk == NULL &&
        !gw_talk_init(gw, ch, record.name, (enum gmc_message_order)record.order))
        status = GMC_ERR_NOMEM;
    gmc_record_release(holder);
    if (status == GMC_OK)
        status = gw_place_copy(&ch->place, place);
    if (status != GMC_OK)
        return status;
    record.source = ch->key.source; /* the same, and it stays */
    record.name = ch->talk != NULL ? ch->talk->name : NULL;
    ch->record = record;
    ch->recorded = true;
    ch->epoch = record.epoch;
    return ch->talk != NULL ? gw_proof_set_record(gw, ch) : GMC_OK;
}

/* A new key epoch: nothing that was sealed or half received before fits any more. */
void gw_channel_new_epoch(struct gmc_gateway *gw, struct gwchannel *ch)
{
    release_groups(gw, ch);
    release_children(gw, ch);
    gmc_cache_reset_channel(gw->cache, ch->slot);
    if (ch->talk != NULL)
        gw_talk_set_record(gw, ch, true);
}

/* ---- links ---- */
void gw_channel_on_link_up(struct gmc_gateway *gw, struct gwpeer *peer)
{
    struct gmc_list *node, *after;
    if (peer->is_node)
        gw_tree_link_up(gw, peer);
    GMC_LIST_FOREACH_SAFE(node, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->closing)
            continue;
        if (ch->is_source) {
            struct gwmember *member = gw_source_member(ch, peer->number);
            if (member == NULL)
                continue;
            member->told = false;
            gw_source_soon(gw, ch);
        } else {
            if (peer == ch->source_peer) {
                ch->dst->told_ready = false;
                ch->dst->told_complete = false;
                ch->dst->next_status = gw->now;
            }
            gw_nodes_link_changed(gw, ch, peer);
            gw_target_step(gw, ch);
        }
    }
}

/* It may be dead, or stopped, or its TCP connection may only stall: then it is told, sooner or
 * later, that it feeds us no more. */
void gw_channel_on_silent(struct gmc_gateway *gw, struct gwpeer *peer)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->closing || ch->dst == NULL)
            continue;
        bool left = false;
        for (uint32_t k = 0; k < ch->stripe_count; k++) {
            struct gwstripe *stripe = &ch->stripes[k];
            if (!gmc_overlay_on_silent(&stripe->overlay, gw->now, peer->number))
                continue;
            left = true;
            gw_event_parent(gw, ch, stripe, peer->number, GMC_ERR_TIMEOUT,
                            "lost its parent %s: nothing heard from it", peer->name);
            gw_target_let_go(gw, ch, stripe, peer);
        }
        if (left)
            gw_target_step(gw, ch);
    }
}

void gw_channel_on_link_down(struct gmc_gateway *gw, struct gwpeer *peer)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->closing)
            continue;
        if (ch->is_source) {
            gw_source_link_down(gw, ch, peer);
            continue;
        }
        for (uint32_t k = 0; k < ch->stripe_count; k++)
            if (gmc_overlay_on_lost(&ch->stripes[k].overlay, gw->now, peer->number))
                gw_event_parent(gw, ch, &ch->stripes[k], peer->number, GMC_ERR_PEER_DOWN,
                                "lost its parent %s", peer->name);
        gw_nodes_link_changed(gw, ch, peer);
        gw_target_step(gw, ch);
    }
}

void gw_channel_on_refused(struct gmc_gateway *gw, struct gwpeer *peer, const char *reason)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (!ch->is_source || ch->closing)
            continue;
        struct gwmember *member = gw_source_member(ch, peer->number);
        if (member != NULL)
            gw_source_member_failed(gw, ch, member, reason);
    }
}

void gw_channel_timer(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->closing)
        return;
    if (ch->is_source)
        gw_source_step(gw, ch);
    else
        gw_target_step(gw, ch);
}

/* ---- restart ---- */
gmc_status gw_on_saved(struct gmc_gateway *gw, const struct gmc_saved *saved)
{
    bool is_source = strcmp(saved->name, "source") == 0;
    if (gw->started || is_source != (strcmp(saved->key.source, gw->domain) == 0))
        return GMC_ERR_STATE;
    struct gwchannel *ch = gw_channel_find(gw, saved->key.source, saved->key.e);
    if (ch == NULL)
        ch = gw_channel_new(gw, saved->key.source, saved->key.e, is_source);
    if (ch == NULL)
        return GMC_ERR_LIMIT;
    /* Each file once: a second one of the same name would be mixed with the first. */
    if (is_source ? ch->src->path_count > 0 : strcmp(saved->name, "record") == 0 && ch->recorded)
        return GMC_ERR_EXISTS;
    if (is_source)
        return gw_source_restore(gw, ch, saved->bytes);
    if (strcmp(saved->name, "record") == 0)
        return gw_target_restore(gw, ch, saved->bytes);
    if (strcmp(saved->name, "stopped") == 0) {
        gw_stopped_restore(ch, saved->bytes);
        return GMC_OK;
    }
    if (strcmp(saved->name, GMC_SAVED_HAVE) != 0)
        return GMC_ERR_UNKNOWN;
    free(ch->saved_have);
    ch->saved_have = malloc(saved->bytes.len + 1);
    if (ch->saved_have == NULL)
        return GMC_ERR_NOMEM;
    memcpy(ch->saved_have, saved->bytes.data, saved->bytes.len);
    ch->saved_have_len = saved->bytes.len;
    return GMC_OK;
}

void gw_restart_channels(struct gmc_gateway *gw)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &gw->channels)
    {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (!ch->restored)
            gw_channel_end(gw, ch, GMC_CHANNEL_FAILED, true,
                           "what was saved of it before the restart is not usable");
        else if (ch->is_source)
            gw_source_restart(gw, ch);
        else
            gw_target_restart(gw, ch);
    }
}
