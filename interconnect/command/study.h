/* SPDX-License-Identifier: BSD-2-Clause */
/* A published figure or table, made again: tables of points over families, their pictures, and the
 * claims that were made of them. */
#ifndef INTERCONNECT_COMMAND_STUDY_H
#define INTERCONNECT_COMMAND_STUDY_H

#include <math.h>

#include "experiments/report.h"
#include "interconnect/command/points.h"

#define IC_STUDY_TABLES_MAX 16u

struct ic_study_table {
    const char *what; /* of its files: NAME-WHAT.csv, .svg, .png */
    const char *family;
    unsigned side;         /* IC_MODEL, IC_SIMULATOR, IC_BOTH */
    const char *arguments; /* "algorithm=all group=2..16": values as on the command line */
    const char *figure;    /* that is drawn, or several, a picture each; NULL: the first */
    const char *caption;
    uint64_t messages; /* of a simulation; 0: as usual, in the short version too */
};

struct ic_study {
    const char *name, *title;
    const char *about; /* HTML */
    const struct ic_study_table *tables;
    size_t table_count;
    /* What no family has as points: tables and pictures of its own. False after words; NULL: none.
     */
    bool (*add)(const struct ic_points *tables, struct ex_report *report);
    /* Claims, of the tables' points in their order; anything else may be computed too. */
    void (*judge)(const struct ic_points *tables, struct ex_report *report);
};

#define IC_STUDY_TABLES(list) (list), sizeof(list) / sizeof((list)[0])

extern const struct ic_study *const ic_studies[];
extern const size_t ic_study_count;

struct ic_study_options {
    const char *folder;
    bool is_quick; /* a tenth of the messages */
    bool is_quiet;
    size_t workers; /* 0: one per core */
};

/* Computes the tables, draws, judges; of many ranks the root alone writes and judges. False after
 * words on standard error. */
bool ic_study_run(const struct ic_study *study, const struct ic_study_options *options,
                  struct ex_report *report);

/* Whether that side says so of the point of these values. */
bool ic_study_is_saturated(const struct ic_points *points, unsigned side, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The figure of the point that has these values, "algorithm=Md-torus group=10", of the parameters
 * that the table varies; NAN when it has none. Aborts where there is no such point: a study asks
 * for what it made. */
double ic_study_model(const struct ic_points *points, const char *output, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double ic_study_simulated(const struct ic_points *points, const char *output, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

/* What the model is off the simulation, as a share; INFINITY where one of them has no figure, which
 * a comparison must not pass over. */
static inline double ic_study_off(double model, double seen)
{
    double off = model / seen - 1;
    return isnan(off) ? INFINITY : off;
}

#endif
