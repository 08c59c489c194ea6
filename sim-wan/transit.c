/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets in transit; see transit.h. */
#include "sim-wan/transit.h"

#include "base/near.h"
#include "sim-wan/mem.h"
#include "sim-wan/net_internal.h"

/* Packets behind the one that is passed on: that one is fetched already, its route is not. */
#define LOOKED_UP 1u

static void fire(struct sim_event *event, gmc_time now);
static void ahead(const struct sim_event *event, enum sim_ahead stage);

void sim_transit_init(struct sim_transit *transit)
{
    *transit = (struct sim_transit){.passes_at = GMC_TIME_NEVER};
    sim_event_init(&transit->event, fire);
    transit->event.ahead = ahead;
}

static gmc_duration lookahead_of(const struct sim_net *net, const struct sim_net_host *host)
{
    gmc_duration least = GMC_TIME_NEVER;
    if (net->lanes.watch != NULL && !net->lanes.only_drops)
        return 0;
    for (size_t i = 0; i < host->port_count; i++) {
        gmc_duration lookahead = sim_lane_lookahead(host->ports[i].lane);
        least = lookahead < least ? lookahead : least;
    }
    return least;
}

static void arm(struct sim_net *net, struct sim_net_host *host)
{
    struct sim_transit *transit = &host->transit;
    gmc_time when = transit->passes_at;
    if (!transit->is_known) {
        transit->lookahead = lookahead_of(net, host);
        transit->is_known = true;
    }
    if (transit->lookahead > 0 && when != GMC_TIME_NEVER)
        when = gmc_time_add(when, transit->lookahead - 1);
    sim_engine_at(net->engine, &transit->event, when);
}

void sim_transit_expect(struct sim_net *net, uint32_t host, gmc_time when)
{
    struct sim_net_host *at = &net->hosts[host];
    if (when >= at->transit.passes_at)
        return;
    at->transit.passes_at = when;
    arm(net, at);
}

/* The lane on which the first one comes, and when the first one comes on any other. */
static struct sim_lane *first_lane(const struct sim_net_host *host, gmc_time *others)
{
    struct sim_lane *first = NULL;
    gmc_time at = GMC_TIME_NEVER;
    *others = GMC_TIME_NEVER;
    for (size_t i = 0; i < host->port_count; i++) {
        struct sim_lane *lane = host->ports[i].back;
        if (lane->passes_at < at) {
            *others = at;
            at = lane->passes_at;
            first = lane;
        } else {
            *others = gmc_time_min(*others, lane->passes_at);
        }
    }
    return first;
}

static void pass_on(struct sim_net *net, uint32_t host, struct sim_lane *from)
{
    struct sim_packet *packet = sim_lane_pass(from);
    const struct sim_packet *later = sim_way_at(&from->transit, LOOKED_UP);
    if (later != NULL)
        sim_net_fetch_route(net, host, later->to);
    sim_net_forward(net, host, packet, packet->arrival);
}

/* In the order in which they came; of those that came at once, by port. */
void sim_transit_settle(struct sim_net *net, uint32_t host)
{
    struct sim_net_host *at = &net->hosts[host];
    gmc_time now = net->engine->now, others;
    if (at->transit.passes_at > now)
        return;
    struct sim_lane *lane = first_lane(at, &others);
    while (lane != NULL && lane->passes_at <= now) {
        gmc_time until = gmc_time_min(now, others);
        do
            pass_on(net, host, lane);
        while (lane->passes_at < until);
        lane = first_lane(at, &others);
    }
    at->transit.passes_at = lane != NULL ? lane->passes_at : GMC_TIME_NEVER;
}

/* What a batch will look at; see engine.h. */
static void ahead(const struct sim_event *event, enum sim_ahead stage)
{
    const struct sim_net_host *host = SIM_OWNER(event, struct sim_net_host, transit.event);
    if (stage == SIM_AHEAD_FIRST) {
        for (size_t i = 0; i < sizeof(*host); i += GMC_NEAR_LINE)
            gmc_near_fetch_line((const char *)host + i);
        return;
    }
    for (size_t i = 0; i < host->port_count; i++) {
        const struct sim_port *port = &host->ports[i];
        if (stage == SIM_AHEAD_SECOND) {
            sim_lane_fetch(port->back);
            sim_lane_fetch(port->lane);
        } else if (stage == SIM_AHEAD_LAST) {
            sim_lane_warm_transit(port->back);
        }
    }
}

/* What its event was set for may have been passed on before: then it comes early. */
static void fire(struct sim_event *event, gmc_time now)
{
    struct sim_net_host *host = SIM_OWNER(event, struct sim_net_host, transit.event);
    (void)now;
    sim_transit_settle(host->net, (uint32_t)(host - host->net->hosts));
    arm(host->net, host);
}

void sim_transit_review(struct sim_net *net, uint32_t host)
{
    struct sim_net_host *at = &net->hosts[host];
    sim_transit_settle(net, host);
    sim_engine_at(net->engine, &at->transit.event, at->transit.passes_at);
    at->transit.is_known = false;
}

void sim_transit_end(struct sim_net *net, uint32_t host)
{
    sim_transit_settle(net, host);
    sim_engine_cancel(net->engine, &net->hosts[host].transit.event);
    net->hosts[host].transit.passes_at = GMC_TIME_NEVER;
}
