/* SPDX-License-Identifier: BSD-2-Clause */
/* The head of a packet of a message channel: bytes <-> fields. */
#include "wire/message.h"

#define FLAG_FIRST 1u
#define FLAG_LAST 2u
#define FLAG_END 4u

gmc_status gmc_message_head_get(struct gmc_bytes packet, struct gmc_message_head *head)
{
    if (packet.len < GMC_MESSAGE_HEAD_BYTES)
        return GMC_ERR_TRUNCATED;
    uint8_t flags = packet.data[0];
    if (flags > (FLAG_FIRST | FLAG_LAST | FLAG_END) ||
        ((flags & FLAG_END) != 0 && flags != (FLAG_FIRST | FLAG_LAST | FLAG_END)))
        return GMC_ERR_INVALID;
    head->first = (flags & FLAG_FIRST) != 0;
    head->last = (flags & FLAG_LAST) != 0;
    head->end = (flags & FLAG_END) != 0;
    head->sequence = gmc_get64(packet.data + 1);
    return GMC_OK;
}

void gmc_message_head_put(uint8_t out[GMC_MESSAGE_HEAD_BYTES], const struct gmc_message_head *head)
{
    out[0] = (uint8_t)((head->first ? FLAG_FIRST : 0) | (head->last ? FLAG_LAST : 0) |
                       (head->end ? FLAG_END : 0));
    gmc_put64(out + 1, head->sequence);
}
