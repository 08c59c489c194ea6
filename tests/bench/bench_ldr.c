/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the campaign of low-diameter graphs: how good they become and in which time, how fast
 * packets are simulated, and the comparisons of the source, with its graphs and with better ones.
 * Figures stand beside their limits; what misses one ends the program with 1. "quick" leaves the
 * largest networks out. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interconnect/graph/distances.h"
#include "interconnect/ldr/build.h"
#include "interconnect/ldr/improve.h"
#include "interconnect/ldr/model.h"
#include "interconnect/ldr/packets.h"

#define MESSAGES 60000u

static bool is_quick, has_missed;
static char error[IC_ERROR_MAX];

static void must(gmc_status status)
{
    if (status == GMC_OK)
        return;
    fprintf(stderr, "bench_ldr: %s\n", status == GMC_ERR_INVALID ? error : gmc_status_text(status));
    exit(1);
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static const char *verdict(bool is_good)
{
    has_missed |= !is_good;
    return is_good ? "ok" : "MISSED";
}

/* ---- graphs ---- */
static void improve(uint64_t nodes, uint64_t degree, uint32_t diameter_limit, double mean_limit)
{
    const struct ic_improve_config config = {.seed = 1};
    struct ic_graph graph;
    struct ic_distances distances;
    double start = cpu_seconds();
    must(ic_improve_random(nodes, degree, &config, &graph, error));
    double seconds = cpu_seconds() - start;
    must(ic_graph_distances(&graph, &distances));
    bool is_good =
        distances.mean <= mean_limit && distances.diameter <= diameter_limit && seconds <= 60;
    printf("%6u %6u %9u %8.4f %8.4f %8.1f  %s\n", (unsigned)nodes, (unsigned)degree,
           distances.diameter, distances.mean, mean_limit, seconds, verdict(is_good));
    ic_graph_fini(&graph);
}

static void improve_all(void)
{
    puts("Graphs: mean distance without self pairs, 60 s of CPU time at most");
    puts(" nodes degree  diameter     mean    limit  seconds");
    improve(64, 6, 3, 7.0 / 3 + 1e-9);
    improve(256, 8, 4, 2.76);
    improve(1024, 10, 4, 3.21);
    if (!is_quick)
        improve(2048, 11, 5, 3.43);
}

/* ---- packets ---- */
static void build(struct ic_ldr_built *built, enum ic_ldr_topology topology, uint64_t nodes,
                  uint64_t component)
{
    const struct ic_ldr_spec spec = {.topology = topology,
                                     .nodes = nodes,
                                     .component = component,
                                     .ports = 8,
                                     .samples = nodes > 512 ? 2 : 10,
                                     .steps = nodes > 512 ? 100000 : 0,
                                     .seed = 1};
    must(ic_ldr_build(built, &spec, error));
}

static struct ic_packets_config usual(const struct ic_ldr_built *built, double load)
{
    struct ic_packets_config config = {.routes = &built->routes,
                                       .graph = built->is_direct ? &built->graph : NULL,
                                       .timing = IC_PACKET_TIMING_USUAL,
                                       .routing = IC_ADAPTIVE,
                                       .load = load};
    must(ic_traffic_init(&config.traffic, IC_TRAFFIC_UNIFORM, built->network.hosts, 1, error));
    return config;
}

static struct ic_packets_result simulate(const struct ic_packets_config *config)
{
    const struct ic_run run = {.seed = 1, .messages = MESSAGES};
    struct ic_packets_result result;
    must(ic_packets_simulate(config, &run, &result, error));
    return result;
}

static void speed(void)
{
    struct ic_ldr_built built;
    puts("\nSpeed: packets at switches per CPU second, 2048 nodes, adaptive, 3 M at least");
    build(&built, IC_LDR_GENERATED, 2048, 0);
    for (uint32_t buffer = 0; buffer <= 4; buffer += 4)
        for (double load = 0.1; load < 0.95; load += 0.4) {
            struct ic_packets_config config = usual(&built, load);
            config.buffer_packets = buffer;
            double start = cpu_seconds();
            struct ic_packets_result result = simulate(&config);
            double rate = (double)result.events / (cpu_seconds() - start) / 1e6;
            printf("buffers of %u packets (0: no bound), load %.1f: %.1f M  %s\n", buffer, load,
                   rate, verdict(rate >= 3));
        }
    ic_ldr_built_fini(&built);
}

/* A latency in a column of nine. */
static void print_latency(double latency, bool is_saturated)
{
    if (is_saturated)
        printf(" %9s", "saturated");
    else
        printf(" %9.1f", latency);
}

static void compare_at(const struct ic_ldr_built *built, uint64_t nodes,
                       enum ic_switching switching, double load)
{
    static const char *const names[] = {"fixed", "oblivious", "adaptive"};
    for (int routing = IC_FIXED; routing < IC_PACKET_ROUTINGS; routing++) {
        printf("%6u %-11s %-9s %4.1f", (unsigned)nodes,
               switching == IC_CUT_THROUGH ? "cut-through" : "store", names[routing], load);
        double cube = 0;
        for (int i = 0; i < 3; i++) {
            struct ic_packets_config config = usual(&built[i], load);
            config.routing = (enum ic_packet_routing)routing;
            config.switching = switching;
            struct ic_packets_result result = simulate(&config);
            print_latency(result.latency, result.is_saturated);
            if (i == 0)
                cube = result.is_saturated ? 0 : result.latency;
            else if (cube > 0 && !result.is_saturated)
                printf(" %5.1f %%", 100 * (1 - result.latency / cube));
            else
                printf(" %7s", "");
        }
        puts("");
    }
}

static void compare(uint64_t nodes)
{
    struct ic_ldr_built built[3];
    for (int i = 0; i < 3; i++)
        build(&built[i], (enum ic_ldr_topology)(IC_LDR_HYPERCUBE + i), nodes, 0);
    for (int switching = 0; switching < IC_SWITCHINGS; switching++)
        for (double load = 0.1; load < 0.85; load += 0.35)
            compare_at(built, nodes, (enum ic_switching)switching, load);
    for (int i = 0; i < 3; i++)
        ic_ldr_built_fini(&built[i]);
}

static void compare_all(void)
{
    puts("\nLatency in ns, and what is gained on the hypercube");
    puts(" nodes switching   routing   load hypercube    as printed           improved");
    for (uint64_t nodes = 64; nodes <= (is_quick ? 256 : 4096); nodes *= 2)
        compare(nodes);
}

/* ---- patterns, buffers, broadcasts, hybrids ---- */
static void patterns(void)
{
    static const char *const names[] = {"uniform",   "shift",    "ring",
                                        "transpose", "reversal", "complement"};
    puts("\nPatterns: 64 nodes, adaptive, cut-through, load 0.2; latency in ns");
    puts("pattern     hypercube as printed improved");
    for (int pattern = 0; pattern < IC_TRAFFIC_PATTERNS; pattern++) {
        printf("%-11s", names[pattern]);
        for (int i = 0; i < 3; i++) {
            struct ic_ldr_built built;
            build(&built, (enum ic_ldr_topology)(IC_LDR_HYPERCUBE + i), 64, 0);
            struct ic_packets_config config = usual(&built, 0.2);
            must(ic_traffic_init(&config.traffic, (enum ic_traffic_pattern)pattern, 64, 21, error));
            struct ic_packets_result result = simulate(&config);
            print_latency(result.latency, result.is_saturated);
            ic_ldr_built_fini(&built);
        }
        puts("");
    }
}

static void buffers(void)
{
    puts("\nBuffers: 64 nodes as printed, adaptive, cut-through; latency in ns");
    puts("load     output     input");
    struct ic_ldr_built built;
    build(&built, IC_LDR_GENERATED, 64, 0);
    for (double load = 0.1; load < 0.95; load += 0.2) {
        struct ic_packets_config config = usual(&built, load);
        printf("%4.1f", load);
        for (int buffering = 0; buffering < IC_BUFFERINGS; buffering++) {
            config.buffering = (enum ic_buffering)buffering;
            struct ic_packets_result result = simulate(&config);
            print_latency(result.latency, result.is_saturated);
        }
        puts("");
    }
    ic_ldr_built_fini(&built);
}

static void broadcasts(uint64_t nodes)
{
    struct ic_ldr_built built[3];
    for (int i = 0; i < 3; i++)
        build(&built[i], (enum ic_ldr_topology)(IC_LDR_HYPERCUBE + i), nodes, 0);
    for (double load = 0.1; load < 0.75; load += 0.3) {
        double cube = 0;
        printf("%6u %4.1f", (unsigned)nodes, load);
        for (int i = 0; i < 3; i++) {
            struct ic_packets_config config = usual(&built[i], load);
            config.broadcast_packets = 10;
            struct ic_packets_result result = simulate(&config);
            printf(" %9.0f", result.broadcast);
            if (i == 0)
                cube = result.broadcast;
            else
                printf(" (-%.0f)", cube - result.broadcast);
        }
        puts("");
    }
    for (int i = 0; i < 3; i++)
        ic_ldr_built_fini(&built[i]);
}

static void hybrids(uint64_t nodes, uint64_t component)
{
    struct ic_ldr_built built[3];
    for (int i = 0; i < 3; i++)
        build(&built[i], (enum ic_ldr_topology)(IC_LDR_HYBRID_HYPERCUBE + i), nodes, component);
    /* Near 0.9 parts of 1024 saturate, which thousands of hosts take minutes to show. */
    for (double load = 0.2; load < 0.85; load += 0.2) {
        double cube = 0;
        printf("%6u %5u %4.1f", (unsigned)nodes, (unsigned)component, load);
        for (int i = 0; i < 3; i++) {
            struct ic_packets_config config = usual(&built[i], load);
            struct ic_packets_result result = simulate(&config);
            print_latency(result.latency, result.is_saturated);
            if (i == 0)
                cube = result.latency;
            else
                printf(" %5.1f %%", 100 * (1 - result.latency / cube));
        }
        puts("");
    }
    for (int i = 0; i < 3; i++)
        ic_ldr_built_fini(&built[i]);
}

int main(int argc, char **argv)
{
    is_quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    improve_all();
    speed();
    compare_all();
    patterns();
    buffers();
    puts("\nBroadcasts of 10 packets: ns until all have all, and the difference to the hypercube");
    puts(" nodes load hypercube as printed        improved");
    broadcasts(64);
    if (!is_quick)
        broadcasts(2048);
    puts("\nHybrids with fat trees of 8-port switches: latency in ns, gain on hypercubes");
    puts(" nodes parts load hypercube    as printed           improved");
    hybrids(is_quick ? 256 : 4096, is_quick ? 64 : 256);
    if (!is_quick)
        hybrids(4096, 1024);
    return has_missed ? 1 : 0;
}
