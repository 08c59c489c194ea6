/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of a node in its domain's tree: its gateway names any neighbours, with any
 * sessions, as often as it likes, and those say and send anything; by multicast it reaches those
 * that it is told to relay to. Nothing may crash or be asserted, its memory stays within its
 * bounds; and once the gateway names no neighbours any more it can bring the whole object.
 *
 * Input   a byte for the size of fragments and for multicast, then operations: a byte each, then
 * what that one reads
 */
#include <string.h>

#include "tests/fuzz/receiver.h"

enum { NEIGHBOURS = PUMP_ENDS_MAX - 1, TOLD_MAX = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char own_name[] = "n.example";
static const char *const names[PUMP_ENDS_MAX] = {receiver_gateway, "o.example", "p.example",
                                                 "q.example"};
static const uint8_t group_address[] = {239, 255, 1, 1};

/* Mostly a neighbour; or somebody who cannot be one. */
static const char *a_name(uint8_t byte)
{
    if (byte >= 240)
        return byte % 2 ? own_name : receiver_source;
    return names[byte >= 224 ? RECEIVER_VOICE : 1 + byte % NEIGHBOURS];
}

/* The other side of what was offered, if the node took it: all that it sends has its key. */
static void answer_session(const struct gmc_msg_neighbour *offered)
{
    for (size_t end = 1; end < PUMP_ENDS_MAX; end++) {
        const struct gwpeer *peer = pump_peer(&receiver.pump, end);
        const struct gmc_link *mirror = receiver.pump.ends[end].link;
        struct gmc_session session = {.initiator = offered->is_parent,
                                      .local_id = offered->receive_id,
                                      .remote_id = offered->send_id,
                                      .transport = GMC_TRANSPORT_UDP,
                                      .udp_payload_max = receiver.pump.payload_max};
        if (strcmp(names[end], offered->name) != 0 || peer->link == NULL ||
            gmc_link_session_id(peer->link) != offered->receive_id ||
            (mirror != NULL && gmc_link_session_id(mirror) == offered->send_id))
            continue;
        memcpy(session.send_secret, offered->send_key, GMC_KEY_BYTES);
        memcpy(session.recv_secret, offered->receive_key, GMC_KEY_BYTES);
        pump_link(&receiver.pump, end, &session);
    }
}

/* Numbers from a few, so that sessions meet: those of others, and the gateway's own, whose keys are
 * others. */
static void tell_tree(struct gmc_reader *r)
{
    static const uint8_t address[] = {10, 0, 0, 1, 0x1c, 0xf3};
    struct gmc_msg_neighbour list[TOLD_MAX - 1];
    uint8_t keys[TOLD_MAX - 1][2][GMC_KEY_BYTES];
    struct gmc_msg msg = receiver_about(GMC_MSG_TREE);
    msg.neighbours = list;
    msg.neighbour_count = gmc_reader_u8(r) % TOLD_MAX;
    for (size_t i = 0; i < msg.neighbour_count; i++) {
        uint8_t bits = gmc_reader_u8(r), name = gmc_reader_u8(r);
        uint8_t receive_id = gmc_reader_u8(r), send_id = gmc_reader_u8(r);
        list[i] = (struct gmc_msg_neighbour){.name = a_name(name),
                                             .is_parent = bits & 1,
                                             .by_group = bits & 4,
                                             .address = gmc_bytes(address, bits & 2 ? 1 : 6),
                                             .receive_id = 1 + receive_id % 32u,
                                             .send_id = 1 + send_id % 32u,
                                             .send_key = keys[i][0],
                                             .receive_key = keys[i][1]};
        memset(keys[i][0], 128 | bits, GMC_KEY_BYTES);
        memset(keys[i][1], 64 | bits, GMC_KEY_BYTES);
    }
    pump_say(&receiver.pump, RECEIVER_VOICE, &msg);
    for (size_t i = 0; i < msg.neighbour_count; i++)
        answer_session(&list[i]);
    pump_pass(&receiver.pump, GMC_MS(1));
}

static void neighbour_says(struct gmc_reader *r)
{
    static const enum gmc_msg_type types[] = {GMC_MSG_ATTACH, GMC_MSG_ATTACHED, GMC_MSG_HAVE,
                                              GMC_MSG_WANT,   GMC_MSG_REDIRECT, GMC_MSG_DETACH,
                                              GMC_MSG_STATUS, GMC_MSG_LEAVE,    GMC_MSG_COMPLETE,
                                              GMC_MSG_TREE,   GMC_MSG_CLOSE,    GMC_MSG_GROUP,
                                              GMC_MSG_CHANNEL};
    size_t end = 1 + gmc_reader_u8(r) % NEIGHBOURS;
    uint8_t type = gmc_reader_u8(r), bits = gmc_reader_u8(r);
    const char *path[2] = {a_name(gmc_reader_u8(r)), receiver_source};
    uint64_t first = gmc_reader_u8(r) % 32, last = first + gmc_reader_u8(r) % 32;
    struct gmc_msg_range ranges[2] = {{first, last}, {100, UINT32_MAX}};
    struct gmc_msg msg = receiver_about(types[type % (sizeof(types) / sizeof(types[0]))]);
    msg.names = path;
    msg.name_count = bits % 3;
    msg.ranges = ranges;
    msg.range_count = bits >> 2 & 1 ? 1 : bits >> 7 & 1 ? 2 : 0;
    msg.version = 1;
    msg.epoch = (bits & 12) == 12 ? 2 : 1;
    msg.handle = 1 + (bits >> 4) % 3;
    msg.window = gmc_reader_u8(r);
    msg.status = bits & 1 ? GMC_ERR_AGAIN : GMC_OK;
    msg.text = msg.parent = msg.redirect = path[0];
    msg.place = receiver_channel()->place.view;
    msg.secret = msg.digest = receiver.content_key;
    msg.group = 1 + bits / 64u;
    msg.payload = gmc_bytes(group_address, bits & 32 ? 0 : sizeof(group_address));
    pump_say(&receiver.pump, end, &msg);
}

/* Over its link, or straight behind it; it has the content key, so that it may be anything. */
static void neighbour_sends(struct gmc_reader *r)
{
    size_t end = 1 + gmc_reader_u8(r) % NEIGHBOURS;
    uint32_t number = gmc_reader_u8(r) % (uint32_t)gmc_object_blocks(&receiver.object);
    uint8_t bits = gmc_reader_u8(r);
    uint8_t plain[1024], tag[GMC_SEAL_TAG_BYTES] = {0};
    if (bits < 192) {
        receiver_link_brings(end, number, bits % 3);
        return;
    }
    memset(plain, bits, sizeof(plain));
    struct gmc_link_data data = {.handle = (uint16_t)(bits % 5),
                                 .block = number + (bits & 8 ? 1u << 20 : 0),
                                 .fragment = bits & 3,
                                 .body = gmc_bytes(plain, bits & 4 ? 7 : sizeof(plain)),
                                 .seal_tag = tag};
    struct gwpeer *peer = pump_peer(&receiver.pump, end);
    gw_begin_input(receiver.pump.gw, receiver.pump.now);
    (void)gw_rx_data(receiver.pump.gw, peer, &data);
}

/* Its shell finds that it can multicast, that it cannot any more, or that it stands elsewhere. */
static void shell_says(uint8_t bits)
{
    struct gmc_bytes address = gmc_bytes(group_address, bits & 1 ? sizeof(group_address) : 0);
    gmc_gateway_set_group(receiver.pump.gw, receiver.pump.now, address, 1000000000, 1472);
    gmc_gateway_set_subnet(receiver.pump.gw, receiver.pump.now, bits & 2 ? "left" : "");
}

static void operate(uint8_t op, struct gmc_reader *r)
{
    switch (op % 11) {
    case 0:
    case 1:
        tell_tree(r);
        break;
    case 2:
        neighbour_says(r);
        break;
    case 3:
        neighbour_sends(r);
        break;
    case 4:
        receiver_link_brings(RECEIVER_VOICE,
                             gmc_reader_u8(r) % (uint32_t)gmc_object_blocks(&receiver.object),
                             op / 11 % 3);
        break;
    case 5:
        receiver_store_answers(gmc_reader_u8(r), op / 11 % 8);
        break;
    case 6:
        pump_pass(&receiver.pump, (gmc_duration)gmc_reader_u8(r) * gmc_reader_u8(r) * GMC_US(100));
        break;
    case 7:
        receiver_any_datagram(r);
        break;
    case 8:
        receiver_hears_report(1 + gmc_reader_u8(r) % NEIGHBOURS, r);
        break;
    case 9:
        shell_says(gmc_reader_u8(r));
        break;
    default:
        if (op >= 128 && receiver.pump.ends[RECEIVER_VOICE].link != NULL)
            pump_session_down(&receiver.pump, RECEIVER_VOICE);
        else
            pump_session_up(&receiver.pump, RECEIVER_VOICE);
        receiver.version += op >= 192;
        receiver_tell();
    }
}

static void check(void)
{
    const struct gwchannel *ch = receiver_channel();
    receiver_check();
    GMC_ASSERT(ch->child_count <= NEIGHBOURS);
    for (size_t i = 0; i < ch->dst->neighbour_count; i++)
        GMC_ASSERT(ch->dst->neighbours[i].peer->number != receiver.pump.gw->self &&
                   ch->dst->neighbours[i].peer != ch->source_peer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t fragments[] = {8192, 1425, 13108, 1024};
    struct gmc_reader r;
    gmc_reader_init(&r, gmc_bytes(data, size));
    uint8_t bits = gmc_reader_u8(&r);
    receiver_open(own_name, receiver_gateway, names, 18, fragments[bits % 4]);
    receiver.pump.has_group = true;
    shell_says(bits >> 2);
    receiver_begin(1);
    for (int i = 0; i < 100 && gmc_reader_left(&r) > 0; i++) {
        operate(gmc_reader_u8(&r), &r);
        pump_settle(&receiver.pump);
        check();
    }
    if (receiver.pump.ends[RECEIVER_VOICE].link == NULL)
        pump_session_up(&receiver.pump, RECEIVER_VOICE);
    struct gmc_msg alone = receiver_about(GMC_MSG_TREE);
    pump_say(&receiver.pump, RECEIVER_VOICE, &alone);
    int rounds = 0;
    for (; receiver_goes_on(); rounds++)
        GMC_ASSERT(rounds < RECEIVER_ROUNDS_MAX);
    receiver_close();
    return 0;
}
