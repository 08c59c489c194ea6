/* SPDX-License-Identifier: BSD-2-Clause */
/* Control messages between gateways: plain structs <-> protobuf bytes (proto/control.proto), the
 * signed channel record and the members that it covers (proto/record.proto). Decoding checks every
 * bound; what it returns is within them. */
#ifndef GMC_WIRE_CONTROL_H
#define GMC_WIRE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define GMC_MEMBERS_MAX 16384 /* with the source */
#define GMC_RANGES_MAX 4096   /* in one message */
#define GMC_NAME_MAX 255
#define GMC_TEXT_MAX 511
#define GMC_RECORD_PATH_MAX 4095
#define GMC_SECRET_BYTES 32
#define GMC_DIGEST_BYTES 32
#define GMC_SOURCE_KEY_MAX 2048 /* a public key, DER */
#define GMC_STRIPES_MAX 8u
#define GMC_ANCESTORS_MAX 63         /* between a member and the source */
#define GMC_PROOF_HASHES_MAX 14      /* the height of a tree of GMC_MEMBERS_MAX leaves */
#define GMC_MSG_BYTES_MAX (1u << 20) /* a message or a record */
#define GMC_CHANNEL_NAME_MAX 128     /* of a message channel */
#define GMC_GROUP_ADDRESS_MAX 64     /* a shell's word for a multicast group */
#define GMC_GROUP_NEEDS_MAX 64       /* in one message */
#define GMC_NODES_PAYLOAD_MIN 1200   /* bytes, what every path is expected to carry */
#define GMC_NEIGHBOURS_MAX 65        /* of a node in its domain's tree: a parent, and children */
#define GMC_SUBNET_MAX 63            /* bytes of a subnet's name */
#define GMC_ADDRESS_MAX 31           /* a shell's word for where datagrams go */
#define GMC_GROUP_SOURCES_MAX 192u   /* fragments of a window of blocks (core/group.h) */

enum gmc_msg_type {
    GMC_MSG_PROBE = 1,  /* S -> participant: measure these */
    GMC_MSG_JOIN,       /* participant -> S: what I measured */
    GMC_MSG_CHANNEL,    /* S -> member: signed record, its place, and content key */
    GMC_MSG_TREE_READY, /* member -> S: record accepted, store is ready */
    GMC_MSG_LEAVE,      /* member -> S: cannot take part (any more), and why */
    GMC_MSG_ATTACH,     /* child -> parent: serve me; this is what I have */
    GMC_MSG_ATTACHED,   /* parent -> child: yes; handle, own path to the root */
    GMC_MSG_REDIRECT,   /* parent -> child: no, and why; try there */
    GMC_MSG_DETACH,     /* child -> parent: I went elsewhere; parent -> child: I cannot go on */
    GMC_MSG_HAVE,       /* child -> parent: verified and stored since the last HAVE */
    GMC_MSG_WANT,       /* child -> parent: send these blocks again (lost after delivery) */
    GMC_MSG_STATUS,     /* member -> S: progress */
    GMC_MSG_COMPLETE,   /* member -> S: the object's digest */
    GMC_MSG_CLOSE,      /* S -> member: over; keep (complete) or discard (cancelled) */
    GMC_MSG_REQUEST,    /* a control-API request forwarded to another domain */
    GMC_MSG_REPLY,
    GMC_MSG_SKIP,         /* parent -> child: packets of messages that will not come */
    GMC_MSG_GROUP,        /* gateway -> node: blocks come by multicast too */
    GMC_MSG_GROUP_REPORT, /* node -> gateway: what arrives of them, and what is missing */
    GMC_MSG_TREE,         /* gateway -> node: which nodes feed it, and which it feeds */
    GMC_MSG_DOMAIN        /* gateway -> gateway: what its nodes take */
};

struct gmc_msg_range {
    uint64_t first, last; /* blocks, both inside; below 2^32 */
};

struct gmc_msg_latency {
    uint32_t participant; /* its number in the round */
    uint64_t rtt_min_ns;
    uint64_t spread_ns;
};

/* A window that cannot be completed: `seen` repairs were said to be sent, and `need` more are
 * wanted. missing: bit i % 8 of byte i / 8 is a source fragment that is not here; may be empty. */
struct gmc_msg_need {
    uint32_t window, seen, need;
    struct gmc_bytes missing; /* at most GMC_GROUP_SOURCES_MAX / 8 bytes */
};

/* A node beside another one in their domain's tree, and the session between the two. */
struct gmc_msg_neighbour {
    const char *name;
    bool is_parent;
    struct gmc_bytes address;     /* 1 to GMC_ADDRESS_MAX bytes */
    uint32_t send_id, receive_id; /* of the session, as the one who is told sees it; not 0 */
    const uint8_t *send_key, *receive_key; /* GMC_SECRET_BYTES each */
    bool by_group; /* a child that the one who is told reaches by multicast */
};

struct gmc_msg_child {
    const char *domain;
    uint64_t repairs;
    uint32_t stripe;
    uint32_t loss_ppm; /* of the path to it; below a million */
    uint64_t path_bps; /* that it carries, where it holds data back; 0: not known */
};

/* A signed record, and a member that it covers, with what proves that (core/merkle.h). */
struct gmc_place {
    struct gmc_bytes record; /* encoded, as signed */
    struct gmc_bytes signature;
    struct gmc_bytes member; /* encoded, as hashed */
    uint32_t index;          /* of the member */
    struct gmc_bytes siblings;
};

/* Is the uplink measured too, by a train? ANEW: whatever is known of it, and goes over it. */
enum gmc_rates { GMC_RATES_NONE, GMC_RATES_WANTED, GMC_RATES_ANEW };

/* One message. Which fields count depends on the type; the others are zero. Strings and arrays
 * are borrowed: from the caller when encoding, from the decoded message when decoding. */
struct gmc_msg {
    enum gmc_msg_type type;
    /* all but PROBE, JOIN, REQUEST, REPLY: the channel */
    const char *source;
    uint64_t e;

    uint64_t probe_id;        /* PROBE, JOIN */
    const uint8_t *secret;    /* PROBE: probe key; CHANNEL: content key; GROUP: its key; 32 bytes */
    const char *const *names; /* PROBE: participants, [0] = source;
                                 ATTACHED: path to the root, parent first;
                                 STATUS: parents of the stripes behind the first, "" none;
                                 ATTACH: domains below this child are not listed */
    size_t name_count;
    struct gmc_bytes mask;   /* PROBE: bitmap of participants not to measure */
    const uint32_t *numbers; /* PROBE: of the names in the round, ascending; NULL: 0, 1, 2, ... */
    uint32_t total;          /* PROBE: participants of the round; 0: those named */
    uint32_t rates;          /* PROBE: enum gmc_rates */
    const struct gmc_msg_latency *latencies; /* JOIN */
    size_t latency_count;
    uint64_t uplink_bps, downlink_bps; /* JOIN; 0 not known */
    uint32_t nodes_payload;            /* DOMAIN: bytes that the datagrams to its nodes may have;
                                          0 not known, else GMC_NODES_PAYLOAD_MIN or more */
    uint64_t measured_bps;             /* JOIN, STATUS: the most that the uplink carried lately */
    uint64_t measured_busy_bps;  /* JOIN, STATUS: the same of spans in which one could get more */
    uint64_t measured_limit_bps; /* JOIN, STATUS: the same of spans in which all could get more */

    struct gmc_bytes source_key; /* CHANNEL: of the channel (DER); empty: the session's */
    struct gmc_place place; /* CHANNEL; ATTACH: of the child; REDIRECT: of the one to ask, or empty
                             */

    uint32_t version;                   /* TREE_READY, ATTACH, ATTACHED: of the record */
    const char *subnet;                 /* TREE_READY: where a node stands; NULL or "" not known */
    bool can_relay;                     /* TREE_READY: and it sends there by multicast */
    uint32_t epoch;                     /* ATTACH, ATTACHED, GROUP */
    uint32_t handle;                    /* ATTACH: the child's handle for this channel (the
                                           receiver of data names it); 1..65535 */
    uint32_t window;                    /* ATTACH, HAVE: blocks the child can hold unverified */
    const struct gmc_msg_range *ranges; /* ATTACH: all it has; HAVE: new; WANT */
    size_t range_count;
    bool more;       /* ATTACH: further ranges follow in HAVE messages */
    uint32_t stripe; /* ATTACH, ATTACHED, REDIRECT, DETACH; below GMC_STRIPES_MAX */

    gmc_status status;    /* LEAVE, REDIRECT, DETACH, CLOSE, GROUP_REPORT */
    const char *text;     /* LEAVE, REDIRECT, DETACH, CLOSE, GROUP_REPORT: reason, in words;
                             REDIRECT: see redirect */
    const char *redirect; /* REDIRECT: whom to ask; "" nobody */
    bool discard;         /* CLOSE */

    uint64_t next;  /* ATTACH: of a message channel, the first packet that the child lacks; GROUP:
                       the  number of the next datagram */
    uint64_t floor; /* SKIP: no packet below will come */

    uint64_t bytes;                                           /* STATUS, COMPLETE */
    uint32_t nodes, nodes_verified, nodes_failed, nodes_left; /* STATUS: of the member's domain */
    const char *parent;                   /* STATUS: of the first stripe, "" none */
    const struct gmc_msg_child *children; /* STATUS */
    size_t child_count;
    const uint8_t *digest; /* COMPLETE: 32 bytes */

    uint32_t group;                   /* GROUP, GROUP_REPORT: which */
    uint64_t received;                /* GROUP_REPORT: datagrams; not more than `next` */
    const struct gmc_msg_need *needs; /* GROUP_REPORT */
    size_t need_count;

    const struct gmc_msg_neighbour *neighbours; /* TREE: one parent at most */
    size_t neighbour_count;

    uint64_t request_id;      /* REQUEST, REPLY */
    struct gmc_bytes payload; /* REQUEST, REPLY; GROUP: its address, empty when it is over */
};

/* Encodes into a new buffer (*out, to be freed with gmc_msg_bytes_free). INVALID when a bound is
 * not kept, ranges are not in growing order and apart, or a name is not a domain's; LIMIT when it
 * gets longer than GMC_MSG_BYTES_MAX; NOMEM. A text that is too long is cut. */
GMC_NODISCARD gmc_status gmc_msg_encode(const struct gmc_msg *msg, uint8_t **out, size_t *len);
void gmc_msg_bytes_free(uint8_t *bytes);

/* Decodes; *holder owns what msg borrows, free with gmc_msg_release. TYPE for an unknown message
 * type (to be ignored and counted), INVALID for malformed or out of bounds. Takes at most 4 KiB
 * and 32 times the message's length of memory. Strings of the message's type are never NULL, and
 * a text holds no control characters. A status may be one that this version does not know. */
struct gmc_msg_holder;
GMC_NODISCARD gmc_status gmc_msg_decode(struct gmc_bytes bytes, struct gmc_msg *msg,
                                        struct gmc_msg_holder **holder);
void gmc_msg_release(struct gmc_msg_holder *holder);

/* ---- the channel record ---- */
#define GMC_PROOF_KEY_MAX 64

struct gmc_record {
    const char *source;
    uint64_t e;
    uint32_t version;     /* grows with every change of members or tree */
    uint32_t epoch;       /* grows with every start of S: a new content key */
    uint8_t key_hash[32]; /* SHA-256 of the content key */
    uint64_t listing_bytes;
    uint64_t total_bytes;
    uint32_t block_bytes;
    uint32_t fragment_bytes;
    uint64_t rate_bps;    /* cap per link; 0 none */
    uint64_t planned_bps; /* of IP packets: at which the trees are to carry the object; 0 no plan */
    bool background;      /* yields to everyone else */
    uint32_t shape;       /* enum gmc_tree_shape, for people */
    uint32_t stripes;     /* 1 to GMC_STRIPES_MAX; 0 is encoded as 1 */
    uint32_t members;     /* without the source; below GMC_MEMBERS_MAX */
    uint8_t root[32];     /* of the Merkle tree over them; zeros if there are none */
    const char *name;     /* of a message channel; "" or NULL: an object */
    uint32_t order;       /* of its messages, enum gmc_message_order (core/message_rx.h) */
    uint8_t proof_key[GMC_PROOF_KEY_MAX]; /* of what proves their packets: wire/message.h */
    size_t proof_key_len;                 /* 0: there are no proofs */
};

/* 1 to GMC_CHANNEL_NAME_MAX printable characters of ASCII, no space and no slash. */
bool gmc_channel_name_ok(const char *name);

GMC_NODISCARD gmc_status gmc_record_encode(const struct gmc_record *record, uint8_t **out,
                                           size_t *len); /* free with gmc_msg_bytes_free */
/* Decodes and checks bounds; INVALID, NOMEM. The numbers of the object are checked by
 * gmc_object_check. The holder owns what the struct borrows. */
struct gmc_record_holder;
GMC_NODISCARD gmc_status gmc_record_decode(struct gmc_bytes bytes, struct gmc_record *record,
                                           struct gmc_record_holder **holder);
void gmc_record_release(struct gmc_record_holder *holder);

/* ---- a member of it ---- */
struct gmc_ancestors {
    const char *const *domains; /* parent first; without the source */
    size_t count;               /* at most GMC_ANCESTORS_MAX; 0: a child of the source */
};

struct gmc_member {
    const char *domain;
    const char *path; /* where it goes there; "" default; any bytes but NUL */
    struct gmc_ancestors trees[GMC_STRIPES_MAX];
    uint32_t stripes;
    bool is_relay;      /* it has children in one of the trees */
    const char *inside; /* to which of its nodes it hands on (core/inside.h); "" as it likes */
};

#define GMC_INSIDE_BYTES_MAX 1023

GMC_NODISCARD gmc_status gmc_member_encode(const struct gmc_member *member, uint8_t **out,
                                           size_t *len); /* free with gmc_msg_bytes_free */
/* Decodes and checks bounds, and that in each tree nobody stands twice, the member itself least of
 * all; INVALID, NOMEM. */
GMC_NODISCARD gmc_status gmc_member_decode(struct gmc_bytes bytes, struct gmc_member *member,
                                           struct gmc_record_holder **holder);

#endif
