/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as a receiver: the channel's record, as its source gives it. */
#include <string.h>

#include "core/gateway_target_impl.h"

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
    return record->block_bytes == gw->config.block_bytes && fits &&
           gw_place_fits(gw, record, place) && is_here(gw, place, record);
}

/* Who speaks for the channel: the source, or to a node its gateway. */
static bool is_from_voice(const struct gmc_gateway *gw, const struct gwpeer *peer,
                          const struct gmc_msg *msg)
{
    return strcmp(peer->name, gw->config.node_of != NULL ? gw->config.node_of : msg->source) == 0;
}

/* The session has proved who speaks: the source, with whatever key the channel began, or to a node
 * its gateway, which says who the source is. */
static struct gmc_bytes source_key(const struct gmc_gateway *gw, const struct gwpeer *peer,
                                   const struct gmc_msg *msg)
{
    return gw->config.node_of != NULL || msg->source_key.len > 0
               ? msg->source_key
               : gmc_bytes(peer->spki, peer->spki_len);
}

static bool is_signed(struct gmc_gateway *gw, const struct gwpeer *peer, const struct gmc_msg *msg)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    struct gmc_pubkey *key = crypto->ops->pubkey_new(crypto->ctx, source_key(gw, peer, msg));
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
        gw_target_set_ancestors(gw, ch, &ch->stripes[k], &member.trees[k]);
    gmc_record_release(holder);
    return GMC_OK;
}

gmc_status gw_target_take_record(struct gmc_gateway *gw, struct gwchannel *ch,
                                 const struct gmc_place *place, const uint8_t *secret,
                                 struct gmc_bytes spki)
{
    bool rekeyed = is_rekeyed(ch, secret);
    ch->dst->asked_at = gw->now;
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
        gw_talk_set_record(gw, ch, first);
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
    if (gw_target_take_record(gw, ch, &msg->place, msg->secret, source_key(gw, peer, msg)) !=
        GMC_OK) {
        gw_target_fail(gw, ch, GMC_ERR_NOMEM, "no memory for the channel's record");
        return;
    }
    gw_target_save_record(gw, ch);
    gw_nodes_retell(ch);
    gw_nodes_grow(gw, ch);
    resume_nodes(gw, ch, ch->record.version > version);
    /* Under a new key the old attachment carries nothing any more. */
    if (rekeyed && ch->dst->phase == GW_RECEIVING)
        gw_target_find_parents(gw, ch);
    report_again(gw, ch);
}

/* `before`: the same one, which ended here; NULL. */
static void open_channel(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg,
                         struct gwchannel *before)
{
    if (before != NULL)
        gmc_list_remove(&before->node);
    struct gwchannel *ch = gw_channel_new(gw, msg->source, msg->e, false);
    bool taken = ch != NULL && gw_target_take_record(gw, ch, &msg->place, msg->secret,
                                                     source_key(gw, peer, msg)) == GMC_OK;
    if (taken && before != NULL)
        gw_talk_go_on(ch, before);
    if (before != NULL)
        gw_channel_free(gw, before);
    if (taken) {
        gw_target_open(gw, ch);
        return;
    }
    struct gmc_msg leave = {.type = GMC_MSG_LEAVE,
                            .source = msg->source,
                            .e = msg->e,
                            .status = GMC_ERR_LIMIT,
                            .text = "this gateway takes part in as many transfers as it may"};
    gw_send(gw, peer, &leave);
    if (ch != NULL)
        gw_channel_free(gw, ch);
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
    if (ch == NULL) {
        open_channel(gw, peer, msg, NULL);
    } else if (!ch->closing) {
        update_record(gw, peer, ch, msg);
    } else if (ch->state == GMC_CHANNEL_COMPLETE) {
        gw_target_say_complete(gw, peer, ch);
    } else if (ch->state == GMC_CHANNEL_PARTIAL) {
        /* Too late to resume: here it stands under its final name, which another attempt would find
         * taken. */
        gw_target_say_lacking(gw, ch, ch->reason);
    } else if (ch->ops == 0) {
        open_channel(gw, peer, msg, ch); /* resumed: from the beginning of set-up */
    } else if (ch->dst != NULL && (ch->dst->leave_unsaid || gw->config.node_of != NULL)) {
        /* Its store is still being closed. A source that resumes asks again; one that comes back
         * does not, nor does a gateway its nodes. */
        gw_target_say_lacking(gw, ch, ch->reason);
    }
}
