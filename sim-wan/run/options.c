/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `sim-wan run`; see options.h. */
#include "sim-wan/run/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/plan.h"
#include "sim-wan/run/pool.h"

#define OWN_OPTIONS 10
#define FIRST_RECORDER 1000 /* getopt's value of the first recorder's option */

static const struct option own[OWN_OPTIONS] = {
    {"check", no_argument, NULL, 'T'},       {"json", required_argument, NULL, 'J'},
    {"seed", required_argument, NULL, 's'},  {"seeds", required_argument, NULL, 's'},
    {"jobs", required_argument, NULL, 'j'},  {"set", required_argument, NULL, 'S'},
    {"sweep", required_argument, NULL, 'W'}, {"events", no_argument, NULL, 'e'},
    {"quiet", no_argument, NULL, 'q'},       {"help", no_argument, NULL, 'h'}};

static void print_help(void)
{
    puts("Usage: sim-wan run [OPTIONS] SCENARIO\n"
         "Runs a scenario in virtual time and says how its transfers went.\n"
         "\n"
         "  -T, --check                check the scenario only\n"
         "      --json FILE            write the summary; '-': to standard output\n"
         "  -s, --seeds N, N..M        seeds instead of those in the scenario\n"
         "  -j, --jobs N               processes for several runs; default: one per core\n"
         "      --set SECTION.NAME=VALUE\n"
         "                             instead of what the scenario says; may be repeated\n"
         "      --sweep SECTION.NAME=VALUE,VALUE...\n"
         "                             all of these, one after the other; may be repeated\n"
         "      --events               lines of what happens, to standard error\n"
         "  -q, --quiet                no progress bar\n"
         "  -h, --help                 this help");
    for (size_t i = 0; sim_recorders[i] != NULL; i++)
        printf("      --%s %-*s write %s\n", sim_recorders[i]->name,
               20 - (int)strlen(sim_recorders[i]->name), sim_recorders[i]->target,
               sim_recorders[i]->summary);
    puts("\n"
         "The exit status is 0 when all transfers were complete, 2 when one was not or an oracle\n"
         "found a fault, 1 for bad input or output. See sim-wan-run(1) for scenarios.");
}

/* All ranks of an MPI world are started with the same words; one speaks of them. */
static int bad(const char *format, const char *word)
{
    if (!sim_mpi_is_root())
        return 1;
    fputs("sim-wan run: ", stderr);
    fprintf(stderr, format, word); // NOLINT(clang-diagnostic-format-nonliteral): our own texts
    fputs("\nTry: sim-wan run --help\n", stderr);
    return 1;
}

static int add_sweep(struct sim_run_options *options, const char *text)
{
    struct sim_sweep *sweep = &options->sweeps[options->sweep_count];
    char *rest = NULL;
    if (options->sweep_count == SIM_SWEEPS_MAX)
        return bad("'%s': too many sweeps", text);
    if (strchr(text, '=') == NULL)
        return bad("'%s' is no sweep: expected section.name=value,value", text);
    options->sweep_count++;
    *sweep = (struct sim_sweep){.copy = sim_strdup(text)};
    char *values = strchr(sweep->copy, '=');
    *values++ = '\0';
    sweep->name = sweep->copy;
    for (char *word = strtok_r(values, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        sweep->values = sim_reserve(sweep->values, sweep->count, &sweep->capacity, sizeof(char *));
        sweep->values[sweep->count++] = word;
    }
    return sweep->count > 0 ? 0 : bad("'%s' sweeps over nothing", text);
}

static int take(struct sim_run_options *options, int letter)
{
    char *end;
    switch (letter) {
    case 'T':
        options->check = true;
        return 0;
    case 'J':
        options->json = optarg;
        return 0;
    case 's':
        options->has_seeds = sim_plan_seeds(optarg, &options->seed_first, &options->seed_last);
        return options->has_seeds ? 0 : bad("'%s' is no seed: expected 7 or 1..1000", optarg);
    case 'j':
        options->jobs = strtoul(optarg, &end, 10);
        return *end == '\0' && options->jobs > 0 && options->jobs <= 4096
                   ? 0
                   : bad("'%s' is no number of processes, 1 to 4096", optarg);
    case 'S':
        options->sets =
            sim_reserve(options->sets, options->set_count, &options->set_capacity, sizeof(char *));
        options->sets[options->set_count++] = optarg;
        return 0;
    case 'W':
        return add_sweep(options, optarg);
    case 'e':
        options->lines = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case 'h':
        if (sim_mpi_is_root())
            print_help();
        return 2;
    default:
        if (letter >= FIRST_RECORDER)
            options->records[letter - FIRST_RECORDER] = optarg;
        else if (sim_mpi_is_root())
            fputs("Try: sim-wan run --help\n", stderr);
        return letter >= FIRST_RECORDER ? 0 : 1;
    }
}

int sim_run_options_read(struct sim_run_options *options, int argc, char **argv)
{
    struct option table[OWN_OPTIONS + SIM_RECORDERS_MAX + 1];
    int letter, status = 0;
    *options = (struct sim_run_options){0};
    memset(table, 0, sizeof(table));
    memcpy(table, own, sizeof(own));
    for (int i = 0; sim_recorders[i] != NULL; i++)
        table[OWN_OPTIONS + i] =
            (struct option){sim_recorders[i]->name, required_argument, NULL, FIRST_RECORDER + i};
    optind = 1;
    opterr = sim_mpi_is_root();
    while (status == 0 && (letter = getopt_long(argc, argv, "Ts:j:qh", table, NULL)) != -1)
        status = take(options, letter);
    if (status != 0)
        return status;
    if (optind != argc - 1)
        return bad("expected %s", optind < argc ? "one scenario, not several" : "a scenario");
    options->scenario = argv[optind];
    return 0;
}

void sim_run_options_fini(struct sim_run_options *options)
{
    for (size_t i = 0; i < options->sweep_count; i++) {
        free(options->sweeps[i].copy);
        free(options->sweeps[i].values);
    }
    free(options->sets);
    *options = (struct sim_run_options){0};
}

/* ---- sweeps ---- */
size_t sim_run_options_combinations(const struct sim_run_options *options)
{
    size_t count = 1;
    for (size_t i = 0; i < options->sweep_count; i++)
        count *= options->sweeps[i].count;
    return count;
}

char **sim_run_options_sets(const struct sim_run_options *options, size_t n)
{
    size_t count = options->set_count;
    char **sets = sim_calloc(options->set_count + options->sweep_count, sizeof(char *));
    for (size_t i = 0; i < count; i++)
        sets[i] = sim_strdup(options->sets[i]);
    /* The last sweep's values change fastest. */
    for (size_t i = options->sweep_count; i-- > 0;) {
        const struct sim_sweep *sweep = &options->sweeps[i];
        const char *value = sweep->values[n % sweep->count];
        size_t size = strlen(sweep->name) + strlen(value) + 2;
        n /= sweep->count;
        sets[count + i] = sim_alloc(size);
        snprintf(sets[count + i], size, "%s=%s", sweep->name, value);
    }
    return sets;
}

void sim_run_options_free_sets(const struct sim_run_options *options, char **sets)
{
    for (size_t i = 0; i < options->set_count + options->sweep_count; i++)
        free(sets[i]);
    free(sets);
}

/* ---- the command again ---- */
static bool is_plain(const char *word)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789./_-=:,%+@";
    return word[0] != '\0' && strspn(word, letters) == strlen(word);
}

/* Quoted as a shell wants it. */
static void put_word(FILE *out, const char *word)
{
    fputc(' ', out);
    if (is_plain(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

char *sim_run_options_command(const struct sim_run_options *options, uint64_t seed,
                              char *const *sets)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        perror("sim-wan");
        exit(1);
    }
    fprintf(out, "sim-wan run --seed %" PRIu64, seed);
    for (size_t i = 0; i < options->set_count + options->sweep_count; i++) {
        fputs(" --set", out);
        put_word(out, sets[i]);
    }
    put_word(out, options->scenario);
    fclose(out);
    return text;
}
