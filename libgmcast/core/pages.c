/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash pages in memory: see pages.h. */
#include "core/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/list.h"

struct kept {
    struct gmc_page page;
    uint64_t key;
    size_t times;
};

void gmc_pages_init(struct gmc_pages *pages)
{
    gmc_map_init(&pages->kept, 0);
}

void gmc_pages_fini(struct gmc_pages *pages)
{
    GMC_ASSERT(gmc_map_count(&pages->kept) == 0);
    gmc_map_fini(&pages->kept);
}

static bool is_equal(const struct gmc_page *a, const struct gmc_page *b)
{
    return a->index == b->index && a->first == b->first && a->count == b->count &&
           memcmp(a->digest, b->digest, GMC_HASH_BYTES) == 0 &&
           memcmp(a->before, b->before, GMC_HASH_BYTES) == 0 &&
           memcmp(a->hashes, b->hashes, (size_t)a->count * GMC_HASH_BYTES) == 0;
}

/* Others of the same first bytes take the next keys; one that is behind a gap is not found, and the
 * equal ones are two then. */
const struct gmc_page *gmc_pages_keep(struct gmc_pages *pages, const struct gmc_page *page)
{
    uint64_t key = gmc_get64(page->digest);
    struct kept *kept;
    while ((kept = gmc_map_get(&pages->kept, key)) != NULL && !is_equal(&kept->page, page))
        key++;
    if (kept == NULL) {
        kept = malloc(sizeof(*kept));
        if (kept == NULL || gmc_map_put(&pages->kept, key, kept) != GMC_OK) {
            free(kept);
            return NULL;
        }
        kept->page = *page;
        kept->key = key;
        kept->times = 0;
    }
    kept->times++;
    return &kept->page;
}

void gmc_pages_drop(struct gmc_pages *pages, const struct gmc_page *page)
{
    if (page == NULL)
        return;
    struct kept *kept = GMC_CONTAINER_OF(page, struct kept, page);
    if (--kept->times > 0)
        return;
    gmc_map_remove(&pages->kept, kept->key);
    free(kept);
}
