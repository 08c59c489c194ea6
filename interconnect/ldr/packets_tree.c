/* SPDX-License-Identifier: BSD-2-Clause */
/* Broadcasts and multicasts: one message at a time from a random host, copied in the switches of
 * its tree. */
#include <stdlib.h>
#include <string.h>

#include "interconnect/ldr/packets_internal.h"
#include "interconnect/random.h"

#define PAUSE 8.0 /* mean time between broadcasts, in packets of a host */

gmc_status ic_packets_broadcast_init(struct packets *sim)
{
    struct broadcast *broadcast = &sim->broadcast;
    uint32_t nodes = sim->network->switches;
    if (sim->config->broadcast_packets == 0)
        return GMC_OK;
    broadcast->first_child = malloc(nodes * sizeof(*broadcast->first_child));
    broadcast->next_child = malloc(nodes * sizeof(*broadcast->next_child));
    if (broadcast->first_child == NULL || broadcast->next_child == NULL)
        return GMC_ERR_NOMEM;
    if (sim->config->broadcast_hosts == 0)
        return GMC_OK;
    broadcast->group = malloc(sim->config->broadcast_hosts * sizeof(*broadcast->group));
    broadcast->is_member = malloc(nodes * sizeof(*broadcast->is_member));
    return broadcast->group != NULL && broadcast->is_member != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

void ic_packets_broadcast_fini(struct packets *sim)
{
    ic_tree_fini(&sim->broadcast.tree);
    free(sim->broadcast.first_child);
    free(sim->broadcast.next_child);
    free(sim->broadcast.group);
    free(sim->broadcast.is_member);
}

/* The root is a member, and the first. */
static void draw_group(struct packets *sim, uint32_t root)
{
    struct broadcast *broadcast = &sim->broadcast;
    uint32_t hosts = sim->network->hosts, wanted = sim->config->broadcast_hosts, count = 1;
    memset(broadcast->is_member, 0, hosts * sizeof(*broadcast->is_member));
    broadcast->group[0] = root;
    broadcast->is_member[root] = true;
    for (uint32_t host = 0, others = hosts - 1; count < wanted; host++) {
        if (host == root || gmc_prng_below(&sim->roots, others--) >= wanted - count)
            continue;
        broadcast->group[count++] = host;
        broadcast->is_member[host] = true;
    }
}

static gmc_status make_tree(struct packets *sim, uint32_t root)
{
    const struct ic_packets_config *config = sim->config;
    struct broadcast *broadcast = &sim->broadcast;
    struct ic_subcube subcube;
    char error[IC_ERROR_MAX];
    if (broadcast->group == NULL)
        return ic_graph_tree(config->graph, root, NULL, 0, &broadcast->tree, error);
    draw_group(sim, root);
    if (config->cube_dimensions == 0)
        return ic_graph_tree(config->graph, root, broadcast->group, config->broadcast_hosts,
                             &broadcast->tree, error);
    gmc_status status = ic_subcube_enclose(config->cube_dimensions, broadcast->group,
                                           config->broadcast_hosts, &subcube, error);
    if (status == GMC_OK)
        status = ic_subcube_tree(config->cube_dimensions, &subcube, root, &broadcast->tree, error);
    return status;
}

/* Children in the order in which they were found. */
static gmc_status plant(struct packets *sim, uint32_t root)
{
    struct broadcast *broadcast = &sim->broadcast;
    ic_tree_fini(&broadcast->tree);
    gmc_status status = make_tree(sim, root);
    if (status != GMC_OK)
        return status;
    for (uint32_t i = 0; i < sim->network->switches; i++)
        broadcast->first_child[i] = NONE;
    for (uint32_t i = broadcast->tree.count - 1; i > 0; i--) {
        uint32_t node = broadcast->tree.members[i], parent = broadcast->tree.parents[node];
        broadcast->next_child[node] = broadcast->first_child[parent];
        broadcast->first_child[parent] = node;
    }
    return GMC_OK;
}

void ic_packets_broadcast_begin(struct packets *sim)
{
    struct broadcast *broadcast = &sim->broadcast;
    uint32_t hosts = sim->network->hosts;
    uint32_t root = (uint32_t)gmc_prng_below(&sim->roots, hosts);
    gmc_status status = plant(sim, root);
    broadcast->created = broadcast->last = sim->now;
    broadcast->left = (uint64_t)sim->config->broadcast_packets * (broadcast->tree.count - 1);
    for (uint32_t i = 0; i < sim->config->broadcast_packets && status == GMC_OK; i++) {
        uint32_t packet = ic_packets_take(sim);
        if (packet == NONE)
            return;
        uint64_t start = ic_packets_reserve(sim, sim->first_injection + root, sim->now + sim->send);
        sim->packets[packet] = (struct packet){.from = root, .to = TO_ALL};
        ic_packets_send(sim, packet, sim->first_injection + root, start);
    }
    if (status != GMC_OK) {
        sim->status = status;
        sim->is_over = true;
    }
}

static void copy(struct packets *sim, const struct packet *original, uint32_t channel)
{
    uint32_t packet = ic_packets_take(sim);
    if (packet == NONE)
        return;
    uint64_t start = ic_packets_reserve(sim, channel, sim->now);
    sim->packets[packet] = *original;
    if (channel >= sim->first_ejection)
        ic_packets_deliver(sim, packet, start);
    else
        ic_packets_send(sim, packet, channel, start);
}

/* One packet less that is to come to a switch of the tree. The next broadcast begins when none is,
 * switches without members among them: it has another tree. */
static void count_down(struct packets *sim)
{
    struct broadcast *broadcast = &sim->broadcast;
    if (--broadcast->left > 0)
        return;
    if (sim->is_measuring && !sim->is_watching)
        ic_mean_add(&broadcast->latency,
                    (double)(broadcast->last - broadcast->created) / PS_PER_NS);
    double pause = ic_random_exponential(&sim->roots, PAUSE * sim->between);
    uint64_t end = broadcast->last > sim->now ? broadcast->last : sim->now;
    ic_calendar_push(&sim->calendar, sim->broadcast_event, end + (uint64_t)pause);
}

void ic_packets_broadcast_copy(struct packets *sim, uint32_t packet)
{
    const struct packet original = sim->packets[packet];
    const struct ic_network *network = sim->network;
    uint32_t at = original.at, first = network->first[at];
    ic_packets_drop(sim, packet);
    for (uint32_t child = sim->broadcast.first_child[at]; child != NONE;
         child = sim->broadcast.next_child[child]) {
        uint32_t channel = first;
        while (network->to[channel] != child)
            channel++;
        copy(sim, &original, channel);
    }
    if (at == network->attached[original.from])
        return;
    if (sim->broadcast.is_member == NULL || sim->broadcast.is_member[at])
        copy(sim, &original, sim->first_ejection + at);
    else
        count_down(sim);
}

void ic_packets_broadcast_deliver(struct packets *sim, uint64_t delivered)
{
    struct broadcast *broadcast = &sim->broadcast;
    if (delivered > broadcast->last)
        broadcast->last = delivered;
    count_down(sim);
}
