/* SPDX-License-Identifier: BSD-2-Clause */
/* Local publishers. Their messages wait here while the core takes none; each may have so many on
 * their way, and is told how many were taken. */
#include <stdlib.h>
#include <string.h>

#include "gatewayd/messages_int.h"
#include "gatewayd/text.h"

#define WINDOW_MESSAGES 1024u   /* of a publisher, on their way */
#define WINDOW_BYTES (4u << 20) /* of them; one may be larger */
#define DOMAINS_MAX 16384

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

void gwd_messages_pump(struct gwd_messages *m, struct gwd_message_client *client)
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
    gwd_messages_pump(m, client);
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
                                                    struct gmc_bytes opened)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        const struct gwd_message_client *other =
            GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (other->is_publisher && !other->ending && other->opened_len == opened.len &&
            memcmp(other->opened, opened.data, opened.len) == 0)
            return other;
    }
    return NULL;
}

/* In the order of their names, so that those of two publishers can be compared. */
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

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
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
        const char *domain = gwd_messages_resolve(m, name);
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
    qsort(targets->list, targets->count, sizeof *targets->list, compare_texts);
    return true;
}

/* What publishers that share a channel have in common, however they wrote it: order, name, and
 * where it goes. To be freed; NULL: no memory. */
static uint8_t *pack_opened(const struct gmc_local *local, const struct targets *to, size_t *len)
{
    *len = 1 + strlen(local->name) + 1;
    for (size_t i = 0; i < to->count; i++)
        *len += strlen(to->list[i]) + 1;
    uint8_t *opened = malloc(*len);
    if (opened == NULL)
        return NULL;
    opened[0] = local->order;
    char *at = stpcpy((char *)opened + 1, local->name) + 1;
    for (size_t i = 0; i < to->count; i++)
        at = stpcpy(at, to->list[i]) + 1;
    return opened;
}

/* The channel to publish on, that of publishers who are here or a new one; false with a reason. */
static bool find_channel(struct gwd_messages *m, const struct gmc_local *local,
                         const struct targets *to, struct gmc_bytes opened, uint64_t *e,
                         const char **error)
{
    const struct gwd_message_client *same = find_opened(m, opened);
    struct gmc_open_request request = {.name = local->name,
                                       .targets = to->list,
                                       .target_count = to->count,
                                       .order = (enum gmc_message_order)local->order,
                                       .shape = GMC_TREE_ECO};
    struct gmc_channel_key key;
    if (same == NULL &&
        gwd_drive_open(m->config.drive, m->config.now(), &request, &key, error) != GMC_OK)
        return false;
    *e = same != NULL ? same->e : key.e;
    return true;
}

void gwd_messages_open(struct gwd_messages *m, const struct gwd_caller *who,
                       const struct gmc_local *local)
{
    char reason[512];
    const char *error = reason;
    struct targets to;
    uint64_t e;
    size_t len = 0;
    uint8_t *opened = NULL;
    /* resolve_all leaves "out of memory" where nothing failed. */
    bool found = resolve_all(m, local->rest, &to, reason, sizeof reason) &&
                 (opened = pack_opened(local, &to, &len)) != NULL &&
                 find_channel(m, local, &to, gmc_bytes(opened, len), &e, &error);
    targets_free(&to);
    struct gwd_message_client *client = found ? gwd_messages_client_new(m, who) : NULL;
    if (client == NULL) {
        if (found && find_opened(m, gmc_bytes(opened, len)) == NULL)
            (void)gwd_drive_end(m->config.drive, m->config.now(), e, "no publisher");
        free(opened);
        gwd_messages_refuse(m, who,
                            found ? "this gateway has as many publishers as it takes" : error);
        return;
    }
    client->is_publisher = true;
    client->e = e;
    client->opened = opened;
    client->opened_len = len;
    (void)gwd_messages_say(m, client,
                           &(struct gmc_local){.kind = GMC_LOCAL_OPENED,
                                               .number = e,
                                               .messages_max = WINDOW_MESSAGES,
                                               .bytes_max = WINDOW_BYTES});
}

void gwd_messages_publish(struct gwd_messages *m, struct gwd_message_client *client,
                          zmq_msg_t *frame)
{
    size_t len = zmq_msg_size(frame);
    gwd_messages_hurry(m);
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
    gwd_messages_pump(m, client);
}

void gwd_messages_over(struct gwd_messages *m, uint64_t e, const char *reason)
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

void gwd_messages_warn(struct gwd_messages *m, uint64_t e, const char *text)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &m->clients)
    {
        struct gwd_message_client *client = GMC_CONTAINER_OF(node, struct gwd_message_client, node);
        if (client->is_publisher && client->e == e && !client->gone)
            (void)gwd_messages_say(m, client,
                                   &(struct gmc_local){.kind = GMC_LOCAL_WARNING, .text = text});
    }
    gwd_messages_look_again(m);
}
