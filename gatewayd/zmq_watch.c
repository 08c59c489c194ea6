/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of ZeroMQ's connections: see zmq_watch.h. */
#include "gatewayd/zmq_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "base/list.h"
#include "gatewayd/text.h"

/* ZeroMQ's thread closes a descriptor just after it has said so; a busy machine may take longer. */
#define LOOK_MS 10
#define LOOK_AGAIN_MS 1000
/* Where ZeroMQ asks whether a client may come in (ZeroMQ RFC 27). */
#define GATE "inproc://zeromq.zap.01"
#define GATE_FRAMES 6 /* of a request without credentials, and of an answer */
#define GATE_FRAME_MAX 256
#define ZMTP_LONG 2 /* flag of a frame whose length has eight bytes */
#define SHORT_MAX 255

struct held {
    struct gmc_list node;
    int fd;      /* ZeroMQ's; another connection may have the number by now */
    int own;     /* duplicate of it */
    ino_t inode; /* of the connection */
};

struct gwd_zmq_watch {
    struct gwd_zmq_watch_config config;
    void *monitor; /* where the socket's monitor reports */
    void *gate;
    struct event *event, *gate_event, *look;
    bool looks_again;
    struct gmc_list held;
};

static bool inode_of(int fd, ino_t *inode)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    *inode = st.st_ino;
    return true;
}

/* The number may belong to something else by the time that the report of it is read. */
static bool is_ours(const struct gwd_zmq_watch *watch, int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &watch->held)
    {
        if (GMC_CONTAINER_OF(node, struct held, node)->own == fd)
            return false;
    }
    return getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
           address.sun_family == AF_UNIX &&
           strcmp(address.sun_path, watch->config.endpoint + strlen("ipc://")) == 0;
}

static void hold(struct gwd_zmq_watch *watch, int fd)
{
    struct held *held = is_ours(watch, fd) ? malloc(sizeof *held) : NULL;
    if (held == NULL)
        return;
    held->fd = fd;
    held->own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (held->own < 0 || !inode_of(held->own, &held->inode)) {
        if (held->own >= 0)
            (void)close(held->own);
        free(held);
        return;
    }
    gmc_list_init(&held->node);
    gmc_list_push_back(&watch->held, &held->node);
}

static void let_go(struct held *held)
{
    (void)close(held->own);
    gmc_list_remove(&held->node);
    free(held);
}

/* A client that closes is read to the end; what is left unread was not wanted. */
static bool client_has_more(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLRDHUP};
    int unread = 0;
    if (poll(&poll_fd, 1, 0) >= 0 && (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0)
        return true;
    return ioctl(fd, FIONREAD, &unread) == 0 && unread > 0;
}

static void say_last_word(int fd, struct gmc_bytes word)
{
    uint8_t head[9] = {0, (uint8_t)word.len};
    size_t head_len = 2;
    if (word.len > SHORT_MAX) {
        head[0] = ZMTP_LONG;
        gmc_put64(head + 1, word.len);
        head_len = sizeof head;
    }
    struct iovec parts[] = {{head, head_len}, {(void *)(uintptr_t)word.data, word.len}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    (void)sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void look(struct gwd_zmq_watch *watch)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &watch->held)
    {
        struct held *held = GMC_CONTAINER_OF(node, struct held, node);
        struct ucred client = {.uid = (uid_t)-1};
        socklen_t len = sizeof client;
        ino_t inode;
        if (inode_of(held->fd, &inode) && inode == held->inode)
            continue;
        if (client_has_more(held->own)) {
            (void)getsockopt(held->own, SOL_SOCKET, SO_PEERCRED, &client, &len);
            say_last_word(held->own, watch->config.last_word);
            watch->config.refused(watch->config.ctx, client.uid);
        }
        let_go(held);
    }
}

static void look_in(struct gwd_zmq_watch *watch, int ms)
{
    const struct timeval in = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    (void)event_add(watch->look, &in);
}

static void on_look(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_zmq_watch *watch = ctx;
    (void)fd, (void)what;
    look(watch);
    if (watch->looks_again)
        look_in(watch, LOOK_AGAIN_MS);
    watch->looks_again = false;
}

/* ---- the monitor ---- */
/* One report: what happened u16 and to which descriptor i32, both of this host; then an address.
 * False when nothing waits. */
static bool take_report(struct gwd_zmq_watch *watch)
{
    uint8_t report[6], address[256];
    uint16_t what;
    int32_t fd;
    int len = zmq_recv(watch->monitor, report, sizeof report, ZMQ_DONTWAIT);
    if (len < 0)
        return false;
    (void)zmq_recv(watch->monitor, address, sizeof address, ZMQ_DONTWAIT);
    if (len != (int)sizeof report)
        return true;
    memcpy(&what, report, sizeof what);
    memcpy(&fd, report + sizeof what, sizeof fd);
    if (what == ZMQ_EVENT_ACCEPTED) {
        hold(watch, fd);
    } else if (what == ZMQ_EVENT_DISCONNECTED) {
        watch->looks_again = true;
        look_in(watch, LOOK_MS);
    }
    return true;
}

/* Nobody else uses the monitor's end, so no edge of its descriptor is taken elsewhere. */
static void on_report(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    while (take_report(ctx))
        continue;
}

/* ---- the gate ---- */
/* A client is let in once its descriptor is held: ZeroMQ reports that it has accepted one before it
 * asks here, and reads none of its frames before the answer. False when nobody waits. */
static bool let_in(struct gwd_zmq_watch *watch)
{
    static const char *const rest[] = {"200", "", "", ""}; /* status, its text, user, metadata */
    uint8_t request[2][GATE_FRAME_MAX] = {{0}}; /* version and number, which are echoed */
    uint8_t other[GATE_FRAME_MAX] = {0};
    int len[2] = {0}, more = 1;
    size_t size = sizeof more;
    for (int i = 0; more; i++) {
        int got = zmq_recv(watch->gate, i < 2 ? request[i] : other, GATE_FRAME_MAX, ZMQ_DONTWAIT);
        if (got < 0)
            return false;
        if (i < 2)
            len[i] = got < GATE_FRAME_MAX ? got : GATE_FRAME_MAX;
        if (zmq_getsockopt(watch->gate, ZMQ_RCVMORE, &more, &size) != 0)
            return false;
    }
    while (take_report(watch))
        continue;
    for (int i = 0; i < GATE_FRAMES; i++) {
        const void *frame = i < 2 ? (const void *)request[i] : rest[i - 2];
        size_t frame_len = i < 2 ? (size_t)len[i] : strlen(rest[i - 2]);
        (void)zmq_send(watch->gate, frame, frame_len,
                       ZMQ_DONTWAIT | (i + 1 < GATE_FRAMES ? ZMQ_SNDMORE : 0));
    }
    return true;
}

static void on_gate(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    while (let_in(ctx))
        continue;
}

/* ---- life ---- */
/* The event of a ZeroMQ socket; NULL: none. */
static struct event *event_of(struct gwd_zmq_watch *watch, void *socket_,
                              event_callback_fn callback)
{
    int fd = -1;
    size_t len = sizeof fd;
    if (zmq_getsockopt(socket_, ZMQ_FD, &fd, &len) != 0)
        return NULL;
    return event_new(watch->config.base, fd, EV_READ | EV_PERSIST, callback, watch);
}

static bool open_monitor(struct gwd_zmq_watch *watch)
{
    const struct gwd_zmq_watch_config *config = &watch->config;
    char endpoint[64];
    int no_bound = 0;
    gwd_text(endpoint, sizeof endpoint, "inproc://watch-%p", config->socket);
    watch->monitor = zmq_socket(config->context, ZMQ_PAIR);
    /* Else ZeroMQ's thread, and with it all clients, would wait for this one to read reports. */
    if (watch->monitor != NULL &&
        zmq_setsockopt(watch->monitor, ZMQ_RCVHWM, &no_bound, sizeof no_bound) == 0 &&
        zmq_socket_monitor(config->socket, endpoint, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED) ==
            0 &&
        zmq_connect(watch->monitor, endpoint) == 0)
        watch->event = event_of(watch, watch->monitor, on_report);
    return watch->event != NULL;
}

static bool open_gate(struct gwd_zmq_watch *watch)
{
    static const char domain[] = "gmcast"; /* without one nobody is asked */
    watch->gate = zmq_socket(watch->config.context, ZMQ_REP);
    if (watch->gate != NULL && zmq_bind(watch->gate, GATE) == 0 &&
        zmq_setsockopt(watch->config.socket, ZMQ_ZAP_DOMAIN, domain, strlen(domain)) == 0)
        watch->gate_event = event_of(watch, watch->gate, on_gate);
    return watch->gate_event != NULL;
}

struct gwd_zmq_watch *gwd_zmq_watch_new(const struct gwd_zmq_watch_config *config)
{
    struct gwd_zmq_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return NULL;
    watch->config = *config;
    gmc_list_init(&watch->held);
    watch->look = evtimer_new(config->base, on_look, watch);
    if (watch->look == NULL || !open_monitor(watch) || !open_gate(watch)) {
        gwd_zmq_watch_free(watch);
        return NULL;
    }
    return watch;
}

void gwd_zmq_watch_free(struct gwd_zmq_watch *watch)
{
    struct gmc_list *node;
    if (watch == NULL)
        return;
    (void)zmq_socket_monitor(watch->config.socket, NULL, 0);
    if (watch->event != NULL)
        event_free(watch->event);
    if (watch->gate_event != NULL)
        event_free(watch->gate_event);
    if (watch->look != NULL)
        event_free(watch->look);
    if (watch->monitor != NULL)
        (void)zmq_close(watch->monitor);
    if (watch->gate != NULL)
        (void)zmq_close(watch->gate);
    while ((node = gmc_list_first(&watch->held)) != NULL)
        let_go(GMC_CONTAINER_OF(node, struct held, node));
    free(watch);
}

bool gwd_zmq_watch_start(struct gwd_zmq_watch *watch)
{
    if (event_add(watch->event, NULL) != 0 || event_add(watch->gate_event, NULL) != 0)
        return false;
    event_active(watch->event, EV_READ, 0);
    event_active(watch->gate_event, EV_READ, 0);
    return true;
}
