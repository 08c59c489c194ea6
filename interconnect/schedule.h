/* SPDX-License-Identifier: BSD-2-Clause */
/* A multicast schedule as data: who sends to whom in which step. What a torus, a star or any later
 * family makes of an algorithm is one of these, and simulators need no more than it.
 *
 * Members are positions 0..G-1 in a group; which node stands at a position the caller knows. A
 * member sends at most one message per step, and its first in the step after it received.
 */
#ifndef INTERCONNECT_SCHEDULE_H
#define INTERCONNECT_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IC_GROUP_MAX 1048576u /* members, the root among them */

struct ic_send {
    uint32_t step; /* from 1 */
    uint32_t from, to;
};

struct ic_schedule {
    uint32_t members; /* G */
    uint32_t root;
    struct ic_send *sends; /* G - 1, by (step, from, to) */
    size_t count;
};

/* Room for the G - 1 messages of one multicast. NOMEM. Ends with fini. */
GMC_NODISCARD gmc_status ic_schedule_init(struct ic_schedule *schedule, uint32_t members,
                                          uint32_t root);
void ic_schedule_fini(struct ic_schedule *schedule);

/* At most G - 1 times. */
void ic_schedule_add(struct ic_schedule *schedule, uint32_t step, uint32_t from, uint32_t to);
/* Once all are there: puts them in order. */
void ic_schedule_sort(struct ic_schedule *schedule);

/* Of a sorted schedule: the largest number of messages that share one step. */
uint32_t ic_schedule_concurrency(const struct ic_schedule *schedule);

struct ic_schedule_metrics {
    uint32_t steps;
    uint32_t concurrency;
    uint32_t max_intermediate; /* depth of the deepest leaf - 1; 0 for a group of one */
    uint32_t root_sends;       /* messages that the root sends itself */
};

/* Of a sorted schedule. NOMEM; INVALID when a member sends before it received, twice in one step,
 * or receives not exactly once. */
GMC_NODISCARD gmc_status ic_schedule_measure(const struct ic_schedule *schedule,
                                             struct ic_schedule_metrics *metrics);

#endif
