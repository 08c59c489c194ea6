/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the tests of the whole composition over the toy net: transfers end as they should, and what
 * arrives is what was sent. */
#include <string.h>

#include "tests/lib/toynet.h"
#include "tests/lib/unit.h"

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
    toynet_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
