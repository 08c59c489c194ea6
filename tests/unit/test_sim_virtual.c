/* SPDX-License-Identifier: BSD-2-Clause */
/* Virtual bodies: what travels, when, and what arrives is the same as with whole ones. */
#include "tests/lib/unit.h"

#include "sim-wan/host.h"
#include "sim-wan/scenario.h"

struct outcome {
    bool complete;
    gmc_time end;
    uint64_t events, bytes, violations;
};

/* A tree of three hops, one datagram per block, 20 MB and a block that is not full. */
static struct outcome run(bool virtual_bodies, uint32_t loss_ppm)
{
    const struct sim_wire_config wire = {.rate_bps = 1000000000,
                                         .delay = GMC_MS(2),
                                         .queue_bytes = 5000000,
                                         .mtu = 66000,
                                         .loss_ppm = loss_ppm};
    struct sim_world_config config = {.seed = 7, .virtual_bodies = virtual_bodies};
    struct sim_world *world = sim_world_new(&config);
    struct gmc_channel_key key;
    const char *error = NULL;
    sim_build_tree3(world, &wire);
    sim_world_start(world);
    struct sim_stage stage = {.object_seed = 3,
                              .bytes = 20000001,
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_whole),
        cmocka_unit_test(test_same_with_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
