/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a gateway's multicast to its nodes share: gateway_group.c (the group's life and
 * time), gateway_group_listen.c (the nodes), gateway_group_rate.c (the rate that they can follow),
 * gateway_group_send.c (windows and datagrams). */
#ifndef GMC_CORE_GATEWAY_GROUP_IMPL_H
#define GMC_CORE_GATEWAY_GROUP_IMPL_H

#include "core/gateway_impl.h"

#define GW_HEAR_WAIT GMC_MS(300) /* for the first word from a node that was asked to listen */
#define GW_TELL_AGAIN GMC_MS(20) /* while something is open */
#define GW_LATE_MAX 8u           /* windows in a row that a node was not waited for */

enum gwlisten {
    GW_ASKED, /* it was told of the group, and has not heard it yet */
    GW_HEARS,
    GW_DEAF /* it does not hear, or has left */
};

/* What a node told in a round of the group's rate. */
struct gwlistener_round {
    uint64_t number;         /* of the round; 0: none */
    uint64_t received, next; /* its first word in it */
    uint32_t loss_ppm;       /* since then */
    bool loss_known;         /* of enough datagrams */
};

struct gwlistener {
    struct gwpeer *peer;
    enum gwlisten state;
    bool lags; /* it loses so much more than others that the group does not wait for it */
    bool has_key;
    bool deaf_said;
    bool quiet_said;
    bool quiet;  /* it owes an answer for so long that the group goes on without it, until it speaks
                  */
    bool relays; /* it gets over its link what its subnet gets from it... */
    bool relayed;        /* ... or it is one of those (gateway_subnet.c) */
    uint64_t first_turn; /* windows that were opened before are not for it */
    gmc_time asked_at;
    gmc_time heard_at;       /* its last word about the group, or what it has */
    uint64_t received, next; /* as last reported: datagrams, and the number after the highest */
    uint32_t loss_ppm;
    bool loss_known;
    struct gwlistener_round round;
    uint32_t late;
    uint64_t room; /* blocks that it can hold unverified */
};

/* A window that is being prepared or sent. */
struct gwwindow {
    struct gmc_list node; /* of the group's prepared ones, or spares */
    struct gmc_group_out out;
    struct gmc_group_shape shape;
    struct gmc_block *blocks[GMC_GROUP_BLOCKS_MAX]; /* sealed and pinned; NULL: not yet */
    const uint8_t *shards[GMC_GROUP_SOURCES_MAX];
    const uint8_t *tags[GMC_GROUP_SOURCES_MAX];
    uint64_t has[GW_LISTENERS_MAX / 64]; /* listeners that have all of it */
    uint8_t *pads; /* short fragments, filled up with zeros: one for each block */
    /* Parity from this index on, so many shards with their tags: computed together, sent one by
     * one. */
    uint8_t *parity;
    uint32_t parity_first, parity_count;
};

struct gwgroup {
    struct gmc_list node;
    struct gwchannel *channel;
    uint32_t number;
    uint8_t key[GMC_KEY_BYTES];
    struct gmc_gate gate;
    uint64_t next_packet;
    uint64_t rate_from; /* packet: from there on they went at the present rate */
    struct gmc_group_tx tx;
    struct gmc_list prepared; /* gwwindow.node */
    uint32_t prepared_count;
    struct gmc_list spares;
    struct gmc_interval_set begun;   /* windows that were prepared */
    struct gmc_interval_set retired; /* windows that are over */
    uint32_t lost;                   /* windows in a row that nobody had when they were given up */
    uint64_t windows;
    struct gwlistener *listeners;
    size_t count;
    gmc_time gather_until;
    gmc_time told_at;               /* the last word to the group, ... */
    uint64_t told_packet;           /* ... and its number */
    gmc_time looked_at, awake_from; /* this host ran when it was to since then */
    gmc_duration backoff;
    gmc_duration settling; /* from a window's last datagram until everybody has it, smoothed */
};

static inline struct gwwindow *gw_window_of(struct gmc_group_out *out)
{
    return GMC_CONTAINER_OF(out, struct gwwindow, out);
}

/* ---- gateway_group.c ---- */
bool gw_group_is_possible(const struct gmc_gateway *gw, const struct gwchannel *ch);
/* Where the group cannot carry this channel's fragments, that is said once. */
void gw_group_check_size(struct gmc_gateway *gw, struct gwchannel *ch);
gmc_status gw_group_new_key(struct gmc_gateway *gw, struct gwgroup *group);
void gw_group_tell(struct gmc_gateway *gw, const struct gwgroup *group, struct gwlistener *listener,
                   bool is_over);
struct gwgroup *gw_group_new(struct gmc_gateway *gw, struct gwchannel *ch);
bool gw_window_has(const struct gwwindow *window, size_t i);
void gw_window_retire(struct gmc_gateway *gw, struct gwgroup *group, struct gwwindow *window);
void gw_group_end(struct gmc_gateway *gw, struct gwchannel *ch, gmc_status status,
                  const char *reason);

/* ---- gateway_group_listen.c ---- */
struct gwlistener *gw_listener_of(const struct gwgroup *group, const struct gwpeer *peer);
bool gw_listener_counts(const struct gwlistener *listener);
size_t gw_group_hearing(const struct gwgroup *group);
bool gw_group_is_gathered(const struct gmc_gateway *gw, const struct gwgroup *group);
/* Nobody has said yet that he hears it, but somebody will soon, as far as is known. */
bool gw_group_may_be_heard(const struct gmc_gateway *gw, const struct gwchannel *ch);
/* Does a node that hears lack some of the window? Who has all of it is noted. */
bool gw_window_is_lacked(const struct gwgroup *group, struct gwwindow *window);
/* The lowest block, from this one on, that a node which hears has not and that its link does not
 * bring; the channel's blocks: there is none. */
uint64_t gw_group_lacked(const struct gwgroup *group, uint64_t first);
/* Others wait for somebody who is stopped, say: they go on. */
void gw_group_put_aside(struct gmc_gateway *gw, struct gwgroup *group);
void gw_listener_say_deaf(struct gmc_gateway *gw, const struct gwgroup *group,
                          struct gwlistener *listener);

/* ---- gateway_group_rate.c ---- */
/* To the configured rate. */
void gw_group_rate_reset(struct gmc_gateway *gw, uint64_t rate_bps);
/* A node that listens told how much it was sent, and got. */
void gw_group_rate_heard(struct gmc_gateway *gw, const struct gwgroup *group,
                         struct gwlistener *listener, const struct gmc_msg *msg);

/* ---- gateway_group_window.c ---- */
/* The next window that nobody was sent and all of which is here. */
bool gw_group_next_window(const struct gwgroup *group, uint64_t *window);
/* No more windows may be open now. */
bool gw_group_is_full(const struct gmc_gateway *gw, const struct gwgroup *group);
/* Opens a window whose blocks are ready, if there is one, and has those of the next ones read. */
void gw_group_open_ready(struct gmc_gateway *gw, struct gwgroup *group);
/* The parity shard and its tag, computed with those that were promised behind it; NULL: it cannot
 * be. It stays until another one of the window is asked for. */
const uint8_t *gw_window_parity(const struct gmc_gateway *gw, const struct gwgroup *group,
                                struct gwwindow *window, uint32_t index);

/* ---- gateway_group_send.c ---- */
/* What was sent is paid for, or it is the group's turn. */
bool gw_groups_may_send(const struct gmc_gateway *gw);
gmc_time gw_group_tell_time(const struct gwgroup *group);

#endif
