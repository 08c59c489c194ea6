/* SPDX-License-Identifier: BSD-2-Clause */
/* Load for the message benchmark: a publisher or a subscriber of gmcast, or of plain ZeroMQ, and
 * the proxy of the latter. Each message begins with its number and the time of its sending.
 *
 *   message_load pub gmcast CONTROL CHANNEL DOMAIN,DOMAIN|- RATE BYTES COUNT
 *   message_load sub gmcast CONTROL CHANNEL SKIP
 *   message_load pub zmq ENDPOINT RATE BYTES COUNT
 *   message_load sub zmq ENDPOINT SKIP
 *   message_load proxy ENDPOINT-FOR-PUBLISHERS ENDPOINT-FOR-SUBSCRIBERS
 *
 * RATE is messages a second, 0: as fast as they are taken. Of the first SKIP messages no time is
 * counted. A publisher begins when a line comes on standard input. It and the subscriber print
 * "ready", and at the end a JSON line: messages, those that did not come, microseconds from sending
 * to receiving (quantiles), CPU seconds.
 */
#include <errno.h>
#include <gmcast/messages.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zmq.h>

#define STAMP_BYTES 16
#define LAST UINT64_MAX /* number of the message that ends a run of plain ZeroMQ */
#define WAIT_MS 60000
#define DOMAINS_MAX 64

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "message_load: %s: %s\n", what, why);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void say_ready(void)
{
    printf("ready\n");
    fflush(stdout);
}

/* ---- what both kinds of publishers do ---- */
struct load {
    double rate;
    size_t bytes;
    uint64_t count;
};

static struct load load_of(char **words)
{
    struct load load = {atof(words[0]), (size_t)atol(words[1]), (uint64_t)atol(words[2])};
    if (load.bytes < STAMP_BYTES)
        die(words[1], "a message holds its number and time: 16 bytes at least");
    return load;
}

static void wait_for_start(void)
{
    char line[16];
    say_ready();
    if (fgets(line, sizeof line, stdin) == NULL)
        die("standard input", "ended before the start");
}

static void wait_until(uint64_t when)
{
    struct timespec t = {.tv_sec = (time_t)(when / 1000000000u),
                         .tv_nsec = (long)(when % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
}

static void stamp(uint8_t *message, uint64_t number)
{
    uint64_t now = now_ns();
    memcpy(message, &number, sizeof number);
    memcpy(message + sizeof number, &now, sizeof now);
}

/* Sends them all at their times; those that are late at once. */
static void send_all(const struct load *load, void (*send)(void *, const uint8_t *, size_t),
                     void *to)
{
    uint8_t *message = calloc(1, load->bytes);
    uint64_t begin = now_ns();
    for (uint64_t i = 0; message != NULL && i < load->count; i++) {
        uint64_t due = load->rate > 0 ? begin + (uint64_t)((double)i / load->rate * 1e9) : 0;
        if (due > now_ns())
            wait_until(due);
        stamp(message, i);
        send(to, message, load->bytes);
    }
    free(message);
    printf("{\"messages\": %llu, \"seconds\": %.6f, ", (unsigned long long)load->count,
           (double)(now_ns() - begin) / 1e9);
}

static void print_cpu(void)
{
    printf("\"cpu_seconds\": %.6f}\n", cpu_seconds());
}

/* ---- what both kinds of subscribers do ---- */
struct tally {
    uint64_t skip, received, missed, next, room, first_ns, last_ns;
    uint32_t *delays; /* of the messages after those that are skipped, ns */
};

static void tally_message(struct tally *tally, const uint8_t *message)
{
    uint64_t number, sent, now = now_ns();
    memcpy(&number, message, sizeof number);
    memcpy(&sent, message + sizeof number, sizeof sent);
    if (tally->received++ == 0) {
        tally->next = number;
        tally->first_ns = now;
    }
    tally->missed += number > tally->next ? number - tally->next : 0;
    tally->next = number + 1;
    tally->last_ns = now;
    if (tally->received <= tally->skip)
        return;
    uint64_t counted = tally->received - tally->skip;
    if (counted > tally->room) {
        tally->room = tally->room == 0 ? 65536 : 2 * tally->room;
        tally->delays = realloc(tally->delays, tally->room * sizeof *tally->delays);
        if (tally->delays == NULL)
            die("delays", "out of memory");
    }
    tally->delays[counted - 1] = now - sent < UINT32_MAX ? (uint32_t)(now - sent) : UINT32_MAX;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double quantile_us(const struct tally *tally, double share)
{
    uint64_t counted = tally->received > tally->skip ? tally->received - tally->skip : 0;
    return counted == 0 ? 0 : tally->delays[(uint64_t)(share * (double)(counted - 1))] / 1e3;
}

static void print_tally(struct tally *tally)
{
    if (tally->received > tally->skip)
        qsort(tally->delays, tally->received - tally->skip, sizeof *tally->delays, by_value);
    printf("{\"messages\": %llu, \"missed\": %llu, \"seconds\": %.6f, \"median_us\": %.1f, "
           "\"p90_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, ",
           (unsigned long long)tally->received, (unsigned long long)tally->missed,
           (double)(tally->last_ns - tally->first_ns) / 1e9, quantile_us(tally, 0.5),
           quantile_us(tally, 0.9), quantile_us(tally, 0.99), quantile_us(tally, 1));
    free(tally->delays);
    print_cpu();
}

/* ---- gmcast ---- */
static void send_gmcast(void *to, const uint8_t *message, size_t len)
{
    if (gmc_publisher_send(to, message, len, WAIT_MS) != GMC_CLIENT_OK)
        die("send", gmc_publisher_error(to));
}

static void publish_gmcast(char **words)
{
    const char *domains[DOMAINS_MAX];
    struct gmc_publisher_config config = {.gateway = words[0],
                                          .channel = words[1],
                                          .domains = domains};
    struct load load = load_of(words + 3);
    char error[512];
    if (strcmp(words[2], "-") != 0) {
        for (char *name = strtok(words[2], ","); name != NULL && config.domain_count < DOMAINS_MAX;
             name = strtok(NULL, ","))
            domains[config.domain_count++] = name;
    }
    struct gmc_publisher *publisher = gmc_publisher_open(&config, error, sizeof error);
    if (publisher == NULL)
        die("open", error);
    wait_for_start();
    send_all(&load, send_gmcast, publisher);
    if (gmc_publisher_close(publisher, "done", WAIT_MS) != GMC_CLIENT_OK)
        die("close", "not all was taken");
    print_cpu();
}

static void subscribe_gmcast(char **words)
{
    struct tally tally = {.skip = (uint64_t)atol(words[2])};
    struct gmc_received received = {.end = false};
    char error[512];
    struct gmc_subscriber *subscriber =
        gmc_subscriber_open(words[0], NULL, words[1], error, sizeof error);
    if (subscriber == NULL)
        die("subscribe", error);
    say_ready();
    while (!received.end) {
        if (gmc_subscriber_receive(subscriber, &received, WAIT_MS) != GMC_CLIENT_OK)
            die("receive", gmc_subscriber_error(subscriber));
        if (!received.end && received.len >= STAMP_BYTES)
            tally_message(&tally, received.bytes);
    }
    gmc_subscriber_free(subscriber);
    print_tally(&tally);
}

/* ---- plain ZeroMQ ---- */
static void *zmq_open(void *context, int type, bool bind, const char *endpoint)
{
    void *socket = zmq_socket(context, type);
    int queue = 0;
    if (socket == NULL || zmq_setsockopt(socket, ZMQ_SNDHWM, &queue, sizeof queue) != 0 ||
        zmq_setsockopt(socket, ZMQ_RCVHWM, &queue, sizeof queue) != 0 ||
        (bind ? zmq_bind(socket, endpoint) : zmq_connect(socket, endpoint)) != 0)
        die(endpoint, zmq_strerror(errno));
    return socket;
}

static void send_zmq(void *to, const uint8_t *message, size_t len)
{
    if (zmq_send(to, message, len, 0) < 0)
        die("send", zmq_strerror(errno));
}

static void publish_zmq(char **words)
{
    void *context = zmq_ctx_new();
    void *socket = zmq_open(context, ZMQ_PUB, false, words[0]);
    struct load load = load_of(words + 1);
    uint8_t last[STAMP_BYTES];
    wait_for_start();
    send_all(&load, send_zmq, socket);
    stamp(last, LAST);
    send_zmq(socket, last, sizeof last);
    zmq_close(socket);
    zmq_ctx_term(context);
    print_cpu();
}

static void subscribe_zmq(char **words)
{
    void *context = zmq_ctx_new();
    void *socket = zmq_open(context, ZMQ_SUB, false, words[0]);
    struct tally tally = {.skip = (uint64_t)atol(words[1])};
    uint64_t number = 0;
    int limit = WAIT_MS;
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &limit, sizeof limit);
    say_ready();
    while (number != LAST) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, socket, 0) < STAMP_BYTES)
            die("receive", zmq_strerror(errno));
        memcpy(&number, zmq_msg_data(&message), sizeof number);
        if (number != LAST)
            tally_message(&tally, zmq_msg_data(&message));
        zmq_msg_close(&message);
    }
    zmq_close(socket);
    zmq_ctx_term(context);
    print_tally(&tally);
}

/* Binds to where its publishers connect, and connects or binds onwards: to another proxy it
 * connects as a publisher does, marked by a "+" before the endpoint. */
static void proxy(char **words)
{
    void *context = zmq_ctx_new();
    void *from = zmq_open(context, ZMQ_XSUB, true, words[0]);
    bool onwards = words[1][0] == '+';
    void *to = zmq_open(context, ZMQ_XPUB, !onwards, words[1] + onwards);
    say_ready();
    zmq_proxy(from, to, NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *role, *kind;
        int words;
        void (*run)(char **words);
    } roles[] = {{"pub", "gmcast", 6, publish_gmcast},
                 {"sub", "gmcast", 3, subscribe_gmcast},
                 {"pub", "zmq", 4, publish_zmq},
                 {"sub", "zmq", 2, subscribe_zmq},
                 {"proxy", NULL, 2, proxy}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        int first = roles[i].kind != NULL ? 3 : 2;
        if (argc != first + roles[i].words || strcmp(argv[1], roles[i].role) != 0 ||
            (roles[i].kind != NULL && strcmp(argv[2], roles[i].kind) != 0))
            continue;
        roles[i].run(argv + first);
        return 0;
    }
    fprintf(stderr, "message_load: see the head of message_load.c for its words\n");
    return 1;
}
