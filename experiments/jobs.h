/* SPDX-License-Identifier: BSD-2-Clause */
/* Many independent runs over the cores, each in a process of its own, with a progress bar. What a
 * run gives does not depend on how many run beside it. */
#ifndef EXPERIMENTS_JOBS_H
#define EXPERIMENTS_JOBS_H

#include <stddef.h>

struct ex_jobs {
    const char *name; /* before the bar */
    size_t count;
    unsigned parallel; /* at most so many at once; at least 1 */
    size_t result_bytes;
    /* Fills the result of run i, which is zeros before. In a process of its own. */
    void (*run)(const void *ctx, size_t i, void *result);
    const void *ctx;
};

/* Runs all and returns the array of results, to be given back to ex_jobs_free; NULL, with words on
 * standard error, when a run failed or there is no memory. */
void *ex_jobs_run(const struct ex_jobs *jobs);
void ex_jobs_free(const struct ex_jobs *jobs, void *results);

#endif
