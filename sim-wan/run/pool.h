/* SPDX-License-Identifier: BSD-2-Clause */
/* Many independent jobs over the cores of a machine, or over the ranks of an MPI world when the
 * program was built with MPI and started by mpirun. Each job gives a text; texts come back in the
 * order of the jobs, so what is made of them does not depend on who did which. */
#ifndef SIM_RUN_POOL_H
#define SIM_RUN_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct sim_pool {
    void *ctx;
    /* Does job n in some process; returns its text (malloc). */
    char *(*work)(void *ctx, size_t n);
    /* Takes the text of job n, in the one process that called: NULL when its process ended without
     * giving one, and `why` says how. */
    void (*done)(void *ctx, size_t n, const char *text, const char *why);
};

/* In the processes of this machine, `workers` of them; with one, in this process. */
void sim_pool_run(const struct sim_pool *pool, size_t jobs, size_t workers);

/* ---- MPI (pool_mpi.c); without it there is a world of one ---- */
/* To be called first. How many ranks there are, 1: none but this. */
int sim_mpi_begin(int *argc, char ***argv);
int sim_mpi_ranks(void);
/* The rank that speaks and to which texts come. */
bool sim_mpi_is_root(void);
/* Over all ranks; `done` is called in the root. Every rank calls it. */
void sim_mpi_run(const struct sim_pool *pool, size_t jobs);
/* Gives all ranks the root's bytes. Every rank calls it, with the same length. */
void sim_mpi_share(unsigned char *bytes, size_t length);
void sim_mpi_end(void);

#endif
