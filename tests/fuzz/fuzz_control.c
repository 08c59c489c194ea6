/* SPDX-License-Identifier: BSD-2-Clause */
/* Control messages: any bytes are refused or give a message inside its bounds, which encodes again
 * to bytes that decode and encode to the same. */
#include <string.h>

#include "base/assert.h"
#include "wire/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all that the message borrows, so that a wrong pointer or length is found. */
static size_t touch(const struct gmc_msg *msg)
{
    const struct gmc_bytes pieces[] = {msg->place.record, msg->place.signature, msg->place.member,
                                       msg->place.siblings, msg->payload};
    size_t sum = 0;

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        for (size_t j = 0; j < pieces[i].len; j++)
            sum += pieces[i].data[j];
    for (size_t i = 0; i < msg->name_count; i++)
        sum += strlen(msg->names[i]);
    for (size_t i = 0; i < msg->child_count; i++)
        sum += strlen(msg->children[i].domain);
    for (size_t i = 0; msg->secret != NULL && i < GMC_SECRET_BYTES; i++)
        sum += msg->secret[i];
    return sum + (msg->text != NULL ? strlen(msg->text) : 0);
}

static void check_ranges(const struct gmc_msg *msg)
{
    uint64_t next = 0;

    GMC_ASSERT(msg->range_count <= GMC_RANGES_MAX);
    for (size_t i = 0; i < msg->range_count; i++) {
        GMC_ASSERT(msg->ranges[i].first >= next && msg->ranges[i].last >= msg->ranges[i].first);
        GMC_ASSERT(msg->ranges[i].last <= UINT32_MAX);
        next = msg->ranges[i].last + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_msg first, second;
    struct gmc_msg_holder *holder, *again;
    uint8_t *bytes, *same;
    size_t len, same_len;

    if (gmc_msg_decode(gmc_bytes(data, size), &first, &holder) != GMC_OK)
        return 0;
    check_ranges(&first);
    GMC_ASSERT(gmc_msg_encode(&first, &bytes, &len) == GMC_OK);
    GMC_ASSERT(gmc_msg_decode(gmc_bytes(bytes, len), &second, &again) == GMC_OK);
    GMC_ASSERT(first.type == second.type && touch(&first) == touch(&second));
    GMC_ASSERT(gmc_msg_encode(&second, &same, &same_len) == GMC_OK);
    GMC_ASSERT(gmc_bytes_equal(gmc_bytes(bytes, len), gmc_bytes(same, same_len)));
    gmc_msg_bytes_free(same);
    gmc_msg_bytes_free(bytes);
    gmc_msg_release(again);
    gmc_msg_release(holder);
    return 0;
}
