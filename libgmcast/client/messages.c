/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the sockets of publishers and subscribers, and what is on its way between them and the
 * gateway. */
#include "gmcast/messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zmq.h>

#include "gmcast/client_zmq.h"
#include "wire/local.h"

#define TIMEOUT_MS 5000
#define SILENCE_MS 5000 /* the gateway says something each second */
#define TAKEN_EVERY (256u << 10)
#define CONNECT_MS 5000
/* A day. ZeroMQ's own word for never (-1) makes 4.3.4 hang now and then when a context ends just
 * after the other side has gone. */
#define RECONNECT_NEVER 86400000
#define OPENINGS 16 /* whose sequences are followed; the oldest is forgotten */

/* What both have. */
struct local {
    void *context, *socket;
    int fd;
    zmq_msg_t frame; /* received last */
    bool has_frame;
    int64_t heard_ms;
    char error[512];
};

struct gmc_publisher {
    struct local local;
    uint64_t sent, accepted;
    uint32_t messages_max, bytes_max;
    /* Lengths of what is on its way, as a ring. */
    uint32_t *lengths;
    uint64_t bytes;
    bool over;
    void (*warn)(void *ctx, const char *text);
    void *warn_ctx;
};

struct opening {
    uint64_t e, next;
};

struct gmc_subscriber {
    struct local local;
    struct gmc_bytes entries; /* of the frame, that were not given out yet */
    uint64_t taken, told;
    struct opening openings[OPENINGS];
    size_t oldest;
};

static int64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- the socket ---- */
static void close_local(struct local *local, int linger_ms)
{
    if (local->has_frame)
        zmq_msg_close(&local->frame);
    if (local->socket != NULL) {
        zmq_setsockopt(local->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
        zmq_close(local->socket);
    }
    if (local->context != NULL)
        zmq_ctx_term(local->context);
}

static enum gmc_client_result fail(struct local *local, enum gmc_client_result result,
                                   const char *text)
{
    snprintf(local->error, sizeof local->error, "%s", text);
    return result;
}

static enum gmc_client_result open_local(struct local *local, const char *gateway)
{
    char endpoint[256];
    int never = RECONNECT_NEVER, yes = 1, queue = 100000;
    size_t len = sizeof local->fd;

    if (gateway == NULL)
        gateway = GMC_CLIENT_ENDPOINT;
    if (strncmp(gateway, "ipc:///", 7) != 0 || strlen(gateway) > 200) {
        snprintf(local->error, sizeof local->error,
                 "messages need a local gateway: \"%s\" is none; give e.g. " GMC_CLIENT_ENDPOINT,
                 gateway);
        return GMC_CLIENT_INVALID;
    }
    snprintf(endpoint, sizeof endpoint, "%s-messages", gateway);
    if (access(endpoint + 6, W_OK) != 0) {
        snprintf(local->error, sizeof local->error,
                 errno == EACCES ? "the gateway's socket %s may not be used by this user: join the "
                                   "group that owns its directory"
                                 : "no gateway listens at %s: is gatewayd running? (systemctl "
                                   "status gatewayd)",
                 endpoint + 6);
        return GMC_CLIENT_NO_GATEWAY;
    }
    local->context = zmq_ctx_new();
    local->socket = local->context != NULL ? zmq_socket(local->context, ZMQ_DEALER) : NULL;
    if (local->socket == NULL)
        return fail(local, GMC_CLIENT_NO_MEMORY, "out of memory");
    /* A gateway that comes back knows nothing of us: no silent reconnection. */
    zmq_setsockopt(local->socket, ZMQ_RECONNECT_IVL, &never, sizeof never);
    zmq_setsockopt(local->socket, ZMQ_IMMEDIATE, &yes, sizeof yes);
    zmq_setsockopt(local->socket, ZMQ_SNDHWM, &queue, sizeof queue);
    zmq_setsockopt(local->socket, ZMQ_RCVHWM, &queue, sizeof queue);
    if (zmq_connect(local->socket, endpoint) != 0 ||
        zmq_getsockopt(local->socket, ZMQ_FD, &local->fd, &len) != 0)
        return fail(local, GMC_CLIENT_NO_GATEWAY, zmq_strerror(errno));
    /* Nothing is queued for a connection that is not there. */
    zmq_pollitem_t item = {.socket = local->socket, .events = ZMQ_POLLOUT};
    if (zmq_poll(&item, 1, CONNECT_MS) <= 0)
        return fail(local, GMC_CLIENT_NO_GATEWAY, "the gateway does not take the connection");
    local->heard_ms = now_ms();
    return GMC_CLIENT_OK;
}

static enum gmc_client_result put(struct local *local, const struct gmc_local *what)
{
    zmq_msg_t frame;
    size_t len = gmc_local_put(what, NULL, 0);

    if (zmq_msg_init_size(&frame, len) != 0)
        return fail(local, GMC_CLIENT_NO_MEMORY, "out of memory");
    gmc_local_put(what, zmq_msg_data(&frame), len);
    if (zmq_msg_send(&frame, local->socket, ZMQ_DONTWAIT) >= 0)
        return GMC_CLIENT_OK;
    zmq_msg_close(&frame);
    return fail(local, GMC_CLIENT_NO_GATEWAY, "the gateway is gone");
}

static enum gmc_client_result not_ours(struct local *local)
{
    return fail(local, GMC_CLIENT_BAD_REPLY, "what answers is not a gateway of this kind");
}

/* The next frame that is not ALIVE; AGAIN. REFUSED and frames that are none end it. */
static enum gmc_client_result take(struct local *local, struct gmc_local *what)
{
    for (;;) {
        if (local->has_frame)
            zmq_msg_close(&local->frame);
        zmq_msg_init(&local->frame);
        local->has_frame = true;
        if (zmq_msg_recv(&local->frame, local->socket, ZMQ_DONTWAIT) < 0)
            return GMC_CLIENT_AGAIN;
        local->heard_ms = now_ms();
        if (gmc_local_get(gmc_bytes(zmq_msg_data(&local->frame), zmq_msg_size(&local->frame)),
                          what) != GMC_OK)
            return not_ours(local);
        if (what->kind == GMC_LOCAL_REFUSED)
            return fail(local, GMC_CLIENT_REFUSED, what->text);
        if (what->kind != GMC_LOCAL_ALIVE)
            return GMC_CLIENT_OK;
    }
}

/* Waits for a frame until the deadline (-1: none). OK: look again. */
static enum gmc_client_result wait_until(struct local *local, int64_t deadline_ms)
{
    zmq_pollitem_t item = {local->socket, 0, ZMQ_POLLIN, 0};
    int64_t now = now_ms(), until = local->heard_ms + SILENCE_MS;

    if (deadline_ms >= 0 && deadline_ms < until)
        until = deadline_ms;
    if (zmq_poll(&item, 1, until > now ? (long)(until - now) : 0) < 0)
        return errno == EINTR ? fail(local, GMC_CLIENT_INTERRUPTED, "interrupted")
                              : fail(local, GMC_CLIENT_NO_GATEWAY, zmq_strerror(errno));
    if ((item.revents & ZMQ_POLLIN) != 0)
        return GMC_CLIENT_OK;
    now = now_ms();
    if (now >= local->heard_ms + SILENCE_MS)
        return fail(local, GMC_CLIENT_NO_GATEWAY, "the gateway is not heard any more");
    return deadline_ms >= 0 && now >= deadline_ms ? GMC_CLIENT_AGAIN : GMC_CLIENT_OK;
}

static int64_t deadline_of(int timeout_ms)
{
    return timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
}

/* Asks, and waits for this answer. */
static enum gmc_client_result ask(struct local *local, const struct gmc_local *what,
                                  enum gmc_local_kind answer, int timeout_ms, struct gmc_local *got)
{
    int64_t deadline = deadline_of(timeout_ms > 0 ? timeout_ms : TIMEOUT_MS);
    enum gmc_client_result result = put(local, what);

    while (result == GMC_CLIENT_OK) {
        result = take(local, got);
        if (result == GMC_CLIENT_OK && got->kind == answer)
            return result;
        if (result == GMC_CLIENT_AGAIN)
            result = wait_until(local, deadline);
    }
    if (result == GMC_CLIENT_AGAIN)
        return fail(local, GMC_CLIENT_NO_GATEWAY, "the gateway does not answer");
    return result;
}

/* ---- publishing ---- */
static uint8_t *join_domains(const struct gmc_publisher_config *config, size_t *len)
{
    uint8_t *bytes;

    *len = 0;
    for (size_t i = 0; i < config->domain_count; i++)
        *len += strlen(config->domains[i]) + 1;
    bytes = malloc(*len + 1);
    for (size_t i = 0, at = 0; bytes != NULL && i < config->domain_count; i++) {
        memcpy(bytes + at, config->domains[i], strlen(config->domains[i]) + 1);
        at += strlen(config->domains[i]) + 1;
    }
    return bytes;
}

static void free_publisher(struct gmc_publisher *publisher, int linger_ms)
{
    close_local(&publisher->local, linger_ms);
    free(publisher->lengths);
    free(publisher);
}

struct gmc_publisher *gmc_publisher_open(const struct gmc_publisher_config *config, char *error,
                                         size_t error_len)
{
    struct gmc_publisher *publisher = calloc(1, sizeof *publisher);
    struct gmc_local got = {.kind = GMC_LOCAL_ALIVE};
    size_t len;
    uint8_t *domains = join_domains(config, &len);
    enum gmc_client_result result = GMC_CLIENT_NO_MEMORY;

    if (publisher != NULL && domains != NULL)
        result = open_local(&publisher->local, config->gateway);
    if (result == GMC_CLIENT_OK)
        result = ask(&publisher->local,
                     &(struct gmc_local){.kind = GMC_LOCAL_OPEN,
                                         .order = (uint8_t)config->order,
                                         .name = config->channel,
                                         .rest = gmc_bytes(domains, len)},
                     GMC_LOCAL_OPENED, config->timeout_ms, &got);
    if (result == GMC_CLIENT_OK) {
        publisher->messages_max = got.messages_max > 0 ? got.messages_max : 1;
        publisher->bytes_max = got.bytes_max;
        publisher->warn = config->warn;
        publisher->warn_ctx = config->warn_ctx;
        publisher->lengths = calloc(publisher->messages_max, sizeof *publisher->lengths);
    }
    free(domains);
    if (result == GMC_CLIENT_OK && publisher->lengths != NULL)
        return publisher;
    snprintf(error, error_len, "%s",
             publisher != NULL && publisher->local.error[0] != '\0' ? publisher->local.error
                                                                    : "out of memory");
    if (publisher != NULL)
        free_publisher(publisher, 0);
    return NULL;
}

/* What the gateway has said since. */
static enum gmc_client_result look(struct gmc_publisher *publisher)
{
    struct gmc_local got;
    enum gmc_client_result result;

    while ((result = take(&publisher->local, &got)) == GMC_CLIENT_OK) {
        if (got.kind == GMC_LOCAL_OVER) {
            publisher->over = true;
            return fail(&publisher->local, GMC_CLIENT_REFUSED, got.text);
        }
        if (got.kind == GMC_LOCAL_WARNING && publisher->warn != NULL)
            publisher->warn(publisher->warn_ctx, got.text);
        if (got.kind != GMC_LOCAL_ACCEPTED || got.number > publisher->sent)
            continue;
        for (; publisher->accepted < got.number; publisher->accepted++)
            publisher->bytes -= publisher->lengths[publisher->accepted % publisher->messages_max];
    }
    return result == GMC_CLIENT_AGAIN ? GMC_CLIENT_OK : result;
}

static bool has_room(const struct gmc_publisher *publisher, size_t len)
{
    uint64_t count = publisher->sent - publisher->accepted;

    return count == 0 ||
           (count < publisher->messages_max && publisher->bytes + len + 1 <= publisher->bytes_max);
}

enum gmc_client_result gmc_publisher_send(struct gmc_publisher *publisher, const void *bytes,
                                          size_t len, int timeout_ms)
{
    int64_t deadline = deadline_of(timeout_ms);
    enum gmc_client_result result;

    if (len > GMC_PUBLISH_MAX)
        return fail(&publisher->local, GMC_CLIENT_INVALID,
                    "a message is longer than 1 MiB, which is the most");
    if (publisher->over)
        return GMC_CLIENT_REFUSED;
    for (;;) {
        result = look(publisher);
        if (result != GMC_CLIENT_OK || has_room(publisher, len))
            break;
        result = wait_until(&publisher->local, deadline);
        if (result != GMC_CLIENT_OK)
            return result;
    }
    if (result == GMC_CLIENT_OK)
        result = put(&publisher->local,
                     &(struct gmc_local){.kind = GMC_LOCAL_PUBLISH, .rest = gmc_bytes(bytes, len)});
    if (result == GMC_CLIENT_OK) {
        publisher->lengths[publisher->sent++ % publisher->messages_max] = (uint32_t)len + 1;
        publisher->bytes += len + 1;
    }
    return result;
}

int gmc_publisher_fd(const struct gmc_publisher *publisher)
{
    return publisher->local.fd;
}

const char *gmc_publisher_error(const struct gmc_publisher *publisher)
{
    return publisher->local.error;
}

enum gmc_client_result gmc_publisher_close(struct gmc_publisher *publisher, const char *reason,
                                           int timeout_ms)
{
    int64_t deadline = deadline_of(timeout_ms);
    enum gmc_client_result result = GMC_CLIENT_REFUSED;

    if (!publisher->over)
        result =
            put(&publisher->local, &(struct gmc_local){.kind = GMC_LOCAL_END,
                                                       .text = reason != NULL ? reason : "closed"});
    while (result == GMC_CLIENT_OK) {
        result = look(publisher);
        if (result == GMC_CLIENT_OK)
            result = wait_until(&publisher->local, deadline);
    }
    /* All was taken, and our END was the channel's, or was heard. */
    if (publisher->over && publisher->accepted == publisher->sent)
        result = GMC_CLIENT_OK;
    free_publisher(publisher, 0);
    return result;
}

/* ---- receiving ---- */
struct gmc_subscriber *gmc_subscriber_open(const char *gateway, const char *source,
                                           const char *channel, char *error, size_t error_len)
{
    struct gmc_subscriber *subscriber = calloc(1, sizeof *subscriber);
    struct gmc_local got;
    enum gmc_client_result result = GMC_CLIENT_NO_MEMORY;

    if (subscriber != NULL)
        result = open_local(&subscriber->local, gateway);
    if (result == GMC_CLIENT_OK)
        result = ask(&subscriber->local,
                     &(struct gmc_local){.kind = GMC_LOCAL_SUBSCRIBE,
                                         .name = channel,
                                         .source = source != NULL ? source : ""},
                     GMC_LOCAL_SUBSCRIBED, 0, &got);
    if (result == GMC_CLIENT_OK)
        return subscriber;
    snprintf(error, error_len, "%s",
             subscriber != NULL ? subscriber->local.error : "out of memory");
    gmc_subscriber_free(subscriber);
    return NULL;
}

static uint64_t missed_before(struct gmc_subscriber *subscriber,
                              const struct gmc_local_entry *entry)
{
    struct opening *opening = NULL;
    uint64_t missed;

    for (size_t i = 0; i < OPENINGS; i++) {
        if (subscriber->openings[i].e == entry->e)
            opening = &subscriber->openings[i];
    }
    if (opening == NULL) { /* it begins where we come in */
        opening = &subscriber->openings[subscriber->oldest++ % OPENINGS];
        *opening = (struct opening){entry->e, entry->sequence};
    }
    if (entry->sequence < opening->next)
        return 0;
    missed = entry->sequence - opening->next;
    opening->next = entry->sequence + 1;
    return missed;
}

/* So that the gateway knows what is still in the queue. */
static enum gmc_client_result tell_taken(struct gmc_subscriber *subscriber)
{
    if (subscriber->taken - subscriber->told < TAKEN_EVERY)
        return GMC_CLIENT_OK;
    subscriber->told = subscriber->taken;
    return put(&subscriber->local,
               &(struct gmc_local){.kind = GMC_LOCAL_TAKEN, .number = subscriber->taken});
}

static enum gmc_client_result next_frame(struct gmc_subscriber *subscriber)
{
    struct gmc_local got;
    enum gmc_client_result result = take(&subscriber->local, &got);

    if (result != GMC_CLIENT_OK || got.kind != GMC_LOCAL_MESSAGES)
        return result;
    subscriber->entries = got.rest;
    subscriber->taken += zmq_msg_size(&subscriber->local.frame);
    return tell_taken(subscriber);
}

enum gmc_client_result gmc_subscriber_receive(struct gmc_subscriber *subscriber,
                                              struct gmc_received *received, int timeout_ms)
{
    int64_t deadline = subscriber->entries.len > 0 ? 0 : deadline_of(timeout_ms);
    struct gmc_local_entry entry;

    while (!gmc_local_next_entry(&subscriber->entries, &entry)) {
        if (subscriber->entries.len > 0) {
            subscriber->entries.len = 0;
            return not_ours(&subscriber->local);
        }
        enum gmc_client_result result = next_frame(subscriber);
        if (result == GMC_CLIENT_AGAIN)
            result = wait_until(&subscriber->local, deadline);
        if (result != GMC_CLIENT_OK)
            return result;
    }
    *received = (struct gmc_received){.source = entry.source,
                                      .channel = entry.name,
                                      .opening = entry.e,
                                      .sequence = entry.sequence,
                                      .missed = missed_before(subscriber, &entry),
                                      .end = entry.end,
                                      .bytes = entry.body.data,
                                      .len = entry.body.len};
    return GMC_CLIENT_OK;
}

int gmc_subscriber_fd(const struct gmc_subscriber *subscriber)
{
    return subscriber->local.fd;
}

const char *gmc_subscriber_error(const struct gmc_subscriber *subscriber)
{
    return subscriber->local.error;
}

void gmc_subscriber_free(struct gmc_subscriber *subscriber)
{
    if (subscriber == NULL)
        return;
    close_local(&subscriber->local, 0);
    free(subscriber);
}
