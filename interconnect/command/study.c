/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a study: points, files, claims. */
#include "interconnect/command/study.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "experiments/file.h"
#include "interconnect/command/columns.h"
#include "interconnect/command/curves.h"
#include "sim-wan/mem.h"

#define QUICK_PART 10u
#define QUICK_LEAST 20u
#define PLACE_MAX 256u

/* ---- "name=value name=value" ---- */
typedef gmc_status take_pair(void *ctx, const char *name, const char *value, char *error);

static gmc_status for_pairs(const char *text, take_pair *take, void *ctx, char *error)
{
    char *copy = sim_strdup(text), *rest = NULL;
    gmc_status status = GMC_OK;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && status == GMC_OK;
         word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        GMC_ASSERT(value != NULL);
        *value++ = '\0';
        status = take(ctx, word, value, error);
    }
    free(copy);
    return status;
}

/* ---- tables ---- */
static gmc_status add_axis(void *ctx, const char *name, const char *value, char *error)
{
    return ic_sweep_add(ctx, name, value, error);
}

static bool write_table(const struct ic_study *study, const struct ic_study_table *table,
                        const struct ic_study_options *options, const struct ic_points *points)
{
    struct sim_out_file out;
    if (!ex_file_open(&out, options->folder, "%s-%s.csv", study->name, table->what))
        return false;
    ic_write_csv(out.file, points);
    return ex_file_close(&out);
}

static void draw_figure(const struct ic_study *study, const struct ic_study_table *table,
                        const struct ic_study_options *options, const struct ic_points *points,
                        const char *figure, struct ex_report *report)
{
    const struct ic_family *family = points->sweep->family;
    bool is_only = table->figure == NULL || strchr(table->figure, ' ') == NULL;
    size_t output = figure != NULL ? ic_family_output(family, figure) : 0;
    char name[PLACE_MAX], path[PLACE_MAX * 2], caption[PLACE_MAX], file[PLACE_MAX + 8];
    char error[IC_CURVES_ERROR_MAX] = "";
    GMC_ASSERT(output < family->output_count);
    snprintf(name, sizeof(name), "%s-%s%s%s", study->name, table->what, is_only ? "" : "-",
             is_only ? "" : figure);
    snprintf(caption, sizeof(caption), "%s%s%s", table->caption, is_only ? "" : ": ",
             is_only ? "" : figure);
    snprintf(path, sizeof(path), "%s/%s", options->folder, name);
    snprintf(file, sizeof(file), "%s.png", name);
    gmc_status status = ic_curves_draw(points, output, caption, path, error);
    if (status != GMC_OK)
        fprintf(stderr, "%s\n", error);
    if (status != GMC_OK && status != GMC_ERR_NOT_FOUND)
        report->lacks_files = true;
    ex_picture(report, caption, status == GMC_OK ? file : "");
}

static void draw_table(const struct ic_study *study, const struct ic_study_table *table,
                       const struct ic_study_options *options, const struct ic_points *points,
                       struct ex_report *report)
{
    if (table->figure == NULL) {
        draw_figure(study, table, options, points, NULL, report);
        return;
    }
    char *names = sim_strdup(table->figure), *rest = NULL;
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
        draw_figure(study, table, options, points, name, report);
    free(names);
}

static bool check_points(const struct ic_points *points)
{
    for (size_t i = 0; i < points->sweep->points; i++)
        if (!points->points[i].is_done) {
            fprintf(stderr, "%s: %s\n", points->sweep->family->name, points->points[i].error);
            return false;
        }
    return true;
}

static bool run_table(const struct ic_study *study, const struct ic_study_table *table,
                      const struct ic_study_options *options, struct ic_sweep *sweep,
                      struct ic_points *points, struct ex_report *report)
{
    const struct ic_family *family = ic_family_find(table->family);
    char error[IC_ERROR_MAX] = "";
    uint64_t messages = table->messages;
    GMC_ASSERT(family != NULL);
    ic_sweep_init(sweep, family);
    if (for_pairs(table->arguments, add_axis, sweep, error) != GMC_OK) {
        fprintf(stderr, "%s-%s: %s\n", study->name, table->what, error);
        return false;
    }
    if (options->is_quick && messages > 0)
        messages = messages / QUICK_PART > QUICK_LEAST ? messages / QUICK_PART : QUICK_LEAST;
    *points = (struct ic_points){.sweep = sweep,
                                 .what = table->side,
                                 .run = {.seed = 1, .messages = messages},
                                 .workers = options->workers,
                                 .is_quiet = options->is_quiet};
    ic_points_compute(points);
    if (!sim_mpi_is_root())
        return true;
    report->runs += sweep->points;
    ex_row(report, "%s-%s.csv,%s,%zu", study->name, table->what, table->family, sweep->points);
    if (!check_points(points) || !write_table(study, table, options, points))
        return false;
    draw_table(study, table, options, points, report);
    return true;
}

bool ic_study_run(const struct ic_study *study, const struct ic_study_options *options,
                  struct ex_report *report)
{
    struct ic_sweep sweeps[IC_STUDY_TABLES_MAX] = {0};
    struct ic_points tables[IC_STUDY_TABLES_MAX] = {0};
    GMC_ASSERT(study->table_count <= IC_STUDY_TABLES_MAX);
    bool is_root = sim_mpi_is_root(), ok = true;
    if (is_root &&
        !ex_report_begin(report, options->folder, study->name, study->title, study->about))
        return false;
    if (is_root)
        ex_row(report, "table,family,points");
    for (size_t i = 0; i < study->table_count && ok; i++)
        ok = run_table(study, &study->tables[i], options, &sweeps[i], &tables[i], report);
    if (is_root && study->add != NULL)
        ok = ok && study->add(tables, report);
    if (ok && is_root)
        study->judge(tables, report);
    for (size_t i = 0; i < study->table_count; i++) {
        ic_points_fini(&tables[i]);
        ic_sweep_fini(&sweeps[i]);
    }
    return ok;
}

/* ---- looking up ---- */
struct lookup {
    const struct ic_sweep *sweep;
    size_t point;
};

/* Moves the point to the value on the axis of that parameter. */
static gmc_status go_to(void *ctx, const char *name, const char *text, char *error)
{
    struct lookup *lookup = ctx;
    const struct ic_sweep *sweep = lookup->sweep;
    size_t param = ic_family_param(sweep->family, name), axis = 0, place = 0;
    double value;
    while (axis < sweep->axis_count && sweep->axes[axis].param != param)
        axis++;
    GMC_ASSERT(axis < sweep->axis_count);
    gmc_status status = ic_param_parse(&sweep->family->params[param], text, &value, error);
    if (status != GMC_OK)
        return status;
    while (place < sweep->axes[axis].count &&
           fabs(sweep->axes[axis].values[place] - value) > 1e-9 * fabs(value))
        place++;
    GMC_ASSERT(place < sweep->axes[axis].count);
    lookup->point = ic_sweep_move(sweep, lookup->point, axis, place);
    return GMC_OK;
}

static const struct ic_result *look_up(const struct ic_points *points, unsigned side,
                                       const char *place)
{
    struct lookup lookup = {points->sweep, 0};
    char error[IC_ERROR_MAX] = "";
    gmc_status status = for_pairs(place, go_to, &lookup, error);
    GMC_ASSERT(status == GMC_OK);
    const struct ic_point *point = &points->points[lookup.point];
    return side == IC_MODEL ? &point->model : &point->simulated;
}

static double look_up_figure(const struct ic_points *points, unsigned side, const char *output,
                             const char *place)
{
    size_t index = ic_family_output(points->sweep->family, output);
    GMC_ASSERT(index < points->sweep->family->output_count);
    const struct ic_figure *figure = &look_up(points, side, place)->figures[index];
    return figure->state == IC_FIGURE_KNOWN ? figure->value : (double)NAN;
}

bool ic_study_is_saturated(const struct ic_points *points, unsigned side, const char *format, ...)
{
    char place[PLACE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(place, sizeof(place), format, args);
    va_end(args);
    return look_up(points, side, place)->is_saturated;
}

double ic_study_model(const struct ic_points *points, const char *output, const char *format, ...)
{
    char place[PLACE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(place, sizeof(place), format, args);
    va_end(args);
    return look_up_figure(points, IC_MODEL, output, place);
}

double ic_study_simulated(const struct ic_points *points, const char *output, const char *format,
                          ...)
{
    char place[PLACE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(place, sizeof(place), format, args);
    va_end(args);
    return look_up_figure(points, IC_SIMULATOR, output, place);
}
