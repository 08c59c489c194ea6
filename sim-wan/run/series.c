/* SPDX-License-Identifier: BSD-2-Clause */
/* Series of a run; see series.h. */
#include "sim-wan/run/series.h"

#include <stdlib.h>

#include "sim-wan/mem.h"

void sim_series_init(struct sim_series *series, const struct sim_run *run)
{
    const struct sim_plan *plan = run->plan;
    *series = (struct sim_series){.run = run, .every = 1, .last = run->zero};
    series->lane_count = run->world->net.wire_count * 2;
    for (size_t i = 0; i < plan->transfer_count; i++)
        series->target_count += plan->transfers[i].target_count;
    series->seconds = sim_calloc(SIM_SERIES_SAMPLES, sizeof(*series->seconds));
    series->rates = sim_calloc(series->lane_count * SIM_SERIES_SAMPLES, sizeof(*series->rates));
    series->queues = sim_calloc(series->lane_count * SIM_SERIES_SAMPLES, sizeof(*series->queues));
    series->before = sim_calloc(series->lane_count, sizeof(*series->before));
    series->shares = sim_calloc(series->target_count * SIM_SERIES_SAMPLES, sizeof(*series->shares));
    series->arrivals =
        sim_calloc(plan->traffic_count * SIM_SERIES_SAMPLES, sizeof(*series->arrivals));
    series->arrived = sim_calloc(plan->traffic_count, sizeof(*series->arrived));
    for (uint32_t i = 0; i < series->lane_count; i++)
        series->before[i] = sim_sample_now(run, i / 2, (int)(i % 2));
}

void sim_series_fini(struct sim_series *series)
{
    free(series->seconds);
    free(series->rates);
    free(series->queues);
    free(series->before);
    free(series->shares);
    free(series->arrivals);
    free(series->arrived);
    *series = (struct sim_series){0};
}

/* Samples 2k and 2k + 1 of `count` rows become k: the mean of what goes on between them, the later
 * of what is. */
static void halve_rows(float *rows, size_t count, bool is_mean)
{
    for (size_t i = 0; i < count; i++) {
        float *row = &rows[i * SIM_SERIES_SAMPLES];
        for (size_t k = 0; k < SIM_SERIES_SAMPLES / 2; k++)
            row[k] = is_mean ? (row[2 * k] + row[2 * k + 1]) / 2 : row[2 * k + 1];
    }
}

static void halve(struct sim_series *series)
{
    for (size_t k = 0; k < SIM_SERIES_SAMPLES / 2; k++)
        series->seconds[k] = series->seconds[2 * k + 1];
    halve_rows(series->rates, series->lane_count, true);
    halve_rows(series->queues, series->lane_count, false);
    halve_rows(series->shares, series->target_count, false);
    halve_rows(series->arrivals, series->run->plan->traffic_count, true);
    series->count = SIM_SERIES_SAMPLES / 2;
    series->every *= 2;
}

static void take_shares(struct sim_series *series)
{
    const struct sim_plan *plan = series->run->plan;
    size_t first = 0;
    for (size_t i = 0; i < plan->transfer_count; i++) {
        struct gmc_member_info info;
        double bytes = plan->transfers[i].bytes > 0 ? (double)plan->transfers[i].bytes : 1;
        for (size_t n = 0; n < plan->transfers[i].target_count; n++) {
            float *shares = &series->shares[(first + n) * SIM_SERIES_SAMPLES];
            if (sim_sample_member(series->run, i, n, &info))
                shares[series->count] =
                    (float)((double)sim_sample_bytes(series->run, i, info.domain, info.bytes) /
                            bytes);
            else /* what was known before */
                shares[series->count] = series->count > 0 ? shares[series->count - 1] : 0;
        }
        first += plan->transfers[i].target_count;
    }
}

static void take_arrivals(struct sim_series *series, gmc_duration interval)
{
    for (size_t i = 0; i < series->run->plan->traffic_count; i++) {
        uint64_t bytes = sim_traffic_counters(&series->run->world->traffic, i)->received_bytes;
        double rate_bps =
            interval > 0 ? (double)(bytes - series->arrived[i]) * 8e9 / (double)interval : 0;
        series->arrivals[i * SIM_SERIES_SAMPLES + series->count] = (float)rate_bps;
        series->arrived[i] = bytes;
    }
}

void sim_series_take(struct sim_series *series, bool last)
{
    gmc_time now = series->run->world->engine.now;
    if (++series->calls % series->every != 0 && !last)
        return;
    for (uint32_t i = 0; i < series->lane_count; i++) {
        struct sim_wire_sample sample = sim_sample_wire(series->run, i / 2, (int)(i % 2),
                                                        now - series->last, &series->before[i]);
        series->rates[i * SIM_SERIES_SAMPLES + series->count] = (float)sample.rate_bps;
        series->queues[i * SIM_SERIES_SAMPLES + series->count] = (float)sample.queue_bytes;
    }
    take_shares(series);
    take_arrivals(series, now - series->last);
    series->seconds[series->count++] = sim_sample_seconds(series->run);
    series->last = now;
    if (series->count == SIM_SERIES_SAMPLES)
        halve(series);
}
