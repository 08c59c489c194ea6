/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows of a group of which a node has something: records of them, their blocks held in the
 * cache, and what is missing. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_hear_impl.h"

#define WINDOWS_MAX 128u /* that are not complete */

void gw_heard_release(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard)
{
    struct gwhearing *hearing = ch->hearing;
    for (uint32_t i = 0; i < heard->in.shape.blocks; i++)
        if (heard->blocks[i] != NULL)
            gw_block_unpin(gw, ch, heard->blocks[i]);
    memset(heard->blocks, 0, sizeof(heard->blocks));
    gmc_list_remove(&heard->node);
    gmc_list_push_back(&hearing->spares, &heard->node);
    hearing->count--;
}

struct gwheard *gw_heard_find(const struct gwhearing *hearing, uint32_t window)
{
    /* Mostly the newest. */
    for (struct gmc_list *node = hearing->windows.prev; node != &hearing->windows;
         node = node->prev) {
        struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        if (heard->in.window == window)
            return heard;
    }
    return NULL;
}

static struct gwheard *heard_new(struct gwhearing *hearing)
{
    struct gwheard *heard;
    uint8_t *rows = NULL;
    if (hearing->count == WINDOWS_MAX)
        return NULL;
    struct gmc_list *node = gmc_list_pop_front(&hearing->spares);
    if (node != NULL) {
        heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        rows = heard->rows;
    } else {
        heard = malloc(sizeof(*heard));
    }
    if (heard == NULL)
        return NULL;
    *heard = (struct gwheard){.rows = rows, .in.speak_at = GMC_TIME_NEVER};
    gmc_list_init(&heard->node);
    return heard;
}

/* The store fills it: it is stored, as far as is known, and a read that fails takes it away. */
static bool is_being_read(const struct gmc_block *block)
{
    return block->state == GMC_BLOCK_READING || block->state == GMC_BLOCK_WAITING;
}

/* A record of the window, and of what is here of it already: blocks may wait for their page. */
static struct gwheard *begin(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t window)
{
    struct gwheard *heard = heard_new(ch->hearing);
    if (heard == NULL)
        return NULL;
    heard->in.window = window;
    gmc_group_shape(&ch->object, window, &heard->in.shape);
    for (uint32_t i = 0; i < heard->in.shape.blocks; i++) {
        struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, heard->in.shape.first + i);
        if (block == NULL || is_being_read(block))
            continue;
        gmc_block_pin(gw->cache, block);
        heard->blocks[i] = block;
    }
    gmc_list_push_back(&ch->hearing->windows, &heard->node);
    ch->hearing->count++;
    return heard;
}

static bool is_whole(const struct gwchannel *ch, const struct gwheard *heard, uint32_t i)
{
    const struct gmc_block *block = heard->blocks[i];
    if (block == NULL)
        return gw_has(ch, heard->in.shape.first + i);
    return block->state != GMC_BLOCK_RECEIVING;
}

/* The builtin calls the compiler's library where no instruction is. Sums of 2, 4 and 8 bits side by
 * side, then of all bytes in the highest. */
static uint32_t bits_in(uint64_t mask)
{
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) + (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(mask * UINT64_C(0x0101010101010101) >> 56);
}

bool gw_heard_count(const struct gwchannel *ch, struct gwheard *heard)
{
    bool blind = false, whole = true;
    heard->in.missing = 0;
    for (uint32_t i = 0; i < heard->in.shape.blocks; i++) {
        uint64_t sealed = gw_heard_sealed(heard, i);
        uint32_t sources =
            (uint32_t)(heard->in.shape.source_of[i + 1] - heard->in.shape.source_of[i]);
        if (is_whole(ch, heard, i)) {
            blind = blind || heard->blocks[i] == NULL ||
                    sealed != gmc_fragments_all(heard->blocks[i]->fragments);
            continue;
        }
        whole = false;
        blind = blind || (heard->blocks[i] != NULL && (heard->blocks[i]->received & ~sealed) != 0);
        heard->in.missing += sources - bits_in(sealed);
    }
    if (blind) {
        heard->in.speak_at = GMC_TIME_NEVER;
        heard->in.missing = 0;
    }
    return !whole;
}

struct gwheard *gw_heard_of(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t window)
{
    struct gwheard *heard = gw_heard_find(ch->hearing, window);
    return heard != NULL ? heard : begin(gw, ch, window);
}

/* Whole, and held by no window any more: they wait for their page, or for the layout. */
static size_t waiting(const struct gmc_list *list)
{
    size_t blocks = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, list)
    {
        blocks += GMC_CONTAINER_OF(node, struct gmc_block, wait)->pins == 1;
    }
    return blocks;
}

/* Blocks that came from the group, and that are not stored. */
static size_t unstored(const struct gwchannel *ch)
{
    size_t blocks = waiting(&ch->page_wait) + waiting(&ch->layout_wait);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &ch->hearing->windows)
    {
        const struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        for (uint32_t i = 0; i < heard->in.shape.blocks; i++)
            blocks += heard->blocks[i] != NULL && heard->blocks[i]->state != GMC_BLOCK_VERIFIED;
    }
    return blocks;
}

/* The group begins as many blocks as the gateway was told, or one window. The link may begin as
 * many as well, so that whatever comes from the group, and is never completed there, cannot keep
 * out the page that all wait for. */
static bool may_begin(const struct gmc_gateway *gw, const struct gwchannel *ch)
{
    uint32_t most = gw_rx_window(gw);
    return unstored(ch) < (most < GMC_GROUP_BLOCKS_MAX ? GMC_GROUP_BLOCKS_MAX : most);
}

bool gw_heard_pin(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard, uint32_t i)
{
    uint32_t number = heard->in.shape.first + i;
    if (heard->blocks[i] != NULL)
        return true;
    struct gmc_block *block = gmc_cache_find(gw->cache, ch->slot, number);
    if (block == NULL && may_begin(gw, ch))
        block = gw_rx_block(gw, ch, number);
    if (block == NULL || is_being_read(block))
        return false;
    gmc_block_pin(gw->cache, block);
    heard->blocks[i] = block;
    return true;
}
