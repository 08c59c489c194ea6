/* SPDX-License-Identifier: BSD-2-Clause */
/* Racing TCP connects; see race.h. */
#include "gatewayd/race.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define RUNNERS_MAX 4
#define NEXT_AFTER_US 250000 /* until all run, then: */
#define RENEW_AFTER_S 1

struct runner {
    struct gwd_race *race;
    int fd;
    int error; /* of connect() itself: the socket does not keep it */
    struct event *event;
};

struct gwd_race {
    struct event_base *base;
    struct gwd_sockaddr to;
    struct runner runners[RUNNERS_MAX];
    size_t started, running; /* ever; now: in the place of the number modulo RUNNERS_MAX */
    struct event *timer;
    gwd_race_done done;
    void *ctx;
};

static void drop(struct runner *runner)
{
    if (runner->event != NULL)
        event_free(runner->event);
    if (runner->fd >= 0)
        (void)close(runner->fd);
    runner->event = NULL;
    runner->fd = -1;
}

static void drop_all(struct gwd_race *race)
{
    for (size_t i = 0; i < RUNNERS_MAX; i++)
        drop(&race->runners[i]);
}

/* A connection is there, or it is known that there will be none. */
static void on_answer(evutil_socket_t fd, short what, void *ctx)
{
    struct runner *runner = ctx;
    struct gwd_race *race = runner->race;
    int error = runner->error;
    socklen_t len = sizeof error;
    (void)what;
    if (error == 0)
        (void)getsockopt((int)fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (error != 0) {
        drop(runner);
        if (--race->running == 0) {
            (void)evtimer_del(race->timer);
            race->done(race->ctx, -1, error);
        }
        return;
    }
    runner->fd = -1; /* the callee's */
    (void)evtimer_del(race->timer);
    drop_all(race);
    race->done(race->ctx, (int)fd, 0);
}

static bool start_runner(struct gwd_race *race)
{
    const struct sockaddr *to = (const struct sockaddr *)&race->to.storage;
    struct runner *runner = &race->runners[race->started % RUNNERS_MAX];
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;            /* those that run go on */
    if (runner->event != NULL) { /* the oldest */
        drop(runner);
        race->running--;
    }
    runner->race = race;
    runner->error = 0;
    runner->fd = fd;
    runner->event = event_new(race->base, runner->fd, EV_WRITE, on_answer, runner);
    if (runner->event == NULL || event_add(runner->event, NULL) != 0) {
        drop(runner);
        return false;
    }
    race->started++;
    race->running++;
    if (connect(runner->fd, to, race->to.len) != 0 && errno != EINPROGRESS) {
        runner->error = errno;
        event_active(runner->event, EV_WRITE, 0);
    }
    return true;
}

static void arm(struct gwd_race *race)
{
    struct timeval wait = {.tv_usec = NEXT_AFTER_US};
    if (race->started >= RUNNERS_MAX)
        wait = (struct timeval){.tv_sec = RENEW_AFTER_S};
    (void)evtimer_add(race->timer, &wait);
}

static void on_late(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_race *race = ctx;
    (void)fd, (void)what;
    if (start_runner(race) || race->running > 0)
        arm(race);
    else
        race->done(race->ctx, -1, ENFILE); /* no descriptors any more */
}

struct gwd_race *gwd_race_start(struct event_base *base, const struct gwd_sockaddr *to,
                                gwd_race_done done, void *ctx)
{
    struct gwd_race *race = calloc(1, sizeof *race);
    if (race == NULL)
        return NULL;
    *race = (struct gwd_race){.base = base, .to = *to, .done = done, .ctx = ctx};
    for (size_t i = 0; i < RUNNERS_MAX; i++)
        race->runners[i].fd = -1;
    race->timer = evtimer_new(base, on_late, race);
    if (race->timer == NULL || !start_runner(race)) {
        gwd_race_free(race);
        return NULL;
    }
    arm(race);
    return race;
}

void gwd_race_free(struct gwd_race *race)
{
    if (race == NULL)
        return;
    drop_all(race);
    if (race->timer != NULL)
        event_free(race->timer);
    free(race);
}
