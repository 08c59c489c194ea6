/* SPDX-License-Identifier: BSD-2-Clause */
/* Shortest paths: Dijkstra from the destination backwards, over the delays of the lanes that lead
 * to it. */
#include <stdlib.h>

#include "base/assert.h"
#include "base/near.h"
#include "sim-wan/mem.h"
#include "sim-wan/net_internal.h"

struct reach {
    gmc_duration delay;
    uint32_t hops;
    uint32_t host;
};

struct frontier {
    struct reach *heap;
    size_t count, capacity;
};

/* Less delay, then fewer hops, then the lower number: the same routes everywhere. */
static bool nearer(const struct reach *a, const struct reach *b)
{
    if (a->delay != b->delay)
        return a->delay < b->delay;
    if (a->hops != b->hops)
        return a->hops < b->hops;
    return a->host < b->host;
}

static void frontier_push(struct frontier *frontier, struct reach reach)
{
    frontier->heap =
        sim_reserve(frontier->heap, frontier->count, &frontier->capacity, sizeof(*frontier->heap));
    size_t i = frontier->count++;
    for (; i > 0 && nearer(&reach, &frontier->heap[(i - 1) / 2]); i = (i - 1) / 2)
        frontier->heap[i] = frontier->heap[(i - 1) / 2];
    frontier->heap[i] = reach;
}

static struct reach frontier_pop(struct frontier *frontier)
{
    struct reach first = frontier->heap[0];
    struct reach last = frontier->heap[--frontier->count];
    size_t i = 0;
    while (i * 2 + 1 < frontier->count) {
        size_t child = i * 2 + 1;
        if (child + 1 < frontier->count &&
            nearer(&frontier->heap[child + 1], &frontier->heap[child]))
            child++;
        if (!nearer(&frontier->heap[child], &last))
            break;
        frontier->heap[i] = frontier->heap[child];
        i = child;
    }
    if (frontier->count > 0)
        frontier->heap[i] = last;
    return first;
}

/* A lane that leads to a host, as the search from there goes over it: close together for each host,
 * since in large networks a look at the lane itself costs more than the search. */
struct approach {
    gmc_duration delay;
    uint32_t from; /* the neighbour */
    uint16_t port; /* there */
};

struct sim_net_approaches {
    size_t *first; /* by host, and one more: the end */
    struct approach list[];
};

/* The port of `host` that leads to `neighbour` over `wire`. */
static uint16_t port_over(const struct sim_net_host *host, uint32_t wire)
{
    for (size_t i = 0; i < host->port_count; i++)
        if (host->ports[i].wire == wire)
            return (uint16_t)i;
    return SIM_NO_PORT;
}

static struct sim_net_approaches *find_approaches(const struct sim_net *net)
{
    struct sim_net_approaches *all =
        sim_alloc(sizeof(*all) + 2 * net->wire_count * sizeof(all->list[0]));
    size_t count = 0;
    all->first = sim_alloc((net->host_count + 1) * sizeof(*all->first));
    for (size_t i = 0; i < net->host_count; i++) {
        const struct sim_net_host *host = &net->hosts[i];
        all->first[i] = count;
        for (size_t k = 0; k < host->port_count; k++) {
            const struct sim_port *port = &host->ports[k];
            all->list[count++] =
                (struct approach){.delay =
                                      net->wires[port->wire]->lanes[!port->direction].config.delay,
                                  .from = port->neighbour,
                                  .port = port_over(&net->hosts[port->neighbour], port->wire)};
        }
    }
    all->first[net->host_count] = count;
    return all;
}

static void relax(const struct sim_net_approaches *all, struct frontier *frontier,
                  struct reach *best, uint16_t *ports, const struct reach *at)
{
    for (size_t i = all->first[at->host]; i < all->first[at->host + 1]; i++) {
        const struct approach *over = &all->list[i];
        struct reach reach = {gmc_time_add(at->delay, over->delay), at->hops + 1, over->from};
        if (!nearer(&reach, &best[over->from]))
            continue;
        best[over->from] = reach;
        ports[over->from] = over->port;
        /* From the end of a branch the search leads nowhere else. */
        if (all->first[over->from + 1] - all->first[over->from] > 1)
            frontier_push(frontier, reach);
    }
}

static uint16_t *shortest_paths(const struct sim_net *net, uint32_t to)
{
    uint16_t *ports = sim_alloc(net->host_count * sizeof(*ports));
    struct reach *best = sim_alloc(net->host_count * sizeof(*best));
    for (uint32_t i = 0; i < net->host_count; i++) {
        ports[i] = SIM_NO_PORT;
        best[i] = (struct reach){GMC_TIME_NEVER, UINT32_MAX, i};
    }
    struct frontier frontier = {0};
    best[to] = (struct reach){0, 0, to};
    frontier_push(&frontier, best[to]);
    while (frontier.count > 0) {
        struct reach at = frontier_pop(&frontier);
        if (at.delay == best[at.host].delay && at.hops == best[at.host].hops)
            relax(net->approaches, &frontier, best, ports, &at);
    }
    free(frontier.heap);
    free(best);
    return ports;
}

/* The last hop to a host with one wire: ways there are those to its neighbour, so sites behind a
 * router have one table together. Of others `from` is the host itself. */
struct sim_net_access {
    uint32_t from;
    uint16_t port; /* there */
};

static struct sim_net_access *find_accesses(const struct sim_net *net)
{
    const struct sim_net_approaches *all = net->approaches;
    struct sim_net_access *accesses = sim_alloc(net->host_count * sizeof(*accesses));
    for (uint32_t i = 0; i < net->host_count; i++) {
        const struct approach *only = &all->list[all->first[i]];
        bool is_only = all->first[i + 1] - all->first[i] == 1;
        accesses[i] = is_only ? (struct sim_net_access){only->from, only->port}
                              : (struct sim_net_access){i, SIM_NO_PORT};
    }
    return accesses;
}

static void prepare(struct sim_net *net)
{
    if (net->routes != NULL)
        return;
    net->routes = sim_calloc(net->host_count, sizeof(*net->routes));
    net->approaches = find_approaches(net);
    net->accesses = find_accesses(net);
}

static uint16_t find_port(struct sim_net *net, uint32_t at, uint32_t to)
{
    prepare(net);
    const struct sim_net_access *access = &net->accesses[to];
    uint32_t by = access->from;
    if (by == at)
        return access->port;
    if (net->routes[by] == NULL)
        net->routes[by] = shortest_paths(net, by);
    return net->routes[by][at];
}

uint16_t sim_net_port_to(struct sim_net *net, uint32_t at, uint32_t to)
{
    struct sim_net_host *host = &net->hosts[at];
    uint32_t i = to % SIM_RECENT_WAYS;
    if (host->recent[i] != to) {
        host->recent_ports[i] = find_port(net, at, to);
        host->recent[i] = to;
    }
    return host->recent_ports[i];
}

void sim_net_fetch_route(const struct sim_net *net, uint32_t at, uint32_t to)
{
    if (net->hosts[at].recent[to % SIM_RECENT_WAYS] == to || net->routes == NULL)
        return;
    const uint16_t *ports = net->routes[net->accesses[to].from];
    if (ports != NULL)
        gmc_near_fetch_line(&ports[at]);
}

void sim_net_fetch_way(const struct sim_net *net, uint32_t at, uint32_t to)
{
    const struct sim_net_host *host = &net->hosts[at];
    uint32_t i = to % SIM_RECENT_WAYS;
    if (host->recent[i] != to)
        sim_net_fetch_route(net, at, to);
    else if (host->recent_ports[i] != SIM_NO_PORT)
        sim_lane_fetch(host->ports[host->recent_ports[i]].lane);
}

void sim_net_forget_routes(struct sim_net *net)
{
    if (net->routes == NULL)
        return;
    for (size_t i = 0; i < net->host_count; i++)
        free(net->routes[i]);
    free(net->routes);
    free(net->approaches->first);
    free(net->approaches);
    free(net->accesses);
    net->accesses = NULL;
    net->routes = NULL;
    net->approaches = NULL;
}

uint32_t sim_net_next_hop(struct sim_net *net, uint32_t at, uint32_t to)
{
    GMC_ASSERT(at < net->host_count && to < net->host_count && at != to);
    uint16_t port = sim_net_port_to(net, at, to);
    return port == SIM_NO_PORT ? SIM_NO_HOST : net->hosts[at].ports[port].neighbour;
}

void sim_net_lanes_to(struct sim_net *net, uint32_t to, const bool *talks, bool *used)
{
    prepare(net);
    uint16_t *ports = shortest_paths(net, to);
    bool *is_passed = sim_calloc(net->host_count, sizeof(*is_passed));
    is_passed[to] = true;
    for (uint32_t i = 0; i < net->host_count; i++)
        for (uint32_t at = i; talks[i] && !is_passed[at] && ports[at] != SIM_NO_PORT;) {
            const struct sim_port *port = &net->hosts[at].ports[ports[at]];
            used[2 * (size_t)port->wire + port->direction] = true;
            is_passed[at] = true;
            at = port->neighbour;
        }
    free(is_passed);
    free(ports);
}

gmc_duration sim_net_path_delay(struct sim_net *net, uint32_t from, uint32_t to)
{
    gmc_duration delay = 0;
    while (from != to) {
        uint16_t way = sim_net_port_to(net, from, to);
        if (way == SIM_NO_PORT)
            return GMC_TIME_NEVER;
        const struct sim_port *port = &net->hosts[from].ports[way];
        delay = gmc_time_add(delay, port->lane->config.delay);
        from = port->neighbour;
    }
    return delay;
}

uint32_t sim_net_path_mtu(struct sim_net *net, uint32_t from, uint32_t to)
{
    uint32_t mtu = UINT32_MAX;
    while (from != to) {
        uint16_t way = sim_net_port_to(net, from, to);
        if (way == SIM_NO_PORT)
            break;
        const struct sim_port *port = &net->hosts[from].ports[way];
        uint32_t of_wire = port->lane->config.mtu;
        mtu = of_wire < mtu ? of_wire : mtu;
        from = port->neighbour;
    }
    return mtu;
}
