/* SPDX-License-Identifier: BSD-2-Clause */
/* Kim, Yum, Das 2005: classes of service in a router, and in cubes of routers. */
#include <math.h>
#include <stdio.h>

#include "interconnect/command/studies.h"

#define CLASS_FIGURES "network_R1 network_R2 network_BE"

/* Of the model or of the simulator. */
typedef double look(const struct ic_points *points, const char *output, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void judge_order(look *seen, const struct ic_points *t, const char *what, double step,
                        int count, struct ex_report *report)
{
    static const char *const outputs[] = {"network_R1", "network_R2", "network_BE"};
    double last[3] = {0};
    int ordered = 0, rising = 0;
    for (int i = 1; i <= count; i++) {
        double now[3];
        bool rises = true;
        for (int c = 0; c < 3; c++) {
            now[c] = seen(t, outputs[c], "load=%.10g", step * i);
            rises = rises && now[c] > last[c];
            last[c] = now[c];
        }
        ordered += now[0] < now[1] && now[1] < now[2];
        rising += rises;
    }
    ex_claim(report, ordered == count && rising == count,
             "R1 is faster than R2, R2 than BE, and all get slower with the load",
             "%s: ordered at %d of %d loads, rising at %d", what, ordered, count, rising);
}

/* How far from the simulation the model is over the loads, as shares below and above. */
static void judge_accuracy(const struct ic_points *t, const char *what, const char *figure,
                           double bound, double step, int count, struct ex_report *report)
{
    double least = INFINITY, most = -INFINITY;
    char claim[96];
    for (int i = 1; i <= count; i++) {
        double off = ic_study_model(t, figure, "load=%.10g", step * i) /
                         ic_study_simulated(t, figure, "load=%.10g", step * i) -
                     1;
        least = fmin(least, off);
        most = fmax(most, off);
    }
    snprintf(claim, sizeof(claim), "the model is within %.0f %% of the simulation: %s", 100 * bound,
             figure);
    ex_claim(report, least > -bound && most < bound, claim, "%s: %+.0f to %+.0f %%", what,
             100 * least, 100 * most);
}

static void judge_misses(look *seen, const struct ic_points *t, const char *what, int early,
                         int late, int count, struct ex_report *report)
{
    int rising = 0, later = 0, order = 0;
    for (int i = 1; i <= count; i++) {
        double load = 0.001 * i;
        double r1 = seen(t, "miss_R1", "deadline=%d load=%.10g", early, load);
        double r2 = seen(t, "miss_R2", "deadline=%d load=%.10g", early, load);
        rising += i == 1 || r1 > seen(t, "miss_R1", "deadline=%d load=%.10g", early, load - 0.001);
        later += seen(t, "miss_R1", "deadline=%d load=%.10g", late, load) < r1;
        order += r2 > r1;
    }
    ex_claim(report, rising == count && later == count,
             "more deadlines are missed with more load, fewer where they are later",
             "%s, R1: rising at %d, fewer at %d of %d loads", what, rising, later, count);
    ex_claim(report, order == count, "R2 misses more than R1", "%s: at %d of %d loads", what, order,
             count);
}

/* ---- one router ---- */
static void judge_best_effort(const struct ic_points *t, struct ex_report *report)
{
    double r1 = ic_study_model(t, "network_R1", "be_load=0.001");
    double loaded = ic_study_model(t, "network_R1", "be_load=0.02");
    double seen = ic_study_simulated(t, "network_R1", "be_load=0.001");
    double seen_loaded = ic_study_simulated(t, "network_R1", "be_load=0.02");
    double second = ic_study_simulated(t, "network_R2", "be_load=0.02") /
                        ic_study_simulated(t, "network_R2", "be_load=0.001") -
                    1;
    ex_claim(report, fabs(loaded / r1 - 1) < 1e-9,
             "R latencies do not depend on best effort's load",
             "R1 at 0.004, model: %.4f and %.4f cycles with BE at 0.001 and 0.02", r1, loaded);
    ex_claim(report, fabs(seen_loaded / seen - 1) < 0.05,
             "R latencies do not depend on best effort's load",
             "R1 at 0.004, simulated: %.1f and %.1f cycles; R2 changes by %+.0f %%", seen,
             seen_loaded, 100 * second);
}

static void judge_waits(look *seen, const struct ic_points *t, const char *what,
                        struct ex_report *report)
{
    static const char *const waits[] = {"wait_R1", "wait_R2", "wait_BE"};
    double grows[3];
    for (int i = 0; i < 3; i++)
        grows[i] = seen(t, waits[i], "load=0.005") - seen(t, waits[i], "load=0.001");
    ex_claim(report, grows[2] > fmax(grows[0], grows[1]),
             "the waiting time of best effort grows fastest",
             "%s, from load 0.001 to 0.005: R1 by %.1f, R2 by %.1f, BE by %.1f cycles", what,
             grows[0], grows[1], grows[2]);
}

static void judge_length(const struct ic_points *t, struct ex_report *report)
{
    double r1 = ic_study_model(t, "network_R1", "be_flits=32 load=0.004");
    double longer = ic_study_model(t, "network_R1", "be_flits=64 load=0.004");
    double seen = ic_study_simulated(t, "network_R1", "be_flits=32 load=0.004");
    double seen_longer = ic_study_simulated(t, "network_R1", "be_flits=64 load=0.004");
    ex_claim(report, fabs(longer / r1 - 1) < 1e-9 && fabs(seen_longer / seen - 1) < 0.05,
             "nor on the length of its messages",
             "R1 at 0.004 with 32 and 64 flits: model %.2f and %.2f, simulated %.1f and %.1f "
             "cycles",
             r1, longer, seen, seen_longer);
}

/* Loads at which best effort still has a wait. */
static int unsaturated(look *seen, const struct ic_points *t, const char *ratio3)
{
    int count = 0;
    for (int i = 1; i <= 10; i++)
        count += isfinite(seen(t, "wait_BE", "ratio3=%s load=%.10g", ratio3, 0.001 * i));
    return count;
}

static void judge_classes(const struct ic_points *t, struct ex_report *report)
{
    int two = unsaturated(ic_study_model, t, "0"), three = unsaturated(ic_study_model, t, "2");
    int seen_two = unsaturated(ic_study_simulated, t, "0");
    int seen_three = unsaturated(ic_study_simulated, t, "2");
    ex_claim(report, three < two && seen_three < seen_two,
             "with a fourth class best effort saturates earlier",
             "last load with a wait: model 0.%03d and 0.%03d, simulated 0.%03d and 0.%03d", two,
             three, seen_two, seen_three);
}

static void note_schedulers(const struct ic_points *t, struct ex_report *report)
{
    static const char *const schedulers[] = {"virtual-clock", "fair-queueing",
                                             "weighted-round-robin", "round-robin"};
    for (int i = 0; i < 4; i++)
        ex_note(report,
                "%s, load 0.004, best effort 0.01: R1 %.1f, R2 %.1f, BE %.1f cycles (simulated)",
                schedulers[i],
                ic_study_simulated(t, "network_R1", "scheduler=%s load=0.004", schedulers[i]),
                ic_study_simulated(t, "network_R2", "scheduler=%s load=0.004", schedulers[i]),
                ic_study_simulated(t, "network_BE", "scheduler=%s load=0.004", schedulers[i]));
}

static void judge_router(const struct ic_points *t, struct ex_report *report)
{
    judge_order(ic_study_model, &t[0], "model", 0.001, 6, report);
    judge_order(ic_study_simulated, &t[0], "simulator", 0.001, 6, report);
    judge_accuracy(&t[0], "loads to 0.008", "network_R1", 0.05, 0.001, 8, report);
    judge_accuracy(&t[0], "loads to 0.008", "network_R2", 0.05, 0.001, 8, report);
    judge_accuracy(&t[0], "loads to 0.008", "network_BE", 0.05, 0.001, 8, report);
    judge_waits(ic_study_model, &t[0], "model", report);
    judge_waits(ic_study_simulated, &t[0], "simulator", report);
    judge_best_effort(&t[1], report);
    judge_length(&t[2], report);
    judge_classes(&t[3], report);
    judge_misses(ic_study_model, &t[4], "model", 42, 47, 6, report);
    judge_misses(ic_study_simulated, &t[4], "simulator", 42, 47, 6, report);
    ex_claim(report,
             fabs(ic_study_model(&t[4], "miss_R1", "deadline=42 load=0.004") /
                      ic_study_simulated(&t[4], "miss_R1", "deadline=42 load=0.004") -
                  1) < 0.1,
             "the model's share of missed deadlines is within 10 % of the simulation",
             "R1, 42 cycles, load 0.004: %.3f and %.3f; R2: %.3f and %.3f",
             ic_study_model(&t[4], "miss_R1", "deadline=42 load=0.004"),
             ic_study_simulated(&t[4], "miss_R1", "deadline=42 load=0.004"),
             ic_study_model(&t[4], "miss_R2", "deadline=42 load=0.004"),
             ic_study_simulated(&t[4], "miss_R2", "deadline=42 load=0.004"));
    note_schedulers(&t[5], report);
    ex_note(report, "R1 and R2 at one router trade latency from seed to seed: a port carries just "
                    "what virtual clock reserves for them.");
}

static const struct ic_study_table router_tables[] = {
    {"load", "qos", IC_BOTH, "n=0 be_load=0.01 load=0.001..0.008/0.001", CLASS_FIGURES " wait_BE",
     "One router, over the load of R1", 60000},
    {"be", "qos", IC_BOTH, "n=0 load=0.004 be_load=0.001,0.005,0.01,0.015,0.02", CLASS_FIGURES,
     "Over best effort's own load", 60000},
    {"length", "qos", IC_BOTH, "n=0 be_load=0.005 be_flits=32,64 load=0.001..0.008/0.001",
     "network_R1 network_BE", "Best effort with messages of 32 and 64 flits", 60000},
    {"classes", "qos", IC_BOTH, "n=0 be_load=0.005 ratio2=1.5 ratio3=0,2 load=0.001..0.01/0.001",
     CLASS_FIGURES, "Without and with a third real-time class", 60000},
    {"miss", "qos", IC_BOTH, "n=0 be_load=0.01 deadline=42,47 load=0.001..0.006/0.001",
     "miss_R1 miss_R2", "Missed deadlines", 60000},
    {"scheduler", "qos", IC_SIMULATOR, "n=0 be_load=0.01 scheduler=all load=0.001..0.007/0.001",
     CLASS_FIGURES, "Schedulers of flits, simulated", 60000},
    {"bursts", "qos", IC_SIMULATOR, "n=0 be_load=0.005 peak=1,4,16 load=0.001..0.007/0.001",
     "network_R1 wait_R1", "ON/OFF sources by their peak rate, simulated", 60000},
};
const struct ic_study ic_study_qos_router = {
    "qos-router",
    "Classes of service in one router (Kim, Yum, Das 2005)",
    "<p>Two real-time classes (R2 at half the load of R1) and best effort, VirtualClock.</p>",
    router_tables,
    7,
    judge_router,
};

/* ---- cubes ---- */
static void judge_growth(look *seen, const struct ic_points *t, const char *what, double times,
                         struct ex_report *report)
{
    double be = seen(&t[0], "network_BE", "load=0.001");
    double by_real_time = seen(&t[0], "network_BE", "load=0.004") - be;
    double by_own =
        seen(&t[1], "network_BE", "be_load=0.004") - seen(&t[1], "network_BE", "be_load=0.001");
    ex_claim(report, by_real_time > times * by_own,
             "best effort gets slower with the real-time load rather than its own",
             "%s, from 0.001 to 0.004: %.1f cycles and %.2f", what, by_real_time, by_own);
}

static void judge_buffers(const struct ic_points *t, struct ex_report *report)
{
    double least = INFINITY, most = 0;
    static const int buffers[] = {8, 16, 32, 64};
    for (int i = 0; i < 4; i++) {
        double r1 = ic_study_simulated(t, "network_R1", "buffer=%d load=0.004", buffers[i]);
        least = fmin(least, r1);
        most = fmax(most, r1);
    }
    ex_claim(report,
             ic_study_model(t, "network_R1", "buffer=8 load=0.004") ==
                     ic_study_model(t, "network_R1", "buffer=32 load=0.004") &&
                 most / least < 1.05,
             "the size of buffers matters little",
             "R1 at 0.004, 8 to 64 flits: the model is the same up to 32, %.1f %% less at 64; "
             "simulated within %.1f %%",
             100 * (1 - ic_study_model(t, "network_R1", "buffer=64 load=0.004") /
                            ic_study_model(t, "network_R1", "buffer=32 load=0.004")),
             100 * (most / least - 1));
}

static void judge_cube(const struct ic_points *t, struct ex_report *report)
{
    judge_order(ic_study_model, &t[0], "6-cube, model", 0.001, 5, report);
    judge_order(ic_study_simulated, &t[0], "6-cube, simulator", 0.001, 5, report);
    judge_accuracy(&t[0], "6-cube, loads to 0.005", "network_R1", 0.05, 0.001, 5, report);
    judge_accuracy(&t[0], "6-cube, loads to 0.005", "network_R2", 0.05, 0.001, 5, report);
    judge_accuracy(&t[0], "6-cube, loads to 0.005", "network_BE", 0.05, 0.001, 5, report);
    judge_growth(ic_study_model, t, "model", 20, report);
    judge_growth(ic_study_simulated, t, "simulator", 2, report);
    judge_waits(ic_study_model, &t[0], "6-cube, model", report);
    judge_waits(ic_study_simulated, &t[0], "6-cube, simulator", report);
    judge_misses(ic_study_model, &t[3], "2 hops, model", 55, 60, 6, report);
    judge_misses(ic_study_simulated, &t[3], "2 hops, simulator", 55, 60, 6, report);
    judge_misses(ic_study_model, &t[4], "5 hops, model", 70, 75, 6, report);
    judge_misses(ic_study_simulated, &t[4], "5 hops, simulator", 70, 75, 6, report);
    judge_buffers(&t[5], report);
}

static const struct ic_study_table qos_cube_tables[] = {
    {"load", "qos", IC_BOTH, "n=6 be_load=0.002 load=0.001..0.008/0.001", CLASS_FIGURES " wait_BE",
     "6-cube, over the load of R1", 60000},
    {"be", "qos", IC_BOTH, "n=6 load=0.001 be_load=0.001,0.002,0.003,0.004", CLASS_FIGURES,
     "Over best effort's own load", 60000},
    {"size", "qos", IC_BOTH, "n=5,6,7 be_load=0.002 load=0.001..0.006/0.001", CLASS_FIGURES,
     "32, 64 and 128 nodes", 60000},
    {"miss-2", "qos", IC_BOTH, "n=6 be_load=0.002 hops=2 deadline=55,60 load=0.001..0.006/0.001",
     "miss_R1 miss_R2", "Missed deadlines of messages over 2 hops", 60000},
    {"miss-5", "qos", IC_BOTH, "n=6 be_load=0.002 hops=5 deadline=70,75 load=0.001..0.006/0.001",
     "miss_R1 miss_R2", "Missed deadlines of messages over 5 hops", 60000},
    {"buffers", "qos", IC_BOTH, "n=6 be_load=0.002 buffer=8,16,32,64 load=0.002..0.008/0.002",
     "network_R1 network_BE", "Buffers of virtual channels", 60000},
    {"variants", "qos", IC_MODEL, "n=6 be_load=0.002 variant=A,B load=0.001..0.008/0.001",
     "network_BE", "Two readings of the model, A as used elsewhere", 0},
};
const struct ic_study ic_study_qos_cube = {
    "qos-cube",
    "Classes of service in a 6-cube (Kim, Yum, Das 2005)",
    "<p>e-cube routing, the same classes.</p>",
    qos_cube_tables,
    7,
    judge_cube,
};
