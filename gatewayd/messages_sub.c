/* SPDX-License-Identifier: BSD-2-Clause */
/* Local subscribers. Each has its own queue, bounded in bytes that it has not taken: what is beyond
 * is lost to it, and it sees that by the sequence numbers. */
#include <stdlib.h>
#include <string.h>

#include "core/inside.h"
#include "gatewayd/messages_int.h"
#include "gatewayd/text.h"

#define QUEUE_BYTES (64u << 20) /* of a subscriber, sent and not taken */
#define BATCH_BYTES (64u << 10)
#define ENDS_MAX 64u /* of channels, that wait for room in it */

void gwd_messages_subscribe(struct gwd_messages *m, const struct gwd_caller *who,
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
        source = gwd_messages_resolve(m, source);
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

/* Into the subscriber's queue; *full: there is no room. False when it is gone. */
static bool hand(struct gwd_messages *m, struct gwd_message_client *client, zmq_msg_t *frame,
                 bool *full)
{
    size_t len = zmq_msg_size(frame), queued = client->sent - client->taken;
    *full = queued > 0 && queued + len > QUEUE_BYTES;
    if (*full)
        return true;
    if (!gwd_messages_send(m, client, frame, full))
        return false;
    client->sent += *full ? 0 : len;
    return true;
}

bool gwd_messages_send_ends(struct gwd_messages *m, struct gwd_message_client *client)
{
    struct gmc_list *node;
    bool full;
    while ((node = gmc_list_first(&client->waiting)) != NULL) {
        struct gwd_waiting *end = GMC_CONTAINER_OF(node, struct gwd_waiting, node);
        if (!hand(m, client, &end->frame, &full)) {
            gwd_messages_client_free(m, client);
            return false;
        }
        if (full)
            return true;
        client->waiting_count--;
        gmc_list_remove(node);
        (void)zmq_msg_close(&end->frame);
        free(end);
    }
    return true;
}

/* The end of a channel is not lost to who does not read: nothing would come behind it that shows
 * what else was. A copy, which is small; the batch has room for more. */
static bool keep_end(const struct gwd_messages *m, struct gwd_message_client *client,
                     zmq_msg_t *frame)
{
    size_t len = zmq_msg_size(frame);
    if (!m->batch_ends || client->waiting_count >= ENDS_MAX)
        return false;
    struct gwd_waiting *end = calloc(1, sizeof *end);
    if (end == NULL || zmq_msg_init_size(&end->frame, len) != 0) {
        free(end);
        return false;
    }
    memcpy(zmq_msg_data(&end->frame), zmq_msg_data(frame), len);
    gmc_list_init(&end->node);
    gmc_list_push_back(&client->waiting, &end->node);
    client->waiting_count++;
    return true;
}

static void lose(struct gwd_messages *m, struct gwd_message_client *client)
{
    if (client->lost++ == 0)
        gwd_log_refusal(m->config.log, m->config.now(), "local.behind",
                        GWD_STR("channel", m->batch_name),
                        GWD_STR("text", "a subscriber does not read: it loses messages"));
    m->lost++;
}

/* Takes the frame. */
static void send_to(struct gwd_messages *m, struct gwd_message_client *client, zmq_msg_t *frame,
                    uint64_t messages)
{
    if (!gwd_messages_send_ends(m, client)) {
        (void)zmq_msg_close(frame);
        return;
    }
    bool full = client->waiting_count > 0;
    if (!full && !hand(m, client, frame, &full)) {
        (void)zmq_msg_close(frame);
        gwd_messages_client_free(m, client);
        return;
    }
    if (!full)
        m->delivered++;
    else if (!keep_end(m, client, frame))
        lose(m, client);
    gwd_traffic_handed(m->traffic, m->batch_source, m->batch_e, messages, full);
    (void)zmq_msg_close(frame);
}

/* One copy of the bytes for all of them. */
void gwd_messages_send_batch(struct gwd_messages *m)
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
        if (!wants(m, client))
            continue;
        (void)zmq_msg_init(&frame);
        (void)zmq_msg_copy(&frame, &shared);
        send_to(m, client, &frame, messages);
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

void gwd_messages_arrived(struct gwd_messages *m, const struct gmc_output *out)
{
    const struct gmc_arrived *arrived = &out->u.arrived;
    struct gmc_local_entry entry = {.e = arrived->e,
                                    .sequence = arrived->sequence,
                                    .end = arrived->end,
                                    .source = arrived->source,
                                    .name = arrived->name,
                                    .body = out->bytes};
    gwd_messages_hurry(m);
    if (m->batch_len > 0 &&
        (arrived->end || m->batch_e != arrived->e || m->batch_len >= BATCH_BYTES))
        gwd_messages_send_batch(m);
    gwd_text(m->batch_name, sizeof m->batch_name, "%s", arrived->name);
    gwd_text(m->batch_source, sizeof m->batch_source, "%s", arrived->source);
    m->batch_e = arrived->e;
    m->batch_ends = arrived->end;
    if (arrived->end && m->config.is_ours(m->config.ctx, arrived->source)) {
        char reason[GMC_TEXT_MAX + 1];
        gwd_text(reason, sizeof reason, "%.*s", (int)out->bytes.len, (const char *)out->bytes.data);
        gwd_messages_over(m, arrived->e, reason);
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
