/* SPDX-License-Identifier: BSD-2-Clause */
/* gnuplot, a program of its own, called as one over a script. It says nothing when a disk is full,
 * and ends well: so it draws into pipes, and pictures are written here, each of which takes its
 * place when all are drawn (sim-wan/out_file.h). */
#ifndef SIM_PLOT_GNUPLOT_H
#define SIM_PLOT_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

#define SIM_GNUPLOT_ERROR_MAX 256u
#define SIM_GNUPLOT_KINDS_MAX 2u

/* Writes the line of a script that says where it draws: into STEM.KIND, whenever somebody gives it
 * to gnuplot in its folder. */
void sim_gnuplot_output(FILE *script, const char *stem, const char *kind);

/* Gives FOLDER/STEM.gp to gnuplot; the pictures are FOLDER/STEM.KIND. Words are in error
 * (SIM_GNUPLOT_ERROR_MAX bytes) with GMC_ERR_NOT_FOUND: gnuplot is not installed; GMC_ERR_IO: it
 * failed, with its own words on standard error, or a picture could not be written. Pictures of an
 * earlier run stay then, except one that was in its place before the next could not be written. */
GMC_NODISCARD gmc_status sim_gnuplot_draw(const char *folder, const char *stem,
                                          const char *const *kinds, size_t count, char *error);

/* Writes a text as gnuplot wants it, in quotes. */
void sim_gnuplot_text(FILE *out, const char *text);

#endif
