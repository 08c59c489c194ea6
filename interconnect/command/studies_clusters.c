/* SPDX-License-Identifier: BSD-2-Clause */
/* Javadi et al. 2006: clusters of fat trees. */
#include <math.h>

#include "base/assert.h"
#include "interconnect/command/studies.h"
#include "interconnect/fattree/javadi.h"

#define PARTS 8 /* loads of simulations, tenths of the saturation of the model */

static double saturation(uint64_t nodes, uint32_t flits, double flit_bytes)
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

static void judge_length(const struct ic_points *t, uint64_t nodes, struct ex_report *report)
{
    double base = ic_study_model(t, "latency", "M=32 flit=256");
    double longer = ic_study_model(t, "latency", "M=64 flit=256") / base;
    double wider = ic_study_model(t, "latency", "M=32 flit=512") / base;
    double first = saturation(nodes, 32, 256);
    double half = saturation(nodes, 64, 256) / first;
    double half_wide = saturation(nodes, 32, 512) / first;
    ex_claim(report, longer > 1.695 && longer < 2.005 && wider > 1.695 && wider < 2.005,
             "latency grows 1.7 to 2 times with messages twice as long, or flits twice as wide",
             "%u nodes, at low load: %.2f and %.2f times", (unsigned)nodes, longer, wider);
    ex_claim(report, fabs(half - 0.5) < 0.02 && fabs(half_wide - 0.5) < 0.02,
             "and saturation halves", "%u nodes: from %.4g to %.2f and %.2f of it", (unsigned)nodes,
             first, half, half_wide);
}

/* The loads of a simulated table stand in it: `step` times 1 to PARTS. */
static void judge_model(const struct ic_points *t, unsigned nodes, double step,
                        struct ex_report *report)
{
    double off[PARTS + 1] = {0}, worst = 0;
    int last = 0;
    for (int i = 1; i <= PARTS; i++) {
        double seen = ic_study_simulated(t, "latency", "M=32 load=%.10g", step * i);
        off[i] = ic_study_off(ic_study_model(t, "latency", "M=32 load=%.10g", step * i), seen);
        if (isfinite(seen))
            last = i;
        if (i <= 4)
            worst = fmax(worst, fabs(off[i]));
    }
    ex_claim(report, worst < 0.08, "the model is near the simulation in steady state",
             "%u nodes, M = 32: within %.1f %% up to 0.4 of the model's saturation", nodes,
             100 * worst);
    ex_claim(
        report, last < PARTS || off[PARTS] < -0.2, "and departs from it near saturation",
        "%u nodes, M = 32: %+.0f %% at 0.%d of it, the last load that simulations keep up with",
        nodes, 100 * off[last], last);
}

static void judge_tree(const struct ic_points *t, struct ex_report *report)
{
    double seen = ic_study_simulated(&t[0], "latency", "load=0.006");
    double printed = ic_study_model(&t[0], "latency", "load=0.006") / seen - 1;
    double exact = ic_study_model(&t[1], "latency", "load=0.006") / seen - 1;
    ex_claim(report, fabs(printed) < fabs(exact), "the mean rate of channels has the divisor 4",
             "one 8-port 3-level tree at 0.006: the model is off by %+.0f %% with 4, %+.0f %% with "
             "the exact 2",
             100 * printed, 100 * exact);
}

static void judge(const struct ic_points *t, struct ex_report *report)
{
    judge_length(&t[0], 1120, report);
    judge_length(&t[1], 544, report);
    judge_model(&t[2], 1120, 0.00005276, report);
    judge_model(&t[3], 544, 0.0001058, report);
    judge_tree(&t[4], report);
    ex_note(report, "Simulated latencies are those of another reading of ECN1 by up to 10 %%: "
                    "concentrators and dispatchers are buffers without an end.");
}

static const struct ic_study_table tables[] = {
    {"1120", "multicluster", IC_MODEL,
     "system=1120 M=32,64 flit=256,512 load=0.000005..0.0006/0.000005", NULL,
     "1120 nodes in 32 clusters, model; each curve ends at its saturation", 0},
    {"544", "multicluster", IC_MODEL,
     "system=544 M=32,64 flit=256,512 load=0.00001..0.0012/0.00001", NULL,
     "544 nodes in 16 clusters, model", 0},
    {"1120-both", "multicluster", IC_BOTH,
     "system=1120 M=32,64 load=0.00005276..0.00042208/0.00005276", NULL,
     "1120 nodes, simulated too, up to 0.8 of the model's saturation with M = 32", 60000},
    {"544-both", "multicluster", IC_BOTH, "system=544 M=32,64 load=0.0001058..0.0008464/0.0001058",
     NULL, "544 nodes, simulated too", 60000},
    {"tree-4", "fattree", IC_BOTH, "m=8 n=3 M=32 divisor=4 load=0.001..0.01/0.001", NULL,
     "One 8-port 3-level tree; divisor 4, as printed", 60000},
    {"tree-2", "fattree", IC_BOTH, "m=8 n=3 M=32 divisor=2 load=0.001..0.01/0.001", NULL,
     "One 8-port 3-level tree; divisor 2", 60000},
};
const struct ic_study ic_study_clusters = {
    "clusters",
    "Heterogeneous clusters of fat trees (Javadi et al. 2006)",
    "<p>Latency over load for messages of 32 and 64 flits, of 256 and 512 bytes each.</p>",
    IC_STUDY_TABLES(tables),
    NULL,
    judge,
};
