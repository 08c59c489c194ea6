/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams to peers over a wire of messages (fabric/wire.h): batches, what waits, and peers that
 * take nothing any more.
 *
 * Nothing is lost while peers take what is for them: when too much waits for one, fab_has_room says
 * no, and whoever has datagrams keeps them. That is for all peers, so one may cause it for 50 ms of
 * a second and no more: a slower one loses what its share of messages does not hold, and one that
 * takes none for 2 s is lost. Memory is taken when it is opened, none for a datagram. */
#ifndef FAB_FABRIC_H
#define FAB_FABRIC_H

#include "base/time.h"
#include "fabric/wire.h"

struct fab;
struct fab_peer;

struct fab_owner {
    void *ctx;
    /* A message of the sender with this id came, which it began to write at this time of its clock;
     * nothing is put in the call. */
    void (*heard)(void *ctx, uint64_t id, gmc_time begun);
    /* A datagram of that message, borrowed for the call, in which nothing is put. */
    void (*take)(void *ctx, uint64_t id, struct gmc_bytes datagram);
    /* The first message to the peer is over: it takes datagrams from now on. */
    void (*reached)(void *ctx, void *peer);
    /* The peer takes nothing any more; reason in words. It may be freed here. */
    void (*lost)(void *ctx, void *peer, const char *reason);
};

struct fab_stats {
    uint64_t sent, received;                   /* datagrams */
    uint64_t messages_sent, messages_received; /* that carried them */
    uint64_t busy;                             /* times that the wire took no more for now */
    uint64_t dropped;                          /* datagrams for who takes none, or too few */
    uint64_t failed;                           /* messages that did not arrive, as the wire says */
    uint64_t malformed;                        /* messages that are none of ours */
};

/* Takes the wire over, also when it fails (NULL: no memory that the wire can use). id: of this end,
 * which stands in its messages. */
struct fab *fab_new(const struct fab_wire *wire, uint64_t id, const struct fab_owner *owner);
void fab_free(struct fab *fab);
const struct fab_wire *fab_wire(const struct fab *fab);
const struct fab_stats *fab_stats(const struct fab *fab);

/* Sends it a message without datagrams; while that is under way, which with a connection to be made
 * takes a while, datagrams go elsewhere. NULL: the wire cannot reach this address, there are 255
 * peers, or no memory. */
struct fab_peer *fab_peer_new(struct fab *fab, gmc_time now, struct gmc_bytes address, void *peer);
void fab_peer_free(struct fab_peer *peer);
bool fab_peer_is_reached(const struct fab_peer *peer);
/* Sends it a message without datagrams again, if nothing else waits for it. */
void fab_peer_greet(struct fab_peer *peer, gmc_time now);

enum fab_put {
    FAB_TAKEN,
    FAB_DROPPED,
    FAB_ELSEWHERE /* it is too long for the wire, or the peer is not reached yet, or lost */
};
/* Copies a datagram; it leaves with the next flush, at the latest. */
enum fab_put fab_put(struct fab_peer *peer, gmc_time now, const struct gmc_bytes *pieces,
                     size_t count);
/* Whether whoever has datagrams should go on, for whichever peer they are. */
bool fab_has_room(const struct fab *fab);
void fab_flush(struct fab *fab, gmc_time now);
/* Takes what came and goes on with what waits: one round. True: there may be more. */
bool fab_progress(struct fab *fab, gmc_time now);
/* Messages are under way, so fab_progress has to be called now and then. */
bool fab_is_waiting(const struct fab *fab);
/* NULL, or why it has to be opened anew. */
const char *fab_broken(const struct fab *fab);

#endif
