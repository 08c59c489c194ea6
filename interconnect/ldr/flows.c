/* SPDX-License-Identifier: BSD-2-Clause */
/* From flows through switches to outputs. In a hypercube all switches are alike to what all
 * destinations bring: they share their sums, one destination is all, and the first switch's outputs
 * stand for all. */
#include "interconnect/ldr/flows.h"

#include <stdlib.h>

#include "interconnect/flows/spread.h"
#include "interconnect/flows/walk.h"

/* Links that differ in how their sums were rounded alone count as equally full. */
#define FULLER (1 + 1e-9)

struct search {
    struct ic_ways *ways;
    const struct ic_network *network;
    const struct ic_traffic *traffic;
    bool is_uniform;
    uint32_t alike; /* switches that one stands for */
    struct ic_arcs arcs;
    struct ic_flow_sums sums;
    double distances; /* from all hosts to those of so many destinations */
    uint32_t destinations;
};

/* What links are at the other end: a switch has as many inputs as ports, in their order. */
static struct ic_arcs arcs_of(const struct ic_ways *ways)
{
    const struct ic_network *network = ways->network;
    return (struct ic_arcs){.vertices = network->switches,
                            .first = network->first,
                            .to = network->to,
                            .input = ways->back,
                            .first_input = network->first,
                            .from = network->to,
                            .output = ways->back};
}

static gmc_status prepare(struct search *search, struct ic_ways *ways, bool is_fixed,
                          const struct ic_traffic *traffic)
{
    bool is_uniform = traffic->pattern == IC_TRAFFIC_UNIFORM;
    bool is_shared = is_uniform && ways->network->is_hypercube;
    *search = (struct search){.ways = ways,
                              .network = ways->network,
                              .traffic = traffic,
                              .is_uniform = is_uniform,
                              .alike = is_shared ? ways->network->switches : 1,
                              .arcs = arcs_of(ways)};
    return ic_flow_sums_init(&search->sums, &search->arcs, is_fixed, is_shared);
}

static gmc_status find_layers(struct search *search, uint32_t block, struct ic_packet_flows *all,
                              const struct ic_ways_layers **layers, char *error)
{
    gmc_status status = ic_ways_find(search->ways, block, layers, error);
    if (status != GMC_OK)
        return status;
    search->distances += (*layers)->distances;
    search->destinations += search->ways->first[block + 1] - search->ways->first[block];
    if ((*layers)->farthest > all->diameter)
        all->diameter = (*layers)->farthest;
    return GMC_OK;
}

/* ---- to all other hosts alike ---- */
/* Destinations of a block have as many hosts, so a host sends as much to each. */
static void set_senders(const struct search *search, const struct ic_ways_layers *layers,
                        double *each, double *local)
{
    const uint32_t *hosts_at = search->ways->hosts_at;
    double part = layers->hosts / (search->network->hosts - 1.0);
    for (uint32_t at = 0; at < search->network->switches; at++) {
        each[at] = hosts_at[at] * part;
        local[at] = hosts_at[at] > 0 ? (hosts_at[at] - 1) * part : 0;
    }
}

static gmc_status add_uniform(struct search *search, struct ic_packet_flows *all, char *error)
{
    uint32_t switches = search->network->switches, blocks = search->ways->blocks;
    struct ic_flow_spread spread;
    double *each = malloc(switches * sizeof(*each)), *local = malloc(switches * sizeof(*local));
    gmc_status status = ic_flow_spread_init(&spread, &search->sums);
    if (each == NULL || local == NULL)
        status = GMC_ERR_NOMEM;
    for (uint32_t block = 0; block < (search->alike > 1 ? 1 : blocks); block++) {
        const struct ic_ways_layers *layers;
        if (status == GMC_OK)
            status = find_layers(search, block, all, &layers, error);
        if (status != GMC_OK)
            break;
        const struct ic_flow_senders senders = {each, local};
        set_senders(search, layers, each, local);
        ic_flow_spread_add(&spread, layers->words, layers->depth,
                           search->alike > 1 ? 1 : layers->all, &senders);
    }
    ic_flow_spread_fini(&spread);
    free(each);
    free(local);
    return status;
}

/* ---- to one other host ---- */
/* By host: the number of the switch that it sends to; NONE: it is silent. */
static void find_targets(const struct search *search, uint32_t *targets)
{
    const struct ic_network *network = search->network;
    for (uint32_t host = 0; host < network->hosts; host++) {
        uint32_t partner = ic_traffic_partner(search->traffic, host);
        targets[host] =
            partner == host ? IC_GRAPH_NONE : search->ways->numbers[network->attached[partner]];
    }
}

static gmc_status add_pattern(struct search *search, struct ic_packet_flows *all, char *error)
{
    const struct ic_network *network = search->network;
    struct ic_flow_walk walk;
    uint32_t *targets = calloc(network->hosts, sizeof(*targets));
    gmc_status status = ic_flow_walk_init(&walk, &search->sums);
    if (targets == NULL)
        status = GMC_ERR_NOMEM;
    else
        find_targets(search, targets);
    for (uint32_t block = 0; block < search->ways->blocks; block++) {
        const uint32_t *first = &search->ways->first[block];
        const struct ic_ways_layers *layers;
        if (status == GMC_OK)
            status = find_layers(search, block, all, &layers, error);
        if (status != GMC_OK)
            break;
        for (uint32_t host = 0; host < network->hosts; host++)
            if (targets[host] >= first[0] && targets[host] < first[1])
                ic_flow_walk_add(&walk, layers->words, network->attached[host],
                                 targets[host] - first[0]);
    }
    ic_flow_walk_fini(&walk);
    free(targets);
    return status;
}

/* ---- outputs ---- */
/* Of a switch, by output; the last one stands for the ejection links of all hosts there, the last
 * input for their injection links. Squares are of what one link brings over one. */
struct outputs {
    double flow[IC_NETWORK_PORTS_MAX + 1], squares[IC_NETWORK_PORTS_MAX + 1];
};

static void measure(const struct search *search, uint32_t at, struct outputs *outputs)
{
    uint32_t own = ic_arcs_out(&search->arcs, at), hosts = search->ways->hosts_at[at];
    *outputs = (struct outputs){0};
    for (uint32_t in = 0; in <= own; in++) {
        const double *row = ic_flow_sums_pairs(&search->sums, at, in);
        double links = in < own || hosts == 0 ? 1 : 1.0 / hosts;
        if (!*ic_flow_sums_used(&search->sums, at, in))
            continue;
        for (uint32_t out = 0; out <= own; out++) {
            outputs->flow[out] += row[out];
            outputs->squares[out] += row[out] * row[out] * links;
        }
    }
}

static void keep_fullest(struct ic_channel_record *fullest, uint32_t from, uint32_t to, double load)
{
    if (load > FULLER * fullest->load)
        *fullest = (struct ic_channel_record){.from = from,
                                              .to = to,
                                              .what = to == from ? "ejection" : "link",
                                              .load = load};
}

/* Of packets that choose among k ports, the powers of the load up to k - 2. */
static void spare(const struct search *search, uint32_t at, uint32_t out, double load,
                  double weight, double *spared)
{
    uint32_t own = ic_arcs_out(&search->arcs, at);
    uint32_t most = own < search->sums.most ? own : search->sums.most;
    double more[IC_NETWORK_PORTS_MAX] = {0}, sum = 0; /* flow that chooses of i + 1 ports or more */
    for (uint32_t i = most; i-- > 0;)
        more[i] = sum += ic_flow_sums_choices(&search->sums, at, i + 1)[out];
    double part = weight / sum;
    for (uint32_t i = 0; i + 1 < most && more[i + 1] > 0; i++, part *= load)
        spared[i] += part * more[i + 1];
}

static void keep_output(const struct search *search, uint32_t at, uint32_t out,
                        const struct outputs *outputs, struct ic_packet_flows *all)
{
    const struct ic_network *network = search->network;
    bool is_link = out < ic_arcs_out(&search->arcs, at);
    double each = is_link ? 1 : 1.0 / search->ways->hosts_at[at];
    double load = outputs->flow[out] * each;
    double others = load - outputs->squares[out] * each * each / load;
    double weight = outputs->flow[out] * search->alike * others;
    keep_fullest(&all->fullest, at, is_link ? network->to[network->first[at] + out] : at, load);
    if (is_link && !search->sums.is_fixed)
        spare(search, at, out, load, weight, all->spared);
    all->loads[all->count] = load;
    all->weights[all->count++] = weight;
}

static gmc_status keep_outputs(const struct search *search, struct ic_packet_flows *all)
{
    uint32_t count = search->network->switches / search->alike;
    size_t most = ic_network_channels(search->network) / search->alike + count;
    all->fullest = (struct ic_channel_record){.what = "injection", .load = 1};
    all->loads = malloc(most * sizeof(*all->loads));
    all->weights = malloc(most * sizeof(*all->weights));
    if (all->loads == NULL || all->weights == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t at = 0; at < count; at++) {
        struct outputs outputs;
        measure(search, at, &outputs);
        for (uint32_t out = 0; out <= ic_arcs_out(&search->arcs, at); out++)
            if (outputs.flow[out] > 0)
                keep_output(search, at, out, &outputs, all);
    }
    return GMC_OK;
}

/* ---- all of it ---- */
static gmc_status find_flows(struct search *search, struct ic_packet_flows *all, char *error)
{
    double hosts = search->network->hosts;
    gmc_status status =
        search->is_uniform ? add_uniform(search, all, error) : add_pattern(search, all, error);
    if (status != GMC_OK)
        return status;
    all->total = search->sums.total * search->alike;
    all->mean_hops = search->sums.hop_sum / search->sums.total;
    all->distance =
        search->distances * search->ways->count / search->destinations / hosts / (hosts - 1);
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
    ic_flow_sums_fini(&search.sums);
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
    free(flows->loads);
    free(flows->weights);
    free(flows);
}

size_t ic_packet_flows_bytes(const struct ic_packet_flows *flows)
{
    return sizeof(*flows) + flows->count * (sizeof(*flows->loads) + sizeof(*flows->weights));
}
