/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists, ranges and their combinations. */
#include "interconnect/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of one element of a list; a number in full has no more. */
#define ELEMENT_MAX 128u
/* How far a range may be from its end to have it: steps like 0.1 do not add up. */
#define RANGE_SLACK 1e-9

void ic_sweep_init(struct ic_sweep *sweep, const struct ic_family *family)
{
    *sweep = (struct ic_sweep){.family = family, .points = 1};
}

void ic_sweep_fini(struct ic_sweep *sweep)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        free(sweep->axes[i].values);
    free(sweep->axes);
    *sweep = (struct ic_sweep){0};
}

static gmc_status add_value(struct ic_axis *axis, double value, char *error)
{
    if (axis->count == IC_SWEEP_POINTS_MAX)
        return ic_refuse(error, "more than %u values are asked for", IC_SWEEP_POINTS_MAX);
    if (axis->count == axis->capacity) {
        size_t capacity = axis->capacity * 2 + 16;
        double *values = realloc(axis->values, capacity * sizeof(*values));
        if (values == NULL)
            return GMC_ERR_NOMEM;
        axis->values = values;
        axis->capacity = capacity;
    }
    axis->values[axis->count++] = value;
    return GMC_OK;
}

static gmc_status add_all(struct ic_axis *axis, const struct ic_param *param, char *error)
{
    gmc_status status = GMC_OK;
    for (size_t i = 0; param->choices[i] != NULL && status == GMC_OK; i++)
        status = add_value(axis, (double)i, error);
    return status;
}

/* "a..b/step" or "a..b", cut at the dots. */
static gmc_status add_range(struct ic_axis *axis, const struct ic_param *param, const char *first,
                            char *last, char *error)
{
    double from, to, step = 1;
    char *slash = strchr(last, '/'), *end;
    if (slash != NULL)
        *slash = '\0';
    gmc_status status = ic_param_parse(param, first, &from, error);
    if (status == GMC_OK)
        status = ic_param_parse(param, last, &to, error);
    if (status != GMC_OK)
        return status;
    if (slash == NULL && param->kind != IC_COUNT)
        return ic_refuse(error, "%s: a range needs its step: %.40s..%.40s/STEP", param->name, first,
                         last);
    if (slash != NULL) {
        step = strtod(slash + 1, &end);
        if (end == slash + 1 || *end != '\0' || !isfinite(step) || step <= 0)
            return ic_refuse(error, "%s: the step is \"%.40s\"; it must be a number above 0",
                             param->name, slash + 1);
    }
    if (to < from)
        return ic_refuse(error, "%s: the range %.40s..%.40s is empty", param->name, first, last);
    double steps = floor((to - from) / step + RANGE_SLACK);
    if (!(steps < IC_SWEEP_POINTS_MAX))
        return ic_refuse(error, "%s: the range has more than %u values", param->name,
                         IC_SWEEP_POINTS_MAX);
    for (double i = 0; i <= steps && status == GMC_OK; i++) {
        double value = from + i * step;
        status = ic_param_check(param, value < to ? value : to, error);
        if (status == GMC_OK)
            status = add_value(axis, value < to ? value : to, error);
    }
    return status;
}

static gmc_status add_element(struct ic_axis *axis, const struct ic_param *param, char *element,
                              char *error)
{
    double value;
    char *dots = strstr(element, "..");
    if (param->kind == IC_CHOICE && strcmp(element, "all") == 0)
        return add_all(axis, param, error);
    if (param->kind != IC_CHOICE && dots != NULL) {
        *dots = '\0';
        return add_range(axis, param, element, dots + 2, error);
    }
    gmc_status status = ic_param_parse(param, element, &value, error);
    return status == GMC_OK ? add_value(axis, value, error) : status;
}

static gmc_status add_list(struct ic_axis *axis, const struct ic_param *param, const char *text,
                           char *error)
{
    gmc_status status = GMC_OK;
    for (const char *at = text; at != NULL && status == GMC_OK;) {
        char element[ELEMENT_MAX];
        size_t length = strcspn(at, ",");
        if (length >= sizeof(element))
            return ic_refuse(error, "%s: \"%.40s...\" is too long for a value", param->name, at);
        memcpy(element, at, length);
        element[length] = '\0';
        at = at[length] == ',' ? at + length + 1 : NULL;
        status = add_element(axis, param, element, error);
    }
    return status;
}

static gmc_status check_new(const struct ic_sweep *sweep, const char *name, size_t param,
                            char *error)
{
    if (param == sweep->family->param_count)
        return ic_refuse(error, "%s has no parameter %.60s", sweep->family->name, name);
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (sweep->axes[i].param == param)
            return ic_refuse(error, "%s is given twice; a list has commas", name);
    return GMC_OK;
}

gmc_status ic_sweep_add(struct ic_sweep *sweep, const char *name, const char *text, char *error)
{
    struct ic_axis axis = {.param = ic_family_param(sweep->family, name)};
    gmc_status status = check_new(sweep, name, axis.param, error);
    if (status == GMC_OK)
        status = add_list(&axis, &sweep->family->params[axis.param], text, error);
    if (status == GMC_OK && axis.count > IC_SWEEP_POINTS_MAX / sweep->points)
        status = ic_refuse(error, "these are more than %u points", IC_SWEEP_POINTS_MAX);
    if (status == GMC_OK) {
        struct ic_axis *axes = realloc(sweep->axes, (sweep->axis_count + 1) * sizeof(*axes));
        if (axes != NULL) {
            sweep->axes = axes;
            sweep->axes[sweep->axis_count++] = axis;
            sweep->points *= axis.count;
            return GMC_OK;
        }
        status = GMC_ERR_NOMEM;
    }
    free(axis.values);
    return status;
}

/* How many points stand between two neighbours on an axis. */
static size_t stride(const struct ic_sweep *sweep, size_t axis)
{
    size_t stride = 1;
    for (size_t i = axis + 1; i < sweep->axis_count; i++)
        stride *= sweep->axes[i].count;
    return stride;
}

size_t ic_sweep_place(const struct ic_sweep *sweep, size_t point, size_t axis)
{
    return point / stride(sweep, axis) % sweep->axes[axis].count;
}

size_t ic_sweep_move(const struct ic_sweep *sweep, size_t point, size_t axis, size_t place)
{
    size_t step = stride(sweep, axis);
    return point - ic_sweep_place(sweep, point, axis) * step + place * step;
}

void ic_sweep_point(const struct ic_sweep *sweep, size_t point, double *values)
{
    ic_family_defaults(sweep->family, values);
    for (size_t i = 0; i < sweep->axis_count; i++)
        values[sweep->axes[i].param] = sweep->axes[i].values[ic_sweep_place(sweep, point, i)];
}
