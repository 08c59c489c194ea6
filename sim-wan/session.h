/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions between gateways, as their shells make them: a dial, a mutual TLS 1.3 handshake of real
 * packets (two round trips, and more when packets are lost), the keys that both sides export, dials
 * again with jittered back-off, link datagrams framed in the connection where UDP is blocked.
 *
 * When two dial each other at once, the dial of the lower host survives. A new session takes the
 * place of an older one.
 */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include "base/prng.h"
#include "core/io.h"
#include "sim-wan/tcp.h"

struct sim_session_sink {
    void *ctx;
    bool (*is_powered)(void *ctx, uint32_t host);
    bool (*is_listening)(void *ctx, uint32_t host); /* the gateway runs and takes connections */
    /* Why host refuses peer's certificate; NULL: it does not. */
    const char *(*refusal)(void *ctx, uint32_t host, uint32_t peer);
    /* The host's public key, to be handed to its peers. */
    struct gmc_bytes (*spki)(void *ctx, uint32_t host);
    /* `session` has no peer number: the host gives it. */
    void (*up)(void *ctx, uint32_t host, uint32_t peer, const struct gmc_session *session);
    void (*down)(void *ctx, uint32_t host, uint32_t peer, enum gmc_peer_event event,
                 const char *reason);
    void (*datagram)(void *ctx, uint32_t host, uint32_t peer, struct gmc_bytes bytes);
};

struct sim_sessions {
    struct sim_engine *engine;
    struct sim_tcp tcp;
    struct sim_session_sink sink;
    struct gmc_prng prng;
    struct gmc_map peerings; /* (host, peer) -> struct sim_peering */
    uint64_t established, refused_backlog;
};

void sim_sessions_init(struct sim_sessions *sessions, struct sim_engine *engine,
                       struct sim_net *net, const struct sim_session_sink *sink,
                       const struct gmc_prng *prng);
void sim_sessions_fini(struct sim_sessions *sessions);

/* Keeps dialling until the session is up; nothing to do when it is. */
void sim_session_want(struct sim_sessions *sessions, uint32_t host, uint32_t peer);
/* Ends the session from this side, and any dial. */
void sim_session_end(struct sim_sessions *sessions, uint32_t host, uint32_t peer);
/* A link datagram within the connection; false when there is none, or its backlog is full. */
bool sim_session_send(struct sim_sessions *sessions, uint32_t host, uint32_t peer,
                      const struct gmc_bytes *pieces, size_t piece_count);
bool sim_session_is_up(const struct sim_sessions *sessions, uint32_t host, uint32_t peer);
/* The connection breaks; both sides hear of it, this one at once. */
void sim_session_break(struct sim_sessions *sessions, uint32_t host, uint32_t peer);
/* The host's process ends. `tell`: its system closes the connections, as after a kill; otherwise
 * peers hear nothing until they ask a restarted system. */
void sim_sessions_crash(struct sim_sessions *sessions, uint32_t host, bool tell);

#endif
