/* SPDX-License-Identifier: BSD-2-Clause */
/* The block cache: see cache.h. Owns bodies, the index and the order of eviction. */
#include "core/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/map.h"

/* A body and its tags are one allocation, so that sealing in place needs no second one. */
#define BODY_ALLOC (GMC_CACHE_BODY_BYTES + GMC_FRAGMENTS_MAX * GMC_SEAL_TAG_BYTES)
#define SPARES_KEPT 32u

/* Sizes of bodies. Pages and the blocks of small files would waste most of a whole one. */
enum body_size { VIRTUAL, VIRTUAL_SEVERAL, SMALL, WHOLE };
_Static_assert(WHOLE == GMC_CACHE_SPARE_SIZES, "all but whole ones may be shared");

static const struct {
    uint32_t bytes, tags;
} sizes[] = {{GMC_CACHE_VIRTUAL_BYTES, 1},
             {GMC_CACHE_VIRTUAL_FRAGMENTS * GMC_CACHE_VIRTUAL_BYTES, GMC_CACHE_VIRTUAL_FRAGMENTS},
             {GMC_CACHE_SMALL_BYTES, GMC_FRAGMENTS_MAX},
             {GMC_CACHE_BODY_BYTES, GMC_FRAGMENTS_MAX}};

struct gmc_cache {
    struct gmc_map index;                 /* (channel, block) -> struct gmc_block */
    struct gmc_block *last;               /* of these, the one looked at last; NULL */
    struct gmc_list idle;                 /* not pinned, least recently used first */
    struct gmc_list pinned;               /* all others */
    struct gmc_cache_spares own, *spares; /* own, or shared */
    struct gmc_pool wholes;               /* bodies given back; they count against the bound */
    size_t bodies_max;
    size_t bodies_used;
    size_t bytes; /* of all bodies but spares, and of whole ones, with their tags */
};

static uint64_t block_key(uint32_t channel, uint32_t number)
{
    return (uint64_t)channel << 32 | number;
}

static size_t body_bytes(enum body_size size)
{
    return sizes[size].bytes + (size_t)sizes[size].tags * GMC_SEAL_TAG_BYTES;
}

void gmc_cache_spares_init(struct gmc_cache_spares *spares, size_t most)
{
    gmc_pool_init(&spares->blocks, sizeof(struct gmc_block), most);
    for (enum body_size size = VIRTUAL; size < WHOLE; size++)
        gmc_pool_init(&spares->bodies[size], body_bytes(size), most);
}

void gmc_cache_spares_trim(struct gmc_cache_spares *spares)
{
    gmc_pool_trim(&spares->blocks);
    for (enum body_size size = VIRTUAL; size < WHOLE; size++)
        gmc_pool_trim(&spares->bodies[size]);
}

struct gmc_cache *gmc_cache_new(size_t bytes, uint64_t seed, struct gmc_cache_spares *spares)
{
    struct gmc_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL)
        return NULL;
    gmc_map_init(&cache->index, seed);
    gmc_list_init(&cache->idle);
    gmc_list_init(&cache->pinned);
    gmc_cache_spares_init(&cache->own, SPARES_KEPT);
    cache->spares = spares != NULL ? spares : &cache->own;
    gmc_pool_init(&cache->wholes, body_bytes(WHOLE), SIZE_MAX);
    cache->bodies_max = bytes / BODY_ALLOC;
    if (cache->bodies_max < 16)
        cache->bodies_max = 16;
    return cache;
}

void gmc_cache_near(const struct gmc_cache *cache, struct gmc_near *near)
{
    gmc_near_add(near, cache, (size_t)4 * GMC_NEAR_LINE);
    const struct gmc_block *last = cache->last;
    if (last == NULL)
        return;
    gmc_near_add(near, last, sizeof(*last));
    gmc_map_near(&cache->index, block_key(last->channel, last->number), near);
    gmc_map_near(&cache->index, block_key(last->channel, last->number + 1), near);
}

static enum body_size size_of(const struct gmc_block *block)
{
    if (block->kept == block->len)
        return block->len <= GMC_CACHE_SMALL_BYTES ? SMALL : WHOLE;
    if (block->kept <= GMC_CACHE_VIRTUAL_BYTES)
        return VIRTUAL; /* of one fragment */
    return block->kept <= sizes[VIRTUAL_SEVERAL].bytes ? VIRTUAL_SEVERAL : SMALL;
}

/* Where bodies of this size come from and go to. */
static struct gmc_pool *pool_of(struct gmc_cache *cache, enum body_size size)
{
    return size == WHOLE ? &cache->wholes : &cache->spares->bodies[size];
}

static void body_put(struct gmc_cache *cache, const struct gmc_block *block, uint8_t *body)
{
    enum body_size size = size_of(block);
    if (size != WHOLE)
        cache->bytes -= body_bytes(size);
    gmc_pool_put(pool_of(cache, size), body);
    cache->bodies_used--;
}

void gmc_cache_trim(struct gmc_cache *cache)
{
    cache->bytes -= cache->wholes.count * body_bytes(WHOLE);
    gmc_pool_trim(&cache->wholes);
    gmc_cache_spares_trim(&cache->own);
}

static void block_free(struct gmc_cache *cache, struct gmc_block *block)
{
    if (block->plain != NULL)
        body_put(cache, block, block->plain);
    if (block->cipher != NULL)
        body_put(cache, block, block->cipher);
    gmc_list_remove(&block->node);
    gmc_list_remove(&block->wait);
    gmc_map_remove(&cache->index, block_key(block->channel, block->number));
    if (cache->last == block)
        cache->last = NULL;
    gmc_pool_put(&cache->spares->blocks, block);
}

static void list_free(struct gmc_cache *cache, struct gmc_list *list)
{
    while (!gmc_list_is_empty(list))
        block_free(cache, GMC_CONTAINER_OF(list->next, struct gmc_block, node));
}

void gmc_cache_free(struct gmc_cache *cache)
{
    if (cache == NULL)
        return;
    list_free(cache, &cache->idle);
    list_free(cache, &cache->pinned);
    gmc_cache_trim(cache);
    gmc_map_fini(&cache->index);
    free(cache);
}

size_t gmc_cache_bodies(const struct gmc_cache *cache)
{
    return cache->bodies_max;
}

size_t gmc_cache_bytes_used(const struct gmc_cache *cache)
{
    return cache->bytes;
}

struct gmc_block *gmc_cache_find(struct gmc_cache *cache, uint32_t channel, uint32_t number)
{
    struct gmc_block *block = cache->last; /* it is looked for several times in a row */
    if (block == NULL || block->number != number || block->channel != channel)
        block = cache->last = gmc_map_get(&cache->index, block_key(channel, number));
    if (block != NULL && block->pins == 0) {
        gmc_list_remove(&block->node);
        gmc_list_push_back(&cache->idle, &block->node);
    }
    return block;
}

struct gmc_block *gmc_cache_add(struct gmc_cache *cache, uint32_t channel, uint32_t number,
                                uint32_t len, uint32_t kept, uint32_t fragments)
{
    GMC_ASSERT(kept == len ? len <= GMC_CACHE_BODY_BYTES
                           : kept < len && kept <= GMC_CACHE_SMALL_BYTES);
    GMC_ASSERT(fragments >= 1 && fragments <= GMC_FRAGMENTS_MAX);
    struct gmc_block *block = gmc_pool_get(&cache->spares->blocks);
    if (block == NULL)
        return NULL;
    memset(block, 0, sizeof(*block));
    block->channel = channel;
    block->number = number;
    block->len = len;
    block->kept = kept;
    block->fragments = (uint8_t)fragments;
    block->pins = 1;
    gmc_list_init(&block->wait);
    if (gmc_map_put(&cache->index, block_key(channel, number), block) != GMC_OK) {
        gmc_pool_put(&cache->spares->blocks, block);
        return NULL;
    }
    gmc_list_push_back(&cache->pinned, &block->node);
    cache->last = block;
    return block;
}

/* A whole body that is not in use makes room in the bound for one of another size. */
static void drop_whole(struct gmc_cache *cache)
{
    if (cache->wholes.count == 0 || cache->bodies_used + cache->wholes.count < cache->bodies_max)
        return;
    free(gmc_pool_get(&cache->wholes));
    cache->bytes -= body_bytes(WHOLE);
}

static uint8_t *body_get(struct gmc_cache *cache, const struct gmc_block *block)
{
    enum body_size size = size_of(block);
    if (cache->bodies_used >= cache->bodies_max) {
        if (gmc_list_is_empty(&cache->idle))
            return NULL;
        block_free(cache, GMC_CONTAINER_OF(cache->idle.next, struct gmc_block, node));
    }
    bool counted = size == WHOLE && cache->wholes.count > 0;
    if (!counted)
        drop_whole(cache);
    uint8_t *body = gmc_pool_get(pool_of(cache, size));
    if (body == NULL)
        return NULL;
    if (!counted)
        cache->bytes += body_bytes(size);
    cache->bodies_used++;
    return body;
}

gmc_status gmc_cache_give_plain(struct gmc_cache *cache, struct gmc_block *block)
{
    GMC_ASSERT(block->plain == NULL && block->pins > 0);
    block->plain = body_get(cache, block);
    return block->plain != NULL ? GMC_OK : GMC_ERR_FULL;
}

static void set_cipher(struct gmc_block *block, uint8_t *body)
{
    block->cipher = body;
    block->tags = (uint8_t(*)[GMC_SEAL_TAG_BYTES])(body + sizes[size_of(block)].bytes);
}

gmc_status gmc_cache_give_cipher(struct gmc_cache *cache, struct gmc_block *block)
{
    GMC_ASSERT(block->cipher == NULL && block->pins > 0);
    uint8_t *body = body_get(cache, block);
    if (body == NULL)
        return GMC_ERR_FULL;
    set_cipher(block, body);
    return GMC_OK;
}

gmc_status gmc_cache_plain_to_cipher(struct gmc_cache *cache, struct gmc_block *block)
{
    (void)cache;
    if (block->plain == NULL || block->cipher != NULL)
        return GMC_ERR_STATE;
    set_cipher(block, block->plain);
    block->plain = NULL;
    return GMC_OK;
}

void gmc_cache_drop_plain(struct gmc_cache *cache, struct gmc_block *block)
{
    if (block->plain == NULL)
        return;
    body_put(cache, block, block->plain);
    block->plain = NULL;
    block->received = 0;
}

void gmc_block_pin(struct gmc_cache *cache, struct gmc_block *block)
{
    if (block->pins++ == 0) {
        gmc_list_remove(&block->node);
        gmc_list_push_back(&cache->pinned, &block->node);
    }
}

void gmc_block_unpin(struct gmc_cache *cache, struct gmc_block *block)
{
    GMC_ASSERT(block->pins > 0);
    if (--block->pins > 0)
        return;
    if (block->plain == NULL && block->cipher == NULL) {
        block_free(cache, block);
        return;
    }
    gmc_list_remove(&block->node);
    gmc_list_push_back(&cache->idle, &block->node);
}

void gmc_cache_remove(struct gmc_cache *cache, struct gmc_block *block)
{
    GMC_ASSERT(block->pins == 1);
    block_free(cache, block);
}

static bool drop_from(struct gmc_cache *cache, struct gmc_list *list, uint32_t channel, bool idle)
{
    bool none = true;
    struct gmc_list *at = list->next;
    while (at != list) {
        struct gmc_block *block = GMC_CONTAINER_OF(at, struct gmc_block, node);
        at = at->next;
        if (block->channel != channel)
            continue;
        if (idle)
            block_free(cache, block);
        else
            none = false;
    }
    return none;
}

size_t gmc_cache_give_up(struct gmc_cache *cache, uint32_t channel,
                         bool (*give_up)(void *ctx, uint32_t number), void *ctx)
{
    size_t count = 0;
    struct gmc_list *at = cache->pinned.next;
    while (at != &cache->pinned) {
        struct gmc_block *block = GMC_CONTAINER_OF(at, struct gmc_block, node);
        at = at->next;
        if (block->channel != channel || block->state != GMC_BLOCK_RECEIVING ||
            !give_up(ctx, block->number))
            continue;
        count++;
        if (block->pins == 1) {
            block_free(cache, block);
        } else {
            block->pins--; /* it goes when what was lent of it comes back */
            block->state = GMC_BLOCK_UNCHECKED;
        }
    }
    return count;
}

struct gmc_block *gmc_cache_last_receiving(struct gmc_cache *cache, uint32_t channel,
                                           uint32_t above)
{
    struct gmc_block *last = NULL;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &cache->pinned)
    {
        struct gmc_block *block = GMC_CONTAINER_OF(node, struct gmc_block, node);
        if (block->channel == channel && block->state == GMC_BLOCK_RECEIVING && block->pins == 1 &&
            block->number > above && (last == NULL || block->number > last->number))
            last = block;
    }
    return last;
}

bool gmc_cache_drop_channel(struct gmc_cache *cache, uint32_t channel)
{
    drop_from(cache, &cache->idle, channel, true);
    return drop_from(cache, &cache->pinned, channel, false);
}

void gmc_cache_reset_channel(struct gmc_cache *cache, uint32_t channel)
{
    drop_from(cache, &cache->idle, channel, true);
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &cache->pinned)
    {
        struct gmc_block *block = GMC_CONTAINER_OF(node, struct gmc_block, node);
        if (block->channel == channel)
            block->sealed = 0;
    }
}
