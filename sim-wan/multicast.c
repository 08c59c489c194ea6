/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast in the simulated network; see multicast.h. */
#include "sim-wan/multicast.h"

#include <stdlib.h>

#include "sim-wan/mem.h"
#include "sim-wan/net_internal.h"

struct sim_group {
    uint32_t *hosts; /* that listen */
    size_t count, capacity;
};

void sim_groups_fini(struct sim_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        free(groups->groups[i].hosts);
    free(groups->groups);
}

static struct sim_group *group_of(struct sim_net *net, uint32_t sender)
{
    struct sim_groups *groups = &net->groups;
    if (groups->groups == NULL) {
        groups->count = (uint32_t)net->host_count;
        groups->groups = sim_calloc(groups->count, sizeof(*groups->groups));
    }
    return &groups->groups[sender];
}

static size_t index_of(const struct sim_group *group, uint32_t host)
{
    size_t i = 0;
    while (i < group->count && group->hosts[i] != host)
        i++;
    return i;
}

bool sim_group_has(const struct sim_net *net, uint32_t sender, uint32_t host)
{
    const struct sim_group *group = &net->groups.groups[sender];
    return index_of(group, host) < group->count;
}

void sim_group_listen(struct sim_net *net, uint32_t sender, uint32_t host, bool listens)
{
    struct sim_group *group = group_of(net, sender);
    size_t at = index_of(group, host);
    if (listens && at == group->count) {
        group->hosts =
            sim_reserve(group->hosts, group->count, &group->capacity, sizeof(*group->hosts));
        group->hosts[group->count++] = host;
    } else if (!listens && at < group->count) {
        group->hosts[at] = group->hosts[--group->count];
    }
}

void sim_group_block(struct sim_net *net, uint32_t router)
{
    net->hosts[router].blocks_multicast = true;
}

/* The port at a host on the way from the sender to a listener; SIM_NO_PORT: it is not on it. */
static uint16_t port_towards(struct sim_net *net, uint32_t sender, uint32_t at, uint32_t listener)
{
    uint32_t hop = sender;
    while (hop != at && hop != listener) {
        uint16_t port = sim_net_port_to(net, hop, listener);
        if (port == SIM_NO_PORT)
            return SIM_NO_PORT;
        hop = net->hosts[hop].ports[port].neighbour;
    }
    return hop == at && at != listener ? sim_net_port_to(net, at, listener) : SIM_NO_PORT;
}

/* Does somebody before this listener take the same way? Then its copy serves both. */
static bool is_taken(struct sim_net *net, uint32_t sender, uint32_t at,
                     const struct sim_group *group, size_t listener, uint16_t port)
{
    for (size_t i = 0; i < listener; i++)
        if (port_towards(net, sender, at, group->hosts[i]) == port)
            return true;
    return false;
}

void sim_group_forward(struct sim_net *net, uint32_t at, struct sim_packet *packet)
{
    uint32_t sender = packet->from;
    const struct sim_group *group = group_of(net, sender);
    bool star = net->hosts[at].port_count > group->count; /* a switch: each has a port of its own */
    bool passes = at == sender || (!net->groups.blocked && !net->hosts[at].blocks_multicast);
    for (size_t i = 0; i < group->count && passes; i++) {
        uint16_t port = port_towards(net, sender, at, group->hosts[i]);
        if (port == SIM_NO_PORT)
            continue;
        const struct sim_port *way = &net->hosts[at].ports[port];
        bool own = star && way->neighbour == group->hosts[i];
        if (own || !is_taken(net, sender, at, group, i, port))
            sim_lane_send(way->lane, sim_packet_copy(&net->pool, packet));
    }
    sim_packet_free(&net->pool, packet);
}
