/* SPDX-License-Identifier: BSD-2-Clause */
/* sim-wan topology: reads a topology, and shows or writes what came out. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/command.h"
#include "sim-wan/out_file.h"
#include "sim-wan/plot/map.h"
#include "sim-wan/topo/measure.h"
#include "sim-wan/topo/read.h"
#include "sim-wan/topo/units.h"
#include "sim-wan/topo/write.h"

struct arguments {
    const char *path;
    const char *json, *output, *plot; /* NULL: not asked for */
    bool list;
    struct sim_topo_options options;
};

static void print_help(void)
{
    fputs(
        "Usage: sim-wan topology [OPTION]... FILE|FAMILY\n"
        "Read a topology and say what is in it. FILE is our own format, GML, GraphML or a list of\n"
        "edges; FAMILY is star:N, line:N, ring:N, tree:N, mesh:WxH, full:N, random:N, ba:N or\n"
        "waxman:N, with ,KEY=VALUE as in tree:15,fanout=3,delay=2ms..9ms,seed=7.\n"
        "\n"
        "Options:\n"
        "  -l, --links              list nodes and links\n"
        "      --json FILE          all of it as JSON; - for standard output\n"
        "  -o, --output FILE        write our own format, or Graphviz where FILE ends in .dot or\n"
        "                           .gv; - for standard output\n"
        "      --plot PREFIX        draw PREFIX-map.svg and .png (gnuplot)\n"
        "      --rate RATE          of links without one (1Gbit)\n"
        "      --delay TIME         of links without delay and places (5ms)\n"
        "      --queue TIME         of every wire, at its rate (50ms)\n"
        "      --largest-component  leave out what no path joins to the largest part\n"
        "  -h, --help\n",
        stdout);
}

enum { OPT_JSON = 256, OPT_PLOT, OPT_RATE, OPT_DELAY, OPT_QUEUE, OPT_LARGEST };

static bool take_value(struct arguments *arguments, int option, const char *value)
{
    static const char *const names[] = {"rate", "delay", "queue"};
    bool is_good = false;
    if (option == OPT_RATE)
        is_good = sim_parse_rate(value, &arguments->options.rate_bps);
    else if (option == OPT_DELAY)
        is_good = sim_parse_delay(value, &arguments->options.delay);
    else if (option == OPT_QUEUE)
        is_good = sim_parse_delay(value, &arguments->options.queue) &&
                  arguments->options.queue <= SIM_TOPO_QUEUE_MAX;
    if (!is_good)
        fprintf(stderr, "sim-wan topology: --%s %s: expected %s\n", names[option - OPT_RATE], value,
                option == OPT_RATE    ? "a rate, as in 100Mbit"
                : option == OPT_DELAY ? "a time of up to an hour, as in 12.5ms"
                                      : "a time of up to 10 s, as in 50ms");
    return is_good;
}

/* 0: go on; 1: bad, words are out; 2: help was printed. */
static int read_arguments(struct arguments *arguments, int argc, char **argv)
{
    static const struct option options[] = {
        {"links", no_argument, NULL, 'l'},
        {"json", required_argument, NULL, OPT_JSON},
        {"output", required_argument, NULL, 'o'},
        {"plot", required_argument, NULL, OPT_PLOT},
        {"rate", required_argument, NULL, OPT_RATE},
        {"delay", required_argument, NULL, OPT_DELAY},
        {"queue", required_argument, NULL, OPT_QUEUE},
        {"largest-component", no_argument, NULL, OPT_LARGEST},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    *arguments = (struct arguments){0};
    while ((option = getopt_long(argc, argv, "hlo:", options, NULL)) != -1) {
        switch (option) {
        case 'l':
            arguments->list = true;
            break;
        case OPT_JSON:
            arguments->json = optarg;
            break;
        case 'o':
            arguments->output = optarg;
            break;
        case OPT_PLOT:
            arguments->plot = optarg;
            break;
        case OPT_LARGEST:
            arguments->options.largest_component = true;
            break;
        case 'h':
            print_help();
            return 2;
        case '?':
            return 1;
        default:
            if (!take_value(arguments, option, optarg))
                return 1;
        }
    }
    if (argc - optind != 1) {
        fputs("sim-wan topology: one file or family is needed; see sim-wan topology --help\n",
              stderr);
        return 1;
    }
    arguments->path = argv[optind];
    return 0;
}

/* ---- for people ---- */
static const char *rate_text(uint64_t rate_bps, char text[SIM_UNITS_TEXT_MAX])
{
    return rate_bps > 0 ? sim_format_rate(rate_bps, text) : "no limit";
}

static void print_summary(const struct sim_topo *topo, const struct sim_topo_measures *m)
{
    char least[SIM_UNITS_TEXT_MAX], median[SIM_UNITS_TEXT_MAX], greatest[SIM_UNITS_TEXT_MAX];
    printf("nodes      %zu, %" PRIu32 " with a gateway\n", topo->node_count, m->gateways);
    printf("links      %zu; %" PRIu64 " to %" PRIu64 " at a node, %" PRIu64 " in the middle\n",
           topo->link_count, m->degree.least, m->degree.greatest, m->degree.median);
    if (topo->link_count > 0) {
        printf("rates      %s to %s, %s in the middle\n", rate_text(m->rate_bps.least, least),
               rate_text(m->rate_bps.greatest, greatest), rate_text(m->rate_bps.median, median));
        printf("delays     %s to %s, %s in the middle\n", sim_format_delay(m->delay.least, least),
               sim_format_delay(m->delay.greatest, greatest),
               sim_format_delay(m->delay.median, median));
    }
    printf("diameter   %s%" PRIu32 " hops, %s\n", m->is_exact ? "" : "at least ", m->diameter_hops,
           sim_format_delay(m->diameter_delay, least));
}

static void print_notes(const struct sim_topo_notes *notes)
{
    char buffer[SIM_TOPO_NOTE_MAX];
    size_t cursor = 0;
    for (const char *note; (note = sim_topo_next_note(notes, &cursor, buffer)) != NULL;)
        printf("note       %s\n", note);
}

static void print_lists(const struct sim_topo *topo)
{
    for (size_t i = 0; i < topo->node_count; i++) {
        const struct sim_topo_node *node = &topo->nodes[i];
        printf("%s %s", node->has_gateway ? "gateway" : "router ", node->name);
        if (node->is_placed)
            printf(" at %.5f %.5f", node->longitude, node->latitude);
        putchar('\n');
    }
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        char rate[SIM_UNITS_TEXT_MAX], delay[SIM_UNITS_TEXT_MAX];
        const char *a = topo->nodes[link->a].name, *b = topo->nodes[link->b].name;
        printf("link    %s %s %s %s\n", a, b, rate_text(link->a_to_b.rate_bps, rate),
               sim_format_delay(link->a_to_b.delay, delay));
        if (link->a_to_b.rate_bps != link->b_to_a.rate_bps ||
            link->a_to_b.delay != link->b_to_a.delay)
            printf("back    %s %s %s %s\n", b, a, rate_text(link->b_to_a.rate_bps, rate),
                   sim_format_delay(link->b_to_a.delay, delay));
    }
}

/* ---- for programs ---- */
static json_t *range_json(const struct sim_topo_range *range)
{
    return json_pack("{sI sI sI}", "least", (json_int_t)range->least, "median",
                     (json_int_t)range->median, "greatest", (json_int_t)range->greatest);
}

static json_t *nodes_json(const struct sim_topo *topo)
{
    json_t *list = json_array();
    for (size_t i = 0; i < topo->node_count; i++) {
        const struct sim_topo_node *node = &topo->nodes[i];
        json_t *object =
            json_pack("{ss sb}", "name", node->name, "gateway", (int)node->has_gateway);
        if (node->is_placed) {
            json_object_set_new(object, "longitude", json_real(node->longitude));
            json_object_set_new(object, "latitude", json_real(node->latitude));
        }
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *wire_json(const struct sim_wire_config *wire)
{
    return json_pack("{sI sI sI}", "rate_bps", (json_int_t)wire->rate_bps, "delay_ns",
                     (json_int_t)wire->delay, "queue_bytes", (json_int_t)wire->queue_bytes);
}

static json_t *links_json(const struct sim_topo *topo)
{
    json_t *list = json_array();
    for (size_t i = 0; i < topo->link_count; i++) {
        const struct sim_topo_link *link = &topo->links[i];
        json_array_append_new(list, json_pack("{ss ss so so}", "a", topo->nodes[link->a].name, "b",
                                              topo->nodes[link->b].name, "a_to_b",
                                              wire_json(&link->a_to_b), "b_to_a",
                                              wire_json(&link->b_to_a)));
    }
    return list;
}

static json_t *notes_json(const struct sim_topo_notes *notes)
{
    json_t *list = json_array();
    char buffer[SIM_TOPO_NOTE_MAX];
    size_t cursor = 0;
    for (const char *note; (note = sim_topo_next_note(notes, &cursor, buffer)) != NULL;)
        json_array_append_new(list, json_string(note));
    return list;
}

static json_t *topology_json(const struct sim_topo *topo, const struct sim_topo_measures *m,
                             const struct sim_topo_notes *notes)
{
    return json_pack("{sI sI sI so so so sI sI sb so so so}", "node_count",
                     (json_int_t)topo->node_count, "gateway_count", (json_int_t)m->gateways,
                     "link_count", (json_int_t)topo->link_count, "degree", range_json(&m->degree),
                     "rate_bps", range_json(&m->rate_bps), "delay_ns", range_json(&m->delay),
                     "diameter_hops", (json_int_t)m->diameter_hops, "diameter_delay_ns",
                     (json_int_t)m->diameter_delay, "diameter_is_exact", (int)m->is_exact, "notes",
                     notes_json(notes), "nodes", nodes_json(topo), "links", links_json(topo));
}

/* ---- files ---- */
static bool say_file(const char *path)
{
    fprintf(stderr, "sim-wan topology: %s: %s\n", path, strerror(errno));
    return false;
}

static bool write_json(const char *path, json_t *json)
{
    struct sim_out_file out;
    bool ok = sim_out_open(&out, path);
    if (ok) {
        json_dumpf(json, out.file, JSON_INDENT(2));
        fputc('\n', out.file);
        ok = sim_out_close(&out, true);
    }
    ok = ok || say_file(path);
    json_decref(json);
    return ok;
}

static bool write_topology(const char *path, const struct sim_topo *topo)
{
    const char *dot = strrchr(path, '.');
    struct sim_out_file out;
    if (!sim_out_open(&out, path))
        return say_file(path);
    if (dot != NULL && (strcmp(dot, ".dot") == 0 || strcmp(dot, ".gv") == 0))
        sim_topo_write_dot(topo, out.file);
    else
        sim_topo_write_conf(topo, out.file);
    return sim_out_close(&out, true) || say_file(path);
}

static bool draw(const char *prefix, const char *path, const struct sim_topo *topo)
{
    char error[SIM_PLOT_ERROR_MAX];
    const char *slash = strrchr(path, '/');
    if (sim_map_draw(prefix, slash != NULL ? slash + 1 : path, topo, error) == GMC_OK)
        return true;
    fprintf(stderr, "sim-wan topology: %s\n", error);
    return false;
}

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static bool show(const struct arguments *arguments, const struct sim_topo *topo,
                 const struct sim_topo_notes *notes)
{
    struct sim_topo_measures measures;
    bool ok = true;
    sim_topo_measure(topo, &measures);
    if (!is_stdout(arguments->json) && !is_stdout(arguments->output)) {
        print_summary(topo, &measures);
        print_notes(notes);
        if (arguments->list)
            print_lists(topo);
    }
    if (arguments->json != NULL)
        ok = write_json(arguments->json, topology_json(topo, &measures, notes)) && ok;
    if (arguments->output != NULL)
        ok = write_topology(arguments->output, topo) && ok;
    if (arguments->plot != NULL)
        ok = draw(arguments->plot, arguments->path, topo) && ok;
    return ok;
}

int sim_command_topology(int argc, char **argv)
{
    struct arguments arguments;
    struct sim_topo topo;
    struct sim_topo_notes notes;
    char error[SIM_TOPO_ERROR_MAX];
    int result = read_arguments(&arguments, argc, argv);
    if (result != 0)
        return result == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
    if (sim_topo_read_with(arguments.path, &arguments.options, &topo, &notes, error) != GMC_OK) {
        fprintf(stderr, "sim-wan topology: %s\n", error);
        return EXIT_FAILURE;
    }
    bool ok = show(&arguments, &topo, &notes);
    sim_topo_fini(&topo);
    if (ok && !sim_out_flush()) {
        fprintf(stderr, "sim-wan topology: standard output: %s\n", strerror(errno));
        ok = false;
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
