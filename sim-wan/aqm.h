/* SPDX-License-Identifier: BSD-2-Clause */
/* CoDel: which packets a queue gives up, or marks, as they come to their turn.
 *
 * Source  RFC 8289, section 5 (pseudo code) and 4.2-4.4 (constants): target 5 ms, interval 100 ms.
 *         With ECN a packet of a capable transport is marked where it would be dropped, and goes on
 *         its way, as in Linux (net/codel_impl.h).
 * Exact   integers; the control law t + interval / sqrt(count) is rounded down to the nanosecond.
 */
#ifndef SIM_AQM_H
#define SIM_AQM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

#define SIM_CODEL_TARGET GMC_MS(5)
#define SIM_CODEL_INTERVAL GMC_MS(100)
#define SIM_CODEL_INTERVAL_MAX GMC_S(4)

struct sim_codel_config {
    gmc_duration target;   /* of the time in the queue; 0: no CoDel */
    gmc_duration interval; /* above target, up to SIM_CODEL_INTERVAL_MAX */
    bool ecn;              /* marks where it can */
};

enum sim_codel_after { SIM_CODEL_NOTHING, SIM_CODEL_ENTERED, SIM_CODEL_DROPPED };

/* Zero at the beginning. Names as in the RFC. */
struct sim_codel {
    gmc_time first_above, drop_next;
    uint32_t count, last_count;
    bool dropping;
    uint8_t after; /* what happened to the packet before in the same turn */
};

enum sim_verdict { SIM_PASS, SIM_MARK, SIM_DROP };

/* A packet at the head of the queue. */
struct sim_codel_head {
    gmc_duration sojourn; /* how long it waited */
    bool is_alone;        /* at most a full packet is left behind it */
    bool is_capable;      /* its transport understands marks */
};

/* The verdict on the packet whose turn it is at `now`. After SIM_DROP the next one is asked about
 * at the same time. */
enum sim_verdict sim_codel_judge(struct sim_codel *codel, const struct sim_codel_config *config,
                                 gmc_time now, const struct sim_codel_head *head);
/* The queue had no packet to give at its turn. */
void sim_codel_on_empty(struct sim_codel *codel);

#endif
