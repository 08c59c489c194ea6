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
    for (uint32_t i = 0; i < series->lane_count; i++)
        series->before[i] = sim_net_lane(&run->world->net, i / 2, (int)(i % 2))->count;
}

void sim_series_fini(struct sim_series *series)
{
    free(series->seconds);
    free(series->rates);
    free(series->queues);
    free(series->before);
    free(series->shares);
    *series = (struct sim_series){0};
}

/* Samples 2k and 2k + 1 become k: the mean of what goes on between them, the later of what is. */
static void halve(struct sim_series *series)
{
    size_t half = SIM_SERIES_SAMPLES / 2;
    for (size_t k = 0; k < half; k++) {
        series->seconds[k] = series->seconds[2 * k + 1];
        for (size_t i = 0; i < series->lane_count; i++) {
            float *rates = &series->rates[i * SIM_SERIES_SAMPLES];
            float *queues = &series->queues[i * SIM_SERIES_SAMPLES];
            rates[k] = (rates[2 * k] + rates[2 * k + 1]) / 2;
            queues[k] = queues[2 * k + 1];
        }
        for (size_t i = 0; i < series->target_count; i++) {
            float *shares = &series->shares[i * SIM_SERIES_SAMPLES];
            shares[k] = shares[2 * k + 1];
        }
    }
    series->count = half;
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
    series->seconds[series->count++] = sim_sample_seconds(series->run);
    series->last = now;
    if (series->count == SIM_SERIES_SAMPLES)
        halve(series);
}
