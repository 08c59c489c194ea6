/* SPDX-License-Identifier: BSD-2-Clause */
/* Is what was stored before a restart still what it was? Files that were written to after the last
 * checkpoint are doubtful: by this gateway, which was killed a moment later, or by others, and no
 * time of a file tells the one from the other. The blocks in them count as stored, the transfer
 * goes on at once, and meanwhile they are read and compared with their hashes, a few at a time.
 * What differs is fetched anew; nothing gets its final name before all are compared.
 */
#include "core/gateway_impl.h"

/* Reads under way: enough for a disk that reads ahead, few beside what is written and served. */
#define READS_MAX 8

bool gw_doubt_add(struct gmc_gateway *gw, struct gwchannel *ch,
                  const struct gmc_interval_set *doubtful, const char *reason)
{
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_OK, "%s", reason != NULL ? reason : "");
    ch->dst->doubts = true;
    return gmc_interval_add_set(&ch->dst->doubtful, doubtful) == GMC_OK;
}

/* True: nothing more is to be done about the block. */
static bool is_settled(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    const struct gmc_block *block;
    if (!gw_has(ch, number))
        return true; /* lost meanwhile: it comes anew */
    block = gmc_cache_find(gw->cache, ch->slot, number);
    return block != NULL && block->state == GMC_BLOCK_VERIFIED; /* a child had it read */
}

/* False: it cannot be read now. */
static bool read_one(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    if (gmc_cache_find(gw->cache, ch->slot, number) != NULL ||
        gw_page_or_load(gw, ch, gmc_block_page(number)) == NULL)
        return false;
    struct gwop *op = gw_block_read(gw, ch, number, false);
    if (op == NULL)
        return false;
    op->doubted = true;
    ch->dst->doubt_reads++;
    return true;
}

static void read_some(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    while (dst->doubt_reads < READS_MAX && gmc_interval_ranges(&dst->doubtful) > 0) {
        uint64_t number = gmc_interval_range_at(&dst->doubtful, 0).lo;
        if (!is_settled(gw, ch, (uint32_t)number) && !read_one(gw, ch, (uint32_t)number))
            return;
        /* From the front of a range: no range is added, so that cannot fail. */
        gmc_status status = gmc_interval_remove(&dst->doubtful, number, number + 1);
        GMC_ASSERT(status == GMC_OK);
    }
}

void gw_doubt_step(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtarget *dst = ch->dst;
    if (!dst->doubts || dst->phase != GW_RECEIVING)
        return;
    read_some(gw, ch);
    if (dst->doubt_reads > 0 || gmc_interval_ranges(&dst->doubtful) > 0)
        return;
    dst->doubts = false;
    gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, dst->differed > 0 ? GMC_ERR_MISMATCH : GMC_OK,
             "what was stored is compared: %llu blocks differ and are fetched anew",
             (unsigned long long)dst->differed);
    gw_target_progress(gw, ch);
}

void gw_doubt_answered(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                       const struct gmc_store_result *result)
{
    struct gwtarget *dst = ch->dst;
    uint32_t number = block->number;
    dst->doubt_reads--;
    if (!gw_target_matches(gw, ch, block, result)) {
        dst->differed++;
        gw_have_lose(gw, ch, number, (uint64_t)number + 1);
        gw_seen_remove(ch, number);
    }
    /* Not kept: what children ask for is more use. One of them that waits for it asks again. */
    gmc_cache_remove(gw->cache, block);
    gw_doubt_step(gw, ch);
}
