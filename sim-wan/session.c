/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulated TLS sessions; see session.h. */
#include "sim-wan/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"

#define DIAL_TIMEOUT GMC_S(10)
#define BACKOFF_FIRST GMC_MS(200)
#define BACKOFF_MAX GMC_S(5)

/* Sizes of the handshake's flights with ECDSA or Ed25519 chains of two certificates. */
#define CLIENT_HELLO_BYTES 320u
#define SERVER_FLIGHT_BYTES 2400u
#define CLIENT_FLIGHT_BYTES 1900u

enum frame_type {
    FRAME_CLIENT_HELLO = 1,
    FRAME_SERVER_FLIGHT,
    FRAME_CLIENT_FLIGHT,
    FRAME_ALERT,   /* the certificate was refused; reason in words */
    FRAME_CROSSED, /* the other side's own dial goes on instead */
    FRAME_DATAGRAM
};

/* One host's view of one peer. */
struct sim_peering {
    struct sim_sessions *sessions;
    uint32_t host, peer;
    struct sim_conn *conn; /* established */
    gmc_time since;
    uint8_t side;
    bool wanted;
    bool dial_connected;   /* the dial is past the first round trip */
    struct sim_conn *dial; /* under way */
    uint32_t attempts;
    struct sim_event event; /* the dial's limit, or the next dial */
};

static void on_event(struct sim_event *event, gmc_time now);

static uint64_t peering_key(uint32_t host, uint32_t peer)
{
    return (uint64_t)host << 32 | peer;
}

static struct sim_peering *peering_of(struct sim_sessions *sessions, uint32_t host, uint32_t peer)
{
    uint64_t key = peering_key(host, peer);
    struct sim_peering *peering = gmc_map_get(&sessions->peerings, key);
    if (peering != NULL)
        return peering;
    peering = sim_calloc(1, sizeof(*peering));
    peering->sessions = sessions;
    peering->host = host;
    peering->peer = peer;
    sim_event_init(&peering->event, on_event);
    gmc_status status = gmc_map_put(&sessions->peerings, key, peering);
    GMC_ASSERT(status == GMC_OK);
    return peering;
}

/* ---- dialling ---- */
static void dial(struct sim_peering *peering)
{
    struct sim_sessions *sessions = peering->sessions;
    peering->dial_connected = false;
    peering->dial = sim_tcp_connect(&sessions->tcp, peering->host, peering->peer);
    sim_conn_set_user(peering->dial, 0, peering);
    sim_engine_at(sessions->engine, &peering->event,
                  gmc_time_add(sessions->engine->now, DIAL_TIMEOUT));
}

static void dial_later(struct sim_peering *peering)
{
    struct sim_sessions *sessions = peering->sessions;
    gmc_duration wait = BACKOFF_FIRST << (peering->attempts < 8 ? peering->attempts : 8);
    wait = gmc_time_min(wait, BACKOFF_MAX);
    wait = wait / 2 + gmc_prng_below(&sessions->prng, wait / 2);
    peering->attempts++;
    sim_engine_at(sessions->engine, &peering->event, gmc_time_add(sessions->engine->now, wait));
}

static void dial_failed(struct sim_peering *peering, enum gmc_peer_event event, const char *reason)
{
    peering->dial = NULL;
    peering->wanted = peering->wanted && event != GMC_PEER_REFUSED;
    if (peering->wanted)
        dial_later(peering);
    else
        sim_engine_cancel(peering->sessions->engine, &peering->event);
    peering->sessions->sink.down(peering->sessions->sink.ctx, peering->host, peering->peer, event,
                                 reason);
}

static void stop_dial(struct sim_peering *peering)
{
    struct sim_conn *conn = peering->dial;
    peering->dial = NULL;
    sim_engine_cancel(peering->sessions->engine, &peering->event);
    if (conn != NULL)
        sim_conn_close(conn, 0, true);
}

static void on_event(struct sim_event *event, gmc_time now)
{
    struct sim_peering *peering = SIM_OWNER(event, struct sim_peering, event);
    (void)now;
    if (peering->dial != NULL) {
        stop_dial(peering);
        dial_failed(peering, GMC_PEER_UNREACHABLE, "connecting timed out");
    } else if (peering->wanted) {
        dial(peering);
    }
}

/* ---- a session is made ---- */
/* Both sides draw the same from the connection's number, as both export the same from TLS. */
static void make_session(struct sim_peering *peering, struct sim_conn *conn, int side,
                         struct gmc_session *session)
{
    struct sim_sessions *sessions = peering->sessions;
    struct gmc_prng prng;
    uint32_t ids[2];
    uint8_t secrets[2][GMC_KEY_BYTES];
    gmc_prng_fork_nth(&sessions->prng, "session", sim_conn_id(conn), &prng);
    for (int i = 0; i < 2; i++) {
        ids[i] = 1 + (uint32_t)gmc_prng_below(&prng, UINT32_MAX);
        for (size_t j = 0; j < GMC_KEY_BYTES; j += 8)
            gmc_put64(&secrets[i][j], gmc_prng_u64(&prng));
    }
    *session = (struct gmc_session){.peer = GMC_PEER_NONE,
                                    .initiator = side == 0,
                                    .local_id = ids[side],
                                    .remote_id = ids[!side],
                                    .transport = GMC_TRANSPORT_AUTO,
                                    .udp_payload_max =
                                        sim_net_payload_max(sessions->tcp.net, peering->host)};
    memcpy(session->send_secret, secrets[side], GMC_KEY_BYTES);
    memcpy(session->recv_secret, secrets[!side], GMC_KEY_BYTES);
    session->spki = sessions->sink.spki(sessions->sink.ctx, peering->peer);
}

/* Two dials crossed when the session there is was not yet up as the new one was begun. Both sides
 * then keep the lower host's: were the later one to win, each side could keep another. */
static bool loses_crossing(const struct sim_peering *peering, const struct sim_conn *conn, int side)
{
    bool ours_is_lower = peering->host < peering->peer;
    return peering->conn != NULL && peering->side != side &&
           peering->since >= sim_conn_began(conn) && (side == 0) != ours_is_lower;
}

static void establish(struct sim_peering *peering, struct sim_conn *conn, int side)
{
    struct gmc_session session;
    if (peering->dial == conn)
        peering->dial = NULL;
    stop_dial(peering);
    if (loses_crossing(peering, conn, side)) {
        sim_conn_set_user(conn, side, NULL);
        sim_conn_close(conn, side, true);
        return;
    }
    if (peering->conn != NULL)
        sim_conn_close(peering->conn, peering->side, true);
    peering->conn = conn;
    peering->side = (uint8_t)side;
    peering->since = peering->sessions->engine->now;
    peering->wanted = false;
    peering->attempts = 0;
    peering->sessions->established++;
    make_session(peering, conn, side, &session);
    peering->sessions->sink.up(peering->sessions->sink.ctx, peering->host, peering->peer, &session);
}

/* ---- the handshake ---- */
static void send_flight(struct sim_conn *conn, int side, enum frame_type type, size_t len)
{
    static const uint8_t zeros[SERVER_FLIGHT_BYTES];
    GMC_ASSERT(len <= sizeof(zeros));
    (void)sim_conn_send(conn, side, (uint8_t)type, gmc_bytes(zeros, len));
}

static void on_connected(void *ctx, struct sim_conn *conn, int side)
{
    (void)ctx;
    if (side != 0)
        return;
    struct sim_peering *peering = sim_conn_user(conn, 0);
    peering->dial_connected = true;
    send_flight(conn, 0, FRAME_CLIENT_HELLO, CLIENT_HELLO_BYTES);
}

static void on_client_hello(struct sim_sessions *sessions, struct sim_conn *conn)
{
    struct sim_peering *peering =
        peering_of(sessions, sim_conn_host(conn, 1), sim_conn_host(conn, 0));
    if (peering->dial != NULL && peering->dial_connected && peering->host < peering->peer) {
        send_flight(conn, 1, FRAME_CROSSED, 0);
        return;
    }
    send_flight(conn, 1, FRAME_SERVER_FLIGHT, SERVER_FLIGHT_BYTES);
}

static void refuse(struct sim_conn *conn, int side, const char *reason)
{
    (void)sim_conn_send(conn, side, FRAME_ALERT, gmc_bytes_of_text(reason));
}

static void on_server_flight(struct sim_sessions *sessions, struct sim_conn *conn)
{
    struct sim_peering *peering = sim_conn_user(conn, 0);
    const char *reason = sessions->sink.refusal(sessions->sink.ctx, peering->host, peering->peer);
    if (peering->dial != conn)
        return;
    if (reason != NULL) {
        sim_conn_close(conn, 0, true);
        dial_failed(peering, GMC_PEER_REFUSED, reason);
        return;
    }
    send_flight(conn, 0, FRAME_CLIENT_FLIGHT, CLIENT_FLIGHT_BYTES);
    establish(peering, conn, 0);
}

static void on_client_flight(struct sim_sessions *sessions, struct sim_conn *conn)
{
    struct sim_peering *peering =
        peering_of(sessions, sim_conn_host(conn, 1), sim_conn_host(conn, 0));
    const char *reason = sessions->sink.refusal(sessions->sink.ctx, peering->host, peering->peer);
    if (reason != NULL) {
        refuse(conn, 1, reason); /* the other side closes when it has read this */
        return;
    }
    sim_conn_set_user(conn, 1, peering);
    establish(peering, conn, 1);
}

static void on_alert(struct sim_conn *conn, struct gmc_bytes bytes)
{
    struct sim_peering *peering = sim_conn_user(conn, 0);
    char reason[128];
    size_t len = bytes.len < sizeof(reason) - 1 ? bytes.len : sizeof(reason) - 1;
    memcpy(reason, bytes.data, len);
    reason[len] = '\0';
    if (peering->conn == conn)
        peering->conn = NULL;
    else if (peering->dial != conn)
        return; /* given up already */
    if (peering->dial == conn)
        peering->dial = NULL;
    sim_conn_close(conn, 0, true);
    stop_dial(peering);
    dial_failed(peering, GMC_PEER_REFUSED, reason);
}

/* The other side's dial goes on; should it fail too, this one comes again. */
static void on_crossed(struct sim_conn *conn)
{
    struct sim_peering *peering = sim_conn_user(conn, 0);
    if (peering->dial != conn)
        return;
    stop_dial(peering);
    dial_later(peering);
}

static void on_datagram(struct sim_sessions *sessions, struct sim_conn *conn, int side,
                        struct gmc_bytes bytes)
{
    struct sim_peering *peering = sim_conn_user(conn, side);
    if (peering != NULL && peering->conn == conn)
        sessions->sink.datagram(sessions->sink.ctx, peering->host, peering->peer, bytes);
}

static void on_frame(void *ctx, struct sim_conn *conn, int side, uint8_t type,
                     struct gmc_bytes bytes)
{
    struct sim_sessions *sessions = ctx;
    if (side == 1 && !sessions->sink.is_listening(sessions->sink.ctx, sim_conn_host(conn, 1))) {
        sim_conn_close(conn, side, true); /* a handshake that its gateway did not live to see */
        return;
    }
    switch ((enum frame_type)type) {
    case FRAME_CLIENT_HELLO:
        on_client_hello(sessions, conn);
        break;
    case FRAME_SERVER_FLIGHT:
        on_server_flight(sessions, conn);
        break;
    case FRAME_CLIENT_FLIGHT:
        on_client_flight(sessions, conn);
        break;
    case FRAME_ALERT:
        on_alert(conn, bytes);
        break;
    case FRAME_CROSSED:
        on_crossed(conn);
        break;
    case FRAME_DATAGRAM:
        on_datagram(sessions, conn, side, bytes);
        break;
    }
}

static void on_ended(void *ctx, struct sim_conn *conn, int side, const char *reason)
{
    struct sim_sessions *sessions = ctx;
    struct sim_peering *peering = sim_conn_user(conn, side);
    if (peering == NULL)
        return;
    if (peering->dial == conn) {
        dial_failed(peering, GMC_PEER_UNREACHABLE, reason);
    } else if (peering->conn == conn) {
        peering->conn = NULL;
        sessions->sink.down(sessions->sink.ctx, peering->host, peering->peer, GMC_PEER_SESSION_DOWN,
                            reason);
    }
}

/* ---- what hosts ask for ---- */
static bool tcp_is_powered(void *ctx, uint32_t host)
{
    struct sim_sessions *sessions = ctx;
    return sessions->sink.is_powered(sessions->sink.ctx, host);
}

static bool tcp_is_listening(void *ctx, uint32_t host)
{
    struct sim_sessions *sessions = ctx;
    return sessions->sink.is_listening(sessions->sink.ctx, host);
}

void sim_sessions_init(struct sim_sessions *sessions, struct sim_engine *engine,
                       struct sim_net *net, const struct sim_session_sink *sink,
                       const struct gmc_prng *prng)
{
    *sessions = (struct sim_sessions){.engine = engine, .sink = *sink, .prng = *prng};
    gmc_map_init(&sessions->peerings, 0);
    sim_tcp_init(&sessions->tcp, engine, net,
                 &(struct sim_tcp_sink){.ctx = sessions,
                                        .is_powered = tcp_is_powered,
                                        .is_listening = tcp_is_listening,
                                        .connected = on_connected,
                                        .frame = on_frame,
                                        .ended = on_ended});
}

void sim_sessions_fini(struct sim_sessions *sessions)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;
    sim_tcp_fini(&sessions->tcp);
    while (gmc_map_next(&sessions->peerings, &cursor, &key, &value)) {
        struct sim_peering *peering = value;
        sim_engine_cancel(sessions->engine, &peering->event);
        free(peering);
    }
    gmc_map_fini(&sessions->peerings);
}

void sim_session_want(struct sim_sessions *sessions, uint32_t host, uint32_t peer)
{
    struct sim_peering *peering = peering_of(sessions, host, peer);
    if (peering->wanted || peering->conn != NULL)
        return;
    peering->wanted = true;
    peering->attempts = 0;
    if (peering->dial == NULL)
        dial(peering);
}

static void drop(struct sim_peering *peering, bool tell)
{
    struct sim_conn *conn = peering->conn, *under_way = peering->dial;
    peering->conn = peering->dial = NULL;
    peering->wanted = false;
    peering->attempts = 0;
    sim_engine_cancel(peering->sessions->engine, &peering->event);
    if (conn != NULL)
        sim_conn_close(conn, peering->side, tell);
    if (under_way != NULL)
        sim_conn_close(under_way, 0, tell);
}

void sim_session_end(struct sim_sessions *sessions, uint32_t host, uint32_t peer)
{
    drop(peering_of(sessions, host, peer), true);
}

bool sim_session_is_up(const struct sim_sessions *sessions, uint32_t host, uint32_t peer)
{
    const struct sim_peering *peering = gmc_map_get(&sessions->peerings, peering_key(host, peer));
    return peering != NULL && peering->conn != NULL;
}

bool sim_session_send(struct sim_sessions *sessions, uint32_t host, uint32_t peer,
                      const struct gmc_bytes *pieces, size_t piece_count)
{
    uint8_t bytes[SIM_TCP_FRAME_MAX];
    size_t len = 0;
    struct sim_peering *peering = peering_of(sessions, host, peer);
    if (peering->conn == NULL)
        return false;
    for (size_t i = 0; i < piece_count; i++) {
        GMC_ASSERT(len + pieces[i].len <= sizeof(bytes));
        if (pieces[i].len > 0)
            memcpy(bytes + len, pieces[i].data, pieces[i].len);
        len += pieces[i].len;
    }
    bool sent = sim_conn_send(peering->conn, peering->side, FRAME_DATAGRAM, gmc_bytes(bytes, len));
    sessions->refused_backlog += !sent;
    return sent;
}

void sim_session_break(struct sim_sessions *sessions, uint32_t host, uint32_t peer)
{
    struct sim_peering *peering = peering_of(sessions, host, peer);
    struct sim_conn *conn = peering->conn;
    if (conn == NULL)
        return;
    peering->conn = NULL;
    sim_conn_close(conn, peering->side, true);
    sessions->sink.down(sessions->sink.ctx, host, peer, GMC_PEER_SESSION_DOWN, "connection reset");
}

/* All connections in which the host has a part. In the order of the peers' numbers: the map's own
 * would do too, being a function of the keys, but not across versions of it. */
void sim_sessions_crash(struct sim_sessions *sessions, uint32_t host, bool tell)
{
    for (uint32_t peer = 0; peer < sessions->tcp.net->host_count; peer++) {
        struct sim_peering *peering = gmc_map_get(&sessions->peerings, peering_key(host, peer));
        if (peering != NULL)
            drop(peering, tell);
    }
}
