/* SPDX-License-Identifier: BSD-2-Clause */
/* Virtual bodies: what travels, when, and what arrives is the same as with whole ones; and blocks
 * of several datagrams. */
#include "tests/lib/unit.h"

#include "sim-wan/host.h"
#include "sim-wan/scenario.h"

struct outcome {
    bool complete;
    gmc_time end;
    uint64_t events, bytes, violations;
};

/* A tree of three hops. Blocks of 0 bytes: of 64 KiB, one datagram each. */
static struct outcome run_with(struct sim_world_config config, uint64_t bytes, uint32_t loss_ppm)
{
    const struct sim_wire_config wire = {.rate_bps = 1000000000,
                                         .delay = GMC_MS(2),
                                         .queue_bytes = 5000000,
                                         .mtu = 66000,
                                         .loss_ppm = loss_ppm};
    config.seed = 7;
    struct sim_world *world = sim_world_new(&config);
    struct gmc_channel_key key;
    const char *error = NULL;
    sim_build_tree3(world, &wire);
    sim_world_start(world);
    struct sim_stage stage = {.object_seed = 3,
                              .bytes = bytes,
                              .targets = world->hosts + 1,
                              .target_count = 6};
    struct sim_host *source = world->hosts[0];
    assert_int_equal(sim_stage(source, &stage, &key, &error), GMC_OK);
    sim_run_to_end(source, &key, GMC_MS(10), GMC_S(60));
    struct gmc_channel_info info = {0};
    struct outcome outcome = {.end = sim_world_now(world), .events = world->engine.fired};
    sim_channel(source, &key, &info);
    outcome.complete = info.state == GMC_CHANNEL_COMPLETE;
    outcome.violations = world->oracle.violations;
    for (uint32_t i = 0; i < world->net.wire_count; i++)
        outcome.bytes += sim_net_lane(&world->net, i, 0)->count.offered_bytes;
    sim_world_free(world);
    return outcome;
}

/* 20 MB and a block that is not full. */
static struct outcome run(bool virtual_bodies, uint32_t loss_ppm)
{
    return run_with((struct sim_world_config){.virtual_bodies = virtual_bodies}, 20000001,
                    loss_ppm);
}

static void test_same_as_whole(void **state)
{
    (void)state;
    struct outcome whole = run(false, 0), part = run(true, 0);
    assert_true(whole.complete && part.complete);
    assert_int_equal(whole.violations + part.violations, 0);
    assert_int_equal(whole.end, part.end);
    assert_int_equal(whole.bytes, part.bytes);
    assert_int_equal(whole.events, part.events);
}

static void test_same_with_loss(void **state)
{
    (void)state;
    struct outcome whole = run(false, 50000), part = run(true, 50000);
    assert_true(whole.complete && part.complete);
    assert_int_equal(whole.violations + part.violations, 0);
    assert_int_equal(whole.end, part.end);
    assert_int_equal(whole.bytes, part.bytes);
}

/* Sixteen datagrams a block. The last block has a few, one, or one that exists whole. */
static void test_large_blocks(void **state)
{
    (void)state;
    const uint64_t mib = UINT64_C(1) << 20;
    const uint64_t sizes[] = {20 * mib, 20 * mib + 3 * 65536 + 1, 20 * mib + 65536 + 5000,
                              20 * mib + 1, 100};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (uint32_t loss_ppm = 0; loss_ppm <= 50000; loss_ppm += 50000) {
            struct sim_world_config config = {.virtual_bodies = true};
            struct outcome small = run_with(config, sizes[i], loss_ppm);
            config.block_bytes = (uint32_t)mib;
            struct outcome large = run_with(config, sizes[i], loss_ppm);
            assert_true(small.complete && large.complete);
            assert_int_equal(small.violations + large.violations, 0);
            if (loss_ppm > 0 || sizes[i] < mib)
                continue;
            /* The same datagrams, and a larger listing: 64 KiB are padded to 1 MiB, on each of six
             * wires. Less is told of fewer blocks, and the manifest is shorter. */
            assert_in_range(large.bytes, small.bytes + 4 * mib, small.bytes + 6 * mib);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_whole),
        cmocka_unit_test(test_same_with_loss),
        cmocka_unit_test(test_large_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
