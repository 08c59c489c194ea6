/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of a node that hears the group of its domain, from its gateway or from a relay:
 * whoever knows the group's keys, as each node does, sends it any datagram, while its gateway
 * serves its link, its store answers and time goes by as the input says. Nothing may crash or be
 * asserted, its memory stays within its bounds; and whatever came, its link can bring it the whole
 * object in the end.
 *
 * Input   a byte for the size of fragments, then operations: a byte each, then what that one reads
 */
#include "tests/fuzz/receiver.h"

#include <stdlib.h>
#include <string.h>

#define CIPHER_BYTES ((size_t)GMC_GROUP_BLOCKS_MAX * GW_BLOCK_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RELAY = 1 }; /* of this node's subnet, if it is told so */
static const char own_name[] = "n.example";
static const char *const names[PUMP_ENDS_MAX] = {receiver_gateway, "o.example", "p.example",
                                                 "q.example"};

static struct gmc_gate gate; /* of the group */
static uint32_t group_number;
static uint64_t next_packet;

/* ---- the group ---- */
static void make_group(uint32_t number)
{
    struct gmc_session session = {.remote_id = number};
    memset(session.send_secret, (int)number, GMC_KEY_BYTES);
    gmc_gate_fini(&gate);
    gmc_status status = gmc_gate_init(&gate, &receiver.crypto, &session);
    GMC_ASSERT(status == GMC_OK);
    group_number = number;
    next_packet = 0;
}

/* It has a relay, or it has none. */
static void tell_tree(bool is_relayed)
{
    static const uint8_t address[] = {10, 0, 0, 1, 0x1c, 0xf3};
    struct gmc_msg msg = receiver_about(GMC_MSG_TREE);
    struct gmc_msg_neighbour relay = {.name = names[RELAY],
                                      .is_parent = true,
                                      .address = gmc_bytes(address, sizeof(address)),
                                      .send_id = 1000,
                                      .receive_id = 1001,
                                      .send_key = receiver.content_key,
                                      .receive_key = receiver.content_key};
    msg.neighbours = &relay;
    msg.neighbour_count = is_relayed;
    pump_say(&receiver.pump, RECEIVER_VOICE, &msg);
}

static void tell_group(uint8_t bits)
{
    static const uint8_t address[] = {239, 255, 1, 1};
    uint8_t key[GMC_KEY_BYTES];
    if (bits & 128)
        tell_tree(bits & 64);
    struct gmc_msg msg = receiver_about(GMC_MSG_GROUP);
    if (bits & 1)
        make_group(group_number + 1);
    memset(key, (int)group_number, sizeof(key));
    msg.group = group_number;
    msg.secret = key;
    msg.next = bits & 2 ? next_packet : next_packet + bits;
    msg.epoch = bits & 4 && bits & 8 ? 2 : 1;
    if ((bits & 48) != 48)
        msg.payload = gmc_bytes(address, sizeof(address));
    pump_say(&receiver.pump, bits & 64 ? RELAY : RECEIVER_VOICE, &msg);
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
    (void)gmc_gateway_on_datagram(receiver.pump.gw, receiver.pump.now, &in);
    free(copy);
    pump_drain(&receiver.pump);
}

/* One fragment: as it is, or another text, badly sealed, too short, or in another's place. */
static void hear_fragment(uint32_t number, uint16_t f, uint8_t bits)
{
    static uint8_t plain[GW_BLOCK_BYTES], out[GMC_DATA_OVERHEAD_BYTES + GW_BLOCK_BYTES];
    uint8_t tag[GMC_SEAL_TAG_BYTES];
    struct gmc_data_head head = {.block = number, .fragment = f};
    if (f >= receiver_fragments(number))
        return;
    receiver_block(number, plain);
    plain[(size_t)f * receiver.object.fragment_bytes] ^= (uint8_t)(bits & 1);
    uint32_t len = receiver_seal(number, f, plain, tag);
    len -= bits & 4 ? 1 : 0;
    tag[0] ^= (uint8_t)(bits & 2);
    head.block += bits & 8 ? (uint32_t)gmc_object_blocks(&receiver.object) : 0;
    head.fragment = (uint16_t)(head.fragment + (bits & 16));
    if (gmc_gate_head(&gate, GMC_KIND_GROUP_DATA, next_packet++, &head, tag, out) != GMC_OK)
        return;
    memcpy(out + GMC_DATA_HEAD_BYTES, plain + (size_t)f * receiver.object.fragment_bytes, len);
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
    struct gmc_fec fec = gmc_fec_code_table(receiver.code);
    struct gmc_group_shape shape;
    struct gmc_data_head head = {.block = window, .fragment = row};
    gmc_group_shape(&receiver.object, window, &shape);
    for (uint32_t i = 0; i < shape.blocks; i++) {
        uint8_t *bytes = cipher + (size_t)i * GW_BLOCK_BYTES;
        receiver_block(shape.first + i, bytes);
        for (uint16_t f = 0; f < receiver_fragments(shape.first + i); f++) {
            uint32_t s = shape.source_of[i] + f,
                     len = receiver_seal(shape.first + i, f, bytes, tags[s]);
            shards[s] = bytes + (size_t)f * receiver.object.fragment_bytes;
            tag_shards[s] = tags[s];
            if (len == shape.shard_bytes)
                continue;
            memset(pads[i], 0, shape.shard_bytes);
            memcpy(pads[i], shards[s], len);
            shards[s] = pads[i];
        }
    }
    uint8_t *parity = out + GMC_DATA_HEAD_BYTES;
    uint8_t *tag = parity + shape.shard_bytes;
    unsigned index = row % GMC_FEC_PARITY_MAX;
    if (fec.ops->encode(fec.ctx, shape.sources, index, 1, shards, shape.shard_bytes, &parity) !=
            GMC_OK ||
        fec.ops->encode(fec.ctx, shape.sources, index, 1, tag_shards, GMC_SEAL_TAG_BYTES, &tag) !=
            GMC_OK)
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
    uint8_t count = gmc_reader_u8(r), members = gmc_reader_u8(r);
    struct gmc_group_state state = {.members = members,
                                    .backoff_us = (uint32_t)gmc_reader_u8(r) * 100,
                                    .count = count % (GMC_GROUP_STATES_MAX + 1)};
    for (size_t i = 0; i < state.count; i++) {
        uint8_t window = gmc_reader_u8(r), sent = gmc_reader_u8(r);
        state.windows[i] = (struct gmc_group_window){window, sent, gmc_reader_u8(r)};
    }
    size_t len = gmc_group_state_put(&state, out + GMC_HEAD_BYTES);
    len -= count > 200 ? 1 : 0;
    if (gmc_gate_seal(&gate, GMC_KIND_GROUP_STATE, next_packet++, out, len) == GMC_OK)
        hear(out, len + GMC_GATE_OVERHEAD);
}

static void hear_block(struct gmc_reader *r)
{
    uint32_t number = gmc_reader_u8(r) % (uint32_t)gmc_object_blocks(&receiver.object);
    uint8_t first = gmc_reader_u8(r), bits = gmc_reader_u8(r);
    uint32_t count = receiver_fragments(number), last = bits & 64 ? first % count : count - 1;
    for (uint32_t f = first % count; f <= last; f++)
        hear_fragment(number, (uint16_t)f, bits & 128 ? bits : 0);
}

static void hear_rows(struct gmc_reader *r)
{
    uint32_t n = gmc_group_blocks(&receiver.object);
    uint32_t windows = ((uint32_t)gmc_object_blocks(&receiver.object) + n - 1) / n;
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
        receiver_link_brings(RECEIVER_VOICE,
                             gmc_reader_u8(r) % (uint32_t)gmc_object_blocks(&receiver.object),
                             op / 9 % 3);
        break;
    case 6:
        receiver_store_answers(gmc_reader_u8(r), op >= 128);
        break;
    case 7:
        pump_pass(&receiver.pump, (gmc_duration)gmc_reader_u8(r) * gmc_reader_u8(r) * GMC_US(100));
        break;
    default:
        if (op >= 128) {
            len = gmc_reader_u8(r);
            len = len < gmc_reader_left(r) ? len : gmc_reader_left(r);
            hear(gmc_reader_bytes(r, len).data, len);
        } else if (receiver.pump.ends[RECEIVER_VOICE].link != NULL && op >= 64) {
            pump_session_down(&receiver.pump, RECEIVER_VOICE);
        } else {
            pump_session_up(&receiver.pump, RECEIVER_VOICE);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t fragments[] = {8192, 1425, 13108, 1024};
    struct gmc_reader r;
    gmc_reader_init(&r, gmc_bytes(data, size));
    receiver_open(own_name, receiver_gateway, names, 26, fragments[gmc_reader_u8(&r) % 4]);
    receiver_begin(1);
    make_group(1);
    tell_group(2);
    for (int i = 0; i < 100 && gmc_reader_left(&r) > 0; i++) {
        operate(gmc_reader_u8(&r), &r);
        pump_settle(&receiver.pump);
        receiver_check();
    }
    if (receiver.pump.ends[RECEIVER_VOICE].link == NULL)
        pump_session_up(&receiver.pump, RECEIVER_VOICE);
    tell_tree(false);
    int rounds = 0;
    for (; receiver_goes_on(); rounds++)
        GMC_ASSERT(rounds < RECEIVER_ROUNDS_MAX);
    gmc_gate_fini(&gate);
    memset(&gate, 0, sizeof(gate));
    receiver_close();
    return 0;
}
