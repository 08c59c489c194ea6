/* SPDX-License-Identifier: BSD-2-Clause */
/* This gateway as a receiver: what it asks of the store, from the first file to the final names. */
#include "core/gateway_target_impl.h"

void gw_target_open(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_store_op *op;
    char text[GMC_TEXT_MAX + 1];
    gmc_status status = gw_nodes_choose(gw, ch, text, sizeof(text));
    if (status != GMC_OK) {
        gw_target_fail(gw, ch, status, text);
        return;
    }
    if (ch->talk != NULL) {
        gw_target_begin(gw, ch);
        return;
    }
    ch->dst->phase = GW_OPENING;
    gw_store(gw, ch, GMC_STORE_OPEN, &op);
    op->dest = ch->dst->dest;
    op->stored = ch->restored ? &ch->dst->have.stored : NULL;
}

void gw_target_layout(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_store_op *op;
    ch->dst->laying_out = true;
    gw_store(gw, ch, GMC_STORE_LAYOUT, &op);
    op->dest = ch->dst->dest;
    op->stored = ch->dst->phase == GW_RECHECKING ? &ch->dst->have.stored : NULL;
}

static void finished(struct gmc_gateway *gw, struct gwchannel *ch)
{
    ch->dst->phase = GW_DONE;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "verified here");
    gw_target_step(gw, ch);
}

void gw_target_finish(struct gmc_gateway *gw, struct gwchannel *ch)
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

static void opened(struct gmc_gateway *gw, struct gwchannel *ch)
{
    gw_target_save_record(gw, ch);
    if (!ch->restored) {
        gw_target_begin(gw, ch);
    } else if (ch->dst->listing_missing == 0) {
        ch->dst->phase = GW_RECHECKING;
        gw_target_layout(gw, ch);
    } else {
        ch->dst->phase = GW_RECHECKING;
        gw_target_recheck(gw, ch);
    }
}

static void laid_out(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t file_count)
{
    struct gwtarget *dst = ch->dst;
    ch->file_count = file_count;
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

void gw_target_answered(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind,
                        const struct gmc_store_result *result)
{
    if (result->status != GMC_OK) {
        gw_target_fail(gw, ch, result->status,
                       result->reason != NULL ? result->reason : gmc_status_text(result->status));
        return;
    }
    if (result->doubtful != NULL && ch->restored && ch->dst->phase <= GW_RECHECKING &&
        !gw_doubt_add(gw, ch, result->doubtful, result->reason)) {
        gw_target_fail(gw, ch, GMC_ERR_NOMEM, "no memory for the list of blocks");
        return;
    }
    switch (kind) {
    case GMC_STORE_OPEN:
        opened(gw, ch);
        break;
    case GMC_STORE_LAYOUT:
        laid_out(gw, ch, result->file_count);
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
