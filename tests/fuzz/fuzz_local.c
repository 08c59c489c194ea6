/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzzes the frames of local publishers and subscribers: what is understood is written again as it
 * was, and no entry or text passes the frame. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "wire/local.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_rest(const struct gmc_local *local)
{
    struct gmc_bytes rest = local->rest;
    struct gmc_local_entry entry;
    struct gmc_local_piece piece;
    const char *text;
    size_t used = 0;
    if (local->kind == GMC_LOCAL_OPEN) {
        while (gmc_local_next_text(&rest, &text))
            used += strlen(text) + 1;
        GMC_ASSERT(used == local->rest.len && rest.len == 0);
    }
    while (local->kind == GMC_LOCAL_MESSAGES && gmc_local_next_entry(&rest, &entry))
        used += gmc_local_put_entry(&entry, NULL, 0);
    while (local->kind == GMC_LOCAL_PIECES && gmc_local_next_piece(&rest, &piece))
        used += GMC_LOCAL_PIECE_HEAD + piece.bytes.len;
    GMC_ASSERT(used + rest.len == local->rest.len || local->kind == GMC_LOCAL_PUBLISH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_local local;
    if (gmc_local_get(gmc_bytes(data, size), &local) != GMC_OK)
        return 0;
    uint8_t *again = malloc(size);
    GMC_ASSERT(again != NULL);
    GMC_ASSERT(gmc_local_put(&local, again, size) == size);
    GMC_ASSERT(memcmp(again, data, size) == 0);
    free(again);
    read_rest(&local);
    return 0;
}
