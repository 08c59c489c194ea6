/* SPDX-License-Identifier: BSD-2-Clause */
/* The fixed head of link datagrams and the probe echo: bytes <-> fields. */
#include "wire/head.h"

#include <string.h>

#define VERSION_SHIFT 6
#define KIND_MASK 0x3f

gmc_status gmc_head_kind(struct gmc_bytes dgram, uint8_t *kind)
{
    if (dgram.len == 0)
        return GMC_ERR_TRUNCATED;
    if (dgram.data[0] >> VERSION_SHIFT != GMC_WIRE_VERSION)
        return GMC_ERR_VERSION;
    *kind = dgram.data[0] & KIND_MASK;
    return GMC_OK;
}

gmc_status gmc_head_get(struct gmc_bytes dgram, struct gmc_head *head)
{
    uint8_t kind;

    if (dgram.len < GMC_HEAD_BYTES)
        return GMC_ERR_TRUNCATED;
    gmc_status status = gmc_head_kind(dgram, &kind);
    if (status != GMC_OK)
        return status;
    head->kind = kind;
    head->session = gmc_get32(dgram.data + 1);
    head->packet = gmc_get32(dgram.data + 5);
    return GMC_OK;
}

/* The first byte of a datagram of this kind; enum gmc_kind keeps to the low 6 bits. */
static uint8_t first_byte(uint8_t kind)
{
    return (uint8_t)(GMC_WIRE_VERSION << VERSION_SHIFT | (kind & KIND_MASK));
}

void gmc_head_put(uint8_t out[GMC_HEAD_BYTES], const struct gmc_head *head)
{
    out[0] = first_byte(head->kind);
    gmc_put32(out + 1, head->session);
    gmc_put32(out + 5, head->packet);
}

gmc_status gmc_data_head_get(struct gmc_bytes dgram, struct gmc_data_head *head)
{
    if (dgram.len < GMC_DATA_OVERHEAD_BYTES)
        return GMC_ERR_TRUNCATED;
    head->handle = gmc_get16(dgram.data + 9);
    head->block = gmc_get32(dgram.data + 11);
    head->fragment = gmc_get16(dgram.data + 15);
    return GMC_OK;
}

void gmc_data_head_put(uint8_t out[GMC_DATA_HEAD_BYTES], const struct gmc_data_head *head)
{
    gmc_put16(out + 9, head->handle);
    gmc_put32(out + 11, head->block);
    gmc_put16(out + 15, head->fragment);
}

gmc_status gmc_echo_get(struct gmc_bytes dgram, struct gmc_echo *echo)
{
    uint8_t kind;

    if (dgram.len < GMC_ECHO_BYTES)
        return GMC_ERR_TRUNCATED;
    gmc_status status = gmc_head_kind(dgram, &kind);
    if (status != GMC_OK)
        return status;
    if (kind < GMC_KIND_ECHO || kind > GMC_KIND_TRAIN_SEEN)
        return GMC_ERR_TYPE;
    echo->kind = kind;
    echo->probe = gmc_get64(dgram.data + 1);
    echo->from = gmc_get16(dgram.data + 9);
    echo->to = gmc_get16(dgram.data + 11);
    echo->sample = gmc_get16(dgram.data + 13);
    echo->time = gmc_get64(dgram.data + 15);
    return GMC_OK;
}

void gmc_echo_put(uint8_t out[GMC_ECHO_BYTES], const struct gmc_echo *echo)
{
    memset(out + 31, 0, GMC_ECHO_BYTES - 31);
    out[0] = first_byte(echo->kind);
    gmc_put64(out + 1, echo->probe);
    gmc_put16(out + 9, echo->from);
    gmc_put16(out + 11, echo->to);
    gmc_put16(out + 13, echo->sample);
    gmc_put64(out + 15, echo->time);
}

uint64_t gmc_packet_expand(uint64_t expected, uint32_t low)
{
    const uint64_t span = UINT64_C(1) << 32;
    const uint64_t half = span / 2;
    uint64_t candidate = (expected & ~(span - 1)) | low;

    if (candidate + half <= expected && candidate <= UINT64_MAX - span)
        return candidate + span;
    if (candidate > expected && candidate - expected > half && candidate >= span)
        return candidate - span;
    return candidate;
}
