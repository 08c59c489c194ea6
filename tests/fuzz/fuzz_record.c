/* SPDX-License-Identifier: BSD-2-Clause */
/* Channel records: any bytes are refused or give a record inside its bounds, which encodes again to
 * bytes that decode and encode to the same. */
#include <string.h>

#include "base/assert.h"
#include "wire/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_members(const struct gmc_record *record)
{
    GMC_ASSERT(record->member_count >= 1 && record->member_count <= GMC_MEMBERS_MAX);
    GMC_ASSERT(strcmp(record->members[0].domain, record->source) == 0);
    for (size_t i = 0; i < record->member_count; i++) {
        const struct gmc_record_member *member = &record->members[i];

        GMC_ASSERT(strlen(member->domain) <= GMC_NAME_MAX && member->domain[0] != 0);
        GMC_ASSERT(strlen(member->path) <= GMC_RECORD_PATH_MAX);
        GMC_ASSERT(i == 0 ? member->parent == -1
                          : member->parent >= 0 && (size_t)member->parent < record->member_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_record first, second;
    struct gmc_record_holder *holder, *again;
    uint8_t *bytes, *same;
    size_t len, same_len;

    if (gmc_record_decode(gmc_bytes(data, size), &first, &holder) != GMC_OK)
        return 0;
    check_members(&first);
    GMC_ASSERT(gmc_record_encode(&first, &bytes, &len) == GMC_OK);
    GMC_ASSERT(gmc_record_decode(gmc_bytes(bytes, len), &second, &again) == GMC_OK);
    GMC_ASSERT(first.member_count == second.member_count && first.e == second.e);
    GMC_ASSERT(gmc_record_encode(&second, &same, &same_len) == GMC_OK);
    GMC_ASSERT(gmc_bytes_equal(gmc_bytes(bytes, len), gmc_bytes(same, same_len)));
    gmc_msg_bytes_free(same);
    gmc_msg_bytes_free(bytes);
    gmc_record_release(again);
    gmc_record_release(holder);
    return 0;
}
