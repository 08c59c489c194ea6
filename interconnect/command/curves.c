/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves by gnuplot. */
#include "interconnect/command/curves.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interconnect/text.h"
#include "sim-wan/mem.h"
#include "sim-wan/plot/plot.h"

#define WIDTH 1000u
#define HEIGHT 640u
/* A model's points beside its pole, up to a tenth of all, would leave nothing to see of the others
 * when they are so many times higher. */
#define POLE_FACTOR 8
#define POLE_SHARE 10
#define POLE_ROOM 1.5 /* of the highest that is drawn */

_Static_assert(IC_CURVES_ERROR_MAX >= SIM_PLOT_ERROR_MAX, "words of a plot fit");

struct curves {
    const struct ic_points *points;
    const struct ic_family *family;
    size_t output;
    const char *caption;
    size_t x; /* axis */
    struct sim_plot plot;
    size_t drawn;
};

/* The axis with most values among those of numbers. INVALID with words: none has two. */
static gmc_status choose_axis(const struct ic_sweep *sweep, size_t *x, char *error)
{
    size_t most = 1;
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (sweep->family->params[sweep->axes[i].param].kind != IC_CHOICE &&
            sweep->axes[i].count > most) {
            most = sweep->axes[i].count;
            *x = i;
        }
    if (most > 1)
        return GMC_OK;
    snprintf(error, IC_CURVES_ERROR_MAX,
             "a picture needs a parameter with several numbers, such as 2..16");
    return GMC_ERR_INVALID;
}

/* The values of a point: "algorithm S-torus, k 8". Those that tell its line from the others, or
 * those that all lines have. */
static void name_values(const struct curves *curves, size_t first, bool of_all, struct ic_text *out)
{
    const struct ic_sweep *sweep = curves->points->sweep;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct ic_axis *axis = &sweep->axes[i];
        const struct ic_param *param = &curves->family->params[axis->param];
        double value = axis->values[ic_sweep_place(sweep, first, i)];
        if (i == curves->x || (axis->count == 1) != of_all)
            continue;
        ic_text_add(out, "%s", out->length > 0 ? ", " : "");
        if (param->kind == IC_CHOICE && !of_all)
            ic_text_add(out, "%s", param->choices[(size_t)value]);
        else if (param->kind == IC_CHOICE)
            ic_text_add(out, "%s %s", param->name, param->choices[(size_t)value]);
        else
            ic_text_add(out, "%s %g", param->name, value);
    }
}

/* NULL: it has none. */
static const struct ic_figure *figure_of(const struct curves *curves, size_t point, unsigned side)
{
    const struct ic_point *at = &curves->points->points[point];
    const struct ic_result *result = side == IC_MODEL ? &at->model : &at->simulated;
    const struct ic_figure *figure = &result->figures[curves->output];
    if (!at->is_done || (curves->points->what & side) == 0 ||
        (curves->family->outputs[curves->output].whose & side) == 0)
        return NULL;
    return figure->state == IC_FIGURE_KNOWN ? figure : NULL;
}

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where the picture ends above; 0: with its highest point. */
static double find_top(const struct curves *curves)
{
    size_t points = curves->points->sweep->points, count = 0;
    double *values = sim_alloc(2 * points * sizeof(*values)), top = 0;
    for (size_t i = 0; i < points; i++)
        for (unsigned side = IC_MODEL; side <= IC_SIMULATOR; side <<= 1) {
            const struct ic_figure *figure = figure_of(curves, i, side);
            if (figure != NULL)
                values[count++] = figure->value;
        }
    qsort(values, count, sizeof(*values), compare_values);
    for (size_t i = count - count / POLE_SHARE; i < count && top == 0; i++)
        if (i > 0 && values[i - 1] > 0 && values[i] > POLE_FACTOR * values[i - 1])
            top = POLE_ROOM * values[i - 1];
    free(values);
    return top;
}

/* One line's points of one side, as a data block; false when it has none. */
static bool put_data(struct curves *curves, size_t first, unsigned side)
{
    const struct ic_sweep *sweep = curves->points->sweep;
    const struct ic_axis *axis = &sweep->axes[curves->x];
    bool any = false;
    for (size_t place = 0; place < axis->count; place++) {
        const struct ic_figure *figure =
            figure_of(curves, ic_sweep_move(sweep, first, curves->x, place), side);
        if (figure == NULL)
            continue;
        fprintf(curves->plot.data, "%.10g %.10g %.10g\n", axis->values[place], figure->value,
                isfinite(figure->half_width) ? figure->half_width : 0);
        any = true;
    }
    if (any)
        fputs("\n\n", curves->plot.data);
    return any;
}

static void put_line(struct curves *curves, size_t first, unsigned side, size_t colour)
{
    struct ic_text name = {0};
    if (!put_data(curves, first, side))
        return;
    name_values(curves, first, false, &name);
    if (curves->points->what == IC_BOTH)
        ic_text_add(&name, "%s%s", name.length > 0 ? ", " : "",
                    side == IC_MODEL ? "model" : "simulator");
    fprintf(curves->plot.script, "%s \\\n  data index %zu using %s linetype %zu %s title ",
            curves->drawn == 0 ? "plot" : ",", curves->drawn,
            side == IC_MODEL ? "1:2 with lines" : "1:2:3 with yerrorlines", colour,
            side == IC_MODEL ? "linewidth 2" : "dashtype 2 pointtype 7 pointsize 0.7");
    sim_gnuplot_text(curves->plot.script, name.bytes != NULL ? name.bytes : "");
    ic_text_fini(&name);
    curves->drawn++;
}

/* What it shows, and below the values that it shows it for. */
static void put_title(const struct curves *curves)
{
    FILE *out = curves->plot.script;
    struct ic_text values = {0};
    name_values(curves, 0, true, &values);
    fputs("set title ", out);
    sim_gnuplot_text(out, curves->caption != NULL ? curves->caption : curves->family->title);
    if (values.length > 0) {
        fputs(".\"\\n\".", out);
        sim_gnuplot_text(out, values.bytes);
    }
    fputc('\n', out);
    ic_text_fini(&values);
}

static void put_top(const struct curves *curves)
{
    double top = find_top(curves);
    if (top > 0)
        fprintf(curves->plot.script,
                "set yrange [*:%.10g]\n"
                "set label \"higher points are not drawn\" at graph 0.02, 0.97\n",
                top);
}

static void put_label(FILE *out, const char *axis, const char *name, const char *unit)
{
    char text[128];
    snprintf(text, sizeof(text), "%s%s%s%s", name, unit[0] != '\0' ? " [" : "", unit,
             unit[0] != '\0' ? "]" : "");
    fprintf(out, "set %slabel ", axis);
    sim_gnuplot_text(out, text);
    fputc('\n', out);
}

/* Sizes that double from each to the next are read better so. */
static bool is_logarithmic(const struct ic_axis *axis)
{
    for (size_t i = 1; i < axis->count; i++)
        if (axis->values[i] < 2 * axis->values[i - 1])
            return false;
    return axis->count > 3 && axis->values[0] > 0;
}

static void put_script(struct curves *curves)
{
    const struct ic_sweep *sweep = curves->points->sweep;
    const struct ic_param *x = &curves->family->params[sweep->axes[curves->x].param];
    const struct ic_output *y = &curves->family->outputs[curves->output];
    FILE *out = curves->plot.script;
    size_t colour = 0;
    put_title(curves);
    fputs("set key outside right top\nset border 3\nset tics nomirror\n"
          "set offsets 0, graph 0.02, graph 0.05, 0\n",
          out);
    put_top(curves);
    if (is_logarithmic(&sweep->axes[curves->x]))
        fputs("set logscale x 2\n", out);
    put_label(out, "x", x->name, x->unit);
    put_label(out, "y", y->name, y->unit);
    for (size_t first = 0; first < sweep->points; first++) {
        if (ic_sweep_place(sweep, first, curves->x) != 0)
            continue;
        colour++;
        put_line(curves, first, IC_MODEL, colour);
        put_line(curves, first, IC_SIMULATOR, colour);
    }
    fputc('\n', out);
}

/* "out/curve.svg" is the folder "out/" and the name "curve". */
static void split_file(const char *file, char **folder, char **name)
{
    const char *slash = strrchr(file, '/');
    size_t length = slash != NULL ? (size_t)(slash - file) + 1 : 0;
    *folder = sim_strdup(file);
    (*folder)[length] = '\0';
    *name = sim_strdup(file + length);
    char *dot = strrchr(*name, '.');
    if (dot != NULL && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0))
        *dot = '\0';
}

gmc_status ic_curves_check(const struct ic_sweep *sweep, const char *file, char *error)
{
    char *folder, *name;
    size_t x = 0;
    gmc_status status = choose_axis(sweep, &x, error);
    if (status != GMC_OK)
        return status;
    split_file(file, &folder, &name);
    if (access(folder[0] != '\0' ? folder : ".", W_OK | X_OK) != 0) {
        snprintf(error, IC_CURVES_ERROR_MAX, "%s: %s", file, strerror(errno));
        status = GMC_ERR_IO;
    }
    free(folder);
    free(name);
    return status;
}

gmc_status ic_curves_draw(const struct ic_points *points, size_t output, const char *caption,
                          const char *file, char *error)
{
    struct curves curves = {.points = points,
                            .family = points->sweep->family,
                            .output = output,
                            .caption = caption};
    char *folder, *name;
    gmc_status status = choose_axis(points->sweep, &curves.x, error);
    if (status != GMC_OK)
        return status;
    split_file(file, &folder, &name);
    status = sim_plot_open(&curves.plot, folder, name, WIDTH, HEIGHT, error);
    free(folder);
    free(name);
    if (status != GMC_OK)
        return status;
    put_script(&curves);
    if (curves.drawn == 0)
        fputs(
            "set label \"no point has a figure\" at graph 0.3, 0.5\nplot [0:1] [0:1] NaN notitle\n",
            curves.plot.script);
    return sim_plot_close(&curves.plot, error);
}

size_t ic_curves_figures(const struct ic_points *points, size_t output)
{
    const struct curves curves = {.points = points,
                                  .family = points->sweep->family,
                                  .output = output};
    size_t figures = 0;
    for (size_t i = 0; i < points->sweep->points; i++)
        figures +=
            figure_of(&curves, i, IC_MODEL) != NULL || figure_of(&curves, i, IC_SIMULATOR) != NULL;
    return figures;
}
