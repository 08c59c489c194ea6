/* SPDX-License-Identifier: BSD-2-Clause */
/* The emulated network itself: what hosts send into their TUN devices crosses the wires of the
 * simulator and comes out at the host that it is for. The engine's virtual clock follows the real
 * one: packets enter as of the last look at their device, and every event after that has its exact
 * time, however late it is served, so that lateness does not add up from wire to wire.
 */
#ifndef SIM_EMULATE_FORWARD_H
#define SIM_EMULATE_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim-wan/emulate/hosts.h"
#include "sim-wan/engine.h"
#include "sim-wan/lateness.h"
#include "sim-wan/net.h"
#include "sim-wan/topo/topo.h"

struct emu_forward {
    struct sim_engine engine;
    struct sim_net net;
    const struct emu_hosts *hosts;
    int *devices; /* by host; -1 */
    int epoll;
    uint32_t mtu;    /* of every device */
    gmc_time origin; /* real time of the engine's zero */
    gmc_time turn;   /* when the loop last woke */
    struct sim_packet *spare;
    struct sim_lateness lateness;
    uint64_t foreign_packets;     /* to nobody here: groups, other networks */
    uint64_t undelivered_packets; /* the kernel did not take them */
};

/* Borrows hosts. The seed is that of a simulation of the same topology: each wire loses by the same
 * stream. -1 with errno. */
int emu_forward_init(struct emu_forward *forward, const struct sim_topo *topo,
                     const struct emu_hosts *hosts, uint64_t seed);
/* Closes the devices. */
void emu_forward_fini(struct emu_forward *forward);

/* Takes the descriptor of a host's device. -1 with errno. */
int emu_forward_attach(struct emu_forward *forward, uint32_t host, int device);
/* A descriptor of the owner's, for which emu_forward_run() comes back. */
int emu_forward_watch(struct emu_forward *forward, int fd);

/* Carries packets, those that wait already as of now, until a watched descriptor can be read, or
 * for `limit` of real time. Whether one can be read. */
bool emu_forward_run(struct emu_forward *forward, gmc_duration limit);

/* Real time since the start, as the engine counts it. */
gmc_time emu_forward_now(const struct emu_forward *forward);

#endif
