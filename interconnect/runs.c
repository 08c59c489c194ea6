/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs, and what they say together. */
#include "interconnect/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "interconnect/stats.h"

/* One figure in those runs so far that know it, each as weighty as it has messages. */
struct seen {
    double values[IC_RUNS], weights[IC_RUNS];
    uint32_t count;
    bool is_exact, is_saturated;
};

struct runs {
    const struct ic_family *family;
    const struct ic_run *given;
    uint32_t count, now; /* runs; the one that goes on */
    struct ic_result one;
    struct seen *seen;
    struct ic_channel_record *channels; /* loads are sums */
    size_t channel_count, channel_room, channel_at;
    bool is_short; /* of memory */
};

/* ---- callbacks ---- */
static bool on_progress(void *ctx, double share)
{
    const struct runs *runs = ctx;
    return runs->given->on_progress(runs->given->ctx, (runs->now + share) / runs->count);
}

static void on_message(void *ctx, const struct ic_message_record *message)
{
    const struct runs *runs = ctx;
    struct ic_message_record record = *message;
    record.run = runs->now;
    runs->given->on_message(runs->given->ctx, &record);
}

/* They come in the same order from each run. */
static void on_channel(void *ctx, const struct ic_channel_record *channel)
{
    struct runs *runs = ctx;
    if (runs->now > 0) {
        runs->channels[runs->channel_at++].load += channel->load;
        return;
    }
    if (runs->channel_count == runs->channel_room) {
        size_t room = 2 * runs->channel_room + 64;
        struct ic_channel_record *more = realloc(runs->channels, room * sizeof(*more));
        runs->is_short |= more == NULL;
        if (more == NULL)
            return;
        runs->channels = more;
        runs->channel_room = room;
    }
    runs->channels[runs->channel_count++] = *channel;
}

static void tell_channels(const struct runs *runs)
{
    for (size_t i = 0; i < runs->channel_count; i++) {
        struct ic_channel_record record = runs->channels[i];
        record.load /= runs->now;
        runs->given->on_channel(runs->given->ctx, &record);
    }
}

/* ---- figures ---- */
/* What a saturated run does not know, those before it do not either. */
static void add(struct seen *seen, const struct ic_figure *figure, double weight, bool is_saturated)
{
    seen->is_saturated |= figure->state == IC_FIGURE_SATURATED;
    if (figure->state != IC_FIGURE_KNOWN) {
        if (is_saturated)
            seen->count = 0;
        return;
    }
    seen->is_exact = figure->half_width == 0;
    seen->weights[seen->count] = weight;
    seen->values[seen->count++] = figure->value;
}

static struct ic_figure figure_of(const struct seen *seen)
{
    double sum = 0, weights = 0, squares = 0;
    uint32_t n = seen->count;
    if (seen->is_saturated)
        return (struct ic_figure){.state = IC_FIGURE_SATURATED};
    if (n == 0)
        return (struct ic_figure){.state = IC_FIGURE_NONE};
    if (seen->is_exact)
        return (struct ic_figure){IC_FIGURE_KNOWN, seen->values[0], 0};
    for (uint32_t i = 0; i < n; i++) {
        sum += seen->weights[i] * seen->values[i];
        weights += seen->weights[i];
    }
    struct ic_figure figure = {IC_FIGURE_KNOWN, sum / weights, INFINITY};
    for (uint32_t i = 0; i < n; i++)
        squares += pow(seen->weights[i] / weights * (seen->values[i] - figure.value), 2);
    if (n > 1)
        figure.half_width = ic_student_975(n - 1) * sqrt(squares * n / (n - 1));
    return figure;
}

static void empty(struct ic_result *result, size_t figures)
{
    result->is_saturated = false;
    result->warmup = 0;
    result->where[0] = '\0';
    memset(result->figures, 0, figures * sizeof(*result->figures));
}

/* ---- all ---- */
static uint64_t seed_of(const struct runs *runs)
{
    struct gmc_prng all, own;
    gmc_prng_init(&all, runs->given->seed);
    gmc_prng_fork_nth(&all, "run", runs->now, &own);
    return gmc_prng_u64(&own);
}

static gmc_status simulate_once(struct runs *runs, const double *values,
                                const struct ic_setting *setting, uint64_t messages, uint64_t all,
                                char *error)
{
    const struct ic_run *given = runs->given;
    struct ic_run run = {
        .seed = seed_of(runs),
        .messages = messages,
        .watched = all,
        .only_measures = runs->now > 0,
        .on_progress = given->on_progress != NULL ? on_progress : NULL,
        .on_message = given->on_message != NULL ? on_message : NULL,
        .on_channel = given->on_channel != NULL ? on_channel : NULL,
        .ctx = runs,
    };
    empty(&runs->one, runs->family->output_count);
    runs->channel_at = 0;
    gmc_status status = runs->family->simulate(values, setting, &run, &runs->one, error);
    return status == GMC_OK && runs->is_short ? GMC_ERR_NOMEM : status;
}

static gmc_status simulate_all(struct runs *runs, const double *values,
                               const struct ic_setting *setting, struct ic_result *result,
                               char *error)
{
    const struct ic_run *given = runs->given;
    uint64_t messages = given->messages > 0 ? given->messages : runs->family->messages;
    gmc_status status = GMC_OK;
    runs->count = given->runs > 0 && given->runs < IC_RUNS ? given->runs : IC_RUNS;
    if (messages < runs->count)
        runs->count = (uint32_t)messages;
    for (uint64_t left = messages; runs->now < runs->count && !result->is_saturated;) {
        uint64_t share = left / (runs->count - runs->now);
        status = simulate_once(runs, values, setting, share, messages, error);
        if (status != GMC_OK)
            return status;
        left -= share;
        if (runs->now == 0 && runs->count > IC_RUNS_FEW && runs->one.warmup > IC_RUNS_LONG * share)
            runs->count = IC_RUNS_FEW;
        for (size_t i = 0; i < runs->family->output_count; i++)
            add(&runs->seen[i], &runs->one.figures[i], (double)share, runs->one.is_saturated);
        if (result->where[0] == '\0')
            memcpy(result->where, runs->one.where, sizeof(result->where));
        result->is_saturated = runs->one.is_saturated;
        runs->now++;
    }
    for (size_t i = 0; i < runs->family->output_count; i++)
        result->figures[i] = figure_of(&runs->seen[i]);
    tell_channels(runs);
    return status;
}

gmc_status ic_runs_simulate(const struct ic_family *family, const double *values,
                            const struct ic_setting *setting, const struct ic_run *run,
                            struct ic_result *result, char *error)
{
    struct runs runs = {
        .family = family,
        .given = run,
        .one = {.figures = calloc(family->output_count, sizeof(*runs.one.figures))},
        .seen = calloc(family->output_count, sizeof(*runs.seen)),
    };
    gmc_status status = GMC_ERR_NOMEM;
    if (runs.one.figures != NULL && runs.seen != NULL)
        status = simulate_all(&runs, values, setting, result, error);
    free(runs.one.figures);
    free(runs.seen);
    free(runs.channels);
    return status;
}
