/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the scheduling policy of threads. */
#include "gatewayd/policy.h"

#include <sched.h>

/* May fail where a container forbids it: then all is slower, and nothing is wrong. */
static void set(int policy)
{
    const struct sched_param none = {0};
    (void)sched_setscheduler(0, policy, &none);
}

bool gwd_policy_batch(void)
{
    if (sched_getscheduler(0) != SCHED_OTHER)
        return false;
    set(SCHED_BATCH);
    return true;
}

void gwd_policy_prompt(bool prompt)
{
    set(prompt ? SCHED_OTHER : SCHED_BATCH);
}
