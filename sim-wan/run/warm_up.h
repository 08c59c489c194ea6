/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens before the scenario's clock begins, so that gateways are connected and latencies
 * known, as on a site that stages more than once. */
#ifndef SIM_RUN_WARM_UP_H
#define SIM_RUN_WARM_UP_H

#include "sim-wan/run/drive.h"
#include "sim-wan/scenario.h"

/* Stages as a transfer of the plan does; `what` has the object, or that it is only planned. On
 * failure words are in *error. */
GMC_NODISCARD gmc_status sim_run_stage(struct sim_run *run, const struct sim_plan_transfer *plan,
                                       const struct sim_stage *what, struct gmc_channel_key *key,
                                       const char **error);
void sim_run_warm_up(struct sim_run *run);

#endif
