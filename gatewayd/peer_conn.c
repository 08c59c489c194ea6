/* SPDX-License-Identifier: BSD-2-Clause */
/* One TLS connection: from the TCP connect over the handshake and HELLO to its end, with the
 * reason of each refusal in words, on both sides. */
#include <errno.h>
#include <event2/buffer.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gatewayd/cert.h"
#include "gatewayd/peer_int.h"
#include "gatewayd/text.h"

#define HANDSHAKE_S 10
#define CLOSING_S 2
#define PENDING_MAX 64 /* accepted connections that have not proved who they are */
#define YOUNG_NS GMC_S(3)
#define READ_WINDOW (256u << 10)

/* ---- the end ---- */
static void close_transport(struct gwd_conn *conn)
{
    gwd_race_free(conn->race);
    if (conn->bev != NULL)
        bufferevent_free(conn->bev); /* and the SSL object and socket with it */
    else if (conn->fd >= 0)
        (void)close(conn->fd);
    conn->race = NULL;
    conn->bev = NULL;
    conn->ssl = NULL;
    conn->fd = -1;
}

static void leave_pending(struct gwd_conn *conn)
{
    if (!conn->dialled && (conn->state == GWD_CONN_SHAKING || conn->state == GWD_CONN_HELLO))
        conn->peers->pending--;
}

void gwd_conn_free(struct gwd_conn *conn)
{
    leave_pending(conn);
    gmc_list_remove(&conn->node);
    close_transport(conn);
    if (conn->timer != NULL)
        event_free(conn->timer);
    OPENSSL_cleanse(conn->secret, sizeof conn->secret);
    free(conn);
}

/* The connection failed or was ended by the other side. */
static void fail(struct gwd_conn *conn, bool refused, const char *reason)
{
    struct gwd_neighbour *neighbour = conn->neighbour;
    struct gwd_peers *peers = conn->peers;
    if (conn->state == GWD_CONN_CLOSING) {
        gwd_conn_free(conn);
        return;
    }
    if (neighbour == NULL) {
        peers->stats.refused++;
        gwd_log_refusal(peers->config.log, gwd_peers_now(), "connection.refused",
                        GWD_STR("reason", reason));
        gwd_conn_free(conn);
        return;
    }
    gwd_neighbour_lost(neighbour, conn, refused, reason);
}

static void set_timer(struct gwd_conn *conn, int seconds)
{
    struct timeval wait = {.tv_sec = seconds};
    (void)evtimer_add(conn->timer, &wait);
}

void gwd_conn_bye(struct gwd_conn *conn, gmc_status status, const char *text)
{
    struct gwd_bye bye = {.status = status};
    uint8_t frame[GWD_FRAME_SMALL_MAX];
    size_t len;
    struct gwd_neighbour *neighbour = conn->neighbour;
    if (neighbour != NULL && neighbour->session == conn)
        neighbour->session = NULL;
    if (neighbour != NULL && neighbour->dial == conn)
        neighbour->dial = NULL;
    if (conn->state == GWD_CONN_SHAKING || conn->state == GWD_CONN_CLOSING) {
        gwd_conn_free(conn);
        return;
    }
    leave_pending(conn);
    conn->neighbour = NULL;
    conn->state = GWD_CONN_CLOSING;
    gwd_text(bye.text, sizeof bye.text, "%s", text);
    len = gwd_bye_put(&bye, frame, sizeof frame);
    (void)bufferevent_write(conn->bev, frame, len);
    bufferevent_setwatermark(conn->bev, EV_READ, 0, 0);
    set_timer(conn, CLOSING_S);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd_conn *conn = ctx;
    char reason[200];
    (void)fd, (void)what;
    if (conn->state == GWD_CONN_CLOSING) {
        gwd_conn_free(conn);
        return;
    }
    conn->peers->stats.timeouts++;
    gwd_text(reason, sizeof reason, "%s %s: %s within %d s", conn->dialled ? "to" : "from",
             conn->remote_text,
             conn->state == GWD_CONN_SHAKING ? "no TLS handshake" : "no greeting", HANDSHAKE_S);
    fail(conn, false, reason);
}

/* ---- greeting ---- */
static void send_hello(struct gwd_conn *conn)
{
    struct gwd_hello hello = {.version = GWD_FRAME_VERSION,
                              .udp_port = conn->peers->config.udp_port,
                              .session = conn->local_id};
    uint8_t frame[GWD_FRAME_SMALL_MAX];
    size_t len;
    gwd_text(hello.domain, sizeof hello.domain, "%s", conn->peers->config.conf->domain);
    len = gwd_hello_put(&hello, frame, sizeof frame);
    (void)bufferevent_write(conn->bev, frame, len);
    conn->hello_sent = true;
}

/* Before the greeting, and only to the gateway whose key the token names. */
static void send_secret(struct gwd_conn *conn)
{
    const struct gwd_token *token = &conn->peers->token;
    uint8_t frame[GWD_FRAME_HEAD_BYTES + GWD_SECRET_BYTES];
    gwd_frame_head(frame, GWD_FRAME_ENROL, sizeof token->secret);
    memcpy(frame + GWD_FRAME_HEAD_BYTES, token->secret, sizeof token->secret);
    (void)bufferevent_write(conn->bev, frame, sizeof frame);
    OPENSSL_cleanse(frame, sizeof frame);
}

static void on_secret(struct gwd_conn *conn, struct gmc_bytes body)
{
    conn->has_secret = conn->state == GWD_CONN_HELLO && body.len == sizeof conn->secret;
    if (conn->has_secret)
        memcpy(conn->secret, body.data, body.len);
}

static bool cert_names(struct gwd_conn *conn, const char *domain, char *names, size_t size)
{
    X509 *cert = SSL_get1_peer_certificate(conn->ssl);
    bool has = cert != NULL && gwd_cert_has_domain(cert, domain);
    gwd_text(names, size, "none");
    if (cert != NULL)
        gwd_cert_names(cert, names, size);
    X509_free(cert);
    return has;
}

/* Refuses somebody who has a good certificate: says why, here and there. */
static void refuse(struct gwd_conn *conn, gmc_status status, const char *text)
{
    struct gwd_peers *peers = conn->peers;
    struct gwd_neighbour *neighbour = conn->neighbour;
    char reason[600];
    peers->stats.refused++;
    gwd_text(reason, sizeof reason, "%s (%s)", text, conn->remote_text);
    if (neighbour != NULL && conn->dialled) {
        gwd_conn_bye(conn, status, text);
        gwd_neighbour_lost(neighbour, NULL, true, reason);
        return;
    }
    gwd_log_refusal(peers->config.log, gwd_peers_now(), "connection.refused",
                    GWD_STR("reason", text), GWD_STR("domain", conn->hello.domain));
    gwd_conn_bye(conn, status, text);
}

static void up(struct gwd_conn *conn)
{
    leave_pending(conn);
    conn->state = GWD_CONN_UP;
    conn->up_at = gwd_peers_now();
    (void)evtimer_del(conn->timer);
    gwd_neighbour_up(conn->neighbour, conn);
}

/* The rules of gatewayd/peer.h; true when the accepted connection may be used. */
static bool accepted_wins(const struct gwd_conn *conn, const struct gwd_neighbour *neighbour)
{
    const struct gwd_conn *dial = neighbour->dial, *session = neighbour->session;
    bool smaller = strcmp(conn->peers->config.conf->domain, neighbour->name) < 0;
    if (smaller && dial != NULL && dial->hello_sent)
        return false;
    if (smaller && session != NULL && session->dialled &&
        gwd_peers_now() - session->up_at < YOUNG_NS)
        return false;
    return true;
}

/* Takes a node by the key that it made: one that enrolled, or that does so now. */
static struct gwd_neighbour *admit(struct gwd_conn *conn)
{
    struct gwd_peers *peers = conn->peers;
    uint8_t key[GWD_KEY_HASH_BYTES];
    char text[GMC_REASON_BYTES_MAX] = "its key cannot be read";
    bool changed = false;
    gmc_status status = GMC_ERR_AUTH;
    if (gwd_tls_key_hash(conn->ssl, key))
        status = gwd_nodes_admit(peers->config.nodes, conn->hello.domain, key,
                                 conn->has_secret ? conn->secret : NULL, (int64_t)time(NULL),
                                 &changed, text, sizeof text);
    if (status != GMC_OK) {
        peers->stats.enrolments_refused++;
        refuse(conn, status == GMC_ERR_IO ? GMC_ERR_AGAIN : status, text);
        return NULL;
    }
    if (changed) {
        peers->stats.enrolled++;
        gwd_log(peers->config.log, GMC_LEVEL_INFO, "node.enrolled",
                GWD_STR("peer", conn->hello.domain), GWD_STR("address", conn->remote_text));
        gwd_peers_take_nodes(peers);
        peers->config.owner.enrolled(peers->config.owner.ctx);
    }
    return gwd_neighbour_find(peers, conn->hello.domain);
}

/* Whom the certificate and the name in the greeting stand for; NULL after a refusal. */
static struct gwd_neighbour *identify(struct gwd_conn *conn)
{
    struct gwd_neighbour *neighbour = gwd_neighbour_find(conn->peers, conn->hello.domain);
    const struct gwd_conf_peer *conf = neighbour != NULL ? neighbour->conf : NULL;
    char text[GMC_REASON_BYTES_MAX];
    if (conn->verdict.is_self_issued && (conf == NULL || conf->is_enrolled))
        return admit(conn);
    if (conf == NULL) {
        gwd_text(text, sizeof text, "%s is not a configured peer of %s", conn->hello.domain,
                 conn->peers->config.conf->domain);
        refuse(conn, GMC_ERR_ACCESS, text);
    } else if (conn->verdict.is_self_issued) {
        gwd_text(text, sizeof text,
                 "the certificate of %s is issued by itself and not by an "
                 "authority",
                 conn->hello.domain);
        refuse(conn, GMC_ERR_AUTH, text);
    } else if (conf->is_enrolled) {
        gwd_text(text, sizeof text, "%s enrolled with a key of its own, and this is another one",
                 conn->hello.domain);
        refuse(conn, GMC_ERR_AUTH, text);
    } else {
        return neighbour;
    }
    return NULL;
}

static void accepted_hello(struct gwd_conn *conn)
{
    const char *own = conn->peers->config.conf->domain;
    struct gwd_neighbour *neighbour;
    char names[256], text[GMC_REASON_BYTES_MAX];
    if (!cert_names(conn, conn->hello.domain, names, sizeof names)) {
        gwd_text(text, sizeof text, "the certificate is for %s, not for %s", names,
                 conn->hello.domain);
        refuse(conn, GMC_ERR_AUTH, text);
        return;
    }
    neighbour = identify(conn);
    if (neighbour == NULL)
        return;
    if (neighbour->conf->connect == GWD_CONNECT_OUT) {
        gwd_text(text, sizeof text, "%s only connects to %s by itself (connect = out)", own,
                 conn->hello.domain);
        refuse(conn, GMC_ERR_ACCESS, text);
    } else if (!accepted_wins(conn, neighbour)) {
        gwd_conn_bye(conn, GMC_ERR_EXISTS, "both sides connected at once; the other one is used");
    } else {
        conn->neighbour = neighbour;
        send_hello(conn);
        up(conn);
    }
}

static void dialled_hello(struct gwd_conn *conn)
{
    char text[GMC_REASON_BYTES_MAX];
    if (strcasecmp(conn->hello.domain, conn->neighbour->name) == 0) {
        up(conn);
        return;
    }
    gwd_text(text, sizeof text, "it calls itself %s", conn->hello.domain);
    refuse(conn, GMC_ERR_AUTH, text);
}

static void on_hello(struct gwd_conn *conn, struct gmc_bytes body)
{
    gmc_status status = gwd_hello_get(body, &conn->hello);
    if (conn->state != GWD_CONN_HELLO) {
        fail(conn, false, "a second greeting");
    } else if (status == GMC_ERR_VERSION) {
        refuse(conn, status, "another version of the protocol");
    } else if (status != GMC_OK) {
        refuse(conn, GMC_ERR_INVALID, "a greeting that cannot be read");
    } else if (conn->dialled) {
        dialled_hello(conn);
    } else {
        accepted_hello(conn);
    }
}

static void on_bye(struct gwd_conn *conn, struct gmc_bytes body)
{
    struct gwd_bye bye;
    char reason[GMC_REASON_BYTES_MAX + 64];
    bool refused;
    if (gwd_bye_get(body, &bye) != GMC_OK) {
        fail(conn, false, "a farewell that cannot be read");
        return;
    }
    refused =
        bye.status == GMC_ERR_ACCESS || bye.status == GMC_ERR_AUTH || bye.status == GMC_ERR_VERSION;
    conn->said_stopped = bye.status == GMC_ERR_STOPPED;
    gwd_text(reason, sizeof reason, "%s %s: %s",
             conn->neighbour != NULL ? conn->neighbour->name : conn->remote_text,
             refused ? "refuses us" : "ended the session", bye.text);
    fail(conn, refused, reason);
}

/* ---- reading ---- */
/* One frame; false when the connection is gone. */
static bool take_frame(struct gwd_conn *conn, uint8_t type, struct gmc_bytes body)
{
    struct gwd_peers *peers = conn->peers;
    if (type == GWD_FRAME_DATAGRAM && conn->state == GWD_CONN_UP) {
        struct gmc_dgram_in in = {.path = GMC_PATH_STREAM,
                                  .peer = conn->neighbour->number,
                                  .bytes = body};
        peers->config.owner.datagram(peers->config.owner.ctx, &in);
        return true;
    }
    if (type == GWD_FRAME_HELLO) {
        on_hello(conn, body);
        return false; /* it may be freed */
    }
    if (type == GWD_FRAME_BYE) {
        on_bye(conn, body);
        return false;
    }
    if (type == GWD_FRAME_ENROL)
        on_secret(conn, body);
    else if ((type == GWD_FRAME_FABRIC || type == GWD_FRAME_WHERE) && conn->state == GWD_CONN_UP)
        peers->config.owner.fabric(peers->config.owner.ctx, conn->neighbour->name,
                                   (enum gwd_frame_type)type, body);
    return true; /* unknown: from a later version */
}

static bool length_ok(const struct gwd_conn *conn, uint8_t type, size_t len)
{
    if (type == GWD_FRAME_HELLO || type == GWD_FRAME_BYE || conn->state != GWD_CONN_UP)
        return len <= GWD_FRAME_SMALL_MAX;
    return len <= GWD_FRAME_DATAGRAM_MAX;
}

static void on_read(struct bufferevent *bev, void *ctx)
{
    struct gwd_conn *conn = ctx;
    struct evbuffer *input = bufferevent_get_input(bev);
    uint8_t head[GWD_FRAME_HEAD_BYTES];
    if (conn->state == GWD_CONN_CLOSING) {
        (void)evbuffer_drain(input, evbuffer_get_length(input));
        return;
    }
    while (evbuffer_copyout(input, head, sizeof head) == (ev_ssize_t)sizeof head) {
        size_t len = gmc_get24(head + 1);
        const uint8_t *frame;
        bool hello = head[0] == GWD_FRAME_HELLO, go_on;
        if (!length_ok(conn, head[0], len)) {
            fail(conn, false, "a frame that is too long");
            return;
        }
        if (evbuffer_get_length(input) < sizeof head + len)
            return;
        frame = evbuffer_pullup(input, (ev_ssize_t)(sizeof head + len));
        if (frame == NULL)
            return;
        if (hello) {
            /* The greeting may end the connection, and its buffer with it. */
            uint8_t body[GWD_FRAME_SMALL_MAX];
            memcpy(body, frame + sizeof head, len);
            (void)evbuffer_drain(input, sizeof head + len);
            if (evbuffer_get_length(input) > 0)
                bufferevent_trigger(bev, EV_READ, BEV_OPT_DEFER_CALLBACKS);
            (void)take_frame(conn, head[0], gmc_bytes(body, len));
            return;
        }
        go_on = take_frame(conn, head[0], gmc_bytes(frame + sizeof head, len));
        if (!go_on)
            return;
        (void)evbuffer_drain(input, sizeof head + len);
    }
}

static void on_write(struct bufferevent *bev, void *ctx)
{
    struct gwd_conn *conn = ctx;
    /* The farewell is out. Closing now could reset the connection before it is read. */
    if (conn->state == GWD_CONN_CLOSING)
        (void)shutdown(bufferevent_getfd(bev), SHUT_WR);
}

/* ---- handshake ---- */
static void shaken(struct gwd_conn *conn)
{
    char names[256], text[GMC_REASON_BYTES_MAX];
    conn->state = GWD_CONN_HELLO;
    if (!conn->dialled)
        return; /* its HELLO says which of its names it uses */
    if (!cert_names(conn, conn->neighbour->name, names, sizeof names)) {
        gwd_text(text, sizeof text, "the certificate at %s is for %s, not for %s",
                 conn->remote_text, names, conn->neighbour->name);
        refuse(conn, GMC_ERR_AUTH, text);
        return;
    }
    if (!gwd_tls_is_gateway(conn->peers->tls, conn->ssl)) {
        gwd_text(
            text, sizeof text,
            "%s shows another key than the one that this node enrolled with; if that is right, "
            "enrol again with a new token (gmcast node add)",
            conn->remote_text);
        refuse(conn, GMC_ERR_AUTH, text);
        return;
    }
    if (conn->peers->has_token)
        send_secret(conn);
    send_hello(conn);
}

/* Why a connection broke: our verdict, the other side's alert, the socket's error. */
static bool describe(struct gwd_conn *conn, short what, char *reason, size_t size)
{
    const char *who = conn->neighbour != NULL ? conn->neighbour->name : conn->remote_text;
    int error = EVUTIL_SOCKET_ERROR();
    unsigned long code = bufferevent_get_openssl_error(conn->bev);
    const char *alert = gwd_tls_alert_text(code);
    if (conn->verdict.error != NULL) {
        gwd_text(reason, size, "the certificate of %s (%s, it says) is refused: %s", who,
                 conn->verdict.names, conn->verdict.error);
        return true;
    }
    if (alert != NULL) {
        gwd_text(reason, size, "%s refuses our certificate: %s", who, alert);
        return true;
    }
    if (code != 0)
        gwd_text(reason, size, "%s: TLS: %s", conn->remote_text,
                 ERR_reason_error_string(code) != NULL ? ERR_reason_error_string(code)
                                                       : "unknown error");
    else if ((what & BEV_EVENT_EOF) != 0 || error == 0)
        gwd_text(reason, size, "%s closed the connection%s", who,
                 conn->state == GWD_CONN_UP ? "" : " before the greeting");
    else
        gwd_text(reason, size, "%s: %s", conn->remote_text, strerror(error));
    return false;
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
    struct gwd_conn *conn = ctx;
    char reason[GMC_REASON_BYTES_MAX];
    (void)bev;
    if ((what & BEV_EVENT_CONNECTED) != 0) {
        if (conn->state == GWD_CONN_SHAKING)
            shaken(conn);
        return;
    }
    if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT)) != 0) {
        bool refused = describe(conn, what, reason, sizeof reason);
        fail(conn, refused, reason);
    }
    ERR_clear_error();
}

static bool shake(struct gwd_conn *conn)
{
    conn->verdict.take_self_issued = !conn->dialled && conn->peers->config.nodes != NULL;
    conn->ssl = gwd_tls_open(conn->peers->tls, !conn->dialled, &conn->verdict);
    if (conn->ssl == NULL)
        return false;
    conn->bev = bufferevent_openssl_socket_new(conn->peers->config.base, conn->fd, conn->ssl,
                                               conn->dialled ? BUFFEREVENT_SSL_CONNECTING
                                                             : BUFFEREVENT_SSL_ACCEPTING,
                                               BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (conn->bev == NULL) {
        conn->ssl = NULL; /* freed with the attempt */
        return false;
    }
    conn->fd = -1;
    bufferevent_openssl_set_allow_dirty_shutdown(conn->bev, 1);
    bufferevent_setcb(conn->bev, on_read, on_write, on_event, conn);
    bufferevent_setwatermark(conn->bev, EV_READ, 0, READ_WINDOW);
    return bufferevent_enable(conn->bev, EV_READ | EV_WRITE) == 0;
}

/* ---- making ---- */
/* Whether the peer lives is the link's to find out, in seconds. TCP only keeps the state of
 * firewalls on its way alive, and must not give up earlier than the link: where every fifth packet
 * of each wire is lost, three in four keepalive packets over three wires are not answered. */
static void set_options(int fd)
{
    int on = 1, idle = 60, interval = 15;
    unsigned unanswered_ms = 300000; /* counts instead of the number of keepalive packets */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* The little that is said here is not congestion's cause: no doubling of the time to a
     * repetition. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

static struct gwd_conn *conn_new(struct gwd_peers *peers, int fd, const struct sockaddr *remote,
                                 socklen_t len)
{
    struct gwd_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL)
        return NULL;
    conn->peers = peers;
    conn->fd = fd;
    conn->timer = evtimer_new(peers->config.base, on_timer, conn);
    if (conn->timer == NULL || len > sizeof conn->remote.storage) {
        free(conn);
        return NULL;
    }
    memcpy(&conn->remote.storage, remote, len);
    conn->remote.len = len;
    gwd_addr_text(remote, conn->remote_text);
    do
        conn->local_id = gwd_peers_random(UINT32_MAX);
    while (conn->local_id == 0);
    if (fd >= 0)
        set_options(fd);
    set_timer(conn, HANDSHAKE_S);
    gmc_list_push_back(&peers->conns, &conn->node);
    return conn;
}

/* Strangers can only take the places of strangers. */
static void drop_oldest_pending(struct gwd_peers *peers)
{
    struct gmc_list *node;
    GMC_LIST_FOREACH(node, &peers->conns)
    {
        struct gwd_conn *conn = GMC_CONTAINER_OF(node, struct gwd_conn, node);
        if (!conn->dialled && (conn->state == GWD_CONN_SHAKING || conn->state == GWD_CONN_HELLO)) {
            fail(conn, false, "too many connections that have not greeted; the oldest is closed");
            return;
        }
    }
}

struct gwd_conn *gwd_conn_accept(struct gwd_peers *peers, int fd, const struct sockaddr *from,
                                 socklen_t len)
{
    struct gwd_conn *conn;
    if (peers->pending >= PENDING_MAX)
        drop_oldest_pending(peers);
    conn = conn_new(peers, fd, from, len);
    if (conn == NULL) {
        (void)close(fd);
        return NULL;
    }
    /* The port that a dialler happens to have would make each of its refusals a new one. */
    char *port = strrchr(conn->remote_text, ':');
    if (port != NULL)
        *port = '\0';
    peers->pending++;
    peers->stats.accepted++;
    if (!shake(conn)) {
        gwd_conn_free(conn);
        return NULL;
    }
    return conn;
}

static void on_connected(void *ctx, int fd, int error)
{
    struct gwd_conn *conn = ctx;
    char reason[200];
    gwd_race_free(conn->race);
    conn->race = NULL;
    conn->fd = fd;
    if (fd >= 0)
        set_options(fd);
    if (fd >= 0 && shake(conn))
        return;
    gwd_text(reason, sizeof reason, "cannot connect to %s: %s", conn->remote_text,
             error != 0 ? strerror(error) : "out of memory");
    fail(conn, false, reason);
}

struct gwd_conn *gwd_conn_dial(struct gwd_peers *peers, struct gwd_neighbour *neighbour,
                               const struct gwd_sockaddr *to)
{
    struct gwd_conn *conn = conn_new(peers, -1, (const struct sockaddr *)&to->storage, to->len);
    if (conn == NULL)
        return NULL;
    conn->dialled = true;
    conn->neighbour = neighbour;
    conn->race = gwd_race_start(peers->config.base, to, on_connected, conn);
    if (conn->race == NULL) {
        gwd_conn_free(conn);
        return NULL;
    }
    return conn;
}
