/* SPDX-License-Identifier: BSD-2-Clause */
/* What `gmcast stage --plan` predicts beside what then happens, with the real core over simulated
 * wires of several topologies.
 *
 *   test_prediction [--bytes N]... [--sets N] [--measured]   20 MB and three sets, unless given
 *
 * Each line: a byte goes to all first, so that sessions are there and latencies known; then the
 * plan, then the transfer, from its command to its end. Ends with 1 when a prediction is farther
 * than 15 % from what happened. Where wires lose packets a transfer of the same size goes first,
 * and losses are known. --measured adds lines in which nobody is told of uplinks: such a transfer
 * is what they know. (In tree3 with losses its tree is another one than the next, and who fed one
 * child over one of its wires has not shown what two of them carry.)
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim-wan/scenario.h"

#define FARTHEST 0.15
#define MBIT UINT64_C(1000000)
#define SIZES_MAX 8u
#define LOSSY_TREES 10
#define WARM_MAX 5

static struct sim_wire_config wire_100m(uint32_t loss_ppm)
{
    return (struct sim_wire_config){.rate_bps = 100 * MBIT,
                                    .delay = GMC_MS(15),
                                    .queue_bytes = 625000,
                                    .loss_ppm = loss_ppm};
}

static struct sim_world *new_world(uint64_t seed)
{
    struct sim_world_config config = {.seed = seed};
    return sim_world_new(&config);
}

static void tell(struct sim_world *world, const uint64_t *mbit)
{
    for (size_t i = 0; i < world->host_count; i++) {
        world->hosts[i]->uplink_bps = mbit[i] * MBIT;
        world->hosts[i]->downlink_bps = mbit[i] * MBIT;
    }
}

static struct sim_world *flat(uint64_t seed, uint32_t loss_ppm)
{
    struct sim_world *world = new_world(seed);
    struct sim_wire_config wire = wire_100m(loss_ppm);
    sim_build_flat(world, 6, &wire);
    tell(world, (const uint64_t[]){600, 100, 100, 100, 100, 100, 100});
    return world;
}

/* Every wire is the uplink of both that it joins. */
static struct sim_world *tree3(uint64_t seed, uint32_t loss_ppm)
{
    struct sim_world *world = new_world(seed);
    struct sim_wire_config wire = wire_100m(loss_ppm);
    sim_build_tree3(world, &wire);
    tell(world, (const uint64_t[]){100, 300, 300, 200, 100, 100, 100});
    return world;
}

/* Domains around one router, with uplinks drawn log-uniformly from 10 Mbit/s to 1 Gbit/s. */
static struct sim_world *unequal(uint64_t seed)
{
    struct sim_world *world = new_world(seed);
    struct gmc_prng prng;
    gmc_prng_init(&prng, seed);
    struct sim_host *router = sim_world_add_router(world, "router");
    uint32_t n = 5 + (uint32_t)gmc_prng_below(&prng, 8);
    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), i);
        struct sim_host *host = sim_world_add(world, name);
        double part = (double)gmc_prng_below(&prng, 1000000) / 1e6;
        gmc_duration delay = GMC_MS(2) + gmc_prng_below(&prng, GMC_MS(18));
        struct sim_wire_config out = {.rate_bps = (uint64_t)(10e6 * pow(100, part)),
                                      .delay = delay};
        struct sim_wire_config in = {.rate_bps = 1000 * MBIT, .delay = delay};
        out.queue_bytes = out.rate_bps / 8 / 20; /* 50 ms */
        in.queue_bytes = in.rate_bps / 8 / 20;
        sim_net_add_wire(&world->net, host->id, router->id, &out, &in);
        host->uplink_bps = out.rate_bps;
        host->downlink_bps = in.rate_bps;
    }
    return world;
}

struct question {
    struct sim_host *source;
    struct gmc_channel_key key;
};

static bool has_ended(void *ctx)
{
    const struct question *question = ctx;
    return sim_has_ended(question->source, &question->key);
}

/* Seconds; negative when it does not end as it should. */
static double stage(struct sim_world *world, uint64_t bytes, bool plan,
                    struct gmc_channel_info *info)
{
    size_t first = world->hosts[0]->is_router ? 1 : 0;
    struct sim_host *source = world->hosts[first];
    struct sim_stage stage = {.object_seed = bytes,
                              .bytes = bytes,
                              .targets = world->hosts + first + 1,
                              .target_count = world->host_count - first - 1,
                              .shape = bytes > 1 ? GMC_TREE_BULK : GMC_TREE_ECO,
                              .plan = plan};
    struct question question = {.source = source};
    const char *error = NULL;
    gmc_time begin = sim_world_now(world);
    if (sim_stage(source, &stage, &question.key, &error) != GMC_OK ||
        !sim_world_run_until(world, GMC_MS(1), GMC_S(3600), has_ended, &question) ||
        !sim_channel(source, &question.key, info) ||
        info->state != (plan ? GMC_CHANNEL_PLANNED : GMC_CHANNEL_COMPLETE))
        return -1;
    return (double)(sim_world_now(world) - begin) / 1e9;
}

struct figures {
    double predicted, seconds; /* not above 0: it did not end as it should */
};

/* Where gateways are told nothing of their uplinks, or paths lose packets, the object goes to all
 * before, and they have measured that. */
static struct figures measure(struct sim_world *world, uint64_t bytes, bool told, bool lossy)
{
    struct gmc_channel_info info;
    for (size_t i = 0; i < world->host_count && !told; i++)
        world->hosts[i]->uplink_bps = world->hosts[i]->downlink_bps = 0;
    sim_world_start(world);
    double warm = -1;
    for (int i = 0; i < WARM_MAX && warm < 0; i++) /* sessions come late where packets are lost */
        warm = stage(world, told && !lossy ? 1 : bytes, false, &info);
    double planned = warm < 0 ? -1 : stage(world, bytes, true, &info);
    struct figures figures = {.predicted = (double)info.plan.time / 1e9};
    figures.seconds = planned < 0 ? -1 : stage(world, bytes, false, &info);
    sim_world_free(world);
    return figures;
}

/* Whether the prediction is near enough. */
static bool judge(const char *name, uint64_t bytes, bool told, const struct figures *figures)
{
    double ratio = figures->predicted / figures->seconds;
    bool ok = figures->seconds > 0 && fabs(ratio - 1) <= FARTHEST;
    printf("%-12s %-10s %12" PRIu64 " %10.3f %10.3f %8.3f  %s\n", name,
           told ? "configured" : "measured", bytes, figures->predicted, figures->seconds, ratio,
           ok ? "ok" : "MISSED");
    fflush(stdout);
    return ok;
}

static bool compare(const char *name, struct sim_world *world, uint64_t bytes, bool told,
                    bool lossy)
{
    struct figures figures = measure(world, bytes, told, lossy);
    return judge(name, bytes, told, &figures);
}

/* Three wires deep chance adds up, which only longer transfers or more of them even out. */
static bool compare_lossy_trees(uint64_t bytes)
{
    struct figures mean = {0};
    for (uint64_t seed = 1; seed <= LOSSY_TREES; seed++) {
        struct figures one = measure(tree3(seed, 200000), bytes, true, true);
        if (one.seconds <= 0)
            return judge("tree3 20 %", bytes, true, &one);
        mean.predicted += one.predicted / LOSSY_TREES;
        mean.seconds += one.seconds / LOSSY_TREES;
    }
    return judge("tree3 20 %", bytes, true, &mean);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"bytes", required_argument, NULL, 'b'},
                                          {"sets", required_argument, NULL, 's'},
                                          {"measured", no_argument, NULL, 'm'},
                                          {NULL, 0, NULL, 0}};
    uint64_t sizes[SIZES_MAX] = {20000000}, sets = 3;
    size_t count = 0;
    bool ok = true, with_measured = false;
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        uint64_t value = optarg != NULL ? strtoull(optarg, NULL, 10) : 0;
        if (letter == 'b' && value > 1 && count < SIZES_MAX)
            sizes[count++] = value;
        else if (letter == 's')
            sets = value;
        else if (letter == 'm')
            with_measured = true;
        else
            return 2;
    }
    printf("%-12s %-10s %12s %10s %10s %8s\n", "topology", "uplinks", "bytes", "predicted",
           "seconds", "ratio");
    for (size_t i = 0; i < (count > 0 ? count : 1); i++) {
        for (int told = 1; told >= !with_measured; told--) {
            ok = compare("flat", flat(1, 0), sizes[i], told, false) && ok;
            ok = compare("tree3", tree3(1, 0), sizes[i], told, false) && ok;
            ok = compare("flat 20 %", flat(1, 200000), sizes[i], told, true) && ok;
            if (told)
                ok = compare_lossy_trees(sizes[i]) && ok;
            for (uint64_t set = 1; set <= sets; set++) {
                char name[32];
                snprintf(name, sizeof(name), "unequal %" PRIu64, set);
                ok = compare(name, unequal(set), sizes[i], told, false) && ok;
            }
        }
    }
    return ok ? 0 : 1;
}
