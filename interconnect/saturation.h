/* SPDX-License-Identifier: BSD-2-Clause */
/* The load at which a simulation saturates: by short runs, the load halved or doubled until it lies
 * between two, then bisected. */
#ifndef INTERCONNECT_SATURATION_H
#define INTERCONNECT_SATURATION_H

#include "interconnect/family.h"

#define IC_SATURATION_PART 0.01       /* of the load, between the two that are found */
#define IC_SATURATION_MESSAGES 20000u /* of a run, when it does not say how many */
#define IC_SATURATION_RUNS_MAX 60u

struct ic_saturation {
    double sound;     /* not saturated; 0: every load that was tried was */
    double saturated; /* INFINITY: none was, up to the most that the family takes */
    unsigned runs;
};

/* Of a family with a load and a simulator. `known` holds what is known already, from 0 to INFINITY
 * when nothing is; the search begins at the load of `values` then. A load that the family refuses
 * as too much counts as saturated, other errors are passed on. Records are not made. */
GMC_NODISCARD gmc_status ic_saturation_find(const struct ic_family *family, const double *values,
                                            const struct ic_setting *setting,
                                            const struct ic_run *run,
                                            const struct ic_saturation *known,
                                            struct ic_saturation *found, char *error);

#endif
