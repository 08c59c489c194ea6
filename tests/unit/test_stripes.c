/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests core/stripe.h, and transfers over several trees: each block comes from the parent of its
 * stripe, whatever happens to parents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/stripe.h"
#include "tests/lib/toynet.h"

#define assert_ok(call) assert_int_equal(call, GMC_OK)
#define MBIT UINT64_C(1000000)
#define TARGETS 5u

/* ---- the map ---- */
static void every_block_has_one_stripe(void **state)
{
    (void)state;
    for (uint32_t stripes = 1; stripes <= 8; stripes++) {
        uint64_t counts[8] = {0};

        for (uint64_t block = 0; block < 5000; block++) {
            uint32_t stripe = gmc_stripe_of(stripes, block);

            assert_in_range(stripe, 0, stripes - 1);
            for (uint32_t k = 0; k < stripes; k++)
                assert_int_equal(gmc_stripe_below(stripes, k, block), counts[k]);
            assert_int_equal(gmc_stripe_block(stripes, stripe, counts[stripe]), block);
            counts[stripe]++;
        }
    }
}

static void a_page_stays_with_its_blocks(void **state)
{
    (void)state;
    for (uint32_t page = 0; page < 40; page++)
        for (uint32_t i = 0; i < GMC_PAGE_HASHES; i++)
            assert_int_equal(gmc_stripe_of(4,
                                           gmc_block_of_data((uint64_t)page * GMC_PAGE_HASHES + i)),
                             gmc_stripe_of(4, gmc_block_of_page(page)));
}

static void uneven_stripes_are_told(void **state)
{
    (void)state;
    assert_true(gmc_stripes_are_even(1, 1));
    assert_false(gmc_stripes_are_even(2, 200));
    assert_true(gmc_stripes_are_even(2, 258));
    assert_false(gmc_stripes_are_even(2, 3 * 129));
    assert_false(gmc_stripes_are_even(4, 2 * 129));
    assert_true(gmc_stripes_are_even(8, 80 * 129 + 1));
}

/* ---- transfers ---- */
/* Over one tree no more than 150 Mbit/s, over two 300: then the source feeds five of ten places,
 * and each receiver another one. */
static struct toynet *make(struct toynet_config *config)
{
    *config = (struct toynet_config){.seed = 7,
                                     .delay = GMC_MS(2),
                                     .listing_bytes = 300,
                                     .total_bytes = 258 * 65536 - 65536 * 3,
                                     .fixed_rate_bps = 400 * MBIT,
                                     .patience = GMC_S(5),
                                     .node = {.store_delay = GMC_US(200)},
                                     .uplink_bps = {750 * MBIT, 150 * MBIT, 150 * MBIT, 150 * MBIT,
                                                    150 * MBIT, 150 * MBIT}};
    return toynet_new(config, TARGETS + 1);
}

/* In the middle: data moves, and nobody has all of it. */
static void run_a_while(struct toynet *net, const struct gmc_channel_key *key)
{
    struct gmc_channel_info info;

    toynet_run_until(net, TOYNET_START + GMC_MS(250));
    assert_true(toynet_channel(net, 1, key, &info));
    assert_in_range(info.bytes, 1, info.total_bytes - 1);
}

static void stage(struct toynet *net, struct gmc_channel_key *key)
{
    assert_ok(toynet_stage(net, 0, (1u << (TARGETS + 1)) - 2, GMC_TREE_BULK, key));
}

static void is_complete(struct toynet *net, const struct gmc_channel_key *key)
{
    struct gmc_channel_info info;

    assert_true(toynet_run_over(net, 0, key, toynet_now(net) + GMC_S(20)));
    assert_true(toynet_channel(net, 0, key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    toynet_run_until(net, toynet_now(net) + GMC_S(1));
    for (size_t i = 1; i <= TARGETS; i++) {
        assert_int_equal(toynet_stats(net, i)->finished, 1);
        assert_int_equal(toynet_stats(net, i)->wrong_bytes, 0);
    }
}

static void two_trees_carry_an_object(void **state)
{
    struct toynet_config config;
    struct toynet *net = make(&config);
    struct gmc_channel_key key;
    struct gmc_member_info member;
    uint64_t sent = 0;
    bool differ = false;

    (void)state;
    stage(net, &key);
    is_complete(net, &key);
    for (size_t i = 1; i <= TARGETS; i++) {
        assert_true(toynet_member(net, 0, &key, i, &member));
        assert_int_equal(member.stripes, 2);
        assert_non_null(member.more_parents[0]);
        differ = differ || strcmp(member.parent, member.more_parents[0]) != 0;
        assert_int_equal(toynet_stats(net, i)->blocks_rewritten, 0);
    }
    assert_true(differ);
    /* Each receiver got the object once, from whomever. */
    for (size_t i = 0; i <= TARGETS; i++)
        for (size_t j = 1; j <= TARGETS; j++)
            sent += toynet_stats(net, i)->data_sent[j];
    assert_in_range(sent, TARGETS * config.total_bytes, TARGETS * config.total_bytes * 107 / 100);
    toynet_free(net);
}

/* Each receiver in turn dies in the middle and comes back: both as a relay and as a leaf. */
static void relays_restart(void **state)
{
    (void)state;
    for (size_t victim = 1; victim <= TARGETS; victim++) {
        struct toynet_config config;
        struct toynet *net = make(&config);
        struct gmc_channel_key key;

        stage(net, &key);
        run_a_while(net, &key);
        toynet_restart(net, victim);
        is_complete(net, &key);
        toynet_free(net);
    }
}

/* Its trees come back with it. */
static void the_source_restarts(void **state)
{
    struct toynet_config config;
    struct toynet *net = make(&config);
    struct gmc_channel_key key;
    struct gmc_member_info before, after;

    (void)state;
    stage(net, &key);
    run_a_while(net, &key);
    assert_true(toynet_member(net, 0, &key, 3, &before));
    assert_int_equal(before.stripes, 2);
    toynet_restart(net, 0);
    toynet_run_until(net, toynet_now(net) + GMC_MS(100));
    assert_true(toynet_member(net, 0, &key, 3, &after));
    assert_int_equal(after.stripes, 2);
    is_complete(net, &key);
    toynet_free(net);
}

static void parents_are_lost(void **state)
{
    (void)state;
    for (size_t other = 1; other <= TARGETS; other++) {
        struct toynet_config config;
        struct toynet *net = make(&config);
        struct gmc_channel_key key;

        stage(net, &key);
        run_a_while(net, &key);
        for (size_t i = 0; i <= TARGETS; i++)
            if (i != other)
                toynet_break(net, i, other);
        is_complete(net, &key);
        toynet_free(net);
    }
}

static void memory_for_a_few_blocks(void **state)
{
    struct toynet_config config;
    struct gmc_channel_key key;

    (void)state;
    toynet_free(make(&config));
    config.cache_bytes = 1; /* the least there is: 16 blocks */
    config.node.loss_ppm = 20000;
    struct toynet *net = toynet_new(&config, TARGETS + 1);
    stage(net, &key);
    is_complete(net, &key);
    toynet_free(net);
}

/* A late member is fed in every tree. */
static void late_to_join(void **state)
{
    struct toynet_config config;
    struct gmc_member_info member;
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    const char *error;

    (void)state;
    toynet_free(make(&config));
    struct toynet *net = toynet_new(&config, TARGETS + 2);
    stage(net, &key);
    run_a_while(net, &key);
    struct gmc_stage_target target = {.domain = toynet_name(net, TARGETS + 1), .path = ""};
    assert_ok(gmc_gateway_add(toynet_gateway(net, 0), toynet_now(net), &key, &target, &error));
    toynet_drain(net, 0);
    is_complete(net, &key);
    assert_int_equal(toynet_stats(net, TARGETS + 1)->finished, 1);
    assert_true(toynet_channel(net, TARGETS + 1, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    /* All uplinks are in use: it goes where one more child harms least, to the fastest. */
    assert_true(toynet_member(net, 0, &key, TARGETS + 1, &member));
    assert_string_equal(member.parent, toynet_name(net, 0));
    assert_string_equal(member.more_parents[0], toynet_name(net, 0));
    toynet_free(net);
}

/* Only measured, predicted and told; nobody gets anything, and the same can be staged after it. */
static void a_plan_sends_nothing(void **state)
{
    struct toynet_config config;
    struct toynet *net = make(&config);
    struct gmc_stage_target targets[TARGETS];
    const char *source = "x", *error;
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    struct gmc_member_info member;

    (void)state;
    for (size_t i = 0; i < TARGETS; i++)
        targets[i] = (struct gmc_stage_target){.domain = toynet_name(net, i + 1), .path = ""};
    struct gmc_stage_request request = {.sources = &source,
                                        .source_count = 1,
                                        .targets = targets,
                                        .target_count = TARGETS,
                                        .shape = GMC_TREE_BULK,
                                        .plan = true};
    assert_ok(gmc_gateway_stage(toynet_gateway(net, 0), toynet_now(net), &request, &key, &error));
    toynet_drain(net, 0);
    toynet_run_until(net, toynet_now(net) + GMC_S(3));
    assert_true(toynet_channel(net, 0, &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_PLANNED);
    assert_int_equal(info.plan.limit, GMC_TREE_LIMIT_UPLINK);
    assert_non_null(info.plan.limit_domain);
    assert_in_range(info.plan.rate_bps, 260 * MBIT, 300 * MBIT);
    assert_true(info.plan.bound > 0 && info.plan.bound <= info.plan.time);
    for (size_t i = 1; i <= TARGETS; i++) {
        assert_true(toynet_member(net, 0, &key, i, &member));
        assert_int_equal(member.stripes, 2);
        assert_non_null(member.parent);
        assert_non_null(member.more_parents[0]);
        assert_int_equal(toynet_stats(net, 0)->data_sent[i], 0);
        assert_false(toynet_channel(net, i, &key, &info));
    }
    stage(net, &key);
    is_complete(net, &key);
    toynet_free(net);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_has_one_stripe),
        cmocka_unit_test(a_page_stays_with_its_blocks),
        cmocka_unit_test(uneven_stripes_are_told),
        cmocka_unit_test(two_trees_carry_an_object),
        cmocka_unit_test(relays_restart),
        cmocka_unit_test(the_source_restarts),
        cmocka_unit_test(parents_are_lost),
        cmocka_unit_test(memory_for_a_few_blocks),
        cmocka_unit_test(late_to_join),
        cmocka_unit_test(a_plan_sends_nothing),
    };

    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
