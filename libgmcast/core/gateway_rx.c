/* SPDX-License-Identifier: BSD-2-Clause */
/* Fragments in: from the parent's link through the content seal into the cache, on to the
 * children at once, and as whole blocks towards the store. */
#include <string.h>

#include "core/gateway_impl.h"

/* A quarter of the cache, shared by the channels that receive: the rest serves children. */
uint32_t gw_rx_window(const struct gmc_gateway *gw)
{
    size_t receiving = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        const struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->dst != NULL && ch->talk == NULL && ch->dst->phase <= GW_RECEIVING &&
            ch->state == GMC_CHANNEL_RUNNING)
            receiving++;
    }
    size_t window = gmc_cache_bodies(gw->cache) / 4 / (receiving > 0 ? receiving : 1);
    if (window > 4096)
        window = 4096;
    return window < 4 ? 4 : (uint32_t)window;
}

/* The channel that the parent's link names, and of it the stripe whose parent it is; data from
 * anyone else is refused. */
static struct gwchannel *channel_of(struct gmc_gateway *gw, const struct gwpeer *peer,
                                    uint16_t handle, struct gwstripe **stripe)
{
    struct gwchannel *ch = gmc_map_get(&gw->handles, handle);
    if (ch == NULL || ch->dst == NULL || ch->aead == NULL)
        return NULL;
    for (uint32_t k = 0; k < ch->stripe_count; k++) {
        *stripe = &ch->stripes[k];
        if ((*stripe)->handle == handle)
            return gw_stripe_server(*stripe) == peer->number ? ch : NULL;
    }
    return NULL;
}

/* Of a list, the one with the highest number above `above` that nobody else uses; others of it were
 * read for children. */
static struct gmc_block *last_waiting(struct gmc_list *waiting, int64_t above)
{
    struct gmc_block *last = NULL;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, waiting)
    {
        struct gmc_block *block = GMC_CONTAINER_OF(node, struct gmc_block, wait);
        if (block->state == GMC_BLOCK_UNCHECKED && block->pins == 1 && block->number > above &&
            (last == NULL || block->number > last->number))
            last = block;
    }
    return last;
}

/* One that has begun gives way to the block of this number, and is asked for again. Blocks that
 * wait for a page or for the layout hold memory that the page, or the listing, may need to arrive.
 * And what came early, from a group mostly, could keep out all that comes in order: the lowest
 * block finds room, whatever is held of later ones. */
static bool displace(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    int64_t above = gw_is_prerequisite(ch, number) ? -1 : (int64_t)number;
    struct gmc_block *block = last_waiting(&ch->layout_wait, above);
    if (block == NULL)
        block = last_waiting(&ch->page_wait, above);
    if (block == NULL)
        block = gmc_cache_last_receiving(gw->cache, ch->slot, number);
    if (block == NULL)
        return false;
    uint32_t given_up = block->number;
    gmc_list_remove(&block->wait);
    gw_children_out_of_hand(ch, given_up);
    gw_seen_remove(ch, given_up);
    gmc_cache_remove(gw->cache, block);
    ch->dst->receiving--;
    gw_want_block(gw, ch, given_up);
    return true;
}

static struct gmc_block *block_begin(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number,
                                     uint32_t len)
{
    bool first = gw_is_prerequisite(ch, number);
    if (ch->dst->receiving >= 2 * gw_rx_window(gw) && !(first && displace(gw, ch, number)))
        return NULL;
    struct gmc_block *block = gmc_cache_add(gw->cache, ch->slot, number, len, gw_kept(gw, len),
                                            gmc_fragment_count(&ch->object, len));
    if (block == NULL)
        return NULL;
    block->state = GMC_BLOCK_RECEIVING;
    gmc_status status = gmc_cache_give_plain(gw->cache, block);
    if (status != GMC_OK && first && displace(gw, ch, number))
        status = gmc_cache_give_plain(gw->cache, block);
    if (status == GMC_OK && (!gmc_list_is_empty(&ch->children) || ch->hearing != NULL))
        status = gmc_cache_give_cipher(gw->cache, block);
    if (status == GMC_OK)
        status = gw_seen_add(ch, number, (uint64_t)number + 1);
    if (status != GMC_OK) {
        gmc_cache_remove(gw->cache, block);
        return NULL;
    }
    ch->dst->receiving++;
    return block;
}

static gmc_status open_fragment(struct gmc_gateway *gw, struct gwchannel *ch,
                                struct gmc_block *block, const struct gmc_link_data *data)
{
    uint8_t nonce[GMC_NONCE_BYTES];
    uint8_t aad[18];
    uint8_t *to = block->plain + gw_fragment_at(gw, ch, data->fragment);
    gw_seal_nonce(data->block, data->fragment, nonce);
    return gw->config.crypto->ops->open(ch->aead, nonce,
                                        gw_seal_aad(ch, data->block, data->fragment, aad),
                                        data->body.data, gw_kept(gw, (uint32_t)data->body.len), to,
                                        data->seal_tag);
}

/* The sealed bytes go into the cache as they came: what children get, now or as a repair. */
static void keep_sealed(const struct gmc_gateway *gw, const struct gwchannel *ch,
                        struct gmc_block *block, const struct gmc_link_data *data)
{
    memcpy(block->cipher + gw_fragment_at(gw, ch, data->fragment), data->body.data,
           gw_kept(gw, (uint32_t)data->body.len));
    memcpy(block->tags[data->fragment], data->seal_tag, GMC_SEAL_TAG_BYTES);
    block->sealed |= (uint64_t)1 << data->fragment;
}

gmc_status gw_rx_data(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_link_data *data)
{
    struct gwstripe *stripe;
    struct gwchannel *ch = channel_of(gw, peer, data->handle, &stripe);
    if (ch == NULL) {
        gw->counts.dropped_handle++;
        return GMC_ERR_UNKNOWN;
    }
    gw->counts.data_bytes_in += data->body.len;
    if (ch->talk != NULL)
        return gw_talk_data(gw, peer, ch, stripe, data);
    if (data->block >= ch->blocks || gw_stripe_of(ch, data->block) != stripe) {
        gw->counts.dropped_malformed++;
        return GMC_ERR_INVALID;
    }
    gw_pass_arrived(gw, ch, data);
    return gw_rx_fragment(gw, ch, stripe, data);
}

struct gmc_block *gw_rx_block(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
    return block != NULL ? block : block_begin(gw, ch, number, gmc_block_len(&ch->object, number));
}

/* Of a fragment from a link: what came from groups gives way to it. */
static struct gmc_block *block_of_link(struct gmc_gateway *gw, struct gwchannel *ch,
                                       uint32_t number)
{
    struct gmc_block *block = gw_rx_block(gw, ch, number);
    while (block == NULL && (displace(gw, ch, number) || gw_hearing_makes_room(gw, ch)))
        block = gw_rx_block(gw, ch, number);
    return block;
}

gmc_status gw_rx_fragment(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                          const struct gmc_link_data *data)
{
    if (gw_has(ch, data->block)) {
        gw->counts.dropped_duplicate++;
        return GMC_OK;
    }
    uint32_t len = gmc_block_len(&ch->object, data->block);
    if (data->fragment >= gmc_fragment_count(&ch->object, len) ||
        data->body.len != gmc_fragment_len(&ch->object, len, data->fragment)) {
        gw->counts.dropped_malformed++;
        return GMC_ERR_INVALID;
    }
    struct gmc_block *block =
        stripe != NULL ? block_of_link(gw, ch, data->block) : gw_rx_block(gw, ch, data->block);
    if (block == NULL) {
        gw->counts.dropped_full++;
        return GMC_ERR_FULL;
    }
    uint64_t bit = (uint64_t)1 << data->fragment;
    if (block->state != GMC_BLOCK_RECEIVING || (block->received & bit) != 0) {
        if (block->state == GMC_BLOCK_VERIFIED)
            gw_have_put(gw, ch, data->block); /* stored, and forgotten since */
        gw->counts.dropped_duplicate++;
        return GMC_OK;
    }
    if (open_fragment(gw, ch, block, data) != GMC_OK) {
        gw->counts.dropped_seal++;
        if (stripe != NULL)
            gw_blame(gw, ch, stripe, "a fragment that the source did not seal");
        return GMC_ERR_AUTH;
    }
    block->received |= bit;
    if (block->cipher != NULL) {
        keep_sealed(gw, ch, block, data);
        gw_children_offer(gw, ch, block, bit);
    }
    uint64_t all = gmc_fragments_all(block->fragments);
    if (block->received == all) {
        block->state = GMC_BLOCK_UNCHECKED;
        gw_block_whole(gw, ch, block);
    }
    return GMC_OK;
}

/* ---- whole blocks ---- */
static void page_whole(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    struct gmc_page page;
    struct gmc_page_context context = {.key = ch->key};
    gmc_status status =
        gmc_page_read(gw->config.crypto, ch->source_key, &context, &ch->object,
                      gmc_block_page(block->number), gmc_bytes(block->plain, block->len), &page);
    if (status != GMC_OK) {
        gw_block_lost(gw, ch, block, true);
        return;
    }
    gw_page_keep(gw, ch, &page);
    struct gmc_store_op *op;
    struct gwop *record = gw_store(gw, ch, GMC_STORE_WRITE_PAGE, &op);
    record->block = block;
    op->offset = gmc_block_page(block->number);
    op->data = block->plain;
    op->len = block->len;
    gw_page_arrived(gw, ch);
}

static void data_whole(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    uint32_t data = gmc_block_data(block->number);
    bool listing = data < gmc_object_listing_blocks(&ch->object);
    if (gw->config.discard_data && !listing) {
        gw_block_stored(gw, ch, block);
        return;
    }
    const struct gmc_page *page = gw_page_or_load(gw, ch, gmc_block_page(block->number));
    if (page == NULL) {
        gmc_list_push_back(&ch->page_wait, &block->wait);
        return;
    }
    if (!ch->dst->laid_out && !listing) {
        gmc_list_push_back(&ch->layout_wait, &block->wait);
        return;
    }
    struct gmc_store_op *op;
    struct gwop *record = gw_store(gw, ch, GMC_STORE_WRITE, &op);
    record->block = block;
    uint32_t len;
    gmc_block_extent(&ch->object, block->number, &op->offset, &len);
    op->data = block->plain;
    op->len = len;
    memcpy(op->hash, page->hashes[data - page->first], GMC_HASH_BYTES);
}

void gw_block_whole(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    if (gmc_block_is_page(block->number))
        page_whole(gw, ch, block);
    else
        data_whole(gw, ch, block);
}

/* Nobody is fed from here, and nobody is meant to be: a stored block's memory is better used for
 * the next one, while it is still in the processor's cache. Who comes all the same is served from
 * the store. */
static bool is_leaf(const struct gwchannel *ch)
{
    return ch->dst != NULL && gmc_list_is_empty(&ch->children) && ch->group == NULL &&
           !ch->dst->is_relay;
}

void gw_block_unpin(struct gmc_gateway *gw, const struct gwchannel *ch, struct gmc_block *block)
{
    if (block->state == GMC_BLOCK_VERIFIED && block->pins == 1 && is_leaf(ch))
        gmc_cache_remove(gw->cache, block);
    else
        gmc_block_unpin(gw->cache, block);
}

void gw_block_stored(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    struct gwtarget *dst = ch->dst;
    uint32_t number = block->number;
    block->state = GMC_BLOCK_VERIFIED;
    gw->counts.blocks_stored++;
    if (dst->receiving > 0)
        dst->receiving--;
    struct gwstripe *stripe = gw_stripe_of(ch, number);
    if (stripe->blames > 0)
        stripe->blames--; /* a few flipped bits among good blocks are no parent's fault */
    gw_have_put(gw, ch, number);
    gw_pass_stored(gw, ch, number);
    gw_hearing_stored(gw, ch, number);
    /* Whatever was kept sealed as it came was passed on then. */
    if (block->sealed != gmc_fragments_all(block->fragments))
        gw_children_offer(gw, ch, block, UINT64_MAX);
    if (ch->wants_room) {
        ch->wants_room = false;
        gw_children_touch(gw, ch);
    }
    if (block->cipher != NULL && block->sealed == block->received && !gmc_block_is_page(number))
        gmc_cache_drop_plain(gw->cache, block);
    gw_block_unpin(gw, ch, block);
    gw_target_progress(gw, ch);
}

/* Asks the parent of the block's stripe for it once more. */
void gw_want_block(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    struct gwpeer *parent = gw_peer(gw, gmc_overlay_parent(&gw_stripe_of(ch, number)->overlay));
    if (parent == NULL)
        return; /* the next one is told of all that is here */
    struct gmc_msg_range range = {.first = number, .last = number};
    struct gmc_msg msg = gw_about(ch, GMC_MSG_WANT);
    msg.ranges = &range;
    msg.range_count = 1;
    gw_send(gw, parent, &msg);
}

/* The block did not pass: it is empty again, and the parent is asked for it once more. */
void gw_block_lost(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                   bool blame)
{
    gw->counts.blocks_bad++;
    block->state = GMC_BLOCK_RECEIVING;
    block->received = 0;
    block->sealed = 0;
    gw_children_out_of_hand(ch, block->number);
    gw_want_block(gw, ch, block->number);
    /* Over its link a node gets what the gateway has verified. */
    if (blame && ch->hearing != NULL)
        gw_hearing_forged(gw, ch, block->number, NULL);
    else if (blame)
        gw_blame(gw, ch, gw_stripe_of(ch, block->number),
                 "a block that does not match the signed manifest");
}

/* After a few bad blocks the parent is left: whoever spoiled them stands above us. */
void gw_blame(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
              const char *what)
{
    if (++stripe->blames >= GW_BLAME_MAX)
        gw_leave_parent(gw, ch, stripe, what);
}

void gw_leave_parent(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                     const char *what)
{
    gmc_peer parent = gmc_overlay_candidate(&stripe->overlay);
    struct gwpeer *peer = gw_peer(gw, parent);
    if (peer == NULL)
        return;
    stripe->blames = 0;
    gw_event_parent(gw, ch, stripe, parent, GMC_ERR_MISMATCH, "%s sent %s; leaving it", peer->name,
                    what);
    struct gmc_msg msg = gw_about(ch, GMC_MSG_DETACH);
    msg.stripe = stripe->number;
    msg.status = GMC_ERR_MISMATCH;
    msg.text = what;
    gw_send(gw, peer, &msg);
    gmc_overlay_on_let_go(&stripe->overlay, gw->now, parent);
    gw_target_step(gw, ch);
}
