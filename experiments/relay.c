/* SPDX-License-Identifier: BSD-2-Clause */
/* A relay dies at every tenth of the transfer. */
#include <inttypes.h>
#include <math.h>

#include "experiments/experiment.h"
#include "experiments/jobs.h"
#include "experiments/transfer.h"

#define TENTHS 10u
#define RTT_S 0.03

/* Host 1 relays for everybody, host 2 for two. The tree is sim_build_tree3's. */
static const uint32_t relays[] = {1, 2};
#define RELAYS 2u

struct study {
    uint64_t bytes;
};

struct death {
    uint32_t relay;
    uint32_t tenth; /* 0: nobody dies */
    bool dead;
    double when;
};

/* Kills the relay's process when host 4, below both, has that share of the object. */
static void maybe_kill(void *ctx, struct sim_world *world, const struct gmc_channel_key *key)
{
    struct death *death = ctx;
    struct gmc_channel_info info;
    if (death->dead || death->tenth == 0 || !sim_channel(world->hosts[4], key, &info) ||
        info.total_bytes == 0 || info.bytes * TENTHS < info.total_bytes * death->tenth)
        return;
    sim_host_crash(world->hosts[death->relay], SIM_CRASH_KILL);
    death->dead = true;
}

static void run_point(const void *ctx, size_t i, void *out)
{
    const struct study *study = ctx;
    struct death death = {.relay = relays[i / TENTHS], .tenth = (uint32_t)(i % TENTHS)};
    struct sim_world *world =
        sim_world_new(&(struct sim_world_config){.seed = 1, .patience = GMC_S(10)});
    struct sim_wire_config wire = ex_wire(100, RTT_S * 1000 / 2, 0);
    struct ex_transfer transfer = {.bytes = study->bytes,
                                   .shape = GMC_TREE_ECO,
                                   .limit = GMC_S(600),
                                   .meanwhile = maybe_kill,
                                   .ctx = &death};
    sim_build_tree3(world, &wire);
    ex_transfer_run(world, &transfer, out);
    sim_world_free(world);
}

/* When the last of those that live had it; NAN when one has not. */
static double survivors(const struct ex_result *result, uint32_t dead)
{
    double last = 0;
    for (uint32_t host = 1; host <= result->members; host++) {
        if (host == dead)
            continue;
        if (!result->member[host - 1].verified)
            return NAN;
        last = fmax(last, result->member[host - 1].seconds);
    }
    return last;
}

static void claim(const struct ex_result *results, const struct study *study,
                  struct ex_report *report)
{
    static const char *const whose[RELAYS] = {"of all others", "of two"};
    for (uint32_t r = 0; r < RELAYS; r++) {
        double before = survivors(&results[r * TENTHS], 0), most = 0, beyond = -INFINITY, wire = 0;
        unsigned lost = 0;
        char text[160];
        for (uint32_t tenth = 1; tenth < TENTHS; tenth++) {
            const struct ex_result *result = &results[r * TENTHS + tenth];
            double time = survivors(result, relays[r]);
            lost += isnan(time) ? 1 : 0;
            most = fmax(most, time - before);
            beyond = fmax(beyond, time - before - before * (TENTHS - tenth) / TENTHS);
            wire = fmax(wire, (double)result->source_bytes / (double)study->bytes);
        }
        snprintf(text, sizeof(text),
                 "When the relay %s dies, at any tenth, everybody else gets the object.", whose[r]);
        ex_claim(report, lost == 0, text, "%u of 9 deaths left somebody without", lost);
        snprintf(text, sizeof(text),
                 "The death of the relay %s costs at most 2 s and six round trips.", whose[r]);
        ex_claim(report, most <= 2 + 6 * 3 * RTT_S, text, "%.2f s at the most, over %.2f s without",
                 most, before);
        snprintf(text, sizeof(text),
                 "Beside a second copy of what was missing, over wires that the tree uses already, "
                 "that is so: the relay %s.",
                 whose[r]);
        ex_claim(report, beyond <= 2 + 6 * 3 * RTT_S, text, "%.2f s at the most beyond it", beyond);
        ex_note(report,
                "With the death of the relay %s the source sent at most %.2f objects in all.",
                whose[r], wire);
    }
}

static void plot(const struct ex_result *results, struct ex_report *report)
{
    ex_figure_begin(
        report, "time",
        "When the last of those that live had the object, over the moment of the death. The "
        "lines are the undisturbed transfer.");
    FILE *out = report->plot;
    fputs("$death << END\n", out);
    for (uint32_t tenth = 1; tenth < TENTHS; tenth++)
        fprintf(out, "%u %g %g\n", tenth * 10, survivors(&results[tenth], relays[0]),
                survivors(&results[TENTHS + tenth], relays[1]));
    fprintf(
        out,
        "END\nset title 'A relay dies'\nset xlabel 'at so much of the transfer, %%'\n"
        "set ylabel 'seconds'\nset yrange [0:*]\nset xrange [0:100]\nset key inside bottom right\n"
        "plot %g with lines lc rgb '#999999' dt 2 lw 1.5 title 'nobody dies', \\\n"
        " $death using 1:2 with linespoints lt 2 title 'the relay of all others dies', \\\n"
        " '' using 1:3 with linespoints lt 1 title 'a relay of two dies'\n",
        survivors(&results[0], 0));
    ex_figure_end(report);
}

static bool run(const struct ex_options *options, struct ex_report *report)
{
    struct study study = {options->quick ? 20000000 : 60000000};
    struct ex_jobs jobs = {.name = "relay",
                           .count = (size_t)RELAYS * TENTHS,
                           .parallel = options->parallel,
                           .result_bytes = sizeof(struct ex_result),
                           .run = run_point,
                           .ctx = &study};
    struct ex_result *results = ex_jobs_run(&jobs);
    if (results == NULL)
        return false;
    bool ok = ex_report_begin(report, options->folder, "relay", "A relay dies",
                              "<p>Six domains over a tree of three hops (100 Mbit/s, 15 ms). The "
                              "gateway of a relay is killed "
                              "when a domain below it has 10 to 90 % of the object; its wires go "
                              "on passing packets.</p>");
    if (ok) {
        ex_row(report, "relay,percent,survivors_seconds,source_bytes_over_object,"
                       "wire_bytes_over_object,events");
        for (size_t i = 0; i < jobs.count; i++) {
            uint32_t relay = relays[i / TENTHS];
            ex_row(report, "%u,%zu,%.3f,%.3f,%.3f,%" PRIu64, relay, i % TENTHS * 10,
                   survivors(&results[i], i % TENTHS == 0 ? 0 : relay),
                   (double)results[i].source_bytes / (double)study.bytes,
                   (double)results[i].wire_bytes / (double)study.bytes, results[i].events);
            report->events += results[i].events;
        }
        report->runs = jobs.count;
        claim(results, &study, report);
        plot(results, report);
    }
    ex_jobs_free(&jobs, results);
    return ok;
}

const struct ex_experiment ex_relay = {"relay", "a relay dies at every tenth of the transfer", NULL,
                                       run};
