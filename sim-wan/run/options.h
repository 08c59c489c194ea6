/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `sim-wan run`. */
#ifndef SIM_RUN_OPTIONS_H
#define SIM_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim-wan/run/record.h"

#define SIM_SWEEPS_MAX 8

struct sim_sweep {
    const char *name; /* section.name, borrowed from the copy */
    char *copy;
    const char **values;
    size_t count, capacity;
};

struct sim_run_options {
    const char *scenario;
    const char *json; /* FILE; "-": standard output; NULL: none */
    bool check;
    bool lines; /* what happens, on standard error */
    bool quiet; /* no progress */
    bool has_seeds;
    uint64_t seed_first, seed_last;
    size_t jobs; /* 0: as many as there are cores */
    const char **sets;
    size_t set_count, set_capacity;
    struct sim_sweep sweeps[SIM_SWEEPS_MAX];
    size_t sweep_count;
    const char *records[SIM_RECORDERS_MAX];
};

/* 0: go on; 1: bad, words are on standard error; 2: help was printed. Borrows argv. */
int sim_run_options_read(struct sim_run_options *options, int argc, char **argv);
void sim_run_options_fini(struct sim_run_options *options);

/* How many combinations of swept values there are. */
size_t sim_run_options_combinations(const struct sim_run_options *options);
/* The values to set (sim_conf_set) in combination n, those of --set first; an array of
 * set_count + sweep_count texts, to be given back. */
char **sim_run_options_sets(const struct sim_run_options *options, size_t n);
void sim_run_options_free_sets(const struct sim_run_options *options, char **sets);

/* The command that repeats a run (malloc): what a shell takes. */
char *sim_run_options_command(const struct sim_run_options *options, uint64_t seed,
                              char *const *sets);

#endif
