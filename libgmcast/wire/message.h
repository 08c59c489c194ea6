/* SPDX-License-Identifier: BSD-2-Clause */
/* The head of a packet of a message channel, inside the content seal: bytes <-> fields.
 *
 *   0      flags     1: the message begins here; 2: it ends here; 4: it is the channel's last one,
 *                    whose body says in words why there are no more
 *   1..8   sequence  number of the message in the channel's epoch, from 0
 *   9..    a piece of the message
 *
 * Packets of a channel are numbered from 0, and those of a message follow each other. The number
 * has 48 bits; on the wire it stands in the place of block (its upper 32 bits) and fragment.
 */
#ifndef GMC_WIRE_MESSAGE_H
#define GMC_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define GMC_MESSAGE_HEAD_BYTES 9u
#define GMC_MESSAGE_BYTES_MAX (1u << 20) /* of one message */
#define GMC_MESSAGE_NUMBER_BITS 48

struct gmc_message_head {
    bool first, last, end;
    uint64_t sequence;
};

/* TRUNCATED; INVALID: flags that this version does not know, or an end of more than one packet. */
GMC_NODISCARD gmc_status gmc_message_head_get(struct gmc_bytes packet,
                                              struct gmc_message_head *head);
void gmc_message_head_put(uint8_t out[GMC_MESSAGE_HEAD_BYTES], const struct gmc_message_head *head);

static inline uint64_t gmc_message_number(uint32_t block, uint16_t fragment)
{
    return (uint64_t)block << 16 | fragment;
}

#endif
