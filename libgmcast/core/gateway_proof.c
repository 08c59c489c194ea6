/* SPDX-License-Identifier: BSD-2-Clause */
/* Proofs of a message channel: the source signs the hashes of its packets with a key pair of the
 * channel's own, whose public half stands in the record. Every member knows the content key, so
 * without them a relay could seal messages of its own. Who has the source for a parent needs none.
 *
 * A proof goes out at once when there was none for a millisecond, else then: one signature is for
 * all packets of that time. Of the latest only, each message has its own behind it. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

#define PROOF_EVERY GMC_MS(1)
#define PROOF_HASHES_MAX 256u
#define WINDOW_PARTS 4u
/* Proofs are sent again as other packets are, so this is long. */
#define PROOF_WAIT GMC_S(5)

_Static_assert(GMC_SIGNER_SPKI_MAX <= GMC_PROOF_KEY_MAX &&
                   GMC_SIGNER_SIGNATURE_MAX <= GMC_PROOF_SIGNATURE_MAX,
               "a record has room for the key, and a proof for what it signs");

static bool is_armed(const struct gwproofs *proofs)
{
    return gmc_heap_node_is_queued(&proofs->timer.node) && proofs->timer.node.key != GMC_TIME_NEVER;
}

/* ---- the source ---- */
gmc_status gw_proof_begin(struct gmc_gateway *gw, struct gwchannel *ch)
{
    const struct gmc_crypto *crypto = gw->config.crypto;
    struct gwproofs *proofs = &ch->talk->proofs;
    uint8_t secret[GMC_KEY_BYTES];
    size_t len = sizeof(proofs->key);
    crypto->ops->random(crypto->ctx, secret, sizeof(secret));
    proofs->signer = crypto->ops->signer_new(crypto->ctx, secret, proofs->key, &len);
    proofs->key_len = proofs->signer != NULL ? len : 0;
    return proofs->signer != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

void gw_proof_fini(struct gmc_gateway *gw, struct gwtalk *talk)
{
    struct gwproofs *proofs = &talk->proofs;
    const struct gmc_crypto_ops *ops = gw->config.crypto->ops;
    gmc_heap_remove(&gw->timers, &proofs->timer.node);
    if (proofs->signer != NULL)
        ops->signer_free(proofs->signer);
    if (proofs->verifier != NULL)
        ops->pubkey_free(proofs->verifier);
    free(proofs->hashes);
}

/* Nodes of this domain have the source for a parent. */
static bool proves(const struct gwchannel *ch)
{
    return ch->talk->proofs.signer != NULL && ch->src->member_count > ch->src->node_count;
}

/* The packets that it proves, and those of a message before it, wait in a window, which is short
 * where packets may be long. */
static uint32_t hashes_in_a_packet(const struct gwchannel *ch)
{
    uint32_t room = (ch->object.fragment_bytes - GMC_PROOF_ROOM) / GMC_PROOF_HASH_BYTES;
    uint32_t window = gmc_message_window(ch->object.fragment_bytes) / WINDOW_PARTS;
    uint32_t most = window < PROOF_HASHES_MAX ? window : PROOF_HASHES_MAX;
    return room < most ? room : most;
}

size_t gw_proof_room(const struct gwchannel *ch, size_t packets, size_t *bytes)
{
    size_t hashes = ch->talk->proofs.count + packets, each = hashes_in_a_packet(ch);
    *bytes = 0;
    if (!proves(ch))
        return 0;
    size_t proofs = (hashes + each - 1) / each;
    *bytes = proofs * GMC_PROOF_ROOM + hashes * GMC_PROOF_HASH_BYTES;
    return proofs;
}

gmc_status gw_proof_note(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number,
                         struct gmc_bytes packet)
{
    struct gwproofs *proofs = &ch->talk->proofs;
    uint8_t hash[GMC_HASH_BYTES];
    if (!proves(ch))
        return GMC_OK;
    if (proofs->count == proofs->capacity) {
        size_t capacity = proofs->capacity == 0 ? PROOF_HASHES_MAX : 2 * proofs->capacity;
        uint8_t *more = realloc(proofs->hashes, capacity * GMC_PROOF_HASH_BYTES);
        if (more == NULL)
            return GMC_ERR_NOMEM;
        proofs->hashes = more;
        proofs->capacity = capacity;
    }
    if (proofs->count == 0)
        proofs->first = number;
    gw->config.crypto->ops->hash(packet.data, packet.len, hash);
    memcpy(proofs->hashes + proofs->count++ * GMC_PROOF_HASH_BYTES, hash, GMC_PROOF_HASH_BYTES);
    return GMC_OK;
}

/* Of so many packets from `at` on. */
static gmc_status send_one(struct gmc_gateway *gw, struct gwchannel *ch, size_t at, size_t count)
{
    struct gwproofs *proofs = &ch->talk->proofs;
    uint8_t bytes[GMC_PROOF_SIGNED_HEAD + GMC_PROOF_ROOM + PROOF_HASHES_MAX * GMC_PROOF_HASH_BYTES];
    uint8_t signature[GMC_SIGNER_SIGNATURE_MAX];
    size_t signature_len = sizeof(signature);
    struct gmc_proof proof = {.first = proofs->first + at,
                              .hashes = gmc_bytes(proofs->hashes + at * GMC_PROOF_HASH_BYTES,
                                                  count * GMC_PROOF_HASH_BYTES)};
    size_t len = gmc_proof_signed(bytes, ch->key.e, ch->epoch, ch->talk->next, &proof);
    gmc_status status = gw->config.crypto->ops->signer_sign(proofs->signer, gmc_bytes(bytes, len),
                                                            signature, &signature_len);
    if (status != GMC_OK)
        return status;
    proof.signature = gmc_bytes(signature, signature_len);
    len = gmc_proof_put(bytes, &proof);
    return gw_talk_seal(gw, ch, gmc_bytes(bytes, len), gmc_bytes(NULL, 0), false);
}

static void send_all(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwproofs *proofs = &ch->talk->proofs;
    size_t each = hashes_in_a_packet(ch);
    for (size_t at = 0; at < proofs->count; at += each) {
        size_t count = proofs->count - at < each ? proofs->count - at : each;
        gmc_status status = send_one(gw, ch, at, count);
        if (status != GMC_OK)
            gw_event(gw, GMC_EVENT_CHANNEL, ch, gw->self, status,
                     "%zu packets could not be signed: members behind others lack them", count);
    }
    proofs->count = 0;
    proofs->sent_at = gw->now;
}

void gw_proof_message(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwproofs *proofs = &ch->talk->proofs;
    if (proofs->count == 0)
        return;
    if (ch->talk->order == GMC_MESSAGES_LATEST || proofs->count >= hashes_in_a_packet(ch)) {
        send_all(gw, ch);
        return;
    }
    if (!is_armed(proofs))
        gw_set_timer(gw, &proofs->timer,
                     gmc_time_max(gw->now, gmc_time_add(proofs->sent_at, PROOF_EVERY)));
}

/* ---- a receiver ---- */
gmc_status gw_proof_set_record(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwproofs *proofs = &ch->talk->proofs;
    const struct gmc_crypto_ops *ops = gw->config.crypto->ops;
    if (proofs->signer != NULL || ch->record.proof_key_len == 0)
        return GMC_OK;
    struct gmc_pubkey *key =
        ops->pubkey_new(gw->config.crypto->ctx,
                        gmc_bytes(ch->record.proof_key, ch->record.proof_key_len));
    if (key == NULL)
        return GMC_ERR_INVALID;
    if (proofs->verifier != NULL)
        ops->pubkey_free(proofs->verifier);
    proofs->verifier = key;
    return GMC_OK;
}

/* A node's gateway speaks for the source, and hands on what it has no proof of yet. */
bool gw_proof_is_needed(const struct gmc_gateway *gw, const struct gwchannel *ch,
                        const struct gwpeer *peer)
{
    const char *domain = gw->config.node_of != NULL ? gw->config.node_of : peer->name;
    bool is_source = peer == ch->source_peer && strcmp(domain, ch->key.source) == 0;
    return ch->talk->proofs.verifier != NULL && !is_source;
}

/* From now on, for the lowest packet that lacks one: proofs of others say nothing of it. While its
 * message is still coming, which may take long on a slow path, nothing is overdue. */
static void wait_on(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwproofs *proofs = &ch->talk->proofs;
    const struct gmc_message_rx *rx = &ch->talk->rx;
    proofs->waits_for = gmc_message_rx_overdue(rx);
    gw_set_timer(gw, &proofs->timer,
                 rx->unproven > 0 ? gmc_time_add(gw->now, PROOF_WAIT) : GMC_TIME_NEVER);
}

void gw_proof_wait(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (!is_armed(&ch->talk->proofs))
        wait_on(gw, ch);
}

/* They are not kept for children either: what comes in their place may be another. */
void gw_proof_drop_unproven(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwtalk *talk = ch->talk;
    for (uint64_t n = 0; (n = gmc_message_rx_next_unproven(&talk->rx, n)) != UINT64_MAX; n++)
        gmc_message_ring_forget(&talk->ring, n);
    gmc_message_rx_drop_unproven(&talk->rx);
    wait_on(gw, ch);
}

static gmc_status verify(const struct gmc_gateway *gw, const struct gwchannel *ch, uint64_t number,
                         const struct gmc_proof *proof)
{
    uint8_t bytes[GMC_PROOF_SIGNED_HEAD + PROOF_HASHES_MAX * GMC_PROOF_HASH_BYTES];
    if (proof->count > PROOF_HASHES_MAX)
        return GMC_ERR_AUTH;
    size_t len = gmc_proof_signed(bytes, ch->key.e, ch->epoch, number, proof);
    return gw->config.crypto->ops->verify(ch->talk->proofs.verifier, gmc_bytes(bytes, len),
                                          proof->signature);
}

gmc_status gw_proof_take(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number,
                         struct gmc_bytes packet, bool is_needed)
{
    struct gmc_message_rx *rx = &ch->talk->rx;
    struct gmc_proof proof;
    gmc_status status = gmc_proof_get(packet, number, &proof);
    if (is_needed && (status != GMC_OK || verify(gw, ch, number, &proof) != GMC_OK))
        return GMC_ERR_AUTH;
    if (status == GMC_OK)
        status = gmc_message_rx_prove(rx, &proof);
    else
        gw->counts.dropped_malformed++; /* the source's own fault */
    if (status == GMC_ERR_AUTH)
        return status; /* it is wanted again, for those who have it from here */
    gmc_message_rx_pass(rx, number);
    if (rx->unproven == 0)
        gw_set_timer(gw, &ch->talk->proofs.timer, GMC_TIME_NEVER);
    return GMC_OK;
}

void gw_proof_forged(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                     const char *what)
{
    gw->counts.dropped_seal++;
    gw_proof_drop_unproven(gw, ch);
    /* What children were sent may be forged. */
    gw_hearers_detach(gw, ch, GMC_ERR_MISMATCH, what);
    gw_leave_parent(gw, ch, stripe, what);
}

void gw_proof_timer(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwproofs *proofs = &ch->talk->proofs;
    if (ch->closing)
        return;
    if (ch->is_source && proofs->count > 0)
        send_all(gw, ch);
    else if (!ch->is_source && proofs->waits_for != UINT64_MAX &&
             proofs->waits_for == gmc_message_rx_next_unproven(&ch->talk->rx, 0))
        gw_proof_forged(gw, ch, &ch->stripes[0], "packets without the source's proof");
    else if (!ch->is_source)
        wait_on(gw, ch);
}
