/* SPDX-License-Identifier: BSD-2-Clause */
/* The local API over ZeroMQ, inside libevent's loop. */
#include "gatewayd/ctl_zmq.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include "gatewayd/text.h"
#include "gatewayd/zmq_watch.h"
#include "wire/ctl_codec.h"

#define REQUESTS_AT_ONCE 64 /* then the network has its turn */

struct gwd_zmq {
    struct gwd_zmq_config config;
    void *context;
    void *router;
    void *publisher;
    struct gwd_zmq_watch *watch; /* of the router */
    char *paths[2];              /* of the sockets, to be removed */
    struct event *event;
    bool started;
};

/* ---- places ---- */
static bool make_directory(const struct gwd_zmq_config *config, const char *path, char *reason,
                           size_t size)
{
    char directory[sizeof((struct sockaddr_un *)0)->sun_path];
    char *slash;
    gwd_text(directory, sizeof directory, "%s", path);
    slash = strrchr(directory, '/');
    if (slash == NULL || slash == directory)
        return true;
    *slash = '\0';
    if (mkdir(directory, 0750) != 0) {
        if (errno == EEXIST)
            return true;
        gwd_text(reason, size, "directory %s cannot be made: %s", directory, strerror(errno));
        return false;
    }
    if ((config->uid != (uid_t)-1 || config->gid != (gid_t)-1) &&
        chown(directory, config->uid, config->gid) != 0) {
        gwd_text(reason, size, "directory %s cannot be given to the group: %s", directory,
                 strerror(errno));
        return false;
    }
    return true;
}

/* A socket that nobody listens on is left from a crash. */
static bool clear_stale(const char *path, char *reason, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    bool alive;
    int fd;
    if (strlen(path) >= sizeof address.sun_path) {
        gwd_text(reason, size, "%s is too long for a local socket", path);
        return false;
    }
    if (lstat(path, &st) != 0)
        return true;
    if (!S_ISSOCK(st.st_mode)) {
        gwd_text(reason, size, "%s is there and is no socket; remove it", path);
        return false;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    alive = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        (void)close(fd);
    if (alive) {
        gwd_text(reason, size, "another gatewayd answers at %s; stop it, or choose another socket",
                 path);
        return false;
    }
    return unlink(path) == 0;
}

bool gwd_zmq_bind(const struct gwd_zmq_config *config, void *socket_, const char *endpoint,
                  size_t frame_max, char **bound, char *reason, size_t size)
{
    const char *path = endpoint + strlen("ipc://");
    int none = 0, queue = 10000;
    int64_t longest = (int64_t)frame_max;
    if (!make_directory(config, path, reason, size) || !clear_stale(path, reason, size))
        return false;
    (void)zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
    (void)zmq_setsockopt(socket_, ZMQ_MAXMSGSIZE, &longest, sizeof longest);
    (void)zmq_setsockopt(socket_, ZMQ_SNDHWM, &queue, sizeof queue);
    if (zmq_bind(socket_, endpoint) != 0) {
        gwd_text(reason, size, "%s: %s", endpoint, zmq_strerror(zmq_errno()));
        return false;
    }
    *bound = strdup(path);
    /* Who may enter the directory may use the socket. */
    (void)chmod(path, 0660);
    if ((config->uid != (uid_t)-1 || config->gid != (gid_t)-1) &&
        chown(path, config->uid, config->gid) != 0) {
        gwd_text(reason, size, "%s cannot be given to the group: %s", path, strerror(errno));
        return false;
    }
    return true;
}

/* ---- requests ---- */
/* One message: who, and one frame. Others are ignored. False when nothing waits. */
static bool take_request(struct gwd_zmq *zmq)
{
    struct gwd_client client = {0};
    size_t frames = 0, len = 0;
    zmq_msg_t request;
    int more = 1;
    (void)zmq_msg_init(&request);
    while (more) {
        zmq_msg_t frame;
        (void)zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, zmq->router, ZMQ_DONTWAIT) < 0) {
            (void)zmq_msg_close(&frame);
            (void)zmq_msg_close(&request);
            return false;
        }
        more = zmq_msg_more(&frame);
        len = zmq_msg_size(&frame);
        if (frames == 0 && len <= GWD_CLIENT_ID_MAX) {
            client.len = (uint8_t)len;
            memcpy(client.id, zmq_msg_data(&frame), len);
        } else if (frames == 1) {
            (void)zmq_msg_move(&request, &frame);
        }
        (void)zmq_msg_close(&frame);
        frames++;
    }
    if (frames == 2)
        zmq->config.request(zmq->config.ctx, &client,
                            gmc_bytes(zmq_msg_data(&request), zmq_msg_size(&request)));
    (void)zmq_msg_close(&request);
    return true;
}

static bool is_readable(struct gwd_zmq *zmq)
{
    int events = 0;
    size_t len = sizeof events;
    return zmq_getsockopt(zmq->router, ZMQ_EVENTS, &events, &len) == 0 &&
           (events & ZMQ_POLLIN) != 0;
}

static void on_ready(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_zmq *zmq = ctx;
    int taken = 0;
    (void)fd, (void)what;
    while (taken < REQUESTS_AT_ONCE && is_readable(zmq) && take_request(zmq))
        taken++;
    if (taken == REQUESTS_AT_ONCE && is_readable(zmq))
        event_active(zmq->event, EV_READ, 0);
}

/* ---- life ---- */
static bool open_sockets(struct gwd_zmq *zmq, char *reason, size_t size)
{
    const struct gwd_zmq_config *config = &zmq->config;
    struct gwd_zmq_watch_config watch = {.base = config->base,
                                         .endpoint = config->control,
                                         .ctx = config->ctx,
                                         .refused = config->refused,
                                         .last_word = config->last_word};
    zmq->context = zmq_ctx_new();
    if (zmq->context == NULL)
        return false;
    zmq->router = zmq_socket(zmq->context, ZMQ_ROUTER);
    zmq->publisher = zmq_socket(zmq->context, ZMQ_PUB);
    if (zmq->router == NULL || zmq->publisher == NULL)
        return false;
    watch.context = zmq->context;
    watch.socket = zmq->router;
    zmq->watch = gwd_zmq_watch_new(&watch);
    return zmq->watch != NULL &&
           gwd_zmq_bind(config, zmq->router, config->control, GMC_CTL_REQUEST_BYTES_MAX,
                        &zmq->paths[0], reason, size) &&
           gwd_zmq_bind(config, zmq->publisher, config->events, GMC_CTL_REQUEST_BYTES_MAX,
                        &zmq->paths[1], reason, size);
}

struct gwd_zmq *gwd_zmq_new(const struct gwd_zmq_config *config, char *reason, size_t size)
{
    struct gwd_zmq *zmq = calloc(1, sizeof *zmq);
    int fd = -1;
    size_t len = sizeof fd;
    gwd_text(reason, size, "out of memory");
    if (zmq == NULL)
        return NULL;
    zmq->config = *config;
    if (!open_sockets(zmq, reason, size)) {
        gwd_zmq_free(zmq);
        return NULL;
    }
    if (zmq_getsockopt(zmq->router, ZMQ_FD, &fd, &len) == 0)
        zmq->event = event_new(config->base, fd, EV_READ | EV_PERSIST, on_ready, zmq);
    if (zmq->event == NULL) {
        gwd_zmq_free(zmq);
        return NULL;
    }
    return zmq;
}

void gwd_zmq_free(struct gwd_zmq *zmq)
{
    if (zmq == NULL)
        return;
    if (zmq->event != NULL)
        event_free(zmq->event);
    gwd_zmq_watch_free(zmq->watch);
    if (zmq->router != NULL)
        (void)zmq_close(zmq->router);
    if (zmq->publisher != NULL)
        (void)zmq_close(zmq->publisher);
    if (zmq->context != NULL)
        (void)zmq_ctx_term(zmq->context);
    for (int i = 0; i < 2; i++) {
        if (zmq->paths[i] != NULL)
            (void)unlink(zmq->paths[i]);
        free(zmq->paths[i]);
    }
    free(zmq);
}

bool gwd_zmq_start(struct gwd_zmq *zmq)
{
    zmq->started = event_add(zmq->event, NULL) == 0 && gwd_zmq_watch_start(zmq->watch);
    /* What came before the descriptor was watched made no edge. */
    if (zmq->started)
        event_active(zmq->event, EV_READ, 0);
    return zmq->started;
}

void gwd_zmq_stop(struct gwd_zmq *zmq)
{
    (void)event_del(zmq->event);
    zmq->started = false;
}

void gwd_zmq_reply(struct gwd_zmq *zmq, const struct gwd_client *client, struct gmc_bytes reply)
{
    if (zmq_send(zmq->router, client->id, client->len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
        (void)zmq_send(zmq->router, reply.data, reply.len, ZMQ_DONTWAIT);
    if (zmq->started && is_readable(zmq))
        event_active(zmq->event, EV_READ, 0);
}

void gwd_zmq_publish(struct gwd_zmq *zmq, const char *topic, const char *text)
{
    if (zmq_send(zmq->publisher, topic, strlen(topic), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
        (void)zmq_send(zmq->publisher, text, strlen(text), ZMQ_DONTWAIT);
}
