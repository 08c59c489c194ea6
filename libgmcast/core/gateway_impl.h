/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the composition (gateway*.c) share: its structs, and what each file offers to
 * the others. Nobody else includes this.
 *
 * The way of a fragment: gateway_link.c takes the datagram to its link; gateway_rx.c opens it,
 * keeps it in the cache and offers it to the children; gateway_tx.c picks what goes out next on
 * each link; gateway_store.c takes whole blocks to the store and brings its answers back.
 */
#ifndef GMC_CORE_GATEWAY_IMPL_H
#define GMC_CORE_GATEWAY_IMPL_H

#include "base/assert.h"
#include "base/heap.h"
#include "base/interval.h"
#include "base/list.h"
#include "base/map.h"
#include "base/prng.h"
#include "core/cache.h"
#include "core/gate.h"
#include "core/gateway.h"
#include "core/group_rx.h"
#include "core/group_tx.h"
#include "core/have.h"
#include "core/inside.h"
#include "core/link.h"
#include "core/manifest.h"
#include "core/merkle.h"
#include "core/message_ring.h"
#include "core/message_rx.h"
#include "core/overlay.h"
#include "core/pace.h"
#include "core/peak.h"
#include "core/probe.h"
#include "core/stripe.h"
#include "core/tx.h"
#include "wire/control.h"

#define GW_BLOCK_BYTES 65536u
#define GW_PAGES_KEPT 64u     /* verified pages in memory per channel */
#define GW_READS_MAX 32u      /* reads under way per channel */
#define GW_BACKLOG_BLOCKS 32u /* blocks at hand and unsent per child before more are opened */
#define GW_GAPS_MAX 1024u     /* gaps that a child left behind may leave open */
#define GW_TURN_BYTES 131072u /* of one peer, before others have their turn */
#define GW_HAVE_RANGES_MAX 65536u
#define GW_HAVE_WAIT GMC_MS(10) /* a HAVE waits so long for company */
#define GW_STATUS_EVERY GMC_MS(500)
#define GW_CHECKPOINT_EVERY GMC_S(1)
#define GW_HORIZON_BLOCKS 8192u    /* how far behind the last block a checkpoint allows stores */
#define GW_BLAME_MAX 3u            /* bad blocks from a parent before it is left */
#define GW_GATHER_WAIT GMC_S(5)    /* for members' links, at set-up; not for the unreachable */
#define GW_PROBE_WAIT GMC_MS(1500) /* for members' latency rows */
#define GW_SITE_RTT GMC_US(250)    /* shorter round trips are all one to a tree */
#define GW_SET_AGAIN GMC_S(2)      /* a set with pairs missing is measured again, at first */
#define GW_SETS_KEPT 16u           /* sets of gateways that were measured */
#define GW_PINS_MAX 1024u
#define GW_SPARES 8u /* records of outputs and of store operations, kept to be used again */
#define GW_PEERS_MAX (2u * GMC_MEMBERS_MAX) /* domains that were ever named here */

#define GW_MESSAGE_PACKETS_KEPT 4096u /* ranges of packets that a child lacks */

#define GW_LISTENERS_MAX 1024u /* nodes of a group; others are served by unicast */
/* Windows on their way to a group: 6 MiB, which the socket of a node that is late holds. */
#define GW_GROUP_OPEN_MAX 24u
#define GW_GROUP_PREPARED_MAX 4u /* windows whose blocks are being read for it */

struct gwchannel;
struct gwgroup;
struct gwhearing;
struct gwpeer;

/* A place in the composition's timer heap: a peer's or a channel's. */
struct gwtimer {
    struct gmc_heap_node node;
    struct gwpeer *peer;
    struct gwchannel *channel;
};

/* A member's place in a record, kept. */
struct gwplace {
    struct gmc_place view;
    uint8_t *owned;
};

/* ---- one child of one channel ---- */
struct gwchild {
    struct gmc_list in_channel;
    struct gmc_list in_peer;
    struct gwchannel *channel;
    struct gwpeer *peer;
    uint32_t stripe; /* whose blocks it gets here; tx counts these alone, by index */
    struct gmc_tx tx;
    uint64_t from;        /* index from which the block to open next is looked for first */
    struct gwplace place; /* that it showed, for whom it is named to; empty at the source */
    uint16_t id;          /* in cookies; unique within the peer's link */
    uint16_t handle;      /* what the child calls the channel */
    uint64_t wants;       /* blocks asked for again; bounded by the object's */
    struct gmc_interval_set pending; /* message channels: packets at hand that it lacks */
    uint64_t skip_due;               /* it is to be told that nothing below comes; 0: no */
    int64_t deficit;                 /* bytes, deficit round robin among the link's channels */
    int64_t allowance;               /* bytes, token bucket of the channel's rate cap */
    gmc_time allowance_at;
};

/* ---- a domain that this gateway knows of ---- */
struct gwpeer {
    char *name;
    gmc_peer number;
    /* Of the domain, as it said with its latencies; bit/s of datagrams, 0 not known. */
    uint64_t uplink_bps, downlink_bps;
    gmc_time rates_at;
    /* What it has measured of its uplink: it carries so much, and perhaps twice as much at most. */
    uint64_t measured_bps, measured_limit_bps;
    gmc_time measured_at;
    struct gmc_link *link; /* NULL: no session */
    bool is_node;          /* of this domain, and not a domain itself */
    bool is_neighbour;     /* of this node, in a tree of its domain */
    uint32_t offered_id;   /* of a neighbour: the session that was taken last; 0 none */
    bool up;               /* the link was reported up */
    bool wanted;           /* the shell was asked for a session */
    bool replaced;         /* its link makes room for that of a newer session */
    bool dirty;            /* in gw->dirty: wants pumping and a new deadline */
    struct gmc_list dirty_node;
    size_t turn_bytes; /* sent in this turn */
    bool in_turn;      /* in gw->turns: waits for the uplink */
    struct gmc_list turn_node;
    struct gwtimer timer;
    struct gmc_pubkey *key;
    uint8_t *spki;
    size_t spki_len;
    struct gmc_list children; /* gwchild.in_peer */
    struct gmc_list hearers;  /* gwchild.in_peer of message channels */
    uint16_t next_child_id;
    bool unreachable;      /* the last attempt to connect failed */
    gmc_time silent_since; /* NEVER while up */
    char reason[160];      /* why there is no session */
    /* Of links that are gone: what is reported of a peer grows over reconnects. */
    uint64_t before_bytes_sent, before_bytes_received, before_packets_sent, before_packets_lost;
};

/* ---- a member, as its source sees it ---- */
struct gwmember {
    gmc_peer peer;
    /* In the tree of each stripe: 0 the source, else index of a member plus 1. */
    int32_t parent[GMC_STRIPES_MAX];
    char *path;
    char *inside; /* to which of its nodes; "" as it likes */
    uint32_t nodes, nodes_verified, nodes_failed;
    enum gmc_member_state state;
    bool placed;    /* its parent was chosen by the tree (else it is a child of the source) */
    bool told;      /* CHANNEL was sent on the present link */
    bool joined;    /* its latency row is in */
    bool closed;    /* it was told that the transfer is over */
    bool recorded;  /* in the present record */
    uint32_t entry; /* of the roll, if it is */
    gmc_peer actual_parent[GMC_STRIPES_MAX];
    uint64_t bytes;
    gmc_peer repairs_by[GMC_STRIPES_MAX]; /* who reports them now */
    uint64_t repairs_now[GMC_STRIPES_MAX], repairs_before;
    gmc_time verified_at;
    uint8_t digest[GMC_HASH_BYTES];
    char reason[GMC_REASON_BYTES_MAX];
};

/* What the present record covers: an entry for each member that is in it (gateway_roll.c). */
struct gwentry {
    uint8_t *bytes;
    size_t len;
};

struct gwroll {
    struct gwentry *entries;
    size_t count;
    struct gmc_merkle tree;
};

/* The page that a source is building. */
struct gwbuild {
    uint32_t next; /* page under construction, or to be built */
    bool active;
    uint32_t wanted; /* hashes it needs */
    uint32_t arrived;
    uint32_t asked;
    uint64_t target;               /* build pages below this number */
    uint8_t chain[GMC_HASH_BYTES]; /* digest of the page before */
    struct gmc_page page;
    bool reloading; /* after a restart: pages come from the store first */
};

struct gwsource {
    char **paths;
    size_t path_count;
    struct gwmember *members;
    char home[GMC_INSIDE_BYTES_MAX + 1]; /* nodes of this domain that get messages; "" none */
    size_t node_count;                   /* of the members */
    size_t member_count, member_capacity;
    struct gmc_map by_peer; /* peer + 1 -> index of its member + 1 */
    struct gwroll roll;
    enum gmc_tree_shape shape;
    uint64_t rate_bps;
    bool background;
    bool plan; /* only the trees are wanted */
    struct gmc_tree_prediction prediction;
    uint64_t planned_bps;        /* of the record; 0: uplinks are not known */
    bool limit_measured;         /* the rate of limit_at, not configured */
    gmc_peer limit_at;           /* whose uplink or downlink limits them */
    uint64_t limit_bps;          /* its rate */
    struct gmc_plan_rate *rates; /* of a plan: what it counts with */
    size_t rate_count;
    struct gwbuild build;
    struct gmc_list unread; /* blocks that the store could not read, for read_again_at */
    gmc_time read_again_at;
    struct gwround *round;   /* the probe round under way; NULL if none */
    struct gwsparse *sparse; /* what a large group measures (gateway_measure.c); NULL: all pairs */
    bool scanned;
    gmc_time asked_at; /* patience with the silent counts from here, or from their last word */
    bool unsaved;      /* the present record; members are told when it is not */
    bool save_due;     /* what became of a member; with the next step */
    bool gathering;    /* PROBING: the members' links are waited for */
    gmc_time gather_until;
    gmc_time probe_until; /* while a round is under way */
    gmc_time setup_end;
    uint64_t file_count;
};

/* A node of this domain, as its gateway sees it in one channel. */
struct gwnode {
    struct gwpeer *peer;
    enum gmc_member_state state;
    bool told;     /* CHANNEL was sent on the present link */
    bool is_spare; /* another one writes to the file system that they share */
    /* the tree of the nodes; of parents, 0 is this gateway, else one above a node's index */
    bool in_tree;     /* it was there once: it has a place */
    bool is_direct;   /* it reaches no other node */
    bool tree_due;    /* it is to be told of its neighbours */
    uint32_t planned; /* parent by the shape */
    uint32_t parent;  /* the next that lives on the way up from there */
    gmc_time parent_since;
    struct gmc_addr address; /* of its datagrams, as last seen; len 0: they come within TLS */
    gmc_peer fed_by;         /* as it reports; GMC_PEER_NONE */
    gmc_time
        since; /* when its part began: patience with its silence counts from here at the least */
    uint64_t bytes;
    bool complete; /* it says so; believed when the digest is ours */
    uint8_t digest[GMC_HASH_BYTES];
    char reason[160];
};

/* Where a target stands. */
enum gwphase {
    GW_OPENING,    /* the store checks permission and room */
    GW_RECHECKING, /* after a restart: blocks beyond the checkpoint are read and compared */
    GW_RECEIVING,
    GW_FINISHING, /* all is stored: names are being given */
    GW_DONE       /* complete here; may still serve children */
};

struct gwtarget {
    enum gwphase phase;
    bool is_relay;            /* a tree of the record has children of this member */
    uint32_t too_small;       /* times that the source found our path too small in a row */
    struct gmc_have have;     /* verified, and in the store */
    gmc_time fresh_since;     /* when the first block was stored that the parent was not told of */
    bool forgot;              /* blocks that the parent was told of are wanted again */
    uint64_t listing_missing; /* listing blocks not yet stored */
    bool laid_out, laying_out;
    uint64_t recheck_at; /* next block to look at */
    uint64_t recheck_end;
    uint32_t rechecks; /* under way */
    bool checkpointing;
    bool unsaved; /* `have` has changed since the last checkpoint began */
    uint64_t horizon;
    struct gmc_interval_set stable; /* what the SYNC under way covers */
    gmc_time next_checkpoint;
    gmc_time next_status;
    uint32_t receiving; /* blocks begun and not yet stored */
    bool told_ready;
    bool told_complete;
    struct gwnode *nodes; /* to whom this gateway hands on what it receives */
    size_t node_count;
    enum gmc_inside inside_kind; /* which ones; NONE until that is known */
    uint32_t bad_reads;          /* for nodes, of what is nowhere else */
    bool tree_used;              /* they are a tree... */
    size_t tree_placed;          /* ... of so many */
    struct gwpeer **neighbours;  /* of a node: in that tree */
    size_t neighbour_count;
    gmc_peer tree_parent; /* of a node, among them; GMC_PEER_NONE: its gateway */
    bool feeds;           /* a node that has children there */
    bool told_partial;    /* that nodes lack it; they may be asked again until... */
    gmc_time partial_until;
    char inside[GMC_INSIDE_BYTES_MAX + 1];
    char dest[GMC_PATH_BYTES_MAX];
};

/* What differs between the stripes of a channel. */
struct gwstripe {
    uint32_t number;
    struct gmc_interval_set seen; /* indexes of blocks: here, or at least begun to arrive */
    uint32_t front;               /* the highest block that was opened for any child */
    /* of a receiver */
    struct gmc_overlay overlay;
    gmc_peer path[GMC_OVERLAY_DEPTH_MAX]; /* the parent's, to the root, as it announced it */
    size_t path_len;
    uint16_t handle; /* 0: none given out */
    uint32_t blames;
};

/* A message channel. */
struct gwtalk {
    char name[GMC_CHANNEL_NAME_MAX + 1];
    enum gmc_message_order order;
    struct gmc_message_ring ring;
    struct gmc_message_rx rx; /* of a receiver */
    uint64_t next;            /* one above the highest packet here */
    uint64_t newest;          /* first packet of the newest message */
    uint64_t sequence;        /* source: of the next message */
    bool held;                /* source: it was said that there is no room... */
    size_t wanted;            /* ... for a message of so many bytes */
    bool ended;               /* the last message is here, or the channel is over */
    bool was_heard;           /* somebody attached, ever */
};

struct gwchannel {
    struct gmc_list node; /* gw->channels, in order of opening */
    uint32_t slot;        /* never re-used */
    struct gmc_channel_key key;
    struct gwpeer *source_peer; /* NULL here at the source */
    bool is_source;
    enum gmc_channel_state state;
    char reason[GMC_REASON_BYTES_MAX];
    gmc_time opened_at, ended_at;

    /* the record */
    struct gwplace place; /* here; of no member at the source */
    struct gmc_record record;
    bool recorded; /* there is a record */
    uint8_t secret[GMC_KEY_BYTES];
    struct gmc_aead *aead;
    struct gmc_pubkey *source_key;
    uint8_t *source_spki;
    size_t source_spki_len;
    uint32_t epoch;
    uint32_t saved_version, saved_epoch; /* source: of the newest record ever made */

    struct gmc_object object; /* valid when known */
    bool object_known;
    uint64_t blocks;
    uint64_t stored_bytes; /* of file data */

    /* blocks */
    struct gwstripe stripes[GMC_STRIPES_MAX];
    uint32_t stripe_count;
    struct gmc_page *pages[GW_PAGES_KEPT];
    uint64_t page_used[GW_PAGES_KEPT];
    uint64_t page_clock;
    size_t page_last;               /* that was asked for */
    struct gmc_list page_wait;      /* blocks that wait for their page */
    struct gmc_list layout_wait;    /* whole blocks that wait for the layout */
    uint8_t digest[GMC_HASH_BYTES]; /* of the object, once known */
    bool digest_known;
    uint32_t reads;
    uint32_t ops;          /* store operations under way */
    struct gmc_list saves; /* gwop.in_saves, those of them that are a SAVE */

    struct gmc_list children; /* gwchild.in_channel */
    uint32_t child_count;
    struct gmc_list passed; /* struct gwpassed: repairs that the parent was asked for */

    struct gwtalk *talk;       /* NULL: an object */
    struct gwgroup *group;     /* its nodes are sent it by multicast; NULL: by unicast alone */
    struct gwhearing *hearing; /* of a node: it hears a group; NULL */
    bool group_over;           /* somebody forged in it, or nobody hears it: there is none again */
    struct gwsource *src;
    struct gwtarget *dst;
    struct gwtimer timer;
    bool closing;  /* the store was asked to close; freed when its last operation is answered */
    bool restored; /* came from saved state */
    uint8_t *saved_have;
    size_t saved_have_len;
};

/* A store operation under way. */
struct gwop {
    uint64_t ticket;
    enum gmc_store_kind kind;
    struct gwchannel *channel;
    struct gmc_block *block; /* pinned; NULL if none */
    uint32_t page;           /* WRITE_PAGE at the source: which */
    uint8_t *owned;          /* freed when answered */
    bool recheck;
    bool checkpoint; /* SAVE: of what is stored */
    /* SAVE: the shell may answer in any order, so one of a name is under way at a time; the newest
     * that came meanwhile waits here. */
    struct gmc_list in_saves;
    const char *name;
    uint8_t *waiting;
    size_t waiting_len;
};

/* A message that arrived; its name and its bytes stand in the inbox. */
struct gwarrived {
    gmc_peer from; /* the voice of its channel */
    uint64_t e, sequence;
    size_t at, len;
    bool end;
};

/* Messages for the shell, in the order of their coming. What it has taken stays until the next
 * input. */
struct gwinbox {
    struct gwarrived *arrived;
    size_t count, capacity, taken;
    uint8_t *bytes;
    size_t used, room;
};

/* A queued output that is not a datagram. */
struct gwout {
    struct gmc_list node;
    uint8_t *owned; /* freed when the next input comes */
    struct gmc_output output;
};

struct gwcounts {
    uint64_t datagrams_in, datagrams_out;
    uint64_t dropped_session, dropped_auth, dropped_replay, dropped_malformed, dropped_handle;
    uint64_t dropped_full, dropped_duplicate, dropped_seal;
    uint64_t echoes_refused;
    uint64_t messages_in, messages_bad, messages_unknown, messages_refused;
    uint64_t blocks_stored, blocks_bad, blocks_read, blocks_sealed, blocks_forgotten;
    uint64_t checkpoints;
    uint64_t repairs_passed;
    uint64_t transfers_left; /* or never joined: not allowed, no room, a listing that is refused */
    uint64_t data_bytes_in, data_bytes_out;   /* of fragments, those that came or went again too */
    uint64_t group_sent, group_repairs;       /* datagrams to groups; of these, to repair */
    uint64_t group_received, group_recovered; /* datagrams of groups; fragments that repairs gave */
    uint64_t group_dropped, group_forged;
};

/* A set of gateways whose latencies were measured. */
struct gwset {
    uint64_t hash;
    gmc_time until;    /* the measurement is used again */
    gmc_duration wait; /* pairs were missing: how long that was left alone at last */
};

/* A control-API request that was forwarded and is not answered yet. */
struct gwasked {
    gmc_peer peer;
    uint64_t id;
};
#define GW_ASKED_MAX 256 /* the oldest is forgotten for a newer one */

struct gmc_gateway {
    struct gmc_gateway_config config;
    char *domain;
    char *node_of; /* NULL: no node */
    char *deliver;
    gmc_peer self;
    uint8_t *spki;
    struct gmc_prng prng;
    gmc_time now;
    bool started;

    struct gwpeer **peers;
    size_t peer_count, peer_capacity;
    struct gmc_map names;    /* hash of a name and a probe count -> struct gwpeer */
    struct gmc_map sessions; /* local session id -> struct gwpeer */
    struct gmc_list channels;
    size_t channel_count;
    uint32_t next_slot;
    struct gmc_map handles; /* handle -> struct gwchannel */
    uint16_t next_handle;
    struct gmc_cache *cache;
    struct gmc_latency_cache *latencies;
    struct gwset sets[GW_SETS_KEPT];
    uint32_t next_set;
    struct gmc_list probes; /* struct gwround */
    struct gmc_heap timers; /* peers and channels */
    uint64_t timer_seq;
    struct gmc_list dirty;  /* peers to pump */
    struct gmc_pace uplink; /* rate 0: not known */
    struct gmc_peak peak;   /* of what all children got together */
    struct gmc_list turns;  /* peers that wait for it, in turn */
    size_t turn_count;
    size_t feeding; /* peers with children, but for nodes */
    /* the nodes all at once */
    uint8_t group_address[GMC_GROUP_ADDRESS_MAX];
    size_t group_address_len; /* 0: there is no group */
    struct gmc_pace group_pace;
    bool groups_idle;       /* they had nothing to send when last asked */
    struct gmc_list groups; /* gwgroup.node, in turn */
    /* the nodes as a tree */
    struct gmc_inside_tree inside_tree; /* shape NULL: none */
    struct gmc_list pairs;              /* struct gwpair: sessions between nodes */
    uint32_t neighbour_payload;         /* of a node: what its interface takes */
    struct gmc_map hearings;            /* of a node: number of a group -> struct gwchannel */
    struct gmc_map ops;                 /* ticket -> struct gwop */
    struct gmc_list spare_ops;          /* gwop.in_saves; at most GW_SPARES */
    size_t spare_op_count;
    uint64_t next_ticket;
    uint64_t next_request;
    struct gwasked asked[GW_ASKED_MAX]; /* oldest first */
    size_t asked_count;

    /* outputs */
    struct gmc_list outs;       /* struct gwout, to be drained */
    struct gmc_list drained;    /* struct gwout, borrowed until the next input */
    struct gmc_list spare_outs; /* at most GW_SPARES */
    size_t spare_out_count;
    uint8_t *arena;
    size_t arena_used;
    struct gwinbox inbox;
    struct gmc_block *pins[GW_PINS_MAX];
    size_t pin_count;
    bool arena_full; /* outputs wait for the next input */

    char error[GMC_REASON_BYTES_MAX];
    struct gwcounts counts;
};

/* A probe round that another domain began, and this gateway takes part in. */
struct gwround {
    struct gmc_list node;
    struct gmc_probe *probe;
    struct gwpeer *source; /* who asked for it; NULL: this gateway */
    gmc_peer *participants;
    size_t count;
    bool answered;
    gmc_time forget_at;
};

/* gateway.c: peers, outputs, timers */
struct gwpeer *gw_peer(struct gmc_gateway *gw, gmc_peer number);
/* By name; adds it. NULL: no memory, or others have named too many. */
struct gwpeer *gw_peer_by_name(struct gmc_gateway *gw, const char *name);
struct gwpeer *gw_peer_known(const struct gmc_gateway *gw, const char *name); /* adds none; NULL */
uint64_t gw_name_key(const struct gmc_gateway *gw, const char *name);         /* for maps */
void gw_touch(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_set_timer(struct gmc_gateway *gw, struct gwtimer *timer, gmc_time when);
void gw_begin_input(struct gmc_gateway *gw, gmc_time now);
struct gwout *gw_out(struct gmc_gateway *gw, enum gmc_output_kind kind, gmc_peer peer);
void gw_event(struct gmc_gateway *gw, enum gmc_event_kind kind, const struct gwchannel *ch,
              gmc_peer peer, gmc_status status, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* News of the parent of a stripe. */
void gw_event_parent(struct gmc_gateway *gw, const struct gwchannel *ch,
                     const struct gwstripe *stripe, gmc_peer parent, gmc_status status,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));
void gw_want_session(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_send(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
void gw_text(char *out, size_t len, const char *format, ...) __attribute__((format(printf, 3, 4)));
uint64_t gw_random64(struct gmc_gateway *gw);
uint8_t *gw_copy(struct gmc_bytes bytes); /* never NULL */

/* gateway_uplink.c: what all links share */
void gw_uplink_init(struct gmc_gateway *gw);
void gw_uplink_pay(struct gmc_gateway *gw, size_t udp_payload);
/* When whoever waits for it may send. */
gmc_time gw_uplink_deadline(const struct gmc_gateway *gw);
/* Bytes of an object have arrived at a peer; whether it could get more. */
void gw_uplink_delivered(struct gmc_gateway *gw, const struct gwpeer *peer, size_t bytes);
void gw_uplink_say(const struct gmc_gateway *gw, struct gmc_msg *msg);
void gw_uplink_heard(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
/* The peer's children wait for their turn. False: they need not, the uplink is not known. */
bool gw_uplink_hold(struct gmc_gateway *gw, struct gwpeer *peer);
bool gw_uplink_is_held(const struct gwpeer *peer);
/* They have nothing to send now, or their link takes nothing. */
void gw_uplink_release(struct gmc_gateway *gw, struct gwpeer *peer);
/* Whose turn it is; NULL when nobody waits, or the uplink is busy. */
struct gwpeer *gw_uplink_next(struct gmc_gateway *gw);
void gw_uplink_sent(struct gmc_gateway *gw, struct gwpeer *peer, size_t bytes);

/* gateway_link.c: sessions and datagrams */
void gw_link_drain(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_link_check(struct gmc_gateway *gw, struct gwpeer *peer);
bool gw_pump(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_output *out);
/* Room for a datagram of so many bytes, or the shell has to take what there is. */
bool gw_has_room(struct gmc_gateway *gw, size_t bytes);
/* The block's bytes are lent to the shell, until the next input. */
void gw_lend(struct gmc_gateway *gw, struct gmc_block *block);
/* Data for the children of the peer, whose turn it is. */
bool gw_pump_data(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_output *out);
gmc_status gw_on_datagram(struct gmc_gateway *gw, const struct gmc_dgram_in *in);
void gw_on_peer(struct gmc_gateway *gw, const struct gmc_peer_change *change);
/* A link of a new session, in the place of one that there was. to: where its first datagrams go;
 * NULL: where the shell knows that the peer is. False: no memory, or no usable keys. */
bool gw_link_make(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_session *session,
                  const struct gmc_addr *to);
void gw_link_close(struct gmc_gateway *gw, struct gwpeer *peer, const char *reason);
void gw_watch_links(struct gmc_gateway *gw);

/* gateway_probe.c: latency rounds */
/* Who takes part, as the message says or the source knows. */
struct gwround_config {
    uint64_t id;
    const uint8_t *key;
    const gmc_peer *participants;
    const uint32_t *numbers; /* NULL: indexes */
    size_t count, self, total;
    struct gmc_bytes mask;
};
struct gwround *gw_round_new(struct gmc_gateway *gw, struct gwpeer *source,
                             const struct gwround_config *config);
void gw_round_free(struct gwround *round);
void gw_probe_step(struct gmc_gateway *gw);
gmc_time gw_probe_deadline(const struct gmc_gateway *gw);
gmc_status gw_on_echo(struct gmc_gateway *gw, const struct gmc_dgram_in *in, uint8_t kind);
void gw_on_probe(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);

/* Within a site a round trip says how busy the hosts were, and not how far apart they are: a tree
 * built of that would be another one each time. */
static inline gmc_duration gw_path_rtt(gmc_duration rtt)
{
    return rtt < GW_SITE_RTT ? GW_SITE_RTT : rtt;
}

/* gateway_measure.c: large groups, of which not every pair is measured */
struct gwsparse;
/* Begin the first round over a list, and the second when the first is over. False: nothing that is
 * not known would be measured, or there is no memory; the tree is built of what is known. */
bool gw_sparse_begin(struct gmc_gateway *gw, struct gwchannel *ch, const gmc_peer *list,
                     size_t count);
bool gw_sparse_next(struct gmc_gateway *gw, struct gwchannel *ch);
/* By the chosen shape; bulk, which looks at every link, as eco. */
gmc_status gw_sparse_place(struct gmc_gateway *gw, struct gwchannel *ch, const gmc_peer *list,
                           size_t n, int32_t *parent);
/* The member's place beside all others as they are; 0: the source. */
int32_t gw_sparse_place_late(struct gmc_gateway *gw, struct gwchannel *ch, gmc_peer late);
void gw_sparse_free(struct gwsparse *sparse);

/* gateway_channel.c: what source and target have in common */
struct gwchannel *gw_channel_find(struct gmc_gateway *gw, const char *source, uint64_t e);
struct gwchannel *gw_channel_new(struct gmc_gateway *gw, const char *source, uint64_t e,
                                 bool is_source);
void gw_channel_free(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_channel_end(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_channel_state state,
                    bool discard, const char *reason);
/* What has only begun to arrive, of this stripe alone: others' parents will not send it again.
 * NULL: of all. */
void gw_channel_give_up(struct gmc_gateway *gw, struct gwchannel *ch,
                        const struct gwstripe *stripe);
/* Frees a closing channel when nothing is under way for it any more. */
void gw_channel_reap(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_channel_set_object(struct gwchannel *ch, const struct gmc_object *object);
gmc_status gw_channel_set_key(struct gmc_gateway *gw, struct gwchannel *ch,
                              const uint8_t secret[GMC_KEY_BYTES]);
gmc_status gw_channel_set_source_key(struct gmc_gateway *gw, struct gwchannel *ch,
                                     struct gmc_bytes spki);
gmc_status gw_channel_set_record(struct gmc_gateway *gw, struct gwchannel *ch,
                                 const struct gmc_place *place);
void gw_channel_new_epoch(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_channel_on_link_up(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_channel_on_silent(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_channel_on_link_down(struct gmc_gateway *gw, struct gwpeer *peer);
void gw_channel_on_refused(struct gmc_gateway *gw, struct gwpeer *peer, const char *reason);
void gw_channel_timer(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_on_saved(struct gmc_gateway *gw, const struct gmc_saved *saved);
void gw_restart_channels(struct gmc_gateway *gw);
/* gateway_msg.c: control messages */
struct gmc_msg gw_about(const struct gwchannel *ch, enum gmc_msg_type type);
void gw_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_bytes bytes);
/* The link broke: what was asked there will not be answered. */
void gw_asked_lost(struct gmc_gateway *gw, const struct gwpeer *peer);
struct gwop *gw_save(struct gmc_gateway *gw, struct gwchannel *ch, const char *name,
                     const uint8_t *bytes, size_t len);
struct gwop *gw_store(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind,
                      struct gmc_store_op **op);

/* gateway_message.c: message channels, as their source and as a receiver */
/* Somebody attached; a publisher that waited for that need not any longer. */
void gw_talk_heard(struct gwchannel *ch, const struct gwpeer *peer);
bool gw_talk_init(struct gmc_gateway *gw, struct gwchannel *ch, const char *name,
                  enum gmc_message_order order);
void gw_talk_free(struct gwchannel *ch);
void gw_talk_reap(struct gwchannel *ch);
/* A record says how large packets are, and perhaps that all begins anew. */
void gw_talk_set_record(struct gwchannel *ch, bool is_new);
gmc_status gw_talk_data(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                        const struct gmc_link_data *data);
void gw_talk_on_skip(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     uint64_t floor);
/* The channel is over here, perhaps before its last message. */
void gw_talk_over(struct gmc_gateway *gw, struct gwchannel *ch);
/* Says that there is room, if that was asked and is so. */
void gw_talk_look_for_room(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_inbox_begin_input(struct gmc_gateway *gw);
bool gw_inbox_next(struct gmc_gateway *gw, struct gmc_output *out);

/* gateway_message_tx.c: its packets to children */
void gw_hearer_attached(struct gmc_gateway *gw, struct gwchild *child, uint64_t next);
void gw_hearers_offer(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t number);
/* No packet below that is not here will come here. */
void gw_hearers_skip(struct gmc_gateway *gw, struct gwchannel *ch, uint64_t floor);
void gw_hearer_fate(struct gmc_gateway *gw, struct gwchild *child, uint64_t number, bool acked);
bool gw_hearers_send(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_dgram_out *out);
bool gw_hearers_waiting(const struct gwpeer *peer);

/* gateway_stripe.c: which blocks are here of each stripe, and whose parent somebody is */
void gw_stripes_init(struct gwchannel *ch);
void gw_stripes_fini(struct gwchannel *ch);
/* Once, from one to several; otherwise INVALID. NOMEM. */
gmc_status gw_stripes_set(struct gwchannel *ch, uint32_t count);
struct gwstripe *gw_stripe_of(struct gwchannel *ch, uint64_t block);
gmc_status gw_seen_add(struct gwchannel *ch, uint64_t first, uint64_t end);
void gw_seen_remove(struct gwchannel *ch, uint32_t number);
bool gw_seen(struct gwchannel *ch, uint32_t number);
uint64_t gw_seen_end(const struct gwchannel *ch); /* one above the highest; 0: none */
gmc_peer gw_stripe_server(const struct gwstripe *stripe);
bool gw_is_attached(const struct gwchannel *ch);
bool gw_stripe_is_first_of(const struct gwchannel *ch, uint32_t stripe, gmc_peer peer);

/* gateway_rx.c: fragments in, whole blocks */
gmc_status gw_rx_data(struct gmc_gateway *gw, struct gwpeer *peer,
                      const struct gmc_link_data *data);
/* A fragment of the channel from wherever it is. stripe: whose parent sent it; NULL: the group. */
gmc_status gw_rx_fragment(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
                          const struct gmc_link_data *data);
/* The block as far as it is here, or begun; NULL: it cannot be. */
struct gmc_block *gw_rx_block(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_block_whole(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_block_stored(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
/* Unpins a block of a target; what nobody will be sent from here is forgotten at once. */
void gw_block_unpin(struct gmc_gateway *gw, const struct gwchannel *ch, struct gmc_block *block);
void gw_block_lost(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                   bool blame);
void gw_blame(struct gmc_gateway *gw, struct gwchannel *ch, struct gwstripe *stripe,
              const char *what);
uint32_t gw_rx_window(const struct gmc_gateway *gw);
void gw_want_block(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);

/* gateway_page.c: the manifest's pages */
const struct gmc_page *gw_page(struct gwchannel *ch, uint32_t index);
void gw_page_keep(struct gwchannel *ch, const struct gmc_page *page);
void gw_page_forget(struct gwchannel *ch);
/* The page, or NULL after having asked the store for it if it is there. */
const struct gmc_page *gw_page_or_load(struct gmc_gateway *gw, struct gwchannel *ch,
                                       uint32_t index);
/* Blocks wait for a page that could not be loaded so far: looks whether it can be now. */
void gw_page_want(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_page_arrived(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_page_written(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t page);
void gw_build_pages(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_build_hashed(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_build_reloaded(struct gmc_gateway *gw, struct gwchannel *ch, const struct gmc_page *page);

/* gateway_tx.c: children */
struct gwchild *gw_child_find(struct gwchannel *ch, const struct gwpeer *peer, uint32_t stripe);
struct gwchild *gw_child_new(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                             uint32_t stripe, uint32_t window, uint16_t handle);
void gw_child_have(struct gwchild *child, const struct gmc_msg_range *ranges, size_t count);
/* The index by which tx knows a block of the child's stripe. */
uint32_t gw_child_index(const struct gwchild *child, uint32_t number);
void gw_child_free(struct gmc_gateway *gw, struct gwchild *child);
void gw_child_fate(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_link_fate *fate);
void gw_children_offer(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                       uint64_t mask);
/* The child is to have this block before its turn, if it lacks it. */
void gw_child_hurry(struct gmc_gateway *gw, struct gwchild *child, uint32_t number);
void gw_children_touch(struct gmc_gateway *gw, struct gwchannel *ch);
/* The fragments of a block are not here any more. */
void gw_children_out_of_hand(struct gwchannel *ch, uint32_t number);
/* A block without which a receiver can store nothing: a page, or one of the listing. */
bool gw_is_prerequisite(const struct gwchannel *ch, uint32_t number);
bool gw_children_send(struct gmc_gateway *gw, struct gwpeer *peer, struct gmc_dgram_out *out);
bool gw_children_waiting(const struct gmc_gateway *gw, const struct gwpeer *peer);
/* That have data, at least 1. */
size_t gw_children_sending(const struct gmc_gateway *gw, const struct gwpeer *peer);
gmc_time gw_children_allowed_at(const struct gmc_gateway *gw, const struct gwpeer *peer);

/* gateway_pass.c: the policy pass_repairs */
/* A child lacks a block that it was sent. Whether the parent is asked for it, so that nothing of it
 * may be sent from here until it has come again. */
bool gw_pass_repair(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
/* Is the block to come from the parent once more? */
bool gw_pass_waits(const struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_pass_stored(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_pass_arrived(struct gmc_gateway *gw, struct gwchannel *ch,
                     const struct gmc_link_data *data);
void gw_pass_forget(struct gwchannel *ch);
/* Of so many bytes of a block, or of one that is one fragment, those that exist. */
_Static_assert(GMC_VIRTUAL_BYTES == GMC_CACHE_VIRTUAL_BYTES, "the cache holds virtual bodies");
static inline uint32_t gw_kept(const struct gmc_gateway *gw, uint32_t len)
{
    return gw->config.virtual_bodies ? gmc_virtual_kept(len) : len;
}

/* gateway_serve.c: blocks back from the store, sealed for children */
struct gwop *gw_block_read(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number,
                           bool for_hash);
void gw_block_was_read(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_block_read_failed(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                          const struct gmc_store_result *result);
/* What could not be read, when it is time. */
void gw_blocks_read_again(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_block_seal(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block);
void gw_seal_nonce(uint32_t block, uint16_t fragment, uint8_t nonce[GMC_NONCE_BYTES]);
struct gmc_bytes gw_seal_aad(const struct gwchannel *ch, uint32_t block, uint16_t fragment,
                             uint8_t aad[18]);

/* gateway_store.c: answers of the store */
void gw_on_stored(struct gmc_gateway *gw, const struct gmc_store_result *result);

/* gateway_source.c: this gateway as S */
/* A new channel of ours with these members. Says in words why
 * there is none. */
struct gwchannel *gw_source_new(struct gmc_gateway *gw, const struct gmc_stage_target *targets,
                                size_t count, gmc_status *status, const char **error);
/* All that is to be sent is known, but for the tree. */
void gw_source_probe(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_say(struct gmc_gateway *gw, const char **error, gmc_status status, const char *text,
                  const char *what) __attribute__((format(printf, 4, 0)));
void gw_source_step(struct gmc_gateway *gw, struct gwchannel *ch);
/* Something happened to one member. A step looks at all of them: in large groups it waits for
 * company. */
void gw_source_soon(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_free(struct gmc_gateway *gw, struct gwsource *src);
void gw_source_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                       const struct gmc_msg *msg);
void gw_source_reloaded(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_join(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
static inline bool gw_source_is_in_record(const struct gwmember *member)
{
    return member->state != GMC_MEMBER_FAILED && !member->closed;
}
/* ---- gateway_home.c ---- */
/* The nodes of this domain that `home` asks for, "" as it is configured, become members. */
gmc_status gw_source_add_nodes(struct gmc_gateway *gw, struct gwchannel *ch, const char *home,
                               const char **error);
/* A peer is a node of this domain, or no longer. */
void gw_source_node_changed(struct gmc_gateway *gw, struct gwchannel *ch,
                            const struct gwpeer *peer);
/* There are members that may attach yet. */
bool gw_source_is_awaited(const struct gmc_gateway *gw, const struct gwchannel *ch);

gmc_status gw_source_add_member(struct gmc_gateway *gw, struct gwchannel *ch, const char *domain,
                                const char *path, const char *inside);
void gw_source_close_members(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                             const char *reason);
bool gw_source_make_record(struct gmc_gateway *gw, struct gwchannel *ch);
/* Everything that was to be saved is (or could not be, and that was said). */
void gw_source_saved(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_save(struct gmc_gateway *gw, struct gwchannel *ch);
/* All members that can be measured, the source first; to be freed. *count is at least 1. */
gmc_peer *gw_source_participants(struct gmc_gateway *gw, const struct gwchannel *ch, size_t *count);
void gw_source_place(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_place_late(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *late);
bool gw_source_measured(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_scanned(struct gmc_gateway *gw, struct gwchannel *ch,
                       const struct gmc_store_result *result);
void gw_source_fail(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason);
/* Stops what the user may resume: members keep what they have, and wait. */
void gw_source_stop(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason);
struct gwmember *gw_source_member(struct gwchannel *ch, gmc_peer peer);
gmc_status gw_source_restore(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved);
void gw_source_restart(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_source_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                    const struct gmc_msg *msg);
void gw_source_member_failed(struct gmc_gateway *gw, struct gwchannel *ch, struct gwmember *member,
                             const char *reason);
void gw_source_link_down(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer);

/* gateway_roll.c: who is a member, and how that is proved */
gmc_status gw_place_copy(struct gwplace *place, const struct gmc_place *from); /* NOMEM */
void gw_place_free(struct gwplace *place);
gmc_status gw_record_sign(struct gmc_gateway *gw, struct gmc_bytes record, uint8_t *signature,
                          size_t *signature_len);
gmc_status gw_record_verify(struct gmc_gateway *gw, struct gmc_pubkey *key, struct gmc_bytes record,
                            struct gmc_bytes signature);
/* Does the record cover the member? The signature is not looked at. */
bool gw_place_fits(const struct gmc_gateway *gw, const struct gmc_record *record,
                   const struct gmc_place *place);
/* Does the place prove that the domain is a member of the channel, in the epoch that is served? */
bool gw_place_is_of(struct gmc_gateway *gw, const struct gwchannel *ch,
                    const struct gmc_place *place, const char *domain);
/* Of all that are to be in the next record. NOMEM. */
gmc_status gw_roll_make(struct gmc_gateway *gw, struct gwchannel *ch, struct gwroll *roll,
                        uint8_t root[GMC_HASH_BYTES]);
void gw_roll_free(struct gwroll *roll);
/* The place of a member that is recorded. Borrowed from the channel and from `siblings`. */
struct gmc_place gw_roll_place(const struct gwchannel *ch, const struct gwmember *member,
                               uint8_t siblings[GMC_MERKLE_HEIGHT_MAX][GMC_HASH_BYTES]);

/* gateway_target.c: this gateway as a receiver */
void gw_target_init(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_channel(struct gmc_gateway *gw, struct gwpeer *peer, const struct gmc_msg *msg);
void gw_target_step(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                       const struct gmc_msg *msg);
void gw_target_free(struct gwtarget *dst);
/* A node's parent is now dst->tree_parent. is_new: it is to be found (again). */
void gw_target_fed_by_node(struct gmc_gateway *gw, struct gwchannel *ch, bool is_new);
/* Tells whoever thinks that it is our parent, and is not: it would go on sending. */
void gw_target_let_go(struct gmc_gateway *gw, const struct gwchannel *ch,
                      const struct gwstripe *stripe, struct gwpeer *peer);
void gw_target_answered(struct gmc_gateway *gw, struct gwchannel *ch, enum gmc_store_kind kind,
                        const struct gmc_store_result *result);
void gw_target_progress(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_fail(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                    const char *reason);
/* Starts the store's layout, or the recheck's end, for gateway_resume.c. */
void gw_target_layout(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_open(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_rechecks_done(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_target_take_saved(struct gmc_gateway *gw, struct gwchannel *ch,
                                const struct gmc_place *place, const uint8_t *secret,
                                struct gmc_bytes spki);
/* Does the place name this gateway, and does all of it make sense? The signature is checked by
 * whom it came from. */
bool gw_target_place_ok(const struct gmc_gateway *gw, const struct gmc_place *place,
                        const struct gmc_record *record);

/* gateway_node.c: the nodes of this domain */
/* Takes the nodes that the record, or else the configuration, asks for. NOT_FOUND, INVALID, NOMEM
 * with the reason in text. */
/* Words for what the source or the configuration asks for in vain. */
gmc_status gw_nodes_check(const struct gmc_gateway *gw, const char *inside, size_t count,
                          bool is_asked, char *text, size_t size);
gmc_status gw_nodes_choose(struct gmc_gateway *gw, struct gwchannel *ch, char *text, size_t size);
/* It is one of them, was not given up, and is the one that writes where only one does. */
bool gw_node_is_served(const struct gwchannel *ch, const struct gwpeer *peer);
/* Those that were given up are asked again. */
void gw_nodes_resume(struct gmc_gateway *gw, struct gwchannel *ch);
/* How many there are, for people; of nodes that share one file system the writer counts alone. */
void gw_nodes_count(const struct gwchannel *ch, uint32_t *all, uint32_t *verified,
                    uint32_t *failed);
struct gwnode *gw_node_find(const struct gwchannel *ch, const struct gwpeer *peer);
/* Those that are not complete will not be, for this. */
void gw_nodes_give_up(struct gmc_gateway *gw, struct gwchannel *ch, const char *reason);
void gw_nodes_step(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_time gw_nodes_deadline(const struct gmc_gateway *gw, const struct gwchannel *ch);
/* Under a new record all are told anew. */
void gw_nodes_retell(struct gwchannel *ch);
void gw_nodes_link_changed(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer);
void gw_node_message(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg);
/* Every node has all of it, or is given up. */
bool gw_nodes_are_settled(const struct gwchannel *ch);
/* Who lacks what and why, in words; false when nobody does. */
bool gw_nodes_failed(const struct gwchannel *ch, char *text, size_t size);
void gw_nodes_close(struct gmc_gateway *gw, const struct gwchannel *ch, bool cancelled);
/* A node of a transfer that is over here. */
void gw_node_over(struct gmc_gateway *gw, struct gwpeer *peer, const struct gwchannel *ch,
                  const struct gmc_msg *msg);
/* The domain in whose name this gateway, or node, takes part. */
static inline const char *gw_home(const struct gmc_gateway *gw)
{
    return gw->config.node_of != NULL ? gw->config.node_of : gw->domain;
}

/* gateway_tree.c: the nodes of this domain as a tree */
void gw_tree_step(struct gmc_gateway *gw, struct gwchannel *ch);
/* A node's link came up. */
void gw_tree_link_up(struct gmc_gateway *gw, const struct gwpeer *peer);
/* A node says who feeds it. */
void gw_tree_report(struct gmc_gateway *gw, struct gwchannel *ch, struct gwnode *node,
                    const char *parent);
/* A channel has ended: sessions that no other one needs are forgotten. */
void gw_tree_over(struct gmc_gateway *gw);
void gw_tree_free(struct gmc_gateway *gw);

/* gateway_neighbour.c: a node in that tree */
void gw_on_tree(struct gmc_gateway *gw, const struct gwpeer *peer, struct gwchannel *ch,
                const struct gmc_msg *msg);
bool gw_is_neighbour(const struct gwchannel *ch, const struct gwpeer *peer);
/* Links to those that no channel needs any more end. */
void gw_neighbours_sweep(struct gmc_gateway *gw);

/* gateway_group*.c: the nodes of this domain all at once, by multicast */
void gw_groups_init(struct gmc_gateway *gw);
/* A node attached to the channel: it is to hear it, too. */
void gw_group_attached(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *peer);
/* The node's link is gone, or it is no node any more: then others get a new key. */
void gw_group_left(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer,
                   bool is_no_node);
void gw_group_report(struct gmc_gateway *gw, struct gwpeer *peer, struct gwchannel *ch,
                     const struct gmc_msg *msg);
/* The node said which blocks it has. */
void gw_group_had(struct gmc_gateway *gw, struct gwchannel *ch, const struct gwpeer *peer);
void gw_group_free(struct gmc_gateway *gw, struct gwchannel *ch);
/* The first block from `number` on that the child may be sent over its link, the others being the
 * group's; false: none now. */
bool gw_group_leaves(const struct gmc_gateway *gw, const struct gwchild *child, uint64_t number,
                     uint64_t *free_number);
/* What a child may be sent over its link while the group is busy, bit/s; 0: no bound. */
uint64_t gw_group_share(const struct gmc_gateway *gw, const struct gwchild *child);
/* Nodes were sent so much over their links. */
void gw_group_pay(struct gmc_gateway *gw, size_t udp_payload);
bool gw_groups_send(struct gmc_gateway *gw, struct gmc_output *out);
gmc_time gw_groups_deadline(const struct gmc_gateway *gw);
void gw_groups_step(struct gmc_gateway *gw);

/* gateway_hear.c: a node that hears a group */
void gw_hear_group(struct gmc_gateway *gw, const struct gwpeer *peer, struct gwchannel *ch,
                   const struct gmc_msg *msg);
gmc_status gw_hear(struct gmc_gateway *gw, const struct gmc_dgram_in *in);
/* A block is in the store. */
void gw_hearing_stored(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
/* Something of the group is not the source's: it is told, and left. */
void gw_hearing_forged(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
/* What was only begun is given up: nothing is kept for it. */
void gw_hearing_forget(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_hearing_free(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_time gw_hearing_deadline(const struct gmc_gateway *gw);
void gw_hearing_step(struct gmc_gateway *gw);

/* gateway_have.c: what a receiver has, counted, and told to its parent */
bool gw_has(const struct gwchannel *ch, uint64_t number);
void gw_have_put(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
void gw_have_lose(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t number);
/* Takes over a checkpoint. False: there is none that can be used; nothing is there then. */
bool gw_have_load(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved,
                  uint64_t *horizon);
/* Sends an ATTACH with all that is here, and HAVEs for what it has no room for. */
void gw_have_tell_all(struct gmc_gateway *gw, struct gwchannel *ch, struct gwpeer *parent,
                      struct gmc_msg *attach);
/* Tells all parents what they were not told yet. */
void gw_have_tell(struct gmc_gateway *gw, struct gwchannel *ch);

/* gateway_resume.c: saved state of a receiver */
void gw_target_save_record(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_save_have(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_checkpoint(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_checkpointed(struct gwchannel *ch, gmc_status status);
gmc_status gw_target_restore(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_bytes saved);
void gw_target_restart(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_recheck(struct gmc_gateway *gw, struct gwchannel *ch);
void gw_target_rechecked(struct gmc_gateway *gw, struct gwchannel *ch, struct gmc_block *block,
                         const struct gmc_store_result *result);

#endif
