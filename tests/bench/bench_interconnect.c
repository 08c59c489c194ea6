/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast the flit engine, the packet simulator and the models are, on one core, beside the
 * limits. Exits with 1 when one is missed. A flit-hop is a flit over a channel, those into and out
 * of the network among them; links alone are given too. A packet-hop is a packet over a link, those
 * of hosts not among them. A curve of a model is 1,000 points, some of them below saturation.
 *
 *     make bench-interconnect
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "interconnect/fattree/network.h"
#include "interconnect/hypercube/network.h"
#include "interconnect/ldr/build.h"
#include "interconnect/ldr/packets.h"
#include "interconnect/sweep.h"
#include "interconnect/wormhole/run.h"

#define LIMIT_HOPS 15e6       /* per CPU second */
#define LIMIT_KILOBYTES 20000 /* of the process with 512 nodes */
#define LIMIT_PACKET_HOPS 3e6 /* per CPU second, with 2048 nodes */

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

static long kilobytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

#define LIMIT_CURVE 1.0 /* CPU seconds of 1,000 points of a model */
#define LIMIT_SLOW 6.0  /* of the few that take longer */

/* Channels that are neither injection nor ejection. */
struct links {
    double all, links;
};

static void add_channel(void *ctx, const struct ic_channel_record *channel)
{
    struct links *sums = ctx;
    sums->all += channel->load;
    if (strcmp(channel->what, "link") == 0)
        sums->links += channel->load;
}

/* Flit-hops per CPU second; at least a second's worth of them. */
static double measure(const char *what, const struct ic_wh_network *network, uint32_t vcs,
                      double flits_per_cycle)
{
    const struct ic_wh_options options = {.vcs = vcs,
                                          .flits = 32,
                                          .depth = 1,
                                          .links_in_order = true};
    const struct ic_wh_load load = {.rate = flits_per_cycle / 32,
                                    .traffic = {.hosts = network->nodes}};
    struct links sums = {0, 0};
    const struct ic_run run = {.seed = 1,
                               .messages = 200000,
                               .on_channel = add_channel,
                               .ctx = &sums};
    struct ic_wh_figures figures;
    char error[IC_ERROR_MAX] = "out of memory";
    double start = cpu_seconds();
    if (ic_wh_run(network, &options, &load, &run, &figures, error) != GMC_OK) {
        fprintf(stderr, "%s: %s\n", what, error);
        return 0;
    }
    double rate = (double)figures.flit_hops / (cpu_seconds() - start);
    printf("%-34s %3.0f %%  %7.1f M  (links alone %5.1f M)  limit 15 M  %ld kB%s\n", what,
           100 * flits_per_cycle, rate / 1e6, rate / 1e6 * sums.links / sums.all, kilobytes(),
           figures.is_saturated ? ", saturated" : "");
    return rate;
}

/* The slowest over the fastest of both loads. */
static int cubes(enum ic_hypercube_routing routing, double *slowest)
{
    static const double loads[] = {0.1, 0.4};
    for (int i = 0; i < 2; i++)
        for (uint64_t n = 6; n <= 9; n++) {
            struct ic_wh_network network;
            char error[IC_ERROR_MAX], what[64];
            if (ic_hypercube_network(n, routing, true, &network, error) != GMC_OK)
                return 1;
            snprintf(what, sizeof(what), "hypercube n=%u V=3 M=32 %s", (unsigned)n,
                     ic_hypercube_routing_names[routing]);
            double rate = measure(what, &network, 3, loads[i]);
            if (rate < *slowest)
                *slowest = rate;
            ic_wh_network_fini(&network);
        }
    return 0;
}

static int trees(double *slowest)
{
    struct ic_wh_network network;
    struct ic_javadi system = {0};
    char error[IC_ERROR_MAX];
    if (ic_fat_tree_network(8, 4, IC_FAT_TREE_DESTINATION, &network, error) != GMC_OK)
        return 1;
    double rate = measure("fat tree m=8 n=4 V=1 M=32", &network, 1, 0.2);
    ic_wh_network_fini(&network);
    if (rate < *slowest)
        *slowest = rate;
    if (ic_javadi_system(&system, 1120, error) != GMC_OK ||
        ic_multicluster_network(&system, IC_FAT_TREE_ADAPTIVE, &network, error) != GMC_OK)
        return 1;
    measure("clusters N=1120 V=1 M=32", &network, 1, 0.003);
    ic_wh_network_fini(&network);
    return 0;
}

/* ---- packets ---- */
static gmc_status measure_packets(const struct ic_ldr_built *built, const char *what, double load,
                                  enum ic_buffering buffering, uint32_t buffer_packets,
                                  double *slowest, char *error)
{
    static const char *const bufferings[] = {"output", "input"};
    const struct ic_packets_config config = {
        .routes = &built->routes,
        .timing = {.packet_bytes = 256,
                   .link_gbps = 1.4,
                   .channel_ns = 100,
                   .switch_ns = 90,
                   .send_ns = 500,
                   .receive_ns = 500},
        .routing = IC_ADAPTIVE,
        .buffering = buffering,
        .buffer_packets = buffer_packets,
        .traffic = {.hosts = built->network.hosts},
        .load = load,
    };
    const struct ic_run run = {.seed = 1, .messages = 200000};
    struct ic_packets_result result;
    double start = cpu_seconds();
    gmc_status status = ic_packets_simulate(&config, &run, &result, error);
    if (status != GMC_OK)
        return status;
    /* Events are arrivals at switches, with a bound those at hosts' links, too. */
    double each = result.mean_hops + 1 + (buffer_packets > 0);
    double rate = (double)result.events / each * result.mean_hops / (cpu_seconds() - start);
    printf("packets %-9s %3.0f %%  %-6s buffers of %u  %7.1f M  limit 3 M%s\n", what, 100 * load,
           bufferings[buffering], buffer_packets, rate / 1e6,
           result.is_saturated ? ", saturated" : "");
    if (rate < *slowest)
        *slowest = rate;
    return GMC_OK;
}

static gmc_status packets_through(enum ic_ldr_topology topology, const char *what, double *slowest,
                                  char *error)
{
    static const double loads[] = {0.1, 0.5, 0.8};
    const struct ic_ldr_spec spec = {.topology = topology, .nodes = 2048, .samples = 1, .seed = 1};
    struct ic_ldr_built built;
    gmc_status status = ic_ldr_build(&built, &spec, error);
    if (status != GMC_OK)
        return status;
    for (int i = 0; i < 3 && status == GMC_OK; i++)
        for (uint32_t bound = 0; bound <= 4 && status == GMC_OK; bound += 4)
            for (int b = 0; b < IC_BUFFERINGS && status == GMC_OK; b++)
                status = measure_packets(&built, what, loads[i], (enum ic_buffering)b, bound,
                                         slowest, error);
    ic_ldr_built_fini(&built);
    return status;
}

static int packets(void)
{
    double slowest = 1e12;
    char error[IC_ERROR_MAX] = "out of memory";
    if (packets_through(IC_LDR_HYPERCUBE, "hypercube", &slowest, error) != GMC_OK ||
        packets_through(IC_LDR_GENERATED, "ldr", &slowest, error) != GMC_OK) {
        fprintf(stderr, "packets: %s\n", error);
        return 1;
    }
    printf("packet-hops per CPU second, slowest: %.1f M, limit %.0f M\n", slowest / 1e6,
           LIMIT_PACKET_HOPS / 1e6);
    return slowest < LIMIT_PACKET_HOPS;
}

/* ---- curves of models ---- */
static const struct curve {
    const char *family, *params; /* as the command takes them, without dashes */
} curves[] = {
    {"torus", "k 32 group 2..1001"},
    {"star", "group 2..1001"},
    {"fattree", "n 4 load 0.00002..0.02/0.00002"},
    {"multicluster", "load 0.000001..0.001/0.000001"},
    {"multicluster", "system own m 4 n1 29 clusters1 1048576 n2 28 clusters2 524288 n3 27 "
                     "clusters3 524288 load 1e-14..1e-11/1e-14"},
    {"multicluster", "system own m 4 n1 29 clusters1 1048576 n2 28 clusters2 524288 n3 27 "
                     "clusters3 524288 load 1e-12 M 1..1000"},
    {"hypercube", "n 6 load 0.00001..0.01/0.00001"},
    {"hypercube", "n 10 load 0.000005..0.005/0.000005"},
    {"hypercube", "n 12 load 0.000005..0.005/0.000005"},
    {"hypercube", "n 6 load 0.0009 M 1..1000"},
    {"hypercube", "n 12 load 0.0009 M 1..1000"},
    {"qos", "n 0 load 0.00002..0.02/0.00002"},
    {"qos", "n 7 load 0.00002..0.02/0.00002"},
    {"qos", "n 10 ratio3 3 load 0.00001..0.01/0.00001"},
    {"qos", "n 7 deadline 70 load 0.00002..0.02/0.00002"},
    {"qos", "n 7 flits 256 deadline 2000 load 1e-6..1e-3/1e-6"},
    {"qos", "n 7 ratio3 2 flits 256 deadline 2000 load 1e-6..1e-3/1e-6"},
    {"qos", "n 7 ratio2 1.37 hops 3 flits 256 deadline 4000 load 1e-6..1e-3/1e-6"},
    {"qos", "n 0 ratio3 3 deadline 42..1041"},
    {"qos", "n 0 ratio3 3 flits 256 deadline 2000 load 1e-6..1e-3/1e-6"},
    {"qos", "n 0 ratio3 3 flits 4096 deadline 4096 load 1e-7..1e-4/1e-7"},
    {"qos", "n 0 ratio2 1.7 ratio3 2.313 deadline 42..1041"},
    {"qos", "n 0 ratio2 1.7 ratio3 2.313 flits 256 deadline 2000 load 1e-6..1e-3/1e-6"},
    {"updown", "nodes 64 load 0.00001..0.01/0.00001"},
    {"qos", "n 10 ratio3 3 deadline 4..4000/4 load 0.0001"},
    {"qos", "n 10 ratio3 3 hops 5 flits 256 deadline 4..4000/4 load 0.0001"},
    {"qos", "n 10 ratio3 3 load 0.0001 be_flits 1..500"},
    {"updown", "nodes 1024 load 0.00001..0.01/0.00001"},
    {"updown", "nodes 1024 load 0.0001 M 1..1000"},
    {"updown", "nodes 4096 topology hypercube load 0.000001..0.001/0.000001"},
    {"updown", "nodes 4096 topology hypercube load 0.00001 M 1..1000"},
    {"ldr", "nodes 64 load 0.00099..0.99/0.00099"},
    {"ldr", "nodes 2048 load 0.00099..0.99/0.00099"},
    {"ldr", "nodes 2048 routing adaptive load 0.00099..0.99/0.00099"},
    {"ldr", "nodes 4096 load 0.00099..0.99/0.00099"},
    {"ldr", "nodes 4096 topology hypercube routing oblivious load 0.00099..0.99/0.00099"},
    {"ldr", "nodes 65536 topology hypercube load 0.1..0.9/0.1"},
    {"ldr", "nodes 1024 traffic shift shift 1..1000"},
};

/* Those that are known to take longer than is wanted. */
static const struct curve slow_curves[] = {
    {"ldr", "nodes 4096 routing adaptive load 0.00099..0.99/0.00099"},
    {"ldr", "nodes 1024 traffic shift shift 1..1000 routing adaptive"},
    {"updown", "nodes 4096 degree 12 load 0.000001..0.001/0.000001"},
    {"qos", "n 7 ratio2 1.37 ratio3 2.71 hops 3 flits 256 deadline 4000 load 1e-6..1e-3/1e-6"},
    {"qos", "n 10 flits 4096 buffer 4096 deadline 4096 load 1e-7..1e-4/1e-7"},
    {"qos", "n 10 ratio3 3 deadline 4096 load 1e-6..1e-3/1e-6"},
    {"qos", "n 6 load 0.0002 deadline 2000 flits 1..1000"},
    {"qos", "n 10 ratio3 3 load 0.0001 flits 1..1000"},
};

static gmc_status add_params(struct ic_sweep *sweep, const char *params, char *error)
{
    char words[160], *rest = words, *name;
    gmc_status status = GMC_OK;
    snprintf(words, sizeof(words), "%s", params);
    while (status == GMC_OK && (name = strtok_r(rest, " ", &rest)) != NULL)
        status = ic_sweep_add(sweep, name, strtok_r(rest, " ", &rest), error);
    return status;
}

/* CPU seconds; negative: it went wrong. */
static double time_curve(const struct curve *curve, size_t *points, size_t *saturated)
{
    struct ic_sweep sweep;
    struct ic_memo memo = {.count = 0};
    const struct ic_setting setting = {.memo = &memo};
    struct ic_figure figures[32];
    struct ic_result result = {.figures = figures};
    char error[IC_ERROR_MAX] = "out of memory";
    double values[64], start = cpu_seconds();
    ic_sweep_init(&sweep, ic_family_find(curve->family));
    gmc_status status = add_params(&sweep, curve->params, error);
    *saturated = 0;
    for (size_t i = 0; i < sweep.points && status == GMC_OK; i++) {
        ic_sweep_point(&sweep, i, values);
        status = ic_family_model(sweep.family, values, &setting, &result, error);
        *saturated += result.is_saturated;
    }
    *points = sweep.points;
    ic_memo_fini(&memo);
    ic_sweep_fini(&sweep);
    if (status != GMC_OK)
        fprintf(stderr, "%s: %s\n", curve->family, error);
    return status == GMC_OK ? cpu_seconds() - start : -1;
}

static int time_curves(const struct curve *list, size_t count, double limit)
{
    int missed = 0;
    for (size_t i = 0; i < count; i++) {
        size_t points, saturated;
        double seconds = time_curve(&list[i], &points, &saturated);
        printf("model %-12s %4zu points, %3zu saturated: %.2f s, limit %.0f s: %s\n",
               list[i].family, points, saturated, seconds, limit, list[i].params);
        missed |= seconds < 0 || seconds > limit;
    }
    return missed;
}

int main(void)
{
    double slowest = 1e12;
    if (cubes(IC_HYPERCUBE_PCUBE, &slowest) != 0 || cubes(IC_HYPERCUBE_ECUBE, &slowest) != 0)
        return 1;
    long most = kilobytes();
    if (trees(&slowest) != 0)
        return 1;
    printf("flit-hops per CPU second, slowest: %.1f M, limit %.0f M\n", slowest / 1e6,
           LIMIT_HOPS / 1e6);
    printf("memory up to 512 nodes: %ld kB, limit %d kB\n", most, LIMIT_KILOBYTES);
    int missed = packets() != 0;
    missed |= time_curves(curves, sizeof(curves) / sizeof(curves[0]), LIMIT_CURVE);
    missed |= time_curves(slow_curves, sizeof(slow_curves) / sizeof(slow_curves[0]), LIMIT_SLOW);
    return missed != 0 || slowest < LIMIT_HOPS || most > LIMIT_KILOBYTES;
}
