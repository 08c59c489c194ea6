/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon: opens the parts in order, wires them to the loop, runs it. */
#include "gatewayd/gatewayd.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "gatewayd/gatewayd_int.h"
#include "gatewayd/identity.h"
#include "gatewayd/priv.h"
#include "gatewayd/text.h"
#include "wire/ctl_codec.h"

#define RECEIVE_BATCHES 4  /* then others have their turn */
#define RESULTS_AT_ONCE 16 /* then their datagrams leave */
#define END_AT_MOST 8      /* seconds */

gmc_time gwd_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (gmc_time)now.tv_sec * 1000000000u + (gmc_time)now.tv_nsec;
}

int64_t gwd_wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- inputs from the loop ---- */
static void take_datagram(void *ctx, gmc_time now, const struct gmc_dgram_in *in)
{
    struct gwd *gwd = ctx;
    (void)gwd_drive_datagram(gwd->drive, now, in);
}

static void on_udp(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd *gwd = ctx;
    bool more = true;
    (void)fd, (void)what;
    for (unsigned n = 0; n < RECEIVE_BATCHES && more; n++) {
        more = gwd_udp_receive(gwd->udp, take_datagram, gwd);
        gwd_drain(gwd);
    }
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd *gwd = ctx;
    uint64_t count;
    (void)what;
    if (read((int)fd, &count, sizeof count) < 0)
        return;
    gwd->armed = GMC_TIME_NEVER;
    gwd_drive_timer(gwd->drive, gwd_now());
    gwd_drain(gwd);
}

static void on_stored(evutil_socket_t fd, short what, void *ctx)
{
    struct gwd *gwd = ctx;
    struct gmc_store_result result;
    struct gmc_store_op op;
    (void)fd, (void)what;
    for (unsigned n = 1; gwd_store_next(gwd->store, &result, &op); n++) {
        if (op.kind == GMC_STORE_CLOSE && result.status != GMC_OK)
            gwd_log(gwd->log, GMC_LEVEL_WARN, "store.left", GWD_STR("reason", result.reason));
        gwd_drive_stored(gwd->drive, gwd_now(), &result, &op);
        if (n % RESULTS_AT_ONCE == 0)
            gwd_drain(gwd);
    }
    gwd_drain(gwd);
}

static void on_drain(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    gwd_drain(ctx);
}

/* ---- what the sessions say ---- */
static gmc_peer peer_number(void *ctx, const char *domain)
{
    struct gwd *gwd = ctx;
    return gwd_drive_peer(gwd->drive, gwd_now(), domain);
}

static const char *name_of(void *ctx, uint32_t peer)
{
    struct gwd *gwd = ctx;
    return gwd->drive != NULL ? gmc_gateway_peer_name(gwd_drive_gateway(gwd->drive), peer) : NULL;
}

static void on_change(void *ctx, const struct gmc_peer_change *change)
{
    struct gwd *gwd = ctx;
    if (gwd->stop_signals > 0)
        return;
    gwd_drive_change(gwd->drive, gwd_now(), change);
    if (gwd->fabric != NULL && change->event != GMC_PEER_UNREACHABLE)
        gwd_fabric_on_session(gwd->fabric, name_of(gwd, change->peer),
                              change->event == GMC_PEER_SESSION_UP);
    if (change->event != GMC_PEER_UNREACHABLE)
        gwd_messages_lost(gwd->messages, change->peer);
    gwd_look_for_subnet(gwd);
    gwd_drain_soon(gwd);
}

static void on_stream(void *ctx, const struct gmc_dgram_in *in)
{
    struct gwd *gwd = ctx;
    (void)gwd_drive_datagram(gwd->drive, gwd_now(), in);
    gwd_drain_soon(gwd);
}

static void on_enrolled(void *ctx)
{
    gwd_tell_nodes(ctx);
}

static void on_saved(void *ctx, const struct gmc_saved *saved)
{
    struct gwd *gwd = ctx;
    gmc_status status = gwd_drive_saved(gwd->drive, gwd_now(), saved);
    if (status != GMC_OK)
        gwd_log(gwd->log, GMC_LEVEL_WARN, "state.refused", GWD_STR("source", saved->key.source),
                GWD_STR("reason", gmc_status_text(status)));
}

/* ---- opening ---- */
static bool fail(struct gwd *gwd, const char *what, const char *reason)
{
    gwd_log(gwd->log, GMC_LEVEL_ERROR, "start.failed", GWD_STR("part", what),
            GWD_STR("reason", reason));
    return false;
}

/* Who may enrol here, or how this node shall. */
static bool open_nodes(struct gwd *gwd)
{
    char reason[512];
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;
    if (gwd->conf->node_of[0] == '\0') {
        gwd->nodes = gwd_nodes_new(gwd->conf->state, reason, sizeof reason);
        return gwd->nodes != NULL || fail(gwd, "nodes", reason);
    }
    if (!gwd_identity_is_own(gwd->conf))
        return true;
    /* The daemon reads them again, when privileges are gone. */
    if (geteuid() == 0 &&
        !gwd_priv_ids(gwd->conf->user, gwd->conf->group, &uid, &gid, reason, sizeof reason))
        return fail(gwd, "privileges", reason);
    return gwd_identity_prepare(gwd->conf, uid, gid, &gwd->token, &gwd->has_token, reason,
                                sizeof reason) ||
           fail(gwd, "enrolment", reason);
}

static bool open_crypto(struct gwd *gwd)
{
    char reason[512];
    uint8_t seed[32];
    struct gwd_identity identity;
    if (!gwd_identity_load(gwd->conf, &identity, reason, sizeof reason))
        return fail(gwd, "key", reason);
    if (getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        gwd_identity_fini(&identity);
        return fail(gwd, "entropy", strerror(errno));
    }
    const char *refusal = gmc_crypto_openssl_refusal(identity.key);
    gwd->openssl = refusal == NULL ? gmc_crypto_openssl_new(identity.key, seed) : NULL;
    OPENSSL_cleanse(seed, sizeof seed);
    gwd_identity_fini(&identity);
    if (gwd->openssl == NULL)
        return fail(gwd, "key", refusal != NULL ? refusal : "out of memory");
    gmc_crypto_openssl_table(gwd->openssl, &gwd->crypto);
    return true;
}

static bool open_core(struct gwd *gwd)
{
    struct gwd_drive_config config = {
        .gateway = {.domain = gwd->conf->domain,
                    .node_of = gwd->conf->node_of[0] != '\0' ? gwd->conf->node_of : NULL,
                    .deliver = gwd->conf->deliver,
                    .crypto = &gwd->crypto,
                    .trace = &gwd->sink,
                    .cache_bytes = gwd->conf->cache,
                    .patience = gwd->conf->patience,
                    .uplink_bps = gwd->conf->uplink,
                    .downlink_bps = gwd->conf->downlink,
                    .discard_data = gwd->options.discard_data},
        .hooks = {gwd, gwd_hook_resolve, gwd_hook_may, gwd_hook_counters,
                  gwd->nodes != NULL ? gwd_hook_nodes : NULL, gwd_hook_traffic, gwd_hook_fabric,
                  gwd_hook_multicast, gwd_hook_session, gwd_hook_findings},
    };
    uint8_t spki[GMC_PUBKEY_BYTES_MAX];
    size_t spki_len = sizeof spki;
    struct timespec wall;
    if (gmc_crypto_openssl_spki(gwd->openssl, spki, &spki_len) != GMC_OK)
        return fail(gwd, "key", "its public half cannot be written");
    config.gateway.spki = gmc_bytes(spki, spki_len);
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    /* Grows from start to start unless the clock is set back by hand; then it still differs. */
    config.gateway.incarnation = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    if (getrandom(&config.gateway.seed, sizeof config.gateway.seed, 0) < 0)
        return fail(gwd, "entropy", strerror(errno));
    if (gwd->conf->congestion == GWD_CONGESTION_FIXED)
        config.gateway.fixed_rate_bps = gwd->conf->rate;
    if (gwd->options.record != NULL) {
        gwd->recorder = gwd_recorder_new(gwd->options.record);
        if (gwd->recorder == NULL)
            return fail(gwd, "recording", strerror(errno));
        gwd_log(gwd->log, GMC_LEVEL_WARN, "recording", GWD_STR("file", gwd->options.record),
                GWD_STR("text", "the file holds session keys and data: keep it secret"));
    }
    config.recorder = gwd->recorder;
    gwd->fec = gmc_fec_code_new();
    if (gwd->fec == NULL)
        return fail(gwd, "core", "out of memory");
    config.gateway.fec = gmc_fec_code_table(gwd->fec);
    gwd->drive = gwd_drive_new(&config, gwd_now());
    return gwd->drive != NULL || fail(gwd, "core", "out of memory");
}

static bool open_network(struct gwd *gwd)
{
    struct gwd_peers_config config = {.base = gwd->base,
                                      .log = gwd->log,
                                      .conf = gwd->conf,
                                      .nodes = gwd->nodes,
                                      .token = gwd->has_token ? &gwd->token : NULL,
                                      .owner = {gwd, peer_number, on_change, on_stream, on_enrolled,
                                                gwd_on_fabric_frame}};
    char host[256], reason[512];
    uint16_t port = 0;
    int receive, send;
    if (!gwd_addr_split(gwd->conf->listen, host, sizeof host, &port) ||
        !gwd_addr_numeric(host, port, &config.listen))
        return fail(gwd, "listen", gwd->conf->listen);
    gwd->udp = gwd_udp_new(&config.listen, reason, sizeof reason);
    if (gwd->udp == NULL)
        return fail(gwd, "udp", reason);
    gwd->peers = gwd_peers_new(&config, reason, sizeof reason);
    if (gwd->peers == NULL)
        return fail(gwd, "tls", reason);
    gwd_udp_buffers(gwd->udp, &receive, &send);
    gwd_log(gwd->log, GMC_LEVEL_INFO, "listening", GWD_STR("address", gwd->conf->listen),
            GWD_NUM("receive_buffer_bytes", receive), GWD_NUM("send_buffer_bytes", send));
    if (receive < GWD_RECEIVE_BUFFER_GOOD)
        gwd_log(gwd->log, GMC_LEVEL_WARN, "buffer.small", GWD_NUM("bytes", receive),
                GWD_STR("text", "at high rates datagrams will be lost here; start as root (with "
                                "user = ...) or set sysctl net.core.rmem_max=8388608"));
    return true;
}

/* How nodes feed each other, unless the gateway is to send to each. */
static bool open_tree(struct gwd *gwd)
{
    const char *option;
    char reason[512];
    if (gwd->conf->node_of[0] != '\0' || gwd_tree_is_flat(gwd->conf))
        return true;
    gwd->tree = gwd_tree_new(gwd->conf, gwd->log, &option, reason, sizeof reason);
    if (gwd->tree == NULL)
        return fail(gwd, "tree", reason);
    gwd_drive_tree(gwd->drive, gwd_now(), &(struct gmc_inside_tree){gwd_tree_shape, gwd->tree});
    return true;
}

static bool is_ours(void *ctx, const char *domain)
{
    const struct gwd *gwd = ctx;
    return strcmp(domain, gwd->conf->domain) == 0;
}

static void drain_all(void *ctx)
{
    gwd_drain(ctx);
}

static bool open_local(struct gwd *gwd)
{
    struct gwd_zmq_config config = {.base = gwd->base,
                                    .control = gwd->conf->control,
                                    .events = gwd->conf->events,
                                    .ctx = gwd,
                                    .request = gwd_on_request,
                                    .refused = gwd_on_refused};
    char reason[512];
    uid_t uid;
    gid_t gid;
    if (!gwd_make_refusal(gwd))
        return fail(gwd, "control", "out of memory");
    config.last_word = gwd->refusal;
    if (!gwd_priv_ids(gwd->conf->user, gwd->conf->group, &uid, &gid, reason, sizeof reason))
        return fail(gwd, "privileges", reason);
    if (geteuid() == 0) {
        config.uid = uid;
        config.gid = gid;
    } else {
        config.uid = (uid_t)-1;
        config.gid = (gid_t)-1;
    }
    gwd->zmq = gwd_zmq_new(&config, reason, sizeof reason);
    if (gwd->zmq == NULL)
        return fail(gwd, "control", reason);
    struct gwd_messages_config messages = {.zmq = config,
                                           .drive = gwd->drive,
                                           .log = gwd->log,
                                           .now = gwd_now,
                                           .ctx = gwd,
                                           .resolve = gwd_hook_resolve,
                                           .is_ours = is_ours,
                                           .domain = gwd->conf->domain,
                                           .gateway = gwd->conf->node_of[0] != '\0'
                                                          ? gwd->conf->node_of
                                                          : NULL,
                                           .batches = gwd->options.batches,
                                           .drain = drain_all};
    gwd->messages = gwd_messages_new(&messages, reason, sizeof reason);
    if (gwd->messages == NULL)
        return fail(gwd, "messages", reason);
    if (geteuid() == 0 && (uid == (uid_t)-1 || uid == 0))
        gwd_log(gwd->log, GMC_LEVEL_WARN, "privileges.kept",
                GWD_STR("text", "gatewayd runs as root; set the option user"));
    if (!gwd_priv_drop(gwd->conf->user, uid, gid, reason, sizeof reason))
        return fail(gwd, "privileges", reason);
    return true;
}

/* Benchmarks without hashing: all gateways of a transfer have to leave it out. */
static void no_hash(const uint8_t *data, size_t len, uint8_t out[GMC_HASH_BYTES])
{
    (void)data, (void)len;
    memset(out, 0, GMC_HASH_BYTES);
}

static void no_hash_pair(const uint8_t *const data[2], size_t len, uint8_t *const out[2])
{
    no_hash(data[0], len, out[0]);
    no_hash(data[1], len, out[1]);
}

static bool open_store(struct gwd *gwd)
{
    char reason[512];
    gwd->store_ops = *gwd->crypto.ops;
    if (gwd->options.discard_data) {
        gwd->store_ops.hash = no_hash;
        gwd->store_ops.hash_pair = no_hash_pair;
    }
    gwd->store_crypto = (struct gmc_crypto){&gwd->store_ops, gwd->crypto.ctx};
    gwd->store = gwd_store_new(gwd->conf, &gwd->store_crypto, reason, sizeof reason);
    return gwd->store != NULL || fail(gwd, "store", reason);
}

static bool add(struct gwd *gwd, struct event **event, int fd, short what,
                event_callback_fn callback, bool now)
{
    *event = event_new(gwd->base, fd, what, callback, gwd);
    return *event != NULL && (!now || event_add(*event, NULL) == 0);
}

static bool open_events(struct gwd *gwd)
{
    static const int signals[3] = {SIGTERM, SIGINT, SIGHUP};
    bool ok = true;
    gwd->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    gwd->armed = GMC_TIME_NEVER;
    ok = gwd->timer_fd >= 0 &&
         add(gwd, &gwd->timer_event, gwd->timer_fd, EV_READ | EV_PERSIST, on_timer, true) &&
         add(gwd, &gwd->udp_event, gwd_udp_fd(gwd->udp), EV_READ | EV_PERSIST, on_udp, true) &&
         add(gwd, &gwd->writable_event, gwd_udp_fd(gwd->udp), EV_WRITE, gwd_on_writable, false) &&
         add(gwd, &gwd->store_event, gwd_store_fd(gwd->store), EV_READ | EV_PERSIST, on_stored,
             true) &&
         add(gwd, &gwd->drain_event, -1, 0, on_drain, false) &&
         add(gwd, &gwd->tick_event, -1, 0, gwd_on_tick, false);
    for (size_t i = 0; ok && i < 3; i++)
        ok = add(gwd, &gwd->signal_events[i], signals[i], EV_SIGNAL | EV_PERSIST, gwd_on_signal,
                 true);
    return ok || fail(gwd, "events", "out of memory or descriptors");
}

/* One descriptor for each open file, connection and worker: as many as we may have. */
static void raise_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

struct gwd *gwd_new(const struct gwd_options *options, struct gwd_conf *conf, struct gwd_log *log)
{
    struct gwd *gwd = calloc(1, sizeof *gwd);
    if (gwd == NULL)
        return NULL;
    gwd->options = *options;
    gwd->conf = gwd->started_with = conf;
    gwd->loaded_at = gwd_wall_ns();
    gwd->log = log;
    gwd->timer_fd = -1;
    gwd->days_told = INT64_MAX;
    gwd_log_sink(log, &gwd->sink, name_of, gwd);
    raise_limits();
    gwd->base = event_base_new();
    /* Keys are read and ports bound while we may; then privileges go, then the first byte is read
     * from disk or network. */
    if (gwd->base == NULL || !open_nodes(gwd) || !open_crypto(gwd) || !open_core(gwd) ||
        !open_network(gwd) || !gwd_open_multicast(gwd) || !open_tree(gwd) || !open_local(gwd) ||
        !open_store(gwd) || !gwd_open_fabric(gwd) || !open_events(gwd)) {
        gwd_free(gwd);
        return NULL;
    }
    return gwd;
}

bool gwd_is_node(const struct gwd *gwd, const char *name)
{
    const struct gwd_conf_peer *peer = gwd_conf_peer_find(gwd->conf, name);
    const struct gwd_node *node =
        peer == NULL && gwd->nodes != NULL ? gwd_nodes_find(gwd->nodes, name) : NULL;
    return peer != NULL ? peer->is_node : node != NULL && node->enrolled;
}

void gwd_tell_nodes(struct gwd *gwd)
{
    const struct gmc_gateway *gateway = gwd_drive_gateway(gwd->drive);
    for (gmc_peer i = 0; i < gmc_gateway_peer_count(gateway); i++)
        gwd_drive_node(gwd->drive, gwd_now(), i,
                       gwd_is_node(gwd, gmc_gateway_peer_name(gateway, i)));
}

static bool start(struct gwd *gwd)
{
    struct timeval soon = {.tv_sec = 0};
    char reason[2 * GMC_REASON_BYTES_MAX];
    if (!gwd_store_can_go_on(gwd->store, reason, sizeof reason))
        return fail(gwd, "store", reason);
    gwd_warn_receives(gwd);
    gwd_tell_nodes(gwd);
    gwd_store_saved(gwd->store, on_saved, gwd);
    gwd_drive_start(gwd->drive, gwd_now());
    gwd->started = true;
    if (!gwd_peers_start(gwd->peers) || !gwd_zmq_start(gwd->zmq) ||
        !gwd_messages_start(gwd->messages))
        return fail(gwd, "events", "out of memory or descriptors");
    gwd->rechecked = gwd_now();
    (void)event_add(gwd->tick_event, &soon);
    gwd_log(gwd->log, GMC_LEVEL_INFO, "ready", GWD_STR("domain", gwd->conf->domain),
            GWD_STR("listen", gwd->conf->listen), GWD_NUM("peers", gwd->conf->peer_count));
    gwd_notify("READY=1");
    gwd_drain(gwd);
    return true;
}

/* All that was asked to be written is; what is left is to give memory back. A library that hangs
 * there must not keep the gateway, its port and its unit from ending. */
static void on_late(int number)
{
    static const char text[] = "gatewayd: giving memory back took too long; left at once\n";
    (void)number;
    _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0);
}

static void bound_the_end(void)
{
    struct sigaction action = {.sa_handler = on_late};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
    (void)alarm(END_AT_MOST);
}

int gwd_run(struct gwd *gwd)
{
    if (!start(gwd))
        return 1;
    (void)event_base_dispatch(gwd->base);
    if (gwd->stop_signals == 0) {
        (void)fail(gwd, "loop", "the event loop ended by itself");
        return 1;
    }
    gwd_log(gwd->log, GMC_LEVEL_INFO, "stopped",
            GWD_NUM("unwritten", gwd_store_pending(gwd->store)));
    bound_the_end();
    return 0;
}

static void free_event(struct event *event)
{
    if (event != NULL)
        event_free(event);
}

void gwd_free(struct gwd *gwd)
{
    if (gwd == NULL)
        return;
    gwd_store_free(gwd->store); /* its workers use buffers of the core */
    gwd_zmq_free(gwd->zmq);
    gmc_ctl_bytes_free((uint8_t *)(uintptr_t)gwd->refusal.data);
    gwd_messages_free(gwd->messages);
    gwd_peers_free(gwd->peers);
    gwd_nodes_free(gwd->nodes);
    free(gwd->node_list);
    OPENSSL_cleanse(&gwd->token, sizeof gwd->token);
    free_event(gwd->timer_event);
    free_event(gwd->udp_event);
    free_event(gwd->writable_event);
    free_event(gwd->store_event);
    free_event(gwd->drain_event);
    free_event(gwd->tick_event);
    for (size_t i = 0; i < 3; i++)
        free_event(gwd->signal_events[i]);
    for (size_t i = 0; i < gwd->deferred_count; i++)
        free(gwd->deferred[i].bytes);
    if (gwd->timer_fd >= 0)
        (void)close(gwd->timer_fd);
    gwd_group_free(gwd->group);
    gwd_hearing_free(gwd->hearing);
    gwd_fabric_free(gwd->fabric);
    gwd_udp_free(gwd->udp);
    gwd_drive_free(gwd->drive);
    gwd_tree_free(gwd->tree);
    gmc_fec_code_free(gwd->fec);
    if (!gwd_recorder_free(gwd->recorder))
        gwd_log(gwd->log, GMC_LEVEL_ERROR, "recording.failed",
                GWD_STR("text", "not all of it could be written"));
    gmc_crypto_openssl_free(gwd->openssl);
    if (gwd->base != NULL) {
        /* A connection that has just failed is held by the callback that would have said so. */
        (void)event_base_loop(gwd->base, EVLOOP_NONBLOCK);
        event_base_free(gwd->base);
    }
    if (gwd->started_with != gwd->conf)
        gwd_conf_free(gwd->started_with);
    gwd_conf_free(gwd->conf);
    gmc_findings_clear(&gwd->findings);
    gwd_log_free(gwd->log);
    free(gwd);
}
