/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of messages of a fabric: whoever reaches the endpoint can send them. What is
 * taken lies within the message, and written again gives the same bytes. */
#include <string.h>

#include "base/assert.h"
#include "fabric/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t again[70000];
    struct gmc_reader reader;
    struct gmc_bytes datagram;
    uint64_t id;
    gmc_time begun;
    if (size > sizeof again ||
        fab_batch_open(gmc_bytes(data, size), &id, &begun, &reader) != GMC_OK)
        return 0;
    size_t len = fab_batch_begin(again, id, begun);
    while (fab_batch_next(&reader, &datagram)) {
        GMC_ASSERT(datagram.len > 0 && datagram.data >= data &&
                   datagram.data + datagram.len <= data + size);
        len = fab_batch_add(again, len, &datagram, 1);
    }
    GMC_ASSERT(len <= size && memcmp(again, data, len) == 0);
    GMC_ASSERT(!fab_batch_is_whole(&reader) || len == size);
    return 0;
}
