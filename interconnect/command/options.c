/* SPDX-License-Identifier: BSD-2-Clause */
/* Options from the family's table and our own. */
#include "interconnect/command/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/command/command.h"
#include "sim-wan/mem.h"

#define FIRST_PARAM 1000 /* getopt's value of the first parameter's option */

/* Letters are getopt's values, not options. */
static const struct own {
    const char *name;
    char letter;
    bool has_argument;
    unsigned what; /* for which commands */
    const char *help;
} own[] = {
    {"json", 'J', false, IC_BOTH, "JSON instead of CSV"},
    {"plot", 'p', true, IC_BOTH, "draw to FILE.svg and FILE.png (gnuplot)"},
    {"figure", 'f', true, IC_BOTH, "the figure to be drawn; default: the first"},
    {"seed", 's', true, IC_SIMULATOR, "of random numbers; default: 1"},
    {"messages", 'm', true, IC_SIMULATOR, "to be measured; default: as many as the family needs"},
    {"channels", 'c', true, IC_SIMULATOR, "write the load of every channel to FILE (one point)"},
    {"log", 'l', true, IC_SIMULATOR, "write every message to FILE (one point)"},
    {"find-saturation", 'S', false, IC_BOTH, "tell from which load on each curve is saturated"},
    {"jobs", 'j', true, IC_BOTH, "processes for several points; default: one per core"},
    {"quiet", 'q', false, IC_BOTH, "no progress bar"},
    {"help", 'h', false, IC_BOTH, "this help"},
};

#define OWN_COUNT (sizeof(own) / sizeof(own[0]))

/* With a reference table, whose rows have parameters and a seed of their own. */
static const char golden_letters[] = "Jjqh";

static bool is_offered(const struct own *option, unsigned what)
{
    return (option->what & what) != 0;
}

/* ---- help ---- */
static void print_params(const struct ic_family *family, unsigned what)
{
    printf("\nParameters of %s, each a value, a list a,b,c or a range a..b/step:\n", family->name);
    for (size_t i = 0; i < family->param_count; i++) {
        const struct ic_param *param = &family->params[i];
        if ((param->whose & what) == 0)
            continue;
        printf("  --%-14s %s", param->name, param->about);
        if (param->kind == IC_CHOICE) {
            for (size_t j = 0; param->choices[j] != NULL; j++)
                printf("%s%s", j == 0 ? ": " : ", ", param->choices[j]);
            printf("; or all (%s)\n", param->choices[(size_t)param->usual]);
        } else {
            printf("%s%s%s, %.10g to %.10g (%.10g)\n", param->unit[0] != '\0' ? " [" : "",
                   param->unit, param->unit[0] != '\0' ? "]" : "", param->least, param->most,
                   param->usual);
        }
    }
    puts("\nFigures:");
    for (size_t i = 0; i < family->output_count; i++)
        if ((family->outputs[i].whose & what) != 0)
            printf("  %-16s %s%s%s%s\n", family->outputs[i].name, family->outputs[i].about,
                   family->outputs[i].unit[0] != '\0' ? " [" : "", family->outputs[i].unit,
                   family->outputs[i].unit[0] != '\0' ? "]" : "");
}

static void print_help(const struct ic_options *options, const struct ic_family *family)
{
    printf("Usage: gmcast-interconnect %s FAMILY [--PARAMETER VALUES]... [OPTIONS]\n",
           options->command);
    printf("       gmcast-interconnect %s --golden FILE.csv [--json] [--jobs N] [--quiet]\n",
           options->command);
    puts("Writes a table of the figures of all combinations of values to standard output.\n"
         "\nOptions:");
    for (size_t i = 0; i < OWN_COUNT; i++)
        if (is_offered(&own[i], options->what))
            printf("  --%s%-*s %s\n", own[i].name, 14 - (int)strlen(own[i].name),
                   own[i].has_argument ? (strchr("pcl", own[i].letter) != NULL ? " FILE" : " ...")
                                       : "",
                   own[i].help);
    puts("  --golden FILE   compute a reference table again, or simulate it where it was "
         "simulated;\n"
         "                  it is known by its base name; takes --json, --jobs and --quiet");
    if (family != NULL)
        print_params(family, options->what);
    else
        puts("\nFamilies and their parameters: gmcast-interconnect list");
}

/* ---- reading ---- */
static int take_figure(struct ic_options *options)
{
    const struct ic_family *family = options->sweep.family;
    options->plot_output = ic_family_output(family, optarg);
    if (options->plot_output < family->output_count &&
        (family->outputs[options->plot_output].whose & options->what) != 0)
        return IC_DONE;
    return ic_bad(options->command, "%s has no figure '%s'; see gmcast-interconnect list %s",
                  family->name, optarg, family->name);
}

static int take_own(struct ic_options *options, int letter)
{
    uint64_t jobs = 0;
    int status = IC_DONE;
    switch (letter) {
    case 'J':
        options->is_json = true;
        return IC_DONE;
    case 'p':
        options->plot = optarg;
        return IC_DONE;
    case 'f':
        return take_figure(options);
    case 's':
        return ic_read_count(options->command, "seed", optarg, 0, &options->seed);
    case 'm':
        return ic_read_count(options->command, "messages", optarg, 1, &options->messages);
    case 'c':
        options->channels = optarg;
        return IC_DONE;
    case 'l':
        options->log = optarg;
        return IC_DONE;
    case 'j':
        status = ic_read_count(options->command, "jobs", optarg, 1, &jobs);
        options->jobs = jobs;
        return status;
    case 'q':
        options->is_quiet = true;
        return IC_DONE;
    case 'S':
        options->finds_saturation = true;
        if (options->sweep.family->load != NULL)
            return IC_DONE;
        return ic_bad(options->command, "%s has no load that could saturate it",
                      options->sweep.family->name);
    case 'T':
        return ic_bad(options->command,
                      "%s is a topology of its own; any graph is there for worms in the family "
                      "updown, for packets in ldr",
                      options->sweep.family->name);
    default: /* getopt has said what is wrong */
        fprintf(stderr, "Try: gmcast-interconnect %s %s --help\n", options->command,
                options->sweep.family->name);
        return IC_BAD;
    }
}

/* Files become words of the family that the sweep is over. */
static int take_files(struct ic_options *options)
{
    if (options->topologies.choices != NULL)
        return IC_DONE; /* given twice, which the sweep refuses */
    if (ic_topologies_read(&options->topologies, options->command, options->sweep.family, optarg) !=
        IC_DONE)
        return IC_BAD;
    options->sweep.family = &options->topologies.family;
    return IC_DONE;
}

static int take_param(struct ic_options *options, const char *name)
{
    char error[IC_ERROR_MAX] = "";
    if (strcmp(name, IC_FAMILY_GRAPHS) == 0 && take_files(options) != IC_DONE)
        return IC_BAD;
    gmc_status status = ic_sweep_add(&options->sweep, name, optarg, error);
    if (status == GMC_OK)
        return IC_DONE;
    return ic_bad(options->command, "%s", error[0] != '\0' ? error : gmc_status_text(status));
}

/* What getopt is told: our options, then the family's; those of the other side, too. */
static struct option *make_table(const struct ic_options *options)
{
    const struct ic_family *family = options->sweep.family;
    struct option *table = sim_calloc(OWN_COUNT + family->param_count + 2, sizeof(*table));
    size_t count = 0;
    if (ic_family_param(family, IC_FAMILY_GRAPHS) == family->param_count)
        table[count++] = (struct option){IC_FAMILY_GRAPHS, required_argument, NULL, 'T'};
    for (size_t i = 0; i < OWN_COUNT; i++)
        table[count++] = (struct option){own[i].name, own[i].has_argument, NULL, own[i].letter};
    for (size_t i = 0; i < family->param_count; i++)
        table[count++] =
            (struct option){family->params[i].name, required_argument, NULL, FIRST_PARAM + (int)i};
    return table;
}

/* Words for an option that is not of this command. */
static int refuse_other(const struct ic_options *options, const char *name)
{
    bool is_model = options->what == IC_MODEL;
    return ic_bad(options->command, "--%s is of the %s: see gmcast-interconnect %s %s --help", name,
                  is_model ? "simulator" : "model", is_model ? "simulate" : "model",
                  options->sweep.family->name);
}

static int take_option(struct ic_options *options, int letter)
{
    if (letter >= FIRST_PARAM) {
        const struct ic_param *param = &options->sweep.family->params[letter - FIRST_PARAM];
        return (param->whose & options->what) != 0 ? take_param(options, param->name)
                                                   : refuse_other(options, param->name);
    }
    for (size_t i = 0; i < OWN_COUNT; i++)
        if (own[i].letter == letter && !is_offered(&own[i], options->what))
            return refuse_other(options, own[i].name);
    return take_own(options, letter);
}

static enum ic_options_outcome check(const struct ic_options *options)
{
    if (options->sweep.points == 1 || (options->channels == NULL && options->log == NULL))
        return IC_OPTIONS_GO;
    ic_bad(options->command, "--channels and --log are for one point; these are %zu",
           options->sweep.points);
    return IC_OPTIONS_BAD;
}

static enum ic_options_outcome read_family(struct ic_options *options, int argc, char **argv)
{
    const struct ic_family *family = options->sweep.family;
    struct option *table = make_table(options);
    enum ic_options_outcome outcome = IC_OPTIONS_GO;
    int letter;
    optind = 1;
    while (outcome == IC_OPTIONS_GO && (letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (letter == 'h') {
            print_help(options, family);
            outcome = IC_OPTIONS_HELPED;
        } else if (take_option(options, letter) != IC_DONE) {
            outcome = IC_OPTIONS_BAD;
        }
    }
    free(table);
    if (outcome == IC_OPTIONS_GO && optind < argc) {
        ic_bad(options->command, "'%s' is no option; parameters are given as --name value",
               argv[optind]);
        return IC_OPTIONS_BAD;
    }
    return outcome == IC_OPTIONS_GO ? check(options) : outcome;
}

static enum ic_options_outcome find_family(struct ic_options *options, const char *name)
{
    const struct ic_family *family = ic_family_find(name);
    if (family == NULL) {
        ic_bad(options->command, "no family is called '%s'; see gmcast-interconnect list", name);
        return IC_OPTIONS_BAD;
    }
    if (((options->what & IC_MODEL) != 0 && family->model == NULL) ||
        ((options->what & IC_SIMULATOR) != 0 && family->simulate == NULL)) {
        ic_bad(options->command, "%s has no %s", name,
               family->model == NULL ? "model" : "simulator");
        return IC_OPTIONS_BAD;
    }
    ic_sweep_init(&options->sweep, family);
    while ((family->outputs[options->plot_output].whose & options->what) == 0)
        options->plot_output++;
    return IC_OPTIONS_GO;
}

static int take_golden(struct ic_options *options, int letter)
{
    if (letter == 'G') {
        options->golden = optarg;
        return IC_DONE;
    }
    for (size_t i = 0; i < OWN_COUNT; i++)
        if (own[i].letter == letter && strchr(golden_letters, letter) == NULL)
            return ic_bad(options->command,
                          "--%s is not of reference tables, whose rows say all; see --help",
                          own[i].name);
    if (letter != '?')
        return take_own(options, letter);
    fprintf(stderr, "Try: gmcast-interconnect %s --help\n", options->command);
    return IC_BAD;
}

static enum ic_options_outcome read_golden(struct ic_options *options, int argc, char **argv)
{
    struct option table[OWN_COUNT + 2] = {{"golden", required_argument, NULL, 'G'}};
    int letter;
    for (size_t i = 0; i < OWN_COUNT; i++)
        table[i + 1] = (struct option){own[i].name, own[i].has_argument, NULL, own[i].letter};
    optind = 1;
    while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (letter == 'h') {
            print_help(options, NULL);
            return IC_OPTIONS_HELPED;
        }
        if (take_golden(options, letter) != IC_DONE)
            return IC_OPTIONS_BAD;
    }
    if (optind == argc)
        return IC_OPTIONS_GO;
    ic_bad(options->command, "'%s' is no option of reference tables; see --help", argv[optind]);
    return IC_OPTIONS_BAD;
}

static bool has_golden(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--golden") == 0 || strncmp(argv[i], "--golden=", 9) == 0)
            return true;
    return false;
}

enum ic_options_outcome ic_options_read(struct ic_options *options, const char *command,
                                        unsigned what, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    *options = (struct ic_options){.command = command, .what = what, .seed = 1};
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help(options, NULL);
        return IC_OPTIONS_HELPED;
    }
    if (word[0] == '-' && has_golden(argc, argv))
        return read_golden(options, argc, argv);
    if (word[0] == '\0' || word[0] == '-') {
        ic_bad(command, "a family is needed; see gmcast-interconnect list");
        return IC_OPTIONS_BAD;
    }
    enum ic_options_outcome outcome = find_family(options, word);
    return outcome == IC_OPTIONS_GO ? read_family(options, argc - 1, argv + 1) : outcome;
}

void ic_options_fini(struct ic_options *options)
{
    ic_sweep_fini(&options->sweep);
    ic_topologies_fini(&options->topologies);
}
