/* SPDX-License-Identifier: BSD-2-Clause */
/* What recorders of time series look at, at an instant of a run. */
#ifndef SIM_RUN_SAMPLE_H
#define SIM_RUN_SAMPLE_H

#include "sim-wan/run/drive.h"

/* Seconds of the scenario's clock. */
double sim_sample_seconds(const struct sim_run *run);

/* One direction of a wire as it was at the sample before. */
struct sim_wire_before {
    struct sim_lane_counters count;
    uint64_t rate_bps; /* a fault may change it when the next sample is taken, and before that */
};
struct sim_wire_before sim_sample_now(const struct sim_run *run, uint32_t wire, int direction);

/* One direction of a wire since the sample before, which is kept in *before and replaced. */
struct sim_wire_sample {
    double rate_bps;      /* that arrived at the end */
    double utilisation;   /* of the rate that it had before; 0 where that had no limit */
    uint64_t queue_bytes; /* now */
    uint64_t dropped_queue, dropped_loss, dropped_other, marked; /* packets */
};
struct sim_wire_sample sim_sample_wire(const struct sim_run *run, uint32_t wire, int direction,
                                       gmc_duration interval, struct sim_wire_before *before);

/* What the source knows of its n-th target (in its own order, which stays); false: there is none
 * (yet), or the source is down. */
bool sim_sample_member(const struct sim_run *run, size_t transfer, size_t n,
                       struct gmc_member_info *info);

/* What a domain has of a transfer, as its own gateway says, or while that is down, as `known`. */
uint64_t sim_sample_bytes(const struct sim_run *run, size_t transfer, const char *domain,
                          uint64_t known);

#endif
