/* SPDX-License-Identifier: BSD-2-Clause */
/* Wormhole switching, flit by flit and cycle by cycle.
 *
 * A channel carries one flit per cycle, of one of its virtual channels that could use it. A
 * virtual channel belongs to one message from its head to its tail and has a buffer of `depth`
 * flits at the channel's end. A flit may enter a buffer that is vacated in the same cycle, so an
 * unblocked worm streams at one flit per cycle even with a depth of 1. A head takes any free
 * virtual channel of a channel drawn uniformly among the legal ones that have one; heads that find
 * none wait in the order of their arrival. What leaves the network is consumed at once.
 *
 * A message that is generated in cycle t and meets nobody is consumed to its last flit at t + hops
 * + flits - 1 + (delay of each router), hops counting all its channels.
 *
 * Flits are not stored: a virtual channel counts how many are in its buffer and how many have yet
 * to come. Nothing is allocated per flit or per hop.
 */
#ifndef INTERCONNECT_WORMHOLE_ENGINE_H
#define INTERCONNECT_WORMHOLE_ENGINE_H

#include "base/prng.h"
#include "base/status.h"
#include "interconnect/wormhole/network.h"

#define IC_WH_VCS_MAX 32u
#define IC_WH_FLITS_MAX 65535u
#define IC_WH_DEPTH_MAX 65535u
#define IC_WH_DELAY_MAX 1024u

struct ic_wh_options {
    uint32_t vcs;           /* of every channel, 1..32 */
    uint32_t flits;         /* of a message, 1..65535 */
    uint32_t depth;         /* of a buffer, flits, 1..65535 */
    uint32_t hop_delay;     /* cycles of a head in each router, beside those on channels; 0..1024 */
    uint32_t release_delay; /* cycles until a virtual channel is free after its tail has left it;
                             * 0: the next cycle sees it free */
    bool links_in_order; /* which of a channel's worms moves a flit, of those that can: the one */
    bool ends_in_order;  /* that took its virtual channel first, otherwise all in turn */
};

/* A message that was delivered. Times in cycles. */
struct ic_wh_message {
    struct ic_wh_flow flow;
    uint64_t number;    /* in the order of generation, from 0 */
    uint64_t created;   /* the cycle in which it could have left at the earliest */
    uint64_t entered;   /* the cycle in which its first flit left */
    uint64_t delivered; /* the end of the cycle in which its last flit was consumed */
    uint32_t hops;      /* channels */
};

struct ic_wh_engine;

/* The network is borrowed, its numbers are checked by assertions. NOMEM. */
GMC_NODISCARD gmc_status ic_wh_engine_new(const struct ic_wh_network *network,
                                          const struct ic_wh_options *options, uint64_t seed,
                                          struct ic_wh_engine **engine);
void ic_wh_engine_free(struct ic_wh_engine *engine);

/* A message generated now. NOMEM. */
GMC_NODISCARD gmc_status ic_wh_engine_send(struct ic_wh_engine *engine, uint32_t from, uint32_t to);
/* One cycle: heads take channels, then flits move. Delivered messages can be taken afterwards,
 * before the next step. NOMEM. */
GMC_NODISCARD gmc_status ic_wh_engine_step(struct ic_wh_engine *engine);
/* One that was delivered in the last step; false: no more. */
bool ic_wh_engine_next(struct ic_wh_engine *engine, struct ic_wh_message *message);

/* The cycle that the next step makes. */
uint64_t ic_wh_engine_now(const struct ic_wh_engine *engine);
/* Nothing is in the network: cycles until the next message may be left out. */
bool ic_wh_engine_is_idle(const struct ic_wh_engine *engine);
void ic_wh_engine_skip(struct ic_wh_engine *engine, uint64_t now);

/* Messages sent and not yet delivered. */
uint64_t ic_wh_engine_backlog(const struct ic_wh_engine *engine);
/* Flits that crossed a channel since the start, or the last clear. */
uint64_t ic_wh_engine_carried(const struct ic_wh_engine *engine, uint32_t channel);
void ic_wh_engine_clear_carried(struct ic_wh_engine *engine);

#endif
