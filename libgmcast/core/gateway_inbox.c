/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on their way to the shell: copied here, and given out one by one, since the shell takes
 * outputs when it likes. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_impl.h"

void gw_inbox_begin_input(struct gmc_gateway *gw)
{
    struct gwinbox *inbox = &gw->inbox;
    if (inbox->taken < inbox->count)
        return; /* the shell gives several inputs before it takes outputs */
    inbox->count = inbox->taken = 0;
    inbox->used = 0;
}

static void *grown(void *memory, size_t *room, size_t wanted, size_t size)
{
    size_t more = *room == 0 ? 64 : *room;
    while (more < wanted)
        more *= 2;
    void *bigger = realloc(memory, more * size);
    /* As with any output: the shell and the core must not have different ideas of the world. */
    GMC_ASSERT(bigger != NULL);
    *room = more;
    return bigger;
}

void gw_inbox_put(struct gmc_gateway *gw, const struct gwchannel *ch,
                  const struct gmc_message *message)
{
    struct gwinbox *inbox = &gw->inbox;
    size_t name_len = strlen(ch->talk->name) + 1, source_len = strlen(ch->key.source) + 1;
    size_t len = name_len + source_len + message->body.len;
    if (inbox->room - inbox->used < len)
        inbox->bytes = grown(inbox->bytes, &inbox->room, inbox->used + len, 1);
    if (inbox->count == inbox->capacity)
        inbox->arrived =
            grown(inbox->arrived, &inbox->capacity, inbox->count + 1, sizeof(*inbox->arrived));
    uint8_t *to = inbox->bytes + inbox->used;
    memcpy(to, ch->talk->name, name_len);
    memcpy(to + name_len, ch->key.source, source_len);
    if (message->body.len > 0)
        memcpy(to + name_len + source_len, message->body.data, message->body.len);
    inbox->arrived[inbox->count++] =
        (struct gwarrived){.from = ch->is_source ? gw->self : ch->source_peer->number,
                           .e = ch->key.e,
                           .sequence = message->sequence,
                           .at = inbox->used,
                           .len = len,
                           .end = message->end};
    inbox->used += len;
}

bool gw_inbox_next(struct gmc_gateway *gw, struct gmc_output *out)
{
    struct gwinbox *inbox = &gw->inbox;
    if (inbox->taken == inbox->count)
        return false;
    const struct gwarrived *arrived = &inbox->arrived[inbox->taken++];
    const char *name = (const char *)inbox->bytes + arrived->at;
    const char *source = name + strlen(name) + 1;
    const char *body = source + strlen(source) + 1;
    out->kind = GMC_OUT_MESSAGE;
    out->peer = arrived->from;
    out->id = 0;
    out->bytes = gmc_bytes(body, arrived->len - (size_t)(body - name));
    out->u.arrived = (struct gmc_arrived){.source = source,
                                          .name = name,
                                          .e = arrived->e,
                                          .sequence = arrived->sequence,
                                          .end = arrived->end};
    return true;
}
