/* SPDX-License-Identifier: BSD-2-Clause */
/* Javadi et al. 2006, Patooghy and Sarbazi-Azad, Kim, Yum and Das 2005: wormhole networks. */
#include <math.h>

#include "base/assert.h"
#include "interconnect/command/studies.h"
#include "interconnect/fattree/javadi.h"
#include "interconnect/hypercube/pcube.h"

/* ---- clusters of fat trees ---- */
static double clusters_saturate(uint64_t nodes, uint32_t flits, double flit_bytes)
{
    struct ic_javadi system = {.flits = flits, .divisor = 4, .queue = IC_JAVADI_QUEUE_NODE};
    char error[IC_ERROR_MAX];
    double load = 0;
    gmc_status status = ic_javadi_system(&system, nodes, error);
    ic_javadi_times(&system, flit_bytes);
    if (status == GMC_OK)
        status = ic_javadi_saturation(&system, &load, error);
    GMC_ASSERT(status == GMC_OK);
    return load;
}

static void judge_clusters(const struct ic_points *t, struct ex_report *report)
{
    static const uint64_t systems[] = {1120, 544};
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "1120" : "544";
        double base = ic_study_model(&t[i], "latency", "M=32 flit=256");
        double longer = ic_study_model(&t[i], "latency", "M=64 flit=256") / base;
        double wider = ic_study_model(&t[i], "latency", "M=32 flit=512") / base;
        double first = clusters_saturate(systems[i], 32, 256);
        double half = clusters_saturate(systems[i], 64, 256) / first;
        double half_wide = clusters_saturate(systems[i], 32, 512) / first;
        ex_claim(report, longer > 1.6 && longer < 2.05 && wider > 1.6 && wider < 2.05,
                 "latency grows 1.7 to 2 times with messages twice as long, or flits twice as wide",
                 "%s nodes, at low load: %.2f and %.2f times", name, longer, wider);
        ex_claim(report, fabs(half - 0.5) < 0.02 && fabs(half_wide - 0.5) < 0.02,
                 "and saturation halves", "%s nodes: from %.4g to %.2f and %.2f of it", name, first,
                 half, half_wide);
    }
}

static const struct ic_study_table cluster_tables[] = {
    {"1120", "multicluster", IC_MODEL,
     "system=1120 M=32,64 flit=256,512 load=0.000005..0.0006/0.000005", NULL,
     "1120 nodes in 32 clusters, model; each curve ends at its saturation", 0},
    {"544", "multicluster", IC_MODEL,
     "system=544 M=32,64 flit=256,512 load=0.00001..0.0012/0.00001", NULL,
     "544 nodes in 16 clusters, model", 0},
};
const struct ic_study ic_study_clusters = {
    "clusters",
    "Heterogeneous clusters of fat trees (Javadi et al. 2006)",
    "<p>Latency over load for messages of 32 and 64 flits, of 256 and 512 bytes each.</p>",
    cluster_tables,
    2,
    judge_clusters,
};

/* ---- hypercubes ---- */
static double cube_saturates(uint32_t n, uint32_t channels, uint32_t flits)
{
    const struct ic_pcube cube = {n, channels, flits};
    char error[IC_ERROR_MAX];
    double load = 0;
    gmc_status status = ic_pcube_saturation(&cube, &load, error);
    GMC_ASSERT(status == GMC_OK);
    return load;
}

static void judge_cubes(const struct ic_points *t, struct ex_report *report)
{
    double base = cube_saturates(6, 3, 32), least, most;
    char error[IC_ERROR_MAX];
    (void)t;
    gmc_status status = ic_pcube_rate(10, 0, &least, error);
    if (status == GMC_OK)
        status = ic_pcube_rate(10, 9, &most, error);
    GMC_ASSERT(status == GMC_OK);
    for (uint64_t z = 0; z < 10; z++) {
        double rate;
        if (ic_pcube_rate(10, z, &rate, error) == GMC_OK)
            ex_row(report, "n=10 z=%u rate over load,%.10g,", (unsigned)z, rate);
    }
    ex_claim(report, cube_saturates(6, 6, 32) > base, "saturation grows with virtual channels",
             "n = 6, M = 32: %.6f with 3, %.6f with 6", base, cube_saturates(6, 6, 32));
    ex_claim(report,
             fabs(cube_saturates(6, 3, 64) / base - 0.5) < 0.05 &&
                 fabs(cube_saturates(6, 3, 128) / base - 0.25) < 0.03,
             "and falls about as 1/M", "M = 64: %.2f of it, M = 128: %.2f",
             cube_saturates(6, 3, 64) / base, cube_saturates(6, 3, 128) / base);
    ex_claim(report,
             cube_saturates(8, 3, 32) < base &&
                 cube_saturates(10, 3, 32) < cube_saturates(8, 3, 32),
             "and falls with n", "n = 8: %.6f, n = 10: %.6f", cube_saturates(8, 3, 32),
             cube_saturates(10, 3, 32));
    ex_claim(report, most / least > 10, "P-cube routing loads channels very unevenly",
             "n = 10: %.5f to %.5f of the load of a node, where balance would be 0.5", least, most);
}

static const struct ic_study_table cube_tables[] = {
    {"6", "hypercube", IC_MODEL, "n=6 V=3,6 M=32,64,128 load=0.0003..0.0078/0.0003", NULL,
     "64 nodes, model; each curve ends where it has no solution", 0},
    {"n", "hypercube", IC_MODEL, "n=4,6,8 V=3 M=32 load=0.0003..0.0102/0.0003", NULL,
     "16 to 256 nodes, model", 0},
};
const struct ic_study ic_study_cubes = {
    "cubes",
    "P-cube routing in hypercubes (Patooghy and Sarbazi-Azad)",
    "<p>Latency over load by dimensions, virtual channels and message length.</p>",
    cube_tables,
    2,
    judge_cubes,
};

/* ---- classes of service ---- */
static void judge_order(const struct ic_points *t, const char *what, const double *loads, int count,
                        struct ex_report *report)
{
    int ordered = 0, rising = 0;
    for (int i = 0; i < count; i++) {
        double r1 = ic_study_model(t, "network_R1", "load=%.10g", loads[i]);
        double r2 = ic_study_model(t, "network_R2", "load=%.10g", loads[i]);
        double be = ic_study_model(t, "network_BE", "load=%.10g", loads[i]);
        ordered += r1 < r2 && r2 < be;
        rising += i == 0 || (r1 > ic_study_model(t, "network_R1", "load=%.10g", loads[i - 1]) &&
                             r2 > ic_study_model(t, "network_R2", "load=%.10g", loads[i - 1]) &&
                             be > ic_study_model(t, "network_BE", "load=%.10g", loads[i - 1]));
    }
    ex_claim(report, ordered == count && rising == count,
             "R1 is faster than R2, R2 than BE, and all get slower with the load",
             "%s: ordered at %d of %d loads", what, ordered, count);
}

static void judge_router(const struct ic_points *t, struct ex_report *report)
{
    static const double loads[] = {0.001, 0.002, 0.003, 0.004, 0.005, 0.006};
    double r1 = ic_study_model(&t[1], "network_R1", "be_load=0.001");
    double r1_loaded = ic_study_model(&t[1], "network_R1", "be_load=0.02");
    double grows[3];
    static const char *const waits[] = {"wait_R1", "wait_R2", "wait_BE"};
    for (int i = 0; i < 3; i++)
        grows[i] = ic_study_model(&t[0], waits[i], "load=0.005") /
                   ic_study_model(&t[0], waits[i], "load=0.001");
    judge_order(&t[0], "router", loads, 6, report);
    ex_claim(report, r1 == r1_loaded, "R latencies do not depend on best effort's load",
             "R1 at 0.004: %.4f and %.4f cycles with BE at 0.001 and 0.02", r1, r1_loaded);
    ex_claim(report, grows[2] > fmax(grows[0], grows[1]),
             "the waiting time of best effort grows fastest",
             "from load 0.001 to 0.005: R1 %.1f, R2 %.1f, BE %.1f times", grows[0], grows[1],
             grows[2]);
    double miss[2] = {ic_study_model(&t[2], "miss_R1", "deadline=42 load=0.004"),
                      ic_study_model(&t[2], "miss_R2", "deadline=42 load=0.004")};
    ex_claim(report,
             miss[0] < miss[1] &&
                 ic_study_model(&t[2], "miss_R1", "deadline=47 load=0.004") < miss[0],
             "deadlines are missed more by R2 than by R1, and less where they are later",
             "42 cycles, load 0.004: %.3f and %.3f", miss[0], miss[1]);
}

static const struct ic_study_table router_tables[] = {
    {"load", "qos", IC_MODEL, "n=0 be_load=0.01 load=0.001..0.008/0.001", "network_BE",
     "One router: best effort's latency over the load of R1, model", 0},
    {"be", "qos", IC_MODEL, "n=0 load=0.004 be_load=0.001,0.005,0.01,0.015,0.02", "network_BE",
     "Over its own load", 0},
    {"miss", "qos", IC_MODEL, "n=0 be_load=0.01 deadline=42,47 load=0.001..0.006/0.001", "miss_R1",
     "Missed deadlines of R1, model", 0},
};
const struct ic_study ic_study_qos_router = {
    "qos-router",
    "Classes of service in one router (Kim, Yum, Das 2005)",
    "<p>Two real-time classes (R2 at half the load of R1) and best effort, VirtualClock.</p>",
    router_tables,
    3,
    judge_router,
};

static void judge_cube(const struct ic_points *t, struct ex_report *report)
{
    static const double loads[] = {0.001, 0.002, 0.003, 0.004, 0.005};
    double be = ic_study_model(&t[0], "network_BE", "load=0.001");
    double by_real_time = ic_study_model(&t[0], "network_BE", "load=0.004") - be;
    double by_own = ic_study_model(&t[1], "network_BE", "be_load=0.004") -
                    ic_study_model(&t[1], "network_BE", "be_load=0.001");
    judge_order(&t[0], "6-cube", loads, 5, report);
    ex_claim(report, by_real_time > 20 * by_own,
             "best effort gets slower with the real-time load rather than its own",
             "from 0.001 to 0.004: %.1f cycles and %.2f", by_real_time, by_own);
}

static const struct ic_study_table qos_cube_tables[] = {
    {"load", "qos", IC_MODEL, "n=6 be_load=0.002 load=0.001..0.006/0.001", "network_BE",
     "6-cube: best effort's latency over the load of R1, model", 0},
    {"be", "qos", IC_MODEL, "n=6 load=0.001 be_load=0.001,0.002,0.003,0.004", "network_BE",
     "Over its own load", 0},
};
const struct ic_study ic_study_qos_cube = {
    "qos-cube",
    "Classes of service in a 6-cube (Kim, Yum, Das 2005)",
    "<p>e-cube routing, the same classes.</p>",
    qos_cube_tables,
    2,
    judge_cube,
};
