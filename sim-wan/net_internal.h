/* SPDX-License-Identifier: BSD-2-Clause */
/* What net.c, route.c and transit.c share: how hosts and wires are kept. */
#ifndef SIM_NET_INTERNAL_H
#define SIM_NET_INTERNAL_H

#include "sim-wan/net.h"
#include "sim-wan/transit.h"

struct sim_port {
    struct sim_lane *lane; /* of the wire, away from this host */
    struct sim_lane *back; /* towards it */
    uint32_t wire;
    uint32_t neighbour;
    uint8_t direction; /* of the lane */
};

#define SIM_RECENT_WAYS 16u

struct sim_net_host {
    struct sim_net *net;
    struct sim_port *ports;
    size_t port_count, port_capacity;
    struct sim_transit transit; /* while it collects */
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
/* Fetches what the next call of sim_net_port_to will look at, or the lane that it will say; or the
 * former alone. */
void sim_net_fetch_way(const struct sim_net *net, uint32_t at, uint32_t to);
void sim_net_fetch_route(const struct sim_net *net, uint32_t at, uint32_t to);
void sim_net_forget_routes(struct sim_net *net);
/* The packet, which is at this host, goes on, as of then; see sim_lane_send_as_of. Takes it. */
void sim_net_forward(struct sim_net *net, uint32_t at, struct sim_packet *packet, gmc_time when);

#endif
