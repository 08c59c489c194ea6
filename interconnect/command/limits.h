/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the curves of a sweep saturate. */
#ifndef INTERCONNECT_COMMAND_LIMITS_H
#define INTERCONNECT_COMMAND_LIMITS_H

#include "interconnect/command/points.h"

/* After the points are computed: says with each that was simulated as saturated which load of the
 * sweep was not; with `is_searched` gives every point its limits, the simulator's by short runs and
 * over all cores, or ranks of an MPI world: every rank calls it. */
void ic_limits_find(struct ic_points *points, bool is_searched);

#endif
