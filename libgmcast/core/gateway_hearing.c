/* SPDX-License-Identifier: BSD-2-Clause */
/* A node's place in its domain's group: it is told of it, hears it, says what is missing still, and
 * leaves it. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway_hear_impl.h"

#define ADDR_TEXT_MAX 80
#define HAVE_WAIT_MIN GMC_MS(20)
#define HAVE_WAIT_EACH GMC_MS(1) /* for each node of the group */
#define HAVE_WAIT_MAX GMC_MS(60)

/* ---- the group's life ---- */
static void set_gate(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_msg *msg,
                     bool is_new)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_session session = {.local_id = msg->group};
    struct gmc_gate gate;
    memcpy(session.recv_secret, msg->secret, GMC_KEY_BYTES);
    if (gmc_gate_init(&gate, gw->config.crypto, &session) != GMC_OK)
        return; /* as if it were not heard */
    if (!is_new) {
        gmc_gate_fini(&hearing->gate);
        gmc_map_remove(&gw->hearings, hearing->number);
    }
    hearing->gate = gate;
    hearing->gate.replay.next = msg->next;
    hearing->number = msg->group;
    hearing->any = false;
    hearing->sender.len = hearing->other.len = 0;
    hearing->report_at = GMC_TIME_NEVER;
    hearing->received = 0;
    gmc_status status = gmc_map_put(&gw->hearings, msg->group, ch);
    (void)status; /* without memory it is not heard, and the link carries all */
}

static struct gwhearing *hearing_new(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = calloc(1, sizeof(*hearing));
    size_t shards = GMC_FEC_PARITY_MAX + GMC_GROUP_BLOCKS_MAX;
    if (hearing != NULL)
        hearing->scratch = malloc(gw_shard_room(ch) * shards);
    if (hearing == NULL || hearing->scratch == NULL) {
        free(hearing);
        return NULL;
    }
    hearing->report_at = GMC_TIME_NEVER;
    hearing->members = 1;
    gmc_list_init(&hearing->windows);
    gmc_list_init(&hearing->spares);
    gmc_prng_fork_nth(&gw->prng, "group", ch->slot, &hearing->prng);
    return hearing;
}

static void hear_address(struct gmc_gateway *gw, struct gmc_bytes address)
{
    struct gwout *out = gw_out(gw, GMC_OUT_GROUP, GMC_PEER_NONE);
    out->owned = gw_copy(address);
    out->output.bytes = gmc_bytes(out->owned, address.len);
}

/* A node that lost its relay asks the next one and the gateway: whichever answers last, the relay
 * is the one that it can hear. */
static bool hears_relay(const struct gwchannel *ch, const struct gwpeer *peer)
{
    return ch->hearing != NULL && ch->hearing->from != peer &&
           ch->hearing->from->number == ch->dst->tree_parent;
}

void gw_hear_group(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                   const struct gmc_msg *msg)
{
    bool is_above = gw->config.node_of != NULL && ch->dst != NULL &&
                    (peer == ch->source_peer || peer->number == ch->dst->tree_parent);
    if (!is_above || gw->config.fec.ops == NULL || gw->config.virtual_bodies) {
        gw->counts.messages_refused++;
        return;
    }
    if (msg->payload.len == 0) {
        if (ch->hearing != NULL && ch->hearing->number == msg->group)
            gw_hearing_free(gw, ch);
        return;
    }
    const struct gwchannel *other = gmc_map_get(&gw->hearings, msg->group);
    if (msg->epoch != ch->epoch || !ch->object_known || (other != NULL && other != ch) ||
        hears_relay(ch, peer))
        return;
    bool is_new = ch->hearing == NULL;
    if (is_new)
        ch->hearing = hearing_new(gw, ch);
    if (ch->hearing == NULL)
        return;
    ch->hearing->from = peer;
    hear_address(gw, msg->payload);
    if (is_new || ch->hearing->number != msg->group)
        set_gate(gw, ch, msg, is_new);
}

void gw_hearing_forget(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_list *node;
    while (hearing != NULL && (node = gmc_list_first(&hearing->windows)) != NULL)
        gw_heard_release(gw, ch, GMC_CONTAINER_OF(node, struct gwheard, node));
}

static bool let_go(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->hearing == NULL || ch->hearing->count == 0)
        return false;
    gw_heard_release(gw, ch,
                     GMC_CONTAINER_OF(gmc_list_first(&ch->hearing->windows), struct gwheard, node));
    return true;
}

bool gw_hearing_makes_room(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gmc_list *node;
    bool done = let_go(gw, ch);
    for (node = gmc_list_first(&gw->channels); !done && node != NULL;
         node = node->next != &gw->channels ? node->next : NULL)
        done = let_go(gw, GMC_CONTAINER_OF(node, struct gwchannel, node));
    return done;
}

void gw_hearing_free(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_list *node;
    if (hearing == NULL)
        return;
    gw_hearing_forget(gw, ch);
    while ((node = gmc_list_pop_front(&hearing->spares)) != NULL) {
        struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        free(heard->rows);
        free(heard);
    }
    gmc_map_remove(&gw->hearings, hearing->number);
    gmc_gate_fini(&hearing->gate);
    free(hearing->scratch);
    free(hearing);
    ch->hearing = NULL;
    if (gmc_map_count(&gw->hearings) == 0)
        hear_address(gw, gmc_bytes(NULL, 0));
}

void gw_hearing_parent_changed(struct gmc_gateway *gw, struct gwchannel *ch)
{
    if (ch->hearing != NULL && ch->hearing->from != ch->source_peer &&
        ch->hearing->from->number != ch->dst->tree_parent)
        gw_hearing_free(gw, ch);
}

/* What is known of who did it: the addresses that the kernel saw, which whoever forges may write
 * into datagrams himself. */
static void say_where_from(const struct gmc_gateway *gw, const struct gwhearing *hearing,
                           const struct gmc_addr *from, char *out, size_t size)
{
    char sender[ADDR_TEXT_MAX], other[ADDR_TEXT_MAX];
    const struct gmc_addr *second = from != NULL ? from : &hearing->other;
    out[0] = '\0';
    if (gw->config.addr_text == NULL)
        return;
    gw->config.addr_text(&hearing->sender, sender, sizeof(sender));
    gw->config.addr_text(second, other, sizeof(other));
    if (second->len == 0)
        gw_text(out, size, "; all datagrams came from %s", sender);
    else if (strcmp(sender, other) == 0)
        gw_text(out, size, "; the datagram came from %s, as all others", sender);
    else if (from != NULL)
        gw_text(out, size, "; the datagram came from %s, others from %s", other, sender);
    else
        gw_text(out, size, "; datagrams came from %s and from %s", sender, other);
}

void gw_hearing_forged(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number,
                       const struct gmc_addr *from)
{
    char text[64 + 2 * ADDR_TEXT_MAX], where[64 + 2 * ADDR_TEXT_MAX];
    gw->counts.group_forged++;
    say_where_from(gw, ch->hearing, from, where, sizeof(where));
    gw_text(text, sizeof(text), "block %u, which is not the source's%s", number, where);
    struct gmc_msg msg = gw_about(ch, GMC_MSG_GROUP_REPORT);
    msg.group = ch->hearing->number;
    msg.status = GMC_ERR_MISMATCH;
    msg.text = text;
    gw_send(gw, ch->hearing->from, &msg);
    gw_hearing_free(gw, ch);
}

/* ---- telling ---- */
static size_t needs_of(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_msg_need *needs,
                       uint8_t (*masks)[GMC_GROUP_SOURCES_MAX / 8])
{
    struct gwhearing *hearing = ch->hearing;
    size_t n = 0;
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &hearing->windows)
    {
        struct gwheard *heard = GMC_CONTAINER_OF(node, struct gwheard, node);
        if (n == GMC_GROUP_NEEDS_MAX)
            break;
        if (heard->in.speak_at > gw->now)
            continue;
        if (!gw_heard_count(ch, heard))
            heard->in.speak_at = GMC_TIME_NEVER;
        if (!gmc_group_in_speaks(&heard->in, gw->now, hearing->backoff))
            continue;
        struct gmc_msg_need *need = &needs[n];
        *need = (struct gmc_msg_need){.window = heard->in.window,
                                      .seen = heard->in.sent,
                                      .need = gmc_group_in_need(&heard->in)};
        if (need->seen + need->need > GMC_FEC_PARITY_MAX) {
            memset(masks[n], 0, sizeof(masks[n]));
            for (uint32_t s = 0; s < heard->in.shape.sources; s++) {
                uint32_t block;
                uint16_t fragment;
                gmc_group_source(&heard->in.shape, s, &block, &fragment);
                uint64_t sealed = gw_heard_sealed(heard, block - heard->in.shape.first);
                if ((sealed >> fragment & 1) == 0)
                    masks[n][s / 8] |= (uint8_t)(1u << s % 8);
            }
            need->missing = gmc_bytes(masks[n], sizeof(masks[n]));
        }
        n++;
    }
    return n;
}

/* Whoever has heard nothing yet under the key that is valid does not speak: the word would say that
 * the group arrives. */
static gmc_time next_word(const struct gwhearing *hearing)
{
    gmc_time when = hearing->report_at;
    struct gmc_list *node;
    if (!hearing->any)
        return GMC_TIME_NEVER;
    GMC_LIST_FOREACH(node, &hearing->windows)
    {
        when = gmc_time_min(when, GMC_CONTAINER_OF(node, struct gwheard, node)->in.speak_at);
    }
    return when;
}

static void speak(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    struct gmc_msg_need needs[GMC_GROUP_NEEDS_MAX];
    uint8_t masks[GMC_GROUP_NEEDS_MAX][GMC_GROUP_SOURCES_MAX / 8];
    if (next_word(hearing) > gw->now)
        return;
    struct gmc_msg msg = gw_about(ch, GMC_MSG_GROUP_REPORT);
    msg.group = hearing->number;
    msg.needs = needs;
    msg.need_count = needs_of(gw, ch, needs, masks);
    if (msg.need_count == 0 && hearing->report_at > gw->now)
        return;
    msg.received = hearing->received;
    msg.next = hearing->any ? hearing->gate.replay.next : 0;
    hearing->report_at = GMC_TIME_NEVER;
    gw_send(gw, hearing->from, &msg);
}

gmc_duration gw_hearing_have_wait(const struct gwchannel *ch)
{
    const struct gwhearing *hearing = ch->hearing;
    if (hearing == NULL)
        return GW_HAVE_WAIT;
    /* Nobody waits for each word: many windows are open. */
    gmc_duration wait = hearing->members * HAVE_WAIT_EACH;
    if (wait > HAVE_WAIT_MAX)
        wait = HAVE_WAIT_MAX;
    return wait > HAVE_WAIT_MIN ? wait : HAVE_WAIT_MIN;
}

void gw_hearing_company(struct gmc_gateway *gw, struct gwchannel *ch)
{
    struct gwhearing *hearing = ch->hearing;
    if (hearing == NULL || hearing->report_at == GMC_TIME_NEVER)
        return;
    hearing->report_at = gw->now;
    speak(gw, ch);
}

void gw_hearing_step(struct gmc_gateway *gw)
{
    struct gmc_list *node;
    for (node = gmc_list_first(&gw->channels); gmc_map_count(&gw->hearings) > 0 && node != NULL;
         node = node->next != &gw->channels ? node->next : NULL) {
        struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->hearing != NULL)
            speak(gw, ch);
    }
}

gmc_time gw_hearing_deadline(const struct gmc_gateway *gw)
{
    gmc_time when = GMC_TIME_NEVER;
    struct gmc_list *node;
    if (gmc_map_count(&gw->hearings) == 0)
        return when;
    GMC_LIST_FOREACH(node, &gw->channels)
    {
        const struct gwchannel *ch = GMC_CONTAINER_OF(node, struct gwchannel, node);
        if (ch->hearing != NULL)
            when = gmc_time_min(when, next_word(ch->hearing));
    }
    return when;
}
