/* SPDX-License-Identifier: BSD-2-Clause */
/* The control API of a gateway as plain data: requests, and what replies say about transfers and
 * peers. Strings are never NULL in what a reply holds; names of files may be any bytes but NUL. */
#ifndef GMCAST_CONTROL_H
#define GMCAST_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GMC_CTL_DIGEST_BYTES 32
/* "0123456789abcdef@domain", with the terminating zero. */
#define GMC_CTL_CHANNEL_TEXT_MAX 273

enum gmc_ctl_kind {
    GMC_CTL_STAGE = 1, /* begin a transfer */
    GMC_CTL_ADD,       /* a further domain joins */
    GMC_CTL_STATUS,    /* one transfer with its members, or all without them */
    GMC_CTL_CANCEL,    /* end it everywhere, remove what is unfinished */
    GMC_CTL_RESUME,    /* ask failed members again */
    GMC_CTL_PEERS,     /* known gateways, links, latencies */
    GMC_CTL_COUNTERS,  /* why datagrams were dropped, and other counts */
    GMC_CTL_PLAN,      /* as STAGE, but only the trees are chosen; ends PLANNED */
    /* Local programs only: */
    GMC_CTL_NODE_ADD,    /* a token with which a node of this domain enrols */
    GMC_CTL_NODE_REMOVE, /* neither token nor enrolment of a node counts any more */
    GMC_CTL_NODES,       /* the nodes of this domain */
    GMC_CTL_DOCTOR       /* tests links, tells what is not well with this gateway */
};

enum gmc_ctl_transfer_state {
    GMC_CTL_TRANSFER_UNKNOWN, /* from a newer gateway */
    GMC_CTL_TRANSFER_SCANNING,
    GMC_CTL_TRANSFER_PROBING,
    GMC_CTL_TRANSFER_RUNNING,
    GMC_CTL_TRANSFER_COMPLETE, /* everywhere; at a target: here */
    GMC_CTL_TRANSFER_PARTIAL,  /* complete at some, the others failed */
    GMC_CTL_TRANSFER_CANCELLED,
    GMC_CTL_TRANSFER_FAILED,
    GMC_CTL_TRANSFER_PLANNED
};

enum gmc_ctl_limit {
    GMC_CTL_LIMIT_NONE, /* or from a newer gateway */
    GMC_CTL_LIMIT_UPLINK,
    GMC_CTL_LIMIT_DOWNLINK,
    GMC_CTL_LIMIT_CAP /* that the request gave */
};

enum gmc_ctl_member_state {
    GMC_CTL_MEMBER_UNKNOWN, /* from a newer gateway */
    GMC_CTL_MEMBER_WAITING,
    GMC_CTL_MEMBER_RECEIVING,
    GMC_CTL_MEMBER_VERIFIED, /* proved the object's digest */
    GMC_CTL_MEMBER_FAILED,
    GMC_CTL_MEMBER_SILENT, /* not heard from, may come back */
    GMC_CTL_MEMBER_LEFT    /* a node that left its domain: it is not waited for */
};

struct gmc_ctl_target {
    const char *domain; /* name or alias */
    const char *path;   /* "" the granted directory; "x/" into x; else the new name */
    /* Where inside the domain: "gateway", "nodes", "shared", or names of nodes with + between;
     * NULL or "": as that domain is configured. */
    const char *inside;
};

/* Strings may be NULL for "". */
struct gmc_ctl_request {
    enum gmc_ctl_kind kind;
    const char *channel; /* ADD, STATUS, CANCEL, RESUME: "hex@domain" or the first hex digits;
                            STATUS "": all */
    bool
        local; /* STATUS of one: as this gateway sees it, with its nodes; the source is not asked */
    const char *from; /* STAGE, PLAN: the domain that holds the data; "" the gateway asked */
    const char *const *sources; /* STAGE, PLAN: absolute paths there */
    size_t source_count;
    const struct gmc_ctl_target *targets; /* STAGE, PLAN, ADD (one); DOCTOR: domain only, whose
                                             links are to be tested */
    size_t target_count;
    const char *shape; /* STAGE, PLAN: eco, flat, binomial, binary, chain, bulk; "" the default */
    uint64_t rate_bps; /* STAGE, PLAN: cap of what each link carries, bit/s, 1000 or more; 0 none */
    const char *node;  /* NODE_ADD, NODE_REMOVE: its name */
    uint32_t lifetime_s; /* NODE_ADD: of the token; 0 the default */
    bool background;     /* STAGE: links that carry nothing else yield to everyone else */
};

/* A target of a transfer. */
#define GMC_CTL_STRIPES_MAX 8

struct gmc_ctl_member {
    const char *domain;
    const char *parent; /* "" not attached */
    const char *path;
    enum gmc_ctl_member_state state;
    uint64_t bytes;      /* verified and stored, of the transfer's total_bytes */
    uint64_t repairs;    /* fragments that its parent sent again */
    uint64_t elapsed_ns; /* until verified, or until now */
    bool has_digest;
    uint8_t digest[GMC_CTL_DIGEST_BYTES];
    const char *reason;
    uint64_t latency_ns; /* round trip to its parent, as probed; 0 unknown */
    /* An object in stripes has a tree for each: parents in those behind the first, "" not attached.
     * At most GMC_CTL_STRIPES_MAX - 1; as many for each member of a transfer. */
    const char *const *more_parents;
    size_t more_parent_count;
    /* Of its domain, that are to have it; those that left it, or were removed, are not waited for.
     */
    uint32_t nodes, nodes_verified, nodes_failed, nodes_left;
};

/* Where a rate comes from. */
enum gmc_ctl_origin {
    GMC_CTL_ORIGIN_UNKNOWN, /* from a newer gateway */
    GMC_CTL_ORIGIN_CONFIGURED,
    GMC_CTL_ORIGIN_MEASURED, /* in earlier transfers */
    GMC_CTL_ORIGIN_ASSUMED   /* not known: the least of those that are, or 100 Mbit/s */
};

/* What a plan counts with for one domain. */
struct gmc_ctl_rate {
    const char *domain;
    uint64_t uplink_bps;
    enum gmc_ctl_origin uplink_origin;
    uint32_t copies;       /* children that this uplink feeds, over all stripes */
    uint64_t downlink_bps; /* as configured; 0 not known: it counts as no limit */
};

/* What a planned transfer would take after its set-up. Rates are those of the object, without
 * headers and what congestion control leaves free, in bit/s. */
struct gmc_ctl_plan {
    uint64_t time_ns;  /* 0: no prediction */
    uint64_t bound_ns; /* that no trees can beat */
    uint64_t rate_bps;
    enum gmc_ctl_limit limit;
    const char *limit_domain; /* whose uplink or downlink it is */
    uint64_t limit_bps;
    uint32_t copies;                  /* children that this uplink feeds, over all stripes */
    bool assumed;                     /* that uplink is not known */
    bool measured;                    /* that uplink is known from earlier transfers alone */
    const struct gmc_ctl_rate *rates; /* only when one transfer was asked for; the source first */
    size_t rate_count;
};

/* What passes on a message channel, at the gateway or node that answers. */
struct gmc_ctl_traffic {
    uint64_t in_rate;  /* messages that came, or were published, in the last second */
    uint64_t out_rate; /* messages that subscribers here were handed in it, each counted */
    uint64_t handed;   /* such messages in all */
    uint64_t missed;   /* sequence numbers between the first and the last that did not come */
    uint64_t dropped;  /* messages lost to subscribers that do not read, each counted */
};

struct gmc_ctl_transfer {
    const char *channel; /* 16 hexadecimal digits, "@", source domain */
    bool is_source;      /* the answering gateway is the source */
    enum gmc_ctl_transfer_state state;
    const char *shape;
    uint64_t total_bytes; /* of the files; 0 not known yet */
    uint64_t bytes;       /* at the answering gateway */
    uint64_t file_count;
    uint64_t rate_bps; /* cap; 0 none */
    bool background;   /* yields to everyone else */
    bool is_saving;    /* at the source, which has not written it to its disk yet */
    uint64_t elapsed_ns;
    uint64_t setup_ns; /* command to first data; 0 not yet */
    uint32_t tree_version;
    bool has_digest;
    uint8_t digest[GMC_CTL_DIGEST_BYTES];
    const char *reason;
    uint32_t total_members, verified_members, failed_members;
    const struct gmc_ctl_member *members; /* only when one transfer was asked for */
    size_t member_count;
    struct gmc_ctl_plan plan;       /* when PLANNED */
    const char *name;               /* of a message channel; "": an object */
    uint64_t message_count;         /* published, or up to which they came here */
    struct gmc_ctl_traffic traffic; /* of a message channel */
};

/* What carries a neighbour's datagrams in the place of UDP: the interconnect of its domain. */
struct gmc_ctl_fabric {
    const char *name;                    /* "": nothing does now */
    uint64_t bytes_sent, bytes_received; /* that it carried */
};

enum gmc_ctl_multicast_state {
    GMC_CTL_MULTICAST_UNTESTED, /* or there is no group, or it is no node of the gateway */
    GMC_CTL_MULTICAST_ARRIVES,
    GMC_CTL_MULTICAST_LOST /* it gets everything by unicast, unless a node of its subnet relays */
};

/* Whether datagrams to the domain's group came to a node when that was last tested. */
struct gmc_ctl_multicast {
    enum gmc_ctl_multicast_state state;
    const char *reason; /* when LOST */
};

/* Do datagrams get through, in one direction? */
enum gmc_ctl_reach {
    GMC_CTL_REACH_UNKNOWN, /* or from a newer gateway */
    GMC_CTL_REACH_ARRIVES,
    GMC_CTL_REACH_LOST
};

/* What the data for a neighbour waits for. */
enum gmc_ctl_wait {
    GMC_CTL_WAIT_NOTHING,  /* there is none; or from a newer gateway */
    GMC_CTL_WAIT_PARENT,   /* it has not come to this gateway yet */
    GMC_CTL_WAIT_STORE,    /* it is being read, or hashed, here */
    GMC_CTL_WAIT_RECEIVER, /* the neighbour has to store what it got */
    GMC_CTL_WAIT_CAP,      /* the rate that the request gave */
    GMC_CTL_WAIT_UPLINK,   /* its turn on the uplink that all links share */
    GMC_CTL_WAIT_PATH      /* congestion control */
};

enum gmc_ctl_transport { GMC_CTL_TRANSPORT_AUTO, GMC_CTL_TRANSPORT_UDP, GMC_CTL_TRANSPORT_TCP };
enum gmc_ctl_connect { GMC_CTL_CONNECT_BOTH, GMC_CTL_CONNECT_OUT, GMC_CTL_CONNECT_IN };

/* An attempt to connect that is under way. */
enum gmc_ctl_dial {
    GMC_CTL_DIAL_NONE, /* or from a newer gateway */
    GMC_CTL_DIAL_TCP,  /* nobody has answered yet */
    GMC_CTL_DIAL_TLS   /* connected, not yet greeted */
};

/* The session with a neighbour, and what the configuration says of it. */
struct gmc_ctl_session {
    bool configured; /* by a section, or enrolled */
    bool is_node;    /* of the domain that answers */
    bool up;         /* TLS */
    bool dialled;    /* from here; else from there */
    const char *alias;
    const char *address; /* of the other end, or as configured; "" not known */
    enum gmc_ctl_transport transport;
    enum gmc_ctl_connect connect;
    enum gmc_ctl_dial dial;
};

struct gmc_ctl_peer {
    const char *domain;
    bool up;
    bool stream; /* UDP is blocked: datagrams travel inside the TLS connection */
    uint64_t rtt_ns, min_rtt_ns;
    uint64_t rate_bps; /* what congestion control allows now */
    uint64_t bytes_sent, bytes_received;
    uint64_t packets_sent, packets_lost;
    uint32_t payload_max; /* UDP payload that the path takes */
    const char *reason;   /* why it is down */
    struct gmc_ctl_fabric fabric;
    struct gmc_ctl_multicast multicast;
    struct gmc_ctl_session session;
    enum gmc_ctl_reach udp_out, udp_in; /* to it, and from it, in this session */
    enum gmc_ctl_wait wait;
    uint32_t loss_ppm; /* of the path, as congestion control estimates it */
};

/* A measured round trip between two entries of peers. */
struct gmc_ctl_latency {
    uint32_t a, b;
    uint64_t rtt_ns;
};

struct gmc_ctl_counter {
    const char *name;
    uint64_t value;
};

enum gmc_ctl_node_state {
    GMC_CTL_NODE_UNKNOWN,    /* from a newer gateway */
    GMC_CTL_NODE_CONFIGURED, /* by a section of the configuration */
    GMC_CTL_NODE_ENROLLED,   /* by a token */
    GMC_CTL_NODE_INVITED,    /* a token waits for it */
    GMC_CTL_NODE_EXPIRED     /* its token was not used in time */
};

/* A node of the domain that answers. */
struct gmc_ctl_node {
    const char *name;
    enum gmc_ctl_node_state state;
    bool up;         /* it has a session */
    int64_t since;   /* Unix time of its enrolment; 0 none */
    int64_t expires; /* Unix time, of a token that is open; 0 none */
};

enum gmc_ctl_level {
    GMC_CTL_LEVEL_OK,
    GMC_CTL_LEVEL_WARN, /* works, but slower or not for long */
    GMC_CTL_LEVEL_FAIL  /* does not work; or from a newer gateway */
};

/* One thing that was looked at. */
struct gmc_ctl_finding {
    enum gmc_ctl_level level;
    const char *check;   /* what was looked at: a word for machines, which stays the same */
    const char *subject; /* at what: a domain, a directory, a file */
    int64_t value;       /* the figure; counts when there is a unit */
    const char *unit;    /* "" no figure */
    const char *text;    /* what was found */
    const char *advice;  /* what to do; "" nothing */
};

struct gmc_ctl_reply {
    int status;          /* 0, or a negative code; error then says why */
    const char *error;   /* what, where, what to do */
    const char *domain;  /* who answers */
    const char *channel; /* STAGE, PLAN, ADD, CANCEL, RESUME */
    const struct gmc_ctl_transfer *transfers;
    size_t transfer_count;
    const struct gmc_ctl_peer *peers; /* the first is the answering gateway itself */
    size_t peer_count;
    const struct gmc_ctl_latency *latencies;
    size_t latency_count;
    const struct gmc_ctl_counter *counters;
    size_t counter_count;
    const char *token; /* NODE_ADD; else "" */
    const struct gmc_ctl_node *nodes;
    size_t node_count;
    const struct gmc_ctl_finding *findings; /* DOCTOR */
    size_t finding_count;
};

#endif
