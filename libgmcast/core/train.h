/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet trains: what a gateway's uplink carries, found with a few packets before anything has gone
 * over it. Packets leave all at once, to several receivers by turns; what comes through arrives as
 * far apart as the narrowest place on the way made it (Jacobson 1988; Dovrolis, Ramanathan and
 * Moore, Packet-dispersion techniques and a capacity-estimation methodology, 2004). One receiver
 * alone would show its own path. Several show together what they share, and the sum of their paths
 * where they share nothing: in both cases what the sender can feed them at once. So who is sent to
 * matters: over one wire of several to all of them only that is seen.
 *
 * A short train comes first. If it was over too soon to be timed well, or some of it was lost, a
 * long one follows. Each
 * receiver tells after every GMC_TRAIN_TOLD packets how many bytes came behind the first and in
 * what time, so that a word that is lost costs nothing; what the queue had no room for, or the path
 * lost, is missing in bytes, and so in the rate.
 *
 * What it cannot see: a rate that holds for longer bursts only (token buckets), and one whose queue
 * has no room for GMC_TRAIN_TOLD packets to each receiver. Of the latter nothing is known then.
 *
 * No bytes and no clock here: core/probe.h carries trains within a latency round. */
#ifndef GMC_CORE_TRAIN_H
#define GMC_CORE_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/time.h"

#define GMC_TRAIN_PEERS 16u
#define GMC_TRAIN_AMONG 48u /* of whom those are chosen */
#define GMC_TRAIN_NEAR 8u   /* of those, that are the nearest */
#define GMC_TRAIN_SHORT 64u /* packets of the train, over all receivers */
#define GMC_TRAIN_LONG 512u
#define GMC_TRAIN_SAMPLES (GMC_TRAIN_SHORT + GMC_TRAIN_LONG) /* numbers of packets to one */
#define GMC_TRAIN_TOLD 4u
#define GMC_TRAIN_WIRE_BYTES 1228u /* GMC_TRAIN_BYTES, with the heads of IPv4 and UDP */

/* ---- the receiver, for each sender; zeros are a fresh one ---- */
struct gmc_train_in {
    uint64_t had[(GMC_TRAIN_SAMPLES + 63) / 64]; /* numbers that came */
    bool is_long;
    uint32_t packets; /* of the present train */
    gmc_time first, last;
};

struct gmc_train_word {
    uint32_t bytes; /* behind the first packet */
    uint32_t span;  /* ns */
};

/* A packet came. FULL: once more; it is not to be answered. *told: the sender is to get the word.
 */
GMC_NODISCARD gmc_status gmc_train_take(struct gmc_train_in *in, uint32_t sample, gmc_time came,
                                        bool *told, struct gmc_train_word *word);

/* ---- the sender ---- */
struct gmc_train_out {
    size_t count;  /* receivers; 0: none was begun */
    uint32_t each; /* packets for each of them */
    uint32_t sent; /* over all */
    bool is_long, over;
    gmc_duration patience;
    gmc_time until;  /* nothing more is awaited; NEVER: packets are still to go */
    gmc_time last;   /* when the last word will be there, as those before it say, ... */
    gmc_time latest; /* ... but no later */
    struct gmc_train_word words[GMC_TRAIN_PEERS];
    uint64_t rate_bps;
};

/* count: 1 to GMC_TRAIN_PEERS. rtt: the longest to any of them. */
void gmc_train_begin(struct gmc_train_out *out, size_t count, gmc_duration rtt);
/* The next packet, to be sent now. False: none now. */
bool gmc_train_next(struct gmc_train_out *out, gmc_time now, size_t *to, uint32_t *sample);
/* A receiver's word. UNKNOWN: of another train, or older than what is known; INVALID: of more than
 * was sent to it, or of no time. */
GMC_NODISCARD gmc_status gmc_train_told(struct gmc_train_out *out, gmc_time now, size_t from,
                                        uint32_t sample, const struct gmc_train_word *word);
/* True when it is over. Until then to be asked at every deadline, and gmc_train_next after it. */
bool gmc_train_is_over(struct gmc_train_out *out, gmc_time now);
/* NEVER: there is none, or it is over. */
gmc_time gmc_train_deadline(const struct gmc_train_out *out);
/* Of IP packets that arrived; 0: not known. */
uint64_t gmc_train_rate(const struct gmc_train_out *out);

#endif
