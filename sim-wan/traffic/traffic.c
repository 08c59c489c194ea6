/* SPDX-License-Identifier: BSD-2-Clause */
/* Background traffic; see traffic.h. */
#include "sim-wan/traffic/traffic.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "sim-wan/traffic/law.h"
#include "sim-wan/traffic/tcp_source.h"
#include "sim-wan/traffic/variate.h"

/* Time while on is a clock of its own, so that spells and pauses lose no part of a packet. */
struct sim_flow {
    struct sim_traffic *traffic;
    uint64_t id;
    struct sim_traffic_config config;
    struct sim_event event; /* the next packet */
    struct gmc_prng prng;
    gmc_time at;        /* of the next packet */
    gmc_duration spell; /* what is left of it then */
    uint64_t bytes;     /* sent since bytes took whole seconds, the next packet too */
    struct sim_traffic_counters count;
    struct sim_tcp_source *tcp; /* NULL: none; it has its own events */
};

/* ---- when packets go out ---- */
static gmc_duration draw(struct sim_flow *flow, gmc_duration mean)
{
    if (flow->config.kind == SIM_TRAFFIC_PARETO)
        return sim_draw_pareto(&flow->prng, mean, flow->config.pareto_shape_milli);
    return sim_draw_exponential(&flow->prng, mean);
}

/* Between two packets of a steady rate: the difference of sums, so that
 * rounding does not add up. */
static gmc_duration steady_gap(struct sim_flow *flow)
{
    const struct sim_traffic_config *config = &flow->config;
    gmc_duration before = gmc_duration_of_bytes(flow->bytes, config->rate_bps);
    flow->bytes += config->packet_bytes;
    gmc_duration after = gmc_duration_of_bytes(flow->bytes, config->rate_bps);
    if (flow->bytes * 8 % config->rate_bps == 0)
        flow->bytes = 0;
    return after - before;
}

static bool has_spells(const struct sim_flow *flow)
{
    return flow->config.kind == SIM_TRAFFIC_ONOFF || flow->config.kind == SIM_TRAFFIC_PARETO;
}

/* Lets `gap` of time while on pass. */
static void pass(struct sim_flow *flow, gmc_duration gap)
{
    while (has_spells(flow) && flow->spell < gap && flow->at < flow->config.stop) {
        gap -= flow->spell;
        flow->at = gmc_time_add(flow->at, flow->spell);
        flow->at = gmc_time_add(flow->at, draw(flow, flow->config.off));
        flow->spell = draw(flow, flow->config.on);
    }
    flow->spell = gmc_time_sub(flow->spell, gap);
    flow->at = gmc_time_add(flow->at, gap);
}

static void schedule(struct sim_flow *flow)
{
    gmc_duration gap = steady_gap(flow);
    if (flow->config.kind == SIM_TRAFFIC_POISSON)
        gap = sim_draw_exponential(&flow->prng, gap);
    pass(flow, gap);
    sim_engine_at(flow->traffic->engine, &flow->event,
                  flow->at < flow->config.stop ? flow->at : GMC_TIME_NEVER);
}

static void send_packet(struct sim_event *event, gmc_time now)
{
    struct sim_flow *flow = SIM_OWNER(event, struct sim_flow, event);
    struct sim_net *net = flow->traffic->net;
    struct sim_packet *packet = sim_packet_new(&net->pool, 0);
    (void)now;
    packet->from = flow->config.from;
    packet->to = flow->config.to;
    packet->proto = SIM_PROTO_PLAIN;
    packet->wire_bytes = flow->config.packet_bytes;
    packet->ecn = (uint8_t)flow->config.ecn;
    sim_packet_segment(packet)->connection = flow->id;
    flow->count.sent_packets++;
    flow->count.sent_bytes += packet->wire_bytes;
    schedule(flow);
    sim_net_send(net, packet);
}

/* ---- sources ---- */
void sim_traffic_init(struct sim_traffic *traffic, struct sim_engine *engine, struct sim_net *net,
                      const struct gmc_prng *prng)
{
    *traffic = (struct sim_traffic){.engine = engine, .net = net, .prng = *prng};
}

void sim_traffic_fini(struct sim_traffic *traffic)
{
    for (size_t i = 0; i < traffic->count; i++) {
        sim_engine_cancel(traffic->engine, &traffic->flows[i]->event);
        if (traffic->flows[i]->tcp != NULL)
            sim_tcp_source_free(traffic->flows[i]->tcp);
        free(traffic->flows[i]);
    }
    free(traffic->flows);
}

static gmc_status refuse(char *error, const char *what, const char *right)
{
    snprintf(error, SIM_TRAFFIC_ERROR_MAX, "%s; %s", what, right);
    return GMC_ERR_LIMIT;
}

static bool is_tcp(const struct sim_traffic_config *config)
{
    return config->kind == SIM_TRAFFIC_CUBIC || config->kind == SIM_TRAFFIC_BBR;
}

gmc_status sim_traffic_check(const struct sim_traffic_config *config, char *error)
{
    bool has_spells = config->kind == SIM_TRAFFIC_ONOFF || config->kind == SIM_TRAFFIC_PARETO;
    if (config->from == config->to)
        return refuse(error, "traffic from a host to itself", "it goes from one to another");
    if (is_tcp(config) && (config->rate_bps != 0 || config->ecn != SIM_ECN_NOT_ECT))
        return refuse(error, "a TCP with a rate or with ECN",
                      "it sends what the path carries, and takes no marks");
    if (is_tcp(config) && config->packet_bytes <= SIM_TCP_OVERHEAD_BYTES)
        return refuse(error, "bad packet size", "a TCP's is 53 to 65535 bytes, heads included");
    if (!is_tcp(config) && config->rate_bps == 0)
        return refuse(error, "traffic without a rate", "it is above 0 bit/s");
    if (config->packet_bytes <= SIM_UDP_OVERHEAD_BYTES || config->packet_bytes > UINT16_MAX)
        return refuse(error, "bad packet size", "it is 29 to 65535 bytes, heads included");
    if (config->stop <= config->start)
        return refuse(error, "traffic that stops before it starts", "the stop is later");
    if (has_spells && (config->on < SIM_TRAFFIC_SPELL_MIN || config->off < SIM_TRAFFIC_SPELL_MIN ||
                       config->on > SIM_VARIATE_MEAN_MAX || config->off > SIM_VARIATE_MEAN_MAX))
        return refuse(error, "bad mean of on or off", "each is 1 us to 1000000 s");
    if (config->kind == SIM_TRAFFIC_PARETO && (config->pareto_shape_milli < SIM_PARETO_SHAPE_MIN ||
                                               config->pareto_shape_milli > SIM_PARETO_SHAPE_MAX))
        return refuse(error, "bad Pareto shape", "it is 1.001 to 100");
    return GMC_OK;
}

/* On/off sources begin on or off, as likely as they are found so later. */
static void begin(struct sim_flow *flow)
{
    const struct sim_traffic_config *config = &flow->config;
    flow->at = config->start;
    if (!has_spells(flow))
        return;
    if (gmc_prng_below(&flow->prng, config->on + config->off) < config->off)
        flow->at = gmc_time_add(flow->at, draw(flow, config->off));
    flow->spell = draw(flow, config->on);
}

static void begin_tcp(struct sim_flow *flow)
{
    bool is_cubic = flow->config.kind == SIM_TRAFFIC_CUBIC;
    struct sim_tcp_source_config tcp = {.from = flow->config.from,
                                        .to = flow->config.to,
                                        .law = is_cubic ? &sim_law_cubic : &sim_law_bbr,
                                        .paced = !is_cubic,
                                        .packet_bytes = flow->config.packet_bytes,
                                        .start = flow->config.start,
                                        .stop = flow->config.stop};
    flow->tcp = sim_tcp_source_new(flow->traffic->engine, flow->traffic->net, flow->id, &tcp,
                                   &flow->count, &flow->prng);
}

size_t sim_traffic_add(struct sim_traffic *traffic, const struct sim_traffic_config *config)
{
    char error[SIM_TRAFFIC_ERROR_MAX];
    GMC_ASSERT(sim_traffic_check(config, error) == GMC_OK);
    GMC_ASSERT(config->from < traffic->net->host_count && config->to < traffic->net->host_count);
    struct sim_flow *flow = sim_calloc(1, sizeof(*flow));
    flow->traffic = traffic;
    flow->id = traffic->count;
    flow->config = *config;
    gmc_prng_fork_nth(&traffic->prng, "flow", flow->id, &flow->prng);
    sim_event_init(&flow->event, send_packet);
    traffic->flows =
        sim_reserve(traffic->flows, traffic->count, &traffic->capacity, sizeof(struct sim_flow *));
    traffic->flows[traffic->count++] = flow;
    if (is_tcp(config)) {
        begin_tcp(flow);
    } else {
        begin(flow);
        schedule(flow);
    }
    return flow->id;
}

const struct sim_traffic_counters *sim_traffic_counters(const struct sim_traffic *traffic,
                                                        size_t flow)
{
    GMC_ASSERT(flow < traffic->count);
    return &traffic->flows[flow]->count;
}

void sim_traffic_arrived(struct sim_traffic *traffic, const struct sim_packet *packet)
{
    GMC_ASSERT(sim_packet_segment_of(packet)->connection < traffic->count);
    struct sim_flow *flow = traffic->flows[sim_packet_segment_of(packet)->connection];
    if (flow->tcp != NULL) {
        sim_tcp_source_arrived(flow->tcp, packet);
        return;
    }
    flow->count.received_packets++;
    flow->count.received_bytes += packet->wire_bytes;
}
