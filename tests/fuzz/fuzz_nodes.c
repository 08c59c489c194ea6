/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the fuzzer of a gateway with nodes: while its source sends it an object, its nodes, any of
 * which may be hostile, come and go and say anything, and its shell has multicast, trees and nodes
 * as the input says. Nothing may crash or be asserted, its memory stays within its bounds; and
 * whatever the nodes did, the gateway gets the whole object, and tells its source how it ended.
 *
 * Input   a byte for the size of fragments and for the shell, then operations: a byte each, then
 * what that one reads
 */
#include <string.h>

#include "tests/fuzz/receiver.h"

enum { NODES = PUMP_ENDS_MAX - 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[PUMP_ENDS_MAX] = {receiver_source, "n1.example", "n2.example",
                                                 "n3.example"};
static const char *const subnets[] = {"", "left", "right", "far away"};

/* ---- the shell ---- */
/* Each feeds the next; or what is no tree. */
static gmc_status shape(void *ctx, const char *const *members, size_t count, uint64_t bytes,
                        uint32_t *parent, const char **name)
{
    const uint8_t *bits = ctx;
    (void)members;
    (void)bytes;
    *name = "chain";
    for (size_t i = 0; i < count; i++)
        parent[i] = *bits & 8 ? (uint32_t)(i ^ 1) : i > 0 ? (uint32_t)i - 1 : 0;
    return *bits & 16 ? GMC_ERR_LIMIT : GMC_OK;
}

static void shell_says(uint8_t bits)
{
    static const uint8_t address[] = {239, 255, 1, 1};
    static const char *const inside[] = {"nodes", "shared", "gateway", "n1+n3"};
    static uint8_t shape_bits;
    struct gmc_inside_tree tree = {.shape = shape, .ctx = &shape_bits};
    struct gmc_gateway *gw = receiver.pump.gw;
    shape_bits = bits;
    gmc_gateway_set_group(gw, receiver.pump.now, gmc_bytes(address, bits & 1 ? sizeof(address) : 0),
                          1000000000, bits & 8 ? 1472 : 1300);
    gmc_gateway_set_subnet(gw, receiver.pump.now, bits & 2 ? "left" : "");
    gmc_gateway_set_inside_tree(gw, receiver.pump.now, bits & 4 ? &tree : NULL);
    gmc_gateway_set_deliver(gw, receiver.pump.now, inside[bits >> 5 & 3]);
}

static void set_node(uint8_t bits)
{
    gmc_peer peer = gmc_gateway_peer(receiver.pump.gw, names[1 + bits % NODES]);
    gmc_gateway_set_node(receiver.pump.gw, receiver.pump.now, peer, bits & 128);
}

/* ---- the source ---- */
/* It is lost, and comes back; it tells of its transfer again, or resumes it. */
static void voice_says(uint8_t bits)
{
    if (bits & 1 && receiver.pump.ends[RECEIVER_VOICE].link != NULL)
        pump_session_down(&receiver.pump, RECEIVER_VOICE);
    else if (bits & 2)
        pump_session_up(&receiver.pump, RECEIVER_VOICE);
    receiver.version += bits >> 2 & 1;
    receiver_tell();
}

/* ---- the nodes ---- */
static void node_session(uint8_t bits)
{
    size_t end = 1 + bits % NODES;
    if (bits & 128 && receiver.pump.ends[end].link != NULL)
        pump_session_down(&receiver.pump, end);
    else
        pump_session_up(&receiver.pump, end);
    pump_pass(&receiver.pump, GMC_MS(20));
}

/* As an honest one does when it was told of the channel. */
static void node_joins(uint8_t bits)
{
    size_t end = 1 + bits % NODES;
    struct gmc_msg ready = receiver_about(GMC_MSG_TREE_READY);
    ready.version = 1;
    ready.subnet = subnets[bits >> 2 & 3];
    ready.can_relay = bits & 16;
    pump_say(&receiver.pump, end, &ready);
    struct gmc_msg attach = receiver_about(GMC_MSG_ATTACH);
    attach.version = attach.epoch = attach.handle = 1;
    attach.window = 1 + (bits >> 5);
    attach.place = receiver_channel()->place.view;
    pump_say(&receiver.pump, end, &attach);
}

static void node_says(struct gmc_reader *r)
{
    static const enum gmc_msg_type types[] = {
        GMC_MSG_TREE_READY, GMC_MSG_LEAVE,   GMC_MSG_STATUS,   GMC_MSG_COMPLETE,
        GMC_MSG_ATTACH,     GMC_MSG_HAVE,    GMC_MSG_WANT,     GMC_MSG_DETACH,
        GMC_MSG_ATTACHED,   GMC_MSG_CLOSE,   GMC_MSG_REDIRECT, GMC_MSG_GROUP,
        GMC_MSG_TREE,       GMC_MSG_CHANNEL, GMC_MSG_REQUEST,  GMC_MSG_SKIP};
    size_t end = 1 + gmc_reader_u8(r) % NODES;
    uint8_t type = gmc_reader_u8(r), bits = gmc_reader_u8(r);
    const char *name = names[gmc_reader_u8(r) % PUMP_ENDS_MAX];
    uint64_t first = gmc_reader_u8(r) % 32, last = first + gmc_reader_u8(r) % 32;
    struct gmc_msg_range ranges[2] = {{first, last}, {100, UINT32_MAX}};
    struct gmc_msg msg = receiver_about(types[type % (sizeof(types) / sizeof(types[0]))]);
    msg.ranges = ranges;
    msg.range_count = 1 + (bits & 1);
    msg.version = 1;
    msg.epoch = (bits & 12) == 12 ? 2 : 1;
    msg.handle = 1 + (bits >> 4) % 3;
    msg.window = gmc_reader_u8(r);
    msg.bytes = (uint64_t)msg.window << 24;
    msg.status = bits & 1 ? GMC_ERR_AGAIN : GMC_OK;
    msg.subnet = subnets[bits >> 6];
    msg.can_relay = bits & 32;
    msg.text = msg.redirect = name;
    msg.parent = bits & 2 ? receiver_gateway : name;
    msg.place = receiver_channel()->place.view;
    msg.secret = receiver.content_key;
    msg.digest = bits & 16 ? receiver_channel()->digest : receiver.content_key;
    pump_say(&receiver.pump, end, &msg);
}

/* ---- what the input says ---- */
static void operate(uint8_t op, struct gmc_reader *r)
{
    switch (op % 12) {
    case 0:
        node_joins(gmc_reader_u8(r));
        break;
    case 1:
    case 2:
        node_says(r);
        break;
    case 3:
    case 4:
        receiver_hears_report(1 + gmc_reader_u8(r) % NODES, r);
        break;
    case 5:
        receiver_link_brings(RECEIVER_VOICE,
                             gmc_reader_u8(r) % (uint32_t)gmc_object_blocks(&receiver.object),
                             op / 12 % 3);
        break;
    case 6:
        receiver_store_answers(gmc_reader_u8(r), op / 12 % 8);
        break;
    case 7:
        pump_pass(&receiver.pump, (gmc_duration)gmc_reader_u8(r) * gmc_reader_u8(r) * GMC_US(100));
        break;
    case 8:
        node_session(gmc_reader_u8(r));
        break;
    case 9:
        shell_says(gmc_reader_u8(r));
        break;
    case 10:
        voice_says(gmc_reader_u8(r));
        break;
    default:
        if (op >= 128)
            receiver_any_datagram(r);
        else
            set_node(gmc_reader_u8(r));
    }
}

/* The nodes are lost, and time goes by: their gateway does not wait for them for ever. */
static void come_to_an_end(void)
{
    const struct gwtarget *dst = receiver_channel()->dst;
    if (receiver.pump.ends[RECEIVER_VOICE].link == NULL)
        pump_session_up(&receiver.pump, RECEIVER_VOICE);
    for (size_t end = 1; end < PUMP_ENDS_MAX; end++)
        if (receiver.pump.ends[end].link != NULL)
            pump_session_down(&receiver.pump, end);
    for (int rounds = 0; receiver_goes_on(); rounds++)
        GMC_ASSERT(rounds < RECEIVER_ROUNDS_MAX);
    for (int seconds = 0; !dst->told_complete && !dst->told_partial; seconds++) {
        GMC_ASSERT(seconds < 40);
        pump_pass(&receiver.pump, GMC_S(1));
        receiver_store_answers(PUMP_OPS_MAX, 0);
    }
}

/* The source closes it. A node that comes back after that is told so. */
static void stay_over(void)
{
    struct gmc_msg over = receiver_about(GMC_MSG_CLOSE), status = receiver_about(GMC_MSG_STATUS);
    over.text = status.parent = "";
    set_node(129); /* the first one */
    pump_say(&receiver.pump, RECEIVER_VOICE, &over);
    pump_settle(&receiver.pump);
    receiver_store_answers(PUMP_OPS_MAX, 0);
    receiver.told_over = 0;
    pump_session_up(&receiver.pump, 1);
    pump_pass(&receiver.pump, GMC_MS(20));
    pump_say(&receiver.pump, 1, &status);
    pump_pass(&receiver.pump, GMC_MS(20));
    GMC_ASSERT(receiver.told_over == 1u << 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t fragments[] = {8192, 1425, 4096, 1024};
    struct gmc_reader r;
    gmc_reader_init(&r, gmc_bytes(data, size));
    uint8_t bits = gmc_reader_u8(&r);
    receiver_open(receiver_gateway, NULL, names, 18, fragments[bits % 4]);
    receiver.pump.has_group = true;
    for (uint8_t i = 0; i < NODES; i++)
        set_node(i | 128);
    shell_says(bits >> 2);
    receiver_begin(PUMP_ENDS_MAX);
    for (int i = 0; i < 100 && gmc_reader_left(&r) > 0; i++) {
        operate(gmc_reader_u8(&r), &r);
        pump_settle(&receiver.pump);
        receiver_check();
    }
    come_to_an_end();
    stay_over();
    receiver_close();
    return 0;
}
