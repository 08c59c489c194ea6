/* SPDX-License-Identifier: BSD-2-Clause */
/* The store's worker threads: jobs go in, and come back executed, in batches both ways. Everything
 * here but the execution itself is for the loop's thread alone. */
#ifndef GWD_WORKERS_H
#define GWD_WORKERS_H

#include <stddef.h>
#include <stdint.h>

struct gwd_job;
struct gwd_workers;

/* mate: NULL, or a block to be read or written as job is, of the same channel and length: what both
 * need can be done for both at once. */
typedef void (*gwd_workers_execute)(void *ctx, struct gwd_job *job, struct gwd_job *mate);

#define GWD_WORKERS_MAX 64u

/* Starts so many threads, or as many as can be; NULL when there is none. */
struct gwd_workers *gwd_workers_new(size_t threads, gwd_workers_execute execute, void *ctx);
/* Executes what is left, ends the threads; NULL is fine. What nobody took is given to drop. */
void gwd_workers_free(struct gwd_workers *workers, void (*drop)(struct gwd_job *job));

/* Gathers a job until the next flush, which hands all of them over. */
void gwd_workers_submit(struct gwd_workers *workers, struct gwd_job *job);
void gwd_workers_flush(struct gwd_workers *workers);
/* Readable when executed jobs wait; take until NULL. */
int gwd_workers_fd(const struct gwd_workers *workers);
struct gwd_job *gwd_workers_take(struct gwd_workers *workers);
/* Submitted and not taken yet. */
size_t gwd_workers_pending(const struct gwd_workers *workers);

struct gwd_workers_load {
    unsigned threads;
    uint64_t busy_ns; /* of all threads, in executions */
    uint64_t cpu_ns;  /* of that on a processor, in executions that are over */
};
struct gwd_workers_load gwd_workers_load(struct gwd_workers *workers);

#endif
