/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs over processes; see pool.h. Workers take the next job from a counter in shared memory and
 * write its text into a pipe of their own. */
#include "sim-wan/run/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

#define NO_JOB SIZE_MAX

struct shared {
    atomic_size_t next;
    atomic_size_t current[]; /* by worker: the job that it does */
};

struct head { /* of a text in a pipe */
    uint64_t job, len;
};

struct worker {
    pid_t pid;
    int fd; /* -1: it has ended */
    char *bytes;
    size_t count, capacity;
};

struct herd {
    const struct sim_pool *pool;
    size_t jobs, worker_count;
    struct shared *shared;
    size_t shared_bytes;
    struct worker *workers;
    char **texts; /* of jobs that are done and not their turn yet */
    char **whys;  /* of jobs without */
    bool *has_ended;
    size_t turn;
};

/* ---- in a worker ---- */
static void write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t wrote = write(fd, at, len);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            _exit(1); /* the parent is gone */
        at += wrote;
        len -= (size_t)wrote;
    }
}

static void work(const struct herd *herd, size_t self, int fd)
{
    size_t job;
    while ((job = atomic_fetch_add(&herd->shared->next, 1)) < herd->jobs) {
        atomic_store(&herd->shared->current[self], job);
        char *text = herd->pool->work(herd->pool->ctx, job);
        struct head head = {job, strlen(text)};
        write_all(fd, &head, sizeof(head));
        write_all(fd, text, head.len);
        atomic_store(&herd->shared->current[self], NO_JOB);
        free(text);
    }
    _exit(0);
}

/* ---- in the parent ---- */
static void start(struct herd *herd, size_t self)
{
    int ends[2];
    fflush(NULL); /* what is buffered would be written twice */
    if (pipe(ends) != 0) {
        perror("sim-wan: pipe");
        exit(1);
    }
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        perror("sim-wan: fork");
        exit(1);
    }
    if (pid == 0) {
        close(ends[0]);
        /* A run may take hours; without who asked for it, it is for nobody. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != parent)
            _exit(1);
        work(herd, self, ends[1]);
    }
    close(ends[1]);
    herd->workers[self] = (struct worker){.pid = pid, .fd = ends[0]};
}

static void keep(struct herd *herd, size_t job, char *text, char *why)
{
    herd->texts[job] = text;
    herd->whys[job] = why;
    herd->has_ended[job] = true;
    for (; herd->turn < herd->jobs && herd->has_ended[herd->turn]; herd->turn++) {
        herd->pool->done(herd->pool->ctx, herd->turn, herd->texts[herd->turn],
                         herd->whys[herd->turn]);
        free(herd->texts[herd->turn]);
        free(herd->whys[herd->turn]);
        herd->texts[herd->turn] = herd->whys[herd->turn] = NULL;
    }
}

/* Takes the whole texts out of what a worker has written so far. */
static void take_texts(struct herd *herd, struct worker *worker)
{
    struct head head;
    size_t at = 0;
    while (worker->count - at >= sizeof(head)) {
        memcpy(&head, worker->bytes + at, sizeof(head));
        if (worker->count - at - sizeof(head) < head.len)
            break;
        GMC_ASSERT(head.job < herd->jobs);
        char *text = sim_alloc(head.len + 1);
        memcpy(text, worker->bytes + at + sizeof(head), head.len);
        text[head.len] = '\0';
        at += sizeof(head) + head.len;
        keep(herd, head.job, text, NULL);
    }
    memmove(worker->bytes, worker->bytes + at, worker->count - at);
    worker->count -= at;
}

/* A worker's pipe has ended; a job that it left undone has no text. */
static void bury(struct herd *herd, size_t self)
{
    struct worker *worker = &herd->workers[self];
    size_t job = atomic_load(&herd->shared->current[self]);
    int status = 0;
    char why[64];
    close(worker->fd);
    worker->fd = -1;
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        snprintf(why, sizeof(why), "its process was ended by signal %d", WTERMSIG(status));
    else
        snprintf(why, sizeof(why), "its process ended with status %d", WEXITSTATUS(status));
    free(worker->bytes);
    if (job == NO_JOB || herd->has_ended[job])
        return;
    keep(herd, job, NULL, sim_strdup(why));
    start(herd, self);
}

static void hear(struct herd *herd, size_t self)
{
    struct worker *worker = &herd->workers[self];
    if (worker->capacity - worker->count < 65536) {
        worker->capacity = worker->capacity * 2 + 65536;
        worker->bytes = sim_grow(worker->bytes, worker->capacity, 1);
    }
    ssize_t got = read(worker->fd, worker->bytes + worker->count, worker->capacity - worker->count);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        bury(herd, self);
        return;
    }
    worker->count += (size_t)got;
    take_texts(herd, worker);
}

static bool hear_all(struct herd *herd, struct pollfd *fds)
{
    bool any = false;
    for (size_t i = 0; i < herd->worker_count; i++) {
        fds[i] = (struct pollfd){.fd = herd->workers[i].fd, .events = POLLIN};
        any = any || herd->workers[i].fd >= 0;
    }
    if (any && poll(fds, herd->worker_count, -1) > 0)
        for (size_t i = 0; i < herd->worker_count; i++)
            if (fds[i].revents != 0)
                hear(herd, i);
    return any;
}

static void run_here(const struct sim_pool *pool, size_t jobs)
{
    for (size_t i = 0; i < jobs; i++) {
        char *text = pool->work(pool->ctx, i);
        pool->done(pool->ctx, i, text, NULL);
        free(text);
    }
}

void sim_pool_run(const struct sim_pool *pool, size_t jobs, size_t workers)
{
    struct herd herd = {.pool = pool,
                        .jobs = jobs,
                        .worker_count = workers < jobs ? workers : jobs};
    if (herd.worker_count <= 1) {
        run_here(pool, jobs);
        return;
    }
    herd.shared_bytes = sizeof(struct shared) + herd.worker_count * sizeof(atomic_size_t);
    herd.shared =
        mmap(NULL, herd.shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (herd.shared == MAP_FAILED) {
        perror("sim-wan: mmap");
        exit(1);
    }
    herd.workers = sim_calloc(herd.worker_count, sizeof(*herd.workers));
    herd.texts = sim_calloc(jobs, sizeof(char *));
    herd.whys = sim_calloc(jobs, sizeof(char *));
    herd.has_ended = sim_calloc(jobs, sizeof(bool));
    struct pollfd *fds = sim_calloc(herd.worker_count, sizeof(*fds));
    for (size_t i = 0; i < herd.worker_count; i++)
        atomic_init(&herd.shared->current[i], NO_JOB);
    for (size_t i = 0; i < herd.worker_count; i++)
        start(&herd, i);
    while (hear_all(&herd, fds))
        ;
    munmap(herd.shared, herd.shared_bytes);
    free(fds);
    free(herd.workers);
    free(herd.texts);
    free(herd.whys);
    free(herd.has_ended);
}
