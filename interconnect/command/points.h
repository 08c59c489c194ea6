/* SPDX-License-Identifier: BSD-2-Clause */
/* The points of a sweep, each modelled, simulated or both, over all cores. */
#ifndef INTERCONNECT_COMMAND_POINTS_H
#define INTERCONNECT_COMMAND_POINTS_H

#include "interconnect/sweep.h"
#include "sim-wan/run/pool.h"

struct ic_point {
    bool is_done;
    char error[IC_ERROR_MAX]; /* why not */
    struct ic_result model, simulated;
};

/* Loads from which on a point's curve is saturated; INFINITY: none, NAN: not known. */
struct ic_limits {
    double model, simulated;
};

struct ic_points {
    const struct ic_sweep *sweep;
    unsigned what;             /* IC_MODEL, IC_SIMULATOR, IC_BOTH */
    struct ic_setting setting; /* its memo is made here */
    struct ic_run run;
    size_t workers; /* 0: one per core */
    bool is_quiet;  /* no progress bar */
    struct ic_point *points;
    struct ic_limits *limits;  /* by point, or NULL (command/limits.h) */
    struct ic_figure *figures; /* of all points: the model's, then the simulator's */
};

/* Takes room and computes all; which core, or rank of an MPI world, does a point makes no
 * difference to its figures. Ends with fini. The other ranks have no figures. */
void ic_points_compute(struct ic_points *points);
/* The parameters of a point, as it was computed with them; room for all of the family's. */
void ic_points_values(const struct ic_points *points, size_t point, double *values);
/* How many processes; 0 wanted: one per core. */
size_t ic_workers(size_t wanted);
void ic_points_fini(struct ic_points *points);

/* Jobs over the ranks of an MPI world, or where there is none over processes; 0: one per core. */
void ic_pool_run(const struct sim_pool *pool, size_t jobs, size_t workers);

#endif
