/* SPDX-License-Identifier: BSD-2-Clause */
/* Mehta 2005: low-diameter regular graphs beside hypercubes, hybrids with fat trees, broadcasts. */
#include <math.h>
#include <stdio.h>

#include "interconnect/command/bars.h"
#include "interconnect/command/studies.h"

#define TOPOLOGIES "topology=hypercube,ldr,improved "

/* ---- graphs ---- */
static const struct {
    unsigned nodes, diameter;
    double mean; /* over all pairs, those of a node with itself too */
} printed[] = {
    {16, 3, 1.77},  {32, 3, 2.11},  {64, 4, 2.45},   {128, 4, 2.65},
    {256, 4, 2.87}, {512, 5, 3.09}, {1024, 5, 3.30}, {2048, 5, 3.48},
};

#define PRINTED (sizeof(printed) / sizeof(printed[0]))

static double distance(const struct ic_points *t, const char *topology, unsigned nodes)
{
    return ic_study_model(t, "distance", "topology=%s nodes=%u", topology, nodes);
}

/* As printed, where a node's distance to itself counts. */
static double with_self(const struct ic_points *t, const char *topology, unsigned nodes)
{
    return distance(t, topology, nodes) * (nodes - 1) / nodes;
}

static bool add_graphs(const struct ic_points *t, struct ex_report *report)
{
    struct ic_bars bars = {.what = "printed",
                           .caption = "Mean distances, that of a node to itself among them",
                           .row = "nodes",
                           .unit = "links",
                           .series = {"printed", "generated", "improved", "hypercube"},
                           .series_count = 4};
    for (size_t i = 0; i < PRINTED; i++) {
        unsigned nodes = printed[i].nodes;
        const double values[] = {printed[i].mean, with_self(&t[0], "ldr", nodes),
                                 with_self(&t[0], "improved", nodes),
                                 with_self(&t[0], "hypercube", nodes)};
        char name[8];
        snprintf(name, sizeof(name), "%u", nodes);
        ic_bars_add(&bars, name, values);
    }
    return ic_bars_end(&bars, report);
}

static void judge_graphs(const struct ic_points *t, struct ex_report *report)
{
    unsigned close = 0, same = 0, shorter = 0;
    double worst = 0, gain = 0;
    for (size_t i = 0; i < PRINTED; i++) {
        unsigned nodes = printed[i].nodes;
        double graph = distance(t, "ldr", nodes), better = distance(t, "improved", nodes);
        double diameter = ic_study_model(t, "diameter", "topology=ldr nodes=%u", nodes);
        double off = fabs(with_self(t, "ldr", nodes) / printed[i].mean - 1);
        close += off < 0.025;
        same += diameter <= printed[i].diameter;
        worst = fmax(worst, off);
        shorter += graph < distance(t, "hypercube", nodes);
        gain = fmax(gain, 1 - better / graph);
    }
    ex_claim(report, close == PRINTED, "graphs have the mean distance of print",
             "at %u of %u sizes, the best of 50 graphs: within %.1f %%", close, (unsigned)PRINTED,
             100 * worst);
    ex_claim(
        report, same == PRINTED, "and the diameter of print",
        "at %u of %u sizes; the others have one link more (of 32 nodes one graph in twenty has it)",
        same, (unsigned)PRINTED);
    ex_claim(report, shorter == PRINTED, "and are shorter than hypercubes of as many links",
             "at %u of %u sizes; at 2048 nodes %.2f links against %.2f", shorter, (unsigned)PRINTED,
             distance(t, "ldr", 2048), distance(t, "hypercube", 2048));
    ex_note(report, "Swaps of links shorten them by up to %.1f %% more.", 100 * gain);
}

/* ---- packets ---- */
/* Whose model knows a full link, where a simulation would still have to run for long. */
static double latency(const struct ic_points *t, const char *topology, const char *more,
                      double load)
{
    if ((t->what & IC_MODEL) != 0 &&
        ic_study_is_saturated(t, IC_MODEL, "topology=%s load=%.10g%s", topology, load, more))
        return INFINITY;
    double seen =
        ic_study_simulated(t, "latency", "topology=%s load=%.10g%s", topology, load, more);
    return isnan(seen) ? INFINITY : seen;
}

/* What a graph's latency is below the hypercube's, as a share: -INFINITY where the graph alone is
 * saturated, INFINITY where the hypercube alone is, NAN where both are. */
static double gain(const struct ic_points *t, const char *topology, const char *more, double load)
{
    double graph = latency(t, topology, more, load), cube = latency(t, "hypercube", more, load);
    if (isinf(graph) && isinf(cube))
        return NAN;
    return isinf(cube) ? INFINITY : 1 - graph / cube;
}

/* A table of one kind of switching; `routing` as " routing=fixed" where it has several. */
struct packets {
    const struct ic_points *t;
    const char *routing, *switching;
};

#define GRAPHS 8 /* less than loads, which the picture is over */

/* The load at which a graph gets worse than the hypercube, between those of the table. */
static double crossing(const struct packets *cube, const struct packets *graphs, int seed)
{
    double before = 0;
    for (int i = 1; i <= 9; i++) {
        char more[64];
        snprintf(more, sizeof(more), " graph-seed=%d", seed);
        double now = 1 - latency(graphs->t, "ldr", more, 0.1 * i) /
                             latency(cube->t, "hypercube", cube->routing, 0.1 * i);
        if (now <= 0)
            return 0.1 * (i - (i > 1 && isfinite(now) ? now / (now - before) : 0));
        before = now;
    }
    return 1;
}

/* Fixed ways load links unevenly, how much so depends on the graph. */
static void judge_fixed(const struct packets *cube, const struct packets *graphs,
                        struct ex_report *report)
{
    double least = INFINITY, most = 0;
    int changes = 0, full = 0;
    for (int seed = 1; seed <= GRAPHS; seed++) {
        double load = crossing(cube, graphs, seed);
        least = fmin(least, load);
        most = fmax(most, load);
        changes += load > 0.1 && load < 0.9;
        full += ic_study_is_saturated(graphs->t, IC_MODEL, "topology=ldr graph-seed=%d load=%.10g",
                                      seed, 0.8);
    }
    ex_claim(report, changes == GRAPHS,
             "64 nodes, fixed routing: slightly better at low load, worse at high load",
             "%s: with %d of %d graphs; %d have a full link at 0.8", cube->switching, changes,
             GRAPHS, full);
    ex_claim(report, least > 0.55 && most < 0.65, "and the change is at load 0.6",
             "%s: at %.2f to %.2f, by graph", cube->switching, least, most);
}

static void judge_oblivious(const struct packets *p, const struct packets *fixed,
                            struct ex_report *report)
{
    double least = INFINITY, most = -INFINITY;
    int better = 0, no_better = 0;
    for (int i = 1; i <= 9; i++) {
        double load = 0.1 * i, now = gain(p->t, "ldr", p->routing, load);
        better += now > 0;
        least = fmin(least, now);
        most = fmax(most, now);
        no_better += latency(p->t, "hypercube", p->routing, load) >
                     0.99 * latency(fixed->t, "hypercube", fixed->routing, load);
    }
    ex_claim(report, better == 9, "64 nodes, oblivious routing: better at all loads",
             "%s: at %d of 9 loads, by %.1f to %.1f %%", p->switching, better, 100 * least,
             100 * most);
    ex_claim(report, no_better == 9, "and in hypercubes it is no better than fixed routing",
             "%s: at %d of 9 loads", p->switching, no_better);
}

static void judge_adaptive(const struct packets *p, struct ex_report *report)
{
    double low = gain(p->t, "ldr", p->routing, 0.2);
    double high[] = {gain(p->t, "ldr", p->routing, 0.7), gain(p->t, "ldr", p->routing, 0.8),
                     gain(p->t, "ldr", p->routing, 0.9)};
    ex_claim(report, fabs(low) < 0.05, "64 nodes, adaptive routing: close at low load",
             "%s: %.1f %% lower at 0.2", p->switching, 100 * low);
    ex_claim(report, high[0] > 0 && high[1] > 0 && high[2] > 0, "and a small gain at high load",
             "%s: %+.1f %% at 0.7, %+.1f %% at 0.8, %+.1f %% at 0.9", p->switching, 100 * high[0],
             100 * high[1], 100 * high[2]);
}

static void judge_small(const struct ic_points *t, struct ex_report *report)
{
    const struct packets cut[] = {{&t[1], "", "cut-through"},
                                  {&t[2], "", "cut-through"},
                                  {&t[3], "", "cut-through"}};
    const struct packets store[] = {{&t[4], " routing=fixed", "store-and-forward"},
                                    {&t[4], " routing=oblivious", "store-and-forward"},
                                    {&t[4], " routing=adaptive", "store-and-forward"}};
    const struct packets cut_graphs = {&t[5], "", "cut-through"};
    const struct packets store_graphs = {&t[6], "", "store-and-forward"};
    judge_fixed(&cut[0], &cut_graphs, report);
    judge_fixed(&store[0], &store_graphs, report);
    judge_oblivious(&cut[1], &cut[0], report);
    judge_oblivious(&store[1], &store[0], report);
    judge_adaptive(&cut[2], report);
    judge_adaptive(&store[2], report);
}

/* Printed is 25 to 30, and whole numbers. */
static bool is_as_printed(double gain)
{
    return gain > 0.245 && gain < 0.305;
}

static void judge_large(const struct ic_points *t, const char *switching, struct ex_report *report)
{
    double few = gain(t, "ldr", switching, 0.1), half = gain(t, "ldr", switching, 0.5);
    double many = gain(t, "ldr", switching, 0.8);
    ex_claim(report, is_as_printed(few) && is_as_printed(half) && is_as_printed(many),
             "2048 nodes, adaptive routing: latency 25 to 30 % lower",
             "%s: %.0f %% lower at load 0.1, %.0f %% at 0.5, %.0f %% at 0.8; improved graphs %.0f, "
             "%.0f, %.0f %%",
             switching + sizeof(" switching=") - 1, 100 * few, 100 * half, 100 * many,
             100 * gain(t, "improved", switching, 0.1), 100 * gain(t, "improved", switching, 0.5),
             100 * gain(t, "improved", switching, 0.8));
}

static void judge_packets(const struct ic_points *t, struct ex_report *report)
{
    judge_graphs(&t[0], report);
    judge_small(t, report);
    judge_large(&t[7], " switching=cut-through", report);
    judge_large(&t[7], " switching=store-and-forward", report);
}

static const struct ic_study_table packet_tables[] = {
    {"graphs", "ldr", IC_MODEL,
     TOPOLOGIES "nodes=16,32,64,128,256,512,1024,2048 samples=50 load=0.1", "distance diameter",
     "Graphs of as many links as the hypercube", 0},
    {"fixed", "ldr", IC_BOTH, TOPOLOGIES "nodes=64 samples=50 routing=fixed load=0.1..0.9/0.1",
     NULL, "64 nodes, fixed routing, cut-through", 0},
    {"oblivious", "ldr", IC_BOTH,
     TOPOLOGIES "nodes=64 samples=50 routing=oblivious load=0.1..0.9/0.1", NULL,
     "64 nodes, oblivious routing, cut-through", 0},
    {"adaptive", "ldr", IC_BOTH,
     TOPOLOGIES "nodes=64 samples=50 routing=adaptive load=0.1..0.9/0.1", NULL,
     "64 nodes, adaptive routing, cut-through", 0},
    {"store", "ldr", IC_BOTH,
     TOPOLOGIES "nodes=64 samples=50 switching=store-and-forward routing=fixed,oblivious,adaptive "
                "load=0.1..0.9/0.1",
     NULL, "64 nodes, store-and-forward", 0},
    {"fixed-graphs", "ldr", IC_BOTH,
     "topology=ldr nodes=64 samples=50 routing=fixed graph-seed=1..8 load=0.1..0.9/0.1", NULL,
     "64 nodes, fixed routing, cut-through: eight graphs", 0},
    {"store-graphs", "ldr", IC_BOTH,
     "topology=ldr nodes=64 samples=50 switching=store-and-forward routing=fixed "
     "graph-seed=1..8 load=0.1..0.9/0.1",
     NULL, "64 nodes, fixed routing, store-and-forward: eight graphs", 0},
    {"2048", "ldr", IC_SIMULATOR,
     TOPOLOGIES "nodes=2048 routing=adaptive switching=cut-through,store-and-forward "
                "load=0.1,0.3,0.5,0.7,0.8",
     NULL, "2048 nodes, adaptive routing, simulated", 60000},
    {"buffers", "ldr", IC_SIMULATOR,
     "topology=hypercube,ldr nodes=64 samples=50 routing=adaptive buffers=output,input "
     "load=0.1..0.7/0.1",
     NULL, "64 nodes: where packets wait in switches, simulated", 60000},
    {"patterns", "ldr", IC_SIMULATOR,
     "topology=hypercube,ldr nodes=64 samples=50 routing=adaptive traffic=all shift=21 "
     "load=0.1..0.5/0.1",
     NULL, "64 nodes: who sends to whom, simulated", 60000},
};
const struct ic_study ic_study_ldr = {
    "ldr",
    "Low-diameter regular graphs and hypercubes (Mehta 2005)",
    "<p>Packets of 256 bytes at 1.4 Gb/s; graphs as printed, and improved by swaps of links.</p>",
    IC_STUDY_TABLES(packet_tables),
    add_graphs,
    judge_packets,
};

/* ---- hybrids and broadcasts ---- */
static double hybrid_gain(const struct ic_points *t, const char *topology, double load)
{
    return 100 * (1 - latency(t, topology, "", load) / latency(t, "hybrid-hypercube", "", load));
}

static void judge_parts(const struct ic_points *t, unsigned parts, double print,
                        struct ex_report *report)
{
    double low = hybrid_gain(t, "hybrid-ldr", 0.1), high = hybrid_gain(t, "hybrid-ldr", 0.8);
    char claim[160];
    snprintf(claim, sizeof(claim),
             "hybrids of 4096 nodes in parts of %u: low-diameter graphs are slightly worse at low "
             "load, about %.0f %% better at high load",
             parts, print);
    ex_claim(report, low < 0 && fabs(high - print) < 2.5, claim,
             "better by %.1f %% at load 0.1, %.1f %% at 0.5, %.1f %% at 0.8; improved graphs %.1f, "
             "%.1f, %.1f %%",
             low, hybrid_gain(t, "hybrid-ldr", 0.5), high, hybrid_gain(t, "hybrid-improved", 0.1),
             hybrid_gain(t, "hybrid-improved", 0.5), hybrid_gain(t, "hybrid-improved", 0.8));
}

static double ahead(const struct ic_points *t, const char *topology, double load)
{
    return ic_study_simulated(t, "broadcast_latency", "topology=hypercube load=%.10g", load) -
           ic_study_simulated(t, "broadcast_latency", "topology=%s load=%.10g", topology, load);
}

static void judge_broadcasts(const struct ic_points *t, struct ex_report *report)
{
    static const double loads[] = {0.1, 0.3, 0.5, 0.7};
    double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
    int larger = 0;
    for (int i = 0; i < 4; i++)
        larger += ahead(&t[1], "ldr", loads[i]) > ahead(&t[0], "ldr", loads[i]);
    for (int size = 0; size < 2; size++)
        for (int i = 0; i < 4; i++) {
            double now = ahead(&t[size], "ldr", loads[i]) / 1000;
            least[size] = fmin(least[size], now);
            most[size] = fmax(most[size], now);
        }
    ex_claim(report, least[0] > 0 && least[1] > 0,
             "a broadcast of 10 packets is over earlier in low-diameter graphs at all loads",
             "64 nodes: by %.1f to %.1f us, 2048 nodes: %.1f to %.1f us", least[0], most[0],
             least[1], most[1]);
    ex_claim(report, most[0] < 1.5 * least[0] && most[1] < 1.5 * least[1],
             "the difference depends little on the load", "largest over smallest: %.1f and %.1f",
             most[0] / least[0], most[1] / least[1]);
    ex_claim(report, larger == 4, "and is larger for 2048 nodes than for 64",
             "at %d of 4 loads from 0.1 to 0.7; at 0.1 %.1f and %.1f us, improved graphs %.1f and "
             "%.1f us",
             larger, ahead(&t[1], "ldr", 0.1) / 1000, ahead(&t[0], "ldr", 0.1) / 1000,
             ahead(&t[1], "improved", 0.1) / 1000, ahead(&t[0], "improved", 0.1) / 1000);
}

static void judge_hybrids(const struct ic_points *t, struct ex_report *report)
{
    judge_parts(&t[0], 256, 4, report);
    judge_parts(&t[1], 1024, 8, report);
    judge_broadcasts(&t[2], report);
}

static const struct ic_study_table hybrid_tables[] = {
    {"256", "ldr", IC_SIMULATOR,
     "topology=hybrid-hypercube,hybrid-ldr,hybrid-improved nodes=4096 component=256 "
     "routing=adaptive load=0.1,0.3,0.5,0.7,0.8",
     NULL, "4096 nodes, 16 parts of 256, simulated", 60000},
    {"1024", "ldr", IC_SIMULATOR,
     "topology=hybrid-hypercube,hybrid-ldr,hybrid-improved nodes=4096 component=1024 "
     "routing=adaptive load=0.1,0.3,0.5,0.7,0.8",
     NULL, "4096 nodes, 4 parts of 1024, simulated", 60000},
    {"broadcast-64", "ldr", IC_SIMULATOR,
     TOPOLOGIES "nodes=64 samples=50 routing=adaptive broadcast=10 load=0.1,0.3,0.5,0.7",
     "broadcast_latency", "Broadcasts of 10 packets to 64 nodes beside other traffic, simulated",
     60000},
    {"broadcast-2048", "ldr", IC_SIMULATOR,
     TOPOLOGIES "nodes=2048 routing=adaptive broadcast=10 load=0.1,0.3,0.5,0.7",
     "broadcast_latency", "Broadcasts to 2048 nodes, simulated", 60000},
};
const struct ic_study ic_study_ldr_hybrids = {
    "ldr-hybrids",
    "Hybrids with fat trees, and broadcasts (Mehta 2005)",
    "<p>Parts are hypercubes or graphs; 8-port fat trees join nodes of equal place in them.</p>",
    IC_STUDY_TABLES(hybrid_tables),
    NULL,
    judge_hybrids,
};
