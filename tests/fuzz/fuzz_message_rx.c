/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzzes putting messages together: the first byte says in which order, then each packet is a step
 * forward or back of its number, a length, and its bytes; a step of 0x80 skips to there. Sequences
 * of an ordered channel only grow, no message is longer than may be, memory is not passed. */
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "core/message_rx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t last;
static volatile uint8_t sum; /* so that all bytes are read */

static void take(struct gmc_message_rx *rx)
{
    struct gmc_message message;
    while (gmc_message_rx_next(rx, &message)) {
        GMC_ASSERT(message.body.len <= GMC_MESSAGE_BYTES_MAX);
        GMC_ASSERT(rx->order == GMC_MESSAGES_UNORDERED || message.sequence + 1 > last);
        last = message.sequence + 1;
        for (size_t i = 0; i < message.body.len; i++)
            sum = sum ^ message.body.data[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_message_rx rx;
    uint64_t number = 1000;
    if (size == 0)
        return 0;
    last = 0;
    gmc_message_rx_init(&rx, (enum gmc_message_order)(data[0] % 3), GMC_MESSAGE_PACKET_MIN);
    gmc_message_rx_skip(&rx, number);
    for (size_t at = 1; at + 2 < size;) {
        uint8_t step = data[at], *room;
        size_t len = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;
        number += step < 0x80 ? step : (uint64_t)(int64_t)(int8_t)step;
        if (step == 0x80) {
            number += (uint64_t)data[at + 1] * 64 + 128;
            gmc_message_rx_skip(&rx, number);
            len = 0;
        } else if (gmc_message_rx_room(&rx, number, &room) == GMC_OK) {
            memcpy(room, data + at + 2, len);
            gmc_status status = gmc_message_rx_put(&rx, number, len);
            GMC_ASSERT(status == GMC_OK || status == GMC_ERR_INVALID ||
                       status == GMC_ERR_TRUNCATED);
        }
        take(&rx);
        at += 2 + len;
    }
    gmc_message_rx_fini(&rx);
    return 0;
}
