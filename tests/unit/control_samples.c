/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the sample messages of the control codec's tests. */
#include "tests/unit/control_samples.h"

static const uint8_t secret[32] = {1, 2, 3, 4, 5, 6, 7, 8, [31] = 0xff};
static const uint8_t digest[32] = {[0] = 0xd1, [15] = 0x55, [31] = 0x9e};
static const uint8_t mask[1] = {0x05};
static const char *const names[] = {"cern.example", "ornl.example", "ufl.example"};
static const struct gmc_msg_latency latencies[] = {{1, 31000000, 250000}, {2, 5500000, 1000}};
static const struct gmc_msg_range ranges[] = {{0, 9}, {12, 12}, {13, 300}, {70000, UINT32_MAX}};
static const struct gmc_msg_child children[] = {{"ornl.example", 17, 0, 0, 0},
                                                {"ufl.example", 0, 3, 52000, 20000000}};
static const char *const parents[] = {"", "ufl.example"};
static const struct gmc_msg_need needs[] = {{17, 9, 4, {NULL, 0}}, {18, 63, 190, {secret, 24}}};

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }
#define PLACE                                                                                      \
    .place = {.record = TEXT("record"),                                                            \
              .signature = TEXT("signature"),                                                      \
              .member = TEXT("member"),                                                            \
              .index = 2,                                                                          \
              .siblings = {digest, 32}}
static const struct gmc_msg_neighbour neighbours[] = {{"n1.cern.example", true,
                                                       TEXT("\x7f\x00\x00\x01\x1f\x90"), 0x80000001,
                                                       7, secret, digest, false},
                                                      {"n4.cern.example", false, TEXT("\x0a"), 8,
                                                       0xfffffffe, digest, secret, true}};

#define CHANNEL .source = "cern.example", .e = 0x00f3a9c2d4e5b617
#define RANGES .ranges = ranges, .range_count = 4

const struct control_sample control_samples[] = {
    {"probe",
     {.type = GMC_MSG_PROBE,
      .probe_id = 77,
      .secret = secret,
      .names = names,
      .name_count = 3,
      .mask = {mask, 1}}},
    {"probe_rates",
     {.type = GMC_MSG_PROBE,
      .probe_id = 77,
      .secret = secret,
      .names = names,
      .name_count = 3,
      .rates = GMC_RATES_ANEW}},
    {"join",
     {.type = GMC_MSG_JOIN,
      .probe_id = 77,
      .latencies = latencies,
      .latency_count = 2,
      .uplink_bps = 100000000,
      .downlink_bps = 1000000000}},
    {"join_measured",
     {.type = GMC_MSG_JOIN,
      .probe_id = 77,
      .measured_bps = 93000000,
      .measured_busy_bps = 92000000,
      .measured_limit_bps = 91000000}},
    {"channel", {.type = GMC_MSG_CHANNEL, CHANNEL, .secret = secret, PLACE}},
    {"channel_to_node",
     {.type = GMC_MSG_CHANNEL, CHANNEL, .secret = secret, .source_key = TEXT("spki"), PLACE}},
    {"tree_ready", {.type = GMC_MSG_TREE_READY, CHANNEL, .version = 3}},
    {"tree_ready_of_node",
     {.type = GMC_MSG_TREE_READY,
      CHANNEL,
      .version = 3,
      .subnet = "10.2.0.0/16",
      .can_relay = true}},
    {"leave", {.type = GMC_MSG_LEAVE, CHANNEL, .status = GMC_ERR_QUOTA, .text = "over 10 TB"}},
    {"attach",
     {.type = GMC_MSG_ATTACH,
      CHANNEL,
      .version = 3,
      .epoch = 2,
      .handle = 65535,
      .window = 256,
      RANGES,
      .more = true,
      .stripe = 7,
      PLACE}},
    {"attached",
     {.type = GMC_MSG_ATTACHED,
      CHANNEL,
      .version = 3,
      .epoch = 2,
      .handle = 5,
      .names = names,
      .name_count = 2,
      .stripe = 1}},
    {"redirect",
     {.type = GMC_MSG_REDIRECT,
      CHANNEL,
      .status = GMC_ERR_FULL,
      .text = "8 children are enough",
      .redirect = "ufl.example",
      .stripe = 2,
      PLACE}},
    {"detach",
     {.type = GMC_MSG_DETACH,
      CHANNEL,
      .status = GMC_ERR_MISMATCH,
      .text = "bad blocks",
      .stripe = 3}},
    {"have", {.type = GMC_MSG_HAVE, CHANNEL, .window = 250, RANGES}},
    {"want", {.type = GMC_MSG_WANT, CHANNEL, RANGES}},
    {"status",
     {.type = GMC_MSG_STATUS,
      CHANNEL,
      .bytes = 123456789012,
      .parent = "cern.example",
      .names = parents,
      .name_count = 2,
      .children = children,
      .child_count = 2}},
    {"status_measured",
     {.type = GMC_MSG_STATUS,
      CHANNEL,
      .bytes = 1,
      .measured_bps = 93000000,
      .measured_busy_bps = 92000000,
      .measured_limit_bps = 91000000}},
    {"complete", {.type = GMC_MSG_COMPLETE, CHANNEL, .bytes = 123456789012, .digest = digest}},
    {"status_left", {.type = GMC_MSG_STATUS, CHANNEL, .nodes = 3, .nodes_left = 1}},
    {"complete_left",
     {.type = GMC_MSG_COMPLETE, CHANNEL, .digest = digest, .text = "1 of 3 nodes left"}},
    {"close",
     {.type = GMC_MSG_CLOSE,
      CHANNEL,
      .status = GMC_ERR_CANCELLED,
      .text = "cancelled by the user",
      .discard = true}},
    {"request", {.type = GMC_MSG_REQUEST, .request_id = 9, .payload = {(const uint8_t *)"ask", 3}}},
    {"reply", {.type = GMC_MSG_REPLY, .request_id = 9, .payload = {(const uint8_t *)"answer", 6}}},
    {"skip", {.type = GMC_MSG_SKIP, CHANNEL, .floor = 70000000000}},
    {"group",
     {.type = GMC_MSG_GROUP,
      CHANNEL,
      .epoch = 2,
      .group = 0x80000001,
      .next = 5000000000,
      .secret = secret,
      .payload = {(const uint8_t *)"239.255.1.2", 11}}},
    {"group_report",
     {.type = GMC_MSG_GROUP_REPORT,
      CHANNEL,
      .group = 0x80000001,
      .text = "",
      .received = 950,
      .next = 1000,
      .needs = needs,
      .need_count = 2}},
    {"tree", {.type = GMC_MSG_TREE, CHANNEL, .neighbours = neighbours, .neighbour_count = 2}},
    {"domain", {.type = GMC_MSG_DOMAIN, .nodes_payload = 1452}},
};
const size_t control_sample_count = sizeof(control_samples) / sizeof(control_samples[0]);

const struct gmc_record record_sample = {
    .source = "cern.example",
    .e = 0x00f3a9c2d4e5b617,
    .version = 3,
    .epoch = 2,
    .key_hash = {[0] = 0xaa, [31] = 0xbb},
    .listing_bytes = 4711,
    .total_bytes = 1u << 30,
    .block_bytes = 65536,
    .fragment_bytes = 1431,
    .rate_bps = 10000000000,
    .planned_bps = 123456789,
    .shape = 1,
    .stripes = 3,
    .members = 1000,
    .root = {[0] = 0xcc, [31] = 0xdd},
};

const struct gmc_member member_sample = {
    .domain = "ornl.example",
    .path = "in/\xff new",
    .trees = {{names + 2, 1}, {NULL, 0}, {parents + 1, 1}},
    .stripes = 3,
    .is_relay = true,
};
