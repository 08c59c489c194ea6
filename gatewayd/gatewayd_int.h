/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the daemon share. */
#ifndef GWD_GATEWAYD_INT_H
#define GWD_GATEWAYD_INT_H

#include <event2/event.h>

#include "crypto/openssl.h"
#include "ctl/findings.h"
#include "fec/code.h"
#include "gatewayd/ctl_zmq.h"
#include "gatewayd/drive.h"
#include "gatewayd/fabric.h"
#include "gatewayd/gatewayd.h"
#include "gatewayd/group.h"
#include "gatewayd/hearing.h"
#include "gatewayd/messages.h"
#include "gatewayd/nodes.h"
#include "gatewayd/peer.h"
#include "gatewayd/store.h"
#include "gatewayd/tree.h"
#include "gatewayd/udp.h"

#define GWD_DEFERRED_MAX 256
#define GWD_ASKED_MAX 256
#define GWD_COUNTERS_MAX 64
#define GWD_RECEIVE_BUFFER_GOOD (2 << 20) /* 16 ms at 1 Gbit/s */

/* What a drain found that is an input again: done when the outputs are no longer borrowed. */
struct gwd_deferred {
    enum gmc_output_kind kind;
    gmc_peer peer;
    uint64_t id;
    uint8_t *bytes;
    size_t len;
};

/* A local client whose answer comes from another domain. */
struct gwd_asked {
    bool used;
    uint64_t id;
    gmc_time since;
    struct gwd_client client;
};

/* How busy the daemon was between the last two ticks. */
struct gwd_load {
    bool known;
    unsigned loop_percent, store_percent;
    unsigned store_cpu_percent; /* of the store's time, as much on a processor */
    gmc_time at;                /* of the last tick, with what was used until then */
    uint64_t loop_ns;
    struct gwd_workers_load store;
};

struct gwd {
    struct gwd_options options;
    struct gwd_conf *conf;
    struct gwd_conf *started_with; /* what takes a restart is in force as it says */
    int64_t loaded_at;             /* Unix time in ns, when files were last read */
    struct gwd_log *log;
    struct gmc_trace_sink sink;
    struct event_base *base;
    struct gmc_crypto_openssl *openssl;
    struct gmc_crypto crypto;
    struct gmc_crypto_ops store_ops; /* the same but, in benchmarks, for the hash */
    struct gmc_crypto store_crypto;
    struct gwd_recorder *recorder;
    struct gwd_drive *drive;
    struct gwd_store *store;
    struct gwd_udp *udp;
    struct gwd_peers *peers;
    struct gwd_zmq *zmq;
    struct gmc_bytes refusal; /* the reply to what is no request; of gmc_ctl_encode_reply */
    uint64_t requests_refused;
    struct gwd_messages *messages;
    struct gwd_nodes *nodes; /* that enrolled; NULL at a node */
    bool nodes_changed;
    bool has_token; /* of this node, for its enrolment */
    struct gwd_token token;
    char token_text[GWD_TOKEN_TEXT_MAX]; /* as last given out */
    struct gmc_ctl_node *node_list;      /* as last told */
    struct gmc_fec_code *fec;
    struct gwd_mcast_group mcast; /* of a node: that it relays to */
    bool subnet_known;
    struct gwd_group *group;     /* NULL: nodes are reached by unicast alone */
    struct gwd_hearing *hearing; /* of a node */
    struct gwd_tree *tree;       /* NULL: the gateway sends to each node */
    struct gwd_fabric *fabric;   /* NULL: sockets carry all */

    int timer_fd;
    gmc_time armed; /* what timer_fd is set to */
    struct event *timer_event, *udp_event, *writable_event, *store_event, *drain_event;
    struct event *tick_event, *signal_events[3];

    struct gwd_deferred deferred[GWD_DEFERRED_MAX];
    size_t deferred_count;
    struct gwd_asked asked[GWD_ASKED_MAX];
    char hook_reason[GMC_REASON_BYTES_MAX];

    bool started;
    unsigned stop_signals;
    gmc_time stop_by;
    gmc_time rechecked;
    int64_t days_told; /* of the certificate's life, when it was last warned about */
    struct gmc_counter counters[GWD_COUNTERS_MAX]; /* as last logged */
    size_t counter_count;
    struct gwd_load load;
    struct gmc_findings findings; /* as last told */
    uint64_t moved;               /* datagrams, at the last look */
    bool trim;                    /* memory may be given back when it is quiet */
};

gmc_time gwd_now(void);
int64_t gwd_wall_ns(void); /* Unix time */
/* Whether a neighbour is a node of this domain. */
bool gwd_is_node(const struct gwd *gwd, const char *name);
/* Which neighbours are nodes, as the configuration and the tokens say. */
void gwd_tell_nodes(struct gwd *gwd);

/* ---- multicast.c ---- */
/* What the configuration says of the domain's group: opens it at a gateway, gets a node ready to
 * hear it. False when it cannot be. */
bool gwd_open_multicast(struct gwd *gwd);
/* Tells the core where this host stands inside its domain, once that is known. */
void gwd_look_for_subnet(struct gwd *gwd);
/* A request that is of the self-test is answered. */
bool gwd_answer_test(struct gwd *gwd, gmc_peer peer, uint64_t id, struct gmc_bytes request);

/* ---- fabric_open.c ---- */
/* After privileges are gone: what it opens belongs to the daemon's user. */
bool gwd_open_fabric(struct gwd *gwd);
void gwd_on_fabric_frame(void *gwd, const char *from, enum gwd_frame_type type,
                         struct gmc_bytes body);
void gwd_hook_fabric(void *gwd, const char *domain, struct gmc_ctl_fabric *out);

/* ---- drain.c ---- */
/* Takes all outputs, acts on them, arms the timer. After every input or batch of inputs. */
void gwd_drain(struct gwd *gwd);
/* The same from the loop, when the caller cannot do it itself. */
void gwd_drain_soon(struct gwd *gwd);
void gwd_on_writable(evutil_socket_t fd, short what, void *gwd);

/* ---- local.c ---- */
void gwd_on_request(void *gwd, const struct gwd_client *client, struct gmc_bytes request);
/* A client sent what is no request; it has had the refusal. */
void gwd_on_refused(void *gwd, uid_t uid);
bool gwd_make_refusal(struct gwd *gwd);
/* Another domain's answer came. */
void gwd_on_reply(struct gwd *gwd, uint64_t id, struct gmc_bytes reply);
void gwd_on_event(struct gwd *gwd, const struct gmc_event *event);
const char *gwd_hook_resolve(void *gwd, const char *name);
gmc_status gwd_hook_may(void *gwd, const char *origin, const char *const *paths, size_t count,
                        const char **reason);
size_t gwd_hook_counters(void *gwd, struct gmc_counter *out, size_t max);

void gwd_hook_traffic(void *gwd, const struct gmc_channel_key *key, struct gmc_ctl_traffic *out);
void gwd_hook_multicast(void *gwd, const char *domain, struct gmc_ctl_multicast *out);

void gwd_hook_session(void *gwd, const char *domain, struct gmc_ctl_session *out);

/* ---- doctor_live.c ---- */
size_t gwd_hook_findings(void *gwd, const struct gmc_ctl_finding **out);
/* To be called every few seconds. */
void gwd_doctor_tick(struct gwd *gwd, gmc_time now);

/* ---- local_nodes.c ---- */
gmc_status gwd_hook_nodes(void *gwd, const struct gmc_ctl_request *request,
                          struct gmc_ctl_reply *reply, const char **reason);
/* Puts into force what gwd_hook_nodes changed. */
void gwd_take_nodes(struct gwd *gwd);

/* ---- upkeep.c ---- */
/* Says which directories cannot be received into. */
void gwd_warn_receives(struct gwd *gwd);
void gwd_on_tick(evutil_socket_t fd, short what, void *gwd);
void gwd_on_signal(evutil_socket_t signal, short what, void *gwd);
void gwd_check_stopped(struct gwd *gwd);

#endif
