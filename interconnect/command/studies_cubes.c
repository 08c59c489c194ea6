/* SPDX-License-Identifier: BSD-2-Clause */
/* Patooghy and Sarbazi-Azad: P-cube routing in wormhole hypercubes. */
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "interconnect/command/bars.h"
#include "interconnect/command/studies.h"
#include "interconnect/hypercube/pcube.h"

static double saturation(uint32_t n, uint32_t channels, uint32_t flits)
{
    const struct ic_pcube cube = {n, channels, flits};
    char error[IC_ERROR_MAX];
    double load = 0;
    gmc_status status = ic_pcube_saturation(&cube, &load, error);
    GMC_ASSERT(status == GMC_OK);
    return load;
}

static void judge_limits(struct ex_report *report)
{
    double base = saturation(6, 3, 32);
    ex_claim(report, saturation(6, 6, 32) > base, "saturation grows with virtual channels",
             "n = 6, M = 32: %.6f with 3, %.6f with 6", base, saturation(6, 6, 32));
    ex_claim(report,
             fabs(saturation(6, 3, 64) / base - 0.5) < 0.05 &&
                 fabs(saturation(6, 3, 128) / base - 0.25) < 0.03,
             "and falls about as 1/M", "M = 64: %.2f of it, M = 128: %.2f",
             saturation(6, 3, 64) / base, saturation(6, 3, 128) / base);
    ex_claim(report, saturation(8, 3, 32) < base && saturation(10, 3, 32) < saturation(8, 3, 32),
             "and falls with n", "n = 8: %.6f, n = 10: %.6f", saturation(8, 3, 32),
             saturation(10, 3, 32));
}

/* Up to 0.8 of where the model ends. */
static void judge_model(const struct ic_points *t, const char *what, double step, double limit,
                        double bound, struct ex_report *report)
{
    double worst = 0;
    for (int i = 1; i * step < 0.8 * limit; i++) {
        double load = i * step;
        double seen = ic_study_simulated(t, "latency", "routing=pcube load=%.10g", load);
        double model = ic_study_model(t, "latency", "routing=pcube load=%.10g", load);
        worst = fmax(worst, fabs(ic_study_off(model, seen)));
    }
    ex_claim(report, worst < bound, "the model is good at low and moderate load",
             "%s: within %.1f %% up to 0.8 of its limit", what, 100 * worst);
}

/* The highest load of a table with a latency. */
static double keeps_up(const struct ic_points *t, const char *routing, double step, int steps)
{
    double last = 0;
    for (int i = 1; i <= steps; i++)
        if (isfinite(ic_study_simulated(t, "latency", "routing=%s load=%.10g", routing, step * i)))
            last = step * i;
    return last;
}

static void judge_saturation(const struct ic_points *t, const char *what, double step, int steps,
                             double limit, uint32_t flits, struct ex_report *report)
{
    double last = keeps_up(t, "pcube", step, steps);
    ex_claim(report, last > 1.5 * limit, "and pessimistic about saturation",
             "%s: it ends at %.3f flits per node and cycle, simulations keep up to %.3f or more",
             what, limit * flits, last * flits);
}

static void judge_routings(const struct ic_points *t, const char *what, double step, int steps,
                           struct ex_report *report)
{
    int above = 0, count = 0;
    for (int i = 1; i <= steps; i++) {
        double p = ic_study_simulated(t, "latency", "routing=pcube load=%.10g", step * i);
        double e = ic_study_simulated(t, "latency", "routing=ecube load=%.10g", step * i);
        count += isfinite(e);
        above += p > e || (isnan(p) && isfinite(e));
    }
    ex_claim(report, above == count, "e-cube is faster than P-cube under uniform traffic",
             "%s, simulated: at %d of %d loads", what, above, count);
}

static void note_patterns(const struct ic_points *t, struct ex_report *report)
{
    static const char *const patterns[] = {"transpose", "reversal", "complement"};
    for (int i = 0; i < 3; i++) {
        double last[2] = {0};
        for (int routing = 0; routing < 2; routing++)
            for (int step = 1; step <= 6; step++)
                if (isfinite(ic_study_simulated(t, "latency", "traffic=%s routing=%s load=%.10g",
                                                patterns[i], routing == 0 ? "pcube" : "ecube",
                                                0.002 * step)))
                    last[routing] = 0.002 * step;
        ex_note(report,
                "%s, 64 nodes, V = 3, M = 32: P-cube keeps up to %.3f messages per node and cycle, "
                "e-cube to %.3f",
                patterns[i], last[0], last[1]);
    }
}

static void judge(const struct ic_points *t, struct ex_report *report)
{
    judge_limits(report);
    judge_model(&t[2], "n = 6, V = 3, M = 32", 0.001, saturation(6, 3, 32), 0.05, report);
    judge_model(&t[3], "n = 6, V = 6, M = 64", 0.0005, saturation(6, 6, 64), 0.1, report);
    judge_model(&t[4], "n = 8, V = 3, M = 32", 0.0005, saturation(8, 3, 32), 0.05, report);
    judge_saturation(&t[2], "n = 6, V = 3, M = 32", 0.001, 16, saturation(6, 3, 32), 32, report);
    judge_saturation(&t[4], "n = 8, V = 3, M = 32", 0.0005, 18, saturation(8, 3, 32), 32, report);
    judge_routings(&t[2], "n = 6, V = 3, M = 32", 0.001, 16, report);
    judge_routings(&t[3], "n = 6, V = 6, M = 64", 0.0005, 16, report);
    judge_routings(&t[4], "n = 8, V = 3, M = 32", 0.0005, 18, report);
    note_patterns(&t[5], report);
}

static const struct ic_study_table tables[] = {
    {"6", "hypercube", IC_MODEL, "n=6 V=3,6 M=32,64,128 load=0.0003..0.0078/0.0003", NULL,
     "64 nodes, model; each curve ends where it has no solution", 0},
    {"n", "hypercube", IC_MODEL, "n=4,6,8 V=3 M=32 load=0.0003..0.0102/0.0003", NULL,
     "16 to 256 nodes, model", 0},
    {"6-3-32", "hypercube", IC_BOTH, "n=6 V=3 M=32 routing=pcube,ecube load=0.001..0.016/0.001",
     NULL, "64 nodes, V = 3, M = 32, simulated too", 60000},
    {"6-6-64", "hypercube", IC_BOTH, "n=6 V=6 M=64 routing=pcube,ecube load=0.0005..0.008/0.0005",
     NULL, "64 nodes, V = 6, M = 64, simulated too", 60000},
    {"8-3-32", "hypercube", IC_BOTH, "n=8 V=3 M=32 routing=pcube,ecube load=0.0005..0.009/0.0005",
     NULL, "256 nodes, V = 3, M = 32, simulated too", 60000},
    {"patterns", "hypercube", IC_SIMULATOR,
     "n=6 V=3 M=32 traffic=transpose,reversal,complement routing=pcube,ecube "
     "load=0.002..0.012/0.002",
     NULL, "64 nodes, V = 3, M = 32: permutations, simulated", 60000},
};
const struct ic_study ic_study_cubes = {
    "cubes",
    "P-cube routing in hypercubes (Patooghy and Sarbazi-Azad)",
    "<p>Latency over load by dimensions, virtual channels and message length.</p>",
    IC_STUDY_TABLES(tables),
    NULL,
    judge,
};

/* ---- channel rates ---- */
#define DIMENSIONS 10
#define NODE_LOAD 0.01

/* Of the channels with z zeros among the other address bits, messages per cycle. */
static double channel_rate(unsigned z)
{
    double rate;
    char error[IC_ERROR_MAX];
    gmc_status status = ic_pcube_rate(DIMENSIONS, z, &rate, error);
    GMC_ASSERT(status == GMC_OK);
    return NODE_LOAD * rate;
}

/* All channels alike: a node's mean number of hops over its channels. */
static double balanced_rate(void)
{
    double nodes = 1 << DIMENSIONS;
    return NODE_LOAD * nodes / 2 / (nodes - 1);
}

static bool add_rates(const struct ic_points *t, struct ex_report *report)
{
    struct ic_bars bars = {.what = "bars",
                           .caption = "Rates of channels, 1024 nodes, load 0.01: both directions "
                                      "of a link carry the same",
                           .row = "zeros of the other bits",
                           .unit = "messages/cycle",
                           .series = {"P-cube", "balanced"},
                           .series_count = 2};
    (void)t;
    for (unsigned z = 0; z < DIMENSIONS; z++) {
        const double values[] = {channel_rate(z), balanced_rate()};
        char name[8];
        snprintf(name, sizeof(name), "%u", z);
        ic_bars_add(&bars, name, values);
    }
    return ic_bars_end(&bars, report);
}

static void judge_rates(const struct ic_points *t, struct ex_report *report)
{
    (void)t;
    double least = channel_rate(0), most = channel_rate(DIMENSIONS - 1);
    ex_claim(report, most / least > 10, "P-cube routing loads channels very unevenly",
             "n = 10, load %.2f: %.5f to %.5f messages per cycle, where balance would be %.5f",
             NODE_LOAD, least, most, balanced_rate());
}

const struct ic_study ic_study_cube_rates = {
    "cube-rates",
    "Channel rates of P-cube routing (Patooghy and Sarbazi-Azad)",
    "<p>Channels by the zeros among the address bits that they do not change.</p>",
    NULL,
    0,
    add_rates,
    judge_rates,
};
