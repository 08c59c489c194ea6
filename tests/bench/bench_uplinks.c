/* SPDX-License-Identifier: BSD-2-Clause */
/* Random sets of uplinks, with the real core over simulated wires: how near the shape bulk comes to
 * the bound that no trees can beat, and a plain chain, of a tenth of the bytes, beside it.
 *
 *   bench_uplinks [--sets N] [--bytes N] [--first SEED] [--jobs N] [--no-chain] [--measured]
 *
 * A set: 5 to 50 domains, each behind an access wire to one router, whose rate outwards is drawn
 * log-uniformly from 10 Mbit/s to 1 Gbit/s and inwards is 1 Gbit/s; delays of 2 to 20 ms. Gateways
 * are told their rates and have had a byte, or, with --measured, find them out, and the time begins
 * before there are sessions. Counted are payload rates (the wires', less 28 bytes of IP and UDP and
 * ours per packet), from the command to the last proof. Ends with 1 when the median is below 0.90
 * of the bound or the worst set below 0.75. Each set follows from its seed alone: --first 14 --sets
 * 1 repeats set 14. Sets go over the cores, or N processes. About 15 s of CPU per set of 200 MB, 75
 * s of 1 GB.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/pool.h"
#include "sim-wan/scenario.h"

#define MEDIAN_LIMIT 0.90
#define WORST_LIMIT 0.75
#define PAYLOAD (65536.0 / (65536.0 + 46 * 69)) /* docs/PROTOCOL.md, header bytes */
#define DOMAINS_MAX 50u

struct set {
    struct sim_world *world;
    uint32_t n;
    uint64_t uplink[DOMAINS_MAX];
    double bound; /* seconds */
};

static uint64_t log_uniform(struct gmc_prng *prng)
{
    double at = (double)gmc_prng_below(prng, 1000000) / 1e6;
    return (uint64_t)(10e6 * pow(100, at));
}

/* Each domain is joined to the router by a wire with different rates both ways. */
static void build(struct set *set, uint64_t seed, bool measured)
{
    struct sim_world_config config = {.seed = seed};
    struct gmc_prng prng;
    gmc_prng_init(&prng, seed);
    *set = (struct set){.world = sim_world_new(&config), .n = 5};
    set->n += (uint32_t)gmc_prng_below(&prng, DOMAINS_MAX - 4);
    struct sim_host *router = sim_world_add_router(set->world, "router");
    for (uint32_t i = 0; i < set->n; i++) {
        char name[32];
        sim_host_name(name, sizeof(name), i);
        struct sim_host *host = sim_world_add(set->world, name);
        set->uplink[i] = log_uniform(&prng);
        gmc_duration delay = GMC_MS(2) + gmc_prng_below(&prng, GMC_MS(18));
        struct sim_wire_config out = {.rate_bps = set->uplink[i], .delay = delay};
        struct sim_wire_config in = {.rate_bps = 1000000000, .delay = delay};
        out.queue_bytes = out.rate_bps / 8 / 20; /* 50 ms */
        in.queue_bytes = in.rate_bps / 8 / 20;
        sim_net_add_wire(&set->world->net, host->id, router->id, &out, &in);
        host->uplink_bps = measured ? 0 : set->uplink[i];
        host->downlink_bps = measured ? 0 : in.rate_bps;
    }
    sim_world_start(set->world);
}

static double bound_of(const struct set *set, uint64_t bytes)
{
    double sum = 0, slowest = fmin((double)set->uplink[0], 1e9);
    for (uint32_t i = 0; i < set->n; i++)
        sum += (double)set->uplink[i];
    return (double)bytes * 8 / PAYLOAD / fmin(slowest, sum / (set->n - 1));
}

/* Seconds from the command to the end; negative when it is not complete. *stripes: of the trees. */
static double transfer(struct set *set, uint64_t bytes, enum gmc_tree_shape shape, double limit,
                       uint32_t *stripes)
{
    struct sim_host *source = set->world->hosts[1]; /* behind the router */
    struct sim_stage stage = {.object_seed = bytes,
                              .bytes = bytes,
                              .targets = set->world->hosts + 2,
                              .target_count = set->n - 1,
                              .shape = shape};
    struct gmc_channel_key key;
    struct gmc_channel_info info;
    struct gmc_member_info member;
    const char *error = NULL;
    gmc_time begin = sim_world_now(set->world);
    if (sim_stage(source, &stage, &key, &error) != GMC_OK ||
        !sim_run_to_end(source, &key, GMC_MS(1), (gmc_duration)(limit * 1e9)) ||
        !sim_channel(source, &key, &info) || info.state != GMC_CHANNEL_COMPLETE)
        return -1;
    if (sim_member(source, &key, set->world->hosts[2], &member))
        *stripes = member.stripes;
    return (double)(sim_world_now(set->world) - begin) / 1e9;
}

/* The share of the bound that a shape reaches, 0 where it does not end in two hundred times the
 * bound. */
static double share(uint64_t seed, uint64_t bytes, enum gmc_tree_shape shape, bool measured,
                    uint32_t *domains, uint32_t *stripes)
{
    struct set set;
    build(&set, seed, measured);
    double bound = bound_of(&set, bytes);
    double warm = measured ? 0 : transfer(&set, 1, GMC_TREE_ECO, 60, stripes);
    double seconds = warm < 0 ? -1 : transfer(&set, bytes, shape, 200 * bound + 10, stripes);
    *domains = set.n;
    sim_world_free(set.world);
    return seconds > 0 ? bound / seconds : 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *sorted, size_t count)
{
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* ---- many sets ---- */
struct bench {
    uint64_t sets, bytes, first;
    bool with_chain, measured;
    double *bulk, *chain; /* shares by set */
};

/* In a process of its own. */
static char *measure(void *ctx, size_t n)
{
    const struct bench *bench = ctx;
    uint32_t domains = 0, stripes = 0, one = 0;
    uint64_t seed = bench->first + n;
    double bulk = share(seed, bench->bytes, GMC_TREE_BULK, bench->measured, &domains, &stripes);
    char *text = sim_calloc(64, 1), chain[16] = "-";
    if (bench->with_chain)
        snprintf(chain, sizeof(chain), "%.3f",
                 share(seed, bench->bytes / 10 + 2, GMC_TREE_CHAIN, false, &domains, &one));
    snprintf(text, 64, "%8u %8u %8.3f %8s", domains, stripes, bulk, chain);
    return text;
}

static void on_done(void *ctx, size_t n, const char *text, const char *why)
{
    struct bench *bench = ctx;
    printf("%6" PRIu64 " %s\n", bench->first + n, text != NULL ? text : why);
    fflush(stdout);
    if (text != NULL)
        sscanf(text, "%*u %*u %lf %lf", &bench->bulk[n], &bench->chain[n]);
}

static bool judge(struct bench *bench)
{
    qsort(bench->bulk, bench->sets, sizeof(*bench->bulk), by_size);
    qsort(bench->chain, bench->sets, sizeof(*bench->chain), by_size);
    double middle = median(bench->bulk, bench->sets), worst = bench->bulk[0];
    bool ok = middle >= MEDIAN_LIMIT && worst >= WORST_LIMIT;
    printf("median %.3f (limit %.2f), worst %.3f (limit %.2f)", middle, MEDIAN_LIMIT, worst,
           WORST_LIMIT);
    if (bench->with_chain)
        printf(", chain: median %.3f, worst %.3f", median(bench->chain, bench->sets),
               bench->chain[0]);
    printf(": %s\n", ok ? "ok" : "MISSED");
    return ok;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"sets", required_argument, NULL, 's'},
                                          {"bytes", required_argument, NULL, 'b'},
                                          {"first", required_argument, NULL, 'f'},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"no-chain", no_argument, NULL, 'c'},
                                          {"measured", no_argument, NULL, 'm'},
                                          {NULL, 0, NULL, 0}};
    struct bench bench = {.sets = 50, .bytes = 1000000000, .first = 1, .with_chain = true};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t jobs = cores > 0 ? (size_t)cores : 1;
    int letter;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        uint64_t value = optarg != NULL ? strtoull(optarg, NULL, 10) : 0;
        if (letter == 's' && value > 0)
            bench.sets = value;
        else if (letter == 'b' && value > 0)
            bench.bytes = value;
        else if (letter == 'f')
            bench.first = value;
        else if (letter == 'j' && value > 0)
            jobs = value;
        else if (letter == 'c')
            bench.with_chain = false;
        else if (letter == 'm')
            bench.measured = true;
        else
            return 2;
    }
    bench.bulk = sim_calloc(bench.sets, sizeof(*bench.bulk));
    bench.chain = sim_calloc(bench.sets, sizeof(*bench.chain));
    printf("share of the bound in payload rates, %" PRIu64 " bytes, the chain a tenth of them\n",
           bench.bytes);
    printf("%6s %8s %8s %8s %8s\n", "set", "domains", "stripes", "bulk", "chain");
    fflush(stdout); /* not once more in each process */
    sim_pool_run(&(struct sim_pool){&bench, measure, on_done}, bench.sets, jobs);
    bool ok = judge(&bench);
    free(bench.bulk);
    free(bench.chain);
    return ok ? 0 : 1;
}
