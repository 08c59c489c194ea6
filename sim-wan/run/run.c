/* SPDX-License-Identifier: BSD-2-Clause */
/* sim-wan run: a scenario in virtual time, once or with many seeds and swept values. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim-wan/command.h"
#include "sim-wan/mem.h"
#include "sim-wan/out_file.h"
#include "sim-wan/run/bar.h"
#include "sim-wan/run/drive.h"
#include "sim-wan/run/group.h"
#include "sim-wan/run/options.h"
#include "sim-wan/run/pool.h"
#include "sim-wan/run/table.h"

enum { EXIT_COMPLETE = 0, EXIT_BAD = 1, EXIT_INCOMPLETE = 2 };

#define DIGITS 9 /* of times in JSON */
#define RUNS_MAX 10000000u

/* ---- one run ---- */
static double cpu(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

static void on_progress(void *ctx, const struct sim_run *run)
{
    struct sim_bar *bar = ctx;
    char what[64];
    if (!sim_bar_is_due(bar))
        return;
    double gone = (double)(run->world->engine.now - run->zero) / 1e9;
    snprintf(what, sizeof(what), "%.1f s simulated", gone);
    sim_bar_draw(bar, sim_run_share(run), what);
}

static void print_line(void *ctx, const char *text)
{
    fprintf(ctx, "%s\n", text);
}

struct command {
    const struct sim_run_options *options;
    uint64_t seed_first, seed_count;
    struct sim_bar bar;
    struct sim_out_file json;
    struct sim_group *groups; /* by combination */
    double cpu_seconds;
    bool has_result; /* there is something to keep */
    bool failed;     /* beside it something could not be written */
};

static bool check_records(const struct sim_plan *plan)
{
    char error[SIM_RECORD_ERROR_MAX] = "";
    for (size_t i = 0; sim_recorders[i] != NULL; i++)
        if (plan->records[i] != NULL && sim_recorders[i]->check != NULL &&
            !sim_recorders[i]->check(&plan->topo, plan->records[i], error)) {
            if (sim_mpi_is_root())
                fprintf(stderr, "sim-wan run: %s\n", error);
            return false;
        }
    return true;
}

/* The plan of a combination; false after words. */
static bool read_plan(const struct sim_run_options *options, size_t combination,
                      struct sim_plan *plan)
{
    char error[SIM_CONF_ERROR_MAX] = "";
    char **sets = sim_run_options_sets(options, combination);
    gmc_status status = sim_plan_read(plan, options->scenario, (const char *const *)sets,
                                      options->set_count + options->sweep_count, error);
    sim_run_options_free_sets(options, sets);
    /* All ranks read the same. */
    if (status != GMC_OK && sim_mpi_is_root())
        fprintf(stderr, "sim-wan run: %s\n", error);
    for (size_t i = 0; i < SIM_RECORDERS_MAX && status == GMC_OK; i++)
        if (options->records[i] != NULL) {
            free(plan->records[i]);
            plan->records[i] = sim_strdup(options->records[i]);
        }
    return status == GMC_OK && check_records(plan);
}

/* The summary with the command that repeats it; NULL, after words, when nothing was run. */
static json_t *run_once(struct command *command, const struct sim_plan *plan, size_t combination,
                        uint64_t seed, bool records)
{
    const struct sim_run_options *options = command->options;
    struct sim_run run;
    double before = cpu();
    sim_run_init(&run, plan, seed);
    run.records = records;
    run.progress = on_progress;
    run.progress_ctx = &command->bar;
    if (options->lines) {
        run.line = print_line;
        run.line_ctx = stderr;
    }
    gmc_status status = sim_run_go(&run);
    json_t *summary = NULL;
    if (status != GMC_OK) {
        sim_bar_clear(&command->bar);
        fprintf(stderr, "sim-wan run: %s\n", run.error);
        command->failed = true;
    }
    if (status == GMC_OK || run.end > 0) {
        char **sets = sim_run_options_sets(options, combination);
        char *again = sim_run_options_command(options, seed, sets);
        summary = sim_run_summary(&run);
        json_object_set_new(summary, "command", json_string(again));
        json_object_set_new(summary, "cpu_seconds", json_real(cpu() - before));
        sim_run_options_free_sets(options, sets);
        free(again);
    }
    sim_run_fini(&run);
    return summary;
}

static int status_of(const json_t *summary)
{
    return json_is_true(json_object_get(summary, "complete")) &&
                   json_integer_value(json_object_get(summary, "violations")) == 0
               ? EXIT_COMPLETE
               : EXIT_INCOMPLETE;
}

static int run_single(struct command *command, const struct sim_plan *plan)
{
    json_t *summary = run_once(command, plan, 0, command->seed_first, true);
    sim_bar_clear(&command->bar);
    if (summary == NULL)
        return EXIT_BAD;
    int status = command->failed ? EXIT_BAD : status_of(summary);
    command->has_result = true;
    if (command->json.file != NULL) {
        json_dumpf(summary, command->json.file, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS));
        fputc('\n', command->json.file);
    }
    if (command->json.file != stdout)
        sim_table_print(stdout, summary);
    json_decref(summary);
    return status;
}

/* ---- many runs ---- */
static char *work(void *ctx, size_t n)
{
    struct command *command = ctx;
    struct sim_plan plan;
    size_t combination = n / command->seed_count;
    json_t *summary = NULL;
    command->bar.is_on = false; /* the parent's shows the runs */
    if (read_plan(command->options, combination, &plan))
        summary = run_once(command, &plan, combination,
                           command->seed_first + n % command->seed_count, false);
    sim_plan_fini(&plan);
    char *text = summary != NULL ? json_dumps(summary, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS))
                                 : sim_strdup("");
    json_decref(summary);
    return text;
}

static void on_done(void *ctx, size_t n, const char *text, const char *why)
{
    struct command *command = ctx;
    uint64_t seed = command->seed_first + n % command->seed_count;
    json_t *summary = text != NULL ? json_loads(text, 0, NULL) : NULL;
    char what[64];
    if (summary == NULL)
        fprintf(stderr, "sim-wan run: seed %" PRIu64 " gave nothing%s%s\n", seed,
                why != NULL ? ": " : "", why != NULL ? why : "");
    command->cpu_seconds += json_number_value(json_object_get(summary, "cpu_seconds"));
    sim_group_add(&command->groups[n / command->seed_count], summary);
    if (summary != NULL && command->json.file != NULL) {
        /* A line does not tell how fast the machine was: it is the same whoever made it. */
        json_object_del(summary, "cpu_seconds");
        json_dumpf(summary, command->json.file, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
        fputc('\n', command->json.file);
        fflush(command->json.file);
    }
    json_decref(summary);
    if (sim_bar_is_due(&command->bar)) {
        size_t all = command->seed_count * sim_run_options_combinations(command->options);
        snprintf(what, sizeof(what), "%zu of %zu runs", n + 1, all);
        sim_bar_draw(&command->bar, (double)(n + 1) / (double)all, what);
    }
}

static json_t *group_summary(const struct command *command, size_t combination)
{
    const struct sim_run_options *options = command->options;
    json_t *object = sim_group_summary(&command->groups[combination]), *list = json_array();
    char **sets = sim_run_options_sets(options, combination);
    for (size_t i = 0; i < options->set_count + options->sweep_count; i++)
        json_array_append_new(list, json_string(sets[i]));
    sim_run_options_free_sets(options, sets);
    json_object_set_new(object, "scenario", json_string(options->scenario));
    json_object_set_new(object, "set", list);
    return object;
}

/* After the lines of the runs, one line per combination. */
static int report(struct command *command)
{
    size_t combinations = sim_run_options_combinations(command->options);
    int status = EXIT_COMPLETE;
    sim_bar_clear(&command->bar);
    for (size_t i = 0; i < combinations; i++) {
        json_t *group = group_summary(command, i);
        if (!sim_group_is_good(&command->groups[i]))
            status = EXIT_INCOMPLETE;
        if (command->json.file != NULL) {
            json_dumpf(group, command->json.file, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
            fputc('\n', command->json.file);
        }
        if (command->json.file != stdout)
            sim_table_print_group(stdout, group);
        json_decref(group);
        sim_group_fini(&command->groups[i]);
    }
    if (command->json.file != stdout)
        printf("%.1f CPU seconds\n", command->cpu_seconds);
    return status;
}

static int run_many(struct command *command, int ranks)
{
    size_t combinations = sim_run_options_combinations(command->options);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct sim_pool pool = {command, work, on_done};
    command->groups = sim_calloc(combinations, sizeof(*command->groups));
    if (ranks > 1)
        sim_mpi_run(&pool, combinations * command->seed_count);
    else
        sim_pool_run(&pool, combinations * command->seed_count,
                     command->options->jobs > 0 ? command->options->jobs
                     : cores > 0                ? (size_t)cores
                                                : 1);
    int status = sim_mpi_is_root() ? report(command) : EXIT_COMPLETE;
    command->has_result = true;
    free(command->groups);
    return status;
}

/* ---- the command ---- */
static bool say_json(const struct command *command)
{
    fprintf(stderr, "sim-wan run: %s: %s\n", command->options->json, strerror(errno));
    return false;
}

static bool open_json(struct command *command)
{
    const char *name = command->options->json;
    return name == NULL || !sim_mpi_is_root() || sim_out_open(&command->json, name) ||
           say_json(command);
}

static bool close_json(struct command *command, bool keep)
{
    return sim_out_close(&command->json, keep) || say_json(command);
}

/* Every combination is checked before the first is run. The plan is that of the first. */
static bool check_all(const struct sim_run_options *options, struct sim_plan *plan)
{
    for (size_t i = sim_run_options_combinations(options) - 1; i > 0; i--) {
        struct sim_plan other;
        bool good = read_plan(options, i, &other);
        sim_plan_fini(&other);
        if (!good) {
            *plan = (struct sim_plan){0};
            return false;
        }
    }
    return read_plan(options, 0, plan);
}

static bool wants_records(const struct sim_plan *plan)
{
    for (size_t i = 0; i < SIM_RECORDERS_MAX; i++)
        if (plan->records[i] != NULL)
            return true;
    return false;
}

static int run_plan(struct command *command, const struct sim_plan *plan, int ranks)
{
    const struct sim_run_options *options = command->options;
    command->seed_first = options->has_seeds ? options->seed_first : plan->seed_first;
    uint64_t last = options->has_seeds ? options->seed_last : plan->seed_last;
    command->seed_count = last - command->seed_first + 1;
    if (command->seed_count > RUNS_MAX / sim_run_options_combinations(options)) {
        if (sim_mpi_is_root())
            fprintf(stderr, "sim-wan run: more than %u runs; expected fewer seeds or values\n",
                    RUNS_MAX);
        return EXIT_BAD;
    }
    bool is_single = command->seed_count == 1 && sim_run_options_combinations(options) == 1;
    if (!is_single && wants_records(plan)) {
        if (sim_mpi_is_root())
            fputs("sim-wan run: records are kept of one run; give one seed and no sweep\n", stderr);
        return EXIT_BAD;
    }
    if (is_single && !sim_mpi_is_root())
        return EXIT_COMPLETE;
    if (!open_json(command))
        return EXIT_BAD;
    int status = is_single ? run_single(command, plan) : run_many(command, ranks);
    return close_json(command, command->has_result) ? status : EXIT_BAD;
}

static void print_check(const struct sim_run_options *options, const struct sim_plan *plan)
{
    char buffer[SIM_TOPO_NOTE_MAX];
    const char *note;
    size_t cursor = 0;
    printf("%s: ok: %zu nodes, %zu links, %zu transfers, %zu channels, %zu faults, %zu "
           "sources of traffic\n",
           options->scenario, plan->topo.node_count, plan->topo.link_count, plan->transfer_count,
           plan->channel_count, plan->fault_count, plan->traffic_count);
    while ((note = sim_topo_next_note(&plan->notes, &cursor, buffer)) != NULL)
        printf("note: %s\n", note);
}

int sim_command_run(int argc, char **argv)
{
    struct sim_run_options options;
    struct sim_plan plan;
    int ranks = sim_mpi_begin(&argc, &argv);
    int status = sim_run_options_read(&options, argc, argv);
    struct command command = {.options = &options};
    sim_bar_init(&command.bar, !options.quiet && !options.lines);
    if (status == 0) {
        if (!check_all(&options, &plan))
            status = EXIT_BAD;
        else if (options.check && sim_mpi_is_root())
            print_check(&options, &plan);
        else if (!options.check)
            status = run_plan(&command, &plan, ranks);
        sim_plan_fini(&plan);
    } else if (status == 2) {
        status = EXIT_SUCCESS; /* help */
    }
    if (status != EXIT_BAD && !sim_out_flush()) {
        fprintf(stderr, "sim-wan run: standard output: %s\n", strerror(errno));
        status = EXIT_BAD;
    }
    sim_run_options_fini(&options);
    sim_mpi_end();
    return status;
}
