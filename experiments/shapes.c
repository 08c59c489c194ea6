/* SPDX-License-Identifier: BSD-2-Clause */
/* Tree shapes against each other, on networks where each has its chance. */
#include <inttypes.h>
#include <math.h>

#include "experiments/experiment.h"
#include "experiments/jobs.h"
#include "experiments/transfer.h"

#define RECEIVERS 15u

enum network { OWN_WIRES, TWO_CONTINENTS, RANDOM_GRAPH, UPLINKS, NETWORKS };
static const char *const network_names[NETWORKS] = {"own wires", "two continents", "random graph",
                                                    "narrow uplinks"};

struct study {
    uint64_t bytes;
};

static void add_hosts(struct sim_world *world, uint32_t count)
{
    char name[32];
    for (uint32_t i = 0; i < count; i++) {
        sim_host_name(name, sizeof(name), i);
        sim_world_add(world, name);
    }
}

static void join(struct sim_world *world, uint32_t a, uint32_t b, double mbps, double delay_ms)
{
    struct sim_wire_config wire = ex_wire(mbps, delay_ms, 0);
    sim_world_join(world, world->hosts[a], world->hosts[b], &wire);
}

/* Half of the sites behind one router, half behind another one over an ocean. */
static void build_continents(struct sim_world *world)
{
    uint32_t here = RECEIVERS + 1, there = RECEIVERS + 2;
    add_hosts(world, RECEIVERS + 3);
    for (uint32_t i = 0; i <= RECEIVERS; i++)
        join(world, i, i < 8 ? here : there, 100, 2 + i % 8);
    join(world, here, there, 100, 45);
}

/* Every site behind an access wire of its own to one exchange; up it carries less than down. */
static void build_uplinks(struct sim_world *world)
{
    static const double up_mbps[] = {100, 20, 50, 100, 200};
    uint32_t exchange = RECEIVERS + 1;
    add_hosts(world, RECEIVERS + 2);
    for (uint32_t i = 0; i <= RECEIVERS; i++) {
        join(world, i, exchange, 200, 5 + i);
        struct sim_wire_config up = ex_wire(up_mbps[i % 5], 5 + i, 0);
        sim_lane_configure(sim_net_lane(&world->net,
                                        sim_net_wire_between(&world->net, world->hosts[i]->id,
                                                             world->hosts[exchange]->id),
                                        0),
                           &up);
    }
}

static void build(struct sim_world *world, enum network network)
{
    struct sim_wire_config wire = ex_wire(100, 15, 0);
    struct gmc_prng prng;
    gmc_prng_init(&prng, 5);
    switch (network) {
    case OWN_WIRES:
        sim_build_flat(world, RECEIVERS, &wire);
        break;
    case TWO_CONTINENTS:
        build_continents(world);
        break;
    case RANDOM_GRAPH:
        sim_build_random(world, RECEIVERS + 1, 10, &wire, GMC_MS(30), &prng);
        break;
    default:
        build_uplinks(world);
        break;
    }
}

static void run_point(const void *ctx, size_t i, void *out)
{
    const struct study *study = ctx;
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = 1});
    struct ex_transfer transfer = {.bytes = study->bytes,
                                   .shape = (enum gmc_tree_shape)(i % GMC_TREE_SHAPES),
                                   .limit = GMC_S(7200),
                                   .targets = RECEIVERS};
    build(world, (enum network)(i / GMC_TREE_SHAPES));
    ex_transfer_run(world, &transfer, out);
    sim_world_free(world);
}

static const struct ex_result *at(const struct ex_result *results, int network, int shape)
{
    return &results[network * GMC_TREE_SHAPES + shape];
}

static const char *shape_name(int shape)
{
    return gmc_tree_ops((enum gmc_tree_shape)shape)->name;
}

static void write_table(const struct ex_result *results, const struct study *study,
                        struct ex_report *report)
{
    ex_row(report, "network,shape,complete,seconds,setup_seconds,source_bytes_over_object,"
                   "wire_bytes_over_object,depth,events");
    for (int n = 0; n < NETWORKS; n++)
        for (int s = 0; s < GMC_TREE_SHAPES; s++) {
            const struct ex_result *r = at(results, n, s);
            ex_row(report, "%s,%s,%s,%.3f,%.3f,%.3f,%.3f,%u,%" PRIu64, network_names[n],
                   shape_name(s), r->complete ? "yes" : "no", r->seconds, r->setup_seconds,
                   (double)r->source_bytes / (double)study->bytes,
                   (double)r->wire_bytes / (double)study->bytes, r->depth, r->events);
        }
}

static int fastest(const struct ex_result *results, int network)
{
    int best = 0;
    for (int s = 1; s < GMC_TREE_SHAPES; s++)
        if (at(results, network, s)->complete &&
            at(results, network, s)->seconds < at(results, network, best)->seconds)
            best = s;
    return best;
}

static void claim(const struct ex_result *results, struct ex_report *report)
{
    size_t incomplete = 0;
    for (int i = 0; i < NETWORKS * GMC_TREE_SHAPES; i++)
        incomplete += !results[i].complete || results[i].violations > 0;
    ex_claim(report, incomplete == 0, "Every shape delivers to everybody, on every network.",
             "%zu of %d runs did not", incomplete, NETWORKS * GMC_TREE_SHAPES);
    for (int n = 0; n < NETWORKS; n++) {
        int best = fastest(results, n);
        const struct ex_result *bulk = at(results, n, GMC_TREE_BULK);
        double behind = bulk->seconds / at(results, n, best)->seconds;
        char text[160];
        snprintf(text, sizeof(text),
                 "bulk, the default for objects, is within 10 %% of the fastest: %s.",
                 network_names[n]);
        ex_claim(report, behind <= 1.1, text, "%.2f s; the fastest is %s with %.2f s",
                 bulk->seconds, shape_name(best), at(results, n, best)->seconds);
    }
    const struct ex_result *eco = at(results, TWO_CONTINENTS, GMC_TREE_ECO);
    const struct ex_result *flat = at(results, TWO_CONTINENTS, GMC_TREE_FLAT);
    ex_claim(report, eco->seconds < flat->seconds && eco->wire_bytes < flat->wire_bytes,
             "Where many sites are far away together, a tree by latency beats sending to each.",
             "eco %.1f s and %.1f GB of wire bytes, flat %.1f s and %.1f GB", eco->seconds,
             (double)eco->wire_bytes / 1e9, flat->seconds, (double)flat->wire_bytes / 1e9);
}

static void plot(const struct ex_result *results, const struct study *study,
                 struct ex_report *report)
{
    ex_figure_begin(
        report, "time",
        "Completion at 15 receivers, by tree shape. The grey mark is the time that the object "
        "takes on one wire of 100 Mbit/s. The axis is logarithmic.");
    FILE *out = report->plot;
    fputs("$time << END\n", out);
    for (int n = 0; n < NETWORKS; n++) {
        fprintf(out, "\"%s\"", network_names[n]);
        for (int s = 0; s < GMC_TREE_SHAPES; s++)
            fprintf(out, " %g", at(results, n, s)->seconds);
        fputc('\n', out);
    }
    fprintf(out,
            "END\nset title 'Tree shapes on four networks'\nset ylabel 'seconds'\nset logscale y\n"
            "set yrange [%g:*]\nset style data histograms\nset style histogram clustered gap 1.5\n"
            "set style fill solid 0.85 noborder\nset boxwidth 0.9\nplot ",
            (double)study->bytes * 8 / 1e8 / 2);
    for (int s = 0; s < GMC_TREE_SHAPES; s++)
        fprintf(out, "$time using %d%s lt %d title '%s', ", s + 2, s == 0 ? ":xtic(1)" : "", s + 1,
                shape_name(s));
    fprintf(out, "%g with lines lc rgb '#999999' dt 2 title 'one wire'\n",
            (double)study->bytes * 8 / 1e8);
    ex_figure_end(report);
    ex_figure_begin(
        report, "bytes",
        "What all wires carried together, in objects: bytes times hops. A tree that follows "
        "the network carries each byte over each wire once.");
    out = report->plot;
    fputs("$bytes << END\n", out);
    for (int n = 0; n < NETWORKS; n++) {
        fprintf(out, "\"%s\"", network_names[n]);
        for (int s = 0; s < GMC_TREE_SHAPES; s++)
            fprintf(out, " %g", (double)at(results, n, s)->wire_bytes / (double)study->bytes);
        fputc('\n', out);
    }
    fputs("END\nset title 'Load on the network'\nset ylabel 'objects on wires'\nset yrange [0:*]\n"
          "set style data histograms\nset style histogram clustered gap 1.5\n"
          "set style fill solid 0.85 noborder\nset boxwidth 0.9\nplot ",
          out);
    for (int s = 0; s < GMC_TREE_SHAPES; s++)
        fprintf(out, "$bytes using %d%s lt %d title '%s'%s", s + 2, s == 0 ? ":xtic(1)" : "", s + 1,
                shape_name(s), s + 1 < GMC_TREE_SHAPES ? ", " : "\n");
    ex_figure_end(report);
}

static bool run(const struct ex_options *options, struct ex_report *report)
{
    struct study study = {options->quick ? 4000000 : 32000000};
    struct ex_jobs jobs = {.name = "shapes",
                           .count = NETWORKS * GMC_TREE_SHAPES,
                           .parallel = options->parallel,
                           .result_bytes = sizeof(struct ex_result),
                           .run = run_point,
                           .ctx = &study};
    struct ex_result *results = ex_jobs_run(&jobs);
    if (results == NULL)
        return false;
    bool ok = ex_report_begin(
        report, options->folder, "shapes", "Tree shapes against each other",
        "<p>One source and 15 receivers: each over a wire of its own (100 Mbit/s, 15 ms); on two "
        "continents with one wire of 100 Mbit/s and 45 ms between them; on a random graph of 100 "
        "Mbit/s "
        "wires; and around one exchange with 200 Mbit/s down and 20 to 200 Mbit/s up.</p>");
    if (ok) {
        write_table(results, &study, report);
        claim(results, report);
        plot(results, &study, report);
        report->runs = jobs.count;
        for (size_t i = 0; i < jobs.count; i++)
            report->events += results[i].events;
    }
    ex_jobs_free(&jobs, results);
    return ok;
}

const struct ex_experiment ex_shapes = {"shapes",
                                        "tree shapes against each other, on four networks", NULL,
                                        run};
