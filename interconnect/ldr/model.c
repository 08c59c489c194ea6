/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows along shortest ways, one destination after the other; what they make of every output; and
 * the waits that come of them. Flows are in loads of a host's link when every sender's is full. */
#include "interconnect/ldr/model.h"

#include <math.h>
#include <stdlib.h>

/* An output at full load: all links that it stands for together, one of them, and the squares of
 * what its inputs bring. */
struct output {
    uint32_t at, to; /* switches; the same: ejection */
    uint32_t ports;  /* between how many a packet chooses, at most */
    double flow, load, squares;
    const double *shares; /* of its packets, by the ports they choose from, 1 and more */
};

struct ic_packet_flows {
    struct output *outputs; /* that carry something */
    size_t count, choice_count;
    double *choices; /* all shares */
    double total, mean_hops;
};

struct flows {
    const struct ic_packets_config *config;
    const struct ic_network *network;
    uint32_t *hosts_at; /* by switch */
    size_t *square;     /* of a switch: where its flows from inputs to outputs begin */
    size_t *row;        /* of a channel: where the flows begin of the input that it leads to */
    double *pairs;      /* (ports + 1)^2 for each switch; the last one is its hosts */
    double *choices;    /* the same flows, by output and by how many ports they could take;
                         * NULL: by one */
    /* Of one destination, by switch. */
    double *entering, *coming; /* from hosts there, from other switches */
    uint64_t *ports;           /* mask of those that it is gone on by; 0: it is there */
    uint32_t *hops, *order;
    double total, hop_sum; /* of all flows; of flow times hops */
};

static uint32_t ports_of(const struct flows *flows, uint32_t at)
{
    return flows->network->first[at + 1] - flows->network->first[at];
}

static double *pair(struct flows *flows, uint32_t at, uint32_t in, uint32_t out)
{
    return &flows->pairs[flows->square[at] + (size_t)in * (ports_of(flows, at) + 1) + out];
}

/* Of `ports` to choose from, 1 or more. */
static double *choice(struct flows *flows, uint32_t at, uint32_t out, uint32_t ports)
{
    return &flows->choices[flows->square[at] + (size_t)out * (ports_of(flows, at) + 1) + ports - 1];
}

static void release(struct flows *flows)
{
    free(flows->hosts_at);
    free(flows->square);
    free(flows->row);
    free(flows->pairs);
    free(flows->choices);
    free(flows->entering);
    free(flows->coming);
    free(flows->ports);
    free(flows->hops);
    free(flows->order);
}

static void find_rows(struct flows *flows)
{
    const struct ic_network *network = flows->network;
    for (uint32_t c = 0; c < ic_network_channels(network); c++) {
        uint32_t at = network->to[c], in = 0;
        while (network->to[network->first[at] + in] != network->from[c])
            in++;
        flows->row[c] = flows->square[at] + (size_t)in * (ports_of(flows, at) + 1);
    }
}

static gmc_status prepare(struct flows *flows, const struct ic_packets_config *config)
{
    const struct ic_network *network = config->routes->network;
    size_t switches = network->switches, channels = ic_network_channels(network), squares = 0;
    *flows = (struct flows){
        .config = config,
        .network = network,
        .hosts_at = calloc(switches, sizeof(*flows->hosts_at)),
        .square = calloc(switches, sizeof(*flows->square)),
        .row = calloc(channels + 1, sizeof(*flows->row)),
        .entering = calloc(switches, sizeof(*flows->entering)),
        .coming = calloc(switches, sizeof(*flows->coming)),
        .ports = calloc(switches, sizeof(*flows->ports)),
        .hops = calloc(switches, sizeof(*flows->hops)),
        .order = calloc(switches, sizeof(*flows->order)),
    };
    if (flows->hosts_at == NULL || flows->square == NULL || flows->row == NULL ||
        flows->entering == NULL || flows->coming == NULL || flows->ports == NULL ||
        flows->hops == NULL || flows->order == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < switches; i++) {
        flows->square[i] = squares;
        squares += (size_t)(ports_of(flows, i) + 1) * (ports_of(flows, i) + 1);
    }
    flows->pairs = calloc(squares, sizeof(*flows->pairs));
    if (config->routing != IC_FIXED)
        flows->choices = calloc(squares, sizeof(*flows->choices));
    if (flows->pairs == NULL || (config->routing != IC_FIXED && flows->choices == NULL))
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < network->hosts; i++)
        flows->hosts_at[network->attached[i]]++;
    find_rows(flows);
    return GMC_OK;
}

/* ---- flows ---- */
/* What hosts send to the hosts of a switch: all of them, or a pattern's partners. */
static void enter(struct flows *flows, uint32_t to)
{
    const struct ic_network *network = flows->network;
    const struct ic_traffic *traffic = &flows->config->traffic;
    double each = flows->hosts_at[to] / ((double)network->hosts - 1);
    for (uint32_t i = 0; i < network->switches; i++)
        flows->entering[i] = 0;
    if (traffic->pattern == IC_TRAFFIC_UNIFORM) {
        for (uint32_t i = 0; i < network->switches; i++)
            flows->entering[i] = each * flows->hosts_at[i];
        flows->entering[to] -= each;
        return;
    }
    for (uint32_t i = 0; i < network->hosts; i++) {
        uint32_t partner = ic_traffic_partner(traffic, i);
        if (partner != i && network->attached[partner] == to)
            flows->entering[network->attached[i]] += 1;
    }
}

static void find_ports(struct flows *flows, uint32_t to)
{
    for (uint32_t i = 0; i < flows->network->switches; i++) {
        uint64_t ports = ic_routes_ports(flows->config->routes, i, to);
        flows->ports[i] = flows->config->routing == IC_FIXED ? ports & (~ports + 1) : ports;
    }
}

/* What comes to a switch by one input goes on by all ports alike, or to the hosts there. */
static void split(struct flows *flows, uint32_t at, size_t row, double flow)
{
    double *outputs = &flows->pairs[row];
    uint64_t ports = flows->ports[at];
    if (ports == 0) {
        outputs[ports_of(flows, at)] += flow;
        return;
    }
    double share = flow / __builtin_popcountll(ports);
    for (; ports != 0; ports &= ports - 1)
        outputs[__builtin_ctzll(ports)] += share;
}

static void pass_on(struct flows *flows, uint32_t at, double share, uint32_t count)
{
    for (uint64_t ports = flows->ports[at]; ports != 0; ports &= ports - 1) {
        uint32_t out = (uint32_t)__builtin_ctzll(ports), channel = flows->network->first[at] + out;
        uint32_t next = flows->network->to[channel];
        if (flows->choices != NULL)
            *choice(flows, at, out, count) += share;
        flows->coming[next] += share;
        split(flows, next, flows->row[channel], share);
    }
}

static void pass(struct flows *flows, uint32_t at)
{
    double entering = flows->entering[at], sum = entering + flows->coming[at];
    uint32_t count = (uint32_t)__builtin_popcountll(flows->ports[at]);
    flows->total += entering;
    flows->hop_sum += entering * flows->hops[at];
    flows->coming[at] = 0;
    if (entering > 0)
        split(flows, at,
              flows->square[at] + (size_t)ports_of(flows, at) * (ports_of(flows, at) + 1),
              entering);
    if (sum > 0 && count > 0)
        pass_on(flows, at, sum / count, count);
}

/* Farthest switches first: what comes to a switch is known when it is passed on. */
static void add_destination(struct flows *flows, uint32_t to)
{
    uint32_t found = ic_network_search(flows->network, to, flows->hops, flows->order);
    enter(flows, to);
    find_ports(flows, to);
    while (found-- > 0)
        pass(flows, flows->order[found]);
}

/* ---- outputs ---- */
/* The last output stands for the ejection links of all hosts there, the last input for their
 * injection links. */
static struct output measure_output(struct flows *flows, uint32_t at, uint32_t out)
{
    uint32_t own = ports_of(flows, at);
    double hosts = flows->hosts_at[at], links = out < own ? 1 : hosts;
    struct output output = {
        .at = at,
        .to = out < own ? flows->network->to[flows->network->first[at] + out] : at,
    };
    for (uint32_t in = 0; in <= own && links > 0; in++) {
        double flow = *pair(flows, at, in, out), each = flow / links;
        output.flow += flow;
        output.load += each;
        output.squares += in < own ? each * each : (hosts > 0 ? each * each / hosts : 0);
    }
    return output;
}

/* Shares of an output's packets go to the end of all choices. */
static void keep_choices(struct flows *flows, uint32_t out, struct output *output,
                         struct ic_packet_flows *all)
{
    uint32_t own = ports_of(flows, output->at);
    double *shares = &all->choices[all->choice_count], sum = 0;
    if (out == own)
        return;
    for (uint32_t ports = 1; ports <= own; ports++) {
        shares[ports - 1] =
            flows->choices != NULL ? *choice(flows, output->at, out, ports) : ports == 1;
        sum += shares[ports - 1];
        if (shares[ports - 1] > 0)
            output->ports = ports;
    }
    for (uint32_t i = 0; i < output->ports; i++)
        shares[i] /= sum;
    output->shares = shares;
    all->choice_count += output->ports;
}

static gmc_status keep_outputs(struct flows *flows, struct ic_packet_flows *all)
{
    const struct ic_network *network = flows->network;
    size_t most = ic_network_channels(network) + (size_t)network->switches, choices = 0;
    for (uint32_t at = 0; at < network->switches; at++)
        choices += (size_t)ports_of(flows, at) * ports_of(flows, at);
    all->outputs = calloc(most, sizeof(*all->outputs));
    all->choices = calloc(choices + 1, sizeof(*all->choices));
    if (all->outputs == NULL || all->choices == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t at = 0; at < network->switches; at++)
        for (uint32_t out = 0; out <= ports_of(flows, at); out++) {
            struct output output = measure_output(flows, at, out);
            if (output.flow <= 0)
                continue;
            keep_choices(flows, out, &output, all);
            all->outputs[all->count++] = output;
        }
    return GMC_OK;
}

static gmc_status find_flows(struct flows *flows, struct ic_packet_flows *all, char *error)
{
    gmc_status status = ic_traffic_check_senders(&flows->config->traffic, error);
    if (status != GMC_OK)
        return status;
    for (uint32_t to = 0; to < flows->network->switches; to++)
        if (flows->hosts_at[to] > 0)
            add_destination(flows, to);
    all->total = flows->total;
    all->mean_hops = flows->hop_sum / flows->total;
    return keep_outputs(flows, all);
}

gmc_status ic_packet_flows_new(const struct ic_packets_config *config, struct ic_packet_flows **out,
                               char *error)
{
    struct flows flows;
    struct ic_packet_flows *all = calloc(1, sizeof(*all));
    if (all == NULL)
        return GMC_ERR_NOMEM;
    gmc_status status = prepare(&flows, config);
    if (status == GMC_OK)
        status = find_flows(&flows, all, error);
    release(&flows);
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

/* ---- waits ---- */
static double wait(double load, double squares)
{
    return load > 0 && load < 1 ? (load - squares / load) / (2 * (1 - load)) : 0;
}

static void keep_fullest(struct ic_packets_model *model, const struct output *output, double load)
{
    if (load <= model->fullest.load)
        return;
    model->fullest =
        (struct ic_channel_record){.from = output->at,
                                   .to = output->to,
                                   .what = output->to == output->at ? "ejection" : "link",
                                   .load = load};
}

/* Share of packets that wait although they could choose: all others found a port that was free, or
 * with less backlog. */
static double choosing(const struct output *output, enum ic_packet_routing routing, double load)
{
    double waiting = 0;
    if (routing != IC_ADAPTIVE || output->ports == 0)
        return 1;
    for (uint32_t i = output->ports; i-- > 0;)
        waiting = waiting * load + output->shares[i];
    return waiting;
}

/* Mean wait of a packet in the network, in serial times. */
static double add_waits(const struct ic_packet_flows *flows, const struct ic_packets_config *config,
                        struct ic_packets_model *model)
{
    double scale = config->load, waits = 0;
    for (size_t i = 0; i < flows->count; i++) {
        const struct output *output = &flows->outputs[i];
        double load = scale * output->load;
        keep_fullest(model, output, load);
        waits += output->flow * wait(load, scale * scale * output->squares) *
                 choosing(output, config->routing, load);
    }
    return waits / flows->total;
}

gmc_status ic_packet_flows_model(const struct ic_packet_flows *flows,
                                 const struct ic_packets_config *config,
                                 struct ic_packets_model *model, char *error)
{
    gmc_status status = ic_packets_check(config, error);
    if (status != GMC_OK)
        return status;
    double serial = ic_packet_serial_ns(&config->timing);
    *model = (struct ic_packets_model){
        .mean_hops = flows->mean_hops,
        .fullest = {.what = "injection", .load = config->load},
    };
    double waits = add_waits(flows, config, model);
    model->saturation = config->load / model->fullest.load;
    model->is_saturated = model->fullest.load >= 1;
    model->zero_load = ic_packet_zero_load(&config->timing, config->switching, model->mean_hops);
    model->network = model->zero_load + serial * waits;
    model->latency = model->network;
    if (config->arrivals == IC_POISSON)
        model->latency += serial * wait(config->load, 0);
    return GMC_OK;
}

gmc_status ic_packets_model(const struct ic_packets_config *config, struct ic_packets_model *model,
                            char *error)
{
    struct ic_packet_flows *flows;
    gmc_status status = ic_packets_check(config, error);
    if (status == GMC_OK)
        status = ic_packet_flows_new(config, &flows, error);
    if (status != GMC_OK)
        return status;
    status = ic_packet_flows_model(flows, config, model, error);
    ic_packet_flows_free(flows);
    return status;
}
