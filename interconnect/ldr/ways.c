/* SPDX-License-Identifier: BSD-2-Clause */
/* Searching, and keeping what is small. */
#include "interconnect/ldr/ways.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 67108864u /* bytes of all layers */
#define DEPTH_USUAL 8u     /* for which it is reckoned whether they can be kept */

struct destination {
    uint32_t hosts, at;
};

static int compare(const void *a, const void *b)
{
    const struct destination *x = a, *y = b;
    if (x->hosts != y->hosts)
        return x->hosts < y->hosts ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* A block is full, or those that follow have more hosts. */
static void divide(struct ic_ways *ways)
{
    for (uint32_t i = 0; i < ways->count; i++) {
        const uint32_t *at = &ways->destinations[i];
        bool is_full = i == 0 || i - ways->first[ways->blocks - 1] == IC_WAYS_ABREAST;
        if (is_full || ways->hosts_at[at[0]] != ways->hosts_at[at[-1]])
            ways->first[ways->blocks++] = i;
    }
    ways->first[ways->blocks] = ways->count;
}

static gmc_status find_destinations(struct ic_ways *ways)
{
    const struct ic_network *network = ways->network;
    struct destination *all = malloc(network->switches * sizeof(*all));
    if (all == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < network->hosts; i++)
        ways->hosts_at[network->attached[i]]++;
    for (uint32_t i = 0; i < network->switches; i++) {
        ways->numbers[i] = IC_GRAPH_NONE;
        if (ways->hosts_at[i] > 0)
            all[ways->count++] = (struct destination){ways->hosts_at[i], i};
    }
    qsort(all, ways->count, sizeof(*all), compare);
    for (uint32_t i = 0; i < ways->count; i++) {
        ways->destinations[i] = all[i].at;
        ways->numbers[all[i].at] = i;
    }
    free(all);
    divide(ways);
    return GMC_OK;
}

static void find_back(struct ic_ways *ways)
{
    const struct ic_network *network = ways->network;
    for (uint32_t c = 0; c < ic_network_channels(network); c++) {
        uint32_t back = network->first[network->to[c]];
        while (network->to[back] != network->from[c])
            back++;
        ways->back[c] = back;
    }
}

gmc_status ic_ways_init(struct ic_ways *ways, const struct ic_network *network)
{
    size_t switches = network->switches, channels = ic_network_channels(network);
    *ways = (struct ic_ways){
        .network = network,
        .hosts_at = calloc(switches, sizeof(*ways->hosts_at)),
        .back = malloc((channels + 1) * sizeof(*ways->back)),
        .destinations = malloc(switches * sizeof(*ways->destinations)),
        .numbers = malloc(switches * sizeof(*ways->numbers)),
        .first = malloc((switches + 1) * sizeof(*ways->first)),
        .reached = malloc(switches * sizeof(*ways->reached)),
    };
    if (ways->hosts_at == NULL || ways->back == NULL || ways->destinations == NULL ||
        ways->numbers == NULL || ways->first == NULL || ways->reached == NULL ||
        find_destinations(ways) != GMC_OK)
        return GMC_ERR_NOMEM;
    find_back(ways);
    ways->is_kept = ic_ways_bytes(ways) <= KEPT_MAX;
    ways->kept = calloc(ways->is_kept ? ways->blocks : 1, sizeof(*ways->kept));
    return ways->kept != NULL ? GMC_OK : GMC_ERR_NOMEM;
}

void ic_ways_fini(struct ic_ways *ways)
{
    uint32_t count = ways->is_kept ? ways->blocks : 1;
    for (uint32_t i = 0; i < count && ways->kept != NULL; i++)
        free(ways->kept[i].words);
    free(ways->kept);
    free(ways->hosts_at);
    free(ways->back);
    free(ways->destinations);
    free(ways->numbers);
    free(ways->first);
    free(ways->reached);
    *ways = (struct ic_ways){0};
}

size_t ic_ways_bytes(const struct ic_ways *ways)
{
    return (size_t)ways->blocks * DEPTH_USUAL * ways->network->switches * sizeof(uint64_t);
}

/* Room for one layer more. */
static gmc_status add_layer(const struct ic_ways *ways, struct ic_ways_layers *layers,
                            uint32_t *room)
{
    if (layers->depth < *room)
        return GMC_OK;
    uint32_t more = *room > 0 ? 2 * *room : DEPTH_USUAL;
    size_t bytes = (size_t)more * ways->network->switches * sizeof(*layers->words);
    uint64_t *words = realloc(layers->words, bytes);
    if (words == NULL)
        return GMC_ERR_NOMEM;
    layers->words = words;
    *room = more;
    return GMC_OK;
}

static void begin(struct ic_ways *ways, uint32_t block, struct ic_ways_layers *layers)
{
    uint32_t first = ways->first[block];
    memset(layers->words, 0, ways->network->switches * sizeof(*layers->words));
    layers->hosts = ways->hosts_at[ways->destinations[first]];
    layers->all = 0;
    for (uint32_t i = first; i < ways->first[block + 1]; i++) {
        layers->words[ways->destinations[i]] |= (uint64_t)1 << (i - first);
        layers->all |= (uint64_t)1 << (i - first);
    }
    memcpy(ways->reached, layers->words, ways->network->switches * sizeof(*layers->words));
    layers->depth = 1;
}

/* The layer behind the last one, for which there is room: what is new in it; and what is missing
 * then. */
static uint64_t fill_layer(struct ic_ways *ways, struct ic_ways_layers *layers, uint64_t *missing)
{
    const struct ic_network *network = ways->network;
    const uint64_t *last = layers->words + (size_t)(layers->depth - 1) * network->switches;
    uint64_t *next = layers->words + (size_t)layers->depth * network->switches, any = 0;
    *missing = 0;
    for (uint32_t i = 0; i < network->switches; i++) {
        uint64_t unreached = layers->all & ~ways->reached[i], bits = 0;
        for (uint32_t c = network->first[i]; unreached != 0 && c < network->first[i + 1]; c++)
            bits |= last[network->to[c]];
        next[i] = bits & unreached;
        ways->reached[i] |= next[i];
        any |= next[i];
        *missing |= unreached & ~bits;
    }
    return any;
}

/* Over pairs of hosts. */
static void add_distances(const struct ic_ways *ways, struct ic_ways_layers *layers)
{
    uint32_t switches = ways->network->switches;
    layers->distances = 0;
    layers->farthest = 0;
    for (uint32_t hops = 1; hops < layers->depth; hops++)
        for (uint32_t at = 0; at < switches; at++) {
            uint64_t word = layers->words[(size_t)hops * switches + at];
            if (ways->hosts_at[at] == 0 || word == 0)
                continue;
            layers->distances +=
                (double)hops * ways->hosts_at[at] * layers->hosts * __builtin_popcountll(word);
            layers->farthest = hops;
        }
}

static gmc_status search(struct ic_ways *ways, uint32_t block, struct ic_ways_layers *layers,
                         uint32_t *room, char *error)
{
    uint64_t missing = 1;
    layers->depth = 0;
    gmc_status status = add_layer(ways, layers, room);
    if (status != GMC_OK)
        return status;
    begin(ways, block, layers);
    while (missing != 0) {
        status = add_layer(ways, layers, room);
        if (status != GMC_OK)
            return status;
        uint64_t found = fill_layer(ways, layers, &missing);
        if (found == 0 && missing != 0)
            return ic_refuse(error, "the network is not connected");
        layers->depth += found != 0;
    }
    add_distances(ways, layers);
    return GMC_OK;
}

gmc_status ic_ways_find(struct ic_ways *ways, uint32_t block, const struct ic_ways_layers **out,
                        char *error)
{
    struct ic_ways_layers *layers = &ways->kept[ways->is_kept ? block : 0];
    uint32_t room = 0;
    gmc_status status = GMC_OK;
    if (!ways->is_kept)
        status = search(ways, block, layers, &ways->room, error);
    else if (layers->words == NULL)
        status = search(ways, block, layers, &room, error);
    *out = layers;
    return status;
}
