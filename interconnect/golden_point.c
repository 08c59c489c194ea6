/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of reference tables by families. */
#include "interconnect/golden_point.h"

#include <math.h>

#include "base/assert.h"

void ic_golden_point_init(struct ic_golden_point *point, const struct ic_family *family,
                          struct ic_row *row)
{
    GMC_ASSERT(family->param_count <= IC_GOLDEN_FIGURES_MAX &&
               family->output_count <= IC_GOLDEN_FIGURES_MAX);
    *point = (struct ic_golden_point){.family = family, .row = row};
    ic_family_defaults(family, point->values);
}

void ic_golden_point_set(struct ic_golden_point *point, const char *param, const char *text)
{
    struct ic_row *row = point->row;
    size_t place = ic_family_param(point->family, param);
    GMC_ASSERT(place < point->family->param_count);
    if (row->status == GMC_OK)
        row->status =
            ic_param_parse(&point->family->params[place], text, &point->values[place], row->error);
}

void ic_golden_point_take(struct ic_golden_point *point, const char *param, const char *column)
{
    ic_golden_point_set(point, param, ic_row_text(point->row, column));
}

gmc_status ic_golden_point_model(struct ic_golden_point *point)
{
    struct ic_result result = {.figures = point->figures};
    point->side = IC_MODEL;
    if (point->row->status != GMC_OK)
        return point->row->status;
    return ic_family_model(point->family, point->values, NULL, &result, point->row->error);
}

gmc_status ic_golden_point_simulate(struct ic_golden_point *point)
{
    const struct ic_run run = {.seed = IC_GOLDEN_SEED};
    struct ic_result result = {.figures = point->figures};
    point->side = IC_SIMULATOR;
    if (point->row->status != GMC_OK)
        return point->row->status;
    return ic_family_simulate(point->family, point->values, NULL, &run, &result, point->row->error);
}

static const struct ic_figure *figure_of(const struct ic_golden_point *point, const char *output)
{
    size_t place = ic_family_output(point->family, output);
    GMC_ASSERT(place < point->family->output_count);
    return &point->figures[place];
}

double ic_golden_point_value(const struct ic_golden_point *point, const char *output)
{
    const struct ic_figure *figure = figure_of(point, output);
    return figure->state == IC_FIGURE_KNOWN ? figure->value : (double)NAN;
}

void ic_golden_point_put(const struct ic_golden_point *point, const char *output,
                         const char *column, const char *interval)
{
    const struct ic_figure *figure = figure_of(point, output);
    if (figure->state == IC_FIGURE_KNOWN)
        ic_row_put(point->row, column, figure->value);
    else if (figure->state == IC_FIGURE_SATURATED && point->side == IC_SIMULATOR)
        ic_row_put(point->row, column, INFINITY);
    else
        ic_row_put_none(point->row, column);
    if (interval == NULL)
        return;
    if (figure->state == IC_FIGURE_KNOWN)
        ic_row_put(point->row, interval, figure->half_width);
    else
        ic_row_put_none(point->row, interval);
}
