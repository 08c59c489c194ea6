/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a node that hears a group share: gateway_hearing.c (its life, and what it
 * says), gateway_hear.c (datagrams, and what is computed from them), gateway_hear_window.c (windows
 * of which something is here). */
#ifndef GMC_CORE_GATEWAY_HEAR_IMPL_H
#define GMC_CORE_GATEWAY_HEAR_IMPL_H

#include "core/gateway_impl.h"

/* A window of which something is here. */
struct gwheard {
    struct gmc_list node; /* hearing->windows */
    struct gmc_group_in in;
    struct gmc_block *blocks[GMC_GROUP_BLOCKS_MAX]; /* pinned, with sealed bytes; NULL: none yet */
    uint8_t *rows; /* shards of parity, rows_max() of them; NULL: none came yet */
    uint64_t row_mask;
    uint8_t row_index[GMC_FEC_PARITY_MAX]; /* of the shards in `rows` */
};

struct gwhearing {
    struct gwpeer *from; /* who sends it: the gateway, or the relay of this subnet */
    uint32_t number;
    struct gmc_gate gate;
    bool any;
    struct gmc_addr sender; /* of the first datagram under the key, ... */
    struct gmc_addr other;  /* ... of the last one that came from elsewhere; len 0: none */
    uint64_t received;      /* datagrams */
    gmc_time report_at;     /* NEVER: nothing came since the last one */
    gmc_duration backoff;
    uint32_t members;
    struct gmc_prng prng;
    struct gmc_list windows; /* gwheard.node, in order of coming */
    size_t count;
    struct gmc_list spares;
    uint8_t *scratch; /* recovered shards, and short ones filled up */
};

static inline size_t gw_shard_room(const struct gwchannel *ch)
{
    return (size_t)ch->object.fragment_bytes + GMC_SEAL_TAG_BYTES;
}

/* A block's sealed fragments that can be computed with. */
static inline uint64_t gw_heard_sealed(const struct gwheard *heard, uint32_t i)
{
    const struct gmc_block *block = heard->blocks[i];
    return block != NULL && block->cipher != NULL ? block->sealed : 0;
}

/* gateway_hear_window.c */
struct gwheard *gw_heard_find(const struct gwhearing *hearing, uint32_t window);
/* The window's record; NULL: there is no room for it. */
struct gwheard *gw_heard_of(struct gmc_gateway *gw, struct gwchannel *ch, uint32_t window);
void gw_heard_release(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard);
/* Counts what is missing. False: the window is complete. A block that came without its sealed bytes
 * (over the link, before the group was heard) cannot be computed with: nothing is asked for then,
 * and the link brings the rest. */
bool gw_heard_count(const struct gwchannel *ch, struct gwheard *heard);
/* Holds the window's block i, and begins it if need be. False: there is no room for it. */
bool gw_heard_pin(struct gmc_gateway *gw, struct gwchannel *ch, struct gwheard *heard, uint32_t i);

#endif
