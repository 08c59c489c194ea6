/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of a whole gateway: hostile neighbours that hold valid sessions (a source, a
 * member, one that is neither) send it any message, record, fragment and datagram, while its store
 * and its user do as the input says. Nothing may crash or be asserted, and its memory stays within
 * its bounds.
 *
 * Input   a list of operations: a byte for the operation, then what that one reads
 */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"
#include "crypto/cheap.h"
#include "tests/fuzz/pump.h"

enum { PEERS = 3, CHANNELS_MAX = 4 };
enum { SOURCE, MEMBER, STRANGER };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"s.example", "m.example", "x.example", "g.example",
                                    "unheard-of.example"};

static struct pump pump;
static struct gmc_crypto crypto; /* the gateway's */
static struct gmc_object object; /* of the record that was sent last */
static uint64_t own_e;           /* of the transfer that was staged last */

/* What the source told last, and which of two members may show it. */
static struct {
    uint8_t record[512], signature[GMC_SIGNATURE_BYTES_MAX], members[2][512];
    uint8_t hashes[2][GMC_HASH_BYTES];
    struct gmc_place place[2]; /* of the gateway, of MEMBER */
} told;

/* ---- what the input says ---- */
static uint64_t number(struct gmc_reader *r)
{
    static const uint64_t usual[] = {0, 1, 2, 3, 128, 129, 65535, 70000, 9000000, UINT64_MAX};
    uint8_t first = gmc_reader_u8(r);
    if (first < sizeof(usual) / sizeof(usual[0]))
        return usual[first];
    return first < 200 ? first : gmc_reader_u64(r);
}

static const char *name(struct gmc_reader *r)
{
    return names[gmc_reader_u8(r) % (sizeof(names) / sizeof(names[0]))];
}

static uint64_t any_e(struct gmc_reader *r)
{
    uint8_t which = gmc_reader_u8(r) % 4;
    return which == 3 ? own_e : which + 1u;
}

static void secret_of(uint64_t e, uint8_t secret[GMC_KEY_BYTES])
{
    memset(secret, 0, GMC_KEY_BYTES);
    gmc_put64(secret, e);
}

static void any_message(struct gmc_reader *r)
{
    int p = gmc_reader_u8(r) % PEERS;
    const char *list[4];
    struct gmc_msg_range ranges[3];
    struct gmc_msg_latency latencies[2];
    struct gmc_msg_child children[2];
    uint8_t secret[GMC_KEY_BYTES];
    struct gmc_msg msg = {.type = (enum gmc_msg_type)(gmc_reader_u8(r) % (GMC_MSG_DOMAIN + 1))};
    msg.source = name(r);
    msg.e = any_e(r);
    secret_of(msg.e, secret);
    msg.probe_id = number(r);
    msg.secret = secret;
    msg.digest = secret;
    for (size_t i = 0; i < 4; i++)
        list[i] = name(r);
    msg.names = list;
    msg.name_count = gmc_reader_u8(r) % 5;
    for (size_t i = 0; i < 3; i++)
        ranges[i] = (struct gmc_msg_range){.first = number(r), .last = number(r)};
    msg.ranges = ranges;
    msg.range_count = gmc_reader_u8(r) % 4;
    for (size_t i = 0; i < 2; i++) {
        latencies[i] =
            (struct gmc_msg_latency){.participant = gmc_reader_u8(r), .rtt_min_ns = number(r)};
        children[i] = (struct gmc_msg_child){.domain = name(r), .repairs = number(r)};
        children[i].loss_ppm = (uint32_t)(children[i].repairs % 1000000);
    }
    msg.latencies = latencies;
    msg.latency_count = gmc_reader_u8(r) % 3;
    msg.children = children;
    msg.child_count = gmc_reader_u8(r) % 3;
    msg.version = msg.epoch = gmc_reader_u8(r) % 4;
    msg.handle = gmc_reader_u8(r) % 4 == 0 ? (uint32_t)number(r) : 1;
    msg.window = msg.nodes_payload = (uint32_t)number(r);
    msg.status = -(gmc_status)(gmc_reader_u8(r) % 28);
    msg.text = msg.parent = msg.redirect = name(r);
    msg.discard = msg.more = gmc_reader_u8(r) % 2 != 0;
    msg.subnet = list[0];
    msg.can_relay = msg.more;
    msg.bytes = msg.request_id = msg.next = msg.floor = number(r);
    msg.payload = gmc_bytes(secret, 9);
    struct gmc_msg_need need = {(uint32_t)msg.bytes, msg.epoch, 1 + msg.version, msg.payload};
    msg.group = (uint32_t)msg.bytes;
    msg.received = msg.bytes;
    msg.next = msg.bytes;
    msg.needs = &need;
    msg.need_count = msg.discard;
    struct gmc_msg_neighbour neighbours[2] = {{list[0], true, gmc_bytes(secret, 4), msg.group,
                                               msg.epoch, secret, secret, false},
                                              {list[1], msg.more, gmc_bytes(secret, 6), msg.window,
                                               msg.group, secret, secret, msg.discard}};
    msg.neighbours = neighbours;
    msg.neighbour_count = msg.child_count;
    if (told.place[1].record.len > 0) {
        msg.place = told.place[msg.discard];
    } else if (msg.type == GMC_MSG_CHANNEL) {
        msg.place = (struct gmc_place){.record = msg.payload,
                                       .signature = msg.payload,
                                       .member = msg.payload};
    }
    pump_say(&pump, (size_t)p, &msg);
}

static struct gmc_bytes keep(uint8_t *to, uint8_t *bytes, size_t len)
{
    GMC_ASSERT(len <= 512);
    memcpy(to, bytes, len);
    gmc_msg_bytes_free(bytes);
    return gmc_bytes(to, len);
}

/* The gateway and MEMBER, each above the other as the bits say, and the root over both. */
static void make_members(uint8_t bits, uint8_t root[GMC_HASH_BYTES])
{
    const char *domains[] = {names[3], names[MEMBER]};
    struct gmc_merkle tree;
    gmc_status status = gmc_merkle_init(&tree, &pump.ends[SOURCE].crypto, 2);
    GMC_ASSERT(status == GMC_OK);
    for (size_t i = 0; i < 2; i++) {
        struct gmc_member member = {.domain = domains[i],
                                    .path = i == 0 ? "" : "there",
                                    .trees = {{&domains[1 - i], bits >> i & 1}},
                                    .stripes = 1,
                                    .is_relay = (bits >> (1 - i) & 1) != 0};
        uint8_t *bytes;
        size_t len;
        status = gmc_member_encode(&member, &bytes, &len);
        GMC_ASSERT(status == GMC_OK);
        told.place[i].member = keep(told.members[i], bytes, len);
        told.place[i].index = (uint32_t)i;
        gmc_merkle_put(&tree, i, told.place[i].member);
    }
    gmc_merkle_finish(&tree, root);
    for (size_t i = 0; i < 2; i++) {
        memcpy(told.hashes[i], tree.nodes[1 - i], GMC_HASH_BYTES);
        told.place[i].siblings = gmc_bytes(told.hashes[i], GMC_HASH_BYTES);
    }
    gmc_merkle_fini(&tree);
}

static void sign_record(uint8_t *bytes, size_t len)
{
    static const char prefix[] = "gmcast-record-2\n";
    uint8_t signed_bytes[sizeof(prefix) - 1 + sizeof(told.record)];
    size_t signature_len = sizeof(told.signature);
    struct gmc_bytes record = keep(told.record, bytes, len);
    memcpy(signed_bytes, prefix, sizeof(prefix) - 1);
    memcpy(signed_bytes + sizeof(prefix) - 1, record.data, record.len);
    gmc_status status =
        pump.ends[SOURCE].crypto.ops->sign(pump.ends[SOURCE].crypto.ctx, NULL,
                                           gmc_bytes(signed_bytes, sizeof(prefix) - 1 + record.len),
                                           told.signature, &signature_len);
    GMC_ASSERT(status == GMC_OK);
    for (size_t i = 0; i < 2; i++) {
        told.place[i].record = record;
        told.place[i].signature = gmc_bytes(told.signature, signature_len);
    }
}

/* A record that the source has signed: mostly one that fits. */
static void a_record(struct gmc_reader *r)
{
    uint64_t e = any_e(r);
    uint8_t secret[GMC_KEY_BYTES];
    secret_of(e, secret);
    uint8_t bits = gmc_reader_u8(r);
    struct gmc_record record = {.source = names[SOURCE],
                                .e = e,
                                .version = gmc_reader_u8(r) % 4,
                                .epoch = gmc_reader_u8(r) % 3,
                                .listing_bytes = number(r),
                                .total_bytes = number(r),
                                .block_bytes = bits & 4 ? (uint32_t)number(r) : GW_BLOCK_BYTES,
                                .fragment_bytes = bits & 8 ? (uint32_t)number(r) : 1100,
                                .rate_bps = bits & 16 ? number(r) : 0,
                                .members = bits & 32 ? 1 : 2,
                                .name = (bits & 192) == 64 ? "news" : NULL,
                                .order = (bits & 192) == 64 ? bits % 4u : 0};
    pump.ends[SOURCE].crypto.ops->hash(secret, GMC_KEY_BYTES, record.key_hash);
    make_members(bits, record.root);
    uint8_t *bytes;
    size_t len;
    if (gmc_record_encode(&record, &bytes, &len) != GMC_OK)
        return;
    sign_record(bytes, len);
    struct gmc_msg msg = {.type = GMC_MSG_CHANNEL,
                          .source = names[SOURCE],
                          .e = e,
                          .secret = secret,
                          .place = told.place[0]};
    object = (struct gmc_object){.listing_bytes = record.listing_bytes,
                                 .total_bytes = record.total_bytes,
                                 .block_bytes = record.block_bytes,
                                 .fragment_bytes = record.fragment_bytes};
    pump_say(&pump, bits & 64 ? MEMBER : SOURCE, &msg);
}

/* A block's bytes: zeros, and pages that say so, signed by the source. */
static void block_bytes(uint64_t e, uint32_t block, uint8_t *out)
{
    memset(out, 0, GW_BLOCK_BYTES);
    if (!gmc_block_is_page(block))
        return;
    struct gmc_page page = {.index = gmc_block_page(block)};
    page.first = page.index * GMC_PAGE_HASHES;
    uint64_t left = gmc_object_data_blocks(&object);
    left = left > page.first ? left - page.first : 1;
    page.count = left < GMC_PAGE_HASHES ? (uint32_t)left : GMC_PAGE_HASHES;
    struct gmc_page_context context = {.key = {.e = e}};
    memcpy(context.key.source, names[SOURCE], strlen(names[SOURCE]));
    gmc_status status = gmc_page_write(&pump.ends[SOURCE].crypto, NULL, &context, &page, out);
    (void)status; /* a page that cannot be is sent as it is */
}

static void offer(int p, const struct gmc_link_data *data)
{
    gw_begin_input(pump.gw, pump.now);
    (void)gw_rx_data(pump.gw, pump_peer(&pump, (size_t)p), data);
}

/* Fragments of a block, sealed as the source would. */
static void a_block(struct gmc_reader *r)
{
    int p = gmc_reader_u8(r) % PEERS;
    uint64_t e = any_e(r);
    uint8_t epoch = gmc_reader_u8(r) % 3, bits = gmc_reader_u8(r);
    uint16_t handle = gmc_reader_u8(r) % 16;
    uint32_t block = (uint32_t)number(r);
    if (gmc_object_check(&object) != GMC_OK || block >= gmc_object_blocks(&object))
        return;
    uint8_t secret[GMC_KEY_BYTES], *plain = malloc(GW_BLOCK_BYTES);
    secret_of(e, secret);
    struct gmc_aead *aead = crypto.ops->aead_new(crypto.ctx, secret);
    GMC_ASSERT(plain != NULL && aead != NULL);
    block_bytes(e, block, plain);
    uint32_t len = gmc_block_len(&object, block), count = gmc_fragment_count(&object, len);
    struct gwchannel ch = {.key = {.e = e}, .epoch = epoch};
    for (uint16_t f = bits & 1 ? 1 : 0; f < count; f++) {
        uint8_t nonce[GMC_NONCE_BYTES], aad[18], tag[GMC_SEAL_TAG_BYTES];
        uint32_t part = gmc_fragment_len(&object, len, f);
        uint8_t *at = plain + (size_t)f * object.fragment_bytes;
        at[0] ^= (uint8_t)(bits & 2); /* it does not match its hash then */
        gw_seal_nonce(block, f, nonce);
        gmc_status status =
            crypto.ops->seal(aead, nonce, gw_seal_aad(&ch, block, f, aad), at, part, at, tag);
        GMC_ASSERT(status == GMC_OK);
        tag[0] ^= (uint8_t)(bits & 4);
        struct gmc_link_data data = {.handle = handle,
                                     .block = block,
                                     .fragment = f,
                                     .body = gmc_bytes(at, bits & 8 ? part - 1 : part),
                                     .seal_tag = tag};
        offer(p, &data);
    }
    crypto.ops->aead_free(aead);
    free(plain);
}

static void store_answers(struct gmc_reader *r)
{
    uint8_t count = gmc_reader_u8(r), bits = gmc_reader_u8(r);
    for (; count > 0 && pump.op_count > 0; count--) {
        struct gmc_store_op op = pump_take_op(&pump, bits & 1); /* in any order */
        struct gmc_store_result result = {.ticket = op.ticket,
                                          .listing_bytes = 100,
                                          .total_bytes = (uint64_t)bits << 16,
                                          .file_count = 1};
        if (bits >= 240 && count == 1)
            result.status = -(gmc_status)(bits - 230);
        if (op.kind == GMC_STORE_READ || op.kind == GMC_STORE_READ_PAGE) {
            memset(op.data, bits & 2, op.len);
            crypto.ops->hash(op.data, op.len, result.hash);
        }
        if (op.kind == GMC_STORE_WRITE && result.status == GMC_OK) {
            crypto.ops->hash(op.data, op.len, result.hash);
            if ((bits & 4) != 0 && memcmp(op.hash, result.hash, GMC_HASH_BYTES) != 0)
                result.status = GMC_ERR_MISMATCH;
        }
        gmc_gateway_on_stored(pump.gw, pump.now, &result);
        pump_drain(&pump);
    }
}

static void user(struct gmc_reader *r)
{
    static const char *const paths[] = {"/data"};
    uint8_t what = gmc_reader_u8(r);
    const char *error;
    struct gmc_stage_target targets[] = {{names[what % PEERS], "", NULL},
                                         {names[(what + 1) % PEERS], "", "n1"}};
    struct gmc_channel_key key = {.e = own_e};
    memcpy(key.source, names[3], strlen(names[3]));
    gmc_status status = GMC_OK;
    if (what < 100) {
        struct gmc_stage_request request = {.sources = paths,
                                            .source_count = 1,
                                            .targets = targets,
                                            .target_count = what % 2 + 1u,
                                            .shape = (enum gmc_tree_shape)(what % 7)};
        status = gmc_gateway_stage(pump.gw, pump.now, &request, &key, &error);
        own_e = status == GMC_OK ? key.e : own_e;
    } else if (what < 150) {
        status = gmc_gateway_add(pump.gw, pump.now, &key, targets, &error);
    } else if (what < 200) {
        status = gmc_gateway_resume(pump.gw, pump.now, &key, &error);
    } else if (what < 220) {
        status = gmc_gateway_cancel(pump.gw, pump.now, &key, &error);
    } else if (what < 230) {
        const char *const hearers[] = {targets[0].domain, targets[1].domain};
        struct gmc_open_request request = {.name = "news",
                                           .targets = hearers,
                                           .target_count = what % 3,
                                           .order = (enum gmc_message_order)(what % 4)};
        status = gmc_gateway_open(pump.gw, pump.now, &request, &key, &error);
        own_e = status == GMC_OK ? key.e : own_e;
    } else if (what < 250) {
        static const uint8_t message[100000];
        status =
            gmc_gateway_publish(pump.gw, pump.now, own_e, gmc_bytes(message, number(r) % 100001));
    } else {
        status = gmc_gateway_end(pump.gw, pump.now, own_e, "enough");
    }
    (void)status; /* it may well refuse */
}

static void any_bytes(struct gmc_reader *r, bool as_datagram)
{
    int p = gmc_reader_u8(r) % PEERS;
    size_t len = gmc_reader_u8(r);
    len = len < gmc_reader_left(r) ? len : gmc_reader_left(r);
    struct gmc_bytes bytes = gmc_reader_bytes(r, len);
    if (!as_datagram) {
        pump_say_bytes(&pump, (size_t)p, bytes);
        return;
    }
    struct gmc_dgram_in in = {.from = {.len = 2}, .bytes = bytes, .peer = GMC_PEER_NONE};
    (void)gmc_gateway_on_datagram(pump.gw, pump.now, &in);
}

static void operate(uint8_t op, struct gmc_reader *r)
{
    switch (op % 12) {
    case 0:
    case 1:
    case 2:
        any_message(r);
        break;
    case 3:
        a_record(r);
        break;
    case 4:
    case 5:
        a_block(r);
        break;
    case 6:
    case 7:
        store_answers(r);
        break;
    case 8:
        user(r);
        break;
    case 9:
        pump_pass(&pump, (gmc_duration)gmc_reader_u8(r) * gmc_reader_u8(r) * GMC_US(100));
        break;
    case 10:
        any_bytes(r, op >= 128);
        break;
    default:
        if (pump.ends[op / 12 % PEERS].link != NULL && op >= 128)
            pump_session_down(&pump, op / 12 % PEERS);
        else
            pump_session_up(&pump, op / 12 % PEERS);
        pump_pass(&pump, GMC_MS(1));
        break;
    }
}

static void check_bounds(void)
{
    GMC_ASSERT(gmc_cache_bytes_used(pump.gw->cache) <= 17u * (GMC_CACHE_BODY_BYTES + 1024u));
    GMC_ASSERT(gmc_gateway_channel_count(pump.gw) <= CHANNELS_MAX);
    GMC_ASSERT(gmc_gateway_peer_count(pump.gw) <= sizeof(names) / sizeof(names[0]));
    struct gmc_channel_info info;
    struct gmc_member_info member;
    for (size_t i = 0; gmc_gateway_channel_info(pump.gw, pump.now, i, &info); i++)
        for (size_t j = 0; gmc_gateway_member_info(pump.gw, pump.now, i, j, &member); j++)
            GMC_ASSERT(member.domain != NULL && member.reason != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t seed[32] = {1};
    struct gmc_crypto_cheap *own = gmc_crypto_cheap_new(names[3], seed), *others[PEERS];
    GMC_ASSERT(own != NULL);
    gmc_crypto_cheap_table(own, &crypto);
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t spki_len = sizeof(spki);
    gmc_status status = gmc_crypto_cheap_spki(names[3], spki, &spki_len);
    GMC_ASSERT(status == GMC_OK);
    struct gmc_gateway_config config = {.domain = names[3],
                                        .crypto = &crypto,
                                        .spki = gmc_bytes(spki, spki_len),
                                        .cache_bytes = 1,
                                        .children_max = 2,
                                        .channels_max = CHANNELS_MAX,
                                        .fixed_rate_bps = 1000000000};
    memset(&pump, 0, sizeof(pump));
    pump.now = GMC_S(1);
    pump.next_session = 1;
    pump.end_count = PEERS;
    own_e = 1;
    object = (struct gmc_object){0};
    memset(&told, 0, sizeof(told));
    pump.gw = gmc_gateway_new(&config, pump.now);
    GMC_ASSERT(pump.gw != NULL);
    gmc_gateway_start(pump.gw, pump.now);
    for (int p = 0; p < PEERS; p++) {
        others[p] = gmc_crypto_cheap_new(names[p], seed);
        GMC_ASSERT(others[p] != NULL);
        pump.ends[p].name = names[p];
        gmc_crypto_cheap_table(others[p], &pump.ends[p].crypto);
        pump_session_up(&pump, (size_t)p);
    }
    pump_pass(&pump, GMC_MS(200)); /* until the links are up and know their MTU */
    struct gmc_reader r;
    gmc_reader_init(&r, gmc_bytes(data, size));
    for (int i = 0; i < 200 && gmc_reader_left(&r) > 0; i++) {
        operate(gmc_reader_u8(&r), &r);
        pump_settle(&pump);
        check_bounds();
    }
    pump_close(&pump);
    for (int p = 0; p < PEERS; p++)
        gmc_crypto_cheap_free(others[p]);
    gmc_crypto_cheap_free(own);
    return 0;
}
