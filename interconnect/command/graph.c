/* SPDX-License-Identifier: BSD-2-Clause */
/* graph: low-diameter regular graphs made and improved, any graph measured and exported. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/command/command.h"
#include "interconnect/command/topology.h"
#include "interconnect/graph/distances.h"
#include "interconnect/graph/edges.h"
#include "interconnect/ldr/generate.h"
#include "interconnect/ldr/improve.h"
#include "sim-wan/run/bar.h"

#define NAME "graph"
#define OPTIONS_MAX 16

struct graph_options {
    const char *file; /* of edges; NULL: one is made */
    uint64_t nodes, degree, samples, seed, steps;
    bool is_dot, is_quiet;
    bool given[OPTIONS_MAX]; /* by place in the table */
};

static void print_help(void)
{
    puts("Usage: gmcast-interconnect graph generate --nodes N --degree D [OPTIONS]\n"
         "       gmcast-interconnect graph improve --nodes N --degree D | FILE [OPTIONS]\n"
         "       gmcast-interconnect graph measure FILE\n"
         "       gmcast-interconnect graph export FILE [--dot]\n"
         "Makes regular graphs of small diameter as published (generate), or by swaps of links\n"
         "(improve), and measures or rewrites any graph. FILE has a link 'A B' in each line.\n"
         "\n"
         "  --samples N  generate: the best of so many; default: 20480 / nodes, at least 100\n"
         "  --steps N    improve: swaps that are tried; default: some 20 to 40 s of a core\n"
         "  --seed N     of random numbers (1)\n"
         "  --dot        for graphviz instead of a list of links\n"
         "  --quiet      no progress bar");
}

/* ---- graphs ---- */
static bool on_progress(void *ctx, double share, double mean)
{
    struct sim_bar *bar = ctx;
    char what[64];
    snprintf(what, sizeof(what), "mean distance %.4f", mean);
    if (sim_bar_is_due(bar))
        sim_bar_draw(bar, share, what);
    return true;
}

static gmc_status improve(const struct graph_options *options, const struct ic_graph *from,
                          struct ic_graph *graph, char *error)
{
    struct sim_bar bar;
    sim_bar_init(&bar, !options->is_quiet);
    const struct ic_improve_config config = {.steps = options->steps,
                                             .seed = options->seed,
                                             .on_progress = on_progress,
                                             .ctx = &bar};
    gmc_status status =
        from != NULL ? ic_improve_graph(from, &config, graph, error)
                     : ic_improve_random(options->nodes, options->degree, &config, graph, error);
    sim_bar_clear(&bar);
    return status;
}

/* ---- what comes out ---- */
static int put_measures(const struct ic_graph *graph)
{
    struct ic_distances distances;
    struct ic_distance_bounds bounds;
    char error[IC_ERROR_MAX] = "";
    uint32_t least = 0, most = 0;
    if (ic_graph_distances(graph, &distances) != GMC_OK)
        return ic_bad(NAME, "%s", gmc_status_text(GMC_ERR_NOMEM));
    ic_graph_degrees(graph, &least, &most);
    printf("nodes,links,degree_least,degree_most,connected,diameter [hops],mean_distance [hops],"
           "mean_distance_with_self [hops],mean_distance_bound [hops]\n");
    printf("%u,%zu,%u,%u,%s,", graph->nodes, graph->links, least, most,
           distances.is_connected ? "yes" : "no");
    if (distances.is_connected)
        printf("%u,%.10g,%.10g,", distances.diameter, distances.mean, distances.mean_self);
    else
        printf("none,none,none,");
    if (ic_distance_bounds(graph->nodes, most, &bounds, error) == GMC_OK)
        printf("%.10g\n", bounds.mean);
    else
        puts("none");
    return ic_finish_output(NAME);
}

/* Words of a dot file: what has letters, dots and so on is quoted. */
static void add_dot_name(const char *const *names, uint32_t node, struct ic_text *text)
{
    if (names != NULL)
        ic_text_add(text, "\"%s\"", names[node]);
    else
        ic_text_add(text, "%u", node);
}

static void format_dot(const struct ic_graph *graph, const char *const *names, struct ic_text *text)
{
    ic_text_add(text, "graph {\n");
    for (uint32_t node = 0; node < graph->nodes; node++) {
        ic_text_add(text, "  ");
        add_dot_name(names, node, text);
        ic_text_add(text, ";\n");
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            if (graph->neighbours[i] < node)
                continue;
            ic_text_add(text, "  ");
            add_dot_name(names, node, text);
            ic_text_add(text, " -- ");
            add_dot_name(names, graph->neighbours[i], text);
            ic_text_add(text, ";\n");
        }
    }
    ic_text_add(text, "}\n");
}

/* names is NULL for a graph whose nodes have numbers only. */
static int put_graph(const struct ic_graph *graph, const char *const *names, bool is_dot)
{
    struct ic_text text = {0};
    if (is_dot)
        format_dot(graph, names, &text);
    else
        ic_edges_format(graph, names, &text);
    bool is_short = text.is_short;
    if (!is_short && text.length > 0)
        fwrite(text.bytes, 1, text.length, stdout);
    ic_text_fini(&text);
    return is_short ? ic_bad(NAME, "%s", gmc_status_text(GMC_ERR_NOMEM)) : ic_finish_output(NAME);
}

static int put_made(gmc_status status, struct ic_graph *graph, const char *const *names,
                    const struct graph_options *options, const char *error)
{
    if (status != GMC_OK)
        return ic_bad(NAME, "%s", error[0] != '\0' ? error : gmc_status_text(status));
    int exit_status = put_graph(graph, names, options->is_dot);
    ic_graph_fini(graph);
    return exit_status;
}

/* ---- the verbs ---- */
/* Beside --quiet and --help. A graph of a file is improved as it is. */
static const struct {
    const char *verb;
    bool has_file;
    const char *letters;
} taken[] = {
    {"generate", false, "ndSsD"}, {"improve", false, "ndtsD"}, {"improve", true, "tsD"},
    {"measure", true, ""},        {"export", true, "D"},
};

static int generate(const struct graph_options *options)
{
    struct ic_graph graph = {0};
    char error[IC_ERROR_MAX] = "";
    if (options->file != NULL)
        return ic_bad(NAME, "generate takes --nodes and --degree, no file");
    uint64_t samples =
        options->samples > 0 ? options->samples : ic_ldr_usual_samples(options->nodes);
    gmc_status status =
        ic_ldr_select(options->nodes, options->degree, options->seed, samples, NULL, &graph, error);
    return put_made(status, &graph, NULL, options, error);
}

static int improve_verb(const struct graph_options *options)
{
    struct ic_edges edges = {0};
    struct ic_graph graph = {0};
    char error[IC_ERROR_MAX] = "";
    if (options->file == NULL)
        return put_made(improve(options, NULL, &graph, error), &graph, NULL, options, error);
    if (ic_read_edges(NAME, options->file, &edges) != IC_DONE)
        return IC_BAD;
    gmc_status status = improve(options, &edges.graph, &graph, error);
    int exit_status = put_made(status, &graph, edges.names, options, error);
    ic_edges_fini(&edges);
    return exit_status;
}

static int rewrite(const struct graph_options *options, bool is_measured)
{
    struct ic_edges edges = {0};
    if (options->file == NULL)
        return ic_bad(NAME, "a file of links is needed; see --help");
    if (ic_read_edges(NAME, options->file, &edges) != IC_DONE)
        return IC_BAD;
    int status = is_measured ? put_measures(&edges.graph)
                             : put_graph(&edges.graph, edges.names, options->is_dot);
    ic_edges_fini(&edges);
    return status;
}

/* ---- the command line ---- */
static const struct option table[] = {
    {"nodes", required_argument, NULL, 'n'},
    {"degree", required_argument, NULL, 'd'},
    {"samples", required_argument, NULL, 'S'},
    {"steps", required_argument, NULL, 't'},
    {"seed", required_argument, NULL, 's'},
    {"dot", no_argument, NULL, 'D'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

_Static_assert(sizeof(table) / sizeof(table[0]) <= OPTIONS_MAX, "each has its place in given");

static int take(struct graph_options *options, int letter)
{
    switch (letter) {
    case 'n':
        return ic_read_count(NAME, "nodes", optarg, 0, &options->nodes);
    case 'd':
        return ic_read_count(NAME, "degree", optarg, 0, &options->degree);
    case 'S':
        return ic_read_count(NAME, "samples", optarg, 1, &options->samples);
    case 't':
        return ic_read_count(NAME, "steps", optarg, 1, &options->steps);
    case 's':
        return ic_read_count(NAME, "seed", optarg, 0, &options->seed);
    case 'D':
        options->is_dot = true;
        return IC_DONE;
    case 'q':
        options->is_quiet = true;
        return IC_DONE;
    default:
        fputs("Try: gmcast-interconnect graph --help\n", stderr);
        return IC_BAD;
    }
}

/* What a verb would not look at is refused. */
static int check_taken(const char *verb, const struct graph_options *options)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (strcmp(taken[i].verb, verb) != 0 || taken[i].has_file != (options->file != NULL))
            continue;
        for (size_t j = 0; table[j].name != NULL; j++)
            if (options->given[j] && table[j].val != 'q' &&
                strchr(taken[i].letters, table[j].val) == NULL)
                return ic_bad(NAME, "--%s is not of %s%s; see --help", table[j].name, verb,
                              options->file != NULL ? " FILE" : "");
    }
    return IC_DONE;
}

int ic_command_graph(int argc, char **argv)
{
    struct graph_options options = {.seed = 1};
    const char *verb = argc > 1 ? argv[1] : "";
    int letter, place = 0, status = IC_DONE;
    if (strcmp(verb, "-h") == 0 || strcmp(verb, "--help") == 0) {
        print_help();
        return IC_DONE;
    }
    optind = 1;
    while (status == IC_DONE && argc > 1 &&
           (letter = getopt_long(argc - 1, argv + 1, "h", table, &place)) != -1) {
        if (letter == 'h') {
            print_help();
            return IC_DONE;
        }
        options.given[place] = true;
        status = take(&options, letter);
    }
    if (status != IC_DONE)
        return status;
    if (argc > 1 && optind < argc - 1)
        options.file = argv[1 + optind++];
    if (argc > 1 && optind < argc - 1)
        return ic_bad(NAME, "'%s' is one word too many", argv[1 + optind]);
    if (check_taken(verb, &options) != IC_DONE)
        return IC_BAD;
    if (strcmp(verb, "generate") == 0)
        return generate(&options);
    if (strcmp(verb, "improve") == 0)
        return improve_verb(&options);
    if (strcmp(verb, "measure") == 0)
        return rewrite(&options, true);
    if (strcmp(verb, "export") == 0)
        return rewrite(&options, false);
    return ic_bad(NAME, "generate, improve, measure or export is needed; see --help");
}
