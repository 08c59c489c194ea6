/* SPDX-License-Identifier: BSD-2-Clause */
/* The experiments, and what they are told. */
#ifndef EXPERIMENTS_EXPERIMENT_H
#define EXPERIMENTS_EXPERIMENT_H

#include "experiments/report.h"

struct ex_options {
    const char *folder;
    const char *topology; /* GML, GraphML or our own; NULL: none given */
    unsigned parallel;    /* runs at once */
    bool quick;           /* fewer points, smaller objects */
};

struct ex_experiment {
    const char *name;
    const char *summary;
    /* Before anything runs: false, with words on standard error, when it is given what it cannot
     * use. NULL: nothing can be wrong. */
    bool (*check)(const struct ex_options *options);
    /* Begins and fills the report. False, with words on standard error, when it failed. */
    bool (*run)(const struct ex_options *options, struct ex_report *report);
};

extern const struct ex_experiment ex_case1, ex_case2, ex_shapes, ex_sweeps, ex_relay, ex_map;

#endif
