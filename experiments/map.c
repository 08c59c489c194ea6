/* SPDX-License-Identifier: BSD-2-Clause */
/* A network from a file, every node of it a domain: tree shapes on a real map. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/experiment.h"
#include "experiments/jobs.h"
#include "experiments/transfer.h"
#include "sim-wan/topo/read.h"

#define SHARE_MBPS 100.0

struct study {
    struct sim_topo topo;
    uint32_t source; /* node */
    uint64_t bytes;
};

/* Hosts have the order of nodes, with the source in front. */
static uint32_t host_of(const struct study *study, uint32_t node)
{
    if (node == study->source)
        return 0;
    return node < study->source ? node + 1 : node;
}

static uint32_t node_of(const struct study *study, uint32_t host)
{
    if (host == 0)
        return study->source;
    return host <= study->source ? host - 1 : host;
}

/* Each link gives 100 Mbit/s of its rate; delays are the map's. */
static void build(const struct study *study, struct sim_world *world)
{
    for (uint32_t host = 0; host < study->topo.node_count; host++)
        sim_world_add(world, study->topo.nodes[node_of(study, host)].name);
    for (size_t i = 0; i < study->topo.link_count; i++) {
        const struct sim_topo_link *link = &study->topo.links[i];
        struct sim_wire_config wire = ex_wire(SHARE_MBPS, (double)link->a_to_b.delay / 1e6, 0);
        sim_world_join(world, world->hosts[host_of(study, link->a)],
                       world->hosts[host_of(study, link->b)], &wire);
    }
}

static void run_point(const void *ctx, size_t i, void *out)
{
    const struct study *study = ctx;
    struct sim_world *world = sim_world_new(&(struct sim_world_config){.seed = 1});
    struct ex_transfer transfer = {.bytes = study->bytes,
                                   .shape = (enum gmc_tree_shape)i,
                                   .limit = GMC_S(7200)};
    build(study, world);
    ex_transfer_run(world, &transfer, out);
    sim_world_free(world);
}

static const char *shape_name(int shape)
{
    return gmc_tree_ops((enum gmc_tree_shape)shape)->name;
}

/* The node with the most links: where a source of data is likely to be. */
static uint32_t best_connected(const struct sim_topo *topo)
{
    uint32_t best = 0, most = 0;
    for (uint32_t node = 0; node < topo->node_count; node++) {
        uint32_t degree = 0;
        for (size_t i = 0; i < topo->link_count; i++)
            degree += topo->links[i].a == node || topo->links[i].b == node;
        if (degree > most) {
            most = degree;
            best = node;
        }
    }
    return best;
}

#define LABEL 3u /* characters */

/* The beginning of a name, as a string of gnuplot. */
static void put_label(FILE *out, const char *name)
{
    unsigned characters = 0;
    fputc('"', out);
    for (; *name != '\0'; name++) {
        bool begins = ((unsigned char)*name & 0xc0) != 0x80; /* not the rest of one in UTF-8 */
        if (begins && ++characters > LABEL)
            break;
        if (*name == '"' || *name == '\\')
            fputc('\\', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

/* On a map that says where nodes are. */
static bool is_map(const struct sim_topo *topo)
{
    size_t placed = 0;
    for (size_t i = 0; i < topo->node_count; i++)
        placed += topo->nodes[i].is_placed;
    return placed >= 2;
}

static void plot_map(const struct study *study, const struct ex_result *results, int shape,
                     struct ex_report *report)
{
    const struct sim_topo_node *nodes = study->topo.nodes;
    char what[32], caption[200];
    snprintf(what, sizeof(what), "map-%s", shape_name(shape));
    snprintf(
        caption, sizeof(caption),
        "The tree '%s' on the map: grey the wires, blue from each parent to its children, orange "
        "the source.",
        shape_name(shape));
    ex_figure_begin(report, what, caption);
    FILE *out = report->plot;
    fputs("$wires << END\n", out);
    for (size_t i = 0; i < study->topo.link_count; i++) {
        const struct sim_topo_node *a = &nodes[study->topo.links[i].a];
        const struct sim_topo_node *b = &nodes[study->topo.links[i].b];
        if (a->is_placed && b->is_placed)
            fprintf(out, "%g %g %g %g\n", a->longitude, a->latitude, b->longitude - a->longitude,
                    b->latitude - a->latitude);
    }
    fputs("END\n$tree << END\n", out);
    for (uint32_t host = 1; host <= results[shape].members; host++) {
        const struct sim_topo_node *to = &nodes[node_of(study, host)];
        const struct sim_topo_node *from =
            &nodes[node_of(study, results[shape].member[host - 1].parent)];
        if (to->is_placed && from->is_placed)
            fprintf(out, "%g %g %g %g\n", from->longitude, from->latitude,
                    to->longitude - from->longitude, to->latitude - from->latitude);
    }
    fputs("END\n$nodes << END\n", out);
    for (uint32_t node = 0; node < study->topo.node_count; node++)
        if (nodes[node].is_placed) {
            fprintf(out, "%g %g ", nodes[node].longitude, nodes[node].latitude);
            put_label(out, nodes[node].name);
            fprintf(out, " %d\n", node == study->source);
        }
    fprintf(
        out,
        "END\nset terminal pngcairo size 1000,760 font 'DejaVu Sans,10'\nset title \"Tree '%s'\"\n"
        "unset grid\nset border 0\nunset tics\nset key inside left bottom\nset offsets 1,1,1,1\n"
        "plot $wires using 1:2:3:4 with vectors nohead lc rgb '#cccccc' lw 4 title 'wires', \\\n"
        " $tree using 1:2:3:4 with vectors head filled size screen 0.012,18 lt 1 lw 1.6 "
        "title 'tree', \\\n"
        " $nodes using 1:2 with points pt 7 ps 1 lc rgb '#333333' notitle, \\\n"
        " $nodes using 1:($4 == 1 ? $2 : NaN) with points pt 7 ps 2.4 lc rgb '#d55e00' "
        "title 'source', \\\n"
        " $nodes using 1:2:3 with labels noenhanced offset 0,0.7 tc rgb '#333333' notitle\n",
        shape_name(shape));
    ex_figure_end(report);
}

static void plot_time(const struct study *study, const struct ex_result *results,
                      struct ex_report *report)
{
    ex_figure_begin(
        report, "time",
        "Completion everywhere, and what all wires carried together (objects), by shape.");
    FILE *out = report->plot;
    fputs("$time << END\n", out);
    for (int s = 0; s < GMC_TREE_SHAPES; s++)
        fprintf(out, "%s %g %g\n", shape_name(s), results[s].seconds,
                (double)results[s].wire_bytes / (double)study->bytes);
    fputs(
        "END\nset title 'Shapes on the map'\nset ylabel 'seconds'\nset y2label 'objects on wires'\n"
        "set border 11\nset y2tics\nset yrange [0:*]\nset y2range [0:*]\n"
        "set style data histograms\nset style histogram clustered gap 1\n"
        "set style fill solid 0.85 noborder\nset boxwidth 0.9\n"
        "plot $time using 2:xtic(1) lt 1 title 'seconds (left)', \\\n"
        " '' using 3 axes x1y2 lt 5 title 'objects on wires (right)'\n",
        out);
    ex_figure_end(report);
}

static void claim(const struct study *study, const struct ex_result *results,
                  struct ex_report *report)
{
    unsigned complete = 0;
    int best = -1;
    for (int s = 0; s < GMC_TREE_SHAPES; s++) {
        complete += results[s].complete && results[s].violations == 0;
        if (results[s].complete && (best < 0 || results[s].seconds < results[best].seconds))
            best = s;
    }
    ex_claim(report, complete == GMC_TREE_SHAPES, "Every shape delivers to every city.",
             "%u of %d did, to %zu cities from %s", complete, (int)GMC_TREE_SHAPES,
             study->topo.node_count - 1, study->topo.nodes[study->source].name);
    if (best < 0)
        return;
    const struct ex_result *eco = &results[GMC_TREE_ECO], *flat = &results[GMC_TREE_FLAT];
    ex_claim(report,
             eco->complete && eco->wire_bytes < flat->wire_bytes && eco->seconds < flat->seconds,
             "A tree by latency is faster than sending to each city, and spares the network.",
             "eco %.1f s and %.0f objects on wires, flat %.1f s and %.0f", eco->seconds,
             (double)eco->wire_bytes / (double)study->bytes, flat->seconds,
             (double)flat->wire_bytes / (double)study->bytes);
    const struct ex_result *bulk = &results[GMC_TREE_BULK];
    ex_claim(report, bulk->complete && bulk->seconds <= 1.1 * results[best].seconds,
             "bulk, the default for objects, is within 10 % of the fastest shape.",
             "%.1f s; the fastest is %s with %.1f s; one wire alone would take %.1f s",
             bulk->seconds, shape_name(best), results[best].seconds,
             (double)study->bytes * 8 / (SHARE_MBPS * 1e6));
}

static bool report_map(const struct ex_options *options, const struct study *study,
                       const struct ex_result *results, struct ex_report *report)
{
    if (!ex_report_begin(
            report, options->folder, "map", "A real map, every city a domain",
            "<p>A network from a file (the Internet Topology Zoo's, say). Every node has a "
            "gateway, the best connected one is the source. Each link gives 100 Mbit/s; "
            "delays are those of the map.</p>"))
        return false;
    ex_row(report, "shape,complete,seconds,setup_seconds,source_bytes_over_object,"
                   "wire_bytes_over_object,depth,events");
    for (int s = 0; s < GMC_TREE_SHAPES; s++) {
        ex_row(report, "%s,%s,%.3f,%.3f,%.3f,%.3f,%u,%" PRIu64, shape_name(s),
               results[s].complete ? "yes" : "no", results[s].seconds, results[s].setup_seconds,
               (double)results[s].source_bytes / (double)study->bytes,
               (double)results[s].wire_bytes / (double)study->bytes, results[s].depth,
               results[s].events);
        report->events += results[s].events;
    }
    report->runs = GMC_TREE_SHAPES;
    claim(study, results, report);
    if (is_map(&study->topo)) {
        plot_map(study, results, GMC_TREE_ECO, report);
        plot_map(study, results, GMC_TREE_BULK, report);
    } else {
        ex_note(report, "The file does not say where nodes are, so there is no picture of trees.");
    }
    plot_time(study, results, report);
    return true;
}

/* Reads it into topo, to be freed. */
static bool read_map(const struct ex_options *options, struct sim_topo *topo)
{
    char error[SIM_TOPO_ERROR_MAX];
    if (sim_topo_read(options->topology, topo, error) != GMC_OK) {
        fprintf(stderr, "experiments: %s\n", error);
        return false;
    }
    if (topo->node_count >= 2 && topo->node_count <= EX_MEMBERS_MAX + 1)
        return true;
    fprintf(stderr, "experiments: %s has %zu nodes; there must be 2 to %d\n", options->topology,
            topo->node_count, EX_MEMBERS_MAX + 1);
    sim_topo_fini(topo);
    return false;
}

static bool check(const struct ex_options *options)
{
    struct sim_topo topo;
    if (options->topology == NULL)
        return true;
    bool ok = read_map(options, &topo);
    if (ok)
        sim_topo_fini(&topo);
    return ok;
}

static bool run(const struct ex_options *options, struct ex_report *report)
{
    struct study study = {.bytes = options->quick ? 2000000 : 16000000};
    if (options->topology == NULL) {
        printf("  no map was given (--topology FILE): skipped\n");
        if (!ex_report_begin(report, options->folder, "map", "A real map, every city a domain", ""))
            return false;
        ex_note(report, "No map was given, so this was not run: make experiments TOPOLOGY=FILE.");
        return true;
    }
    if (!read_map(options, &study.topo))
        return false;
    study.source = best_connected(&study.topo);
    struct ex_jobs jobs = {.name = "map",
                           .count = GMC_TREE_SHAPES,
                           .parallel = options->parallel,
                           .result_bytes = sizeof(struct ex_result),
                           .run = run_point,
                           .ctx = &study};
    struct ex_result *results = ex_jobs_run(&jobs);
    bool ok = results != NULL && report_map(options, &study, results, report);
    if (results != NULL)
        ex_jobs_free(&jobs, results);
    sim_topo_fini(&study.topo);
    return ok;
}

const struct ex_experiment ex_map = {"map", "every city of a map a domain (needs --topology FILE)",
                                     check, run};
