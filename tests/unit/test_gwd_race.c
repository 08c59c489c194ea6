/* SPDX-License-Identifier: BSD-2-Clause */
/* Racing TCP connects: to who answers, who refuses, and over a path that is cut at first. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gatewayd/race.h"
#include "tests/lib/unit.h"

struct outcome {
    struct event_base *base;
    int calls, fd, error;
};

static void done(void *ctx, int fd, int error)
{
    struct outcome *outcome = ctx;
    outcome->calls++;
    outcome->fd = fd;
    outcome->error = error;
    event_base_loopbreak(outcome->base);
}

static void stop(evutil_socket_t fd, short what, void *ctx)
{
    struct outcome *outcome = ctx;
    (void)fd, (void)what;
    event_base_loopbreak(outcome->base);
}

/* Runs the loop until done() or so many milliseconds. */
static void run(struct outcome *outcome, int ms)
{
    struct timeval wait = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    struct event *timer = evtimer_new(outcome->base, stop, outcome);
    assert_int_equal(evtimer_add(timer, &wait), 0);
    event_base_dispatch(outcome->base);
    event_free(timer);
}

/* A listener on loopback with so long a queue. */
static int open_listener(struct gwd_sockaddr *address, int backlog)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address->len = sizeof in;
    assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(listen(fd, backlog), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address->storage, &address->len), 0);
    return fd;
}

static void test_connected(void **state)
{
    struct outcome outcome = {.base = event_base_new(), .fd = -1};
    struct gwd_sockaddr to;
    int listener = open_listener(&to, 8);
    (void)state;
    struct gwd_race *race = gwd_race_start(outcome.base, &to, done, &outcome);
    assert_non_null(race);
    assert_int_equal(outcome.calls, 0);
    run(&outcome, 2000);
    assert_int_equal(outcome.calls, 1);
    assert_true(outcome.fd >= 0);
    gwd_race_free(race);
    assert_int_equal(write(outcome.fd, "x", 1), 1); /* it is ours */
    close(outcome.fd);
    close(listener);
    event_base_free(outcome.base);
}

static void test_refused(void **state)
{
    struct outcome outcome = {.base = event_base_new()};
    struct gwd_sockaddr to;
    (void)state;
    close(open_listener(&to, 1));
    struct gwd_race *race = gwd_race_start(outcome.base, &to, done, &outcome);
    assert_non_null(race);
    run(&outcome, 2000);
    assert_int_equal(outcome.calls, 1);
    assert_int_equal(outcome.fd, -1);
    assert_int_equal(outcome.error, ECONNREFUSED);
    run(&outcome, 600); /* nobody joins any more */
    assert_int_equal(outcome.calls, 1);
    gwd_race_free(race);
    event_base_free(outcome.base);
}

/* What connect() refuses at once is an error from the loop too, and no connection. */
static void test_no_way(void **state)
{
    struct outcome outcome = {.base = event_base_new()};
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons(9),
                             .sin_addr.s_addr = htonl(INADDR_BROADCAST)};
    struct gwd_sockaddr to = {.len = sizeof in};
    (void)state;
    memcpy(&to.storage, &in, sizeof in);
    struct gwd_race *race = gwd_race_start(outcome.base, &to, done, &outcome);
    assert_non_null(race);
    assert_int_equal(outcome.calls, 0);
    run(&outcome, 2000);
    assert_int_equal(outcome.calls, 1);
    assert_int_equal(outcome.fd, -1);
    assert_int_not_equal(outcome.error, 0);
    gwd_race_free(race);
    event_base_free(outcome.base);
}

/* A full queue of connections drops SYNs as a path that is cut does, for so long. The limit is that
 * of the wait for the connection after that. */
static void connect_after(int cut_ms, int limit_ms)
{
    struct outcome outcome = {.base = event_base_new(), .fd = -1};
    struct gwd_sockaddr to;
    int listener = open_listener(&to, 0), filler = socket(AF_INET, SOCK_STREAM, 0), taken;
    assert_int_equal(connect(filler, (struct sockaddr *)&to.storage, to.len), 0);
    struct gwd_race *race = gwd_race_start(outcome.base, &to, done, &outcome);
    assert_non_null(race);
    run(&outcome, cut_ms);
    assert_int_equal(outcome.calls, 0);
    taken = accept(listener, NULL, NULL);
    run(&outcome, limit_ms);
    assert_int_equal(outcome.calls, 1);
    assert_true(outcome.fd >= 0);
    gwd_race_free(race);
    close(outcome.fd);
    close(taken);
    close(filler);
    close(listener);
    event_base_free(outcome.base);
}

/* The kernel sends a SYN again after a second; the race has long been won then. */
static void test_first_is_lost(void **state)
{
    (void)state;
    connect_after(100, 700);
}

/* Between 3.75 and 7 s the first four send nothing. */
static void test_path_comes_back(void **state)
{
    (void)state;
    connect_after(4000, 1900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connected),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_way),          cmocka_unit_test(test_first_is_lost),
        cmocka_unit_test(test_path_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
