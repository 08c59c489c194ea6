/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the tests of the whole composition over the toy net: transfers end as they should, and what
 * arrives is what was sent. */
#include <string.h>

#include "crypto/cheap.h"
#include "tests/lib/toynet.h"
#include "tests/lib/unit.h"
#include "wire/head.h"

#define MB (1024u * 1024u)
#define BLOCK 65536u
#define TARGETS(n) ((1u << ((n) + 1)) - 2) /* nodes 1 to n */

static struct toynet_config plain_config(void)
{
    return (struct toynet_config){.seed = 7,
                                  .delay = GMC_MS(5),
                                  .listing_bytes = 300,
                                  .total_bytes = 2 * MB,
                                  .fixed_rate_bps = 400000000,
                                  .patience = GMC_S(5),
                                  .node = {.store_delay = GMC_US(200)}};
}

static void check_verified(struct toynet *net, const struct gmc_channel_key *key, size_t node)
{
    struct gmc_channel_info source, target;
    struct gmc_member_info member;
    assert_true(toynet_channel(net, 0, key, &source));
    assert_true(toynet_channel(net, node, key, &target));
    assert_true(toynet_member(net, 0, key, node, &member));
    assert_int_equal(member.state, GMC_MEMBER_VERIFIED);
    assert_memory_equal(member.digest, source.digest, GMC_HASH_BYTES);
    assert_memory_equal(target.digest, source.digest, GMC_HASH_BYTES);
    assert_int_equal(target.state, GMC_CHANNEL_COMPLETE);
    assert_int_equal(toynet_stats(net, node)->finished, 1);
    assert_int_equal(toynet_stats(net, node)->discarded, 0);
    assert_int_equal(toynet_stats(net, node)->wrong_bytes, 0);
}

/* The store of each target was closed: CLOSE has reached all. */
static void check_closed(struct toynet *net, size_t targets)
{
    toynet_run_until(net, gmc_time_add(toynet_now(net), GMC_S(1)));
    for (size_t i = 0; i <= targets; i++)
        assert_int_equal(toynet_stats(net, i)->closed, 1);
}

/* Stages from node 0 to all others and waits for the end. */
static void run_complete(struct toynet *net, size_t targets, enum gmc_tree_shape shape,
                         gmc_duration within, struct gmc_channel_key *key)
{
    struct gmc_channel_info info;
    assert_ok(toynet_stage(net, 0, TARGETS(targets), shape, key));
    assert_true(toynet_run_over(net, 0, key, TOYNET_START + within));
    assert_true(toynet_channel(net, 0, key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    check_closed(net, targets);
    for (size_t i = 1; i <= targets; i++)
        check_verified(net, key, i);
}

/* A chain whose last wire loses 5 %: what the source sent to the relay, in bytes of data. */
static uint64_t sent_for_a_lossy_leaf(bool pass_repairs, uint64_t *passed)
{
    struct toynet_config config = plain_config();
    config.pass_repairs = pass_repairs;
    config.total_bytes = 16 * MB;
    struct toynet *net = toynet_new(&config, 4);
    struct gmc_channel_key key;
    struct gmc_member_info member;
    toynet_node(net, 3)->loss_ppm = 50000;
    run_complete(net, 3, GMC_TREE_CHAIN, GMC_S(10), &key);
    assert_true(toynet_member(net, 0, &key, 3, &member));
    assert_string_equal(member.parent, toynet_name(net, 2)); /* two relays above it */
    assert_true(member.repairs > 20);
    *passed = toynet_counter(net, 2, "repairs_passed");
    assert_true((*passed > 0) == (toynet_counter(net, 1, "repairs_passed") > 0));
    uint64_t sent = toynet_stats(net, 0)->data_sent[1];
    toynet_free(net);
    return sent;
}

/* Repairs come from the cache of the relay, and the source does not notice; by the policy they come
 * from the source, a block for each, and the object arrives all the same. */
static void test_pass_repairs(void **state)
{
    (void)state;
    uint64_t object = 16 * MB, passed;
    assert_true(sent_for_a_lossy_leaf(false, &passed) < object * 105 / 100 + 4 * BLOCK);
    assert_int_equal(passed, 0);
    uint64_t sent = sent_for_a_lossy_leaf(true, &passed);
    assert_true(passed > 20);
    assert_true(sent > object + passed * BLOCK / 2);
}

static void test_chain(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    struct toynet *net = toynet_new(&config, 3);
    struct gmc_channel_key key;
    struct gmc_member_info member;
    run_complete(net, 2, GMC_TREE_CHAIN, GMC_S(2), &key);
    /* The leaf hangs below the relay, and the source's link carried the data once. */
    size_t relay = toynet_stats(net, 0)->data_sent[1] > 0 ? 1 : 2, leaf = 3 - relay;
    assert_true(toynet_member(net, 0, &key, leaf, &member));
    assert_string_equal(member.parent, toynet_name(net, relay));
    assert_int_equal(toynet_stats(net, 0)->data_sent[leaf], 0);
    assert_true(toynet_stats(net, 0)->data_sent[relay] <
                config.total_bytes * 105 / 100 + 4 * BLOCK);
    assert_int_equal(toynet_stats(net, leaf)->blocks_rewritten, 0);
    /* What a member says of itself does not go on when it is over. */
    struct gmc_channel_info info;
    assert_true(toynet_channel(net, leaf, &key, &info));
    assert_true(toynet_member(net, leaf, &key, leaf, &member));
    assert_int_equal(member.elapsed, info.elapsed);
    toynet_free(net);
}

/* One transfer in a net like this. */
static void run_once(const struct toynet_config *config, size_t targets, enum gmc_tree_shape shape,
                     gmc_duration within)
{
    struct toynet *net = toynet_new(config, targets + 1);
    struct gmc_channel_key key;
    run_complete(net, targets, shape, within, &key);
    toynet_free(net);
}

static void test_chain_with_loss(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.node.loss_ppm = 50000; /* at both ends of a link: nearly 10 % */
    run_once(&config, 3, GMC_TREE_CHAIN, GMC_S(10));
}

static void test_shapes(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    for (int shape = 0; shape < GMC_TREE_SHAPES; shape++)
        run_once(&config, 5, (enum gmc_tree_shape)shape, GMC_S(2));
}

static void test_flat_with_loss(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.node.loss_ppm = 50000;
    run_once(&config, 4, GMC_TREE_FLAT, GMC_S(10));
}

static void test_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0,         1,           BLOCK - 1,   BLOCK,
                                     BLOCK + 1, 126 * BLOCK, 127 * BLOCK, 128 * BLOCK + 1};
    struct toynet_config config = plain_config();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        config.total_bytes = sizes[i];
        run_once(&config, 2, GMC_TREE_CHAIN, GMC_S(3));
    }
    config.total_bytes = 5;
    config.listing_bytes = 3 * BLOCK + 7;
    run_once(&config, 2, GMC_TREE_CHAIN, GMC_S(3));
}

static void test_several_pages(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 20 * MB + 12345;
    config.node.loss_ppm = 10000;
    run_once(&config, 2, GMC_TREE_CHAIN, GMC_S(10));
}

/* A cache of 16 bodies, and a child that is slow at storing: it is served from the store, and the
 * other is not held up. */
static void test_tiny_cache_slow_child(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    struct gmc_channel_key key;
    struct gmc_member_info member;
    config.cache_bytes = 1;
    config.total_bytes = 9 * MB;
    struct toynet *net = toynet_new(&config, 3);
    toynet_node(net, 2)->store_delay = GMC_MS(40);
    run_complete(net, 2, GMC_TREE_FLAT, GMC_S(20), &key);
    assert_true(toynet_member(net, 0, &key, 1, &member));
    gmc_duration fast = member.elapsed;
    assert_true(toynet_member(net, 0, &key, 2, &member));
    assert_true(member.elapsed > 2 * fast);
    assert_true(fast < GMC_S(2));
    assert_true(toynet_counter(net, 0, "blocks_read") > 9 * MB / BLOCK * 3 / 2);
    toynet_free(net);
}

static void test_tiny_cache_relay(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    struct gmc_channel_key key;
    config.cache_bytes = 1;
    config.total_bytes = 9 * MB;
    config.node.loss_ppm = 10000;
    struct toynet *net = toynet_new(&config, 4);
    toynet_node(net, 3)->store_delay = GMC_MS(20);
    run_complete(net, 3, GMC_TREE_CHAIN, GMC_S(30), &key);
    toynet_free(net);
}

static void test_add(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 9 * MB;
    struct toynet *net = toynet_new(&config, 4);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    const char *error;
    assert_ok(toynet_stage(net, 0, 2, GMC_TREE_ECO, &key));
    struct gmc_stage_target second = {.domain = toynet_name(net, 2), .path = ""};
    /* Before the record is made, and in the middle. */
    assert_ok(gmc_gateway_add(toynet_gateway(net, 0), toynet_now(net), &key, &second, &error));
    toynet_drain(net, 0);
    toynet_run_until(net, TOYNET_START + GMC_MS(150));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_RUNNING);
    struct gmc_stage_target third = {.domain = toynet_name(net, 3), .path = "there"};
    assert_ok(gmc_gateway_add(toynet_gateway(net, 0), toynet_now(net), &key, &third, &error));
    assert_int_equal(gmc_gateway_add(toynet_gateway(net, 0), toynet_now(net), &key, &third, &error),
                     GMC_ERR_EXISTS);
    toynet_drain(net, 0);
    assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(5)));
    check_closed(net, 3);
    for (size_t i = 1; i <= 3; i++)
        check_verified(net, &key, i);
    assert_int_equal(gmc_gateway_add(toynet_gateway(net, 0), toynet_now(net), &key, &third, &error),
                     GMC_ERR_STATE);
    toynet_free(net);
}

static void test_cancel(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 9 * MB;
    struct toynet *net = toynet_new(&config, 3);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    const char *error;
    /* Again and again: nothing of a cancelled transfer stays in the cache. */
    for (uint64_t round = 1; round <= 12; round++) {
        assert_ok(toynet_stage(net, 0, 6, GMC_TREE_CHAIN, &key));
        toynet_run_until(net, toynet_now(net) + GMC_MS(round == 1 ? 220 : 60));
        assert_true(toynet_channel(net, 2, &key, &info));
        assert_true(info.bytes > 0 && info.bytes < config.total_bytes);
        assert_ok(gmc_gateway_cancel(toynet_gateway(net, 0), toynet_now(net), &key, &error));
        toynet_drain(net, 0);
        toynet_run_until(net, toynet_now(net) + GMC_MS(100));
        for (size_t i = 0; i < 3; i++) {
            assert_true(toynet_channel(net, i, &key, &info));
            assert_int_equal(info.state, GMC_CHANNEL_CANCELLED);
            assert_int_equal(toynet_stats(net, i)->discarded, round);
            assert_int_equal(toynet_stats(net, i)->finished, 0);
            assert_int_equal(toynet_counter(net, i, "cache_bytes"), 0);
        }
    }
    toynet_free(net);
}

static void test_refused(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    struct toynet *net = toynet_new(&config, 4);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    struct gmc_member_info member;
    toynet_node(net, 1)->refuse_open = GMC_ERR_ACCESS;
    assert_ok(toynet_stage(net, 0, 14, GMC_TREE_CHAIN, &key));
    assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(8)));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_PARTIAL);
    assert_string_equal(info.reason, "complete at 2 of 3");
    assert_true(toynet_member(net, 0, &key, 1, &member));
    assert_int_equal(member.state, GMC_MEMBER_FAILED);
    assert_non_null(strstr(member.reason, "not granted"));
    toynet_run_until(net, toynet_now(net) + GMC_S(1));
    check_verified(net, &key, 2);
    check_verified(net, &key, 3);
    /* It is granted now, and the transfer goes on. */
    const char *error;
    toynet_node(net, 1)->refuse_open = GMC_OK;
    assert_ok(gmc_gateway_resume(toynet_gateway(net, 0), toynet_now(net), &key, &error));
    toynet_drain(net, 0);
    assert_true(toynet_run_over(net, 0, &key, toynet_now(net) + GMC_S(8)));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    toynet_free(net);
}

static void test_all_refused(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    struct toynet *net = toynet_new(&config, 3);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    config.node.refuse_open = GMC_ERR_NOSPACE;
    *toynet_node(net, 1) = *toynet_node(net, 2) = config.node;
    assert_ok(toynet_stage(net, 0, 6, GMC_TREE_ECO, &key));
    assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(8)));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_PARTIAL);
    assert_string_equal(info.reason, "complete at 0 of 2");
    toynet_free(net);
}

static void test_disk_fills(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 9 * MB;
    struct toynet *net = toynet_new(&config, 4);
    struct gmc_channel_key key;
    struct gmc_member_info member;
    assert_ok(toynet_stage(net, 0, 14, GMC_TREE_CHAIN, &key));
    toynet_run_until(net, TOYNET_START + GMC_MS(150));
    toynet_node(net, 2)->fail_writes = GMC_ERR_NOSPACE;
    assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(8)));
    assert_true(toynet_member(net, 0, &key, 2, &member));
    assert_int_equal(member.state, GMC_MEMBER_FAILED);
    toynet_run_until(net, toynet_now(net) + GMC_S(1));
    check_verified(net, &key, 1);
    check_verified(net, &key, 3);
    toynet_free(net);
}

/* Bytes that change on the way are found by the content seal, and sent again. */
static void test_flipped_bytes(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.node.corrupt_ppm = 2000;
    run_once(&config, 3, GMC_TREE_CHAIN, GMC_S(10));
}

static void test_parent_vanishes(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 20 * MB;
    struct toynet *net = toynet_new(&config, 4);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    struct gmc_member_info member;
    assert_ok(toynet_stage(net, 0, 14, GMC_TREE_CHAIN, &key));
    toynet_run_until(net, TOYNET_START + GMC_MS(200));
    toynet_node(net, 2)->cut = true;
    assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(20)));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_PARTIAL);
    assert_true(toynet_member(net, 0, &key, 3, &member));
    assert_int_equal(member.state, GMC_MEMBER_VERIFIED);
    assert_string_equal(member.parent, toynet_name(net, 1));
    assert_true(member.elapsed < GMC_S(4));
    /* And comes back. */
    const char *error;
    toynet_node(net, 2)->cut = false;
    toynet_run_until(net, toynet_now(net) + GMC_S(1));
    assert_ok(gmc_gateway_resume(toynet_gateway(net, 0), toynet_now(net), &key, &error));
    toynet_drain(net, 0);
    assert_true(toynet_run_over(net, 0, &key, toynet_now(net) + GMC_S(8)));
    check_closed(net, 3);
    for (size_t i = 1; i <= 3; i++)
        check_verified(net, &key, i);
    toynet_free(net);
}

/* Any gateway is dropped in the middle and comes back with what it saved. */
static void test_restarts(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 60 * MB;
    for (size_t victim = 0; victim < 4; victim++) {
        struct toynet *net = toynet_new(&config, 4);
        struct gmc_channel_key key;
        struct gmc_channel_info info;
        assert_ok(toynet_stage(net, 0, 14, GMC_TREE_CHAIN, &key));
        toynet_run_until(net, TOYNET_START + GMC_MS(1350));
        assert_true(toynet_channel(net, victim, &key, &info));
        assert_int_equal(info.state, GMC_CHANNEL_RUNNING);
        toynet_restart(net, victim);
        assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(20)));
        check_closed(net, 3);
        for (size_t i = 1; i <= 3; i++) {
            check_verified(net, &key, i);
            /* What was in flight, and what came after the last checkpoint. */
            assert_true(toynet_stats(net, i)->blocks_rewritten < 600);
        }
        toynet_free(net);
    }
}

/* The source dies when all has arrived but the proof is under way, and has many pages to read back
 * before it can judge it. */
static void test_source_restarts_at_the_end(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 60 * MB;
    struct toynet *net = toynet_new(&config, 2);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    assert_ok(toynet_stage(net, 0, 2, GMC_TREE_CHAIN, &key));
    while (toynet_stats(net, 1)->finished == 0)
        toynet_run_until(net, toynet_now(net) + GMC_MS(1));
    toynet_node(net, 0)->store_delay = GMC_MS(30);
    toynet_restart(net, 0);
    assert_true(toynet_run_over(net, 0, &key, toynet_now(net) + GMC_S(5)));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    assert_int_equal(toynet_stats(net, 1)->blocks_rewritten, 0);
    toynet_free(net);
}

static void test_sessions_break(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 9 * MB;
    config.node.loss_ppm = 20000;
    struct toynet *net = toynet_new(&config, 4);
    struct gmc_channel_key key;
    assert_ok(toynet_stage(net, 0, 14, GMC_TREE_CHAIN, &key));
    for (int i = 0; i < 30; i++) {
        toynet_run_until(net, toynet_now(net) + GMC_MS(37));
        toynet_break(net, (size_t)(i % 3), (size_t)(i % 3 + 1));
    }
    assert_true(toynet_run_over(net, 0, &key, toynet_now(net) + GMC_S(20)));
    check_closed(net, 3);
    for (size_t i = 1; i <= 3; i++)
        check_verified(net, &key, i);
    toynet_free(net);
}

static void session_up(struct toynet *net, size_t other, uint32_t number)
{
    struct gmc_gateway *gw = toynet_gateway(net, 0);
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t len = sizeof(spki);
    assert_ok(gmc_crypto_cheap_spki(toynet_name(net, other), spki, &len));
    struct gmc_peer_change change = {.peer = gmc_gateway_peer(gw, toynet_name(net, other)),
                                     .event = GMC_PEER_SESSION_UP,
                                     .session = {.local_id = number,
                                                 .remote_id = 1,
                                                 .spki = gmc_bytes(spki, len),
                                                 .transport = GMC_TRANSPORT_UDP}};
    change.session.peer = change.peer;
    gmc_gateway_on_peer(gw, toynet_now(net), &change);
    toynet_drain(net, 0);
}

/* Two sessions drew the same number: the newer one has it, also when the older one is over. */
static void test_session_number_taken(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    struct toynet *net = toynet_new(&config, 3);
    struct gmc_gateway *gw = toynet_gateway(net, 0);
    session_up(net, 1, 7);
    session_up(net, 2, 7);
    assert_int_equal(toynet_stats(net, 0)->rejects, 1);
    struct gmc_peer_change down = {.peer = gmc_gateway_peer(gw, toynet_name(net, 1)),
                                   .event = GMC_PEER_SESSION_DOWN};
    gmc_gateway_on_peer(gw, toynet_now(net), &down);
    uint8_t bytes[40] = {0};
    gmc_head_put(bytes, &(struct gmc_head){.kind = GMC_KIND_PING, .session = 7});
    struct gmc_dgram_in in = {.from = {.len = 1}, .bytes = gmc_bytes(bytes, sizeof(bytes))};
    assert_int_equal(gmc_gateway_on_datagram(gw, toynet_now(net), &in), GMC_ERR_AUTH);
    toynet_free(net);
}

/* A full parent sends children on to others, and nobody is left out. */
static void test_full_parent(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.children_max = 2;
    run_once(&config, 7, GMC_TREE_FLAT, GMC_S(20));
}

/* The source's file changes while it is sent. */
static void test_source_rots(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 9 * MB;
    config.cache_bytes = 1;
    struct toynet *net = toynet_new(&config, 3);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    toynet_node(net, 2)->store_delay = GMC_MS(20);
    assert_ok(toynet_stage(net, 0, 6, GMC_TREE_FLAT, &key));
    toynet_run_until(net, TOYNET_START + GMC_MS(150));
    toynet_node(net, 0)->rot_ppm = 1000000;
    assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(20)));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_FAILED);
    toynet_run_until(net, toynet_now(net) + GMC_S(1));
    for (size_t i = 1; i <= 2; i++)
        assert_int_equal(toynet_stats(net, i)->discarded, 1);
    toynet_free(net);
}

/* What a relay has stored changes: its child gets those blocks elsewhere. */
static void test_relay_rots(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    config.total_bytes = 9 * MB;
    config.cache_bytes = 1;
    struct toynet *net = toynet_new(&config, 3);
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    assert_ok(toynet_stage(net, 0, 6, GMC_TREE_CHAIN, &key));
    toynet_run_until(net, TOYNET_START + GMC_MS(100));
    for (size_t i = 1; i <= 2; i++) {
        toynet_node(net, i)->rot_ppm = 300000;
        toynet_node(net, i)->store_delay = GMC_MS(5);
    }
    assert_true(toynet_run_over(net, 0, &key, TOYNET_START + GMC_S(30)));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    for (size_t i = 1; i <= 2; i++)
        assert_int_equal(toynet_stats(net, i)->wrong_bytes, 0);
    toynet_free(net);
}

/* Several transfers at once, crossing, within small caches. */
static void test_crossing(void **state)
{
    (void)state;
    struct toynet_config config = plain_config();
    struct gmc_channel_key keys[4];
    config.total_bytes = 4 * MB;
    config.cache_bytes = 1;
    config.node.loss_ppm = 5000;
    struct toynet *net = toynet_new(&config, 4);
    for (size_t i = 0; i < 4; i++)
        assert_ok(toynet_stage(net, i, 15u & ~(1u << i), GMC_TREE_CHAIN, &keys[i]));
    for (size_t i = 0; i < 4; i++) {
        struct gmc_channel_info info;
        assert_true(toynet_run_over(net, i, &keys[i], TOYNET_START + GMC_S(30)));
        assert_true(toynet_channel(net, i, &keys[i], &info));
        assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(toynet_stats(net, i)->finished, 3);
        assert_int_equal(toynet_stats(net, i)->wrong_bytes, 0);
    }
    toynet_free(net);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_pass_repairs),
        cmocka_unit_test(test_chain_with_loss),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_flat_with_loss),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_several_pages),
        cmocka_unit_test(test_tiny_cache_slow_child),
        cmocka_unit_test(test_tiny_cache_relay),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_all_refused),
        cmocka_unit_test(test_disk_fills),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_parent_vanishes),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_source_restarts_at_the_end),
        cmocka_unit_test(test_sessions_break),
        cmocka_unit_test(test_session_number_taken),
        cmocka_unit_test(test_full_parent),
        cmocka_unit_test(test_source_rots),
        cmocka_unit_test(test_relay_rots),
        cmocka_unit_test(test_crossing),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
