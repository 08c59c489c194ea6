/* SPDX-License-Identifier: BSD-2-Clause */
/* The points of a curve: a family's parameters, some of which take several values. */
#ifndef INTERCONNECT_SWEEP_H
#define INTERCONNECT_SWEEP_H

#include "interconnect/family.h"

#define IC_SWEEP_POINTS_MAX 100000u

struct ic_axis {
    size_t param;
    double *values;
    size_t count, capacity;
};

struct ic_sweep {
    const struct ic_family *family;
    struct ic_axis *axes; /* what was given, in that order */
    size_t axis_count;
    size_t points; /* all combinations */
};

/* One point, of the usual values. Ends with fini. */
void ic_sweep_init(struct ic_sweep *sweep, const struct ic_family *family);
void ic_sweep_fini(struct ic_sweep *sweep);

/* Gives a parameter its values: a list "a,b,c" of which each may be a range "a..b/step", or "a..b"
 * for whole numbers; "all" is every word of a choice. The combinations follow with the parameter
 * that was given last changing fastest. INVALID with words: no such parameter, one that was given
 * before, a value that it may not have, too many points. NOMEM. */
GMC_NODISCARD gmc_status ic_sweep_add(struct ic_sweep *sweep, const char *name, const char *text,
                                      char *error);

/* The parameters of one point; room for all of the family's. */
void ic_sweep_point(const struct ic_sweep *sweep, size_t point, double *values);
/* Which of an axis's values it has, and the point with another one. */
size_t ic_sweep_place(const struct ic_sweep *sweep, size_t point, size_t axis);
size_t ic_sweep_move(const struct ic_sweep *sweep, size_t point, size_t axis, size_t place);

#endif
