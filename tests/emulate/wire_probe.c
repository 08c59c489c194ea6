/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_probe: measures an emulated path from outside. Sender and receiver share one clock, so each
 * datagram is compared with when it should have arrived.
 *
 *   wire_probe serve PORT                                 until killed
 *   wire_probe rtt ADDRESS PORT COUNT                     round trips, one at a time
 *   wire_probe flood ADDRESS PORT SEND_BPS SECONDS WIRE_BPS DELAY_NS
 *
 * flood sends full packets at SEND_BPS; the receiver puts them through a wire of WIRE_BPS and
 * DELAY_NS on paper and counts how much later they really came. Rates count IP packets. Each prints
 * one JSON object. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD 1472u
#define HEADS 28u
#define BATCH 32
#define BUFFER (8 << 20)
#define ANSWER_TRIES 20
#define BURST 4u
#define CATCH_UP_NS 2000000u /* of lateness is made up for; the queue has to hold that */
#define NAP_NS 500000        /* of a receiver: the kernel notes when packets come */

enum kind { ECHO = 1, DATA, QUERY, ANSWER };

struct message {
    uint32_t kind;
    uint32_t number;
    uint64_t sent_ns;
    uint64_t wire_bps, delay_ns;
};

struct report {
    uint32_t kind;
    uint32_t received;
    uint64_t first_ns, last_ns;
    uint64_t late_sum_ns, late_max_ns;
    int64_t early_max_ns;
    uint64_t bytes_after_first;
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "wire_probe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int open_socket(void)
{
    int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int size = BUFFER, yes = 1;
    if (sock < 0)
        die("socket");
    (void)setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    (void)setsockopt(sock, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
    if (setsockopt(sock, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) != 0)
        die("SO_TIMESTAMPNS");
    return sock;
}

static struct sockaddr_in address_of(const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        die(host);
    return address;
}

/* ---- serve ---- */
struct inbox {
    struct mmsghdr heads[BATCH];
    struct iovec pieces[BATCH];
    struct sockaddr_in from[BATCH];
    uint8_t bytes[BATCH][2048];
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } control[BATCH];
};

static void prepare(struct inbox *inbox)
{
    for (int i = 0; i < BATCH; i++) {
        inbox->pieces[i] = (struct iovec){inbox->bytes[i], sizeof(inbox->bytes[i])};
        inbox->heads[i].msg_hdr = (struct msghdr){.msg_name = &inbox->from[i],
                                                  .msg_namelen = sizeof(inbox->from[i]),
                                                  .msg_iov = &inbox->pieces[i],
                                                  .msg_iovlen = 1,
                                                  .msg_control = &inbox->control[i],
                                                  .msg_controllen = sizeof(inbox->control[i])};
    }
}

/* When the kernel had it. */
static uint64_t arrival_of(struct msghdr *head)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(head); c != NULL; c = CMSG_NXTHDR(head, c)) {
        struct timespec ts;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&ts, CMSG_DATA(c), sizeof(ts));
        return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    }
    return now_ns();
}

static void on_data(struct report *report, const struct message *message, uint64_t arrival,
                    size_t len)
{
    static uint64_t departure; /* of the wire on paper */
    uint64_t bytes = len + HEADS;
    if (message->number == 0 || report->received == 0) {
        *report = (struct report){.kind = ANSWER, .first_ns = arrival};
        departure = 0;
    } else {
        report->bytes_after_first += bytes;
    }
    if (message->sent_ns > departure)
        departure = message->sent_ns;
    if (message->wire_bps > 0)
        departure += bytes * 8 * 1000000000u / message->wire_bps;
    int64_t late = (int64_t)(arrival - departure - message->delay_ns);
    if (late > 0) {
        report->late_sum_ns += (uint64_t)late;
        if ((uint64_t)late > report->late_max_ns)
            report->late_max_ns = (uint64_t)late;
    } else if (-late > report->early_max_ns) {
        report->early_max_ns = -late;
    }
    report->received++;
    report->last_ns = arrival;
}

static void serve(const char *port)
{
    struct sockaddr_in own = address_of("0.0.0.0", port);
    struct report report = {.kind = ANSWER};
    static struct inbox inbox;
    int sock = open_socket();
    if (bind(sock, (struct sockaddr *)&own, sizeof(own)) != 0)
        die("bind");
    puts("ready");
    fflush(stdout);
    for (bool busy = false;;) {
        if (busy)
            nanosleep(&(struct timespec){0, NAP_NS}, NULL);
        prepare(&inbox);
        int count = recvmmsg(sock, inbox.heads, BATCH, MSG_WAITFORONE, NULL);
        busy = false;
        for (int i = 0; i < count; i++) {
            struct message message;
            memcpy(&message, inbox.bytes[i], sizeof(message));
            struct msghdr *head = &inbox.heads[i].msg_hdr;
            busy = busy || message.kind == DATA;
            if (message.kind == DATA)
                on_data(&report, &message, arrival_of(head), inbox.heads[i].msg_len);
            else if (message.kind == ECHO)
                (void)sendto(sock, &message, sizeof(message), 0, head->msg_name, head->msg_namelen);
            else
                (void)sendto(sock, &report, sizeof(report), 0, head->msg_name, head->msg_namelen);
        }
    }
}

/* ---- rtt ---- */
static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool receive(int sock, void *out, size_t size)
{
    struct timeval limit = {1, 0};
    (void)setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return recv(sock, out, size, 0) > 0;
}

static void rtt(int sock, uint32_t count)
{
    uint64_t *trips = calloc(count + 1, sizeof(*trips)), sum = 0;
    uint32_t got = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct message message = {.kind = ECHO, .number = i, .sent_ns = now_ns()}, answer;
        if (send(sock, &message, sizeof(message), 0) < 0)
            die("send");
        if (!receive(sock, &answer, sizeof(answer)) || answer.number != i)
            continue;
        trips[got] = now_ns() - answer.sent_ns;
        sum += trips[got++];
        nanosleep(&(struct timespec){0, 3000000}, NULL);
    }
    if (got == 0) {
        errno = ETIMEDOUT;
        die("no answer");
    }
    qsort(trips, got, sizeof(*trips), by_size);
    uint64_t median = trips[got / 2];
    printf("{\"count\": %" PRIu32 ", \"min_ms\": %.4f, \"mean_ms\": %.4f, \"median_ms\": %.4f, "
           "\"max_ms\": %.4f}\n",
           got, (double)trips[0] / 1e6, (double)sum / got / 1e6, (double)median / 1e6,
           (double)trips[got - 1] / 1e6);
    free(trips);
}

/* ---- flood ---- */
static void sleep_until(uint64_t when)
{
    struct timespec ts = {(time_t)(when / 1000000000u), (long)(when % 1000000000u)};
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL);
}

struct outbox {
    struct mmsghdr heads[BURST];
    struct iovec pieces[BURST];
    uint8_t bytes[BURST][PAYLOAD];
};

static void send_burst(int sock, struct outbox *outbox, uint32_t count)
{
    for (uint32_t done = 0; done < count;) {
        int sent = sendmmsg(sock, outbox->heads + done, count - done, 0);
        if (sent < 0)
            die("sendmmsg");
        done += (uint32_t)sent;
    }
}

/* In small bursts: a call and a switch per packet would cost more than the network does. */
static uint32_t send_all(int sock, uint64_t send_bps, double seconds, uint64_t wire_bps,
                         uint64_t delay_ns)
{
    static struct outbox outbox;
    uint64_t due = now_ns(), gap = (PAYLOAD + HEADS) * 8 * UINT64_C(1000000000) / send_bps;
    uint32_t total = (uint32_t)(seconds * 1e9 / (double)gap) / BURST * BURST;
    for (uint32_t i = 0; i < BURST; i++) {
        outbox.pieces[i] = (struct iovec){outbox.bytes[i], PAYLOAD};
        outbox.heads[i].msg_hdr = (struct msghdr){.msg_iov = &outbox.pieces[i], .msg_iovlen = 1};
    }
    for (uint32_t number = 0; number < total; number += BURST, due += gap * BURST) {
        uint64_t now = now_ns();
        if (now < due)
            sleep_until(due);
        else if (now - due > CATCH_UP_NS)
            due = now - CATCH_UP_NS;
        now = now_ns();
        for (uint32_t i = 0; i < BURST; i++) {
            struct message message = {DATA, number + i, now, wire_bps, delay_ns};
            memcpy(outbox.bytes[i], &message, sizeof(message));
        }
        send_burst(sock, &outbox, BURST);
    }
    return total;
}

static struct report ask(int sock)
{
    struct report report = {0};
    struct message query = {.kind = QUERY};
    for (int i = 0; i < ANSWER_TRIES && report.kind != ANSWER; i++) {
        if (send(sock, &query, sizeof(query), 0) < 0)
            die("send");
        (void)receive(sock, &report, sizeof(report));
    }
    if (report.kind != ANSWER) {
        errno = ETIMEDOUT;
        die("no report");
    }
    return report;
}

static void flood(int sock, char **words)
{
    uint64_t send_bps = strtoull(words[0], NULL, 10), wire_bps = strtoull(words[2], NULL, 10);
    uint64_t delay_ns = strtoull(words[3], NULL, 10);
    (void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    uint32_t sent = send_all(sock, send_bps, strtod(words[1], NULL), wire_bps, delay_ns);
    nanosleep(&(struct timespec){(time_t)(delay_ns / 1000000000u) + 1, 0}, NULL);
    struct report report = ask(sock);
    double seconds = (double)(report.last_ns - report.first_ns) / 1e9;
    printf("{\"sent\": %" PRIu32 ", \"received\": %" PRIu32 ", \"rate_bps\": %.0f, "
           "\"late_mean_ms\": %.4f, \"late_max_ms\": %.4f, \"early_max_ms\": %.4f}\n",
           sent, report.received, (double)report.bytes_after_first * 8 / seconds,
           (double)report.late_sum_ns / report.received / 1e6, (double)report.late_max_ns / 1e6,
           (double)report.early_max_ns / 1e6);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "serve") == 0)
        serve(argv[2]);
    if (!(argc == 5 && strcmp(argv[1], "rtt") == 0) &&
        !(argc == 8 && strcmp(argv[1], "flood") == 0)) {
        fputs("wire_probe: see the head of wire_probe.c\n", stderr);
        return 2;
    }
    struct sockaddr_in peer = address_of(argv[2], argv[3]);
    int sock = open_socket();
    if (connect(sock, (struct sockaddr *)&peer, sizeof(peer)) != 0)
        die("connect");
    if (strcmp(argv[1], "rtt") == 0)
        rtt(sock, (uint32_t)strtoul(argv[4], NULL, 10));
    else
        flood(sock, argv + 4);
    return 0;
}
