/* SPDX-License-Identifier: BSD-2-Clause */
/* A group that is too large to measure all pairs: its tree is as good as one that knows them all,
 * the echoes stay few, and the object arrives. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/probe_plan.h"
#include "core/tree.h"
#include "sim-wan/host.h"
#include "sim-wan/mem.h"
#include "sim-wan/scenario.h"

#define N 270 /* gateways beside the source */

struct wide {
    struct sim_world *world;
    struct gmc_channel_key key;
};

static void stage_and_wait(struct wide *wide, uint64_t object_seed)
{
    const char *error = NULL;
    struct sim_world *world = wide->world;
    struct sim_stage stage = {.object_seed = object_seed,
                              .bytes = 1000000,
                              .targets = world->hosts + 1,
                              .target_count = N};
    assert_int_equal(sim_stage(world->hosts[0], &stage, &wide->key, &error), GMC_OK);
    assert_true(sim_run_to_end(world->hosts[0], &wide->key, GMC_MS(10), GMC_S(60)));
    struct gmc_channel_info info;
    assert_true(sim_channel(world->hosts[0], &wide->key, &info));
    assert_int_equal(info.state, GMC_CHANNEL_COMPLETE);
    assert_int_equal(world->oracle.violations, 0);
}

/* Links of the eco tree over all pairs, by their propagation, ns. */
static uint64_t sum_of_all_pairs(struct sim_world *world)
{
    size_t n = N + 1;
    uint64_t *rtt = sim_alloc(n * n * sizeof(*rtt)), sum = 0;
    int32_t *parent = sim_alloc(n * GMC_TREE_STRIPES_MAX * sizeof(*parent));
    uint32_t stripes;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            rtt[i * n + j] = 2 * sim_net_path_delay(&world->net, i, j);
    struct gmc_tree_graph graph = {.n = n, .latency = rtt};
    assert_int_equal(gmc_tree_ops(GMC_TREE_ECO)->build(&graph, parent, &stripes), GMC_OK);
    for (size_t i = 1; i < n; i++)
        sum += rtt[i * n + (size_t)parent[i]];
    free(rtt);
    free(parent);
    return sum;
}

static uint64_t sum_of_tree(struct wide *wide)
{
    struct sim_world *world = wide->world;
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= N; i++) {
        struct gmc_member_info info;
        assert_true(sim_member(world->hosts[0], &wide->key, world->hosts[i], &info));
        assert_non_null(info.parent);
        sum += 2 * sim_net_path_delay(&world->net, i, sim_world_find(world, info.parent)->id);
    }
    return sum;
}

static uint64_t datagrams(const struct sim_world *world)
{
    uint64_t count = 0;
    for (size_t i = 0; i < world->host_count; i++)
        count += world->hosts[i]->count.datagrams_out;
    return count;
}

static void test_large_group(void **state)
{
    (void)state;
    const struct sim_wire_config wire = {.rate_bps = 1000000000,
                                         .queue_bytes = 6250000,
                                         .mtu = 66000};
    struct sim_world_config config = {.seed = 3, .virtual_bodies = true, .cache_bytes = 4000000};
    struct wide wide = {.world = sim_world_new(&config)};
    struct gmc_prng prng;
    assert_true(N + 1 > GMC_PROBE_ALL_MAX);
    gmc_prng_init(&prng, 3);
    sim_build_random(wide.world, N + 1, N / 2, &wire, GMC_MS(10), &prng);
    sim_world_start(wide.world);
    sim_world_run(wide.world, GMC_S(1));
    stage_and_wait(&wide, 1);
    uint64_t first = datagrams(wide.world);
    assert_true(sum_of_tree(&wide) <= sum_of_all_pairs(wide.world) * 21 / 20);
    /* All pairs alone would be N^2 times four echoes, and as many answers. */
    assert_true(first < (uint64_t)N * N * 4);
    /* What was measured lately is not measured again. */
    stage_and_wait(&wide, 2);
    assert_true(datagrams(wide.world) - first < first / 2);
    assert_true(sum_of_tree(&wide) <= sum_of_all_pairs(wide.world) * 21 / 20);
    sim_world_free(wide.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
