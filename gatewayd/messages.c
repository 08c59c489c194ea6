/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket of local publishers (messages_pub.c) and subscribers (messages_sub.c), and who they
 * are. Nobody waits for anybody else. */
#include "gatewayd/messages.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/inside.h"
#include "gatewayd/messages_int.h"
#include "gatewayd/policy.h"
#include "gatewayd/text.h"
#include "wire/control.h"

#define FRAMES_AT_ONCE 256
#define CLIENTS_MAX 4096
#define NO_FRAME "a frame is longer than 1 MiB and 4 KiB, which is the most, or none of ZeroMQ's"
#define QUIET_TICKS 3 /* then bulk has the scheduling that it likes */

void gwd_messages_hurry(struct gwd_messages *m)
{
    m->quiet_ticks = 0;
    if (m->prompt || !m->config.batches)
        return;
    m->prompt = true;
    gwd_policy_prompt(true);
}

static void calm_down(struct gwd_messages *m)
{
    if (!m->prompt || ++m->quiet_ticks < QUIET_TICKS)
        return;
    m->prompt = false;
    gwd_policy_prompt(false);
}

/* ---- sending ---- */
bool gwd_messages_send(struct gwd_messages *m, const struct gwd_message_client *client,
                       zmq_msg_t *frame, bool *full)
{
    *full = false;
    if (zmq_send(m->router, client->who.id.id, client->who.id.len, ZMQ_SNDMORE | ZMQ_DONTWAIT) <
        0) {
        *full = errno == EAGAIN;
        return *full;
    }
    return zmq_msg_send(frame, m->router, ZMQ_DONTWAIT) >= 0;
}

bool gwd_messages_say(struct gwd_messages *m, struct gwd_message_client *client,
                      const struct gmc_local *local)
{
    zmq_msg_t frame;
    bool full;
    if (client->who.peer != GMC_PEER_NONE) {
        gwd_relay_answer(m, client, local);
        return true;
    }
    size_t len = gmc_local_put(local, NULL, 0);
    if (zmq_msg_init_size(&frame, len) != 0)
        return true;
    (void)gmc_local_put(local, zmq_msg_data(&frame), len);
    bool there = gwd_messages_send(m, client, &frame, &full);
    (void)zmq_msg_close(&frame);
    return there;
}

/* ---- clients ---- */
struct gwd_message_client *gwd_messages_find(const struct gwd_messages *m,
                                             const struct gwd_caller *who)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (client->who.peer == who->peer && client->who.id.len == who->id.len &&
            memcmp(client->who.id.id, who->id.id, who->id.len) == 0)
            return client;
    }
    return NULL;
}

static void drop_waiting(struct gwd_message_client *client)
{
    struct gmc_list *node;
    while ((node = gmc_list_pop_front(&client->waiting)) != NULL) {
        struct gwd_waiting *waiting = GMC_CONTAINER_OF(node, struct gwd_waiting, node);
        (void)zmq_msg_close(&waiting->frame);
        free(waiting);
    }
    client->waiting_count = client->waiting_bytes = 0;
}

void gwd_messages_client_free(struct gwd_messages *m, struct gwd_message_client *client)
{
    drop_waiting(client);
    gmc_list_remove(&client->node);
    m->client_count--;
    free(client->reason);
    free(client->opened);
    free(client->part);
    free(client->name);
    free(client->source);
    free(client);
}

struct gwd_message_client *gwd_messages_client_new(struct gwd_messages *m,
                                                   const struct gwd_caller *who)
{
    struct gwd_message_client *client =
        m->client_count < CLIENTS_MAX ? calloc(1, sizeof *client) : NULL;
    if (client == NULL)
        return NULL;
    m->accepted++;
    client->who = *who;
    gmc_list_init(&client->waiting);
    gmc_list_init(&client->node);
    gmc_list_push_back(&m->clients, &client->node);
    m->client_count++;
    return client;
}

void gwd_messages_refuse(struct gwd_messages *m, const struct gwd_caller *who, const char *text)
{
    struct gwd_message_client nobody = {.who = *who};
    m->refused++;
    gwd_log_refusal(m->config.log, m->config.now(), "local.refused", GWD_STR("text", text));
    (void)gwd_messages_say(m, &nobody,
                           &(struct gmc_local){.kind = GMC_LOCAL_REFUSED, .text = text});
}

/* ZeroMQ ended a connection by itself, before a frame of it came here. */
static void on_refused(void *ctx, uid_t uid)
{
    struct gwd_messages *m = ctx;
    m->refused++;
    gwd_log_refusal(m->config.log, m->config.now(), "local.refused", GWD_STR("text", NO_FRAME),
                    GWD_NUM("limit_bytes", GMC_LOCAL_FRAME_MAX), GWD_NUM("uid", uid));
}

const char *gwd_messages_resolve(const struct gwd_messages *m, const char *name)
{
    if (gmc_inside_means(name, strlen(name), m->config.domain))
        return m->config.domain;
    return m->config.resolve(m->config.ctx, name);
}

/* ---- frames in ---- */
static void handle(struct gwd_messages *m, const struct gwd_caller *who, zmq_msg_t *frame)
{
    struct gmc_bytes bytes = gmc_bytes(zmq_msg_data(frame), zmq_msg_size(frame));
    struct gwd_message_client *client = gwd_messages_find(m, who);
    struct gmc_local local;
    if (gmc_local_get(bytes, &local) != GMC_OK) {
        gwd_messages_refuse(m, who, "this gateway does not understand what it was asked");
        return;
    }
    bool publishes = client != NULL && client->is_publisher && !client->ending;
    if (local.kind == GMC_LOCAL_OPEN && client == NULL && m->config.gateway != NULL)
        gwd_relay_open(m, who, bytes);
    else if (local.kind == GMC_LOCAL_OPEN && client == NULL)
        gwd_messages_open(m, who, &local);
    else if (local.kind == GMC_LOCAL_SUBSCRIBE && client == NULL)
        gwd_messages_subscribe(m, who, &local);
    else if (local.kind == GMC_LOCAL_PUBLISH && publishes)
        gwd_messages_publish(m, client, frame);
    else if (local.kind == GMC_LOCAL_END && publishes)
        gwd_messages_leave(m, client, local.text, false);
    else if (local.kind == GMC_LOCAL_TAKEN && client != NULL && !client->is_publisher)
        client->taken = local.number <= client->sent ? local.number : client->sent;
    else if (client == NULL)
        gwd_messages_refuse(m, who,
                            "this gateway does not know the channel (any more): open it anew");
}

/* One message: who, and one frame. Others are ignored. False when nothing waits. */
static bool take_frame(struct gwd_messages *m)
{
    struct gwd_caller who = {.peer = GMC_PEER_NONE};
    int more = 1;
    for (size_t part = 0; more; part++) {
        zmq_msg_t frame;
        (void)zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, m->router, ZMQ_DONTWAIT) < 0) {
            (void)zmq_msg_close(&frame);
            return false;
        }
        more = zmq_msg_more(&frame);
        size_t len = zmq_msg_size(&frame);
        if (part == 0 && len <= GWD_CLIENT_ID_MAX) {
            who.id.len = (uint8_t)len;
            memcpy(who.id.id, zmq_msg_data(&frame), len);
        } else if (part == 1 && !more && who.id.len > 0) {
            handle(m, &who, &frame);
        }
        (void)zmq_msg_close(&frame);
    }
    return true;
}

static bool is_readable(const struct gwd_messages *m)
{
    int events = 0;
    size_t len = sizeof events;
    return zmq_getsockopt(m->router, ZMQ_EVENTS, &events, &len) == 0 && (events & ZMQ_POLLIN) != 0;
}

void gwd_messages_look_again(struct gwd_messages *m)
{
    if (m->started && is_readable(m))
        event_active(m->event, EV_READ, 0);
}

static void on_ready(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_messages *m = ctx;
    int taken = 0;
    (void)fd, (void)what;
    while (taken < FRAMES_AT_ONCE && is_readable(m) && take_frame(m))
        taken++;
    if (taken == 0)
        return;
    gwd_messages_tell_accepted(m);
    m->config.drain(m->config.ctx);
    gwd_messages_look_again(m);
}

/* ---- what the daemon calls ---- */
void gwd_messages_flush(struct gwd_messages *m)
{
    if (m->batch_len == 0)
        return;
    gwd_messages_send_batch(m);
    gwd_messages_look_again(m);
}

void gwd_messages_room(struct gwd_messages *m, uint64_t e)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (client->is_publisher && client->e == e)
            gwd_messages_pump(m, client);
    }
    gwd_messages_tell_accepted(m);
    gwd_messages_look_again(m);
}

/* Who is gone shows when something is said to them. */
static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_messages *m = ctx;
    struct gmc_list *node, *after;
    (void)fd, (void)what;
    calm_down(m);
    gwd_traffic_tick(m->traffic);
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        bool there = client->gone || client->who.peer != GMC_PEER_NONE ||
                     gwd_messages_say(m, client, &(struct gmc_local){.kind = GMC_LOCAL_ALIVE});
        if (!there && client->is_publisher)
            gwd_messages_leave(m, client, "its publisher is gone", true);
        else if (!there)
            gwd_messages_client_free(m, client);
        else if (!client->is_publisher)
            (void)gwd_messages_send_ends(m, client);
    }
    m->config.drain(m->config.ctx);
    gwd_messages_look_again(m);
}

struct gmc_ctl_traffic gwd_messages_traffic(const struct gwd_messages *m,
                                            const struct gmc_channel_key *key)
{
    return gwd_traffic_of(m->traffic, key->source, key->e);
}

size_t gwd_messages_counters(const struct gwd_messages *m, struct gmc_counter *out, size_t max)
{
    uint64_t publishers = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        publishers += GMC_CONTAINER_OF(node, struct gwd_message_client, node)->is_publisher;
    }
    const struct gmc_counter counters[] = {{"local_publishers", publishers},
                                           {"local_subscribers", m->client_count - publishers},
                                           {"local_messages_published", m->published},
                                           {"local_batches_delivered", m->delivered},
                                           {"local_batches_lost", m->lost},
                                           {"local_clients_accepted", m->accepted},
                                           {"local_clients_refused", m->refused},
                                           {"local_publishers_gone", m->gone}};
    size_t count = sizeof counters / sizeof counters[0];
    for (size_t i = 0; i < count && i < max; i++)
        out[i] = counters[i];
    return count < max ? count : max;
}

/* ---- life ---- */
static bool watch_ends(struct gwd_messages *m)
{
    static const struct gmc_local refused = {.kind = GMC_LOCAL_REFUSED, .text = NO_FRAME};
    struct gwd_zmq_watch_config config = {.base = m->config.zmq.base,
                                          .context = m->context,
                                          .socket = m->router,
                                          .endpoint = m->endpoint,
                                          .ctx = m,
                                          .refused = on_refused};
    size_t len = gmc_local_put(&refused, m->last_word, sizeof m->last_word);
    config.last_word = gmc_bytes(m->last_word, len);
    m->watch = gwd_zmq_watch_new(&config);
    return m->watch != NULL;
}

struct gwd_messages *gwd_messages_new(const struct gwd_messages_config *config, char *reason,
                                      size_t size)
{
    struct gwd_messages *m = calloc(1, sizeof *m);
    int fd = -1, mandatory = 1;
    size_t len = sizeof fd;
    gwd_text(reason, size, "out of memory");
    if (m == NULL)
        return NULL;
    m->config = *config;
    gmc_list_init(&m->clients);
    gwd_text(m->endpoint, sizeof m->endpoint, "%s" GWD_MESSAGES_SUFFIX, config->zmq.control);
    m->traffic = gwd_traffic_new();
    m->context = m->traffic != NULL ? zmq_ctx_new() : NULL;
    if (m->context != NULL && config->batches) /* its thread carries nothing but messages */
        (void)zmq_ctx_set(m->context, ZMQ_THREAD_SCHED_POLICY, SCHED_OTHER);
    m->router = m->context != NULL ? zmq_socket(m->context, ZMQ_ROUTER) : NULL;
    if (m->router == NULL ||
        zmq_setsockopt(m->router, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory) != 0 ||
        !watch_ends(m) ||
        !gwd_zmq_bind(&config->zmq, m->router, m->endpoint, GMC_LOCAL_FRAME_MAX, &m->path, reason,
                      size)) {
        gwd_messages_free(m);
        return NULL;
    }
    if (zmq_getsockopt(m->router, ZMQ_FD, &fd, &len) == 0)
        m->event = event_new(config->zmq.base, fd, EV_READ | EV_PERSIST, on_ready, m);
    m->tick = event_new(config->zmq.base, -1, EV_PERSIST, on_tick, m);
    if (m->event == NULL || m->tick == NULL) {
        gwd_messages_free(m);
        return NULL;
    }
    return m;
}

void gwd_messages_free(struct gwd_messages *m)
{
    struct gmc_list *node;
    if (m == NULL)
        return;
    while ((node = gmc_list_first(&m->clients)) != NULL)
        gwd_messages_client_free(m, GMC_CONTAINER_OF(node, struct gwd_message_client, node));
    if (m->event != NULL)
        event_free(m->event);
    if (m->tick != NULL)
        event_free(m->tick);
    gwd_zmq_watch_free(m->watch);
    if (m->router != NULL)
        (void)zmq_close(m->router);
    if (m->context != NULL)
        (void)zmq_ctx_term(m->context);
    if (m->path != NULL)
        (void)unlink(m->path);
    gwd_traffic_free(m->traffic);
    free(m->path);
    free(m->batch);
    free(m);
}

bool gwd_messages_start(struct gwd_messages *m)
{
    const struct timeval second = {.tv_sec = 1};
    m->started = event_add(m->event, NULL) == 0 && event_add(m->tick, &second) == 0 &&
                 gwd_zmq_watch_start(m->watch);
    if (m->started)
        event_active(m->event, EV_READ, 0);
    return m->started;
}
