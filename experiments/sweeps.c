/* SPDX-License-Identifier: BSD-2-Clause */
/* Loss, hops, receivers and round trips swept, one at a time. */
#include <inttypes.h>
#include <math.h>

#include "experiments/experiment.h"
#include "experiments/jobs.h"
#include "experiments/transfer.h"

#define RATE_MBPS 100.0
#define DELAY_MS 15.0
#define POINTS_MAX 64

enum sweep { LOSS_FLAT, LOSS_TREE, HOPS, RECEIVERS, SHARED, ROUND_TRIP, SWEEPS };
static const char *const sweep_names[SWEEPS] = {"loss, flat", "loss, tree3",   "hops",
                                                "receivers",  "shared uplink", "round trip"};
static const char *const sweep_units[SWEEPS] = {"percent",   "percent",   "hops",
                                                "receivers", "receivers", "ms"};

#define LOSSES                                                                                     \
    {                                                                                              \
        0, 1, 2, 5, 10, 20                                                                         \
    }
static const double values[SWEEPS][6] = {LOSSES,
                                         LOSSES,
                                         {1, 2, 3, 4, 6, 8},
                                         {1, 2, 4, 8, 16, 32},
                                         {1, 2, 4, 6, 8, 16},
                                         {2, 10, 30, 100, 200, 300}};

struct point {
    enum sweep sweep;
    double value;
};

struct study {
    uint64_t bytes;
    struct point points[POINTS_MAX];
    size_t count;
};

/* One wire from the source to a router, and receivers behind it. */
static void build_shared(struct sim_world *world, uint32_t receivers)
{
    struct sim_wire_config wire = ex_wire(RATE_MBPS, DELAY_MS, 0);
    char name[32];
    for (uint32_t i = 0; i <= receivers + 1; i++) {
        sim_host_name(name, sizeof(name), i);
        sim_world_add(world, name);
    }
    for (uint32_t i = 0; i <= receivers; i++)
        sim_world_join(world, world->hosts[receivers + 1], world->hosts[i], &wire);
}

static size_t build(struct sim_world *world, const struct point *point)
{
    double loss = point->sweep == LOSS_FLAT || point->sweep == LOSS_TREE ? point->value : 0;
    double delay = point->sweep == ROUND_TRIP ? point->value / 2 : DELAY_MS;
    struct sim_wire_config wire = ex_wire(RATE_MBPS, delay, loss);
    uint32_t count = (uint32_t)point->value;
    switch (point->sweep) {
    case LOSS_TREE:
        sim_build_tree3(world, &wire);
        return 6;
    case HOPS:
        sim_build_chain(world, count + 1, &wire);
        return count;
    case SHARED:
        build_shared(world, count);
        return count;
    case RECEIVERS:
        sim_build_flat(world, count, &wire);
        return count;
    default:
        sim_build_flat(world, 6, &wire);
        return 6;
    }
}

static void run_point(const void *ctx, size_t i, void *out)
{
    const struct study *study = ctx;
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = 1});
    struct ex_transfer transfer = {.bytes = study->bytes,
                                   .shape = study->points[i].sweep == SHARED ? GMC_TREE_BULK
                                                                             : GMC_TREE_ECO,
                                   .limit = GMC_S(3600)};
    transfer.targets = build(world, &study->points[i]);
    ex_transfer_run(world, &transfer, out);
    sim_world_free(world);
}

/* What the wires would take at the least, over what it took. */
static double ratio(const struct study *study, const struct ex_result *results, size_t i)
{
    const struct point *point = &study->points[i];
    double loss = point->sweep == LOSS_FLAT || point->sweep == LOSS_TREE ? point->value / 100 : 0;
    return (double)study->bytes * 8 / (RATE_MBPS * 1e6 * (1 - loss)) / results[i].seconds;
}

static double least_of(const struct study *study, const struct ex_result *results, enum sweep sweep,
                       double *where)
{
    double least = INFINITY;
    for (size_t i = 0; i < study->count; i++)
        if (study->points[i].sweep == sweep && ratio(study, results, i) < least) {
            least = ratio(study, results, i);
            *where = study->points[i].value;
        }
    return least;
}

static void claim_least(const struct study *study, const struct ex_result *results,
                        struct ex_report *report, enum sweep sweep, double limit, const char *text)
{
    double where = 0, least = least_of(study, results, sweep, &where);
    ex_claim(report, least >= limit, text, "at the least %.3f, at %g %s", least, where,
             sweep_units[sweep]);
}

static void claim(const struct study *study, const struct ex_result *results,
                  struct ex_report *report)
{
    size_t incomplete = 0;
    double slower = 0, wire = 0;
    for (size_t i = 0; i < study->count; i++) {
        incomplete += !results[i].complete || results[i].violations > 0;
        if (study->points[i].sweep != LOSS_TREE)
            continue;
        for (size_t j = 0; j < study->count; j++)
            if (study->points[j].sweep == LOSS_FLAT &&
                study->points[j].value == study->points[i].value)
                slower = fmax(slower, results[i].seconds / results[j].seconds);
        wire = fmax(wire, (double)results[i].first_bytes / (double)study->bytes *
                              (1 - study->points[i].value / 100));
    }
    ex_claim(report, incomplete == 0, "Every run completes.", "%zu of %zu did not", incomplete,
             study->count);
    claim_least(
        study, results, report, LOSS_FLAT, 0.84,
        "Six receivers get the object at 0.84 of rate x (1 - loss) or more, up to 20 % loss.");
    claim_least(study, results, report, LOSS_TREE, 0.84, "So they do over a tree of three hops.");
    ex_claim(report, slower <= 1.05, "Three hops cost at most 5 % beside sending to each.",
             "at the most %.1f %%", 100 * (slower - 1));
    ex_claim(report, wire <= 1.1,
             "The source's first wire carries at most 1.10 / (1 - loss) objects over the tree.",
             "at the most %.3f / (1 - loss)", wire);
    claim_least(study, results, report, HOPS, 0.84,
                "A chain of up to 8 hops keeps 0.84 of the rate.");
    claim_least(study, results, report, RECEIVERS, 0.84,
                "So do up to 32 receivers with wires of their own.");
    claim_least(study, results, report, SHARED, 0.84,
                "So do receivers behind one uplink: it carries one copy, not one for each.");
    claim_least(study, results, report, ROUND_TRIP, 0.7,
                "A round trip of 300 ms leaves 0.7 of the rate.");
}

static void write_table(const struct study *study, const struct ex_result *results,
                        struct ex_report *report)
{
    ex_row(report,
           "sweep,value,unit,complete,seconds,setup_seconds,ratio_to_rate_times_1_minus_loss,"
           "first_wire_bytes_over_object,repaired_fragments,depth,events");
    for (size_t i = 0; i < study->count; i++)
        ex_row(report, "\"%s\",%g,%s,%s,%.3f,%.3f,%.4f,%.4f,%" PRIu64 ",%u,%" PRIu64,
               sweep_names[study->points[i].sweep], study->points[i].value,
               sweep_units[study->points[i].sweep], results[i].complete ? "yes" : "no",
               results[i].seconds, results[i].setup_seconds, ratio(study, results, i),
               (double)results[i].first_bytes / (double)study->bytes, results[i].repairs,
               results[i].depth, results[i].events);
}

static void put_data(const struct study *study, const struct ex_result *results, FILE *out)
{
    for (int s = 0; s < SWEEPS; s++) {
        fprintf(out, "$s%d << END\n", s);
        for (size_t i = 0; i < study->count; i++)
            if (study->points[i].sweep == (enum sweep)s)
                fprintf(out, "%g %g\n", study->points[i].value, ratio(study, results, i));
        fputs("END\n", out);
    }
}

static void plot(const struct study *study, const struct ex_result *results,
                 struct ex_report *report)
{
    ex_figure_begin(
        report, "ratio",
        "What the wires would take at the least over what it took, set-up, verification and "
        "the last acknowledgement included. 1 cannot be reached: heads alone take 5 %.");
    FILE *out = report->plot;
    put_data(study, results, out);
    fputs("set multiplot layout 2,2 title 'Use of the wires'\nset yrange [0:1.05]\n"
          "set ylabel 'ratio'\nset key inside bottom left\n"
          "set xlabel 'loss on every wire, %'\n"
          "plot $s0 with linespoints lt 1 title 'flat, 6 receivers', \\\n"
          " $s1 with linespoints lt 2 title 'tree of three hops'\n"
          "set xlabel 'hops of a chain'\nset xrange [0.5:8.5]\nplot $s2 with linespoints lt 3 "
          "notitle\n"
          "set xlabel 'receivers'\nset logscale x 2\nset xrange [0.9:36]\n"
          "plot $s3 with linespoints lt 4 title 'wires of their own', \\\n"
          " $s4 with linespoints lt 5 title 'behind one uplink'\n"
          "set xlabel 'round trip, ms'\nset logscale x 10\nset xrange [1.5:400]\n"
          "plot $s5 with linespoints lt 6 notitle\nunset multiplot\n",
          out);
    ex_figure_end(report);
}

static bool run(const struct ex_options *options, struct ex_report *report)
{
    struct study study = {.bytes = options->quick ? 10000000 : 100000000};
    for (int s = 0; s < SWEEPS; s++)
        for (size_t i = 0; i < sizeof(values[0]) / sizeof(values[0][0]); i++)
            if (!options->quick || i == 1 || i == 4)
                study.points[study.count++] = (struct point){(enum sweep)s, values[s][i]};
    struct ex_jobs jobs = {.name = "sweeps",
                           .count = study.count,
                           .parallel = options->parallel,
                           .result_bytes = sizeof(struct ex_result),
                           .run = run_point,
                           .ctx = &study};
    struct ex_result *results = ex_jobs_run(&jobs);
    if (results == NULL)
        return false;
    bool ok =
        ex_report_begin(report, options->folder, "sweeps", "Loss, hops, receivers, round trips",
                        "<p>Wires of 100 Mbit/s and 15 ms with 50 ms of queue; one property is "
                        "swept, the others stay. The limits are ours.</p>");
    if (ok) {
        write_table(&study, results, report);
        claim(&study, results, report);
        plot(&study, results, report);
        report->runs = study.count;
        for (size_t i = 0; i < study.count; i++)
            report->events += results[i].events;
        if (options->quick)
            ex_note(report,
                    "The short version stages 10 MB, of which set-up is a good part: limits that "
                    "are meant for 100 MB may be missed by it.");
    }
    ex_jobs_free(&jobs, results);
    return ok;
}

const struct ex_experiment ex_sweeps = {"sweeps", "loss, hops, receivers, round trips", NULL, run};
