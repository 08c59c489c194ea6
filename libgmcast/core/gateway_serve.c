/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks back from the store for children: read, held against the manifest, sealed again. */
#include <string.h>

#include "core/gateway_impl.h"

#define READ_AGAIN_AFTER GMC_MS(250) /* doubled each time */
#define READ_TRIES 6u
#define BAD_READS_MAX 64u /* of a whole object, for nodes */

void gw_seal_nonce(uint32_t block, uint16_t fragment, uint8_t nonce[GMC_NONCE_BYTES])
{
    memset(nonce, 0, GMC_NONCE_BYTES);
    gmc_put32(nonce, block);
    gmc_put16(nonce + 4, fragment);
}

/* The channel and epoch stand behind a link-local handle on the wire; the seal binds them. */
struct gmc_bytes gw_seal_aad(const struct gwchannel *ch, uint32_t block, uint16_t fragment,
                             uint8_t aad[18])
{
    gmc_put64(aad, ch->key.e);
    gmc_put32(aad + 8, ch->epoch);
    gmc_put32(aad + 12, block);
    gmc_put16(aad + 16, fragment);
    return gmc_bytes(aad, 18);
}

static struct gwop *ask_store(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    bool page = gmc_block_is_page(block->number);
    struct gmc_store_op *op;
    struct gwop *record = gw_store(gw, ch, page ? GMC_STORE_READ_PAGE : GMC_STORE_READ, &op);
    record->block = block;
    op->data = block->plain;
    op->len = block->len;
    uint32_t len;
    if (page)
        op->offset = gmc_block_page(block->number);
    else
        gmc_block_extent(&ch->object, block->number, &op->offset, &len);
    ch->reads++;
    gw->counts.blocks_read++;
    return record;
}

/* Begins to read a block that the store has. NULL: too many reads, or no memory for it now. */
struct gwop *gw_block_read(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number,
                           bool for_hash)
{
    uint32_t bound = (uint32_t)(gmc_cache_bodies(gw->cache) / 8);
    if (ch->reads >= GW_READS_MAX || (ch->reads > 0 && ch->reads >= bound) || !ch->object_known)
        return NULL;
    uint32_t len = gmc_block_len(&ch->object, number);
    struct gmc_block *block = gmc_cache_add(gw->cache, ch->slot, number, len, gw_kept(gw, len),
                                            gmc_fragment_count(&ch->object, len));
    if (block == NULL || gmc_cache_give_plain(gw->cache, block) != GMC_OK) {
        if (block != NULL)
            gmc_cache_remove(gw->cache, block);
        ch->wants_room = true;
        return NULL;
    }
    block->state = GMC_BLOCK_READING;
    block->for_hash = for_hash;
    return ask_store(gw, ch, block);
}

/* A disk or a file server may come back: the source reads again, after longer and longer, before
 * the transfer stops; and a stopped one goes on with these blocks when it is resumed. */
static void read_later(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                       const char *reason)
{
    struct gwsource *src = ch->src;
    gmc_list_push_back(&src->unread, &block->wait);
    src->read_again_at = gmc_time_add(gw->now, READ_AGAIN_AFTER << block->failures);
    if (++block->failures < READ_TRIES)
        return;
    block->failures = 0;
    gw_source_stop(gw, ch, GMC_ERR_IO, reason);
}

void gw_blocks_read_again(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (gw->now < ch->src->read_again_at)
        return;
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &ch->src->unread)
    {
        gmc_list_remove(node);
        ask_store(gw, ch, GMC_CONTAINER_OF(node, struct gmc_block, wait));
    }
}

static void verified(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    block->state = GMC_BLOCK_VERIFIED;
    block->for_hash = false;
    gw_children_offer(gw, ch, block, UINT64_MAX);
    gw_block_unpin(gw, ch, block); /* a leaf has taken the hashes of a page out of it */
    gw_children_touch(gw, ch);
}

/* When a domain has all of it, it takes nothing from outside any more, and its nodes have nobody
 * else: what cannot be read is read once more. False: often enough. */
static bool read_once_more(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number)
{
    struct gwtarget *dst = ch->dst;
    if (dst->phase <= GW_RECEIVING || dst->node_count == 0 || dst->bad_reads >= BAD_READS_MAX)
        return false;
    dst->bad_reads++;
    gw_children_out_of_hand(ch, number);
    gw_children_touch(gw, ch);
    return true;
}

/* Where nothing comes from outside any more, nobody waits for what is not here; else those that it
 * was promised to need not wait until it is here again. */
static bool is_to_go(const struct gwchannel *ch, const struct gwchild *child, uint32_t number)
{
    uint32_t index = gw_child_index(child, number);
    if (child->stripe != gmc_stripe_of(ch->stripe_count, number))
        return false;
    return gmc_tx_is_open(&child->tx, index) ||
           (ch->dst->phase > GW_RECEIVING && !gmc_interval_contains(&child->tx.taken, index));
}

/* What the store holds is not (any more) what the source signed. */
static void unusable(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                     const char *reason)
{
    uint32_t number = block->number;
    gmc_cache_remove(gw->cache, block);
    if (ch->is_source) {
        gw_source_fail(gw, ch, GMC_ERR_CHANGED, reason);
        return;
    }
    if (read_once_more(gw, ch, number))
        return;
    /* Children get it from an ancestor: this gateway does not offer it any more. */
    gw_have_lose(gw, ch, number, (uint64_t)number + 1);
    gw_seen_remove(ch, number);
    if (ch->dst->phase == GW_RECHECKING) {
        gw_target_recheck(gw, ch); /* without this page; its blocks are fetched again */
        return;
    }
    if (ch->dst->doubts)
        ch->dst->differed++; /* told when all are compared */
    else
        gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, GMC_ERR_MISMATCH,
                 "block %u cannot be served from here any more: %s", number, reason);
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &ch->children)
    {
        struct gwchild *child = GMC_CONTAINER_OF(node, struct gwchild, in_channel);
        if (!is_to_go(ch, child, number))
            continue;
        struct gmc_msg msg = {.type = GMC_MSG_DETACH,
                              .source = ch->key.source,
                              .e = ch->key.e,
                              .stripe = child->stripe,
                              .status = GMC_ERR_MISMATCH,
                              .text = "stored data is not what it was any more"};
        gw_send(gw, child->peer, &msg);
        gw_child_free(gw, child);
    }
    if (ch->dst->phase > GW_RECEIVING)
        gw_nodes_give_up(gw, ch, reason);
}

/* Is this the page that a restarted source goes on with? Children may have others read meanwhile;
 * were one of them taken for it, a page could be built anew that was sealed and sent already. */
static bool is_reload(const struct gwchannel *ch, const struct gmc_block *block)
{
    return ch->is_source && ch->src->build.reloading && ch->src->build.active &&
           block->number == gmc_block_of_page(ch->src->build.next);
}

static void page_was_read(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    struct gmc_page page;
    struct gmc_page_context context = {.key = ch->key};
    gmc_status status =
        gmc_page_read(gw->config.crypto, ch->source_key, &context, &ch->object,
                      gmc_block_page(block->number), gmc_bytes(block->plain, block->len), &page);
    if (status != GMC_OK && is_reload(ch, block)) {
        /* Torn by a loss of power: it is built again, from here on. */
        gmc_cache_remove(gw->cache, block);
        gw_build_reloaded(gw, ch, NULL);
        return;
    }
    if (status != GMC_OK) {
        unusable(gw, ch, block, "a hash page in the state folder is damaged");
        return;
    }
    gw_page_keep(gw, ch, &page);
    if (is_reload(ch, block))
        gw_build_reloaded(gw, ch, &page);
    verified(gw, ch, block);
    gw_page_arrived(gw, ch);
}

/* The store has answered, or the page that a read block waited for is here. */
void gw_block_was_read(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    block->failures = 0;
    if (block->for_hash) {
        gw_build_hashed(gw, ch, block);
        return;
    }
    if (gmc_block_is_page(block->number)) {
        page_was_read(gw, ch, block);
        return;
    }
    block->state = GMC_BLOCK_WAITING;
    const struct gmc_page *page = gw_page_or_load(gw, ch, gmc_block_page(block->number));
    if (page == NULL) {
        gmc_list_push_back(&ch->page_wait, &block->wait);
        return;
    }
    const uint8_t *hash = page->hashes[gmc_block_data(block->number) - page->first];
    if (memcmp(hash, block->hash, GMC_HASH_BYTES) != 0)
        unusable(gw, ch, block, "its data is not what was announced: a file changed");
    else
        verified(gw, ch, block);
}

void gw_block_read_failed(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                          const struct gmc_store_result *result)
{
    const char *reason = result->reason != NULL ? result->reason : gmc_status_text(result->status);
    if (is_reload(ch, block)) {
        gmc_cache_remove(gw->cache, block);
        gw_build_reloaded(gw, ch, NULL);
        return;
    }
    if (ch->is_source && result->status == GMC_ERR_IO)
        read_later(gw, ch, block, reason);
    else
        unusable(gw, ch, block, reason);
}

static gmc_status seal_one(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                           const uint8_t *plain, uint16_t f)
{
    uint8_t nonce[GMC_NONCE_BYTES];
    uint8_t aad[18];
    size_t at = gw_fragment_at(gw, ch, f);
    uint32_t len = gmc_fragment_len(&ch->object, block->len, f);
    gw_seal_nonce(block->number, f, nonce);
    return gw->config.crypto->ops->seal(ch->aead, nonce, gw_seal_aad(ch, block->number, f, aad),
                                        plain + at, gw_kept(gw, len), block->cipher + at,
                                        block->tags[f]);
}

/* Seals what is not sealed yet of a verified block. In place where the plain bytes serve nothing
 * else; pages keep them, because hashes are looked up there. The nonce meets one plaintext only:
 * the block was just held against the signed manifest. */
gmc_status gw_block_seal(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    /* The source reads its first blocks before it knows how large fragments may be. */
    if (block->sealed == 0)
        block->fragments = (uint8_t)gmc_fragment_count(&ch->object, block->len);
    uint64_t all = gmc_fragments_all(block->fragments);
    if (block->sealed == all)
        return GMC_OK;
    if (block->plain == NULL || ch->aead == NULL)
        return GMC_ERR_STATE;
    gmc_block_pin(gw->cache, block);
    const uint8_t *plain = block->plain;
    gmc_status status = GMC_OK;
    if (block->cipher == NULL)
        status = gmc_block_is_page(block->number) ? gmc_cache_give_cipher(gw->cache, block)
                                                  : gmc_cache_plain_to_cipher(gw->cache, block);
    for (uint16_t f = 0; f < block->fragments && status == GMC_OK; f++) {
        if ((block->sealed >> f & 1) == 0)
            status = seal_one(gw, ch, block, plain, f);
        if (status == GMC_OK)
            block->sealed |= (uint64_t)1 << f;
    }
    if (status == GMC_OK && !gmc_block_is_page(block->number))
        gmc_cache_drop_plain(gw->cache, block);
    gw->counts.blocks_sealed++;
    gmc_block_unpin(gw->cache, block);
    return status;
}
