/* SPDX-License-Identifier: BSD-2-Clause */
/* The cluster as one event: the simulators of interconnect/ say how long it takes. */
#include "experiments/san.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "interconnect/star/simulate.h"
#include "interconnect/torus/simulate.h"
#include "sim-wan/mem.h"

struct ex_san {
    struct sim_event event;
    void (*done)(void *ctx, gmc_time now);
    void *ctx;
};

static void on_end(struct sim_event *event, gmc_time now)
{
    struct ex_san *san = SIM_OWNER(event, struct ex_san, event);
    san->done(san->ctx, now);
}

static gmc_status simulate_sci(const struct ex_san_config *config, struct ic_multicast_times *times,
                               char *error)
{
    struct gmc_prng seed, prng;
    struct ic_torus torus;
    struct ic_torus_group group;
    gmc_status status = ic_torus_init(&torus, config->k, 2, error);
    if (status != GMC_OK)
        return status;
    uint32_t *nodes = sim_calloc(config->group, sizeof(*nodes));
    gmc_prng_init(&seed, config->group);
    gmc_prng_fork_nth(&seed, "group", config->draw, &prng);
    ic_torus_draw_group(&torus, config->group, &prng, nodes, &group);
    const struct ic_torus_run run = {
        .torus = &torus,
        .group = &group,
        .algorithm = (enum ic_torus_algorithm)config->algorithm,
        .r = config->k,
        .routing = IC_TORUS_BY_DIMENSION,
        .bytes = config->message,
    };
    status = ic_torus_simulate(&run, times, NULL, error);
    free(nodes);
    return status;
}

static gmc_status simulate_myrinet(const struct ex_san_config *config,
                                   struct ic_multicast_times *times, char *error)
{
    static const enum ic_myrinet_scheme schemes[EX_SAN_KINDS] = {
        [EX_MYRINET_HOST] = IC_MYRINET_HB,
        [EX_MYRINET_NIC] = IC_MYRINET_NB,
        [EX_MYRINET_ASSISTED] = IC_MYRINET_NA,
    };
    const struct ic_star_run run = {
        .scheme = schemes[config->kind],
        .algorithm = (enum ic_star_algorithm)config->algorithm,
        .members = config->group,
        .bytes = config->message,
        .is_at_wire_rate = true,
    };
    return ic_star_simulate(&run, times, NULL, error);
}

struct ex_san *ex_san_start(struct sim_engine *engine, const struct ex_san_config *config,
                            gmc_time when, void (*done)(void *ctx, gmc_time now), void *ctx)
{
    struct ex_san *san = sim_calloc(1, sizeof(*san));
    struct ic_multicast_times times;
    char error[IC_ERROR_MAX] = "";
    gmc_status status = config->kind == EX_SCI ? simulate_sci(config, &times, error)
                                               : simulate_myrinet(config, &times, error);
    if (status != GMC_OK) {
        fprintf(stderr, "experiments: no such multicast: %s\n", error);
        abort();
    }
    san->done = done;
    san->ctx = ctx;
    sim_event_init(&san->event, on_end);
    sim_engine_at(engine, &san->event, when + (gmc_duration)(times.latency_us * 1000 + 0.5));
    return san;
}

void ex_san_free(struct ex_san *san)
{
    free(san);
}

void ex_san_name(const struct ex_san_config *config, char *out, size_t size)
{
    static const char *const kinds[EX_SAN_KINDS] = {"SCI", "Myrinet host", "Myrinet NIC",
                                                    "Myrinet assisted"};
    snprintf(out, size, "%s %s", kinds[config->kind],
             config->kind == EX_SCI
                 ? ic_torus_algorithm_name((enum ic_torus_algorithm)config->algorithm)
                 : ic_star_algorithm_name((enum ic_star_algorithm)config->algorithm));
}
