/* SPDX-License-Identifier: BSD-2-Clause */
/* The link's receiving side: what each kind of datagram does, and when feedback is owed. */
#include <stdlib.h>
#include <string.h>

#include "core/link_impl.h"

/* ---- feedback ---- */

static struct link_arrival arrival_of(uint64_t number, const struct gmc_dgram_in *in)
{
    return (struct link_arrival){number, in->waited, (uint32_t)in->bytes.len, in->ecn};
}

static void count_mark(struct gmc_ecn_counts *counts, enum gmc_ecn_mark mark)
{
    counts->ect0 += mark == GMC_ECT0;
    counts->ect1 += mark == GMC_ECT1;
    counts->ce += mark == GMC_CE;
}

/* Enters a packet that wants an acknowledgement. */
static void owe_ack(struct gmc_link *link, gmc_time now, struct link_arrival packet, bool at_once)
{
    struct link_feedback *feedback = &link->feedback;
    bool is_gap = packet.number > feedback->largest + 1;
    bool was_idle = gmc_time_sub(now, feedback->last) > LINK_ACK_DELAY;

    if (!gmc_ackrange_insert(&feedback->set, packet.number))
        return;
    if (packet.number >= feedback->largest) {
        gmc_time came = gmc_time_sub(now, packet.waited);
        feedback->largest = packet.number;
        if (came > feedback->largest_at) /* waits are measured on another clock */
            feedback->largest_at = came;
    }
    count_mark(&feedback->ecn, packet.ecn);
    feedback->last = now;
    feedback->unacked++;
    feedback->unacked_bytes += packet.bytes;
    /* A gap in a steady flow is told with the next ACK anyway; after a pause the sender may be
     * waiting at the tail. */
    if (at_once || feedback->unacked >= LINK_ACK_PACKETS ||
        feedback->unacked_bytes >= LINK_ACK_BYTES || (is_gap && was_idle))
        feedback->due = now;
    else if (feedback->due == GMC_TIME_NEVER)
        feedback->due = gmc_time_add(now, LINK_ACK_DELAY);
    else
        return;
    link->wakes = true;
}

static gmc_status on_ack(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                         struct gmc_bytes content)
{
    struct gmc_ack ack;
    gmc_duration rtt, waited = in->waited;

    gmc_status status = gmc_ack_get(content, &ack);
    if (status != GMC_OK)
        return status;
    bool is_new = !link->loss.any_acked || ack.largest > link->loss.largest_acked;
    status = gmc_loss_on_ack(&link->loss, now, &ack, &rtt);
    if (status != GMC_OK) {
        gmc_link_die(link, now, status);
        return status;
    }
    gmc_link_reach_acked(link, in->path, ack.largest);
    gmc_link_run_pass(link, now);
    /* Counts of an acknowledgement that was overtaken are older than what is known. */
    uint32_t ce = is_new ? gmc_ecn_on_ack(&link->ecn, &ack, link->ecn_acked) : 0;
    link->packets_marked += ce;
    const struct gmc_sent *largest = gmc_loss_find(&link->loss, ack.largest);
    if (largest == NULL || link->active == ROUTES || ack.largest < link->cc_first)
        return GMC_OK;
    struct gmc_cc_ack end = {
        .now = now,
        .largest = ack.largest,
        .largest_sent = largest->sent,
        .largest_arrival_ns = ack.arrival_ns,
        .rtt = rtt > waited ? rtt - waited : rtt, /* timers take it whole, the path not */
        .inflight_bytes = link->loss.inflight_bytes,
        .app_limited = largest->app_limited,
        .ce = ce,
    };
    link->cc->on_ack(link->cc_state, &end);
    gmc_link_update_pace(link);
    return GMC_OK;
}

static gmc_status on_stream(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                            const struct gmc_gate_packet *packet)
{
    struct gmc_bytes content = packet->content;
    bool is_new;

    if (content.len < 8)
        return GMC_ERR_TRUNCATED;
    struct gmc_bytes piece = {content.data + 8, content.len - 8};
    gmc_status status = gmc_stream_rx_piece(&link->rx, gmc_get64(content.data), piece, &is_new);
    if (status != GMC_OK)
        return status; /* not acknowledged, so it comes again */
    /* A repetition says that the ACK was lost, or is late. */
    owe_ack(link, now, arrival_of(packet->number, in), !is_new);
    return GMC_OK;
}

static gmc_status on_content(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                             const struct gmc_gate_packet *packet)
{
    switch (packet->kind) {
    case GMC_KIND_STREAM:
        return on_stream(link, now, in, packet);
    case GMC_KIND_PING:
        owe_ack(link, now, arrival_of(packet->number, in), true);
        return GMC_OK;
    default:
        break;
    }
    /* It wants no acknowledgement, and is told with the next one: as a hole it would take room. */
    (void)gmc_ackrange_insert(&link->feedback.set, packet->number);
    switch (packet->kind) {
    case GMC_KIND_ACK:
        return on_ack(link, now, in, packet->content);
    case GMC_KIND_CHALLENGE:
    case GMC_KIND_RESPONSE:
        if (packet->content.len < LINK_TOKEN_BYTES)
            return GMC_ERR_TRUNCATED;
        if (packet->kind == GMC_KIND_CHALLENGE)
            gmc_link_path_challenged(link, in, packet->content);
        else
            gmc_link_path_answered(link, now, in, packet->content);
        return GMC_OK;
    case GMC_KIND_BYE:
        gmc_link_die(link, now, GMC_ERR_PEER_DOWN);
        return GMC_OK;
    default:
        return GMC_ERR_TYPE;
    }
}

/* ---- entry ---- */

static void on_authentic(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                         bool newest)
{
    link->heard = now;
    link->unanswered = GMC_TIME_NEVER;
    link->doubted = GMC_TIME_NEVER;
    link->silent = false;
    link->bytes_received += in->bytes.len;
    link->reach.heard = link->reach.heard || in->path == GMC_PATH_UDP;
    gmc_link_path_heard(link, now, in, newest);
}

static gmc_status receive_sealed(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in)
{
    uint8_t small[GMC_LINK_PACKET_MAX];
    uint8_t *plain = small;
    struct gmc_gate_packet packet;
    uint64_t next = link->gate.replay.next;

    /* Larger ones are rare: MTU probes, and control over the TLS connection. */
    if (in->bytes.len > sizeof small) {
        plain = malloc(in->bytes.len);
        if (plain == NULL)
            return GMC_ERR_NOMEM;
    }
    gmc_status status = gmc_gate_open(&link->gate, in->bytes, plain, &packet);
    if (status == GMC_OK) {
        on_authentic(link, now, in, packet.number >= next);
        status = on_content(link, now, in, &packet);
    }
    if (plain != small)
        free(plain);
    return status;
}

static gmc_status receive_data(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                               struct gmc_link_data *data)
{
    struct gmc_gate_packet packet;
    struct gmc_data_head head;
    uint64_t next = link->gate.replay.next;

    gmc_status status = gmc_gate_open(&link->gate, in->bytes, NULL, &packet);
    if (status == GMC_OK)
        status = gmc_data_head_get(in->bytes, &head);
    if (status != GMC_OK)
        return status;
    on_authentic(link, now, in, packet.number >= next);
    data->handle = head.handle;
    data->block = head.block;
    data->fragment = head.fragment;
    data->body = packet.content;
    data->seal_tag = packet.content.data + packet.content.len;
    link->offered = true;
    link->offered_arrival = arrival_of(packet.number, in);
    return GMC_OK;
}

gmc_status gmc_link_receive(struct gmc_link *link, gmc_time now, const struct gmc_dgram_in *in,
                            struct gmc_link_data *data, bool *is_data)
{
    uint8_t kind;

    link->now = now;
    link->offered = false;
    if (link->state == GMC_LINK_DEAD)
        return GMC_ERR_STATE;
    gmc_status status = gmc_head_kind(in->bytes, &kind);
    if (status != GMC_OK)
        return status;
    status =
        kind == GMC_KIND_DATA ? receive_data(link, now, in, data) : receive_sealed(link, now, in);
    if (status == GMC_OK)
        *is_data = kind == GMC_KIND_DATA;
    return status;
}

void gmc_link_accept_data(struct gmc_link *link, gmc_time now)
{
    if (!link->offered)
        return;
    link->offered = false;
    owe_ack(link, now, link->offered_arrival, false);
}

bool gmc_link_wakes(struct gmc_link *link)
{
    bool wakes = link->wakes;
    link->wakes = false;
    return wakes;
}
