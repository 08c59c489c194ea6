/* SPDX-License-Identifier: BSD-2-Clause */
/* Broadcasts: one message at a time from a random host, copied in the switches of its tree. */
#include <stdlib.h>

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
    return broadcast->first_child != NULL && broadcast->next_child != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

void ic_packets_broadcast_fini(struct packets *sim)
{
    ic_tree_fini(&sim->broadcast.tree);
    free(sim->broadcast.first_child);
    free(sim->broadcast.next_child);
}

/* Children in the order in which they were found. */
static gmc_status plant(struct packets *sim, uint32_t root)
{
    struct broadcast *broadcast = &sim->broadcast;
    char error[IC_ERROR_MAX];
    ic_tree_fini(&broadcast->tree);
    gmc_status status = ic_graph_tree(sim->config->graph, root, NULL, 0, &broadcast->tree, error);
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
    broadcast->left = (uint64_t)sim->config->broadcast_packets * (hosts - 1);
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
    if (at != network->attached[original.from])
        copy(sim, &original, sim->first_ejection + at);
}

void ic_packets_broadcast_deliver(struct packets *sim, uint64_t delivered)
{
    struct broadcast *broadcast = &sim->broadcast;
    if (delivered > broadcast->last)
        broadcast->last = delivered;
    if (--broadcast->left > 0)
        return;
    if (sim->is_measuring && !sim->is_watching)
        ic_mean_add(&broadcast->latency,
                    (double)(broadcast->last - broadcast->created) / PS_PER_NS);
    double pause = ic_random_exponential(&sim->roots, PAUSE * sim->between);
    ic_calendar_push(&sim->calendar, sim->broadcast_event, broadcast->last + (uint64_t)pause);
}
