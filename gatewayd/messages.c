/* SPDX-License-Identifier: BSD-2-Clause */
/* Local publishers and subscribers. A publisher's messages wait here while the core takes none; it
 * may have so many on their way, and is told how many were taken. A subscriber has its own queue,
 * bounded in bytes that it has not taken: what is beyond is lost to it, and it sees that by the
 * sequence numbers. Nobody waits for anybody else. */
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
#define WINDOW_MESSAGES 1024u   /* of a publisher, on their way */
#define WINDOW_BYTES (4u << 20) /* of them; one may be larger */
#define QUEUE_BYTES (64u << 20) /* of a subscriber, sent and not taken */
#define BATCH_BYTES (64u << 10)
#define DOMAINS_MAX 16384
#define QUIET_TICKS 3 /* then bulk has the scheduling that it likes */

/* A message passes: whoever wakes this thread for the next one must not have to wait. */
static void hurry(struct gwd_messages *m)
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
/* False when the client is gone. *full: its pipe is. */
static bool send_frame(struct gwd_messages *m, const struct gwd_message_client *client,
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
    bool there = send_frame(m, client, &frame, &full);
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

/* ---- publishers ---- */
static bool is_shared(const struct gwd_messages *m, const struct gwd_message_client *client)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        const struct gwd_message_client *other =
            GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (other != client && other->is_publisher && other->e == client->e)
            return true;
    }
    return false;
}

/* What waits goes to the core while it takes it; then, perhaps, the publisher leaves: its channel
 * ends with the last one. */
static void pump(struct gwd_messages *m, struct gwd_message_client *client)
{
    struct gmc_list *node;
    if (m->config.gateway != NULL) {
        gwd_relay_pump(m, client);
        return;
    }
    while ((node = gmc_list_first(&client->waiting)) != NULL) {
        struct gwd_waiting *waiting = GMC_CONTAINER_OF(node, struct gwd_waiting, node);
        size_t len = zmq_msg_size(&waiting->frame);
        struct gmc_bytes message = gmc_bytes((uint8_t *)zmq_msg_data(&waiting->frame) + 1, len - 1);
        if (gwd_drive_publish(m->config.drive, m->config.now(), client->e, message) ==
            GMC_ERR_AGAIN)
            return;
        m->published++;
        client->accepted++;
        client->waiting_count--;
        client->waiting_bytes -= len;
        gmc_list_remove(node);
        (void)zmq_msg_close(&waiting->frame);
        free(waiting);
    }
    if (!client->ending)
        return;
    if (!is_shared(m, client) &&
        gwd_drive_end(m->config.drive, m->config.now(), client->e, client->reason) == GMC_ERR_AGAIN)
        return;
    if (!client->gone) {
        struct gmc_local accepted = {.kind = GMC_LOCAL_ACCEPTED, .number = client->accepted};
        struct gmc_local over = {.kind = GMC_LOCAL_OVER, .text = client->reason};
        if (client->who.peer == GMC_PEER_NONE) /* to a node one answer is enough */
            (void)gwd_messages_say(m, client, &accepted);
        (void)gwd_messages_say(m, client, &over);
    }
    gwd_messages_client_free(m, client);
}

void gwd_messages_leave(struct gwd_messages *m, struct gwd_message_client *client,
                        const char *reason, bool gone)
{
    if (!client->ending)
        client->reason = strdup(reason);
    m->gone += gone && !client->gone;
    client->ending = client->reason != NULL;
    client->gone = client->gone || gone;
    pump(m, client);
}

void gwd_messages_tell_accepted(struct gwd_messages *m)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        bool is_at_node = client->who.peer != GMC_PEER_NONE;
        if (!client->is_publisher || client->gone ||
            (is_at_node ? client->who.request == 0 || client->waiting_count > 0 || client->ending
                        : client->told == client->accepted))
            continue;
        client->told = client->accepted;
        struct gmc_local local = {.kind = GMC_LOCAL_ACCEPTED, .number = client->accepted};
        if (!gwd_messages_say(m, client, &local))
            gwd_messages_leave(m, client, "its publisher is gone", true);
    }
}

static const struct gwd_message_client *find_opened(const struct gwd_messages *m,
                                                    struct gmc_bytes frame)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        const struct gwd_message_client *other =
            GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (other->is_publisher && !other->ending && other->opened_len == frame.len &&
            memcmp(other->opened, frame.data, frame.len) == 0)
            return other;
    }
    return NULL;
}

/* DOMAIN as it is called in the configuration; the own one also by the first part of its name. */
static const char *resolve(const struct gwd_messages *m, const char *name)
{
    if (gmc_inside_means(name, strlen(name), m->config.domain))
        return m->config.domain;
    return m->config.resolve(m->config.ctx, name);
}

struct targets {
    const char **list;
    size_t count;
    char *texts; /* what they point into */
};

static void targets_free(struct targets *targets)
{
    free(targets->list);
    free(targets->texts);
}

/* DOMAIN or DOMAIN/INSIDE. False with a reason. */
static bool resolve_all(struct gwd_messages *m, struct gmc_bytes rest, struct targets *targets,
                        char *reason, size_t size)
{
    const char *word;
    size_t room = 0;
    *targets = (struct targets){0};
    for (struct gmc_bytes look = rest; gmc_local_next_text(&look, &word); targets->count++)
        room += GMC_DOMAIN_NAME_MAX + strlen(word) + 1;
    gwd_text(reason, size, "more than %d domains are named", DOMAINS_MAX);
    if (targets->count > DOMAINS_MAX)
        return false;
    gwd_text(reason, size, "out of memory");
    targets->list = calloc(targets->count + 1, sizeof *targets->list);
    targets->texts = malloc(room + 1);
    targets->count = 0;
    if (targets->list == NULL || targets->texts == NULL)
        return false;
    for (char *at = targets->texts; gmc_local_next_text(&rest, &word); at += strlen(at) + 1) {
        char name[GMC_DOMAIN_NAME_MAX + 1];
        size_t len = strcspn(word, "/");
        gwd_text(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name), word);
        const char *domain = resolve(m, name);
        if (domain == NULL) {
            gwd_text(reason, size,
                     "domain \"%s\" is not configured at this gateway (gmcast peers "
                     "lists those that are)",
                     name);
            return false;
        }
        strcpy(at, domain);
        strcat(at, word + len);
        targets->list[targets->count++] = at;
    }
    return true;
}

void gwd_messages_open(struct gwd_messages *m, const struct gwd_caller *who, struct gmc_bytes frame,
                       const struct gmc_local *local)
{
    char reason[512];
    const char *error = reason;
    const struct gwd_message_client *same = find_opened(m, frame);
    struct gmc_channel_key key = {.e = same != NULL ? same->e : 0};
    struct targets to = {0};
    if (same == NULL && resolve_all(m, local->rest, &to, reason, sizeof reason)) {
        struct gmc_open_request request = {.name = local->name,
                                           .targets = to.list,
                                           .target_count = to.count,
                                           .order = (enum gmc_message_order)local->order,
                                           .shape = GMC_TREE_ECO};
        if (gwd_drive_open(m->config.drive, m->config.now(), &request, &key, &error) != GMC_OK)
            key.e = 0;
    }
    targets_free(&to);
    struct gwd_message_client *client = key.e != 0 ? gwd_messages_client_new(m, who) : NULL;
    uint8_t *opened = client != NULL ? malloc(frame.len) : NULL;
    if (opened == NULL) {
        gwd_messages_refuse(m, who,
                            key.e != 0 ? "this gateway has as many publishers as it takes" : error);
        if (client != NULL)
            gwd_messages_client_free(m, client);
        if (key.e != 0 && same == NULL)
            (void)gwd_drive_end(m->config.drive, m->config.now(), key.e, "no publisher");
        return;
    }
    memcpy(opened, frame.data, frame.len);
    client->is_publisher = true;
    client->e = key.e;
    client->opened = opened;
    client->opened_len = frame.len;
    (void)gwd_messages_say(m, client,
                           &(struct gmc_local){.kind = GMC_LOCAL_OPENED,
                                               .number = key.e,
                                               .messages_max = WINDOW_MESSAGES,
                                               .bytes_max = WINDOW_BYTES});
}

/* Takes the frame over where it has to wait. */
void gwd_messages_publish(struct gwd_messages *m, struct gwd_message_client *client,
                          zmq_msg_t *frame)
{
    size_t len = zmq_msg_size(frame);
    hurry(m);
    if (len - 1 > GMC_MESSAGE_BYTES_MAX) {
        gwd_messages_refuse(m, &client->who, "a message is longer than 1 MiB, which is the most");
        gwd_messages_leave(m, client, "its publisher broke a limit", true);
        return;
    }
    if (client->waiting_count > WINDOW_MESSAGES ||
        (client->waiting_bytes > WINDOW_BYTES && client->waiting_count > 1)) {
        gwd_messages_refuse(m, &client->who, "more messages were sent than may be on their way");
        gwd_messages_leave(m, client, "its publisher broke a limit", true);
        return;
    }
    struct gwd_waiting *waiting = calloc(1, sizeof *waiting);
    if (waiting == NULL)
        return;
    (void)zmq_msg_init(&waiting->frame);
    (void)zmq_msg_move(&waiting->frame, frame);
    gmc_list_init(&waiting->node);
    gmc_list_push_back(&client->waiting, &waiting->node);
    client->waiting_count++;
    client->waiting_bytes += len;
    pump(m, client);
}

/* ---- subscribers ---- */
static void on_subscribe(struct gwd_messages *m, const struct gwd_caller *who,
                         const struct gmc_local *local)
{
    const char *source = local->source;
    if (!gmc_channel_name_ok(local->name)) {
        gwd_messages_refuse(
            m, who, "a channel's name is up to 128 printable characters, no space, no slash");
        return;
    }
    /* A node knows no aliases: there a source is any name, or the first part of one. */
    if (source[0] != '\0' && m->config.gateway == NULL)
        source = resolve(m, source);
    if (source == NULL) {
        gwd_messages_refuse(m, who, "the channel's source is not a domain that this gateway knows");
        return;
    }
    struct gwd_message_client *client = gwd_messages_client_new(m, who);
    if (client == NULL) {
        gwd_messages_refuse(m, who, "this gateway has as many subscribers as it takes");
        return;
    }
    client->name = strdup(local->name);
    client->source = strdup(source);
    if (client->name == NULL || client->source == NULL ||
        !gwd_messages_say(m, client, &(struct gmc_local){.kind = GMC_LOCAL_SUBSCRIBED}))
        gwd_messages_client_free(m, client);
}

static bool wants(const struct gwd_messages *m, const struct gwd_message_client *client)
{
    if (client->is_publisher || strcmp(client->name, m->batch_name) != 0)
        return false;
    return client->source[0] == '\0' || strcmp(client->source, m->batch_source) == 0 ||
           (m->config.gateway != NULL &&
            gmc_inside_means(client->source, strlen(client->source), m->batch_source));
}

static void free_batch(void *data, void *hint)
{
    (void)hint;
    free(data);
}

/* One copy of the bytes for all of them. */
static void send_batch(struct gwd_messages *m)
{
    size_t len = m->batch_len;
    zmq_msg_t shared;
    struct gmc_list *node, *after;
    if (len == 0)
        return;
    uint64_t messages = m->batch_messages;
    m->batch_len = 0;
    m->batch_messages = 0;
    if (zmq_msg_init_data(&shared, m->batch, len, free_batch, NULL) != 0)
        return;
    m->batch = NULL;
    m->batch_room = 0;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        zmq_msg_t frame;
        bool full = true;
        if (!wants(m, client))
            continue;
        (void)zmq_msg_init(&frame);
        (void)zmq_msg_copy(&frame, &shared);
        if (client->sent - client->taken + len <= QUEUE_BYTES || client->sent == client->taken) {
            if (!send_frame(m, client, &frame, &full)) {
                (void)zmq_msg_close(&frame);
                gwd_messages_client_free(m, client);
                continue;
            }
        }
        if (full) {
            if (client->lost++ == 0)
                gwd_log_refusal(m->config.log, m->config.now(), "local.behind",
                                GWD_STR("channel", m->batch_name),
                                GWD_STR("text", "a subscriber does not read: it loses messages"));
            m->lost++;
        } else {
            client->sent += len;
            m->delivered++;
        }
        gwd_traffic_handed(m->traffic, m->batch_source, m->batch_e, messages, full);
        (void)zmq_msg_close(&frame);
    }
    (void)zmq_msg_close(&shared);
}

static bool batch_reserve(struct gwd_messages *m, size_t more)
{
    if (m->batch_room - m->batch_len >= more)
        return true;
    size_t room = m->batch_len + more > BATCH_BYTES ? m->batch_len + more : BATCH_BYTES;
    uint8_t *grown = realloc(m->batch, room);
    if (grown == NULL)
        return false;
    m->batch = grown;
    m->batch_room = room;
    return true;
}

static bool is_heard(struct gwd_messages *m)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        /* Who was freed is out of the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        if (wants(m, GMC_CONTAINER_OF(node, struct gwd_message_client, node)))
            return true;
    }
    return false;
}

/* A channel of ours has ended; its publishers may not know. */
static void channel_over(struct gwd_messages *m, uint64_t e, const char *reason)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (!client->is_publisher || client->e != e || client->ending)
            continue;
        (void)gwd_messages_say(m, client,
                               &(struct gmc_local){.kind = GMC_LOCAL_OVER, .text = reason});
        gwd_messages_client_free(m, client);
    }
}

void gwd_messages_arrived(struct gwd_messages *m, const struct gmc_output *out)
{
    const struct gmc_arrived *arrived = &out->u.arrived;
    struct gmc_local_entry entry = {.e = arrived->e,
                                    .sequence = arrived->sequence,
                                    .end = arrived->end,
                                    .source = arrived->source,
                                    .name = arrived->name,
                                    .body = out->bytes};
    hurry(m);
    if (m->batch_len > 0 && (m->batch_e != arrived->e || m->batch_len >= BATCH_BYTES))
        send_batch(m);
    gwd_text(m->batch_name, sizeof m->batch_name, "%s", arrived->name);
    gwd_text(m->batch_source, sizeof m->batch_source, "%s", arrived->source);
    m->batch_e = arrived->e;
    if (arrived->end && m->config.is_ours(m->config.ctx, arrived->source)) {
        char reason[GMC_TEXT_MAX + 1];
        gwd_text(reason, sizeof reason, "%.*s", (int)out->bytes.len, (const char *)out->bytes.data);
        channel_over(m, arrived->e, reason);
    }
    if (!arrived->end)
        gwd_traffic_arrived(m->traffic, arrived->source, arrived->e, arrived->sequence);
    size_t len = gmc_local_put_entry(&entry, NULL, 0);
    if ((m->batch_len == 0 && !is_heard(m)) || !batch_reserve(m, len + 1))
        return;
    if (m->batch_len == 0)
        m->batch[m->batch_len++] = GMC_LOCAL_MESSAGES;
    m->batch_len += gmc_local_put_entry(&entry, m->batch + m->batch_len, len);
    m->batch_messages += !arrived->end;
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
        gwd_messages_open(m, who, bytes, &local);
    else if (local.kind == GMC_LOCAL_SUBSCRIBE && client == NULL)
        on_subscribe(m, who, &local);
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
    /* Sending may have taken the edge. */
    if (is_readable(m))
        event_active(m->event, EV_READ, 0);
}

/* ---- what the daemon calls ---- */
void gwd_messages_flush(struct gwd_messages *m)
{
    if (m->batch_len == 0)
        return;
    send_batch(m);
    if (m->started && is_readable(m))
        event_active(m->event, EV_READ, 0);
}

void gwd_messages_room(struct gwd_messages *m, uint64_t e)
{
    struct gmc_list *node, *after;
    GMC_LIST_FOREACH_SAFE(node, after, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (client->is_publisher && client->e == e)
            pump(m, client);
    }
    gwd_messages_tell_accepted(m);
    if (m->started && is_readable(m))
        event_active(m->event, EV_READ, 0);
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
    }
    m->config.drain(m->config.ctx);
    if (is_readable(m))
        event_active(m->event, EV_READ, 0);
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
struct gwd_messages *gwd_messages_new(const struct gwd_messages_config *config, char *reason,
                                      size_t size)
{
    struct gwd_messages *m = calloc(1, sizeof *m);
    char endpoint[256];
    int fd = -1, mandatory = 1;
    size_t len = sizeof fd;
    gwd_text(reason, size, "out of memory");
    if (m == NULL)
        return NULL;
    m->config = *config;
    gmc_list_init(&m->clients);
    gwd_text(endpoint, sizeof endpoint, "%s" GWD_MESSAGES_SUFFIX, config->zmq.control);
    m->traffic = gwd_traffic_new();
    m->context = m->traffic != NULL ? zmq_ctx_new() : NULL;
    if (m->context != NULL && config->batches) /* its thread carries nothing but messages */
        (void)zmq_ctx_set(m->context, ZMQ_THREAD_SCHED_POLICY, SCHED_OTHER);
    m->router = m->context != NULL ? zmq_socket(m->context, ZMQ_ROUTER) : NULL;
    if (m->router == NULL ||
        zmq_setsockopt(m->router, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory) != 0 ||
        !gwd_zmq_bind(&config->zmq, m->router, endpoint, GMC_LOCAL_FRAME_MAX, &m->path, reason,
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
    m->started = event_add(m->event, NULL) == 0 && event_add(m->tick, &second) == 0;
    if (m->started)
        event_active(m->event, EV_READ, 0);
    return m->started;
}
