/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzzes putting messages together: the first byte says in which order, then each packet is a step
 * forward or back of its number, a length, and its bytes; a step of 0x80 skips to there, one of
 * 0x81 drops what waits for its proof. Sequences of an ordered channel only grow, no message is
 * longer than may be, memory is not passed. */
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

static void hash(const uint8_t *data, size_t len, uint8_t out[32])
{
    memset(out, len > 0 ? data[len - 1] : 0, 32);
}

static void put(struct gmc_message_rx *rx, uint64_t number, struct gmc_bytes packet, bool is_own)
{
    struct gmc_proof proof;
    if (gmc_proof_is(packet)) {
        gmc_status status = gmc_proof_get(packet, number, &proof);
        gmc_message_rx_pass(rx, number);
        if (status == GMC_OK)
            status = gmc_message_rx_prove(rx, &proof);
        GMC_ASSERT(status != GMC_OK || proof.count > 0);
        return;
    }
    gmc_status status = gmc_message_rx_put(rx, number, packet.len, is_own);
    GMC_ASSERT(status == GMC_OK || status == GMC_ERR_INVALID || status == GMC_ERR_TRUNCATED ||
               status == GMC_ERR_AUTH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_message_rx rx;
    uint64_t number = 1000;
    if (size == 0)
        return 0;
    last = 0;
    gmc_message_rx_init(&rx, (enum gmc_message_order)(data[0] % 3), GMC_MESSAGE_PACKET_MIN, hash);
    gmc_message_rx_skip(&rx, number);
    for (size_t at = 1; at + 2 < size;) {
        uint8_t step = data[at], *room;
        size_t len = data[at + 1] < size - at - 2 ? data[at + 1] : size - at - 2;
        number += step < 0x80 ? step : (uint64_t)(int64_t)(int8_t)step;
        if (step == 0x80) {
            number += (uint64_t)data[at + 1] * 64 + 128;
            gmc_message_rx_skip(&rx, number);
            len = 0;
        } else if (step == 0x81) {
            gmc_message_rx_drop_unproven(&rx);
            len = 0;
        } else if (gmc_message_rx_room(&rx, number, &room) == GMC_OK) {
            memcpy(room, data + at + 2, len);
            put(&rx, number, gmc_bytes(room, len), step % 3 != 0);
        }
        take(&rx);
        at += 2 + len;
    }
    gmc_message_rx_fini(&rx);
    return 0;
}
