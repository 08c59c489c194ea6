/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes for runs; results come back in shared memory. */
#include "experiments/jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BAR_COLUMNS 30

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A bar that is drawn over on a terminal; a line for each fifth where the output is a file. */
static void show(const struct ex_jobs *jobs, size_t done, double began)
{
    char bar[BAR_COLUMNS + 1];
    size_t filled = done * BAR_COLUMNS / jobs->count;
    bool is_terminal = isatty(STDERR_FILENO) != 0;
    if (!is_terminal && done * 5 / jobs->count == (done - (done > 0)) * 5 / jobs->count)
        return;
    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', filled);
    bar[BAR_COLUMNS] = '\0';
    fprintf(stderr, "%s  %-14s [%s] %zu/%zu runs, %.0f s%s", is_terminal ? "\r" : "", jobs->name,
            bar, done, jobs->count, wall_clock() - began,
            is_terminal && done < jobs->count ? "" : "\n");
}

static size_t results_bytes(const struct ex_jobs *jobs)
{
    return jobs->count * jobs->result_bytes + 1;
}

static bool start(const struct ex_jobs *jobs, size_t i, char *results)
{
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* nobody would take its result */
        if (getppid() != parent)
            _exit(1);
        jobs->run(jobs->ctx, i, results + i * jobs->result_bytes);
        fflush(NULL);
        _exit(0);
    }
    if (pid < 0)
        fprintf(stderr, "experiments: cannot start a process: %s\n", strerror(errno));
    return pid > 0;
}

/* Waits for one to end. */
static bool reap(const struct ex_jobs *jobs)
{
    int status = 0;
    pid_t pid;
    do {
        pid = wait(&status);
    } while (pid < 0 && errno == EINTR);
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    fprintf(stderr, "\nexperiments: a run of %s ended with status %d\n", jobs->name, status);
    return false;
}

void *ex_jobs_run(const struct ex_jobs *jobs)
{
    double began = wall_clock();
    size_t started = 0, done = 0;
    bool ok = true;
    char *results =
        mmap(NULL, results_bytes(jobs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (results == MAP_FAILED) {
        fprintf(stderr, "experiments: no memory for the results of %s\n", jobs->name);
        return NULL;
    }
    while (done < started || (ok && started < jobs->count)) {
        if (ok && started < jobs->count && started - done < jobs->parallel) {
            ok = start(jobs, started, results);
            started += ok;
            continue;
        }
        ok = reap(jobs) && ok;
        show(jobs, ++done, began);
    }
    if (ok)
        return results;
    ex_jobs_free(jobs, results);
    return NULL;
}

void ex_jobs_free(const struct ex_jobs *jobs, void *results)
{
    munmap(results, results_bytes(jobs));
}
