/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of the store's worker threads: nothing is lost, and no channel waits for another's disk. */
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "gatewayd/store_int.h"
#include "gatewayd/workers.h"
#include "tests/lib/unit.h"

#define JOBS 500
#define STUCK 99 /* e of the channel whose disk does not answer */

static sem_t begun, answer;

static void execute(void *ctx, struct gwd_job *job, struct gwd_job *mate)
{
    unsigned *pairs = ctx;
    job->result.ticket = job->op.ticket;
    if (mate != NULL) {
        assert_int_equal(mate->op.kind, job->op.kind);
        assert_int_equal(mate->key.e, job->key.e);
        assert_int_equal(mate->op.len, job->op.len);
        mate->result.ticket = mate->op.ticket;
        if (pairs != NULL)
            ++*pairs;
    }
    if (job->key.e != STUCK)
        return;
    (void)sem_post(&begun);
    while (sem_wait(&answer) != 0)
        ;
}

static void submit(struct gwd_workers *workers, uint64_t ticket, enum gmc_store_kind kind,
                   uint64_t e)
{
    struct gwd_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->op = (struct gmc_store_op){.ticket = ticket, .kind = kind, .key = &job->key};
    job->key = (struct gmc_channel_key){.source = "s", .e = e};
    gwd_workers_submit(workers, job);
}

static void job_drop(struct gwd_job *job)
{
    free(job);
}

/* The ticket of the next executed job; fails when none comes for 5 s. */
static uint64_t take(struct gwd_workers *workers)
{
    struct pollfd p = {.fd = gwd_workers_fd(workers), .events = POLLIN};
    struct gwd_job *job;
    uint64_t ticket;
    while ((job = gwd_workers_take(workers)) == NULL)
        assert_int_equal(poll(&p, 1, 5000), 1);
    ticket = job->result.ticket;
    free(job);
    return ticket;
}

static void test_all_come_back(void **state)
{
    static bool seen[JOBS];
    struct gwd_workers *workers = gwd_workers_new(3, execute, NULL);
    (void)state;
    assert_non_null(workers);
    for (uint64_t i = 0; i < JOBS; i++) {
        submit(workers, i, i % 7 == 0 ? GMC_STORE_SYNC : GMC_STORE_WRITE, i % 3);
        if (i % 11 == 0)
            gwd_workers_flush(workers);
    }
    gwd_workers_flush(workers);
    assert_int_equal(gwd_workers_pending(workers), JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        uint64_t ticket = take(workers);
        assert_true(ticket < JOBS && !seen[ticket]);
        seen[ticket] = true;
    }
    assert_int_equal(gwd_workers_pending(workers), 0);
    assert_null(gwd_workers_take(workers));
    gwd_workers_free(workers, job_drop);
}

/* A block that comes alone does not wait for company. */
static void test_one_alone(void **state)
{
    struct gwd_workers *workers = gwd_workers_new(2, execute, NULL);
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        submit(workers, i, GMC_STORE_READ, 1);
        gwd_workers_flush(workers);
        assert_int_equal(take(workers), i);
    }
    gwd_workers_free(workers, job_drop);
}

/* Blocks of one channel, kind and length are executed two by two; each comes back. */
static void test_pairs(void **state)
{
    unsigned pairs = 0;
    bool seen[JOBS] = {false};
    struct gwd_workers *workers = gwd_workers_new(1, execute, &pairs);
    (void)state;
    for (uint64_t i = 0; i < JOBS; i++)
        submit(workers, i, i % 10 < 8 ? GMC_STORE_WRITE : GMC_STORE_READ, 1 + i % 100 / 50);
    gwd_workers_flush(workers);
    for (size_t i = 0; i < JOBS; i++)
        seen[take(workers)] = true;
    for (size_t i = 0; i < JOBS; i++)
        assert_true(seen[i]);
    assert_int_equal(pairs, JOBS / 2);
    gwd_workers_free(workers, job_drop);
}

static void test_a_stuck_disk(void **state)
{
    struct gwd_workers *workers = gwd_workers_new(2, execute, NULL);
    (void)state;
    submit(workers, 1, GMC_STORE_READ, STUCK);
    gwd_workers_flush(workers);
    while (sem_wait(&begun) != 0)
        ;
    submit(workers, 2, GMC_STORE_READ, 1);
    gwd_workers_flush(workers);
    assert_int_equal(take(workers), 2);
    /* The load shows it before it is over, and that it takes no processor. */
    struct gwd_workers_load before = gwd_workers_load(workers), now = before;
    while (now.busy_ns < before.busy_ns + 2000000)
        now = gwd_workers_load(workers);
    assert_int_equal(now.threads, 2);
    (void)sem_post(&answer);
    assert_int_equal(take(workers), 1);
    now = gwd_workers_load(workers);
    assert_true(now.busy_ns >= before.busy_ns + 2000000 && now.cpu_ns < now.busy_ns);
    gwd_workers_free(workers, job_drop);
}

/* What nobody takes is executed and dropped all the same: the leak checker sees to it. */
static void test_left_over(void **state)
{
    struct gwd_workers *workers = gwd_workers_new(2, execute, NULL);
    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        submit(workers, i, GMC_STORE_WRITE, 1);
    gwd_workers_free(workers, job_drop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_come_back), cmocka_unit_test(test_one_alone),
        cmocka_unit_test(test_pairs),         cmocka_unit_test(test_a_stuck_disk),
        cmocka_unit_test(test_left_over),
    };
    (void)sem_init(&begun, 0, 0);
    (void)sem_init(&answer, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
