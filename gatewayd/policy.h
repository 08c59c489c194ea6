/* SPDX-License-Identifier: BSD-2-Clause */
/* How the kernel schedules the daemon's threads (sched(7)).
 *
 * Bulk wants SCHED_BATCH: gateways, streams and workers on one machine wake each other for each
 * batch of datagrams, and whoever is woken then waits until the one that runs is through: larger
 * batches, and a twentieth of the context switches. Messages want SCHED_OTHER: with SCHED_BATCH a
 * message waits for the others' time slices, some 3 ms each (`make bench-messages`). */
#ifndef GWD_POLICY_H
#define GWD_POLICY_H

#include <stdbool.h>

/* SCHED_BATCH, for this thread and those that it starts. False: the administrator chose another
 * policy than the usual one, and it stays. */
bool gwd_policy_batch(void);
/* Of this thread; only after gwd_policy_batch was true. */
void gwd_policy_prompt(bool prompt);

#endif
