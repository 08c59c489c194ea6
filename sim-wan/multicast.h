/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups of the simulated network, one per sender: who listens, and where packets branch.
 * A packet crosses each wire once, on the routes from the sender to the listeners, and is copied
 * where these part; so losses on wires behind a branch are independent of each other. */
#ifndef SIM_MULTICAST_H
#define SIM_MULTICAST_H

#include <stdbool.h>
#include <stdint.h>

struct sim_net;
struct sim_packet;

struct sim_groups {
    struct sim_group *groups; /* by sender */
    uint32_t count;
    bool blocked; /* the network silently does not pass multicast on */
};

void sim_groups_fini(struct sim_groups *groups);
/* Whether a host listens to the group of a sender from now on. */
void sim_group_listen(struct sim_net *net, uint32_t sender, uint32_t host, bool listens);
/* Sends copies of the packet on from a host, or drops it; takes the packet. */
void sim_group_forward(struct sim_net *net, uint32_t at, struct sim_packet *packet);
/* A router that passes no multicast on: what is behind it is another subnet. */
void sim_group_block(struct sim_net *net, uint32_t router);
bool sim_group_has(const struct sim_net *net, uint32_t sender, uint32_t host);

#endif
