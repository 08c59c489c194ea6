/* SPDX-License-Identifier: BSD-2-Clause */
/* model, simulate and compare. */
#include <stdio.h>
#include <stdlib.h>

#include "interconnect/command/columns.h"
#include "interconnect/command/command.h"
#include "interconnect/command/curves.h"
#include "interconnect/command/golden.h"
#include "interconnect/command/limits.h"
#include "interconnect/command/options.h"
#include "interconnect/command/records.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/pool.h"

/* The first words of each kind, and how many more there are: a range may be wrong at each point. */
static int tell_failed(const struct ic_options *options, const struct ic_points *points)
{
    size_t failed = 0;
    const char *words = NULL;
    for (size_t i = 0; i < points->sweep->points; i++) {
        if (points->points[i].is_done)
            continue;
        failed++;
        if (words == NULL)
            words = points->points[i].error;
    }
    if (failed > 1)
        return ic_bad(options->command, "%s (the first of %zu points that have no figures)", words,
                      failed);
    return failed == 1 ? ic_bad(options->command, "%s", words) : IC_DONE;
}

/* A parameter that was given, and at no point has the value that it was given. */
static int check_used(const struct ic_options *options, const struct ic_points *points)
{
    const struct ic_sweep *sweep = points->sweep;
    const struct ic_family *family = sweep->family;
    double *values = sim_calloc(family->param_count, sizeof(*values));
    int status = IC_DONE;
    for (size_t i = 0; i < sweep->axis_count && status == IC_DONE; i++) {
        const struct ic_axis *axis = &sweep->axes[i];
        bool is_used = false;
        for (size_t point = 0; point < sweep->points && !is_used; point++) {
            ic_points_values(points, point, values);
            is_used = values[axis->param] == axis->values[ic_sweep_place(sweep, point, i)];
        }
        if (!is_used)
            status = ic_bad(options->command,
                            "--%s (%s) has no effect: the other parameters make it %.10g",
                            family->params[axis->param].name, family->params[axis->param].about,
                            values[axis->param]);
    }
    free(values);
    return status;
}

static bool is_saturated(const struct ic_points *points)
{
    for (size_t i = 0; i < points->sweep->points; i++)
        if (points->points[i].model.is_saturated || points->points[i].simulated.is_saturated)
            return true;
    return false;
}

static int report(const struct ic_options *options, const struct ic_points *points)
{
    char error[IC_CURVES_ERROR_MAX] = "";
    int status = tell_failed(options, points);
    if (status != IC_DONE && points->sweep->points == 1)
        return status;
    if (options->is_json)
        ic_write_json(points, options->command);
    else
        ic_write_csv(stdout, points);
    if (ic_finish_output(options->command) != IC_DONE)
        return IC_BAD;
    if (options->plot != NULL &&
        ic_curves_draw(points, options->plot_output, NULL, options->plot, error) != GMC_OK)
        return ic_bad(options->command, "%s", error);
    if (options->plot != NULL && ic_curves_figures(points, options->plot_output) == 0)
        fprintf(stderr, "gmcast-interconnect %s: %s shows nothing: %s is %s at all points\n",
                options->command, options->plot,
                points->sweep->family->outputs[options->plot_output].name,
                is_saturated(points) ? "saturated" : "none");
    return status;
}

static int run_points(const struct ic_options *options)
{
    struct ic_points points = {.sweep = &options->sweep,
                               .what = options->what,
                               .setting = {.graphs = options->topologies.edges,
                                           .graph_count = options->topologies.files},
                               .run = {.seed = options->seed, .messages = options->messages},
                               .workers = options->jobs,
                               .is_quiet = options->is_quiet};
    struct ic_records records;
    char error[IC_CURVES_ERROR_MAX];
    if (options->plot != NULL && ic_curves_check(&options->sweep, options->plot, error) != GMC_OK)
        return ic_bad(options->command, "%s", error);
    if (check_used(options, &points) != IC_DONE)
        return IC_BAD;
    int status =
        ic_records_begin(&records, options->command, options->sweep.family->outputs[0].unit,
                         options->log, options->channels, &points.run);
    if (status == IC_DONE) {
        ic_points_compute(&points);
        ic_limits_find(&points, options->finds_saturation);
        if (sim_mpi_is_root())
            status = report(options, &points);
        ic_points_fini(&points);
    }
    int ended = ic_records_end(&records, options->command, status != IC_BAD);
    return status != IC_DONE ? status : ended;
}

static int run(const char *command, unsigned what, int argc, char **argv)
{
    struct ic_options options;
    int status = IC_DONE;
    enum ic_options_outcome outcome = ic_options_read(&options, command, what, argc, argv);
    if (outcome == IC_OPTIONS_BAD)
        status = IC_BAD;
    else if (outcome == IC_OPTIONS_GO && options.golden != NULL)
        status = ic_golden_command(&options);
    else if (outcome == IC_OPTIONS_GO)
        status = run_points(&options);
    ic_options_fini(&options);
    return status;
}

int ic_command_model(int argc, char **argv)
{
    return run("model", IC_MODEL, argc, argv);
}

int ic_command_simulate(int argc, char **argv)
{
    return run("simulate", IC_SIMULATOR, argc, argv);
}

int ic_command_compare(int argc, char **argv)
{
    return run("compare", IC_BOTH, argc, argv);
}
