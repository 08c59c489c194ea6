/* SPDX-License-Identifier: BSD-2-Clause */
/* What a receiver saves of a transfer, and how it goes on after a restart.
 *
 * A checkpoint names the blocks that are verified and durable, and a horizon. After a restart the
 * blocks below the horizon that the checkpoint does not name are read and compared with their
 * hashes; all others are known to be there (gateway_doubt.c looks whether they still are), or count
 * as missing and are fetched once more.
 */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define RECORD_MAGIC 0x676d7232u /* "gmr2" */

/* ---- the record ---- */
static void put(struct gmc_writer *w, struct gmc_bytes bytes)
{
    gmc_writer_u32(w, (uint32_t)bytes.len);
    gmc_writer_bytes(w, bytes);
}

static struct gmc_bytes get(struct gmc_reader *r)
{
    return gmc_reader_bytes(r, gmc_reader_u32(r));
}

void gw_target_save_record(struct gmc_gateway *gw, struct gwchannel *ch)
{
    const struct gmc_place *place = &ch->place.view;
    if (ch->talk != NULL)
        return; /* a source that comes back tells it, or opens a new channel */
    size_t size = 4 + 4 * 6 + place->record.len + place->signature.len + place->member.len +
                  place->siblings.len + GMC_KEY_BYTES + ch->source_spki_len;
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        return;
    struct gmc_writer w;
    gmc_writer_init(&w, bytes, size);
    gmc_writer_u32(&w, RECORD_MAGIC);
    put(&w, place->record);
    put(&w, place->signature);
    put(&w, place->member);
    gmc_writer_u32(&w, place->index);
    put(&w, place->siblings);
    gmc_writer_bytes(&w, gmc_bytes(ch->secret, GMC_KEY_BYTES));
    put(&w, gmc_bytes(ch->source_spki, ch->source_spki_len));
    GMC_ASSERT(gmc_writer_status(&w) == GMC_OK);
    gw_save(gw, ch, "record", bytes, size);
    free(bytes);
}

static bool is_ours(const struct gmc_gateway *gw, const struct gwchannel *ch,
                    const struct gmc_place *place)
{
    struct gmc_record record;
    struct gmc_record_holder *holder;
    if (gmc_record_decode(place->record, &record, &holder) != GMC_OK)
        return false;
    bool ours = record.e == ch->key.e && strcmp(record.source, ch->key.source) == 0 &&
                gw_target_place_ok(gw, place, &record);
    gmc_record_release(holder);
    return ours;
}

gmc_status gw_target_restore(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved)
{
    struct gmc_reader r;
    struct gmc_place place;
    gmc_reader_init(&r, saved);
    if (gmc_reader_u32(&r) != RECORD_MAGIC)
        return GMC_ERR_INVALID;
    place.record = get(&r);
    place.signature = get(&r);
    place.member = get(&r);
    place.index = gmc_reader_u32(&r);
    place.siblings = get(&r);
    uint8_t secret[GMC_KEY_BYTES];
    gmc_reader_copy(&r, secret, sizeof(secret));
    struct gmc_bytes spki = get(&r);
    if (gmc_reader_status(&r) != GMC_OK || !is_ours(gw, ch, &place))
        return GMC_ERR_INVALID;
    gmc_status status = gw_target_take_record(gw, ch, &place, secret, spki);
    if (status == GMC_OK)
        status = gw_record_verify(gw, ch->source_key, place.record, place.signature);
    if (status == GMC_OK)
        ch->restored = true;
    return status;
}

/* ---- checkpoints ---- */
/* Every second while something changes: first what is written becomes durable, then it is named.
 */
void gw_target_checkpoint(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    if (dst->checkpointing || gw->now < dst->next_checkpoint)
        return;
    dst->next_checkpoint = gmc_time_add(gw->now, GW_CHECKPOINT_EVERY);
    if (!dst->unsaved)
        return;
    gmc_interval_clear(&dst->stable);
    if (gmc_interval_add_set(&dst->stable, &dst->have.stored) != GMC_OK)
        return;
    dst->checkpointing = true;
    dst->unsaved = false;
    struct gmc_store_op *op;
    gw_store(gw, ch, GMC_STORE_SYNC, &op);
}

/* What was written is durable: its names follow. */
void gw_target_save_have(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    uint8_t *bytes;
    size_t len;
    dst->horizon = gw_seen_end(ch) + GW_HORIZON_BLOCKS;
    gmc_status status =
        gmc_have_save(&dst->stable, ch->blocks, dst->horizon, gw->config.crypto, &bytes, &len);
    if (status != GMC_OK) {
        gw_target_checkpointed(ch, status);
        return;
    }
    gw_save(gw, ch, GMC_SAVED_HAVE, bytes, len)->checkpoint = true;
    gw->counts.checkpoints++;
    free(bytes);
}

void gw_target_checkpointed(struct gwchannel *ch, gmc_status status)
{
    ch->dst->checkpointing = false;
    if (status != GMC_OK)
        ch->dst->unsaved = true;
}

static bool see_stored(struct gwchannel *ch)
{
    const struct gmc_interval_set *stored = &ch->dst->have.stored;
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < gmc_interval_ranges(stored) && status == GMC_OK; i++) {
        struct gmc_interval range = gmc_interval_range_at(stored, i);
        status = gw_seen_add(ch, range.lo, range.hi);
    }
    return status == GMC_OK;
}

void gw_target_restart(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_bytes saved = gmc_bytes(ch->saved_have, ch->saved_have_len);
    if (!gw_have_load(gw, ch, saved, &ch->dst->horizon))
        ch->dst->horizon = GW_HORIZON_BLOCKS;
    free(ch->saved_have);
    ch->saved_have = NULL;
    if (!see_stored(ch)) {
        gw_target_fail(gw, ch, GMC_ERR_NOMEM, "no memory for the list of blocks");
        return;
    }
    ch->dst->recheck_end = ch->dst->horizon < ch->blocks ? ch->dst->horizon : ch->blocks;
    gw_target_open(gw, ch);
}

/* ---- comparing what was stored after the last checkpoint ---- */
static bool recheck_one(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    bool listing = !gmc_block_is_page(number) &&
                   gmc_block_data(number) < gmc_object_listing_blocks(&ch->object);
    if (!gmc_block_is_page(number)) {
        /* Without its page a block cannot have been stored; without a layout only listing was. */
        if (!gw_has(ch, gmc_block_of_page(gmc_block_page(number))) ||
            (!ch->dst->laid_out && !listing))
            return true;
        if (gw_page_or_load(gw, ch, gmc_block_page(number)) == NULL)
            return false; /* goes on when it has arrived */
    }
    struct gwop *op = gw_block_read(gw, ch, number, false);
    if (op == NULL)
        return false;
    op->recheck = true;
    ch->dst->rechecks++;
    return true;
}

/* Goes through the blocks in order; a page is waited for before its blocks. */
void gw_target_recheck(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    while (dst->recheck_at < dst->recheck_end) {
        uint64_t number;
        if (!gmc_interval_first_missing(&dst->have.stored, dst->recheck_at, dst->recheck_end,
                                        &number)) {
            dst->recheck_at = dst->recheck_end;
            break;
        }
        if (gmc_block_is_page((uint32_t)number) && dst->rechecks > 0)
            return;
        if (!recheck_one(gw, ch, (uint32_t)number))
            return;
        dst->recheck_at = number + 1;
        if (gmc_block_is_page((uint32_t)number))
            return;
    }
    if (dst->rechecks > 0)
        return;
    if (dst->listing_missing == 0 && !dst->laid_out) {
        if (!dst->laying_out)
            gw_target_layout(gw, ch);
        dst->recheck_at = 0; /* with the layout, data blocks can be read */
        return;
    }
    gw_target_begin(gw, ch);
}

bool gw_target_matches(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_block *block,
                       const struct gmc_store_result *result)
{
    if (result->status != GMC_OK)
        return false;
    if (gmc_block_is_page(block->number)) {
        struct gmc_page page;
        struct gmc_page_context context = {.key = ch->key};
        if (gmc_page_read(gw->config.crypto, ch->source_key, &context, &ch->object,
                          gmc_block_page(block->number), gmc_bytes(block->plain, block->len),
                          &page) != GMC_OK)
            return false;
        gw_page_keep(gw, ch, &page);
        return true;
    }
    const struct gmc_page *page = gw_page_or_load(gw, ch, gmc_block_page(block->number));
    return page != NULL && memcmp(page->hashes[gmc_block_data(block->number) - page->first],
                                  result->hash, GMC_HASH_BYTES) == 0;
}

/* A block that was stored after the checkpoint: kept when it is what the manifest says. */
void gw_target_rechecked(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                         const struct gmc_store_result *result)
{
    uint64_t number = block->number;
    ch->dst->rechecks--;
    if (gw_target_matches(gw, ch, block, result) && gw_seen_add(ch, number, number + 1) == GMC_OK)
        gw_have_put(gw, ch, (uint32_t)number);
    gmc_cache_remove(gw->cache, block);
    gw_target_recheck(gw, ch);
}
