/* SPDX-License-Identifier: BSD-2-Clause */
/* A short list, the last one that was used first. */
#include "interconnect/memo.h"

#include <string.h>

#include "base/assert.h"

static void drop_last(struct ic_memo *memo)
{
    struct ic_kept *last = &memo->kept[--memo->count];
    last->release(last->what);
}

void ic_memo_fini(struct ic_memo *memo)
{
    while (memo->count > 0)
        drop_last(memo);
}

static void put_first(struct ic_memo *memo, const struct ic_kept *kept, size_t place)
{
    memmove(&memo->kept[1], &memo->kept[0], place * sizeof(memo->kept[0]));
    memo->kept[0] = *kept;
}

static void *find(struct ic_memo *memo, const double *key, size_t length)
{
    for (size_t i = 0; i < memo->count; i++) {
        struct ic_kept kept = memo->kept[i];
        if (kept.key_length != length || memcmp(kept.key, key, length * sizeof(*key)) != 0)
            continue;
        put_first(memo, &kept, i);
        return kept.what;
    }
    return NULL;
}

/* Releases what there is no room for any more. */
static void keep(struct ic_memo *memo, const struct ic_kept *kept)
{
    size_t sum = kept->bytes;
    for (size_t i = 0; i < memo->count; i++)
        sum += memo->kept[i].bytes;
    while (memo->count > 0 && (memo->count == IC_MEMO_KEPT_MAX || sum > IC_MEMO_BYTES_MAX)) {
        sum -= memo->kept[memo->count - 1].bytes;
        drop_last(memo);
    }
    put_first(memo, kept, memo->count++);
}

gmc_status ic_memo_get(struct ic_memo *memo, const double *key, size_t length,
                       const struct ic_memo_maker *maker, void **what, char *error)
{
    struct ic_kept kept = {.key_length = length, .release = maker->release};
    GMC_ASSERT(length <= IC_MEMO_KEY_MAX);
    *what = find(memo, key, length);
    if (*what != NULL)
        return GMC_OK;
    gmc_status status = maker->make(maker->ctx, &kept.what, &kept.bytes, error);
    if (status != GMC_OK)
        return status;
    memcpy(kept.key, key, length * sizeof(*key));
    keep(memo, &kept);
    *what = kept.what;
    return GMC_OK;
}
