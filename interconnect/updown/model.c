/* SPDX-License-Identifier: BSD-2-Clause */
/* From flows to channels, in the order of their numbers. */
#include "interconnect/updown/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interconnect/updown/cube.h"

/* From a channel to one that follows. */
struct step {
    uint32_t next; /* its place ahead */
    double part;   /* of what the channel carries */
    double others; /* that, by what others carry of what the next one does */
};

/* What steps read of a channel, at one load: a w, B. Those of a node are side by side, as steps of
 * a channel go to them. */
struct ahead {
    double wait, blocking;
};

struct channel {
    double flow;
    size_t first_step;   /* steps of channel c: first_step of c to that of c + 1 */
    size_t first_choice; /* its messages by channels to choose from, 1 and more; shares */
    uint32_t choices;
    uint32_t place; /* ahead */
    /* of one load */
    double rho, blocking, held; /* rho_c, B_c, f_c */
    double wait, turns;         /* w, and what it is more in turns */
};

/* A load of a configuration; vcs 0: none so far. */
struct bound {
    struct ic_updown_config config;
    double flits;
    uint32_t channel; /* that is full then */
};

struct ic_updown_flows {
    uint32_t count, nodes; /* channels */
    struct channel *channels;
    uint32_t *solved, solved_count; /* channels that others are not like, in their order */
    struct ahead *ahead;            /* by node and output; then injection */
    struct step *steps;
    double *shares;
    size_t step_count, share_count;
    double *sending; /* by node: 1, or 0 for nodes that would send to themselves */
    double senders, hops;
    double distance; /* of all pairs of nodes */
    uint32_t longest;
    uint32_t fullest;
    /* In flits per node and cycle, where messages' length does not matter. */
    struct bound too_much; /* the least that was so far */
    struct bound full;     /* saturation, as it was found last */
};

struct search {
    const struct ic_wh_network *network;
    const struct ic_updown *updown;
    struct ic_updown_pairs pairs;
};

static uint32_t ports_of(const struct search *search, uint32_t at)
{
    return search->updown->first[at + 1] - search->updown->first[at];
}

static size_t place_of(const struct search *search, uint32_t at, uint32_t row, uint32_t column)
{
    return search->pairs.square[at] + (size_t)row * (ports_of(search, at) + 1) + column;
}

/* ---- channels and their steps ---- */
/* Of an output of a node, which may be ejection; of an input, which may be injection. */
static uint32_t output_channel(const struct search *search, uint32_t at, uint32_t out)
{
    const struct ic_updown *updown = search->updown;
    return out < ports_of(search, at) ? updown->links[updown->first[at] + out] : at;
}

static uint32_t input_channel(const struct search *search, uint32_t at, uint32_t in)
{
    const struct ic_updown *updown = search->updown;
    if (in < ports_of(search, at))
        return updown->links[search->pairs.reverse[updown->first[at] + in]];
    return updown->nodes + updown->first[updown->nodes] + at;
}

static void place_channels(const struct search *search, struct ic_updown_flows *flows)
{
    uint32_t place = 0;
    for (uint32_t at = 0; at < flows->nodes; at++)
        for (uint32_t out = 0; out <= ports_of(search, at); out++)
            flows->channels[output_channel(search, at, out)].place = place++;
    for (uint32_t at = 0; at < flows->nodes; at++)
        flows->channels[input_channel(search, at, ports_of(search, at))].place = place++;
}

static void sum_flows(const struct search *search, struct ic_updown_flows *flows)
{
    for (uint32_t at = 0; at < flows->nodes; at++)
        for (uint32_t in = 0; in <= ports_of(search, at); in++)
            for (uint32_t out = 0; out <= ports_of(search, at); out++) {
                double flow = search->pairs.flows[place_of(search, at, in, out)];
                flows->channels[output_channel(search, at, out)].flow += flow;
                if (in == ports_of(search, at)) {
                    flows->channels[input_channel(search, at, in)].flow += flow;
                    flows->sending[at] += flow;
                    flows->senders += flow;
                }
            }
}

static void keep_steps(const struct search *search, struct ic_updown_flows *flows, uint32_t at,
                       uint32_t in)
{
    uint32_t c = input_channel(search, at, in);
    flows->channels[c].first_step = flows->step_count;
    for (uint32_t out = 0; out <= ports_of(search, at); out++) {
        double flow = search->pairs.flows[place_of(search, at, in, out)];
        uint32_t next = output_channel(search, at, out);
        if (flow <= 0)
            continue;
        double part = flow / flows->channels[c].flow, share = flow / flows->channels[next].flow;
        flows->steps[flows->step_count++] =
            (struct step){flows->channels[next].place, part, part * (1 - share)};
    }
}

static void keep_choices(const struct search *search, struct ic_updown_flows *flows, uint32_t at,
                         uint32_t out)
{
    struct channel *channel = &flows->channels[output_channel(search, at, out)];
    channel->first_choice = flows->share_count;
    for (uint32_t k = 0; k < ports_of(search, at) && channel->flow > 0; k++) {
        double flow = search->pairs.choices[place_of(search, at, k, out)];
        flows->shares[flows->share_count + k] = flow / channel->flow;
        if (flow > 0)
            channel->choices = k + 1;
    }
    flows->share_count += channel->choices;
}

/* In a cube: ejection by bits of a node, links, injection. */
static uint32_t kind_of(const struct search *search, uint32_t c)
{
    uint32_t nodes = search->updown->nodes, kinds = search->pairs.cube + 1;
    uint32_t links = search->updown->first[nodes];
    if (c < nodes)
        return (uint32_t)__builtin_popcount(c);
    if (c >= nodes + links)
        return 3 * kinds + (uint32_t)__builtin_popcount(c - nodes - links);
    return kinds +
           ic_updown_cube_kind(search->network->from[c] - nodes, search->network->to[c] - nodes);
}

/* Where channels are alike, the first one stands for all: steps lead to it, and what is sent is
 * sent there. */
static void join_alike(const struct search *search, struct ic_updown_flows *flows)
{
    uint32_t first[4 * (IC_UPDOWN_PORTS_MAX + 1)];
    uint32_t injection = flows->count - flows->nodes;
    memset(first, 0xff, sizeof(first));
    for (uint32_t c = 0; c < flows->count; c++) {
        uint32_t *other = search->pairs.cube > 0 ? &first[kind_of(search, c)] : NULL;
        if (other == NULL || *other == UINT32_MAX) {
            flows->solved[flows->solved_count++] = c;
            if (other != NULL)
                *other = c;
            continue;
        }
        flows->channels[c].place = flows->channels[*other].place;
        if (c >= injection) {
            flows->sending[*other - injection] += flows->sending[c - injection];
            flows->sending[c - injection] = 0;
        }
    }
}

/* Steps stand by channel: ejection has none, then channels as they are numbered. */
static void keep_all(const struct search *search, struct ic_updown_flows *flows)
{
    const struct ic_updown *updown = search->updown;
    uint32_t links = updown->first[updown->nodes];
    place_channels(search, flows);
    sum_flows(search, flows);
    join_alike(search, flows);
    for (uint32_t c = flows->nodes; c < flows->nodes + links; c++) {
        uint32_t from = search->network->from[c] - flows->nodes;
        uint32_t to = search->network->to[c] - flows->nodes, out = 0;
        while (updown->ends[updown->first[from] + out] != to)
            out++;
        keep_choices(search, flows, from, out);
        keep_steps(search, flows, to,
                   search->pairs.reverse[updown->first[from] + out] - updown->first[to]);
        flows->hops += flows->channels[c].flow;
    }
    for (uint32_t at = 0; at < flows->nodes; at++)
        keep_steps(search, flows, at, ports_of(search, at));
    flows->channels[flows->count].first_step = flows->step_count;
    flows->hops = 2 + flows->hops / flows->senders;
}

static struct ic_updown_flows *make_room(const struct search *search)
{
    size_t squares = search->pairs.squares;
    struct ic_updown_flows *flows = calloc(1, sizeof(*flows));
    if (flows == NULL)
        return NULL;
    *flows = (struct ic_updown_flows){
        .count = search->network->channels,
        .nodes = search->updown->nodes,
        .distance = search->pairs.distance,
        .longest = search->pairs.longest,
        .channels = calloc((size_t)search->network->channels + 1, sizeof(struct channel)),
        .solved = calloc(search->network->channels, sizeof(uint32_t)),
        .ahead = calloc(search->network->channels, sizeof(struct ahead)),
        .steps = calloc(squares, sizeof(struct step)),
        .shares = calloc(squares, sizeof(double)),
        .sending = calloc(search->updown->nodes, sizeof(double)),
    };
    if (flows->channels == NULL || flows->solved == NULL || flows->ahead == NULL ||
        flows->steps == NULL || flows->shares == NULL || flows->sending == NULL) {
        ic_updown_flows_free(flows);
        return NULL;
    }
    return flows;
}

gmc_status ic_updown_flows_new(const struct ic_wh_network *network,
                               const struct ic_traffic *traffic, struct ic_updown_flows **out,
                               char *error)
{
    const struct ic_updown *updown = network->ctx;
    struct search search = {.network = network, .updown = updown};
    struct ic_updown_flows *flows = NULL;
    gmc_status status = ic_traffic_check_senders(traffic, error);
    if (status != GMC_OK)
        return status;
    status = ic_updown_pairs_init(&search.pairs, updown, traffic);
    if (status == GMC_OK && (flows = make_room(&search)) == NULL)
        status = GMC_ERR_NOMEM;
    if (status == GMC_OK) {
        keep_all(&search, flows);
        *out = flows;
    }
    ic_updown_pairs_fini(&search.pairs);
    return status;
}

void ic_updown_flows_free(struct ic_updown_flows *flows)
{
    if (flows == NULL)
        return;
    free(flows->channels);
    free(flows->solved);
    free(flows->ahead);
    free(flows->steps);
    free(flows->shares);
    free(flows->sending);
    free(flows);
}

size_t ic_updown_flows_bytes(const struct ic_updown_flows *flows)
{
    size_t each = sizeof(*flows->channels) + sizeof(*flows->solved) + sizeof(*flows->ahead);
    return flows->count * each + flows->step_count * sizeof(*flows->steps) +
           flows->share_count * sizeof(*flows->shares);
}

/* ---- one load ---- */
/* Much quicker than pow() for the few virtual channels that there are. */
static double power(double base, uint32_t exponent)
{
    double product = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            product *= base;
    return product;
}

/* a: the share of w that messages wait for. */
static double taken(const struct ic_updown_flows *flows, const struct channel *channel,
                    uint32_t vcs)
{
    double full = power(channel->rho, vcs), others = 1, sum = 0;
    for (uint32_t k = 0; k < channel->choices; k++, others *= full)
        sum += flows->shares[channel->first_choice + k] * others;
    return channel->choices > 0 ? 1 - channel->held * (1 - sum) : 1;
}

/* T and rho, which depend on each other: from no load up to the first that fits; false: none. */
static bool hold(struct channel *channel, uint32_t vcs, double flits, double rate)
{
    double time = flits, before;
    do {
        before = time;
        channel->rho = rate * time;
        if (!(channel->rho < 1))
            return false;
        channel->held = power(channel->rho, vcs - 1);
        time = flits + channel->held * channel->blocking;
    } while (time - before > 1e-12 * time);
    double over = time - flits;
    channel->wait = rate * (time * time + over * over) / (2 * (1 - channel->rho));
    channel->turns = (1 - channel->held) * rate * time * time / (2 * (1 - channel->rho));
    return true;
}

/* False when a channel is held all the time, which is then the fullest. */
static bool solve(struct ic_updown_flows *flows, const struct ic_updown_config *config, double load)
{
    uint32_t first_injection = flows->count - flows->nodes;
    for (uint32_t s = 0; s < flows->solved_count; s++) {
        uint32_t c = flows->solved[s];
        struct channel *channel = &flows->channels[c];
        bool is_end = c < flows->nodes || c >= first_injection;
        double blocking = 0;
        for (size_t i = channel->first_step; c >= flows->nodes && i < channel[1].first_step; i++) {
            const struct step *step = &flows->steps[i];
            const struct ahead *next = &flows->ahead[step->next];
            blocking += step->others * next->wait + step->part * next->blocking;
        }
        channel->blocking = blocking;
        if (!hold(channel, config->vcs, config->flits, load * channel->flow)) {
            flows->fullest = c;
            return false;
        }
        if (is_end ? !config->ends_in_order : !config->links_in_order)
            channel->wait += channel->turns;
        flows->ahead[channel->place] =
            (struct ahead){taken(flows, channel, config->vcs) * channel->wait, channel->blocking};
    }
    return true;
}

/* All times are so many times the flits of a message. */
static bool is_of(const struct bound *bound, const struct ic_updown_config *config)
{
    const struct ic_updown_config *of = &bound->config;
    return of->vcs == config->vcs && of->links_in_order == config->links_in_order &&
           of->ends_in_order == config->ends_in_order;
}

struct ic_updown_latency ic_updown_model(struct ic_updown_flows *flows,
                                         const struct ic_updown_config *config, double load)
{
    struct ic_updown_latency out = {.hops = flows->hops,
                                    .distance = flows->distance,
                                    .longest = flows->longest};
    double flits = load * config->flits;
    bool is_known = is_of(&flows->too_much, config);
    out.is_saturated = (is_known && flits >= flows->too_much.flits) || !solve(flows, config, load);
    if (out.is_saturated) {
        double least = is_known ? fmin(flits, flows->too_much.flits) : flits;
        flows->too_much = (struct bound){.config = *config, .flits = least};
        return out;
    }
    for (uint32_t at = 0; at < flows->nodes; at++) {
        const struct channel *injection = &flows->channels[flows->count - flows->nodes + at];
        double part = flows->sending[at] / flows->senders;
        out.network += part * (injection->blocking + (1 - injection->held) * injection->wait);
        out.wait += part * injection->held * injection->wait;
    }
    out.network += flows->hops + config->flits - 1;
    out.latency = out.network + out.wait;
    return out;
}

static void find_saturation(struct ic_updown_flows *flows, const struct ic_updown_config *config)
{
    struct bound *full = &flows->full;
    double least = 0, most = 1;
    *full = (struct bound){.config = *config};
    full->config.flits = 1;
    while (solve(flows, &full->config, most))
        most *= 2;
    while (most - least > 1e-9 * most) {
        double middle = (least + most) / 2;
        if (solve(flows, &full->config, middle)) {
            least = middle;
        } else {
            most = middle;
            full->channel = flows->fullest;
        }
    }
    full->flits = least;
}

double ic_updown_saturation(struct ic_updown_flows *flows, const struct ic_updown_config *config,
                            uint32_t *channel)
{
    if (!is_of(&flows->full, config))
        find_saturation(flows, config);
    *channel = flows->full.channel;
    return flows->full.flits / config->flits;
}
