/* SPDX-License-Identifier: BSD-2-Clause */
/* What crosses the border between the core and its shell: addresses, datagrams, sessions, store
 * operations, events. Everything here is plain data. */
#ifndef GMC_CORE_IO_H
#define GMC_CORE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/interval.h"
#include "base/status.h"
#include "base/time.h"
#include "crypto/crypto.h"

#define GMC_DOMAIN_NAME_MAX 255 /* bytes, without the terminating zero */
#define GMC_PATH_BYTES_MAX 4096
#define GMC_REASON_BYTES_MAX 512

/* A domain, as a small number that this gateway gave to its name; valid for the composition's
 * life. */
typedef uint32_t gmc_peer;
#define GMC_PEER_NONE UINT32_MAX

/* A network address; opaque to the core, which only keeps and compares it. len 0: "the peer's
 * configured address", which the shell fills in. */
struct gmc_addr {
    uint8_t len;
    uint8_t bytes[31];
};

/* Channel (S,E). */
struct gmc_channel_key {
    char source[GMC_DOMAIN_NAME_MAX + 1];
    uint64_t e;
};

/* How datagrams travel: link datagrams as UDP, or framed in the TLS connection where UDP is
 * blocked; those of a domain's group by multicast. */
enum gmc_path { GMC_PATH_UDP, GMC_PATH_STREAM, GMC_PATH_GROUP };
enum gmc_transport { GMC_TRANSPORT_AUTO, GMC_TRANSPORT_UDP, GMC_TRANSPORT_TCP };

/* Do datagrams get through, in one direction? */
enum gmc_reach { GMC_REACH_UNKNOWN, GMC_REACH_ARRIVES, GMC_REACH_LOST };

/* The ECN field of the IP head (RFC 3168, 5). */
enum gmc_ecn_mark { GMC_NOT_ECT, GMC_ECT1, GMC_ECT0, GMC_CE };

struct gmc_dgram_in {
    enum gmc_path path;
    gmc_peer peer;        /* STREAM: whose connection it came on; else: GMC_PEER_NONE */
    struct gmc_addr from; /* UDP, GROUP: source address */
    struct gmc_bytes bytes;
    /* How long it lay at this host until the shell took it; 0: at once, or not known. The path is
     * not charged with it: a host that is busy must not look like a queue on the way. */
    gmc_duration waited;
    enum gmc_ecn_mark ecn; /* UDP: as it came; GMC_NOT_ECT where the shell cannot tell */
};

/* A datagram to send now: up to three pieces, borrowed until the next input. Data datagrams are
 * head | ciphertext | seal tag; the last two belong to a block that is shared by all children. */
struct gmc_dgram_out {
    enum gmc_path path; /* GROUP: to the group of gmc_gateway_set_group; there is no peer then */
    gmc_peer peer;
    struct gmc_addr to; /* UDP; len 0: the peer's configured address */
    uint8_t ecn;        /* UDP: enum gmc_ecn_mark to send it with, GMC_NOT_ECT or GMC_ECT0 */
    bool in_order;      /* behind all that was given before, to whomever: that is measured */
    uint8_t head_len;
    uint8_t head[32];
    struct gmc_bytes body;
    struct gmc_bytes tail;
};

static inline size_t gmc_dgram_out_len(const struct gmc_dgram_out *out)
{
    return out->head_len + out->body.len + out->tail.len;
}

/* A TLS session that the shell has made, mutually authenticated, with its exported keys. */
struct gmc_session {
    gmc_peer peer;
    bool initiator;                     /* this side dialled */
    uint32_t local_id;                  /* chosen by this side: datagrams to us carry it; never 0 */
    uint32_t remote_id;                 /* chosen by the other side: datagrams to it carry it */
    uint8_t send_secret[GMC_KEY_BYTES]; /* from the TLS exporter (RFC 5705), one per direction */
    uint8_t recv_secret[GMC_KEY_BYTES];
    struct gmc_bytes spki; /* the peer's public key (DER SubjectPublicKeyInfo), borrowed */
    enum gmc_transport transport;
    uint32_t udp_payload_max; /* largest UDP payload that the local interface takes; 0: 1472 */
};

enum gmc_peer_event {
    GMC_PEER_SESSION_UP,     /* session is set */
    GMC_PEER_SESSION_DOWN,   /* the connection broke or was closed; reason says why */
    GMC_PEER_UNREACHABLE,    /* an attempt to connect failed; reason says why; the shell retries */
    GMC_PEER_REFUSED,        /* certificate refused, revoked, expired, or not configured: no retry
                                until the configuration changes; reason says which */
    GMC_PEER_SESSION_STOPPED /* as SESSION_DOWN, and the other side said that it is being stopped */
};

struct gmc_peer_change {
    gmc_peer peer;
    enum gmc_peer_event event;
    struct gmc_session session;
    const char *reason; /* in words; NULL for SESSION_UP */
};

/* Store operations: the core asks, the shell does them on its workers in any order and answers
 * each with its ticket. The object is one byte space: first the listing, padded with zeros to a
 * multiple of the block size, then the files' data, end to end. Page space is apart: fixed-size
 * slots for the signed hash pages. All buffers stay valid until the ticket is answered. */
enum gmc_store_kind {
    /* source: walk `paths`, write the listing into the state folder, report its length and that
     * of the data. ACCESS when a path is outside of what may be read; NOT_FOUND. */
    GMC_STORE_SCAN,
    /* source after a restart: open what an earlier SCAN found; CHANGED when it no longer fits. */
    GMC_STORE_REOPEN,
    /* target: may `key.source` send total_bytes to `dest`, and is there room? Makes the state
     * folder. ACCESS, NOSPACE, QUOTA. Also after a restart (state is kept). */
    GMC_STORE_OPEN,
    /* target: all listing bytes are written and verified: check them (paths, links, sizes),
     * refuse existing destinations, make the temporary tree. EXISTS, INVALID, ACCESS, NOSPACE. */
    GMC_STORE_LAYOUT,
    /* read len bytes at offset into data and compute their hash. Source: CHANGED when the file is
     * not what was scanned (size, mtime, inode). Short reads are errors. */
    GMC_STORE_READ,
    /* hash data, compare with hash (MISMATCH), write at offset. */
    GMC_STORE_WRITE,
    /* the same for page slot `offset` (an index), no hash: pages carry signatures. NOT_FOUND when
     * the page was never written. */
    GMC_STORE_READ_PAGE,
    GMC_STORE_WRITE_PAGE,
    /* all writes answered so far are durable when this is answered. */
    GMC_STORE_SYNC,
    /* atomically and durably replace the channel's small state file `name` by `bytes`. */
    GMC_STORE_SAVE,
    /* target: durable, times and modes set, renamed to the final names. EXISTS. Reading goes on
     * working afterwards. */
    GMC_STORE_FINISH,
    /* done with the channel: close files; drop the state folder; with `discard` also remove the
     * unfinished temporary tree, and the directories that were made for it. */
    GMC_STORE_CLOSE
};

struct gmc_store_op {
    uint64_t ticket;
    enum gmc_store_kind kind;
    const struct gmc_channel_key *key; /* the core's, until the ticket is answered */
    uint64_t offset;
    uint8_t *data; /* READ*: filled by the shell; WRITE*: read by it */
    size_t len;
    uint8_t hash[GMC_HASH_BYTES];
    uint64_t listing_bytes; /* OPEN, REOPEN: exact length, unpadded */
    uint64_t total_bytes;   /* OPEN, REOPEN: data bytes (without the listing) */
    uint32_t block_bytes;
    const char *const *paths; /* SCAN: source paths */
    size_t path_count;
    const char *dest; /* OPEN: where to, "" for the default; SCAN: NULL */
    /* OPEN, LAYOUT after a restart: blocks (core/manifest.h) that were stored, and will not be read
     * again unless they are doubtful; the core's, unchanged until the ticket is answered. NULL:
     * none. */
    const struct gmc_interval_set *stored;
    const char *name;       /* SAVE: file name, [a-z]+ */
    struct gmc_bytes bytes; /* SAVE */
    bool discard;
};

struct gmc_store_result {
    uint64_t ticket;
    gmc_status status;
    const char *reason;           /* in words, naming the path; NULL when OK */
    uint8_t hash[GMC_HASH_BYTES]; /* READ */
    uint64_t listing_bytes;       /* SCAN */
    uint64_t total_bytes;         /* SCAN */
    uint64_t file_count;          /* SCAN, LAYOUT */
    /* OPEN, LAYOUT after a restart: those of the `stored` blocks whose files were changed, removed
     * or cut after the last checkpoint, by whomever; the shell's, valid during the call; `reason`
     * names one. NULL: none. */
    const struct gmc_interval_set *doubtful;
};

/* A target's SAVE of this name tells that what its blocks name is durable (core/have.h). */
#define GMC_SAVED_HAVE "have"

/* State that an earlier run of this gateway saved (GMC_STORE_SAVE), handed back at start. */
struct gmc_saved {
    struct gmc_channel_key key;
    const char *name;
    struct gmc_bytes bytes;
};

/* News for people and programs; the shell logs and publishes it. */
enum gmc_event_kind {
    GMC_EVENT_CHANNEL, /* a channel changed its state */
    GMC_EVENT_MEMBER,  /* a member of a channel changed its state (at the source) */
    GMC_EVENT_PARENT,  /* this gateway attached, or lost its parent */
    GMC_EVENT_LINK     /* a link came up, went down, or changed its path */
};

struct gmc_event {
    enum gmc_event_kind kind;
    struct gmc_channel_key key; /* e 0 for LINK */
    gmc_peer peer;              /* the member, parent or neighbour; GMC_PEER_NONE */
    uint32_t stripe;            /* PARENT: of whose tree */
    gmc_status status;
    char text[GMC_REASON_BYTES_MAX];
};

enum gmc_output_kind {
    GMC_OUT_DATAGRAM,
    GMC_OUT_STORE,
    GMC_OUT_CONNECT, /* a session with `peer` is wanted; the shell keeps trying until it is up */
    GMC_OUT_REJECT,  /* end the session with `peer`: it broke the protocol (event says how) */
    GMC_OUT_EVENT,
    GMC_OUT_REQUEST,      /* a control-API request that came from `peer`; answer with its id */
    GMC_OUT_NODE_REQUEST, /* the same of a node of this domain, which has no control API: of its
                             shell */
    GMC_OUT_REPLY,        /* the answer to a request that this side forwarded */
    GMC_OUT_MESSAGE,      /* of a message channel, for this domain: `bytes` */
    GMC_OUT_ROOM,         /* a message channel of ours, `id`, takes messages (again) */
    GMC_OUT_GROUP /* of a node: hear the group of this address, `bytes`, and no other; empty: none.
                     It may be said again */
};

/* A message of a channel that arrived, or was published here. */
struct gmc_arrived {
    const char *source; /* domain */
    const char *name;   /* of the channel */
    uint64_t e;
    uint64_t sequence;
    bool end; /* there are no more; the bytes say in words why */
};

struct gmc_output {
    enum gmc_output_kind kind;
    gmc_peer peer;
    uint64_t id;            /* REQUEST, NODE_REQUEST, REPLY; ROOM: e of the channel */
    struct gmc_bytes bytes; /* these, MESSAGE, GROUP; empty REPLY: the peer is gone */
    union {
        struct gmc_arrived arrived;
        struct gmc_dgram_out dgram;
        struct gmc_store_op store;
        struct gmc_event event;
    } u;
};

#endif
