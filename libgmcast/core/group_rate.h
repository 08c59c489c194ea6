/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast a group is sent to: at the configured rate, unless the nodes that it waits for get no
 * less at a lower one. Loss alone does not tell a narrow port from a bad cable, so the rate is
 * lowered for a trial: where the loss goes, the network was full and the rate stays down; where it
 * stays, it is the path's own, the rate comes back, and that much loss is taken for granted. Later
 * the rate is raised, by a tenth at first and by more from then on, while that loses nothing more;
 * twofold where nearly all had been lost, which says nothing of what the network carries.
 *
 * (Receiver-driven layered multicast tells congestion by such trials, McCanne, Jacobson, Vetterli,
 * SIGCOMM 1996, with layers for rates.)
 *
 * Time is cut into rounds at one rate each. The caller measures what the worst of the nodes that
 * count loses of what was sent in it. Rates are bit/s, losses parts per million. The structure
 * holds no memory. */
#ifndef GMC_CORE_GROUP_RATE_H
#define GMC_CORE_GROUP_RATE_H

#include <stdbool.h>

#include "base/time.h"

enum gmc_group_trial { GMC_GROUP_STEADY, GMC_GROUP_LOWERED, GMC_GROUP_RAISED };

struct gmc_group_rate {
    uint64_t most_bps; /* the configured one */
    uint64_t bps;
    enum gmc_group_trial trial;
    uint64_t before_bps;  /* LOWERED, RAISED: the rate before, ... */
    uint64_t before_sent; /* ... what was sent per second at it, ... */
    uint32_t before_loss; /* ... and lost */
    bool is_blind;        /* LOWERED: next to nothing arrived in the last round before */
    uint32_t usual_loss;  /* at any rate */
    bool is_useless;      /* most is lost at any rate */
    uint32_t excess;      /* lost above that, summed over the last rounds, ... */
    uint32_t rounds;      /* ... so many, in a row */
    gmc_time raise_at;    /* not earlier */
    gmc_duration raise_wait;
    uint32_t raise_percent; /* the next step */
};

void gmc_group_rate_init(struct gmc_group_rate *rate, uint64_t most_bps);
/* A round is over: `sent_bps` is what was sent in it, of which the worst node lost so much. The
 * next one begins, at the rate that `bps` says. */
void gmc_group_rate_round(struct gmc_group_rate *rate, gmc_time now, uint64_t sent_bps,
                          uint32_t loss_ppm);
/* Datagrams of `packet_bytes` that a round's loss is computed from, at least. */
uint64_t gmc_group_rate_sample(const struct gmc_group_rate *rate, uint32_t packet_bytes);

#endif
