/* SPDX-License-Identifier: BSD-2-Clause */
/* What host.c and host_out.c share. */
#ifndef SIM_HOST_INTERNAL_H
#define SIM_HOST_INTERNAL_H

#include "sim-wan/host.h"

/* A host's UDP address: its number. */
static inline struct gmc_addr sim_host_addr(uint32_t host)
{
    struct gmc_addr addr = {.len = 4};
    gmc_put32(addr.bytes, host);
    return addr;
}

/* Sets the timer to what the gateway wants. */
void sim_host_arm(struct sim_host *host);

#endif
