/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs over the ranks of an MPI world: rank r does jobs r, r + n, r + 2n ... and sends their texts
 * to rank 0, which takes them in order. */
#include <config.h>

#include "sim-wan/run/pool.h"

#ifdef HAVE_MPI
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

static struct world {
    bool is_up;
    int rank, size;
} world = {false, 0, 1};

/* Started by mpirun (Open MPI, MPICH and its kin, Slurm), not by hand: then MPI_Init would only
 * cost time. */
static bool is_started_by_mpirun(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]) != NULL)
            return true;
    return false;
}

int sim_mpi_begin(int *argc, char ***argv)
{
    if (!is_started_by_mpirun())
        return 1;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    world.is_up = true;
    return world.size;
}

int sim_mpi_ranks(void)
{
    return world.size;
}

bool sim_mpi_is_root(void)
{
    return world.rank == 0;
}

static void receive(const struct sim_pool *pool, size_t job)
{
    MPI_Status status;
    int len = 0;
    MPI_Probe((int)(job % (size_t)world.size), 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &len);
    char *text = sim_alloc((size_t)len + 1);
    MPI_Recv(text, len, MPI_CHAR, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text[len] = '\0';
    pool->done(pool->ctx, job, text, NULL);
    free(text);
}

void sim_mpi_run(const struct sim_pool *pool, size_t jobs)
{
    for (size_t job = 0; job < jobs; job++) {
        bool is_mine = job % (size_t)world.size == (size_t)world.rank;
        char *text = is_mine ? pool->work(pool->ctx, job) : NULL;
        if (is_mine && world.rank == 0)
            pool->done(pool->ctx, job, text, NULL);
        else if (is_mine)
            MPI_Send(text, (int)strlen(text), MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        else if (world.rank == 0)
            receive(pool, job);
        free(text);
    }
}

void sim_mpi_share(unsigned char *bytes, size_t length)
{
    GMC_ASSERT(length <= INT_MAX);
    if (world.is_up)
        MPI_Bcast(bytes, (int)length, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
}

void sim_mpi_end(void)
{
    if (world.is_up)
        MPI_Finalize();
}
#else
int sim_mpi_begin(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 1;
}

int sim_mpi_ranks(void)
{
    return 1;
}

bool sim_mpi_is_root(void)
{
    return true;
}

void sim_mpi_run(const struct sim_pool *pool, size_t jobs)
{
    sim_pool_run(pool, jobs, 1);
}

void sim_mpi_share(unsigned char *bytes, size_t length)
{
    (void)bytes;
    (void)length;
}

void sim_mpi_end(void)
{
}
#endif
