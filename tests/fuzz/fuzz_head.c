/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzzes the codecs of the wire's fixed heads and of acknowledgements: what is read must come out
 * of the writer as it came in. */
#include <string.h>

#include "base/assert.h"
#include "core/ackrange.h"
#include "wire/group.h"
#include "wire/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_head(struct gmc_bytes bytes)
{
    uint8_t out[GMC_HEAD_BYTES];
    struct gmc_head head;
    uint8_t kind = 0xff;
    gmc_status kind_status = gmc_head_kind(bytes, &kind);

    if (gmc_head_get(bytes, &head) != GMC_OK)
        return;
    GMC_ASSERT(kind_status == GMC_OK && kind == head.kind);
    gmc_head_put(out, &head);
    GMC_ASSERT(memcmp(out, bytes.data, sizeof out) == 0);
}

static void check_data_head(struct gmc_bytes bytes)
{
    uint8_t out[GMC_DATA_HEAD_BYTES];
    struct gmc_data_head head;

    if (gmc_data_head_get(bytes, &head) != GMC_OK)
        return;
    memcpy(out, bytes.data, sizeof out);
    gmc_data_head_put(out, &head);
    GMC_ASSERT(memcmp(out, bytes.data, sizeof out) == 0);
}

static void check_echo(struct gmc_bytes bytes)
{
    uint8_t out[GMC_ECHO_BYTES];
    struct gmc_echo echo;

    if (gmc_echo_get(bytes, &echo) != GMC_OK)
        return;
    gmc_echo_put(out, &echo);
    GMC_ASSERT(memcmp(out, bytes.data, 23) == 0);
}

static void check_ack(struct gmc_bytes bytes)
{
    uint8_t out[GMC_ACK_BYTES_MAX * 4];
    struct gmc_ack ack, back;

    if (gmc_ack_get(bytes, &ack) != GMC_OK)
        return;
    GMC_ASSERT(ack.count >= 1 && ack.ranges[0].last == ack.largest);
    for (size_t i = 0; i < ack.count; i++) {
        GMC_ASSERT(ack.ranges[i].first <= ack.ranges[i].last);
        GMC_ASSERT(i == 0 || ack.ranges[i].last + 1 < ack.ranges[i - 1].first);
    }
    size_t len = gmc_ack_put(&ack, out, sizeof out);
    GMC_ASSERT(gmc_ack_get(gmc_bytes(out, len), &back) == GMC_OK);
    GMC_ASSERT(back.largest == ack.largest && back.arrival_ns == ack.arrival_ns);
    /* Numbers that do not fit a window of the real size may be left out for want of room. */
    GMC_ASSERT(back.count <= ack.count);
    GMC_ASSERT(memcmp(back.ranges, ack.ranges, back.count * sizeof back.ranges[0]) == 0);
}

static void check_group_state(struct gmc_bytes bytes)
{
    uint8_t out[GMC_GROUP_STATE_BYTES_MAX];
    struct gmc_group_state state;

    if (gmc_group_state_get(bytes, &state) != GMC_OK)
        return;
    GMC_ASSERT(gmc_group_state_put(&state, out) == bytes.len);
    GMC_ASSERT(memcmp(out, bytes.data, bytes.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gmc_bytes bytes = {data, size};

    check_head(bytes);
    check_data_head(bytes);
    check_echo(bytes);
    check_ack(bytes);
    check_group_state(bytes);
    if (size >= 12) {
        uint64_t expected = gmc_get64(data);
        uint32_t low = gmc_get32(data + 8);
        GMC_ASSERT((uint32_t)gmc_packet_expand(expected, low) == low);
    }
    return 0;
}
