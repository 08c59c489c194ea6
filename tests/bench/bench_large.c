/* SPDX-License-Identifier: BSD-2-Clause */
/* How much the simulator takes for a large object with the real protocol core: one source and six
 * domains over three hops (tree3), blocks of 64 KiB of one datagram each, bodies virtual. Hosts
 * wake at most every 200 us, as those do whose network cards hold interrupts back for what comes
 * together: four blocks of a wire of 10 Gbit/s.
 *
 *   bench_large [BYTES]     1 TB unless given; ends with 1 when a limit is missed (5 minutes of CPU
 *                           and 1 GiB, for less than 1 TB in proportion, memory not)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "sim-wan/scenario.h"

#define TERABYTE UINT64_C(1000000000000)
#define CPU_MAX 300.0
#define RSS_MAX_KIB (1u << 20)

int main(int argc, char **argv)
{
    uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : TERABYTE;
    const struct sim_wire_config wire = {.rate_bps = 10000000000,
                                         .delay = GMC_MS(15),
                                         .queue_bytes = 62500000,
                                         .mtu = 66000};
    struct sim_world_config config = {.seed = 1,
                                      .virtual_bodies = true,
                                      .cpu = {.wake = GMC_US(200)},
                                      .cache_bytes = UINT64_C(128) << 20};
    struct sim_world *world = sim_world_new(&config);
    struct gmc_channel_key key;
    const char *error = NULL;
    sim_build_tree3(world, &wire);
    sim_world_start(world);
    sim_world_run(world, GMC_S(1));
    struct sim_stage stage = {.object_seed = 1,
                              .bytes = bytes,
                              .targets = world->hosts + 1,
                              .target_count = 6};
    struct sim_host *source = world->hosts[0];
    gmc_time begin = sim_world_now(world);
    if (sim_stage(source, &stage, &key, &error) != GMC_OK) {
        fprintf(stderr, "bench_large: %s\n", error);
        return 1;
    }
    sim_run_to_end(source, &key, GMC_MS(100), GMC_S(1000000));
    struct gmc_channel_info info = {0};
    struct rusage usage;
    sim_channel(source, &key, &info);
    getrusage(RUSAGE_SELF, &usage);
    double cpu = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
                 (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
    double cpu_max = CPU_MAX * (double)bytes / (double)TERABYTE;
    double blocks = (double)bytes / 65536 * 6;
    bool complete = info.state == GMC_CHANNEL_COMPLETE && world->oracle.violations == 0;
    bool ok = complete && cpu <= cpu_max && usage.ru_maxrss <= RSS_MAX_KIB;
    printf("%" PRIu64 " bytes to six domains over three hops, one datagram per block of 64 KiB\n",
           bytes);
    printf("%-26s %12s %12s\n", "", "result", "limit");
    printf("%-26s %12s\n", "complete everywhere", complete ? "yes" : "NO");
    printf("%-26s %12.1f %12.1f\n", "CPU seconds", cpu, cpu_max);
    printf("%-26s %12.0f %12u\n", "memory, MiB", (double)usage.ru_maxrss / 1024, 1024);
    printf("%-26s %12.2f\n", "us per block delivered", cpu / blocks * 1e6);
    printf("%-26s %12.1f\n", "simulated seconds", (double)(sim_world_now(world) - begin) / 1e9);
    printf("%-26s %12.1f\n", "million events", (double)world->engine.fired / 1e6);
    printf("%-26s %12s\n", "ok", ok ? "yes" : "NO");
    sim_world_free(world);
    return ok ? 0 : 1;
}
