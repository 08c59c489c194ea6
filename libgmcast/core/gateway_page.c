/* SPDX-License-Identifier: BSD-2-Clause */
/* The manifest's pages in the composition: the few that are kept in memory, loading others from
 * the store, and building them at the source a little ahead of what its children need. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

const struct gmc_page *gw_page(struct gwchannel *ch, uint32_t index)
{
    size_t last = ch->page_last; /* blocks come in the order of their pages */
    if (ch->pages[last] != NULL && ch->pages[last]->index == index) {
        ch->page_used[last] = ++ch->page_clock;
        return ch->pages[last];
    }
    for (size_t i = 0; i < GW_PAGES_KEPT; i++) {
        if (ch->pages[i] != NULL && ch->pages[i]->index == index) {
            ch->page_used[i] = ++ch->page_clock;
            ch->page_last = i;
            return ch->pages[i];
        }
    }
    return NULL;
}

/* Takes the place of the page that was not used for longest. */
void gw_page_keep(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_page *page)
{
    size_t place = 0;
    for (size_t i = 0; i < GW_PAGES_KEPT; i++) {
        if (ch->pages[i] == NULL || ch->pages[i]->index == page->index) {
            place = i;
            break;
        }
        if (ch->page_used[i] < ch->page_used[place])
            place = i;
    }
    gmc_pages_drop(&gw->shared->pages, ch->pages[place]);
    ch->pages[place] = gmc_pages_keep(&gw->shared->pages, page);
    if (ch->pages[place] == NULL)
        return; /* it is loaded again when it is wanted */
    ch->page_used[place] = ++ch->page_clock;
    if (page->index + 1u == gmc_object_pages(&ch->object)) {
        memcpy(ch->digest, page->digest, GMC_HASH_BYTES);
        ch->digest_known = true;
    }
}

void gw_page_forget(struct gmc_gateway *gw, struct gwchannel *ch)
{
    for (size_t i = 0; i < GW_PAGES_KEPT; i++) {
        gmc_pages_drop(&gw->shared->pages, ch->pages[i]);
        ch->pages[i] = NULL;
    }
}

const struct gmc_page *gw_page_or_load(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t index)
{
    const struct gmc_page *page = gw_page(ch, index);
    if (page != NULL)
        return page;
    uint32_t number = gmc_block_of_page(index);
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
    if (block != NULL && block->state == GMC_BLOCK_VERIFIED && block->plain != NULL) {
        struct gmc_page fresh;
        struct gmc_page_context context = {.key = ch->key};
        if (gmc_page_read(gw->config.crypto, ch->source_key, &context, &ch->object, index,
                          gmc_bytes(block->plain, block->len), &fresh) == GMC_OK) {
            gw_page_keep(gw, ch, &fresh);
            return gw_page(ch, index);
        }
    }
    bool stored = ch->is_source ? gw_seen(ch, number) : gw_has(ch, number);
    if (block == NULL && stored)
        gw_block_read(gw, ch, number, false);
    return NULL;
}

void gw_page_want(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_list *node = gmc_list_first(&ch->page_wait);
    if (node == NULL || ch->closing)
        return;
    uint32_t number = GMC_CONTAINER_OF(node, struct gmc_block, wait)->number;
    if (gw_page_or_load(gw, ch, gmc_block_page(number)) != NULL)
        gw_page_arrived(gw, ch);
}

/* A page has come into memory: blocks that waited for one are looked at again. */
void gw_page_arrived(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_list waiting;
    gmc_list_init(&waiting);
    gmc_list_append(&waiting, &ch->page_wait);
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(&waiting)) != NULL) {
        struct gmc_block *block = GMC_CONTAINER_OF(node, struct gmc_block, wait);
        if (ch->closing) /* one of those before it ended the transfer */
            gmc_block_unpin(gw->cache, block);
        else if (block->state == GMC_BLOCK_UNCHECKED)
            gw_block_whole(gw, ch, block);
        else
            gw_block_was_read(gw, ch, block);
    }
    if (ch->dst != NULL && ch->dst->phase == GW_RECHECKING)
        gw_target_recheck(gw, ch);
    else if (ch->dst != NULL)
        gw_doubt_step(gw, ch);
}

/* ---- building, at the source ---- */
static void page_begin(struct gwchannel *ch)
{
    struct gwbuild *build = &ch->src->build;
    uint64_t left = gmc_object_data_blocks(&ch->object) - (uint64_t)build->next * GMC_PAGE_HASHES;
    build->page.index = build->next;
    build->page.first = build->next * GMC_PAGE_HASHES;
    build->page.count = left < GMC_PAGE_HASHES ? (uint32_t)left : GMC_PAGE_HASHES;
    memcpy(build->page.before, build->chain, GMC_HASH_BYTES);
    build->asked = 0;
    build->arrived = 0;
    build->active = true;
}

/* Signs the page and gives it to the store; its blocks are announced when it is there. */
static void page_finish(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwbuild *build = &ch->src->build;
    struct gmc_page_context context = {.key = ch->key};
    uint8_t *bytes = malloc(GMC_PAGE_WIRE_BYTES);
    if (bytes == NULL || gmc_page_write(gw->config.crypto, ch->source_key, &context, &build->page,
                                        bytes) != GMC_OK) {
        free(bytes);
        gw_source_fail(gw, ch, GMC_ERR_INVALID, "cannot sign a hash page with this domain's key");
        return;
    }
    memcpy(build->chain, build->page.digest, GMC_HASH_BYTES);
    gw_page_keep(gw, ch, &build->page);
    struct gmc_store_op *op;
    struct gwop *record = gw_store(gw, ch, GMC_STORE_WRITE_PAGE, &op);
    record->owned = bytes;
    record->page = build->next;
    op->offset = build->next;
    op->data = bytes;
    op->len = GMC_PAGE_WIRE_BYTES;
    build->next++;
    build->active = false;
}

static void announce(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t page)
{
    uint64_t first = gmc_block_of_page(page);
    uint64_t end = first + GMC_PAGE_GROUP < ch->blocks ? first + GMC_PAGE_GROUP : ch->blocks;
    if (gw_seen_add(ch, first, end) != GMC_OK)
        gw_source_fail(gw, ch, GMC_ERR_NOMEM, "no memory for the list of blocks");
    gw_children_touch(gw, ch);
}

void gw_page_written(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t page)
{
    announce(gw, ch, page);
    gw_build_pages(gw, ch);
}

void gw_build_hashed(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block)
{
    struct gwbuild *build = &ch->src->build;
    uint32_t data = gmc_block_data(block->number);
    memcpy(build->page.hashes[data - build->page.first], block->hash, GMC_HASH_BYTES);
    /* It stays in memory as long as there is room: its page is about to name this very hash. */
    block->state = GMC_BLOCK_VERIFIED;
    block->for_hash = false;
    gmc_block_unpin(gw->cache, block);
    if (++build->arrived == build->page.count)
        page_finish(gw, ch);
    gw_build_pages(gw, ch);
}

/* After a restart: the next page as the store had it; NULL: there are no more. */
void gw_build_reloaded(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_page *page)
{
    struct gwbuild *build = &ch->src->build;
    build->active = false;
    if (page == NULL || page->index != build->next ||
        memcmp(page->before, build->chain, GMC_HASH_BYTES) != 0) {
        build->reloading = false;
        gw_source_reloaded(gw, ch);
    } else {
        memcpy(build->chain, page->digest, GMC_HASH_BYTES);
        announce(gw, ch, build->next++);
    }
    gw_build_pages(gw, ch);
}

void gw_build_pages(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwbuild *build = &ch->src->build;
    if (!ch->object_known || !ch->src->scanned || ch->closing)
        return;
    uint64_t pages = gmc_object_pages(&ch->object);
    if (build->reloading && build->next >= pages) {
        build->reloading = false;
        gw_source_reloaded(gw, ch);
    }
    if (build->reloading) {
        if (!build->active)
            build->active = gw_block_read(gw, ch, gmc_block_of_page(build->next), false) != NULL;
        return;
    }
    if (build->next >= pages || (!build->active && build->next >= build->target))
        return;
    if (!build->active)
        page_begin(ch);
    while (build->asked < build->page.count) {
        uint32_t number = gmc_block_of_data((uint64_t)build->page.first + build->asked);
        if (gw_block_read(gw, ch, number, true) == NULL)
            break; /* goes on when a read is answered */
        build->asked++;
    }
}
