/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of a node that hears the group of its domain: whoever knows the group's keys, as
 * each node does, sends it any datagram, while its gateway serves its link, its store answers and
 * time goes by as the input says. Nothing may crash or be asserted, its memory stays within its
 * bounds; and whatever came, its link can bring it the whole object in the end.
 *
 * Input   a byte for the size of fragments, then operations: a byte each, then what that one reads
 */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"
#include "crypto/cheap.h"
#include "fec/code.h"

enum { OPS_MAX = 4096, TURNS_MAX = 400, ROUNDS_MAX = 60 };
#define OWN_E 1
#define CIPHER_BYTES ((size_t)GMC_GROUP_BLOCKS_MAX * GW_BLOCK_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source_name[] = "s.example", gateway_name[] = "g.example",
                  node_name[] = "n.example";

static struct gmc_gateway *gw; /* the node */
static struct gmc_crypto crypto, source_crypto, gateway_crypto;
static struct gmc_fec_code *code;
static struct gmc_link *link; /* the gateway's end */
static gmc_time now;
static uint32_t next_session;
static struct gmc_store_op ops[OPS_MAX];
static size_t op_count;
static struct gmc_object object;
static uint8_t content_key[GMC_KEY_BYTES];
static struct gmc_aead *content;
static struct gmc_gate gate; /* of the group */
static uint32_t group_number;
static uint64_t next_packet;

/* ---- what the source made ---- */
static void block_bytes(uint32_t number, uint8_t *out)
{
    static const uint8_t zeros[GW_BLOCK_BYTES];
    memset(out, 0, GW_BLOCK_BYTES);
    if (!gmc_block_is_page(number))
        return;
    struct gmc_page page = {.index = gmc_block_page(number)};
    struct gmc_page_context context = {.key = {.e = OWN_E}};
    uint64_t data = gmc_object_data_blocks(&object);
    page.first = page.index * GMC_PAGE_HASHES;
    for (; page.count < GMC_PAGE_HASHES && page.first + page.count < data; page.count++) {
        uint64_t offset;
        uint32_t len;
        gmc_block_extent(&object, gmc_block_of_data(page.first + page.count), &offset, &len);
        crypto.ops->hash(zeros, len, page.hashes[page.count]);
    }
    memcpy(context.key.source, source_name, sizeof(source_name));
    gmc_status status = gmc_page_write(&source_crypto, NULL, &context, &page, out);
    GMC_ASSERT(status == GMC_OK);
}

/* Seals fragment f of a block's bytes, in place. */
static uint32_t seal(uint32_t number, uint16_t f, uint8_t *bytes, uint8_t *tag)
{
    uint8_t nonce[GMC_NONCE_BYTES], aad[18];
    struct gwchannel ch = {.key = {.e = OWN_E}, .epoch = 1};
    uint32_t len = gmc_fragment_len(&object, gmc_block_len(&object, number), f);
    uint8_t *at = bytes + (size_t)f * object.fragment_bytes;
    gw_seal_nonce(number, f, nonce);
    gmc_status status =
        crypto.ops->seal(content, nonce, gw_seal_aad(&ch, number, f, aad), at, len, at, tag);
    GMC_ASSERT(status == GMC_OK);
    return len;
}

static uint32_t fragments_of(uint32_t number)
{
    return gmc_fragment_count(&object, gmc_block_len(&object, number));
}

/* ---- the node's surroundings ---- */
static void say(const struct gmc_msg *msg)
{
    uint8_t *bytes;
    size_t len;
    if (gmc_msg_encode(msg, &bytes, &len) != GMC_OK)
        return;
    gw_begin_input(gw, now);
    gw_message(gw, gw_peer(gw, gmc_gateway_peer(gw, gateway_name)), gmc_bytes(bytes, len));
    gmc_msg_bytes_free(bytes);
}

static struct gmc_msg about(enum gmc_msg_type type)
{
    return (struct gmc_msg){.type = type, .source = source_name, .e = OWN_E, .epoch = 1};
}

static void session_up(void)
{
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);
    gmc_status status = gmc_crypto_cheap_spki(gateway_name, spki, &len);
    GMC_ASSERT(status == GMC_OK);
    struct gmc_session session = {.peer = gmc_gateway_peer(gw, gateway_name),
                                  .local_id = next_session,
                                  .remote_id = next_session + 1,
                                  .spki = gmc_bytes(spki, len)};
    memset(session.send_secret, 1, GMC_KEY_BYTES);
    memset(session.recv_secret, 2, GMC_KEY_BYTES);
    struct gmc_session mirror = session;
    mirror.local_id = session.remote_id;
    mirror.remote_id = session.local_id;
    memset(mirror.send_secret, 2, GMC_KEY_BYTES);
    memset(mirror.recv_secret, 1, GMC_KEY_BYTES);
    next_session += 2;
    struct gmc_link_config config = {.crypto = &gateway_crypto,
                                     .session = &mirror,
                                     .cc = &gmc_cc_fixed,
                                     .fixed_rate_bps = 10000000000};
    gmc_prng_init(&config.prng, next_session);
    gmc_link_free(link);
    link = gmc_link_new(&config, now);
    GMC_ASSERT(link != NULL);
    struct gmc_peer_change change = {.peer = session.peer,
                                     .event = GMC_PEER_SESSION_UP,
                                     .session = session};
    gmc_gateway_on_peer(gw, now, &change);
}

static void session_down(void)
{
    struct gmc_peer_change change = {.peer = gmc_gateway_peer(gw, gateway_name),
                                     .event = GMC_PEER_SESSION_DOWN,
                                     .reason = "closed"};
    gmc_link_free(link);
    link = NULL;
    gmc_gateway_on_peer(gw, now, &change);
}

/* What the node says: it is told that it is attached, and its reports are looked at. */
static bool answer(struct gmc_bytes bytes)
{
    struct gmc_msg msg;
    struct gmc_msg_holder *holder;
    gmc_status status = gmc_msg_decode(bytes, &msg, &holder);
    GMC_ASSERT(status == GMC_OK);
    bool attaches = msg.type == GMC_MSG_ATTACH;
    for (size_t i = 0; i < msg.need_count; i++)
        GMC_ASSERT((uint64_t)msg.needs[i].window * gmc_group_blocks(&object) <
                   gmc_object_blocks(&object));
    gmc_msg_release(holder);
    return attaches;
}

static bool take_datagram(const struct gmc_dgram_out *dgram)
{
    uint8_t bytes[65536];
    size_t len = gmc_dgram_out_len(dgram);
    struct gmc_dgram_in in = {.from = {.len = 1}, .bytes = gmc_bytes(bytes, len)};
    struct gmc_link_data data;
    struct gmc_link_fate fate;
    struct gmc_bytes message;
    bool is_data = false, attaches = false;
    GMC_ASSERT(len <= sizeof(bytes) && dgram->path != GMC_PATH_GROUP);
    if (link == NULL)
        return false;
    memcpy(bytes, dgram->head, dgram->head_len);
    if (dgram->body.len > 0)
        memcpy(bytes + dgram->head_len, dgram->body.data, dgram->body.len);
    if (dgram->tail.len > 0)
        memcpy(bytes + dgram->head_len + dgram->body.len, dgram->tail.data, dgram->tail.len);
    gmc_status status = gmc_link_receive(link, now, &in, &data, &is_data);
    (void)status; /* some are of a session before */
    while (gmc_link_next_fate(link, &fate))
        ;
    while (gmc_link_next_message(link, &message))
        attaches = answer(message) || attaches;
    return attaches;
}

static bool drain(void)
{
    struct gmc_output out;
    bool any = false, attaches = false;
    while (gmc_gateway_next_output(gw, &out)) {
        any = true;
        if (out.kind == GMC_OUT_DATAGRAM)
            attaches = take_datagram(&out.u.dgram) || attaches;
        else if (out.kind == GMC_OUT_STORE && op_count < OPS_MAX)
            ops[op_count++] = out.u.store;
    }
    if (attaches) {
        const char *path[] = {source_name};
        struct gmc_msg msg = about(GMC_MSG_ATTACHED);
        msg.version = 1;
        msg.names = path;
        msg.name_count = 1;
        say(&msg);
    }
    return any;
}

static bool gateway_sends(void)
{
    uint8_t buffer[GMC_LINK_PACKET_MAX];
    struct gmc_dgram_out out;
    bool any = false;
    while (link != NULL && gmc_link_next_packet(link, now, buffer, sizeof(buffer), &out)) {
        struct gmc_dgram_in in = {.path = out.path,
                                  .peer = gmc_gateway_peer(gw, gateway_name),
                                  .from = {.len = 1},
                                  .bytes = out.body};
        (void)gmc_gateway_on_datagram(gw, now, &in);
        drain();
        any = true;
    }
    return any;
}

/* Until nobody has anything to say at this instant, which has to come. */
static void settle(void)
{
    for (int turns = 0;; turns++) {
        bool any = drain();
        any = gateway_sends() || any;
        if (gmc_gateway_deadline(gw) <= now) {
            gmc_gateway_on_timer(gw, now);
            any = true;
        }
        if (!any)
            return;
        GMC_ASSERT(turns < TURNS_MAX);
    }
}

static void pass(gmc_duration wait)
{
    gmc_time until = gmc_time_add(now, wait);
    for (int turns = 0; turns < TURNS_MAX && now < until; turns++) {
        gmc_time when = gmc_time_min(until, gmc_gateway_deadline(gw));
        if (link != NULL)
            when = gmc_time_min(when, gmc_link_deadline(link, false));
        now = gmc_time_max(now, when);
        if (link != NULL)
            gmc_link_on_timer(link, now);
        settle();
    }
    now = gmc_time_max(now, until);
}

/* Its disk works; `count` of what it was asked for is answered, the last one first if so said. */
static void store_answers(size_t count, bool last_first)
{
    for (; count > 0 && op_count > 0; count--) {
        size_t i = last_first ? op_count - 1 : 0;
        struct gmc_store_op op = ops[i];
        memmove(&ops[i], &ops[i + 1], sizeof(ops[0]) * (op_count - i - 1));
        op_count--;
        struct gmc_store_result result = {.ticket = op.ticket};
        if (op.kind == GMC_STORE_WRITE) {
            crypto.ops->hash(op.data, op.len, result.hash);
            if (memcmp(op.hash, result.hash, GMC_HASH_BYTES) != 0)
                result.status = GMC_ERR_MISMATCH;
        }
        gmc_gateway_on_stored(gw, now, &result);
        drain();
    }
}

static struct gwchannel *channel(void)
{
    struct gwchannel *ch = gw_channel_find(gw, source_name, OWN_E);
    GMC_ASSERT(ch != NULL);
    return ch;
}

/* ---- the record ---- */
static void tell_channel(void)
{
    static const char prefix[] = "gmcast-record-2\n";
    struct gmc_member member = {.domain = gateway_name, .path = "", .stripes = 1};
    struct gmc_record record = {.source = source_name,
                                .e = OWN_E,
                                .version = 1,
                                .epoch = 1,
                                .listing_bytes = object.listing_bytes,
                                .total_bytes = object.total_bytes,
                                .block_bytes = object.block_bytes,
                                .fragment_bytes = object.fragment_bytes,
                                .stripes = 1,
                                .members = 1};
    uint8_t *member_bytes, *record_bytes, text[600], signature[GMC_SIGNATURE_BYTES_MAX];
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t member_len, record_len, signature_len = sizeof(signature), spki_len = sizeof(spki);
    struct gmc_merkle tree;
    gmc_status status = gmc_member_encode(&member, &member_bytes, &member_len);
    GMC_ASSERT(status == GMC_OK);
    status = gmc_merkle_init(&tree, &source_crypto, 1);
    GMC_ASSERT(status == GMC_OK);
    gmc_merkle_put(&tree, 0, gmc_bytes(member_bytes, member_len));
    gmc_merkle_finish(&tree, record.root);
    gmc_merkle_fini(&tree);
    source_crypto.ops->hash(content_key, GMC_KEY_BYTES, record.key_hash);
    status = gmc_record_encode(&record, &record_bytes, &record_len);
    GMC_ASSERT(status == GMC_OK && record_len + sizeof(prefix) <= sizeof(text));
    memcpy(text, prefix, sizeof(prefix) - 1);
    memcpy(text + sizeof(prefix) - 1, record_bytes, record_len);
    status = source_crypto.ops->sign(source_crypto.ctx, NULL,
                                     gmc_bytes(text, sizeof(prefix) - 1 + record_len), signature,
                                     &signature_len);
    GMC_ASSERT(status == GMC_OK);
    status = gmc_crypto_cheap_spki(source_name, spki, &spki_len);
    GMC_ASSERT(status == GMC_OK);
    struct gmc_msg msg = about(GMC_MSG_CHANNEL);
    msg.secret = content_key;
    msg.source_key = gmc_bytes(spki, spki_len);
    msg.place = (struct gmc_place){.record = gmc_bytes(record_bytes, record_len),
                                   .signature = gmc_bytes(signature, signature_len),
                                   .member = gmc_bytes(member_bytes, member_len)};
    say(&msg);
    gmc_msg_bytes_free(member_bytes);
    gmc_msg_bytes_free(record_bytes);
    pass(GMC_MS(1));
    store_answers(OPS_MAX, false);
    pass(GMC_MS(50));
}

/* ---- the group ---- */
static void make_group(uint32_t number)
{
    struct gmc_session session = {.remote_id = number};
    memset(session.send_secret, (int)number, GMC_KEY_BYTES);
    gmc_gate_fini(&gate);
    gmc_status status = gmc_gate_init(&gate, &crypto, &session);
    GMC_ASSERT(status == GMC_OK);
    group_number = number;
    next_packet = 0;
}

static void tell_group(uint8_t bits)
{
    static const uint8_t address[] = {239, 255, 1, 1};
    uint8_t key[GMC_KEY_BYTES];
    struct gmc_msg msg = about(GMC_MSG_GROUP);
    if (bits & 1)
        make_group(group_number + 1);
    memset(key, (int)group_number, sizeof(key));
    msg.group = group_number;
    msg.secret = key;
    msg.next = bits & 2 ? next_packet : next_packet + bits;
    msg.epoch = bits & 4 && bits & 8 ? 2 : 1;
    if ((bits & 48) != 48)
        msg.payload = gmc_bytes(address, sizeof(address));
    say(&msg);
}

static void hear(const uint8_t *bytes, size_t len)
{
    /* Memory of exactly this size, so that a sanitizer sees a read past the end. */
    uint8_t *copy = malloc(len > 0 ? len : 1);
    GMC_ASSERT(copy != NULL);
    if (len > 0)
        memcpy(copy, bytes, len);
    struct gmc_dgram_in in = {.path = GMC_PATH_GROUP,
                              .peer = GMC_PEER_NONE,
                              .bytes = gmc_bytes(copy, len)};
    (void)gmc_gateway_on_datagram(gw, now, &in);
    free(copy);
    drain();
}

/* One fragment: as it is, or another text, badly sealed, too short, or in another's place. */
static void hear_fragment(uint32_t number, uint16_t f, uint8_t bits)
{
    static uint8_t plain[GW_BLOCK_BYTES], out[GMC_DATA_OVERHEAD_BYTES + GW_BLOCK_BYTES];
    uint8_t tag[GMC_SEAL_TAG_BYTES];
    struct gmc_data_head head = {.block = number, .fragment = f};
    if (f >= fragments_of(number))
        return;
    block_bytes(number, plain);
    plain[(size_t)f * object.fragment_bytes] ^= (uint8_t)(bits & 1);
    uint32_t len = seal(number, f, plain, tag);
    len -= bits & 4 ? 1 : 0;
    tag[0] ^= (uint8_t)(bits & 2);
    head.block += bits & 8 ? (uint32_t)gmc_object_blocks(&object) : 0;
    head.fragment = (uint16_t)(head.fragment + (bits & 16));
    if (gmc_gate_head(&gate, GMC_KIND_GROUP_DATA, next_packet++, &head, tag, out) != GMC_OK)
        return;
    memcpy(out + GMC_DATA_HEAD_BYTES, plain + (size_t)f * object.fragment_bytes, len);
    memcpy(out + GMC_DATA_HEAD_BYTES + len, tag, sizeof(tag));
    out[9] ^= (uint8_t)(bits & 32);
    hear(out, GMC_DATA_OVERHEAD_BYTES + len);
}

/* A row of parity, as the gateway would make it; or spoiled, too short, in another's place. */
static void hear_parity(uint32_t window, uint16_t row, uint8_t bits)
{
    static uint8_t cipher[CIPHER_BYTES], pads[GMC_GROUP_BLOCKS_MAX][GW_BLOCK_BYTES];
    static uint8_t tags[GMC_GROUP_SOURCES_MAX][GMC_SEAL_TAG_BYTES];
    static uint8_t out[GMC_DATA_OVERHEAD_BYTES + GW_BLOCK_BYTES];
    const uint8_t *shards[GMC_GROUP_SOURCES_MAX], *tag_shards[GMC_GROUP_SOURCES_MAX];
    struct gmc_fec fec = gmc_fec_code_table(code);
    struct gmc_group_shape shape;
    struct gmc_data_head head = {.block = window, .fragment = row};
    gmc_group_shape(&object, window, &shape);
    for (uint32_t i = 0; i < shape.blocks; i++) {
        uint8_t *bytes = cipher + (size_t)i * GW_BLOCK_BYTES;
        block_bytes(shape.first + i, bytes);
        for (uint16_t f = 0; f < fragments_of(shape.first + i); f++) {
            uint32_t s = shape.source_of[i] + f, len = seal(shape.first + i, f, bytes, tags[s]);
            shards[s] = bytes + (size_t)f * object.fragment_bytes;
            tag_shards[s] = tags[s];
            if (len == shape.shard_bytes)
                continue;
            memset(pads[i], 0, shape.shard_bytes);
            memcpy(pads[i], shards[s], len);
            shards[s] = pads[i];
        }
    }
    uint8_t *parity = out + GMC_DATA_HEAD_BYTES;
    if (fec.ops->encode(fec.ctx, shape.sources, row % GMC_FEC_PARITY_MAX, shards, shape.shard_bytes,
                        parity) != GMC_OK ||
        fec.ops->encode(fec.ctx, shape.sources, row % GMC_FEC_PARITY_MAX, tag_shards,
                        GMC_SEAL_TAG_BYTES, parity + shape.shard_bytes) != GMC_OK)
        return;
    size_t len = shape.shard_bytes + GMC_SEAL_TAG_BYTES - (bits & 4 ? 1 : 0);
    parity[0] ^= (uint8_t)(bits & 1);
    head.block += bits & 8 ? 1u << 30 : 0;
    head.fragment = (uint16_t)(head.fragment + (bits & 16) * 4);
    if (gmc_gate_repair(&gate, next_packet++, &head, out, len) == GMC_OK)
        hear(out, GMC_DATA_HEAD_BYTES + len);
}

static void hear_state(struct gmc_reader *r)
{
    uint8_t out[GMC_GROUP_STATE_BYTES_MAX + GMC_GATE_OVERHEAD];
    uint8_t count = gmc_reader_u8(r);
    struct gmc_group_state state = {.members = gmc_reader_u8(r),
                                    .backoff_us = (uint32_t)gmc_reader_u8(r) * 100,
                                    .count = count % (GMC_GROUP_STATES_MAX + 1)};
    for (size_t i = 0; i < state.count; i++)
        state.windows[i] =
            (struct gmc_group_window){gmc_reader_u8(r), gmc_reader_u8(r), gmc_reader_u8(r)};
    size_t len = gmc_group_state_put(&state, out + GMC_HEAD_BYTES);
    len -= count > 200 ? 1 : 0;
    if (gmc_gate_seal(&gate, GMC_KIND_GROUP_STATE, next_packet++, out, len) == GMC_OK)
        hear(out, len + GMC_GATE_OVERHEAD);
}

/* All of a block over the link, but for its first `from` fragments. */
static void link_brings(uint32_t number, uint16_t from)
{
    static uint8_t plain[GW_BLOCK_BYTES];
    uint8_t tag[GMC_SEAL_TAG_BYTES];
    block_bytes(number, plain);
    for (uint16_t f = from; f < fragments_of(number); f++) {
        uint32_t len = seal(number, f, plain, tag);
        struct gmc_link_data data = {.handle = channel()->stripes[0].handle,
                                     .block = number,
                                     .fragment = f,
                                     .body =
                                         gmc_bytes(plain + (size_t)f * object.fragment_bytes, len),
                                     .seal_tag = tag};
        gw_begin_input(gw, now);
        (void)gw_rx_data(gw, gw_peer(gw, gmc_gateway_peer(gw, gateway_name)), &data);
        drain();
    }
}

static void hear_block(struct gmc_reader *r)
{
    uint32_t number = gmc_reader_u8(r) % (uint32_t)gmc_object_blocks(&object);
    uint8_t first = gmc_reader_u8(r), bits = gmc_reader_u8(r);
    uint32_t count = fragments_of(number), last = bits & 64 ? first % count : count - 1;
    for (uint32_t f = first % count; f <= last; f++)
        hear_fragment(number, (uint16_t)f, bits & 128 ? bits : 0);
}

static void hear_rows(struct gmc_reader *r)
{
    uint32_t n = gmc_group_blocks(&object);
    uint32_t windows = ((uint32_t)gmc_object_blocks(&object) + n - 1) / n;
    uint32_t window = gmc_reader_u8(r) % windows;
    uint8_t row = gmc_reader_u8(r), bits = gmc_reader_u8(r);
    for (unsigned i = 0; i <= (bits >> 5 & 3); i++)
        hear_parity(window, (uint16_t)((row + i) % GMC_FEC_PARITY_MAX), bits & 128 ? bits : 0);
}

static void operate(uint8_t op, struct gmc_reader *r)
{
    size_t len;
    switch (op % 9) {
    case 0:
    case 1:
        hear_block(r);
        break;
    case 2:
        hear_rows(r);
        break;
    case 3:
        hear_state(r);
        break;
    case 4:
        tell_group(gmc_reader_u8(r));
        break;
    case 5:
        link_brings(gmc_reader_u8(r) % (uint32_t)gmc_object_blocks(&object), op / 9 % 3);
        break;
    case 6:
        store_answers(gmc_reader_u8(r), op >= 128);
        break;
    case 7:
        pass((gmc_duration)gmc_reader_u8(r) * gmc_reader_u8(r) * GMC_US(100));
        break;
    default:
        if (op >= 128) {
            len = gmc_reader_u8(r);
            len = len < gmc_reader_left(r) ? len : gmc_reader_left(r);
            hear(gmc_reader_bytes(r, len).data, len);
        } else if (link != NULL && op >= 64) {
            session_down();
        } else {
            session_up();
        }
    }
}

static void check_bounds(void)
{
    const struct gwchannel *ch = channel();
    GMC_ASSERT(gmc_cache_bytes_used(gw->cache) <= 17u * (GMC_CACHE_BODY_BYTES + 1024u));
    GMC_ASSERT(ch->dst->receiving <= 2 * gw_rx_window(gw));
}

/* The gateway has it all and serves it in its order, a window of blocks at a time. */
static bool link_goes_on(void)
{
    struct gwchannel *ch = channel();
    uint32_t sent = 0, missing = 0;
    for (uint32_t b = 0; b < ch->blocks; b++) {
        if (gw_has(ch, b))
            continue;
        if (sent++ < gw_rx_window(gw))
            link_brings(b, 0);
        missing++;
    }
    store_answers(OPS_MAX, false);
    pass(gw_is_attached(ch) ? GMC_MS(20) : GMC_MS(500));
    store_answers(OPS_MAX, false);
    return missing > 0;
}

static void open_node(const uint8_t *seed, struct gmc_crypto_cheap *own)
{
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t spki_len = sizeof(spki);
    gmc_status status = gmc_crypto_cheap_spki(node_name, spki, &spki_len);
    GMC_ASSERT(status == GMC_OK);
    gmc_crypto_cheap_table(own, &crypto);
    struct gmc_gateway_config config = {.domain = node_name,
                                        .node_of = gateway_name,
                                        .crypto = &crypto,
                                        .fec = gmc_fec_code_table(code),
                                        .spki = gmc_bytes(spki, spki_len),
                                        .cache_bytes = 1,
                                        .channels_max = 2,
                                        .fixed_rate_bps = 1000000000};
    memset(content_key, seed[0], sizeof(content_key));
    content = crypto.ops->aead_new(crypto.ctx, content_key);
    gw = gmc_gateway_new(&config, now);
    GMC_ASSERT(content != NULL && gw != NULL);
    gmc_gateway_start(gw, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t seed[32] = {1};
    static const uint32_t fragments[] = {8192, 1425, 13108, 1024};
    struct gmc_crypto_cheap *own = gmc_crypto_cheap_new(node_name, seed),
                            *source = gmc_crypto_cheap_new(source_name, seed),
                            *gateway = gmc_crypto_cheap_new(gateway_name, seed);
    struct gmc_reader r;
    if (code == NULL)
        code = gmc_fec_code_new_over(&gmc_fec_kernel_plain); /* kept: it takes long to make */
    GMC_ASSERT(own != NULL && source != NULL && gateway != NULL && code != NULL);
    gmc_crypto_cheap_table(source, &source_crypto);
    gmc_crypto_cheap_table(gateway, &gateway_crypto);
    gmc_reader_init(&r, gmc_bytes(data, size));
    object = (struct gmc_object){.listing_bytes = 100,
                                 .total_bytes = 26 * GW_BLOCK_BYTES + 5000,
                                 .block_bytes = GW_BLOCK_BYTES,
                                 .fragment_bytes = fragments[gmc_reader_u8(&r) % 4]};
    now = GMC_S(1);
    next_session = 1;
    op_count = 0;
    link = NULL;
    open_node(seed, own);
    make_group(1);
    session_up();
    pass(GMC_MS(20));
    tell_channel();
    tell_group(2);
    for (int i = 0; i < 100 && gmc_reader_left(&r) > 0; i++) {
        operate(gmc_reader_u8(&r), &r);
        settle();
        check_bounds();
    }
    if (link == NULL)
        session_up();
    int rounds = 0;
    for (; link_goes_on(); rounds++)
        GMC_ASSERT(rounds < ROUNDS_MAX);
    gmc_gateway_free(gw);
    gmc_link_free(link);
    gmc_gate_fini(&gate);
    crypto.ops->aead_free(content);
    gmc_crypto_cheap_free(own);
    gmc_crypto_cheap_free(source);
    gmc_crypto_cheap_free(gateway);
    return 0;
}
