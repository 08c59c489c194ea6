/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves are the points that differ in their load alone; each is known by its first point. */
#include "interconnect/command/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/saturation.h"
#include "interconnect/text.h"
#include "sim-wan/mem.h"
#include "sim-wan/run/bar.h"
#include "sim-wan/run/pool.h"

struct search {
    struct ic_points *points;
    size_t axis;    /* of the load; the number of axes: it has one value */
    size_t *curves; /* first points */
    size_t count;
    struct ic_limits *limits; /* by curve */
    struct ic_memo memo;
    struct sim_bar bar;
};

static size_t axis_of_load(const struct ic_sweep *sweep)
{
    size_t load = ic_family_param(sweep->family, sweep->family->load), axis = 0;
    while (axis < sweep->axis_count && sweep->axes[axis].param != load)
        axis++;
    return axis;
}

static size_t first_of(const struct search *search, size_t point)
{
    const struct ic_sweep *sweep = search->points->sweep;
    return search->axis < sweep->axis_count ? ic_sweep_move(sweep, point, search->axis, 0) : point;
}

static double load_of(const struct ic_points *points, size_t point, double *values)
{
    const struct ic_family *family = points->sweep->family;
    ic_points_values(points, point, values);
    return values[ic_family_param(family, family->load)];
}

/* What the points of a curve say. */
static struct ic_saturation known_of(const struct search *search, size_t first, double *values)
{
    const struct ic_points *points = search->points;
    const struct ic_sweep *sweep = points->sweep;
    struct ic_saturation known = {.sound = 0, .saturated = INFINITY};
    size_t loads = search->axis < sweep->axis_count ? sweep->axes[search->axis].count : 1;
    for (size_t i = 0; i < loads; i++) {
        size_t at = loads > 1 ? ic_sweep_move(sweep, first, search->axis, i) : first;
        double load = load_of(points, at, values);
        if (points->points[at].is_done && points->points[at].simulated.is_saturated)
            known.saturated = fmin(known.saturated, load);
    }
    for (size_t i = 0; i < loads; i++) {
        size_t at = loads > 1 ? ic_sweep_move(sweep, first, search->axis, i) : first;
        double load = load_of(points, at, values);
        if (points->points[at].is_done && !points->points[at].simulated.is_saturated &&
            load < known.saturated)
            known.sound = fmax(known.sound, load);
    }
    return known;
}

static double *new_values(const struct ic_points *points)
{
    return sim_calloc(points->sweep->family->param_count, sizeof(double));
}

/* ---- searching ---- */
static char *find(void *ctx, size_t n)
{
    struct search *search = ctx;
    const struct ic_points *points = search->points;
    const struct ic_family *family = points->sweep->family;
    struct ic_setting setting = points->setting;
    struct ic_limits limits = {.model = NAN, .simulated = NAN};
    struct ic_text out = {0};
    char error[IC_ERROR_MAX] = "";
    double *values = new_values(points);
    setting.memo = &search->memo;
    if ((points->what & IC_SIMULATOR) != 0) {
        const struct ic_saturation known = known_of(search, search->curves[n], values);
        struct ic_saturation found;
        ic_points_values(points, search->curves[n], values);
        if (ic_saturation_find(family, values, &setting, &points->run, &known, &found, error) ==
            GMC_OK)
            limits.simulated = found.saturated;
    }
    ic_points_values(points, search->curves[n], values);
    if ((points->what & IC_MODEL) != 0 && family->limit != NULL &&
        ic_family_limit(family, values, &setting, &limits.model, error) != GMC_OK)
        limits.model = NAN;
    free(values);
    ic_text_add(&out, "%a %a", limits.model, limits.simulated);
    return out.bytes;
}

static void take(void *ctx, size_t n, const char *text, const char *why)
{
    struct search *search = ctx;
    char what[64], *end;
    (void)why;
    search->limits[n] = (struct ic_limits){.model = NAN, .simulated = NAN};
    if (text != NULL) {
        search->limits[n].model = strtod(text, &end);
        search->limits[n].simulated = strtod(end, NULL);
    }
    if (sim_bar_is_due(&search->bar)) {
        snprintf(what, sizeof(what), "saturation of %zu of %zu curves", n + 1, search->count);
        sim_bar_draw(&search->bar, (double)(n + 1) / (double)search->count, what);
    }
}

/* Other ranks of MPI have no figures: what a search begins with they get from the root. */
static void share_figures(struct ic_points *points)
{
    size_t count = points->sweep->points;
    unsigned char *states = sim_calloc(count, 1);
    for (size_t i = 0; i < count; i++)
        states[i] = (unsigned char)(points->points[i].is_done +
                                    2 * points->points[i].simulated.is_saturated);
    sim_mpi_share(states, count);
    for (size_t i = 0; i < count; i++) {
        points->points[i].is_done = (states[i] & 1) != 0;
        points->points[i].simulated.is_saturated = (states[i] & 2) != 0;
    }
    free(states);
}

static void search_all(struct search *search)
{
    struct ic_points *points = search->points;
    const struct sim_pool pool = {search, find, take};
    search->limits = sim_calloc(search->count, sizeof(*search->limits));
    sim_bar_init(&search->bar, !points->is_quiet && sim_mpi_is_root());
    share_figures(points);
    ic_pool_run(&pool, search->count, points->workers);
    sim_bar_clear(&search->bar);
    ic_memo_fini(&search->memo);
    points->limits = sim_calloc(points->sweep->points, sizeof(*points->limits));
    for (size_t i = 0; i < points->sweep->points; i++)
        for (size_t j = 0; j < search->count; j++)
            if (search->curves[j] == first_of(search, i))
                points->limits[i] = search->limits[j];
    free(search->limits);
}

/* ---- words ---- */
static void tell(const struct search *search, size_t point, double *values)
{
    struct ic_points *points = search->points;
    struct ic_result *result = &points->points[point].simulated;
    size_t length = strlen(result->where);
    char *end = result->where + length;
    if (!result->is_saturated)
        return;
    if (points->limits != NULL && isfinite(points->limits[point].simulated)) {
        snprintf(end, sizeof(result->where) - length, "%sin runs from load %.4g on",
                 length > 0 ? "; " : "", points->limits[point].simulated);
        return;
    }
    struct ic_saturation known = known_of(search, first_of(search, point), values);
    if (known.sound > 0)
        snprintf(end, sizeof(result->where) - length, "%snot at load %.4g yet",
                 length > 0 ? "; " : "", known.sound);
}

void ic_limits_find(struct ic_points *points, bool is_searched)
{
    struct search search = {.points = points};
    const struct ic_sweep *sweep = points->sweep;
    if (sweep->family->load == NULL)
        return;
    double *values = new_values(points);
    search.axis = axis_of_load(sweep);
    search.curves = sim_calloc(sweep->points, sizeof(*search.curves));
    for (size_t i = 0; i < sweep->points; i++)
        if (first_of(&search, i) == i)
            search.curves[search.count++] = i;
    if (is_searched)
        search_all(&search);
    for (size_t i = 0; i < sweep->points; i++)
        if (points->points[i].is_done)
            tell(&search, i, values);
    free(search.curves);
    free(values);
}
