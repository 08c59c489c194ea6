/* SPDX-License-Identifier: BSD-2-Clause */
/* The processor of a simulated host. */
#ifndef SIM_CPU_H
#define SIM_CPU_H

#include "base/time.h"

#define SIM_SOCKET_BYTES (UINT64_C(4) << 20)

/* What a datagram costs a host's one processor, in or out, over UDP or in a connection. Datagrams
 * that arrive are worked on one after the other: each is heard when its cost has passed. Those sent
 * leave at once, and nothing else is done until their cost has passed: no datagram is heard, no
 * timer fires. Answers of disks and news of sessions cost nothing. All zero: no cost.
 *
 * Without a cost a host may be said to wake no more often than every so long, as interrupts of fast
 * networks are moderated: what arrives meanwhile, answers of its disk and its timer are worked on
 * together, and what goes out is gathered after all of them. */
struct sim_cpu_config {
    gmc_duration per_datagram; /* ns */
    uint32_t per_byte_ps;      /* ps per byte of UDP payload */
    uint64_t socket_bytes;     /* of payload that wait; more are lost; 0: SIM_SOCKET_BYTES */
    gmc_duration wake;         /* it wakes at most so often; counts where there is no cost */
};

#endif
