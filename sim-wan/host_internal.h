/* SPDX-License-Identifier: BSD-2-Clause */
/* What host.c, host_cpu.c and host_out.c share. */
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
/* Hands a datagram to the gateway. */
void sim_host_hear(struct sim_host *host, const struct sim_packet *packet);

/* host_cpu.c */
void sim_host_init_cpu(struct sim_host *host);
static inline bool sim_host_has_cpu_cost(const struct sim_host *host)
{
    return host->cpu.per_datagram > 0 || host->cpu.per_byte_ps > 0;
}
static inline bool sim_host_is_moderated(const struct sim_host *host)
{
    return host->cpu.wake > 0 && !sim_host_has_cpu_cost(host);
}
/* The processor has had a datagram of so many bytes to send, or from a connection. */
void sim_host_charge(struct sim_host *host, size_t bytes);
/* In the socket's buffer; counts what is lost. */
bool sim_host_has_room(struct sim_host *host, const struct sim_packet *packet);
/* True: the packet was taken. */
bool sim_host_wait_in_socket(struct sim_host *host, struct sim_packet *packet);
void sim_host_empty_socket(struct sim_host *host);
/* A moderated host has something to look at, now or when it has rested. */
void sim_host_wake(struct sim_host *host);
/* A moderated host that runs collects its datagrams; to be said when that may have changed. */
void sim_host_review_collection(struct sim_host *host);
/* Looks at all that came. */
void sim_host_look(struct sim_host *host);
/* A frozen process goes on. */
void sim_host_read_segments(struct sim_host *host);
void sim_host_read_socket(struct sim_host *host);

#endif
