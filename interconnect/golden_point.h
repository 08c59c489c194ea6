/* SPDX-License-Identifier: BSD-2-Clause */
/* A row of a reference table as a point of a family: columns give parameters, and the family's
 * model or simulator gives the others.
 *
 *     static gmc_status row(struct ic_row *row)
 *     {
 *         struct ic_golden_point point;
 *         ic_golden_point_init(&point, &ic_family_x, row);
 *         ic_golden_point_take(&point, "load", "lambda");
 *         gmc_status status = ic_golden_point_simulate(&point);
 *         if (status == GMC_OK)
 *             ic_golden_point_put(&point, "latency", "sim_latency", "ci95");
 *         return status;
 *     }
 */
#ifndef INTERCONNECT_GOLDEN_POINT_H
#define INTERCONNECT_GOLDEN_POINT_H

#include "interconnect/family.h"
#include "interconnect/golden.h"

#define IC_GOLDEN_FIGURES_MAX 48u /* of a family: parameters, and outputs */
#define IC_GOLDEN_SEED 1u         /* of simulations */

struct ic_golden_point {
    const struct ic_family *family;
    struct ic_row *row;
    unsigned side; /* whose figures they are: IC_MODEL, IC_SIMULATOR */
    double values[IC_GOLDEN_FIGURES_MAX];
    struct ic_figure figures[IC_GOLDEN_FIGURES_MAX];
};

/* The family's usual values. */
void ic_golden_point_init(struct ic_golden_point *point, const struct ic_family *family,
                          struct ic_row *row);
/* Gives a parameter what stands in a column, or this text. A value that it may not have sets the
 * row's status, with words. */
void ic_golden_point_take(struct ic_golden_point *point, const char *param, const char *column);
void ic_golden_point_set(struct ic_golden_point *point, const char *param, const char *text);

/* What the row's status is, or the family's. */
GMC_NODISCARD gmc_status ic_golden_point_model(struct ic_golden_point *point);
/* As many messages as the family thinks good. */
GMC_NODISCARD gmc_status ic_golden_point_simulate(struct ic_golden_point *point);

/* The figure that was found last; NAN when it is none or saturated. */
double ic_golden_point_value(const struct ic_golden_point *point, const char *output);
/* Puts it, and into another column, NULL: none, half its interval. A saturated simulation is "inf",
 * a model without a solution "none", as where there is no figure. */
void ic_golden_point_put(const struct ic_golden_point *point, const char *output,
                         const char *column, const char *interval);

#endif
