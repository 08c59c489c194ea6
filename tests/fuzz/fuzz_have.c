/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzzes the reading of checkpoints: the input is what stands between the version and the checksum,
 * which is made right, so that the engine gets behind it; as it is, it is read too. What is taken
 * must be written again as it was, and lie in the block space. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "core/have.h"
#include "tests/unit/toy_crypto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct toy_ctx toy;
static const struct gmc_crypto crypto = {&toy_crypto_ops, &toy};

static void read_and_write(const uint8_t *bytes, size_t len, uint64_t blocks)
{
    struct gmc_interval_set set;
    uint64_t horizon;

    gmc_interval_init(&set, 1024);
    if (gmc_have_load(gmc_bytes(bytes, len), blocks, &crypto, &set, &horizon) == GMC_OK) {
        size_t ranges = gmc_interval_ranges(&set), again_len;
        uint8_t *again;

        GMC_ASSERT(ranges == 0 || gmc_interval_range_at(&set, ranges - 1).hi <= blocks);
        GMC_ASSERT(gmc_have_save(&set, blocks, horizon, &crypto, &again, &again_len) == GMC_OK);
        GMC_ASSERT(again_len == len && memcmp(again, bytes, len) == 0);
        free(again);
    }
    gmc_interval_fini(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[6] = {'g', 'm', 'c', 'h', 0, 1};
    size_t len = sizeof(head) + size;
    uint8_t *bytes = malloc(len + GMC_HASH_BYTES);

    GMC_ASSERT(bytes != NULL);
    memcpy(bytes, head, sizeof(head));
    if (size > 0)
        memcpy(bytes + sizeof(head), data, size);
    toy_hash(bytes, len, bytes + len);
    read_and_write(bytes, len + GMC_HASH_BYTES, size >= 10 ? gmc_get64(data + 2) : 100);
    read_and_write(data, size, 100);
    free(bytes);
    return 0;
}
