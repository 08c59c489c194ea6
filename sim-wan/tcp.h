/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP connections between hosts, as far as sessions need them: a handshake, frames delivered in
 * order, retransmission with selective acknowledgements and back-off, a congestion window, resets.
 * Segments are real packets on the wires and are lost like all others.
 *
 * Source  RFC 9293; RFC 6298 (time-outs: 1 s at first, 200 ms at least, doubled); RFC 5681 (slow
 *         start from 10 segments, halving); a segment counts as lost when three later ones arrived
 * Segments are as large as the path takes when the connection begins.
 * Bounds  backlog of SIM_TCP_BACKLOG_MAX bytes in each direction, then frames are refused
 *
 * Both ends live in one struct: a segment's bytes stay with the sender until acknowledged, and the
 * packet on the wire carries only its number.
 */
#ifndef SIM_TCP_H
#define SIM_TCP_H

#include "base/bytes.h"
#include "base/map.h"
#include "sim-wan/net.h"

#define SIM_TCP_BACKLOG_MAX (1u << 20)
#define SIM_TCP_FRAME_MAX 16384u

struct sim_conn;

struct sim_tcp_sink {
    void *ctx;
    /* Whether the host's operating system runs, and whether somebody listens there. */
    bool (*is_powered)(void *ctx, uint32_t host);
    bool (*is_listening)(void *ctx, uint32_t host);
    /* The handshake is done at this side (0: the one that connected). */
    void (*connected)(void *ctx, struct sim_conn *conn, int side);
    /* A frame arrived at this side. */
    void (*frame)(void *ctx, struct sim_conn *conn, int side, uint8_t type, struct gmc_bytes bytes);
    /* This side ended, not by its own close. The connection is gone for it. */
    void (*ended)(void *ctx, struct sim_conn *conn, int side, const char *reason);
};

struct sim_tcp {
    struct sim_engine *engine;
    struct sim_net *net;
    struct sim_tcp_sink sink;
    struct gmc_map conns; /* id -> struct sim_conn */
    uint64_t next_id;
    uint64_t retransmissions;
};

/* Borrows engine and net for life. */
void sim_tcp_init(struct sim_tcp *tcp, struct sim_engine *engine, struct sim_net *net,
                  const struct sim_tcp_sink *sink);
void sim_tcp_fini(struct sim_tcp *tcp);

/* Connects; `connected` or `ended` tells. The connection is valid for a side until it ended or
 * was closed there. */
struct sim_conn *sim_tcp_connect(struct sim_tcp *tcp, uint32_t from, uint32_t to);
/* False when the backlog is full: nothing was taken. */
bool sim_conn_send(struct sim_conn *conn, int side, uint8_t type, struct gmc_bytes bytes);
/* Ends this side. `tell` sends a reset, as the end of a process or an orderly close does; without
 * it the other side finds out later. */
void sim_conn_close(struct sim_conn *conn, int side, bool tell);

uint32_t sim_conn_host(const struct sim_conn *conn, int side);
uint64_t sim_conn_id(const struct sim_conn *conn);
gmc_time sim_conn_began(const struct sim_conn *conn); /* when it was dialled */
/* For the layer above: one pointer per side. */
void sim_conn_set_user(struct sim_conn *conn, int side, void *user);
void *sim_conn_user(const struct sim_conn *conn, int side);

/* A segment came off the wires at a host. */
void sim_tcp_arrived(struct sim_tcp *tcp, uint32_t host, const struct sim_packet *packet);

#endif
