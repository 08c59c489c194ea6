/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns replies of the control API as bytes. */
#include "wire/ctl_codec.h"

#include <string.h>

#include "proto/ctl.pb-c.h"
#include "wire/control.h"
#include "wire/ctl_arena.h"

/* The plain enums have the numbers of the wire, so that no table is between them. */
_Static_assert((int)GMC_CTL_TRANSFER_PLANNED == GMCAST__CTL__TRANSFER_STATE__TRANSFER_PLANNED, "");
_Static_assert((int)GMC_CTL_LIMIT_CAP == GMCAST__CTL__PLAN_LIMIT__LIMIT_CAP, "");
_Static_assert((int)GMC_CTL_WAIT_PATH == GMCAST__CTL__WAIT__WAIT_PATH, "");
_Static_assert((int)GMC_CTL_REACH_LOST == GMCAST__CTL__REACH__REACH_LOST, "");
_Static_assert((int)GMC_CTL_LEVEL_FAIL == GMCAST__CTL__LEVEL__LEVEL_FAIL, "");
_Static_assert((int)GMC_CTL_MEMBER_LEFT == GMCAST__CTL__MEMBER_STATE__MEMBER_LEFT, "");

/* ---- encoding ---- */

static bool fill_member(struct gmc_ctl_holder *holder, const struct gmc_ctl_member *from,
                        Gmcast__Ctl__Member *to)
{
    const char *path = from->path != NULL ? from->path : "";

    gmcast__ctl__member__init(to);
    to->domain = gmc_ctl_text(from->domain);
    to->parent = gmc_ctl_text(from->parent);
    to->path = gmc_ctl_data(path, strlen(path));
    to->state = (Gmcast__Ctl__MemberState)from->state;
    to->bytes = from->bytes;
    to->repairs = from->repairs;
    to->nodes = from->nodes;
    to->nodes_verified = from->nodes_verified;
    to->nodes_failed = from->nodes_failed;
    to->nodes_left = from->nodes_left;
    to->elapsed_ns = from->elapsed_ns;
    to->digest = gmc_ctl_data(from->digest, from->has_digest ? sizeof from->digest : 0);
    to->reason = gmc_ctl_text(from->reason);
    to->latency_ns = from->latency_ns;
    if (from->more_parent_count == 0)
        return true;
    to->more_parents = gmc_ctl_alloc(holder, from->more_parent_count, sizeof *to->more_parents);
    if (to->more_parents == NULL)
        return false;
    to->n_more_parents = from->more_parent_count;
    for (size_t i = 0; i < from->more_parent_count; i++)
        to->more_parents[i] = gmc_ctl_text(from->more_parents[i]);
    return true;
}

static void fill_transfer_fields(const struct gmc_ctl_transfer *from, Gmcast__Ctl__Transfer *to)
{
    gmcast__ctl__transfer__init(to);
    to->channel = gmc_ctl_text(from->channel);
    to->is_source = from->is_source;
    to->state = (Gmcast__Ctl__TransferState)from->state;
    to->shape = gmc_ctl_text(from->shape);
    to->total_bytes = from->total_bytes;
    to->bytes = from->bytes;
    to->file_count = from->file_count;
    to->name = gmc_ctl_text(from->name);
    to->message_count = from->message_count;
    to->rate_bps = from->rate_bps;
    to->background = from->background;
    to->saving = from->is_saving;
    to->elapsed_ns = from->elapsed_ns;
    to->setup_ns = from->setup_ns;
    to->tree_version = from->tree_version;
    to->digest = gmc_ctl_data(from->digest, from->has_digest ? sizeof from->digest : 0);
    to->reason = gmc_ctl_text(from->reason);
    to->member_count = from->total_members;
    to->verified_count = from->verified_members;
    to->failed_count = from->failed_members;
}

static bool fill_rates(struct gmc_ctl_holder *holder, const struct gmc_ctl_plan *from,
                       Gmcast__Ctl__Plan *to)
{
    Gmcast__Ctl__PlanRate *rates = gmc_ctl_alloc(holder, from->rate_count, sizeof *rates);

    to->rates = gmc_ctl_alloc(holder, from->rate_count, sizeof(void *));
    if (rates == NULL || to->rates == NULL)
        return false;
    to->n_rates = from->rate_count;
    for (size_t i = 0; i < from->rate_count; i++) {
        gmcast__ctl__plan_rate__init(&rates[i]);
        rates[i].domain = gmc_ctl_text(from->rates[i].domain);
        rates[i].uplink_bps = from->rates[i].uplink_bps;
        rates[i].uplink_origin = (Gmcast__Ctl__RateOrigin)from->rates[i].uplink_origin;
        rates[i].copies = from->rates[i].copies;
        rates[i].downlink_bps = from->rates[i].downlink_bps;
        to->rates[i] = &rates[i];
    }
    return true;
}

static bool fill_plan(struct gmc_ctl_holder *holder, const struct gmc_ctl_plan *from,
                      Gmcast__Ctl__Plan *to)
{
    gmcast__ctl__plan__init(to);
    to->time_ns = from->time_ns;
    to->bound_ns = from->bound_ns;
    to->rate_bps = from->rate_bps;
    to->limit = (Gmcast__Ctl__PlanLimit)from->limit;
    to->limit_domain = gmc_ctl_text(from->limit_domain);
    to->limit_bps = from->limit_bps;
    to->copies = from->copies;
    to->assumed = from->assumed;
    to->measured = from->measured;
    return fill_rates(holder, from, to);
}

static void fill_traffic(const struct gmc_ctl_traffic *from, Gmcast__Ctl__Traffic *to)
{
    gmcast__ctl__traffic__init(to);
    to->in_rate = from->in_rate;
    to->out_rate = from->out_rate;
    to->handed = from->handed;
    to->missed = from->missed;
    to->dropped = from->dropped;
}

static gmc_status fill_transfer(struct gmc_ctl_holder *holder, const struct gmc_ctl_transfer *from,
                                Gmcast__Ctl__Transfer *to)
{
    Gmcast__Ctl__Member *members = gmc_ctl_alloc(holder, from->member_count, sizeof *members);

    fill_transfer_fields(from, to);
    if (from->state == GMC_CTL_TRANSFER_PLANNED) {
        to->plan = gmc_ctl_alloc(holder, 1, sizeof *to->plan);
        if (to->plan == NULL || !fill_plan(holder, &from->plan, to->plan))
            return GMC_ERR_NOMEM;
    }
    if (from->name != NULL && from->name[0] != '\0') {
        to->traffic = gmc_ctl_alloc(holder, 1, sizeof *to->traffic);
        if (to->traffic == NULL)
            return GMC_ERR_NOMEM;
        fill_traffic(&from->traffic, to->traffic);
    }
    to->members = gmc_ctl_alloc(holder, from->member_count, sizeof(void *));
    if (members == NULL || to->members == NULL)
        return GMC_ERR_NOMEM;
    to->n_members = from->member_count;
    for (size_t i = 0; i < from->member_count; i++) {
        if (!fill_member(holder, &from->members[i], &members[i]))
            return GMC_ERR_NOMEM;
        to->members[i] = &members[i];
    }
    return GMC_OK;
}

static gmc_status fill_transfers(struct gmc_ctl_holder *holder, const struct gmc_ctl_reply *reply,
                                 Gmcast__Ctl__Reply *message)
{
    size_t count = reply->transfer_count;
    Gmcast__Ctl__Transfer *transfers = gmc_ctl_alloc(holder, count, sizeof *transfers);

    message->transfers = gmc_ctl_alloc(holder, count, sizeof(void *));
    if (transfers == NULL || message->transfers == NULL)
        return GMC_ERR_NOMEM;
    message->n_transfers = count;
    for (size_t i = 0; i < count; i++) {
        gmc_status status = fill_transfer(holder, &reply->transfers[i], &transfers[i]);

        if (status != GMC_OK)
            return status;
        message->transfers[i] = &transfers[i];
    }
    return GMC_OK;
}

static void fill_session(const struct gmc_ctl_session *from, Gmcast__Ctl__Session *to)
{
    gmcast__ctl__session__init(to);
    to->configured = from->configured;
    to->is_node = from->is_node;
    to->up = from->up;
    to->dialled = from->dialled;
    to->alias = gmc_ctl_text(from->alias);
    to->address = gmc_ctl_text(from->address);
    to->transport = (Gmcast__Ctl__Transport)from->transport;
    to->connect = (Gmcast__Ctl__Connect)from->connect;
    to->dial = (Gmcast__Ctl__Dial)from->dial;
}

static void fill_peer(const struct gmc_ctl_peer *from, Gmcast__Ctl__Peer *to)
{
    gmcast__ctl__peer__init(to);
    to->domain = gmc_ctl_text(from->domain);
    to->up = from->up;
    to->stream = from->stream;
    to->rtt_ns = from->rtt_ns;
    to->min_rtt_ns = from->min_rtt_ns;
    to->rate_bps = from->rate_bps;
    to->bytes_sent = from->bytes_sent;
    to->bytes_received = from->bytes_received;
    to->packets_sent = from->packets_sent;
    to->packets_lost = from->packets_lost;
    to->payload_max = from->payload_max;
    to->reason = gmc_ctl_text(from->reason);
    to->fabric = gmc_ctl_text(from->fabric.name);
    to->fabric_bytes_sent = from->fabric.bytes_sent;
    to->fabric_bytes_received = from->fabric.bytes_received;
    to->multicast = (Gmcast__Ctl__Multicast)from->multicast.state;
    to->multicast_reason = gmc_ctl_text(from->multicast.reason);
    to->udp_out = (Gmcast__Ctl__Reach)from->udp_out;
    to->udp_in = (Gmcast__Ctl__Reach)from->udp_in;
    to->wait = (Gmcast__Ctl__Wait)from->wait;
    to->loss_ppm = from->loss_ppm;
}

static gmc_status fill_peers(struct gmc_ctl_holder *holder, const struct gmc_ctl_reply *reply,
                             Gmcast__Ctl__Reply *message)
{
    Gmcast__Ctl__Peer *peers = gmc_ctl_alloc(holder, reply->peer_count, sizeof *peers);
    Gmcast__Ctl__Session *sessions = gmc_ctl_alloc(holder, reply->peer_count, sizeof *sessions);

    message->peers = gmc_ctl_alloc(holder, reply->peer_count, sizeof(void *));
    if (peers == NULL || sessions == NULL || message->peers == NULL)
        return GMC_ERR_NOMEM;
    message->n_peers = reply->peer_count;
    for (size_t i = 0; i < reply->peer_count; i++) {
        fill_peer(&reply->peers[i], &peers[i]);
        fill_session(&reply->peers[i].session, &sessions[i]);
        peers[i].session = &sessions[i];
        message->peers[i] = &peers[i];
    }
    return GMC_OK;
}

static gmc_status fill_latencies(struct gmc_ctl_holder *holder, const struct gmc_ctl_reply *reply,
                                 Gmcast__Ctl__Reply *message)
{
    Gmcast__Ctl__Latency *list = gmc_ctl_alloc(holder, reply->latency_count, sizeof *list);

    message->latencies = gmc_ctl_alloc(holder, reply->latency_count, sizeof(void *));
    if (list == NULL || message->latencies == NULL)
        return GMC_ERR_NOMEM;
    message->n_latencies = reply->latency_count;
    for (size_t i = 0; i < reply->latency_count; i++) {
        gmcast__ctl__latency__init(&list[i]);
        list[i].a = reply->latencies[i].a;
        list[i].b = reply->latencies[i].b;
        list[i].rtt_ns = reply->latencies[i].rtt_ns;
        message->latencies[i] = &list[i];
    }
    return GMC_OK;
}

static gmc_status fill_counters(struct gmc_ctl_holder *holder, const struct gmc_ctl_reply *reply,
                                Gmcast__Ctl__Reply *message)
{
    Gmcast__Ctl__Counter *list = gmc_ctl_alloc(holder, reply->counter_count, sizeof *list);

    message->counters = gmc_ctl_alloc(holder, reply->counter_count, sizeof(void *));
    if (list == NULL || message->counters == NULL)
        return GMC_ERR_NOMEM;
    message->n_counters = reply->counter_count;
    for (size_t i = 0; i < reply->counter_count; i++) {
        gmcast__ctl__counter__init(&list[i]);
        list[i].name = gmc_ctl_text(reply->counters[i].name);
        list[i].value = reply->counters[i].value;
        message->counters[i] = &list[i];
    }
    return GMC_OK;
}

static gmc_status fill_nodes(struct gmc_ctl_holder *holder, const struct gmc_ctl_reply *reply,
                             Gmcast__Ctl__Reply *message)
{
    Gmcast__Ctl__Node *list = gmc_ctl_alloc(holder, reply->node_count, sizeof *list);

    message->nodes = gmc_ctl_alloc(holder, reply->node_count, sizeof(void *));
    if (list == NULL || message->nodes == NULL)
        return GMC_ERR_NOMEM;
    message->n_nodes = reply->node_count;
    for (size_t i = 0; i < reply->node_count; i++) {
        gmcast__ctl__node__init(&list[i]);
        list[i].name = gmc_ctl_text(reply->nodes[i].name);
        list[i].state = (Gmcast__Ctl__NodeState)reply->nodes[i].state;
        list[i].up = reply->nodes[i].up;
        list[i].since = reply->nodes[i].since;
        list[i].expires = reply->nodes[i].expires;
        message->nodes[i] = &list[i];
    }
    return GMC_OK;
}

static gmc_status fill_findings(struct gmc_ctl_holder *holder, const struct gmc_ctl_reply *reply,
                                Gmcast__Ctl__Reply *message)
{
    Gmcast__Ctl__Finding *list = gmc_ctl_alloc(holder, reply->finding_count, sizeof *list);

    message->findings = gmc_ctl_alloc(holder, reply->finding_count, sizeof(void *));
    if (list == NULL || message->findings == NULL)
        return GMC_ERR_NOMEM;
    message->n_findings = reply->finding_count;
    for (size_t i = 0; i < reply->finding_count; i++) {
        const struct gmc_ctl_finding *from = &reply->findings[i];

        gmcast__ctl__finding__init(&list[i]);
        list[i].level = (Gmcast__Ctl__Level)from->level;
        list[i].check = gmc_ctl_text(from->check);
        list[i].subject = gmc_ctl_text(from->subject);
        list[i].value = from->value;
        list[i].unit = gmc_ctl_text(from->unit);
        list[i].text = gmc_ctl_text(from->text);
        list[i].advice = gmc_ctl_text(from->advice);
        message->findings[i] = &list[i];
    }
    return GMC_OK;
}

gmc_status gmc_ctl_encode_reply(const struct gmc_ctl_reply *reply, uint8_t **out, size_t *len)
{
    struct gmc_ctl_holder *holder = gmc_ctl_holder_new();
    Gmcast__Ctl__Reply message;
    gmc_status status;

    if (holder == NULL)
        return GMC_ERR_NOMEM;
    gmcast__ctl__reply__init(&message);
    message.status = reply->status;
    message.error = gmc_ctl_text(reply->error);
    message.domain = gmc_ctl_text(reply->domain);
    message.channel = gmc_ctl_text(reply->channel);
    message.token = gmc_ctl_text(reply->token);
    status = fill_transfers(holder, reply, &message);
    if (status == GMC_OK)
        status = fill_peers(holder, reply, &message);
    if (status == GMC_OK)
        status = fill_latencies(holder, reply, &message);
    if (status == GMC_OK)
        status = fill_counters(holder, reply, &message);
    if (status == GMC_OK)
        status = fill_nodes(holder, reply, &message);
    if (status == GMC_OK)
        status = fill_findings(holder, reply, &message);
    if (status == GMC_OK)
        status = gmc_ctl_pack(&message.base, out, len);
    gmc_ctl_release(holder);
    return status;
}

/* ---- decoding ---- */

static gmc_status take_digest(const ProtobufCBinaryData *from, bool *has, uint8_t *to)
{
    *has = from->len == GMC_CTL_DIGEST_BYTES;
    if (*has)
        memcpy(to, from->data, GMC_CTL_DIGEST_BYTES);
    return *has || from->len == 0 ? GMC_OK : GMC_ERR_INVALID;
}

static gmc_status take_member(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Member *from,
                              struct gmc_ctl_member *to)
{
    gmc_status status;

    if (!gmc_ctl_name_fits(from->domain, GMC_NAME_MAX) ||
        !gmc_ctl_name_fits(from->parent, GMC_NAME_MAX) ||
        !gmc_ctl_text_fits(from->reason, GMC_CTL_ERROR_MAX) ||
        from->n_more_parents >= GMC_CTL_STRIPES_MAX)
        return GMC_ERR_INVALID;
    for (size_t i = 0; i < from->n_more_parents; i++) {
        if (!gmc_ctl_name_fits(from->more_parents[i], GMC_NAME_MAX))
            return GMC_ERR_INVALID;
    }
    /* protobuf-c's strings live as long as the holder. */
    to->more_parents = (const char *const *)from->more_parents;
    to->more_parent_count = from->n_more_parents;
    to->domain = from->domain;
    to->parent = from->parent;
    to->state = (unsigned)from->state <= GMC_CTL_MEMBER_LEFT
                    ? (enum gmc_ctl_member_state)from->state
                    : GMC_CTL_MEMBER_UNKNOWN;
    to->bytes = from->bytes;
    to->repairs = from->repairs;
    to->nodes = from->nodes;
    to->nodes_verified = from->nodes_verified;
    to->nodes_failed = from->nodes_failed;
    to->nodes_left = from->nodes_left;
    to->elapsed_ns = from->elapsed_ns;
    to->reason = from->reason;
    to->latency_ns = from->latency_ns;
    status = take_digest(&from->digest, &to->has_digest, to->digest);
    if (status != GMC_OK)
        return status;
    return gmc_ctl_copy_path(holder, &from->path, GMC_CTL_PATH_MAX, &to->path);
}

static gmc_status take_members(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Transfer *from,
                               struct gmc_ctl_transfer *to)
{
    struct gmc_ctl_member *members;

    if (from->n_members > GMC_MEMBERS_MAX)
        return GMC_ERR_INVALID;
    members = gmc_ctl_alloc(holder, from->n_members, sizeof *members);
    if (members == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < from->n_members; i++) {
        gmc_status status = take_member(holder, from->members[i], &members[i]);

        if (status != GMC_OK)
            return status;
    }
    to->members = members;
    to->member_count = from->n_members;
    return GMC_OK;
}

static gmc_status take_rates(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Plan *from,
                             struct gmc_ctl_plan *to)
{
    struct gmc_ctl_rate *rates;

    if (from->n_rates > GMC_MEMBERS_MAX)
        return GMC_ERR_INVALID;
    rates = gmc_ctl_alloc(holder, from->n_rates, sizeof *rates);
    if (rates == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < from->n_rates; i++) {
        const Gmcast__Ctl__PlanRate *rate = from->rates[i];

        if (!gmc_ctl_name_fits(rate->domain, GMC_NAME_MAX))
            return GMC_ERR_INVALID;
        rates[i] = (struct gmc_ctl_rate){.domain = rate->domain,
                                         .uplink_bps = rate->uplink_bps,
                                         .uplink_origin =
                                             (unsigned)rate->uplink_origin <= GMC_CTL_ORIGIN_ASSUMED
                                                 ? (enum gmc_ctl_origin)rate->uplink_origin
                                                 : GMC_CTL_ORIGIN_UNKNOWN,
                                         .copies = rate->copies,
                                         .downlink_bps = rate->downlink_bps};
    }
    to->rates = rates;
    to->rate_count = from->n_rates;
    return GMC_OK;
}

static gmc_status take_plan(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Plan *from,
                            struct gmc_ctl_plan *to)
{
    *to = (struct gmc_ctl_plan){.limit_domain = ""};
    if (from == NULL)
        return GMC_OK;
    if (!gmc_ctl_name_fits(from->limit_domain, GMC_NAME_MAX))
        return GMC_ERR_INVALID;
    to->time_ns = from->time_ns;
    to->bound_ns = from->bound_ns;
    to->rate_bps = from->rate_bps;
    if ((unsigned)from->limit <= GMC_CTL_LIMIT_CAP)
        to->limit = (enum gmc_ctl_limit)from->limit;
    to->limit_domain = from->limit_domain;
    to->limit_bps = from->limit_bps;
    to->copies = from->copies;
    to->assumed = from->assumed != 0;
    to->measured = from->measured != 0;
    return take_rates(holder, from, to);
}

static gmc_status take_transfer(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Transfer *from,
                                struct gmc_ctl_transfer *to)
{
    gmc_status status;

    if (!gmc_ctl_name_fits(from->channel, GMC_CTL_CHANNEL_TEXT_MAX - 1) ||
        !gmc_ctl_name_fits(from->shape, GMC_NAME_MAX) ||
        !gmc_ctl_text_fits(from->reason, GMC_CTL_ERROR_MAX))
        return GMC_ERR_INVALID;
    to->channel = from->channel;
    to->is_source = from->is_source != 0;
    to->state = (unsigned)from->state <= GMC_CTL_TRANSFER_PLANNED
                    ? (enum gmc_ctl_transfer_state)from->state
                    : GMC_CTL_TRANSFER_UNKNOWN;
    to->shape = from->shape;
    to->total_bytes = from->total_bytes;
    to->bytes = from->bytes;
    to->file_count = from->file_count;
    to->name = from->name;
    to->message_count = from->message_count;
    to->rate_bps = from->rate_bps;
    to->background = from->background;
    to->is_saving = from->saving;
    to->elapsed_ns = from->elapsed_ns;
    to->setup_ns = from->setup_ns;
    to->tree_version = from->tree_version;
    to->reason = from->reason;
    to->total_members = from->member_count;
    to->verified_members = from->verified_count;
    to->failed_members = from->failed_count;
    if (from->traffic != NULL)
        to->traffic = (struct gmc_ctl_traffic){.in_rate = from->traffic->in_rate,
                                               .out_rate = from->traffic->out_rate,
                                               .handed = from->traffic->handed,
                                               .missed = from->traffic->missed,
                                               .dropped = from->traffic->dropped};
    status = take_plan(holder, from->plan, &to->plan);
    if (status == GMC_OK)
        status = take_digest(&from->digest, &to->has_digest, to->digest);
    return status == GMC_OK ? take_members(holder, from, to) : status;
}

static gmc_status take_transfers(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Reply *message,
                                 struct gmc_ctl_reply *reply)
{
    struct gmc_ctl_transfer *transfers;

    if (message->n_transfers > GMC_CTL_TRANSFERS_MAX)
        return GMC_ERR_INVALID;
    transfers = gmc_ctl_alloc(holder, message->n_transfers, sizeof *transfers);
    if (transfers == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < message->n_transfers; i++) {
        gmc_status status = take_transfer(holder, message->transfers[i], &transfers[i]);

        if (status != GMC_OK)
            return status;
    }
    reply->transfers = transfers;
    reply->transfer_count = message->n_transfers;
    return GMC_OK;
}

static gmc_status take_session(const Gmcast__Ctl__Session *from, struct gmc_ctl_session *to)
{
    *to = (struct gmc_ctl_session){.alias = "", .address = ""};
    if (from == NULL)
        return GMC_OK;
    if (!gmc_ctl_name_fits(from->alias, GMC_NAME_MAX) ||
        !gmc_ctl_text_fits(from->address, GMC_NAME_MAX))
        return GMC_ERR_INVALID;
    to->configured = from->configured != 0;
    to->is_node = from->is_node != 0;
    to->up = from->up != 0;
    to->dialled = from->dialled != 0;
    to->alias = from->alias;
    to->address = from->address;
    if ((unsigned)from->transport <= GMC_CTL_TRANSPORT_TCP)
        to->transport = (enum gmc_ctl_transport)from->transport;
    if ((unsigned)from->connect <= GMC_CTL_CONNECT_IN)
        to->connect = (enum gmc_ctl_connect)from->connect;
    if ((unsigned)from->dial <= GMC_CTL_DIAL_TLS)
        to->dial = (enum gmc_ctl_dial)from->dial;
    return GMC_OK;
}

static enum gmc_ctl_reach reach_of(Gmcast__Ctl__Reach reach)
{
    return (unsigned)reach <= GMC_CTL_REACH_LOST ? (enum gmc_ctl_reach)reach
                                                 : GMC_CTL_REACH_UNKNOWN;
}

static gmc_status take_peers(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Reply *message,
                             struct gmc_ctl_reply *reply)
{
    struct gmc_ctl_peer *peers = gmc_ctl_alloc(holder, message->n_peers, sizeof *peers);

    if (peers == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < message->n_peers; i++) {
        const Gmcast__Ctl__Peer *from = message->peers[i];

        if (!gmc_ctl_name_fits(from->domain, GMC_NAME_MAX) ||
            !gmc_ctl_text_fits(from->reason, GMC_CTL_ERROR_MAX) ||
            !gmc_ctl_text_fits(from->fabric, GMC_NAME_MAX) ||
            !gmc_ctl_text_fits(from->multicast_reason, GMC_CTL_ERROR_MAX))
            return GMC_ERR_INVALID;
        peers[i] =
            (struct gmc_ctl_peer){.domain = from->domain,
                                  .up = from->up != 0,
                                  .stream = from->stream != 0,
                                  .rtt_ns = from->rtt_ns,
                                  .min_rtt_ns = from->min_rtt_ns,
                                  .rate_bps = from->rate_bps,
                                  .bytes_sent = from->bytes_sent,
                                  .bytes_received = from->bytes_received,
                                  .packets_sent = from->packets_sent,
                                  .packets_lost = from->packets_lost,
                                  .payload_max = from->payload_max,
                                  .reason = from->reason,
                                  .fabric = {from->fabric, from->fabric_bytes_sent,
                                             from->fabric_bytes_received},
                                  .multicast = {GMC_CTL_MULTICAST_UNTESTED, from->multicast_reason},
                                  .udp_out = reach_of(from->udp_out),
                                  .udp_in = reach_of(from->udp_in),
                                  .loss_ppm = from->loss_ppm};
        if ((unsigned)from->multicast <= GMC_CTL_MULTICAST_LOST)
            peers[i].multicast.state = (enum gmc_ctl_multicast_state)from->multicast;
        if ((unsigned)from->wait <= GMC_CTL_WAIT_PATH)
            peers[i].wait = (enum gmc_ctl_wait)from->wait;
        if (take_session(from->session, &peers[i].session) != GMC_OK)
            return GMC_ERR_INVALID;
    }
    reply->peers = peers;
    reply->peer_count = message->n_peers;
    return GMC_OK;
}

static gmc_status take_latencies(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Reply *message,
                                 struct gmc_ctl_reply *reply)
{
    struct gmc_ctl_latency *list = gmc_ctl_alloc(holder, message->n_latencies, sizeof *list);

    if (list == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < message->n_latencies; i++) {
        const Gmcast__Ctl__Latency *from = message->latencies[i];

        if (from->a >= message->n_peers || from->b >= message->n_peers)
            return GMC_ERR_INVALID;
        list[i] = (struct gmc_ctl_latency){from->a, from->b, from->rtt_ns};
    }
    reply->latencies = list;
    reply->latency_count = message->n_latencies;
    return GMC_OK;
}

static gmc_status take_counters(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Reply *message,
                                struct gmc_ctl_reply *reply)
{
    struct gmc_ctl_counter *list = gmc_ctl_alloc(holder, message->n_counters, sizeof *list);

    if (list == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < message->n_counters; i++) {
        if (!gmc_ctl_name_fits(message->counters[i]->name, GMC_NAME_MAX))
            return GMC_ERR_INVALID;
        list[i] = (struct gmc_ctl_counter){message->counters[i]->name, message->counters[i]->value};
    }
    reply->counters = list;
    reply->counter_count = message->n_counters;
    return GMC_OK;
}

static gmc_status take_nodes(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Reply *message,
                             struct gmc_ctl_reply *reply)
{
    struct gmc_ctl_node *list = gmc_ctl_alloc(holder, message->n_nodes, sizeof *list);

    if (list == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < message->n_nodes; i++) {
        const Gmcast__Ctl__Node *from = message->nodes[i];

        if (!gmc_ctl_name_fits(from->name, GMC_NAME_MAX))
            return GMC_ERR_INVALID;
        list[i] = (struct gmc_ctl_node){.name = from->name,
                                        .up = from->up != 0,
                                        .since = from->since,
                                        .expires = from->expires};
        if ((unsigned)from->state <= GMC_CTL_NODE_EXPIRED)
            list[i].state = (enum gmc_ctl_node_state)from->state;
    }
    reply->nodes = list;
    reply->node_count = message->n_nodes;
    return GMC_OK;
}

static gmc_status take_findings(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Reply *message,
                                struct gmc_ctl_reply *reply)
{
    struct gmc_ctl_finding *list = gmc_ctl_alloc(holder, message->n_findings, sizeof *list);

    if (list == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < message->n_findings; i++) {
        const Gmcast__Ctl__Finding *from = message->findings[i];

        if (!gmc_ctl_name_fits(from->check, GMC_NAME_MAX) ||
            !gmc_ctl_text_fits(from->subject, GMC_CTL_PATH_MAX) ||
            !gmc_ctl_name_fits(from->unit, GMC_NAME_MAX) ||
            !gmc_ctl_text_fits(from->text, GMC_CTL_ERROR_MAX) ||
            !gmc_ctl_text_fits(from->advice, GMC_CTL_ERROR_MAX))
            return GMC_ERR_INVALID;
        list[i] = (struct gmc_ctl_finding){.level = (unsigned)from->level <= GMC_CTL_LEVEL_FAIL
                                                        ? (enum gmc_ctl_level)from->level
                                                        : GMC_CTL_LEVEL_FAIL,
                                           .check = from->check,
                                           .subject = from->subject,
                                           .value = from->value,
                                           .unit = from->unit,
                                           .text = from->text,
                                           .advice = from->advice};
    }
    reply->findings = list;
    reply->finding_count = message->n_findings;
    return GMC_OK;
}

static gmc_status take_reply(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Reply *message,
                             struct gmc_ctl_reply *reply)
{
    gmc_status status;

    if (!gmc_ctl_text_fits(message->error, GMC_CTL_ERROR_MAX) ||
        !gmc_ctl_name_fits(message->domain, GMC_NAME_MAX) ||
        !gmc_ctl_name_fits(message->channel, GMC_CTL_CHANNEL_TEXT_MAX - 1) ||
        !gmc_ctl_name_fits(message->token, GMC_CTL_TOKEN_MAX))
        return GMC_ERR_INVALID;
    *reply = (struct gmc_ctl_reply){.status = message->status,
                                    .error = message->error,
                                    .domain = message->domain,
                                    .channel = message->channel,
                                    .token = message->token};
    status = take_transfers(holder, message, reply);
    if (status == GMC_OK)
        status = take_peers(holder, message, reply);
    if (status == GMC_OK)
        status = take_latencies(holder, message, reply);
    if (status == GMC_OK)
        status = take_counters(holder, message, reply);
    if (status == GMC_OK)
        status = take_nodes(holder, message, reply);
    if (status == GMC_OK)
        status = take_findings(holder, message, reply);
    return status;
}

gmc_status gmc_ctl_decode_reply(struct gmc_bytes bytes, struct gmc_ctl_reply *reply,
                                struct gmc_ctl_holder **holder)
{
    struct gmc_ctl_holder *made = gmc_ctl_holder_new();
    Gmcast__Ctl__Reply *message;
    struct gmc_ctl_reply taken;
    gmc_status status = GMC_ERR_INVALID;

    if (made == NULL)
        return GMC_ERR_NOMEM;
    message = gmcast__ctl__reply__unpack(NULL, bytes.len, bytes.data);
    if (message != NULL) {
        made->message = &message->base;
        status = take_reply(made, message, &taken);
    }
    if (status != GMC_OK) {
        gmc_ctl_release(made);
        return status;
    }
    *reply = taken;
    *holder = made;
    return GMC_OK;
}
