/* SPDX-License-Identifier: BSD-2-Clause */
/* The schedules as trees of a domain, with the real core, beside the analytic models of the
 * interconnect (star/latency.h, torus/latency.h): both have to put them in the same order.
 *
 * The models know one short message, what it costs the processors of hosts to send, to hand on and
 * to receive it, and a network that costs next to nothing. So the message is a block of an object
 * that comes to the gateway one block at a time, each long after the one before has reached all
 * nodes; a host's port takes as long for it outwards as the model's host does to send, and delays
 * it inwards by what the model's host needs before it goes on. The wires between the ports cost
 * nothing. Messages are as short as the models are good for: for long ones they do not know that
 * a block is handed on while it arrives (test_schedules.c looks at these).
 *
 * Two schedules whose times by a model differ by less than 5 % are equal: the models are within 2
 * or 3 % of their testbeds.
 */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "interconnect/place.h"
#include "interconnect/star/latency.h"
#include "interconnect/torus/latency.h"
#include "sim-wan/scenario.h"

#define MEMBERS 16u /* with the gateway */
#define K 4u
#define BLOCK UINT64_C(65536)
#define BLOCKS 32u /* twice what the source keeps in memory: its disk says when they come */
#define BLOCK_EVERY_US 100000u /* longer than any schedule takes */
#define SCALE 10               /* times as slow as the model's hosts */
#define APART 1.05
#define ALGORITHMS_MAX 5u

/* What a message costs, microseconds. */
struct costs {
    double send_us;     /* of a host's port, for each message */
    double per_node_us; /* in the host to which it goes, before it goes on */
    double model_us;    /* until the last one has it */
};

struct shape {
    struct ic_network network;
    const char *algorithm;
};

/* Nodes stand on the torus in the order of their numbers. */
static gmc_status shape_of(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                           uint32_t *parent, const char **name)
{
    const struct shape *shape = ctx;
    char error[IC_ERROR_MAX];
    uint32_t at[MEMBERS] = {0};
    for (size_t i = 1; i < count; i++)
        at[i] = (uint32_t)atoi(names[i] + 1);
    return ic_place(&shape->network, shape->algorithm, at, count, bytes, parent, name, error);
}

static struct sim_wire_config port(double block_us, double delay_us)
{
    return (struct sim_wire_config){.rate_bps = (uint64_t)((double)BLOCK * 8e6 / block_us),
                                    .delay = (gmc_duration)(delay_us * 1e3),
                                    .queue_bytes = 100000000};
}

static void join(struct sim_world *world, struct sim_host **hosts, const struct costs *costs)
{
    struct sim_host *exchange = sim_world_add_router(world, "switch.example");
    struct sim_wire_config in = port(0.1, costs->per_node_us * SCALE);
    struct sim_wire_config out = port(costs->send_us * SCALE, 0.1);
    for (size_t i = 0; i < MEMBERS; i++) {
        uint32_t id = sim_world_join(world, exchange, hosts[i], &in);
        sim_lane_configure(sim_net_lane(&world->net, id, 1), &out);
    }
}

static uint64_t bytes_at(struct sim_host *host, const struct gmc_channel_key *key)
{
    struct gmc_channel_info info = {0};
    return sim_channel(host, key, &info) ? info.bytes : 0;
}

/* A domain of MEMBERS hosts, whose gateway gets a block from S every BLOCK_EVERY_US. */
static struct sim_world *world_of(struct shape *shape, const struct costs *costs,
                                  struct sim_host **hosts)
{
    struct sim_disk_config disk = {.latency = GMC_US(1), .jitter = GMC_US(1)};
    const struct sim_world_config config = {.seed = 1,
                                            .exact_clocks = true,
                                            .disk = disk,
                                            .cache_bytes = 1, /* the least */
                                            .fixed_rate_bps =
                                                port(costs->send_us * SCALE, 0).rate_bps,
                                            .inside_tree = {shape_of, shape}};
    const struct sim_wire_config uplink = port(10, 20);
    struct sim_world *world = sim_world_new(&config);
    struct sim_host *source = sim_world_add(world, "s.example");
    hosts[0] = sim_world_add(world, "a.example");
    for (unsigned i = 1; i < MEMBERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u.example", i);
        hosts[i] = sim_world_add_node(world, hosts[0], name);
    }
    sim_world_join(world, source, hosts[0], &uplink);
    join(world, hosts, costs);
    disk.rate_bps = BLOCK * 8000000 / BLOCK_EVERY_US;
    sim_host_set_disk(source, &disk);
    sim_world_start(world);
    sim_world_run(world, GMC_S(1)); /* sessions are there */
    return world;
}

static void run_until_has(struct sim_world *world, struct sim_host *host,
                          const struct gmc_channel_key *key, uint64_t bytes)
{
    while (bytes_at(host, key) < bytes) {
        sim_world_run(world, GMC_US(50));
        assert_true(sim_world_now(world) < GMC_S(60));
    }
}

/* From when the gateway has a block until the last node has it: the longest of the last few. */
static double core_us(struct shape *shape, const struct costs *costs)
{
    struct sim_host *hosts[MEMBERS];
    struct sim_world *world = world_of(shape, costs, hosts);
    struct gmc_channel_key key;
    const char *error = NULL;
    const struct sim_stage stage = {.object_seed = 7,
                                    .bytes = BLOCKS * BLOCK,
                                    .targets = hosts,
                                    .target_count = 1,
                                    .shape = GMC_TREE_CHAIN};
    gmc_duration longest = 0;
    assert_ok(sim_stage(sim_world_find(world, "s.example"), &stage, &key, &error));
    for (uint64_t block = BLOCKS - 4; block < BLOCKS; block++) {
        run_until_has(world, hosts[0], &key, block * BLOCK);
        assert_true(bytes_at(hosts[0], &key) < (block + 1) * BLOCK);
        gmc_time here = sim_world_now(world);
        for (size_t i = 1; i < MEMBERS; i++)
            run_until_has(world, hosts[i], &key, block * BLOCK);
        gmc_duration took = sim_world_now(world) - here;
        longest = took > longest ? took : longest;
    }
    sim_world_free(world);
    return (double)longest / 1e3 / SCALE;
}

static struct costs on_star(const char *algorithm, uint64_t bytes)
{
    enum ic_star_algorithm which;
    struct ic_myrinet_latency latency;
    char error[IC_ERROR_MAX];
    assert_ok(ic_star_algorithm_from_name(algorithm, &which));
    assert_ok(ic_myrinet_latency(IC_MYRINET_HB, which, bytes, MEMBERS, &latency, error));
    double host = ic_myrinet_host_us((double)bytes);
    double process = ic_myrinet_process_us(IC_MYRINET_HB, which);
    bool is_separate = which == IC_STAR_SEPARATE;
    return (struct costs){.send_us = host + (is_separate ? process : 0),
                          .per_node_us = host + (is_separate ? 0 : process),
                          .model_us = latency.time};
}

static struct costs on_torus(const char *algorithm, uint64_t bytes)
{
    enum ic_torus_algorithm which;
    struct ic_sci_latency latency;
    char error[IC_ERROR_MAX];
    assert_ok(ic_torus_algorithm_from_name(algorithm, &which));
    assert_ok(ic_sci_latency(K, bytes, K, MEMBERS, &latency, error));
    const double times[IC_TORUS_ALGORITHMS] = {[IC_TORUS_SEPARATE] = latency.separate,
                                               [IC_TORUS_MD] = latency.md,
                                               [IC_TORUS_MU] = latency.mu,
                                               [IC_TORUS_U] = latency.u,
                                               [IC_TORUS_S] = latency.s};
    double process = ic_sci_process_us(which);
    bool is_separate = which == IC_TORUS_SEPARATE;
    return (struct costs){.send_us = latency.overhead + (is_separate ? process : 0),
                          .per_node_us = latency.overhead + (is_separate ? 0 : process),
                          .model_us = times[which]};
}

static void same_order(const char *text, struct costs (*costs_of)(const char *, uint64_t),
                       const char *const *algorithms, uint64_t bytes)
{
    struct shape shape = {.algorithm = NULL};
    double model[ALGORITHMS_MAX], core[ALGORITHMS_MAX];
    char error[IC_ERROR_MAX];
    size_t count = 0, pairs = 0;
    assert_ok(ic_network_parse(text, &shape.network, error));
    printf("%s, %u members, messages of %u bytes: until the last one has it\n", text, MEMBERS,
           (unsigned)bytes);
    for (; algorithms[count] != NULL; count++) {
        struct costs costs = costs_of(algorithms[count], bytes);
        shape.algorithm = algorithms[count];
        model[count] = costs.model_us;
        core[count] = core_us(&shape, &costs);
        printf("  %-10s model %7.1f us   core %7.1f us\n", algorithms[count], model[count],
               core[count]);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (model[i] * APART >= model[k])
                continue;
            pairs++;
            if (core[i] >= core[k])
                fail_msg("%s is before %s in the model, and not in the core", algorithms[i],
                         algorithms[k]);
        }
    }
    printf("  %zu pairs that the model tells apart are in this order\n", pairs);
    assert_true(pairs >= count);
}

static void test_star(void **state)
{
    static const char *const algorithms[] = {"serial", "binary", "binomial", "separate", NULL};
    (void)state;
    same_order("star:16", on_star, algorithms, 2);
}

static void test_torus(void **state)
{
    static const char *const algorithms[] = {"S-torus", "Mu-torus", "Md-torus",
                                             "U-torus", "separate", NULL};
    (void)state;
    same_order("torus:4x4", on_torus, algorithms, 2);
    same_order("torus:4x4", on_torus, algorithms, 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_star),
        cmocka_unit_test(test_torus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
