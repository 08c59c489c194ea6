/* SPDX-License-Identifier: BSD-2-Clause */
/* The hash pages that a simulated disk holds for a channel; see store.h.
 *
 * Where bodies are virtual, a page's hashes follow from the object: they are left out and computed
 * again when the page is read, so that those of a terabyte need no half gigabyte on every disk. */
#include <stdlib.h>
#include <string.h>

#include "core/cache.h"
#include "core/manifest.h"
#include "sim-wan/mem.h"
#include "sim-wan/store.h"

struct sim_page {
    uint8_t *bytes; /* NULL: never written */
    uint32_t len;
    uint32_t hashes; /* so many are left out behind the head */
    bool dirty;
};

/* The hashes of data blocks [first, first + count), at most a page's. */
static const uint8_t *hashes_of(struct sim_object *object, sim_store_hash hash, uint32_t first,
                                uint32_t count)
{
    uint64_t space = sim_object_space(object);
    struct sim_hashed *hashed = &object->hashed[first / GMC_PAGE_HASHES % SIM_HASHED_PAGES];
    if (hashed->first == first && hashed->count >= count)
        return hashed->hashes[0];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = ((uint64_t)first + i) * object->block_bytes;
        uint64_t left = offset < space ? space - offset : 0;
        uint32_t len = left < object->block_bytes ? (uint32_t)left : object->block_bytes;
        uint8_t body[GMC_CACHE_SMALL_BYTES];
        sim_object_fill(object, offset, body, gmc_virtual_kept(len));
        hash(body, gmc_virtual_kept(len), hashed->hashes[i]);
    }
    hashed->first = first;
    hashed->count = count;
    return hashed->hashes[0];
}

/* How many hashes follow the head and are those of the object; 0: they are not. */
static uint32_t hashes_that_follow(const struct sim_store *store, sim_store_hash hash,
                                   const uint8_t *page, size_t len)
{
    if (hash == NULL || len != GMC_PAGE_WIRE_BYTES)
        return 0;
    uint32_t count = gmc_get16(page + 12);
    if (count > GMC_PAGE_HASHES)
        return 0;
    const uint8_t *hashes = hashes_of(store->object, hash, gmc_get32(page + 8), count);
    size_t bytes = (size_t)count * GMC_HASH_BYTES;
    return memcmp(hashes, page + GMC_PAGE_HEAD_BYTES, bytes) == 0 ? count : 0;
}

static struct sim_page *page_at(struct sim_store *store, uint64_t index)
{
    if (index >= store->page_count) {
        size_t count = (size_t)index + 1 + store->page_count / 2;
        store->pages = sim_grow(store->pages, count, sizeof(*store->pages));
        memset(&store->pages[store->page_count], 0,
               (count - store->page_count) * sizeof(*store->pages));
        store->page_count = count;
    }
    return &store->pages[index];
}

void sim_store_write_page(struct sim_store *store, uint64_t index, const uint8_t *data, size_t len,
                          sim_store_hash hash)
{
    struct sim_page *page = page_at(store, index);
    size_t head = 0, from = 0;
    page->hashes = hashes_that_follow(store, hash, data, len);
    if (page->hashes > 0) {
        head = GMC_PAGE_HEAD_BYTES;
        from = head + (size_t)page->hashes * GMC_HASH_BYTES;
    }
    while (len > from && data[len - 1] == 0)
        len--; /* padding */
    page->len = (uint32_t)(head + len - from);
    page->bytes = sim_grow(page->bytes, page->len > 0 ? page->len : 1, 1);
    memcpy(page->bytes, data, head);
    memcpy(page->bytes + head, data + from, len - from);
    page->dirty = true;
}

bool sim_store_read_page(const struct sim_store *store, uint64_t index, uint8_t *out, size_t len,
                         sim_store_hash hash)
{
    if (index >= store->page_count || store->pages[index].bytes == NULL)
        return false;
    const struct sim_page *page = &store->pages[index];
    memset(out, 0, len);
    if (page->hashes == 0 || hash == NULL || len != GMC_PAGE_WIRE_BYTES) {
        memcpy(out, page->bytes, page->len < len ? page->len : len);
        return true;
    }
    size_t bytes = (size_t)page->hashes * GMC_HASH_BYTES;
    memcpy(out, page->bytes, GMC_PAGE_HEAD_BYTES);
    memcpy(out + GMC_PAGE_HEAD_BYTES,
           hashes_of(store->object, hash, gmc_get32(out + 8), page->hashes), bytes);
    memcpy(out + GMC_PAGE_HEAD_BYTES + bytes, page->bytes + GMC_PAGE_HEAD_BYTES,
           page->len - GMC_PAGE_HEAD_BYTES);
    return true;
}

void sim_store_free_pages(struct sim_store *store)
{
    for (size_t i = 0; i < store->page_count; i++)
        free(store->pages[i].bytes);
    free(store->pages);
    store->pages = NULL;
    store->page_count = 0;
}

void sim_store_sync_pages(struct sim_store *store)
{
    for (size_t i = 0; i < store->page_count; i++)
        store->pages[i].dirty = false;
}

/* One of: the write had reached the medium; it had not; half of it had. */
static void lose_page(struct sim_page *page, struct gmc_prng *prng)
{
    uint64_t fate = gmc_prng_below(prng, 3);
    if (fate == 1) {
        free(page->bytes);
        *page = (struct sim_page){0};
    } else if (fate == 2) {
        memset(page->bytes + page->len / 2, 0, page->len - page->len / 2);
        page->hashes = 0;
    }
}

void sim_store_lose_pages(struct sim_store *store, struct gmc_prng *prng)
{
    for (size_t i = 0; i < store->page_count; i++)
        if (store->pages[i].dirty && store->pages[i].bytes != NULL)
            lose_page(&store->pages[i], prng);
}
