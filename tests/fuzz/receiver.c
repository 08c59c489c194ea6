/* SPDX-License-Identifier: BSD-2-Clause */
/* Who receives a transfer in the fuzzers: see receiver.h. */
#include "tests/fuzz/receiver.h"

#include <string.h>

#include "core/gateway_group_impl.h"

const char receiver_source[] = "s.example", receiver_gateway[] = "g.example";

struct receiver receiver;

/* ---- what the source made ---- */
void receiver_block(uint32_t number, uint8_t *out)
{
    static const uint8_t zeros[GW_BLOCK_BYTES];
    memset(out, 0, GW_BLOCK_BYTES);
    if (!gmc_block_is_page(number))
        return;
    struct gmc_page page = {.index = gmc_block_page(number)};
    struct gmc_page_context context = {.key = {.e = RECEIVER_E}};
    uint64_t data = gmc_object_data_blocks(&receiver.object);
    page.first = page.index * GMC_PAGE_HASHES;
    for (; page.count < GMC_PAGE_HASHES && page.first + page.count < data; page.count++) {
        uint64_t offset;
        uint32_t len;
        gmc_block_extent(&receiver.object, gmc_block_of_data(page.first + page.count), &offset,
                         &len);
        receiver.crypto.ops->hash(zeros, len, page.hashes[page.count]);
    }
    memcpy(context.key.source, receiver_source, sizeof(receiver_source));
    gmc_status status = gmc_page_write(&receiver.source, NULL, &context, &page, out);
    GMC_ASSERT(status == GMC_OK);
}

uint32_t receiver_fragments(uint32_t number)
{
    return gmc_fragment_count(&receiver.object, gmc_block_len(&receiver.object, number));
}

uint32_t receiver_seal(uint32_t number, uint16_t f, uint8_t *bytes, uint8_t *tag)
{
    uint8_t nonce[GMC_NONCE_BYTES], aad[18];
    struct gwchannel ch = {.key = {.e = RECEIVER_E}, .epoch = 1};
    uint32_t len = gmc_fragment_len(&receiver.object, gmc_block_len(&receiver.object, number), f);
    uint8_t *at = bytes + (size_t)f * receiver.object.fragment_bytes;
    gw_seal_nonce(number, f, nonce);
    gmc_status status =
        receiver.crypto.ops->seal(receiver.content, nonce, gw_seal_aad(&ch, number, f, aad), at,
                                  len, at, tag);
    GMC_ASSERT(status == GMC_OK);
    return len;
}

/* ---- the transfer ---- */
struct gmc_msg receiver_about(enum gmc_msg_type type)
{
    return (struct gmc_msg){.type = type, .source = receiver_source, .e = RECEIVER_E, .epoch = 1};
}

struct gwchannel *receiver_channel(void)
{
    struct gwchannel *ch = gw_channel_find(receiver.pump.gw, receiver_source, RECEIVER_E);
    GMC_ASSERT(ch != NULL);
    return ch;
}

/* What it says: its voice serves it, and its reports are looked at. */
static void heard(size_t end, struct gmc_bytes bytes)
{
    struct gmc_msg msg;
    struct gmc_msg_holder *holder;
    gmc_status status = gmc_msg_decode(bytes, &msg, &holder);
    GMC_ASSERT(status == GMC_OK);
    receiver.asks = receiver.asks || (end == RECEIVER_VOICE && msg.type == GMC_MSG_ATTACH);
    receiver.told_over |= msg.type == GMC_MSG_CLOSE ? 1u << end : 0;
    for (size_t i = 0; i < msg.need_count; i++)
        GMC_ASSERT((uint64_t)msg.needs[i].window * gmc_group_blocks(&receiver.object) <
                   gmc_object_blocks(&receiver.object));
    gmc_msg_release(holder);
}

static void drained(void)
{
    const char *path[] = {receiver_source};
    struct gmc_msg msg = receiver_about(GMC_MSG_ATTACHED);
    if (!receiver.asks)
        return;
    receiver.asks = false;
    msg.version = receiver.version;
    msg.names = path;
    msg.name_count = 1;
    pump_say(&receiver.pump, RECEIVER_VOICE, &msg);
}

void receiver_store_answers(size_t count, uint8_t how)
{
    static uint8_t page[GW_BLOCK_BYTES];
    for (; count > 0 && receiver.pump.op_count > 0; count--) {
        struct gmc_store_op op = pump_take_op(&receiver.pump, how & 1);
        struct gmc_store_result result = {.ticket = op.ticket};
        bool reads = op.kind == GMC_STORE_READ || op.kind == GMC_STORE_READ_PAGE;
        if (op.kind == GMC_STORE_READ)
            memset(op.data, how & 2, op.len);
        if (op.kind == GMC_STORE_READ_PAGE) {
            receiver_block(gmc_block_of_page((uint32_t)op.offset), page);
            page[GMC_PAGE_HEAD_BYTES] ^= (uint8_t)(how & 2);
            memcpy(op.data, page, op.len);
        }
        if (op.kind == GMC_STORE_WRITE || op.kind == GMC_STORE_READ)
            receiver.crypto.ops->hash(op.data, op.len, result.hash);
        if (op.kind == GMC_STORE_WRITE && memcmp(op.hash, result.hash, GMC_HASH_BYTES) != 0)
            result.status = GMC_ERR_MISMATCH;
        if (reads && (how & 4) != 0)
            result.status = GMC_ERR_IO;
        gmc_gateway_on_stored(receiver.pump.gw, receiver.pump.now, &result);
        pump_drain(&receiver.pump);
    }
}

void receiver_link_brings(size_t end, uint32_t number, uint16_t from)
{
    static uint8_t plain[GW_BLOCK_BYTES];
    uint8_t tag[GMC_SEAL_TAG_BYTES];
    receiver_block(number, plain);
    for (uint16_t f = from; f < receiver_fragments(number); f++) {
        uint32_t len = receiver_seal(number, f, plain, tag);
        struct gmc_link_data data = {
            .handle = receiver_channel()->stripes[0].handle,
            .block = number,
            .fragment = f,
            .body = gmc_bytes(plain + (size_t)f * receiver.object.fragment_bytes, len),
            .seal_tag = tag};
        struct gwpeer *peer = pump_peer(&receiver.pump, end);
        gw_begin_input(receiver.pump.gw, receiver.pump.now);
        (void)gw_rx_data(receiver.pump.gw, peer, &data);
        pump_drain(&receiver.pump);
    }
}

void receiver_hears_report(size_t end, struct gmc_reader *r)
{
    static const uint8_t missing[GMC_GROUP_SOURCES_MAX / 8] = {0x55, 0xff};
    const struct gwgroup *group = receiver_channel()->group;
    uint8_t bits = gmc_reader_u8(r), window = gmc_reader_u8(r), seen = gmc_reader_u8(r);
    struct gmc_msg_need need = {.window = window,
                                .seen = seen,
                                .need = gmc_reader_u8(r),
                                .missing = gmc_bytes(missing, bits & 1 ? sizeof(missing) : 0)};
    struct gmc_msg msg = receiver_about(GMC_MSG_GROUP_REPORT);
    msg.group = (group != NULL ? group->number : 0) ^ (bits >> 1 & 1);
    msg.needs = &need;
    msg.need_count = bits >> 2 & 1;
    msg.next = (uint64_t)gmc_reader_u8(r) * 100;
    msg.received = bits & 8 ? msg.next : msg.next / 2;
    msg.status = bits < 192 ? GMC_OK : bits & 16 ? GMC_ERR_MISMATCH : GMC_ERR_TIMEOUT;
    msg.text = "something";
    pump_say(&receiver.pump, end, &msg);
}

void receiver_any_datagram(struct gmc_reader *r)
{
    size_t len = gmc_reader_u8(r);
    len = len < gmc_reader_left(r) ? len : gmc_reader_left(r);
    struct gmc_dgram_in in = {.from = {.len = 2},
                              .peer = GMC_PEER_NONE,
                              .bytes = gmc_reader_bytes(r, len)};
    (void)gmc_gateway_on_datagram(receiver.pump.gw, receiver.pump.now, &in);
}

bool receiver_goes_on(void)
{
    struct gwchannel *ch = receiver_channel();
    uint32_t sent = 0, missing = 0;
    for (uint32_t b = 0; b < ch->blocks; b++) {
        if (gw_has(ch, b))
            continue;
        if (sent++ < gw_rx_window(receiver.pump.gw))
            receiver_link_brings(RECEIVER_VOICE, b, 0);
        missing++;
    }
    receiver_store_answers(PUMP_OPS_MAX, 0);
    pump_pass(&receiver.pump, gw_is_attached(ch) ? GMC_MS(20) : GMC_MS(500));
    receiver_store_answers(PUMP_OPS_MAX, 0);
    return missing > 0;
}

/* ---- the beginning ---- */
static void sign(const uint8_t *record, size_t len, uint8_t *signature, size_t *signature_len)
{
    static const char prefix[] = "gmcast-record-2\n";
    uint8_t text[600];
    GMC_ASSERT(len + sizeof(prefix) <= sizeof(text));
    memcpy(text, prefix, sizeof(prefix) - 1);
    memcpy(text + sizeof(prefix) - 1, record, len);
    gmc_status status = receiver.source.ops->sign(receiver.source.ctx, NULL,
                                                  gmc_bytes(text, sizeof(prefix) - 1 + len),
                                                  signature, signature_len);
    GMC_ASSERT(status == GMC_OK);
}

void receiver_tell(void)
{
    struct gmc_member member = {.domain = receiver_gateway, .path = "", .stripes = 1};
    struct gmc_record record = {.source = receiver_source,
                                .e = RECEIVER_E,
                                .version = receiver.version,
                                .epoch = 1,
                                .listing_bytes = receiver.object.listing_bytes,
                                .total_bytes = receiver.object.total_bytes,
                                .block_bytes = receiver.object.block_bytes,
                                .fragment_bytes = receiver.object.fragment_bytes,
                                .stripes = 1,
                                .members = 1};
    uint8_t *member_bytes, *record_bytes, signature[GMC_SIGNATURE_BYTES_MAX];
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t member_len, record_len, signature_len = sizeof(signature), spki_len = sizeof(spki);
    struct gmc_merkle tree;
    gmc_status status = gmc_member_encode(&member, &member_bytes, &member_len);
    GMC_ASSERT(status == GMC_OK);
    status = gmc_merkle_init(&tree, &receiver.source, 1);
    GMC_ASSERT(status == GMC_OK);
    gmc_merkle_put(&tree, 0, gmc_bytes(member_bytes, member_len));
    gmc_merkle_finish(&tree, record.root);
    gmc_merkle_fini(&tree);
    receiver.source.ops->hash(receiver.content_key, GMC_KEY_BYTES, record.key_hash);
    status = gmc_record_encode(&record, &record_bytes, &record_len);
    GMC_ASSERT(status == GMC_OK);
    sign(record_bytes, record_len, signature, &signature_len);
    status = gmc_crypto_cheap_spki(receiver_source, spki, &spki_len);
    GMC_ASSERT(status == GMC_OK);
    struct gmc_msg msg = receiver_about(GMC_MSG_CHANNEL);
    msg.secret = receiver.content_key;
    msg.source_key = gmc_bytes(spki, spki_len);
    msg.place = (struct gmc_place){.record = gmc_bytes(record_bytes, record_len),
                                   .signature = gmc_bytes(signature, signature_len),
                                   .member = gmc_bytes(member_bytes, member_len)};
    pump_say(&receiver.pump, RECEIVER_VOICE, &msg);
    gmc_msg_bytes_free(member_bytes);
    gmc_msg_bytes_free(record_bytes);
    pump_pass(&receiver.pump, GMC_MS(1));
    receiver_store_answers(PUMP_OPS_MAX, 0);
    pump_pass(&receiver.pump, GMC_MS(50));
}

static struct gmc_crypto_cheap *open_crypto(const char *name, struct gmc_crypto *out)
{
    static const uint8_t seed[32] = {1};
    struct gmc_crypto_cheap *cheap = gmc_crypto_cheap_new(name, seed);
    GMC_ASSERT(cheap != NULL);
    gmc_crypto_cheap_table(cheap, out);
    return cheap;
}

void receiver_begin(size_t sessions)
{
    for (size_t i = 0; i < sessions; i++)
        pump_session_up(&receiver.pump, i);
    pump_pass(&receiver.pump, GMC_MS(20));
    receiver.version = 1;
    receiver_tell();
}

void receiver_open(const char *name, const char *node_of, const char *const ends[PUMP_ENDS_MAX],
                   uint32_t blocks, uint32_t fragment_bytes)
{
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t spki_len = sizeof(spki);
    struct gmc_fec_code *code = receiver.code;
    memset(&receiver, 0, sizeof(receiver));
    receiver.code = code != NULL ? code : gmc_fec_code_new_over(&gmc_fec_kernel_plain);
    receiver.own = open_crypto(name, &receiver.crypto);
    receiver.sources = open_crypto(receiver_source, &receiver.source);
    receiver.pump.now = GMC_S(1);
    receiver.pump.next_session = 1;
    receiver.pump.has_to_settle = true;
    receiver.pump.payload_max = 9000;
    receiver.pump.heard = heard;
    receiver.pump.drained = drained;
    receiver.pump.end_count = PUMP_ENDS_MAX;
    for (size_t i = 0; i < PUMP_ENDS_MAX; i++) {
        receiver.pump.ends[i].name = ends[i];
        receiver.others[i] = open_crypto(ends[i], &receiver.pump.ends[i].crypto);
    }
    receiver.object = (struct gmc_object){.listing_bytes = 100,
                                          .total_bytes = (uint64_t)blocks * GW_BLOCK_BYTES + 5000,
                                          .block_bytes = GW_BLOCK_BYTES,
                                          .fragment_bytes = fragment_bytes};
    memset(receiver.content_key, 1, sizeof(receiver.content_key));
    receiver.content = receiver.crypto.ops->aead_new(receiver.crypto.ctx, receiver.content_key);
    gmc_status status = gmc_crypto_cheap_spki(name, spki, &spki_len);
    GMC_ASSERT(status == GMC_OK && receiver.code != NULL && receiver.content != NULL);
    struct gmc_gateway_config config = {.domain = name,
                                        .node_of = node_of,
                                        .crypto = &receiver.crypto,
                                        .fec = gmc_fec_code_table(receiver.code),
                                        .spki = gmc_bytes(spki, spki_len),
                                        .cache_bytes = 1,
                                        .channels_max = 2,
                                        .fixed_rate_bps = 1000000000};
    receiver.pump.gw = gmc_gateway_new(&config, receiver.pump.now);
    GMC_ASSERT(receiver.pump.gw != NULL);
    gmc_gateway_start(receiver.pump.gw, receiver.pump.now);
}

void receiver_close(void)
{
    pump_close(&receiver.pump);
    receiver.crypto.ops->aead_free(receiver.content);
    gmc_crypto_cheap_free(receiver.own);
    gmc_crypto_cheap_free(receiver.sources);
    for (size_t i = 0; i < PUMP_ENDS_MAX; i++)
        gmc_crypto_cheap_free(receiver.others[i]);
}

void receiver_check(void)
{
    const struct gmc_gateway *gw = receiver.pump.gw;
    GMC_ASSERT(gmc_cache_bytes_used(gw->cache) <= 17u * (GMC_CACHE_BODY_BYTES + 1024u));
    GMC_ASSERT(receiver_channel()->dst->receiving <= 2 * gw_rx_window(gw));
}
