/* SPDX-License-Identifier: BSD-2-Clause */
/* The composition that gatewayd and the simulator drive: all machines of one gateway.
 *
 * Inputs say what happened and when; outputs are drained after every input or batch of inputs;
 * then the shell arms one timer for gmc_gateway_deadline(). The core does no I/O, reads no clock
 * and draws all randomness from what it was given, so the same inputs give the same outputs.
 */
#ifndef GMC_CORE_GATEWAY_H
#define GMC_CORE_GATEWAY_H

#include "base/near.h"
#include "base/pool.h"
#include "base/time.h"
#include "base/trace.h"
#include "core/cache.h"
#include "core/io.h"
#include "core/message_rx.h"
#include "core/pages.h"
#include "core/tree_predict.h"
#include "fec/fec.h"

struct gmc_gateway;

#define GMC_GATEWAY_ARENA_BYTES 131072u

/* What gateways of one process share: records that are not in use, which the next one takes while
 * they are near, and hash pages. */
struct gmc_gateway_shared {
    struct gmc_pool outs, ops;
    struct gmc_cache_spares cache;
    struct gmc_pages pages;
};

/* Keeps at most so many records of each kind. */
void gmc_gateway_shared_init(struct gmc_gateway_shared *shared, size_t most);
/* When no gateway uses it any more. */
void gmc_gateway_shared_fini(struct gmc_gateway_shared *shared);

struct gmc_gateway_config {
    const char *domain; /* own name, as in the certificate */
    /* Of a node inside a domain: the domain, whose gateway is all that it speaks to. NULL: this is
     * a gateway. */
    const char *node_of;
    const struct gmc_crypto *crypto;
    struct gmc_fec fec;                 /* ops NULL: nodes are reached by unicast alone */
    struct gmc_bytes spki;              /* own public key (DER), borrowed for the call */
    uint64_t seed;                      /* protocol jitter */
    uint64_t incarnation;               /* differs at every start of this gateway */
    const struct gmc_trace_sink *trace; /* may be NULL */
    size_t cache_bytes;                 /* bound on block memory, all channels; 0: 64 MiB */
    uint32_t children_max;              /* per channel; more are redirected; 0: 64 */
    uint32_t channels_max;              /* 0: 256 */
    size_t message_bytes;               /* that a message channel keeps to send again; 0: 8 MiB */
    gmc_duration patience;      /* how long a silent member keeps a transfer open; 0: 30 s */
    gmc_duration probe_age_max; /* how long a measured latency is used again; 0: 10 min */
    uint64_t fixed_rate_bps;    /* > 0: congestion control `fixed` at this rate; 0: `model` */
    uint64_t uplink_bps;        /* of this domain, IP packets; 0: not known */
    uint64_t downlink_bps;
    const char *deliver; /* where data is handed on to, unless the source says so
                            (core/inside.h); copied; NULL: "nodes" */
    bool discard_data;   /* benchmarks: neither hash nor store received blocks */
    bool pass_repairs; /* experiments: repairs come from the source alone, relays ask it for them */
    /* Large simulations: of each data block only the first bytes exist, GMC_VIRTUAL_BYTES for each
     * datagram of GMC_VIRTUAL_DATAGRAM_BYTES that it travels in: in memory, in datagrams (whose
     * lengths stay those of whole bodies) and in buffers of the store. Paths have to take such
     * datagrams. */
    bool virtual_bodies;
    /* With virtual bodies: of a block, a power of two from 64 KiB to 1 MiB; 0, and always without:
     * 64 KiB. The same at all gateways. */
    uint32_t block_bytes;
    /* The shell's words for an address, for people; NULL: addresses are not told. */
    void (*addr_text)(const struct gmc_addr *addr, char *out, size_t size);
    uint8_t *arena; /* GMC_GATEWAY_ARENA_BYTES for outputs, borrowed for life, may be shared by
                       gateways whose outputs are taken one gateway after the other; NULL: own */
    struct gmc_gateway_shared *shared; /* borrowed for life; NULL: own */
};

/* Returns NULL when out of memory. Borrows config->crypto and config->trace for life. */
struct gmc_gateway *gmc_gateway_new(const struct gmc_gateway_config *config, gmc_time now);
void gmc_gateway_free(struct gmc_gateway *gw);

/* What its next inputs will look at, as it stands now; for whoever has inputs for many gateways. */
void gmc_gateway_near(const struct gmc_gateway *gw, struct gmc_near *near);

/* The number of a domain by name, given on first use; its name by number. */
gmc_peer gmc_gateway_peer(struct gmc_gateway *gw, const char *domain);
const char *gmc_gateway_peer_name(const struct gmc_gateway *gw, gmc_peer peer);
/* The domain whose node this is; NULL: none, it is a gateway. */
const char *gmc_gateway_node_of(const struct gmc_gateway *gw);

/* Whether a peer is a node of this domain: all that is received here is handed on to it, and its
 * verdict is part of this domain's. Takes effect on transfers under way too. For gateways only. */
void gmc_gateway_set_node(struct gmc_gateway *gw, gmc_time now, gmc_peer peer, bool is_node);

/* This domain's key is another one, which config.crypto holds beside the old ones: channels that
 * begin from now on are signed with it, and others are told so, whatever key their sessions saw.
 * NOMEM: it stays as it is. */
GMC_NODISCARD gmc_status gmc_gateway_set_key(struct gmc_gateway *gw, gmc_time now,
                                             struct gmc_bytes spki);

/* config.deliver is this (valid, copied) for what begins to be received from now on. Out of memory
 * it stays as it is. */
void gmc_gateway_set_deliver(struct gmc_gateway *gw, gmc_time now, const char *inside);

/* The nodes of this domain can be reached all at once: datagrams that leave on GMC_PATH_GROUP come
 * to every node that hears `address`, the shell's word for the group (at most GMC_GROUP_ADDRESS_MAX
 * bytes), which nodes are told and hand to their shells (GMC_OUT_GROUP). rate_bps: of IP packets,
 * which the network to the nodes carries. Nodes that do not hear it are served by unicast, and that
 * is said. An empty address: there is no group (any more). At a node it means those of its subnet,
 * and that it can relay to them; before its subnet is set. Without fec, and with virtual bodies,
 * nothing happens. payload_max: bytes that a datagram to the group may have; transfers that were
 * cut for larger ones use no multicast, and that is said. */
void gmc_gateway_set_group(struct gmc_gateway *gw, gmc_time now, struct gmc_bytes address,
                           uint64_t rate_bps, uint32_t payload_max);

/* This node, or the gateway with its group, stands in this part of the domain's network, named by
 * whatever all in it agree on (at most GMC_SUBNET_MAX printable characters, no space; copied; ""
 * not known). In a subnet that multicast from the gateway does not reach, one node that can relay
 * gets the data for all. */
void gmc_gateway_set_subnet(struct gmc_gateway *gw, gmc_time now, const char *subnet);

/* How the nodes of this domain feed each other where they are not reached all at once. shape: for
 * `count` members, the first of which is this gateway, and an object of so many bytes, parent[i] is
 * the index of the one that feeds i, 0 the gateway; parent[0] is not read. *name: in a word, for
 * people; borrowed until the next call. It is asked again when nodes have come; the same arguments
 * give the same tree. Anything but GMC_OK, or what is no tree: all are fed by the gateway. */
struct gmc_inside_tree {
    gmc_status (*shape)(void *ctx, const char *const *names, size_t count, uint64_t bytes,
                        uint32_t *parent, const char **name);
    void *ctx;
};

/* NULL: the gateway feeds every node, as it does before the first call. For gateways only. Copied;
 * takes effect on transfers under way too. */
void gmc_gateway_set_inside_tree(struct gmc_gateway *gw, gmc_time now,
                                 const struct gmc_inside_tree *tree);

/* ---- inputs ---- */
/* Start-up: saved states first (each once, any order), then start. */
gmc_status gmc_gateway_on_saved(struct gmc_gateway *gw, gmc_time now,
                                const struct gmc_saved *saved);
void gmc_gateway_start(struct gmc_gateway *gw, gmc_time now);

/* The status says why a datagram was dropped (it is counted already); shells may ignore it. */
gmc_status gmc_gateway_on_datagram(struct gmc_gateway *gw, gmc_time now,
                                   const struct gmc_dgram_in *in);
void gmc_gateway_on_peer(struct gmc_gateway *gw, gmc_time now,
                         const struct gmc_peer_change *change);
void gmc_gateway_on_stored(struct gmc_gateway *gw, gmc_time now,
                           const struct gmc_store_result *result);
void gmc_gateway_on_timer(struct gmc_gateway *gw, gmc_time now);

/* ---- the local user's calls (libgmcast/ctl turns requests into these) ---- */
struct gmc_stage_target {
    const char *domain;
    const char *path;   /* "" for the default place */
    const char *inside; /* to which of its nodes it hands on (core/inside.h); NULL or "": as it is
                           configured */
};

struct gmc_stage_request {
    const char *const *sources;
    size_t source_count;
    const struct gmc_stage_target *targets;
    size_t target_count;
    enum gmc_tree_shape shape;
    uint64_t rate_bps; /* cap on what each link carries of this object; 0: none */
    bool background;   /* links that carry nothing else yield to everyone else */
    bool plan;         /* only measure, and choose the trees: nobody is sent anything of it */
};

/* Begins a transfer; what fails later shows in the channel's state. error (borrowed until the
 * next call) says in words why a request is refused. */
GMC_NODISCARD gmc_status gmc_gateway_stage(struct gmc_gateway *gw, gmc_time now,
                                           const struct gmc_stage_request *request,
                                           struct gmc_channel_key *key, const char **error);
GMC_NODISCARD gmc_status gmc_gateway_add(struct gmc_gateway *gw, gmc_time now,
                                         const struct gmc_channel_key *key,
                                         const struct gmc_stage_target *target, const char **error);
GMC_NODISCARD gmc_status gmc_gateway_cancel(struct gmc_gateway *gw, gmc_time now,
                                            const struct gmc_channel_key *key, const char **error);
/* Gives up, in this domain alone, a transfer that comes from another one: what is unfinished here
 * is removed, and its source told when it is heard. Also where it is not heard any more. STATE: it
 * ends by itself. */
GMC_NODISCARD gmc_status gmc_gateway_leave(struct gmc_gateway *gw, gmc_time now,
                                           const struct gmc_channel_key *key, const char **error);
/* Goes on with a transfer that ended incomplete: failed members are asked again. */
GMC_NODISCARD gmc_status gmc_gateway_resume(struct gmc_gateway *gw, gmc_time now,
                                            const struct gmc_channel_key *key, const char **error);
/* Sends a control-API request to another domain; the answer comes as GMC_OUT_REPLY with id. */
GMC_NODISCARD gmc_status gmc_gateway_forward(struct gmc_gateway *gw, gmc_time now, gmc_peer peer,
                                             uint64_t id, struct gmc_bytes request);
/* Answers a GMC_OUT_REQUEST or GMC_OUT_NODE_REQUEST. */
void gmc_gateway_answer(struct gmc_gateway *gw, gmc_time now, gmc_peer peer, uint64_t id,
                        struct gmc_bytes reply);

/* ---- message channels ---- */
struct gmc_open_request {
    const char *name; /* gmc_channel_name_ok */
    /* DOMAIN, or DOMAIN/INSIDE (core/inside.h): who in it has programs that subscribe. Of this
     * domain: its nodes. None: programs at this gateway. */
    const char *const *targets;
    size_t target_count;
    enum gmc_message_order order;
    enum gmc_tree_shape shape;
};

/* Opens a channel for messages of this domain. It takes them when GMC_OUT_ROOM has said so. A
 * reliable channel (all orders but LATEST) keeps what was sent in a ring of message_bytes: what a
 * domain has not got when it leaves the ring is lost to that domain, whose sequence numbers then
 * show a gap. EXISTS: one of this name is open. */
GMC_NODISCARD gmc_status gmc_gateway_open(struct gmc_gateway *gw, gmc_time now,
                                          const struct gmc_open_request *request,
                                          struct gmc_channel_key *key, const char **error);
/* Publishes on a channel of ours, e. AGAIN: when GMC_OUT_ROOM comes; nothing was taken. LIMIT:
 * longer than GMC_MESSAGE_BYTES_MAX. NOT_FOUND, STATE: there is none, or it has ended. */
GMC_NODISCARD gmc_status gmc_gateway_publish(struct gmc_gateway *gw, gmc_time now, uint64_t e,
                                             struct gmc_bytes message);
/* The channel ends behind what was published. reason: in words, for subscribers. AGAIN as above,
 * and as long as a member that is heard has not said whether it takes part. */
GMC_NODISCARD gmc_status gmc_gateway_end(struct gmc_gateway *gw, gmc_time now, uint64_t e,
                                         const char *reason);

/* ---- outputs ---- */
/* Takes the next output; what it points at is borrowed until the next input, store buffers until
 * their ticket is answered. */
bool gmc_gateway_next_output(struct gmc_gateway *gw, struct gmc_output *out);
/* The shell may say that it needs nothing any more of what it has taken, while that is still in the
 * processor's cache; the next input says so too. */
void gmc_gateway_done_with_outputs(struct gmc_gateway *gw);
/* When on_timer wants to be called; GMC_TIME_NEVER. */
gmc_time gmc_gateway_deadline(const struct gmc_gateway *gw);

/* ---- what is going on (for status, tree, peers) ---- */
enum gmc_channel_state {
    GMC_CHANNEL_SCANNING, /* source: reading the list of files */
    GMC_CHANNEL_PROBING,  /* source: latencies are being measured */
    GMC_CHANNEL_RUNNING,  /* data moves */
    GMC_CHANNEL_COMPLETE, /* complete everywhere (at a target: here) */
    GMC_CHANNEL_PARTIAL,  /* source: complete at some */
    GMC_CHANNEL_CANCELLED,
    GMC_CHANNEL_FAILED, /* could not start, or the source failed */
    GMC_CHANNEL_PLANNED /* the trees are chosen, and nothing else was to be done */
};

/* Where a rate that a plan counts with comes from. */
enum gmc_rate_origin {
    GMC_RATE_CONFIGURED,
    GMC_RATE_MEASURED, /* in earlier transfers */
    GMC_RATE_ASSUMED   /* not known: the least of those that are, see core/tree_predict.h */
};

/* What a plan counts with for one gateway. Downlinks are not measured, and nothing is assumed of
 * them. */
struct gmc_plan_rate {
    const char *domain;
    uint64_t uplink_bps;
    enum gmc_rate_origin uplink_origin;
    uint32_t copies;       /* children over all stripes */
    uint64_t downlink_bps; /* as configured; 0 not known */
};

/* How long a planned transfer would take once its members are measured, and why. Rates are those of
 * the object: without heads, and what congestion control leaves. */
struct gmc_plan_info {
    gmc_duration time;  /* 0: there is no prediction */
    gmc_duration bound; /* that no trees can beat */
    uint64_t rate_bps;  /* of the whole object, at every target */
    enum gmc_tree_limit limit;
    const char *limit_domain; /* whose uplink or downlink it is, else NULL */
    uint64_t limit_bps;       /* its rate */
    uint32_t copies;          /* children of that domain over all stripes, if its uplink is it */
    bool assumed;             /* the uplink is not known */
    bool measured;            /* the uplink is known from earlier transfers, not configured */
    /* The source, then all that are in the trees; none when there is no prediction. Borrowed until
     * the next input. */
    const struct gmc_plan_rate *rates;
    size_t rate_count;
};

enum gmc_member_state {
    GMC_MEMBER_WAITING, /* not yet answered */
    GMC_MEMBER_RECEIVING,
    GMC_MEMBER_VERIFIED, /* proved the object's digest */
    GMC_MEMBER_FAILED,   /* refused, or failed; reason says why */
    GMC_MEMBER_SILENT,   /* not heard from; may come back */
    GMC_MEMBER_LEFT      /* a node that left this domain: it is not waited for */
};

struct gmc_member_info {
    const char *domain;
    bool is_node;                                       /* of this domain */
    const char *parent;                                 /* current parent; NULL if none yet */
    uint32_t stripes;                                   /* of the object, a tree for each */
    const char *more_parents[GMC_TREE_STRIPES_MAX - 1]; /* of the stripes behind the first */
    const char *path;
    enum gmc_member_state state;
    uint64_t bytes;                 /* verified and stored, of total_bytes */
    uint64_t repairs;               /* fragments that its parent sent again */
    gmc_duration elapsed;           /* until verified, or until now */
    uint8_t digest[GMC_HASH_BYTES]; /* when VERIFIED */
    const char *reason;
    uint64_t latency_ns; /* of the link to its first parent, as probed; 0 unknown */
    /* Of its domain, that are to have it; those that left it, or were removed, are not waited for.
     */
    uint32_t nodes, nodes_verified, nodes_failed, nodes_left;
};

struct gmc_channel_info {
    struct gmc_channel_key key;
    bool is_source;
    enum gmc_channel_state state;
    enum gmc_tree_shape shape;
    const char *name;     /* of a message channel; NULL: an object */
    uint64_t messages;    /* of a message channel: published, or arrived */
    uint64_t total_bytes; /* file data */
    uint64_t bytes;       /* here */
    uint64_t file_count;
    uint64_t rate_cap_bps;
    bool background;
    bool is_saving; /* at the source: it is not on the disk yet, and a crash would forget it */
    gmc_duration elapsed;
    gmc_duration setup; /* command to first data datagram; 0: not yet */
    uint32_t tree_version;
    size_t member_count; /* targets, and here the nodes; 0 where the record is unknown */
    uint8_t digest[GMC_HASH_BYTES];
    const char *reason;
    struct gmc_plan_info plan; /* when PLANNED */
};

size_t gmc_gateway_channel_count(const struct gmc_gateway *gw);
/* By index, in order of opening; false past the end. */
bool gmc_gateway_channel_info(const struct gmc_gateway *gw, gmc_time now, size_t index,
                              struct gmc_channel_info *info);
/* Member i of channel index. The source knows all of them; a target knows itself, which is member
 * 0, the nodes of its domain that it hands the object to, and those above it in the first tree. */
bool gmc_gateway_member_info(const struct gmc_gateway *gw, gmc_time now, size_t index, size_t i,
                             struct gmc_member_info *info);

/* What the data for a peer waits for, the last of them nearest to leaving. */
enum gmc_wait {
    GMC_WAIT_NOTHING,  /* there is none, or all was sent */
    GMC_WAIT_PARENT,   /* it has not come here yet */
    GMC_WAIT_STORE,    /* it is being read, or hashed, here */
    GMC_WAIT_RECEIVER, /* the peer has to store what it got; its window is full */
    GMC_WAIT_CAP,      /* the rate that the request gave */
    GMC_WAIT_UPLINK,   /* its turn on the uplink that all links share */
    GMC_WAIT_PATH      /* congestion control */
};

struct gmc_peer_info {
    const char *domain;
    bool up;
    bool is_node; /* of this domain */
    /* Somebody forged in the domain's multicast: this node alone can have done so every time, or
     * it is one of those that can. */
    bool forges, is_suspect;
    enum gmc_path path;
    uint64_t rtt_ns; /* smoothed */
    uint64_t min_rtt_ns;
    uint64_t rate_bps; /* what congestion control allows now */
    /* Since the start of this gateway, over all sessions. */
    uint64_t bytes_sent, bytes_received; /* datagrams, link heads included */
    uint64_t packets_sent, packets_lost;
    uint32_t payload_max; /* validated UDP payload */
    const char *reason;   /* why it is down */
    uint32_t loss_ppm;    /* base loss of the path, as congestion control estimates it */
    /* Whether UDP gets there and from there, in this session: gmc_link_reach. */
    enum gmc_reach udp_out, udp_in;
    enum gmc_wait wait;
};
size_t gmc_gateway_peer_count(const struct gmc_gateway *gw);
bool gmc_gateway_peer_info(const struct gmc_gateway *gw, gmc_time now, gmc_peer peer,
                           struct gmc_peer_info *info);
/* Makes a session with the peer if there is none (nodes dial by themselves), and looks anew whether
 * UDP gets there and from there; gmc_gateway_peer_info then tells, within two seconds or so of the
 * session. NOT_FOUND: it is none, or this gateway itself. */
gmc_status gmc_gateway_test(struct gmc_gateway *gw, gmc_time now, gmc_peer peer);
/* Last measured round trip between two domains, ns; 0 when unknown. */
uint64_t gmc_gateway_latency(const struct gmc_gateway *gw, gmc_peer a, gmc_peer b);

/* Why datagrams were dropped, and other counts; names for machines. */
struct gmc_counter {
    const char *name;
    uint64_t value;
};
size_t gmc_gateway_counters(const struct gmc_gateway *gw, struct gmc_counter *out, size_t max);

#endif
