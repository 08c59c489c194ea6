/* SPDX-License-Identifier: BSD-2-Clause */
/* Searching, and keeping what is small. */
#include "interconnect/ldr/ways.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 67108864u /* bytes of all layers */
#define DEPTH_USUAL 8u     /* for which it is reckoned whether they can be kept */

static void find_destinations(struct ic_ways *ways)
{
    const struct ic_network *network = ways->network;
    for (uint32_t i = 0; i < network->switches; i++)
        ways->numbers[i] = IC_GRAPH_NONE;
    for (uint32_t i = 0; i < network->hosts; i++) {
        uint32_t at = network->attached[i];
        if (ways->hosts_at[at]++ > 0)
            continue;
        ways->numbers[at] = ways->count;
        ways->destinations[ways->count++] = at;
    }
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
        .reached = malloc(switches * sizeof(*ways->reached)),
    };
    if (ways->hosts_at == NULL || ways->back == NULL || ways->destinations == NULL ||
        ways->numbers == NULL || ways->reached == NULL)
        return GMC_ERR_NOMEM;
    find_destinations(ways);
    find_back(ways);
    ways->blocks = (ways->count + IC_WAYS_ABREAST - 1) / IC_WAYS_ABREAST;
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
    uint32_t first = block * IC_WAYS_ABREAST;
    memset(layers->words, 0, ways->network->switches * sizeof(*layers->words));
    layers->all = 0;
    for (uint32_t i = first; i < ways->count && i < first + IC_WAYS_ABREAST; i++) {
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

/* Over pairs of hosts; planes have bits of the numbers of hosts at destinations. */
static void add_distances(const struct ic_ways *ways, uint32_t block, struct ic_ways_layers *layers)
{
    uint32_t switches = ways->network->switches;
    uint64_t planes[32] = {0}, used = 0;
    for (uint64_t left = layers->all; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        uint32_t hosts = ways->hosts_at[ways->destinations[block * IC_WAYS_ABREAST + i]];
        used |= hosts;
        for (uint32_t bit = 0; bit < 32; bit++)
            planes[bit] |= (uint64_t)(hosts >> bit & 1) << i;
    }
    layers->distances = 0;
    layers->farthest = 0;
    for (uint32_t hops = 1; hops < layers->depth; hops++)
        for (uint32_t at = 0; at < switches; at++) {
            uint64_t word = layers->words[(size_t)hops * switches + at], hosts = 0;
            if (ways->hosts_at[at] == 0 || word == 0)
                continue;
            for (uint32_t bit = 0; used >> bit != 0; bit++)
                hosts += (uint64_t)__builtin_popcountll(word & planes[bit]) << bit;
            layers->distances += (double)hops * ways->hosts_at[at] * (double)hosts;
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
    add_distances(ways, block, layers);
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
