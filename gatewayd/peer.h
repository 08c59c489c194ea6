/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with other gateways: one TLS connection for each neighbour, dialled on demand or
 * accepted, proved by certificate, and kept.
 *
 * Who survives when both sides dial at once: the connection dialled by the smaller domain name.
 * The side that accepted a connection decides, when the dialler's HELLO comes:
 *   1. it dials the same neighbour itself, has sent its HELLO there, and its own name is the
 *      smaller one: the accepted connection is refused (EXISTS);
 *   2. it dials too, but 1 does not hold: its own attempt is given up, the accepted one is used;
 *   3. a session that it dialled itself is younger than 3 s and its own name is the smaller one:
 *      refused, the HELLO crossed with the end of the other's attempt;
 *   4. else a session that is there is replaced: whoever dials has lost it.
 */
#ifndef GWD_PEER_H
#define GWD_PEER_H

#include <event2/event.h>

#include "core/io.h"
#include "gatewayd/addr.h"
#include "gatewayd/conf.h"
#include "gatewayd/frame.h"
#include "gatewayd/log.h"
#include "gatewayd/nodes.h"

struct gwd_peers;

/* What the sessions tell the composition; none of it may call back into gwd_peers, but for what is
 * said here. */
struct gwd_peers_owner {
    void *ctx;
    gmc_peer (*number)(void *ctx, const char *domain);
    void (*change)(void *ctx, const struct gmc_peer_change *change);
    void (*datagram)(void *ctx, const struct gmc_dgram_in *in);
    /* A node has just enrolled. */
    void (*enrolled)(void *ctx);
    /* FABRIC or WHERE came from a neighbour; gwd_peers_tell may be called. */
    void (*fabric)(void *ctx, const char *from, enum gwd_frame_type type, struct gmc_bytes body);
};

struct gwd_peers_config {
    struct event_base *base;
    struct gwd_log *log;
    const struct gwd_conf *conf;   /* borrowed until the next gwd_peers_configure */
    struct gwd_nodes *nodes;       /* that may enrol; NULL at a node */
    const struct gwd_token *token; /* of this node, copied; NULL: none */
    struct gwd_peers_owner owner;
    struct gwd_sockaddr listen; /* TCP; bound by gwd_peers_new */
    uint16_t udp_port;          /* told to neighbours; 0: that of listen */
};

/* Binds and loads certificates; NULL with a reason. */
struct gwd_peers *gwd_peers_new(const struct gwd_peers_config *config, char *reason, size_t size);
void gwd_peers_free(struct gwd_peers *peers);
/* Listens; dials the neighbours that only we can dial. */
bool gwd_peers_start(struct gwd_peers *peers);
uint16_t gwd_peers_port(const struct gwd_peers *peers);
/* A new configuration: certificates are read again (on failure nothing changes: false with a
 * reason), sessions with removed or revoked peers end, the others go on. */
bool gwd_peers_configure(struct gwd_peers *peers, const struct gwd_conf *conf, char *reason,
                         size_t size);
/* Nodes that are not enrolled any more lose their sessions; who enrolled lately may dial. */
void gwd_peers_take_nodes(struct gwd_peers *peers);
/* Whether this neighbour has a session. */
bool gwd_peers_has_session(const struct gwd_peers *peers, const char *name);
/* The session with a neighbour, and what the configuration says of it; strings are borrowed until
 * the next input. False: it is no neighbour. */
struct gwd_session_state {
    bool configured, up, dialled;
    bool dials;     /* an attempt is under way ... */
    bool connected; /* ... whose TCP is there */
    const char *alias, *address;
    enum gmc_transport transport;
    enum gwd_connect connect;
};
bool gwd_peers_session(const struct gwd_peers *peers, const char *name,
                       struct gwd_session_state *out);
/* SHA-256 of the own public key, for tokens. */
void gwd_peers_key_hash(const struct gwd_peers *peers, uint8_t out[GWD_KEY_HASH_BYTES]);
/* Ends sessions whose certificate is no longer good (expired by now). To be called now and then. */
void gwd_peers_recheck(struct gwd_peers *peers);
/* The own private key, borrowed until the next gwd_peers_configure. */
struct evp_pkey_st *gwd_peers_key(const struct gwd_peers *peers);
int64_t gwd_peers_certificate_seconds_left(const struct gwd_peers *peers);
/* Says BYE to all and accepts no more. */
void gwd_peers_stop(struct gwd_peers *peers);

/* A session is wanted: dial, and keep trying until it is up. */
void gwd_peers_connect(struct gwd_peers *peers, gmc_peer peer);
/* Ends the session; the composition knows already. */
void gwd_peers_reject(struct gwd_peers *peers, gmc_peer peer);
/* A link datagram inside the TLS connection; false when it was dropped because there is no
 * session or too much waits already. */
bool gwd_peers_send(struct gwd_peers *peers, const struct gmc_dgram_out *out);
/* Writes a whole frame into the session with this neighbour, if there is one and not too much waits
 * in it. */
void gwd_peers_tell(struct gwd_peers *peers, const char *name, struct gmc_bytes frame);
/* Where its UDP is: the session's address, else the configured one; false when unknown. */
bool gwd_peers_address(const struct gwd_peers *peers, gmc_peer peer, struct gmc_addr *address);

struct gwd_peers_stats {
    uint64_t accepted, dialled, refused, sessions, stream_dropped, timeouts;
    uint64_t enrolled, enrolments_refused;
};
const struct gwd_peers_stats *gwd_peers_stats(const struct gwd_peers *peers);

#endif
