/* SPDX-License-Identifier: BSD-2-Clause */
/* What is the same for all families: reading and checking parameters, checking results. */
#include "interconnect/family.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "interconnect/runs.h"

const struct ic_family *ic_family_find(const char *name)
{
    for (size_t i = 0; i < ic_family_count; i++)
        if (strcmp(ic_families[i]->name, name) == 0)
            return ic_families[i];
    return NULL;
}

size_t ic_family_param(const struct ic_family *family, const char *name)
{
    size_t i = 0;
    while (i < family->param_count && strcmp(family->params[i].name, name) != 0)
        i++;
    return i;
}

size_t ic_family_output(const struct ic_family *family, const char *name)
{
    size_t i = 0;
    while (i < family->output_count && strcmp(family->outputs[i].name, name) != 0)
        i++;
    return i;
}

void ic_family_defaults(const struct ic_family *family, double *values)
{
    for (size_t i = 0; i < family->param_count; i++)
        values[i] = family->params[i].usual;
}

/* ---- parameters ---- */
static size_t choice_count(const struct ic_param *param)
{
    size_t count = 0;
    while (param->choices[count] != NULL)
        count++;
    return count;
}

static gmc_status refuse_choice(const struct ic_param *param, const char *text, char *error)
{
    char list[IC_ERROR_MAX] = "";
    size_t at = 0;
    for (size_t i = 0; param->choices[i] != NULL && at < sizeof(list); i++)
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i > 0 ? ", " : "",
                               param->choices[i]);
    return ic_refuse(error, "%s is \"%.40s\"; it must be one of %.160s", param->name, text, list);
}

static gmc_status parse_choice(const struct ic_param *param, const char *text, double *value,
                               char *error)
{
    for (size_t i = 0; param->choices[i] != NULL; i++)
        if (strcmp(param->choices[i], text) == 0) {
            *value = (double)i;
            return GMC_OK;
        }
    return refuse_choice(param, text, error);
}

gmc_status ic_param_parse(const struct ic_param *param, const char *text, double *value,
                          char *error)
{
    char *end;
    if (param->kind == IC_CHOICE)
        return parse_choice(param, text, value, error);
    double number = strtod(text, &end);
    if (end != text && param->kind == IC_COUNT && (*end == 'K' || *end == 'M'))
        number *= *end++ == 'K' ? 1024 : 1048576;
    if (end == text || *end != '\0')
        return ic_refuse(error, "%s is \"%.60s\"; it must be a number from %.10g to %.10g",
                         param->name, text, param->least, param->most);
    gmc_status status = ic_param_check(param, number, error);
    if (status == GMC_OK)
        *value = number + 0.0; /* -0 is 0 in the table, too */
    return status;
}

gmc_status ic_param_check(const struct ic_param *param, double value, char *error)
{
    char what[IC_ERROR_MAX];
    if (param->kind == IC_CHOICE) {
        if (value >= 0 && value < (double)choice_count(param) && value == floor(value))
            return GMC_OK;
        snprintf(what, sizeof(what), "%g", value);
        return refuse_choice(param, what, error);
    }
    if (param->kind == IC_COUNT && isfinite(value) && value != floor(value))
        return ic_refuse(error, "%s (%.100s) is %.10g; it must be a whole number", param->name,
                         param->about, value);
    if (isfinite(value) && value >= param->least && value <= param->most)
        return GMC_OK;
    return ic_refuse(error, "%s (%.100s) is %.10g; it must be %.10g to %.10g", param->name,
                     param->about, value, param->least, param->most);
}

/* ---- results ---- */
double ic_output_floor(const struct ic_output *output)
{
    if ((output->whose & IC_SMALL) == 0)
        return 0;
    return output->unit[0] != '\0' ? 1 : 0.01;
}

void ic_result_set(struct ic_result *result, size_t output, double value)
{
    ic_result_set_interval(result, output, value, 0);
}

void ic_result_set_interval(struct ic_result *result, size_t output, double value,
                            double half_width)
{
    struct ic_figure *figure = &result->figures[output];
    if (isfinite(value))
        *figure = (struct ic_figure){IC_FIGURE_KNOWN, value, half_width};
    else
        *figure = (struct ic_figure){IC_FIGURE_SATURATED, 0, 0};
}

void ic_result_saturated(struct ic_result *result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(result->where, sizeof(result->where), format, args);
    va_end(args);
    result->is_saturated = true;
}

void ic_result_set_measured(struct ic_result *result, size_t output, double value)
{
    ic_result_set_interval(result, output, value, INFINITY);
}

static gmc_status check_values(const struct ic_family *family, const double *values, unsigned whose,
                               char *error)
{
    gmc_status status = GMC_OK;
    for (size_t i = 0; i < family->param_count && status == GMC_OK; i++)
        if ((family->params[i].whose & whose) != 0)
            status = ic_param_check(&family->params[i], values[i], error);
    return status;
}

static void empty(const struct ic_family *family, struct ic_result *result)
{
    result->is_saturated = false;
    result->warmup = 0;
    result->where[0] = '\0';
    for (size_t i = 0; i < family->output_count; i++)
        result->figures[i] = (struct ic_figure){0};
}

/* What is saturated leaves no other figure open; and nobody says figures of the other side. */
static void finish(const struct ic_family *family, unsigned whose, struct ic_result *result)
{
    bool all = result->is_saturated;
    for (size_t i = 0; i < family->output_count; i++) {
        struct ic_figure *figure = &result->figures[i];
        bool is_mine = (family->outputs[i].whose & whose) != 0;
        GMC_ASSERT(is_mine || figure->state == IC_FIGURE_NONE);
        if (is_mine && all && figure->state == IC_FIGURE_NONE)
            figure->state = IC_FIGURE_SATURATED;
        result->is_saturated |= figure->state == IC_FIGURE_SATURATED;
    }
}

/* A memo for this point alone, when there is none for several. */
static struct ic_setting setting_of(const struct ic_setting *given, struct ic_memo *own)
{
    struct ic_setting setting = given != NULL ? *given : (struct ic_setting){0};
    if (setting.memo == NULL)
        setting.memo = own;
    return setting;
}

gmc_status ic_family_model(const struct ic_family *family, const double *values,
                           const struct ic_setting *given, struct ic_result *result, char *error)
{
    struct ic_memo own = {.count = 0};
    const struct ic_setting setting = setting_of(given, &own);
    if (family->model == NULL) {
        ic_refuse(error, "%s has no model", family->name);
        return GMC_ERR_NOT_FOUND;
    }
    empty(family, result);
    gmc_status status = check_values(family, values, IC_MODEL, error);
    if (status == GMC_OK)
        status = family->model(values, &setting, result, error);
    if (status == GMC_OK)
        finish(family, IC_MODEL, result);
    ic_memo_fini(&own);
    return status;
}

gmc_status ic_family_simulate(const struct ic_family *family, const double *values,
                              const struct ic_setting *given, const struct ic_run *run,
                              struct ic_result *result, char *error)
{
    struct ic_memo own = {.count = 0};
    const struct ic_setting setting = setting_of(given, &own);
    if (family->simulate == NULL) {
        ic_refuse(error, "%s has no simulator", family->name);
        return GMC_ERR_NOT_FOUND;
    }
    empty(family, result);
    gmc_status status = check_values(family, values, IC_SIMULATOR, error);
    if (status == GMC_OK && family->messages > 0)
        status = ic_runs_simulate(family, values, &setting, run, result, error);
    else if (status == GMC_OK)
        status = family->simulate(values, &setting, run, result, error);
    if (status == GMC_OK)
        finish(family, IC_SIMULATOR, result);
    ic_memo_fini(&own);
    return status;
}

/* What a limit depends on: all but the load, and that it is a limit. */
static size_t limit_key(const struct ic_family *family, const double *values, double *key)
{
    GMC_ASSERT(family->param_count < IC_MEMO_KEY_MAX);
    for (size_t i = 0; i < family->param_count; i++)
        key[i] = values[i];
    key[ic_family_param(family, family->load)] = -1;
    return family->param_count;
}

struct limit {
    const struct ic_family *family;
    const double *values;
    const struct ic_setting *setting;
};

static gmc_status make_limit(const void *ctx, void **what, size_t *bytes, char *error)
{
    const struct limit *limit = ctx;
    double *load = malloc(sizeof(*load));
    if (load == NULL)
        return GMC_ERR_NOMEM;
    gmc_status status = limit->family->limit(limit->values, limit->setting, load, error);
    if (status != GMC_OK) {
        free(load);
        return status;
    }
    *what = load;
    *bytes = sizeof(*load);
    return GMC_OK;
}

gmc_status ic_limit_find(const struct ic_family *family, const double *values,
                         const struct ic_setting *setting, double *load, char *error)
{
    const struct limit limit = {family, values, setting};
    const struct ic_memo_maker maker = {make_limit, free, &limit};
    double key[IC_MEMO_KEY_MAX];
    void *kept;
    gmc_status status =
        ic_memo_get(setting->memo, key, limit_key(family, values, key), &maker, &kept, error);
    if (status == GMC_OK)
        *load = *(const double *)kept;
    return status;
}

gmc_status ic_family_limit(const struct ic_family *family, const double *values,
                           const struct ic_setting *given, double *load, char *error)
{
    struct ic_memo own = {.count = 0};
    const struct ic_setting setting = setting_of(given, &own);
    if (family->limit == NULL) {
        ic_refuse(error, "the model of %s has no load at which it ends", family->name);
        return GMC_ERR_NOT_FOUND;
    }
    gmc_status status = check_values(family, values, IC_MODEL, error);
    if (status == GMC_OK)
        status = ic_limit_find(family, values, &setting, load, error);
    ic_memo_fini(&own);
    return status;
}
