/* SPDX-License-Identifier: BSD-2-Clause */
/* The schedules as trees of a domain, with the real core over wires that are a star and a torus of
 * unidirectional rings, beside the interconnect's simulators: both have to put them in the same
 * order. The simulators' hosts pay for each byte that they send or receive, the core's wires for
 * each that they carry; so times are not compared but ranks, in units of one copy.
 *
 * Two schedules whose times differ by less than a tenth by either count as equal. The analytic
 * models are for short messages: test_schedule_models.c.
 */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "interconnect/place.h"
#include "interconnect/star/simulate.h"
#include "interconnect/torus/simulate.h"
#include "sim-wan/scenario.h"

#define MEMBERS 16u /* with the gateway */
#define K 4u
#define BYTES UINT64_C(4000000)
#define RATE UINT64_C(200000000)
#define PACKET 4096u /* of the models */
#define APART 1.1
#define ALGORITHMS_MAX 5u

struct entry {
    const char *name;
    double model_us;
    double seconds; /* of the core, from the first byte at the gateway's nodes to the end */
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

static const struct sim_wire_config wire = {.rate_bps = RATE,
                                            .delay = GMC_US(20),
                                            .queue_bytes = 500000};

static void join_star(struct sim_world *world, struct sim_host **hosts)
{
    struct sim_host *exchange = sim_world_add_router(world, "switch.example");
    for (size_t i = 0; i < MEMBERS; i++)
        sim_world_join(world, exchange, hosts[i], &wire);
}

/* To the next of its column and to the next of its row; nothing goes the other way. */
static void join_torus(struct sim_world *world, struct sim_host **hosts)
{
    struct sim_wire_config never = wire;
    never.delay = GMC_S(1);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        uint32_t column = i / K, row = i % K;
        const uint32_t next[] = {column * K + (row + 1) % K, (column + 1) % K * K + row};
        for (size_t d = 0; d < 2; d++)
            sim_net_add_wire(&world->net, hosts[i]->id, hosts[next[d]]->id, &wire, &never);
    }
}

static double core_seconds(struct shape *shape, bool is_torus)
{
    struct sim_world *world =
        sim_world_new(&(struct sim_world_config){.seed = 1,
                                                 .exact_clocks = true,
                                                 .inside_tree = {shape_of, shape}});
    struct sim_wire_config uplink = wire;
    uplink.rate_bps = 50 * RATE;
    uplink.queue_bytes = 5000000;
    struct sim_host *source = sim_world_add(world, "s.example");
    struct sim_host *hosts[MEMBERS] = {sim_world_add(world, "a.example")};
    for (unsigned i = 1; i < MEMBERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u.example", i);
        hosts[i] = sim_world_add_node(world, hosts[0], name);
    }
    sim_world_join(world, source, hosts[0], &uplink);
    (is_torus ? join_torus : join_star)(world, hosts);
    sim_world_start(world);
    sim_world_run(world, GMC_S(1)); /* sessions are there */
    struct gmc_channel_key key;
    const char *error = NULL;
    struct sim_stage stage = {.object_seed = 7,
                              .bytes = BYTES,
                              .targets = hosts,
                              .target_count = 1,
                              .shape = GMC_TREE_CHAIN};
    gmc_time began = sim_world_now(world);
    assert_ok(sim_stage(source, &stage, &key, &error));
    assert_true(sim_run_to_end(source, &key, GMC_MS(1), GMC_S(60)));
    for (size_t i = 1; i < MEMBERS; i++)
        assert_true(sim_disk_has_delivered(&hosts[i]->disk, &key));
    double seconds = (double)(sim_world_now(world) - began) / 1e9;
    sim_world_free(world);
    return seconds;
}

static double model_us(const struct ic_network *network, const char *algorithm, bool is_torus)
{
    struct ic_multicast_times times;
    char error[IC_ERROR_MAX];
    uint32_t nodes[MEMBERS];
    struct ic_torus torus;
    const struct ic_torus_group group = {.nodes = nodes, .count = MEMBERS};
    struct ic_torus_run run = {.torus = &torus,
                               .group = &group,
                               .r = K,
                               .bytes = (uint32_t)BYTES,
                               .packet_bytes = PACKET,
                               .by_turns = true};
    struct ic_star_run star = {.scheme = IC_MYRINET_HB,
                               .members = MEMBERS,
                               .bytes = (uint32_t)BYTES,
                               .packet_bytes = PACKET,
                               .by_turns = true,
                               .is_at_wire_rate = true};
    for (uint32_t i = 0; i < MEMBERS; i++)
        nodes[i] = i;
    if (!is_torus) {
        assert_ok(ic_star_algorithm_from_name(algorithm, &star.algorithm));
        assert_ok(ic_star_simulate(&star, &times, NULL, error));
        return times.latency_us;
    }
    assert_ok(ic_torus_init(&torus, network->k, network->dimensions, error));
    assert_ok(ic_torus_algorithm_from_name(algorithm, &run.algorithm));
    assert_ok(ic_torus_simulate(&run, &times, NULL, error));
    return times.latency_us;
}

static bool is_before(double a, double b)
{
    return a * APART < b;
}

static void same_order(const char *text, const char *const *algorithms)
{
    struct shape shape = {.algorithm = NULL};
    struct entry entries[ALGORITHMS_MAX];
    char error[IC_ERROR_MAX];
    bool is_torus = text[0] == 't';
    size_t count = 0, pairs = 0;
    double copy = (double)BYTES * 8 / (double)RATE;
    assert_ok(ic_network_parse(text, &shape.network, error));
    printf("%s, %u members, %.0f MB: until the last one has it\n", text, MEMBERS,
           (double)BYTES / 1e6);
    for (; algorithms[count] != NULL; count++) {
        shape.algorithm = algorithms[count];
        entries[count] =
            (struct entry){.name = algorithms[count],
                           .model_us = model_us(&shape.network, shape.algorithm, is_torus),
                           .seconds = core_seconds(&shape, is_torus)};
        printf("  %-10s interconnect simulator %9.1f ms   core %6.3f s, %5.2f copies\n",
               entries[count].name, entries[count].model_us / 1000, entries[count].seconds,
               entries[count].seconds / copy);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (!is_before(entries[i].model_us, entries[k].model_us))
                continue;
            pairs++;
            if (is_before(entries[k].seconds, entries[i].seconds))
                fail_msg("%s is before %s in the simulator, and behind it in the core",
                         entries[i].name, entries[k].name);
        }
    }
    printf("  %zu pairs that the simulator tells apart are in this order\n", pairs);
    assert_true(pairs >= count);
}

static void on_a_star(void **state)
{
    static const char *const algorithms[] = {"serial", "binary", "binomial", "separate", NULL};
    (void)state;
    same_order("star:16", algorithms);
}

static void on_a_torus(void **state)
{
    static const char *const algorithms[] = {"S-torus", "Mu-torus", "Md-torus",
                                             "U-torus", "separate", NULL};
    (void)state;
    same_order("torus:4x4", algorithms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_star),
        cmocka_unit_test(on_a_torus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
