/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the composition (gateway*.c): its structs and bounds. What the files do with it is
 * in gateway_impl.h, which includes this. */
#ifndef GMC_CORE_GATEWAY_STATE_H
#define GMC_CORE_GATEWAY_STATE_H

#include "base/assert.h"
#include "base/heap.h"
#include "base/interval.h"
#include "base/list.h"
#include "base/map.h"
#include "base/prng.h"
#include "core/cache.h"
#include "core/gate.h"
#include "core/gateway.h"
#include "core/group_rate.h"
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
#include "core/uplink.h"
#include "wire/control.h"

#define GW_BLOCK_BYTES 65536u
#define GW_PAGES_KEPT 16u     /* verified pages in memory per channel */
#define GW_READS_MAX 32u      /* reads under way per channel */
#define GW_BACKLOG_BLOCKS 32u /* blocks at hand and unsent per child before more are opened */
#define GW_GAPS_MAX 1024u     /* gaps that a child left behind may leave open */
#define GW_TURN_BYTES 131072u /* of one peer, before others have their turn */
#define GW_HAVE_RANGES_MAX 65536u
#define GW_HAVE_WAIT GMC_MS(10) /* a HAVE waits so long for company, or as hearing nodes do */
#define GW_STATUS_EVERY GMC_MS(500)
#define GW_STATUS_HEARD_EVERY GMC_US(200) /* at most, by the source of a large group */
#define GW_CHECKPOINT_EVERY GMC_S(1)
#define GW_HORIZON_BLOCKS 8192u    /* how far behind the last block a checkpoint allows stores */
#define GW_BLAME_MAX 3u            /* bad blocks from a parent before it is left */
#define GW_GATHER_WAIT GMC_S(5)    /* for members' links, at set-up; not for the unreachable */
#define GW_AWAY_WAIT GMC_MS(1500)  /* of it, for sessions: one SYN lost, 150 ms of round trip */
#define GW_PROBE_WAIT GMC_MS(1500) /* for members' latency rows */
#define GW_TRAIN_WAIT GMC_MS(1500) /* longer, where trains follow */
#define GW_RATES_WAIT GMC_MS(250)  /* for trains alone, beside three round trips */
#define GW_SITE_RTT GMC_US(250)    /* shorter round trips are all one to a tree */
#define GW_SET_AGAIN GMC_S(2)      /* a set with pairs missing is measured again, at first */
#define GW_SETS_KEPT 16u           /* sets of gateways that were measured */
#define GW_PINS_MAX 1024u
#define GW_SPARES 32u /* records of outputs and of store operations, kept to be used again */
#define GW_PEERS_MAX (2u * GMC_MEMBERS_MAX) /* domains that were ever named here */

#define GW_MESSAGE_PACKETS_KEPT 4096u /* ranges of packets that a child lacks */

#define GW_LISTENERS_MAX 1024u /* nodes of a group; others are served by unicast */
/* Windows on their way to a group: 6 MiB, which the socket of a node that is late holds. */
#define GW_GROUP_OPEN_MAX 24u
/* Windows whose blocks are being read for it: a busy disk has 0.1 s at 200 Mbit/s. */
#define GW_GROUP_PREPARED_MAX 8u

struct gwchannel;
struct gwgroup;
struct gwhearing;
struct gwpeer;

/* A place in the composition's timer heap: a peer's, a channel's, or that of a channel's proofs. */
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
    uint64_t from;     /* index from which the block to open next is looked for first */
    uint64_t searched; /* below this index it lacks nothing that was seen here, nor prerequisites */
    struct gwplace place; /* that it showed, for whom it is named to; empty at the source */
    uint16_t id;          /* in cookies; unique within the peer's link */
    uint16_t handle;      /* what the child calls the channel */
    uint64_t wants;       /* blocks asked for again; bounded by the object's */
    struct gmc_interval_set pending; /* message channels: packets at hand that it lacks, ... */
    struct gmc_interval_set flying;  /* ... and those that are on their way to it */
    bool is_based;     /* it knows where the channel begins for it, and takes packets */
    uint64_t based_at; /* or will, once its link has brought so many bytes; 0: it was not told */
    uint64_t floor;    /* it knows that nothing below comes */
    uint64_t skip_due; /* it is to be told so of this one; 0: no */
    uint64_t left_out; /* of the latest only: packets up to here may have been left out */
    uint64_t sent_end; /* one above the highest packet that it was sent */
    uint64_t begun, finish; /* of the latest only: of this range of packets it has a part already,
                             * and gets the rest; 0, 0: there is none */
    bool lags;         /* it is so much slower than others that publishers do not wait for it */
    int64_t deficit;   /* bytes, deficit round robin among the link's channels */
    uint64_t cap_bps;  /* as of its last turn; 0: none */
    int64_t allowance; /* bytes, token bucket of the cap */
    gmc_time allowance_at;
};

/* ---- a domain that this gateway knows of ---- */
struct gwpeer {
    char *name;
    gmc_peer number;
    /* Of the domain, as it said with its latencies; bit/s of datagrams, 0 not known. */
    uint64_t uplink_bps, downlink_bps;
    gmc_time rates_at;
    uint32_t nodes_payload; /* what it said that datagrams to its nodes may have; 0 not known */
    bool domain_known;      /* it has said so, on this link */
    uint32_t payload;       /* of a node of this domain: what its path takes; 0 not known */
    /* What it has measured of its uplink, see core/peak.h. */
    uint64_t measured_bps, measured_busy_bps, measured_limit_bps;
    gmc_time measured_at;
    /* What the path from us to it was seen to carry. */
    struct gmc_peak path;
    gmc_time path_looked_at;
    bool held_by_path;     /* as it was then: by the path, and not by our uplink */
    struct gmc_link *link; /* NULL: no session */
    bool is_node;          /* of this domain, and not a domain itself */
    bool is_neighbour;     /* of this node, in a tree of its domain */
    uint32_t offered_id;   /* of a neighbour: the session that was taken last; 0 none */
    char *subnet;          /* of a node: where it stands, as it said; NULL: not known */
    bool can_relay;        /* it sends there by multicast */
    bool is_relay;         /* it does so for some channel, or did lately */
    bool out_of_reach;     /* multicast from here did not come to it when it was last tried */
    bool is_deaf;          /* it did not hear the group when it was last asked to, others did */
    /* gateway_suspect.c */
    bool is_suspect; /* it had the key of each group in which somebody forged, and so had others */
    bool forges;     /* it alone had */
    bool had_key;    /* of the group in which somebody forged, while that is looked into */
    bool up;         /* the link was reported up */
    bool is_silent;  /* as the link said at the last look */
    bool wanted;     /* the shell was asked for a session */
    bool replaced;   /* its link makes room for that of a newer session */
    bool dirty;      /* in gw->dirty: wants pumping and a new deadline */
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
    bool stopped;          /* it said so when its session ended */
    gmc_time silent_since; /* NEVER while up */
    char reason[160];      /* why there is no session */
    /* Of links that are gone: what is reported of a peer grows over reconnects. */
    uint64_t before_bytes_sent, before_bytes_received, before_packets_sent, before_packets_lost;
};

/* ---- a member, as its source sees it ---- */
/* How fast it gets on: what it had, since when, and when it said last what it has. */
struct gwpace {
    uint64_t bytes;
    gmc_time since, at;
    bool was_ahead; /* since then it waited for its parent to get what it had already */
    uint64_t last;  /* bytes a second, counted from some time before; 0: not known */
};

struct gwmember {
    gmc_peer peer;
    /* In the tree of each stripe: 0 the source, else index of a member plus 1. */
    int32_t parent[GMC_STRIPES_MAX];
    char *path;
    char *inside; /* to which of its nodes; "" as it likes */
    uint32_t nodes, nodes_verified, nodes_failed, nodes_left;
    uint32_t grown; /* version of the record that gave it more nodes, until it has that; 0 no */
    enum gmc_member_state state;
    bool placed;    /* its parent was chosen by the tree (else it is a child of the source) */
    bool told;      /* CHANNEL was sent on the present link */
    bool joined;    /* its latency row is in */
    bool closed;    /* it was told that the transfer is over */
    bool recorded;  /* in the present record */
    uint32_t entry; /* of the roll, if it is */
    gmc_peer actual_parent[GMC_STRIPES_MAX];
    /* as gateway_trial.c has it */
    struct gwpace pace;
    uint64_t pace_before; /* bytes a second by the trees before; 0: not known */
    int32_t parent_before[GMC_STRIPES_MAX];
    gmc_time began_at;                    /* it has said that it has some; 0: not yet */
    uint64_t bytes, bytes_then;           /* now; then, or when the last one came back */
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
    gmc_time asked_at;    /* patience with the silent counts from here, or from their last word */
    bool unsaved;         /* the present record; members are told when it is not */
    bool save_due;        /* what became of a member; with the next step */
    bool is_on_disk;      /* what its user asked for */
    gmc_time save_again;  /* the last save failed, and is repeated then; 0: it did not */
    char save_error[160]; /* why */
    bool gathering;       /* PROBING: the members' links are waited for */
    gmc_time gather_until;
    size_t linked_count;  /* of the members, those with sessions at the last look */
    gmc_time linked_at;   /* they became more, while that was waited for */
    gmc_time probe_until; /* while a round is under way */
    gmc_time setup_end;
    gmc_time place_again_at; /* the trees are looked at; 0: the run has not begun */
    gmc_duration place_again_wait;
    bool partly_known;     /* they were made without some latencies */
    bool doubts_rates;     /* they bring much less than was predicted */
    gmc_time doubted_at;   /* rates were measured anew for that; 0: not */
    bool came_late;        /* a member, after they were made */
    bool on_trial;         /* other trees were taken in mid-transfer */
    bool is_watched;       /* they have stood the first look, and may be left yet */
    gmc_time pace_from;    /* how fast members get on counts from then; 0: the beginning */
    gmc_time came_back_at; /* the last one that had not been heard for a while; 0: none */
};

/* A node of this domain, as its gateway sees it in one channel. */
struct gwnode {
    struct gwpeer *peer;
    enum gmc_member_state state;
    bool told;     /* CHANNEL was sent on the present link */
    bool stopped;  /* it took part, and said that it is being stopped */
    bool left;     /* FAILED, but not for the domain: it is not one of its nodes any more */
    bool is_spare; /* another one writes to the file system that they share */
    /* the tree of the nodes; of parents, 0 is this gateway, else one above a node's index */
    bool in_tree;     /* it was there once: it has a place */
    bool shaped;      /* the shape was asked for one for it */
    bool deaf;        /* it does not hear the group, as far as this transfer has shown */
    bool is_direct;   /* it reaches no other node */
    bool tree_due;    /* it is to be told of its neighbours */
    uint32_t planned; /* parent by the shape */
    uint32_t parent;  /* the next that lives on the way up from there */
    bool is_relay;    /* for its subnet (gateway_subnet.c) */
    bool by_relay;    /* `planned` is such a one */
    bool forged;      /* a relay that has said that somebody forges in its group */
    gmc_time parent_since;
    gmc_time feeds_from;     /* it was silent before, and is not relied on until then */
    uint32_t silences;       /* times that it was, as far as they count */
    struct gmc_addr address; /* of its datagrams, as last seen; len 0: they come within TLS */
    gmc_peer fed_by;         /* as it reports; GMC_PEER_NONE */
    gmc_time
        since; /* when its part began: patience with its silence counts from here at the least */
    uint64_t bytes;
    bool complete; /* it says so; believed when the digest is ours */
    uint8_t digest[GMC_HASH_BYTES];
    char reason[160];
};

/* Who stands beside a node in the tree of its domain. */
struct gwbeside {
    struct gwpeer *peer;
    bool by_group; /* a child that this node reaches by multicast */
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
    char unheard[160];        /* why the source is not heard; "" it is, or was a moment ago */
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
    /* gateway_doubt.c: stored, and in files that were written to after the last checkpoint. */
    bool doubts; /* some are not compared yet */
    struct gmc_interval_set doubtful;
    uint32_t doubt_reads; /* under way */
    uint64_t differed;    /* blocks */
    bool checkpointing;
    bool unsaved; /* `have` has changed since the last checkpoint began */
    uint64_t horizon;
    struct gmc_interval_set stable; /* what the SYNC under way covers */
    gmc_time next_checkpoint;
    gmc_time next_status;
    uint32_t receiving; /* blocks begun and not yet stored */
    gmc_time asked_at;  /* when its source last said that this gateway takes part */
    bool told_ready;
    bool told_complete;
    uint32_t suspects_turn; /* which of the suspects its groups do without; 0: not chosen */
    bool leave_unsaid;      /* it gave up while the source was not there to hear it */
    struct gwnode *nodes;   /* to whom this gateway hands on what it receives */
    size_t node_count;
    enum gmc_inside inside_kind; /* which ones; NONE until that is known */
    uint32_t bad_reads;          /* for nodes, of what is nowhere else */
    bool tree_used;              /* they are a tree, or the deaf ones of them... */
    bool tree_again;             /* ... whose shape is to be asked for anew */
    uint32_t tree_root;          /* who feeds its first ones, as a parent; 0 this gateway */
    bool relayed;                /* subnets have relays, or had */
    char *saved_stopped;         /* names of nodes, as gateway_stopped.c has them; NULL: none */
    struct gwbeside *neighbours; /* of a node: in that tree */
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

/* Proofs of a message channel: gateway_proof.c. */
struct gwproofs {
    struct gmc_signer *signer;      /* of the source; NULL elsewhere */
    uint8_t key[GMC_PROOF_KEY_MAX]; /* its public half */
    size_t key_len;                 /* 0: there are no proofs */
    struct gmc_pubkey *verifier;    /* of a receiver; NULL: there are none */
    uint8_t *hashes;                /* source: of the packets from `first` on, not proven yet */
    size_t count, capacity;
    uint64_t first;
    gmc_time sent_at;     /* source: the last ones */
    uint64_t waits_for;   /* receiver: a packet, since the timer was set */
    struct gwtimer timer; /* source: of the next ones; receiver: waits no longer */
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
    bool ending;              /* ... which is the last, and goes when all members have answered */
    bool ended;               /* the last message is here, or the channel is over */
    gmc_time heard_at;        /* source: when one that sets the pace was last seen here; 0: never */
    struct gwproofs proofs;
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
    uint64_t file_count;   /* 0 before the scan, or the layout */
    uint64_t stored_bytes; /* of file data */

    /* blocks */
    struct gwstripe stripes[GMC_STRIPES_MAX];
    uint32_t stripe_count;
    const struct gmc_page *pages[GW_PAGES_KEPT];
    uint64_t page_used[GW_PAGES_KEPT];
    uint64_t page_clock;
    size_t page_last;               /* that was asked for */
    struct gmc_list page_wait;      /* blocks that wait for their page */
    struct gmc_list layout_wait;    /* whole blocks that wait for the layout */
    uint8_t digest[GMC_HASH_BYTES]; /* of the object, once known */
    bool digest_known;
    uint32_t reads;
    bool wants_room;       /* the cache had none for a block that a child wants */
    uint32_t ops;          /* store operations under way */
    struct gmc_list saves; /* gwop.in_saves, those of them that are a SAVE */
    bool close_due;        /* CLOSE is to be asked for once these are answered */
    bool discards;         /* what it is to say then */

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
    bool recheck;            /* READ*: for gateway_resume.c */
    bool doubted;            /* READ*: for gateway_doubt.c */
    bool checkpoint;         /* SAVE: of what is stored */
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

/* Of the groups' rate, while the nodes tell what they lose at it. */
struct gwgroup_round {
    uint64_t number; /* 0: none was */
    bool is_open;    /* the first word is there */
    gmc_time began;
    uint64_t sent;     /* bytes since then, with all headers */
    uint64_t said_bps; /* the rate that is in the log; 0: the configured one */
};

/* A set of gateways whose latencies were measured. */
struct gwset {
    uint64_t hash;
    gmc_time until;       /* the measurement is used again */
    gmc_time rates_until; /* what they did not say of their uplinks is not asked for again */
    gmc_duration wait;    /* pairs were missing: how long that was left alone at last */
};

/* Of the uplink of who has none configured, see core/peak.h; 0 not known. */
struct gwmeasured {
    uint64_t most, busy, limit;
};

/* What a train has shown of the uplink. */
struct gwtrained {
    uint64_t rate_bps;
    size_t receivers; /* more show more, where each has a path of its own */
    gmc_time at;      /* 0: there was none */
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
    bool rekeyed; /* it was another one before */
    struct gmc_prng prng;
    gmc_time now;
    gmc_time awake_since; /* it was stopped before, as by a signal or with its machine; 0: never */
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
    struct gmc_list dirty;    /* peers to pump */
    struct gmc_pace uplink;   /* rate 0: not known */
    bool uplink_waits;        /* there was more to send when the last of it had to be paid for */
    gmc_duration uplink_late; /* for want of the host's time, and not of data, it was not used */
    struct gmc_uplink learnt; /* what it carries, within what is configured */
    struct gmc_peak peak;     /* of what all children got together */
    struct gwtrained trained; /* the same as a train has shown it */
    struct gmc_list turns;    /* peers that wait for it, in turn */
    size_t turn_count;
    size_t feeding; /* peers with children, but for nodes */
    /* the nodes all at once */
    uint8_t group_address[GMC_GROUP_ADDRESS_MAX];
    size_t group_address_len; /* 0: there is no group */
    uint32_t group_payload;   /* of the interface that it leaves by */
    uint32_t nodes_payload;   /* bytes that datagrams to all nodes may have, as others were told */
    struct gmc_pace group_pace;
    gmc_time suspected_until;         /* by then nothing was forged for long */
    uint32_t suspects_turns;          /* channels that suspects took part in */
    gmc_time group_turn;              /* then it is the group's, whatever links to nodes carried */
    gmc_time group_yields_until;      /* messages pass to nodes */
    struct gmc_group_rate group_rate; /* what it goes at */
    struct gwgroup_round group_round;
    struct gmc_list groups; /* gwgroup.node, in turn */
    /* the nodes as a tree */
    struct gmc_inside_tree inside_tree; /* shape NULL: none */
    struct gmc_list pairs;              /* struct gwpair: sessions between nodes */
    uint32_t neighbour_payload;         /* of a node: what its interface takes */
    char subnet[GMC_SUBNET_MAX + 1];    /* where it stands, inside its domain; "" not known */
    struct gmc_map hearings;            /* of a node: number of a group -> struct gwchannel */
    struct gmc_map ops;                 /* ticket -> struct gwop */
    struct gmc_gateway_shared own_shared, *shared; /* its own, or that of several */
    uint64_t next_ticket;
    uint64_t next_request;
    struct gwasked asked[GW_ASKED_MAX]; /* oldest first */
    size_t asked_count;

    /* outputs */
    struct gmc_list outs;    /* struct gwout, to be drained */
    struct gmc_list drained; /* struct gwout, borrowed until the next input */
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
    enum gmc_rates rates; /* a train follows the echoes, */
    bool sends_train;     /* from this gateway too, */
    gmc_time train_at;    /* but not before */
    bool answered;
    gmc_time forget_at;
};

#endif
