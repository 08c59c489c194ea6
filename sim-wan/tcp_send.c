/* SPDX-License-Identifier: BSD-2-Clause */
/* The sending half of simulated TCP: segments, window, loss recovery, time-outs, keep-alive. */
#include <stdlib.h>
#include <string.h>

#include "sim-wan/mem.h"
#include "sim-wan/tcp_internal.h"

/* As gatewayd sets its sockets: it is not TCP that finds out who is gone. */
#define KEEPALIVE_EVERY GMC_S(60)
#define UNANSWERED_MAX GMC_S(300)
/* Linux, TCP_THIN_LINEAR_TIMEOUTS: who has hardly anything under way is not congestion's cause. */
#define THIN_SEGMENTS 4u
#define THIN_RETRIES 6u
/* gatewayd's connects race (gatewayd/race.h): in their stead one sends its SYN as often. */
#define RACE_TIMEOUT_MORE GMC_S(1)
#define RACE_QUICK 7u
#define REORDERING 3u /* segments that overtake before one counts as lost */

static struct sim_tcp_segment *new_segment(struct sim_tcp_end *end)
{
    struct sim_tcp_segment *segment = sim_alloc(sizeof(*segment));
    memset(segment, 0, offsetof(struct sim_tcp_segment, data));
    segment->sequence = end->next_sequence++;
    if (end->last != NULL)
        end->last->next = segment;
    else
        end->first = segment;
    end->last = segment;
    return segment;
}

void sim_tcp_append_empty(struct sim_tcp_end *end)
{
    new_segment(end);
}

/* Whether more bytes fit into the last segment: it was never sent and is not the handshake's. */
static bool has_room(const struct sim_tcp_end *end)
{
    const struct sim_tcp_segment *segment = end->last;
    return segment != NULL && segment->sequence > 0 && segment->sent_at == 0 &&
           segment->len < end->segment_max;
}

void sim_tcp_append(struct sim_tcp_end *end, struct gmc_bytes bytes)
{
    end->backlog += bytes.len;
    while (bytes.len > 0) {
        struct sim_tcp_segment *segment = has_room(end) ? end->last : new_segment(end);
        size_t room = end->segment_max - (size_t)segment->len;
        size_t part = bytes.len < room ? bytes.len : room;
        memcpy(segment->data + segment->len, bytes.data, part);
        segment->len = (uint16_t)(segment->len + part);
        bytes = gmc_bytes(bytes.data + part, bytes.len - part);
    }
}

const struct sim_tcp_segment *sim_tcp_find(const struct sim_tcp_end *end, uint32_t sequence)
{
    const struct sim_tcp_segment *segment = end->first;
    while (segment != NULL && segment->sequence < sequence)
        segment = segment->next;
    return segment != NULL && segment->sequence == sequence ? segment : NULL;
}

static void arm(struct sim_conn *conn, struct sim_tcp_end *end)
{
    sim_engine_at(conn->tcp->engine, &end->timer,
                  end->first != NULL ? gmc_time_add(conn->tcp->engine->now, end->timeout)
                                     : GMC_TIME_NEVER);
}

static void send_segment(struct sim_conn *conn, struct sim_tcp_end *end,
                         struct sim_tcp_segment *segment)
{
    struct sim_packet *packet =
        sim_net_new_segment(conn->tcp->net, end->host, conn->ends[!end->side].host);
    packet->wire_bytes += segment->len;
    sim_packet_segment(packet)->connection = conn->id;
    sim_packet_segment(packet)->flags = SIM_TCP_DATA | SIM_TCP_ACK;
    sim_packet_segment(packet)->sequence = segment->sequence;
    sim_packet_segment(packet)->ack = end->received;
    segment->resent = segment->sent_at != 0;
    if (segment->resent)
        conn->tcp->retransmissions++;
    /* 0 says never sent; the clock's first nanosecond is the next. */
    segment->sent_at = conn->tcp->engine->now > 0 ? conn->tcp->engine->now : 1;
    segment->flying = true;
    segment->lost = false;
    end->flying++;
    sim_net_send(conn->tcp->net, packet);
}

void sim_tcp_push(struct sim_conn *conn, int side)
{
    struct sim_tcp_end *end = &conn->ends[side];
    for (struct sim_tcp_segment *s = end->first; s != NULL && end->flying < end->window;
         s = s->next) {
        if (s->sequence - end->first->sequence >= SIM_TCP_WINDOW_MAX)
            break;
        if (!s->flying && !s->arrived)
            send_segment(conn, end, s);
    }
    if (!sim_event_is_pending(&end->timer))
        arm(conn, end);
}

/* The listener's first segment is what acknowledges a SYN, each that comes. False: it has arrived.
 */
bool sim_tcp_answer_syn(struct sim_conn *conn)
{
    struct sim_tcp_end *end = &conn->ends[1];
    if (end->first == NULL || end->first->sequence != 0)
        return false;
    if (end->first->flying) {
        end->first->flying = false;
        end->flying--;
    }
    return true; /* who heard the SYN sends what waits */
}

/* ---- acknowledgements ---- */
static void sample(struct sim_conn *conn, struct sim_tcp_end *end,
                   const struct sim_tcp_segment *segment)
{
    if (segment->resent)
        return;
    gmc_duration rtt = gmc_time_sub(conn->tcp->engine->now, segment->sent_at);
    end->srtt = end->srtt == 0 ? rtt : (end->srtt * 7 + rtt) / 8;
    end->timeout = gmc_time_max(end->srtt * 2, SIM_TCP_TIMEOUT_MIN);
}

static void grow(struct sim_tcp_end *end)
{
    if (end->window >= SIM_TCP_WINDOW_MAX)
        return;
    if (end->window < end->threshold) {
        end->window++;
    } else if (++end->grown >= end->window) {
        end->grown = 0;
        end->window++;
    }
}

static void settle(struct sim_conn *conn, struct sim_tcp_end *end, struct sim_tcp_segment *segment)
{
    if (segment->flying) {
        segment->flying = false;
        end->flying--;
        sample(conn, end, segment);
        grow(end);
    }
    segment->arrived = true;
    segment->lost = false;
}

static void halve(struct sim_tcp_end *end, uint32_t sequence)
{
    if (sequence < end->recovery_until)
        return;
    end->recovery_until = end->next_sequence;
    end->threshold = end->window / 2 > 2 ? end->window / 2 : 2;
    end->window = end->threshold;
}

/* A segment that three later ones overtook is lost; one sent again only by time-out. */
static void find_losses(struct sim_tcp_end *end, uint32_t highest)
{
    for (struct sim_tcp_segment *s = end->first; s != NULL; s = s->next) {
        if (s->sequence + REORDERING > highest)
            break;
        if (!s->flying || s->resent)
            continue;
        s->flying = false;
        s->lost = true;
        end->flying--;
        halve(end, s->sequence);
    }
}

void sim_tcp_acked(struct sim_conn *conn, int side, const struct sim_segment *ack)
{
    struct sim_tcp_end *end = &conn->ends[side];
    bool progress = false;
    uint32_t highest = 0;
    while (end->first != NULL && end->first->sequence < ack->ack) {
        struct sim_tcp_segment *segment = end->first;
        settle(conn, end, segment);
        end->backlog -= segment->len;
        end->first = segment->next;
        if (end->first == NULL)
            end->last = NULL;
        free(segment);
        progress = true;
    }
    for (struct sim_tcp_segment *s = end->first; s != NULL && ack->sack != 0; s = s->next) {
        uint32_t bit = s->sequence - ack->ack - 1;
        if (s->sequence <= ack->ack || s->sent_at == 0)
            continue;
        if (bit >= 64)
            break;
        if (ack->sack >> bit & 1) {
            settle(conn, end, s);
            highest = s->sequence;
        }
    }
    find_losses(end, highest);
    if (progress) {
        end->retries = 0;
        arm(conn, end);
    }
}

/* ---- time ---- */
/* Nothing was acknowledged for a while: all that was sent counts as lost. */
void sim_tcp_on_timer(struct sim_event *event, gmc_time now)
{
    struct sim_tcp_end *end = SIM_OWNER(event, struct sim_tcp_end, timer);
    struct sim_conn *conn = sim_tcp_conn_of(end);
    bool is_thin = end->state == SIM_END_OPEN && end->flying < THIN_SEGMENTS;
    if (gmc_time_sub(now, end->heard) > UNANSWERED_MAX) {
        sim_tcp_end_side(conn, end->side, "connection timed out");
        return;
    }
    end->retries++;
    if (end->state == SIM_END_OPENING && end->first != NULL) {
        end->flying -= end->first->flying;
        end->first->flying = false;
        end->timeout = end->retries < RACE_QUICK ? SIM_TCP_TIMEOUT_RACE : RACE_TIMEOUT_MORE;
        sim_tcp_push(conn, end->side);
        arm(conn, end);
        return;
    }
    for (struct sim_tcp_segment *s = end->first; s != NULL; s = s->next) {
        if (s->flying) {
            s->flying = false;
            s->lost = true;
            end->flying--;
        }
    }
    end->threshold = end->window / 2 > 2 ? end->window / 2 : 2;
    end->window = 2;
    if (!is_thin || end->retries > THIN_RETRIES)
        end->timeout = gmc_time_min(end->timeout * 2, SIM_TCP_TIMEOUT_MAX);
    sim_tcp_push(conn, end->side);
    arm(conn, end);
}

void sim_tcp_keep_alive(struct sim_conn *conn, struct sim_tcp_end *end)
{
    end->heard = conn->tcp->engine->now;
    sim_engine_at(conn->tcp->engine, &end->keepalive,
                  gmc_time_add(conn->tcp->engine->now, KEEPALIVE_EVERY));
}

/* An idle connection is asked for a sign of life: an empty segment, which is acknowledged. */
void sim_tcp_on_keepalive(struct sim_event *event, gmc_time now)
{
    struct sim_tcp_end *end = SIM_OWNER(event, struct sim_tcp_end, keepalive);
    struct sim_conn *conn = sim_tcp_conn_of(end);
    if (now - end->heard > UNANSWERED_MAX) {
        sim_tcp_end_side(conn, end->side, "connection timed out");
        return;
    }
    if (end->first == NULL && now - end->heard >= KEEPALIVE_EVERY / 2) {
        sim_tcp_append_empty(end);
        sim_tcp_push(conn, end->side);
    }
    sim_engine_at(conn->tcp->engine, &end->keepalive, gmc_time_add(now, KEEPALIVE_EVERY));
}
