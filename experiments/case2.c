/* SPDX-License-Identifier: BSD-2-Clause */
/* Case study 2, the runs.
 *
 * Source: Oral 2003, chapter 5. Wires of 100 Mbit/s and 25 ms: a message of 64 KB then takes 5.2 ms
 * of a wire and 30 ms from end to end, as there. The local link is where a gateway stores: the core
 * waits for its store, so a slow link slows its parent. */
#include "experiments/case2.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/jobs.h"
#include "experiments/transfer.h"
#include "sim-wan/mem.h"

#define WIRE_MBPS 100.0
#define WIRE_DELAY_MS 25.0
#define MESSAGE_BYTES 65536u
#define FRAGMENTS 46.0 /* datagrams of a message on wires of 1500 bytes */
#define NARROW_CACHE (UINT64_C(1) << 20)
#define DOMAINS 6u

const double case2_rates[CASE2_RATES] = {0, 1, 5, 10, 20};
const char *const case2_tree_names[CASE2_TREES] = {"flat", "LC", "NC"};
const char *const case2_link_names[CASE2_LINKS] = {"Fast Ethernet", "Gigabit", "Myrinet", "SCI"};
const char *const case2_window_names[CASE2_WINDOWS] = {"wide", "narrow"};

/* What the links carry of messages: for the Ethernets 64 KB in 12 and 1.2 ms, as measured in the
 * source; the wires' own rates for the others. */
static const double link_bps[CASE2_LINKS] = {65536 * 8 / 12e-3, 65536 * 8 / 1.2e-3, 1.28e9, 5.3e9};

/* Parents of the six domains, by how many hops the farthest is beyond the first. */
static const uint32_t parents[CASE2_HOPS][DOMAINS] = {
    {0, 0, 0, 0, 0, 0},
    {0, 1, 1, 1, 1, 1},
    {0, 1, 1, 2, 2, 3},
    {0, 1, 1, 2, 3, 4},
};

/* That each datagram has to be lost with, for messages to need a repair at that rate. */
static double datagram_loss_percent(double message_percent)
{
    return 100 * (1 - pow(1 - message_percent / 100, 1 / FRAGMENTS));
}

static void build(struct sim_world *world, const struct case2_point *point)
{
    char name[32];
    double loss = datagram_loss_percent(case2_rates[point->rate]);
    for (uint32_t i = 0; i <= DOMAINS; i++) {
        sim_host_name(name, sizeof(name), i);
        sim_world_add(world, name);
    }
    for (uint32_t i = 0; i < DOMAINS; i++) {
        uint32_t parent = parents[point->hops][i];
        struct sim_wire_config wire = ex_wire(WIRE_MBPS, WIRE_DELAY_MS, parent == 0 ? 0 : loss);
        struct sim_disk_config disk = {.latency = GMC_US(50),
                                       .rate_bps = (uint64_t)link_bps[point->link]};
        sim_world_join(world, world->hosts[parent], world->hosts[i + 1], &wire);
        sim_disk_configure(&world->hosts[i + 1]->disk, &disk);
    }
}

static void run_point(const void *ctx, size_t i, void *out)
{
    const struct case2 *study = ctx;
    const struct case2_point *point = &study->points[i];
    struct case2_result *result = out;
    struct sim_world *world = sim_world_new(&(struct sim_world_config){
        .seed = 1,
        .cache_bytes = point->window == CASE2_NARROW ? NARROW_CACHE : 0,
        .pass_repairs = point->tree == CASE2_NC,
    });
    struct ex_transfer transfer = {.bytes = study->bytes,
                                   .shape = GMC_TREE_ECO,
                                   .limit = GMC_S(36000)};
    struct ex_result measured;
    build(world, point);
    const struct sim_disk *disk = &world->hosts[DOMAINS]->disk;
    ex_transfer_run(world, &transfer, &measured);
    result->complete = measured.complete && measured.violations == 0;
    result->events = measured.events;
    result->seconds = measured.seconds - measured.setup_seconds;
    result->first_hop = (double)measured.first_bytes / (double)study->bytes;
    result->utilisation =
        (double)disk->count.written_bytes * 8 / link_bps[point->link] / result->seconds;
    result->repairs = measured.repairs;
    for (size_t m = 0; m < measured.members; m++)
        if (measured.member[m].parent != parents[point->hops][m])
            result->complete = false; /* another tree than the one that is studied */
    sim_world_free(world);
}

const struct case2_result *case2_find(const struct case2 *study, enum case2_tree tree,
                                      enum case2_link link, enum case2_window window, unsigned hops,
                                      unsigned rate)
{
    for (size_t i = 0; i < study->count; i++) {
        const struct case2_point *point = &study->points[i];
        if (point->tree == tree && point->link == link && point->window == window &&
            (tree == CASE2_FLAT || (point->hops == hops && point->rate == rate)))
            return &study->results[i];
    }
    return NULL;
}

/* The short version: the ends of each range and what the claims look at. */
static bool is_wanted(const struct case2 *study, const struct case2_point *point)
{
    if (point->rate == 0)
        return point->tree == CASE2_LC && point->link == CASE2_SCI && point->window == CASE2_WIDE;
    if (!study->quick)
        return true;
    return (point->rate == 2 || point->rate == 4) && point->hops != 2 &&
           (point->link == CASE2_SCI || (point->hops == 3 && point->rate == 2)) &&
           (point->window == CASE2_WIDE || (point->hops == 3 && point->rate == 2));
}

static void add_points(struct case2 *study, enum case2_window window, enum case2_link link)
{
    study->points[study->count++] = (struct case2_point){CASE2_FLAT, link, window, 0, 0};
    for (unsigned hops = 1; hops < CASE2_HOPS; hops++)
        for (unsigned rate = 0; rate < CASE2_RATES; rate++)
            for (enum case2_tree tree = CASE2_LC; tree <= CASE2_NC; tree++) {
                struct case2_point point = {tree, link, window, hops, rate};
                if (is_wanted(study, &point))
                    study->points[study->count++] = point;
            }
}

static bool run(const struct ex_options *options, struct ex_report *report)
{
    struct case2 study = {.quick = options->quick,
                          .bytes = options->quick ? UINT64_C(8) << 20 : UINT64_C(64) << 20};
    study.points =
        sim_calloc((size_t)CASE2_WINDOWS * CASE2_LINKS * (1 + (CASE2_HOPS - 1) * CASE2_RATES * 2),
                   sizeof(*study.points));
    for (enum case2_window window = CASE2_WIDE; window < CASE2_WINDOWS; window++)
        for (enum case2_link link = CASE2_FE; link < CASE2_LINKS; link++)
            add_points(&study, window, link);
    struct ex_jobs jobs = {.name = "case2",
                           .count = study.count,
                           .parallel = options->parallel,
                           .result_bytes = sizeof(struct case2_result),
                           .run = run_point,
                           .ctx = &study};
    study.results = ex_jobs_run(&jobs);
    bool ok =
        study.results != NULL &&
        ex_report_begin(
            report, options->folder, "case2", "Case study 2: a terabyte to six domains",
            "<p>An object in messages of 64 KB goes to six domains: <b>flat</b>, each over a wire "
            "of "
            "its own; over a tree whose relays repair from their cache (<b>LC</b>); and over the "
            "same "
            "tree with the core's policy <code>pass_repairs</code>, by which every repair comes "
            "from "
            "the source (<b>NC</b>). Wires of 100 Mbit/s and 25 ms; beyond the first hop a message "
            "needs a repair at the given rate. Gateways store over the local link. <b>wide</b>: "
            "the "
            "core's usual memory; <b>narrow</b>: room for four messages on their way, as a gateway "
            "of the time might have had.</p>");
    if (ok) {
        case2_report(&study, report);
        report->runs = study.count;
        for (size_t i = 0; i < study.count; i++)
            report->events += study.results[i].events;
    }
    if (study.results != NULL)
        ex_jobs_free(&jobs, study.results);
    free(study.points);
    return ok;
}

const struct ex_experiment ex_case2 = {
    "case2", "1 TB to six domains: flat, tree, tree without caches (Oral 2003, chapter 5)", NULL,
    run};
