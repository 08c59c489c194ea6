/* SPDX-License-Identifier: BSD-2-Clause */
/* The flows to 64 destinations at once, from the farthest switches to the nearest: what a switch
 * adds to its inputs and outputs stays in the processor's caches then. */
#include "interconnect/ldr/flows.h"

#include <stdlib.h>
#include <string.h>

#define ABREAST IC_WAYS_ABREAST
#define CHOICES_USUAL 3u /* ports among which most packets choose at most */

struct search {
    struct ic_ways *ways;
    const struct ic_network *network;
    const struct ic_traffic *traffic;
    bool is_fixed;
    bool is_alike;   /* all switches are the same to what all destinations bring: they share their
                      * flows, and one destination is all */
    size_t *square;  /* of a switch: where its flows from inputs to outputs begin */
    double *pairs;   /* (ports + 1)^2 for each switch; the last one is its hosts */
    double *choices; /* the same flows, by how many ports they could take and by output; NULL: by
                      * one */
    /* Of one block of destinations. */
    const struct ic_ways_layers *layers;
    double *flow;      /* by switch and destination: what hosts bring, then what each port takes */
    uint64_t *brought; /* by switch: destinations that hosts there send to */
    uint64_t *active;  /* by switch: destinations that something goes to by it */
    uint64_t *going;   /* by channel: destinations to which it carries something */
    uint64_t *inputs;  /* by switch: ports by which something comes */
    double total, hop_sum; /* of all flows; of flow times hops */
    uint32_t most;         /* ports to choose from */
    double inverse[IC_NETWORK_PORTS_MAX + 1];
};

/* A switch as destinations that are equally far see it. */
struct visit {
    uint32_t at, own, hops;            /* own: ports */
    uint64_t word;                     /* destinations */
    uint64_t in[IC_NETWORK_PORTS_MAX]; /* by port: those of which something comes by it */
    double *choices;                   /* of the switch; NULL: by one port */
    /* By destination: the ports to it, how many, what comes, and what each port takes of that. */
    uint64_t ports[ABREAST];
    uint32_t count[ABREAST];
    double sum[ABREAST], part[ABREAST];
};

static uint32_t ports_of(const struct search *search, uint32_t at)
{
    return search->network->first[at + 1] - search->network->first[at];
}

static double *row_of(double *table, const struct search *search, uint32_t at, uint32_t row)
{
    return &table[search->square[at] + (size_t)row * (ports_of(search, at) + 1)];
}

static void release(struct search *search)
{
    free(search->square);
    free(search->pairs);
    free(search->choices);
    free(search->flow);
    free(search->brought);
    free(search->active);
    free(search->going);
    free(search->inputs);
}

static gmc_status make_room(struct search *search)
{
    const struct ic_network *network = search->network;
    size_t switches = network->switches, channels = ic_network_channels(network), squares = 0;
    search->square = calloc(switches, sizeof(*search->square));
    search->flow = calloc(switches * ABREAST, sizeof(*search->flow));
    search->brought = calloc(switches, sizeof(*search->brought));
    search->active = calloc(switches, sizeof(*search->active));
    search->going = calloc(channels + 1, sizeof(*search->going));
    search->inputs = calloc(switches, sizeof(*search->inputs));
    if (search->square == NULL || search->flow == NULL || search->brought == NULL ||
        search->active == NULL || search->going == NULL || search->inputs == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < switches; i++) {
        search->square[i] = search->is_alike ? 0 : squares;
        squares += (size_t)(ports_of(search, i) + 1) * (ports_of(search, i) + 1);
    }
    search->pairs = calloc(squares, sizeof(*search->pairs));
    if (!search->is_fixed)
        search->choices = calloc(squares, sizeof(*search->choices));
    if (search->pairs == NULL || (!search->is_fixed && search->choices == NULL))
        return GMC_ERR_NOMEM;
    return GMC_OK;
}

static gmc_status prepare(struct search *search, struct ic_ways *ways, bool is_fixed,
                          const struct ic_traffic *traffic)
{
    const struct ic_network *network = ways->network;
    bool is_uniform = traffic->pattern == IC_TRAFFIC_UNIFORM;
    *search = (struct search){.ways = ways,
                              .network = network,
                              .traffic = traffic,
                              .is_fixed = is_fixed,
                              .is_alike = is_uniform && network->is_hypercube};
    for (uint32_t ports = 1; ports <= IC_NETWORK_PORTS_MAX; ports++)
        search->inverse[ports] = 1.0 / ports;
    return make_room(search);
}

/* ---- what hosts bring ---- */
/* To all other hosts alike. */
static void enter_uniform(struct search *search, uint32_t first)
{
    const struct ic_ways *ways = search->ways;
    const uint64_t all = search->is_alike ? 1 : search->layers->all;
    double each[ABREAST] = {0}, hosts = search->network->hosts;
    for (uint64_t left = all; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        each[i] = ways->hosts_at[ways->destinations[first + i]] / (hosts - 1);
    }
    for (uint32_t at = 0; at < search->network->switches; at++) {
        double *flow = &search->flow[(size_t)at * ABREAST];
        for (uint32_t i = 0; i < ABREAST; i++)
            flow[i] = each[i] * ways->hosts_at[at];
        search->brought[at] = ways->hosts_at[at] > 0 ? all : 0;
    }
    for (uint64_t left = all; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left), to = ways->destinations[first + i];
        search->flow[(size_t)to * ABREAST + i] -= each[i];
        if (ways->hosts_at[to] == 1)
            search->brought[to] &= ~((uint64_t)1 << i);
    }
}

static void enter_pattern(struct search *search, uint32_t first)
{
    const struct ic_network *network = search->network;
    memset(search->brought, 0, network->switches * sizeof(*search->brought));
    for (uint32_t host = 0; host < network->hosts; host++) {
        uint32_t partner = ic_traffic_partner(search->traffic, host), at = network->attached[host];
        uint32_t i = search->ways->numbers[network->attached[partner]] - first;
        if (partner == host || i >= ABREAST)
            continue;
        double *flow = &search->flow[(size_t)at * ABREAST + i];
        *flow = search->brought[at] >> i & 1 ? *flow + 1 : 1;
        search->brought[at] |= (uint64_t)1 << i;
    }
}

/* ---- one switch ---- */
/* Where something comes from; what will be read and written of it is fetched, which takes longer
 * than what is to be done with it. */
static void find_inputs(const struct search *search, struct visit *visit)
{
    const struct ic_network *network = search->network;
    const double *pairs = row_of(search->pairs, search, visit->at, 0);
    for (uint32_t i = 0; visit->choices != NULL && i < CHOICES_USUAL * (visit->own + 1); i += 8)
        __builtin_prefetch(&visit->choices[i]);
    for (uint64_t ports = search->inputs[visit->at]; ports != 0; ports &= ports - 1) {
        uint32_t in = (uint32_t)__builtin_ctzll(ports), c = network->first[visit->at] + in;
        const double *coming = &search->flow[(size_t)network->to[c] * ABREAST];
        visit->in[in] = visit->word & search->going[search->ways->back[c]];
        if (visit->in[in] != 0)
            __builtin_prefetch(&pairs[(size_t)in * (visit->own + 1)]);
        for (uint64_t left = visit->in[in]; left != 0; left &= left - 1)
            __builtin_prefetch(&coming[(uint32_t)__builtin_ctzll(left)]);
    }
}

/* All ports that lead nearer to each destination, or the lowest. */
static void find_ports(struct search *search, struct visit *visit)
{
    const struct ic_network *network = search->network;
    const uint64_t *nearer = search->layers->words + (size_t)(visit->hops - 1) * network->switches;
    uint64_t word = visit->word;
    uint32_t most = search->most;
    for (uint32_t p = 0; p < visit->own && word != 0; p++) {
        uint32_t c = network->first[visit->at] + p;
        uint64_t taken = word & nearer[network->to[c]];
        if (taken == 0)
            continue;
        uint32_t next = network->to[c], back = search->ways->back[c];
        search->going[c] |= taken;
        search->active[next] |= taken;
        search->inputs[next] |= (uint64_t)1 << (back - network->first[next]);
        if (search->is_fixed)
            word &= ~taken;
        for (; taken != 0; taken &= taken - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(taken);
            visit->ports[i] |= (uint64_t)1 << p;
            visit->count[i]++;
        }
    }
    for (uint64_t left = visit->word; left != 0; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        visit->part[i] = search->inverse[visit->count[i]];
        most = visit->count[i] > most ? visit->count[i] : most;
    }
    search->most = most;
}

/* What one input brings goes on by all ports alike, or to the hosts here; all of it. */
static double split(struct search *search, struct visit *visit, uint32_t in, uint64_t word,
                    const double *coming)
{
    double *pairs = row_of(search->pairs, search, visit->at, in), all = 0;
    for (; word != 0; word &= word - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(word);
        all += coming[i];
        if (visit->hops == 0)
            continue;
        double each = coming[i] * visit->part[i];
        visit->sum[i] += coming[i];
        for (uint64_t left = visit->ports[i]; left != 0; left &= left - 1)
            pairs[(uint32_t)__builtin_ctzll(left)] += each;
    }
    if (visit->hops == 0)
        pairs[visit->own] += all;
    return all;
}

/* All inputs, and the hosts. */
static void take(struct search *search, struct visit *visit)
{
    const struct ic_network *network = search->network;
    double brought = split(search, visit, visit->own, visit->word & search->brought[visit->at],
                           &search->flow[(size_t)visit->at * ABREAST]);
    search->total += brought;
    search->hop_sum += brought * visit->hops;
    for (uint64_t ports = search->inputs[visit->at]; ports != 0; ports &= ports - 1) {
        uint32_t in = (uint32_t)__builtin_ctzll(ports);
        uint32_t from = network->to[network->first[visit->at] + in];
        if (visit->in[in] != 0)
            split(search, visit, in, visit->in[in], &search->flow[(size_t)from * ABREAST]);
    }
}

/* What each port takes, for those that come after; what the next visit finds is nothing again. */
static void pass_on(struct search *search, struct visit *visit)
{
    double *flow = &search->flow[(size_t)visit->at * ABREAST];
    size_t width = visit->own + 1;
    for (uint64_t word = visit->word; word != 0; word &= word - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(word);
        double share = visit->sum[i] * visit->part[i];
        flow[i] = share;
        if (!search->is_fixed) {
            double *choices = visit->choices + (visit->count[i] - 1) * width;
            for (uint64_t left = visit->ports[i]; left != 0; left &= left - 1)
                choices[(uint32_t)__builtin_ctzll(left)] += share;
        }
        visit->sum[i] = 0;
        visit->ports[i] = 0;
        visit->count[i] = 0;
    }
}

static void pass(struct search *search, struct visit *visit)
{
    find_inputs(search, visit);
    if (visit->hops > 0)
        find_ports(search, visit);
    take(search, visit);
    if (visit->hops > 0)
        pass_on(search, visit);
}

/* ---- destinations ---- */
/* Farthest switches first: what comes to a switch is known when it is passed on. */
static void pass_all(struct search *search)
{
    uint32_t switches = search->network->switches;
    struct visit visit = {0};
    for (uint32_t hops = search->layers->depth; hops-- > 0;)
        for (uint32_t at = 0; at < switches; at++) {
            uint64_t word =
                search->layers->words[(size_t)hops * switches + at] & search->active[at];
            if (word == 0)
                continue;
            visit.at = at;
            visit.own = ports_of(search, at);
            visit.hops = hops;
            visit.word = word;
            visit.choices = search->is_fixed ? NULL : row_of(search->choices, search, at, 0);
            pass(search, &visit);
        }
}

static gmc_status add_block(struct search *search, uint32_t block, char *error)
{
    const struct ic_network *network = search->network;
    gmc_status status = ic_ways_find(search->ways, block, &search->layers, error);
    if (status != GMC_OK)
        return status;
    if (search->traffic->pattern == IC_TRAFFIC_UNIFORM)
        enter_uniform(search, block * ABREAST);
    else
        enter_pattern(search, block * ABREAST);
    memcpy(search->active, search->brought, network->switches * sizeof(*search->active));
    memset(search->going, 0, ic_network_channels(network) * sizeof(*search->going));
    memset(search->inputs, 0, network->switches * sizeof(*search->inputs));
    pass_all(search);
    return GMC_OK;
}

/* ---- outputs ---- */
/* The last output stands for the ejection links of all hosts there, the last input for their
 * injection links. Inputs are added in the order of memory. */
static void measure_outputs(struct search *search, uint32_t at, struct ic_packet_output *outputs)
{
    const struct ic_network *network = search->network;
    uint32_t own = ports_of(search, at), hosts = search->ways->hosts_at[at];
    double part = hosts > 0 ? 1.0 / hosts : 0;
    double flows[IC_NETWORK_PORTS_MAX + 1] = {0}, squares[IC_NETWORK_PORTS_MAX + 1] = {0};
    for (uint32_t in = 0; in <= own; in++) {
        const double *row = row_of(search->pairs, search, at, in);
        double links = in < own ? 1 : part;
        for (uint32_t out = 0; out <= own; out++) {
            flows[out] += row[out];
            squares[out] += row[out] * row[out] * links;
        }
    }
    for (uint32_t out = 0; out <= own; out++) {
        double each = out < own ? 1 : part, load = flows[out] * each;
        outputs[out] =
            (struct ic_packet_output){.at = at,
                                      .to = out < own ? network->to[network->first[at] + out] : at,
                                      .flow = flows[out],
                                      .load = load,
                                      .others =
                                          load > 0 ? load - squares[out] * each * each / load : 0};
    }
}

/* Shares of an output's packets go to the end of all choices. */
static void keep_choices(struct search *search, uint32_t out, struct ic_packet_output *output,
                         struct ic_packet_flows *all)
{
    uint32_t own = ports_of(search, output->at);
    double *shares = &all->choices[all->choice_count], sum = 0;
    if (out == own)
        return;
    for (uint32_t ports = 1; ports <= own && ports <= search->most; ports++) {
        shares[ports - 1] = search->choices != NULL
                                ? row_of(search->choices, search, output->at, ports - 1)[out]
                                : ports == 1;
        sum += shares[ports - 1];
        if (shares[ports - 1] > 0)
            output->ports = ports;
    }
    for (uint32_t i = 0; i < output->ports; i++)
        shares[i] /= sum;
    output->shares = shares;
    all->choice_count += output->ports;
}

static gmc_status keep_outputs(struct search *search, struct ic_packet_flows *all)
{
    const struct ic_network *network = search->network;
    size_t most = ic_network_channels(network) + (size_t)network->switches, choices = 0;
    for (uint32_t at = 0; at < network->switches; at++)
        choices += (size_t)ports_of(search, at) * ports_of(search, at);
    all->outputs = calloc(most, sizeof(*all->outputs));
    all->choices = calloc(choices + 1, sizeof(*all->choices));
    if (all->outputs == NULL || all->choices == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t at = 0; at < network->switches; at++) {
        struct ic_packet_output outputs[IC_NETWORK_PORTS_MAX + 1];
        measure_outputs(search, at, outputs);
        for (uint32_t out = 0; out <= ports_of(search, at); out++) {
            if (outputs[out].flow <= 0)
                continue;
            keep_choices(search, out, &outputs[out], all);
            all->outputs[all->count++] = outputs[out];
        }
    }
    return GMC_OK;
}

static gmc_status find_flows(struct search *search, struct ic_packet_flows *all, char *error)
{
    const struct ic_ways *ways = search->ways;
    uint32_t blocks = search->is_alike ? 1 : ways->blocks;
    double hosts = search->network->hosts, distances = 0;
    for (uint32_t block = 0; block < blocks; block++) {
        gmc_status status = add_block(search, block, error);
        if (status != GMC_OK)
            return status;
        distances += search->layers->distances;
        if (search->layers->farthest > all->diameter)
            all->diameter = search->layers->farthest;
    }
    if (search->is_alike)
        distances *= (double)ways->count / (ways->count < ABREAST ? ways->count : ABREAST);
    all->total = search->total * (search->is_alike ? ways->count : 1);
    all->mean_hops = search->hop_sum / search->total;
    all->distance = distances / hosts / (hosts - 1);
    return keep_outputs(search, all);
}

gmc_status ic_packet_flows_new(struct ic_ways *ways, bool is_fixed,
                               const struct ic_traffic *traffic, struct ic_packet_flows **out,
                               char *error)
{
    struct search search;
    gmc_status status = ic_traffic_check_senders(traffic, error);
    if (status != GMC_OK)
        return status;
    struct ic_packet_flows *all = calloc(1, sizeof(*all));
    if (all == NULL)
        return GMC_ERR_NOMEM;
    status = prepare(&search, ways, is_fixed, traffic);
    if (status == GMC_OK)
        status = find_flows(&search, all, error);
    release(&search);
    if (status != GMC_OK) {
        ic_packet_flows_free(all);
        return status;
    }
    *out = all;
    return GMC_OK;
}

void ic_packet_flows_free(struct ic_packet_flows *flows)
{
    if (flows == NULL)
        return;
    free(flows->outputs);
    free(flows->choices);
    free(flows);
}

size_t ic_packet_flows_bytes(const struct ic_packet_flows *flows)
{
    return flows->count * sizeof(*flows->outputs) + flows->choice_count * sizeof(*flows->choices);
}
