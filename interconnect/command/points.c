/* SPDX-License-Identifier: BSD-2-Clause */
/* Points over processes: results come back as text. */
#include "interconnect/command/points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "interconnect/text.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/bar.h"

struct work {
    struct ic_points *points;
    struct ic_memo memo; /* each process has its own */
    struct sim_bar bar;
};

/* ---- a result as text: what is saturated, then the figures, in lines ---- */
static void write_result(struct ic_text *out, const struct ic_family *family,
                         const struct ic_result *result)
{
    ic_text_add(out, "%d%s\n", result->is_saturated, result->where);
    for (size_t i = 0; i < family->output_count; i++) {
        const struct ic_figure *figure = &result->figures[i];
        ic_text_add(out, "%d %a %a\n", (int)figure->state, figure->value, figure->half_width);
    }
}

/* Gives what comes behind it. */
static const char *read_result(const char *text, const struct ic_family *family,
                               struct ic_result *result)
{
    size_t length = strcspn(text + 1, "\n");
    GMC_ASSERT(length < sizeof(result->where));
    result->is_saturated = text[0] == '1';
    memcpy(result->where, text + 1, length);
    result->where[length] = '\0';
    text += length + 2;
    for (size_t i = 0; i < family->output_count; i++) {
        char *end;
        struct ic_figure *figure = &result->figures[i];
        figure->state = (enum ic_figure_state)strtol(text, &end, 10);
        figure->value = strtod(end, &end);
        figure->half_width = strtod(end, &end);
        text = end + 1;
    }
    return text;
}

/* ---- one point ---- */
void ic_points_values(const struct ic_points *points, size_t point, double *values)
{
    const struct ic_family *family = points->sweep->family;
    ic_sweep_point(points->sweep, point, values);
    if (family->settle != NULL)
        family->settle(values, &points->setting);
}

static bool on_progress(void *ctx, double share)
{
    struct work *work = ctx;
    if (sim_bar_is_due(&work->bar))
        sim_bar_draw(&work->bar, share, "simulated");
    return true;
}

/* "1" and the results, or "0" and words. */
static char *compute(void *ctx, size_t n)
{
    struct work *work = ctx;
    const struct ic_points *points = work->points;
    const struct ic_family *family = points->sweep->family;
    struct ic_point *point = &points->points[n];
    double *values = sim_calloc(family->param_count, sizeof(*values));
    struct ic_text out = {0};
    struct ic_run run = points->run;
    struct ic_setting setting = points->setting;
    gmc_status status = GMC_OK;
    char error[IC_ERROR_MAX] = "";
    if (points->sweep->points == 1 && run.ctx == NULL) {
        run.on_progress = on_progress;
        run.ctx = work;
    }
    setting.memo = &work->memo;
    ic_points_values(points, n, values);
    ic_text_add(&out, "1");
    if ((points->what & IC_MODEL) != 0)
        status = ic_family_model(family, values, &setting, &point->model, error);
    if (status == GMC_OK)
        write_result(&out, family, &point->model);
    if (status == GMC_OK && (points->what & IC_SIMULATOR) != 0)
        status = ic_family_simulate(family, values, &setting, &run, &point->simulated, error);
    if (status == GMC_OK)
        write_result(&out, family, &point->simulated);
    free(values);
    if (status != GMC_OK || out.is_short) {
        ic_text_clear(&out);
        ic_text_add(&out, "0%s", error[0] != '\0' ? error : gmc_status_text(status));
    }
    return out.bytes;
}

static void take(void *ctx, size_t n, const char *text, const char *why)
{
    struct work *work = ctx;
    const struct ic_family *family = work->points->sweep->family;
    struct ic_point *point = &work->points->points[n];
    char what[64];
    point->is_done = text != NULL && text[0] == '1';
    if (point->is_done)
        read_result(read_result(text + 1, family, &point->model), family, &point->simulated);
    else
        snprintf(point->error, sizeof(point->error), "%s",
                 text != NULL  ? text + 1
                 : why != NULL ? why
                               : "it gave nothing");
    if (work->points->sweep->points > 1 && sim_bar_is_due(&work->bar)) {
        size_t all = work->points->sweep->points;
        snprintf(what, sizeof(what), "%zu of %zu points", n + 1, all);
        sim_bar_draw(&work->bar, (double)(n + 1) / (double)all, what);
    }
}

/* ---- all ---- */
static void make_room(struct ic_points *points)
{
    size_t outputs = points->sweep->family->output_count;
    points->points = sim_calloc(points->sweep->points, sizeof(*points->points));
    points->figures = sim_calloc(points->sweep->points * outputs * 2, sizeof(*points->figures));
    for (size_t i = 0; i < points->sweep->points; i++) {
        points->points[i].model.figures = points->figures + 2 * i * outputs;
        points->points[i].simulated.figures = points->figures + (2 * i + 1) * outputs;
    }
}

size_t ic_workers(size_t wanted)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted > 0)
        return wanted;
    return cores > 0 ? (size_t)cores : 1;
}

void ic_pool_run(const struct sim_pool *pool, size_t jobs, size_t workers)
{
    if (sim_mpi_ranks() > 1)
        sim_mpi_run(pool, jobs);
    else
        sim_pool_run(pool, jobs, ic_workers(workers));
}

void ic_points_compute(struct ic_points *points)
{
    struct work work = {.points = points};
    struct sim_pool pool = {&work, compute, take};
    make_room(points);
    sim_bar_init(&work.bar, !points->is_quiet && sim_mpi_is_root());
    ic_pool_run(&pool, points->sweep->points, points->workers);
    sim_bar_clear(&work.bar);
    ic_memo_fini(&work.memo);
}

void ic_points_fini(struct ic_points *points)
{
    free(points->points);
    free(points->figures);
    free(points->limits);
    points->points = NULL;
    points->figures = NULL;
    points->limits = NULL;
}
