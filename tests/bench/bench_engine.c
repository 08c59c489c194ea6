/* SPDX-License-Identifier: BSD-2-Clause */
/* What the event engine does in a CPU second, by the hold model (Jones 1986): N events are pending;
 * each that fires schedules itself again. Counted is one firing with its scheduling.
 *
 *   bench_engine [EVENTS]      a table, one line per distribution of the times; ends with 1 when a
 *                              figure is below the limit
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim-wan/engine.h"
#include "sim-wan/mem.h"

#define LEAST_PER_SECOND 5e6
#define EVENTS_DEFAULT 10000000u

/* Delays are drawn beforehand: the engine is measured, not the generator. */
#define DRAWN (1u << 16)

struct hold {
    struct sim_event event;
    uint32_t at; /* of its next delay */
};

static struct sim_engine engine;
static gmc_duration delays[DRAWN];

static void on_fire(struct sim_event *event, gmc_time now)
{
    struct hold *hold = SIM_OWNER(event, struct hold, event);
    sim_engine_at(&engine, event, now + delays[hold->at]);
    hold->at = (hold->at + 7919) % DRAWN;
}

/* ---- distributions of delays, in ns ---- */
static gmc_duration same(struct gmc_prng *prng)
{
    (void)prng;
    return GMC_MS(1);
}

static gmc_duration uniform(struct gmc_prng *prng)
{
    return gmc_prng_below(prng, GMC_MS(2));
}

/* A sum of geometric steps: close to exponential, and needs no libm. */
static gmc_duration exponential(struct gmc_prng *prng)
{
    gmc_duration delay = 0;
    while (!gmc_prng_chance_ppm(prng, 10000))
        delay += GMC_US(10);
    return delay + gmc_prng_below(prng, GMC_US(10));
}

/* Packets on wires, and one in ten a timer a thousand times as far away. */
static gmc_duration bimodal(struct gmc_prng *prng)
{
    bool far = gmc_prng_below(prng, 10) == 0;
    return gmc_prng_below(prng, far ? GMC_MS(200) : GMC_US(200));
}

/* Of all scales alike, from 1 ns to a quarter of an hour. */
static gmc_duration of_all_scales(struct gmc_prng *prng)
{
    return gmc_prng_u64(prng) >> (24 + gmc_prng_below(prng, 40));
}

/* Slots of 1 ms: many events of one instant. */
static gmc_duration slotted(struct gmc_prng *prng)
{
    return GMC_MS(gmc_prng_below(prng, 4));
}

static const struct {
    const char *name;
    gmc_duration (*draw)(struct gmc_prng *prng);
} distributions[] = {
    {"constant", same},   {"uniform", uniform},          {"exponential", exponential},
    {"bimodal", bimodal}, {"all scales", of_all_scales}, {"slotted", slotted},
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fire(uint64_t events)
{
    for (uint64_t i = 0; i < events; i++)
        sim_engine_step(&engine, GMC_TIME_NEVER - 1);
}

/* Events per CPU second, after as many events as are pending have brought it into its stride. */
static double measure(gmc_duration (*draw)(struct gmc_prng *prng), uint32_t pending,
                      uint64_t events)
{
    struct gmc_prng prng;
    gmc_prng_init(&prng, 1);
    for (uint32_t i = 0; i < DRAWN; i++)
        delays[i] = draw(&prng);
    struct hold *holds = sim_calloc(pending, sizeof(*holds));
    sim_engine_init(&engine);
    for (uint32_t i = 0; i < pending; i++) {
        holds[i].at = (uint32_t)gmc_prng_below(&prng, DRAWN);
        sim_event_init(&holds[i].event, on_fire);
        on_fire(&holds[i].event, gmc_prng_below(&prng, GMC_MS(1)));
    }
    fire(pending);
    double begin = cpu_seconds();
    fire(events);
    double seconds = cpu_seconds() - begin;
    sim_engine_fini(&engine);
    free(holds);
    return (double)events / seconds;
}

int main(int argc, char **argv)
{
    static const uint32_t pending[] = {1000, 10000, 100000};
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : EVENTS_DEFAULT;
    bool ok = true;
    printf("Event engine, hold model: million events per CPU second; limit %.1f\n",
           LEAST_PER_SECOND / 1e6);
    printf("%-12s %10s %10s %10s %6s\n", "times", "1000", "10000", "100000", "ok");
    for (size_t d = 0; d < sizeof(distributions) / sizeof(distributions[0]); d++) {
        bool row_ok = true;
        printf("%-12s", distributions[d].name);
        for (size_t i = 0; i < sizeof(pending) / sizeof(pending[0]); i++) {
            double rate = measure(distributions[d].draw, pending[i], events);
            row_ok = row_ok && rate >= LEAST_PER_SECOND;
            printf(" %10.2f", rate / 1e6);
            fflush(stdout);
        }
        printf(" %6s\n", row_ok ? "yes" : "NO");
        ok = ok && row_ok;
    }
    return ok ? 0 : 1;
}
