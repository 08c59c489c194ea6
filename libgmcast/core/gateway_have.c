/* SPDX-License-Identifier: BSD-2-Clause */
/* What a receiver has of an object: put in and taken out, counted for people, told to the parent.
 */
#include "core/gateway_impl.h"

/* Ranges in one message: a report of a steady flow has a few, that of a long list continues. */
#define TELL_RANGES 512u

bool gw_has(const struct gwchannel *ch, uint64_t number)
{
    return gmc_interval_contains(&ch->dst->have.stored, number);
}

/* ---- counting ---- */
/* Progress is counted in bytes of file data; the listing is ours, not the user's. */
static void count(struct gwchannel *ch, struct gmc_interval range, bool here)
{
    const struct gmc_object *object = &ch->object;
    uint64_t listing = gmc_object_listing_blocks(object);
    uint64_t first = gmc_block_data_below(range.lo), end = gmc_block_data_below(range.hi);
    uint64_t bytes =
        gmc_object_file_bytes_below(object, end) - gmc_object_file_bytes_below(object, first);
    uint64_t listed = (end < listing ? end : listing) - (first < listing ? first : listing);
    if (here) {
        ch->stored_bytes += bytes;
        ch->dst->listing_missing -= listed;
    } else {
        ch->stored_bytes -= bytes;
        ch->dst->listing_missing += listed;
    }
}

/* ---- in and out ---- */
/* A block is verified, and in the store. Where there is no room to remember it, it (or another) is
 * fetched once more, when there is. */
void gw_have_put(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    struct gwtarget *dst = ch->dst;
    struct gmc_interval forgotten;
    if (gw_has(ch, number))
        return;
    if (gmc_have_untold(&dst->have) == 0)
        dst->fresh_since = gw->now;
    if (gmc_have_add(&dst->have, number, number, &forgotten) != GMC_OK) {
        dst->forgot = true;
        return;
    }
    dst->unsaved = true;
    count(ch, (struct gmc_interval){number, (uint64_t)number + 1}, true);
    if (forgotten.lo == forgotten.hi)
        return;
    count(ch, forgotten, false);
    gw->counts.blocks_forgotten += forgotten.hi - forgotten.lo;
    dst->forgot = true;
}

/* Blocks of one range that were here may not be what they should be any more. */
void gw_have_lose(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t first, uint64_t end)
{
    struct gwtarget *dst = ch->dst;
    struct gmc_interval lost = gmc_have_lose(&dst->have, first, end);
    if (lost.lo == lost.hi)
        return;
    count(ch, lost, false);
    gw->counts.blocks_forgotten += lost.hi - lost.lo;
    dst->forgot = true;
    dst->unsaved = true;
}

bool gw_have_is_spoilt(const struct gwchannel *ch)
{
    return ch->dst != NULL && ch->talk == NULL && ch->dst->phase > GW_RECEIVING &&
           !gmc_interval_contains_range(&ch->dst->have.stored, 0, ch->blocks);
}

bool gw_have_load(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved,
                  uint64_t *horizon)
{
    struct gmc_have *have = &ch->dst->have;
    if (saved.data == NULL ||
        gmc_have_load(saved, ch->blocks, gw->config.crypto, &have->stored, horizon) != GMC_OK)
        return false;
    for (size_t i = 0; i < gmc_interval_ranges(&have->stored); i++)
        count(ch, gmc_interval_range_at(&have->stored, i), true);
    return true;
}

/* ---- telling ---- */
/* Blocks that a parent may have open for us: the stripes share what there is room for. */
static uint32_t window_of(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    uint32_t window = gw_rx_window(gw) / ch->stripe_count;
    return window < 4 ? 4 : window;
}

void gw_have_tell_all(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *parent,
                      struct gmc_msg *attach)
{
    struct gmc_msg_range ranges[TELL_RANGES];
    const struct gmc_interval_set *stored = &ch->dst->have.stored;
    struct gmc_msg msg = *attach;
    size_t at = 0;
    do {
        msg.ranges = ranges;
        msg.range_count = gmc_have_ranges(stored, &at, ranges, TELL_RANGES);
        msg.more = at < gmc_interval_ranges(stored);
        msg.window = window_of(gw, ch);
        gw_send(gw, parent, &msg);
        msg = gw_about(ch, GMC_MSG_HAVE);
    } while (at < gmc_interval_ranges(stored));
}

/* To each parent once, however many stripes it serves: it takes what concerns it. */
static void tell_parents(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_msg *msg)
{
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        gmc_peer parent = gw_stripe_server(&ch->stripes[k]);
        if (parent != GMC_PEER_NONE && gw_stripe_is_first_of(ch, k, parent))
            gw_send(gw, gw_peer(gw, parent), msg);
    }
}

void gw_have_tell(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_msg_range ranges[TELL_RANGES];
    struct gmc_have *have = &ch->dst->have;
    gw_hearing_company(gw, ch);
    do {
        struct gmc_msg msg = gw_about(ch, GMC_MSG_HAVE);
        msg.ranges = ranges;
        msg.range_count = gmc_have_delta(have, ranges, TELL_RANGES);
        msg.window = window_of(gw, ch);
        tell_parents(gw, ch, &msg);
        if (msg.range_count == 0)
            break; /* all is told, or memory is short: then with the next one */
    } while (gmc_have_untold(have) > 0);
}
