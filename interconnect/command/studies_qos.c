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
        double off = ic_study_off(ic_study_model(t, figure, "load=%.10g", step * i),
                                  ic_study_simulated(t, figure, "load=%.10g", step * i));
        least = fmin(least, off);
        most = fmax(most, off);
    }
    snprintf(claim, sizeof(claim), "the model is within %.0f %% of the simulation: %s", 100 * bound,
             figure);
    ex_claim(report, least > -bound && most < bound, claim, "%s: %+.0f to %+.0f %%", what,
             100 * least, 100 * most);
}

/* At low load so few are late that in a short run both deadlines can be missed by the same ones. */
static void judge_misses(look *seen, const struct ic_points *t, const char *what, int early,
                         int late, int count, struct ex_report *report)
{
    int rising = 0, fewer = 0, order = 0;
    double last = 0, early_sum = 0, late_sum = 0;
    for (int i = 1; i <= count; i++) {
        double load = 0.001 * i;
        double r1 = seen(t, "miss_R1", "deadline=%d load=%.10g", early, load);
        double r2 = seen(t, "miss_R2", "deadline=%d load=%.10g", early, load);
        double later = seen(t, "miss_R1", "deadline=%d load=%.10g", late, load);
        rising += i == 1 || r1 > last;
        fewer += later <= r1;
        early_sum += r1;
        late_sum += later;
        order += r2 > r1;
        last = r1;
    }
    ex_claim(report, rising == count && fewer == count && late_sum < early_sum,
             "more deadlines are missed with more load, fewer where they are later",
             "%s, R1: rising at %d, no more at %d of %d loads, %.2f times as many in all", what,
             rising, fewer, count, late_sum / early_sum);
    ex_claim(report, order == count, "R2 misses more than R1", "%s: at %d of %d loads", what, order,
             count);
}

/* How far the model's share of missed deadlines is from the simulator's at most, as a share. */
static double farthest_miss(const struct ic_points *t, const char *output, int count)
{
    double most = 0;
    for (int i = 1; i <= count; i++) {
        double seen = ic_study_simulated(t, output, "deadline=42 load=%.10g", 0.001 * i);
        double model = ic_study_model(t, output, "deadline=42 load=%.10g", 0.001 * i);
        most = fmax(most, fabs(ic_study_off(model, seen)));
    }
    return most;
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
    ex_claim(report, fabs(seen_loaded / seen - 1) < 0.05 && fabs(second) < 0.05,
             "R latencies do not depend on best effort's load",
             "at 0.004, simulated: R1 %.1f and %.1f cycles, R2 changes by %+.1f %%; 5 %% are taken "
             "for chance",
             seen, seen_loaded, 100 * second);
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

/* What twice as long messages of best effort change, as a share. */
static double lengthening(look *seen, const struct ic_points *t, const char *output)
{
    return seen(t, output, "be_flits=64 load=0.004") / seen(t, output, "be_flits=32 load=0.004") -
           1;
}

static void judge_length(const struct ic_points *t, struct ex_report *report)
{
    double model = fmax(fabs(lengthening(ic_study_model, t, "network_R1")),
                        fabs(lengthening(ic_study_model, t, "network_R2")));
    double r1 = lengthening(ic_study_simulated, t, "network_R1");
    double r2 = lengthening(ic_study_simulated, t, "network_R2");
    ex_claim(report, model < 1e-9 && fabs(r1) < 0.05 && fabs(r2) < 0.05,
             "nor on the length of its messages",
             "at 0.004, 64 instead of 32 flits: the model changes by %.2g %%, simulated R1 by "
             "%+.1f, R2 by %+.1f %%; 5 %% are taken for chance",
             100 * model, 100 * r1, 100 * r2);
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
    judge_order(ic_study_model, &t[0], "model", 0.001, 8, report);
    judge_order(ic_study_simulated, &t[0], "simulator", 0.001, 8, report);
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
    double r1 = farthest_miss(&t[4], "miss_R1", 6), r2 = farthest_miss(&t[4], "miss_R2", 6);
    ex_claim(report, r1 < 0.1 && r2 < 0.1,
             "the model's share of missed deadlines is within 10 % of the simulation",
             "42 cycles, loads to 0.006: R1 off by up to %.0f %%, R2 by %.0f %%", 100 * r1,
             100 * r2);
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
    IC_STUDY_TABLES(router_tables),
    NULL,
    judge_router,
};

/* ---- cubes ---- */
static void judge_growth(look *seen, const struct ic_points *t, const char *what,
                         struct ex_report *report)
{
    double be = seen(&t[0], "network_BE", "load=0.001");
    double by_real_time = seen(&t[0], "network_BE", "load=0.004") - be;
    double by_own =
        seen(&t[1], "network_BE", "be_load=0.004") - seen(&t[1], "network_BE", "be_load=0.001");
    ex_claim(report, by_real_time > by_own,
             "best effort gets slower with the real-time load more than with its own",
             "%s, from 0.001 to 0.004: %.1f cycles and %.2f", what, by_real_time, by_own);
}

static void judge_buffers(const struct ic_points *t, struct ex_report *report)
{
    static const int buffers[] = {8, 16, 32, 64};
    double off[2] = {0}; /* over the loads: model, simulator */
    for (int i = 1; i <= 4; i++) {
        double least[] = {INFINITY, INFINITY}, most[] = {0, 0};
        for (int j = 0; j < 4; j++) {
            const double r1[] = {ic_study_model(t, "network_R1", "buffer=%d load=%.10g", buffers[j],
                                                0.002 * i),
                                 ic_study_simulated(t, "network_R1", "buffer=%d load=%.10g",
                                                    buffers[j], 0.002 * i)};
            for (int side = 0; side < 2; side++) {
                least[side] = fmin(least[side], r1[side]);
                most[side] = fmax(most[side], r1[side]);
            }
        }
        for (int side = 0; side < 2; side++)
            off[side] = fmax(off[side], most[side] / least[side] - 1);
    }
    ex_claim(report, off[0] < 0.1 && off[1] < 0.1, "the size of buffers matters little",
             "R1, buffers of 8 to 64 flits, loads to 0.008: within %.1f %% in the model, %.1f %% "
             "simulated; 10 %% are taken for little",
             100 * off[0], 100 * off[1]);
}

static void judge_cube(const struct ic_points *t, struct ex_report *report)
{
    judge_order(ic_study_model, &t[0], "6-cube, model", 0.001, 8, report);
    judge_order(ic_study_simulated, &t[0], "6-cube, simulator", 0.001, 8, report);
    judge_accuracy(&t[0], "6-cube, loads to 0.008", "network_R1", 0.05, 0.001, 8, report);
    judge_accuracy(&t[0], "6-cube, loads to 0.008", "network_R2", 0.05, 0.001, 8, report);
    judge_accuracy(&t[0], "6-cube, loads to 0.008", "network_BE", 0.05, 0.001, 8, report);
    judge_growth(ic_study_model, t, "model", report);
    judge_growth(ic_study_simulated, t, "simulator", report);
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
    IC_STUDY_TABLES(qos_cube_tables),
    NULL,
    judge_cube,
};
