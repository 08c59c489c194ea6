/* SPDX-License-Identifier: BSD-2-Clause */
/* The store's worker threads: see workers.h.
 *
 * Threads that hand over one block at a time spend more on waking each other than on the block,
 * and two of them that write to one file wait for each other. So a worker that is up is left a few
 * blocks before another one is woken, and the loop is told of several results at once. */
#include "gatewayd/workers.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "gatewayd/store_int.h"

#define BLOCKS_PER_WORKER 8
#define RESULTS_MAX 4
#define RESULTS_WAIT_NS 200000

struct queue {
    struct gwd_job *first;
    struct gwd_job **last;
    size_t count;
};

struct gwd_workers {
    gwd_workers_execute execute;
    void *ctx;
    int event_fd;

    /* the loop's */
    struct queue gathered;
    struct queue ready; /* executed, to be taken */
    size_t pending;

    /* Not a condition variable: that of glibc before 2.41 loses a wake-up now and then where
     * several threads wait (its bug 25847), and a store whose workers sleep on hangs. */
    sem_t work;

    pthread_mutex_t lock; /* all below */
    bool stopping;
    unsigned sleeping;  /* workers in wait for work */
    unsigned woken;     /* of these, how many were woken and are not up yet */
    bool told;          /* the loop will look at done */
    struct queue first; /* before todo */
    struct queue todo;
    struct queue done;
    unsigned thread_count;
    unsigned begun; /* of these, how many have taken their place in current */
    const struct gwd_job *current[GWD_WORKERS_MAX]; /* by thread */
    uint64_t since[GWD_WORKERS_MAX];                /* of current, ns */
    struct gwd_workers_load load;                   /* what is over */
    pthread_t threads[GWD_WORKERS_MAX];
};

/* ---- queues ---- */
static void queue_init(struct queue *queue)
{
    *queue = (struct queue){.last = &queue->first};
}

static void push(struct queue *queue, struct gwd_job *job)
{
    job->next = NULL;
    *queue->last = job;
    queue->last = &job->next;
    queue->count++;
}

static struct gwd_job *pop(struct queue *queue)
{
    struct gwd_job *job = queue->first;
    if (job == NULL)
        return NULL;
    queue->first = job->next;
    queue->count--;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return job;
}

/* One of very many, and short on a disk that keeps up. */
static bool is_block(const struct gwd_job *job)
{
    return job->op.kind == GMC_STORE_READ || job->op.kind == GMC_STORE_WRITE;
}

/* Without its page a block is of no use to anybody, and the order of these among blocks is free. */
static bool goes_first(const struct gwd_job *job)
{
    return job->op.kind == GMC_STORE_READ_PAGE || job->op.kind == GMC_STORE_WRITE_PAGE ||
           job->op.kind == GMC_STORE_SYNC;
}

static bool is_of(const struct gwd_job *job, const struct gmc_channel_key *key)
{
    return job->key.e == key->e && strcmp(job->key.source, key->source) == 0;
}

/* The next one, if the two are alike. */
static struct gwd_job *pop_mate(struct queue *queue, const struct gwd_job *job)
{
    const struct gwd_job *next = queue->first;
    if (next == NULL || !is_block(job) || next->op.kind != job->op.kind ||
        next->op.len != job->op.len || !is_of(next, &job->key))
        return NULL;
    return pop(queue);
}

/* ---- waking ---- */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* How many workers execute something of another channel. */
static unsigned elsewhere(const struct gwd_workers *workers, const struct gmc_channel_key *key)
{
    unsigned count = 0;
    for (size_t i = 0; i < workers->thread_count; i++) {
        const struct gwd_job *job = workers->current[i];
        count += job != NULL && !is_of(job, key);
    }
    return count;
}

/* Wakes a worker for a job just queued, unless one that is up will take it soon: not one that may
 * be held up by another channel's disk. */
static void wake_worker(struct gwd_workers *workers, const struct gwd_job *job)
{
    unsigned up = workers->thread_count - workers->sleeping + workers->woken;
    if (workers->woken == workers->sleeping)
        return;
    if (up > 0 && is_block(job) && workers->todo.count <= (size_t)BLOCKS_PER_WORKER * up &&
        elsewhere(workers, &job->key) < up)
        return;
    workers->woken++;
    (void)sem_post(&workers->work);
}

/* Wakes the loop, unless a further result will be there at once. since: the start of the first
 * operation that the loop was not told of. */
static void tell_loop(struct gwd_workers *workers, uint64_t since)
{
    bool more = workers->todo.first != NULL && is_block(workers->todo.first);
    if (workers->told ||
        (more && workers->done.count < RESULTS_MAX && now_ns() - since < RESULTS_WAIT_NS))
        return;
    workers->told = true;
    (void)eventfd_write(workers->event_fd, 1);
}

/* ---- the threads ---- */
static void wait_for_work(struct gwd_workers *workers)
{
    workers->sleeping++;
    (void)pthread_mutex_unlock(&workers->lock);
    while (sem_wait(&workers->work) != 0 && errno == EINTR)
        ;
    (void)pthread_mutex_lock(&workers->lock);
    workers->sleeping--;
    if (workers->woken > 0)
        workers->woken--;
}

static void run(struct gwd_workers *workers, struct gwd_job *job, unsigned thread)
{
    struct gwd_job *mate = pop_mate(&workers->todo, job);
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    workers->current[thread] = job;
    workers->since[thread] = now_ns();
    (void)pthread_mutex_unlock(&workers->lock);
    workers->execute(workers->ctx, job, mate);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    (void)pthread_mutex_lock(&workers->lock);
    workers->load.busy_ns += now_ns() - workers->since[thread];
    workers->load.cpu_ns += cpu;
    workers->current[thread] = NULL;
    push(&workers->done, job);
    if (mate != NULL)
        push(&workers->done, mate);
}

static void *work(void *ctx)
{
    struct gwd_workers *workers = ctx;
    unsigned thread;
    uint64_t since = 0;
    (void)pthread_mutex_lock(&workers->lock);
    thread = workers->begun++;
    for (;;) {
        struct gwd_job *job = pop(&workers->first);
        if (job == NULL)
            job = pop(&workers->todo);
        if (job == NULL && workers->stopping)
            break;
        if (job == NULL) {
            wait_for_work(workers);
            continue;
        }
        if (workers->told || workers->done.count == 0)
            since = now_ns();
        run(workers, job, thread);
        tell_loop(workers, since);
    }
    (void)pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* ---- for the loop ---- */
static void destroy(struct gwd_workers *workers)
{
    if (workers->event_fd >= 0)
        (void)close(workers->event_fd);
    (void)pthread_mutex_destroy(&workers->lock);
    (void)sem_destroy(&workers->work);
    free(workers);
}

struct gwd_workers *gwd_workers_new(size_t threads, gwd_workers_execute execute, void *ctx)
{
    struct gwd_workers *workers = calloc(1, sizeof *workers);
    size_t started = 0;
    if (workers == NULL)
        return NULL;
    workers->execute = execute;
    workers->ctx = ctx;
    workers->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    queue_init(&workers->gathered);
    queue_init(&workers->ready);
    queue_init(&workers->first);
    queue_init(&workers->todo);
    queue_init(&workers->done);
    (void)pthread_mutex_init(&workers->lock, NULL);
    (void)sem_init(&workers->work, 0, 0);
    /* They wait until all are counted. */
    (void)pthread_mutex_lock(&workers->lock);
    while (workers->event_fd >= 0 && started < threads && started < GWD_WORKERS_MAX &&
           pthread_create(&workers->threads[started], NULL, work, workers) == 0)
        started++;
    workers->thread_count = (unsigned)started;
    (void)pthread_mutex_unlock(&workers->lock);
    if (started > 0)
        return workers;
    destroy(workers);
    return NULL;
}

static void drop_all(struct queue *queue, void (*drop)(struct gwd_job *job))
{
    struct gwd_job *job;
    while ((job = pop(queue)) != NULL)
        drop(job);
}

void gwd_workers_free(struct gwd_workers *workers, void (*drop)(struct gwd_job *job))
{
    if (workers == NULL)
        return;
    gwd_workers_flush(workers);
    (void)pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    for (unsigned i = 0; i < workers->thread_count; i++)
        (void)sem_post(&workers->work);
    (void)pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->thread_count; i++)
        (void)pthread_join(workers->threads[i], NULL);
    drop_all(&workers->ready, drop);
    drop_all(&workers->done, drop);
    destroy(workers);
}

void gwd_workers_submit(struct gwd_workers *workers, struct gwd_job *job)
{
    push(&workers->gathered, job);
    workers->pending++;
}

void gwd_workers_flush(struct gwd_workers *workers)
{
    struct gwd_job *job;
    if (workers->gathered.first == NULL)
        return;
    (void)pthread_mutex_lock(&workers->lock);
    while ((job = pop(&workers->gathered)) != NULL) {
        push(goes_first(job) ? &workers->first : &workers->todo, job);
        wake_worker(workers, job);
    }
    (void)pthread_mutex_unlock(&workers->lock);
}

int gwd_workers_fd(const struct gwd_workers *workers)
{
    return workers->event_fd;
}

static void fetch_done(struct gwd_workers *workers)
{
    struct gwd_job *job;
    eventfd_t count;
    (void)pthread_mutex_lock(&workers->lock);
    while ((job = pop(&workers->done)) != NULL)
        push(&workers->ready, job);
    if (workers->told)
        (void)eventfd_read(workers->event_fd, &count);
    workers->told = false;
    (void)pthread_mutex_unlock(&workers->lock);
}

struct gwd_job *gwd_workers_take(struct gwd_workers *workers)
{
    struct gwd_job *job;
    if (workers->ready.first == NULL)
        fetch_done(workers);
    job = pop(&workers->ready);
    if (job != NULL)
        workers->pending--;
    return job;
}

size_t gwd_workers_pending(const struct gwd_workers *workers)
{
    return workers->pending;
}

/* A disk that hangs shows too: executions that are not over count up to now. */
struct gwd_workers_load gwd_workers_load(struct gwd_workers *workers)
{
    struct gwd_workers_load load;
    uint64_t now = now_ns();
    (void)pthread_mutex_lock(&workers->lock);
    load = workers->load;
    load.threads = workers->thread_count;
    for (size_t i = 0; i < workers->thread_count; i++) {
        if (workers->current[i] != NULL && workers->since[i] < now)
            load.busy_ns += now - workers->since[i];
    }
    (void)pthread_mutex_unlock(&workers->lock);
    return load;
}
