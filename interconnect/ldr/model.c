/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows along shortest ways, one destination after the other, and the waits that come of them.
 * Flows are in loads of a host's link when every sender's is full. */
#include "interconnect/ldr/model.h"

#include <math.h>
#include <stdlib.h>

struct flows {
    const struct ic_packets_config *config;
    const struct ic_network *network;
    uint32_t *hosts_at; /* by switch */
    uint32_t *reverse;  /* of a channel: that of the other direction */
    size_t *square;     /* of a switch: where its flows from inputs to outputs begin */
    double *pairs;      /* (ports + 1)^2 for each switch; the last one is its hosts */
    double *choices;    /* the same flows, by output and by how many ports they could take */
    double *now;        /* on each channel, to one destination */
    double *entering;   /* at each switch, to one destination */
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
    free(flows->reverse);
    free(flows->square);
    free(flows->pairs);
    free(flows->choices);
    free(flows->now);
    free(flows->entering);
    free(flows->hops);
    free(flows->order);
}

static void find_reverses(struct flows *flows)
{
    const struct ic_network *network = flows->network;
    for (uint32_t c = 0; c < ic_network_channels(network); c++) {
        uint32_t back = network->first[network->to[c]];
        while (network->to[back] != network->from[c])
            back++;
        flows->reverse[c] = back;
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
        .reverse = calloc(channels + 1, sizeof(*flows->reverse)),
        .square = calloc(switches, sizeof(*flows->square)),
        .now = calloc(channels + 1, sizeof(*flows->now)),
        .entering = calloc(switches, sizeof(*flows->entering)),
        .hops = calloc(switches, sizeof(*flows->hops)),
        .order = calloc(switches, sizeof(*flows->order)),
    };
    if (flows->hosts_at == NULL || flows->reverse == NULL || flows->square == NULL ||
        flows->now == NULL || flows->entering == NULL || flows->hops == NULL ||
        flows->order == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < switches; i++) {
        flows->square[i] = squares;
        squares += (size_t)(ports_of(flows, i) + 1) * (ports_of(flows, i) + 1);
    }
    flows->pairs = calloc(squares, sizeof(*flows->pairs));
    flows->choices = calloc(squares, sizeof(*flows->choices));
    if (flows->pairs == NULL || flows->choices == NULL)
        return GMC_ERR_NOMEM;
    for (uint32_t i = 0; i < network->hosts; i++)
        flows->hosts_at[network->attached[i]]++;
    find_reverses(flows);
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

/* Splits what comes to a switch by one input. */
static void split(struct flows *flows, uint32_t at, uint32_t in, double flow, uint64_t ports)
{
    uint32_t count = (uint32_t)__builtin_popcountll(ports);
    double share = flow / count;
    if (flow <= 0)
        return;
    for (; ports != 0; ports &= ports - 1) {
        uint32_t out = (uint32_t)__builtin_ctzll(ports);
        *pair(flows, at, in, out) += share;
        *choice(flows, at, out, count) += share;
        flows->now[flows->network->first[at] + out] += share;
    }
}

static void pass(struct flows *flows, uint32_t at, uint32_t to)
{
    uint32_t first = flows->network->first[at], own = ports_of(flows, at);
    uint64_t ports = at != to ? ic_routes_ports(flows->config->routes, at, to) : 0;
    if (flows->config->routing == IC_FIXED)
        ports &= ~ports + 1;
    flows->total += flows->entering[at];
    flows->hop_sum += flows->entering[at] * flows->hops[at];
    for (uint32_t in = 0; in <= own; in++) {
        double *from = in < own ? &flows->now[flows->reverse[first + in]] : &flows->entering[at];
        if (at == to)
            *pair(flows, at, in, own) += *from;
        else
            split(flows, at, in, *from, ports);
        *from = 0;
    }
}

/* Farthest switches first: what comes to a switch is known when it is passed on. */
static void add_destination(struct flows *flows, uint32_t to)
{
    uint32_t found = ic_network_search(flows->network, to, flows->hops, flows->order);
    enter(flows, to);
    while (found-- > 0)
        pass(flows, flows->order[found], to);
}

/* ---- waits ---- */
static double wait(double load, double squares)
{
    return load > 0 && load < 1 ? (load - squares / load) / (2 * (1 - load)) : 0;
}

struct output {
    double load, squares; /* of one link: the sum over its inputs, and of their squares */
    double flow;          /* of all links that it stands for */
};

/* The last output stands for the ejection links of all hosts there, the last input for their
 * injection links. */
static struct output measure_output(struct flows *flows, uint32_t at, uint32_t out, double scale)
{
    struct output output = {0, 0, 0};
    uint32_t own = ports_of(flows, at);
    double hosts = flows->hosts_at[at], links = out < own ? 1 : hosts;
    for (uint32_t in = 0; in <= own && links > 0; in++) {
        double flow = scale * *pair(flows, at, in, out), each = flow / links;
        output.flow += flow;
        output.load += each;
        output.squares += in < own ? each * each : (hosts > 0 ? each * each / hosts : 0);
    }
    return output;
}

static void keep_fullest(struct ic_packets_model *model, const struct flows *flows, uint32_t at,
                         uint32_t out, double load)
{
    const struct ic_network *network = flows->network;
    if (load <= model->fullest.load)
        return;
    model->fullest =
        (struct ic_channel_record){.from = at, .to = at, .what = "ejection", .load = load};
    if (out < ports_of(flows, at)) {
        model->fullest.what = "link";
        model->fullest.to = network->to[network->first[at] + out];
    }
}

/* Share of packets that wait although they could choose: all others found a port that was free, or
 * with less backlog. */
static double choosing(struct flows *flows, uint32_t at, uint32_t out, double load)
{
    uint32_t own = ports_of(flows, at);
    double all = 0, waiting = 0, busy = 1;
    if (flows->config->routing != IC_ADAPTIVE || out == own)
        return 1;
    for (uint32_t ports = 1; ports <= own; ports++, busy *= load) {
        double flow = *choice(flows, at, out, ports);
        all += flow;
        waiting += flow * busy;
    }
    return all > 0 ? waiting / all : 1;
}

/* Mean wait of a packet in the network, in serial times. */
static double add_waits(struct flows *flows, struct ic_packets_model *model)
{
    double scale = flows->config->load, waits = 0;
    for (uint32_t at = 0; at < flows->network->switches; at++)
        for (uint32_t out = 0; out <= ports_of(flows, at); out++) {
            struct output output = measure_output(flows, at, out, scale);
            keep_fullest(model, flows, at, out, output.load);
            waits += output.flow * wait(output.load, output.squares) *
                     choosing(flows, at, out, output.load);
        }
    return waits / (scale * flows->total);
}

static gmc_status solve(struct flows *flows, struct ic_packets_model *model, char *error)
{
    const struct ic_packets_config *config = flows->config;
    double serial = ic_packet_serial_ns(&config->timing);
    for (uint32_t to = 0; to < flows->network->switches; to++)
        if (flows->hosts_at[to] > 0)
            add_destination(flows, to);
    if (flows->total <= 0)
        return ic_refuse(error, "no host sends: with this pattern each would send to itself");
    *model = (struct ic_packets_model){
        .mean_hops = flows->hop_sum / flows->total,
        .fullest = {.what = "injection", .load = config->load},
    };
    double waits = add_waits(flows, model);
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
    struct flows flows;
    gmc_status status = ic_packets_check(config, error);
    if (status != GMC_OK)
        return status;
    status = prepare(&flows, config);
    if (status == GMC_OK)
        status = solve(&flows, model, error);
    release(&flows);
    return status;
}
