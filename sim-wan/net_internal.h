/* SPDX-License-Identifier: BSD-2-Clause */
/* What net.c and route.c share: how hosts and wires are kept. */
#ifndef SIM_NET_INTERNAL_H
#define SIM_NET_INTERNAL_H

#include "sim-wan/net.h"

struct sim_port {
    struct sim_lane *lane; /* of the wire, away from this host */
    struct sim_lane *back; /* towards it */
    uint32_t wire;
    uint32_t neighbour;
    uint8_t direction; /* of the lane */
};

#define SIM_RECENT_WAYS 6u

struct sim_net_host {
    struct sim_port *ports;
    size_t port_count, port_capacity;
    bool blocks_multicast;
    /* Ways that were asked for lately, by the number of whom to: tables of routes are far. */
    uint16_t recent_ports[SIM_RECENT_WAYS];
    uint32_t recent[SIM_RECENT_WAYS]; /* whom to; SIM_NO_HOST: none */
};

struct sim_net_wire {
    uint32_t ends[2];
    struct sim_lane lanes[2];
};

#define SIM_NO_PORT UINT16_MAX

/* The port at a host on the way to another one; SIM_NO_PORT: there is none. Routes to a host are
 * computed when they are first asked for. */
uint16_t sim_net_port_to(struct sim_net *net, uint32_t at, uint32_t to);
/* Fetches what the next call of sim_net_port_to will look at, or the lane that it will say. */
void sim_net_fetch_way(const struct sim_net *net, uint32_t at, uint32_t to);
void sim_net_forget_routes(struct sim_net *net);

#endif
