/* SPDX-License-Identifier: BSD-2-Clause */
/* A sweep as a picture: one figure over the parameter with most values, a line for each combination
 * of the others; model and simulator, where both are there, as line and as points with their
 * intervals. */
#ifndef INTERCONNECT_COMMAND_CURVES_H
#define INTERCONNECT_COMMAND_CURVES_H

#include "interconnect/command/points.h"

/* Bytes of `error` below. */
#define IC_CURVES_ERROR_MAX 256u

/* Whether there can be a picture, before hours are spent on its points. INVALID, IO with words: as
 * below. */
GMC_NODISCARD gmc_status ic_curves_check(const struct ic_sweep *sweep, const char *file,
                                         char *error);

/* Of an output, to FILE.svg and FILE.png beside its script and data; FILE may end in .svg or .png.
 * caption: what is drawn, for the title; NULL: the family's own. Points of a model beside its pole,
 * far higher than all others, are cut off, and the picture says so.
 * INVALID with words: no parameter has several numbers. IO with words: files, gnuplot. */
GMC_NODISCARD gmc_status ic_curves_draw(const struct ic_points *points, size_t output,
                                        const char *caption, const char *file, char *error);
/* How many points have that figure: none, and the picture is empty. */
size_t ic_curves_figures(const struct ic_points *points, size_t output);

#endif
