/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency between gateways: the cache of measured pairs, and one gateway's part in a probe round
 * (equal-size UDP echoes under a key that the source drew; several samples, minimum and spread
 * kept). No sockets: the composition carries the echoes. */
#ifndef GMC_CORE_PROBE_H
#define GMC_CORE_PROBE_H

#include "base/prng.h"
#include "base/time.h"
#include "core/io.h"
#include "wire/head.h"

/* ---- the cache of measured pairs ---- */
struct gmc_latency_cache;
struct gmc_latency {
    gmc_duration rtt_min;
    gmc_duration spread; /* largest minus smallest sample */
    gmc_time measured;
};
/* What who sends over a path saw of it. */
struct gmc_path_seen {
    uint32_t loss_ppm;
    uint64_t path_bps; /* what it carries, where that holds data back; 0: not known */
};

/* Reports whose times are this close belong to one round: a round lasts at most its timeout, and
 * the rows of all participants come in soon after. */
#define GMC_LATENCY_ROUND GMC_S(2)
/* Bounded: when full, the pair measured longest ago is forgotten. NULL when out of memory. */
struct gmc_latency_cache *gmc_latency_cache_new(size_t pairs_max);
void gmc_latency_cache_free(struct gmc_latency_cache *cache);
/* Unordered pair of two different peers; of two reports within one round the smaller minimum
 * counts, otherwise the later report. A pair for which there is no memory is not kept. */
void gmc_latency_cache_put(struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b,
                           const struct gmc_latency *latency);
/* Of the path from a to b, of which the latency is known: else it is not kept. */
void gmc_latency_cache_put_seen(struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b,
                                gmc_time now, const struct gmc_path_seen *seen);
/* Zeros when unknown or older than age_max at now. */
struct gmc_path_seen gmc_latency_cache_seen(const struct gmc_latency_cache *cache, gmc_peer a,
                                            gmc_peer b, gmc_time now, gmc_duration age_max);
/* False when unknown or older than age_max at now. */
bool gmc_latency_cache_get(const struct gmc_latency_cache *cache, gmc_peer a, gmc_peer b,
                           gmc_time now, gmc_duration age_max, struct gmc_latency *latency);

/* ---- one round, seen from one participant ----
 *
 * Every other participant is asked GMC_PROBE_SAMPLES times, in rounds over all of them, 2 ms apart
 * (jittered; closer when there are so many that this would take more than a quarter of the
 * timeout). An echo that is not answered in twice the largest round trip of that participant so
 * far plus 10 ms (a third of the timeout while there is none) is sent once more under a number of
 * its own, sample + GMC_PROBE_SAMPLES, so that a late answer to the first is told apart. A
 * participant is settled when every sample is in, or was asked twice and is overdue; one of whom
 * nothing was heard, when the timeout is over.
 *
 * The tag is GMAC under the probe key with the nonce kind (1 byte), 0 (1), from (2), to (2),
 * sample (2), 0 (4): no two different messages of a probe share it. An echo number is answered
 * once, so a replayed echo gets nothing.
 *
 * In a round of many (core/probe_plan.h) a participant is told only of those that it measures, with
 * their numbers, and answers whoever knows the key. It asks GMC_PROBE_SAMPLES_OF_MANY times: each
 * has more than one place to go, and the round takes half the time. Its echoes are spread so that
 * one that everybody measures hears at most one in GMC_PROBE_HEARD_EVERY. */
#define GMC_PROBE_SAMPLES 4
#define GMC_PROBE_SAMPLES_OF_MANY 2
#define GMC_PROBE_PARTICIPANTS_MAX 16384
#define GMC_PROBE_HEARD_EVERY GMC_US(50)

struct gmc_probe;
struct gmc_probe_config {
    const struct gmc_crypto *crypto;
    uint64_t id;
    uint8_t key[GMC_KEY_BYTES];
    const gmc_peer *participants; /* borrowed for the call; [0] is the source; GMC_PEER_NONE: not
                                     known here, not measured */
    const uint64_t *skip;         /* bitmap by participant: do not measure (known); may be NULL */
    size_t count;
    size_t self;             /* own index */
    const uint32_t *numbers; /* of the participants in the round, ascending, the source's is 0;
                                NULL: their indexes */
    size_t total;            /* participants of the round; 0: count */
    struct gmc_prng prng;    /* own stream: spreads the echoes */
    gmc_duration timeout;    /* give up on the silent; 0: 1 s */
};
/* NULL when out of memory, and when count, self or a number is out of range. */
struct gmc_probe *gmc_probe_new(const struct gmc_probe_config *config, gmc_time now);
void gmc_probe_free(struct gmc_probe *probe);
uint64_t gmc_probe_id(const struct gmc_probe *probe);

/* The next echo due now, written to out; *to is the participant's peer number. To be called until
 * it returns false at every deadline: this also gives up what is overdue. */
bool gmc_probe_next_echo(struct gmc_probe *probe, gmc_time now, uint8_t out[GMC_ECHO_BYTES],
                         gmc_peer *to);
/* An ECHO for this probe: checks tag and indexes, writes the reply (same size). AUTH, INVALID,
 * FULL when this echo was answered already. */
GMC_NODISCARD gmc_status gmc_probe_on_echo(struct gmc_probe *probe, struct gmc_bytes dgram,
                                           uint8_t reply[GMC_ECHO_BYTES]);
/* An ECHO_REPLY: takes the sample. AUTH, INVALID, UNKNOWN (not asked, or twice). The round trip
 * counts from the own record of when the echo went out, at least 1 ns. */
GMC_NODISCARD gmc_status gmc_probe_on_reply(struct gmc_probe *probe, gmc_time now,
                                            struct gmc_bytes dgram);
gmc_time gmc_probe_deadline(const struct gmc_probe *probe);
/* All samples are in, or the silent were given up. */
bool gmc_probe_done(const struct gmc_probe *probe, gmc_time now);
/* The number in the round of participant i. */
uint32_t gmc_probe_number(const struct gmc_probe *probe, size_t i);
/* The index of the participant of that number; SIZE_MAX: it was not listed. */
size_t gmc_probe_index(const struct gmc_probe *probe, uint32_t number);
/* How much longer than a small one a round of so many takes, at least. */
gmc_duration gmc_probe_spread(size_t total);
/* ---- the train that may follow, see core/train.h ----
 *
 * Packets go to those of the next GMC_TRAIN_AMONG participants in the list that are the nearest,
 * and then to the next ones, who have answered, or were not to be measured. The word about them has
 * an echo's bytes: its tag's nonce is that of the packet that it follows, with its own kind. */
/* Once the samples are in. known: round trips to the participants that were not to be measured, by
 * index, 0: not known; NULL: none is. Nothing, when it was begun already or there is nobody to send
 * it to. */
void gmc_probe_train_begin(struct gmc_probe *probe, const gmc_duration *known);
/* The next packet due now; to be called until it returns false, whenever the train is not over.
 * They are to leave in this order, and at once. */
bool gmc_probe_next_train(struct gmc_probe *probe, gmc_time now, uint8_t out[GMC_TRAIN_BYTES],
                          gmc_peer *to);
bool gmc_probe_train_is_over(struct gmc_probe *probe, gmc_time now);
size_t gmc_probe_train_receivers(const struct gmc_probe *probe); /* 0: it was not begun */
/* Bit/s of IP packets; 0: not known. */
uint64_t gmc_probe_train_rate(const struct gmc_probe *probe);
/* A packet of another's, when it came to this host. *answers: reply is to go back to where it came
 * from. AUTH, INVALID, FULL (it came already), UNKNOWN (its sender is not listed). */
GMC_NODISCARD gmc_status gmc_probe_on_train(struct gmc_probe *probe, gmc_time came,
                                            struct gmc_bytes dgram, uint8_t reply[GMC_ECHO_BYTES],
                                            bool *answers);
/* The word about the own one. AUTH, INVALID, UNKNOWN. */
GMC_NODISCARD gmc_status gmc_probe_on_train_seen(struct gmc_probe *probe, gmc_time now,
                                                 struct gmc_bytes dgram);

/* What was measured to participant i; false: nothing. */
bool gmc_probe_result(const struct gmc_probe *probe, size_t i, struct gmc_latency *latency);

#endif
