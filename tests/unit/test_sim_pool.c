/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs over processes: all texts, in order, whoever makes them, also when a worker dies. And what
 * several runs have in common. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim-wan/mem.h"
#include "sim-wan/run/group.h"
#include "sim-wan/run/pool.h"
#include "tests/lib/unit.h"

#define JOBS 40
#define LONG_TEXT 200000 /* more than a pipe holds */

struct herd {
    size_t fatal; /* a job that ends its process */
    size_t next;
    size_t lost;
    char lost_why[80];
};

static char *work(void *ctx, size_t n)
{
    struct herd *herd = ctx;
    if (n == herd->fatal)
        raise(SIGKILL);
    size_t len = n % 7 == 3 ? LONG_TEXT : n;
    char *text = sim_alloc(len + 1);
    memset(text, 'a' + (int)(n % 26), len);
    text[len] = '\0';
    usleep((useconds_t)(1000 * ((JOBS - n) % 5)));
    return text;
}

static void on_done(void *ctx, size_t n, const char *text, const char *why)
{
    struct herd *herd = ctx;
    assert_int_equal(n, herd->next++);
    if (text == NULL) {
        herd->lost++;
        snprintf(herd->lost_why, sizeof(herd->lost_why), "%s", why);
        return;
    }
    size_t len = n % 7 == 3 ? LONG_TEXT : n;
    assert_int_equal(strlen(text), len);
    assert_true(len == 0 || text[len - 1] == 'a' + (char)(n % 26));
}

static void test_order(void **state)
{
    (void)state;
    for (size_t workers = 1; workers <= 5; workers += 2) {
        struct herd herd = {.fatal = JOBS};
        struct sim_pool pool = {&herd, work, on_done};
        sim_pool_run(&pool, JOBS, workers);
        assert_int_equal(herd.next, JOBS);
        assert_int_equal(herd.lost, 0);
    }
}

static void test_death(void **state)
{
    struct herd herd = {.fatal = 11};
    struct sim_pool pool = {&herd, work, on_done};
    (void)state;
    sim_pool_run(&pool, JOBS, 3);
    assert_int_equal(herd.next, JOBS);
    assert_int_equal(herd.lost, 1);
    assert_string_equal(herd.lost_why, "its process was ended by signal 9");
}

static void test_group(void **state)
{
    struct sim_group group = {0};
    (void)state;
    for (int i = 20; i >= 1; i--) {
        json_t *summary = json_pack("{s:b, s:i, s:f, s:f}", "complete", true, "violations", 0,
                                    "completion_seconds", (double)i, "ratio", 0.5);
        sim_group_add(&group, summary);
        json_decref(summary);
    }
    assert_true(sim_group_is_good(&group));
    json_t *failed =
        json_pack("{s:b, s:i, s:n}", "complete", false, "violations", 2, "completion_seconds");
    sim_group_add(&group, failed);
    sim_group_add(&group, NULL);
    json_decref(failed);
    assert_false(sim_group_is_good(&group));
    json_t *object = sim_group_summary(&group);
    int runs, complete, violations, lost;
    double min, p05, p25, median, p95, max;
    assert_int_equal(json_unpack(object, "{s:i, s:i, s:i, s:i, s:{s:f, s:f, s:f, s:f, s:f, s:f}}",
                                 "runs", &runs, "complete", &complete, "violations", &violations,
                                 "lost", &lost, "completion_seconds", "min", &min, "p05", &p05,
                                 "p25", &p25, "median", &median, "p95", &p95, "max", &max),
                     0);
    assert_true(runs == 22 && complete == 20 && violations == 2 && lost == 1);
    assert_true(min == 1 && p05 == 1 && p25 == 5 && median == 10 && p95 == 19 && max == 20);
    json_decref(object);
    sim_group_fini(&group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_death),
                                       cmocka_unit_test(test_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
