/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of what gateway and node say to each other about their group: what is taken is
 * within its bounds, and written again gives the same bytes.
 */
#include <string.h>

#include "base/assert.h"
#include "gatewayd/group_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gwd_group_test test;
    uint8_t again[GWD_GROUP_TEST_MAX];

    if (!gwd_group_test_get(gmc_bytes(data, size), &test))
        return 0;
    GMC_ASSERT(strlen(test.text) <= GWD_GROUP_TEXT_MAX);
    GMC_ASSERT(gwd_group_test_put(&test, again) == size && memcmp(again, data, size) == 0);
    return 0;
}
