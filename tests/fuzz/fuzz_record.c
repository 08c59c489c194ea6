/* SPDX-License-Identifier: BSD-2-Clause */
/* Channel records and members of them: any bytes are refused or give something inside its bounds,
 * which encodes again to bytes that decode and encode to the same. */
#include <string.h>

#include "base/assert.h"
#include "wire/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void a_record(struct gmc_bytes input)
{
    struct gmc_record first, second;
    struct gmc_record_holder *holder, *again;
    uint8_t *bytes, *same;
    size_t len, same_len;

    if (gmc_record_decode(input, &first, &holder) != GMC_OK)
        return;
    GMC_ASSERT(first.members < GMC_MEMBERS_MAX && first.stripes >= 1 &&
               first.stripes <= GMC_STRIPES_MAX);
    GMC_ASSERT(strlen(first.source) <= GMC_NAME_MAX && first.source[0] != 0);
    GMC_ASSERT(gmc_record_encode(&first, &bytes, &len) == GMC_OK);
    GMC_ASSERT(gmc_record_decode(gmc_bytes(bytes, len), &second, &again) == GMC_OK);
    GMC_ASSERT(gmc_record_encode(&second, &same, &same_len) == GMC_OK);
    GMC_ASSERT(gmc_bytes_equal(gmc_bytes(bytes, len), gmc_bytes(same, same_len)));
    gmc_msg_bytes_free(same);
    gmc_msg_bytes_free(bytes);
    gmc_record_release(again);
    gmc_record_release(holder);
}

static void check_trees(const struct gmc_member *member)
{
    GMC_ASSERT(member->stripes >= 1 && member->stripes <= GMC_STRIPES_MAX);
    for (uint32_t k = 0; k < member->stripes; k++) {
        GMC_ASSERT(member->trees[k].count <= GMC_ANCESTORS_MAX);
        for (size_t i = 0; i < member->trees[k].count; i++)
            GMC_ASSERT(strcmp(member->trees[k].domains[i], member->domain) != 0);
    }
}

static void a_member(struct gmc_bytes input)
{
    struct gmc_member first, second;
    struct gmc_record_holder *holder, *again;
    uint8_t *bytes, *same;
    size_t len, same_len;

    if (gmc_member_decode(input, &first, &holder) != GMC_OK)
        return;
    GMC_ASSERT(strlen(first.domain) <= GMC_NAME_MAX && first.domain[0] != 0);
    GMC_ASSERT(strlen(first.path) <= GMC_RECORD_PATH_MAX);
    check_trees(&first);
    GMC_ASSERT(gmc_member_encode(&first, &bytes, &len) == GMC_OK);
    GMC_ASSERT(gmc_member_decode(gmc_bytes(bytes, len), &second, &again) == GMC_OK);
    GMC_ASSERT(gmc_member_encode(&second, &same, &same_len) == GMC_OK);
    GMC_ASSERT(gmc_bytes_equal(gmc_bytes(bytes, len), gmc_bytes(same, same_len)));
    gmc_msg_bytes_free(same);
    gmc_msg_bytes_free(bytes);
    gmc_record_release(again);
    gmc_record_release(holder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    a_record(gmc_bytes(data, size));
    a_member(gmc_bytes(data, size));
    return 0;
}
