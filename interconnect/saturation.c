/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking for saturation. */
#include "interconnect/saturation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

struct search {
    const struct ic_family *family;
    const struct ic_setting *setting;
    struct ic_run run;
    double *values;
    size_t load;
    struct ic_result result;
    struct ic_saturation *found;
    char *error;
};

/* One run, which moves one of the bounds. */
static gmc_status try_load(struct search *search, double load)
{
    search->values[search->load] = load;
    search->found->runs++;
    gmc_status status = ic_family_simulate(search->family, search->values, search->setting,
                                           &search->run, &search->result, search->error);
    bool is_refused = status == GMC_ERR_INVALID && search->found->sound > 0;
    if (status != GMC_OK && !is_refused)
        return status;
    if (is_refused || search->result.is_saturated)
        search->found->saturated = load;
    else
        search->found->sound = load;
    return GMC_OK;
}

/* The next load; 0: there is nothing more to find. */
static double next_load(const struct search *search, double begin)
{
    const struct ic_saturation *found = search->found;
    const struct ic_param *param = &search->family->params[search->load];
    if (found->runs >= IC_SATURATION_RUNS_MAX)
        return 0;
    if (found->sound <= 0 && isinf(found->saturated))
        return begin;
    if (isinf(found->saturated))
        return found->sound < param->most ? fmin(2 * found->sound, param->most) : 0;
    if (found->sound <= 0)
        return found->saturated / 2 > fmax(param->least, 1e-9 * param->most) ? found->saturated / 2
                                                                             : 0;
    if (found->saturated - found->sound <= IC_SATURATION_PART * found->saturated)
        return 0;
    return (found->sound + found->saturated) / 2;
}

gmc_status ic_saturation_find(const struct ic_family *family, const double *values,
                              const struct ic_setting *setting, const struct ic_run *run,
                              const struct ic_saturation *known, struct ic_saturation *found,
                              char *error)
{
    struct search search = {
        .family = family,
        .setting = setting,
        .run = {.seed = run->seed,
                .messages = run->messages > 0 ? run->messages : IC_SATURATION_MESSAGES,
                .runs = 1, /* says whether it is sound */
                .on_progress = run->on_progress,
                .ctx = run->ctx},
        .values = malloc(family->param_count * sizeof(*values)),
        .load = ic_family_param(family, family->load),
        .result = {.figures = calloc(family->output_count, sizeof(struct ic_figure))},
        .found = found,
        .error = error,
    };
    gmc_status status = GMC_ERR_NOMEM;
    GMC_ASSERT(search.load < family->param_count);
    *found = *known;
    found->runs = 0;
    if (search.values != NULL && search.result.figures != NULL) {
        memcpy(search.values, values, family->param_count * sizeof(*values));
        status = GMC_OK;
        for (double load; status == GMC_OK && (load = next_load(&search, values[search.load])) > 0;)
            status = try_load(&search, load);
    }
    free(search.values);
    free(search.result.figures);
    return status;
}
