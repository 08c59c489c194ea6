/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of neighbours: who is configured, who has a session, what the composition hears. */
#include "gatewayd/peer.h"

#include <errno.h>
#include <event2/buffer.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "gatewayd/peer_int.h"
#include "gatewayd/text.h"
#include "gatewayd/udp.h"

/* Datagrams that wait in one TLS connection; more are dropped, and the link sends them again. */
#define STREAM_QUEUE_BYTES (512u << 10)
#define TELL_QUEUE_BYTES (64u << 10) /* above that, so that datagrams leave it room */

uint64_t gwd_peers_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t gwd_peers_random(uint32_t below)
{
    uint32_t value = 0;
    while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value)
        continue;
    return value % below;
}

struct gwd_neighbour *gwd_neighbour_find(const struct gwd_peers *peers, const char *name)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (strcasecmp(peers->list[i]->name, name) == 0)
            return peers->list[i];
    }
    return NULL;
}

static struct gwd_neighbour *by_number(const struct gwd_peers *peers, gmc_peer number)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->list[i]->number == number)
            return peers->list[i];
    }
    return NULL;
}

/* ---- what the composition hears ---- */
void gwd_neighbour_tell(struct gwd_neighbour *neighbour, enum gmc_peer_event event,
                        const char *reason)
{
    const struct gwd_peers_owner *owner = &neighbour->peers->config.owner;
    struct gmc_peer_change change = {.peer = neighbour->number, .event = event, .reason = reason};
    owner->change(owner->ctx, &change);
}

static void set_udp_address(struct gwd_neighbour *neighbour, const struct gwd_conn *conn)
{
    gwd_addr_to_core((const struct sockaddr *)&conn->remote.storage, &neighbour->udp);
    /* The port that we dialled is right for UDP too. Of one that dialled us we see only the port
     * of its TCP side, so it says where its UDP is. */
    if (!conn->dialled) {
        size_t at = neighbour->udp.len == 6 ? 4 : 16;
        gmc_put16(neighbour->udp.bytes + at, conn->hello.udp_port);
    }
}

void gwd_neighbour_up(struct gwd_neighbour *neighbour, struct gwd_conn *conn)
{
    struct gwd_peers *peers = neighbour->peers;
    struct gmc_peer_change change = {.peer = neighbour->number, .event = GMC_PEER_SESSION_UP};
    struct gmc_session *session = &change.session;
    uint8_t *spki, *up = conn->dialled ? session->send_secret : session->recv_secret;
    uint8_t *down = conn->dialled ? session->recv_secret : session->send_secret;
    if (neighbour->session != NULL)
        gwd_conn_free(neighbour->session);
    if (neighbour->dial != NULL && neighbour->dial != conn)
        gwd_conn_free(neighbour->dial);
    neighbour->dial = NULL;
    neighbour->session = conn;
    neighbour->failures = 0;
    neighbour->refused = neighbour->waiting_told = false;
    neighbour->wanted = neighbour->conf->connect == GWD_CONNECT_OUT;
    peers->has_token = false; /* it has done its work, if there was one */
    (void)evtimer_del(neighbour->retry);
    set_udp_address(neighbour, conn);
    session->peer = neighbour->number;
    session->initiator = conn->dialled;
    session->local_id = conn->local_id;
    session->remote_id = conn->hello.session;
    session->transport = (enum gmc_transport)neighbour->conf->transport;
    session->udp_payload_max = gwd_udp_payload_max(&neighbour->udp);
    session->spki.len = gwd_tls_spki(conn->ssl, &spki);
    session->spki.data = spki;
    GMC_ASSERT(gwd_tls_secrets(conn->ssl, up, down));
    peers->stats.sessions++;
    gwd_log(peers->config.log, GMC_LEVEL_INFO, "session.up", GWD_STR("peer", neighbour->name),
            GWD_STR("address", conn->remote_text),
            GWD_STR("dialled", conn->dialled ? "here" : "there"));
    peers->config.owner.change(peers->config.owner.ctx, &change);
    OPENSSL_free(spki);
    OPENSSL_cleanse(session, sizeof *session);
}

void gwd_neighbour_lost(struct gwd_neighbour *neighbour, struct gwd_conn *conn, bool refused,
                        const char *reason)
{
    struct gwd_peers *peers = neighbour->peers;
    bool was_session = conn != NULL && neighbour->session == conn;
    bool stopped = was_session && conn->said_stopped;
    if (neighbour->session == conn)
        neighbour->session = NULL;
    if (neighbour->dial == conn)
        neighbour->dial = NULL;
    if (conn != NULL)
        gwd_conn_free(conn);
    if (neighbour->session != NULL)
        return; /* it was a second connection; the session goes on */
    if (refused) {
        neighbour->refused = true;
        peers->stats.refused++;
    }
    if (was_session)
        gwd_log(peers->config.log, GMC_LEVEL_INFO, "session.down", GWD_STR("peer", neighbour->name),
                GWD_STR("reason", reason));
    else
        gwd_log_refusal(peers->config.log, gwd_peers_now(),
                        refused ? "peer.refused" : "peer.unreachable",
                        GWD_STR("peer", neighbour->name), GWD_STR("reason", reason));
    gwd_neighbour_tell(neighbour,
                       refused       ? GMC_PEER_REFUSED
                       : stopped     ? GMC_PEER_SESSION_STOPPED
                       : was_session ? GMC_PEER_SESSION_DOWN
                                     : GMC_PEER_UNREACHABLE,
                       reason);
    /* Where only we can dial nobody else will bring the session back: slowly, also when refused,
     * since the other side may mend its configuration. */
    if (refused && neighbour->conf != NULL && neighbour->conf->connect == GWD_CONNECT_OUT) {
        neighbour->refused = false;
        neighbour->failures = neighbour->failures < 5 ? 5 : neighbour->failures;
    }
    gwd_dial_later(neighbour);
}

/* ---- configuration ---- */
static struct gwd_neighbour *add_neighbour(struct gwd_peers *peers, const char *name)
{
    struct gwd_neighbour *neighbour = calloc(1, sizeof *neighbour);
    struct gwd_neighbour **grown = realloc(peers->list, (peers->count + 1) * sizeof *peers->list);
    GMC_ASSERT(neighbour != NULL && grown != NULL);
    peers->list = grown;
    neighbour->peers = peers;
    gwd_text(neighbour->name, sizeof neighbour->name, "%s", name);
    neighbour->number = peers->config.owner.number(peers->config.owner.ctx, name);
    neighbour->retry = evtimer_new(peers->config.base, gwd_dial_retry, neighbour);
    GMC_ASSERT(neighbour->retry != NULL);
    peers->list[peers->count++] = neighbour;
    return neighbour;
}

/* A numeric address is known before any session: probes go there. */
static void set_configured_address(struct gwd_neighbour *neighbour)
{
    struct gwd_sockaddr address;
    char host[256];
    uint16_t port;
    if (neighbour->session == NULL &&
        gwd_addr_split(neighbour->conf->address, host, sizeof host, &port) &&
        gwd_addr_numeric(host, port, &address))
        gwd_addr_to_core((const struct sockaddr *)&address.storage, &neighbour->udp);
}

/* A node section of the same name goes before. */
static void take_enrolled(struct gwd_peers *peers)
{
    const struct gwd_node *node;
    for (size_t i = 0;
         peers->config.nodes != NULL && (node = gwd_nodes_at(peers->config.nodes, i)) != NULL;
         i++) {
        struct gwd_neighbour *neighbour = gwd_neighbour_find(peers, node->peer.name);
        if (!node->enrolled || (neighbour != NULL && neighbour->conf != NULL))
            continue;
        if (neighbour == NULL)
            neighbour = add_neighbour(peers, node->peer.name);
        neighbour->conf = &node->peer;
        neighbour->refused = neighbour->waiting_told = false;
    }
}

/* Marks all, takes in what is configured, sweeps the rest. */
static void take_configuration(struct gwd_peers *peers, const struct gwd_conf *conf)
{
    peers->config.conf = conf;
    for (size_t i = 0; i < peers->count; i++)
        peers->list[i]->conf = NULL;
    for (size_t i = 0; i < conf->peer_count; i++) {
        struct gwd_neighbour *neighbour = gwd_neighbour_find(peers, conf->peers[i].name);
        if (neighbour == NULL)
            neighbour = add_neighbour(peers, conf->peers[i].name);
        neighbour->conf = &conf->peers[i];
        neighbour->refused = neighbour->waiting_told = false;
        neighbour->address_count = 0;
        set_configured_address(neighbour);
    }
    take_enrolled(peers);
}

static void end_session(struct gwd_neighbour *neighbour, gmc_status status, const char *reason)
{
    struct gwd_peers *peers = neighbour->peers;
    if (neighbour->session == NULL)
        return;
    gwd_log(peers->config.log, GMC_LEVEL_WARN, "session.ended", GWD_STR("peer", neighbour->name),
            GWD_STR("reason", reason));
    gwd_conn_bye(neighbour->session, status, reason);
    neighbour->refused = true;
    gwd_neighbour_tell(neighbour, GMC_PEER_REFUSED, reason);
}

static void sweep(struct gwd_peers *peers, const char *reason)
{
    for (size_t i = 0; i < peers->count; i++) {
        struct gwd_neighbour *neighbour = peers->list[i];
        if (neighbour->conf != NULL)
            continue;
        neighbour->wanted = false;
        neighbour->udp.len = 0;
        (void)evtimer_del(neighbour->retry);
        if (neighbour->dial != NULL)
            gwd_conn_free(neighbour->dial);
        neighbour->dial = NULL;
        end_session(neighbour, GMC_ERR_ACCESS, reason);
    }
}

void gwd_peers_take_nodes(struct gwd_peers *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        struct gwd_neighbour *neighbour = peers->list[i];
        const struct gwd_node *node = neighbour->conf != NULL && neighbour->conf->is_enrolled
                                          ? gwd_nodes_find(peers->config.nodes, neighbour->name)
                                          : NULL;
        if (node != NULL && !node->enrolled)
            neighbour->conf = NULL;
    }
    take_enrolled(peers);
    sweep(peers, "it was removed from the nodes of this domain");
}

bool gwd_peers_has_session(const struct gwd_peers *peers, const char *name)
{
    const struct gwd_neighbour *neighbour = gwd_neighbour_find(peers, name);
    return neighbour != NULL && neighbour->session != NULL;
}

bool gwd_peers_session(const struct gwd_peers *peers, const char *name,
                       struct gwd_session_state *out)
{
    const struct gwd_neighbour *neighbour = gwd_neighbour_find(peers, name);
    const struct gwd_conf_peer *conf = neighbour != NULL ? neighbour->conf : NULL;
    *out = (struct gwd_session_state){.alias = "", .address = ""};
    if (neighbour == NULL)
        return false;
    if (conf != NULL) {
        out->configured = true;
        out->alias = conf->alias != NULL ? conf->alias : "";
        out->address = conf->address != NULL ? conf->address : "";
        out->transport = (enum gmc_transport)conf->transport;
        out->connect = (enum gwd_connect)conf->connect;
    }
    out->dials = neighbour->dial != NULL;
    out->connected = out->dials && neighbour->dial->race == NULL;
    if (neighbour->session != NULL) {
        out->up = true;
        out->dialled = neighbour->session->dialled;
        out->address = neighbour->session->remote_text;
    }
    return true;
}

void gwd_peers_key_hash(const struct gwd_peers *peers, uint8_t out[GWD_KEY_HASH_BYTES])
{
    gwd_tls_own_key_hash(peers->tls, out);
}

void gwd_peers_recheck(struct gwd_peers *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        struct gwd_neighbour *neighbour = peers->list[i];
        bool proved = neighbour->session != NULL && !neighbour->session->verdict.is_self_issued;
        const char *error = proved ? gwd_tls_recheck(peers->tls, neighbour->session->ssl) : NULL;
        char reason[GMC_REASON_BYTES_MAX];
        if (error == NULL)
            continue;
        gwd_text(reason, sizeof reason, "the certificate of %s is refused: %s", neighbour->name,
                 error);
        end_session(neighbour, GMC_ERR_AUTH, reason);
    }
}

static void dial_permanent(struct gwd_peers *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        struct gwd_neighbour *neighbour = peers->list[i];
        if (neighbour->conf != NULL && neighbour->conf->connect == GWD_CONNECT_OUT)
            neighbour->wanted = true;
        if (neighbour->wanted && !evtimer_pending(neighbour->retry, NULL))
            gwd_dial(neighbour);
    }
}

bool gwd_peers_configure(struct gwd_peers *peers, const struct gwd_conf *conf, char *reason,
                         size_t size)
{
    struct gwd_tls *tls = gwd_tls_new(conf, reason, size);
    if (tls == NULL)
        return false;
    gwd_tls_free(peers->tls);
    peers->tls = tls;
    take_configuration(peers, conf);
    sweep(peers, "it is no longer a configured peer");
    gwd_peers_recheck(peers);
    dial_permanent(peers);
    return true;
}

struct evp_pkey_st *gwd_peers_key(const struct gwd_peers *peers)
{
    return gwd_tls_key(peers->tls);
}

int64_t gwd_peers_certificate_seconds_left(const struct gwd_peers *peers)
{
    return gwd_tls_seconds_left(peers->tls);
}

/* ---- life ---- */
static bool bind_port(struct gwd_peers *peers, char *reason, size_t size)
{
    const struct gwd_sockaddr *listen_on = &peers->config.listen;
    struct sockaddr_storage own;
    socklen_t len = sizeof own;
    int on = 1, off = 0;
    peers->listen_fd =
        socket(listen_on->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)setsockopt(peers->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listen_on->storage.ss_family == AF_INET6)
        (void)setsockopt(peers->listen_fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (peers->listen_fd < 0 ||
        bind(peers->listen_fd, (const struct sockaddr *)&listen_on->storage, listen_on->len) != 0 ||
        listen(peers->listen_fd, 128) != 0) {
        gwd_addr_not_bound("TCP", listen_on, reason, size);
        return false;
    }
    if (getsockname(peers->listen_fd, (struct sockaddr *)&own, &len) == 0)
        peers->port = gwd_addr_port((struct sockaddr *)&own);
    if (peers->config.udp_port == 0)
        peers->config.udp_port = peers->port;
    return true;
}

struct gwd_peers *gwd_peers_new(const struct gwd_peers_config *config, char *reason, size_t size)
{
    struct gwd_peers *peers = calloc(1, sizeof *peers);
    gwd_text(reason, size, "out of memory");
    if (peers == NULL)
        return NULL;
    peers->config = *config;
    peers->listen_fd = -1;
    if (config->token != NULL) {
        peers->has_token = true;
        peers->token = *config->token;
    }
    gmc_list_init(&peers->conns);
    peers->tls = gwd_tls_new(config->conf, reason, size);
    peers->resolver =
        peers->tls != NULL ? gwd_resolver_new(config->base, gwd_dial_resolved, peers) : NULL;
    if (peers->resolver == NULL || !bind_port(peers, reason, size)) {
        gwd_peers_free(peers);
        return NULL;
    }
    take_configuration(peers, config->conf);
    return peers;
}

void gwd_peers_free(struct gwd_peers *peers)
{
    struct gmc_list *node;
    if (peers == NULL)
        return;
    while ((node = gmc_list_first(&peers->conns)) != NULL)
        gwd_conn_free(GMC_CONTAINER_OF(node, struct gwd_conn, node));
    for (size_t i = 0; i < peers->count; i++) {
        event_free(peers->list[i]->retry);
        free(peers->list[i]);
    }
    free(peers->list);
    if (peers->listener != NULL)
        evconnlistener_free(peers->listener);
    if (peers->listen_fd >= 0)
        (void)close(peers->listen_fd);
    gwd_resolver_free(peers->resolver);
    gwd_tls_free(peers->tls);
    OPENSSL_cleanse(&peers->token, sizeof peers->token);
    free(peers);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int len, void *ctx)
{
    (void)listener;
    (void)gwd_conn_accept(ctx, (int)fd, from, (socklen_t)len);
}

bool gwd_peers_start(struct gwd_peers *peers)
{
    peers->listener = evconnlistener_new(peers->config.base, on_accept, peers,
                                         LEV_OPT_CLOSE_ON_EXEC, 0, peers->listen_fd);
    if (peers->listener == NULL)
        return false;
    dial_permanent(peers);
    return true;
}

void gwd_peers_stop(struct gwd_peers *peers)
{
    bool is_node = peers->config.conf->node_of[0] != '\0';
    struct gmc_list *node, *after;
    peers->stopping = true;
    if (peers->listener != NULL)
        (void)evconnlistener_disable(peers->listener);
    for (size_t i = 0; i < peers->count; i++)
        (void)evtimer_del(peers->list[i]->retry);
    GMC_LIST_FOREACH_SAFE(node, after, &peers->conns)
    {
        struct gwd_conn *conn = GMC_CONTAINER_OF(node, struct gwd_conn, node);
        if (conn->state == GWD_CONN_UP)
            gwd_conn_bye(conn, GMC_ERR_STOPPED,
                         is_node ? "the node is being stopped" : "the gateway is being stopped");
        else if (conn->state != GWD_CONN_CLOSING) {
            if (conn->neighbour != NULL && conn->neighbour->dial == conn)
                conn->neighbour->dial = NULL;
            gwd_conn_free(conn);
        }
    }
}

uint16_t gwd_peers_port(const struct gwd_peers *peers)
{
    return peers->port;
}

/* ---- what the composition asks for ---- */
void gwd_peers_connect(struct gwd_peers *peers, gmc_peer number)
{
    struct gwd_neighbour *neighbour = by_number(peers, number);
    if (neighbour == NULL || peers->stopping)
        return;
    if (neighbour->conf == NULL) {
        gwd_neighbour_tell(neighbour, GMC_PEER_REFUSED, "it is not a configured peer");
        return;
    }
    neighbour->wanted = true;
    if (neighbour->refused) {
        /* Somebody wants it again: one more try, not at once. */
        neighbour->refused = false;
        neighbour->failures = neighbour->failures < 5 ? 5 : neighbour->failures;
        gwd_dial_later(neighbour);
    } else if (!evtimer_pending(neighbour->retry, NULL)) {
        gwd_dial(neighbour);
    }
}

void gwd_peers_reject(struct gwd_peers *peers, gmc_peer number)
{
    struct gwd_neighbour *neighbour = by_number(peers, number);
    if (neighbour == NULL)
        return;
    if (neighbour->session != NULL) {
        gwd_log(peers->config.log, GMC_LEVEL_INFO, "session.ended",
                GWD_STR("peer", neighbour->name), GWD_STR("reason", "its link is dead or broken"));
        gwd_conn_bye(neighbour->session, GMC_ERR_PEER_DOWN, "the link is dead or broken");
    }
    gwd_dial_later(neighbour);
}

bool gwd_peers_send(struct gwd_peers *peers, const struct gmc_dgram_out *out)
{
    struct gwd_neighbour *neighbour = by_number(peers, out->peer);
    uint8_t head[GWD_FRAME_HEAD_BYTES + sizeof out->head];
    size_t len = gmc_dgram_out_len(out);
    struct evbuffer *output;
    if (neighbour == NULL || neighbour->session == NULL || len > GWD_FRAME_DATAGRAM_MAX)
        return false;
    output = bufferevent_get_output(neighbour->session->bev);
    if (evbuffer_get_length(output) + len > STREAM_QUEUE_BYTES) {
        peers->stats.stream_dropped++;
        return false;
    }
    gwd_frame_head(head, GWD_FRAME_DATAGRAM, len);
    memcpy(head + GWD_FRAME_HEAD_BYTES, out->head, out->head_len);
    if (evbuffer_expand(output, GWD_FRAME_HEAD_BYTES + len) != 0)
        return false;
    (void)evbuffer_add(output, head, GWD_FRAME_HEAD_BYTES + out->head_len);
    (void)evbuffer_add(output, out->body.data, out->body.len);
    (void)evbuffer_add(output, out->tail.data, out->tail.len);
    return true;
}

void gwd_peers_tell(struct gwd_peers *peers, const char *name, struct gmc_bytes frame)
{
    const struct gwd_neighbour *neighbour = gwd_neighbour_find(peers, name);
    if (neighbour == NULL || neighbour->session == NULL)
        return;
    struct evbuffer *output = bufferevent_get_output(neighbour->session->bev);
    if (evbuffer_get_length(output) + frame.len <= STREAM_QUEUE_BYTES + TELL_QUEUE_BYTES)
        (void)evbuffer_add(output, frame.data, frame.len);
}

bool gwd_peers_address(const struct gwd_peers *peers, gmc_peer number, struct gmc_addr *address)
{
    const struct gwd_neighbour *neighbour = by_number(peers, number);
    if (neighbour == NULL || neighbour->udp.len == 0)
        return false;
    *address = neighbour->udp;
    return true;
}

const struct gwd_peers_stats *gwd_peers_stats(const struct gwd_peers *peers)
{
    return &peers->stats;
}
