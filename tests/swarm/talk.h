/* SPDX-License-Identifier: BSD-2-Clause */
/* The swarm's message channel: a seed chooses source, targets, order, size and pace. What is
 * published fits in what every gateway keeps, so that no fault but the source's own death loses a
 * message: all come, once, in their order, also to targets that are killed meanwhile. */
#ifndef TESTS_SWARM_TALK_H
#define TESTS_SWARM_TALK_H

#include "base/interval.h"
#include "base/prng.h"
#include "sim-wan/scenario.h"

#define TALK_HOSTS_MAX 40u

struct talk_hearer {
    bool is_target;
    uint64_t starts; /* of its gateway; one that is started anew remembers nothing */
    uint64_t next;   /* above the highest that came */
    struct gmc_interval_set heard;
    bool ended;
    bool has_all; /* it had, once: nothing is sent again when it dies then */
};

struct talk {
    struct sim_world *world; /* NULL: this seed has no channel */
    struct gmc_channel_key key;
    struct sim_host *source;
    uint64_t starts; /* of the source, when the channel was opened */
    enum gmc_message_order order;
    uint64_t count, published;
    size_t bytes; /* of a message */
    gmc_duration every;
    /* The source's session with one of its children breaks when this message is published: what is
     * on its way is lost at a place where the child has relayed what is before. */
    uint64_t breaks_at[3];
    bool has_room, ended;
    struct talk_hearer hearers[TALK_HOSTS_MAX]; /* by host */
    struct sim_event step;
};

/* Draws one, or none. */
void talk_draw(struct talk *talk, struct sim_world *world, uint64_t seed);
void talk_fini(struct talk *talk);
/* Opens it, if there is one; from then on it publishes by itself. */
void talk_begin(struct talk *talk);
/* Nothing more comes. */
bool talk_is_over(const struct talk *talk);
/* Tells the oracle who lacks what. */
void talk_judge(const struct talk *talk);

#endif
