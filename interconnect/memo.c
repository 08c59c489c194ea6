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

void *ic_memo_find(struct ic_memo *memo, const double *key, size_t length)
{
    GMC_ASSERT(length <= IC_MEMO_KEY_MAX);
    for (size_t i = 0; i < memo->count; i++) {
        struct ic_kept kept = memo->kept[i];
        if (kept.key_length != length || memcmp(kept.key, key, length * sizeof(*key)) != 0)
            continue;
        put_first(memo, &kept, i);
        return kept.what;
    }
    return NULL;
}

void ic_memo_keep(struct ic_memo *memo, const double *key, size_t length, void *what, size_t bytes,
                  void (*release)(void *what))
{
    struct ic_kept kept = {.key_length = length, .bytes = bytes, .what = what, .release = release};
    size_t sum = bytes;
    GMC_ASSERT(length <= IC_MEMO_KEY_MAX);
    memcpy(kept.key, key, length * sizeof(*key));
    for (size_t i = 0; i < memo->count; i++)
        sum += memo->kept[i].bytes;
    while (memo->count > 0 && (memo->count == IC_MEMO_KEPT_MAX || sum > IC_MEMO_BYTES_MAX)) {
        sum -= memo->kept[memo->count - 1].bytes;
        drop_last(memo);
    }
    put_first(memo, &kept, memo->count++);
}
