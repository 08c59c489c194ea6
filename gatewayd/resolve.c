/* SPDX-License-Identifier: BSD-2-Clause */
/* Names to addresses, and SRV records, in a thread of its own. */
#include "gatewayd/resolve.h"

#include <arpa/nameser.h>
#include <netdb.h>
#include <pthread.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "gatewayd/text.h"

#define WAITING_MAX 256

struct question {
    struct question *next;
    char host[256];
    uint16_t port;
    struct gwd_resolved answer;
};

struct gwd_resolver {
    gwd_resolve_done done;
    void *ctx;
    struct event *event;
    int fd;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* all below */
    pthread_cond_t work;
    bool stopping;
    bool busy;      /* the thread waits for a name server */
    bool abandoned; /* the thread releases all when it is through */
    size_t waiting;
    struct question *todo, **todo_last;
    struct question *ready;
};

/* ---- SRV ---- */
static int by_rank(const void *a, const void *b)
{
    const struct gwd_srv *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (x->weight < y->weight) - (x->weight > y->weight);
}

size_t gwd_srv_parse(const uint8_t *answer, size_t len, struct gwd_srv *out, size_t max)
{
    ns_msg msg;
    size_t count = 0;
    if (len > 65535 || ns_initparse(answer, (int)len, &msg) != 0)
        return 0;
    for (int i = 0; i < ns_msg_count(msg, ns_s_an) && count < max; i++) {
        ns_rr rr;
        const uint8_t *data;
        if (ns_parserr(&msg, ns_s_an, i, &rr) != 0 || ns_rr_type(rr) != ns_t_srv ||
            ns_rr_rdlen(rr) < 7)
            continue;
        data = ns_rr_rdata(rr);
        out[count].priority = gmc_get16(data);
        out[count].weight = gmc_get16(data + 2);
        out[count].port = gmc_get16(data + 4);
        if (dn_expand(ns_msg_base(msg), ns_msg_end(msg), data + 6, out[count].target,
                      sizeof out[count].target) < 0)
            continue;
        /* A target of "." says that the service is decidedly not there (RFC 2782). */
        if (out[count].port != 0 && out[count].target[0] != '\0')
            count++;
    }
    qsort(out, count, sizeof *out, by_rank);
    return count;
}

static void look_up(struct gwd_resolved *answer, const char *host, uint16_t port)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char service[8];
    int error;
    (void)snprintf(service, sizeof service, "%u", port);
    error = getaddrinfo(host, service, &hints, &list);
    if (error != 0) {
        gwd_text(answer->reason, sizeof answer->reason, "%.200s: %s", host, gai_strerror(error));
        return;
    }
    for (struct addrinfo *a = list; a != NULL && answer->count < GWD_RESOLVE_MAX; a = a->ai_next) {
        struct gwd_sockaddr *to = &answer->addresses[answer->count];
        if (a->ai_addrlen > sizeof to->storage)
            continue;
        memcpy(&to->storage, a->ai_addr, a->ai_addrlen);
        to->len = a->ai_addrlen;
        answer->count++;
    }
    freeaddrinfo(list);
}

static void look_up_service(struct gwd_resolved *answer, const char *domain)
{
    struct gwd_srv targets[GWD_RESOLVE_MAX];
    struct __res_state state;
    uint8_t buffer[4096];
    char name[300];
    size_t count = 0;
    int len;
    memset(&state, 0, sizeof state);
    (void)snprintf(name, sizeof name, "_gmcast._tcp.%s", domain);
    if (res_ninit(&state) == 0) {
        len = res_nquery(&state, name, ns_c_in, ns_t_srv, buffer, sizeof buffer);
        if (len > 0)
            count = gwd_srv_parse(buffer, (size_t)len < sizeof buffer ? (size_t)len : sizeof buffer,
                                  targets, GWD_RESOLVE_MAX);
        res_nclose(&state);
    }
    if (count == 0)
        gwd_text(answer->reason, sizeof answer->reason,
                 "no address is configured and DNS has no SRV record %s", name);
    for (size_t i = 0; i < count; i++)
        look_up(answer, targets[i].target, targets[i].port);
}

/* ---- the thread ---- */
static void free_questions(struct question *question)
{
    while (question != NULL) {
        struct question *next = question->next;
        free(question);
        question = next;
    }
}

static void release(struct gwd_resolver *resolver)
{
    free_questions(resolver->todo);
    free_questions(resolver->ready);
    if (resolver->fd >= 0)
        (void)close(resolver->fd);
    (void)pthread_mutex_destroy(&resolver->lock);
    (void)pthread_cond_destroy(&resolver->work);
    free(resolver);
}

static void *work(void *ctx)
{
    struct gwd_resolver *resolver = ctx;
    bool abandoned;
    (void)pthread_mutex_lock(&resolver->lock);
    while (!resolver->stopping) {
        struct question *question = resolver->todo;
        if (question == NULL) {
            (void)pthread_cond_wait(&resolver->work, &resolver->lock);
            continue;
        }
        resolver->todo = question->next;
        if (resolver->todo == NULL)
            resolver->todo_last = &resolver->todo;
        resolver->busy = true;
        (void)pthread_mutex_unlock(&resolver->lock);
        if (question->port != 0)
            look_up(&question->answer, question->host, question->port);
        else
            look_up_service(&question->answer, question->host);
        (void)pthread_mutex_lock(&resolver->lock);
        resolver->busy = false;
        question->next = resolver->ready;
        resolver->ready = question;
        (void)eventfd_write(resolver->fd, 1);
    }
    abandoned = resolver->abandoned;
    (void)pthread_mutex_unlock(&resolver->lock);
    if (abandoned)
        release(resolver);
    return NULL;
}

static void on_ready(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_resolver *resolver = ctx;
    struct question *ready;
    eventfd_t count;
    (void)what;
    (void)eventfd_read((int)fd, &count);
    (void)pthread_mutex_lock(&resolver->lock);
    ready = resolver->ready;
    resolver->ready = NULL;
    (void)pthread_mutex_unlock(&resolver->lock);
    while (ready != NULL) {
        struct question *next = ready->next;
        resolver->waiting--;
        resolver->done(resolver->ctx, &ready->answer);
        free(ready);
        ready = next;
    }
}

struct gwd_resolver *gwd_resolver_new(struct event_base *base, gwd_resolve_done done, void *ctx)
{
    struct gwd_resolver *resolver = calloc(1, sizeof *resolver);
    if (resolver == NULL)
        return NULL;
    resolver->done = done;
    resolver->ctx = ctx;
    resolver->todo_last = &resolver->todo;
    resolver->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    resolver->event = event_new(base, resolver->fd, EV_READ | EV_PERSIST, on_ready, resolver);
    (void)pthread_mutex_init(&resolver->lock, NULL);
    (void)pthread_cond_init(&resolver->work, NULL);
    if (resolver->fd < 0 || resolver->event == NULL || event_add(resolver->event, NULL) != 0) {
        gwd_resolver_free(resolver);
        return NULL;
    }
    return resolver;
}

void gwd_resolver_free(struct gwd_resolver *resolver)
{
    pthread_t thread;
    bool busy;
    if (resolver == NULL)
        return;
    thread = resolver->thread; /* resolver may be gone right after the unlock */
    if (resolver->event != NULL)
        event_free(resolver->event);
    (void)pthread_mutex_lock(&resolver->lock);
    resolver->stopping = true;
    busy = resolver->abandoned = resolver->busy;
    (void)pthread_cond_signal(&resolver->work);
    (void)pthread_mutex_unlock(&resolver->lock);
    if (busy) {
        /* A name server may take many seconds, and nobody waits for its answer any more. */
        (void)pthread_detach(thread);
        return;
    }
    if (resolver->started)
        (void)pthread_join(thread, NULL);
    release(resolver);
}

bool gwd_resolver_ask(struct gwd_resolver *resolver, uint64_t id, const char *host, uint16_t port)
{
    struct question *question;
    if (resolver->waiting == WAITING_MAX)
        return false;
    if (!resolver->started) {
        if (pthread_create(&resolver->thread, NULL, work, resolver) != 0)
            return false;
        resolver->started = true;
    }
    question = calloc(1, sizeof *question);
    if (question == NULL)
        return false;
    (void)snprintf(question->host, sizeof question->host, "%s", host);
    question->port = port;
    question->answer.id = id;
    resolver->waiting++;
    (void)pthread_mutex_lock(&resolver->lock);
    *resolver->todo_last = question;
    resolver->todo_last = &question->next;
    (void)pthread_cond_signal(&resolver->work);
    (void)pthread_mutex_unlock(&resolver->lock);
    return true;
}
