/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of a scenario with one seed: builds the world, warms up, starts transfers, channels and
 * faults at their times, and stops when all transfers and channels have ended or the limit is
 * reached. */
#ifndef SIM_RUN_DRIVE_H
#define SIM_RUN_DRIVE_H

#include <jansson.h>

#include "sim-wan/host.h"
#include "sim-wan/run/channel.h"
#include "sim-wan/run/plan.h"

struct sim_run_transfer {
    struct sim_run *run;
    const struct sim_plan_transfer *plan;
    struct sim_event start;
    struct gmc_channel_key key; /* e 0: not begun */
    gmc_time begin, end;        /* of the engine; end 0: it has not ended */
    gmc_time *verified;         /* of each target, that the source first heard of it; 0: not yet */
    char error[128];            /* why it could not begin */
};

struct sim_run {
    const struct sim_plan *plan;
    uint64_t seed;
    struct sim_world *world; /* host i is node i, wire i is link i */
    struct sim_faults faults;
    gmc_time zero; /* the engine's time when the scenario's clock began */
    bool is_begun; /* and it did */
    gmc_time end;  /* of the last transfer or channel, or where the run was stopped */
    struct sim_run_transfer *transfers;
    size_t ended;                       /* transfers that have */
    struct sim_run_channel *channels;   /* as in the plan */
    size_t channels_left, endless_left; /* not over: with a length, without */
    uint64_t events_before;             /* events and, by lane, counters at zero */
    uint64_t samples;                   /* events that are the recorders', not the scenario's */
    struct sim_lane_counters *before;   /* wire * 2 + direction */
    struct sim_event sampling;
    void *recorders[SIM_RECORDERS_MAX]; /* states of those that run */
    bool records;                       /* what the plan asks for is written down */
    char error[SIM_RECORD_ERROR_MAX];   /* of a recorder */
    /* Called now and then while it runs, for people; may be NULL. */
    void (*progress)(void *ctx, const struct sim_run *run);
    void *progress_ctx;
    void (*line)(void *ctx, const char *text); /* lines of what happens; may be NULL */
    void *line_ctx;
};

/* Prepares a run; borrows the plan for life. Set records, progress and line then. */
void sim_run_init(struct sim_run *run, const struct sim_plan *plan, uint64_t seed);
void sim_run_fini(struct sim_run *run);
/* GMC_OK, or GMC_ERR_IO with words in run->error when a recorder fails: before the first event, and
 * `end` is 0, or when all has been run. */
GMC_NODISCARD gmc_status sim_run_go(struct sim_run *run);

/* All transfers are complete at all of their targets, all channels at all of their subscribers. */
bool sim_run_is_complete(const struct sim_run *run);
/* The share of all bytes that targets have, where there are no transfers that of the time that the
 * last channel takes; 0 to 1. */
double sim_run_share(const struct sim_run *run);
/* What one direction of a wire did since the scenario's clock began. */
struct sim_lane_counters sim_run_lane(const struct sim_run *run, uint32_t wire, int direction);

/* ---- summary.c ---- */
/* The whole summary, without what differs between two runs of the same (CPU time). */
json_t *sim_run_summary(const struct sim_run *run);

#endif
