/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the sessions share: neighbours and their connections. */
#ifndef GWD_PEER_INT_H
#define GWD_PEER_INT_H

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>

#include "base/list.h"
#include "gatewayd/frame.h"
#include "gatewayd/peer.h"
#include "gatewayd/race.h"
#include "gatewayd/resolve.h"
#include "gatewayd/tls.h"

enum gwd_conn_state {
    GWD_CONN_SHAKING, /* TCP or TLS is not there yet */
    GWD_CONN_HELLO,   /* TLS is up; the other side's HELLO is waited for */
    GWD_CONN_UP,
    GWD_CONN_CLOSING /* BYE is on its way out */
};

struct gwd_conn {
    struct gmc_list node; /* in peers->conns, oldest first */
    struct gwd_peers *peers;
    struct gwd_neighbour *neighbour; /* NULL: accepted, and not known yet */
    enum gwd_conn_state state;
    bool dialled;
    bool hello_sent;
    int fd;                /* before bev is there */
    struct gwd_race *race; /* dialled, and not connected yet */
    struct bufferevent *bev;
    SSL *ssl; /* of bev */
    struct event *timer;
    struct gwd_tls_verdict verdict;
    struct gwd_sockaddr remote;
    char remote_text[GWD_ADDR_TEXT_MAX];
    uint32_t local_id;
    struct gwd_hello hello; /* of the other side */
    bool has_secret;        /* it sent that of a token */
    bool said_stopped;      /* the other side ended it because it is being stopped */
    uint8_t secret[GWD_SECRET_BYTES];
    uint64_t up_at; /* ns, when UP */
};

struct gwd_neighbour {
    struct gwd_peers *peers;
    gmc_peer number;
    char name[GMC_DOMAIN_NAME_MAX + 1];
    const struct gwd_conf_peer *conf; /* NULL: no longer configured */
    bool wanted;
    bool refused; /* no dialling before it is wanted again or the configuration changes */
    struct gwd_conn *session; /* UP */
    struct gwd_conn *dial;    /* on its way */
    struct event *retry;
    unsigned failures; /* in a row */
    bool waiting_told; /* that we wait for it to dial */
    /* resolved addresses, the next one to try */
    struct gwd_sockaddr addresses[GWD_RESOLVE_MAX];
    size_t address_count, next_address;
    bool resolving;
    uint64_t question;
    struct gmc_addr udp; /* len 0 unknown */
};

struct gwd_peers {
    struct gwd_peers_config config;
    struct gwd_tls *tls;
    struct gwd_resolver *resolver;
    struct evconnlistener *listener;
    int listen_fd;
    uint16_t port;
    struct gwd_neighbour **list; /* in order of configuration, then history */
    size_t count;
    struct gmc_list conns;
    size_t pending; /* accepted and not UP */
    uint64_t questions;
    bool stopping;
    bool has_token; /* it was not let in yet since the start */
    struct gwd_token token;
    struct gwd_peers_stats stats;
};

/* ---- peer.c ---- */
struct gwd_neighbour *gwd_neighbour_find(const struct gwd_peers *peers, const char *name);
uint64_t gwd_peers_now(void); /* monotonic ns, for ages */
uint32_t gwd_peers_random(uint32_t below);
void gwd_neighbour_tell(struct gwd_neighbour *neighbour, enum gmc_peer_event event,
                        const char *reason);
/* conn has said HELLO and won: it becomes the session. */
void gwd_neighbour_up(struct gwd_neighbour *neighbour, struct gwd_conn *conn);
/* conn is gone; reason in words, refused when trying again is of no use. */
void gwd_neighbour_lost(struct gwd_neighbour *neighbour, struct gwd_conn *conn, bool refused,
                        const char *reason);

/* ---- peer_conn.c ---- */
struct gwd_conn *gwd_conn_accept(struct gwd_peers *peers, int fd, const struct sockaddr *from,
                                 socklen_t len);
struct gwd_conn *gwd_conn_dial(struct gwd_peers *peers, struct gwd_neighbour *neighbour,
                               const struct gwd_sockaddr *to);
/* Frees; says nothing to anybody. */
void gwd_conn_free(struct gwd_conn *conn);
/* Sends BYE, then frees when it is out. The neighbour forgets the connection at once. */
void gwd_conn_bye(struct gwd_conn *conn, gmc_status status, const char *text);

/* ---- peer_dial.c ---- */
/* Dials when the session is wanted and none is there or on its way. */
void gwd_dial(struct gwd_neighbour *neighbour);
/* The same after a back-off that grows with the failures. */
void gwd_dial_later(struct gwd_neighbour *neighbour);
void gwd_dial_resolved(void *peers, const struct gwd_resolved *resolved);
void gwd_dial_retry(evutil_socket_t fd, short what, void *neighbour);

#endif
