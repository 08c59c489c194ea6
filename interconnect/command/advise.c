/* SPDX-License-Identifier: BSD-2-Clause */
/* advise: the best multicast algorithm for a cluster. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "interconnect/advise.h"
#include "interconnect/command/command.h"

#define NAME "advise"

struct advise_options {
    struct ic_question question;
    bool has_network, is_json;
    const char *of_simulators; /* an option that they alone know, or NULL */
};

static const struct option table[] = {
    {"network", required_argument, NULL, 'n'},
    {"group", required_argument, NULL, 'g'},
    {"bytes", required_argument, NULL, 'b'},
    {"packet", required_argument, NULL, 'p'},
    {"simulate", no_argument, NULL, 'S'},
    {"seed", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'J'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    puts("Usage: gmcast-interconnect advise --network NETWORK --group G [OPTIONS]\n"
         "Names the multicast algorithm that takes the shortest time, with the figures of all.\n"
         "\n"
         "  --network NETWORK  torus:4x4, star:16, or star:16:NA (HB, NB, NA: who does the work)\n"
         "  --group G          members, the root among them\n"
         "  --bytes N          length of the message; K and M are 1024 and 1024^2 (64K)\n"
         "  --simulate         ask the simulators too, and go by them\n"
         "  --packet N         simulated: pipelined in packets of so many bytes; 0: store and\n"
         "                     forward (0)\n"
         "  --seed N           of the simulators (1)\n"
         "  --json             JSON instead of text");
}

/* Lengths are read as the families do it. */
static int read_bytes(const char *name, const char *text, double least, uint64_t *bytes)
{
    const struct ic_param param = {.name = name,
                                   .about = "bytes",
                                   .kind = IC_COUNT,
                                   .least = least,
                                   .most = 1048576,
                                   .whose = IC_BOTH};
    char error[IC_ERROR_MAX] = "";
    double value;
    if (ic_param_parse(&param, text, &value, error) != GMC_OK)
        return ic_bad(NAME, "%s", error);
    *bytes = (uint64_t)value;
    return IC_DONE;
}

static int take(struct advise_options *options, int letter)
{
    struct ic_question *question = &options->question;
    char error[IC_ERROR_MAX] = "";
    switch (letter) {
    case 'n':
        options->has_network = ic_network_parse(optarg, &question->network, error) == GMC_OK;
        return options->has_network ? IC_DONE : ic_bad(NAME, "%s", error);
    case 'g':
        return ic_read_count(NAME, "group", optarg, 0, &question->group);
    case 'b':
        return read_bytes("bytes", optarg, 1, &question->bytes);
    case 'p':
        options->of_simulators = "packet";
        return read_bytes("packet", optarg, 0, &question->packet_bytes);
    case 'S':
        question->by = IC_BOTH;
        return IC_DONE;
    case 's':
        options->of_simulators = "seed";
        return ic_read_count(NAME, "seed", optarg, 0, &question->seed);
    case 'J':
        options->is_json = true;
        return IC_DONE;
    default:
        fputs("Try: gmcast-interconnect advise --help\n", stderr);
        return IC_BAD;
    }
}

/* ---- what comes out ---- */
static void print_figure(const struct ic_figure *figure)
{
    if (figure->state != IC_FIGURE_KNOWN)
        printf("  %12s          ", "-");
    else if (figure->half_width > 0 && isfinite(figure->half_width))
        printf("  %12.1f +- %-6.1f", figure->value, figure->half_width);
    else
        printf("  %12.1f          ", figure->value);
}

/* Whether a simulation can tell the two apart. */
static bool are_apart(const struct ic_answer *a, const struct ic_answer *b)
{
    return fabs(a->simulated.value - b->simulated.value) >
           a->simulated.half_width + b->simulated.half_width;
}

static void print_text(const struct ic_advice *advice)
{
    const struct ic_answer *best = &advice->answers[0];
    bool is_simulated = best->simulated.state == IC_FIGURE_KNOWN;
    printf("%s%s%s is best by the %s", best->scheme, best->scheme[0] != '\0' ? " " : "",
           best->algorithm, is_simulated ? "simulator" : "model");
    for (size_t i = 1; i < advice->count && is_simulated; i++)
        if (!are_apart(best, &advice->answers[i]))
            printf("; %s%s%s cannot be told from it", advice->answers[i].scheme,
                   advice->answers[i].scheme[0] != '\0' ? " " : "", advice->answers[i].algorithm);
    printf("\n%-12s  %12s%10s  %12s\n", "[us]", "model", "", "simulator");
    for (size_t i = 0; i < advice->count; i++) {
        const struct ic_answer *answer = &advice->answers[i];
        printf("%-3s%-9s", answer->scheme, answer->algorithm);
        print_figure(&answer->model);
        print_figure(&answer->simulated);
        putchar('\n');
    }
}

static json_t *json_figure(const struct ic_figure *figure)
{
    if (figure->state != IC_FIGURE_KNOWN)
        return json_null();
    return json_pack("{s:f, s:o}", "us", figure->value, "ci95",
                     isfinite(figure->half_width) ? json_real(figure->half_width) : json_null());
}

static void print_json(const struct ic_advice *advice)
{
    json_t *list = json_array();
    for (size_t i = 0; i < advice->count; i++) {
        const struct ic_answer *answer = &advice->answers[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "scheme", answer->scheme,
                                              "algorithm", answer->algorithm, "model",
                                              json_figure(&answer->model), "simulated",
                                              json_figure(&answer->simulated)));
    }
    json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(list);
}

/* Where the models have no say, the simulators are asked alone. */
static gmc_status answer(struct ic_question *question, struct ic_advice *advice, char *error)
{
    gmc_status status = ic_advise(question, advice, error);
    if (status == GMC_OK || question->by != IC_BOTH)
        return status;
    question->by = IC_SIMULATOR;
    return ic_advise(question, advice, error);
}

int ic_command_advise(int argc, char **argv)
{
    struct advise_options options = {.question = {.bytes = 65536, .seed = 1, .by = IC_MODEL}};
    struct ic_advice advice;
    char error[IC_ERROR_MAX] = "";
    int letter, status = IC_DONE;
    optind = 1;
    while (status == IC_DONE && (letter = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (letter == 'h') {
            print_help();
            return IC_DONE;
        }
        status = take(&options, letter);
    }
    if (status == IC_DONE && optind < argc)
        status = ic_bad(NAME, "'%s' is no option", argv[optind]);
    if (status == IC_DONE && (!options.has_network || options.question.group == 0))
        status = ic_bad(NAME, "--network and --group are needed; see --help");
    if (status == IC_DONE && options.of_simulators != NULL && options.question.by == IC_MODEL)
        status =
            ic_bad(NAME, "--%s is of the simulators: give --simulate, too", options.of_simulators);
    if (status != IC_DONE)
        return status;
    gmc_status outcome = answer(&options.question, &advice, error);
    if (outcome != GMC_OK)
        return ic_bad(NAME, "%s", error[0] != '\0' ? error : gmc_status_text(outcome));
    if (options.is_json)
        print_json(&advice);
    else
        print_text(&advice);
    return ic_finish_output(NAME);
}
