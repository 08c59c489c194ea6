/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulated TCP; see tcp.h. Sending and loss recovery are in tcp_send.c. */
#include "sim-wan/tcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "sim-wan/tcp_internal.h"

void sim_tcp_init(struct sim_tcp *tcp, struct sim_engine *engine, struct sim_net *net,
                  const struct sim_tcp_sink *sink)
{
    *tcp = (struct sim_tcp){.engine = engine, .net = net, .sink = *sink, .next_id = 1};
    gmc_map_init(&tcp->conns, 0);
}

/* What both sides announce, and what path MTU discovery (RFC 1191) would leave of it. */
static uint16_t segment_max(struct sim_net *net, uint32_t from, uint32_t to)
{
    uint32_t mtu = sim_net_path_mtu(net, from, to);
    if (mtu >= SIM_TCP_SEGMENT_BYTES + SIM_TCP_OVERHEAD_BYTES)
        return SIM_TCP_SEGMENT_BYTES;
    return mtu > SIM_TCP_OVERHEAD_BYTES ? (uint16_t)(mtu - SIM_TCP_OVERHEAD_BYTES) : 1;
}

static void end_init(struct sim_tcp_end *end, uint32_t host, gmc_time now)
{
    end->host = host;
    end->heard = now;
    end->window = SIM_TCP_WINDOW_FIRST;
    end->threshold = SIM_TCP_WINDOW_MAX;
    end->timeout = SIM_TCP_TIMEOUT_FIRST;
    sim_event_init(&end->timer, sim_tcp_on_timer);
    sim_event_init(&end->keepalive, sim_tcp_on_keepalive);
}

struct sim_conn *sim_tcp_connect(struct sim_tcp *tcp, uint32_t from, uint32_t to)
{
    struct sim_conn *conn = sim_calloc(1, sizeof(*conn));
    conn->tcp = tcp;
    conn->id = tcp->next_id++;
    conn->began = tcp->engine->now;
    end_init(&conn->ends[0], from, conn->began);
    end_init(&conn->ends[1], to, conn->began);
    conn->ends[0].segment_max = segment_max(tcp->net, from, to);
    conn->ends[1].segment_max = segment_max(tcp->net, to, from);
    conn->ends[0].side = 0;
    conn->ends[1].side = 1;
    conn->ends[0].state = SIM_END_OPENING;
    conn->ends[0].timeout = SIM_TCP_TIMEOUT_RACE;
    gmc_status status = gmc_map_put(&tcp->conns, conn->id, conn);
    GMC_ASSERT(status == GMC_OK);
    sim_tcp_append_empty(&conn->ends[0]); /* the SYN */
    sim_tcp_push(conn, 0);
    return conn;
}

static void free_end(struct sim_conn *conn, struct sim_tcp_end *end)
{
    sim_engine_cancel(conn->tcp->engine, &end->timer);
    sim_engine_cancel(conn->tcp->engine, &end->keepalive);
    while (end->first != NULL) {
        struct sim_tcp_segment *next = end->first->next;
        free(end->first);
        end->first = next;
    }
    end->last = NULL;
    free(end->frame);
    end->frame = NULL;
    end->frame_len = end->frame_capacity = 0;
    end->backlog = 0;
    end->flying = 0;
}

static void free_conn(struct sim_conn *conn)
{
    gmc_map_remove(&conn->tcp->conns, conn->id);
    free_end(conn, &conn->ends[0]);
    free_end(conn, &conn->ends[1]);
    free(conn);
}

/* Frees a connection of which neither side is left, unless one of its functions is running. */
static void release(struct sim_conn *conn)
{
    bool gone = conn->ends[0].state == SIM_END_GONE && conn->ends[1].state != SIM_END_OPEN;
    if (gone && conn->busy == 0)
        free_conn(conn);
}

void sim_tcp_fini(struct sim_tcp *tcp)
{
    size_t cursor = 0;
    uint64_t id;
    void *conn;
    while (gmc_map_next(&tcp->conns, &cursor, &id, &conn)) {
        free_end(conn, &((struct sim_conn *)conn)->ends[0]);
        free_end(conn, &((struct sim_conn *)conn)->ends[1]);
        free(conn);
    }
    gmc_map_fini(&tcp->conns);
}

/* ---- the end of a side ---- */
static void send_reset(struct sim_tcp *tcp, uint64_t id, uint32_t from, uint32_t to)
{
    struct sim_packet *packet = sim_net_new_segment(tcp->net, from, to);
    sim_packet_segment(packet)->connection = id;
    sim_packet_segment(packet)->flags = SIM_TCP_RESET;
    sim_net_send(tcp->net, packet);
}

void sim_conn_close(struct sim_conn *conn, int side, bool tell)
{
    struct sim_tcp_end *end = &conn->ends[side];
    if (tell)
        send_reset(conn->tcp, conn->id, end->host, conn->ends[!side].host);
    end->state = SIM_END_GONE;
    free_end(conn, end);
    release(conn);
}

void sim_tcp_end_side(struct sim_conn *conn, int side, const char *reason)
{
    struct sim_tcp_end *end = &conn->ends[side];
    if (end->state == SIM_END_GONE || end->state == SIM_END_LISTENING)
        return;
    end->state = SIM_END_GONE;
    free_end(conn, end);
    conn->busy++;
    conn->tcp->sink.ended(conn->tcp->sink.ctx, conn, side, reason);
    conn->busy--;
    release(conn);
}

/* ---- frames ---- */
bool sim_conn_send(struct sim_conn *conn, int side, uint8_t type, struct gmc_bytes bytes)
{
    static const uint8_t overhead[SIM_TCP_FRAME_HEAD];
    struct sim_tcp_end *end = &conn->ends[side];
    GMC_ASSERT(end->state == SIM_END_OPEN && bytes.len <= SIM_TCP_FRAME_MAX);
    if (end->backlog + bytes.len > SIM_TCP_BACKLOG_MAX)
        return false;
    uint8_t head[SIM_TCP_FRAME_HEAD];
    memcpy(head, overhead, sizeof(head));
    head[0] = type;
    gmc_put32(head + 1, (uint32_t)bytes.len);
    sim_tcp_append(end, gmc_bytes(head, sizeof(head)));
    sim_tcp_append(end, bytes);
    sim_tcp_push(conn, side);
    return true;
}

/* Gives whole frames to the sink; the sink may close the side in between. */
static void take_frames(struct sim_conn *conn, int side)
{
    struct sim_tcp_end *end = &conn->ends[side];
    size_t at = 0;
    while (end->state == SIM_END_OPEN && end->frame_len - at >= SIM_TCP_FRAME_HEAD) {
        size_t len = gmc_get32(end->frame + at + 1);
        if (end->frame_len - at - SIM_TCP_FRAME_HEAD < len)
            break;
        conn->tcp->sink.frame(conn->tcp->sink.ctx, conn, side, end->frame[at],
                              gmc_bytes(end->frame + at + SIM_TCP_FRAME_HEAD, len));
        at += SIM_TCP_FRAME_HEAD + len;
    }
    if (end->state != SIM_END_OPEN || at == 0)
        return;
    end->frame_len -= at;
    memmove(end->frame, end->frame + at, end->frame_len);
    if (end->frame_len > 0)
        return;
    free(end->frame); /* of many connections most are idle */
    end->frame = NULL;
    end->frame_capacity = 0;
}

static void take_bytes(struct sim_tcp_end *end, const uint8_t *data, size_t len)
{
    if (end->frame_len + len > end->frame_capacity) {
        end->frame_capacity = (end->frame_len + len) * 2;
        end->frame = sim_grow(end->frame, end->frame_capacity, 1);
    }
    memcpy(end->frame + end->frame_len, data, len);
    end->frame_len += len;
}

/* ---- segments in ---- */
/* The first segment of the other side: SYN at the listener, its answer at the connector. */
static void opened(struct sim_conn *conn, int side)
{
    struct sim_tcp_end *end = &conn->ends[side];
    bool was_opening = end->state != SIM_END_OPEN;
    if (end->state == SIM_END_LISTENING)
        sim_tcp_append_empty(end); /* the SYN's answer */
    end->state = SIM_END_OPEN;
    if (!was_opening)
        return;
    if (end->srtt == 0)
        end->timeout = SIM_TCP_TIMEOUT_FIRST;
    sim_tcp_keep_alive(conn, end);
    conn->tcp->sink.connected(conn->tcp->sink.ctx, conn, side);
}

/* Takes what is next in order from the sender's list. */
static void advance(struct sim_conn *conn, int side)
{
    struct sim_tcp_end *end = &conn->ends[side];
    while (end->state != SIM_END_GONE && sim_tcp_has_arrived(end, end->received)) {
        const struct sim_tcp_segment *segment = sim_tcp_find(&conn->ends[!side], end->received);
        if (segment == NULL)
            return; /* its sender is gone, and a reset is on the way */
        sim_tcp_clear_arrived(end, end->received);
        bool first = end->received++ == 0;
        if (first)
            opened(conn, side);
        else if (segment->len > 0)
            take_bytes(end, segment->data, segment->len);
    }
    if (end->state == SIM_END_OPEN)
        take_frames(conn, side);
}

static void acknowledge(struct sim_conn *conn, int side)
{
    struct sim_tcp_end *end = &conn->ends[side];
    struct sim_packet *packet =
        sim_net_new_segment(conn->tcp->net, end->host, conn->ends[!side].host);
    sim_packet_segment(packet)->connection = conn->id;
    sim_packet_segment(packet)->flags = SIM_TCP_ACK;
    sim_packet_segment(packet)->ack = end->received;
    for (uint32_t i = 0; i < 64; i++)
        if (sim_tcp_has_arrived(end, end->received + 1 + i))
            sim_packet_segment(packet)->sack |= UINT64_C(1) << i;
    sim_net_send(conn->tcp->net, packet);
}

static void data_arrived(struct sim_conn *conn, int side, const struct sim_segment *segment)
{
    struct sim_tcp_end *end = &conn->ends[side];
    uint32_t ahead = segment->sequence - end->received;
    if (segment->sequence >= end->received && ahead < SIM_TCP_WINDOW_MAX)
        sim_tcp_set_arrived(end, segment->sequence);
    advance(conn, side);
    if (side == 1 && segment->sequence == 0 && sim_tcp_answer_syn(conn))
        return;
    if (end->state == SIM_END_OPEN)
        acknowledge(conn, side);
}

static void segment_arrived(struct sim_conn *conn, int side, const struct sim_segment *segment)
{
    struct sim_tcp *tcp = conn->tcp;
    struct sim_tcp_end *end = &conn->ends[side];
    if (segment->flags & SIM_TCP_RESET) {
        sim_tcp_end_side(conn, side,
                         end->state == SIM_END_OPENING ? "connection refused"
                                                       : "connection reset by the peer");
        return;
    }
    bool listens =
        end->state == SIM_END_LISTENING && tcp->sink.is_listening(tcp->sink.ctx, end->host);
    if (end->state == SIM_END_GONE || (end->state == SIM_END_LISTENING && !listens)) {
        send_reset(tcp, conn->id, end->host, conn->ends[!side].host);
        return;
    }
    end->heard = tcp->engine->now;
    if (segment->flags & SIM_TCP_ACK)
        sim_tcp_acked(conn, side, segment);
    if (segment->flags & SIM_TCP_DATA)
        data_arrived(conn, side, segment);
    if (end->state == SIM_END_OPEN || end->state == SIM_END_OPENING)
        sim_tcp_push(conn, side);
}

void sim_tcp_arrived(struct sim_tcp *tcp, uint32_t host, const struct sim_packet *packet)
{
    if (!tcp->sink.is_powered(tcp->sink.ctx, host))
        return;
    struct sim_conn *conn = gmc_map_get(&tcp->conns, sim_packet_segment_of(packet)->connection);
    if (conn == NULL)
        return; /* gone on both sides */
    conn->busy++;
    segment_arrived(conn, conn->ends[0].host == host ? 0 : 1, sim_packet_segment_of(packet));
    /* It was not freed in between, because it was busy. */
    conn->busy--; /* NOLINT(clang-analyzer-unix.Malloc) */
    release(conn);
}

/* ---- small answers ---- */
uint32_t sim_conn_host(const struct sim_conn *conn, int side)
{
    return conn->ends[side].host;
}

uint64_t sim_conn_id(const struct sim_conn *conn)
{
    return conn->id;
}

gmc_time sim_conn_began(const struct sim_conn *conn)
{
    return conn->began;
}

void sim_conn_set_user(struct sim_conn *conn, int side, void *user)
{
    conn->ends[side].user = user;
}

void *sim_conn_user(const struct sim_conn *conn, int side)
{
    return conn->ends[side].user;
}
