/* SPDX-License-Identifier: BSD-2-Clause */
/* How much the simulator takes for many gateways on one channel: random topology, bounded probing,
 * eco tree, one object staged to all in messages of 64 KiB, one datagram each, bodies virtual;
 * sixteen of them are a block, which is what is hashed, stored and told of. Hosts wake at most
 * every 2 ms: what comes meanwhile is worked on together, while a gateway's memory is near.
 *
 *   bench_wide [GATEWAYS [BYTES [BLOCK]]]    10000, 1 GB and blocks of 1 MiB (65536: each message
 * is one) unless given; ends with 1 when a limit is missed
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "sim-wan/mem.h"
#include "sim-wan/scenario.h"

#define BLOCKS_CACHED 200u
#define CPU_MAX 300.0
#define RSS_MAX_MIB 4096.0
#define IDLE_MAX_KIB 64.0

struct transfer {
    struct sim_host *source;
    struct gmc_channel_key key;
};

static bool is_running(void *ctx)
{
    const struct transfer *transfer = ctx;
    struct gmc_channel_info info;
    return !sim_channel(transfer->source, &transfer->key, &info) ||
           info.state >= GMC_CHANNEL_RUNNING;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static double rss_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static double heap_kib(void)
{
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd) / 1024;
}

static bool row(const char *what, double value, double limit)
{
    printf("%-36s %12.1f %12.1f %6s\n", what, value, limit, value <= limit ? "yes" : "NO");
    return value <= limit;
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000000;
    uint32_t block_bytes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1u << 20;
    /* Many trees' links share a wire: fast ones, so that what is counted is the gateways' work on
     * blocks that follow each other, and not what idle ones do while they wait. */
    const struct sim_wire_config wire = {.rate_bps = 100000000000,
                                         .queue_bytes = 62500000,
                                         .mtu = 66000};
    struct sim_world_config config = {.seed = 1,
                                      .virtual_bodies = true,
                                      .block_bytes = block_bytes,
                                      .cpu = {.wake = GMC_MS(2)},
                                      .cache_bytes = (size_t)BLOCKS_CACHED * block_bytes};
    (void)sim_large_pages();
    struct sim_world *world = sim_world_new(&config);
    struct gmc_prng prng;
    gmc_prng_init(&prng, 1);
    sim_build_random(world, n + 1, n / 2, &wire, GMC_MS(10), &prng);
    double before = heap_kib();
    sim_world_start(world);
    sim_world_run(world, GMC_S(1));
    double idle = (heap_kib() - before) / (n + 1);
    struct transfer transfer = {.source = world->hosts[0]};
    const char *error = NULL;
    struct sim_stage stage = {.object_seed = 1,
                              .bytes = bytes,
                              .targets = world->hosts + 1,
                              .target_count = n};
    gmc_time begin = sim_world_now(world);
    if (sim_stage(transfer.source, &stage, &transfer.key, &error) != GMC_OK) {
        fprintf(stderr, "bench_wide: %s\n", error);
        return 1;
    }
    sim_world_run_until(world, GMC_MS(10), GMC_S(60), is_running, &transfer);
    double setup_cpu = cpu_seconds();
    double linked = (heap_kib() - before) / (n + 1);
    gmc_time running = sim_world_now(world);
    printf("%" PRIu32 " gateways, %" PRIu64 " bytes; tree after %.2f s simulated, %.1f s of CPU\n",
           n, bytes, (double)(running - begin) / 1e9, setup_cpu);
    fflush(stdout);
    sim_run_to_end(transfer.source, &transfer.key, GMC_MS(100), GMC_S(100000));
    struct gmc_channel_info info = {0};
    sim_channel(transfer.source, &transfer.key, &info);
    bool complete = info.state == GMC_CHANNEL_COMPLETE && world->oracle.violations == 0;
    double cpu = cpu_seconds();
    printf("%-36s %12s %12s %6s\n", "", "result", "limit", "ok");
    printf("%-36s %12s %12s %6s\n", "complete everywhere", complete ? "yes" : "no", "yes",
           complete ? "yes" : "NO");
    bool ok = row("CPU seconds", cpu, CPU_MAX) && complete;
    ok = row("memory, MiB", rss_mib(), RSS_MAX_MIB) && ok;
    ok = row("idle gateway, KiB of heap", idle, IDLE_MAX_KIB) && ok;
    printf("%-36s %12.1f\n", "gateway at the start of data, KiB", linked);
    printf("%-36s %12.2f\n", "us per message delivered",
           (cpu - setup_cpu) / ((double)bytes / 65536 * n) * 1e6);
    printf("%-36s %12.1f\n", "simulated seconds", (double)(sim_world_now(world) - begin) / 1e9);
    printf("%-36s %12.1f\n", "million events", (double)world->engine.fired / 1e6);
    if (!complete)
        printf("%s\n", info.reason != NULL ? info.reason : "");
    for (size_t i = 0; i < SIM_VIOLATIONS_KEPT && world->oracle.texts[i] != NULL; i++)
        printf("violation: %s\n", world->oracle.texts[i]);
    sim_world_free(world);
    return ok ? 0 : 1;
}
