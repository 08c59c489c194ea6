/* SPDX-License-Identifier: BSD-2-Clause */
/* Driving the flit engine. */
#include "interconnect/wormhole/run.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

/* Backlogs of a load that is carried differ by chance, the more the larger they are. */
#define GROWTH 0.015 /* of the messages that were sent */
#define CHANCE 4.0   /* times the root of the backlog */
#define LOOKS 3
#define WARMUP_MOST 16u /* times what is measured */

struct simulation {
    const struct ic_wh_network *network;
    const struct ic_wh_load *load;
    const struct ic_run *run;
    struct ic_wh_engine *engine;
    struct ic_wh_arrivals arrivals;
    struct gmc_prng destinations;
    uint64_t next_cycle; /* of the next message */
    uint32_t next_node;
    uint64_t sent; /* in the phase, as all that follow */
    uint64_t delivered, hops;
    uint64_t begin;        /* cycle */
    uint64_t wanted, told; /* deliveries of the run: all, and when progress was told last */
    uint64_t backlog_before, backlog_most; /* when measuring began; what floods the network */
    bool is_measuring, is_watching;
    struct ic_warmup warmup;
    struct ic_mean latency, network_latency;
};

static uint32_t destination(struct simulation *sim, uint32_t from)
{
    const struct ic_traffic *traffic = &sim->load->traffic;
    if (sim->load->has_own && traffic->pattern == IC_TRAFFIC_UNIFORM)
        return (uint32_t)gmc_prng_below(&sim->destinations, traffic->hosts);
    return ic_traffic_draw(traffic, from, &sim->destinations);
}

static gmc_status send_arrivals(struct simulation *sim)
{
    while (sim->next_cycle <= ic_wh_engine_now(sim->engine)) {
        uint32_t from = sim->next_node;
        uint32_t to = destination(sim, from);
        if (to != from || sim->load->has_own) {
            gmc_status status = ic_wh_engine_send(sim->engine, from, to);
            if (status != GMC_OK)
                return status;
            sim->sent++;
        }
        sim->next_cycle = ic_wh_arrivals_next(&sim->arrivals, &sim->next_node);
    }
    return GMC_OK;
}

static void record(const struct simulation *sim, const struct ic_wh_message *message)
{
    double cycle = sim->load->cycle > 0 ? sim->load->cycle : 1;
    struct ic_message_record record = {.number = message->number,
                                       .from = message->flow.from,
                                       .to = message->flow.to,
                                       .hops = message->hops,
                                       .created = cycle * (double)message->created,
                                       .entered = cycle * (double)message->entered,
                                       .delivered = cycle * (double)message->delivered};
    sim->run->on_message(sim->run->ctx, &record);
}

static void take_message(struct simulation *sim, const struct ic_wh_message *message)
{
    double latency = (double)(message->delivered - message->created);
    sim->delivered++;
    if (sim->is_watching)
        return;
    if (!sim->is_measuring) {
        ic_warmup_add(&sim->warmup, latency);
        return;
    }
    sim->hops += message->hops;
    ic_mean_add(&sim->latency, latency);
    ic_mean_add(&sim->network_latency, (double)(message->delivered - message->entered));
    if (sim->run->on_message != NULL)
        record(sim, message);
}

static bool is_flooded(const struct simulation *sim)
{
    return ic_wh_engine_backlog(sim->engine) > sim->backlog_most;
}

/* One cycle, after those in which nothing would have happened. */
static gmc_status cycle(struct simulation *sim)
{
    struct ic_wh_message message;
    if (ic_wh_engine_is_idle(sim->engine)) {
        GMC_ASSERT(ic_wh_engine_backlog(sim->engine) == 0); /* otherwise it is a deadlock */
        if (sim->next_cycle > ic_wh_engine_now(sim->engine))
            ic_wh_engine_skip(sim->engine, sim->next_cycle);
    }
    gmc_status status = send_arrivals(sim);
    if (status == GMC_OK)
        status = ic_wh_engine_step(sim->engine);
    while (status == GMC_OK && ic_wh_engine_next(sim->engine, &message))
        take_message(sim, &message);
    return status;
}

/* About every hundredth of the measured messages. */
static gmc_status tell(struct simulation *sim, char *error)
{
    if (sim->run->on_progress == NULL || sim->delivered < sim->told + sim->wanted / 100 + 1)
        return GMC_OK;
    sim->told = sim->delivered;
    double share = sim->is_measuring ? (double)sim->delivered / (double)sim->wanted : 0;
    if (sim->run->on_progress(sim->run->ctx, share < 1 ? share : 1))
        return GMC_OK;
    ic_refuse(error, "ended before it was done");
    return GMC_ERR_STATE;
}

static gmc_status warm_up(struct simulation *sim, uint64_t cycles, char *error)
{
    gmc_status status = GMC_OK;
    while (status == GMC_OK && !is_flooded(sim) &&
           (ic_warmup_state(&sim->warmup) == IC_WARMUP_GOING ||
            ic_wh_engine_now(sim->engine) < cycles)) {
        status = cycle(sim);
        if (status == GMC_OK)
            status = tell(sim, error);
    }
    return status;
}

static gmc_status measure(struct simulation *sim, char *error)
{
    gmc_status status = GMC_OK;
    sim->is_measuring = true;
    sim->sent = sim->delivered = sim->told = 0;
    sim->begin = ic_wh_engine_now(sim->engine);
    ic_wh_engine_clear_carried(sim->engine);
    while (status == GMC_OK && sim->delivered < sim->wanted && !is_flooded(sim)) {
        status = cycle(sim);
        if (status == GMC_OK)
            status = tell(sim, error);
    }
    return status;
}

static uint64_t carried(const struct simulation *sim)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < sim->network->channels; c++)
        sum += ic_wh_engine_carried(sim->engine, c);
    return sum;
}

static void record_channels(const struct simulation *sim, uint64_t cycles)
{
    const struct ic_wh_network *network = sim->network;
    for (uint32_t c = 0; c < network->channels && sim->run->on_channel != NULL; c++) {
        uint32_t from = network->from[c], to = network->to[c];
        struct ic_channel_record record = {.from = network->label(network->ctx, from),
                                           .to = network->label(network->ctx,
                                                                to != IC_WH_NONE ? to : from),
                                           .what = from < network->queues ? "injection"
                                                   : to == IC_WH_NONE     ? "ejection"
                                                                          : "link",
                                           .load = (double)ic_wh_engine_carried(sim->engine, c) /
                                                   (double)cycles};
        sim->run->on_channel(sim->run->ctx, &record);
    }
}

/* Messages that were sent, but not delivered, since sim->begin. */
static double grown(const struct simulation *sim)
{
    return (double)ic_wh_engine_backlog(sim->engine) - (double)sim->backlog_before;
}

static bool is_growing(const struct simulation *sim)
{
    return is_flooded(sim) ||
           grown(sim) > GROWTH * (double)sim->sent + CHANCE * sqrt((double)sim->backlog_before);
}

static double enough(const struct simulation *sim)
{
    return CHANCE * sqrt((double)sim->backlog_before) / GROWTH;
}

/* Whether they grow cannot be told yet. */
static bool is_open(const struct simulation *sim)
{
    if (is_flooded(sim))
        return false;
    return (double)sim->sent < enough(sim) ||
           (sim->sent < sim->run->watched && grown(sim) > GROWTH * (double)sim->sent);
}

/* Few messages cannot tell growth from chance, nor from a warm-up that was short as well: it goes
 * on without measuring, and what is saturated grows each time that it is looked at. */
static gmc_status watch(struct simulation *sim, char *error)
{
    gmc_status status = GMC_OK;
    bool is_short = is_open(sim);
    sim->is_watching = true;
    for (int looks = 0; is_short && looks < LOOKS && status == GMC_OK; looks++) {
        if (looks > 0) {
            sim->backlog_before = ic_wh_engine_backlog(sim->engine);
            sim->sent = 0;
        }
        while (status == GMC_OK && is_open(sim)) {
            status = cycle(sim);
            if (status == GMC_OK)
                status = tell(sim, error);
        }
        is_short = is_growing(sim) && !is_flooded(sim);
    }
    return status;
}

/* What was seen since sim->begin. */
static void summarise(const struct simulation *sim, struct ic_wh_figures *figures)
{
    uint64_t cycles = ic_wh_engine_now(sim->engine) - sim->begin;
    double capacity = (double)sim->network->nodes * (double)cycles;
    figures->latency = ic_mean_value(&sim->latency);
    figures->network = ic_mean_value(&sim->network_latency);
    figures->cycles = cycles;
    figures->offered = (double)sim->sent / capacity;
    figures->accepted = (double)sim->delivered / capacity;
    figures->flit_hops += carried(sim);
    if (sim->hops > 0)
        figures->hops = (double)sim->hops / (double)sim->delivered;
    record_channels(sim, cycles);
}

/* A run that is flooded while it warms up is not measured: it is saturated, and what it says of
 * loads is that of its warm-up. */
static gmc_status run(struct simulation *sim, const struct ic_wh_options *options,
                      struct ic_wh_figures *figures, char *error)
{
    *figures = (struct ic_wh_figures){0};
    gmc_status status = warm_up(sim, 20 * (uint64_t)options->flits, error);
    if (status == GMC_OK && !is_flooded(sim)) {
        figures->warmup = sim->delivered;
        figures->flit_hops = carried(sim);
        sim->backlog_before = ic_wh_engine_backlog(sim->engine);
        status = measure(sim, error);
    }
    if (status != GMC_OK)
        return status;
    summarise(sim, figures);
    if (!sim->run->only_measures)
        status = watch(sim, error);
    figures->is_saturated = sim->run->only_measures ? is_flooded(sim) : is_growing(sim);
    return status;
}

gmc_status ic_wh_run(const struct ic_wh_network *network, const struct ic_wh_options *options,
                     const struct ic_wh_load *load, const struct ic_run *control,
                     struct ic_wh_figures *figures, char *error)
{
    struct gmc_prng root;
    struct simulation sim = {.network = network, .load = load, .run = control};
    gmc_status status = ic_check_number("load, messages per node and cycle,", load->rate, 1e-12,
                                        load->is_bernoulli ? 1 : 1e6, error);
    if (status == GMC_OK && !load->has_own)
        status = ic_traffic_check_senders(&load->traffic, error);
    if (status != GMC_OK)
        return status;
    GMC_ASSERT(load->traffic.hosts == network->nodes);
    sim.wanted = control->messages > 0 ? control->messages : IC_WH_MESSAGES;
    sim.backlog_most = 64 * (uint64_t)network->nodes + 4096;
    gmc_prng_init(&root, control->seed);
    gmc_prng_fork(&root, "destinations", &sim.destinations);
    ic_wh_arrivals_init(&sim.arrivals, network->nodes, load->rate, load->is_bernoulli, &root);
    sim.next_cycle = ic_wh_arrivals_next(&sim.arrivals, &sim.next_node);
    uint64_t least = 4 * (uint64_t)network->nodes;
    ic_warmup_init(&sim.warmup, least > 1000 ? least : 1000, least + WARMUP_MOST * sim.wanted);
    status = ic_wh_engine_new(network, options, control->seed, &sim.engine);
    if (status != GMC_OK)
        return status;
    status = run(&sim, options, figures, error);
    ic_wh_engine_free(sim.engine);
    return status;
}
