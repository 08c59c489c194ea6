/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns protobuf bytes to struct gmc_msg, with all bounds checked. */
#include "wire/control.h"

#include <stdlib.h>
#include <string.h>

#include "proto/control.pb-c.h"
#include "wire/codec.h"

struct gmc_msg_holder {
    struct gmc_arena arena;
};

#define GET_CHANNEL(msg, body)                                                                     \
    do {                                                                                           \
        (msg)->source = (body)->source;                                                            \
        (msg)->e = (body)->e;                                                                      \
    } while (0)

/* Bytes of one exact length; NULL otherwise, which the check refuses. */
static const uint8_t *exactly(const ProtobufCBinaryData *data, size_t len)
{
    return data->len == len ? data->data : NULL;
}

/* Reasons are logged and shown: nothing in them may move a cursor or forge a line. */
static gmc_status get_reason(struct gmc_msg *msg, uint32_t number, char *text)
{
    if (number > INT32_MAX || strlen(text) > GMC_TEXT_MAX)
        return GMC_ERR_INVALID;
    for (char *c = text; *c != 0; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    }
    msg->status = -(gmc_status)number;
    msg->text = text;
    return GMC_OK;
}

/* Pairs (skipped, length - 1) to ranges; each sum is bounded before the next is made. */
static gmc_status get_gaps(struct gmc_arena *arena, struct gmc_msg *msg, const uint64_t *gaps,
                           size_t count)
{
    struct gmc_msg_range *ranges;
    uint64_t next = 0;

    if (count % 2 != 0 || count / 2 > GMC_RANGES_MAX)
        return GMC_ERR_INVALID;
    ranges = gmc_arena_cut(arena, count / 2, sizeof(*ranges));
    if (ranges == NULL)
        return arena->status;
    for (size_t i = 0; i < count / 2; i++) {
        uint64_t skipped = gaps[2 * i], more = gaps[2 * i + 1];

        if (skipped > UINT32_MAX || more > UINT32_MAX)
            return GMC_ERR_INVALID;
        ranges[i] = (struct gmc_msg_range){next + skipped, next + skipped + more};
        next = ranges[i].last + 1;
        if (ranges[i].last > UINT32_MAX)
            return GMC_ERR_INVALID;
    }
    msg->ranges = ranges;
    msg->range_count = count / 2;
    return GMC_OK;
}

static gmc_status get_probe(struct gmc_arena *arena, struct gmc_msg *msg,
                            const Gmcast__Wire__Probe *body)
{
    const char **sorted;

    if (body->n_participants > GMC_MEMBERS_MAX)
        return GMC_ERR_INVALID;
    msg->probe_id = body->id;
    msg->secret = exactly(&body->key, GMC_SECRET_BYTES);
    msg->names = (const char *const *)body->participants;
    msg->name_count = body->n_participants;
    msg->mask = gmc_bytes(body->known.data, body->known.len);
    if (body->n_numbers != 0 && body->n_numbers != body->n_participants)
        return GMC_ERR_INVALID;
    msg->numbers = body->n_numbers != 0 ? body->numbers : NULL;
    msg->total = body->total;
    msg->rates = body->rates;
    sorted = gmc_arena_cut(arena, msg->name_count, sizeof(*sorted));
    if (sorted == NULL)
        return arena->status;
    for (size_t i = 0; i < msg->name_count; i++)
        sorted[i] = msg->names[i];
    return gmc_codec_names_unique(sorted, msg->name_count) ? GMC_OK : GMC_ERR_INVALID;
}

static gmc_status get_join(struct gmc_arena *arena, struct gmc_msg *msg,
                           const Gmcast__Wire__Join *body)
{
    struct gmc_msg_latency *rows;

    if (body->n_latencies > GMC_MEMBERS_MAX)
        return GMC_ERR_INVALID;
    rows = gmc_arena_cut(arena, body->n_latencies, sizeof(*rows));
    if (rows == NULL)
        return arena->status;
    for (size_t i = 0; i < body->n_latencies; i++)
        rows[i] = (struct gmc_msg_latency){.participant = body->latencies[i]->participant,
                                           .rtt_min_ns = body->latencies[i]->rtt_min_ns,
                                           .spread_ns = body->latencies[i]->spread_ns};
    msg->probe_id = body->id;
    msg->latencies = rows;
    msg->latency_count = body->n_latencies;
    msg->uplink_bps = body->uplink_bps;
    msg->downlink_bps = body->downlink_bps;
    msg->measured_bps = body->measured_bps;
    msg->measured_busy_bps = body->measured_busy_bps;
    msg->measured_limit_bps = body->measured_limit_bps;
    return GMC_OK;
}

static void get_place(struct gmc_msg *msg, const Gmcast__Wire__Place *place)
{
    if (place == NULL)
        return;
    msg->place.record = gmc_bytes(place->record.data, place->record.len);
    msg->place.signature = gmc_bytes(place->signature.data, place->signature.len);
    msg->place.member = gmc_bytes(place->member.data, place->member.len);
    msg->place.index = place->index;
    msg->place.siblings = gmc_bytes(place->siblings.data, place->siblings.len);
}

static gmc_status get_channel(struct gmc_msg *msg, const Gmcast__Wire__Channel *body)
{
    GET_CHANNEL(msg, body);
    msg->secret = exactly(&body->key, GMC_SECRET_BYTES);
    msg->source_key = gmc_bytes(body->source_key.data, body->source_key.len);
    get_place(msg, body->place);
    return GMC_OK;
}

static gmc_status get_attach(struct gmc_arena *arena, struct gmc_msg *msg,
                             const Gmcast__Wire__Attach *body)
{
    GET_CHANNEL(msg, body);
    msg->version = body->version;
    msg->epoch = body->epoch;
    msg->handle = body->handle;
    msg->window = body->window;
    msg->more = body->more;
    msg->stripe = body->stripe;
    msg->next = body->next;
    get_place(msg, body->place);
    return get_gaps(arena, msg, body->gaps, body->n_gaps);
}

static gmc_status get_attached(struct gmc_msg *msg, const Gmcast__Wire__Attached *body)
{
    GET_CHANNEL(msg, body);
    msg->version = body->version;
    msg->epoch = body->epoch;
    msg->handle = body->handle;
    msg->names = (const char *const *)body->path;
    msg->name_count = body->n_path;
    msg->stripe = body->stripe;
    return GMC_OK;
}

static gmc_status get_redirect(struct gmc_msg *msg, const Gmcast__Wire__Redirect *body)
{
    GET_CHANNEL(msg, body);
    msg->redirect = body->to;
    msg->stripe = body->stripe;
    get_place(msg, body->place);
    return get_reason(msg, body->status, body->reason);
}

static gmc_status get_have(struct gmc_arena *arena, struct gmc_msg *msg,
                           const Gmcast__Wire__Have *body)
{
    GET_CHANNEL(msg, body);
    msg->window = body->window;
    return get_gaps(arena, msg, body->gaps, body->n_gaps);
}

static gmc_status get_status(struct gmc_arena *arena, struct gmc_msg *msg,
                             const Gmcast__Wire__Status *body)
{
    struct gmc_msg_child *rows;

    if (body->n_children > GMC_MEMBERS_MAX)
        return GMC_ERR_INVALID;
    rows = gmc_arena_cut(arena, body->n_children, sizeof(*rows));
    if (rows == NULL)
        return arena->status;
    for (size_t i = 0; i < body->n_children; i++)
        rows[i] = (struct gmc_msg_child){.domain = body->children[i]->domain,
                                         .repairs = body->children[i]->repairs,
                                         .stripe = body->children[i]->stripe,
                                         .loss_ppm = body->children[i]->loss_ppm,
                                         .path_bps = body->children[i]->path_bps};
    GET_CHANNEL(msg, body);
    msg->bytes = body->bytes;
    msg->parent = body->parent;
    msg->children = rows;
    msg->child_count = body->n_children;
    msg->names = (const char *const *)body->more_parents;
    msg->name_count = body->n_more_parents;
    msg->nodes = body->nodes;
    msg->nodes_verified = body->nodes_verified;
    msg->nodes_failed = body->nodes_failed;
    msg->nodes_left = body->nodes_left;
    msg->measured_bps = body->measured_bps;
    msg->measured_busy_bps = body->measured_busy_bps;
    msg->measured_limit_bps = body->measured_limit_bps;
    return GMC_OK;
}

static gmc_status get_group(struct gmc_msg *msg, const Gmcast__Wire__Group *body)
{
    GET_CHANNEL(msg, body);
    msg->epoch = body->epoch;
    msg->group = body->group;
    msg->next = body->next;
    msg->secret = exactly(&body->key, GMC_SECRET_BYTES);
    msg->payload = gmc_bytes(body->address.data, body->address.len);
    return GMC_OK;
}

static gmc_status get_group_report(struct gmc_arena *arena, struct gmc_msg *msg,
                                   const Gmcast__Wire__GroupReport *body)
{
    struct gmc_msg_need *rows;

    if (body->n_needs > GMC_GROUP_NEEDS_MAX)
        return GMC_ERR_INVALID;
    rows = gmc_arena_cut(arena, body->n_needs, sizeof(*rows));
    if (rows == NULL)
        return arena->status;
    for (size_t i = 0; i < body->n_needs; i++) {
        const Gmcast__Wire__GroupNeed *need = body->needs[i];

        rows[i] =
            (struct gmc_msg_need){.window = need->window,
                                  .seen = need->seen,
                                  .need = need->need,
                                  .missing = gmc_bytes(need->missing.data, need->missing.len)};
    }
    GET_CHANNEL(msg, body);
    msg->group = body->group;
    msg->received = body->received;
    msg->next = body->next;
    msg->needs = rows;
    msg->need_count = body->n_needs;
    return get_reason(msg, body->status, body->reason);
}

static gmc_status get_tree(struct gmc_arena *arena, struct gmc_msg *msg,
                           const Gmcast__Wire__Tree *body)
{
    struct gmc_msg_neighbour *rows;

    if (body->n_neighbours > GMC_NEIGHBOURS_MAX)
        return GMC_ERR_INVALID;
    rows = gmc_arena_cut(arena, body->n_neighbours, sizeof(*rows));
    if (rows == NULL)
        return arena->status;
    for (size_t i = 0; i < body->n_neighbours; i++) {
        const Gmcast__Wire__Neighbour *from = body->neighbours[i];

        rows[i] =
            (struct gmc_msg_neighbour){.name = from->name,
                                       .is_parent = from->is_parent,
                                       .by_group = from->by_group,
                                       .address = gmc_bytes(from->address.data, from->address.len),
                                       .send_id = from->send,
                                       .receive_id = from->receive,
                                       .send_key = exactly(&from->send_key, GMC_SECRET_BYTES),
                                       .receive_key =
                                           exactly(&from->receive_key, GMC_SECRET_BYTES)};
    }
    GET_CHANNEL(msg, body);
    msg->neighbours = rows;
    msg->neighbour_count = body->n_neighbours;
    return GMC_OK;
}

static gmc_status get_complete(struct gmc_msg *msg, const Gmcast__Wire__Complete *body)
{
    GET_CHANNEL(msg, body);
    msg->bytes = body->bytes;
    msg->digest = exactly(&body->digest, GMC_DIGEST_BYTES);
    return get_reason(msg, 0, body->reason);
}

static gmc_status get_body(struct gmc_arena *arena, struct gmc_msg *msg,
                           const Gmcast__Wire__Control *control)
{
    switch (msg->type) {
    case GMC_MSG_PROBE:
        return get_probe(arena, msg, control->probe);
    case GMC_MSG_JOIN:
        return get_join(arena, msg, control->join);
    case GMC_MSG_CHANNEL:
        return get_channel(msg, control->channel);
    case GMC_MSG_TREE_READY:
        GET_CHANNEL(msg, control->tree_ready);
        msg->version = control->tree_ready->version;
        msg->subnet = control->tree_ready->subnet;
        msg->can_relay = control->tree_ready->can_relay;
        return GMC_OK;
    case GMC_MSG_LEAVE:
        GET_CHANNEL(msg, control->leave);
        return get_reason(msg, control->leave->status, control->leave->reason);
    case GMC_MSG_ATTACH:
        return get_attach(arena, msg, control->attach);
    case GMC_MSG_ATTACHED:
        return get_attached(msg, control->attached);
    case GMC_MSG_REDIRECT:
        return get_redirect(msg, control->redirect);
    case GMC_MSG_DETACH:
        GET_CHANNEL(msg, control->detach);
        msg->stripe = control->detach->stripe;
        return get_reason(msg, control->detach->status, control->detach->reason);
    case GMC_MSG_HAVE:
        return get_have(arena, msg, control->have);
    case GMC_MSG_WANT:
        GET_CHANNEL(msg, control->want);
        return get_gaps(arena, msg, control->want->gaps, control->want->n_gaps);
    case GMC_MSG_STATUS:
        return get_status(arena, msg, control->status);
    case GMC_MSG_COMPLETE:
        return get_complete(msg, control->complete);
    case GMC_MSG_CLOSE:
        GET_CHANNEL(msg, control->close);
        msg->discard = control->close->discard;
        return get_reason(msg, control->close->status, control->close->reason);
    case GMC_MSG_REQUEST:
        msg->request_id = control->request->id;
        msg->payload = gmc_bytes(control->request->payload.data, control->request->payload.len);
        return GMC_OK;
    case GMC_MSG_REPLY:
        msg->request_id = control->reply->id;
        msg->payload = gmc_bytes(control->reply->payload.data, control->reply->payload.len);
        return GMC_OK;
    case GMC_MSG_SKIP:
        GET_CHANNEL(msg, control->skip);
        msg->floor = control->skip->floor;
        return GMC_OK;
    case GMC_MSG_GROUP:
        return get_group(msg, control->group);
    case GMC_MSG_GROUP_REPORT:
        return get_group_report(arena, msg, control->group_report);
    case GMC_MSG_TREE:
        return get_tree(arena, msg, control->tree);
    case GMC_MSG_DOMAIN:
        msg->nodes_payload = control->domain->nodes_payload;
        return GMC_OK;
    }
    return GMC_ERR_TYPE;
}

static gmc_status decode(struct gmc_bytes bytes, struct gmc_msg *msg, struct gmc_arena *arena)
{
    const Gmcast__Wire__Control *control;
    ProtobufCMessage *message;
    gmc_status status =
        gmc_codec_unpack(&gmcast__wire__control__descriptor, bytes, arena, &message);

    if (status != GMC_OK)
        return status;
    control = (const Gmcast__Wire__Control *)message;
    /* A body that we do not know is from a newer peer; none at all is from nobody. */
    if (control->body_case == GMCAST__WIRE__CONTROL__BODY__NOT_SET)
        return message->n_unknown_fields > 0 ? GMC_ERR_TYPE : GMC_ERR_INVALID;
    *msg = (struct gmc_msg){.type = (enum gmc_msg_type)control->body_case};
    status = get_body(arena, msg, control);
    if (status != GMC_OK)
        return status == GMC_ERR_LIMIT ? GMC_ERR_INVALID : status;
    return gmc_msg_check(msg);
}

gmc_status gmc_msg_decode(struct gmc_bytes bytes, struct gmc_msg *msg,
                          struct gmc_msg_holder **holder)
{
    struct gmc_msg_holder *made = malloc(sizeof(*made));
    struct gmc_msg decoded;
    gmc_status status;

    if (made == NULL)
        return GMC_ERR_NOMEM;
    gmc_arena_init(&made->arena, gmc_codec_limit(bytes.len));
    status = decode(bytes, &decoded, &made->arena);
    if (status != GMC_OK) {
        gmc_msg_release(made);
        return status;
    }
    *msg = decoded;
    *holder = made;
    return GMC_OK;
}

void gmc_msg_release(struct gmc_msg_holder *holder)
{
    if (holder == NULL)
        return;
    gmc_arena_fini(&holder->arena);
    free(holder);
}
