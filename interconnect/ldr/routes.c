/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of shortest ways: one breadth-first search per switch with hosts. */
#include "interconnect/ldr/routes.h"

#include <stdlib.h>

void ic_routes_fini(struct ic_routes *routes)
{
    free(routes->leaf);
    free(routes->masks);
    *routes = (struct ic_routes){0};
}

static uint32_t width_of(uint64_t ports)
{
    return ports <= 8 ? 1 : ports <= 16 ? 2 : ports <= 32 ? 4 : 8;
}

uint64_t ic_routes_bytes(uint64_t switches, uint64_t leaves, uint64_t ports)
{
    return leaves * switches * width_of(ports);
}

gmc_status ic_routes_check(uint64_t switches, uint64_t leaves, uint64_t ports, char *error)
{
    uint64_t bytes = ic_routes_bytes(switches, leaves, ports);
    if (bytes > IC_ROUTES_BYTES_MAX)
        return ic_refuse(error, "the routes of %u switches to %u would take %u MB; up to %u can be",
                         (uint32_t)switches, (uint32_t)leaves, (uint32_t)(bytes >> 20),
                         IC_ROUTES_BYTES_MAX >> 20);
    return GMC_OK;
}

static gmc_status make(struct ic_routes *routes, const struct ic_network *network, char *error)
{
    uint32_t most = 0;
    *routes = (struct ic_routes){.network = network,
                                 .leaf = calloc(network->switches, sizeof(*routes->leaf))};
    if (routes->leaf == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < network->switches; i++) {
        uint32_t ports = network->first[i + 1] - network->first[i];
        most = ports > most ? ports : most;
        routes->leaf[i] = IC_GRAPH_NONE;
    }
    for (uint32_t i = 0; i < network->hosts; i++)
        if (routes->leaf[network->attached[i]] == IC_GRAPH_NONE)
            routes->leaf[network->attached[i]] = routes->leaves++;
    routes->width = width_of(most);
    uint64_t bytes = ic_routes_bytes(network->switches, routes->leaves, most);
    gmc_status status = ic_routes_check(network->switches, routes->leaves, most, error);
    if (status != GMC_OK)
        return status;
    routes->masks = calloc((size_t)bytes, 1);
    return routes->masks != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

static void put(struct ic_routes *routes, uint32_t leaf, uint32_t at, uint64_t ports)
{
    size_t place = (size_t)leaf * routes->network->switches + at;
    switch (routes->width) {
    case 1:
        routes->masks[place] = (uint8_t)ports;
        break;
    case 2:
        ((uint16_t *)(void *)routes->masks)[place] = (uint16_t)ports;
        break;
    case 4:
        ((uint32_t *)(void *)routes->masks)[place] = (uint32_t)ports;
        break;
    default:
        ((uint64_t *)(void *)routes->masks)[place] = ports;
    }
}

static void fill(struct ic_routes *routes, uint32_t to, const uint32_t *hops)
{
    const struct ic_network *network = routes->network;
    for (uint32_t i = 0; i < network->switches; i++) {
        uint64_t ports = 0;
        for (uint32_t c = network->first[i]; c < network->first[i + 1]; c++)
            if (hops[network->to[c]] + 1 == hops[i])
                ports |= (uint64_t)1 << (c - network->first[i]);
        put(routes, routes->leaf[to], i, ports);
    }
}

static gmc_status fill_all(struct ic_routes *routes, uint32_t *hops, uint32_t *order,
                           uint32_t *hosts_at, char *error)
{
    const struct ic_network *network = routes->network;
    double sum = 0, hosts = network->hosts;
    for (uint32_t i = 0; i < network->hosts; i++)
        hosts_at[network->attached[i]]++;
    for (uint32_t to = 0; to < network->switches; to++) {
        if (routes->leaf[to] == IC_GRAPH_NONE)
            continue;
        if (ic_network_search(network, to, hops, order) < network->switches)
            return ic_refuse(error, "the network is not connected");
        fill(routes, to, hops);
        for (uint32_t i = 0; i < network->switches; i++) {
            sum += (double)hops[i] * hosts_at[i] * hosts_at[to];
            if (hosts_at[i] > 0 && hops[i] > routes->diameter)
                routes->diameter = hops[i];
        }
    }
    routes->mean_hops = sum / hosts / (hosts - 1);
    return GMC_OK;
}

gmc_status ic_routes_init(struct ic_routes *routes, const struct ic_network *network, char *error)
{
    gmc_status status = make(routes, network, error);
    if (status != GMC_OK) {
        ic_routes_fini(routes);
        return status;
    }
    uint32_t *hops = calloc(network->switches, sizeof(*hops));
    uint32_t *order = calloc(network->switches, sizeof(*order));
    uint32_t *hosts_at = calloc(network->switches, sizeof(*hosts_at));
    status = GMC_ERR_NOMEM;
    if (hops != NULL && order != NULL && hosts_at != NULL)
        status = fill_all(routes, hops, order, hosts_at, error);
    free(hops);
    free(order);
    free(hosts_at);
    if (status != GMC_OK)
        ic_routes_fini(routes);
    return status;
}
