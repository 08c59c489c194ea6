/* SPDX-License-Identifier: BSD-2-Clause */
/* The gate of one session: keys, replay window, sealing and opening. */
#include "core/gate.h"

#include <string.h>

#include "core/manifest.h"

/* What the link tag of a data datagram covers of its head. */
#define TAGGED_BYTES (GMC_DATA_HEAD_BYTES - GMC_LINK_TAG_BYTES)

_Static_assert(GMC_LINK_TAG_BYTES == 8, "a link tag is compared as one word");

static gmc_status make_key(const struct gmc_crypto *crypto, const uint8_t secret[GMC_KEY_BYTES],
                           const char *label, struct gmc_aead **aead)
{
    uint8_t key[GMC_KEY_BYTES];
    gmc_status status =
        crypto->ops->derive(secret, label, (struct gmc_bytes){NULL, 0}, key, sizeof key);
    if (status != GMC_OK)
        return status;
    *aead = crypto->ops->aead_new(crypto->ctx, key);
    memset(key, 0, sizeof key);
    return *aead != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

gmc_status gmc_gate_init(struct gmc_gate *gate, const struct gmc_crypto *crypto,
                         const struct gmc_session *session)
{
    memset(gate, 0, sizeof *gate);
    gate->crypto = crypto;
    gate->local_id = session->local_id;
    gate->remote_id = session->remote_id;
    gmc_replay_init(&gate->replay);

    gmc_status status = make_key(crypto, session->send_secret, "gmcast seal", &gate->seal_send);
    if (status == GMC_OK)
        status = make_key(crypto, session->send_secret, "gmcast tag", &gate->tag_send);
    if (status == GMC_OK)
        status = make_key(crypto, session->recv_secret, "gmcast seal", &gate->seal_recv);
    if (status == GMC_OK)
        status = make_key(crypto, session->recv_secret, "gmcast tag", &gate->tag_recv);
    if (status != GMC_OK)
        gmc_gate_fini(gate);
    return status;
}

static void drop_key(const struct gmc_gate *gate, struct gmc_aead **aead)
{
    if (*aead != NULL)
        gate->crypto->ops->aead_free(*aead);
    *aead = NULL;
}

void gmc_gate_fini(struct gmc_gate *gate)
{
    drop_key(gate, &gate->seal_send);
    drop_key(gate, &gate->tag_send);
    drop_key(gate, &gate->seal_recv);
    drop_key(gate, &gate->tag_recv);
}

void gmc_gate_near(const struct gmc_gate *gate, struct gmc_near *near)
{
    const struct gmc_aead *const keys[] = {gate->seal_send, gate->seal_recv, gate->tag_send,
                                           gate->tag_recv};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        gmc_near_add(near, keys[i], GMC_NEAR_LINE);
}

static void make_nonce(uint64_t number, uint8_t nonce[GMC_NONCE_BYTES])
{
    gmc_put32(nonce, 0);
    gmc_put64(nonce + 4, number);
}

static gmc_status open_data(struct gmc_gate *gate, struct gmc_bytes dgram,
                            const uint8_t nonce[GMC_NONCE_BYTES], bool is_repair,
                            struct gmc_bytes *content)
{
    struct gmc_bytes head = {dgram.data, TAGGED_BYTES};
    /* A fragment's seal tag stands for its body; parity has no seal of its own. */
    size_t covered = is_repair ? dgram.len - GMC_DATA_HEAD_BYTES : GMC_SEAL_TAG_BYTES;
    struct gmc_bytes rest = {dgram.data + dgram.len - covered, covered};
    uint8_t tag[GMC_LINK_TAG_BYTES];

    gmc_status status = gate->crypto->ops->tag(gate->tag_recv, nonce, head, rest, tag);
    if (status != GMC_OK)
        return status;
    /* As one word, so in constant time: the tag is an authenticator. */
    if (gmc_get64(tag) != gmc_get64(dgram.data + TAGGED_BYTES))
        return GMC_ERR_AUTH;
    content->data = dgram.data + GMC_DATA_HEAD_BYTES;
    content->len = dgram.len - GMC_DATA_OVERHEAD_BYTES;
    return GMC_OK;
}

size_t gmc_gate_kept(const struct gmc_gate *gate, uint8_t kind, size_t len)
{
    if (!gate->virtual_padding || kind != GMC_KIND_CHALLENGE)
        return len;
    return gmc_virtual_kept((uint32_t)len);
}

static gmc_status open_sealed(struct gmc_gate *gate, uint8_t kind, struct gmc_bytes dgram,
                              const uint8_t nonce[GMC_NONCE_BYTES], uint8_t *plain,
                              struct gmc_bytes *content)
{
    struct gmc_bytes head = {dgram.data, GMC_HEAD_BYTES};
    size_t len = dgram.len - GMC_GATE_OVERHEAD;
    const uint8_t *sealed = dgram.data + GMC_HEAD_BYTES;

    gmc_status status =
        gate->crypto->ops->open(gate->seal_recv, nonce, head, sealed,
                                gmc_gate_kept(gate, kind, len), plain, sealed + len);
    if (status != GMC_OK)
        return status;
    content->data = plain;
    content->len = len;
    return GMC_OK;
}

gmc_status gmc_gate_open(struct gmc_gate *gate, struct gmc_bytes dgram, uint8_t *plain,
                         struct gmc_gate_packet *packet)
{
    struct gmc_head head;
    struct gmc_bytes content;
    uint8_t nonce[GMC_NONCE_BYTES];

    gmc_status status = gmc_head_get(dgram, &head);
    if (status != GMC_OK)
        return status;
    bool is_repair = head.kind == GMC_KIND_GROUP_REPAIR;
    bool is_data = head.kind == GMC_KIND_DATA || head.kind == GMC_KIND_GROUP_DATA || is_repair;
    if (head.kind < GMC_KIND_DATA || head.kind > GMC_KIND_GROUP_STATE)
        return GMC_ERR_TYPE;
    if (dgram.len < (is_data ? GMC_DATA_OVERHEAD_BYTES : GMC_GATE_OVERHEAD))
        return GMC_ERR_TRUNCATED;
    if (head.session != gate->local_id)
        return GMC_ERR_UNKNOWN;
    uint64_t number = gmc_packet_expand(gate->replay.next, head.packet);
    status = gmc_replay_check(&gate->replay, number);
    if (status != GMC_OK)
        return status;
    make_nonce(number, nonce);
    status = is_data ? open_data(gate, dgram, nonce, is_repair, &content)
                     : open_sealed(gate, head.kind, dgram, nonce, plain, &content);
    if (status != GMC_OK)
        return status;
    gmc_replay_mark(&gate->replay, number);
    *packet = (struct gmc_gate_packet){head.kind, number, content};
    return GMC_OK;
}

gmc_status gmc_gate_seal(struct gmc_gate *gate, enum gmc_kind kind, uint64_t number,
                         uint8_t *buffer, size_t len)
{
    struct gmc_head head = {(uint8_t)kind, gate->remote_id, (uint32_t)number};
    uint8_t *content = buffer + GMC_HEAD_BYTES;
    uint8_t nonce[GMC_NONCE_BYTES];

    gmc_head_put(buffer, &head);
    make_nonce(number, nonce);
    return gate->crypto->ops->seal(gate->seal_send, nonce,
                                   (struct gmc_bytes){buffer, GMC_HEAD_BYTES}, content,
                                   gmc_gate_kept(gate, (uint8_t)kind, len), content, content + len);
}

static gmc_status put_tagged(struct gmc_gate *gate, enum gmc_kind kind, uint64_t number,
                             const struct gmc_data_head *head, struct gmc_bytes rest, uint8_t *out)
{
    struct gmc_head common = {(uint8_t)kind, gate->remote_id, (uint32_t)number};
    uint8_t nonce[GMC_NONCE_BYTES];

    gmc_head_put(out, &common);
    gmc_data_head_put(out, head);
    make_nonce(number, nonce);
    return gate->crypto->ops->tag(gate->tag_send, nonce, (struct gmc_bytes){out, TAGGED_BYTES},
                                  rest, out + TAGGED_BYTES);
}

gmc_status gmc_gate_head(struct gmc_gate *gate, enum gmc_kind kind, uint64_t number,
                         const struct gmc_data_head *head, const uint8_t *seal_tag,
                         uint8_t out[GMC_DATA_HEAD_BYTES])
{
    struct gmc_bytes rest = {seal_tag, GMC_SEAL_TAG_BYTES};

    return put_tagged(gate, kind, number, head, rest, out);
}

gmc_status gmc_gate_repair(struct gmc_gate *gate, uint64_t number, const struct gmc_data_head *head,
                           uint8_t *buffer, size_t len)
{
    struct gmc_bytes rest = {buffer + GMC_DATA_HEAD_BYTES, len};

    return put_tagged(gate, GMC_KIND_GROUP_REPAIR, number, head, rest, buffer);
}
