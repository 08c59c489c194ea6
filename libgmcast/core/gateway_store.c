/* SPDX-License-Identifier: BSD-2-Clause */
/* Store operations of the composition: asking, and taking each answer to where it belongs. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define SAVE_AGAIN GMC_S(5) /* when a source's state could not be saved */

static struct gwop *record_get(struct gmc_gateway *gw)
{
    struct gwop *record = gmc_pool_get(&gw->shared->ops);
    GMC_ASSERT(record != NULL);
    memset(record, 0, sizeof(*record));
    return record;
}

static void record_put(struct gmc_gateway *gw, struct gwop *record)
{
    free(record->waiting);
    free(record->owned);
    gmc_pool_put(&gw->shared->ops, record);
}

struct gwop *gw_store(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind,
                      struct gmc_store_op **op)
{
    struct gwop *record = record_get(gw);
    record->ticket = gw->next_ticket++;
    record->kind = kind;
    record->channel = ch;
    gmc_list_init(&record->in_saves);
    gmc_status status = gmc_map_put(&gw->ops, record->ticket, record);
    GMC_ASSERT(status == GMC_OK);
    ch->ops++;
    *op = &gw_out(gw, GMC_OUT_STORE, gw->self)->output.u.store;
    (*op)->ticket = record->ticket;
    (*op)->kind = kind;
    (*op)->key = &ch->key;
    (*op)->block_bytes = gw->config.block_bytes;
    (*op)->listing_bytes = ch->object.listing_bytes;
    (*op)->total_bytes = ch->object.total_bytes;
    return record;
}

static uint8_t *copy_of(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len + 1);
    GMC_ASSERT(copy != NULL);
    memcpy(copy, bytes, len);
    return copy;
}

static struct gwop *save_under_way(struct gwchannel *ch, const char *name)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->saves)
    {
        struct gwop *record = GMC_CONTAINER_OF(node, struct gwop, in_saves);
        if (strcmp(record->name, name) == 0)
            return record;
    }
    return NULL;
}

/* name is not copied. */
struct gwop *gw_save(struct gmc_gateway *gw, struct gwchannel *ch, const char *name,
                     const uint8_t *bytes, size_t len)
{
    struct gwop *record = save_under_way(ch, name);
    if (record != NULL) {
        free(record->waiting);
        record->waiting = copy_of(bytes, len);
        record->waiting_len = len;
        return record;
    }
    struct gmc_store_op *op;
    record = gw_store(gw, ch, GMC_STORE_SAVE, &op);
    record->name = name;
    record->owned = copy_of(bytes, len);
    gmc_list_push_back(&ch->saves, &record->in_saves);
    op->name = name;
    op->bytes = gmc_bytes(record->owned, len);
    return record;
}

static const char *reason_of(const struct gmc_store_result *result)
{
    return result->reason != NULL ? result->reason : gmc_status_text(result->status);
}

/* A page is announced when it is durable: one that was lost after members had seen it would be
 * signed again after the restart, and with most kinds of keys that gives other bytes, which the
 * content seal must never meet under the nonce of the first ones. */
static void sync_page(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t page)
{
    struct gmc_store_op *op;
    struct gwop *record = gw_store(gw, ch, GMC_STORE_SYNC, &op);
    record->page = page;
}

static void page_synced(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwop *record,
                        const struct gmc_store_result *result)
{
    if (result->status == GMC_OK)
        gw_page_written(gw, ch, record->page);
    else
        gw_source_fail(gw, ch, result->status, reason_of(result));
}

static void write_answered(struct gmc_gateway *gw, struct gwchannel *ch, struct gwop *record,
                           const struct gmc_store_result *result)
{
    if (ch->is_source) {
        if (result->status == GMC_OK)
            sync_page(gw, ch, record->page);
        else
            gw_source_fail(gw, ch, result->status, reason_of(result));
        return;
    }
    struct gmc_block *block = record->block;
    if (result->status == GMC_OK) {
        gw_block_stored(gw, ch, block);
    } else if (result->status == GMC_ERR_MISMATCH) {
        gw_block_lost(gw, ch, block, true);
    } else {
        gmc_block_unpin(gw->cache, block);
        gw_target_fail(gw, ch, result->status, reason_of(result));
    }
}

/* What the user asked for last is on the disk, unless a later state waits behind this one. */
static void source_save_answered(struct gmc_gateway *gw, struct gwsource *src,
                                 const struct gwop *record, const struct gmc_store_result *result)
{
    bool ok = result->status == GMC_OK;
    if (ok && record->waiting == NULL && !src->save_due)
        src->is_on_disk = true;
    src->save_error[0] = '\0';
    if (ok)
        return;
    gw_text(src->save_error, sizeof(src->save_error), "its state cannot be saved: %s",
            reason_of(result));
    src->save_again = gmc_time_add(gw->now, SAVE_AGAIN);
}

static void save_answered(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwop *record,
                          const struct gmc_store_result *result)
{
    if (result->status != GMC_OK)
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, result->status,
                 "cannot save the state of the transfer: %s", reason_of(result));
    if (record->checkpoint)
        gw_target_checkpointed(ch, result->status);
    if (ch->is_source)
        source_save_answered(gw, ch->src, record, result);
    if (record->waiting != NULL)
        gw_save(gw, ch, record->name, record->waiting, record->waiting_len);
    else if (ch->is_source)
        gw_source_saved(gw, ch);
}

static void read_answered(struct gmc_gateway *gw, struct gwchannel *ch, struct gwop *record,
                          const struct gmc_store_result *result)
{
    ch->reads--;
    memcpy(record->block->hash, result->hash, GMC_HASH_BYTES);
    if (record->recheck)
        gw_target_rechecked(gw, ch, record->block, result);
    else if (record->doubted)
        gw_doubt_answered(gw, ch, record->block, result);
    else if (result->status == GMC_OK)
        gw_block_was_read(gw, ch, record->block);
    else
        gw_block_read_failed(gw, ch, record->block, result);
    if (ch->is_source)
        gw_build_pages(gw, ch);
    gw_page_want(gw, ch);
    gw_children_touch(gw, ch);
}

/* A channel that is being closed only waits for its operations. */
static void drop_answer(struct gmc_gateway *gw, struct gwchannel *ch, struct gwop *record)
{
    if (record->block != NULL) {
        gmc_list_remove(&record->block->wait);
        gmc_block_unpin(gw->cache, record->block);
    }
    gw_channel_reap(gw, ch);
}

void gw_on_stored(struct gmc_gateway *gw, const struct gmc_store_result *result)
{
    struct gwop *record = gmc_map_remove(&gw->ops, result->ticket);
    if (record == NULL)
        return; /* not ours, or answered twice: a shell's bug that costs nothing here */
    struct gwchannel *ch = record->channel;
    ch->ops--;
    if (record->kind == GMC_STORE_SAVE)
        gmc_list_remove(&record->in_saves);
    if (ch->closing) {
        drop_answer(gw, ch, record);
        goto done;
    }
    switch (record->kind) {
    case GMC_STORE_READ:
    case GMC_STORE_READ_PAGE:
        read_answered(gw, ch, record, result);
        break;
    case GMC_STORE_WRITE:
    case GMC_STORE_WRITE_PAGE:
        write_answered(gw, ch, record, result);
        break;
    case GMC_STORE_SCAN:
    case GMC_STORE_REOPEN:
        gw_source_scanned(gw, ch, result);
        break;
    case GMC_STORE_OPEN:
    case GMC_STORE_LAYOUT:
    case GMC_STORE_FINISH:
        gw_target_answered(gw, ch, record->kind, result);
        break;
    case GMC_STORE_SYNC:
        if (ch->is_source)
            page_synced(gw, ch, record, result);
        else
            gw_target_answered(gw, ch, record->kind, result);
        break;
    case GMC_STORE_SAVE:
        save_answered(gw, ch, record, result);
        break;
    case GMC_STORE_CLOSE:
        break;
    }
done:
    record_put(gw, record);
}
