/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures by gnuplot, which is a program of its own and called as one. A picture is a script
 * PREFIX-NAME.gp and its data PREFIX-NAME.dat, which stay, and PREFIX-NAME.svg and .png. The script
 * draws them again whenever it is given to gnuplot in its folder. */
#ifndef SIM_PLOT_PLOT_H
#define SIM_PLOT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"

#define SIM_PLOT_ERROR_MAX 256u

struct sim_plot {
    FILE *script; /* commands, once for each kind of picture, from the terminal on */
    FILE *data;
    char *folder, *stem; /* the data file is STEM.dat for the script */
};

/* Whether pictures can be put there: the folder is. False: words in error. */
bool sim_plot_check(const char *prefix, char *error);
/* Width and height in pixels of the screen. GMC_ERR_IO with words in error (SIM_PLOT_ERROR_MAX
 * bytes): a file cannot be made. */
GMC_NODISCARD gmc_status sim_plot_open(struct sim_plot *plot, const char *prefix, const char *name,
                                       unsigned width, unsigned height, char *error);
/* Ends both files and draws. GMC_ERR_IO: writing failed, or gnuplot did, or there is none; its
 * own words are on standard error. */
GMC_NODISCARD gmc_status sim_plot_close(struct sim_plot *plot, char *error);

/* Writes a text as gnuplot wants it, in quotes. */
void sim_plot_text(FILE *out, const char *text);

#endif
