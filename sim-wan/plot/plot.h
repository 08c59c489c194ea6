/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures by gnuplot. A picture is a script PREFIX-NAME.gp and its data PREFIX-NAME.dat, which
 * stay, and PREFIX-NAME.svg and .png. The script draws them again whenever it is given to gnuplot
 * in its folder. */
#ifndef SIM_PLOT_PLOT_H
#define SIM_PLOT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "sim-wan/out_file.h"
#include "sim-wan/plot/gnuplot.h"

#define SIM_PLOT_ERROR_MAX SIM_GNUPLOT_ERROR_MAX

struct sim_plot {
    FILE *script; /* commands, once for each kind of picture, from the terminal on */
    FILE *data;
    struct sim_out_file script_file, data_file; /* of both */
    char *folder, *stem;                        /* the data file is STEM.dat for the script */
};

/* Whether pictures can be put there: the folder is. False: words in error. */
bool sim_plot_check(const char *prefix, char *error);
/* Width and height in pixels of the screen. GMC_ERR_IO with words in error (SIM_PLOT_ERROR_MAX
 * bytes): a file cannot be made. */
GMC_NODISCARD gmc_status sim_plot_open(struct sim_plot *plot, const char *prefix, const char *name,
                                       unsigned width, unsigned height, char *error);
/* Ends both files, which take their places then, and draws, as sim_gnuplot_draw() does: with its
 * errors. */
GMC_NODISCARD gmc_status sim_plot_close(struct sim_plot *plot, char *error);

#endif
