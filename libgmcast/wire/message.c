/* SPDX-License-Identifier: BSD-2-Clause */
/* The head of a packet of a message channel: bytes <-> fields. */
#include "wire/message.h"

#include <string.h>

#define FLAG_FIRST 1u
#define FLAG_LAST 2u
#define FLAG_END 4u
#define PROOF 8u /* alone */

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

/* ---- proofs ---- */
bool gmc_proof_is(struct gmc_bytes packet)
{
    return packet.len > 0 && packet.data[0] == PROOF;
}

gmc_status gmc_proof_get(struct gmc_bytes packet, uint64_t number, struct gmc_proof *proof)
{
    if (!gmc_proof_is(packet))
        return GMC_ERR_INVALID;
    if (packet.len < GMC_MESSAGE_HEAD_BYTES + 2)
        return GMC_ERR_TRUNCATED;
    size_t at = GMC_MESSAGE_HEAD_BYTES + 2, len = gmc_get16(packet.data + GMC_MESSAGE_HEAD_BYTES);
    if (len < 1 || len > GMC_PROOF_SIGNATURE_MAX)
        return GMC_ERR_INVALID;
    if (packet.len - at <= len)
        return GMC_ERR_TRUNCATED;
    size_t hashes = packet.len - at - len;
    *proof = (struct gmc_proof){.first = gmc_get64(packet.data + 1),
                                .count = (uint32_t)(hashes / GMC_PROOF_HASH_BYTES),
                                .signature = gmc_bytes(packet.data + at, len),
                                .hashes = gmc_bytes(packet.data + at + len, hashes)};
    if (hashes % GMC_PROOF_HASH_BYTES != 0 || proof->first > number ||
        number - proof->first < proof->count)
        return GMC_ERR_INVALID;
    return GMC_OK;
}

size_t gmc_proof_put(uint8_t *out, const struct gmc_proof *proof)
{
    size_t at = GMC_MESSAGE_HEAD_BYTES + 2;
    out[0] = PROOF;
    gmc_put64(out + 1, proof->first);
    gmc_put16(out + GMC_MESSAGE_HEAD_BYTES, (uint16_t)proof->signature.len);
    memcpy(out + at, proof->signature.data, proof->signature.len);
    at += proof->signature.len;
    memcpy(out + at, proof->hashes.data, proof->hashes.len);
    return at + proof->hashes.len;
}

size_t gmc_proof_signed(uint8_t *out, uint64_t e, uint32_t epoch, uint64_t number,
                        const struct gmc_proof *proof)
{
    static const char label[24] = "gmcast message packets";
    memcpy(out, label, sizeof(label));
    gmc_put64(out + 24, e);
    gmc_put32(out + 32, epoch);
    gmc_put64(out + 36, number);
    gmc_put64(out + 44, proof->first);
    memcpy(out + GMC_PROOF_SIGNED_HEAD, proof->hashes.data, proof->hashes.len);
    return GMC_PROOF_SIGNED_HEAD + proof->hashes.len;
}
