/* SPDX-License-Identifier: BSD-2-Clause */
/* The network: hosts joined by wires; packets hop along the routes of route.c. */
#include "sim-wan/net.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "sim-wan/mem.h"
#include "sim-wan/net_internal.h"
#include "sim-wan/trace.h"

static void lane_deliver(void *ctx, struct sim_lane *lane, struct sim_packet *packet);
static void lane_watch(void *ctx, const struct sim_lane *lane, enum sim_wire_news news,
                       enum sim_drop drop, const struct sim_packet *packet);
static void lane_expect(void *ctx, const struct sim_lane *lane, gmc_time when);
static void lane_pass(void *ctx, struct sim_lane *lane, gmc_time when);
static void lane_settle(void *ctx, struct sim_lane *lane);
static void ahead_of_delivery(void *ctx, const struct sim_lane *lane,
                              const struct sim_packet *first, enum sim_ahead stage);

void sim_net_init(struct sim_net *net, struct sim_engine *engine, const struct sim_net_sink *sink,
                  const struct gmc_prng *prng)
{
    *net = (struct sim_net){.engine = engine, .sink = *sink, .prng = *prng};
    net->lanes = (struct sim_wire_sink){.ctx = net,
                                        .deliver = lane_deliver,
                                        .watch = sink->watch != NULL ? lane_watch : NULL,
                                        .expect = lane_expect,
                                        .pass = lane_pass,
                                        .settle = lane_settle,
                                        .ahead = ahead_of_delivery};
    sim_packet_pool_init(&net->pool);
}

void sim_net_watch_drops_only(struct sim_net *net, bool only_drops)
{
    net->lanes.only_drops = only_drops;
    for (uint32_t i = 0; i < net->host_count; i++)
        sim_transit_review(net, i);
}

void sim_net_fini(struct sim_net *net)
{
    sim_net_forget_routes(net);
    for (size_t i = 0; i < net->wire_count; i++) {
        sim_lane_fini(&net->wires[i]->lanes[0]);
        sim_lane_fini(&net->wires[i]->lanes[1]);
        free(net->wires[i]);
    }
    for (size_t i = 0; i < net->host_count; i++) {
        sim_engine_cancel(net->engine, &net->hosts[i].transit.event);
        free(net->hosts[i].ports);
    }
    free(net->wires);
    free(net->hosts);
    free(net->blocked);
    sim_groups_fini(&net->groups);
    sim_packet_pool_fini(&net->pool);
    *net = (struct sim_net){0};
}

uint32_t sim_net_add_host(struct sim_net *net)
{
    GMC_ASSERT(net->routes == NULL);
    net->hosts = sim_reserve(net->hosts, net->host_count, &net->host_capacity, sizeof(*net->hosts));
    struct sim_net_host *host = &net->hosts[net->host_count];
    *host = (struct sim_net_host){.net = net};
    sim_transit_init(&host->transit);
    for (uint32_t i = 0; i < SIM_RECENT_WAYS; i++)
        host->recent[i] = SIM_NO_HOST;
    return (uint32_t)net->host_count++;
}

static void add_port(struct sim_net_host *host, struct sim_port port)
{
    GMC_ASSERT(host->port_count < SIM_NO_PORT);
    host->ports =
        sim_reserve(host->ports, host->port_count, &host->port_capacity, sizeof(*host->ports));
    host->ports[host->port_count++] = port;
}

uint32_t sim_net_add_wire(struct sim_net *net, uint32_t a, uint32_t b,
                          const struct sim_wire_config *a_to_b,
                          const struct sim_wire_config *b_to_a)
{
    GMC_ASSERT(net->routes == NULL && a != b && a < net->host_count && b < net->host_count);
    uint32_t id = (uint32_t)net->wire_count;
    struct sim_net_wire *wire = sim_calloc(1, sizeof(*wire));
    wire->ends[0] = a;
    wire->ends[1] = b;
    for (uint32_t way = 0; way < 2; way++) {
        struct gmc_prng prng;
        gmc_prng_fork_nth(&net->prng, "lane", id * 2 + way, &prng);
        sim_lane_init(&wire->lanes[way], net->engine, &net->pool, &net->lanes, id * 2 + way,
                      wire->ends[1 - way], way == 0 ? a_to_b : b_to_a, &prng);
    }
    net->wires = sim_reserve(net->wires, net->wire_count, &net->wire_capacity,
                             sizeof(struct sim_net_wire *));
    net->wires[net->wire_count++] = wire;
    add_port(&net->hosts[a], (struct sim_port){&wire->lanes[0], &wire->lanes[1], id, b, 0});
    add_port(&net->hosts[b], (struct sim_port){&wire->lanes[1], &wire->lanes[0], id, a, 1});
    return id;
}

struct sim_lane *sim_net_lane(struct sim_net *net, uint32_t wire, int direction)
{
    GMC_ASSERT(wire < net->wire_count);
    return &net->wires[wire]->lanes[direction];
}

void sim_net_wire_ends(const struct sim_net *net, uint32_t wire, uint32_t *a, uint32_t *b)
{
    *a = net->wires[wire]->ends[0];
    *b = net->wires[wire]->ends[1];
}

uint32_t sim_net_wire_between(const struct sim_net *net, uint32_t a, uint32_t b)
{
    const struct sim_net_host *host = &net->hosts[a];
    for (size_t i = 0; i < host->port_count; i++)
        if (host->ports[i].neighbour == b)
            return host->ports[i].wire;
    return UINT32_MAX;
}

void sim_net_set_wire_up(struct sim_net *net, uint32_t wire, bool up)
{
    sim_lane_set_up(sim_net_lane(net, wire, 0), up);
    sim_lane_set_up(sim_net_lane(net, wire, 1), up);
}

void sim_net_hold_back(struct sim_net *net, uint32_t host, gmc_time when)
{
    const struct sim_net_host *at = &net->hosts[host];
    for (size_t i = 0; i < at->port_count; i++)
        sim_lane_hold_back(at->ports[i].lane, when);
}

/* ---- the firewall ---- */
static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* Index of the first pair not below key. */
static size_t find_pair(const struct sim_net *net, uint64_t key)
{
    size_t low = 0, high = net->blocked_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (net->blocked[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sim_net_is_udp_blocked(const struct sim_net *net, uint32_t a, uint32_t b)
{
    size_t i = find_pair(net, pair_key(a, b));
    return i < net->blocked_count && net->blocked[i] == pair_key(a, b);
}

void sim_net_block_udp(struct sim_net *net, uint32_t a, uint32_t b, bool blocked)
{
    if (sim_net_is_udp_blocked(net, a, b) == blocked)
        return;
    size_t i = find_pair(net, pair_key(a, b));
    if (!blocked) {
        net->blocked_count--;
        memmove(&net->blocked[i], &net->blocked[i + 1],
                (net->blocked_count - i) * sizeof(*net->blocked));
        return;
    }
    net->blocked = sim_reserve(net->blocked, net->blocked_count, &net->blocked_capacity,
                               sizeof(*net->blocked));
    memmove(&net->blocked[i + 1], &net->blocked[i],
            (net->blocked_count - i) * sizeof(*net->blocked));
    net->blocked[i] = pair_key(a, b);
    net->blocked_count++;
}

uint32_t sim_net_payload_max(const struct sim_net *net, uint32_t host)
{
    const struct sim_net_host *at = &net->hosts[host];
    uint32_t mtu = 0;
    for (size_t i = 0; i < at->port_count; i++) {
        const struct sim_port *port = &at->ports[i];
        uint32_t of_wire = port->lane->config.mtu;
        mtu = of_wire > mtu ? of_wire : mtu;
    }
    return mtu > SIM_UDP_OVERHEAD_BYTES ? mtu - SIM_UDP_OVERHEAD_BYTES : 0;
}

/* ---- packets ---- */
void sim_net_forward(struct sim_net *net, uint32_t at, struct sim_packet *packet, gmc_time when)
{
    if ((packet->to & SIM_TO_GROUP) != 0) {
        sim_group_forward(net, at, packet);
        return;
    }
    uint16_t port = sim_net_port_to(net, at, packet->to);
    if (port == SIM_NO_PORT) {
        net->count.unroutable_packets++;
        sim_packet_free(&net->pool, packet);
        return;
    }
    sim_lane_send_as_of(net->hosts[at].ports[port].lane, packet, when);
}

/* Behind all that came before. */
static void forward_now(struct sim_net *net, uint32_t at, struct sim_packet *packet)
{
    sim_transit_settle(net, at);
    sim_net_forward(net, at, packet, net->engine->now);
}

static void lane_deliver(void *ctx, struct sim_lane *lane, struct sim_packet *packet)
{
    struct sim_net *net = ctx;
    uint32_t at = lane->end;
    bool is_group = (packet->to & SIM_TO_GROUP) != 0;
    if (packet->to == at) {
        if (!net->sink.arrived(net->sink.ctx, at, packet))
            sim_packet_free(&net->pool, packet);
        return;
    }
    if (is_group && sim_group_has(net, packet->from, at))
        (void)net->sink.arrived(net->sink.ctx, at, packet);
    forward_now(net, at, packet);
}

/* The way on of a packet that goes further. */
static void ahead_of_delivery(void *ctx, const struct sim_lane *lane,
                              const struct sim_packet *first, enum sim_ahead stage)
{
    const struct sim_net *net = ctx;
    const struct sim_net_host *at = &net->hosts[lane->end];
    if (stage == SIM_AHEAD_SECOND)
        gmc_near_fetch_line(at);
    else if (stage == SIM_AHEAD_THIRD)
        gmc_near_fetch_line(at->ports);
    else if (first->to != lane->end && (first->to & SIM_TO_GROUP) == 0)
        sim_net_fetch_way(net, lane->end, first->to);
}

static void lane_watch(void *ctx, const struct sim_lane *lane, enum sim_wire_news news,
                       enum sim_drop drop, const struct sim_packet *packet)
{
    struct sim_net *net = ctx;
    net->sink.watch(net->sink.ctx, lane->id / 2, (int)(lane->id % 2), news, drop, packet);
}

/* ---- hosts that collect ---- */
static void lane_expect(void *ctx, const struct sim_lane *lane, gmc_time when)
{
    struct sim_net *net = ctx;
    net->sink.expect(net->sink.ctx, lane->end, when);
}

static void lane_pass(void *ctx, struct sim_lane *lane, gmc_time when)
{
    sim_transit_expect(ctx, lane->end, when);
}

static void lane_settle(void *ctx, struct sim_lane *lane)
{
    struct sim_net *net = ctx;
    uint32_t wire = lane->id / 2;
    if (wire >= net->wire_count)
        return; /* it is just being made */
    sim_transit_review(net, net->wires[wire]->ends[0]);
    sim_transit_review(net, net->wires[wire]->ends[1]);
}

void sim_net_collect(struct sim_net *net, uint32_t host, bool collects)
{
    const struct sim_net_host *at = &net->hosts[host];
    if (!collects)
        sim_transit_end(net, host);
    for (size_t i = 0; i < at->port_count; i++)
        sim_lane_collect(at->ports[i].back, collects);
}

gmc_time sim_net_take(struct sim_net *net, uint32_t host)
{
    const struct sim_net_host *at = &net->hosts[host];
    gmc_time next = GMC_TIME_NEVER;
    for (size_t i = 0; i < at->port_count; i++) {
        struct sim_lane *lane = at->ports[i].back;
        struct sim_packet *packet;
        while ((packet = sim_lane_take(lane)) != NULL)
            lane_deliver(net, lane, packet);
        next = gmc_time_min(next, sim_lane_expected(lane));
    }
    return next;
}

void sim_net_near(const struct sim_net *net, uint32_t host, struct gmc_near *near)
{
    const struct sim_net_host *at = &net->hosts[host];
    gmc_near_add(near, at, sizeof(*at));
    gmc_near_add(near, at->ports, at->port_count * sizeof(*at->ports));
    for (size_t i = 0; i < at->port_count; i++) {
        sim_lane_near(at->ports[i].back, near);
        sim_lane_near(at->ports[i].lane, near);
    }
}

void sim_net_warm(const struct sim_net *net, uint32_t host)
{
    const struct sim_net_host *at = &net->hosts[host];
    for (size_t i = 0; i < at->port_count; i++)
        sim_lane_warm(at->ports[i].back);
}

/* ---- packets from hosts ---- */
void sim_net_send(struct sim_net *net, struct sim_packet *packet)
{
    bool is_group = (packet->to & SIM_TO_GROUP) != 0;
    GMC_ASSERT(packet->from != packet->to && (is_group || packet->to < net->host_count));
    if (packet->proto == SIM_PROTO_UDP && net->blocked_count > 0 && !is_group &&
        sim_net_is_udp_blocked(net, packet->from, packet->to)) {
        net->count.blocked_packets++;
        sim_packet_free(&net->pool, packet);
        return;
    }
    forward_now(net, packet->from, packet);
}

static struct sim_packet *new_packet(struct sim_net *net, uint32_t from, uint32_t to, size_t len,
                                     enum sim_proto proto, uint32_t overhead)
{
    struct sim_packet *packet = sim_packet_new(&net->pool, len);
    packet->from = from;
    packet->to = to;
    packet->proto = (uint8_t)proto;
    packet->wire_bytes = (uint32_t)len + overhead;
    return packet;
}

/* Of the head with its tags, which cover the body. */
static uint32_t digest_of(const struct sim_packet *packet)
{
    struct sim_trace of_head;
    sim_trace_init(&of_head);
    sim_trace_bytes(&of_head, gmc_bytes(packet->data, packet->len < 32 ? packet->len : 32));
    return (uint32_t)(of_head.hash >> 32);
}

void sim_net_send_udp(struct sim_net *net, uint32_t from, uint32_t to, enum sim_ecn ecn,
                      const struct gmc_bytes *pieces, size_t piece_count)
{
    sim_net_send_virtual(net, from, to, ecn, pieces, piece_count, SIZE_MAX, 0);
}

void sim_net_send_virtual(struct sim_net *net, uint32_t from, uint32_t to, enum sim_ecn ecn,
                          const struct gmc_bytes *pieces, size_t piece_count, size_t gap_in,
                          size_t kept)
{
    size_t len = 0, gap = 0, at = 0;
    for (size_t i = 0; i < piece_count; i++)
        len += i == gap_in ? kept : pieces[i].len;
    if (gap_in < piece_count)
        gap = pieces[gap_in].len - kept;
    struct sim_packet *packet =
        new_packet(net, from, to, len, SIM_PROTO_UDP, (uint32_t)gap + SIM_UDP_OVERHEAD_BYTES);
    packet->ecn = (uint8_t)ecn;
    packet->gap = (uint32_t)gap;
    for (size_t i = 0; i < piece_count; i++) {
        size_t part = i == gap_in ? kept : pieces[i].len;
        if (part > 0)
            memcpy(packet->data + at, pieces[i].data, part);
        at += part;
        if (i == gap_in)
            packet->gap_at = (uint16_t)at;
    }
    packet->digest = digest_of(packet);
    sim_net_send(net, packet);
}

struct sim_packet *sim_net_new_segment(struct sim_net *net, uint32_t from, uint32_t to)
{
    return new_packet(net, from, to, 0, SIM_PROTO_TCP, SIM_TCP_OVERHEAD_BYTES);
}

bool sim_net_is_balanced(const struct sim_net *net, uint32_t *wire)
{
    for (uint32_t i = 0; i < net->wire_count; i++) {
        if (!sim_lane_is_balanced(&net->wires[i]->lanes[0]) ||
            !sim_lane_is_balanced(&net->wires[i]->lanes[1])) {
            *wire = i;
            return false;
        }
    }
    return true;
}
