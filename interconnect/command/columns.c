/* SPDX-License-Identifier: BSD-2-Clause */
/* Which columns there are, and what stands in them. */
#include "interconnect/command/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim-wan/mem.h"

static void add(struct ic_columns *columns, enum ic_column_kind kind, size_t index,
                const char *name, const char *suffix, const char *unit)
{
    struct ic_column *column = &columns->list[columns->count++];
    *column = (struct ic_column){.kind = kind, .index = index};
    snprintf(column->unit, sizeof(column->unit), "%s", unit);
    snprintf(column->name, sizeof(column->name), "%s%s", name, suffix);
}

/* What it is relative to stands in its unit. */
static void add_error(struct ic_columns *columns, const struct ic_output *output, size_t index)
{
    char unit[64] = "%";
    double floor = ic_output_floor(output);
    if (floor > 0)
        snprintf(unit, sizeof(unit), "%% of at least %g%s%s", floor,
                 output->unit[0] != '\0' ? " " : "", output->unit);
    add(columns, IC_COLUMN_ERROR, index, output->name, "_error", unit);
}

/* When both are there, names say which is which. */
static void add_output(struct ic_columns *columns, const struct ic_output *output, size_t index,
                       unsigned what)
{
    unsigned whose = output->whose & what;
    bool both = what == IC_BOTH;
    if ((whose & IC_MODEL) != 0)
        add(columns, IC_COLUMN_MODEL, index, output->name, both ? "_model" : "", output->unit);
    if ((whose & IC_SIMULATOR) == 0)
        return;
    add(columns, IC_COLUMN_SIMULATED, index, output->name, both ? "_simulated" : "", output->unit);
    add(columns, IC_COLUMN_INTERVAL, index, output->name, "_ci95", output->unit);
    if (whose == IC_BOTH)
        add_error(columns, output, index);
}

/* From which load on it is saturated. */
static void add_limits(struct ic_columns *columns, const struct ic_points *points)
{
    const struct ic_family *family = points->sweep->family;
    const char *unit = family->params[ic_family_param(family, family->load)].unit;
    bool both = points->what == IC_BOTH;
    if ((points->what & IC_MODEL) != 0 && family->limit != NULL)
        add(columns, IC_COLUMN_LIMIT_MODEL, 0, "saturation_load", both ? "_model" : "", unit);
    if ((points->what & IC_SIMULATOR) != 0)
        add(columns, IC_COLUMN_LIMIT_SIMULATED, 0, "saturation_load", both ? "_simulated" : "",
            unit);
}

void ic_columns_init(struct ic_columns *columns, const struct ic_points *points)
{
    const struct ic_family *family = points->sweep->family;
    *columns = (struct ic_columns){0};
    columns->list =
        sim_calloc(family->param_count + 4 * family->output_count + 3, sizeof(*columns->list));
    for (size_t i = 0; i < family->param_count; i++)
        if ((family->params[i].whose & points->what) != 0)
            add(columns, IC_COLUMN_PARAM, i, family->params[i].name, "", family->params[i].unit);
    for (size_t i = 0; i < family->output_count; i++)
        add_output(columns, &family->outputs[i], i, points->what);
    if (points->limits != NULL)
        add_limits(columns, points);
    if (family->load != NULL)
        add(columns, IC_COLUMN_WHERE, 0, "saturated", "", "");
}

void ic_columns_fini(struct ic_columns *columns)
{
    free(columns->list);
    *columns = (struct ic_columns){0};
}

static struct ic_cell number(double value)
{
    return (struct ic_cell){true, value, NULL};
}

static struct ic_cell word(const char *text)
{
    return (struct ic_cell){false, 0, text};
}

static struct ic_cell param_cell(const struct ic_points *points, size_t point, size_t index)
{
    const struct ic_family *family = points->sweep->family;
    double *values = sim_calloc(family->param_count, sizeof(*values));
    ic_points_values(points, point, values);
    double value = values[index];
    free(values);
    if (family->params[index].kind == IC_CHOICE)
        return word(family->params[index].choices[(size_t)value]);
    return number(value);
}

static struct ic_cell figure_cell(const struct ic_figure *figure, double value)
{
    switch (figure->state) {
    case IC_FIGURE_KNOWN:
        return isfinite(value) ? number(value) : word("none");
    case IC_FIGURE_SATURATED:
        return word("saturated");
    default:
        return word("none");
    }
}

static struct ic_cell error_cell(const struct ic_figure *model, const struct ic_figure *simulated,
                                 double floor)
{
    if (model->state != IC_FIGURE_KNOWN)
        return figure_cell(model, 0);
    double whole = fmax(fabs(simulated->value), floor);
    return figure_cell(simulated, (model->value - simulated->value) / whole * 100);
}

static struct ic_cell limit_cell(double load)
{
    return isfinite(load) ? number(load) : word("none");
}

/* Of the simulator, which has seen it, before the model. */
static struct ic_cell where_cell(const struct ic_point *point)
{
    const struct ic_result *result =
        point->simulated.is_saturated ? &point->simulated : &point->model;
    if (!result->is_saturated)
        return word("");
    return word(result->where[0] != '\0' ? result->where : "saturated");
}

struct ic_cell ic_columns_cell(const struct ic_column *column, const struct ic_points *points,
                               size_t point)
{
    const struct ic_point *it = &points->points[point];
    const struct ic_figure *model = &it->model.figures[column->index];
    const struct ic_figure *simulated = &it->simulated.figures[column->index];
    switch (column->kind) {
    case IC_COLUMN_PARAM:
        return param_cell(points, point, column->index);
    case IC_COLUMN_MODEL:
        return figure_cell(model, model->value);
    case IC_COLUMN_SIMULATED:
        return figure_cell(simulated, simulated->value);
    case IC_COLUMN_INTERVAL:
        return figure_cell(simulated, simulated->half_width);
    case IC_COLUMN_ERROR:
        return error_cell(model, simulated,
                          ic_output_floor(&points->sweep->family->outputs[column->index]));
    case IC_COLUMN_LIMIT_MODEL:
        return limit_cell(points->limits[point].model);
    case IC_COLUMN_LIMIT_SIMULATED:
        return limit_cell(points->limits[point].simulated);
    default:
        return where_cell(it);
    }
}
