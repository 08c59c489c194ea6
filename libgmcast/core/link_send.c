/* SPDX-License-Identifier: BSD-2-Clause */
/* The link's sending side: pacing, data datagrams, and the packets that it owes by itself. */
#include <string.h>

#include "base/assert.h"
#include "core/link_impl.h"

#define CONTROL_AHEAD GMC_MS(10)
#define ECHO_BYTES (4u * GMC_LINK_PACKET_MAX)
#define ECHO_LOSS_PPM 5000
#define COPIES_MISSING_PPM 62500 /* a sixteenth of a packet */
#define LOSS_MAX_PPM 900000u
#define ECHO_UNKNOWN 32 /* packets whose fate must be known before a path counts as clean */
#define ECHO_WAIT_MAX GMC_MS(20)
#define ECHO_MAX 3u
#define ECHO_MISSING_PPM 62500u /* of messages that the last echo has not brought either */
#define ACK_BUDGET 6000u        /* four full packets' worth */

/* How far control may run ahead of the pacing. */
static gmc_duration control_ahead(const struct gmc_link *link)
{
    gmc_duration ahead = LINK_BURST_PACKETS * link->pace.packet;

    return ahead > CONTROL_AHEAD ? ahead : CONTROL_AHEAD;
}

/* What is not paid for yet remains the same part of what control may run ahead: as a time it would
 * keep messages, which are always that far ahead, from filling a probe, and let them burst behind
 * it. */
void gmc_link_update_pace(struct gmc_link *link)
{
    const struct link_route *route = gmc_link_active(link);
    gmc_duration before = control_ahead(link), owed, after;

    if (route == NULL)
        return;
    gmc_pace_set(&link->pace, link->cc->rate_bps(link->cc_state), route->mtu + LINK_WIRE_BYTES);
    after = control_ahead(link);
    if (before == after || link->pace.paid_until <= link->now)
        return;
    owed = (link->pace.paid_until - link->now) / 1000 * (after / 1000) / (before / 1000) * 1000;
    link->pace.paid_until = gmc_time_add(link->now, owed);
}

gmc_time gmc_link_urgent_time(const struct gmc_link *link)
{
    if (link->state != GMC_LINK_UP)
        return GMC_TIME_NEVER;
    /* Control is not held back, except by itself: a long message must not flood the path. */
    uint64_t ahead_bytes = (uint64_t)LINK_BURST_PACKETS * link->pace.packet_bytes;
    uint64_t window = link->cc->window_bytes(link->cc_state);
    if (link->loss.inflight_bytes > window && link->loss.inflight_bytes - window > ahead_bytes)
        return GMC_TIME_NEVER; /* the next acknowledgement or probe timeout changes it */
    return gmc_time_sub(link->pace.paid_until, control_ahead(link));
}

void gmc_link_note_urgent(struct gmc_link *link, gmc_time now)
{
    if (link->cc->on_urgent != NULL)
        link->cc->on_urgent(link->cc_state, now);
}

gmc_time gmc_link_stream_time(const struct gmc_link *link)
{
    return gmc_stream_tx_is_ready(&link->tx) ? gmc_link_urgent_time(link) : GMC_TIME_NEVER;
}

static bool window_takes(const struct gmc_link *link, uint64_t bytes)
{
    return link->loss.inflight_bytes == 0 ||
           link->loss.inflight_bytes + bytes <= link->cc->window_bytes(link->cc_state);
}

bool gmc_link_ready(const struct gmc_link *link, gmc_time now, size_t udp_payload)
{
    return link->state == GMC_LINK_UP && link->pace.paid_until <= now &&
           window_takes(link, udp_payload + LINK_WIRE_BYTES);
}

gmc_time gmc_link_data_time(const struct gmc_link *link)
{
    if (link->state != GMC_LINK_UP || !window_takes(link, link->pace.packet_bytes))
        return GMC_TIME_NEVER;
    return gmc_pace_batch_time(&link->pace);
}

void gmc_link_set_idle(struct gmc_link *link, gmc_time now)
{
    link->now = now;
    link->idle = true;
}

void gmc_link_hold(struct gmc_link *link, gmc_time since)
{
    link->pace.held_since = since;
}

gmc_duration gmc_link_slack(const struct gmc_link *link)
{
    return link->cc->slack != NULL ? link->cc->slack(link->cc_state) : 0;
}

/* ---- packets ---- */

/* Leaves a number out now and then: who acknowledges it has not looked at what arrived. */
static gmc_status take_number(struct gmc_link *link, uint64_t *number)
{
    gmc_status status = gmc_loss_reserve(&link->loss, 2);
    if (status != GMC_OK)
        return status;
    if (link->loss.next >= link->skip_at) {
        gmc_loss_on_skipped(&link->loss);
        link->skip_at = link->loss.next + 128 + gmc_prng_below(&link->prng, 1024);
    }
    *number = link->loss.next;
    return GMC_OK;
}

/* A packet that nobody acknowledges tells nothing of its mark. */
static bool is_ecn_capable(struct gmc_link *link, bool tracked)
{
    return tracked && link->active == ROUTE_UDP && link->cc->takes_ecn &&
           gmc_ecn_mark(&link->ecn, link->loss.pto_count);
}

/* Acknowledgements need not be paced (RFC 9002, 7.7), but unpaid for they are a queue where data
 * fills a wire to the last percent. They take half of the rate at most: those of a fast stream that
 * comes would take all of one that is low yet, and data that never goes shows no path to be faster.
 */
static bool is_paced(struct gmc_link *link, uint32_t bytes, bool tracked)
{
    if (tracked) {
        uint32_t budget = link->ack_budget + bytes;
        link->ack_budget = budget < ACK_BUDGET ? budget : ACK_BUDGET;
        return true;
    }
    if (link->ack_budget < bytes)
        return false;
    link->ack_budget -= bytes;
    return true;
}

/* Enters a packet of udp_payload bytes into the books; the mark that it goes out with. */
static enum gmc_ecn_mark record(struct gmc_link *link, gmc_time now, enum gmc_kind kind,
                                size_t udp_payload, uint64_t cookie, size_t length, bool tracked)
{
    uint64_t number = link->loss.next;
    uint32_t bytes = (uint32_t)udp_payload + LINK_WIRE_BYTES;
    struct gmc_sent packet = {
        .sent = now,
        .cookie = cookie,
        .bytes = bytes,
        .length = (uint16_t)length,
        .kind = (uint8_t)kind,
        .state = tracked ? GMC_SENT_PENDING : GMC_SENT_UNTRACKED,
        .app_limited = link->idle,
        .ecn = is_ecn_capable(link, tracked),
    };

    gmc_loss_on_sent(&link->loss, &packet);
    link->packets_sent++;
    link->bytes_sent += udp_payload;
    if (link->active != ROUTES && is_paced(link, bytes, tracked)) {
        if (gmc_pace_is_late(&link->pace, now)) /* to know it takes divisions */
            link->pace.slack = link->idle ? 0 : gmc_link_slack(link);
        gmc_pace_pay(&link->pace, now, bytes);
    }
    if (!tracked)
        return GMC_NOT_ECT;
    link->cc->on_sent(link->cc_state, now, number, bytes, link->idle);
    gmc_link_update_pace(link);
    if (link->unanswered == GMC_TIME_NEVER)
        link->unanswered = now;
    return packet.ecn ? GMC_ECT0 : GMC_NOT_ECT;
}

static void describe(const struct gmc_link *link, struct gmc_dgram_out *out)
{
    out->path = link->active == ROUTE_STREAM ? GMC_PATH_STREAM : GMC_PATH_UDP;
    out->peer = link->peer;
    if (link->active != ROUTES)
        out->to = link->routes[link->active].to;
    else
        out->to.len = 0;
    out->head_len = 0;
    out->body = (struct gmc_bytes){NULL, 0};
    out->tail = (struct gmc_bytes){NULL, 0};
}

gmc_status gmc_link_send_data(struct gmc_link *link, gmc_time now, const struct gmc_data_head *head,
                              struct gmc_bytes body, const uint8_t *seal_tag, uint64_t cookie,
                              struct gmc_dgram_out *out)
{
    size_t len = body.len + GMC_DATA_OVERHEAD_BYTES;
    uint64_t number;

    link->now = now;
    if (link->state != GMC_LINK_UP)
        return GMC_ERR_STATE;
    if (!gmc_link_reserve_fate(link))
        return GMC_ERR_NOMEM;
    gmc_status status = take_number(link, &number);
    if (status != GMC_OK)
        return status;
    status = gmc_gate_head(&link->gate, GMC_KIND_DATA, number, head, seal_tag, out->head);
    if (status != GMC_OK)
        return status;
    describe(link, out);
    out->head_len = GMC_DATA_HEAD_BYTES;
    out->body = body;
    out->tail = (struct gmc_bytes){seal_tag, GMC_SEAL_TAG_BYTES};
    out->ecn = (uint8_t)record(link, now, GMC_KIND_DATA, len, cookie, 0, true);
    link->idle = false;
    link->data_sent++;
    link->data_pending++;
    if (len > link->data_max)
        link->data_max = (uint32_t)len;
    return GMC_OK;
}

static bool emit(struct gmc_link *link, gmc_time now, enum gmc_kind kind, uint8_t *buffer,
                 size_t len, struct gmc_dgram_out *out, uint64_t cookie, size_t length,
                 bool tracked)
{
    uint64_t number;

    if (take_number(link, &number) != GMC_OK ||
        gmc_gate_seal(&link->gate, kind, number, buffer, len) != GMC_OK)
        return false;
    describe(link, out);
    out->body = (struct gmc_bytes){buffer, len + GMC_GATE_OVERHEAD};
    out->ecn = (uint8_t)record(link, now, kind, len + GMC_GATE_OVERHEAD, cookie, length, tracked);
    return true;
}

bool gmc_link_emit(struct gmc_link *link, gmc_time now, enum gmc_kind kind, uint8_t *buffer,
                   size_t len, struct gmc_dgram_out *out)
{
    return emit(link, now, kind, buffer, len, out, 0, 0, false);
}

/* ---- what the link owes ---- */

static bool next_bye(struct gmc_link *link, gmc_time now, uint8_t *buffer,
                     struct gmc_dgram_out *out)
{
    if (!link->bye)
        return false;
    link->bye = false;
    gmc_put32(buffer + GMC_HEAD_BYTES, (uint32_t)-link->bye_status);
    return gmc_link_emit(link, now, GMC_KIND_BYE, buffer, 4, out);
}

static bool next_ack(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                     struct gmc_dgram_out *out)
{
    struct link_feedback *feedback = &link->feedback;
    struct gmc_ack ack;

    if (feedback->due > now || link->active == ROUTES)
        return false;
    feedback->due = GMC_TIME_NEVER;
    feedback->unacked = 0;
    feedback->unacked_bytes = 0;
    gmc_ackrange_collect(&feedback->set, feedback->largest + 1, &ack);
    if (ack.count == 0)
        return false;
    ack.arrival_ns = feedback->largest_at;
    ack.delay_us = gmc_time_sub(now, feedback->largest_at) / 1000;
    ack.ecn = feedback->ecn;
    ack.has_ecn = ack.ecn.ect0 + ack.ecn.ect1 + ack.ecn.ce > 0;
    size_t len = gmc_ack_put(&ack, buffer + GMC_HEAD_BYTES, capacity - GMC_GATE_OVERHEAD);
    return gmc_link_emit(link, now, GMC_KIND_ACK, buffer, len, out);
}

/* How often a message is said again that nothing follows: once where losses are not known yet, and
 * on a path that loses packets until one message in sixteen is lost at most. Three wires that lose
 * one packet in five lose half of the messages. */
static unsigned echoes_wanted(const struct gmc_link *link)
{
    uint64_t ppm = link->cc->loss_ppm(link->cc_state);
    uint64_t missing = ppm * ppm / 1000000;
    unsigned count = 1;

    if (ppm < ECHO_LOSS_PPM)
        return link->decided < ECHO_UNKNOWN ? 1 : 0;
    for (; missing > ECHO_MISSING_PPM && count < ECHO_MAX; count++)
        missing = missing * ppm / 1000000;
    return count;
}

/* The last message of a conversation waits for nobody else's acknowledgement to be found lost: it
 * is said again, a quarter of a round trip apart, so that a burst of losses does not take all. The
 * set-up of a transfer is made of such messages. */
static void plan_echo(struct gmc_link *link, gmc_time now)
{
    gmc_duration wait = link->loss.rtt.smoothed / 4;

    link->echo_time = GMC_TIME_NEVER;
    if (gmc_stream_tx_is_ready(&link->tx) || link->echoed >= echoes_wanted(link) ||
        gmc_stream_tx_bytes(&link->tx) > ECHO_BYTES)
        return;
    link->echo_time = gmc_time_add(now, wait < ECHO_WAIT_MAX ? wait : ECHO_WAIT_MAX);
}

static bool next_piece(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                       struct gmc_dgram_out *out)
{
    const size_t overhead = GMC_GATE_OVERHEAD + 8;
    const struct link_route *route = gmc_link_active(link);
    uint8_t *content = buffer + GMC_HEAD_BYTES;
    struct gmc_bytes piece;
    uint64_t offset;

    if (gmc_link_stream_time(link) > now)
        return false;
    size_t max = route->mtu < capacity ? route->mtu : capacity;
    if (!gmc_stream_tx_next(&link->tx, max - overhead, &offset, &piece))
        return false;
    gmc_put64(content, offset);
    memcpy(content + 8, piece.data, piece.len);
    if (!emit(link, now, GMC_KIND_STREAM, buffer, 8 + piece.len, out, offset, piece.len, true)) {
        gmc_stream_tx_lost(&link->tx, offset, piece.len);
        return false;
    }
    plan_echo(link, now);
    return true;
}

uint32_t gmc_link_loss_ppm(const struct gmc_link *link)
{
    uint32_t ppm = link->state == GMC_LINK_UP ? link->cc->loss_ppm(link->cc_state) : 0;

    return ppm < LOSS_MAX_PPM ? ppm : LOSS_MAX_PPM;
}

uint64_t gmc_link_rate(const struct gmc_link *link)
{
    return link->state == GMC_LINK_UP ? link->cc->rate_bps(link->cc_state) : 0;
}

gmc_duration gmc_link_least_rtt(const struct gmc_link *link)
{
    return link->loss.rtt.smoothed != 0 ? link->loss.rtt.min : 0;
}

gmc_duration gmc_link_queue(const struct gmc_link *link)
{
    bool is_known = link->state == GMC_LINK_UP && link->cc->queue != NULL;

    return is_known ? link->cc->queue(link->cc_state) : 0;
}

bool gmc_link_rate_is_found(const struct gmc_link *link)
{
    return link->state == GMC_LINK_UP &&
           (link->cc->is_found == NULL || link->cc->is_found(link->cc_state));
}

unsigned gmc_link_copies(const struct gmc_link *link)
{
    if (link->state != GMC_LINK_UP)
        return 1;
    uint64_t ppm = link->cc->loss_ppm(link->cc_state);
    uint64_t missing_ppm = link->loss.pending * ppm; /* packets that none of the copies brings */
    unsigned copies = 1;
    for (; missing_ppm > COPIES_MISSING_PPM && copies < GMC_LINK_COPIES_MAX; copies++)
        missing_ppm = missing_ppm * ppm / 1000000;
    return copies;
}

static bool next_ping(struct gmc_link *link, gmc_time now, uint8_t *buffer,
                      struct gmc_dgram_out *out)
{
    if (link->pings_owed == 0 || link->state != GMC_LINK_UP)
        return false;
    link->pings_owed--;
    return emit(link, now, GMC_KIND_PING, buffer, 0, out, 0, 0, true);
}

void gmc_link_repeat_stream(struct gmc_link *link, size_t max)
{
    /* What was sent before is queued again now, not once more when it is found lost. */
    link->repeated = link->loss.next;
    link->repeated_end = gmc_stream_tx_repeat(&link->tx, max);
}

/* One more copy of what is not acknowledged. */
static bool next_echo(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                      struct gmc_dgram_out *out)
{
    if (link->echoes == 0 || gmc_stream_tx_is_ready(&link->tx))
        return false;
    link->echoes--;
    link->echo_time = GMC_TIME_NEVER;
    gmc_link_repeat_stream(link, ECHO_BYTES);
    link->echoed++;
    return next_piece(link, now, buffer, capacity, out);
}

bool gmc_link_next_packet(struct gmc_link *link, gmc_time now, uint8_t *buffer, size_t capacity,
                          struct gmc_dgram_out *out)
{
    GMC_ASSERT(capacity >= GMC_LINK_PACKET_MAX);
    link->now = now;
    if (link->state == GMC_LINK_DEAD)
        return next_bye(link, now, buffer, out);
    return gmc_link_path_next(link, now, buffer, capacity, out) ||
           next_ack(link, now, buffer, capacity, out) ||
           next_piece(link, now, buffer, capacity, out) ||
           next_echo(link, now, buffer, capacity, out) || next_ping(link, now, buffer, out);
}
