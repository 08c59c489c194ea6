/* SPDX-License-Identifier: BSD-2-Clause */
/* Time series of a whole run that fit into memory however long it is: when there is no room for
 * another sample every two are put together, and only every second one is taken from then on. */
#ifndef SIM_RUN_SERIES_H
#define SIM_RUN_SERIES_H

#include "sim-wan/run/sample.h"

#define SIM_SERIES_SAMPLES 512u

struct sim_series {
    const struct sim_run *run;
    size_t count;                   /* samples */
    uint64_t every, calls;          /* of the calls, the every-th is taken */
    gmc_time last;                  /* sample */
    double *seconds;                /* by sample */
    float *rates, *queues;          /* [lane * SAMPLES + sample]: bit/s before it, bytes at it */
    struct sim_wire_before *before; /* by lane: wire * 2 + direction */
    size_t lane_count;
    float *shares;       /* [target * SAMPLES + sample]: what it has, 0 to 1 */
    size_t target_count; /* of all transfers, one after the other */
    float *arrivals;     /* [source of traffic * SAMPLES + sample]: bit/s before it */
    uint64_t *arrived;   /* by source of traffic: bytes at the last sample */
};

void sim_series_init(struct sim_series *series, const struct sim_run *run);
void sim_series_fini(struct sim_series *series);
/* Takes a sample; `last`: whatever the count of calls is. */
void sim_series_take(struct sim_series *series, bool last);

#endif
