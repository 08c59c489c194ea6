/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns struct gmc_msg to protobuf bytes. */
#include <string.h>

#include "proto/control.pb-c.h"
#include "wire/codec.h"

/* The generated message of each type, on the stack of the encoder. */
union body {
    Gmcast__Wire__Probe probe;
    Gmcast__Wire__Join join;
    Gmcast__Wire__Channel channel;
    Gmcast__Wire__TreeReady tree_ready;
    Gmcast__Wire__Leave leave;
    Gmcast__Wire__Attach attach;
    Gmcast__Wire__Attached attached;
    Gmcast__Wire__Redirect redirect;
    Gmcast__Wire__Detach detach;
    Gmcast__Wire__Have have;
    Gmcast__Wire__Want want;
    Gmcast__Wire__Status status;
    Gmcast__Wire__Complete complete;
    Gmcast__Wire__Close close;
    Gmcast__Wire__Request request;
    Gmcast__Wire__Reply reply;
    Gmcast__Wire__Skip skip;
    Gmcast__Wire__Group group;
    Gmcast__Wire__GroupReport group_report;
    Gmcast__Wire__Tree tree;
    Gmcast__Wire__Domain domain;
};

struct encoder {
    struct gmc_arena arena; /* arrays that protobuf-c wants in another form */
    Gmcast__Wire__Control control;
    Gmcast__Wire__Place place;
    union body body;
};

/* The fields that every message about a channel begins with. */
#define PUT_CHANNEL(body, msg)                                                                     \
    do {                                                                                           \
        (body)->source = gmc_codec_text((msg)->source);                                            \
        (body)->e = (msg)->e;                                                                      \
    } while (0)

/* A reason that is too long is cut rather than refused: it must not keep a message from going. */
static char *reason_of(struct encoder *enc, const char *text)
{
    char *copy;

    if (text == NULL || strlen(text) <= GMC_TEXT_MAX)
        return gmc_codec_text(text);
    copy = gmc_arena_cut(&enc->arena, GMC_TEXT_MAX + 1, 1);
    if (copy == NULL)
        return gmc_codec_text("");
    memcpy(copy, text, GMC_TEXT_MAX);
    copy[GMC_TEXT_MAX] = 0;
    return copy;
}

static uint32_t status_number(gmc_status status)
{
    return (uint32_t)-status;
}

/* protobuf-c wants char ** for what it does not change. */
static char **names_of(const struct gmc_msg *msg)
{
    return (char **)(uintptr_t)msg->names;
}

static gmc_status put_gaps(struct encoder *enc, const struct gmc_msg *msg, uint64_t **gaps,
                           size_t *count)
{
    uint64_t *out = gmc_arena_cut(&enc->arena, 2 * msg->range_count, sizeof(*out));
    uint64_t next = 0;

    if (out == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < msg->range_count; i++) {
        out[2 * i] = msg->ranges[i].first - next;
        out[2 * i + 1] = msg->ranges[i].last - msg->ranges[i].first;
        next = msg->ranges[i].last + 1;
    }
    *gaps = out;
    *count = 2 * msg->range_count;
    return GMC_OK;
}

static gmc_status put_probe(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Probe *body = &enc->body.probe;

    gmcast__wire__probe__init(body);
    body->id = msg->probe_id;
    body->key = gmc_codec_data(msg->secret, GMC_SECRET_BYTES);
    body->participants = names_of(msg);
    body->n_participants = msg->name_count;
    body->known = gmc_codec_data(msg->mask.data, msg->mask.len);
    body->numbers = (uint32_t *)(uintptr_t)msg->numbers; /* not written to */
    body->n_numbers = msg->numbers != NULL ? msg->name_count : 0;
    body->total = msg->total;
    body->rates = msg->rates;
    enc->control.probe = body;
    return GMC_OK;
}

static gmc_status put_join(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Join *body = &enc->body.join;
    Gmcast__Wire__Latency *rows = gmc_arena_cut(&enc->arena, msg->latency_count, sizeof(*rows));
    Gmcast__Wire__Latency **pointers =
        gmc_arena_cut(&enc->arena, msg->latency_count, sizeof(*pointers));

    if (rows == NULL || pointers == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < msg->latency_count; i++) {
        gmcast__wire__latency__init(&rows[i]);
        rows[i].participant = msg->latencies[i].participant;
        rows[i].rtt_min_ns = msg->latencies[i].rtt_min_ns;
        rows[i].spread_ns = msg->latencies[i].spread_ns;
        pointers[i] = &rows[i];
    }
    gmcast__wire__join__init(body);
    body->id = msg->probe_id;
    body->latencies = pointers;
    body->n_latencies = msg->latency_count;
    body->uplink_bps = msg->uplink_bps;
    body->downlink_bps = msg->downlink_bps;
    body->measured_bps = msg->measured_bps;
    body->measured_busy_bps = msg->measured_busy_bps;
    body->measured_limit_bps = msg->measured_limit_bps;
    enc->control.join = body;
    return GMC_OK;
}

static Gmcast__Wire__Place *put_place(struct encoder *enc, const struct gmc_msg *msg)
{
    const struct gmc_place *place = &msg->place;

    if (place->record.len == 0)
        return NULL;
    gmcast__wire__place__init(&enc->place);
    enc->place.record = gmc_codec_data(place->record.data, place->record.len);
    enc->place.signature = gmc_codec_data(place->signature.data, place->signature.len);
    enc->place.member = gmc_codec_data(place->member.data, place->member.len);
    enc->place.index = place->index;
    enc->place.siblings = gmc_codec_data(place->siblings.data, place->siblings.len);
    return &enc->place;
}

static gmc_status put_channel(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Channel *body = &enc->body.channel;

    gmcast__wire__channel__init(body);
    PUT_CHANNEL(body, msg);
    body->key = gmc_codec_data(msg->secret, GMC_SECRET_BYTES);
    body->place = put_place(enc, msg);
    body->source_key = gmc_codec_data(msg->source_key.data, msg->source_key.len);
    enc->control.channel = body;
    return GMC_OK;
}

static gmc_status put_tree_ready(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__TreeReady *body = &enc->body.tree_ready;

    gmcast__wire__tree_ready__init(body);
    PUT_CHANNEL(body, msg);
    body->version = msg->version;
    body->subnet = gmc_codec_text(msg->subnet);
    body->can_relay = msg->can_relay;
    enc->control.tree_ready = body;
    return GMC_OK;
}

static gmc_status put_leave(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Leave *body = &enc->body.leave;

    gmcast__wire__leave__init(body);
    PUT_CHANNEL(body, msg);
    body->status = status_number(msg->status);
    body->reason = reason_of(enc, msg->text);
    enc->control.leave = body;
    return GMC_OK;
}

static gmc_status put_attach(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Attach *body = &enc->body.attach;

    gmcast__wire__attach__init(body);
    PUT_CHANNEL(body, msg);
    body->version = msg->version;
    body->epoch = msg->epoch;
    body->handle = msg->handle;
    body->window = msg->window;
    body->more = msg->more;
    body->stripe = msg->stripe;
    body->next = msg->next;
    body->place = put_place(enc, msg);
    enc->control.attach = body;
    return put_gaps(enc, msg, &body->gaps, &body->n_gaps);
}

static gmc_status put_attached(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Attached *body = &enc->body.attached;

    gmcast__wire__attached__init(body);
    PUT_CHANNEL(body, msg);
    body->version = msg->version;
    body->epoch = msg->epoch;
    body->handle = msg->handle;
    body->path = names_of(msg);
    body->n_path = msg->name_count;
    body->stripe = msg->stripe;
    enc->control.attached = body;
    return GMC_OK;
}

static gmc_status put_redirect(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Redirect *body = &enc->body.redirect;

    gmcast__wire__redirect__init(body);
    PUT_CHANNEL(body, msg);
    body->status = status_number(msg->status);
    body->reason = reason_of(enc, msg->text);
    body->to = gmc_codec_text(msg->redirect);
    body->stripe = msg->stripe;
    body->place = put_place(enc, msg);
    enc->control.redirect = body;
    return GMC_OK;
}

static gmc_status put_detach(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Detach *body = &enc->body.detach;

    gmcast__wire__detach__init(body);
    PUT_CHANNEL(body, msg);
    body->stripe = msg->stripe;
    body->status = status_number(msg->status);
    body->reason = reason_of(enc, msg->text);
    enc->control.detach = body;
    return GMC_OK;
}

static gmc_status put_have(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Have *body = &enc->body.have;

    gmcast__wire__have__init(body);
    PUT_CHANNEL(body, msg);
    body->window = msg->window;
    enc->control.have = body;
    return put_gaps(enc, msg, &body->gaps, &body->n_gaps);
}

static gmc_status put_want(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Want *body = &enc->body.want;

    gmcast__wire__want__init(body);
    PUT_CHANNEL(body, msg);
    enc->control.want = body;
    return put_gaps(enc, msg, &body->gaps, &body->n_gaps);
}

static gmc_status put_status(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Status *body = &enc->body.status;
    Gmcast__Wire__Child *rows = gmc_arena_cut(&enc->arena, msg->child_count, sizeof(*rows));
    Gmcast__Wire__Child **pointers =
        gmc_arena_cut(&enc->arena, msg->child_count, sizeof(*pointers));

    if (rows == NULL || pointers == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < msg->child_count; i++) {
        gmcast__wire__child__init(&rows[i]);
        rows[i].domain = gmc_codec_text(msg->children[i].domain);
        rows[i].repairs = msg->children[i].repairs;
        rows[i].stripe = msg->children[i].stripe;
        rows[i].loss_ppm = msg->children[i].loss_ppm;
        rows[i].path_bps = msg->children[i].path_bps;
        pointers[i] = &rows[i];
    }
    gmcast__wire__status__init(body);
    PUT_CHANNEL(body, msg);
    body->bytes = msg->bytes;
    body->parent = gmc_codec_text(msg->parent);
    body->children = pointers;
    body->n_children = msg->child_count;
    body->more_parents = names_of(msg);
    body->n_more_parents = msg->name_count;
    body->nodes = msg->nodes;
    body->nodes_verified = msg->nodes_verified;
    body->nodes_failed = msg->nodes_failed;
    body->nodes_left = msg->nodes_left;
    body->measured_bps = msg->measured_bps;
    body->measured_busy_bps = msg->measured_busy_bps;
    body->measured_limit_bps = msg->measured_limit_bps;
    enc->control.status = body;
    return GMC_OK;
}

static gmc_status put_complete(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Complete *body = &enc->body.complete;

    gmcast__wire__complete__init(body);
    PUT_CHANNEL(body, msg);
    body->bytes = msg->bytes;
    body->digest = gmc_codec_data(msg->digest, GMC_DIGEST_BYTES);
    body->reason = reason_of(enc, msg->text);
    enc->control.complete = body;
    return GMC_OK;
}

static gmc_status put_close(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Close *body = &enc->body.close;

    gmcast__wire__close__init(body);
    PUT_CHANNEL(body, msg);
    body->status = status_number(msg->status);
    body->reason = reason_of(enc, msg->text);
    body->discard = msg->discard;
    enc->control.close = body;
    return GMC_OK;
}

static gmc_status put_request(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Request *body = &enc->body.request;

    gmcast__wire__request__init(body);
    body->id = msg->request_id;
    body->payload = gmc_codec_data(msg->payload.data, msg->payload.len);
    enc->control.request = body;
    return GMC_OK;
}

static gmc_status put_reply(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Reply *body = &enc->body.reply;

    gmcast__wire__reply__init(body);
    body->id = msg->request_id;
    body->payload = gmc_codec_data(msg->payload.data, msg->payload.len);
    enc->control.reply = body;
    return GMC_OK;
}

static gmc_status put_skip(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Skip *body = &enc->body.skip;

    gmcast__wire__skip__init(body);
    PUT_CHANNEL(body, msg);
    body->floor = msg->floor;
    enc->control.skip = body;
    return GMC_OK;
}

static gmc_status put_group(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Group *body = &enc->body.group;

    gmcast__wire__group__init(body);
    PUT_CHANNEL(body, msg);
    body->epoch = msg->epoch;
    body->group = msg->group;
    body->next = msg->next;
    body->key = gmc_codec_data(msg->secret, GMC_SECRET_BYTES);
    body->address = gmc_codec_data(msg->payload.data, msg->payload.len);
    enc->control.group = body;
    return GMC_OK;
}

static gmc_status put_group_report(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__GroupReport *body = &enc->body.group_report;
    Gmcast__Wire__GroupNeed *rows = gmc_arena_cut(&enc->arena, msg->need_count, sizeof(*rows));
    Gmcast__Wire__GroupNeed **pointers =
        gmc_arena_cut(&enc->arena, msg->need_count, sizeof(*pointers));

    if (rows == NULL || pointers == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < msg->need_count; i++) {
        const struct gmc_msg_need *need = &msg->needs[i];

        gmcast__wire__group_need__init(&rows[i]);
        rows[i].window = need->window;
        rows[i].seen = need->seen;
        rows[i].need = need->need;
        rows[i].missing = gmc_codec_data(need->missing.data, need->missing.len);
        pointers[i] = &rows[i];
    }
    gmcast__wire__group_report__init(body);
    PUT_CHANNEL(body, msg);
    body->group = msg->group;
    body->status = status_number(msg->status);
    body->reason = reason_of(enc, msg->text);
    body->received = msg->received;
    body->next = msg->next;
    body->needs = pointers;
    body->n_needs = msg->need_count;
    enc->control.group_report = body;
    return GMC_OK;
}

static gmc_status put_tree(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Tree *body = &enc->body.tree;
    Gmcast__Wire__Neighbour *rows = gmc_arena_cut(&enc->arena, msg->neighbour_count, sizeof(*rows));
    Gmcast__Wire__Neighbour **pointers =
        gmc_arena_cut(&enc->arena, msg->neighbour_count, sizeof(*pointers));

    if (rows == NULL || pointers == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < msg->neighbour_count; i++) {
        const struct gmc_msg_neighbour *from = &msg->neighbours[i];

        gmcast__wire__neighbour__init(&rows[i]);
        rows[i].name = gmc_codec_text(from->name);
        rows[i].is_parent = from->is_parent;
        rows[i].by_group = from->by_group;
        rows[i].address = gmc_codec_data(from->address.data, from->address.len);
        rows[i].send = from->send_id;
        rows[i].receive = from->receive_id;
        rows[i].send_key = gmc_codec_data(from->send_key, GMC_SECRET_BYTES);
        rows[i].receive_key = gmc_codec_data(from->receive_key, GMC_SECRET_BYTES);
        pointers[i] = &rows[i];
    }
    gmcast__wire__tree__init(body);
    PUT_CHANNEL(body, msg);
    body->neighbours = pointers;
    body->n_neighbours = msg->neighbour_count;
    enc->control.tree = body;
    return GMC_OK;
}

static gmc_status put_domain(struct encoder *enc, const struct gmc_msg *msg)
{
    Gmcast__Wire__Domain *body = &enc->body.domain;

    gmcast__wire__domain__init(body);
    body->nodes_payload = msg->nodes_payload;
    enc->control.domain = body;
    return GMC_OK;
}

static gmc_status (*const put_body[])(struct encoder *, const struct gmc_msg *) = {
    [GMC_MSG_PROBE] = put_probe,
    [GMC_MSG_JOIN] = put_join,
    [GMC_MSG_CHANNEL] = put_channel,
    [GMC_MSG_TREE_READY] = put_tree_ready,
    [GMC_MSG_LEAVE] = put_leave,
    [GMC_MSG_ATTACH] = put_attach,
    [GMC_MSG_ATTACHED] = put_attached,
    [GMC_MSG_REDIRECT] = put_redirect,
    [GMC_MSG_DETACH] = put_detach,
    [GMC_MSG_HAVE] = put_have,
    [GMC_MSG_WANT] = put_want,
    [GMC_MSG_STATUS] = put_status,
    [GMC_MSG_COMPLETE] = put_complete,
    [GMC_MSG_CLOSE] = put_close,
    [GMC_MSG_REQUEST] = put_request,
    [GMC_MSG_REPLY] = put_reply,
    [GMC_MSG_SKIP] = put_skip,
    [GMC_MSG_GROUP] = put_group,
    [GMC_MSG_GROUP_REPORT] = put_group_report,
    [GMC_MSG_TREE] = put_tree,
    [GMC_MSG_DOMAIN] = put_domain,
};

gmc_status gmc_msg_encode(const struct gmc_msg *msg, uint8_t **out, size_t *len)
{
    struct encoder enc;
    gmc_status status = gmc_msg_check(msg);

    if (status != GMC_OK)
        return status;
    gmc_arena_init(&enc.arena, SIZE_MAX);
    gmcast__wire__control__init(&enc.control);
    /* The numbers of the types are those of the bodies in the .proto file. */
    enc.control.body_case = (Gmcast__Wire__Control__BodyCase)msg->type;
    status = put_body[msg->type](&enc, msg);
    if (status == GMC_OK)
        status = gmc_codec_pack(&enc.control.base, out, len);
    gmc_arena_fini(&enc.arena);
    return status;
}
