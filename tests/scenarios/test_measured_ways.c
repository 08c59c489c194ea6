/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees by measured uplinks where links share wires that no uplink tells of: gateways at the
 * routers of a network, and two continents. */
#include <inttypes.h>

#include "sim-wan/scenario.h"
#include "tests/lib/unit.h"

#define MBIT UINT64_C(1000000)
#define BYTES UINT64_C(16000000)
#define SITES 8u /* of each continent */

static const struct sim_wire_config wire = {.rate_bps = 100 * MBIT,
                                            .delay = GMC_MS(15),
                                            .queue_bytes = 100 * MBIT / 8 / 20};

/* Seconds to all others; none of them was sent anything before. */
static double stage(struct sim_world *world, enum gmc_tree_shape shape, size_t targets)
{
    struct sim_stage stage = {.object_seed = 1,
                              .bytes = BYTES,
                              .targets = world->hosts + 1,
                              .target_count = targets,
                              .shape = shape};
    struct gmc_channel_info info;
    struct gmc_channel_key key;
    const char *error = NULL;
    assert_ok(sim_stage(world->hosts[0], &stage, &key, &error));
    gmc_time begin = sim_world_now(world);
    for (int i = 0; i < 100000 && !sim_has_ended(world->hosts[0], &key); i++)
        sim_world_run(world, GMC_MS(1));
    assert_true(sim_channel(world->hosts[0], &key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    return (double)(sim_world_now(world) - begin) / 1e9;
}

/* Thirty cities; a few wires more than connect them. */
static double in_network(uint64_t seed, enum gmc_tree_shape shape)
{
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = 1});
    struct gmc_prng prng;
    gmc_prng_init(&prng, seed);
    sim_build_random(world, 30, 20, &wire, GMC_MS(30), &prng);
    sim_world_start(world);
    double seconds = stage(world, shape, 29);
    sim_world_free(world);
    return seconds;
}

/* Each city's wires carry together more than one, which is of no use to who sends over one of them:
 * the tree by latencies is right, and the rounds for rates cost a fifth of a second. */
static void test_at_routers_ways_count(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        double eco = in_network(seed, GMC_TREE_ECO), bulk = in_network(seed, GMC_TREE_BULK);
        print_message("network %" PRIu64 ": eco %.2f s, bulk %.2f s\n", seed, eco, bulk);
        assert_true(bulk < eco * 1.1 + 0.3);
    }
}

static double over_ocean(uint64_t seed, enum gmc_tree_shape shape)
{
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = seed});
    char name[32];
    for (uint32_t i = 0; i < 2 * SITES; i++) {
        sim_host_name(name, sizeof(name), i);
        sim_world_add(world, name);
    }
    struct sim_host *shore[] = {sim_world_add_router(world, "here"),
                                sim_world_add_router(world, "there")};
    struct sim_wire_config config = wire;
    for (uint32_t i = 0; i < 2 * SITES; i++) {
        config.delay = GMC_MS(2 + i % SITES);
        sim_net_add_wire(&world->net, world->hosts[i]->id, shore[i / SITES]->id, &config, &config);
    }
    config.delay = GMC_MS(45);
    sim_net_add_wire(&world->net, shore[0]->id, shore[1]->id, &config, &config);
    sim_world_start(world);
    double seconds = stage(world, shape, 2 * SITES - 1);
    sim_world_free(world);
    return seconds;
}

/* All uplinks are alike, trains show them so by an eighth, and several trees cross the ocean each
 * several times. */
static void test_an_ocean_is_crossed_once(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        double chain = over_ocean(seed, GMC_TREE_CHAIN), bulk = over_ocean(seed, GMC_TREE_BULK);
        print_message("two continents: chain %.2f s, bulk %.2f s\n", chain, bulk);
        assert_true(bulk < chain * 1.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_routers_ways_count),
        cmocka_unit_test(test_an_ocean_is_crossed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
