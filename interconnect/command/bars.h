/* SPDX-License-Identifier: BSD-2-Clause */
/* A published table whose rows have names instead of numbers, as CSV and as a picture of bars
 * beside each other. */
#ifndef INTERCONNECT_COMMAND_BARS_H
#define INTERCONNECT_COMMAND_BARS_H

#include "experiments/report.h"
#include "interconnect/text.h"

#define IC_BARS_SERIES_MAX 4u

struct ic_bars {
    const char *what; /* of its files: NAME-WHAT.csv, .gp, .png */
    const char *caption;
    const char *row;                        /* what a row is: head of the first column */
    const char *unit;                       /* of all values; "" for bare numbers */
    const char *series[IC_BARS_SERIES_MAX]; /* heads of the others */
    size_t series_count;
    struct ic_text csv, data; /* rows so far */
    size_t rows;
    size_t longest; /* of their names */
};

/* A value that is not finite is "none". */
void ic_bars_add(struct ic_bars *bars, const char *name, const double *values);
/* Writes and draws what was added, and releases it. False after words on standard error. */
bool ic_bars_end(struct ic_bars *bars, struct ex_report *report);

#endif
